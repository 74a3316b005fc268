"""A subject's whole chain: scale a generic model, follow the markers of a walk, then find
joint moments, muscle forces and joint loads.

The subject is made up by `cd.models.synthetic_subject`, so the truth is known: markers
have 1 mm of noise and were stuck 3 mm off, ground reactions fit the motion exactly.
"""
import numpy as np

import condyle as cd

subject = cd.models.synthetic_subject()
true = subject.system

# scale: distances of markers say how large bodies are; in the static pose, upright, the
# markers of the model go where they were seen
sides = [("R", "r"), ("L", "l")]
measurements = [
    cd.Measurement("pelvis", [("R.ASIS", "L.ASIS"), ("R.ASIS", "V.Sacral"),
                              ("L.ASIS", "V.Sacral")], ["pelvis"]),
    cd.Measurement("torso", [("Sternum", "Top.Head"), ("R.Acromion", "L.Acromion")],
                   ["torso"]),
    cd.Measurement("thigh", [(f"{s}.Thigh.Upper", f"{s}.Knee.Lat") for s, _ in sides],
                   ["femur_r", "femur_l"]),
    cd.Measurement("shank", [(f"{s}.Shank.Upper", f"{s}.Ankle.Lat") for s, _ in sides],
                   ["tibia_r", "tibia_l"]),
    cd.Measurement("foot", [(f"{s}.Heel", f"{s}.Toe") for s, _ in sides],
                   ["foot_r", "foot_l"])]
upright = {name: 0.0 for name in subject.generic.coordinates
           if name not in ("pelvis_tx", "pelvis_ty")}
scaling = cd.scale(subject.generic, subject.static, measurements, mass=subject.mass,
                   preserve_mass_distribution=True, coordinates=upright)
model = scaling.system

# walk: markers to coordinates, with ground reactions to moments, forces and loads
feet = [cd.ExternalLoad(f"foot_{s}", subject.ground_reactions, force=f"{s}_force_",
                        point=f"{s}_point_") for _, s in sides]
kinematics = cd.inverse_kinematics(model, subject.walk)
motion = cd.low_pass(kinematics.motion, 10.0)
moments = cd.inverse_dynamics(model, motion, feet)
muscles = cd.static_optimization(model, motion, feet, reserves=5.0)
loads = cd.joint_reactions(model, motion, muscles.forces, feet)

# the same from the true model and motion
exact = cd.Motion(true, subject.motion.time, subject.motion.values, subject.u,
                  subject.udot)
true_moments = cd.inverse_dynamics(true, exact, feet)
true_muscles = cd.static_optimization(true, exact, feet, reserves=5.0)
true_loads = cd.joint_reactions(true, exact, true_muscles.forces, feet)

middle = slice(15, -15)  # a filter is worse at the ends


def rms(found, truth, name):
    return np.sqrt(np.mean((found[name] - truth[name])[middle] ** 2))


off = max(abs(scaling.factors[b][0] / f - 1) for b, f in subject.factors.items())
print(f"sizes of bodies: off by {100 * off:.1f} % at most")
print(f"markers: {1000 * kinematics.rms.mean():.1f} mm rms")
assert off < 0.03 and kinematics.rms.mean() < 0.003
for joint in ("hip_flexion_r", "knee_angle_r", "ankle_angle_r"):
    angle, moment = rms(motion, subject.motion, joint), rms(moments, true_moments, joint)
    largest = np.abs(true_moments[joint]).max()
    print(f"{joint}: angle off by {np.degrees(angle):.2f} deg, moment by {moment:.1f} of "
          f"{largest:.0f} N m")
    assert np.degrees(angle) < 0.5 and moment < 0.03 * largest
weight = 9.81 * subject.mass
for body in ("femur_r", "tibia_r", "foot_r"):
    load, truth = loads[f"{body}_fy"], true_loads[f"{body}_fy"]
    print(f"{body}: up to {-truth.min() / weight:.1f} body weights on its joint, found "
          f"{-load[middle].min() / weight:.1f}")
    assert rms(loads, true_loads, f"{body}_fy") < 0.15 * weight
activation = np.abs(muscles.activations.values - true_muscles.activations.values)[middle]
print(f"activations: off by {np.sqrt((activation ** 2).mean()):.3f} rms")
assert np.sqrt((activation ** 2).mean()) < 0.02
