"""Elastic foundations beside OpenSim: a mesh of 1,280 faces on a half-space, on a sphere and on a mesh, cost
over faces in contact; nearest points on a mesh beside libigl.

    python -m benchmarks.contact_meshes     # needs the [peers] extra for the ratios, libigl for the second

All engines run in turns in one run, times are processor times, the least of several.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.contact import target
from benchmarks.opensim_contact import about_contact
from benchmarks.opensim_process import OpenSimProcess
from benchmarks.timing import Clock

if TYPE_CHECKING:
    import condyle as cd

MATERIAL = (1e7, 0.5, 0.9, 0.6, 0.1, 0.1)
RADIUS, UNDER, STATES, ROUNDS = 0.1, 0.3, 200, 7
DEPTHS = (-0.01, 0.001, 0.003, 0.01, 0.03, 0.1)


def icosphere(times: int, radius: float) -> tuple[Any, Any]:
    """Vertices and triangles of an icosahedron, each triangle cut in four so many times."""
    phi = (1 + 5**0.5) / 2
    v = np.array([(s * a, t * b, 0) for s, t in ((-1, 1), (1, 1), (-1, -1), (1, -1)) for a, b in ((1, phi),)])
    v = np.concatenate([np.roll(v, k, axis=1) for k in range(3)]) / np.hypot(1, phi)
    near = np.linalg.norm(v[:, None] - v, axis=2)
    edge = np.sort(near, axis=1)[0, 1] * 1.01
    f = np.array(
        [
            (i, j, k) if np.linalg.det(v[[i, j, k]]) > 0 else (i, k, j)
            for i in range(12)
            for j in range(i + 1, 12)
            for k in range(j + 1, 12)
            if near[i, j] < edge and near[j, k] < edge and near[i, k] < edge
        ]
    )
    for _ in range(times):
        edges = np.sort(np.stack([f, np.roll(f, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
        pairs, which = np.unique(edges, axis=0, return_inverse=True)
        m = which.reshape(-1, 3) + len(v)
        f = np.concatenate([*(np.stack([f[:, k], m[:, k], m[:, k - 1]], axis=1) for k in range(3)), m])
        v = np.concatenate([v, v[pairs].mean(axis=1)])
        v /= np.linalg.norm(v, axis=1)[:, None]
    return radius * v, f


def write_obj(path: Path, mesh: tuple[Any, Any]) -> str:
    v, f = mesh
    path.write_text(
        "".join(f"v {' '.join(map(repr, map(float, p)))}\n" for p in v)
        + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in f),
        encoding="utf-8",
    )
    return str(path)


def ball(kind: str, mesh: Any) -> cd.System:
    """A free ball of triangles on what is below it."""
    import condyle as cd

    C, m = cd.contact, cd.contact.Material(*MATERIAL)
    system = cd.System(gravity=(0, -9.80665, 0))
    system.add_body("ball", mobilizer=cd.Bushing(), mass=1.0, inertia=(0.004,) * 3)
    if kind == "nothing":
        return system
    below = {
        "half-space": lambda: C.HalfSpace("ground", (0, 1, 0), 0.0, m),
        "sphere": lambda: C.Sphere("ground", (0, -UNDER, 0), UNDER, m),
        "mesh": lambda: C.Mesh("ground", (0, -RADIUS, 0), mesh, 1.0, m),
    }[kind]()
    system.add_contact("contact", below, C.Mesh("ball", None, mesh, 1.0, m), law=C.OpenSimElasticFoundation)
    return system


def states(depth: float) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    q, u = np.zeros((STATES, 6)), rng.uniform(-0.1, 0.1, (STATES, 6))
    q[:, :3] = rng.uniform(-0.5, 0.5, (STATES, 3))
    q[:, 4] = RADIUS - depth
    return q, u


def ours(system: cd.System, q: Any, u: Any) -> float:
    """Processor time of forward dynamics, one state after the other in one call [s]."""
    best = np.inf
    system.forward_dynamics(q, u)
    for _ in range(ROUNDS):
        with Clock() as clock:
            system.forward_dynamics(q, u)
        best = min(best, clock.cpu / len(q))
    return best


def beside_opensim(folder: Path) -> None:
    mesh = icosphere(3, RADIUS)
    file = write_obj(folder / "ball.obj", mesh)
    file_below = write_obj(folder / "below.obj", (mesh[0] - (0, RADIUS, 0), mesh[1]))
    bodies = [("ball", "ground", "free", (0, 0, 0), 1.0, (0, 0, 0), (0.004,) * 3)]
    common = {"gravity": (0, -9.80665, 0), "bodies": bodies, "spheres": [], "material": MATERIAL}
    specs = {
        "half-space": {**common, "meshes": [("ball", file)]},
        "sphere": {**common, "meshes": [("ball", file)], "under": UNDER},
        "mesh": {**common, "meshes": [("ball", file), ("ground", file_below)]},
        "nothing": common,
    }
    peer = OpenSimProcess(specs, about_contact) if importlib.util.find_spec("opensim") else None
    systems = {kind: ball(kind, mesh) for kind in specs}
    print("forward dynamics of a ball of 1,280 triangles [us]   faces    Condyle   OpenSim   times")
    for kind, system in systems.items():
        times: list[tuple[int, float, float]] = []
        for depth in DEPTHS if kind != "nothing" else DEPTHS[:1]:
            q, u = states(depth)
            few = len(q) if kind != "mesh" else 20
            touch = (
                0
                if kind == "nothing"
                else int(
                    np.mean((system.contacts.pressures(q[:20], u[:20], "contact", "ball") > 0).sum(axis=-1))
                )
            )
            mine = ours(system, q[:few], u[:few])
            line = f"  {f'on {kind}, depth {1e3 * depth:g} mm':50s} {touch:5d} {1e6 * mine:10.2f}"
            if peer is not None:
                them = min(peer.ask("seconds", kind, q[:20], u[:20])[0] for _ in range(3))
                line += f" {1e6 * them:9.1f} {them / mine:7.1f}"
                times.append((touch, mine, them))
            print(line)
        touching = [(faces, mine, them) for faces, mine, them in times if faces]
        if touching and kind != "mesh":
            least = min(them / mine for _, mine, them in touching)
            target("OpenSim over ours, the least where faces touch", least, 20, most=False)
            more = touching[-1][0] / touching[1][0]
            target("cost grows less than the faces that touch", touching[-1][1] / touching[1][1], more)


def nearest() -> None:
    """Nearest points on 1,280 triangles, of points at some distance from them."""
    import casadi as ca

    from condyle.contact.mesh import nearest_triangle, on_triangle
    from condyle.contact.triangles import checked
    from condyle.native.calls.native_function import NativeFunction
    from condyle.native.tables.lookup import look_up
    from condyle.native.tables.staged import build_function

    igl: Any = importlib.import_module("igl") if importlib.util.find_spec("igl") else None
    mesh = icosphere(3, RADIUS)
    y = ca.SX.sym("y", 3)
    row = look_up(nearest_triangle(checked(*mesh, "ball")), ca.vertcat(y, ca.inf))
    mine = NativeFunction(
        "depth",
        lambda: build_function("depth", [y], [on_triangle(row, y)[0]]),
        key="benchmark nearest",
        inputs=[("y", 3)],
        outputs=[("x", 1)],
    )
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    print("nearest point on 1,280 triangles, with its sign [ns]            Condyle   libigl")
    for r in (0.5, 0.9, 0.98, 1.0, 1.02, 1.1, 2.0):
        at = RADIUS * r * points
        calls = [lambda at=at: mine(at)]
        if igl is not None:
            kind = igl.SIGNED_DISTANCE_TYPE_PSEUDONORMAL
            calls.append(lambda at=at, kind=kind: igl.signed_distance(at, *mesh, kind))
        best = [np.inf] * len(calls)
        for _ in range(4):
            for k, call in enumerate(calls):
                before = time.process_time()  # libigl has threads of its own
                call()
                best[k] = min(best[k], (time.process_time() - before) / len(at))
        print(f"  at {r:4.2f} of the radius {'':38s}" + "".join(f" {1e9 * t:9.0f}" for t in best))


def main() -> None:
    os.environ["CONDYLE_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        beside_opensim(Path(folder))
    nearest()


if __name__ == "__main__":
    main()
