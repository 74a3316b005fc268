"""Functions of time that are a straight line in each piece, and where their pieces end: what conditions on
time depend on.

An expression of time alone is followed operation by operation, each value a number, some `Lines`, or None
where it is curved. Where a comparison changes its mind, a rounding jumps, or the smaller of two becomes the
other, is a break.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.native.straight.instructions import CHOICE
from condyle.records import dataclass

MOST = 200_000
"""Breaks of one function; one with more is taken as curved."""
STRAIGHT = frozenset(
    (
        ca.OP_ADD,
        ca.OP_SUB,
        ca.OP_MUL,
        ca.OP_NEG,
        ca.OP_TWICE,
        ca.OP_SQ,
        ca.OP_LT,
        ca.OP_LE,
        ca.OP_EQ,
        ca.OP_NE,
        ca.OP_NOT,
        ca.OP_AND,
        ca.OP_OR,
        ca.OP_FLOOR,
        ca.OP_CEIL,
        ca.OP_FABS,
        ca.OP_SIGN,
        ca.OP_FMIN,
        ca.OP_FMAX,
        ca.OP_FMOD,
        ca.OP_REMAINDER,
        ca.OP_IF_ELSE_ZERO,
        ca.OP_CONST,
        ca.OP_INPUT,
        CHOICE,
    )
)
"""Operations that make polynomials in pieces of polynomials in pieces; so does division by a number."""


LEVEL, LINE, BENT, LADDER = range(4)
"""What a value is between its breaks: a number, a line, anything else; and the numbers of a ladder."""


def shape(op: int, x: Sequence[int]) -> tuple[int, bool]:
    """That of an operation's result from those of its operands, and whether it may break where nobody knows:
    what breaks is compared or rounded, and bent, as in (t - 5)^2 < 0.01."""
    if LADDER in x:
        return BENT, False
    if op in (CHOICE, ca.OP_IF_ELSE_ZERO):
        return max(x[1:]), x[0] == LINE
    if op in (ca.OP_MUL, ca.OP_DIV):
        return (max(x) if min(x) == LEVEL else BENT), False
    if op == ca.OP_SQ:
        return (LEVEL if x[0] == LEVEL else BENT), False
    if op in (ca.OP_FABS, ca.OP_FMIN, ca.OP_FMAX, ca.OP_FMOD, ca.OP_REMAINDER):
        return max(x), BENT in x
    if op in _BREAKING:
        return (BENT if BENT in x else LEVEL), BENT in x
    return (max(x) if op in STRAIGHT else BENT), False


_BREAKING = (
    ca.OP_LT,
    ca.OP_LE,
    ca.OP_EQ,
    ca.OP_NE,
    ca.OP_NOT,
    ca.OP_AND,
    ca.OP_OR,
    ca.OP_FLOOR,
    ca.OP_CEIL,
    ca.OP_SIGN,
)


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

    def of(self, slope: np.ndarray, value: np.ndarray) -> Lines:
        return Lines(self.first, self.last, self.breaks, slope, value)

    def times_at(self, levels: np.ndarray) -> np.ndarray:
        """Where it has one of some values."""
        edges, found = self.edges, []
        for a, b, left, right in zip(self.slope, self.value, edges[:-1], edges[1:], strict=True):
            if a:
                t = (levels - b) / a
                found.append(t[(t >= left) & (t <= right)])
        return np.concatenate([np.empty(0), *found])

    def times_at_integers(self, shift: float = 0.0) -> np.ndarray | None:
        """Where it is a whole number and a shift; None if that is too often."""
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
    """Follows operations on values from first to last; `breaks` gathers where something happens."""

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
        return v.of(np.where(c.value, v.slope, w.slope), np.where(c.value, v.value, w.value))

    def _unary(self, op: int, v: Lines) -> Value:
        level = np.zeros_like
        if op in (ca.OP_NEG, ca.OP_TWICE):
            k = -1.0 if op == ca.OP_NEG else 2.0
            return v.of(k * v.slope, k * v.value)
        if op in (ca.OP_FLOOR, ca.OP_CEIL):
            down = np.floor if op == ca.OP_FLOOR else np.ceil
            return self._broken(v.times_at_integers(), v, lambda v: v.of(level(v.slope), down(v.middle)))
        if op in (ca.OP_FABS, ca.OP_SIGN, ca.OP_NOT):
            signed = {
                ca.OP_FABS: lambda v, s: v.of(s * v.slope, s * v.value),
                ca.OP_SIGN: lambda v, s: v.of(level(s), s),
                ca.OP_NOT: lambda v, s: v.of(level(s), (s == 0).astype(float)),
            }[op]
            return self._broken(v.times_at(np.zeros(1)), v, lambda v: signed(v, np.sign(v.middle)))
        if op == ca.OP_SQ and v.levels is not None:
            return v.of(v.slope, v.value**2)
        return None

    def _binary(self, op: int, v: Lines, w: Lines) -> Value:
        level = np.zeros_like(v.slope)
        if op == ca.OP_ADD:
            return v.of(v.slope + w.slope, v.value + w.value)
        if op == ca.OP_SUB:
            return v.of(v.slope - w.slope, v.value - w.value)
        if op == ca.OP_MUL and (v.levels is not None or w.levels is not None):
            v, w = (v, w) if w.levels is not None else (w, v)
            return v.of(v.slope * w.value, v.value * w.value)
        if op == ca.OP_DIV and w.levels is not None and w.value.all():
            return v.of(v.slope / w.value, v.value / w.value)
        if op in (ca.OP_AND, ca.OP_OR) and v.levels is not None and w.levels is not None:
            both = np.logical_and if op == ca.OP_AND else np.logical_or
            return v.of(level, both(v.value, w.value).astype(float))
        if op in (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_FMIN, ca.OP_FMAX):
            d = v.of(v.slope - w.slope, v.value - w.value)
            breaks = d.times_at(np.zeros(1))
            self.breaks.append(breaks)
            d, v, w = d.refined(breaks), v.refined(breaks), w.refined(breaks)
            less, same = d.middle < 0, (d.slope == 0) & (d.value == 0)
            if op in (ca.OP_FMIN, ca.OP_FMAX):
                first = less == (op == ca.OP_FMIN)
                return v.of(np.where(first, v.slope, w.slope), np.where(first, v.value, w.value))
            truth = {ca.OP_LT: less, ca.OP_LE: less | same, ca.OP_EQ: same, ca.OP_NE: ~same}[op]
            return v.of(np.zeros_like(v.slope), truth.astype(float))
        if op in (ca.OP_FMOD, ca.OP_REMAINDER) and w.levels is not None and w.value.all():
            turns = v.of(v.slope / w.value, v.value / w.value)
            wraps = turns.times_at_integers(0.0 if op == ca.OP_FMOD else 0.5)
            if wraps is None:
                return None
            self.breaks.append(wraps)
            turns, v, w = turns.refined(wraps), v.refined(wraps), w.refined(wraps)
            whole = (np.trunc if op == ca.OP_FMOD else np.rint)(turns.middle)
            return v.of(v.slope, v.value - whole * w.value)
        return None

    def found(self) -> np.ndarray:
        """All breaks, increasing, each once."""
        return np.unique(np.concatenate([np.empty(0), *self.breaks]))


_NUMPY: dict[int, Callable[..., Any]] = {
    ca.OP_ADD: np.add,
    ca.OP_SUB: np.subtract,
    ca.OP_MUL: np.multiply,
    ca.OP_DIV: np.divide,
    ca.OP_NEG: np.negative,
    ca.OP_SQ: np.square,
    ca.OP_TWICE: lambda x: x + x,
    ca.OP_INV: np.reciprocal,
    ca.OP_EXP: np.exp,
    ca.OP_SIN: np.sin,
    ca.OP_COS: np.cos,
    ca.OP_SQRT: np.sqrt,
    ca.OP_TANH: np.tanh,
    ca.OP_FABS: np.abs,
    ca.OP_FLOOR: np.floor,
    ca.OP_CEIL: np.ceil,
    ca.OP_FMIN: np.fmin,
    ca.OP_FMAX: np.fmax,
    ca.OP_FMOD: np.fmod,
    ca.OP_SIGN: np.sign,
    ca.OP_LT: np.less,
    ca.OP_LE: np.less_equal,
    ca.OP_EQ: np.equal,
    ca.OP_NE: np.not_equal,
    ca.OP_NOT: np.logical_not,
    ca.OP_AND: np.logical_and,
    ca.OP_OR: np.logical_or,
    CHOICE: np.where,
    ca.OP_IF_ELSE_ZERO: lambda c, x: np.where(c, x, 0.0),
}


def evaluated(op: int, *x: Any) -> Any:
    """An operation on arrays and numbers; CasADi does those that are rare here."""
    if op in _NUMPY:
        return np.asarray(_NUMPY[op](*x), dtype=float)
    arrays: list[Any] = [ca.DM(np.asarray(v, dtype=float).ravel()) for v in np.broadcast_arrays(*x)]
    found = ca.DM.binary(op, *arrays) if len(x) == 2 else ca.DM.unary(op, *arrays)
    return found.full().reshape(np.broadcast_shapes(*map(np.shape, x)))


def follow(
    order: Sequence[int],
    op: Sequence[int],
    operands: Callable[[int], Sequence[int]],
    known: dict[int, Value],
    first: float,
    last: float,
) -> np.ndarray:
    """The breaks of some nodes of a graph, operands before results, from first to last.

    Args:
        order: the nodes.
        op: their operations.
        operands: gives the operands of a node.
        known: values of nodes that are no operations; those of all nodes are added.
        first: where to begin [s].
        last: where to end [s].
    """
    follower = Follower(first, last)
    for k in order:
        if k not in known:
            known[k] = follower.apply(op[k], *(known[j] for j in operands(k)))
    return follower.found()
