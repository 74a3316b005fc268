"""Passes of kernels over rows against the same recursions written plainly in NumPy; no mechanics here."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from condyle.errors import NativeError
from condyle.native.calls.native_function import NativeFunction
from condyle.native.loops.sweep import RowKernel, RowPass, StraightStep, TableSweep
from condyle.native.tables.lookup import look_up
from condyle.native.tables.lookup_table import LookupTable

# rows; states: some blocks of lanes and a part of one
N, STATES = 23, 21
# Sums of at most N products of numbers near 1.
ROUNDING = 100 * np.finfo(float).eps


def sym(name, n=1):
    return ca.SX.sym(name, n)


class Case:
    """A random tree of rows of three types: the root, rows with one number of x and rows with two."""

    def __init__(self, seed: int = 0, n: int = N) -> None:
        rng = np.random.default_rng(seed)
        self.n = n
        self.parents = np.array([0, *(int(rng.integers(max(0, i - 4), i)) for i in range(1, n))])
        self.types = np.array([0, *rng.integers(1, 3, n - 1)])
        sizes = np.where(self.types == 2, 2, self.types)
        self.offset = np.cumsum(sizes) - sizes
        self.gain = rng.uniform(0.5, 1.0, (n, 1))
        self.nx = int(sizes.sum())
        self.x = rng.uniform(-1, 1, (STATES, self.nx))
        self.bias = rng.uniform(-1, 1, (STATES, 2))
        self.arguments, self.results = [("x", self.nx), ("bias", 2)], [("y", n), ("total", 1)]
        self.windows = {
            "x": ("x", self.offset),
            "bias": ("bias", 0),
            "y": ("y", np.arange(n)),
            "total": ("total", 0),
        }

    def rows(self, steps, **changes) -> TableSweep:
        made = {
            "types": self.types,
            "parents": self.parents,
            "constants": {"gain": self.gain},
            "windows": self.windows,
            "arguments": self.arguments,
            "results": self.results,
            **changes,
        }
        return TableSweep(**made, steps=steps)

    def outward(self) -> RowPass:
        """a = gain a_parent + f(x), the root has bias 0; also left for a later pass: half of x."""

        def kernel(n, f):
            x, a, gain = sym("x", n), sym("a"), sym("gain")
            return RowKernel(
                {"x": x, "parent.a": a, "constant.gain": gain}, {"me.a": gain * a + f(x), "me.half": x / 2}
            )

        bias = sym("bias", 2)
        return RowPass(
            [
                RowKernel({"bias": bias}, {"me.a": bias[0], "me.s": ca.SX(0.0)}),
                kernel(1, ca.sin),
                kernel(2, lambda x: x[0] * x[1]),
            ]
        )

    def inward(self) -> RowPass:
        """Each row adds a and its halves to the sum s of its parent; y is the sum of what hangs from a row,
        itself included."""

        def kernel(n):
            a, half, s, up = sym("a"), sym("half", n), sym("s"), sym("up")
            own = a + ca.sum1(half) + s
            return RowKernel(
                {"me.a": a, "me.half": half, "me.s": s, "parent.s": up}, {"parent.s": up + own, "y": own}
            )

        s, a = sym("s"), sym("a")
        return RowPass(
            [RowKernel({"me.s": s, "me.a": a}, {"y": s + a}), kernel(1), kernel(2)], backwards=True
        )

    def zero(self) -> RowPass:
        """s = 0 everywhere."""
        return RowPass([RowKernel({}, {"me.s": ca.SX(0.0)})] * 3)

    def expected(self, extra: dict[int, np.ndarray] | None = None) -> np.ndarray:
        a, s = np.zeros((self.n, STATES)), np.zeros((self.n, STATES))
        parts = [self.x[:, o : o + t].T for o, t in zip(self.offset, self.types)]
        a[0] = self.bias[:, 0]
        for i in range(1, self.n):
            x = parts[i]
            a[i] = self.gain[i] * a[self.parents[i]] + (np.sin(x[0]) if len(x) == 1 else x[0] * x[1])
        for i, value in (extra or {}).items():
            a[i] += value
        for i in range(self.n - 1, 0, -1):
            s[i] += a[i] + parts[i].sum(0) / 2
            s[self.parents[i]] += s[i]
        s[0] += a[0]
        return s.T


def run(rows: TableSweep, arrays, how: str):
    sides = {"inputs": list(rows.arguments), "outputs": list(rows.results)}
    f = NativeFunction(
        "rows", lambda: rows, key=f"{id(rows)} {np.random.default_rng().integers(2**62)}", **sides
    )
    f._evaluator._casadi = how == "interpreted"
    if how != "scalar":
        return f(*arrays)
    each = [f.fast(*(a[k] for a in arrays)) for k in range(len(arrays[0]))]
    return tuple(np.stack(y) for y in zip(*each))


HOW = pytest.mark.parametrize("how", ["interpreted", "scalar", "lanes"])


@HOW
@pytest.mark.parametrize("seed", [0, 1])
def test_two_passes(seed, how):
    case = Case(seed)
    rows = case.rows([case.zero(), case.outward(), case.inward()])
    y, _ = run(rows, (case.x, case.bias), how)
    np.testing.assert_allclose(y, case.expected(), rtol=0, atol=ROUNDING * N)


@HOW
def test_a_line_reads_and_writes_some_rows(how):
    case = Case(2)
    a5, a9, bias = sym("a5"), sym("a9"), sym("bias", 2)
    line = StraightStep(
        {(5, "a"): a5, (9, "a"): a9, "bias": bias}, {(9, "a"): a9 + bias[1] * a5, "total": a5 * bias[0]}
    )
    y, total = run(case.rows([case.zero(), case.outward(), line, case.inward()]), (case.x, case.bias), how)
    a = case_a(case)
    np.testing.assert_allclose(y, case.expected({9: case.bias[:, 1] * a[5]}), rtol=0, atol=ROUNDING * N)
    np.testing.assert_allclose(total[:, 0], a[5] * case.bias[:, 0], rtol=0, atol=ROUNDING)


def case_a(case: Case) -> np.ndarray:
    """a of each row: y less what children and halves add."""
    y = case.expected().T
    out = y.copy()
    for i in range(1, case.n):
        out[i] -= case.x[:, case.offset[i] : case.offset[i] + case.types[i]].sum(1) / 2
        out[case.parents[i]] -= y[i]
    return out


@HOW
def test_sums_in_the_root(how):
    case = Case(3)

    def kernel(n):
        x, t = sym("x", n), sym("t")
        return RowKernel({"x": x, "root.t": t}, {"root.t": t + ca.sum1(x)})

    t = sym("t")
    steps = [
        RowPass([RowKernel({}, {"me.t": ca.SX(0.0)}), kernel(1), kernel(2)]),
        StraightStep({(0, "t"): t}, {"total": t}),
    ]
    _, total = run(case.rows(steps), (case.x, case.bias), how)
    np.testing.assert_allclose(total[:, 0], case.x.sum(1), rtol=0, atol=ROUNDING)


@HOW
def test_structural_zeros_are_not_kept(how):
    case = Case(5)
    sparse = ca.SX(ca.Sparsity.diag(3), sym("d", 3))
    steps = [
        RowPass([None, RowKernel({"x": (x := sym("x"))}, {"me.D": x * ca.SX.eye(3)}), None]),
        RowPass([None, RowKernel({"me.D": sparse}, {"y": ca.sum1(ca.sum2(sparse))}), None]),
    ]
    rows = case.rows(steps)
    assert rows.layout[1]["D"] == slice(0, 3)
    y, _ = run(rows, (case.x, case.bias), how)
    mine = np.flatnonzero(case.types == 1)
    np.testing.assert_allclose(y[:, mine], 3 * case.x[:, case.offset[mine]], rtol=0, atol=ROUNDING)


@HOW
def test_a_copy_is_taken_before_its_place_is_written(how):
    """b takes a as it was while a is written early; c and d change places."""
    n = 5
    x, a, b, c, d = (sym(name) for name in "xabcd")
    begin = RowKernel({"x": x}, {"me.a": x, "me.b": x + 1, "me.c": x + 2, "me.d": x + 3})
    change = RowKernel(
        {"me.a": a, "me.b": b, "me.c": c, "me.d": d}, {"me.a": ca.sin(a) * c, "me.b": a, "me.c": d, "me.d": c}
    )
    end = RowKernel({"me.a": a, "me.b": b, "me.c": c, "me.d": d}, {"y": ca.vertcat(a, b, c, d)})
    rows = TableSweep(
        np.zeros(n, dtype=int),
        np.zeros(n, dtype=int),
        {},
        {"x": ("x", np.arange(n)), "y": ("y", 4 * np.arange(n)), "total": ("total", 0)},
        [("x", n)],
        [("y", 4 * n), ("total", 1)],
        [RowPass([k]) for k in (begin, change, end)],
    )
    values = np.random.default_rng(0).uniform(-1, 1, (STATES, n))
    y, _ = run(rows, (values,), how)
    expected = np.stack([np.sin(values) * (values + 2), values, values + 3, values + 2], axis=-1)
    np.testing.assert_allclose(y.reshape(STATES, n, 4), expected, rtol=0, atol=ROUNDING)


@HOW
def test_look_ups_in_kernels(how):
    case = Case(6)
    table = LookupTable.from_rows(np.random.default_rng(6).uniform(-1, 1, (7, 2)))
    x, gain = sym("x"), sym("gain")
    row = look_up(table, 3 * x + 3)
    kernel = RowKernel({"x": x, "constant.gain": gain}, {"y": gain * (row[0] + row[1] * x)})
    rows = case.rows([RowPass([None, kernel, None])])
    y, _ = run(rows, (case.x, case.bias), how)
    mine = np.flatnonzero(case.types == 1)
    at = case.x[:, case.offset[mine]]
    found = table.rows[np.floor(3 * at + 3).astype(int)]
    np.testing.assert_allclose(
        y[:, mine], case.gain[mine, 0] * (found[..., 0] + found[..., 1] * at), rtol=0, atol=ROUNDING
    )


def test_long_kernels_travel_through_work():
    """More operations than one function holds, in a type's kernel."""
    case = Case(7)
    x = sym("x")
    y = x
    for k in range(1500):
        y = ca.sin(y + k) * 0.9 + x
    rows = case.rows([RowPass([None, RowKernel({"x": x}, {"y": y}), None])])
    mine = np.flatnonzero(case.types == 1)
    expected = run(rows, (case.x, case.bias), "interpreted")[0][:, mine]
    # Each step shrinks errors by 0.9 and adds one rounding of numbers below 3.
    for how in ("scalar", "lanes"):
        np.testing.assert_allclose(
            run(rows, (case.x, case.bias), how)[0][:, mine], expected, rtol=0, atol=10 * ROUNDING
        )


@pytest.mark.parametrize("reads", ["parent.a", "parent.b"])
def test_rows_of_one_state_side_by_side(reads):
    """Rows that need what others have left before run in lanes, equal to the last bit; those that need what
    others leave in the same pass one after the other."""
    from condyle.native.ir.module import Module

    case = Case(5)
    x, up, root, gain, a = (sym(name) for name in ("x", "up", "root", "gain", "a"))
    b = a
    for _ in range(9):
        b = ca.exp(-((b * gain + up) ** 2)) + ca.sin(x + root) / (2 + x**2)
    heavy = RowKernel(
        {"x": x, reads: up, "root.a": root, "constant.gain": gain, "me.a": a}, {"me.b": b, "y": b}
    )
    start = RowPass([RowKernel({}, {"me.b": ca.SX(0.5)})] * 3)
    rows = case.rows([case.outward(), start, RowPass([None, heavy, None])])
    module = Module(1)
    rows.emit(module, "f")
    assert ("@f.s2.t1.order" in module.text()) == (reads == "parent.a")
    ways = [
        run(rows, (case.x, case.bias), how)[0][:, case.types == 1]
        for how in ("scalar", "lanes", "interpreted")
    ]
    np.testing.assert_array_equal(ways[0], ways[1])
    np.testing.assert_allclose(ways[0], ways[2], rtol=0, atol=ROUNDING * N)


def test_machine_code_does_not_grow_with_rows():
    from condyle.native.ir.module import Module

    kernels = []
    for n in (10, 1000):
        case = Case(8, n)
        case.types[1:3] = 1, 2
        module = Module(1)
        case.rows([case.zero(), case.outward(), case.inward()]).emit(module, "f")
        kernels.append(
            "\n".join(line for line in module.text().splitlines() if not line.startswith("@")).count("\n")
        )
    assert kernels[0] == kernels[1]


def test_refusals():
    case = Case(9)
    x = sym("x")
    with pytest.raises(NativeError, match="parent must come before"):
        case.rows([], parents=np.roll(case.parents, -1) + 1)
    with pytest.raises(NativeError, match="no window 'z'"):
        case.rows([RowPass([None, RowKernel({"z": x}, {"y": x}), None])]).merged(0)
    with pytest.raises(NativeError, match="field 'a' has sizes 1 and 2"):
        case.rows(
            [
                RowPass([None, RowKernel({"x": x}, {"me.a": x}), None]),
                RowPass([None, RowKernel({"me.a": (a := sym("a", 2))}, {"y": a[0]}), None]),
            ]
        ).merged(0)
    with pytest.raises(NativeError, match="constant 'gain' has 1 numbers per row, a kernel reads 2"):
        case.rows(
            [RowPass([None, RowKernel({"constant.gain": (g := sym("g", 2))}, {"y": g[0]}), None])]
        ).merged(0)
    from condyle.native.ir.module import Module

    with pytest.raises(NativeError, match="no argument 'elsewhere'"):
        case.rows(
            [RowPass([None, RowKernel({"x": x}, {"y": x}), None])],
            windows={"x": ("elsewhere", 0), "y": ("y", 0)},
        ).emit(Module(1), "f")


# ---- Links -------------------------------------------------------------------------------------------------


def pulled(stretch, stiff, terms: int):
    """What a spring pulls with: a line, or a series of so many terms."""
    pull = stiff * stretch + 1
    for _ in range(terms):
        pull = 0.1 * pull * stretch + 1
    return pull


def linked(
    case: Case, springs: int, seed: int, terms: int = 0
) -> tuple[TableSweep, np.ndarray, np.ndarray, np.ndarray]:
    """Rows of a fourth type, each with links a and b to rows of the tree; both may lead to one row."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, case.n, (2, springs))
    b[: springs // 3] = a[: springs // 3]
    k, none = rng.uniform(0.5, 1.0, (springs, 1)), np.full(case.n, -1)
    types, parents = (
        np.concatenate([case.types, np.full(springs, 3)]),
        np.concatenate([case.parents, np.zeros(springs, int)]),
    )
    x_a, x_b, stiff = sym("x_a"), sym("x_b"), sym("k")
    pull = pulled(x_b - x_a, stiff, terms)
    spring = RowKernel({"a.a": x_a, "b.a": x_b, "constant.k": stiff}, {}, {"a.s": pull, "b.s": 2 * pull})
    steps = [RowPass([*p.kernels, None], p.backwards) for p in (case.zero(), case.outward())]
    steps += [RowPass([None, None, None, spring]), RowPass([*case.inward().kernels, None], True)]
    windows = {
        name: (argument, np.concatenate([np.broadcast_to(at, case.n), np.zeros(springs, int)]))
        for name, (argument, at) in case.windows.items()
    }
    rows = case.rows(
        steps,
        types=types,
        parents=parents,
        windows=windows,
        constants={
            "gain": np.concatenate([case.gain, np.ones((springs, 1))]),
            "k": np.concatenate([np.ones((case.n, 1)), k]),
        },
        links={"a": np.concatenate([none, a]), "b": np.concatenate([none, b])},
    )
    return rows, a, b, k


@HOW
@pytest.mark.parametrize("terms", [0, 9])  # with nine, rows of one state run side by side
def test_links_lead_to_any_rows_and_sums_lose_nothing(how, terms):
    """Each spring adds to the rows a and b, also where these are one."""
    case = Case(5)
    rows, a, b, k = linked(case, 17, 6, terms)
    value, extra = case_a(case), {i: np.zeros(STATES) for i in range(case.n)}
    for i, j, stiff in zip(a.tolist(), b.tolist(), k):
        pull = pulled(value[j] - value[i], stiff, terms)
        extra[i] = extra[i] + pull
        extra[j] = extra[j] + 2 * pull
    y, _ = run(rows, (case.x, case.bias), how)
    np.testing.assert_allclose(y, case.expected(extra), rtol=0, atol=ROUNDING * N)


def test_a_link_that_leads_nowhere_is_refused():
    rows = linked(Case(5), 4, 6)[0]
    with pytest.raises(NativeError, match="link 'a' leads to rows"):
        TableSweep(
            rows.types,
            rows.parents,
            rows.constants,
            rows.windows,
            rows.arguments,
            rows.results,
            rows.steps,
            {"a": np.full(len(rows.types), 99)},
        )
