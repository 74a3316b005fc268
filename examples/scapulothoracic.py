"""The scapula glides on the thorax: a fitted surface; the clavicle is a damped spring.

Figure 4 of lee2008. Two coordinates say where the scapula is on the rib cage. How it is
turned follows from frames, and keeps the acromion one clavicle away from the sternum.
"""

import numpy as np

import condyle as cd

radii = np.array([0.09, 0.20, 0.13])  # of the rib cage: x forward, y up [m]
sternum, acromion = np.array([0.06, 0.15, 0.02]), np.array([0.10, 0.06, 0.01])
length = 0.17


def scapula_frames(q):
    """Frames at (protraction, elevation): z out of the ribs, acromion in its place."""
    a, b = q.T
    unit = np.stack([-np.cos(b) * np.cos(a), np.sin(b), np.cos(b) * np.sin(a)], 1)
    p, z = unit * radii, unit / radii
    z /= np.linalg.norm(z, axis=1)[:, None]
    x = np.cross((0.0, 1.0, 0.0), z)
    x /= np.linalg.norm(x, axis=1)[:, None]
    y, away, r = np.cross(z, x), p - sternum, acromion
    # |away + R r| = length is A cos(turn) + B sin(turn) = C, turn about z.
    A, B = (np.sum(away * (r[0] * u + r[1] * v), 1) for u, v in ((x, y), (y, -x)))
    C = (length**2 - (away**2).sum(1) - r @ r) / 2 - r[2] * (away * z).sum(1)
    turn = (np.arctan2(B, A) + np.arccos(C / np.hypot(A, B)))[:, None]
    c, s = np.cos(turn), np.sin(turn)
    return cd.Transform(np.stack([c * x + s * y, c * y - s * x, z], 2), p)


rng = np.random.default_rng(0)  # 800 frames, noise of 0.5 degrees and 0.5 mm
q = rng.uniform(np.deg2rad((25, 0)), np.deg2rad((60, 30)), (800, 2))
noise = rng.normal(size=(800, 6)) * ([np.deg2rad(0.5)] * 3 + [5e-4] * 3)
measured, middle = scapula_frames(q) @ cd.spatial.exp_se3(noise), q.mean(axis=0)
names, before = ("protraction", "elevation"), cd.Transform(measured.R[0])
fit = cd.fit_spline_surface(measured, q, n=6, X=before, coordinates=names)
print("residuals: {:.2f} deg, {:.2f} mm, which is the noise".format(*fit.rms))

system = cd.System()
system.add_body("scapula", mobilizer=fit.mobilizer, mass=0.7, inertia=(1e-3, 1e-3, 1e-3))
system.add_body(
    "arm",
    "scapula",
    cd.Ball(),
    X_PF=(0.09, 0.03, 0.0),
    mass=3.5,
    com=(0, -0.3, 0),
    inertia=(0.1, 0.005, 0.1),
)
ends = "ground", sternum, "scapula", acromion
system.add_force("clavicle", cd.forces.TwoPointSpring(*ends, 1e5, length))
system.add_force("its damping", cd.forces.TwoPointDamper(*ends, 200.0))
for name, rest in zip(names, middle):  # muscle tone
    system.add_force(f"tone {name}", cd.forces.MobilitySpring(name, 60.0, rest))
side = dict(zip(system.coordinates, (*middle, np.cos(0.7), 0, 0, np.sin(0.7))))
run = cd.simulate(system, system.state(q=side), t_final=1.0, accuracy=1e-6)  # arm falls
span = system.station_position(run.q, "scapula", acromion) - sternum
stretch = np.linalg.norm(span, axis=1) - length
print(
    f"scapula moves {np.degrees(np.ptp(run.q[:, :2], axis=0)).round(1)} deg, the "
    f"clavicle's length by {1e3 * np.abs(stretch).max():.2f} mm"
)
assert max(fit.rms) < 0.9 and np.abs(stretch).max() < 1e-3
