"""Some thousand random add_body calls; `python -m tests.system.random_calls 100000 1` runs the full
number."""

from __future__ import annotations

import re

import pytest

from tests.process import output
from tests.system.random_calls import run

# Errors that are not Condyle's and yet right: those of a user's own object, of a class that is no mobilizer
# yet, and of integers beyond floats inside a user's own function.
ALLOWED = re.compile(r"no array|no float|no items|does not say how it moves|int too large to convert")
CALLS = 500


@pytest.mark.parametrize("seed", [1, 2])
def test_calls_end_in_a_body_or_an_error_of_ours(seed, monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    print(f"seed {seed}")
    caller = run(CALLS, seed)
    assert sum(caller.counts[what] for what in ("added", "refused", "other error")) == CALLS
    assert (
        caller.counts["added"] > CALLS // 4
        and caller.counts["refused"] > CALLS // 4
        and caller.counts["used"] > CALLS // 50
    )
    assert caller.counts["used, not finite"] == 0
    strange = {what: len(times) for what, times in caller.strange.items() if not ALLOWED.search(what)}
    # CasADi's own symbols (SX, MX) as arguments may bring CasADi's own errors.
    strange = {what: n for what, n in strange.items() if "casadi" not in what.lower()}
    assert not strange


def test_the_interpreter_lives():
    """In a fresh process, with native code for the systems that are used."""
    said = output(
        "-X",
        "faulthandler",
        "-m",
        "tests.system.random_calls",
        "60",
        "3",
        environment={"CONDYLE_EVALUATOR": "native"},
    )
    assert said.startswith("60 calls, seed 3")
