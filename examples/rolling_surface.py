"""A ball rolls in a bowl without slipping: a spline surface, a nonholonomic constraint.

Its center stays on a surface at its radius above the bowl. That the point that touches
does not slide is a condition on velocities: it takes no coordinate away, only freedom.
"""

import numpy as np

import condyle as cd

radius, depth = 0.05, 0.5  # [m]
x, y = np.meshgrid(*[np.linspace(-0.3, 0.3, 9)] * 2, indexing="ij")
centers = np.stack([x, y, depth - np.sqrt(depth**2 - x**2 - y**2)], axis=-1)
above = cd.SplineSurface.of_positions(
    centers, order=6, domain=(-0.3, 0.3), within=1e-5, coordinates=("east", "north")
)

system = cd.System(gravity=(0, 0, -9.81))
system.add_body("touch", mobilizer=above)  # no mass: it carries the ball
solid = 0.4 * 0.3 * radius**2
system.add_body("ball", "touch", cd.Ball(), mass=0.3, inertia=(solid, solid, solid))


def slip(s):
    """Velocity of the ball's lowest point along two tangents of the bowl [m/s]."""
    R, w = s.rotation("touch"), s.angular_velocity("ball")
    v = s.station_velocity("ball", (0, 0, 0)) + np.cross(w, -radius * R[:, 2])
    return R[:, :2].T @ v


system.add_constraint("rolls", cd.constraints.Nonholonomic(slip))
guess = system.state(q={"east": 0.2}, u={"north": 0.4, "ball_wz": 30.0})
q, u = system.project(guess.q, guess.u)
start = system.state(q=q, u=u)
run = cd.simulate(system, start, t_final=5.0, accuracy=1e-8, integrator="dormand-prince")
kinetic, potential = system.energy(run.q, run.u)
sliding = np.abs(system.constraints.errors(run.q, run.u)[1]).max()
print(
    f"{np.ptp(run.q[:, 0]):.2f} m to and fro; energy within "
    f"{np.ptp(kinetic + potential):.0e} J, slip below {sliding:.0e} m/s"
)

# A ball that does not spin swings as a pendulum whose mass is 7/5 of its own.
swing = cd.simulate(
    system,
    system.state(q={"east": 0.002}),
    t_final=5.0,
    accuracy=1e-9,
    integrator="dormand-prince",
)
east = swing.q[:, 0]
k = np.flatnonzero((east[:-1] > 0) & (east[1:] <= 0))
zero = swing.t[k] + east[k] / (east[k] - east[k + 1]) * (swing.t[k + 1] - swing.t[k])
period, expected = np.diff(zero).mean(), 2 * np.pi * np.sqrt(7 / 5 * depth / 9.81)
print(f"small swings take {period:.4f} s, by the formula {expected:.4f} s")
assert np.ptp(kinetic + potential) < 1e-8 and sliding < 1e-9
assert abs(period - expected) < 1e-3 * expected
