"""Recordings of motion capture from .c3d files: markers, force plates and analog channels, by ezc3d.

A plate gives a force F and a moment M_c about the center c of its surface, both in the laboratory's axes.
Where the force through the surface, with normal n, is more than a threshold, they are the same as F at the
center of pressure p, in the surface, and a free torque:

    T = M_c - (p - c) x F,          T parallel to n                                             (1)

With less force p would be noise; there p = c and T = M_c, the same wrench.
"""

from __future__ import annotations

import importlib.util
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import condyle.files as files
from condyle.arguments import ExplainsCalls, with_call_hints
from condyle.arrays import Array
from condyle.errors import DescriptionError, warn
from condyle.files import existing
from condyle.io.markers import Markers, rotation_of
from condyle.io.trc import unit_of
from condyle.presentation import Display
from condyle.table import LENGTHS, Table, distinct

_PROCESS = Path(__file__).with_name("c3d_process.py")
SECONDS, PER_MEGABYTE = 30.0, 2.0
"""Time limit for reading a file [s], and [s] for each megabyte."""
TURNED = 1e-3
"""Tolerance of orthogonality of a pose's rotation; single precision leaves 1e-6."""
_MOMENTS = {"nm": 1.0, "n m": 1.0, "n.m": 1.0, "ncm": 1e2, "n.cm": 1e2, "nmm": 1e3, "n.mm": 1e3}


class Recording(ExplainsCalls, Display):
    """Contents of a .c3d file.

    Attributes:
        markers: Markers, in meters; None without markers.
        force_plates: a Table with columns f1_x, f1_y, f1_z [N], the force of plate 1; p1_x.. [m], its point
            of application; m1_x.. [N m], its free torque; f2_x.. of plate 2. A load of it is
            `cd.ExternalLoad("calcn_r", recording.force_plates, force="f1_", point="p1_", torque="m1_")`.
        analog: a Table of all analog channels, in the units of the file.
        corners: of the plates [m], shape (plates, 4, 3).
        platform: parameters of the plates in the file other than corners, by the names of the format (TYPE,
            ORIGIN, ...), which define how plates use analog channels. Empty for a recording that was not read
            from a file.
        events: foot strikes and toe-offs in the file, {("right", "strike"): times [s], ...}, on the same
            clock as the markers; `cd.gait_events(recording)` takes them.
        segments: poses of segments, written by markerless systems (Theia), {name: matrices (T, 4, 4)}:
            rotation and position [m] of the segment's frame in the laboratory, NaN where it was not seen.
        segment_time: their times [s], shape (T,).
    """

    def __init__(
        self,
        markers: Markers | None,
        force_plates: Table,
        analog: Table,
        corners: Array,
        platform: dict[str, Array] | None = None,
        events: dict[tuple[str, str], Array] | None = None,
        segments: dict[str, Array] | None = None,
        segment_time: Array | None = None,
    ) -> None:
        self.segments, self.segment_time = (
            segments or {},
            np.zeros(0) if segment_time is None else segment_time,
        )
        self.markers, self.force_plates, self.analog, self.corners = markers, force_plates, analog, corners
        self.platform, self.events = platform or {}, events or {}

    def segment_markers(self, length: float = 0.1) -> Markers:
        """Points of the segments as markers, for `cd.inverse_kinematics`: NAME_o at the origin of each, NAME_x, NAME_y and
        NAME_z along its axes. A model with such markers on its bodies can follow them.

        Args:
            length: of the axes [m].
        """
        if not self.segments:
            raise DescriptionError("Recording.segment_markers: the recording has no poses of segments")
        names = [f"{name}_{end}" for name in self.segments for end in "oxyz"]
        ends = np.vstack([np.zeros(3), length * np.eye(3)])
        places = [X[:, None, :3, 3] + ends @ X[:, :3, :3].transpose(0, 2, 1) for X in self.segments.values()]
        return Markers(self.segment_time, names, np.concatenate(places, axis=1), units="m")

    def save(self, path: str | Path) -> None:
        """Write a .c3d file: markers, analog channels, force plates. It is written completely or not at all.

        Numbers have single precision, like the format. Plates from a file are written unchanged, from the
        same channels (so `opposite` must be given again when they are read); plates of a new recording are
        written as type 2, with six channels each after the other channels. It needs ezc3d: pip install
        "condyle[c3d]".

        Args:
            path: where to write; it must end in .c3d.

        Raises:
            DescriptionError: another ending; rates that do not fit together, or times that are uneven.
            ImportError: ezc3d is not installed.
        """
        write_c3d(path, self.markers, self.analog, self.force_plates, self.corners, self.platform)

    def __repr__(self) -> str:
        poses = f"{len(self.segments)} segments, " if self.segments else ""
        return (
            f"Recording({poses}{len(self.corners)} force plates, {len(self.analog.names)} analog channels; "
            f"{self.markers!r})"
        )


@with_call_hints({"up": "it is vertical=, the file's axis that points up, which becomes y"})
def read_c3d(
    path: str | Path,
    *,
    units: str | None = None,
    vertical: str | None = None,
    rotate: ArrayLike | None = None,
    threshold: float = 10.0,
    opposite: Sequence[int] = (),
) -> Recording:
    """Markers, force plates and analog channels of a .c3d file. It needs ezc3d: pip install "condyle[c3d]".

    Args:
        path: the file.
        units: "m", "cm" or "mm", of its positions; by default as stated in the file.
        vertical: the file's axis that points up, "x", "y" or "z" (or "-z"): markers and forces are rotated so
            that it becomes y, OpenSim's vertical. By default nothing is rotated.
        rotate: a rotation matrix for everything instead.
        threshold: [N]; with less force through a plate's surface the force acts at the center of the plate,
            with its whole moment there, since a center of pressure would be noise.
        opposite: numbers of plates, from 1, whose forces are reversed: those that report the force on the
            plate, not the ground reaction.

    Returns:
        the recording, with times from 0.

    Raises:
        DescriptionError: a file that cannot be read.
        FileNotFoundError: no such file.
        ImportError: ezc3d is not installed.
    """
    if not isinstance(path, (str, Path)):
        raise DescriptionError(f"read_c3d: expected the path of a file, got {path!r}")
    if units is not None and units not in LENGTHS:
        raise DescriptionError(f"read_c3d: units: expected 'm', 'cm' or 'mm', got {units!r}")
    path, R = Path(path), rotation_of(rotate, vertical)
    parts = _parts(path)
    markers = _markers(parts, path.name, units, R)
    count = int(parts["plates"])
    wrong = [k for k in opposite if k not in range(1, count + 1)]
    if wrong:
        raise DescriptionError(
            f"read_c3d: opposite: there is no plate {wrong[0]} in {path.name}; it has {count}, from 1"
        )
    time = _times(parts, "analog", path.name)
    names, columns, units_of, corners = [], [], [], np.empty((count, 4, 3))
    for k in range(count):
        sign = -1.0 if k + 1 in opposite else 1.0
        force, point, torque, corners[k] = _plate(parts, k, threshold, path.name)
        force, torque = sign * force, sign * torque
        _check_direction(k, force, corners[k], markers, R, path.name)
        for letter, values, unit in (("f", force, "N"), ("p", point, "m"), ("m", torque, "N m")):
            names += [f"{letter}{k + 1}_{axis}" for axis in "xyz"]
            columns.append(values @ R.T)
            units_of += [unit] * 3
    values = np.concatenate(columns, axis=1) if columns else np.empty((len(time), 0))
    if len(values) != len(time):
        raise DescriptionError(f"{path.name}: its plates have {len(values)} rows, its channels {len(time)}")
    platform = {
        name.removeprefix("platform_"): value for name, value in parts.items() if name.startswith("platform_")
    }
    return Recording(
        markers,
        Table(time, names, values, units_of),
        _analog(parts, time),
        corners @ R.T,
        platform if count else None,
        _events(parts),
        *_segments(parts, path.name, units, R),
    )


def _segments(
    parts: dict[str, Any], file: str, units: str | None, R: Array
) -> tuple[dict[str, Array], Array]:
    """Poses of segments, from the parameters ROTATION: matrices 4 x 4 with lengths as those of points."""
    if "poses" not in parts:
        return {}, np.zeros(0)
    poses, rate = parts["poses"].astype(float), float(parts["pose_rate"])
    unit = units or unit_of(str(parts["units"][0]) if len(parts["units"]) else "", f"{file}: POINT:UNITS")
    if not unit or not 0 < rate < 1e9:
        raise DescriptionError(
            f"{file}: its ROTATION data has no units of length (units='mm' says them) or no rate"
        )
    spin = poses[..., :3, :3]
    size = np.abs(spin @ spin.swapaxes(-1, -2) - np.eye(3)).max(axis=(-1, -2))
    poses[~(size < TURNED)] = np.nan  # zeros, or NaN: not seen
    poses[..., :3, :3] = R @ poses[..., :3, :3]
    poses[..., :3, 3] = poses[..., :3, 3] @ R.T / LENGTHS[unit]
    names = [str(n).removesuffix("_4X4").removesuffix("_4x4") for n in parts["pose_labels"]][: poses.shape[1]]
    return dict(zip(distinct(names), poses.swapaxes(0, 1), strict=False)), np.arange(len(poses)) / rate


def _events(parts: dict[str, Any]) -> dict[tuple[str, str], Array]:
    """Foot strikes and toe-offs of a file, from its parameters EVENT."""
    times = np.asarray(parts.get("event_times", np.zeros((2, 0))), dtype=float)
    if times.ndim != 2 or times.shape[0] != 2 or not times.size:
        return {}
    rate = float(parts["rate"])
    t = 60 * times[0] + times[1] - (float(parts["first_frame"]) / rate if rate > 0 else 0.0)
    found: dict[tuple[str, str], list[float]] = {}
    for side, label, at in zip(parts["event_sides"], parts["event_labels"], t, strict=False):
        word = str(label).lower()
        kind = "strike" if "strike" in word or "contact" in word else "off" if "off" in word else ""
        if kind and str(side).lower() in ("right", "left"):
            found.setdefault((str(side).lower(), kind), []).append(float(at))
    return {key: np.sort(np.array(x)) for key, x in found.items()}


def markers_of(path: Path, units: str | None) -> Markers:
    """Markers of a .c3d file, in its own axes."""
    markers = _markers(_parts(path), path.name, units, np.eye(3))
    if markers is None:
        raise DescriptionError(
            f"{path.name}: there are no markers in it; cd.read_c3d(path) gives its analog channels"
        )
    return markers


def _parts(path: Path) -> dict[str, Any]:
    """Arrays of a file, read in another process, which may crash or hang."""
    if not os.path.isfile(path):
        if os.path.isdir(path):
            raise DescriptionError(f"{path}: a folder; give the name of a file")
        existing(path)
    if path.suffix.lower() == ".trc":
        raise DescriptionError(f"{path.name}: expected a .c3d file; a .trc is read by cd.read_markers(path)")
    _need_ezc3d("reading")
    head = path.read_bytes()
    if len(head) < 512 or head[1] != 0x50:
        raise DescriptionError(
            f"{path.name}: this is no .c3d file, or it is cut off: its second byte is not 0x50"
        )
    import subprocess

    seconds = SECONDS + PER_MEGABYTE * path.stat().st_size / 1e6
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(_PROCESS), str(path.absolute())],
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DescriptionError(
            f"{path.name}: ezc3d did not read it within {seconds:.0f} s: it is damaged"
        ) from None
    if done.returncode or not done.stdout:
        why = done.stderr.decode(errors="replace").strip().splitlines()[-1:] if done.returncode == 1 else []
        raise DescriptionError(
            f"{path.name}: ezc3d cannot read it{': ' + why[0] if why else ''}; it is damaged or cut off"
        )
    with np.load(io.BytesIO(done.stdout), allow_pickle=False) as data:
        parts = {name: data[name] for name in data.files}
    if str(parts["note"]):
        warn(f"{path.name}: its force plates are not read: {parts['note']}")
    said, count = _frames(head), len(parts["points"])
    if count < said:
        warn(f"{path.name}: it says {said} frames, there are {count}. It may be cut off")
    return parts


def _need_ezc3d(what: str) -> None:
    if importlib.util.find_spec("ezc3d") is None:
        raise ImportError(
            f'{what} .c3d files needs ezc3d, which is not installed: pip install "condyle[c3d]"', name="ezc3d"
        )


def _frames(head: bytes) -> int:
    """The number of frames that a file states, in two numbers of 16 bits; 0 if there are too many for these."""
    at = (head[0] - 1) * 512 + 3
    order = "big" if head[at : at + 1] == b"\x56" else "little"  # 86: MIPS
    first, last = (int.from_bytes(head[k : k + 2], order) for k in (6, 8))  # type: ignore[arg-type]
    return last - first + 1 if last < 65535 else 0


def _times(parts: dict[str, Any], what: str, file: str) -> Array:
    """[s] of the frames or of the samples, from 0."""
    key = "analog_rate" if what == "analog" else "rate"
    count, rate = len(parts[what]), float(parts[key])
    if count and not 0 < rate < 1e9:
        raise DescriptionError(
            f"{file}: {count} {'samples' if what == 'analog' else 'frames'} at "
            f"{rate:g} per second: the rate must be positive"
        )
    return np.arange(count) / rate if count else np.empty(0)


def _markers(parts: dict[str, Any], file: str, units: str | None, R: Array) -> Markers | None:
    points = parts["points"]
    if not points.size:
        return None
    labels = [str(n) for n in parts["labels"]][: points.shape[1]]
    labels += [f"marker{k + 1}" for k in range(len(labels), points.shape[1])]
    names = [n or f"marker{k + 1}" for k, n in enumerate(labels)]
    others = {str(n) for n in parts["others"]} - {""}
    kept = [k for k, name in enumerate(names) if name not in others]  # angles and powers are not positions
    unit = units or unit_of(str(parts["units"][0]) if len(parts["units"]) else "", f"{file}: POINT:UNITS")
    if not unit:
        raise DescriptionError(f"{file}: it does not say its units; say units='mm', 'cm' or 'm'")
    if np.isinf(points[:, kept]).any():
        raise DescriptionError(f"{file}: places that are infinitely far; the file is damaged")
    places = points[:, kept]
    places[np.isnan(places).any(axis=2)] = np.nan
    if not kept:
        return None
    return Markers(
        _times(parts, "points", file),
        distinct([names[k] for k in kept]),
        places @ R.T,
        units=unit,
        rate=float(parts["rate"]),
    )


def _analog(parts: dict[str, Any], time: Array) -> Table:
    values = parts["analog"]
    count = values.shape[1] if values.ndim == 2 else 0
    names = [str(n) for n in parts["analog_labels"]][:count]
    names = [n or f"channel{k + 1}" for k, n in enumerate([*names, *[""] * (count - len(names))])]
    units = [str(u) for u in parts["analog_units"]][:count]
    units += [""] * (count - len(units))
    return Table(time, distinct(names), values.reshape(len(time), count), units)


def _plate(parts: dict[str, Any], k: int, threshold: float, file: str) -> tuple[Array, Array, Array, Array]:
    """Force [N], its point of application [m] and free torque [N m], shape (m, 3) each, and corners (4, 3)
    [m].
    """
    said = [str(u).strip() for u in parts[f"units{k}"]]
    length = LENGTHS[unit_of(said[2], f"{file}: plate {k + 1}") or "mm"]
    moment = _MOMENTS.get(said[1].lower().replace("*", "."))
    if said[0].lower() not in ("n", "newton", "newtons") or moment is None or not said[2]:
        raise DescriptionError(
            f"{file}: plate {k + 1}: force, moment and place are in {said}; expected N, "
            "Nm or Nmm, and m or mm"
        )
    F, M, p = parts[f"force{k}"], parts[f"moment{k}"] / moment, parts[f"point{k}"] / length
    corners = parts[f"corners{k}"] / length
    center = corners.mean(axis=0)
    normal = _axes(corners, k, file)[:, 2]
    loaded = (np.abs(F @ normal) > threshold) & np.isfinite(p).all(axis=1)
    p = np.where(loaded[:, None], p, center)
    return F, p, M - np.cross(p - center, F), corners  # (1)


def _check_direction(
    k: int, force: Array, corners: Array, markers: Markers | None, R: Array, file: str
) -> None:
    """Warn of forces that point away from the markers, which are above the plate."""
    if markers is None or not len(force):
        return
    seen = markers.positions[np.isfinite(markers.positions).all(axis=2)] @ R  # as in the file
    if not len(seen):
        return
    center = corners.mean(axis=0)
    normal = _axes(corners, k, file)[:, 2]
    up = normal * np.sign(normal @ (np.median(seen, axis=0) - center))
    mean = float(np.mean(force @ up))
    if mean < 0 and np.abs(force @ up).max() > 20:
        warn(
            f"{file}: plate {k + 1}: its force points away from the markers, {mean:.0f} N on "
            f"average: it is the force on the plate. Say opposite=[{k + 1}] for the ground's "
            "reaction"
        )


# ---- recordings as .c3d files, by ezc3d --------------------------------------------------------------------
#
#
# A plate of type 2 measures a force F and the moment M about the center c of its surface, in axes of its own:
# x from corner 2 to corner 1, z normal to the surface. From a force at p with a free torque T
#
#     M = T + (p - c) x F.                                                                                   (1)

MOST_NAMES = 255
"""Markers or channels per parameter of the format."""
LONGEST_NAME = 127
"""Bytes."""
UNEVEN = 0.01
"""Tolerance of even times, in steps: times in files have few digits."""


def write_c3d(
    path: str | Path,
    markers: Markers | None,
    analog: Table | None = None,
    force_plates: Table | None = None,
    corners: Array | None = None,
    platform: dict[str, Array] | None = None,
) -> None:
    """Write a .c3d file; see `Recording.save`."""
    if not isinstance(path, (str, Path)) or Path(path).suffix.lower() != ".c3d":
        raise DescriptionError(
            f"save: expected the path of a .c3d file, got {path!r}; other files are "
            "recording.markers.save(...) and recording.force_plates.save(...)"
        )
    path = Path(path)
    files.check_target(path, "save")
    _need_ezc3d("writing")
    import ezc3d  # type: ignore[import-untyped]

    file = ezc3d.c3d()
    unit = markers.units if markers is not None else "mm"
    channels, plates = _channels(analog, force_plates, corners, platform or {}, unit)
    rate, frames = _points(file, markers, channels, unit)
    _analogs(file, channels, rate, frames)
    about = file["parameters"]["FORCE_PLATFORM"]
    for name, value in plates.items():
        if name in about:
            about[name]["value"] = value
        else:
            file.add_parameter("FORCE_PLATFORM", name, value)
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.c3d"
        file.write(str(made))
        data = made.read_bytes()
    with files.atomic_write(path, "wb") as out:
        out.write(data)


def _points(file: Any, markers: Markers | None, channels: Table | None, unit: str) -> tuple[float, int]:
    """Put markers into a file; rate [1/s] and number of its frames."""
    about = file["parameters"]["POINT"]
    about["UNITS"]["value"] = (unit,)
    if markers is None:
        rate, frames = (1.0, 0) if channels is None else (_rate(channels.time, "channels"), len(channels))
        about["RATE"]["value"] = [rate]
        file["data"]["points"] = np.ones((4, 0, frames))
        return rate, frames
    rate, frames = _rate(markers.time, "markers", markers.rate), len(markers)
    _few(markers.names, "markers")
    about["RATE"]["value"], about["LABELS"]["value"] = [rate], tuple(markers.names)
    places = np.ones((4, len(markers.names), frames))
    places[:3] = (markers.positions * LENGTHS[unit]).transpose(2, 1, 0)
    _single(places, "markers")
    file["data"]["points"] = places
    file["data"]["meta_points"]["residuals"] = np.where(np.isnan(places[:1]), -1.0, 0.0)
    return rate, frames


def _analogs(file: Any, channels: Table | None, rate: float, frames: int) -> None:
    """Put channels into a file, a whole number of samples per frame."""
    about = file["parameters"]["ANALOG"]
    if channels is None:
        return
    own = _rate(channels.time, "channels")
    each = round(own / rate)
    if not each or abs(own / rate - each) > UNEVEN or len(channels) != frames * each:
        raise DescriptionError(
            f"save: {len(channels)} samples at {own:g} per second beside {frames} frames "
            f"at {rate:g}: a .c3d file has a whole number of samples per frame, in all"
        )
    _few(channels.names, "channels")
    about["RATE"]["value"] = [rate * each]
    about["LABELS"]["value"], about["UNITS"]["value"] = tuple(channels.names), tuple(channels.units)
    _single(channels.values, "channels")
    file["data"]["analogs"] = channels.values.T[None]


def _single(values: Array, what: str) -> None:
    """Raise an error for numbers beyond single precision."""
    most = float(np.abs(values[~np.isnan(values)]).max(initial=0.0))
    if most > float(np.finfo(np.float32).max):
        raise DescriptionError(
            f"save: {what} have a value of {most:.3g}, which the single precision of .c3d files does not hold"
        )


def _channels(
    analog: Table | None,
    force_plates: Table | None,
    corners: Array | None,
    platform: dict[str, Array],
    unit: str,
) -> tuple[Table | None, dict[str, Any]]:
    """All channels, and the parameters of the plates."""
    given = analog if analog is not None and analog.names else None
    count = 0 if corners is None else len(corners)
    if corners is None or force_plates is None or not count:
        return given, {}
    about = {"USED": np.array([count]), "CORNERS": (corners * LENGTHS[unit]).transpose(2, 1, 0)}
    if platform:
        return given, about | platform
    if given is not None and not np.array_equal(given.time, force_plates.time):
        raise DescriptionError(
            "save: force_plates and analog have different times; a .c3d file has one rate for both"
        )
    names, values, force_plates = [], [], force_plates.to_si()
    for k in range(count):
        F, p, T = (force_plates[[f"{x}{k + 1}_{axis}" for axis in "xyz"]].values for x in "fpm")
        M = T + np.cross(p - corners[k].mean(axis=0), F)  # (1)
        R = _axes(corners[k], k, "save")
        names += [f"{x}{axis}{k + 1}" for x in "FM" for axis in "xyz"]
        values += [F @ R, M @ R * LENGTHS[unit]]
    units = (["N"] * 3 + ["Nm" if unit == "m" else f"N{unit}"] * 3) * count
    plates = Table(force_plates.time, names, np.hstack(values), units)
    first = 0 if given is None else len(given.names)
    about |= {
        "TYPE": np.full(count, 2),
        "ZERO": np.array([1, 0]),
        "ORIGIN": np.zeros((3, count)),
        "CHANNEL": first + 1 + np.arange(6 * count).reshape(count, 6).T,
    }
    return plates if given is None else _beside(given, plates), about


def _beside(given: Table, plates: Table) -> Table:
    """Channels of two tables."""
    same = [name for name in plates.names if name in given.names]
    if same:
        raise DescriptionError(
            f"save: a channel of analog is called {same[0]!r}, as one of the plates is; rename it"
        )
    return Table(
        given.time,
        [*given.names, *plates.names],
        np.hstack([given.values, plates.values]),
        [*given.units, *plates.units],
    )


def _axes(corners: Array, k: int, what: str) -> Array:
    """Axes of a plate as columns, in the axes of its corners; the third is normal to it."""
    x = corners[0] - corners[1]
    z = np.cross(x, corners[0] - corners[3])
    if not np.linalg.norm(z) > 0:
        raise DescriptionError(f"{what}: plate {k + 1}: its corners are {corners.tolist()}, no rectangle")
    x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _rate(time: Array, what: str, said: float | None = None) -> float:
    """Rows per second, of times that are even."""
    if len(time) < 2:
        return said if said and np.isfinite(said) else 1.0
    rate = (len(time) - 1) / float(time[-1] - time[0])
    off = np.abs((time - time[0]) * rate - np.arange(len(time)))
    if off.max() > UNEVEN:
        k = int(off.argmax())
        raise DescriptionError(
            f"save: {what}: their times are uneven, such as {time[k]:g} s in row {k}; a "
            ".c3d file has one rate: resample them first"
        )
    if abs(time[0]) > UNEVEN / rate:
        warn(f"save: {what}: their times begin at {time[0]:g} s; a .c3d file counts from 0")
    return said if said and abs(said / rate - 1) < UNEVEN else round(rate, 6)


def _few(names: Any, what: str) -> None:
    if len(names) > MOST_NAMES:
        raise DescriptionError(f"save: {len(names)} {what}; a .c3d file has at most {MOST_NAMES}")
    for name in names:
        if len(name.encode()) > LONGEST_NAME:
            raise DescriptionError(
                f"save: {what}: the name {name[:20]!r}... has {len(name.encode())} bytes; "
                f"names in .c3d files have at most {LONGEST_NAME}"
            )
