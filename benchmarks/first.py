"""First answers from an empty cache: processor seconds of fresh processes, and what they go to.

    python -m benchmarks.first                       all cases, the least of three
    python -m benchmarks.first box rodas --runs 1    some of them, by parts of their names
    python -m benchmarks.first box --where           the functions that take most, too

Of each process: seconds from the finished imports to the answer, and their split into building expressions
(CasADi), writing IR (our Python), parsing it, making machine code (LLVM), linking, modules that load late, and
the rest. A signal of the processor's clock says where the process is (one thread).
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

REFERENCE = Path(__file__).parents[2] / "shared/reference/opensim"
GAIT = REFERENCE / "Gait2354_Simbody/pipeline"
TICK = 0.002  # [s] of the processor

# -- cases: each returns what is timed


def floor(system: Any, body: str, points: Any, friction: float = 0.5, name: str = "floor") -> None:
    import condyle as cd

    C, stone = cd.contact, cd.contact.Rigid(friction=friction)
    system.add_contact(name, C.HalfSpace("ground", (0, 0, 1), 0.0, stone), C.vertices(body, points, stone))


def chain(n: int) -> Any:
    """Boxes joined by pins, the first one free."""
    import condyle as cd

    system = cd.System(gravity=(0, 0, -9.81))
    for k in range(n):
        system.add_body(
            f"b{k}",
            f"b{k - 1}" if k else "ground",
            cd.Pin(axis=(0, 1, 0)) if k else cd.Free(),
            X_PF=(0.1, 0, 0) if k else (0, 0, 0),
            X_BM=(-0.1, 0, 0) if k else (0, 0, 0),
            mass=1.0,
            inertia=(0.01, 0.02, 0.015),
        )
    return system


def box() -> Callable[[], object]:
    """A box on 8 corners, rigid."""
    import condyle as cd

    system = cd.System(gravity=(0, 0, -9.81))
    system.add_body("box", mobilizer=cd.Free(), mass=1.0, inertia=(0.01, 0.02, 0.015))
    floor(system, "box", [(x, y, z) for z in (-0.1, 0.1) for x in (-0.1, 0.1) for y in (-0.1, 0.1)])
    start = system.state(q={"box_tz": 0.15}, u={"box_wx": 0.5, "box_vx": 0.3})
    return lambda: cd.simulate(system, start, 0.5)


def chain20() -> Callable[[], object]:
    """A chain of 20 that falls on rigid points of four of its bodies."""
    import condyle as cd

    system = chain(20)
    for k in (0, 6, 13, 19):
        floor(system, f"b{k}", [(0, 0, -0.05)], name=f"floor{k}")
    start = system.state(q={"b0_tz": 0.1})
    return lambda: cd.simulate(system, start, 0.2)


def points12() -> Callable[[], object]:
    """12 rigid points with friction on a chain of six."""
    import condyle as cd

    system = chain(6)
    for k in range(6):
        floor(system, f"b{k}", [(0, -0.05, -0.05), (0, 0.05, -0.05)], name=f"floor{k}")
    start = system.state(q={"b0_tz": 0.1}, u={"b0_vx": 0.3})
    return lambda: cd.simulate(system, start, 0.2)


def rodas_gait() -> Callable[[], object]:
    """gait2354 with 8 spheres under its feet, by Rodas, from muscles in equilibrium."""
    import condyle as cd

    system = cd.read_osim(REFERENCE / "Gait2354_Simbody/subject01_simbody.osim").copy()
    C, rubber = (
        cd.contact,
        cd.contact.Material(1e6, dissipation=1.0, static_friction=0.8, dynamic_friction=0.8),
    )
    spheres = [
        C.Sphere(f"calcn_{side}", (x, 0.0, z), 0.03, rubber)
        for side in "rl"
        for x, z in ((0.0, 0.0), (0.1, 0.03), (0.2, 0.03), (0.2, -0.03))
    ]
    system.add_contact("feet", C.HalfSpace("ground", (0, 1, 0), 0.0, rubber), spheres)
    start = system.state(q={"pelvis_ty": 1.0})
    return lambda: cd.simulate(system, system.equilibrate_muscles(start), 0.01, integrator="rodas")


def rodas_120() -> Callable[[], object]:
    """A chain of 120 pins by Rodas."""
    import condyle as cd

    system = cd.System(gravity=(0, 0, -9.81))
    for k in range(120):
        system.add_body(
            f"b{k}",
            f"b{k - 1}" if k else "ground",
            cd.Pin(axis=(0, 1, 0)),
            X_BM=(-0.1, 0, 0),
            mass=1.0,
            inertia=(0.01, 0.02, 0.015),
        )
        system.add_force(f"stiff{k}", cd.forces.MobilitySpring(f"b{k}", 100.0, 0.0))
        system.add_force(f"soft{k}", cd.forces.MobilityDamper(f"b{k}", 10.0))
    start = system.state()
    return lambda: cd.simulate(system, start, 0.01, integrator="rodas")


def pins(n: int) -> Any:
    """A chain of pins."""
    import condyle as cd

    system = cd.System(gravity=(0, 0, -9.81))
    for k in range(n):
        system.add_body(
            f"b{k}",
            f"b{k - 1}" if k else "ground",
            cd.Pin(axis=(0, 1, 0)),
            X_BM=(-0.1, 0, 0),
            mass=1.0,
            inertia=(0.01, 0.02, 0.015),
        )
    return system


def describe_3000() -> Callable[[], object]:
    """Describing a chain of 3,000."""
    return lambda: pins(3000)


def simulate_3000() -> Callable[[], object]:
    """0.01 s of a chain of 3,000."""
    import condyle as cd

    system = pins(3000)
    return lambda: cd.simulate(system, system.state(), 0.01)


def show_rajagopal() -> Callable[[], object]:
    """`condyle show` of Rajagopal2016, first picture."""
    import condyle as cd

    path = str(Path(tempfile.mkdtemp()) / "page.html")
    return lambda: cd.show(cd.read_osim(REFERENCE / "Rajagopal/Rajagopal2016.osim"), path)


def show_balls() -> Callable[[], object]:
    """`cd.show` of 14 balls in a chain."""
    import condyle as cd

    system = cd.System(gravity=(0, 0, -9.81))
    for k in range(14):
        parent = f"b{k - 1}" if k else "ground"
        system.add_body(f"b{k}", parent, cd.Ball(), X_BM=(0, 0, 0.1), mass=1.0, inertia=(0.01,) * 3)
        system.add_geometry(f"b{k}", cd.shapes.Sphere(0.05))
    path = str(Path(tempfile.mkdtemp()) / "page.html")
    return lambda: cd.show(system, path)


def setup(name: str) -> Callable[[], Callable[[], object]]:
    """A setup file of gait2354 as `condyle run` runs it."""

    def case() -> Callable[[], object]:
        import shutil

        from condyle.opensim.setup import run_setup

        folder = Path(tempfile.mkdtemp()) / "pipeline"
        shutil.copytree(GAIT, folder)
        shutil.copytree(
            GAIT.parent, folder.parent, dirs_exist_ok=True, ignore=shutil.ignore_patterns("pipeline")
        )
        for model in (GAIT / "OutputReference").glob("*.osim"):
            shutil.copy(model, folder)
        return lambda: run_setup(folder / f"subject01_Setup_{name}.xml")

    case.__doc__ = f"gait2354: subject01_Setup_{name}.xml"
    return case


CASES: dict[str, tuple[Callable[[], Callable[[], object]], float]] = {
    "box": (box, 2.0),
    "chain20": (chain20, 3.0),
    "points12": (points12, 4.0),
    "rodas_gait": (rodas_gait, 10.0),
    "rodas_120": (rodas_120, 5.0),
    "describe_3000": (describe_3000, 1.0),
    "simulate_3000": (simulate_3000, 5.0),
    "show_rajagopal": (show_rajagopal, 5.0),
    "show_balls": (show_balls, 2.0),
    "ik": (setup("IK"), 0.0),
    "id": (setup("InverseDynamics"), 0.0),
    "scale": (setup("Scale"), 0.0),
}
"""The cases, and the seconds that each may take; 0: see benchmarks.whole, beside OpenSim."""

# -- where the time goes

KINDS = "expressions", "writing", "parsing", "machine code", "linking", "imports", "rest"


def kind(stack: list[tuple[str, str]]) -> str:
    """What a process does, from its frames, the newest first."""
    for file, name in stack:
        if "importlib" in file:
            return "imports"
        if "machine/jit.py" in file and name in ("__init__", "address", "_check"):
            return "linking"
        if "machine/parallel.py" in file or "machine/jit.py" in file:
            if any(f.endswith("binding/module.py") for f, _ in stack):
                return "parsing"
            return (
                "machine code"
                if any(n.startswith(("emit", "unlocked", "_emit")) for _, n in stack)
                else "writing"
            )
        if "casadi/casadi.py" in file:
            inside = any("straight/instructions.py" in f for f, _ in stack)
            return "writing" if inside else "expressions"
        if "native/straight/" in file or "native/ir/" in file or file.endswith("_writer.py"):
            return "writing"
        if "/condyle/" in file and "/native/" not in file and "/integrate/" not in file:
            return "rest"
    return "rest"


class Sampler:
    """Processor seconds by kind and by function while it is on."""

    def __enter__(self) -> Sampler:
        self.kinds = dict.fromkeys(KINDS, 0.0)
        self.own: collections.Counter[str] = collections.Counter()
        self.total: collections.Counter[str] = collections.Counter()
        self.last = time.process_time()
        signal.signal(signal.SIGPROF, self.take)
        signal.setitimer(signal.ITIMER_PROF, TICK, TICK)
        return self

    def take(self, number: int, frame: Any) -> None:
        now = time.process_time()
        spent, self.last = now - self.last, now
        stack = []
        while frame is not None:
            stack.append((frame.f_code.co_filename, frame.f_code.co_qualname))
            frame = frame.f_back
        self.kinds[kind([(f, n.rpartition(".")[2]) for f, n in stack])] += spent
        names = [f"{f.partition('/condyle/')[2] or f.rpartition('/')[2]}:{n}" for f, n in stack]
        self.own[names[0]] += spent
        for name in set(names):
            self.total[name] += spent

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        self.kinds["rest"] += time.process_time() - self.last


def child(case: str, where: int) -> None:
    run = CASES[case][0]()
    begun = time.process_time()
    with Sampler() as sampler:
        run()
    total = time.process_time() - begun
    print(json.dumps({"total": total, "kinds": sampler.kinds}))
    if where:
        for title, counter in (("own", sampler.own), ("with callees", sampler.total)):
            print(f"-- {title}", file=sys.stderr)
            for name, spent in counter.most_common(where):
                print(f"{spent:8.2f}  {name}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.first", description=__doc__.partition("\n\n")[0]
    )
    parser.add_argument("cases", nargs="*", help="parts of names; all if none is given")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--where", type=int, nargs="?", const=40, default=0, help="so many functions")
    parser.add_argument("--child", choices=list(CASES))
    given = parser.parse_args()
    if given.child:
        child(given.child, given.where)
        return
    print(f"{'':16}{'total':>8}{'bar':>6}" + "".join(f"{k:>14}" for k in KINDS))
    for case, (_, bar) in CASES.items():
        if given.cases and not any(word in case for word in given.cases):
            continue
        best: dict[str, Any] = {}
        for _ in range(given.runs):
            with tempfile.TemporaryDirectory() as cache:
                done = subprocess.run(
                    [sys.executable, "-W", "ignore", "-m", "benchmarks.first", "--child", case]
                    + [f"--where={given.where}"],
                    check=True,
                    text=True,
                    stdout=subprocess.PIPE,
                    stderr=None if given.where else subprocess.DEVNULL,
                    env=os.environ | {"CONDYLE_CACHE_DIR": cache, "CONDYLE_THREADS": "1"},
                )
            found = json.loads(done.stdout.splitlines()[-1])
            best = min(best or found, found, key=lambda f: f["total"])
        print(
            f"{case:16}{best['total']:8.2f}{bar or '':>6}"
            + "".join(f"{best['kinds'][k]:14.2f}" for k in KINDS),
            flush=True,
        )


if __name__ == "__main__":
    main()
