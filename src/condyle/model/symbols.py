"""The arguments of one operator as symbols."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import casadi as ca

from condyle.arrays import SX
from condyle.constraints.solve.equations import ConstraintEquations
from condyle.dynamics.aba import forward_dynamics
from condyle.dynamics.kinematics import Kinematics, kinematics
from condyle.dynamics.prescribed import Prescription
from condyle.dynamics.view import TreeLoads, TreeView
from condyle.forces.base import Force, state_variables
from condyle.laws.leaves import ROWS, Reaction
from condyle.model.model import Model
from condyle.tree.body_constants import layout


class Symbols:
    """The arguments of one operator as symbols, and the kinematics and loads computed from them.

    Args:
        direct: use the table's entries as expressions of the parameters (for derivatives), not as arguments.
        plain: the results are not differentiated, which makes expressions with solvers shorter.
        straight: solve constraints in expressions and not in loops, even if there are many.
    """

    def __init__(
        self, model: Model, direct: bool = False, plain: bool = False, straight: bool = False
    ) -> None:
        self.model, self.plain, self.straight, tree = model, plain, straight, model.tree
        self._kinematics: dict[Any, Kinematics] = {}
        # a view holds its kinematics, so that ids stay unique
        self._views: dict[int, TreeView] = {}
        self._others: dict[int, TreeLoads] = {}  # loads of laws without reactions, if others use them
        self.arguments = {name: ca.SX.sym(name, n) for name, n in model.sizes().items() if name != "tail"}
        part = {name: ca.SX.sym(name, s.stop - s.start) for name, s in model.tail.items()}
        self.arguments["parameters"] = part["parameters"] = tree.parameters.symbols
        part["inputs"], part["discrete"] = tree.inputs.symbols, tree.discrete.symbols
        self.placed = layout(tree) if direct else model.placed
        part["table"] = part["table"] if direct else model.table[0]
        self.arguments["tail"] = ca.vertcat(*(part[name] for name in model.tail))
        self.t, self.enabled, self.z = part["t"], part["enabled"], part["z"]
        enabled = self.enabled[len(model.forces) + len(model.constraints) :]
        self.motions = Prescription(tree, self.t, self["q"], self["u"], enabled, part["lock"], part["held"])
        self.lock = self.motions.lock
        self.gravity = self.enabled[0] * model.gravity.g
        self.unfound = ca.SX(0)

    def __getitem__(self, name: str) -> SX:
        return self.arguments[name]

    def kinematics(self, moving: bool = True, only: Sequence[int] | None = None) -> Kinematics:
        """The kinematics, computed once and shared."""
        key = moving, None if only is None else tuple(only)
        if key not in self._kinematics:
            self._kinematics[key] = kinematics(
                self.model.tree, self.placed, self.t, self["q"], self["u"] if moving else None, only
            )
        return self._kinematics[key]

    def follow_motions(self) -> None:
        """Replace prescribed q and u by the values of motions."""
        self.motions = self.motions.followed()
        self.arguments |= {"q": self.motions.q, "u": self.motions.u}
        self._kinematics.clear()

    def view(self, kin: Kinematics) -> TreeView:
        """The view of the state for laws, with their leaves; created once."""
        if id(kin) not in self._views:
            view = self._views[id(kin)] = TreeView(self.model.tree, kin, self.t, self["q"], self["u"])
            view.plain = self.plain
            view.straight = self.straight or bool(self.model.reaction_laws)  # these substitute in expressions
            view.enabled_contacts = {
                force.description(): self.enabled[i]
                for i, (name, force) in enumerate(self.model.forces.items())
                if name in self.model.contacts
            }
            view.states = {name: self.z[k] for k, (name, _) in enumerate(state_variables(self.model.forces))}
        return self._views[id(kin)]

    def differentiable(self) -> Symbols:
        """The same arguments, kinematics and rows of solvers, for results that have derivatives."""
        other = copy(self)
        other.plain, other._views, other._others = False, {}, {}
        for kin in self._kinematics.values():
            if id(kin) in self._views:
                known = self.view(kin).known
                other.view(kin).known |= {name: x for name, x in known.items() if name.startswith(ROWS)}
        return other

    def laws(self, view: TreeView) -> Iterator[tuple[SX, Force]]:
        """Each force with its enabled flag; the view gives it its own z."""
        start = 0
        for i, (view.law, force) in enumerate(self.model.forces.items()):
            view.z = self.z[start : start + len(force.states)]
            start += len(force.states)
            yield self.enabled[i], force
        view.z, view.law = ca.SX(0, 1), ""

    def free_accelerations(self, kin: Kinematics, tau: SX) -> tuple[SX, SX]:
        """udot without constraints, and its status (aba.py (6)), plus 2 nu + 2 if reactions used by laws
        are not found (reactions.py (3))."""
        loads, held = self.loads(kin, tau=tau), self.motions.held()
        udot, status = forward_dynamics(self.model.tree, kin, tau, self.lock, self.gravity, loads, held)
        return udot, status + ca.if_else(self.unfound, 2 * (self.model.tree.nu + 1), 0)

    def rows(self, kin: Kinematics) -> ConstraintEquations:
        """The equations of the constraints."""
        return ConstraintEquations(
            self.model.constraints, self.view(kin), self.enabled[len(self.model.forces) :]
        )

    def react(
        self,
        kin: Kinematics,
        udot: SX | None = None,
        tau: SX | None = None,
        lambda_: SX | None = None,
    ) -> TreeView:
        """The view with all reactions used by laws: those at udot or, without it, those of forward dynamics
        under tau.
        """
        view, asked = self.view(kin), next(iter(self.model.reaction_laws.values()), ())
        if asked and Reaction(asked[0]).text not in view.known:
            from condyle.model.reactions import solve_reactions

            self._others[id(kin)], self.unfound = solve_reactions(self, kin, udot, tau, lambda_)
        return view

    def loads(
        self,
        kin: Kinematics,
        udot: SX | None = None,
        tau: SX | None = None,
        lambda_: SX | None = None,
    ) -> TreeLoads:
        """Loads of all enabled forces; of gravity only the correction for excluded bodies. udot, tau,
        lambda_: as in `react`.
        """
        view = self.react(kin, udot, tau, lambda_)
        known = self._others.get(id(kin))
        loads = TreeLoads(view) if known is None else known.copy()
        for enabled, force in self.laws(view):
            loads.enabled = enabled
            if known is None or force.reactions:
                force.apply(view, loads)
        return loads
