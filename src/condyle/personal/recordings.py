"""Recordings for the estimation of sizes: reading, checks, and choice of frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, warn
from condyle.forces.gravity import free_fall
from condyle.io.markers import Markers, read_markers
from condyle.personal.sized_system import SizedSystem
from condyle.presentation import cut
from condyle.records import dataclass
from condyle.table import Table

APART = 30.0
"""Ratio of marker distances to those of the model above which units are wrong."""


@dataclass(eq=False)
class SubjectRecording:
    """One recording.

    Attributes:
        name: for messages: its file, or its number.
        markers: as recorded.
        static: whether the subject stands upright in it.
    """

    name: str
    markers: Markers
    static: bool = False

    def pick(self, count: int) -> Array:
        """Indices of representative frames: spread evenly over those with most markers."""
        p = self.markers.positions
        seen = (np.isfinite(p).all(axis=-1) & (p != 0).any(axis=-1)).sum(axis=1)
        good = np.flatnonzero(seen >= max(3, 0.7 * np.quantile(seen, 0.9)))
        if not len(good):
            raise DescriptionError(f"personalize: {self.name}: no frame has three markers")
        count = min(3 if self.static else count, len(good))
        return good[np.unique(np.linspace(0, len(good) - 1, count).round().astype(int))]

    def positions(self, used: Sequence[str], called: Mapping[str, str], rows: Any) -> Array:
        """Measured positions of the model's markers [m], shape (T, M, 3); NaN where missing. Some programs
        write missing markers as exactly (0, 0, 0).
        """
        there = {called[n]: k for k, n in enumerate(self.markers.names) if n in called}
        p = self.markers.positions[rows]
        out = np.full((len(p), len(used), 3), np.nan)
        for j, n in enumerate(used):
            if n in there:
                out[:, j] = p[:, there[n]]
        out[np.isnan(out).any(axis=-1) | (out == 0).all(axis=-1)] = np.nan
        return out


def recordings(trials: Any, static: Any) -> list[SubjectRecording]:
    """The static trial, if there is one, then the others."""
    given = [trials] if isinstance(trials, (str, Path, Markers)) else [] if trials is None else trials
    if isinstance(given, (Mapping, np.ndarray, Table)) or not isinstance(given, Iterable):
        raise DescriptionError(
            "personalize: trials: expected cd.read_markers('walk.trc'), the path of a file, or a list of these, "
            f"got {repr(given).splitlines()[0]}"
        )
    given = list(given)
    if not given and static is None:
        raise DescriptionError("personalize: trials: give at least one recording of markers")
    out = [_one(static, "static", True)] if static is not None else []
    out += [_one(x, f"trial {k + 1}", False) for k, x in enumerate(given)]
    names: list[str] = []
    for r in out:  # walk.trc and walk.c3d, or files of two folders
        same = sum(n == r.name for n in names)
        names.append(r.name)
        r.name += f"_{same + 1}" * bool(same)
    return out


def _one(given: Any, name: str, static: bool) -> SubjectRecording:
    if isinstance(given, (str, Path)):
        given, name = read_markers(given), Path(given).stem
    if not isinstance(given, Markers):
        raise DescriptionError(
            f"personalize: {name}: expected cd.read_markers('walk.trc') or the path of a file, "
            f"got {repr(given).splitlines()[0]}"
        )
    if not len(given.time):
        raise DescriptionError(
            f"personalize: {name} has no frames; does the cut lie outside of the recording?"
        )
    return SubjectRecording(name, given, static)


def check_recordings(
    one: SizedSystem, found: Sequence[SubjectRecording], called: Mapping[str, str], used: Sequence[str]
) -> None:
    """Refuse recordings in other units and static trials that do not stand; warn where another axis is up."""
    X = one.system.body_poses(one.system.defaults()[0])
    on = [one.generic.marker(n) for n in used]
    model = np.array(
        [X.R[b] @ np.array(m.station) + X.p[b] for m in on for b in (one.system.body(m.body).index,)]
    )
    up = int(np.argmax(np.abs(free_fall(one.system._forces))))
    for r in found:
        y = r.positions(used, called, slice(None))
        seen = np.isfinite(y).all(axis=-1).any(axis=0)
        p = np.full(y.shape[1:], np.nan)
        p[seen] = np.nanmedian(y[:, seen], axis=0)
        if seen.sum() < 3:
            raise DescriptionError(
                f"personalize: {r.name} shows {int(seen.sum())} markers of the model; three are least. "
                + (
                    f"Its markers are {cut(r.markers.names)}; names={{name in the data: name in the model}} matches them"
                    if sum(n in called for n in r.markers.names) < 3
                    else "The others are left out, or missing in all frames"
                )
            )
        apart, like = (
            np.median(np.linalg.norm(x[seen] - np.median(x[seen], axis=0), axis=1)) for x in (p, model)
        )
        if not like / APART < apart < like * APART:
            unit = "m" if apart < like else "cm" if apart < 300.0 * like else "mm"
            raise DescriptionError(
                f"personalize: {r.name}: markers are {apart:.3g} m from each other, those of the model {like:.3g} m: "
                "positions are in other units than the file says; "
                f"cd.read_markers(path, units={unit!r})"
            )
        spread = model[seen] - model[seen].mean(axis=0)
        if spread[:, up].std() < 0.5 * spread.std(axis=0).max():
            continue  # the model's markers do not show what is up
        match = [
            float(np.corrcoef(spread[:, up], p[seen, k])[0, 1]) if p[seen, k].std() > 0 else 0.0
            for k in range(3)
        ]
        best = int(np.argmax(np.abs(match)))
        if best != up or match[best] < 0:
            axis = ("-" if match[best] < 0 else "") + "xyz"[best]
            said = (
                f"personalize: {r.name}: what is up in the model lies along {axis} in the recording; "
                f"cd.read_markers(path, vertical={axis!r}) turns it"
            )
            if r.static and abs(match[up]) < 0.7 < abs(match[best]):
                raise DescriptionError(said)
            if abs(match[best]) > 0.9:
                warn(said + ", unless the subject lies down", RuntimeWarning)
