"""Several surfaces on one span of a path: which of them it goes over, in which order, and its geometry.

Which and in which order: OpenSim's rule. The surfaces are visited in the order of their list, repeatedly. A
visit removes the surface from the path and tries all straight parts of the remaining path: between points, or
from one surface to the next. The first part that must go over the surface gets it; else the one that may and
grows least. Sweeps end when one changes nothing. The rules for pieces without a surface are evaluated once,
at the start. Usually that suffices: no surface is needed, or nothing is left for the sweeps (`Chain.idle`).

Geometry: between two surfaces i, i + 1 there is a gap. Its point X is free in the plane across the gap, where
the path has no corner:

    r = T' (e_out,i - e_in,i+1) = 0,    X = X0 + T x                                                       (1)
    dr/dx = T' (H_i,BB + H_i+1,AA) T,   with neighbors T' H_i,AB T                                        (2)

with the derivatives of segment.py: Newton's method, two unknowns per gap, whatever the surfaces. The order is
fixed while it iterates. At the end the rules are evaluated once more: if the result has changed, the sweeps
continue from there.

A search that fails restarts after more sweeps, which bring it nearer. If all fail, as where surfaces overlap,
the path omits one surface, the first of the list whose omission helps. So there always is a path; it passes
through the omitted surface, and its length jumps when that begins, which simulations report
(interrupts/path_jumps.py).

Derivatives do not involve the search: span.py has the length as a function of y and x, and from (2) how x
follows y.

OpenSim also swaps the first two surfaces after the first sweep if the first is off the path and an end of the
second's part is inside it. Both are off the path then, so that the second sweep finds the same in any order;
here they are not swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.native.solvers.solver import Solver
from condyle.native.tables.lookup import look_up
from condyle.paths.cylinder_sphere import MANDATORY, NONE, WRAPPED
from condyle.paths.ellipsoid_length import CONVERGED as ENOUGH
from condyle.paths.segment import Columns, Segment, across_to, cross, dot, norm, unit
from condyle.paths.wrap_surfaces import WIDTH, Surface
from condyle.records import dataclass
from condyle.spatial.algebra import all_of, any_of

SWEEP, CHECK = 0, 1
SWEEPS, MORE, RETURNS, ROUNDS, STEPS = 8, 40, 6, 100, 50
"""Largest number of sweeps before Newton's method (OpenSim's number), and after a bad start; number of times
that a check may return to sweeps; largest number of steps in all, and of one run of Newton's method."""
TRIES = 1
"""Largest number of restarts, after more sweeps."""
OFTEN = 3
"""Number of Newton's steps that may make the path longer if it becomes smoother: alternating between both
would cycle."""
LEAST = 1e-3
"""A step of a gap point is at most half the gap, or this fraction of the length."""
SOON = 1e-4
"""A step of the gap points, over the length of the path, after which the next one may be the last: searches over
surfaces then go to their end."""
CONVERGED = 1e-8
"""Last step of the gap points over the length of the path. It is applied at the end, and leaves its
square."""
NO_GAP = 1e-12
"""Relative width of a gap below which two surfaces touch: no path leads between them."""
SAME = 1e-12
"""Relative difference of the lengths of two orders of surfaces between which the rules cannot decide: a path
that grazes."""


@dataclass(frozen=True, eq=False)
class Order:
    """The surfaces that a path goes over: for each whether it does, the piece, and the previous surface (or
    -1)."""

    on: list[ca.SX]
    piece: list[ca.SX]
    prev: list[ca.SX]

    @staticmethod
    def of_state(s: Mapping[str, SX]) -> Order:
        return Order(*(ca.vertsplit(s[name]) for name in ("on", "piece", "prev")))

    @property
    def parts(self) -> dict[str, list[SX]]:
        return {"on": self.on, "piece": self.piece, "prev": self.prev}

    def unless(self, condition: SX, other: Order) -> Order:
        """This order, or another if a condition holds."""
        return Order(*(_choose(condition, other.parts[name], x) for name, x in self.parts.items()))

    @cached_property
    def depth(self) -> list[SX]:
        """Number of surfaces before each on the same piece."""
        depth = [ca.SX(0)] * len(self.on)
        for _ in range(len(self.on) - 1):
            depth = [ca.if_else(p >= 0, 1 + _pick(p, depth), 0) for p in self.prev]
        return depth

    @cached_property
    def gaps(self) -> tuple[list[SX], list[SX]]:
        """The gaps before and after each surface, counted along the path; -1 at points of the path."""
        n = range(len(self.on))

        def earlier(j: int, k: int) -> SX:
            same = all_of(self.piece[j] == self.piece[k], self.depth[j] < self.depth[k])
            return all_of(self.on[j], any_of(self.piece[j] < self.piece[k], same))

        rank = [sum((earlier(j, k) for j in n if j != k), ca.SX(0)) for k in n]
        before = [ca.if_else(all_of(self.on[k], self.prev[k] >= 0), rank[k] - 1, -1) for k in n]
        after = [ca.if_else(all_of(self.on[k], self.next(k) >= 0), rank[k], -1) for k in n]
        return before, after

    def next(self, k: Any, piece: SX | None = None) -> SX:
        """The surface after k; with k = -1 the first of a piece; -1 if there is none."""
        out = ca.SX(-1)
        for j in range(len(self.on)):
            mine = all_of(self.on[j], self.prev[j] == k)
            out = ca.if_else(mine if piece is None else all_of(mine, self.piece[j] == piece), j, out)
        return out

    def without(self, k: int) -> Order:
        """The order without surface k."""
        prev = [ca.if_else(p == k, self.prev[k], p) for p in self.prev]
        return Order(_set(self.on, k, 0), self.piece, _set(prev, k, -1))

    def placed(self, k: int, on: SX, piece: SX, prev: SX) -> Order:
        """The order with surface k, which was not in it, inserted after another; unchanged unless `on`."""
        after = self.next(prev, piece)
        moved = [ca.if_else(all_of(on, after == j), k, p) for j, p in enumerate(self.prev)]
        return Order(
            _set(self.on, k, on), _set(self.piece, k, piece), _set(moved, k, ca.if_else(on, prev, -1))
        )

    def same(self, other: Order) -> SX:
        one, two = (ca.vertcat(*order.on, *order.piece, *order.prev) for order in (self, other))
        return ca.logic_not(ca.sum1(one != two))


class Chain:
    """The solver of spans of one signature. Its input: all points in ground; R_GS by columns and the origin
    in ground of each surface; whether each may be on each of its pieces; and the surfaces' numbers.

    Args:
        surfaces: the surfaces with these numbers, a column at the end of p.
        pieces: on which each may be.
        never: those of them on which each may be only together with another.
        n: number of points.
        memory: for each surface the number of values from which its search continues (Surface.memory).
    """

    def __init__(
        self,
        surfaces: Callable[[SX], Sequence[Surface]],
        pieces: Sequence[tuple[int, ...]],
        never: Sequence[tuple[int, ...]],
        n: int,
        memory: Sequence[int],
    ) -> None:
        self._surfaces, self.pieces, self.never, self.n, self.m = surfaces, pieces, never, n, len(pieces)
        self.gaps = g = self.m - 1
        self.state = Columns(
            **dict.fromkeys(("on", "piece", "prev"), self.m),
            rows=self.m * WIDTH,
            **dict.fromkeys(("X", "e", "last"), 3 * g),
            W=4 * g * g,
            phase=1,
            count=1,
            returns=1,
            L=1,
            left=self.m,
            **{f"memory{k}": size for k, size in enumerate(memory)},
            plain=sum(map(len, pieces)),
            most=1,
            tries=1,
        )
        self.gap_points = GapPoints(self, memory)

    # ---- what it is given ----------------------------------------------------------------------------------

    def surfaces(self, p: SX) -> Sequence[Surface]:
        return self._surfaces(p[3 * self.n + 12 * self.m + sum(map(len, self.pieces)) :])

    def ends(self, p: SX, k: int, A: SX, B: SX) -> tuple[SX, SX]:
        """Points of ground in the frame of surface k."""
        R, o = self.frame(p, k)
        return R.T @ (A - o), R.T @ (B - o)

    def frame(self, p: SX, k: int) -> tuple[SX, SX]:
        at = 3 * self.n + 12 * k
        return ca.reshape(p[at : at + 9], 3, 3), p[at + 9 : at + 12]

    def point(self, p: SX, i: Any) -> SX:
        """Point i, a number or an expression."""
        if not isinstance(i, ca.SX):
            return p[3 * i : 3 * i + 3]
        return _pick(i, [p[3 * j : 3 * j + 3] for j in range(self.n)])

    def of_piece(self, k: int, i: SX, values: SX) -> SX:
        """The value for piece i among values for all pieces of all surfaces; zero if k is never on it."""
        at, out = sum(len(q) for q in self.pieces[:k]), ca.SX(0)
        for j, piece in enumerate(self.pieces[k]):
            out = ca.if_else(i == piece, values[at + j], out)
        return out

    def usable(self, p: SX) -> SX:
        """Whether each surface may be on each of its pieces now."""
        at = 3 * self.n + 12 * self.m
        return p[at : at + sum(map(len, self.pieces))]

    # ---- the loop ------------------------------------------------------------------------------------------

    def idle(self, p: SX) -> tuple[SX, SX]:
        """The common case: each surface has at most one piece that comes near it, and no two meet. Then the
        first visits find everything, and the second ones change nothing: the result of `finish` for it, and
        whether this is not the case."""
        usable, first, surfaces = ca.vertsplit(self.usable(p)), 0, self.surfaces(p)
        near: list[ca.SX] = []
        piece: list[ca.SX] = []
        ends: list[tuple[ca.SX, ca.SX]] = []
        busy: list[ca.SX] = []
        yields: list[tuple[int, ca.SX]] = []
        for k, (surface, pieces) in enumerate(zip(surfaces, self.pieces, strict=True)):
            at, any_, A, B = ca.SX(pieces[0]), ca.SX(0), ca.SX.zeros(3), ca.SX.zeros(3)
            for flag, i in zip(usable[first : first + len(pieces)], pieces, strict=True):
                if i in self.never[k]:
                    continue
                given = self.ends(p, k, self.point(p, i), self.point(p, i + 1))
                here = all_of(flag, surface.near(*given))
                news = ca.SX(i), *given
                at, A, B = (ca.if_else(here, new, old) for new, old in zip(news, (at, A, B), strict=True))
                busy.append(all_of(any_, here))
                any_ = any_of(any_, here)
            first += len(pieces)
            for j in range(k):
                both = all_of(any_, near[j], piece[j] == at)
                if surface.closed and surfaces[j].closed:
                    any_ = all_of(any_, ca.logic_not(both))  # the first has the piece,
                    yields.append((j, both))  # if it is on the path
                else:
                    busy.append(both)  # checking one is rarely enough, and slow
            near.append(any_)
            piece.append(at)
            ends.append((A, B))
        meet = any_of(*busy)
        on: list[ca.SX] = []
        rows: list[ca.SX] = []
        for k, surface in enumerate(surfaces):
            A, B = ends[k]
            row = surface.row(A, ca.if_else(all_of(near[k], ca.logic_not(meet)), B, A))
            on.append(all_of(near[k], row[0] != NONE))
            busy.append(all_of(on[k], ca.logic_not(row[0] >= 0)))
            rows.append(ca.if_else(on[k], row, 0))
        piece = [ca.if_else(here, i, at[0]) for here, i, at in zip(on, piece, self.pieces, strict=True)]
        busy += [all_of(both, ca.logic_not(on[j])) for j, both in yields]
        for j in range(self.m):
            P, Q = self.touches(p, j, rows[j])
            begin, end = self.point(p, piece[j]), self.point(p, piece[j] + 1)
            for k, surface in enumerate(surfaces):
                if k == j or not set(self.pieces[j]) & set(self.pieces[k]):
                    continue
                may = all_of(on[j], self.of_piece(k, piece[j], self.usable(p)))
                for A, B in ((begin, P), (Q, end)):
                    busy.append(all_of(may, surface.near(*self.ends(p, k, A, B))))
        alone = {"on": on, "piece": piece, "rows": rows}
        whole = self.state.split(self.nothing(ca.SX.zeros(len(usable)))) | alone
        return self.finish(p, self.state.join(whole)), any_of(*busy)

    def start(self, p: SX) -> tuple[SX, SX]:
        plain: list[ca.SX] = []
        for k, (surface, pieces) in enumerate(zip(self.surfaces(p), self.pieces, strict=True)):
            for i in pieces:
                if i in self.never[k]:
                    plain.append(ca.SX(np.inf))
                    continue
                may = self.usable(p)[len(plain)]
                cost = self.cost(surface, *self.ends(p, k, self.point(p, i), self.point(p, i + 1)), 64 * i)
                plain.append(ca.if_else(may, cost, np.inf))
        return self.nothing(ca.vertcat(*plain)), any_of(*(c < np.inf for c in plain))

    def nothing(self, plain: SX) -> SX:
        """The state where no surface is on the path."""
        return self.state.join(
            {
                "prev": -ca.SX.ones(self.m),
                "W": ca.vec(ca.SX.eye(2 * self.gaps)),
                "piece": ca.SX([pieces[0] for pieces in self.pieces]),
                "L": -1,
                "plain": plain,
                "most": self.m,
            }
        )

    def cost(self, surface: Surface, A: SX, B: SX, place: Any) -> SX:
        """Among parts of a path, the one with the least cost gets the surface; infinite if it does not go
        over it. `place` counts along the path."""
        kind, more = surface.rule(A, B)
        return ca.if_else(kind == MANDATORY, place, ca.if_else(kind == WRAPPED, 1e6 + more, np.inf))

    def step(self, p: SX, x: SX) -> tuple[SX, SX]:
        s = self.state.split(x)
        sweeping, checking = s["phase"] == SWEEP, s["phase"] == CHECK
        before, rows = Order.of_state(s), ca.vertsplit(s["rows"], WIDTH)
        left, memory = ca.vertsplit(s["left"]), [s[f"memory{k}"] for k in range(self.m)]
        order, surfaces = before, self.surfaces(p)
        for k in range(self.m):
            order, A, B = self.visit(p, k, order, rows, s["plain"], s["most"])
            A, B = self.ends(p, k, A, B)
            # Surfaces that are known, off the path or only to be checked are not solved again: their ends
            # coincide.
            known = ca.logic_not(ca.sum1(ca.vertcat(A, B) != rows[k][WIDTH - 6 :]))
            idle = any_of(known, ca.logic_not(order.on[k]), checking)
            found = surfaces[k].sketched(A, ca.if_else(idle, A, B))
            rows[k], left[k], memory[k] = (
                ca.if_else(idle, old, new)
                for old, new in zip((rows[k], left[k], memory[k]), found, strict=True)
            )
        # the first of the list, with no other before and after: all others were asked when it was there
        alone = all_of(sweeping, order.on[0], ca.logic_not(any_of(*before.on[1:], *order.on[1:])))
        settled, gaps = any_of(order.same(before), alone), self.gap_points.there(order.gaps[0])
        rough = any_of(*(all_of(on, x > ENOUGH) for on, x in zip(order.on, left, strict=True)))
        soon, late = all_of(settled, s["tries"] == 0), s["count"] >= SWEEPS + 12 * s["tries"]
        into = all_of(sweeping, any_of(soon, late), any_of(rough, *gaps))
        middles, starts, _ = self.middles(order.gaps, rows, p)
        given = {"X": middles, "rows": rows, "left": left} | {f"memory{k}": x for k, x in enumerate(memory)}
        held = ca.vertcat(*order.on, *order.piece, *order.gaps[0], *order.gaps[1])
        newton = self.gap_points
        result = look_up(
            self._newton(p.numel()),
            ca.vertcat(p, held, *starts, newton.state.join(given)[: newton.given], s["count"] < MORE, into),
        )
        n = newton.results.split(result)
        kept = {"X": s["X"], "last": s["last"], "W": s["W"], "e": s["e"], "rows": ca.vertcat(*rows)}
        kept |= {"left": ca.vertcat(*left)} | {f"memory{k}": x for k, x in enumerate(memory)}
        kept = {
            name: ca.if_else(into, n[name] if name in n else ca.vertcat(*starts), old)
            for name, old in kept.items()
        }
        rows = ca.vertsplit(kept["rows"], WIDTH)
        segments = [Segment.from_row(row[1:]) for row in rows]
        length = sum((ca.if_else(on, row.L, 0) for on, row in zip(order.on, segments, strict=True)), ca.SX(0))
        bare = any_of(
            *(all_of(on, ca.logic_not(row.wrapped)) for on, row in zip(order.on, segments, strict=True))
        )

        # what comes next; where a gap point begins inside a surface, more sweeps bring it out
        simple = all_of(sweeping, ca.logic_not(any_of(rough, *gaps)), settled)
        settled = all_of(settled, ca.logic_not(all_of(checking, bare)))
        back = all_of(checking, ca.logic_not(settled))
        again = all_of(checking, ca.fabs(length - s["L"]) <= SAME * length, ca.logic_not(bare))
        done = any_of(simple, all_of(checking, any_of(settled, again)))
        stuck = any_of(all_of(back, s["returns"] >= RETURNS), all_of(sweeping, s["count"] > MORE))
        wide = self.middles(order.gaps, rows, p)[2]
        touching = any_of(*(all_of(gap, w <= NO_GAP * length) for gap, w in zip(gaps, wide, strict=True)))
        lost = any_of(
            all_of(checking, touching),
            all_of(into, ca.logic_not(n["found"] >= 0)),
            *(all_of(on, ca.logic_not(row[0] >= 0)) for on, row in zip(order.on, rows, strict=True)),
        )
        # an order that a check found is for the sweeps to find: its surfaces are not solved yet
        out: dict[str, Any] = order.unless(checking, before).parts | kept
        out |= {
            "phase": ca.if_else(all_of(into, n["found"] > 0), CHECK, ca.if_else(back, SWEEP, s["phase"])),
            "count": ca.if_else(sweeping, s["count"] + 1, 1),
            "returns": s["returns"] + back,
            "L": ca.if_else(checking, length, s["L"]),
            "plain": s["plain"],
        }
        # if no path leads over all surfaces, omit one; a path over none always exists
        fails = any_of(stuck, lost)
        anew = self.state.split(self.nothing(s["plain"]))
        for name in ("on", "piece", "prev", "rows", "W", "phase", "count", "returns"):
            was = out[name]
            out[name] = ca.if_else(fails, anew[name], was if isinstance(was, ca.SX) else ca.vertcat(*was))
        last = all_of(fails, s["tries"] >= TRIES)
        out["most"] = s["most"] - last
        out["tries"] = ca.if_else(last, 0, s["tries"] + fails)
        return self.state.join(out), any_of(fails, ca.logic_not(done))

    def _newton(self, needs: int) -> Solver:
        if "newton" not in vars(self):
            self.newton = self.gap_points.solver(needs)
        return self.newton

    def visit(
        self, p: SX, k: int, order: Order, rows: Sequence[SX], plain: SX, most: SX
    ) -> tuple[Order, SX, SX]:
        """The order after a visit of surface k, and the ends in ground of its part of the path; it has `most`
        surfaces at most."""
        left, surface, first = order.without(k), self.surfaces(p)[k], sum(len(q) for q in self.pieces[:k])
        others = [j for j in range(self.m) if j != k and set(self.pieces[j]) & set(self.pieces[k])]
        touched = {j: self.touches(p, j, rows[j]) for j in others}
        best, piece, prev = ca.SX(np.inf), ca.SX(self.pieces[k][0]), ca.SX(-1)
        for at, own in enumerate(self.pieces[k]):
            if own in self.never[k]:
                continue
            taken = any_of(*(all_of(left.on[j], left.piece[j] == own) for j in others))
            better = all_of(ca.logic_not(taken), plain[first + at] < best)
            best, piece = ca.if_else(better, plain[first + at], best), ca.if_else(better, own, piece)
        A, B = self.point(p, piece), self.point(p, piece + 1)
        for j in others:
            i = left.piece[j]
            may = all_of(left.on[j], self.of_piece(k, i, self.usable(p)))
            end = self.point(p, i + 1)
            for o in others:
                if o != j:
                    follows = all_of(left.on[o], left.prev[o] == j)
                    end = ca.if_else(follows, touched[o][0], end)
            for here, after, a, b, place in (
                (left.prev[j] < 0, -1, self.point(p, i), touched[j][0], 64 * i),
                (ca.SX(1), j, touched[j][1], end, 64 * i + 1 + left.depth[j]),
            ):
                cost = self.cost(surface, *self.ends(p, k, a, b), place)
                better = all_of(may, here, cost < best)
                best, piece, prev, A, B = (
                    ca.if_else(better, new, old)
                    for new, old in ((cost, best), (i, piece), (after, prev), (a, A), (b, B))
                )
        room = sum(left.on, ca.SX(0)) < most
        return left.placed(k, all_of(best < np.inf, room), piece, prev), A, B

    def touches(self, p: SX, k: int, row: SX) -> tuple[SX, SX]:
        """The points where the path touches and leaves surface k, in ground."""
        R, o = self.frame(p, k)
        segment = Segment.from_row(row[1:])
        return o + R @ segment.P, o + R @ segment.Q

    def middles(
        self, gaps: tuple[list[SX], list[SX]], rows: Sequence[SX], p: SX
    ) -> tuple[list[SX], list[SX], list[SX]]:
        """The middle, the direction and the width of each gap."""
        touched = [self.touches(p, k, rows[k]) for k in range(self.m)]
        points, directions, widths = [], [], []
        for j in range(self.gaps):
            Q = _pick_where(
                [gaps[1][k] == j for k in range(1, self.m)], [t[1] for t in touched[1:]], touched[0][1]
            )
            P = _pick_where(
                [gaps[0][k] == j for k in range(1, self.m)], [t[0] for t in touched[1:]], touched[0][0]
            )
            points.append((P + Q) / 2)
            directions.append(unit(P - Q))
            widths.append(norm(P - Q))
        return points, directions, widths

    def finish(self, p: SX, x: SX) -> SX:
        """Per surface: whether the path goes over it, piece, gaps before and after, row; per gap X and T; (2)
        inverted; number of omitted surfaces."""
        s = self.state.split(x)
        order, rows = Order.of_state(s), ca.vertsplit(s["rows"], WIDTH)
        out, (X, e, last) = [], (ca.vertsplit(s[name], 3) for name in ("X", "e", "last"))
        for k in range(self.m):
            before, after = order.gaps[0][k], order.gaps[1][k]
            dA, dB = (
                _pick_where([at == j for j in range(self.gaps)], last, ca.SX.zeros(3))
                for at in (before, after)
            )
            out += [
                order.on[k],
                order.piece[k],
                before,
                after,
                self.moved(p, k, rows[k], dA, dB),
            ]
        for j in range(self.gaps):
            out += [X[j] + last[j], ca.vec(_tangents(e[j]))]
        return ca.vertcat(*out, s["W"], self.m - s["most"])

    def moved(self, p: SX, k: int, row: SX, dA: SX, dB: SX) -> SX:
        """The row of surface k for ends that are moved by the last step, which is small: lengths and
        directions are right to its square."""
        R, _ = self.frame(p, k)
        dA, dB = R.T @ dA, R.T @ dB
        segment = Segment.from_row(row[1:])
        L, e_in, e_out = segment.moving(dA, dB)
        return ca.vertcat(
            row[0], replace(segment, L=L, e_in=e_in, e_out=e_out).row, row[WIDTH - 6 :] + ca.vertcat(dA, dB)
        )

    def solver(self, needs: int) -> Solver:
        return Solver.trace(
            "path_chain",
            needs,
            self.start,
            self.step,
            self.finish,
            ROUNDS * 4 * self.m * (TRIES + 1),
            idle=self.idle,
            noted=True,
        )


class GapPoints:
    """The solver of (1) for a fixed order. Its input is that of the Chain; for each surface whether the path
    goes over it, its piece, the gaps before and after it; the directions of the gaps; the start; whether
    sweeps handle gap points that begin inside a surface; and whether to solve.

    Searches over surfaces continue from their present state, a step or two for each step of this solver; they
    run to the end once a step makes the path longer, since their residual may exceed the change, and where the
    next step may be the last.
    """

    def __init__(self, chain: Chain, memory: Sequence[int]) -> None:
        self.chain, self.m, self.n, g = chain, chain.m, chain.gaps, chain.gaps
        self.state = Columns(
            X=3 * g,
            rows=self.m * WIDTH,
            left=self.m,
            **{f"memory{k}": size for k, size in enumerate(memory)},
            last=3 * g,
            W=4 * g * g,
            found=1,
            before=3 * g,
            merit=1,
            before_L=1,
            rises=1,
        )
        self.results = Columns(**dict(list(self.state.sizes.items())[:-4]))
        self.given = self.state.ends[list(self.state.sizes).index("last")]
        self.width = self.state.ends[list(self.state.sizes).index("before")]

    def there(self, before: Sequence[SX]) -> list[SX]:
        """Whether each gap exists."""
        return [any_of(*(x == j for x in before)) for j in range(self.n)]

    def idle(self, p: SX) -> tuple[SX, SX]:
        return ca.SX.zeros(self.width), p[-1]

    def start(self, p: SX) -> tuple[SX, SX]:
        begin = p[-2 - self.given : -2]
        rest = ca.SX.zeros(self.state.ends[-1] - self.given)
        s = self.state.split(ca.vertcat(begin, rest))
        return self.state.join(s | {"before": s["X"], "merit": 1e300, "before_L": 1e300}), p[-1]

    def step(self, p: SX, x: SX) -> tuple[SX, SX]:
        s, m, g = self.state.split(x), self.m, self.n
        held = p[-2 - self.given - 3 * g - 4 * m : -2 - self.given]
        on, piece, *both = (ca.vertsplit(held[k * m : (k + 1) * m]) for k in range(4))
        gaps, e = (both[0], both[1]), ca.vertsplit(held[4 * m :], 3)
        rows, X = ca.vertsplit(s["rows"], WIDTH), ca.vertsplit(s["X"], 3)
        left, memory = ca.vertsplit(s["left"]), [s[f"memory{k}"] for k in range(m)]
        soon = dot(s["last"], s["last"]) < (SOON * s["before_L"]) ** 2
        soon = all_of(s["merit"] < 1e300, soon)
        for k, surface in enumerate(self.chain.surfaces(p)):
            A, B = self.chain.ends(p, k, *self.between(p, k, piece[k], gaps, X))
            known = all_of(ca.logic_not(ca.sum1(ca.vertcat(A, B) != rows[k][WIDTH - 6 :])), left[k] <= ENOUGH)
            idle = any_of(known, ca.logic_not(on[k]))
            go = ca.if_else(idle, 0, 1 + any_of(s["rises"] > 0, soon))
            found = surface.resumed(A, ca.if_else(idle, A, B), memory[k], go)
            rows[k], left[k], memory[k] = (
                ca.if_else(idle, old, new)
                for old, new in zip((rows[k], left[k], memory[k]), found, strict=True)
            )
        segments = [Segment.from_row(row[1:]) for row in rows]
        length = sum((ca.if_else(here, row.L, 0) for here, row in zip(on, segments, strict=True)), ca.SX(0))
        r, J = self.equations(p, gaps, segments, e)
        W, downhill = _inverses(J)
        dx = -downhill @ r
        step = [_tangents(e[j]) @ dx[2 * j : 2 * j + 2] for j in range(g)]
        largest = ca.SX(0)
        for d in step:
            largest = ca.fmax(largest, norm(d))
        merit = dot(r, r)
        rises = all_of(length > s["before_L"], largest > CONVERGED * length)
        worse = all_of(rises, any_of(merit > s["merit"], s["rises"] >= OFTEN))
        wide = self.chain.middles(gaps, rows, p)[2]
        onward = [
            ca.if_else(
                worse, b + 0.35 * (a - b), a + ca.fmin(1, ca.fmax(wide[j] / 2, LEAST * length) / norm(d)) * d
            )
            for j, (a, b, d) in enumerate(zip(X, ca.vertsplit(s["before"], 3), step, strict=True))
        ]
        exact = [any_of(ca.logic_not(here), x <= ENOUGH) for here, x in zip(on, left, strict=True)]
        sure = dot(dx, dx) >= 0  # not NaN
        converged = all_of(sure, largest <= CONVERGED * length, *exact)
        bare = any_of(
            *(all_of(here, ca.logic_not(row.wrapped)) for here, row in zip(on, segments, strict=True))
        )
        inside = all_of(bare, s["merit"] >= 1e300, p[-2])
        lost = any_of(*(all_of(here, ca.logic_not(row[0] >= 0)) for here, row in zip(on, rows, strict=True)))
        lost = any_of(lost, ca.logic_not(sure))
        after = {
            "X": _choose(any_of(converged, inside), X, onward),
            "rows": rows,
            "left": left,
            **{f"memory{k}": x for k, x in enumerate(memory)},
            "last": step,
            "W": ca.vec(W),
            "found": converged,
            "before": ca.if_else(worse, s["before"], s["X"]),
            "merit": ca.if_else(worse, s["merit"], merit),
            "before_L": ca.if_else(worse, s["before_L"], length),
            "rises": s["rises"] + rises,
        }
        busy = ca.if_else(lost, np.nan, ca.logic_not(any_of(converged, inside)))
        return self.state.join(after), busy

    def finish(self, p: SX, x: SX) -> SX:
        return x[: self.width]

    def between(self, p: SX, k: int, piece: SX, gaps: Any, X: Sequence[SX]) -> tuple[SX, SX]:
        """The ends of surface k's part in ground: points of the path, or of gaps."""
        before, after = gaps[0][k], gaps[1][k]
        A, B = self.chain.point(p, piece), self.chain.point(p, piece + 1)
        for j, at in enumerate(X):
            A, B = ca.if_else(before == j, at, A), ca.if_else(after == j, at, B)
        return A, B

    def equations(self, p: SX, gaps: Any, segments: Sequence[Segment], e: Sequence[SX]) -> tuple[SX, SX]:
        """(1), (2); gaps that do not exist have r = 0 and dr/dx = 1."""
        T = [_tangents(v) for v in e]
        r = [ca.SX.zeros(2) for _ in T]
        J = [[ca.SX.zeros(2, 2) for _ in T] for _ in T]
        there = [ca.SX(0) for _ in T]
        for k, segment in enumerate(segments):
            R, _ = self.chain.frame(p, k)
            before, after = gaps[0][k], gaps[1][k]
            e_in, e_out = R @ segment.e_in, R @ segment.e_out
            directions = [(R @ u, R @ v, numbers) for u, v, numbers in segment.directions()]
            for i in range(self.n):
                there[i] = any_of(there[i], before == i)
                r[i] += T[i].T @ (ca.if_else(after == i, e_out, 0) - ca.if_else(before == i, e_in, 0))
                for u, v, (alpha_A, alpha_B, gamma) in directions:
                    a, b = T[i].T @ u, T[i].T @ v
                    J[i][i] += (
                        ca.if_else(after == i, alpha_B, 0) * b @ b.T
                        + ca.if_else(before == i, alpha_A, 0) * a @ a.T
                    )
                    if i + 1 < self.n:
                        both = all_of(before == i, after == i + 1)
                        J[i][i + 1] -= ca.if_else(both, gamma, 0) * a @ (T[i + 1].T @ v).T
        for i in range(self.n):
            J[i][i] = ca.if_else(there[i], J[i][i], ca.SX.eye(2))
            if i + 1 < self.n:
                J[i + 1][i] = J[i][i + 1].T
        return ca.vertcat(*r), ca.blockcat(J)

    def solver(self, needs: int) -> Solver:
        """`needs` of the Chain."""
        more = 4 * self.m + 3 * self.n + self.given + 2
        return Solver.trace(
            "path_gaps", needs + more, self.start, self.step, self.finish, STEPS, idle=self.idle
        )


def _tangents(e: SX) -> SX:
    """T: two directions across a unit vector, shape (3, 2)."""
    n = across_to(e)
    return ca.horzcat(n, cross(e, n))


def _inverses(J: SX) -> tuple[SX, SX]:
    """Of a symmetric matrix J = L D L': its inverse, and that of L |D| L', along which a length descends."""
    n = J.shape[0]
    l, d = np.eye(n, dtype=object), [ca.SX(0)] * n
    for j in range(n):
        d[j] = J[j, j] - sum((l[j, k] ** 2 * d[k] for k in range(j)), ca.SX(0))
        for i in range(j + 1, n):
            l[i, j] = (J[i, j] - sum((l[i, k] * l[j, k] * d[k] for k in range(j)), ca.SX(0))) / d[j]
    M = ca.SX(n, n)  # L^-1
    for c in range(n):
        for i in range(c, n):
            M[i, c] = ca.SX(i == c) - sum((l[i, k] * M[k, c] for k in range(c, i)), ca.SX(0))
    D = ca.vertcat(*d)
    return M.T @ ca.diag(1 / D) @ M, M.T @ ca.diag(1 / ca.fabs(D)) @ M


def _choose(condition: SX, yes: Sequence[SX], no: Sequence[SX]) -> list[SX]:
    return [ca.if_else(condition, a, b) for a, b in zip(yes, no, strict=True)]


def _set(values: Sequence[SX], k: int, x: Any) -> list[SX]:
    return [*values[:k], ca.SX(x), *values[k + 1 :]]


def _pick(i: SX, values: Sequence[SX]) -> SX:
    out = values[0]
    for j, value in enumerate(values[1:], 1):
        out = ca.if_else(i == j, value, out)
    return out


def _pick_where(conditions: Sequence[SX], values: Sequence[SX], out: SX) -> SX:
    """The value whose condition holds, `out` if none does."""
    for condition, value in zip(conditions, values, strict=True):
        out = ca.if_else(condition, value, out)
    return out
