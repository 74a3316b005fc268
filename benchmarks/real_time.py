"""The largest tree and the largest muscle models that keep pace with the clock: 50 frames a second, a delay
buffer of 120 ms (condyle.viewer.delay_buffer), no frame missed.

    python -m benchmarks.real_time
    python -m benchmarks.real_time --seconds 4 --minutes 10

The buffer's clock is the processor time of this thread, so that neighbors on the machine do not count: it
goes on while frames are simulated (`cd.simulate` to the next frame, accuracy 1e-3) and while their messages
for the page are made, and jumps to the next frame's time when there is nothing to do. Sizes double
until frames are missed, then the gap is halved three times, as far as --minutes allow. The last lines say
what held, what did not, and what was not tried.

Trees are the random ones of trees.py, hanging, with dampers at their joints, let go from angles of at most
half a radian. Beside each size: how many seconds MuJoCo simulates in a second, on the same tree with the same
dampers, by its RK4 and by its default, semi-implicit Euler, both at 2 ms; no messages. Muscle models are
arms side by side (cd.models.arm26: two joints, six muscles of Thelen 2003 that wrap), excited at 5 %. --osim
takes a model of yours as it is.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import condyle as cd
from benchmarks import trees
from condyle.viewer.delay_buffer import DelayBuffer
from condyle.viewer.stream import StateStream

RATE, DELAY, DAMPING, ANGLE, STEP = 50.0, 0.12, 0.2, 0.5, 2e-3
"""Frames per second, delay [s], dampers [N m s/rad], first angles [rad], MuJoCo's step [s]."""


def tree(bodies: int) -> trees.Tree:
    out = trees.random_tree(bodies, states=1)
    return replace(out, q=np.random.default_rng(bodies).uniform(-ANGLE, ANGLE, (1, bodies)))


def hanging(bodies: int) -> cd.State:
    made = tree(bodies)
    system = trees.condyle_system(made)
    for name in system.coordinates:
        system.add_force(f"damper {name}", cd.forces.MobilityDamper(name, DAMPING))
    return system.state(q=made.q[0])


def arms(tendon: str) -> Callable[[int], cd.State]:
    def make(n: int) -> cd.State:
        """n // 6 arms."""
        one, system = cd.models.arm26(tendon=tendon), cd.System()
        for i in range(n // 6):
            own = lambda name, i=i: name if name == "ground" else f"{name} {i}"
            for b in one.bodies:
                m = b.mass_properties
                system.add_body(
                    own(b.name), own(b.parent.name), b.mobilizer, b.X_PF, b.X_BM, m.mass, m.com, m.inertia
                )
                system.add_force(f"damper {own(b.name)}", cd.forces.MobilityDamper(own(b.name), DAMPING))
            for name in one.muscles:
                muscle: Any = one.force(name)
                path = muscle.path
                wraps = [
                    cd.paths.Wrap(w.surface, own(w.body), cd.Transform(*w.X_BS), w.between)
                    for w in path.wraps
                ]
                path = cd.paths.Path([(own(p.body), p.p) for p in path.points], wraps)
                system.add_force(own(name), replace(muscle, path=path))
        return started(system)

    return make


def started(system: cd.System) -> cd.State:
    start = system.state(inputs={name: 0.05 for name in system.inputs if name in system.muscles})
    return system.equilibrate_muscles(start)


def played(start: cd.State, seconds: float, integrator: str) -> tuple[int, float, float]:
    """Frames missed, simulated seconds in a second of computing, and of it the share of messages."""
    stream, state = StateStream(start), start
    for _ in range(2):  # compiles
        cd.simulate(start.system, start, start.t + 1e-3, accuracy=1e-3, integrator=integrator)
        stream.message(start)
    now, steps, messages = 0.0, 0.0, 0.0
    buffer = DelayBuffer(start.t, now, RATE, DELAY)
    while buffer.t < start.t + seconds and buffer.missed < 50:
        times = buffer.due(now)
        if len(times):
            begin = time.thread_time()
            run = (
                cd.simulate(start.system, state, float(times[-1]), accuracy=1e-3, integrator=integrator)
                if times[-1] > state.t
                else None
            )
            frames = [state if run is None else run(t) for t in times]
            state = frames[-1]
            middle = time.thread_time()
            for frame in frames:
                stream.message(frame)
            spent = time.thread_time() - begin
            steps, messages = steps + spent, messages + time.thread_time() - middle
            while buffer.next() < now + spent and buffer.missed < 50:  # shown, or missed, meanwhile
                buffer.take(buffer.next())
            now += spent
            buffer.put(times, frames, spent)
        else:
            now = max(now, min(buffer.wake(), buffer.next()))
            while buffer.next() <= now + 1e-12:
                buffer.take(now)
            if len(buffer.due(now)) == 0 and buffer.wake() <= now:
                now = buffer.next()
    return buffer.missed, (state.t - start.t) / max(steps, 1e-9), messages / max(steps, 1e-9)


@dataclass
class Search:
    """Sizes that were tried.

    Attributes:
        held: the largest that missed no frame; 0 if none.
        missed: the smallest that missed frames; None if all held.
    """

    held: int = 0
    missed: int | None = None

    def __str__(self) -> str:
        held = f"{self.held} hold real time" if self.held else "none holds real time"
        above = "larger ones were not tried" if self.missed is None else f"{self.missed} do not"
        return f"{held} at {RATE:g} frames/s and {1e3 * DELAY:g} ms; {above}"


def search(
    make: Callable[[int], cd.State],
    first: int,
    most: int,
    seconds: float,
    budget: float,
    integrator: str,
    say: Callable[[int, tuple[int, float, float]], None],
) -> Search:
    """Double a size until frames are missed, then halve the gap three times; stop where the next size would
    take longer than what is left of `budget` [s]."""
    end, found, last, n = time.perf_counter() + budget, Search(), 0.0, first
    for halves in range(4):
        while n <= most and time.perf_counter() + 2.2 * last < end:
            begin = time.perf_counter()
            result = played(make(n), seconds, integrator)
            say(n, result)
            last = time.perf_counter() - begin
            if result[0]:
                found.missed = n
                break
            found.held = n
            if found.missed is not None:
                break
            n *= 2
        if found.missed is None or halves == 3:
            break
        n, last = (found.held + found.missed) // 2, 0.5 * last
        if n in (0, found.held):
            break
    return found


def mujoco_factor(bodies: int, integrator: str, seconds: float) -> float:
    """Simulated seconds in a second of MuJoCo's computing, called once a frame as a page would."""
    import mujoco

    made = tree(bodies)
    model = trees.mujoco_model(made)
    model.opt.timestep, model.dof_damping[:] = STEP, DAMPING
    model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
    data = mujoco.MjData(model)
    data.qpos[:] = made.q[0]
    begin = time.thread_time()
    for _ in range(round(seconds * RATE)):
        mujoco.mj_step(model, data, round(1 / RATE / STEP))
    return seconds / (time.thread_time() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="of motion per size")
    parser.add_argument("--minutes", type=float, default=3.3, help="at most, of a quiet machine, all in all")
    parser.add_argument("--most", type=int, default=20_000, help="size at which to stop")
    parser.add_argument("--osim", help="a model file, played beside these")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of jumps of paths, at every frame

    def say(n: int, found: tuple[int, float, float], more: str = "") -> None:
        missed, factor, share = found
        print(
            f"  {n:5d}: {missed:3d} frames missed, real-time factor {factor:7.2f}, of it messages "
            f"{100 * share:.0f} %{more}",
            flush=True,
        )

    def beside(n: int, found: tuple[int, float, float]) -> None:
        try:
            peers = [mujoco_factor(n, kind, min(options.seconds, 0.5)) for kind in ("RK4", "EULER")]
        except ImportError:
            peers = []
        say(n, found, "; MuJoCo's factor {:.2f} (RK4), {:.2f} (Euler)".format(*peers) if peers else "")

    cases: dict[str, tuple[Callable[[int], Any], int, str, Any]] = {
        "bodies of a tree": (hanging, 400, "merson", beside),
        "muscles with rigid tendons": (arms("rigid"), 120, "merson", say),
        "muscles with elastic tendons": (arms("elastic"), 48, "rodas", say),
    }
    results = {}
    for what, (make, first, integrator, tell) in cases.items():
        print(f"{what}, {integrator}:", flush=True)
        results[what] = search(
            make, first, options.most, options.seconds, 60 * options.minutes / len(cases), integrator, tell
        )
    for what, found in results.items():
        print(f"{what}: {found}")
    if options.osim:
        system = cd.read_osim(options.osim)
        print(f"{options.osim}: {system!r}")
        for integrator in ("merson", "rodas"):
            found = played(started(system), options.seconds, integrator)
            say(len(system.muscles), found, f"; {integrator}")


if __name__ == "__main__":
    main()
