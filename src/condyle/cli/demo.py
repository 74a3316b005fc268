"""`condyle demo`: a knee in a few lines of Python becomes machine code, is checked against physics, timed and
drawn.

The leg sits on a table edge: the thigh lies along ground's x and may turn about it, the shank swings freely
below the knee. Friction and muscles are absent, so the energy must stay what it was. The knee's two curves
are rounded from measured ones: where the tibia is on the femur, within about 1 mm for q = -2.1 ... 0 rad of
the knee that OpenSim's model gait10dof18musc has (after Yamaguchi and Zajac 1989).
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import condyle as cd
from condyle.cli.picture import draw, refuse_unwritable, write_new
from condyle.native.machine import cache, threads
from condyle.native.machine.interrupts import patient

LEG = """\
leg = cd.System(gravity=(0, -9.81, 0))
leg.add_body("thigh", leg.ground, cd.Pin(axis="x"), mass=9.3, com=(0.17, 0, 0),
             inertia=(0.035, 0.13, 0.14))
along = lambda q: 0.414 - 0.018 * np.cos(q)
across = lambda q: -0.0045 - 0.0087 * np.sin(1.45 * q)
knee = cd.FunctionBased("knee", angles=(None, None, lambda q: q),
                        translations=(along, across, None))
leg.add_body("shank", "thigh", knee, mass=3.7, com=(0.19, 0, 0),
             inertia=(0.005, 0.05, 0.05))
"""
ANKLE = (0.43, 0.0, 0.0)          # station on the shank [m]
START = (0.35, -0.9)              # thigh turned by 20 degrees, knee flexed by 52 degrees, at rest [rad]
DURATION, STEP = 5.0, 0.001       # [s]
BATCH = 10_000
SEED = 1


@dataclass(frozen=True)
class Check:
    """One claim with its numbers; both are relative, hence without unit."""

    claim: str
    measured: float
    allowed: float

    @property
    def passed(self) -> bool:
        return self.measured <= self.allowed      # a NaN fails

    def __str__(self) -> str:
        return (f"  {self.claim:<58}{self.measured:9.1e}{self.allowed:9.0e}   "
                f"{'pass' if self.passed else 'FAIL'}")


def run(out: Path | None = None) -> bool:
    """Run the whole demo. Returns True if every check passed.

    Args:
        out: folder for the picture, made if need be; None is the first unused of condyle-demo,
            condyle-demo-2, ...
    """
    with patient():
        return _run(out)


def _run(out: Path | None) -> bool:
    refuse_unwritable(out)
    print(f"\n{_indented(LEG)}", flush=True)
    leg = build()
    print(compile_and_tell(leg), flush=True)

    motion = swing(leg)
    checks = [energy_drift(leg, motion), inverse_of_forward(leg), derivatives(leg)]
    print(f"\n  {'check':<58}{'measured':>9}{'allowed':>9}")
    print(*checks, sep="\n", flush=True)

    print(f"\n{speed(leg)}", flush=True)

    picture = write_new(out, draw(motion, ankle(leg, motion.q), knee(leg, motion.q), knee_path(leg),
                                  energy_error(leg, motion)))
    passed = all(check.passed for check in checks)
    print(f"\nThe motion is drawn in {picture}")
    if not passed:
        print("\nA check FAILED: these numbers are not to be trusted. Please report this output and your "
              "processor.")
    print(NEXT, flush=True)
    return passed


NEXT = """
Try next
  condyle demo            again: the machine code now comes from the cache
  condyle cache info      where it is kept
  README.md, "A first look"  the same leg in your own script: change a curve of the knee and see"""


def build() -> cd.System:
    """The system that LEG describes: the text that is printed is the text that runs."""
    names: dict[str, Any] = {"cd": cd, "np": np}
    exec(compile(LEG, "<the knee above>", "exec"), names)
    return names["leg"]


def compile_and_tell(leg: cd.System) -> str:
    """Ask for the first answer, which makes the machine code or finds it on disk, and say which."""
    start = perf_counter()
    leg.forward_dynamics(*leg.defaults())
    seconds = perf_counter() - start
    report = leg.compiled.function("forward_dynamics").report
    if not report.kernels:
        return "It is NOT machine code: CONDYLE_EVALUATOR asks for CasADi's evaluator."
    made = f"It is now machine code: {report.operations} operations for the forward dynamics"
    if report.cached:
        return f"{made}, taken from the cache in {seconds:.3f} s."
    note = cache.info().note
    return (f"{made}, compiled in {seconds:.2f} s and "
            f"{f'not cached: {note}' if note else 'cached for the next time'}.")


def swing(leg: cd.System) -> cd.Trajectory:
    """Free motion from START by the classical Runge-Kutta method of order 4 at a fixed step."""
    return cd.simulate(leg, leg.state(q=START), DURATION, integrator="rk4", step=STEP)


def energy_error(leg: cd.System, motion: cd.Trajectory) -> np.ndarray:
    """Total energy minus its first value, over the largest kinetic energy of the motion, shape (n,)."""
    kinetic, potential = leg.energy(motion.q, motion.u)
    total = kinetic + potential
    return (total - total[0]) / kinetic.max()


def energy_drift(leg: cd.System, motion: cd.Trajectory) -> Check:
    drift = np.abs(energy_error(leg, motion)).max()
    # RK4 loses (w h)^5 / 144 per radian of swing, w about 6 rad/s: 30 radians lose 2e-12, sharper turns more.
    return Check(f"energy drift over {DURATION:.0f} s of free swing", float(drift), 1e-9)


def inverse_of_forward(leg: cd.System) -> Check:
    """tau - ID(q, u, FD(q, u, tau)), over the largest effort of each state."""
    q, u, tau = random_states(leg)
    udot = leg.forward_dynamics(q, u, tau)
    residual = np.abs(leg.inverse_dynamics(q, u, udot) - tau).max(axis=-1)
    scale = np.abs(tau).max(axis=-1) + np.abs(leg.inverse_dynamics(q, u, np.zeros_like(u))).max(axis=-1)
    # Two recursions of about 100 roundings each, and cond(M) about 10: 1e3 eps; 1e-12 is 5e3 eps.
    return Check(f"inverse dynamics undoes forward dynamics ({BATCH:,} states)",
                 float((residual / scale).max()), 1e-12)


def derivatives(leg: cd.System) -> Check:
    """The ankle's Jacobian, exact through the knee's curves, against central differences of its position."""
    q, _, _ = random_states(leg)
    exact = leg.station_jacobian(q, "shank", ANKLE)
    step = np.cbrt(np.finfo(float).eps)
    columns = [(ankle(leg, q + e) - ankle(leg, q - e)) / (2 * step) for e in step * np.eye(leg.nu)]
    error = np.abs(exact - np.stack(columns, axis=-1)).max() / np.abs(exact).max()
    # Central differences at step eps^(1/3) are themselves no better than about eps^(2/3) = 4e-11.
    return Check("derivatives: exact (AD) against central differences", float(error), 1e-9)


def speed(leg: cd.System) -> str:
    """Forward dynamics of one state at a time and of many at once, best of several runs."""
    q, u, tau = random_states(leg)
    one = _best(lambda i: leg.forward_dynamics(q[i], u[i], tau[i]), calls=2000)
    many = _best(lambda i: leg.forward_dynamics(q, u, tau), calls=20) / BATCH
    return (
        f"Speed of forward dynamics, at most {threads.thread_count()} threads\n"
        f"  one state, called from Python       {one * 1e6:8.3f} microseconds\n"
        f"  {BATCH:,} states in one call         {many * 1e6:8.3f} microseconds per state"
    )


def random_states(leg: cd.System) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, u, tau of BATCH states in the range in which the knee's curves were measured."""
    rng = np.random.default_rng(SEED)
    q = rng.uniform((-1.0, -2.1), (1.0, 0.0), (BATCH, 2))
    return q, rng.uniform(-5, 5, (BATCH, leg.nu)), rng.uniform(-20, 20, (BATCH, leg.nu))


def ankle(leg: cd.System, q: np.ndarray) -> np.ndarray:
    """p_GS of the ankle [m], shape (..., 3)."""
    X_GB = leg.body_pose(q, "shank")
    return np.asarray(X_GB.R) @ np.array(ANKLE) + np.asarray(X_GB.p)


def knee(leg: cd.System, q: np.ndarray) -> np.ndarray:
    """p_GB of the shank's origin [m], shape (..., 3)."""
    return np.asarray(leg.body_pose(q, "shank").p)


def knee_path(leg: cd.System) -> np.ndarray:
    """Flexion [rad] and where the shank's origin then is on the thigh [m], shape (100, 4)."""
    q = np.zeros((100, 2))
    q[:, 1] = np.linspace(-2.1, 0, 100)
    return np.column_stack([q[:, 1], knee(leg, q)])


def _best(call: Callable[[int], object], calls: int, rounds: int = 5) -> float:
    """Shortest mean time of a call over some rounds [s]."""
    times = []
    for _ in range(rounds):
        start = perf_counter()
        for i in range(calls):
            call(i)
        times.append((perf_counter() - start) / calls)
    return min(times)


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())
