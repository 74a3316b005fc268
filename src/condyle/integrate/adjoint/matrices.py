"""f_y and f_p of every evaluation of f as numbers, so that little is left to compute for each direction.

Steps depend on each other, but their rows are known: everything that does not depend on a direction is
computed for several steps side by side in lanes, and stored. With J the entries of (f_y, f_p) that are not
constant,

    in lanes, over steps:      (t, y, p) -> f, J                                                           (1)
    step by step:              k' = J (y', p'),     (y^, p^) += J' k^                                      (2)

J is that of f by automatic differentiation, or, where a tree has no constraints and its speeds are the rates of its
coordinates, from inverse dynamics tau and M = L' D L (dynamics/derivatives.py), with udot held:

    M udot' = -(tau_q q' + tau_u u' + tau_z z' + tau_p p')                                                 (3)

Then tau_q, tau_u, L and D are stored: solving (3) is as cheap as multiplying by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, vertcat
from condyle.dynamics.mass_matrix import entries_of, factorization
from condyle.dynamics.rnea import inverse_dynamics
from condyle.integrate.adjoint.slopes import Slope
from condyle.integrate.equations import EquationsOfMotion, RightHandSide
from condyle.model.looped.jacobian import build_looped_jacobian, has_looped_jacobian
from condyle.model.looped.path_kinds import path_kinds
from condyle.model.model import Model
from condyle.model.symbols import Symbols
from condyle.native.programs.nodes import Kernel, Node, Stream
from condyle.native.programs.slice_function import SliceFunction, compiled
from condyle.native.tables.staged import build_function

LONGEST = 60_000
"""Operations of (1) in a straight line: more take too long to compile."""
LANES = 0.8
"""Speedup of each lane."""


class Matrices(Slope):
    """(1) and (2) as kernels, J by automatic differentiation.

    Args:
        eq, rhs, wanted: as Slope takes them.
    """

    def __init__(self, eq: EquationsOfMotion, rhs: RightHandSide, wanted: Sequence[int]) -> None:
        super().__init__(eq, rhs, wanted)
        J = ca.jacobian(self.ydot, ca.vertcat(self.active, self.offsets))
        self._keep(J.sparsity(), J.nonzeros(), [])
        f = ca.Function("matrices", self.x, [self.ydot, self.numbers], {"cse": True})
        self.linear = ca.Function("matrices", self.x, [ca.densify(y) for y in f.call(self.x, True, False)])

    def _keep(self, places: ca.Sparsity, entries: Sequence[Any], more: Sequence[SX]) -> None:
        """The stored values of an evaluation: `numbers`, the entries of J that are not constant, then more.
        They are the symbols c, which compose J."""
        moving = [not x.is_constant() for x in entries]
        time = [self.x[0]] if self.offsets.numel() else []
        self.numbers = ca.vertcat(
            ca.SX(0, 1), *(x for x, moves in zip(entries, moving, strict=True) if moves), *more, *time
        )
        self.c, known = ca.SX.sym("c", self.numbers.numel()), 0
        values = []
        for x, moves in zip(entries, moving, strict=True):
            values.append(self.c[known] if moves else x)
            known += moves
        self.J = ca.SX(places, vertcat(values))
        self.rest = self.c[known : known + len(more)]

    def solved(self, r: SX) -> SX:
        """k' of the product r of J."""
        return r

    def evaluated(
        self, t: str, y: str, k: str, known: bool
    ) -> tuple[list[Node], tuple[str, ...], list[Node]]:
        looked, rows = self.rows_at(t, y)
        f, kept = "f.known" if known else k, self._kept()
        self.sizes["f.known"] = self.n
        return [*looked, Kernel(self.linear, (t, y, "p", *rows), (f, kept))], (kept,), []

    def _kept(self) -> str:
        self._label += 1
        self.sizes[name := f"J~{self._label}"] = self.numbers.numel()
        return name

    def again(self, k: str) -> tuple[str, ...]:
        return ()

    @property
    def along(self) -> ca.Function:
        """(c, y', p') -> k': (2)."""

        def make() -> tuple[list[SX], list[SX]]:
            d = self._tangents()
            return [self.c, *d], [self.solved(self.J[:, : self.n + self.np] @ ca.vertcat(*d))]

        return self._function("along", make)

    @property
    def vjp(self) -> ca.Function:
        """(c, k^, p^) -> y^, p^: (2); t and the cotangents of the series' offsets."""

        def make() -> tuple[list[SX], list[SX]]:
            w, old, n, end = ca.SX.sym("w", self.n), ca.SX.sym("old", self.np), self.n, self.n + self.np
            back = self.J.T @ self.solved(w)
            offsets = ca.vertcat(self.c[-1], back[end:]) if self.offsets.numel() else ca.SX(0)
            return [self.c, w, old], [back[:n], old + back[n:end], offsets]

        return self._function("back", make)


class TreeMatrices(Matrices):
    """Matrices by (3), in loops over bodies.

    Args:
        model: a tree that `fits`.
        eq, rhs, wanted: as Slope takes them.
        streams, tables: of the program; look-ups are added to them.
        W: lanes.
    """

    def __init__(
        self,
        model: Model,
        eq: EquationsOfMotion,
        rhs: RightHandSide,
        wanted: Sequence[int],
        streams: dict[str, Stream],
        tables: dict[str, np.ndarray],
        W: int,
    ) -> None:
        self.eq, self.rhs, self.wanted, self.sizes = eq, rhs, list(wanted), rhs.sizes
        self.n, self.np, self._label, self.offsets = eq.n, len(self.wanted), 0, ca.SX(0, 1)
        self._made, tree, nu = {}, model.tree, model.tree.nu
        s, start = Symbols(model), model.tail["inputs"].start
        self.x = inputs = [s.t, ca.vertcat(s["q"], s["u"], s.z), s["tail"][start:]]
        self.split = ca.Function("split", inputs, [s["q"], s["u"], ca.SX.zeros(nu), s["tail"]])
        solver = build_looped_jacobian(model, ("q", "u"))
        assert not isinstance(solver.main, ca.Function)
        self.loops = compiled(solver.main, "run_matrices", W)
        # tau_p, with udot held
        k, kin = ca.SX.sym("k", eq.n), s.kinematics()
        tau = inverse_dynamics(tree, kin, k[nu:], s.gravity, s.loads(kin)) if self.np else ca.SX(nu, 1)
        by_p = -ca.jacobian(tau, inputs[2][self.wanted])
        made = build_function("by_p", [*inputs, k], [ca.densify(by_p.nz[:])])
        self.more = SliceFunction(made, "by_p", self.sizes, streams, tables)
        # J and the factors of M from the results of the loops and tau_p
        sizes = (*self.loops.outputs[:2], by_p.nnz())
        e, b, p = given = [ca.SX.sym(name, size) for name, size in zip("ebp", sizes, strict=True)]
        parts = {"m.q": nu, "m.u": nu, "m.tau": nu, "m.tail": model.tail_size, "m.status": 1}
        self.sizes |= parts | dict(zip(("m.entries", "m.columns", "m.by_p"), sizes, strict=True))
        M, path = ca.SX(nu, nu), ca.SX(nu, nu)
        for x, (i, j) in zip(ca.vertsplit(e), entries_of(tree), strict=True):
            M[i, j] = x
            path[i, j] = path[j, i] = 1
        factors, self._solve = factorization(tree, M, ca.SX.zeros(nu))
        columns, on_path = ca.reshape(b, solver.row, nu).T, path.sparsity()
        J_u = [ca.project(columns[:, i * nu : (i + 1) * nu], on_path) for i in range(2)]
        above = ca.horzcat(ca.SX(nu, nu), ca.SX.eye(nu), ca.SX(nu, self.np))
        J = ca.vertcat(above, ca.horzcat(*J_u, ca.SX(by_p.sparsity(), p)))
        self._keep(J.sparsity(), J.nonzeros(), ca.vertsplit(factors))
        self.linear = ca.Function("kept", given, [self.numbers], {"cse": True})

    def solved(self, r: SX) -> SX:
        nu = self.eq.nu
        return ca.vertcat(r[:nu], self._solve.call([self.rest, ca.densify(r[nu:])], True, False)[0])

    def evaluated(
        self, t: str, y: str, k: str, known: bool
    ) -> tuple[list[Node], tuple[str, ...], list[Node]]:
        given, kept = (t, y, "p"), self._kept()
        found: list[Node] = [] if known else [self.rhs(t, y, k, "f.unused")]
        parts = ("m.q", "m.u", "m.tau", "m.tail")
        by_p = self.more((*given, k), ("m.by_p",)) if self.np else []
        return (
            [
                *found,
                Kernel(self.split, given, parts),
                Kernel(self.loops, parts, ("m.entries", "m.columns", "m.status")),
                *by_p,
                Kernel(self.linear, ("m.entries", "m.columns", "m.by_p"), (kept,)),
            ],
            (kept,),
            [],
        )

    @staticmethod
    def fits(model: Model, eq: EquationsOfMotion) -> bool:
        """Whether the recursion applies: only gravity and forces on coordinates of their own body, none of
        them driven, because a run replaces q and u of driven coordinates by those of their motions."""
        if model.nz or eq.nq != eq.nu or path_kinds(model) or model.tree.driven:
            return False
        if not has_looped_jacobian(model, ("q", "u")):
            return False
        q, u, t = ca.SX.sym("q", eq.nq), ca.SX.sym("u", eq.nu), ca.SX.sym("t")
        return bool((eq.qdot()(t, q, u) - u).is_zero())
