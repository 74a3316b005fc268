"""A knee of two meshes with cartilage: condyles press on a plateau, and the map of pressure
shows how a load that is off the middle is shared. The geometry is made here."""
import numpy as np

import condyle as cd

C = cd.contact
SPACING, LOAD, OFF = 0.044, 700.0, 0.006                 # of the condyles [m], [N], of it [m]
CARTILAGE = C.Material(20e6, dissipation=5.0, static_friction=0.01, dynamic_friction=0.01)


def ball(n):
    """Vertices and triangles of a unit sphere: rings of a cube's six faces."""
    s, t = (g.ravel() for g in np.meshgrid(*[np.tan(np.linspace(-1, 1, n + 1) * np.pi / 4)] * 2))
    points, faces = [], []
    for axis in range(3):
        for side in (-1, 1):
            p = np.roll(np.stack([np.full_like(s, side), side * s, t], axis=1), axis, axis=1)
            faces.append(grid(n, n) + len(points) * len(s))
            points.append(p / np.linalg.norm(p, axis=1)[:, None])
    return np.concatenate(points), np.concatenate(faces)


def grid(m, n):
    """Triangles of m x n squares."""
    a = (np.arange(m)[:, None] * (n + 1) + np.arange(n)).ravel()
    b, c, d = a + 1, a + n + 2, a + n + 1
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def plateau(m=40, n=24):
    """A slab with two hollows: top, bottom and walls."""
    x, z = np.meshgrid(np.linspace(-0.042, 0.042, m + 1), np.linspace(-0.024, 0.024, n + 1),
                       indexing="ij")
    top = np.minimum(((np.abs(x) - SPACING / 2)**2 + z**2) / (2 * 0.05), 0.006)
    v = np.concatenate([np.stack([x, y, z], axis=-1).reshape(-1, 3)
                        for y in (top, np.full_like(top, -0.02))])
    k = np.arange((m + 1) * (n + 1)).reshape(m + 1, n + 1)
    rim = np.concatenate([k[:-1, 0], k[-1, :-1], k[:0:-1, -1], k[0, :0:-1]])
    after, low = np.roll(rim, -1), k.size
    walls = np.concatenate([np.stack([rim, after + low, after], axis=1)[:, ::-1],
                            np.stack([rim, rim + low, after + low], axis=1)[:, ::-1]])
    return v, np.concatenate([grid(m, n), grid(m, n)[:, ::-1] + low, walls])


sphere, faces = ball(12)
condyles = [sphere * (0.019, 0.026, 0.028) + (side * SPACING / 2, 0.026, 0) for side in (-1, 1)]
both = np.concatenate(condyles), np.concatenate([faces, faces + len(sphere)])

system = cd.System()
system.add_body("femur", mobilizer=cd.Planar(), mass=4.0, com=(0, 0.1, 0), inertia=(0.03,) * 3)
femur = C.Mesh("femur", None, both, 0.003, CARTILAGE)
tibia = C.Mesh("ground", None, plateau(), 0.003, CARTILAGE)
system.add_contact("knee", tibia, femur)
system.add_force("load", cd.forces.ConstantForce("femur", (OFF, 0.1, 0), (0, -LOAD, 0)))

run = cd.simulate(system, system.state(), 0.15, accuracy=1e-3, integrator="rodas")
q, u = run[-1].q, run[-1].u
pressure = system.contact_pressures(q, u, "knee", "femur")
force = system.contact_forces(q, u)[0]
right = femur.triangles.centroids[:, 0] > 0
share = (pressure * femur.triangles.areas)[right].sum() / (pressure @ femur.triangles.areas)
centre = system.centre_of_pressure(q, u, "knee")
print(f"{len(femur.triangles.faces)} and {len(tibia.triangles.faces)} triangles, "
      f"{(pressure > 0).sum()} of the femur touch")
print(f"force {force[1]:.1f} N, {100 * share:.0f} % on the loaded side, at x = {1e3 * centre[0]:.2f} mm")
print(f"pressure up to {pressure.max() / 1e6:.2f} MPa, depth {1e3 * run[-1].contact_depths()[0]:.2f} mm")

weight = 4.0 * 9.81
assert abs(force[1] / (LOAD + weight) - 1) < 1e-3        # at rest
assert abs(share - 0.5 - OFF / SPACING) < 0.03           # the law of the lever
assert 1e6 < pressure.max() < 6e6
