"""Rotation about an axis, translation along axes, and both: Weld, Pin, Slider, Screw, Cylinder, Planar,
Translation.

Equation numbers are those of docs/theory/mobilizers.md; seth2010's are named. u = qdot throughout.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array, in_order
from condyle.errors import DescriptionError
from condyle.mobilizers.base import Mobilizer, RelativeMotion, zeros
from condyle.mobilizers.constants import conditions_on, constant, sx
from condyle.records import assign, dataclass
from condyle.spatial import rotation_about, rotation_from_euler, rotation_x, rotation_y, rotation_z
from condyle.trace import Number

Axis = tuple[float, float, float]
LETTERS: dict[str, Axis] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_ROTATIONS = dict(zip(LETTERS.values(), (rotation_x, rotation_y, rotation_z), strict=True))


def unit_axis(axis: object, what: str) -> Axis:
    """A unit vector from "x", "y", "z" or any nonzero 3-vector."""
    if isinstance(axis, str):
        if axis not in LETTERS:
            raise DescriptionError(f"{what}: axis {axis!r} is unknown; use 'x', 'y', 'z' or a 3-vector")
        return LETTERS[axis]
    given = in_order(f"{what}: axis", axis)
    try:
        a = np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        a = np.empty(0)
    if a.shape != (3,) or not np.isfinite(a).all() or not np.any(a):
        raise DescriptionError(
            f"{what}: axis must be 'x', 'y', 'z' or three finite numbers, not all zero; got {axis!r}"
        )
    if np.abs(a).max() > 2 or abs(a @ a - 1) > 1e-15:  # else it has unit length: keep it exactly
        a = a / np.abs(a).max()
        a = a / np.linalg.norm(a)
    x, y, z = (a + 0.0).tolist()  # no -0.0
    return x, y, z


def rotation_about_axis(axis: Axis, angle: SX) -> SX:
    """Rotation about a constant unit axis; about x, y, z its zeros and ones are structural."""
    if axis in _ROTATIONS:
        return _ROTATIONS[axis](angle)
    return rotation_about(np.array(axis), angle)


def column(axis: Axis) -> SX:
    """A constant vector whose zeros are structural."""
    return ca.sparsify(ca.SX(ca.DM(list(axis))))


def _axis_text(axis: object, default: str) -> str:
    """An axis as a user would write it, nothing for the default."""
    for letter, vector in LETTERS.items():
        if axis == vector:
            return "" if letter == default else f"axis={letter!r}"
    return "axis=({:.4g}, {:.4g}, {:.4g})".format(*axis)  # type: ignore[misc]


@dataclass(frozen=True, eq=False, repr=False)
class Weld(Mobilizer):
    """A joint without motion, coordinates and speeds: M is F. (`cd.constraints.Weld` is a constraint.)"""

    units = ()
    has_lengths = False

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        return RelativeMotion(R=ca.SX.eye(3), p=zeros(), H_w=zeros(3, 0), H_v=zeros(3, 0))


@dataclass(frozen=True, eq=False, repr=False)
class Pin(Mobilizer):
    """A hinge: rotation about a common axis of F and M.

    q: angle [rad].   u = qdot [rad/s].

    Args:
        axis: "x", "y", "z" or a 3-vector in F (any length); z by default, as in Simbody.
    """

    axis: Any = "z"

    coordinate_names = speed_names = ("angle",)
    units = ("rad",)
    has_lengths = False

    def __post_init__(self) -> None:
        assign(self, axis=unit_axis(self.axis, "Pin"))

    def __repr__(self) -> str:
        return f"Pin({_axis_text(self.axis, 'z')})"

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        return RelativeMotion(
            R=rotation_about_axis(self.axis, q), p=zeros(), H_w=column(self.axis), H_v=zeros()
        )  # (16)


@dataclass(frozen=True, eq=False, repr=False)
class Slider(Mobilizer):
    """A prismatic joint: translation along a common axis of F and M.

    q: displacement [m].   u = qdot [m/s].

    Args:
        axis: "x", "y", "z" or a 3-vector in F (any length); x by default, as in Simbody.
    """

    axis: Any = "x"

    coordinate_names = speed_names = ("shift",)
    units = ("m",)
    has_lengths = False

    def __post_init__(self) -> None:
        assign(self, axis=unit_axis(self.axis, "Slider"))

    def __repr__(self) -> str:
        return f"Slider({_axis_text(self.axis, 'x')})"

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        a = column(self.axis)
        return RelativeMotion(R=ca.SX.eye(3), p=a * q, H_w=zeros(), H_v=a)  # (17)


@dataclass(frozen=True, eq=False, repr=False)
class Screw(Mobilizer):
    """A helix: rotation about a common axis of F and M, and proportional translation along it.

    q: angle [rad].   u = qdot [rad/s].

        X = [R(axis, q), pitch q axis],   H = [axis; pitch axis],   Hdot = 0            seth2010 (5)-(7)

    Args:
        pitch: translation for each radian [m/rad], a number or a Parameter; negative is a left-handed thread.
        axis: "x", "y", "z" or a 3-vector in F (any length); z by default, as in Simbody.
    """

    pitch: Number
    axis: Any = "z"

    coordinate_names = speed_names = ("angle",)
    units = ("rad",)

    def __post_init__(self) -> None:
        assign(self, pitch=constant(self.pitch, "Screw: pitch"), axis=unit_axis(self.axis, "Screw"))

    def conditions(self) -> SX | None:
        return conditions_on(self.pitch)

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        a, pitch = column(self.axis), sx(self.pitch)
        return RelativeMotion(
            R=rotation_about_axis(self.axis, q), p=pitch * q * a, H_w=a, H_v=pitch * a
        )  # (18)

    def _scaled(self, s: Array) -> Mobilizer:
        return Screw(self.pitch * (np.abs(self.axis) @ s), self.axis)

    def __repr__(self) -> str:
        return f"Screw({', '.join(filter(None, (f'pitch={self.pitch!r}', _axis_text(self.axis, 'z'))))})"


@dataclass(frozen=True, eq=False, repr=False)
class Cylinder(Mobilizer):
    """A cylindrical joint: rotation about the common z axis of F and M, and translation along it.
    (Surfaces of this name are in `cd.contact` and `cd.paths`, a shape to draw in `cd.shapes`.)

    q: angle [rad], displacement [m].   u = qdot.
    """

    coordinate_names = speed_names = ("rz", "tz")
    units = ("rad", "m")
    has_lengths = False

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        z = column(LETTERS["z"])
        return RelativeMotion(
            R=rotation_z(q[0]), p=z * q[1], H_w=ca.horzcat(z, zeros()), H_v=ca.horzcat(zeros(), z)
        )  # (19)


@dataclass(frozen=True, eq=False, repr=False)
class Planar(Mobilizer):
    """Motion in F's x-y plane: rotation about z, and translation along F's x and y, which do not rotate with
    M.

    q: angle [rad], x, y [m].   u = qdot.
    """

    coordinate_names = speed_names = ("rz", "tx", "ty")
    units = ("rad", "m", "m")
    has_lengths = False

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        x, y, z = (column(a) for a in LETTERS.values())
        return RelativeMotion(
            R=rotation_z(q[0]),
            p=x * q[1] + y * q[2],  # (20)
            H_w=ca.horzcat(z, zeros(3, 2)),
            H_v=ca.horzcat(zeros(), x, y),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Translation(Mobilizer):
    """Three translations along F's axes, no rotation (Simbody's Cartesian mobilizer).

    q: p_FM in F [m].   u = qdot = v_FM in F.
    """

    coordinate_names = speed_names = ("tx", "ty", "tz")
    units = ("m", "m", "m")
    has_lengths = False

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        return RelativeMotion(R=ca.SX.eye(3), p=q, H_w=zeros(3, 3), H_v=ca.SX.eye(3))  # (21)


# ---- angles ----------------------------------------------------------------------------------------------
#
# Angles about successive body-fixed axes whose rates are the speeds: Universal, Gimbal, Bushing.
#
# Equation numbers are those of docs/theory/mobilizers.md. u = qdot throughout.


def xyz_motion(q: SX, u: SX) -> tuple[SX, SX, SX]:
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
    """A universal joint: rotation about F's x axis, then about M's y axis.

    q: the two angles [rad].   u = qdot.

        R = Rx(q1) Ry(q2),   H_w = [x, (0, c1, s1)],   Hdot u = (0, -s1, c1) u1 u2           (22)

    The two axes are always at right angles: H keeps its rank everywhere.
    """

    coordinate_names = speed_names = ("rx", "ry")
    units = ("rad", "rad")
    has_lengths = False

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
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
    """Three rotations: body-fixed x-y-z angles whose rates are the speeds. Like Ball, but with gimbal lock.

    q: the three angles [rad].   u = qdot.

        R = Rx(q1) Ry(q2) Rz(q3),   H_w = W(q),   bias_w = Wdot u                            (23), (24)

    H loses rank where the second angle is ±pi/2: det W = cos q2. Use Ball if that can happen.
    """

    coordinate_names = speed_names = ("rx", "ry", "rz")
    units = ("rad", "rad", "rad")
    has_lengths = False
    singular = (
        "the first and third axes coincide where the second angle is ±pi/2 (gimbal lock); cd.Ball "
        "has no such place"
    )

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        R, H_w, bias_w = xyz_motion(q, u)
        return RelativeMotion(R=R, p=zeros(), H_w=H_w, H_v=zeros(3, 3), bias_w=bias_w)


@dataclass(frozen=True, eq=False, repr=False)
class Bushing(Mobilizer):
    """Six degrees of freedom, three rotations and three translations: body-fixed x-y-z angles, then
    translation in F.

    q: the three angles [rad], p_FM in F [m].   u = qdot.

        H = [W(q), 0; 0, 1],   bias = [Wdot u; 0]                                            (25)

    H loses rank where the second angle is ±pi/2. Use Free if that can happen.
    """

    coordinate_names = speed_names = ("rx", "ry", "rz", "tx", "ty", "tz")
    units = ("rad", "rad", "rad", "m", "m", "m")
    has_lengths = False
    singular = (
        "the first and third axes coincide where the second angle is ±pi/2 (gimbal lock); cd.Free "
        "has no such place"
    )

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        R, W, bias_w = xyz_motion(q[:3], u[:3])
        return RelativeMotion(
            R=R,
            p=q[3:],
            H_w=ca.horzcat(W, zeros(3, 3)),
            H_v=ca.horzcat(zeros(3, 3), ca.SX.eye(3)),
            bias_w=bias_w,
        )  # (25)


# ---- polar -----------------------------------------------------------------------------------------------
#
# Angles and a distance: BendStretch (polar coordinates) and SphericalCoords.
#
# M's origin is at p = r e, e an axis of M; w turns M and e with it. Equation numbers are those of
# docs/theory/mobilizers.md. u = qdot throughout.


def _radial_bias(w: SX, bias_w: SX, r: SX, r_dot: SX, e: SX) -> SX:
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
    has_lengths = False
    singular = "a particle at M has no inertia against the angle where the distance is zero"

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
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

    def conditions(self) -> SX | None:
        return conditions_on((self.azimuth_offset, self.zenith_offset))

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
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


# ---- beam ------------------------------------------------------------------------------------------------
#
# A body at the free end of a slender beam: CantileverFreeBeam.


@dataclass(frozen=True, eq=False, repr=False)
class CantileverFreeBeam(Mobilizer):
    """The free end of a beam along F's z axis, bent by a force at its end and twisted: angles, translation
    coupled to them.

    q: body-fixed x-y-z angles of the end [rad].   u = qdot.

        R = Rx(q1) Ry(q2) Rz(q3),   p = L (2/3 q2, -2/3 q1, 1 - 4/15 (q1^2 + q2^2))              (38)
        H = [W(q); dp/dq],   bias = [Wdot u; (0, 0, -8/15 L (u1^2 + u2^2))]                      (39)

    A slender beam under an end force f: the end's slope is f L^2 / 2EI and its deflection f L^3 / 3EI, 2/3 L
    of the slope; the shortening is half the integral of the slope squared, 4/15 L of the end's slope squared.
    Accurate for small angles, a definition for large ones. The stiffness is not included: add forces on the
    coordinates.

    At q = 0, M is at (0, 0, L). W is singular where the second angle is ±pi/2; H keeps its rank since the
    first angle also shifts M.

    Args:
        length: L [m], positive, a number or a Parameter.
    """

    length: Number

    coordinate_names = speed_names = ("rx", "ry", "rz")
    units = ("rad", "rad", "rad")

    def __post_init__(self) -> None:
        assign(self, length=constant(self.length, "CantileverFreeBeam: length", positive=True))

    def conditions(self) -> SX | None:
        return conditions_on(self.length, positive=True)

    def _scaled(self, s: Array) -> Mobilizer:
        return CantileverFreeBeam(self.length * s[2])

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        R, W, bias_w = xyz_motion(q, u)
        L = sx(self.length)
        bend, sink = 2 / 3 * L, 4 / 15 * L
        p = ca.vertcat(bend * q[1], -bend * q[0], L - sink * (q[0] ** 2 + q[1] ** 2))  # (38)
        H_v = ca.blockcat([[0, bend, 0], [-bend, 0, 0], [-2 * sink * q[0], -2 * sink * q[1], 0]])  # (39)
        bias_v = ca.vertcat(0, 0, -2 * sink * (u[0] ** 2 + u[1] ** 2))
        return RelativeMotion(R=R, p=p, H_w=W, H_v=ca.sparsify(H_v), bias_w=bias_w, bias_v=bias_v)


# ---- elliptic --------------------------------------------------------------------------------------------
#
# A body that slides along an ellipse: lee2008 (17)-(20).


@dataclass(frozen=True, eq=False, repr=False)
class EllipticSlider(Mobilizer):
    """A body that slides along an ellipse fixed in F, its x axis along the tangent (the elliptic joint of
    lee2008).

    q: parameter of the ellipse [rad], not the angle of M.   u = qdot.

        p = (a sin q, -b cos q, 0),   R = Rz(phi),   phi = atan2(b sin q, a cos q)          lee2008 (17), (18)
        H = [z phi'; (a cos q, b sin q, 0)],   phi' = a b / d,   d = a^2 cos^2 q + b^2 sin^2 q            (19)
        bias = [z phi''; (-a sin q, b cos q, 0)] u^2,   phi'' = 2 a b (a^2 - b^2) sin q cos q / d^2       (20)

    (19), (20) of the paper are in M. At q = 0, M is at (0, -b, 0), with its axes along F's. H vanishes
    nowhere.

    Args:
        a: semi-axis along x [m], positive, a number or a Parameter.
        b: semi-axis along y [m].
    """

    a: Number
    b: Number

    coordinate_names = speed_names = ("angle",)
    units = ("rad",)

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            object.__setattr__(
                self, name, constant(getattr(self, name), f"EllipticSlider: {name}", positive=True)
            )

    def conditions(self) -> SX | None:
        return conditions_on((self.a, self.b), positive=True)

    def _scaled(self, s: Array) -> Mobilizer:
        return EllipticSlider(self.a * s[0], self.b * s[1])

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        a, b, z = sx(self.a), sx(self.b), column(LETTERS["z"])
        s, c = ca.sin(q), ca.cos(q)
        d = (a * c) ** 2 + (b * s) ** 2
        length = ca.sqrt(d)
        cosine, sine = a * c / length, b * s / length
        R = ca.sparsify(ca.blockcat([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]]))  # (17), (18)
        x, y = column(LETTERS["x"]), column(LETTERS["y"])
        turn = a * b / d
        bend = 2 * turn * (a * a - b * b) * s * c / d
        return RelativeMotion(
            R=R,
            p=x * (a * s) - y * (b * c),
            H_w=z * turn,
            H_v=x * (a * c) + y * (b * s),  # (19)
            bias_w=z * (bend * u * u),
            bias_v=(y * (b * c) - x * (a * s)) * u * u,
        )  # (20)

    def __repr__(self) -> str:
        return f"EllipticSlider({self.a!r}, {self.b!r})"
