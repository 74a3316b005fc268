"""Rows of one type, of one state, side by side in the lanes of a register: 54 muscles take fourteen runs of
their law, not 54.

A pass whose rows do not need each other may run them so. Numbers of the rows are gathered lane by lane, a
kernel for lanes runs, and its results go back to the rows: equal to the last bit to one row after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from condyle.native.ir.values import DOUBLE, Value, wide
from condyle.native.machine import jit
from condyle.native.straight.emit import add_kernel
from condyle.native.straight.graph import Instructions
from condyle.native.sweeps.lookup import Staged
from condyle.native.sweeps.sweep import Pass, RowCall, Sweep

if TYPE_CHECKING:
    from condyle.native.sweeps.emit import SweepWriter

WORTH = 2
"""Operations of a kernel per number that is gathered or goes back, from which on this is quicker."""
_LINE = 64  # bytes that memory moves at once


def numbers(sweep: Sweep, step: Pass, calls: Mapping[int, RowCall], order: np.ndarray) -> list[int]:
    """Kernels whose rows run side by side. order: rows and the numbers of their kernels, shape (n, 2)."""
    if step.walk is not None or not _independent(sweep, step):
        return []
    return [
        k
        for k, call in calls.items()
        if not call.adds and _worth(call) and (order[:, 1] == k).sum() >= jit.register_width()
    ]


def _independent(sweep: Sweep, step: Pass) -> bool:
    """Whether no row reads or writes what another one writes."""
    own, others, written, elsewhere = (set[str]() for _ in range(4))
    for _, _, kernel in step.typed(sweep.types):
        for places, mine, other in (
            (kernel.reads, own, others),
            ((*kernel.writes, *kernel.adds), written, elsewhere),
        ):
            for place in places:
                where, dot, name = place.partition(".")
                if not dot:  # part of an argument or of a result
                    (others if mine is own else written).add(f"{sweep.windows[place][0]}()")
                elif where != "constant":
                    (mine if where == "me" else other).add(name)
    return not (others & written or (own | others | written) & elsewhere)


def _worth(call: RowCall) -> bool:
    moved = sum(
        len(elements)
        for (base, _), elements in zip(call.ins, _used(call.function), strict=True)
        if base not in ("constant", "root")
    ) + sum(_sizes(call.function)[1])
    return (
        sum(op not in (ca.OP_INPUT, ca.OP_CONST) for code in _codes(call.function) for op in code.op)
        >= WORTH * moved
    )


def _sizes(f: ca.Function | Staged) -> tuple[list[int], list[int]]:
    if isinstance(f, Staged):
        return f.inputs, f.outputs
    return [f.numel_in(k) for k in range(f.n_in())], [f.numel_out(k) for k in range(f.n_out())]


def _codes(f: ca.Function | Staged) -> list[Instructions]:
    parts = [f.main, *(stage for stage, _, _ in f.stages)] if isinstance(f, Staged) else [f]
    return [Instructions(part) for part in parts]


def _used(f: ca.Function | Staged) -> list[list[int]]:
    """Elements of each input that a function needs."""
    out: list[set[int]] = [set() for _ in _sizes(f)[0]]
    for code in _codes(f):
        for op, argument, element in zip(code.op, code.a, code.b, strict=True):
            if op == ca.OP_INPUT and argument < len(out):
                out[argument].add(element)
    return [sorted(elements) for elements in out]


def write(w: SweepWriter, symbol: str, call: RowCall, rows: np.ndarray) -> None:
    """Run a kernel for some rows. The last of them fills the lanes that are left."""
    b, f, W, (ins, outs) = w.b, call.function, jit.register_width(), _sizes(call.function)
    module, uniform = w.module.abreast(W), {k for k, (base, _) in enumerate(call.ins) if base == "root"}
    blocks = (
        f.emit(module, symbol, uniform)
        if isinstance(f, Staged)
        else add_kernel(module, f, symbol, uniform=uniform)
    )
    filled = np.append(rows, np.repeat(rows[-1:], -len(rows) % W))
    order = w.module.table(f"{symbol}.order", filled.astype(np.int32))
    data = _constants(w.sweep, filled)
    table = w.module.table(f"{symbol}.constants", data.reshape(len(filled) // W, W, -1).transpose(0, 2, 1))
    starts = np.cumsum([0, *ins, *outs]).tolist()
    w.work = max(w.work, W * (starts[-1] + blocks) + _LINE // 8)
    places = [b.at(b.aligned(w.scratch, _LINE), start * W) for start in starts]
    bases = {base for base, _ in (*call.ins, *call.outs)}
    with b.loop(len(filled), W) as first:
        at = [w.pointers(b.entry(order, first + lane), bases) for lane in range(W)]
        given = list(places)
        for k, ((base, offset), elements) in enumerate(zip(call.ins, _used(f), strict=True)):
            if base == "constant":
                given[k] = b.at(b.symbol(table), first * data.shape[1])
            elif base == "root":
                given[k] = at[0][base]
            else:
                for j in elements:
                    each = [b.load(b.at(pointers[base], offset + j)) for pointers in at]
                    b.store(_joined(w, each), b.at(places[k], j * W))
        b.call(symbol, *given)
        for (base, offset), n, place in zip(call.outs, outs, places[len(ins) :], strict=False):
            for lane, pointers in enumerate(at):
                for j in range(n):
                    b.store(b.load(b.at(place, j * W + lane)), b.at(pointers[base], offset + j))


def _constants(sweep: Sweep, rows: np.ndarray) -> np.ndarray:
    """Those of rows of one type, shape (rows, numbers)."""
    layout = sweep.constant_layout[sweep.types[rows[0]]]
    return np.hstack([np.zeros((len(rows), 0)), *(sweep.constants[name][rows] for name in layout)])


def _joined(w: SweepWriter, each: list[Value]) -> Value:
    T, out = wide(DOUBLE, len(each)), "poison"
    for k, x in enumerate(each):
        out = w.b.put(T, f"insertelement {T} {out}, {x}, i32 {k}").text
    return Value(w.b, T, out)
