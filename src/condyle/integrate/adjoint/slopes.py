"""The right-hand side and the maps of the projection with their derivatives, as kernels that are compiled once: tape.py
(2), (4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

import condyle.settings as settings
from condyle.arrays import SX
from condyle.dynamics.rnea import inverse_dynamics
from condyle.integrate.equations import EquationsOfMotion, RightHandSide
from condyle.model.differentiate import has_gradient
from condyle.model.layouts import GRADIENT, build_looped_gradient, prefers_loops
from condyle.model.looped.gradient import has_looped_gradient
from condyle.model.model import Model
from condyle.model.operators.rates import zdot
from condyle.model.symbols import Symbols
from condyle.native.programs.nodes import Kernel, Node, Put, Stream, elementwise, kernel
from condyle.native.programs.slice_function import Loops, SliceFunction, compiled
from condyle.native.tables.staged import Staged, build_function

OFFSETS = "row.offsets"
"""The stream of cotangents of the offsets of series, with the time of each: a row for each evaluation of f."""
LONG = 6000
"""Operations of f beyond which its gradient is a recursion in loops: straight-line code is three times as
long, and takes six times as long where every instruction is fetched once."""


FORWARD, REVERSE = "forward", "reverse"


def wanted(model: Model) -> np.ndarray:
    """Mask over p, the tail after z, of the numbers that runs are differentiated by: inputs, discrete
    variables, parameters and their table."""
    start = model.tail["inputs"].start
    parts = [
        np.arange(model.tail[x].start, model.tail[x].stop)
        for x in ("inputs", "discrete", "parameters", "table")
    ]
    return np.concatenate(parts) - start


class Slope:
    """f and its derivatives as kernels, each compiled once.

    Args:
        eq: the equations of motion, with derivatives.
        rhs: f over the slices of the program.
        wanted: mask of the numbers of p that have derivatives.
    """

    def __init__(self, eq: EquationsOfMotion, rhs: RightHandSide, wanted: Sequence[int]) -> None:
        assert rhs.derived is not None
        self.eq, self.rhs, self.wanted, self.sizes = eq, rhs, list(wanted), rhs.sizes
        main, n = rhs.derived, eq.n
        self.x = x = [ca.SX.sym(f"x{k}", main.numel_in(k)) for k in range(main.n_in())]
        self.ydot = ca.densify(main.call(x, True, False)[0])
        self.active = ca.vertcat(x[1], x[2][self.wanted])
        self.offsets = x[2][x[2].numel() - sum(len(one.values[0]) for one in eq.series) :]
        self.n, self.np = n, len(self.wanted)
        self._made: dict[str, ca.Function] = {}
        self._label = 0

    @property
    def rows_size(self) -> int:
        return self.x[3].numel() if len(self.x) > 3 else 0

    def _function(self, name: str, make: Callable[[], tuple[list[SX], list[SX]]]) -> ca.Function:
        if name not in self._made:
            ins, outs = make()
            self._made[name] = ca.Function(name, ins, [ca.densify(y) for y in outs], {"cse": True})
        return self._made[name]

    @property
    def vjp(self) -> ca.Function:
        """(t, y, p, rows..., k^, p^) -> f_y' k^, p^ + f_p' k^: (2); t and the cotangents of the series' offsets."""

        def make() -> tuple[list[SX], list[SX]]:
            w, old = ca.SX.sym("w", self.n), ca.SX.sym("old", self.np)
            back = ca.jtimes(self.ydot, ca.vertcat(self.active, self.offsets), w, True)
            n, end = self.n, self.n + self.np
            return [*self.x, w, old], [back[:n], old + back[n:end], ca.vertcat(self.x[0], back[end:])]

        return self._function("rate_vjp", make)

    def back(
        self, given: tuple[str, ...], k: str, w: str, out: str, pbar: str, place: tuple[int, int]
    ) -> list[Node]:
        """Nodes that set `out` to f_y' w and add f_p' w to pbar, at (t, y, p, rows...) where f = k. place:
        index of the evaluation in the step, and their number."""
        self.sizes["offsets"] = 1 + self.offsets.numel()
        nodes: list[Node] = [Kernel(self.vjp, (*given, w, pbar), (out, pbar, "offsets"))]
        if not self.offsets.numel():
            return nodes
        i, count = place
        self.sizes["slot"] = 1
        slot = kernel(lambda row: row * count + i, "row", "slot", self.sizes, f"slot{i}")
        return [*nodes, slot, Put("offsets", OFFSETS, "slot")]

    def _tangents(self) -> list[SX]:
        return [ca.SX.sym("dy", self.n), ca.SX.sym("dp", self.np)]

    def evaluated(
        self, t: str, y: str, k: str, known: bool
    ) -> tuple[list[Node], tuple[str, ...], list[Node]]:
        """Nodes that compute what derivatives of f at (t, y) need, the slices with these values, and nodes
        that compute f itself, k, unless it is known."""
        looked, rows = self.rows_at(t, y)
        return looked, (t, y, "p", *rows), [] if known else [self.rhs(t, y, k, "f.unused")]

    def again(self, k: str) -> tuple[str, ...]:
        """Results of `along` besides a tangent."""
        return (k,)

    @property
    def along(self) -> ca.Function:
        """(t, y, p, rows..., y', p') -> f, f_y y' + f_p p': (2)."""

        def make() -> tuple[list[SX], list[SX]]:
            d = self._tangents()
            return [*self.x, *d], [self.ydot, ca.jtimes(self.ydot, self.active, ca.vertcat(*d))]

        return self._function("rate_dual", make)

    def _along(self) -> tuple[SX, SX, SX]:
        """f_t e + f_y U, and e, U."""
        e, U = ca.SX.sym("e"), ca.SX.sym("U", self.n)
        return ca.jtimes(self.ydot, ca.vertcat(self.x[0], self.x[1]), ca.vertcat(e, U)), e, U

    @property
    def second_vjp(self) -> ca.Function:
        """(t, y, p, rows..., e, U, r^, y^, p^) -> y^, p^ with the gradient of r^ . (f_t e + f_y U) added: (4)."""

        def make() -> tuple[list[SX], list[SX]]:
            along, e, U = self._along()
            w, old_y, old_p = ca.SX.sym("w", self.n), ca.SX.sym("old_y", self.n), ca.SX.sym("old_p", self.np)
            back = ca.jtimes(along, self.active, w, True)
            return [*self.x, e, U, w, old_y, old_p], [old_y + back[: self.n], old_p + back[self.n :]]

        return self._function("second_vjp", make)

    @property
    def second_jvp(self) -> ca.Function:
        """(t, y, p, rows..., e, U, y', p') -> (f_t e + f_y U)' with e, U held: (4)."""

        def make() -> tuple[list[SX], list[SX]]:
            along, e, U = self._along()
            d = self._tangents()
            return [*self.x, e, U, *d], [ca.jtimes(along, self.active, ca.vertcat(*d))]

        return self._function("second_jvp", make)

    def rows_at(self, t: str, y: str) -> tuple[list[Node], tuple[str, ...]]:
        """Nodes that look up at (t, y) what derivatives need, into a slice that is not overwritten."""
        if not self.rows_size:
            return [], ()
        self._label += 1
        kept = f"rows~{self._label}"
        self.sizes[kept] = self.rows_size
        found = self.rhs.sloped or self.rhs.f
        return [*found.looked_up((t, y, "p")), self._copy(found.more[0], kept)], (kept,)

    def _copy(self, source: str, target: str) -> Kernel:
        return elementwise(lambda x: x, [source], [target], self.sizes, self.sizes[source], "copy")


class LoopedSlope(Slope):
    """Derivatives in loops over bodies, in reverse, for trees whose speeds are the rates of their coordinates
    and that only forces move: the recursion of dynamics/gradient.py. With udot = k held and x = M^-1 w, as
    that recursion finds it, it is -x . tau(q, u, k, p) that depends on p.
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
        self.n, self.np, self.x, self._label, self.offsets = eq.n, len(self.wanted), [], 0, ca.SX(0, 1)
        nu, nz, start = model.tree.nu, model.nz, model.tail["inputs"].start
        s = Symbols(model)
        inputs = [s.t, ca.vertcat(s["q"], s["u"], s.z), s["tail"][start:]]
        by, w, none = inputs[2][self.wanted], ca.SX.sym("w", eq.n), ca.SX.zeros(nu)
        sizes = {"g.q": nu, "g.u": nu, "g.tau": nu, "g.tail": model.tail_size, "g.w": nu, "g.status": 1}
        self.sizes |= sizes | {"g.dq": nu, "g.du": nu, "g.x": nu, "g.dz": nz, "g.more": eq.n}
        self.split = ca.Function("split", [*inputs, w], [s["q"], s["u"], none, s["tail"], w[nu : 2 * nu]])
        wrt = ("q", "u", "tau", *(("z",) if nz else ()))
        self.loops = compiled(build_looped_gradient(model, wrt), "gradient", W)
        self.found = ("g.dq", "g.du", "g.x", *(("g.dz",) if nz else ()), "g.status")
        dq, du, dz, more = (ca.SX.sym(name, self.sizes[name]) for name in ("g.dq", "g.du", "g.dz", "g.more"))
        both = ca.vertcat(dq, du + w[:nu], dz) + more
        self.join = ca.Function("join", [w, dq, du, dz, more], [ca.densify(both)])
        k, old, x = ca.SX.sym("k", eq.n), ca.SX.sym("old", self.np), ca.SX.sym("x", nu)
        kin = s.kinematics()
        tau = inverse_dynamics(model.tree, kin, k[nu : 2 * nu], s.gravity, s.loads(kin)) if self.np else none
        psi = ca.vertcat(-tau, zdot(s) if nz else ca.SX(0, 1))
        by_y = ca.jtimes(psi[nu:], inputs[1], w[2 * nu :], True) if nz else ca.SX.zeros(eq.n)
        by_p = ca.jtimes(psi, by, ca.vertcat(x, w[2 * nu :]), True)
        made = build_function("by_p", [*inputs, k, x, w, old], [by_y, old + by_p])
        self.more = SliceFunction(made, "by_p", self.sizes, streams, tables)

    def back(
        self, given: tuple[str, ...], k: str, w: str, out: str, pbar: str, place: tuple[int, int]
    ) -> list[Node]:
        parts = ("g.q", "g.u", "g.tau", "g.tail", "g.w")
        return [
            Kernel(self.split, (*given, w), parts),
            Kernel(self.loops, ("g.q", "g.u", "g.tau", "g.w", "g.tail"), self.found),
            *self.more((*given, k, "g.x", w, pbar), ("g.more", pbar)),
            Kernel(self.join, (w, "g.dq", "g.du", "g.dz", "g.more"), (out,)),
        ]

    @staticmethod
    def fits(model: Model, eq: EquationsOfMotion, lanes: bool) -> bool:
        """Whether the recursion applies and pays."""
        wrt = ("q", "u", "tau", *(("z",) if model.nz else ()))
        there = has_gradient(model, "forward_dynamics", wrt[:3]) and has_looped_gradient(model, wrt)
        if eq.nq != eq.nu or not there:
            return False
        q, u, t = ca.SX.sym("q", eq.nq), ca.SX.sym("u", eq.nu), ca.SX.sym("t")
        plain = bool((eq.qdot()(t, q, u) - u).is_zero())
        if isinstance(eq.f, Loops) or prefers_loops(model, lanes=lanes, longer=GRADIENT):
            return plain
        return plain and settings.layout() == "auto" and eq.f.n_instructions() > LONG


class MapSlope:
    """A map y <- F(t, y, p, weights) of the projection and its derivatives as kernels."""

    def __init__(
        self,
        f: ca.Function | Staged,
        label: str,
        wanted: Sequence[int],
        sizes: dict[str, int],
        streams: dict[str, Stream],
        tables: dict[str, np.ndarray],
    ) -> None:
        self.f = SliceFunction(f, label, sizes, streams, tables)
        main = f.main if isinstance(f, Staged) else f
        x = [ca.SX.sym(f"x{k}", main.numel_in(k)) for k in range(main.n_in())]
        out, active = ca.densify(main.call(x, True, False)[0]), ca.vertcat(x[1], x[2][list(wanted)])
        n, m = x[1].numel(), len(wanted)
        w, old, dp = ca.SX.sym("w", n), ca.SX.sym("old", m), ca.SX.sym("dp", m)
        back = ca.jtimes(out, active, w, True)
        results = [ca.densify(y) for y in (back[:n], old + back[n:])]
        self.vjp = ca.Function(f"{label}_vjp", [*x, w, old], results, {"cse": True})
        along = ca.densify(ca.jtimes(out, active, ca.vertcat(w, dp)))
        self.jvp = ca.Function(f"{label}_jvp", [*x, w, dp], [along], {"cse": True})
        self.extra = main.n_out() - 1
