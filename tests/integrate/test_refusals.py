"""Calls of simulate, and questions to its results, that cannot be answered are refused in words that help."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from tests.zoo import two_pins


@pytest.fixture(scope="module")
def leg() -> cd.System:
    return two_pins()


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (
            lambda leg, state: cd.simulate(leg, np.zeros(2), 1.0),
            "an array is not a state: start from system.state(q=..., u=...)",
        ),
        (lambda leg, state: cd.simulate(leg, [0.0, 0.0], 1.0), "an array is not a state"),
        (lambda leg, state: cd.simulate(leg, np.zeros((3, 4)), 1.0), "an array is not a state"),
        (lambda leg, state: cd.simulate(leg, (np.zeros(2), np.zeros(2)), 1.0), "an array is not a state"),
        (lambda leg, state: cd.simulate(leg, ([0, 0], [0, 0]), 1.0), "an array is not a state"),
        (
            lambda leg, state: cd.simulate(leg, state, 1.0, progress="yes"),
            "expected True for a bar, False, or a function",
        ),
        (
            lambda leg, state: cd.simulate(leg, state, 0.1).energy(0.1),
            "too many positional arguments; t= must be given by name. It is Trajectory.energy(t=None)",
        ),
        (
            lambda leg, state: cd.simulate(leg, {"q": np.zeros(2)}, 1.0),
            "got q of shape (2,); one state is system.state(q=...)",
        ),
        (lambda leg, state: cd.simulate(leg, state, 1.0, integrator="BDF"), "for stiff systems use 'rodas'"),
        (
            lambda leg, state: cd.simulate(leg, state, 1.0, integrator="implicit"),
            "for stiff systems use 'rodas'",
        ),
        (lambda leg, state: cd.simulate(leg, state, 0.1)("knee"), "t: expected times [s]"),
        (lambda leg, state: cd.simulate(leg, state, 0.1)["hipp"], "did you mean 'hip'"),
        (
            lambda leg, state: cd.simulate(leg, state, 0.1, events="hip"),
            "such as cd.Event(lambda s: s.q('knee')), got 'hip'",
        ),
        (
            lambda leg, state: cd.simulate(leg, state, 0.1, integrator=cd.integrators.Explicit),
            "write brackets",
        ),
        (
            lambda leg, state: cd.Event(3.0),
            "the witness must be a function, such as lambda s: s.q('knee'), got 3.0",
        ),
        (
            lambda leg, state: cd.Event(at=1.0, action=lambda: None),
            "action: takes (), but is called with one argument, the State",
        ),
    ],
)
def test_the_answer_says_what_to_do(leg, mistake, words):
    with pytest.raises(cd.errors.CondyleError) as told:
        mistake(leg, leg.state(q=[1.0, 0.1]))
    assert words in str(told.value)
