"""Twice-differentiable functions of one variable that a model may be described with, on numbers and symbols alike."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.trace import Symbol

__all__ = ["Spline"]


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
            return Symbol(self._at_symbol(x.sx))
        if isinstance(x, ca.SX):
            return ca.reshape(ca.vertcat(*(self._at_symbol(e) for e in ca.vertsplit(ca.vec(x)))), x.shape)
        x = np.asarray(x)
        if x.dtype == object:
            return np.frompyfunc(self, 1, 1)(x)
        row = self.coefficients[np.searchsorted(self.x, x, side="right")]
        return _cubic(x, *np.moveaxis(row, -1, 0))

    def _at_symbol(self, x: ca.SX) -> ca.SX:
        """The row of x is found by a balanced tree of selections, one for each point; then (1) is evaluated once."""
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
