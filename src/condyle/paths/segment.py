"""A segment of a path between two points A, B, straight or over one surface: its length and its exact
derivatives.

All surfaces give the same numbers, in the surface's frame S. P and Q are the points where the path touches
and leaves the surface, e_in and e_out the directions of the path at A and B, n_P and n_Q the outward normals,
b = e x n:

    dL/dA = -e_in,    dL/dB = e_out                                                                        (1)
    d2L   = sum over (u, v) = (b_P, b_Q) and (n_P, n_Q) of
            [[alpha_A uu', -gamma uv'], [-gamma vu', alpha_B vv']]                                         (2)

Along n the tangent point moves along the curve: alpha = 1/l1, 1/l2 and gamma = 0, with l1 = |P - A|, l2 = |B
- Q|. Across, with the Jacobi fields a, r of the geodesic (a = 1, a' = 0 and r = 0, r' = 1 at P; values at Q)

    M = [1 l2; 0 1] [a r; a' r'] [1 l1; 0 1],    alpha_A = M11/M12,  alpha_B = M22/M12,  gamma = 1/M12     (3)

Straight, all six are 1/L. A tension T needs no tangent points: it pulls along e_in through A and along e_out
through B,

    on A's body T e_in at A;  on the surface's -T e_in at A and T e_out at B;  on B's -T e_out at B        (4)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.records import dataclass

cross, dot = ca.cross, ca.dot


class Columns:
    """A column of numbers with named parts, such as the state of a solver.

    Args:
        sizes: numbers of each part, in their order.
    """

    def __init__(self, **sizes: int) -> None:
        self.sizes, self.ends = sizes, np.cumsum([0, *sizes.values()]).tolist()

    def split(self, x: SX) -> dict[str, SX]:
        """The parts of a column that begins with them."""
        return {name: x[a:b] for name, (a, b) in zip(self.sizes, pairwise(self.ends), strict=True)}

    def join(self, parts: Mapping[str, Any]) -> SX:
        """The column of some parts, each a number, a column or a list of columns; the others are zero."""
        each = (parts.get(name, ca.SX.zeros(size)) for name, size in self.sizes.items())
        return ca.vertcat(
            *(ca.densify(ca.vertcat(*x) if isinstance(x, Sequence) else ca.SX(x)) for x in each)
        )


SEGMENT = Columns(L=1, e_in=3, e_out=3, n_P=3, n_Q=3, across=3, along=3, P=3, Q=3, wrapped=1)
ROW = SEGMENT.ends[-1]
"""Numbers of a segment in a row."""
SMALLEST = 1e-150
"""Lengths below this are replaced by it: points that coincide have a direction of zero instead of NaN."""


@dataclass(frozen=True, eq=False)
class Segment:
    """See the module's text. Columns of SX in the frame S.

    Attributes:
        L: length [m].
        e_in: unit direction of the path at A.
        e_out: at B.
        n_P: unit normal at P.
        n_Q: at Q.
        across: alpha_A, alpha_B, gamma of b [1/m].
        along: those of n [1/m].
        P: point where the path touches the surface [m]; A if straight.
        Q: point where it leaves [m]; B if straight.
        wrapped: 1 over the surface, 0 straight.
    """

    L: ca.SX
    e_in: ca.SX
    e_out: ca.SX
    n_P: ca.SX
    n_Q: ca.SX
    across: ca.SX
    along: ca.SX
    P: ca.SX
    Q: ca.SX
    wrapped: ca.SX

    @property
    def row(self) -> SX:
        """All numbers, shape (ROW,)."""
        return SEGMENT.join(vars(self))

    @staticmethod
    def from_row(row: SX) -> Segment:
        """From the first ROW numbers of a row."""
        return Segment(**SEGMENT.split(row))

    def hessian(self) -> SX:
        """(2), shape (6, 6): of the length, by A and B."""
        H = ca.SX(6, 6)
        for u, v, (alpha_A, alpha_B, gamma) in self.directions():
            H += ca.blockcat([[alpha_A * u @ u.T, -gamma * u @ v.T], [-gamma * v @ u.T, alpha_B * v @ v.T]])
        return H

    def moving(self, dA: SX, dB: SX) -> tuple[SX, SX, SX]:
        """L, e_in and e_out with derivatives: dA = A - A*, dB = B - B* are zero, but their derivatives are
        not.

        The segment is a solver's, constant for derivatives; A* and B* are the ends that it was solved for.
        Derivatives of L by (1) and (2) are exact to the second, those of e_in and e_out to the first; third
        derivatives of L do not exist.
        """
        L, e_in, e_out = self.L - dot(self.e_in, dA) + dot(self.e_out, dB), self.e_in, self.e_out
        for u, v, (alpha_A, alpha_B, gamma) in self.directions():
            x, y = dot(u, dA), dot(v, dB)
            L += (alpha_A * x * x + alpha_B * y * y) / 2 - gamma * x * y
            e_in = e_in - (alpha_A * x - gamma * y) * u
            e_out = e_out + (alpha_B * y - gamma * x) * v
        return L, e_in, e_out

    def directions(self) -> list[tuple[SX, SX, list[SX]]]:
        """u, v and alpha_A, alpha_B, gamma of (2), across and along."""
        b_P, b_Q = cross(self.e_in, self.n_P), cross(self.e_out, self.n_Q)
        return [(b_P, b_Q, ca.vertsplit(self.across)), (self.n_P, self.n_Q, ca.vertsplit(self.along))]


def chosen(condition: SX, yes: Segment, no: Segment) -> Segment:
    """One of two segments."""
    return Segment.from_row(ca.if_else(condition, yes.row, no.row))


def straight(A: SX, B: SX) -> Segment:
    """From A to B. Between points that coincide the directions are zero: no tension acts."""
    r = B - A
    L = norm(r)
    per = inverse(L)
    e = per * r
    n = across_to(e)
    stiff = ca.repmat(per, 3, 1)
    return Segment(L, e, e, n, n, stiff, stiff, A, B, ca.SX(1, 1))


def length(r: SX) -> SX:
    """|r|, with a derivative of zero where it is zero."""
    square = dot(r, r)
    apart = square > 0
    return ca.if_else(apart, ca.sqrt(ca.if_else(apart, square, 1)), 0)


def norm(v: SX) -> SX:
    """Length of a vector, at least SMALLEST."""
    return ca.fmax(ca.sqrt(dot(v, v)), SMALLEST)


def unit(v: SX) -> SX:
    return v * inverse(norm(v))


def inverse(x: SX) -> SX:
    """1/x of numbers above zero, to multiply by. CasADi turns every product with 1/x into a division, and in
    lanes a division takes as long as ten products; |1/x| prevents this."""
    return ca.fabs(1 / x)


def across_to(e: SX) -> SX:
    """A unit vector at right angles to a unit vector."""
    axis = ca.if_else(ca.fabs(e[0]) < 0.6, ca.SX([1, 0, 0]), ca.SX([0, 1, 0]))
    return unit(axis - dot(axis, e) * e)
