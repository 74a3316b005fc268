"""Sizes of a subject's bodies from distances between markers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from condyle.arguments import ExplainsCalls
from condyle.arrays import Array, real
from condyle.errors import DescriptionError, ShapeError, UnknownNameError
from condyle.io.markers import Markers
from condyle.records import dataclass
from condyle.system.system import System
from condyle.trace.parameter import is_number_like

AXES = "xyz"


@dataclass(frozen=True)
class Measurement(ExplainsCalls):
    """A measure of a subject: the mean of distances between pairs of markers, by which some bodies are
    scaled.

    Args:
        name: name of the measured segment, such as "thigh".
        pairs: pairs of markers, [("R.ASIS", "R.Knee.Lat"), ...].
        bodies: names of the bodies that it scales along all axes, or {name: axes}, such as {"torso": "y"}.
    """

    name: str
    pairs: Sequence[tuple[str, str]]
    bodies: Mapping[str, str] | Iterable[str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        what = f"Measurement {self.name!r}"
        pairs = [tuple(p) if isinstance(p, (tuple, list)) else (p,) for p in self.pairs]
        if not pairs or any(len(p) != 2 or not all(isinstance(m, str) for m in p) for p in pairs):
            raise DescriptionError(
                f"{what}: pairs: expected pairs of markers' names, [('R.ASIS', 'R.Knee')], got {self.pairs!r}"
            )
        given = (self.bodies,) if isinstance(self.bodies, str) else self.bodies
        bodies = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given, AXES)
        for body, axes in bodies.items():
            bodies[body] = "".join(str(axes).lower().split())
            if not bodies[body] or set(bodies[body]) - set(AXES):
                raise DescriptionError(f"{what}: axes of {body!r}: expected some of 'xyz', got {axes!r}")
        object.__setattr__(self, "pairs", tuple(pairs))
        object.__setattr__(self, "bodies", bodies)


@dataclass(frozen=True)
class Measured:
    """The result of a measurement for one pair.

    Attributes:
        name: name of the measurement.
        pair: names of the two markers.
        model: their distance in the model's default pose [m].
        subject: their mean distance in the data [m].
        factor: subject over model.
    """

    name: str
    pair: tuple[str, str]
    model: float
    subject: float

    @property
    def factor(self) -> float:
        return self.subject / self.model


def measure(
    measurement: Measurement, places: Mapping[str, Array], markers: Markers, rows: slice
) -> list[Measured]:
    """Distances of a measurement's pairs.

    Args:
        places: places of the model's markers in ground [m].
        markers: the measured markers.
        rows: frames to average.
    """
    out = []
    for a, b in measurement.pairs:
        for name in (a, b):
            what = f"scale: measurement {measurement.name!r}"
            if name not in places:
                raise UnknownNameError("marker of the model", name, places, what)
            if name not in markers.names:
                raise UnknownNameError("marker of the data", name, markers.names, what)
        model = float(np.linalg.norm(places[a] - places[b]))
        apart = np.linalg.norm(markers[a][rows] - markers[b][rows], axis=1)
        seen = np.isfinite(apart)
        if not seen.any():
            raise DescriptionError(
                f"scale: measurement {measurement.name!r}: {a!r} and {b!r} are never seen together "
                f"between {markers.time[rows][0]:g} and {markers.time[rows][-1]:g} s"
            )
        if not model > 0 or not apart[seen].mean() > 0:
            raise DescriptionError(
                f"scale: measurement {measurement.name!r}: {a!r} and {b!r} are at one place "
                f"{'of the model' if not model > 0 else 'in the data'}: their distance measures "
                "nothing"
            )
        out.append(Measured(measurement.name, (a, b), model, float(apart[seen].mean())))
    return out


def frames(markers: Markers, time: Any) -> slice:
    """Rows from the last at or before the start to the first at or after the end, as in OpenSim."""
    if time is None:
        return slice(0, len(markers.time))
    try:
        start, end = (float(x) for x in time)
    except (TypeError, ValueError):
        start = end = np.nan
    if not start <= end:
        raise DescriptionError(f"scale: time: expected (start, end) [s], got {time!r}")
    t = markers.time
    if end < t[0] or start > t[-1]:
        raise DescriptionError(
            f"scale: time: {start:g} to {end:g} s lies outside of the data, {t[0]:g} to {t[-1]:g} s"
        )
    first = max(int(np.searchsorted(t, start, side="right")) - 1, 0)
    last = min(int(np.searchsorted(t, end, side="left")), len(t) - 1)
    return slice(first, last + 1)


def manual(system: System, given: Mapping[str, Any]) -> dict[str, Array]:
    """Factors given by a user, one number or three per body."""
    out = {}
    if not isinstance(given, Mapping):
        raise DescriptionError(f"scale: factors: expected {{body: factor}}, got {given!r}")
    for name, value in given.items():
        body = system.body(name)
        if is_number_like(value):
            three = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value] * 3
            if len(three) != 3 or body.is_ground:
                raise DescriptionError(
                    f"scale: factors of {name!r}: expected one cd.Parameter, or three along x, y, z"
                    f"{', and ground has no size' if body.is_ground else ''}, got {value!r}"
                )
            out[body.name] = np.array(three, dtype=object)
            continue
        try:
            factors = np.broadcast_to(real(f"scale: factors of {name!r}", value), 3).astype(float)
        except (ShapeError, ValueError):
            factors = np.full(3, np.nan)
        if not (factors > 0).all() or not np.isfinite(factors).all():
            raise DescriptionError(
                f"scale: factors of {name!r}: expected one number above 0, or three along x, y, z, "
                f"got {value!r}"
            )
        if body.is_ground:
            raise DescriptionError("scale: factors: ground has no size")
        out[body.name] = factors
    return out
