"""ruggiero2020: an upper limb, by muscles that wrap."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import condyle as cd
from condyle.cli.demo import elbow
from condyle.models.arm26 import BODIES as MASSES
from condyle.models.arm26 import JOINTS
from condyle.models.arm26 import SURFACES as WRAPPED
from condyle.reports.analysis import CONFIGURATIONS, PAPER, Analysis
from examples.papers.part import ROOT, Part, Table, new_figure

BODIES = {"Humerus": "r_humerus", "Forearm": "r_ulna_radius_hand"}
NAMES = {
    "Long triceps": "TRIlong",
    "Lateral triceps": "TRIlat",
    "Medial triceps": "TRImed",
    "Long biceps": "BIClong",
    "Short biceps": "BICshort",
    "Brachialis": "BRA",
}
SURFACES = {
    "Ground cylinder": "TRIlongglen",
    "Shoulder ellipsoid 1": "TRIlonghh",
    "Shoulder ellipsoid 2": "BIClonghh",
    "Elbow cylinder": "TRI",
}
PRINTED = {
    "Table 1": """
        Humerus  1.86  14.81  4.55  13.19
        Forearm  1.53  19.28  1.57  20.06""",
    "Table 2": """
        Humerus  0  -0.180  0
        Forearm  0  -0.181  0""",
    "Table 3": """
        Humerus  -0.0175  -0.0070   0.1700
        Forearm   0.0061  -0.2904  -0.0123""",
    "Table 4": """
        Humerus  -0.0589  0.0023  0.9983
        Forearm   0.0494  0.0366  0.9981""",
    "Table 5": """
        Long triceps     798.52  0.1340  0.1430  0.209
        Lateral triceps  624.30  0.1138  0.0980  0.157
        Medial triceps   624.30  0.1138  0.0908  0.157
        Long biceps      624.30  0.1157  0.2723  0
        Short biceps     435.56  0.1321  0.1923  0
        Brachialis       987.26  0.0858  0.0535  0""",
    "Table 6": """
        Ground cylinder       -0.0439  -0.0039   0.1478   1.3753  -0.2946  2.4360
        Shoulder ellipsoid 1  -0.0078  -0.0041  -0.0014   3.0016  -0.8535  2.5742
        Shoulder ellipsoid 2   0.0033   0.0073   0.0003  -2.0043  -1.0016  0.9755
        Elbow cylinder         0.0028  -0.2919  -0.0069  -0.1402  -0.0063  0.1550""",
}
"""What the paper prints, from two blanks to two blanks."""
HEADS = {
    "Table 1": ("body", "mass [kg]", "Ixx [g m2]", "Iyy", "Izz"),
    "Table 2": ("body", "mass center x [m]", "y", "z"),
    "Table 3": ("joint of", "place x [m]", "y", "z"),
    "Table 4": ("joint of", "axis x", "y", "z"),
    "Table 5": ("muscle", "F0 [N]", "l0 [m]", "slack length [m]", "pennation [rad]"),
    "Table 6": ("surface", "place x [m]", "y", "z", "turn x [rad]", "y", "z"),
}


def ours(table: str, name: str) -> list[float]:
    """The row of the ready model that a row of the paper speaks of."""
    if table == "Table 5":
        muscle: Any = cd.models.arm26().force(NAMES[name])
        fields = (
            "max_isometric_force",
            "optimal_fiber_length",
            "tendon_slack_length",
            "pennation_angle",
        )
        return [float(getattr(muscle, field)) for field in fields]
    if table == "Table 6":
        _, place, turn, _ = WRAPPED[SURFACES[name]]
        return [*place, *turn]
    mass, center, inertia = MASSES[BODIES[name]]
    _, place, axis, *_ = JOINTS[BODIES[name]]
    return {
        "Table 1": [mass, *(1e3 * np.array(inertia))],
        "Table 2": list(center),
        "Table 3": list(place),
        "Table 4": list(axis),
    }[table]


def printed(table: str) -> Iterator[tuple[str, list[str], list[float]]]:
    """Name, the paper's numbers as printed, ours."""
    for line in PRINTED[table].strip().splitlines():
        name, *numbers = [cell for cell in line.strip().split("  ") if cell]
        yield name, [x.strip() for x in numbers], ours(table, name)


def parts() -> Iterator[Part]:
    for title, head in HEADS.items():
        rows = [
            [name, *(f"{x} ({y:.5g})" for x, y in zip(theirs, own, strict=True))]
            for name, theirs, own in printed(title)
        ]
        table: Table = (head, rows)
        yield Part(
            f"{title}: arm26",
            ["The paper's number, and in brackets that of the ready model."],
            table=table,
        )
    yield curves()
    motion = elbow(cd.models.arm26())
    names = (*CONFIGURATIONS, *PAPER)
    found = cd.analyze(motion.system, motion, configurations=names)
    yield from results(found)
    yield forward(found)
    yield rubbing(found)
    yield in_vivo()


def curves() -> Part:
    """Fig. 4."""
    muscle: Any = cd.models.arm26().force("BIClong")
    figure = new_figure(8, 2.8)
    for axes, (curve, title, low, high) in zip(
        figure.subplots(1, 3),
        (
            (muscle.active_force_length, "active, over length", 0.4, 1.8),
            (muscle.force_velocity, "over velocity", -1.0, 1.0),
            (muscle.passive_force_length, "passive, over length", 0.9, 1.6),
        ),
        strict=True,
    ):
        curve.plot((low, high), axes=axes)
        axes.set_title(title)
    return Part(
        "Fig. 4: curves of a Hill muscle",
        ["Thelen's, with the constants of arm26."],
        figure,
    )


TABLES = {
    "Fig. 7: the motion": ("kinematics", 180 / np.pi, "angle [degrees]"),
    "Fig. 12: fiber lengths": ("fibers", 1e3, "fiber length [mm]"),
    "Fig. 13: driving moments": ("moments", 1.0, "moment [N m]"),
    "Fig. 14: activations without physiology": (
        "activations_isometric",
        1.0,
        "activation",
    ),
    "Fig. 15: activations with physiology": ("activations_active", 1.0, "activation"),
    "Fig. 16: forces with physiology": ("forces_active", 1.0, "force [N]"),
    "Fig. 17: activations with passive forces": ("activations_paper", 1.0, "activation"),
    "Fig. 18: forces with passive forces": ("forces_paper", 1.0, "force [N]"),
    "Fig. 19: residual actuators": ("reserves_paper", 1.0, "moment [N m]"),
}


def results(found: Analysis) -> Iterator[Part]:
    pictures = [scene(found, frame) for frame in (0, 100)]
    for title, image in zip(
        ("Fig. 8: the arm at the start", "Fig. 9: the arm at the end"),
        pictures,
        strict=True,
    ):
        figure = new_figure(6, 6)
        axes = figure.subplots()
        axes.imshow(image)
        axes.set_axis_off()
        text = "Muscles, the surfaces that they wrap, and mass centers, by <code>cd.picture</code>."
        yield Part(title, [text], figure)
    yield Part("Fig. 10: muscle paths", ["By their points, from the side."], paths(found))
    figure = new_figure(8, 4)
    for axes, image, when in zip(
        figure.subplots(1, 2), pictures, ("start", "end"), strict=True
    ):
        axes.imshow(around_elbow(image))
        axes.set(title=when)
        axes.set_axis_off()
    yield Part(
        "Fig. 11: wraps at the elbow",
        [
            "The brachialis goes over the front of the cylinder, the triceps over its back."
        ],
        figure,
    )
    for title, (name, factor, label) in TABLES.items():
        table = found.tables[name]
        figure = new_figure(6, 3)
        axes = figure.subplots()
        axes.plot(table.time, factor * table.values, label=table.names)
        axes.set(xlabel="time [s]", ylabel=label)
        axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
        bounds = (
            ["Bounds 0 &le; a &le; 1, as in (33)."] if name.endswith("_paper") else []
        )
        yield Part(title, bounds, figure)
    loads = found.tables["reactions_paper"]
    figure = new_figure(7, 3)
    for axes, (joint, body) in zip(
        figure.subplots(1, 2, sharex=True),
        (("shoulder", "r_humerus"), ("elbow", "r_ulna_radius_hand")),
        strict=True,
    ):
        for axis in "xyz":
            axes.plot(loads.time, loads[f"{body}_f{axis}"], label=axis)
        axes.set(title=joint, xlabel="time [s]", ylabel="force [N]")
        axes.legend()
    yield Part(
        "Fig. 20: joint reactions",
        ["What a body's joint does to it, along axes of ground."],
        figure,
    )


ELBOW = (0.9, 0.45, 0.1)
"""Color of the cylinder there."""


def scene(found: Analysis, frame: int) -> Any:
    """A labeled picture of the arm, from the side."""
    system, q = found.motion.system.copy(), found.motion.q[frame]
    for name, body in BODIES.items():
        center = system.body(body).mass_properties.com
        system.add_marker(f"mass center, {name.lower()}", body, center)
    named = {opensim: name for name, opensim in SURFACES.items()}
    for muscle in system.muscles:
        law: Any = system.force(muscle)
        for wrap in law.path.wraps:
            if (name := named.pop(wrap.name, None)) is None:
                continue
            R, p = (np.asarray(x, dtype=float) for x in wrap.X_BS)
            X = cd.Transform(R.reshape(3, 3), p.reshape(3))
            system.add_marker(name, wrap.body, X.p)
            for part in wrap.surface.drawn(0.1):
                place = system.body_pose(q, wrap.body) @ (X @ part.X if part.X else X)
                color = ELBOW if name == "Elbow cylinder" else "teal"
                system.add_geometry("ground", part.shape, place, color, 0.6, name)
    with tempfile.TemporaryDirectory() as folder:
        path = cd.picture(
            system.state(q=q),
            Path(folder) / "arm.png",
            size=(1400, 1400),
            view="side",
            labels=("muscles", "markers"),
            color=None,
        )
        return plt.imread(path)


def paths(found: Analysis) -> Any:
    """Joints and muscle paths at the start and at the end."""
    system, figure = found.motion.system, new_figure(8, 4)
    for axes, frame in zip(figure.subplots(1, 2), (0, 100), strict=True):
        q = found.motion.q[frame]
        joints = [system.body_pose(q, body).p for body in BODIES.values()]
        hand = system.station_position(q, "r_ulna_radius_hand", (0, -0.25, 0))
        bones = np.array([*joints, hand])[:, :2]
        axes.plot(*bones.T, "o-", color="0.8", linewidth=5, label="bones")
        for name, points in system.path_points(q).items():
            axes.plot(*points[:, :2].T, label=name, linewidth=1.2)
        title = f"t = {found.motion.t[frame]:g} s"
        axes.set(
            aspect="equal", xlim=(-0.15, 0.3), xlabel="x [m]", ylabel="y [m]", title=title
        )
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def around_elbow(image: Any, size: int = 260) -> Any:
    """The part of a picture where the cylinder's color is."""
    red, green, blue = np.moveaxis(image[..., :3], -1, 0)
    y, x = np.nonzero((red > 0.5) & (red > 1.4 * green) & (green > 1.6 * blue))
    y, x = int(np.median(y)), int(np.median(x))
    return image[max(y - size, 0) : y + size, max(x - size, 0) : x + size]


def pulled(found: Analysis) -> cd.System:
    """The arm, moved by the forces of static optimization as series over time."""
    plain = cd.models.arm26(muscle=None)
    muscles, reserves = found.tables["forces_paper"], found.tables["reserves_paper"]
    system = found.motion.system
    for name in system.muscles:
        series = cd.forces.TimeSeries(muscles.time, muscles[name])
        muscle: Any = system.force(name)
        plain.add_force(name, cd.forces.PathActuator(muscle.path, 1.0, control=series))
    for name in reserves.names:
        series = cd.forces.TimeSeries(reserves.time, reserves[name])
        plain.add_force(
            f"{name} reserve", cd.forces.CoordinateActuator(name, 1.0, control=series)
        )
    return plain


def played(found: Analysis, system: cd.System) -> cd.Trajectory:
    motion = found.motion
    start = system.state(q=motion.q[0], u=motion.u[0])
    return cd.simulate(system, start, 1.0, accuracy=1e-8)


def forward(found: Analysis) -> Part:
    """Forces of static optimization, played forward in time."""
    motion, plain = found.motion, pulled(found)
    run = played(found, plain)
    drift = np.degrees(np.abs(run.at(motion.t)[:, : plain.nq] - motion.q).max(axis=0))
    rows = [[name, f"{x:.2g}"] for name, x in zip(plain.coordinates, drift, strict=True)]
    return Part(
        "section 4: the forces played forward",
        [
            "Muscle forces and residual actuators of Fig. 18 and 19, as splines of 101 frames, drive the arm from its "
            "first state; nothing holds it to the motion."
        ],
        table=(("coordinate", "largest distance from the motion [degrees]"), rows),
    )


RADII = {"r_humerus": 0.022, "r_ulna_radius_hand": 0.012}
"""Of the humeral head and of the trochlea [m], about."""


def rubbing(found: Analysis) -> Part:
    """Friction from the loads of both joints, as the paper has in mind for later: what it adds to the driving
    moments of the motion, and the motion again, forward, with that."""
    motion, rows = found.motion, []
    driving = np.abs(found.tables["moments"].values).max(axis=0)
    for name, mu in (
        ("healthy cartilage", 0.01),
        ("metal on polyethylene", 0.06),
        ("dry", 0.3),
    ):
        system = pulled(found)
        for body, radius in RADII.items():
            law = cd.forces.JointFriction(body, mu, radius=radius)
            system.add_force(f"{body} friction", law)
        more = system.inverse_dynamics(motion.q, motion.u, motion.udot, t=motion.t)
        driven = system.copy()
        for speed, moment in zip(system.speeds, more.T, strict=True):
            series = cd.forces.TimeSeries(motion.t, moment)
            driven.add_force(
                f"{speed} more",
                cd.forces.CoordinateActuator(speed, 1.0, control=series),
            )
        run = played(found, driven)
        drift = np.degrees(np.abs(run.at(motion.t)[:, :2] - motion.q).max())
        most = np.abs(more).max(axis=0)
        rows.append(
            [
                name,
                f"{mu:g}",
                *(f"{x:.3f} ({x / y:.1%})" for x, y in zip(most, driving, strict=True)),
                f"{drift:.2g}",
            ]
        )
    return Part(
        "section 4: friction from the loads of the joints",
        [
            "Their future work. Coulomb friction in shoulder and elbow, of radii 22 and 12 mm, under the loads of Fig. "
            "20: the largest moments that it adds to those of Fig. 13, and their share. Then the arm is driven forward "
            "with these as well, loads and accelerations found together at every instant: how far it strays from the "
            "motion."
        ],
        table=(
            (
                "joints",
                "coefficient",
                "more moment, shoulder [N m]",
                "elbow [N m]",
                "strays by [degrees]",
            ),
            rows,
        ),
    )


WALK = ROOT.parent / "shared" / "reference" / "opensim" / "Gait2354_Simbody"
MEASURED = {
    "hip": (
        "femur",
        2.4,
        "mean peak of level walking, four instrumented hips (Bergmann et al. 2001, J. Biomech. 34, 859)",
    ),
    "knee": (
        "tibia",
        2.6,
        "mean peak of level walking, five instrumented knees (Kutzner et al. 2010, J. Biomech. 43, 2164)",
    ),
}
"""Peaks of joint loads that were measured in people, in body weights."""


def in_vivo() -> Part:
    """Hip and knee of a walking subject beside loads that were measured in people."""
    title = "section 4: joint loads beside measured ones"
    if not WALK.exists():
        return Part(
            title,
            [
                "Not computed: the recording, subject01 of OpenSim's Gait2354_Simbody, is not beside this clone. With "
                "it: hip 3.0 and 4.1 body weights (measured in people: 2.4), knee 4.3 and 4.3 (2.6)."
            ],
        )
    files = WALK / "pipeline"
    subject = cd.read_osim(WALK / "subject01_simbody.osim")
    motion = cd.low_pass(cd.read_table(files / "subject01_walk1_ik.mot"), 6.0)
    plates = cd.read_external_loads(files / "subject01_walk1_grf.xml")
    found = cd.static_optimization(subject, motion, plates, reserves=10.0)
    loads = cd.joint_reactions(subject, motion, found.forces, plates)
    weight = 9.81 * sum(body.mass for body in subject.bodies)
    rows, figure = [], new_figure(7, 3)
    for axes, (joint, (body, theirs, who)) in zip(
        figure.subplots(1, 2, sharey=True), MEASURED.items(), strict=True
    ):
        peaks = []
        for side in "rl":
            columns = [loads[f"{body}_{side}_f{axis}"] for axis in "xyz"]
            F = np.linalg.norm(columns, axis=0) / weight
            axes.plot(loads.time, F, label=f"ours, {side}")
            peaks.append(F.max())
        axes.axhline(theirs, color="0.5", linestyle="--", label="measured peak")
        axes.set(title=joint, xlabel="time [s]", ylabel="body weights")
        if joint == "hip":
            axes.legend(fontsize="small")
        rows.append([joint, *(f"{x:.1f}" for x in peaks), f"{theirs:g}", f"{who}"])
    return Part(
        title,
        [
            "Their future work: static optimization and joint reactions of a walking subject (Gait2354, 54 muscles, "
            "72.6 kg), in body weights. It is another person than those who were measured, without electromyograms and "
            "with ideal joints: only orders of magnitude can agree. They do; such models are known to be high."
        ],
        figure,
        (("joint", "our peak, right", "left", "measured", "by whom"), rows),
    )
