"""Drawings of elements: joints, forces, constraints, wrap surfaces and contact surfaces.

The method `drawn` of an element gives its shapes. Here they get a place, a color and a list of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.contact import HalfSpace
from condyle.records import dataclass
from condyle.shapes import Drawing, Link, Shape
from condyle.spatial import Transform
from condyle.system.system import System
from condyle.trace.parameter import numbers_at
from condyle.viewer.layer import Layer, surfaces

COLORS = {
    "joints": "#7d8b99",
    "springs": "#d08a2f",
    "constraints": "#8a5bd0",
    "surfaces": "#6fb7c7",
    "contacts": "#9fb0bd",
}
"""Colors of shapes that elements draw, by list of the page."""
LEVEL = 1 - 1e-9
"""Cosine above which a plane is level."""


@dataclass(frozen=True, eq=False)
class ShapeOnBody:
    """A drawn shape on a body.

    Attributes:
        kind: in lists: "bodies", "joints", "inertias", "springs", "constraints", "surfaces" or "contacts".
        name: in lists and when picked.
        body: its number, ground is 0.
        shape: in its frame S.
        X_BS: S on the body.
        color: "#rrggbb".
        opacity: from 0 to 1.
        wide: extends beyond the scene, and is ignored for its size.
    """

    kind: str
    name: str
    body: int
    shape: Shape
    X_BS: Transform
    color: str
    opacity: float = 1.0
    wide: bool = False


@dataclass(frozen=True)
class LinkOfBodies:
    """A line between stations of two bodies: a rod, a spring, the way of a slider.

    Attributes:
        kind: in lists: "constraints", "springs" or "joints".
        name: of the constraint, force or body.
        a: number of one body, ground is 0.
        p_a: station on it [m].
        b: number of the other.
        p_b: station on it [m].
    """

    kind: str
    name: str
    a: int
    p_a: tuple[float, float, float]
    b: int
    p_b: tuple[float, float, float]


def body_numbers(system: System) -> dict[str, int]:
    """Number of each body by its name; ground is 0."""
    return {"ground": 0, **{b.name: b.index + 1 for b in system.bodies}}


def shapes_and_links(
    layer: Layer, reach: float, apart: float, around: float, up: Array
) -> tuple[list[ShapeOnBody], list[LinkOfBodies]]:
    """All shapes that elements draw.

    Args:
        layer: of the elements.
        reach: of the bodies, for joints and wrap surfaces [m].
        apart: how far bodies are apart, for constraints and forces [m].
        around: half the size of planes that may touch [m].
        up: unit vector in ground: the grid shows a level floor.
    """
    system = layer.system
    drawn: list[tuple[str, str, Drawing | Link]] = []
    drawn += ((kind, name, d) for kind, name, law in _laws(system) for d in law.drawn(apart))
    shapes = [*_joints(system, reach), *_wrapped(system, reach), *_touching(layer, around, up)]
    links, number = [], body_numbers(system)
    for kind, name, d in drawn:
        if isinstance(d, Link):
            a, b = number[d.a], number[d.b]
            links.append(LinkOfBodies(kind, name, a, _station(d.p_a), b, _station(d.p_b)))
        else:
            shapes.append(_placed(kind, name, number[d.body], d))
    for body in system.bodies:
        if 0 < body.mobilizer.nu < 6 and body.parent is not None and not body.parent.is_ground:
            ends = number[body.parent.name], _station(body.X_PF.p), body.index + 1, _station(body.X_BM.p)
            links.append(LinkOfBodies("joints", body.name, *ends))
    return shapes, links


def _laws(system: System) -> Iterator[tuple[str, str, Any]]:
    for name in system.constraints:
        yield "constraints", name, system.constraint(name)
    for name in system.forces:
        yield "springs", name, system.force(name)


def _placed(kind: str, name: str, body: int, d: Drawing, X: Transform | None = None) -> ShapeOnBody:
    place = d.X if X is None else X @ d.X
    return ShapeOnBody(kind, name, body, d.shape, place, COLORS[kind], d.opacity, d.wide)


def _joints(system: System, reach: float) -> Iterator[ShapeOnBody]:
    """Joints with a shape of their own, on the parent."""
    number = body_numbers(system)
    for body in system.bodies:
        if body.parent is not None:
            for d in body.mobilizer.drawn(reach):
                yield _placed("joints", f"{body.name}'s way", number[body.parent.name], d, body.X_PF)


def _wrapped(system: System, reach: float) -> Iterator[ShapeOnBody]:
    """Wrap surfaces, each once."""
    number, seen = body_numbers(system), set()
    for name in system.paths:
        law: Any = system.force(name)
        for wrap in law.path.wraps:
            if (key := wrap.description()) in seen:
                continue
            seen.add(key)
            R, p = (np.asarray(numbers_at(x), dtype=float) for x in wrap.X_BS)
            X = Transform(R.reshape(3, 3), p.reshape(3))
            for d in wrap.surface.drawn(reach):
                d = Drawing(d.shape, d.X, opacity=0.35)
                yield _placed("surfaces", wrap.name or f"{name}'s surface", number[wrap.body], d, X)


def _touching(layer: Layer, around: float, up: Array) -> Iterator[ShapeOnBody]:
    """Contact surfaces, each once; not a level floor, which the grid shows."""
    number, seen = body_numbers(layer.system), set()
    for name, surface in surfaces(layer):
        if isinstance(surface, HalfSpace) and is_floor(surface, up):
            continue
        called = surface.name or (f"{name}: {surface.body}" if name else surface.body)
        for d in surface.drawn(around):
            key = (surface.body, repr(d.shape), repr(surface.form), d.X.R.tobytes(), d.X.p.tobytes())
            if key not in seen:
                seen.add(key)
                yield _placed("contacts", called, number[surface.body], d)


def is_floor(plane: HalfSpace, up: Array) -> bool:
    """Whether a plane is level and fixed in ground."""
    return bool(plane.body == "ground" and plane.X_BS.R[:, 2] @ up > LEVEL)


def floor(found: Iterable[Any], up: Array) -> float | None:
    """Height of a plane of ground that is level [m], the highest of several; None without one."""
    planes = [s for s in found if isinstance(s, HalfSpace) and is_floor(s, up)]
    return max((float(s.X_BS.p @ up) for s in planes), default=None)


def _station(p: Any) -> tuple[float, float, float]:
    return tuple(map(float, np.ravel(p)))  # type: ignore[return-value]
