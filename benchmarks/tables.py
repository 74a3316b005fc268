"""Reading a large .mot: 100,000 rows of 24 columns beside pandas and, in a process of its own, OpenSim.

    python -m benchmarks.tables

Prints CPU seconds, the least of three, and ratios.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import condyle as cd

ROWS, COLUMNS = 100_000, 23
OPENSIM = """
import sys, time, opensim
opensim.Logger.setLevelString("Error")
start = time.process_time()
opensim.TimeSeriesTable(sys.argv[1])
print(time.process_time() - start)
"""


def least(call: Callable[[], object], times: int = 3) -> float:
    """CPU seconds of a call."""
    found = []
    for _ in range(times):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    import pandas

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "long.mot")
        values = np.random.default_rng(0).normal(size=(ROWS, COLUMNS)) * 30
        cd.Table(
            np.arange(ROWS) / 1000, [f"c{k}" for k in range(COLUMNS)], np.round(values, 8), degrees=True
        ).save(path)
        ours = least(lambda: cd.read_table(path))
        print(f"condyle {ours:.2f} s")
        theirs = least(lambda: pandas.read_csv(path, sep="\t", skiprows=6))
        print(f"pandas  {theirs:.2f} s: condyle takes {ours / theirs:.1f} times as long")
        if importlib.util.find_spec("opensim"):
            done = subprocess.run(
                [sys.executable, "-c", OPENSIM, str(path)], capture_output=True, text=True, check=True
            )
            seconds = float(done.stdout.split()[-1])
            print(f"opensim {seconds:.2f} s: {seconds / ours:.1f} times as long as condyle")


if __name__ == "__main__":
    main()
