"""The state as force laws see it, and the loads they leave: condyle.laws.view over the kinematics."""

from __future__ import annotations

from typing import Any

import casadi as ca

from condyle.arrays import SX
from condyle.dynamics.inertia import add, apply, rigid, shift_motion
from condyle.dynamics.kinematics import Kinematics, Pair, accelerations
from condyle.dynamics.rates import rates
from condyle.dynamics.rnea import carried_on_speeds
from condyle.errors import DescriptionError, UnknownNameError
from condyle.laws.described import owner, state_named
from condyle.tree.tree import Tree

cross = ca.cross


class TreeView:
    """Poses and velocities of bodies, coordinates and speeds by name. Everything in ground.

    Attributes:
        plain: whether no derivatives of laws are needed.
        straight: all must be expressions; nothing may be left to loops.
        smooth: laws have no kinks, for optimal control: condyle.laws.smooth.
        enabled_contacts: flags by the contacts' descriptions; a contact without a flag is enabled.
    """

    plain = False
    straight = False
    smooth = False

    def __init__(self, tree: Tree, kin: Kinematics, t: SX, q: SX, u: SX) -> None:
        self.tree, self.kin, self.t, self.q, self.u = tree, kin, t, q, u
        self.z, self.law = ca.SX(0, 1), ""
        self.states: dict[str, ca.SX] = {}
        self.known: dict[str, ca.SX] = {}
        self.enabled_contacts: dict[str, ca.SX] = {}
        self.biases: dict[Any, Pair] | None = None  # accelerations of M at udot = 0, by body

    def _index(self, body: str) -> int:
        return self.tree.body(body).index

    def coordinate(self, name: str) -> SX:
        return self.q[self.tree.coordinate_index(name)]

    def speed(self, name: str) -> SX:
        return self.u[self.tree.speed_index(name)]

    def state_variable(self, k: int) -> SX:
        return self.z[k]

    def state_named(self, name: str) -> SX:
        return state_named(self.states, self.law, name, f"force {self.law!r}" if self.law else "s.z")

    def mass_center(self, body: str) -> tuple[Any, SX]:
        """Mass and mass center in the body's frame."""
        placed = self.kin.placed[self._index(body)]
        return placed.mass, placed.R_MB.T @ (placed.com - placed.p_MB)

    def rotation(self, body: str) -> SX:
        B = self._index(body)
        return ca.SX.eye(3) if B < 0 else self.kin.R_GM[B] @ self.kin.placed[B].R_MB

    def from_M(self, body: str, p: Any) -> SX:
        """The vector in ground from M's origin (or ground's) to a station."""
        B = self._index(body)
        if B < 0:
            return ca.SX(p)
        placed = self.kin.placed[B]
        return self.kin.R_GM[B] @ (placed.p_MB + placed.R_MB @ ca.SX(p))

    def station_position(self, body: str, p: Any) -> SX:
        B = self._index(body)
        return self.from_M(body, p) if B < 0 else self.kin.p_GM[B] + self.from_M(body, p)

    def station_velocity(self, body: str, p: Any) -> SX:
        B = self._index(body)
        return ca.SX(3, 1) if B < 0 else shift_motion(self.kin.V_GM[B], self.from_M(body, p))[1]

    def angular_velocity(self, body: str) -> SX:
        B = self._index(body)
        return ca.SX(3, 1) if B < 0 else self.kin.V_GM[B][0]

    def _bias(self, B: int) -> Pair:
        """Acceleration of M at udot = 0."""
        if self.biases is None:
            self.biases = accelerations(self.tree, self.kin, None)
        return self.biases[B]

    def coordinate_rate(self, name: str) -> SX:
        """qdot = N u of a coordinate."""
        return self._coordinate_rates(name)[0]

    def coordinate_bias(self, name: str) -> SX:
        """qddot = (N u)_q N u of a coordinate at udot = 0."""
        return self._coordinate_rates(name)[1]

    def _coordinate_rates(self, name: str) -> tuple[SX, SX]:
        body, j = owner(self.tree, name, "coordinate_rate")
        u = self.u[body.u]
        qdot, qddot = rates(body.mobilizer, self.t, self.q[body.q], u, u)
        return qdot[j], qddot[j]

    def station_bias(self, body: str, p: Any) -> SX:
        """Acceleration of a station at udot = 0: a + alpha x r + w x (w x r)."""
        B = self._index(body)
        if B < 0:
            return ca.SX(3, 1)
        r, w, (alpha, a) = self.from_M(body, p), self.kin.V_GM[B][0], self._bias(B)
        return a + cross(alpha, r) + cross(w, cross(w, r))

    def angular_bias(self, body: str) -> SX:
        """Angular acceleration of a body at udot = 0."""
        B = self._index(body)
        return ca.SX(3, 1) if B < 0 else self._bias(B)[0]

    def reaction(self, body: str) -> SX:
        raise DescriptionError(
            f"s.reaction({body!r}): only forces may ask for reactions, and only those of a System"
        )

    def joint_motion(self, body: str) -> tuple[SX, SX, list[tuple[str, SX, SX]]]:
        B = self._index(body)
        speeds = [self.tree.speeds[k] for k in self.tree.speeds_of(B)]
        return *self.kin.V_FM[B], [(name, *h) for name, h in zip(speeds, self.kin.H[B], strict=True)]

    def generalized_momentum(self) -> SX:
        """M u, shape (nu,): the momentum M_B V_B that each speed carries, along its hinge axis. Where
        mobilizers move with time by themselves, that motion is part of V_B."""
        h = {
            B: apply(rigid(self.kin.R_GM[B], body.mass, body.com, body.I)[0], self.kin.V_GM[B])
            for B, body in enumerate(self.kin.placed)
        }
        f = carried_on_speeds(self.tree, self.kin, h)
        return ca.vertcat(ca.SX(0, 1), *(f[k] for k in range(self.tree.nu)))


class TreeLoads:
    """Spatial forces on bodies, about M's origin in ground, and generalized forces, of enabled forces."""

    def __init__(self, view: TreeView) -> None:
        self.view, tree = view, view.tree
        self.enabled = ca.SX(1)
        self.bodies: dict[int, Pair] = {}
        self.mobility: dict[int, ca.SX] = {}
        self._speeds = {name: k for k, name in enumerate(tree.speeds)}

    def copy(self) -> TreeLoads:
        """The same, to add to."""
        other = TreeLoads(self.view)
        other.bodies, other.mobility = dict(self.bodies), dict(self.mobility)
        return other

    def _if_enabled(self, value: SX) -> SX:
        """The value, or zero: what a disabled force computes, be it NaN, does not matter."""
        return ca.if_else(self.enabled, value, 0)

    def _add(self, body: str, F: Pair) -> None:
        B = self.view.tree.body(body).index
        if B >= 0:
            F = self._if_enabled(F[0]), self._if_enabled(F[1])
            self.bodies[B] = add(self.bodies[B], F) if B in self.bodies else F

    def add_force(self, body: str, p: Any, force: SX) -> None:
        self._add(body, (cross(self.view.from_M(body, p), force), force))

    def add_torque(self, body: str, torque: SX) -> None:
        self._add(body, (torque, ca.SX(3, 1)))

    def add_mobility(self, speed: str, value: SX) -> None:
        if speed not in self._speeds:
            raise UnknownNameError("speed", speed, self._speeds)
        k = self._speeds[speed]
        self.mobility[k] = self.mobility.get(k, ca.SX(0)) + self._if_enabled(value)
