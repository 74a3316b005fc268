"""A mesh: intervals of [0, 1], the points of a scheme in each, and interpolation."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.collocation.schemes import Scheme, lagrange
from condyle.records import dataclass


@dataclass(frozen=True, eq=False)
class CollocationMesh:
    """Points of all intervals.

    Attributes:
        scheme: of every interval.
        ends: from 0 to 1, rising, shape (N + 1,).
    """

    scheme: Scheme
    ends: Array

    @classmethod
    def even(cls, scheme: Scheme, intervals: int) -> CollocationMesh:
        """Intervals of one length."""
        return cls(scheme, np.linspace(0.0, 1.0, intervals + 1))

    @property
    def intervals(self) -> int:
        return len(self.ends) - 1

    @cached_property
    def h(self) -> Array:
        """Lengths of the intervals, shape (N,)."""
        return np.diff(self.ends)

    @cached_property
    def points(self) -> Array:
        """Places of all points, shape (P,)."""
        inside = self.ends[:-1, None] + self.h[:, None] * self.scheme.c[1:]
        inside[:, -1] = self.ends[1:]
        return np.concatenate([[0.0], inside.ravel()])

    @cached_property
    def of_interval(self) -> NDArray[np.intp]:
        """Numbers of the points of each interval, shape (N, n)."""
        L = self.scheme.steps
        return np.asarray(np.arange(self.intervals)[:, None] * L + np.arange(L + 1), dtype=np.intp)

    @cached_property
    def weights(self) -> Array:
        """Weights of the integral over [0, 1], shape (P,)."""
        out = np.zeros(len(self.points))
        np.add.at(out, self.of_interval, self.h[:, None] * self.scheme.w)
        return out

    def located(self, s: Array) -> tuple[NDArray[np.intp], Array]:
        """The interval of each position s (m,), and the position in it, from 0 to 1."""
        k = np.clip(np.searchsorted(self.ends, s, side="right") - 1, 0, self.intervals - 1)
        return k, (s - self.ends[k]) / self.h[k]

    def states_at(self, x: Array, f: Array | None, s: Array, rate: int = 0) -> Array:
        """The curve of the scheme through states x (P, n), with rates f (P, n) over [0, 1], at s (m,).

        Radau's states are polynomials through their points. Trapezoidal and Hermite-Simpson ones integrate
        the polynomial through the rates, so their curves are smooth where f is given.

        Args:
            rate: 1 for the derivative over [0, 1].
        """
        k, at = self.located(s)
        own = self.of_interval[k]
        c = self.scheme.c
        if not self.scheme.collocates_start or f is None:
            basis = np.stack([lagrange(c, at[i : i + 1], rate)[0] for i in range(len(at))])
            out = np.einsum("mj,mjn->mn", basis, x[own])
        else:  # the integral of the polynomial through the rates
            weights = np.stack([_integrals(c, a) if not rate else lagrange(c, np.array([a]))[0] for a in at])
            moved = np.einsum("mj,mjn->mn", weights, f[own])
            return moved if rate else x[own[:, 0]] + self.h[k][:, None] * moved
        return out / self.h[k][:, None] if rate else out

    def controls_at(self, x: Array, s: Array) -> Array:
        """The curve of controls x (P, n) at s (m,): polynomials through the points with controls."""
        k, at = self.located(s)
        which, _ = self.scheme.controls_at(at[:1])
        basis = np.stack([self.scheme.controls_at(at[i : i + 1])[1][0] for i in range(len(at))])
        return np.einsum("mj,mjn->mn", basis, x[self.of_interval[k][:, which]])

    def dense(self, count: int) -> Array:
        """Sample positions in all intervals, the first and the last just inside, since curves may jump
        between intervals. Shape (N count,).
        """
        inside = np.linspace(0.0, 1.0, count)
        inside[[0, -1]] = 1e-9, 1 - 1e-9
        out = (self.ends[:-1, None] + self.h[:, None] * inside).ravel()
        out[[0, -1]] = 0.0, 1.0
        return np.asarray(out, dtype=np.float64)

    def refined(self, parts: Array) -> CollocationMesh:
        """Interval k divided into parts[k] equal ones."""
        pieces = [
            np.linspace(a, b, n, endpoint=False)
            for a, b, n in zip(self.ends[:-1], self.ends[1:], parts.tolist(), strict=True)
        ]
        return CollocationMesh(self.scheme, np.append(np.concatenate(pieces), 1.0))


def _integrals(c: Array, s: float) -> Array:
    """Integrals from 0 to s of Lagrange's polynomials through c."""
    n = len(c)
    powers = np.arange(1, n + 1)
    return np.asarray(np.linalg.solve(np.vander(c, increasing=True).T, s**powers / powers), dtype=np.float64)
