"""`condyle batch` beside a shell loop over OpenSim's tools: scale, inverse kinematics and dynamics, static optimization,
joint reactions, from files to files.

    python -m benchmarks.batch                          2,000 trials of 40 subjects, 101 frames each; some minutes
    python -m benchmarks.batch --subjects 2 --trials 5  a look

Subjects are made up (`cd.models.synthetic_subject`: 10 coordinates, 18 muscles, 29 markers, two force plates). Ours is
the whole command, with a cache that is empty at the start, in one process and in two; OpenSim's are some trials, each
tool as `ScaleTool("setup.xml").run()`, scaling once per subject. Processor time, so that others on the machine do not
count. A shell loop starts OpenSim for each tool: the start of its Python wheel is measured, and named apart.
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

import numpy as np

ROOT = Path(__file__).resolve().parents[1]


def command(words: list[str], **environment: str) -> tuple[float, float, str]:
    """Seconds by the clock and of processors, and what it printed."""
    place = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", *words], env=place, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(
            f"{words[0]} ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-1500:]}"
        )
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def opensim(folder: Path, subjects: int, samples: int) -> tuple[dict[str, float], float]:
    """Mean processor time of each tool for a trial, and of a start."""
    found: list[dict[str, float]] = []
    for k in range(samples):
        own, trial = folder / f"S{k % subjects:02d}", folder / f"S{k % subjects:02d}/T{k // subjects:03d}"
        words = [
            folder / "generic.osim",
            own / "T000/static.trc",
            60 + 2 * (k % subjects),
            trial / "walk.trc",
        ]
        words += [trial / "ground_reactions.xml", folder / f"opensim{k}"]
        _, _, said = command(["benchmarks.opensim_batch", *map(str, words)])
        found.append(json.loads(said.splitlines()[-1])["tools"])
    mean = {name: float(np.mean([row[name] for row in found])) for name in found[0]}
    return {name: mean[name] for name in ("scale", "ik", "id", "so", "jr")}, mean["start"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--subjects", type=int, default=40)
    parser.add_argument("--trials", type=int, default=50, help="of each subject")
    parser.add_argument("--frames", type=int, default=101)
    parser.add_argument("--opensim", type=int, default=12, help="trials that OpenSim runs; 0 for none")
    parser.add_argument("--executors", nargs="*", default=["here", "processes"])
    args = parser.parse_args()
    count = args.subjects * args.trials
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        from tests.cli.batch_study import make  # the peer's process does not import it

        make(folder, args.subjects, args.trials, args.frames)
        each = np.inf
        for executor in args.executors:
            cache = folder / f"cache-{executor}"
            cache.mkdir(mode=0o700)
            words = ["condyle", "batch", str(folder / "study.csv"), "--output", str(folder / executor)]
            words += ["--executor", executor, "--reserves", "10"]
            wall, cpu, _ = command(words, CONDYLE_CACHE_DIR=str(cache), CONDYLE_CACHE_MB="4096")
            each = min(each, cpu / count)
            print(
                f"condyle batch, {executor}: {count} trials, {wall:.1f} s by the clock, {1e3 * cpu / count:.1f} ms of a core each"
            )
            wall, cpu, _ = command(words, CONDYLE_CACHE_DIR=str(cache))
            print(f"  the same command again: {wall:.1f} s by the clock, nothing to run")
        if not args.opensim:
            return
        tools, start = opensim(folder, args.subjects, args.opensim)
        scale = tools.pop("scale")
        inside = sum(tools.values()) + scale / args.trials
        loop = inside + (len(tools) + 1 / args.trials) * start
        print(
            "OpenSim: "
            + ", ".join(
                f"{name} {1e3 * s:.0f} ms" for name, s in {"scale": scale, **tools, "start": start}.items()
            )
        )
        print(f"  tools alone {1e3 * inside:.0f} ms of a core per trial: {inside / each:.0f} x ours")
        print(f"  a shell loop, with a start for each tool, {1e3 * loop:.0f} ms: {loop / each:.0f} x ours")


if __name__ == "__main__":
    main()
