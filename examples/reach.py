"""An arm reaches a place with its six muscles, whose tendons stretch: excitations, fibers
and tendons of a movement that nobody recorded."""

import numpy as np

import condyle as cd

GOAL, HAND = np.array([0.29, -0.25, 0.0]), (0.0, -0.3, 0.0)

arm = cd.models.arm26(cd.muscles.DeGroote2016, tendon="elastic")
wrist = ("r_ulna_radius_hand", HAND)

problem = cd.Problem(arm, duration=0.6)
problem.add_torques(optimal_force=1.0)  # small reserves: 1 N m costs as much as a muscle
problem.bound("r_shoulder_elev", (-0.5, 2.0), start=0.0)
problem.bound("r_elbow_flex", (0.0, 2.27), start=0.35)
problem.bound(problem.speeds, (-20, 20), start=0, end=0)
problem.bound([f"{name}.activation" for name in arm.muscles], start=0.02)  # at ease
problem.minimize(cd.goals.Effort())
shoulder = np.array(arm.station_position([0.0, 0.35], "r_humerus", (0, 0, 0)))


def miss(s):
    return s.station_position(*wrist) - (shoulder + GOAL)


problem.require(cd.goals.Final(miss, [0, 0, -1], [0, 0, 1]))  # in the arm's plane
answer = cd.solve(problem, mesh=15)

q = answer.motion.values[-1]
place = np.array(arm.station_position(q, *wrist)) - shoulder
print(answer.message, answer.statistics["iterations"], "iterations")
print("the hand ends at", place.round(4), "from the shoulder")
for name in ("TRIlong", "BIClong", "BRA"):
    print(f"{name} activation: {answer.activations[name].max():.3f} at most")
assert answer.ok
assert np.abs(answer.controls["r_elbow_flex_torque"]).max() < 0.3  # muscles do the work
assert np.abs(place - GOAL)[:2].max() < 1e-6
