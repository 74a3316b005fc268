"""Result of inverse kinematics: the motion, the errors of markers and sensors, and what to check.

Guidelines are those of OpenSim's page "Simulation with OpenSim - Best Practices": errors of markers in a
frame up to 2 cm (root mean square) and 4 cm (largest) in a motion, 1 cm and 2 cm in a static pose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import ConvergenceError, UnknownNameError, check_names
from condyle.fit.configurations import AT_ONCE, Configurations
from condyle.fit.frames import Frames
from condyle.fit.layout import INFO
from condyle.io.markers import Markers
from condyle.presentation import Block, ShowsBlocks, cut, rows_of, span
from condyle.quality import Check, Judged
from condyle.records import dataclass
from condyle.spatial import log_so3
from condyle.status import Outcome, Status
from condyle.studies.kinematics.determined import Gap
from condyle.studies.kinematics.swaps import Swap
from condyle.studies.kinematics.tasks import Tasks, near_names
from condyle.system.system import System
from condyle.table import Table

if TYPE_CHECKING:
    from condyle.table.plots import AxesLike, PlotOptions

RMS, LARGEST = 0.02, 0.04
"""Guidelines for the errors of markers in a frame of a motion [m]: root mean square, and largest."""
STATIC_RMS, STATIC_LARGEST = 0.01, 0.02
"""The same in a static pose, for markers on bony landmarks."""
RMS_FAILS, LARGEST_FAILS = 0.05, 0.2
"""Above these the motion or the model is wrong [m]. For a walk with a planar model they are 0.043 and
0.11."""


def marker_checks(errors: Table, rms: float, largest: float, where: str = "") -> Iterator[Check]:
    """Checks of the worst frame and the worst marker. errors: distances [m], a column per marker."""
    e = errors.values
    seen = np.isfinite(e)
    if not seen.any():
        return
    count = seen.sum(axis=1)
    each = np.sqrt(np.where(seen, e * e, 0.0).sum(axis=1) / np.maximum(count, 1))
    i = int(each.argmax())
    yield Check(
        f"largest root mean square of marker errors{where or ' in a frame'}",
        100 * float(each[i]),
        "cm",
        100 * rms,
        100 * RMS_FAILS,
        where="" if where else f"t = {errors.time[i]:.6g} s",
        advice="is the model scaled to the subject, and are units and the vertical axis right?",
    )
    i, k = divmod(int(np.nanargmax(e)), e.shape[1])
    at = errors.names[k] if where else f"{errors.names[k]}, t = {errors.time[i]:.6g} s"
    yield Check(
        f"largest marker error{where}",
        100 * float(e[i, k]),
        "cm",
        100 * largest,
        100 * LARGEST_FAILS,
        at,
        advice="is this marker placed on the model as on the subject, and named right?",
    )


SHOWN = 5
"""Number of the worst markers and frames to list."""
TOTALS = ("total_squared_error", "marker_error_RMS", "marker_error_max")


def sums(e: Array) -> tuple[Array, Array, Array]:
    """Sum of squares, root mean square and largest of the distances (T, m) of the markers of each frame,
    NaN for unseen markers; NaN in frames without markers. Shapes (T,)."""
    seen = ~np.isnan(e)
    count = seen.sum(axis=1)
    total = np.where(count > 0, np.where(seen, e * e, 0.0).sum(axis=1), np.nan)
    largest = np.fmax.reduce(e, axis=1, initial=0.0) + 0.0 * total
    return total, np.sqrt(total / np.maximum(count, 1)), largest


@dataclass(frozen=True, eq=False, repr=False)
class InverseKinematics(ShowsBlocks, Judged):
    """The motion of a system that follows markers or sensors, from `cd.inverse_kinematics`.

    `print(result.report())` lists what to check; `result.frames` has every operator of the System for all
    frames.

    Attributes:
        frames: the configurations, as from `cd.assemble_frames`.
        tasks: the tasks that were followed.
        undetermined: True where the markers and sensors of a frame do not determine a coordinate, shape (T,
            nq), in the order of `motion`.
        filled: True where a coordinate was interpolated because its frame does not determine it, shape (T,
            nq).
        held: coordinates on which no measurement depends in any frame; they keep their values.
        gaps: consecutive frames that do not determine a coordinate: `gap.coordinate`, `.frames`, `.time`,
            `.filled`.
        swaps: pairs of markers that look exchanged in some frames.
    """

    frames: Frames
    tasks: Tasks
    undetermined: NDArray[np.bool_]
    filled: NDArray[np.bool_]
    held: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    swaps: tuple[Swap, ...] = ()

    _study = "inverse_kinematics"
    plumbing: ClassVar[frozenset[str]] = frozenset({"tasks"})
    elsewhere: ClassVar[dict[str, str]] = {
        "q": "result.frames.q, or one coordinate: result.motion['knee']",
        "residuals": "result.errors",
        "save": "a method of its Tables, such as result.motion.save('walk.mot')",
        "to_pandas": "a method of each of its Tables, such as result.motion.to_pandas()",
    }

    def _named(self, name: str) -> str:
        if name in self.system.coordinates:
            return f"result.motion[{name!r}]"
        return f"result.errors[{name!r}]" if name in self.errors.names else ""

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def system(self) -> System:
        """The system that moves."""
        return self.frames.system

    @property
    def time(self) -> NDArray[np.float64]:
        """Times [s], shape (T,)."""
        return self.frames.t

    @cached_property
    def motion(self) -> Table:
        """Table of coordinates over time [rad, m], the input of `cd.inverse_dynamics` and other studies; NaN
        where frames do not determine them: see `gaps`."""
        table = self.frames.table()
        values = np.where(self.missing, np.nan, table.values) if self.missing.any() else table.values
        return Table(table.time, table.names, values, table.units, status=self.status, degrees=False)

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """True where `motion` is NaN, shape (T, nq): not determined, not filled, not held."""
        held = np.array([name in self.held for name in self.system.coordinates], dtype=bool)
        return self.undetermined & ~self.filled & ~held

    # ---- errors --------------------------------------------------------------------------------------------

    @cached_property
    def _at(self) -> Configurations:
        return Configurations(self.system, self.frames.q, self.frames._tail)

    @cached_property
    def marker_positions(self) -> Markers:
        """Positions of the model's markers that were followed, in the order of the data."""
        return Markers(self.time, self._names, self._places)

    @property
    def _names(self) -> tuple[str, ...]:
        return self.tasks.markers.names if self.tasks.markers is not None else ()

    @cached_property
    def _places(self) -> Array:
        """Positions of the model's markers, shape (T, n, 3)."""
        markers = self.tasks.markers
        return np.zeros((len(self), 0, 3)) if markers is None else markers.places(self._at)

    @cached_property
    def _distances(self) -> Array:
        """|e| of each marker and frame, shape (T, n); NaN where a marker was not seen."""
        markers = self.tasks.markers
        if markers is None:
            return np.zeros((len(self), 0))
        out = np.empty(self._places.shape[:2])
        for start in range(0, len(self), AT_ONCE):
            piece = slice(start, min(start + AT_ONCE, len(self)))
            x, y, z = (self._places[piece] - markers.positions[piece]).transpose(2, 0, 1)
            out[piece] = np.where(markers.weights[piece] > 0, np.sqrt(x * x + y * y + z * z), np.nan)
        return out

    @cached_property
    def _sums(self) -> tuple[Array, Array, Array]:
        """Sum of squares, root mean square and largest distance of the markers of each frame; NaN without
        markers. Shapes (T,)."""
        return sums(self._distances)

    @cached_property
    def errors(self) -> Table:
        """Distance of each marker from its place on the model [m], a column per marker; NaN where not
        seen."""
        return Table(self.time, self._names, self._distances, ["m"] * len(self._names), status=self.status)

    @cached_property
    def orientation_errors(self) -> Table:
        """Angle between each sensor and its orientation on the model [rad], a column per sensor; NaN where
        not measured."""
        sensors, T = self.tasks.sensors, len(self)
        if sensors is None:
            return Table(self.time, (), np.zeros((T, 0)), (), status=self.status)
        seen = sensors.weights[:T] > 0
        R = np.where(seen[..., None, None], sensors.R_GS[:T], np.eye(3))
        angles = np.linalg.norm(log_so3(np.swapaxes(sensors.places(self._at), -1, -2) @ R), axis=-1)
        return Table(
            self.time,
            sensors.names,
            np.where(seen, angles, np.nan),
            ["rad"] * len(sensors.names),
            status=self.status,
        )

    @cached_property
    def totals(self) -> Table:
        """Unweighted errors of each frame over all visible markers, as in the file of OpenSim's tool:
        total_squared_error [m^2], marker_error_RMS [m] and marker_error_max [m]; NaN in frames without
        markers."""
        return Table(self.time, TOTALS, np.stack(self._sums, axis=1), ("m^2", "m", "m"), status=self.status)

    @property
    def rms(self) -> NDArray[np.float64]:
        """Root mean square error of the markers of each frame [m], shape (T,)."""
        return self._sums[1]

    @property
    def cost(self) -> NDArray[np.float64]:
        """Objective function of each frame, shape (T,): OpenSim's (docs/theory/assembly.md)."""
        return np.maximum(self.frames.info[:, INFO.index("cost")], 0.0)  # rounding may make it negative

    # ---- how it went ---------------------------------------------------------------------------------------

    @property
    def unseen(self) -> NDArray[np.intp]:
        """Frames in which no marker and no sensor was measured."""
        return np.flatnonzero(self.tasks.measured[: len(self)] == 0)

    @cached_property
    def failures(self) -> dict[int, Outcome]:
        """What went wrong, by frame."""
        out, unseen = dict(self.frames.failures), set(self.unseen.tolist())
        for i in np.flatnonzero(self.missing.any(axis=1)).tolist():
            kind = Status.UNMEASURED if i in unseen else Status.UNDETERMINED
            names = [self.system.coordinates[k] for k in np.flatnonzero(self.missing[i])]
            text = f"frame {i} (t = {self.time[i]:.6g} s): {kind}: {cut(names)}"
            out.setdefault(i, Outcome(kind, text))
        return dict(sorted(out.items()))

    @property
    def frame_status(self) -> list[Outcome]:
        """How each frame ended, equal to a `cd.Status`."""
        return [self.failures.get(i) or Outcome(Status.FINISHED) for i in range(len(self))]

    @property
    def status(self) -> Outcome:
        """How the study ended: "finished", or how many frames failed. Equal to a `cd.Status` too."""
        if self.frames.status == Status.INTERRUPTED or not self.failures:
            return self.frames.status
        text = (
            f"{len(self.failures)} of {len(self)} frames failed; the first: "
            f"{next(iter(self.failures.values()))}"
        )
        return Outcome(Status.SOME_FAILED, text)

    def _checks(self) -> Iterator[Check]:
        yield from marker_checks(self.errors, RMS, LARGEST)
        angles = self.orientation_errors
        if np.isfinite(angles.values).any():
            i, k = divmod(int(np.nanargmax(angles.values)), angles.values.shape[1])
            yield Check(
                "largest error of a sensor",
                math.degrees(angles.values[i, k]),
                "deg",
                where=f"{angles.names[k]}, t = {angles.time[i]:.6g} s",
            )
        if self.swaps:
            yield Check(
                "pairs of markers that may be exchanged",
                len(self.swaps),
                "",
                0.0,
                math.inf,
                cut([str(swap) for swap in self.swaps], 2, "; "),
            )
        if self.filled.any():
            names = sorted({gap.coordinate for gap in self.gaps if gap.filled})
            yield Check(
                "frames with interpolated coordinates",
                int(self.filled.any(axis=1).sum()),
                f"of {len(self)}",
                where=cut(names, 3),
            )
        if self.held:
            yield Check("coordinates that nothing measured depends on", len(self.held), where=cut(self.held))
        yield Check(
            "frames that failed",
            len(self.failures),
            f"of {len(self)}",
            0.0,
            0.0,
            advice="see result.failures",
        )

    def check(self) -> Self:
        """Itself, if no frame failed and no row of `quality` fails.

        Raises:
            ConvergenceError: the first failure.
            QualityError: the worst row.
        """
        for text in self.failures.values():
            raise ConvergenceError(f"inverse_kinematics: {self.status}", self.frames, text.kind)
        return super().check()

    # ---- words ---------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"InverseKinematics({len(self)} frames{span(self.time)}: {self._followed}; {self.status}"
            f"{self.quality.summary})"
        )

    @property
    def _followed(self) -> str:
        parts, tasks = [], self.tasks
        for noun, part, x, text in (
            ("markers", tasks.markers, self._distances, _cm),
            ("sensors", tasks.sensors, self.orientation_errors.values, _deg),
        ):
            if part is not None:
                error = f", RMS {text(_rms(x))}, largest {text(np.nanmax(x))}" if np.isfinite(x).any() else ""
                parts.append(f"{len(part.names)} {noun}{error}")
        if tasks.coordinates:
            parts.append(f"{len(tasks.coordinates)} coordinates")
        return "; ".join(parts)

    def _blocks(self) -> list[Block]:
        return [
            rows_of(["time [s]", *self.motion.titles], self.time, self.motion.values),
            *self.quality.blocks,
            *self._worst(),
        ]

    def report(self) -> str:
        """What to check: the worst markers and frames, names that did not match, frames that failed, markers
        that may be swapped, and errors compared with OpenSim's guidelines."""
        return "\n".join([repr(self), *(block.text() for block in self._worst()), *self._remarks()])

    def _worst(self) -> list[Block]:
        out = []
        for noun, table, text in (("marker", self.errors, _cm), ("sensor", self.orientation_errors, _deg)):
            if table.names and np.isfinite(table.values).any():
                out += [
                    Block(
                        f"worst {noun}s",
                        (noun, "RMS", "largest", "at t [s]", "frames seen"),
                        _columns(table, text),
                    ),
                    Block("worst frames", ("frame", "t [s]", "RMS", "largest", noun), _rows(table, text)),
                ]
        said = [(text,) for text in self.failures.values()]
        if said:
            out.append(
                Block(
                    "frames that failed",
                    (),
                    said[:SHOWN] + [(f"... {len(said) - SHOWN} more",)] * (len(said) > SHOWN),
                )
            )
        return out

    def _remarks(self) -> list[str]:
        out, markers = [], self.tasks.markers
        if markers is not None:
            count = int((self.rms > RMS).sum()), int((self.totals["marker_error_max"] > LARGEST).sum())
            allowed = f"OpenSim's guidelines, RMS below {_cm(RMS)} and largest below {_cm(LARGEST)},"
            out.append(
                f"{allowed} are kept in all frames"
                if not any(count)
                else f"{allowed} are not kept in {count[0]} and {count[1]} frames"
            )
            if markers.not_measured:
                out.append(f"markers of the model without data: {cut(markers.not_measured, 12)}")
            if markers.not_in_model:
                near = near_names(markers.not_measured, markers.not_in_model)
                said = f"; is {cut(f'{a!r} {b!r}' for a, b in near.items())}?" if near else ""
                out.append(
                    f"markers of the data that the model does not have: {cut(markers.not_in_model, 12)}{said}"
                )
            never = [name for k, name in enumerate(markers.names) if not markers.weights[:, k].any()]
            if never:
                out.append(f"markers that were never seen: {cut(never, 12)}")
        if self.tasks.sensors is not None and self.tasks.sensors.not_placed:
            out.append(f"sensors without a place on a body: {cut(self.tasks.sensors.not_placed, 12)}")
        if self.held:
            out.append(
                f"coordinates that no measurement depends on, which keep their values: {cut(self.held, 12)}"
            )
        if self.gaps:
            out.append(f"coordinates that some frames do not determine: {gap_text(self.gaps)}")
        return out + [str(swap) for swap in self.swaps]

    def plot(self, *names: str, **options: Unpack[PlotOptions]) -> AxesLike:
        """Plot the named coordinates, or the errors of the named markers or sensors, over time (without
        names: RMS and largest error, with their guidelines). Options and what is returned are those of
        `Table.plot`."""
        if not names:
            if self.tasks.markers is None:
                return self.orientation_errors.plot(**options)
            from condyle.table.panels import Source
            from condyle.table.plots import draw

            guides = {"guideline of the RMS": RMS, "guideline of the largest": LARGEST}
            table = self.totals[["marker_error_RMS", "marker_error_max"]]
            return draw([Source(table)], ylabel="error of markers [m]", guides=guides, **options)
        for table in (self.motion, self.errors, self.orientation_errors):
            if all(name in table for name in names):
                return table.plot(*names, **options)
        known = (*self.motion.names, *self.errors.names, *self.orientation_errors.names)
        check_names("coordinate, marker or sensor", names, known)
        raise UnknownNameError(
            "plot",
            cut(names),
            known,
            "coordinates, markers and sensors have units of "
            "their own: draw them one after the other, with axes=",
        )


def gap_text(gaps: Sequence[Gap]) -> str:
    """Text with coordinates and times of some gaps, grouped by time."""
    found: dict[tuple[Any, ...], list[str]] = {}
    for gap in gaps:
        found.setdefault((gap.time, gap.filled), []).append(gap.coordinate)
    return cut(
        (
            f"{cut(names)} {_span(*time)}, {'filled' if filled else 'NaN'}"
            for (time, filled), names in found.items()
        ),
        SHOWN,
        "; ",
    )


def _span(first: float, last: float) -> str:
    return f"at {first:.6g} s" if first == last else f"from {first:.6g} to {last:.6g} s"


def _rms(x: Array) -> float:
    return float(np.sqrt(np.nanmean(x**2)))


def _cm(x: float) -> str:
    return f"{100 * x:.2g} cm" if x >= 0.001 else f"{1000 * x:.2g} mm"


def _deg(x: float) -> str:
    return f"{np.degrees(x):.2g} deg"


def _columns(table: Table, text: Callable[[float], str]) -> list[tuple[str, ...]]:
    """The worst columns: name, RMS, largest value, its time, and the number of rows with a value."""
    x, seen = table.values, np.isfinite(table.values).sum(axis=0)
    return [
        (table.names[k], text(rms), text(x[i, k]), f"{table.time[i]:.6g}", f"{seen[k]} of {len(table)}")
        for k, rms, i in _largest(x.T)
    ]


def _rows(table: Table, text: Callable[[float], str]) -> list[tuple[str, ...]]:
    """The worst rows: number, time, RMS, largest value, and its column."""
    x = table.values
    return [
        (str(i), f"{table.time[i]:.6g}", text(rms), text(x[i, k]), table.names[k])
        for i, rms, k in _largest(x)
    ]


def _largest(x: Array) -> list[tuple[int, float, int]]:
    """The rows with the largest RMS among those with a value: number, RMS, and place of the largest value."""
    known = np.flatnonzero(np.isfinite(x).any(axis=1)).tolist()
    rms = {i: _rms(x[i]) for i in known}
    return [(i, rms[i], int(np.nanargmax(x[i]))) for i in sorted(known, key=lambda i: -rms[i])[:SHOWN]]
