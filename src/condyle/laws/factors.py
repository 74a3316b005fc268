"""Scale factors of bodies. `cd.scale` passes them to the method `scaled` of every element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.records import dataclass
from condyle.spatial import Transform
from condyle.trace import to_sx
from condyle.trace.parameter import Expression

OWN_FUNCTION = " is a function of your own: lengths in it are as they were"
"""Note on elements defined by a user function."""


@dataclass(frozen=True, eq=False)
class BodyFactors:
    """Scale factors of bodies along their axes.

    Attributes:
        bodies: factors along x, y, z of each body and of ground, shape (3,).
        translations: the body in whose axes each coordinate that is a length is measured, by coordinate.
        notes: parts that `scaled` of an element leaves unchanged; the report of `cd.scale` names the element.
    """

    bodies: Mapping[str, Array]
    translations: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __getitem__(self, body: str) -> Array:
        return self.bodies[body]

    def change(self, body: str) -> bool:
        """Whether a body changes its size."""
        return body in self._changing

    @cached_property
    def _changing(self) -> frozenset[str]:
        return frozenset(name for name, factors in self.bodies.items() if grows(factors))

    def place(self, body: str, X: Any) -> Transform:
        """A kept frame on a body: its origin moves with the body's points, its orientation stays."""
        if isinstance(X, Transform):
            return Transform(X.R, X.p * self[body])
        R, p = (x.sx if isinstance(x, Expression) else ca.SX(ca.DM(np.asarray(x, dtype=float))) for x in X)
        return Transform(R, p * _column(self[body]))

    def along(self, body: str, X: Any, what: str) -> Array:
        """Factors along the axes of a kept frame on a body, |s o e|, shape (3,)."""
        if not isinstance(X, Transform):
            raise DescriptionError(
                f"the frame of {what} depends on Parameters: which factors its axes have is not known"
            )
        if equal(self[body]):
            return np.array([self[body][0]] * 3)
        if is_symbolic(self[body]):
            square = [sum((f * float(r)) ** 2 for f, r in zip(self[body], e, strict=True)) for e in X.R.T]
            return np.array([np.sqrt(x) for x in square], dtype=object)
        lengths: Array = np.linalg.norm(self[body][:, None] * X.R, axis=0)
        return lengths


def is_symbolic(factors: Array) -> bool:
    """Whether factors are Parameters, or made of them."""
    return factors.dtype == object


def grows(factors: Array) -> bool:
    """Whether a body with these factors changes its size."""
    return is_symbolic(factors) or bool((factors != 1).any())


def equal(factors: Array) -> bool:
    """Whether a body has one factor for all of its axes."""
    if is_symbolic(factors):
        x = [to_sx(f) for f in factors]
        return all(bool(ca.is_equal(x[0], f)) for f in x[1:])
    return bool((factors == factors[0]).all())


def times(kept: Any, factor: Any) -> Any:
    """A kept number, or several, times a factor, or several; Parameters are preserved."""
    if isinstance(kept, Expression):
        return kept.sx * _column(factor)
    return np.asarray(kept, dtype=float) * factor


def _column(factor: Any) -> Any:
    given = np.asarray(factor)
    return to_sx(given) if given.dtype == object else ca.DM(given.astype(float))
