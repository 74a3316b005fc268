"""Newton's equations (sigma 1 - df/dy) x = b of implicit methods, as nodes: along the tree (model/looped/implicit.py),
where factors and solutions take O(n), or as a matrix over the speeds alone (implicit_matrix.py). J is stored
as the state at which it was taken. If neither applies, a method computes the full matrix and LAPACK factors
it."""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.integrate.equations import EquationsOfMotion, RightHandSide
from condyle.model.looped.implicit import STATE
from condyle.model.looped.implicit_fronts import PARTS
from condyle.model.looped.implicit_matrix import MATRICES, REDUNDANT, Border, LawsAlongPaths, reduced
from condyle.model.symbols import Symbols
from condyle.native.programs.nodes import Call, Ints, Kernel, Node, elementwise, kernel
from condyle.native.programs.slice_function import SliceFunction
from condyle.native.straight.data import function
from condyle.native.tables.staged import build_function


def newton(
    eq: EquationsOfMotion, rhs: RightHandSide, sizes: dict[str, int]
) -> TreeNewton | FrontNewton | MatrixNewton | None:
    """The nodes for a system's equations; `sizes` gains their slices."""
    if eq.newton is None:
        return None
    if eq.fronts is not None:
        return FrontNewton(eq, rhs, sizes)
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


class SpeedNewton:
    """Base class of Newton's equations over the speeds alone, implicit_matrix.py (1)-(5): J is stored as the
    state at which it was taken.

    Args:
        eq: the equations of motion, with `newton` and `model`.
        rhs: f over the slices.
        sizes: of the slices; they gain those of the nodes.
        results: of the first kernel of `newton`, from STATE.
        border: whether forces, G and multipliers come from it.
        laws: along paths.
    """

    def __init__(
        self,
        eq: EquationsOfMotion,
        rhs: RightHandSide,
        sizes: dict[str, int],
        results: tuple[str, ...],
        border: Border,
        laws: LawsAlongPaths,
    ) -> None:
        assert eq.newton is not None and eq.model is not None
        self.matrices, model, nu = eq.newton[0], eq.model, eq.nu
        self.eq, self.sizes, self.n, self.nu, self.rhs = eq, sizes, eq.n, eq.nu, rhs
        self.border, self.laws, self.results = border, laws, results
        s, start = Symbols(model), model.tail["inputs"].start
        inputs = [s.t, ca.vertcat(s["q"], s["u"], s.z), s["tail"][start:]]
        lock = s["tail"][model.tail["lock"]]
        free = ca.vertcat(ca.densify(ca.if_else(lock < np.inf, 1, 0)), ca.SX.ones(border.size, 1))
        self.split = function("split", inputs, [s["q"], s["u"], s["tail"], free])
        sizes |= {f"n.{name}": size for name, size in zip(STATE, self.matrices.inputs, strict=True)}
        sizes |= {f"n.{name}": size for name, size in zip(results, self.matrices.outputs, strict=True)}
        sizes |= {"n.t": 1, "n.y": eq.n, "n.free": nu + border.size, "n.right": nu + border.size}
        sizes |= dict.fromkeys(("n.dq", "n.du", "n.b_u", "n.b_q", "n.tau_0"), nu)
        sizes |= dict.fromkeys(("n.dL", "n.dv", "n.dT"), len(laws.states))
        sizes |= {"n.G": border.G.nnz(), "n.lambda": border.m}

    def _line(self, name: str, ins: list[SX], outs: list[SX]) -> SliceFunction:
        made = build_function(name.replace(".", "_"), ins, outs)
        return SliceFunction(made, name, self.sizes, self.rhs.streams, self.rhs.tables)

    def linearize(self, t: str, y: str, k: str) -> list[Node]:
        """J is that at (t, y), where f is k."""
        rates, at, time = ca.SX.sym("k", self.n), ca.SX.sym("y", self.n), ca.SX.sym("t")
        udot = rates[self.eq.nq : self.eq.nq + self.nu]
        kept = function("kept", [time, at, rates], [time, at, udot])
        return [
            Kernel(kept, (t, y, k), ("n.t", "n.y", "n.udot")),
            Kernel(self.split, ("n.t", "n.y", "p"), ("n.q", "n.u", "n.tail", "n.free")),
        ]

    def _given(self, sigma: str) -> list[Node]:
        """Sigma, and the results of the loops."""
        results = tuple(f"n.{x}" for x in self.results)
        return [
            elementwise(lambda x: x, [sigma], ["n.sigma"], self.sizes, 1, "sigma"),
            Kernel(self.matrices, tuple(f"n.{x}" for x in STATE), results),
        ]

    def _kernel(self, fn: object, ins: str, outs: str, name: str) -> Node:
        return kernel(fn, ins, outs, self.sizes, name)  # type: ignore[arg-type]

    def _multipliers(self) -> list[Node]:
        """G' lambda = -(M udot + ... - forces) of speeds that are free."""

        def found(G: SX, tau: SX, forces: SX, free: SX) -> SX:
            free = free[: self.nu]
            G = ca.SX(self.border.G.sparsity(), G) @ ca.diag(free)
            A = G @ G.T
            A += (REDUNDANT * ca.mmax(ca.diag(A)) + 1e-300) * ca.SX.eye(self.border.m)
            return ca.ldl_solve(G @ (forces - tau), *ca.ldl(A))

        given = "n.G n.tau n.tau_0 n.free"
        return [self._kernel(found, given, "n.lambda", "multipliers")] if self.border.m else []

    def _begin(self, x: str) -> Node:
        """Of the right side x: b_q / sigma, b_u, T_z Y b_z."""
        nq, nu, laws = self.eq.nq, self.nu, self.laws

        def begin(b: SX, s: SX, what: SX) -> tuple[SX, ...]:
            b_z, dT = b[nq + nu :], [ca.SX(0)] * len(laws.states)
            for i, z in enumerate(laws.states):
                if len(z):
                    dT[i] = ca.dot(reduced(laws, what, i)[1], b_z[z.start : z.stop])
            return b[:nq] / s, b[nq : nq + nu], ca.vertcat(ca.SX(0, 1), *dT)

        return self._kernel(begin, f"{x} n.sigma n.reduced", "n.b_q n.b_u n.dT", "begin")

    def _end(self, x: str) -> Node:
        """x from dq, du, dL, dv and y among the unknowns."""
        nq, nu, laws, border = self.eq.nq, self.nu, self.laws, self.border

        def end(b: SX, dq: SX, du: SX, dL: SX, dv: SX, y: SX, what: SX) -> SX:
            dz = ca.vertsplit(ca.SX.zeros(self.n - nq - nu, 1))
            for i, z in enumerate(laws.states):
                if len(z):
                    Y, _, by_L, by_v = reduced(laws, what, i)
                    own = Y @ b[nq + nu + z.start : nq + nu + z.stop] + by_L * dL[i] + by_v * dv[i]  # (2)
                    dz[z.start : z.stop] = ca.vertsplit(own)
            for i, place in enumerate(border.states):
                dz[place] = y[nu + i]
            return ca.vertcat(dq, du, *dz)

        return self._kernel(end, f"{x} n.dq n.du n.dL n.dv n.right n.reduced", x, "end")


class FrontNewton(SpeedNewton):
    """Newton's equations along the tree: implicit_fronts.py as nodes.

    Args: as for SpeedNewton; also `fronts` of the equations.
    """

    def __init__(self, eq: EquationsOfMotion, rhs: RightHandSide, sizes: dict[str, int]) -> None:
        assert eq.newton is not None and eq.fronts is not None
        fronts = self.fronts = eq.fronts
        super().__init__(eq, rhs, sizes, PARTS, fronts.border, fronts.laws)
        _, self.factors, self.solution = eq.newton
        L, border, nu = len(fronts.place), fronts.border, eq.nu
        sizes |= {
            "n.T": nu * fronts.plan.vector,
            "n.factors": self.factors.outputs[0],
            "n.A": L,
            "n.p": 2 * nu,
        }
        self.forces = self.derivatives = None
        if border.empty:
            return
        sizes |= dict.fromkeys(("n.more_q", "n.more_u", "n.more_M"), L)
        inertia = ca.SX.sym("inertia", nu)
        blocks = [ca.densify(self._entries(x)) for x in border.blocks(inertia)]
        needed = border.m and ca.depends_on(ca.veccat(*blocks), border.lambda_)
        if needed:
            self.forces = self._line("n.forces", border.inputs, border.forces())
        given = [*border.inputs, border.udot, border.lambda_, inertia]
        self.derivatives = self._line("n.border", given, blocks)

    def _entries(self, x: SX) -> SX:
        """The entries of a sparse matrix in the sparsity of A."""
        out = ca.SX(len(self.fronts.place), 1)
        rows, columns = x.sparsity().get_triplet()
        places = [self.fronts.place[entry] for entry in zip(rows, columns, strict=True)]
        if places:
            out[places] = x.nz[:]
        return out

    def factor(self, sigma: str) -> list[Node]:
        L, sizes = len(self.fronts.place), self.sizes
        nodes, given = self._given(sigma), ("n.t", "n.y", "p")
        if self.forces is not None:
            nodes += [*self.forces(given, ("n.tau_0", "n.G")), *self._multipliers()]
        matrix = lambda s, B_q, B_u, M: s * M - B_q / s - B_u
        if self.derivatives is not None:
            more = "n.more_q", "n.more_u", "n.more_M"
            nodes += self.derivatives((*given, "n.udot", "n.lambda", "n.inertia"), more)
            nodes += [Call("daxpy", (L, 1.0, f"n.more_{x}", 1, f"n.B_{x}", 1)) for x in "qu"]
            nodes.append(elementwise(matrix, "n.sigma n.B_q n.B_u n.more_M", "n.A", sizes, L, "entries"))
        else:
            plain = lambda s, B_q, B_u: matrix(s, B_q, B_u, 0)
            nodes.append(elementwise(plain, "n.sigma n.B_q n.B_u", "n.A", sizes, L, "entries"))
        numbers = self.nu * self.fronts.plan.vector
        moved = lambda s, C, KU: C[0] / s + KU + s * C[1]
        return [
            *nodes,
            elementwise(moved, "n.sigma n.C n.KU", "n.T", sizes, numbers, "motions"),
            Kernel(self.factors, ("n.K", "n.T", "n.C", "n.S", "n.SF", "n.A", "n.free"), ("n.factors",)),
        ]

    def solve(self, x: str) -> list[Node]:
        """x <- (sigma 1 - J)^-1 x."""
        nq, nu, border, place = self.eq.nq, self.nu, self.border, self.fronts.place
        more = "n.more_M" if self.derivatives is not None else ""

        def right(b: SX, s: SX, free: SX, b_q: SX, b_u: SX, dT: SX, B_q: SX, r: SX, *more: SX) -> SX:
            terms: list[list[SX]] = [[] for _ in range(nu + border.size)]
            for (i, j), e in place.items():
                if j < nu:
                    terms[i].append(B_q[e] * b_q[j])
                    if more and i >= nu:
                        terms[i].append(more[0][e] * b_u[j])
            for i, z in enumerate(border.states):
                terms[nu + i].append(b[nq + nu + z])
            for e, (law, j) in enumerate(self.fronts.arms):
                if len(self.laws.states[law]):
                    terms[j].append(-r[e] * dT[law])
            out = ca.vertcat(*(sum(each, ca.SX(0)) for each in terms))
            return ca.if_else(free, out, ca.vertcat(b_u / s, ca.SX(border.size, 1)))

        def coordinates(x: SX, b: SX, s: SX, r: SX, s_v: SX) -> tuple[SX, ...]:
            du = x[:nu]
            dq = du / s + b
            dL, dv = ([ca.SX(0)] * len(self.laws.states) for _ in range(2))
            for e, (law, j) in enumerate(self.fronts.arms):
                dL[law] += r[e] * dq[j]
                dv[law] += s_v[e] * dq[j] + r[e] * du[j]
            return du, dq, ca.vertcat(ca.SX(0, 1), *dL), ca.vertcat(ca.SX(0, 1), *dv)

        given = f"{x} n.sigma n.free n.b_q n.b_u n.dT n.B_q n.r {more}"
        parts = "n.factors", "n.T", "n.C", "n.S", "n.free", "n.p", "n.right"
        return [
            self._begin(x),
            self._kernel(lambda b_q, b_u: ca.vertcat(b_q, -b_u), "n.b_q n.b_u", "n.p", "constants"),
            self._kernel(right, given, "n.right", "right"),
            Kernel(self.solution, parts, ("n.right",)),
            self._kernel(coordinates, "n.right n.b_q n.sigma n.r n.s", "n.du n.dq n.dL n.dv", "coordinates"),
            self._end(x),
        ]


class MatrixNewton(SpeedNewton):
    """Newton's equations as one matrix.

    Args: as for SpeedNewton.
    """

    def __init__(self, eq: EquationsOfMotion, rhs: RightHandSide, sizes: dict[str, int]) -> None:
        assert eq.model is not None
        border = Border(eq.model)
        super().__init__(eq, rhs, sizes, MATRICES, border, LawsAlongPaths.of_model(eq.model))
        nu, k = eq.nu, border.size
        self.N = N = nu + k
        sizes |= {"n.pivots": N, "n.info": 1, "n.D": N * N, "n.below": k * N}
        sizes |= {"n.bound": nu, "n.r_u": nu, "n.y_y": len(border.states) ** 2}
        parts = {"L_q": nu * N, "L_u": nu * N} | dict.fromkeys(("y_q", "y_u", "a_udot"), k * nu)
        sizes |= {f"n.{name}": size for name, size in parts.items()}
        self.parts = tuple(f"n.{name}" for name in (*parts, "y_y"))
        given = [*border.inputs, border.udot, border.lambda_]
        self.lines: list[SliceFunction] = []
        if not border.empty:
            self.lines = [
                self._line("n.forces", given[:3], border.forces()),
                self._line("n.border", given, border.derivatives()),
            ]

    def factor(self, sigma: str) -> list[Node]:
        nu, N, sizes = self.nu, self.N, self.sizes
        given = "n.t", "n.y", "p"
        nodes = self._given(sigma)
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
            return ca.vertcat(free[:nu] * (s * M - B_q / s - B_u), below)

        names = "n.sigma n.free n.M n.B_q n.B_u n.below"
        return [
            *nodes,
            elementwise(matrix, names, "n.D", sizes, N, "matrix", whole=["n.free"]),
            self._kernel(lambda free: 1 - free[:nu], "n.free", "n.bound", "bound"),
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
            E[i, i] = ca.if_else(size > 0, -REDUNDANT * size, -1)  # disabled equations stay uncoupled
        return ca.vec(ca.horzcat(sign * (y_q / s + y_u) + s * a_udot, E).T)

    def solve(self, x: str) -> list[Node]:
        """x <- (sigma 1 - J)^-1 x."""
        nq, nu, k, N = self.eq.nq, self.nu, self.border.size, self.N
        border, m = self.border, len(self.laws.states)

        def right(r: SX, free: SX, b: SX, s: SX, b_q: SX, b_u: SX, y_q: SX, a_udot: SX) -> SX:
            states = len(border.states)
            y_q, a_udot = (ca.reshape(y, k, nu) for y in (y_q, a_udot))
            b_y = ca.vertcat(ca.SX(0, 1), *(b[nq + nu + z] for z in border.states), ca.SX(k - states, 1))
            sign = ca.vertcat(ca.SX.ones(states, 1), -ca.SX.ones(k - states, 1))
            return ca.vertcat(ca.if_else(free[:nu], r, b_u / s), b_y + sign * (y_q @ b_q) + a_udot @ b_u)

        product = lambda A, v, keep: Call("dgemv", (b"T", nu, nu, 1.0, A, N, v, 1, keep, "n.r_u", 1))
        along = lambda how, A, v, w, by, keep: Call("dgemv", (how, nu, m, by, A, nu, v, 1, keep, w, 1))
        nodes: list[Node] = [
            self._begin(x),
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
        return [*nodes, self._end(x)]
