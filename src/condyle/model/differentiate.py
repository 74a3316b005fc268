"""Derivatives of operators as CasADi Functions: jvp, vjp and full Jacobians.

With respect to q they are along the manifold: column j = d/de f(q + e N(q) e_j) at e = 0, so that q has nu
directions. The Jacobians of inverse and forward dynamics with respect to q and u come from derivatives.py,

    d udot = M^-1 (d tau - d tau/d q dq - d tau/d u du)                                              (1)

and gradients of w . udot with respect to q, u and tau from one more solve with the same eliminations
(gradient.py),

    d (w . udot) = x . (d tau - d tau/d q dq - ...),   x = M^-1 w                                    (2)

With constraints both solve for multipliers too: with r1 = tau(q, u, udot) + G' lambda, r2 = G udot - b and
udot, lambda held,

    M dudot + G' dlambda = dtau - d r1,   G dudot = -d r2                                            (3)
    d (w . udot) = x . (d tau - d r1) - mu . d r2,   M x + G' mu = w,   G x = 0                      (4)

(with friction of contacts that slide G + S in place of G in M dudot + G' dlambda and in G x = 0.)

Held speeds have d udot = d a, their prescribed accelerations; x is zero there. Then (1) and (3) are for d
udot - d a, with M d a and G d a on their right-hand sides, and (2) and (4) gain (w - M x - G' mu) . d a;

all other derivatives, and all of systems with laws that depend on reactions, come from automatic
differentiation of the operators' expressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import casadi as ca

from condyle.arrays import SX
from condyle.constraints.solve.multipliers import Multipliers, with_unmet
from condyle.dynamics.aba import forward_dynamics, forward_dynamics_and, solve_mass_matrix
from condyle.dynamics.derivatives import inverse_dynamics_derivatives
from condyle.dynamics.gradient import gradient
from condyle.dynamics.kinematics import Kinematics, accelerations
from condyle.dynamics.mass_matrix import before_each, entries_of, factorization, mass_matrix
from condyle.dynamics.rnea import inverse_dynamics
from condyle.dynamics.view import TreeLoads
from condyle.mobilizers import motion
from condyle.model.flat import rows
from condyle.model.load_gradient import Cut, load_gradient
from condyle.model.model import Model
from condyle.model.operators import OPERATORS
from condyle.model.symbols import Symbols
from condyle.native.solvers.tree_solve import TreeSolve, padded
from condyle.native.tables.lookup import lookups_in
from condyle.native.tables.staged import Staged, build_function

VARIABLES = (
    "q",
    "u",
    "tau",
    "udot",
    "qdot",
    "qddot",
    "f",
    "station",
    "t",
    "z",
    "inputs",
    "discrete",
    "parameters",
)
"""Variables of differentiation."""


def has_gradient(model: Model, name: str, wrt: Sequence[str]) -> bool:
    """Whether the vjp of an operator is the recursion of gradient.py."""
    held = any(b.motion is not None and b.motion.varies for b in model.tree.driven)
    simple = model.tree.nu > 0 and not (model.constraints or model.reaction_laws or held)
    return name == "forward_dynamics" and set(wrt) <= {"q", "u", "tau"} and simple


class OperatorDerivative:
    """One operator, or the rows of it that belong to one body, ready to be differentiated.

    Args:
        name: of the operator.
        body: its body, for operators of one body.
        part: the slice of its results.
        wrt: variables.

    An operator's status, if it has one, is the last output of its derivatives too.
    """

    def __init__(
        self, model: Model, name: str, wrt: Sequence[str], body: int | None = None, part: slice = slice(None)
    ) -> None:
        self.model, self.name, self.wrt, self.part = model, name, tuple(wrt), part
        self.operator = OPERATORS[name]
        self.s = Symbols(model, direct="parameters" in wrt)
        self.which = {} if body is None else {"body": body}
        self.status: list[ca.SX] = []
        self.by_hand = model.tree.nu > 0 and not model.reaction_laws  # (1)-(4)

    @property
    def arguments(self) -> list[SX]:
        return [self.s[a] for a in self.operator.arguments]

    def with_cotangent(self, w: SX) -> list[SX]:
        """The arguments of vjp: the tail stays last."""
        return [*self.arguments[:-1], w, self.arguments[-1]]

    def result(self) -> SX:
        results = self.operator.expressions(self.s, **self.which)
        self.status = [results.pop()] if self.operator.has_status else []
        return ca.vertcat(*(ca.densify(r) for r in results))[self.part]

    def variable(self, name: str) -> SX:
        s = self.s
        return (
            s[name]
            if name in s.arguments
            else {
                "t": s.t,
                "z": s.z,
                "inputs": s.model.tree.inputs.symbols,
                "discrete": s.model.tree.discrete.symbols,
            }[name]
        )

    def directions(self, name: str) -> int:
        """Number of directions of a variable; nu for q."""
        return self.model.tree.nu if name == "q" else self.variable(name).numel()

    def N(self) -> SX:
        """qdot = N u, shape (nq, nu)."""
        s = self.s
        rate = [motion(b.mobilizer, s.t, s["q"][b.q], s["u"][b.u]).qdot for b in self.model.tree.owners]
        return ca.jacobian(ca.vertcat(ca.SX(0, 1), *rate), s["u"])

    def held(self) -> SX | None:
        """Accelerations of held speeds, (nu,); None if they do not depend on the variables."""
        variables = ca.vertcat(*(self.variable(name) for name in self.wrt if name not in ("tau", "udot")))
        a = self.s.motions.held()
        return a if self.model.tree.driven and variables.numel() and ca.depends_on(a, variables) else None

    def _with_held(self, y: SX, w: SX, rest: SX) -> tuple[SX, SX]:
        """Results y and their cotangents w, with the held accelerations and theirs appended if they depend
        on the variables."""
        a = self.held()
        return (y, w) if a is None else (ca.vertcat(y, a), ca.vertcat(w, rest))

    def _times_mass_matrix(self, kin: Kinematics, x: SX) -> SX:
        return inverse_dynamics(self.model.tree, replace(kin, c={}, V_GM={}), x, ca.SX(3, 1), None)

    def jvp(self) -> ca.Function | Staged:
        """(arguments, one tangent a variable) -> derivative in their direction."""
        tangents = [ca.SX.sym(f"d_{name}", self.directions(name)) for name in self.wrt]
        if self.by_hand and self.name == "forward_dynamics" and self.model.constraints:
            return self._constrained_jvp(tangents)
        y, dy = self.result(), ca.SX(0)
        for name, v in zip(self.wrt, tangents, strict=True):
            dy += ca.jtimes(y, self.variable(name), self.N() @ v if name == "q" else v)
        return build_function("jvp", [*self.arguments, *tangents], [dy, *self.status])

    def vjp(self) -> ca.Function | Staged:
        """(arguments, cotangent of the result, tail) -> one cotangent a variable."""
        if has_gradient(self.model, self.name, self.wrt):
            return self._forward_gradient()
        if self.by_hand and self.name == "forward_dynamics":
            return self._constrained_vjp() if self.model.constraints else self._forward_vjp()
        y = self.result()
        w = ca.SX.sym("cotangent", y.numel())
        return build_function("vjp", self.with_cotangent(w), [*self._back(y, w, self.wrt), *self.status])

    def _back(self, y: SX, w: SX, wrt: Sequence[str]) -> list[SX]:
        """d (w . y)/d variable for each variable, in one sweep."""
        variables = [self.variable(name) for name in wrt]
        back = ca.densify(ca.jtimes(y, ca.vertcat(ca.SX(0, 1), *variables), w, True))
        parts = ca.vertsplit(back, [0, *accumulate(v.numel() for v in variables)])
        return [self.N().T @ b if name == "q" else b for name, b in zip(wrt, parts, strict=True)]

    def _forward_gradient(self) -> ca.Function | Staged:
        """(2) by gradient.py."""
        s, tree = self.s, self.model.tree
        kin, w = s.kinematics(), ca.SX.sym("cotangent", tree.nu)
        solved = forward_dynamics_and(
            tree, kin, s["tau"], w, s.lock, s.gravity, s.loads(kin), s.motions.held()
        )
        line = Cut(s, kin, solved)
        loads = load_gradient(line, s.loads(line.kin))
        dq, du = gradient(
            tree, kin, s.t, s["q"], s["u"], solved, None if loads is None else line.closed(loads)
        )
        results = {"q": -dq, "u": -du, "tau": solved.x}
        return build_function(
            "vjp", self.with_cotangent(w), ca.cse([*(results[name] for name in self.wrt), solved.status])
        )

    def _forward_vjp(self) -> ca.Function | Staged:
        """(2): the recursion that eliminates all speeds also gives x, so that only inverse dynamics is
        differentiated."""
        s, tree = self.s, self.model.tree
        kin = s.kinematics()
        loads = s.loads(kin)
        w, x = ca.SX.sym("cotangent", tree.nu), ca.SX.sym("x", tree.nu)
        tau = inverse_dynamics(tree, kin, s["udot"], s.gravity, loads)
        others = [name for name in self.wrt if name != "tau"]
        both = self._with_held(-tau, x, w - self._times_mass_matrix(kin, x))
        back = dict(zip(others, self._back(*both, others), strict=True), tau=x)
        udot, status = forward_dynamics(tree, kin, s["tau"], s.lock, s.gravity, loads, s.motions.held())
        solved, _ = solve_mass_matrix(tree, replace(kin, c={}), w, s.lock)
        unknown, known = ca.vertcat(s["udot"], x), ca.vertcat(udot, solved)
        results = ca.cse([*(ca.substitute(back[name], unknown, known) for name in self.wrt), status])
        return build_function("vjp", self.with_cotangent(w), results)

    def jacobian(self) -> ca.Function | Staged | TreeSolve:
        """arguments -> d result/d variable, row by row, for each variable."""
        if self.by_hand and self.name == "forward_dynamics" and set(self.wrt) <= {"q", "u", "tau"}:
            return self._constrained_jacobian() if self.model.constraints else self._forward_jacobian()
        J = {}
        if self.by_hand and self.name == "inverse_dynamics" and {"q", "u"} & set(self.wrt):
            s, kin = self.s, self.s.kinematics()
            A = accelerations(self.model.tree, kin, s["udot"], (ca.SX(3, 1), -s.gravity))
            J["q"], J["u"], _ = inverse_dynamics_derivatives(
                self.model.tree, kin, s.t, s["q"], s["u"], s["udot"], A, s.loads(kin)
            )
        if others := [name for name in self.wrt if name not in J]:
            y = self.result()
            for name in others:
                d = ca.jacobian(y, self.variable(name))
                J[name] = d @ self.N() if name == "q" else d
        return build_function(
            "jacobian", self.arguments, [*(rows(J[name]) for name in self.wrt), *self.status]
        )

    def _forward_jacobian(self) -> ca.Function | Staged | TreeSolve:
        """(1): one kernel, and loops that factor M and solve. With looked-up rows, which need stages,
        everything is unrolled."""
        s, tree = self.s, self.model.tree
        kin = s.kinematics()
        loads, d = s.loads(kin), {"tau": -ca.SX.eye(tree.nu)}
        solved = forward_dynamics_and(tree, kin, s["tau"], None, s.lock, s.gravity, loads, s.motions.held())
        self.status = [solved.status]
        if self.wrt == ("tau",):
            M = mass_matrix(tree, kin)
        else:
            d["q"], d["u"], M = inverse_dynamics_derivatives(
                tree, kin, s.t, s["q"], s["u"], solved.udot, solved.A, loads
            )
        columns, da = -ca.densify(ca.horzcat(*(d[name] for name in self.wrt))), self._held_columns()
        if da is not None:
            columns -= M @ da
        if da is not None or lookups_in([M, columns, *self.status]):
            factor, solve = factorization(tree, M, s.lock)
            x = ca.horzcat(*(solve.call([factor, c], True, False)[0] for c in ca.horzsplit(columns)))
            x = x if da is None else x + da
            return build_function(
                "jacobian", self.arguments, [*map(rows, ca.horzsplit(x, tree.nu)), *self.status]
            )
        M += ca.diag(s.lock)
        entries = ca.vertcat(*(M[k, j] for k, j in entries_of(tree)))
        spare = ca.SX.zeros(tree.nu, padded(columns.shape[1]) - columns.shape[1])
        main = ca.Function(
            "jacobian", self.arguments, [ca.densify(entries), rows(ca.horzcat(columns, spare)), *self.status]
        )
        return TreeSolve(main, before_each(tree), [tree.nu] * len(self.wrt))

    def _held_columns(self) -> SX | None:
        """Derivatives of a in all directions of the variables, side by side, (nu, ...); None if a does not
        depend on them."""
        a = self.held()
        if a is None:
            return None
        J = {name: ca.jacobian(a, self.variable(name)) for name in self.wrt}
        return ca.horzcat(*(J[name] @ self.N() if name == "q" else J[name] for name in self.wrt))

    def _constrained(self) -> tuple[Kinematics, TreeLoads, Multipliers, SX, tuple[SX, SX]]:
        """Kinematics, all loads with lambda as a symbol, r2 with udot as a symbol, and the expressions of
        these symbols.
        """
        s, tree = self.s, self.model.tree
        kin = s.kinematics()
        equations, loads = s.rows(kin), s.loads(kin)
        udot0, status = forward_dynamics(tree, kin, s["tau"], s.lock, s.gravity, loads, s.motions.held())
        found, bias = Multipliers(equations, s.lock), equations.bias()
        met = found.meet(udot0, bias)
        self.status = [with_unmet(status, self.model.tree, found.left(met, equations, udot0))]
        means = ca.vertcat(s["udot"], s["lambda_"]), ca.vertcat(met.x, met.lambda_)
        return kin, equations.loads(s["lambda_"], loads), found, found.G @ s["udot"] + bias, means

    def _constrained_jvp(self, tangents: list[SX]) -> ca.Function | Staged:
        """Evaluate (3) in one direction."""
        s, tree = self.s, self.model.tree
        kin, loads, found, r2, (unknown, known) = self._constrained()
        r1 = inverse_dynamics(tree, kin, s["udot"], s.gravity, loads) - s["tau"]
        r, a = ca.vertcat(r1, r2), s.motions.held()
        dr, da = ca.SX(r.numel(), 1), ca.SX(tree.nu, 1)
        for name, v in zip(self.wrt, tangents, strict=True):
            direction = self.N() @ v if name == "q" else v
            dr, da = (
                dr + ca.jtimes(r, self.variable(name), direction),
                da + ca.jtimes(a, self.variable(name), direction),
            )
        dr = ca.substitute(dr, unknown, known)
        dy = (
            da
            + found.response(-dr[: tree.nu] - self._times_mass_matrix(kin, da), dr[tree.nu :] + found.G @ da)[
                0
            ]
        )
        return build_function("jvp", [*self.arguments, *tangents], ca.cse([dy, *self.status]))

    def _constrained_vjp(self) -> ca.Function | Staged:
        """Evaluate (4)."""
        s, tree = self.s, self.model.tree
        kin, loads, found, r2, (unknown, known) = self._constrained()
        transposed = Multipliers(s.rows(kin), s.lock, transposed=True) if self.model.has_friction else found
        w, x, mu = (
            ca.SX.sym(name, n) for name, n in (("cotangent", tree.nu), ("x", tree.nu), ("mu", r2.numel()))
        )
        r1 = inverse_dynamics(tree, kin, s["udot"], s.gravity, loads)
        others = [name for name in self.wrt if name != "tau"]
        both = self._with_held(
            -ca.vertcat(r1, r2), ca.vertcat(x, mu), w - self._times_mass_matrix(kin, x) - found.G.T @ mu
        )
        back = dict(zip(others, self._back(*both, others), strict=True), tau=x)
        unknown, known = ca.vertcat(unknown, x, mu), ca.vertcat(known, *transposed.response(w))
        results = ca.cse([*(ca.substitute(back[name], unknown, known) for name in self.wrt), *self.status])
        return build_function("vjp", self.with_cotangent(w), results)

    def _constrained_jacobian(self) -> ca.Function | Staged:
        """Solve (3) for all directions, one column each."""
        s, tree = self.s, self.model.tree
        kin, loads, found, r2, (unknown, known) = self._constrained()
        d1, d2 = {"tau": -ca.SX.eye(tree.nu)}, {"tau": ca.SX(r2.numel(), tree.nu)}
        if self.wrt != ("tau",):
            A = accelerations(tree, kin, s["udot"], (ca.SX(3, 1), -s.gravity))
            d1["q"], d1["u"], _ = inverse_dynamics_derivatives(
                tree, kin, s.t, s["q"], s["u"], s["udot"], A, loads
            )
            d2["q"], d2["u"] = ca.jacobian(r2, s["q"]) @ self.N(), ca.jacobian(r2, s["u"])
        da = self._held_columns()
        if da is not None:
            for name, a in zip(self.wrt, ca.horzsplit(da, tree.nu), strict=True):
                d1[name], d2[name] = d1[name] + mass_matrix(tree, kin) @ a, d2[name] + found.G @ a
        by = [
            ca.substitute(ca.densify(ca.horzcat(*(d[name] for name in self.wrt))), unknown, known)
            for d in (d1, d2)
        ]
        x = found.response(-by[0], by[1])[0]
        J = ca.horzsplit(x if da is None else x + da, tree.nu)
        return build_function("jacobian", self.arguments, ca.cse([rows(x) for x in J] + self.status))
