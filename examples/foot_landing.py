"""A foot lands on its heel and comes to rest flat: six spheres below it, the force on the
floor, and how the center of pressure travels from heel to toe."""

import numpy as np

import condyle as cd

C = cd.contact
SKIN = C.Material(
    4e5, dissipation=1.0, static_friction=0.9, dynamic_friction=0.7, transition_speed=0.02
)
FLOOR = C.HalfSpace("ground", (0, 1, 0), 0.0, SKIN)

system = cd.System()
system.add_body("foot", mobilizer=cd.Free(), mass=5.0, inertia=(0.01, 0.03, 0.03))
soles = [
    C.Sphere("foot", (x, -0.06, z), 0.02, SKIN, name=f"{place}_{side}")
    for place, x in (("heel", -0.08), ("ball", 0.06), ("toe", 0.12))
    for side, z in (("in", -0.03), ("out", 0.03))
]
system.add_contact("sole", FLOOR, soles)

angle = np.radians(15)  # toes up
start = system.state(
    q={"foot_qw": np.cos(angle / 2), "foot_qz": np.sin(angle / 2), "foot_ty": 0.11},
    u={"foot_vx": 0.5, "foot_vy": -0.3},
)
landing = cd.simulate(system, start, 1.5, accuracy=1e-5, integrator="rodas")

t = np.linspace(0, 1.5, 751)
forces = landing.contacts.forces(t=t)  # fx, fy, fz of each sphere [N]
force = forces.values.reshape(len(t), -1, 3)[:, :, 1].sum(axis=1)
touched = (
    landing.contacts.center_of_pressure("sole", t=t)["sole_px"] - landing(t)["foot_tx"]
)
first = touched[np.isfinite(touched)][0]
print(f"peak force {force.max():.0f} N, {force.max() / (5 * 9.81):.1f} times the weight")
print(f"center of pressure: from {100 * first:.1f} cm to {100 * touched[-1]:.1f} cm")

assert abs(force[-1] / (5 * 9.81) - 1) < 1e-3  # it stands
assert first < -0.05 and abs(touched[-1]) < 0.01  # heel first, then below the mass
assert np.linalg.norm(landing[-1].u) < 1e-3
