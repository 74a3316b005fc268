"""The right-hand side of the equations of motion, written once: rates of q, u and z.

The operators qdot, forward_dynamics and zdot are its parts; runs (condyle.integrate.equations) take all of
it.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.constraints.solve.multipliers import ROUNDING
from condyle.model.operators.dynamics import forward_dynamics
from condyle.model.operators.rates import qdot, zdot
from condyle.model.symbols import Symbols
from condyle.records import dataclass


@dataclass(frozen=True)
class Rates:
    """qdot, udot and zdot, and where there are none.

    Args:
        qdot: shape (nq,).
        lost: status of qdot: not zero where coordinates cannot follow the speeds.
        udot: shape (nu,).
        status: of udot: not zero where a mobilizer has lost rank, or constraints are unmet.
        zdot: shape (nz,).
        delicate: whether constraints are (multipliers.py (5)); None without constraints.
    """

    qdot: ca.SX
    lost: ca.SX
    udot: ca.SX
    status: ca.SX
    zdot: ca.SX
    delicate: ca.SX | None = None

    @property
    def ydot(self) -> SX:
        """All below each other; not a number where a status says that there is no answer: a step is refused
        then."""
        return ca.vertcat(unless(self.lost, self.qdot), unless(self.status, self.udot), self.zdot)


def right_hand_side(s: Symbols, short: float = ROUNDING) -> Rates:
    """The rates at some arguments; kinematics and leaves are shared. short: what runs let pass of delicate
    constraints."""
    udot, status, delicate = forward_dynamics(s, short)
    return Rates(*qdot(s), udot, status, zdot(s), delicate)


def unless(status: SX, rates: SX) -> SX:
    """Rates, the first not a number where the status is not zero."""
    if not rates.numel() or status.is_zero():
        return rates
    first, *rest = ca.vertsplit(rates)
    return ca.vertcat(ca.if_else(status != 0, np.nan, first), *rest)
