"""Record of what readers access besides the given files: existence and content of other files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

Seen = list[list[str]]
"""Path and result: the digest of a file's content, "there", or "" for no file."""
_seen: ContextVar[Seen | None] = ContextVar("seen", default=None)


@contextmanager
def recorded() -> Iterator[Seen]:
    """Records every access inside the block."""
    seen: Seen = []
    token = _seen.set(seen)
    try:
        yield seen
    finally:
        _seen.reset(token)


def content(path: str | Path) -> str:
    """Digest of a file's content, or empty."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def is_file(path: Path) -> bool:
    """Whether there is a file."""
    there = path.is_file()
    if (seen := _seen.get()) is not None:
        seen.append([os.path.abspath(path), "there" if there else ""])
    return there


def note_read(path: Path) -> None:
    """Record a file whose content matters."""
    if (seen := _seen.get()) is not None:
        seen.append([os.path.abspath(path), content(path)])


def unchanged(seen: Sequence[Sequence[str]]) -> bool:
    """Whether nothing has changed."""
    return all(
        os.path.isfile(path) == bool(found) and (found in ("", "there") or content(path) == found)
        for path, found in seen
    )
