"""A linear bushing between frames on two bodies: docs/theory/forces.md (11)-(15).

Notation
  F fixed on a (X_a), M fixed on b (X_b); X_FM = (R, p); w, v: velocity of M in F, in F.
  x = (theta, p): body-fixed x-y-z angles of R = Rx(theta1) Ry(theta2) Rz(theta3), then p.

Equations
  theta1 = atan2(-R23, R33),   theta2 = atan2(R13, c2),   theta3 = atan2(-R12, R11),   c2 = |(R11, R12)|  (11)
  thetadot = N w,   N = [[1, s1 s2/c2, -c1 s2/c2], [0, c1, s1], [0, -s1/c2, c1/c2]]                       (12)
  f = -(k x + c xdot)                                                                                     (13)
  on b at M's origin, in F: force f_p, moment N' f_theta, so that f . xdot is their power                 (14)
  the opposite on a, at the same point of space                                                           (15)
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import casadi as ca

from condyle.forces.base import Law
from condyle.laws.described import BodyName, Frame, placed, quantity, sx
from condyle.laws.view import Loads, View
from condyle.trace import Numbers


@dataclass(frozen=True, eq=False, repr=False)
class LinearBushing(Law):
    """Six springs and dampers that hold frame M on b near frame F on a.

    Three act on the body-fixed x-y-z angles of M in F, three on the displacement of M's origin in F. The
    second angle must stay below pi/2 in size: at pi/2 the other two are not defined.

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        X_a: frame F on a: a Transform, a 3-vector (translation) or None.
        X_b: frame M on b, likewise.
        stiffness: k, three of rotation [N m/rad], then three of displacement [N/m]; shape (6,), at least 0.
        damping: c, [N m s/rad] and [N s/m], shape (6,), at least 0.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    tabular = True

    a: BodyName
    X_a: Frame
    b: BodyName
    X_b: Frame
    stiffness: Annotated[Numbers, quantity("N m/rad, N/m", 6, lowest=0.0)]
    damping: Annotated[Numbers, quantity("N m s/rad, N s/m", 6, lowest=0.0)] = (0.0,) * 6

    def _pose(self, s: View) -> tuple[ca.SX, ca.SX, ca.SX]:
        """R_GF, R_FM and p_FM in F."""
        (R_aF, p_aF), (R_bM, p_bM) = placed(self.X_a), placed(self.X_b)
        R_GF = s.rotation(self.a) @ R_aF
        p_FM = s.station_position(self.b, p_bM) - s.station_position(self.a, p_aF)
        return R_GF, R_GF.T @ s.rotation(self.b) @ R_bM, R_GF.T @ p_FM

    def apply(self, s: View, loads: Loads) -> None:
        R_GF, R, p = self._pose(s)
        (_, p_aF), (_, p_bM) = placed(self.X_a), placed(self.X_b)
        N = _rates(R)
        w_a = s.angular_velocity(self.a)
        v = s.station_velocity(self.b, p_bM) - s.station_velocity(self.a, p_aF) - ca.cross(w_a, R_GF @ p)
        w = s.angular_velocity(self.b) - w_a
        xdot = ca.vertcat(N @ (R_GF.T @ w), R_GF.T @ v)                                      # (12)
        f = -(sx(self.stiffness) * ca.vertcat(_angles(R), p) + sx(self.damping) * xdot)      # (13)
        moment, force = R_GF @ (N.T @ f[:3]), R_GF @ f[3:]                                   # (14)
        loads.add_force(self.b, p_bM, force)
        loads.add_torque(self.b, moment)
        loads.add_force(self.a, p_aF, -force)                                                # (15)
        loads.add_torque(self.a, -moment - ca.cross(R_GF @ p, force))

    def potential(self, s: View) -> ca.SX:
        _, R, p = self._pose(s)
        return ca.dot(sx(self.stiffness), ca.vertcat(_angles(R), p) ** 2) / 2


def _angles(R: ca.SX) -> ca.SX:
    """Body-fixed x-y-z angles (11)."""
    c2 = ca.sqrt(R[0, 0] ** 2 + R[0, 1] ** 2)
    return ca.vertcat(ca.atan2(-R[1, 2], R[2, 2]), ca.atan2(R[0, 2], c2), ca.atan2(-R[0, 1], R[0, 0]))


def _rates(R: ca.SX) -> ca.SX:
    """N of (12), for w in F."""
    c2 = ca.sqrt(R[0, 0] ** 2 + R[0, 1] ** 2)
    s1, c1, s2 = -R[1, 2] / c2, R[2, 2] / c2, R[0, 2]
    return ca.blockcat([[1, s1 * s2 / c2, -c1 * s2 / c2], [0, c1, s1], [0, -s1 / c2, c1 / c2]])
