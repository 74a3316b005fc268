"""Which setup files need what others write: inverse dynamics the motion of inverse kinematics, say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from condyle.errors import CondyleError
from condyle.opensim.components import is_absent
from condyle.opensim.document import read_document
from condyle.opensim.element import Element

PREFIXED = ("AnalyzeTool", "ForwardTool")
"""Tools whose results are called after them."""
FILES = (".osim", ".mot", ".sto", ".trc", ".xml", ".csv")


def needs(setups: Sequence[Path]) -> tuple[dict[Path, list[Path]], dict[Path, list[str]]]:
    """Of each setup file, those before it whose files it reads; and, in words, what it reads that one after
    it writes. None where a file cannot be read."""
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
        reads: what it reads.
    """

    def __init__(self, path: Path) -> None:
        tool, folder = read_document(path, "").object, path.resolve().parent
        results = tool.child("results_directory")
        given = results.text if results is not None else ""
        self._results = _at(folder, "." if is_absent(given) else given)
        self._prefix = f"{tool.name}_" if tool.tag in PREFIXED else ""
        named = [e for e in tool.every() if _is_file(e)]
        self.reads = [_at(folder, e.text) for e in named if not e.tag.startswith("output_")]
        self._written = {
            _at(place, e.text)
            for e in named
            if e.tag.startswith("output_")
            for place in (folder, self._results)
        }

    def writes(self, file: Path) -> bool:
        """Whether it writes a file: one that it names, or one of results, NAME_..."""
        own = bool(self._prefix) and file.name.startswith(self._prefix)
        return file in self._written or (own and file.parent == self._results)


def _is_file(element: Element) -> bool:
    text = element.text.strip()
    return not element.children and len(text) < 1000 and text.lower().endswith(FILES) and "\n" not in text


def _at(folder: Path, text: str) -> Path:
    """Where a file is, whether it is there or not."""
    return Path(*(folder / text.strip().replace("\\", "/")).absolute().parts).resolve()
