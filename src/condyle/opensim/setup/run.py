"""Run a setup file of any tool of OpenSim; and dependencies between files."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from condyle.errors import CondyleError, DescriptionError
from condyle.native.calls.native_function import compile_when_it_pays
from condyle.opensim.document import meant_for, read_document
from condyle.opensim.element import Element, is_absent
from condyle.opensim.setup.setup_file import Report, Setup

TOOLS = {
    "InverseKinematicsTool": ("inverse_kinematics_tool", "run"),
    "InverseDynamicsTool": ("inverse_dynamics_tool", "run"),
    "AnalyzeTool": ("analyze_tool", "run"),
    "ScaleTool": ("scale_tool", "run"),
    "ForwardTool": ("forward_tool", "run"),
    "IMUInverseKinematicsTool": ("inverse_kinematics_tool", "run_imus"),
    "MocoStudy": ("moco_tool", "run_study"),
    "MocoTrack": ("moco_tool", "run_track"),
    "MocoInverse": ("moco_tool", "run_inverse"),
}
"""The module of each tool, and its function of a Setup."""
MISSING = {
    "RRATool": "residual reduction (RRA) is not supported; cd.track(..., adjust=) does it, or give reserves "
    "to a StaticOptimization",
    "CMCTool": "computed muscle control (CMC) is not supported; StaticOptimization in an AnalyzeTool gives "
    "muscle forces of a recorded motion",
}
"""Tools of OpenSim that are not supported, and what to do instead."""


def run_setup(path: str | Path, tell: Callable[[str], None] = lambda step: None) -> Report:
    """Run a setup file as OpenSim would: files are read and written from its own folder.

    Args:
        path: an .xml file of an OpenSim tool: scale, inverse kinematics of markers or sensors, inverse
            dynamics, analyze, forward; or an .omoco file of MocoStudy, MocoTrack or MocoInverse.
        tell: is called with the name of each step when it begins.

    Returns:
        the Report: files that were written, and what to check.

    Raises:
        DescriptionError: a file that cannot be read, or a tool that is not supported.
        CondyleError: errors of the study. Its `report` has the notes made before.
        FileNotFoundError: no such file.
    """
    start = time.perf_counter()
    setup = Setup(Path(path), tell)
    module, run = tool_of(setup)
    try:
        with compile_when_it_pays():
            getattr(importlib.import_module(f"condyle.opensim.setup.{module}"), run)(setup)
    except Exception as error:
        vars(error)["report"] = setup.report  # notes made before it failed
        raise
    setup.report.results.append(f"{time.perf_counter() - start:.2f} s")
    return setup.report


def tool_of(setup: Setup) -> tuple[str, str]:
    """Module and function of a setup's tool.

    Raises:
        DescriptionError: it is not supported.
    """
    tool = setup.tool.tag
    if tool not in TOOLS:
        why = MISSING.get(tool) or f"is no tool that runs here; these do: {', '.join(TOOLS)}{meant_for(tool)}"
        raise DescriptionError(f"{setup.path.name}: {tool}: {why}")
    return TOOLS[tool]


# ---- dependencies between setup files --------------------------------------------------------------

PREFIXED = ("AnalyzeTool", "ForwardTool")
"""Tools whose results have their names."""
FILES = (".osim", ".mot", ".sto", ".trc", ".xml", ".csv")


def needs(setups: Sequence[Path]) -> tuple[dict[Path, list[Path]], dict[Path, list[str]]]:
    """For each setup file, those before it whose files it reads; and messages on files that a later one
    writes. None if a file cannot be read."""
    known: dict[Path, Files] = {}
    for path in setups:
        try:
            known[path] = Files(path)
        except (CondyleError, OSError):
            continue
    before: dict[Path, list[Path]] = {path: [] for path in setups}
    after: dict[Path, list[str]] = {path: [] for path in setups}
    for k, path in enumerate(setups):
        for i, other in enumerate(setups):
            if path == other or path not in known or other not in known:
                continue
            read = [file for file in known[path].reads if known[other].writes(file)]
            if read and i < k:
                before[path].append(other)
            elif read:
                after[path].append(f"it reads {read[0].name}, which {other} writes: give that file first")
    return before, after


class Files:
    """Files that a setup file names.

    Args:
        path: the setup file.

    Attributes:
        reads: input files.
    """

    def __init__(self, path: Path) -> None:
        tool, folder = read_document(path, "").object, path.resolve().parent
        results = tool.child("results_directory")
        given = results.text if results is not None else ""
        self._results = _at(folder, "." if is_absent(given) else given)
        self._prefix = f"{tool.name}_" if tool.tag in PREFIXED else ""
        named = [e for e in tool.descendants() if _is_file(e)]
        self.reads = [_at(folder, e.text) for e in named if not e.tag.startswith("output_")]
        self._written = {
            _at(place, e.text)
            for e in named
            if e.tag.startswith("output_")
            for place in (folder, self._results)
        }

    def writes(self, file: Path) -> bool:
        """Whether it writes a file: one that it names, or one of the results, NAME_..."""
        own = bool(self._prefix) and file.name.startswith(self._prefix)
        return file in self._written or (own and file.parent == self._results)


def _is_file(element: Element) -> bool:
    text = element.text.strip()
    return not element.children and len(text) < 1000 and text.lower().endswith(FILES) and "\n" not in text


def _at(folder: Path, text: str) -> Path:
    """The path of a file, which need not exist."""
    return Path(*(folder / text.strip().replace("\\", "/")).absolute().parts).resolve()
