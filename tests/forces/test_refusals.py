"""Numbers and names that cannot be: found when a law is made, or when it is added, with what is allowed."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle import forces
from tests.forces.rig import LINE, P_A, P_B, arm

P = cd.Parameter


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: forces.TwoPointSpring("a", P_A, "b", P_B, -1.0, 0.1),
            r"stiffness: expected one finite.*at "
            r"least 0, got -1.0",
        ),
        (lambda: forces.TwoPointSpring("a", P_A, "b", P_B, 1.0, -0.1), "rest_length.*at least 0"),
        (lambda: forces.TwoPointSpring("a", P_A, "b", P_B, np.nan, 0.1), "stiffness.*got nan"),
        (
            lambda: forces.TwoPointSpring("a", P_A, "b", P_B, P("k", -1.0), 0.1),
            r"stiffness.*got Parameter\('k', "
            r"-1.0\)",
        ),
        (
            lambda: forces.TwoPointSpring("a", (0, 0), "b", P_B, 1.0, 0.1),
            r"p_a: expected three finite "
            r"numbers.*\[m\], got \(0, 0\)",
        ),
        (lambda: forces.TwoPointSpring("a", (0, 0, "x"), "b", P_B, 1.0, 0.1), "p_a: expected three"),
        (lambda: forces.TwoPointSpring("a", P_A, 3, P_B, 1.0, 0.1), "b: expected a body or its name, got 3"),
        (lambda: forces.TwoPointSpring("a", P_A, "b", P_B, "stiff", 0.1), "stiffness.*got 'stiff'"),
        (
            lambda: forces.TwoPointSpring("a", P_A, "b", P_B, (1.0, 2.0), 0.1),
            "stiffness: expected one finite number",
        ),
        (lambda: forces.TwoPointDamper("a", P_A, "b", P_B, np.inf), "damping: expected one finite number"),
        (lambda: forces.TwoPointForce("a", P_A, "b", P_B, None), "force: expected one"),
        (lambda: forces.MobilitySpring(1, 1.0), "coordinate: expected a name, got 1"),
        (lambda: forces.MobilityStop("a", 1.0, -1.0, 1.0), "low must be less than high, got 1 and -1"),
        (lambda: forces.MobilityStop("a", np.nan, 1.0, 1.0), "low: expected one number"),
        (lambda: forces.MobilityStop("a", 0.0, 1.0, 1.0, -0.1), "dissipation.*at least 0"),
        (
            lambda: forces.LinearBushing("a", None, "b", None, [1] * 5),
            "stiffness: expected six finite numbers",
        ),
        (lambda: forces.LinearBushing("a", None, "b", None, [1] * 5 + [-1]), "stiffness.*at least 0"),
        (lambda: forces.LinearBushing("a", "here", "b", None, [1] * 6), "X_a: expected a Transform"),
        (lambda: forces.GlobalDamper(-0.1), "damping.*at least 0"),
        (lambda: forces.ConstantForce("a", P_A, (1, 2)), "force: expected three"),
        (lambda: forces.ConstantForce("a", P_A, np.ones((3, 1))), "force: expected three"),
        (lambda: forces.ConstantForce("a", P_A, [P("fx", 1.0), 2.0]), "force: expected three"),
        (lambda: forces.ExternalWrench("a", frame="sky"), "frame must be 'ground' or 'body', got 'sky'"),
        (lambda: forces.ExternalWrench("a", force=(1, np.nan, 0)), "force: expected three finite"),
        (lambda: forces.NoseHooverThermostat(0.0, 1.0), r"temperature.*\[K\], above 0, got 0.0"),
        (
            lambda: forces.NoseHooverThermostat(300.0, 1.0, chain=0),
            "chain must be a whole number, at least 1, got 0",
        ),
        (lambda: forces.NoseHooverThermostat(300.0, 1.0, dofs=2.5), "dofs must be a whole number"),
        (
            lambda: forces.NoseHooverThermostat(300.0, 1.0, boltzmann=-1),
            "boltzmann must be one number above 0",
        ),
        (lambda: forces.PathActuator("biceps", 1.0), "path: expected a cd.paths.Path"),
        (lambda: forces.PathActuator(LINE, np.inf), "optimal_force: expected one finite"),
        (
            lambda: forces.CoordinateActuator("elbow", 1.0, min_control=1.0, max_control=0.0),
            "min_control must not be above max_control, got 1 and 0",
        ),
        (lambda: forces.CoordinateActuator("elbow", 1.0, min_control=P("low", 0.0)), "min_control.*cannot"),
        (lambda: forces.TorqueActuator("a", "b", (0, 0, 0), 1.0), "axis must not be zero"),
        (
            lambda: forces.TorqueActuator("a", "b", (0, 0, 1), 1.0, frame="sky"),
            "'ground' or 'body', got 'sky'",
        ),
        (lambda: forces.Blankevoort1991Ligament(LINE, 1.0, 0.0), "slack_length.*above 0"),
        (lambda: forces.Blankevoort1991Ligament(LINE, 1.0, 0.1, 0.0), "transition_strain.*above 0"),
        (lambda: forces.Blankevoort1991Ligament(LINE, -1.0, 0.1), "linear_stiffness.*at least 0"),
        (lambda: forces.GlobalDamper(1.0, group="magic"), "group must be one of gravity, passive.*'magic'"),
    ],
)
def test_bad_numbers(make, message):
    with pytest.raises(cd.errors.DescriptionError, match=message):
        make()


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (
            forces.TwoPointSpring("bas", P_A, "lower", P_B, 1.0, 0.1),
            r"body 'bas'; did you mean 'base'.*a of "
            r"TwoPointSpring",
        ),
        (forces.LinearBushing("base", None, "lowe", None, [1] * 6), "body 'lowe'; did you mean 'lower'"),
        (forces.ConstantTorque("knee", (1, 0, 0)), "unknown body 'knee'"),
        (forces.MobilitySpring("elbw", 1.0), "coordinate 'elbw'; did you mean 'elbow'"),
        (forces.MobilityDamper("elbw", 1.0), "coordinate or speed 'elbw'; did you mean 'elbow'"),
        (forces.CoordinateActuator("elbw", 1.0), "coordinate or speed 'elbw'; did you mean 'elbow'"),
        (forces.TorqueActuator("uper", "base", (0, 0, 1), 1.0), "body 'uper'; did you mean 'upper'"),
        (forces.PathActuator(cd.paths.Path([("base", P_A), ("lowe", P_B)]), 1.0), "body 'lowe'"),
        (forces.MobilityForce("base_wxx", 1.0), "did you mean 'base_wx'"),
    ],
)
def test_unknown_names(law, message):
    with pytest.raises(cd.errors.UnknownNameError, match=message):
        arm(law=law)


def test_too_many_thermal_dofs():
    with pytest.raises(cd.errors.DescriptionError, match="dofs = 9, but the system has 8 speeds"):
        arm(law=forces.NoseHooverThermostat(300.0, 1.0, dofs=9))


def test_a_refused_law_leaves_no_parameters():
    system = arm()
    with pytest.raises(cd.errors.UnknownNameError):
        system.add_force("law", forces.TwoPointSpring("bas", P_A, "lower", P_B, P("k", 1.0), 0.1))
    assert system.parameters == ()
    assert system.forces == ("gravity",)


def test_values_of_parameters_are_checked_on_request():
    law = forces.TwoPointSpring("base", P_A, "lower", P_B, 2 * P("k", 1.0), 0.1)
    law.check_parameters({"k": 3.0})
    with pytest.raises(cd.errors.DescriptionError, match=r"stiffness.*at least 0, got \[-2.0\]"):
        law.check_parameters({"k": -1.0})


def test_laws_do_not_change():
    law = forces.GlobalDamper(1.0)
    with pytest.raises(AttributeError):
        law.damping = 2.0


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda: arm().add_force("f", lambda s: {}), "becomes one by cd.forces.Custom(lambda s: ...)"),
        (
            lambda: forces.Custom(lambda s: {"hip": s.q["knee"]}),
            "asked by name in round brackets, such as s.q('knee')",
        ),
        (lambda: forces.Custom(lambda s: {"hip": -2 * s.q}), "asked by name in round brackets"),
        (
            lambda: arm().add_force("rod", cd.constraints.Rod("ground", P_A, "fore", P_B, 1.0)),
            "it goes to system.add_constraint",
        ),
        (lambda: arm().add_force(forces.MobilityForce("hip", 1.0), "push"), "the name comes first"),
        (
            lambda: arm().add_force("f", forces.Custom(lambda s: {"uper": 1.0})),
            "speed or body 'uper'; did you mean 'upper'",
        ),
    ],
)
def test_the_answer_says_what_to_do(mistake, words):
    with pytest.raises(cd.errors.CondyleError) as told:
        mistake()
    assert words in str(told.value)
