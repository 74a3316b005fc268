"""Programs: control flow, masks, status, streams, tables, outside calls. One tree, scalar and in lanes."""

import ctypes

import casadi as ca
import numpy as np
import pytest

from condyle.errors import DescriptionError, NativeError, ShapeError
from condyle.native.programs.nodes import (
    Call,
    Get,
    If,
    Ints,
    Kernel,
    LaneStatus,
    Put,
    Scan,
    Stream,
    While,
    kernel,
)
from condyle.native.programs.program import Program, compile_kernel
from tests.native.programs.programs import LANES, WIDE, halving, nested, run

EPS = np.finfo(float).eps

# Control flow


@LANES
def test_while_stops_each_lane_by_itself(W):
    tree, sizes = halving()
    x = np.array([[0.5, 1.0, 3.0, 1000.0, 7.0, 2.0**39, 64.0, 0.0]])
    y = run(tree, sizes, {"x": x}, W)
    assert y["n"].tolist() == [[0, 1, 2, 10, 3, 40, 7, 0]]  # by hand
    assert not y["status"].any()


@LANES
def test_one_bad_lane_does_not_spoil_the_others(W):
    tree, sizes = halving()
    x = np.array([[3.0, np.nan, 2.0**40, np.inf, -1.0, 5.0, np.nan, 1.0]])
    y = run(tree, sizes, {"x": x}, W)
    OK, LIMIT, NAN = LaneStatus.OK, LaneStatus.LIMIT, LaneStatus.NAN
    assert y["status"].tolist() == [[OK, NAN, LIMIT, LIMIT, OK, OK, NAN, OK]]
    assert y["n"].tolist() == [[2, 0, 40, 40, 0, 3, 0, 1]]


@LANES
def test_no_round_at_all(W):
    """A flag that is zero at the start leaves everything as it was; elsewhere a limit of zero is reached at
    once."""
    sizes = {"busy": 1, "x": 1}
    tree = While("busy", kernel(lambda x: x + 1, "x", "x", sizes), 0)
    y = run(tree, sizes, {"busy": np.array([[0, 1, 0, 0, 1, 0, 0, -1]]), "x": np.full((1, 8), 5.0)}, W)
    assert y["status"].tolist() == [[0, 1, 0, 0, 1, 0, 0, 1]]
    assert (y["x"] == 5).all()


@LANES
def test_limit_is_exact(W):
    """A loop that ends in its last allowed round is fine."""
    sizes = {"left": 1}
    tree = While("left", kernel(lambda n: n - 1, "left", "left", sizes), "limit")
    y = run(tree, sizes, {"left": np.arange(8.0)[None]}, W, counts={"limit": 5})
    assert y["status"].tolist() == [[0, 0, 0, 0, 0, 0, 1, 1]]
    assert y["left"].tolist() == [[0, 0, 0, 0, 0, 0, 1, 2]]


@LANES
def test_first_status_stays(W):
    sizes = {"a": 1, "b": 1}
    keep = kernel(lambda a: a, "a", "a", sizes)
    tree = [While("a", keep, 3), While("b", keep, 3)]
    y = run(tree, sizes, {"a": np.tile([[1.0, 0.0]], 4), "b": np.full((1, 8), np.nan)}, W)
    assert y["status"].tolist() == [[LaneStatus.LIMIT, LaneStatus.NAN] * 4]


def test_every_code_has_advice():
    assert all(code.advice for code in LaneStatus)


@LANES
def test_if_runs_where_its_flag_is_set_and_not_where_it_is_nan(W):
    sizes = {"f": 1, "x": 2}
    tree = If("f", kernel(lambda x: 10 * x, "x", "x", sizes))
    f = np.array([[1, 0, np.nan, -0.0, 2, np.inf, 1e-320, 0]])
    y = run(tree, sizes, {"f": f, "x": np.ones((2, 8))}, W)
    assert y["x"].tolist() == [[10, 1, 1, 1, 10, 10, 10, 1]] * 2


def collatz(x):
    steps = odds = 0
    while x > 1:
        x, odds = (3 * x + 1, odds + 1) if x % 2 else (x // 2, odds)
        steps += 1
    return steps, odds


@LANES
def test_if_in_while_in_scan(W):
    """Against the same loops in Python; whole numbers, so equality."""
    tree, sizes = nested()
    program = Program(tree, sizes, W=W, streams={"row": 1, "out": 1}, counts=["rows"])
    workspace = program.workspace()
    workspace["first"] = np.arange(W)[None] if W > 1 else 0
    rows = np.array([27.0, 1, 6, 9, 97])
    out = np.full((5, 1) + (W,) * (W > 1), -1.0)
    row = np.broadcast_to(rows.reshape((5, 1) + (1,) * (W > 1)), out.shape)
    program.run(workspace, {"row": row, "out": out}, {"rows": 5})
    expected = [[collatz(int(r) + lane) for r in rows] for lane in range(W)]
    assert np.array_equal(out.reshape(5, W).T, np.cumsum([[s for s, _ in e] for e in expected], axis=1))
    assert np.array_equal(workspace["odds"].ravel(), [sum(o for _, o in e) for e in expected])


@pytest.mark.parametrize("seed", range(4))
def test_lanes_equal_scalars_to_the_last_bit(seed):
    """The same operations in the same order: masks choose what is stored and never change a value."""
    sizes = {"x": 3, "y": 1, "busy": 1, "low": 1}
    look = kernel(lambda x, y: (ca.sumsqr(x) * y > 1e-3, ca.sum1(x) < 0), "x y", "busy low", sizes)
    turn = kernel(
        lambda x, y: (0.95 * ca.vertcat(x[1], x[2] - x[0] / 3, 0.7 * x[0]), y * 0.99), "x y", "x y", sizes
    )
    flip = kernel(lambda x: -x / (1 + ca.sumsqr(x)), "x", "x", sizes)
    tree = [look, While("busy", [turn, If("low", flip), look], 60)]
    rng = np.random.default_rng(seed)
    inputs = {"x": rng.normal(size=(3, 16 * WIDE)), "y": rng.uniform(0.1, 9, (1, 16 * WIDE))}
    scalar, lanes = run(tree, sizes, inputs), run(tree, sizes, inputs, WIDE)
    assert len(np.unique(scalar["y"] / inputs["y"])) > 3  # the lanes did leave at different times
    for n in sizes:
        assert np.array_equal(scalar[n], lanes[n]), n


# Streams and tables


@LANES
def test_scan_moves_streams_by_rows(W):
    """out[k] = sum of rows 3k .. 3k+2 of in."""
    sizes = {"s": 2}
    clear = kernel(lambda: ca.SX.zeros(2), [], "s", sizes)
    add = kernel(lambda s, x: s + x, "s in", "s", sizes | {"in": 2})
    save = kernel(lambda s: s, "s", "out", sizes | {"out": 2})
    tree = Scan("frames", [clear, Scan("every", add, ["in"]), save], {"in": "every", "out": 1})
    program = Program(tree, sizes, W=W, streams={"in": 2, "out": 2}, counts=("frames", "every"))
    tail = (2, W) if W > 1 else (2,)
    x, out = np.arange(12.0 * np.prod(tail)).reshape(12, *tail), np.full((4, *tail), np.nan)
    program.run(program.workspace(), {"in": x, "out": out}, {"frames": 4, "every": 3})
    assert np.array_equal(out, x.reshape(4, 3, *tail).sum(1))

    with pytest.raises(ShapeError, match="'in': has 11 rows, the program needs 12"):
        program.run(program.workspace(), {"in": x[:11], "out": out}, {"frames": 4, "every": 3})
    untouched = np.full((0, *tail), np.nan)
    program.run(program.workspace(), {"in": untouched, "out": untouched}, {"frames": 0, "every": 3})


BAD = [-1.0, 4.0, np.nan, np.inf, -np.inf, 1e300, -1e-300, 2.0**63]
NEAREST = [0, 3, 0, 3, 0, 3, 0, 3]


@LANES
@pytest.mark.parametrize("kind", ["lanes", "shared", "slice"])
def test_get_stays_inside_its_table(W, kind):
    """Good rows are read as they are; bad ones give the nearest row, or the first, and a status."""
    sizes = {"i": 1, "x": 2, "table": 8}
    index = np.array([[0, 1.9, 3, 2, *BAD[:4]], [*BAD[4:], 0, 1, 2, 3]]).reshape(1, 16)
    table = np.arange(8.0).reshape(4, 2)
    if kind == "slice":
        y = run(Get("table", "i", "x"), sizes, {"i": index, "table": np.tile(table.reshape(8, 1), 16)}, W)
    else:
        memory = np.full((6, 2) + (W,) * (W > 1 and kind == "lanes"), np.nan)  # rows around the table
        memory[1:5] = table if memory.ndim == 2 else table[:, :, None]
        streams = {"t": (Stream(2, shared=kind == "shared"), memory[1:5])}
        y = run(Get("t", "i", "x"), sizes, {"i": index}, W, streams)
    rows = [0, 1, 3, 2, *NEAREST[:4], *NEAREST[4:], 0, 1, 2, 3]
    assert np.array_equal(y["x"], table[rows].T)
    assert y["status"].tolist() == [[0] * 4 + [LaneStatus.INDEX] * 8 + [0] * 4]


@LANES
def test_put_writes_only_rows_that_exist(W):
    sizes = {"i": 1, "x": 2, "f": 1}
    tree = If("f", Put("x", "t", "i"))
    memory = np.full((6, 2) + (W,) * (W > 1), -7.0)
    index = np.array([[1.0, 3, *BAD, 0, 2, 2, 2, 2, 2]])
    x = np.arange(32.0).reshape(2, 16)
    f = np.ones((1, 16))
    f[0, 12:] = 0
    y = run(tree, sizes, {"i": index, "x": x, "f": f}, W, {"t": (2, memory[1:5])})
    expected = np.full((6, 2, W), -7.0)
    for lane in (0, 1, 10, 11):
        expected[1 + int(index[0, lane]), :, lane % W] = x[:, lane]
    assert np.array_equal(memory.reshape(expected.shape), expected)
    assert y["status"].tolist() == [[0, 0] + [LaneStatus.INDEX] * 8 + [0] * 6]


@LANES
def test_empty_table(W):
    sizes = {"i": 1, "x": 2}
    empty = np.empty((0, 2) + (W,) * (W > 1))
    y = run(
        [Get("t", "i", "x"), Put("x", "t", "i")],
        sizes,
        {"i": np.zeros((1, 8)), "x": np.full((2, 8), 3.0)},
        W,
        {"t": (2, empty)},
    )
    assert (y["x"] == 3).all()
    assert (y["status"] == LaneStatus.INDEX).all()


@LANES
def test_put_per_lane_collects_results_that_come_at_different_times(W):
    """Each lane writes its own rows: powers of 2 below a bound of its own."""
    sizes = {"bound": 1, "x": 1, "n": 1, "busy": 1}
    test = kernel(lambda x, b: x < b, "x bound", "busy", sizes)
    start = kernel(lambda: ca.SX(1), [], "x", sizes)
    step = kernel(lambda x, n: (2 * x, n + 1), "x n", "x n", sizes)
    tree = [start, test, While("busy", [Put("x", "out", "n"), step, test], 100)]
    program = Program(tree, sizes, W=W, streams={"out": 1})
    workspace, out = program.workspace(), np.zeros((20, 1) + (W,) * (W > 1))
    bounds = np.array([1.0, 2, 5, 1000, 3, 17, 16, 0.5])[:W]
    workspace["bound"] = bounds[None] if W > 1 else bounds
    program.run(workspace, {"out": out})
    for lane, bound in enumerate(bounds):
        powers = [2.0**k for k in range(12) if 2.0**k < bound]
        assert out.reshape(20, W)[: len(powers) + 1, lane].tolist() == [*powers, 0]


# Outside functions


@LANES
def test_dgesv_in_active_lanes_only(W):
    """LAPACK per lane; a lane that is masked out keeps its slices."""
    n, rng = 4, np.random.default_rng(5)
    sizes = {"f": 1, "A": n * n, "b": n, "pivots": n, "info": 1}
    tree = If("f", Call("dgesv", (n, 1, "A", n, Ints("pivots"), "b", n, Ints("info"))))
    A, b = rng.normal(size=(8, n, n)), rng.normal(size=(8, n))
    A[5, :, 2] = 0  # singular: info says in which column
    f = np.array([[1, 0, 1, 1, 1, 1, 0, 1.0]])
    inputs = {"f": f, "A": A.transpose(0, 2, 1).reshape(8, -1).T, "b": b.T, "info": np.full((1, 8), 9.0)}
    y = run(tree, sizes, inputs, W)
    assert y["info"].tolist() == [[0, 9, 0, 0, 0, 3, 9, 0]]
    for lane in (0, 2, 3, 4, 7):
        expected = np.linalg.solve(A[lane], b[lane])
        # both are backward stable: they differ by a few n eps cond
        tolerance = 4 * n * EPS * np.linalg.cond(A[lane]) * np.abs(expected).max()
        np.testing.assert_allclose(y["b"][:, lane], expected, rtol=0, atol=tolerance)
    for lane in (1, 6):
        assert np.array_equal(y["b"][:, lane], b[lane])


@LANES
def test_dgelsy_gives_the_minimum_norm_solution(W):
    m, rng = 3, np.random.default_rng(6)
    sizes = {"A": m * m, "b": m, "jpvt": m, "rank": 1, "work": 8 * m + 64, "info": 1}
    work = ("work", sizes["work"], Ints("info"))
    tree = Call("dgelsy", (m, m, 1, "A", m, "b", m, Ints("jpvt"), 1e-10, Ints("rank"), *work))
    G = rng.normal(size=(8, m, 2))
    A, b = G @ G.transpose(0, 2, 1), rng.normal(size=(8, m))
    y = run(tree, sizes, {"A": A.reshape(8, -1).T, "b": b.T}, W)
    assert (y["rank"] == 2).all()
    for lane in range(8):
        expected = np.linalg.lstsq(A[lane], b[lane], rcond=1e-10)[0]
        s = np.linalg.svd(A[lane], compute_uv=False)
        # b is not in the range of A: errors grow with the square of the condition of the part that is kept
        tolerance = 10 * m * EPS * (s[0] / s[1]) ** 2 * np.abs(b[lane]).max() / s[1]
        np.testing.assert_allclose(y["b"][:, lane], expected, rtol=0, atol=tolerance)


def test_constants_of_every_kind_reach_lapack():
    """dgemv: y <- alpha A' x + beta y, with a character, integers and floats by address."""
    sizes = {"A": 6, "x": 3, "y": 2}
    tree = Call("dgemv", (b"T", 3, 2, 2.5, "A", 3, "x", 1, -1.0, "y", 1))
    A, x, y = np.arange(6.0).reshape(3, 2), np.array([1.0, -2, 3]), np.array([10.0, 20])
    result = run(tree, sizes, {"A": A.T.reshape(6, 1), "x": x[:, None], "y": y[:, None]})["y"][:, 0]
    assert result.tolist() == (2.5 * A.T @ x - y).tolist()  # small whole numbers: exact


@LANES
def test_outside_function_by_address(W):
    """A Python function through ctypes, called once for each lane."""
    seen = []

    @ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int))
    def square(x, n):
        seen.append(x[0])
        for i in range(n[0]):
            x[i] = x[i] ** 2

    tree, sizes = Call("square", ("x", 2)), {"x": 2}
    address = ctypes.cast(square, ctypes.c_void_p).value
    x = np.arange(16.0).reshape(2, 8)
    assert np.array_equal(run(tree, sizes, {"x": x}, W, symbols={"square": address})["x"], x**2)
    assert seen == x[0].tolist()
    packed = Program(tree, sizes, symbols={"square": address}).pack()
    with pytest.raises(NativeError, match=r"calls \['square'\]"):
        Program.unpack(*packed)
    again = Program.unpack(*packed, symbols={"square": address})
    workspace = again.workspace()
    workspace["x"] = [3, 4]
    again.run(workspace)
    assert workspace["x"].tolist() == [9, 16]


# Functions compiled once


@LANES
def test_a_function_used_in_many_places_is_compiled_once(W):
    f = ca.Function("square_plus_one", [x := ca.SX.sym("x", 2)], [x * x + 1])
    k = [
        Kernel(f, ("a",), ("b",)),
        Kernel(f, ("b",), ("a",)),
        If("f", Kernel(ca.Function(f), ("a",), ("a",))),
    ]
    program = Program(k, {"a": 2, "b": 2, "f": 1}, W=W)
    assert program.text.count("square_plus_one(") == 1 + 3  # one definition, three calls
    workspace = program.workspace()
    workspace["a"], workspace["f"] = [1, 2], 1
    program.run(workspace)
    assert workspace["a"].reshape(2, W)[:, 0].tolist() == [26, 677]  # 1, 2, 5, 26 and 2, 5, 26, 677


@LANES
def test_kernel_compiled_elsewhere_is_linked_by_its_symbol(W):
    """One object in two programs, one of them under a mask; it travels with the pack."""
    x, p = ca.SX.sym("x", 2), ca.SX.sym("p")
    rhs = compile_kernel(ca.Function("rhs", [x, p], [ca.vertcat(x[1], -p * x[0])]), "shared_rhs", W)
    sizes = {"x": 2, "p": 1, "f": 1}
    once = Program(Kernel(rhs, ("x", "p"), ("x",)), sizes, W=W)
    masked = Program(If("f", [Kernel(rhs, ("x", "p"), ("x",))] * 2), sizes, W=W)
    assert "define void @shared_rhs" not in once.text + masked.text
    for program, expected in ((once, [2, -3]), (Program.unpack(*masked.pack()), [-3, -6])):
        workspace = program.workspace()
        workspace["x"], workspace["p"], workspace["f"] = [1, 2], 3, 1
        program.run(workspace)
        assert workspace["x"].reshape(2, W)[:, -1].tolist() == expected
    with pytest.raises(DescriptionError, match=f"compiled for {W} lanes, the program has {W + 1}"):
        Program(Kernel(rhs, ("x", "p"), ("x",)), sizes, W=W + 1)


def test_large_kernels_share_one_scratch():
    """A straight line that is cut into parts keeps its values in the workspace's scratch, not in someone's
    slice."""
    x = ca.SX.sym("x", 3)
    y = [x]
    for i in range(300):  # 2,700 operations: three parts
        y.append(ca.sqrt(y[-1] * y[-1] + y[i // 2]))
    f = ca.Function("long", [x], [sum(y[1:]), y[-1]])
    tree = [Kernel(f, ("x",), ("y", "z")), Kernel(f, ("y",), ("x", "z"))]
    program = Program(tree, {"x": 3, "y": 3, "z": 3, "end": 3}, contract=False)
    workspace = program.workspace()
    workspace["x"], workspace["end"] = [1, 2, 3], [7, 8, 9]
    program.run(workspace)
    first, _ = f([1, 2, 3])
    second, last = f(first)
    # + * sqrt without contraction are CasADi's own
    assert workspace["x"].tolist() == second.full().ravel().tolist()
    assert workspace["z"].tolist() == last.full().ravel().tolist()
    assert workspace["end"].tolist() == [7, 8, 9]
