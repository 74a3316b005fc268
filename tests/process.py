"""Processes that tests start: each ends, at the latest after a time limit, and hears Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests import ctrl_c

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 300.0
"""[s]: some thirty times what the longest takes on a free machine; a process that hangs fails its test and
not the whole run."""


def start(
    *command: str | Path, cwd: Path = ROOT, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """A process with pipes for input and output, in a group of its own so that `end` reaches what it starts.

    Args:
        command: if it begins with an option such as "-c" or "-m", one for this Python.
        environment: added to ours.
    """
    words = [str(word) for word in command]
    if words[0].startswith("-"):
        words.insert(0, sys.executable)
    with ctrl_c.heard():
        return subprocess.Popen(
            words,
            cwd=cwd,
            env=os.environ | dict(environment or {}),
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


def end(process: subprocess.Popen[str]) -> None:
    """Kill a process and whatever it has started."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()


def finish(process: subprocess.Popen[str], limit: float = LIMIT) -> subprocess.CompletedProcess[str]:
    """Wait for its end; killed, with an error that shows its output, after `limit` seconds."""
    try:
        out, err = process.communicate(timeout=limit)
    except BaseException as error:
        end(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise AssertionError(
                f"{process.args} had not ended after {limit:g} s; it had "
                f"written\n{_text(error.stdout)}\n{_text(error.stderr)}"
            ) from None
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def run(
    *command: str | Path,
    cwd: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    limit: float = LIMIT,
) -> subprocess.CompletedProcess[str]:
    """A finished process; arguments as of `start`."""
    return finish(start(*command, cwd=cwd, environment=environment), limit)


def output(
    *command: str | Path, cwd: Path = ROOT, environment: Mapping[str, str] | None = None, limit: float = LIMIT
) -> str:
    """What a process that succeeds writes; its failure is the test's, with its errors shown."""
    done = run(*command, cwd=cwd, environment=environment, limit=limit)
    assert done.returncode == 0, f"{command[:2]} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _text(data: bytes | str | None) -> str:
    return data.decode(errors="replace") if isinstance(data, bytes) else data or ""
