"""A knee of two meshes with cartilage: condyles press on a plateau, and the map of
pressure shows how a load beside the middle is shared. The geometry is made here."""

import numpy as np

import condyle as cd

C = cd.contact
SPACING = 0.044  # of the condyles [m]
LOAD, OFF = 700.0, 0.006  # [N], off the middle by [m]
CARTILAGE = C.Material(20e6, dissipation=5.0, static_friction=0.01, dynamic_friction=0.01)


def cube(n):
    """Corners and triangles of a cube from -1 to 1, with n x n squares a side."""
    s, t = (g.ravel() for g in np.meshgrid(*[np.linspace(-1, 1, n + 1)] * 2))
    a = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    square = np.concatenate(
        [
            np.stack([a, a + 1, a + n + 2], axis=1),
            np.stack([a, a + n + 2, a + n + 1], axis=1),
        ]
    )
    sides = [
        np.roll(np.stack([np.full_like(s, side), side * s, t], axis=1), axis, axis=1)
        for axis in range(3)
        for side in (-1, 1)
    ]
    return np.concatenate(sides), np.concatenate([square + k * len(s) for k in range(6)])


corners, faces = cube(12)
ball = np.tan(corners * np.pi / 4)
ball /= np.linalg.norm(ball, axis=1)[:, None]
condyles = [
    ball * (0.019, 0.026, 0.028) + (side * SPACING / 2, 0.026, 0) for side in (-1, 1)
]
both = np.concatenate(condyles), np.concatenate([faces, faces + len(ball)])
corners, faces = cube(30)
x, y, z = corners.T * [[0.042], [1], [0.024]]
hollow = ((np.abs(x) - SPACING / 2) ** 2 + z**2) / (2 * 0.05)
slab = np.stack([x, (y + 1) / 2 * (hollow + 0.02) - 0.02, z], axis=1)

system = cd.System()
system.add_body("femur", mobilizer=cd.Planar(), mass=4.0, inertia=(0.03,) * 3)
femur = C.Mesh("femur", None, both, 0.003, CARTILAGE)
tibia = C.Mesh("ground", None, (slab, faces), 0.003, CARTILAGE)
system.add_contact("knee", tibia, femur)
system.add_force("load", cd.forces.ConstantForce("femur", (OFF, 0.1, 0), (0, -LOAD, 0)))

run = cd.simulate(system, system.state(), 0.15, accuracy=1e-3, integrator="rodas")
end = run[-1]
pressure, area = end.contacts.pressures("knee", "femur"), femur.triangles.areas
force = end.contacts.forces()[0, 1]
loaded = femur.triangles.centroids[:, 0] > 0
share = (pressure * area)[loaded].sum() / (pressure @ area)
print(f"{(pressure > 0).sum()} of {len(area)} triangles of the femur touch")
print(f"force {force:.0f} N, {100 * share:.0f} % on the loaded side")
print(f"pressure up to {pressure.max() / 1e6:.1f} MPa")

assert abs(force / (LOAD + 4.0 * 9.81) - 1) < 1e-2  # at rest
assert abs(share - 0.5 - OFF / SPACING) < 0.03  # the law of the lever
assert 1e6 < pressure.max() < 6e6
