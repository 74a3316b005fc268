"""Table look-ups in expressions: Closure, Staged, machine code in lanes and one by one, CasADi's evaluator,
and cache keys."""

from __future__ import annotations

import itertools
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.mobilizers import traced
from condyle.native.calls.native_function import NativeFunction
from condyle.native.tables.lookup import Closure, current_context, look_up, lookup_context, lookups_in
from condyle.native.tables.lookup_table import LookupTable
from condyle.native.tables.staged import Staged, build_function
from tests.process import ROOT, output

EPS = np.finfo(float).eps
RNG = np.random.default_rng(0)
LINES = LookupTable.from_rows(RNG.uniform(-1, 1, (7, 2)))  # rows a, b of a + b x
JUMPS = LookupTable.from_rows(np.array([[3.0], [0.0], [6.0], [1.0]]))  # indices into LINES
ONE = LookupTable.from_rows([[5.0, 6.0, 7.0]])  # a table of one row
INDICES = np.array(
    [
        0.0,
        0.4,
        1.0,
        2.999999,
        3.0,
        6.0,
        6.5,
        7.0,
        1e3,
        1e300,
        np.inf,
        -0.0,
        -0.3,
        -1.0,
        -1e300,
        -np.inf,
        np.nan,
        2.0,
        5.0,
    ]
)

_keys = itertools.count()


def row_number(index, count):
    """What an index means: rounded down, kept in range; not a number is the first row."""
    return (
        0
        if np.isnan(index)
        else int(min(max(np.floor(index), 0), count - 1))
        if np.isfinite(index)
        else (count - 1 if index > 0 else 0)
    )


def native(build, inputs, outputs) -> NativeFunction:
    return NativeFunction("test", build, key=f"test_lookup {next(_keys)}", inputs=inputs, outputs=outputs)


def one_by_one(f, *arrays):
    each = [f(*(a[k] for a in arrays)) for k in range(len(arrays[0]))]
    return [np.stack(x) for x in zip(*each)] if isinstance(each[0], tuple) else np.stack(each)


@pytest.fixture(params=["native", "casadi"])
def evaluator(request, monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", request.param)
    return request.param


# ---- Rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [LINES, JUMPS, ONE], ids=["7 rows", "4 rows", "1 row"])
def test_every_index_gives_its_row(table, evaluator):
    """In and out of range, infinite and not a number; lanes and single states."""
    x = ca.SX.sym("x")
    f = native(lambda: Staged("rows", [x], [look_up(table, x)]), [("x", 1)], [("row", table.rows.shape[1])])
    expected = np.stack([table.rows[row_number(i, len(table.rows))] for i in INDICES])
    np.testing.assert_array_equal(f(INDICES[:, None]), expected)
    np.testing.assert_array_equal(one_by_one(f, INDICES[:, None]), expected)
    np.testing.assert_array_equal(one_by_one(f.fast, INDICES[:, None]), expected)


@pytest.mark.parametrize("W", [2, 4, 8])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 11, 17])
def test_rows_of_every_width_are_transposed_into_lanes(W, size, monkeypatch):
    """Widths below the number of lanes, multiples of it and others: each lane has its own row, bit for
    bit."""
    monkeypatch.setenv("CONDYLE_LANES", str(W))
    table = LookupTable.from_rows(np.random.default_rng(size).normal(size=(7, size)))
    x = ca.SX.sym("x")
    f = native(lambda: Staged("rows", [x], [look_up(table, x)]), [("x", 1)], [("row", size)])
    expected = np.stack([table.rows[row_number(i, 7)] for i in INDICES])
    np.testing.assert_array_equal(f(INDICES[:, None]), expected)


def test_lanes_do_not_disturb_each_other(evaluator):
    """More states than lanes, each with its own row, in any order."""
    x = ca.SX.sym("x", 2)
    a, b = ca.vertsplit(look_up(LINES, x[0]))
    f = native(lambda: Staged("lines", [x], [a + b * x[1]]), [("x", 2)], [("y", 1)])
    given = np.random.default_rng(1).uniform(-1, 8, (1001, 2))
    rows = LINES.rows[np.clip(np.floor(given[:, 0]), 0, 6).astype(int)]
    # One fused product and sum.
    np.testing.assert_allclose(f(given)[:, 0], rows[:, 0] + rows[:, 1] * given[:, 1], rtol=0, atol=20 * EPS)
    np.testing.assert_array_equal(f(given[::-1])[::-1], f(given))


def test_equal_look_ups_of_a_closure_are_one():
    """Equal tables at equal indices are looked up once, different ones at equal indices as one wider
    table."""
    x = ca.SX.sym("x")
    tables = [LookupTable.from_rows(np.random.default_rng(k).normal(size=(4, 2))) for k in range(3)]
    jump = lambda: look_up(
        LookupTable.from_rows(JUMPS.rows), 1 + ca.floor(x / 0.7)
    )  # expressions of their own
    y = [look_up(tables[k], jump()[0])[1] * x for k in (0, 1, 2, 1)]
    closure = Closure("f", [x], [*y, look_up(tables[0], x)[0]])
    assert [table.width for table in closure.tables] == [1, 2, 6]
    for at in (-1.0, 0.3, 0.8, 1.5, 9.0):
        row = int(JUMPS.rows[row_number(1 + np.floor(at / 0.7), 4)][0])
        expected = [tables[k].rows[min(row, 3)][1] * at for k in (0, 1, 2, 1)]
        found = closure.at(at)
        assert [float(f[0, 0]) for f in found[:4]] == expected
        assert float(found[4][0, 0]) == tables[0].rows[row_number(at, 4)][0]
    f = native(lambda: build_function("f", [x], closure(x)), [("x", 1)], [(f"y{k}", 1) for k in range(5)])
    given = np.linspace(-1, 5, 9)
    for k in range(5):
        expected = [float(closure.at(a)[k][0, 0]) for a in given]
        np.testing.assert_array_equal(f(given[:, None])[k][:, 0], expected)


def nested(x):
    """Three look-ups deep: a jump's row says which line, the line's value says which line is last."""
    first = look_up(JUMPS, x[0])
    a, b = ca.vertsplit(look_up(LINES, first[0] + (x[1] > 0.5)))
    c, d = ca.vertsplit(look_up(LINES, 3 + 3 * (a + b * x[1])))
    return a + c, d * x[1] + first[0]


def nested_reference(x):
    first = JUMPS.rows[row_number(x[0], 4), 0]
    a, b = LINES.rows[row_number(first + (x[1] > 0.5), 7)]
    c, d = LINES.rows[row_number(3 + 3 * (a + b * x[1]), 7)]
    return a + c, d * x[1] + first


def test_indices_that_depend_on_rows(evaluator):
    x = ca.SX.sym("x", 2)
    f = native(lambda: Staged("nested", [x], list(nested(x))), [("x", 2)], [("y", 1), ("z", 1)])
    given = np.random.default_rng(2).uniform(-1, 4, (50, 2))
    given[3], given[11] = (np.nan, 0.2), (np.inf, 0.9)
    expected = np.array([nested_reference(row) for row in given])
    for found in (f(given), one_by_one(f, given)):
        np.testing.assert_allclose(np.hstack(found), expected, rtol=0, atol=20 * EPS)


def test_stages_come_in_order():
    x = ca.SX.sym("x", 2)
    outputs = list(nested(x))
    found = lookups_in(outputs)
    assert [each.table for each in found] == [JUMPS, LINES, LINES]
    staged = Staged("nested", [x], outputs)
    assert [len(tables) for _, tables, _ in staged.stages] == [1, 1, 1]
    assert (staged.inputs, staged.outputs, staged.row_size) == ([2], [1, 1], 5)


def test_independent_look_ups_share_a_stage():
    x = ca.SX.sym("x", 2)
    staged = Staged("two", [x], [look_up(LINES, x[0]) + look_up(LINES, x[1]), look_up(JUMPS, x[0])])
    assert [len(tables) for _, tables, _ in staged.stages] == [3]


def test_a_large_table_costs_what_a_small_one_costs():
    x = ca.SX.sym("x")
    counts = {
        n: Staged("f", [x], [ca.sum1(look_up(LookupTable.from_rows(np.ones((n, 3))), x))]).n_instructions()
        for n in (2, 20_000)
    }
    assert counts[2] == counts[20_000]


def test_values_travel_exactly(evaluator):
    """Subnormals, signed zeros, infinities and NaN in a table come out bit by bit."""
    values = np.array(
        [[5e-324], [-0.0], [0.0], [np.inf], [-np.inf], [np.nan], [1.7976931348623157e308], [0.1]]
    )
    x = ca.SX.sym("x")
    f = native(
        lambda: Staged("bits", [x], [look_up(LookupTable.from_rows(values), x)]), [("x", 1)], [("y", 1)]
    )
    found = f(np.arange(8.0)[:, None])
    np.testing.assert_array_equal(found, values)
    np.testing.assert_array_equal(np.signbit(found[[1, 2]]), [[True], [False]])


def test_tables_do_not_change():
    mine = np.ones((2, 2))
    table = LookupTable.from_rows(mine)
    mine[:] = 9
    np.testing.assert_array_equal(table.rows, 1)
    with pytest.raises(ValueError, match="read-only"):
        table.rows[0] = 2


# ---- Closures ----------------------------------------------------------------------------------------------


def test_a_closure_can_be_called_again(evaluator):
    """Each call has rows of its own; a sum of two calls is a sum of two look-ups."""
    x = ca.SX.sym("x", 2)
    closure = Closure("nested", [x], list(nested(x)))
    p, q = ca.SX.sym("p", 2), ca.SX.sym("q", 2)
    total = closure(p)[0] + 10 * closure(q)[1]
    assert len(lookups_in([total])) == 6
    f = native(lambda: Staged("sum", [p, q], [total]), [("p", 2), ("q", 2)], [("y", 1)])
    a, b = np.random.default_rng(3).uniform(-1, 4, (2, 30, 2))
    expected = [nested_reference(s)[0] + 10 * nested_reference(t)[1] for s, t in zip(a, b)]
    np.testing.assert_allclose(f(a, b)[:, 0], expected, rtol=0, atol=500 * EPS)


def test_a_closure_at_numbers():
    x = ca.SX.sym("x", 2)
    closure = Closure("nested", [x], list(nested(x)))
    for row in np.random.default_rng(4).uniform(-1, 4, (20, 2)):
        np.testing.assert_allclose(np.ravel(closure.at(row)), nested_reference(row), rtol=0, atol=20 * EPS)
    np.testing.assert_allclose(
        np.ravel(closure.at([np.nan, 0.2])), nested_reference([np.nan, 0.2]), rtol=0, atol=20 * EPS
    )


def test_symbols_from_outside():
    """A closure passes on what is no input: it may be in values and in indices."""
    x, p = ca.SX.sym("x"), ca.SX.sym("p", 2)
    closure = Closure("f", [x], [p[0] * ca.sum1(look_up(LINES, x + p[1]))])
    assert closure.outside.numel() == 2
    expected = 3.0 * LINES.rows[4].sum()
    order = {s.name(): i for i, s in enumerate(ca.vertsplit(closure.outside))}
    outside = np.zeros(2)
    outside[order["p_0"]], outside[order["p_1"]] = 3.0, 2.0
    np.testing.assert_allclose(closure.at(2.5, outside=outside)[0], expected, rtol=10 * EPS)
    y = ca.SX.sym("y")
    f = native(lambda: Staged("f", [y, p], closure(y)), [("y", 1), ("p", 2)], [("f", 1)])
    np.testing.assert_allclose(f([2.5], [3.0, 2.0]), [expected], rtol=10 * EPS)
    other = ca.SX.sym("other", 2)  # in the order of closure.outside
    renamed = Staged("g", [y, other], closure(y, outside=other))
    found = renamed.evaluate([np.array([[2.5]]), outside[:, None]])[0]
    np.testing.assert_allclose(found, [[expected]], rtol=10 * EPS)


# ---- Contexts of traces ------------------------------------------------------------------------------------


def known() -> int:
    """Symbols of rows that are known outside of all traces."""
    return len(current_context()[-1])


def test_no_look_up_of_a_trace_is_forgotten_before_its_end():
    """More than 200,000 symbols, at which an earlier process-wide table dropped the oldest half."""
    x, wide = ca.SX.sym("x"), LookupTable.from_rows(np.ones((2, 5000)))
    before = known()
    with lookup_context():
        first = ca.sum1(look_up(LINES, x))
        for _ in range(50):
            look_up(wide, x)
        assert len(current_context()[0]) > 250_000
        f = build_function("f", [x], [first])
    assert isinstance(f, Staged) and known() == before
    np.testing.assert_allclose(f.evaluate([np.array([[2.5]])])[0], LINES.rows[2].sum(), rtol=EPS)


def test_traces_end():
    """What was made in a trace that has ended is an error, not a wrong number; a nested trace knows what those
    around it know, and they do not know what it made."""
    x = ca.SX.sym("x")
    with lookup_context():
        outer = ca.sum1(look_up(LINES, x))
        context = current_context()
        with lookup_context():
            inner = ca.sum1(look_up(JUMPS, outer))
            assert [each.table for each in lookups_in([inner])] == [LINES, JUMPS]
        assert not lookups_in([inner]) and len(lookups_in([outer])) == 1
    assert not lookups_in([outer])
    with pytest.raises(RuntimeError, match="free"):
        build_function("f", [x], [outer])
    with lookup_context(context):  # who keeps expressions keeps their context
        assert isinstance(build_function("f", [x], [outer]), Staged)


def test_explanations_and_functions_of_casadi_leave_nothing():
    """They are traces of their own: what they looked up is forgotten."""
    system = cd.System()
    system.add_body("pendulum", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=1.0, coordinates="q")
    curve = cd.Spline(np.linspace(-3, 3, 60), np.sin(np.arange(60.0)))
    system.add_force("curve", cd.forces.MobilityFunction("q", lambda q, qdot: curve(q)))
    before = known()
    assert system.explain(system.state()).first is None
    with pytest.raises(cd.errors.DescriptionError, match="looked up in tables"):
        system.casadi("forward_dynamics")
    assert known() == before


def test_a_trace_that_fails_ends_too():
    context = current_context()
    with pytest.raises(ValueError, match="no"), lookup_context():
        raise ValueError("no")
    assert current_context() is context


def test_threads_trace_at_once():
    """Each thread has its own traces, and knows what was made outside of all."""
    x, turn = ca.SX.sym("x"), threading.Barrier(2)
    shared = ca.sum1(look_up(LINES, x))

    def trace(scale: float) -> np.ndarray:
        with lookup_context():
            for _ in range(200):
                turn.wait(10)
                y = scale * look_up(JUMPS, shared)[0] + look_up(LINES, x)[1]
                assert len(lookups_in([y])) == 3
            return build_function("f", [x], [y]).evaluate([np.arange(7.0)[None]])[0][0]

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(trace, (1.0, 10.0)))
    for scale, y in zip((1.0, 10.0), found, strict=True):
        rows = [JUMPS.rows[row_number(LINES.rows[k].sum(), 4), 0] for k in range(7)]
        np.testing.assert_allclose(y, scale * np.array(rows) + LINES.rows[:, 1], rtol=10 * EPS)


def test_systems_leave_nothing_behind():
    """Building, compiling and running systems adds nothing to what is known in the process."""
    with_spline("force", np.cos(X)).forward_dynamics([0.1], [0.2])
    before = known()
    for place in PLACES:
        system = pickle.loads(pickle.dumps(with_spline(place, np.sin(X) + 1)))
        system.forward_dynamics([0.1], [0.2])
        system.jacobian("forward_dynamics", [0.1], [0.2], wrt="q")
        cd.simulate(system, system.state(), t_final=0.01)
    assert known() == before


def test_without_look_ups_it_is_a_plain_function():
    x = ca.SX.sym("x")
    assert isinstance(build_function("f", [x], [x * x]), ca.Function)
    assert isinstance(build_function("f", [x], [ca.sum1(look_up(LINES, x))]), Staged)


def test_derivatives_hold_rows_fixed():
    """d/dx (a + b x) = b within a row, and nothing comes through the index."""
    x = ca.SX.sym("x")
    a, b = ca.vertsplit(look_up(LINES, x))
    y = a + b * x * x
    f = native(lambda: Staged("slope", [x], [ca.jacobian(y, x)]), [("x", 1)], [("dy", 1)])
    at = np.array([0.3, 2.5, 6.1])
    np.testing.assert_allclose(f(at[:, None])[:, 0], 2 * at * LINES.rows[[0, 2, 6], 1], rtol=10 * EPS)


# ---- Splines in systems: what is cached under which key ----------------------------------------------------

X = np.linspace(-2, 2, 25)
PLACES = ("function", "custom", "force", "potential")


def with_spline(place, values) -> cd.System:
    curve = cd.Spline(X, values)
    system = cd.System(gravity=(0, -9.81, 0))
    joint = {
        "function": lambda: cd.FunctionBased(
            ("q",), (None, None, lambda q: q), (lambda q: curve(q), None, None)
        ),
        "custom": lambda: cd.Custom(("q",), lambda q: (np.eye(3), (q, curve(q), 0.0))),
    }
    joint = joint.get(place, cd.Pin)()
    system.add_body(
        "b", mobilizer=joint, mass=1.0, com=(0.1, 0.2, 0), inertia=(0.1, 0.1, 0.1), coordinates=("q",)
    )
    if place == "force":
        system.add_force("law", cd.forces.Custom(lambda s: {"q": curve(s.q("q"))}))
    if place == "potential":
        system.add_force("law", cd.forces.Potential(lambda s: curve(s.q("q"))))
    return system


@pytest.mark.parametrize("place", PLACES)
def test_other_values_are_other_machine_code(place):
    """Two systems that differ in one value of a spline must not share a kernel; equal ones may."""
    values = np.sin(X)
    other = values.copy()
    other[14] += 1e-9
    q, u = np.array([0.37]), np.array([0.8])
    first, again, second = (with_spline(place, v) for v in (values, values, other))
    a, b, c = (system.forward_dynamics(q, u)[0] for system in (first, again, second))
    assert a == b
    assert first.compiled.key == again.compiled.key and first.compiled.key != second.compiled.key
    assert c != a and abs(c - a) < 1e-5 * max(1, abs(a))
    assert again.compiled.function("forward_dynamics").report.cached


SCRIPT = """
import sys
import numpy as np
sys.path.insert(0, {root!r})
from condyle.native.ir import module
from tests.native.tables.test_lookup import X, with_spline
module._LONG = 100                                          # tables are object files of their own
bump = float(sys.argv[1])
system = with_spline("function", np.sin(X) + bump * (X > 0.3) * (X < 0.6))
found = system.forward_dynamics([0.37], [0.8])
print(repr(float(found[0])), system.compiled.function("forward_dynamics").report.cached)
"""


def test_the_cache_on_disk_tells_them_apart(tmp_path):
    """Fresh processes with one cache: other values are not taken from it, the same values are, later too."""
    environment = {"CONDYLE_CACHE_DIR": str(tmp_path / "cache"), "CONDYLE_EVALUATOR": "native"}

    def run(bump):
        value, cached = output(
            "-c", SCRIPT.format(root=str(ROOT)), str(bump), environment=environment
        ).split()
        return float(value), cached == "True"

    first, other, last = run(0.0), run(1e-6), run(0.0)
    assert [cached for _, cached in (first, other, last)] == [False, False, True]
    assert first[0] == last[0] != other[0]


@pytest.mark.parametrize("place", PLACES)
def test_a_spline_in_a_system_is_scipys(place, evaluator):
    """Lanes, single states and CasADi's evaluator; q beyond the ends and not a number."""
    from scipy.interpolate import CubicSpline

    system = with_spline(place, np.sin(X))
    spline = CubicSpline(X, np.sin(X), bc_type="natural")
    inside = np.array([-1.9, -0.4, 0.0, 0.37, 1.2, 1.99, *X[3:6]])
    beyond = np.array([-3.0, -2.5, 2.2, 7.0])
    q = np.concatenate([inside, beyond])[:, None]
    end = np.clip(q[:, 0], -2, 2)
    f, slope = spline(end) + spline(end, 1) * (q[:, 0] - end), spline(end, 1)
    if place == "function":
        found, expected = system.body_pose(q, "b").p[:, 0], f
    elif place == "custom":
        found, expected = system.body_pose(q, "b").p[:, 1], f
    else:
        found = system.applied_forces(q, 0 * q)[:, 0]
        expected = f if place == "force" else -slope
    # Values near 1 from a cubic with coefficients of some units.
    np.testing.assert_allclose(found, expected, rtol=0, atol=200 * EPS * np.abs(expected).max())
    udot = system.forward_dynamics(q, 0 * q)
    alone = np.stack([system.forward_dynamics(x, [0.0]) for x in q])
    np.testing.assert_allclose(alone, udot, rtol=0, atol=200 * EPS * np.abs(udot).max())


def test_what_is_remembered_of_joints_has_a_bound(monkeypatch):
    """Equations of joints do not pile up in a long session."""
    monkeypatch.setattr(traced, "KEPT", 2)
    traced.traced.known.clear()
    for x in (0.1, 0.2, 0.3, 0.4):
        pin = cd.Pin(axis=(x, 0.0, 1.0))
        size = traced.motion_size(pin)
        assert len(traced.traced.known) <= 2
        assert traced.motion_size(cd.Pin(axis=(x, 0.0, 1.0))) == size
