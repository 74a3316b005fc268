"""OpenSim's ScapulothoracicJoint as mobilizers in series, and back.

Its ellipsoid's frame is turned by 90 degrees about z; then the scapula wings about an axis d = (-sin w, cos
w, 0) of it through the point o = (o_x, o_y, 0).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from condyle.functions import Linear
from condyle.mobilizers import Ellipsoid, FunctionBased, Mobilizer, compose
from condyle.mobilizers.compose import Composition
from condyle.records import dataclass
from condyle.spatial import Transform, rotation_about

QUARTER = rotation_about((0.0, 0.0, 1.0), math.pi / 2)


@dataclass(frozen=True)
class Scapulothoracic:
    """The numbers of a ScapulothoracicJoint.

    Attributes:
        radii: of the thorax [m].
        origin: o_x and o_y [m].
        direction: w [rad].
    """

    radii: tuple[Any, Any, Any]
    origin: tuple[float, float]
    direction: float

    @property
    def frames(self) -> tuple[Transform, Transform]:
        """Poses of F and M in the joint's frames on the thorax and on the scapula."""
        return Transform(QUARTER), Transform(p=(*self.origin, 0.0))

    @property
    def mobilizer(self) -> Mobilizer:
        """From the ellipsoid's moving frame back to the scapula's, to the axis, about it."""
        a, b, c = self.radii
        winging = FunctionBased(
            ("winging",),
            angles=(-math.pi / 2, Linear(1.0), None),
            translations=tuple(float(x) for x in QUARTER.T @ np.array((*self.origin, 0.0))),
            axes=("z", (-math.sin(self.direction), math.cos(self.direction), 0.0), "z"),
        )
        return compose(Ellipsoid((b, a, c), coordinates="euler"), winging)


def scapulothoracic(m: Mobilizer) -> Scapulothoracic | None:
    """The numbers of a mobilizer that is such a joint; None of others."""
    if not isinstance(m, Composition) or not isinstance(m.a, Ellipsoid) or not isinstance(m.b, FunctionBased):
        return None
    thorax, winging = m.a, m.b
    if thorax.quaternions or thorax.normal or len(winging.coordinates) != 1 or winging.time:
        return None
    values = [*winging.angles, *winging.translations]
    numbers = [0.0 if x is None else x for i, x in enumerate(values) if i != 1]
    axes = np.array(winging.axes)
    if values[1] != Linear(1.0) or not all(isinstance(x, (int, float)) for x in numbers):
        return None
    d, offset = axes[1], QUARTER @ np.array(numbers[2:])
    if (
        numbers[0] != -math.pi / 2
        or numbers[1] != 0
        or d[2] != 0
        or offset[2] != 0
        or not np.array_equal(axes[[0, 3, 4, 5]], np.eye(3)[[2, 0, 1, 2]])
    ):
        return None
    radii: Any = thorax.radii
    b, a, c = radii
    return Scapulothoracic((a, b, c), (float(offset[0]), float(offset[1])), float(math.atan2(-d[0], d[1])))
