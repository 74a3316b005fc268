"""Simulation at equal measured error, beside SciPy and MuJoCo: `python -m benchmarks.simulate --help`.

A random tree of pins (`trees.py`) moves for some seconds from a stored state. Every engine runs at a row of accuracies (MuJoCo:
of steps, RK4). The error of a run is the largest rms difference of q [rad] to a reference at eleven times, and its time the best
of some repetitions. Times at equal error come from straight lines between the runs in logarithms. The peers get the quickest way
in: SciPy the machine code of one state in and out, MuJoCo its own native loop between the eleven times. OpenSim is not here yet.

Also: what the step loop adds to the right-hand side, from the same program run on the right-hand side alone.
"""
from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import condyle as cd
from benchmarks.report import Claim, Report, Time, machine
from benchmarks.trees import Tree, condyle_system, mujoco_model, random_tree

METHODS = ("merson", "dormand-prince", "dormand-prince-8")
TARGETS = (1e-3, 1e-5, 1e-7)
Runs = list[tuple[float, float]]


def best(run: Callable[[], Any], repeat: int) -> tuple[Any, float]:
    """The result and the least time of some runs; the first, which may compile, is not timed."""
    result, least = run(), np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        result = run()
        least = min(least, time.perf_counter() - start)
    return result, least


def error(q: np.ndarray, exact: np.ndarray) -> float:
    return float(np.sqrt(np.mean((q - exact) ** 2, axis=1)).max())


def at_error(runs: Runs, target: float) -> float:
    """Seconds at an error, between the runs; NaN beyond them."""
    errors, seconds = np.log(np.array(sorted(runs)).T)
    return float(np.exp(np.interp(np.log(target), errors, seconds, left=np.nan, right=np.nan)))


def measured(run: Callable[[float], Callable[[], np.ndarray]], settings: Iterable[float], exact: np.ndarray, repeat: int) -> Runs:
    out = []
    for setting in settings:
        q, seconds = best(run(setting), repeat)
        out.append((max(error(q, exact), 1e-16), seconds))
    return out


def condyle_runs(system: Any, start: Any, t: np.ndarray, method: str) -> Callable[[float], Callable[[], np.ndarray]]:
    return lambda accuracy: lambda: cd.simulate(
        system, start, t[-1], accuracy=accuracy, integrator=method).at(t)[:, :system.nq]


def scipy_runs(system: Any, start: Any, t: np.ndarray, method: str) -> Callable[[float], Callable[[], np.ndarray]]:
    from scipy.integrate import solve_ivp

    n, fd = system.nq, system.forward_dynamics

    def f(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], fd(y[:n], y[n:])])

    y0 = np.concatenate([start.q, start.u])
    return lambda tolerance: lambda: solve_ivp(f, (t[0], t[-1]), y0, method=method, t_eval=t, rtol=tolerance,
                                               atol=tolerance).y[:n].T


def mujoco_runs(tree: Tree, t: np.ndarray) -> Callable[[float], Callable[[], np.ndarray]]:
    import mujoco

    model = mujoco_model(tree)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)

    def run(step: float) -> Callable[[], np.ndarray]:
        count = round((t[1] - t[0]) / step)

        def go() -> np.ndarray:
            model.opt.timestep = (t[1] - t[0]) / count
            mujoco.mj_resetData(model, data)
            data.qpos, data.qvel = tree.q[0], tree.u[0]
            rows = [tree.q[0].copy()]
            for _ in t[1:]:
                mujoco.mj_step(model, data, count)
                rows.append(data.qpos.copy())
            return np.array(rows)

        return go

    return run


def overhead(system: Any, start: Any, t_final: float, repeat: int) -> tuple[float, float]:
    """Seconds of an evaluation in the step loop (Merson), and of one alone."""
    from condyle.integrate.equations import RightHandSide, equations
    from condyle.native.nodes import Scan
    from condyle.native.program import Program

    eq, count = equations(system), 2_000
    sizes = {"t": 1, "y": eq.n, "p": eq.parameters, "k": eq.n}
    alone = Program(Scan(count, RightHandSide(eq.f, eq.n, sizes, {}, {})("t", "y", "k")), sizes)
    ws = alone.workspace()
    ws["y"], ws["p"] = np.concatenate([start.q, start.u]), start.tail[system.subject.tail["inputs"].start:]
    loop, one = np.inf, np.inf
    for _ in range(10 * repeat):                            # in turns: the machine may be busy
        traj, seconds = best(lambda: cd.simulate(system, start, t_final, accuracy=1e-4), 1)
        loop = min(loop, seconds / traj.statistics.evaluations)
        one = min(one, best(lambda: alone.run(ws), 1)[1] / count)
    return loop, one


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulate", description="Simulation at equal measured error.")
    parser.add_argument("--bodies", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=2.0, help="of motion")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: a look, not a measurement")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers here")
    options = parser.parse_args()
    repeat = 2 if options.quick else 10
    report = Report(machine(), {"bodies": options.bodies, "seconds": options.seconds})
    tree = random_tree(options.bodies, states=1)
    system = condyle_system(tree)
    start = system.state(q=tree.q[0], u=tree.u[0])
    t = np.linspace(0, options.seconds, 11)
    exact = cd.simulate(system, start, t[-1], accuracy=1e-12, integrator="dormand-prince-8").at(t)[:, :system.nq]
    accuracies = 10.0 ** -np.arange(2, 11)
    found: dict[str, Runs] = {}
    for method in METHODS:
        found[f"condyle: {method}"] = measured(condyle_runs(system, start, t, method), accuracies, exact, repeat)
    fewer = max(repeat // 3, 1)
    for method in ("RK45", "DOP853"):
        found[f"scipy: {method}"] = measured(scipy_runs(system, start, t, method), 10.0 ** -np.arange(3, 11), exact, fewer)
    try:
        found["mujoco: RK4"] = measured(mujoco_runs(tree, t), 0.02 / 2.0 ** np.arange(8), exact, fewer)
    except ImportError as missing:
        report.notes.append(f"mujoco was left out: {missing}")
    for target in TARGETS:
        seconds = {case: at_error(runs, target) for case, runs in found.items()}
        own = min(s for case, s in seconds.items() if case.startswith("condyle") and s == s)
        report.times += [Time(f"error {target:g} rad", options.bodies, case, s, s / own) for case, s in seconds.items()]
        for peer, aim in (("scipy", 1.0), ("mujoco", 1.0)):
            theirs = [s for case, s in seconds.items() if case.startswith(peer) and s == s]
            if theirs:
                ratio = min(theirs) / own
                report.claims.append(Claim(17, f"{peer} / condyle at {target:g} rad", options.bodies, ratio, ">=", aim))
    loop, one = overhead(system, start, 10 * options.seconds, repeat)
    report.claims.append(Claim(17, "evaluation in the step loop / alone", options.bodies, loop / one, "<=", 1.2))
    report.print()
    if options.json:
        report.write(options.json)


if __name__ == "__main__":
    main()
