"""Lower pairs as constraint equations between F and M, without unknowns of their own: docs/theory/maximal.md
(6)-(12).

Each gives, from the relative motion of M in F,

    C       what the joint forbids, 6 - nu equations that are zero
    q       the mobilizer's coordinates
    u       its speeds, linear in the relative velocity

Every other mobilizer keeps its q as massless unknowns: joint.py.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.mobilizers import Ball, Cylinder, Free, Mobilizer, Pin, Planar, Screw, Slider, Translation, Weld
from condyle.mobilizers.constants import sx
from condyle.records import dataclass
from condyle.spatial import quaternion_conjugate, quaternion_multiply

Z = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Relative:
    """M in F: unit quaternion e, rotation R, position p, angular velocity w, linear velocity v; all in F."""

    e: ca.SX
    R: ca.SX
    p: ca.SX
    w: ca.SX
    v: ca.SX


@dataclass(frozen=True)
class Pair:
    """C, coordinates q and speeds u as expressions; driver: what is zero where q equals the wanted `near`."""

    C: ca.SX
    q: ca.SX
    u: ca.SX
    driver: ca.SX


def turned_apart(e: ca.SX) -> ca.SX:
    """Three equations for a quaternion e that is no rotation: 2 vec e, the vector of the rotation to first
    order (6)."""
    return 2 * ca.if_else(e[0] < 0, -e[1:], e[1:])


def across(axis: tuple[float, float, float]) -> Array:
    """Two unit vectors, shape (2, 3), orthogonal to a unit axis and to each other."""
    a = np.array(axis)
    b = np.cross(a, np.eye(3)[np.abs(a).argmin()])
    b /= np.linalg.norm(b)
    return np.stack([b, np.cross(a, b)])


def axes_apart(x: Relative, axis: tuple[float, float, float]) -> ca.SX:
    """The axis on M stays orthogonal to two vectors on F: ruggiero2020 (7)."""
    return ca.DM(across(axis)) @ x.R @ ca.DM(axis)


def angle(x: Relative, axis: tuple[float, float, float], near: ca.SX) -> ca.SX:
    """The angle about an axis that F and M share, that one of all its turns that is nearest to `near` (7).

    ruggiero2020 (6) with the correction of the errata: 2 atan2(a . vec e, e0).
    """
    theta = 2 * ca.atan2(ca.dot(ca.DM(axis), x.e[1:]), x.e[0])
    return theta + 2 * np.pi * ca.floor((near - theta) / (2 * np.pi) + 0.5)


def _along(a: tuple[float, float, float], x: ca.SX) -> ca.SX:
    return ca.dot(ca.DM(a), x)


def _turn(x: Relative, near: ca.SX) -> tuple[ca.SX, ca.SX]:
    """The quaternion of M in F with the sign of `near`, and what vanishes where they agree: its rate is w_FM
    (11)."""
    apart = quaternion_multiply(x.e, quaternion_conjugate(near / ca.norm_2(near)))
    return ca.if_else(apart[0] < 0, -x.e, x.e), 2 * apart[1:]


def weld(m: Weld, x: Relative, near: ca.SX) -> Pair:
    none = ca.SX(0, 1)
    return Pair(ca.vertcat(turned_apart(x.e), x.p), none, none, none)  # (6)


def pin(m: Pin, x: Relative, near: ca.SX) -> Pair:
    q = angle(x, m.axis, near)
    return Pair(ca.vertcat(axes_apart(x, m.axis), x.p), q, _along(m.axis, x.w), q - near)  # (7)


def screw(m: Screw, x: Relative, near: ca.SX) -> Pair:
    q = angle(x, m.axis, near)
    C = ca.vertcat(axes_apart(x, m.axis), x.p - sx(m.pitch) * q * ca.DM(m.axis))  # (8)
    return Pair(C, q, _along(m.axis, x.w), q - near)


def slider(m: Slider, x: Relative, near: ca.SX) -> Pair:
    q = _along(m.axis, x.p)
    C = ca.vertcat(turned_apart(x.e), ca.DM(across(m.axis)) @ x.p)  # (9)
    return Pair(C, q, _along(m.axis, x.v), q - near)


def cylinder(m: Cylinder, x: Relative, near: ca.SX) -> Pair:
    q = ca.vertcat(angle(x, Z, near[0]), x.p[2])
    return Pair(ca.vertcat(axes_apart(x, Z), x.p[:2]), q, ca.vertcat(x.w[2], x.v[2]), q - near)  # (10)


def planar(m: Planar, x: Relative, near: ca.SX) -> Pair:
    q = ca.vertcat(angle(x, Z, near[0]), x.p[:2])
    return Pair(ca.vertcat(axes_apart(x, Z), x.p[2]), q, ca.vertcat(x.w[2], x.v[:2]), q - near)  # (10)


def translation(m: Translation, x: Relative, near: ca.SX) -> Pair:
    return Pair(turned_apart(x.e), x.p, x.v, x.p - near)  # (9)


def ball(m: Ball, x: Relative, near: ca.SX) -> Pair:
    q, driver = _turn(x, near)
    return Pair(x.p, q, x.w, driver)  # (11)


def free(m: Free, x: Relative, near: ca.SX) -> Pair:
    q, driver = _turn(x, near[:4])
    return Pair(
        ca.SX(0, 1), ca.vertcat(q, x.p), ca.vertcat(x.w, x.v), ca.vertcat(driver, x.p - near[4:])
    )  # (12)


PAIRS: dict[type[Mobilizer], Callable[..., Pair]] = {
    Weld: weld,
    Pin: pin,
    Screw: screw,
    Slider: slider,
    Cylinder: cylinder,
    Planar: planar,
    Translation: translation,
    Ball: ball,
    Free: free,
}


def pair_of(mobilizer: Mobilizer) -> Callable[..., Pair] | None:
    """The closed form of a mobilizer (not a reversed one), if it has one. Ball and Free have it with
    quaternions."""
    if getattr(mobilizer, "coordinates", "quaternion") != "quaternion":
        return None
    return PAIRS.get(type(mobilizer))
