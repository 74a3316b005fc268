"""(times, values) where a function of time may be: the same numbers as a spline written out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import condyle as cd

T = np.array([0.0, 0.4, 1.0, 1.5])
Y = np.array([0.0, 2.0, -1.0, 0.5])
# within the record: beyond its ends series hold, splines go on
TIMES = np.array([0.1, 0.4, 0.9, 1.3])


def leg(**more: object) -> cd.System:
    system = cd.System()
    system.add_body(
        "leg",
        mobilizer=cd.Pin(),
        X_BM=(0, 0.4, 0),
        mass=3.0,
        inertia=(0.05, 0.01, 0.05),
        coordinates="hip",
        **more,
    )
    return system


def accelerations(law: object) -> np.ndarray:
    system = leg()
    system.add_force("f", law)
    return system.forward_dynamics(np.zeros((4, 1)), np.zeros((4, 1)), t=TIMES)


def test_forces():
    spline = cd.Spline(T, Y)
    want = accelerations(cd.forces.Custom(lambda s: {"hip": spline(s.t)}))
    for value in ((T, Y), [T.tolist(), Y.tolist()], cd.forces.TimeSeries(T, Y)):
        # 4 digits of rounding: the same cubic in other coefficients
        np.testing.assert_allclose(
            accelerations(cd.forces.MobilityForce("hip", value)), want, rtol=1e-12, atol=1e-12
        )
    pull = ("ground", (1.0, 0, 0), "leg", (0, -0.1, 0))
    F = cd.forces.TwoPointForce

    def at(force: object) -> np.ndarray:
        return accelerations(F(*pull, force))

    one, none = at(1.0), at(0.0)
    np.testing.assert_allclose(
        at((T, Y)), none + spline(TIMES)[:, None] * (one - none), rtol=1e-12, atol=1e-12
    )


def test_prescribed_motion():
    states = [
        leg(motion=cd.Prescribed(position=p)).state(t=0.7)
        for p in ((T, Y), [(T, Y)], (T, Y[:, None]), cd.Spline(T, Y))
    ]
    for s in states:
        np.testing.assert_array_equal([s.q, s.u], [states[-1].q, states[-1].u])
    two = cd.System()
    two.add_body(
        "p",
        mobilizer=cd.Universal(),
        mass=1,
        inertia=(1, 1, 1),
        motion=cd.Prescribed(position=(T, np.c_[Y, -Y])),
    )
    np.testing.assert_array_equal(two.state(t=0.7).q, [states[0].q[0], -states[0].q[0]])
    system = leg()
    system.add_constraint("c", cd.constraints.PrescribedMotion((T, Y), "hip"))
    np.testing.assert_allclose(system.project([0.0], [0.0], t=0.7)[0], states[0].q, rtol=0, atol=1e-10)


def test_a_cubic_that_goes_astray_is_said():
    """300 N for 10 ms in 10 s of nothing: the natural cubic between the far samples goes to -4e4 N (SciPy's
    own)."""
    t, y = np.array([0, 4.99, 5, 5.01, 10]), np.array([0, 0, 300.0, 0, 0])
    lowest = CubicSpline(t, y, bc_type="natural")(np.linspace(0, 10, 1001)).min()
    assert lowest < -4e4
    for make in (
        lambda: cd.forces.MobilityForce("hip", (t, y)),
        lambda: cd.constraints.PrescribedMotion((t, y), "hip"),
        lambda: leg(motion=cd.Prescribed(position=(t, y))),
    ):
        with pytest.warns(UserWarning, match="too uneven"):
            make()
    t = np.linspace(0, 10, 11)
    # evenly spaced: quiet, warnings are errors here
    cd.forces.MobilityForce("hip", (t, np.where(t == 5, 300.0, 0.0)))


def test_a_recorded_force_is_not_stepped_over():
    t = np.array([0, 4.97, 4.98, 4.99, 5, 5.01, 5.02, 5.03, 10])
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("leg", mobilizer=cd.Pin(), mass=3.0, inertia=(1, 1, 2.0), coordinates="hip")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.where(t == 5, 300.0, 0.0)
        system.add_force("push", cd.forces.MobilityForce("hip", (t, y)))
    impulse = CubicSpline(t, y, bc_type="natural").integrate(0, 10)
    traj = cd.simulate(system, system.state(), 10.0, accuracy=1e-6)
    np.testing.assert_allclose(2.0 * traj.u[-1, 0], impulse, rtol=1e-6)  # the accuracy asked for


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cd.forces.MobilityForce("hip", (T, np.c_[Y, Y])), "expected 1 number for each time"),
        (
            lambda: cd.forces.MobilityForce("hip", lambda t: t),
            r"a function of time is given as \(times, values\)",
        ),
        (lambda: cd.forces.ExternalWrench("leg", force=(T, Y)), "expected 3 numbers for each time"),
        (lambda: cd.forces.MobilityForce("hip", (T, Y[:3])), "expected values of shape"),
        (lambda: leg(motion=cd.Prescribed(position=(T, np.c_[Y, Y]))), r"expected values of shape \(4, 1\)"),
        (
            lambda: leg(motion=cd.Prescribed(position=Y)),
            r"measured values need their times: \(times, values\)",
        ),
    ],
)
def test_refusals(make, words):
    with pytest.raises(cd.errors.DescriptionError, match=words):
        make()
