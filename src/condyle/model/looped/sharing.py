"""Trees in which bodies share speeds, in the looped layout: dynamics/sharing.py.

Kinematics, forces and their sums go over the rows as ever. The mass matrix, its factors and the solution are
one straight line over the hinge matrices that the rows keep.
"""

from __future__ import annotations

import casadi as ca

from condyle.dynamics import rnea
from condyle.dynamics.inertia import inner
from condyle.dynamics.sharing import Factors
from condyle.model.looped.between import StraightLine
from condyle.model.looped.draft import Draft
from condyle.model.looped.tables import Looped


def force_shares(looped: Looped) -> None:
    """Inward: F of rnea.py, of which each row keeps what its speeds have, as "share"."""

    def inward(d: Draft) -> None:
        F = rnea.sum_pass(d)
        d.keep("share", [ca.densify(inner(h, F)) for h in d.kept("H")])

    looped.inward(inward, lambda d: None)


def accelerations(looped: Looped, moving: bool, given: str) -> None:
    """The results udot and status, from the shares of the rows where bodies move, and from the argument
    `given`: tau or f."""
    line = StraightLine(looped)
    s, tree = line.symbols, looped.model.tree
    factors = Factors(tree, line.kin, s.lock)
    rest, held = s[given], ca.SX(tree.nu, 1)
    if moving:
        held = s.motions.held()
        h = [ca.SX(0)] * tree.nu
        for b in tree.bodies:
            for k, x in zip(tree.speeds_of(b.index), line.read(b.index, "share"), strict=True):
                h[k] = h[k] + x
            if b.follows is None:
                for k, f in zip(tree.speeds_of(b.index), line.read(b.index, "f"), strict=True):
                    h[k] = h[k] - f
        rest = rest - ca.vertcat(ca.SX(0, 1), *h)
        rest -= factors.M @ held
    line.write({"udot": ca.densify(held + factors.solve(rest)), "status": ca.densify(factors.status)})
