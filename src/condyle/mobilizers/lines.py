"""Bodies that are lines, such as linear molecules: their spin about their own axis z means nothing.

Equation numbers are those of docs/theory/mobilizers.md.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.mobilizers.base import Mobilizer, RelativeMotion, zeros
from condyle.mobilizers.orientation import Quaternion
from condyle.records import dataclass
from condyle.spatial import quaternion_from_rotation


@dataclass(frozen=True, eq=False, repr=False)
class LineOrientation(Mobilizer):
    """The direction of a line: M turns about F's origin but does not spin about its own z axis.

    q: unit quaternion of M in F (w, x, y, z).   u: x and y of w_FM in M [rad/s]; its z is zero.

        H_w = [R x, R y],   Hdot u = w x w = 0,   N = first two columns of N for w in M      (30)

    Four coordinates with two speeds: q holds a spin that follows from the path (it is not integrable), but no
    speed can change it on the spot. The body needs no inertia about z.
    """

    coordinate_names = Quaternion.names
    speed_names = ("wx", "wy")
    units = (Quaternion.unit,) * 4
    speed_units = ("rad/s",) * 2
    has_lengths = False
    quaternions = (slice(0, 4),)

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        R = Quaternion.rotation(q)
        return RelativeMotion(R=R, p=zeros(), H_w=R[:, :2], H_v=zeros(3, 2))  # (30)

    def N(self, q: ca.SX) -> ca.SX:
        return Quaternion.N_M(q)[:, :2]

    def N_inverse(self, q: ca.SX) -> ca.SX:
        return Quaternion.left_inverse(self.N(q), q)

    def guess(self, R_FM: Array) -> Array:
        return np.ravel(quaternion_from_rotation(R_FM))

    def default_q(self) -> Array:
        return np.array(Quaternion.default)

    def random_q(self, rng: np.random.Generator) -> Array:
        return Quaternion.random(rng)


@dataclass(frozen=True, eq=False, repr=False)
class FreeLine(Mobilizer):
    """A line free in space: LineOrientation, and translation in F.

    q: unit quaternion of M in F (w, x, y, z), p_FM in F [m].
    u: x and y of w_FM in M [rad/s], then v_FM in F [m/s].

        H = [R x, R y, 0; 0, 0, 1],   Hdot u = 0                                             (31)
    """

    coordinate_names = (*Quaternion.names, "tx", "ty", "tz")
    speed_names = ("wx", "wy", "vx", "vy", "vz")
    units = (Quaternion.unit,) * 4 + ("m",) * 3
    speed_units = ("rad/s",) * 2 + ("m/s",) * 3
    has_lengths = False
    quaternions = (slice(0, 4),)

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        R = Quaternion.rotation(q[:4])
        return RelativeMotion(
            R=R,
            p=q[4:],
            H_w=ca.horzcat(R[:, :2], zeros(3, 3)),  # (31)
            H_v=ca.horzcat(zeros(3, 2), ca.SX.eye(3)),
        )

    def N(self, q: ca.SX) -> ca.SX:
        return ca.diagcat(Quaternion.N_M(q[:4])[:, :2], ca.SX.eye(3))

    def N_inverse(self, q: ca.SX) -> ca.SX:
        return ca.diagcat(Quaternion.left_inverse(Quaternion.N_M(q[:4])[:, :2], q[:4]), ca.SX.eye(3))

    def guess(self, R_FM: Array) -> Array:
        return np.array([*np.ravel(quaternion_from_rotation(R_FM)), 0.0, 0.0, 0.0])

    def default_q(self) -> Array:
        return np.array([*Quaternion.default, 0.0, 0.0, 0.0])

    def random_q(self, rng: np.random.Generator) -> Array:
        return np.concatenate([Quaternion.random(rng), rng.uniform(-1.0, 1.0, 3)])
