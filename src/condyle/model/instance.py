"""The INSTANCE stage: computes the table from the parameters and checks their values.

One kernel does both in microseconds, where Python needs milliseconds: a fit sets new parameters at every
call. Python checks again only if the status is not zero, to raise the error.

    status
    0: valid.
    1: some elements have checks in Python.
    2: invalid.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Entries, check_finite
from condyle.constraints.base import Constraint
from condyle.forces.base import Force
from condyle.mobilizers import Mobilizer, motion_symbols
from condyle.spatial import possible_masses
from condyle.trace.parameter import Discrete, Input

if TYPE_CHECKING:
    from condyle.model.model import Model

Checked = Mobilizer | Force | Constraint
CHAINS = 8
"""Number of independent sums, to hide the latency of additions."""


class ParameterCheck:
    """Checks of parameter values.

    Attributes:
        bodies: bodies with Parameters in their mass properties.
        laws: mobilizers, forces and constraints with Parameters.
        asked: elements with checks in Python only.
    """

    def __init__(self, model: Model) -> None:
        self.tree = tree = model.tree
        self.bodies = [b for b in tree.bodies if {"mass", "com", "inertia"} & b.symbolic.keys()]
        named = model.code.notes.get(
            "joints with parameters",
            lambda: [k for k, b in enumerate(tree.bodies) if motion_symbols(b.mobilizer).numel()],
        )
        mobilizers = dict.fromkeys(tree.bodies[k].mobilizer for k in named)
        others: list[Force | Constraint] = [*model.forces.values(), *model.constraints.values()]
        self.laws: list[Checked] = [
            *mobilizers,
            *(law for law in others if _has_parameters(law) or not _speaks_for(law)),
        ]
        self.asked = [law for law in self.laws if self._conditions(law) is None]
        self._passed = b""

    def status(self) -> SX:
        """The status as an expression of the parameters."""
        p = self.tree.parameters.symbols
        conditions = [_sum(ca.vertsplit(p**2)) < ca.inf] if p.numel() else []
        for body in self.bodies:
            mass, com, inertia = body.mass_expressions()
            conditions += [possible_masses(mass, inertia, body.any_inertia), ca.sumsqr(com) < ca.inf]
        for law in self.laws:
            conditions += (
                ca.vertsplit(given) if (given := self._conditions(law)) is not None and given.numel() else []
            )
        good = _all(conditions)
        for registry in (self.tree.inputs, self.tree.discrete):
            if len(registry):
                good = ca.substitute(good, registry.symbols, ca.DM(registry.defaults))
        return ca.if_else(good, 1.0 if self.asked else 0.0, 2.0)

    @staticmethod
    def _conditions(law: Checked) -> SX | None:
        return law.conditions() if _speaks_for(law) else None

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return self.tree.parameters.names

    def refuse(self, arguments: tuple[Any, ...], results: list[np.ndarray], status: np.ndarray) -> None:
        """Check parameters (..., n) in Python where the status (..., 1) is not zero: raise an error with the
        reason, or accept them.
        """
        rows = np.asarray(arguments[0], dtype=float).reshape(-1, len(self._names))[status.ravel() != 0]
        if (now := rows.tobytes()) == self._passed:
            return
        # no `error.result`: without parameters nothing was computed
        given = np.asarray(arguments[0], dtype=float)
        check_finite("parameters", given, Entries("parameter", self._names))
        everything = status.max() > 1
        for row in np.unique(rows, axis=0):
            values = dict(zip(self._names, row.tolist(), strict=True))
            for law in self.laws if everything else self.asked:
                law.check_parameters(values)
            for body in self.bodies if everything else ():
                body.mass_properties_at(values)
        # other changes of a State keep the parameters
        self._passed = now


def _has_parameters(law: Force | Constraint) -> bool:
    """Whether a law has Parameters. Inputs and discrete variables are left out: only their defaults are
    known, and these were checked."""
    return any(not isinstance(p, (Input, Discrete)) for p in law.parameters())


def _speaks_for(law: Checked) -> bool:
    """Whether the law's `conditions` cover its `check_parameters`, i.e. no subclass adds checks."""
    return next(
        "conditions" in vars(c)
        for c in type(law).__mro__
        if {"conditions", "check_parameters"} & vars(c).keys()
    )


def _all(conditions: Sequence[SX]) -> SX:
    """The conjunction of all conditions, formed in pairs."""
    while len(conditions) > 1:
        pairs = zip(conditions[::2], conditions[1::2], strict=False)
        conditions = [
            *(ca.logic_and(a, b) for a, b in pairs),
            *(conditions[-1:] if len(conditions) % 2 else []),
        ]
    return conditions[0] if conditions else ca.SX(1)


def _sum(terms: Sequence[SX]) -> SX:
    sums = [sum(terms[k::CHAINS], ca.SX(0)) for k in range(min(CHAINS, len(terms)))]
    return sum(sums, ca.SX(0))
