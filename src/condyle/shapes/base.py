"""What a shape is: numbers, checked, and its surface as triangles."""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array, real
from condyle.errors import DescriptionError, ShapeError


class Shape:
    """A shape in a frame S of its own. Immutable."""

    def surface(self) -> tuple[Array, np.ndarray]:
        """Its surface as triangles, whose corners go around the outward normal by the right hand.

        Returns:
            Vertices in S [m], shape (n, 3), and triangles, their corners by index, shape (m, 3). What has no
            surface, a line, has none of either.
        """
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)


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
