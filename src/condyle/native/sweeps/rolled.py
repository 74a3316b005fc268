"""Long straight lines that repeat themselves as loops: y + h k of six hundred entries is one small kernel, run over all.

The results of a function fall into components: those that share no more than a few operations. Components with the same
operations on other elements of the same arguments are rows of one type (condyle.native.sweeps.sweep), some of them side by
side in one row, so that looking up where a row's numbers stand costs little. The operations on each result stay the same.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from condyle.native.straight.graph import Instructions
from condyle.native.sweeps.sweep import Pass, RowKernel, Sweep

LONG = 1000
"""Operations from which on a straight line is looked at."""
WORTH = 0.3
"""It is rolled if no more than this share of its operations is left to compile."""
CHEAP = 4
"""Operations up to which a value is computed again in every component that needs it."""
ABREAST = 8
"""Components in one row."""


@dataclass(frozen=True)
class Component:
    """Results that belong together.

    Attributes:
        key: operations, operands, constants and arguments: all but which elements of the arguments.
        ins, outs: elements of the arguments that are read, and of the results.
    """

    key: tuple
    ins: tuple[int, ...]
    outs: tuple[int, ...]


def rolled(f: ca.Function) -> Sweep | None:
    """The same function as loops over rows, or None where little would be gained.

    Unlike a kernel it does not read everything before it writes: no result may stand where an argument does.
    """
    shapes = [*map(f.sparsity_in, range(f.n_in())), *map(f.sparsity_out, range(f.n_out()))]
    if f.n_instructions() < LONG or not all(shape.is_dense() for shape in shapes):
        return None
    code = Instructions(f)
    groups: dict[tuple, list[Component]] = {}
    for component in _components(code):
        groups.setdefault(component.key, []).append(component)
    rows: list[list[Component]] = []
    kinds: list[int] = []
    size = 0
    for members in groups.values():
        members.sort(key=lambda c: c.outs)
        whole = len(members) - len(members) % ABREAST if len(members) >= 2 * ABREAST else 0
        for abreast, part in ((ABREAST, members[:whole]), (1, members[whole:])):
            if part:
                size += abreast * len(part[0].key[0])
                made = [part[k:k + abreast] for k in range(0, len(part), abreast)]
                kinds += [1 + max(kinds, default=-1)] * len(made)
                rows += made
    if size > WORTH * f.n_instructions():
        return None
    types = np.array(kinds)
    arguments = [(f"in{k}", f.numel_in(k)) for k in range(f.n_in())]
    results = [(f"out{k}", f.numel_out(k)) for k in range(f.n_out())]
    windows: dict[str, tuple[str, np.ndarray | int]] = {name: (name, 0) for name, _ in arguments}
    kernels = []
    for t in range(1 + types.max()):
        at = np.flatnonzero(types == t)
        kernels.append(_kernel([rows[r] for r in at], at, len(rows), t, windows))
    return Sweep(types, np.zeros(len(rows), dtype=np.int64), {}, windows, arguments, results, [Pass(kernels)])


def _components(code: Instructions) -> Iterator[Component]:
    """Results that share values which are not cheap stand in one component."""
    op, a, b = code.op, code.a, code.b
    leaf = (ca.OP_INPUT, ca.OP_CONST)
    cost = [0] * len(op)
    for k, o in enumerate(op):
        if o not in leaf:
            cost[k] = min(1 + cost[a[k]] + (cost[b[k]] if b[k] >= 0 else 0), CHEAP + 1)
    owner = [-1] * len(op)
    joined = list(range(len(code.outputs)))                  # a component's results lead to the first of them

    def first(r: int) -> int:
        while joined[r] != r:
            joined[r] = joined[joined[r]]
            r = joined[r]
        return r

    for r, (node, _, _) in enumerate(code.outputs):
        todo = [node]
        while todo:
            k = todo.pop()
            if cost[k] <= CHEAP:                            # its operands are cheap too
                continue
            if owner[k] >= 0:
                x, y = sorted((first(owner[k]), first(r)))
                joined[y] = x
                continue
            owner[k] = r
            todo.append(a[k])
            if b[k] >= 0:
                todo.append(b[k])
    together: dict[int, list[int]] = {}
    for r in range(len(joined)):
        together.setdefault(first(r), []).append(r)
    for results in together.values():
        yield _component(code, [code.outputs[r] for r in results])


def _component(code: Instructions, results: Sequence[tuple[int, int, int]]) -> Component:
    op, a, b = code.op, code.a, code.b
    number: dict[int, int] = {}
    nodes: list[tuple] = []
    ins: list[int] = []
    todo = [node for node, _, _ in reversed(results)]
    while todo:                                             # operands first, in an order that the operations alone decide
        k = todo[-1]
        if k in number:
            todo.pop()
            continue
        if op[k] == ca.OP_INPUT:
            nodes.append((op[k], a[k], -1))
            ins.append(b[k])
        elif op[k] == ca.OP_CONST:
            nodes.append((op[k], code.constants[k], -1))
        else:
            missing = [x for x in (b[k], a[k]) if x >= 0 and x not in number]
            if missing:
                todo += missing
                continue
            nodes.append((op[k], number[a[k]], number[b[k]] if b[k] >= 0 else -1))
        number[k] = len(nodes) - 1
        todo.pop()
    places = tuple((number[node], argument) for node, argument, _ in results)
    return Component((tuple(nodes), places), tuple(ins), tuple(element for _, _, element in results))


def _kernel(members: list[list[Component]], at: np.ndarray, rows: int, t: int,
            windows: dict[str, tuple[str, np.ndarray | int]]) -> RowKernel:
    """The kernel of a type of row; `at` are its rows. `windows` gains where these begin in the arguments."""
    nodes, places = members[0][0].key
    arguments = [argument for op, argument, _ in nodes if op == ca.OP_INPUT]
    reads: dict[str, ca.SX] = {}
    read: dict[tuple[int, int], ca.SX] = {}                 # (component of the row, input) -> value
    for k in sorted(set(arguments)):
        slots = [(c, i) for c in range(len(members[0])) for i, argument in enumerate(arguments) if argument == k]
        elements = np.array([[row[c].ins[i] for c, i in slots] for row in members])
        for name, columns, start in _windows(elements, f"in{k}", t):
            first = elements[:, columns] - start[:, None]
            reads[name] = symbol = ca.SX.sym(name, 1 + int(first.max()))
            read |= {slots[j]: symbol[int(x)] for j, x in zip(columns, first[0], strict=True)}
            if name not in windows:
                windows[name] = f"in{k}", _spread(start, at, rows)
    values = [_values(nodes, [read[c, i] for i in range(len(arguments))]) for c in range(len(members[0]))]
    writes: dict[str, ca.SX] = {}
    for k in sorted({argument for _, argument in places}):
        results = [(c, r) for c in range(len(members[0])) for r, (_, argument) in enumerate(places) if argument == k]
        results.sort(key=lambda x: members[0][x[0]].outs[x[1]])
        elements = np.array([[row[c].outs[r] for c, r in results] for row in members])
        cuts = np.flatnonzero((np.diff(elements, axis=1) != 1).any(axis=0)) + 1
        for j, beside in enumerate(np.split(np.arange(len(results)), cuts)):    # side by side in every row
            name = f"out{k}_{t}_{j}"
            windows[name] = f"out{k}", _spread(elements[:, beside[0]], at, rows)
            writes[name] = ca.vertcat(*(values[results[x][0]][places[results[x][1]][0]] for x in beside))
    return RowKernel(reads, writes)


def _windows(elements: np.ndarray, name: str, t: int) -> Iterator[tuple[str, list[int], np.ndarray]]:
    """Columns that move alike from row to row, and where their window begins; those that stay are read from the
    argument's own start."""
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


def _values(nodes: Sequence[tuple], inputs: Sequence[ca.SX]) -> list[ca.SX]:
    """The value of every node."""
    out: list[ca.SX] = []
    given = iter(inputs)
    for op, x, y in nodes:
        if op == ca.OP_INPUT:
            out.append(next(given))
        elif op == ca.OP_CONST:
            out.append(ca.SX(x))
        else:
            out.append(ca.SX.unary(op, out[x]) if y < 0 else ca.SX.binary(op, out[x], out[y]))
    return out
