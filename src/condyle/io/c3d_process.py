"""Run by `condyle.io.c3d` in a process of its own: reads a .c3d file with ezc3d and writes arrays to standard
output.

ezc3d ends its process, or never returns, on some damaged files: it runs in a process of its own. This file
imports nothing of Condyle, so that it starts at once.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys

import numpy as np

PLATFORM = ("TYPE", "ZERO", "CHANNEL", "ORIGIN", "CAL_MATRIX")
"""Parameters of plates in a file, other than corners."""
GROUPS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS")
"""Kinds of points that are not positions."""


def read(path: str) -> dict[str, np.ndarray]:
    """Contents of a file, {name: values}; lengths, forces and moments in its own units."""
    import ezc3d  # type: ignore[import-untyped]

    note = ""
    try:
        file = ezc3d.c3d(path, extract_forceplat_data=True)
        plates = file["data"]["platform"]
    except Exception as error:  # plates of unknown kinds: the rest may be readable
        note, file, plates = f"{type(error).__name__}: {error}", ezc3d.c3d(path), []
    points, analog = file["parameters"]["POINT"], file["parameters"]["ANALOG"]
    places, residuals = file["data"]["points"][:3], file["data"]["meta_points"]["residuals"][0]
    places[:, residuals < 0] = np.nan  # -1: not seen
    out = {
        "points": places.transpose(2, 1, 0),
        "labels": texts(points, "LABELS"),
        "units": texts(points, "UNITS"),
        "rate": first(points, "RATE"),
        "analog": file["data"]["analogs"][0].T,
        "analog_labels": texts(analog, "LABELS"),
        "analog_units": texts(analog, "UNITS"),
        "analog_rate": first(analog, "RATE"),
        "plates": np.array(len(plates)),
        "note": np.array(note),
        "others": np.concatenate([texts(points, group) for group in GROUPS]),
    }
    rotation = file["parameters"].get("ROTATION", {})
    if "LABELS" in rotation and (poses := np.asarray(file["data"].get("rotations", ()))).size:
        out["poses"], out["pose_labels"] = poses.transpose(3, 2, 0, 1), texts(rotation, "LABELS")
        out["pose_rate"] = first(rotation, "RATE")
    event = file["parameters"].get("EVENT", {})
    if "TIMES" in event:
        out["event_sides"], out["event_labels"] = texts(event, "CONTEXTS"), texts(event, "LABELS")
        out["event_times"] = np.asarray(event["TIMES"]["value"], dtype=float)
        out["first_frame"] = np.array(float(file["header"]["points"]["first_frame"]))
    about = file["parameters"].get("FORCE_PLATFORM", {})
    for name in PLATFORM:
        if np.size(value := about.get(name, {}).get("value", [])):
            out[f"platform_{name}"] = np.asarray(value)
    kinds = np.ravel(out.get("platform_TYPE", np.zeros(0)))
    for k, plate in enumerate(plates):
        for name, key in (("force", "force"), ("moment", "moment"), ("point", "center_of_pressure")):
            out[f"{name}{k}"] = np.asarray(plate[key]).T
        out[f"corners{k}"] = np.asarray(plate["corners"]).T
        if len(kinds) > k and kinds[k] == 1:  # it measures the point; ezc3d's moment is another
            arm = out[f"point{k}"] - out[f"corners{k}"].mean(axis=0)
            out[f"moment{k}"] = np.cross(arm, out[f"force{k}"]) + np.asarray(plate["Tz"]).T
        out[f"units{k}"] = np.array([plate[f"unit_{what}"] for what in ("force", "moment", "position")])
    return out


def texts(group: dict, name: str) -> np.ndarray:
    """Texts of a parameter and its continuations, LABELS2, LABELS3, ..."""
    found: list[str] = []
    for key in (name, *(f"{name}{k}" for k in range(2, 40))):
        if key in group:
            found += [str(text).strip() for text in group[key]["value"]]
    return np.array(found, dtype=str)


def first(group: dict, name: str) -> np.ndarray:
    """The first number of a parameter; NaN if there is none."""
    values = np.ravel(group.get(name, {}).get("value", []))
    return np.array(float(values[0]) if values.size else np.nan)


def limit_memory(size: int) -> None:
    """Let a damaged count of frames fail instead of filling the machine, where that is possible."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        most = (2 << 30) + 200 * size
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    try:
        limit_memory(os.path.getsize(sys.argv[1]))
        buffer = io.BytesIO()
        np.savez(buffer, **read(sys.argv[1]))  # type: ignore[arg-type]
        sys.stdout.buffer.write(buffer.getvalue())
    except ImportError:
        raise SystemExit(3) from None
    except Exception as error:
        sys.stderr.write(f"{type(error).__name__}: {error}"[:300])
        raise SystemExit(1) from None
