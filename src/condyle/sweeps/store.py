"""The folder of a sweep: a manifest, the table of members, and parts with results, each written atomically.

    manifest.json       identity of the study: digests of work and members, seed, versions
    members.npz         the table of members
    numbers/*.parquet   numbers of some members, where pyarrow is installed: pandas.read_parquet("study/numbers")
    parts/*.npz         arrays and failures of some members, and their numbers where pyarrow is not installed
    lock                held by the writing process; the system releases it when that process ends
    log.txt             one line for each beginning and end, and for progress

A part with two files is complete when the second, Parquet's, exists. Neither contains pickles: reading a
store runs no code.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import condyle.files as files
from condyle.errors import DescriptionError
from condyle.sweeps.parts import Part, joined
from condyle.table import Table

FORMAT = 1
MANY, SMALL = 64, 1 << 20
"""Number of parts, and size in bytes below which they are merged when a study continues."""


class Store:
    """A folder of results.

    Args:
        folder: the folder; created if it does not exist.
        manifest: identity of the study: {"work": digest, "members": digest, "count": N, "seed": seed}.
        members: the table to write beside it.

    Raises:
        DescriptionError: the folder holds another study, or another process writes into it.
    """

    def __init__(self, folder: str | Path, manifest: dict[str, Any], members: Table) -> None:
        self.folder = Path(folder)
        self.parts, self.numbers = self.folder / "parts", self.folder / "numbers"
        file = self.folder / "manifest.json"
        if self.folder.exists() and not file.exists() and any(self.folder.iterdir()):
            raise DescriptionError(
                f"sweep: store {str(folder)!r}: the folder is not empty and holds no study; choose another name"
            )
        self.parts.mkdir(parents=True, exist_ok=True)
        self.numbers.mkdir(exist_ok=True)
        self._lock()
        with contextlib.suppress(ImportError):  # import now, since times of writing are measured
            import pyarrow.parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: F401
        if file.exists():
            self._compare(json.loads(file.read_text("utf-8")), manifest)
        else:
            members.save(self.folder / "members.npz")
            full = {"format": FORMAT, "versions": versions(), **manifest}
            with files.atomic_write(file, "w", encoding="utf-8") as out:
                json.dump(full, out, indent=1)

    def _lock(self) -> None:
        self._held = open(self.folder / "lock", "a")  # noqa: SIM115 (until the store is closed)
        try:
            import fcntl
        except ImportError:  # this platform has no such locks
            return
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._held.close()
            raise DescriptionError(
                f"sweep: store {str(self.folder)!r}: another process runs this study now; wait for its end, or "
                "end it"
            ) from None

    def _compare(self, old: dict[str, Any], new: dict[str, Any]) -> None:
        was, now = old.get("versions", {}).get("python", ""), versions()["python"]
        if old.get("format") != FORMAT:
            different = f"has format {old.get('format')!r}, this version knows {FORMAT}"
        elif wrong := [key for key, value in new.items() if old.get(key) != value]:
            different = f"holds another study, {old.get('name')!r}: different {', '.join(wrong)}"
        elif was.split(".")[:2] != now.split(".")[:2]:
            different = f"was begun with Python {was}, this is {now}: go on with that one"
        else:
            return
        self.close()
        raise DescriptionError(
            f"sweep: store {str(self.folder)!r} {different}. Choose another folder, or remove this one"
        )

    def close(self) -> None:
        """Release the lock."""
        self._held.close()

    def log(self, text: str) -> None:
        """Append a line with the time to the log."""
        with open(self.folder / "log.txt", "a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {text}\n")

    def write(self, part: Part) -> Path:
        """Add a part; returns its file."""
        path = self.parts / f"{time.time_ns():020d}-{os.urandom(4).hex()}.npz"
        arrays, table = part.packed(), _arrow(part)
        if table is not None:
            arrays = {key: x for key, x in arrays.items() if key[:2] != "n/"} | {"parquet": np.array(True)}
        if table is None or part.failures or any(part.arrays):
            with files.atomic_write(path, tidy=False) as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
        if table is not None:
            from pyarrow import parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]

            path = self.numbers / f"{path.stem}.parquet"
            with files.atomic_write(path, tidy=False) as file:
                parquet.write_table(table, file, compression="none", use_dictionary=False)
        return path

    def _paths(self) -> list[Path]:
        """Paths of complete parts: the Parquet file of those with two files."""
        found = {p.stem: p for p in (*self.parts.glob("*.npz"), *self.numbers.glob("*.parquet"))}
        return [found[name] for name in sorted(found)]

    def _size(self, path: Path) -> int:
        """Bytes of a part, in both files."""
        both = {path, self.parts / f"{path.stem}.npz"}
        return sum(p.stat().st_size for p in both if p.exists())

    def read(self, path: Path, arrays: bool = True) -> Part:
        """Read one part, without pickles."""
        found: dict[str, np.ndarray] = {}
        other = self.parts / f"{path.stem}.npz"
        if path.suffix == ".npz" or other.exists():
            with np.load(other, allow_pickle=False) as file:
                wanted = [key for key in file.files if arrays or key[:2] not in ("a/", "m/")]
                found = {key: file[key] for key in wanted}
        if path.suffix == ".parquet":
            found |= _numbers(path)
        elif "parquet" in found:  # the process was killed before the second file
            return Part(np.empty(0, np.int64))
        return Part.unpacked(found, arrays)

    def stored(self) -> Iterator[tuple[Path, Part]]:
        """All parts, oldest first, without their arrays. Many small ones of an earlier call are merged."""
        for orphan in (*files.orphans(self.parts), *files.orphans(self.numbers)):
            files.remove(orphan)
        small = [path for path in self._paths() if self._size(path) < SMALL]
        if len(small) >= MANY:
            self.write(joined([self.read(path) for path in small]))
            for path in small:
                files.remove(path)
                files.remove(self.parts / f"{path.stem}.npz")
        for path in self._paths():
            yield path, self.read(path, arrays=False)


def _arrow(part: Part) -> Any:
    """Numbers as an Arrow table; None without pyarrow or numbers."""
    if not part.numbers:
        return None
    try:
        import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return None

    def column(x: np.ndarray, kind: Any) -> Any:  # pyarrow.array would load pandas
        return pyarrow.Array.from_buffers(kind, len(x), [None, pyarrow.py_buffer(np.ascontiguousarray(x))])

    columns = {"member": column(part.index, pyarrow.int64())}
    for name, x in part.numbers.items():
        columns[name if name != "member" else "member result"] = column(x, pyarrow.float64())
    table = pyarrow.Table.from_arrays(list(columns.values()), names=list(columns))
    return table.replace_schema_metadata({"single": str(int(part.single))})


def _numbers(path: Path) -> dict[str, np.ndarray]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            f"{path}: this study was stored with pyarrow, which is missing here: pip install 'condyle[parquet]'",
            name="pyarrow",
        ) from error
    table = parquet.read_table(path, partitioning=None, memory_map=False)
    found = {f"n/{name}": table[name].to_numpy() for name in table.column_names[1:]}
    single = (table.schema.metadata or {}).get(b"single", b"0") == b"1"
    return {"index": table["member"].to_numpy(), "single": np.array(single)} | found


def counts(folder: str | Path) -> tuple[dict[str, Any], int, dict[int, str]]:
    """Progress of a study whose folder another process may be writing: manifest, number of finished members,
    and reasons of failures.

    Raises:
        DescriptionError: the folder holds no study.
    """
    store = object.__new__(Store)
    store.folder, store.parts, store.numbers = (Path(folder, name) for name in ("", "parts", "numbers"))
    file = store.folder / "manifest.json"
    if not file.exists():
        raise DescriptionError(f"{str(folder)!r} holds no study: there is no manifest.json in it")
    manifest = json.loads(file.read_text("utf-8"))
    done = np.zeros(int(manifest["count"]), dtype=bool)
    failed: dict[int, str] = {}
    for path in store._paths():
        with contextlib.suppress(FileNotFoundError):
            part = store.read(path, arrays=False)
            done[part.index] = True
            failed |= part.failures
    return manifest, int(done.sum()), {i: words for i, words in failed.items() if not done[i]}


def versions() -> dict[str, str]:
    """Versions that results depend on."""
    from importlib.metadata import version

    from condyle import __version__

    ours = {"python": platform.python_version(), "machine": platform.machine(), "condyle": __version__}
    return ours | {name: version(name) for name in ("numpy", "scipy", "casadi", "llvmlite")}
