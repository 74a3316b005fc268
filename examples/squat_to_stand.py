"""A squat to stand by three torques, least effort: a crouched leg rises in a second."""

import numpy as np

import condyle as cd

STRONG = {"ankle": 150.0, "knee": 300.0, "hip": 150.0}  # [N m] at a control of 1
LINKS = {"shank": (0.43, 7.0, "ankle"), "thigh": (0.41, 17.0, "knee")}

leg, parent, at = cd.System(), "ground", (0, 0, 0)
for name, (length, mass, joint) in LINKS.items():
    body = leg.add_body(
        name,
        parent,
        cd.Pin(),
        X_PF=at,
        mass=mass,
        com=(0, 0.56 * length, 0),
        inertia=mass * (0.3 * length) ** 2 * np.ones(3),
        coordinates=joint,
    )
    leg.add_geometry(name, cd.shapes.Box((0.04, length / 2, 0.04)), (0, length / 2, 0))
    parent, at = body, (0, length, 0)
leg.add_body(
    "torso",
    parent,
    cd.Pin(),
    X_PF=at,
    mass=46,
    com=(0, 0.3, 0),
    inertia=(3, 1, 3),
    coordinates="hip",
)
leg.add_geometry("torso", cd.shapes.Box((0.08, 0.25, 0.12)), (0, 0.3, 0))

standing = dict.fromkeys(STRONG, 0.0)
answer = cd.predict(
    leg,
    1.0,
    start={"ankle": -0.5, "knee": 2.0, "hip": -2.0},
    end=standing,
    bounds={"ankle": (-0.7, 0.5), "knee": (0, 2.1), "hip": (-2.1, 0.5)},
    at_rest="both",
    torques=STRONG,
    mesh=25,
)
height = leg.mass_center(answer.motion.values)[:, 1]
peaks = {k: x * np.abs(answer.controls[f"{k}_torque"]).max() for k, x in STRONG.items()}
print(f"effort {answer.objective:.4f}; the mass center rises {np.ptp(height):.3f} m")
print("peak moments [N m]:", {k: round(float(x)) for k, x in peaks.items()})
assert answer.ok
assert np.abs(answer.controls.values).max() < 1  # no torque is at its limit
assert answer.terms["Effort"] == answer.objective
