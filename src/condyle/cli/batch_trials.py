"""The work of a process of `condyle batch`: some trials of a subject, from a static trial to tables of
results, or some setup files that depend on each other."""

from __future__ import annotations

import csv
import io
import json
import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np

import condyle as cd
import condyle.files as files
from condyle.arrays import Array
from condyle.cli.run import attempt, words
from condyle.cli.systems import system_of
from condyle.quality import Check, Quality
from condyle.records import dataclass
from condyle.studies.scaling import Measurement
from condyle.sweeps.parts import Part, of_results
from condyle.table.rows import CYCLE
from condyle.table.titles import split_title

SHARES = 101
"""Points of a trial's time, from 0 to 100 %, for means over trials."""
APART = 0.08
"""[m] Least distance of two markers that determine the size of a body."""
FEW = 20_000_000
"""Bytes of a subject's trials below which its machine code is not optimized."""
MEANS = ("kinematics", "moments", "activations", "loads")
"""Tables of which means are made."""


@dataclass(frozen=True)
class Trial:
    """One row of the table of a study; empty texts for missing values.

    Attributes:
        name: of the trial, in tables.
        file: markers, or coordinates over time.
        loads: OpenSim's ExternalLoads.
        start: [s]; NaN for the first frame.
        end: [s]; NaN for the last.
    """

    name: str
    file: str
    loads: str
    start: float
    end: float


@dataclass(frozen=True)
class Unit:
    """A unit of work: trials of one subject, or setup files.

    Attributes:
        subject: its name.
        model: as of `condyle analyze`.
        scale: OpenSim's setup file of a ScaleTool for all subjects.
        static: markers of a static trial; none for a model that is the subject's already.
        mass: [kg]; NaN if unknown.
        lowpass: [Hz] for coordinates.
        reserves: optimal forces of reserve actuators [N m, N].
        trials: of it.
        setups: setup files, in order, instead of all other fields.
        contents: a digest of all input files and options.
        part: added to names of tables of a subject with many trials.
    """

    subject: str
    model: str = ""
    scale: str = ""
    static: str = ""
    mass: float = float("nan")
    lowpass: float | None = None
    reserves: float = 1.0
    trials: tuple[Trial, ...] = ()
    setups: tuple[str, ...] = ()
    contents: str = ""
    part: str = ""


def run_unit(member: Mapping[str, float], units: Sequence[Unit], output: str) -> dict[str, Any]:
    """The work of the sweep. Tables of the subject are written into `output`; the result is the quality of
    each trial, as JSON, and mean curves."""
    unit = units[int(member["unit"])]
    folder = Path(output) / unit.subject
    done = folder / f".{unit.contents[:24]}.npz"
    if done.exists():  # by an earlier call for the same data
        with np.load(done, allow_pickle=False) as found:
            return cast(dict[str, Any], Part.unpacked(found).result(0))
    out: dict[str, Any] = {}
    if unit.setups:
        rows = [_setup(unit.subject, Path(path)) for path in unit.setups]
    else:
        with _quickly(unit):
            rows, out = _trials(unit, folder)
    result = {"quality": json.dumps(rows), **out}
    folder.mkdir(parents=True, exist_ok=True)
    if not any(row["failed"] for row in rows):
        with files.atomic_write(done) as file:
            np.savez(file, **of_results([0], [result]).packed())  # type: ignore[arg-type]
    return result


@contextmanager
def _quickly(unit: Unit) -> Iterator[None]:
    """A subject with few frames compiles longer than its trials run: it is compiled without optimization,
    unless the user chose."""
    few = sum(Path(t.file).stat().st_size for t in unit.trials if Path(t.file).exists()) < FEW
    chosen = "CONDYLE_OPTIMIZE" in os.environ
    if few and not chosen:
        os.environ["CONDYLE_OPTIMIZE"] = "0"
    try:
        yield
    finally:
        if few and not chosen:
            del os.environ["CONDYLE_OPTIMIZE"]


def _trials(unit: Unit, folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    kept: dict[str, dict[str, cd.Table]] = {}
    system, scaled, why = _subject(unit)
    for trial in unit.trials:
        begin, said = time.perf_counter(), _Said(unit.subject, trial.name)
        try:
            if system is None:
                raise cd.errors.CondyleError(f"scaling: {why}")
            with warnings.catch_warnings(record=True, action="always") as told:
                for name, table in _trial(unit, system, trial, said).items():
                    kept.setdefault(name, {})[trial.name] = table
            said.notes += [
                str(w.message) for w in told if not issubclass(w.category, cd.errors.QualityWarning)
            ]
        except Exception as error:  # the next trial runs
            said.failed = words(error)
        rows.append(said.row(scaled, time.perf_counter() - begin))
    out = {}
    for name, tables in kept.items():
        folder.mkdir(parents=True, exist_ok=True)
        write_stacked(folder / f"{name}{unit.part}", tables)
        if name in MEANS:
            out[name] = _mean(_sizes(tables) if name == "loads" else tables)
    return rows, out


class _Said:
    """Notes and checks of a trial."""

    def __init__(self, subject: str, trial: str) -> None:
        self.subject, self.trial, self.failed = subject, trial, ""
        self.checks: list[Check] = []
        self.notes: list[str] = []

    def row(self, before: Sequence[Check], seconds: float) -> dict[str, Any]:
        """The row for JSON; the worst check decides."""
        quality = Quality([*before, *self.checks])
        worst = quality.worst
        return {
            "subject": self.subject, "trial": self.trial, "failed": self.failed, "seconds": seconds,
            "verdict": "fail" if self.failed else str(quality.verdict),
            "worst": str(worst) if worst is not None else "",
            "excess": _excess(worst) if worst is not None else 0.0,
            "notes": list(dict.fromkeys(self.notes))[:5],
            "checks": [(c.what, *c.texts, str(c.verdict), c.where) for c in quality],
            "values": {c.what: c.value for c in quality},
        }  # fmt: skip


def _excess(check: Check) -> float:
    value = check.value / check.guideline if check.guideline else check.value
    return float(value) if np.isfinite(value) else 1e9


def _subject(unit: Unit) -> tuple[cd.System | None, tuple[Check, ...], str]:
    try:
        with warnings.catch_warnings(action="ignore"):
            return (*_scaled(unit.model, unit.scale, unit.static, unit.mass), "")
    except Exception as error:
        return None, (), words(error)


@lru_cache(maxsize=2)
def _scaled(model: str, setup: str, static: str, mass: float) -> tuple[cd.System, tuple[Check, ...]]:
    known = None if np.isnan(mass) else mass
    if setup:
        from condyle.opensim.setup.scale_tool import scale_subject

        found = scale_subject(Path(setup), Path(static), known)
        return found.system, found.quality.checks
    system = _model(model)
    if not static:
        return system, ()
    markers = cd.read_markers(static)
    found = cd.scale(system, markers, measurements(system, markers), mass=known)
    return found.system, found.quality.checks


@lru_cache(maxsize=4)
def _model(model: str) -> cd.System:
    return system_of(model)


def measurements(system: cd.System, markers: cd.Markers) -> list[Measurement]:
    """Measurements of each body: by its two markers that are farthest apart in the model."""
    found = []
    for body in system.bodies:
        own = [n for n in system.markers if n in markers.names and system.marker(n).body == body.name]
        at = {n: np.asarray(system.marker(n).station, dtype=float) for n in own}
        far = max(combinations(own, 2), key=lambda p: np.linalg.norm(at[p[0]] - at[p[1]]), default=None)
        if far is not None and np.linalg.norm(at[far[0]] - at[far[1]]) >= APART:
            found.append(Measurement(body.name, [far], [body.name]))
    return found


def _trial(unit: Unit, system: cd.System, trial: Trial, said: _Said) -> dict[str, cd.Table]:
    """Inverse kinematics and dynamics, static optimization and joint loads."""
    start, end = (None if np.isnan(x) else float(x) for x in (trial.start, trial.end))
    if Path(trial.file).suffix.lower() in (".trc", ".c3d"):
        found = cd.inverse_kinematics(system, cd.read_markers(trial.file)[start:end])
        said.checks += found.quality.checks
        coordinates = found.motion
    else:
        coordinates = cd.read_table(trial.file)[start:end]
    motion = cd.Motion.of(system, coordinates, lowpass=unit.lowpass)
    loads = cd.read_external_loads(trial.loads) if trial.loads else None
    moments = cd.inverse_dynamics(system, motion, loads)
    said.checks += moments.quality.checks
    out = {"kinematics": motion.table()[list(system.coordinates)], "moments": moments}
    if not system.muscles:
        return out | {"loads": cd.joint_reactions(system, motion, external_loads=loads)}
    muscles = cd.static_optimization(system, motion, loads, reserves=unit.reserves)
    known = {c.what for c in moments.quality}
    said.checks += [c for c in muscles.quality if c.what not in known]
    said.notes += [str(text) for text in list(muscles.failures.values())[:3]]
    return out | {
        "activations": muscles.activations,
        "forces": muscles.forces,
        "reserves": muscles.reserves,
        "loads": cd.joint_reactions(system, motion, muscles.forces, loads),
    }


def _sizes(tables: Mapping[str, cd.Table]) -> dict[str, cd.Table]:
    from condyle.reports.report import sizes

    return {name: sizes(table) for name, table in tables.items()}


def _mean(tables: Mapping[str, cd.Table]) -> cd.Table:
    """The mean over trials, each from 0 to 100 % of its time."""
    curves = [on_shares(table) for table in tables.values()]
    first = next(iter(tables.values()))
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # all are NaN
        mean = np.nanmean(curves, axis=0)
    return cd.Table(np.linspace(0.0, 100.0, SHARES), first.names, mean, first.units, over=CYCLE)


def on_shares(table: cd.Table) -> Array:
    """Columns at even shares of the time, (SHARES, n)."""
    t = table.time
    at = np.linspace(t[0], t[-1], SHARES)
    return np.stack([np.interp(at, t, column) for column in table.values.T], axis=1)


def write_stacked(path: Path, tables: Mapping[str, cd.Table]) -> None:
    """Tables of trials under each other, with a column that names the trial: .csv, and .parquet with pyarrow."""
    first = next(iter(tables.values()))
    trials = [name for name, table in tables.items() for _ in range(len(table))]
    values = np.vstack([np.column_stack([table.time, table.values]) for table in tables.values()])
    titles = [first.over, *first.titles]
    try:
        import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]
        from pyarrow import csv as quick  # type: ignore[import-not-found,import-untyped,unused-ignore]
        from pyarrow import parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        writer.writerow(["trial", *titles])
        writer.writerows([name, *map(repr, row)] for name, row in zip(trials, values.tolist(), strict=True))
        with files.atomic_write(path.with_suffix(".csv"), "w", encoding="utf-8", newline="") as file:
            file.write(out.getvalue())
        return
    columns = [np.ascontiguousarray(x) for x in values.T]
    arrays = [pyarrow.array(trials), *(pyarrow.Array.from_buffers(pyarrow.float64(), len(x), [None, pyarrow.py_buffer(x)]) for x in columns)]  # fmt: skip
    with files.atomic_write(path.with_suffix(".csv")) as file:
        quick.write_csv(pyarrow.Table.from_arrays(arrays, names=["trial", *titles]), file)
    with files.atomic_write(path.with_suffix(".parquet")) as file:
        parquet.write_table(
            pyarrow.Table.from_arrays(arrays, names=["trial", split_title(first.over)[0], *first.names]), file
        )


def _setup(subject: str, path: Path) -> dict[str, Any]:
    begin, said = time.perf_counter(), _Said(subject, path.name)
    with warnings.catch_warnings(action="ignore"):
        report, said.failed = attempt(path)
    if report is not None:
        said.checks += [c for quality in report.qualities for c in quality]
        said.notes += report.notes
    return said.row((), time.perf_counter() - begin)
