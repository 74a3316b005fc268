"""`cd.gait_events`: foot strikes and toe-offs, from force plates, markers or a .c3d file.

Force plates: a foot is on the ground while the vertical force of all its plates is above a threshold; times are
where straight lines between the frames cross it. Contacts and flights shorter than `shortest` are noise.

Markers, two published methods:

    zeni2008      strike: the heel is farthest ahead of the pelvis; toe-off: the toe is farthest behind it
                  (Zeni, Richards and Higginson, Gait & Posture 27, 710-714, 2008)
    oconnor2007   the vertical velocity of the middle of heel and toe: strike at its last minimum before stance, while
                  the heel is below 35 % of its range of heights; toe-off at its maximum
                  (O'Connor, Thorpe, O'Malley and Vaughan, Gait & Posture 25, 469-474, 2007)

Both differ from force plates by a frame or two.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from condyle.arguments import ExplainsCalls, with_call_hints
from condyle.arrays import Array, number
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, check_name, warn
from condyle.io.c3d import Recording
from condyle.io.markers import Markers
from condyle.presentation import Display
from condyle.records import assign, dataclass
from condyle.studies.external_load import ExternalLoad
from condyle.table import Table
from condyle.table.filters import filtered
from condyle.table.reshaped import unit_factor
from condyle.table.units import si

SIDES = ("right", "left")
KINDS = ("strike", "off")
METHODS = ("zeni2008", "oconnor2007")
SMOOTH = 7.0
"""Cut-off frequency [Hz] for markers before differentiation, as in O'Connor et al."""
LOW = 0.35
"""Share of the range of heights below which a foot may strike."""
STANDS = 0.2
"""Time after a strike for which the foot does not move vertically [s]."""
APART = 0.4
"""Fraction of the shortest usual stride [s] within which a foot has one event of each kind."""


@dataclass(frozen=True, eq=False)
class Stride:
    """From one strike of a foot to its next.

    Attributes:
        side: "right" or "left".
        start: time of the strike [s].
        off: time at which the foot leaves the ground [s]; NaN if unknown.
        end: time of the next strike [s].
    """

    side: str
    start: float
    off: float
    end: float


@dataclass(frozen=True, eq=False, repr=False)
class GaitEvents(Display, ExplainsCalls):
    """Foot strikes and toe-offs [s]. Immutable: `added`, `removed` and `shifted` return new ones.

    Attributes:
        times: {("right", "strike"): times, ...} for both sides and kinds, each increasing.
        source: their origin, as text.
    """

    times: Mapping[tuple[str, str], Array]
    source: str = field(default="given")

    def __post_init__(self) -> None:
        times = {(s, k): np.zeros(0) for s in SIDES for k in KINDS}
        for key, given in self.times.items():
            if key not in times:
                raise UnknownNameError("side and kind", str(key), [str(k) for k in times], "GaitEvents")
            times[key] = np.sort(np.asarray(given, dtype=float))
            if not np.isfinite(times[key]).all():
                raise ShapeError(f"GaitEvents: times of {key} must be numbers [s], got {given!r}")
        assign(self, times=times)

    def strikes(self, side: str = "right") -> Array:
        """Times at which a foot strikes the ground [s]."""
        return self.times[_side(side), "strike"]

    def offs(self, side: str = "right") -> Array:
        """Times at which a foot leaves the ground [s]."""
        return self.times[_side(side), "off"]

    def strides(self, side: str = "right") -> list[Stride]:
        """Complete strides of a foot, from strike to strike; `off` is NaN in those with no or two toe-offs."""
        strikes, offs = self.strikes(side), self.offs(side)
        out = []
        for a, b in itertools.pairwise(strikes):
            inside = offs[(offs > a) & (offs < b)]
            out.append(Stride(side, float(a), float(inside[0]) if len(inside) == 1 else np.nan, float(b)))
        return out

    def added(self, side: str, kind: str, time: float) -> GaitEvents:
        """Events with one more. kind: "strike" or "off"."""
        key = _key(side, kind)
        return self._with(
            key, np.append(self.times[key], number("GaitEvents.added: time", time, "a time [s]"))
        )

    def removed(self, side: str, kind: str, time: float, within: float = 0.05) -> GaitEvents:
        """Events without the one nearest to a time; it must be `within` this many seconds of it."""
        key = _key(side, kind)
        times = self.times[key]
        if not times.size or abs(times - time).min() > within:
            raise DescriptionError(
                f"GaitEvents.removed: no {kind} of the {side} foot within {within:g} s of {time:g} s; they are at "
                f"{', '.join(f'{t:.3f}' for t in times) or 'no time'}"
            )
        return self._with(key, np.delete(times, abs(times - time).argmin()))

    def shifted(self, by: float) -> GaitEvents:
        """All events shifted by some seconds, later if positive."""
        return GaitEvents({key: t + by for key, t in self.times.items()}, self.source)

    def _with(self, key: tuple[str, str], times: Array) -> GaitEvents:
        return GaitEvents({**self.times, key: times}, f"{self.source}, edited")

    def table(self) -> Any:
        """A pandas DataFrame with columns time, side and kind, in order of time."""
        import pandas  # type: ignore[import-untyped]

        rows = sorted((float(t), side, kind) for (side, kind), times in self.times.items() for t in times)
        return pandas.DataFrame(rows, columns=["time", "side", "kind"])

    def __repr__(self) -> str:
        counts = "; ".join(
            f"{side}: {len(self.strikes(side))} strikes, {len(self.offs(side))} toe-offs" for side in SIDES
        )
        return f"GaitEvents({counts}; from {self.source})"

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>"

    def parameters(self, markers: Markers | None = None, **names: Any) -> Table:
        """Spatio-temporal parameters, a row per stride of either foot, in order of time.

        Columns: side (0 right, 1 left), stride_time, step_time (from the other foot's strike) [s], cadence [1/min],
        stance, swing, double_support [% of the stride]; with markers stride_length, step_length, step_width [m] and
        speed [m/s], of the heels; NaN, and a warning, on a treadmill.

        Args:
            markers: on the same clock, including both heels.
            names: as for `cd.gait_events`: heel=, up=.
        """
        strides = sorted((s for side in SIDES for s in self.strides(side)), key=lambda s: s.start)
        columns: dict[str, tuple[str, list[float]]] = {}

        def put(name: str, unit: str, value: float) -> None:
            columns.setdefault(name, (unit, []))[1].append(value)

        walk = None if markers is None else _WalkAxes.of(markers, need=("heel",), **names)
        for stride in strides:
            other = SIDES[1 - SIDES.index(stride.side)]
            length = stride.end - stride.start
            theirs = self.strikes(other)
            before = theirs[theirs < stride.end]
            step = stride.end - before[-1] if before.size and before[-1] > stride.start else np.nan
            stance = (stride.off - stride.start) / length
            put("side", "", float(SIDES.index(stride.side)))
            put("stride_time", "s", length)
            put("step_time", "s", step)
            put("cadence", "1/min", 120 / length)
            put("stance", "%", 100 * stance)
            put("swing", "%", 100 * (1 - stance))
            put("double_support", "%", 100 * self._double_support(stride, other) / length)
            if walk is not None:
                heel, at = walk.heel, [stride.start, stride.end]
                own = walk.at(heel[stride.side], at)
                forward = own[1, :2] - own[0, :2]
                size = float(np.linalg.norm(forward))
                put("stride_length", "m", size)
                ahead, aside = np.nan, np.nan
                if step == step and size > 0:  # at the end of the stride, from where the other foot stood
                    there = walk.at(heel[other], [stride.end - step])[0]
                    apart, unit = own[1, :2] - there[:2], forward / size
                    ahead, aside = float(apart @ unit), abs(float(apart @ [-unit[1], unit[0]]))
                put("step_length", "m", ahead)
                put("step_width", "m", aside)
                put("speed", "m/s", size / length)
        if walk is not None and strides:
            reach = [walk.reach(s) for s in strides]
            if np.median(columns["stride_length"][1]) < 0.5 * np.median(reach):
                for name in ("stride_length", "step_length", "step_width", "speed"):
                    columns[name][1][:] = [np.nan] * len(strides)
                warn(
                    "GaitEvents.parameters: the feet come back to where they were, as on a treadmill: lengths and speeds "
                    "of the walk are not known; the length of a stride is the speed of the belt times stride_time"
                )
        if not columns:
            raise DescriptionError(
                "GaitEvents.parameters: no foot has two strikes, which a stride takes: record longer trials"
            )
        values = np.array([x for _, x in columns.values()]).T
        return Table(
            [s.start for s in strides], list(columns), values, [unit for unit, _ in columns.values()]
        )

    def _double_support(self, stride: Stride, other: str) -> float:
        """Seconds of a stride in which both feet are on the ground; NaN where events are missing."""
        if stride.off != stride.off:
            return np.nan
        offs, strikes = self.offs(other), self.strikes(other)
        off = offs[(offs > stride.start) & (offs < stride.off)]
        strike = strikes[(strikes > stride.start) & (strikes < stride.off)]
        if len(off) != 1 or len(strike) != 1 or off[0] > strike[0]:
            return np.nan
        return float((off[0] - stride.start) + (stride.off - strike[0]))


@with_call_hints({"cutoff": "it is threshold= [N], of forces", "axis": "it is up="})
def gait_events(
    data: ExternalLoad | Sequence[ExternalLoad] | Mapping[str, ExternalLoad] | Markers | Recording | Table,
    *,
    threshold: float = 20.0,
    shortest: float = 0.1,
    method: str = "zeni2008",
    sides: Mapping[str, str | Sequence[str]] | None = None,
    heel: Mapping[str, str] | None = None,
    toe: Mapping[str, str] | None = None,
    pelvis: Sequence[str] | None = None,
    up: str | None = None,
) -> GaitEvents:
    """Times at which feet strike the ground and leave it.

    Args:
        data: loads of force plates (`cd.read_external_loads`, one or more for each foot), a Table of forces, a
            Markers, or a recording (`cd.read_c3d`), whose own events are used if it has any.
        threshold: vertical force [N] above which a foot is on the ground.
        shortest: shorter contacts or flights [s] are noise.
        method: for markers, "zeni2008" or "oconnor2007": see the module's description.
        sides: for loads {"right": names of bodies, "left": ...}, for a Table its columns of vertical force;
            by default from _r, _l, R, L in names.
        heel: {"right": marker, "left": marker}; by default from their names.
        toe: the same.
        pelvis: markers whose center is the pelvis; by default from their names.
        up: the vertical axis, "x", "y" or "z", or such as "-y" if it points down; by default the axis with
            the largest mean force, or with the largest extent of the markers.

    Raises:
        DescriptionError: unknown sides, markers or methods.
    """
    if method not in METHODS:
        raise DescriptionError(f"gait_events: method: expected {' or '.join(METHODS)}, got {method!r}")
    if isinstance(data, Recording):
        if data.events:
            return GaitEvents(data.events, "the events of the .c3d file")
        if data.markers is None:
            raise DescriptionError(
                "gait_events: the recording has neither events nor markers; give loads instead"
            )
        data = data.markers
    if isinstance(data, Markers):
        walk = _WalkAxes.of(data, heel=heel, toe=toe, pelvis=pelvis, up=up)
        return walk.zeni() if method == "zeni2008" else walk.oconnor()
    limit = number("gait_events: threshold", threshold, "a force [N]")
    if not limit > 0:
        raise DescriptionError(f"gait_events: threshold = {limit:g} N: must be above 0")
    times: dict[tuple[str, str], Array] = {}
    for side, (t, force) in _vertical(data, sides, up).items():
        times[side, "strike"], times[side, "off"] = _contacts(t, force, limit, shortest)
    return GaitEvents(times, f"forces above {limit:g} N")


def _key(side: str, kind: str) -> tuple[str, str]:
    check_name("kind of event", kind, KINDS)
    return _side(side), kind


def _side(side: str) -> str:
    check_name("side", side, SIDES)
    return side


def side_of(name: str) -> str | None:
    """ "right" or "left", from the beginning or end of a name: calcn_r, R.Heel, RHEE, right_foot, foot_l,
    l_force_y.
    """
    word = name.strip()
    for side, letter in (("right", "r"), ("left", "l")):
        if re.search(rf"(^|[^a-z]){side}([^a-z]|$)", word, re.IGNORECASE):
            return side
        if re.search(rf"(^|[_. :-]){letter}([_. :-]|$)", word, re.IGNORECASE):
            return side
    if re.match(r"[RL][A-Z]", word):
        return "right" if word[0] == "R" else "left"
    return None


# ---- forces


def _vertical(data: Any, sides: Any, up: str | None) -> dict[str, tuple[Array, Array]]:
    """Times and vertical forces of each side."""
    found: dict[str, list[tuple[Array, Array]]] = {}
    if isinstance(data, Table):
        wanted, sign = sides or _columns(data, up), _axis(up)[1] if up else 1
        for side, names in wanted.items():
            for name in [names] if isinstance(names, str) else names:
                unit = data.units[data.names.index(name)] if name in data.names else ""
                scale = sign * (unit_factor(unit, "N", f"gait_events: {name}") if unit else 1.0)
                found.setdefault(_side(side), []).append((data.time, scale * data[name]))
    else:
        loads = (
            data.values() if isinstance(data, Mapping) else [data] if isinstance(data, ExternalLoad) else data
        )
        loads = list(loads) if isinstance(loads, Iterable) else [loads]
        if not loads or not all(isinstance(x, ExternalLoad) for x in loads):
            raise DescriptionError(
                "gait_events: expected loads of force plates, a Table of forces, Markers or a Recording, got "
                f"{type(data).__name__}; cd.read_external_loads, cd.read_markers and cd.read_c3d read files"
            )
        axis, sign = _axis(up) if up else _largest([x.table[n] for x in loads for n in x.force or ()])
        of_body = {
            b: side
            for side, names in (sides or {}).items()
            for b in ([names] if isinstance(names, str) else names)
        }
        for load in loads:
            body = getattr(load.body, "name", load.body)
            side = of_body.get(body) or side_of(str(body))
            if side is None:
                raise DescriptionError(
                    f"gait_events: which foot is {body!r}? sides={{'right': {body!r}, 'left': ...}} says it"
                )
            if load.force:
                found.setdefault(_side(side), []).append(
                    (load.table.time, sign * load.table[load.force[axis]])
                )
    out = {}
    for side, several in found.items():
        t = several[0][0]
        for own, force in several:
            if not np.isfinite(force).all():
                raise ShapeError(
                    f"gait_events: a force of the {side} foot is not a number at t = {own[~np.isfinite(force)][0]:g} s: "
                    "fill gaps first, table.fill_gaps(limit)"
                )
        out[side] = t, np.sum([np.interp(t, own, f) for own, f in several], axis=0)
    return out


def _columns(table: Table, up: str | None) -> dict[str, list[str]]:
    """Columns of vertical force, by side."""
    letter = (up or "y").lstrip("+-")
    found: dict[str, list[str]] = {}
    for name, unit in zip(table.names, table.units, strict=True):
        force = (unit and (si(unit) or (1.0, ""))[1] == "N") or (
            not unit and re.search(r"force|grf|_v[xyz]$|fz|fy", name, re.IGNORECASE)
        )
        if force and re.search(rf"{letter}$", name, re.IGNORECASE) and (side := side_of(name)):
            found.setdefault(side, []).append(name)
    if not found:
        raise DescriptionError(
            "gait_events: no column is the vertical force of a foot by its name: give sides={'right': 'NAME', "
            f"'left': 'NAME'}}; columns: {', '.join(table.names[:12])}"
        )
    return found


def _axis(up: str) -> tuple[int, int]:
    axis = str(up).lstrip("+-").lower()
    if axis not in ("x", "y", "z") or len(str(up)) > 2:
        raise DescriptionError(f"gait_events: up: expected 'x', 'y' or 'z', or '-y' and the like, got {up!r}")
    return "xyz".index(axis), -1 if str(up).startswith("-") else 1


def _largest(forces: list[Array]) -> tuple[int, int]:
    means = np.array([np.sum(forces[k::3], axis=0).mean() for k in range(3)])
    axis = int(np.abs(means).argmax())
    return axis, 1 if means[axis] >= 0 else -1


def _contacts(t: Array, force: Array, threshold: float, shortest: float) -> tuple[Array, Array]:
    """Times at which a force crosses a threshold upward, and downward."""
    on = np.asarray(force > threshold)
    for wanted in (False, True):  # short flights first, then short contacts
        edges = np.flatnonzero(np.diff(on.astype(int)))
        runs = np.split(np.arange(len(on)), edges + 1)
        for run in runs:
            inside = run[0] > 0 and run[-1] < len(on) - 1
            if inside and on[run[0]] == wanted and t[run[-1]] - t[run[0]] < shortest:
                on[run] = not wanted
    edges = np.flatnonzero(np.diff(on.astype(int)))

    def at(i: int) -> float:
        a, b = force[i] - threshold, force[i + 1] - threshold
        return float(t[i] + (t[i + 1] - t[i]) * (a / (a - b) if a * b < 0 else 0.5))

    rising = [at(int(i)) for i in edges if on[i + 1]]
    falling = [at(int(i)) for i in edges if not on[i + 1]]
    return np.array(rising), np.array(falling)


# ---- markers

PARTS = {
    "heel": r"hee?l|calc|cal$|hel$",
    "toe": r"toe|hallux|mt[p25]|tip$|mth",
    "pelvis": r"asis|psis|asi$|psi$|sacr|pelvis",
}


@dataclass(frozen=True, eq=False)
class _WalkAxes:
    """Positions of feet and pelvis in axes of the walk: forward, sideways, up."""

    t: Array
    heel: dict[str, Array]
    toe: dict[str, Array]
    pelvis: Array | None

    @classmethod
    def of(
        cls,
        markers: Markers,
        heel: Mapping[str, str] | None = None,
        toe: Mapping[str, str] | None = None,
        pelvis: Sequence[str] | None = None,
        up: str | None = None,
        need: Sequence[str] = ("heel", "toe", "pelvis"),
    ) -> _WalkAxes:
        if not isinstance(markers, Markers):
            raise DescriptionError(f"gait_events: expected cd.Markers, got {type(markers).__name__}")
        feet = {
            what: dict(given or _feet(markers, what))
            for what, given in (("heel", heel), ("toe", toe))
            if what in need
        }
        hips = list(pelvis or [n for n in markers.names if re.search(PARTS["pelvis"], n, re.IGNORECASE)])
        if "pelvis" in need and not hips:
            raise DescriptionError(
                "gait_events: no marker is on the pelvis by its name; give pelvis=[...]; markers: "
                f"{', '.join(markers.names[:12])}"
            )
        t = np.asarray(markers.time)
        used = [*hips, *(name for part in feet.values() for name in part.values())]
        places = {name: _filled(t, markers[name], name) for name in used}
        middle = np.mean([places[name] for name in (hips or used)], axis=0)
        if up:
            axis, sign = _axis(up)
        else:
            apart = np.mean([places[n] - middle for n in used], axis=1)  # feet are below the pelvis
            axis = int(np.ptp(apart, axis=0).argmax()) if hips else 1
            sign = 1 if not hips or apart[len(hips) :, axis].mean() < 0 else -1
        flat = [k for k in range(3) if k != axis]
        way = middle[-1, flat] - middle[0, flat]
        if np.linalg.norm(way) < 0.3 and "toe" in feet:  # on a treadmill use the direction of the toes
            lines = [places[feet["toe"][s]] - places[feet["heel"][s]] for s in SIDES]
            way = np.mean(lines, axis=(0, 1))[flat]
        way = way / max(float(np.linalg.norm(way)), 1e-12)

        def turned(p: Array) -> Array:
            a, b = p[:, flat[0]], p[:, flat[1]]
            return np.stack([way[0] * a + way[1] * b, way[0] * b - way[1] * a, sign * p[:, axis]], axis=1)

        parts = {
            what: {side: turned(places[name]) for side, name in part.items()} for what, part in feet.items()
        }
        return cls(t, parts.get("heel", {}), parts.get("toe", {}), turned(middle) if hips else None)

    def at(self, p: Array, times: Sequence[float]) -> Array:
        return np.stack([np.interp(times, self.t, p[:, k]) for k in range(3)], axis=1)

    def reach(self, stride: Stride) -> float:
        """Range of a heel's forward positions in a stride [m]."""
        seen = self.heel[stride.side][(self.t >= stride.start) & (self.t <= stride.end), :2]
        return float(np.linalg.norm(np.ptp(seen, axis=0))) if len(seen) else 0.0

    def zeni(self) -> GaitEvents:
        assert self.pelvis is not None
        times: dict[tuple[str, str], Array] = {}
        for side in SIDES:
            ahead = self._smooth(self.heel[side] - self.pelvis)[:, 0]
            behind = self._smooth(self.toe[side] - self.pelvis)[:, 0]
            times[side, "strike"], times[side, "off"] = self._peaks(ahead), self._peaks(-behind)
        return GaitEvents(times, "markers, zeni2008")

    def oconnor(self) -> GaitEvents:
        times: dict[tuple[str, str], Array] = {}
        for side in SIDES:
            height = self._smooth((self.heel[side] + self.toe[side]) / 2)[:, 2]
            speed = np.gradient(height, self.t)
            heel = self._smooth(self.heel[side])[:, 2]
            low = heel < heel.min() + LOW * np.ptp(heel)
            offs = times[side, "off"] = self._peaks(speed)
            falls = self._peaks(np.where(low, -speed, -speed.max()), 0.1, 0.05)
            between = np.searchsorted(offs, falls)  # the last minimum before the foot leaves the ground again
            last = np.append(np.diff(between) > 0, True)[: len(falls)]
            later = np.abs(np.interp(falls + STANDS, self.t, speed, right=np.inf))
            times[side, "strike"] = falls[last & (later < 0.1 * np.ptp(speed))]
        return GaitEvents(times, "markers, oconnor2007")

    def _smooth(self, p: Array) -> Array:
        rate = (len(self.t) - 1) / (self.t[-1] - self.t[0])
        return filtered(self.t, p, min(SMOOTH, 0.45 * rate))

    def _peaks(self, x: Array, prominence: float = 0.35, apart: float = APART) -> Array:
        """Times of prominent maxima, interpolated between frames by a parabola."""
        from scipy.signal import find_peaks

        rate = (len(x) - 1) / (self.t[-1] - self.t[0])
        at, _ = find_peaks(x, prominence=prominence * np.ptp(x), distance=max(int(apart * rate), 1))
        before, here, after = x[at - 1], x[at], x[at + 1]
        return self.t[at] + 0.5 * (before - after) / (before - 2 * here + after) / rate


def _feet(markers: Markers, what: str) -> Iterator[tuple[str, str]]:
    for side in SIDES:
        names = [n for n in markers.names if re.search(PARTS[what], n, re.IGNORECASE) and side_of(n) == side]
        if not names:
            raise DescriptionError(
                f"gait_events: no marker is the {what} of the {side} foot by its name; give {what}={{'right': NAME, "
                f"'left': NAME}}; markers: {', '.join(markers.names[:12])}"
            )
        yield side, min(names, key=len)


def _filled(t: Array, p: Array, name: str) -> Array:
    """Positions with gaps filled linearly; a marker that is never seen raises an error."""
    known = np.isfinite(p).all(axis=1)
    if known.sum() < 2:
        raise DescriptionError(f"gait_events: marker {name!r} is missing in all frames")
    return p if known.all() else np.stack([np.interp(t, t[known], p[known, k]) for k in range(3)], axis=1)
