"""The state as force laws and constraints see it in maximal coordinates, and the loads that laws leave:
condyle.laws.view.

Poses and velocities of bodies are unknowns here, so that a station is one line away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.forces import Gravity
from condyle.forces.base import Force, state_variables
from condyle.laws.described import owner, state_named
from condyle.spatial import rotation_from_quaternion
from condyle.tree.tree import Tree


class MaximalView:
    """What laws ask of the state, from x (first 7 per body), V (first 6 per body), q and u of the mobilizers,
    momentum and t."""

    smooth = False

    def __init__(self, tree: Tree, symbols: Mapping[str, SX]) -> None:
        self.tree, self.symbols = tree, symbols
        self.t, self.z, self.known = symbols["t"], ca.SX(0, 1), dict[str, ca.SX]()
        self.law, self.states = "", dict[str, ca.SX]()

    def coordinate(self, name: str) -> SX:
        return self.symbols["q"][self.tree.coordinate_index(name)]

    def coordinate_rate(self, name: str) -> SX:
        body, j = owner(self.tree, name, "coordinate_rate")
        return (body.mobilizer.N(self.symbols["q"][body.q]) @ self.symbols["u"][body.u])[j]

    def speed(self, name: str) -> SX:
        return self.symbols["u"][self.tree.speed_index(name)]

    def rotation(self, body: str) -> SX:
        B = self.tree.body(body).index
        return ca.SX.eye(3) if B < 0 else rotation_from_quaternion(self.symbols["x"][7 * B : 7 * B + 4])

    def arm(self, body: str, p: Any) -> SX:
        """From the body's origin to a station, in ground."""
        return self.rotation(body) @ ca.SX(p)

    def station_position(self, body: str, p: Any) -> SX:
        B = self.tree.body(body).index
        return ca.SX(p) if B < 0 else self.symbols["x"][7 * B + 4 : 7 * B + 7] + self.arm(body, p)

    def station_velocity(self, body: str, p: Any) -> SX:
        B = self.tree.body(body).index
        if B < 0:
            return ca.SX(3, 1)
        return self.symbols["V"][6 * B + 3 : 6 * B + 6] + ca.cross(
            self.angular_velocity(body), self.arm(body, p)
        )

    def angular_velocity(self, body: str) -> SX:
        B = self.tree.body(body).index
        return ca.SX(3, 1) if B < 0 else self.symbols["V"][6 * B : 6 * B + 3]

    def mass_center(self, body: str) -> tuple[Any, SX]:
        mass, com, _ = self.tree.body(body).mass_expressions()
        return mass, com

    def reaction(self, body: str) -> SX:
        raise DescriptionError(
            f"force {self.law!r} asks for the reaction of the joint of {body!r}: maximal coordinates do not solve "
            "for forces that depend on reactions; use the System itself, or leave the force out"
        )

    def joint_motion(self, body: str) -> tuple[SX, SX, list[tuple[str, SX, SX]]]:
        return self.reaction(body)  # type: ignore[return-value]  # which raises

    def generalized_momentum(self) -> SX:
        return self.symbols["momentum"]

    def state_variable(self, k: int) -> SX:
        return self.z[k]

    def state_named(self, name: str) -> SX:
        return state_named(self.states, self.law, name, f"force {self.law!r}" if self.law else "s.z")


class MaximalLoads:
    """Moments about each body's origin and forces, in ground, and generalized forces on speeds, of enabled
    laws."""

    def __init__(self, view: MaximalView) -> None:
        self.view = view
        self.enabled = ca.SX(1)
        self.bodies = [ca.SX(6, 1) for _ in view.tree.bodies]
        self.mobility = [ca.SX(1, 1) for _ in view.tree.speeds]

    def _add(self, body: str, moment: SX, force: SX) -> None:
        B = self.view.tree.body(body).index
        if B >= 0:
            self.bodies[B] += ca.if_else(self.enabled, ca.vertcat(moment, force), 0)

    def add_force(self, body: str, p: Any, force: SX) -> None:
        self._add(body, ca.cross(self.view.arm(body, p), force), force)

    def add_torque(self, body: str, torque: SX) -> None:
        self._add(body, torque, ca.SX(3, 1))

    def add_mobility(self, speed: str, value: SX) -> None:
        self.mobility[self.view.tree.speed_index(speed)] += ca.if_else(self.enabled, value, 0)


def exerted(forces: Mapping[str, Force], view: MaximalView) -> tuple[SX, SX, SX]:
    """Loads on bodies, shape (6 n,), and on speeds, shape (nu,), of all enabled laws; rates of their states,
    shape (nz,)."""
    loads, rates, start = MaximalLoads(view), [ca.SX(0, 1)], 0
    view.states = {name: view.symbols["z"][k] for k, (name, _) in enumerate(state_variables(forces))}
    for i, (view.law, law) in enumerate(forces.items()):
        view.z, loads.enabled = view.symbols["z"][start : start + len(law.states)], view.symbols["enabled"][i]
        start += len(law.states)
        if isinstance(law, Gravity):
            for body in view.tree.bodies:  # the first formulation lifts ground instead
                mass, com = view.mass_center(body.name)
                loads.add_force(body.name, com, mass * law.g)
        law.apply(view, loads)
        rates += [ca.if_else(loads.enabled, rate, 0) for rate in law.rates(view)]
    none = ca.SX(0, 1)
    return ca.vertcat(none, *loads.bodies), ca.vertcat(none, *loads.mobility), ca.vertcat(*rates)
