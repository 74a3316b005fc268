"""Accelerations that no constraints allow, and constraints that have no value, are refused by name; healthy
ones are not."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest

import condyle as cd
from tests.constraints.rig import EVERY, RAIL, rig, state
from tests.verification.mechanisms import bricard, four_bars

C = cd.constraints
BODY = {"mass": 1.0, "com": (0, -0.5, 0), "inertia": (0.1, 0.1, 0.1)}


@pytest.fixture(autouse=True)
def _casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


def arm(motion=None, **constraints) -> cd.System:
    system = cd.System()
    system.add_body("a", mobilizer=cd.Pin(), motion=motion, **BODY)
    system.add_body("b", "a", cd.Pin(), X_PF=(0, -1, 0), **BODY)
    for name, constraint in constraints.items():
        system.add_constraint(name, constraint)
    return system


def contradicting() -> cd.System:
    """u = 1 together with udot = 3."""
    return arm(steady=C.ConstantSpeed("a", 1.0), pushed=C.ConstantAcceleration("a", 3.0))


@pytest.mark.parametrize(
    "ask",
    [
        lambda s, q, u: s.forward_dynamics(q, u),
        lambda s, q, u: s.multipliers(q, u),
        lambda s, q, u: s.constraints.forces(q, u),
        lambda s, q, u: s.state(q=q, u=u).udot,
        lambda s, q, u: s.state(q=q, u=u).reactions(),
        lambda s, q, u: s.motion_forces(q, u),
        lambda s, q, u: s.jacobian("forward_dynamics", q, u, wrt="q"),
        lambda s, q, u: s.jvp("forward_dynamics", q, u, tangents={"q": u}),
        lambda s, q, u: s.vjp("forward_dynamics", q, u, cotangent=u, wrt=("q",)),
    ],
    ids=["udot", "lambda", "forces", "State", "reactions", "motion", "jacobian", "jvp", "vjp"],
)
def test_contradicting_constraints_are_named(ask):
    system = contradicting()
    with pytest.raises(
        cd.errors.ConstraintError, match=r"no accelerations satisfy the constraints; .*allowed 0\.0"
    ) as caught:
        ask(system, np.zeros(2), np.array([1.0, 0.0]))
    assert set(caught.value.violated) == {"steady", "pushed"}
    # they share the 3 rad/s^2
    assert sum(map(abs, caught.value.violated.values())) == pytest.approx(3.0, abs=1e-6)


def test_a_run_of_contradicting_constraints_does_not_begin():
    system = contradicting()
    run = cd.simulate(system, system.state(u={"a": 1.0}), 1.0)
    assert not run.finished and len(run.t) == 1
    assert (
        "accelerations violate them" in run.status
        and "'steady' by" in run.status
        and "'pushed' by" in run.status
    )


@pytest.mark.parametrize("evaluator", ["native", "casadi"])
def test_only_the_states_without_an_answer_are_lost(evaluator, monkeypatch):
    """A constraint on time that a motion contradicts at some times only; the others are what they are
    alone."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", evaluator)
    system = arm(cd.Prescribed(position=lambda t: t**3), hold=C.ConstantCoordinate("a", 0.0))
    t = np.array([0.0, 0.5, 0.0, 1.0])
    q, u = np.zeros((4, 2)), np.zeros((4, 2))
    q[:, 1] = 0.3
    with pytest.raises(
        cd.errors.ConstraintError, match=r"violated: hold by 3 .*state \(1,\) of the batch; `error\.result`"
    ) as caught:
        system.forward_dynamics(q, u, t=t)
    assert caught.value.violated == {"hold": pytest.approx(3.0)}
    result = caught.value.result
    assert np.isnan(result[[1, 3]]).all()
    np.testing.assert_array_equal(result[[0, 2]], system.forward_dynamics(q[::2], u[::2], t=t[::2]))
    with pytest.raises(cd.errors.ConstraintError, match="violated: hold by"):
        system.forward_dynamics(q[1], u[1], t=0.5)


def test_a_motion_against_a_constraint_stops_the_run():
    system = arm(cd.Prescribed(position=lambda t: t**3), hold=C.ConstantCoordinate("a", 0.0))
    run = cd.simulate(system, system.state(), 1.0)
    assert not run.finished and "'hold' by" in run.status


def test_locks_against_a_constraint():
    system = arm(ball=C.Ball("ground", (0.6, -1.6, 0), "b", (0, -1, 0)))
    q, _ = system.project([0.5, -0.2], [0.0, 0.0])
    # nothing is free: it stands
    assert np.isfinite(system.forward_dynamics(q, [0.0, 0.0])).all()
    with pytest.raises(cd.errors.ConstraintError, match=r"violated: ball\[[01]\] by .*a lock or a motion"):
        system.forward_dynamics(q, [0.0, 0.0], locked={"a": 2.0})


@pytest.mark.parametrize(
    "make",
    [
        lambda: rig("Weld", again=EVERY["Weld"]),
        lambda: rig("Rod", "ConstantAngle", again=EVERY["Rod"]),
        lambda: rig("Weld", at=C.Ball("tip", RAIL.p, "float", (0.1, 0.0, 0.2))),
        bricard,
        lambda: four_bars(2),
    ],
    ids=["Weld twice", "Rod twice", "Ball in Weld", "Bricard", "four-bars"],
)
def test_redundant_constraints_are_met_beside_themselves(make):
    """States that are more and more off, by which the equations of some contradict each other: it does not
    show."""
    system, rng = make(), np.random.default_rng(5)
    q, u = state(system) if "float" in [b.name for b in system.bodies] else system.defaults()
    q, u = system.project(q, u + 0.3)
    for off in (0.0, 1e-13, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4):
        for _ in range(5):
            near = (
                system.compiled.normalized(q + off * rng.normal(size=q.size)),
                u + off * rng.normal(size=u.size),
            )
            assert np.isfinite(system.forward_dynamics(*near)).all()


def test_a_planar_loop_in_a_tilted_plane():
    """Rows across the plane are nothing but rounding, of G and of the bias: they are no equations, and not
    unmet."""
    X = cd.Transform(R=_turn(0.7, (0.3, 1.0, -0.4)), p=(0, 0, 0))
    systems = []
    for tilt in (cd.Transform(np.eye(3)), X):
        system = cd.System(gravity=tuple(tilt.R @ (0, -9.81, 0)))
        system.add_body("left", mobilizer=cd.Pin(), X_PF=tilt, **BODY)
        system.add_body("coupler", "left", cd.Pin(), X_PF=(0, -1, 0), **BODY)
        system.add_body("right", mobilizer=cd.Pin(), X_PF=tilt @ cd.Transform(p=(1, 0, 0)), **BODY)
        system.add_constraint("close", C.Ball("coupler", (0, -1, 0), "right", (0, -1, 0)))
        systems.append(system)
    q, u = systems[0].project([0.4, 1.2, 0.3], [1.0, 0.0, 0.0])
    flat, tilted = (system.forward_dynamics(q, u) for system in systems)
    # condition some 1e2
    np.testing.assert_allclose(tilted, flat, rtol=0, atol=1e-11 * np.abs(flat).max())
    assert [system.constraints.rank(q, u)[0] for system in systems] == [2, 2]


def _turn(angle, axis) -> np.ndarray:
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


# ---- Equations without a value -----------------------------------------------------------------------------

HALF_TURN, NEARLY = (0.0, 0.6, 0.0, 0.8), (np.cos(1.57), np.sin(1.57), 0.0, 0.0)
UNDEFINED = {
    "ConstantOrientation": (
        C.ConstantOrientation("ground", None, "b"),
        (*HALF_TURN, 0, 0, 0),
        (*NEARLY, 0, 0, 0),
        "half a turn",
    ),
    "Weld": (C.Weld("ground", None, "b", None), (*HALF_TURN, 0, 0, 0), (*NEARLY, 0, 0, 0), "half a turn"),
    "Weld, rounded": (
        C.Weld("ground", None, "b", None),
        (6e-17, 1, 0, 0, 0, 0, 0),
        (*NEARLY, 0, 0, 0),
        "half a turn",
    ),
    "Rod": (
        C.Rod("ground", (0, 0, 0), "b", (0, 0, 0), 0.5),
        (1, 0, 0, 0, 0, 0, 0),
        (1, 0, 0, 0, 1e-3, 0, 0),
        "coincide",
    ),
    "Rod, nearly": (
        C.Rod("ground", (0, 0, 0), "b", (0, 0, 0), 0.5),
        (1, 0, 0, 0, 0, 1e-13, 0),
        (1, 0, 0, 0, 0, 1e-3, 0),
        "coincide",
    ),
    "spheres": (
        C.SphereOnSphereContact("ground", (0, 0, 0), 0.3, "b", (0, 0, 0), 0.2, rolling=True),
        (1, 0, 0, 0, 0, 0, 0),
        (1, 0, 0, 0, 0, 1e-3, 0),
        "coincide",
    ),
    "lines": (
        C.LineOnLineContact("ground", (0, 0, 0), (1, 0, 0), "b", (0, 0.1, 0), (1, 0, 0), rolling=True),
        (1, 0, 0, 0, 0, 0, 0),
        (1, 0, 0.01, 0, 0, 0, 0),
        "parallel",
    ),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_equations_without_a_value_are_named(name):
    constraint, where, near, words = UNDEFINED[name]
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(0.1, 0.2, 0.25))
    system.add_constraint("it", constraint)
    q, u = np.array(where, dtype=float), np.full(6, 0.1)
    asks = {
        operator: attrgetter(operator)(system)
        for operator in (
            "forward_dynamics",
            "multipliers",
            "constraints.errors",
            "constraints.jacobian",
            "constraints.bias",
            "constraints.rank",
            "project",
        )
    }
    for operator, ask in asks.items():
        with pytest.raises(cd.errors.ConstraintError, match=rf"it.*{words}") as caught:
            ask(q, u)
        assert all(np.isnan(x) for x in caught.value.violated.values()), operator
    with pytest.raises(cd.errors.ConstraintError, match="it"):
        cd.assemble(system, system.state(q=q))
    with pytest.raises(cd.errors.DescriptionError, match=r"simulate: the state violates constraints.*it"):
        cd.simulate(system, system.state(q=q), 0.1)
    near = system.compiled.normalized(np.array(near, dtype=float))
    assert np.isfinite(system.forward_dynamics(near, u)).all()
    q, u = system.project(near, u)
    assert np.abs(np.concatenate(system.constraints.errors(q, u))).max() < 1e-9


def test_numbers_that_are_not_finite_are_not_blamed_on_constraints():
    system = arm(ball=C.Ball("ground", (0.6, -1.6, 0), "b", (0, -1, 0)))
    with pytest.raises(cd.errors.ShapeError, match="u: speed 'b' is nan"):
        system.forward_dynamics([0.5, -0.2], [0.0, np.nan])


def test_a_joint_that_lost_rank_comes_before_the_constraints():
    """Accelerations are nonsense then, and so is what they leave."""
    system = cd.System()
    system.add_body("a", mobilizer=cd.Gimbal(), **BODY)
    system.add_constraint("rod", C.Rod("ground", (1, 0, 0), "a", (0, -1, 0), 1.5))
    with pytest.raises(cd.errors.SingularError, match="'a_rz'"):
        system.forward_dynamics([[0.1, 0.2, 0.3], [0.1, np.pi / 2, 0.3]], np.full(3, 0.3))
