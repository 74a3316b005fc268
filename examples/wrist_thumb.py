"""A condyloid wrist and a saddle thumb: the same joint but for a sign.

Bones glide on z = x^2 / 2a + y^2 / 2b, z distal, and stay along the surface's normal.
Both centers of curvature of the wrist's cup are distal, one of the thumb's saddle is
proximal: bones turn about them. Frames in no order make the joints: the fit finds q.
"""

import numpy as np

import condyle as cd

RADII = {"wrist": (0.025, 0.015), "thumb": (0.010, -0.012)}  # a, b [m]


def measured(a, b, count=600):
    """Frames of the moving bone, turned about x and y by up to 0.6 rad."""
    x, y = np.random.default_rng(0).uniform(-0.6, 0.6, (2, count))
    x[:4], y[:4] = (-0.6, -0.6, 0.6, 0.6), (-0.6, 0.6, -0.6, 0.6)
    R = cd.spatial.rotation_from_euler(np.stack([x, y, 0 * x], 1), "xyz")
    x, y = -a * R[:, 0, 2] / R[:, 2, 2], -b * R[:, 1, 2] / R[:, 2, 2]  # normal is R z
    return cd.Transform(R, np.stack([x, y, x**2 / (2 * a) + y**2 / (2 * b)], 1))


joints, frames = {}, {name: measured(*radii) for name, radii in RADII.items()}
for name, X in frames.items():
    names = f"{name}_flexion", f"{name}_deviation"
    fit = cd.fit_spline_surface(X, n=9, coordinates=names)
    print(f"{name}: {fit.notes[1]}; {fit.rms[0]:.1e} deg, {fit.rms[1]:.1e} mm")
    assert fit.mobilizer.units == ("rad", "rad") and max(fit.rms) < 0.01
    joints[name] = fit.mobilizer

hand = cd.System(gravity=(0, 0, -9.81))
hand.add_body(
    "hand",
    mobilizer=joints["wrist"],
    mass=0.4,
    com=(0, 0, 0.06),
    inertia=(1e-3, 1e-3, 2e-4),
)
hand.add_body(
    "metacarpal",
    "hand",
    joints["thumb"],
    X_PF=(0.02, 0.0, 0.01),
    mass=0.03,
    com=(0, 0, 0.03),
    inertia=(2e-5, 2e-5, 5e-6),
)
for c, k in zip(hand.coordinates, (2.0, 2.0, 0.2, 0.2)):  # [N m/rad]
    hand.add_force(f"{c} spring", cd.forces.MobilitySpring(c, k, 0.0))

q, u = hand.defaults()
for body, name in (("hand", "wrist"), ("metacarpal", "thumb")):
    for c, radius in zip(joints[name].coordinate_names, RADII[name][::-1]):
        alone = np.array([other == c for other in hand.coordinates], float)
        w, v = np.split(hand.body_velocity(q, alone, body), 2)
        axis = np.cross(w, v) / (w @ w)  # from the bone's origin [m]
        print(f"{c}: about an axis {1e3 * axis[2]:+.2f} mm distal")
        np.testing.assert_allclose(axis, (0, 0, radius), atol=1e-4)

start = hand.state(u={"wrist_flexion": 4.0, "wrist_deviation": 3.0})
run = cd.simulate(hand, start, t_final=2.0, accuracy=1e-10, integrator="dormand-prince")
energy = sum(hand.energy(run.q, run.u))
print(
    f"circles by {np.degrees(np.ptp(run.q, axis=0)).round()} deg; energy within "
    f"{np.ptp(energy):.0e} J"
)
assert np.ptp(energy) < 1e-8 and np.abs(run.q).max() < 0.6
