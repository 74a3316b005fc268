"""Custom laws in Python: Custom returns forces, Potential an energy: docs/theory/forces.md
(23)-(26).

    def drag(s):
        return {"foot": cd.Wrench(force=-c * s.station_velocity("foot", p), at=p)}

    system.add_force("drag", cd.forces.Custom(drag))

The function is called with `s` (condyle.laws.ask.AskedState), traced once, compared with plain floats and
kept as an
expression: it runs as machine code, pickles without the function, and has exact derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, Self

import casadi as ca
import numpy as np

from condyle.arguments import ExplainsCalls
from condyle.arrays import SX, in_order, vertcat
from condyle.errors import DescriptionError, TraceError, UnknownNameError
from condyle.forces.base import Law
from condyle.laws.ask import AskedForces, AskedState, answers, check_function, traced_law
from condyle.laws.described import body_name, known_body, speed_named
from condyle.laws.factors import OWN_FUNCTION, BodyFactors
from condyle.laws.leaves import Leaf, Reaction
from condyle.laws.view import Loads, View
from condyle.native.tables.lookup import Closure
from condyle.records import assign, dataclass
from condyle.trace import Number, Numbers, Traced
from condyle.trace.parameter import Parameter
from condyle.tree.body import Body
from condyle.tree.tree import Tree

ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Wrench(ExplainsCalls):
    """A force and a torque on a body, as Custom's functions return them.

    Args:
        force: force on the body, in ground [N], shape (3,).
        torque: torque on the body, in ground [N m], shape (3,).
        at: the point of the body where the force acts, in its frame [m], shape (3,).
    """

    force: Numbers = ZERO
    torque: Numbers = ZERO
    at: Numbers = ZERO

    def entries(self, what: str) -> list[Number]:
        """The nine scalars of force, torque and at."""
        out: list[Number] = []
        for name in ("force", "torque", "at"):
            value = in_order(f"{what}: {name}", getattr(self, name))
            array = np.array(list(value) if np.iterable(value) else value, dtype=object)
            if array.shape != (3,):
                raise TraceError(f"{what}: {name} of a cd.Wrench must have shape (3,), got {value!r}")
            out += array.tolist()
        return out


@dataclass(frozen=True, eq=False, repr=False)
class UserForce(Law):
    """A law from a user's function: the function itself is not pickled; what it computes is."""

    function: Callable[[AskedForces], object] | None
    law: Traced = field(init=False, repr=False)
    asks: tuple[Leaf, ...] = field(init=False, repr=False)

    @property
    def what(self) -> str:
        """How errors name it."""
        if self.function is None and "law" in vars(self):
            return self.law.what
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"{type(self).__name__}({'lambda' if name == '<lambda>' else name})"

    def check(self, tree: Tree) -> None:
        for ask in self.asks:
            ask.check(tree, self.what)

    def scaled(self, factors: BodyFactors) -> Self:
        factors.notes.append(OWN_FUNCTION)
        return self

    @property
    def reactions(self) -> tuple[str, ...]:
        return tuple(ask.body for ask in self.asks if isinstance(ask, Reaction))

    def parameters(self) -> list[Parameter]:
        return [p for ask in self.asks for p in ask.parameters()] + list(self.law.outside)  # type: ignore[arg-type]

    def description(self) -> str:
        return f"{type(self).__name__}({[ask.text for ask in self.asks]}, {self.law.text}, {self.group})"

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"function": None}

    def __repr__(self) -> str:
        return self.what


@dataclass(frozen=True, eq=False, repr=False)
class Custom(UserForce):
    """Forces that a Python function computes.

    Args:
        function: f(s) -> a dict from bodies (or their names) to `cd.Wrench`, or lists of these, and from
            speeds (or the coordinates whose rates they are) to generalized forces [N m, N]. `s` has the
            accessors of a State: s.t, s.q("knee"), s.u("knee"), s.station_position("foot", p),
            s.station_velocity, s.body_pose, s.body_velocity, s.angular_velocity, s.parameter("c", 2.0),
            s.input("wind", 0.0), s.discrete("gear", 1.0), s.z("activation"), and s.reaction("foot"), the
            joint reaction on a body, solved together with the accelerations. The function may use
            cd.Parameters.
        states: the law's auxiliary states z with their initial values, {"activation": 0.05}. In a
            System they are named FORCE.STATE, "muscle.activation".
        zdot: f(s) -> a dict from the names of the states to their rates [1/s].
        group: external by default.
    """

    other_names = ("Function",)

    targets: tuple[tuple[str, str], ...] = field(init=False, repr=False)
    states: Mapping[str, float] | tuple[tuple[str, float], ...] = field(  # type: ignore[assignment]
        default=(), kw_only=True, repr=False
    )
    zdot: Callable[[AskedForces], object] | None = field(default=None, kw_only=True, repr=False)
    group: str = field(default="external", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        states = _states(self.states, self.zdot, self.what)
        assign(self, states=states)
        seen: list[tuple[tuple[str, str], ...]] = []

        def both(s: AskedForces) -> Any:
            return self.function(s), self.zdot(s) if self.zdot is not None else {}  # type: ignore[misc]

        def flatten(result: Any) -> list[Any]:
            targets, entries = _flat(result[0], self.what)
            entries += _rates(result[1], [name for name, _ in states], self.what)
            if seen and targets != seen[0]:
                raise TraceError(
                    f"{self.what}: returned forces on {_names(seen[0])} first and on "
                    f"{_names(targets)} later; what it acts on must not depend on values"
                )
            seen.append(targets)
            return entries

        check_function(self.function, self.what)
        law, asks = traced_law(both, self.what, flatten, AskedForces, self.function)
        assign(self, law=law, asks=asks, targets=seen[0])

    def check(self, tree: Tree) -> None:
        super().check(tree)
        for kind, target in self.targets:
            if kind == "body":
                known_body(tree, target, self.what)
            else:
                if target not in (*tree.coordinates, *tree.speeds):
                    raise UnknownNameError(
                        "coordinate, speed or body",
                        target,
                        dict.fromkeys((*tree.coordinates, *tree.speeds, *(b.name for b in tree.bodies))),
                        self.what,
                    )
                speed_named(tree, target, self.what)

    def apply(self, s: View, loads: Loads) -> None:
        values = ca.vertsplit(self.law.apply(*answers(self.asks, s)))
        start = 0
        for kind, target in self.targets:
            if kind == "speed":
                loads.add_mobility(speed_named(s.tree, target, self.what), values[start])  # (23)
                start += 1
                continue
            force, torque, at = (
                ca.sparsify(ca.vertcat(*values[start + i : start + i + 3])) for i in (0, 3, 6)
            )
            loads.add_force(target, at, force)  # (23)
            loads.add_torque(target, torque)
            start += 9

    def rates(self, s: View) -> list[SX]:
        values = ca.vertsplit(self.law.apply(*answers(self.asks, s)))
        return values[len(values) - len(self.states) :]

    def description(self) -> str:
        return f"{super().description()} on {self.targets} with {self.states}"

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"zdot": None}


def _states(given: Any, zdot: Any, what: str) -> tuple[tuple[str, float], ...]:
    """Names and initial values of a law's own states."""
    if not isinstance(given, Mapping):
        if given:
            raise DescriptionError(
                f"{what}: states must be a dict from names to initial values, as {{'activation': 0.05}}, got "
                f"{given!r}"
            )
        given = {}
    if bool(given) != (zdot is not None):
        raise DescriptionError(
            f"{what}: states and zdot belong together: states={{'activation': 0.05}} and zdot=f with f(s) -> "
            "{'activation': rate}"
        )
    if zdot is not None:
        check_function(zdot, f"{what}: zdot")
    return tuple(
        (Parameter(name, value).name, Parameter(name, value).default) for name, value in given.items()
    )


def _rates(result: Any, names: list[str], what: str) -> list[Any]:
    """What zdot returned, in the order of the states."""
    if not isinstance(result, Mapping) or set(result) != set(names):
        raise TraceError(
            f"{what}: zdot returned {result!r}; expected a dict with a rate for each of "
            f"{', '.join(map(repr, names))}"
        )
    for name, rate in result.items():
        if rate is None or isinstance(rate, (str, AskedState)) or np.ndim(rate):
            raise TraceError(f"{what}: zdot returned {rate!r} for {name!r}; expected one number")
    return [result[name] for name in names]


def _flat(result: Any, what: str) -> tuple[tuple[tuple[str, str], ...], list[Any]]:
    """What a Custom function acts on, ("body" or "speed", name), and all scalars in that order."""
    if not isinstance(result, Mapping):
        raise TraceError(
            f"{what}: returned {result!r}; expected a dict such as {{'foot': cd.Wrench(force=f, at=p)}} or "
            "{'knee': tau}" + ("; is a return statement missing?" if result is None else "")
        )
    targets: list[tuple[str, str]] = []
    entries: list[Any] = []
    for key, value in result.items():
        wrenches = list(value) if isinstance(value, (list, tuple)) else [value]
        if wrenches and all(isinstance(w, Wrench) for w in wrenches):
            for wrench in wrenches:
                targets.append(("body", body_name(key, what)))
                entries += wrench.entries(f"{what}: {key!r}")
        elif (
            isinstance(key, Body)
            or value is None
            or isinstance(value, (dict, str, AskedState))
            or np.ndim(value)
        ):
            raise TraceError(
                f"{what}: for {key!r} it returned {value!r}; expected cd.Wrench(force=..., "
                "torque=..., at=...) for a body, one number for a speed"
            )
        else:
            targets.append(("speed", body_name(key, what)))
            entries.append(value)
    return tuple(targets), entries


def _names(targets: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(repr(name) for _, name in targets) or "nothing"


@dataclass(frozen=True, eq=False, repr=False)
class Potential(UserForce):
    """Forces from a potential energy that a Python function computes, by automatic differentiation.

        force at a station: -dV/dp                                                           (24)
        torque: -sum over columns r_i of R_GB of r_i x dV/dr_i                               (25)
        generalized force on the speeds of a body: -N' dV/dq                                 (26)

    Args:
        function: f(s) -> energy [J] of positions: s.q("knee"), s.station_position("foot", p),
            s.body_pose("foot"), s.rotation; also s.t, s.parameter and s.input. Speeds and velocities raise an
            error.
        group: passive by default.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        law, asks = traced_law(self.function, self.what, self._one)
        for ask in asks:
            if ask.level in ("velocity", "state", "reaction"):
                raise DescriptionError(
                    f"{self.what}: asks for {ask.labels()[0]}, but an energy depends on "
                    "positions only; for forces that depend on velocities use "
                    "cd.forces.Custom"
                )
        assign(self, law=law, asks=asks)

    def _one(self, energy: Any) -> list[Any]:
        if energy is None or isinstance(energy, (str, Mapping, AskedState)) or np.ndim(energy):
            raise TraceError(
                f"{self.what}: returned {energy!r}; expected one number, the energy [J]"
                + ("; is a return statement missing?" if energy is None else "")
            )
        return [energy]

    @cached_property
    def _gradient(self) -> Closure:
        x = [ca.SX.sym(f"x{i}") for i in range(len(self.law.names))]
        return Closure("gradient", x, [ca.gradient(self.law.apply(*x), vertcat(x))])

    def potential(self, s: View) -> SX:
        return self.law.apply(*answers(self.asks, s))

    def apply(self, s: View, loads: Loads) -> None:
        g, start = self._gradient(*answers(self.asks, s))[0], 0
        for ask in self.asks:
            ask.load(s, -g[start : start + ask.size], loads)  # (24)-(26)
            start += ask.size
