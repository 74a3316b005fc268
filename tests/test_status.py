"""How things ended: texts that can be matched on. That runs, members, frames and searches end so is tested
with these."""

from __future__ import annotations

import copy
import pickle

import pytest

import condyle as cd
from condyle.status import Outcome


def test_unknown_kinds():
    with pytest.raises(AttributeError, match=r"cd\.Status has no 'DONE'; known: FINISHED, "):
        _ = cd.Status.DONE


def test_a_text_and_a_kind():
    out = Outcome(cd.Status.SINGULAR, "stopped at t = 1 s: here")
    assert out == "stopped at t = 1 s: here" and out == cd.Status.SINGULAR and out == cd.Status.SINGULAR
    assert out != cd.Status.FINISHED and out != "finished" and out != cd.Status.FINISHED and "here" in out
    match out:
        case cd.Status.FINISHED:
            pytest.fail("not that one")
        case cd.Status.SINGULAR:
            pass
        case _:
            pytest.fail("not found")
    for same in (copy.copy(out), copy.deepcopy(out), pickle.loads(pickle.dumps(out))):
        assert (same.kind, str(same), same.advice) == (
            cd.Status.SINGULAR,
            str(out),
            cd.Status.SINGULAR.advice,
        )
    assert Outcome(cd.Status.FINISHED) == "finished" and {Outcome(cd.Status.FINISHED): 1}["finished"] == 1
    assert all(status.advice for status in cd.Status if status != cd.Status.FINISHED)
