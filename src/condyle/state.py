"""State: everything variable about a system, and whatever was computed from it. Immutable."""
from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.errors import ShapeError, UnknownNameError
from condyle.spatial import Transform

if TYPE_CHECKING:
    from condyle.system import System
    from condyle.tree.body import Body


class Stage(enum.IntEnum):
    """How far a computation has come. Changing a variable undoes its stage and all later ones, nothing earlier."""

    TOPOLOGY = 0
    MODEL = 1
    INSTANCE = 2
    TIME = 3
    POSITION = 4
    VELOCITY = 5
    FORCE = 6
    ACCELERATION = 7


INVALIDATES = {"t": Stage.TIME, "q": Stage.POSITION, "u": Stage.VELOCITY, "disabled": Stage.FORCE,
               "locked": Stage.ACCELERATION}
"""The stage that each variable of a State undoes."""


class State:
    """Time, coordinates, speeds, locks and disabled forces of a system; made by `system.state(...)`.

    Arrays are read-only. `state.replace(u=...)` is a new State that shares every result the change leaves valid.

    Attributes:
        t: [s].   q: shape (nq,).   u: shape (nu,).
        locked: names of locked speeds.   disabled: names of disabled forces.
    """

    __slots__ = ("_results", "_tail", "disabled", "locked", "q", "system", "t", "u", "z")

    system: System
    t: float
    q: np.ndarray
    u: np.ndarray
    z: np.ndarray
    locked: frozenset[str]
    disabled: frozenset[str]

    def __init__(self, system: System, t: float, q: np.ndarray, u: np.ndarray, locked: frozenset[str],
                 disabled: frozenset[str], results: dict[Any, tuple[Stage, Any]]) -> None:
        put = object.__setattr__
        for array in (q, u):
            array.flags.writeable = False
        put(self, "system", system)
        put(self, "t", t)
        put(self, "q", q)
        put(self, "u", u)
        put(self, "z", np.zeros(0))
        put(self, "locked", locked)
        put(self, "disabled", disabled)
        put(self, "_results", results)
        put(self, "_tail", system.tail(t=t, locked=locked, disabled=disabled))

    @classmethod
    def of(cls, system: System, t: Any = 0.0, q: Any = None, u: Any = None, locked: Iterable[str] = (),
           disabled: Iterable[str] = ()) -> State:
        """A checked state. q and u: arrays, or mappings from names to values that change the defaults."""
        default_q, default_u = system.defaults()
        return cls(system, _time(t), _values("q", q, default_q, system.coordinates, "coordinate", system),
                   _values("u", u, default_u, system.speeds, "speed", system),
                   system.speed_names(locked), system.force_names(disabled), {})

    def replace(self, **changes: Any) -> State:
        """A new State with other values: t, q, u (arrays, or mappings that change some names), locked, disabled."""
        for name in changes:
            if name not in INVALIDATES:
                raise UnknownNameError("variable of a State", name, INVALIDATES)
        system = self.system
        first = min((INVALIDATES[name] for name in changes), default=Stage.ACCELERATION + 1)
        kept = {key: result for key, result in self._results.items() if result[0] < first}
        return State(
            system,
            _time(changes["t"]) if "t" in changes else self.t,
            _values("q", changes["q"], self.q, system.coordinates, "coordinate", system) if "q" in changes else self.q,
            _values("u", changes["u"], self.u, system.speeds, "speed", system) if "u" in changes else self.u,
            system.speed_names(changes["locked"]) if "locked" in changes else self.locked,
            system.force_names(changes["disabled"]) if "disabled" in changes else self.disabled, kept)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a State never changes: use state.replace({name}=...) for a new one")

    def __reduce__(self) -> tuple[Any, ...]:
        return State.of, (self.system, self.t, self.q, self.u, tuple(self.locked), tuple(self.disabled))

    def __repr__(self) -> str:
        extra = "".join(f", {n} {sorted(v)}" for n, v in (("locked", self.locked), ("disabled", self.disabled)) if v)
        return f"State(t={self.t:g}, nq={len(self.q)}, nu={len(self.u)}{extra}, {self.stage.name})"

    @property
    def stage(self) -> Stage:
        """The latest stage of which some result is known."""
        return max((stage for stage, _ in self._results.values()), default=Stage.INSTANCE)

    def _result(self, stage: Stage, name: str, *arguments: np.ndarray, which: str | None = None) -> Any:
        """The result of an operator, computed at most once while it is valid."""
        key = (name, which, *(a.tobytes() for a in arguments if a is not self.q and a is not self.u))
        if key not in self._results:
            function = self.system.function(name, which)
            self.system.evaluations[name] += 1
            result = function.fast(*arguments, self._tail)
            for array in result if isinstance(result, tuple) else (result,):
                array.flags.writeable = False
            self._results[key] = stage, result
        return self._results[key][1]

    @property
    def qdot(self) -> np.ndarray:
        """Rates of the coordinates, shape (nq,)."""
        return self._result(Stage.VELOCITY, "qdot", self.q, self.u)

    @property
    def udot(self) -> np.ndarray:
        """Accelerations under the enabled forces alone, shape (nu,)."""
        return self.forward_dynamics()

    def forward_dynamics(self, tau: Any = None) -> np.ndarray:
        """udot, shape (nu,), with generalised forces tau added."""
        tau = self.system.no_tau if tau is None else _vector("tau", tau, len(self.u))
        return self._result(Stage.ACCELERATION, "forward_dynamics", self.q, self.u, tau)

    def inverse_dynamics(self, udot: Any) -> np.ndarray:
        """tau, shape (nu,), that must be added to the enabled forces for udot to happen."""
        return self._result(Stage.FORCE, "inverse_dynamics", self.q, self.u, _vector("udot", udot, len(self.u)))

    def mass_matrix(self) -> np.ndarray:
        """M(q), shape (nu, nu)."""
        n = len(self.u)
        return self._result(Stage.POSITION, "mass_matrix", self.q).reshape(n, n)

    def solve_mass_matrix(self, f: Any) -> np.ndarray:
        """M^-1 f, shape (nu,)."""
        return self._result(Stage.ACCELERATION, "solve_mass_matrix", self.q, _vector("f", f, len(self.u)))

    def body_pose(self, body: Body | str) -> Transform:
        """X_GB, in ground."""
        which = self.system.body(body)
        if which.is_ground:
            return Transform()
        X = self._result(Stage.POSITION, "poses", self.q)[12 * which.index:12 * which.index + 12]
        return Transform.unchecked(X[:9].reshape(3, 3), X[9:])

    def body_velocity(self, body: Body | str) -> np.ndarray:
        """(6,) angular first, of the body's origin, in ground [rad/s, m/s]."""
        return self._part(Stage.VELOCITY, "velocities", body, self.q, self.u)

    def reactions(self, body: Body | str) -> np.ndarray:
        """(6,) moment and force of the body's mobilizer on it, at M, in ground [N m, N], at this state's udot."""
        return self._part(Stage.ACCELERATION, "reactions", body, self.q, self.u, self.udot)

    def _part(self, stage: Stage, name: str, body: Body | str, *arguments: np.ndarray) -> np.ndarray:
        which = self.system.body(body)
        if which.is_ground:
            return np.zeros(6)
        return self._result(stage, name, *arguments)[6 * which.index:6 * which.index + 6]

    def station_jacobian(self, body: Body | str, station: Any) -> np.ndarray:
        """(3, nu): the velocity of a point fixed on the body, in ground, is J u."""
        which = self.system.body(body)
        if which.is_ground:
            return np.zeros((3, len(self.u)))
        J = self._result(Stage.POSITION, "station_jacobian", self.q, _vector("station", station, 3), which=which.name)
        return J.reshape(3, -1)

    def energy(self) -> tuple[float, float]:
        """Kinetic and potential energy [J]."""
        kinetic, potential = self._result(Stage.FORCE, "energy", self.q, self.u)
        return float(kinetic[0]), float(potential[0])


def _time(t: Any) -> float:
    if not np.isscalar(t) and np.shape(t) != () or not np.isfinite(float(t)):
        raise ShapeError(f"t: expected one finite number [s], got {t!r}")
    return float(t)


def _vector(name: str, value: Any, size: int) -> np.ndarray:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{name}: expected {size} numbers, got {value!r}") from error
    if array.shape != (size,):
        raise ShapeError(f"{name}: expected shape ({size},), got {array.shape}")
    return array


def _values(name: str, value: Any, current: np.ndarray, names: tuple[str, ...], kind: str, system: System) -> np.ndarray:
    """Checked values: an array, or a mapping that changes `current`."""
    if value is None:
        array = current.copy()
    elif isinstance(value, Mapping):
        array = current.copy()
        for key, x in value.items():
            if key not in names:
                raise UnknownNameError(kind, key, names)
            array[names.index(key)] = _vector(f"{kind} {key!r}", [x], 1)[0]
    else:
        array = _vector(name, value, len(names))
    for i in np.flatnonzero(~np.isfinite(array)):
        raise ShapeError(f"{name}: {kind} {names[i]!r} is {array[i]}; it must be a finite number")
    if name == "q":
        system.check_coordinates(array)
    return array


