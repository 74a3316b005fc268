"""Paths: points on bodies, and surfaces between them; and their length as a leaf that any law may ask for.

    L = constant + sum of spans                                                                            (1)

The constant is what lies between points of one body. Spans (span.py) are leaves of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.laws.described import Described, text
from condyle.laws.factors import Factors
from condyle.laws.leaf import Leaf
from condyle.laws.view import Loads, MovingView, View
from condyle.paths.points import ConditionalPoint, Point, Wrap
from condyle.paths.span import TOUCHED, Span
from condyle.paths.split import split
from condyle.paths.surfaces import Surface
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

    def scaled(self, factors: Factors) -> Self:
        """Points and surfaces move with their bodies, and surfaces grow with them."""
        points, wraps = (tuple(x.scaled(factors) for x in part) for part in (self.points, self.wraps))
        if points == self.points and wraps == self.wraps:
            return self
        return replace(self, points=points, wraps=wraps)

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
        constant: what does not change [m].
        spans: what does.
    """

    path: Path

    @property
    def constant(self) -> ca.SX:
        return self._parts[0]

    @property
    def spans(self) -> list[Span]:
        return self._parts[1]

    @cached_property
    def _parts(self) -> tuple[ca.SX, list[Span]]:
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

    def touched(self, s: View) -> ca.SX:
        """What drawing needs (drawing.py): places of all points in ground and whether they are active, then
        Span.touched of all spans, pieces counted along the path."""
        q = {name: s.coordinate(name) for p in self.path.points for name in p.coordinates}
        out = [p.position.at(s) for p in self.path.points]
        out += [p.active([q[name] for name in p.coordinates]) for p in self.path.points]
        for span in self.spans:
            out += [column + span.offset * (ca.DM(range(TOUCHED)) == 1) for column in span.touched(s)]
        return ca.vertcat(*out)

    def value(self, s: View) -> ca.SX:
        return sum((span.at(s) for span in self.spans), self.constant)  # (1)

    def rate(self, s: View) -> ca.SX:
        return sum((span.rate(s) for span in self.spans), ca.SX(1, 1))

    def bias(self, s: MovingView) -> ca.SX:
        return sum((span.bias(s) for span in self.spans), ca.SX(1, 1))

    def load(self, s: View, g: ca.SX, loads: Loads) -> None:
        for span in self.spans:
            span.load(s, g, loads)
