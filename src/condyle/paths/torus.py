"""A torus that paths pass through: OpenSim's WrapTorus, with geodesics instead of a cylinder.

OpenSim takes the point c of the circle in the tube's middle that is closest to the line AB, lays a cylinder
along the tangent there and wraps over its side that faces the torus's centre. Here the same cylinder says
whether the path wraps and where the search for the geodesic begins. At c the line is as far from the circle
as from its tangent, so that a path lifts off the torus where the rule says so, without a jump.

OpenSim 4.6 looks for the point closest to a circle of twice the radius, by mistake; here it is the radius.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.laws.described import Datum, quantity, sx
from condyle.paths import round
from condyle.paths.round import NONE, WRAPPED, Quadrant
from condyle.paths.segment import SMALLEST, cross, dot, norm, unit
from condyle.paths.shooting import Level, Shooting, Start
from condyle.paths.surfaces import Surface
from condyle.records import dataclass

ITERATIONS = 12
"""Of Newton's method for the point of a line that is closest to a circle."""


@dataclass(frozen=True, eq=False, repr=False)
class Torus(Surface):
    """A torus about the z axis of S: a tube along a circle. A path through its hole goes over the tube's
    inner side.

    Args:
        inner_radius: of the tube [m], positive.
        outer_radius: of the circle in the tube's middle [m], larger than inner_radius.
        quadrant: the half of the torus where a path may be; see Surface. A path closest to the other half is
            straight.
    """

    inner_radius: Annotated[Any, quantity("m", lowest=0.0, positive=True)]
    outer_radius: Annotated[Any, quantity("m", lowest=0.0, positive=True)]

    def __post_init__(self) -> None:
        super().__post_init__()
        if names := sorted({p.name for p in self.parameters()}):
            raise DescriptionError(
                f"Torus: radii: expected numbers [m], got Parameters ({', '.join(names)}), by which its "
                "geodesics have no derivatives; the radius of a Cylinder or a Sphere may be one"
            )
        if not isinstance(self.inner_radius, Datum) and not self.inner_radius < self.outer_radius:
            raise DescriptionError(
                f"Torus: inner_radius = {self.inner_radius:g} m, of the tube, must be less than outer_radius "
                f"= {self.outer_radius:g} m, of the circle in its middle"
            )

    def numbers(self) -> ca.SX:
        return ca.vertcat(sx(self.inner_radius), sx(self.outer_radius))

    def rule(self, A: ca.SX, B: ca.SX) -> tuple[ca.SX, ca.SX]:
        kind, L = Ends(self.given(A, B)).wrapped()[:2]
        return kind, L - norm(B - A)

    def row(self, A: ca.SX, B: ca.SX) -> ca.SX:
        return _shooting().row(self.given(A, B))


class Ends:
    """OpenSim's rule for p = (A, B, inner_radius, outer_radius, quadrant), shape (11,)."""

    def __init__(self, p: ca.SX) -> None:
        self.A, self.B, self.r, self.R, self.quadrant = p[:3], p[3:6], p[6], p[7], Quadrant(p[8:11])

    def closest(self, u: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The point of the line AB that is closest to the circle, from u on; and the square of how far."""
        d = self.B - self.A
        dd = ca.fmax(dot(d, d), SMALLEST)
        for _ in range(ITERATIONS):
            x = self.A + u * d
            rho = ca.fmax(ca.sqrt(x[0] * x[0] + x[1] * x[1]), SMALLEST)
            slope = (x[0] * d[0] + x[1] * d[1]) / rho
            bend = dd - self.R * (d[0] * d[0] + d[1] * d[1] - slope * slope) / rho
            u = u - (dot(x, d) - self.R * slope) / ca.if_else(bend > 0.1 * dd, bend, dd)
        x = self.A + u * d
        rho = ca.sqrt(x[0] * x[0] + x[1] * x[1])
        return x, (rho - self.R) ** 2 + x[2] * x[2]

    def wrapped(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """The rule's answer, the length over the cylinder, where that is touched first, and the middle c of
        the tube."""
        (x, far_x), (y, far_y) = self.closest(ca.SX(0)), self.closest(ca.SX(1))
        on_x, on_y = (ca.logic_or(self.quadrant.all, self.quadrant.has(v)) for v in (x, y))
        first = ca.logic_and(on_x, ca.logic_or(far_x < far_y, ca.logic_not(on_y)))
        a = ca.if_else(first, x, y)
        c = self.R * unit(ca.vertcat(a[0], a[1], 0))
        axes = ca.horzcat(-unit(c), ca.SX([0, 0, -1]), cross(-unit(c), ca.SX([0, 0, -1])))
        given = ca.vertcat(axes.T @ (self.A - c), axes.T @ (self.B - c), self.r, np.inf, 1, 0, 0)
        kind, segment = round.cylinder(given)
        some = ca.logic_and(ca.logic_or(on_x, on_y), kind != NONE)
        return ca.if_else(some, WRAPPED, NONE), segment.L, c + axes @ segment.P, c


def _start(p: ca.SX) -> Start:
    ends = Ends(p)
    kind, _, P, c = ends.wrapped()
    k = unit(c - ends.A)
    r = P - ends.A
    d = r - dot(r, k) * k
    return Start(kind, k, unit(d), ca.atan2(norm(d), dot(r, k)), norm(r), ca.SX(0), ends.r)


@cache
def _shooting() -> Shooting:
    def f(x: ca.SX, numbers: ca.SX) -> ca.SX:
        r, R = numbers[0], numbers[1]
        return (ca.sqrt(x[0] * x[0] + x[1] * x[1]) - R) ** 2 + x[2] * x[2] - r * r

    return Shooting("torus", Level(f, 2), _start)
