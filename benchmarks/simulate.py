"""Simulation at equal measured error, beside OpenSim's Manager, MuJoCo and SciPy: `python -m
benchmarks.simulate --help`.

Every engine runs each motion (motions.py) at a row of accuracies (MuJoCo: of steps, RK4). The error of a run
is the rms difference of q [rad, m] to a reference at the end, and its time the least processor time of some
runs; engines take turns. Of an engine's runs at one error the quickest method counts. Times at equal error:
see `at_error`. Also: what the step loop adds to the right-hand side.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.motions import MOTIONS, Motion
from benchmarks.report import Claim, Report, Time, machine
from benchmarks.timing import Clock

# Condyle is imported in functions: OpenSim's process imports this module and cannot have both.

METHODS = ("merson", "dormand-prince", "dormand-prince-8")
ERRORS = (1e-3, 1e-5, 1e-7)
ACCURACIES = tuple(10.0 ** -np.arange(1, 12))
PATIENCE = {"CPodes": 8.0}  # [s] for one run of OpenSim; 60 for the others
# [s]: an engine that took longer is not asked for a tighter run
LONGEST = 4.0
MOST = 50  # repetitions


@dataclass
class Series:
    """One engine and method, from loose to tight. `run(setting)` gives (seconds, q at the end)."""

    engine: str
    method: str
    run: Callable[[float], tuple[float, Any]]
    settings: tuple[float, ...]
    errors: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def case(self) -> str:
        return f"{self.engine}: {self.method}"

    def explore(self, exact: Any) -> None:
        """Once through the settings, until the error is below the last of ERRORS or it takes too long."""
        for setting in self.settings:
            try:
                seconds, q = self.run(setting)
            except (RuntimeError, TimeoutError):
                break
            error = float(np.sqrt(np.mean((q - exact) ** 2)))
            self.errors.append(error if math.isfinite(error) else np.inf)
            self.seconds.append(seconds)
            if error < ERRORS[-1] / 2 or seconds > LONGEST:
                break

    def repeat(self) -> None:
        for i, setting in enumerate(self.settings[: len(self.seconds)]):
            with suppress(TimeoutError):  # other work on the machine
                self.seconds[i] = min(self.seconds[i], self.run(setting)[0])

    def at_error(self, error: float) -> float:
        """Seconds until an error is reached, by straight lines between the runs in logarithms; NaN if it was
        not.

        A run counts with the largest error of itself and of tighter runs, so that a lucky one does not, and
        with the least time of these. An error larger than that of the loosest run costs as much as that run.
        """
        errors = np.maximum.accumulate(np.maximum(self.errors, 1e-16)[::-1])
        seconds = np.minimum.accumulate(np.array(self.seconds)[::-1])
        fine = errors < 1e3
        if not fine.any() or error < errors[0]:
            return math.nan
        return float(np.exp(np.interp(np.log(error), np.log(errors[fine]), np.log(seconds[fine]))))


def condyle_series(motion: Motion) -> list[Series]:
    import condyle as cd

    def run(method: str, accuracy: float) -> tuple[float, Any]:
        with Clock() as clock:
            traj = cd.simulate(
                motion.system, motion.start, motion.t_final, accuracy=accuracy, integrator=method
            )
        return clock.cpu, traj.q[-1] if traj.finished else np.full(motion.system.nq, np.inf)

    methods = METHODS if motion.bodies < 100 else METHODS[:2]
    for method in methods:
        run(method, 0.1)  # compiles
    return [Series("condyle", method, lambda a, m=method: run(m, a), ACCURACIES) for method in methods]


def opensim_series(motion: Motion, report: Report) -> list[Series]:
    from benchmarks.opensim_manager import METHODS as THEIRS
    from benchmarks.opensim_manager import about_motion
    from benchmarks.opensim_process import OpenSimProcess

    process = OpenSimProcess(motion.plain(), about_motion)
    udot, own = process.ask("udot"), motion.start.udot
    off = float(np.abs(udot - own).max() / np.abs(own).max())
    report.notes.append(
        f"{motion.name}: accelerations of OpenSim and Condyle at the start differ by {off:.1e}, relative"
    )
    if off > 1e-8:
        raise RuntimeError(f"{motion.name}: OpenSim has another model: {udot} instead of {own}")

    def run(method: str, accuracy: float) -> tuple[float, Any]:
        return process.ask("run", method, accuracy, motion.t_final, patience=PATIENCE.get(method, 60.0))

    # CPodes is slower there, and gets stuck
    methods = [m for m in THEIRS if m != "CPodes" or motion.bodies < 100]
    return [Series("opensim", m, lambda a, m=m: run(m, a), ACCURACIES) for m in methods]


def mujoco_series(motion: Motion) -> list[Series]:
    import mujoco

    from benchmarks.plain import mujoco_model

    plain = motion.plain()
    model = mujoco_model(plain)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)

    def run(step: float) -> tuple[float, Any]:
        count = round(motion.t_final / step)
        model.opt.timestep = motion.t_final / count
        mujoco.mj_resetData(model, data)
        data.qpos, data.qvel = plain.q, plain.u
        with Clock() as clock:
            mujoco.mj_step(model, data, count)
        return clock.cpu, data.qpos.copy()

    return [Series("mujoco", "RK4", run, tuple(0.04 / 2.0 ** np.arange(12)))]


def scipy_series(motion: Motion) -> list[Series]:
    """SciPy around the machine code of one state in and out."""
    from scipy.integrate import solve_ivp

    n, fd = motion.system.nq, motion.system.forward_dynamics
    y0 = np.concatenate([motion.start.q, motion.start.u])

    def run(method: str, tolerance: float) -> tuple[float, Any]:
        with Clock() as clock:
            y = solve_ivp(
                lambda _, y: np.concatenate([y[n:], fd(y[:n], y[n:])]),
                (0, motion.t_final),
                y0,
                method=method,
                rtol=tolerance,
                atol=tolerance,
            ).y
        return clock.cpu, y[:n, -1]

    return [Series("scipy", m, lambda a, m=m: run(m, a), ACCURACIES) for m in ("RK45", "DOP853")]


def compare(report: Report, motion: Motion, budget: float) -> None:
    """All engines on one motion: once to see errors, then again in turns for the times, each for about
    `budget` seconds."""
    exact, series = motion.exact(), condyle_series(motion)
    makers: dict[str, Callable[[], list[Series]]] = {"opensim": lambda: opensim_series(motion, report)}
    if motion.tree:
        makers |= {"mujoco": lambda: mujoco_series(motion)}
    if motion.name.startswith("tree"):
        makers |= {"scipy": lambda: scipy_series(motion)}
    for engine, make in makers.items():
        if find_spec(engine):
            series += make()
        else:
            report.notes.append(
                f"{engine} is left out, it is not installed: python -m pip install '.[peers]'"
            )
    for s in series:
        s.explore(exact)
    spent = dict.fromkeys((s.case for s in series), 0.0)
    while min(spent.values()) < budget:
        for s in series:
            if spent[s.case] < budget:
                s.repeat()
                spent[s.case] += max(sum(s.seconds), budget / MOST)
    report.settings.setdefault("runs", []).extend(
        {
            "motion": motion.name,
            "engine": s.engine,
            "method": s.method,
            "settings": list(s.settings[: len(s.errors)]),
            "errors": s.errors,
            "seconds": s.seconds,
        }
        for s in series
    )
    for error in ERRORS:
        seconds = {s.case: s.at_error(error) for s in series}
        own = min(
            (t for case, t in seconds.items() if case.startswith("condyle") and t == t), default=math.nan
        )
        report.times += [
            Time(f"{motion.name}, error {error:g}", motion.bodies, case, t, t / own)
            for case, t in seconds.items()
        ]
        for engine, aim in (("opensim", 20.0), ("mujoco", 1.0), ("scipy", 1.0)):
            theirs = [t for case, t in seconds.items() if case.startswith(engine) and t == t]
            if theirs:
                report.claims.append(
                    Claim(
                        17,
                        f"{engine} / condyle, {motion.name}, error {error:g}",
                        motion.bodies,
                        min(theirs) / own,
                        ">=",
                        aim,
                    )
                )


def overhead(rounds: int) -> tuple[float, float]:
    """Seconds of an evaluation in the step loop (Merson, 30 bodies), and of one alone."""
    import condyle as cd
    from condyle.integrate.equations import RightHandSide, equations
    from condyle.native.programs.nodes import Scan
    from condyle.native.programs.program import Program

    motion = MOTIONS["tree"]()
    system, start = motion.system, motion.start
    eq, count = equations(system), 2_000
    sizes = {"t": 1, "y": eq.n, "p": eq.parameters, "k": eq.n}
    alone = Program(Scan(count, RightHandSide(eq.f, eq.n, sizes, {}, {})("t", "y", "k")), sizes)
    ws = alone.workspace()
    ws["y"], ws["p"] = (
        np.concatenate([start.q, start.u]),
        start.tail[system.compiled.model.tail["inputs"].start :],
    )
    loop, one = np.inf, np.inf
    for _ in range(rounds):  # in turns: the machine may be busy
        with Clock() as clock:
            traj = cd.simulate(system, start, 20.0, accuracy=1e-4)
        loop = min(loop, clock.cpu / traj.statistics.evaluations)
        with Clock() as clock:
            alone.run(ws)
        one = min(one, clock.cpu / count)
    return loop, one


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.simulate", description="Simulation at equal measured error."
    )
    parser.add_argument(
        "--motions",
        nargs="+",
        choices=MOTIONS,
        default=list(MOTIONS),
        metavar="MOTION",
        help=f"some of {', '.join(MOTIONS)}",
    )
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: a look, not a measurement")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers here")
    options = parser.parse_args()
    report = Report(machine(), {"motions": options.motions})
    for name in options.motions:
        compare(report, MOTIONS[name](), 0.3 if options.quick else 3.0)
    loop, one = overhead(20 if options.quick else 200)
    report.claims.append(Claim(17, "evaluation in the step loop / alone", 30, loop / one, "<=", 1.2))
    report.print()
    if options.json:
        report.write(options.json)


if __name__ == "__main__":
    main()
