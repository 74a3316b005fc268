"""Sweeps on this machine: seconds per member, memory, overhead, workers, and what they say of 100 nodes.

    python -m benchmarks.sweeps                 10^6 members of a double pendulum, 2 s at 1e-6; some minutes
    python -m benchmarks.sweeps --members 30000 a look
    python -m benchmarks.sweeps --only scale|overhead|workers|tiny|first

A chunk of a sweep runs as one `cd.simulate` of all its members would, so that both are timed on one thread. Each case
is a process of its own, whose peak memory is read at its end; processor time, the least of some rounds, since others
use the machine too. `workers` compares the processor time of one and of two workers for the same members: on cores of
their own, two take t_2 / 2 of it. The model (see docs/guide/many_runs.md) is

    seconds = first + n c / (N w) + n b                                                                     (1)

for n members of c seconds on N nodes with w workers, with b seconds that the client needs for a member (for a chunk of
m members: b = B / m + s), and `first` until a worker has its code.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def pendulum():
    import condyle as cd

    system = cd.System()
    for name, parent in (("a", "ground"), ("b", "a")):
        mass = cd.Parameter("mass", 1.0) if name == "a" else 1.0
        system.add_body(
            name, parent, cd.Pin(), X_PF=(0, -0.5, 0), X_BM=(0, 0.5, 0), mass=mass, inertia=(0.1, 0.1, 0.1)
        )
    return system


def members(n):
    import condyle as cd

    return cd.members({"mass": (0.5, 2), "a": (-1, 1), "b": (-1, 1)}, n=n, seed=1)


def tiny(members):
    return members["a"] * 2.0


def one(member):
    return member["a"] * 2.0


def case(kind: str, n: int) -> dict[str, float]:
    """What one process measures."""
    import condyle as cd

    system, some = pendulum(), members(n)
    work = cd.Simulation(system, system.state(), 2.0, accuracy=1e-6)
    measures = {"angle": "b"}
    cd.sweep(work, some[:64], measures=measures)  # compiled
    calls = {
        "simulate": lambda: work.ensemble(some),
        "sweep": lambda: cd.sweep(work, some, measures=measures),
        "stored": lambda: cd.sweep(work, some, measures=measures, store=tempfile.mkdtemp() + "/s"),
        "reduced": lambda: cd.sweep(work, some, measures=measures, reduce=True),
        "tiny here": lambda: cd.sweep(one, some, chunk=1000),
        "tiny batched": lambda: cd.sweep(tiny, some),
        "tiny processes": lambda: cd.sweep(one, some, executor="processes"),
        "tiny dask": lambda: _dask(one, some, 1),
        "one by one dask": lambda: _dask(one, some, 1, chunk=1),
    }
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin, cpu = time.perf_counter(), time.process_time()
    inside = calls[kind]()
    found = (
        inside
        if isinstance(inside, dict)
        else {"wall": time.perf_counter() - begin, "cpu": time.process_time() - cpu}
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found | {"peak MB": peak / 1e3, "before MB": before / 1e3}


def _dask(work, some, workers, **more):
    from distributed import Client, LocalCluster

    import condyle as cd

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        cd.sweep(work, some[:100], executor=client)
        begin, cpu = time.perf_counter(), time.process_time()
        cd.sweep(work, some, executor=client, **more)
        return {"wall": time.perf_counter() - begin, "cpu": time.process_time() - cpu}


def workers_case(workers: int, n: int) -> dict[str, float]:
    """Processor time of worker processes for n members."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    import condyle as cd

    system, some = pendulum(), members(n)
    work = cd.Simulation(system, system.state(), 2.0, accuracy=1e-6)
    begin = time.perf_counter()
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(time.sleep, [0.5] * workers))  # all have started
        cd.sweep(work, some[:4096], measures={"angle": "b"}, executor=pool, chunk=512)
        start, client = list(pool.map(_cpu, [0.3] * workers)), time.process_time()
        begin = time.perf_counter()
        cd.sweep(work, some, measures={"angle": "b"}, executor=pool)
        wall, client = time.perf_counter() - begin, time.process_time() - client
        end = dict(pool.map(_cpu, [0.3] * workers))
    each = [end[pid] - t for pid, t in start if pid in end]
    return {"wall": wall, "client": client, "busiest": max(each), "all": sum(each), "seen": len(each)}


def _cpu(seconds: float) -> tuple[int, float]:
    time.sleep(seconds)
    return os.getpid(), time.process_time()


def first_case(warm: bool) -> dict[str, float]:
    """Until the first result of a new worker."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    import condyle as cd

    system, some = pendulum(), members(16)
    work = cd.Simulation(system, system.state(), 2.0, accuracy=1e-6)
    if warm:
        cd.sweep(work, some, measures={"angle": "b"})
    begin = time.perf_counter()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        cd.sweep(work, some, measures={"angle": "b"}, executor=pool)
        return {"wall": time.perf_counter() - begin}


def asked(*words: object, rounds: int = 1, threads: str = "1", **environment: str) -> dict[str, float]:
    """A case in a process of its own; the round with the least processor time."""
    best: dict[str, float] = {}
    place = {**os.environ, "PYTHONPATH": str(ROOT), "CONDYLE_THREADS": threads, **environment}
    for _ in range(rounds):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.sweeps", "--case", *map(str, words)],
            env=place, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        found = json.loads(done.stdout.splitlines()[-1])
        key = "cpu" if "cpu" in found else "wall"
        best = found if not best or found[key] < best[key] else best
    return best


def scale(n: int) -> None:
    for kind in ("simulate", "sweep", "stored", "reduced"):
        found = asked(kind, n)
        print(
            f"{kind:>9}: {n:,} members, {found['cpu']:.1f} s of a core, {1e6 * found['cpu'] / n:.2f} us each, "
            f"peak {found['peak MB']:.0f} MB",
            flush=True,
        )


def overhead(rounds: int = 7) -> None:
    for n in (10_000, 30_000, 100_000):
        plain, swept = (asked(kind, n, rounds=rounds)["cpu"] for kind in ("simulate", "sweep"))
        print(
            f"overhead of a sweep at {n:,}: {100 * (swept / plain - 1):+.1f} % of {plain:.3f} s", flush=True
        )


def workers(n: int) -> None:
    alone, two = (asked("workers", k, n) for k in (1, 2))
    print(
        f"{n:,} members: 1 worker {alone['busiest']:.2f} s of a core, 2 workers {two['busiest']:.2f} s each at most: "
        f"{alone['busiest'] / two['busiest']:.2f} x on cores of their own (clock here: {alone['wall'] / two['wall']:.2f} x); "
        f"client {two['client']:.2f} s"
    )


def tiny_members(n: int = 100_000) -> None:
    for kind in ("tiny here", "tiny batched", "tiny processes", "tiny dask"):
        found = asked(kind, n)
        print(
            f"{kind}: {n:,} members, {1e6 * found['wall'] / n:.1f} us by the clock, {1e6 * found['cpu'] / n:.1f} us of the client each",
            flush=True,
        )
    found = asked("one by one dask", 2000)
    print(f"dask, a task per member: {1e3 * found['wall'] / 2000:.2f} ms by the clock each")


def first() -> None:
    with tempfile.TemporaryDirectory() as folder:
        cold = asked("first", 0, CONDYLE_CACHE_DIR=folder)
        warm = asked("first", 1, CONDYLE_CACHE_DIR=folder)
    print(
        f"first result of a new worker: {cold['wall']:.2f} s where it compiles, {warm['wall']:.2f} s with its code sent"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--members", type=int, default=1_000_000)
    parser.add_argument("--only", choices=["scale", "overhead", "workers", "tiny", "first"])
    parser.add_argument("--case", nargs="*")
    args = parser.parse_args()
    if args.case:
        kind, *numbers = args.case
        if kind == "workers":
            found = workers_case(*map(int, numbers))
        elif kind == "first":
            found = first_case(bool(int(numbers[0])))
        else:
            found = case(kind, int(numbers[0]))
        print(json.dumps(found))
        return
    parts = {
        "scale": lambda: scale(args.members),
        "overhead": overhead,
        "workers": lambda: workers(min(args.members, 400_000)),
        "tiny": tiny_members,
        "first": first,
    }
    for name, run in parts.items():
        if args.only in (None, name):
            run()


if __name__ == "__main__":
    main()
