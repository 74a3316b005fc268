"""Setup: content of one setup file of OpenSim. Report: its results."""

from __future__ import annotations

import difflib
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import condyle.files as files
from condyle.arrays import Array
from condyle.errors import DescriptionError, QualityWarning
from condyle.io import read_table
from condyle.io.markers import Markers, read_markers
from condyle.opensim import model_cache
from condyle.opensim.document import Document, add_sets, clear, list_notes, read_document, read_set
from condyle.opensim.element import Element, is_absent
from condyle.opensim.reading import REQUIRED, Reading
from condyle.quality import Quality, Verdict
from condyle.records import dataclass
from condyle.system.system import System
from condyle.table import Table

AT_ONCE = 512
"""Number of rows that are written at a time."""
FORCES = "A force is a generalized force, meaning that it can be either a force (N) or a torque (Nm)."
SI = (
    "Units are S.I. units (second, meters, Newtons, ...)",
    "If the header above contains a line with 'inDegrees', this indicates whether rotational values are in "
    "degrees (yes) or radians (no).",
)
"""Sentences that OpenSim writes into the headers of its files."""
ADVICE = {
    r"If so, say it: table\.with_units\(degrees=True\), or cd\.read_table\(path, degrees=True\)": "If so, write inDegrees=yes into its header",
    "Say degrees=True or False": "Write inDegrees=yes or no into its header",
    "say zeros='missing', or zeros='keep' if they were there": "leave their cells empty if lost",
    r"names=\{.*\} matches them": "rename them in the file",
    r"Does another axis point up, cd.read_markers\(path, vertical='z'\)": "Does another axis point up (condyle convert walk.trc turned.trc --vertical z)",
}
"""Advice of warnings for Python (a pattern), and for files."""
URGENT = (
    "in degrees",
    "at exactly (0, 0, 0)",
    "may call otherwise",
    "this is not the motion",
    "are positions in meters",
    "are points in meters",
)
"""Warnings of possibly wrong numbers: to be checked, not only noted."""


@dataclass
class Report:
    """Results of a setup file.

    Attributes:
        tool: its class, such as "InverseDynamicsTool".
        name: of the tool in the file.
        files: that were written.
        results: main results, a line each.
        check: results beyond OpenSim's guidelines, and omissions.
        notes: irregularities of the files, and differences from OpenSim.
        qualities: quality tables of the results, with guidelines and verdicts.
        objects: results of the studies: an InverseKinematics, a Table of moments, ...
    """

    tool: str
    name: str
    files: list[Path] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    check: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    qualities: list[Quality] = field(default_factory=list)
    objects: list[Any] = field(default_factory=list)

    def judge(self, quality: Quality) -> None:
        """Add the quality of a result to the report; rows above their guidelines are to be checked."""
        if quality.checks:
            self.qualities.append(quality)
        self.check += [str(c) for c in quality if c.verdict in (Verdict.CHECK, Verdict.FAIL)]


class StudyAsked(Exception):
    """Raised at the study of a setup file that is only read: a function and its arguments."""

    def __init__(self, function: Callable[..., Any], given: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.function, self.given, self.options = function, given, options


class Setup:
    """One setup file.

    Args:
        path: the file.
        tell: is called with the name of each step when it begins.

    Attributes:
        tool: the element of the tool.
        folder: of the file: other files are relative to it.
        report: results so far.
        recorded: first and last time [s] of the motion before a filter added rows; None without a filter.
        only_read: `study` raises StudyAsked, and nothing is computed or written.
    """

    _document: Callable[[], Document]

    def __init__(self, path: Path, tell: Callable[[str], None] = lambda step: None) -> None:
        self.path, self.tell = path, tell
        self.document = read_document(path, "")
        self.tool, self.folder = self.document.object, path.resolve().parent
        self.reading = Reading(self.document, System())
        self.report = Report(self.tool.tag, self.tool.name or path.stem)
        self.recorded: tuple[float, float] | None = None
        self.only_read = False

    # ---- content of the file -----------------------------------------------------------------------------

    def text(self, name: str, default: str = "", element: Element | None = None) -> str:
        """The words of a property; empty for Unassigned."""
        text = self.reading.text(element or self.tool, name, default).strip()
        return default if is_absent(text) else text

    def words(self, name: str, element: Element | None = None) -> list[str]:
        """The words of a property, one by one."""
        return [w for w in self.reading.words(element or self.tool, name) if not is_absent(w)]

    def number(self, name: str, default: float = REQUIRED, element: Element | None = None) -> float:
        """The number of a property; it may be infinite."""
        return self.reading.number(element or self.tool, name, default, finite=False)

    def count(self, name: str, default: int, most: int, element: Element | None = None) -> int:
        """The whole number of a property."""
        found = self.number(name, default, element)
        if not -most <= found <= most:
            raise self.error(f"{name}: expected a whole number of at most {most}, got {found:g}", element)
        return int(found)

    def numbers(
        self, name: str, default: Sequence[float], element: Element | None = None
    ) -> tuple[float, ...]:
        """The numbers of a property, as many as the default has."""
        return self.reading.numbers(element or self.tool, name, default, len(default), finite=False)

    def flag(self, name: str, default: bool, element: Element | None = None) -> bool:
        """Whether a property is true."""
        return self.reading.boolean(element or self.tool, name, default)

    def objects(self, name: str, element: Element | None = None) -> list[Element]:
        """Elements of the objects of a set."""
        return self.reading.objects(element or self.tool, name)

    def error(self, what: str, element: Element | None = None) -> DescriptionError:
        return self.reading.error(element or self.tool, what)

    def file(self, name: str, element: Element | None = None) -> Path | None:
        """The file that a property names, from the setup's folder, or else from the current one; None if it
        names none.

        Raises:
            DescriptionError: there is no such file.
        """
        given = self.text(name, "", element)
        return self.find_file(given, f"<{name}>", element) if given else None

    def find_file(self, given: str, what: str, element: Element | None = None) -> Path:
        """A file by its name in a setup."""
        inputs = self.text("input_directory")
        places = [self.folder, *([self.folder / inputs] if inputs else []), Path.cwd()]
        for place in places:
            path = place / given.replace("\\", "/")
            if os.path.isfile(path):
                return path
        wanted = places[0] / given.replace("\\", "/")
        if os.path.isdir(wanted):
            raise self.error(f"{what}: {given!r} is a folder, not a file", element)
        there = (
            [p.name for p in wanted.parent.iterdir() if p.suffix.lower() == wanted.suffix.lower()]
            if os.path.isdir(wanted.parent)
            else []
        )
        near = difflib.get_close_matches(wanted.name, there, n=2)
        raise self.error(
            f"{what}: there is no file {given[:80]!r} in {str(self.folder)!r}"
            + (f"; is it {' or '.join(near)}?" if near else ""),
            element,
        )

    def required_file(self, name: str, what: str, element: Element | None = None) -> Path:
        """The file that a property names and must name."""
        path = self.file(name, element)
        if path is None:
            raise self.error(f"<{name}> names no file; it needs {what}")
        return path

    def beside(self, given: str) -> Path:
        """A file to write, by its name in a setup, from the setup's folder."""
        return self.folder / given.replace("\\", "/")

    # ---- objects built from it
    # --------------------------------------------------------------------------------

    def system(self, element: Element | None = None, marker_sets: Sequence[Path] = ()) -> System:
        """The model, with the forces of force_set_files.

        Args:
            element: with the name of the model; the tool by default.
            marker_sets: files of more markers, which replace the model's of the same name.
        """
        path = self.required_file("model_file", "a model (.osim)", element)
        self.tell(f"model {path.name}")
        forces = [self.find_file(name, "<force_set_files>") for name in self.words("force_set_files")]
        replaced = bool(forces) and self.flag("replace_force_set", False)

        def make() -> tuple[System, Document]:
            from condyle.opensim.model import system_of

            document = read_document(path)
            added = [read_set(file, "ForceSet") for file in forces]
            if replaced:
                clear(document, "ForceSet")
            add_sets(document, [*added, *(read_set(file, "MarkerSet") for file in marker_sets)])
            return system_of(document), document

        found = model_cache.read(
            path, [*forces, *marker_sets], f"constraints{' without forces' * replaced}", make
        )
        self._document = found.document
        self.report.notes += list_notes(found.system.notes).splitlines()
        return found.system

    @cached_property
    def model(self) -> Document:
        """Elements of the model file, with the added sets."""
        return self._document()

    @cached_property
    def model_reading(self) -> Reading:
        """Access to the model file."""
        reading = Reading(self.model, System())
        reading.notes = []  # the document may be that of an earlier trial too
        return reading

    def table(self, path: Path, degrees: bool | None = None) -> Table:
        """A table file; its irregularities go to the report."""
        with self._noted():
            table = read_table(path, degrees=degrees)
        if not len(table):
            raise self.error(f"{path.name}: it has no rows")
        return table

    def markers(self, path: Path) -> Markers:
        """Recorded markers; irregularities of the file go to the report."""
        found: Markers = self.step(f"markers {path.name}", lambda: read_markers(path))
        if not len(found.time):
            raise self.error(f"{path.name}: it has no frames")
        return found

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Warnings go to the report, also if an error follows them."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                yield
            finally:
                self._take(told)

    def _take(self, told: Sequence[Any]) -> None:
        """Put warnings into the report, each once; those on a result's quality are in its table."""
        for text in dict.fromkeys(str(w.message) for w in told if w.category is not QualityWarning):
            for python, file in ADVICE.items():
                text = re.sub(python, file, text)
            where = self.report.check if any(words in text for words in URGENT) else self.report.notes
            where += [text] if text not in where else []

    def step(self, name: str, call: Callable[[], Any]) -> Any:
        """The result of a call; its warnings go to the report."""
        self.tell(name)
        with self._noted():
            return call()

    def study(self, name: str, function: Callable[..., Any], *given: Any, **options: Any) -> Any:
        """The result of a study, as a step; it is stored in the report.

        Raises:
            StudyAsked: the setup is only read.
        """
        if self.only_read:
            raise StudyAsked(function, given, options)
        result = self.step(name, lambda: function(*given, **options))
        self.report.objects.append(result)
        return result

    def check(self, what: str) -> None:
        """Report something to check."""
        self.report.check.append(what)

    def note(self, what: str) -> None:
        """Report an irregularity of the files, or a difference from OpenSim."""
        self.report.notes.append(what)

    # ---- what is written -----------------------------------------------------------------------------------

    @property
    def results(self) -> Path:
        """The folder of results, created on first use."""
        folder = self.folder / (self.text("results_directory") or ".").replace("\\", "/")
        if os.path.exists(folder) and not os.path.isdir(folder):
            raise self.error(f"<results_directory>: {str(folder)!r} is a file, not a folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self.error(
                f"<results_directory>: {str(folder)!r} cannot be made: {error.strerror}"
            ) from None
        return folder

    def save(
        self,
        name: str,
        title: str,
        time: Array,
        columns: Sequence[str],
        values: Array,
        *,
        degrees: bool = False,
        precision: int = 8,
        words: Sequence[str] = (),
    ) -> Path:
        """Write a table as OpenSim's tools write it.

        Args:
            name: of the file, in the folder of results.
            title: first line of the file.
            time: [s], shape (m,).
            columns: names of the columns.
            values: shape (m, columns).
            degrees: what the header says of angles.
            precision: digits after the point.
            words: lines of the header.
        """
        path = self.results / name
        path.parent.mkdir(parents=True, exist_ok=True)
        values = np.column_stack([time, np.reshape(values, (len(time), len(columns)))])
        head = [
            title,
            "version=1",
            f"nRows={len(values)}",
            f"nColumns={values.shape[1]}",
            f"inDegrees={'yes' if degrees else 'no'}",
            *words,
            "endheader",
            "\t".join(["time", *columns]),
        ]
        line = "\t".join([f"%{8 + precision}.{precision}f"] * values.shape[1]) + "\n"
        with files.atomic_write(path, "w", newline="", encoding="utf-8") as file:
            file.write("\n".join([*head, ""]))
            for start in range(0, len(values), AT_ONCE):
                some = values[start : start + AT_ONCE]
                file.write(line * len(some) % tuple(some.ravel().tolist()))
        self.report.files.append(path)
        return path
