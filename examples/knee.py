"""A knee from measured points: splines become the joint, and the joint becomes machine
code.

Where the tibia stands on the femur at some angles of flexion, as in OpenSim's model
gait10dof18musc (after Yamaguchi and Zajac 1989), rounded to 0.1 mm.
"""
import numpy as np

import condyle as cd

flexion = np.radians([-120, -100, -80, -60, -40, -20, 0])
slide = [-0.0032, 0.0018, 0.0041, 0.0041, 0.0021, -0.0010, -0.0042]  # [m]
forward = cd.Spline(flexion, slide)
down = cd.Spline(np.radians([-120, -70, -30, -20, -10, 0]),
                 [-0.4226, -0.4082, -0.3990, -0.3976, -0.3966, -0.3960])

leg = cd.System(gravity=(0, -9.81, 0))
leg.add_body("thigh", mobilizer=cd.Pin(), mass=9.3, com=(0, -0.17, 0),
             inertia=(0.13, 0.035, 0.14), coordinates="hip")
knee = cd.FunctionBased("knee", angles=(None, None, lambda q: q),
                        translations=(forward, down, None))
leg.add_body("shank", "thigh", knee, mass=3.7, com=(0, -0.19, 0),
             inertia=(0.05, 0.005, 0.05))
print(leg.describe())

state = leg.state(q={"hip": 0.4, "knee": -1.0}, u={"knee": 2.0})
print("one state:", *leg.speeds, state.udot.round(3), "rad/s^2")

rng = np.random.default_rng(0)
q, u = rng.uniform((-1, -2), (1, 0), (10_000, 2)), rng.uniform(-5, 5, (10_000, 2))
udot = leg.forward_dynamics(q, u)  # ten thousand states in one call
print("ten thousand:", udot.shape)

# The joint passes through the measured points ...
measured = leg.body_pose(np.column_stack([0 * flexion, flexion]), "shank").p
np.testing.assert_allclose(measured[:, 0], slide, atol=1e-15)
# ... one state and many give the same, and gravity alone changes no energy: its rate
# along the motion is zero.
np.testing.assert_allclose(leg.forward_dynamics(q[7], u[7]), udot[7], rtol=1e-11)
energy = lambda s: np.add(*leg.energy(q + s * u, u + s * udot))
rate = (energy(1e-4) - energy(-1e-4)) / 2e-4
# [W], while the joints exchange hundreds
assert np.abs(rate).max() < 1e-3, np.abs(rate).max()
