"""Projection in the step loop: what it removes, where it takes steps and states between them, and what
happens when it fails."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.integrate.projection import projection
from condyle.tree import scales
from tests.constraints.rig import EVERY, on_constraints, rig
from tests.verification import mechanisms as built

C = cd.constraints


def tolerance(system, accuracy):
    """What equations may be off by: integrate/projection.py (2)."""
    return 0.1 * accuracy * min(1.0, scales.length(system.bodies))


def within(system, q, u, allowed):
    p, v = system.constraints.errors(q, u)
    return max(np.abs(p).max(initial=0), 0.1 * np.abs(v).max(initial=0)) <= allowed


@pytest.mark.parametrize(
    "names", [("Rod", "ConstantAngle"), ("Weld", "SpeedCoupler"), ("NoSlip1D",)], ids=" ".join
)
def test_what_is_normal_to_the_constraints_leaves_the_error(names):
    """e - S G' (G S G')^+ G e by NumPy's pseudo-inverse, S = W^-2 for positions, M^-1 for speeds; nothing
    along a quaternion."""
    system = rig(*names)
    q, u = on_constraints(system)
    n, rng = system.nq + system.nu, np.random.default_rng(4)
    w, turn, e_u = rng.uniform(0.5, 2, n), rng.normal(size=system.nu), rng.normal(size=system.nu)
    e_q = system.qdot(q, turn)
    # along the quaternion: no error at all
    e_q[3:7] += 0.7 * q[3:7]
    tail = system.compiled.tails.default[system.compiled.model.tail["inputs"].start :]
    given = [ca.DM(x) for x in (0.0, np.concatenate([q, u]), tail, w, np.concatenate([e_q, e_u]))]
    _, e, off = (np.array(x.full()).ravel() for x in projection(system.compiled.model, 1).along.call(given))

    G = system.constraints.jacobian(q, u)
    levels = [part.level for name in names for part in EVERY[name].parts for _ in range(part.size)]
    P, V = (G[[level in wanted for level in levels]] for wanted in (("position",), ("position", "velocity")))
    for rows, S, before, after in (
        (P, np.diag(w[system.nq :] ** -2), turn, e[: system.nq]),
        (V, np.linalg.inv(system.mass_matrix(q)), e_u, e[system.nq :]),
    ):
        expected = before - S @ rows.T @ np.linalg.pinv(rows @ S @ rows.T, rcond=1e-10) @ (rows @ before)
        expected = system.qdot(q, expected) if rows is P else expected
        # The multipliers' least norm, 1e-9.
        np.testing.assert_allclose(after, expected, rtol=0, atol=1e-8)
    assert off[0] < 1e-9  # `project` goes to 1e-10


@pytest.mark.parametrize(
    ("make", "integrator", "accuracy", "step"),
    [
        (built.bricard, "dormand-prince", 1e-6, None),
        (built.andrews, "merson", 1e-6, 1e-4),
        (built.andrews, "dormand-prince-8", 1e-9, 5e-4),
    ],
)
def test_states_between_steps_are_on_the_constraints(make, integrator, accuracy, step):
    """traj.at, traj(t) and the rows; the polynomial itself is further off, with long steps at least."""
    system, allowed = make(), tolerance(make(), accuracy)
    start = system.state(q=built.ANDREWS_START if make is built.andrews else None)
    traj = cd.simulate(
        system,
        start,
        0.02 if make is built.andrews else 1.0,
        accuracy=accuracy,
        integrator=integrator,
        step=step,
    )
    assert traj.finished
    t = np.linspace(0, traj.t[-1], 401)
    y = traj.at(t)
    assert within(system, traj.q, traj.u, allowed)
    assert within(system, y[:, : system.nq], y[:, system.nq :], allowed)
    piece = np.clip(np.searchsorted(traj.t, t, side="right") - 1, 0, len(traj.t) - 2)
    raw = traj.rows.at(piece, t)
    assert not within(system, raw[:, : system.nq], raw[:, system.nq :], allowed)
    np.testing.assert_array_equal(np.concatenate([traj(t[7]).q, traj(t[7]).u]), traj.at(t[7]))
    assert traj.statistics.projections >= traj.statistics.steps


def test_events_see_states_on_the_constraints():
    """A pendulum on a rod passes its lowest point: where it is isolated the rod has its length; disabling it
    lets the bob go."""
    system = built.pendulum()
    cut = cd.Event(
        lambda s: s.q("bob_tx"), direction="rising", action=lambda s: s.replace(disabled=["rod"]), name="cut"
    )
    traj = cd.simulate(system, system.state(q=[-1, 0, 0]), 1.5, accuracy=1e-4, events=cut)
    before = traj.events[0].before
    assert within(system, before.q, before.u, tolerance(system, 1e-4))
    after = traj.at(traj.t[-1] - 0.1)
    # it flies, and nothing pulls it back between steps
    assert np.linalg.norm(after[:3]) > 1.2
    assert within(system, *np.split(traj.at(0.3), 2), tolerance(system, 1e-4))


def test_locked_speeds_take_no_part():
    """A slider-crank whose rod may not bend: nothing moves, and projection does not either."""
    system = built.slider_crank()
    q, _ = built.slider_crank_state(0.4, 0.0)
    traj = cd.simulate(system, system.state(q=q, locked=["rod"]), 0.5)
    assert traj.finished
    np.testing.assert_array_equal(traj.q[:, 1], q[1])
    np.testing.assert_allclose(traj.q[-1], q, rtol=0, atol=1e-12)


def test_an_axis_that_costs_nothing_takes_the_correction():
    """Weights decide who moves: a point off its line x = y goes along the light axis."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("point", mobilizer=cd.Translation(), mass=1.0)
    system.add_constraint("line", C.CoordinateCoupler(lambda x, y: x - y, ("point_tx", "point_ty")))
    off, still = np.array([1.0, 0.0, 0.0]), np.zeros(3)
    for W, expected in (([1, 1, 1], [0.5, 0.5, 0]), ([1e4, 1, 1], [1, 1, 0]), ([1, 1e4, 1], [0, 0, 0])):
        # W^-2 of 1e-8 is what the heavy axis takes.
        np.testing.assert_allclose(system.project(off, still, weights=W)[0], expected, rtol=0, atol=1e-7)
    np.testing.assert_allclose(system.project(off, still)[0], [0.5, 0.5, 0], rtol=0, atol=1e-12)


def test_redundant_constraints_cost_nothing():
    """An equation of Bricard's sixth hinge is redundant on the constraints and not beside them: stages are
    asked on them."""
    system = built.bricard()
    traj = cd.simulate(system, system.state(), 1.0, accuracy=1e-8)
    # 117 steps without rejection were measured; stages beside the constraints took 720 with as many
    # rejections.
    assert traj.statistics.steps < 160 and traj.statistics.rejections < 10


def knee_functions(n):
    angle = np.linspace(-2.2, 0.4, n)
    return (cd.Spline(angle, 0.02 * np.sin(2 * angle)), cd.Spline(angle, -0.4 + 0.03 * np.cos(angle)))


def test_look_ups_are_projected_too():
    """A knee of two splines of 15 points, and beyond them: as a mobilizer, and as a planar joint with two
    couplers."""
    x, y = knee_functions(15)
    shank = {"mass": 3.0, "com": (0, -0.2, 0), "inertia": (0.05, 0.01, 0.05)}
    joint, coupled = cd.System(), cd.System()
    joint.add_body(
        "shank",
        mobilizer=cd.FunctionBased(
            coordinates=("knee",), angles=(None, None, lambda q: q), translations=(x, y, None)
        ),
        **shank,
    )
    coupled.add_body("shank", mobilizer=cd.Planar(), coordinates=("knee", "tx", "ty"), **shank)
    coupled.add_constraint("x", C.CoordinateCoupler(lambda q, tx: tx - x(q), ("knee", "tx")))
    coupled.add_constraint("y", C.CoordinateCoupler(lambda q, ty: ty - y(q), ("knee", "ty")))
    q, u = coupled.project([-0.9, x(-0.9), y(-0.9)], [0.0, 0, 0])
    one = cd.simulate(joint, joint.state(q=[-0.9]), 2.0, accuracy=1e-8)
    two = cd.simulate(coupled, coupled.state(q=q, u=u), 2.0, accuracy=1e-8)
    assert one.finished and two.finished, (one.status, two.status)
    assert two.q[:, 0].max() > 0.4  # where the tables end
    t = np.linspace(0, 2, 101)
    # A hundred accuracies: splines have jumps in the third derivative, which cost both some order.
    np.testing.assert_allclose(two.at(t)[:, 0], one.at(t)[:, 0], rtol=0, atol=1e-6)
    assert within(coupled, two.at(t)[:, :3], two.at(t)[:, 3:], tolerance(coupled, 1e-8))


# ---- runs that cannot go on --------------------------------------------------------------------------------


def test_constraints_that_contradict_each_other_later_are_named():
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1.0, com=(0.1, 0, 0), inertia=(0.1,) * 3)
    system.add_constraint("one", C.PrescribedMotion(lambda t: np.sin(t), "arm"))
    system.add_constraint(
        "other", C.PrescribedMotion(lambda t: np.sin(t) + np.where(t < 0.5, 0, (t - 0.5) ** 2), "arm")
    )
    traj = cd.simulate(system, system.state(u=[1.0]), 1.0, accuracy=1e-6)
    assert not traj.finished
    assert traj.t[-1] == pytest.approx(0.5, abs=1e-3)
    for part in (
        "stopped at t = 0.5",
        "the constraints can no longer be satisfied",
        "contradict each other",
    ):
        assert part in traj.status
    assert "'one' by" in traj.status or "'other' by" in traj.status  # they share it


def test_locks_that_contradict_a_constraint_are_named():
    system = cd.System()
    for name in "ab":
        system.add_body(name, mobilizer=cd.Pin(), mass=1.0, com=(0, -0.3, 0), inertia=(0.1,) * 3)
    system.add_constraint("gear", C.CoordinateCoupler(lambda a, b: a - 2 * b, ["a", "b"]))
    traj = cd.simulate(system, system.state(locked={"a": 1.0, "b": 3.0}), 1.0, accuracy=1e-6)
    assert not traj.finished
    assert "accelerations violate them: 'gear' by -5" in traj.status  # |1 - 2 * 3| rad/s^2
    assert cd.simulate(system, system.state(locked={"a": 1.0}), 0.1, accuracy=1e-6).finished


def test_a_linkage_driven_beyond_its_reach_says_so():
    system = cd.System()
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.1,) * 3}
    system.add_body("crank", mobilizer=cd.Pin(), **rod)
    system.add_body("rod", "crank", cd.Pin(), X_PF=(1, 0, 0), **rod)
    system.add_constraint("line", C.PointOnLine("ground", (0, 0, 0), (1, 0, 0), "rod", (1, 0, 0)))
    system.add_constraint(
        "drive", C.Holonomic(lambda s: s.station_position("rod", (1, 0, 0))[0] - 1.5 - 0.5 * s.t)
    )
    q, u = system.project([0.7, -1.4], [0.0, 0.0])
    traj = cd.simulate(system, system.state(q=q, u=u), 3.0, accuracy=1e-6)
    # arms of 1 m each: 2 m are reached after 1 s
    assert traj.t[-1] == pytest.approx(1.0, abs=1e-3)
    assert "the constraints can no longer be satisfied" in traj.status and "'drive' by" in traj.status
    assert traj.status == cd.Status.CONSTRAINTS


@pytest.mark.parametrize(
    ("mobilizer", "step", "words"),
    [
        (cd.Gimbal(), None, "has lost a direction of motion: speed 'arm_rz' moves nothing new"),
        (cd.Gimbal(), 0.01, "has lost a direction of motion: speed 'arm_rz' moves nothing new"),
        (cd.Ball(coordinates="euler"), None, "cannot follow its speeds"),
    ],
    ids=["H", "H, fixed step", "N"],
)
def test_a_mobilizer_without_rank_is_named(mobilizer, step, words):
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("arm", mobilizer=mobilizer, mass=1.0, inertia=(0.1, 0.2, 0.15))
    traj = cd.simulate(system, system.state(q=[0.1, np.pi / 2, 0.2], u=[0.3, 0, 1.0]), 1.0, step=step)
    assert not traj.finished
    assert traj.status.startswith("stopped at t = 0 s: the ") and "of body 'arm'" in traj.status
    assert words in traj.status and "quaternion" in traj.status and traj.status == cd.Status.SINGULAR


def test_rank_lost_for_an_instant_is_stepped_over():
    """A gimbal that turns about its second axis alone passes the lock; a step that would end there ends
    elsewhere."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("arm", mobilizer=cd.Gimbal(), mass=1.0, inertia=(0.1, 0.2, 0.15))
    start = system.state(q=[0, np.pi / 2 - 1.0, 0], u=[0, 1.0, 0])
    traj = cd.simulate(system, start, 3.0, max_step=0.125, accuracy=1e-6)
    assert traj.finished
    assert traj.q[-1, 1] == pytest.approx(np.pi / 2 + 2.0, abs=1e-9)
