"""Half a stride of walking follows rough angles; another, at 1.2 m/s, is predicted from it."""

import numpy as np

import condyle as cd

SIDES, SPEED = ("_r", "_l"), 1.2  # [m/s]
HIP, KNEE, ANKLE = (100.0, -0.5, 0.8), (80.0, -1.2, -0.02), (80.0, -0.5, 0.35)
LEG = (("thigh", 0.42, 8.5, "hip"), ("shank", 0.42, 3.7, "knee"))  # [m], [kg]
FLOOR, SOLE = ("ground", (0, 1, 0), 0.0), (0.03, 3e6, 2.0, 0.8, 0.8, 0.5, 0.2)

walker, root = cd.System(), ("tilt", "pelvis_tx", "pelvis_ty")
torso = {"mass": 46, "com": (0, 0.3, 0), "inertia": (3, 1, 3), "coordinates": root}
walker.add_body("torso", mobilizer=cd.Planar(), **torso)
walker.add_geometry("torso", cd.shapes.Box((0.08, 0.27, 0.12)), (0, 0.3, 0))
for side in SIDES:
    parent, at = "torso", (0, 0, 0)
    for name, length, mass, joint in (*LEG, ("foot", 0.06, 1.2, "ankle")):
        com = (0.06 * (name == "foot"), -length / 2, 0)
        own = {"mass": mass, "com": com, "inertia": 0.012 * mass * np.ones(3)}
        own |= {"X_PF": at, "coordinates": joint + side}
        parent = walker.add_body(name + side, parent, cd.Pin(), **own)
        walker.add_geometry(parent, cd.shapes.Box((0.03, length / 2, 0.03)), com)
        at = (0, -length, 0)
    for where, x in (("heel", -0.05), ("toe", 0.17)):
        under = ("foot" + side, (x, -0.03, 0))
        touch = cd.contact.SmoothSphereHalfSpace(*FLOOR, *under, *SOLE)
        walker.add_force(where + side, touch)

t = np.linspace(0, 0.5, 21)
sin, cos = np.sin(2 * np.pi * t), np.cos(2 * np.pi * t)
rough = {"tilt": 0 * t, "pelvis_tx": SPEED * t, "pelvis_ty": 0.87 + 0 * t}
rough |= {"hip_r": 0.3 * cos, "hip_l": -0.3 * cos, "knee_l": -0.25 - 0.7 * sin}
motion = cd.Table(t, list(rough), np.column_stack(list(rough.values())))


def problem(duration):
    made = cd.Problem(walker, duration=duration)
    for joint, (force, low, high) in zip(("hip", "knee", "ankle"), (HIP, KNEE, ANKLE)):
        both = [joint + side for side in SIDES]  # [N m] at a control of 1, [rad]
        made.add_torques(both, force)
        made.bound(both, (low, high))
    made.bound("pelvis_tx", (-0.2, 1.5), start=0)
    made.bound("pelvis_ty", (0.75, 0.9))  # a leg is 0.93 m long: one foot stays down
    made.bound("tilt", (-0.2, 0.2))
    made.require(cd.goals.Periodic(mirror=SIDES), cd.goals.MeanSpeed(SPEED))
    made.minimize(cd.goals.Smoothness(), 5e-4)
    return made


tracking, prediction = problem(0.5), problem((0.4, 0.8))
tracking.minimize(cd.goals.Follow(motion), 10.0)
tracking.minimize(cd.goals.Effort())
tracked = cd.solve(tracking, mesh=25, accuracy=1e-4)
prediction.minimize(cd.goals.Effort(per="pelvis_tx"))
walk = cd.solve(prediction, mesh=25, accuracy=1e-4, guess=tracked)
print(f"tracked: {tracked.message}; predicted: {walk.message}, {walk.duration:.3f} s")
assert abs(np.ptp(walk.motion["pelvis_tx"]) / walk.duration - SPEED) < 1e-4
assert abs(walk.motion["hip_r"][-1] - walk.motion["hip_l"][0]) < 1e-4
