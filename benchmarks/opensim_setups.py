"""One setup file, run by OpenSim itself: `python -m benchmarks.opensim_setups SETUP.xml`, in its folder.

A process of its own for every file: defaults of one model leak into the next, and OpenSim cannot be loaded
beside Condyle.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]


def run_in_opensim(setup: Path, seconds: float = 600) -> str:
    """What OpenSim says of a setup file that it runs; its files are beside the setup, as the file asks.

    Raises:
        RuntimeError: it failed, with its last words.
    """
    place = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.opensim_setups", setup.name],
        cwd=setup.parent,
        env=place,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    said = done.stdout + done.stderr
    if done.returncode:
        raise RuntimeError(f"{setup.name}: OpenSim ended with {done.returncode}: {said[-1500:]}")
    return said


def main(setup: str) -> None:
    import opensim as osim

    osim.Logger.setLevelString("Error")
    osim.Logger.removeFileSink()
    tool = ElementTree.parse(setup).getroot()[0].tag
    if not getattr(osim, tool)(setup).run():
        raise SystemExit(f"{tool} says that it failed")


if __name__ == "__main__":
    main(sys.argv[1])
