"""Elements of a path: points of bodies, and surfaces on bodies."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.errors import DescriptionError
from condyle.functions import Function, Scaled
from condyle.functions.base import exact
from condyle.laws.described import BodyName, CoordinateName, Described, Frame, Role, Station
from condyle.laws.factors import BodyFactors
from condyle.laws.leaves import Composed, CoordinateValue, Leaf, Rotation, StationPosition
from condyle.native.straight.data import function
from condyle.paths.wrap_surfaces import Surface
from condyle.records import dataclass
from condyle.spatial import Transform
from condyle.spatial.algebra import all_of
from condyle.trace import Symbol, Traced, trace
from condyle.trace.parameter import Parameter
from condyle.tree import scales
from condyle.tree.tree import Tree

FARTHEST = 4 * math.pi
"""Ranges of angles beyond this raise an error [rad]."""
METHODS = ("hybrid", "midpoint", "axial")
"""OpenSim's methods for ellipsoids."""


@dataclass(frozen=True, eq=False, repr=False)
class Point(Described):
    """A point of a body.

    Args:
        body: the body or its name.
        p: in the body's frame [m], shape (3,).
    """

    other_names: ClassVar[tuple[str, ...]] = ("PathPoint", "ViaPoint", "Via")

    room = "paths."

    body: BodyName
    p: Station

    @property
    def position(self) -> Leaf:
        """Its position in ground [m]."""
        return StationPosition(self.body, self.p)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Coordinates that decide whether it is active; none if it always is."""
        return ()

    @property
    def names(self) -> tuple[str, ...]:
        """All coordinates on which it depends besides the pose of its body."""
        return self.coordinates

    @property
    def stays(self) -> bool:
        """Whether it keeps its place on its body."""
        return True

    @property
    def fixed(self) -> bool:
        """Whether it is always active and keeps its place on its body."""
        return self.stays and not self.coordinates

    @property
    def signature(self) -> Hashable:
        """Points with equal ones differ in numbers and names alone."""
        return type(self).__qualname__

    def active(self, q: Sequence[SX]) -> SX:
        """Whether the path goes through it at these coordinates."""
        return ca.SX(1)


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalPoint(Point):
    """A point of a body that the path goes through while a coordinate is in a range.

    Args:
        body: the body or its name.
        p: in the body's frame [m], shape (3,).
        coordinate: its name.
        range: from, to [rad, m], inclusive.
    """

    other_names = ("ConditionalPathPoint",)

    coordinate: CoordinateName
    range: tuple[float, float]

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            low, high = (float(x) for x in self.range)
        except (TypeError, ValueError):
            low, high = np.nan, np.nan
        if not low <= high:
            raise DescriptionError(
                "ConditionalPoint: range: expected two numbers, the first not above the "
                f"second, got {self.range!r}"
            )
        object.__setattr__(self, "range", (low, high))

    @property
    def coordinates(self) -> tuple[str, ...]:
        return (self.coordinate,)

    def check_range(self, tree: Tree) -> None:
        """Raise an error for a range of many turns: most likely degrees."""
        units = dict(
            zip(
                (c.name for b in tree.bodies for c in b.coordinates),
                scales.units(tree.bodies)[0],
                strict=True,
            )
        )
        far = max((abs(x) for x in self.range if math.isfinite(x)), default=0.0)
        if units[self.coordinate] == "rad" and far > FARTHEST:
            raise DescriptionError(
                f"ConditionalPoint: range = {self.range} rad of {self.coordinate!r} goes "
                "over many turns; is it in degrees? np.radians converts it, and -np.inf "
                "or np.inf is no bound"
            )

    def active(self, q: Sequence[SX]) -> SX:
        return all_of(q[0] >= self.range[0], q[0] <= self.range[1])


@dataclass(frozen=True, eq=False, repr=False)
class MovingPoint(Point):
    """A point that moves on its body with coordinates, as OpenSim's MovingPathPoint. Its own motion counts in
    the path's speed and in moment arms, which are -dL/dq.

    Args:
        body: the body or its name.
        p: x, y and z in the body's frame [m]: functions of a coordinate, such as `cd.functions.SimmSpline`,
            or numbers.
        coordinate: its name, or one per function.
        range: (low, high), or one per function, or None: coordinates are clipped to it, so that the point
            stops at its ends, and with it its share in speeds and moment arms. (OpenSim's stops too, but its
            speeds and moment arms continue.)
    """

    other_names = ("MovingPathPoint",)

    p: Any
    coordinate: Any
    range: Any = None

    def __post_init__(self) -> None:
        names = (self.coordinate,) * 3 if isinstance(self.coordinate, str) else tuple(self.coordinate)
        try:
            given = tuple(self.p)
        except TypeError:
            given = ()
        if len(given) != 3 or len(names) != 3:
            raise DescriptionError(
                "MovingPoint: expected p = three functions or numbers and a coordinate, "
                f"or one per function, got {self.p!r}, {self.coordinate!r}"
            )
        object.__setattr__(self, "coordinate", names)
        object.__setattr__(self, "range", _ranges(self.range))
        object.__setattr__(self, "p", tuple(_function(f, name) for f, name in zip(given, names, strict=True)))
        super().__post_init__()

    def roles(self) -> Iterable[tuple[str, Role]]:
        return [(name, role) for name, role in super().roles() if name == "body"]

    @property
    def position(self) -> Leaf:
        return MovingStation(self.body, self.p, self.coordinate, self.range)

    @property
    def names(self) -> tuple[str, ...]:
        return self.coordinate  # type: ignore[no-any-return]

    @property
    def stays(self) -> bool:
        return False

    def scaled(self, factors: BodyFactors) -> Self:
        if not factors.change(self.body):
            return self
        s = factors[self.body].tolist()
        return replace(self, p=tuple(_times(f, x) for f, x in zip(self.p, s, strict=True)))

    @property
    def signature(self) -> Hashable:
        return type(self).__qualname__, self._serialized

    def description(self) -> str:
        places = [
            repr(f)
            if isinstance(f, float)
            else f.serial
            if isinstance(f, Traced)
            else getattr(f, "text", None) or exact(f)
            for f in self.p
        ]
        shown = f"{self.range} {places}" if None not in places else self._serialized
        return f"MovingPoint({self.body!r}, {self.coordinate}, {shown})"

    @cached_property
    def _serialized(self) -> str:
        return place_of(self.p, self.range).serialize()  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class MovingStation(Composed):
    """Position in ground of a point that moves on its body [m]: o + R p(q).

    Attributes:
        p: functions of a coordinate each.
        names: of the coordinates.
        range: of each, or None.
    """

    body: str
    p: tuple[Any, ...]
    names: tuple[str, ...]
    range: tuple[Any, ...] | None = None

    size = 3

    @property
    def label(self) -> str:
        return f"position of a point of {self.body!r} that moves with {', '.join(dict.fromkeys(self.names))}"

    @cached_property
    def text(self) -> str:  # type: ignore[override]
        return f"{self.label} {self.names} {place_of(self.p, self.range).serialize()}"

    @property
    def parts(self) -> list[Leaf]:
        return [StationPosition(self.body), Rotation(self.body), *map(CoordinateValue, self.names)]

    def expression(self, *y: SX) -> SX:
        o, R, *q = y
        return o + R @ place_of(self.p, self.range)(*q)

    def place(self, q: Sequence[float]) -> Array:
        """p(q) in the body's frame [m] at numbers, shape (3,)."""
        ends = self.range or [(-np.inf, np.inf)] * 3
        x = [min(max(v, low), high) for v, (low, high) in zip(q, ends, strict=True)]
        return np.array([f if isinstance(f, float) else float(f(v)) for f, v in zip(self.p, x, strict=True)])


def _ranges(given: Any) -> tuple[tuple[float, float], ...] | None:
    """Bounds of the coordinates of x, y and z."""
    if given is None:
        return None
    try:
        pairs = np.broadcast_to(np.asarray(given, dtype=float), (3, 2))
    except (TypeError, ValueError):
        pairs = np.full((3, 2), np.nan)
    if not (pairs[:, 0] <= pairs[:, 1]).all():
        raise DescriptionError(
            "MovingPoint: range: expected two numbers, the first not above the second, or "
            f"such a pair per function, got {given!r}"
        )
    return tuple((float(a), float(b)) for a, b in pairs)


def place_of(p: Sequence[Any], ranges: Sequence[tuple[float, float]] | None = None) -> ca.Function:
    """The function from the coordinates of x, y and z to p, a column."""
    q = [ca.SX.sym(name) for name in ("q_x", "q_y", "q_z")]
    kept = (
        q
        if ranges is None
        else [
            ca.if_else(x < a, a, ca.if_else(x > b, b, x))  # keeps NaN
            for x, (a, b) in zip(q, ranges, strict=True)
        ]
    )
    values = [
        ca.SX(f) if isinstance(f, float) else f.apply(x) if isinstance(f, Traced) else f(x)
        for f, x in zip(p, kept, strict=True)
    ]
    return function("p", q, [ca.vertcat(*values)])


def _times(f: Any, factor: float) -> Any:
    """A place along an axis, a number or a function of a coordinate, times a factor."""
    if isinstance(f, Scaled):
        return Scaled(f.function, f.factor * factor)
    if isinstance(f, Function):
        return Scaled(f, factor)
    if isinstance(f, Traced):
        return lambda q: factor * (Symbol(f.apply(q.sx)) if isinstance(q, Symbol) else f(q).item())
    return f * factor


def _function(f: Any, name: str) -> Any:
    """A number, a function of this package or a user's function, in the form that a MovingPoint stores."""
    if isinstance(f, Function) and f.variables in (1, None) and not f.uses_parameters:
        return f
    if isinstance(f, (int, float, np.number)):
        return float(f)
    law = trace(f, (name,), what=f"MovingPoint: a function of {name!r}", outputs=())
    if law.outside or law.tables:
        raise DescriptionError(
            f"MovingPoint: {f!r} holds Parameters or splines; expected a formula of "
            f"{name!r} with numbers, or a function such as cd.functions.SimmSpline itself"
        )
    return law


@dataclass(frozen=True, eq=False, repr=False)
class Wrap(Described):
    """A surface on a body that a path may go over.

    Args:
        surface: `cd.paths.Cylinder`, `Sphere`, `Ellipsoid`, `Torus` or `ImplicitSurface`.
        body: the body or its name.
        X_BS: the surface's frame in the body's; a 3-vector is a translation.
        between: the first and last point, counted from 0, between which it acts; by default all.
        name: for messages.
        method: OpenSim's method for ellipsoids, "hybrid", "midpoint" or "axial", for files only; all paths
            here are geodesics.
    """

    other_names = ("PathWrap",)
    call_hints: ClassVar = {
        "quadrant": "it belongs to the surface: cd.paths.Cylinder(0.02, quadrant='x')",
        "side": "it is the quadrant of the surface: cd.paths.Cylinder(0.02, quadrant='x')",
        "method": "the only method is the geodesic",
        "range": "it is between=(first, last), points counted from 0",
    }

    surface: Surface
    body: BodyName
    X_BS: Frame = field(default_factory=Transform)
    between: tuple[int, int] | None = None
    name: str = ""
    method: str = field(default="hybrid", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.surface, Surface):
            raise DescriptionError(
                f"Wrap: surface: expected a surface such as cd.paths.Cylinder(0.02), got {self.surface!r}"
            )
        pair = self.between
        if pair is not None and not (
            isinstance(pair, (tuple, list))
            and len(pair) == 2
            and all(isinstance(i, (int, np.integer)) for i in pair)
        ):
            raise DescriptionError(
                "Wrap: between: expected the first and the last point, counted from 0, "
                f"such as (1, 2), got {pair!r}"
            )
        if self.method not in METHODS:
            raise DescriptionError(f"Wrap: method: expected {', '.join(METHODS)}, got {self.method!r}")

    def scaled(self, factors: BodyFactors) -> Self:
        """The surface grows by the factors along its own axes, |s o e|."""
        if not factors.change(self.body):
            return self
        along = factors.along(self.body, self.X_BS, f"surface {self.name or self.surface!r}")
        return replace(
            self,
            surface=self.surface.scaled_along(along, factors[self.body]),
            X_BS=factors.place(self.body, self.X_BS),
        )

    def parameters(self) -> list[Parameter]:
        return [*super().parameters(), *self.surface.parameters()]

    def check_parameters(self, values: Mapping[str, float]) -> None:
        super().check_parameters(values)
        self.surface.check_parameters(values)

    def conditions(self) -> SX:
        return ca.vertcat(super().conditions(), self.surface.conditions())
