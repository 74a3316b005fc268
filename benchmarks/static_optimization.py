"""Static optimization per frame: arm26 beside OpenSim's AnalyzeTool, and 92 muscles over 23 joints.

    python -m benchmarks.static_optimization                 both, OpenSim if it is installed
    python -m benchmarks.static_optimization --rounds 5

Both take the coordinates of 101 frames, find accelerations by splines, and have reserves on all coordinates.
OpenSim's time is that of 101 frames minus that of two, so that reading files and making the model do not
count; ours is that of a second call, so that compiling does not. Processor time, the least of some rounds.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.opensim_arm26 import about_arm, numbers
from benchmarks.opensim_process import OpenSimProcess

if TYPE_CHECKING:  # OpenSim's process imports this module and cannot import condyle
    import condyle as cd
    from condyle.studies.static_optimization import StaticOptimization

INNER = slice(10, 91)
"""Frames that OpenSim's splines do not spoil."""


def elbow_flexion(system: cd.System) -> cd.Table:
    """The paper's motion: the elbow from 0 to 90 degrees in 1 s."""
    import condyle as cd

    s = np.linspace(0.0, 1.0, 101)
    q = np.column_stack([0 * s, np.pi / 2 * s**3 * (10 - 15 * s + 6 * s**2)])
    return cd.Table(s, system.coordinates, q, ["rad", "rad"])


def wave(system: cd.System) -> cd.Table:
    """A wave through all joints."""
    import condyle as cd

    t, rng = np.linspace(0.0, 1.0, 101), np.random.default_rng(0)
    q = 0.15 * np.sin(2 * t[:, None] * rng.uniform(0.5, 1.5, system.nq) + rng.uniform(0, 6, system.nq))
    return cd.Table(t, system.coordinates, q, ["rad"] * system.nq)


def ours(system: cd.System, motion: cd.Table, rounds: int) -> tuple[float, float, StaticOptimization]:
    """Seconds of the first call; least seconds per frame; the result."""
    import condyle as cd

    start = time.perf_counter()
    result = cd.static_optimization(system, motion, reserves=1.0)
    first, best = time.perf_counter() - start, np.inf
    for _ in range(rounds):
        start = time.process_time()
        cd.static_optimization(system, motion, reserves=1.0)
        best = min(best, time.process_time() - start)
    return first, best / len(motion), result


def main() -> None:
    import condyle as cd
    from benchmarks.muscles import muscled

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    arm = cd.models.arm26()
    motion = elbow_flexion(arm)
    first, best, result = ours(arm, motion, 10 * rounds)
    said = lambda: f"{1e3 * best:8.3f} ms a frame, first call {first:.1f} s, KKT {result.kkt.max():.0e}"
    print(f"arm26, condyle      {said()}")
    if importlib.util.find_spec("opensim"):
        process = OpenSimProcess(numbers(), about_arm)
        given = motion.time, motion.values, motion.names
        theirs = (
            min(
                process.ask("seconds", *given, 1.0, True) - process.ask("seconds", *given, 0.01, True)
                for _ in range(rounds)
            )
            / 99
        )
        process.ask("seconds", *given, 1.0, True)
        names, a = process.ask("activations")
        off = max(
            np.abs(a[INNER, names.index(name)] - result.activations[name][INNER]).max()
            for name in arm.muscles
        )
        print(
            f"arm26, OpenSim      {1e3 * theirs:8.3f} ms a frame: {theirs / best:.0f} times; activations "
            f"differ by {off:.1e} at most"
        )
    big = muscled(92)
    first, best, result = ours(big, wave(big), 10 * rounds)
    print(f"92 muscles, 23 dof  {said()}")


if __name__ == "__main__":
    main()
