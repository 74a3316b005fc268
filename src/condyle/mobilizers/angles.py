"""Angles about successive body-fixed axes whose rates are the speeds: Universal, Gimbal, Bushing.

Equation numbers are those of docs/theory/mobilizers.md. u = qdot throughout.
"""

from __future__ import annotations

import casadi as ca

from condyle.mobilizers.base import Mobilizer, RelativeMotion, zeros
from condyle.records import dataclass
from condyle.spatial import rotation_from_euler, rotation_x, rotation_y


def xyz_motion(q: ca.SX, u: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """R_FM, H_w = W and bias_w = Wdot u of body-fixed x-y-z angles q (3,) with rates u (3,).

    W = [x, (0, c1, s1), (s2, -s1 c2, c1 c2)]                                            (23)
    Wdot = [0, u1 (0, -s1, c1), (c2 u2, s1 s2 u2 - c1 c2 u1, -c1 s2 u2 - s1 c2 u1)]      (24)
    """
    s1, c1, s2, c2 = ca.sin(q[0]), ca.cos(q[0]), ca.sin(q[1]), ca.cos(q[1])
    u1, u2, u3 = ca.vertsplit(u)
    W = ca.blockcat([[1, 0, s2], [0, c1, -s1 * c2], [0, s1, c1 * c2]])
    W2_dot = u1 * ca.vertcat(0, -s1, c1)
    W3_dot = ca.vertcat(c2 * u2, s1 * s2 * u2 - c1 * c2 * u1, -c1 * s2 * u2 - s1 * c2 * u1)
    return rotation_from_euler(ca.vertsplit(q), "xyz"), ca.sparsify(W), W2_dot * u2 + W3_dot * u3


@dataclass(frozen=True, eq=False, repr=False)
class Universal(Mobilizer):
    """A cross between two shafts: rotation about F's x axis, then about M's y axis.

    q: the two angles [rad].   u = qdot.

        R = Rx(q1) Ry(q2),   H_w = [x, (0, c1, s1)],   Hdot u = (0, -s1, c1) u1 u2           (22)

    The two axes are always at right angles: H keeps its rank everywhere.
    """

    coordinate_names = speed_names = ("rx", "ry")
    units = ("rad", "rad")
    speed_units = ("rad/s", "rad/s")
    has_lengths = False

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        s1, c1 = ca.sin(q[0]), ca.cos(q[0])
        H_w = ca.sparsify(ca.blockcat([[1, 0], [0, c1], [0, s1]]))  # (22)
        return RelativeMotion(
            R=rotation_x(q[0]) @ rotation_y(q[1]),
            p=zeros(),
            H_w=H_w,
            H_v=zeros(3, 2),
            bias_w=u[0] * u[1] * ca.vertcat(0, -s1, c1),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Gimbal(Mobilizer):
    """Three rotations: body-fixed x-y-z angles whose rates are the speeds. Ball without its freedom from
    gimbal lock.

    q: the three angles [rad].   u = qdot.

        R = Rx(q1) Ry(q2) Rz(q3),   H_w = W(q),   bias_w = Wdot u                            (23), (24)

    H loses rank where the second angle is ±pi/2: det W = cos q2. Use Ball where that can happen.
    """

    coordinate_names = speed_names = ("rx", "ry", "rz")
    units = ("rad", "rad", "rad")
    speed_units = ("rad/s", "rad/s", "rad/s")
    has_lengths = False
    singular = (
        "the first and third axes coincide where the second angle is ±pi/2 (gimbal lock); cd.Ball "
        "has no such place"
    )

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        R, H_w, bias_w = xyz_motion(q, u)
        return RelativeMotion(R=R, p=zeros(), H_w=H_w, H_v=zeros(3, 3), bias_w=bias_w)


@dataclass(frozen=True, eq=False, repr=False)
class Bushing(Mobilizer):
    """Six degrees of freedom, three rotations and three translations: body-fixed x-y-z angles, then
    translation in F.

    q: the three angles [rad], p_FM in F [m].   u = qdot.

        H = [W(q), 0; 0, 1],   bias = [Wdot u; 0]                                            (25)

    H loses rank where the second angle is ±pi/2. Use Free where that can happen.
    """

    coordinate_names = speed_names = ("rx", "ry", "rz", "tx", "ty", "tz")
    units = ("rad", "rad", "rad", "m", "m", "m")
    speed_units = ("rad/s", "rad/s", "rad/s", "m/s", "m/s", "m/s")
    has_lengths = False
    singular = (
        "the first and third axes coincide where the second angle is ±pi/2 (gimbal lock); cd.Free "
        "has no such place"
    )

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        R, W, bias_w = xyz_motion(q[:3], u[:3])
        return RelativeMotion(
            R=R,
            p=q[3:],
            H_w=ca.horzcat(W, zeros(3, 3)),
            H_v=ca.horzcat(zeros(3, 3), ca.SX.eye(3)),
            bias_w=bias_w,
        )  # (25)
