"""Constant, Linear, Sine and SmoothStep: docs/theory/functions.md (1)-(5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.functions.base import Function, Number, as_operand, at_default, choose, number, numbers, short
from condyle.records import assign, dataclass
from condyle.trace.symbol import Outcome


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Function):
    """The same value everywhere, of any number of variables (1).

    Args:
        value: the value; may be a Parameter.
    """

    value: Number

    variables = None

    def __post_init__(self) -> None:
        assign(self, value=number("Constant: value", self.value))

    def formula(self, x: Sequence[Outcome], order: Sequence[int], look_up: bool) -> Outcome:
        return 0.0 if any(order) else as_operand(self.value)  # (1)


@dataclass(frozen=True, eq=False, repr=False)
class Linear(Function):
    """intercept + slope x, or intercept + slope_1 x_1 + slope_2 x_2 + ... of several variables (2).

    Args:
        slope: a number, or one for each variable.
        intercept: the value at zero. All may be Parameters.
    """

    slope: Number | Sequence[Number]
    intercept: Number = 0.0

    def __post_init__(self) -> None:
        given: Any = self.slope
        several = (
            isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str) and np.ndim(given) > 0
        )
        slope = numbers("Linear", "slope", given) if several else number("Linear: slope", given)
        assign(self, slope=slope, intercept=number("Linear: intercept", self.intercept))

    @property
    def variables(self) -> int:  # type: ignore[override]
        return len(self.slope) if isinstance(self.slope, tuple) else 1

    def formula(self, x: Sequence[Outcome], order: Sequence[int], look_up: bool) -> Outcome:
        slopes = [as_operand(s) for s in (self.slope if isinstance(self.slope, tuple) else (self.slope,))]
        if any(order):
            return slopes[list(order).index(1)] if sum(order) == 1 else 0.0
        return sum((s * v for s, v in zip(slopes, x, strict=True)), as_operand(self.intercept))  # (2)


@dataclass(frozen=True, eq=False, repr=False)
class Sine(Function):
    """offset + amplitude sin(omega x + phase) (3).

    Args:
        amplitude: half of the peak-to-peak value.
        omega: angular frequency [rad per unit of x].
        phase: [rad].
        offset: its mean. All may be Parameters.
    """

    amplitude: Number = 1.0
    omega: Number = 1.0
    phase: Number = 0.0
    offset: Number = 0.0

    def __post_init__(self) -> None:
        for name in ("amplitude", "omega", "phase", "offset"):
            object.__setattr__(self, name, number(f"Sine: {name}", getattr(self, name)))

    def formula(self, x: Sequence[Outcome], order: Sequence[int], look_up: bool) -> Outcome:
        a, omega, phase, offset = map(as_operand, (self.amplitude, self.omega, self.phase, self.offset))
        angle = omega * x[0] + phase
        functions = (ca.sin, ca.cos) if isinstance(angle, ca.SX) else (np.sin, np.cos)
        wave = a * functions[order[0] % 2](angle)
        for _ in range(order[0]):
            wave = omega * wave
        return (-wave if order[0] % 4 in (2, 3) else wave) + (0.0 if order[0] else offset)  # (3)


@dataclass(frozen=True, eq=False, repr=False)
class SmoothStep(Function):
    """From y0 at x0 to y1 at x1 by a quintic whose first two derivatives vanish at both ends; constant beyond
    (4), (5).

    It has two continuous derivatives. x1 < x0 is a step to the left: still y0 at x0 and y1 at x1.

    Args:
        x0: where it starts.
        x1: where it ends; not x0.
        y0: value at x0.
        y1: value at x1. All numbers may be Parameters.
    """

    x0: Number
    x1: Number
    y0: Number = 0.0
    y1: Number = 1.0

    def __post_init__(self) -> None:
        for name in ("x0", "x1", "y0", "y1"):
            object.__setattr__(self, name, number(f"SmoothStep: {name}", getattr(self, name)))
        if at_default(self.x0) == at_default(self.x1):
            raise DescriptionError(
                f"SmoothStep: x0 and x1 are both {short(self.x0)}; a step needs some width"
            )

    def formula(self, x: Sequence[Outcome], order: Sequence[int], look_up: bool) -> Outcome:
        x0, x1, y0, y1 = map(as_operand, (self.x0, self.x1, self.y0, self.y1))
        n, width = order[0], x1 - x0
        s = (x[0] - x0) / width  # (4)
        real = np.real(s) if isinstance(s, (np.ndarray, np.generic)) else s
        before, after = real < 0, real > 1
        s = choose(before, 0.0, choose(after, 1.0, s))
        if n == 0:
            return y0 + (y1 - y0) * (s * s * s * (10 + s * (6 * s - 15)))  # (5)
        c = [math.perm(j, n) * c for j, c in enumerate((0, 0, 0, 10, -15, 6)) if j >= n]
        value = s * 0.0
        for c_j in reversed(c):
            value = value * s + c_j
        slope = (y1 - y0) * value
        for _ in range(n):
            slope = slope / width
        return choose(before, 0.0, choose(after, 0.0, slope))


# ---- polynomial ------------------------------------------------------------------------------------------
#
# Polynomials of one or several variables: docs/theory/functions.md (6), (7).


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
        assign(self, coefficients=c)
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
        assign(self, exponents=tuple(tuple(map(int, row)) for row in array))

    @property
    def variables(self) -> int:  # type: ignore[override]
        return 1 if self.exponents is None else len(self.exponents[0])

    def formula(self, x: Sequence[Outcome], order: Sequence[int], look_up: bool) -> Outcome:
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


# ---- scaled ----------------------------------------------------------------------------------------------
#
# Another function times a number: docs/theory/functions.md (17).


@dataclass(frozen=True, eq=False, repr=False)
class Scaled(Function):
    """factor f(x): another function times a number (17), as OpenSim's MultiplierFunction.

    Args:
        function: one of `cd.functions`, of one variable or several.
        factor: the factor; may be a Parameter.
    """

    function: Function
    factor: Number = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.function, Function):
            raise DescriptionError(
                "Scaled: function: expected one of cd.functions, such as cd.functions.SimmSpline(x, "
                f"y), got {self.function!r}; a Python function multiplies its own result"
            )
        assign(self, factor=number("Scaled: factor", self.factor))

    @property
    def variables(self) -> int | None:  # type: ignore[override]
        return self.function.variables  # type: ignore[no-any-return]

    def formula(self, x: Sequence[Outcome], order: Sequence[int], look_up: bool) -> Outcome:
        return as_operand(self.factor) * self.function.formula(x, order, look_up)  # (17)
