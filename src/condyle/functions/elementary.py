"""Constant, Linear, Sine and SmoothStep: docs/theory/functions.md (1)-(5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.functions.base import Function, Number, as_operand, at_default, choose, number, numbers, short
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Function):
    """The same value everywhere, of any number of variables (1).

    Args:
        value: the value; may be a Parameter.
    """

    value: Number

    variables = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", number("Constant: value", self.value))

    def formula(self, x: Sequence[Any], order: Sequence[int], look_up: bool) -> Any:
        return 0.0 if any(order) else as_operand(self.value)  # (1)


@dataclass(frozen=True, eq=False, repr=False)
class Linear(Function):
    """intercept + slope x, or intercept + slope_1 x_1 + slope_2 x_2 + ... of several variables (2).

    Args:
        slope: a number, or one for each variable.
        intercept: the value at zero. All may be Parameters.
    """

    slope: Any
    intercept: Number = 0.0

    def __post_init__(self) -> None:
        several = (
            isinstance(self.slope, (Sequence, np.ndarray))
            and not isinstance(self.slope, str)
            and np.ndim(self.slope) > 0
        )
        slope = numbers("Linear", "slope", self.slope) if several else number("Linear: slope", self.slope)
        object.__setattr__(self, "slope", slope)
        object.__setattr__(self, "intercept", number("Linear: intercept", self.intercept))

    @property
    def variables(self) -> int:  # type: ignore[override]
        return len(self.slope) if isinstance(self.slope, tuple) else 1

    def formula(self, x: Sequence[Any], order: Sequence[int], look_up: bool) -> Any:
        slopes = [as_operand(s) for s in (self.slope if isinstance(self.slope, tuple) else (self.slope,))]
        if any(order):
            return slopes[list(order).index(1)] if sum(order) == 1 else 0.0
        return sum((s * v for s, v in zip(slopes, x, strict=True)), as_operand(self.intercept))  # (2)


@dataclass(frozen=True, eq=False, repr=False)
class Sine(Function):
    """offset + amplitude sin(omega x + phase) (3).

    Args:
        amplitude: half of what it swings.
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

    def formula(self, x: Sequence[Any], order: Sequence[int], look_up: bool) -> Any:
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

    Two continuous derivatives everywhere. x1 < x0 is a step to the left: still y0 at x0 and y1 at x1.

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

    def formula(self, x: Sequence[Any], order: Sequence[int], look_up: bool) -> Any:
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
