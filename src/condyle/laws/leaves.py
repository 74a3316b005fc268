"""Leaf: a quantity of the state for laws. One class per quantity, which defines it completely.

A leaf x defines

    value    x                                                                               (1)
    rate     xdot; of a velocity, its value at udot = 0                                      (2)
    bias     xddot at udot = 0; of a velocity, nothing                                       (3)
    load     where a force g on the leaf goes, with the power g . xdot                       (4)

Forces and potentials need (1) and (4), constraints, goals and events others too. All values are CasADi SX and
differentiable. A new quantity is one subclass, which any law may use by `s.ask(leaf)`; one that is a function
of other leaves is a `Composed` leaf and gets (2) to (4) automatically.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError, UnknownNameError
from condyle.laws.described import known_body, owner, speed_named, sx, text
from condyle.laws.view import Loads, MovingView, View
from condyle.native.tables.lookup import Closure, current_context, lookup_context
from condyle.records import dataclass
from condyle.spatial import rotation_from_quaternion
from condyle.trace.parameter import Discrete, Expression, Input, Parameter
from condyle.tree.tree import Tree

ROWS = "rows of "
"""Begins the names by which views know rows."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """A quantity of the state.

    Attributes:
        size: how many scalars it has.
        level: "position", "velocity" or "acceleration", which it is of; "state" of z; "time" and "given" move
            nothing.
        bodies: names of the bodies that a force on it acts on as a wrench.
    """

    size: ClassVar[int] = 1
    level: ClassVar[str] = "position"

    @property
    def bodies(self) -> tuple[str, ...]:
        return ()

    @property
    def label(self) -> str:
        """How errors call it."""
        raise TypeError(f"{type(self).__name__} needs a label")

    @property
    def text(self) -> str:
        """Equal leaves have equal texts."""
        return self.label

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def labels(self) -> list[str]:
        """How errors call its scalars."""
        return [self.label] if self.size == 1 else [f"{self.label}[{i}]" for i in range(self.size)]

    def ranges(self, rng: np.random.Generator) -> list[tuple[float, float]]:
        """Where a user's function of it is compared with plain floats."""
        return [(-1.0, 1.0)] * self.size

    def parameters(self) -> list[Parameter]:
        """Parameters and Inputs that it brings along."""
        return []

    def check(self, tree: Tree, where: str) -> None:
        """Raise a clear error if what it names does not exist."""
        for body in self.bodies:
            known_body(tree, body, where)

    def shaped(self, x: SX) -> SX:
        """Its scalars, a column, as laws take them."""
        return x

    def value(self, s: View) -> SX:
        """(1), a column; of an acceleration its value at udot = 0."""
        raise TypeError(f"{type(self).__name__} needs a value")

    def at(self, s: View) -> SX:
        """The value, made once per view: all laws that ask share it."""
        if self.text not in s.known:
            s.known[self.text] = self.value(s)
        return s.known[self.text]

    def rate(self, s: View) -> SX:
        """(2), a column; of a velocity it needs a MovingView. Zero by default."""
        return ca.SX(self.size, 1)

    def bias(self, s: MovingView) -> SX:
        """(3), a column. Zero by default."""
        return ca.SX(self.size, 1)

    def load(self, s: View, g: SX, loads: Loads) -> None:
        """(4): add the force g, one column per case, shape (size, k). Nothing by default."""


class _Closures(dict[str, Closure]):
    """Closures by name, each created on first use in the trace that began here."""

    def __init__(self, make: Mapping[str, Callable[[], Closure]]) -> None:
        super().__init__()
        self._make, self._context = make, current_context()

    def __missing__(self, name: str) -> Closure:
        with lookup_context(self._context):
            self[name] = self._make[name]()
        return self[name]


class Composed(Leaf):
    """A leaf that is a function of other leaves of position level: x = f(y). Write `parts` and `of`.

        xdot = f_y ydot,    xddot = f_y yddot + (f_y ydot)_y ydot,    a force g on x is f_y' g on y        (5)

    Where f holds look-ups or solvers, their rows come from `rows` and are an argument of `of`: they are found
    once for (1) to
    (4), and derivatives take them as constants.
    """

    @property
    def parts(self) -> Sequence[Leaf]:
        """The leaves y."""
        raise TypeError(f"{type(self).__name__} needs parts")

    def rows(self, *y: SX) -> SX:
        """Rows of look-ups and solvers at the shaped values of the parts, a column. None by default."""
        return ca.SX(0, 1)

    def expression(self, *y: SX) -> SX:
        """f, a column, of the shaped values of the parts, after the rows where there are some."""
        raise TypeError(f"{type(self).__name__} needs a function `of` its parts")

    @property
    def bodies(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(b for part in self.parts for b in part.bodies))

    @property
    def text(self) -> str:
        return f"{self.label} {[part.text for part in self.parts]}"

    def parameters(self) -> list[Parameter]:
        return [p for part in self.parts for p in part.parameters()]

    def check(self, tree: Tree, where: str) -> None:
        for part in self.parts:
            part.check(tree, where)

    @cached_property
    @lookup_context()
    def _functions(self) -> Mapping[str, Closure]:
        """y -> rows; rows, y -> x; rows, y, ydot -> xdot; rows, y, ydot, yddot -> xddot; rows, y -> f_y by
        part. Each is created on first use."""
        parts = self.parts
        y, ydot, yddot = (
            [ca.SX.sym(f"{n}{i}", p.size) for i, p in enumerate(parts)] for n in ("y", "dy", "ddy")
        )
        shaped = [p.shaped(v) for p, v in zip(parts, y, strict=True)]
        found = ca.densify(self.rows(*shaped))
        rows = ca.SX.sym("rows", found.numel())
        x = ca.densify(self.expression(*([rows] if rows.numel() else []), *shaped))
        at, rate, bias = (ca.vertcat(*v) for v in (y, ydot, yddot))
        given = [rows, *y]

        def second() -> SX:
            return ca.jtimes(x, at, bias) + ca.jtimes(ca.jtimes(x, at, rate), at, rate)

        return _Closures(
            {
                "rows": lambda: Closure("composed_rows", y, [found]),
                "value": lambda: Closure("composed", given, [x]),
                "rate": lambda: Closure("composed_rate", [*given, *ydot], [ca.jtimes(x, at, rate)]),
                "bias": lambda: Closure("composed_bias", [*given, *ydot, *yddot], [second()]),
                "gradient": lambda: Closure(
                    "composed_gradient", given, [ca.densify(ca.jacobian(x, v)) for v in y]
                ),
            }
        )

    @cached_property
    def row_size(self) -> int:
        """How many numbers the rows have."""
        return int(self._functions["rows"].function.numel_out(0))

    def take(self, s: View, rows: SX) -> None:
        """Let a view know the rows, which were found before."""
        s.known[ROWS + self.text] = rows

    def found(self, s: View) -> SX:
        """The rows, found once per view, shape (row_size,)."""
        name = ROWS + self.text
        if name not in s.known:
            s.known[name] = self._functions["rows"](*(part.at(s) for part in self.parts))[0]
        return s.known[name]

    def _given(self, s: View) -> list[SX]:
        """The rows and the parts."""
        return [self.found(s), *(part.at(s) for part in self.parts)]

    def gradient(self, s: View) -> list[tuple[Leaf, SX]]:
        """Its parts, each with f_y, shape (size, size of the part)."""
        return list(zip(self.parts, self._functions["gradient"](*self._given(s)), strict=True))

    def value(self, s: View) -> SX:
        return self._functions["value"](*self._given(s))[0]

    def rate(self, s: View) -> SX:
        return self._functions["rate"](*self._given(s), *(part.rate(s) for part in self.parts))[0]

    def bias(self, s: MovingView) -> SX:
        rates, biases = [part.rate(s) for part in self.parts], [part.bias(s) for part in self.parts]
        return self._functions["bias"](*self._given(s), *rates, *biases)[0]

    def load(self, s: View, g: SX, loads: Loads) -> None:
        for part, J in self.gradient(s):
            part.load(s, J.T @ g, loads)


# ---- leaves ----------------------------------------------------------------------------------------------
#
# The quantities that laws ask of a state, one class each: condyle.laws.leaves.


@dataclass(frozen=True, eq=False)
class Time(Leaf):
    """t [s]."""

    level = "time"

    @property
    def label(self) -> str:
        return "s.t"

    def ranges(self, rng: np.random.Generator) -> list[tuple[float, float]]:
        return [(0.0, 1.0)]

    def value(self, s: View) -> SX:
        return s.t

    def rate(self, s: View) -> SX:
        return ca.SX(1)


@dataclass(frozen=True, eq=False)
class CoordinateValue(Leaf):
    """A coordinate by its name [rad, m]."""

    name: str

    @property
    def label(self) -> str:
        return f"s.q({self.name!r})"

    def check(self, tree: Tree, where: str) -> None:
        owner(tree, self.name, where)

    def value(self, s: View) -> SX:
        return s.coordinate(self.name)

    def rate(self, s: View) -> SX:
        return s.coordinate_rate(self.name)

    def bias(self, s: MovingView) -> SX:
        return s.coordinate_bias(self.name)

    def load(self, s: View, g: SX, loads: Loads) -> None:
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

    def load(self, s: View, g: SX, loads: Loads) -> None:
        loads.add_mobility(speed_named(s.tree, self.name, self.label), g)


@dataclass(frozen=True, eq=False)
class SpeedValue(_OfSpeed):
    """A speed by its name, or that of the coordinate whose rate it is [rad/s, m/s]."""

    level = "velocity"

    @property
    def label(self) -> str:
        return f"s.u({self.name!r})"

    def value(self, s: View) -> SX:
        return s.speed(speed_named(s.tree, self.name, self.label))


@dataclass(frozen=True, eq=False)
class SpeedRate(_OfSpeed):
    """The rate of a speed [rad/s^2, m/s^2]."""

    level = "acceleration"

    @property
    def label(self) -> str:
        return f"s.udot({self.name!r})"

    @property
    def velocity(self) -> SpeedValue:
        """What it is the rate of."""
        return SpeedValue(self.name)

    def value(self, s: View) -> SX:
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

    def value(self, s: View) -> SX:
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

    def value(self, s: View) -> SX:
        return s.state_named(self.name)

    def at(self, s: View) -> SX:
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

    def load(self, s: View, g: SX, loads: Loads) -> None:
        loads.add_force(self.body, sx(self.station), g)


class StationPosition(_OfStation):
    """Position of a point of a body in ground [m]."""

    @property
    def label(self) -> str:
        return f"s.station_position({self.body!r})"

    def value(self, s: View) -> SX:
        return s.station_position(self.body, sx(self.station))

    def rate(self, s: View) -> SX:
        return s.station_velocity(self.body, sx(self.station))

    def bias(self, s: MovingView) -> SX:
        return s.station_bias(self.body, sx(self.station))


class StationVelocity(_OfStation):
    """Velocity of a point of a body [m/s]."""

    level = "velocity"

    @property
    def label(self) -> str:
        return f"s.station_velocity({self.body!r})"

    def value(self, s: View) -> SX:
        return s.station_velocity(self.body, sx(self.station))

    def rate(self, s: View) -> SX:
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

    def value(self, s: View) -> SX:
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

    def shaped(self, x: SX) -> SX:
        return ca.reshape(x, 3, 3).T

    def value(self, s: View) -> SX:
        return ca.vec(s.rotation(self.body).T)

    def rate(self, s: View) -> SX:
        return ca.vec((ca.skew(s.angular_velocity(self.body)) @ s.rotation(self.body)).T)

    def bias(self, s: MovingView) -> SX:
        w, alpha = ca.skew(s.angular_velocity(self.body)), ca.skew(s.angular_bias(self.body))
        return ca.vec(((alpha + w @ w) @ s.rotation(self.body)).T)

    def load(self, s: View, g: SX, loads: Loads) -> None:
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

    def value(self, s: View) -> SX:
        return s.angular_velocity(self.body)

    def rate(self, s: View) -> SX:
        return s.angular_bias(self.body)  # type: ignore[attr-defined]

    def load(self, s: View, g: SX, loads: Loads) -> None:
        loads.add_torque(self.body, g)


class Reaction(_OfBody):
    """What the mobilizer exerts on the body at M, in ground: moment [N m], then force [N]. It follows from all
    that acts, the law that asks included: condyle.model.reactions."""

    size = 6
    level = "reaction"

    @property
    def label(self) -> str:
        return f"s.reaction({self.body!r})"

    def check(self, tree: Tree, where: str) -> None:
        known_body(tree, self.body, where)
        if self.body == "ground":
            raise DescriptionError(f"{where}: asks for {self.label}, but no joint carries ground")

    def value(self, s: View) -> SX:
        return s.reaction(self.body)


class AngularAcceleration(_OfBody):
    """Angular acceleration of a body [rad/s^2]."""

    level = "acceleration"

    @property
    def label(self) -> str:
        return f"s.angular_acceleration({self.body!r})"

    @property
    def velocity(self) -> AngularVelocity:
        return AngularVelocity(self.body)

    def value(self, s: View) -> SX:
        return s.angular_bias(self.body)  # type: ignore[attr-defined]

    def load(self, s: View, g: SX, loads: Loads) -> None:
        loads.add_torque(self.body, g)
