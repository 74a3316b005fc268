"""A knee of two meshes with cartilage: condyles press on a plateau, and the map of
pressure shows how a load beside the middle is shared. The geometry is made here."""
import numpy as np

import condyle as cd

C = cd.contact
SPACING = 0.044                                          # of the condyles [m]
LOAD, OFF = 700.0, 0.006                                 # [N], off the middle by [m]
CARTILAGE = C.Material(20e6, dissipation=5.0, static_friction=0.01, dynamic_friction=0.01)


def grid(m, n):
    """Triangles of m x n squares."""
    a = (np.arange(m)[:, None] * (n + 1) + np.arange(n)).ravel()
    b, c, d = a + 1, a + n + 2, a + n + 1
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def ball(n):
    """A unit sphere: the six sides of a cube, n x n squares each."""
    line = np.tan(np.linspace(-1, 1, n + 1) * np.pi / 4)
    s, t = (g.ravel() for g in np.meshgrid(line, line))
    points, faces = [], []
    for axis in range(3):
        for side in (-1, 1):
            p = np.stack([np.full_like(s, side), side * s, t], axis=1)
            faces.append(grid(n, n) + len(points) * len(s))
            points.append(np.roll(p / np.linalg.norm(p, axis=1)[:, None], axis, axis=1))
    return np.concatenate(points), np.concatenate(faces)


def plateau(m=40, n=24):
    """A slab with two hollows: top, bottom and walls."""
    x, z = np.meshgrid(np.linspace(-0.042, 0.042, m + 1),
                       np.linspace(-0.024, 0.024, n + 1), indexing="ij")
    top = np.minimum(((np.abs(x) - SPACING / 2)**2 + z**2) / (2 * 0.05), 0.006)
    v = np.concatenate([np.stack([x, y, z], axis=-1).reshape(-1, 3)
                        for y in (top, np.full_like(top, -0.02))])
    k = np.arange((m + 1) * (n + 1)).reshape(m + 1, n + 1)
    rim = np.concatenate([k[:-1, 0], k[-1, :-1], k[:0:-1, -1], k[0, :0:-1]])
    after, low = np.roll(rim, -1), k.size
    walls = [np.stack([after, after + low, rim], axis=1),
             np.stack([after + low, rim + low, rim], axis=1)]
    return v, np.concatenate([grid(m, n), grid(m, n)[:, ::-1] + low, *walls])


sphere, faces = ball(12)
condyles = [sphere * (0.019, 0.026, 0.028) + (side * SPACING / 2, 0.026, 0)
            for side in (-1, 1)]
both = np.concatenate(condyles), np.concatenate([faces, faces + len(sphere)])

system = cd.System()
system.add_body("femur", mobilizer=cd.Planar(), mass=4.0, com=(0, 0.1, 0),
                inertia=(0.03,) * 3)
femur = C.Mesh("femur", None, both, 0.003, CARTILAGE)
tibia = C.Mesh("ground", None, plateau(), 0.003, CARTILAGE)
system.add_contact("knee", tibia, femur)
press = cd.forces.ConstantForce("femur", (OFF, 0.1, 0), (0, -LOAD, 0))
system.add_force("load", press)

run = cd.simulate(system, system.state(), 0.15, accuracy=1e-3, integrator="rodas")
q, u = run[-1].q, run[-1].u
pressure = system.contact_pressures(q, u, "knee", "femur")
force, centre = system.contact_forces(q, u)[0], system.centre_of_pressure(q, u, "knee")
mesh = femur.triangles
loaded = mesh.centroids[:, 0] > 0
share = (pressure * mesh.areas)[loaded].sum() / (pressure @ mesh.areas)
print(f"{len(mesh.faces)} and {len(tibia.triangles.faces)} triangles, "
      f"{(pressure > 0).sum()} of the femur touch")
print(f"force {force[1]:.0f} N, {100 * share:.0f} % on the loaded side")
print(f"pressure up to {pressure.max() / 1e6:.1f} MPa, "
      f"{1e3 * system.contact_depths(q)[0]:.1f} mm"
      f" deep; its centre is at x = {1e3 * centre[0]:.1f} mm")

assert abs(force[1] / (LOAD + 4.0 * 9.81) - 1) < 1e-2    # at rest
assert abs(share - 0.5 - OFF / SPACING) < 0.03           # the law of the lever
assert 1e6 < pressure.max() < 6e6
