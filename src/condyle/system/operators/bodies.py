"""Poses, velocities, accelerations, inertias and Jacobians of bodies, mass center and momentum of all: public
operators.

Motion of a frame B relative to a body A, measured and expressed in A, from that of both in ground. r = p_GB
- p_GA:

  w_AB = R_GA' (w_B - w_A),                  v_AB = R_GA' (v_B - v_A - w_A x r)                            (1)
  alpha_AB = R_GA' (alpha_B - alpha_A - w_A x (w_B - w_A))
  a_AB = R_GA' (a_B - a_A - alpha_A x r - w_A x (w_A x r) - 2 w_A x R_GA v_AB)                             (2)

alpha_AB and a_AB are the rates of w_AB and v_AB, component by component in A.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from condyle.arrays import Array, Vector
from condyle.model.operators import OPERATORS
from condyle.spatial import Transform
from condyle.system.operators.base import Operators, point, stacked
from condyle.system.operators.public import Options, operator
from condyle.tree.body import Body


class BodyOperators(Operators):
    """Poses, velocities and accelerations of bodies and their stations, inertias, Jacobians, mass center and
    momentum.

    Spatial vectors are angular first, in ground unless `relative_to` names a body: then they are measured and
    expressed in its frame. `body` is a Body or its name, `station` a point in its frame [m], shape (..., 3).
    """

    @operator
    def body_pose(
        self, q: Vector, body: Body | str, relative_to: Body | str | None = None, **options: Unpack[Options]
    ) -> Transform:
        """X_GB: R (..., 3, 3) and p (..., 3) [m] of the body's frame in ground, or in the body `relative_to`."""
        X = self._of_body("body_pose", (q,), body, options)
        R = X[..., :9].reshape(X.shape[:-1] + (3, 3))
        X_GB = Transform.unchecked(R, X[..., 9:])
        return X_GB if relative_to is None else self.body_pose(q, relative_to, **options).inverse() @ X_GB

    @operator
    def body_poses(self, q: Vector, **options: Unpack[Options]) -> Transform:
        """X_GB of all bodies at once, in the order of `system.bodies`: R (..., bodies, 3, 3), p (..., bodies,
        3) [m]. Its derivatives are rows of 12 numbers per body, R row by row, then p."""
        X = self._run("body_poses", (q,), options)
        return Transform.unchecked(X[..., :9].reshape(X.shape[:-1] + (3, 3)), X[..., 9:])

    @operator
    def body_velocity(
        self,
        q: Vector,
        u: Vector,
        body: Body | str,
        relative_to: Body | str | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """V_GB, shape (..., 6): angular, then linear velocity of the body's origin [rad/s, m/s], in ground;
        or measured and expressed in the body `relative_to`.
        """
        V = self._of_body("body_velocity", (q, u), body, options)
        if relative_to is None:
            return V
        return self._seen_velocity(relative_to, q, u, self.body_pose(q, body, **options).p, V, options)

    @operator
    def body_acceleration(
        self,
        q: Vector,
        u: Vector,
        udot: Vector,
        body: Body | str,
        relative_to: Body | str | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """A_GB, shape (..., 6): angular, then linear acceleration of the body's origin [rad/s^2, m/s^2], in
        ground; or as the body `relative_to` sees it: the rate of its `body_velocity` there."""
        A = self._of_body("body_acceleration", (q, u, udot), body, options)
        if relative_to is None:
            return A
        p, V = self.body_pose(q, body, **options).p, self.body_velocity(q, u, body, **options)
        return self._seen_acceleration(relative_to, q, u, udot, p, V, A, options)

    @operator
    def composite_inertia(self, q: Vector, body: Body | str, **options: Unpack[Options]) -> Array:
        """Spatial inertia, shape (..., 6, 6), of the body and its descendants as one rigid body, about its
        origin.
        """
        return self._of_body("composite_inertia", (q,), body, options)

    @operator
    def articulated_inertia(self, q: Vector, body: Body | str, **options: Unpack[Options]) -> Array:
        """Spatial inertia [kg m^2, kg m, kg], shape (..., 6, 6), of the body with its freely moving
        descendants, about its origin, in ground: the force (moment, force) per acceleration. Locked and
        prescribed speeds are rigid; if all are, it is `composite_inertia`. Constraints are ignored.
        """
        return self._of_body("articulated_inertia", (q,), body, options)

    @operator
    def station_position(
        self,
        q: Vector,
        body: Body | str,
        station: Vector,
        relative_to: Body | str | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """Position in ground, or in the body `relative_to` [m], shape (..., 3), of a point given in the
        body's frame."""
        X = self.body_pose(q, body, relative_to, **options)
        return X @ point("station", station, X.p.shape[:-1])

    @operator
    def station_velocity(
        self,
        q: Vector,
        u: Vector,
        body: Body | str,
        station: Vector,
        relative_to: Body | str | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """Velocity in ground, or as the body `relative_to` sees it [m/s], shape (..., 3), of a point fixed on
        the body."""
        return self.kinematics.frame_velocity(q, u, body, station, relative_to, **options)[..., 3:]

    @operator
    def station_acceleration(
        self,
        q: Vector,
        u: Vector,
        udot: Vector,
        body: Body | str,
        station: Vector,
        relative_to: Body | str | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """Acceleration in ground, or as the body `relative_to` sees it [m/s^2], shape (..., 3), of a point
        fixed on the body."""
        return self.kinematics.frame_acceleration(q, u, udot, body, station, relative_to, **options)[..., 3:]

    # ---- Jacobians -----------------------------------------------------------------------------------------

    @operator
    def station_jacobian(
        self, q: Vector, body: Body | str, station: Vector, **options: Unpack[Options]
    ) -> Array:
        """J, shape (..., 3, nu): the velocity in ground of a point of the body is J u. station: in the body's
        frame [m]."""
        return self._jacobian("station_jacobian", q, body, station, options)

    # ---- system -----------------------------------------------------------------------------------------

    @operator
    def mass_center(self, q: Vector, **options: Unpack[Options]) -> Array:
        """Position of the system's mass center [m], shape (..., 3)."""
        return self._run("mass_center", (q,), options)

    @operator
    def mass_center_velocity(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Velocity of the system's mass center [m/s], shape (..., 3)."""
        return self._run("mass_center_velocity", (q, u), options)

    @operator
    def mass_center_acceleration(
        self, q: Vector, u: Vector, udot: Vector, **options: Unpack[Options]
    ) -> Array:
        """Acceleration of the system's mass center [m/s^2], shape (..., 3)."""
        return self._run("mass_center_acceleration", (q, u, udot), options)

    @operator
    def momentum(
        self, q: Vector, u: Vector, about: Vector = (0.0, 0.0, 0.0), **options: Unpack[Options]
    ) -> Array:
        """Angular momentum about a point of ground [kg m^2/s] and linear momentum [kg m/s], shape (...,
        6)."""
        h = self._run("momentum", (q, u), options)
        return stacked(h[..., :3] - np.cross(point("about", about, h.shape[:-1]), h[..., 3:]), h[..., 3:])

    # ---- shared --------------------------------------------------------------------------------------------

    def _arm(self, q: Vector, body: Body | str, station: Vector, options: Options) -> Array:
        """From the body's origin to a station, in ground."""
        R = self.body_pose(q, body, **options).R
        return (R @ point("station", station, R.shape[:-2])[..., None])[..., 0]

    def _seen_velocity(
        self, who: Body | str, q: Vector, u: Vector, p: Array, V: Array, options: Options
    ) -> Array:
        """Velocity V at p, both in ground, relative to a body."""
        return _relative_velocity(
            self.body_pose(q, who, **options), self.body_velocity(q, u, who, **options), p, V
        )

    def _seen_acceleration(
        self,
        who: Body | str,
        q: Vector,
        u: Vector,
        udot: Vector,
        p: Array,
        V: Array,
        A: Array,
        options: Options,
    ) -> Array:
        """Acceleration A at p with velocity V, all in ground, relative to a body."""
        return _relative_acceleration(
            self.body_pose(q, who, **options),
            self.body_velocity(q, u, who, **options),
            self.body_acceleration(q, u, udot, who, **options),
            p,
            V,
            A,
        )

    def _jacobian(self, name: str, q: Vector, body: Body | str, station: Vector, options: Options) -> Array:
        """The Jacobian of a point or frame on a body; zero for ground."""
        which = self.body(body)
        if not which.is_ground:
            return self._run(name, (q, station), options, which.name)
        batch = self.body_pose(q, which, **options).p.shape[:-1]
        (shape,) = OPERATORS[name].shapes(self.compiled.model).values()
        return np.zeros(np.broadcast_shapes(batch, point("station", station, batch).shape[:-1]) + shape)


def _in_A(X_GA: Transform, angular: Array, linear: Array) -> Array:
    R = np.swapaxes(X_GA.R, -1, -2)
    return np.concatenate(
        np.broadcast_arrays(*((R @ x[..., None])[..., 0] for x in (angular, linear))), axis=-1
    )


def _difference(X_GA: Transform, V_A: Array, p: Array, V: Array) -> tuple[Array, Array, Array, Array]:
    """w_A, r, and w and v of (1), all in ground."""
    w_A, r = V_A[..., :3], p - X_GA.p
    return w_A, r, V[..., :3] - w_A, V[..., 3:] - V_A[..., 3:] - np.cross(w_A, r)


def _relative_velocity(X_GA: Transform, V_A: Array, p: Array, V: Array) -> Array:
    """V_AB (..., 6) by (1), from V_GA, V_GB (..., 6) and p_GB (..., 3)."""
    _, _, w, v = _difference(X_GA, V_A, p, V)
    return _in_A(X_GA, w, v)


def _relative_acceleration(X_GA: Transform, V_A: Array, A_A: Array, p: Array, V: Array, A: Array) -> Array:
    """A_AB (..., 6) by (2), from A_GA, A_GB (..., 6) and the same."""
    w_A, r, w, v = _difference(X_GA, V_A, p, V)
    alpha_A = A_A[..., :3]
    a = (
        A[..., 3:]
        - A_A[..., 3:]
        - np.cross(alpha_A, r)
        - np.cross(w_A, np.cross(w_A, r))
        - 2 * np.cross(w_A, v)
    )
    return _in_A(X_GA, A[..., :3] - alpha_A - np.cross(w_A, w), a)
