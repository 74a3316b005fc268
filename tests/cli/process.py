"""Run `python -m condyle` in a process and a folder of its own, or its entry point in this process, which
takes less time."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from condyle.cli import main as cli
from tests.process import run


def settings(cwd: Path, environment: dict[str, str]) -> dict[str, str]:
    return {"CONDYLE_CACHE_DIR": str(cwd / "cache"), "COLUMNS": "200", "NO_COLOR": "1"} | environment


def condyle(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A finished `condyle`, its output captured, its cache in cwd/cache."""
    return run("-m", "condyle", *arguments, cwd=cwd, environment=settings(cwd, environment))


def condyle_here(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The same without a process of its own. An error that would be shown as a traceback is raised."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, settings(cwd, environment)),
        mock.patch.object(sys, "argv", ["condyle", *arguments]),
        mock.patch.object(sys, "path", list(sys.path)),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return subprocess.CompletedProcess(["condyle", *arguments], code, out.getvalue(), err.getvalue())
