"""What a law sees of the state, and where its result goes."""

from __future__ import annotations

from typing import Any, Protocol

import casadi as ca

from condyle.arrays import SX
from condyle.tree.tree import Tree


class View(Protocol):
    """The state as a law sees it. Bodies by name, stations p in the body's frame [m]; results in ground, SX
    columns."""

    tree: Tree
    t: ca.SX
    known: dict[str, ca.SX]  # values of leaves by their texts
    smooth: bool  # no kinks, for optimal control: laws.smooth

    def coordinate(self, name: str) -> SX: ...
    def coordinate_rate(self, name: str) -> SX:
        """qdot of a coordinate."""

    def speed(self, name: str) -> SX: ...
    def rotation(self, body: str) -> SX:
        """R_GB."""

    def station_position(self, body: str, p: Any) -> SX: ...
    def station_velocity(self, body: str, p: Any) -> SX: ...
    def angular_velocity(self, body: str) -> SX: ...
    def mass_center(self, body: str) -> tuple[Any, SX]:
        """Mass and mass center in the body's frame."""

    def generalized_momentum(self) -> SX:
        """M u, shape (nu,)."""

    def reaction(self, body: str) -> SX:
        """Moment and force of the body's mobilizer on it at M, shape (6,): only forces may ask for it."""

    def joint_motion(self, body: str) -> tuple[SX, SX, list[tuple[str, SX, SX]]]:
        """w_FM and v_FM of the body's mobilizer, in ground, and what each of its speeds adds to them per unit,
        by the speed's name."""

    def state_variable(self, k: int) -> SX:
        """The law's own k-th auxiliary state z."""

    def state_named(self, name: str) -> SX:
        """An auxiliary state: the law's own by its own name, any by its full name, "muscle.activation"."""


class MovingView(View, Protocol):
    """The same with what accelerations are made of: second derivatives at udot = 0."""

    def coordinate_bias(self, name: str) -> SX:
        """qddot of a coordinate at udot = 0."""

    def station_bias(self, body: str, p: Any) -> SX:
        """Acceleration of a station at udot = 0."""

    def angular_bias(self, body: str) -> SX:
        """Angular acceleration of a body at udot = 0."""


class Loads(Protocol):
    """Where a law's result goes."""

    def add_force(self, body: str, p: Any, force: SX) -> None:
        """A force in ground [N] at station p of the body; with several columns, one per case."""

    def add_torque(self, body: str, torque: SX) -> None:
        """A torque in ground [N m]."""

    def add_mobility(self, speed: str, value: SX) -> None:
        """A generalized force on a speed [N m, N]."""


# ---- blank -----------------------------------------------------------------------------------------------
#
# A state of which nothing is known but the time, to see what of it laws use.


class Blank:
    """A view (laws.view.View) in which every answer is new symbols, except t."""

    smooth = False

    def __init__(self, tree: Tree, t: SX, states: int = 0) -> None:
        self.tree, self.t, self.z = tree, t, ca.SX.sym("z", states)
        self.known: dict[str, ca.SX] = {}

    def coordinate(self, name: str) -> SX:
        return ca.SX.sym("q")

    def coordinate_rate(self, name: str) -> SX:
        return ca.SX.sym("qdot")

    def speed(self, name: str) -> SX:
        return ca.SX.sym("u")

    def state_variable(self, k: int) -> SX:
        return self.z[k]

    def state_named(self, name: str) -> SX:
        return ca.SX.sym("z")

    def rotation(self, body: str) -> SX:
        return ca.SX.sym("R", 3, 3)

    def station_position(self, body: str, p: Any) -> SX:
        return ca.SX.sym("p", 3) + ca.SX.sym("R", 3, 3) @ ca.SX(p)

    station_velocity = station_position

    def angular_velocity(self, body: str) -> SX:
        return ca.SX.sym("w", 3)

    def mass_center(self, body: str) -> tuple[Any, SX]:
        return ca.SX.sym("mass"), ca.SX.sym("com", 3)

    def generalized_momentum(self) -> SX:
        return ca.SX.sym("Mu", self.tree.nu)

    def reaction(self, body: str) -> SX:
        return ca.SX.sym("F", 6)

    def joint_motion(self, body: str) -> tuple[SX, SX, list[tuple[str, SX, SX]]]:
        w, v, h_w, h_v = (ca.SX.sym(name, 3) for name in ("w", "v", "h_w", "h_v"))
        speeds = self.tree.speeds_of(self.tree.body(body).index)
        return w, v, [(self.tree.speeds[k], h_w, h_v) for k in speeds]


class LoadList:
    """Loads (laws.view.Loads) as a list of what was added."""

    def __init__(self) -> None:
        self.values: list[ca.SX] = []

    def add_force(self, body: str, p: Any, force: SX) -> None:
        self.values += [ca.SX(p), force]

    def add_torque(self, body: str, torque: SX) -> None:
        self.values.append(torque)

    def add_mobility(self, speed: str, value: SX) -> None:
        self.values.append(value)
