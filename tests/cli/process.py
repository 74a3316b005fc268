"""Run `python -m condyle` in a process and a folder of its own."""
from __future__ import annotations

import subprocess
from pathlib import Path

from tests.process import run


def condyle(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A finished `condyle`, its output captured, its cache in cwd/cache."""
    settings = {"CONDYLE_CACHE_DIR": str(cwd / "cache"), "COLUMNS": "200", "NO_COLOR": "1"}
    return run("-m", "condyle", *arguments, cwd=cwd, environment=settings | environment)
