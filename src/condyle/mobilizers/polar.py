"""Angles and a distance: BendStretch (polar coordinates) and SphericalCoords.

M's origin is at p = r e, e an axis of M; w turns M and e with it. Equation numbers are those of
docs/theory/mobilizers.md. u = qdot throughout.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.mobilizers.base import Mobilizer, RelativeMotion, zeros
from condyle.mobilizers.constants import conditions_on, constant, sx
from condyle.mobilizers.lower_pairs import LETTERS, column
from condyle.records import dataclass
from condyle.spatial import rotation_y, rotation_z
from condyle.trace import Number


def _radial_bias(w: ca.SX, bias_w: ca.SX, r: ca.SX, r_dot: ca.SX, e: ca.SX) -> ca.SX:
    """bias_v = r (bias_w x e + w x (w x e)) + 2 rdot w x e                                  (26)"""
    w_e = ca.cross(w, e)
    return r * (ca.cross(bias_w, e) + ca.cross(w, w_e)) + 2 * r_dot * w_e


@dataclass(frozen=True, eq=False, repr=False)
class BendStretch(Mobilizer):
    """Polar coordinates: rotation about z, then translation along M's own x axis.

    q: angle [rad], distance [m].   u = qdot.

        R = Rz(q1),   p = q2 e,   e = (c1, s1, 0),   H = [[z; q2 z x e], [0; e]]              (27)

    H keeps its rank everywhere. A body without inertia about M (a particle there) cannot resist the angle
    where the distance is zero: the mass matrix is then singular.
    """

    coordinate_names = speed_names = ("bend", "stretch")
    units = ("rad", "m")
    speed_units = ("rad/s", "m/s")
    has_lengths = False
    singular = "a particle at M has no inertia against the angle where the distance is zero"

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        R, z = rotation_z(q[0]), column(LETTERS["z"])
        e = R[:, 0]
        return RelativeMotion(
            R=R,
            p=q[1] * e,
            H_w=ca.horzcat(z, zeros()),
            H_v=ca.horzcat(q[1] * ca.cross(z, e), e),  # (27)
            bias_v=_radial_bias(u[0] * z, zeros(), q[1], u[1], e),
        )


@dataclass(frozen=True, eq=False, repr=False)
class SphericalCoords(Mobilizer):
    """Spherical coordinates: rotation about z, then about M's own y, then translation along M's own z (or x).

    q: azimuth [rad], zenith [rad], radius [m].   u = qdot.

        azimuth = ±q1 + azimuth_offset,   zenith = ±q2 + zenith_offset,   r = ±q3
        R = Rz(azimuth) Ry(zenith),   p = r e,   e = R z or R x                              (28)
        H = [[±z; ±z x p], [±y'; ±y' x p], [0; ±e]],   y' = R y,   bias_w = w1 x w2          (29)

    H keeps its rank everywhere. A body without inertia about M (a particle there) cannot resist the angles
    where the radius is zero, nor the azimuth where e is along F's z (with radial_axis="z": zenith 0 or pi).

    Args:
        azimuth_offset: azimuth where q1 = 0 [rad], a number or a Parameter.
        zenith_offset: zenith where q2 = 0 [rad], a number or a Parameter.
        negate_azimuth: count the azimuth the other way.
        negate_zenith: count the zenith the other way.
        negate_radial: count the radius the other way.
        radial_axis: M's axis of translation, "z" or "x".
    """

    azimuth_offset: Number = 0.0
    negate_azimuth: bool = False
    zenith_offset: Number = 0.0
    negate_zenith: bool = False
    radial_axis: str = "z"
    negate_radial: bool = False

    coordinate_names = speed_names = ("azimuth", "zenith", "radius")
    units = ("rad", "rad", "m")
    speed_units = ("rad/s", "rad/s", "m/s")
    has_lengths = False
    singular = (
        "a particle at M has no inertia against the angles where the radius is zero or M lies on F's z axis"
    )

    def __post_init__(self) -> None:
        for name in ("azimuth_offset", "zenith_offset"):
            object.__setattr__(self, name, constant(getattr(self, name), f"SphericalCoords: {name}"))
        for name in ("negate_azimuth", "negate_zenith", "negate_radial"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise DescriptionError(
                    f"SphericalCoords: {name} is True or False, got {getattr(self, name)!r}"
                )
            object.__setattr__(self, name, bool(getattr(self, name)))
        if not isinstance(self.radial_axis, str) or self.radial_axis not in ("x", "z"):
            raise DescriptionError(f"SphericalCoords: radial_axis is 'z' or 'x', got {self.radial_axis!r}")

    def conditions(self) -> ca.SX | None:
        return conditions_on((self.azimuth_offset, self.zenith_offset))

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        s1, s2, s3 = (-1 if n else 1 for n in (self.negate_azimuth, self.negate_zenith, self.negate_radial))
        R = rotation_z(s1 * q[0] + sx(self.azimuth_offset)) @ rotation_y(
            s2 * q[1] + sx(self.zenith_offset)
        )  # (28)
        z, y, e = s1 * column(LETTERS["z"]), s2 * R[:, 1], s3 * R[:, "xyz".index(self.radial_axis)]
        p = q[2] * e
        H_w = ca.horzcat(z, y, zeros())  # (29)
        H_v = ca.horzcat(ca.cross(z, p), ca.cross(y, p), e)
        w_1, w_2 = z * u[0], y * u[1]
        bias_w = ca.cross(w_1, w_2)
        return RelativeMotion(
            R=R, p=p, H_w=H_w, H_v=H_v, bias_w=bias_w, bias_v=_radial_bias(w_1 + w_2, bias_w, q[2], u[2], e)
        )
