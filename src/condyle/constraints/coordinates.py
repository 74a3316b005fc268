"""Constraints on coordinates and speeds: constant, or coupled by a function: docs/theory/constraints.md
(15)-(18)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

from condyle.arrays import SX
from condyle.constraints.base import Constraint
from condyle.constraints.user import UserConstraint, sequence
from condyle.errors import DescriptionError
from condyle.functions.splines import is_series, measured
from condyle.laws.described import CoordinateName, name, quantity, speed_named, sx
from condyle.laws.factors import OWN_FUNCTION, BodyFactors, equal
from condyle.laws.leaves import CoordinateValue, Leaf, SpeedRate, SpeedValue
from condyle.records import assign, dataclass
from condyle.trace import Number, is_truth
from condyle.tree import scales
from condyle.tree.tree import Tree

Value = Annotated[Number, quantity("")]


def unit_of(tree: Tree, coordinate: str) -> str:
    """Of a coordinate: "rad", "m", "1" of a quaternion."""
    return dict(zip(tree.coordinates, scales.units(tree.bodies)[0], strict=True)).get(coordinate, "")


def unit_of_travel(tree: Tree, speed: str) -> str:
    """Of what a speed is the rate of."""
    units = dict(zip(tree.speeds, scales.units(tree.bodies)[1], strict=True))
    return units.get(speed_named(tree, speed, "measures"), "").removesuffix("/s")


@dataclass(frozen=True, eq=False, repr=False)
class ConstantCoordinate(Constraint):
    """A coordinate is constant: p = q - value [rad, m]. The multiplier is minus the holding force.

    A speed can also be locked, without a multiplier: `locked=` of the operators.

    Args:
        coordinate: its name.
        value: [rad, m].
    """

    coordinate: CoordinateName
    value: Value

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return (CoordinateValue(self.coordinate),)

    def equations(self, x: Sequence[SX]) -> SX:
        return x[0] - sx(self.value)  # (15)

    def measures(self, tree: Tree) -> list[str]:
        return [unit_of(tree, self.coordinate)]


@dataclass(frozen=True, eq=False, repr=False)
class ConstantSpeed(Constraint):
    """A speed is constant: v = u - value [rad/s, m/s].

    Args:
        speed: its name, or that of the coordinate whose rate it is.
        value: [rad/s, m/s].
    """

    level: ClassVar[str] = "velocity"

    speed: CoordinateName
    value: Value

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return (SpeedValue(self.speed),)

    def equations(self, x: Sequence[SX]) -> SX:
        return x[0] - sx(self.value)  # (16)

    def measures(self, tree: Tree) -> list[str]:
        return [unit_of_travel(tree, self.speed)]


@dataclass(frozen=True, eq=False, repr=False)
class ConstantAcceleration(Constraint):
    """A speed has a constant rate: udot = value [rad/s^2, m/s^2]. u itself is not constrained.

    Args:
        speed: its name, or that of the coordinate whose rate it is.
        value: [rad/s^2, m/s^2].
    """

    level: ClassVar[str] = "acceleration"

    speed: CoordinateName
    value: Value

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return (SpeedRate(self.speed),)

    def equations(self, x: Sequence[SX]) -> SX:
        return x[0] - sx(self.value)  # (16)

    def measures(self, tree: Tree) -> list[str]:
        return [unit_of_travel(tree, self.speed)]


@dataclass(frozen=True, eq=False, repr=False)
class CoordinateCoupler(UserConstraint):
    """Coordinates, including quaternions, satisfy function(*coordinates) = 0.

    Args:
        function: of the coordinates, in order; returns one or more numbers that must be zero.
        coordinates: names.
    """

    other_names = ("Coupler",)

    function: Callable[..., object] | None
    coordinates: tuple[str, ...]

    def __post_init__(self) -> None:
        function = checked(self.function, type(self).__name__)
        assign(self, coordinates=names(self.coordinates, f"{type(self).__name__}: coordinates"))
        coordinates = self.coordinates
        fitting(function, coordinates, type(self).__name__)
        self.trace(lambda s: function(*(s.q(c) for c in coordinates)), source=function)  # (17)

    def scaled(self, factors: BodyFactors) -> Self:
        """A function with a `factor`, as in OpenSim's couplers, scales with its last coordinate if that is a
        translation.
        """
        function: Any = self.function
        bodies = {c: factors.translations.get(c) for c in self.coordinates}
        if not hasattr(function, "factor"):
            if any(b is not None and factors.change(b) for b in bodies.values()):
                factors.notes.append(OWN_FUNCTION)
            return self
        moved = self.coordinates[-1]
        body = bodies[moved]
        if body is None or not factors.change(body):
            return self
        s = factors[body]
        if not equal(s):
            raise DescriptionError(
                f"it gives the translation {moved!r}, and {body!r} has the factors {s}: along which of them is "
                "not known; give it three equal ones"
            )
        return replace(self, function=replace(function, factor=function.factor * s[0]))


@dataclass(frozen=True, eq=False, repr=False)
class SpeedCoupler(UserConstraint):
    """Speeds satisfy function(*speeds, *coordinates) = 0.

    Args:
        function: of the speeds, then of the coordinates, in their order. A number, or several.
        speeds: their names, or those of coordinates whose rates they are.
        coordinates: names.
    """

    other_names = ("Coupler",)

    level: ClassVar[str] = "velocity"

    function: Callable[..., object] | None
    speeds: tuple[str, ...]
    coordinates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        function = checked(self.function, type(self).__name__)
        assign(self, speeds=names(self.speeds, f"{type(self).__name__}: speeds"))
        assign(self, coordinates=names(self.coordinates, f"{type(self).__name__}: coordinates", least=0))
        speeds, coordinates = self.speeds, self.coordinates
        fitting(function, (*speeds, *coordinates), type(self).__name__)
        self.trace(
            lambda s: function(*(s.u(k) for k in speeds), *(s.q(c) for c in coordinates)),  # (18)
            source=function,
        )


@dataclass(frozen=True, eq=False, repr=False)
class PrescribedMotion(UserConstraint):
    """A coordinate follows a function of time: p = q - function(t) [rad, m]. The multiplier is minus the
    force needed.

    Args:
        function: of the time [s], in [rad, m]; or a pair (times, values) of measured numbers, interpolated by
            a natural cubic spline.
        coordinate: its name.
    """

    function: Callable[..., object] | None
    coordinate: str

    def __post_init__(self) -> None:
        if is_series(self.function):
            assign(self, function=measured(self.function, type(self).__name__))
        function = checked(self.function, type(self).__name__)
        coordinate = name(self.coordinate, f"{type(self).__name__}: coordinate")

        def follow(s: Any) -> Any:
            wanted = function(s.t)
            return wanted if is_truth(wanted) else sequence([s.q(coordinate) - wanted])  # (17)

        self.trace(follow, source=function)

    def measures(self, tree: Tree) -> list[str]:
        return [unit_of(tree, self.coordinate)]


def names(given: Any, what: str, least: int = 1) -> tuple[str, ...]:
    """One name or several as a tuple."""
    out = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
    for n in out:
        name(n, what)
    if len(out) < least:
        raise DescriptionError(f"{what}: expected one name or more, got {given!r}")
    if len(set(out)) < len(out):
        raise DescriptionError(f"{what}: expected different names, got {out}")
    return out


def fitting(function: Callable[..., object], names: Sequence[str], what: str) -> None:
    """Refuse a function that does not take one argument for each name."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*names)
    except TypeError as error:
        raise DescriptionError(
            f"{what}: function takes {signature}, but is called with {len(names)}: "
            f"{', '.join(names)}; {error}"
        ) from None


def checked(function: Any, what: str) -> Callable[..., Any]:
    if not callable(function):
        raise DescriptionError(
            f"{what}: function: expected a function, got {function!r}; it comes first, then the names"
        )
    return function
