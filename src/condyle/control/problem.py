"""Problem: a system, duration, bounds, goals and requirements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from condyle.arguments import ExplainsCalls
from condyle.control.dynamics import Dynamics, control_names
from condyle.control.goals.base import MovementGoal
from condyle.control.goals.placed import Placed
from condyle.errors import DescriptionError, UnknownNameError, check_name
from condyle.fit.frames import Frames
from condyle.fit.goals import Goal
from condyle.forces.actuators import CoordinateActuator
from condyle.forces.external import ExternalWrench, TimeSeries
from condyle.integrate.trajectory import Trajectory
from condyle.records import dataclass
from condyle.studies.external_load import ExternalLoad
from condyle.studies.motion.motion import Motion
from condyle.system.checked_arguments import check_system, number
from condyle.system.parts import SpeedNames
from condyle.system.state import warn_of_degrees
from condyle.system.system import System
from condyle.table import Table

Pair = float | tuple[float, float]


@dataclass(frozen=True)
class Bound:
    """Bounds of a variable from the user: (low, high), or None."""

    between: tuple[float, float] | None = None
    start: tuple[float, float] | None = None
    end: tuple[float, float] | None = None


class Problem(ExplainsCalls):
    """An optimal control problem.

    Args:
        system: the system. Its inputs are the controls: excitations of muscles, controls of actuators.
        duration: [s], a number, or a pair (low, high) of bounds.
        times: (start, end) [s] instead of duration, for data over time.
        parameters: unknown Parameters of the system: {name: (low, high)}.
        motion: a prescribed movement over `times`: a Table of coordinates, a motion. Then only the controls
            that produce it are unknown, as in MocoInverse.

    Attributes:
        system: the system, with added torques and loads.
        start_time: time of the start [s].

    Raises:
        DescriptionError: invalid values. UnknownNameError: a parameter that the system does not have.
    """

    def __init__(
        self,
        system: System,
        duration: Pair | None = None,
        *,
        times: tuple[float, float] | None = None,
        parameters: Mapping[str, tuple[float, float]] | None = None,
        motion: Table | Motion | Trajectory | Frames | None = None,
    ) -> None:
        check_system("cd.Problem", system, "duration")
        if (duration is None) == (times is None):
            raise DescriptionError("cd.Problem: give either duration= or times=(start, end) [s]")
        self.start_time = 0.0
        if times is not None:
            a, b = pair("cd.Problem: times", times)
            self.start_time, duration = a, b - a
        low, high = pair("cd.Problem: duration", duration)
        if not 0 <= low <= high < np.inf or high <= 0:
            raise DescriptionError(
                f"cd.Problem: the duration must be above 0 [s], got {duration!r}"
                if times is None
                else f"cd.Problem: times must rise [s], got {times!r}"
            )
        self.system, self.duration = system, (low, high)
        self.parameters = {}
        for name, between in (parameters or {}).items():
            check_name("parameter", name, system.parameters, "cd.Problem")
            self.parameters[name] = pair(f"cd.Problem: parameter {name!r}", between)
        self.motion = None if motion is None else self._given(system, motion)
        self.loads: list[ExternalLoad] = []
        self.bounds: dict[str, Bound] = {}
        self.minimized: list[tuple[MovementGoal, float]] = []
        self.required: list[MovementGoal] = []

    def _given(self, system: System, motion: Table | Motion | Trajectory | Frames) -> Motion:
        found = Motion.of(system, motion)
        a, b = self.start_time, self.start_time + self.duration[1]
        if self.free or found.t[0] > a + 1e-9 or found.t[-1] < b - 1e-9:
            raise DescriptionError(
                f"cd.Problem: the motion goes from {found.t[0]:g} to {found.t[-1]:g} s: give times=(start, end) "
                f"within it, got {(a, b) if not self.free else self.duration}"
            )
        return found

    @property
    def free(self) -> bool:
        """Whether the duration is unknown."""
        return self.duration[0] < self.duration[1]

    @cached_property
    def dynamics(self) -> Dynamics:
        """The system at a point; freezes it."""
        return Dynamics(self.system, tuple(self.parameters), self.loads, self.motion)

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of the speeds in `bound`: NAME_speed if a coordinate is named NAME."""
        taken = set(self.system.coordinates)
        return tuple(f"{name}_speed" if name in taken else name for name in self.system.speeds)

    def _names(self) -> tuple[str, ...]:
        system = self.system
        tendons = [f"{name}.normalized_tendon_force" for name in system.muscles]
        controls = control_names(system).values()
        return *system.coordinates, *self.speeds, *system.state_variables, *tendons, *controls

    def bound(
        self,
        names: str | Iterable[str],
        between: Pair | None = None,
        *,
        start: Pair | None = None,
        end: Pair | None = None,
    ) -> None:
        """Bounds of variables.

        Args:
            names: one or more: coordinates, speeds (NAME_speed, or all: `system.speeds`), auxiliary states
                as "soleus_r.activation", controls by the names of their inputs (NAME_control if a coordinate
                is named NAME). The state of an elastic tendon is "soleus_r.normalized_tendon_force".
            between: (low, high) at all times; a number is both.
            start: a number or a pair at the start; `between` by default.
            end: the same at the end.

        Raises:
            UnknownNameError: a variable that the system does not have.
            DescriptionError: bounds that cross, or a start or end outside of them.
        """
        if isinstance(names, SpeedNames):
            names = self.speeds
        for name in (names,) if isinstance(names, str) else tuple(names):
            check_name("coordinate, speed, state or control", name, self._names(), "bound")
            given = {
                key: None
                if x is None
                else pair(f"bound: {name}{'' if key == 'between' else ' at the ' + key}", x)
                for key, x in (("between", between), ("start", start), ("end", end))
            }
            for ends in given.values():
                warn_of_degrees(self.system, {name: ends[1]} if ends else {}, "bound")
            old = self.bounds.get(name, Bound())
            new = Bound(**{key: getattr(old, key) if x is None else x for key, x in given.items()})
            for when, x in (("starts", new.start), ("ends", new.end)):
                if new.between and x and (x[0] > new.between[1] or x[1] < new.between[0]):
                    raise DescriptionError(
                        f"{name} must be in ({new.between[0]:g}, {new.between[1]:g}) and {when} "
                        f"{'at ' + format(x[0], 'g') if x[0] == x[1] else f'in ({x[0]:g}, {x[1]:g})'}"
                    )
            self.bounds[name] = new

    def minimize(self, goal: MovementGoal | Goal, weight: float = 1.0) -> None:
        """Add a goal to the objective, times a weight.

        Args:
            goal: one of cd.goals; those of `cd.assemble` are integrated over time.
            weight: above 0.
        """
        weight = number("minimize: weight", weight, "a number above 0")
        if not 0 < weight < np.inf:
            raise DescriptionError(f"minimize: weight must be above 0, got {weight!r}")
        self.minimized.append((_movement_goal("minimize", goal), weight))

    def require(self, *goals: MovementGoal) -> None:
        """Add requirements: conditions and path constraints, and values between their low and high."""
        for goal in goals:
            given = _movement_goal("require", goal)
            kind, base = type(given), MovementGoal
            counts = kind.integrand is not base.integrand or kind.value is not base.value
            if kind.limits is base.limits and counts:
                raise DescriptionError(
                    f"require: {given.name} has no low and high: use problem.minimize, or require "
                    "cd.goals.Integral(f, low, high)"
                )
            self.required.append(given)

    def add_torques(
        self,
        coordinates: str | Iterable[str] | Mapping[str, float] | None = None,
        optimal_force: float = 1.0,
        *,
        bounds: tuple[float, float] = (-np.inf, np.inf),
    ) -> tuple[str, ...]:
        """Add a torque (or force) with a control to coordinates, called NAME_torque.

        Args:
            coordinates: names, or {name: optimal force}; all that are neither locked nor prescribed by
                default.
            optimal_force: [N m, N] at a control of 1.
            bounds: of the controls.

        Returns:
            The names of the controls.
        """
        if coordinates is None:
            held = set(self.system.compiled.model.tree.locked)
            held |= {s for b in self.system.bodies if b.motion is not None for s in b.speeds}
            coordinates = [name for name in self.system.speeds if name not in held]
        if isinstance(coordinates, str):
            coordinates = (coordinates,)
        if not isinstance(coordinates, Iterable):
            raise DescriptionError(
                f"add_torques: expected names or {{name: optimal force}}, got {coordinates!r}; for all coordinates: "
                "add_torques(optimal_force=...)"
            )
        forces = (
            dict(coordinates)
            if isinstance(coordinates, Mapping)
            else dict.fromkeys(coordinates, optimal_force)
        )
        low, high = pair("add_torques: bounds", bounds)
        system = self.system.copy()
        for name, force in forces.items():
            if name not in (*system.coordinates, *system.speeds):
                raise UnknownNameError("coordinate", name, system.coordinates, "add_torques")
            system.add_force(
                f"{name}_torque",
                CoordinateActuator(
                    name,
                    number(
                        f"add_torques: optimal force of {name!r}",
                        force,
                        "a force or moment; several names are a list",
                    ),
                    min_control=low,
                    max_control=high,
                ),
            )
        self._replace(system)
        return tuple(f"{name}_torque" for name in forces)

    def add_loads(self, loads: ExternalLoad | Sequence[ExternalLoad] | Mapping[str, ExternalLoad]) -> None:
        """Add measured forces, such as ground reactions, at the times of `times=`. They are interpolated by
        natural cubic splines, as in `cd.inverse_dynamics`.

        Raises:
            DescriptionError: loads that do not cover the movement, or a free duration.
        """
        if self.free:
            raise DescriptionError(
                "add_loads: loads are measured over time: give cd.Problem times=(start, end)"
            )
        many = loads.values() if isinstance(loads, Mapping) else loads
        for load in (many,) if isinstance(many, ExternalLoad) else tuple(many):
            if not isinstance(load, ExternalLoad):
                raise DescriptionError(f"add_loads: expected a cd.ExternalLoad, got {load!r}")
            for name in (load.body, load.frame, load.point_frame):
                if isinstance(name, str) and name != "ground":
                    self.system.body(name)
            t, a, b = load.table.time, self.start_time, self.start_time + self.duration[1]
            if t[0] > a + 1e-9 or t[-1] < b - 1e-9:
                raise DescriptionError(
                    f"add_loads: the load on {load._name!r} goes from {t[0]:g} to {t[-1]:g} s and does not "
                    f"cover the movement, from {a:g} to {b:g} s"
                )
            self.loads.append(load)
        vars(self).pop("dynamics", None)

    def loaded_system(self) -> System:
        """The system with its measured loads as forces, for simulation by `answer.replay`."""
        system = self.system.copy()
        for k, load in enumerate(self.loads):
            frames = {
                x: "ground" if str(getattr(load, x)) == "ground" else "body" for x in ("frame", "point_frame")
            }
            for key, where in frames.items():
                if where == "body" and str(getattr(load, key)) != load._name:
                    raise DescriptionError(
                        f"the load on {load._name!r} is given in {getattr(load, key)!r}: it cannot be simulated"
                    )
            x, t = load._checked(), tuple(load.table.time.tolist())
            force, torque, point = (TimeSeries(t, x[:, i : i + 3].tolist()) for i in (0, 3, 6))
            given: Any = {"force": force, "torque": torque, "frame": frames["frame"]}
            if load.point is not None:
                given |= {"station": point, "station_frame": frames["point_frame"]}
            system.add_force(f"load {k + 1} on {load._name}", ExternalWrench(load._name, **given))
        return system

    def _replace(self, system: System) -> None:
        self.system = system
        vars(self).pop("dynamics", None)


def pair(what: str, value: Any) -> tuple[float, float]:
    """(low, high) from a number or a pair."""
    try:
        numbers = np.asarray(np.nan if isinstance(value, (str, bytes)) else value, dtype=float)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if numbers.shape not in ((), (2,)) or np.isnan(numbers).any():
        raise DescriptionError(f"{what}: expected a number or a pair (low, high), got {value!r}")
    low, high = (float(x) for x in np.broadcast_to(numbers, 2))
    if low > high:
        raise DescriptionError(f"{what}: the bounds cross: ({low:g}, {high:g})")
    return low, high


def _movement_goal(who: str, goal: Any) -> MovementGoal:
    if isinstance(goal, Goal):
        return Placed(goal)
    if not isinstance(goal, MovementGoal):
        raise DescriptionError(f"{who}: expected one of cd.goals, such as cd.goals.Effort(), got {goal!r}")
    return goal
