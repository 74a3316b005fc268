"""Kinematics for specialists: rates of coordinates as matrices and inverses, and motion of frames
fixed on bodies."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

import numpy as np

from condyle.arrays import Array, Vector
from condyle.spatial import Transform
from condyle.system.operators.base import point, stacked
from condyle.system.operators.groups import Group
from condyle.system.operators.public import Options, operator
from condyle.tree.body import Body

_operator = partial(operator, group="kinematics")


class KinematicsOperators(Group):
    """Rates of the coordinates, and motion of frames fixed on bodies."""

    @_operator
    def qddot(self, q: Vector, u: Vector, udot: Vector, **options: Unpack[Options]) -> Array:
        """Second rates of the coordinates N(q) udot + Ndot u [rad/s^2, m/s^2, 1/s^2], shape (..., nq)."""
        return self._system._run("kinematics.qddot", (q, u, udot), options)

    @_operator
    def u_from_qdot(self, q: Vector, qdot: Vector, **options: Unpack[Options]) -> Array:
        """Speeds u [rad/s, m/s], shape (..., nu), from rates of the coordinates: N(q)^-1 qdot.

        Rates that no speeds can produce, such as a change of a quaternion's length, are ignored: N u is the
        closest to qdot.

        Args:
            q: coordinates, shape (..., nq).
            qdot: rates of the coordinates, shape (..., nq).
        """
        return self._system._run("kinematics.u_from_qdot", (q, qdot), options)

    @_operator
    def udot_from_qddot(self, q: Vector, u: Vector, qddot: Vector, **options: Unpack[Options]) -> Array:
        """Accelerations udot [rad/s^2, m/s^2], shape (..., nu): N(q)^-1 (qddot - Ndot u), the inverse of
        `qddot`.

        Args:
            q: coordinates, shape (..., nq).
            u: speeds, shape (..., nu).
            qddot: second rates of the coordinates, shape (..., nq).
        """
        return self._system._run("kinematics.udot_from_qddot", (q, u, qddot), options)

    @_operator
    def N(self, q: Vector, **options: Unpack[Options]) -> Array:
        """N(q), shape (..., nq, nu): qdot = N u. The identity except for quaternions and other coordinates
        with qdot != u."""
        return self._system._run("kinematics.N", (q,), options)

    @_operator
    def Ndot(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Rate of N(q) along u, shape (..., nq, nu): qddot = N udot + Ndot u."""
        return self._system._run("kinematics.Ndot", (q, u), options)

    @_operator
    def frame_pose(
        self,
        q: Vector,
        body: Body | str,
        X_BS: Transform | Vector,
        relative_to: Body | str | None = None,
        **options: Unpack[Options],
    ) -> Transform:
        """X_GS of a frame fixed on the body, in ground or in the body `relative_to`.

        Args:
            q: coordinates, shape (..., nq).
            body: the body of the frame.
            X_BS: the frame in the body's frame: a Transform, or a 3-vector (translation) [m].
            relative_to: the body in which it is expressed; ground by default.
        """
        placed: Any = X_BS
        X_GB, X = self._system.body_pose(q, body, relative_to, **options), Transform.of(placed, "X_BS")
        point("X_BS", X.p, X_GB.p.shape[:-1])
        return X_GB @ X

    @_operator
    def frame_velocity(
        self,
        q: Vector,
        u: Vector,
        body: Body | str,
        station: Vector,
        relative_to: Body | str | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """Spatial velocity in ground [rad/s, m/s], shape (..., 6), of a frame fixed on the body with its
        origin at the station; or relative to the body `relative_to`.
        """
        r = self._system._arm(q, body, station, options)
        V = self._system.body_velocity(q, u, body, **options)
        V = stacked(V[..., :3], V[..., 3:] + np.cross(V[..., :3], r))
        if relative_to is None:
            return V
        return self._system._seen_velocity(
            relative_to, q, u, self._system.body_pose(q, body, **options).p + r, V, options
        )

    @_operator
    def frame_acceleration(
        self,
        q: Vector,
        u: Vector,
        udot: Vector,
        body: Body | str,
        station: Vector,
        relative_to: Body | str | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """Spatial acceleration in ground [rad/s^2, m/s^2], shape (..., 6), of a frame fixed on the body; or
        relative to the body `relative_to`.
        """
        r, V = self._system._arm(q, body, station, options), self._system.body_velocity(q, u, body, **options)
        A, w = self._system.body_acceleration(q, u, udot, body, **options), V[..., :3]
        a = A[..., 3:] + np.cross(A[..., :3], r) + np.cross(w, np.cross(w, r))
        A = stacked(A[..., :3], a)
        if relative_to is None:
            return A
        p, V = self._system.body_pose(q, body, **options).p + r, stacked(w, V[..., 3:] + np.cross(w, r))
        return self._system._seen_acceleration(relative_to, q, u, udot, p, V, A, options)

    @_operator
    def frame_jacobian(
        self, q: Vector, body: Body | str, station: Vector, **options: Unpack[Options]
    ) -> Array:
        """J, shape (..., 6, nu): the spatial velocity in ground of a frame on the body is J u."""
        return self._system._jacobian("kinematics.frame_jacobian", q, body, station, options)

    @_operator
    def system_jacobian(self, q: Vector, **options: Unpack[Options]) -> Array:
        """J, shape (..., bodies, 6, nu): V_GB of all bodies is J u."""
        return self._system._run("kinematics.system_jacobian", (q,), options)

    @_operator
    def frame_bias(
        self, q: Vector, u: Vector, body: Body | str, station: Vector, **options: Unpack[Options]
    ) -> Array:
        """Jdot u [rad/s^2, m/s^2], shape (..., 6): spatial acceleration of a frame on the body at udot =
        0."""
        return self.frame_acceleration(q, u, np.zeros(self._system.nu), body, station, **options)

    @_operator
    def station_bias(
        self, q: Vector, u: Vector, body: Body | str, station: Vector, **options: Unpack[Options]
    ) -> Array:
        """Jdot u [m/s^2], shape (..., 3): acceleration of a point of the body at udot = 0."""
        return self.frame_bias(q, u, body, station, **options)[..., 3:]
