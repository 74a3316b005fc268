"""Joints along splines beside pins: `python -m benchmarks.spline_joints --help`.

Targets are those of issue 11, requirements 1 and 12: a chain of eight such joints takes at most 3 times as
long as eight pins in general frames (3.5 times per lane), 1,000 control frames 1.1 times as long as 10, and
the time per joint does not grow with their number. First results are those of fresh processes with an empty
cache. States lie along a motion, as those of a simulation do: with states at random every row of a long table
comes from far memory, which takes 1.1 to 1.2 times as long.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

from benchmarks.report import Claim, Report, Time, machine
from benchmarks.timing import Case, interleaved

PINS = "pins in general frames"
STATES, CALLS = 2000, 100  # states of a batch, and of a run one by one
NUMBERS = 1, 8, 50, 100, 200  # joints in chains
STEPS = 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2  # [s]
EULER = 0.02, 0.1
"""Largest steps of lee2008 [s]: "Globe" and "Beads-on-a-Wire", section 6."""


def knee(n: int, seed: int = 0) -> tuple[Any, Any]:
    """n frames of a knee: flexion with some ab- and adduction and shift, another one for each seed."""
    from condyle.spatial import exp_so3

    c = np.random.default_rng(seed).uniform(0.8, 1.2, 5)
    a = -2.0 * np.arange(n) / (n - 1)
    turn = np.stack([c[0] * 0.075 * a * a, c[1] * 0.1 * np.sin(2 * a), a], axis=1)
    shift = np.stack([c[2] * 0.02 * np.sin(2 * a), -0.4 + c[3] * 0.02 * np.cos(a), c[4] * 0.008 * a], axis=1)
    return exp_so3(turn), shift


def joint(kind: str, i: int = 0) -> Any:
    """The i-th joint of a chain."""
    import condyle as cd

    match kind.split():
        case ["pin"]:
            return cd.Pin()
        case ["curve", frames, *more]:
            order = int(more[1]) if more[:1] == ["order"] else 4
            return cd.SplineCurve(
                knee(int(frames), i if "different" in more else 0), order, "closed" in more, domain=(0.0, 2.0)
            )
        case ["functions", points]:
            x = np.linspace(0, 2, int(points))
            f = [cd.Spline(x, 0.3 * np.sin((j + 1) * x)) for j in range(6)]
            return cd.FunctionBased(f"q{i}", f[:3], f[3:])
        case ["surface", n]:
            x, y = np.meshgrid(*[np.linspace(0, 2, int(n))] * 2, indexing="ij")
            values = np.stack(
                [0.1 * x, 0.1 * y, 0.03 * np.sin(x + 2 * y), 0.3 * np.sin(y), -0.3 * np.cos(x), 0.2 * x * y]
            )
            return cd.SplineSurface(values, domain=(0.0, 2.0))
    raise ValueError(kind)


def chain(kind: str, n: int) -> Any:
    """n such joints, one after the other, in general frames."""
    import condyle as cd
    from condyle.spatial import exp_so3

    rng, system = np.random.default_rng(0), cd.System()
    for i in range(n):
        frames = [cd.Transform(exp_so3(rng.normal(size=3)), 0.2 * rng.normal(size=3)) for _ in range(2)]
        system.add_body(
            f"b{i}",
            f"b{i - 1}" if i else "ground",
            joint(kind, i),
            *frames,
            mass=1.0 + rng.uniform(),
            com=0.1 * rng.normal(size=3),
            inertia=(0.11, 0.12, 0.13),
        )
    return system


def states(nq: int) -> tuple[Any, Any]:
    """q and u along a motion, shape (STATES, nq)."""
    phase = np.random.default_rng(1).uniform(0, 6, nq) + 0.003 * np.arange(STATES)[:, None]
    return 1 + 0.9 * np.sin(phase), 2 * np.cos(phase)


def cases_of(name: str, system: Any) -> dict[str, Case]:
    """One state after the other, and a batch on one thread."""
    q, u = states(system.nq)
    calls = max(5, CALLS * 8 // max(system.nq, 8))  # short runs: long ones are always interrupted
    each = [(np.array(a), np.array(b)) for a, b in zip(q[:calls], u[:calls])]

    def one_by_one() -> None:
        for a, b in each:
            system.forward_dynamics(a, b)

    return {
        f"{name}: one state": Case(one_by_one, calls),
        f"{name}: per lane": Case(lambda: system.forward_dynamics(q, u, threads=1), STATES),
    }


def time_chains(report: Report, rounds: int) -> None:
    """Chains of eight speeds beside eight pins."""
    kinds = {
        PINS: ("pin", 8),
        "curves, 10 frames": ("curve 10", 8),
        "curves, 1,000 frames": ("curve 1000", 8),
        "different curves": ("curve 10 different", 8),
        "closed curves": ("curve 10 closed", 8),
        "order 5": ("curve 10 order 5", 8),
        "order 6": ("curve 10 order 6", 8),
        "six splines of 50 points": ("functions 50", 8),
        "surfaces 8 x 8": ("surface 8", 4),
        "surfaces 100 x 100": ("surface 100", 4),
    }
    cases: dict[str, Case] = {}
    for name, (kind, n) in kinds.items():
        cases |= cases_of(name, chain(kind, n))
    found = {name: timing.seconds for name, timing in interleaved(cases, rounds).items()}
    for how, target in (("one state", 3.0), ("per lane", 3.5)):
        for name, (_, n) in kinds.items():
            seconds = found[f"{name}: {how}"]
            report.times.append(Time(how, n, name, seconds, seconds / found[f"{PINS}: {how}"]))
        few, many = (found[f"curves, {n} frames: {how}"] for n in ("10", "1,000"))
        pins = found[f"{PINS}: {how}"]
        report.claims += [
            Claim(12, f"curves over pins, {how}", 8, few / pins, "<=", target),
            Claim(1, f"1,000 frames over 10, {how}", 8, many / few, "<=", 1.1),
        ]


def time_numbers(report: Report, rounds: int) -> None:
    """One state of chains of 1 to 200 joints: time per joint."""
    for name, kind in (("the same curve", "curve 10"), ("different curves", "curve 10 different")):
        cases = {n: cases_of(str(n), chain(kind, n))[f"{n}: one state"] for n in NUMBERS}
        found = interleaved({str(n): case for n, case in cases.items()}, rounds)
        each = {n: found[str(n)].seconds / n for n in NUMBERS}
        report.times += [Time(f"per joint, {name}", n, "one state", each[n]) for n in NUMBERS]
        growth = each[200] / each[50]
        report.claims.append(Claim(12, f"per joint at 200 over at 50, {name}", 200, growth, "<=", 1.3))


def child(kind: str, n: int) -> None:
    """In a fresh process: seconds to make joints and to add them, and to the first result; processor time,
    since others may use the machine."""
    import condyle  # noqa: F401

    start = time.process_time()
    system = chain(kind, n)
    made = time.process_time()
    q, u = (np.array(x[0]) for x in states(system.nq))
    system.forward_dynamics(q, u)
    print(json.dumps({"describe": made - start, "first": time.process_time() - made}))


def time_first(report: Report) -> None:
    """First results from an empty cache."""
    for kind, n in (
        ("pin", 8),
        ("curve 10", 8),
        ("curve 10", 200),
        ("curve 10 different", 200),
        ("surface 100", 1),
    ):
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "benchmarks.spline_joints", "--child", kind, str(n)]
            out = subprocess.run(
                command,
                env=os.environ | {"CONDYLE_CACHE_DIR": cache},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        found = json.loads(out)
        report.times += [
            Time("describe", n, kind, found["describe"]),
            Time("first result", n, kind, found["first"]),
        ]
        if "different" in kind:
            report.claims.append(
                Claim(12, "first result, different curves", n, found["first"], "<=", 1.0, "s")
            )


def letters(n: int = 8) -> Any:
    """Rings that slide on each other: closed curves along letters O of 1 m by 0.6 m."""
    import condyle as cd
    from condyle.spatial import rotation_z

    a = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    p = np.stack([0.5 * np.sin(a), -0.3 * np.cos(a), 0 * a], axis=1)
    R = np.stack([rotation_z(x) for x in a])
    system = cd.System()
    for i in range(n):
        system.add_body(
            f"letter{i}",
            f"letter{i - 1}" if i else "ground",
            cd.SplineCurve((R, p), closed=True, domain=(0.0, 2 * np.pi)),
            (0.0, -0.5, 0.0),
            mass=1.0,
            com=(0, -0.5, 0),
            inertia=(0.05, 0.05, 0.05),
        )
    return system


def largest_step(system: Any, damping: float, seconds: float = 10.0) -> float:
    """The largest step [s] with which forward Euler stays bounded: what it has to swing with never doubles.
    From rest 0.3 rad off, damped as tau = -damping u. Without damping it is no property of the joint: forward
    Euler gains h w^2/2 of an oscillator's amplitude per second, w its frequency [rad/s]."""

    def energy(q: Any, u: Any) -> float:
        return float(sum(system.energy(q, u)))

    start, rest = np.full(system.nq, 0.3), np.zeros(system.nu)
    lowest = energy(0 * start, rest)
    most = lowest + 2 * (energy(start, rest) - lowest)
    best = 0.0
    for h in STEPS:
        q, u = start.copy(), rest.copy()
        for _ in range(round(seconds / h)):
            udot = system.forward_dynamics(q, u, -damping * u)
            q, u = q + h * u, u + h * udot
            if not energy(q, u) <= most:
                return best
        best = h
    return best


def time_euler(report: Report) -> None:
    for n, damping in ((1, 0.0), (1, 1.0), (1, 4.0), (8, 0.0), (8, 1.0), (8, 4.0)):
        report.times.append(
            Time(
                "largest forward Euler step",
                n,
                f"letters, damping {damping:g} N m s",
                largest_step(letters(n), damping),
            )
        )
    low, high = EULER
    report.notes.append(
        f"lee2008 has {1e3 * low:g} ms to {1e3 * high:g} ms for the largest steps, of other "
        "scenes, whose damping it does not tell"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=40, help="turns of each case")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, no first results")
    parser.add_argument("--json", help="also write the report here")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child[0], int(given.child[1]))
        return
    rounds = 10 if given.quick else given.rounds
    report = Report(machine(), vars(given))
    time_chains(report, rounds)
    time_numbers(report, rounds)
    if not given.quick:
        time_first(report)
        time_euler(report)
    report.print()
    if given.json:
        report.write(given.json)


if __name__ == "__main__":
    main()
