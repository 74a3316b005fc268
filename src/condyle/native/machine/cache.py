"""Disk cache of machine code.

A key is text that determines what the code computes. A digest of the key, of Condyle's sources, of the
versions of CasADi, llvmlite and LLVM, and of the processor with its features names the file of an entry:

    magic, length of header (8 bytes, little-endian), header (JSON), object file, SHA-256 of everything before

It is written under another name and then renamed, so any number of processes may share a directory; damaged
entries are removed and rebuilt. `info` counts unfinished files of killed processes, and the next writer
removes them. Listing the directory takes time: a process does so when it first writes, when the limit may be
reached, and once per sixteenth of the limit, so several processes exceed the limit by at most that each.

Machine code is executed: a directory that belongs to another user, or that others (the group, everybody) may
write to, is not used, with a warning. An entry must be a plain file that only the user may write;
anything else, such as a link or a pipe, is not read and is replaced. If the cache cannot be used or written
(a full disk), everything works without it, with one warning, and `info` gives the reason.

    CONDYLE_CACHE=off        neither read nor write
    CONDYLE_CACHE_DIR        the directory; default: condyle in the platform's directory for caches
    CONDYLE_CACHE_MB         largest size, default 512: the least recently used entries go first
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import condyle.files as files
import condyle.loading as loading
import condyle.settings as settings
from condyle.errors import CondyleError, warn
from condyle.native.machine import jit
from condyle.records import dataclass

_MAGIC = b"condyle machine code 1\n"
_SUFFIX, _STAMP = ".code", ".sources"
_LONG_TO_FIND = 2e-3
"""Facts that took less time to compute are not stored [s]."""
_LONG = 30 * 86400.0
"""Age after which a digest of sources is recomputed [s]."""
_NO_LINKS_NO_WAITING = sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)
_started = loading.STARTED
_count = {"hits": 0, "misses": 0}
_warned: set[Path] = set()
_known: dict[tuple[Path, int], tuple[int, int]] = {}
"""By directory and limit: bytes in it when last listed, and bytes that this process has written since."""
_used: set[str] = set()
"""Digests of entries that this process has read or written."""
_OFTEN = 16
"""A process lists the directory again when it has written one part in this many of the limit."""
T = TypeVar("T")


@dataclass(frozen=True)
class Info:
    """The state of the cache.

    Args:
        directory: where it is; None if no directory can be used.
        entries: number of entries.
        bytes: their size, including unfinished files.
        unfinished: files that another process is writing, or left behind when it was killed.
        limit: largest size [bytes].
        hits: found entries, in this process.
        misses: missing entries, in this process.
        note: why the cache is not used, or empty.
    """

    directory: Path | None
    entries: int
    bytes: int
    unfinished: int
    limit: int
    hits: int
    misses: int
    note: str

    def __str__(self) -> str:
        head = (
            f"{self.directory or 'no directory'}: {self.entries} entries, {self.bytes / 1e6:.1f} MB of "
            f"at most {self.limit / 1e6:.0f} MB"
        )
        if self.unfinished:
            head += (
                f"\n{self.unfinished} unfinished, of processes at work or killed; `condyle cache clear` "
                "removes them too"
            )
        return head + (f"\nnot used: {self.note}" if self.note else "")


def fetch(key: str) -> tuple[bytes, dict[str, Any]] | None:
    """The object file and facts stored under a key, or None. Never raises because of the disk."""
    place = _place(key)
    found = _read(*place) if place else None
    _count["misses" if found is None else "hits"] += 1
    if place and found is not None:
        _used.add(place[1])
    return found


def loaded(key: str, load: Callable[[bytes, dict[str, Any]], T]) -> T | None:
    """The result of `load(code, facts)` for the entry of a key, or None. An entry that fails to load is
    removed.
    """
    if (found := fetch(key)) is None:
        return None
    try:
        return load(*found)
    # any error would recur at every start
    except Exception as error:
        _debug("an entry cannot be loaded (%s: %s): removed", type(error).__name__, error)
    if place := _place(key):
        files.remove(place[0] / (place[1] + _SUFFIX))
    _count["hits"] -= 1
    _count["misses"] += 1
    return None


def store(key: str, code: bytes, facts: Mapping[str, Any]) -> bool:
    """Store an object file and facts about it (JSON). False if it could not be stored."""
    limit, place = settings.cache_limit(), _place(key, create=True)
    if place is None:
        return False
    directory, digest = place
    header = json.dumps({"key": digest, "facts": dict(facts)}).encode()
    body = b"".join((_MAGIC, len(header).to_bytes(8, "little"), header, code))
    try:
        with files.atomic_write(directory / (digest + _SUFFIX), private=True, tidy=False) as file:
            file.write(body)
            file.write(hashlib.sha256(body).digest())
    except (OSError, CondyleError) as error:
        _say(directory, f"cannot be written ({getattr(error, 'strerror', None) or error})")
        return False
    _used.add(digest)
    _keep_within(directory, limit, len(body) + 32)
    return True


class Notes:
    """Cached answers about one object, in one entry: facts that need expressions to compute and are used at
    every start. They must be JSON, and are stored on disk if they took a while to compute.

    Args:
        key: text that determines the object.
    """

    def __init__(self, key: str) -> None:
        self._key = f"notes\n{key}"
        self._known: dict[str, Any] | None = None
        self._spent = 0.0

    def get(self, what: str, find: Callable[[], Any]) -> Any:
        """The fact called `what`, computed by find() if unknown."""
        if self._known is None:
            found = loaded(self._key, lambda _, facts: dict(facts))
            self._known = {} if found is None else found
        if what not in self._known:
            begin = time.perf_counter()
            self._known[what] = find()
            self._spent += time.perf_counter() - begin
            if self._spent > _LONG_TO_FIND:
                store(self._key, b"", self._known)
                self._spent = 0.0
        return self._known[what]


def info() -> Info:
    """Location, contents and hits of the cache."""
    directory, note = _directory()
    if not note and _surroundings() is None:
        note = "Condyle's own sources have changed since this process started"
    entries = list(_files(directory, _SUFFIX)) if directory else []
    unfinished = list(_files(directory, files.UNFINISHED)) if directory else []
    total = sum(size for _, size, _ in entries + unfinished)
    return Info(
        directory,
        len(entries),
        total,
        len(unfinished),
        settings.cache_limit(),
        _count["hits"],
        _count["misses"],
        note,
    )


def clear() -> int:
    """Remove every entry; returns how many there were."""
    directory, note = _directory()
    if directory is None or (note and settings.cache_is_on()):
        return 0
    for path, _, _ in _files(directory, files.UNFINISHED):
        files.remove(path)
    return sum(files.remove(path) for path, _, _ in _files(directory, _SUFFIX))


# -- entries that travel to other machines


def kind() -> str:
    """Digest of everything besides keys that entries depend on: entries of equal kinds can be exchanged.
    Empty if the cache is not used.
    """
    place = _place("kind")
    return place[1] if place else ""


def used() -> set[str]:
    """Digests of all entries that this process has read or written so far."""
    return set(_used)


def exported_entries(digests: Iterable[str]) -> dict[str, bytes]:
    """Entries as bytes, for `take` on another machine of the same kind."""
    directory, note = _directory()
    out = {}
    for digest in digests if directory and not note else ():
        with contextlib.suppress(OSError):
            out[digest] = Path(directory, digest + _SUFFIX).read_bytes()  # type: ignore[arg-type]
    return out


def take(entries: Mapping[str, bytes]) -> int:
    """Store missing entries from another machine of the same kind; returns their number. The sender must be
    trusted, since machine code is executed.
    """
    place, taken = _place("kind", create=True), 0
    for digest, data in entries.items() if place else ():
        path = place[0] / (digest + _SUFFIX)  # type: ignore[index]
        with contextlib.suppress(OSError, CondyleError, ValueError, KeyError, TypeError):
            _open(data, digest)
            if not path.exists():
                with files.atomic_write(path, private=True, tidy=False) as file:
                    file.write(data)
                taken += 1
    return taken


@contextlib.contextmanager
def first(name: str) -> Iterator[None]:
    """Context that admits one of the processes sharing the directory at a time, until one has finished: the
    others use its compiled code.
    """
    key, place = f"first {name}", _place("kind", create=True)
    if place is None or fetch(key) is not None:
        yield
        return
    with open(place[0] / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.lock", "a") as file:
        with contextlib.suppress(ImportError, OSError):  # without locks several processes compile
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        if done := fetch(key) is not None:
            file.close()
        yield
        if not done:
            store(key, b"", {})
            files.remove(file.name)


# -- one entry


def _read(directory: Path, digest: str) -> tuple[bytes, dict[str, Any]] | None:
    path = directory / (digest + _SUFFIX)
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | _NO_LINKS_NO_WAITING), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or _stranger(facts):
                _debug("%s is not a plain file of ours alone", path)
                return None
            data = file.read()
    except OSError:
        return None
    try:
        found = _open(data, digest)
    except (ValueError, KeyError, TypeError) as error:
        _debug("%s is damaged (%s): removed", path, error)
        files.remove(path)
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # most recently used
    return found


def _open(data: bytes, digest: str) -> tuple[bytes, dict[str, Any]]:
    """Code and facts of an entry's bytes; ValueError, KeyError or TypeError if they are not what was
    written."""
    body, checksum = data[:-32], data[-32:]
    if not body.startswith(_MAGIC) or hashlib.sha256(body).digest() != checksum:
        raise ValueError("checksum")
    start = len(_MAGIC) + 8
    end = start + int.from_bytes(body[len(_MAGIC) : start], "little")
    header = json.loads(body[start:end])
    if header["key"] != digest:
        raise ValueError("another key")
    return body[end:], dict(header["facts"])


# -- the directory


def _place(key: str, create: bool = False) -> tuple[Path, str] | None:
    directory, note = _directory(create)
    if directory is not None and (note.endswith(_RUN) or (create and note and settings.cache_is_on())):
        _say(directory, f"is not used: {note}")
    if directory is None or note or (fixed := _surroundings()) is None:
        return None
    return directory, hashlib.sha256(f"{fixed}\n{settings.optimization()}\n{key}".encode()).hexdigest()


def _say(directory: Path, what: str) -> None:
    """Warn once about an unusable directory."""
    if directory not in _warned:
        _warned.add(directory)
        warn(
            f"the cache of machine code {directory} {what}. Everything works, and is made anew in every "
            "process",
            RuntimeWarning,
        )


def _directory(create: bool = False) -> tuple[Path | None, str]:
    """The directory, and the reason why it is not used, or an empty text. A directory that does not exist
    yet can be used."""
    directory = settings.cache_directory()
    if directory is None:
        return None, "there is no home directory; set CONDYLE_CACHE_DIR"
    if not settings.cache_is_on():
        return directory, "CONDYLE_CACHE=off"
    try:
        if create:
            directory.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):  # an existing directory is checked below
                directory.mkdir(mode=0o700)
        facts = os.stat(directory)
    except FileNotFoundError:
        return directory, ""
    except OSError as error:
        return directory, f"{error.strerror or error}"
    if not stat.S_ISDIR(facts.st_mode):
        return directory, "it is not a directory"
    return directory, _stranger(facts)


_RUN = "since machine code is run: `chmod 700` it, or set CONDYLE_CACHE_DIR to a folder of your own"


def _stranger(facts: os.stat_result) -> str:
    """How users other than this one can write a file or folder, or empty."""
    if not hasattr(os, "geteuid"):
        return ""
    if facts.st_uid != os.geteuid():
        return f"it belongs to user {facts.st_uid}, not to user {os.geteuid()}, {_RUN}"
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"{'everybody' if facts.st_mode & stat.S_IWOTH else 'its group'} may write into it, {_RUN}"
    return ""


def _files(directory: Path, suffix: str) -> Iterator[tuple[str, int, float]]:
    """Path, size and time of last use of each entry, or of each unfinished file."""
    with contextlib.suppress(OSError), os.scandir(directory) as found:
        for entry in found:
            with contextlib.suppress(OSError):  # another process has just removed it
                if entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                    facts = entry.stat(follow_symlinks=False)
                    yield entry.path, facts.st_size, facts.st_mtime


def _keep_within(directory: Path, limit: int, written: int) -> None:
    """Shrink the directory if it may be over its limit, after `written` more bytes of ours."""
    total, since = _known.get((directory, limit), (limit, 0))
    if total + since + written > limit or (since + written) * _OFTEN > limit:
        total, since, written = _shrink(directory, limit), 0, 0
    _known[directory, limit] = total, since + written


def _shrink(directory: Path, limit: int) -> int:
    """Remove unfinished files, and entries until the rest fits; returns the remaining bytes."""
    for path in files.orphans(directory):
        files.remove(path)
    entries = sorted(_files(directory, _SUFFIX), key=lambda entry: entry[2])
    total = sum(size for _, size, _ in entries)
    for path, size, _ in entries:
        if total <= limit:
            break
        files.remove(path)
        total -= size
    return total


# -- what every key contains


@functools.cache
def _surroundings() -> str | None:
    """Sources, versions and processor as text; None if the sources have changed since this process read
    them."""
    root = str(next(p for p in Path(__file__).parents if p.name == "condyle"))
    sources = sorted(_sources(root))
    now = time.time()
    for path, facts in sources:
        if facts is None or _started < facts.st_mtime <= now:
            _debug("not used: %s has changed since this process started", path)
            return None
    digest = _digest(root, sources)
    return digest and f"{digest}\n{jit.package('casadi')}\n{jit.versions()}"


def _sources(folder: str) -> Iterator[tuple[str, os.stat_result | None]]:
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            if entry.name.endswith(".py"):
                try:
                    yield entry.path, entry.stat()
                except OSError:
                    yield entry.path, None
            elif "." not in entry.name and entry.is_dir() and entry.name != "__pycache__":
                yield from _sources(entry.path)


def _digest(root: str, sources: list[tuple[str, os.stat_result | None]]) -> str | None:
    """Digest of all sources. As for Python's bytecode, a file with the same time and size counts as
    unchanged: its digest, which is stored beside the entries, is used again."""
    seen = [(path, s.st_size, s.st_mtime_ns, s.st_ino, s.st_ctime_ns) for path, s in sources if s is not None]
    name = hashlib.sha256(repr(seen).encode()).hexdigest() + _STAMP
    directory, note = _directory()
    if directory is not None and not note:
        with contextlib.suppress(OSError, ValueError):
            stamp = directory / name
            if not _stranger(os.stat(stamp, follow_symlinks=False)):
                known, check = stamp.read_text().split()
                if hashlib.sha256(f"{known} {name}".encode()).hexdigest() == check:
                    return known
    digest = hashlib.sha256()
    # paths as text and plain reads: half the time of pathlib's
    for path, _ in sources:
        try:
            with open(path, "rb", buffering=0) as file:
                data = file.read()
        except OSError:
            return None
        digest.update(f"{path[len(root) :].replace(os.sep, '/')}\0{len(data)}\0".encode())
        digest.update(data)
    made = digest.hexdigest()
    if directory is not None and not note and os.path.isdir(directory):
        with (
            contextlib.suppress(OSError, CondyleError),
            files.atomic_write(directory / name, "w", private=True, tidy=False) as file,
        ):
            file.write(f"{made} {hashlib.sha256(f'{made} {name}'.encode()).hexdigest()}")
        for path, _, used in _files(directory, _STAMP):  # digests of sources that no longer exist
            if time.time() - used > _LONG:
                files.remove(path)
    return made


def _debug(text: str, *values: object) -> None:
    import logging

    logging.getLogger(__name__).debug(text, *values)
