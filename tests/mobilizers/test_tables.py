"""Mobilizers that look rows of tables up: descriptions and sizes, and different tables in one kernel."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.functions.pieces import Pieces
from condyle.mobilizers import Mobilizer, NumberedMobilizer, motion_at, motion_size, traced
from condyle.mobilizers.base import RelativeMotion, zeros
from condyle.mobilizers.constants import text
from condyle.model.layouts import build_looped, prefers_loops
from condyle.model.looped.tables import Looped
from condyle.native.calls.native_function import NativeFunction
from condyle.native.tables.lookup import Closure, look_up, lookups_in
from condyle.native.tables.lookup_table import ConstantRow, LookupTable
from condyle.native.tables.staged import Staged
from condyle.spatial import exp_so3
from tests.model.test_looped import arguments_of, compare, tree_of


@dataclass(frozen=True, eq=False, repr=False)
class Steps(Mobilizer):
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
        return RelativeMotion(
            R=ca.SX.eye(3),
            p=ca.vertcat(value + slope * (q - origin), 0, 0),
            H_w=zeros(),
            H_v=ca.vertcat(slope, 0, 0),
        )


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


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.zeros(4), np.zeros((2, 2))),
        (np.zeros(4), np.zeros(4, dtype=np.int64)),
        (np.array([0.0]), np.array([-0.0])),
        (cd.Transform(p=np.zeros((2000, 3))), cd.Transform(p=np.eye(2000, 3, -999))),
        (cd.Transform(p=(1.0, 0, 0)), cd.Transform(p=(1.0 + 1e-9, 0, 0))),
    ],
)
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


# ---- Different tables, one kernel --------------------------------------------------------------------------


def curve(seed, n=6, **options):
    rng = np.random.default_rng(seed)
    return cd.SplineCurve(
        (
            exp_so3(np.cumsum(rng.uniform(0.05, 0.4, (n, 3)), axis=0)),
            np.cumsum(rng.uniform(0.02, 0.1, (n, 3)), axis=0),
        ),
        **options,
    )


def spline(seed, n=20):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-1, 1, n))
    laws = [cd.Spline(x, rng.uniform(-0.3, 0.3, n)) for _ in range(2)]
    return cd.FunctionBased("q", (None, None, lambda q: q), (laws[0], laws[1], None))


SAME_UP_TO_TABLES = {
    "curves": [curve(0), curve(1, n=9), curve(2, domain=(-1, 3)), curve(0)],
    "closed": [curve(k, closed=True, domain=(0, 1.0 + k)) for k in range(3)],
    "reversed": [curve(k).reversed() for k in range(2)],
    "composed": [cd.compose(curve(k), curve(k + 1).reversed()) for k in range(2)],
    "functions": [spline(k, 20 + k) for k in range(3)],
}


@pytest.mark.parametrize("joints", SAME_UP_TO_TABLES.values(), ids=SAME_UP_TO_TABLES)
@pytest.mark.parametrize("how", ["lanes", "interpreted"])
def test_joints_that_differ_in_tables_are_one_type_of_row(joints, how):
    """Whatever their numbers of rows and breaks; also where q is beyond every table."""
    system = tree_of(joints, seed=len(joints))
    kinds = Looped(system.compiled.model, [], []).kinds[1:]
    assert len(kinds) == 1 and isinstance(kinds[0].mobilizer, NumberedMobilizer)
    given = arguments_of(system, 3, n=6)
    given["q"][0], given["q"][1] = -2.5, 7.0
    compare(system, "forward_dynamics", how, given, same=1e-11)


def test_a_joint_composed_with_itself_is_another_form():
    """Its two parts share tables; those of others, which look alike, do not."""
    both = cd.compose(curve(0), curve(0)), cd.compose(curve(0), curve(1))
    for joint in (*both, *both[::-1]):
        q = np.array([0.3, 0.8])
        at = motion_at(joint, 0.0, q, np.ones(2))
        X = joint.a.pose(q[0]) @ joint.b.pose(q[1])
        # some products of matrices with entries near 1
        np.testing.assert_allclose(np.ravel(at.p), X.p, rtol=0, atol=1e-15)
        np.testing.assert_allclose(at.R, X.R, rtol=0, atol=1e-15)


def test_many_different_curves_are_traced_once(monkeypatch):
    calls = []
    motion = cd.SplineCurve.motion
    monkeypatch.setattr(cd.SplineCurve, "motion", lambda *given: calls.append(given) or motion(*given))
    monkeypatch.setattr(traced, "_FORMS", {})
    made = []
    for n in (12, 36):
        system = cd.System()
        for i in range(n):
            system.add_body(
                f"b{i}",
                f"b{i - 1}" if i else "ground",
                curve(1000 * n + i, n=4),
                mass=1.0,
                com=(0, 0, 0),
                inertia=(1, 1, 1),
            )
        rows = build_looped(system.compiled.model, "forward_dynamics")
        made.append(sum(len(rows.merged(k)) for k in range(len(rows.steps))))
    assert prefers_loops(system.compiled.model)
    assert made[0] == made[1] <= 7 and len(calls) == 1


def test_numbers_are_a_row_without_an_index():
    numbers, x = ConstantRow((2.0, 0.25)), ca.SX.sym("x")
    a, b = ca.vertsplit(look_up(numbers))
    row = look_up(LookupTable.from_rows([[1.0, 2.0], [3.0, 4.0]]), b * x)
    staged = Staged("f", [x], [a * x + row[1]])
    f = NativeFunction("f", lambda: staged, key="numbers", inputs=[("x", 1)], outputs=[("y", 1)])
    given = np.linspace(-1, 9, 11)[:, None]
    expected = 2 * given + np.where(given < 4, 2.0, 4.0)
    np.testing.assert_array_equal(f(given), expected)
    np.testing.assert_array_equal(staged.evaluate([given.T])[0], expected.T)
    closure = Closure("g", [x], [a * x])
    y = closure(ca.SX.sym("y"))[0]
    assert not lookups_in([y]) and closure.at(3.0)[0] == 6.0
