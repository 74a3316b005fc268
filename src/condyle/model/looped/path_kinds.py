"""Kinds of laws along paths, and of spans, that share one kernel, and the state that they see in a row
(path_rows.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.dynamics.inertia import add
from condyle.dynamics.kinematics import Pair
from condyle.errors import CondyleError
from condyle.forces.path import PathLaw
from condyle.laws.described import Datum, StoredNumber, entries, placed, sx, text
from condyle.laws.leaves import CoordinateValue, Rotation, StationPosition
from condyle.model.looped.law_rows import FEWEST, PoseView, RowLoads, changed
from condyle.paths.segment import Segment
from condyle.paths.span import Span
from condyle.records import dataclass
from condyle.trace.parameter import Expression

if TYPE_CHECKING:
    from condyle.model.looped.draft import KernelDraft
    from condyle.model.model import Model

# ---- spans


class SpanView(PoseView):
    """The state for a span in a table."""

    def coordinate(self, name: str) -> SX:
        return self.d.read(name, 1)


def has_row(span: Span) -> bool:
    """Whether a span can be a row: it has plain numbers and depends only on poses of bodies."""
    return span.numbers is not None and all(
        isinstance(part, (StationPosition, Rotation, CoordinateValue)) for part in span.parts
    )


def in_M(span: Span, frame: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Span:
    """The span with stations in the bodies' frames M. frame: R_MB and p_MB by body."""

    def moved(body: str, p: Any) -> Any:
        if isinstance(p, StoredNumber):
            return p.in_M
        R, o = frame[body]
        return o + R @ np.asarray(p)

    def placed(wrap: Any) -> Any:
        return wrap.X_BS

    points = tuple(changed(p, {"p": moved(p.body, p.p)}) for p in span.points)
    wraps = tuple(
        changed(w, {"X_BS": (frame[w.body][0] @ np.asarray(R), moved(w.body, p))})
        for w in span.wraps
        for R, p in (placed(w),)
    )
    return changed(span, {"points": points, "wraps": wraps})


@dataclass(frozen=True, eq=False)
class SpanKind:
    """Spans of one signature.

    Attributes:
        span: one of them.
        members: the spans, in frames M, with the rows of their laws, counted from the first law.
    """

    span: Span
    members: tuple[tuple[int, Span], ...]

    @cached_property
    def links(self) -> tuple[str, ...]:
        return tuple(f"end{i}" for i in range(len(self.span.bodies)))

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        return tuple(f"switch{i}" for i in range(len(self.span.coordinates)))

    def traced(self, d: KernelDraft, numbers: SX, rows: SX | None = None) -> tuple[SX, dict[str, Pair], SX]:
        """l and W of (1), and the rows of its solvers, which are computed unless given."""
        twin, view = self.span.twin(numbers, self.links, self.coordinates), SpanView(d)
        if rows is not None:
            twin.take(view, rows)  # type: ignore[arg-type]
        elif self.simple:
            return self._closed_form(twin, view)
        loads = RowLoads(view)
        for part, J in twin.gradient(view):  # type: ignore[arg-type]
            if not isinstance(part, CoordinateValue):  # a coordinate switches points, but does not move them
                part.load(view, J.T, loads)  # type: ignore[arg-type]
        return twin.at(view), loads.bodies, twin.found(view)  # type: ignore[arg-type]

    @property
    def simple(self) -> bool:
        """Whether it is one piece, straight or over one surface."""
        span = self.span
        return len(span.points) == 2 and len(span.wraps) < 2 and not span.coordinates

    def _closed_form(self, twin: Span, view: SpanView) -> tuple[SX, dict[str, Pair], SX]:
        """The same by segment.py (4), for use without derivatives, with half as many operations."""
        (a, b), rows = twin.points, twin.found(view)  # type: ignore[arg-type]
        r_A, r_B = (view.from_M(p.body, sx(p.p)) for p in (a, b))
        A, B = view.d.row(a.body).p + r_A, view.d.row(b.body).p + r_B
        square = ca.sumsqr(B - A)
        L = ca.sqrt(square)
        e_in = e_out = ca.if_else(square > 0, (B - A) / L, 0)
        W: dict[str, Pair] = {}
        if not twin.wraps:
            W = {a.body: (ca.cross(r_A, -e_in), -e_in), b.body: (ca.cross(r_B, e_out), e_out)}
            return L, W, rows
        (wrap,) = twin.wraps
        segment, R_GS = Segment.from_row(rows[1:]), view.rotation(wrap.body) @ placed(wrap.X_BS)[0]
        wrapped = segment.wrapped != 0
        e_in, e_out = (ca.if_else(wrapped, R_GS @ x, e_in) for x in (segment.e_in, segment.e_out))
        for end, at, r, f in ((a, A, r_A, -e_in), (b, B, r_B, e_out)):
            if end.body != wrap.body:  # else both forces are on one body
                other = ca.cross(at - view.d.row(wrap.body).p, -f), -f
                for link, F in ((end.body, (ca.cross(r, f), f)), (wrap.body, other)):
                    W[link] = add(W[link], F) if link in W else F
        return ca.if_else(wrapped, segment.L, L), W, rows


# ---- laws


class TableNumber(Datum):
    """A number of the table that replaces a number of a law. Where a value is needed, it is that of the
    first law."""

    def __init__(self, symbol: SX, sample: Any) -> None:
        super().__init__(symbol)
        self.sample = np.asarray(sample, dtype=float)

    def at(self, values: Mapping[str, float] | None = None) -> Any:
        return self.sample


class RowLength:
    """The known length of a path, for a law in a table."""

    def __init__(self, L: SX, v: SX) -> None:
        self._L, self._v = L, v

    def at(self, s: Any) -> SX:
        return self._L

    def rate(self, s: Any) -> SX:
        return self._v


@dataclass(frozen=True)
class RowPath:
    """The path of a law in a table."""

    length: RowLength


class LawView:
    """The state for a law along a path in a table, with only its own auxiliary states."""

    smooth = False

    def __init__(self, z: SX, names: Sequence[str]) -> None:
        self.z, self.names, self.known = z, list(names), dict[str, ca.SX]()

    def state_variable(self, k: int) -> SX:
        return self.z[k]

    def state_named(self, name: str) -> SX:
        return self.z[self.names.index(name)]


@dataclass(frozen=True, eq=False)
class PathKind:
    """Laws of one class that make the same choices.

    Attributes:
        law: one of them.
        members: places among the forces, and the laws.
        numbers: fields whose numbers differ from law to law.
        symbols: fields that are Inputs, Parameters or Discretes.
        signals: fields that are other expressions, or functions of time or of the state.
    """

    law: PathLaw
    members: tuple[tuple[int, PathLaw], ...]
    numbers: tuple[str, ...]
    symbols: tuple[str, ...]
    signals: tuple[str, ...]

    def columns(self) -> dict[str, np.ndarray]:
        """The numbers that differ between laws, by field, shape (members, size)."""
        return {f: np.array([entries(getattr(law, f)) for _, law in self.members]) for f in self.numbers}

    def twin(self, given: Mapping[str, SX], L: SX, v: SX) -> PathLaw:
        """The law as a function of symbols for its numbers, its length and the rate of its length."""
        changes: dict[str, Any] = {"path": RowPath(RowLength(L, v))}
        for name, x in given.items():
            value = getattr(self.law, name)
            shape = np.shape(value) if name in self.numbers else ()
            if isinstance(value, Expression):
                value = value.at()
            sample = value if name not in self.signals or isinstance(value, np.ndarray) else 0.5
            changes[name] = TableNumber(ca.reshape(x, *shape) if len(shape) == 2 else x, np.squeeze(sample))
        return changed(self.law, changes)


def is_row(model: Model, law: PathLaw) -> bool:
    """Whether the path of a law is a sum of spans that can be rows."""
    length = law.path.length
    if not hasattr(length, "constant"):  # a function of coordinates, or a path of a user
        return False
    varying = any(model.varies(body, "R_MB", "p_MB") for body in length.bodies)
    fixed = length.stored is not None or not ca.symvar(length.constant)
    return not varying and fixed and all(map(has_row, length.spans))


def _key(law: PathLaw) -> tuple[Any, ...]:
    """A key: laws with equal keys have the same equations."""
    roles, key = dict(law.roles()), list[Any]()
    for f in fields(law):
        if f.name != "path" and f.name not in law.at_start:
            value = getattr(law, f.name)
            source = _source(roles.get(f.name), value)
            key.append(text(value) if source == "choice" else source)
    return type(law), law.choices, tuple(name for name, _ in law.states), *key


def _source(role: Any, value: Any) -> str:
    """Source of a law's field in a row: a "choice" is part of the equations."""
    if role is None or role.kind not in ("quantity", "signal") or role.plain:
        return "choice"
    if isinstance(value, StoredNumber):
        return "number"
    if isinstance(value, Expression):
        alone = len(value.parameters) == 1 and value.sx.is_symbolic()
        return "symbol" if alone else "signal" if value.sx.is_scalar() else "choice"
    return "number" if isinstance(value, (int, float, tuple, np.ndarray)) else "signal"


def path_kinds(model: Model) -> list[PathKind]:
    """Laws along paths that become tables; the others remain a straight line."""
    if model not in _KINDS:
        _KINDS[model] = kinds_among(model, model.forces, FEWEST)
    return _KINDS[model]


_KINDS: WeakKeyDictionary[Model, list[PathKind]] = WeakKeyDictionary()

LAW, STRAIGHT, WRAPPED = 150, 200, 800
"""Approximate operations in straight-line code of a law, a straight span and one with a surface or
conditional points.
"""


def span_size(span: Span) -> int:
    return WRAPPED if span.wraps or span.coordinates else STRAIGHT


def operations(kinds: Sequence[PathKind]) -> tuple[int, int]:
    """Approximate operations in straight-line code: of all laws; and of one law and one span of each kind."""
    size: dict[Any, int] = {}
    total = 0
    for kind in kinds:
        for _, law in kind.members:
            total += LAW
            for span in law.path.length.spans:
                size[span.signature] = span_size(span)
                total += size[span.signature]
    return total, LAW * len(kinds) + sum(size.values())


def kinds_among(
    model: Model, names: Collection[str], fewest: int, traced: Callable[[Any, Any], Any] | None = None
) -> list[PathKind]:
    """Tables of some forces, each with at least `fewest` laws along paths. With `traced`, a function that
    evaluates a law with a view, path lengths are given, and paths of any kind are possible."""
    found: dict[Any, list[tuple[int, PathLaw]]] = {}
    for i, (name, law) in enumerate(model.forces.items()):
        if (
            name in names
            and isinstance(law, PathLaw)
            and (traced is not None or (type(law).apply is PathLaw.apply and is_row(model, law)))
        ):
            found.setdefault(_key(law), []).append((i, law))
    return [
        kind
        for members in found.values()
        if len(members) >= fewest and _traces(kind := _kind(members), traced or _loads)
    ]


def _kind(members: list[tuple[int, PathLaw]]) -> PathKind:
    law, found = members[0][1], dict[str, list[str]]()
    for f, role in law.roles():
        values = [getattr(each, f) for _, each in members]
        source = _source(role, values[0])
        if source != "number" or any(value != values[0] for value in values):
            found.setdefault(source, []).append(f)
    return PathKind(law, tuple(members), *(tuple(found.get(x, ())) for x in ("number", "symbol", "signal")))


def _loads(law: Any, view: Any) -> None:
    """Quantities of a law that forces and energies need."""
    law.tension(view)
    law.rates(view)
    law.potential(view)


def _traces(kind: PathKind, traced: Callable[[Any, Any], Any]) -> bool:
    """Whether a table provides everything that the law's equations need."""
    given = {
        f: ca.SX.sym(f, int(np.size(getattr(kind.law, f))) if f in kind.numbers else 1)
        for f in (*kind.numbers, *kind.symbols, *kind.signals)
    }
    view = LawView(ca.SX.sym("z", len(kind.law.states)), [name for name, _ in kind.law.states])
    try:
        traced(kind.twin(given, ca.SX.sym("L"), ca.SX.sym("v")), view)
    except (AttributeError, TypeError, ValueError, RuntimeError, CondyleError):
        return False
    return True
