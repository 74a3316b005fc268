"""What a shape is: numbers, checked, and its surface as triangles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, is_dataclass
from typing import Any, ClassVar, cast

import numpy as np

from condyle.arguments import ExplainsCalls
from condyle.arrays import Array, real
from condyle.errors import DescriptionError, ShapeError
from condyle.records import dataclass
from condyle.spatial import Transform


class Shape(ExplainsCalls):
    """A shape in a frame S of its own, to draw. Immutable: a dataclass whose numbers are lengths above zero,
    one or three."""

    call_hints: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("color", "opacity"), "it is an argument of system.add_geometry(body, shape)"
    )

    def __post_init__(self) -> None:
        for f in fields(cast(Any, self)):
            check = positive if f.type == "float" else triple
            object.__setattr__(self, f.name, check(type(self).__name__, f.name, getattr(self, f.name)))

    def __repr__(self) -> str:
        own: list[str] = [f.name for f in fields(self)] if is_dataclass(self) else []
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in own)
        return f"shapes.{type(self).__name__}({shown})"

    def surface(self) -> tuple[Array, np.ndarray]:
        """Its surface as triangles, whose corners go around the outward normal by the right hand.

        Returns:
            Vertices in S [m], shape (n, 3), and triangles, their corners by index, shape (m, 3). What has no
            surface, a line, has none of either.
        """
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)

    def scaled(self, factors: Array) -> Shape:
        """The shape on a body of another size; unchanged for shapes that do not define scaling.

        Args:
            factors: along x, y, z of S, shape (3,).
        """
        return self


@dataclass(frozen=True, eq=False)
class Drawing:
    """A shape that an element draws: what its method `drawn` returns.

    Attributes:
        shape: in a frame S of its own.
        X: frame S in the element's frame: that of the body, of a joint's F, of a surface.
        body: name of the body, for elements between bodies.
        opacity: from 0 to 1.
        wide: goes on beyond the scene, and does not say how large that is.
    """

    shape: Shape
    X: Transform = field(default_factory=Transform)
    body: str = ""
    opacity: float = 1.0
    wide: bool = False


@dataclass(frozen=True)
class Link:
    """A straight line between stations of two bodies that an element draws: a rod, a spring.

    Attributes:
        a: name of one body.
        p_a: station on it [m].
        b: name of the other.
        p_b: station on it [m].
    """

    a: str
    p_a: tuple[float, float, float]
    b: str
    p_b: tuple[float, float, float]


def positive(shape: str, what: str, value: Any) -> float:
    """A finite number above zero, from what a user gave."""
    try:
        number = real(f"{shape}: {what}", value, "one number")
    except ShapeError as error:
        raise DescriptionError(str(error)) from None
    if number.ndim or not np.isfinite(number) or not number > 0:
        raise DescriptionError(f"{shape}: {what} must be one finite number above zero [m], got {value!r}")
    return float(number)


def triple(shape: str, what: str, value: Any, above_zero: bool = True) -> tuple[float, float, float]:
    """Three finite numbers, from what a user gave; all above zero if asked."""
    numbers = points(shape, what, value, (3,))
    if above_zero and not (numbers > 0).all():
        raise DescriptionError(f"{shape}: {what} must be three numbers above zero [m], got {value!r}")
    return tuple(map(float, numbers))  # type: ignore[return-value]


def points(shape: str, what: str, value: Any, wanted: tuple[int, ...]) -> Array:
    """Finite numbers of a shape where -1 is any count, as a read-only array of their own."""
    try:
        array = np.array(real(f"{shape}: {what}", value))
    except ShapeError as error:
        raise DescriptionError(str(error)) from None
    if array.ndim != len(wanted) or any(w not in (-1, n) for w, n in zip(wanted, array.shape, strict=True)):
        text = str(wanted).replace("-1", "n")
        raise DescriptionError(f"{shape}: {what} must have shape {text}, got {array.shape}")
    if not np.isfinite(array).all():
        raise DescriptionError(f"{shape}: {what} has a number that is not finite")
    array.flags.writeable = False
    return array
