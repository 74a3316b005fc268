"""A step of any method, differentiated: its nodes are recorded once and give a tangent or a reverse step.

The nodes of `Method.step` are kernels over slices, evaluations of f, Jacobians, solutions with one factored
matrix, iterations, and the projection. A Tape gives every written slice its own name, so that all values of a
step are stored side by side. Then, with x' a tangent and x^ a cotangent, for each operation y = F(x)

    y' = F_x x'   in order,        x^ += F_x' y^   in reverse order                                        (1)
    k = f(t, y, p):      k' = f_y y' + f_p p',      y^ += f_y' k^,   p^ += f_p' k^                         (2)
    W U = r:             U' = W^-1 (r' - W' U),     r^ = W^-T U^,    W^ = -r^ U'                           (3)
    W = 1/(gamma h) - f_y:   W' U = -(f_y U)',      W^ : W' = r^ . (f_y U)'                                (4)
    x = B(x, y):         x' = B_x x' + B_y y',      v = x^ + B_x' v,  y^ += B_y' v                         (5)

(4) needs no matrix: it is the derivative of f_y along one direction U, once for each solution. (5) are
iterations too, as long as that of x. Times and steps are held. Unused results are omitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import casadi as ca

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.integrate.adjoint.slopes import OFFSETS, MapSlope, Slope
from condyle.native.loops.elements import ElementSum, Elementwise, SideBySide
from condyle.native.programs.nodes import Call, If, Ints, Kernel, Node, While, elementwise
from condyle.records import dataclass

AGAIN = 2
"""Further passes of the projection that are differentiated. Each squares the constraint error."""
PASSES = 60
"""Largest number of rounds of an iteration (5), and its tolerance as a part of 1 + |x|."""
LEFT = 1e-15


@dataclass(frozen=True, eq=False)
class Rate:
    """k <- f(t, y): an evaluation of the right-hand side by a method. `known`: k has its value already."""

    t: str
    y: str
    k: str
    known: bool = False


@dataclass(frozen=True, eq=False)
class IterationMatrix:
    """W <- I / (gamma h) - df/dy and f_t <- df/dt at (t, y)."""

    t: str
    y: str
    h: str
    gamma: float
    W: str
    f_t: str


class Recorded:
    """A right-hand side for methods that leaves Rate and IterationMatrix in their nodes."""

    rows: tuple[str, ...] = ()

    def __call__(self, t: str, y: str, k: str, delicate: str = "") -> Node:
        return Rate(t, y, k)  # type: ignore[return-value]

    def matrix(self, t: str, y: str, h: str, gamma: float, W: str, f_t: str) -> list[Node]:
        return [IterationMatrix(t, y, h, gamma, W, f_t)]  # type: ignore[list-item]

    def keep(self) -> list[Node]:
        return []


@dataclass(eq=False)
class Operation:
    """One operation of a step over uniquely named slices.

    Args:
        ins, outs: slices that it reads and writes.
        primal: nodes that compute outs from ins.
        tangent: nodes that compute the tangents of outs, given those that ins have; with `dual` outs too.
        reverse: nodes that add to the cotangents of ins, given those that outs have.
    """

    ins: tuple[str, ...]
    outs: tuple[str, ...]
    primal: list[Node]
    tangent: Callable[[], list[Node]]
    reverse: Callable[[], list[Node]]
    dual: bool = False


class Tape:
    """The operations of one step, in order.

    Args:
        slope: f.
        sizes: of the slices, which gain those of the tape.
        active: slices that have derivatives from the start.
        columns: number of tangents side by side.

    Attributes:
        tangents, bars: slices with tangents and cotangents, by the slice they belong to.
    """

    def __init__(self, slope: Slope, sizes: dict[str, int], active: Iterable[str], columns: int = 1) -> None:
        self.slope, self.sizes, self.operations, self.columns = slope, sizes, list[Operation](), columns
        self.names: dict[str, str] = {}
        self.active, self.count = set(active), 0
        self.tangents: dict[str, str] = {}
        self.bars: dict[str, str] = {}
        self.factored: dict[str, IterationMatrix] = {}
        self.off = ""
        self.rates = 0

    # --- names

    def at(self, name: str) -> str:
        """The slice that now holds the value of this name in the method."""
        return self.names.get(name, name)

    def new(self, name: str, size: int | None = None) -> str:
        self.count += 1
        mine = f"{name}~{self.count}"
        self.sizes[mine] = self.sizes[name] if size is None else size
        return mine

    def renamed(self, name: str) -> str:
        self.names[name] = self.new(name)
        return self.names[name]

    def tangent(self, name: str) -> str:
        if name not in self.tangents:
            self.tangents[name] = self.new(f"{name}'", self.sizes[name] * self.columns)
        return self.tangents[name]

    def beside(self, f: Any, given: Sequence[str], tangents: Sequence[str], outs: Sequence[str]) -> Kernel:
        """outs <- f(given, tangents), for each column of the tangents."""
        if self.columns > 1:
            f = SideBySide(f, self.columns, frozenset(range(len(given))))
        return Kernel(f, (*given, *tangents), tuple(outs))

    def bar(self, name: str) -> tuple[str, bool]:
        """The cotangent of a slice, and whether it already has a value."""
        known = name in self.bars
        if not known:
            self.bars[name] = self.new(f"{name}^", self.sizes[name])
        return self.bars[name], known

    # --- recording

    def record(self, node: Any) -> None:
        """Nodes of a method, in order."""
        if isinstance(node, (list, tuple)):
            for each in node:
                self.record(each)
        elif isinstance(node, Rate):
            self._rate(node)
        elif isinstance(node, IterationMatrix):
            self._matrix(node)
        elif isinstance(node, Kernel):
            self._kernel(node)
        elif isinstance(node, Call) and node.symbol in ("dgetrf", "dgetrs"):
            self._solve(node)
        elif isinstance(node, While):
            self._iteration(node)
        else:
            raise DescriptionError(
                f"derivatives of a run: the method has a {type(node).__name__}, which has no derivative here; "
                "run with 'dormand-prince' or 'rodas5p'"
            )

    def _kernel(self, node: Kernel) -> None:
        ins = tuple(map(self.at, node.ins))
        outs = tuple(map(self.renamed, node.outs))
        f, active = node.f, [k for k, x in enumerate(ins) if x in self.active]
        if active and not isinstance(f, (ca.Function, Elementwise)):
            raise DescriptionError(f"derivatives of a run: a kernel {type(f).__name__} has no derivative")
        moving = [k for k, g in enumerate(outs) if active and not isinstance(f, ElementSum)]
        if active and isinstance(f, ca.Function):
            x = [ca.SX.sym("x", f.numel_in(k)) for k in range(f.n_in())]
            y = f.call(x, True, False)
            moving = [k for k in moving if ca.depends_on(y[k], ca.vertcat(*(x[j] for j in active)))]
        self.active |= {outs[k] for k in moving}
        self.operations.append(
            Operation(
                ins,
                outs,
                [Kernel(f, ins, outs)],
                lambda: self._kernel_tangent(f, ins, outs, active, moving),
                lambda: self._kernel_reverse(f, ins, outs, active, moving),
            )
        )

    def _kernel_tangent(
        self, f: Any, ins: Any, outs: Any, active: list[int], moving: list[int]
    ) -> list[Node]:
        active = [k for k in active if ins[k] in self.tangents]
        if not active or not moving:
            return []

        def derivative(x: list[SX], y: list[SX], d: list[SX]) -> list[SX]:
            along = ca.vertcat(*(x[k] for k in active)), ca.vertcat(*d)
            return [ca.jtimes(y[k], *along) for k in moving]

        given = [self.tangents[ins[k]] for k in active]
        return [self._derived(f, ins, active, given, [self.tangent(outs[k]) for k in moving], derivative)]

    def _kernel_reverse(
        self, f: Any, ins: Any, outs: Any, active: list[int], moving: list[int]
    ) -> list[Node]:
        moving = [k for k in moving if outs[k] in self.bars]
        if not moving:
            return []
        given = [self.bars[outs[k]] for k in moving]
        targets = [self.bar(ins[k]) for k in active]
        repeated = [k for i, k in enumerate(active) if ins[k] in [ins[j] for j in active[:i]]]
        assert not repeated
        old = [i for i, (_, known) in enumerate(targets) if known]

        def derivative(x: list[SX], y: list[SX], d: list[SX]) -> list[SX]:
            w, before = d[: len(given)], dict(zip(old, d[len(given) :], strict=True))
            back = ca.jtimes(
                ca.vertcat(*(y[k] for k in moving)), ca.vertcat(*(x[k] for k in active)), ca.vertcat(*w), True
            )
            parts = ca.vertsplit(ca.densify(back), [0, *_ends([x[k].numel() for k in active])])
            return [part + before.get(i, 0) for i, part in enumerate(parts)]

        more = [targets[i][0] for i in old]
        like = [*(outs_size(f, k) for k in moving), *(ins_size(f, active[i]) for i in old)]
        return [
            self._derived(f, ins, active, [*given, *more], [name for name, _ in targets], derivative, like)
        ]

    def _derived(
        self,
        f: Any,
        ins: Sequence[str],
        active: list[int],
        given: list[str],
        results: list[str],
        derivative: Callable[[list[SX], list[SX], list[SX]], list[SX]],
        like: list[int] | None = None,
    ) -> Kernel:
        """A kernel of x, y = f(x) and further slices; slices on which it does not depend are not
        arguments."""
        one = f.f if isinstance(f, Elementwise) else f
        x = [ca.SX.sym(f"x{k}", one.numel_in(k)) for k in range(one.n_in())]
        y = one.call(x, True, False)
        sizes = like or [one.numel_in(k) for k in active]
        d = [ca.SX.sym(f"d{k}", size) for k, size in enumerate(sizes)]
        outs = [ca.densify(r) for r in derivative(x, y, d)]
        used = {s.element_hash() for s in ca.symvar(ca.vertcat(*outs))}
        kept = (
            [k for k, a in enumerate(x) if any(s.element_hash() in used for s in ca.vertsplit(a))]
            if x
            else []
        )
        made = ca.Function(f"d_{one.name()}"[:60], [*(x[k] for k in kept), *d], outs, {"cse": True})
        here = [ins[k] for k in kept]
        if not isinstance(f, Elementwise):
            return self.beside(made, here, given, results)
        whole = frozenset(i for i, k in enumerate(kept) if k in f.whole)
        assert self.columns == 1 or len(whole) == len(kept)  # steps are linear in what has derivatives
        return Kernel(Elementwise(made, f.n * self.columns, whole), (*here, *given), tuple(results))

    def _rate(self, node: Rate) -> None:
        t, y, slope = self.at(node.t), self.at(node.y), self.slope
        k = self.renamed(node.k) if not node.known else node.k
        looked, given, primal = slope.evaluated(t, y, k, node.known)
        self.active.add(k)
        place, self.rates = self.rates, self.rates + 1

        def tangent() -> list[Node]:
            d = (self.tangent(y), self.tangent("p"))
            return [self.beside(slope.along, given, d, (*slope.again(k), self.tangent(k)))]

        def reverse() -> list[Node]:
            if k not in self.bars:
                return []
            (back, known), (pbar, _) = self.bar(y), self.bar("p")
            out = self.new("back", slope.n) if known else back
            nodes = slope.back(given, k, self.bars[k], out, pbar, (place, self.rates))
            return [*nodes, self._sum(back, out)] if known else nodes

        self.operations.append(Operation((t, y), given, looked, list, list))
        self.operations.append(Operation((t, y, *given), (k,), primal, tangent, reverse, dual=True))

    def _sum(self, into: str, other: str) -> Kernel:
        return elementwise(lambda a, b: a + b, [into, other], [into], self.sizes, self.sizes[into], "sum")

    def _matrix(self, node: IterationMatrix) -> None:
        t, y, h, W, f_t = (
            self.at(node.t),
            self.at(node.y),
            self.at(node.h),
            self.renamed(node.W),
            self.renamed(node.f_t),
        )
        slope = self.slope
        looked, rows = slope.rows_at(t, y)
        made = IterationMatrix(t, y, h, node.gamma, W, f_t)
        self.factored[W] = made
        given = (t, y, "p", *rows)
        one, zero, none = "one", "zero", "no_y"
        self.sizes |= {one: 1, zero: 1, none: slope.n}
        self.active |= {f_t}

        def tangent() -> list[Node]:
            return [
                Kernel(
                    slope.second_jvp,
                    (*given, one, none, self.tangent(y), self.tangent("p")),
                    (self.tangent(f_t),),
                )
            ]

        def reverse() -> list[Node]:
            if f_t not in self.bars:
                return []
            return self._second(given, one, none, self.bars[f_t], y)

        kept = slope.rhs.kept_rows
        primal: list[Node] = [*looked]
        if kept:
            slope.sizes[kept[0]] = slope.rows_size
            primal.append(slope._copy(rows[0], kept[0]) if slope.rhs.sloped is None else [])
        primal += slope.rhs.matrix(t, y, h, node.gamma, W, f_t)
        self.operations.append(Operation((t, y, h), (W, f_t, *rows), primal, tangent, reverse))

    def _second(self, given: tuple[str, ...], e: str, U: str, w: str, y: str) -> list[Node]:
        (ybar, known), (pbar, _) = self.bar(y), self.bar("p")
        clear = [] if known else [self._clear(ybar)]
        f = self.slope.second_vjp
        return [*clear, Kernel(f, (*given, e, U, w, ybar, pbar), (ybar, pbar))]

    def _clear(self, name: str) -> Kernel:
        return Kernel(ca.Function("clear", [], [ca.SX.zeros(self.sizes[name])]), (), (name,))

    def _solve(self, node: Call) -> None:
        """dgetrf in place, or dgetrs of one right-hand side in place: (3), (4)."""
        if node.symbol == "dgetrf":
            n, _, W, leading, pivots, info = node.args
            assert isinstance(W, str) and isinstance(pivots, Ints) and isinstance(info, Ints)
            plain, P = self.at(W), self.renamed(pivots.slice)
            factored = self.renamed(W)
            self.factored[factored] = self.factored[plain]
            call = Call("dgetrf", (n, n, factored, leading, Ints(P), info))
            primal: list[Node] = [self.slope._copy(plain, factored), call]
            self.operations.append(Operation((plain,), (factored, P), primal, list, list))
            return
        _, n, _, W, leading, pivots, U, _, info = node.args
        assert (
            isinstance(W, str) and isinstance(U, str) and isinstance(pivots, Ints) and isinstance(info, Ints)
        )
        W, P, r = self.at(W), self.at(pivots.slice), self.at(U)
        x, made, slope = self.renamed(U), self.factored[W], self.slope
        self.active.add(x)
        rows = self._rows_of(made)
        given = (made.t, made.y, "p", *rows)

        def solved(kind: bytes, name: str) -> Call:
            return Call("dgetrs", (kind, n, 1, W, leading, Ints(P), name, leading, info))

        def tangent() -> list[Node]:
            dx, along = self.tangent(x), self.new("along", slope.n)
            nodes: list[Node] = [
                Kernel(
                    slope.second_jvp, (*given, "zero", x, self.tangent(made.y), self.tangent("p")), (along,)
                )
            ]
            dr = [self.tangents[r]] if r in self.tangents else []
            nodes.append(
                elementwise(lambda a, *d: a + sum(d), [along, *dr], [dx], self.sizes, slope.n, "right")
            )
            return [*nodes, solved(b"N", dx)]

        def reverse() -> list[Node]:
            if x not in self.bars:
                return []
            back = self.new("back", slope.n)
            rbar, known = self.bar(r)
            nodes: list[Node] = [slope._copy(self.bars[x], back), solved(b"T", back)]
            nodes.append(self._sum(rbar, back) if known else slope._copy(back, rbar))
            return [*nodes, *self._second(given, "zero", x, back, made.y)]

        self.operations.append(
            Operation((W, P, r), (x,), [slope._copy(r, x), solved(b"N", x)], tangent, reverse)
        )

    def _rows_of(self, made: IterationMatrix) -> tuple[str, ...]:
        for op in self.operations:
            if made.W in op.outs:
                return tuple(name for name in op.outs if name not in (made.W, made.f_t))
        return ()

    def project(self, maps: Sequence[MapSlope], t: str, y: str, tolerance: str | None) -> None:
        """y <- its projection, by the maps in order; with a tolerance repeated while the last map reports a
        remaining error, at most AGAIN times."""
        self._pass(maps, t, y, None)
        for _ in range(AGAIN if tolerance else 0):
            flag, off = self.new("again", 1), self.off
            again = Kernel(_exceeds(), (off, str(tolerance)), (flag,))
            self.operations.append(Operation((off,), (flag,), [again], list, list))
            self._pass(maps, t, y, flag)

    def _pass(self, maps: Sequence[MapSlope], t: str, y: str, flag: str | None) -> None:
        t, points, looked = self.at(t), [self.at(y)], list[tuple[str, ...]]()
        primal: list[Node] = []
        for one in maps:
            here, there = points[-1], self.new(y)
            extra = tuple(self.new("off", 1) for _ in range(one.extra))
            rows = tuple(self.new("rows", self.sizes[name]) for name in one.f.more)
            ins = (t, here, "p", "weights")
            primal += [one.f(ins, (there, *extra)), *map(self.slope._copy, one.f.more, rows)]
            points.append(there)
            looked.append(rows)
            self.off = extra[-1] if extra else ""
        start, end = points[0], self.renamed(y)
        primal.append(self.slope._copy(points[-1], end))
        self.active.add(end)
        where = [
            (one, (t, point, "p", "weights", *rows))
            for one, point, rows in zip(maps, points, looked, strict=False)
        ]

        def chosen(otherwise: Node, nodes: list[Node]) -> list[Node]:
            return nodes if flag is None else [otherwise, If(flag, nodes)]

        def tangent() -> list[Node]:
            d, nodes = self.tangent(start), list[Node]()
            before, out = d, self.tangent(end)
            for one, given in where:
                new = self.new(d, self.sizes[y] * self.columns)
                nodes.append(self.beside(one.jvp, given, (d, self.tangent("p")), (new,)))
                d = new
            return chosen(self.slope._copy(before, out), [*nodes, self.slope._copy(d, out)])

        def reverse() -> list[Node]:
            if end not in self.bars:
                return []
            w, nodes, (out, known) = self.bars[end], list[Node](), self.bar(start)
            assert not known
            pbar = self.bar("p")[0]
            first = w
            for one, given in reversed(where):
                nodes.append(Kernel(one.vjp, (*given, w, pbar), (new := self.new(out, self.sizes[y]), pbar)))
                w = new
            return chosen(self.slope._copy(first, out), [*nodes, self.slope._copy(w, out)])

        self.operations.append(
            Operation((t, start), (end,), chosen(self.slope._copy(start, end), primal), tangent, reverse)
        )

    def _iteration(self, node: While) -> None:
        """(5): the body once more at its solution. The active slices that it reads and writes are x."""
        body, slope = _flat(node.body), self.slope
        reads, writes = used_slices(body)
        both = [name for name in sorted(writes & reads) if name in self.names]
        old = {name: self.at(name) for name in (*sorted(writes), node.status)}
        for name in old:
            self.renamed(name)
        known = [
            slope._copy(old[name], self.at(name))
            for name in old
            if old[name] in self.sizes and name in (*both, node.status, node.flag)
        ]

        def renamed(each: Any) -> Any:
            if isinstance(each, Rate):
                return slope.rhs(self.at(each.t), self.at(each.y), self.at(each.k), "f.unused")
            return Kernel(each.f, tuple(map(self.at, each.ins)), tuple(map(self.at, each.outs)))

        loop = While(self.at(node.flag), [renamed(each) for each in body], node.limit, self.at(node.status))
        x = [name for name in both if old[name] in self.active]
        outs = tuple(self.at(name) for name in old)
        around = {self.at(name) for name in reads} & self.active
        self.active |= {self.at(name) for name in x}

        now = dict(self.names)

        def inner() -> Tape:
            tape = Tape(slope, self.sizes, self.active)
            tape.names, tape.count = dict(now), self.count
            tape.record(body)
            self.count = tape.count
            return tape

        def loops(
            state: Sequence[str], new: Sequence[str], nodes: list[Node], start: list[Node]
        ) -> list[Node]:
            """state <- new until nothing changes."""
            flag, left = self.new("turn", 1), self.new("left", 1)
            on = ca.Function("on", [], [ca.SX(1), ca.SX(0)])
            parts = [[ca.SX.sym(n, self.sizes[i]) for i in state] for n in "ab"]
            a, b = (ca.vertcat(*part) for part in parts)
            change = ca.mmax(ca.fabs(a - b)) > LEFT * (1 + ca.mmax(ca.fabs(b)))
            test = ca.Function("test", [*parts[0], *parts[1]], [change, *parts[1]])
            again = Kernel(test, (*state, *new), (flag, *state))
            return [*start, Kernel(on, (), (flag, left)), While(flag, [*nodes, again], PASSES, left)]

        names = [self.at(name) for name in x]

        def tangent() -> list[Node]:
            tape = inner()
            state = [self.tangent(name) for name in names]
            tape.tangents = dict(self.tangents)
            nodes = [n for op in tape.operations for n in ([] if op.dual else op.primal) + op.tangent()]
            new = [tape.tangents[tape.at(name)] for name in x]
            self.count = tape.count
            start: list[Node] = [slope._copy(self.tangents[old[n]], d) for n, d in zip(x, state, strict=True)]
            return loops(state, new, self._needed([(nodes, [])], new), start)

        def reverse() -> list[Node]:
            if not any(name in self.bars for name in names):
                return []
            assert all(name in self.bars for name in names)
            bars = [self.bars[name] for name in names]
            v, new, nodes = [self.new("v", self.sizes[b]) for b in bars], list[str](), list[Node]()
            tape = inner()  # for v only
            self.sizes["p~"] = slope.np
            tape.bars = {"p": "p~"} | {tape.at(n): b for n, b in zip(x, v, strict=True)}
            primal = [n for op in tape.operations for n in _flat(op.primal)]
            back = [n for op in reversed(tape.operations) for n in _flat(op.reverse())]
            self.count = tape.count
            for name, bar in zip(names, bars, strict=True):
                total = self.new("v", self.sizes[bar])
                more = [tape.bars[name]] if name in tape.bars else []
                back.append(
                    elementwise(
                        lambda *a: sum(a), [bar, *more], [total], self.sizes, self.sizes[bar], "total"
                    )
                )
                new.append(total)
            start: list[Node] = [
                *self._needed([(primal, [])], list(used_slices(back)[0])),
                *(slope._copy(b, a) for a, b in zip(v, bars, strict=True)),
            ]
            nodes += loops(v, new, self._needed([(back, [])], new), start)
            last = inner()  # for the slices around it
            last.bars = {n: b for n, b in self.bars.items() if n in around or n == "p"}
            last.bars |= {last.at(n): b for n, b in zip(x, v, strict=True)}
            nodes += [n for op in last.operations for n in _flat(op.primal)]
            nodes += [n for op in reversed(last.operations) for n in _flat(op.reverse())]
            self.count = last.count
            self.bars |= {n: b for n, b in last.bars.items() if n in around and n not in names}
            return nodes

        primal: list[Node] = [*known, loop]
        self.operations.append(Operation(tuple(old.values()), outs, primal, tangent, reverse))

    # --- results

    def tangent_nodes(self, result: str) -> list[Node]:
        """Nodes from the tangents of the active slices to that of a result."""
        nodes = [(op, op.tangent()) for op in self.operations]
        return self._needed(
            [([] if op.dual else op.primal, derived) for op, derived in nodes],
            [self.tangents[self.at(result)]],
        )

    def reverse_nodes(self, result: str, bar: str, wanted: Sequence[str]) -> list[Node]:
        """Nodes from the cotangent of a result to those of the active slices `wanted`."""
        self.bars[self.at(result)] = bar
        back = [op.reverse() for op in reversed(self.operations)]
        needed = [self.bars[name] for name in wanted if name in self.bars] + [OFFSETS]
        return self._needed([(op.primal, []) for op in self.operations] + [([], b) for b in back], needed)

    def _needed(self, parts: Sequence[tuple[list[Node], list[Node]]], results: Sequence[str]) -> list[Node]:
        """Nodes whose results are used."""
        live, out = set(results), list[Node]()
        flat = [node for primal, derived in parts for node in (*_flat(primal), *_flat(derived))]
        for node in reversed(flat):
            reads, writes = used_slices(node)
            if writes & live:
                out.append(node)
                live |= reads
        return out[::-1]


def _exceeds() -> ca.Function:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    return ca.Function("exceeds", [a, b], [a > b])


def _flat(node: Any) -> list[Any]:
    return [x for each in node for x in _flat(each)] if isinstance(node, (list, tuple)) else [node]


def used_slices(node: Any) -> tuple[set[str], set[str]]:
    """Slices that a node reads and writes."""
    from condyle.native.programs.nodes import Get, Put, Scan, walk

    reads, writes = set[str](), set[str]()
    for each, _ in walk(node):
        match each:
            case Rate():
                reads |= {each.t, each.y}
                writes.add(each.k)
            case Kernel():
                reads |= set(each.ins)
                writes |= set(each.outs)
            case Get():
                reads.add(each.index)
                writes.add(each.dst)
            case Put():
                reads |= {each.src, each.index}
                writes.add(each.stream)
            case Call():
                names = {
                    a.slice if isinstance(a, Ints) else a for a in each.args if isinstance(a, (str, Ints))
                }
                reads |= names
                writes |= names
            case While() | If():
                reads.add(each.flag)
                if isinstance(each, While):
                    writes.add(each.status)
            case Scan():
                pass
    return reads, writes


def _ends(sizes: Iterable[int]) -> list[int]:
    total, out = 0, []
    for n in sizes:
        total += n
        out.append(total)
    return out


def outs_size(f: Any, k: int) -> int:
    return (f.f if isinstance(f, Elementwise) else f).numel_out(k)


def ins_size(f: Any, k: int) -> int:
    return (f.f if isinstance(f, Elementwise) else f).numel_in(k)
