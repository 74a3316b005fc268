"""A tippe top: a ball whose mass center is below its middle turns over while it spins,
because it slips. Its mass center rises; only friction can do that."""

import numpy as np

import condyle as cd

C = cd.contact
WOOD = C.Material(
    1e6,
    dissipation=1.0,
    static_friction=0.3,
    dynamic_friction=0.3,
    transition_speed=0.005,
)
RADIUS, BELOW, MASS = 0.02, 0.004, 0.015

system = cd.System()
inertia = 0.4 * MASS * RADIUS**2
system.add_body(
    "top",
    mobilizer=cd.Free(),
    mass=MASS,
    com=(0, -BELOW, 0),
    inertia=(inertia, 1.05 * inertia, inertia),
)
system.add_contact(
    "table",
    C.HalfSpace("ground", (0, 1, 0), 0.0, WOOD),
    C.Sphere("top", (0, 0, 0), RADIUS, WOOD),
)

tilt = 0.1  # rad, about x
start = system.state(
    q={"top_qw": np.cos(tilt / 2), "top_qx": np.sin(tilt / 2), "top_ty": RADIUS},
    u={"top_wy": 180.0},
)
run = cd.simulate(system, start, 4.0, accuracy=1e-6)

t = np.linspace(0, 4.0, 401)
upright = run.body_pose("top", t=t).R[:, 1, 1]  # cosine of the tilt
energy = run.energy(t=t).values.sum(axis=1)
print("tilt in degrees:", np.degrees(np.arccos(upright[::50])).round(0))
print(f"mass center: up by {1000 * BELOW * (upright[0] - upright[-1]):.1f} mm")

assert upright[0] > 0.99 and upright.min() < -0.9  # it has turned over
assert (np.diff(energy) < 1e-9).all()  # energy is only lost
