"""Long straight-line code with repetitions as loops: y + h k of 600 entries is one small kernel, run often.

A function is decomposed into

  folds       sums, and greatest and least numbers, of many terms
  scalars     values that depend on folds and arguments of size one only; row 0 computes and stores them
  components  terms of folds, and results that share no more than a few operations

Components with the same operations on other elements of the same arguments are rows of one type
(condyle.native.loops.sweep), some side by side in one row, so that finding a row's numbers costs little.
Folds that need other folds come in later passes. The order in which terms of folds are added differs from
that of the straight line; all else is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import reduce

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.native.loops.sweep import RowKernel, RowPass, TableSweep
from condyle.native.straight.instructions import LEAVES, Instructions, apply
from condyle.records import dataclass

LONG = 1000
"""Minimum number of operations of a function to consider."""
WORTH = 0.3
"""A function is rolled if at most this share of its operations remains to be compiled,"""
AGAIN = 2.5
"""and if at most this multiple of its operations runs, since folds and results recompute shared values."""
DENSE = 100
"""A function with more operations than this per number of its arguments and results is not considered: its
entries are not independent.
"""
CHEAP = 4
"""Maximum cost of a shared value that does not join results."""
TERMS = 32
"""A sum with at least this many terms is a fold."""
IN_ROW_0 = -2
"""The operation of a node whose value is in row 0."""

_NEUTRAL = {ca.OP_ADD: 0.0, ca.OP_FMAX: -np.inf, ca.OP_FMIN: np.inf}

Windows = dict[str, tuple[str, np.ndarray | int]]


class FunctionParts(Instructions):
    """The instructions of f, sorted into folds, scalars and components.

    Attributes:
        folds: the terms of each, by node.
        level: length of the longest chain of folds that a node needs.
        scalar: whether a node is one.
        stored: scalars that others read, in row 0.
    """

    def __init__(self, f: ca.Function) -> None:
        super().__init__(f)
        first: dict[tuple, int] = {}
        same: list[int] = []  # the first node with the same value
        for k, op in enumerate(self.op):
            if op not in LEAVES:
                self.a[k] = same[self.a[k]]
                self.b[k] = same[self.b[k]] if self.b[k] >= 0 else -1
            same.append(first.setdefault((op, self.a[k], self.b[k], self.constants.get(k)), k))
        self.outputs = [(same[node], argument, element) for node, argument, element in self.outputs]
        operands = [*map(self.operands, range(len(self.op)))]
        self.folds = self._folds(operands)
        n = len(self.op)
        self.level, self.scalar = [0] * n, [False] * n
        level, scalar, single = self.level, self.scalar, [f.numel_in(k) == 1 for k in range(f.n_in())]
        for k, (op, each) in enumerate(zip(self.op, operands)):
            if k in self.folds:
                level[k], scalar[k] = 1 + max(level[x] for x in self.folds[k]), True
            elif not each:
                scalar[k] = op == ca.OP_CONST or single[self.a[k]]
            else:
                x, y = each[0], each[-1]
                level[k], scalar[k] = max(level[x], level[y]), scalar[x] and scalar[y]
        used = {x for k, each in enumerate(operands) if not scalar[k] for x in each}
        used |= {x for terms in self.folds.values() for x in terms}
        self.stored = {k for k in used if self.scalar[k] and self.op[k] not in LEAVES} | set(self.folds)

    def _folds(self, operands: Sequence[Sequence[int]]) -> dict[int, list[int]]:
        """Trees and chains of one operation whose intermediate values are not used elsewhere, by their last
        node."""
        op, a, b, n = self.op, self.a, self.b, len(self.op)
        uses, user = [0] * n, [-1] * n
        for k, each in enumerate(operands):
            for x in each:
                uses[x] += 1
                user[x] = k
        for k, _, _ in self.outputs:
            uses[k] += 2  # its value is an output
        choice = ca.OP_IF_ELSE_ZERO
        same = [op[k] in _NEUTRAL and not op[a[k]] == choice == op[b[k]] for k in range(n)]
        inner = [same[k] and uses[k] == 1 and op[user[k]] == op[k] and same[user[k]] for k in range(n)]
        found = {}
        for k in range(n):
            if same[k] and uses[k] and not inner[k]:
                terms, todo = [], [k]
                while todo:
                    x = todo.pop()
                    if x == k or inner[x]:
                        todo += (b[x], a[x])
                    else:
                        terms.append(x)
                if len(terms) >= TERMS:
                    found[k] = terms
        return found


@dataclass(frozen=True)
class Component:
    """Results that share values, and the operations that compute them.

    Attributes:
        key: operations, operands, constants, arguments and results, without the indices of their elements.
        ins: elements of the arguments that are read.
        outs: elements of the results.
    """

    key: tuple
    ins: tuple[int, ...]
    outs: tuple[int, ...]


@dataclass
class RowGroup:
    """Rows of one type: the components of each row, and the pass that they belong to."""

    level: int
    members: list[list[Component]]
    fold: int = -1
    at: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def roll(f: ca.Function) -> TableSweep | None:
    """The same function as loops over rows, or None if little would be gained.

    Unlike a kernel, it writes before it has read everything: results and arguments must not overlap.
    """
    shapes = [*map(f.sparsity_in, range(f.n_in())), *map(f.sparsity_out, range(f.n_out()))]
    numbers = sum(shape.numel() for shape in shapes)
    if (
        f.has_free()
        or not LONG <= f.n_instructions() <= DENSE * numbers
        or not all(shape.is_dense() for shape in shapes)
    ):
        return None
    parts = FunctionParts(f)
    last = max((parts.level[k] for k in parts.folds), default=0)
    most = AGAIN * sum(op not in LEAVES for op in parts.op)
    components = _Counted(most)
    types = [*_grouped(components.of(_components(parts)), last)]
    for k, terms in parts.folds.items():
        if components.operations > most:
            return None
        each = (_component(parts, [(x, -1, i)]) for i, x in enumerate(terms))
        types += _grouped(components.of(each), parts.level[k] - 1, k)
    if components.operations > most:
        return None
    left = sum(parts.scalar) + sum(len(x.members[0]) * len(x.members[0][0].key[0]) for x in types)
    if left > WORTH * f.n_instructions():
        return None
    rows = 1
    for x in types:
        x.at = np.arange(rows, rows + len(x.members))
        rows += len(x.members)
    arguments = [(f"in{k}", f.numel_in(k)) for k in range(f.n_in())]
    results = [(f"out{k}", f.numel_out(k)) for k in range(f.n_out())]
    windows: Windows = {name: (name, 0) for name, _ in (*arguments, *results)}
    kernels = [_kernel(parts, x, t, rows, windows) for t, x in enumerate(types, start=1)]
    passes = [
        RowPass(
            [
                _row_0(parts, level, last, windows),
                *(k if x.level == level else None for k, x in zip(kernels, types, strict=True)),
            ]
        )
        for level in range(last + 1)
    ]
    kinds = np.zeros(rows, dtype=np.int64)
    for t, x in enumerate(types, start=1):
        kinds[x.at] = t
    return TableSweep(kinds, np.zeros(rows, dtype=np.int64), {}, windows, arguments, results, passes)


@dataclass
class _Counted:
    """Yields components until they have more operations than `most`. Each term of a sum may contain most of
    a function, and listing them all would take time that grows with the square of its size."""

    most: float
    operations: int = 0

    def of(self, components: Iterator[Component]) -> Iterator[Component]:
        for component in components:
            self.operations += sum(op not in (*LEAVES, IN_ROW_0) for op, *_ in component.key[0])
            if self.operations > self.most:
                return
            yield component


def _grouped(components: Iterator[Component], level: int, fold: int = -1) -> Iterator[RowGroup]:
    """Components of one key grouped side by side in rows; the remaining ones in rows of their own."""
    groups: dict[tuple, list[Component]] = {}
    for component in components:
        groups.setdefault(component.key, []).append(component)
    for key, members in groups.items():
        members.sort(key=lambda c: c.outs)
        several = min(max(8, len(members) // 64), max(8, 128 // len(key[0])))
        whole = len(members) - len(members) % several if len(members) >= 2 * several else 0
        for width, part in ((several, members[:whole]), (1, members[whole:])):
            if part:
                yield RowGroup(level, [part[k : k + width] for k in range(0, len(part), width)], fold)


def _components(parts: FunctionParts) -> Iterator[Component]:
    """Components: results that share expensive values are in one component. Scalars belong to row 0."""
    cost = [0] * len(parts.op)
    for k, scalar in enumerate(parts.scalar):
        if not scalar and (operands := parts.operands(k)):
            cost[k] = min(1 + sum([cost[x] for x in operands]), CHEAP + 1)
    outputs = [r for r in parts.outputs if not parts.scalar[r[0]]]
    for node, argument, element in parts.outputs:  # most elements of a matrix may be zeros
        if parts.op[node] == ca.OP_CONST:
            yield Component((((ca.OP_CONST, parts.constants[node], -1),), ((0, argument),)), (), (element,))
    owner = [-1] * len(parts.op)
    joined = list(range(len(outputs)))  # a component's results lead to the first of them

    def first(r: int) -> int:
        while joined[r] != r:
            joined[r] = joined[joined[r]]
            r = joined[r]
        return r

    for r, (node, _, _) in enumerate(outputs):
        todo = [node]
        while todo:
            k = todo.pop()
            if cost[k] <= CHEAP:  # its operands are cheap too
                continue
            if owner[k] >= 0:
                x, y = sorted((first(owner[k]), first(r)))
                joined[y] = x
                continue
            owner[k] = r
            todo += parts.operands(k)
    together: dict[int, list[int]] = {}
    for r in range(len(joined)):
        together.setdefault(first(r), []).append(r)
    for results in together.values():
        yield _component(parts, [outputs[r] for r in results])


def _component(parts: FunctionParts, results: Sequence[tuple[int, int, int]]) -> Component:
    """The component of some results, each (node, result, element)."""
    number: dict[int, int] = {}
    nodes: list[tuple] = []
    ins: list[int] = []
    todo = [node for node, _, _ in reversed(results)]
    while todo:  # operands first, in an order that depends on operations only
        k = todo[-1]
        op = parts.op[k]
        if k not in number:
            if k in parts.stored:
                nodes.append((IN_ROW_0, k, -1))
            elif op == ca.OP_INPUT:
                nodes.append((op, parts.a[k], -1))
                ins.append(parts.b[k])
            elif op == ca.OP_CONST:
                nodes.append((op, parts.constants[k], -1))
            else:
                operands = parts.operands(k)
                if missing := [x for x in reversed(operands) if x not in number]:
                    todo += missing
                    continue
                nodes.append((op, *(number[x] for x in operands), *(() if len(operands) > 1 else (-1,))))
            number[k] = len(nodes) - 1
        todo.pop()
    places = tuple((number[node], argument) for node, argument, _ in results)
    return Component((tuple(nodes), places), tuple(ins), tuple(element for _, _, element in results))


def _kernel(parts: FunctionParts, x: RowGroup, t: int, rows: int, windows: Windows) -> RowKernel:
    """The kernel of a type of row. Adds to `windows` where its rows begin in the arguments."""
    (nodes, places), components = x.members[0][0].key, range(len(x.members[0]))
    arguments = [argument for op, argument, _ in nodes if op == ca.OP_INPUT]
    reads: dict[str, ca.SX] = {f"root.n{k}": ca.SX.sym("scalar") for op, k, _ in nodes if op == IN_ROW_0}
    read: dict[tuple[int, int], ca.SX] = {}  # (component of the row, input) -> value
    for k in sorted(set(arguments)):
        slots = [(c, i) for c in components for i, argument in enumerate(arguments) if argument == k]
        elements = np.array([[row[c].ins[i] for c, i in slots] for row in x.members])
        for name, columns, start in _alike(elements, f"in{k}", t):
            offset = elements[0, columns] - start[0]
            reads[name] = symbol = ca.SX.sym(name, 1 + int(offset.max()))
            read |= {slots[j]: symbol[int(e)] for j, e in zip(columns, offset, strict=True)}
            if name not in windows:
                windows[name] = f"in{k}", _spread(start, x.at, rows)
    scalars = {k: reads[f"root.n{k}"] for op, k, _ in nodes if op == IN_ROW_0}
    values = [_values(nodes, [read[c, i] for i in range(len(arguments))], scalars) for c in components]
    if x.fold >= 0:
        place, combine = f"root.n{x.fold}", lambda u, v: ca.SX.binary(parts.op[x.fold], u, v)
        total = ca.SX.sym("total")
        terms = reduce(combine, (v[-1] for v in values))
        return RowKernel({**reads, place: total}, {place: combine(total, terms)})
    writes: dict[str, ca.SX] = {}
    for k in sorted({argument for _, argument in places}):
        results = [(c, r) for c in components for r, (_, argument) in enumerate(places) if argument == k]
        results.sort(key=lambda at: x.members[0][at[0]].outs[at[1]])
        elements = np.array([[row[c].outs[r] for c, r in results] for row in x.members])
        cuts = np.flatnonzero((np.diff(elements, axis=1) != 1).any(axis=0)) + 1
        for j, beside in enumerate(np.split(np.arange(len(results)), cuts)):  # side by side in every row
            name = f"out{k}_{t}_{j}"
            windows[name] = f"out{k}", _spread(elements[:, beside[0]], x.at, rows)
            writes[name] = ca.vertcat(*(values[c][places[r][0]] for c, r in (results[i] for i in beside)))
    return RowKernel(reads, writes)


def _alike(elements: np.ndarray, name: str, t: int) -> Iterator[tuple[str, list[int], np.ndarray]]:
    """Groups of columns that advance equally from row to row, and where the window of each group begins;
    columns that stay have a window at 0."""
    moves: dict[bytes, list[int]] = {}
    for j, column in enumerate(elements.T):
        moves.setdefault((column - column[0]).tobytes(), []).append(j)
    for w, columns in enumerate(moves.values()):
        start = elements[:, columns].min(axis=1)
        if (start == start[0]).all():
            yield name, columns, np.zeros_like(start)
        else:
            yield f"{name}_{t}_{w}", columns, start


def _spread(start: np.ndarray, at: np.ndarray, rows: int) -> np.ndarray:
    out = np.zeros(rows, dtype=np.int64)
    out[at] = start
    return out


def _values(nodes: Sequence[tuple], inputs: Sequence[SX], scalars: Mapping[int, SX]) -> list[SX]:
    """The value of every node."""
    out: list[ca.SX] = []
    given = iter(inputs)
    for op, x, y in nodes:
        if op == ca.OP_INPUT:
            out.append(next(given))
        elif op == ca.OP_CONST:
            out.append(ca.SX(x))
        elif op == IN_ROW_0:
            out.append(scalars[x])
        else:
            out.append(apply(op, out[x], *([out[y]] if y >= 0 else [])))
    return out


def _row_0(parts: FunctionParts, level: int, last: int, windows: Windows) -> RowKernel | None:
    """Scalars known from this level on. The first level also sets the start values of folds, the last one
    the results that are scalars."""
    reads: dict[str, ca.SX] = {}
    known: dict[int, ca.SX] = {}
    writes = {f"me.n{k}": ca.SX(_NEUTRAL[parts.op[k]]) for k in parts.folds if level == 0}
    for k, op in enumerate(parts.op):  # operands come first
        if not parts.scalar[k] or parts.level[k] > level:
            continue
        if k in parts.folds or op == ca.OP_INPUT:
            place = f"me.n{k}" if k in parts.folds else f"in{parts.a[k]}"
            known[k] = reads.setdefault(place, ca.SX.sym("x"))
        elif op == ca.OP_CONST:
            known[k] = ca.SX(parts.constants[k])
        else:
            known[k] = apply(op, *(known[i] for i in parts.operands(k)))
        if k in parts.stored and k not in parts.folds and parts.level[k] == level:
            writes[f"me.n{k}"] = known[k]
    for node, argument, element in parts.outputs if level == last else ():
        if parts.scalar[node] and parts.op[node] != ca.OP_CONST:
            name = f"out{argument}_0_{element}"
            windows[name] = f"out{argument}", element
            writes[name] = known[node]
    return RowKernel(reads, writes) if writes else None
