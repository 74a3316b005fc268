"""The builder of control flow: each structure against the same loop in Python."""

from __future__ import annotations

import ctypes
import itertools

import numpy as np
import pytest

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import BOOL, DOUBLE, INT, LONG, POINTER, constant, wide
from condyle.native.machine import jit


def _loops(b: Builder) -> None:
    """out[0] counts the rounds of loop(count, 3), out[1] adds their indices, out[2] those of
    overlapping(count, 3); out[3] is the last index of loop(count - 5), or -1."""
    out, count = b.arguments
    for place, indices in ((0, False), (1, True)):
        with b.loop(count, 3) as i:
            here = b.at(out, place, LONG)
            b.store(b.load(here, LONG) + (i if indices else 1), here)
    with b.overlapping(count, 3) as i:
        total = b.carry(b.number(0, LONG))
        after = total + i
        b.hand_on(total, after)
    b.store(b.after_loop(total), b.at(out, 2, LONG))
    with b.loop(count - 5) as i:
        last = b.carry(b.number(-1, LONG))
        b.hand_on(last, i)
    b.store(b.after_loop(last), b.at(out, 3, LONG))
    with b.loop(0):
        b.store(-1, b.at(out, 0, LONG))


def _choices(b: Builder) -> None:
    """out[0]: 1 if count > 2, else 2; out[1]: 7 unless count == 0; out[2]: by a switch 10, 20 or 30."""
    out, count = b.arguments
    with b.when(b.compare("sgt", count, 2)):
        b.store(1, out)
    with b.otherwise():
        b.store(2, out)
    with b.when(b.compare("eq", count, 0), False):
        b.store(7, b.at(out, 1, LONG))
    labels = {k: b.label("case") for k in (0, 1)}
    other, end = b.label("other"), b.label("end")
    b.switch(count, other, labels)
    sources = []
    for label, number in zip([*labels.values(), other], (10, 20, 30), strict=True):
        b.place(label)
        sources.append((b.number(number, LONG), b.block))
        b.jump(end)
    b.place(end)
    b.store(b.phi(*sources), b.at(out, 2, LONG))


def _search(b: Builder) -> None:
    """out[0]: the first k with k^2 >= count, at most 5; out[1]: whether there is one; nothing for count =
    9."""
    out, count = b.arguments
    nine = b.label("nine")
    b.require(b.compare("ne", count, 9), nine)
    with b.repeat() as k:
        found = b.compare("sge", k * k, count)
        b.leave_unless((found ^ True) & b.compare("slt", k, 5))
    b.store(k, out)
    b.store(b.convert("zext", found, LONG), b.at(out, 1, LONG))
    b.place(nine)


@pytest.fixture(scope="module")
def library():
    module = Module()
    for write in (_loops, _choices, _search):
        with module.function(write.__name__, [POINTER, LONG], internal=False) as b:
            write(b)
    return jit.Library(jit.compile_ir(module.text()))


def _run(library: jit.Library, write, count: int) -> list[int]:
    out = np.zeros(4, np.int64)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(library.address(write.__name__))(
        out.ctypes.data, count
    )
    return out.tolist()


@pytest.mark.parametrize("count", [0, 1, 3, 7, 9])
def test_loops(library, count):
    rounds = range(0, count, 3)
    assert _run(library, _loops, count) == [len(rounds), sum(rounds), sum(rounds) + count, max(count - 6, -1)]


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_choices(library, count):
    assert _run(library, _choices, count) == [
        1 if count > 2 else 2,
        7 if count else 0,
        {0: 10, 1: 20}.get(count, 30),
        0,
    ]


@pytest.mark.parametrize("count", [0, 5, 9, 25, 26])
def test_early_exits(library, count):
    k = next(k for k in itertools.count() if k * k >= count or k == 5)
    assert _run(library, _search, count) == ([0, 0, 0, 0] if count == 9 else [k, int(k * k >= count), 0, 0])


@pytest.mark.parametrize("W", [1, 4])
def test_values_carry_their_type(W):
    """The same words for one state and for lanes: x |x| - 2 / 3 where x is above 1, else the bits of x
    without the sign."""
    module = Module(W)
    with module.function("f", [POINTER, POINTER], internal=False) as b:
        source, target = b.arguments
        x = b.load(source)
        bare = b.convert("bitcast", (b.convert("bitcast", x, module.lanes.I) << 1) >> 1, module.lanes.T)
        above = b.compare("ogt", x, 1.0)
        assert (x.type, above.type, b.any(above).type) == (wide(DOUBLE, W), wide(BOOL, W), BOOL)
        b.store(b.select(above, x * b.intrinsic("fabs", x) - 2.0 / b.number(3.0), bare), target)
    library = jit.Library(jit.compile_ir(module.text()))
    x = np.array([2.5, -2.5, 0.5, -0.25])[:W]
    y = np.zeros(W)
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2)(library.address("f"))(x.ctypes.data, y.ctypes.data)
    np.testing.assert_array_equal(y, np.where(x > 1, x * np.abs(x) - 2 / 3, np.abs(x)))


def test_constants():
    assert [
        constant(t, x) for t, x in ((DOUBLE, 1), (LONG, -3), (BOOL, 1), (INT, 7), (wide(LONG, 4), 2))
    ] == ["0x3FF0000000000000", "-3", "true", "7", "splat (i64 2)"]
