"""Files written atomically, and cleanup of leftovers of killed processes.

A file is written beside its target as `<target>.<machine>.<process>.<random>.new` and then renamed. It is
removed if writing fails, except after a kill or loss of power. A leftover is recognized by its name, if no
such process exists on that machine and nothing has been written for some seconds; from another machine, after
an hour.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import glob
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from condyle.errors import DescriptionError, MissingFileError

UNFINISHED = ".new"
"""Suffix of unfinished files."""
_PAUSE, _HOUR = 10.0, 3600.0  # [s] without a write
_NAME = re.compile(r"\.([\w-]*)\.(\d+)\.\w+\.new$")


def existing(path: Path) -> Path:
    """The path of an existing file.

    Raises:
        MissingFileError: it does not exist; with similar names.
    """
    try:
        if path.exists():
            return path
        folder = path.absolute().parent
        there = folder.is_dir()
        names = sorted(p.name for p in folder.iterdir()) if there else []
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise MissingFileError(f"{str(path)[:80]!r} is not the name of a file: {why}", str(path)) from None
    if not there:
        raise MissingFileError(
            f"there is no file {str(path)!r}: there is no folder {str(folder)!r}", str(path)
        )
    alike = [name for name in names if Path(name).suffix.lower() == path.suffix.lower()]
    near = (
        difflib.get_close_matches(path.name, alike, n=3)
        or difflib.get_close_matches(path.name, names, n=3, cutoff=0.75)
        or alike[:3]
    )
    hint = f"; is it {' or '.join(map(repr, near))}?" if near else ""
    raise MissingFileError(f"there is no file {path.name!r} in {str(folder)!r}{hint}", str(path), near)


def check_target(path: Path, who: str) -> None:
    """Raise an error if a file cannot be written by `who`.

    Raises:
        DescriptionError: its folder does not exist, or it is a folder itself.
    """
    if not os.path.isdir(path.parent):
        raise DescriptionError(
            f"{who}: {str(path)!r}: there is no folder {str(path.parent)!r}; make it first"
        )
    if os.path.isdir(path):
        raise DescriptionError(f"{who}: {str(path)!r} is a folder; give the name of a file")


@contextlib.contextmanager
def atomic_write(
    path: Path, mode: str = "wb", *, private: bool = False, tidy: bool = True, **options: Any
) -> Iterator[IO[Any]]:
    """A file open for writing, which replaces `path` when the block ends, and is removed if it fails.

    A file that exists keeps its mode and, where this process may set them, its owner and group. Through a
    symbolic link, its target is replaced or created. A new file has the mode that `open` gives it. A device
    or a pipe is written directly.

    Args:
        path: the file to write.
        mode: as of `open`.
        private: no other user may read it, and a link is replaced.
        tidy: first remove leftovers of killed processes for the same target, which lists the folder.
        options: more arguments of `open`.

    Raises:
        MissingFileError: the folder does not exist.
        DescriptionError: the path is a folder, or its name is too long.
        PermissionError: the folder is not writable, or the file is read-only.
    """
    target = path if private else _target(path)
    if not private and os.path.exists(target) and not os.path.isfile(target):
        with open(target, mode, **options) as file:
            yield file
        return
    for orphan in orphans(target.parent, target.name) if tidy else ():
        remove(orphan)
    try:
        descriptor, temporary = _created(target, 0o600 if private or os.path.exists(target) else 0o666)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            error.filename = str(path)  # the user's name, not that of the unfinished file
            raise
        raise DescriptionError(
            f"{path.name[:80]!r}... cannot be written: a name of {len(path.name)} letters is too long"
        ) from None
    try:
        with os.fdopen(descriptor, mode, **options) as file:
            yield file
        if not private:
            _keep_access(temporary, target)
        os.replace(temporary, target)
    except BaseException:
        remove(temporary)
        raise


def replace(source: Path, path: Path) -> None:
    """Move a finished file over another one, keeping its permissions and symbolic links, as in
    `atomic_write`.
    """
    target = _target(path)
    _keep_access(str(source), target)
    os.replace(source, target)


def _target(path: Path) -> Path:
    """Where to write: behind symbolic links, even those that point to nothing yet."""
    target = Path(os.path.realpath(path))
    if os.path.islink(target):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    try:
        folder = stat.S_ISDIR(os.stat(target.parent).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        folder = False
    if not folder:
        missing = target.parent if os.path.islink(path) else path.parent
        raise MissingFileError(
            f"{path.name!r} cannot be written: there is no folder {str(missing)!r}; make it first", str(path)
        )
    if os.path.isdir(target):
        raise DescriptionError(f"{str(path)!r} cannot be written: it is a folder")
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only", str(path))
    return target


def _created(target: Path, mode: int) -> tuple[int, str]:
    """A new file beside a target, open for writing. The system takes the umask from its mode."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    while True:
        temporary = f"{target}.{_machine()}.{os.getpid()}.{os.urandom(4).hex()}{UNFINISHED}"
        with contextlib.suppress(FileExistsError):
            return os.open(temporary, flags, mode), temporary


def _keep_access(new: str, target: Path) -> None:
    """Give a new file the owner, group and mode of the one that it replaces, if there is one."""
    try:
        old, own = os.stat(target), os.stat(new)
    except FileNotFoundError:
        return
    mode = stat.S_IMODE(old.st_mode)
    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (own.st_uid, own.st_gid):
        try:
            os.chown(new, old.st_uid, old.st_gid)
        except OSError:
            try:
                os.chown(new, -1, old.st_gid)
            except OSError:  # another group may do what all others may
                mode = mode & 0o707 | (mode & 0o007) << 3
    with contextlib.suppress(OSError):  # file systems without modes
        os.chmod(new, mode)


def orphans(folder: Path, target: str | None = None) -> Iterator[str]:
    """Leftover files of killed processes in a folder: those of one target, or all."""
    pattern = f"{glob.escape(target)}.*{UNFINISHED}" if target else f"*{UNFINISHED}"
    for name in glob.glob(pattern, root_dir=folder):
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):  # another process has just removed it
            if _is_orphan(name, time.time() - os.lstat(path).st_mtime):
                yield path


def remove(path: str | Path) -> bool:
    """Whether a file was there and could be removed."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def _is_orphan(name: str, age: float) -> bool:
    parts = _NAME.search(name)
    return age >= _HOUR or (
        age >= _PAUSE and parts is not None and parts[1] == _machine() and not _runs(int(parts[2]))
    )


def _machine() -> str:
    return re.sub(r"[^\w-]", "-", os.uname().nodename)[:40] if hasattr(os, "uname") else ""


def _runs(process: int) -> bool:
    if os.name != "posix":
        return True  # signal 0 would end it there
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass  # another user's
    return True
