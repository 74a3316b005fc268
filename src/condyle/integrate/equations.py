"""The equations of motion as the step loop takes them: ydot = f(t, y, p) of y = (q, u, z), and what else methods need of f."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import casadi as ca
import numpy as np

from condyle.constraints.corrections import position_change, velocity_change
from condyle.dynamics.layouts import LONGEST_FOR_ONE, build_looped, prefers_loops
from condyle.dynamics.operators import OPERATORS, Subject, Symbols
from condyle.errors import DescriptionError
from condyle.mobilizers import motion
from condyle.native.emit import Module
from condyle.native.jit import compile_ir
from condyle.native.lookup import Staged, assembled
from condyle.native.nodes import External, Get, Kernel, Node, Put, Scan, Stream
from condyle.system import System


@dataclass(frozen=True, eq=False)
class Loops:
    """f by loops over bodies: `split` makes (q, u, tail) of (t, y, p), `kernels` read these, `join` makes ydot of their results.

    Args:
        kernels: each with the slices that it reads and writes.
        sizes: of the slices between.
    """

    split: ca.Function
    kernels: tuple[Kernel, ...]
    join: Kernel
    sizes: dict[str, int]


@dataclass(frozen=True, eq=False)
class Equations:
    """f and its parts.

    Args:
        f: (t, y, p) -> ydot; p is what else a state holds: the tail behind z. One straight line, or loops where they are quicker.
        qdot: makes (t, q, u) -> N u.
        project: (t, y, p) -> y, to be applied one after another to every accepted y: unit quaternions, and Newton steps towards
            the constraints. Two for positions: what one step of integration leaves is small, and Newton squares it.
        nq, nu, n, parameters: sizes of q, u, y and p.
    """

    f: ca.Function | Staged | Loops
    qdot: Callable[[], ca.Function]
    project: tuple[ca.Function, ...]
    nq: int
    nu: int
    n: int
    parameters: int


def equations(system: System, loops: bool = True, W: int = 1) -> Equations:
    """The equations of a system, for W lanes; `loops` allows the looped layout, which has no derivatives."""
    subject = system.subject
    nq, nu = system.nq, system.nu
    f: ca.Function | Staged | Loops
    if loops and prefers_loops(subject, lanes=True):
        f = _loops(subject, W)
    else:
        f = _right_hand_side(subject)                       # frames that are not turned make it much shorter than expected
        if loops and W == 1 and prefers_loops(subject) and f.n_instructions() > LONGEST_FOR_ONE:
            f = _loops(subject, W)
    return Equations(f, partial(_qdot, subject), _projection(system), nq, nu, nq + nu + subject.nz,
                     subject.tail_size - subject.tail["inputs"].start)


def _right_hand_side(subject: Subject) -> ca.Function | Staged:
    s = Symbols(subject)
    s.arguments["tau"] = ca.SX.zeros(subject.tree.nu)
    qdot, = OPERATORS["qdot"].expressions(s)
    udot, _ = OPERATORS["forward_dynamics"].expressions(s)
    zdot, = OPERATORS["zdot"].expressions(s)
    rest = s["tail"][subject.tail["inputs"].start:]
    return assembled("rhs", [s.t, ca.vertcat(s["q"], s["u"], s.z), rest], [ca.vertcat(qdot, udot, zdot)])


def _loops(subject: Subject, W: int) -> Loops:
    nq, nu, nz, start = subject.tree.nq, subject.tree.nu, subject.nz, subject.tail["inputs"].start
    sizes = {"f.q": nq, "f.u": nu, "f.tau": nu, "f.tail": subject.tail_size, "f.udot": nu, "f.status": 1, "f.zdot": nz}
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", nq + nu + nz), ca.SX.sym("p", subject.tail_size - start)
    split = ca.Function("split", [t, y, p], [y[:nq], y[nq:nq + nu], ca.vertcat(t, y[nq + nu:], p)])
    kernels = [_looped(subject, "forward_dynamics", ("f.udot", "f.status"), W)]
    if nz:
        kernels.append(_looped(subject, "zdot", ("f.zdot",), W))
    q, u, udot, zdot = (ca.SX.sym(name, n) for name, n in (("q", nq), ("u", nu), ("udot", nu), ("zdot", nz)))
    tail = ca.SX.sym("tail", subject.tail_size)
    join = ca.Function("join", [q, u, tail, udot, zdot], [ca.vertcat(_qdot(subject)(tail[0], q, u), udot, zdot)])
    return Loops(split, tuple(kernels), Kernel(join, ("f.q", "f.u", "f.tail", "f.udot", "f.zdot"), ()), sizes)


def _looped(subject: Subject, name: str, outs: tuple[str, ...], W: int) -> Kernel:
    rows, module, symbol = build_looped(subject, name), Module(W, True), f"simulate.{name}"
    work = rows.emit(module, symbol)
    code = External(symbol, tuple(rows.inputs), tuple(rows.outputs), W, work, compile_ir(module.text()), masked=False)
    return Kernel(code, tuple(f"f.{argument}" for argument in OPERATORS[name].arguments), outs)


def _qdot(subject: Subject) -> ca.Function:
    s = Symbols(subject)
    qdot, = OPERATORS["qdot"].expressions(s)
    return ca.Function("qdot", [s.t, s["q"], s["u"]], [ca.densify(qdot)])


def _projection(system: System) -> tuple[ca.Function, ...]:
    subject = system.subject
    s = Symbols(subject)
    rest = s["tail"][subject.tail["inputs"].start:]
    inputs = [s.t, ca.vertcat(s["q"], s["u"], s.z), rest]

    def with_unit_quaternions(q: ca.SX) -> ca.SX:
        parts = [ca.SX(0, 1)]
        for b in system.bodies:
            mine = q[b.q]
            unit = b.mobilizer.coordinate_names[:4] == ("qw", "qx", "qy", "qz")
            parts.append(ca.vertcat(mine[:4] / ca.norm_2(mine[:4]), mine[4:]) if unit else mine)
        return ca.vertcat(*parts)

    def made(name: str, q: ca.SX, u: ca.SX) -> ca.Function:
        f = assembled(name, inputs, [ca.vertcat(q, u, s.z)])
        if isinstance(f, Staged):
            raise DescriptionError("simulate: a constrained system whose functions have 12 points or more cannot be projected "
                                   "yet; use fewer points, or a polynomial")
        return f

    if not subject.constraints:
        q = with_unit_quaternions(s["q"])
        return () if ca.is_equal(q, s["q"], 1) else (made("project", q, s["u"]),)
    rows = s.rows(s.kinematics())
    du = position_change(rows, s.lock)
    moved = ca.vertcat(ca.SX(0, 1), *(motion(b.mobilizer, s.t, s["q"][b.q], du[b.u])[8] for b in system.bodies))
    nearer = made("nearer", with_unit_quaternions(s["q"] + moved), s["u"])
    return nearer, nearer, made("slower", s["q"], s["u"] + velocity_change(rows, s.lock))


class RightHandSide:
    """f as trees of nodes over slices of a workspace; look-ups become Get nodes on shared tables.

    `sizes`, `streams` and `tables` gain what the trees need.
    """

    def __init__(self, f: ca.Function | Staged | Loops, n: int, sizes: dict[str, int], streams: dict[str, Stream],
                 tables: dict[str, np.ndarray]) -> None:
        self.n, self.sizes = n, sizes
        self.more: tuple[str, ...] = ("p",)
        self.stages: list[tuple[ca.Function, list[tuple[str, str, str]], ca.Function]] = []
        self.loops = f if isinstance(f, Loops) else None
        if isinstance(f, Loops):
            sizes |= f.sizes
            return
        self.main: ca.Function = f.main if isinstance(f, Staged) else f
        if not isinstance(f, Staged):
            return
        self.more = ("p", "looked_up")
        sizes["looked_up"] = f.row_size
        for level, (index, found, start) in enumerate(f.stages):
            x = [ca.SX.sym(f"x{k}", index.numel_in(k)) for k in range(index.n_in())]
            split = ca.Function(f"index{level}", x, ca.vertsplit(index(*x)))
            gets = []
            for k, table in enumerate(found):
                name = f"table{level}_{k}"
                streams[name], tables[name] = Stream(table.rows.shape[1], shared=True), np.array(table.rows)
                sizes[f"index{level}_{k}"], sizes[f"row{level}_{k}"] = 1, table.rows.shape[1]
                gets.append((name, f"index{level}_{k}", f"row{level}_{k}"))
            rows = [ca.SX.sym(name, sizes[name]) for _, _, name in gets]
            old = ca.SX.sym("old", f.row_size)
            stop = start + sum(sizes[name] for _, _, name in gets)
            join = ca.Function(f"join{level}", [old, *rows], [ca.vertcat(old[:start], *rows, old[stop:])])
            self.stages.append((split, gets, join))

    def _looked_up(self, t: str, y: str) -> list[Node]:
        nodes: list[Node] = []
        for split, gets, join in self.stages:
            nodes.append(Kernel(split, (t, y, "p", "looked_up"), tuple(index for _, index, _ in gets)))
            nodes += [Get(table, index, row) for table, index, row in gets]
            nodes.append(Kernel(join, ("looked_up", *(row for _, _, row in gets)), ("looked_up",)))
        return nodes

    def __call__(self, t: str, y: str, k: str) -> Node:
        """k <- f(t, y)."""
        if self.loops is not None:
            split, join = self.loops.split, self.loops.join
            return [Kernel(split, (t, y, "p"), ("f.q", "f.u", "f.tail")), *self.loops.kernels, Kernel(join.f, join.ins, (k,))]
        return [*self._looked_up(t, y), Kernel(self.main, (t, y, *self.more), (k,))]

    def matrix(self, t: str, y: str, h: str, gamma: float, W: str, f_t: str) -> list[Node]:
        """W <- I / (gamma h) - df/dy, by columns, and f_t <- df/dt: exact, rows of tables held fixed.

        Small systems: one expression. Large ones: a derivative along one direction, compiled once and called n + 1 times.
        """
        n, step = self.n, ca.SX.sym("h")
        x = [ca.SX.sym(f"x{k}", self.main.numel_in(k)) for k in range(self.main.n_in())]
        ydot = ca.densify(self.main(*x))
        if self.main.n_instructions() * n <= WHOLE:
            matrix = ca.SX.eye(n) / (gamma * step) - ca.jacobian(ydot, x[1])
            results = [ca.vec(ca.densify(matrix)), ca.densify(ca.jacobian(ydot, x[0]))]
            whole = ca.Function("matrix", [*x, step], results, {"cse": True})
            return [*self._looked_up(t, y), Kernel(whole, (t, y, *self.more, h), (W, f_t))]
        e_t, e_y, j = ca.SX.sym("e_t"), ca.SX.sym("e_y", n), ca.SX.sym("j")
        along = ca.densify(ca.jtimes(ydot, ca.vertcat(x[0], x[1]), ca.vertcat(e_t, e_y)))
        f = ca.Function("along", [*x, e_t, e_y, step], [e_y / (gamma * step) - along, along], {"cse": True})
        self.sizes |= {"e_t": 1, "e_y": n, "column": n, "j": 1}
        unit = ca.Function("unit", [j], [ca.SX(0), ca.vertcat(*(j == i for i in range(n)))])
        column = Kernel(f, (t, y, *self.more, "e_t", "e_y", h), ("column", f_t))
        return [*self._looked_up(t, y), Kernel(ca.Function("first", [], [ca.SX(0)]), (), ("j",)),
                Scan(n, [Kernel(unit, ("j",), ("e_t", "e_y")), column, Put("column", W, "j"),
                         Kernel(ca.Function("next", [j], [j + 1]), ("j",), ("j",))]),
                Kernel(ca.Function("time", [], [ca.SX(1), ca.densify(ca.SX(n, 1))]), (), ("e_t", "e_y")), column]


WHOLE = 30_000
"""Operations of f times columns up to which its Jacobian is one expression."""

