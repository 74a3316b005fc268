"""Spans: the independent parts of a path, each a separate leaf.

A path is a constant length and a sum of spans. A span begins and ends at points that are always active, and
nothing in it reaches beyond these. It is one of

    straight between points of two bodies;    over one surface between two points;
    several coupled pieces: conditional points, surfaces that may be on several pieces.

With the points X_i in ground, straight pieces between neighbors, and for each wrap w the piece (A, B) that
it is on,

    L = sum_i |X_i+1 - X_i| + sum_w (L_w(A, B) - |B - A|)                                                  (1)

L_w is the geodesic over the surface (segment.py), found once, with exact first and second derivatives. A
point that is not active counts as the one before it. Which piece a wrap is on is OpenSim's rule: the first of
its pieces that must go over the surface, else the one that may and grows least.

If several wraps may be on one piece, multiple_wraps.py finds which are, and the points X in the gaps between
them. Each wrap is then between points and gap points, and L is stationary in the free coordinates x of the
gap points:

    L(y) = L(y, 0) - r' W r / 2,    r = dL/dx (y, 0),    W = (d2L/dx2)^-1                                  (2)

W and all rows are constants. The value of r is zero; its first derivative, and thus the second of L, is
exact: the Schur complement. If third derivatives are needed, L(y, x) with the first derivative of x provides
them:

    L(y) = L(y, -W r)                                                                                      (3)

Spans of equal `signature` have the same equations: only their numbers, bodies and coordinates differ. So one
of them serves for all:

    twin = span.twin(numbers, bodies, coordinates)      # symbols (len(span.numbers),), names of links
    twin.at(view), twin.rate(view), twin.load(view, g, loads)

with a view whose bodies and coordinates have these names: `span.bodies[i]` of each member is the body of its
link i, `span.coordinates[i]` its coordinate i, and `span.numbers` its row of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cached_property
from itertools import combinations, islice, pairwise
from typing import Any, Self

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.laws.described import Datum, Described, StoredNumber, entries, placed, sx, text
from condyle.laws.leaves import Composed, CoordinateValue, Leaf, Rotation, StationPosition
from condyle.laws.view import Loads, View
from condyle.native.solvers.solver import Solver
from condyle.native.tables.lookup import look_up
from condyle.paths.cylinder_sphere import MANDATORY, NONE, WRAPPED
from condyle.paths.points import Point, Wrap
from condyle.paths.segment import Segment, cross, dot, inverse, length, norm
from condyle.paths.wrap_surfaces import QUADRANTS, WIDTH, Surface
from condyle.records import dataclass
from condyle.spatial.algebra import all_of, any_of
from condyle.trace.parameter import Expression, Parameter


@dataclass(frozen=True, eq=False)
class Twinned(Composed):
    """Points and surfaces of a part of a path; one set of equations for all with the same signature.

    Attributes:
        points: in order; the first and the last are always active.
        wraps: surfaces, in the order in which they are tried.
        pieces: those on which each wrap may be: piece i is between points i and i + 1.
        offset: number of points of the path before it.
        never: for each wrap the pieces that do not move relative to it and never go over it, unless another
            surface brings them to it.
    """

    points: tuple[Point, ...]
    wraps: tuple[Wrap, ...] = ()
    pieces: tuple[tuple[int, ...], ...] = ()
    offset: int = 0
    never: tuple[tuple[int, ...], ...] = ()

    @property
    def label(self) -> str:
        over = "".join(f" over {w.name or type(w.surface).__name__}" for w in self.wraps)
        return f"length of a path from {self.points[0].body!r} to {self.points[-1].body!r}{over}"

    @cached_property
    def text(self) -> str:  # type: ignore[override]
        return f"span {text(self.points)} {text(self.wraps)} {self.pieces} {self.offset} {self.never}"

    def parameters(self) -> list[Parameter]:
        return [p for part in (*self.points, *self.wraps) for p in part.parameters()]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """All coordinates on which it depends."""
        return tuple(dict.fromkeys(name for p in self.points for name in (*p.coordinates, *p.names)))

    @cached_property
    def signature(self) -> Hashable:
        """Spans with equal ones differ in numbers, bodies and coordinates alone."""
        return self.signature_of(lambda p: p.signature)

    def signature_of(self, of_point: Callable[[Point], Hashable]) -> tuple[Hashable, ...]:
        """The signature with a given property of each point."""
        body = {name: i for i, name in enumerate(self.bodies)}
        name = {name: i for i, name in enumerate(self.coordinates)}
        return (
            tuple((of_point(p), body[p.body], tuple(name[q] for q in p.names)) for p in self.points),
            tuple((w.surface.signature, body[w.body]) for w in self.wraps),
            self.pieces,
            self.never,
        )

    @cached_property
    def numbers(self) -> list[Any] | None:
        """All its numbers in a fixed order, Places where they are data; None if some are Parameters."""
        out: list[Any] = []  # as `values`, without expressions
        for thing, f in self._fields():
            value = getattr(thing, f)
            if f == "quadrant" and isinstance(value, str):
                value = QUADRANTS[value]
            elif f == "quadrant" and isinstance(value, tuple):
                value = np.divide(value, np.linalg.norm(value))
            for x in value if f == "X_BS" else (value,):
                if isinstance(x, Expression) and not isinstance(x, StoredNumber):
                    return None
                out += entries(x)
        return out

    def values(self) -> SX:
        """All its numbers in a fixed order, a column."""
        out = []
        for thing, f in self._fields():
            value = getattr(thing, f)
            if f == "quadrant":
                out.append(thing.side())  # type: ignore[attr-defined]
                continue
            for x in value if f == "X_BS" else (value,):
                made = ca.vertcat(*x) if f == "range" else sx(x)
                out.append(ca.densify(ca.vec(made)))
        return ca.vertcat(ca.SX(0, 1), *out)

    def _fields(self) -> Iterator[tuple[Described, str]]:
        """The elements and fields with its numbers."""
        for p in self.points:
            if p.stays:  # moving points have their numbers in their functions
                yield p, "p"
                if hasattr(p, "range"):
                    yield p, "range"
        for w in self.wraps:
            yield w, "X_BS"
            for f, role in w.surface.roles():
                if role.kind == "quantity":
                    yield w.surface, f
            yield w.surface, "quadrant"

    def twin(self, numbers: SX, bodies: Sequence[str], coordinates: Sequence[str] = ()) -> Self:
        """This span with symbols for its numbers, shape (len(numbers),), and other names."""
        body, name = (
            dict(zip(self.bodies, bodies, strict=True)),
            dict(zip(self.coordinates, coordinates, strict=True)),
        )
        at = 0

        def take(value: Any) -> Any:
            nonlocal at
            shape = value.sx.shape if isinstance(value, Expression) else np.shape(value)
            n = int(np.prod(shape, dtype=int))
            at += n
            x = numbers[at - n : at]
            return Datum(ca.reshape(x, *shape) if len(shape) == 2 else x)

        made: dict[int, Any] = {}
        for thing, f in self._fields():
            twin = made.setdefault(id(thing), _copied(thing))
            value = getattr(thing, f)
            if f == "X_BS":
                kept: Any = tuple(take(x) for x in value)
            elif f == "range":
                kept = tuple(ca.vertsplit(take((0.0, 0.0)).sx))
            else:
                kept = take((0.0, 0.0, 0.0) if f == "quadrant" else value)
            object.__setattr__(twin, f, kept)
        for p in self.points:
            twin = made.setdefault(id(p), _copied(p))
            object.__setattr__(twin, "body", body[p.body])
            if p.names:
                known = tuple(name[q] for q in p.names)
                object.__setattr__(twin, "coordinate", known[0] if p.coordinates else known)
        for w in self.wraps:
            object.__setattr__(made[id(w)], "body", body[w.body])
            object.__setattr__(made[id(w)], "surface", made[id(w.surface)])
        new = replace(
            self, points=tuple(made[id(p)] for p in self.points), wraps=tuple(made[id(w)] for w in self.wraps)
        )
        object.__setattr__(new, "_twin_of", self)
        return new


def _copied(thing: Described) -> Any:
    twin = object.__new__(type(thing))
    for f in fields(thing):
        object.__setattr__(twin, f.name, getattr(thing, f.name))
    return twin


@dataclass(frozen=True, eq=False)
class Span(Twinned):
    """A part of a path that depends on nothing beyond its ends; its length [m]."""

    def ranges(self, rng: np.random.Generator) -> list[tuple[float, float]]:
        return [(0.1, 0.5)]

    @cached_property
    def parts(self) -> list[Leaf]:  # type: ignore[override]
        """Points, coordinates of moving and conditional points, then the body's rotation and the surface's
        origin of each wrap."""
        leaves: list[Leaf] = [p.position for p in self.points]
        leaves += [CoordinateValue(name) for name in self._switches]
        for w in self.wraps:
            leaves += [Rotation(w.body), StationPosition(w.body, _origin(w.X_BS))]
        return leaves

    @cached_property
    def _switches(self) -> list[str]:
        """Coordinates that decide which points are active."""
        return list(dict.fromkeys(name for p in self.points for name in p.coordinates))

    # ---- geometry ------------------------------------------------------------------------------------------

    def _active(self, y: Sequence[SX]) -> list[SX]:
        q = dict(zip(self._switches, y[len(self.points) :], strict=False))
        return [p.active([q[name] for name in p.coordinates]) for p in self.points]

    def _surface(self, k: int, y: Sequence[SX]) -> tuple[SX, SX]:
        """R_GS and the origin of S in ground, of a wrap."""
        at = len(self.points) + len(self._switches) + 2 * k
        return y[at] @ placed(self.wraps[k].X_BS)[0], y[at + 1]

    def _in_surface(self, k: int, y: Sequence[SX], X: Sequence[SX], active: Sequence[SX]) -> list[SX]:
        """All points in the frame S of a wrap. Those of its own body do not move there."""
        w = self.wraps[k]
        R_GS, o = self._surface(k, y)
        R_BS, p_BS = placed(w.X_BS)
        out: list[ca.SX] = []
        for i, p in enumerate(self.points):
            mine = R_BS.T @ (sx(p.p) - p_BS) if p.body == w.body and p.stays else R_GS.T @ (X[i] - o)
            out.append(ca.if_else(active[i], mine, out[-1]) if p.coordinates else mine)
        return out

    def _places(self, active: Sequence[SX], y: Sequence[SX]) -> list[SX]:
        """Points in ground; a point that is not active coincides with the one before it."""
        X: list[ca.SX] = []
        for i, p in enumerate(self.points):
            X.append(ca.if_else(active[i], y[i], X[-1]) if p.coordinates else y[i])
        return X

    @cached_property
    def meet(self) -> bool:
        """Whether several wraps may be on one piece."""
        return any(set(a) & set(b) for a, b in combinations(self.pieces, 2))

    def _usable(self, k: int, i: int, active: Sequence[SX]) -> SX:
        """Whether a wrap may be on a piece: its range begins at the first of its points that is active."""
        first = (self.wraps[k].between or (0,))[0] - self.offset
        before = range(max(first, 0), i + 1)
        if any(not self.points[j].coordinates for j in before):
            return ca.SX(1)
        return ca.sum1(ca.vertcat(*(active[j] for j in before))) > 0

    def rows(self, *y: SX) -> SX:
        """Results of the solvers, then whether points are active."""
        active = self._active(y)
        X = self._places(active, y)
        found = (
            self._chain(y, X, active)
            if self.meet
            else ca.vertcat(ca.SX(0, 1), *(self._wrap(k, y, X, active) for k in range(len(self.wraps))))
        )
        return ca.vertcat(found, *(a for a, p in zip(active, self.points, strict=True) if p.coordinates))

    def _wrap(self, k: int, y: Sequence[SX], X: Sequence[SX], active: Sequence[SX]) -> SX:
        """The row of a wrap, preceded by its piece if there are several."""
        surface, pieces, S = self.wraps[k].surface, self.pieces[k], self._in_surface(k, y, X, active)
        chosen, out = ca.SX(pieces[0]), ca.SX(0, 1)
        if len(pieces) > 1:
            rows = [surface.row(S[i], S[i + 1]) if surface.closed else ca.SX(0, 1) for i in pieces]
            best, least = ca.SX(NONE), ca.SX(np.inf)
            for i, row in zip(pieces, rows, strict=True):
                kind, more = (
                    (row[0], row[1] - length(S[i + 1] - S[i]))
                    if surface.closed
                    else surface.rule(S[i], S[i + 1])
                )
                kind = ca.if_else(self._usable(k, i, active), kind, NONE)
                better = all_of(
                    best != MANDATORY, any_of(kind == MANDATORY, all_of(kind == WRAPPED, more < least))
                )
                chosen, best, least = (
                    ca.if_else(better, a, b) for a, b in ((i, chosen), (kind, best), (more, least))
                )
            out = chosen
            if surface.closed:
                found = rows[0]
                for i, row in zip(pieces[1:], rows[1:], strict=True):
                    found = ca.if_else(chosen == i, row, found)
                return ca.vertcat(out, found)
        return ca.vertcat(out, surface.row(_at(S, pieces, chosen), _at(S[1:], pieces, chosen)))

    def _chain(self, y: Sequence[SX], X: Sequence[SX], active: Sequence[SX]) -> SX:
        """The result of multiple_wraps.py."""

        from condyle.paths.multiple_wraps import Chain

        frames = [self._surface(k, y) for k in range(len(self.wraps))]
        usable = [self._usable(k, i, active) for k, pieces in enumerate(self.pieces) for i in pieces]
        p = ca.vertcat(*X, *(ca.vertcat(ca.vec(R), o) for R, o in frames), *usable, self.values())
        if self.signature not in _CHAINS:
            span = getattr(self, "_twin_of", self)  # which has numbers and no symbols

            def surfaces(numbers: SX) -> list[Surface]:
                return [w.surface for w in span.twin(numbers, span.bodies, span.coordinates).wraps]

            memory = [w.surface.memory for w in self.wraps]
            chain = Chain(surfaces, self.pieces, self.never, len(self.points), memory)
            _CHAINS[self.signature] = chain.solver(p.numel())
        return look_up(_CHAINS[self.signature], p)[:-1]

    def expression(self, *y: SX) -> SX:
        found: list[ca.SX] = []
        if self.wraps or self._switches:
            found, y = ca.vertsplit(y[0]), y[1:]
        active = self._flags(found)
        X = self._places(active, y)
        straight = []
        for i, (a, b) in enumerate(pairwise(self.points)):
            fixed = a.body == b.body and a.fixed and b.fixed
            straight.append(length(sx(b.p) - sx(a.p)) if fixed else length(X[i + 1] - X[i]))
        L, taken = sum(straight, ca.SX(0)), iter(found)
        if self.meet:
            return self._over_several(L, taken, y, X, active, straight)
        for k, w in enumerate(self._wrapped(taken)):
            S, pieces = self._in_surface(k, y, X, active), self.pieces[k]
            A, B = _at(S, pieces, w.piece), _at(S[1:], pieces, w.piece)
            more = self.wraps[k].surface.over(A, B, w.row) - _at(straight, pieces, w.piece)
            L += ca.if_else(w.on, more, 0)  # (1)
        return L

    def _wrapped(self, taken: Iterator[SX]) -> Iterator[Wrapped]:
        """The place of each wrap, from the beginning of the rows."""
        for pieces in self.pieces:
            if self.meet:
                on, piece, before, after = ca.vertsplit(_next(taken, 4))
                yield Wrapped(on, piece, before, after, _next(taken, WIDTH))
            else:
                piece = next(taken) if len(pieces) > 1 else ca.SX(pieces[0])
                row = _next(taken, WIDTH)
                yield Wrapped(Segment.from_row(row[1:]).wrapped != 0, piece, ca.SX(-1), ca.SX(-1), row)

    def _flags(self, found: Sequence[SX]) -> list[SX]:
        """Whether points are active, from the end of the rows."""
        switched = [i for i, p in enumerate(self.points) if p.coordinates]
        active = [ca.SX(1)] * len(self.points)
        for i, flag in zip(reversed(switched), reversed(found), strict=False):
            active[i] = flag
        return active

    # ---- without derivatives -------------------------------------------------------------------------------

    def value(self, s: View) -> SX:
        return self._pulls(s).L if self._is_plain(s) else super().value(s)

    def rate(self, s: View) -> SX:
        if not self._is_plain(s):
            return super().rate(s)
        found = self._pulls(s)
        v = [dot(f, p.position.rate(s)) for p, f in zip(self.points, found.points, strict=True)]
        for w, (moment, force) in zip(self.wraps, found.wraps, strict=True):
            v.append(dot(moment, s.angular_velocity(w.body)))
            v.append(dot(force, s.station_velocity(w.body, sx(_origin(w.X_BS)))))
        return sum(v, ca.SX(0))

    def load(self, s: View, g: SX, loads: Loads) -> None:
        if not self._is_plain(s):
            super().load(s, g, loads)
            return
        found = self._pulls(s)
        for p, f in zip(self.points, found.points, strict=True):
            p.position.load(s, f @ g, loads)
        for w, (moment, force) in zip(self.wraps, found.wraps, strict=True):
            loads.add_torque(w.body, moment @ g)
            loads.add_force(w.body, sx(_origin(w.X_BS)), force @ g)

    def _is_plain(self, s: View) -> bool:
        """Whether a view needs no derivatives (dynamics/view.py), so that (4) suffices."""
        return getattr(s, "plain", False) and bool(self.wraps) and not self._switches

    def _pulls(self, s: View) -> Pulls:
        """The length and its first derivatives alone, by segment.py (4): a third of the operations."""
        name = f"pulls of {self.text}"
        if name not in s.known:
            taken = iter(ca.vertsplit(self.found(s)))
            X = [p.position.at(s) for p in self.points]
            r = [b - a for a, b in pairwise(X)]
            straight = [length(d) for d in r]
            first = [ca.if_else(l > 0, d * inverse(l), 0) for d, l in zip(r, straight, strict=True)]
            L, last, wraps = list(straight), list(first), []
            for k, w in enumerate(self._wrapped(taken)):
                g, (A, B) = w.segment, w.ends
                R = s.rotation(self.wraps[k].body) @ placed(self.wraps[k].X_BS)[0]
                e_in, e_out = R @ g.e_in, R @ g.e_out
                moment = R @ (cross(A, g.e_in) - cross(B, g.e_out))
                wraps.append(ca.if_else(w.on, ca.vertcat(moment, e_in - e_out), 0))
                for i in self.pieces[k]:
                    here = all_of(w.on, w.piece == i)
                    begins, ends = all_of(here, w.before < 0), all_of(here, w.after < 0)
                    first[i], last[i] = ca.if_else(begins, e_in, first[i]), ca.if_else(ends, e_out, last[i])
                    L[i] = ca.if_else(begins, 0, L[i])
                L.append(ca.if_else(w.on, g.L, 0))
            none = ca.SX.zeros(3)
            points = [a - b for a, b in zip([none, *last], [*first, none], strict=True)]
            s.known[name] = ca.vertcat(sum(L, ca.SX(0)), *points, *wraps)
        at, n = s.known[name], 1 + 3 * len(self.points)
        return Pulls(at[0], ca.vertsplit(at[1:n], 3), [(f[:3], f[3:]) for f in ca.vertsplit(at[n:], 6)])

    # ---- branches ------------------------------------------------------------------------------------------

    @cached_property
    def switches(self) -> list[str]:
        """Names of everything that may switch, for reports: its wraps, then its conditional points."""
        points = [f"point {i + self.offset}" for i, p in enumerate(self.points) if p.coordinates]
        return [repr(w.name or type(w.surface).__name__) for w in self.wraps] + points

    def branches(self, rows: SX) -> tuple[SX, SX]:
        """The branch of each switch, a column, and its normal, shape (3, switches).

        A wrap: 0 if the path does not go over it, else 1 + its piece, and n_P. A point:
                whether it is active.
        """
        code, n = [], []
        for w in self._wrapped(iter(ca.vertsplit(rows))):
            code.append(ca.if_else(w.on, 1 + w.piece, 0))
            n.append(ca.if_else(w.on, w.segment.n_P, 0))
        active = sum(1 for p in self.points if p.coordinates)
        code += ca.vertsplit(rows[rows.numel() - active :]) if active else []
        return ca.vertcat(*code), ca.horzcat(*n, ca.SX.zeros(3, active))

    def left_out(self, s: View) -> SX:
        """Whether no taut path over all surfaces was found, so that some are omitted; then for each whether
        the path goes over it."""
        rows = self.found(s)
        return ca.vertcat(self.left_out_of(rows), *(w.on for w in self._wrapped(iter(ca.vertsplit(rows)))))

    def left_out_of(self, rows: SX) -> SX:
        """The first result of `left_out`, from the rows."""
        return (
            rows[rows.numel() - 1 - sum(1 for p in self.points if p.coordinates)] if self.meet else ca.SX(0)
        )

    def touched(self, s: View) -> list[SX]:
        """Of each wrap, a column (TOUCHED,): whether the path goes over it; its place along the span (the
        piece, plus a fraction for its order on it); P, Q [m], e_in, e_out and the length of the arc [m], in
        S; R_GS by columns and S's origin in ground."""
        y, out = [part.shaped(part.at(s)) for part in self.parts], []
        for k, w in enumerate(self._wrapped(iter(ca.vertsplit(self.found(s))))):
            on, place = w.on if self.meet else w.row[0] > 0, w.piece + (w.before + 1) / 64
            g, (A, B), (R, o) = w.segment, w.ends, self._surface(k, y)
            arc = g.L - norm(g.P - A) - norm(B - g.Q)
            out.append(ca.vertcat(on, place, g.P, g.Q, g.e_in, g.e_out, arc, ca.vec(R), o))
        return out

    def _over_several(
        self,
        L: SX,
        taken: Iterator[SX],
        y: Sequence[SX],
        X: Sequence[SX],
        active: Sequence[SX],
        straight: Sequence[SX],
    ) -> SX:
        """(2)"""
        mine = list(self._wrapped(taken))
        gaps = [(_next(taken, 3), ca.reshape(_next(taken, 6), 3, 2)) for _ in self.wraps[1:]]
        n = 2 * len(gaps)
        W = ca.reshape(_next(taken, n * n), n, n)
        x = ca.SX.sym("x", n)
        at = [middle + T @ x[2 * j : 2 * j + 2] for j, (middle, T) in enumerate(gaps)]
        for k, w in enumerate(mine):
            pieces, (R, o) = self.pieces[k], self._surface(k, y)
            A, B = _at(X, pieces, w.piece), _at(X[1:], pieces, w.piece)
            for j, point in enumerate(at):
                A, B = ca.if_else(w.before == j, point, A), ca.if_else(w.after == j, point, B)
            first = ca.if_else(w.before < 0, _at(straight, pieces, w.piece), 0)
            more = self.wraps[k].surface.over(R.T @ (A - o), R.T @ (B - o), w.row) - first
            L += ca.if_else(w.on, more, 0)
        r = ca.substitute(ca.gradient(L, x), x, ca.SX.zeros(n))
        if any(w.surface.every_order for w in self.wraps):
            return ca.substitute(L, x, -W @ r)  # (3)
        return ca.substitute(L, x, ca.SX.zeros(n)) - dot(r, W @ r) / 2


@dataclass(frozen=True, eq=False)
class Wrapped:
    """The place of a wrap on its span, and its row.

    Attributes:
        on: whether the path goes over it.
        piece: its piece.
        before: the gap before it, counted along the span (multiple_wraps.py); -1 at a point of the path.
        after: the gap after it, counted in the same way.
        row: the rule's result, the segment, and its ends A, B in S.
    """

    on: ca.SX
    piece: ca.SX
    before: ca.SX
    after: ca.SX
    row: ca.SX

    @property
    def segment(self) -> Segment:
        return Segment.from_row(self.row[1:])

    @property
    def ends(self) -> list[SX]:
        """A and B in S."""
        return ca.vertsplit(self.row[WIDTH - 6 :], 3)


@dataclass(frozen=True, eq=False)
class Pulls:
    """The length of a span and its first derivatives, in ground.

    Attributes:
        L: length [m].
        points: dL/dX of each point.
        wraps: of each surface, by rotations of its body about the surface's origin [m], and by its place.
    """

    L: ca.SX
    points: list[ca.SX]
    wraps: list[tuple[ca.SX, ca.SX]]


TOUCHED = 27
"""Numbers of a wrap for drawing."""
_CHAINS: dict[Hashable, Solver] = {}
"""Solvers of spans with several surfaces, by signature."""


def _at(points: Sequence[SX], pieces: Sequence[int], chosen: SX) -> SX:
    out = points[pieces[0]]
    for i in pieces[1:]:
        out = ca.if_else(chosen == i, points[i], out)
    return out


def _next(taken: Iterator[SX], n: int) -> SX:
    return ca.vertcat(*islice(taken, n))


def _origin(X_BS: Any) -> Any:
    """p of a kept frame, as a station is kept."""
    p = tuple(X_BS)[1]
    return p if isinstance(p, (tuple, Expression)) else tuple(np.ravel(p).tolist())
