"""What a law sees of the state, and where its result goes."""

from __future__ import annotations

from typing import Any, Protocol

import casadi as ca

from condyle.tree.tree import Tree


class View(Protocol):
    """The state as a law sees it. Bodies by name, stations p in the body's frame [m]; results in ground, SX
    columns."""

    tree: Tree
    t: ca.SX
    known: dict[str, ca.SX]  # values of leaves by their texts

    def coordinate(self, name: str) -> ca.SX: ...
    def coordinate_rate(self, name: str) -> ca.SX:
        """qdot of a coordinate."""

    def speed(self, name: str) -> ca.SX: ...
    def rotation(self, body: str) -> ca.SX:
        """R_GB."""

    def station_position(self, body: str, p: Any) -> ca.SX: ...
    def station_velocity(self, body: str, p: Any) -> ca.SX: ...
    def angular_velocity(self, body: str) -> ca.SX: ...
    def mass_center(self, body: str) -> tuple[Any, ca.SX]:
        """Mass and mass center in the body's frame."""

    def generalized_momentum(self) -> ca.SX:
        """M u, shape (nu,)."""

    def state_variable(self, k: int) -> ca.SX:
        """The law's own k-th auxiliary state z."""

    def state_named(self, name: str) -> ca.SX:
        """An auxiliary state: the law's own by its own name, any by its full name, "muscle.activation"."""


class MovingView(View, Protocol):
    """The same with what accelerations are made of: second derivatives at udot = 0."""

    def coordinate_bias(self, name: str) -> ca.SX:
        """qddot of a coordinate at udot = 0."""

    def station_bias(self, body: str, p: Any) -> ca.SX:
        """Acceleration of a station at udot = 0."""

    def angular_bias(self, body: str) -> ca.SX:
        """Angular acceleration of a body at udot = 0."""


class Loads(Protocol):
    """Where a law's result goes."""

    def add_force(self, body: str, p: Any, force: ca.SX) -> None:
        """A force in ground [N] at station p of the body; with several columns, one per case."""

    def add_torque(self, body: str, torque: ca.SX) -> None:
        """A torque in ground [N m]."""

    def add_mobility(self, speed: str, value: ca.SX) -> None:
        """A generalized force on a speed [N m, N]."""


# ---- blank -----------------------------------------------------------------------------------------------
#
# A state of which nothing is known but the time, to see what of it laws use.


class Blank:
    """A view (laws.view.View) in which every answer is new symbols, except t."""

    def __init__(self, tree: Tree, t: ca.SX, states: int = 0) -> None:
        self.tree, self.t, self.z = tree, t, ca.SX.sym("z", states)
        self.known: dict[str, ca.SX] = {}

    def coordinate(self, name: str) -> ca.SX:
        return ca.SX.sym("q")

    def coordinate_rate(self, name: str) -> ca.SX:
        return ca.SX.sym("qdot")

    def speed(self, name: str) -> ca.SX:
        return ca.SX.sym("u")

    def state_variable(self, k: int) -> ca.SX:
        return self.z[k]

    def state_named(self, name: str) -> ca.SX:
        return ca.SX.sym("z")

    def rotation(self, body: str) -> ca.SX:
        return ca.SX.sym("R", 3, 3)

    def station_position(self, body: str, p: Any) -> ca.SX:
        return ca.SX.sym("p", 3) + ca.SX.sym("R", 3, 3) @ ca.SX(p)

    station_velocity = station_position

    def angular_velocity(self, body: str) -> ca.SX:
        return ca.SX.sym("w", 3)

    def mass_center(self, body: str) -> tuple[Any, ca.SX]:
        return ca.SX.sym("mass"), ca.SX.sym("com", 3)

    def generalized_momentum(self) -> ca.SX:
        return ca.SX.sym("Mu", self.tree.nu)


class LoadList:
    """Loads (laws.view.Loads) as a list of what was added."""

    def __init__(self) -> None:
        self.values: list[ca.SX] = []

    def add_force(self, body: str, p: Any, force: ca.SX) -> None:
        self.values += [ca.SX(p), force]

    def add_torque(self, body: str, torque: ca.SX) -> None:
        self.values.append(torque)

    def add_mobility(self, speed: str, value: ca.SX) -> None:
        self.values.append(value)
