"""Forward dynamics over the whole range of motion of models whose muscles wrap, beside OpenSim.

    python -m benchmarks.range_of_motion MODEL.osim ...      mean, median, worst and where, per model
    python -m benchmarks.range_of_motion --no-opensim ...

Poses are uniform within the ranges of all coordinates; those of arm26 are a grid, shoulder -60..170 and elbow
5..125 degrees. Times are processor times, the least of some rounds: one state from Python, and per state of a
batch in one thread, in the order of the poses. A pose without a path is counted and left out.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.opensim_process import Answers, OpenSimProcess

POSES, REPEATS, ROUNDS = 400, 20, 6
GRID = {"r_shoulder_elev": (-60, 170, 47), "r_elbow_flex": (5, 125, 13)}
"""Degrees, and how many."""


def poses(system: Any, count: int) -> np.ndarray:
    """Shape (poses, nq)."""
    if set(GRID) == set(system.coordinates):
        axes = [np.radians(np.linspace(*GRID[name])) for name in system.coordinates]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    default = system.default("q")
    ranges = np.array(
        [
            c.range or (x - 0.3, x + 0.3)
            for c, x in zip(
                (c for name in system.bodies for c in system.body(name).coordinates), default, strict=True
            )
        ]
    )
    low, high = np.clip(ranges, -np.pi, np.pi).T
    return np.random.default_rng(0).uniform(low, high, (count, len(default)))


def measured(path: Path, count: int, opensim: bool) -> None:
    import condyle as cd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        system = cd.read_osim(path)
    q = poses(system, count)
    found = ~np.isnan(system.path_lengths(q)).any(axis=1)
    unsolved, q = int((~found).sum()), q[found]
    u, one, batch = np.zeros(system.nu), np.full(len(q), np.inf), np.inf
    U = np.zeros((len(q), system.nu))
    system.forward_dynamics(q, U, threads=1)
    for _ in range(ROUNDS):
        for i, pose in enumerate(q):
            start = time.thread_time()
            for _ in range(REPEATS):
                system.forward_dynamics(pose, u)
            one[i] = min(one[i], (time.thread_time() - start) / REPEATS)
        start = time.thread_time()
        system.forward_dynamics(q, U, threads=1)
        batch = min(batch, (time.thread_time() - start) / len(q))
    worst = int(one.argmax())
    print(f"{path.name}: {len(q)} poses, {unsolved} unsolved")
    print(_line("one state", one), f"at {np.round(q[worst], 3).tolist()}")
    print(f"  {'in a batch':10s} mean {1e6 * batch:7.2f} us")
    if opensim:
        theirs = OpenSimProcess(str(path), about_poses).ask("seconds", list(system.coordinates), q)
        print(_line("OpenSim", theirs))
        print(
            f"  ratio of means: {theirs.mean() / one.mean():.0f} x one by one, "
            f"{theirs.mean() / batch:.0f} x in a batch"
        )


def _line(name: str, seconds: np.ndarray) -> str:
    mean, median, worst = 1e6 * np.array([seconds.mean(), np.median(seconds), seconds.max()])
    return f"  {name:10s} mean {mean:7.2f} median {median:7.2f} worst {worst:7.2f} us"


def about_poses() -> Answers:
    return {"seconds": accelerations}


def accelerations(path: str, names: list[str], q: np.ndarray) -> np.ndarray:
    """Processor seconds of realizeAcceleration at each pose, the least of three."""
    import opensim as osim

    osim.Logger.setLevelString("off")
    model = osim.Model(path)
    state = model.initSystem()
    coordinates = [model.getCoordinateSet().get(name) for name in names]
    out = np.full(len(q), np.inf)
    for _ in range(3):
        for i, pose in enumerate(q):
            for coordinate, x in zip(coordinates, pose, strict=True):
                coordinate.setValue(state, float(x), False)
            start = time.thread_time()
            model.realizeAcceleration(state)
            out[i] = min(out[i], time.thread_time() - start)
    return out


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=POSES)
    parser.add_argument("--no-opensim", action="store_true")
    given = parser.parse_args()
    for path in given.models:
        measured(path, given.count, not given.no_opensim)
