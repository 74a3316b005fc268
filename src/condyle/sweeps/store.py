"""The folder of a sweep: a manifest, the table of members, and parts with results, each written whole.

    manifest.json       what the study is: digests of work and members, seed, versions
    members.npz         the table of members
    parts/*.npz         results and failures of some members
    lock                held by the process that writes; the system lets go of it when that ends
    log.txt             one line for each beginning and end

Parts are NumPy's files without pickles: nothing that is read from a store is run.
"""

from __future__ import annotations

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
"""So many parts of fewer bytes become one when a study goes on."""


class Store:
    """A folder of results.

    Args:
        folder: where; it is made if it does not exist.
        manifest: what the study is: {"work": digest, "members": digest, "count": N, "seed": seed}.
        members: the table to write beside it.

    Raises:
        DescriptionError: the folder holds another study, or another process writes into it.
    """

    def __init__(self, folder: str | Path, manifest: dict[str, Any], members: Table) -> None:
        self.folder = Path(folder)
        self.parts = self.folder / "parts"
        file = self.folder / "manifest.json"
        if self.folder.exists() and not file.exists() and any(self.folder.iterdir()):
            raise DescriptionError(
                f"sweep: store {str(folder)!r}: the folder is not empty and holds no study; choose another name"
            )
        self.parts.mkdir(parents=True, exist_ok=True)
        self._lock()
        if file.exists():
            self._compare(json.loads(file.read_text("utf-8")), manifest)
        else:
            members.save(self.folder / "members.npz")
            full = {"format": FORMAT, "versions": versions(), **manifest}
            with files.whole(file, "w", encoding="utf-8") as out:
                json.dump(full, out, indent=1)

    def _lock(self) -> None:
        self._held = open(self.folder / "lock", "a")  # noqa: SIM115 (until the store is closed)
        try:
            import fcntl
        except ImportError:  # no such locks there
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
        """Let others write."""
        self._held.close()

    def log(self, text: str) -> None:
        """One line, with the time."""
        with open(self.folder / "log.txt", "a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {text}\n")

    def write(self, part: Part) -> Path:
        """Add a part; returns its file."""
        path = self.parts / f"{time.time_ns():020d}-{os.urandom(4).hex()}.npz"
        with files.whole(path, tidy=False) as file:
            np.savez(file, **part.packed())  # type: ignore[arg-type]
        return path

    def _paths(self) -> list[Path]:
        return sorted(self.parts.glob("*.npz"))

    def read(self, path: Path, arrays: bool = True) -> Part:
        """One part. No pickles."""
        with np.load(path, allow_pickle=False) as found:
            wanted = [key for key in found.files if arrays or key[:2] not in ("a/", "m/")]
            return Part.unpacked({key: found[key] for key in wanted}, arrays)

    def stored(self) -> Iterator[tuple[Path, Part]]:
        """All parts, oldest first, without their arrays. Many small ones of an earlier call become one."""
        for orphan in files.orphans(self.parts):
            files.remove(orphan)
        small = [path for path in self._paths() if path.stat().st_size < SMALL]
        if len(small) >= MANY:
            self.write(joined([self.read(path) for path in small]))
            for path in small:
                files.remove(path)
        for path in self._paths():
            yield path, self.read(path, arrays=False)


def versions() -> dict[str, str]:
    """Of what results depend on."""
    from importlib.metadata import version

    return {"python": platform.python_version(), "machine": platform.machine()} | {
        name: version(name) for name in ("condyle", "numpy", "scipy", "casadi", "llvmlite")
    }
