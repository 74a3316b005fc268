"""Force plates at 1 kHz: what it costs that no step passes a sample unseen (integrate/interrupts/knots.py).

A leg on a pin, with damping, pushed by two recorded vectors of 100 s of gait: smooth, and with noise of a
thousandth and a hundredth of the body weight. Each run is timed with and without knots, processor time, least
of some; the first run finds the knots, later ones of the same recording have them.

    python -m benchmarks.plates
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import condyle as cd
from condyle.integrate.interrupts import knots
from condyle.integrate.interrupts.time_signals import timed

WEIGHT, STRIDE, STANCE = 800.0, 1.1, 0.66


def plates(seconds: float, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and forces (n, 3) [N] of one foot: two humps in stance, nothing in swing; noise in shares of
    the weight."""
    t = np.arange(round(1000 * seconds) + 1) / 1000
    x = np.clip(t % STRIDE / STANCE, 0, 1)
    hump = np.sin(np.pi * x)
    along = np.sin(2 * np.pi * x) * hump
    force = WEIGHT * np.stack(
        [-0.2 * along, hump * (1 + 0.4 * np.cos(4 * np.pi * (x - 0.5))), 0.04 * along * hump], axis=1
    )
    return t, force + noise * WEIGHT * np.random.default_rng(0).normal(size=force.shape)


def leg(seconds: float, noise: float) -> cd.System:
    t, force = plates(seconds, noise)
    system = cd.System()
    system.add_body("leg", mobilizer=cd.Pin(), mass=20.0, com=(0, -0.4, 0), inertia=(1, 1, 1))
    system.add_force("damper", cd.forces.MobilityDamper("leg", 20.0))
    system.add_force("plate", cd.forces.ExternalWrench("leg", (0, -1, 0), (t, force), frame="body"))
    system.add_force("other", cd.forces.ExternalWrench("leg", torque=(t, force / 10)))
    return system


def least(run: Callable[[], Any], times: int = 3) -> float:
    """Processor time [s]."""
    found = []
    for _ in range(times):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.plates", description="Force plates with and without knots."
    )
    parser.add_argument("--seconds", type=float, default=100.0)
    options = parser.parse_args()
    find = knots._found
    print(
        "| noise | integrator | accuracy | steps without, with | evaluations | time | seconds, once to "
        "find |\n|---|---|---|---|---|---|---|"
    )
    for noise in (0.0, 1e-3, 1e-2):
        system = leg(options.seconds, noise)
        state = system.state()
        for method in ("merson", "dormand-prince"):
            for accuracy in (1e-3, 1e-5):
                run = partial(
                    cd.simulate, system, state, options.seconds, accuracy=accuracy, integrator=method
                )
                statistics, seconds = [], []
                for way in (lambda *_: np.empty(0), find):
                    knots._found = way  # type: ignore[assignment]
                    timed(system).memory.clear()
                    statistics.append(run().statistics)
                    seconds.append(least(run))
                timed(system).memory.clear()
                once = least(run, 1) - seconds[1]
                a, b = statistics
                print(
                    f"| {noise:g} | {method} | {accuracy:g} | {a.steps} {b.steps} | x "
                    f"{b.evaluations / a.evaluations:.2f} | x {seconds[1] / seconds[0]:.2f} | "
                    f"{seconds[1]:.3f}, {once:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
