"""cd.induced_accelerations: contributions add up; closed forms; springs and what takes their place."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from tests.studies.arm import arm, motion, reference


def machine() -> cd.System:
    """A free body with an arm, a loop, springs, a damper and a motor."""
    system = cd.System()
    system.add_body("base", mobilizer=cd.Free(), mass=3, com=(0.1, 0, 0.05), inertia=(0.2, 0.3, 0.4))
    for name, x in (("left", -0.2), ("right", 0.2)):
        system.add_body(
            name,
            "base",
            cd.Pin(),
            X_PF=(x, 0, 0),
            X_BM=(0, 0.3, 0),
            mass=1,
            com=(0, 0.1, 0),
            inertia=(0.02, 0.01, 0.02),
        )
    system.add_constraint("bar", cd.constraints.CoordinateCoupler(lambda a, b: a - b * b, ["left", "right"]))
    system.add_force("spring", cd.forces.TwoPointSpring("ground", (0, 1, 0), "left", (0, -0.2, 0), 50.0, 0.3))
    system.add_force("damper", cd.forces.MobilityDamper("right", 0.3))
    system.add_force("motor", cd.forces.MobilityForce("left", cd.Input("motor", 2.0)))
    return system


def test_contributions_add_up(evidence):
    """To the accelerations of the run, constraints and all: rounding."""
    system = machine()
    start = system.state(
        q={"left": 0.09, "right": 0.3},
        u={"right": 1.0, "left": 0.6, "base_wx": 0.7, "base_vy": 0.4},
        inputs={"motor": 3.0},
    )
    run = cd.simulate(system, start, 0.3, accuracy=1e-6)
    found = cd.induced_accelerations(system, run, bodies=["right"], mass_center=True)
    assert found.causes == ("velocity", "gravity", "spring", "damper", "motor")
    whole = np.concatenate(
        [run.udot, run.body_acceleration("right").values, run.mass_center_acceleration().values], axis=1
    )
    size = abs(whole).max()
    np.testing.assert_allclose(found.total.values, whole, rtol=0, atol=1e-11 * size)
    added = sum(found[cause].values for cause in found)
    evidence(
        "contributions of forces add up to the accelerations, with constraints, relative",
        abs(added - whole).max() / size,
        1e-11,
    )
    lambda_ = sum(table.values for table in found.multipliers.values())
    np.testing.assert_allclose(lambda_, run.multipliers().values, rtol=0, atol=1e-10 * abs(lambda_).max())
    assert abs(found.unexplained.values).max() < 1e-10 * size
    by_cause = found.of("mass_center_ay")
    np.testing.assert_allclose(by_cause["gravity"], -9.81, rtol=1e-12)
    np.testing.assert_allclose(by_cause["damper"], 0, atol=1e-10)  # forces inside do not move it
    assert by_cause.titles[1] == "gravity [m/s^2]"


def test_arm26_with_tensions():
    """Muscles that only cross the elbow turn the shoulder too. OpenSim's forces explain the motion as far as
    its moment arms are exact."""
    data = reference("so_phys_on_reserves_force")
    names = [*arm().muscles, *arm().speeds]
    forces = cd.Table(
        data["time"], names, np.column_stack([data[n] if n in data else data[f"{n}_reserve"] for n in names])
    )
    moved = motion()[10:91]
    found = cd.induced_accelerations(arm(), moved, forces)
    assert found.causes == (
        "velocity",
        "gravity",
        *arm().muscles,
        "actuator at r_shoulder_elev",
        "actuator at r_elbow_flex",
    )
    np.testing.assert_allclose(sum(t.values for t in found.tables.values()), found.total.values, atol=1e-9)
    assert abs(found.unexplained["r_elbow_flex"]).max() < 2.0  # OpenSim's arms of BIClong are 1 % off
    assert found["BRA"]["r_elbow_flex"].min() > 0
    assert found["BRA"]["r_shoulder_elev"].max() < 0


def blocks() -> cd.System:
    """A block on a spring, one on top of it, a motor between them."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("a", mobilizer=cd.Slider(), mass=2)
    system.add_body("b", "a", cd.Slider(), mass=3)
    system.add_force("floor", cd.forces.MobilitySpring("a", 1e4, 0.0))
    system.add_force("motor", cd.forces.MobilityForce("b", cd.Input("motor", 6.0)))
    return system


def test_springs_give_nothing_at_once_and_constraints_do():
    """The motor's 6 N push both blocks apart; on a rigid floor only the upper one moves."""
    system, t = blocks(), np.linspace(0, 1, 9)
    moved = cd.Motion(system, t, np.zeros((9, 2)))
    soft = cd.induced_accelerations(system, moved, groups=("passive", "actuator"))
    np.testing.assert_allclose(soft["motor"].values[0], [-6 / 2, 6 / 3 + 6 / 2])
    hard = cd.induced_accelerations(
        system,
        moved,
        groups=("passive", "actuator"),
        rigid={"floor": cd.constraints.CoordinateCoupler(lambda a: a, ["a"])},
    )
    assert hard.causes == ("velocity", "motor")
    np.testing.assert_allclose(hard["motor"].values[0], [0, 6 / 3], atol=1e-12)
    np.testing.assert_allclose(abs(hard.multipliers["motor"].values), 6)
    system = blocks()
    given = cd.induced_accelerations(
        system,
        cd.Motion(system, t, np.zeros((9, 2))),
        external_loads=cd.ExternalLoad(
            "b", cd.Table(t, ["x", "y", "z"], np.full((9, 3), 3.0)), ("x", "y", "z")
        ),
    )
    np.testing.assert_allclose(given["load on b"].values[0], [0, 1])


def standing(contacts=1):
    """A leg of three pins whose round foot touches the floor, once or twice at the same place."""
    system = cd.System(gravity=(0, -9.81, 0))
    parent = system.add_body("trunk", mobilizer=cd.Planar(), mass=30, inertia=(1, 1, 1))
    for name in ("thigh", "shank"):
        parent = system.add_body(
            name, parent, cd.Pin(), X_PF=(0, -0.4, 0), mass=5, com=(0, -0.2, 0), inertia=(0.1, 0.01, 0.1)
        )
    soft = cd.contact.Material(1e6, static_friction=0.8, dynamic_friction=0.8)
    floor = cd.contact.HalfSpace("ground", (0, 1, 0), -1.21, soft)
    for k in range(contacts):
        foot = cd.contact.Sphere("shank", (0.02, -0.4, 0), 0.05, soft)
        system.add_force(f"foot{k}", cd.contact.HuntCrossley(floor, foot))
    system.add_force("hip", cd.forces.MobilityForce("thigh", cd.Input("hip", 20.0)))
    return system


@pytest.mark.parametrize("contacts", [1, 2])
def test_contacts_are_held_where_they_touch(contacts):
    """Against a constraint that a user would place by hand, in one frame after the other; two contacts share."""
    system, t = standing(contacts), np.linspace(0, 1, 5)
    rng = np.random.default_rng(3)
    q = np.zeros((5, 5)) + 1e-2 * rng.normal(size=(5, 5)) * [0, 1, 0, 1, 1]
    q[:, 2] = -0.04
    q[4, 2] = 0.5  # in the air
    u, udot = rng.normal(size=(2, 5, 5))
    moved = cd.Motion(system, t, q, u, udot)
    options = {"groups": ("gravity", "actuator")}
    held = cd.induced_accelerations(system, moved, rigid="contacts", **options)
    names = tuple(f"foot{k}" for k in range(contacts))
    assert set(held.causes) == {"velocity", "hip", "gravity"}
    free = cd.induced_accelerations(system, moved, **options)
    np.testing.assert_allclose(held.total.values[4], free.total.values[4], rtol=1e-12)
    for i in range(4):
        P = system.contacts.points(q[i])[0]
        here = system.body_pose(q[i], "shank")
        p = here.R.T @ (P - here.p)
        by_hand = cd.constraints.Ball("ground", P, "shank", p)
        frame = cd.Motion(system, t[:3], q[[i] * 3], u[[i] * 3], udot[[i] * 3])
        other = cd.induced_accelerations(system, frame, rigid={names[0]: by_hand}, **options)
        for cause in held.causes:
            # out of the plane a ball is redundant: rounding times the condition of its least squares
            np.testing.assert_allclose(
                held[cause].values[i], other[cause].values[0], rtol=1e-7, atol=1e-7, err_msg=cause
            )
    pushed = sum(held.multipliers["gravity"][f"{name}_fy"] for name in names)
    assert (pushed[:4] > 0).all()
    assert pushed[4] == 0
    np.testing.assert_allclose(
        sum(held[c].values for c in held.causes), held.total.values, rtol=1e-9, atol=1e-9
    )
    with pytest.raises(cd.errors.DescriptionError, match="'contacts' or 'normals'"):
        cd.induced_accelerations(system, moved, rigid="contact")
    with pytest.raises(cd.errors.DescriptionError, match="no compliant contacts"):
        cd.induced_accelerations(bare := blocks(), cd.Motion(bare, t, np.zeros((5, 2))), rigid="contacts")


def test_wrong_arguments_are_named():
    system, t = blocks(), np.linspace(0, 1, 9)
    moved = cd.Motion(system, t, np.zeros((9, 2)))
    with pytest.raises(cd.errors.DescriptionError, match="'floor': expected a constraint"):
        cd.induced_accelerations(system, moved, rigid={"floor": 3})
    found = cd.induced_accelerations(system, moved)
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'velocity'"):
        found["velocities"]
    with pytest.raises(cd.errors.UnknownNameError, match="unknown column"):
        found.of("c")
