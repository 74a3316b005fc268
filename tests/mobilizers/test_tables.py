"""Mobilizers that look rows of tables up: their descriptions, sizes and layouts."""
from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.functions.pieces import Pieces
from condyle.mobilizers import motion_size
from condyle.mobilizers.base import RelativeMotion, zeros
from condyle.mobilizers.constants import text
from condyle.native.sweeps.lookup import lookups_in


@dataclass(frozen=True, eq=False, repr=False)
class Steps(cd.Mobilizer):
    """A slider whose every interval of q has its own slope: described by its fields, as joints of ours
    are."""

    slopes: np.ndarray

    __module__ = "condyle.tests"
    coordinate_names = speed_names = ("q",)
    units = ("m",)

    def motion(self, t, q, u):
        breaks = np.arange(1.0, len(self.slopes))
        start = np.concatenate([[0.0], np.cumsum(self.slopes[:-1])])
        rows = np.column_stack([np.arange(len(self.slopes)), start, self.slopes])
        origin, value, slope = ca.vertsplit(Pieces(breaks, rows).at(q, look_up=True))
        return RelativeMotion(R=ca.SX.eye(3), p=ca.vertcat(value + slope * (q - origin), 0, 0), H_w=zeros(),
                              H_v=ca.vertcat(slope, 0, 0))


def test_long_arrays_that_differ_in_the_middle_are_two_joints():
    """NumPy's repr leaves the middle of a long array out: it must not be the key of a cached kernel."""
    slopes = np.ones(2000)
    other = slopes.copy()
    other[1000] = 2.0
    assert repr(slopes) == repr(other)
    joints = Steps(slopes), Steps(other)
    assert joints[0] != joints[1] and joints[0].description() != joints[1].description()
    assert Steps(slopes.copy()) == joints[0]
    x = []
    for joint in joints:
        system = cd.System()
        system.add_body("bead", mobilizer=joint, mass=1.0, com=(0, 0, 0), inertia=(1, 1, 1))
        x.append(system.body_pose(np.array([1500.0]), "bead").p[0])
    assert x == [1500.0, 1501.0]


@pytest.mark.parametrize(("a", "b"), [
    (np.zeros(4), np.zeros((2, 2))),
    (np.zeros(4), np.zeros(4, dtype=np.int64)),
    (np.array([0.0]), np.array([-0.0])),
    (cd.Transform(p=np.zeros((2000, 3))), cd.Transform(p=np.eye(2000, 3, -999))),
    (cd.Transform(p=(1.0, 0, 0)), cd.Transform(p=(1.0 + 1e-9, 0, 0)))])
def test_text_of_arrays_and_transforms_is_whole(a, b):
    assert text(a) != text(b)
    assert text((a, "x")) != text((b, "x"))


def test_wide_rows_are_looked_up_however_few_they_are():
    """So that joints of 4 and of 1,000 rows have the same operations."""
    x, look_up = ca.SX.sym("x"), True
    sizes = []
    for n in (2, 4, 1000):
        row = Pieces(np.arange(1.0, n), np.random.default_rng(n).normal(size=(n, 20))).at(x, look_up)
        sizes.append((len(lookups_in([row])), ca.Function("f", [row], [ca.sum1(row)]).n_instructions()))
    assert sizes[0][0] == 2 and len(set(sizes)) == 1
    few = Pieces(np.arange(1.0, 4), np.random.default_rng(0).normal(size=(4, 5)))
    assert not lookups_in([few.at(x, look_up)])


def test_a_selection_counts_as_one_operation():
    def size(n):
        x = np.linspace(-1, 1, n)
        return motion_size(cd.FunctionBased("q", (None, None, lambda q: q), (cd.Spline(x, x**3), None, None)))

    more = size(15) - size(7)
    # eight more breaks: five selections of coefficients, a comparison and the number it needs
    assert more <= 7 * 8
