"""A path becomes a constant length and spans: where it is cut, and which surface may be on which piece."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import casadi as ca

from condyle.laws.described import placed, sx
from condyle.native.tables.lookup import Closure
from condyle.paths.points import Point, Wrap
from condyle.paths.round import NONE
from condyle.paths.segment import length
from condyle.paths.span import Span


def split(points: Sequence[Point], wraps: Sequence[Wrap]) -> tuple[ca.SX, list[Span]]:
    """A constant length [m], and the spans of a path."""
    pieces = _pieces(points, wraps)
    cuts = [0]
    for i in range(1, len(points)):
        tied = any(set(mine) & set(range(i)) and set(mine) & set(range(i, len(points))) for mine in pieces)
        if not points[i].coordinates and not tied:
            cuts.append(i)
    constant, spans = ca.SX(0), []
    for first, last in pairwise(cuts):
        mine = [
            (w, tuple(i - first for i in at), tuple(i - first for i in at if _never(w, *points[i : i + 2])))
            for w, at in zip(wraps, pieces, strict=True)
            if any(first <= i < last for i in at)
        ]
        ends = points[first : last + 1]
        if last == first + 1 and not mine and all(p.fixed for p in ends) and ends[0].body == ends[1].body:
            constant += length(sx(ends[1].p) - sx(ends[0].p))
        else:
            mine_wraps, at, never = zip(*mine, strict=True) if mine else ((), (), ())
            spans.append(Span(tuple(ends), mine_wraps, at, first, never))
    return constant, spans


def _pieces(points: Sequence[Point], wraps: Sequence[Wrap]) -> list[tuple[int, ...]]:
    """Where each wrap may be. Pieces on which no wrap can ever be are left out: both points are on the
    surface's own body, and the rule says no."""
    where = [set(range(*(w.between or (0, len(points) - 1)))) for w in wraps]
    for i in range(len(points) - 1):
        mine = [k for k, at in enumerate(where) if i in at]
        if all(_never(wraps[k], points[i], points[i + 1]) for k in mine):
            for k in mine:
                where[k].discard(i)
    return [tuple(sorted(at)) for at in where]


def _never(w: Wrap, a: Point, b: Point) -> bool:
    """Whether a surface is on the body of two points that never go over it."""
    if not (a.fixed and b.fixed and a.body == b.body == w.body):
        return False
    R, p = placed(w.X_BS)
    kind = w.surface.rule(R.T @ (sx(a.p) - p), R.T @ (sx(b.p) - p))[0]
    rule = Closure("rule", [], [kind])
    return not rule.outside.numel() and float(rule.at()[0].item()) == NONE
