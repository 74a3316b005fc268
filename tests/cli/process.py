"""Run `python -m condyle` in a process and a folder of its own."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def condyle(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A finished `condyle`, its output captured, its cache in cwd/cache."""
    env = {**os.environ, "CONDYLE_CACHE_DIR": str(cwd / "cache"), "COLUMNS": "200", "NO_COLOR": "1", **environment}
    return subprocess.run([sys.executable, "-m", "condyle", *arguments], cwd=cwd, env=env, text=True, capture_output=True)
