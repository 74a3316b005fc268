"""Many muscles over a tree of 23 pins: how long the first result takes, one state, and one of many in lanes.

    python -m benchmarks.muscles 12 80 500 --layouts looped unrolled
    python -m benchmarks.muscles 80 --calls vjp jacobian
    python -m benchmarks.muscles 92 --calls path_lengths path_speeds moment_arms

Times are the processor's, not the clock's. 40 % of the muscles go over cylinders, 10 % over ellipsoids, the
others are straight. Nothing is kept on disk but the surfaces' solvers, which belong to no model: they are
compiled before the clock starts.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import condyle as cd

STATES = 512


def skeleton(bodies: int = 23, seed: int = 0) -> cd.System:
    """A tree of pins about random axes; every eighth begins a new branch at the first."""
    rng = np.random.default_rng(seed)
    system = cd.System(gravity=(0, -9.81, 0))
    for i in range(bodies):
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        R *= np.sign(np.linalg.det(R))
        parent = "ground" if i == 0 else f"b{i - 1}" if i % 8 else "b0"
        system.add_body(
            f"b{i}",
            parent,
            cd.Pin(),
            X_PF=cd.Transform(R, (0, -0.3 * (i > 0), 0.02)),
            X_BM=cd.Transform(R, (0, 0, 0)),
            mass=2.0,
            com=(0, -0.15, 0),
            inertia=(0.02, 0.004, 0.02),
        )
    return system


def muscled(
    n: int,
    bodies: int = 23,
    seed: int = 0,
    tendon: str = "rigid",
    share: tuple[float, float] = (0.4, 0.1),
    dynamics: bool = False,
) -> cd.System:
    """The tree with n muscles from a body over its child, through three points; some over a surface.

    Args:
        share: of muscles over cylinders, and over ellipsoids.
        dynamics: activation dynamics.
    """
    system, rng = skeleton(bodies, seed), np.random.default_rng(seed + 1)
    between = [(b.parent.name, b.name) for b in system.bodies if b.parent and not b.parent.is_ground]
    turn = cd.Transform(np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]]).T, (0, -0.3, 0))
    for k in range(n):
        a, b = between[k % len(between)]
        r, angle = rng.uniform(0.03, 0.05), rng.uniform(0, 2 * np.pi)
        x, z = r * np.cos(angle), r * np.sin(angle)
        kind = k % 10 / 10
        surface = (
            cd.paths.Cylinder(rng.uniform(0.02, 0.028), 0.3)
            if kind < share[0]
            else cd.paths.Ellipsoid((0.03, 0.025, 0.02))
            if kind < sum(share)
            else None
        )
        wraps = [] if surface is None else [cd.paths.Wrap(surface, a, turn, between=(1, 2))]
        path = cd.paths.Path([(a, (x, -0.05, z)), (a, (x, -0.2, z)), (b, (-0.3 * x, -0.12, -0.3 * z))], wraps)
        system.add_force(
            f"m{k}",
            cd.muscles.Thelen2003(
                path,
                rng.uniform(300, 900),
                rng.uniform(0.09, 0.12),
                rng.uniform(0.15, 0.2),
                rng.uniform(0, 0.3),
                tendon=tendon,
                activation_dynamics=dynamics,
            ),
        )
    return system


def states(system: cd.System, n: int = STATES, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.3, 0.3, (n, system.nq)), rng.normal(size=(n, system.nu))


def least(call: Callable[[], object], seconds: float = 0.3) -> float:
    """The quickest of some calls [s]."""
    best, end = np.inf, time.process_time() + seconds
    while time.process_time() < end:
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def measure(
    make: Callable[[], cd.System], call: Callable[[cd.System, np.ndarray, np.ndarray], object]
) -> tuple[float, float, float]:
    """First result [s], one state and one of many [us]. The cache is empty but for solvers."""
    system = make()
    q, u = states(system)
    system.defaults()
    start = time.process_time()
    call(system, q[0], u[0])
    first = time.process_time() - start
    one = least(lambda: call(system, q[0], u[0]))
    call(system, q, u)
    return first, 1e6 * one, 1e6 * least(lambda: call(system, q, u)) / len(q)


CALLS: dict[str, Callable[[cd.System, np.ndarray, np.ndarray], object]] = {
    "forward_dynamics": lambda s, q, u: s.forward_dynamics(q, u),
    "inverse_dynamics": lambda s, q, u: s.inverse_dynamics(q, u, np.zeros(s.nu)),
    "zdot": lambda s, q, u: s.zdot(q, u),
    "path_lengths": lambda s, q, u: s.path_lengths(q),
    "path_speeds": lambda s, q, u: s.path_speeds(q, u),
    "moment_arms": lambda s, q, u: s.moment_arms(q),
    "vjp": lambda s, q, u: s.vjp(
        "forward_dynamics", q, u, np.zeros(s.nu), cotangent=np.ones(s.nu), wrt=("q", "u", "tau")
    ),
    "jacobian": lambda s, q, u: s.jacobian("forward_dynamics", q, u, np.zeros(s.nu), wrt=("q", "u", "tau")),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("muscles", nargs="*", type=int, default=[12, 80, 500])
    parser.add_argument("--tendon", default="rigid", choices=("rigid", "elastic"))
    parser.add_argument("--calls", nargs="*", default=["forward_dynamics"])
    parser.add_argument("--layouts", nargs="*", default=["looped"])
    options = parser.parse_args()
    os.environ["CONDYLE_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as cache:
        os.environ["CONDYLE_CACHE_DIR"] = cache
        make = partial(muscled, tendon=options.tendon, dynamics=options.tendon == "elastic")
        warm, q = muscled(10, 3), np.zeros(3)
        warm.path_lengths(q)  # the solvers, for one state and for many
        warm.path_lengths(np.zeros((64, 3)))
        for n in options.muscles:
            for layout in options.layouts:
                os.environ["CONDYLE_LAYOUT"] = layout
                for name in options.calls:
                    first, one, many = measure(partial(make, n), CALLS[name])
                    print(
                        f"{n:4d} muscles, {options.tendon}, {layout:8s} {name:17s} first {first:6.2f} s, "
                        f"one state {one:8.1f} us, in lanes {many:8.2f} us",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
