"""Constraints, their multipliers and forces: public operators."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

import numpy as np

from condyle.arrays import Array, Scalar, Vector
from condyle.constraints.base import LEVELS
from condyle.loading import if_loaded
from condyle.model.model import equation_names
from condyle.system.operators.groups import NamedGroup
from condyle.system.operators.public import Options, operator
from condyle.system.tails import known

_operator = partial(operator, group="constraints")


class Constraints(NamedGroup):
    """Names of the constraints, in the order in which they were added, and their operators."""

    @property
    def unilateral(self) -> tuple[str, ...]:
        """Names of the unilateral ones: rigid contacts, stops, ropes."""
        kind = if_loaded("condyle.constraints.unilateral.base", "Unilateral")
        return tuple(name for name, c in self._system._constraints.items() if isinstance(c, kind))

    def equations(self) -> list[tuple[str, str]]:
        """Name and level of each scalar equation, in their order, which is that of the multipliers: the
        constraint's name, with [k] if it has several."""
        return equation_names(self._system._constraints)

    def rows(self, constraint: str) -> slice:
        """Slice of a constraint's equations among all, and of its multipliers in `system.multipliers`."""
        known("constraint", (constraint,), self)
        from condyle.constraints.solve.equations import row_slices

        return row_slices(self._system._constraints)[constraint]

    @_operator
    def errors(self, q: Vector, u: Vector, **options: Unpack[Options]) -> tuple[Array, Array]:
        """Errors of all position equations and of all velocity equations, in the order of the constraints.

        Returns:
            p, shape (..., m_p), and shape (..., m_v): pdot of these, and v of those that hold for velocities
            only.
        """
        p, v = self._system._run("constraints.errors", (q, u), options)
        self._system._check_equations("constraints.errors", p, "position")
        self._system._check_equations("constraints.errors", v, "position", "velocity")
        return p, v

    @_operator
    def jacobian(self, q: Vector, u: Vector, level: str | None = None, **options: Unpack[Options]) -> Array:
        """G, shape (..., m, nu): acceleration errors are G udot + bias.

        Args:
            q: coordinates, shape (..., nq).
            u: speeds, shape (..., nu); used by nonlinear velocity constraints only.
            level: only the rows of equations of "position" (P of sherman2011), "velocity" (V) or
                "acceleration" (A).
        """
        known("level of constraints.jacobian()", () if level is None else (level,), LEVELS)
        G: Array = self._system._run("constraints.jacobian", (q, u), options)
        self._system._check_equations("constraints.jacobian", G.sum(axis=-1))
        return G if level is None else G[..., [own == level for _, own in self.equations()], :]

    @_operator
    def bias(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Acceleration errors of all constraint equations at udot = 0, shape (..., m)."""
        bias: Array = self._system._run("constraints.bias", (q, u), options)
        self._system._check_equations("constraints.bias", bias)
        return bias

    @_operator
    def rank(self, q: Vector, u: Vector, **options: Unpack[Options]) -> tuple[Scalar, Scalar]:
        """Rank of Y = G M^-1 G', shape (...), and its condition: the largest over the smallest eigenvalue
        that counts, of Y with rows and columns scaled to a unit diagonal. A rank below the number of
        equations means that some are redundant, and their multipliers not unique."""
        Y: Array = self._system._run("constraint_matrix", (q, u), options)
        self._system._check_equations("constraints.rank", np.diagonal(Y, axis1=-2, axis2=-1))
        sizes = np.linalg.eigvalsh(Y) if self.equations() else np.zeros(Y.shape[:-1])
        from condyle.constraints.solve.straight_blocks import (
            REGULAR,  # below it, multipliers too take Y as redundant
        )

        largest = sizes.max(axis=-1, initial=0.0)
        count = sizes > REGULAR * largest[..., None]
        least = np.where(count, sizes, np.inf).min(axis=-1, initial=np.inf)
        rank: Any = count.sum(axis=-1)  # a whole number, or an array of them
        return rank[()], np.where(np.isinf(least), 1.0, largest / least)[()]

    @_operator
    def forces(self, q: Vector, u: Vector, tau: Vector | None = None, **options: Unpack[Options]) -> Array:
        """Generalized forces of all constraints, -G' lambda [N m, N], shape (..., nu)."""
        return self._system._run(
            "constraints.forces", (q, u, self._system.multipliers(q, u, tau, **options)), options
        )

    @_operator
    def power(self, q: Vector, u: Vector, tau: Vector | None = None, **options: Unpack[Options]) -> Array:
        """Power of each constraint's forces [W], shape (..., number of constraints), in the order of
        `system.constraints`. Zero except for time-dependent constraints, velocity constraints with a drift,
        and states off the constraints."""
        return self._system._run(
            "constraints.power", (q, u, self._system.multipliers(q, u, tau, **options)), options
        )

    @_operator
    def impulses(
        self, q: Vector, u: Vector, f: Vector | None = None, **options: Unpack[Options]
    ) -> tuple[Array, Array]:
        """Changes of speeds caused by generalized impulses: M du + G' lambda = f, G du = -v with the
        velocity errors v of `errors`. Locked and prescribed speeds do not change. Equations of
        accelerations have no impulses.

        Args:
            q: coordinates, shape (..., nq).
            u: speeds before, shape (..., nu).
            f: generalized impulses [N m s, N s], shape (..., nu). Without f: the impulse that brings the
                speeds onto the constraints, as in an impact without rebound.

        Returns:
            the change of the speeds du, shape (..., nu), and the impulses lambda of all constraint equations,
            shape (..., m), by which u + du satisfies them.

        Raises:
            ConstraintError: no change of the free speeds satisfies them.
        """
        du, lambda_, left, allowed = self._system._run("constraints.impulses", (q, u, f), options)
        self._system._check_equations("constraints.impulses", lambda_)
        from condyle.system.failures import refuse_unmet

        refuse_unmet("constraints.impulses", [name for name, _ in self.equations()], left, allowed)
        return du, lambda_

    @_operator
    def reactions(
        self, q: Vector, u: Vector, constraint: str, tau: Vector | None = None, **options: Unpack[Options]
    ) -> dict[str, Array]:
        """Moment about the origin [N m] and force [N] of a constraint on each of its bodies except ground, in
        ground.

        Args:
            q: coordinates, shape (..., nq).
            u: speeds, shape (..., nu).
            constraint: its name.
            tau: generalized forces [N m, N], shape (..., nu); zero if left out.

        Returns:
            arrays (..., 6) by body name. Empty for constraints on coordinates and speeds, which act as
            generalized forces.
        """
        known("constraint", (constraint,), self)
        F = self._system._run(
            "constraints.reactions", (q, u, self._system.multipliers(q, u, tau, **options)), options
        )
        return {
            body: F[..., row, :]
            for body, row in self._system.compiled.model.reaction_rows(constraint).items()
        }
