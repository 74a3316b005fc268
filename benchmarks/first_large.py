"""Seconds until the first answer of large systems: `python -m benchmarks.first_large`. Fresh processes, empty
caches.

    axes           forward dynamics of 300 pins about 300 axes
    constrained    forward dynamics of 221 pins with a rod, two balls and a weld between leaves of the tree
    assemble       `cd.assemble` of 221 pins with 96 markers;  `closed`: with the constraints too
    simulate       `cd.simulate` of 300 pins;                  `run`: of the 221 with constraints

Wall and processor seconds from the finished description on, without imports.
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

from benchmarks import trees


def closed(tree: trees.Tree, q: np.ndarray) -> Any:
    """The tree with leaves joined in four places, so that the constraints hold at q."""
    import condyle as cd

    R, p = list[np.ndarray](), list[np.ndarray]()
    for b, angle in zip(tree.bodies, q, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        R_P, p_P = (np.eye(3), np.zeros(3)) if b.parent < 0 else (R[b.parent], p[b.parent])
        R.append(R_P @ b.R_PF @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]))
        p.append(p_P + R_P @ b.p_PF)
    system = trees.condyle_system(tree)
    carriers = {b.parent for b in tree.bodies}
    leaves = [i for i in range(len(tree.bodies)) if i not in carriers]
    (a, b), *others, (c, d) = [(leaves[k], leaves[-1 - k]) for k in range(4)]
    system.add_constraint(
        "rod", cd.constraints.Rod(f"b{a}", (0, 0, 0), f"b{b}", (0, 0, 0), float(np.linalg.norm(p[a] - p[b])))
    )
    for k, pair in enumerate(others):
        (i, x), (j, y) = ((i, tuple(R[i].T @ (sum(p[j] for j in pair) / 2 - p[i]))) for i in pair)
        system.add_constraint(f"ball{k}", cd.constraints.Ball(f"b{i}", x, f"b{j}", y))
    system.add_constraint(
        "weld",
        cd.constraints.Weld(
            f"b{c}", cd.Transform(R[c].T @ R[d], R[c].T @ (p[d] - p[c])), f"b{d}", cd.Transform()
        ),
    )
    return system


def child(case: str) -> None:
    import condyle as cd

    n = 300 if case in ("axes", "simulate") else 221
    tree = trees.random_tree(n, states=1)
    q, rng = 0.3 * tree.q[0], np.random.default_rng(1)
    system = closed(tree, q) if case in ("constrained", "closed", "run") else trees.condyle_system(tree)
    if case == "axes":
        other = cd.System(gravity=trees.GRAVITY)
        for b, body in zip(tree.bodies, system.bodies, strict=True):
            other.add_body(
                body.name,
                "ground" if b.parent < 0 else f"b{b.parent}",
                cd.Pin(axis=tuple(rng.normal(size=3))),
                cd.Transform(b.R_PF, b.p_PF),
                mass=b.mass,
                com=b.com,
                inertia=b.inertia_com,
            )
        system = other
    goals = []
    if case in ("assemble", "closed"):
        stations = [(f"b{i}", (0.1, 0.05, 0.02 * k)) for i in range(0, n, 7) for k in range(3)]
        goals = [cd.goals.Station(b, s, system.station_position(q, b, s)) for b, s in stations]
    start = system.state(q=q + (0.02 * rng.normal(size=n) if goals else 0))
    wall, processor = time.perf_counter(), time.process_time()
    if goals:
        cd.assemble(system, start, goals)
    elif case in ("simulate", "run"):
        cd.simulate(system, start, 1e-3)
    else:
        system.forward_dynamics(q, 0 * q, tree.tau[0])
    print(json.dumps([time.perf_counter() - wall, time.process_time() - processor]))


CASES = ("axes", "constrained", "assemble", "closed", "simulate", "run")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.first_large", description="First results of large systems."
    )
    parser.add_argument("--child", choices=CASES)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    if options.child:
        child(options.child)
    for case in () if options.child else CASES:
        found = []
        for _ in range(options.runs):
            with tempfile.TemporaryDirectory() as cache:
                done = subprocess.run(
                    [sys.executable, "-m", "benchmarks.first_large", "--child", case],
                    check=True,
                    text=True,
                    capture_output=True,
                    env=os.environ | {"CONDYLE_CACHE_DIR": cache},
                )
            found.append(json.loads(done.stdout))
        wall, processor = np.min(found, axis=0)
        print(f"{case:12} {wall:6.2f} s wall, {processor:6.2f} s of a processor")


if __name__ == "__main__":
    main()
