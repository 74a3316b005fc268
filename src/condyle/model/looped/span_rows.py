"""Spans of paths that one kernel serves: kinds of spans, and what a span sees in its row (path_rows.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.dynamics.inertia import add
from condyle.dynamics.kinematics import Pair
from condyle.laws.described import placed, sx
from condyle.laws.leaves import CoordinateValue, Rotation, StationPosition
from condyle.model.looped.law_rows import RowLoads
from condyle.paths.segment import Segment
from condyle.paths.span import Span
from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.model.looped.draft import Draft


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
        isinstance(part, (StationPosition, Rotation, CoordinateValue)) for part in span.parts
    )


def in_M(span: Span, frame: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Span:
    """The span with places in the bodies' frames M; R_MB and p_MB by body."""

    def moved(body: str, p: Any) -> np.ndarray:
        R, o = frame[body]
        return o + R @ np.asarray(p)

    points = [_changed(p, p=moved(p.body, p.p)) for p in span.points]
    wraps = [
        _changed(w, X_BS=(frame[w.body][0] @ np.asarray(R), moved(w.body, p)))
        for w in span.wraps
        for R, p in (w.X_BS,)
    ]
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
            if not isinstance(part, CoordinateValue):  # a coordinate switches, it does not move points
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
        (wrap,) = twin.wraps
        segment, R_GS = Segment.of(rows[1:]), view.rotation(wrap.body) @ placed(wrap.X_BS)[0]
        wrapped = segment.wrapped != 0
        e_in, e_out = (ca.if_else(wrapped, R_GS @ x, e_in) for x in (segment.e_in, segment.e_out))
        for end, at, r, f in ((a, A, r_A, -e_in), (b, B, r_B, e_out)):
            if end.body != wrap.body:  # else both forces are on one body
                other = ca.cross(at - view.d.get(wrap.body, "p"), -f), -f
                for link, F in ((end.body, (ca.cross(r, f), f)), (wrap.body, other)):
                    W[link] = add(W[link], F) if link in W else F
        return ca.if_else(wrapped, segment.L, L), W, rows

    @cached_property
    def row_size(self) -> int:
        return self.span.row_size
