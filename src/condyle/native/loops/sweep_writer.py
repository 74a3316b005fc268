"""Machine code of a Sweep (sweep.py): tables as constants, steps as loops around the kernels of each type.

For a single state, rows of one type may run side by side in the lanes of a register if the rows of a pass
are independent: 54 muscles take fourteen runs of their law, not 54. Numbers of the rows are gathered lane
by lane, a kernel for lanes runs, and its results go back to the rows. They equal those of one row after the
other to the last bit. Sums are added lane by lane.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import casadi as ca
import numpy as np

from condyle.errors import NativeError
from condyle.native.ir.module import Module
from condyle.native.ir.values import Value
from condyle.native.loops.sweep import (
    RowCall,
    RowPass,
    StraightCall,
    StraightStep,
    TableSweep,
    end,
    independent,
)
from condyle.native.machine import jit
from condyle.native.straight.instructions import LEAVES, Instructions
from condyle.native.straight.kernel_function import sizes
from condyle.native.straight.kernel_writer import add_kernel, kernel_arguments, memories
from condyle.native.tables.staged import Staged

WORTH = 2
"""Lanes are used for kernels with at least this many operations per number that is gathered or scattered."""
OFTEN, SHORT = 12, 700
"""With at least this many rows of one state, LLVM compiles kernels of up to this many operations. They are
2 to 4 % faster than our own machine code, and each operation takes 8 microseconds more to compile."""
_LIMIT = 2**31  # tables hold 32-bit offsets
_LINE = 64  # bytes: rows begin on a line of memory


class SweepWriter:
    """One function being written: its tables, then its steps one after the other."""

    def __init__(self, sweep: TableSweep, module: Module, name: str, masked: bool = False) -> None:
        self.sweep, self.module, self.name, self.W = sweep, module, name, module.lanes.W
        self.size = int(sweep.start[-1])
        self.masked = masked
        if masked and not all(isinstance(step, RowPass) for step in sweep.steps):
            raise NativeError(f"rows: {name} has lines, which cannot be masked")
        if self.size * self.W >= _LIMIT:
            raise NativeError(
                f"rows: {len(sweep.types)} rows have {self.size} numbers, too many for "
                f"{self.W} lanes of one table"
            )
        self.work = 0

    def write(self) -> int:
        """Define the function; returns the blocks of W doubles that its `work` argument must hold."""
        sweep = self.sweep
        self._tables()
        types = kernel_arguments(self.module, len(sweep.names), self.masked)
        with self.module.function(self.name, types, internal=False) as self.b:
            b = self.b
            self.arguments = dict(zip(sweep.names, b.arguments))
            self.mask = b.arguments[-1:] if self.masked else []
            self.rows = b.aligned(b.arguments[len(sweep.names)], _LINE)
            self.scratch = b.at(self.rows, self.size * self.W)
            for name, size in sweep.results:
                if name in sweep.cleared and size:
                    b.clear(self._argument(name), 8 * self.W * size)
            for k, step in enumerate(sweep.steps):
                match step:
                    case RowPass():
                        self._pass(f"{self.name}.s{k}", step, sweep.merged(k))
                    case StraightStep():
                        self._line(f"{self.name}.s{k}", sweep.straight(k))
        return self.size + self.work + -(-_LINE // (8 * self.W))

    # ---- arguments and tables

    def _argument(self, name: str) -> Value:
        whole, start = self.sweep.whole(name)
        if whole not in self.arguments:
            raise NativeError(f"rows: no argument {name!r} among {self.sweep.names}")
        return self._at(self.arguments[whole], start) if start else self.arguments[whole]

    def _tables(self) -> None:
        """The index, with one record per row that says where its numbers are, and the constants of all
        rows. A base at the same place for all rows has no column; bases with equal columns, perhaps of
        different arguments, share one."""
        sweep, n = self.sweep, len(self.sweep.types)
        numbers = np.array([end(layout) for layout in sweep.constant_layout], dtype=np.int64)[sweep.types]
        first = np.cumsum(numbers) - numbers
        starts = {"me": sweep.start[:-1] * self.W, "constant": first}
        starts |= {
            link: sweep.start[np.maximum(rows, 0)] * self.W
            for link, rows in sweep.reach.items()
            if link != "root"
        }
        starts |= {name: np.broadcast_to(offset, n) * self.W for name, (_, offset) in sweep.windows.items()}
        columns: list[np.ndarray] = []
        # column of the index, if any, and the offset added to it
        self.columns: dict[str, tuple[int | None, int]] = {}
        for base, start in starts.items():
            least = int(start.min()) if base in sweep.windows else 0
            found = next((k for k, column in enumerate(columns) if (column == start - least).all()), None)
            if found is None and (start > least).any():
                columns.append(start - least)
                found = len(columns) - 1
            self.columns[base] = found, least
        self.width = max(len(columns), 1)
        index = np.stack(columns or [np.zeros(n)], axis=1)
        self.index = self.module.table(f"{self.name}.index", index.astype(np.int32))
        mixed = any(x.dtype == object for x in sweep.constants.values())
        constants = np.zeros(numbers.sum(), object if mixed else float)
        for t, layout in enumerate(sweep.constant_layout):
            mine = np.flatnonzero(sweep.types == t)
            for name, s in layout.items():
                constants[first[mine][:, None] + np.arange(s.start, s.stop)] = sweep.constants[name][mine]
        self.constants = self.module.table(f"{self.name}.constants", constants)

    # ---- steps

    def _pass(self, tag: str, step: RowPass, calls: dict[int, RowCall]) -> None:
        if not calls:
            return
        rows, numbers = step.order(self.sweep.types)
        mine = np.isin(numbers, list(calls))
        order = np.stack([rows[mine], numbers[mine]], axis=1)
        together = self._in_lanes(step, calls, order) if self.W == 1 and not self.masked else []
        for k, run in enumerate(_runs(order, together)):
            if (number := int(run[0, 1])) in together:
                self._side_by_side(f"{tag}.t{number}", calls[number], run[:, 0])
            else:
                self._one_by_one(f"{tag}.r{k}" if together else tag, calls, run)

    def _one_by_one(self, tag: str, calls: dict[int, RowCall], order: np.ndarray) -> None:
        """Rows and the numbers of their kernels, one after the other."""
        calls = {number: call for number, call in calls.items() if number in order[:, 1]}
        b, table = self.b, self.module.table(f"{tag}.order", order.astype(np.int32))
        with b.loop(len(order)) as k:
            i = b.entry(table, k * 2)
            done = b.label("done")
            labels = {number: b.label(f"kernel{number}.") for number in calls}
            b.switch(b.entry(table, k * 2 + 1), done, labels)
            for number, call in calls.items():
                b.place(labels[number])
                used = {*(base for base, _ in (*call.ins, *call.outs)), *(base for base, _, _ in call.adds)}
                often = self.W == 1 and (order[:, 1] == number).sum() >= OFTEN
                self._row(f"{tag}.t{number}", call, self._pointers(i, used), often)
                b.jump(done)
            b.place(done)

    def _pointers(self, i: Value, used: Collection[str]) -> dict[str, Value]:
        """Addresses of the numbers that the kernel of row i uses."""
        b, out = self.b, {"root": self.rows}
        entries: dict[int, Value] = {}
        for base in sorted(set(used) - {"root"}):
            column, least = self.columns[base]
            memory = self._memory(base)
            if column is not None:
                if column not in entries:
                    entries[column] = b.entry(self.index, i * self.width + column)
                memory = b.at(memory, entries[column])
            out[base] = b.at(memory, least) if least else memory
        return out

    def _memory(self, base: str) -> Value:
        """The address from which the offsets of a record count."""
        if base == "constant":
            return self.b.symbol(self.constants)
        windows = self.sweep.windows
        return self._argument(windows[base][0]) if base in windows else self.rows

    def _row(self, symbol: str, call: RowCall, pointers: dict[str, Value], often: bool) -> None:
        """Run the kernel of one row and add its `adds`."""
        b = self.b
        sizes = [size for _, _, size in call.adds]
        uniform = {k for k, (base, _) in enumerate(call.ins) if base == "constant"}
        places = self._known_places(call)
        often = often and call.function.n_instructions() <= SHORT
        self._kernel(call.function, symbol, sum(sizes), uniform, places, often)
        starts = np.cumsum([0, *sizes]).tolist()  # memory of the summands, then the kernel's work
        given = (
            [pointers[base] for base in memories(places)]
            if places is not None
            else [self._at(pointers[base], offset) for base, offset in (*call.ins, *call.outs)]
        )
        b.call(symbol, *given, *(self._at(self.scratch, start) for start in starts), *self.mask)
        for (base, offset, size), start in zip(call.adds, starts, strict=False):
            for j in range(size):
                part, total = self._at(self.scratch, start + j), self._at(pointers[base], offset + j)
                b.store(b.load(part) + b.load(total), total)

    def _at(self, memory: Value, block: int) -> Value:
        """The address of a block of W doubles."""
        return self.b.at(memory, block * self.W)

    def _known_places(self, call: RowCall) -> list[tuple[str, int]] | None:
        """Memories and offsets of a kernel's arguments and results, if these memories cannot overlap; else
        None, since links may lead anywhere."""
        places = [*call.ins, *call.outs]
        apart = {"me", "parent", "root", "level", "above", "constant", *self.sweep.windows}
        plain = isinstance(call.function, ca.Function) and not call.adds
        return places if plain and {memory for memory, _ in places} <= apart else None

    def _kernel(
        self,
        f: ca.Function | Staged,
        symbol: str,
        before: int,
        uniform: Collection[int] = (),
        places: Sequence[tuple[str, int]] | None = None,
        often: bool = False,
    ) -> None:
        """Define a kernel whose work memory begins `before` blocks after the start of the scratch memory."""
        blocks = add_kernel(
            self.module, f, symbol, masked=self.masked, uniform=uniform, places=places, often=often
        )
        self.work = max(self.work, before + blocks)

    def _line(self, symbol: str, call: StraightCall) -> None:
        b, gathered, scattered = self.b, len(call.read), len(call.written)
        self._kernel(call.function, symbol, gathered + scattered)
        results, rest = self._at(self.scratch, gathered), self._at(self.scratch, gathered + scattered)
        self._copy(self.rows, self._places(f"{symbol}.read", call.read), self.scratch, None, gathered)
        b.call(
            symbol,
            self.scratch,
            *map(self._argument, call.ins),
            results,
            *map(self._argument, call.outs),
            rest,
        )
        self._copy(results, None, self.rows, self._places(f"{symbol}.written", call.written), scattered)

    def _places(self, name: str, places: np.ndarray) -> str | None:
        return self.module.table(name, places.astype(np.int32)) if len(places) else None

    def _copy(self, source: Value, read: str | None, target: Value, written: str | None, count: int) -> None:
        """target[written[i]] = source[read[i]], W doubles each; without a table the index is i."""
        if not count:
            return
        b = self.b
        with b.loop(count) as i:
            places = [
                b.at(memory, (i if table is None else self.b.entry(table, i)) * self.W)
                for memory, table in ((source, read), (target, written))
            ]
            b.store(b.load(places[0]), places[1])

    # ---- rows side by side

    def _in_lanes(self, step: RowPass, calls: Mapping[int, RowCall], order: np.ndarray) -> list[int]:
        """Kernels whose rows run side by side. order: rows and the numbers of their kernels, shape (n, 2)."""
        if step.walk is not None or not independent(self.sweep, step):
            return []
        return [
            k
            for k, call in calls.items()
            if _worth(call)
            and (order[:, 1] == k).sum() >= jit.register_width()
            # the sums of rows are added in the order of the rows
            and (not call.adds or np.ptp(np.flatnonzero(order[:, 1] == k)) + 1 == (order[:, 1] == k).sum())
        ]

    def _side_by_side(self, symbol: str, call: RowCall, rows: np.ndarray) -> None:
        """Run a kernel for some rows of one state in the lanes of a register. The last row fills the
        remaining lanes."""
        b, f, W, (ins, outs) = self.b, call.function, jit.register_width(), sizes(call.function)
        uniform = {k for k, (base, _) in enumerate(call.ins) if base == "root"}
        blocks = add_kernel(self.module.with_lanes(W), f, symbol, uniform=uniform)
        filled = np.append(rows, np.repeat(rows[-1:], -len(rows) % W))
        order = self.module.table(f"{symbol}.order", filled.astype(np.int32))
        data = _constants(self.sweep, filled)
        table = self.module.table(
            f"{symbol}.constants", data.reshape(len(filled) // W, W, -1).transpose(0, 2, 1)
        )
        starts = np.cumsum([0, *ins, *outs]).tolist()
        self.work = max(self.work, W * (starts[-1] + blocks) + _LINE // 8)
        places = [b.at(b.aligned(self.scratch, _LINE), start * W) for start in starts]
        bases = {*(base for base, _ in (*call.ins, *call.outs)), *(base for base, _, _ in call.adds)}
        with b.loop(len(filled), W) as first:
            at = [self._pointers(b.entry(order, first + lane), bases) for lane in range(W)]
            given = list(places)
            for k, ((base, offset), elements) in enumerate(zip(call.ins, _used(f), strict=True)):
                if base == "constant":
                    given[k] = b.at(b.symbol(table), first * data.shape[1])
                elif base == "root":
                    given[k] = at[0][base]
                else:
                    for j in elements:
                        each = [b.load(b.at(pointers[base], offset + j)) for pointers in at]
                        b.store(b.vector(each), b.at(places[k], j * W))
            b.call(symbol, *given)
            for (base, offset), n, place in zip(call.outs, outs, places[len(ins) :], strict=False):
                for lane, pointers in enumerate(at):
                    for j in range(n):
                        b.store(b.load(b.at(place, j * W + lane)), b.at(pointers[base], offset + j))
            sums = places[len(ins) + len(call.outs) :]
            for lane, pointers in enumerate(at if sums else ()):
                with b.when(
                    b.compare("slt", first + lane, len(rows))
                ):  # rows that only fill lanes are not added again
                    for (base, offset, n), place in zip(call.adds, sums, strict=False):
                        for j in range(n):
                            total = b.at(pointers[base], offset + j)
                            b.store(b.load(b.at(place, j * W + lane)) + b.load(total), total)


def _runs(order: np.ndarray, together: Collection[int]) -> list[np.ndarray]:
    """Groups of rows, with the numbers of their kernels, that run at a time: all rows of one number in
    `together` are a group, and so are the rows between two such groups."""
    first = {number: np.flatnonzero(order[:, 1] == number)[0] for number in together}
    place = np.array(
        [first.get(number, row) for row, number in enumerate(order[:, 1].tolist())], dtype=np.int64
    )
    place = np.argsort(place, kind="stable")
    sorted_, apart = order[place], ~np.isin(order[place, 1], list(together))
    new = (sorted_[1:, 1] != sorted_[:-1, 1]) & ~(apart[1:] & apart[:-1])
    return [run for run in np.split(sorted_, np.flatnonzero(new) + 1) if len(run)]


def _worth(call: RowCall) -> bool:
    found = [table for _, tables, _ in getattr(call.function, "stages", ()) for table in tables if table.name]
    if not all(getattr(table, "side_by_side", True) for table in found):
        return False
    moved = sum(
        len(elements)
        for (base, _), elements in zip(call.ins, _used(call.function), strict=True)
        if base not in ("constant", "root")
    ) + sum(sizes(call.function)[1])
    own = sum(op not in LEAVES for code in _codes(call.function) for op in code.op)
    return own + sum(table.n_instructions() for table in found) >= WORTH * moved


def _codes(f: ca.Function | Staged) -> list[Instructions]:
    parts = [f.main, *(stage for stage, _, _ in f.stages)] if isinstance(f, Staged) else [f]
    return [Instructions(part) for part in parts]


def _used(f: ca.Function | Staged) -> list[list[int]]:
    """Elements of each input that a function needs."""
    out: list[set[int]] = [set() for _ in sizes(f)[0]]
    for code in _codes(f):
        for op, argument, element in zip(code.op, code.a, code.b, strict=True):
            if op == ca.OP_INPUT and argument < len(out):
                out[argument].add(element)
    return [sorted(elements) for elements in out]


def _constants(sweep: TableSweep, rows: np.ndarray) -> np.ndarray:
    """Constants of some rows of one type, shape (rows, numbers)."""
    layout = sweep.constant_layout[sweep.types[rows[0]]]
    return np.hstack([np.zeros((len(rows), 0)), *(sweep.constants[name][rows] for name in layout)])
