"""Polynomials of one or several variables: docs/theory/functions.md (6), (7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.functions.base import Function, Number, as_operand, numbers
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Polynomial(Function):
    """c_0 + c_1 x + c_2 x^2 + ... (6), or a sum of terms c x_1^e1 x_2^e2 ... of several variables (7).

        Polynomial((1, 0, 2))                                    # 1 + 2 x^2
        Polynomial((3, 0.5), exponents=((1, 0), (1, 2)))         # 3 x + 0.5 x y^2

    Args:
        coefficients: shape (n,), the lowest power first; may be Parameters.
        exponents: shape (n, variables), whole numbers >= 0, one row per coefficient; default: powers 0 .. n-1
            of one variable.
    """

    coefficients: Sequence[Number] | Array
    exponents: Sequence[Sequence[int]] | Array | None = None

    def __post_init__(self) -> None:
        c = numbers("Polynomial", "coefficients", self.coefficients)
        object.__setattr__(self, "coefficients", c)
        if self.exponents is None:
            return
        try:
            array = np.asarray(self.exponents, dtype=float)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.ndim != 2 or len(array) != len(c) or array.shape[1] == 0:
            raise DescriptionError(
                f"Polynomial: exponents must have shape ({len(c)}, variables), one row "
                f"per coefficient, got {self.exponents!r}"
            )
        bad = ~((array >= 0) & (array == np.floor(array)) & (array <= 100))
        if bad.any():
            i, j = np.argwhere(bad)[0]
            raise DescriptionError(
                f"Polynomial: exponents[{i}][{j}] = {array[i, j]:g}; allowed are 0, 1, 2, ... 100"
            )
        object.__setattr__(self, "exponents", tuple(tuple(map(int, row)) for row in array))

    @property
    def variables(self) -> int:  # type: ignore[override]
        return 1 if self.exponents is None else len(self.exponents[0])

    def formula(self, x: Sequence[Any], order: Sequence[int], look_up: bool) -> Any:
        exponents = (
            [(k,) for k in range(len(self.coefficients))] if self.exponents is None else self.exponents
        )
        terms: dict[tuple[int, ...], Any] = {}
        for e, c in zip(exponents, self.coefficients, strict=True):
            factor = math.prod(math.perm(k, n) for k, n in zip(e, order, strict=True))
            if factor:
                lowered = tuple(k - n for k, n in zip(e, order, strict=True))
                terms[lowered] = terms.get(lowered, 0.0) + factor * as_operand(c)
        return _horner(terms, x)


def _horner(terms: dict[tuple[int, ...], Any], x: Sequence[Any]) -> Any:
    """(6) by the powers of the first variable, whose coefficients are polynomials of the others (7)."""
    if not terms:
        return 0.0
    if not x:
        return terms[()]

    def inner(power: int) -> Any:
        return _horner({e[1:]: c for e, c in terms.items() if e[0] == power}, x[1:])

    highest = max(e[0] for e in terms)
    result = inner(highest)
    for power in range(highest - 1, -1, -1):
        result = result * x[0] + inner(power)
    return result
