"""User data drawn with a motion: measured markers and arrows of forces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import ExplainsCalls
from condyle.arrays import Array, real
from condyle.errors import DescriptionError, ShapeError, warn
from condyle.records import assign, dataclass
from condyle.studies.external_load import ExternalLoad
from condyle.studies.motion.motion import Motion
from condyle.table import Table, distinct
from condyle.viewer.layer import Layer


@dataclass(frozen=True, eq=False)
class MeasuredMarkers:
    """Measured markers.

    Attributes:
        names: one per marker.
        positions: in ground [m], at the frames of the layer, shape (m, n, 3); NaN where missing.
    """

    names: list[str]
    positions: Array


def measured(markers: Any, t: Array) -> MeasuredMarkers:
    """Markers at the frames nearest to some times; NaN at times outside of the recording.

    Args:
        markers: from `cd.read_markers`: `time` (T,), `names`, `positions` (T, n, 3) [m].
        t: [s], shape (m,).
    """
    if not all(hasattr(markers, name) for name in ("time", "names", "positions")):
        raise DescriptionError(
            "show: markers: expected markers as cd.read_markers gives them, with time, "
            f"names and positions, got {type(markers).__name__}"
        )
    time, positions = np.asarray(markers.time, dtype=float), np.asarray(markers.positions, dtype=float)
    names = [str(name) for name in markers.names]
    if positions.shape != (len(time), len(names), 3):
        raise ShapeError(
            f"show: markers: positions must have shape {(len(time), len(names), 3)}, got {positions.shape}"
        )
    warn_of_times("markers", time, t)
    return MeasuredMarkers(names, _nearest(time, positions.reshape(len(time), -1), t).reshape(len(t), -1, 3))


def warn_of_times(what: str, time: Array, t: Array) -> None:
    """Warn if data shown with a motion has none of its times."""
    if len(time) and len(t) > 1 and (time[-1] < t[0] or time[0] > t[-1]):
        warn(
            f"show: {what}: they are from {time[0]:g} to {time[-1]:g} s, the motion from {t[0]:g} "
            f"to {t[-1]:g} s: none is shown; are they of another trial?"
        )


def _nearest(time: Array, values: Array, t: Array) -> Array:
    """Rows (T, n) at the times nearest to t (m,); NaN farther than a step outside of them."""
    if not len(time):
        return np.full((len(t), values.shape[1]), np.nan)
    right = np.clip(np.searchsorted(time, t), 0, len(time) - 1)
    left = np.maximum(right - 1, 0)
    i = np.where(np.abs(time[left] - t) < np.abs(time[right] - t), left, right)
    step = np.median(np.diff(time)) if len(time) > 1 else 0.0
    out = values[i].copy()
    out[np.abs(time[i] - t) > 1.01 * step + 1e-9] = np.nan
    return out


def errors(seen: MeasuredMarkers | None, places: dict[str, Array], t: Array) -> list[tuple[Table, list[str]]]:
    """Distances between markers of the model and measured ones, as columns: root mean square and greatest of
    each frame, then each marker.

    Args:
        seen: the measured markers.
        places: of the model's markers in ground [m], shape (m, 3) each.
        t: [s], shape (m,).
    """
    names = [] if seen is None else [name for name in seen.names if name in places]
    if seen is None or not names:
        return []
    at = [seen.names.index(name) for name in names]
    e = 1e3 * np.linalg.norm(
        seen.positions[:, at] - np.stack([places[name] for name in names], axis=1), axis=2
    )
    known = np.isfinite(e)
    some = np.where(known.any(axis=1), 1.0, np.nan)
    rms = some * np.sqrt((np.where(known, e, 0.0) ** 2).sum(axis=1) / np.maximum(known.sum(axis=1), 1))
    most = some * np.where(known, e, 0.0).max(axis=1)
    columns = ["markers.rms_error", "markers.max_error", *(f"{name}.error" for name in names)]
    values = np.column_stack([rms, most, e])
    return [(Table(t, distinct(columns), values, ["mm"] * len(columns)), ["markers"] * 2 + names)]


# ---- arrows ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Arrows(ExplainsCalls):
    """Arrows over time, for `cd.show(..., arrows=[...])`: forces where they act.

    Args:
        name: in lists and when picked.
        time: [s], shape (T,).
        points: where they begin, in ground [m], shape (T, 3).
        vectors: in ground, shape (T, 3); NaN or zero where no arrow is drawn.
        unit: of the vectors.
        kind: the list of the page that has it: "forces", or "pushes" for contact forces.
    """

    name: str
    time: ArrayLike
    points: ArrayLike
    vectors: ArrayLike
    unit: str = "N"
    kind: str = "forces"

    def __post_init__(self) -> None:
        what = f"Arrows {self.name!r}"
        time = real(f"{what}: time", self.time)
        points, vectors = (real(f"{what}: {name}", getattr(self, name)) for name in ("points", "vectors"))
        if time.ndim != 1 or points.shape != (len(time), 3) or vectors.shape != (len(time), 3):
            raise ShapeError(
                f"{what}: expected time (T,), points (T, 3) and vectors (T, 3), got "
                f"{time.shape}, {points.shape} and {vectors.shape}"
            )
        assign(self, time=time, points=points, vectors=vectors)

    def at(self, t: Array) -> Array:
        """Points and vectors at some times [s], shape (m, 6)."""
        rows: Any = np.concatenate([self.points, self.vectors], axis=1)  # type: ignore[arg-type]
        time: Any = self.time
        return _nearest(time, rows, t)


def arrows(given: Any, layer: Layer) -> list[Arrows]:
    """Arrows from the user's Arrows and ExternalLoads."""
    out: list[Arrows] = []
    for item in given if isinstance(given, Sequence) and not isinstance(given, str) else [given]:
        if isinstance(item, Arrows):
            warn_of_times("arrows", real("arrows", item.time), layer.t)
            out.append(item)
        elif isinstance(item, ExternalLoad):
            out.append(_of_load(item, layer))
        else:
            raise DescriptionError(
                "show: arrows: expected Arrows of condyle.viewer or a cd.ExternalLoad, got "
                f"{type(item).__name__}"
                + (
                    "; loads from a file are cd.read_external_loads(path)"
                    if isinstance(given, (str, Path))
                    else ""
                )
            )
    return out


def columns_of_arrows(given: list[Arrows], t: Array) -> list[tuple[Table, list[str]]]:
    """Components of forces from the user, in ground, as columns."""
    if not given:
        return []
    columns = [f"{a.name}.{axis}" for a in given for axis in "xyz"]
    values = np.concatenate([a.at(t)[:, 3:] for a in given], axis=1)
    units = [a.unit for a in given for _ in range(3)]
    return [(Table(t, distinct(columns), values, units), [a.name for a in given for _ in range(3)])]


def _of_load(load: ExternalLoad, layer: Layer) -> Arrows:
    """The force of a load, from the point where it acts."""
    system, t = layer.system, layer.t
    warn_of_times("arrows", np.asarray(load.table.time), t)
    inside = (t >= load.table.time[0] - 1e-9) & (t <= load.table.time[-1] + 1e-9)
    point, force = (np.full((len(t), 3), np.nan) for _ in range(2))
    if inside.any():
        zeros = np.zeros((int(inside.sum()), system.nu))
        motion = Motion(system, t[inside], layer.batch.array("q")[inside], zeros, zeros)
        point[inside], force[inside], _ = load.acting(motion)
    name = load.body if isinstance(load.body, str) else load.body.name
    return Arrows(f"load on {name}", t, point, force)
