"""What describes a span, and many spans as rows of a table.

Spans of equal `signature` have the same equations: only their numbers, their bodies and their coordinates
differ. So one of them serves for all of them:

    twin = span.twin(numbers, bodies, coordinates)      # symbols (len(span.numbers),), names of links
    twin.at(view), twin.rate(view), twin.load(view, g, loads)

with a view whose bodies and coordinates are the links by these names: `span.bodies[i]` of each member is
where its link i goes, `span.coordinates[i]` its coordinate i, and `span.numbers` is its row of numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, Self

import casadi as ca
import numpy as np

from condyle.laws.described import Datum, Described, sx, text
from condyle.laws.leaf import Composed
from condyle.paths.points import Point, Wrap
from condyle.paths.surfaces import QUADRANTS
from condyle.records import dataclass
from condyle.trace.parameter import Expression, Parameter


@dataclass(frozen=True, eq=False)
class Twinned(Composed):
    """Points and surfaces of a part of a path; one set of equations for all with the same signature.

    Attributes:
        points: in order; the first and the last are always active.
        wraps: surfaces, in the order in which they are tried.
        pieces: of each wrap, where it may be: piece i is between points i and i + 1.
        offset: how many points of the path come before.
        never: of each wrap, those of its pieces that do not move against it and never go over it, unless
            another surface brings them to it.
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
        """All coordinates that it asks for."""
        return tuple(dict.fromkeys(name for p in self.points for name in (*p.coordinates, *p.names)))

    @cached_property
    def signature(self) -> Hashable:
        """Spans with equal ones differ in numbers, bodies and coordinates alone."""
        body = {name: i for i, name in enumerate(self.bodies)}
        name = {name: i for i, name in enumerate(self.coordinates)}
        return (
            tuple((p.signature, body[p.body], tuple(name[q] for q in p.names)) for p in self.points),
            tuple((w.surface.signature, body[w.body]) for w in self.wraps),
            self.pieces,
            self.never,
        )

    @cached_property
    def numbers(self) -> list[float] | None:
        """All its numbers in a fixed order; None if some are Parameters."""
        out: list[float] = []  # as `values`, without expressions
        for thing, f in self._fields():
            value = getattr(thing, f)
            if f == "quadrant" and isinstance(value, str):
                value = QUADRANTS[value]
            elif f == "quadrant" and isinstance(value, tuple):
                value = np.divide(value, np.linalg.norm(value))
            for x in value if f == "X_BS" else (value,):
                if isinstance(x, Expression):
                    return None
                out += np.ravel(np.asarray(x, dtype=float), order="F").tolist()
        return out

    def values(self) -> ca.SX:
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
        """What holds its numbers."""
        for p in self.points:
            if p.stays:  # what moves has its numbers in its functions
                yield p, "p"
                if hasattr(p, "range"):
                    yield p, "range"
        for w in self.wraps:
            yield w, "X_BS"
            for f, role in w.surface.roles():
                if role.kind == "quantity":
                    yield w.surface, f
            yield w.surface, "quadrant"

    def twin(self, numbers: ca.SX, bodies: Sequence[str], coordinates: Sequence[str] = ()) -> Self:
        """The same with symbols for its numbers, shape (len(numbers),), and other names."""
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
