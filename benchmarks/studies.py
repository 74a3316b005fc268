"""Inverse dynamics, muscle analysis and joint reactions of arm26 per frame, beside OpenSim's tools.

    python -m benchmarks.studies                 OpenSim if it is installed
    python -m benchmarks.studies --frames 1001

Both take coordinates over time and find accelerations by splines. OpenSim's time is that of all frames minus
that of two, so that reading files and making the model do not count (writing its results does); ours is that
of a second call, so that compiling does not, with one thread. Processor time, the least of some rounds.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from collections.abc import Callable

import numpy as np

from benchmarks.opensim_arm26 import numbers
from benchmarks.opensim_process import OpenSimProcess
from benchmarks.opensim_studies import about_tools


def least(run: Callable[[], object], rounds: int) -> float:
    """Seconds of processor time."""
    best = np.inf
    for _ in range(rounds):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    os.environ.setdefault("CONDYLE_THREADS", "1")
    import condyle as cd

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=1001)
    given = parser.parse_args()
    arm = cd.models.arm26(tendon="rigid")
    s = np.linspace(0.0, 1.0, given.frames)
    q = np.column_stack([0 * s, np.pi / 2 * s**3 * (10 - 15 * s + 6 * s**2)])
    motion = cd.Table(s, arm.coordinates, q, ["rad", "rad"])
    ones = np.ones((given.frames, 6))
    forces, activations = (cd.Table(s, arm.muscles, x * ones) for x in (20.0, 0.1))
    ours = {
        "inverse_dynamics": lambda: cd.inverse_dynamics(arm, motion),
        "muscle_analysis": lambda: cd.muscle_analysis(arm, motion, activations),
        "joint_reactions": lambda: cd.joint_reactions(arm, motion, forces),
    }
    process = OpenSimProcess(numbers(), about_tools) if importlib.util.find_spec("opensim") else None
    if process:
        process.ask("prepare", s, arm.coordinates, q, arm.muscles, forces.values)
    for name, run in ours.items():
        first = time.perf_counter()
        run()
        first = time.perf_counter() - first
        mine = least(run, 10 * given.rounds) / given.frames
        text = f"{name:17} condyle {1e6 * mine:7.2f} us a frame, first call {first:4.1f} s"
        if process:
            step = s[1]
            theirs = min(
                process.ask("seconds", name, 1.0) - process.ask("seconds", name, step)
                for _ in range(given.rounds)
            ) / (given.frames - 2)
            text += f"; OpenSim {1e6 * theirs:8.1f}: {theirs / mine:.0f} times"
        print(text)
    if process:
        process.ask("seconds", "inverse_dynamics", 1.0)
        tau = cd.inverse_dynamics(arm, motion).values
        print(f"moments differ by {abs(process.ask('moments')[:, 1:] - tau).max():.1e} N m at most")


if __name__ == "__main__":
    main()
