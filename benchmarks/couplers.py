"""What couplers as joints bring: a hand whose fingers curl, and models of OpenSim, each twice, with couplers
as constraints and as parts of the joints.

    python -m benchmarks.couplers                      the hand, and models of ../shared/reference if there
    python -m benchmarks.couplers subject01.osim       other models

Both take turns, and the least processor time of each counts: right-hand side of one state called from Python,
and of one of 4096; a run of half a second at accuracy 1e-5; inverse kinematics of 200 frames of the model's
own markers (three per body of the hand), and how far the two ways of each differ.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import condyle as cd

REFERENCE = Path(__file__).parents[2] / "shared/reference/opensim"
MODELS = ("Leg39/leg39.osim", "Rajagopal/Rajagopal2016.osim")
WAYS = ("constraints", "joints")
FINGERS = 5
CURL = (0.9, 0.6)
"""How much the second and the third joint of a finger bend with the first."""


def hand(way: str) -> cd.System:
    """A palm on a wrist, fingers of three bones whose outer joints bend with the first one."""
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body("palm", "ground", cd.Gimbal(), mass=0.4, com=(0, -0.05, 0), inertia=(4e-4, 2e-4, 4e-4))
    for k in range(FINGERS):
        first, parent = f"finger{k}", "palm"
        for j, length in enumerate((0.045, 0.03, 0.02)):
            name, X_PF = f"{first}_{j}", (0.02 * k - 0.04, -0.1, 0) if j == 0 else (0, -0.03, 0)
            inertia = 0.02 * length**2 / 6
            kw = {"X_PF": X_PF, "mass": 0.02, "com": (0, -length / 2, 0), "inertia": (inertia,) * 3}
            bent = cd.functions.Linear(CURL[j - 1])
            if j == 0 or way == "constraints":
                system.add_body(name, parent, cd.Pin("x"), **kw)
            else:
                coupled = cd.Coupled(cd.Pin("x"), f"{first}_0", bent)
                system.add_body(name, parent, coupled, follows=f"{first}_0", **kw)
            if j and way == "constraints":
                system.add_constraint(
                    f"{name}_coupler",
                    cd.constraints.CoordinateCoupler(
                        lambda a, b, bent=bent: bent(a) - b, (f"{first}_0", name)
                    ),
                )
            for i, p in enumerate(((0.01, 0, 0), (0, -length, 0), (0, 0, 0.01))):
                system.add_marker(f"{name}_{i}", name, p)
            parent = name
        system.add_force(f"{first}_stiff", cd.forces.MobilitySpring(f"{first}_0", 0.05, 0.3))
    return system


def best(runs: list[Callable[[], Any]], rounds: int) -> list[float]:
    """The least seconds of each, taking turns."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(1 + rounds):
        for run, mine in zip(runs, times, strict=True):
            start = process_time()
            run()
            mine.append(process_time() - start)
    return [min(mine[1:]) for mine in times]


def measure(both: dict[str, cd.System], rounds: int) -> dict[str, list[float]]:
    """Both ways of each job, in its unit."""
    common = [q for q in both["constraints"].coordinates if q in both["joints"].coordinates]
    markers = recording(both["joints"], common)
    jobs = {way: jobs_of(system, common, markers) for way, system in both.items()}
    out = {}
    for what, (_, size) in jobs["joints"].items():
        runs = [jobs[way][what][0] for way in WAYS]
        out[what] = [size * seconds for seconds in best(runs, rounds)]
        if "[us]" not in what or "frame" in what:
            a, b = (run() for run in runs)
            print(f"{what}: both differ by {max(np.abs(a[q][-1] - b[q][-1]) for q in common):.1e}")
    return out


def jobs_of(
    system: cd.System, common: list[str], markers: cd.Markers | None
) -> dict[str, tuple[Callable[[], Any], float]]:
    """What is measured of a system: each with the number that makes its unit of seconds."""
    held, state = [n for n in common if n in system.speeds], system.state()
    state = cd.assemble(system, state, locked=held) if system.constraints else state
    q, u = np.tile(state.q, (4096, 1)), np.tile(state.u, (4096, 1))
    jobs: dict[str, tuple[Callable[[], Any], float]] = {
        "right-hand side, one state [us]": (
            lambda: [system.forward_dynamics(state.q, state.u) for _ in range(200)],
            1e6 / 200,
        ),
        "one of 4096 states [us]": (lambda: system.forward_dynamics(q, u), 1e6 / 4096),
        "half a second of motion [ms]": (lambda: cd.simulate(system, state, 0.5, accuracy=1e-5).table(), 1e3),
    }
    if markers is not None:
        jobs["inverse kinematics, one frame [us]"] = (
            lambda: cd.inverse_kinematics(system, markers).motion,
            1e6 / len(markers.time),
        )
    return jobs


def recording(system: cd.System, moving: list[str]) -> cd.Markers | None:
    """200 frames of all markers while coordinates swing a little."""
    if not system.markers:
        return None
    t = np.linspace(0, 2, 200)
    q = np.tile(system.defaults()[0], (200, 1))
    held = set(system.state().locked)
    for k, name in enumerate(system.coordinates):
        if name in moving and name not in held:
            q[:, k] += 0.1 * np.sin(2 * t + k) ** 2
    places = [system.station_position(q, m.body, m.station) for m in map(system.marker, system.markers)]
    return cd.Markers(t, system.markers, np.stack(places, axis=1))


def main(models: list[str]) -> None:
    found = [Path(m) for m in models] or [REFERENCE / m for m in MODELS if (REFERENCE / m).exists()]
    cases: dict[str, Callable[[str], cd.System]] = {} if models else {"a hand, 10 couplers": hand}
    cases |= {path.stem: lambda way, path=path: cd.read_osim(path, couplers=way) for path in found}
    for name, make in cases.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            both = {way: make(way) for way in WAYS}
            print(
                f"\n{name}: {both['constraints'].nu} speeds and {len(both['constraints'].constraints)} "
                f"constraints; {both['joints'].nu} speeds"
            )
            for what, (a, b) in measure(both, 15).items():
                print(f"| {name} | {what} | {a:.3g} | {b:.3g} | {a / b:.2f} times |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
