"""A particle slides over measured ground; what holds it pushes along the normal.

Heights on a grid become a smooth surface; two coordinates keep the particle on it to
rounding. Without friction, what the ground does to it has no part along the ground.
"""

import numpy as np

import condyle as cd

# Heights as from a scan: a hill, a valley, and a millimeter of noise [m].
x, y = np.meshgrid(np.linspace(0, 4, 17), np.linspace(0, 3, 13), indexing="ij")
hill, valley = np.exp(-((x - 2.5) ** 2 + (y - 1.5) ** 2)), np.exp(-2 * (x - 1) ** 2)
height = 0.5 * hill - 0.3 * valley + np.random.default_rng(1).normal(0, 1e-3, x.shape)
ground = cd.SplineSurface.of_positions(
    np.stack([x, y, height], axis=-1),
    order=5,
    domain=((0, 4), (0, 3)),
    coordinates=("x", "y"),
)

system = cd.System(gravity=(0, 0, -9.81))
system.add_body("particle", mobilizer=ground, mass=0.1)
start = system.state(q={"x": 0.2, "y": 0.3}, u={"x": 2.6, "y": 0.7})
run = cd.simulate(system, start, t_final=1.3, accuracy=1e-9, integrator="dormand-prince")

udot = system.forward_dynamics(run.q, run.u)
push = system.reactions(run.q, run.u, udot, "particle")[:, 3:]  # [N]
R = system.body_pose(run.q, "particle").R
tangents = system.station_jacobian(run.q, "particle", (0, 0, 0))
normal = np.cross(tangents[:, :, 0], tangents[:, :, 1])
normal /= np.linalg.norm(normal, axis=1, keepdims=True)
along = push - (push * normal).sum(1, keepdims=True) * normal
kinetic, potential = system.energy(run.q, run.u)
print(
    f"pushes of {np.linalg.norm(push, axis=1).min():.2f} to "
    f"{np.linalg.norm(push, axis=1).max():.2f} N, along the ground at most "
    f"{np.abs(along).max():.0e} N; energy within {np.ptp(kinetic + potential):.0e} J"
)
assert np.abs(along).max() < 1e-12
assert np.ptp(kinetic + potential) < 1e-7
assert np.abs(np.cross(R[:, :, 2], normal)).max() < 2e-3  # M's z is the normal [rad]
