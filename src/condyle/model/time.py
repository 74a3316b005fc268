"""Time-dependent elements of a model: one list for batches (system/compiled.py) and runs
(integrate/interrupts/time_signals.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import casadi as ca

from condyle.arrays import SX
from condyle.constraints.base import Constraint
from condyle.forces.base import Force
from condyle.laws.leaves import Leaf
from condyle.laws.view import Blank, LoadList
from condyle.loading import if_loaded
from condyle.mobilizers import motion
from condyle.model.model import Model
from condyle.native.tables.lookup import lookups_in
from condyle.records import dataclass
from condyle.tree.body import Body
from condyle.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class TimeReader:
    """A force, constraint, motion or mobilizer that may read the time.

    Attributes:
        kind: "forces", "constraints", "motions" or "joints", as in the operators' records.
        words: its description in errors.
        switch: the name by which it is disabled; "" if it cannot be.
        expressions: its expressions at a given time, for an unknown state.
        body: whose motion or mobilizer it is.
    """

    kind: str
    words: str
    switch: str
    expressions: Callable[[ca.SX], list[ca.SX]]
    body: Body | None = None

    def reads(self) -> bool:
        """Whether its expressions depend on time."""
        t = ca.SX.sym("t")
        found = self.expressions(t)
        return any(ca.depends_on(x, t) for x in found) or any(
            ca.depends_on(row.index, t) for row in lookups_in(found)
        )


def time_readers(model: Model, stored: bool = False) -> Iterator[TimeReader]:
    """All elements that may depend on time. stored: include potential energies of forces."""
    for name, force in model.forces.items():
        if may_read_time(force):  # skip springs without further checks
            yield TimeReader("forces", f"force {name!r}", name, partial(_of_force, model.tree, force, stored))
    for name, constraint in model.constraints.items():
        for part in constraint.parts:
            if any(leaf.level == "time" for leaf in part.leaves):
                yield TimeReader("constraints", f"constraint {name!r}", name, partial(_of_constraint, part))
    for body in model.tree.bodies:
        if body.motion is not None:
            yield TimeReader(
                "motions", f"the motion of body {body.name!r}", body.name, partial(_of_motion, body), body
            )
        yield TimeReader(
            "joints", f"the mobilizer of body {body.name!r}", "", partial(_of_mobilizer, body), body
        )


def _of_force(tree: Tree, force: Force, stored: bool, t: SX) -> list[SX]:
    """Loads and rates of a force."""
    view, loads = Blank(tree, t, len(force.states)), LoadList()
    force.apply(view, loads)
    energy = force.potential(view) if stored else None
    return [*map(ca.SX, (*loads.values, *force.rates(view))), *([] if energy is None else [ca.SX(energy)])]


def _of_constraint(part: Constraint, t: SX) -> list[SX]:
    """A constraint's equations at each level, all leaves but t unknown."""

    def values(name: str, of_t: SX) -> list[SX]:
        return [of_t if leaf.level == "time" else ca.SX.sym(name, leaf.size) for leaf in part.leaves]

    x, xdot, xddot = values("x", t), values("xdot", ca.SX(1)), values("xddot", ca.SX(0))
    out = part.zeroth(*x)
    if part.level != "acceleration":
        out = out + part.first(*x, *xdot)
    return out + part.second(*x, *xdot, *xddot) if part.level == "position" else out


def _unknown(body: Body) -> tuple[SX, SX]:
    return ca.SX.sym("q", body.mobilizer.nq), ca.SX.sym("u", body.mobilizer.nu)


def _of_motion(body: Body, t: SX) -> list[SX]:
    assert body.motion is not None
    return list(body.motion.closure(t, *_unknown(body)))


def _of_mobilizer(body: Body, t: SX) -> list[SX]:
    return list(motion(body.mobilizer, t, *_unknown(body)))


def may_read_time(force: Any) -> bool:
    """Whether a force may read the time. Built-in laws read it only explicitly; a user's class may read it
    at any point."""
    if not type(force).__module__.startswith("condyle."):
        return True
    asks: Sequence[Leaf] = getattr(force, "asks", ())
    samples = tuple(if_loaded("condyle.forces.external", kind) for kind in ("TimeFunctions", "TimeSeries"))
    return any(ask.level == "time" for ask in asks) or any(
        isinstance(v, samples) for v in vars(force).values()
    )
