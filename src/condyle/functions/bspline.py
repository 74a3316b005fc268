"""B-splines given by knots and coefficients: docs/theory/functions.md (16)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, warn
from condyle.functions.base import Number, numbers, plain_numbers
from condyle.functions.pieces import Piecewise
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class BSpline(Piecewise):
    """The sum of B-splines of one degree on given knots, each times its coefficient (16). Conventions are
    SciPy's.

    Its interval is from knots[degree] to knots[-degree - 1]. Beyond, the outermost polynomials go on. At a
    knot that occurs m times it has degree - m continuous derivatives; where that is none, a warning says that
    it has a kink.

    Args:
        knots: shape (n + degree + 1,), increasing; equal knots are allowed, at most `degree` times inside.
        coefficients: shape (n,), n > degree; may be Parameters: then evaluating costs in proportion to how
            many are.
        degree: 1, 2, 3, ...
    """

    knots: Sequence[float] | Array
    coefficients: Sequence[Number] | Array
    degree: int = 3

    def __post_init__(self) -> None:
        if isinstance(self.degree, bool) or self.degree not in range(1, 31):
            raise DescriptionError(
                f"BSpline: degree must be a whole number from 1 to 30, got {self.degree!r}"
            )
        k = int(self.degree)
        knots = plain_numbers("BSpline", "knots", self.knots)
        coefficients = numbers("BSpline", "coefficients", self.coefficients)
        for name, value in (("knots", knots), ("coefficients", coefficients), ("degree", k)):
            object.__setattr__(self, name, value)
        if len(coefficients) <= k:
            raise DescriptionError(
                f"BSpline: got {len(coefficients)} coefficient(s), degree {k} needs at least {k + 1}"
            )
        if len(knots) != len(coefficients) + k + 1:
            raise DescriptionError(
                f"BSpline: got {len(knots)} knots; {len(coefficients)} coefficients of "
                f"degree {k} need {len(coefficients) + k + 1}, the number of coefficients "
                "+ degree + 1"
            )
        step = np.diff(knots)
        if not (step >= 0).all():
            i = int(np.argmin(step >= 0))
            raise DescriptionError(
                f"BSpline: knots must not decrease, but knots[{i}] = {knots[i]:g} and "
                f"knots[{i + 1}] = {knots[i + 1]:g}"
            )
        first, last = knots[k], knots[-k - 1]
        if not first < last:
            raise DescriptionError(
                f"BSpline: its interval, from knots[{k}] = {first:g} to knots[{-k - 1}] = "
                f"{last:g}, is empty; spread the knots"
            )
        inside, times = np.unique([x for x in knots if first < x < last], return_counts=True)
        if len(inside) and times.max() > k:
            x, m = inside[times.argmax()], times.max()
            raise DescriptionError(
                f"BSpline: the knot {x:g} occurs {m} times, at most {k} are allowed for degree {k}"
            )
        if len(inside) and times.max() == k:
            warn(
                f"BSpline has a kink at {inside[times.argmax()]:g}: degree {k} and {k} equal knots "
                "leave no continuous derivative; raise the degree or spread the "
                "knots"
            )

    @property
    def values(self) -> tuple[Number, ...]:
        return tuple(self.coefficients)

    def pieces(self, y: Array) -> tuple[Array, Array, Array]:
        from scipy.interpolate import BSpline as Reference

        k, t = self.degree, np.array(self.knots)
        spline = Reference(t, y, k)
        breaks = np.unique(t[(t > t[k]) & (t < t[-k - 1])])
        at = np.concatenate([t[k : k + 1], breaks])
        return (
            breaks,
            at,
            np.stack([spline(at, nu=j) / math.factorial(j) for j in range(k + 1)], axis=1),
        )  # (16)

    def __repr__(self) -> str:
        first, last = self.knots[self.degree], self.knots[-self.degree - 1]
        return (
            f"BSpline({len(self.coefficients)} coefficients, x from {first:g} to {last:g}, degree "
            f"{self.degree})"
        )
