"""Rates, forward and inverse dynamics, multipliers, the mass matrix, generalized forces, power and energy: public operators."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from condyle.arrays import Array, Scalar, Vector
from condyle.system.operators.base import Operators
from condyle.system.operators.public import Options, operator
from condyle.tree.body import Body


class DynamicsOperators(Operators):
    """Rates, forces and accelerations, multipliers, the mass matrix, power and energy.

    M udot + coriolis_forces = tau + gravity_forces + applied_forces + constraints.forces + motion_forces.
    """

    @operator
    def qdot(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Rates of the coordinates N(q) u, shape (..., nq)."""
        return self._run("qdot", (q, u), options)

    @operator
    def zdot(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Rates of the auxiliary states of forces, shape (..., nz)."""
        return self._run("zdot", (q, u), options)

    @operator
    def multipliers(
        self, q: Vector, u: Vector, tau: Vector | None = None, **options: Unpack[Options]
    ) -> Array:
        """Multipliers lambda of all constraint equations, shape (..., m), in their order: M udot + G' lambda
        = f. Redundant constraints share the load with least norm. Zero for disabled constraints."""
        return self._run("multipliers", (q, u, tau), options)

    @operator
    def forward_dynamics(
        self, q: Vector, u: Vector, tau: Vector | None = None, **options: Unpack[Options]
    ) -> Array:
        """Accelerations udot [rad/s^2, m/s^2], shape (..., nu), under all enabled forces and constraints and
        tau.

        The articulated-body algorithm, O(n); constraints by Lagrange multipliers.

        Args:
            q: coordinates, shape (..., nq).
            u: speeds, shape (..., nu).
            tau: generalized forces [N m, N], shape (..., nu); zero if left out.

        Raises:
            SingularError: a mobilizer has lost a direction of motion.
            ConstraintError: no accelerations satisfy the constraints.
        """
        return self._run("forward_dynamics", (q, u, tau), options)

    @operator
    def ydot(self, q: Vector, u: Vector, tau: Vector | None = None, **options: Unpack[Options]) -> Array:
        """The right-hand side of the equations of motion: rates of q, u and z stacked, shape (..., nq + nu +
        nz). The same as `qdot`, `forward_dynamics` and `zdot`, with all forces evaluated once.

        Args:
            q: coordinates, shape (..., nq).
            u: speeds, shape (..., nu).
            tau: generalized forces [N m, N], shape (..., nu); zero if left out.

        Raises:
            SingularError: a mobilizer has lost a direction of motion.
            ConstraintError: no accelerations satisfy the constraints.
        """
        if "state" not in options and self.compiled.ydot_in_parts:
            return np.concatenate(
                [
                    self._run("qdot", (q, u), options),
                    self._run("forward_dynamics", (q, u, tau), options),
                    self._run("zdot", (q, u), options),
                ],
                axis=-1,
            )
        return self._run("ydot", (q, u, tau), options)

    @operator
    def inverse_dynamics(self, q: Vector, u: Vector, udot: Vector, **options: Unpack[Options]) -> Array:
        """tau [N m, N], shape (..., nu), that must be added to the enabled forces to produce udot.

        Constraint forces are not included: inverse_dynamics of forward_dynamics is tau - G' lambda."""
        return self._run("inverse_dynamics", (q, u, udot), options)

    @operator
    def mass_matrix(self, q: Vector, **options: Unpack[Options]) -> Array:
        """M(q), shape (..., nu, nu), symmetric positive definite."""
        return self._run("mass_matrix", (q,), options)

    @operator
    def multiply_mass_matrix(self, q: Vector, f: Vector, **options: Unpack[Options]) -> Array:
        """M(q) f, shape (..., nu), in O(n)."""
        return self._run("multiply_mass_matrix", (q, f), options)

    @operator
    def solve_mass_matrix(self, q: Vector, f: Vector, **options: Unpack[Options]) -> Array:
        """M(q)^-1 f, shape (..., nu), in O(n). Entries of locked and prescribed speeds are zero."""
        return self._run("solve_mass_matrix", (q, f), options)

    @operator
    def inverse_mass_matrix(self, q: Vector, **options: Unpack[Options]) -> Array:
        """M(q)^-1, shape (..., nu, nu), from nu solutions. Held speeds have zero rows and columns."""
        columns = [self.solve_mass_matrix(q, e, **options) for e in np.eye(self.nu)]
        return np.stack(columns, axis=-1) if columns else self.mass_matrix(q, **options)

    @operator
    def gravity_forces(self, q: Vector, **options: Unpack[Options]) -> Array:
        """Generalized forces of gravity [N m, N], shape (..., nu)."""
        return self._run("gravity_forces", (q,), options)

    @operator
    def coriolis_forces(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Velocity-dependent inertial forces [N m, N], shape (..., nu), on the side of M udot."""
        return self._run("coriolis_forces", (q, u), options)

    @operator
    def applied_forces(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Generalized forces of all enabled forces except gravity [N m, N], shape (..., nu)."""
        return self._run("applied_forces", (q, u), options)

    @operator
    def motion_forces(
        self, q: Vector, u: Vector, tau: Vector | None = None, **options: Unpack[Options]
    ) -> Array:
        """Generalized forces that prescribed motions and locks exert [N m, N], shape (..., nu): adding them
        to tau has the same effect. Zero where a speed is free."""
        udot = self.forward_dynamics(q, u, tau, **options)
        held = self.inverse_dynamics(q, u, udot, **options)
        held = held if tau is None else held - self.compiled.vector("tau", tau)
        if self.constraints:
            held = held - self.constraints.forces(q, u, tau, **options)
        return np.where(self._held(options), held, 0.0)

    @operator
    def motion_power(
        self, q: Vector, u: Vector, tau: Vector | None = None, **options: Unpack[Options]
    ) -> Array:
        """Power of these forces [W], one per speed, shape (..., nu), and of joints that move with time
        (`time=True`), added at their first speed. The sum is the power that motions, locks and such joints
        add to the system.
        """
        power = self.motion_forces(q, u, tau, **options) * self.compiled.vector("u", u)
        if not self.compiled.model.moved_by_time:
            return power
        udot, lambda_ = self.forward_dynamics(q, u, tau, **options), self.multipliers(q, u, tau, **options)
        return power + self._run("timed_power", (q, u, udot, lambda_), options)

    @operator
    def power(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Power of each force [W], shape (..., number of forces), in the order of `system.forces`."""
        return self._run("power", (q, u), options)

    @operator
    def energy(self, q: Vector, u: Vector, **options: Unpack[Options]) -> tuple[Scalar, Scalar]:
        """Kinetic and potential energy [J], each of shape (...). Gravity's potential is zero at ground's
        origin."""
        return self._run("energy", (q, u), options)

    @operator
    def reactions(
        self,
        q: Vector,
        u: Vector,
        udot: Vector,
        body: Body | str | None = None,
        lambda_: Vector | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """Moment [N m] and force [N] of a body's mobilizer on it, at M's origin, in ground.

        It includes tau and the generalized forces on the mobilizer's own speeds: H' F is their sum.

        Args:
            q: coordinates, shape (..., nq).
            u: speeds, shape (..., nu).
            udot: accelerations, shape (..., nu).
            body: the body of the mobilizer; all by default.
            lambda_: multipliers of the constraints, shape (..., m); without them constraint forces are
                ignored.

        Returns:
            shape (..., 6), or (..., bodies, 6) for all.
        """
        if lambda_ is not None:
            return self._of_body("reactions_with_constraints", (q, u, udot, lambda_), body, options)
        return self._of_body("reactions", (q, u, udot), body, options)
