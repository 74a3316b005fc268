"""Which operators of a system depend on time, and through what: they need `t=` for a batch of states.

One state without t is at t = 0, as the signatures say. For many states that would be a guess: recorded frames are at times
of their own.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.forces.base import Force
from condyle.forces.external import TimeSeries
from condyle.forces.gravity import Gravity
from condyle.laws.blank import Blank, Gathered
from condyle.laws.leaves import Leaf
from condyle.model.model import Model
from condyle.model.operators import OPERATORS
from condyle.native.sweeps.lookup import lookups_in


class Timed:
    """What of a system depends on time, for each operator: words for errors, and the name by which it is disabled, if it can
    be."""

    def __init__(self, model: Model) -> None:
        joints = [(f"the mobilizer of body {b.name!r}", "") for b in model.tree.bodies if b.mobilizer.uses_time]
        forces = [(f"force {name!r}", name) for name, law in model.forces.items()
                  if not isinstance(law, Gravity) and _reads_time(model, law)]
        rows = [(f"constraint {name!r}", name) for name, law in model.constraints.items()
                if any(leaf.level == "time" for leaf in law.leaves)]
        motions = [(f"the motion of body {b.name!r}", b.name) for b in model.tree.driven]
        found = {"joints": joints, "forces": forces, "constraints": rows, "motions": motions}
        self.sources = {name: [source for what in operator.reads.split() for source in found[what]]
                        for name, operator in OPERATORS.items()}
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


def may_read_time(force: Any) -> bool:
    """Laws of our own read it where it shows; a user's class may."""
    if not type(force).__module__.startswith("condyle."):
        return True
    asks: Sequence[Leaf] = getattr(force, "asks", ())
    return any(ask.level == "time" for ask in asks) or any(isinstance(v, TimeSeries) for v in vars(force).values())


def _reads_time(model: Model, law: Force) -> bool:
    """Whether what a force exerts, stores or keeps depends on the time."""
    if not may_read_time(law):                              # hundreds of springs need not be asked
        return False
    t = ca.SX.sym("t")
    view, loads = Blank(model.tree, t, len(law.states)), Gathered()
    law.apply(view, loads)
    stored = law.potential(view)
    found = [*loads.values, *law.rates(view), *([] if stored is None else [stored])]
    return any(ca.depends_on(ca.SX(x), t) for x in found) or any(
        ca.depends_on(lookup.index, t) for lookup in lookups_in([ca.SX(x) for x in found]))
