"""The state as force laws see it in maximal coordinates, and the loads they leave: condyle.forces.base, without recursions.

Poses and velocities of bodies are unknowns here, so that a station is one line away. Coordinates and speeds of mobilizers, and
the momenta that a thermostat asks for, arrive as numbers that the joints gave before.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from condyle.forces import Gravity
from condyle.forces.base import Force
from condyle.maximal.joint import evaluated
from condyle.native.lookup import assembled
from condyle.spatial import rotation_from_quaternion
from condyle.tree.tree import Tree


class View:
    """What laws ask of the state, from x (7 a body), V (6 a body), q and u."""

    def __init__(self, tree: Tree, symbols: Mapping[str, ca.SX]) -> None:
        self.tree, self.symbols = tree, symbols
        self.t, self.z = symbols["t"], ca.SX(0, 1)

    def coordinate(self, name: str) -> ca.SX:
        return self.symbols["q"][self.tree.coordinate_index(name)]

    def speed(self, name: str) -> ca.SX:
        return self.symbols["u"][self.tree.speed_index(name)]

    def rotation(self, body: str) -> ca.SX:
        B = self.tree.body(body).index
        return ca.SX.eye(3) if B < 0 else rotation_from_quaternion(self.symbols["x"][7 * B:7 * B + 4])

    def arm(self, body: str, p: Any) -> ca.SX:
        """From the body's origin to a station, in ground."""
        return self.rotation(body) @ ca.SX(p)

    def station_position(self, body: str, p: Any) -> ca.SX:
        B = self.tree.body(body).index
        return ca.SX(p) if B < 0 else self.symbols["x"][7 * B + 4:7 * B + 7] + self.arm(body, p)

    def station_velocity(self, body: str, p: Any) -> ca.SX:
        B = self.tree.body(body).index
        if B < 0:
            return ca.SX(3, 1)
        return self.symbols["V"][6 * B + 3:6 * B + 6] + ca.cross(self.angular_velocity(body), self.arm(body, p))

    def angular_velocity(self, body: str) -> ca.SX:
        B = self.tree.body(body).index
        return ca.SX(3, 1) if B < 0 else self.symbols["V"][6 * B:6 * B + 3]

    def mass_centre(self, body: str) -> tuple[Any, ca.SX]:
        B = self.tree.body(body).index
        return self.symbols["mass"][B], self.symbols["com"][3 * B:3 * B + 3]

    def generalised_momentum(self) -> ca.SX:
        return self.symbols["momentum"]

    def state_variable(self, k: int) -> ca.SX:
        return self.z[k]


class Loads:
    """Moments about each body's origin and forces, in ground, and generalised forces on speeds, of enabled laws."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.enabled = ca.SX(1)
        self.bodies = [ca.SX(6, 1) for _ in view.tree.bodies]
        self.mobility = [ca.SX(1, 1) for _ in view.tree.speeds]

    def _add(self, body: str, moment: ca.SX, force: ca.SX) -> None:
        B = self.view.tree.body(body).index
        if B >= 0:
            self.bodies[B] += ca.if_else(self.enabled, ca.vertcat(moment, force), 0)

    def add_force(self, body: str, p: Any, force: ca.SX) -> None:
        self._add(body, ca.cross(self.view.arm(body, p), force), force)

    def add_torque(self, body: str, torque: ca.SX) -> None:
        self._add(body, torque, ca.SX(3, 1))

    def add_mobility(self, speed: str, value: ca.SX) -> None:
        self.mobility[self.view.tree.speed_index(speed)] += ca.if_else(self.enabled, value, 0)


class Laws:
    """All force laws of a system as one function of numbers."""

    names = ("x", "V", "q", "u", "momentum", "mass", "com", "t", "z", "inputs", "enabled", "parameters")

    def __init__(self, tree: Tree, forces: Mapping[str, Force]) -> None:
        n = len(tree.bodies)
        sizes = {"x": 7 * n, "V": 6 * n, "q": tree.nq, "u": tree.nu, "momentum": tree.nu, "mass": n, "com": 3 * n, "t": 1,
                 "z": sum(len(f.states) for f in forces.values()), "enabled": len(forces)}
        symbols = {name: ca.SX.sym(name, size) for name, size in sizes.items()}
        symbols["inputs"], symbols["parameters"] = tree.inputs.symbols, tree.parameters.symbols
        view, start = View(tree, symbols), 0
        loads = Loads(view)
        for i, law in enumerate(forces.values()):
            view.z, loads.enabled = symbols["z"][start:start + len(law.states)], symbols["enabled"][i]
            start += len(law.states)
            if isinstance(law, Gravity):
                for body in tree.bodies:                     # the first formulation lifts ground instead
                    if body.name not in law.excluded:
                        mass, com = view.mass_centre(body.name)
                        loads.add_force(body.name, com, mass * law.g)
            else:
                law.apply(view, loads)
        outputs = [ca.vertcat(ca.SX(0, 1), *loads.bodies), ca.vertcat(ca.SX(0, 1), *loads.mobility)]
        self.asks_momentum = ca.depends_on(ca.vertcat(*outputs), symbols["momentum"]) if tree.nu else False
        self._function = assembled("laws", [symbols[name] for name in self.names], outputs)

    def __call__(self, **values: Any) -> tuple[np.ndarray, np.ndarray]:
        """Loads on bodies, shape (6 n,), and on speeds, shape (nu,)."""
        bodies, mobility = evaluated(self._function, *(values[name] for name in self.names))
        return bodies[:, 0], mobility[:, 0]
