"""Laws along paths as rows of tables: any number of muscles takes a handful of kernels.

A path is a constant length and a sum of spans (paths/span.py). Each law has a row, and so has each span,
which is linked to its law and to the bodies that it touches. With W_i, what a unit force on the length of a
span exerts on body i, about M's origin, and V_i, the velocity of that body,

    laws: L = constant, v = 0  |  spans: l, W;  L += l,  v += sum of W_i . V_i                             (1)
    laws: T(L, v, z, inputs), zdot  |  spans: load of body i -= T W_i                                      (2)

A law is traced once for all of its class over symbols for its numbers, its length and its rate; a span is
traced once for all of its signature.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from condyle.dynamics.inertia import add, inner
from condyle.dynamics.kinematics import Pair
from condyle.errors import CondyleError
from condyle.forces.external import TimeSeries
from condyle.forces.path import PathLaw
from condyle.laws.described import Datum, placed, sx, text
from condyle.laws.leaves import Coordinate, Rotation, StationPosition
from condyle.model.looped.law_rows import FEWEST, RowLoads, frame_of
from condyle.native.sweeps.sweep import RowKernel
from condyle.paths.segment import Segment
from condyle.paths.span import Span
from condyle.trace.parameter import Discrete, Expression, Input, Parameter

if TYPE_CHECKING:
    from condyle.model.looped.tables import Draft, Looped
    from condyle.model.model import Model


# ---- laws --------------------------------------------------------------------------------------------------

class Number(Datum):
    """A number of the table in place of a number of a law; where one must be known, the first law's."""

    def __init__(self, symbol: ca.SX, sample: Any) -> None:
        super().__init__(symbol)
        self.sample = np.asarray(sample, dtype=float)

    def at(self, values: Mapping[str, float] | None = None) -> Any:
        return self.sample


class RowLength:
    """The length of a path that is known already, as a law in a table asks for it."""

    def __init__(self, L: ca.SX, v: ca.SX) -> None:
        self._L, self._v = L, v

    def at(self, s: Any) -> ca.SX:
        return self._L

    def rate(self, s: Any) -> ca.SX:
        return self._v


@dataclass(frozen=True)
class RowPath:
    """The path of a law in a table."""

    length: RowLength


class LawView:
    """The state as a law along a path sees it in a table: its own auxiliary states alone."""

    def __init__(self, z: ca.SX, names: Sequence[str]) -> None:
        self.z, self.names, self.known = z, list(names), dict[str, ca.SX]()

    def state_variable(self, k: int) -> ca.SX:
        return self.z[k]

    def state_named(self, name: str) -> ca.SX:
        return self.z[self.names.index(name)]


@dataclass(frozen=True, eq=False)
class PathKind:
    """Laws of one class, with the same choices.

    Attributes:
        law: one of them.
        members: places among the forces, and the laws.
        numbers: fields that differ from law to law.
        symbols: fields that are Inputs, Parameters or Discretes.
        signals: fields that are other expressions, or functions of time or of the state.
    """

    law: PathLaw
    members: tuple[tuple[int, PathLaw], ...]
    numbers: tuple[str, ...]
    symbols: tuple[str, ...]
    signals: tuple[str, ...]

    def columns(self) -> dict[str, np.ndarray]:
        """The numbers that differ, by field, shape (members, size)."""
        return {f: np.array([np.ravel(np.asarray(getattr(law, f), dtype=float), order="F")
                             for _, law in self.members]) for f in self.numbers}

    def twin(self, given: Mapping[str, ca.SX], L: ca.SX, v: ca.SX) -> PathLaw:
        """The law over symbols for its numbers, its length and the rate of that."""
        twin = object.__new__(type(self.law))
        for f in fields(self.law):
            value = getattr(self.law, f.name)
            if f.name in given:
                shape, x = np.shape(value) if f.name in self.numbers else (), given[f.name]
                if isinstance(value, Expression):
                    value = value.at()
                sample = value if f.name not in self.signals or isinstance(value, np.ndarray) else 0.5
                value = Number(ca.reshape(x, *shape) if len(shape) == 2 else x, np.squeeze(sample))
            object.__setattr__(twin, f.name, value)
        object.__setattr__(twin, "path", RowPath(RowLength(L, v)))
        return twin


def is_row(model: Model, law: PathLaw) -> bool:
    """Whether the path of a law is a sum of spans that may be rows."""
    length = law.path.length
    if getattr(length, "spans", None) is None:               # a path of a user
        return False
    placed = [model.placed[B] for body in length.bodies if (B := model.tree.body(body).index) >= 0]
    varying = any(isinstance(x, ca.SX) for body in placed for x in (body.R_MB, body.p_MB))
    return not varying and not ca.symvar(length.constant) and all(map(has_row, length.spans))


def _key(law: PathLaw) -> tuple[Any, ...]:
    """Laws with equal ones have the same equations."""
    roles, key = dict(law.roles()), list[Any]()
    for f in fields(law):
        if f.name != "path" and f.name not in law.at_start:
            value = getattr(law, f.name)
            source = _source(roles.get(f.name), value)
            key.append(text(value) if source == "choice" else source)
    return type(law), law.choices, tuple(name for name, _ in law.states), *key


def _source(role: Any, value: Any) -> str:
    """Where a row finds what a law has in a field: a "choice" is part of the equations."""
    if role is None or role.kind not in ("quantity", "signal") or role.plain:
        return "choice"
    if isinstance(value, Expression):
        alone = len(value.parameters) == 1 and value.sx.is_symbolic()
        return "symbol" if alone else "signal" if value.sx.is_scalar() else "choice"
    return "number" if isinstance(value, (int, float, tuple, np.ndarray)) else "signal"


def path_kinds(model: Model) -> list[PathKind]:
    """Laws along paths that are tables; the others remain a straight line."""
    if model not in _KINDS:
        _KINDS[model] = kinds_among(model, model.forces, FEWEST)
    return _KINDS[model]


_KINDS: WeakKeyDictionary[Model, list[PathKind]] = WeakKeyDictionary()

LAW, STRAIGHT, WRAPPED = 150, 200, 800
"""About what a law, a straight span and one with a surface or with points that come and go take in a straight
line."""


def span_size(span: Span) -> int:
    return WRAPPED if span.wraps or span.coordinates else STRAIGHT


def operations(kinds: Sequence[PathKind]) -> tuple[int, int]:
    """About what laws take in a straight line: all of them; one of each kind, and one span of each kind."""
    size: dict[Any, int] = {}
    total = 0
    for kind in kinds:
        for _, law in kind.members:
            total += LAW
            for span in law.path.length.spans:
                size[span.signature] = span_size(span)
                total += size[span.signature]
    return total, LAW * len(kinds) + sum(size.values())


def kinds_among(model: Model, names: Collection[str], fewest: int) -> list[PathKind]:
    """Tables of some forces, each of `fewest` or more laws along paths."""
    found: dict[Any, list[tuple[int, PathLaw]]] = {}
    for i, (name, law) in enumerate(model.forces.items()):
        if (name in names and isinstance(law, PathLaw) and type(law).apply is PathLaw.apply
                and is_row(model, law)):
            found.setdefault(_key(law), []).append((i, law))
    return [kind for members in found.values() if len(members) >= fewest
            and _traces(kind := _kind(members))]


def _kind(members: list[tuple[int, PathLaw]]) -> PathKind:
    law, found = members[0][1], dict[str, list[str]]()
    for f, role in law.roles():
        values = [getattr(each, f) for _, each in members]
        source = _source(role, values[0])
        if source != "number" or any(value != values[0] for value in values):
            found.setdefault(source, []).append(f)
    return PathKind(law, tuple(members), *(tuple(found.get(x, ())) for x in ("number", "symbol", "signal")))


def _traces(kind: PathKind) -> bool:
    """Whether the law's equations ask for nothing that a table does not have."""
    given = {f: ca.SX.sym(f, int(np.size(getattr(kind.law, f))) if f in kind.numbers else 1)
             for f in (*kind.numbers, *kind.symbols, *kind.signals)}
    view = LawView(ca.SX.sym("z", len(kind.law.states)), [name for name, _ in kind.law.states])
    try:
        twin = kind.twin(given, ca.SX.sym("L"), ca.SX.sym("v"))
        twin.tension(view)  # type: ignore[arg-type]
        twin.rates(view)  # type: ignore[arg-type]
        twin.potential(view)  # type: ignore[arg-type]
    except (AttributeError, TypeError, ValueError, RuntimeError, CondyleError):
        return False
    return True


# ---- spans -------------------------------------------------------------------------------------------------

class SpanView:
    """The state as a span in a table sees it: its bodies are links, its stations are in their frames M."""

    def __init__(self, d: Draft) -> None:
        self.d, self.known = d, dict[str, ca.SX]()

    def coordinate(self, name: str) -> ca.SX:
        return self.d.read(name, 1)

    def rotation(self, link: str) -> ca.SX:
        return self.d.get(link, "R")

    def from_M(self, link: str, p: Any) -> ca.SX:
        return self.d.get(link, "R") @ ca.SX(p)

    def station_position(self, link: str, p: Any) -> ca.SX:
        return self.d.get(link, "p") + self.from_M(link, p)


def has_row(span: Span) -> bool:
    """Whether a span may be a row: plain numbers, and it depends on poses of bodies alone."""
    return span.numbers is not None and all(
        isinstance(part, (StationPosition, Rotation, Coordinate)) for part in span.parts)


def _in_M(span: Span, frame: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Span:
    """The span with places in the bodies' frames M; R_MB and p_MB by body."""
    def moved(body: str, p: Any) -> np.ndarray:
        R, o = frame[body]
        return o + R @ np.asarray(p)

    points = [_changed(p, p=moved(p.body, p.p)) for p in span.points]
    wraps = [_changed(w, X_BS=(frame[w.body][0] @ np.asarray(R), moved(w.body, p)))
             for w in span.wraps for R, p in (w.X_BS,)]
    return _changed(span, points=tuple(points), wraps=tuple(wraps))


def _changed(thing: Any, **changes: Any) -> Any:
    """A copy with other fields, which are right."""
    twin = object.__new__(type(thing))
    for f in fields(thing):
        object.__setattr__(twin, f.name, changes.get(f.name, getattr(thing, f.name)))
    return twin


@dataclass(frozen=True, eq=False)
class SpanKind:
    """Spans of one signature.

    Attributes:
        span: one of them.
        members: rows of their laws, counted from the first law's, and the spans, in frames M.
    """

    span: Span
    members: tuple[tuple[int, Span], ...]

    @cached_property
    def links(self) -> tuple[str, ...]:
        return tuple(f"end{i}" for i in range(len(self.span.bodies)))

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        return tuple(f"switch{i}" for i in range(len(self.span.coordinates)))

    def traced(self, d: Draft, numbers: ca.SX, rows: str) -> tuple[ca.SX, dict[str, Pair], ca.SX]:
        """l and W of (1), and the rows of its solvers, which are found if `rows` is empty, else read."""
        twin, view = self.span.twin(numbers, self.links, self.coordinates), SpanView(d)
        if rows:
            twin.take(view, d.read(rows, self.row_size))  # type: ignore[arg-type]
        elif self.simple:
            return self._closed_form(twin, view)
        loads = RowLoads(view)  # type: ignore[arg-type]
        for part, J in twin.gradient(view):  # type: ignore[arg-type]
            if not isinstance(part, Coordinate):            # a coordinate switches, it does not move points
                part.load(view, J.T, loads)  # type: ignore[arg-type]
        return twin.at(view), loads.bodies, twin.found(view)  # type: ignore[arg-type]

    @property
    def simple(self) -> bool:
        """Whether it is one piece, straight or over one surface."""
        span = self.span
        return len(span.points) == 2 and len(span.wraps) < 2 and not span.coordinates

    def _closed_form(self, twin: Span, view: SpanView) -> tuple[ca.SX, dict[str, Pair], ca.SX]:
        """The same by segment.py (4), for use without derivatives: half of the operations."""
        (a, b), rows = twin.points, twin.found(view)  # type: ignore[arg-type]
        r_A, r_B = (view.from_M(p.body, sx(p.p)) for p in (a, b))
        A, B = view.d.get(a.body, "p") + r_A, view.d.get(b.body, "p") + r_B
        square = ca.sumsqr(B - A)
        L = ca.sqrt(square)
        e_in = e_out = ca.if_else(square > 0, (B - A) / L, 0)
        W: dict[str, Pair] = {}
        if not twin.wraps:
            W = {a.body: (ca.cross(r_A, -e_in), -e_in), b.body: (ca.cross(r_B, e_out), e_out)}
            return L, W, rows
        wrap, = twin.wraps
        segment, R_GS = Segment.of(rows[1:]), view.rotation(wrap.body) @ placed(wrap.X_BS)[0]
        wrapped = segment.wrapped != 0
        e_in, e_out = (ca.if_else(wrapped, R_GS @ x, e_in) for x in (segment.e_in, segment.e_out))
        for end, at, r, f in ((a, A, r_A, -e_in), (b, B, r_B, e_out)):
            if end.body != wrap.body:                        # else both forces are on one body
                other = ca.cross(at - view.d.get(wrap.body, "p"), -f), -f
                for link, F in ((end.body, (ca.cross(r, f), f)), (wrap.body, other)):
                    W[link] = add(W[link], F) if link in W else F
        return ca.if_else(wrapped, segment.L, L), W, rows

    @cached_property
    def row_size(self) -> int:
        return self.span.row_size


# ---- both --------------------------------------------------------------------------------------------------

class PathRows:
    """The rows of laws along paths and of their spans, and passes over them.

    Attributes:
        kinds: of laws.
        spans: kinds of spans.
        members: the laws, by their places among the forces.
    """

    def __init__(self, looped: Looped, kinds: Sequence[PathKind]) -> None:
        self.looped, self.kinds, model = looped, list(kinds), looped.model
        laws = [(i, law) for kind in kinds for i, law in kind.members]
        self.members = frozenset(i for i, _ in laws)
        frame = {body: frame_of(model, body) for body in dict.fromkeys(
            body for _, law in laws for body in law.path.length.bodies)}
        found: dict[Any, list[tuple[int, Span]]] = {}
        for k, (_, law) in enumerate(laws):
            for span in law.path.length.spans:
                found.setdefault(span.signature, []).append((k, _in_M(span, frame)))
        self.spans = [SpanKind(members[0][1], tuple(members)) for members in found.values()]
        self._add_rows(laws)

    def _add_rows(self, laws: Sequence[tuple[int, PathLaw]]) -> None:
        looped, model = self.looped, self.looped.model
        counts = [*(len(kind.members) for kind in self.kinds), *(len(kind.members) for kind in self.spans)]
        first = np.cumsum([len(looped.types), *counts])
        self.types = looped.fresh_type + np.arange(len(counts))
        self.first_law, self.rows = int(first[0]), slice(int(first[0]), int(first[0]) + len(laws))
        links: dict[str, dict[int, int]] = {"law": {}}
        for kind, start in zip(self.spans, first[len(self.kinds):], strict=False):
            for r, (k, span) in enumerate(kind.members, start=int(start)):
                links["law"][r] = self.first_law + k
                for link, body in zip(kind.links, span.bodies, strict=True):
                    links.setdefault(link, {})[r] = model.tree.body(body).index + 1
        looped.add_rows(np.repeat(self.types, counts), np.zeros(sum(counts), dtype=np.int64), links)
        for kind, start in zip(self.spans, first[len(self.kinds):], strict=False):
            for name, k in zip(kind.coordinates, range(len(kind.coordinates)), strict=True):
                at = [model.tree.coordinate_index(span.coordinates[k]) for _, span in kind.members]
                self._window(name, "q", int(start), at)
        switches = np.array([i for i, _ in laws])
        self._window("law_on", "tail", self.first_law, model.tail["enabled"].start + switches)
        before = np.cumsum([0, *(len(force.states) for force in model.forces.values())])[switches]
        given = dict((*looped.arguments, *looped.results))
        for name, argument, begin in (("law_z", "tail", model.tail["z"].start), ("law_zdot", "zdot", 0),
                                      ("law_d_z", "d_z", 0)):
            if argument in given:
                self._window(name, argument, self.first_law, begin + before)
        for k, alike in enumerate(self.kinds):
            for f, x in alike.columns().items():
                self._constant(f"path{k}.{f}", int(first[k]), x)
            for f in alike.symbols:
                self._window(f"path{k}_{f}", "tail", int(first[k]),
                             [_place(model, getattr(law, f).parameters[0]) for _, law in alike.members])
        constant = [[float(ca.evalf(ca.SX(law.path.length.constant)))] for _, law in laws]
        self._constant("path.constant", self.first_law, np.array(constant))
        for k, kind in enumerate(self.spans):
            self._constant(f"span{k}.numbers", int(first[len(self.kinds) + k]),
                           np.array([span.numbers for _, span in kind.members]))

    def _constant(self, name: str, first: int, x: np.ndarray) -> None:
        self.looped.constants[name] = table = np.zeros((len(self.looped.types), x.shape[1]))
        table[first:first + len(x)] = x

    def _window(self, name: str, argument: str, first: int, at: Any) -> None:
        """Where rows from `first` on begin in an argument; a window of this name may have others already."""
        known = self.looped.windows.get(name, (argument, np.zeros(len(self.looped.types), dtype=np.int64)))
        known[1][first:first + len(at)] = at
        self.looped.windows[name] = known

    # ---- passes

    def law_pass(self, write: Callable[[PathKind, Draft, PathLaw, LawView], None]) -> None:
        """A pass over the laws; the law's twin reads L and v of its row."""
        kernels = {}
        for k, (kind, t) in enumerate(zip(self.kinds, self.types, strict=False)):
            d = self.looped.draft()
            given = {f: d.read(f"constant.path{k}.{f}", x.shape[1]) for f, x in kind.columns().items()}
            given |= {f: d.read(f"path{k}_{f}", 1) for f in kind.symbols}
            given |= {f: d.read(f"me.{f}", 1) for f in kind.signals}
            names = [name for name, _ in kind.law.states]
            z = d.read("law_z", len(names)) if names else ca.SX(0, 1)
            write(kind, d, kind.twin(given, d.read("me.L", 1), d.read("me.v", 1)), LawView(z, names))
            kernels[int(t)] = RowKernel(d.reads, d.writes)
        self.looped.extra_pass(kernels)

    def span_pass(self, write: Callable[[SpanKind, Draft, ca.SX], dict[str, ca.SX]]) -> None:
        """A pass over the spans; `write` says what one adds to which field of its links, by place."""
        kernels = {}
        for k, (kind, t) in enumerate(zip(self.spans, self.types[len(self.kinds):], strict=True)):
            d = self.looped.draft()
            assert kind.span.numbers is not None
            adds = write(kind, d, d.read(f"constant.span{k}.numbers", len(kind.span.numbers)))
            kernels[int(t)] = RowKernel(d.reads, d.writes, adds)
        self.looped.extra_pass(kernels)

    def lengths(self, moving: bool = True) -> None:
        """(1): lengths, and if bodies move their rates. Spans keep W and the rows of their solvers; W_0 is W
        about one point p_0."""
        def begin(kind: PathKind, d: Draft, law: PathLaw, view: LawView) -> None:
            d.writes |= {"me.L": d.read("constant.path.constant", 1), "me.v": ca.SX.zeros(1, 1)}

        def span(kind: SpanKind, d: Draft, numbers: ca.SX) -> dict[str, ca.SX]:
            l, W, rows = kind.traced(d, numbers, "")
            d.writes |= {"me.W": wrenches(kind, W), "me.rows": ca.densify(rows)}
            p_0 = d.get(kind.links[0], "p")
            moved = {link: (n + ca.cross(d.get(link, "p") - p_0, f), f) for link, (n, f) in W.items()}
            d.writes |= {"me.W_0": wrenches(kind, moved), "me.p_0": p_0}
            adds = {"law.L": ca.densify(l)}
            if moving:
                adds["law.v"] = sum((inner(F, d.get(link, "V")) for link, F in W.items()), ca.SX(0))
            return adds

        self.law_pass(begin)
        self.span_pass(span)

    def tensions(self, forces: bool = True, rates: bool = False) -> None:
        """T and zdot of (2); of a law that is disabled both are zero."""
        def write(kind: PathKind, d: Draft, law: PathLaw, view: LawView) -> None:
            if forces:
                d.writes["me.tension"] = tension(d, law, view)
            if rates and kind.law.states:
                zdot = ca.vertcat(*law.rates(view))  # type: ignore[arg-type]
                d.writes["law_zdot"] = ca.densify(ca.if_else(d.read("law_on", 1), zdot, 0))

        self._write_signals()
        self.law_pass(write)

    def potentials(self, total: str, size: int) -> None:
        """Add potential energies to the last of a sum over all bodies."""
        def write(kind: PathKind, d: Draft, law: PathLaw, view: LawView) -> None:
            if (stored := law.potential(view)) is not None:  # type: ignore[arg-type]
                d.add(total, ca.vertcat(ca.SX(size - 1, 1), ca.if_else(d.read("law_on", 1), stored, 0)))

        self._write_signals()
        self.law_pass(write)

    def powers(self, result: str) -> None:
        """-T v of each law, as a result with one number per force."""
        def write(kind: PathKind, d: Draft, law: PathLaw, view: LawView) -> None:
            d.writes["law_power"] = -tension(d, law, view) * d.read("me.v", 1)

        places = [i for kind in self.kinds for i, _ in kind.members]
        self._window("law_power", result, self.first_law, places)
        self._write_signals()
        self.law_pass(write)

    def _write_signals(self) -> None:
        """A straight line for what laws have of expressions and of functions of time or of the state."""
        from condyle.model.looped.between import StraightLine

        row = {i: (self.first_law + r, kind) for r, (i, kind) in enumerate(
            (i, kind) for kind in self.kinds for i, _ in kind.members)}
        line, writes = StraightLine(self.looped), dict[Any, ca.SX]()
        for i, (_, law, view) in enumerate(line.laws()):
            if i in row:
                writes |= {(row[i][0], f): ca.densify(_signal(getattr(law, f), view))
                           for f in row[i][1].signals}
        line.write(writes)

    def push(self, into: str, sign: int) -> None:
        """Add sign times the loads of (2) to a field of the bodies."""
        def span(kind: SpanKind, d: Draft, numbers: ca.SX) -> dict[str, ca.SX]:
            T, W = d.read("law.tension", 1), d.read("me.W", 6 * len(kind.links))
            return {f"{link}.{into}": -sign * T * W[6 * i:6 * i + 6] for i, link in enumerate(kind.links)}

        self.span_pass(span)


    def crossed(self) -> Iterator[tuple[int, int, list[float]]]:
        """Each row of a span with a body that has speeds and that it crosses, and for each of its ends 1 if
        that is on the body or beyond, else 0: not all are equal."""
        tree = self.looped.model.tree
        beyond = {B: frozenset(tree.path(B)) for B in tree.base_to_tip} | {-1: frozenset[int]()}
        for kind, t in zip(self.spans, self.types[len(self.kinds):], strict=True):
            rows = np.flatnonzero(self.looped.types == t).tolist()
            for row, (_, span) in zip(rows, kind.members, strict=True):
                ends = [beyond[tree.body(body).index] for body in span.bodies]
                for B in sorted(frozenset.union(*ends) - frozenset.intersection(*ends)):
                    if tree.speeds_of(B):
                        yield row, B, [float(B in end) for end in ends]


def tension(d: Draft, law: PathLaw, view: LawView) -> ca.SX:
    """T of a law in a table; zero if it is disabled."""
    return ca.if_else(d.read("law_on", 1), law.known(view, law.tension(view)), 0)  # type: ignore[arg-type]


def asks_for_state(law: PathLaw) -> bool:
    """Whether some field is a function of the state, so that not all derivatives are in the table."""
    values = [getattr(law, f) for f, _ in law.roles()]
    return any(hasattr(value, "asks") for value in values)


def wrenches(kind: SpanKind, W: Mapping[str, Pair]) -> ca.SX:
    """W of all bodies of a span below each other, dense."""
    none = ca.SX(3, 1), ca.SX(3, 1)
    return ca.densify(ca.vertcat(*(x for link in kind.links for x in W.get(link, none))))


def _signal(value: Any, s: Any) -> ca.SX:
    """What a field holds at a state."""
    if isinstance(value, Expression):
        return value.sx
    return value(s.t) if isinstance(value, TimeSeries) else value.at(s)


def _place(model: Model, parameter: Parameter) -> int:
    """Where a parameter, an input or a discrete variable is in the tail."""
    tree = model.tree
    name, registry = {Input: ("inputs", tree.inputs), Discrete: ("discrete", tree.discrete)}.get(
        type(parameter), ("parameters", tree.parameters))
    return model.tail[name].start + registry.names.index(parameter.name)
