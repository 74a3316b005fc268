"""`cd.personalize` beside nimblephysics' MarkerFitter, and against subjects made up.

    python -m benchmarks.personal MODEL.osim MARKERS.xml STATIC.trc WALK.trc [--mass 72.6] [--height 1.8]
    python -m benchmarks.personal ... --nimble PYTHON SCRIPT DATA    # a Python with nimblephysics and numpy < 2
    python -m benchmarks.personal ... --truth 20 --skin 0 5 10 --seed 200    # statistics over subjects made up
    python -m benchmarks.personal ... --masses 20 --skin 5                   # their masses, from forces

MARKERS is - where the model has its own. Subjects made up wear the markers that the recordings show.

Times are processor seconds; run it with OPENBLAS_NUM_THREADS=1 CONDYLE_THREADS=1 for those of one thread. SCRIPT runs the engine with the arguments MODEL - WALK MASS HEIGHT OUT
ITERATIONS RESTARTS DATA in an environment of its own, and writes OUT.json with "cpu" and "rmse".
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import condyle as cd
from condyle.personal.anthropometry import generic_stature, groups, role
from condyle.personal.landmarks import kind_by_name
from condyle.personal.sized_system import kinematics_only


def speed(model: cd.System, given: dict[str, Any]) -> float:
    """Times of the first call in this process and of the next; returns the latter."""
    for label in ("first call", "again"):
        start = time.process_time()
        person = cd.personalize(model, **given)
        seconds = time.process_time() - start
        print(f"{label}: {seconds:.2f} s, {len(person.motions[0])} frames, RMS {1e3 * person.rms[0]:.1f} mm")
    return seconds


def nimble(
    python: str, script: str, data: str, model: cd.System, walk: Path, mass: float, height: float
) -> float:
    """Processor seconds of nimblephysics on the same walk."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        cd.write_osim(model, at / "model.osim")
        command = [
            python,
            script,
            at / "model.osim",
            "-",
            walk.resolve(),
            mass,
            height,
            at / "out",
            500,
            150,
            data,
        ]
        subprocess.run([str(x) for x in command], check=True, stdout=subprocess.DEVNULL)
        found = json.loads((at / "out.json").read_text())
    print(f"nimblephysics: {found['cpu']:.0f} s, RMS {1e3 * found['rmse']:.1f} mm")
    return float(found["cpu"])


def subject(
    model: cd.System, t: Any, q: Any, seed: int, skin: float
) -> tuple[dict[str, Any], cd.System, dict[str, Any]]:
    """A subject of other sizes (6 % whole, 5 % segments, 3 % axes), markers off by 7 and 30 mm, skin that moves."""
    rng = np.random.default_rng(seed)
    whole, drawn, factors = 1 + 0.06 * rng.normal(), {}, {}
    for body, g in groups(model, True).items():
        drawn.setdefault(g, whole * (1 + 0.05 * rng.normal()) + 0.03 * rng.normal(size=3))
        factors[body] = drawn[g]
    true = cd.scale(model, factors=factors).system
    worn = {}
    for n in model.markers:
        cluster = kind_by_name(n, role(model.marker(n).body)) != "anatomical"
        worn[n] = np.array(true.marker(n).station) + rng.normal(size=3) * (0.03 if cluster else 0.007)

    def seen(q: Any, t: Any, skin: float) -> cd.Markers:
        X, columns = true.body_poses(q), []
        for n in model.markers:
            b = true.body(true.marker(n).body).index
            move = skin * np.outer(np.sin(2 * np.pi * t / 1.2 + rng.uniform(0, 6.3)), rng.normal(size=3))
            columns.append(X.p[:, b] + np.einsum("tij,tj->ti", X.R[:, b], worn[n] + move))
        y = np.stack(columns, axis=1)
        return cd.Markers(t, model.markers, y + rng.normal(scale=0.0005, size=y.shape))

    still = np.tile(true.defaults()[0], (20, 1))
    for b in true.bodies:
        if b.parent is not None and not b.parent.is_ground:
            still[:, b.q] += np.radians(3) * rng.normal(size=b.q.stop - b.q.start)
    static = seen(still, np.arange(20) / 60, 0.0)
    height = generic_stature(model)
    given = {
        "trials": seen(q, t, skin),
        "static": static,
        "height": None if height is None else height * whole,
    }
    return given, true, factors


def weighed(model: cd.System, t: Any, q: Any, seed: int, skin: float) -> tuple[dict[str, Any], cd.System]:
    """A subject with other masses (10 % segments, 2 cm trunk), and the force that carries it."""
    given, true, _ = subject(model, t, q, seed, skin)
    rng = np.random.default_rng(seed + 10_000)
    drawn: dict[str, Any] = {}
    changed: dict[str, Any] = {}
    for body, g in groups(model, True).items():
        b = true.body(body)
        f = drawn.setdefault(g, float(np.exp(0.1 * rng.normal()))) * model.body(body).mass / b.mass
        com = np.array(b.mass_properties.com) + (role(body) == "trunk") * 0.02 * rng.normal(size=3)
        changed[body] = {"mass": b.mass * f, "com": com, "inertia": np.array(b.mass_properties.inertia) * f}
    true = true.copy(bodies=changed)
    root = next(b for b in true.bodies if b.parent is not None and b.parent.is_ground)
    motion = cd.Table(t, true.coordinates, q, ["rad" if u == "rad" else "m" for u in _units(true)])
    needed = cd.inverse_dynamics(true, motion).values[:, root.u]
    J = true.kinematics.system_jacobian(q)[:, root.index][..., root.u]
    M, F = np.split(np.linalg.solve(np.swapaxes(J, 1, 2), needed[..., None])[..., 0], 2, axis=1)
    M = M + np.cross(true.body_poses(q).p[:, root.index], F)
    point = np.stack([M[:, 2], 0 * M[:, 1], -M[:, 0]], axis=1) / F[:, 1:2]  # on the floor, y = 0
    names = [f"{k}{a}" for k in ("torque_", "force_", "point_") for a in "xyz"]
    table = cd.Table(t, names, np.concatenate([M - np.cross(point, F), F, point], axis=1))
    load = cd.ExternalLoad(root.name, table, force="force_", point="point_", torque="torque_")
    return given | {"loads": [load]}, true


def _units(system: cd.System) -> list[str]:
    return [u for b in system.bodies for u in b.mobilizer.units]


def masses(model: cd.System, t: Any, q: Any, count: int, skin: float, first: int) -> None:
    """Masses and mass centers of trunk and legs beside the truth and beside the prior."""
    rows = []
    for seed in range(first, first + count):
        given, true = weighed(model, t, q, seed, skin)
        person = cd.personalize(model, **given)
        found = {b.name: b for b in person.system.bodies}
        total, whole = (sum(b.mass for b in s.bodies) for s in (true, model))
        share = lambda b, total=total, whole=whole: model.body(b.name).mass * total / whole
        parts = {"trunk": ("trunk", "pelvis"), "torso": ("trunk",), "thigh": ("thigh",), "shank": ("shank",)}
        off = []
        for roles in parts.values():
            of = [b for b in true.bodies if role(b.name) in roles]
            real = sum(b.mass for b in of)
            off.append(
                [
                    100 * (sum(map(f, of)) / real - 1)
                    for f in (lambda b, found=found: found[b.name].mass, share)
                ]
            )
        trunk = next(b for b in true.bodies if role(b.name) == "trunk")
        scaled = np.array(model.body(trunk.name).mass_properties.com) * person.factors[trunk.name]
        com = [
            np.array(x) - np.array(trunk.mass_properties.com)
            for x in (found[trunk.name].mass_properties.com, scaled)
        ]
        rows.append(
            [
                *off,
                [1e3 * np.linalg.norm(x) for x in com],
                [100 * abs(sum(b.mass for b in found.values()) / total - 1), 0.0],
            ]
        )
    mean = np.sqrt((np.array(rows) ** 2).mean(axis=0))
    worst = np.abs(np.array(rows)).max(axis=0)
    print("| what, root mean square | found | prior | worst found |\n|---|---|---|---|")
    for name, x, w in zip(
        ("torso and pelvis mass %", "torso mass %", "thigh mass %", "shank mass %", "trunk center mm"),
        mean,
        worst,
        strict=False,
    ):
        print(f"| {name} | {x[0]:.1f} | {x[1]:.1f} | {w[0]:.1f} |")
    print(f"total {mean[-1][0]:.2f} %, worst {worst[-1][0]:.2f} %, over {count} subjects", flush=True)


def truth(model: cd.System, t: Any, q: Any, count: int, skin: float, first: int) -> None:
    """Joint centers, angles and how many sizes are within two of their standard deviations."""
    rows, inside = [], []
    for seed in range(first, first + count):
        given, true, factors = subject(model, t, q, seed, skin)
        person = cd.personalize(model, **given)
        at = person.sized.parameters(np.exp(person.fit.theta))
        A, B = person.sized.system.body_poses(person.followed[0].q, parameters=at), true.body_poses(q)
        off = 1e3 * np.linalg.norm(A.p - B.p, axis=-1).mean(axis=0)
        joints = {
            r: [b.index for b in true.bodies if b.name.startswith(r)] for r in ("femur", "tibia", "talus")
        }
        of_legs = ("hip", "knee_angle", "ankle")
        legs = [k for k, n in enumerate(true.coordinates) if n.startswith(of_legs) and not n.endswith("beta")]
        angles = np.degrees(np.sqrt(((person.followed[0].q - q)[:, legs] ** 2).mean()))
        rows.append([*(off[k].mean() for k in joints.values()), angles])
        names, s = person.sizes.names, np.log(person.sizes.values)
        real = np.zeros(len(names))
        for b, k in person.sized.which.items():
            real[k] = np.log(factors[b])
        inside.append(np.abs(s - real) < 2 * np.sqrt(np.diag(person.fit.covariance)[: len(s)]))
    hip, knee, ankle, angle = np.mean(rows, axis=0)
    print(
        f"| {1e3 * skin:.0f} | {count} | {hip:.1f} | {knee:.1f} | {ankle:.1f} | {angle:.2f} | {100 * np.mean(inside):.0f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("model", "markers", "static", "walk"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--mass", type=float, default=72.6)
    parser.add_argument("--height", type=float, default=1.8034)
    parser.add_argument("--nimble", nargs=3, metavar=("PYTHON", "SCRIPT", "DATA"))
    parser.add_argument("--truth", type=int, default=0)
    parser.add_argument("--masses", type=int, default=0)
    parser.add_argument("--seed", type=int, default=200)
    parser.add_argument("--skin", type=float, nargs="*", default=[0.0, 5.0, 10.0], help="[mm]")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    model = cd.read_osim(given.model, add=[] if str(given.markers) == "-" else [given.markers])
    walk = cd.read_markers(given.walk)
    options = {
        "trials": walk,
        "static": cd.read_markers(given.static),
        "mass": given.mass,
        "height": given.height,
    }
    ours = speed(model, options)
    if given.nimble:
        theirs = nimble(*given.nimble, model, given.walk, given.mass, given.height)
        print(f"{theirs / ours:.0f} times as fast")
    if given.truth or given.masses:
        recorded = {*walk.names, *options["static"].names}
        bare = kinematics_only(model).copy(
            markers=dict.fromkeys(n for n in model.markers if n not in recorded)
        )
        motion = cd.low_pass(cd.personalize(bare, **options).motions[0], 6.0)
        q = motion[list(bare.coordinates)].values
    if given.masses:
        for skin in given.skin:
            masses(bare, motion.time, q, given.masses, skin / 1e3, given.seed)
    if given.truth:
        print(
            "| skin mm | subjects | hip mm | knee mm | ankle mm | angles deg | sizes within 2 sd % |\n|---|---|---|---|---|---|---|"
        )
        for skin in given.skin:
            truth(bare, motion.time, q, given.truth, skin / 1e3, given.seed)


if __name__ == "__main__":
    main()
