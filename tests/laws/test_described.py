"""Descriptions of laws: what determines them, and copies."""

from __future__ import annotations

import copy
import pickle

import condyle as cd


def test_copies_forget_what_was_found() -> None:
    """A copy that is changed has a description and Parameters of its own; pickled ones keep theirs."""
    law = cd.forces.MobilitySpring("a", 3.0, 0.0)
    law.description(), law.parameters()
    other = copy.copy(law)
    own = cd.forces.MobilitySpring("a", cd.Parameter("k", 3.0), 0.0).stiffness
    object.__setattr__(other, "stiffness", own)
    assert other.description() != law.description()
    assert [p.name for p in other.parameters()] == ["k"]
    assert pickle.loads(pickle.dumps(law)).description() == law.description()
