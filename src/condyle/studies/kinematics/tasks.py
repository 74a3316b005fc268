"""The tasks of inverse kinematics: markers, sensors and coordinates to follow, with their weights, as goals.

With e_m the distance of a marker from its place on the model, phi_s the angle between a sensor and its place,
and w(t) the weights, a frame has the cost of OpenSim's tools,

    sum_m w_m |e_m|^2 / (2 W_m)  +  sum_s w_s phi_s^2 / (2 W_s)  +  sum_c w_c (q_c - v_c)^2 / 2            (1)

where W_m and W_s are the sums of w_m and w_s over the measurements of that frame. So the first two terms are
weighted means: multiplying the weights of all markers by ten changes nothing, and a coordinate of weight
w_c costs as much as w_c markers with all the weight. NaN means not measured and has no weight.

Arguments of `cd.inverse_kinematics` become tasks: names are matched, weights and targets are interpolated to
the times of the frames, and invalid ones raise an error.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array, gaps, real
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, check_name, warn
from condyle.fit.configurations import Configurations
from condyle.fit.goals import Coordinate, Goal, Orientation, Station
from condyle.presentation import cut
from condyle.records import dataclass
from condyle.studies.motion.coordinate_columns import CoordinateColumns
from condyle.studies.motion.recorded import check_times
from condyle.studies.motion.spline_rates import spline
from condyle.system.system import System
from condyle.table import Table, after_events

Rows = slice | NDArray[np.intp]
"""Indices of frames."""
ALL = slice(None)


@dataclass(frozen=True, eq=False)
class MarkerTasks:
    """Markers that a system has and that were measured, in the order of the data.

    Attributes:
        names: their names in the model.
        bodies: name of the body of each.
        stations: their places in the frame of the body [m], shape (n, 3).
        positions: measured positions, in ground [m], shape (T, n, 3); NaN where a marker was not seen.
        weights: shape (T, n), zero where a marker was not seen.
        not_measured: markers of the model that have no data.
        not_in_model: markers of the data that the model does not have.
    """

    names: tuple[str, ...]
    bodies: tuple[str, ...]
    stations: Array
    positions: Array
    weights: Array
    not_measured: tuple[str, ...] = ()
    not_in_model: tuple[str, ...] = ()

    def goals(self, system: System, rows: Rows) -> list[Goal]:
        """The goals of (1) for markers, for some frames. Markers on ground count in W, but cannot be
        improved."""
        w, x = _shares(self.weights[rows]).T, self.positions[rows].transpose(1, 0, 2)
        ground = {body for body in set(self.bodies) if system.body(body).is_ground}
        return [
            Station.unchecked(*given)
            for given in zip(self.bodies, self.stations, x, w, self.names, strict=True)
            if given[0] not in ground
        ]

    def places(self, at: Configurations) -> Array:
        """Positions of the markers on the model, shape (T, n, 3)."""
        return at.station_positions(self.bodies, self.stations)


@dataclass(frozen=True, eq=False)
class SensorTasks:
    """Sensors of orientation on bodies, in the order of the data.

    Attributes:
        names: names of the sensors.
        bodies: name of the body of each.
        R_BS: their orientation on the bodies, shape (n, 3, 3).
        R_GS: measured orientations, shape (T, n, 3, 3); NaN where a sensor was not measured.
        weights: shape (T, n), zero where a sensor was not measured.
        not_placed: sensors of the data that are not mounted on a body.
    """

    names: tuple[str, ...]
    bodies: tuple[str, ...]
    R_BS: Array
    R_GS: Array
    weights: Array
    not_placed: tuple[str, ...] = ()

    def goals(self, rows: Rows) -> list[Goal]:
        """The goals of (1) for sensors, for some frames."""
        w = _shares(self.weights[rows])
        R_GB = self.R_GS[rows] @ np.swapaxes(self.R_BS, -1, -2)
        return [
            Orientation(body, R_GB[:, k], weight=w[:, k], name=name)
            for k, (name, body) in enumerate(zip(self.names, self.bodies, strict=True))
        ]

    def places(self, at: Configurations) -> Array:
        """R_GS of the model, shape (T, n, 3, 3)."""
        return np.stack(
            [at.rotation(body) @ R for body, R in zip(self.bodies, self.R_BS, strict=True)], axis=1
        )


@dataclass(frozen=True, eq=False)
class Tasks:
    """All tasks of an inverse kinematics.

    Attributes:
        system: the system with these markers, bodies and coordinates.
        t: times of the frames [s], shape (T,).
        markers: see MarkerTasks.
        sensors: see SensorTasks.
        coordinates: {name: (values, weights)}, shapes (T,).
        others: further goals.
    """

    system: System
    t: Array
    markers: MarkerTasks | None
    sensors: SensorTasks | None
    coordinates: Mapping[str, tuple[Array, Array]]
    others: Sequence[Goal] = ()

    def goals(self, rows: Rows = ALL) -> list[Goal]:
        """The goals with cost (1), for some frames."""
        out = self.markers.goals(self.system, rows) if self.markers is not None else []
        out += self.sensors.goals(rows) if self.sensors is not None else []
        out += [
            Coordinate(name, value[rows], weight=weight[rows], name=name)
            for name, (value, weight) in self.coordinates.items()
        ]
        here = np.arange(len(self.t))[rows]
        return out + [g if g.frames is None else _chosen(g, here) for g in self.others]

    @cached_property
    def measured(self) -> NDArray[np.int64]:
        """Number of markers and sensors measured in each frame, shape (T,)."""
        seen = np.zeros(len(self.t), dtype=np.int64)
        for part in (self.markers, self.sensors):
            if part is not None:
                seen += (part.weights > 0).sum(axis=1)
        return seen


def _shares(w: Array) -> Array:
    """w / W of each frame, zero in frames without measurements."""
    W = w.sum(axis=1, keepdims=True)
    return np.divide(w, W, out=np.zeros_like(w), where=W > 0)


def _chosen(goal: Goal, frames: NDArray[np.intp]) -> Goal:
    """A goal restricted to some of its frames."""
    out, weight = goal.frame(0), np.asarray(goal.weight)
    if goal.target.ndim > len(goal.shape):
        out._set(**{goal.about: goal.target[frames]})
    if weight.ndim:
        out._set(weight=weight[frames])
    return out


WHO = "inverse_kinematics"
NEAR = 0.6
"""Similarity of names above which one is suggested for the other."""
HELD, MOVED = 5, 0.02
"""A marker that does not change by a digit for this many steps, while others on its body move this far [m],
has a filled gap."""


def marker_data(markers: Any, t: Any) -> tuple[Array, tuple[str, ...], Array]:
    """Measured times (T,), names (n,) and positions (T, n, 3)."""
    if isinstance(markers, Mapping):
        names = tuple(map(str, markers))
        if not names:
            raise DescriptionError(f"{WHO}: markers: the mapping is empty")
        arrays = [_positions(name, markers[name]) for name in markers]
        counts = {len(x) for x in arrays}
        if len(counts) > 1:
            raise ShapeError(
                f"{WHO}: markers have different numbers of frames: "
                f"{', '.join(f'{n} {len(x)}' for n, x in zip(names, arrays))}"
            )
        positions = np.stack(arrays, axis=1)
        if t is None:
            raise DescriptionError(
                f"{WHO}: markers in a mapping need times: t=times [s], shape ({len(positions)},)"
            )
        time = times(t, len(positions))
    elif all(hasattr(markers, name) for name in ("time", "names", "positions")):
        names, positions = tuple(markers.names), np.asarray(markers.positions, dtype=float)
        if t is not None:
            raise DescriptionError(f"{WHO}: t: these markers have their own times; omit t")
        time = times(markers.time, len(positions))
    else:
        path = isinstance(markers, str) or hasattr(markers, "__fspath__")
        hint = "; read it with cd.read_markers(path)" if path else ""
        raise DescriptionError(
            f"{WHO}: markers: expected cd.Markers, as cd.read_markers gives them, or "
            f"{{name: positions (T, 3)}}, got {type(markers).__name__}{hint}"
        )
    if np.isinf(positions).any():
        k = int(np.argwhere(np.isinf(positions))[0][1])
        raise ShapeError(f"{WHO}: marker {names[k]!r} has infinite positions; NaN marks missing values")
    return time, names, positions


def _positions(name: Any, value: Any) -> Array:
    x = np.array(real(f"{WHO}: marker {name!r}", gaps(value)))
    if x.ndim != 2 or x.shape[1] != 3 or not len(x):
        raise ShapeError(f"{WHO}: marker {name!r}: expected positions [m] of shape (T, 3), got {x.shape}")
    return x


def times(t: Any, count: int) -> Array:
    """The times [s], checked to be finite, increasing and one per frame."""
    try:
        out = np.array(real("t", t))
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{WHO}: times: {error}") from None
    if out.shape != (count,) or not np.isfinite(out).all():
        raise ShapeError(
            f"{WHO}: times must be {count} finite numbers [s], one per frame, got shape {out.shape}"
        )
    return check_times(WHO, out)


# ---- markers -----------------------------------------------------------------------------------------------


def marker_tasks(
    system: System,
    markers: Any,
    times: Any,
    weights: Any,
    names: Mapping[str, str] | None,
    places: Mapping[str, Any] | None = None,
) -> tuple[Array, MarkerTasks]:
    """Times (T,), and the markers that both the system and the data have, with their weights."""
    t, data, positions = marker_data(markers, times)
    called = _called(system, data, names)
    columns, twice, missing, extra = _matched(system.markers, tuple(data), tuple(called))
    if twice:
        raise DescriptionError(
            f"{WHO}: the data has marker {twice[0]!r} twice{'; see names=' if names else ''}"
        )
    if not columns:
        raise UnknownNameError(
            "markers",
            cut(data),
            system.markers,
            f"{WHO}: the model and the data have no "
            "marker in common"
            + _near(missing, extra)
            + (
                ""
                if system.markers
                else ": cd.read_osim(path, add='markers.xml') adds an "
                "OpenSim marker set, system.add_marker(name, body, station) one marker"
            )
            + "; names={name in the data: name in the model} matches them",
        )
    _warn_of_spelling(missing, extra)
    given = weights_over(t, "weights", "marker", weights, {*system.markers, *data, *called})
    w = np.ones((len(t), len(columns)))
    for k, column in enumerate(columns):
        w[:, k] = given.get(called[column], 1.0)
    wanted = np.flatnonzero((w > 0).any(axis=0))  # a weight of zero leaves a marker out
    used, w = [columns[k] for k in wanted], w[:, wanted]
    positions = positions[:, used]
    _warn_of_zeros([called[k] for k in used], positions)
    absent = np.isnan(positions)
    w[absent[..., 0] | absent[..., 1] | absent[..., 2]] = 0.0
    if not w.any():
        raise ShapeError(f"{WHO}: no marker was seen and has a weight in any frame: all are NaN or zero")
    on = [system.marker(called[k]) for k in used]
    _warn_of_held([m.name for m in on], [m.body for m in on], positions)
    stations = np.array([m.station for m in on])
    for name, place in (places or {}).items():
        check_name("marker of the model", name, system.markers, "stations=")
        at = np.asarray(real(f"{WHO}: stations: {name!r}", place))
        if at.shape != (3,) or not np.isfinite(at).all():
            raise ShapeError(f"{WHO}: stations: {name!r}: expected three finite numbers [m], got {place!r}")
        stations[[m.name == name for m in on]] = at
    own = tuple(m.name for m in on), tuple(m.body for m in on), stations, positions, w
    return t, MarkerTasks(*own, missing, extra)


@lru_cache(maxsize=64)
def _matched(
    model: tuple[str, ...], data: tuple[str, ...], called: tuple[str, ...]
) -> tuple[tuple[int, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Numbers of the markers of the data that the model has; names that occur twice; names of the model
    without data; names of the data that the model does not have. `called` has the model's names for the
    data."""
    known, there = set(model), Counter(called)
    return (
        tuple(k for k, name in enumerate(called) if name in known),
        tuple(sorted(name for name in known if there[name] > 1)),
        tuple(name for name in model if name not in there),
        tuple(name for name, own in zip(data, called, strict=True) if own not in known),
    )


def _called(system: System, data: Sequence[str], names: Mapping[str, str] | None) -> list[str]:
    """The model's names for the markers of the data."""
    if names is None:
        return list(data)
    if not isinstance(names, Mapping):
        raise DescriptionError(
            f"{WHO}: names: expected {{name in the data: name in the model}}, got {names!r}"
        )
    for there, here in names.items():
        if there not in data:
            turned = there in system.markers and here in data
            raise UnknownNameError(
                "marker of the data",
                there,
                data,
                "names={name in the data: name in the model}"
                + ("; these are the other way round" if turned else ""),
            )
        check_name("marker of the model", here, system.markers, "names=")
    taken = set(names.values())
    return [names.get(name, "" if name in taken else name) for name in data]


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    """A name in lower case, without dots and spaces."""
    return "".join(c for c in name.lower() if c.isalnum())


def _warn_of_zeros(names: Sequence[str], positions: Array) -> None:
    """Warn of markers at (0, 0, 0) in some frames: some programs write this for markers that were not
    seen."""
    zero = (positions == 0).all(axis=2)
    if zero.any() and not zero.all():
        worst = int(zero.sum(axis=0).argmax())
        warn(
            f"{WHO}: {names[worst]!r} is at exactly (0, 0, 0) in {int(zero[:, worst].sum())} of {len(zero)} "
            "frames; if it was not seen there, these numbers must be NaN: "
            "p = markers.positions; p[(p == 0).all(axis=2)] = np.nan"
        )


def _warn_of_held(names: Sequence[str], bodies: Sequence[str], positions: Array) -> None:
    """Warn of a marker that does not change by a digit over some frames while others on its body move: some
    programs fill gaps like this."""
    same = (positions[1:] == positions[:-1]).all(axis=2)
    if np.count_nonzero(same) < HELD:
        return
    for k in np.flatnonzero((same.sum(axis=0) >= HELD) & ~same.all(axis=0)).tolist():
        edges = np.diff(same[:, k].astype(int), prepend=0, append=0)
        starts, ends = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)
        i = int(np.argmax(ends - starts))
        a, b = starts[i], ends[i]
        others = [j for j, body in enumerate(bodies) if body == bodies[k] and j != k]
        move = np.linalg.norm(positions[b, others] - positions[a, others], axis=1)
        if b - a >= HELD and np.fmax.reduce(move, initial=0.0) > MOVED:
            warn(
                f"{WHO}: {names[k]!r} stays where it is from frame {a} to {b}, to its last digit, while "
                f"others on {bodies[k]!r} move by {np.fmax.reduce(move):.2g} m: if the last place was kept "
                "where it was not seen, these numbers must be NaN"
            )
            return


def _warn_of_spelling(missing: Sequence[str], extra: Sequence[str]) -> None:
    """Warn of names that differ only by dots, spaces and capitals."""
    plain = {_plain(name): name for name in missing}
    same = {name: plain[_plain(name)] for name in extra if _plain(name) in plain}
    if same:
        warn(
            f"{WHO}: markers of the data that the model may call otherwise are not used: "
            f"{cut(f'{a!r} for {b!r}' for a, b in same.items())}; names={same!r} matches them",
            RuntimeWarning,
        )


def _near(missing: Sequence[str], extra: Sequence[str]) -> str:
    pairs = near_names(missing, extra)
    return f": is {cut(f'{a!r} {b!r}' for a, b in pairs.items())}" if pairs else ""


def near_names(missing: Sequence[str], extra: Sequence[str]) -> dict[str, str]:
    """For names of the data that the model does not have, similar names of the model without data."""
    plain = {_plain(name): name for name in missing}
    out = {}
    for name in extra:
        near = difflib.get_close_matches(_plain(name), list(plain), n=1, cutoff=NEAR)
        if near:
            out[name] = plain[near[0]]
    return out


# ---- weights -----------------------------------------------------------------------------------------------


def weights_over(t: Array, what: str, noun: str, weights: Any, known: set[str]) -> dict[str, Any]:
    """Weights {name: (T,)} from a mapping of numbers or arrays, or from a Table over time."""
    if weights is None:
        return {}
    given: dict[str, Any]
    if isinstance(weights, Table):
        _cover(what, t, weights)
        given = {name: np.interp(t, weights.time, weights[name]) for name in weights.names}
    elif isinstance(weights, Mapping):
        given = dict(weights)
    else:
        raise DescriptionError(
            f"{WHO}: {what}: expected weights such as {{'{noun}': 10.0}}, or a Table of "
            f"them over time, got {weights!r}"
        )
    out: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise UnknownNameError(noun, name, sorted(known), f"{what}=")
        if type(value) is float and 0 <= value < math.inf:
            out[name] = value
            continue
        w = np.asarray(real(f"{WHO}: {what}: {name!r}", value))
        if w.shape not in ((), t.shape) or not (np.isfinite(w) & (w >= 0)).all():
            raise ShapeError(
                f"{WHO}: {what}: {name!r}: expected zero or more, one number or {len(t)}, one "
                f"per frame, got {value!r}"
            )
        out[name] = w
    return out


def _cover(what: str, t: Array, table: Table) -> None:
    if not len(table) or table.time[0] > t[0] or table.time[-1] < t[-1]:
        here = f"from {table.time[0]:g} to {table.time[-1]:g} s" if len(table) else "no time"
        raise DescriptionError(
            f"{WHO}: {what}: the Table covers {here}, the frames need {t[0]:g} to {t[-1]:g} s"
        )


# ---- coordinates -------------------------------------------------------------------------------------------


def coordinate_tasks(
    system: System, t: Array, coordinates: Any, weights: Any
) -> dict[str, tuple[Array, Array]]:
    """Value and weight of each coordinate with a target, shapes (T,)."""
    if coordinates is None:
        return {}
    if isinstance(coordinates, Table):
        values = _sampled(system, t, coordinates)
    elif isinstance(coordinates, Mapping):
        values = dict(coordinates)
    else:
        raise DescriptionError(
            f"{WHO}: coordinates: expected values such as {{'knee': 0.1}}, or a Table of "
            f"coordinates, got {coordinates!r}"
        )
    if isinstance(weights, (Mapping, Table)):
        given = weights_over(t, "coordinate_weights", "coordinate", weights, set(system.coordinates))
    else:
        given = weights_over(
            t,
            "coordinate_weights",
            "coordinate",
            dict.fromkeys(values, 1.0 if weights is None else weights),
            set(values),
        )
    out = {}
    for name, value in values.items():
        check_name("coordinate", name, system.coordinates, "coordinates=")
        x = np.array(real(f"{WHO}: coordinates: {name!r}", gaps(value)))
        if x.shape not in ((), t.shape) or np.isinf(x).any():
            raise ShapeError(
                f"{WHO}: coordinates: {name!r}: expected one finite number or {len(t)}, one per "
                f"frame [rad, m], got {value!r}"
            )
        out[name] = np.broadcast_to(x, t.shape), np.broadcast_to(given.get(name, 1.0), t.shape)
    return out


def _sampled(system: System, t: Array, table: Table) -> dict[str, Array]:
    """Coordinates of a Table at times t: its rows, or the natural spline of degree 5 through them."""
    _cover("coordinates", t, table)
    columns = CoordinateColumns.find(system, table)
    if not columns.places:
        raise UnknownNameError(
            "columns",
            cut(table.names),
            system.coordinates,
            "coordinates=: the Table has no coordinate of the system",
        )
    columns.warn_of_degrees()
    table = after_events(f"{WHO}: coordinates", table, columns.columns)
    values = table.values[:, columns.columns] * columns.factors
    rows = np.searchsorted(table.time, t)
    if (table.time[rows] == t).all():
        values = values[rows]
    elif len(table) < 4 or not np.isfinite(values).all():
        raise ShapeError(
            f"{WHO}: coordinates: the Table has other times than the frames; a spline between "
            "them needs four rows without gaps"
        )
    else:
        values = spline(table.time, values)(t)
    return {name: values[:, j] for j, name in enumerate(columns.coordinates)}
