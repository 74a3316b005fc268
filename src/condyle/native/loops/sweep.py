"""Kernels over tables: native loops over rows, where each row runs the kernel of its own type.

Straight-line code grows with the model; here only tables do. A `TableSweep` defines

  rows        each has a type, a parent (row 0 is its own) and *fields*: numbers exchanged between kernels
  links       names of other rows that a row may access, like its parent: for instance the bodies of a spring
  constants   constant numbers of each row, part of the machine code
  windows     where a row's part of an argument begins, for instance its coordinates in q
  steps       the sequence of computations: `RowPass`, `StraightStep`

and becomes one function with the interface of a kernel (condyle.native.straight.kernel_writer): element j of
lane l is at [j W + l], and rows are stored in `work`. Every kernel loads all inputs before it stores. Its
`adds` are added to fields one after the other, so two links of a row may lead to the same row.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import NativeError
from condyle.native.ir.module import Module
from condyle.native.straight.data import known_numbers
from condyle.native.straight.kernel_function import effort, evaluate, sizes
from condyle.native.tables.lookup import Context, current_context, lookup_context, lookups_in
from condyle.native.tables.staged import Staged, build_function
from condyle.records import dataclass

Place = str | tuple[int, str]


@dataclass(frozen=True)
class RowKernel:
    """Expressions of one type of row.

    Args:
        reads: symbols by place: "me.x", "parent.x", "root.x" (row 0) and "link.x" are fields, "constant.x" a
            constant, any other name a window.
        writes: expressions by place: fields or windows. Only the nonzeros of sparse ones are kept;
            kernels that read them give symbols of the same sparsity.
        adds: expressions, dense, that are added to fields.
    """

    reads: Mapping[str, ca.SX]
    writes: Mapping[str, ca.SX]
    adds: Mapping[str, ca.SX] = field(default_factory=dict)

    def places(self) -> Iterator[tuple[str, ca.SX]]:
        """All places that it reads, writes or adds to, with their expressions."""
        for side in (self.writes, self.reads, self.adds):
            yield from side.items()


@dataclass(frozen=True)
class RowPass:
    """A pass over the rows, in order or `backwards`. `kernels` has one per type; None for types that the
    pass skips.

    `walk`, if given, lists the rows in the order in which they run, each with the number of its kernel;
    each kernel then serves rows of one type.
    """

    kernels: Sequence[RowKernel | None]
    backwards: bool = False
    walk: tuple[np.ndarray, np.ndarray] | None = None

    def order(self, types: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows, and the numbers of their kernels, in the order in which they run."""
        if self.walk is not None:
            rows, numbers = self.walk
        else:
            rows = np.arange(len(types))[::-1] if self.backwards else np.arange(len(types))
            numbers = types[rows]
        there = np.array([k is not None for k in self.kernels], dtype=bool)
        mine = (numbers < len(there)) & there[np.minimum(numbers, len(there) - 1)]
        return rows[mine], numbers[mine]

    def typed(self, types: np.ndarray) -> list[tuple[int, int, RowKernel]]:
        """Number, type of the rows, and kernel of each kernel that runs."""
        rows, numbers = self.order(types)
        first = dict(zip(numbers[::-1].tolist(), types[rows[::-1]].tolist(), strict=True))
        return [
            (k, first[k], kernel)
            for k, kernel in enumerate(self.kernels)
            if kernel is not None and k in first
        ]


@dataclass(frozen=True)
class StraightStep:
    """Straight-line code over fields of some rows, (row, field), and over whole arguments by name."""

    reads: Mapping[Place, ca.SX]
    writes: Mapping[Place, ca.SX]


@dataclass(frozen=True, eq=False)
class RowCall:
    """The form in which a RowKernel is compiled: base (me, a link, constant or a window) and offset of each
    argument and result. The last results are those to be added: base, offset and size of each."""

    function: ca.Function | Staged
    ins: list[tuple[str, int]]
    outs: list[tuple[str, int]]
    adds: list[tuple[str, int, int]]


@dataclass(frozen=True, eq=False)
class StraightCall:
    """The form in which a StraightStep is compiled: places of fields among all rows; names of whole
    arguments and results."""

    function: ca.Function | Staged
    read: np.ndarray
    ins: list[str]
    written: np.ndarray
    outs: list[str]


@dataclass(frozen=True, eq=False)
class TableSweep:
    """Tables and steps. See the module's text.

    Args:
        types: type of each row, shape (n,).
        parents: parent of each row, shape (n,); parents come before their children.
        links: by name, the row that each row reaches, shape (n,); -1 for none.
        constants: by name, shape (n, size). Only those that the kernels of a row's type read are kept.
        windows: by name, the argument and where each row's part of it begins, shape (n,) or one for all.
        arguments: their names and sizes.
        results: their names and sizes.
        cleared: results that begin with zeros; all others are written whole.
    """

    types: np.ndarray
    parents: np.ndarray
    constants: Mapping[str, np.ndarray]
    windows: Mapping[str, tuple[str, np.ndarray | int]]
    arguments: Sequence[tuple[str, int]]
    results: Sequence[tuple[str, int]]
    steps: Sequence[RowPass | StraightStep]
    links: Mapping[str, np.ndarray] = field(default_factory=dict)
    cleared: Sequence[str] = ()
    _merged: dict[int, dict[int, RowCall]] = field(default_factory=dict, init=False)
    _straight: dict[int, StraightCall] = field(default_factory=dict, init=False)
    _together: dict[int, list[tuple[int, np.ndarray]]] = field(default_factory=dict, init=False)
    # look-ups of the kernels, needed when they are merged
    _context: Context = field(default_factory=current_context, init=False)

    def __post_init__(self) -> None:
        rows = np.arange(len(self.types))
        if np.any(self.parents > np.maximum(rows - 1, 0)) or np.any(self.parents < 0):
            raise NativeError("rows: a parent must come before its row, and row 0 is its own")
        for name, link in self.links.items():
            if link.shape != rows.shape or np.any(link < -1) or np.any(link >= len(rows)):
                raise NativeError(
                    f"rows: link {name!r} leads to rows {link.min()} to {link.max()}; there are {len(rows)}"
                )

    @cached_property
    def reach(self) -> dict[str, np.ndarray]:
        """The row that each row reaches, by the name of the link; parent and root are links of all."""
        return {"parent": self.parents, "root": np.zeros_like(self.parents), **self.links}

    def reached(self, t: int, link: str) -> list[int]:
        """The types of the rows that rows of type t reach by a link."""
        rows = self.reach[link][self.types == t]
        if np.any(rows < 0):
            raise NativeError(f"rows: some rows of type {t} have no {link!r}")
        return sorted(set(self.types[rows].tolist()))

    @property
    def inputs(self) -> list[int]:
        return [size for _, size in self.arguments]

    @property
    def outputs(self) -> list[int]:
        return [size for _, size in self.results]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in (*self.arguments, *self.results)]

    def n_instructions(self) -> int:
        """Scalar operations for one state."""
        total = 0
        for k, step in enumerate(self.steps):
            if isinstance(step, StraightStep):
                total += self.straight(k).function.n_instructions()
            else:
                count = np.bincount(step.order(self.types)[1], minlength=len(step.kernels))
                total += sum(
                    int(count[j]) * call.function.n_instructions() for j, call in self.merged(k).items()
                )
        return total

    @property
    def effort(self) -> tuple[float, int]:
        """See kernel_function.effort."""
        calls, written = 0.0, 0
        for k, step in enumerate(self.steps):
            if isinstance(step, StraightStep):
                mine = [(1, self.straight(k).function)]
            else:
                count = collections.Counter(number for number, _ in self.together(k))
                mine = [(count[j], call.function) for j, call in self.merged(k).items()]
            for rows, f in mine:
                each, operations = effort(f)
                calls += rows * each
                written += operations
        return calls, written

    def together(self, k: int) -> list[tuple[int, np.ndarray]]:
        """The runs of a RowPass without machine code: the number of a kernel, and the rows for which it
        runs at once."""
        if k not in self._together:
            step = self.steps[k]
            assert isinstance(step, RowPass)
            rows, numbers = step.order(self.types)
            if step.walk is None and independent(self, step):
                self._together[k] = [(j, rows[numbers == j]) for j in dict.fromkeys(numbers.tolist())]
            else:
                self._together[k] = list(zip(numbers.tolist(), rows[:, None], strict=True))
        return self._together[k]

    def kernels(self) -> Iterator[tuple[int, RowKernel]]:
        """Each kernel with its type, in the order of the steps."""
        for step in self.steps:
            if isinstance(step, RowPass):
                yield from ((t, kernel) for _, t, kernel in step.typed(self.types))

    @cached_property
    def layout(self) -> list[dict[str, slice]]:
        """Where each field is in a row, by type. Fields that links reach come first, at the same place in
        all types of a family."""
        sizes: list[dict[str, int]] = [{} for _ in range(1 + int(self.types.max(initial=0)))]
        present = set(self.types.tolist())
        # types that links reach together, and the fields they share
        families: list[tuple[set[int], dict[str, int]]] = []

        def note(known: dict[str, int], name: str, size: int) -> None:
            if known.setdefault(name, size) != size:
                raise NativeError(f"rows: field {name!r} has sizes {known[name]} and {size}")

        for t, kernel in self.kernels():
            for place, x in kernel.places():
                where, _, name = place.partition(".")
                if where == "root":
                    note(sizes[self.types[0]], name, x.nnz())
                elif where == "me":
                    note(sizes[t], name, x.nnz())
                elif where in self.reach and t in present:
                    types, shared = set(self.reached(t, where)), {name: x.nnz()}
                    if len(types) == 1:
                        note(sizes[types.pop()], name, x.nnz())
                        continue
                    for family in [f for f in families if f[0] & types]:
                        families.remove(family)
                        types |= family[0]
                        for other, size in family[1].items():
                            note(shared, other, size)
                    families.append((types, shared))
        for step in self.steps:
            if isinstance(step, StraightStep):
                for at, x in (*step.writes.items(), *step.reads.items()):
                    if isinstance(at, tuple):
                        note(sizes[self.types[at[0]]], at[1], x.nnz())
        out = []
        for t, known in enumerate(sizes):
            common = next((shared for types, shared in families if t in types), {})
            order = dict.fromkeys(
                name
                for types, _ in families
                if t in types
                for u in sorted(types)
                for name in sizes[u]
                if name in common
            )
            for name in common:
                note(known, name, common[name])
            out.append(
                _slices(
                    {
                        name: known[name]
                        for name in (*order, *(k for k in (*known, *common) if k not in order))
                    }
                )
            )
        return out

    @cached_property
    def constant_layout(self) -> list[dict[str, slice]]:
        """Where each constant is among those of a row, by type."""
        used: list[dict[str, int]] = [{} for _ in range(1 + int(self.types.max(initial=0)))]
        for t, kernel in self.kernels():
            for place, x in kernel.reads.items():
                where, _, name = place.partition(".")
                if where == "constant":
                    if x.nnz() != self.constants[name].shape[1]:
                        raise NativeError(
                            f"rows: constant {name!r} has {self.constants[name].shape[1]} "
                            f"numbers per row, a kernel reads {x.nnz()}"
                        )
                    used[t][name] = x.nnz()
        return [_slices(sizes) for sizes in used]

    @cached_property
    def start(self) -> np.ndarray:
        """Where each row begins among the fields of all rows; one more entry for the end."""
        sizes = np.array([end(layout) for layout in self.layout], dtype=np.int64)[self.types]
        return np.concatenate([[0], np.cumsum(sizes)])

    def elements(self, row: int, name: str) -> np.ndarray:
        """Places of a row's field among the fields of all rows."""
        s = self.layout[self.types[row]][name]
        return self.start[row] + np.arange(s.start, s.stop)

    def merged(self, k: int) -> dict[int, RowCall]:
        """The kernels of a RowPass by number, as functions with few arguments; empty for other steps."""
        step = self.steps[k]
        if k not in self._merged:
            present = step.typed(self.types) if isinstance(step, RowPass) else []
            with lookup_context(self._context):
                calls = {number: _merge(self, t, kernel) for number, t, kernel in present}
            self._merged[k] = {number: call for number, call in calls.items() if call.outs or call.adds}
        return self._merged[k]

    def straight(self, k: int) -> StraightCall:
        """The kernel of a StraightStep: f(gathered fields, whole arguments) gives (fields to scatter, whole
        results)."""
        if k not in self._straight:
            with lookup_context(self._context):
                self._straight[k] = self._make_straight(self.steps[k])
        return self._straight[k]

    def _make_straight(self, step: Any) -> StraightCall:
        ins, outs = ([p for p in side if isinstance(p, str)] for side in (step.reads, step.writes))
        fields = [
            [(p, x) for p, x in side.items() if isinstance(p, tuple)] for side in (step.reads, step.writes)
        ]
        gathered, scattered = (ca.vertcat(ca.SX(0, 1), *(x.nz[:] for _, x in side)) for side in fields)
        read, written = (
            np.concatenate([np.zeros(0, np.int64), *(self.elements(*p) for p, _ in side)]) for side in fields
        )
        f = build_function(
            "line", [gathered, *(step.reads[p] for p in ins)], [scattered, *(step.writes[p] for p in outs)]
        )
        return StraightCall(f, read, ins, written, outs)

    def whole(self, name: str) -> tuple[str, int]:
        """The argument or result that a StraightStep calls `name`, and where it begins there: a window may
        be part of an argument."""
        whole, start = self.windows.get(name, (name, 0))
        return (name, 0) if name in self.names or isinstance(start, np.ndarray) else (whole, start)

    def emit(self, module: Module, name: str, masked: bool = False) -> int:
        """Define `@name` as a kernel; returns how many blocks of W doubles `work` must hold.

        With `masked`, a last argument says which lanes are stored; all steps must then be passes.
        """
        from condyle.native.loops.sweep_writer import SweepWriter

        return SweepWriter(self, module, name, masked).write()

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Results (size, states) at arguments (size, states), by CasADi's evaluator."""
        return _Evaluation(self, arguments).run()


def _slices(sizes: Mapping[str, int]) -> dict[str, slice]:
    out, start = {}, 0
    for name, n in sizes.items():
        out[name], start = slice(start, start + n), start + n
    return out


def end(layout: Mapping[str, slice]) -> int:
    return max((s.stop for s in layout.values()), default=0)


def _merge(rows: TableSweep, t: int, kernel: RowKernel) -> RowCall:
    """Fields that lie side by side become one argument or one result."""
    layouts = {"me": rows.layout[t], "root": rows.layout[rows.types[0]], "constant": rows.constant_layout[t]}

    def place(text: str) -> tuple[str, int]:
        where, dot, name = text.partition(".")
        if dot:
            if where not in layouts:
                layouts[where] = rows.layout[rows.reached(t, where)[0]]
            return where, layouts[where][name].start
        if where not in rows.windows:
            raise NativeError(f"rows: no window {where!r} among {list(rows.windows)}")
        return where, 0

    symbols: dict[str, list[tuple[int, ca.SX]]] = {}
    results = [x.nz[:] for x in (*kernel.writes.values(), *kernel.adds.values())]
    used = {s.element_hash() for s in ca.symvar(ca.veccat(*results, *(x.index for x in lookups_in(results))))}
    for text, x in kernel.reads.items():
        if any(s.element_hash() in used for s in ca.symvar(x)):
            base, offset = place(text)
            symbols.setdefault(base, []).append((offset, x.nz[:]))
    arguments, ins = [], []
    for base, parts in symbols.items():
        whole = ca.vertsplit(ca.SX.sym(base, max(offset + x.numel() for offset, x in parts)))
        for offset, x in parts:
            whole[offset : offset + x.numel()] = ca.vertsplit(x)
        arguments.append(ca.vertcat(*whole))
        ins.append((base, 0))
    results, outs = [], []  # type: ignore[var-annotated]
    spans = [(*place(text), x.nz[:]) for text, x in kernel.writes.items() if x.nnz()]
    for base, offset, x in sorted(spans, key=lambda span: span[:2]):
        if outs and outs[-1][0] == base and outs[-1][1] + results[-1].numel() == offset and base in layouts:
            results[-1] = ca.vertcat(results[-1], x)
        else:
            outs.append((base, offset))
            results.append(x)
    adds = [(*place(text), x.numel()) for text, x in kernel.adds.items()]
    results += [ca.densify(x) for x in kernel.adds.values()]
    return RowCall(build_function("kernel", arguments, ca.cse(results) if results else []), ins, outs, adds)


def independent(sweep: TableSweep, step: RowPass) -> bool:
    """Whether no row reads or writes what another row writes."""
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


class _Evaluation:
    """The same steps without machine code. Fields of all rows are an array (size, states). Independent rows
    run together, as if they were states, others one at a time."""

    def __init__(self, rows: TableSweep, arguments: Sequence[np.ndarray]) -> None:
        self.rows, self.states = rows, arguments[0].shape[1]
        self.vectors = {name: np.array(a) for (name, _), a in zip(rows.arguments, arguments, strict=True)}
        self.vectors |= {name: np.zeros((size, self.states)) for name, size in rows.results}
        self.fields = np.zeros((int(rows.start[-1]), self.states))

    def run(self) -> list[np.ndarray]:
        rows = self.rows
        for k, step in enumerate(rows.steps):
            if isinstance(step, RowPass):
                for number, mine in rows.together(k):
                    if (call := rows.merged(k).get(number)) is not None:
                        self._call(mine, call)
            else:
                line = rows.straight(k)
                out = evaluate(
                    line.function, self.fields[line.read], *(self.vectors[name] for name in line.ins)
                )
                self.fields[line.written] = out[0]
                for name, y in zip(line.outs, out[1:], strict=True):
                    whole, start = rows.whole(name)
                    self.vectors[whole][start : start + len(y)] = y
        return [self.vectors[name] for name, _ in rows.results]

    def _call(self, mine: np.ndarray, call: RowCall) -> None:
        """Run a kernel for some rows; their states are side by side, (size, rows states)."""
        given = []
        for (base, offset), n in zip(call.ins, sizes(call.function)[0], strict=True):
            memory, places = self._memory(mine, base, offset, n)
            found = memory[places]  # (rows, n, states), of constants (rows, n)
            found = found if found.ndim == 3 else np.repeat(found[..., None], self.states, axis=2)
            given.append(found.transpose(1, 0, 2).reshape(n, -1))
        results = evaluate(call.function, *given, states=len(mine) * self.states)
        kept = [
            y.reshape(len(y), len(mine), self.states).transpose(1, 0, 2)
            for y in results[: len(call.outs) + len(call.adds)]
        ]
        for (base, offset), y in zip(call.outs, kept, strict=False):
            memory, places = self._memory(mine, base, offset, y.shape[1])
            memory[places] = y
        for (base, offset, n), y in zip(call.adds, kept[len(call.outs) :], strict=True):
            memory, places = self._memory(mine, base, offset, n)
            np.add.at(memory, places, y)  # in the order of the rows

    def _memory(self, mine: np.ndarray, base: str, offset: int, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The array that holds n numbers of each row, and their places in it, (rows, n)."""
        rows, each = self.rows, offset + np.arange(n)
        if base == "constant":
            layout = rows.constant_layout[rows.types[mine[0]]]
            numbers = known_numbers(
                np.concatenate(
                    [np.zeros((len(mine), 0)), *(rows.constants[name][mine] for name in layout)], axis=1
                )
            )
            return numbers.reshape(-1), np.arange(len(mine))[:, None] * numbers.shape[1] + each
        if base in rows.windows:
            name, start = rows.windows[base]
            return self.vectors[name], np.broadcast_to(start, len(rows.types))[mine][:, None] + each
        return self.fields, rows.start[mine if base == "me" else rows.reach[base][mine]][:, None] + each
