"""Constraints in the looped layout: rows for what each does along the tree.

A part of a constraint, k equations of one level, has a *visit* for each body between its own bodies and
ground. Inward along its visits go F, what unit multipliers exert on the body with all that it carries, and z,
what of F the speeds beyond take up by giving way, as in aba.py; for the speeds of the body, one row per speed
and one column per equation,

    G' = H' F + f                                           f: what multipliers exert on a speed itself    (1)
    E = G' - H' z,   S = E / D,   z <- z + U S   speed by speed, with the eliminations of aba.py (2), (3)  (2)

E is L^-T G' of the mass matrix M = L' D L, so that

    Y = G M^-1 G' = sum over bodies of E' S                                                                (3)
    M^-1 G' lambda:  eps_k = S_k lambda, and the outward pass aba.py (5)                                   (4)

With weights W in place of M, as projection of positions has it, E is G' itself and D is W^2. A part has one
more row, its
*home*, for sums over its visits; a pair of parts that visit the same bodies has a row for its block of Y, and
one *meeting* for each such body. Machine code grows with the types of bodies and with the sizes of parts, not
with their number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from condyle.constraints.solve.equations import ConstraintEquations
from condyle.constraints.solve.multipliers import blocks
from condyle.dynamics.kinematics import Pair
from condyle.model.looped.between import OnDemand, StraightLine
from condyle.model.looped.draft import Draft, Kind, packed, unpacked
from condyle.model.looped.tables import Looped
from condyle.native.loops.sweep import RowKernel

_skew = ca.skew


class Visit(Draft):
    """The kernel of a type of visit being written: it sees the fields of its body too."""

    def __init__(self, looped: Looped, kind: Kind, k: int) -> None:
        super().__init__(looped, kind)
        # numbers of mobilizers are constants of bodies alone
        self.reads = dict(looped.outside)
        self.k, self.nu = k, self.mobilizer.nu

    def of_body(self, name: str) -> Any:
        """What the body's kernels keep."""
        like = self.kind.kept[name]
        return unpacked(like, self.read(f"body.{name}", packed(like).numel()))

    def matrix(self, place: str, rows: int, columns: int | None = None) -> ca.SX:
        """A dense field; k columns if no more is said."""
        columns = self.k if columns is None else columns
        return ca.reshape(self.read(place, rows * columns), rows, columns)

    def write(self, place: str, value: ca.SX) -> None:
        self.writes[place] = ca.vec(ca.densify(value))

    def add_to(self, place: str, value: ca.SX) -> None:
        """Add to a field, dense."""
        self.write(place, self.matrix(place, *value.shape) + value)


class Visits:
    """The rows of some parts of the constraints. Made after the pass that gives bodies their kinematics.

    Args:
        levels: of the parts; all by default.

    Attributes:
        line: what the equations need of bodies, as symbols.
        equations: over these.
        places: where each part's equations are among those asked for.
        m: their number.
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
        """The acceleration of M at udot = 0, from A_0 of aba.py (1), which is that on ground that falls
        up."""
        alpha, a = self.line.read(B, "A")
        return alpha, a + self.line.symbols.gravity

    def _add_rows(self) -> None:
        looped, tree = self.looped, self.looped.model.tree
        looped.law_kinds  # noqa: B018  laws in tables come first
        touched = [sorted({*w.bodies, *(self.line.owner[k][0] for k in w.speeds)}) for w in self._wrenches]
        ways = [sorted({A for B in each for A in tree.path(B)}) for each in touched]
        sizes = [part.size for _, part in self.parts]
        kinds, fresh = looped.types, looped.fresh_type
        self.types: dict[tuple[Any, ...], int] = {}

        def of_type(*key: Any) -> int:
            return self.types.setdefault(key, fresh + len(self.types))

        first = len(looped.types)
        # of the new rows; the body whose windows they have
        types, like = list[int](), list[int]()
        homes, visits, pairs = list[int](), list[dict[int, int]](), dict[tuple[int, int], int]()
        up, body, home = dict[int, int](), dict[int, int](), dict[int, int]()
        for c, way in enumerate(ways):
            homes.append(first + len(types))
            types.append(of_type("home", sizes[c]))
            like.append(0)
            visits.append({})
            for B in way:  # a parent comes before its children
                row = first + len(types)
                visits[c][B] = row
                P = tree.parent(B)
                up[row] = homes[c] if P is None else visits[c][P]
                body[row], home[row] = B + 1, homes[c]
                types.append(of_type("visit", int(kinds[B + 1]), sizes[c]))
                like.append(B + 1)
        self.homes, self.visits, self.pairs = homes, visits, pairs
        a, b, pair = {}, {}, {}
        for c in range(len(ways)):
            for d in range(c):
                shared = [B for B in ways[d] if B in visits[c] and tree.speeds_of(B)]
                if not shared:
                    continue
                pairs[c, d] = first + len(types)
                types.append(of_type("pair", sizes[c], sizes[d]))
                like.append(0)
                for B in shared:
                    row = first + len(types)
                    a[row], b[row], pair[row] = visits[c][B], visits[d][B], pairs[c, d]
                    types.append(of_type("meeting", sizes[c], sizes[d], len(tree.speeds_of(B))))
                    like.append(B + 1)
        looped.add_rows(
            np.array(types, dtype=np.int64),
            np.array(like, dtype=np.int64),
            {"up": up, "body": body, "home": home, "a": a, "b": b, "pair": pair},
        )
        speeds = [[k for B in way for k in tree.speeds_of(B)] for way in ways]
        self.blocks = blocks(tree, [speeds[c] for c, size in enumerate(sizes) for _ in range(size)])

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

    def _pass(self, backwards: bool = False, **write: Callable[[Any], None]) -> None:
        """A pass over visits, homes, pairs and meetings, as far as `write` has a kernel for them."""
        looped = self.looped
        kernels: dict[int, RowKernel] = {}
        for key, t in self.types.items():
            if (each := write.get(key[0])) is None:
                continue
            if key[0] == "visit":
                d: Any = Visit(looped, looped.kinds[key[1]], key[2])
            else:
                d = Sizes(looped, key[1:])
            each(d)
            kernels[t] = RowKernel(d.reads, d.writes)
        looped.extra_pass(kernels, backwards)

    def begin(self, bias: ca.SX, more: Mapping[Any, ca.SX] | None = None) -> None:
        """Wrenches of unit multipliers on the bodies that they act on, `bias` (m,) in the homes, and zeros
        elsewhere. `more` is written by the same line."""

        def visit(d: Visit) -> None:
            for name, rows in (("F", 6), ("z", 6), ("f", d.nu)):
                d.write(f"me.{name}", ca.SX.zeros(rows, d.k))

        def home(d: Sizes) -> None:
            (k,) = d.sizes
            for name, size in (("F", 6 * k), ("z", 6 * k), ("Y", k * k), ("lengths", k), ("whole", k)):
                d.write(f"me.{name}", ca.SX.zeros(size, 1))

        self._pass(
            visit=visit, home=home, pair=lambda d: d.write("me.Y", ca.SX.zeros(d.sizes[0] * d.sizes[1], 1))
        )
        writes: dict[Any, ca.SX] = {
            (row, "bias"): ca.densify(bias[at]) for row, at in zip(self.homes, self.places, strict=True)
        }
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
        self.line.write(writes | dict(more or {}))

    def inward(
        self, lock: Callable[[Visit], list[ca.SX]], weigh: Callable[[Visit], list[ca.SX]] | None = None
    ) -> None:
        """G, E and S of (1) and (2), the sums (3), and |G_i|^2.

        Args:
            lock: 0, or infinity, of each speed.
            weigh: W^2 of each speed in place of the mass matrix.
        """

        def visit(d: Visit) -> None:
            F, f, H, r = d.matrix("me.F", 6), d.matrix("me.f", d.nu), d.of_body("H"), d.of_body("r")
            rows_G, rows_E, rows_S = [], [], []
            z = d.matrix("me.z", 6) if weigh is None else ca.SX(6, d.k)
            for j, h in enumerate(H):
                h = ca.vertcat(*h).T
                rows_G.append(h @ F + f[j, :])  # (1)
                E, D = rows_G[j] - h @ z, d.of_body("D")[j] if weigh is None else weigh(d)[j]
                if weigh is None:
                    z = z + ca.vertcat(*d.of_body("U_D")[j]) @ E  # (2)
                rows_E.append(E)
                rows_S.append(E / D)
            if weigh is None:
                d.add_to("up.z", shifted(z, r))
            d.add_to("up.F", shifted(F, r))
            if not d.nu:
                return
            G, E, S = (ca.vertcat(*x) for x in (rows_G, rows_E, rows_S))
            d.write("me.G", G)
            d.write(f"me.E{d.nu}", E)
            d.write(f"me.S{d.nu}", S)
            d.add_to("home.Y", ca.vec(ca.tril2symm(ca.tril(E.T @ S))))  # (3)
            free = ca.vertcat(*(x == 0 for x in lock(d)))
            d.add_to("home.whole", ca.sum1(G**2).T)
            d.add_to("home.lengths", (G**2).T @ free)

        self._pass(backwards=True, visit=visit)

        def meeting(d: Sizes) -> None:
            k, l, nu = d.sizes
            E, S = (
                ca.reshape(d.read(place, nu * size), nu, size)
                for place, size in ((f"a.E{nu}", k), (f"b.S{nu}", l))
            )
            d.write("pair.Y", d.read("pair.Y", k * l) + ca.vec(E.T @ S))

        self._pass(meeting=meeting)

    def jacobian(self, result: str) -> None:
        """G as a result, row by row, that begins with zeros."""
        nu, rows = self.looped.model.tree.nu, np.zeros(len(self.looped.types), dtype=np.int64)
        for way, at in zip(self.visits, self.places, strict=True):
            for B, row in way.items():
                rows[row] = at.start * nu + self.looped.model.tree.bodies[B].u.start
        most = max(at.stop - at.start for at in self.places)
        self.looped.windows |= {f"{result}{e}": (result, rows + e * nu) for e in range(most)}

        def visit(d: Visit) -> None:
            F, f, H = d.matrix("me.F", 6), d.matrix("me.f", d.nu), d.of_body("H")
            d.add_to("up.F", shifted(F, d.of_body("r")))
            if d.nu:
                G = ca.vertcat(*(ca.vertcat(*h).T @ F for h in H)) + f  # (1)
                for e in range(d.k):
                    d.writes[f"{result}{e}"] = ca.densify(G[:, e])

        self._pass(backwards=True, visit=visit)

    def gather(self, columns: int = 1) -> None:
        """G x in the homes, "Gx", and the sums of the absolute terms, "size", of the bodies' x, (nu,
        columns)."""

        def visit(d: Visit) -> None:
            if d.nu:
                G, x = d.matrix("me.G", d.nu), d.matrix("body.x", d.nu, columns)
                d.add_to("home.Gx", ca.vec(G.T @ x))
                d.add_to("home.size", ca.vec(ca.fabs(G).T @ ca.fabs(x)))

        def home(d: Sizes) -> None:
            for name in ("Gx", "size"):
                d.write(f"me.{name}", ca.SX.zeros(d.sizes[0] * columns, 1))

        self._pass(home=home)
        self._pass(visit=visit)

    def scatter(self, into: str, columns: int = 1) -> None:
        """Take S lambda (4) from a body's field, (nu, columns), lambda of the homes."""

        def visit(d: Visit) -> None:
            if d.nu:
                lambda_ = d.matrix("home.lambda", d.k, columns)
                d.add_to(f"body.{into}", -ca.vec(d.matrix(f"me.S{d.nu}", d.nu) @ lambda_))

        self._pass(visit=visit)

    # ---- lines

    def home(self, reads: dict[Any, ca.SX], name: str, columns: int = 1) -> ca.SX:
        """A field of all homes, (m, columns), as a line reads it."""
        parts = []
        for row, at in zip(self.homes, self.places, strict=True):
            k = at.stop - at.start
            symbol = reads.setdefault((row, name), ca.SX.sym(name, k * columns))
            parts.append(ca.reshape(symbol, k, columns))
        return ca.vertcat(ca.SX(0, columns), *parts)

    def put(self, writes: dict[Any, ca.SX], name: str, value: ca.SX) -> None:
        """The same as a line writes it."""
        writes |= {
            (row, name): ca.vec(ca.densify(value[at, :]))
            for row, at in zip(self.homes, self.places, strict=True)
        }

    def Y(self, reads: dict[Any, ca.SX]) -> ca.SX:
        """(3), (m, m), as a line reads it."""
        Y = ca.SX(self.m, self.m)
        for row, at in zip(self.homes, self.places, strict=True):
            k = at.stop - at.start
            Y[at, at] = ca.reshape(reads.setdefault((row, "Y"), ca.SX.sym("Y", k * k)), k, k)
        for (c, d), row in self.pairs.items():
            k, l = (self.places[x].stop - self.places[x].start for x in (c, d))
            block = ca.reshape(reads.setdefault((row, "Y"), ca.SX.sym("Y", k * l)), k, l)
            Y[self.places[c], self.places[d]], Y[self.places[d], self.places[c]] = block, block.T
        return Y


class Sizes(Draft):
    """The kernel of a home, a pair or a meeting being written."""

    def __init__(self, looped: Looped, sizes: Sequence[int]) -> None:
        super().__init__(looped, Kind(None))
        self.sizes = tuple(sizes)

    def write(self, place: str, value: ca.SX) -> None:
        self.writes[place] = ca.densify(value)


def shifted(F: ca.SX, r: ca.SX) -> ca.SX:
    """Forces about M's origin as those about the parent's."""
    return ca.vertcat(F[:3, :] + _skew(r) @ F[3:, :], F[3:, :])
