"""`cd.run` and `cd.read_setup`: setup files of OpenSim's tools from Python."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from condyle.errors import DescriptionError
from condyle.opensim.setup.run import run_setup, tool_of
from condyle.opensim.setup.setup_file import Report, Setup, StudyAsked
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class StudyCall(Mapping[str, Any]):
    """A study and its arguments from a setup file: `cd.inverse_kinematics(**call)`, `call["markers"]`.

    Attributes:
        study: the function, such as `cd.inverse_kinematics`.
        arguments: of it, by name: objects that were read.
        notes: on irregularities of the files.
    """

    study: Callable[..., Any]
    arguments: dict[str, Any]
    notes: tuple[str, ...] = field(default=())

    def run(self, **changes: object) -> Any:
        """The study, with some arguments changed."""
        return self.study(**{**self.arguments, **changes})

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arguments)

    def __len__(self) -> int:
        return len(self.arguments)

    def __repr__(self) -> str:
        return f"cd.{self.study.__name__}({', '.join(f'{name}=...' for name in self.arguments)})"


@dataclass(frozen=True, eq=False, repr=False)
class SetupRun:
    """Results of a setup file.

    Attributes:
        results: of its studies, in order: an InverseKinematics, a Table, ...
        files: that were written.
        report: notes, what to check, quality tables.
    """

    results: tuple[Any, ...]
    files: tuple[Path, ...]
    report: Report

    @property
    def result(self) -> Any:
        """The last of the results; None if there is none."""
        return self.results[-1] if self.results else None

    def __repr__(self) -> str:
        kinds = ", ".join(type(x).__name__ for x in self.results)
        return f"SetupRun({self.report.tool} {self.report.name!r}: {kinds}; {len(self.files)} files)"


def read_setup(path: str | Path) -> StudyCall:
    """The study of a setup file with its arguments, read but not run: a ScaleTool has `cd.scale` with its
    MeasurementSet and, where its MarkerPlacer reads the same markers, weights and pose of that; an
    InverseKinematicsTool `cd.inverse_kinematics` with its weights. An AnalyzeTool has the study of its first
    analysis; `cd.run` runs all.

    Args:
        path: an .xml file of an OpenSim tool, as for `condyle run`.

    Raises:
        DescriptionError: a file that cannot be read, or a tool that is not supported.
        FileNotFoundError: no such file.
    """
    if not isinstance(path, (str, Path)):
        raise DescriptionError(f"read_setup: expected the path of a setup file (.xml), got {path!r}")
    setup = Setup(Path(path))
    setup.only_read = True
    module, function = tool_of(setup)
    try:
        getattr(importlib.import_module(f"condyle.opensim.setup.{module}"), function)(setup)
    except StudyAsked as asked:
        bound = inspect.signature(asked.function).bind(*asked.given, **asked.options)
        arguments = {name: value for name, value in bound.arguments.items() if name != "options"}
        arguments |= bound.arguments.get("options", {})
        return StudyCall(asked.function, arguments, tuple(setup.report.notes))
    raise DescriptionError(f"read_setup: {setup.path.name} contains no study")


def run(path: str | Path) -> SetupRun:
    """Run a setup file of an OpenSim tool, as `condyle run` does: it writes the files that OpenSim writes,
    and returns the results as objects.

    Args:
        path: the .xml file.

    Raises:
        DescriptionError: a file that cannot be read, or a tool that is not supported.
        CondyleError: errors of the study.
        FileNotFoundError: no such file.
    """
    if not isinstance(path, (str, Path)):
        raise DescriptionError(f"run: expected the path of a setup file (.xml), got {path!r}")
    report = run_setup(path)
    return SetupRun(tuple(report.objects), tuple(report.files), report)
