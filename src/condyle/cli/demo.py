"""`condyle demo`: a knee in a few lines of Python becomes machine code, is checked against physics, timed and drawn.

The leg sits on a table edge: the thigh lies along ground's x and may turn about it, the shank swings freely below the
knee. Friction and muscles are absent, so the energy must stay what it was. The knee's two curves are rounded from
measured ones: where the tibia stands on the femur, within about 1 mm for q = -2.1 ... 0 rad of the knee that OpenSim's model
gait10dof18musc has (after Yamaguchi and Zajac 1989).
"""
from __future__ import annotations

import io
import itertools
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import casadi as ca
import numpy as np

import condyle as cd
from condyle.errors import CondyleError
from condyle.model.operators import OPERATORS
from condyle.native.machine import cache, threads
from condyle.native.machine.interrupts import patient
from condyle.native.programs.solve import rk4

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
        return f"  {self.claim:<58}{self.measured:9.1e}{self.allowed:9.0e}   {'pass' if self.passed else 'FAIL'}"


def run(out: Path | None = None) -> bool:
    """Run the whole demo. Returns True if every check passed.

    Args:
        out: folder for the picture, made if need be; None is the first unused of condyle-demo, condyle-demo-2, ...
    """
    with patient():
        return _run(out)


def _run(out: Path | None) -> bool:
    _refuse_unwritable(out)
    print(f"\n{_indented(LEG)}", flush=True)
    leg = build()
    print(compile_and_tell(leg), flush=True)

    t, q, u = swing(leg)
    checks = [energy_drift(leg, q, u), inverse_of_forward(leg), derivatives(leg)]
    print(f"\n  {'check':<58}{'measured':>9}{'allowed':>9}")
    print(*checks, sep="\n", flush=True)

    print(f"\n{speed(leg)}", flush=True)

    picture = _write_new(out, draw(leg, t, q, u))
    passed = all(check.passed for check in checks)
    print(f"\nThe motion is drawn in {picture}")
    if not passed:
        print("\nA check FAILED: these numbers are not to be trusted. Please report this output and your processor.")
    print(NEXT, flush=True)
    return passed


NEXT = """
Try next
  condyle demo            again: the machine code now comes from the cache
  condyle cache info      where it is kept
  README.md, "A first look"  the same leg in your own script: change a curve of the knee and see the numbers follow"""


def build() -> Any:
    """The system that LEG describes: the text that is printed is the text that runs."""
    names: dict[str, Any] = {"cd": cd, "np": np}
    exec(compile(LEG, "<the knee above>", "exec"), names)
    return names["leg"]


def compile_and_tell(leg: Any) -> str:
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
    return f"{made}, compiled in {seconds:.2f} s and {f'not cached: {note}' if note else 'cached for the next time'}."


def swing(leg: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Free motion from START by the classical Runge-Kutta method of order 4 at a fixed step, as one native program.

    Returns:
        t [s], shape (n,); q [rad], shape (n, 2); u [rad/s], shape (n, 2).
    """
    y0 = np.array([*START, 0.0, 0.0])
    t, y = rk4(right_hand_side(leg), y0, 0.0, STEP, round(DURATION / STEP))
    return t, y[:, :2], y[:, 2:]


def right_hand_side(leg: Any) -> ca.Function:
    """f(t, y) -> (qdot, udot) with y = (q, u), under gravity alone."""
    t, y = ca.SX.sym("t"), ca.SX.sym("y", leg.nq + leg.nu)
    q, u, tail = y[:leg.nq], y[leg.nq:], leg.compiled.tails.default                    # nothing here depends on time

    def operator(name: str, *arguments: Any) -> ca.SX:
        function: Any = OPERATORS[name].build(leg.compiled.model, name)      # the leg has no tables: a plain Function
        return function.call([*arguments, tail])[0]                    # a status may follow
    rates = operator("qdot", q, u), operator("forward_dynamics", q, u, leg.compiled.no_tau)
    return ca.Function("leg", [t, y], [ca.vertcat(*rates)])


def energy_error(leg: Any, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Total energy minus its first value, over the largest kinetic energy of the motion, shape (n,)."""
    kinetic, potential = leg.energy(q, u)
    total = kinetic + potential
    return (total - total[0]) / kinetic.max()


def energy_drift(leg: Any, q: np.ndarray, u: np.ndarray) -> Check:
    drift = np.abs(energy_error(leg, q, u)).max()
    # RK4 loses (w h)^5 / 144 per radian of swing, w about 6 rad/s: 30 radians lose 2e-12, sharper turns more.
    return Check(f"energy drift over {DURATION:.0f} s of free swing", float(drift), 1e-9)


def inverse_of_forward(leg: Any) -> Check:
    """tau - ID(q, u, FD(q, u, tau)), over the largest effort of each state."""
    q, u, tau = random_states(leg)
    udot = leg.forward_dynamics(q, u, tau)
    residual = np.abs(leg.inverse_dynamics(q, u, udot) - tau).max(axis=-1)
    scale = np.abs(tau).max(axis=-1) + np.abs(leg.inverse_dynamics(q, u, np.zeros_like(u))).max(axis=-1)
    # Two recursions of about 100 roundings each, and cond(M) about 10: 1e3 eps; 1e-12 is 5e3 eps.
    return Check(f"inverse dynamics undoes forward dynamics ({BATCH:,} states)", float((residual / scale).max()), 1e-12)


def derivatives(leg: Any) -> Check:
    """The ankle's Jacobian, exact through the knee's curves, against central differences of its position."""
    q, _, _ = random_states(leg)
    exact = leg.station_jacobian(q, "shank", ANKLE)
    step = np.cbrt(np.finfo(float).eps)
    columns = [(_ankle(leg, q + e) - _ankle(leg, q - e)) / (2 * step) for e in step * np.eye(leg.nu)]
    error = np.abs(exact - np.stack(columns, axis=-1)).max() / np.abs(exact).max()
    # Central differences at step eps^(1/3) are themselves no better than about eps^(2/3) = 4e-11.
    return Check("derivatives: exact (AD) against central differences", float(error), 1e-9)


def speed(leg: Any) -> str:
    """Forward dynamics of one state at a time and of many at once, best of several runs."""
    q, u, tau = random_states(leg)
    one = _best(lambda i: leg.forward_dynamics(q[i], u[i], tau[i]), calls=2000)
    many = _best(lambda i: leg.forward_dynamics(q, u, tau), calls=20) / BATCH
    return (
        f"Speed of forward dynamics, at most {threads.thread_count()} threads\n"
        f"  one state, called from Python       {one * 1e6:8.3f} microseconds\n"
        f"  {BATCH:,} states in one call         {many * 1e6:8.3f} microseconds per state"
    )


def random_states(leg: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, u, tau of BATCH states in the range in which the knee's curves were measured."""
    rng = np.random.default_rng(SEED)
    q = rng.uniform((-1.0, -2.1), (1.0, 0.0), (BATCH, 2))
    return q, rng.uniform(-5, 5, (BATCH, leg.nu)), rng.uniform(-20, 20, (BATCH, leg.nu))


def draw(leg: Any, t: np.ndarray, q: np.ndarray, u: np.ndarray) -> bytes:
    """A picture (PNG): the leg from the side and from the front, the knee's path, angles, energy error."""
    from matplotlib.figure import Figure

    ink, thigh_colour, knee_colour = "#20303c", "#c8553d", "#2a6f97"
    ankle, knee = _ankle(leg, q), np.asarray(leg.body_pose(q, "shank").p)
    figure = Figure(figsize=(10, 6), layout="constrained", facecolor="white")
    rows = [["side", "front", "knee"], ["angles", "angles", "energy"]]
    axes: Any = figure.subplot_mosaic(rows, width_ratios=(1.35, 1, 1.1))

    shown = slice(0, round(0.5 / STEP), round(0.025 / STEP))           # every 25 ms of the first half second
    for name, sideways, label in (("side", 0, "forward [m]"), ("front", 2, "to the right [m]")):
        ax = axes[name]
        ax.plot(ankle[:, sideways], ankle[:, 1], color=knee_colour, linewidth=0.8, alpha=0.6)
        for k, a, fade in zip(knee[shown], ankle[shown], np.linspace(0.15, 0.9, len(t[shown]))):
            points = np.stack([np.zeros(3), k, a])
            ax.plot(points[:, sideways], points[:, 1], color=ink, linewidth=1.6, alpha=fade, solid_capstyle="round")
        ax.set(aspect="equal", xlabel=label)
    axes["side"].set(ylabel="up [m]", title="a leg on a table edge")
    axes["front"].set(title="from the front")

    flexion = np.zeros((100, 2))
    flexion[:, 1] = np.linspace(-2.1, 0, 100)
    path = 1000 * np.asarray(leg.body_pose(flexion, "shank").p)
    dots = axes["knee"].scatter(path[:, 0], path[:, 1], c=-np.degrees(flexion[:, 1]), s=9, cmap="viridis")
    axes["knee"].set(aspect="equal", xlabel="along the thigh [mm]", ylabel="across [mm]")
    axes["knee"].set_title("the knee rolls and slides")
    figure.colorbar(dots, ax=axes["knee"], label="flexion [degrees]", shrink=0.8)

    axes["angles"].plot(t, np.degrees(q[:, 1]), color=knee_colour, label="knee")
    axes["angles"].plot(t, np.degrees(q[:, 0]), color=thigh_colour, label="thigh")
    axes["angles"].set(xlabel="time [s]", ylabel="angle [degrees]", ylim=(-145, 65))
    axes["angles"].legend(frameon=False, loc="upper right", ncols=2)
    axes["energy"].plot(t, energy_error(leg, q, u), color=ink, linewidth=0.9)
    axes["energy"].set(xlabel="time [s]", ylabel="relative energy error")
    for ax in axes.values():
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(colors=ink)
        ax.grid(alpha=0.2)
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=150)
    return png.getvalue()


def _ankle(leg: Any, q: np.ndarray) -> np.ndarray:
    """p_GS of the ankle [m], shape (..., 3)."""
    X_GB = leg.body_pose(q, "shank")
    return np.asarray(X_GB.R) @ np.array(ANKLE) + np.asarray(X_GB.p)


def _best(call: Callable[[int], object], calls: int, rounds: int = 5) -> float:
    """Shortest mean time of a call [s] over some rounds."""
    times = []
    for _ in range(rounds):
        start = perf_counter()
        for i in range(calls):
            call(i)
        times.append((perf_counter() - start) / calls)
    return min(times)


def _named(part: Path, target: Path) -> bool:
    """Give the file `part` the name `target`; False if another process took that name a moment ago."""
    try:
        os.link(part, target)               # unlike a rename, never replaces
    except FileExistsError:
        return False
    except OSError:                         # a file system without hard links
        part.rename(target)
    return True


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def _refuse_unwritable(out: Path | None) -> None:
    """Say now, rather than after the work, that the picture cannot be written. Nothing is made yet."""
    folder = (out or Path()).absolute()
    try:
        tempfile.TemporaryFile(dir=next(place for place in (folder, *folder.parents) if place.exists())).close()
    except OSError as error:
        place = "the current folder" if out is None else f"--out {str(out)!r}"
        raise CondyleError(f"cannot write into {place}: {error.strerror}; choose a folder with --out DIR") from None


def _folder(out: Path | None) -> Path:
    """Make and return the folder `out`, or the first of condyle-demo, condyle-demo-2, ... that does not exist."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        return out
    for number in itertools.count(1):
        folder = Path("condyle-demo" if number == 1 else f"condyle-demo-{number}")
        with suppress(FileExistsError):
            folder.mkdir()
            break
    return folder


def _write_new(out: Path | None, content: bytes) -> Path:
    """Write, then give it the first unused name of swing.png, swing-2.png, ...: never half a file, never over another."""
    path = _folder(out) / "swing.png"
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        for number in itertools.count(1):
            target = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
            if not target.exists() and _named(part, target):
                break
    finally:
        part.unlink(missing_ok=True)
    return target
