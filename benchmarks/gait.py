"""Studies of a recorded walk per frame, right-hand sides and runs with muscles, beside OpenSim's own tools.

    python -m benchmarks.gait                      both models of ../shared/reference
    python -m benchmarks.gait gait10dof18musc --only rates

Both engines read the same files: model, motion, ground reactions. Studies are timed on the frames of the
trial, after a first call. OpenSim's time per frame is that of all frames minus that of two: reading files and
making the model do not count, writing its results does. Ours is all of a call, divided by its frames; and
what a frame takes more, as with OpenSim, from ten times as many frames, by a spline, minus these. A trial is
whole beside whole: from files of motion and loads to files of results, with the model at hand; of OpenSim's
tool all that it does from its setup file on, less reading the model and making its system. Processor time,
one thread, the least of some rounds. Runs start from rest with muscles in equilibrium; errors are of
coordinates at the end, against a run of the same engine at 1e-9 or better; a run counts with the largest
error of itself and of all tighter ones of its method, so that luck does not help. The quickest of several
methods counts, of ours and of OpenSim's. Inverse kinematics is in benchmarks.kinematics.
"""
from __future__ import annotations

import argparse
import importlib.util
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.opensim_gait import METHODS, about_walk
from benchmarks.opensim_process import OpenSimProcess
from benchmarks.studies import least

if TYPE_CHECKING:                                            # OpenSim's process imports this module too
    import condyle as cd

REFERENCE = Path(__file__).parents[2] / "shared/reference"
GAIT10, GAIT23 = REFERENCE / "gait10dof18musc_pipeline", REFERENCE / "opensim/Gait2354_Simbody"
WALKS = {
    "gait10dof18musc": (GAIT10 / "subject01.osim", GAIT10 / "IK/subject01_walk_IK.mot",
                        GAIT10 / "ExperimentalData/subject01_walk_grf.xml",
                        GAIT10 / "gait10dof_Reserve_Actuators.xml", (0.5, 1.5)),
    "gait2354": (GAIT23 / "subject01_simbody.osim", GAIT23 / "pipeline/subject01_walk1_ik.mot",
                 GAIT23 / "pipeline/subject01_walk1_grf.xml", GAIT23 / "pipeline/gait2354_CMC_Actuators.xml",
                 (0.6, 1.4))}
CUTOFF = 6.0
MORE = 10
OURS = ("merson", "dormand-prince", "rk3")
"""Methods of our runs. Jacobians of 54 muscles take rodas 100 times as long."""
ACCURACIES = tuple(float(f"{10 ** (-k / 2):.0e}") for k in range(2, 13))


def motions(name: str, times: int) -> tuple[Any, Any, list[Any], dict[str, str]]:
    """Our system, a filtered motion within the trial, loads, and the same as files for OpenSim."""
    import condyle as cd

    model, motion, loads, reserves, (first, last) = WALKS[name]
    system = cd.read_osim(model)
    table = cd.low_pass(cd.read_table(motion), CUTOFF)
    rows = (table.time >= first - 0.2) & (table.time <= last + 0.2)
    table = table[int(np.argmax(rows)):len(rows) - int(np.argmax(rows[::-1]))]
    if times > 1:
        from scipy.interpolate import make_interp_spline

        fine = np.linspace(table.time[0], table.time[-1], times * (len(table) - 1) + 1)
        table = cd.Table(fine, table.names, make_interp_spline(table.time, table.values, k=5)(fine),
                         table.units, degrees=table.degrees)
    folder = Path(tempfile.mkdtemp())
    table.save(folder / "motion.mot")
    files = {"model": str(model), "motion": str(folder / "motion.mot"), "loads": str(loads),
             "reserves": str(reserves)}
    return system, table, cd.read_external_loads(loads), files


def calls(name: str, times: int) -> tuple[dict[str, tuple[int, Any]], Any, dict[str, str], slice, Any, Any]:
    """Frames and a call of each study, the motion, files for OpenSim, which frames are studied, the system
    and its reserves."""
    import condyle as cd

    system, table, loads, files = motions(name, times)
    first, last = WALKS[name][-1]
    motion = cd.Motion.of(system, table)
    inside = np.flatnonzero((table.time >= first) & (table.time <= last))
    part = slice(inside[0], inside[-1] + 1)
    walk, n = motion[part], len(inside)
    reserves = {u: 1000.0 if u.startswith("pelvis") else 100.0 for u in system.speeds}
    found = cd.static_optimization(system, walk, loads, reserves=reserves)
    activations = cd.Table(table.time, system.muscles, np.full((len(table), len(system.muscles)), 0.1))
    found.forces.save(Path(files["motion"]).with_name("forces.sto"))
    return {
        "inverse_dynamics": (len(table), lambda: cd.inverse_dynamics(system, table, loads)),
        "muscle_analysis": (len(table), lambda: cd.muscle_analysis(system, table, activations)),
        "static_optimization": (n, lambda: cd.static_optimization(system, walk, loads, reserves=reserves)),
        "joint_reactions": (n, lambda: cd.joint_reactions(system, walk, found.forces, loads))
    }, table, files, part, system, reserves


def trial(what: str, system: cd.System, files: dict[str, str], part: slice,
          reserves: dict[str, float]) -> None:
    """A study from files to files."""
    import condyle as cd

    folder = Path(files["motion"]).parent
    table = cd.read_table(files["motion"])
    if what == "inverse_dynamics":
        cd.inverse_dynamics(system, table, cd.read_external_loads(files["loads"])).save(folder / "id.sto")
    elif what == "muscle_analysis":
        a = cd.Table(table.time, system.muscles, np.full((len(table), len(system.muscles)), 0.1))
        cd.muscle_analysis(system, table, a).save(folder)
    else:
        loads, walk = cd.read_external_loads(files["loads"]), cd.Motion.of(system, table)[part]
        if what == "joint_reactions":
            forces = cd.read_table(folder / "forces.sto")
            cd.joint_reactions(system, walk, forces, loads).save(folder / "jr.sto")
        else:
            found = cd.static_optimization(system, walk, loads, reserves=reserves)
            found.activations.save(folder / "activations.sto")
            found.forces.save(folder / "so_forces.sto")


def studies(name: str, rounds: int) -> None:
    few, table, files, part, system, reserves = calls(name, 1)
    many, last = calls(name, MORE)[0], WALKS[name][-1][1]
    process = OpenSimProcess(files, about_walk) if importlib.util.find_spec("opensim") else None
    for what, (n, run) in few.items():
        more, longer = many[what]
        seconds = [np.inf, np.inf]
        for _ in range(1 + 5 * rounds):                     # the first of them is never the least
            seconds = [min(t, least(call, 2)) for t, call in zip(seconds, (run, longer), strict=True)]
        mine, whole = (seconds[1] - seconds[0]) / (more - n), seconds[0] / n
        text = (f"{what:20} {n:5d} frames: condyle {1e6 * mine:7.2f} us per frame, all of a call "
                f"{1e6 * whole:7.2f}")
        if process:
            start, step = table.time[part.start], table.time[1] - table.time[0]
            end = last if what != "inverse_dynamics" else table.time[-1]
            start = start if what != "inverse_dynamics" else table.time[0]
            rows = int((table.time <= end + 1e-9).sum() - (table.time < start - 1e-9).sum())
            some = 1 if what == "static_optimization" else rounds
            every, two = (min(process.ask("seconds", what, float(start), float(until)) for _ in range(some))
                          for until in (end, start + step))
            theirs = (every - two) / (rows - 2)
            text += f"; OpenSim {1e6 * theirs:9.1f}: {theirs / mine:.0f} and {theirs / whole:.0f} times"
            own = least(partial(trial, what, system, files, part, reserves), 1 + 3 * rounds)
            tools = [process.ask("whole", what, float(start), float(end)) for _ in range(some)]
            there = min(tool for tool, _ in tools) - min(reading for _, reading in tools)
            text += (f"; a trial, files to files: condyle {1e3 * own:.2f} ms, OpenSim {1e3 * there:.1f}: "
                     f"{there / own:.0f} times")
        print(text, flush=True)


def right_hand_sides(system: cd.System, start: cd.State, process: OpenSimProcess | None) -> None:
    rng = np.random.default_rng(0)
    q, u, z, inputs = (np.array(x) for x in (start.q, start.u, start.z, start.inputs))
    Q = q + 0.01 * rng.normal(size=(1024, system.nq))
    one = least(lambda: [system.ydot(x, u, z=z, inputs=inputs) for x in Q[:64]], 20) / 64
    U, Z = np.tile(u, (1024, 1)), np.tile(z, (1024, 1))
    many = lambda: system.ydot(Q, U, z=Z, inputs=inputs, threads=1)
    many()
    batch = least(many, 20) / 1024
    text = f"right-hand side: one state {1e6 * one:.1f} us, of many {1e6 * batch:.2f} us"
    if process:
        there = process.ask("rates", 100)
        text += f"; OpenSim {1e6 * there:.0f} us: {there / one:.0f} and {there / batch:.0f} times"
    print(text, flush=True)


def forward(system: cd.System, start: cd.State, process: OpenSimProcess | None, t_final: float) -> None:
    """Runs at all accuracies say which method and accuracy is the quickest at an error, ours and OpenSim's;
    these then take turns."""
    import condyle as cd

    exact = cd.simulate(system, start, t_final, accuracy=1e-10, integrator="dormand-prince-8")(t_final).q
    reference = process.ask("run", 1e-9, t_final)[1] if process else {}

    def here(accuracy: float, name: str) -> tuple[float, float]:
        run = partial(cd.simulate, system, start, t_final, accuracy=accuracy, integrator=name)
        return float(np.abs(run()(t_final).q - exact).max()), least(run, 3)

    def there(accuracy: float, name: str) -> tuple[float, float]:
        assert process is not None
        try:
            spent, q = process.ask("run", accuracy, t_final, name)
        except RuntimeError:                                  # RungeKutta3 gives up where it is not stable
            return np.inf, np.inf
        return max(abs(q[c] - reference[c]) for c in reference), spent

    engines = {here: OURS, **({there: METHODS} if process else {})}
    if process:
        apart = max(abs(reference[c] - x) for c, x in zip(system.coordinates, exact, strict=True))
        print(f"runs of both engines end {apart:.1e} rad or m apart", flush=True)
    tried = {run: [row for name in names for row in ladder(run, name)] for run, names in engines.items()}
    for error in (1e-3, 1e-5):
        best = {run: min((row[1:] for row in rows if row[0] <= error), default=None)
                for run, rows in tried.items()}
        spent = dict.fromkeys(best, np.inf)
        for _ in range(5):
            spent |= {run: min(spent[run], run(*row[1:])[1]) for run, row in best.items() if row}
        text = [f"{row[2]} at {row[1]:.0e} {1e3 * spent[run]:.2f} ms" for run, row in best.items() if row]
        ratio = f": {spent[there] / spent[here]:.0f} times" if process else ""
        print(f"run of {t_final:g} s, error below {error:.0e}: {'; OpenSim '.join(text)}{ratio}", flush=True)


def ladder(run: Callable[[float, str], tuple[float, float]],
           name: str) -> list[tuple[float, float, float, str]]:
    """Runs of one method, tightest first: error of this and all tighter ones, time, accuracy, method."""
    rows, worst = [], 0.0
    for accuracy in reversed(ACCURACIES):
        error, spent = run(accuracy, name)
        worst = max(worst, error)
        rows.append((worst, spent, accuracy, name))
    return rows


def main() -> None:
    os.environ.setdefault("CONDYLE_THREADS", "1")
    import condyle as cd

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=list(WALKS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("studies", "rates", "runs"))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.models:
        print(f"\n{name}")
        t = time.perf_counter()
        system = cd.read_osim(WALKS[name][0])
        read = time.perf_counter() - t
        start = system.equilibrate_muscles(system.state())
        start.udot  # noqa: B018
        print(f"read {read:.2f} s, first accelerations after {time.perf_counter() - t:.2f} s")
        files = {"model": str(WALKS[name][0])}
        process = OpenSimProcess(files, about_walk) if importlib.util.find_spec("opensim") else None
        if given.only in (None, "studies"):
            studies(name, given.rounds)
        if given.only in (None, "rates"):
            right_hand_sides(system, start, process)
        if given.only in (None, "runs"):
            forward(system, start, process, 0.2)


if __name__ == "__main__":
    main()
