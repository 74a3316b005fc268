"""Many members side by side against one after the other: `python -m benchmarks.ensemble --help`.

The same members run as an ensemble, in one thread and in all, and as single runs in a Python loop: Merson at
one accuracy, ends only. Trees of pins from `trees.py` with random q and u, and a four-bar closed by a
constraint. Runs take turns; the least time counts, of the processor where one thread works (a shared machine
may let a thread wait), of the clock for all threads. The single runs are also timed without Python, as steps
of the native loop alone.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import condyle as cd
from benchmarks.constraints import four_bars
from benchmarks.report import Claim, Report, Time, machine
from benchmarks.trees import condyle_system, random_tree
from condyle.integrate.ensemble import Ensemble


def cases(bodies: list[int], members: int) -> list[tuple[str, int, cd.System, dict[str, Any]]]:
    rng, out = np.random.default_rng(0), []
    for n in bodies:
        system = condyle_system(random_tree(n, states=1))
        out.append(
            (
                "pins",
                n,
                system,
                {"q": rng.uniform(-1, 1, (members, n)), "u": rng.uniform(-1, 1, (members, n))},
            )
        )
    theta = rng.uniform(1.6, 2.4, members)
    out.append(("four-bar", 3, four_bars(1), {"q": np.stack([-theta, theta, -theta], axis=1)}))
    return out


def measure(
    system: cd.System, given: dict[str, Any], options: argparse.Namespace
) -> tuple[dict[str, float], float]:
    """Seconds a member by each way, and the share of the lanes' steps that were needed."""
    states = [
        system.state(**{name: value[i] for name, value in given.items()}) for i in range(options.members)
    ]
    keywords = {"t_final": options.seconds, "accuracy": options.accuracy}
    ways = {
        "one after the other": lambda: [cd.simulate(system, s, **keywords) for s in states],
        "lanes, one thread": lambda: cd.simulate(system, given, threads=1, **keywords),
        "lanes, all threads": lambda: cd.simulate(system, given, **keywords),
    }
    least, used = dict.fromkeys([*ways, "the native loop alone"], np.inf), 0.0
    for way in ways.values():
        way()
    for _ in range(2 if options.quick else 8):
        for name, way in ways.items():
            clock = time.perf_counter if name == "lanes, all threads" else time.process_time
            start = clock()
            result = way()
            least[name] = min(least[name], (clock() - start) / options.members)
            if isinstance(result, Ensemble):
                used = result.utilization
            elif name == "one after the other":
                evaluations = sum(traj.statistics.evaluations for traj in result)
        long = _long(system, states[0], options)
        least["the native loop alone"] = min(
            least["the native loop alone"], long * evaluations / options.members
        )
    return least, used


def _long(system: cd.System, state: cd.State, options: argparse.Namespace) -> float:
    """Seconds an evaluation in one run so long that Python counts for nothing."""
    start = time.process_time()
    traj = cd.simulate(system, state, 20 * options.seconds, accuracy=options.accuracy)
    return (time.process_time() - start) / traj.statistics.evaluations


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ensemble", description="Ensembles beside loops of single runs."
    )
    parser.add_argument("--bodies", type=int, nargs="*", default=[7, 30, 221])
    parser.add_argument("--members", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1.0, help="of motion")
    parser.add_argument("--accuracy", type=float, default=1e-4)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: a look, not a measurement")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers here")
    options = parser.parse_args()
    report = Report(machine(), vars(options))
    for name, bodies, system, given in cases(options.bodies, options.members):
        least, used = measure(system, given, options)
        own = least["lanes, one thread"]
        report.times += [Time(f"{name}: a member", bodies, case, s, s / own) for case, s in least.items()]
        for peer in ("one after the other", "the native loop alone"):
            report.claims.append(
                Claim(17, f"{name}: {peer} / lanes, one thread", bodies, least[peer] / own, ">=", 2.0)
            )
        report.notes.append(f"{name}, {bodies} bodies: lanes are used to {used:.0%}")
    report.print()
    if options.json:
        report.write(options.json)


if __name__ == "__main__":
    main()
