"""Constraints in the looped layout: rows for each constraint along the tree.

A part of a constraint, k equations of one level, has a *visit* for each body between its own bodies and
ground. Passed inward along its visits are F, the wrench of unit multipliers on the body and its descendants,
and z, the part of F that the outer speeds take up by accelerating, as in aba.py; for the speeds of the body,
one row per speed and one column per equation,

    G' = H' F + f                                           f: what multipliers exert on a speed itself    (1)
    E = G' - H' z,   S = E / D,   z <- z + U S   speed by speed, with the eliminations of aba.py (2), (3)  (2)

E is L^-T G' of the mass matrix M = L' D L, so that

    Y = G M^-1 G' = sum over bodies of E' S                                                                (3)
    M^-1 G' lambda:  eps_k = S_k lambda, and the outward pass aba.py (5)                                   (4)

With weights W in place of M, as in the projection of positions, E is G' itself and D is W^2. A part has one
more row, its
*home*, for sums over its visits; a pair of parts that visit the same bodies has a row for its block of Y,
and one *meeting* for each such body. If many equations are coupled, (3) is one product: E and S of each
speed are vectors, with the parts of a branch side by side. Machine code grows with the number of types of
bodies and with the sizes of parts, not with the number of bodies and parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.constraints.solve.equations import ConstraintEquations
from condyle.constraints.solve.looped_blocks import FULL, Gram, columns_of, padded
from condyle.constraints.solve.multipliers import LINES, blocks
from condyle.dynamics.kinematics import Pair
from condyle.dynamics.row import BodyFields, RowField, RowFields
from condyle.model.looped.draft import Draft, KernelDraft, OnDemand, RowKind, StraightLine
from condyle.model.looped.tables import Looped, NewRows
from condyle.native.tables.lookup import look_up

_skew = ca.skew


def _matrix(rows: str | int, columns: str) -> RowField[SX]:
    """A dense field whose sizes are attributes of the kernels."""
    size = lambda d, n: getattr(d, n) if isinstance(n, str) else n
    return RowField(lambda d: ca.SX.ones(size(d, rows), size(d, columns)))


class _OfSpeeds(RowField[ca.SX]):
    """A field (nu, k), with a separate place for each nu, since bodies with different numbers of speeds
    meet in different rows."""

    def __init__(self) -> None:
        super().__init__(lambda d: ca.SX.ones(d.nu, d.k))

    def key(self, kernel: Any) -> str:
        return f"{self.name}{kernel.nu}"


class VisitFields(RowFields):
    """Fields of a visit: (1), (2)."""

    F = _matrix(6, "k")
    z = _matrix(6, "k")
    f = _matrix("nu", "k")
    G = _matrix("nu", "k")
    E = _OfSpeeds()
    S = _OfSpeeds()


class HomeFields(RowFields):
    """Fields of a home: results of its visits at ground, sums over them, and inputs from straight-line code."""

    F = _matrix(6, "k")
    z = _matrix(6, "k")
    Y = _matrix("k", "k")
    lengths = _matrix("k", "one")
    whole = _matrix("k", "one")
    bias = _matrix("k", "one")
    Gx = _matrix("k", "columns")
    size = _matrix("k", "columns")
    g = _matrix("k", "columns")
    lambda_ = _matrix("k", "columns")


class PairFields(RowFields):
    """The field of a pair: its block of Y."""

    Y = _matrix("k", "l")


class Visit(Draft):
    """The kernel of a type of visit, which also reads the fields of its body.

    Attributes:
        k: number of equations of the part.
        columns: number of columns of x and lambda, side by side.
    """

    one = 1

    def __init__(self, looped: Looped, kind: RowKind, k: int, columns: int = 1) -> None:
        super().__init__(looped, kind)
        # numbers of mobilizers are constants of the rows of bodies only
        self.reads = dict(looped.outside)
        self.k, self.nu, self.columns = k, self.mobilizer.nu, columns
        self.visit, self.up, self.home = (
            VisitFields(self, "me"),
            VisitFields(self, "up"),
            HomeFields(self, "home"),
        )
        self.of_body = self.row("body")


class BlockKernel(KernelDraft):
    """The kernel of a home (k equations), a pair (k, l) or a meeting (k, l, nu)."""

    one = 1

    def __init__(self, looped: Looped, sizes: Sequence[int], columns: int = 1) -> None:
        super().__init__(looped)
        self.k, self.l, self.nu = (*sizes, 0, 0)[:3]
        self.columns = columns
        self.home, self.pair = HomeFields(self, "me"), PairFields(self, "pair")


class Visits:
    """The rows of some parts of the constraints. Create it after the pass that computes kinematics.

    Args:
        levels: levels of the parts; all by default.

    Attributes:
        line: quantities of bodies in the equations, as symbols. equations: expressions of these. places:
            indices of each part's equations. m: number of equations.
    """

    def __init__(self, looped: Looped, *levels: str) -> None:
        self.looped = looped
        self.line = StraightLine(looped)
        symbols = self.line.symbols
        view = symbols.view(self.line.kin)
        view.biases = OnDemand(self._bias)
        self.equations = ConstraintEquations(
            looped.model.constraints, view, symbols.enabled[len(looped.model.forces) :]
        )
        self.parts = [(i, part) for i, part, _ in self.equations.parts if not levels or part.level in levels]
        ends = np.cumsum([0, *(part.size for _, part in self.parts)])
        self.places = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self.m = int(ends[-1])
        self._wrenches = [self.equations.wrenches(i, part) for i, part in self.parts]
        self._add_rows()

    def _bias(self, B: int) -> Pair:
        """The acceleration of M at udot = 0, from A_0 of aba.py (1), which includes gravity as an
        acceleration of ground.
        """
        alpha, a = self.line.body(B).A
        return alpha, a + self.line.symbols.gravity

    def _add_rows(self) -> None:
        looped, tree = self.looped, self.looped.model.tree
        looped.law_kinds  # noqa: B018  laws in tables come first
        touched = [sorted({*w.bodies, *(self.line.owner[k][0] for k in w.speeds)}) for w in self._wrenches]
        ways = [sorted({A for B in each for A in tree.path(B)}) for each in touched]
        sizes = [part.size for _, part in self.parts]
        kinds, rows = looped.types, NewRows(looped)
        self.homes, self.visits = list[int](), list[dict[int, int]]()
        self.pairs: dict[tuple[int, int], int] = {}
        for size, way in zip(sizes, ways, strict=True):
            home, mine = rows.add("home", size), dict[int, int]()
            for B in way:  # a parent comes before its children
                P = tree.parent(B)
                mine[B] = rows.add(
                    "visit",
                    int(kinds[B + 1]),
                    size,
                    like=B + 1,
                    up=home if P is None else mine[P],
                    body=B + 1,
                    home=home,
                )
            self.homes.append(home)
            self.visits.append(mine)
        speeds = [[k for B in way for k in tree.speeds_of(B)] for way in ways]
        self.blocks = blocks(tree, [speeds[c] for c, size in enumerate(sizes) for _ in range(size)])
        large = [block for block in self.blocks if len(block) > LINES]
        many = {k for block in large for k in block}
        self.products = dict[int, list[int]]()  # by row, its parts; the parts of a branch are side by side
        for block in large:
            parts = [c for c, at in enumerate(self.places) if at.start in {*block}]
            parts.sort(key=lambda c: max(list(tree.path(B)) for B in touched[c]))
            self.products[rows.add("product", len(block))] = parts
        for c in range(len(ways)):
            for d in range(c if self.places[c].start not in many else 0):
                shared = [B for B in ways[d] if B in self.visits[c] and tree.speeds_of(B)]
                if shared:
                    pair = self.pairs[c, d] = rows.add("pair", sizes[c], sizes[d])
                for B in shared:
                    a, b = self.visits[c][B], self.visits[d][B]
                    nu = len(tree.speeds_of(B))
                    rows.add("meeting", sizes[c], sizes[d], nu, like=B + 1, a=a, b=b, pair=pair)
        rows.finish()
        self.types = rows.types

    def linear(self) -> bool:
        """Whether G does not depend on u."""
        moving = [
            x
            for place, x in self.line.reads.items()
            if place == "u" or (isinstance(place, tuple) and place[1] == "V")
        ]
        each = [
            x
            for w in self._wrenches
            for x in (*(y for F in w.bodies.values() for y in F), *w.speeds.values())
        ]
        return not each or not moving or not ca.depends_on(ca.veccat(*each), ca.veccat(*moving))

    # ---- passes

    def _pass(self, backwards: bool = False, columns: int = 1, **write: Callable[[Any], None]) -> None:
        """Add a pass over visits, homes, pairs and meetings; `write` has a kernel for each of them that
        takes part."""
        looped = self.looped
        kernels: dict[int, KernelDraft] = {}
        for (what, *key), t in self.types.items():
            if what in write:
                kernels[t] = (
                    Visit(looped, looped.kinds[key[0]], key[1], columns)
                    if what == "visit"
                    else BlockKernel(looped, key, columns)
                )
                write[what](kernels[t])
        looped.extra_pass(kernels, backwards)

    def begin(self, bias: SX, **results: SX) -> None:
        """Store the wrenches of unit multipliers on the bodies that they act on, `bias` (m,) in the homes,
        and zeros elsewhere. The same straight line writes `results`."""

        def visit(d: Visit) -> None:
            d.visit.F = d.visit.z = ca.SX(6, d.k)
            d.visit.f = ca.SX(d.nu, d.k)

        def home(d: BlockKernel) -> None:
            d.home.F = d.home.z = ca.SX(6, d.k)
            d.home.Y, d.home.lengths, d.home.whole = ca.SX(d.k, d.k), ca.SX(d.k, 1), ca.SX(d.k, 1)

        def pair(d: BlockKernel) -> None:
            PairFields(d, "me").Y = ca.SX(d.k, d.l)

        self._pass(visit=visit, home=home, pair=pair)
        writes: dict[Any, ca.SX] = {}
        self.put(writes, HomeFields.bias, bias)
        for c, wrenches in enumerate(self._wrenches):
            for B, F in wrenches.bodies.items():
                writes[self.visits[c][B], "F"] = ca.vec(ca.densify(ca.vertcat(*F)))
            for B in {self.line.owner[k][0] for k in wrenches.speeds}:
                k, none = self.parts[c][1].size, ca.SX(self.parts[c][1].size, 1)
                mine = [
                    ca.reshape(wrenches.speeds.get(s, none), k, 1)
                    for s in self.looped.model.tree.speeds_of(B)
                ]
                writes[self.visits[c][B], "f"] = ca.vec(ca.densify(ca.horzcat(*mine).T))
        self.line.writes |= writes
        self.line.write(**results)

    def inward(
        self, lock: Callable[[Visit], list[SX]], weigh: Callable[[Visit], list[SX]] | None = None
    ) -> None:
        """G, E and S of (1) and (2), the sums (3), and |G_i|^2.

        Args:
            lock: 0, or infinity, of each speed.
            weigh: W^2 of each speed in place of the mass matrix.
        """

        def visit(d: Visit) -> None:
            F, f, H, r = d.visit.F, d.visit.f, d.of_body.H, d.of_body.r
            rows_G, rows_E, rows_S = [], [], []
            z = d.visit.z if weigh is None else ca.SX(6, d.k)
            for j, h in enumerate(ca.vertcat(*axis).T for axis in H):
                rows_G.append(h @ F + f[j, :])  # (1)
                E, D = rows_G[j] - h @ z, d.of_body.D[j] if weigh is None else weigh(d)[j]
                if weigh is None:
                    z = z + ca.vertcat(*d.of_body.U_D[j]) @ E  # (2)
                rows_E.append(E)
                rows_S.append(E / D)
            if weigh is None:
                d.up.z += shifted(z, r)
            d.up.F += shifted(F, r)
            if not d.nu:
                return
            G, E, S = (ca.vertcat(*x) for x in (rows_G, rows_E, rows_S))
            d.visit.G, d.visit.E, d.visit.S = G, E, S
            d.home.Y += ca.tril2symm(ca.tril(E.T @ S))  # (3)
            free = ca.vertcat(*(x == 0 for x in lock(d)))
            d.home.whole += ca.sum1(G**2).T
            d.home.lengths += (G**2).T @ free

        self._pass(backwards=True, visit=visit)

        def meeting(d: BlockKernel) -> None:
            other = copy(d)
            other.k = d.l
            d.pair.Y += VisitFields(d, "a").E.T @ VisitFields(other, "b").S

        self._pass(meeting=meeting)
        for row, parts in self.products.items():
            self._product(parts, row)

    def _product(self, parts: Sequence[int], row: int) -> None:
        """Write (3) of many coupled parts into the field Y of a row."""
        reads, tree = dict[Any, ca.SX](), self.looped.model.tree
        columns: dict[int, dict[int, int]] = {}  # place of E by speed and equation
        apart: dict[int, int] = {}  # place of S by that of E
        total = at = 0
        for c in parts:
            k = self.parts[c][1].size
            for B, visit in self.visits[c].items():
                speeds = list(tree.speeds_of(B))
                n = len(speeds) * k
                for name in ("E", "S") if n else ():
                    reads[visit, f"{name}{len(speeds)}"] = ca.SX.sym(name, n)
                for j, speed in enumerate(speeds):
                    mine = columns.setdefault(speed, {})
                    for e in range(k):
                        mine[at + e] = total + len(speeds) * e + j
                        apart[mine[at + e]] = n
                total += 2 * n
            at += k
        spans, index = list[tuple[int, int]](), list[int]()
        for mine in columns.values():
            first = min(mine) // FULL * FULL
            count = max(mine) + 1 - first
            spans.append((first, count))
            places = [mine.get(first + i, total) for i in range(padded(count))]
            index += places + [x + apart.get(x, 0) for x in places]
        numbers = ca.vertcat(*reads.values(), 0)[index]  # the last is zero
        self.looped.line(reads, {(row, "Y"): look_up(Gram(at, tuple(spans)), numbers)})

    def jacobian(self, result: str) -> None:
        """Write G as a result, row by row, which begins with zeros."""
        nu, rows = self.looped.model.tree.nu, np.zeros(len(self.looped.types), dtype=np.int64)
        for way, at in zip(self.visits, self.places, strict=True):
            for B, row in way.items():
                rows[row] = at.start * nu + self.looped.model.tree.bodies[B].u.start
        most = max(at.stop - at.start for at in self.places)
        self.looped.windows |= {f"{result}{e}": (result, rows + e * nu) for e in range(most)}

        def visit(d: Visit) -> None:
            F, f, H = d.visit.F, d.visit.f, d.of_body.H
            d.up.F += shifted(F, d.of_body.r)
            if d.nu:
                G = ca.vertcat(*(ca.vertcat(*h).T @ F for h in H)) + f  # (1)
                for e in range(d.k):
                    d.writes[f"{result}{e}"] = ca.densify(G[:, e])

        self._pass(backwards=True, visit=visit)

    def gather(self, columns: int = 1) -> None:
        """Sum G x of the bodies' x, (nu, columns), in the homes as Gx, and its absolute terms as size."""

        def visit(d: Visit) -> None:
            if d.nu:
                G, x = d.visit.G, _columns(d, BodyFields.x)
                d.home.Gx += G.T @ x
                d.home.size += ca.fabs(G).T @ ca.fabs(x)

        def home(d: BlockKernel) -> None:
            d.home.Gx = d.home.size = ca.SX(d.k, columns)

        self._pass(columns=columns, home=home)
        self._pass(columns=columns, visit=visit)

    def scatter(self, into: Any, columns: int = 1) -> None:
        """Subtract S lambda (4) from a body's field, (nu, columns), with lambda of the homes."""

        def visit(d: Visit) -> None:
            if d.nu:
                d.writes[f"body.{into.name}"] = ca.vec(_columns(d, into) + -(d.visit.S @ d.home.lambda_))

        self._pass(columns=columns, visit=visit)

    # ---- lines

    def home(self, reads: dict[Any, SX], field: Any, columns: int = 1) -> SX:
        """A field of all homes, (m, columns), for reading in a straight line."""
        parts = []
        for row, at in zip(self.homes, self.places, strict=True):
            k = at.stop - at.start
            symbol = reads.setdefault((row, field.name), ca.SX.sym(field.name, k * columns))
            parts.append(ca.reshape(symbol, k, columns))
        return ca.vertcat(ca.SX(0, columns), *parts)

    def put(self, writes: dict[Any, SX], field: Any, value: SX) -> None:
        """Write the same field in a straight line."""
        writes |= {
            (row, field.name): ca.vec(ca.densify(value[at, :]))
            for row, at in zip(self.homes, self.places, strict=True)
        }

    def Y(self, reads: dict[Any, SX]) -> SX:
        """Y of (3), (m, m), for reading in a straight line."""
        Y, at = ca.SX(self.m, self.m), self.places
        rows = {(c, c): row for c, row in enumerate(self.homes)} | self.pairs
        for (c, d), row in rows.items():
            k, l = (at[x].stop - at[x].start for x in (c, d))
            block = ca.reshape(reads.setdefault((row, "Y"), ca.SX.sym("Y", k * l)), k, l)
            Y[at[c], at[d]] = block
            if c != d:
                Y[at[d], at[c]] = block.T
        for row, parts in self.products.items():
            mine = [k for c in parts for k in range(at[c].start, at[c].stop)]
            m = len(mine)
            Y[mine, mine] = columns_of(reads.setdefault((row, "Y"), ca.SX.sym("Y", m * padded(m))), m, m)
        return Y


def _columns(d: Visit, field: Any) -> SX:
    """x or eps of the body, which may be lists, as (nu, columns)."""
    return ca.reshape(d.read(f"body.{field.name}", d.nu * d.columns), d.nu, d.columns)


def shifted(F: SX, r: SX) -> SX:
    """Forces about M's origin, moved to the parent's origin."""
    return ca.vertcat(F[:3, :] + _skew(r) @ F[3:, :], F[3:, :])
