"""A push-up: one arm rooted at the trunk and, by reversed joints, at the forearm. Same
coordinates, same physics.

A tree grows from its root. Who stands on his hands is best rooted there, but his elbow is
still the elbow: a reversed joint keeps its coordinate while its two bodies change places.
"""
import numpy as np

import condyle as cd
from condyle.spatial import quaternion_from_rotation

trunk = {"mass": 30.0, "com": (0, -0.2, 0), "inertia": (1.2, 0.3, 1.3)}
upper = {"mass": 2.0, "com": (0, -0.14, 0), "inertia": (0.013, 0.002, 0.013)}
lower = {"mass": 1.6, "com": (0, -0.18, 0), "inertia": (0.015, 0.002, 0.015)}
shoulder = cd.Pin()
elbow = cd.FunctionBased("elbow", (None, None, lambda q: q),
                         (lambda q: 0.008 * np.sin(q), None, None))
at_shoulder, at_elbow = (0, 0.1, 0.2), (0, -0.29, 0)  # on the trunk, on the upper arm [m]

standing = cd.System()
standing.add_body("trunk", mobilizer=cd.Free(), **trunk)
standing.add_body("upper", "trunk", shoulder, X_PF=at_shoulder, coordinates="shoulder",
                  **upper)
standing.add_body("lower", "upper", elbow, X_PF=at_elbow, **lower)

pushing = cd.System()
pushing.add_body("lower", mobilizer=cd.Free(), **lower)
pushing.add_body("upper", "lower", elbow.reversed(), X_BM=at_elbow, **upper)
pushing.add_body("trunk", "upper", shoulder.reversed(), X_BM=at_shoulder,
                 coordinates="shoulder", **trunk)

# One posture and motion, told from either end.
q, u = {"shoulder": 0.9, "elbow": 1.2}, {"shoulder": -1.0, "elbow": 2.0}
a = standing.state(q=q, u={**u, "trunk_wz": 0.3, "trunk_vx": 0.5})
R, p = a.body_pose("lower")
root = dict(zip(pushing.coordinates, [*quaternion_from_rotation(R), *p]))
b = pushing.state(q=root | q,
                  u=dict(zip(pushing.speeds, a.body_velocity("lower"))) | u)

torque = {"shoulder": 20.0, "elbow": 8.0}                     # [N m]
push = lambda s: dict(zip(s.system.speeds,
                          s.forward_dynamics([torque.get(name, 0.0)
                                              for name in s.system.speeds])))
for name in torque:
    one, other = push(a)[name], push(b)[name]
    print(f"{name}: {one:.6f} rad/s^2 rooted at the trunk, "
          f"{other:.6f} rooted at the forearm")
    np.testing.assert_allclose(other, one, rtol=1e-10)
np.testing.assert_allclose(b.energy(), a.energy(), rtol=1e-12)
