"""Machine code kept on disk between runs.

A key is text that says what the code computes. To it come a digest of Condyle's own sources, the versions of CasADi,
llvmlite and LLVM, and the processor with its features: whatever else the code depends on. An entry is one file named by
the digest of all that:

    magic, length of header (8 bytes, little-endian), header (JSON), object file, SHA-256 of everything before

It is written under another name and then renamed, so that any number of processes may share a directory; what does
not check is removed and made anew. Machine code is run, not read: a directory that belongs to somebody else or that
everybody may write is not used, nor is a file of somebody else's. Where the cache cannot be used everything works
without it, and `info` says why.

    CONDYLE_CACHE=off        neither read nor write
    CONDYLE_CACHE_DIR        the directory; default: condyle in the platform's directory for caches
    CONDYLE_CACHE_MB         largest size, default 512: the least recently used entries go first
"""
from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import logging
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca

from condyle.errors import DescriptionError
from condyle.native import jit

_MAGIC = b"condyle machine code 1\n"
_SUFFIX, _TEMPORARY = ".code", ".new"
_STALE = 3600.0                                             # seconds after which an unfinished file is an orphan
_started = time.time()
_log = logging.getLogger(__name__)
_count = {"hits": 0, "misses": 0}


@dataclass(frozen=True)
class Info:
    """The state of the cache.

    Args:
        directory: where it is; None if there is no place for it.
        entries, bytes: what it holds.
        limit: bytes that it may grow to.
        hits, misses: of this process.
        note: why it is not used, or empty.
    """

    directory: Path | None
    entries: int
    bytes: int
    limit: int
    hits: int
    misses: int
    note: str

    def __str__(self) -> str:
        head = f"{self.directory or 'no directory'}: {self.entries} entries, {self.bytes / 1e6:.1f} MB of at most " \
               f"{self.limit / 1e6:.0f} MB"
        return head + (f"\nnot used: {self.note}" if self.note else "")


def fetch(key: str) -> tuple[bytes, dict[str, Any]] | None:
    """The object file stored under a key and what was said of it, or None. Never raises for the state of the disk."""
    place = _place(key)
    found = _read(*place) if place else None
    _count["misses" if found is None else "hits"] += 1
    return found


def store(key: str, code: bytes, facts: Mapping[str, Any]) -> bool:
    """Keep an object file and some facts about it (whatever JSON can say). False if it could not be kept."""
    limit, place = _limit(), _place(key, create=True)
    if place is None:
        return False
    directory, digest = place
    header = json.dumps({"key": digest, "facts": dict(facts)}).encode()
    body = b"".join((_MAGIC, len(header).to_bytes(8, "little"), header, code))
    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(_TEMPORARY, digest[:16], directory)
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
            file.write(hashlib.sha256(body).digest())
        os.replace(temporary, directory / (digest + _SUFFIX))
    except OSError as error:
        _log.debug("not stored: %s", error)
        if temporary is not None:
            _remove(temporary)
        return False
    _shrink(directory, limit)
    return True


def info() -> Info:
    """Where the cache is, what it holds, and how it served this process."""
    directory, note = _directory()
    if not note and _surroundings() is None:
        note = "Condyle's own sources have changed since this process started"
    entries = list(_entries(directory)) if directory else []
    total = sum(size for _, size, _ in entries)
    return Info(directory, len(entries), total, _limit(), _count["hits"], _count["misses"], note)


def clear() -> int:
    """Remove every entry; returns how many there were."""
    directory, note = _directory()
    if directory is None or (note and not _is_off()):
        return 0
    for path in _orphans(directory, 0.0):
        _remove(path)
    return sum(_remove(path) for path, _, _ in _entries(directory))


# -- one entry


def _read(directory: Path, digest: str) -> tuple[bytes, dict[str, Any]] | None:
    path = directory / (digest + _SUFFIX)
    try:
        with open(path, "rb") as file:
            if hasattr(os, "geteuid") and os.fstat(file.fileno()).st_uid != os.geteuid():
                _log.debug("%s belongs to somebody else", path)
                return None
            data = file.read()
    except OSError:
        return None
    try:
        found = _open(data, digest)
    except (ValueError, KeyError, TypeError) as error:
        _log.debug("%s is damaged (%s): removed", path, error)
        _remove(path)
        return None
    with contextlib.suppress(OSError):
        os.utime(path)                                      # most recently used
    return found


def _open(data: bytes, digest: str) -> tuple[bytes, dict[str, Any]]:
    """Code and facts of an entry's bytes; ValueError, KeyError or TypeError if they are not what was written."""
    body, checksum = data[:-32], data[-32:]
    if not body.startswith(_MAGIC) or hashlib.sha256(body).digest() != checksum:
        raise ValueError("checksum")
    start = len(_MAGIC) + 8
    end = start + int.from_bytes(body[len(_MAGIC):start], "little")
    header = json.loads(body[start:end])
    if header["key"] != digest:
        raise ValueError("another key")
    return body[end:], dict(header["facts"])


# -- the directory


def _place(key: str, create: bool = False) -> tuple[Path, str] | None:
    directory, note = _directory(create)
    if directory is None or note or (fixed := _surroundings()) is None:
        return None
    return directory, hashlib.sha256(f"{fixed}\n{key}".encode()).hexdigest()


def _directory(create: bool = False) -> tuple[Path | None, str]:
    """The directory, and why it is not used or an empty text. One that does not exist yet is no reason."""
    directory = _default_directory()
    if directory is None:
        return None, "there is no home directory; set CONDYLE_CACHE_DIR"
    if _is_off():
        return directory, "CONDYLE_CACHE=off"
    try:
        if create:
            directory.parent.mkdir(parents=True, exist_ok=True)
            directory.mkdir(mode=0o700, exist_ok=True)
        facts = os.stat(directory)
    except FileNotFoundError:
        return directory, ""
    except OSError as error:
        return directory, f"{error.strerror or error}"
    if not stat.S_ISDIR(facts.st_mode):
        return directory, "it is not a directory"
    if hasattr(os, "geteuid"):
        if facts.st_uid != os.geteuid():
            return directory, f"it belongs to user {facts.st_uid}, not to user {os.geteuid()}, and machine code is run"
        if facts.st_mode & stat.S_IWOTH:
            return directory, "everybody may write into it, and machine code is run; chmod 700 makes it safe"
    return directory, ""


def _default_directory() -> Path | None:
    if given := os.environ.get("CONDYLE_CACHE_DIR"):
        return Path(given).absolute()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    else:
        base = os.environ.get("XDG_CACHE_HOME")
    if base and os.path.isabs(base):
        return Path(base, "condyle")
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "condyle"


def _is_off() -> bool:
    value = os.environ.get("CONDYLE_CACHE") or "on"
    if value not in ("on", "off"):
        raise DescriptionError(f"CONDYLE_CACHE={value}: expected on or off")
    return value == "off"


def _limit() -> int:
    text = os.environ.get("CONDYLE_CACHE_MB") or "512"
    try:
        limit = float(text)
    except ValueError:
        limit = -1.0
    if not 0 <= limit < float("inf"):
        raise DescriptionError(f"CONDYLE_CACHE_MB={text}: expected a number of megabytes from 0 on")
    return int(limit * 1e6)


def _entries(directory: Path) -> Iterator[tuple[str, int, float]]:
    """Path, size and time of last use of each entry."""
    with contextlib.suppress(OSError), os.scandir(directory) as found:
        for entry in found:
            with contextlib.suppress(OSError):              # another process has just removed it
                if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                    facts = entry.stat(follow_symlinks=False)
                    yield entry.path, facts.st_size, facts.st_mtime


def _orphans(directory: Path, age: float) -> Iterator[str]:
    """Unfinished files of processes that ended too early."""
    with contextlib.suppress(OSError):
        for path in directory.glob(f"*{_TEMPORARY}"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime >= age:
                    yield str(path)


def _shrink(directory: Path, limit: int) -> None:
    for path in _orphans(directory, _STALE):
        _remove(path)
    entries = sorted(_entries(directory), key=lambda entry: entry[2])
    total = sum(size for _, size, _ in entries)
    for path, size, _ in entries:
        if total <= limit:
            return
        _remove(path)
        total -= size


def _remove(path: str | Path) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


# -- what every key contains


@functools.cache
def _surroundings() -> str | None:
    """Sources, versions and processor as text; None if the sources have changed since this process read them."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        try:
            data = path.read_bytes()
            changed = _started < path.stat().st_mtime <= time.time()
        except OSError:
            changed = True
        if changed:
            _log.debug("not used: %s has changed since this process started", path)
            return None
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(data)}\0".encode() + data)
    return f"{digest.hexdigest()}\ncasadi {ca.CasadiMeta.version()}\n{jit.versions()}"
