"""Solvers in the place of look-ups: loops in lanes and one by one, their status, and derivatives of what they
find."""

from __future__ import annotations

import itertools
import pickle

import casadi as ca
import mpmath
import numpy as np
import pytest

import condyle as cd
from condyle.native.calls.native_function import NativeFunction
from condyle.native.programs.nodes import LaneStatus
from condyle.native.solvers import solver as codes
from condyle.native.solvers.implicit_function import bracketed, implicit
from condyle.native.solvers.solver import Solver
from condyle.native.tables.lookup import Closure, look_up
from condyle.native.tables.lookup_table import LookupTable
from condyle.native.tables.staged import Staged

EPS = np.finfo(float).eps
_keys = itertools.count()


def native(build, inputs, outputs) -> NativeFunction:
    return NativeFunction("test", build, key=f"test_solver {next(_keys)}", inputs=inputs, outputs=outputs)


@pytest.fixture(params=["native", "casadi"])
def evaluator(request, monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", request.param)
    return request.param


def halvings(limit: int = 40) -> Solver:
    """How often p can be halved until it is at most 1: another number of rounds for every p."""
    return Solver.trace(
        "halvings",
        1,
        lambda p: (ca.vertcat(p, 0), p > 1),
        lambda p, x: (ca.vertcat(x[0] / 2, x[1] + 1), ca.if_else(x[0] == x[0], x[0] / 2 > 1, np.nan)),
        lambda p, x: ca.vertcat(x[1], x[0]),
        limit,
    )


def fourth_root(x, p):
    """x^4 = p."""
    return x**4 - p


ROOT = bracketed("fourth_root", fourth_root, 1, lambda p: 0, lambda p: 1 + p)


def compiled(solver: Solver, needs: int = 1) -> NativeFunction:
    p = ca.SX.sym("p", needs)
    return native(lambda: Staged("solve", [p], [look_up(solver, p)]), [("p", needs)], [("row", solver.width)])


# ---- The loop ----------------------------------------------------------------------------------------------


def test_sums_and_idle_lanes(evaluator):
    """Newton's method on sum w (x - c)^3 = p over the rows of a table, seven, no multiple of four; negative p
    are idle, beside others in lanes and alone."""
    table = np.array([[0.2, -1.0], [0.15, 0.3], [0.25, 2.0], [0.1, 0.7], [0.1, -0.2], [0.1, 1.1], [0.1, 0.1]])
    solver = Solver.trace(
        "cubes",
        1,
        lambda p: (ca.SX([3.0]), ca.SX(1)),
        lambda p, x, total: (x - (total[0] - p) / total[1], ca.fabs(total[0] - p) > 1e-12),
        lambda p, x: x,
        60,
        term=lambda p, x, c: c[0] * ca.vertcat((x - c[1]) ** 3, 3 * (x - c[1]) ** 2),
        table=table,
        idle=lambda p: (ca.SX(-1), p >= 0),
    )
    f, p = compiled(solver), np.array([1.0, -1, 2, -3, 0.5, -2, -2, -2, -2, -1, -1, -1, -1, -1, -1, 40, 5])
    rows = f(p[:, None])
    x, status = rows.T
    np.testing.assert_array_equal(status, 0)
    np.testing.assert_array_equal(x[p < 0], -1)
    solved = p >= 0
    found = (table[:, 0] * (x[solved, None] - table[:, 1]) ** 3).sum(1)
    np.testing.assert_allclose(found, p[solved], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.concatenate([f([value]) for value in p]).reshape(rows.shape), rows)


def test_a_solver_may_ask_another(evaluator):
    """Numbers are halved, p + 1, p + 2, ... of them, until more than 12 halvings were needed in all."""
    inner = halvings()
    outer = Solver.trace(
        "asks",
        1,
        lambda p: (ca.SX([0, 0]), ca.SX(1)),
        lambda p, x: (
            ca.vertcat(x[0] + look_up(inner, p + x[1])[0], x[1] + 1),
            x[0] + look_up(inner, p + x[1])[0] <= 12,
        ),
        lambda p, x: x,
        30,
    )
    p = np.array([1.0, 3, 100, 1e6, 2, 2, 7, 9, 1])[:, None]
    rows = compiled(outer)(p)

    def expected(p):
        total, k = 0, 0
        while total <= 12:
            total, k = total + max(0, int(np.ceil(np.log2(p + k)))), k + 1
        return total, k

    np.testing.assert_array_equal(rows[:, :2], [expected(x) for x in p[:, 0]])
    assert not rows[:, 2].any()


def test_every_state_has_its_own_number_of_rounds(evaluator):
    p = np.array([1.0, 2, 3, 1000, 1, 1e6, 0, -5, 4, 4.1, 7e8, 1, 1, 1, 2, 2, 1e3, 9, 5])[:, None]
    f = compiled(halvings())
    count = np.maximum(np.ceil(np.log2(np.maximum(p, 1))), 0)
    np.testing.assert_array_equal(f(p), np.hstack([count, p / 2**count, 0 * p]))


def test_lanes_equal_single_states_to_the_last_bit():
    p = np.random.default_rng(0).uniform(0, 50, (1003, 1))
    f = compiled(ROOT)
    lanes, alone = f(p), np.stack([f(x) for x in p])
    np.testing.assert_array_equal(lanes, alone)
    np.testing.assert_allclose(lanes, np.hstack([p**0.25, 0 * p]), rtol=0, atol=8 * EPS * 50**0.25)


def test_status_and_nan_where_nothing_was_found(evaluator):
    """Too many rounds, and no number: the loop ends, neighbors do not notice."""
    p = np.tile([[100.0], [np.nan], [8.0], [np.inf], [9.0]], (5, 1))
    f = compiled(halvings(3))
    for rows in (f(p), np.stack([f(x) for x in p])):
        np.testing.assert_array_equal(
            rows[:5, 2], [codes.LIMIT, codes.OK, codes.OK, codes.LIMIT, codes.LIMIT]
        )
        np.testing.assert_array_equal(rows[2], [3, 1, 0])
        assert np.isnan(rows[[0, 3, 4], :2]).all()
        np.testing.assert_array_equal(rows[:5], rows[20:])
    g = compiled(ROOT)
    p[3] = -2.0  # no root in the bracket
    for rows in (g(p), np.stack([g(x) for x in p])):
        np.testing.assert_array_equal(rows[:5, 1], [codes.OK, codes.NAN, codes.OK, codes.NAN, codes.OK])
        assert np.isnan(rows[[1, 3], 0]).all()


def test_a_busy_that_becomes_nan_ends_the_loop(evaluator):
    """Without the guard it would run to its limit of 2^60 rounds."""
    forever = Solver.trace(
        "forever", 1, lambda p: (p, 1), lambda p, x: (x / 2, ca.log(x - 1)), lambda p, x: x, 2**60
    )
    for p in (np.full((20, 1), 5.0), np.array([5.0])):
        np.testing.assert_array_equal(compiled(forever)(p)[..., 1], codes.NAN)


def test_no_round_at_all(evaluator):
    np.testing.assert_array_equal(
        compiled(halvings(0))(np.array([[0.5], [3.0]]))[:, 2], [codes.OK, codes.LIMIT]
    )


def test_codes_are_those_of_programs():
    assert (codes.OK, codes.LIMIT, codes.NAN) == (LaneStatus.OK, LaneStatus.LIMIT, LaneStatus.NAN)


# ---- In stages ---------------------------------------------------------------------------------------------


def test_equal_solvers_are_called_in_a_loop_and_sorted_by_name(evaluator):
    """Made anew each time, in any order, among tables, some that need what others found."""
    table = LookupTable.from_rows([[10.0], [20.0], [30.0]])
    other = lambda: bracketed("a_cube_root", lambda x, p: x**3 - p, 1, lambda p: 0, lambda p: 1 + p)
    root = lambda: bracketed("fourth_root", fourth_root, 1, lambda p: 0, lambda p: 1 + p)
    x = ca.SX.sym("x", 3)

    def build():
        firsts = [look_up(make(), x[k])[0] for k, make in ((0, root), (1, other), (2, root), (0, other))]
        found = look_up(table, firsts[0])
        return Staged("several", [x], [ca.vertcat(*firsts, found, look_up(root(), firsts[2] + found)[0])])

    names = [[t.name for t in tables] for _, tables, _ in build().stages]
    assert names == [["a_cube_root", "a_cube_root", "fourth_root", "fourth_root"], [""], ["fourth_root"]]
    f = native(build, [("x", 3)], [("y", 6)])
    given = np.random.default_rng(1).uniform(0, 60, (37, 3))
    a, b, c = given.T
    found = np.array([10.0, 20, 30])[np.minimum(np.floor(a**0.25), 2).astype(int)]
    expected = np.stack(
        [a**0.25, b ** (1 / 3), c**0.25, a ** (1 / 3), found, (c**0.25 + found) ** 0.25], axis=1
    )
    # Roots stop at steps of 1e-10, whose square is nothing; then two powers.
    np.testing.assert_allclose(f(given), expected, rtol=20 * EPS)


def test_solvers_of_one_state_side_by_side():
    """Thirteen of one kind, no multiple of any number of lanes, some without a root, each with its own number
    of rounds: to the last bit what each gives alone; and one stage takes what another has computed."""
    x = ca.SX.sym("x", 13)
    shared = ca.exp(ca.sin(x))  # needed by both stages and at last

    def build():
        rows = [look_up(halvings(9), shared[k] * x[k]) for k in range(13)]
        again = [look_up(ROOT, row[1] + shared[k])[0] for k, row in enumerate(rows)]
        return Staged("many", [x], [ca.vertcat(*rows), ca.vertcat(*again), shared * x])

    given = np.geomspace(0.1, 2000, 13)[np.random.default_rng(3).permutation(13)]
    stages, main = build().shared
    assert stages.reused is not None and stages.reused[0] >= 13
    assert not any(
        code in (ca.OP_EXP, ca.OP_SIN)
        for f in (stages.stages[1][0], main)
        for code in map(f.instruction_id, range(f.n_instructions()))
    )
    f = native(build, [("x", 13)], [("rows", 39), ("again", 13), ("y", 13)])
    rows, again, y = f(given)
    alone = compiled(halvings(9))
    np.testing.assert_array_equal(rows.reshape(13, 3), np.stack([alone(np.array([p])) for p in y]))
    left = rows.reshape(13, 3)[:, 2] == codes.LIMIT
    assert 0 < left.sum() < 13
    np.testing.assert_array_equal(np.isnan(again), left)
    each = (rows.reshape(13, 3)[:, 1] + y / given)[~left]
    np.testing.assert_allclose(again[~left], each**0.25, rtol=20 * EPS)
    lanes = f(np.tile(given, (40, 1)))
    for one, many in zip((rows, again, y), lanes, strict=True):
        np.testing.assert_array_equal(many, np.tile(one, (40, 1)))


def test_a_closure_with_solvers():
    x, y = ca.SX.sym("x"), ca.SX.sym("y", 2)
    closure = Closure("f", [x], [2 * look_up(ROOT, x + 1)[0]])
    np.testing.assert_allclose(closure.at(15.0)[0], 4, rtol=8 * EPS)
    twice = Staged("twice", [y], [closure(y[0])[0] + closure(y[1])[0]])
    np.testing.assert_allclose(twice.evaluate([np.array([[15.0], [80.0]])])[0], 10, rtol=8 * EPS)


def test_text_tells_solvers_apart():
    assert halvings().text == halvings().text != halvings(41).text
    again = pickle.loads(pickle.dumps(ROOT))
    assert again.text == ROOT.text
    assert ROOT.text[:16] in repr(ROOT)


def test_refusals():
    outside = ca.SX.sym("outside")
    with pytest.raises(cd.errors.DescriptionError, match="uses outside, no arguments of it"):
        Solver.trace("s", 1, lambda p: (p, outside), lambda p, x: (x, 0), lambda p, x: x, 3)
    with pytest.raises(
        cd.errors.DescriptionError, match="step returned 2 numbers for x; expected 1, as many"
    ):
        Solver.trace("s", 1, lambda p: (p, 1), lambda p, x: (ca.vertcat(x, x), 0), lambda p, x: x, 3)
    with pytest.raises(cd.errors.DescriptionError, match="limit = -1"):
        halvings(-1)
    with pytest.raises(cd.errors.DescriptionError, match=r"returned .*expected x, busy"):
        Solver.trace("s", 1, lambda p: p, lambda p, x: (x, 0), lambda p, x: x, 3)
    with pytest.raises(cd.errors.NativeError, match="fourth_root needs 1 numbers, got 2"):
        look_up(ROOT, ca.SX.sym("p", 2))
    with pytest.raises(cd.errors.DescriptionError, match="2 equations, 1 unknowns"):
        implicit(ROOT, lambda x, p: ca.vertcat(x, x), ca.SX.sym("p"))


# ---- Derivatives -------------------------------------------------------------------------------------------


def newton2(r, tol=1e-9) -> Solver:
    """Two equations by plain Newton steps from (1, 1)."""

    def step(p, x):
        dx = ca.solve(ca.jacobian(r(x, p), x), r(x, p))
        size = ca.norm_1(dx)
        return x - dx, ca.if_else(size < np.inf, size > tol, np.nan)

    return Solver.trace("newton2", 2, lambda p: (ca.SX([1, 1]), 1), step, lambda p, x: x, 30)


def test_derivatives_of_a_root_against_its_closed_form(evaluator):
    """x = p^(1/4): first derivatives need one step of (1), second ones two; with one they are wrong."""
    p = ca.SX.sym("p")

    def build(order):
        x = implicit(ROOT, fourth_root, p, order)[0]
        return Staged("root", [p], [ca.vertcat(x, ca.jacobian(x, p), ca.jacobian(ca.jacobian(x, p), p))])

    given = np.random.default_rng(2).uniform(0.5, 20, (21, 1))
    expected = np.hstack([given**0.25, given**-0.75 / 4, -3 / 16 * given**-1.75])
    one, two = (native(lambda n=n: build(n), [("p", 1)], [("x", 3)])(given) for n in (1, 2))
    np.testing.assert_allclose(two, expected, rtol=1e-14)  # some ten operations
    np.testing.assert_allclose(one[:, :2], expected[:, :2], rtol=1e-14)
    assert (np.abs(one[:, 2] - expected[:, 2]) > 0.1 * np.abs(expected[:, 2])).all()


def test_derivatives_of_two_unknowns_against_mpmath():
    """Jacobian, its product with a direction, and Hessian of a system without a closed form."""
    r = lambda x, p: ca.vertcat(
        x[0] + 0.3 * ca.sin(x[1] * p[0]) - p[1], x[1] + 0.2 * ca.exp(x[0]) - p[0] * p[1]
    )
    solver, p, w = newton2(r), ca.SX.sym("p", 2), ca.SX.sym("w", 2)
    x = implicit(solver, r, p, 2)[:2]
    J = ca.jacobian(x, p)
    H = ca.jacobian(ca.vec(J), p)
    outputs = [x, ca.vec(J), ca.vec(H), ca.jtimes(x, p, w), ca.jtimes(x, p, w, True)]
    f = native(
        lambda: Staged("two", [p, w], outputs),
        [("p", 2), ("w", 2)],
        [("x", 2), ("J", 4), ("H", 8), ("a", 2), ("b", 2)],
    )
    at, along = np.array([0.7, 1.3]), np.array([0.4, -1.1])
    x, J, H, forward, reverse = f(at, along)
    # H[i, j, k] = d2 x_i / dp_j dp_k
    J, H = J.reshape(2, 2).T, H.reshape(2, 2, 2).transpose(2, 1, 0)
    with mpmath.workdps(50):

        def exact(i):
            def root(a, b):
                g = lambda y, z: (y + 0.3 * mpmath.sin(z * a) - b, z + 0.2 * mpmath.exp(y) - a * b)
                return mpmath.findroot(g, (mpmath.mpf(x[0]), mpmath.mpf(x[1])))[i]

            return root

        point = tuple(mpmath.mpf(float(v)) for v in at)
        value = [
            [mpmath.diff(exact(i), point, n) for n in ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))]
            for i in range(2)
        ]
    value = np.array(value, dtype=float)
    # Values near 1 from some fifty operations.
    np.testing.assert_allclose(x, value[:, 0], rtol=0, atol=20 * EPS)
    np.testing.assert_allclose(J, value[:, 1:3], rtol=0, atol=50 * EPS)
    np.testing.assert_allclose(H, value[:, [[3, 4], [4, 5]]], rtol=0, atol=200 * EPS)
    np.testing.assert_allclose(forward, J @ along, rtol=0, atol=50 * EPS)
    np.testing.assert_allclose(reverse, J.T @ along, rtol=0, atol=50 * EPS)
