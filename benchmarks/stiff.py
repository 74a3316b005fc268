"""Stiff and large: a chain falls on a floor, by implicit methods, beside OpenSim's CPodes and MuJoCo's implicit
integrators.

    python -m benchmarks.stiff                 # 30, 100, 300 bodies
    python -m benchmarks.stiff 30 1000 --no-opensim
    python -m benchmarks.stiff --muscles       # gait models on foot spheres; chains with muscles, with couplers
    python -m benchmarks.stiff --muscles --dense   # beside the matrix of all states: minutes to compile

Pins with springs and dampers, a sphere on each body, 2 cm above the floor at the start, 0.2 s; one thread, processor
time, the least of three. Condyle and OpenSim have laws of Hunt and Crossley with friction (motions agree to
1e-3 rad) and choose their steps at accuracy 1e-3; MuJoCo has soft contacts of its own and steps of 1 ms. What counts is the cost of a
step, and how it grows: as n^g from the first size to the last.

With --muscles: gait10dof18musc and gait2354 fall 0.05 s on 8 spheres below their feet, muscles in equilibrium; the
chain has an elastic muscle over each joint, or every second joint bends with the one before it.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.opensim_process import Answers, OpenSimProcess

LENGTH, RADIUS, MASS, INERTIA = 0.2, 0.05, 1.0, (0.01, 0.02, 0.015)
STIFFNESS, DAMPING = 1000.0, 10.0  # [N m/rad], [N m s/rad]
FLOOR = {"stiffness": 1e6, "dissipation": 1.0, "friction": 0.8}
HEIGHT, SECONDS, ACCURACY, STEP, ROUNDS = RADIUS + 0.02, 0.2, 1e-3, 1e-3, 3
REFERENCE = Path(__file__).parents[2] / "shared/reference"
GAITS = {
    "gait10dof18musc": REFERENCE / "gait10dof18musc_pipeline/subject01.osim",
    "gait2354": REFERENCE / "opensim/Gait2354_Simbody/subject01_simbody.osim",
}
FEET = [
    (f"calcn_{side}", (x, 0.0, z))
    for side in "rl"
    for x, z in ((0.0, 0.0), (0.1, 0.03), (0.2, 0.03), (0.2, -0.03))
]
FOOT, PELVIS, FALL = (
    0.03,
    1.026,
    0.05,
)  # [m] radius of a sphere, height of the pelvis: 2 mm above the floor; [s]


def rubber() -> Any:
    from condyle import contact

    friction = FLOOR["friction"]
    return contact.Material(
        FLOOR["stiffness"],
        dissipation=FLOOR["dissipation"],
        static_friction=friction,
        dynamic_friction=friction,
    )


def condyle_chain(n: int, what: str = "") -> Any:
    """What: "muscles" or "couplers" too."""
    import condyle as cd

    C, material = cd.contact, rubber()
    system = cd.System(gravity=(0, -9.81, 0))
    for k in range(n):
        system.add_body(
            f"b{k}",
            f"b{k - 1}" if k else "ground",
            cd.Pin(),
            X_PF=(LENGTH / 2, 0, 0) if k else (0, HEIGHT, 0),
            X_BM=(-LENGTH / 2, 0, 0),
            mass=MASS,
            inertia=INERTIA,
        )
        system.add_force(f"spring{k}", cd.forces.MobilitySpring(f"b{k}", STIFFNESS, 0.0))
        system.add_force(f"damper{k}", cd.forces.MobilityDamper(f"b{k}", DAMPING))
        floor, ball = (
            C.HalfSpace("ground", (0, 1, 0), 0.0, material),
            C.Sphere(f"b{k}", (0, 0, 0), RADIUS, material),
        )
        system.add_contact(f"contact{k}", floor, ball)
        if what == "muscles":
            above = (f"b{k - 1}", (0, 0.04, 0)) if k else ("ground", (-LENGTH / 2, HEIGHT + 0.04, 0))
            path = cd.paths.Path([above, (f"b{k}", (0, 0.04, 0))])
            system.add_force(f"muscle{k}", cd.muscles.Millard2012(path, 300.0, LENGTH / 2, LENGTH / 2))
        if what == "couplers" and k % 2:
            system.add_constraint(
                f"coupler{k}", cd.constraints.CoordinateCoupler(lambda a, b: a - b, (f"b{k - 1}", f"b{k}"))
            )
    return system


def condyle_gait(name: str) -> Any:
    import condyle as cd

    C, material = cd.contact, rubber()
    system = cd.read_osim(GAITS[name]).copy()
    spheres = [C.Sphere(body, at, FOOT, material) for body, at in FEET]
    system.add_contact("feet", C.HalfSpace("ground", (0, 1, 0), 0.0, material), spheres)
    return system


def opensim_chain(n: int) -> Any:
    import opensim as osim

    model = osim.Model()
    model.setGravity(osim.Vec3(0, -9.81, 0))
    floor = osim.ContactHalfSpace(osim.Vec3(0), osim.Vec3(0, 0, -math.pi / 2), model.getGround(), "floor")
    model.addContactGeometry(floor)
    parent: Any = model.getGround()
    for k in range(n):
        body = osim.Body(f"b{k}", MASS, osim.Vec3(0), osim.Inertia(*INERTIA))
        at = osim.Vec3(LENGTH / 2, 0, 0) if k else osim.Vec3(0, HEIGHT, 0)
        joint = osim.PinJoint(
            f"j{k}", parent, at, osim.Vec3(0), body, osim.Vec3(-LENGTH / 2, 0, 0), osim.Vec3(0)
        )
        joint.updCoordinate().setName(f"q{k}")
        model.addBody(body)
        model.addJoint(joint)
        spring = osim.SpringGeneralizedForce(f"q{k}")
        spring.setStiffness(STIFFNESS)
        spring.setViscosity(DAMPING)
        model.addForce(spring)
        model.addContactGeometry(osim.ContactSphere(RADIUS, osim.Vec3(0), body, f"ball{k}"))
        opensim_contact(model, f"ball{k}")
        parent = body
    return model


def opensim_contact(model: Any, ball: str) -> None:
    """Between the geometry "floor" and another."""
    import opensim as osim

    mu = FLOOR["friction"]
    law = osim.HuntCrossleyForce()
    law.addGeometry("floor")
    law.addGeometry(ball)
    law.setStiffness(FLOOR["stiffness"])
    law.setDissipation(FLOOR["dissipation"])
    law.setStaticFriction(mu)
    law.setDynamicFriction(mu)
    law.setViscousFriction(0.0)
    law.setTransitionVelocity(0.01)
    model.addForce(law)


def opensim_gait(name: str) -> Any:
    import opensim as osim

    model = osim.Model(str(GAITS[name]))
    floor = osim.ContactHalfSpace(osim.Vec3(0), osim.Vec3(0, 0, -math.pi / 2), model.getGround(), "floor")
    model.addContactGeometry(floor)
    for k, (body, at) in enumerate(FEET):
        ball = osim.ContactSphere(FOOT, osim.Vec3(*at), model.getBodySet().get(body), f"ball{k}")
        model.addContactGeometry(ball)
        opensim_contact(model, f"ball{k}")
    return model


def mujoco_chain(n: int, integrator: str) -> Any:
    import mujoco

    bodies = ""
    for k in range(n):
        at = f"{LENGTH} 0 0" if k else f"{LENGTH / 2} {HEIGHT} 0"
        bodies += (
            f'<body pos="{at}"><inertial pos="0 0 0" mass="{MASS}" diaginertia="{" ".join(map(str, INERTIA))}"/>'
            f'<joint axis="0 0 1" pos="{-LENGTH / 2} 0 0" stiffness="{STIFFNESS}" damping="{DAMPING}"/>'
            f'<geom type="sphere" size="{RADIUS}" friction="{FLOOR["friction"]} 0 0" contype="1" conaffinity="2"/>'
        )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><option timestep="{STEP}" gravity="0 -9.81 0" integrator="{integrator}"/>'
        '<size memory="500M"/><worldbody><geom type="plane" zaxis="0 1 0" size="1 1 .1" contype="2" conaffinity="1"/>'
        f"{bodies}{'</body>' * n}</worldbody></mujoco>"
    )


def ours(system: Any, start: Any, seconds: float, method: str) -> tuple[float, int, np.ndarray]:
    """Processor seconds of a run, attempted steps, and q at its end."""
    import condyle as cd

    best = math.inf
    for _ in range(ROUNDS + 1):
        begun = time.thread_time()
        run = cd.simulate(system, start, seconds, integrator=method, accuracy=ACCURACY)
        best = min(best, time.thread_time() - begun)
    assert run.finished, run.status
    return best, run.statistics.steps + run.statistics.rejections, run.q[-1]


def about_chain() -> Answers:
    return {"run": opensim_run}


def opensim_run(n: int | str, method: str) -> tuple[float, Any]:
    """Processor seconds, and q at the end: of a chain of n, or by name of a model of GAITS."""
    import opensim as osim

    osim.Logger.setLevelString("off")
    chain = isinstance(n, int)
    model = opensim_chain(n) if isinstance(n, int) else opensim_gait(n)
    state, best = model.initSystem(), math.inf
    if not chain:
        model.getCoordinateSet().get("pelvis_ty").setValue(state, PELVIS)
        model.equilibrateMuscles(state)
    for _ in range(1 if isinstance(n, int) and n >= 100 else ROUNDS):
        manager = osim.Manager(model)
        manager.setWriteToStorage(False)
        manager.setPerformAnalyses(False)
        manager.setRecordStatesTrajectory(False)
        manager.setIntegratorMethod(getattr(osim.Manager, f"IntegratorMethod_{method}"))
        manager.setIntegratorAccuracy(ACCURACY)
        manager.setIntegratorInternalStepLimit(1_000_000)
        manager.initialize(osim.State(state))
        begun = time.thread_time()
        end = manager.integrate(SECONDS if chain else FALL)
        best = min(best, time.thread_time() - begun)
    if chain:
        return best, end.getQ().to_numpy()
    return best, {c.getName(): c.getValue(end) for c in model.getCoordinateSet()}


def mujoco_run(n: int, integrator: str) -> tuple[float, int]:
    import mujoco

    model, best, steps = mujoco_chain(n, integrator), math.inf, round(SECONDS / STEP)
    for _ in range(ROUNDS):
        data = mujoco.MjData(model)
        begun = time.thread_time()
        for _ in range(steps):
            mujoco.mj_step(model, data)
        best = min(best, time.thread_time() - begun)
    return best, steps


def muscles(given: argparse.Namespace) -> None:
    """Gait models beside OpenSim, and chains with muscles and couplers."""
    layouts = ("auto", "unrolled") if given.dense else ("auto",)
    cases: list[str | tuple[int, str]] = [
        *GAITS,
        *((n, what) for what in ("muscles", "couplers") for n in given.sizes),
    ]
    per_step: dict[tuple[str, str], list[float]] = {}
    for case in cases:
        name, seconds = (case, FALL) if isinstance(case, str) else (f"{case[0]} {case[1]}", SECONDS)
        end: dict[str, float] = {}
        for layout in layouts:
            os.environ["CONDYLE_LAYOUT"] = layout
            system = condyle_gait(case) if isinstance(case, str) else condyle_chain(*case)
            start = system.state(q={"pelvis_ty": PELVIS} if isinstance(case, str) else None)
            if len(start.z):
                start = system.equilibrate_muscles(start)
            for method in ("bdf", "rodas"):
                time_taken, steps, q = ours(system, start, seconds, method)
                apart = max(
                    (abs(end[c] - x) for c, x in zip(system.coordinates, q, strict=True) if c in end),
                    default=0,
                )
                end = end or dict(zip(system.coordinates, q, strict=True))
                if not isinstance(case, str) and layout == "auto":
                    per_step.setdefault((case[1], method), []).append(time_taken / steps)
                print(
                    f"{name:16s}  {method:6s}{layout:9s} {time_taken / seconds:9.3f} s per s  {steps:6d} steps, "
                    f"{1e3 * time_taken / steps:8.3f} ms each, {apart:.1e} from the first",
                    flush=True,
                )
        if isinstance(case, str) and importlib.util.find_spec("opensim") and not given.no_opensim:
            for method in ("CPodes", "RungeKuttaMerson"):
                try:
                    time_taken, found = OpenSimProcess(case, about_chain).ask(
                        "run", method, patience=given.patience
                    )
                except (TimeoutError, RuntimeError) as error:
                    print(f"{name:16s}  opensim {method}: {str(error)[:120]}", flush=True)
                    continue
                apart = max(abs(end[c] - x) for c, x in found.items() if c in end)
                print(
                    f"{name:16s}  opensim {method:16s} {time_taken / seconds:9.3f} s per s, {apart:.1e} from ours",
                    flush=True,
                )

    for (what, method), times in per_step.items():
        if len(times) > 1:
            print(f"{what} {method}: {growth(times, given.sizes)}")


def growth(times: list[float], sizes: list[int]) -> str:
    """As n^g from the first size to the last."""
    g = math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])
    return f"grows as n^{g:.2f} from {sizes[0]} to {sizes[-1]}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", nargs="*", type=int, default=[30, 100, 300])
    parser.add_argument("--no-opensim", action="store_true")
    parser.add_argument(
        "--patience", type=float, default=120.0, help="seconds that OpenSim may take for a run"
    )
    parser.add_argument(
        "--muscles", action="store_true", help="gait models, and chains with muscles, with couplers"
    )
    parser.add_argument("--dense", action="store_true", help="beside the matrix of all states")
    given = parser.parse_args()
    os.environ["CONDYLE_THREADS"] = "1"
    muscles(given) if given.muscles else chains(given)


def chains(given: argparse.Namespace) -> None:
    """Chains of each size beside MuJoCo and OpenSim."""
    per_step: dict[str, list[float]] = {}

    def line(n: int, name: str, seconds: float, steps: int | None, more: str = "") -> None:
        each = seconds / steps if steps else math.nan
        per_step.setdefault(name, []).append(each if steps else seconds)
        counted = f"{steps:6d} steps, {1e3 * each:8.3f} ms each" if steps else " " * 31
        print(f"{n:6d}  {name:22s} {seconds / SECONDS:9.3f} s per s  {counted}  {more}", flush=True)

    for n in given.sizes:
        ends = {}
        for method in ("bdf", "rodas"):
            system = condyle_chain(n)
            seconds, steps, ends[method] = ours(system, system.state(), SECONDS, method)
            line(n, f"condyle {method}", seconds, steps)
        print(f"{'':8}apart by {np.abs(ends['bdf'] - ends['rodas']).max():.1e} rad at the end")
        if importlib.util.find_spec("mujoco"):
            for integrator in ("implicit", "implicitfast"):
                line(n, f"mujoco {integrator}", *mujoco_run(n, integrator))
        if importlib.util.find_spec("opensim") and not given.no_opensim:
            for method in ("CPodes", "RungeKuttaMerson"):
                try:
                    seconds, q = OpenSimProcess(n, about_chain).ask("run", method, patience=given.patience)
                    line(
                        n,
                        f"opensim {method}",
                        seconds,
                        None,
                        f"{np.abs(q - ends['rodas']).max():.1e} rad from ours",
                    )
                except (TimeoutError, RuntimeError) as error:
                    print(f"{n:6d}  opensim {method}: {str(error)[:120]}", flush=True)
    for name, times in per_step.items():
        if len(times) == len(given.sizes) > 1:
            print(f"{name}: {growth(times, given.sizes)}")


if __name__ == "__main__":
    main()
