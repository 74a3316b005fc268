"""Derivatives of operators as CasADi Functions: jvp, vjp and full Jacobians.

With respect to q they are along the manifold: column j = d/de f(q + e N(q) e_j) at e = 0, so that q has nu directions. The
Jacobians of inverse and forward dynamics with respect to q and u come from derivatives.py,

    d udot = M^-1 (d tau - d tau/d q dq - d tau/d u du)                                              (1)

all else from automatic differentiation of the operators' expressions.
"""
from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from condyle.dynamics.derivatives import inverse_dynamics_derivatives, solve_columns
from condyle.dynamics.operators import OPERATORS, Subject, Symbols, rows
from condyle.mobilizers import motion
from condyle.native.lookup import Staged, assembled

VARIABLES = ("q", "u", "tau", "udot", "f", "station", "t", "z", "inputs", "parameters")
"""What a derivative may be taken with respect to."""

_ANALYTIC = {"inverse_dynamics": ("q", "u"), "forward_dynamics": ("q", "u", "tau")}


class Differentiated:
    """One operator, or the rows of it that belong to one body, ready to be differentiated.

    Args:
        name: of the operator.
        body: its body, for operators that are made for one.
        part: the slice of its results that is wanted.
        wrt: variables.
    """

    def __init__(self, subject: Subject, name: str, wrt: Sequence[str], body: int | None = None,
                 part: slice = slice(None)) -> None:
        self.subject, self.name, self.wrt, self.part = subject, name, tuple(wrt), part
        self.operator = OPERATORS[name]
        self.s = Symbols(subject, direct="parameters" in wrt)
        self.which = {} if body is None else {"body": body}

    @property
    def arguments(self) -> list[ca.SX]:
        return [self.s[a] for a in self.operator.arguments]

    def result(self) -> ca.SX:
        results = self.operator.expressions(self.s, **self.which)
        results = results[:-1] if self.operator.has_status else results
        return ca.vertcat(*(ca.densify(r) for r in results))[self.part]

    def variable(self, name: str) -> ca.SX:
        s = self.s
        return s[name] if name in s.arguments else {"t": s.t, "z": s.z, "inputs": s.subject.tree.inputs.symbols}[name]

    def directions(self, name: str) -> int:
        """Number of directions of a variable: nu for q."""
        return self.subject.tree.nu if name == "q" else self.variable(name).numel()

    def N(self) -> ca.SX:
        """qdot = N u, shape (nq, nu)."""
        s = self.s
        rate = [motion(b.mobilizer, s.t, s["q"][b.q], s["u"][b.u])[8] for b in self.subject.tree.bodies]
        return ca.jacobian(ca.vertcat(ca.SX(0, 1), *rate), s["u"])

    def jvp(self) -> ca.Function | Staged:
        """(arguments, one tangent a variable) -> derivative in their direction."""
        tangents = [ca.SX.sym(f"d_{name}", self.directions(name)) for name in self.wrt]
        y, dy = self.result(), ca.SX(0)
        for name, v in zip(self.wrt, tangents, strict=True):
            dy += ca.jtimes(y, self.variable(name), self.N() @ v if name == "q" else v)
        return assembled("jvp", [*self.arguments, *tangents], [dy])

    def vjp(self) -> ca.Function | Staged:
        """(arguments, cotangent of the result) -> one cotangent a variable."""
        y = self.result()
        w = ca.SX.sym("cotangent", y.numel())
        back = [ca.jtimes(y, self.variable(name), w, True) for name in self.wrt]
        back = [self.N().T @ b if name == "q" else b for name, b in zip(self.wrt, back, strict=True)]
        return assembled("vjp", [*self.arguments, w], back)

    def jacobian(self) -> ca.Function | Staged:
        """arguments -> d result/d variable, row by row, for each variable."""
        analytic = [name for name in self.wrt if name in _ANALYTIC.get(self.name, ())]
        J = self._analytic(analytic) if analytic else {}
        if others := [name for name in self.wrt if name not in J]:
            y = self.result()
            for name in others:
                d = ca.jacobian(y, self.variable(name))
                J[name] = d @ self.N() if name == "q" else d
        return assembled("jacobian", self.arguments, [rows(J[name]) for name in self.wrt])

    def _analytic(self, wrt: Sequence[str]) -> dict[str, ca.SX]:
        s, tree = self.s, self.subject.tree
        kin = s.kinematics()
        forward = self.name == "forward_dynamics"
        d = {"tau": -ca.SX.eye(tree.nu)}
        if "q" in wrt or "u" in wrt:
            udot = self.result() if forward else s["udot"]
            d["q"], d["u"] = inverse_dynamics_derivatives(
                tree, kin, s.t, s["q"], s["u"], udot, s.gravity, s.loads(kin))
        if not forward:
            return {name: d[name] for name in wrt}
        columns = solve_columns(tree, kin, s.lock, -ca.densify(ca.horzcat(*(d[name] for name in wrt))))         # (1)
        return dict(zip(wrt, ca.horzsplit(columns, tree.nu), strict=True)) if tree.nu else dict.fromkeys(wrt, columns)
