"""Linear equations along a tree, solved in time proportional to the number of its nodes: numbers w
propagate from the root to the tips, forces F from the tips to the root, and some unknowns are coupled
directly.

For a node B with parent P and unknowns x_e of its own, and all unknowns x,

    w_B = w_P + sum of T_e x_e + c_B,     F_B = K_B w_B + sum of F over the children of B                  (1)
    S_e' F_B + R_e' w_P + sum over v of A_ev x_v = r_e          for its own unknowns                       (2)
    sum over v of A_iv x_v = r_i                                for all others                             (3)

(w of node 0 is zero.) The nodes are visited from the tips to the root. The subtree of a node is represented
by its *front*: numbers by which F, and the rows of the *open* unknowns, depend on w and on these unknowns:

    (F, rows) = front (w, open) + g                                                                        (4)

An unknown is open from the node where it first appears to its *home*, the node where all unknowns coupled
with it are part of the front. There it is eliminated, without pivoting. Homes are at or above the nodes
that own the unknowns: an unknown coupled with one of another branch waits until the branches meet. An open
unknown has a *slot*. All fronts thus have the same shape, and the fronts of the children of a node can be
added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, POINTER, Value
from condyle.native.machine import jit
from condyle.native.straight.kernel_writer import composite_kernel
from condyle.records import dataclass

FORCES = 6
"""Size of F."""


def padded(n: int) -> int:
    """Length of a row, rounded up so that vectors of any number of lanes fill it."""
    return -(-n // 8) * 8


@dataclass(frozen=True, eq=False)
class FrontPlan:
    """Where each unknown is eliminated.

    Args:
        parents: parent of each node; parents come before their children, and that of node 0 is 0.
        owners: the node of each unknown that belongs to a node. The other unknowns come after these.
        entries: rows and columns of A, in the order of their values.
        homes: the node where each unknown is eliminated.
        slots: slot of each unknown.
        width: size of w.
    """

    parents: tuple[int, ...]
    owners: tuple[int, ...]
    entries: tuple[tuple[int, int], ...]
    homes: tuple[int, ...]
    slots: tuple[int, ...]
    width: int

    @staticmethod
    def of(
        parents: Sequence[int],
        owners: Sequence[int],
        n: int,
        entries: Iterable[tuple[int, int]],
        width: int,
    ) -> FrontPlan:
        """For n unknowns; A has these entries."""
        entries = tuple(entries)
        paths = _Paths(parents)
        meets: list[set[int]] = [set() for _ in range(n)]
        for i, j in entries:
            if i != j:
                meets[i].add(j)
                meets[j].add(i)
        homes = paths.homes(list(owners), meets)
        return FrontPlan(
            tuple(parents),
            tuple(owners),
            entries,
            tuple(homes),
            tuple(paths.slots(homes, owners, meets)),
            width,
        )

    @property
    def n(self) -> int:
        return len(self.homes)

    @property
    def room(self) -> int:
        """Number of slots."""
        return 1 + max(self.slots, default=-1)

    @property
    def rows(self) -> int:
        """Number of rows of a front: F, then one row per slot."""
        return FORCES + self.room

    @property
    def row(self) -> int:
        """Length of a row of a front."""
        return padded(self.width + self.room)

    @property
    def column(self) -> int:
        """Length of a column of a front."""
        return padded(self.rows)

    @property
    def vector(self) -> int:
        """Length of a vector w in an array."""
        return padded(self.width)

    def placed(self) -> list[int]:
        """The node whose front each entry is added to: the deeper of the homes of its two unknowns."""
        depth = _Paths(self.parents).depth
        return [max(self.homes[i], self.homes[j], key=lambda B: depth[B]) for i, j in self.entries]

    def by_node(self, nodes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Items sorted by node: where the items of each node begin, and their numbers."""
        at = np.array(nodes, dtype=np.int64)
        counts = np.bincount(at, minlength=len(self.parents))
        return np.concatenate([[0], np.cumsum(counts)]), np.argsort(at, kind="stable")

    def cost(self) -> float:
        """Approximate number of products in the elimination."""
        size = self.rows * self.row
        return size * (2.0 * len(self.parents) + 6.0 * len(self.owners) + self.n)


class _Paths:
    """Ancestors of nodes."""

    def __init__(self, parents: Sequence[int]) -> None:
        self.parents, self.depth = list(parents), [0] * len(parents)
        for B in range(1, len(parents)):
            self.depth[B] = self.depth[parents[B]] + 1

    def meeting(self, a: int, b: int) -> int:
        """The deepest node at or above both."""
        while a != b:
            if self.depth[a] < self.depth[b]:
                a, b = b, a
            a = self.parents[a]
        return a

    def homes(self, homes: list[int], meets: Sequence[set[int]]) -> list[int]:
        """The home of each unknown. Of two coupled unknowns, one home is at or above the other. Unknowns
        without a node come after all unknowns coupled with them."""
        own = len(homes)
        for v in range(own, len(meets)):
            first = [homes[i] for i in meets[v] if i < own]
            home = first[0] if first else 0
            for B in first[1:]:
                home = self.meeting(home, B)
            homes.append(home)
        waiting = list(range(len(meets)))
        while waiting:
            v = waiting.pop()
            for i in meets[v]:
                B = self.meeting(homes[v], homes[i])
                late = i >= own > v  # it comes after all unknowns coupled with it
                if late and homes[i] != B:
                    homes[i] = B
                    waiting.append(i)
                elif B not in (homes[v], homes[i]):
                    w = min(v, i, key=lambda x: (x < own, self.depth[homes[x]]))
                    homes[w] = B
                    waiting += [v, i]
        return homes

    def slots(self, homes: Sequence[int], owners: Sequence[int], meets: Sequence[set[int]]) -> list[int]:
        """A slot for each unknown; two unknowns that are open at the same node have different slots."""
        open_at: list[set[int]] = [set() for _ in self.parents]

        def opened(v: int, B: int) -> None:
            while v not in open_at[B]:
                open_at[B].add(v)
                if homes[v] == B:
                    break
                B = self.parents[B]

        for v, B in enumerate(homes):
            open_at[B].add(v)
        for v, B in enumerate(owners):
            opened(v, B)
        for v, others in enumerate(meets):
            for i in others:
                if self.depth[homes[i]] > self.depth[homes[v]]:
                    opened(v, homes[i])
        # eliminating an unknown couples all open unknowns of its front with each other: they stay open up
        # to their homes
        slots = [-1] * len(homes)
        for B in range(len(self.parents)):
            used = {slots[v] for v in open_at[B]}
            for v in sorted(v for v in open_at[B] if slots[v] < 0):
                slots[v] = next(k for k in range(len(homes)) if k not in used)
                used.add(slots[v])
        return slots


class _Code:
    """Code that both kernels use: numbers of W states side by side or, for one state, vectors along rows."""

    def __init__(self, b: Builder, W: int) -> None:
        self.b, self.W, self.V, self.one = b, W, b.lanes.W, W == 1

    def at(self, array: Value, i: Any) -> Value:
        return self.b.at(array, i * self.W)

    def get(self, array: Value, i: Any) -> Value:
        """One number of each state."""
        return self.b.load(self.at(array, i), DOUBLE if self.one else None)

    def put(self, x: Value, array: Value, i: Any) -> None:
        self.b.store(x, self.at(array, i))

    def wide(self, x: Value) -> Value:
        return self.b.spread(x)

    def vectors(self, n: int) -> list[int]:
        """Where the vectors of n numbers begin; rows are padded for one state."""
        return [k * self.V for k in range(-(-n // self.V) if self.one else n)]

    def along(self, n: int, do: Callable[[Any], None]) -> None:
        """Write do(place) for each vector of n numbers, as a loop if there are many."""
        steps = self.vectors(n)
        if len(steps) <= 6:
            for step in steps:
                do(step)
            return
        with self.b.loop(len(steps)) as k:
            do(k * self.V)

    def product(self, x: Value, y: Value, n: int) -> Value:
        """The sum of x_k y_k. Beyond n both have finite padding, and that of one is zero."""
        b = self.b
        total: Any = None
        for k in self.vectors(n):
            a, c = b.load(b.at(x, k)), b.load(b.at(y, k))
            total = a * c if total is None else b.fma(a, c, total)
        if not self.one or self.V == 1:
            return total
        b.module.declare(f"llvm.vector.reduce.fadd.{b.lanes.suffix}", DOUBLE, [DOUBLE, b.lanes.T])
        return b.put(
            DOUBLE, f"call reassoc double @llvm.vector.reduce.fadd.{b.lanes.suffix}(double 0.0, {total})"
        )

    def add(self, target: Value, source: Value, n: int, factor: Value | None = None) -> None:
        """target += factor source."""
        b = self.b

        def one(k: Any) -> None:
            place = b.at(target, k)
            x, y = b.load(place), b.load(b.at(source, k))
            b.store(x + y if factor is None else b.fma(factor, y, x), place)

        self.along(n, one)


def _tables(module: Module, name: str, plan: FrontPlan) -> dict[str, str]:
    """Add the plan to a module as tables; returns their names."""
    p = plan
    own, home, entry = p.by_node(p.owners), p.by_node(p.homes), p.by_node(p.placed())
    places = np.array([(FORCES + p.slots[i]) * p.row + p.width + p.slots[j] for i, j in p.entries], np.int64)
    numbers: dict[str, Any] = {
        "parent": p.parents,
        "own": own[0],
        "owned": own[1],
        "home": home[0],
        "ends": home[1],
        "slot": p.slots,
        "entry": entry[0],
        "value": entry[1],
        "place": places[entry[1]],
    }
    # no table is empty
    return {
        what: module.table(f"{name}.{what}", np.append(x, 0).astype(np.int32)) for what, x in numbers.items()
    }


class FrontFactors:
    """Elimination of the fronts: a `condyle.native.straight.kernel_function.Composite`.

    main(K, T, C, S, R, A, free) -> factors. K has FORCES rows of plan.row numbers for each node. For each
    unknown that a node owns, T, and each of the `constants` columns C (one after the other), have
    plan.vector numbers; S and R have FORCES numbers, stored in 8 (R is nonzero for the first numbers of w
    only). A has the values of the entries. An unknown whose `free` is 0 has a given value.

    Args:
        plan: where each unknown is eliminated.
        constants: columns C_k of c_B = sum of C_k p_k, for solutions.
    """

    def __init__(self, plan: FrontPlan, constants: int) -> None:
        self.plan, self.constants = plan, constants
        own = len(plan.owners)
        self.inputs = [
            len(plan.parents) * FORCES * plan.row,
            own * plan.vector,
            own * constants * plan.vector,
            8 * own,
            8 * own,
            len(plan.entries),
            plan.n,
        ]
        self.outputs = [factor_size(plan, constants)]

    def n_instructions(self) -> int:
        return int(self.plan.cost())

    def emit(self, module: Module, name: str) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs."""
        W, plan = module.lanes.W, self.plan
        lanes = Module(W if W > 1 else jit.lane_width(), module.contract)
        with lanes.function(f"{name}.run", [POINTER] * 9) as b:
            self._write(_Code(b, W), f"{name}.run")
        module.include(lanes)
        with composite_kernel(module, self, name) as (b, ins, (out,), work):
            b.call(f"{name}.run", *ins, out, work)
        return len(plan.parents) * plan.rows * plan.row

    def _write(self, c: _Code, name: str) -> None:
        b, p, W = c.b, self.plan, c.W
        K, T, C, S, R, A, free, out, fronts = b.arguments
        t = _tables(b.module, name, p)
        nodes, size = len(p.parents), p.rows * p.row
        b.clear(fronts, nodes * size * W * 8)
        columns, rows, pivots, made = (c.at(out, k) for k in factor_places(p, self.constants)[:4])
        with b.loop(nodes) as step:
            B = (nodes - 1) - step
            front = c.at(fronts, B * size)
            c.add(front, c.at(K, B * (FORCES * p.row)), FORCES * p.row)
            first = b.entry(t["entry"], B)
            with b.loop(b.entry(t["entry"], B + 1) - first) as k:
                i = first + k
                place = b.entry(t["place"], i)
                c.put(c.get(front, place) + c.get(A, b.entry(t["value"], i)), front, place)
            own = b.entry(t["own"], B)
            count = b.entry(t["own"], B + 1) - own
            with b.loop(count) as k:
                e = b.entry(t["owned"], own + k)
                slot = b.entry(t["slot"], e)
                with b.loop(p.rows) as r:  # (1): the contribution of x_e to w
                    row = c.at(front, r * p.row)
                    place = slot + p.width
                    x = c.product(row, c.at(T, e * p.vector), p.width)
                    c.put(c.get(row, place) + x, row, place)
                    for j in range(self.constants):
                        column = c.at(C, (e + j * len(p.owners)) * p.vector)
                        c.put(c.product(row, column, p.width), made, (e * self.constants + j) * p.column + r)
            with b.loop(count) as k:
                e = b.entry(t["owned"], own + k)
                mine = c.at(front, (b.entry(t["slot"], e) + FORCES) * p.row)
                for j in range(FORCES):  # (2)
                    c.add(mine, c.at(front, j * p.row), p.row, c.wide(c.get(S, e * 8 + j)))
                for j in range(FORCES):
                    c.put(c.get(mine, j) + c.get(R, e * 8 + j), mine, j)
            first = b.entry(t["home"], B)
            with b.loop(b.entry(t["home"], B + 1) - first) as k:
                v = b.entry(t["ends"], first + k)
                slot = b.entry(t["slot"], v)
                mine, place = c.at(front, (slot + FORCES) * p.row), slot + p.width
                column, row = c.at(columns, v * p.column), c.at(rows, v * p.row)
                f = c.get(free, v)
                one = b.number(1.0, DOUBLE) if c.one else b.number(1.0)
                pivot = one / (f * c.get(mine, place) + (one - f))
                c.put(pivot, pivots, v)
                scale = c.wide(f * pivot)
                zero = b.number(0.0, DOUBLE) if c.one else b.number(0.0)

                def scaled(k: Any, mine: Value = mine, row: Value = row, scale: Value = scale) -> None:
                    b.store(b.load(b.at(mine, k)) * scale, b.at(row, k))
                    b.store(b.number(0.0), b.at(mine, k))

                c.along(p.row, scaled)
                c.put(zero, row, place)
                with b.loop(p.rows) as r:
                    line = c.at(front, r * p.row)
                    x = c.get(line, place)
                    c.put(x, column, r)
                    c.put(zero, line, place)
                    c.add(line, row, p.row, c.wide(-x))
            with b.when(b.compare("sgt", B, 0)):
                c.add(c.at(fronts, b.entry(t["parent"], B) * size), front, size)

    # ---- CasADi's evaluator

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Outputs (size, states) at inputs (size, states)."""
        p, states = self.plan, arguments[0].shape[1]
        own, w = len(p.owners), p.width
        K = arguments[0].reshape(len(p.parents), FORCES, p.row, states)
        T = arguments[1].reshape(own, p.vector, states)
        C = arguments[2].reshape(self.constants, own, p.vector, states)
        S, R = (x.reshape(own, 8, states) for x in arguments[3:5])
        A, free = arguments[5:]
        fronts = np.zeros((len(p.parents), p.rows, p.row, states))
        out = np.zeros((self.outputs[0], states))
        columns, rows, pivots, made = _parts(p, self.constants, out)
        (own_of, owned), (home_of, ends) = p.by_node(p.owners), p.by_node(p.homes)
        entry_of, values = p.by_node(p.placed())
        with np.errstate(all="ignore"):
            for B in reversed(range(len(p.parents))):
                front = fronts[B]
                front[:FORCES] += K[B]
                for k in values[entry_of[B] : entry_of[B + 1]]:
                    i, j = p.entries[k]
                    front[FORCES + p.slots[i], w + p.slots[j]] += A[k]
                mine = owned[own_of[B] : own_of[B + 1]]
                for e in mine:
                    front[:, w + p.slots[e]] += np.einsum("rks,ks->rs", front[:, :w], T[e, :w])
                    made[e, :, : p.rows] = np.einsum("rks,jks->jrs", front[:, :w], C[:, e, :w])
                for e in mine:
                    row = front[FORCES + p.slots[e]]
                    row += np.einsum("rs,rks->ks", S[e, :FORCES], front[:FORCES])
                    row[:FORCES] += R[e, :FORCES]
                for v in ends[home_of[B] : home_of[B + 1]]:
                    row, place = front[FORCES + p.slots[v]], w + p.slots[v]
                    pivots[v] = 1 / (free[v] * row[place] + (1 - free[v]))
                    rows[v] = row * (free[v] * pivots[v])
                    rows[v, place] = row[:] = 0
                    columns[v, : p.rows] = front[:, place]
                    front[:, place] = 0
                    front -= columns[v, : p.rows, None] * rows[v][None]
                if B:
                    fronts[p.parents[B]] += front
        return [out]


def factor_places(plan: FrontPlan, constants: int) -> list[int]:
    """Where columns, rows, pivots and the results of the constants begin among the factors, and where the
    factors end."""
    sizes = [
        plan.n * plan.column,
        plan.n * plan.row,
        padded(plan.n),
        len(plan.owners) * constants * plan.column,
    ]
    return np.cumsum([0, *sizes]).tolist()


def factor_size(plan: FrontPlan, constants: int) -> int:
    return factor_places(plan, constants)[-1]


def _parts(plan: FrontPlan, constants: int, x: np.ndarray) -> list[np.ndarray]:
    shapes = [
        (plan.n, plan.column),
        (plan.n, plan.row),
        (padded(plan.n),),
        (len(plan.owners), constants, plan.column),
    ]
    places = factor_places(plan, constants)
    return [
        x[a:b].reshape(*shape, x.shape[1]) for a, b, shape in zip(places, places[1:], shapes, strict=False)
    ]


class FrontSolution:
    """The unknowns x from the factors: `condyle.native.straight.kernel_function.Composite`.

    main(factors, T, C, S, free, p, r) -> x. p has the factors of the columns C, one vector after the other;
    r is the right-hand side, which holds the values of given unknowns.

    Args: see FrontFactors.
    """

    def __init__(self, plan: FrontPlan, constants: int) -> None:
        self.plan, self.constants = plan, constants
        own = len(plan.owners)
        self.inputs = [
            factor_size(plan, constants),
            own * plan.vector,
            own * constants * plan.vector,
            8 * own,
            plan.n,
            own * constants,
            plan.n,
        ]
        self.outputs = [plan.n]

    def n_instructions(self) -> int:
        plan = self.plan
        return 2 * (plan.n + len(plan.owners)) * (plan.row + plan.rows)

    def emit(self, module: Module, name: str) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs."""
        W, plan = module.lanes.W, self.plan
        lanes = Module(W if W > 1 else jit.lane_width(), module.contract)
        with lanes.function(f"{name}.run", [POINTER] * 9) as b:
            self._write(_Code(b, W), f"{name}.run")
        module.include(lanes)
        with composite_kernel(module, self, name) as (b, ins, (out,), work):
            b.call(f"{name}.run", *ins, out, work)
        return len(plan.parents) * (plan.column + plan.row) + plan.n

    def _write(self, c: _Code, name: str) -> None:
        b, p, W, own = c.b, self.plan, c.W, len(self.plan.owners)
        factors, T, C, S, free, given, right, x, work = b.arguments
        t = _tables(b.module, name, p)
        nodes = len(p.parents)
        columns, rows, pivots, made = (c.at(factors, k) for k in factor_places(p, self.constants)[:4])
        up, down = work, c.at(work, nodes * p.column)
        y = c.at(work, nodes * (p.column + p.row))
        b.clear(up, nodes * p.column * W * 8)
        b.clear(down, p.row * W * 8)
        zero = b.number(0.0, DOUBLE) if c.one else b.number(0.0)
        with b.loop(nodes) as step:
            B = (nodes - 1) - step
            g = c.at(up, B * p.column)
            first = b.entry(t["own"], B)
            count = b.entry(t["own"], B + 1) - first
            with b.loop(count) as k:
                e = b.entry(t["owned"], first + k)
                for j in range(self.constants):
                    factor = c.wide(c.get(given, e + j * own))
                    c.add(g, c.at(made, (e * self.constants + j) * p.column), p.rows, factor)
            with b.loop(count) as k:
                e = b.entry(t["owned"], first + k)
                place = b.entry(t["slot"], e) + FORCES
                total = c.get(g, place)
                for i in range(FORCES):
                    total = total + c.get(g, i) * c.get(S, e * 8 + i)
                c.put(total, g, place)
            first = b.entry(t["home"], B)
            with b.loop(b.entry(t["home"], B + 1) - first) as k:
                v = b.entry(t["ends"], first + k)
                place = b.entry(t["slot"], v) + FORCES
                r = c.get(right, v)
                g_v = b.select(b.compare("one", c.get(free, v), 0.0), c.get(g, place) - r, -r)
                value = g_v * c.get(pivots, v)
                c.put(value, y, v)
                c.add(g, c.at(columns, v * p.column), p.rows, c.wide(-value))
                c.put(zero, g, place)
            with b.when(b.compare("sgt", B, 0)):
                c.add(c.at(up, b.entry(t["parent"], B) * p.column), g, p.rows)
        with b.loop(nodes) as B:
            w = c.at(down, B * p.row)
            with b.when(b.compare("sgt", B, 0)):
                b.copy(w, c.at(down, b.entry(t["parent"], B) * p.row), p.row * W * 8)
            first, last = b.entry(t["home"], B), b.entry(t["home"], B + 1)
            with b.loop(last - first) as k:
                v = b.entry(t["ends"], (last - 1) - k)
                value = -(c.product(c.at(rows, v * p.row), w, p.row) + c.get(y, v))
                c.put(value, x, v)
                c.put(value, w, b.entry(t["slot"], v) + p.width)
            first = b.entry(t["own"], B)
            count = b.entry(t["own"], B + 1) - first
            with b.loop(count) as k:
                e = b.entry(t["owned"], first + k)
                mine = c.wide(c.get(w, b.entry(t["slot"], e) + p.width))
                # T and C are zero beyond the width of w
                c.add(w, c.at(T, e * p.vector), p.width, mine)
                for j in range(self.constants):
                    factor = c.wide(c.get(given, e + j * own))
                    c.add(w, c.at(C, (e + j * own) * p.vector), p.width, factor)

    # ---- CasADi's evaluator

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Outputs (size, states) at inputs (size, states)."""
        p, states = self.plan, arguments[0].shape[1]
        own, n = len(p.owners), p.width
        columns, rows, pivots, made = _parts(p, self.constants, arguments[0])
        T = arguments[1].reshape(own, p.vector, states)
        C = arguments[2].reshape(self.constants, own, p.vector, states)
        S, given = arguments[3].reshape(own, 8, states), arguments[5].reshape(self.constants, own, states)
        free, right = arguments[4], arguments[6]
        up, w = np.zeros((len(p.parents), p.rows, states)), np.zeros((len(p.parents), p.row, states))
        y, x = np.zeros((p.n, states)), np.zeros((p.n, states))
        (own_of, owned), (home_of, ends) = p.by_node(p.owners), p.by_node(p.homes)
        for B in reversed(range(len(p.parents))):
            g, mine = up[B], owned[own_of[B] : own_of[B + 1]]
            for e in mine:
                g += np.einsum("jrs,js->rs", made[e, :, : p.rows], given[:, e])
            for e in mine:
                g[FORCES + p.slots[e]] += (S[e, :FORCES] * g[:FORCES]).sum(axis=0)
            for v in ends[home_of[B] : home_of[B + 1]]:
                slot = FORCES + p.slots[v]
                y[v] = np.where(free[v] != 0, g[slot] - right[v], -right[v]) * pivots[v]
                g -= columns[v, : p.rows] * y[v]
                g[slot] = 0
            if B:
                up[p.parents[B]] += g
        for B in range(len(p.parents)):
            if B:
                w[B] = w[p.parents[B]]
            for v in reversed(ends[home_of[B] : home_of[B + 1]]):
                x[v] = -((rows[v] * w[B]).sum(axis=0) + y[v])
                w[B, n + p.slots[v]] = x[v]
            for e in owned[own_of[B] : own_of[B + 1]]:
                w[B, :n] += T[e, :n] * w[B, n + p.slots[e]] + np.einsum(
                    "jks,js->ks", C[:, e, :n], given[:, e]
                )
        return [x]
