"""Paths: points on bodies, and surfaces between them; and their length as a leaf that any law may ask for.

With the points X_i in ground, straight pieces between neighbours, and for each wrap w the piece (A, B) that
it is on,

    L = sum_i |X_i+1 - X_i| + sum_w (L_w(A, B) - |B - A|)                                                  (1)

L_w is the geodesic over the surface (segment.py), found once, with exact first and second derivatives. A
point that is not active counts as the one before it. Which piece a wrap is on is OpenSim's rule: the first of
its pieces that must go over the surface, else the one that may and grows least. (1) has no answer for two
surfaces on one piece, where the path would go from one to the other: L is NaN there.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.laws.described import BodyName, CoordinateName, Described, Frame, Station, placed, sx, text
from condyle.laws.leaf import Composed, Leaf
from condyle.laws.leaves import Coordinate, Rotation, StationPosition
from condyle.paths.round import MANDATORY, NONE, WRAPPED
from condyle.paths.segment import Segment, dot
from condyle.paths.surfaces import WIDTH, Surface
from condyle.spatial import Transform
from condyle.trace.parameter import Parameter
from condyle.tree.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class Point(Described):
    """A point of a body.

    Args:
        body: the body or its name.
        p: in the body's frame [m], shape (3,).
    """

    body: BodyName
    p: Station

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Coordinates that it depends on."""
        return ()

    def active(self, q: Sequence[ca.SX]) -> ca.SX:
        """Whether the path goes through it at these coordinates."""
        return ca.SX(1)


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalPoint(Point):
    """A point of a body that the path goes through while a coordinate is in a range.

    Args:
        body: the body or its name.
        p: in the body's frame [m], shape (3,).
        coordinate: its name.
        range: from, to [rad, m]; both belong to it.
    """

    coordinate: CoordinateName
    range: tuple[float, float]

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            low, high = (float(x) for x in self.range)
        except (TypeError, ValueError):
            low, high = np.nan, np.nan
        if not low <= high:
            raise DescriptionError("ConditionalPoint: range: expected two numbers, the first not above the "
                                   "second, got "
                                   f"{self.range!r}")
        object.__setattr__(self, "range", (low, high))

    @property
    def coordinates(self) -> tuple[str, ...]:
        return (self.coordinate,)

    def active(self, q: Sequence[ca.SX]) -> ca.SX:
        return ca.logic_and(q[0] >= self.range[0], q[0] <= self.range[1])


@dataclass(frozen=True, eq=False, repr=False)
class Wrap(Described):
    """A surface on a body that a path may go over.

    Args:
        surface: `cd.paths.Cylinder`, `Sphere`, `Ellipsoid`.
        body: the body or its name.
        X_BS: the surface's frame in the body's; a 3-vector is a translation.
        between: the first and last point, counted from 0, between which it may be; by default all.
        name: for messages.
    """

    surface: Surface
    body: BodyName
    X_BS: Frame = field(default_factory=Transform)
    between: tuple[int, int] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.surface, Surface):
            raise DescriptionError("Wrap: surface: expected a surface such as cd.paths.Cylinder(0.02), got "
                                   f"{self.surface!r}")

    def parameters(self) -> list[Parameter]:
        return [*super().parameters(), *self.surface.parameters()]

    def check_parameters(self, values: Mapping[str, float]) -> None:
        super().check_parameters(values)
        self.surface.check_parameters(values)

    def conditions(self) -> ca.SX:
        return ca.vertcat(super().conditions(), self.surface.conditions())


@dataclass(frozen=True, eq=False, repr=False)
class Path(Described):
    """A path through points of bodies, over surfaces.

    Args:
        points: two or more, in order: (body, p), `cd.paths.Point` or `ConditionalPoint`; first and last are
            always active.
        wraps: surfaces, `cd.paths.Wrap`.
    """

    points: Sequence[Any]
    wraps: Sequence[Wrap] = ()

    def __post_init__(self) -> None:
        points = tuple(p if isinstance(p, Point) else _point(p, i) for i, p in enumerate(self.points))
        wraps = tuple(self.wraps)
        if len(points) < 2:
            raise DescriptionError(f"Path: expected two points or more, got {len(points)}")
        for end, which in ((points[0], "first"), (points[-1], "last")):
            if end.coordinates and isinstance(end, ConditionalPoint):
                raise DescriptionError(f"Path: the {which} point is a {end!r}; the ends of a path are always "
                                       "active")
        for w in wraps:
            if not isinstance(w, Wrap):
                raise DescriptionError(f"Path: wraps: expected cd.paths.Wrap, got {w!r}")
            first, last = w.between or (0, len(points) - 1)
            if not 0 <= first < last < len(points):
                raise DescriptionError(f"Path: a wrap is between points {w.between}; there are points 0 to "
                                       f"{len(points) - 1}")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "wraps", wraps)

    def check(self, tree: Tree) -> None:
        self.length.check(tree, "Path")

    def parameters(self) -> list[Parameter]:
        return [p for part in (*self.points, *self.wraps) for p in part.parameters()]

    def check_parameters(self, values: Mapping[str, float]) -> None:
        for part in (*self.points, *self.wraps):
            part.check_parameters(values)

    def conditions(self) -> ca.SX:
        return ca.vertcat(ca.SX(0, 1), *(part.conditions() for part in (*self.points, *self.wraps)))

    @cached_property
    def length(self) -> PathLength:
        """Its length [m]: `s.ask(path.length)`."""
        return PathLength(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"points": self.points, "wraps": self.wraps}


def _point(given: Any, i: int) -> Point:
    try:
        body, p = given
    except (TypeError, ValueError):
        raise DescriptionError(
            f"Path: point {i}: expected (body, p) or a cd.paths.Point, got {given!r}") from None
    return Point(body, p)


@dataclass(frozen=True, eq=False)
class PathLength(Composed):
    """The length of a path [m]: (1)."""

    path: Path

    @property
    def label(self) -> str:
        return f"length of a path from {self.path.points[0].body!r} to {self.path.points[-1].body!r}"

    @property
    def text(self) -> str:
        return f"path {text(self.path)}"

    def ranges(self, rng: np.random.Generator) -> list[tuple[float, float]]:
        return [(0.1, 0.5)]

    def parameters(self) -> list[Parameter]:
        return self.path.parameters()

    @cached_property
    def parts(self) -> list[Leaf]:  # type: ignore[override]
        """Points, coordinates that some depend on, then of each wrap the body's rotation and the surface's
        origin."""
        points, wraps = self.path.points, self.path.wraps
        leaves: list[Leaf] = [StationPosition(p.body, p.p) for p in points]
        leaves += [Coordinate(name) for name in self._coordinates]
        for w in wraps:
            leaves += [Rotation(w.body), StationPosition(w.body, _kept(placed(w.X_BS)[1]))]
        return leaves

    @cached_property
    def _coordinates(self) -> list[str]:
        return list(dict.fromkeys(name for p in self.path.points for name in p.coordinates))

    # ---- geometry ------------------------------------------------------------------------------------------

    def _active(self, y: Sequence[ca.SX]) -> list[ca.SX]:
        n = len(self.path.points)
        q = dict(zip(self._coordinates, y[n:], strict=False))
        return [p.active([q[name] for name in p.coordinates]) for p in self.path.points]

    def _surface(self, k: int, y: Sequence[ca.SX]) -> tuple[ca.SX, ca.SX]:
        """R_GS and the origin of S in ground, of a wrap."""
        at = len(self.path.points) + len(self._coordinates) + 2 * k
        return y[at] @ placed(self.path.wraps[k].X_BS)[0], y[at + 1]

    def _in_surface(self, k: int, y: Sequence[ca.SX], X: Sequence[ca.SX],
                    active: Sequence[ca.SX]) -> list[ca.SX]:
        """All points in the frame S of a wrap. Those of its own body do not move there."""
        w = self.path.wraps[k]
        R_GS, o = self._surface(k, y)
        R_BS, p_BS = placed(w.X_BS)
        out: list[ca.SX] = []
        for i, p in enumerate(self.path.points):
            mine = R_BS.T @ (sx(p.p) - p_BS) if p.body == w.body else R_GS.T @ (X[i] - o)
            out.append(mine if not isinstance(p, ConditionalPoint) else ca.if_else(active[i], mine, out[-1]))
        return out

    def _places(self, active: Sequence[ca.SX], y: Sequence[ca.SX]) -> list[ca.SX]:
        """Points in ground; one that is not active is where the one before it is."""
        X: list[ca.SX] = []
        for i, p in enumerate(self.path.points):
            X.append(y[i] if not isinstance(p, ConditionalPoint) else ca.if_else(active[i], y[i], X[-1]))
        return X

    def _pieces(self, k: int) -> range:
        """Where a wrap may be, by the first point of each piece."""
        first, last = self.path.wraps[k].between or (0, len(self.path.points) - 1)
        return range(first, last)

    def rows(self, *y: ca.SX) -> ca.SX:
        """Per wrap: the piece it is on, and its row; then whether points are active."""
        active = self._active(y)
        X = self._places(active, y)
        out: list[ca.SX] = []
        for k, w in enumerate(self.path.wraps):
            S, pieces = self._in_surface(k, y, X, active), self._pieces(k)
            chosen = ca.SX(pieces[0])
            if len(pieces) > 1:
                best, least = ca.SX(NONE), ca.SX(np.inf)
                for i in pieces:
                    kind, more = w.surface.rule(S[i], S[i + 1])
                    better = ca.logic_and(best != MANDATORY, ca.logic_or(kind == MANDATORY, ca.logic_and(
                        kind == WRAPPED, more < least)))
                    chosen, best, least = (ca.if_else(better, a, b) for a,
                                           b in ((i, chosen), (kind, best), (more, least)))
            out += [chosen, w.surface.row(_at(S, pieces, chosen), _at(S[1:], pieces, chosen))]
        return ca.vertcat(ca.SX(0, 1), *out, *active)

    def of(self, *y: ca.SX) -> ca.SX:
        rows, y = y[0], y[1:]
        n, wraps = len(self.path.points), self.path.wraps
        active = ca.vertsplit(rows[rows.numel() - n:])
        X = self._places(active, y)
        L = ca.SX(0)
        for i, (a, b) in enumerate(zip(self.path.points, self.path.points[1:], strict=False)):
            fixed = a.body == b.body and not isinstance(a, ConditionalPoint) and not isinstance(b,
                                                                                                ConditionalPoint)
            L += _norm(sx(b.p) - sx(a.p)) if fixed else _norm(X[i + 1] - X[i])
        on: list[tuple[ca.SX, ca.SX]] = []
        for k in range(len(wraps)):
            mine = rows[k * (1 + WIDTH):(k + 1) * (1 + WIDTH)]
            chosen, segment = mine[0], Segment.of(mine[2:])
            S, pieces = self._in_surface(k, y, X, active), self._pieces(k)
            A, B = _at(S, pieces, chosen), _at(S[1:], pieces, chosen)
            over = wraps[k].surface.over(A, B, mine[1:])
            L += ca.if_else(segment.wrapped != 0, over - _norm(B - A), 0)                          # (1)
            for j, (piece, wrapped) in enumerate(on):
                if set(pieces) & set(self._pieces(j)):
                    L = ca.if_else(ca.logic_and(ca.logic_and(wrapped, segment.wrapped), piece == chosen),
                                   np.nan, L)
            on.append((chosen, segment.wrapped))
        return L


def _at(points: Sequence[ca.SX], pieces: range, chosen: ca.SX) -> ca.SX:
    out = points[pieces[0]]
    for i in pieces[1:]:
        out = ca.if_else(chosen == i, points[i], out)
    return out


def _norm(r: ca.SX) -> ca.SX:
    """|r|, with a derivative of zero where it is zero."""
    square = dot(r, r)
    apart = square > 0
    return ca.if_else(apart, ca.sqrt(ca.if_else(apart, square, 1)), 0)


def _kept(p: ca.SX) -> Any:
    from condyle.laws.described import number
    return tuple(np.ravel(ca.evalf(p).full()).tolist()) if p.is_constant() else number(p, "Wrap: X_BS")
