"""A leg swings from a carriage that rests on a hard, damped floor: where a stiff method
is far cheaper."""

import numpy as np

import condyle as cd

STIFFNESS, DAMPING = 1e6, 5e4  # N/m, N s/m: time constants below 0.1 ms

system = cd.System()
system.add_body(
    "carriage",
    mobilizer=cd.Slider(axis=(0, 1, 0)),
    mass=1.0,
    inertia=(1, 1, 1),
    coordinates="height",
)
system.add_body(
    "leg",
    parent="carriage",
    mobilizer=cd.Pin(),
    X_BM=(0, 0.5, 0),
    mass=2.0,
    inertia=(0.1,) * 3,
    coordinates="hip",
)


def floor(s):
    depth = -s.q("height")
    pressed = 0.5 * (depth + np.sqrt(depth**2 + 1e-10))  # a smooth max(depth, 0)
    damping = DAMPING * pressed / (pressed + 1e-5)
    return {"height": STIFFNESS * pressed - damping * s.u("height")}


system.add_force("floor", cd.forces.Custom(floor))
start = system.state(q={"hip": 1.0})
runs = {
    name: cd.simulate(system, start, 3.0, accuracy=1e-4, integrator=name)
    for name in ("merson", "rodas")
}
for name, traj in runs.items():
    done = traj.statistics
    print(
        f"{name:6s} {done.steps:6d} steps, {done.evaluations:6d} evaluations, "
        f"{done.jacobians} Jacobians: {traj.status}"
    )
cost = {
    name: traj.statistics.evaluations + 4 * traj.statistics.jacobians
    for name, traj in runs.items()
}
assert cost["merson"] > 20 * cost["rodas"]
assert np.allclose(runs["merson"][-1].q, runs["rodas"][-1].q, atol=1e-3)
