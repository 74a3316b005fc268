"""The equations of motion for the step loop: ydot = f(t, y, p) of y = (q, u, z), and what integration
methods need beside f."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import partial

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.constraints.solve.multipliers import SHORT
from condyle.forces.external import TimeSeries, series_offsets
from condyle.integrate.interrupts.path_jumps import Branches
from condyle.integrate.interrupts.time_signals import timed
from condyle.integrate.projection import Projection, projection
from condyle.integrate.rigid.held_accelerations import contact_rates
from condyle.model.layouts import (
    LONGEST_FOR_ONE,
    build_looped_newton,
    build_looped_rates,
    build_newton_fronts,
    build_newton_matrix,
    prefers_loops,
)
from condyle.model.looped.implicit_fronts import NewtonFronts
from condyle.model.model import Model
from condyle.model.operators.rates import qdot
from condyle.model.right_hand_side import Rates, right_hand_side, unless
from condyle.model.symbols import Symbols
from condyle.native.programs.nodes import External, Kernel, Node, Put, Scan, Stream
from condyle.native.programs.slice_function import Loops, SharedKernel, SliceFunction, compiled
from condyle.native.solvers.tree_fronts import FrontFactors, FrontSolution
from condyle.native.straight.data import function
from condyle.native.straight.kernel_function import sizes as sizes_of
from condyle.native.tables.lookup import has_stopped_gradient
from condyle.native.tables.staged import Staged, build_function
from condyle.records import dataclass
from condyle.system.system import System


@dataclass(frozen=True, eq=False)
class EquationsOfMotion:
    """f and its parts: sherman2011 (1)-(3).

    Args:
        f: (t, y, p) -> ydot; p is the rest of a state: the tail after z. Straight-line code, or loops
            where they are faster. With constraints, a further result tells whether these are delicate:
            multipliers.py (5). For rigid contacts it is `contact_rates`.
        qdot: factory of the kernel (t, q, u) -> N u.
        projection: factory of the kernels that project the end of a step onto unit quaternions and
            constraints, for a number of error estimates.
        nq: size of q.
        nu: size of u.
        n: size of y.
        parameters: size of p.
        prescribed: number of elements of y that motions prescribe.
        timed: whether anything depends on time alone, so that a run has knots: knots.py.
        may_jump: whether lengths of paths may jump: path_jumps.py.
        signature: (t, y, p, rows that f looks up there) -> the branches of all paths, and the lengths
            of their spans; None if no path may jump, and if f is loops and paths go over surfaces.
        switches: the span of each switch of the signature.
        derived: f's last kernel as an expression with correct derivatives, for methods that need them. Where
            paths go over surfaces, f itself has values only, which cost much less. Staged if its rows differ
            from those of f, which have slopes.
        newton: kernels of (sigma 1 - df/dy) x = b (newton.py): factors and solutions along the tree, beside
            an f that is loops, or the parts of a matrix over the speeds, and with `fronts` also factors and
            solutions; None if methods form the full matrix.
        fronts: the order of elimination, if it follows the tree.
        series: sampled series whose offsets are at the end of p.
        model: of the system, if `newton` needs it.
    """

    f: ca.Function | Staged | SharedKernel | Loops
    qdot: Callable[[], ca.Function]
    projection: Callable[..., Projection | None]
    nq: int
    nu: int
    n: int
    parameters: int
    prescribed: int
    timed: bool
    may_jump: bool = False
    signature: ca.Function | None = None
    switches: tuple[int, ...] = ()
    derived: ca.Function | Staged | None = None
    newton: tuple[External, ...] | None = None
    fronts: NewtonFronts | None = None
    series: tuple[TimeSeries, ...] = ()
    model: Model | None = None


def equations(
    system: System,
    derivatives: bool = False,
    W: int = 1,
    newton: str = "",
    offsets: bool = False,
    model: Model | None = None,
) -> EquationsOfMotion:
    """The equations of a system, for W lanes. The looped layout has no derivatives, except those of
    `newton`, along the "tree", by "fronts" or as a "matrix": newton_layout chooses. offsets: p also has the
    offsets of all sampled series (forces/external.py), which are zero and serve for derivatives. model: the
    system's, or the one with numbers as data (model/stored.py)."""
    model = model or system.compiled.model
    nq, nu, branches = system.nq, system.nu, Branches.of_system(system, model)
    f: ca.Function | Staged | SharedKernel | Loops
    derivatives = derivatives and not newton
    signature, derived, loops = None, None, not derivatives
    solver: tuple[External, ...] | None = None
    fronts: NewtonFronts | None = None
    series: tuple[TimeSeries, ...] = ()
    if newton == "tree":
        factors, solution = build_looped_newton(model)
        solver = compiled(factors, "newton_factors", W), compiled(solution, "newton_solution", W)
    elif newton == "fronts":
        fronts = build_newton_fronts(model)
        solver = (
            compiled(fronts.build(), "newton_fronts", W),
            compiled(FrontFactors(fronts.plan, 2), "newton_factors", W),
            compiled(FrontSolution(fronts.plan, 2), "newton_solution", W),
        )
    elif newton:
        solver = (compiled(build_newton_matrix(model), "newton_matrix", W),)
    if newton == "tree" or (loops and prefers_loops(model, lanes=True)):
        f, signature = _loops(model, W), _signature(model, branches)
    elif W == 1 and loops and (rates := contact_rates(system, model)):
        f = rates
    else:
        # frames that are not turned make it much shorter than expected
        with series_offsets(offsets) as found:
            f, signature, derived = _right_hand_side(model, branches, derivatives, found)
        series = tuple(one for one, _ in found.values())
        if loops and W == 1 and prefers_loops(model) and f.n_instructions() > LONGEST_FOR_ONE:
            f, signature = _loops(model, W), _signature(model, branches)
    prescribed = sum(
        len(x) for b in model.tree.driven if b.motion for x in (b.motion.coordinates, b.motion.given_speeds)
    )
    extra = sum(len(one.values[0]) for one in series)
    projected = partial(projection, model, lanes=W if isinstance(f, Loops) else 0, extra=extra)
    return EquationsOfMotion(
        f,
        partial(_qdot, model),
        projected,
        nq,
        nu,
        nq + nu + model.nz,
        model.tail_size - model.tail["inputs"].start + extra,
        prescribed,
        bool(timed(system).names),
        branches is not None,
        signature,
        tuple(branches.of_span.tolist()) if branches is not None else (),
        derived,
        solver,
        fronts,
        series,
        model if newton else None,
    )


def _right_hand_side(
    model: Model,
    branches: Branches | None,
    derivatives: bool,
    offsets: Mapping[int, tuple[TimeSeries, SX]],
) -> tuple[ca.Function | Staged, ca.Function | None, ca.Function | Staged | None]:
    """f, signature and derived: see EquationsOfMotion."""
    s = Symbols(model, plain=branches is not None)
    inputs = [s.t, ca.vertcat(s["q"], s["u"], s.z), s["tail"][model.tail["inputs"].start :]]
    s.follow_motions()
    s.arguments["tau"] = ca.SX.zeros(model.tree.nu)
    rates = right_hand_side(s, SHORT)
    results = [rates.ydot, *([] if rates.delicate is None else [rates.delicate])]
    inputs[2] = ca.vertcat(inputs[2], *(x for _, x in offsets.values()))
    if branches is None:
        f = build_function("rhs", inputs, results)
        if derivatives and has_stopped_gradient(results):
            return f, None, Staged("derived", inputs, [rates.ydot], derived=True)
        return f, None, f.main if isinstance(f, Staged) else f
    # all from the same rows: paths are solved once
    more = [*branches.signature(s.view(s.kinematics()))]
    if derivatives:
        more.append(right_hand_side(s.differentiable(), SHORT).ydot)
    whole = build_function("rhs", inputs, [*results, *more], derivatives)
    main = whole.main if isinstance(whole, Staged) else whole
    x = [ca.SX.sym(f"x{k}", main.numel_in(k)) for k in range(main.n_in())]
    out, n = main.call(x, True, False), len(results)
    f, signature = function("rhs", x, out[:n]), function("signature", x, out[n : n + 2])
    derived = function("derived", x, out[n + 2 :]) if derivatives else None
    if not isinstance(whole, Staged):
        return f, signature, derived
    staged = copy(whole)
    staged.main, staged.outputs = f, whole.outputs[:n]
    return staged, signature, derived


def _signature(model: Model, branches: Branches | None) -> ca.Function | None:
    """The signature if f is loops: short code for points that depend on coordinates. Surfaces would need the
    rows of f, to which loops give no access.
    """
    if branches is None or any(span.wraps for span in branches.spans):
        return None
    s = Symbols(model)
    inputs = [s.t, ca.vertcat(s["q"], s["u"], s.z), s["tail"][model.tail["inputs"].start :]]
    s.follow_motions()
    made = build_function("signature", inputs, [*branches.signature(s.view(s.kinematics()))])
    return None if isinstance(made, Staged) else made


def _loops(model: Model, W: int) -> Loops:
    """The right-hand side in loops. Prescribed values are in q and u from index `split` on."""
    nq, nu, nz, start = model.tree.nq, model.tree.nu, model.nz, model.tail["inputs"].start
    sizes = {
        "f.q": nq,
        "f.u": nu,
        "f.tau": nu,
        "f.tail": model.tail_size,
        "f.udot": nu,
        "f.status": 1,
        "f.zdot": nz,
    }
    s = Symbols(model)
    inputs = [s.t, ca.vertcat(s["q"], s["u"], s.z), s["tail"][start:]]
    s.follow_motions()
    split = build_function("split", inputs, [s["q"], s["u"], s["tail"]])
    found = ("f.udot", "f.status", *(("f.near",) if model.constraints else ()))
    sizes |= {"f.near": 1} if model.constraints else {}
    rates = compiled(build_looped_rates(model, SHORT), "forward_dynamics", W)
    kernels = [Kernel(rates, ("f.q", "f.u", "f.tau", "f.tail"), (*found, *(("f.zdot",) if nz else ())))]
    joined = ("f.q", "f.u", "f.tail", "f.udot", "f.zdot", *found[1:])
    q, u, tail, udot, zdot, status, *near = (ca.SX.sym(name, sizes[name]) for name in joined)
    ydot = Rates(_qdot(model)(tail[0], q, u), ca.SX(0), udot, status, zdot).ydot
    join = function("join", [q, u, tail, udot, zdot, status, *near], [ydot, *near])
    return Loops(split, ("f.q", "f.u", "f.tail"), tuple(kernels), join, joined, sizes)


def _qdot(model: Model) -> ca.Function:
    s = Symbols(model)
    rates, lost = qdot(s)
    return function("qdot", [s.t, s["q"], s["u"]], [ca.densify(unless(lost, rates))])


class RightHandSide:
    """f as trees of nodes over slices of a workspace; look-ups become Get nodes on shared tables.

    `sizes`, `streams` and `tables` gain what the trees need.
    """

    def __init__(
        self,
        eq: EquationsOfMotion,
        sizes: dict[str, int],
        streams: dict[str, Stream],
        tables: dict[str, np.ndarray],
    ) -> None:
        self.n, self.sizes, self.streams, self.tables, f = eq.n, sizes, streams, tables, eq.f
        self.f = SliceFunction(f, "f", sizes, streams, tables)
        self.sloped = (
            SliceFunction(eq.derived, "d", sizes, streams, tables) if isinstance(eq.derived, Staged) else None
        )
        self.derived = eq.derived.main if isinstance(eq.derived, Staged) else eq.derived
        last = f.join if isinstance(f, Loops) else f.main if isinstance(f, Staged) else f
        self.constrained = len(sizes_of(last)[1]) > 1
        if self.constrained:
            sizes["f.delicate"] = 1
        self.rows: tuple[str, ...] = self.f.more

    def __call__(self, t: str, y: str, k: str, delicate: str = "f.delicate") -> Node:
        """k <- f(t, y). With constraints also `delicate`: multipliers.py (5)."""
        return self.f((t, y, "p"), (k, *((delicate,) if self.constrained else ())))

    @property
    def kept_rows(self) -> tuple[str, ...]:
        return ("f.kept",) if self.rows else ()

    def keep(self) -> list[Node]:
        """Nodes that save the rows that f has just looked up for `matrix`, while f is evaluated elsewhere."""
        if not self.rows:
            return []
        self.sizes[self.kept_rows[0]] = n = self.sizes[self.rows[0]]
        x = ca.SX.sym("x", n)
        return [Kernel(function("keep", [x], [x]), self.rows, self.kept_rows)]

    def look_up(self, t: str, y: str) -> list[Node]:
        """The rows of f at (t, y), without f."""
        return self.f.looked_up((t, y, "p"))

    def matrix(self, t: str, y: str, h: str, gamma: float, W: str, f_t: str) -> list[Node]:
        """W <- I / (gamma h) - df/dy, by columns, and f_t <- df/dt: exact, rows of tables held fixed. They
        are those of the last `keep`, which was at (t, y).

        Small systems: one expression. Large ones: a derivative along one direction, compiled once and called
        n + 1 times.
        """
        assert self.derived is not None  # loops have no derivatives
        n, step, main = self.n, ca.SX.sym("h"), self.derived
        first: list[Node] = []
        given = (t, y, "p", *self.kept_rows)
        if self.sloped is not None:
            first, given = self.sloped.looked_up((t, y, "p")), (t, y, "p", *self.sloped.more)
        x = [ca.SX.sym(f"x{k}", main.numel_in(k)) for k in range(main.n_in())]
        ydot = ca.densify(main.call(x)[0])
        if main.n_instructions() * count_directions(ydot, x[1]) <= 4 * WHOLE:
            matrix = ca.SX.eye(n) / (gamma * step) - ca.jacobian(ydot, x[1])
            results = [ca.vec(ca.densify(matrix)), ca.densify(ca.jacobian(ydot, x[0]))]
            whole = function("matrix", [*x, step], results, cse=True)
            if whole.n_instructions() <= WHOLE:
                return [*first, Kernel(whole, (*given, h), (W, f_t))]
        e_t, e_y, j = ca.SX.sym("e_t"), ca.SX.sym("e_y", n), ca.SX.sym("j")
        along = ca.densify(ca.jtimes(ydot, ca.vertcat(x[0], x[1]), ca.vertcat(e_t, e_y)))
        f = function("along", [*x, e_t, e_y, step], [e_y / (gamma * step) - along, along], cse=True)
        self.sizes |= {"e_t": 1, "e_y": n, "column": n, "j": 1}
        unit = function("unit", [j], [ca.SX(0), ca.vertcat(*(j == i for i in range(n)))])
        column = Kernel(f, (*given, "e_t", "e_y", h), ("column", f_t))
        return [
            *first,
            Kernel(function("first", [], [ca.SX(0)]), (), ("j",)),
            Scan(
                n,
                [
                    Kernel(unit, ("j",), ("e_t", "e_y")),
                    column,
                    Put("column", W, "j"),
                    Kernel(function("next", [j], [j + 1]), ("j",), ("j",)),
                ],
            ),
            Kernel(function("time", [], [ca.SX(1), ca.densify(ca.SX(n, 1))]), (), ("e_t", "e_y")),
            column,
        ]


def count_directions(f: SX, x: SX) -> int:
    """Number of directional derivatives in a Jacobian: columns without common rows share one."""
    sparsity = ca.jacobian_sparsity(f, x)
    return int(min(sparsity.T.uni_coloring().size2(), sparsity.uni_coloring().size2()))


WHOLE = 30_000
"""Operations up to which a Jacobian is one expression. Common ones are counted once: at least a quarter of
the product of f's operations and the directions remains, so nothing beyond four times this is tried.
"""
