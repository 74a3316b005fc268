"""Derivatives of runs of every kind of system, against differences of order 8 with the same steps; small systems
against 50 digits and closed forms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import condyle as cd
from condyle.errors import DescriptionError
from condyle.integrate.trajectory import Trajectory
from tests.integrate.adjoint.differences import relative, slope

SKIN = {"dissipation": 1.0, "dynamic_friction": 0.4}


def quaternions() -> cd.System:
    system = cd.System()
    shape = {"inertia": (0.3, 0.4, 0.5)}
    system.add_body("a", mobilizer=cd.Free(), mass=cd.Parameter("m", 2.0), com=(0.1, 0.2, 0), **shape)
    system.add_body("b", "a", cd.Ball(), X_PF=(0, 0.5, 0), X_BM=(0, -0.3, 0), mass=1.0, **shape)
    k = cd.Parameter("k", 50.0)
    system.add_force("s", cd.forces.TwoPointSpring("ground", (0, 0, 0), "b", (0, 0.2, 0), k, 0.5))
    return system


def four_bar() -> cd.System:
    system = cd.System()
    pin = {"X_BM": (-0.5, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    system.add_body("a", mobilizer=cd.Pin(), mass=1.0, **pin)
    system.add_body("b", "a", cd.Pin(), X_PF=(0.5, 0, 0), mass=cd.Parameter("m", 1.0), **pin)
    rod = cd.constraints.Rod("ground", (1.0, 0.2, 0), "b", (0.5, 0, 0), cd.Parameter("length", 1.2))
    system.add_constraint("rod", rod)
    return system


def driven() -> cd.System:
    """One joint moves as it must, and a measure adds up."""
    system = cd.System()
    pin = {"X_BM": (-0.5, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    A = cd.Parameter("A", 0.5)
    motion = cd.Prescribed(position=lambda t: A * np.sin(3 * t))
    system.add_body("a", mobilizer=cd.Pin(), mass=1.0, motion=motion, **pin)
    system.add_body("b", "a", cd.Ball(), X_PF=(0.5, 0, 0), mass=cd.Parameter("m", 1.0), **pin)
    system.add_body("c", "b", cd.Pin(), X_PF=(0.5, 0, 0), mass=1.0, **pin)
    system.add_measure("work", cd.measures.Integral(lambda s: s.u("c") ** 2))
    return system


def wrapped() -> cd.System:
    """An elastic muscle without kinks, and a spring over a cylinder."""
    system = cd.System()
    system.add_body("a", mobilizer=cd.Ball(), X_BM=(0, 0.3, 0), mass=2.0, inertia=(0.1, 0.05, 0.1))
    wrap = cd.paths.Wrap(cd.paths.Cylinder(0.06), "ground", (0.11, 0.05, 0))
    over = cd.paths.Path([("ground", (0.2, 0.25, 0.01)), ("a", (0.05, 0.1, 0.0))], wraps=[wrap])
    system.add_force("s", cd.forces.PathSpring(over, cd.Parameter("k", 300.0), 0.2, 0.1))
    line = cd.paths.Path([("ground", (-0.1, 0.1, 0)), ("a", (-0.05, -0.1, 0))])
    muscle = cd.muscles.DeGroote2016(line, 200.0, 0.25, 0.22, excitation=0.4)
    system.add_force("m", muscle)
    return system


def contact() -> cd.System:
    system = cd.System()
    skin = cd.contact.Material(1e5, static_friction=cd.Parameter("mu", 0.5), **SKIN)
    system.add_body("box", mobilizer=cd.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    for i, p in enumerate([(0.1, -0.1, 0.1), (-0.1, -0.1, 0.1), (0.1, -0.1, -0.1)]):
        floor = cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, skin)
        system.add_contact(f"c{i}", floor, cd.contact.Sphere("box", p, 0.02, skin), smooth=1e-4)
    return system


STARTS: dict[str, tuple[Callable[[], cd.System], dict[str, object], float, float, float]] = {
    # system, start, end, step, and the step of differences
    "quaternions": (quaternions, {"u": np.cos(np.arange(9))}, 0.1, 0.02, 2e-3),
    "four_bar": (four_bar, {"q": [0.46062759, 0.7104535], "u": [0.0, 0.0]}, 0.2, 0.02, 2e-5),
    "driven": (driven, {"u": [0, 0.3, 0.4, 0.5, 0], "locked": ["c"]}, 0.1, 0.02, 2e-3),
    "wrapped": (wrapped, {"u": [0.3, 0.5, 0.7]}, 0.01, 0.0005, 2e-4),
    "contact": (contact, {"q": {"box_ty": 0.119}, "u": np.full(6, 0.3)}, 0.01, 0.0005, 2e-5),
}
METHODS = {"four_bar": ("dormand-prince", "rodas", "verlet"), "contact": ("dormand-prince", "rodas5p")}


@pytest.mark.parametrize("name", STARTS)
def test_systems(name: str) -> None:
    make, given, t, step, h = STARTS[name]
    system = make()
    start = system.state(**given)
    if name == "four_bar":
        start = cd.assemble(system, start)
    if system.muscles:
        start = system.equilibrate_muscles(start)
    rng = np.random.default_rng(3)
    sizes = {"q": system.nu, "u": system.nu, "z": len(start.z), "parameters": len(start.parameters)}
    v = {part: rng.normal(size=n) for part, n in sizes.items() if n}
    v = {part: x * {"z": 0.05, "parameters": 1.0}.get(part, 1.0) for part, x in v.items()}
    qdot = system.compiled.function("qdot")(start.q, v["q"], start.tail)

    for method in METHODS.get(name, ("merson",)):

        def run(part: str, e: float, method: str = method) -> Trajectory:
            new = getattr(start, part) + e * (qdot if part == "q" else v[part])
            new = system.compiled.normalized(new) if part == "q" else new
            return cd.simulate(system, start.replace(**{part: new}), t, integrator=method, step=step)

        traj = run("u", 0.0)
        w = rng.normal(size=traj.y.shape[1])
        g = traj.vjp(w, wrt=tuple(v))
        for part in v:
            dy = traj.jvp({part: v[part]})
            size = 1e-3 if (name, part) == ("contact", "parameters") else h  # friction changes little
            oracle = slope(lambda e, part=part, run=run: run(part, e).y[-1], size)
            # rounding over h, and forces that bend within it
            assert relative(dy, oracle) < (1e-9 if h > 1e-3 else 1e-7), part
            assert abs(w @ dy - g[part] @ v[part]) < 1e-11 * (1 + np.abs(w * dy).sum())  # two ways


DIGITS = np.array(
    [
        [-0.98579369430243388785, -0.041321659387678533951, 0.028660566786734191287],
        [-1.0504976010943839793, -1.0584448958139571205, -6.7869123359529058158],
    ]
)
"""q and u of a pendulum after a second, by q, u and I: test_digits."""


def test_fifty_digits() -> None:
    """A pendulum with a Parameter: sensitivities of the exact motion."""
    system = cd.System(gravity=(0, -9.81, 0))
    inertia = (0.2, 0.2, cd.Parameter("I", 0.3))
    system.add_body("a", mobilizer=cd.Pin(), X_BM=(0, 0.5, 0), mass=2.0, inertia=inertia)
    state = system.state(q=[1.0], u=[0.5])
    J = cd.simulate(system, state, 1.0, accuracy=1e-13, integrator="dormand-prince-8").jacobian()
    ours = np.column_stack([J["q"], J["u"], J["parameters"]])
    assert relative(ours, DIGITS) < 1e-9  # the accuracy of the run, 1e-13, times its growth


@pytest.mark.slow
def test_digits() -> None:
    import mpmath as mp

    with mp.workdps(50):
        m, length, g = mp.mpf(2), mp.mpf("0.5"), mp.mpf("9.81")

        def f(t, y):  # y, and its derivatives by q, u and I
            q, u, I = y[0], y[1], mp.mpf("0.3") + m * length**2
            a, b = -m * g * length / I, m * g * length / I**2
            out = [u, a * mp.sin(q)]
            for k in range(3):
                dq, du = y[2 + 2 * k], y[3 + 2 * k]
                out += [du, a * mp.cos(q) * dq + (b * mp.sin(q) if k == 2 else 0)]
            return out

        exact = mp.odefun(f, 0, [1, mp.mpf("0.5"), 1, 0, 0, 1, 0, 0])(1)
    np.testing.assert_allclose(np.array([float(x) for x in exact[2:]]).reshape(3, 2).T, DIGITS, rtol=1e-15)


def test_an_oscillator_is_its_closed_form() -> None:
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("a", mobilizer=cd.Slider(), mass=1.0)
    system.add_force("s", cd.forces.MobilitySpring("a", cd.Parameter("k", 4.0), 0.0))
    traj = cd.simulate(system, system.state(q=[1.0]), 2.0, accuracy=1e-12, integrator="dormand-prince-8")
    c, s, t = np.cos(4.0), np.sin(4.0), 2.0
    J = traj.jacobian()
    np.testing.assert_allclose(J["q"][:, 0], [c, -2 * s], rtol=1e-10)
    np.testing.assert_allclose(J["u"][:, 0], [s / 2, c], rtol=1e-10)
    np.testing.assert_allclose(J["parameters"][:, 0], [-s * t / 4, -(s / 2 + t * c) / 2], rtol=1e-10)


def test_methods_without_derivatives() -> None:
    system = wrapped()
    start = system.equilibrate_muscles(system.state())
    with pytest.raises(DescriptionError, match="'rodas' contain the Jacobian"):
        cd.simulate(system, start, 0.002, integrator="rodas").jacobian()
    bar = four_bar()
    state = cd.assemble(bar, bar.state(q=[0.46, 0.71]))
    with pytest.raises(DescriptionError, match="'bdf' keeps differences"):
        cd.simulate(bar, state, 0.01, integrator="bdf").jacobian()
    ball = cd.System()
    rigid = cd.contact.Rigid()
    ball.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(1, 1, 1))
    floor = cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, rigid)
    ball.add_contact("c", floor, cd.contact.Sphere("b", (0, 0, 0), 0.1, rigid))
    stepping = cd.integrators.TimeStepping()
    with pytest.raises(DescriptionError, match="TimeStepping"):
        cd.simulate(ball, ball.state(q={"b_ty": 0.2}), 0.01, step=1e-3, integrator=stepping).vjp(np.ones(13))


def test_an_activation_that_rests_is_named() -> None:
    """Of both slopes there, the derivative by the excitation is that of falling: 1 / 0.05 s, not 1 / 0.015 s."""
    system = cd.System()
    system.add_body("a", mobilizer=cd.Slider(), mass=1.0)
    line = cd.paths.Path([("ground", (-0.3, 0, 0)), ("a", (0, 0, 0))])
    muscle = cd.muscles.Millard2012(line, 1.0, 0.2, 0.1, tendon="rigid", excitation=cd.Input("e", 0.5))
    system.add_force("m", muscle)
    start = lambda a: system.state(z=[a], inputs=[0.5])
    with pytest.warns(RuntimeWarning, match="m: the activation equals the excitation at the start"):
        J = cd.simulate(system, start(0.5), 0.01, step=0.001).jacobian(wrt="inputs")["inputs"]
    rate = (0.5 + 1.5 * 0.5) / muscle.deactivation_time_constant
    np.testing.assert_allclose(J[2, 0], 1 - np.exp(-rate * 0.01), rtol=1e-6)  # the error of ten steps
    cd.simulate(system, start(0.4), 0.01, step=0.001).jacobian()  # no warning
