"""`condyle batch`: all trials of all subjects of a study, or all setup files of a folder, with one page that says how
good each is."""

from __future__ import annotations

import csv
import hashlib
import html
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import condyle as cd
import condyle.files as files
from condyle.cli.batch_trials import MEANS, Trial, Unit, run_unit, write_stacked
from condyle.cli.terminal import say
from condyle.errors import DescriptionError, UnknownNameError
from condyle.native.machine.ctrl_c import patient
from condyle.reports.figures import Figure
from condyle.reports.page import Section, page
from condyle.sweeps.result import Sweep
from condyle.sweeps.store import counts
from condyle.table.panels import Source, panels_of
from condyle.table.rows import CYCLE

COLUMNS = ("subject", "trial", "model", "mass", "static", "loads", "scale", "start", "end", "name")
"""Columns of the table of a study; the first two are required."""
GROUP = 50
"""Largest number of trials of a subject that run together."""
STORE = "store"


def run(
    study: Path,
    output: Path,
    executor: str,
    lowpass: float | None,
    reserves: float,
    retries: int,
) -> bool:
    """Run a study, or continue it. Returns True if no trial failed.

    Args:
        study: a .csv with a row per trial, or a folder with setup files of OpenSim.
        output: folder for results.
        executor: "processes", "here" or the address of a Dask scheduler.
        lowpass: [Hz] for coordinates; None for none.
        reserves: optimal forces of reserve actuators [N m, N].
        retries: number of repeated attempts for trials whose process died.
    """
    units = setups_of(study) if study.is_dir() else read_study(study, lowpass, reserves)
    count = sum(len(u.trials) + len(u.setups) for u in units)
    what, subjects = "setup files" if study.is_dir() else "trials", len({u.subject for u in units})
    said = " of ".join(
        f"{n} {words[:-1] if n == 1 else words}" for n, words in ((count, what), (subjects, "subjects"))
    )
    print(f"Condyle {cd.__version__}: {said}", flush=True)
    work = partial(run_unit, units=tuple(units), output=str(output.resolve()))
    members = cd.Table(range(len(units)), ["unit"], np.arange(len(units))[:, None], over="member")
    output.mkdir(parents=True, exist_ok=True)
    _refuse_another(study, output, units)
    with patient():
        found = cd.sweep(
            work,
            members,
            executor=None if executor == "here" else executor,
            store=output / STORE,
            chunk=1,
            retries=retries,
            progress=sys.stderr.isatty(),
        )
    if found.status == cd.Status.INTERRUPTED:
        print(f"{found.status}. Run the same command to continue.", file=sys.stderr)
        raise SystemExit(130)
    rows = _rows(found, units)
    _write(output, study, found, rows, what)
    failed = [row for row in rows if row["failed"]]
    if failed:  # they are tried again by the next call
        shutil.rmtree(output / STORE)
    for row in failed[:10]:
        say("FAILED", f"{row['subject']}, {row['trial']}: {row['failed']}", sys.stderr)
    checks = sum(row["verdict"] in ("check", "fail") for row in rows) - len(failed)
    say(
        "",
        f"{len(rows) - len(failed)} of {len(rows)} done, {len(failed)} failed, {checks} to check. Open "
        f"{output / 'summary.html'} in a browser.",
    )
    return not failed


def _refuse_another(study: Path, output: Path, units: Sequence[Unit]) -> None:
    """A folder belongs to one study. If its data have changed, unaffected results are kept.

    Raises:
        DescriptionError: the folder holds something else.
    """
    about, digest = (
        output / "batch.json",
        hashlib.sha256("".join(u.contents for u in units).encode()).hexdigest(),
    )
    own = {"study": study.resolve().name, "contents": digest}
    if about.exists():
        old = json.loads(about.read_text("utf-8"))
        if old["study"] != own["study"]:
            raise DescriptionError(
                f"{output}: holds results of another study, {old['study']!r}; choose another folder, or remove it"
            )
        if old["contents"] != digest and (output / STORE).exists():
            shutil.rmtree(output / STORE)
    elif any(output.iterdir()):
        raise DescriptionError(f"{output}: the folder is not empty and holds no study; choose another name")
    with files.atomic_write(about, "w", encoding="utf-8") as file:
        json.dump(own, file, indent=1)


def status(output: Path) -> None:
    """Progress of a study, also while another process runs it."""
    manifest, done, failed = counts(output / STORE)
    print(f"{done} of {manifest['count']} groups of trials done, {len(failed)} failed")
    lines = (output / STORE / "log.txt").read_text("utf-8").splitlines()
    print(f"last line of the log: {lines[-1] if lines else 'none'}")
    for i, words in list(failed.items())[:10]:
        print(f"  group {i}: {words}")


# ---- the table of a study ----------------------------------------------------------------------------------


def read_study(path: Path, lowpass: float | None, reserves: float) -> list[Unit]:
    """Units of a study; an empty cell has the value of the row above for the same subject.

    Raises:
        DescriptionError: an incomplete row, or files that do not exist.
    """
    files.existing(path)
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, skipinitialspace=True)
        titles = [(t or "").strip().lower() for t in reader.fieldnames or ()]
        reader.fieldnames = titles
        for title in titles:
            if title not in COLUMNS:
                raise UnknownNameError("column", title, COLUMNS, f"of {path.name}")
        for title in COLUMNS[:2]:
            if title not in titles:
                raise DescriptionError(
                    f"{path.name}: there is no column {title!r}: a study has a row per trial, with the columns "
                    f"{', '.join(COLUMNS)}, of which {' and '.join(COLUMNS[:2])} are needed"
                )
        rows = [(reader.line_num, {k: (v or "").strip() for k, v in row.items() if k}) for row in reader]
    subjects: dict[str, dict[str, str]] = {}
    trials: dict[str, list[Trial]] = {}
    for line, row in rows:
        if not any(row.values()):
            continue
        _row(path, line, row, subjects, trials)
    if not trials:
        raise DescriptionError(f"{path.name}: it contains no trials")
    units = []
    for name, own in trials.items():
        about = subjects[name]
        mass = float(about.get("mass") or "nan")
        for k in range(0, len(own), GROUP):
            given: dict[str, Any] = {key: about.get(key, "") for key in ("model", "scale", "static")}
            own_part = f"-{k // GROUP + 1}" if len(own) > GROUP else ""
            unit = Unit(name, **given, mass=mass, lowpass=lowpass, reserves=reserves, part=own_part)
            unit = replace(unit, trials=tuple(own[k : k + GROUP]))
            units.append(_with_contents(unit))
    return units


def _row(
    path: Path,
    line: int,
    row: Mapping[str, str],
    subjects: dict[str, dict[str, str]],
    trials: dict[str, list[Trial]],
) -> None:
    where = f"{path.name}, line {line}"

    def number(key: str) -> float:
        try:
            found = float(row.get(key) or "nan")
        except ValueError:
            raise DescriptionError(f"{where}: {key}: expected a number, got {row[key]!r}") from None
        if key == "mass" and found <= 0:
            raise DescriptionError(f"{where}: mass: expected a number above 0 [kg], got {found:g}")
        return found

    def file(key: str) -> str:
        if not row.get(key):
            return ""
        given = Path(row[key].replace("\\", "/"))
        full = given if given.is_absolute() else path.resolve().parent / given
        if key == "model" and not full.suffix:
            return str(given)  # a ready model
        try:
            return str(files.existing(full))
        except FileNotFoundError as error:
            raise DescriptionError(f"{where}: {key}: {error}") from None

    subject = row["subject"]
    if not subject or set(subject) & set('/\\:*?"<>|') or subject in (".", "..", STORE, "group"):
        raise DescriptionError(f"{where}: subject: expected a name that a folder can have, got {subject!r}")
    number("mass")
    about = {key: file(key) for key in ("model", "scale", "static")} | {"mass": row.get("mass", "")}
    known = subjects.setdefault(subject, about)
    for key, value in about.items():
        if value and known.get(key) and known[key] != value:
            raise DescriptionError(
                f"{where}: {key} of {subject!r} is {value!r}, and was {known[key]!r} above: a subject has one"
            )
        known[key] = known.get(key) or value
    if not (known["model"] or known["scale"]):
        raise DescriptionError(
            f"{where}: {subject!r} has neither a model nor a setup file of scaling (scale)"
        )
    if known["scale"] and not known["static"]:
        raise DescriptionError(f"{where}: {subject!r} has a setup file of scaling, and no static trial")
    if not row["trial"]:
        return  # a row may only have data of the subject
    name = row.get("name") or Path(row["trial"]).stem
    own = trials.setdefault(subject, [])
    if name in {t.name for t in own}:
        raise DescriptionError(
            f"{where}: {subject!r} has two trials {name!r}; a column 'name' tells them apart"
        )
    own.append(Trial(name, file("trial"), file("loads"), number("start"), number("end")))


def setups_of(folder: Path) -> list[Unit]:
    """Units of a folder: setup files that depend on others run after them, in one unit.

    Raises:
        DescriptionError: there are none.
    """
    from condyle.opensim.setup.run import TOOLS, needs

    found = [p for p in sorted(folder.rglob("*.xml")) if any(f"<{tool}" in _head(p) for tool in TOOLS)]
    if not found:
        raise DescriptionError(f"{str(folder)!r} has no setup files of OpenSim's tools ({', '.join(TOOLS)})")
    rank = {
        tool: k for k, tool in enumerate(("ScaleTool", "InverseKinematicsTool", "IMUInverseKinematicsTool"))
    }
    found.sort(
        key=lambda p: min((k for tool, k in rank.items() if f"<{tool}" in _head(p)), default=len(rank))
    )
    before, _ = needs(found)
    group = {path: {path} for path in found}
    for path, others in before.items():
        for other in others:
            group[path] |= group[other]
            for each in group[path]:
                group[each] = group[path]
    units, seen = [], set()
    for path in found:
        if path not in seen:
            seen |= group[path]
            chain = tuple(str(p.resolve()) for p in found if p in group[path])
            units.append(_with_contents(Unit(path.parent.name or folder.resolve().name, setups=chain)))
    return units


def _head(path: Path) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(2000)


def _with_contents(unit: Unit) -> Unit:
    """The unit with a digest of its input: other data are another study."""
    named = [unit.model, unit.scale, unit.static, *unit.setups]
    named += [name for t in unit.trials for name in (t.file, t.loads)]
    out = hashlib.sha256(repr(unit).encode())
    for name in named:
        path = Path(name)
        out.update(f"{name}\0".encode())
        if name and path.is_file():
            out.update(hashlib.sha256(path.read_bytes()).digest())
    return replace(unit, contents=out.hexdigest())


# ---- results ---------------------------------------------------------------------------------------


def _rows(found: Sweep, units: Sequence[Unit]) -> list[dict[str, Any]]:
    """The quality of every trial, worst first."""
    rows: list[dict[str, Any]] = []
    reasons = {f.member: f.reason for f in found.failures}
    for k, unit in enumerate(units):
        if k not in reasons:
            result = found[k]
            assert isinstance(result, dict)
            rows += json.loads(str(result["quality"]))
            continue
        names = [t.name for t in unit.trials] or [Path(p).name for p in unit.setups]
        blank = {
            "seconds": 0.0,
            "verdict": "fail",
            "worst": "",
            "excess": 0.0,
            "notes": [],
            "checks": [],
            "values": {},
        }
        rows += [{"subject": unit.subject, "trial": name, "failed": reasons[k], **blank} for name in names]
    rank = {"fail": 0, "check": 1, "ok": 2, "note": 3}
    return sorted(
        rows, key=lambda r: (not r["failed"], rank[r["verdict"]], -r["excess"], r["subject"], r["trial"])
    )


def _write(output: Path, study: Path, found: Sweep, rows: Sequence[Mapping[str, Any]], what: str) -> None:
    """The page, the quality of every trial as a table, and means over subjects."""
    names = list(dict.fromkeys(name for row in rows for name in row["values"]))
    with files.atomic_write(output / "quality.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["subject", "trial", "verdict", "failed", "worst", "seconds", *names])
        for r in rows:
            head = [r["subject"], r["trial"], r["verdict"], r["failed"], r["worst"], f"{r['seconds']:.3f}"]
            writer.writerow([*head, *(r["values"].get(name, "") for name in names)])
    body = [
        (
            f"{r['subject']}, {r['trial']}",
            "failed" if r["failed"] else r["verdict"],
            r["failed"] or r["worst"],
        )
        for r in rows
    ]
    bad = sum(bool(r["failed"]) for r in rows)
    lead = [
        f"{len(rows)} {what} of {len({r['subject'] for r in rows})} subjects of {html.escape(study.name)}: "
        f"{sum(r['verdict'] in ('ok', 'note') for r in rows)} good, "
        f"{sum(r['verdict'] in ('check', 'fail') for r in rows) - bad} to check, {bad} failed.",
        f"Made by Condyle {cd.__version__}, <code>condyle batch</code>. All checks of all trials are in "
        '<a href="quality.csv">quality.csv</a>; tables of each subject are in its folder.',
    ]
    quality = Section(
        "Quality, worst first",
        [
            "The worst check of each, with its guideline; a result that fails should not be used before it is corrected."
        ],
        table=(("subject, trial", "verdict", "worst"), body),
    )
    sections = [quality, *_group(output, found)]
    with files.atomic_write(output / "summary.html", "w", encoding="utf-8") as file:
        file.write(page(f"{study.name}: quality of {len(rows)} {what}", lead, sections))


def _group(output: Path, found: Sweep) -> list[Section]:
    """Means over subjects, each with the mean of its trials, and standard deviations."""
    failed = {f.member for f in found.failures}
    results = [found[k] for k in range(len(found)) if k not in failed]
    sections = []
    for name in MEANS:
        own = [r[name] for r in results if isinstance(r, dict) and name in r]
        tables = [t for t in own if isinstance(t, cd.Table) and t.names == own[0].names]  # type: ignore[union-attr]
        if not tables:
            continue
        curves, first = np.array([t.values for t in tables]), tables[0]
        with np.errstate(invalid="ignore"):
            mean, sd = np.nanmean(curves, axis=0), np.nanstd(curves, axis=0, ddof=1 if len(curves) > 1 else 0)
        (output / "group").mkdir(exist_ok=True)
        parts = {"mean": mean, "sd": sd}
        write_stacked(
            output / "group" / name,
            {key: cd.Table(first.time, first.names, x, first.units, over=CYCLE) for key, x in parts.items()},
        )
        means, low, high = (
            cd.Table(first.time, first.names, x, first.units, over=CYCLE)
            for x in (mean, mean - sd, mean + sd)
        )
        shown = Source(means, (low, high)).shown(None, True)
        label = None if any(first.units) else QUANTITY[name]
        panels = panels_of(shown, together=1 if len(first.names) > 3 else 0, ylabel=label)
        figures = [Figure(TITLES[name], panels, files=[f"group/{name}.csv"], table=shown.table)]
        text = f"Means of {len(tables)} groups of trials, each from 0 to 100 % of its time, with bands of one standard deviation between them."
        sections.append(Section(TITLES[name], [text], figures))
    return sections


TITLES = {
    "kinematics": "Coordinates",
    "moments": "Joint moments",
    "activations": "Activations",
    "loads": "Joint loads: size of the force",
}
QUANTITY = {"kinematics": "coordinate", "moments": "moment", "activations": "activation", "loads": "force"}
