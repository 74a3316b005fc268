"""Forces and torques on bodies from outside: constant, as inputs, or as recorded time series:
docs/theory/forces.md (16)-(18)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, Self, TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import ExplainsCalls
from condyle.arrays import SX, real
from condyle.errors import DescriptionError, warn
from condyle.forces.base import Law
from condyle.functions import Function, Spline
from condyle.functions.pieces import Pieces, taylor
from condyle.functions.splines import is_series, natural, straight, warn_of_overshoot
from condyle.laws.described import BodyName, Role, Station, quantity, sx
from condyle.laws.factors import BodyFactors
from condyle.laws.function import LawFunction, law_function
from condyle.laws.view import Loads, View
from condyle.records import assign, dataclass
from condyle.trace import Numbers, Symbol
from condyle.trace.parameter import Parameter

FRAMES = ("ground", "body")


@dataclass(frozen=True, eq=False, repr=False)
class ConstantForce(Law):
    """A force constant in ground, at a point of a body (16). It has no potential energy.

    Args:
        body: the body or its name.
        station: the point in its frame [m], shape (3,).
        force: in ground [N], shape (3,).
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    tabular = True

    body: BodyName
    station: Station
    force: Annotated[Numbers, quantity("N", 3)]
    group: str = field(default="external", kw_only=True)

    def apply(self, s: View, loads: Loads) -> None:
        loads.add_force(self.body, sx(self.station), sx(self.force))  # (16)


@dataclass(frozen=True, eq=False, repr=False)
class ConstantTorque(Law):
    """A torque on a body, constant in ground (17). It has no potential energy.

    Args:
        body: the body or its name.
        torque: torque on the body, in ground [N m], shape (3,).
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    tabular = True

    body: BodyName
    torque: Annotated[Numbers, quantity("N m", 3)]
    group: str = field(default="external", kw_only=True)

    def apply(self, s: View, loads: Loads) -> None:
        loads.add_torque(self.body, sx(self.torque))  # (17)


@dataclass(frozen=True, eq=False, repr=False)
class TimeSeries(ExplainsCalls):
    """Numbers recorded at given times, three for a vector. Before the first and after the last time they are
    constant.

    The samples become part of the machine code, as a look-up table. If a recording changes from call to call,
    or is evaluated at its own frames only, use cd.Inputs instead, one value per frame.

    Args:
        times: [s], shape (n,), strictly increasing; n >= 3, or >= 2 for linear.
        values: shape (n, 3), or (n,) for a scalar.
        interpolation: "cubic", natural splines; or "linear", which is not smooth: derivatives and large steps
            of integrators suffer, and a warning is raised.
    """

    times: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    interpolation: str = "cubic"

    def __post_init__(self) -> None:
        try:
            t, y = real("times", self.times), real("values", self.values)
        except (TypeError, ValueError) as error:
            raise DescriptionError(f"TimeSeries: times and values must be numbers: {error}") from None
        y = y[:, None] if y.ndim == 1 else y
        if t.ndim != 1 or y.ndim != 2 or len(y) != len(t) or not y.shape[1]:
            raise DescriptionError(
                f"TimeSeries: expected values of shape ({t.size}, 3) or ({t.size},), one "
                f"row for each time, got shape {np.shape(self.values)}"
            )
        if not np.isfinite(y).all():
            k = int(np.argmin(np.isfinite(y).all(1)))
            raise DescriptionError(f"TimeSeries: values[{k}] = {y[k]} is not finite; leave that sample out")
        if self.interpolation not in ("cubic", "linear"):
            raise DescriptionError(
                f"TimeSeries: interpolation must be 'cubic' or 'linear', got {self.interpolation!r}"
            )
        if self.interpolation == "linear":
            if len(t) < 2 or not np.isfinite(t).all() or not (np.diff(t) > 0).all():
                raise DescriptionError(
                    f"TimeSeries: times must be two or more that increase strictly, got {self.times!r}"
                )
            warn("TimeSeries: linear interpolation has kinks at the samples; 'cubic' has none")
        elif len(t) == 2:
            raise DescriptionError(
                "TimeSeries: 2 samples, but a cubic spline needs at least 3; or give "
                "cd.forces.TimeSeries(times, values, 'linear')"
            )
        else:
            Spline(t, y[:, 0])
            warn_of_overshoot(
                "TimeSeries", t, y, "add samples, or give cd.forces.TimeSeries(times, values, 'linear')"
            )
        assign(self, times=tuple(t.tolist()), values=tuple(map(tuple, y.tolist())))

    def __call__(self, t: Any) -> SX:
        """The values at time t, an SX column."""
        t = ca.fmin(ca.fmax(t, self.times[0]), self.times[-1])
        row = self._pieces.at(t, look_up=True)
        value = taylor(t - row[0], ca.vertsplit(row[1:], len(self.values[0])))
        if (offsets := _offsets.get()) is None:
            return value
        return value + offsets.setdefault(id(self), (self, ca.SX.sym("offset", len(self.values[0]))))[1]

    def pull_back(self, t: np.ndarray, bars: np.ndarray) -> np.ndarray:
        """Gradient by the values, (n, k), of sum(bars * series(t)), for times t (m,) and bars (m, k)."""
        x = np.array(self.times)
        t = np.clip(t, x[0], x[-1])
        breaks, origins, c = (straight if self.interpolation == "linear" else natural)(x, np.eye(len(x)))
        row = np.searchsorted(breaks, t, side="right")
        by_piece = np.zeros((len(c), c.shape[1], bars.shape[1]))
        for j in range(c.shape[1]):
            np.add.at(by_piece[:, j], row, (t - origins[row])[:, None] ** j * bars)
        return np.asarray(np.einsum("pjk,pjn->nk", by_piece, c))

    @cached_property
    def _pieces(self) -> Pieces:
        x, y = np.array(self.times), np.array(self.values)
        breaks, origins, c = straight(x, y) if self.interpolation == "linear" else natural(x, y)
        return Pieces(breaks, np.column_stack([origins, c.reshape(len(c), -1)]))

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(np.column_stack([self.times, self.values]).tobytes()).hexdigest()

    def description(self) -> str:
        return f"TimeSeries({len(self.times)}, {self._digest}, {self.interpolation})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("times", "values", "interpolation")}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TimeSeries) and self.description() == other.description()

    def __hash__(self) -> int:
        return hash(self.description())

    def __repr__(self) -> str:
        return (
            f"TimeSeries({len(self.times)} samples, {self.times[0]:g} to {self.times[-1]:g} s, "
            f"{self.interpolation})"
        )


_offsets: ContextVar[dict[int, tuple[TimeSeries, SX]] | None] = ContextVar("offsets", default=None)


@contextmanager
def series_offsets(wanted: bool = True) -> Iterator[dict[int, tuple[TimeSeries, SX]]]:
    """Inside, the value of a series is itself and a symbol that stands for zero: by this it can be differentiated. By
    the series' id, each series and its symbols. Not if not wanted."""
    found: dict[int, tuple[TimeSeries, SX]] = {}
    token = _offsets.set(found if wanted else None)
    try:
        yield found
    finally:
        _offsets.reset(token)


@dataclass(frozen=True, eq=False)
class TimeFunctions:
    """Numbers that are functions of time, each one of cd.functions or a number."""

    functions: tuple[LawFunction, ...]

    @staticmethod
    def of(given: Sequence[Any], what: str) -> TimeFunctions:
        return TimeFunctions(tuple(law_function(f, ("t",), f"{what}[{k}]") for k, f in enumerate(given)))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(p for f in self.functions for p in f.parameters)

    def __call__(self, t: Any) -> SX:
        """The values at time t, an SX column."""
        return ca.vertcat(*(f.at(t) for f in self.functions))

    def description(self) -> str:
        return f"TimeFunctions({', '.join(f.description() for f in self.functions)})"

    def __repr__(self) -> str:
        return repr(self.functions)


SignalLike: TypeAlias = (
    Symbol
    | Numbers
    | Function
    | Sequence[Function]
    | TimeSeries
    | TimeFunctions
    | tuple[ArrayLike, ArrayLike]
)
"""Accepted signals: numbers, functions of time, or (times, values)."""


@dataclass(frozen=True)
class Signal(Role):
    """One number or three, Parameters or Inputs, a TimeSeries, or cd.functions of the time."""

    def take(self, value: Any, what: str) -> Any:
        if isinstance(value, TimeFunctions):
            return value
        each = (value,) if isinstance(value, Function) else value
        if isinstance(each, (tuple, list)) and any(isinstance(f, Function) for f in each):
            if len(each) != (n := math.prod(self.shape)):
                raise DescriptionError(
                    f"{what}: expected {n} function{'s' * (n > 1)} of time, got {len(each)}"
                )
            return TimeFunctions.of(each, what)
        if not isinstance(value, TimeSeries) and is_series(value):
            try:
                value = TimeSeries(*value)
            except DescriptionError as error:
                raise DescriptionError(f"{what}: {error}") from None
        if isinstance(value, TimeSeries):
            n = math.prod(self.shape)
            if len(value.values[0]) != n:
                raise DescriptionError(
                    f"{what}: expected {n} number{'s' * (n > 1)} for each time "
                    f"[{self.unit}], got {value!r} with {len(value.values[0])}"
                )
            return value
        if callable(value) and not isinstance(value, Symbol):
            raise DescriptionError(
                f"{what}: a function of time is given as (times, values); a law of your "
                "own as cd.forces.Custom(lambda s: ...), where s.t is the time; got "
                f"{value!r}"
            )
        return super().take(value, what)


def at_time(value: Any, s: View) -> SX:
    """A kept signal at the state's time."""
    return value(s.t) if isinstance(value, (TimeSeries, TimeFunctions)) else sx(value)


@dataclass(frozen=True, eq=False, repr=False)
class ExternalWrench(Law):
    """A measured or commanded force and torque on a body, such as a ground reaction (18). It has no potential
    energy.

    `force`, `torque` and `station` are each three numbers, any of them a cd.Input whose value comes with each
    state, or a `TimeSeries` (or a pair (times, values)) that is interpolated at the state's time, or three of
    cd.functions of the time.

        cd.forces.ExternalWrench("foot", force=[cd.Input("grf_x", 0), cd.Input("grf_y", 0), cd.Input("grf_z",
        0)])

    Args:
        body: the body or its name.
        station: where the force acts [m], shape (3,).
        force: force on the body [N], shape (3,).
        torque: torque on the body [N m], shape (3,).
        frame: in which force and torque are expressed, "ground" or "body".
        station_frame: in which the station is given, "body" or "ground" (a center of pressure on the floor).
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("External", "PrescribedForce")

    body: BodyName
    station: Annotated[Numbers, Signal("m", (3,), kind="signal")] = (0.0, 0.0, 0.0)
    force: Annotated[Numbers, Signal("N", (3,), kind="signal")] = (0.0, 0.0, 0.0)
    torque: Annotated[Numbers, Signal("N m", (3,), kind="signal")] = (0.0, 0.0, 0.0)
    frame: str = field(default="ground", kw_only=True)
    station_frame: str = field(default="body", kw_only=True)
    group: str = field(default="external", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("frame", "station_frame"):
            if getattr(self, name) not in FRAMES:
                raise DescriptionError(
                    f"ExternalWrench: {name} must be 'ground' or 'body', got {getattr(self, name)!r}"
                )

    def scaled(self, factors: BodyFactors) -> Self:
        return self if self.station_frame == "ground" else super().scaled(factors)

    def apply(self, s: View, loads: Loads) -> None:
        station, force, torque = (at_time(x, s) for x in (self.station, self.force, self.torque))
        R_GB = s.rotation(self.body)
        if self.frame == "body":
            force, torque = R_GB @ force, R_GB @ torque
        if self.station_frame == "ground":
            station = R_GB.T @ (station - s.station_position(self.body, ca.SX(3, 1)))
        loads.add_force(self.body, station, force)  # (18)
        loads.add_torque(self.body, torque)
