"""A state of which nothing is known but the time, to see what of it laws use."""

from __future__ import annotations

from typing import Any

import casadi as ca

from condyle.tree.tree import Tree


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
