"""Coordinates of an orientation R_FM: unit quaternions and Euler angles, for speeds that are angular
velocities.

Equation numbers are those of docs/theory/mobilizers.md.

Quaternion (w, x, y, z) of M in F, with w_FM in F or in M:

    qdot = 1/2 (0, w_FM_F) q = 1/2 q (0, w_FM_M)                                (14)

Only the direction of q determines the rotation; (14) preserves its length. Euler angles are body-fixed x-y-z:

    R_FM = Rx(q1) Ry(q2) Rz(q3),   N of seth2010 (10) as corrected in its errata   (15)
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

import condyle.shapes as shapes
from condyle.arrays import SX, Array
from condyle.errors import DescriptionError
from condyle.mobilizers.base import Mobilizer, RelativeMotion, zeros
from condyle.mobilizers.constants import QUATERNION, conditions_on, constants, sx, valued
from condyle.records import assign, dataclass
from condyle.shapes import Drawing
from condyle.spatial import (
    quaternion_from_rotation,
    quaternion_rate_matrix,
    rotation_from_euler,
    rotation_from_quaternion,
)
from condyle.trace import Numbers


class Quaternion:
    """Four coordinates, no singularity."""

    names = QUATERNION
    unit = "1"
    default = (1.0, 0.0, 0.0, 0.0)
    singular = ""

    @staticmethod
    def rotation(q: SX) -> SX:
        return rotation_from_quaternion(q / ca.norm_2(q))

    @staticmethod
    def N(q: SX) -> SX:
        """For w_FM in F, shape (4, 3)."""
        return quaternion_rate_matrix(q)  # (14)

    @staticmethod
    def N_M(q: SX) -> SX:
        """For w_FM in M, shape (4, 3)."""
        w, x, y, z = ca.vertsplit(0.5 * q)
        return ca.blockcat([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])  # (14)

    @staticmethod
    def left_inverse(N: SX, q: SX) -> SX:
        """The left inverse of these N, whose columns are orthogonal and |q| / 2 long."""
        return 4 / ca.sumsqr(q) * N.T

    @staticmethod
    def N_inverse(q: SX) -> SX:
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
    def rotation(q: SX) -> SX:
        return rotation_from_euler(ca.vertsplit(q), "xyz")  # (15)

    @staticmethod
    def N(q: SX) -> SX:
        """For w_FM in F, shape (3, 3)."""
        s1, c1, s2, c2 = ca.sin(q[0]), ca.cos(q[0]), ca.sin(q[1]), ca.cos(q[1])
        return ca.blockcat([[1, s1 * s2 / c2, -c1 * s2 / c2], [0, c1, s1], [0, -s1 / c2, c1 / c2]])  # (15)

    @staticmethod
    def N_inverse(q: SX) -> SX:
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
        assign(
            self,
            coordinate_names=(*turn.names, "tx", "ty", "tz")[: len(turn.names) + n],
            speed_names=("wx", "wy", "wz", "vx", "vy", "vz")[: 3 + n],
            units=(turn.unit,) * len(turn.names) + ("m",) * n,
            speed_units=("rad/s",) * 3 + ("m/s",) * n,
            quaternions=(slice(0, 4),) if turn is Quaternion else (),
            singular=turn.singular,
        )

    @property
    def orientation(self) -> type[Quaternion] | type[Euler]:
        return ORIENTATIONS[self.coordinates]

    def split(self, q: SX) -> tuple[SX, SX]:
        """Coordinates of the orientation, and the others."""
        n = len(self.orientation.names)
        return q[:n], q[n:]

    def N(self, q: SX) -> SX:
        N = self.orientation.N(self.split(q)[0])
        return ca.diagcat(N, ca.SX.eye(3)) if self.moves else N

    def N_inverse(self, q: SX) -> SX:
        N = self.orientation.N_inverse(self.split(q)[0])
        return ca.diagcat(N, ca.SX.eye(3)) if self.moves else N

    def default_q(self) -> Array:
        return np.array([*self.orientation.default, *(0.0,) * (3 if self.moves else 0)])

    def random_q(self, rng: np.random.Generator) -> Array:
        turn = self.orientation.random(rng)
        return np.concatenate([turn, rng.uniform(-1.0, 1.0, 3)]) if self.moves else turn


# ---- free ------------------------------------------------------------------------------------------------
#
# Free orientation, with and without translation: Ball, Free.


@dataclass(frozen=True, eq=False, repr=False)
class Ball(OrientationMobilizer):
    """A ball-and-socket joint (`cd.constraints.Ball` is a constraint): M rotates freely about F's origin,
    seth2010 (8), (9).

    q: unit quaternion of M in F (w, x, y, z).   u: w_FM in F [rad/s].

        H = [1; 0],   Hdot = 0                                                  seth2010 (9)

    A quaternion that is not quite of unit length means the rotation of its direction.

    Args:
        coordinates: "quaternion", or "euler": body-fixed x-y-z angles [rad] with the same speeds; N, seth2010
            (10) as corrected, is singular where the second angle is ±pi/2.
    """

    has_lengths = False

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
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

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        turn, p = self.split(q)
        eye = ca.SX.eye(6)
        return RelativeMotion(R=self.orientation.rotation(turn), p=p, H_w=eye[:3, :], H_v=eye[3:, :])


# ---- lines -----------------------------------------------------------------------------------------------
#
# Bodies that are lines, such as linear molecules: their spin about their own axis z means nothing.
#
# Equation numbers are those of docs/theory/mobilizers.md.


@dataclass(frozen=True, eq=False, repr=False)
class LineOrientation(Mobilizer):
    """The direction of a line: M rotates about F's origin but does not spin about its z axis.

    q: unit quaternion of M in F (w, x, y, z).   u: x and y of w_FM in M [rad/s]; its z is zero.

        H_w = [R x, R y],   Hdot u = w x w = 0,   N = first two columns of N for w in M      (30)

    Four coordinates with two speeds: the spin in q depends on the path (it is not integrable), and no speed
    changes it directly. The body needs no inertia about z.
    """

    coordinate_names = Quaternion.names
    speed_names = ("wx", "wy")
    units = (Quaternion.unit,) * 4
    speed_units = ("rad/s",) * 2
    has_lengths = False
    quaternions = (slice(0, 4),)

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        R = Quaternion.rotation(q)
        return RelativeMotion(R=R, p=zeros(), H_w=R[:, :2], H_v=zeros(3, 2))  # (30)

    def N(self, q: SX) -> SX:
        return Quaternion.N_M(q)[:, :2]

    def N_inverse(self, q: SX) -> SX:
        return Quaternion.left_inverse(LineOrientation.N(self, q), q)

    def guess(self, R_FM: Array) -> Array:
        return np.append(quaternion_from_rotation(R_FM), np.zeros(self.nq - 4))

    def default_q(self) -> Array:
        return np.append(Quaternion.default, np.zeros(self.nq - 4))

    def random_q(self, rng: np.random.Generator) -> Array:
        return np.append(Quaternion.random(rng), rng.uniform(-1.0, 1.0, self.nq - 4))


@dataclass(frozen=True, eq=False, repr=False)
class FreeLine(LineOrientation):
    """A free line: LineOrientation, and translation in F.

    q: unit quaternion of M in F (w, x, y, z), p_FM in F [m].
    u: x and y of w_FM in M [rad/s], then v_FM in F [m/s].

        H = [R x, R y, 0; 0, 0, 1],   Hdot u = 0                                             (31)
    """

    coordinate_names = (*Quaternion.names, "tx", "ty", "tz")  # type: ignore[assignment]
    speed_names = ("wx", "wy", "vx", "vy", "vz")  # type: ignore[assignment]
    units = (Quaternion.unit,) * 4 + ("m",) * 3  # type: ignore[assignment]
    speed_units = ("rad/s",) * 2 + ("m/s",) * 3  # type: ignore[assignment]

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        turn = super().motion(t, q[:4], u[:2])
        H_v = ca.horzcat(zeros(3, 2), ca.SX.eye(3))
        return RelativeMotion(R=turn.R, p=q[4:], H_w=ca.horzcat(turn.H_w, zeros(3, 3)), H_v=H_v)  # (31)

    def N(self, q: SX) -> SX:
        return ca.diagcat(super().N(q[:4]), ca.SX.eye(3))

    def N_inverse(self, q: SX) -> SX:
        return ca.diagcat(super().N_inverse(q[:4]), ca.SX.eye(3))


# ---- ellipsoid -------------------------------------------------------------------------------------------
#
# A body on an ellipsoid: seth2010 section 2.3.


@dataclass(frozen=True, eq=False, repr=False)
class Ellipsoid(OrientationMobilizer):
    """An ellipsoid joint: frame M moves on an ellipsoid fixed in F as it rotates: three rotations, with
    coupled translation, seth2010 (11)-(14). (Surfaces of this name are in `cd.contact` and `cd.paths`, a
    shape to draw in `cd.shapes`.)

    q: unit quaternion of M in F (w, x, y, z).
    u: w_FM in F [rad/s].
    a: the radii; n = R z; products by elements.

        p = a n                                                                 seth2010 (12)
        H = [1; -diag(a) [n]x],   Hdot u = [0; a (w x (w x n))]                  (13), (14)

    p lies on the ellipsoid, but n is the surface's normal there only on its axes and where radii agree.
    `normal=True` keeps n normal:

        p = a^2 n / d,   d = |a n|,   v = (a^2 ndot - p (p . ndot)) / d,   ndot = w x n             (35), (36)
        Hdot u = [0; (a^2 m - 2 (p . ndot) v - p (v . ndot + p . m)) / d],   m = w x (w x n)            (37)

    At q = 0, M is at (0, 0, radii[2]), with its axes along F's.

    Args:
        radii: semi-axes along F's axes [m], shape (3,), positive, numbers or Parameters.
        normal: keep M's z axis normal to the surface.
        coordinates: "quaternion", or "euler": body-fixed x-y-z angles [rad] with the same speeds; N is
            singular where the second angle is ±pi/2.
        mirrored: radii may be negative, as in mirrored models, which reverses motion along that axis. Not
            with `normal`.
    """

    coordinates: str = "quaternion"
    radii: Numbers = None  # type: ignore[assignment]
    normal: bool = False
    mirrored: bool = False

    scales_with_body = True

    def __init__(
        self, radii: Numbers, normal: bool = False, coordinates: str = "quaternion", mirrored: bool = False
    ) -> None:
        for what, said in (("normal", normal), ("mirrored", mirrored)):
            if not isinstance(said, (bool, np.bool_)):
                raise DescriptionError(f"Ellipsoid: {what} is True or False, got {said!r}")
        if normal and mirrored:
            raise DescriptionError(
                "Ellipsoid: a mirrored one has no surface for a normal; give normal or mirrored, not both"
            )
        kept = constants(radii, 3, "Ellipsoid: radii", positive=not mirrored)
        assign(self, radii=kept, normal=bool(normal), coordinates=coordinates, mirrored=bool(mirrored))
        self.__post_init__()

    def conditions(self) -> SX | None:
        return None if self.mirrored else conditions_on(self.radii, positive=True)

    def _scaled(self, s: Array) -> Mobilizer:
        radii: Any = self.radii
        return Ellipsoid(
            [r * x for r, x in zip(radii, s, strict=True)],
            self.normal,
            self.coordinates,
            self.mirrored,
        )

    def drawn(self, size: float) -> list[Drawing]:
        return [Drawing(shapes.Ellipsoid(np.abs(valued(self.radii, {}))), opacity=0.35)]  # type: ignore[arg-type]

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        R, a = self.orientation.rotation(q), sx(self.radii)
        n = R[:, 2]
        n_dot = ca.cross(u, n)
        m = ca.cross(u, n_dot)
        if not self.normal:
            # seth2010 (12)-(14)
            p, H_v, bias_v = a * n, -ca.diag(a) @ ca.skew(n), a * m
        else:
            d = ca.norm_2(a * n)
            p = a * a * n / d  # (35)
            H_v = -(ca.diag(a * a) - p @ p.T) @ ca.skew(n) / d  # (36)
            v, p_n = H_v @ u, ca.dot(p, n_dot)
            bias_v = (a * a * m - 2 * p_n * v - p * (ca.dot(v, n_dot) + ca.dot(p, m))) / d  # (37)
        return RelativeMotion(R=R, p=p, H_w=ca.SX.eye(3), H_v=H_v, bias_v=bias_v)
