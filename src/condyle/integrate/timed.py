"""What a system reads of time: forces, motions, mobilizers and constraints that depend on t, and the values
in them that depend on nothing else.

Each is asked for its expressions at a state of unknowns. A value of time alone that meets a value of the
state, or that is a result, is a *signal*: a force plate's component, a spline of t, the truth of t > 5. What
holds in the expressions between is smooth, so that signals are all that a step has to look at: knots.py.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from condyle.integrate.lines import (
    BENT,
    LADDER,
    LEVEL,
    LINE,
    STRAIGHT,
    Lines,
    Value,
    evaluated,
    follow,
    shape,
)
from condyle.model.time import TimeReader, time_readers
from condyle.native.straight.instructions import CHOICE, Graph
from condyle.native.tables.lookup import RowSource, lookups_in
from condyle.native.tables.lookup_table import LookupTable
from condyle.records import dataclass
from condyle.system.system import System

TIME, STATE, CURVED = 1, 2, 4
"""What a node depends on, and whether by more than polynomials in pieces whose ends are known."""
FIXED = 3
"""Inputs of a source's graph before the rows of its look-ups: t, Parameters and Inputs, the state."""
CHUNK = 16_384
"""Times that signals are evaluated at together."""


def _readers(system: System) -> Iterator[TimeReader]:
    """What may depend on time, as far as a step can see it; mobilizers of one description once."""
    model = system.compiled.model
    known, felt = set[str](), _felt(system)
    for reader in time_readers(model):
        if reader.kind == "motions" and reader.body is not None and reader.body.index not in felt:
            continue
        if reader.kind == "joints" and reader.body is not None:
            text = model.mobilizers[reader.body.index]
            if text in known:
                continue
            known.add(text)
        yield reader


def _felt(system: System) -> set[int]:
    """Bodies whose motion something free may feel: all, where forces or constraints may join them; else those
    of trees in which some coordinate is integrated. A step need not see what it does not integrate."""
    model, tree = system.compiled.model, system.compiled.model.tree
    everything = set(tree.base_to_tip)
    if len(model.forces) > 1 or model.constraints or tree.shares:  # more than gravity
        return everything
    root: dict[int, int] = {}
    for B in tree.base_to_tip:
        parent = tree.parent(B)
        root[B] = B if parent is None else root[parent]
    moved = {
        root[b.index] for b in tree.bodies if len(b.motion.coordinates if b.motion else ()) < b.mobilizer.nq
    }
    return {B for B in everything if root[B] in moved}


@dataclass(frozen=True, eq=False)
class Source:
    """One thing that depends on time: a graph of its expressions, in which signals are nodes.

    Args:
        name: as errors call it.
        graph: its nodes; inputs are t, Parameters and Inputs, the state, rows of look-ups.
        lookups: tables or solvers, with the nodes of their indices, each after those that its index needs.
        followed: nodes that depend on nothing but time and numbers, in which breaks are sought.
        signals: nodes.
        curved: which of the signals are more than polynomials in pieces.
    """

    name: str
    graph: Graph
    lookups: list[tuple[RowSource, list[int]]]
    followed: list[int]
    signals: list[int]
    curved: list[bool]

    def breaks(self, values: np.ndarray, first: float, last: float) -> np.ndarray:
        """Times from first to last at which a condition changes or a spline's piece ends, for values of the
        Parameters."""
        g, known = self.graph, dict[int, Value]()
        for k in self.followed:
            if g.op[k] == ca.OP_CONST:
                known[k] = float(g.constants[k])
            elif g.op[k] == ca.OP_INPUT:
                i, j = g.a[k], g.b[k]
                known[k] = (
                    Lines.time(first, last)
                    if i == 0
                    else float(values[j])
                    if i == 1
                    else self._steps(i - FIXED, j)
                )
        return follow(self.followed, g.op, lambda k: operands(g, k), known, first, last)

    def _steps(self, i: int, j: int) -> np.ndarray | None:
        """The numbers of a ladder, each once."""
        table = self.lookups[i][0]
        if not isinstance(table, LookupTable) or not table.ladder or j != 1:
            return None
        found = np.unique(table.rows[:, 1])
        return found[np.isfinite(found)]

    @cached_property
    def _order(self) -> list[tuple[int, list[int]]]:
        """What to compute, in order: nodes for the index of each look-up that signals need, nodes for the
        signals (-1)."""
        g, done = self.graph, set[int]()
        needed = _needed(g, [*self.signals, *(k for _, index in self.lookups for k in index)])
        used = {
            g.a[k] - FIXED for k in _needed(g, self.signals) if g.op[k] == ca.OP_INPUT and g.a[k] >= FIXED
        }
        for i in reversed(range(len(self.lookups))):
            if i in used:
                mine = _needed(g, self.lookups[i][1])
                used |= {g.a[k] - FIXED for k in mine if g.op[k] == ca.OP_INPUT and g.a[k] >= FIXED}
        order = []
        for i, roots in [*((i, self.lookups[i][1]) for i in sorted(used)), (-1, self.signals)]:
            mine = _needed(g, roots) & needed - done
            done |= mine
            order.append((i, sorted(mine)))
        return order

    @cached_property
    def parameters(self) -> list[int]:
        """Numbers of the Parameters and Inputs that signals depend on."""
        g = self.graph
        return sorted(
            {g.b[k] for _, nodes in self._order for k in nodes if g.op[k] == ca.OP_INPUT and g.a[k] == 1}
        )

    def at(self, t: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
        """The signals at times (n,)."""
        g, x, rows = self.graph, dict[int, Any](), dict[int, np.ndarray]()
        for i, nodes in self._order:
            for k in nodes:
                if g.op[k] == ca.OP_CONST:
                    x[k] = g.constants[k]
                elif g.op[k] == ca.OP_INPUT:
                    of, j = g.a[k], g.b[k]
                    x[k] = t if of == 0 else values[j] if of == 1 else rows[of - FIXED][:, j]
                else:
                    x[k] = evaluated(g.op[k], *(x[j] for j in operands(g, k)))
            if i >= 0:
                table, index = self.lookups[i]
                rows[i] = table.evaluate(np.stack([np.broadcast_to(x[k], t.shape) for k in index])).T
        return [np.broadcast_to(x[k], t.shape) for k in self.signals]


def operands(g: Graph, k: int) -> Sequence[int]:
    if g.op[k] == CHOICE:
        return g.choices[k]
    return () if g.op[k] in (ca.OP_INPUT, ca.OP_CONST) else (g.a[k],) if g.b[k] < 0 else (g.a[k], g.b[k])


def _needed(g: Graph, roots: Sequence[int]) -> set[int]:
    """Nodes that some are computed from, and these."""
    found, left = set(roots), list(roots)
    while left:
        for j in operands(g, left.pop()):
            if j not in found:
                found.add(j)
                left.append(j)
    return found


def source(name: str, t: ca.SX, outputs: list[ca.SX], outside: ca.SX) -> Source | None:
    """The signals of some expressions; None if they do not depend on time."""
    lookups = lookups_in(outputs)
    flat = ca.vertcat(ca.SX(0, 1), *(ca.densify(ca.vec(x)) for x in outputs))
    indices = ca.vertcat(ca.SX(0, 1), *(lookup.index for lookup in lookups))
    if not ca.depends_on(ca.vertcat(flat, indices), t):
        return None
    rows = [lookup.row for lookup in lookups]
    mine = {s.element_hash() for s in ca.symvar(ca.vertcat(t, outside, *rows))}
    state = [s for s in ca.symvar(ca.vertcat(flat, indices)) if s.element_hash() not in mine]
    f = ca.Function(
        "source", [t, outside, ca.vertcat(ca.SX(0, 1), *state), *rows], [flat, ca.densify(indices)]
    )
    g = Graph(f, fuse=False)
    element = {k: node for node, argument, k in g.outputs if argument == 1}
    ends = np.cumsum([0, *(lookup.table.needs for lookup in lookups)])
    index = [[element[k] for k in range(a, b)] for a, b in pairwise(ends)]
    results = {node for node, argument, _ in g.outputs if argument == 0}

    ladders = [isinstance(lookup.table, LookupTable) and lookup.table.ladder for lookup in lookups]

    def depend() -> list[int]:
        kinds, shapes = [0] * len(g.op), [LEVEL] * len(g.op)
        for k, op in enumerate(g.op):
            if op == ca.OP_INPUT:
                i = g.a[k] - FIXED
                kinds[k] = looked_up[i] if i >= 0 else (TIME, 0, STATE)[g.a[k]]
                shapes[k] = (LADDER if ladders[i] else BENT) if i >= 0 else LEVEL if g.a[k] else LINE
            elif mine := operands(g, k):
                shapes[k], lost = shape(op, [shapes[j] for j in mine])
                for j in mine:
                    kinds[k] |= kinds[j]
                if lost and kinds[k] & (TIME | STATE) == TIME:
                    kinds[k] |= CURVED
            if kinds[k] and op not in STRAIGHT and not (op == ca.OP_DIV and not kinds[g.b[k]]):
                kinds[k] |= CURVED
        return kinds

    def of_row(table: RowSource, index: list[int]) -> int:
        """Rows depend on what their indices do; those of solvers are smooth functions of them."""
        kind = functools.reduce(operator.or_, (kinds[k] for k in index), 0)
        return kind if isinstance(table, LookupTable) or not kind else kind | CURVED

    looked_up = [0] * len(lookups)
    kinds = depend()
    while (
        found := [of_row(lookup.table, mine) for lookup, mine in zip(lookups, index, strict=True)]
    ) != looked_up:
        looked_up = found
        kinds = depend()
    wanted = _needed(
        g,
        [
            *results,
            *(
                k
                for lookup, mine in zip(lookups, index, strict=True)
                for k in mine
                if not (isinstance(lookup.table, LookupTable) and lookup.table.ladder)
            ),
        ],
    )
    signals = {k for k in results if kinds[k] & (TIME | STATE) == TIME}
    for k in wanted:
        if kinds[k] & STATE:
            signals |= {j for j in operands(g, k) if kinds[j] & (TIME | STATE) == TIME}
    for column, kind in zip(index, looked_up, strict=True):
        if kind & STATE:  # within a solver they meet
            signals |= {j for j in column if kinds[j] & (TIME | STATE) == TIME}
    nodes = sorted(signals)
    followed = sorted(k for k in wanted if not kinds[k] & STATE)
    return Source(
        name,
        g,
        [(lookup.table, mine) for lookup, mine in zip(lookups, index, strict=True)],
        followed,
        nodes,
        [bool(kinds[k] & CURVED) for k in nodes],
    )


class TimeSignals:
    """What a system reads of time.

    Attributes:
        sources: what depends on time.
        names: for each signal that of its source.
        curved: which signals are more than polynomials in pieces.
        memory: what knots.py has found.
    """

    def __init__(self, system: System) -> None:
        t, tree, tail = ca.SX.sym("t"), system.compiled.model.tree, system.compiled.model.tail
        outside = ca.vertcat(ca.SX(0, 1), tree.parameters.symbols, tree.inputs.symbols, tree.discrete.symbols)
        found = [source(reader.words, t, reader.expressions(t), outside) for reader in _readers(system)]
        self.sources = [s for s in found if s is not None]
        self.names = [s.name for s in self.sources for _ in s.signals]
        self.curved = np.array([c for s in self.sources for c in s.curved], dtype=bool)
        self._columns = np.r_[tail["parameters"], tail["inputs"], tail["discrete"]].astype(int)
        self._used = np.zeros(len(self._columns), dtype=bool)
        for s in self.sources:
            self._used[s.parameters] = True
        self.memory: dict[Any, np.ndarray] = {}

    def values(self, tail: np.ndarray) -> np.ndarray:
        """Of Parameters, Inputs and Discretes, from tails (..., k); those that no signal uses are zero."""
        return np.where(self._used, tail[..., self._columns], 0.0)

    def at(self, t: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Signals at times (n,), shape (n, signals)."""
        out = np.empty((len(t), len(self.names)))
        with np.errstate(all="ignore"):
            for k in range(0, len(t), CHUNK):
                here = slice(k, k + CHUNK)
                out[here] = np.stack([x for s in self.sources for x in s.at(t[here], values)], axis=1)
        return out

    def breaks(self, values: np.ndarray, first: float, last: float) -> np.ndarray:
        """Times at which anything breaks, increasing."""
        found = [s.breaks(values, first, last) for s in self.sources]
        return np.unique(np.concatenate([np.empty(0), *found]))


def timed(system: System) -> TimeSignals:
    """What a system reads of time, found once."""
    if "timed" not in system.compiled.programs:
        system.compiled.programs["timed"] = TimeSignals(system)
    return system.compiled.programs["timed"]  # type: ignore[no-any-return]
