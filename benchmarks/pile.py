"""Balls fall into a box and come to rest: time stepping of rigid contacts beside MuJoCo.

    python -m benchmarks.pile               # 100, 300 and 1,000; needs the [peers] extra for MuJoCo
    python -m benchmarks.pile 100           # so many balls
    python -m benchmarks.pile chains        # 20 chains of three balls with ball joints

Both take steps of 2 ms from the same start, in one run: three seconds of 100 balls, one of more; times are
processor times of one thread, of 100 balls the least of three. MuJoCo's contacts are soft: once with its
default solref and solimp, once as stiff as it allows (a time constant of two steps, solimp near 1); ours are
rigid. The second run of ours ends its sweeps at 1 cm/s, a hundred times the default: overlaps of chains are then
about as small at rest as those of MuJoCo's stiff contacts, and smaller while they fall.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.timing import Clock

if TYPE_CHECKING:
    import condyle as cd

RADIUS, MASS, FRICTION, STEP = 0.05, 0.5, 0.5, 2e-3
SIZES = {100: (3.0, 3), 300: (1.0, 1), 1000: (1.0, 1)}
"""Seconds and rounds by the number of balls."""
MOST_NEWTON = 300
"""Balls up to which MuJoCo's Newton is run: it took 65 ms a step there, eight times its other solver."""
GRAVITY = (0.0, 0.0, -9.81)


@dataclass
class Pile:
    """Where balls start, layer on layer, how wide their box is, and how many are a chain, with ball joints
    in the middle between them."""

    places: np.ndarray
    width: float
    chain: int = 1

    @staticmethod
    def chains(count: int) -> Pile:
        """Chains of three, side by side along x, layer on layer."""
        gap, side = 2.3 * RADIUS, 2
        k = np.arange(3 * count)
        grid = np.stack(
            [k % 3 - 1 + 3.2 * (k // 3 % side - 0.5), k // (3 * side) % 3 - 1.0, k // (9 * side) + 0.6],
            axis=1,
        )
        noise = np.random.default_rng(0).uniform(-0.005, 0.005, (count, 3)).repeat(3, axis=0)
        return Pile(gap * grid + noise, 4 * gap, 3)

    @staticmethod
    def of(count: int) -> Pile:
        side = max(2, round((count / 6) ** 0.5))
        gap = 2.3 * RADIUS
        layer, rest = np.divmod(np.arange(count), side * side)
        grid = np.stack([rest // side - (side - 1) / 2, rest % side - (side - 1) / 2, layer + 0.6], axis=1)
        return Pile(
            gap * grid + np.random.default_rng(0).uniform(-0.005, 0.005, grid.shape), gap * side / 2 + 0.02
        )


def condyle_pile(pile: Pile, tolerance: float = 1e-4) -> tuple[cd.System, cd.State, Any]:
    import condyle as cd

    C = cd.contact
    m = C.Rigid(0.0, FRICTION)
    system = cd.System(gravity=GRAVITY)
    balls = []
    for k, place in enumerate(pile.places):
        ties: dict[str, Any] = {"mobilizer": cd.Free()}
        if k % pile.chain:
            half = (place - pile.places[k - 1]) / 2
            ties = {"mobilizer": cd.Ball(), "parent": f"b{k - 1}", "X_PF": tuple(half), "X_BM": tuple(-half)}
        system.add_body(f"b{k}", **ties, mass=MASS, inertia=(0.4 * MASS * RADIUS**2,) * 3)
        neighbors = [f"{j}" for j in (k, k + 1) if pile.chain > 1 and j % pile.chain]
        balls.append(C.Sphere(f"b{k}", (0, 0, 0), RADIUS, m, cliques=neighbors))
    walls = [
        C.HalfSpace("ground", n, d, m)
        for n, d in (
            ((0, 0, 1), 0.0),
            *((side, -pile.width) for side in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))),
        )
    ]
    q = {
        f"b{k}_t{a}": x
        for k in range(0, len(balls), pile.chain)
        for a, x in zip("xyz", pile.places[k], strict=True)
    }
    return (
        system,
        system.state(q=q),
        cd.integrators.TimeStepping([*walls, *balls], tolerance=tolerance, every=50),
    )


STIFF = 'solref="{} 1" solimp="0.99 0.9999 0.0001"'


def mujoco_pile(pile: Pile, stiff: bool = False) -> Any:
    """MuJoCo's model; stiff: its time constant is two steps, the least that it takes."""
    import mujoco

    w, size = pile.width, 'size="1 1 .1"'
    hard = STIFF.format(2 * STEP) if stiff else ""
    walls = "".join(
        f'<geom type="plane" pos="{x} {y} 0" zaxis="{-x / w:g} {-y / w:g} 0" {size}/>'
        for x, y in ((w, 0), (-w, 0), (0, w), (0, -w))
    )
    balls = ""
    for k, place in enumerate(pile.places):
        within = k % pile.chain
        x, y, z = place - pile.places[k - 1] if within else place
        joint = f'<joint type="ball" pos="{-x / 2} {-y / 2} {-z / 2}"/>' if within else "<freejoint/>"
        balls += f'<body pos="{x} {y} {z}">{joint}<geom type="sphere" size="{RADIUS}" mass="{MASS}"/>'
        balls += "</body>" * pile.chain if within == pile.chain - 1 else ""
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{STEP}" gravity="0 0 -9.81"><flag energy="enable"/></option>'
        f'<default><geom friction="{FRICTION} 0 0" condim="3" {hard}/></default><size memory="200M"/>'
        f'<worldbody><geom type="plane" {size}/>{walls}{balls}</worldbody></mujoco>'
    )


def depth(p: np.ndarray, pile: Pile) -> float:
    """The largest overlap of balls and walls at places (n, 3) [m]; neighbors in a chain do not touch."""
    from scipy.spatial import cKDTree

    i, j = cKDTree(p).query_pairs(2 * RADIUS, output_type="ndarray").T
    apart = (np.abs(i - j) > 1) | (i // pile.chain != j // pile.chain)
    i, j, width = i[apart], j[apart], pile.width
    each = 2 * RADIUS - np.linalg.norm(p[i] - p[j], axis=1)
    walls = np.abs(p[:, :2]).max() + RADIUS - width
    return float(max(each.max(initial=0.0), RADIUS - p[:, 2].min(), walls))


def ours(pile: Pile, seconds: float, rounds: int, tolerance: float) -> float:
    import condyle as cd

    system, start, method = condyle_pile(pile, tolerance)
    cd.simulate(system, start, 2 * STEP, step=STEP, integrator=method)  # compiles
    best = np.inf
    for _ in range(rounds):
        with Clock() as clock:
            run = cd.simulate(system, start, seconds, step=STEP, integrator=method)
        best = min(best, clock.cpu / seconds)
    E = run.energy().values
    p = np.stack([run.body_pose(f"b{k}").p for k in range(len(pile.places))], axis=1)
    rise = max(np.diff(E.sum(axis=1)).max(), 0.0)
    print(
        f"condyle, to {tolerance:g} m/s: {best:.3f} s per s, {1e3 * best * STEP:.2f} ms per step, "
        f"{run.statistics.projections / run.statistics.steps:.0f} sweeps each; overlap at most "
        f"{1e6 * max(depth(x, pile) for x in p):.0f} um, at the end "
        f"{1e6 * depth(p[-1], pile):.0f} um;\n  energy {E[0].sum():.1f} to {E[-1].sum():.2f} J, "
        f"kinetic {E[-1, 0]:.1e} J, largest rise {rise:.1e} J"
    )
    return best


def theirs(pile: Pile, solver: str, seconds: float, rounds: int, stiff: bool) -> float:
    import mujoco

    model = mujoco_pile(pile, stiff)
    model.opt.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver}")
    best = np.inf
    for _ in range(rounds):
        data, rows = mujoco.MjData(model), []
        with Clock() as clock:
            for k in range(round(seconds / STEP)):
                mujoco.mj_step(model, data)
                if k % 50 == 0:
                    rows.append((data.xpos[1:].copy(), float(sum(data.energy))))
        best = min(best, clock.cpu / seconds)
    mujoco.mj_forward(model, data)
    p = [x for x, _ in rows]
    E = np.array([e for _, e in rows])
    print(
        f"MuJoCo, {solver}{', stiff' * stiff}: {best:.3f} s per s, {1e3 * best * STEP:.2f} ms per step; "
        "overlap at most "
        f"{1e6 * max(depth(x, pile) for x in p):.0f} um, at the end "
        f"{1e6 * depth(data.xpos[1:], pile):.0f} um;\n  energy {E[0]:.1f} to "
        f"{sum(data.energy):.2f} J, kinetic {data.energy[1]:.1e} J, largest rise "
        f"{max(np.diff(E).max(), 0.0):.1e} J"
    )
    return best


def main() -> None:
    os.environ["CONDYLE_THREADS"] = "1"
    for what in sys.argv[1:] or (*SIZES, "chains"):
        count = 20 if what == "chains" else int(what)
        seconds, rounds = SIZES.get(count, (2.0, 3) if what == "chains" else (1.0, 1))
        pile = Pile.chains(count) if what == "chains" else Pile.of(count)
        name = "chains of three balls" if what == "chains" else "balls"
        print(f"{count} {name}, {seconds:g} s in steps of {1e3 * STEP:g} ms")
        mine, loose = (ours(pile, seconds, rounds, tolerance) for tolerance in (1e-4, 1e-2))
        if importlib.util.find_spec("mujoco"):
            for solver, stiff in product(("NEWTON", "PGS")[count > MOST_NEWTON :], (False, True)):
                other = theirs(pile, solver, seconds, rounds, stiff)
                print(f"  this over ours: {other / mine:.2f}, {other / loose:.2f}", flush=True)


if __name__ == "__main__":
    main()
