"""Sets of markers, forces and the like that are files of their own, brought into a model."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from condyle.errors import DescriptionError
from condyle.opensim.document import Document, a, check_path, meant_for, read_document
from condyle.opensim.element import Element, read_elements
from condyle.opensim.versions import OLDEST, upgrade

ADDED = ("MarkerSet", "ForceSet", "ConstraintSet", "ControllerSet", "ContactGeometrySet")
"""Sets that a model takes from other files."""
BARE = (*ADDED, "ActuatorSet")
"""What is the outermost element of the oldest files; the last is a ForceSet of OpenSim 1.9."""


def read_set(path: str | Path, wanted: str = "") -> Document:
    """A file with one set.

    Args:
        path: the file.
        wanted: class of the set; any of ADDED if empty.

    Raises:
        DescriptionError: there is something else in it.
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
    """Take all objects out of one of a model's sets."""
    _remove(_objects(model, tag).children)


def _objects(model: Document, tag: str) -> Element:
    """What holds the objects of one of a model's sets; made if there is none."""
    own = model.object.child(tag) or model.object.add(tag)
    return own.child("objects") or own.add("objects")


def _remove(elements: Iterable[Element]) -> None:
    for element in list(elements):
        element.remove()
