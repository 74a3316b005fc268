"""Rotation about an axis, translation along axes, and both: Weld, Pin, Slider, Screw, Cylinder, Planar,
Translation.

Equation numbers are those of docs/theory/mobilizers.md; seth2010's are named. u = qdot throughout.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import Array, in_order
from condyle.errors import DescriptionError
from condyle.mobilizers.base import Mobilizer, RelativeMotion, zeros
from condyle.mobilizers.constants import conditions_on, constant, sx
from condyle.records import dataclass
from condyle.spatial import rotation_about, rotation_x, rotation_y, rotation_z
from condyle.trace import Number

Axis = tuple[float, float, float]
LETTERS: dict[str, Axis] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_ROTATIONS = dict(zip(LETTERS.values(), (rotation_x, rotation_y, rotation_z), strict=True))


def unit_axis(axis: object, what: str) -> Axis:
    """A unit vector from "x", "y", "z" or any three numbers, not all zero."""
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
    if np.abs(a).max() > 2 or abs(a @ a - 1) > 1e-15:  # else it has length 1: kept to the last digit
        a = a / np.abs(a).max()
        a = a / np.linalg.norm(a)
    return float(a[0]), float(a[1]), float(a[2])


def rotation_about_axis(axis: Axis, angle: ca.SX) -> ca.SX:
    """Rotation about a constant unit axis; about x, y, z its zeros and ones are structural."""
    if axis in _ROTATIONS:
        return _ROTATIONS[axis](angle)
    return rotation_about(np.array(axis), angle)


def column(axis: Axis) -> ca.SX:
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
    """No motion at all: M is F. No coordinates, no speeds."""

    units = speed_units = ()
    has_lengths = False

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        return RelativeMotion(R=ca.SX.eye(3), p=zeros(), H_w=zeros(3, 0), H_v=zeros(3, 0))


@dataclass(frozen=True, eq=False, repr=False)
class Pin(Mobilizer):
    """A hinge: rotation about an axis that F and M share.

    q: angle [rad].   u = qdot [rad/s].

    Args:
        axis: "x", "y", "z" or a 3-vector in F (any length); z by default, as in Simbody.
    """

    axis: Any = "z"

    coordinate_names = speed_names = ("angle",)
    units = ("rad",)
    speed_units = ("rad/s",)
    has_lengths = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, "Pin"))

    def __repr__(self) -> str:
        return f"Pin({_axis_text(self.axis, 'z')})"

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        return RelativeMotion(
            R=rotation_about_axis(self.axis, q), p=zeros(), H_w=column(self.axis), H_v=zeros()
        )  # (16)


@dataclass(frozen=True, eq=False, repr=False)
class Slider(Mobilizer):
    """A prismatic joint: translation along an axis that F and M share.

    q: displacement [m].   u = qdot [m/s].

    Args:
        axis: "x", "y", "z" or a 3-vector in F (any length); x by default, as in Simbody.
    """

    axis: Any = "x"

    coordinate_names = speed_names = ("shift",)
    units = ("m",)
    speed_units = ("m/s",)
    has_lengths = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, "Slider"))

    def __repr__(self) -> str:
        return f"Slider({_axis_text(self.axis, 'x')})"

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        a = column(self.axis)
        return RelativeMotion(R=ca.SX.eye(3), p=a * q, H_w=zeros(), H_v=a)  # (17)


@dataclass(frozen=True, eq=False, repr=False)
class Screw(Mobilizer):
    """A helix: rotation about an axis that F and M share, and translation along it in proportion.

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
    speed_units = ("rad/s",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pitch", constant(self.pitch, "Screw: pitch"))
        object.__setattr__(self, "axis", unit_axis(self.axis, "Screw"))

    def conditions(self) -> ca.SX | None:
        return conditions_on(self.pitch)

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        a, pitch = column(self.axis), sx(self.pitch)
        return RelativeMotion(
            R=rotation_about_axis(self.axis, q), p=pitch * q * a, H_w=a, H_v=pitch * a
        )  # (18)

    def _scaled(self, s: Array) -> Mobilizer:
        return Screw(self.pitch * float(np.abs(self.axis) @ s), self.axis)

    def __repr__(self) -> str:
        return f"Screw({', '.join(filter(None, (f'pitch={self.pitch!r}', _axis_text(self.axis, 'z'))))})"


@dataclass(frozen=True, eq=False, repr=False)
class Cylinder(Mobilizer):
    """A shaft in a sleeve: rotation about the z axis that F and M share, and translation along it.

    q: angle [rad], displacement [m].   u = qdot.
    """

    coordinate_names = speed_names = ("rz", "tz")
    units = ("rad", "m")
    speed_units = ("rad/s", "m/s")
    has_lengths = False

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        z = column(LETTERS["z"])
        return RelativeMotion(
            R=rotation_z(q[0]), p=z * q[1], H_w=ca.horzcat(z, zeros()), H_v=ca.horzcat(zeros(), z)
        )  # (19)


@dataclass(frozen=True, eq=False, repr=False)
class Planar(Mobilizer):
    """RelativeMotion in F's x-y plane: rotation about z, and translation along F's x and y, which do not turn
    with M.

    q: angle [rad], x, y [m].   u = qdot.
    """

    coordinate_names = speed_names = ("rz", "tx", "ty")
    units = ("rad", "m", "m")
    speed_units = ("rad/s", "m/s", "m/s")
    has_lengths = False

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
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
    speed_units = ("m/s", "m/s", "m/s")
    has_lengths = False

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        return RelativeMotion(R=ca.SX.eye(3), p=q, H_w=zeros(3, 3), H_v=ca.SX.eye(3))  # (21)
