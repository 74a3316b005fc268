"""Start `python -m condyle` in a process and a folder of its own."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def start(*arguments: str, cwd: Path, **environment: str) -> subprocess.Popen[str]:
    """A running `condyle`, its cache in cwd/cache."""
    env = {**os.environ, "CONDYLE_CACHE_DIR": str(cwd / "cache"), "COLUMNS": "200", "NO_COLOR": "1", **environment}
    return subprocess.Popen([sys.executable, "-m", "condyle", *arguments], cwd=cwd, env=env, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def condyle(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A finished `condyle`, its output captured."""
    process = start(*arguments, cwd=cwd, **environment)
    out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)
