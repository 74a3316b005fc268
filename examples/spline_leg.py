"""Inverse kinematics of a leg with a measured knee: the foot goes where it is wanted.

Fig. 3 of lee2008: hip and ankle are pins, the knee is a spline through frames of the
tibia in the femur. Exact Jacobians let Newton's method square its error at every step.
"""
import numpy as np

import condyle as cd
from condyle.spatial import exp_so3

# Fifteen frames of a knee that bends, rolls back and turns inwards, from -120 to 11 deg.
bend = np.linspace(-2.1, 0.2, 15)
turn = np.stack([0 * bend, 0.15 * np.sin(bend), bend], axis=1)
place = np.stack([0.004 * np.sin(2 * bend), -0.396 - 0.006 * bend**2, 0 * bend], axis=1)
knee = cd.SplineCurve.natural((exp_so3(turn), place), domain=(-2.1, 0.2),
                              coordinate="knee", unit="rad")
leg = cd.System()
leg.add_body("thigh", mobilizer=cd.Pin(), mass=9.3, com=(0, -0.17, 0),
             inertia=(0.13, 0.03, 0.14), coordinates=("hip",))
leg.add_body("shank", "thigh", knee, mass=3.7, com=(0, -0.19, 0),
             inertia=(0.05, 0.01, 0.05))
leg.add_body("foot", "shank", cd.Pin(), X_PF=(0, -0.4, 0), mass=1.2,
             com=(0.05, -0.03, 0), inertia=(0.002, 0.004, 0.004), coordinates=("ankle",))


def reach(X, start, **options):
    """The motion that brings the foot to poses X, each found from the one before."""
    goals = [cd.goals.Station("foot", (0, 0, 0), X.p), cd.goals.Orientation("foot", X.R)]
    return cd.assemble_frames(leg, leg.state(q=start), goals, **options)


# One pose: the error after each iteration, seen by asking for more and more accuracy.
wanted = np.array([0.7, -1.3, 0.2])
X = leg.body_pose(wanted[None], "foot")
errors = {}
for accuracy in 10.0 ** -np.arange(1, 12):
    found = reach(X, (0, -0.3, 0), accuracy=accuracy)
    errors[found.iterations[0]] = np.abs(found.q[0] - wanted).max()
print("iteration, error [rad]:", *(f"{k}: {e:.0e}" for k, e in sorted(errors.items())))
for k in sorted(errors)[:-1]:
    assert errors.get(k + 1, 0) < errors[k] ** 2 + 1e-14, errors  # squared, to rounding
assert min(errors.values()) < 1e-12

# A step: the ankle follows a path in the plane; the shank leaves it, as knees do.
s = np.linspace(0, 1, 51)
path = np.stack([0.4 * s - 0.2, -0.74 + 0.2 * np.sin(np.pi * s), 0 * s], axis=1)
level = cd.goals.Orientation("foot", np.eye(3), weight=1e-3)
step = cd.assemble_frames(leg, leg.state(q=(0, -0.5, 0)), [
    cd.goals.Station("foot", (0, 0, 0), path), level], t=s)
ankle = 1e3 * (leg.station_position(step.q, "foot", (0, 0, 0)) - path)  # [mm]
flat, aside = np.abs(ankle[:, :2]).max(), np.ptp(ankle[:, 2])
print(f"step: {step.iterations.mean():.1f} iterations per frame, ankle within "
      f"{flat:.1f} mm in the plane, {aside:.0f} mm aside")
low, high = knee.domain
assert step.status == "finished" and flat < 6 < aside
assert (step["knee"] >= low).all() and (step["knee"] <= high).all()

# Beyond reach: the knee stops where its measurement ends.
far = reach(leg.body_pose([[0.2, 0.4, 0]], "foot"), (0, -0.5, 0),
            limits={"knee": (-1, high)})
print(f"knee at {far['knee'][0]:.2f} rad, its end")
assert far["knee"][0] == high
