"""Rotation matrices: about axes and by Euler angles.

R_FM turns components in M into components in F: v_F = R_FM v_M. Angles in radians, right-handed.
All functions but `euler_from_rotation` take numbers, batched by leading dimensions, or CasADi SX.
"""

from __future__ import annotations

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, ShapeError
from condyle.spatial.algebra import (
    Value,
    as_matrix,
    as_scalar,
    as_vector,
    cos,
    entries,
    identity,
    is_symbolic,
    matrix,
    sin,
    times,
    traceable,
)

UNIT_TOLERANCE = 1e-6
"""How far from 1 the length of a unit vector may be: vectors are often typed with seven digits."""

LOCKED = 8 * np.finfo(float).eps
"""Sine of the angle between the first and third Euler axes below which only rounding tells their rotations
apart."""


@traceable
def skew(v: Value) -> Value:
    """[v]x, the matrix with [v]x a = v x a.

    Args:
        v: vector, shape (..., 3).

    Returns:
        shape (..., 3, 3).
    """
    x, y, z = entries(as_vector(v, 3, "skew"))
    return matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


@traceable
def rotation_x(angle: Value) -> Value:
    """Rotation by an angle [rad], shape (...), about x; shape (..., 3, 3)."""
    angle = as_scalar(angle, "rotation_x")
    c, s = cos(angle), sin(angle)
    return matrix([[1, 0, 0], [0, c, -s], [0, s, c]])


@traceable
def rotation_y(angle: Value) -> Value:
    """Rotation by an angle [rad], shape (...), about y; shape (..., 3, 3)."""
    angle = as_scalar(angle, "rotation_y")
    c, s = cos(angle), sin(angle)
    return matrix([[c, 0, s], [0, 1, 0], [-s, 0, c]])


@traceable
def rotation_z(angle: Value) -> Value:
    """Rotation by an angle [rad], shape (...), about z; shape (..., 3, 3)."""
    angle = as_scalar(angle, "rotation_z")
    c, s = cos(angle), sin(angle)
    return matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])


_ABOUT = {"x": rotation_x, "y": rotation_y, "z": rotation_z}


@traceable
def rotation_about(axis: Value, angle: Value) -> Value:
    """Rotation by an angle about a unit axis, R = a a' + cos (1 - a a') + sin [a]x.

    Args:
        axis: unit vector, shape (..., 3). A numeric axis must have length 1 within 1e-6 and is then scaled to
            it; a symbolic one is used as it is.
        angle: [rad], shape (...).

    Returns:
        shape (..., 3, 3).
    """
    symbolic = is_symbolic(axis, angle)
    a = as_vector(axis, 3, "rotation_about, axis") if is_symbolic(axis) else _unit(axis)
    x, y, z = entries(a)
    aa = matrix([[x * x, x * y, x * z], [x * y, y * y, y * z], [x * z, y * z, z * z]])
    parts = aa, identity(3, is_symbolic(aa)) - aa, skew(a)
    along, across, turned = (as_matrix(part, 3, "rotation_about, axis", symbolic) for part in parts)
    angle = as_scalar(angle, "rotation_about, angle", symbolic)
    return along + times(cos(angle), across) + times(sin(angle), turned)


def frame_along(direction: Array) -> Array:
    """A rotation whose z axis is along a direction of any length, shape (3,); x and y are somewhere across it."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _unit(axis: Value) -> Array:
    a = as_vector(axis, 3, "rotation_about, axis")
    length = np.linalg.norm(a, axis=-1, keepdims=True)
    wrong = ~(np.abs(length[..., 0] - 1) <= UNIT_TOLERANCE)
    if wrong.any():
        raise DescriptionError(
            f"rotation_about: axis {a[wrong][0]} has length {length[wrong][0, 0]:.6g}; a unit vector is "
            "needed: divide it by its length"
        )
    return a / length


@traceable
def rotation_from_euler(angles: Value, sequence: str = "xyz") -> Value:
    """Rotation by three angles about body-fixed axes: R = R_i(angles 0) R_j(angles 1) R_k(angles 2).

    Args:
        angles: [rad], shape (..., 3).
        sequence: three of x, y, z, neighbors different: xyz, xzy, ... (six), or xyx, xzx, ... (six).

    Returns:
        shape (..., 3, 3).
    """
    i, j, k = tuple(_checked(sequence))
    first, second, third = entries(as_vector(angles, 3, "rotation_from_euler"))
    return _ABOUT[i](first) @ _ABOUT[j](second) @ _ABOUT[k](third)


def euler_from_rotation(R: Value, sequence: str = "xyz") -> Array:
    """The angles about body-fixed axes that make up a rotation; numbers only. Inverse of
    `rotation_from_euler`.

    The first and third angles are in (-pi, pi]. The second is in [-pi/2, pi/2] where all axes differ (xyz),
    in [0, pi] where the first is used again (xyx).

    Gimbal lock is where first and third axis coincide, at a second angle of +-pi/2, or of 0 or pi. Only the
    sum or difference of the other two is then defined: the third is returned as 0 and the first holds all.
    Near the lock the two are uncertain by rounding / distance, their sum is not: everywhere the angles give
    back R to rounding.

    Args:
        R: rotation, shape (..., 3, 3).
        sequence: as for `rotation_from_euler`.

    Returns:
        angles [rad], shape (..., 3).
    """
    if is_symbolic(R):
        raise ShapeError(
            "euler_from_rotation: takes numbers only; for symbols use log_so3 or quaternion_from_rotation"
        )
    R = as_matrix(R, 3, "euler_from_rotation")
    i, j, last = ("xyz".index(a) for a in _checked(sequence))
    k = 3 - i - j
    e = 1 if (j - i) % 3 == 1 else -1  # sign of the permutation (i, j, k)
    across = np.hypot(R[..., i, j], R[..., i, i if last == k else k])
    if last == k:  # row i: (.., .., e sin(second)) at i, j, k
        second = np.arctan2(e * R[..., i, k], across)
        first = np.arctan2(-e * R[..., j, k], R[..., k, k])
    else:  # row and column i: cos(second) at i
        second = np.arctan2(across, R[..., i, i])
        first = np.arctan2(R[..., j, i], -e * R[..., k, i])
    locked = across < LOCKED
    first = np.where(locked, np.arctan2(e * R[..., k, j], R[..., j, j]), first)
    # Row j of R_i(first)' R is row j of the third rotation alone: it takes up whatever rounding left in the
    # first.
    c, s = np.cos(first)[..., None], np.sin(first)[..., None]
    row = c * R[..., j, :] + e * s * R[..., k, :]
    sine = e * row[..., i] if last == k else -e * row[..., k]
    third = np.where(locked, 0.0, np.arctan2(sine, row[..., j]))
    return np.stack([first, second, third], axis=-1)


def _checked(sequence: str) -> str:
    s = sequence
    if not (isinstance(s, str) and len(s) == 3 and set(s) <= set("xyz") and s[0] != s[1] != s[2]):
        raise DescriptionError(
            f"Euler sequence {sequence!r} does not exist; it is three letters of x, y, z with neighbors "
            "different, such as 'xyz' or 'zxz', about body-fixed axes"
        )
    return s
