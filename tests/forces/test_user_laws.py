"""Custom and Potential: the same as built-in laws, every accessor, and errors that say what to write
instead."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import condyle as cd
from condyle import forces
from condyle.forces import Custom, Potential, Wrench
from condyle.spatial import log_so3
from tests.forces.rig import EPS, P_A, P_B, arm, power, state

A, B = ("base", P_A), ("lower", P_B)


def length(s):
    r = s.station_position(*B) - s.station_position(*A)
    return np.sqrt(r @ r)


def damper(s):
    r = s.station_position(*B) - s.station_position(*A)
    e = r / np.sqrt(r @ r)
    f = -9.0 * (e @ (s.station_velocity(*B) - s.station_velocity(*A))) * e
    return {"lower": Wrench(force=f, at=P_B), "base": Wrench(force=-f, at=P_A)}


def by_poses(s):
    """The spring's energy by poses, not stations: torques come from the derivative of R."""
    (R_a, p_a), (R_b, p_b) = s.body_pose("base"), s.body_pose("lower")
    r = p_b + R_b @ np.array(P_B) - p_a - R_a @ np.array(P_A)
    return 100.0 * (np.sqrt(r @ r) - 0.3) ** 2


def drag(s):
    return {"lower": Wrench(force=-2.0 * s.station_velocity(*B), at=P_B)}


SPRING = forces.TwoPointSpring(*A, *B, 200.0, 0.3)
PAIRS = {
    "spring": (Potential(lambda s: 100.0 * (length(s) - 0.3) ** 2), SPRING),
    "spring by poses": (Potential(by_poses), SPRING),
    "spring by points": (
        Potential(
            lambda s: (
                100.0
                * (np.sqrt(np.sum((s.body_pose("lower") @ P_B - s.body_pose("base") @ P_A) ** 2)) - 0.3) ** 2
            )
        ),
        SPRING,
    ),
    "damper": (Custom(damper), forces.TwoPointDamper(*A, *B, 9.0)),
    "torsion": (
        Potential(lambda s: 6.0 * (s.q("elbow") - 0.2) ** 2),
        forces.MobilitySpring("elbow", 12.0, 0.2),
    ),
    "translation": (Potential(lambda s: 5.0 * s.q("base_tx") ** 2), forces.MobilitySpring("base_tx", 10.0)),
    "friction": (Custom(lambda s: {"base_wx": -0.8 * s.u("base_wx")}), forces.MobilityDamper("base_wx", 0.8)),
    "slide": (Custom(lambda s: {"base_tx": -0.8 * s.u("base_tx")}), forces.MobilityDamper("base_tx", 0.8)),
    "thrust": (
        Custom(lambda s: {"upper": [Wrench((1, 0, 3), at=P_A), Wrench(force=(0, -2, 0), at=P_A)]}),
        forces.ConstantForce("upper", P_A, (1, -2, 3)),
    ),
    "twist": (
        Custom(lambda s: {"upper": Wrench(torque=(1, -2, 3))}),
        forces.ConstantTorque("upper", (1, -2, 3)),
    ),
    "follower": (
        Custom(lambda s: {"lower": Wrench(s.rotation("lower") @ np.array([1.0, 2.0, 3.0]), at=P_B)}),
        forces.ExternalWrench("lower", P_B, (1, 2, 3), frame="body"),
    ),
    "velocity": (
        Custom(
            lambda s: {
                "lower": Wrench(-2.0 * s.body_velocity("lower")[3:], -0.5 * s.body_velocity("lower")[:3])
            }
        ),
        Custom(
            lambda s: {
                "lower": Wrench(-2.0 * s.station_velocity("lower"), -0.5 * s.angular_velocity("lower"))
            }
        ),
    ),
    "moving point": (
        Custom(lambda s: {"lower": Wrench((0, s.q("reach"), 0), at=(s.q("reach"), 0, 0))}),
        Custom(
            lambda s: {
                "lower": Wrench(
                    (0, s.q("reach"), 0),
                    np.cross(
                        s.rotation("lower") @ np.array([s.q("reach"), 0, 0]), np.array([0, s.q("reach"), 0])
                    ),
                )
            }
        ),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_written_law_equals_built_in(name):
    mine, built_in = (arm(law=law) for law in PAIRS[name])
    q, u = state(mine, 1)
    # Forces of 1e2 N over inertias of 1e-2: the two ways differ by rounding.
    np.testing.assert_allclose(
        mine.forward_dynamics(q, u), built_in.forward_dynamics(q, u), rtol=0, atol=1e6 * EPS
    )
    assert mine.energy(q, u)[1] == pytest.approx(built_in.energy(q, u)[1], rel=1e-13)


def test_rotation_vector_energy_is_conserved():
    """V = k |log R|^2 / 2 of a relative orientation: dV/dt = -power though R is far from one."""
    law = Potential(lambda s: 2.0 * np.sum(log_so3(s.rotation("base").T @ s.rotation("upper")) ** 2))
    system = arm(gravity=(0, 0, 0), law=law)
    q, u = state(system, 2)
    h = 1e-5
    step = h * system.qdot(q, u)
    change = (system.energy(q + step, u)[1] - system.energy(q - step, u)[1]) / (2 * h)
    # Central differences: h^2 times a third derivative of about 1e2.
    assert change == pytest.approx(-power(system, "law", q, u), abs=1e-7)


@pytest.mark.parametrize("knots", [5, 40])
def test_energy_of_a_spline(knots):
    """-dV/dq of a spline, selected or looked up, against the spline's own slope."""
    x = np.linspace(-1, 1, knots)
    spline, slope = cd.Spline(x, np.cos(3 * x)), CubicSpline(x, np.cos(3 * x), bc_type="natural").derivative()
    system = arm(gravity=(0, 0, 0), law=Potential(lambda s: 2.0 * spline(s.q("elbow"))))
    q, u = state(system, 7)
    k = system.coordinates.index("elbow")
    f = system.applied_forces(q, u)[system.speeds.index("elbow")]
    # One cubic either way.
    assert f == pytest.approx(-2.0 * slope(q[k]), rel=1e-12)


def test_quaternion_coordinates_in_an_energy():
    """-N' dV/dq: the power of the force is -dV/dq . qdot."""
    system = arm(law=Potential(lambda s: 3.0 * s.q("base_qx") ** 2 + s.q("base_qw")))
    q, u = state(system, 3)
    expected = -(6.0 * q[1] * system.qdot(q, u)[1] + system.qdot(q, u)[0])
    # A few products.
    assert power(system, "law", q, u) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_time_input_and_parameter():
    gain = cd.Parameter("gain", 2.0)
    law = Custom(
        lambda s: {"elbow": gain * np.sin(3.0 * s.t) + s.input("drive", 0.5) * s.parameter("arm", 0.1)}
    )
    system = arm(gravity=(0, 0, 0), law=law)
    assert set(system.parameters) == {"gain", "arm"}
    assert system.inputs == ("drive",)
    q, u = state(system, 4)
    f = system.applied_forces(q, u, t=0.4, inputs={"drive": 7.0}, parameters={"gain": 5.0, "arm": 0.2})
    assert f[system.speeds.index("elbow")] == pytest.approx(5.0 * np.sin(1.2) + 1.4, rel=1e-14)


def test_inputs_of_another_law():
    """A name without a default is an input that the system has already."""
    law = Custom(lambda s: {"reach": -s.input("pressure")})
    system = arm(piston=forces.MobilityForce("elbow", cd.Input("pressure", 3.0)), law=law)
    q, u = state(system, 5)
    assert system.applied_forces(q, u)[system.speeds.index("reach")] == -3.0
    with pytest.raises(
        cd.errors.UnknownNameError, match=r"input 'pressure'.*needs a default: s.input\('pressure', 1.0\)"
    ):
        arm(law=law)


def test_the_function_stays_behind():
    law = pickle.loads(pickle.dumps(Custom(drag)))
    assert law.function is None
    assert law == Custom(drag)
    assert repr(law) == "Custom(drag)"


def test_branches_by_where():
    law = Custom(lambda s: {"elbow": np.where(s.q("elbow") > 0, -5.0 * s.q("elbow"), 0.0)})
    system = arm(gravity=(0, 0, 0), law=law)
    q, u = state(system, 6)
    for value, force in ((0.3, -1.5), (-0.3, 0.0)):
        q[system.coordinates.index("elbow")] = value
        assert system.applied_forces(q, u)[system.speeds.index("elbow")] == pytest.approx(force)


kept = []


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda s: {"elbow": math.sin(s.q("elbow"))}, "np.sin instead of math.sin"),
        (lambda s: {"elbow": 1.0 if s.q("elbow") > 0 else 0.0}, "np.where"),
        (lambda s: {"elbow": float(s.q("elbow"))}, "Leave out float"),
        (lambda s: {"elbow": max(s.q("elbow"), 0.0)}, r"np.maximum\(a, b\)"),
        (lambda s: {"elbow": np.random.default_rng().random()}, "another value each time"),
        (lambda s: None, "returned None.*return statement missing"),
        (lambda s: s.q("elbow"), "expected a dict"),
        (lambda s: {"lower": np.zeros(3)}, r"cd.Wrench\(force"),
        (lambda s: {"lower": Wrench(force=1.0)}, r"force of a cd.Wrench must have shape \(3,\), got 1.0"),
        (lambda s: {"lower": Wrench(at=(0, 1))}, r"at of a cd.Wrench must have shape \(3,\)"),
        (lambda s: {"elbow": "much"}, "one number for a speed"),
        (lambda s: {"elbow": s.station_position("lower", (s.q("reach"), 0, 0))[0]}, r"p \+ R @ point"),
        (lambda s: {"elbow" if isinstance(s.t, float) else "reach": s.t}, "must not depend on values"),
        (
            lambda s: {"elbow": s.t if isinstance(s.t, float) else s.q("elbow")},
            "on one call and not on another",
        ),
        (lambda s: {"elbow": kept.append(s) or s.t * len(kept)}, "keep values between calls"),
        (lambda: 0, "one argument, the state s"),
        (lambda s, t: 0, "one argument, the state s"),
        (lambda s: {"elbow": s}, "one number for a speed"),
        (3.0, "expected a function of one argument"),
        (None, "expected a function of one argument"),
    ],
)
def test_what_cannot_be_traced(function, message):
    kept.clear()
    with pytest.raises(cd.errors.TraceError, match=message) as caught:
        Custom(function)
    assert "Custom(" in str(caught.value) or "s.station_position" in str(caught.value)


def test_errors_of_the_function_itself_pass_with_a_note():
    with pytest.raises(ZeroDivisionError) as caught:
        Custom(lambda s: {"elbow": 1 / 0})
    assert "for Custom(lambda)" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (lambda s: {"elbo": s.t}, "'elbo'; did you mean 'elbow'"),
        (lambda s: {"lowr": Wrench(torque=(1, 0, 0))}, "'lowr'; did you mean 'lower'"),
        (lambda s: {"elbow": s.q("elbw")}, "coordinate 'elbw'; did you mean 'elbow'"),
        (lambda s: {"elbow": s.u("elbw")}, "'elbw'; did you mean 'elbow'"),
        (lambda s: {"elbow": s.station_position("uper")[0]}, "body 'uper'; did you mean 'upper'"),
        (lambda s: {"elbow": s.parameter("nothing")}, "parameter 'nothing'"),
    ],
)
def test_unknown_names_are_found_when_added(law, message):
    law = Custom(law)
    with pytest.raises(cd.errors.UnknownNameError, match=message):
        arm(law=law)


def test_unknown_accessors():
    with pytest.raises(
        cd.errors.UnknownNameError, match="'station_positon'; did you mean 'station_position'"
    ):
        Custom(lambda s: {"elbow": s.station_positon("lower")})


@pytest.mark.parametrize(
    "function",
    [
        lambda s: s.u("elbow") ** 2,
        lambda s: s.station_velocity("lower")[0],
        lambda s: s.body_velocity("lower")[1],
    ],
)
def test_energies_of_velocities_are_refused(function):
    with pytest.raises(cd.errors.DescriptionError, match=r"positions only.*cd.forces.Custom"):
        Potential(function)


def test_an_energy_is_one_number():
    with pytest.raises(cd.errors.TraceError, match="expected one number, the energy"):
        Potential(lambda s: s.station_position("lower"))
    with pytest.raises(cd.errors.TraceError, match="return statement missing"):
        Potential(lambda s: None)
