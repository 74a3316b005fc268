"""Machine code of condyle.native.sweeps.sweep: tables as constants, steps as loops around the kernels of each type."""
from __future__ import annotations

from collections.abc import Collection

import casadi as ca
import numpy as np

from condyle.errors import NativeError
from condyle.native.straight.emit import Module
from condyle.native.sweeps.lookup import Staged
from condyle.native.sweeps.sweep import Line, Pass, RowCall, Straight, Sweep, end

_LIMIT = 2**31                                              # tables hold 32-bit offsets
_LINE = 64                                                  # bytes: rows begin on a line of memory


class Writer:
    """One function being written: its tables, then its steps as basic blocks one after the other."""

    def __init__(self, rows: Sweep, module: Module, name: str, masked: bool = False) -> None:
        self.rows, self.module, self.name, self.W = rows, module, name, module.lanes.W
        self.size = int(rows.start[-1])
        self.mask = [f"{module.lanes.B} %mask"] if masked else []
        if masked and not all(isinstance(step, Pass) for step in rows.steps):
            raise NativeError(f"rows: {name} has lines, which cannot be masked")
        if self.size * self.W >= _LIMIT:
            raise NativeError(f"rows: {len(rows.types)} rows have {self.size} numbers, too many for {self.W} lanes of one table")
        self.record = ["type", "me", "constant", *(link for link in rows.reach if link != "root"), *rows.windows]
        self.lines: list[str] = []
        self.work = 0
        self._count = 0

    def write(self) -> int:
        rows, W = self.rows, self.W
        arguments = [f"ptr %{self._argument(name)}" for name in rows.names]
        self._tables()
        for k, step in enumerate(rows.steps):
            match step:
                case Pass():
                    self._pass(f"s{k}", step, rows.merged(k))
                case Line():
                    self._line(f"s{k}", rows.straight(k))
        self.module.declare("llvm.ptrmask", "ptr @llvm.ptrmask.p0.i64(ptr, i64)")
        body = [f"define void @{self.name}({', '.join([*arguments, 'ptr %work', *self.mask])}) {{",
                "entry:",
                f"%above = getelementptr i8, ptr %work, i64 {_LINE - 8}",
                f"%rows = call ptr @llvm.ptrmask.p0.i64(ptr %above, i64 {-_LINE})",
                f"%scratch = getelementptr double, ptr %rows, i64 {self.size * W}",
                *self.lines, "ret void", "}"]
        self.module.add("\n".join(body))
        return self.size + self.work + -(-_LINE // (8 * W))

    # ---- names and tables

    def _argument(self, name: str) -> str:
        names = self.rows.names
        if name not in names:
            raise NativeError(f"rows: no argument {name!r} among {names}")
        return f"a{names.index(name)}"

    def _new(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"%x{self._count} = {text}")
        return f"%x{self._count}"

    def _table(self, name: str, values: np.ndarray) -> str:
        """A constant array in the machine code; returns its symbol."""
        data = np.ascontiguousarray(values).tobytes()
        text = "\\" + data.hex("\\") if data else ""
        self.module.add(f'@{self.name}.{name} = internal constant [{len(data)} x i8] c"{text}", align {_LINE}')
        return f"@{self.name}.{name}"

    def _tables(self) -> None:
        rows, n = self.rows, len(self.rows.types)
        numbers = np.array([end(layout) for layout in rows.constant_layout], dtype=np.int64)[rows.types]
        first = np.cumsum(numbers) - numbers
        columns = [rows.types, rows.start[:-1] * self.W, first]
        columns += [rows.start[np.maximum(rows.reach[link], 0)] * self.W for link in rows.reach if link != "root"]
        columns += [np.broadcast_to(offset, n) * self.W for _, offset in rows.windows.values()]
        self.index = self._table("index", np.stack(columns, axis=1).astype(np.int32))
        constants = np.zeros(numbers.sum())
        for t, layout in enumerate(rows.constant_layout):
            mine = np.flatnonzero(rows.types == t)
            for name, s in layout.items():
                constants[first[mine][:, None] + np.arange(s.start, s.stop)] = rows.constants[name][mine]
        self.constants = self._table("constants", constants)

    def _loop(self, tag: str, count: int, backwards: bool = False) -> str:
        """Open a loop; returns the index. `_end_loop` closes it."""
        self.lines += [f"br label %{tag}.in", f"{tag}.in:", f"br label %{tag}", f"{tag}:",
                       f"%{tag}.k = phi i64 [ 0, %{tag}.in ], [ %{tag}.next, %{tag}.end ]"]
        return self._new(f"sub i64 {count - 1}, %{tag}.k") if backwards else f"%{tag}.k"

    def _end_loop(self, tag: str, count: int) -> None:
        self.lines += [f"br label %{tag}.end", f"{tag}.end:", f"%{tag}.next = add i64 %{tag}.k, 1",
                       f"%{tag}.more = icmp ult i64 %{tag}.next, {count}",
                       f"br i1 %{tag}.more, label %{tag}, label %{tag}.out", f"{tag}.out:"]

    def _entry(self, table: str, i: str, column: int = 0, columns: int = 1) -> str:
        """An integer of a table, as i64."""
        place = self._new(f"mul i64 {i}, {columns}") if columns > 1 else i
        place = self._new(f"add i64 {place}, {column}") if column else place
        at = self._new(f"getelementptr i32, ptr {table}, i64 {place}")
        value = self._new(f"load i32, ptr {at}")
        return self._new(f"zext i32 {value} to i64")

    # ---- steps

    def _pass(self, tag: str, step: Pass, calls: dict[int, RowCall]) -> None:
        if not calls:
            return
        rows = self.rows
        mine = np.flatnonzero(np.isin(rows.types, list(calls)))
        n, i = len(mine), self._loop(tag, len(mine), step.backwards)
        if n < len(rows.types):
            i = self._entry(self._table(f"{tag}.mine", mine.astype(np.int32)), i)
        used = {base for call in calls.values() for base, *_ in (*call.ins, *call.outs, *call.adds)}
        pointers = {"root": "%rows"}
        for base in self.record[1:]:
            if base in used:
                at = self._entry(self.index, i, self.record.index(base), len(self.record))
                memory = self.constants if base == "constant" else "%rows"
                if base in rows.windows:
                    memory = f"%{self._argument(rows.windows[base][0])}"
                pointers[base] = self._new(f"getelementptr double, ptr {memory}, i64 {at}")
        kind = self._entry(self.index, i, 0, len(self.record))
        cases = " ".join(f"i64 {t}, label %{tag}.t{t}" for t in calls)
        self.lines.append(f"switch i64 {kind}, label %{tag}.end [ {cases} ]")
        for t, call in calls.items():
            symbol = f"{self.name}.{tag}.t{t}"
            uniform = {k for k, (base, _) in enumerate(call.ins) if base == "constant"}
            added = sum(size for _, _, size in call.adds)
            self._kernel(call.function, symbol, added, uniform)
            self.lines.append(f"{tag}.t{t}:")
            places = [self._at(pointers[base], offset) for base, offset in (*call.ins, *call.outs)]
            starts = np.cumsum([0, *(size for _, _, size in call.adds)])
            places += [self._at("%scratch", int(start)) for start in starts]    # where the sums' parts go, then the kernel's work
            self.lines.append(f"call void @{symbol}({', '.join([*(f'ptr {p}' for p in places), *self.mask])})")
            for (base, offset, size), start in zip(call.adds, starts, strict=False):
                for j in range(size):
                    self._add(self._at("%scratch", int(start) + j), self._at(pointers[base], offset + j))
            if t != list(calls)[-1]:
                self.lines.append(f"br label %{tag}.end")
        self._end_loop(tag, n)

    def _at(self, memory: str, block: int) -> str:
        """The address of a block of W doubles."""
        return self._new(f"getelementptr double, ptr {memory}, i64 {block * self.W}")

    def _add(self, part: str, total: str) -> None:
        T = self.module.lanes.T
        x, y = self._new(f"load {T}, ptr {part}, align 8"), self._new(f"load {T}, ptr {total}, align 8")
        self.lines.append(f"store {T} {self._new(f'fadd {T} {x}, {y}')}, ptr {total}, align 8")

    def _kernel(self, f: ca.Function | Staged, symbol: str, before: int, uniform: Collection[int] = ()) -> None:
        """Define a kernel whose own work begins `before` blocks after the scratch memory's."""
        blocks = f.emit(self.module, symbol, uniform) if isinstance(f, Staged) else self.module.add_kernel(
            f, symbol, masked=bool(self.mask), uniform=uniform)
        self.work = max(self.work, before + blocks)

    def _line(self, tag: str, call: Straight) -> None:
        symbol, gathered, scattered = f"{self.name}.{tag}", len(call.read), len(call.written)
        self._kernel(call.function, symbol, gathered + scattered)
        self.lines += [f"%{tag}.store = getelementptr double, ptr %scratch, i64 {gathered * self.W}",
                       f"%{tag}.rest = getelementptr double, ptr %scratch, i64 {(gathered + scattered) * self.W}"]
        self._copy(f"{tag}.gather", "%rows", call.read, "%scratch", None)
        ins, outs = ([f"%{self._argument(name)}" for name in side] for side in (call.ins, call.outs))
        places = ["%scratch", *ins, f"%{tag}.store", *outs, f"%{tag}.rest"]
        self.lines.append(f"call void @{symbol}({', '.join(f'ptr {p}' for p in places)})")
        self._copy(f"{tag}.scatter", f"%{tag}.store", None, "%rows", call.written)

    def _copy(self, tag: str, source: str, read: np.ndarray | None, target: str, written: np.ndarray | None) -> None:
        """target[written[i]] = source[read[i]], W doubles each; None is i itself."""
        n = len(read if read is not None else written)      # type: ignore[arg-type]
        if not n:
            return
        T, places = self.module.lanes.T, {}
        tables = {side: self._table(f"{tag}.{side}", table.astype(np.int32)) for side, table in (
            ("read", read), ("written", written)) if table is not None}
        i = self._loop(tag, n)
        for side, memory in (("read", source), ("written", target)):
            at = self._entry(tables[side], i) if side in tables else i
            at = self._new(f"mul i64 {at}, {self.W}")
            places[side] = self._new(f"getelementptr double, ptr {memory}, i64 {at}")
        value = self._new(f"load {T}, ptr {places['read']}, align 8")
        self.lines.append(f"store {T} {value}, ptr {places['written']}, align 8")
        self._end_loop(tag, n)
