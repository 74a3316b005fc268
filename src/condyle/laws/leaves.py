"""The quantities that laws ask of a state, one class each: condyle.laws.leaf."""

from __future__ import annotations

from typing import Any, ClassVar

import casadi as ca
import numpy as np

from condyle.errors import UnknownNameError
from condyle.laws.described import sx, text
from condyle.laws.leaf import Leaf
from condyle.laws.names import owner, speed_named
from condyle.laws.view import Loads, MovingView, View
from condyle.records import dataclass
from condyle.spatial import rotation_from_quaternion
from condyle.trace.parameter import Discrete, Expression, Input, Parameter
from condyle.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Time(Leaf):
    """t [s]."""

    level = "time"

    @property
    def label(self) -> str:
        return "s.t"

    def ranges(self, rng: np.random.Generator) -> list[tuple[float, float]]:
        return [(0.0, 1.0)]

    def value(self, s: View) -> ca.SX:
        return s.t

    def rate(self, s: View) -> ca.SX:
        return ca.SX(1)


@dataclass(frozen=True, eq=False)
class Coordinate(Leaf):
    """A coordinate by its name [rad, m]."""

    name: str

    @property
    def label(self) -> str:
        return f"s.q({self.name!r})"

    def check(self, tree: Tree, where: str) -> None:
        owner(tree, self.name, where)

    def value(self, s: View) -> ca.SX:
        return s.coordinate(self.name)

    def rate(self, s: View) -> ca.SX:
        return s.coordinate_rate(self.name)

    def bias(self, s: MovingView) -> ca.SX:
        return s.coordinate_bias(self.name)

    def load(self, s: View, g: ca.SX, loads: Loads) -> None:
        body, j = owner(s.tree, self.name, self.label)
        N = body.mobilizer.N(ca.vertcat(*(s.coordinate(c.name) for c in body.coordinates)))
        for k, speed in enumerate(body.speeds):
            if ca.sparsify(N[j, k]).nnz():
                loads.add_mobility(speed, N[j, k] * g)  # N' g


@dataclass(frozen=True, eq=False)
class _OfSpeed(Leaf):
    name: str

    def check(self, tree: Tree, where: str) -> None:
        speed_named(tree, self.name, where)

    def load(self, s: View, g: ca.SX, loads: Loads) -> None:
        loads.add_mobility(speed_named(s.tree, self.name, self.label), g)


@dataclass(frozen=True, eq=False)
class Speed(_OfSpeed):
    """A speed by its name, or that of the coordinate whose rate it is [rad/s, m/s]."""

    level = "velocity"

    @property
    def label(self) -> str:
        return f"s.u({self.name!r})"

    def value(self, s: View) -> ca.SX:
        return s.speed(speed_named(s.tree, self.name, self.label))


@dataclass(frozen=True, eq=False)
class SpeedRate(_OfSpeed):
    """The rate of a speed [rad/s^2, m/s^2]."""

    level = "acceleration"

    @property
    def label(self) -> str:
        return f"s.udot({self.name!r})"

    @property
    def velocity(self) -> Speed:
        """What it is the rate of."""
        return Speed(self.name)

    def value(self, s: View) -> ca.SX:
        return ca.SX(1, 1)


@dataclass(frozen=True, eq=False)
class _Given(Leaf):
    name: str
    default: float | None = None

    level = "given"
    kind: ClassVar[type[Parameter]] = Parameter
    accessor: ClassVar[str] = "parameter"

    @property
    def label(self) -> str:
        return f"s.{self.accessor}({self.name!r})"

    @property
    def text(self) -> str:
        return f"{self.label} {self.default!r}"

    def ranges(self, rng: np.random.Generator) -> list[tuple[float, float]]:
        if self.default is None:
            return super().ranges(rng)
        spread = 0.1 * abs(self.default)
        return [(self.default - spread, self.default + spread)]

    def parameters(self) -> list[Parameter]:
        return [] if self.default is None else [self.kind(self.name, self.default)]

    def _known(self, tree: Tree) -> Any:
        return {Input: tree.inputs, Discrete: tree.discrete}.get(self.kind, tree.parameters)

    def check(self, tree: Tree, where: str) -> None:
        known = self._known(tree).names
        if self.default is None and self.name not in known:
            raise UnknownNameError(
                self.kind.kind,
                self.name,
                known,
                f"{where}; a new one needs a default: s.{self.accessor}({self.name!r}, 1.0)",
            )

    def value(self, s: View) -> ca.SX:
        return next(p.sx for p in self._known(s.tree) if p.name == self.name)


class GivenParameter(_Given):
    """A parameter of the system."""


class GivenInput(_Given):
    """An input of the system."""

    kind = Input
    accessor = "input"


class GivenDiscrete(_Given):
    """A discrete variable of the system."""

    kind = Discrete
    accessor = "discrete"


@dataclass(frozen=True, eq=False)
class StateVariable(Leaf):
    """An auxiliary state z: one of the law's own by its own name, any by its full name,
    "muscle.activation"."""

    name: str

    level = "state"

    @property
    def label(self) -> str:
        return f"s.z({self.name!r})"

    def value(self, s: View) -> ca.SX:
        return s.state_named(self.name)

    def at(self, s: View) -> ca.SX:
        # one name is another state in each law: nothing to share
        return self.value(s)


@dataclass(frozen=True, eq=False)
class _OfBody(Leaf):
    body: str

    size = 3

    @property
    def bodies(self) -> tuple[str, ...]:
        return (self.body,)


@dataclass(frozen=True, eq=False)
class _OfStation(_OfBody):
    station: Any = (0.0, 0.0, 0.0)

    @property
    def text(self) -> str:
        return f"{self.label} {text(self.station)}"

    def parameters(self) -> list[Parameter]:
        return list(self.station.parameters) if isinstance(self.station, Expression) else []  # type: ignore[arg-type]

    def load(self, s: View, g: ca.SX, loads: Loads) -> None:
        loads.add_force(self.body, sx(self.station), g)


class StationPosition(_OfStation):
    """Position of a point of a body in ground [m]."""

    @property
    def label(self) -> str:
        return f"s.station_position({self.body!r})"

    def value(self, s: View) -> ca.SX:
        return s.station_position(self.body, sx(self.station))

    def rate(self, s: View) -> ca.SX:
        return s.station_velocity(self.body, sx(self.station))

    def bias(self, s: MovingView) -> ca.SX:
        return s.station_bias(self.body, sx(self.station))


class StationVelocity(_OfStation):
    """Velocity of a point of a body [m/s]."""

    level = "velocity"

    @property
    def label(self) -> str:
        return f"s.station_velocity({self.body!r})"

    def value(self, s: View) -> ca.SX:
        return s.station_velocity(self.body, sx(self.station))

    def rate(self, s: View) -> ca.SX:
        return s.station_bias(self.body, sx(self.station))  # type: ignore[attr-defined]


class StationAcceleration(_OfStation):
    """Acceleration of a point of a body [m/s^2]."""

    level = "acceleration"

    @property
    def label(self) -> str:
        return f"s.station_acceleration({self.body!r})"

    @property
    def velocity(self) -> StationVelocity:
        return StationVelocity(self.body, self.station)

    def value(self, s: View) -> ca.SX:
        return s.station_bias(self.body, sx(self.station))  # type: ignore[attr-defined]


class Rotation(_OfBody):
    """R_GB, row by row."""

    size = 9

    @property
    def label(self) -> str:
        return f"s.rotation({self.body!r})"

    def ranges(self, rng: np.random.Generator) -> list[tuple[float, float]]:
        q = rng.normal(size=4)
        return [(r, r) for r in rotation_from_quaternion(q / np.linalg.norm(q)).ravel().tolist()]

    def shaped(self, x: ca.SX) -> ca.SX:
        return ca.reshape(x, 3, 3).T

    def value(self, s: View) -> ca.SX:
        return ca.vec(s.rotation(self.body).T)

    def rate(self, s: View) -> ca.SX:
        return ca.vec((ca.skew(s.angular_velocity(self.body)) @ s.rotation(self.body)).T)

    def bias(self, s: MovingView) -> ca.SX:
        w, alpha = ca.skew(s.angular_velocity(self.body)), ca.skew(s.angular_bias(self.body))
        return ca.vec(((alpha + w @ w) @ s.rotation(self.body)).T)

    def load(self, s: View, g: ca.SX, loads: Loads) -> None:
        R = s.rotation(self.body)
        # sum of r_i x g_i
        torque = sum((ca.skew(R[:, i]) @ g[i::3, :] for i in range(3)), ca.SX(3, g.shape[1]))
        loads.add_torque(self.body, torque)


class AngularVelocity(_OfBody):
    """w_GB [rad/s]."""

    level = "velocity"

    @property
    def label(self) -> str:
        return f"s.angular_velocity({self.body!r})"

    def value(self, s: View) -> ca.SX:
        return s.angular_velocity(self.body)

    def rate(self, s: View) -> ca.SX:
        return s.angular_bias(self.body)  # type: ignore[attr-defined]

    def load(self, s: View, g: ca.SX, loads: Loads) -> None:
        loads.add_torque(self.body, g)


class AngularAcceleration(_OfBody):
    """Angular acceleration of a body [rad/s^2]."""

    level = "acceleration"

    @property
    def label(self) -> str:
        return f"s.angular_acceleration({self.body!r})"

    @property
    def velocity(self) -> AngularVelocity:
        return AngularVelocity(self.body)

    def value(self, s: View) -> ca.SX:
        return s.angular_bias(self.body)  # type: ignore[attr-defined]

    def load(self, s: View, g: ca.SX, loads: Loads) -> None:
        loads.add_torque(self.body, g)
