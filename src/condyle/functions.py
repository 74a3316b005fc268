"""Twice-differentiable functions of one variable that a model may be described with, on numbers and symbols alike."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.native.lookup import Table, get
from condyle.trace import Symbol

__all__ = ["Spline"]

LOOK_UP_FROM = 12
"""Points from which a spline is looked up in a table instead of being selected in the kernel."""

MOST_BUCKETS = 20_000
"""A spline whose points lie closer than its range divided by this is selected in the kernel all the same."""


@dataclass(frozen=True, repr=False)
class Spline:
    """The natural cubic spline through points (x, y): two continuous derivatives, a straight line beyond either end.

    On segment k, with t = x - x_k,

        y = a_k + b_k t + c_k t^2 + d_k t^3                                                                  (1)

    The second derivative is zero at both ends, so that the straight lines join with two continuous derivatives too.

    Args:
        x: where the points lie, shape (n,), n >= 3, strictly increasing.
        y: values there, shape (n,).
    """

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("x", "y"):
            object.__setattr__(self, name, _numbers(name, getattr(self, name)))
        x, y = self.x, self.y
        if len(x) != len(y):
            raise DescriptionError(f"Spline: {len(x)} values of x but {len(y)} of y; give one y for each x")
        if len(x) < 3:
            raise DescriptionError(f"Spline: got {len(x)} point(s), needs at least 3; a line is lambda q: a + b * q")
        step = np.diff(x)
        if not (step > 0).all():
            k = int(np.argmin(step > 0))
            advice = "reverse both x and y" if (step < 0).all() else \
                "two points share one x: keep one of them" if step[k] == 0 else "sort the points by x"
            raise DescriptionError(f"Spline: x must increase strictly, but x[{k}] = {x[k]:g} and x[{k + 1}] = "
                                   f"{x[k + 1]:g}; {advice}")

    def __repr__(self) -> str:
        return f"Spline({len(self.x)} points, x from {self.x[0]:g} to {self.x[-1]:g})"

    @cached_property
    def coefficients(self) -> np.ndarray:
        """Rows (x_k, a_k, b_k, c_k, d_k) of (1), shape (n + 1, 5): left line, n - 1 segments, right line."""
        from scipy.interpolate import CubicSpline

        x, y = np.array(self.x), np.array(self.y)
        spline = CubicSpline(x, y, bc_type="natural")
        d, c, b, a = spline.c
        ends = [[x[i], y[i], float(spline(x[i], 1)), 0.0, 0.0] for i in (0, -1)]
        rows = np.vstack([ends[0], np.column_stack([x[:-1], a, b, c, d]), ends[1]])
        rows.flags.writeable = False
        return rows

    def __call__(self, x: Any) -> Any:
        """The value at x: a number, an array of any shape (elementwise), a Symbol, or casadi.SX (elementwise)."""
        if isinstance(x, Symbol):
            return Symbol(self._looked_up(x.sx))
        if isinstance(x, ca.SX):
            return ca.reshape(ca.vertcat(*(self._selected(e) for e in ca.vertsplit(ca.vec(x)))), x.shape)
        x = np.asarray(x)
        if x.dtype == object:
            return np.frompyfunc(self, 1, 1)(x)
        row = self.coefficients[np.searchsorted(self.x, x, side="right")]
        return _cubic(x, *np.moveaxis(row, -1, 0))

    @cached_property
    def _tables(self) -> tuple[Table, Table, float] | None:
        """Buckets and coefficients as tables, and the width of a bucket; None where buckets would be too many.

        A bucket is no wider than the nearest two points, so that it holds at most one: its row says which row of
        coefficients holds at its left edge, and from which x the next one does.
        """
        x = np.array(self.x)
        width = float(np.diff(x).min())
        count = int(np.ceil((x[-1] - x[0]) / width)) + 1
        if count > MOST_BUCKETS:
            return None
        edges = np.concatenate([[-np.inf], x[0] + width * np.arange(count)])
        first = np.searchsorted(x, edges, side="right")
        return Table.of(np.column_stack([first, np.append(x, np.inf)[first]])), Table.of(self.coefficients), width

    def _looked_up(self, x: ca.SX) -> ca.SX:
        """Two look-ups find the row of x, at a cost that does not depend on the number of points."""
        if len(self.x) < LOOK_UP_FROM or self._tables is None:
            return self._selected(x)
        buckets, coefficients, width = self._tables
        bucket = get(buckets, 1 + ca.floor((x - self.x[0]) / width))
        return _cubic(x, *ca.vertsplit(get(coefficients, bucket[0] + (x >= bucket[1]))))

    def _selected(self, x: ca.SX) -> ca.SX:
        """A balanced tree of selections, one for each point, finds the row of x: an expression by itself."""
        rows = ca.SX(ca.DM(self.coefficients.T))

        def pick(first: int, last: int) -> ca.SX:
            if first == last:
                return rows[:, first]
            middle = (first + last) // 2
            return ca.if_else(x < self.x[middle], pick(first, middle), pick(middle + 1, last))

        return _cubic(x, *ca.vertsplit(pick(0, len(self.x))))


def _cubic(x: Any, x_k: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    t = x - x_k
    return a + t * (b + t * (c + t * d))


def _numbers(name: str, values: Sequence[float]) -> tuple[float, ...]:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise DescriptionError(f"Spline: {name} must be a sequence of numbers, got {values!r}") from error
    if array.ndim != 1:
        raise DescriptionError(f"Spline: {name} must have shape (n,), got {array.shape}")
    if not np.isfinite(array).all():
        k = int(np.argmin(np.isfinite(array)))
        raise DescriptionError(f"Spline: {name}[{k}] = {array[k]}; all values must be finite: leave that point out")
    return tuple(array.tolist())
