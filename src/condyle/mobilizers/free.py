"""Six degrees of freedom: Free."""
from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.mobilizers.base import Mobilizer, Motion, zeros
from condyle.spatial import quaternion_rate_matrix, rotation_from_euler, rotation_from_quaternion


def euler_rate_matrix(q: ca.SX) -> ca.SX:
    """N (3, 3) of body-fixed x-y-z angles for w_FM in F: seth2010 (10) as corrected in its errata. Singular at q2 = ±pi/2."""
    s1, c1, s2, c2 = ca.sin(q[0]), ca.cos(q[0]), ca.sin(q[1]), ca.cos(q[1])
    return ca.blockcat([[1, s1 * s2 / c2, -c1 * s2 / c2], [0, c1, s1], [0, -s1 / c2, c1 / c2]])


@dataclass(frozen=True)
class Free(Mobilizer):
    """Unrestricted motion of M in F.

    q: unit quaternion of M in F (w, x, y, z), then p_FM in F [m].   u: w_FM in F [rad/s], then v_FM in F [m/s].

    H is the identity and constant (seth2010 (9)); only N depends on q. A quaternion that is not quite of unit length
    stands for the rotation of its direction.

    Args:
        coordinates: "quaternion", or "euler": body-fixed x-y-z angles [rad] with the same speeds; singular where the
            second angle is ±pi/2.
    """

    coordinates: str = "quaternion"

    speed_names = ("wx", "wy", "wz", "vx", "vy", "vz")

    def __post_init__(self) -> None:
        if self.coordinates not in ("quaternion", "euler"):
            raise DescriptionError(f"Free: coordinates must be 'quaternion' or 'euler', got {self.coordinates!r}")
        turn = ("qw", "qx", "qy", "qz") if self.coordinates == "quaternion" else ("rx", "ry", "rz")
        object.__setattr__(self, "coordinate_names", (*turn, "tx", "ty", "tz"))
        unit = "1" if self.coordinates == "quaternion" else "rad"
        object.__setattr__(self, "units", (unit,) * len(turn) + ("m",) * 3)

    def __repr__(self) -> str:
        return "Free()" if self.coordinates == "quaternion" else "Free(coordinates='euler')"

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> Motion:
        if self.coordinates == "quaternion":
            R = rotation_from_quaternion(q[:4] / ca.norm_2(q[:4]))
        else:
            R = rotation_from_euler(ca.vertsplit(q[:3]), "xyz")
        eye = ca.SX.eye(6)
        return Motion(R=R, p=q[-3:], H_w=eye[:3, :], H_v=eye[3:, :])

    def N(self, q: ca.SX) -> ca.SX:
        turn = quaternion_rate_matrix(q[:4]) if self.coordinates == "quaternion" else euler_rate_matrix(q[:3])
        return ca.blockcat([[turn, zeros(turn.shape[0], 3)], [zeros(3, 3), ca.SX.eye(3)]])

    def default_q(self) -> np.ndarray:
        q = np.zeros(self.nq)
        q[0] = 1.0 if self.coordinates == "quaternion" else 0.0
        return q

    def random_q(self, rng: np.random.Generator) -> np.ndarray:
        q = rng.uniform(-1.0, 1.0, self.nq)
        if self.coordinates == "quaternion":
            q[:4] = rng.normal(size=4)
            q[:4] /= np.linalg.norm(q[:4])
        return q
