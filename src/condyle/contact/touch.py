"""Where two surfaces are closest: depth, point, normal and curvatures there. docs/theory/contact.md (5)-(8).

    n      unit normal from a to b, in ground
    Q      the point of a's surface that is deepest in b; b's is Q - x n                                  (5)
    x      depth, above zero where they touch; its rate is n . (v_a - v_b) at any point of this line      (6)
    kappa_1, kappa_2   principal curvatures of the gap: those of the sum of both surfaces' tensors        (7)
    P = Q - s_1 x n    the contact point                                                                  (8)

A pair of kinds of surfaces is one function in a list, `PAIRS`.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca

from condyle.contact.surfaces import HalfSpace, Pose, Sphere, Surface
from condyle.errors import DescriptionError
from condyle.laws.described import sx


@dataclass(frozen=True)
class Touch:
    """See the module's text.

    Attributes:
        x: depth [m], (6).
        n: normal from a to b, in ground.
        Q: deepest point of a [m], in ground.
        R: relative radius 2 / (kappa_1 + kappa_2) [m].
        gap: curvature of the gap as a tensor in ground [1/m], shape (3, 3), that maps n to zero; None where
            both principal curvatures are 1 / R by construction.
    """

    x: ca.SX
    n: ca.SX
    Q: ca.SX
    R: ca.SX
    gap: ca.SX | None = None

    @property
    def flipped(self) -> Touch:
        """The same with a and b exchanged."""
        return Touch(self.x, -self.n, self.Q - self.x * self.n, self.R, self.gap)

    def at(self, s_1: ca.SX) -> ca.SX:
        """P of (8) [m]."""
        return self.Q - s_1 * self.x * self.n


def plane_sphere(a: HalfSpace, A: Pose, b: Sphere, B: Pose) -> Touch:
    n, height = a.plane(A)
    centre = b.centre_at(B)
    gap = ca.dot(n, centre) - height
    return Touch(sx(b.radius) - gap, n, centre - gap * n, sx(b.radius))


def sphere_sphere(a: Sphere, A: Pose, b: Sphere, B: Pose) -> Touch:
    """Where the centres coincide the normal is not defined: it is taken as zero there, and so is the
    force."""
    r = b.centre_at(B) - a.centre_at(A)
    square = ca.dot(r, r)
    apart = square > 0
    distance = ca.sqrt(ca.if_else(apart, square, 1))
    n = ca.if_else(apart, r / distance, 0)
    x = sx(a.radius) + sx(b.radius) - ca.if_else(apart, distance, 0)
    R = sx(a.radius) * sx(b.radius) / (sx(a.radius) + sx(b.radius))
    return Touch(x, n, a.centre_at(A) + sx(a.radius) * n, R)


PAIRS: dict[tuple[type, type], Callable[[Any, Pose, Any, Pose], Touch]] = {
    (HalfSpace, Sphere): plane_sphere,
    (Sphere, Sphere): sphere_sphere,
}
"""Pairs of kinds of surfaces that can touch, in either order."""


def check_pair(a: Surface, b: Surface, what: str) -> None:
    """Raise DescriptionError if the surfaces cannot touch."""
    for name, surface in (("a", a), ("b", b)):
        if not isinstance(surface, Surface):
            raise DescriptionError(f"{what}: {name}: expected a surface such as cd.contact.Sphere(...), got "
                                   f"{surface!r}")
    if a.body == b.body:
        raise DescriptionError(f"{what}: both surfaces are on body {a.body!r}; a contact is between two "
                               "bodies")
    kinds = type(a), type(b)
    if kinds not in PAIRS and kinds[::-1] not in PAIRS:
        known = sorted({other.__name__ for pair in PAIRS for one, other in (pair, pair[::-1])
                        if one is type(a)})
        raise DescriptionError(f"{what}: no contact between {kinds[0].__name__} and {kinds[1].__name__}; "
                               f"{kinds[0].__name__} touches {', '.join(known) or 'nothing'}")


def touch(a: Surface, A: Pose, b: Surface, B: Pose) -> Touch:
    """Where two surfaces are closest, from a to b."""
    kinds = type(a), type(b)
    if kinds in PAIRS:
        return PAIRS[kinds](a, A, b, B)
    return PAIRS[kinds[::-1]](b, B, a, A).flipped
