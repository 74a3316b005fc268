"""Tables 1 and 2 of seth2010, mobilizers against constraints: `python -m benchmarks.seth2010 --help`.

Table 1: a body on an ellipsoid, as the mobilizer `Ellipsoid` and as `Free` with p = diag(radii) R e_z
(papers' errata), in times of a `Ball`. Table 2: a knee whose shank follows two splines of its flexion, as
`FunctionBased` and as `Planar` with two couplers, in times of a `Pin`. Accelerations of one state called from
Python and of a batch; ten seconds of motion at accuracy 1e-4, the paper's tolerance; and how far the
trajectory, steps and times between them, is off the manifold, by NumPy and SciPy alone. The paper's figures
are of Simbody 1.5 on one machine of 2009; its constraints are kept to 1e-4, ours to much less.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import condyle as cd
from benchmarks.report import Report, Time, duration, machine
from benchmarks.timing import Case, Clock, interleaved

SECONDS, ACCURACY, BATCH = 10.0, 1e-4, 10_000
RADII = np.array([0.08, 0.15, 0.11])  # [m]
SCAPULA: dict[str, Any] = {"mass": 2.0, "com": (0.01, 0.02, 0.1), "inertia": (0.02, 0.025, 0.015)}
TURN, SPIN = np.array([0.8, 0.36, 0.48, 0.0]), np.array([1.0, 2.0, -1.0])
SHANK: dict[str, Any] = {"mass": 3.7, "com": (0, -0.19, 0), "inertia": (0.05, 0.005, 0.05)}
FORWARD = (
    np.radians([-120, -100, -80, -60, -40, -20, 0]),
    np.array([-3.2, 1.8, 4.1, 4.1, 2.1, -1.0, -4.2]) / 1000,
)
DOWN = (
    np.radians([-120, -70, -30, -20, -10, 0]),
    np.array([-422.6, -408.2, -399.0, -397.6, -396.6, -396.0]) / 1000,
)
# the thigh: the shank swings from straight to 120 degrees
RAISED = np.radians(60)


@dataclass(frozen=True)
class Row:
    """One way to describe a joint: the System, its start, and how far states q (..., nq) are off the manifold
    [m]."""

    name: str
    system: Any
    q: np.ndarray
    u: np.ndarray
    off: Callable[[Any, np.ndarray], np.ndarray] | None = None


def z_axis(quaternion: np.ndarray) -> np.ndarray:
    """R e_z of unit quaternions (w, x, y, z), by hand."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    return np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=-1)


def ellipsoid() -> list[Row]:
    """Ball, Ellipsoid and Free with three equations, from one turn and spin."""

    def of(mobilizer: Any) -> Any:
        system = cd.System(gravity=(0, -9.81, 0))
        system.add_body("scapula", mobilizer=mobilizer, **SCAPULA)
        return system

    def off(system: Any, q: np.ndarray) -> np.ndarray:
        return np.linalg.norm(system.body_pose(q, "scapula").p - RADII * z_axis(q[..., :4]), axis=-1)

    def rides(s: Any) -> list[Any]:
        p, R = s.station_position("scapula", (0, 0, 0)), s.rotation("scapula")
        return [p[i] - RADII[i] * R[i, 2] for i in range(3)]

    free, n = of(cd.Free()), z_axis(TURN)
    free.add_constraint("ellipsoid", cd.constraints.Holonomic(rides))
    return [
        Row("Ball", of(cd.Ball()), TURN, SPIN),
        Row("Ellipsoid", of(cd.Ellipsoid(RADII)), TURN, SPIN, off),
        Row("Constraints", free, np.r_[TURN, RADII * n], np.r_[SPIN, RADII * np.cross(SPIN, n)], off),
    ]


def knee() -> list[Row]:
    """Pin, FunctionBased and Planar with two couplers, from a straight leg at rest."""
    from scipy.interpolate import CubicSpline

    forward, down = cd.Spline(*FORWARD), cd.Spline(*DOWN)
    paths = [CubicSpline(*points, bc_type="natural") for points in (FORWARD, DOWN)]

    def of(mobilizer: Any, *names: str) -> Any:
        system = cd.System(gravity=(-9.81 * np.sin(RAISED), -9.81 * np.cos(RAISED), 0))
        system.add_body("shank", mobilizer=mobilizer, coordinates=names, **SHANK)
        return system

    def off(system: Any, q: np.ndarray) -> np.ndarray:
        p, flexion = system.body_pose(q, "shank").p, q[..., 0]
        # beyond the points the splines go on straight
        inside = (flexion >= FORWARD[0][0]) & (flexion <= 0)
        return np.where(inside, np.hypot(p[..., 0] - paths[0](flexion), p[..., 1] - paths[1](flexion)), 0.0)

    planar = of(cd.Planar(), "flexion", "x", "y")
    planar.add_constraint(
        "forward", cd.constraints.CoordinateCoupler(lambda flexion, x: x - forward(flexion), ("flexion", "x"))
    )
    planar.add_constraint(
        "down", cd.constraints.CoordinateCoupler(lambda flexion, y: y - down(flexion), ("flexion", "y"))
    )
    mobile = cd.FunctionBased("flexion", angles=(None, None, lambda q: q), translations=(forward, down, None))
    zero, at_rest = np.zeros(1), np.zeros(3)
    return [
        Row("Pin", of(cd.Pin(), "flexion"), zero, zero),
        Row("Custom mobilizer", of(mobile, "flexion"), zero, zero, off),
        Row("Constraints", planar, np.array([0.0, FORWARD[1][-1], DOWN[1][-1]]), at_rest, off),
    ]


PAPER = {
    "Table 1": {
        "Ellipsoid": ("0.98", "1.01", "~1e-14"),
        "Constraints": ("11.84", "10.37", "~1e-4"),
        "Speedup": ("12.1", "10.3", ""),
    },
    "Table 2": {
        "Custom mobilizer": ("1.28", "1.98", "~1e-11 mm"),
        "Constraints": ("7.26", "7.17", "~1e-1 mm"),
        "Speedup": ("5.7", "3.6", ""),
    },
}


def simulated(row: Row, accuracy: float = ACCURACY) -> Any:
    return cd.simulate(row.system, row.system.state(q=row.q, u=row.u), SECONDS, accuracy=accuracy)


def accelerations(rows: list[Row], rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds a state: called one by one from Python, and in a batch on one thread. States are those of a
    motion."""
    one, many = {}, {}
    for row in rows:
        traj, fd = simulated(row), row.system.forward_dynamics
        y = traj.at(np.linspace(0, SECONDS, BATCH))
        nq, nu = row.system.nq, row.system.nu
        q, u = (np.ascontiguousarray(part) for part in (y[:, :nq], y[:, nq : nq + nu]))
        few, tau = list(zip(q[::100], u[::100], strict=True)), np.zeros(nu)

        def calls(few: Any = few, fd: Any = fd, tau: Any = tau) -> None:
            for a, b in few:
                fd(a, b, tau)

        one[row.name] = Case(calls, len(few))
        many[row.name] = Case(lambda fd=fd, q=q[:1000], u=u[:1000]: fd(q, u), 1000)  # short: one thread
    found = (interleaved(one, rounds), interleaved(many, rounds))
    return tuple({name: timing.seconds for name, timing in each.items()} for each in found)  # type: ignore[return-value]


def simulations(rows: list[Row], rounds: int) -> dict[str, float]:
    """Processor seconds of a run, the least of some, in turns."""
    least = dict.fromkeys((row.name for row in rows), np.inf)
    for _ in range(rounds):
        for row in rows:
            with Clock() as clock:
                simulated(row)
            least[row.name] = min(least[row.name], clock.cpu)
    return least


def off_manifold(row: Row) -> tuple[float, float]:
    """Largest distance [mm] over the steps of a run, and over 10,000 times between them."""
    if row.off is None:
        return 0.0, 0.0
    traj = simulated(row)
    between = traj.at(np.linspace(0, SECONDS, BATCH))[:, : row.system.nq]
    at, among = (1e3 * float(row.off(row.system, q).max()) for q in (traj.q, between))
    return at, among


def table(report: Report, title: str, rows: list[Row], rounds: int) -> list[tuple[str, ...]]:
    """Measure one table; lines of text, the paper's figures in brackets."""
    one, many = accelerations(rows, rounds)
    runs = simulations(rows, max(rounds // 5, 2))
    unit, mobilizer, constraints = (row.name for row in rows)
    steps = {row.name: simulated(row).statistics.steps for row in rows}
    error = {row.name: off_manifold(row) for row in rows}
    for what, found in (("one state", one), ("batch", many), ("simulation", runs)):
        report.times += [Time(f"{title}: {what}", 1, name, t, t / found[unit]) for name, t in found.items()]
    report.settings[title] = {"steps": steps, "off the manifold [mm]": error}
    lines = [
        (
            f"{title}, in times of",
            f"{unit}: {duration(one[unit])}",
            duration(many[unit]),
            duration(runs[unit]),
            "",
        )
    ]
    for name in (mobilizer, constraints):
        paper = PAPER[title][name]
        lines.append(
            (
                name,
                f"{one[name] / one[unit]:.2f} ({paper[0]})",
                f"{many[name] / many[unit]:.2f}",
                f"{runs[name] / runs[unit]:.2f} ({paper[1]})",
                f"{error[name][0]:.0e}, {error[name][1]:.0e} mm ({paper[2]})",
            )
        )
    paper = PAPER[title]["Speedup"]
    lines.append(
        (
            "Speedup",
            f"{one[constraints] / one[mobilizer]:.1f} ({paper[0]})",
            f"{many[constraints] / many[mobilizer]:.1f}",
            f"{runs[constraints] / runs[mobilizer]:.1f} ({paper[1]})",
            "",
        )
    )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.seth2010", description="Mobilizers against constraints."
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look, not a measurement")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers here")
    options = parser.parse_args()
    report = Report(machine(), {"seconds": SECONDS, "accuracy": ACCURACY})
    rounds = 20 if options.quick else 200
    print(
        "| | acceleration, one state | batch | simulation | off the manifold: steps, between "
        "|\n|---|---|---|---|---|"
    )
    for title, rows in (("Table 1", ellipsoid()), ("Table 2", knee())):
        for line in table(report, title, rows, rounds):
            print(f"| {' | '.join(line)} |")
    print("In brackets: the paper's figures.")
    if options.json:
        report.write(options.json)


if __name__ == "__main__":
    main()
