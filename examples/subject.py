"""A subject's whole chain: scale a generic model, follow the markers of a walk, then find
joint moments, muscle forces and joint loads.

The subject is made up by `cd.models.synthetic_subject`, so the truth is known: markers
have 1 mm of noise and were stuck 3 mm off, ground reactions fit the motion exactly.
"""

import numpy as np

import condyle as cd
from condyle.studies.scaling import Measurement

subject = cd.models.synthetic_subject()
feet = [
    cd.ExternalLoad(
        f"foot_{s}", subject.ground_reactions, force=f"{s}_force_", point=f"{s}_point_"
    )
    for s in "rl"
]


def chain(system, motion):
    moments = cd.inverse_dynamics(system, motion, feet)
    muscles = cd.static_optimization(system, motion, feet, reserves=5.0)
    loads = cd.joint_reactions(system, motion, muscles.forces, feet)
    return moments, muscles.activations, loads


# distances of markers in a static pose, upright, say how large bodies are
pairs = {"pelvis": ("R.ASIS", "L.ASIS"), "torso": ("Sternum", "Top.Head")}
for side, s in (("R", "r"), ("L", "l")):
    pairs |= {
        f"femur_{s}": (f"{side}.Thigh.Upper", f"{side}.Knee.Lat"),
        f"tibia_{s}": (f"{side}.Shank.Upper", f"{side}.Ankle.Lat"),
        f"foot_{s}": (f"{side}.Heel", f"{side}.Toe"),
    }
measurements = [Measurement(body, [pair], [body]) for body, pair in pairs.items()]
upright = {
    name: 0.0
    for name in subject.generic.coordinates
    if name not in ("pelvis_tx", "pelvis_ty")
}
scaling = cd.scale(
    subject.generic,
    subject.static,
    measurements,
    mass=subject.mass,
    preserve_mass_distribution=True,
    coordinates=upright,
)
off = max(abs(scaling.factors[b][0] / f - 1) for b, f in subject.factors.items())

kinematics = cd.inverse_kinematics(scaling.system, subject.walk)
motion = cd.low_pass(kinematics.motion, 10.0)
print(f"sizes off by {100 * off:.1f} %; markers {1e3 * kinematics.rms.mean():.1f} mm rms")
assert off < 0.05 and kinematics.rms.mean() < 0.003

exact = cd.Motion(
    subject.system, subject.motion.time, subject.motion.values, subject.u, subject.udot
)
found, true = chain(scaling.system, motion), chain(subject.system, exact)
rms = lambda a, b, name: np.sqrt(np.mean((a[name] - b[name])[15:-15] ** 2))
for joint, body in (
    ("hip_flexion_r", "femur_r"),
    ("knee_angle_r", "tibia_r"),
    ("ankle_angle_r", "foot_r"),
):
    angle, moment = rms(motion, subject.motion, joint), rms(found[0], true[0], joint)
    load, weight = rms(found[2], true[2], f"{body}_fy"), 9.81 * subject.mass
    print(
        f"{joint} off by {np.degrees(angle):.2f} deg, moment by {moment:.1f} of "
        f"{np.abs(true[0][joint]).max():.0f} N m, load by {load / weight:.2f} of "
        f"{-true[2][f'{body}_fy'].min() / weight:.1f} body weights"
    )
    assert np.degrees(angle) < 0.6 and moment < 3 and load < 0.1 * weight
assert rms(found[1], true[1], "soleus_r") < 0.03
