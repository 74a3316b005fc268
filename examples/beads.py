"""Three beads on a spinning wire in the shape of a flower: joints along a closed curve.

Figure 5(a) of lee2008. Nothing rubs and nothing drives, so that energy stays, and so does
the angular momentum about the upright axis: beads that swing out slow the wire.
"""

import numpy as np

import condyle as cd

# Frames along the wire: x along it, z across its plane.
phi = np.linspace(0, 2 * np.pi, 60, endpoint=False)
radius, slope = 0.3 + 0.09 * np.cos(5 * phi), -0.45 * np.sin(5 * phi)  # [m], [m/rad]
place = np.stack([radius * np.cos(phi), radius * np.sin(phi), 0 * phi], 1)
along = np.stack(
    [slope * np.cos(phi) - place[:, 1], slope * np.sin(phi) + place[:, 0], 0 * phi], 1
)
x = along / np.linalg.norm(along, axis=1)[:, None]
z = np.broadcast_to([0.0, 0.0, 1.0], x.shape)
wire = cd.SplineCurve(
    (np.stack([x, np.cross(z, x), z], 2), place),
    closed=True,
    domain=(0, 2 * np.pi),
    unit="rad",
)

system = cd.System()
system.add_body(
    "wire",
    mobilizer=cd.Pin("y"),
    coordinates="spin",
    mass=0.5,
    inertia=(0.02, 0.02, 0.04),
)
for k in range(3):
    system.add_body(f"bead{k}", "wire", wire, mass=0.2, inertia=(2e-5, 2e-5, 2e-5))

start = system.state(q={"bead0": 0.3, "bead1": 2.0, "bead2": 4.4}, u={"spin": 6.0})
run = cd.simulate(system, start, t_final=5.0, accuracy=1e-9, integrator="dormand-prince")
ke, pe = system.energy(run.q, run.u)
momentum = system.momentum(run.q, run.u)[:, 1]  # about y
print(
    f"beads run {np.abs(run.q[-1, 1:] - run.q[0, 1:]).round(1)} rad; spin from "
    f"{run.u[:, 0].min():.2f} to {run.u[:, 0].max():.2f} rad/s; energy within "
    f"{np.ptp(ke + pe):.0e} J, angular momentum within {np.ptp(momentum):.0e} kg m^2/s"
)
assert np.ptp(ke + pe) < 1e-6
assert np.ptp(momentum) < 1e-8
