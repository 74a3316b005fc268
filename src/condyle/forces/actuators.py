"""Actuators: forces in proportion to a control, which comes with each state: docs/theory/forces.md
(27)-(31), (45), (46).

    f = optimal force * control                                                                           (27)

The control is an Input with the actuator's name, unless another, a number, a TimeSeries or one of
cd.functions of the time is given. Names are OpenSim's.
"""

from __future__ import annotations

import math
from dataclasses import field, replace
from typing import Annotated, Any, Self

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.forces.base import Law
from condyle.forces.external import FRAMES, Signal, SignalLike, at_time
from condyle.forces.mobility import OnSpeed
from condyle.forces.path import PathLaw
from condyle.forces.two_point import TwoPoint
from condyle.laws.described import BodyName, Station, quantity, sx
from condyle.laws.factors import BodyFactors
from condyle.laws.view import Loads, View
from condyle.records import assign, dataclass
from condyle.trace import Number, Numbers
from condyle.trace.parameter import Input

Bound = Annotated[float, quantity("-", infinite=True, plain=True)]


@dataclass(frozen=True, eq=False, repr=False)
class Actuator(Law):
    """A force with a control. Its subclasses have an `optimal_force`.

    The bounds do not limit the force: they are bounds for studies that find controls.
    """

    control: Annotated[SignalLike, Signal("-")] = field(default=0.0, kw_only=True)
    min_control: Bound = field(default=-math.inf, kw_only=True)
    max_control: Bound = field(default=math.inf, kw_only=True)
    group: str = field(default="actuator", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.min_control <= self.max_control:
            raise DescriptionError(
                f"{type(self).__name__}: min_control must not be above max_control, got "
                f"{self.min_control:g} and {self.max_control:g}"
            )

    def _check_directed(self, along: str, *frames: str) -> None:
        """Frames are known ones, and the direction has length 1."""
        for name in frames:
            if (given := getattr(self, name)) not in FRAMES:
                raise DescriptionError(
                    f"{type(self).__name__}: {name} must be 'ground' or 'body', got {given!r}"
                )
        direction = getattr(self, along)
        length = math.hypot(*direction)
        if not length > 0:
            raise DescriptionError(f"{type(self).__name__}: {along} must not be zero, got {direction}")
        assign(self, **{along: tuple((np.array(direction) / length).tolist())})

    def named(self, name: str) -> Self:
        """With an Input of this name as its control, if it has none."""
        control: Any = self.control
        if isinstance(control, float) and control == 0.0:
            return replace(self, control=Input(name, 0.0))
        return self

    def at_one(self) -> Actuator:
        """The actuator in steady state, without activation dynamics, for the force at a control of 1."""
        return replace(self, control=1.0)

    def actuation(self, s: View) -> SX:
        """f of (27)."""
        return sx(self.optimal_force) * at_time(self.control, s)  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False, repr=False)
class PathActuator(PathLaw, Actuator):
    """A tension along a path in proportion to a control.

        T = optimal_force * control: positive pulls                                              (28)

    Args:
        path: where it runs.
        optimal_force: [N], at a control of 1.
        control: by default an Input with the actuator's name.
        min_control: lower bound in studies; 0 for actuators that only pull.
        max_control: the greatest that studies choose.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("Actuator",)

    optimal_force: Annotated[Number, quantity("N")]
    group: str = field(default="actuator", kw_only=True)  # the other base would say passive

    def tension(self, s: View) -> SX:
        return self.actuation(s)  # (28)


@dataclass(frozen=True, eq=False, repr=False)
class CoordinateActuator(OnSpeed, Actuator):
    """A generalized force on a speed in proportion to a control: a motor, a reserve.

        f = optimal_force * control                                                              (29)

    Args:
        coordinate: name of the speed, or of the coordinate whose rate it is.
        optimal_force: [N m, N], at a control of 1.
        control: by default an Input with the actuator's name.
        min_control: the least that studies choose.
        max_control: the greatest that studies choose.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("Actuator",)

    optimal_force: Annotated[Number, quantity("N m, N")]
    group: str = field(default="actuator", kw_only=True)  # the other base would say passive

    def apply(self, s: View, loads: Loads) -> None:
        loads.add_mobility(self._speed(s), self.actuation(s))  # (29)


@dataclass(frozen=True, eq=False, repr=False)
class PointToPointActuator(TwoPoint, Actuator):
    """A force along the line between a point on a and a point on b in proportion to a control.

        f = optimal_force * control * e on b: positive pushes the points apart                   (30)

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        p_a: point in a's frame [m], shape (3,).
        p_b: point in b's frame [m], shape (3,).
        optimal_force: [N], at a control of 1.
        control: by default an Input with the actuator's name.
        min_control: the least that studies choose.
        max_control: the greatest that studies choose.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("Actuator",)

    tabular = True

    optimal_force: Annotated[Number, quantity("N")]
    group: str = field(default="actuator", kw_only=True)  # the other base would say passive

    def apply(self, s: View, loads: Loads) -> None:
        r, _, per_L = self._line(s)
        self._push(loads, self.actuation(s) * per_L * r)  # (30)


@dataclass(frozen=True, eq=False, repr=False)
class TorqueActuator(Actuator):
    """A torque on a and its opposite on b about an axis, in proportion to a control.

        tau = optimal_force * control * axis on a, -tau on b                                     (31)

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        axis: of any length but 0, shape (3,).
        optimal_force: [N m], at a control of 1.
        frame: where the axis is fixed, "ground" or "body", which is a.
        control: by default an Input with the actuator's name.
        min_control: the least that studies choose.
        max_control: the greatest that studies choose.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("Actuator",)

    tabular = True

    a: BodyName
    b: BodyName
    axis: Annotated[Numbers, quantity("-", 3, plain=True)]
    optimal_force: Annotated[Number, quantity("N m")]
    frame: str = field(default="ground", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_directed("axis", "frame")

    def apply(self, s: View, loads: Loads) -> None:
        axis = sx(self.axis)
        tau = self.actuation(s) * (s.rotation(self.a) @ axis if self.frame == "body" else axis)
        loads.add_torque(self.a, tau)  # (31)
        loads.add_torque(self.b, -tau)


@dataclass(frozen=True, eq=False, repr=False)
class PointActuator(Actuator):
    """A force at a point of a body along a direction, in proportion to a control.

        F = optimal_force * control * direction                                                  (45)

    Args:
        body: the body or its name.
        point: where it acts [m], shape (3,).
        direction: of any length but 0, shape (3,).
        optimal_force: [N], at a control of 1.
        frame: where the direction is fixed, "ground" or "body".
        point_frame: where the point is given, "body" or "ground": a place in ground through which the body
            moves.
        control: by default an Input with the actuator's name.
        min_control: the least that studies choose.
        max_control: the greatest that studies choose.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    tabular = True

    body: BodyName
    point: Station
    direction: Annotated[Numbers, quantity("-", 3, plain=True)]
    optimal_force: Annotated[Number, quantity("N")]
    frame: str = field(default="body", kw_only=True)
    point_frame: str = field(default="body", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_directed("direction", "frame", "point_frame")

    def scaled(self, factors: BodyFactors) -> Self:
        return self if self.point_frame == "ground" else super().scaled(factors)

    def apply(self, s: View, loads: Loads) -> None:
        F, p = self.actuation(s) * sx(self.direction), sx(self.point)
        R_GB = s.rotation(self.body)
        if self.point_frame == "ground":
            p = R_GB.T @ (p - s.station_position(self.body, ca.SX(3, 1)))
        loads.add_force(self.body, p, R_GB @ F if self.frame == "body" else F)  # (45)


@dataclass(frozen=True, eq=False, repr=False)
class ActivationCoordinateActuator(CoordinateActuator):
    """A CoordinateActuator with first-order activation dynamics.

        adot = (control - a) / tau,   f = optimal_force * a                                      (46)

    Args:
        coordinate: name of the speed, or of the coordinate whose rate it is.
        optimal_force: [N m, N], at an activation of 1.
        activation_time_constant: tau [s], above 0.
        default_activation: a at the start.
        control: by default an Input with the actuator's name.
        min_control: the least that studies choose.
        max_control: the greatest that studies choose.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    activation_time_constant: Annotated[Number, quantity("s", lowest=0.0, positive=True)] = field(
        default=0.01, kw_only=True
    )
    default_activation: Annotated[float, quantity("-", plain=True)] = field(default=0.5, kw_only=True)

    @property
    def states(self) -> tuple[tuple[str, float], ...]:  # type: ignore[override]
        return (("activation", self.default_activation),)

    def apply(self, s: View, loads: Loads) -> None:
        loads.add_mobility(self._speed(s), sx(self.optimal_force) * s.state_variable(0))  # (46)

    def at_one(self) -> Actuator:
        return CoordinateActuator(self.coordinate, self.optimal_force, control=1.0)

    def rates(self, s: View) -> list[SX]:
        return [(at_time(self.control, s) - s.state_variable(0)) / sx(self.activation_time_constant)]
