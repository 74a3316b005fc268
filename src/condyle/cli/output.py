"""Folders of results: they appear complete, under an unused name, and existing files are overwritten on
request only."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from pathlib import Path

import condyle.files as files
from condyle.errors import CondyleError


def refuse_unwritable(folder: Path | None, force: bool, option: str = "--output") -> None:
    """Report before the work that nothing can be written. Nothing is created yet.

    Args:
        folder: as the user gave it; None is a new one in the current folder.
        force: existing files may be overwritten.
        option: of the command for the folder.
    """
    place = "the current folder" if folder is None else f"{option} {str(folder)!r}"
    full = (folder or Path()).absolute()
    if folder is not None and full.is_dir() and any(full.iterdir()) and not force:
        raise CondyleError(
            f"{place}: exists already and is not empty; choose another folder, or overwrite files "
            "of the same names by --force"
        )
    try:
        if full.exists() and not full.is_dir():
            raise NotADirectoryError(0, "Not a directory")
        tempfile.TemporaryFile(dir=next(p for p in (full, *full.parents) if p.exists())).close()
    except OSError as error:
        raise CondyleError(
            f"cannot write into {place}: {error.strerror}; choose a folder with {option} DIR"
        ) from None


def first_unused(path: Path) -> Path:
    """That path, or the first unused of NAME-2, NAME-3, ..."""
    names = itertools.chain([path], (path.with_stem(f"{path.stem}-{k}") for k in itertools.count(2)))
    return next(p for p in names if not p.exists())


class NewFolder:
    """A folder to write into, inside a `with`: a temporary one, which replaces it when the block ends and is
    removed if that fails.

    Args:
        folder: for the results. If it exists, files of equal names are replaced.
        default: the name if none is given: the first unused of default, default-2, default-3, ...

    Attributes:
        path: the folder to write into; after the block that of the results.
    """

    def __init__(self, folder: Path | None, default: str) -> None:
        self.folder, self.default = folder, default

    def __enter__(self) -> NewFolder:
        target = self._target()
        target.parent.mkdir(parents=True, exist_ok=True)
        self.path = target.parent / f".{target.name}.{os.getpid()}.{os.urandom(4).hex()}.new"
        self.path.mkdir()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self.path = self._moved()
        except BaseException:
            kind = BaseException
            raise
        finally:
            if kind is not None:
                shutil.rmtree(self.path, ignore_errors=True)

    def _moved(self) -> Path:
        target = self._target()
        if not target.is_dir():
            return self.path.rename(target)
        for file in self.path.iterdir():
            files.replace(file, target / file.name)
        self.path.rmdir()
        return target

    def _target(self) -> Path:
        if self.folder is not None:
            return self.folder
        names = itertools.chain([self.default], (f"{self.default}-{k}" for k in itertools.count(2)))
        return next(Path(n) for n in names if not os.path.lexists(n))
