"""Calls with unknown or missing arguments, in every room: the answer names the argument that is meant, or all
there are."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import condyle as cd
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
    ],
)
def test_the_answer_says_what_to_do(mistake, words):
    with pytest.raises(cd.errors.CondyleError) as told:
        mistake()
    assert words in str(told.value)


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
