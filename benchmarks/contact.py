"""Contact beside OpenSim: pairs, a human on twelve spheres, a bouncing ball at equal measured error, stiff
feet.

    python -m benchmarks.contact            # needs the [peers] extra for the ratios

All engines run in turns in one run, times are processor times, the least of several.
"""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import human
from benchmarks.opensim_contact import about_contact
from benchmarks.opensim_process import OpenSimProcess
from benchmarks.timing import Clock

if TYPE_CHECKING:
    import condyle as cd

MATERIAL = (1e5, 0.2, 0.9, 0.6, 0.1, 0.1)
UP = (0.0, 1.0, 0.0)
STATES, ROUNDS = 4096, 7


def target(words: str, value: float, limit: float, most: bool = True) -> None:
    """Print a target and whether it was met."""
    met, sign = (value <= limit, "<=") if most else (value >= limit, ">=")
    print(f"    target: {words} {sign} {limit:g}: {value:.3g}, {'met' if met else 'NOT MET'}")


def batch(systems: list[cd.System], q: Any, u: Any, lanes: str, rounds: int = ROUNDS) -> list[float]:
    """Processor time of forward dynamics per state [s] of systems that take turns, so many lanes wide."""
    os.environ["CONDYLE_LANES"] = lanes
    systems, best = [system.copy() for system in systems], [np.inf] * len(systems)
    for _ in range(rounds + 1):  # the first compiles
        for k, system in enumerate(systems):
            with Clock() as clock:
                system.forward_dynamics(q, u)
            best[k] = min(best[k], clock.cpu / len(q))
    os.environ.pop("CONDYLE_LANES")
    return best


def pairs() -> None:
    """What one contact adds to forward dynamics: twelve spheres, or ellipsoids, on one free body."""
    import condyle as cd

    C = cd.contact
    print("pairs [ns]                                    scalar   a lane")
    rng = np.random.default_rng(0)
    ellipsoid = lambda m: C.Ellipsoid("b", rng.uniform(-0.1, 0.1, 3), (0.05, 0.03, 0.02), m)
    shapes = {
        "sphere on half-space": lambda m: C.Sphere("b", rng.uniform(-0.1, 0.1, 3), 0.03, m),
        "ellipsoid on half-space": ellipsoid,
        "ellipsoid on sphere": ellipsoid,
    }
    m, count = C.Material(*MATERIAL), 12
    for name, make in shapes.items():
        systems = []
        for n in (0, count):
            system = cd.System()
            system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(0.01,) * 3)
            other = (
                C.Sphere("ground", (0, -1, 0), 1.0, m)
                if name.endswith("sphere")
                else C.HalfSpace("ground", UP, 0.0, m)
            )
            for k in range(n):
                system.add_contact(f"c{k}", other, make(m))
            systems.append(system)
        q, u = np.tile(system.defaults()[0], (STATES, 1)), rng.uniform(-1, 1, (STATES, 6))
        q[:, 4:] = rng.uniform(-0.05, 0.05, (STATES, 3))
        cost = [1e9 * float(np.diff(batch(systems, q, u, lanes))[0]) / count for lanes in ("1", "4")]
        print(f"  {name:40s} {cost[0]:8.0f} {cost[1]:8.0f}")
        if name == "sphere on half-space":
            target("scalar [ns]", cost[0], 60)
            target("a lane [ns]", cost[1], 25)
        else:
            target("convex pair, scalar [ns]", cost[0], 1000)


def spheres() -> list[tuple[str, tuple[float, float, float], float]]:
    """Six below each foot."""
    return [
        (f"foot_{side}", (0.04 * i, -0.06, 0.03 * j), 0.02)
        for side in "rl"
        for i in range(3)
        for j in (-1, 1)
    ]


def feet(peer: OpenSimProcess | None) -> None:
    """A human of 30 degrees of freedom, with and without spheres below its feet; all touch."""
    import condyle as cd

    C = cd.contact
    m = C.Material(*MATERIAL)
    systems = []
    for touching in (False, True):
        system = human.condyle_system(pins=True)
        if touching:
            floor = C.HalfSpace("ground", UP, 0.0, m)
            system.add_contact("feet", floor, [C.Sphere(*s, m) for s in spheres()], law=C.OpenSimHuntCrossley)
        systems.append(system)
    rng = np.random.default_rng(1)
    q, u = np.tile(system.defaults()[0], (STATES, 1)), rng.uniform(-0.1, 0.1, (STATES, system.nu))
    q[:, 5] = 0.98 - 1e-3 - rng.uniform(0, 1e-3, STATES)
    assert (systems[1].contacts.depths(q[:9]) > 0).all()
    for label, lanes in (("one state after the other", "1"), ("in lanes", "4")):
        bare, full = batch(systems, q, u, lanes, 60)
        print(
            f"human, {label}: {1e6 * bare:.2f} us, with 12 contacts {1e6 * full:.2f} us, "
            f"{full / bare:.2f} times"
        )
        target("with 12 contacts over without", full / bare, 1.3)
        if peer is not None and lanes == "1":
            them = min(peer.ask("seconds", "human", *opensim_states(q[:200], u[:200]))[0] for _ in range(5))
            print(f"  OpenSim's realizeAcceleration: {1e6 * them:.1f} us, {them / full:.0f} times ours")
            target("OpenSim over ours", them / full, 20, most=False)


def opensim_states(q: Any, u: Any) -> tuple[Any, Any]:
    """At the default pose: angles 0, the pelvis at its height; speeds as they come."""
    Q = np.zeros((len(q), 5))  # all else is zero
    Q[:, 4] = q[:, 5]
    return Q, u


def bounce(peer: OpenSimProcess | None) -> None:
    """Two seconds of a bouncing, spinning ball. Errors are those of positions against a run at 1e-12."""
    import condyle as cd

    C = cd.contact
    m = C.Material(*MATERIAL)
    system = cd.System(gravity=(0, -9.80665, 0))
    system.add_body("ball", mobilizer=cd.Bushing(), mass=1.0, inertia=(0.004,) * 3)
    system.add_contact(
        "c", C.HalfSpace("ground", UP, 0.0, m), C.Sphere("ball", (0, 0, 0), 0.1, m), law=C.OpenSimHuntCrossley
    )
    q, u = np.array([0, 0, 0, 0, 0.6, 0]), np.array([2.0, 0, -5, 1, 0, 0.3])
    start = system.state(q=q, u=u)
    truth = cd.simulate(system, start, 2.0, accuracy=1e-12, integrator="dormand-prince-8")[-1].q
    error = lambda end: float(np.abs((end - truth)[3:]).max())
    theirs = []
    for accuracy in (1e-3, 1e-5, 1e-7) if peer is not None else ():
        runs = [peer.ask("run", "ball", q, u, accuracy, 2.0) for _ in range(3)]
        theirs.append((min(t for t, _ in runs), error(runs[0][1]), accuracy))
    ours = []
    for method in ("merson", "dormand-prince", "dormand-prince-8"):
        for accuracy in 10.0 ** -np.arange(3, 10):
            best = np.inf
            for _ in range(4):
                with Clock() as clock:
                    run = cd.simulate(system, start, 2.0, accuracy=accuracy, integrator=method)
                best = min(best, clock.cpu)
            ours.append((best, error(run[-1].q), method, accuracy))
    for seconds, missed, accuracy in theirs:
        fit = min((o for o in ours if o[1] <= missed), default=min(ours, key=lambda o: o[1]))
        print(
            f"bounce: OpenSim at {accuracy:g} {1e3 * seconds:.2f} ms, error {missed:.1e} m; "
            f"{fit[2]} at {fit[3]:g} {1e3 * fit[0]:.2f} ms, error {fit[1]:.1e} m: "
            f"{seconds / fit[0]:.0f} times"
        )
        target("OpenSim over ours", seconds / fit[0], 30, most=False)
    if not theirs:
        for seconds, missed, method, accuracy in ours:
            print(f"bounce: {method} at {accuracy:g}: {1e3 * seconds:.2f} ms, error {missed:.1e} m")


def standing() -> None:
    """A foot of 12 kg under a spring on six stiff spheres with a small transition speed: where stiff
    methods pay."""
    import condyle as cd

    C = cd.contact
    m = C.Material(1e8, 1.0, 0.9, 0.8, 0.0, 1e-4)
    system = cd.System()
    system.add_body("foot", mobilizer=cd.Free(), mass=12.0, inertia=(0.05, 0.08, 0.06))
    floor = C.HalfSpace("ground", UP, 0.0, m)
    system.add_contact(
        "sole", floor, [C.Sphere("foot", (x - 0.04, y, z), 0.02, m) for _, (x, y, z), _ in spheres()[:6]]
    )
    start = system.state(q={"foot_ty": 0.0801}, u={"foot_vx": 0.05})
    for accuracy in (1e-3, 1e-5):
        for method in ("merson", "rodas"):
            cd.simulate(system, start, 1e-3, accuracy=accuracy, integrator=method)
            with Clock() as clock:
                run = cd.simulate(system, start, 1.0, accuracy=accuracy, integrator=method)
            done = run.statistics
            print(
                f"standing foot, {method} at {accuracy:g}: {done.steps} steps, {done.evaluations} "
                f"evaluations, {done.jacobians} Jacobians, {1e3 * clock.cpu:.0f} ms, height "
                f"{run[-1].q[5]:.9f} m: {run.status}"
            )


def specs() -> dict[str, Any]:
    """The models for OpenSim."""
    body = lambda b: (b[0], b[1], b[2], b[3], b[4], *human.about(b[4]))
    return {
        "human": {
            "gravity": human.GRAVITY,
            "bodies": [body(b) for b in human._depth_first()],
            "spheres": spheres(),
            "material": MATERIAL,
        },
        "ball": {
            "gravity": (0, -9.80665, 0),
            "spheres": [("ball", (0, 0, 0), 0.1)],
            "material": MATERIAL,
            "bodies": [("ball", "ground", "free", (0, 0, 0), 1.0, (0, 0, 0), (0.004,) * 3)],
        },
    }


def main() -> None:
    os.environ["CONDYLE_THREADS"] = "1"
    peer = OpenSimProcess(specs(), about_contact) if importlib.util.find_spec("opensim") else None
    pairs()
    feet(peer)
    bounce(peer)
    standing()


if __name__ == "__main__":
    main()
