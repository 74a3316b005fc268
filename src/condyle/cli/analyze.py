"""`condyle analyze`: the study of a motion, for a ready model or a system from a Python file."""

from __future__ import annotations

import difflib
import html
import warnings
from collections.abc import Sequence
from pathlib import Path

import condyle as cd
from condyle.cli.command_steps import CommandSteps
from condyle.cli.output import NewFolder, refuse_unwritable
from condyle.cli.systems import system_of
from condyle.cli.terminal import say, say_table
from condyle.errors import DescriptionError
from condyle.native.machine.ctrl_c import patient
from condyle.opensim import read_external_loads
from condyle.reports import report
from condyle.reports.analysis import CONFIGURATIONS, Analysis, analyze, count
from condyle.tree import scales


def run(
    model: str,
    file: Path,
    output: Path | None,
    external_loads: Path | None,
    configurations: Sequence[str] | None,
    lowpass: float | None,
    degrees: bool | None,
    ending: str,
    force: bool,
    compare: Path | None = None,
    compare_loads: Path | None = None,
) -> bool:
    """Analyze a motion and write report and tables. Returns True if all frames have been solved.

    Args:
        model: see `systems.system_of`.
        file: the motion.
        output: folder for report and tables; None is the first unused of NAME-analysis, NAME-analysis-2, ...
        external_loads: OpenSim's .xml.
        configurations: names of CONFIGURATIONS; None is all.
        lowpass: cut-off frequency [Hz].
        degrees: whether angles of the motion are in degrees; None asks the file.
        ending: of the tables.
        force: overwrite existing files.
        compare: another motion, in the same report; its tables are in a folder of its name.
        compare_loads: OpenSim's .xml of that one.
    """
    if compare_loads is not None and compare is None:
        raise DescriptionError("--compare-loads needs --compare, the motion that they belong to")
    with patient():
        refuse_unwritable(output, force)
        motions = [f for f in (file, compare) if f is not None]
        read = [read_motion(f, degrees) for f in motions]
        system = system_of(model)
        chosen = tuple(configurations or CONFIGURATIONS)
        with CommandSteps(len(read) * count(system, chosen) + 1) as steps:
            given = zip(motions, (external_loads, compare_loads), read, strict=False)
            every = [_analyzed(system, *one, lowpass, chosen, steps) for one in given]
            found, other = every[0], every[1] if compare is not None else None
            with steps.step("report"), NewFolder(output, f"{file.stem}-analysis") as folder:
                found.save(folder.path, ending)
                title, labels = f"{file.name}: muscle forces and joint loads", (file.stem, "other")
                lead = [f"{html.escape(Path(model).name)} moves as in {_said(file, found)}."]
                if compare is not None and other is not None:
                    (beside := folder.path / f"compared-{compare.stem}").mkdir(exist_ok=True)
                    other.save(beside, ending)
                    labels = distinct_labels(file, compare)
                    title = f"{labels[0]} beside {labels[1]}: muscle forces and joint loads"
                    lead.append(f"Beside it {_said(compare, other)}; both begin together here.")
                lead.append(f"Made by Condyle {cd.__version__}, <code>condyle analyze</code>.")
                page = report.write(found, title, lead, ending, compare=other, labels=labels)
                (folder.path / "report.html").write_text(page, encoding="utf-8")
            seconds = steps.seconds
        for block in found.checked:
            say_table(block)
        for text in (*found.notes, *found.advice):
            say("note", text)
        for text in found.problems:
            say("FAILED", text)
        print()
        say(
            "",
            f"Done in {seconds:.1f} s. Open {folder.path / 'report.html'} in a browser; "
            f"{len(found.tables)} tables are beside it.",
        )
        return not any(one.problems for one in every)


def _analyzed(
    system: cd.System,
    file: Path,
    loads: Path | None,
    read: tuple[cd.Table, list[str]],
    lowpass: float | None,
    configurations: Sequence[str],
    steps: CommandSteps,
) -> Analysis:
    """The study of one motion; irregularities of its file are among the notes."""
    table, notes = read
    check_angles(system, table, file)
    with warnings.catch_warnings(record=True, action="always") as told:
        motion = cd.Motion.of(system, table, lowpass=lowpass)
    external = read_external_loads(loads) if loads is not None else None
    found = analyze(system, motion, external, configurations=configurations, step=steps.step)
    found.notes[:0] = [*notes, *(str(w.message) for w in told)]
    return found


def _said(file: Path, found: Analysis) -> str:
    t = found.motion.t
    return f"{html.escape(file.name)}: {len(t)} frames from {t[0]:g} to {t[-1]:g} s"


def distinct_labels(one: Path, other: Path) -> tuple[str, str]:
    """Names of two files, with their folders if they are the same."""
    if one.stem != other.stem:
        return one.stem, other.stem
    return (
        (f"{one.parent.name}/{one.stem}", f"{other.parent.name}/{other.stem}")
        if one.parent.name != other.parent.name
        else (one.stem, f"{other.stem} (compared)")
    )


def read_motion(file: Path, degrees: bool | None) -> tuple[cd.Table, list[str]]:
    """The Table of a file, and its irregularities.

    Raises:
        DescriptionError: there is no such file; or the unit of its angles is unknown.
    """
    if not file.is_file():
        there = [p.name for p in file.parent.glob("*") if p.is_file()] if file.parent.is_dir() else []
        near = difflib.get_close_matches(file.name, there, n=2)
        similar = f"; is it {' or '.join(str(file.parent / n) for n in near)}?" if near else ""
        raise DescriptionError(f"{file}: no such file{similar}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = cd.read_table(file, degrees=degrees)
    said = [str(w.message) for w in caught]
    if any("inDegrees" in text for text in said):
        raise DescriptionError(
            f"{file}: it has no line inDegrees=yes or inDegrees=no; say --degrees or --radians"
        )
    return table, said


def check_angles(system: cd.System, table: cd.Table, file: Path) -> None:
    """Refuse angles of unknown unit."""
    if table.degrees is not None:
        return
    units = dict(zip(system.coordinates, scales.units(system.bodies)[0], strict=True))
    bare = [
        name
        for name, unit in zip(table.names, table.units, strict=True)
        if units.get(name) == "rad" and not unit
    ]
    if bare:
        raise DescriptionError(
            f"{file}: nothing says whether "
            f"{', '.join(bare[:3])}{', ...' * (len(bare) > 3)} "
            f"{'is' if len(bare) == 1 else 'are'} in degrees; say --degrees or --radians, "
            f'or write the unit into the title: "{bare[0]} [deg]"'
        )
