"""arm26 with elastic tendons beside OpenSim: right-hand sides, and forward simulation at equal errors.

    python -m benchmarks.muscles_forward
    python -m benchmarks.muscles_forward --muscle Millard2012 --osim arm26_millard.osim

Both engines have the same muscles with the same excitations and start from rest, fibers in equilibrium. A
right-hand side is udot and all rates of activations and fibers: `ydot` here, `realizeAcceleration` there. The
error of a run is the largest of q at its end, against a run of the same engine at accuracy 1e-10: engines
have different geodesics, hence motions of their own. At equal errors the best of our integrators is compared
with RungeKuttaMerson, which OpenSim's tools run with: an elastic tendon is stiff, for which ours has "rodas"
and "rodas5p".
Times are processor times, minima; OpenSim works in a process
of its own, in turn.
"""

from __future__ import annotations

import argparse
import importlib
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.opensim_arm26 import numbers
from benchmarks.opensim_forward import questions
from benchmarks.opensim_process import OpenSimProcess

if TYPE_CHECKING:  # OpenSim's process imports this module too
    import condyle as cd

MUSCLES = ("TRIlong", "TRIlat", "TRImed", "BIClong", "BICshort", "BRA")
BICEPS = ("BIClong", "BICshort", "BRA")
ACCURACIES = tuple(float(f"{10 ** (-k / 2):.0e}") for k in range(4, 15))
"""Half decades, for both engines: coarser steps favor whoever is lucky."""
STATES = 4096


def excitations(biceps: float, others: float) -> dict[str, float]:
    return {name: biceps if name in BICEPS else others for name in MUSCLES}


CASES = {"all at 0.05": (excitations(0.05, 0.05), 1.0), "biceps at 0.1": (excitations(0.1, 0.02), 0.5)}


def arm26(muscle: str) -> cd.System:
    """Our arm with muscles of a class, their numbers carried over."""
    import condyle as cd

    ARM = importlib.import_module("condyle.models.arm26")
    numbers = dict(ARM.CURVES)
    if muscle != "Thelen2003":
        numbers = {
            k: numbers[k]
            for k in (
                "max_contraction_velocity",
                "activation_time_constant",
                "deactivation_time_constant",
                "default_activation",
            )
        }
    if muscle == "DeGroote2016":
        numbers |= {
            "tendon_strain_at_one_norm_force": ARM.CURVES["FmaxTendonStrain"],
            "passive_fiber_strain_at_one_norm_force": ARM.CURVES["FmaxMuscleStrain"],
        }
    system = cd.models.arm26(muscle=None)
    for name, (own, _, _) in ARM.MUSCLES.items():
        system.add_force(name, getattr(cd.muscles, muscle)(ARM.path(name), *own, **numbers))
    return system


def best(work: Any, calls: int, rounds: int = 9) -> float:
    """Least processor seconds of a call."""
    found = np.inf
    for _ in range(rounds):
        t = time.process_time()
        for _ in range(calls):
            work()
        found = min(found, (time.process_time() - t) / calls)
    return found


def main() -> None:
    import condyle as cd

    parser = argparse.ArgumentParser()
    parser.add_argument("--muscle", default="Thelen2003")
    parser.add_argument("--osim", help="a file with the same muscles; made of our numbers for Thelen2003")
    parser.add_argument(
        "--integrators",
        nargs="+",
        default=["merson", "rodas", "rodas5p"],
        help="ours; OpenSim's is RungeKuttaMerson",
    )
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    system, far = arm26(options.muscle), OpenSimProcess(options.osim or numbers(), questions)
    for case, (given, t_final) in CASES.items():
        start = system.equilibrate_muscles(
            system.state(
                inputs=given, z={name: 0.05 for name in system.state_variables if name.endswith("activation")}
            )
        )
        if case.startswith("all"):
            right_hand_sides(system, start, far, given)
        exact_here = cd.simulate(system, start, t_final, accuracy=1e-10)(t_final).q
        exact_there = far.ask("run", given, 1e-10, t_final)[1]
        names = options.integrators
        print(
            f"\n{options.muscle}, {case}, {t_final:g} s: error [rad], ms\naccuracy  "
            + "".join(f"{name:>20}" for name in (*names, "OpenSim"))
        )
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in (*names, "OpenSim")}
        for accuracy in ACCURACIES:
            for name in names:
                here = partial(cd.simulate, system, start, t_final, accuracy=accuracy, integrator=name)
                error = np.abs(here()(t_final).q - exact_here).max()
                found[name].append((error, best(here, 1, 3 * options.repeats)))
            runs = [far.ask("run", given, accuracy, t_final) for _ in range(options.repeats)]
            found["OpenSim"].append((np.abs(runs[0][1] - exact_there).max(), min(r[0] for r in runs)))
            print(
                f"{accuracy:8.0e}  "
                + "".join(
                    f"{error:12.1e} {1e3 * t:7.2f}" for error, t in (rows[-1] for rows in found.values())
                )
            )
        for error in (1e-4, 1e-6):
            quickest = {
                name: min((t for e, t in rows if e <= error), default=np.inf) for name, rows in found.items()
            }
            there = quickest.pop("OpenSim")
            name = min(quickest, key=lambda name: quickest[name])
            print(
                f"error below {error:.0e} rad: {name} {1e3 * quickest[name]:.2f} against {1e3 * there:.1f} "
                f"ms: {there / quickest[name]:.0f} x"
            )


def right_hand_sides(
    system: cd.System, start: cd.State, far: OpenSimProcess, given: dict[str, float]
) -> None:
    q, u, z, inputs = (np.array(x) for x in (start.q, start.u, start.z, start.inputs))
    there, udot = far.ask("rates", given, 100)
    print(f"udot at the start: here {start.udot}, OpenSim {np.array(udot)}")
    one = best(lambda: system.ydot(q, u, z=z, inputs=inputs), 100)
    rng = np.random.default_rng(0)
    Q, U = 0.02 * rng.normal(size=(STATES, 2)), np.zeros((STATES, 2))
    Z = np.tile(z, (STATES, 1))

    def batch() -> None:
        system.ydot(Q, U, z=Z, inputs=inputs, threads=1)

    batch()
    many = best(batch, 1) / STATES
    udot_alone = best(lambda: system.forward_dynamics(q, u, z=z, inputs=inputs), 100)
    udot_many = best(lambda: system.forward_dynamics(Q, U, z=Z, inputs=inputs, threads=1), 1) / STATES
    print(
        f"right-hand side: one state {1e6 * one:.1f} us, of many {1e6 * many:.2f} us; OpenSim "
        f"{1e6 * there:.0f} us: {there / one:.0f} x, {there / many:.0f} x"
    )
    print(
        f"udot alone: {1e6 * udot_alone:.1f} us, of many {1e6 * udot_many:.2f} us: "
        f"{there / udot_alone:.0f} x, {there / udot_many:.0f} x"
    )


if __name__ == "__main__":
    main()
