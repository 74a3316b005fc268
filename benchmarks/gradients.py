"""Gradients of runs: what they cost beside the run, beside differences, and beside Diffrax.

    python -m benchmarks.gradients                    all cases; some minutes
    python -m benchmarks.gradients --only tree arm
    python -m benchmarks.gradients --peer PYTHON      a chain beside Diffrax, in a Python that has it

Times are processor time, the least of some rounds, as multiples of the run itself at the same accuracy: `vjp` the
gradient of one number by everything, `jvp` one direction, `column` one of all of a Jacobian, side by side in lanes,
`differences` two runs for each direction, as many as the gradient has. `off` is how far w . J v is from itself, two
ways.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

REFERENCE = Path(__file__).parents[2] / "shared/reference/gait10dof18musc_pipeline/subject01.osim"
ROUNDS = 7


def tree(n: int = 30) -> tuple[Any, Any, float]:
    """A random tree of pins, about axes of their own, six masses Parameters."""
    import condyle as cd

    rng, system, names = np.random.default_rng(0), cd.System(), ["ground"]
    for i in range(n):
        mass = cd.Parameter(f"m{i}", 1.0 + rng.random()) if i % 5 == 0 else 1.3
        pin, parent = cd.Pin(axis=rng.normal(size=3)), names[rng.integers(max(0, i - 3), i + 1)]
        shape = {"com": rng.normal(size=3) * 0.1, "inertia": (0.1, 0.12, 0.14)}
        system.add_body(f"b{i}", parent, pin, X_PF=rng.normal(size=3) * 0.3, mass=mass, **shape)
        names.append(f"b{i}")
    return system, system.state(q=rng.normal(size=n), u=rng.normal(size=n)), 1.0


def arm() -> tuple[Any, Any, float]:
    """arm26: six muscles with elastic tendons over wraps."""
    import condyle as cd

    system = cd.models.arm26()
    z = system.state().z.copy()
    z[::2] = 0.3
    state = system.state(q=[0.3, 0.6], z=z, inputs=np.full(6, 0.4))
    return system, system.equilibrate_muscles(state), 0.5


def gait() -> tuple[Any, Any, float]:
    """gait10dof18musc: 18 elastic muscles; a fall from its default pose."""
    import condyle as cd

    system = cd.read_osim(REFERENCE)
    return system, system.equilibrate_muscles(system.state()), 0.2


def foot() -> tuple[Any, Any, float]:
    """A free body on twelve smooth compliant contacts."""
    import condyle as cd

    skin = cd.contact.Material(
        1e5, dissipation=1.0, static_friction=cd.Parameter("mu", 0.8), dynamic_friction=0.7
    )
    system = cd.System()
    system.add_body("foot", mobilizer=cd.Free(), mass=5.0, inertia=(0.02, 0.03, 0.02))
    for i in range(12):
        p = (0.05 * (i % 4) - 0.075, -0.04, 0.04 * (i // 4) - 0.04)
        surface = cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, skin)
        system.add_contact(f"c{i}", surface, cd.contact.Sphere("foot", p, 0.01, skin), smooth=1e-4)
    q, u = system.defaults()
    q, u = q.copy(), u + 0.2
    q[system.coordinates.index("foot_ty")] = 0.05
    return system, system.state(q=q, u=u), 0.3


CASES = {"tree": tree, "arm": arm, "gait": gait, "foot": foot}


def least(f: Callable[[], Any]) -> float:
    f()
    best = np.inf
    for _ in range(ROUNDS):
        begin = time.process_time()
        f()
        best = min(best, time.process_time() - begin)
    return best


def case(name: str, method: str, accuracy: float) -> dict[str, float]:
    import condyle as cd

    system, state, t = CASES[name]()
    run = lambda: cd.simulate(system, state, t, accuracy=accuracy, integrator=method)
    traj = run()
    rng, n = np.random.default_rng(1), traj.y.shape[1]
    w, v = rng.normal(size=n), {"u": rng.normal(size=system.nu)}
    begin = time.perf_counter()
    g = traj.vjp(w)
    first = time.perf_counter() - begin
    base, directions = least(run), sum(x.size for x in g.values())
    both = float(w @ traj.jvp(v)), float(g["u"] @ v["u"])
    wrt = ("q", "u", "z")
    columns = sum(x.shape[-1] for x in traj.jacobian(wrt=wrt).values())
    return {
        "steps": traj.statistics.steps,
        "run [ms]": base * 1e3,
        "vjp": least(lambda: traj.vjp(w)) / base,
        "jvp": least(lambda: traj.jvp(v)) / base,
        "column": least(lambda: traj.jacobian(wrt=wrt)) / base / columns,
        "differences": 2.0 * directions,
        "off": abs(both[0] / both[1] - 1),
        "first [s]": first,
    }


def ensemble(members: int = 64) -> dict[str, float]:
    import condyle as cd

    system, _, _ = tree()
    rng = np.random.default_rng(2)
    start = {"q": rng.normal(size=(members, 30)), "u": rng.normal(size=(members, 30))}
    run = lambda: cd.simulate(system, start, 0.3, accuracy=1e-6, keep="steps", threads=1)
    ens, w = run(), np.ones((members, 60))
    return {"run [ms]": least(run) * 1e3, "vjp": least(lambda: ens.vjp(w)) / least(run)}


PEER = """
import json, time
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_enable_x64", True)
n, g = 10, 9.81
i = jnp.arange(n); W = n - jnp.maximum(i[:, None], i[None, :])

def f(t, y, m):
    q, u = y[:n], y[n:]
    c, s = jnp.cos(q[:, None] - q[None, :]), jnp.sin(q[:, None] - q[None, :])
    return jnp.concatenate([u, jnp.linalg.solve(m * W * c, -(m * W * s) @ u**2 - g * m * (n - i) * jnp.sin(q))])

def least(run):
    run(); best = 1e9
    for _ in range(5):
        b = time.process_time(); run(); best = min(best, time.process_time() - b)
    return best

y0 = jnp.concatenate([0.5 + 0.1 * jnp.arange(n), jnp.zeros(n)])
out = {}
try:
    import diffrax
    def end(y, m, adjoint):
        return diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, a: f(t, y, a)), diffrax.Dopri5(), 0.0, 1.0, 1e-2, y, args=m, max_steps=4096,
            stepsize_controller=diffrax.PIDController(rtol=1e-7, atol=1e-7), adjoint=adjoint).ys[-1]
    run = jax.jit(lambda y, m: end(y, m, diffrax.RecursiveCheckpointAdjoint()))
    grad = jax.jit(jax.grad(lambda y, m: end(y, m, diffrax.RecursiveCheckpointAdjoint()).sum(), argnums=(0, 1)))
    b = time.perf_counter(); jax.block_until_ready(grad(y0, 1.0)); first = time.perf_counter() - b
    out["Diffrax"] = {"run [ms]": 1e3 * least(lambda: jax.block_until_ready(run(y0, 1.0))), "gradient [ms]": 1e3 * least(lambda: jax.block_until_ready(grad(y0, 1.0))), "first [s]": first}
except ImportError as e:
    out["Diffrax"] = str(e)
print(json.dumps(out))
"""


def chain() -> dict[str, float]:
    """Ours of the peers' chain: ten points of 1 kg, 1 m apart."""
    import condyle as cd

    system, parent = cd.System(), "ground"
    mass = cd.Parameter("m", 1.0)
    for i in range(10):
        place = {"X_PF": (0, -1.0 if i else 0, 0), "com": (0, -1.0, 0), "inertia": (0, 0, 0)}
        system.add_body(f"b{i}", parent, cd.Pin(), mass=mass, **place)
        parent = f"b{i}"
    q = np.diff(0.5 + 0.1 * np.arange(10), prepend=0.0)
    run = lambda: cd.simulate(system, system.state(q=q), 1.0, accuracy=1e-6, integrator="dormand-prince")
    begin = time.perf_counter()
    traj = run()
    w = np.ones(20)
    traj.vjp(w)
    first = time.perf_counter() - begin
    both = lambda: run().vjp(w)
    return {"run [ms]": 1e3 * least(run), "gradient [ms]": 1e3 * least(both), "first [s]": first}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--peer", help="a Python with jax and diffrax")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.only:
        if name == "gait" and not REFERENCE.exists():
            print("gait: its model is not here")
            continue
        for method in ("merson", "dormand-prince"):
            row = case(name, method, 1e-6 if name in ("tree", "arm") else 1e-4)
            print(f"{name}, {method}: " + ", ".join(f"{key} {x:.3g}" for key, x in row.items()), flush=True)
    if "tree" in given.only:
        print("64 trees side by side: " + ", ".join(f"{key} {x:.3g}" for key, x in ensemble().items()))
    if given.peer:
        print("chain of ten, ours:", {key: round(x, 3) for key, x in chain().items()})
        found = subprocess.run([given.peer, "-c", PEER], capture_output=True, text=True, check=False)
        print("peers:", json.loads(found.stdout) if not found.returncode else found.stderr[-500:])


if __name__ == "__main__":
    main()
