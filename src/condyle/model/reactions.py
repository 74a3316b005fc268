"""Laws that depend on joint reactions (`s.reaction`, cd.forces.JointFriction), solved with the accelerations.

docs/theory/forces.md (50), (51). The loads l of such laws affect the accelerations and the reactions R. Both
are affine in l, since forward dynamics and (1) of dynamics/rnea.py are.

    R = R_0 + B l,    l = L(R)                                                                             (1)
    g(l) = l - L(R_0 + B l),    A = 1 - L_R B,    l <- l - A^-1 g,    from l = 0                            (2)

until a step is at most 1e-9 of the terms of l, sum_j |L_R,ij R_j| + |l_i|. The remaining error is the
square of this, and derivatives are those of the root (native/solvers/implicit_function.py). If
accelerations are given, as in inverse dynamics, generalized forces on speeds do not change R: B is zero,
and l = L(R_0).

Self-locking friction has several solutions or none (Painleve): a pivot of A, which is 1 without friction,
has reached zero. The results are then NaN, as they are if (2) does not converge in 50 steps. (3)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.constraints.solve.multipliers import constrained
from condyle.dynamics import aba, rnea
from condyle.dynamics.view import TreeLoads
from condyle.errors import DescriptionError
from condyle.laws.leaves import Reaction
from condyle.native.solvers.implicit_function import implicit
from condyle.native.solvers.solver import Solver
from condyle.native.tables.lookup import look_up

if TYPE_CHECKING:
    from condyle.dynamics.kinematics import Kinematics
    from condyle.model.symbols import Symbols

TOLERANCE, STEPS = 1e-9, 50
"""Tolerance and largest number of steps of (2)."""


class _Exerted:
    """Loads (laws.view.Loads) as a list of added terms, each with its enabled flag."""

    def __init__(self) -> None:
        self.enabled = ca.SX(1)
        self.entries: list[tuple[str, str, Any, ca.SX, ca.SX]] = []

    def _add(self, kind: str, target: str, p: Any, value: SX) -> None:
        if not value.nnz():
            return
        self.entries.append((kind, target, p, self.enabled, ca.densify(value)))

    def add_force(self, body: str, p: Any, force: SX) -> None:
        self._add("force", body, p, force)

    def add_torque(self, body: str, torque: SX) -> None:
        self._add("torque", body, None, torque)

    def add_mobility(self, speed: str, value: SX) -> None:
        self._add("mobility", speed, None, value)

    def column(self) -> SX:
        """l: all added terms, zero if disabled."""
        return ca.vertcat(ca.SX(0, 1), *(ca.if_else(on, x, 0) for *_, on, x in self.entries))

    def place(self, l: SX, loads: TreeLoads) -> None:
        """Add loads with the numbers l in place of the recorded terms."""
        start, loads.enabled = 0, ca.SX(1)
        for kind, target, p, _, x in self.entries:
            value, start = l[start : start + x.numel()], start + x.numel()
            add = getattr(loads, f"add_{kind}")
            add(target, p, value) if kind == "force" else add(target, value)


def solve_reactions(
    s: Symbols, kin: Kinematics, udot: SX | None, tau: SX | None, lambda_: SX | None
) -> tuple[TreeLoads, SX]:
    """Give the view of these kinematics all reactions used by laws: those at given accelerations, or those
    of forward dynamics under tau (None for zero).

    Args:
        lambda_: multipliers of the constraints, if accelerations are given.

    Returns:
        the loads of all other laws; and 0, or nonzero if there are no such reactions (3).
    """
    if s.model.constraints and udot is not None and lambda_ is None:
        raise DescriptionError(
            f"force {next(iter(s.model.reaction_laws))!r} asks for reactions of joints, and constraints act on "
            "these too: accelerations alone do not say how much. Give reactions the multipliers, lambda_=; for "
            "inverse dynamics leave the force or the constraints out: system.copy(forces={name: None})"
        )
    view, tree = s.view(kin), s.model.tree
    bodies = list(dict.fromkeys(b for bodies in s.model.reaction_laws.values() for b in bodies))
    r = ca.SX.sym("reaction", 6 * len(bodies))
    view.known |= {Reaction(b).text: r[6 * i : 6 * i + 6] for i, b in enumerate(bodies)}
    loads, own = TreeLoads(view), _Exerted()
    for enabled, force in s.laws(view):
        into = own if view.law in s.model.reaction_laws else loads
        into.enabled = enabled
        force.apply(view, into)
        if any(ca.depends_on(ca.SX(p), r) for kind, _, p, *_ in own.entries if kind == "force"):
            raise DescriptionError(
                f"force {view.law!r}: the point where it acts (at=) depends on a reaction; only forces, "
                "torques and generalized forces may"
            )
    L, others = own.column(), loads.copy()  # L is a function of r
    l = ca.SX.sym("exerted", L.numel())
    own.place(l, loads)
    if udot is None:
        udot, _ = aba.forward_dynamics(
            tree,
            kin,
            ca.SX(tree.nu, 1) if tau is None else tau,
            s.lock,
            s.gravity,
            loads,
            s.motions.held(),
        )
        if s.model.constraints:
            found = constrained(s.rows(kin), udot, s.lock)
            udot, lambda_ = found.udot, found.lambda_
    if lambda_ is not None:
        loads = s.rows(kin).loads(lambda_, loads)
    F = rnea.mobilizer_forces(tree, kin, udot, s.gravity, loads)
    R = ca.vertcat(*(x for b in bodies for x in F[tree.body(b).index]))
    B = ca.jacobian(R, l)
    R_0 = ca.substitute(R, l, ca.SX.zeros(l.numel()))
    status = ca.SX(0)
    if ca.sparsify(B).nnz():
        root = _solution(L, r, R_0, B, s.plain)
        R_0, status = R_0 + B @ root[:-1], root[-1]
    view.known |= {Reaction(b).text: R_0[6 * i : 6 * i + 6] for i, b in enumerate(bodies)}
    return others, status


def _solution(L: SX, r: SX, R_0: SX, B: SX, plain: bool) -> SX:
    """The root l of (2), and a status, nonzero if there is none (3)."""
    n = L.numel()
    used = sorted({*ca.jacobian_sparsity(L, r).get_triplet()[1]})  # the reactions used by laws
    kept, names, values = ca.extract_parametric(L, _others(L, r))
    others = _others(kept, ca.vertcat(r, *names))
    law = ca.Function("exerted", [r[used], ca.vertcat(*names, others)], [kept])
    B = ca.densify(B[used, :])
    given = ca.vertcat(R_0[used], ca.vec(B), *values, others)
    m = len(used)

    def parts(l: SX, a: SX) -> tuple[SX, SX]:
        """The reactions R used by laws, and L(R)."""
        R = a[:m] + ca.reshape(a[m : m + m * n], m, n) @ l  # (1)
        return R, law(R, a[m + m * n :])

    def residual(l: SX, a: SX) -> SX:
        return l - parts(l, a)[1]  # (2)

    def step(a: SX, l: SX) -> tuple[SX, SX]:
        R, exerted = parts(x := ca.SX.sym("l", n), a)
        slopes = ca.Function("slopes", [x, a], [ca.jacobian(x - exerted, x), x - exerted, R, exerted])
        A, g, R, exerted = slopes(l, a)
        R_ = ca.SX.sym("R", m)
        L_R = ca.Function("L_R", [R_, a], [ca.jacobian(law(R_, a[m + m * n :]), R_)])(R, a)
        dl, least = _eliminated(A, -g)
        size = ca.fabs(L_R) @ ca.fabs(R) + ca.fabs(exerted)
        near = ca.sum1(ca.fabs(dl) <= TOLERANCE * size) == n
        lost = ca.logic_or(ca.logic_not(ca.sumsqr(dl) < np.inf), ca.logic_and(near, least <= 0))  # (3)
        return l + dl, ca.if_else(lost, np.nan, ca.logic_not(near))

    solver = Solver.trace(
        "reactions", given.numel(), lambda a: (ca.SX.zeros(n), ca.SX(1)), step, lambda a, l: l, STEPS
    )
    return look_up(solver, given) if plain else implicit(solver, residual, given, order=2)


def _others(expression: SX, known: SX) -> SX:
    """Symbols of an expression other than the known ones."""
    names = {x.element_hash() for x in ca.vertsplit(known)}
    return ca.vertcat(ca.SX(0, 1), *(x for x in ca.symvar(expression) if x.element_hash() not in names))


def _eliminated(A: SX, b: SX) -> tuple[SX, SX]:
    """A^-1 b by Gaussian elimination without exchanges, and the least pivot. A is close to the identity
    (2)."""
    n, rows = b.numel(), [ca.horzcat(A[i, :], b[i]) for i in range(b.numel())]
    least = ca.SX(np.inf)
    for i in range(n):
        least = ca.fmin(least, rows[i][i])
        rows[i] = rows[i] / rows[i][i]
        rows = [x if k == i else x - x[i] * rows[i] for k, x in enumerate(rows)]
    return ca.vertcat(*(x[n] for x in rows)), least
