"""Optimal control beside Moco: the same problems on the same mesh, processor time of one thread. The scheme is Moco's,
hermite-simpson with interpolated controls, but of problems with many muscles, which are solved by radau-2.

    python -m benchmarks.control                       all; models and data of ../shared/reference/control
    python -m benchmarks.control double_pendulum_effort --no-moco
    python -m benchmarks.control --json control.json

Condyle solves each problem twice, and the second time counts: kernels are cached, and building the nonlinear program,
callbacks and IPOPT are all inside. Moco (serial, MUMPS) runs in a process of its own in the same run; problems that take
it minutes are stopped after some iterations, and then seconds per iteration are compared. `cold` is the first solve
from an empty cache: deriving and compiling, all threads.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

REFERENCE = Path(__file__).parents[2] / "shared/reference/control"
LIMITED = {"squat_predict_muscle": 3, "gait10_track_muscle": 3, "walk2d_track": 3, "walk2d_predict": 3}
"""Iterations after which Moco is stopped."""


def read(cd: Any, name: str) -> Any:
    with warnings.catch_warnings(action="ignore"):
        return cd.read_osim(REFERENCE / name)


def sliding_mass(cd: Any, goal: str) -> Any:
    system = cd.System(gravity=(0, 0, 0))
    block = {"mass": 2.0, "com": (0, 0, 0), "inertia": (0, 0, 0), "coordinates": "x"}
    system.add_body("block", mobilizer=cd.Slider(), **block)
    problem = cd.Problem(system, duration=2.0 if goal == "effort" else (0.05, 5.0))
    problem.add_torques("x", bounds=(-50, 50))
    problem.bound("x", (-5, 5), start=0, end=1)
    problem.bound("x_speed", (-50, 50), start=0, end=0)
    problem.minimize(cd.goals.Effort() if goal == "effort" else cd.goals.Duration())
    return problem, {"mesh": 100, "accuracy": 1e-8, "guess": "bounds"}


def double_pendulum(cd: Any) -> Any:
    system = read(cd, "moco/double_pendulum_effort/double_pendulum.osim")
    problem = cd.Problem(system, duration=1.5)
    problem.bound("q0", (-10, 10), start=0, end=np.pi / 2)
    problem.bound("q1", (-10, 10), start=0, end=0)
    problem.bound(problem.speeds, (-50, 50), start=0, end=0)
    problem.bound(["tau0", "tau1"], (-100, 100))
    problem.minimize(cd.goals.Effort())
    return problem, {"mesh": 50, "accuracy": 1e-8, "guess": "bounds"}


def squat(cd: Any, kind: str) -> Any:
    system = read(cd, f"moco/squat_predict_{kind}/squat_{kind}.osim")
    problem = cd.Problem(system, duration=1.0)
    problem.bound("hip_flexion_r", (-2, 0.5), start=-2, end=0)
    problem.bound("knee_angle_r", (-2, 0), start=-2, end=0)
    problem.bound("ankle_angle_r", (-0.5, 0.7), start=-0.5, end=0)
    problem.bound(problem.speeds, (-50, 50), start=0, end=0)
    if kind == "muscle":
        from condyle.opensim.setup.moco_tool import Pairs

        each = [(f"{name}.activation", name, False) for name in system.muscles]
        problem.require(Pairs(each, "start"))
    problem.minimize(cd.goals.Effort())
    return problem, {"mesh": 25, "accuracy": 1e-6, "guess": "bounds"}


def gait10(cd: Any, kind: str) -> Any:
    system = read(cd, f"moco/gait10_track_{kind}/gait10_{kind}.osim")
    with warnings.catch_warnings(action="ignore"):
        loads = cd.read_external_loads(REFERENCE / "inputs/walk_gait1018_subject01_grf.xml")
        table = cd.read_table(REFERENCE / "moco/gait10_track_torque/_tracked_states.sto")
    problem = cd.Problem(system, times=(0.5, 1.0))
    problem.bound(system.coordinates, (-10, 10))
    problem.bound(problem.speeds, (-50, 50))
    problem.add_loads(loads)
    problem.minimize(cd.goals.Follow(table), 10.0)
    problem.minimize(cd.goals.Effort(), 1e-3)
    scheme = "hermite-simpson" if kind == "torque" else "radau-2"
    return problem, {"mesh": 25, "accuracy": 1e-6, "scheme": scheme}


def walk2d(cd: Any, goal: str = "track") -> Any:
    system = read(cd, "inputs/2D_gait.osim")
    with warnings.catch_warnings(action="ignore"):
        table = cd.read_table(REFERENCE / "moco/walk2d_track/gaitTracking_tracked_states.sto")
    track = goal == "track"
    problem = cd.Problem(system, **({"times": (0.0, 0.470089)} if track else {"duration": (0.4, 0.6)}))
    degree = np.pi / 180
    for name, (low, high) in {
        "pelvis_tilt": (-20, -10), "hip_flexion_l": (-10, 60), "hip_flexion_r": (-10, 60),
        "knee_angle_l": (-50, 0), "knee_angle_r": (-50, 0), "ankle_angle_l": (-15, 25),
        "ankle_angle_r": (-15, 25), "lumbar": (0, 20),
    }.items():  # fmt: skip
        problem.bound(name, (low * degree, high * degree))
    problem.bound("pelvis_tx", (0, 1))
    problem.bound("pelvis_ty", (0.75, 1.25))
    problem.bound(problem.speeds, (-50, 50))
    problem.require(cd.goals.Periodic(mirror=("_r", "_l")))
    options = {"mesh": 50, "accuracy": 1e-6, "scheme": "radau-2"}
    if track:
        problem.minimize(cd.goals.Follow(table), 1.0)
        problem.minimize(cd.goals.Effort(), 10.0)
        return problem, options
    problem.require(cd.goals.MeanSpeed(1.2))
    problem.minimize(cd.goals.Effort(exponent=3, per="pelvis_tx"), 10.0)
    tracked, same = walk2d(cd)
    return problem, {**options, "guess": cd.solve(tracked, **same)}


PROBLEMS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "sliding_mass_time": (lambda cd: sliding_mass(cd, "time"), 40),
    "sliding_mass_effort": (lambda cd: sliding_mass(cd, "effort"), 40),
    "double_pendulum_effort": (double_pendulum, 40),
    "squat_predict_torque": (lambda cd: squat(cd, "torque"), 300),
    "squat_predict_muscle": (lambda cd: squat(cd, "muscle"), 300),
    "gait10_track_torque": (lambda cd: gait10(cd, "torque"), 200),
    "gait10_track_muscle": (lambda cd: gait10(cd, "muscle"), 100),
    "walk2d_track": (walk2d, 60),
    "walk2d_predict": (lambda cd: walk2d(cd, "predict"), 60),
}
"""What makes each problem with the options of `solve`, and how many times faster than Moco it should be."""


def measured(name: str) -> dict[str, Any]:
    """Condyle's side, from an empty cache: cold, then twice more."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "CONDYLE_CACHE_DIR": folder}
        command = [sys.executable, "-m", "benchmarks.control", "--one", name]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    if not lines:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    return dict(json.loads(lines[0][6:]))


def one(name: str) -> None:
    """In a process of its own."""
    import condyle as cd

    problem, options = PROBLEMS[name][0](cd)
    options = {"scheme": "hermite-simpson", **options}

    def processor() -> float:
        each = (resource.getrusage(x) for x in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(x.ru_utime + x.ru_stime for x in each)

    start = processor()
    cd.solve(problem, **options)
    first, times = processor() - start, []
    for _ in range(3):
        start = process_time()
        answer = cd.solve(problem, **options)
        times.append(process_time() - start)
    found = {"seconds": min(times), "cold": first - min(times), "iterations": answer.statistics["iterations"]}
    found |= {"objective": answer.objective, "done": answer.ok, "violation": answer.statistics["violation"]}
    print("FOUND " + json.dumps(found))


def moco(name: str) -> dict[str, Any] | None:
    command = [
        sys.executable,
        "-m",
        "benchmarks.opensim_moco",
        name,
        str(REFERENCE),
        str(LIMITED.get(name, 0)),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    if not lines:
        print(f"{name}: Moco gave nothing: {done.stderr[-300:]}", file=sys.stderr)
        return None
    return dict(json.loads(lines[0][6:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("problems", nargs="*", metavar="PROBLEM")
    parser.add_argument("--no-moco", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one)
        return
    if not REFERENCE.exists():
        raise SystemExit(f"the models and data are not there: {REFERENCE}")
    print(
        "| problem | Condyle: s, iterations, objective | cold s | Moco: s, iterations, objective | ratio | asked |"
    )
    print("|---|---|---|---|---|---|")
    results = {}
    for name in options.problems or PROBLEMS:
        mine = measured(name)
        theirs = None if options.no_moco else moco(name)
        results[name] = {"condyle": mine, "moco": theirs}
        text, ratio = "", ""
        if theirs:
            text = (
                f"{theirs['seconds']:.2f}, {theirs['iterations']}{'' if theirs['done'] else ' (stopped)'}, "
            )
            text += f"{theirs['objective']:.7g}"
            a, b = mine["seconds"], theirs["seconds"]
            if not theirs["done"]:
                a, b = a / max(mine["iterations"], 1), b / max(theirs["iterations"], 1)
            ratio = f"{b / a:.0f}{'' if theirs['done'] else ' an iteration'}"
        done = "" if mine["done"] else " (stopped)"
        print(
            f"| {name} | {mine['seconds']:.3f}, {mine['iterations']}{done}, {mine['objective']:.9g} "
            f"| {mine['cold']:.1f} | {text} | {ratio} | {PROBLEMS[name][1]:g} |", flush=True,
        )  # fmt: skip
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
