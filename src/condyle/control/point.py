"""One point of a movement, as the goals use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca

from condyle.arrays import SX
from condyle.dynamics.kinematics import Kinematics
from condyle.dynamics.view import TreeLoads, TreeView
from condyle.errors import check_name
from condyle.laws.leaves import Leaf
from condyle.model.symbols import Symbols
from condyle.muscles.metabolics import Working
from condyle.trace import Traced

if TYPE_CHECKING:
    from condyle.control.dynamics import Dynamics


class MovementPoint:
    """One point of a movement, as expressions.

    Attributes:
        symbols: symbols of the state: s["q"], s["u"], s["udot"], s.z, s.t.
        variables: all variables of the point by their names: coordinates, speeds, states, controls.
        controls: all controls, shape (c,), in the order of `control_names`.
        control_names: names of the controls.
        udot: accelerations, dependent ones as expressions, shape (nu,).
        duration: T [s].
        working: force and state of each muscle, by name.
        dynamics: names and variables of the system.
        multipliers: multipliers of the constraints that have them.
        data: the goal's own numbers at this point (`MovementGoal.data`).
    """

    def __init__(
        self,
        symbols: Symbols,
        variables: Mapping[str, SX],
        controls: SX,
        control_names: Sequence[str],
        udot: SX,
        duration: SX,
        loads: Callable[[], TreeLoads],
        working: Mapping[str, Working],
        dynamics: Dynamics,
    ) -> None:
        self.symbols, self.variables, self.controls = symbols, dict(variables), controls
        self.control_names, self.udot, self.duration = tuple(control_names), udot, duration
        self._loads, self.working, self.dynamics = loads, working, dynamics
        self.data: SX = ca.SX(0, 1)
        self.multipliers: SX = ca.SX(0, 1)

    def __getitem__(self, name: str) -> SX:
        """A variable by its name."""
        check_name("variable", name, self.variables)
        return self.variables[name]

    @cached_property
    def kinematics(self) -> Kinematics:
        return self.symbols.kinematics()

    @cached_property
    def loads(self) -> TreeLoads:
        """Loads of all forces."""
        return self._loads()

    @property
    def view(self) -> TreeView:
        """The state as used by laws: leaf.at(p.view)."""
        return self.symbols.view(self.kinematics)

    @property
    def t(self) -> SX:
        """Time [s]."""
        return self.symbols.t

    def apply(self, law: Traced, asks: Sequence[Leaf]) -> SX:
        """A traced function (laws.ask.traced_law) at this point."""
        found: list[SX] = []
        for ask in asks:
            x = ask.at(self.view)
            if ask.level == "acceleration":
                x = x + ca.jtimes(ask.velocity.at(self.view), self.symbols["u"], self.udot)  # type: ignore[attr-defined]
            found += ca.vertsplit(ca.densify(x))
        return law.apply(*found)
