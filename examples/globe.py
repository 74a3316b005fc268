"""Airplanes on a globe: joints along closed curves that lie on a sphere.

Figure 5(b) of lee2008. Two axes of each frame lie in the globe's tangent plane, one along
the route. From frame to frame they turn about its center, and so does all between them:
the joint stays on the sphere exactly. `SplineCurve.natural` runs at an even pace.
"""

import numpy as np

import condyle as cd

height = 0.5  # of the routes above the globe's center [m]


def route(waves, tilt, n=120):
    """Frames along a wavy closed route about a tilted axis: x ahead, z up."""
    phi = np.linspace(0, 2 * np.pi, n + 1)
    latitude = sum(a * np.sin(k * phi + b) for k, a, b in waves)
    up = (
        np.stack(
            [
                np.cos(latitude) * np.cos(phi),
                np.cos(latitude) * np.sin(phi),
                np.sin(latitude),
            ],
            1,
        )
        @ cd.spatial.rotation_x(tilt).T
    )
    up = up[:n]
    ahead = np.roll(up, -1, 0) - np.roll(up, 1, 0)
    ahead -= np.sum(ahead * up, 1)[:, None] * up
    ahead /= np.linalg.norm(ahead, axis=1)[:, None]
    return np.stack([ahead, np.cross(up, ahead), up], 2), height * up


system = cd.System(gravity=(0, 0, 0))
system.add_body("globe", mobilizer=cd.Ball(), mass=4.0, inertia=(0.4, 0.4, 0.4))
routes = {
    "north": route([(3, 0.3, 0.0), (5, 0.1, 1.0)], 0.3),
    "south": route([(2, 0.4, 0.5)], -0.6),
    "polar": route([(4, 0.15, 0.0)], 1.5),
}
for name, frames in routes.items():
    curve = cd.SplineCurve.natural(frames, closed=True, metric=0.1)
    q = np.linspace(0, 1, 500)
    pace, up = curve.speed(q), curve.pose(q)
    off = np.abs(np.linalg.norm(up.p, axis=1) - height).max()
    print(
        f"{name}: {off:.0e} m off the sphere, pace within "
        f"{100 * np.ptp(pace) / pace.mean():.2f} %"
    )
    assert off < 1e-14
    assert np.ptp(pace) < 0.01 * pace.mean()
    system.add_body(name, "globe", curve, mass=0.3, inertia=(4e-4, 4e-4, 6e-4))

# Airplanes that fly turn the globe the other way: angular momentum stays what it was.
start = system.state(u={"north": 0.4, "south": -0.3, "polar": 0.5})
run = cd.simulate(system, start, t_final=4.0, accuracy=1e-9, integrator="dormand-prince")
momentum, energy = system.momentum(run.q, run.u)[:, :3], system.energy(run.q, run.u)[0]
print(
    f"flown {np.abs(run.q[-1, 4:]).round(2)} routes; momentum within "
    f"{np.ptp(momentum, axis=0).max():.0e}, energy within {np.ptp(energy):.0e} J"
)
assert np.ptp(momentum, axis=0).max() < 1e-6
assert np.ptp(energy) < 1e-6
