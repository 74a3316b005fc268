"""Forward dynamics of a tree of mobilized bodies: the articulated-body algorithm, O(n).

Frames and notation as in kinematics.py, inertias as in inertia.py. M udot = tau - h is solved in three passes
(Featherstone 2008, chapter 7; Jain 2010, chapter 7; sherman2011, section 4; lee2008 (43), (44)). The first one finds the force
that each body needs for its velocity, gravity and loads. After it no term depends on velocities.

Equations
  outward, base to tip, by rnea.py (1) at udot = 0
    A_0 = shift(A_0P, r) + c,   z = M A_0 + gyroscopic - loads                          (1)
  inward, tip to base, for each speed k of B in turn
    U = P h,  D = h' U,  eps = (tau_k - h' z) / D + a_k                                 (2)
    P <- P - U U' / D,  z <- z + U eps                                                  (3)
  to the parent:  P_P += shift(P, r),  z_P += shift(z, r)                               (4)
  outward, base to tip, speeds in reverse order of their elimination
    X = shift(X_P, r),  then  udot_k = eps_k - U_k' X / D_k,  X <- X + h_k udot_k       (5)
X is the motion of a body under the speeds udot, and A = A_0 + X its acceleration. A d-dof mobilizer is d
rank-one steps
(2)-(3): no matrix is inverted. A held speed, locked or prescribed, has D + infinity for D and its
acceleration for a_k, which is 0 for all others: its udot is exactly a_k (5), P passes whole to the parent and
the force U a_k that it takes with it (3). Gravity is an upward acceleration of ground. A second right-hand
side f is handled alike: (2) and (3) for its own z, which begins with 0, (5) for x = M^-1 f.

Where a mobilizer has lost rank (gimbal lock, a vanishing tangent), D is rounding error alone. The status is 1
+ the first speed of the last body with
  not D N > 3e-14 h' P h,    N <- N min(1, D / h' P h),    P before the mobilizer's first elimination     (6)
  first speed:  not D > 1e-14 (|h_w|^2 tr I + |h_v|^2 tr M),   an upper bound with such a P
and 0 if there is none. N begins with 1: the product is Hadamard's ratio of H' P H, its determinant over the
product of its diagonal, which no choice of units and no length of a column changes. It is 1 where speeds do
not couple and some roundings, 1e-16, where rank is lost; a light body that carries a heavy one has the ratio
of their inertias and loses as many digits, but is accepted while some are left. The first speed's
test finds rank that is lost across massless bodies.

Trees in which bodies share speeds are solved by mass_matrix.py, with the same results.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca

from condyle.arrays import SX
from condyle.dynamics.inertia import (
    Inertia,
    add,
    add_inertia,
    add_product,
    add_scaled,
    inner,
    less_inner,
    newton_euler,
    rigid,
    scaled,
    shift_force,
    shift_inertia,
    shift_motion,
    symmetric,
)
from condyle.dynamics.inline import inlined
from condyle.dynamics.kinematics import BodyKinematics, Kinematics, Pair, acceleration, accelerations
from condyle.dynamics.mass_matrix import MassMatrixFactors
from condyle.dynamics.rnea import inverse_dynamics
from condyle.dynamics.row import ZERO, BodyFields, Row, StraightRow, StraightTree
from condyle.dynamics.view import TreeLoads
from condyle.errors import DescriptionError
from condyle.records import dataclass
from condyle.tree.tree import Tree

SMALLEST_PIVOT = 3e-14
"""Bound in (6): rounding leaves about 1e-16 where rank is lost; at the bound two or three digits are left."""


@inlined
def reduced(P, z, h, tau, lock, held):
    """U, D, 1 / D (0 for a held speed) and eps of one speed (2)."""
    I, J, M = P
    U = add_product(I @ h[0], J, h[1]), add_product(J.T @ h[0], M, h[1])
    D = inner(h, U) + lock
    inverse = (lock < ca.inf) / D  # CasADi would turn U (1 / D) into six divisions
    return U, D, inverse, less_inner(tau, h, z) * inverse + held


@inlined
def take_out(P, z, U, inverse, eps):
    """P and z after one speed is eliminated (3), and U / D."""
    (I, J, M), (n, f) = P, U
    n_D, f_D = n * inverse, f * inverse
    P = symmetric(I - n @ n_D.T), J - n @ f_D.T, symmetric(M - f @ f_D.T)
    return P, (z[0] + n * eps, z[1] + f * eps), (n_D, f_D)


@inlined
def follow(z, h, f, U_D, D):
    """z and eps of a second right-hand side f, (2) and (3), with the same elimination."""
    rest = less_inner(f, h, z)
    return (z[0] + U_D[0] * rest, z[1] + U_D[1] * rest), rest / D


@inlined
def failure(found, D, D_0, number):
    """The status (6) of one mobilizer after one more speed."""
    return ca.if_else(D > SMALLEST_PIVOT * D_0, found, ca.if_else(found, found, number))


@inlined
def larger(a, b):
    return ca.if_else(a > b, a, b)


@inlined
def reach(P, h):
    """An upper bound of h' P h, up to a factor: the scale for small pivots."""
    return ca.sumsqr(h[0]) * ca.trace(P[0]) + ca.sumsqr(h[1]) * ca.trace(P[2])


@inlined
def pivot(P, h):
    return ca.dot(h[0], P[0] @ h[0] + 2 * (P[1] @ h[1])) + ca.dot(h[1], P[2] @ h[1])


def inward(
    P: Inertia,
    z: Pair,
    r: SX,
    H: list[Pair],
    tau: list[SX],
    lock: list[SX],
    held: list[SX] | None,
    status: SX,
    number: Any,
) -> tuple[Inertia, Pair, list[tuple[Pair, SX]], list[SX], SX]:
    """One body and its subtree: P and z that it adds to its parent (4), U / D and eps of each speed, its D,
    and the status (6). held None is zero; `number` is 1 + its first speed.

    The last speed is eliminated after the shift, which therefore need not wait for a division.
    """
    before, N = [*(reach(P, h) * 0.3 for h in H[:1]), *(pivot(P, h) for h in H[1:])], ca.SX(1)
    steps, pivots, failed = [], [], ca.SX(0)
    for j, h in enumerate(H):
        U, D, inverse, eps = reduced(P, z, h, tau[j], lock[j], held[j] if held else ca.SX(0))  # (2)
        if j + 1 < len(H):
            P, z, U_D = take_out(P, z, U, inverse, eps)  # (3)
        else:
            U_D = scaled(U, inverse)
            P, z, _ = take_out(
                shift_inertia(P, r), shift_force(z, r), shift_force(U, r), inverse, eps
            )  # (3), (4)
        steps.append((U_D, eps))
        pivots.append(D)
        failed = failure(failed, D * N, before[j], number + j)  # (6)
        N = N * ca.fmin(1, D / before[j]) if j and j + 1 < len(H) else N
    status = larger(failed, status) if H else status
    if not H:
        P, z = shift_inertia(P, r), shift_force(z, r)  # (4)
    return P, z, steps, pivots, status


def inward_again(
    z: Pair, H: list[Pair], f: list[SX], steps: list[tuple[Pair, SX]], pivots: list[SX]
) -> tuple[Pair, list[tuple[Pair, SX]]]:
    """The same body for a second right-hand side: z at its parent, U / D and eps of each speed."""
    again = []
    for h, x, (U_D, _), D in zip(H, f, steps, pivots, strict=True):
        z, eps = follow(z, h, x, U_D, D)
        again.append((U_D, eps))
    return z, again


def outward(X_P: Pair, r: SX, H: list[Pair], steps: list[tuple[Pair, SX]]) -> tuple[list[SX], Pair]:
    """One body: udot of its speeds and its motion X (5)."""
    X, udot = shift_motion(X_P, r), []
    for h, (U_D, eps) in zip(reversed(H), reversed(steps), strict=True):
        udot.append(follow_parent(eps, U_D, X))
        X = add_scaled(X, h, udot[-1])
    return udot[::-1], X


@inlined
def follow_parent(eps, U_D, X):
    return less_inner(eps, U_D, X)  # (5)


# ---- the passes, for any layout (row.py)


def bias_pass(d: Row, new: BodyKinematics, moving: bool = True) -> tuple[Inertia, SX]:
    """Outward: P of the body alone, A_0 and z of (1) without loads; zero at rest. Returns P and the mass
    center."""
    P, p_c = rigid(new.R_GM, d.body.mass, d.body.com, d.body.I)
    d.me.P = P
    z = ZERO
    if moving:
        A_0 = acceleration(d.parent.A, new.p_PM, new.c, [], [])
        d.me.A = A_0
        z = newton_euler(P, d.body.mass, p_c, new.V_GM[0], A_0)  # (1)
    d.me.z = z
    return P, p_c


def inward_pass(
    d: Row,
    tau: list[SX],
    lock: list[SX],
    held: list[SX] | None,
    f: list[SX] | None = None,
    acts: bool = True,
) -> None:
    """Inward: (2)-(4) and (6). Stores U_D, D and eps of each speed, and eps_f of a second right-hand side f.
    Without `acts` tau, z and eps are zero and not stored.
    """
    r, H = d.me.r, d.me.H
    P, z, steps, pivots, d.root.status = inward(
        d.me.P, d.me.z if acts else ZERO, r, H, tau, lock, held, d.root.status, d.number
    )
    d.me.U_D = [U_D for U_D, _ in steps]
    d.me.D = pivots
    d.parent.P = add_inertia(d.parent.P, P)  # (4)
    if acts:
        d.me.eps = [eps for _, eps in steps]
        d.parent.z = add(d.parent.z, z)
    if f is not None:
        z_f, again = inward_again(d.me.z_f, H, f, steps, pivots)
        d.me.eps_f = [eps for _, eps in again]
        d.parent.z_f = add(d.parent.z_f, shift_force(z_f, r))


def outward_pass(d: Row, eps: Any = BodyFields.eps, motion: Any = BodyFields.X) -> tuple[list[SX], Pair]:
    """Outward: (5). udot of the body's speeds and its motion, which is stored too. eps, motion: the fields."""
    steps = list(zip(d.me.U_D, d.me[eps], strict=True))
    udot, X = outward(d.parent[motion], d.me.r, d.me.H, steps)
    d.me[motion] = X
    return udot, X


# ---- in a straight line


@dataclass
class TreeSolution:
    """Result of the recursion: udot, shape (nu,), the acceleration of each body (None is ground), the status
    (6); for a second right-hand side x and the motion X of each body; P of each body before its own speeds
    are eliminated."""

    udot: ca.SX
    A: dict[int | None, Pair]
    status: ca.SX
    x: ca.SX
    X: dict[int | None, Pair]
    P: dict[int, Inertia]


def forward_dynamics(
    tree: Tree, kin: Kinematics, tau: SX, lock: SX, gravity: SX, loads: TreeLoads, held: SX
) -> tuple[SX, SX]:
    """udot, shape (nu,), under loads and generalized forces tau, and the status (6).

    lock: 0, or infinity where a speed is held.   held: a_k of (2).
    """
    solved = forward_dynamics_and(tree, kin, tau, None, lock, gravity, loads, held)
    return solved.udot, solved.status


def forward_dynamics_and(
    tree: Tree,
    kin: Kinematics,
    tau: SX,
    f: SX | None,
    lock: SX,
    gravity: SX,
    loads: TreeLoads,
    held: SX,
) -> TreeSolution:
    """Forward dynamics and x = M^-1 f with one elimination; f None is zero."""
    if tree.shares:  # by mass_matrix.py; P is empty
        factors = MassMatrixFactors(tree, kin, lock)
        udot = held + factors.solve(tau - inverse_dynamics(tree, kin, held, gravity, loads))
        x = ca.SX(tree.nu, 1) if f is None else factors.solve(f)
        X = {} if f is None else accelerations(tree, replace(kin, c={}), x)
        A = accelerations(tree, kin, udot, (ca.SX(3, 1), -gravity))
        return TreeSolution(udot, A, factors.status, x, X, {})
    line = StraightTree(tree, kin, A=(ca.SX(3, 1), -gravity))
    line.outward(lambda d: _begin(d, loads))
    taus = ca.vertsplit(tau) if tree.nu else []
    taus = [x + loads.mobility[k] if k in loads.mobility else x for k, x in enumerate(taus)]
    solved = _solve(line, taus, lock, held, f)
    solved.A = {B: add(A_0, solved.A[B]) for B, A_0 in line.each(BodyFields.A).items()}
    return solved


def _begin(d: StraightRow, loads: TreeLoads) -> None:
    """(1) with its loads."""
    bias_pass(d, d.kinematics())
    if (load := loads.bodies.get(d.B)) is not None:
        d.me.z = add_scaled(d.me.z, load, -1)


def solve_mass_matrix(tree: Tree, kin: Kinematics, f: SX, lock: SX) -> tuple[SX, SX]:
    """M^-1 f, shape (nu,), and the status: the same recursion without velocities and forces. Held speeds give
    zero.
    """
    if tree.shares:
        factors = MassMatrixFactors(tree, kin, lock)
        return factors.solve(f), factors.status
    solved = _solve(_at_rest(tree, kin), ca.vertsplit(f) if tree.nu else [], lock, None)
    return solved.udot, solved.status


def articulated_inertias(tree: Tree, kin: Kinematics, lock: SX) -> tuple[dict[int, Inertia], SX]:
    """P of each body with its subtree, whose speeds are free, about M's origin, in ground; and the status
    (6)."""
    if tree.shares:
        led, leader = next((b.name, b.follows.name) for b in tree.bodies if b.follows is not None)
        raise DescriptionError(
            f"articulated_inertia: body {led!r} follows {leader!r}: what one of them "
            "carries moves with the other, and has no inertia of its own"
        )
    solved = _solve(_at_rest(tree, kin), [ca.SX(0)] * tree.nu, lock, None)
    return solved.P, solved.status


def _at_rest(tree: Tree, kin: Kinematics) -> StraightTree:
    line = StraightTree(tree, kin)
    line.outward(lambda d: bias_pass(d, d.kinematics(), moving=False))
    return line


def _solve(
    line: StraightTree, taus: list[SX], lock: SX, held: SX | None, f: SX | None = None
) -> TreeSolution:
    """(2)-(6), from P and z (1) of each body. A of the result is X of (5)."""
    tree = line.tree
    locks, helds, fs = ([] if x is None or not tree.nu else ca.vertsplit(x) for x in (lock, held, f))
    line.inward(
        lambda d: inward_pass(
            d, taus[d.u], locks[d.u], helds[d.u] if helds else None, fs[d.u] if fs else None
        )
    )
    udot, x = _outward(line, BodyFields.eps, BodyFields.Y), ca.SX(tree.nu, 1)
    if fs:
        x = _outward(line, BodyFields.eps_f, BodyFields.X)
    X = line.each(BodyFields.X) if fs else {}
    return TreeSolution(
        udot, line.each(BodyFields.Y), line.status, x, X, line.each(BodyFields.P, ground=False)
    )


def _outward(line: StraightTree, eps: Any, motion: Any) -> SX:
    udot: list[ca.SX] = []
    line.outward(lambda d: udot.extend(outward_pass(d, eps, motion)[0]))
    return ca.vertcat(ca.SX(0, 1), *udot)
