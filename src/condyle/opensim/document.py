"""A model file of any version as elements in the layout of OpenSim 4.6: older layouts are rewritten
(versions.py), objects in separate files are included, class defaults are separated. Also sets in separate
files, and notes on unsupported elements."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

from condyle.errors import DescriptionError, warn
from condyle.opensim import accessed_files
from condyle.opensim.element import Components, Element, read_elements
from condyle.opensim.versions import NEWEST, OLDEST, upgrade
from condyle.records import dataclass

MOST_FILES = 100
_OTHERS = {
    ".trc": "cd.read_markers",
    ".c3d": "cd.read_c3d",
    **dict.fromkeys((".mot", ".sto", ".csv", ".npz"), "cd.read_table"),
}
"""Functions that read files with other endings."""


def a(noun: str) -> str:
    """A noun with its article."""
    return f"{'an' if noun[:1] in 'AEIOU' else 'a'} {noun}"


def meant_for(tag: str) -> str:
    """The function or command for a file whose object is of this class, for messages; empty if there is
    none."""
    if tag.endswith("Tool"):
        return "; a setup file is run by: condyle run FILE.xml"
    if tag == "Model":
        return "; a model is read by cd.read_osim(path) and shown by: condyle show MODEL.osim"
    if tag == "ExternalLoads":
        return "; it is read by cd.read_external_loads(path), for an argument of the studies"
    if tag.startswith(("CMC_", "Control", "IKTask")) and tag != "ControllerSet":
        return f"; a {tag} is part of the setup of a tool, whose file names it"
    if tag.endswith("Set"):
        return f"; a file of a {tag} is added to a model by cd.read_osim('model.osim', add=path)"
    return ""


@dataclass
class Document:
    """One file.

    Attributes:
        path: of the file.
        version: that of the file, such as 30000.
        object: the one object in it, such as the Model, in today's layout.
        defaults: elements that give the properties which objects of a class do not state, by class.
        notes: on unsupported elements.
    """

    path: Path
    version: int
    object: Element
    defaults: dict[str, Element] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    @cached_property
    def components(self) -> Components:
        """All named elements of the object by their paths, cached."""
        return Components(self.object)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "components"}


def check_path(path: str | Path) -> Path:
    """A path that may be an XML file.

    Raises:
        DescriptionError: no path, a folder, or a file of another kind.
    """
    if not isinstance(path, (str, Path)):
        raise DescriptionError(f"expected the path of a file, got {path!r}")
    path = Path(path)
    if os.path.isdir(path):
        raise DescriptionError(f"{str(path)!r} is a folder; give the file in it")
    if reader := _OTHERS.get(path.suffix.lower()):
        raise DescriptionError(
            f"{path.name}: expected OpenSim's XML; a {path.suffix} is read by {reader}(path)"
        )
    return path


def read_document(path: str | Path, wanted: str = "Model") -> Document:
    """Read a file whose root is OpenSimDocument.

    Args:
        path: the file.
        wanted: class of the object in it, for messages; "" for any.

    Raises:
        DescriptionError: a file that cannot be read, with its line.
        FileNotFoundError: no such file.
    """
    path = check_path(path)
    version, root = _object(path)
    thing = root.children[0]
    if wanted and thing.tag != wanted:
        raise DescriptionError(
            f"{thing.place}: expected {a(wanted)}, got {a(thing.tag)}{meant_for(thing.tag)}"
        )
    if wanted == "Model" and version < OLDEST:
        raise DescriptionError(
            f"{root.place}: version {version} is older than {OLDEST}, the oldest that is "
            "read (by OpenSim too); open it in OpenSim 2 or 3 and save it again"
        )
    document = Document(path, version, thing)
    _bring_in(document, root, path.resolve().parent)
    if version > NEWEST:
        document.notes.append(
            Note(root.file, root.line, f"version {version}", f"newer than {NEWEST}; read as that")
        )
    upgrade(root, version)
    if thing.tag == "Model":
        ground = thing.child("Ground") or thing.add("Ground", at=0)
        ground.attributes["name"] = "ground"
    for holder in root.descendants("defaults"):
        for element in holder.children:
            document.defaults.setdefault(element.tag, element)
    for holder in root.descendants("defaults"):
        holder.remove()
    return document


def _object(path: Path, bare: str = "") -> tuple[int, Element]:
    """Version and outermost element of a file; a bare object of the wanted class, or a bare tool, as in the
    oldest files, is wrapped in one."""
    root = read_elements(path)
    if (bare and root.tag == bare) or root.tag.endswith("Tool"):
        around = Element("OpenSimDocument", line=root.line, file=root.file)
        around.take(root)
        return OLDEST, around
    if root.tag != "OpenSimDocument":
        raise DescriptionError(
            f'{root.place}: expected <OpenSimDocument Version="...">, got <{root.tag}>; '
            "this is not a file of OpenSim 1.9 or later"
        )
    text = root.attributes.get("Version", "").strip()
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise DescriptionError(
            f"{root.place}: OpenSimDocument: Version: expected a number such as 40600, got {text!r}"
        )
    if not root.children:
        raise DescriptionError(f"{root.place}: OpenSimDocument is empty")
    return int(text), root


def _bring_in(document: Document, root: Element, folder: Path) -> None:
    """Include objects from separate files."""
    waiting = [e for e in root.descendants() if e.attributes.get("file", "").strip()]
    count = 0
    while waiting:
        element = waiting.pop()
        name = element.attributes.pop("file").strip()
        count += 1
        if count > MOST_FILES:
            raise DescriptionError(
                f"{element.place}: {element.title}: more than {MOST_FILES} files inside "
                "files; do they contain each other?"
            )
        path = inside(folder, name, element)
        if not accessed_files.is_file(path):
            document.notes.append(
                Note(
                    element.file,
                    element.line,
                    element.title,
                    f"its file {name!r} is not in the model's folder; it is left empty",
                )
            )
            continue
        accessed_files.note_read(path)
        version, other = _object(path, element.tag)
        own = other.children[0]
        if own.tag != element.tag:
            raise DescriptionError(
                f"{own.place}: {element.place} expects a {element.tag} in this file; it has a {own.tag}"
            )
        if version < document.version:
            upgrade(other, version, document.version)
        for child in list(own.children):
            element.take(child)
        waiting += [
            e
            for child in element.children
            for e in child.descendants()
            if e.attributes.get("file", "").strip()
        ]


def inside(folder: Path, name: str, element: Element) -> Path:
    """A file that an element names, beneath the model's folder.

    Raises:
        DescriptionError: it is elsewhere.
    """
    try:
        path = (folder / name.replace("\\", "/")).resolve()
        path.is_file()  # a name may be too long for the file system
        if path.is_relative_to(folder.resolve()):
            return path
    except (OSError, ValueError):
        raise DescriptionError(
            f"{element.place}: {element.title}: {name[:80]!r} is not the name of a file"
        ) from None
    raise DescriptionError(
        f"{element.place}: {element.title}: the file {name!r} is outside of the model's "
        "folder; only files beneath it are read"
    )


# ---- sets of markers, forces and the like in separate files, included in a model ----------------

ADDED = ("MarkerSet", "ForceSet", "ConstraintSet", "ControllerSet", "ContactGeometrySet")
"""Sets that a model takes from other files."""
BARE = (*ADDED, "ActuatorSet")
"""Outermost elements of the oldest files; the last is a ForceSet of OpenSim 1.9."""


def read_set(path: str | Path, wanted: str = "") -> Document:
    """A file with one set.

    Args:
        path: the file.
        wanted: class of the set; any of ADDED if empty.

    Raises:
        DescriptionError: it contains something else.
    """
    root = read_elements(check_path(path))
    if root.tag in BARE:
        upgrade(root, OLDEST)
        document = Document(Path(path), OLDEST, root)
    else:
        document = read_document(path, "")
    found, allowed = document.object.tag, (wanted,) if wanted else ADDED
    if found not in allowed:
        hint = "; a model is the first argument of cd.read_osim" if found == "Model" else meant_for(found)
        raise DescriptionError(
            f"{document.object.place}: expected a {' or '.join(allowed)} to add to a "
            f"model, got {a(found)}{hint if found not in ADDED else ''}"
        )
    return document


def add_sets(model: Document, sets: Iterable[Document]) -> None:
    """Bring objects of other files into a model's sets, after its own.

    A marker takes the place of the model's marker of that name.
    """
    for other in sets:
        own, given = _objects(model, other.object.tag), other.object.child("objects")
        for element in list(given.children if given is not None else []):
            if other.object.tag == "MarkerSet":
                _remove(e for e in own.children if e.name == element.name)
            own.take(element)
        model.notes += other.notes
        for name, element in other.defaults.items():
            model.defaults.setdefault(name, element)


def clear(model: Document, tag: str) -> None:
    """Remove all objects from one of a model's sets."""
    _remove(_objects(model, tag).children)


def _objects(model: Document, tag: str) -> Element:
    """The element with the objects of one of a model's sets; created if there is none."""
    own = model.object.child(tag) or model.object.add(tag)
    return own.child("objects") or own.add("objects")


def _remove(elements: Iterable[Element]) -> None:
    for element in list(elements):
        element.remove()


# ---- notes on unsupported elements, and their effects -----------------------------------------


@dataclass(frozen=True)
class Note:
    """An element of a file that a System does not have, or has in another form.

    Attributes:
        file: name of the file.
        line: of the element.
        element: its class and name, such as "Probe 'work'".
        effect: on the System.
    """

    file: str
    line: int
    element: str
    effect: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.element}: {self.effect}"


SHOWN = 12


def list_notes(notes: Sequence[Note]) -> str:
    """Notes for reading, one per line; equal effects once, with the first place and their number."""
    alike: dict[tuple[str, str], list[Note]] = {}
    for note in notes:
        alike.setdefault((note.element.partition(" ")[0], note.effect), []).append(note)
    lines = [str(group[0]) + (f" ({len(group)} times)" if len(group) > 1 else "") for group in alike.values()]
    more = [f"... and {len(lines) - SHOWN} more in system.notes"] if len(lines) > SHOWN else []
    return "\n".join(lines[:SHOWN] + more)


def warn_of_notes(notes: Sequence[Note], file: str) -> None:
    """One warning for all notes of a file."""
    if notes:
        warn(f"{file}: what to know of this file (system.notes has all):\n{list_notes(notes)}")
