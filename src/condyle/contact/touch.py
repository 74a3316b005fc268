"""Where two surfaces are closest: depth, point, normal and curvatures there. docs/theory/contact.md (5)-(8).

    n      unit normal from a to b, in ground
    Q      the point of a's surface that is deepest in b; b's is Q - x n                                  (5)
    x      depth, above zero where they touch; its rate is n . (v_a - v_b) at any point of this line      (6)
    kappa_1, kappa_2   principal curvatures of the gap: those of the sum of both surfaces' tensors        (7)
    P = Q - s_1 x n    the contact point                                                                  (8)

A pair of kinds of surfaces is one function in a list: pairs.py.
"""

from __future__ import annotations

import casadi as ca

from condyle.records import dataclass


@dataclass(frozen=True)
class Touch:
    """See the module's text.

    Attributes:
        x: depth [m], (6).
        n: normal from a to b, in ground.
        Q: deepest point of a [m], in ground.
        R: relative radius 2 / (kappa_1 + kappa_2) [m].
        gap: curvature of the gap as a tensor [1/m]: of any three axes, shape (3, 3), then it maps n to zero,
            or of two across n, shape (2, 2); None where both principal curvatures are 1 / R by construction.
        solved: it comes from a solver, and is NaN where that finds nothing.
    """

    x: ca.SX
    n: ca.SX
    Q: ca.SX
    R: ca.SX
    gap: ca.SX | None = None
    solved: bool = False

    @property
    def flipped(self) -> Touch:
        """The same with a and b exchanged."""
        return Touch(self.x, -self.n, self.Q - self.x * self.n, self.R, self.gap, self.solved)

    def at(self, s_1: ca.SX) -> ca.SX:
        """P of (8) [m]."""
        return self.Q - s_1 * self.x * self.n
