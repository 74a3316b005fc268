"""Folders that are searched for meshes besides the model's own: those that the user named,
`CONDYLE_GEOMETRY`, and those of an installation of OpenSim."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import condyle.settings as settings
from condyle.errors import DescriptionError

INSTALLED = (
    "C:/OpenSim*/Geometry",
    "C:/Program Files/OpenSim*/Geometry",
    "/Applications/OpenSim*/OpenSim*.app/Contents/Resources/*/Geometry",
    "/Applications/OpenSim*/Geometry",
    "/opt/[oO]pen[sS]im*/Geometry",
    "/opt/[oO]pen[sS]im*/share/*/Geometry",
    "/usr/local/share/*pen[sS]im*/Geometry",
    "/usr/share/*pen[sS]im*/Geometry",
    "~/Documents/OpenSim/*/Geometry",
    "~/[oO]pen[sS]im*/Geometry",
)
"""Where OpenSim puts its meshes, by patterns; its Python wheels have none."""
_named: ContextVar[tuple[Path, ...]] = ContextVar("geometry", default=())


@contextmanager
def named(folders: str | Path | Sequence[str | Path]) -> Iterator[None]:
    """Inside, these folders come first.

    Raises:
        DescriptionError: one of them, or of `CONDYLE_GEOMETRY`, does not exist.
    """
    settings.geometry()
    given: list[Any] = list(folders) if isinstance(folders, (list, tuple)) else [folders]
    for folder in given:
        if not isinstance(folder, (str, os.PathLike)) or not os.path.isdir(folder):
            raise DescriptionError(
                f"geometry: {str(folder)!r} is not a folder; give the folders with mesh files (.vtp, .stl, .obj)"
            )
    token = _named.set(tuple(Path(os.path.abspath(folder)) for folder in given))
    try:
        yield
    finally:
        _named.reset(token)


def first() -> tuple[Path, ...]:
    """Folders that the user named for this model: meshes there come before those beside it."""
    return _named.get()


def others() -> tuple[Path, ...]:
    """Folders for meshes that are not found near the model: `CONDYLE_GEOMETRY`, then OpenSim's."""
    home = os.environ.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
    return (*settings.geometry(), *_installed(home, os.environ.get("OPENSIM_HOME", "")))


@cache
def _installed(home: str, opensim: str) -> tuple[Path, ...]:
    """Folders of installations, the newest first."""
    found = [Path(opensim, "Geometry")] if opensim else []
    for pattern in INSTALLED:
        if pattern.startswith("~") and not home:
            continue
        full = Path(pattern.replace("~", home, 1) if pattern.startswith("~") else pattern)
        if full.is_absolute():
            found += sorted(Path(full.anchor).glob(str(full.relative_to(full.anchor))), reverse=True)
    return tuple(folder for folder in found if folder.is_dir())
