"""Custom constraints in Python, one class per level: docs/theory/constraints.md (19).

    def on_parabola(s):
        x, y, _ = s.station_position("foot", p)
        return y - x**2

    system.add_constraint("groove", cd.constraints.Holonomic(on_parabola))

The function is called with `s` as those of forces are (condyle.laws.ask), traced once and kept as an
expression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np

from condyle.arrays import SX, vertcat
from condyle.constraints.base import LEVELS, Constraint
from condyle.errors import DescriptionError, TraceError
from condyle.laws.ask import AskedMotion, AskedState, traced_law
from condyle.laws.described import text
from condyle.laws.factors import OWN_FUNCTION, BodyFactors
from condyle.laws.function import picklable
from condyle.laws.leaves import GivenInput, Leaf
from condyle.records import assign, dataclass
from condyle.trace import Traced
from condyle.trace.parameter import Parameter


def sequence(result: Any, what: str = "") -> list[Any]:
    """What a user's function returned as a list of scalars."""
    if result is None or isinstance(result, (str, Mapping, AskedState)) or np.ndim(result) > 1:
        raise TraceError(
            f"{what}: returned {result!r}; expected a number that shall be zero, or a list of "
            "them" + ("; is a return statement missing?" if result is None else "")
        )
    out = list(result) if np.ndim(result) else [result]
    if not out:
        raise TraceError(f"{what}: returned nothing that shall be zero: {result!r}")
    return out


@dataclass(frozen=True, eq=False, repr=False)
class UserConstraint(Constraint):
    """A constraint from a user's function: a pickle has what it computes, not the function itself."""

    law: Traced = field(init=False, repr=False)
    asks: tuple[Leaf, ...] = field(init=False, repr=False)

    too_fast: ClassVar[str] = (
        "a constraint on positions is made of positions only; for one on velocities "
        "use cd.constraints.Nonholonomic"
    )
    """What errors say where it asks for what its level does not have."""

    def scaled(self, factors: BodyFactors) -> Self:
        if any(ask.bodies for ask in self.asks):
            factors.notes.append(OWN_FUNCTION)
        return self

    @property
    def what(self) -> str:
        """How errors name it."""
        function = getattr(self, "function", None)
        if function is None and "law" in vars(self):
            return self.law.what
        named = getattr(function, "__name__", type(function).__name__)
        return f"{type(self).__name__}({'lambda' if named == '<lambda>' else named})"

    def trace(
        self, function: Callable[..., object], asked: type[AskedState] = AskedState, source: object = None
    ) -> None:
        """Keep the law; leaves may be t, parameters, and quantities up to the constraint's level."""
        levels = LEVELS[: LEVELS.index(self.level) + 1]
        law, asks = traced_law(function, self.what, lambda result: sequence(result, self.what), asked, source)
        for ask in asks:
            if isinstance(ask, GivenInput) and self.level != "acceleration":
                raise DescriptionError(
                    f"{self.what}: asks for {ask.labels()[0]}, but nothing says how fast "
                    "an input changes; use s.parameter or s.t"
                )
            if ask.level not in ("time", "given", *levels):
                raise DescriptionError(f"{self.what}: asks for {ask.labels()[0]}, but {self.too_fast}")
        if not any(ask.level in levels for ask in asks):
            raise DescriptionError(
                f"{self.what}: asks nothing of the state that moves; there is nothing to constrain"
            )
        assign(self, law=law, asks=asks)
        super().__post_init__()

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return self.asks

    def equations(self, x: Sequence[SX]) -> SX:
        flat = (ca.vec(v.T) if v.shape == (3, 3) else v for v in x)
        return self.law.apply(*(e for v in flat for e in ca.vertsplit(v)))

    def parameters(self) -> list[Parameter]:
        return [p for ask in self.asks for p in ask.parameters()] + list(self.law.outside)  # type: ignore[arg-type]

    def description(self) -> str:
        values = ", ".join(
            text(getattr(self, f.name)) for f in fields(self) if f.name not in ("function", "law", "asks")
        )
        return f"{type(self).__name__}({[ask.text for ask in self.asks]}, {self.law.text}, {values})"

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"function": picklable(getattr(self, "function", None))}

    def __repr__(self) -> str:
        return self.what


@dataclass(frozen=True, eq=False, repr=False)
class Holonomic(UserConstraint):
    """Positions satisfy function(s) = 0.

    Args:
        function: f(s) -> one or more numbers that must be zero, of positions: s.q("knee"),
            s.station_position("foot", p), s.body_pose("foot"), s.rotation; also s.t and s.parameter.
            Velocities raise an error.
    """

    other_names = ("Custom",)

    function: Callable[[AskedState], object] | None

    def __post_init__(self) -> None:
        self.trace(self.function)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False, repr=False)
class Nonholonomic(UserConstraint):
    """Velocities satisfy function(s) = 0.

    Args:
        function: f(s) -> one or more numbers that must be zero, of velocities and positions: s.u("knee"),
            s.station_velocity("foot", p), s.angular_velocity("foot"), s.body_velocity, and all that
            Holonomic's may use. The constraint forces act on the velocities in the function, not on
            positions.
    """

    other_names = ("Custom",)

    level: ClassVar[str] = "velocity"

    function: Callable[[AskedState], object] | None

    def __post_init__(self) -> None:
        self.trace(self.function)  # type: ignore[arg-type]
        if not any(ask.level == "velocity" for ask in self.asks):
            raise DescriptionError(
                f"{self.what}: asks for no velocity; for positions use cd.constraints.Holonomic"
            )


@dataclass(frozen=True, eq=False, repr=False)
class AccelerationOnly(UserConstraint):
    """Accelerations satisfy function(s) = 0. Positions and velocities are not constrained or projected.

    Args:
        function: f(s) -> one or more numbers that must be zero, linear in accelerations: s.udot("knee"),
            s.station_acceleration("foot", p), s.angular_acceleration("foot"), s.body_acceleration, and all
            that Nonholonomic's may use; also s.input. The constraint forces act on the accelerations in the
            function.
    """

    level: ClassVar[str] = "acceleration"

    function: Callable[[AskedMotion], object] | None

    def __post_init__(self) -> None:
        self.trace(self.function, AskedMotion)  # type: ignore[arg-type]
        x, _, a = self._symbols()
        z = vertcat(v for v, ask in zip(x, self.asks, strict=True) if ask.level == "acceleration")
        if not z.numel():
            raise DescriptionError(
                f"{self.what}: asks for no acceleration; for velocities use cd.constraints.Nonholonomic"
            )
        if ca.depends_on(ca.jacobian(a, z), z):
            raise DescriptionError(
                f"{self.what}: is not linear in accelerations, as a product of two is "
                "not; the equations of motion are solved for them as they are"
            )
