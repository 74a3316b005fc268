"""Free orientation, with and without translation: Ball, Free."""

from __future__ import annotations

import casadi as ca

from condyle.mobilizers.base import RelativeMotion, zeros
from condyle.mobilizers.orientation import OrientationMobilizer
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Ball(OrientationMobilizer):
    """A ball and socket: M turns freely about F's origin.

    q: unit quaternion of M in F (w, x, y, z).   u: w_FM in F [rad/s].

        H = [1; 0],   Hdot = 0                                                  seth2010 (9)

    A quaternion that is not quite of unit length means the rotation of its direction.

    Args:
        coordinates: "quaternion", or "euler": body-fixed x-y-z angles [rad] with the same speeds; N, seth2010
            (10) as corrected, is singular where the second angle is ±pi/2.
    """

    has_lengths = False

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        return RelativeMotion(R=self.orientation.rotation(q), p=zeros(), H_w=ca.SX.eye(3), H_v=zeros(3, 3))


@dataclass(frozen=True, eq=False, repr=False)
class Free(OrientationMobilizer):
    """Unrestricted motion of M in F: six degrees of freedom, three rotations and three translations.

    q: unit quaternion of M in F (w, x, y, z), then p_FM in F [m].
    u: w_FM in F [rad/s], then v_FM in F [m/s].

    H is the identity and constant (seth2010 (9)); only N depends on q. A quaternion that is not quite of unit
    length means the rotation of its direction.

    Args:
        coordinates: "quaternion", or "euler": body-fixed x-y-z angles [rad] with the same speeds; singular
            where the second angle is ±pi/2.
    """

    moves = True
    has_lengths = False

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        turn, p = self.split(q)
        eye = ca.SX.eye(6)
        return RelativeMotion(R=self.orientation.rotation(turn), p=p, H_w=eye[:3, :], H_v=eye[3:, :])
