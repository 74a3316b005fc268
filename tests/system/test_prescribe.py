"""What motions prescribe: coordinates, speeds and accelerations that belong together, in States and arrays;
what is refused."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import condyle as cd
from tests.system.test_refusals import refused

# Differences of order 6 over steps of 1e-2 of functions whose seventh derivatives are of order 10.
DIFFERENCES = 1e-9
WEIGHTS = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
BODY = {"mass": 1.0, "com": (0.02, -0.1, 0.03), "inertia": (0.02, 0.015, 0.01)}


def one(mobilizer, motion, **more) -> cd.System:
    system = cd.System()
    system.add_body("b", "ground", mobilizer, X_BM=(0.1, 0, 0), motion=motion, **BODY, **more)
    return system


def curve(n):
    """n smooth functions of time, in one."""
    return lambda t: [0.5 * np.sin(t + 0.7 * k) + (1.0 if not k else 0.2 * t) for k in range(n)]


TALL = cd.Custom(
    ("a", "b"),
    lambda a, b: (np.eye(3), np.array([a, b, a * b])),
    N=lambda a, b: np.array([[1.0 + b * b, 0.3], [0.2 * a, 2.0]]),
    speeds=("s", "w"),
)


@pytest.mark.parametrize(
    "mobilizer",
    [
        cd.Pin(),
        cd.Slider(),
        cd.Screw(0.2),
        cd.Universal(),
        cd.Gimbal(),
        cd.Bushing(),
        cd.Planar(),
        cd.Translation(),
        cd.Cylinder(),
        cd.BendStretch(),
        cd.SphericalCoords(),
        cd.CantileverFreeBeam(0.6),
        cd.Ball(),
        cd.Ball(coordinates="euler"),
        cd.Free(),
        cd.Free(coordinates="euler"),
        cd.Ellipsoid((0.3, 0.2, 0.4)),
        TALL,
        cd.compose(cd.Slider(), cd.Ball()),
        cd.Free().reversed(),
        cd.FunctionBased(("k",), (None, None, lambda q: q), (lambda q: 0.1 * q * q, None, None)),
    ],
    ids=repr,
)
def test_position_level(mobilizer):
    """u gives the rate of q, and udot that of u, whatever N is; quaternions have unit length; the body moves
    so."""
    system = one(mobilizer, cd.Prescribed(position=curve(mobilizer.nq)))
    h, t = 1e-2, 0.8
    at = lambda time: system.prescribe(np.zeros(system.nq), np.zeros(system.nu), t=time)
    (q, u), around = at(t), {i: at(t + i * h) for i in WEIGHTS}
    rate = lambda which: sum(w * around[i][which] for i, w in WEIGHTS.items()) / h
    np.testing.assert_allclose(system.qdot(q, u, t=t), rate(0), rtol=0, atol=DIFFERENCES)
    np.testing.assert_allclose(system.forward_dynamics(q, u, t=t), rate(1), rtol=0, atol=DIFFERENCES)
    given = np.array(curve(mobilizer.nq)(t))
    quaternion = [k for k, unit in enumerate(mobilizer.units) if unit == "1"]
    if quaternion:
        given[quaternion] /= np.linalg.norm(given[quaternion])
    np.testing.assert_allclose(q, given, rtol=0, atol=1e-15)
    state = system.state(t=t)
    np.testing.assert_array_equal((*state.q, *state.u), (*q, *u))
    V = sum(w * system.body_pose(around[i][0], "b", t=t).p for i, w in WEIGHTS.items()) / h
    np.testing.assert_allclose(state.body_velocity("b")[3:], V, rtol=0, atol=DIFFERENCES)


def test_velocity_level_by_speed():
    """The angular velocity of a ball, two of three speeds; a function of q that is followed; a rate by the
    chain rule."""
    system = one(cd.Ball(), cd.Prescribed(velocity=(0.5, None, lambda t: np.cos(t))))
    state = system.state(t=0.3, u=[9.0, 2.0, 9.0])
    np.testing.assert_allclose(state.u, [0.5, 2.0, np.cos(0.3)], rtol=1e-15)
    np.testing.assert_allclose(state.udot[[0, 2]], [0, -np.sin(0.3)], rtol=1e-15)
    system = one(cd.Pin(), cd.Prescribed(velocity=lambda t, q: np.sin(t) * q**2))
    state = system.state(t=0.4, q=[1.5])
    u = np.sin(0.4) * 1.5**2
    np.testing.assert_allclose(state.u, u, rtol=1e-15)
    np.testing.assert_allclose(state.udot, np.cos(0.4) * 1.5**2 + 2 * np.sin(0.4) * 1.5 * u, rtol=1e-14)


def test_states_follow():
    """Time, switches and locks move what is prescribed; nothing that was computed before stays where it
    should not."""
    system = cd.System()
    system.add_body("a", "ground", cd.Pin(), motion=cd.Prescribed(position=lambda t: 0.3 * t**2), **BODY)
    system.add_body("b", "a", cd.Pin(), X_PF=(0.2, 0, 0), **BODY)
    state = system.state(t=1.0, q=[9.0, 0.4], u=[9.0, 1.0])
    np.testing.assert_allclose((*state.q, *state.u), (0.3, 0.4, 0.6, 1.0), rtol=1e-15)
    pose = state.body_pose("b")
    later = state.replace(t=2.0)
    np.testing.assert_allclose((*later.q, *later.u), (1.2, 0.4, 1.2, 1.0), rtol=1e-15)
    assert np.abs(later.body_pose("b").R - pose.R).max() > 0.1
    held = later.replace(locked={"a": "position"}, t=3.0)
    np.testing.assert_allclose((*held.q, *held.u), (1.2, 0.4, 0.0, 1.0), rtol=1e-15)
    assert held.udot[0] == 0.0
    free = later.replace(disabled=["a"], t=3.0)
    np.testing.assert_allclose((*free.q, *free.u), (1.2, 0.4, 1.2, 1.0), rtol=1e-15)
    moved = free.replace(q={"a": -0.5})
    energy = moved.energy()
    again = moved.replace(disabled=())
    assert again.q[0] == pytest.approx(2.7, rel=1e-15)
    np.testing.assert_allclose(again.energy(), system.energy(again.q, again.u, t=3.0), rtol=1e-14)
    assert abs(again.energy()[1] - energy[1]) > 0.1
    copied = pickle.loads(pickle.dumps(again.replace(locked={"b": 1.5})))
    np.testing.assert_array_equal(
        (*copied.q, *copied.udot), (*again.q, *again.replace(locked={"b": 1.5}).udot)
    )
    assert "motion of 'a': Prescribed(position=...)" in system.describe()
    assert system.motions == ("a",)
    other = system.copy()
    other.add_force("pull", cd.forces.MobilityForce("b", 3.0))
    assert other.state(t=1.0).q[0] == pytest.approx(0.3)


def test_parameters_and_inputs():
    system = one(
        cd.Pin(),
        cd.Prescribed(position=lambda t: cd.Parameter("size", 0.5) * np.sin(cd.Parameter("rate", 2.0) * t)),
    )
    state = system.state(t=0.4, parameters={"size": 0.8})
    np.testing.assert_allclose((*state.q, *state.u), (0.8 * np.sin(0.8), 1.6 * np.cos(0.8)), rtol=1e-15)
    many = system.prescribe(np.zeros(1), np.zeros(1), t=0.4, parameters={"rate": np.array([1.0, 2.0, 3.0])})
    np.testing.assert_allclose(
        many[1][:, 0], 0.5 * np.array([1, 2, 3]) * np.cos(0.4 * np.array([1, 2, 3])), rtol=1e-15
    )
    system = one(cd.Pin(), cd.Prescribed(acceleration=cd.Input("push", 1.5)))
    assert system.state(inputs=[2.5]).udot == 2.5
    system = one(cd.Pin(), cd.Prescribed(velocity=cd.Parameter("speed", 0.3)))
    assert system.state(parameters={"speed": 0.7}).u == 0.7


def test_what_cannot_be_prescribed():
    f = lambda t: t
    with refused(cd.errors.DescriptionError, "Prescribed", "position", "velocity"):
        cd.Prescribed(position=f, velocity=f)
    with refused(cd.errors.DescriptionError, "none"):
        cd.Prescribed()
    with refused(cd.errors.DescriptionError, "'b'", "Weld", "no coordinates"):
        one(cd.Weld(), cd.Prescribed(position=f))
    with refused(cd.errors.DescriptionError, "'b'", "cd.Prescribed", "lambda"):
        one(cd.Pin(), f)
    with refused(cd.errors.DescriptionError, "position", "or 1 of them", "('angle',)"):
        one(cd.Pin(), cd.Prescribed(position=(f, f)))
    with refused(cd.errors.DescriptionError, "array of shape (5,)", "(times, values)"):
        one(cd.Pin(), cd.Prescribed(position=np.zeros(5)))
    with refused(cd.errors.DescriptionError, "every entry is None"):
        one(cd.Planar(), cd.Prescribed(velocity=(None, None, None)))
    with refused(cd.errors.TraceError, "shape"):
        one(cd.Planar(), cd.Prescribed(position=lambda t: [t, t]))
    with refused(cd.errors.DescriptionError, "3 arguments", "t alone", "(t, angle)"):
        one(cd.Pin(), cd.Prescribed(velocity=lambda t, q, u: t))
    with refused(cd.errors.TraceError, "NaN"):
        one(cd.Pin(), cd.Prescribed(position=lambda t: np.sqrt(-1.0 - t)))
    with refused(cd.errors.TraceError, "np.sin"):
        one(cd.Pin(), cd.Prescribed(position=lambda t: math.sin(t)))
    with refused(cd.errors.DescriptionError, "derivative", "NaN"):
        one(cd.Pin(), cd.Prescribed(velocity=lambda t: np.sqrt(np.maximum(-t, 0.0))))
    with refused(cd.errors.DescriptionError, "('qw', 'qx', 'qy', 'qz')", "['qz']", "velocity="):
        one(cd.Ball(), cd.Prescribed(position=(f, f, f, None)))
    with refused(cd.errors.DescriptionError, "2 speeds", "LineOrientation", "velocity="):
        one(cd.LineOrientation(), cd.Prescribed(position=curve(4)))
    with refused(cd.errors.DescriptionError, "Input('push'", "how fast"):
        one(cd.Pin(), cd.Prescribed(position=cd.Input("push", 1.0)))
    system = one(cd.Pin(), cd.Prescribed(position=f))
    with refused(cd.errors.DescriptionError, "'b'", "exists already"):
        system.add_force("b", cd.forces.MobilityForce("b", 1.0))
    with refused(cd.errors.DescriptionError, "motion", "'pull'", "rename"):
        system = cd.System()
        system.add_body("a", "ground", cd.Pin(), **BODY)
        system.add_force("pull", cd.forces.MobilityForce("a", 1.0))
        system.add_body("pull", "a", cd.Pin(), motion=cd.Prescribed(position=f), **BODY)


def test_what_cannot_be_asked():
    system = one(cd.Pin(), cd.Prescribed(position=lambda t: np.sqrt(2.0 - t)))
    with refused(cd.errors.ShapeError, "'b'", "t = 3 s", "nan"):
        system.state(t=3.0)
    for bad in ({"b": "fixed"}, {"b": np.nan}, {"b": True}, {"b": None}):
        with refused(cd.errors.DescriptionError, "'b'", "'position'", "'velocity'", "'acceleration'"):
            system.state(locked=bad)
    with refused(cd.errors.UnknownNameError, "'hip'"):
        system.state(locked={"hip": "position"})
    with refused(cd.errors.ShapeError, "one acceleration"):
        system.state(locked={"b": np.array([1.0, 2.0])})
    with refused(cd.errors.UnknownNameError, "force or motion", "'c'", "'b'"):
        system.state(disabled=["c"])
    with refused(cd.errors.ShapeError, "prescribe", "(..., 1)", "(2,)"):
        system.prescribe(np.zeros(2), np.zeros(1))
