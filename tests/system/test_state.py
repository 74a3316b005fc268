"""State: immutable, knows its stage, and shares every result that a change leaves valid."""

from __future__ import annotations

import ast
import inspect
import pickle
from operator import attrgetter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import condyle as cd
from condyle.integrate.trajectory import Trajectory
from condyle.system import stubs
from tests.oracles import random_plan

EPS = np.finfo(float).eps


@pytest.fixture(autouse=True)
def _casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


@pytest.fixture
def system():
    """Two pins and a slider that drifts with time."""
    system = cd.System()
    drift = cd.FunctionBased("x", translations=(lambda t, x: x + 0.1 * t**2, None, None), time=True)
    system.add_body("cart", mobilizer=drift, mass=2, inertia=(1, 1, 1))
    system.add_body("arm", "cart", cd.Pin(), mass=1, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.add_body(
        "hand", "arm", cd.Pin("y"), X_PF=(0.6, 0, 0), mass=0.5, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01)
    )
    return system


@pytest.fixture
def state(system):
    return system.state(t=0.5, q=[0.1, 0.2, 0.3], u=[0.4, 0.5, 0.6])


# ---- Making ------------------------------------------------------------------------------------------------


def test_default_state(system):
    state = system.state()
    assert state.t == 0
    assert_array_equal(state.q, np.zeros(3))
    assert_array_equal(state.u, np.zeros(3))
    assert (state.locked, state.disabled) == ({}, frozenset())
    assert state.stage is cd.Stage.INSTANCE
    assert state.system is system


def test_arrays_or_names(system):
    a = system.state(q=[0, 0.7, 0], u=np.array([0, 0, 1]))
    b = system.state(q={"arm": 0.7}, u={"hand": 1})
    assert_array_equal(a.q, b.q)
    assert_array_equal(a.u, b.u)
    assert_array_equal(b.replace(q={"x": 2}).q, [2, 0.7, 0])  # a mapping changes some, the rest stay


def test_locks_and_forces_by_name(system):
    assert system.state(locked="arm", disabled="gravity").locked == {"arm": "velocity"}
    state = system.state(locked=["arm", "x"], disabled=("gravity",))
    assert (state.locked, state.disabled) == ({"arm": "velocity", "x": "velocity"}, {"gravity"})
    assert_array_equal(state.udot[:2], 0)
    assert_array_equal(system.state(locked=system.speeds).udot, 0)


def test_repr_has_names_and_values(state):
    now = "State(t=0.5; x=0.1, arm=0.2, hand=0.3; speeds x=0.4, arm=0.5, hand=0.6"
    assert repr(state) == f"{now})"
    locked = state.replace(locked=["arm"], disabled=["gravity"])
    assert repr(locked) == f"{now}; locked arm: velocity; disabled gravity)"


# ---- Never changes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t", "q", "u", "z", "locked", "system", "anything"])
def test_attributes_cannot_be_set(state, name):
    with pytest.raises(AttributeError, match=rf"never changes.*replace\({name}="):
        setattr(state, name, 1)


def test_arrays_are_read_only(state):
    J = state.station_jacobian("hand", (0, 0, 0))
    R, p = state.body_pose("hand")
    arrays = [
        state.q,
        state.u,
        state.z,
        state.qdot,
        state.udot,
        state.mass_matrix(),
        J,
        R,
        p,
        state.body_velocity("hand"),
        state.reactions("hand"),
        state.inverse_dynamics(np.zeros(3)),
        state.solve_mass_matrix(np.ones(3)),
        state.forward_dynamics(np.ones(3)),
    ]
    assert [a.flags.writeable for a in arrays] == [False] * len(arrays)
    with pytest.raises(ValueError, match="read-only"):
        state.q[0] = 1


def test_a_state_keeps_its_own_numbers(system):
    q = np.array([0.1, 0.2, 0.3])
    state = system.state(q=q)
    q[:] = 7
    assert_array_equal(state.q, [0.1, 0.2, 0.3])
    assert q.flags.writeable


# ---- Is what the operators say -----------------------------------------------------------------------------


def options(state):
    return {"t": state.t, "locked": state.locked, "disabled": state.disabled}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["plain", "locked", "disabled"])
def test_state_equals_operators(seed, kind):
    plan = random_plan(seed + 20, 6)
    system, (q, u, tau) = plan.system(), plan.states()
    changes = {"plain": {}, "locked": {"locked": system.speeds[::2]}, "disabled": {"disabled": ["gravity"]}}[
        kind
    ]
    state = system.state(t=0.3, q=q, u=u, **changes)
    o = options(state)
    assert_array_equal(state.qdot, system.qdot(q, u))
    assert_array_equal(state.udot, system.forward_dynamics(q, u, **o))
    assert_array_equal(state.forward_dynamics(tau), system.forward_dynamics(q, u, tau, **o))
    assert_array_equal(state.inverse_dynamics(tau), system.inverse_dynamics(q, u, tau, **o))
    assert_array_equal(state.mass_matrix(), system.mass_matrix(q, **o))
    assert_array_equal(state.solve_mass_matrix(tau), system.solve_mass_matrix(q, tau, **o))
    assert_array_equal(state.energy(), system.energy(q, u, **o))
    for body in ("b0", "b5", "ground"):
        assert state.body_pose(body) == system.body_pose(q, body, **o)
        assert_array_equal(state.body_velocity(body), system.body_velocity(q, u, body, **o))
        assert_array_equal(state.reactions(body), system.reactions(q, u, state.udot, body, **o))
        assert_array_equal(
            state.station_jacobian(body, (1, 2, 3)), system.station_jacobian(q, body, (1, 2, 3), **o)
        )


def test_arguments_by_keyword(state):
    assert_array_equal(state.forward_dynamics(tau=np.ones(3)), state.forward_dynamics(np.ones(3)))
    assert_array_equal(
        state.station_jacobian(body="arm", station=(0, 0, 0)), state.station_jacobian("arm", (0, 0, 0))
    )


def test_each_argument_has_its_own_result(state):
    """Results are remembered by the numbers they were asked for, even where these are the state's own
    arrays."""
    system, o = state.system, options(state)
    for a in (state.q, state.u, np.ones(3), state.u, state.q):
        assert_array_equal(
            state.inverse_dynamics(a), system.inverse_dynamics(state.q, state.u, np.array(a), **o)
        )
        assert_array_equal(state.solve_mass_matrix(a), system.solve_mass_matrix(state.q, np.array(a), **o))
        assert_array_equal(
            state.forward_dynamics(a), system.forward_dynamics(state.q, state.u, np.array(a), **o)
        )


# ---- Stages and sharing ------------------------------------------------------------------------------------


def test_stages_are_in_order():
    assert [stage.name for stage in cd.Stage] == [
        "TOPOLOGY",
        "MODEL",
        "INSTANCE",
        "TIME",
        "POSITION",
        "VELOCITY",
        "FORCE",
        "ACCELERATION",
    ]
    assert cd.Stage.POSITION < cd.Stage.VELOCITY


def test_stage_follows_what_is_known(state):
    state.body_pose("arm")
    assert state.stage is cd.Stage.POSITION
    state.body_velocity("arm")
    assert state.stage is cd.Stage.VELOCITY
    state.energy()
    assert state.stage is cd.Stage.FORCE
    assert state.udot is not None
    assert state.stage is cd.Stage.ACCELERATION
    assert state.replace(u=[0, 0, 0]).stage is cd.Stage.POSITION
    assert state.replace(q=[0, 0, 0]).stage is cd.Stage.INSTANCE


def ask(state):
    """One kernel of every stage."""
    state.body_pose("arm"), state.mass_matrix(), state.body_velocity("arm"), state.energy()
    return state.udot


def test_editors_see_every_operator():
    """answers.pyi says what the operators' records say, and what State and States have."""
    assert stubs.PATH.read_text(encoding="utf-8") == stubs.text(), (
        "write it anew: python -m condyle.system.stubs"
    )
    classes = {c.name: c.body for c in ast.parse(stubs.text()).body if isinstance(c, ast.ClassDef)}
    for name, thing in (("OfState", cd.State), ("OfStates", Trajectory)):
        count = 0
        for part in classes[name]:
            if isinstance(part, ast.AnnAssign):
                group, listed = getattr(thing, part.target.id), classes[part.annotation.id]
            else:
                group, listed = thing, [part]
            for method in listed:
                own = list(inspect.signature(getattr(group, method.name)).parameters)
                assert own == [a.arg for a in (*method.args.args, *method.args.kwonlyargs)]
                count += 1
        assert count > 60


def test_nothing_is_computed_twice(system, state):
    ask(state)
    once = dict(system.compiled.evaluations)
    assert once == {"body_pose": 1, "mass_matrix": 1, "body_velocity": 1, "energy": 1, "forward_dynamics": 1}
    for body in ("arm", "hand", "cart"):  # all bodies come from one kernel
        ask(state)
        state.body_pose(body), state.body_velocity(body)
    assert dict(system.compiled.evaluations) == once


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ({}, set()),
        ({"locked": ["arm"]}, {"forward_dynamics"}),
        ({"disabled": ["gravity"]}, {"forward_dynamics", "energy"}),
        ({"u": {"arm": 1.0}}, {"forward_dynamics", "energy", "body_velocity"}),
        ({"q": {"arm": 1.0}}, {"forward_dynamics", "energy", "body_velocity", "body_pose", "mass_matrix"}),
        ({"t": 1.0}, {"forward_dynamics", "energy", "body_velocity", "body_pose", "mass_matrix"}),
    ],
    ids=["nothing", "locked", "disabled", "u", "q", "t"],
)
def test_a_change_recomputes_only_its_stage_and_later(system, state, change, again):
    """Kernel evaluations, counted: design.md's promise that a trial state costs nothing but what it
    changes."""
    ask(state)
    system.compiled.evaluations.clear()
    changed = state.replace(**change)
    ask(changed)
    assert set(system.compiled.evaluations) == again
    assert all(n == 1 for n in system.compiled.evaluations.values())
    ask(state)  # the old one keeps all its results
    assert set(system.compiled.evaluations) == again


@pytest.mark.parametrize(
    "change",
    [{"t": 0.9}, {"q": {"arm": 1.0}}, {"u": {"hand": 2.0}}, {"disabled": ["gravity"]}, {"locked": ["x"]}],
)
def test_shared_results_are_right(system, state, change):
    """After any change every answer is that of a state made afresh: nothing stale can be seen."""

    def everything(s):
        ones = np.ones(3)
        methods = [
            "mass_matrix",
            "energy",
            "gravity_forces",
            "coriolis_forces",
            "applied_forces",
            "momentum",
            "mass_center",
            "mass_center_velocity",
            "mass_center_acceleration",
            "kinematics.system_jacobian",
            "motion_forces",
            "power",
        ]
        values = [getattr(s, m)() for m in methods if hasattr(cd.State, m)]
        return [
            np.concatenate([np.ravel(v) for v in x]) if isinstance(x, tuple) else np.array(x)
            for x in [
                s.qdot,
                ask(s),
                s.inverse_dynamics(ones),
                s.solve_mass_matrix(ones),
                s.reactions("arm"),
                s.body_pose("hand").p,
                s.body_velocity("hand"),
                s.station_jacobian("hand", ones),
                s.forward_dynamics(ones),
                *values,
            ]
        ]

    everything(state)
    changed = state.replace(**change)
    fresh = system.state(changed.t, changed.q, changed.u, locked=changed.locked, disabled=changed.disabled)
    for a, b in zip(everything(changed), everything(fresh), strict=True):
        assert_array_equal(a, b)


def test_a_replaced_state_shares_arrays(state):
    changed = state.replace(u=[1, 1, 1])
    assert changed.q is state.q
    assert changed.replace(t=2).u is changed.u
    before = state.mass_matrix()
    assert np.shares_memory(changed.replace(q=state.q).q, state.q) is False  # a given array is copied ...
    # ... a result that stays valid is not
    assert np.shares_memory(state.replace(u=[2, 2, 2]).mass_matrix(), before)


def test_time_moves_a_driven_joint(system):
    early, late = (system.state(t=t).body_pose("cart").p[0] for t in (0.0, 2.0))
    assert (early, late) == (0, pytest.approx(0.4, abs=EPS))


def test_only_finite_values(system):
    for name in ("q", "u"):
        with pytest.raises(cd.errors.ShapeError, match=f"{name}: .*'arm' is nan"):
            system.state(**{name: {"arm": np.nan}})
        with pytest.raises(cd.errors.ShapeError, match=f"{name}: .*'hand' is inf"):
            system.state(**{name: [0, 0, np.inf]})


# ---- Pickles -----------------------------------------------------------------------------------------------


def test_states_pickle(state):
    state = state.replace(locked=["arm"], disabled=["gravity"])
    again = pickle.loads(pickle.dumps(state))
    assert repr(again) == repr(state)
    assert_allclose(again.udot, state.udot, rtol=0, atol=0)
    assert (again.t, again.locked, again.disabled) == (state.t, state.locked, state.disabled)
    assert not again.q.flags.writeable


def test_states_of_one_system_pickle_together(state):
    a, b = pickle.loads(pickle.dumps((state, state.replace(t=1))))
    assert a.system is b.system


def test_a_plain_vector_changes_a_state_as_its_list_does():
    """The short way of replace: the same values, copied and read-only, and the same refusals."""
    system = cd.System()
    system.add_body(
        "ball", mobilizer=cd.Ball(), mass=cd.Parameter("mass", 1.0), com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.3)
    )
    system.add_force("push", cd.forces.MobilityForce("ball_wx", cd.Input("push", 0.1)))
    state = system.state(u=[0.1, 0.2, 0.3], disabled=["gravity"])
    changes = {
        "u": np.array([1.0, 2.0, 3.0]),
        "q": np.array([0.6, 0.8, 0.0, 0.0]),
        "t": 2.0,
        "inputs": np.array([3.0]),
        "parameters": np.array([2.0]),
    }
    for name, value in changes.items():
        quick, slow = (
            state.replace(**{name: value}),
            state.replace(**{name: np.asarray(value).tolist(), "z": []}),
        )
        assert quick.disabled == {"gravity"} and vars(quick).keys() == vars(slow).keys()
        np.testing.assert_array_equal(quick.tail, slow.tail)
        np.testing.assert_array_equal(quick.udot, slow.udot)
        np.testing.assert_array_equal(attrgetter(name)(quick), value)
        if name != "t":
            assert (
                attrgetter(name)(quick) is not value
                and not attrgetter(name)(quick).flags.writeable
                and value.flags.writeable
            )
    for name, value, words in (
        ("u", [1.0, np.nan, 0.0], "'ball_wy' is nan"),
        ("q", [0.0] * 4, "quaternion of body 'ball'"),
        ("inputs", [np.inf], "'push' is inf"),
        ("parameters", [-1.0], "mass"),
        ("u", [1.0, 2.0], r"\(3,\)"),
    ):
        with pytest.raises(cd.errors.CondyleError, match=words):
            state.replace(**{name: np.array(value)})
    with pytest.raises(cd.errors.CondyleError, match="finite"):
        state.replace(t=np.nan)


def test_an_argument_that_is_missing():
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(
        cd.errors.ArgumentError,
        match=r"State\.station_position: missing a required argument: 'station'. It is ",
    ):
        system.state().station_position("arm")
