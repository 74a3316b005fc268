"""cd.joint_reactions: arm26 against OpenSim, closed forms, frames and sides."""

from __future__ import annotations

import csv
from itertools import pairwise

import numpy as np
import pytest

import condyle as cd
from tests.studies.arm import DATA, arm, motion, reference

NINE = slice(10, 91, 10)
JOINTS = {"r_humerus": "r_shoulder_on_r_humerus", "r_ulna_radius_hand": "r_elbow_on_r_ulna_radius_hand"}
PARTS = ("fx", "fy", "fz", "mx", "my", "mz", "px", "py", "pz")


def tensions() -> cd.Table:
    data = reference("so_phys_on_reserves_force")
    muscles = arm().muscles
    return cd.Table(data["time"], muscles, np.column_stack([data[name] for name in muscles]))[NINE]


def opensims_muscles() -> list[cd.ExternalLoad]:
    """What OpenSim's muscles do to the two bodies, from its own path points: its paths over surfaces are not
    exact."""
    T, nine = tensions(), motion()[NINE]
    with open(DATA / "path_points.csv", encoding="utf-8") as file:
        points = list(csv.DictReader(file))
    wrenches = {body: np.zeros((9, 9)) for body in JOINTS}
    for a, b in pairwise(points):
        if (a["time"], a["muscle"]) == (b["time"], b["muscle"]) and a["body"] != b["body"]:
            i = int(np.argmin(abs(nine.t - float(a["time"]))))
            x, y = (np.array([float(p[c + "_ground"]) for c in "xyz"]) for p in (a, b))
            pull = T[a["muscle"]][i] * (y - x) / np.linalg.norm(y - x)
            for point, at, f in ((a, x, pull), (b, y, -pull)):
                if point["body"] in wrenches:
                    wrenches[point["body"]][i, :6] += np.concatenate([f, np.cross(at, f)])
    names = [c + axis for c in "fmp" for axis in "xyz"]
    return [cd.ExternalLoad(body, cd.Table(nine.t, names, F), "f", "p", "m") for body, F in wrenches.items()]


@pytest.mark.parametrize("frame", ["ground", "child"])
def test_arm26_against_opensim(evidence, frame):
    """The forces balance the motion to 1e-5 N m, and moments are 2 N m."""
    found = cd.joint_reactions(arm(), motion()[NINE], external_loads=opensims_muscles(), frame=frame)
    data = reference(f"jr_phys_on_reserves_{frame}")
    for body, joint in JOINTS.items():
        seen = "ground" if frame == "ground" else body
        expected = np.column_stack([data[f"{joint}_in_{seen}_{part}"] for part in PARTS])
        error = abs(found[[f"{body}_{part}" for part in PARTS]].values - expected)
        for what, of in (("forces", slice(0, 3)), ("moments", slice(3, 6))):
            size = np.linalg.norm(expected[:, of], axis=1).max()
            evidence(
                f"joint {what} of arm26 against OpenSim, with its muscles' forces and points, relative",
                error[:, of].max() / size,
                1e-4,
            )
        assert error[:, 6:].max() < 1e-12


def test_arm26_with_our_paths():
    """The tensions along exact paths. OpenSim's ellipsoid turns BIClong by up to 1 % of a radian."""
    T = tensions()
    found = cd.joint_reactions(arm(), motion()[NINE], T)
    data = reference("jr_phys_on_reserves_ground")
    for body, joint in JOINTS.items():
        expected = np.column_stack([data[f"{joint}_in_ground_{part}"] for part in PARTS[:3]])
        error = abs(found[[f"{body}_{part}" for part in PARTS[:3]]].values - expected).max()
        assert error < 0.02 * np.linalg.norm(expected, axis=1).max()
    assert "left out" not in found.status
    assert "at r_shoulder_elev to actuators" in found.status
    between = cd.joint_reactions(arm(), motion()[20:30:5], T)  # linear in the tensions between rows
    assert np.isfinite(between.values).all()


def test_frames_without_tensions_are_not_a_number():
    T = tensions()
    T.values[4, 2] = np.nan
    found = cd.joint_reactions(arm(), motion()[NINE], T)
    assert np.isnan(found.values).all(axis=1).tolist() == [i == 4 for i in range(9)]


def pendulum() -> cd.System:
    """Two rods in a plane, with parameters in their frames."""
    system = cd.System(gravity=(0, -10, 0))
    system.add_body(
        "upper", mobilizer=cd.Pin(), X_PF=(0.1, 2, 0.3), X_BM=(0, 0.5, 0), mass=2, inertia=(0.1, 0.1, 0.1)
    )
    system.add_body(
        "lower",
        "upper",
        cd.Pin(),
        X_PF=(0, cd.Parameter("half", -0.5), 0.2),
        X_BM=(0, 0.5, 0),
        mass=3,
        inertia=(0.1, 0.1, 0.1),
    )
    return system


def test_hanging_at_rest():
    """Weights, and their moments about the offset of 0.2 m out of the plane; sides and frames."""
    system, t = pendulum(), np.linspace(0, 1, 5)
    rest = cd.Motion(system, t, np.zeros((5, 2)))
    child = cd.joint_reactions(system, rest)[0:1]
    upper, lower = (child[[f"{b}_{p}" for p in PARTS]].values[0] for b in ("upper", "lower"))
    np.testing.assert_allclose(upper, [0, 50, 0, -0.2 * 30, 0, 0, 0.1, 2, 0.3], atol=1e-12)
    np.testing.assert_allclose(lower, [0, 30, 0, 0, 0, 0, 0.1, 1, 0.5], atol=1e-12)
    parent = cd.joint_reactions(system, rest, on="parent", bodies="lower")
    np.testing.assert_allclose(parent.values[0], [0, -30, 0, 0, 0, 0, 0.1, 1, 0.5], atol=1e-12)
    assert parent.titles[3] == "lower_mx [N m]"
    turned = cd.Motion(system, t, np.full((5, 2), [np.pi / 2, 0]))
    for frame in ("child", "parent", "upper"):
        found = cd.joint_reactions(system, turned, bodies=["lower"], frame=frame).values[0]
        np.testing.assert_allclose(found[:3], [30, 0, 0], atol=1e-12)  # x of the bodies is up
        at = [0, 0.5, 0] if frame == "child" else [0, -0.5, 0.2]
        np.testing.assert_allclose(found[6:], at, atol=1e-12)
    half = system.state(parameters={"half": -0.9})
    at = cd.joint_reactions(system, cd.Motion(system, t, np.zeros((5, 2)), state=half), on="parent")
    np.testing.assert_allclose(at["lower_py"], 0.6)


def test_constraints_carry_their_part():
    """A rod on two pins at its ends carries half of its weight at each."""
    system = cd.System(gravity=(0, -10, 0))
    system.add_body("rod", mobilizer=cd.Pin(), X_BM=(-0.5, 0, 0), mass=2, inertia=(0.1, 0.1, 0.1))
    system.add_constraint("end", cd.constraints.Ball("ground", (1, 0, 0), "rod", (0.5, 0, 0)))
    t = np.linspace(0, 1, 5)
    found = cd.joint_reactions(system, cd.Motion(system, t, np.zeros((5, 1))))
    np.testing.assert_allclose(found["rod_fy"], 10, rtol=1e-9)
    held = cd.joint_reactions(
        system, cd.Motion(system, t, np.zeros((5, 1))), cd.Table(t, ["rod"], np.full((5, 1), 4.0))
    )
    np.testing.assert_allclose(held["rod_fy"], 14, rtol=1e-9)  # a moment of 4 N m presses the end down
    assert "forces leave up to" in held.status
    lost = cd.joint_reactions(
        system,
        cd.Motion(system, t, np.zeros((5, 1))),
        cd.Table(t, ["rod"], np.array([[np.nan], *[[4.0]] * 4])),
    )
    np.testing.assert_array_equal(np.isnan(lost["rod_fy"]), [True, *[False] * 4])


def test_a_path_between_two_equal_ways_takes_one():
    """Straight through the middle of an ellipsoid, which is as far on both sides: no frame is NaN."""
    wrap = cd.paths.Wrap(cd.paths.Ellipsoid((0.05, 0.06, 0.05)), "ground", name="bone")
    path = cd.paths.Path([("ground", (0, 0.1, 0)), ("arm", (0, -0.1, 0))], [wrap])
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1.5, com=(0, -0.2, 0), inertia=(0.02, 0.01, 0.02))
    system.add_force("s", cd.forces.PathSpring(path, 100.0, 0.05))
    t = np.linspace(0, 1, 5)
    moved = cd.Motion(system, t, (t - 0.5)[:, None])
    with pytest.warns(UserWarning, match=r"moment arm of s about arm leaps .* at t = 0.5 s"):
        length = cd.muscle_analysis(system, moved).lengths["s"][2]
    y = 0.06**2 / 0.1  # of the tangent points of the ellipse, whose polar is y = b^2 / d
    x = 0.05 * np.sqrt(1 - (y / 0.06) ** 2)
    angle = np.linspace(np.arcsin(y / 0.06), 0, 100_001)
    arc = np.hypot(np.diff(0.05 * np.cos(angle)), np.diff(0.06 * np.sin(angle))).sum()
    assert length == pytest.approx(2 * (np.hypot(x, 0.1 - y) + arc), rel=1e-9)  # of the chords
    # F = -T r: two ends pull away from the way's side, by the tension's part across
    F = cd.joint_reactions(system, moved)
    across = 100.0 * (length - 0.05) * x / np.hypot(x, 0.1 - y)
    assert abs(F["arm_fx"][2]) == pytest.approx(across, rel=1e-9)


def test_wrong_arguments_are_named():
    T, nine = tensions(), motion()[NINE]
    with pytest.raises(
        cd.errors.UnknownNameError, match="unknown side of a joint 'parents'; did you mean 'parent'"
    ):
        cd.joint_reactions(arm(), nine, on="parents")
    with pytest.raises(cd.errors.UnknownNameError, match="unknown body 'r_humeru'"):
        cd.joint_reactions(arm(), nine, frame="r_humeru")
    with pytest.raises(
        cd.errors.UnknownNameError, match=r"unknown column 'BRA'.*every muscle needs a column"
    ):
        cd.joint_reactions(arm(), nine, T[[n for n in T.names if n != "BRA"]])
    with pytest.raises(cd.errors.UnknownNameError, match="unknown body with a joint 'ground'"):
        cd.joint_reactions(arm(), nine, bodies="ground")
    with pytest.raises(cd.errors.ShapeError, match=r"known from 0.1 to 0.9 s, the motion goes from 0 to 1 s"):
        cd.joint_reactions(arm(), motion(), T)
