"""Newton's equations (sigma 1 - df/dy) x = b of implicit methods, as nodes: along the tree (model/looped/implicit.py),
where factors and solutions take O(n), or as a matrix over the speeds alone (implicit_matrix.py). J is kept as the
state where it was taken. Where neither holds, a method makes the whole matrix and LAPACK factors it."""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.integrate.equations import EquationsOfMotion, RightHandSide
from condyle.model.looped.implicit import STATE, solved
from condyle.model.looped.implicit_matrix import MATRICES, Border, LawsAlongPaths, reduced
from condyle.model.model import Model
from condyle.model.symbols import Symbols
from condyle.native.programs.nodes import Call, Ints, Kernel, Node, elementwise, kernel
from condyle.native.programs.slice_function import SliceFunction
from condyle.native.straight.data import function
from condyle.native.tables.staged import build_function

REDUNDANT = 1e-12
"""What is added to the multipliers' matrix, of its largest entry: constraints may say the same twice."""


def newton(
    eq: EquationsOfMotion, rhs: RightHandSide, sizes: dict[str, int]
) -> TreeNewton | MatrixNewton | None:
    """The nodes that a system's equations have; `sizes` gains their slices."""
    if eq.newton is None:
        return None
    return (MatrixNewton if len(eq.newton) == 1 else TreeNewton)(eq, rhs, sizes)


class TreeNewton:
    """The nodes; `sizes` gains their slices.

    Args:
        eq: the equations of motion, with `newton`.
        rhs: f over the slices.
        sizes: of the slices.
    """

    def __init__(self, eq: EquationsOfMotion, rhs: RightHandSide, sizes: dict[str, int]) -> None:
        assert eq.newton is not None and len(eq.newton) == 2 and rhs.f.loops is not None
        self.eq, self.rhs, self.sizes, self.n = eq, rhs, sizes, eq.n
        self.factors, self.solution = eq.newton
        sizes |= {f"n.{name}": size for name, size in zip(STATE, self.factors.inputs, strict=True)}
        sizes |= {"n.factors": self.factors.outputs[0], "n.x": eq.n}

    def linearize(self, t: str, y: str, k: str) -> list[Node]:
        """J is that at (t, y), where f is k."""
        rates, first = ca.SX.sym("k", self.n), self.eq.nq
        udot = function("udot", [rates], [rates[first : first + self.eq.nu]])
        parts = self.rhs.f.split((t, y, "p"), ("n.q", "n.u", "n.tail"))
        return [*parts, Kernel(udot, (k,), ("n.udot",))]

    def factor(self, sigma: str) -> list[Node]:
        return [
            elementwise(lambda x: x, [sigma], ["n.sigma"], self.sizes, 1, "sigma"),
            Kernel(self.factors, tuple(f"n.{name}" for name in STATE), ("n.factors",)),
        ]

    def solve(self, x: str) -> list[Node]:
        """x <- (sigma 1 - J)^-1 x."""
        state = ("n.factors", "n.q", "n.u", "n.tail", "n.sigma")
        return [
            Kernel(self.solution, (*state, x), ("n.x",)),
            elementwise(lambda y: y, ["n.x"], [x], self.sizes, self.n, "solved"),
        ]


class MatrixNewton:
    """implicit_matrix.py (1)-(5) as nodes.

    Args:
        eq: the equations of motion, with `newton` and `model`.
        rhs: f over the slices.
        sizes: of the slices; they gain those of the nodes.
    """

    def __init__(self, eq: EquationsOfMotion, rhs: RightHandSide, sizes: dict[str, int]) -> None:
        assert eq.newton is not None and eq.model is not None
        (self.matrices,) = eq.newton
        model: Model = eq.model
        self.eq, self.sizes, self.n, self.nu = eq, sizes, eq.n, eq.nu
        self.laws, self.border = LawsAlongPaths.of_model(model), Border(model)
        nu, m, k = eq.nu, self.border.m, self.border.size
        self.N = N = nu + k
        s, start = Symbols(model), model.tail["inputs"].start
        inputs = [s.t, ca.vertcat(s["q"], s["u"], s.z), s["tail"][start:]]
        lock = s["tail"][model.tail["lock"]]
        free = ca.densify(ca.if_else(lock < np.inf, 1, 0))
        self.split = function("split", inputs, [s["q"], s["u"], s["tail"], free])
        sizes |= {f"n.{name}": size for name, size in zip(STATE, self.matrices.inputs, strict=True)}
        sizes |= {f"n.{name}": size for name, size in zip(MATRICES, self.matrices.outputs, strict=True)}
        sizes |= {
            "n.t": 1,
            "n.y": eq.n,
            "n.pivots": N,
            "n.info": 1,
            "n.D": N * N,
            "n.right": N,
            "n.below": k * N,
        }
        sizes |= dict.fromkeys(
            ("n.free", "n.bound", "n.r_u", "n.dq", "n.du", "n.b_u", "n.b_q", "n.tau_0"), nu
        )
        sizes |= dict.fromkeys(("n.dL", "n.dv", "n.dT"), len(self.laws.states))
        sizes |= {"n.G": m * nu, "n.lambda": m, "n.y_y": len(self.border.states) ** 2}
        parts = {"L_q": nu * N, "L_u": nu * N} | dict.fromkeys(("y_q", "y_u", "a_udot"), k * nu)
        sizes |= {f"n.{name}": size for name, size in parts.items()}
        self.parts = tuple(f"n.{name}" for name in (*parts, "y_y"))
        given = [*self.border.inputs, self.border.udot, self.border.lambda_]
        self.lines: list[SliceFunction] = []
        if not self.border.empty:
            for name, ins, outs in (
                ("n.forces", given[:3], self.border.forces()),
                ("n.border", given, self.border.derivatives()),
            ):
                made = build_function(name.replace(".", "_"), ins, outs)
                self.lines.append(SliceFunction(made, name, sizes, rhs.streams, rhs.tables))

    def linearize(self, t: str, y: str, k: str) -> list[Node]:
        """J is that at (t, y), where f is k."""
        rates, at, time = ca.SX.sym("k", self.n), ca.SX.sym("y", self.n), ca.SX.sym("t")
        udot = rates[self.eq.nq : self.eq.nq + self.nu]
        kept = function("kept", [time, at, rates], [time, at, udot])
        return [
            Kernel(kept, (t, y, k), ("n.t", "n.y", "n.udot")),
            Kernel(self.split, ("n.t", "n.y", "p"), ("n.q", "n.u", "n.tail", "n.free")),
        ]

    def _kernel(self, fn: object, ins: str, outs: str, name: str) -> Node:
        return kernel(fn, ins, outs, self.sizes, name)  # type: ignore[arg-type]

    def _multipliers(self) -> list[Node]:
        """G' lambda = -(M udot + ... - forces) of speeds that are free."""
        m, nu = self.border.m, self.nu

        def found(G: SX, tau: SX, forces: SX, free: SX) -> SX:
            G = ca.reshape(G, nu, m) * ca.repmat(free, 1, m)
            A = G.T @ G
            A += (REDUNDANT * ca.mmax(ca.diag(A)) + 1e-300) * ca.SX.eye(m)
            return solved(A, G.T @ (free * (forces - tau)))

        return [self._kernel(found, "n.G n.tau n.tau_0 n.free", "n.lambda", "multipliers")] if m else []

    def factor(self, sigma: str) -> list[Node]:
        nu, N, sizes = self.nu, self.N, self.sizes
        given = "n.t", "n.y", "p"
        nodes: list[Node] = [
            elementwise(lambda x: x, [sigma], ["n.sigma"], sizes, 1, "sigma"),
            Kernel(self.matrices, tuple(f"n.{x}" for x in STATE), tuple(f"n.{x}" for x in MATRICES)),
        ]
        if self.lines:
            forces, derivatives = self.lines
            if self.border.m:
                nodes += [*forces(given, ("n.tau_0", "n.G")), *self._multipliers()]
            nodes += derivatives((*given, "n.udot", "n.lambda"), self.parts)
            nodes += [Call("daxpy", (nu * N, 1.0, f"n.L_{x}", 1, f"n.B_{x}", 1)) for x in "qu"]
        if self.border.size:
            names = "n.sigma n.y_q n.y_u n.a_udot n.y_y n.M"
            nodes.append(self._kernel(self._below, names, "n.below", "below"))

        def matrix(s: SX, free: SX, M: SX, B_q: SX, B_u: SX, below: SX) -> SX:
            """A column; of a speed that is locked the equation is du = b_u / sigma."""
            return ca.vertcat(free * (s * M - B_q / s - B_u), below)

        names = "n.sigma n.free n.M n.B_q n.B_u n.below"
        return [
            *nodes,
            elementwise(matrix, names, "n.D", sizes, N, "matrix", whole=["n.free"]),
            elementwise(lambda free: 1 - free, "n.free", "n.bound", sizes, nu, "bound"),
            Call("daxpy", (nu, 1.0, "n.bound", 1, "n.D", N + 1)),
            Call("dgetrf", (N, N, "n.D", N, Ints("n.pivots"), Ints("n.info"))),
        ]

    def _below(self, s: SX, y_q: SX, y_u: SX, a_udot: SX, y_y: SX, M: SX) -> SX:
        """The rows of (4) and (5), row by row."""
        nu, k, states = self.nu, self.border.size, len(self.border.states)
        y_q, y_u, a_udot = (ca.reshape(x, k, nu) for x in (y_q, y_u, a_udot))
        sign = ca.vertcat(-ca.SX.ones(states, 1), ca.SX.ones(k - states, 1)) @ ca.SX.ones(1, nu)
        E = ca.SX(k, k)
        E[:states, :states] = s * ca.SX.eye(states) - ca.reshape(y_y, states, states)
        inertia = ca.vertcat(*(M[i * (self.N + 1)] for i in range(nu)))
        for i in range(states, k):
            size = ca.sum2(a_udot[i, :] ** 2 / inertia.T)
            E[i, i] = ca.if_else(size > 0, -REDUNDANT * size, -1)  # those that are disabled stay alone
        return ca.vec(ca.horzcat(sign * (y_q / s + y_u) + s * a_udot, E).T)

    def solve(self, x: str) -> list[Node]:
        """x <- (sigma 1 - J)^-1 x."""
        nq, nu, n, k, N = self.eq.nq, self.nu, self.n, self.border.size, self.N
        laws, border, m = self.laws, self.border, len(self.laws.states)

        def begin(b: SX, s: SX, what: SX) -> tuple[SX, ...]:
            """b_q / sigma, b_u, T_z Y b_z."""
            b_z, dT = b[nq + nu :], ca.SX.zeros(m, 1)
            for i, z in enumerate(laws.states):
                if len(z):
                    dT[i] = ca.dot(reduced(laws, what, i)[1], b_z[z.start : z.stop])
            return b[:nq] / s, b[nq : nq + nu], dT

        def right(r: SX, free: SX, b: SX, s: SX, b_q: SX, b_u: SX, y_q: SX, a_udot: SX) -> SX:
            states = len(border.states)
            y_q, a_udot = (ca.reshape(y, k, nu) for y in (y_q, a_udot))
            b_y = ca.vertcat(ca.SX(0, 1), *(b[nq + nu + z] for z in border.states), ca.SX(k - states, 1))
            sign = ca.vertcat(ca.SX.ones(states, 1), -ca.SX.ones(k - states, 1))
            return ca.vertcat(ca.if_else(free, r, b_u / s), b_y + sign * (y_q @ b_q) + a_udot @ b_u)

        def end(b: SX, s: SX, dq: SX, du: SX, dL: SX, dv: SX, y: SX, what: SX) -> SX:
            dz = ca.SX.zeros(n - nq - nu, 1)
            for i, z in enumerate(laws.states):
                if len(z):
                    Y, _, by_L, by_v = reduced(laws, what, i)
                    at = slice(z.start, z.stop)
                    dz[at] = Y @ b[nq + nu + z.start : nq + nu + z.stop] + by_L * dL[i] + by_v * dv[i]  # (2)
            for i, place in enumerate(border.states):
                dz[place] = y[nu + i]
            return ca.vertcat(dq, du, dz)

        product = lambda A, v, keep: Call("dgemv", (b"T", nu, nu, 1.0, A, N, v, 1, keep, "n.r_u", 1))
        along = lambda how, A, v, w, by, keep: Call("dgemv", (how, nu, m, by, A, nu, v, 1, keep, w, 1))
        nodes: list[Node] = [
            self._kernel(begin, f"{x} n.sigma n.reduced", "n.b_q n.b_u n.dT", "begin"),
            product("n.M", "n.b_u", 0.0),
            product("n.B_q", "n.b_q", 1.0),
        ]
        if m:
            nodes.append(along(b"N", "n.r", "n.dT", "n.r_u", -1.0, 1.0))
        given = f"n.r_u n.free {x} n.sigma n.b_q n.b_u n.y_q n.a_udot"
        nodes += [
            self._kernel(right, given, "n.right", "right"),
            Call("dgetrs", (b"T", N, 1, "n.D", N, Ints("n.pivots"), "n.right", N, Ints("n.info"))),
            self._kernel(
                lambda x, b, s: (x[:nu], x[:nu] / s + b), "n.right n.b_q n.sigma", "n.du n.dq", "coordinates"
            ),
        ]
        if m:
            nodes += [
                along(b"T", "n.r", "n.dq", "n.dL", 1.0, 0.0),
                along(b"T", "n.s", "n.dq", "n.dv", 1.0, 0.0),
                along(b"T", "n.r", "n.du", "n.dv", 1.0, 1.0),
            ]
        ins = f"{x} n.sigma n.dq n.du n.dL n.dv n.right n.reduced"
        return [*nodes, self._kernel(end, ins, x, "end")]
