"""Two windows of slender links, closed by constraints, swing through positions where
every loop loses rank.

Lying flat the links could fold one by one. They have no reason to: the motion is that of
one pendulum, `theta'' = g ((N+1)/2 + N) / ((N+1)/3 + N) sin(theta)`, to which the result
is compared (N four-bar benchmark, A02).
"""

import numpy as np

import condyle as cd

N, g = 2, 9.81
system = cd.System(gravity=(0, -g, 0))
for k in range(N + 1):  # uprights v0..vN on the floor, links h1..hN on top
    if k:
        system.add_body(
            f"h{k}",
            f"v{k - 1}",
            cd.Pin(),
            X_PF=(0, 1, 0),
            mass=1,
            com=(0.5, 0, 0),
            inertia=(0, 1 / 12, 1 / 12),
        )
    system.add_body(
        f"v{k}",
        mobilizer=cd.Pin(),
        X_PF=(k, 0, 0),
        mass=1,
        com=(0, 0.5, 0),
        inertia=(1 / 12, 0, 1 / 12),
    )
    if k:
        system.add_constraint(
            f"corner{k}", cd.constraints.Ball(f"h{k}", (1, 0, 0), f"v{k}", (0, 1, 0))
        )

# leaning by theta toward x, the links stay level
signs = np.array([-1.0] + [1.0, -1.0] * N)
for name, theta in (("upright", 0.0), ("flat", np.pi / 2)):
    rank, _ = system.constraints.rank(theta * signs, 0 * signs)
    print(
        f"{name}: {len(system.constraints.equations())} equations of rank {rank}, "
        f"{system.nu - rank} degrees of freedom"
    )

traj = cd.simulate(system, system.state(q=0 * signs, u=signs), 10.0, accuracy=1e-8)
assert traj.finished, traj.status
# the same equation: a point mass on 1 m
one = cd.System(gravity=(0, -g * (1.5 * N + 0.5) / ((N + 1) / 3 + N), 0))
one.add_body("bob", mobilizer=cd.Pin(), X_BM=(0, -1, 0), mass=1.0)
exact = cd.simulate(one, one.state(u=[-1.0]), 10.0, accuracy=1e-10)

error = np.abs(traj.q[-1] + exact.q[-1, 0] * signs).max()  # of every angle
energy = np.sum(system.energy(traj.q, traj.u), axis=0)
gap = np.abs(system.constraints.errors(traj.q, traj.u)[0]).max()
assert error < 1e-4, error  # what the ten passages through flat may add
assert np.ptp(energy) < 1e-4 * energy[0]
assert gap < 1e-12
print(
    f"{abs(traj.q[-1, 0]) / 2 / np.pi:.4f} revolutions, "
    f"off by {error:.0e} rad; loops closed to {gap:.0e} m"
)
