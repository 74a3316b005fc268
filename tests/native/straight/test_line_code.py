"""Straight lines as machine code at once: the same bits as LLVM's."""

from __future__ import annotations

import ctypes
import itertools

import casadi as ca
import numpy as np
import pytest

from condyle.errors import NativeError
from condyle.native.ir.module import Module
from condyle.native.machine import jit
from condyle.native.straight import line_code
from condyle.native.straight.kernel_writer import add_kernel
from tests.native.straight.kernels import Kernels

pytestmark = pytest.mark.skipif(not line_code.available(True), reason="another processor or system")

UNARY = [ca.sqrt, ca.fabs, ca.floor, ca.ceil, ca.sin, ca.cos, ca.exp, ca.log, ca.tanh, ca.sign, ca.erfinv]
IN_LINES = [ca.fmin, ca.fmax, ca.atan2, ca.power, ca.hypot]
BINARY = [*IN_LINES, ca.copysign]  # alone: the sign of a NaN that was computed is not kept


def line(seed: int, inputs: int, operations: int, hard: float) -> ca.Function:
    """Random operations on random earlier values, near and far; a share of them is not + - *."""
    rng = np.random.default_rng(seed)
    x = [ca.SX.sym(f"x{k}", 3) for k in range(inputs)]
    values = [v for each in x for v in ca.vertsplit(each)] + [ca.SX(c) for c in (0.0, 1.5, -2.0, np.inf)]

    def some() -> ca.SX:
        back = int(rng.integers(1, 20) if rng.random() < 0.7 else rng.integers(1, len(values) + 1))
        return values[-min(back, len(values))]

    for _ in range(operations):
        a, b, c = some(), some(), some()
        if rng.random() < hard:
            kind = rng.integers(6)
            if kind == 0:
                new = UNARY[rng.integers(len(UNARY))](a)
            elif kind == 1:
                new = IN_LINES[rng.integers(len(IN_LINES))](a, b)
            elif kind == 2:
                new = ca.if_else(ca.logic_and(a < b, ca.logic_not(b <= c)), a, c)
            elif kind == 3:
                new = a / b + ca.if_else(a == c, b, 0)
            elif kind == 4:
                new = (a < b) + ca.logic_or(b != c, a) * c
            else:
                new = -a + 1 / b
        else:
            new = [a + b, a - b, a * b, a * b + c, a - b * c, a * b - c, a * a + b, 2 * a][rng.integers(8)]
        values.append(new)
    outputs = [ca.vertcat(*values[-40:]), ca.vertcat(x[0], some(), 3.0), ca.vertcat(*values[12::37])]
    return ca.Function("line", x, outputs)


def each_alone() -> ca.Function:
    """Every operation of two numbers, for ten pairs: in lines that go on most values end as NaN or infinite."""
    x = [ca.SX.sym(f"x{k}", 3) for k in range(20)]
    results = []
    for a, b in zip(x[::2], x[1::2], strict=True):
        results += [f(a) for f in UNARY] + [f(a, b) for f in BINARY]
        results += [1 / a, -a, a + b, a - b, a * b, a / b, a * b + a, a < b, a <= b, a == b, a != b]
    return ca.Function("each", x, [ca.vertcat(*results)])


WAYS = [
    (True, 32, 1),
    (False, 32, 1),
    (True, 16, 1),
    (True, 32, 8),
    (False, 32, 8),
    (True, 32, 4),
    (True, 16, 4),
]


@pytest.mark.parametrize(("contract", "registers", "lanes"), WAYS)
def test_the_same_bits(contract: bool, registers: int, lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many and few arguments, calls or none, numbers of every kind; with 32 registers and with 16; for one
    state and for several side by side."""
    count = min(registers, line_code._registers())
    monkeypatch.setattr(line_code, "_registers", lambda: count)
    if not line_code.available(contract, lanes):
        pytest.skip("another processor")
    inputs = [1, 4, 16, 13, 7, 5]
    functions = [line(k, inputs[k], 400 + 100 * k, 0.3 * (k % 2)) for k in range(6)]
    functions.append(each_alone())
    rng = np.random.default_rng(1)
    ours, theirs = (Kernels(functions, lanes, contract, lines=lines) for lines in (True, False))
    assert "define" not in ours.text and "define" in theirs.text  # these are not LLVM's
    odd = [0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, 5e-324, 1e300, -1e-300]
    for i, f in enumerate(functions):
        x = [rng.normal(size=(60, 3)) for _ in range(f.n_in())]
        for each in x:
            each[30:] = np.where(rng.random((30, 3)) < 0.4, rng.choice(odd, (30, 3)), each[30:])
        for got, expected in zip(ours(i, *x), theirs(i, *x), strict=True):
            nan = np.isnan(expected)  # whose sign and payload are not kept
            assert (np.isnan(got) == nan).all()
            np.testing.assert_array_equal(got[~nan].view(np.int64), expected[~nan].view(np.int64))


def test_an_output_in_the_place_of_an_input() -> None:
    """All is read before anything is written."""
    x = ca.SX.sym("x", 300)
    f = ca.Function("f", [x], [ca.vertcat(x[1:], x[0]) * 2 + x[::-1]])
    kernels, values = Kernels([f], lines=True), np.random.default_rng(0).normal(size=300)
    expected = kernels(0, values[None])[0][0]
    work, both = np.zeros(kernels.work[0] + 1), values.copy()
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(kernels.library.address("k0"))
    call(both.ctypes.data, both.ctypes.data, work.ctypes.data)
    np.testing.assert_array_equal(both, expected)
    np.testing.assert_allclose(expected, np.array(f(values))[:, 0], rtol=1e-15, atol=1e-15)  # one rounding


@pytest.mark.parametrize("lanes", [1, 8])
def test_tables_where_there_are_many_arguments(lanes: int) -> None:
    """A register is stored while the address of a table is at hand; where `work` begins is on the stack."""
    if not line_code.available(True, lanes):
        pytest.skip("another processor")
    x = [ca.SX.sym(f"x{k}", 3) for k in range(9)]
    values = [v for each in x for v in ca.vertsplit(each)]
    kept = [a * b for a, b in itertools.pairwise(values)]  # more than registers hold
    below = [kept[0] < c for c in (-1.0, -0.5, 0.0, 0.5, 1.0)]

    def chosen(leaves: list[float]) -> ca.SX:
        value = ca.SX(leaves[-1])
        for c, leaf in zip(reversed(below), reversed(leaves[:-1])):
            value = ca.if_else(c, leaf, value)
        return value

    picked = [chosen(list(np.random.default_rng(k).normal(size=6))) for k in range(90)]
    mixed = [p * k + q for p, k, q in zip(picked, kept * 4, reversed(picked))]
    f = ca.Function("f", x, [ca.densify(ca.vertcat(*picked, *mixed, *kept, *values))])
    rng = np.random.default_rng(2)
    given = [rng.normal(size=(80, 3)) for _ in x]
    ours, theirs = (Kernels([f], lanes, lines=lines) for lines in (True, False))
    assert "define" not in ours.text
    got, expected = ours(0, *given)[0], theirs(0, *given)[0]
    np.testing.assert_array_equal(got.view(np.int64), expected.view(np.int64))


@pytest.mark.parametrize(("registers", "lanes"), [(32, 8), (32, 4), (16, 4)])
def test_one_number_for_all_lanes(registers: int, lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an input that is the same for all lanes there is one number, read alone or by what it takes part in;
    and what a mask leaves out of a sum, a difference or a product is zero."""
    count = min(registers, line_code._registers())
    monkeypatch.setattr(line_code, "_registers", lambda: count)
    if not line_code.available(True, lanes):
        pytest.skip("another processor")
    a, x = ca.SX.sym("a", 60), ca.SX.sym("x", 60)
    kept = [
        ca.if_else(a[k] < x[k], y, 0) for k, y in enumerate((x[1] / a[1], a[2] * x[2] + x[3], ca.sqrt(a[4])))
    ]
    y = [ca.cumsum(a * x) + a, a[::-1] - x * a, kept[0] - kept[1], kept[2] + x[0], x[5] - kept[1] * kept[0]]
    f = ca.Function("f", [a, x], [ca.vertcat(*y)])
    results = []
    for lines in (True, False):
        module = Module(lanes, True, lines)
        work = add_kernel(module, f, "k", uniform=(0,))
        library = jit.Library(module.compile())
        call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(library.address("k"))
        rng = np.random.default_rng(3)
        one, many, out = rng.random(60), rng.random((60, lanes)), np.full((f.numel_out(0), lanes), np.nan)
        rest = np.zeros(work * lanes + 8)
        call(one.ctypes.data, many.ctypes.data, out.ctypes.data, rest.ctypes.data)
        results.append(out)
    np.testing.assert_array_equal(results[0].view(np.int64), results[1].view(np.int64))
    expected = np.array(f.map(lanes)(np.tile(one[:, None], lanes), many))
    np.testing.assert_allclose(results[0], expected, rtol=1e-13, atol=1e-13)  # fused, of sums up to 60


def test_a_place_that_two_inputs_share_is_not_overwritten_early(monkeypatch) -> None:
    """Both are read before the output that lies there is stored, whichever is met first."""
    monkeypatch.setattr(line_code, "LEAST", 1)
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    y = b * 3
    f = ca.Function("f", [a, b], [ca.sin(a), y, ca.sin(y) * a])
    for lines in (True, False):
        module = Module(1, True, lines)
        work = add_kernel(module, f, "k", places=[("m", 0), ("m", 0), ("n", 0), ("m", 0), ("n", 1)])
        library = jit.Library(module.compile())
        m, n, rest = np.array([0.3]), np.zeros(2), np.zeros(work + 1)
        call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(library.address("k"))
        call(m.ctypes.data, n.ctypes.data, rest.ctypes.data)
        # two functions that are right to 2 units in the last place
        np.testing.assert_allclose([*n, *m], [np.sin(0.3), np.sin(0.9) * 0.3, 0.9], rtol=1e-15)


@pytest.mark.parametrize("lanes", [4, 8])
def test_what_a_mask_keeps_is_read_before_it_is_overwritten(lanes: int, monkeypatch) -> None:
    """The first output lies where x does, which a mask keeps just before and the difference takes just after."""
    monkeypatch.setattr(line_code, "LEAST", 1)
    if not line_code.available(True, lanes):
        pytest.skip("another processor")
    x, w = ca.SX.sym("x"), ca.SX.sym("w", 3)
    f = ca.Function("f", [x, w], [w[1] + w[2], w[1] - ca.if_else(w[0] < 0, x, 0)])
    module = Module(lanes)
    work = add_kernel(module, f, "k", places=[("m", 0), ("w", 0), ("m", 0), ("n", 0)])
    assert "define" not in module.text()
    library = jit.Library(module.compile())
    given = np.random.default_rng(0).normal(size=(3, lanes))
    x0 = np.arange(1.0, lanes + 1)
    m, n, rest = x0.copy(), np.zeros(lanes), np.zeros(work * lanes + 1)
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(library.address("k"))
    call(*(a.ctypes.data for a in (m, given, n, rest)))
    np.testing.assert_array_equal(m, given[1] + given[2])
    np.testing.assert_array_equal(n, given[1] - np.where(given[0] < 0, x0, 0))


def test_a_name_is_linked_once() -> None:
    """Two functions of one name would be called by chance."""
    x = ca.SX.sym("x", 300)
    f, g = (ca.Function("f", [x], [ca.cumsum(x) * k + x]) for k in (2, 3))
    module = Module(1)
    add_kernel(module, f, "k")
    with pytest.raises(NativeError, match="two functions named 'k'"):
        add_kernel(module, g, "k")
    code = []
    for each in (f, g):
        module = Module(1)
        add_kernel(module, each, "k")
        code.append(module.compile())
    with pytest.raises(NativeError, match="two object files define k"):
        jit.Library(*code)
