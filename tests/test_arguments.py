"""Calls with unknown or missing arguments, in every room: the answer names the argument that is meant, or all
there are."""

from __future__ import annotations

import importlib
import inspect

import numpy as np
import pytest

import condyle as cd
from condyle.studies.scaling import Measurement
from tests.zoo import two_pins

F, C = cd.forces, cd.constraints
POINTS = ("thigh", (0, 0, 0), "shank", (0, 0, 0))


LEG = two_pins()
STATE = LEG.state(q=[1.0, 0.1])


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (
            lambda: LEG.forward_dynamics([0, 0]),
            "missing a required argument: 'u'. It is forward_dynamics(q, u, tau=None",
        ),
        (lambda: LEG.energy([0, 0], t=0.5), "missing a required argument: 'u'. It is energy(q, u"),
        (lambda: cd.System(g=9.81), "there is no argument g=; did you mean gravity=?"),
        (lambda: cd.simulate(LEG, STATE, 1.0, dt=0.01), "no argument dt=; a fixed step is step="),
        (lambda: cd.simulate(LEG, STATE, 1.0, method="RK45"), "no argument method=; it is integrator="),
        (lambda: cd.simulate(LEG, STATE, 1.0, rtol=1e-6), "accuracy= is one number"),
        (lambda: cd.simulate(LEG, STATE, 1.0, t_eval=[0.5]), "traj.at(times)"),
        (
            lambda: cd.simulate(STATE, 1.0),
            "missing a required argument: 't_final'. It is simulate(system, state, t_final, ",
        ),
        (
            lambda: F.TwoPointSpring(*POINTS, 10.0, rest=1.0),
            "no argument rest=; did you mean rest_length=? It is TwoPointSpring(",
        ),
        (lambda: F.MobilitySpring("hip", 1.0, rest_length=1.0), "did you mean rest=?"),
        (lambda: F.MobilityDamper("hip", dissipation=1.0), "did you mean damping=?"),
        (lambda: F.MobilityStop("hip", 0.0, 1.0, 10.0, damping=1.0), "did you mean dissipation=?"),
        (lambda: F.TwoPointSpring("thigh", "shank", 1.0, 1.0), "missing a required argument: 'stiffness'"),
        (lambda: C.Rod(*POINTS), "missing a required argument: 'length'. It is Rod(a, p_a, b, p_b, length)"),
        (lambda: cd.Reset(catch="foot"), "no argument catch=; it is caught="),
        (lambda: cd.Slider(direction="x"), "did you mean axis=?"),
        (lambda: cd.Screw(), "It is Screw(pitch, axis='z')"),
        (lambda: cd.Custom("k", None), "transform: expected a function"),
        (lambda: cd.goals.Station("thigh", point=(0, 0, 0), position=(0, 0, 0)), "did you mean station=?"),
        (lambda: two_pins().add_body("foot", "shank", joint=cd.Pin()), "it is mobilizer=, such as cd.Pin()"),
        (lambda: LEG.state(qq=1.0), "did you mean q=?"),
        (lambda: cd.assemble_frames(LEG, STATE, [], times=[0.0]), "times are t="),
        (lambda: cd.Parameter(3.0), "It is Parameter(name, default)"),
        (lambda: cd.Parameter("mass", value=3.0), "did you mean default=?"),
        (lambda: cd.Spline(times=[0, 1, 2], values=[1, 2, 3]), "did you mean x=?"),
        (lambda: cd.Coordinate("knee", limits=(0, 1)), "did you mean range=?"),
        (lambda: cd.Prescribed(q=np.sin), "did you mean position=?"),
        (lambda: cd.Wrench(station=(0, 0, 0)), "did you mean at=?"),
        (lambda: cd.compose([cd.Pin(), cd.Slider()]), "one after the other"),
        (lambda: LEG.jacobian("forward_dynamics", [0, 0], [0, 0]), "missing a required"),
        (lambda: cd.relax(LEG, STATE, tol=1e-3), "did you mean accuracy=?"),
        (lambda: LEG.jacobian("forward_dynamics", q=[0, 0], u=[0, 0], wrt="q"), "q is given in its place"),
        (lambda: LEG.copy().add_body("foot", mass_centre=(0, 0, 0)), "did you mean com=?"),
        (
            lambda: cd.muscles.Thelen2003(None, optimal_fibre_length=0.1),
            "did you mean optimal_fiber_length=?",
        ),
        (lambda: cd.shapes.Sphere(0.1, colour="red"), "an argument of system.add_geometry"),
        (lambda: Measurement("thigh"), "missing a required argument: 'pairs'"),
    ],
)
def test_the_answer_says_what_to_do(mistake, words):
    with pytest.raises(cd.errors.CondyleError) as told:
        mistake()
    assert words in str(told.value)


@pytest.mark.parametrize(
    ("mistake", "there"),
    [
        (lambda: cd.view, "it is cd.live(system)"),
        (lambda: cd.View, "what cd.live(system) returns: condyle.viewer.LiveView"),
        (lambda: cd.ArgumentError, "it is cd.errors.ArgumentError"),
        (lambda: cd.InverseKinematics, "it is what cd.inverse_kinematics(...) returns: condyle.studies."),
        (lambda: cd.static_optimisation, "it is static_optimization"),
        (lambda: cd.errors.ArgumentErr, "did you mean ArgumentError?"),
        (lambda: cd.maximal.of, "it is cd.maximal.formulation(system)"),
        (lambda: STATE.contact_forces, "it is state.contacts.forces"),
        (lambda: STATE.centre_of_pressure, "it is state.contacts.center_of_pressure"),
        (lambda: LEG.constraint_errors, "it is system.constraints.errors"),
        (lambda: LEG.equations, "it is system.constraints.equations()"),
        (lambda: LEG.mass_centre, "it is mass_center"),
        (lambda: LEG.centre_of_mass, "it is system.mass_center(q)"),
    ],
)
def test_names_that_are_elsewhere_or_spelled_otherwise(mistake, there):
    with pytest.raises(AttributeError) as told:
        mistake()
    assert there in str(told.value)


def test_every_class_of_a_result_is_where_its_error_says():
    for name in (
        "Ensemble",
        "Frames",
        "LimitCycle",
        "JointFit",
        "Trajectory",
        "Quality",
        "Page",
        "Body",
        "View",
    ):
        with pytest.raises(AttributeError) as told:
            getattr(cd, name)
        module, _, kind = str(told.value).rpartition(": ")[2].rpartition(".")
        assert isinstance(getattr(importlib.import_module(module), kind), type)


def test_wrong_calls_are_type_errors_too_and_signatures_stay():
    with pytest.raises(TypeError):
        cd.simulate(LEG, STATE, 1.0, dt=0.01)
    assert list(inspect.signature(F.MobilitySpring).parameters) == [
        "coordinate",
        "stiffness",
        "rest",
        "damping",
        "group",
        "speed",
    ]
    assert "accuracy" in inspect.signature(cd.simulate).parameters
    assert list(inspect.signature(cd.System.forward_dynamics).parameters)[:5] == [
        "self",
        "q",
        "u",
        "tau",
        "t",
    ]


def test_a_type_error_of_a_users_own_function_stays_itself():
    with pytest.raises(TypeError, match="can only concatenate str") as told:
        F.Custom(lambda s: {"hip": "a" + 1})
    assert not isinstance(told.value, cd.errors.CondyleError)
