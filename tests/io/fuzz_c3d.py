"""Damaged .c3d files: a clear error, or data; ezc3d may crash or hang in a process of its own, nobody else.

    python -m tests.io.fuzz_c3d 10000 [seed]        by hand; prints what came of them, 500 by 500

`cd.read_c3d` starts a process for every file, which takes half a second. Here the same code runs in forks of
one process that has loaded ezc3d already.
"""

from __future__ import annotations

import collections
import io
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import condyle as cd
from condyle.io import c3d, c3d_process
from tests.io.test_c3d import written

SECONDS = 0.3
"""Of processor time, after which a file counts as one that hangs; a good one takes 0.01."""
HANGS: list[str] = []


def forked(command: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
    """What the process that reads a file would give, from a fork."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends the process
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = 1
        try:
            c3d_process.limit_memory(os.path.getsize(command[-1]))
            buffer = io.BytesIO()
            np.savez(buffer, **c3d_process.read(command[-1]))  # type: ignore[arg-type]
            with os.fdopen(writer, "wb") as out:
                out.write(buffer.getvalue())
            code = 0
        except BaseException:
            pass
        os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        data = file.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGPROF):
        HANGS.append(command[-1])
        raise subprocess.TimeoutExpired(command, SECONDS)
    code = os.waitstatus_to_exitcode(status)
    return subprocess.CompletedProcess(command, code, data, b"")


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Cut, or with other bytes in the header, the parameters or anywhere."""
    out = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        match rng.integers(6):
            case 0:
                del out[int(rng.integers(512, len(out) + 1)) :]
            case 1:
                out[int(rng.integers(0, 512))] = rng.integers(256)
            case 2 | 3:
                out[int(rng.integers(2, min(2500, len(out))))] = rng.integers(256)
            case 4:
                at = int(rng.integers(512, len(out) + 1))
                out[at:at] = rng.bytes(int(rng.integers(1, 40)))
            case 5:
                at = int(rng.integers(512, len(out) + 1))
                del out[at : at + int(rng.integers(1, 40))]
        if len(out) < 600:
            break
    return bytes(out)


def run(count: int, seed: int, folder: Path) -> tuple[collections.Counter[str], float]:
    """Damage and read so many files; what came of them, and the longest time of this process [s]."""
    outcome: collections.Counter[str] = collections.Counter()
    written(folder / "good.c3d")
    data, path, slowest = (folder / "good.c3d").read_bytes(), folder / "hurt.c3d", 0.0
    for k in range(count):
        path.write_bytes(damaged(data, np.random.default_rng((seed, k))))
        start, hangs = time.process_time(), len(HANGS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                cd.read_c3d(path)
                outcome["read"] += 1
            except cd.errors.CondyleError as error:
                hung = len(HANGS) > hangs
                outcome["hung, and ended" if hung else type(error).__name__ if str(error) else "no word"] += 1
            except Exception as error:
                raise AssertionError(f"file {k} of seed {seed}: {error!r}") from error
        slowest = max(slowest, time.process_time() - start)
    return outcome, slowest


if __name__ == "__main__":
    import ezc3d  # type: ignore[import-untyped]  # noqa: F401  # loaded once

    c3d.subprocess.run = forked  # type: ignore[assignment]
    all_of: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as place:
        first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
        for part in range(-(-int(sys.argv[1]) // 500)):
            found, slowest = run(500, first + part, Path(place))
            all_of.update(found)
            print(dict(all_of), slowest, flush=True)
