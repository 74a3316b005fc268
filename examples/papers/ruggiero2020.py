"""ruggiero2020: an upper limb, by muscles that wrap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import condyle as cd
from condyle.cli.demo import elbow
from condyle.models.arm26 import BODIES as MASSES
from condyle.models.arm26 import JOINTS
from condyle.models.arm26 import SURFACES as WRAPPED
from condyle.reports.analysis import CONFIGURATIONS, PAPER, Analysis
from examples.papers.part import Part, Table, new_figure

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
    for frame, title in (
        (0, "Fig. 8, 11: the arm at the start"),
        (100, "Fig. 9, 11: the arm at the end"),
    ):
        yield Part(
            title, ["Muscles, and the surfaces that they wrap."], drawn(found, frame)
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


def drawn(found: Analysis, frame: int) -> Any:
    """The arm from the side, by its joints and muscle paths."""
    system, q = found.motion.system, found.motion.q[frame]
    figure = new_figure(5, 4)
    axes = figure.subplots()
    joints = [system.body_pose(q, body).p for body in BODIES.values()]
    hand = system.station_position(q, "r_ulna_radius_hand", (0, -0.25, 0))
    axes.plot(
        *np.array([*joints, hand])[:, :2].T, "o-", color="0.6", linewidth=5, label="bones"
    )
    for name, points in system.path_points(q).items():
        axes.plot(*points[:, :2].T, label=name, linewidth=1.2)
    axes.set(
        aspect="equal",
        xlim=(-0.15, 0.3),
        xlabel="x [m]",
        ylabel="y [m]",
        title=f"t = {found.motion.t[frame]:g} s",
    )
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def forward(found: Analysis) -> Part:
    """Forces of static optimization, played forward in time."""
    motion = found.motion
    plain = cd.models.arm26(muscle=None)
    muscles, reserves = found.tables["forces_paper"], found.tables["reserves_paper"]
    paths = {name: motion.system.force(name).path for name in motion.system.muscles}
    for name, path in paths.items():
        series = cd.forces.TimeSeries(muscles.time, muscles[name])
        plain.add_force(name, cd.forces.PathActuator(path, 1.0, control=series))
    for name in reserves.names:
        series = cd.forces.TimeSeries(reserves.time, reserves[name])
        plain.add_force(
            f"{name} reserve", cd.forces.CoordinateActuator(name, 1.0, control=series)
        )
    run = cd.simulate(
        plain, plain.state(q=motion.q[0], u=motion.u[0]), 1.0, accuracy=1e-8
    )
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
