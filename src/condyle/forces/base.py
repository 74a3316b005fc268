"""What a force law is, what it sees and where its result goes.

A law sees a `View` of the state (poses, velocities, q, u, t, z, inputs) and adds to `Loads`: forces and torques on bodies,
expressed in ground, and generalised forces on speeds. It never sees dynamics. All values are CasADi SX.
"""
from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any, Protocol

import casadi as ca
import numpy as np

from condyle.tree.parameter import Expression, Parameter, as_sx
from condyle.tree.tree import Tree


def _value(value: Any) -> str:
    """Text of a value that a user's method uses; of what has no exact text, one that nothing else has."""
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return repr([_value(v) for v in value])
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.dtype} {value.shape} {value.tobytes()!r}"
    if isinstance(value, ModuleType):
        return value.__name__
    return uuid.uuid4().hex


class View(Protocol):
    """The state as a law sees it. Bodies by name, stations p in the body's frame [m]; results in ground, SX columns."""

    tree: Tree
    t: ca.SX

    def coordinate(self, name: str) -> ca.SX: ...
    def speed(self, name: str) -> ca.SX: ...
    def rotation(self, body: str) -> ca.SX:
        """R_GB."""
    def station_position(self, body: str, p: Any) -> ca.SX: ...
    def station_velocity(self, body: str, p: Any) -> ca.SX: ...
    def angular_velocity(self, body: str) -> ca.SX: ...
    def mass_centre(self, body: str) -> tuple[Any, ca.SX]:
        """Mass and mass centre in the body's frame."""
    def generalised_momentum(self) -> ca.SX:
        """M u, shape (nu,)."""
    def state_variable(self, k: int) -> ca.SX:
        """The law's own k-th auxiliary state z."""


class Loads(Protocol):
    """Where a law's result goes."""

    def add_force(self, body: str, p: Any, force: ca.SX) -> None:
        """A force in ground [N] at station p of the body."""
    def add_torque(self, body: str, torque: ca.SX) -> None:
        """A torque in ground [N m]."""
    def add_mobility(self, speed: str, value: ca.SX) -> None:
        """A generalised force on a speed [N m, N]."""


class Force:
    """A force law. Immutable data plus equations.

    Attributes:
        group: gravity, passive, external, actuator or muscle.
        states: names of its auxiliary states z, with their defaults.
    """

    group: str = "passive"
    states: tuple[tuple[str, float], ...] = ()

    def check(self, tree: Tree) -> None:
        """Raise a clear error if a body or coordinate that the law names does not exist."""

    def check_parameters(self, values: Mapping[str, float]) -> None:
        """Raise a clear error if values of the parameters are impossible for this law."""

    def conditions(self) -> ca.SX | None:
        """The same in expressions, a column: all not zero where values are possible. None: `check_parameters` must be asked.
        A class that writes `check_parameters` and not this is always asked."""
        return ca.SX(0, 1)

    def apply(self, s: View, loads: Loads) -> None:
        """Add what the law exerts to the loads."""
        raise TypeError(f"{type(self).__name__} does not say what it exerts: it needs a method apply(s, loads)")

    def potential(self, s: View) -> ca.SX | None:
        """Potential energy [J], or None for a force that has none."""
        return None

    def rates(self, s: View) -> list[ca.SX]:
        """Time derivatives of its auxiliary states."""
        return []

    def parameters(self) -> Iterable[Parameter]:
        """Parameters and Inputs in its numbers."""
        return [p for v in vars(self).values() if isinstance(v, Expression) for p in v.parameters]

    def description(self) -> str:
        """Text that determines the equations."""
        fields = {k: v.text if isinstance(v, Expression) else v for k, v in vars(self).items()}
        return f"{type(self).__name__}({fields!r})"

    def code(self) -> str:
        """What else determines the equations: nothing for laws of our own; the code of a user's class, which may change."""
        parts: list[str] = []
        for cls in type(self).__mro__:
            if cls.__module__.startswith("condyle.") or cls is object:
                continue
            for name, method in sorted(vars(cls).items()):
                if code := getattr(method, "__code__", None):
                    used = {n: method.__globals__[n] for n in code.co_names if n in method.__globals__}
                    used |= {n: cell.cell_contents for n, cell in zip(code.co_freevars, method.__closure__ or (), strict=True)}
                    parts.append(f"{name} {code.co_code!r} {code.co_consts!r} {code.co_names!r}")
                    parts += [f"{n} = {_value(v)}" for n, v in used.items()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest() if parts else ""


def number(value: Any, what: str) -> Any:
    """A float, an array, or an Expression where Parameters are inside: what a law keeps of its numbers."""
    value = as_sx(value)
    return Expression(value, what) if isinstance(value, ca.SX) else value


def sx(value: Any) -> ca.SX:
    """A kept number as an expression."""
    return value.sx if isinstance(value, Expression) else ca.sparsify(ca.SX(ca.DM(np.asarray(value, dtype=float))))
