"""The inner loop around a kernel: strides, tails, lanes, scratch memory, lifetime."""

from __future__ import annotations

import ctypes
import gc
import weakref

import casadi as ca
import numpy as np
import pytest

from condyle.native.calls import gufunc
from condyle.native.fastcall import structures
from condyle.native.ir.module import Module
from condyle.native.machine import jit
from condyle.native.straight.kernel_writer import add_kernel
from tests.process import output

SIZES_IN, SIZES_OUT = [11, 0, 3], [11, 0, 4]
EPS = np.finfo(float).eps


def make_loop(W: int) -> gufunc.InnerLoop:
    x, none, y = ca.SX.sym("x", 11), ca.SX.sym("none", 0), ca.SX.sym("y", 3)
    f = ca.Function(
        "f", [x, none, y], [x * y[0] - x[0], ca.SX(0, 1), ca.vertcat(y[::-1] + x[:3], y[1] / x[10])]
    )
    module = Module(W, lines=False)
    # several parts, so that the scratch memory is used
    work = add_kernel(module, f, "kernel", split=10)
    assert work > 0
    gufunc.add_loop(module, "loop", "kernel", SIZES_IN, SIZES_OUT, work)
    return gufunc.InnerLoop(jit.Library(module.compile()), "loop", "f", SIZES_IN, SIZES_OUT)


def expected(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x * y[..., :1] - x[..., :1], np.concatenate(
        [y[..., ::-1] + x[..., :3], y[..., 1:2] / x[..., 10:]], -1
    )


@pytest.fixture(scope="module", params=[1, 2, 4, 8])
def loop(request: pytest.FixtureRequest) -> gufunc.InnerLoop:
    return make_loop(request.param)


@pytest.mark.parametrize("by", ["ufunc", "ctypes"])
@pytest.mark.parametrize("states", [1, 2, 7, 8, 9, 16, 21])
def test_strides_and_tails(loop, states, by, monkeypatch):
    """Rows near and far, columns near and far, one state for all; nothing is written beside what was
    asked."""
    if by == "ctypes":
        monkeypatch.setattr(loop, "ufunc", None)
    rng = np.random.default_rng(states)
    wide = rng.uniform(1, 2, (2 * states, 33))
    xs = [wide[:states, :11], wide[::2, 2:13], wide[::-2, ::3], np.asfortranarray(wide[:states, :11])]
    ys = [rng.uniform(1, 2, (states, 3)), rng.uniform(1, 2, (3, states)).T, rng.uniform(1, 2, 3)]
    for x in xs:
        for y in ys:
            for room in (np.full((states + 2, 13), np.nan), np.full((13, states + 2), np.nan).T):
                a, b = room[1:-1, 1:12], np.full((states + 2, 9), np.nan)[1:-1, :8:2]
                loop([x, np.empty((states, 0)), y], [a, np.empty((states, 0)), b])
                want = expected(x, np.broadcast_to(y, (states, 3)))
                # Two operations on numbers up to 6: a product fused with a sum may differ by half a unit of
                # either.
                np.testing.assert_allclose(a, want[0], rtol=0, atol=8 * EPS)
                np.testing.assert_allclose(b, want[1], rtol=0, atol=8 * EPS)
                a[...] = np.nan
                assert np.isnan(room).all()
                b[...] = np.nan
                assert np.isnan(b.base).all()


def test_no_states(loop):
    a, b = np.empty((0, 11)), np.empty((0, 4))
    loop([np.empty((0, 11)), np.empty((0, 0)), np.empty((0, 3))], [a, np.empty((0, 0)), b])


def test_no_floating_point_warnings(loop):
    """A kernel that divides by zero, overflows and makes NaN says so in its results only."""
    x, y = np.full((9, 11), 1e300), np.full((9, 3), 1e300)
    x[:, 10], y[3] = 0, np.nan
    a, b = np.empty((9, 11)), np.empty((9, 4))
    with np.errstate(all="raise"):
        loop([x, np.empty((9, 0)), y], [a, np.empty((9, 0)), b])
        assert np.isinf(a[0, 1])
        assert np.isinf(b[0, 3])
        assert np.isnan(b[3]).all()


def test_scratch_memory_is_kept_and_released():
    loop = make_loop(4)
    context = loop._context
    assert not context[0]
    arguments = (
        [np.ones((5, 11)), np.empty((5, 0)), np.ones((5, 3))],
        [np.empty((5, 11)), np.empty((5, 0)), np.empty((5, 4))],
    )
    loop(*arguments)
    kept = context[0]
    assert kept
    loop(*arguments)
    assert context[0] == kept
    del loop
    gc.collect()
    assert not context[0]


def test_no_memory_is_an_error_and_not_for_ever():
    loop = make_loop(2)
    arguments = (
        [np.ones((5, 11)), np.empty((5, 0)), np.ones((5, 3))],
        [np.empty((5, 11)), np.empty((5, 0)), np.empty((5, 4))],
    )
    allocate = loop._context[1]
    nothing = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(lambda size: None)
    loop._context[1] = ctypes.cast(nothing, ctypes.c_void_p).value
    with pytest.raises(MemoryError, match="f: no memory"):
        loop(*arguments)
    loop._context[1] = allocate
    loop(*arguments)
    np.testing.assert_array_equal(arguments[1][0], 0.0)


def test_ufunc_broadcasts_by_itself():
    ufunc = make_loop(4).ufunc
    assert isinstance(ufunc, np.ufunc)
    assert ufunc.signature == "(11),(3)->(11),(4)"
    x, y = np.random.default_rng(1).uniform(1, 2, (5, 1, 11)), np.random.default_rng(2).uniform(1, 2, (3, 3))
    a, b = ufunc(x, y)
    want = expected(np.broadcast_to(x, (5, 3, 11)), np.broadcast_to(y, (5, 3, 3)))
    np.testing.assert_allclose(a, want[0], rtol=0, atol=8 * EPS)  # as above
    np.testing.assert_allclose(b, want[1], rtol=0, atol=8 * EPS)
    with pytest.raises(ValueError, match="core dimension"):
        ufunc(x[..., :10], y)


def test_ufunc_owns_its_code():
    """The code lives as long as the ufunc, and no longer."""
    loop = make_loop(1)
    code, ufunc = weakref.ref(loop.library), loop.ufunc
    del loop
    gc.collect()
    assert code() is not None
    del ufunc
    gc.collect()
    assert code() is None


def test_ufunc_outlives_the_loop():
    """In a process of its own: the failure would be a crash."""
    program = """
import gc, numpy as np
from tests.native.calls.test_gufunc import make_loop
ufuncs = [make_loop(W).ufunc for W in (1, 8)]
results = [u(np.ones((40, 11)), np.ones(3)) for u in ufuncs]
gc.collect()
junk = [np.full(100_000, k) for k in range(100)]
assert all((u(np.ones((40, 11)), np.ones(3))[1] == [2, 2, 2, 1]).all() for u in ufuncs)
del ufuncs
gc.collect()
assert all((r[1] == [2, 2, 2, 1]).all() for r in results)
"""
    output("-c", program)


def test_self_test_decides(monkeypatch):
    assert gufunc.gufuncs_work()  # on every NumPy that we test with
    monkeypatch.setattr(np, "__version__", "3.0.0")
    assert not gufunc.gufuncs_work.__wrapped__()
    monkeypatch.undo()
    monkeypatch.setattr(
        structures, "_numpy_functions", lambda name: (_ for _ in ()).throw(AttributeError(name))
    )
    assert not gufunc.gufuncs_work.__wrapped__()


def test_unknown_ufunc_layout_keeps_the_owner_for_ever(monkeypatch):
    monkeypatch.setattr(structures, "_for_ever", kept := [])
    loop = make_loop(1)
    structures._give_owner(loop.ufunc, {32: ctypes.c_int()}, owner := object())
    assert kept == [owner]
