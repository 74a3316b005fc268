"""Loops that share no body are solved apart: `python -m benchmarks.constraints --help`.

Accelerations of one four-bar and of many side by side in one System, each closed by a ball: one state called
from Python, and batches in one thread. Requirement 10 of issue 4 asks that 100 cost at most 110 times one.
"""

from __future__ import annotations

import argparse

import numpy as np

import condyle as cd
from benchmarks.report import Claim, Report, Time, machine
from benchmarks.timing import Case, interleaved


def four_bars(count: int) -> cd.System:
    """So many parallelograms of three slender rods of 1 m and 1 kg, closed by balls."""
    system = cd.System(gravity=(0, -9.81, 0))
    rod = {"mass": 1.0, "com": (0, 0.5, 0), "inertia": (1 / 12, 1e-6, 1 / 12)}
    for k in range(count):
        system.add_body(f"left{k}", mobilizer=cd.Pin(), X_PF=(3 * k, 0, 0), **rod)
        system.add_body(
            f"coupler{k}",
            f"left{k}",
            cd.Pin(),
            X_PF=(0, 1, 0),
            mass=1.0,
            com=(0.5, 0, 0),
            inertia=(1e-6, 1 / 12, 1 / 12),
        )
        system.add_body(f"right{k}", mobilizer=cd.Pin(), X_PF=(3 * k + 1, 0, 0), **rod)
        system.add_constraint(
            f"close{k}", cd.constraints.Ball(f"coupler{k}", (1, 0, 0), f"right{k}", (0, 1, 0))
        )
    return system


def cases(count: int, states: int) -> dict[str, Case]:
    """One state at a time, and all of them in one call."""
    system, theta = four_bars(count), np.random.default_rng(0).uniform(0.4, 1.2, (states, count))
    q = np.stack([-theta, theta, -theta], axis=-1).reshape(states, -1)
    u, tau, rows = np.zeros_like(q), np.zeros(system.nu), list(q)

    def one() -> None:
        for row in rows:
            system.forward_dynamics(row, u[0], tau)

    return {
        "one state": Case(one, states),
        "batch": Case(lambda: system.forward_dynamics(q, u, threads=1), states),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.constraints", description="One loop and many."
    )
    parser.add_argument("--count", type=int, default=100, help="of four-bars")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: a look, not a measurement")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers here")
    options = parser.parse_args()
    report = Report(machine(), vars(options))
    one, many = cases(1, 2000), cases(options.count, 40)
    for what in one:
        times = interleaved(
            {"one four-bar": one[what], f"{options.count} of them": many[what]}, 4 if options.quick else 30
        )
        alone, all_of_them = (timing.seconds for timing in times.values())
        report.times += [
            Time(f"accelerations, {what}", 3, "one four-bar", alone, 1.0),
            Time(f"accelerations, {what}", 3 * options.count, "all", all_of_them, all_of_them / alone),
        ]
        report.claims.append(
            Claim(
                10,
                f"{options.count} four-bars / one, {what}",
                3 * options.count,
                all_of_them / alone,
                "<=",
                1.1 * options.count,
            )
        )
    report.print()
    if options.json:
        report.write(options.json)


if __name__ == "__main__":
    main()
