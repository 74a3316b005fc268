"""Peaks of memory: what a process takes for long trials and many members, over the bytes of its result.

    python -m benchmarks.memory            some minutes
    python -m benchmarks.memory frames     one of them

Each case is a process of its own; what it took before, with everything loaded and compiled, is subtracted.
`benchmarks.whole` has the peaks of whole tools beside OpenSim's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

REFERENCE = Path(__file__).parents[2] / "shared" / "reference" / "gait10dof18musc_pipeline"
FRAMES, MEMBERS = 10_000, 100_000


def peak() -> float:
    """[MB] of this process until now."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def held(result: Any, seen: set[int] | None = None) -> float:
    """[MB] of all arrays that a result leads to, each memory once."""
    import numpy as np

    seen = set() if seen is None else seen
    if id(result) in seen:
        return 0.0
    seen.add(id(result))
    if isinstance(result, np.ndarray):
        base = result
        while isinstance(base.base, np.ndarray):
            base = base.base
        if base is not result and id(base) in seen:
            return 0.0
        seen.add(id(base))
        return base.nbytes / 1e6
    if isinstance(result, dict):
        return sum(held(x, seen) for x in result.values())
    if isinstance(result, (list, tuple)):
        return sum(held(x, seen) for x in result[:1000])
    return (
        held(vars(result), seen) if hasattr(result, "__dict__") and type(result).__name__ != "System" else 0.0
    )


def trial(count: int) -> tuple[Any, Any, Any]:
    """A system, and a recording of so many frames."""
    import numpy as np

    import condyle as cd

    system = cd.read_osim(REFERENCE / "subject01.osim")
    t = np.arange(count) / 100
    q = np.tile(system.defaults()[0], (count, 1))
    q += 0.2 * np.sin(2 * np.pi * t[:, None] + np.arange(system.nq)) * (np.arange(system.nq) > 5)
    places = np.stack(
        [system.station_position(q, m.body, m.station) for m in map(system.marker, system.markers)], axis=-2
    )
    return system, cd.Markers(t, system.markers, places), q


def frames() -> tuple[Any, float, float]:
    """Inverse kinematics of 10,000 frames."""
    import condyle as cd

    system, markers, _ = trial(FRAMES)
    cd.inverse_kinematics(system, markers[:100])
    before = peak()
    return cd.inverse_kinematics(system, markers), before, markers.positions.nbytes / 1e6


def moments() -> tuple[Any, float, float]:
    """Inverse dynamics of 10,000 frames."""
    import numpy as np

    import condyle as cd

    system, _, q = trial(FRAMES)
    table = cd.Table(np.arange(FRAMES) / 100, system.coordinates, q, degrees=False)
    cd.inverse_dynamics(system, table[:100])
    before = peak()
    return cd.inverse_dynamics(system, table), before, q.nbytes / 1e6


def tensions() -> tuple[Any, float, float]:
    """Static optimization of 10,000 frames."""
    import numpy as np

    import condyle as cd

    system, _, q = trial(FRAMES)
    system = system.copy()
    for name in system.coordinates:
        system.add_force(f"reserve_{name}", cd.forces.CoordinateActuator(name, 500.0))
    table = cd.Table(np.arange(FRAMES) / 100, system.coordinates, q, degrees=False)
    cd.static_optimization(system, table[:100])
    before = peak()
    return cd.static_optimization(system, table), before, q.nbytes / 1e6


def members() -> tuple[Any, float, float]:
    """100,000 members of a double pendulum, 20 times each."""
    import numpy as np

    import condyle as cd

    system = cd.System()
    for k, parent in enumerate(("ground", "0")):
        system.add_body(str(k), parent, cd.Pin(), X_BM=(0, 0.5, 0), mass=1, inertia=(0.1,) * 3)
    q = np.random.default_rng(0).uniform(-1, 1, (MEMBERS, 2))
    run = lambda n: cd.simulate(system, {"q": q[:n]}, 1.0, keep=np.linspace(0, 1, 20))
    run(1000)
    before = peak()
    return run(MEMBERS), before, MEMBERS * 20 * 4 * 8 / 1e6


CASES = {"frames": frames, "moments": moments, "tensions": tensions, "members": members}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    options.add_argument("cases", nargs="*")
    options.add_argument("--child", choices=[*CASES])
    given = options.parse_args()
    if given.child:
        result, before, data = CASES[given.child]()
        print(json.dumps([peak(), before, data, held(result)]))
        return
    print(f"{'':30}{'peak':>10}{'before':>10}{'data':>10}{'result':>10}   [MB]")
    for name in given.cases or CASES:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "benchmarks.memory", "--child", name],
            check=True,
            text=True,
            stdout=subprocess.PIPE,
        )
        numbers = json.loads(done.stdout.splitlines()[-1])
        print(
            f"{(CASES[name].__doc__ or '').rstrip('.'):30}" + "".join(f"{x:10.1f}" for x in numbers),
            flush=True,
        )


if __name__ == "__main__":
    main()
