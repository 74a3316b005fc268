"""A torus that paths pass through: OpenSim's WrapTorus, with geodesics instead of a cylinder.

OpenSim takes the point c of the circle in the tube's middle that is closest to the line AB, lays a cylinder
along the tangent there and wraps over its side that faces the torus's center. Here c is closest to the
segment AB, and the same cylinder gives the start of the search for the geodesic. A segment wraps if it passes
through the tube, or if the tube is between it and the hole.

In the plane across the tube at c, an end is outside if it is farther out than c. A path goes through the
hole from the upper to the lower of two ends that are outside, by their angles about c: the shorter way
around. If only one end is outside, its height decides over which side of the tube the path comes. So a path
has one result, whatever its direction. At c the line is as far from the circle as from its tangent, so that a
path lifts off the torus without a jump.

OpenSim 4.6 searches the point closest to a circle of twice the radius, by mistake; here it is the radius.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Annotated

import casadi as ca
import numpy as np

import condyle.shapes.meshes as meshes
from condyle.arrays import SX, Array
from condyle.errors import DescriptionError
from condyle.laws.described import Datum, quantity, sx
from condyle.laws.factors import times
from condyle.paths import cylinder_sphere as closed_form
from condyle.paths.cylinder_sphere import NONE, WRAPPED, Quadrant
from condyle.paths.segment import SMALLEST, Segment, cross, dot, norm, unit
from condyle.paths.shooting import Level, Shooting, Start
from condyle.paths.wrap_surfaces import Surface
from condyle.records import dataclass
from condyle.shapes import Drawing
from condyle.spatial.algebra import all_of, any_of
from condyle.trace import Number
from condyle.trace.parameter import numbers_at

ITERATIONS = 12
"""Number of Newton's steps for the point of a line that is closest to a circle."""


@dataclass(frozen=True, eq=False, repr=False)
class Torus(Surface):
    """A torus about the z axis of S: a tube along a circle. A path through its hole goes over the tube's
    inner side.

    Args:
        inner_radius: of the tube [m], positive.
        outer_radius: of the circle in the tube's middle [m], larger than inner_radius.
        quadrant: the half of the torus over which a path may go; see Surface. A path closest to the other
            half is straight.
    """

    other_names = ("WrapTorus",)

    inner_radius: Annotated[Number, quantity("m", lowest=0.0, positive=True)]
    outer_radius: Annotated[Number, quantity("m", lowest=0.0, positive=True)]

    def scaled_along(self, along: Array, body: Array) -> Torus:
        """Both radii are scaled by the mean of the factors along x and y."""
        factor = float(along[:2].mean())
        return replace(
            self, inner_radius=times(self.inner_radius, factor), outer_radius=times(self.outer_radius, factor)
        )

    def drawn(self, size: float) -> list[Drawing]:
        return [Drawing(meshes.torus(numbers_at(self.outer_radius), numbers_at(self.inner_radius)))]

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

    def numbers(self) -> SX:
        return ca.vertcat(sx(self.inner_radius), sx(self.outer_radius))

    def rule(self, A: SX, B: SX) -> tuple[SX, SX]:
        kind, over = TorusEnds(self.solver_input(A, B)).wrapped()[:2]
        return kind, over.L - norm(B - A)

    def row(self, A: SX, B: SX) -> SX:
        return _shooting().row(self.solver_input(A, B))

    def along(self, P: Array, Q: Array, e_in: Array, e_out: Array, arc: Array, s: Array) -> Array:
        return _shooting().level.geodesic(P, e_in, arc, s, [self.inner_radius, self.outer_radius])


class TorusEnds:
    """The wrap of p = (A, B, inner_radius, outer_radius, quadrant), shape (11,), if any."""

    def __init__(self, p: SX) -> None:
        self.A, self.B, self.r, self.R, self.quadrant = p[:3], p[3:6], p[6], p[7], Quadrant(p[8:11])

    def wrapped(self) -> tuple[SX, Segment, SX, SX]:
        """The rule's result, the segment over the cylinder, whether it goes downward through the hole, and
        the cylinder's frame: c and axes (inward, down, along the tube), shape (3, 4)."""
        (x, far_x), (y, far_y) = (closest(self.A, self.B, self.R, u) for u in (0, 1))
        on_x, on_y = (any_of(self.quadrant.all, self.quadrant.has(v)) for v in (x, y))
        first = all_of(on_x, any_of(far_x < far_y, ca.logic_not(on_y)))
        a = ca.if_else(first, x, y)
        c = self.R * unit(ca.vertcat(a[0], a[1], 0))
        inward, down = -unit(c), ca.SX([0, 0, -1])
        axes = ca.horzcat(inward, down, cross(inward, down))
        A, B = axes.T @ (self.A - c), axes.T @ (self.B - c)
        turn = A[0] * B[1] - A[1] * B[0]
        one_out = ca.if_else(A[0] < 0, A[1] < 0, ca.if_else(B[0] < 0, B[1] > 0, turn > 0))
        downward = ca.if_else(all_of(A[0] < 0, B[0] < 0), turn < 0, one_out)
        crossing = ca.fmin(ca.if_else(on_x, far_x, np.inf), ca.if_else(on_y, far_y, np.inf)) < self.r**2
        outside = [_far(X, self.R) >= self.r**2 for X in (self.A, self.B)]
        around = all_of(*outside, any_of(crossing, (turn < 0) == downward))
        some = all_of(any_of(on_x, on_y), around)
        return (
            ca.if_else(some, WRAPPED, NONE),
            closed_form.over_cylinder(A, B, self.r, downward),
            downward,
            ca.horzcat(c, axes),
        )


def closest(A: SX, B: SX, R: SX, start: float) -> tuple[SX, SX]:
    """The point of a segment AB that is closest to the circle, searched from a fraction of it; and its
    squared distance."""
    d, u = B - A, ca.SX(start)
    dd = ca.fmax(dot(d, d), SMALLEST)
    for _ in range(ITERATIONS):
        x = A + u * d
        rho = ca.fmax(ca.sqrt(x[0] * x[0] + x[1] * x[1]), SMALLEST)
        slope = (x[0] * d[0] + x[1] * d[1]) / rho
        bend = dd - R * (d[0] * d[0] + d[1] * d[1] - slope * slope) / rho
        u = u - (dot(x, d) - R * slope) / ca.if_else(bend > 0.1 * dd, bend, dd)
        u = ca.fmin(ca.fmax(u, 0), 1)
    x = A + u * d
    return x, _far(x, R)


def _far(x: SX, R: SX) -> SX:
    """Square of the distance of x from the circle."""
    return (ca.sqrt(x[0] * x[0] + x[1] * x[1]) - R) ** 2 + x[2] * x[2]


class TorusTube(Level):
    """The torus as a level, whose deepest point on a segment is known."""

    def deepest(self, A: SX, B: SX, numbers: SX) -> SX:
        (x, far_x), (y, far_y) = (closest(A, B, numbers[1], u) for u in (0, 1))
        return ca.if_else(far_x < far_y, x, y)


def _start(p: SX) -> Start:
    ends = TorusEnds(p)
    kind, over, downward, frame = ends.wrapped()
    c, axes = frame[:, 0], frame[:, 1:]
    k = unit(c - ends.A)
    r = c + axes @ over.P - ends.A
    beside = ca.if_else(downward, -1, 1) * cross(axes[:, 2], k)
    d = r - dot(r, k) * k
    inside = dot(closed_form.FLAT @ axes.T @ (ends.A - c), axes.T @ (ends.A - c)) < ends.r**2
    d = ca.if_else(inside, beside, d)
    theta = ca.if_else(inside, 0.5, ca.atan2(norm(d), dot(r, k)))
    rho = ca.if_else(inside, norm(ends.A - c), norm(r))
    return Start(kind, k, unit(d), theta, rho, ca.SX(0), ends.r, ca.if_else(downward, 1, -1))


def _taut(p: SX, start: Start, P: SX, e_in: SX, Q: SX, arc: SX) -> SX:
    """Whether a geodesic goes through the hole in the right direction, and not around the tube once more."""
    r, R = p[6], p[7]
    (x, y), (x2, y2), (dx, dy) = (_across(X, v) for X, v in ((P, P), (Q, Q), (P, e_in)))
    x, x2 = x + R, x2 + R
    sweep = closed_form.arc_tangent(start.sense * (x * y2 - y * x2), x * x2 + y * y2)
    sweep = ca.if_else(sweep < 0, sweep + 2 * np.pi, sweep)
    return all_of(start.sense * (x * dy - y * dx) > 0, arc < r * (sweep + 2 * np.pi))


def _across(X: SX, v: SX) -> tuple[SX, SX]:
    """Components of v inward and down, in the plane across the tube at X."""
    return -dot(unit(ca.vertcat(X[0], X[1], 0)), v), -v[2]


@cache
def _shooting() -> Shooting:
    def f(x: SX, numbers: SX) -> SX:
        return _far(x, numbers[1]) - numbers[0] ** 2

    return Shooting("torus", TorusTube(f, 2), _start, _taut)
