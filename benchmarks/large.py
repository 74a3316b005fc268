"""A thousand bodies: first result, memory, and time a body beside Pinocchio and MuJoCo: `python -m
benchmarks.large --help`.

Targets are those of issue 3, requirement 12; that names no peer, and to be as fast as they are is our own.
The time a body is that of the looped layout at 1,000 bodies over that of the unrolled one at 30, both called
from Python; at 30 the call itself, some 0.3 microseconds, is part of it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.report import Claim, Report, Time, machine
from benchmarks.timing import Case

JOINTS = ("pin", "function")
PINOCCHIO = 250  # bodies that its Data has room for in a GB


def mobilizer(joint: str) -> Any:
    """A Pin, or a knee of three functions of one coordinate."""
    import numpy as np

    import condyle as cd

    if joint == "pin":
        return cd.Pin()
    return cd.FunctionBased(
        ("knee",),
        (lambda q: 0.1 * np.sin(q), None, lambda q: q),
        (lambda q: 0.01 * q * q, lambda q: 0.02 * np.cos(q), None),
    )


def child(joint: str, bodies: int) -> None:
    """In a fresh process: seconds from the first import to the first udot, without making random numbers;
    peak memory in MB."""
    start = time.perf_counter()
    import condyle  # noqa: F401

    imported = time.perf_counter()
    from benchmarks import trees

    tree = trees.random_tree(bodies, states=1)
    begun = time.perf_counter()
    system = trees.condyle_system(tree, mobilizer(joint))
    described = time.perf_counter()
    system.forward_dynamics(tree.q[0], tree.u[0], tree.tau[0])
    answered = time.perf_counter()
    print(
        json.dumps(
            {
                "import": imported - start,
                "describe": described - begun,
                "first call": answered - described,
                "memory": peak_memory(),
            }
        )
    )


def peak_memory() -> float:
    """MB of this process. What getrusage says counts the parent's as well where a process was forked."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(
            int(line.split()[1]) / 1024
            for line in status.read_text().splitlines()
            if line.startswith("VmHWM")
        )
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024 ** (2 if sys.platform == "darwin" else 1)
    )


def first_result(report: Report, joint: str, bodies: int, runs: int) -> None:
    def run(cache: str) -> dict[str, float]:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.large", "--child", joint, "--bodies", str(bodies)],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent.parent,
            env=os.environ | {"CONDYLE_CACHE_DIR": cache},
        )
        return json.loads(done.stdout)

    with tempfile.TemporaryDirectory() as top:
        found = {
            "empty cache": [run(f"{top}/{i}") for i in range(runs)],
            "from cache": [run(f"{top}/0") for _ in range(runs)],
        }
    for name, each in found.items():
        report.times += [
            Time("first result", bodies, f"{joint}, {name}: {key}", min(e[key] for e in each))
            for key in ("import", "describe", "first call")
        ]
    empty = found["empty cache"]
    report.claims += [
        Claim(
            12,
            f"first result with import, {joint}",
            bodies,
            min(e["import"] + e["describe"] + e["first call"] for e in empty),
            "<=",
            3.0,
            "s",
        ),
        Claim(
            12,
            f"peak memory of the process, {joint}",
            bodies,
            max(e["memory"] for e in empty),
            "<=",
            400,
            "MB",
        ),
    ]


def time_a_body(report: Report, joint: str, bodies: int, rounds: int) -> None:
    """One state a call."""
    from benchmarks import engines, trees
    from benchmarks.speed import available, fastest, record

    small, large = trees.random_tree(30, states=20), trees.random_tree(bodies, states=2)
    few, many = engines.Condyle(small, mobilizer(joint)), engines.Condyle(large, mobilizer(joint))
    for layout, engine in (("unrolled", few), ("looped", many)):
        os.environ["CONDYLE_LAYOUT"] = layout  # asked for when the machine code is made
        engine.udot()
    del os.environ["CONDYLE_LAYOUT"]
    cases = {
        "condyle: looped": next(iter(many.one_state(2).values())),
        f"condyle: {bodies / 30:.3g} times 30 bodies, unrolled": _as_large(few, bodies),
    }
    peers = available(report) if joint == "pin" else []
    if "mujoco" in peers:
        cases |= engines.MuJoCo(large).one_state(2)
    if "pinocchio" in peers:
        fewer = min(bodies, PINOCCHIO)
        found = engines.Pinocchio(trees.random_tree(fewer, states=2)).one_state(2)
        cases |= {
            f"{case}, {bodies / fewer:.3g} times {fewer} bodies": Case(c.run, c.states * fewer / bodies)
            for case, c in found.items()
        }
        report.notes.append(
            f"pinocchio: its Data takes 64 n^3 bytes, {64e-9 * bodies**3:.0f} GB at {bodies} bodies"
        )
    times = record(report, f"one state, {joint}", bodies, cases, rounds)
    looped, unrolled = list(times.values())[:2]
    report.claims.append(
        Claim(12, f"time a body over that of 30 unrolled, {joint}", bodies, looped / unrolled, "<=", 1.4)
    )
    for name in sorted({case.partition(":")[0] for case in cases} - {"condyle"}):
        report.claims.append(
            Claim(12, f"one state, {name} / condyle", bodies, fastest(times, name) / looped, ">=", 1.0)
        )


def _as_large(engine: Any, bodies: int) -> Case:
    """Calls of a small tree, timed as if so many bodies were in each."""
    case = next(iter(engine.one_state(20).values()))
    return Case(case.run, case.states * len(engine.tree.bodies) / bodies)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.large", description="Condyle with a thousand bodies."
    )
    parser.add_argument("--bodies", type=int, default=1000, help="size of the random trees")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look, not a measurement")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers here")
    parser.add_argument("--child", choices=JOINTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.bodies)
    else:
        measure(options)


def measure(options: argparse.Namespace) -> None:
    rounds = 50 if options.quick else 300
    report = Report(machine(), {"bodies": options.bodies, "rounds": rounds})
    for joint in JOINTS:
        first_result(report, joint, options.bodies, 2 if options.quick else 5)
        time_a_body(report, joint, options.bodies, rounds)
    report.print()
    if options.json:
        report.write(options.json)


if __name__ == "__main__":
    main()
