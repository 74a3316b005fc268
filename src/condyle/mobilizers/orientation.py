"""Coordinates of an orientation R_FM: unit quaternions and Euler angles, for speeds that are angular
velocities.

Equation numbers are those of docs/theory/mobilizers.md.

Quaternion (w, x, y, z) of M in F, with w_FM in F or in M:

    qdot = 1/2 (0, w_FM_F) q = 1/2 q (0, w_FM_M)                                (14)

Any length of q means the rotation of its direction; (14) keeps the length. Euler angles are body-fixed x-y-z:

    R_FM = Rx(q1) Ry(q2) Rz(q3),   N of seth2010 (10) as corrected in its errata   (15)
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.mobilizers.base import Mobilizer
from condyle.mobilizers.units import QUATERNION
from condyle.records import dataclass
from condyle.spatial import quaternion_rate_matrix, rotation_from_euler, rotation_from_quaternion


class Quaternion:
    """Four coordinates, no singularity."""

    names = QUATERNION
    unit = "1"
    default = (1.0, 0.0, 0.0, 0.0)
    singular = ""

    @staticmethod
    def rotation(q: ca.SX) -> ca.SX:
        return rotation_from_quaternion(q / ca.norm_2(q))

    @staticmethod
    def N(q: ca.SX) -> ca.SX:
        """For w_FM in F, shape (4, 3)."""
        return quaternion_rate_matrix(q)  # (14)

    @staticmethod
    def N_M(q: ca.SX) -> ca.SX:
        """For w_FM in M, shape (4, 3)."""
        w, x, y, z = ca.vertsplit(0.5 * q)
        return ca.blockcat([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])  # (14)

    @staticmethod
    def left_inverse(N: ca.SX, q: ca.SX) -> ca.SX:
        """The left inverse of these N, whose columns are orthogonal and |q| / 2 long."""
        return 4 / ca.sumsqr(q) * N.T

    @staticmethod
    def N_inverse(q: ca.SX) -> ca.SX:
        """w_FM in F from qdot, shape (3, 4)."""
        return Quaternion.left_inverse(Quaternion.N(q), q)

    @staticmethod
    def random(rng: np.random.Generator) -> Array:
        q = rng.normal(size=4)
        return q / np.linalg.norm(q)


class Euler:
    """Three angles [rad]; N is singular where the second is ±pi/2."""

    names = ("rx", "ry", "rz")
    unit = "rad"
    default = (0.0, 0.0, 0.0)
    singular = "N(q) is infinite where the second angle is ±pi/2"

    @staticmethod
    def rotation(q: ca.SX) -> ca.SX:
        return rotation_from_euler(ca.vertsplit(q), "xyz")  # (15)

    @staticmethod
    def N(q: ca.SX) -> ca.SX:
        """For w_FM in F, shape (3, 3)."""
        s1, c1, s2, c2 = ca.sin(q[0]), ca.cos(q[0]), ca.sin(q[1]), ca.cos(q[1])
        return ca.blockcat([[1, s1 * s2 / c2, -c1 * s2 / c2], [0, c1, s1], [0, -s1 / c2, c1 / c2]])  # (15)

    @staticmethod
    def N_inverse(q: ca.SX) -> ca.SX:
        """w_FM in F from qdot, shape (3, 3): the axes x, Rx y and Rx Ry z; no singularity."""
        s1, c1, s2, c2 = ca.sin(q[0]), ca.cos(q[0]), ca.sin(q[1]), ca.cos(q[1])
        return ca.blockcat([[1, 0, s2], [0, c1, -s1 * c2], [0, s1, c1 * c2]])

    @staticmethod
    def random(rng: np.random.Generator) -> Array:
        return rng.uniform(-1.0, 1.0, 3)


ORIENTATIONS: dict[str, type[Quaternion] | type[Euler]] = {"quaternion": Quaternion, "euler": Euler}


@dataclass(frozen=True, eq=False, repr=False)
class OrientationMobilizer(Mobilizer):
    """A mobilizer whose first coordinates are an orientation of M in F and whose other coordinates, if any,
    are p_FM in F.

    The speeds are w_FM in F [rad/s], then v_FM in F [m/s].
    """

    coordinates: str = "quaternion"

    moves = False
    """Whether p_FM in F are coordinates too."""

    def __post_init__(self) -> None:
        if not isinstance(self.coordinates, str) or self.coordinates not in ORIENTATIONS:
            raise DescriptionError(
                f"{type(self).__name__}: coordinates must be 'quaternion' or 'euler', got "
                f"{self.coordinates!r}"
            )
        turn = ORIENTATIONS[self.coordinates]
        n = 3 if self.moves else 0
        for name, value in (
            ("coordinate_names", (*turn.names, "tx", "ty", "tz")[: len(turn.names) + n]),
            ("speed_names", ("wx", "wy", "wz", "vx", "vy", "vz")[: 3 + n]),
            ("units", (turn.unit,) * len(turn.names) + ("m",) * n),
            ("speed_units", ("rad/s",) * 3 + ("m/s",) * n),
            ("quaternions", (slice(0, 4),) if turn is Quaternion else ()),
            ("singular", turn.singular),
        ):
            object.__setattr__(self, name, value)

    @property
    def orientation(self) -> type[Quaternion] | type[Euler]:
        return ORIENTATIONS[self.coordinates]

    def split(self, q: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Coordinates of the orientation, and the others."""
        n = len(self.orientation.names)
        return q[:n], q[n:]

    def N(self, q: ca.SX) -> ca.SX:
        N = self.orientation.N(self.split(q)[0])
        return ca.diagcat(N, ca.SX.eye(3)) if self.moves else N

    def N_inverse(self, q: ca.SX) -> ca.SX:
        N = self.orientation.N_inverse(self.split(q)[0])
        return ca.diagcat(N, ca.SX.eye(3)) if self.moves else N

    def default_q(self) -> Array:
        return np.array([*self.orientation.default, *(0.0,) * (3 if self.moves else 0)])

    def random_q(self, rng: np.random.Generator) -> Array:
        turn = self.orientation.random(rng)
        return np.concatenate([turn, rng.uniform(-1.0, 1.0, 3)]) if self.moves else turn
