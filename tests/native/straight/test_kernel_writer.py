"""Kernels against CasADi's own evaluator: every operation at special values, cuts, masks, arguments that
overlap."""

from __future__ import annotations

import ctypes
import itertools
import re
from fractions import Fraction

import casadi as ca
import numpy as np
import pytest

from condyle.errors import NativeError
from condyle.native.ir.module import Module
from condyle.native.machine import jit
from condyle.native.straight import kernel_writer
from condyle.native.straight.kernel_writer import add_kernel
from tests.native.straight.graphs import EXACT, LOGIC, OTHER, SPECIAL
from tests.native.straight.kernels import Kernels, evaluate

WIDTHS = sorted({1, 2, jit.lane_width()})
VALUES = (
    *SPECIAL,
    -0.5,
    -3.0,
    0.7,
    1e-8,
    1e5,
    -2.5,
    709.7,
    709.79,
    -745.1,
    -745.2,
    -708.5,
    1e9,
    -1e22,
    1 - 2.0**-53,
    1 + 2.0**-52,
    1.7976931348623157e308,
)
PAIRS = np.array(list(itertools.product(VALUES, VALUES)))
OPERATIONS = EXACT | LOGIC | OTHER
# not the C library's: up to 2 units in the last place
OWN = {"sin", "cos", "exp", "log"}


def of_two(operation) -> ca.Function:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    return ca.Function("f", [a, b], [ca.densify(operation(a, b))])


def same(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Equal with the sign of zero; every NaN is like every other."""
    return (np.isnan(got) & np.isnan(expected)) | (
        (got == expected) & (np.signbit(got) == np.signbit(expected))
    )


@pytest.fixture(scope="module", params=WIDTHS)
def operations(request) -> Kernels:
    return Kernels([of_two(o) for o in OPERATIONS.values()], request.param)


@pytest.mark.parametrize("name", [n for n in OPERATIONS if n not in ("erfinv", "if_else", "norm")])
def test_operation_at_special_values(operations, name):
    f = operations.functions[list(OPERATIONS).index(name)]
    got, expected = operations(list(OPERATIONS).index(name), *PAIRS.T)[0], evaluate(f, *PAIRS.T)[0]
    right = same(got, expected)
    if name in OWN:
        # 2 units in the last place is what the module promises; it is spacing at the expected value.
        with np.errstate(invalid="ignore"):
            right |= np.isfinite(expected) & (np.abs(got - expected) <= 2 * np.spacing(np.abs(expected)))
    if name == "copysign":
        right |= np.isnan(PAIRS[:, 1:])  # the sign of a NaN is not kept
    where = np.flatnonzero(~right)
    assert not len(where), f"{name}{tuple(PAIRS[where[0]])}: {got[where[0]]} instead of {expected[where[0]]}"


def test_every_scalar_operation_of_casadi_is_tested():
    tested = {
        f.instruction_id(k)
        for o in OPERATIONS.values()
        for f in [of_two(o)]
        for k in range(f.n_instructions())
    }
    known = set(kernel_writer._EMIT) - {kernel_writer.CHOICE}
    assert known <= tested
    assert tested - known == {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST}


def test_operation_without_machine_code_is_named():
    x = ca.SX.sym("x")
    with pytest.raises(NativeError, match="PRINTME"):
        add_kernel(Module(), ca.Function("f", [x], [x.printme(1)]), "f")


def test_free_symbols_and_opaque_calls_are_errors():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    with pytest.raises(NativeError, match=r"free symbols.*y"):
        add_kernel(Module(), ca.Function("f", [x], [x * y], {"allow_free": True}), "f")
    inner = ca.Function("inner", [x], [x + 1], {"never_inline": True})
    with pytest.raises(NativeError, match="never_inline"):
        add_kernel(Module(), ca.Function("f", [x], [inner(x) * 2]), "f")


def body_of(f: ca.Function, **options) -> str:
    """The kernel's own instructions."""
    module = Module(**options, lines=False)
    add_kernel(module, f, "kernel")
    return re.search(r"^define void @kernel\(.*?^\}$", module.text(), re.M | re.S)[0]


def test_if_else_is_one_selection():
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    f = ca.Function("f", [a, b], [ca.if_else(a < b, a, b)])
    text = body_of(f)
    assert text.count("fadd") == 0
    # The comparison is also made a number, in case that somebody asks; nobody does.
    assert text.count("select i1") <= 3
    got = Kernels([f], 1)(0, *PAIRS.T)[0].ravel()
    expected = np.where(PAIRS[:, 0] < PAIRS[:, 1], PAIRS[:, 0], PAIRS[:, 1])
    assert same(got, expected).all()  # -0.0 and NaN included


def test_if_else_with_a_number_as_condition():
    c, x, y = (ca.SX.sym(n) for n in "cxy")
    f = ca.Function("f", [c, x, y], [ca.if_else(c, x, y), ca.if_else(ca.logic_not(c), x, y)])
    conditions = np.array([0.0, -0.0, 1.0, -2.5, np.nan, np.inf, 5e-324])
    ones, twos = np.full(len(conditions), 1.0), np.full(len(conditions), 2.0)
    first, second = Kernels([f], jit.lane_width())(0, conditions, ones, twos)
    assert first.ravel().tolist() == [2, 2, 1, 1, 1, 1, 1]
    assert second.ravel().tolist() == [1, 1, 2, 2, 2, 2, 2]


def test_sine_and_cosine_share_a_call():
    q = ca.SX.sym("q")
    f = ca.Function("f", [q], [ca.cos(q), ca.sin(q), ca.sin(2 * q)])
    assert body_of(f).count("condyle.sincos") == 2


def test_registers_are_spilled_within_lines_of_memory():
    """The stack of a long kernel of several lanes is aligned, so that its time does not depend on the
    caller's."""
    x = ca.SX.sym("x", 60)
    f = ca.Function("f", [x], [ca.cumsum(x) * ca.sumsqr(x)])
    short = ca.Function("f", [x], [x[0] * x[1]])
    aligned = {W: "alignstack(64)" in body_of(f, W=W).splitlines()[0] for W in WIDTHS}
    assert aligned == {W: W > 1 for W in WIDTHS}
    assert "alignstack" not in body_of(short, W=WIDTHS[-1])


def test_contraction_rounds_once_and_only_if_allowed():
    a, c = ca.SX.sym("a"), ca.SX.sym("c")
    f = ca.Function("f", [a, c], [a * a + c, a * a - c, c - a * a])
    x, z = 1 + 2.0**-30, -1.0
    exact = [float(s * Fraction(x) ** 2 + t * Fraction(z)) for s, t in ((1, 1), (1, -1), (-1, 1))]
    twice = [x * x + z, x * x - z, z - x * x]
    assert exact != twice
    plain = Kernels([f], 1, contract=False)(0, np.array([x]), np.array([z]))
    assert [r[0, 0] for r in plain] == twice
    text = body_of(ca.Function("g", [a, c], [a * a + c, 2 - c * a]))
    assert text.count("llvm.fma") == (2 if jit.fuses() else 0)


def test_product_with_two_uses_is_not_fused():
    a, c = ca.SX.sym("a"), ca.SX.sym("c")
    p = a * c
    assert "llvm.fma" not in body_of(ca.Function("f", [a, c], [p + 1, p - c]))


def chain(n: int) -> ca.Function:
    """A line whose values live long: each result needs one from far back."""
    x = ca.SX.sym("x", 5)
    values = ca.vertsplit(x)
    for k in range(n):
        a, b = values[-1], values[k // 2]
        values.append((a * b + ca.sin(b), a - b / 3, ca.if_else(a < b, a, -b))[k % 3])
    return ca.Function("chain", [x], [ca.vertcat(*values[-40:]), x[::-1], ca.SX([1.5, -0.0])])


@pytest.mark.parametrize("W", WIDTHS)
def test_cuts_change_nothing(W):
    f = chain(150)
    x = np.random.default_rng(5).normal(size=(2 * W, 5))
    whole = Kernels([f], W, split=0)
    assert whole.text.count("define internal void") <= 1
    for split in (1, 10, 100):
        cut = Kernels([f], W, split=split)
        assert cut.text.count("define internal void") > 150 / (split + 5)
        for got, expected in zip(cut(0, x), whole(0, x)):
            np.testing.assert_array_equal(got, expected)
    for got, expected in zip(whole(0, x), evaluate(f, x)):
        # A few hundred well-conditioned operations: rounding and contraction stay below 1e-12 of the largest
        # value.
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def call(kernels: Kernels, *arrays: np.ndarray) -> None:
    pointers = [a.ctypes.data for a in arrays]
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(kernels.library.address("k0"))(*pointers)


@pytest.mark.parametrize("W", WIDTHS)
def test_work_is_enough_at_any_alignment(W):
    kernels = Kernels([chain(150)], W, split=20)
    need = kernels.work[0] * W
    for start in range(8, 16):
        buffer = np.full(need + 32, 7.0)
        outputs = [np.zeros(n * W) for n in (40, 5, 2)]
        call(kernels, np.ones(5 * W), *outputs, buffer[start : start + need])
        assert (buffer[:start] == 7).all()
        assert (buffer[start + need :] == 7).all()
        assert not (outputs[0] == 0).all()


@pytest.mark.parametrize("W", WIDTHS)
@pytest.mark.parametrize("split", [1, 1000])
def test_outputs_may_be_inputs(W, split):
    a, b = ca.SX.sym("a", 2), ca.SX.sym("b", 2)
    f = ca.Function("f", [a, b], [b, a + ca.vertcat(b[1], 2 * a[0])])
    kernels = Kernels([f], W, split=split)
    rng = np.random.default_rng(6)
    x, y, work = rng.normal(size=(2, W)), rng.normal(size=(2, W)), np.zeros(kernels.work[0] * W + 1)
    old_x, old_y = x.copy(), y.copy()
    call(kernels, x, y, x, y, work)
    np.testing.assert_array_equal(x, old_y)
    np.testing.assert_array_equal(y, old_x + [old_y[1], 2 * old_x[0]])


@pytest.mark.parametrize("W", WIDTHS)
@pytest.mark.parametrize("split", [1, 1000])
def test_mask_leaves_other_lanes_alone(W, split):
    x = ca.SX.sym("x", 3)
    f = ca.Function("f", [x], [x * x, ca.sum1(x)])
    mask = [lane % 2 == 0 for lane in range(W)]
    values = np.random.default_rng(7).normal(size=(W, 3))
    square, total = Kernels([f], W, split=split, masked=True)(0, values, mask=mask, fill=-7.0)
    np.testing.assert_array_equal(square, np.where(np.array(mask)[:, None], values**2, -7.0))
    # Sums of three in either order differ by less than 4 units in the last place of the largest.
    np.testing.assert_allclose(
        total[mask, 0], values[mask].sum(axis=1), rtol=0, atol=1e-15 * np.abs(values).max() * 4
    )
    assert (total[~np.array(mask)] == -7).all()


@pytest.mark.parametrize("W", WIDTHS)
def test_uniform_inputs_are_shared_by_all_lanes(W):
    a, b = ca.SX.sym("a", 2), ca.SX.sym("b", 2)
    module = Module(W)
    add_kernel(module, ca.Function("f", [a, b], [a * b]), "k0", uniform=(1,))
    library = jit.Library(jit.compile_ir(module.text()))
    values, shared, result = np.arange(2.0 * W), np.array([3.0, -5.0]), np.zeros(2 * W)
    arrays = values, shared, result, np.zeros(1)
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(library.address("k0"))(*(x.ctypes.data for x in arrays))
    np.testing.assert_array_equal(result.reshape(2, W), values.reshape(2, W) * shared[:, None])


def test_sparse_and_empty_arguments():
    a, nothing = ca.SX.sym("a", ca.Sparsity.lower(2)), ca.SX.sym("nothing", 0)
    f = ca.Function("f", [a, nothing], [2 * a, ca.SX(0, 1)])
    got, empty = Kernels([f], 2)(0, np.arange(6.0).reshape(2, 3), np.empty((2, 0)))
    np.testing.assert_array_equal(got, 2 * np.arange(6.0).reshape(2, 3))
    assert empty.shape == (2, 0)


def test_functions_of_mx_are_expanded():
    x = ca.MX.sym("x", 2)
    (got,) = Kernels([ca.Function("f", [x], [ca.mtimes(x, x.T)])])(0, np.array([[2.0, 3.0]]))
    np.testing.assert_array_equal(got, [[4, 6, 6, 9]])


def test_no_lane_depends_on_its_neighbors():
    x = ca.SX.sym("x")
    f = ca.Function("f", [x], [ca.sin(x), ca.cos(x), ca.exp(x), ca.log(x), ca.tanh(x)])
    values = np.array([0.3, 1e20, np.nan, -0.0, 2e9, np.inf, 1e-320, 5.0])
    kernels = Kernels([f], 8)
    together = kernels(0, values)
    for k, value in enumerate(values):
        for got, alone in zip(together, kernels(0, np.full(8, value))):
            assert same(got[k], alone[3]).all(), f"x = {value}: {got[k]} instead of {alone[3]}"
