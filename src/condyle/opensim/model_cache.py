"""Cache of models: their parsed form is stored in this process and in the cache on disk.

An entry holds a System's parts and the elements of its files, pickled: the cache is a folder of ours alone, whose
machine code is run as well. Its key has the content of every file that was given, the model's folder, the
folders for meshes elsewhere, and the options of reading; the cache adds Condyle's sources. Everything else
that was accessed, such as included files and the existence of meshes, is in the entry, and compared each
time. So a file that is edited in place is read again. A model that raises warnings is not stored, so that
they appear each time.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import condyle.errors as errors
from condyle.loading import collector_paused
from condyle.native.machine import cache
from condyle.opensim import accessed_files, geometry_folders
from condyle.system.compiled import SharedCode
from condyle.system.system import System

if TYPE_CHECKING:
    from condyle.opensim.document import Document

_MOST = 8
_held: dict[str, tuple[System, Callable[[], Document], Any]] = {}
"""The last models that this process has read: System, document and accessed files, by key."""


class Kept:
    """A System that may be changed, and its document, which is created on first use and never changed."""

    def __init__(self, system: System, document: Callable[[], Document]) -> None:
        self.system, self.document = system, document


def read(
    path: str | Path, add: Sequence[str | Path], how: str, make: Callable[[], tuple[System, Document]]
) -> Kept:
    """A model from its files or from the cache.

    Args:
        path: the model file.
        add: other files that are part of it.
        how: everything else that determines it, as text.
        make: reads it.
    """
    key = _key(path, add, how)
    if key and (found := _find(key)) is not None:
        return found
    before = errors.warned()
    with accessed_files.recorded() as seen:
        system, document = make()
    if not key or errors.warned() != before or _key(path, add, how) != key:
        return Kept(system, lambda: document)
    with contextlib.suppress(errors.CondyleError):  # the first use raises it
        system._check_laws()  # once, not at each use
        system._check_inertia()
    try:
        texts = [law.description() and vars(law).get("_description") for law in system._laws()]
        parts, elements = (pickle.dumps(x, 5) for x in ((system._parts(), texts), document))
    except (pickle.PicklingError, RecursionError, TypeError, AttributeError):
        return Kept(system, lambda: document)
    cache.store(key, parts + elements, {"parts": len(parts), "looked": seen})
    system._shared = SharedCode()
    _hold(key, system.copy(), _once(elements), seen)
    return Kept(system, lambda: document)


def _key(path: str | Path, add: Sequence[str | Path], how: str) -> str:
    """Text that determines a model; empty if a file cannot be read."""
    try:
        files = [(os.path.basename(p), accessed_files.content(p)) for p in (path, *add)]
        folders = [*geometry_folders.first(), *geometry_folders.others()]
        return f"model {how}\n{os.path.realpath(path)}\n{files}{folders}" if all(d for _, d in files) else ""
    except (OSError, TypeError, ValueError):
        return ""


def _find(key: str) -> Kept | None:
    if key in _held:
        system, document, seen = _held.pop(key)
        if not accessed_files.unchanged(seen):
            return None
        _hold(key, system, document, seen)
        return Kept(system.copy(), document)

    @collector_paused()
    def load(data: bytes, facts: dict[str, Any]) -> Kept | None:
        seen, at = facts["looked"], facts["parts"]
        if not accessed_files.unchanged(seen):
            return None
        found, texts = pickle.loads(memoryview(data)[:at])
        system = System._from_parts(found)
        for law, text in zip(system._laws(), texts, strict=True):
            if text:  # which took a fifth of reading
                vars(law)["_description"] = text
        system._shared = SharedCode()
        document = _once(data[at:])
        _hold(key, system, document, seen)
        return Kept(system.copy(), document)

    return cache.loaded(key, load)


def _once(elements: bytes) -> Callable[[], Document]:
    """A function that returns the document of these bytes."""

    @functools.cache
    @collector_paused()
    def document() -> Document:
        found: Document = pickle.loads(elements)
        return found

    return document


def _hold(key: str, system: System, document: Callable[[], Document], seen: Any) -> None:
    while len(_held) >= _MOST:
        _held.pop(next(iter(_held)))
    _held[key] = system, document, seen
