"""Studies of recorded walks per frame, right-hand sides and runs with muscles, and first results, beside
OpenSim's own tools: all that is asked of speed with OpenSim's files, in one run.

    python -m benchmarks.gait                      both models of ../shared/reference; about five minutes
    python -m benchmarks.gait gait10dof18musc --only rates
    python -m benchmarks.gait --json walks.json    the table as data too

Both engines read the same files: model, motion, markers, ground reactions. Studies are timed on the frames of
the trial, after a first call. OpenSim's time per frame is that of all frames minus that of two: reading files
and making the model do not count, writing its results does. Ours, and OpenSim's of inverse dynamics, is what
a frame takes more, from ten times as many frames, by a spline, minus these; and all of a call, divided by its
frames. Inverse kinematics is that
of benchmarks.kinematics, OpenSim at its default accuracy. With `--trials`, a trial is whole beside whole:
from files of motion and loads to files of results, with the model at hand; of OpenSim's tool all that it does
from its setup file on, less reading the model and making its system. Processor time, one thread, the least of
some rounds that take turns. Runs start from rest with muscles in equilibrium; errors are of coordinates at
the end, against a run of the same engine at 1e-9 or better; a run counts with the largest error of itself and
of all tighter ones of its method, so that luck does not help. The quickest of several methods counts, of ours
and of OpenSim's. A first result is that of a fresh process, from the start of Python to accelerations.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import kinematics
from benchmarks.opensim_gait import METHODS, about_walk
from benchmarks.opensim_kinematics import about_kinematics
from benchmarks.opensim_process import OpenSimProcess
from benchmarks.report import Claim, Report, Time, machine
from benchmarks.studies import least

if TYPE_CHECKING:  # OpenSim's process imports this module too
    import condyle as cd

REFERENCE = Path(__file__).parents[2] / "shared/reference"
GAIT10, GAIT23 = REFERENCE / "gait10dof18musc_pipeline", REFERENCE / "opensim/Gait2354_Simbody"
WALKS = {
    "gait10dof18musc": (
        GAIT10 / "subject01.osim",
        GAIT10 / "IK/subject01_walk_IK.mot",
        GAIT10 / "ExperimentalData/subject01_walk_grf.xml",
        GAIT10 / "gait10dof_Reserve_Actuators.xml",
        (0.5, 1.5),
    ),
    "gait2354": (
        GAIT23 / "subject01_simbody.osim",
        GAIT23 / "pipeline/subject01_walk1_ik.mot",
        GAIT23 / "pipeline/subject01_walk1_grf.xml",
        GAIT23 / "pipeline/gait2354_CMC_Actuators.xml",
        (0.6, 1.4),
    ),
}
PARTS = ("kinematics", "studies", "rates", "runs", "first")
BODIES = 12  # of both models
CUTOFF = 6.0
MORE = 10
OURS = ("merson", "dormand-prince", "rkc")
"""Methods of our runs. Without contacts `rodas` takes 1.3 and 2.2 times as long as Merson's method (0.4 s at 1e-3)."""
ACCURACIES = tuple(float(f"{10 ** (-k / 3):.0e}") for k in range(2, 19))
Engine = Callable[[float, str], tuple[float, float]]
"""Error and seconds of a run at an accuracy by a method."""
FEW, TURNS = 3, 4
"""How many of the quickest of each engine take turns at last, and how often."""
LEAST = {
    "inverse_kinematics": 50,
    "inverse_dynamics": 100,
    "muscle_analysis": 100,
    "static_optimization": 50,
    "joint_reactions": 100,
    "one": 20,
    "batch": 100,
    "run": 30,
}
"""How many times as fast as OpenSim's each is asked to be."""
FIRST = {"full": 0.5, "empty": 8.0}
"""Seconds until the first result of gait2354, from a full and an empty cache, at most."""


def motions(name: str, times: int) -> tuple[Any, Any, list[Any], dict[str, str]]:
    """Our system, a filtered motion within the trial, loads, and the same as files for OpenSim."""
    import condyle as cd

    model, motion, loads, reserves, (first, last) = WALKS[name]
    system = cd.read_osim(model)
    table = cd.low_pass(cd.read_table(motion), CUTOFF)
    rows = (table.time >= first - 0.2) & (table.time <= last + 0.2)
    table = table[int(np.argmax(rows)) : len(rows) - int(np.argmax(rows[::-1]))]
    if times > 1:
        from scipy.interpolate import make_interp_spline

        fine = np.linspace(table.time[0], table.time[-1], times * (len(table) - 1) + 1)
        table = cd.Table(
            fine,
            table.names,
            make_interp_spline(table.time, table.values, k=5)(fine),
            table.units,
            degrees=table.degrees,
        )
    folder = Path(tempfile.mkdtemp())
    table.save(folder / "motion.mot")
    files = {
        "model": str(model),
        "motion": str(folder / "motion.mot"),
        "loads": str(loads),
        "reserves": str(reserves),
    }
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
    return (
        {
            "inverse_dynamics": (len(table), lambda: cd.inverse_dynamics(system, table, loads)),
            "muscle_analysis": (len(table), lambda: cd.muscle_analysis(system, table, activations)),
            "static_optimization": (
                n,
                lambda: cd.static_optimization(system, walk, loads, reserves=reserves),
            ),
            "joint_reactions": (n, lambda: cd.joint_reactions(system, walk, found.forces, loads)),
        },
        table,
        files,
        part,
        system,
        reserves,
    )


def trial(
    what: str, system: cd.System, files: dict[str, str], part: slice, reserves: dict[str, float]
) -> None:
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


def studies(name: str, rounds: int, report: Report, trials: bool) -> None:
    few, table, files, part, system, reserves = calls(name, 1)
    (many, _, fine, *_), last = calls(name, MORE), WALKS[name][-1][1]
    process = OpenSimProcess(files, about_walk) if importlib.util.find_spec("opensim") else None
    finer = OpenSimProcess(fine, about_walk)
    for what, (n, run) in few.items():
        more, longer = many[what]
        seconds = [np.inf, np.inf]
        for _ in range(1 + 5 * rounds):  # the first of them is never the least
            seconds = [min(t, least(call, 2)) for t, call in zip(seconds, (run, longer), strict=True)]
        mine, whole = (seconds[1] - seconds[0]) / (more - n), seconds[0] / n
        text = (
            f"{what:20} {n:5d} frames: condyle {1e6 * mine:7.2f} us per frame, all of a call "
            f"{1e6 * whole:7.2f}"
        )
        if process:
            start, step = table.time[part.start], table.time[1] - table.time[0]
            end = last if what != "inverse_dynamics" else table.time[-1]
            start = start if what != "inverse_dynamics" else table.time[0]
            rows = int((table.time <= end + 1e-9).sum() - (table.time < start - 1e-9).sum())
            some = rounds if what in ("inverse_dynamics", "joint_reactions") else 1  # the others take long
            if what == "inverse_dynamics":  # two frames would be lost in reading its files
                ways, apart = [(process, end), (finer, end)], more - n
            else:
                ways, apart = [(process, start + step), (process, end)], rows - 2
            spent = np.min(
                [
                    [each.ask("seconds", what, float(start), float(until)) for each, until in ways]
                    for _ in range(some)
                ],
                axis=0,
            )
            theirs = (spent[1] - spent[0]) / apart
            text += f"; OpenSim {1e6 * theirs:9.1f}: {theirs / mine:.0f} and {theirs / whole:.0f} times"
            claim(report, name, what, f"{what}, a frame", mine, theirs)
        if process and trials:
            own = least(partial(trial, what, system, files, part, reserves), 1 + 3 * rounds)
            tools = [process.ask("whole", what, float(start), float(end)) for _ in range(some)]
            there = min(tool for tool, _ in tools) - min(reading for _, reading in tools)
            text += (
                f"; a trial, files to files: condyle {1e3 * own:.2f} ms, OpenSim {1e3 * there:.1f}: "
                f"{there / own:.0f} times"
            )
        print(text, flush=True)


def claim(report: Report, model: str, key: str, what: str, mine: float, theirs: float) -> None:
    """Seconds of both, and how many times as long OpenSim takes."""
    ratio = theirs / mine
    report.times += [
        Time(model, BODIES, f"{what}: condyle", mine),
        Time(model, BODIES, "OpenSim", theirs, ratio),
    ]
    report.claims.append(Claim(11, f"{model}: {what}", BODIES, ratio, ">=", LEAST[key]))


def inverse_kinematics(name: str, rounds: int, report: Report) -> None:
    """All frames minus two, beside OpenSim's track() of all but the first."""
    import condyle as cd

    run = kinematics.trial(REFERENCE, name)
    system, markers, options = kinematics.problem(run)
    process = OpenSimProcess(run, about_kinematics) if importlib.util.find_spec("opensim") else None
    seconds, theirs = {len(markers): np.inf, 2: np.inf}, np.inf
    for _ in range(rounds):
        if process:
            theirs = min(theirs, process.ask("run", 1e-5)["seconds"] / (len(markers) - 1))
        for n in seconds:
            call = partial(cd.inverse_kinematics, system, markers[:n], **options)
            call()
            seconds[n] = min(seconds[n], least(call, 10))
    mine = (seconds[len(markers)] - seconds[2]) / (len(markers) - 2)
    text = (
        f"{'inverse_kinematics':20} {len(markers):5d} frames: condyle {1e6 * mine:7.2f} us per frame, "
        f"all of a call {1e6 * seconds[len(markers)] / len(markers):7.2f}"
    )
    if process:
        text += f"; OpenSim {1e6 * theirs:9.1f}: {theirs / mine:.0f} times"
        claim(report, name, "inverse_kinematics", "inverse_kinematics, a frame", mine, theirs)
    print(text, flush=True)


def first_results(report: Report, rounds: int) -> None:
    """Processor seconds of fresh processes: Python, import with all that reading loads, reading gait2354,
    accelerations. The least of some, in turns; once from an empty cache, where compiling takes most."""
    code = (
        "import time; t = [time.process_time()]; from condyle import read_osim;"
        "t.append(time.process_time());"
        f"s = read_osim({str(WALKS['gait2354'][0])!r}); t.append(time.process_time());"
        "s.state().udot; t.append(time.process_time()); print(*t)"
    )

    def fresh(cache: str) -> list[float]:
        """Seconds until Python runs, of the import, of reading, of accelerations, and of all."""
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        environment |= {"CONDYLE_CACHE_DIR": cache, "CONDYLE_THREADS": "2"}
        out = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        ).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        t = [float(x) for x in out.split()]
        return [t[0], *np.diff(t), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime]

    with tempfile.TemporaryDirectory() as cache:
        empty, full = fresh(cache), np.min([fresh(cache) for _ in range(3 * rounds)], axis=0)
    for kind, spent in (("empty", empty), ("full", full)):
        parts = zip(("Python", "import", "read", "accelerations", "in all"), spent, strict=True)
        print(
            f"first result of gait2354, {kind} cache: "
            + ", ".join(f"{what} {x:.2f}" for what, x in parts)
            + " s",
            flush=True,
        )
        for what, x in (("Python and import included", spent[-1]), ("after the import", spent[2] + spent[3])):
            report.claims.append(
                Claim(
                    11,
                    f"gait2354: first result, {kind} cache, {what}",
                    BODIES,
                    float(x),
                    "<=",
                    FIRST[kind],
                    "s",
                )
            )


def right_hand_sides(
    system: cd.System, start: cd.State, process: OpenSimProcess | None, report: Report, name: str
) -> None:
    rng = np.random.default_rng(0)
    q, u, z, inputs = (np.array(x) for x in (start.q, start.u, start.z, start.inputs))
    Q = q + 0.01 * rng.normal(size=(1024, system.nq))
    U, Z = np.tile(u, (1024, 1)), np.tile(z, (1024, 1))
    many = lambda: system.ydot(Q, U, z=Z, inputs=inputs, threads=1)
    many()
    one = batch = there = np.inf
    for _ in range(3):
        one = min(one, least(lambda: [system.ydot(x, u, z=z, inputs=inputs) for x in Q[:64]], 20) / 64)
        batch = min(batch, least(many, 20) / 1024)
        there = min(there, process.ask("rates", 100) if process else np.inf)
    text = f"right-hand side: one state {1e6 * one:.1f} us, of many {1e6 * batch:.2f} us"
    if process:
        claim(report, name, "one", "right-hand side, one state", one, there)
        claim(report, name, "batch", "right-hand side, of many", batch, there)
        text += f"; OpenSim {1e6 * there:.0f} us: {there / one:.0f} and {there / batch:.0f} times"
    print(text, flush=True)


def forward(
    system: cd.System,
    start: cd.State,
    process: OpenSimProcess | None,
    t_final: float,
    report: Report,
    name: str,
) -> None:
    """Runs at all accuracies say which methods and accuracies are the quickest at an error, ours and
    OpenSim's; these then take turns."""
    import condyle as cd

    exact = cd.simulate(system, start, t_final, accuracy=1e-10, integrator="dormand-prince-8")(t_final).q
    reference = process.ask("run", 1e-9, t_final)[1] if process else {}

    def here(accuracy: float, method: str) -> tuple[float, float]:
        run = partial(cd.simulate, system, start, t_final, accuracy=accuracy, integrator=method)
        return float(np.abs(run()(t_final).q - exact).max()), least(run, 3)

    def there(accuracy: float, method: str) -> tuple[float, float]:
        assert process is not None
        try:
            spent, q = process.ask("run", accuracy, t_final, method)
        except RuntimeError:  # RungeKutta3 gives up where it is not stable
            return np.inf, np.inf
        return max(abs(q[c] - reference[c]) for c in reference), spent

    engines: dict[Engine, tuple[str, ...]] = {here: OURS, **({there: METHODS} if process else {})}
    if process:
        apart = max(abs(reference[c] - x) for c, x in zip(system.coordinates, exact, strict=True))
        print(f"runs of both engines end {apart:.1e} rad or m apart", flush=True)
    tried = {
        run: [row for method in methods for row in ladder(run, method)] for run, methods in engines.items()
    }
    for error in (1e-3, 1e-5):
        some: dict[tuple[Engine, float, str], float] = {
            (run, accuracy, method): np.inf
            for run, rows in tried.items()
            for _, accuracy, method in sorted(row[1:] for row in rows if row[0] <= error)[:FEW]
        }
        for _ in range(TURNS):
            some = {(run, a, method): min(t, run(a, method)[1]) for (run, a, method), t in some.items()}
        best = {
            run: min((t, a, method) for (other, a, method), t in some.items() if other is run)
            for run in tried
        }
        spent = {run: row[0] for run, row in best.items()}
        told = [f"{method} at {accuracy:.0e} {1e3 * t:.2f} ms" for t, accuracy, method in best.values()]
        ratio = f": {spent[there] / spent[here]:.0f} times" if process else ""
        if process:
            claim(
                report,
                name,
                "run",
                f"run of {t_final:g} s, error below {error:.0e}",
                spent[here],
                spent[there],
            )
        print(f"run of {t_final:g} s, error below {error:.0e}: {'; OpenSim '.join(told)}{ratio}", flush=True)


def ladder(run: Engine, name: str) -> list[tuple[float, float, float, str]]:
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
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--trials", action="store_true", help="whole trials too, files to files")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    report, began = Report(machine(), {k: str(v) for k, v in vars(given).items()}), time.perf_counter()
    for name in given.models:
        print(f"\n{name}")
        process = (
            OpenSimProcess({"model": str(WALKS[name][0])}, about_walk)
            if importlib.util.find_spec("opensim")
            else None
        )
        if "kinematics" in given.only:
            inverse_kinematics(name, given.rounds, report)
        if "studies" in given.only:
            studies(name, given.rounds, report, given.trials)
        if {"rates", "runs"} & set(given.only):
            system = cd.read_osim(WALKS[name][0])
            start = system.equilibrate_muscles(system.state())
        if "rates" in given.only:
            right_hand_sides(system, start, process, report, name)
        if "runs" in given.only:
            forward(system, start, process, 0.2, report, name)
    if "first" in given.only:
        first_results(report, given.rounds)
    report.notes.append(
        f"{time.perf_counter() - began:.0f} s; load {os.getloadavg()[0]:.1f} at the end; "
        "seconds are processor time"
    )
    report.print()
    if given.json:
        report.write(given.json)


if __name__ == "__main__":
    main()
