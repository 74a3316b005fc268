"""Lengths over surfaces against strings that a general optimiser pulls tight: no code in common."""
import numpy as np
import pytest

import condyle as cd
from tests.paths.strings import length


@pytest.fixture(scope="module")
def arm():
    return cd.models.arm26()


@pytest.mark.parametrize(("name", "q"), [
    ("TRIlong", (1.3, 1.2)),                    # over two surfaces, where OpenSim 4.6 is millimetres longer
    ("BRA", (0.4, 0.1)), ("BIClong", (-1.0, 1.0)), ("TRImed", (0.2, 2.0))])
def test_arm26(arm, name, q, evidence):
    ours = arm.path_lengths(np.array(q))[arm.paths.index(name)]
    string = length(arm, name, np.array(q))
    polygon = arm.path_points(np.array(q))[name]
    straight = np.linalg.norm(polygon[-1] - polygon[0])
    assert ours > straight + 1e-4                                   # it goes over something
    # Richardson's extrapolation from 400 and 800 points
    evidence(f"length of {name} over its surfaces against a string pulled tight by IPOPT [m]",
             abs(ours - string), 1e-6)
