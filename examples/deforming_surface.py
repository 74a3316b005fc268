"""A ball slides on a membrane that heaves by itself: a joint that time moves.

The height of the surface is a spline plus a second one that swings in time. What the
membrane does to the ball, `motion_power`, is what the ball's energy gains.
"""

import numpy as np

import condyle as cd

x, y = np.meshgrid(*[np.linspace(-1, 1, 10)] * 2, indexing="ij")
o = np.zeros_like(x)
bowl = np.array([x, y, 0.6 * (x**2 + y**2), o, o, o])  # x, y, z [m], no rotation
swell = np.array([o, o, 0.1 * np.cos(2 * x + y), o, o, o])
membrane = cd.SplineSurface(
    bowl,
    order=5,
    domain=(-1, 1),
    coordinates=("east", "north"),
    modes=[(swell, lambda t: np.sin(4 * t))],
)

system = cd.System(gravity=(0, 0, -9.81))
system.add_body("ball", mobilizer=membrane, mass=0.2, inertia=(2e-4, 2e-4, 2e-4))
start = system.state(q={"east": 0.5, "north": -0.3}, u={"north": 1.2})
run = cd.simulate(system, start, t_final=6.0, accuracy=1e-8, integrator="dormand-prince")

t = np.linspace(0, 6, 6001)
rows = run.at(t)
q, u = rows[:, :2], rows[:, 2:]
kinetic, potential = system.energy(q, u, t=t)
power = system.motion_power(q, u, t=t).sum(-1)
energy = kinetic + potential
work = np.append(0, np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(t)))
off = np.abs(energy - energy[0] - work).max()
print(
    f"energy from {energy.min():.3f} to {energy.max():.3f} J, work of the membrane "
    f"from {work.min():.3f} to {work.max():.3f} J; they differ by {off:.0e} J"
)
assert np.ptp(work) > 0.2
assert off < 1e-4  # of the sum over time steps of 1 ms
