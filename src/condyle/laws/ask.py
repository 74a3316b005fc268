"""Access to the state in a user's law: the argument `s` of the functions given to Custom and Potential.

`s` has the accessors of a State. Each quantity is a leaf (leaves.py); its scalars become the arguments of the
traced function: random numbers first (to record the quantities), then symbols, then numbers again (to
compare), and finally the expressions of the system.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.errors import DescriptionError, TraceError, UnknownNameError
from condyle.laws.described import Role, body_name, name
from condyle.laws.leaves import (
    AngularAcceleration,
    AngularVelocity,
    CoordinateValue,
    GivenDiscrete,
    GivenInput,
    GivenParameter,
    Leaf,
    Reaction,
    Rotation,
    SpeedRate,
    SpeedValue,
    StateVariable,
    StationAcceleration,
    StationPosition,
    StationVelocity,
    Time,
)
from condyle.laws.view import View
from condyle.trace import Traced, trace
from condyle.trace.parameter import Parameter, is_number_like

STATION = Role("m", (3,))


class AskedPose:
    """X_GB in a law: R, shape (3, 3), and p, shape (3,), of numbers or symbols. `R, p = X`; `X @
    point`."""

    def __init__(self, R: NDArray[np.object_], p: NDArray[np.object_]) -> None:
        self.R, self.p = R, p

    def __iter__(self) -> Any:
        return iter((self.R, self.p))

    def __matmul__(self, point: Any) -> NDArray[np.object_]:
        return self.p + self.R @ np.asarray(point)


class AskedState:
    """The state in a user's law. Bodies and coordinates are given by name; stations in the body's
    frame [m]; results in ground.

    Values are numbers or symbols: scalars, or arrays of shape (3,), (6,) or (3, 3).
    """

    def __init__(self, answer: Callable[[Leaf], NDArray[np.object_]]) -> None:
        self._answer = answer

    def __repr__(self) -> str:
        return "the state s itself"

    def ask(self, leaf: Leaf) -> NDArray[np.object_]:
        """The value of a leaf (condyle.laws.leaves), shape (size,)."""
        return self._answer(leaf)

    def _at(
        self, leaf: Callable[[str, Any], Leaf], what: str, body: Any, station: Any
    ) -> NDArray[np.object_]:
        """A leaf of a station."""
        try:
            kept = STATION.take(station, f"{what}: station")
        except DescriptionError as error:
            if not is_number_like(station):
                raise
            raise TraceError(
                f"{what}: a station is three numbers or cd.Parameters [m], got {station!r}; for "
                "a point that moves on the body write R, p = s.body_pose(body) and p + R @ "
                "point"
            ) from error
        return self._answer(leaf(body_name(body, what), kept))

    @property
    def t(self) -> Any:
        """Time [s]."""
        return self._answer(Time())[0]

    def coordinate(self, coordinate: str) -> Any:
        """A coordinate [rad, m]."""
        return self._answer(CoordinateValue(name(coordinate, "s.q")))[0]

    def speed(self, speed: str) -> Any:
        """A speed [rad/s, m/s], by its own name or that of the coordinate whose rate it is."""
        return self._answer(SpeedValue(name(speed, "s.u")))[0]

    q, u = coordinate, speed

    def station_position(self, body: Any, station: Any = (0.0, 0.0, 0.0)) -> NDArray[np.object_]:
        """Position of a point of the body [m]."""
        return self._at(StationPosition, "s.station_position", body, station)

    def station_velocity(self, body: Any, station: Any = (0.0, 0.0, 0.0)) -> NDArray[np.object_]:
        """Velocity of a point of the body [m/s]."""
        return self._at(StationVelocity, "s.station_velocity", body, station)

    def rotation(self, body: Any) -> NDArray[np.object_]:
        """R_GB, shape (3, 3)."""
        return self._answer(Rotation(body_name(body, "s.rotation"))).reshape(3, 3)

    def angular_velocity(self, body: Any) -> NDArray[np.object_]:
        """w_GB [rad/s]."""
        return self._answer(AngularVelocity(body_name(body, "s.angular_velocity")))

    def body_pose(self, body: Any) -> AskedPose:
        """X_GB, which unpacks as R, p."""
        return AskedPose(self.rotation(body), self.station_position(body))

    def body_velocity(self, body: Any) -> NDArray[np.object_]:
        """V_GB, shape (6,): angular, then linear velocity of the body's origin."""
        return np.concatenate([self.angular_velocity(body), self.station_velocity(body)])

    def reaction(self, body: Any) -> NDArray[np.object_]:
        """Reaction of the body's joint on it, for forces only (AskedForces)."""
        raise TraceError(
            f"s.reaction({body!r}): only cd.forces.Custom may ask for reactions: all else is "
            "known before accelerations are; of a run, traj.reactions gives them at each row"
        )

    def parameter(self, parameter: str, default: float | None = None) -> Any:
        """A parameter of the system; with a default it is created if it does not exist."""
        return self._answer(GivenParameter(name(parameter, "s.parameter"), _default(parameter, default)))[0]

    def input(self, input: str, default: float | None = None) -> Any:
        """An input of the system; with a default it is created if it does not exist."""
        return self._answer(GivenInput(name(input, "s.input"), _default(input, default)))[0]

    def discrete(self, variable: str, default: float | None = None) -> Any:
        """A discrete variable of the system; with a default it is created if it does not exist."""
        return self._answer(GivenDiscrete(name(variable, "s.discrete"), _default(variable, default)))[0]

    def z(self, state: str) -> Any:
        """An auxiliary state: one of the law's own by its own name, any by its full name,
        "muscle.activation"."""
        return self._answer(StateVariable(name(state, "s.z")))[0]

    def __getattr__(self, accessor: str) -> Any:
        if accessor.startswith("_"):
            raise AttributeError(accessor)
        raise UnknownNameError(
            "accessor of s", accessor, [n for n in dir(type(self)) if not n.startswith("_")]
        )


class AskedForces(AskedState):
    """The state and joint reactions, for forces."""

    def reaction(self, body: Any) -> NDArray[np.object_]:
        """Reaction of the body's joint on it at its frame M, shape (6,): moment [N m], then force [N], in
        ground, including generalized forces on its own speeds, as in `system.reactions`. It is solved
        together with the accelerations, including the loads of the law itself.
        """
        return self._answer(Reaction(body_name(body, "s.reaction")))


class AskedMotion(AskedState):
    """The state and its accelerations, for constraints on accelerations."""

    def udot(self, speed: str) -> Any:
        """The rate of a speed [rad/s^2, m/s^2], by the speed's name or that of the coordinate whose rate the
        speed is."""
        return self._answer(SpeedRate(name(speed, "s.udot")))[0]

    def station_acceleration(self, body: Any, station: Any = (0.0, 0.0, 0.0)) -> NDArray[np.object_]:
        """Acceleration of a point of the body [m/s^2]."""
        return self._at(StationAcceleration, "s.station_acceleration", body, station)

    def angular_acceleration(self, body: Any) -> NDArray[np.object_]:
        """Angular acceleration of the body [rad/s^2]."""
        return self._answer(AngularAcceleration(body_name(body, "s.angular_acceleration")))

    def body_acceleration(self, body: Any) -> NDArray[np.object_]:
        """A_GB, shape (6,): angular, then linear acceleration of the body's origin."""
        return np.concatenate([self.angular_acceleration(body), self.station_acceleration(body)])


def _default(what: str, default: Any) -> float | None:
    return None if default is None else Parameter(what, default).default


def traced_law(
    function: Any,
    what: str,
    flatten: Callable[[Any], list[Any]],
    asked: type[AskedState] = AskedState,
    source: Any = None,
) -> tuple[Traced, tuple[Leaf, ...]]:
    """A user's function of `s` as a Traced function of scalars, and the leaves of these scalars, in order.

    Args:
        flatten: turns the function's result into a list of scalars, or raises TraceError.
        asked: class of `s`.
        source: the user's own function, where `function` only wraps it: errors name it.
    """
    check_function(function, what)
    rng = np.random.default_rng(0)
    asks: dict[str, Leaf] = {}
    ranges: dict[str, list[tuple[float, float]]] = {}

    def learn(leaf: Leaf) -> NDArray[np.object_]:
        if leaf.text not in asks:
            asks[leaf.text], ranges[leaf.text] = leaf, leaf.ranges(rng)
        return np.array([rng.uniform(low, high) for low, high in ranges[leaf.text]])

    try:
        with np.errstate(all="ignore"):
            flatten(function(asked(learn)))
    except Exception as error:
        if isinstance(error, TypeError) and ("'method'" in str(error) or "Asked" in str(error)):
            raise TraceError(
                f"{what}: {_spoken(str(error))}: accessors of s are asked by name in round "
                "brackets, such as s.q('knee'), s.u('knee'), s.station_position('foot', (0, 0, "
                "0)); s.t is the time"
            ) from error
        if not isinstance(error, TraceError):
            error.add_note(
                f"Condyle called it for {what} with random numbers as answers, to learn what it "
                "asks of the state."
            )
        raise

    def law(*values: Any) -> list[Any]:
        rest, at = iter(values), {}
        for key, ask in asks.items():
            at[key] = np.array([next(rest) for _ in range(ask.size)])

        def answer(leaf: Leaf) -> NDArray[np.object_]:
            if leaf.text not in at:
                raise TraceError(
                    f"{what}: asks for {leaf.labels()[0]} on one call and not on another; what "
                    "it asks must not depend on values"
                )
            return at[leaf.text]

        return flatten(function(asked(answer)))

    labels = [label for ask in asks.values() for label in ask.labels()]
    box = [pair for pairs in ranges.values() for pair in pairs]
    return trace(law, labels, what=what, ranges=box, source=source or function), tuple(asks.values())


def _spoken(text: str) -> str:
    """Python's message on a wrong call of an accessor, with the accessor's public name."""
    short = text.replace("AskedMotion.", "s.").replace("AskedState.", "s.")
    return short.replace("s.coordinate()", "s.q()").replace("s.speed()", "s.u()")


def check_function(function: Any, what: str, given: str = "the state s") -> None:
    """Raise TraceError unless it is a function of one argument."""
    if not callable(function):
        raise TraceError(f"{what}: expected a function of one argument s, got {function!r}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(None)
    except TypeError as error:
        raise TraceError(
            f"{what}: takes {signature}, but is called with one argument, {given}: {error}"
        ) from error


def answers(asks: Iterable[Leaf], s: View) -> list[ca.SX]:
    """All values from a system as scalars, the arguments of the traced function."""
    return [x for ask in asks for x in ca.vertsplit(ca.densify(ask.at(s)))]
