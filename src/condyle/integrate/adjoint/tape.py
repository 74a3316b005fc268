"""A step of any method, differentiated: its nodes are recorded once and give a tangent or a reverse step.

The nodes of `Method.step` are kernels over slices, evaluations of f, Jacobians, solutions with one factored
matrix, iterations, and the projection. A Tape gives every slice that is written a name of its own, so that all
values of a step exist side by side. Then, with x' a tangent and x^ a cotangent, for each operation y = F(x)

    y' = F_x x'   in order,        x^ += F_x' y^   in reverse order                                        (1)
    k = f(t, y, p):      k' = f_y y' + f_p p',      y^ += f_y' k^,   p^ += f_p' k^                         (2)
    W U = r:             U' = W^-1 (r' - W' U),     r^ = W^-T U^,    W^ = -r^ U'                           (3)
    W = 1/(gamma h) - f_y:   W' U = -(f_y U)',      W^ : W' = r^ . (f_y U)'                                (4)
    x = B(x, y):         x' = B_x x' + B_y y',      v = x^ + B_x' v,  y^ += B_y' v                         (5)

(4) needs no matrix: it is the derivative of f_y along one direction U, once for each solution. (5) are
iterations too, as long as that of x. Times and steps are held. What nobody reads is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import casadi as ca

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.integrate.equations import EquationsOfMotion, RightHandSide
from condyle.native.loops.elements import ElementSum, Elementwise
from condyle.native.programs.nodes import Call, If, Ints, Kernel, Node, While, elementwise
from condyle.records import dataclass

PASSES = 60
"""Of an iteration (5), at most; and what it may leave, as a part of 1 + |x|."""
LEFT = 1e-15


@dataclass(frozen=True, eq=False)
class Rate:
    """k <- f(t, y): an evaluation of the right-hand side, as methods ask for it. `known`: k is there already."""

    t: str
    y: str
    k: str
    known: bool = False


@dataclass(frozen=True, eq=False)
class Matrix:
    """W <- I / (gamma h) - df/dy and f_t <- df/dt at (t, y)."""

    t: str
    y: str
    h: str
    gamma: float
    W: str
    f_t: str


class Recorded:
    """A right-hand side that methods can ask, and that leaves Rate and Matrix in their nodes."""

    rows: tuple[str, ...] = ()

    def __call__(self, t: str, y: str, k: str, delicate: str = "") -> Node:
        return Rate(t, y, k)  # type: ignore[return-value]

    def matrix(self, t: str, y: str, h: str, gamma: float, W: str, f_t: str) -> list[Node]:
        return [Matrix(t, y, h, gamma, W, f_t)]  # type: ignore[list-item]

    def keep(self) -> list[Node]:
        return []


class Slope:
    """f and its derivatives as kernels, each compiled once.

    Args:
        eq: the equations of motion, with derivatives.
        rhs: f over the slices of the program.
        wanted: which numbers of p have derivatives.
    """

    def __init__(self, eq: EquationsOfMotion, rhs: RightHandSide, wanted: Sequence[int]) -> None:
        assert rhs.derived is not None
        self.eq, self.rhs, self.wanted, self.sizes = eq, rhs, list(wanted), rhs.sizes
        main, n = rhs.derived, eq.n
        self.x = x = [ca.SX.sym(f"x{k}", main.numel_in(k)) for k in range(main.n_in())]
        self.ydot = ca.densify(main.call(x, True, False)[0])
        self.active = ca.vertcat(x[1], x[2][self.wanted])
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
        """(t, y, p, rows..., k^, p^) -> f_y' k^, p^ + f_p' k^: (2)."""

        def make() -> tuple[list[SX], list[SX]]:
            w, old = ca.SX.sym("w", self.n), ca.SX.sym("old", self.np)
            back = ca.jtimes(self.ydot, self.active, w, True)
            return [*self.x, w, old], [back[: self.n], old + back[self.n :]]

        return self._function("rate_vjp", make)

    def _tangents(self) -> list[SX]:
        return [ca.SX.sym("dy", self.n), ca.SX.sym("dp", self.np)]

    @property
    def dual(self) -> ca.Function:
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
        """Nodes that look up at (t, y) what derivatives need, into a slice that stays."""
        if not self.rows_size:
            return [], ()
        self._label += 1
        kept = f"rows~{self._label}"
        self.sizes[kept] = self.rows_size
        found = self.rhs.sloped or self.rhs.f
        return [*found.looked_up((t, y, "p")), self._copy(found.more[0], kept)], (kept,)

    def _copy(self, source: str, target: str) -> Kernel:
        return elementwise(lambda x: x, [source], [target], self.sizes, self.sizes[source], "copy")


@dataclass(eq=False)
class Operation:
    """One operation of a step over slices with names of their own.

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

    Attributes:
        tangents, bars: slices with tangents and cotangents, by the slice they belong to.
    """

    def __init__(self, slope: Slope, sizes: dict[str, int], active: Iterable[str]) -> None:
        self.slope, self.sizes, self.operations = slope, sizes, list[Operation]()
        self.names: dict[str, str] = {}
        self.active, self.count = set(active), 0
        self.tangents: dict[str, str] = {}
        self.bars: dict[str, str] = {}
        self.factored: dict[str, Matrix] = {}

    # --- names

    def at(self, name: str) -> str:
        """The slice that holds what methods call so now."""
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
            self.tangents[name] = self.new(f"{name}'", self.sizes[name])
        return self.tangents[name]

    def bar(self, name: str) -> tuple[str, bool]:
        """The cotangent of a slice, and whether something is in it already."""
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
        elif isinstance(node, Matrix):
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
        """A kernel of x, y = f(x) and further slices; what it does not depend on is no argument."""
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
        slices = (*(ins[k] for k in kept), *given)
        if not isinstance(f, Elementwise):
            return Kernel(made, slices, tuple(results))
        whole = frozenset(i for i, k in enumerate(kept) if k in f.whole)
        return Kernel(Elementwise(made, f.n, whole), slices, tuple(results))

    def _rate(self, node: Rate) -> None:
        t, y, slope = self.at(node.t), self.at(node.y), self.slope
        k = self.renamed(node.k) if not node.known else node.k
        looked, rows = slope.rows_at(t, y)
        self.active.add(k)
        given = (t, y, "p", *rows)

        def tangent() -> list[Node]:
            return [Kernel(slope.dual, (*given, self.tangent(y), self.tangent("p")), (k, self.tangent(k)))]

        def reverse() -> list[Node]:
            if k not in self.bars:
                return []
            (back, known), (pbar, _) = self.bar(y), self.bar("p")
            return self._added("rate_vjp", slope.vjp, (*given, self.bars[k], pbar), y, back, known, (pbar,))

        primal: list[Node] = [] if node.known else [slope.rhs(t, y, k, "f.unused")]
        self.operations.append(Operation((t, y), rows, looked, list, list))
        self.operations.append(Operation((t, y, *rows), (k,), primal, tangent, reverse, dual=True))

    def _added(
        self,
        name: str,
        f: ca.Function,
        ins: tuple[str, ...],
        y: str,
        bar: str,
        known: bool,
        more: tuple[str, ...],
    ) -> list[Node]:
        """bar, more <- f(ins), or added to what bar has."""
        if not known:
            return [Kernel(f, ins, (bar, *more))]
        out = self.new("back", self.sizes[y])
        return [Kernel(f, ins, (out, *more)), self._sum(bar, out)]

    def _sum(self, into: str, other: str) -> Kernel:
        return elementwise(lambda a, b: a + b, [into, other], [into], self.sizes, self.sizes[into], "sum")

    def _matrix(self, node: Matrix) -> None:
        t, y, h, W, f_t = (
            self.at(node.t),
            self.at(node.y),
            self.at(node.h),
            self.renamed(node.W),
            self.renamed(node.f_t),
        )
        slope = self.slope
        looked, rows = slope.rows_at(t, y)
        made = Matrix(t, y, h, node.gamma, W, f_t)
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

    def _rows_of(self, made: Matrix) -> tuple[str, ...]:
        for op in self.operations:
            if made.W in op.outs:
                return tuple(name for name in op.outs if name not in (made.W, made.f_t))
        return ()

    def _iteration(self, node: While) -> None:
        """(5): the body, recorded with its results as arguments."""
        raise DescriptionError("derivatives of a run: iterations")

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
        needed = [self.bars[name] for name in wanted if name in self.bars]
        return self._needed([(op.primal, []) for op in self.operations] + [([], b) for b in back], needed)

    def _needed(self, parts: Sequence[tuple[list[Node], list[Node]]], results: Sequence[str]) -> list[Node]:
        """Those nodes whose results somebody reads."""
        live, out = set(results), list[Node]()
        flat = [node for primal, derived in parts for node in (*_flat(primal), *_flat(derived))]
        for node in reversed(flat):
            reads, writes = used_slices(node)
            if writes & live:
                out.append(node)
                live |= reads
        return out[::-1]


def _flat(node: Any) -> list[Any]:
    return [x for each in node for x in _flat(each)] if isinstance(node, (list, tuple)) else [node]


def used_slices(node: Any) -> tuple[set[str], set[str]]:
    """Slices that a node reads and writes."""
    from condyle.native.programs.nodes import Get, Put, Scan, walk

    reads, writes = set[str](), set[str]()
    for each, _ in walk(node):
        match each:
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
