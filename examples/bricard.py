"""Bricard's mechanism: five bricks and six hinges that by their count could not move. One
equation is redundant, so they do.

A benchmark of mechanism codes (A04). The last hinge closes the loop. It is moved twice:
by constraints and projection, and in maximal coordinates, where all six hinges are
equations; positions are compared with published ones.
"""

import numpy as np

import condyle as cd
from condyle import maximal

corner = np.array(
    [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float
)
system = cd.System(gravity=(0, -9.81, 0))
for i, axis in enumerate("yzxyz"):
    rod, before = corner[i + 1] - corner[i], corner[i - 1] if i else np.zeros(3)
    system.add_body(
        f"r{i}",
        f"r{i - 1}" if i else "ground",
        cd.Pin(axis=axis),
        X_PF=corner[i] - before,
        mass=1.0,
        com=rod / 2,
        inertia=np.where(rod != 0, 0.02, 1.01) / 12,
    )
tree = system.copy()  # still open
end = corner[5] - corner[4]  # of the last rod, on it
system.add_constraint("point", cd.constraints.Ball("ground", corner[5], "r4", end))
system.add_constraint(
    "across y", cd.constraints.ConstantAngle("ground", (1, 0, 0), "r4", (0, 1, 0))
)
system.add_constraint(
    "across z", cd.constraints.ConstantAngle("ground", (1, 0, 0), "r4", (0, 0, 1))
)

q, u = system.defaults()
rank, _ = system.constraints.rank(q, u)
assert (len(system.constraints.equations()), rank) == (5, 4)
traj = cd.simulate(system, system.state(q=q, u=u), 1.0, accuracy=1e-8)
hinge = maximal.Loop("ground", corner[5], "r4", end, cd.Pin(axis="x"))
other = maximal.MaximalSystem(tree, [hinge]).simulate(q, u, 1.0, accuracy=1e-8)

published = 0.27448132, -0.88670794, -0.46233000  # the third corner after 1 s
for name, run in (("minimal", traj), ("maximal", other)):
    tip = system.station_position(run.q[-1], "r1", corner[2] - corner[1])
    error = np.abs(tip - published).max()
    assert error < 1e-7, error
    energy = np.sum(system.energy(run.q[-1], run.u[-1]))
    assert abs(energy / -29.43 - 1) < 1e-7, energy
    print(
        f"{name} coordinates, {len(run.t) - 1} steps: "
        f"off by {error:.0e} m, energy {energy:.6f} J"
    )
