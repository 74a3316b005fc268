"""A muscle over a bone whose shape is one line of Python: its length, its moment arm,
and the bone's shape where the path touches it."""

import numpy as np

import condyle as cd


def condyle(x, y, z):  # [m]; negative inside: a rounded block, thicker at the back
    return (x / 0.030) ** 4 + (y / 0.025) ** 4 * (1 + 8 * x) + (z / 0.1) ** 2 - 1


system = cd.System(gravity=(0, -9.81, 0))
system.add_body(
    "shank",
    mobilizer=cd.Pin(),
    mass=3.5,
    com=(0, -0.19, 0),
    inertia=(0.05, 0.005, 0.05),
    coordinates=("knee",),
)
bone = cd.paths.ImplicitSurface(condyle, quadrant="x")  # over its front
path = cd.paths.Path(
    [("ground", (0.035, 0.3, 0.01)), ("shank", (0.045, -0.06, 0.0))],
    wraps=[cd.paths.Wrap(bone, "ground")],
)
system.add_force("quadriceps", cd.forces.PathSpring(path, 2e3, rest_length=0.35))

knee = np.radians(np.linspace(0, -60, 13))[:, None]
length = system.path_lengths(knee)[:, 0]
arm = system.moment_arms(knee)[:, 0, 0]
for angle, L, r in zip(knee[::3, 0], length[::3], arm[::3], strict=True):
    print(f"knee {np.degrees(angle):5.0f} deg   length {L:.4f} m   arm {1e3 * r:6.2f} mm")

h = 1e-6  # the moment arm is exactly -dL/dq
slope = (system.path_lengths(knee + h) - system.path_lengths(knee - h))[:, 0] / (2 * h)
assert np.abs(arm + slope).max() < 1e-8
assert (arm[1:] > 0.025).all()  # over the front of the bone, never through it

# The path does not depend on how the surface is written: a sphere two ways
lengths = []
for surface in (
    cd.paths.Sphere(0.02),
    cd.paths.ImplicitSurface(lambda x, y, z: np.exp(x**2 + y**2 + z**2) - np.exp(4e-4)),
):
    twin = cd.System()
    twin.add_body("shank", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1))
    over = cd.paths.Path(
        [("ground", (0.01, 0.1, 0)), ("shank", (0.01, -0.1, 0.01))],
        wraps=[cd.paths.Wrap(surface, "ground")],
    )
    twin.add_force("string", cd.forces.PathSpring(over, 1.0, 0.1))
    lengths.append(twin.path_lengths([-0.7])[0])
    print(f"over {surface!r}: {lengths[-1]:.12f} m")
assert abs(lengths[1] - lengths[0]) < 1e-12

traj = cd.simulate(system, system.state(q=[-0.2]), 1.0, accuracy=1e-7)
ke, pe = system.energy(traj.q, traj.u)
assert np.ptp(ke + pe) < 1e-4
assert not traj.jumps  # it lifts off smoothly
print(f"energy drifts by {np.ptp(ke + pe):.1e} J of {ke.max():.1f} J")
