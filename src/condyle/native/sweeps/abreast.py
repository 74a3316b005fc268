"""Rows of one origin at several indices: one after the other or, of a solver for one state, side by side in
the lanes of a register. The fibers of eighteen muscles of one kind take three runs of the solver, not
eighteen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from condyle.native.ir.module import Module
from condyle.native.ir.values import POINTER
from condyle.native.machine import jit

if TYPE_CHECKING:
    from condyle.native.sweeps.lookup import Origin


class Way:
    """How rows of one origin, at indices one after the other, are found: one, one after the other in a loop,
    or, of a solver for one state, side by side in lanes.

    Attributes:
        symbol: of `void @symbol(ptr indices, ptr rows, ptr work)`.
        order: which numbers of the indices there are, in which order.
        width: of all rows.
        work: blocks that it needs.
    """

    def __init__(self, same: list[Origin], module: Module) -> None:
        table, count = same[0], len(same)
        self.width, self.order = count * table.width, np.arange(count * table.needs)
        lanes = jit.register_width()
        if getattr(table, "side_by_side", False) and module.lanes.W == 1 and count > 1:
            rows = np.minimum(np.arange(count + -count % lanes), count - 1).reshape(-1, lanes)
            self.order = (rows[:, None, :] * table.needs + np.arange(table.needs)[:, None]).ravel()
            self.symbol, self.work = _add_abreast(module, table, count, lanes)
            return
        symbol = table.emit(module)
        self.symbol, self.work = symbol, module.work(symbol)
        if count > 1:
            self.symbol = _add_each(module, symbol, table.needs, table.width, count)

    @property
    def needs(self) -> int:
        return len(self.order)


def arranged(f: ca.Function, ways: Sequence[Way]) -> ca.Function:
    """The function of a stage with its indices in the order in which they are needed."""
    starts = np.cumsum([0, *(1 + way.order.max(initial=-1) for way in ways)])
    order = np.concatenate(
        [np.zeros(0, np.int64), *(start + way.order for start, way in zip(starts, ways, strict=False))]
    )
    if np.array_equal(order, np.arange(f.numel_out(0))):
        return f
    x = [ca.SX.sym("x", f.numel_in(k)) for k in range(f.n_in())]
    indices, *more = f.call(x, True, False)
    return ca.Function(f.name(), x, [indices[order.tolist()], *more])


def _add_each(module: Module, symbol: str, needs: int, width: int, count: int) -> str:
    """Define the call of a look-up for `count` indices side by side; returns its name."""
    W = module.lanes.W

    def write(name: str) -> None:
        with module.function(name, [POINTER] * 3) as b:
            index, row, work = b.arguments
            with b.loop(count) as k:
                b.call(symbol, b.at(index, k * (needs * W)), b.at(row, k * (width * W)), work)

    return module.define(f"{symbol}.each{count}", write)


def _add_abreast(module: Module, table: Origin, count: int, lanes: int) -> tuple[str, int]:
    """Define the same for one state, with as many rows at a time as there are lanes; returns its name and the
    work that it needs. Indices come lane by lane, and the last row fills the lanes that are left."""
    own = Module(lanes, module.contract)
    symbol, width = table.emit(own), table.width
    work = (own.work(symbol) + width) * lanes

    def write(name: str) -> None:
        module.include(own)
        with module.function(name, [POINTER] * 3) as b:
            index, row, found = b.arguments
            rest = b.at(found, width * lanes)
            for first in range(0, count, lanes):
                b.call(symbol, b.at(index, first * table.needs), found, rest)
                for lane in range(min(lanes, count - first)):
                    for j in range(width):
                        b.store(b.load(b.at(found, j * lanes + lane)), b.at(row, (first + lane) * width + j))

    return module.define(f"{symbol}.abreast{count}", write), work
