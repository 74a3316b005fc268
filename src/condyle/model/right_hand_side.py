"""The right-hand side of the equations of motion, written once: rates of q, u and z.

The operators qdot, forward_dynamics and zdot are its parts; runs (condyle.integrate.equations) use all of it.
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
    """qdot, udot and zdot, and their statuses.

    Args:
        qdot: shape (nq,).
        lost: status of qdot, nonzero at a singularity of the coordinates.
        udot: shape (nu,).
        status: status of udot, nonzero if a mobilizer has lost rank or constraints are violated.
        zdot: shape (nz,).
        delicate: whether constraints are delicate (multipliers.py (5)); None without constraints.
    """

    qdot: ca.SX
    lost: ca.SX
    udot: ca.SX
    status: ca.SX
    zdot: ca.SX
    delicate: ca.SX | None = None

    @property
    def ydot(self) -> SX:
        """All rates in one column; NaN if a status is nonzero, so that a step is rejected."""
        return ca.vertcat(unless(self.lost, self.qdot), unless(self.status, self.udot), self.zdot)


def right_hand_side(s: Symbols, short: float = ROUNDING) -> Rates:
    """The rates at some arguments, with shared kinematics and leaves. short: tolerance of runs for delicate
    constraints.
    """
    udot, status, delicate = forward_dynamics(s, short)
    return Rates(*qdot(s), udot, status, zdot(s), delicate)


def unless(status: SX, rates: SX) -> SX:
    """The rates; the first one is NaN if the status is nonzero."""
    if not rates.numel() or status.is_zero():
        return rates
    first, *rest = ca.vertsplit(rates)
    return ca.vertcat(ca.if_else(status != 0, np.nan, first), *rest)
