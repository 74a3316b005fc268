"""Attachments of bodies without mechanical effect: markers, and geometry to draw."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import condyle.shapes as shapes
from condyle.arrays import Array, real
from condyle.errors import DescriptionError, ShapeError
from condyle.records import dataclass
from condyle.spatial import Transform


@dataclass(frozen=True)
class Marker:
    """A named point of a body, seen by cameras. Created by `System.add_marker`.

    Attributes:
        name: unique among markers.
        body: name of its body.
        station: its position in the body's frame [m].
        fixed: its position on the body is known well: fits of models to markers do not move it.
    """

    name: str
    body: str
    station: tuple[float, float, float]
    fixed: bool = False


@dataclass(frozen=True, eq=False)
class Geometry:
    """A shape drawn on a body. Created by `System.add_geometry`.

    Attributes:
        name: unique among geometry.
        body: name of its body.
        shape: to draw, in its frame S.
        X_BS: frame S on the body.
        color: as "#rrggbb"; None: that of its body.
        opacity: from 0, invisible, to 1.
    """

    name: str
    body: str
    shape: shapes.Shape
    X_BS: Transform
    color: str | None = None
    opacity: float = 1.0

    def scaled(self, factors: Array) -> Geometry:
        """The geometry on a body scaled by factors along its axes, shape (3,)."""
        if (factors == 1).all():
            return self
        along = np.linalg.norm(factors[:, None] * self.X_BS.R, axis=0)
        return replace(
            self, shape=self.shape.scaled(along), X_BS=Transform(self.X_BS.R, self.X_BS.p * factors)
        )


def marker(name: Any, body: str, station: Any, fixed: bool) -> Marker:
    """A marker from what a user gave, checked."""
    what = f"marker {name!r}: station"
    try:
        place = real(what, station, "three numbers")
    except ShapeError as error:
        raise DescriptionError(str(error)) from None
    if place.shape != (3,) or not np.isfinite(place).all():
        raise DescriptionError(
            f"{what} must be three finite numbers in the body's frame [m], got {station!r}"
        )
    return Marker(name, body, tuple(map(float, place)), bool(fixed))  # type: ignore[arg-type]


def geometry(name: str, body: str, shape: Any, X_BS: Any, color: Any, opacity: Any) -> Geometry:
    """Geometry from a user's arguments, checked."""
    what = f"geometry {name!r}"
    if not isinstance(shape, shapes.Shape):
        hint = (
            f"; write {shape.__name__}(...)"
            if isinstance(shape, type)
            else f"; write cd.shapes.Mesh({shape!r})"
            if isinstance(shape, str)
            else ""
        )
        raise DescriptionError(
            f"{what}: expected a shape such as cd.shapes.Sphere(0.02), got {shape!r}{hint}"
        )
    X = Transform.of(X_BS, f"{what}: X_BS")
    if not isinstance(X.p, np.ndarray) or X.p.ndim != 1:
        raise DescriptionError(f"{what}: X_BS must be one Transform of plain numbers")
    if isinstance(opacity, bool) or not isinstance(opacity, (int, float, np.number)) or not 0 <= opacity <= 1:
        raise DescriptionError(f"{what}: opacity is a number from 0 to 1, got {opacity!r}")
    return Geometry(name, body, shape, X, None if color is None else hex_color(what, color), float(opacity))


def hex_color(what: str, color: Any) -> str:
    """A color as "#rrggbb", from the same, a matplotlib name, or three numbers from 0 to 1."""
    if isinstance(color, str):
        from matplotlib.colors import to_hex

        try:
            return to_hex(color)
        except ValueError:
            pass
    else:
        try:
            given = real(what, color)
            if given.shape == (3,) and (given >= 0).all() and (given <= 1).all():
                return "#" + "".join(f"{round(255 * c):02x}" for c in given.tolist())
        except ShapeError:
            pass
    raise DescriptionError(
        f"{what}: color is a name as 'teal', text as '#00897b' or three numbers from 0 to 1, got {color!r}"
    )
