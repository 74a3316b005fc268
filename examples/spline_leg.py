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
knee = cd.SplineCurve.natural((exp_so3(turn), place), domain=(-2.1, 0.2), unit="rad")
leg = cd.System()
for name, parent, joint, offset in (
    ("hip", "ground", cd.Pin(), 0),
    ("knee", "hip", knee, 0),
    ("ankle", "knee", cd.Pin(), -0.4),
):
    leg.add_body(name, parent, joint, X_PF=(0, offset, 0), mass=3, inertia=(0.05,) * 3)


def reach(p, R, start, weight=1.0, **options):
    """The motion that brings the foot to poses, each found from the one before."""
    goals = [
        cd.goals.Station("ankle", (0, 0, 0), p),
        cd.goals.Orientation("ankle", R, weight=weight),
    ]
    return cd.assemble_frames(leg, leg.state(q=start), goals, **options)


# One pose: the error after each iteration, seen by asking for more and more accuracy.
wanted, errors = np.array([0.7, -1.3, 0.2]), {}
X = leg.body_pose(wanted[None], "ankle")
for accuracy in 10.0 ** -np.arange(1, 12):
    found = reach(X.p, X.R, (0, -0.3, 0), accuracy=accuracy)
    errors[found.iterations[0]] = np.abs(found.q[0] - wanted).max()
print("iteration, error [rad]:", *(f"{k}: {e:.0e}" for k, e in sorted(errors.items())))
for k in sorted(errors)[:-1]:
    assert errors.get(k + 1, 0) < errors[k] ** 2 + 1e-14, errors  # squared, to rounding

# A step: the foot follows a path in the plane; the shank leaves it, as knees do.
s = np.linspace(0, 1, 51)
path = np.stack([0.4 * s - 0.2, -0.74 + 0.2 * np.sin(np.pi * s), 0 * s], axis=1)
step = reach(path, np.eye(3), (0, -0.5, 0), weight=1e-3, t=s)
off = 1e3 * np.abs(leg.station_position(step.q, "ankle", (0, 0, 0)) - path).max(axis=0)
print(
    f"step: {step.iterations.mean():.1f} iterations per frame, within "
    f"{max(off[:2]):.1f} mm in the plane, {off[2]:.0f} mm aside"
)
low, high = knee.domain
assert step.status == "finished" and max(off[:2]) < 6 < off[2]
assert (step["knee"] >= low).all() and (step["knee"] <= high).all()

# Beyond reach: the knee stops where its measurement ends.
far = leg.body_pose([[0.2, 0.4, 0]], "ankle")
assert reach(far.p, far.R, (0, -0.5, 0))["knee"][0] == high
