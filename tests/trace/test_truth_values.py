"""A comparison is no law: functions of users that return true or false are refused, wherever a function may
be."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd

C, F = cd.constraints, cd.forces
SOLID = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}


def moved(f):
    """A body whose motion is prescribed by f(t)."""
    system = cd.System()
    return system.add_body("a", mobilizer=cd.Pin(), motion=cd.Prescribed(position=f), **SOLID)


def looked_at(f):
    """A run with an event whose witness is called with States."""
    system = cd.System()
    system.add_body("a", mobilizer=cd.Pin(), **SOLID)
    return cd.simulate(system, system.state(), 0.01, events=[cd.Event(f, traced=False)])


REFUSED = {
    "Holonomic": lambda: C.Holonomic(lambda s: s.q("a") == s.q("b")),
    "the second of two": lambda: C.Holonomic(lambda s: [s.q("a") - 1.0, s.q("b") > 2]),
    "Nonholonomic": lambda: C.Nonholonomic(lambda s: s.u("a") == 0),
    "AccelerationOnly": lambda: C.AccelerationOnly(lambda s: s.udot("a") == 0),
    "CoordinateCoupler": lambda: C.CoordinateCoupler(lambda a, b: a == b, ("a", "b")),
    "SpeedCoupler": lambda: C.SpeedCoupler(lambda a, b: a != b, ("a", "b")),
    "PrescribedMotion": lambda: C.PrescribedMotion(lambda t: t > 1, "a"),
    "force on a speed": lambda: F.Custom(lambda s: {"a": s.q("a") > 0}),
    "Wrench": lambda: F.Custom(lambda s: {"a": cd.Wrench(force=(0, s.q("a") > 0, 0))}),
    "both sides of where": lambda: F.Custom(lambda s: {"a": np.where(s.q("a") > 0, s.q("a") > 1, False)}),
    "not": lambda: F.Custom(lambda s: {"a": ~(s.q("a") > 0)}),
    "isnan": lambda: F.Custom(lambda s: {"a": np.isnan(s.q("a"))}),
    "Potential": lambda: F.Potential(lambda s: s.q("a") > 0),
    "witness": lambda: cd.Event(lambda s: (s.q("a") > 0) & (s.t > 1)),
    "constant witness": lambda: cd.Event(lambda s: True),
    "witness of States": lambda: looked_at(lambda state: state.q[0] > 0),
    "Prescribed": lambda: moved(lambda t: t > 1),
    "FunctionBased": lambda: cd.FunctionBased(coordinates=("k",), angles=(lambda q: q > 0, None, None)),
    "a constant": lambda: cd.FunctionBased(coordinates=("k",), angles=(True, None, None)),
    "Custom": lambda: cd.Custom(coordinates=("k",), transform=lambda q: (np.eye(3), (q > 0, 0, 0))),
    "Transform": lambda: cd.Custom(
        coordinates=("k",), transform=lambda q: cd.Transform(np.eye(3), (q > 0, 0, 0))
    ),
    "of Parameters": lambda: F.TwoPointSpring(
        "a", (0, 0, 0), "b", (1, 1, 1), cd.Parameter("m", 1.0) > 0, 1.0
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_truth_value_is_refused_with_the_remedy(what):
    with pytest.raises(
        (cd.errors.TraceError, cd.errors.DescriptionError), match=r"(?i)return the difference instead of"
    ):
        REFUSED[what]()


def test_the_error_names_the_users_function():
    with pytest.raises(
        cd.errors.TraceError, match=r"CoordinateCoupler\(lambda\): function lambda \(.*test_truth_values.py"
    ):
        REFUSED["CoordinateCoupler"]()


def test_numbers_made_of_conditions_are_taken():
    """Arithmetic makes a number of a condition, and where chooses between numbers."""

    def push(s):
        on = s.q("a") > 0
        return {"a": 5.0 * on + np.where(on & (s.t > 1), 1.0, 0.0) + cd.where(s.q("a") < -1, s.q("a"), 0.0)}

    system = cd.System(gravity=(0, 0, 0))
    system.add_body("a", mobilizer=cd.Pin(), **SOLID)
    system.add_force("push", F.Custom(push))
    pushed = [system.applied_forces([q], [0.0], t=2.0)[0] for q in (-2.0, -0.5, 0.5)]
    # sums of whole numbers: exact but for order
    np.testing.assert_allclose(pushed, [-2.0, 0.0, 6.0], rtol=0, atol=1e-15)
