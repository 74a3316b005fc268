"""Which operators of a system depend on time, and through what: they need `t=` for a batch of states.

One state without t is at t = 0, as the signatures say. For many states that would be a guess: recorded frames are at times
of their own.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.forces.base import Force
from condyle.forces.gravity import Gravity
from condyle.model.model import Model
from condyle.model.operators import OPERATORS

_LOADS = frozenset({"zdot", "forward_dynamics", "inverse_dynamics", "applied_forces", "power", "energy", "reactions",
                    "multipliers", "reactions_with_constraints", "timed_power"})
_ROWS = frozenset({"forward_dynamics", "multipliers", "constraint_errors", "constraint_bias", "constraint_jacobian",
                   "constraint_matrix", "constraint_forces", "constraint_reactions", "reactions_with_constraints", "project",
                   "timed_power"})
_MOTIONS = frozenset({"forward_dynamics", "multipliers", "prescribed", "project"})


class Timed:
    """What of a system depends on time, for each operator: words for errors, and the name by which it is disabled, if it can
    be."""

    def __init__(self, model: Model) -> None:
        joints = [(f"the mobilizer of body {b.name!r}", "") for b in model.tree.bodies if b.mobilizer.uses_time]
        forces = [(f"force {name!r}", name) for name, law in model.forces.items()
                  if not isinstance(law, Gravity) and _reads_time(model, law)]
        rows = [(f"constraint {name!r}", name) for name, law in model.constraints.items()
                if any(leaf.kind == "t" for leaf in law.leaves)]
        motions = [(f"the motion of body {b.name!r}", b.name) for b in model.tree.driven]
        self.sources = {
            name: [*joints, *forces * (name in _LOADS), *rows * (name in _ROWS), *motions * (name in _MOTIONS)]
            for name in (*OPERATORS, "project") if name != "instance"}
        self.operators = frozenset(name for name, found in self.sources.items() if found)

    def check(self, what: str, operator: str, arrays: Iterable[Any], disabled: Any) -> None:
        """Refuse many states without t, where something that is not disabled depends on it."""
        off = (disabled,) if isinstance(disabled, str) else tuple(disabled or ())
        acting = [words for words, name in self.sources[operator] if not name or name not in off]
        if acting and (shape := next((np.shape(a) for a in arrays if _rank(a) > 1), None)) is not None:
            more = f" and {len(acting) - 1} more depend" if len(acting) > 1 else " depends"
            raise DescriptionError(f"{what}: {acting[0]}{more} on time, and there are many states, {shape}: give t=, one "
                                   "number or one per state [s]")


def _rank(array: Any) -> int:
    return array.ndim if hasattr(array, "ndim") else np.ndim(array) if not hasattr(array, "keys") else max(
        (np.ndim(v) + 1 for v in array.values()), default=1)


def _reads_time(model: Model, law: Force) -> bool:
    """Whether a force asks for the time: it is called with a view that listens."""
    view: Any = _Listener(model, len(law.states))
    law.apply(view, _Nowhere())
    law.potential(view)
    law.rates(view)
    return view.asked


class _Listener:
    """A View (condyle.forces.base) whose answers are symbols without meaning; it remembers whether it was asked for the time."""

    def __init__(self, model: Model, states: int) -> None:
        self.tree, self.asked, self.z = model.tree, False, ca.SX.sym("z", states)

    @property
    def t(self) -> ca.SX:
        self.asked = True
        return ca.SX.sym("t")

    def coordinate(self, name: str) -> ca.SX:
        return ca.SX.sym("q")

    def speed(self, name: str) -> ca.SX:
        return ca.SX.sym("u")

    def state_variable(self, k: int) -> ca.SX:
        return self.z[k]

    def mass_centre(self, body: str) -> tuple[Any, ca.SX]:
        return ca.SX.sym("m"), ca.SX.sym("p", 3)

    def rotation(self, body: str) -> ca.SX:
        return ca.SX.sym("R", 3, 3)

    def station_position(self, body: str, p: Any) -> ca.SX:
        return ca.SX.sym("p", 3)

    def station_velocity(self, body: str, p: Any) -> ca.SX:
        return ca.SX.sym("v", 3)

    def angular_velocity(self, body: str) -> ca.SX:
        return ca.SX.sym("w", 3)

    def generalised_momentum(self) -> ca.SX:
        return ca.SX.sym("h", self.tree.nu)


class _Nowhere:
    """Loads that are forgotten."""

    def add_force(self, body: str, p: Any, force: ca.SX) -> None:
        pass

    def add_torque(self, body: str, torque: ca.SX) -> None:
        pass

    def add_mobility(self, speed: str, value: ca.SX) -> None:
        pass
