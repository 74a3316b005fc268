"""States between the steps of a run: values of a polynomial are projected onto unit quaternions and onto the
constraints."""

from __future__ import annotations

import numpy as np

from condyle.constraints.solve.projection import project
from condyle.constraints.solve.straight_blocks import NOISE
from condyle.integrate.steps import unstacked
from condyle.records import dataclass
from condyle.system.system import System
from condyle.tree import scales

SHARE = 0.1
"""Tolerance of constraint equations as a fraction of the accuracy of a run, times the length of the system if
that is less than 1 m."""
LIGHTEST = 1e-3
"""In a projection a weight of zero counts as this fraction of the largest weight."""


@dataclass(frozen=True, eq=False)
class Manifold:
    """The manifold on which the states of a run lie.

    Args:
        weights: of the speeds, shape (nu,), above zero.
        tolerance: of projection.py (2).
    """

    weights: np.ndarray
    tolerance: float

    @staticmethod
    def of_run(system: System, weights: np.ndarray, accuracy: float) -> Manifold:
        """From the weights of q, u, z and the accuracy of a run."""
        of_speeds = weights[system.nq : system.nq + system.nu]
        most = float(of_speeds.max(initial=0.0))
        W = np.maximum(of_speeds, LIGHTEST * most) if most > 0 else np.ones_like(of_speeds)
        return Manifold(W, SHARE * accuracy * min(1.0, system.compiled.length))

    def nearest(self, system: System, tail: np.ndarray, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        """y (m, n) at times t (m,), projected onto the constraints, with tails (k,) or (m, k). All at once,
        by a few calls of machine code."""
        y = system.compiled.followed(system.compiled.normalized(y), t, tail)
        if not system.constraints:
            return y
        q, u, tails = unstacked(system.compiled.model, tail, t, y)
        slow = self.tolerance / scales.TIME_SCALE
        q, u = project(
            system.compiled.projection(tails, self.weights), q, u, self.tolerance, slow, strict=False
        )
        return np.concatenate([q, u, y[:, system.nq + system.nu :]], axis=1)


def violations(
    system: System, q: np.ndarray, u: np.ndarray, tail: np.ndarray, allowed: float
) -> dict[int, str]:
    """States among (m, nq), (m, nu), (m, k) that violate enabled constraints by more than the tolerance, and
    the amounts."""
    if not system.constraints:
        return {}
    errors = system.compiled.function("constraints.errors")(q, u, tail)
    good = np.logical_and.reduce([(np.abs(e) <= allowed).all(axis=-1) for e in errors])
    labels = system.compiled.projection(tail, np.ones(system.nu)).labels
    by_level = (("", labels("position")), ("the rate of ", labels("position", "velocity")))
    return {
        int(i): ", ".join(
            f"{level}{label} by {x:.3g}"
            for (level, names), e in zip(by_level, errors, strict=True)
            for label, x in zip(names, e[i], strict=True)
            if not abs(x) <= allowed
        )
        for i in np.flatnonzero(~good)
    }


def faint(system: System, q: np.ndarray, tail: np.ndarray) -> list[str]:
    """Equations that change a million times less with the speeds than another does, at a state (nq,) and also
    some distance from it: the solver treats such a row as one without a direction (multipliers.py (6))."""
    nu, short = system.nu, []
    for place in (q, q + 0.1 * np.cos(1 + np.arange(q.size))):
        tails = np.repeat(tail[None], nu + 1, axis=0)
        v = system.compiled.function("constraints.errors")(
            np.tile(place, (nu + 1, 1)), np.eye(nu + 1, nu), tails
        )[1]
        lengths = np.linalg.norm(v[:nu] - v[nu], axis=0)
        short.append((lengths > 0) & (lengths <= np.sqrt(NOISE) * lengths.max(initial=0.0)))
    labels = system.compiled.projection(tail[None], np.ones(nu)).labels("position", "velocity")
    return [label for label, both in zip(labels, short[0] & short[1], strict=True) if both]
