"""Spans: how paths are split, and one span that serves for all of its signature."""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle import paths
from condyle.models.arm26 import arm26, path
from condyle.native.tables.lookup import Closure
from condyle.paths.span import Span


def test_split():
    """What lies on one body is constant; a surface that can be on one piece only has a span of its own."""
    spans = {name: path(name).length.spans for name in arm26().muscles}
    sizes = {name: [(len(s.points), len(s.wraps)) for s in mine] for name, mine in spans.items()}
    assert sizes == {
        "TRIlong": [(5, 3)],
        "TRIlat": [(2, 1)],
        "TRImed": [(2, 1)],
        "BIClong": [(2, 1), (2, 0)],
        "BICshort": [(2, 0), (2, 0)],
        "BRA": [(2, 1)],
    }
    straight = paths.Path([("a", (0, 0, 0)), ("a", (3, 4, 0)), ("a", (3, 4, 1))]).length
    assert not straight.spans and float(straight.constant) == 6
    assert spans["TRIlat"][0].signature == spans["TRImed"][0].signature == spans["BRA"][0].signature
    assert spans["BIClong"][1].signature == spans["BICshort"][0].signature


def _span(rng: np.random.Generator, bodies: list[str], quadrant: str, coordinate: str) -> Span:
    p = [rng.normal(size=3) for _ in range(4)]
    points = [
        (bodies[0], p[0]),
        paths.ConditionalPoint(bodies[1], p[1], coordinate, (-rng.random(), 1)),
        (bodies[1], p[2]),
    ]
    wrap = paths.Wrap(paths.Cylinder(0.3 + rng.random(), quadrant=quadrant), bodies[1], p[3])
    return paths.Path(points, [wrap]).length.spans[0]


def test_one_serves_for_all_of_a_signature():
    """A twin with another's numbers and bodies has the other's length."""
    rng = np.random.default_rng(4)
    a, b = _span(rng, ["one", "two"], "x", "q"), _span(rng, ["ground", "thigh"], "-y", "knee")
    assert a.signature == b.signature != _span(rng, ["one", "one"], "x", "q").signature
    numbers = ca.SX.sym("numbers", len(b.numbers))
    twin = a.twin(numbers, b.bodies, b.coordinates)
    assert [part.label for part in twin.parts] == [part.label for part in b.parts]
    y = [rng.normal(size=part.size) for part in b.parts]

    def length(span: Span) -> float:
        at = [part.shaped(ca.SX(ca.DM(x))) for part, x in zip(span.parts, y, strict=True)]
        out = span.expression(span.rows(*at), *at)
        return float(Closure("length", [numbers], [out]).at(b.numbers)[0].item())

    assert length(twin) == length(b)
