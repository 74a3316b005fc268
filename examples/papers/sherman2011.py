"""sherman2011: Simbody."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import condyle as cd
from benchmarks import chains, fig3
from examples.papers.part import Part, new_figure

RADIUS, MODULUS = 0.1, 1e6


def parts() -> Iterator[Part]:
    yield architecture()
    yield stages()
    yield accuracy()
    yield hertz()
    yield lines()
    yield stribeck()
    yield foundation()


def ball(**friction: float) -> cd.System:
    """A soft ball over a soft plane, that moves along all axes and does not turn."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("ball", mobilizer=cd.Translation(), mass=1.0)
    soft = cd.contact.Material.elastic(MODULUS, 0.3, **friction)
    plane = cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, soft)
    system.add_force(
        "contact",
        cd.contact.HuntCrossley(
            plane, cd.contact.Sphere("ball", (0, 0, 0), RADIUS, soft)
        ),
    )
    return system


def architecture() -> Part:
    """Fig. 1, with what the boxes are called here."""
    figure = new_figure(7, 2.4)
    axes = figure.subplots()
    axes.set_axis_off()
    boxes = {
        "System\nbodies, joints, forces\nread-only": 0.1,
        "State\nt, q, u, z, inputs, parameters\nread-only": 0.37,
        "Study\nsimulate, assemble,\ninverse_dynamics, ...": 0.64,
        "Trajectory, Table\na series of states": 0.9,
    }
    for text, x in boxes.items():
        axes.text(
            x,
            0.5,
            text,
            ha="center",
            va="center",
            fontsize=9,
            bbox={"boxstyle": "round", "fc": "#e8f0f6"},
        )
    for a, b in zip(list(boxes.values())[:-1], list(boxes.values())[1:], strict=True):
        axes.annotate(
            "", (b - 0.1, 0.22), (a + 0.02, 0.22), arrowprops={"arrowstyle": "->"}
        )
    return Part("Fig. 1: System, State, Study", figure=figure)


def stages() -> Part:
    """Fig. 2: what a change of a variable leaves valid."""
    system = cd.System()
    system.add_body("bob", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=1)
    state = system.state(q=[0.3], u=[1.0])
    _ = state.udot
    rows = [[stage.name, str(int(stage))] for stage in cd.Stage]
    after = [
        ["after state.udot", state.stage.name],
        ["after replace(u=...)", state.replace(u=[2.0]).stage.name],
    ]
    assert state.replace(u=[2.0]).stage < state.stage
    return Part(
        "Fig. 2: stages",
        table=(("stage", "number, or what a State knows"), [*rows, *after]),
    )


def accuracy() -> Part:
    """Fig. 3."""
    found = fig3.measure(*chains.system(), 1)
    seconds = np.array(found["seconds"])
    scale = np.exp(np.mean(np.log(seconds * fig3.ACCURACIES**0.25)))
    figure = new_figure(5.5, 3.6)
    axes = figure.subplots()
    axes.loglog(fig3.ACCURACIES, seconds, "o", label="measured")
    axes.loglog(
        fig3.ACCURACIES,
        scale * fig3.ACCURACIES**-0.25,
        label=f"{scale:.2g} accuracy$^{{-1/4}}$",
    )
    axes.invert_xaxis()
    axes.set(xlabel="accuracy", ylabel="processor time for 20 s [s]")
    axes.legend()
    text = (
        f"Exponent of evaluations over 1e-3 to 1e-7: {fig3.exponent(found['evaluations']):.3f} (-0.25 expected). "
        f"The paper's line is 0.118 accuracy<sup>-1/4</sup> s, ours {scale:.2g} accuracy<sup>-1/4</sup> s."
    )
    return Part("Fig. 3: time against accuracy", [text], figure)


def hertz() -> Part:
    """Fig. 4: where a soft ball and a soft plane meet, and the force there."""
    system = ball()
    depth = np.linspace(0, 0.01, 50)
    q = np.stack([0 * depth, RADIUS - depth, 0 * depth], axis=1)
    force = system.contacts.forces(q, np.zeros((50, 3)))[:, 0, 1]
    plane_strain = MODULUS / (1 - 0.3**2)
    E = (2 * plane_strain ** (-2 / 3)) ** -1.5  # two equal materials: appendix A.1
    expected = 4 / 3 * np.sqrt(RADIUS) * E * depth**1.5
    assert np.allclose(force, expected, rtol=1e-9)
    figure = new_figure(7, 3)
    left, right = figure.subplots(1, 2)
    point = system.contacts.points(q[-1:])[0, 0]
    left.add_patch(plt.Circle(tuple(q[-1][:2]), RADIUS, fc="#d8e6f0", ec="C0"))
    left.axhspan(-0.05, 0, color="#eedfcc")
    left.plot(*point[:2], "k.")
    left.annotate("P", point[:2], (0.02, 0.02), arrowprops={"arrowstyle": "-"})
    left.set(
        xlim=(-0.12, 0.12), ylim=(-0.05, 0.2), aspect="equal", title="contact point P"
    )
    right.plot(1e3 * depth, force, label="ours")
    right.plot(1e3 * depth[::7], expected[::7], "x", label="(23)")
    right.set(xlabel="depth [mm]", ylabel="force [N]")
    right.legend()
    off = np.abs(force - expected).max() / expected.max()
    return Part(
        "Fig. 4: Hertz contact",
        [f"Largest relative difference from (23): {off:.0e}."],
        figure,
    )


def lines() -> Part:
    """Contact along a line: a cylinder of 0.1 m, a meter long, on a plane, beside Johnson's force."""
    soft = cd.contact.Material(MODULUS)
    plane = cd.contact.HalfSpace("ground", (1, 0, 0), 0.0, soft)
    depth = np.array([1e-5, 1e-4, 5e-4, 2e-3, 5e-3])
    q = np.stack([RADIUS - depth, 0 * depth, 0 * depth], axis=1)
    force = {}
    for name, kind in (("Roller", cd.contact.Roller), ("Cylinder", cd.contact.Cylinder)):
        system = cd.System(gravity=(0, 0, 0))
        system.add_body("b", mobilizer=cd.Translation(), mass=1.0)
        system.add_contact("c", plane, kind("b", None, RADIUS, 1.0, soft))
        force[name] = system.applied_forces(q, np.zeros(q.shape))[:, 0]
    E = MODULUS / 2**1.5  # two equal materials: appendix A.1
    half_width = np.sqrt(4 * force["Roller"] * RADIUS / (np.pi * E))
    logarithm = 2 * np.log(4 * RADIUS / half_width) - 1
    off = force["Roller"] * logarithm / (np.pi * E * depth) - 1
    assert np.abs(off).max() < 1e-10
    rows = [
        [f"{1e3 * x:g}", f"{f:.4g}", f"{e:.0e}", f"{c / f:.2f}"]
        for x, f, e, c in zip(depth, force["Roller"], off, force["Cylinder"], strict=True)
    ]
    return Part(
        "section 5.1: contact along a line",
        [
            "A cylinder of radius 0.1 m and length 1 m on a plane: <code>cd.contact.Roller</code>, how far depth and "
            "force are from Johnson's x = f' / (pi E*) (2 ln(4 R / a) - 1), and the force of the crowned "
            "<code>cd.contact.Cylinder</code>, an ellipse after Hertz, over that of the roller."
        ],
        table=(("depth [mm]", "force [N]", "from Johnson", "crowned"), rows),
    )


def stribeck() -> Part:
    """Fig. 5."""
    system = ball(
        static_friction=0.9,
        dynamic_friction=0.6,
        viscous_friction=0.0,
        transition_speed=0.01,
    )
    v = np.linspace(0, 0.06, 300)
    q = np.tile([0, RADIUS - 0.005, 0], (300, 1))
    u = np.stack([v, 0 * v, 0 * v], axis=1)
    force = system.contacts.forces(q, u)[:, 0]
    mu = -force[:, 0] / force[:, 1]
    assert abs(mu.max() - 0.9) < 1e-3
    assert abs(mu[-1] - 0.6) < 1e-9
    figure = new_figure(5.5, 3)
    axes = figure.subplots()
    axes.plot(v / 0.01, mu)
    axes.set(
        xlabel="slip speed over transition speed",
        ylabel="effective coefficient of friction",
    )
    return Part(
        "Fig. 5: Stribeck friction", ["Static 0.9, dynamic 0.6, no viscous part."], figure
    )


def foundation() -> Part:
    """Fig. 6: the same ball as a solid after Hertz and on a Winkler foundation."""
    depth, layer, stiffness = np.linspace(1e-4, 0.01, 40), 0.02, MODULUS
    hertz = 4 / 3 * np.sqrt(RADIUS) * MODULUS * depth**1.5
    winkler = (
        np.pi * stiffness / layer * (RADIUS * depth**2 - depth**3 / 3)
    )  # springs below a rigid ball
    figure = new_figure(5.5, 3)
    axes = figure.subplots()
    axes.plot(1e3 * depth, hertz, label="Hertz: linear elasticity")
    axes.plot(1e3 * depth, winkler, label="springs of a layer, h = 20 mm")
    axes.set(xlabel="depth [mm]", ylabel="force [N]")
    axes.legend()
    return Part(
        "Fig. 6: a layer of springs against elasticity",
        [
            "Springs do not know of each other: the force grows with the square of the depth, not with its power 3/2. "
            "<code>cd.contact.ElasticFoundation</code> is compared with the closed form of the springs in "
            "tests/contact/test_foundation.py."
        ],
        figure,
    )
