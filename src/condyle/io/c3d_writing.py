"""Recordings as .c3d files, by ezc3d.

A plate of type 2 measures a force F and the moment M about the center c of its surface, in axes of its own:
x from corner 2 to corner 1, z normal to the surface. From a force at p with a free torque T

    M = T + (p - c) x F.                                                                                   (1)
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import condyle.files as files
from condyle.arrays import Array
from condyle.errors import DescriptionError, warn
from condyle.table import LENGTHS, Table

if TYPE_CHECKING:
    from condyle.io.markers import Markers

MOST_NAMES = 255
"""Of markers or channels, in one parameter of the format."""
LONGEST_NAME = 127
"""In bytes."""
UNEVEN = 0.01
"""How far a time may be from the even one, in steps: files have times of few digits."""


def write(
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
    if not os.path.isdir(path.parent) or os.path.isdir(path):
        raise DescriptionError(
            f"save: {str(path)!r}: "
            + (
                "it is a folder; give the name of a file"
                if os.path.isdir(path)
                else f"there is no folder {str(path.parent)!r}; make it first"
            )
        )
    if importlib.util.find_spec("ezc3d") is None:
        raise ImportError(
            'writing .c3d files needs ezc3d, which is not installed: pip install "condyle[c3d]"', name="ezc3d"
        )
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
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.c3d"
        file.write(str(made))
        data = made.read_bytes()
    with files.whole(path, "wb") as out:
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
    """Refuse numbers that single precision does not hold."""
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
    """All channels, and what is said of the plates."""
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
        R = _axes(corners[k], k)
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


def _axes(corners: Array, k: int) -> Array:
    """Axes of a plate as columns, in the axes of its corners."""
    x = corners[0] - corners[1]
    z = np.cross(x, corners[0] - corners[3])
    if not np.linalg.norm(z) > 0:
        raise DescriptionError(f"save: plate {k + 1}: its corners are {corners.tolist()}, no rectangle")
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
