"""Rates of coordinates: public operators."""

from __future__ import annotations

from typing import Unpack

from condyle.arrays import Array, Vector
from condyle.system.operators.base import Operators
from condyle.system.operators.options import Options
from condyle.system.operators.public import operator


class RateOperators(Operators):
    """Rates of coordinates, speeds and auxiliary states."""

    @operator
    def qdot(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Rates of the coordinates N(q) u, shape (..., nq)."""
        return self._run("qdot", (q, u), options)

    @operator
    def qddot(self, q: Vector, u: Vector, udot: Vector, **options: Unpack[Options]) -> Array:
        """Second rates of the coordinates N(q) udot + Ndot u [rad/s^2, m/s^2, 1/s^2], shape (..., nq)."""
        return self._run("qddot", (q, u, udot), options)

    @operator
    def u_from_qdot(self, q: Vector, qdot: Vector, **options: Unpack[Options]) -> Array:
        """Speeds u [rad/s, m/s], shape (..., nu), from rates of the coordinates: N(q)^-1 qdot.

        What no speeds can do, such as a change of a quaternion's length, is left out: N u is the nearest to
        qdot.

        Args:
            q: coordinates, shape (..., nq).
            qdot: rates of the coordinates, shape (..., nq).
        """
        return self._run("u_from_qdot", (q, qdot), options)

    @operator
    def udot_from_qddot(self, q: Vector, u: Vector, qddot: Vector, **options: Unpack[Options]) -> Array:
        """Accelerations udot [rad/s^2, m/s^2], shape (..., nu): N(q)^-1 (qddot - Ndot u), the inverse of
        `qddot`.

        Args:
            q: coordinates, shape (..., nq).
            u: speeds, shape (..., nu).
            qddot: second rates of the coordinates, shape (..., nq).
        """
        return self._run("udot_from_qddot", (q, u, qddot), options)

    @operator
    def N(self, q: Vector, **options: Unpack[Options]) -> Array:
        """N(q), shape (..., nq, nu): qdot = N u. The identity except for quaternions and other coordinates
        with qdot != u."""
        return self._run("N", (q,), options)

    @operator
    def Ndot(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Rate of N(q) along u, shape (..., nq, nu): qddot = N udot + Ndot u."""
        return self._run("Ndot", (q, u), options)

    @operator
    def zdot(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Rates of the auxiliary states of forces, shape (..., nz)."""
        return self._run("zdot", (q, u), options)
