"""A joint fitted to measurements: the values of a spline are Parameters, and least
squares follows their derivatives.

A shank slides along the femur while the knee bends. How far is measured at 200 angles,
with noise; seven values of a spline are wanted.
"""

import numpy as np

import condyle as cd

angles = np.linspace(-2.0, 0.0, 7)
heights = [cd.Parameter(f"slide_{k}", 0.0) for k in range(7)]  # [m], to be found
knee = cd.FunctionBased(
    "knee",
    angles=(None, None, lambda q: q),
    translations=(cd.Spline(angles, heights, degree=5), -0.4, None),
)
leg = cd.System()
leg.add_body(
    "shank", mobilizer=knee, mass=3.7, com=(0, -0.19, 0), inertia=(0.05, 0.005, 0.05)
)

rng = np.random.default_rng(0)
q = rng.uniform(-2.0, 0.0, (200, 1))
true = 0.004 * np.sin(2 * angles)  # what nature chose
# 0.1 mm of noise
measured = cd.Spline(angles, true, degree=5)(q[:, 0]) + rng.normal(scale=1e-4, size=200)

found = np.zeros(7)
for _ in range(2):  # a spline is linear in its values: one step fits, a second shows it
    forward = leg.body_pose(q, "shank", parameters=found).p[:, 0]
    # 12 rows: R, then p
    J = leg.jacobian("body_pose", q, "shank", wrt="parameters", parameters=found)[:, 9]
    step = np.linalg.lstsq(J, measured - forward)[0]
    found = found + step
    print(
        f"step {np.abs(step).max() * 1e3:9.6f} mm   "
        f"error {np.abs(found - true).max() * 1e3:.4f} mm"
    )

# the fitted joint, nothing compiled again
udot = leg.forward_dynamics([-1.0], [2.0], parameters=found)
print("udot", udot.round(3), "rad/s^2")
assert np.abs(step).max() < 1e-12
assert np.abs(found - true).max() < 2e-4
