"""Time signals of a system: values in its forces, motions, mobilizers and constraints that depend on t alone.

Each element gives its expressions at a symbolic state. A value of time alone that is combined with a value of
the state, or that is a result, is a *signal*: a force plate's component, a spline of t, the condition t > 5.
The rest of the expressions is smooth, so that a step has to consider signals only: knots.py.

Signals break where a condition on time changes. An expression of time alone is evaluated operation by
operation; each value is a number, a straight line in each of some pieces (`Lines`), or None if it is curved.
A break is where a comparison changes its result, a rounding jumps, or the smaller of two becomes the other.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, vertcat
from condyle.model.time import TimeReader, time_readers
from condyle.native.straight.instructions import CHOICE, Graph
from condyle.native.tables.lookup import RowSource, lookups_in
from condyle.native.tables.lookup_table import LookupTable
from condyle.records import dataclass
from condyle.system.system import System

MOST = 200_000
"""Largest number of breaks of one function; a function with more counts as curved."""


def operations(names: str) -> frozenset[int]:
    """CasADi's codes of operations."""
    return frozenset(getattr(ca, f"OP_{name}") for name in names.split())


BREAKING = operations("LT LE EQ NE NOT AND OR FLOOR CEIL SIGN")
"""Operations that jump."""
BENDING = operations("FABS FMIN FMAX FMOD REMAINDER")
"""Operations that keep lines straight, in more pieces."""
STRAIGHT = BREAKING | BENDING | operations("ADD SUB MUL NEG TWICE SQ IF_ELSE_ZERO CONST INPUT") | {CHOICE}
"""Operations that turn piecewise polynomials into piecewise polynomials; so does division by a number."""


LEVEL, LINE, BENT, LADDER = range(4)
"""Kinds of values between breaks: a number, a line, anything else; and the numbers of a ladder."""


def shape(op: int, x: Sequence[int]) -> tuple[int, bool]:
    """The kind of an operation's result from those of its operands, and whether it may break at unknown
    times: a curved value is compared or rounded, as in (t - 5)^2 < 0.01."""
    if LADDER in x:
        return BENT, False
    if op in (CHOICE, ca.OP_IF_ELSE_ZERO):
        return max(x[1:]), x[0] == LINE
    if op in (ca.OP_MUL, ca.OP_DIV):
        return (max(x) if min(x) == LEVEL else BENT), False
    if op == ca.OP_SQ:
        return (LEVEL if x[0] == LEVEL else BENT), False
    if op in BENDING:
        return max(x), BENT in x
    if op in BREAKING:
        return (BENT if BENT in x else LEVEL), BENT in x
    return (max(x) if op in STRAIGHT else BENT), False


@dataclass(frozen=True, eq=False)
class Lines:
    """slope t + value in each piece, from first to last.

    Args:
        breaks: where pieces meet, shape (m,), increasing, between first and last.
        slope: of each, shape (m + 1,).
        value: of each, shape (m + 1,).
    """

    first: float
    last: float
    breaks: np.ndarray
    slope: np.ndarray
    value: np.ndarray

    @staticmethod
    def time(first: float, last: float) -> Lines:
        return Lines(first, last, np.empty(0), np.ones(1), np.zeros(1))

    @property
    def edges(self) -> np.ndarray:
        return np.concatenate([[self.first], self.breaks, [self.last]])

    @property
    def middle(self) -> np.ndarray:
        """Values in the middle of each piece."""
        edges = self.edges
        return self.slope * (edges[1:] + edges[:-1]) / 2 + self.value

    @property
    def levels(self) -> np.ndarray | None:
        """Values, if all pieces are level."""
        return None if self.slope.any() else self.value

    def refined(self, breaks: np.ndarray) -> Lines:
        """The same in more pieces."""
        breaks = np.union1d(self.breaks, breaks)
        breaks = breaks[(breaks > self.first) & (breaks < self.last)]
        at = np.searchsorted(self.breaks, np.append(-np.inf, breaks), side="right")
        return Lines(self.first, self.last, breaks, self.slope[at], self.value[at])

    def with_pieces(self, slope: np.ndarray, value: np.ndarray) -> Lines:
        return Lines(self.first, self.last, self.breaks, slope, value)

    def times_at(self, levels: np.ndarray) -> np.ndarray:
        """Times at which it has one of some values."""
        edges, found = self.edges, []
        for a, b, left, right in zip(self.slope, self.value, edges[:-1], edges[1:], strict=True):
            if a:
                t = (levels - b) / a
                found.append(t[(t >= left) & (t <= right)])
        return np.concatenate([np.empty(0), *found])

    def times_at_integers(self, shift: float = 0.0) -> np.ndarray | None:
        """Times at which it is a whole number plus a shift; None if there are too many."""
        edges = self.edges
        ends = np.stack([self.slope * edges[:-1], self.slope * edges[1:]]) + self.value - shift
        low, high = np.ceil(ends.min(axis=0)), np.floor(ends.max(axis=0))
        count = np.where(self.slope != 0, np.maximum(high - low + 1, 0), 0)
        if not count.sum() < MOST:
            return None
        found = [
            (np.arange(k, k + n) + shift - b) / a
            for k, n, a, b in zip(low, count, self.slope, self.value, strict=True)
            if n
        ]
        return np.concatenate([np.empty(0), *found])


Value = float | Lines | np.ndarray | None
"""A number, lines, the numbers of a ladder that an argument is compared with, or None: curved."""


class Follower:
    """Evaluates operations on values from first to last; `breaks` collects the times of changes."""

    def __init__(self, first: float, last: float) -> None:
        self.first, self.last = first, last
        self.breaks: list[np.ndarray] = []

    def apply(self, op: int, *x: Any) -> Value:
        """The value of an operation."""
        if all(isinstance(v, float) for v in x):
            if op == CHOICE:
                return x[1] if x[0] else x[2]
            return float(ca.DM.binary(op, *x) if len(x) == 2 else ca.DM.unary(op, *x))
        ladders = [v for v in x if isinstance(v, np.ndarray)]
        if ladders:
            others = [v for v in x if isinstance(v, Lines)]
            if others and op in (ca.OP_LT, ca.OP_LE):
                self.breaks.append(others[0].times_at(ladders[0]))
            return None
        if op in (CHOICE, ca.OP_IF_ELSE_ZERO):
            return self._chosen(*x)
        if any(v is None for v in x):
            return None
        lines = [self._lines(v) for v in x]
        if len(lines) == 1:
            return self._unary(op, lines[0])
        v, w = lines[0].refined(lines[1].breaks), lines[1].refined(lines[0].breaks)
        return self._binary(op, v, w) if len(v.breaks) < MOST else None

    def _lines(self, x: Value) -> Lines:
        """Lines, or a number as one."""
        return (
            x
            if isinstance(x, Lines)
            else Lines(self.first, self.last, np.empty(0), np.zeros(1), np.array([x]))
        )

    def _broken(self, breaks: np.ndarray | None, v: Lines, build: Callable[[Lines], Lines]) -> Lines | None:
        if breaks is None:
            return None
        self.breaks.append(breaks)
        return build(v.refined(breaks))

    def _chosen(self, c: Value, x: Value, y: Value = 0.0) -> Value:
        if isinstance(c, float):
            return x if c else y
        if not isinstance(c, Lines) or c.levels is None or x is None or y is None:
            return None
        v, w = self._lines(x), self._lines(y)
        breaks = np.concatenate([c.breaks, v.breaks, w.breaks])
        c, v, w = c.refined(breaks), v.refined(breaks), w.refined(breaks)
        return v.with_pieces(np.where(c.value, v.slope, w.slope), np.where(c.value, v.value, w.value))

    def _unary(self, op: int, v: Lines) -> Value:
        level = np.zeros_like
        if op in (ca.OP_NEG, ca.OP_TWICE):
            k = -1.0 if op == ca.OP_NEG else 2.0
            return v.with_pieces(k * v.slope, k * v.value)
        if op in (ca.OP_FLOOR, ca.OP_CEIL):
            down = np.floor if op == ca.OP_FLOOR else np.ceil
            return self._broken(
                v.times_at_integers(), v, lambda v: v.with_pieces(level(v.slope), down(v.middle))
            )
        if op in (ca.OP_FABS, ca.OP_SIGN, ca.OP_NOT):
            signed = {
                ca.OP_FABS: lambda v, s: v.with_pieces(s * v.slope, s * v.value),
                ca.OP_SIGN: lambda v, s: v.with_pieces(level(s), s),
                ca.OP_NOT: lambda v, s: v.with_pieces(level(s), (s == 0).astype(float)),
            }[op]
            return self._broken(v.times_at(np.zeros(1)), v, lambda v: signed(v, np.sign(v.middle)))
        if op == ca.OP_SQ and v.levels is not None:
            return v.with_pieces(v.slope, v.value**2)
        return None

    def _binary(self, op: int, v: Lines, w: Lines) -> Value:
        level = np.zeros_like(v.slope)
        if op == ca.OP_ADD:
            return v.with_pieces(v.slope + w.slope, v.value + w.value)
        if op == ca.OP_SUB:
            return v.with_pieces(v.slope - w.slope, v.value - w.value)
        if op == ca.OP_MUL and (v.levels is not None or w.levels is not None):
            v, w = (v, w) if w.levels is not None else (w, v)
            return v.with_pieces(v.slope * w.value, v.value * w.value)
        if op == ca.OP_DIV and w.levels is not None and w.value.all():
            return v.with_pieces(v.slope / w.value, v.value / w.value)
        if op in (ca.OP_AND, ca.OP_OR) and v.levels is not None and w.levels is not None:
            both = np.logical_and if op == ca.OP_AND else np.logical_or
            return v.with_pieces(level, both(v.value, w.value).astype(float))
        if op in (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_FMIN, ca.OP_FMAX):
            d = v.with_pieces(v.slope - w.slope, v.value - w.value)
            breaks = d.times_at(np.zeros(1))
            self.breaks.append(breaks)
            d, v, w = d.refined(breaks), v.refined(breaks), w.refined(breaks)
            less, same = d.middle < 0, (d.slope == 0) & (d.value == 0)
            if op in (ca.OP_FMIN, ca.OP_FMAX):
                first = less == (op == ca.OP_FMIN)
                return v.with_pieces(np.where(first, v.slope, w.slope), np.where(first, v.value, w.value))
            truth = {ca.OP_LT: less, ca.OP_LE: less | same, ca.OP_EQ: same, ca.OP_NE: ~same}[op]
            return v.with_pieces(np.zeros_like(v.slope), truth.astype(float))
        if op in (ca.OP_FMOD, ca.OP_REMAINDER) and w.levels is not None and w.value.all():
            turns = v.with_pieces(v.slope / w.value, v.value / w.value)
            wraps = turns.times_at_integers(0.0 if op == ca.OP_FMOD else 0.5)
            if wraps is None:
                return None
            self.breaks.append(wraps)
            turns, v, w = turns.refined(wraps), v.refined(wraps), w.refined(wraps)
            whole = (np.trunc if op == ca.OP_FMOD else np.rint)(turns.middle)
            return v.with_pieces(v.slope, v.value - whole * w.value)
        return None

    def found(self) -> np.ndarray:
        """All breaks, increasing, each once."""
        return np.unique(np.concatenate([np.empty(0), *self.breaks]))


NUMPY: dict[int, Callable[..., Any]] = {
    getattr(ca, f"OP_{casadi}"): getattr(np, name)
    for casadi, name in (
        pair.split(":")
        for pair in [
            "ADD:add",
            "SUB:subtract",
            "MUL:multiply",
            "DIV:divide",
            "NEG:negative",
            "SQ:square",
            "INV:reciprocal",
            "EXP:exp",
            "SIN:sin",
            "COS:cos",
            "SQRT:sqrt",
            "TANH:tanh",
            "FABS:abs",
            "FLOOR:floor",
            "CEIL:ceil",
            "FMIN:fmin",
            "FMAX:fmax",
            "FMOD:fmod",
            "SIGN:sign",
            "LT:less",
            "LE:less_equal",
            "EQ:equal",
            "NE:not_equal",
            "NOT:logical_not",
            "AND:logical_and",
            "OR:logical_or",
        ]
    )
} | {
    ca.OP_TWICE: lambda x: x + x,
    ca.OP_IF_ELSE_ZERO: lambda c, x: np.where(c, x, 0.0),
    CHOICE: np.where,
}
"""The same operations in NumPy."""


def evaluated(op: int, *x: Any) -> Any:
    """An operation on arrays and numbers; CasADi evaluates the rare ones."""
    if op in NUMPY:
        return np.asarray(NUMPY[op](*x), dtype=float)
    arrays: list[Any] = [ca.DM(np.asarray(v, dtype=float).ravel()) for v in np.broadcast_arrays(*x)]
    found = ca.DM.binary(op, *arrays) if len(x) == 2 else ca.DM.unary(op, *arrays)
    return found.full().reshape(np.broadcast_shapes(*map(np.shape, x)))


TIME, STATE, CURVED = 1, 2, 4
"""Variables of a node, and whether it is more than a piecewise polynomial with known breaks."""
FIXED = 3
"""Inputs of a source's graph before the rows of its look-ups: t, Parameters and Inputs, the state."""
CHUNK = 16_384
"""Number of times at which signals are evaluated together."""


def _readers(system: System) -> Iterator[TimeReader]:
    """Elements that may depend on time, as far as it affects a step; mobilizers of one description once."""
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
    """Bodies whose motion may affect integrated coordinates: all, if forces or constraints may couple them;
    else those of trees in which some coordinate is integrated."""
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
class SignalSource:
    """An element that depends on time: a graph of its expressions, in which signals are nodes.

    Args:
        name: its name in errors.
        graph: its nodes; inputs are t, Parameters and Inputs, the state, rows of look-ups.
        lookups: tables or solvers, with the nodes of their indices, each after those that its index needs.
        followed: nodes that depend only on time and numbers, in which breaks are searched.
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
        g, known, follower = self.graph, dict[int, Value](), Follower(first, last)
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
            else:
                known[k] = follower.apply(g.op[k], *(known[j] for j in operands(g, k)))
        return follower.found()

    def _steps(self, i: int, j: int) -> np.ndarray | None:
        """The numbers of a ladder, each once."""
        table = self.lookups[i][0]
        if not isinstance(table, LookupTable) or not table.ladder or j != 1:
            return None
        found = np.unique(table.rows[:, 1])
        return found[np.isfinite(found)]

    @cached_property
    def _order(self) -> list[tuple[int, list[int]]]:
        """Nodes to compute, in order: for the index of each look-up that signals need, then for the signals
        (-1)."""
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
    """The roots and all nodes from which they are computed."""
    found, left = set(roots), list(roots)
    while left:
        for j in operands(g, left.pop()):
            if j not in found:
                found.add(j)
                left.append(j)
    return found


def source(name: str, t: SX, outputs: list[SX], outside: SX) -> SignalSource | None:
    """The signals of some expressions; None if they do not depend on time."""
    lookups = lookups_in(outputs)
    flat = vertcat(ca.densify(ca.vec(x)) for x in outputs)
    indices = vertcat(lookup.index for lookup in lookups)
    if not ca.depends_on(ca.vertcat(flat, indices), t):
        return None
    rows = [lookup.row for lookup in lookups]
    mine = {s.element_hash() for s in ca.symvar(ca.vertcat(t, outside, *rows))}
    state = [s for s in ca.symvar(ca.vertcat(flat, indices)) if s.element_hash() not in mine]
    f = ca.Function("source", [t, outside, vertcat(state), *rows], [flat, ca.densify(indices)])
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
        """Rows depend on the variables of their indices; rows of solvers are smooth functions of them."""
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
    return SignalSource(
        name,
        g,
        [(lookup.table, mine) for lookup, mine in zip(lookups, index, strict=True)],
        followed,
        nodes,
        [bool(kinds[k] & CURVED) for k in nodes],
    )


class TimeSignals:
    """Time signals of a system.

    Attributes:
        sources: elements that depend on time.
        names: the name of each signal's source.
        curved: which signals are more than polynomials in pieces.
        memory: results of knots.py.
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
        """Values of Parameters, Inputs and Discretes, from tails (..., k); those that no signal uses are
        zero."""
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
    """The time signals of a system, found once."""
    if "timed" not in system.compiled.programs:
        system.compiled.programs["timed"] = TimeSignals(system)
    return system.compiled.programs["timed"]  # type: ignore[no-any-return]
