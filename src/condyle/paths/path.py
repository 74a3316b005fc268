"""Paths: points on bodies, and surfaces between them; and their length as a leaf for any law.

    L = constant + sum of spans                                                                            (1)

The constant is the part between points of one body. Spans (span.py) are separate leaves: `split` defines
where a path is cut, and which surface may be on which piece. `polygon` gives points along a path, for
drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from functools import cached_property
from itertools import pairwise
from operator import is_
from typing import Any, Self

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.arrays import SX, Array
from condyle.errors import DescriptionError
from condyle.laws.described import Described, StoredNumber, placed, sx, text
from condyle.laws.factors import BodyFactors
from condyle.laws.leaves import Leaf
from condyle.laws.view import Loads, MovingView, View
from condyle.native.tables.lookup import Closure, lookup_context
from condyle.paths.cylinder_sphere import NONE
from condyle.paths.points import ConditionalPoint, Point, Wrap
from condyle.paths.segment import length
from condyle.paths.span import TOUCHED, Span
from condyle.paths.wrap_surfaces import Surface
from condyle.records import dataclass
from condyle.trace.parameter import Parameter
from condyle.tree.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class Path(Described):
    """A path through points of bodies, over surfaces.

    Args:
        points: two or more, in order: (body, p), `cd.paths.Point`, `ConditionalPoint` or `MovingPoint`; first
            and last are always active.
        wraps: surfaces, `cd.paths.Wrap`.
    """

    other_names = ("GeometryPath",)

    points: Sequence[Any]
    wraps: Sequence[Wrap] = ()

    def __post_init__(self) -> None:
        points, wraps = (
            _several(what, given) for what, given in (("points", self.points), ("wraps", self.wraps))
        )
        points = tuple(p if isinstance(p, Point) else _point(p, i) for i, p in enumerate(points))
        if len(points) < 2:
            raise DescriptionError(f"Path: expected two points or more, got {len(points)}")
        for end, which in ((points[0], "first"), (points[-1], "last")):
            if end.coordinates:
                raise DescriptionError(
                    f"Path: the {which} point is a {end!r}; the ends of a path are always active"
                )
        for w in wraps:
            if not isinstance(w, Wrap):
                hint = "; cd.paths.Wrap(surface, body, X_BS) puts it on a body" * isinstance(w, Surface)
                raise DescriptionError(f"Path: wraps: expected cd.paths.Wrap, got {w!r}{hint}")
            first, last = w.between or (0, len(points) - 1)
            if not 0 <= first < last < len(points):
                raise DescriptionError(
                    f"Path: a wrap is between points {w.between}; there are points 0 to {len(points) - 1}"
                )
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "wraps", wraps)

    def check(self, tree: Tree) -> None:
        self.length.check(tree, "Path")

    def scaled(self, factors: BodyFactors) -> Self:
        """Points and surfaces move with their bodies, and surfaces grow with them."""
        points, wraps = (tuple(x.scaled(factors) for x in part) for part in (self.points, self.wraps))
        if all(map(is_, (*points, *wraps), (*self.points, *self.wraps))):
            return self
        return replace(self, points=points, wraps=wraps)

    def parameters(self) -> list[Parameter]:
        known = self.__dict__.get("_parameters")  # found once: it is frozen
        if known is None:
            known = [p for part in (*self.points, *self.wraps) for p in part.parameters()]
            self.__dict__["_parameters"] = known
        return [*known]

    def check_parameters(self, values: Mapping[str, float]) -> None:
        for part in (*self.points, *self.wraps):
            part.check_parameters(values)

    def conditions(self) -> SX:
        return ca.vertcat(ca.SX(0, 1), *(part.conditions() for part in (*self.points, *self.wraps)))

    @cached_property
    def length(self) -> PathLength:
        """Its length [m]: `s.ask(path.length)`."""
        return PathLength(self)

    @cached_property
    def every_order(self) -> Path:
        """The same path, with third derivatives of its length over those surfaces that provide them."""

        def copied(w: Wrap) -> Wrap:
            surface = copy(w.surface)
            object.__setattr__(surface, "every_order", True)
            return replace(w, surface=surface)

        return replace(self, wraps=tuple(map(copied, self.wraps))) if self.wraps else self

    @property
    def knows_every_order(self) -> bool:
        """Whether `every_order` has third derivatives over all its surfaces."""
        return all(w.surface.knows for w in self.wraps)

    def __getstate__(self) -> dict[str, Any]:
        return {"points": self.points, "wraps": self.wraps}


def _several(what: str, given: Any) -> tuple[Any, ...]:
    """A list that a user gave."""
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise DescriptionError(
            f"Path: {what}: expected a list, got {given!r}; put it in brackets: [...]"
            if isinstance(given, (Wrap, Point))
            else f"Path: {what}: expected a list, got {given!r}"
        )
    return tuple(given)


def _point(given: Any, i: int) -> Point:
    try:
        body, p = given
    except (TypeError, ValueError):
        raise DescriptionError(
            f"Path: point {i}: expected (body, p) or a cd.paths.Point, got {given!r}"
        ) from None
    return Point(body, p)


@dataclass(frozen=True, eq=False)
class PathLength(Leaf):
    """The length of a path [m]: (1).

    Attributes:
        constant: the constant part [m].
        stored: the same as data of machine code.
        spans: the variable parts.
    """

    path: Path
    stored: StoredNumber | None = field(default=None, init=False)

    @property
    def constant(self) -> SX:
        return self._parts[0] if self.stored is None else self.stored.sx

    @property
    def spans(self) -> list[Span]:
        return self._parts[1]

    @cached_property
    def _parts(self) -> tuple[SX, list[Span]]:
        return split(self.path.points, self.path.wraps)

    @property
    def label(self) -> str:
        return f"length of a path from {self.path.points[0].body!r} to {self.path.points[-1].body!r}"

    @property
    def text(self) -> str:
        return f"path {text(self.path)}"

    @property
    def bodies(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(body for span in self.spans for body in span.bodies))

    def ranges(self, rng: np.random.Generator) -> list[tuple[float, float]]:
        return [(0.1, 0.5)]

    def parameters(self) -> list[Parameter]:
        return self.path.parameters()

    def check(self, tree: Tree, where: str) -> None:
        for point in self.path.points:
            point.position.check(tree, where)
        for span in self.spans:
            span.check(tree, where)
        for point in self.path.points:
            if isinstance(point, ConditionalPoint):
                point.check_range(tree)

    def touched(self, s: View) -> SX:
        """Data for drawing: places of all points in ground and whether they are active, then
        Span.touched of all spans, pieces counted along the path."""
        q = {name: s.coordinate(name) for p in self.path.points for name in p.coordinates}
        out = [p.position.at(s) for p in self.path.points]
        out += [p.active([q[name] for name in p.coordinates]) for p in self.path.points]
        for span in self.spans:
            out += [column + span.offset * (ca.DM(range(TOUCHED)) == 1) for column in span.touched(s)]
        return ca.vertcat(*out)

    def value(self, s: View) -> SX:
        return sum((span.at(s) for span in self.spans), self.constant)  # (1)

    def rate(self, s: View) -> SX:
        return sum((span.rate(s) for span in self.spans), ca.SX(1, 1))

    def bias(self, s: MovingView) -> SX:
        return sum((span.bias(s) for span in self.spans), ca.SX(1, 1))

    def load(self, s: View, g: SX, loads: Loads) -> None:
        for span in self.spans:
            span.load(s, g, loads)


def split(points: Sequence[Point], wraps: Sequence[Wrap]) -> tuple[SX, list[Span]]:
    """A constant length [m], and the spans of a path."""
    pieces = _pieces(points, wraps)
    cuts = [0]
    for i in range(1, len(points)):
        tied = any(set(mine) & set(range(i)) and set(mine) & set(range(i, len(points))) for mine in pieces)
        if not points[i].coordinates and not tied:
            cuts.append(i)
    constant, known, spans = ca.SX(0), 0.0, []
    for first, last in pairwise(cuts):
        mine = [
            (w, tuple(i - first for i in at), tuple(i - first for i in at if _never(w, *points[i : i + 2])))
            for w, at in zip(wraps, pieces, strict=True)
            if any(first <= i < last for i in at)
        ]
        ends = points[first : last + 1]
        if last == first + 1 and not mine and all(p.fixed for p in ends) and ends[0].body == ends[1].body:
            a, b = ends[0].p, ends[1].p
            if isinstance(a, tuple) and isinstance(b, tuple):
                known += math.dist(a, b)
            else:
                constant += length(sx(b) - sx(a))
        else:
            mine_wraps, at, never = zip(*mine, strict=True) if mine else ((), (), ())
            spans.append(Span(tuple(ends), mine_wraps, at, first, never))
    return constant + known if constant.nnz() else ca.SX(known), spans


def _pieces(points: Sequence[Point], wraps: Sequence[Wrap]) -> list[tuple[int, ...]]:
    """Pieces on which each wrap may be, without those on which it never is, because both points are on the
    surface's own body and the rule excludes it."""
    where = [set(range(*(w.between or (0, len(points) - 1)))) for w in wraps]
    for i in range(len(points) - 1):
        mine = [k for k, at in enumerate(where) if i in at]
        if all(_never(wraps[k], points[i], points[i + 1]) for k in mine):
            for k in mine:
                where[k].discard(i)
    return [tuple(sorted(at)) for at in where]


def _never(w: Wrap, a: Point, b: Point) -> bool:
    """Whether a surface is on the body of two points that never go over it."""
    return a.fixed and b.fixed and a.body == b.body == w.body and _keeps_away(w, a, b)


@lookup_context()
def _keeps_away(w: Wrap, a: Point, b: Point) -> bool:
    """Whether the rule excludes a surface for points on its body."""
    R, p = placed(w.X_BS)
    A, B = (R.T @ (sx(end.p) - p) for end in (a, b))
    if (near := w.surface.near(A, B)).is_constant() and not float(near):
        return True
    rule = Closure("rule", [], [w.surface.rule(A, B)[0]])
    return not rule.outside.numel() and float(rule.at()[0].item()) == NONE


ALONG = 17
"""Points of an arc, P and Q among them."""


def numbers(path: Path) -> int:
    """Number of values in PathLength.touched."""
    return 4 * len(path.points) + TOUCHED * sum(len(span.wraps) for span in path.length.spans)


def polygon(path: Path, touched: Array, along: int = ALONG) -> Array:
    """Points in ground [m], shape (..., m, 3), the same number for all states: if a point is not active or a
    surface not touched, points coincide.

    Args:
        touched: PathLength.touched, shape (..., numbers).
        along: points of an arc.
    """
    points, _ = polygon_parts(path, touched.reshape(-1, touched.shape[-1]), along)
    return points.reshape(*touched.shape[:-1], -1, 3)


def polygon_parts(path: Path, touched: Array, along: int = ALONG) -> tuple[Array, NDArray[np.int64]]:
    """The polygon, shape (n, m, 3), and the origin of each point in most states, shape (m,): the index of a
    point of the path, or, after those, of a surface.

    Args:
        touched: PathLength.touched, shape (n, numbers).
        along: points of an arc.
    """
    n, states = len(path.points), len(touched)
    X, active = touched[:, : 3 * n].reshape(-1, n, 3).copy(), touched[:, 3 * n : 4 * n] != 0
    for i in range(1, n):
        X[:, i] = np.where(active[:, i, None], X[:, i], X[:, i - 1])
    places, points = [np.tile(np.arange(n, dtype=float), (states, 1))], [X]
    parts, there = [np.arange(n)], [np.ones((states, n), dtype=bool)]
    for k, surface in enumerate(w.surface for span in path.length.spans for w in span.wraps):
        on, place, P, Q, e_in, e_out, arc, R, o = np.split(
            touched[:, 4 * n + TOUCHED * k :][:, :TOUCHED], np.cumsum([1, 1, 3, 3, 3, 3, 1, 9]), axis=1
        )
        s = np.linspace(0, 1, along)
        with np.errstate(invalid="ignore", divide="ignore"):
            arcs = surface.along(
                P[:, None], Q[:, None], e_in[:, None], e_out[:, None], arc[:, None], s[:, None]
            )
        R_GS = R.reshape(-1, 3, 3).transpose(0, 2, 1)
        points.append(o[:, None] + np.einsum("nij,nkj->nki", R_GS, arcs))
        touching = on != 0
        # in states without this arc its points stay where it usually is, so that all others keep their places
        usual = np.median(place[touching]) if touching.any() else 0.0
        places.append(np.where(touching, place, usual) + 1 / 128 + s / 256)
        there.append(np.repeat(touching, along, axis=1))
        parts.append(np.full(along, n + k))
    order = np.argsort(np.concatenate(places, axis=1), axis=1, kind="stable")
    sorted_points = np.take_along_axis(np.concatenate(points, axis=1), order[:, :, None], axis=1)
    is_there = np.take_along_axis(np.concatenate(there, axis=1), order, axis=1)
    before = np.maximum.accumulate(np.where(is_there, np.arange(order.shape[1]), 0), axis=1)
    part = np.concatenate(parts)[order]
    usual_part = np.array([np.bincount(column).argmax() for column in part.T], dtype=np.int64)
    return np.take_along_axis(sorted_points, before[:, :, None], axis=1), usual_part
