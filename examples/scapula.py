"""The scapula glides on the thorax as on an ellipsoid, and the same arm does a push-up.

Figure 3 and section 2.4 of seth2010. Who reaches has a tree that grows from the thorax;
who stands on his hand is best rooted there. Reversed joints keep their coordinates.
"""

import numpy as np

import condyle as cd

glide = cd.Ellipsoid(radii=(0.08, 0.19, 0.10), coordinates="euler")  # of the thorax [m]
shoulder, elbow = cd.Gimbal(), cd.Pin()
thorax = {"mass": 28.0, "com": (0.0, -0.05, 0.0), "inertia": (0.9, 0.5, 0.8)}
scapula = {"mass": 0.7, "com": (-0.05, -0.05, 0.0), "inertia": (0.001, 0.0008, 0.001)}
humerus = {"mass": 2.0, "com": (0.0, -0.16, 0.0), "inertia": (0.013, 0.002, 0.013)}
forearm = {"mass": 1.5, "com": (0.0, -0.12, 0.0), "inertia": (0.009, 0.001, 0.009)}
hand, socket = (0, -0.26, 0), (0.03, 0.02, 0.02)  # on forearm, on scapula [m]
glides, turns = ("tipping", "winging", "upward"), ("flexion", "abduction", "axial")

reaching = cd.System()
reaching.add_body("thorax", mobilizer=cd.Free(), **thorax)
reaching.add_body("scapula", "thorax", glide, coordinates=glides, **scapula)
reaching.add_body(
    "humerus", "scapula", shoulder, X_PF=socket, coordinates=turns, **humerus
)
reaching.add_body(
    "forearm", "humerus", elbow, X_PF=(0, -0.3, 0), coordinates="elbow", **forearm
)
reaching.add_constraint("grip", cd.constraints.Weld("ground", (0, 0, 0), "forearm", hand))

pushing = cd.System()
pushing.add_body("forearm", mobilizer=cd.Weld(), X_BM=hand, **forearm)
pushing.add_body(
    "humerus",
    "forearm",
    elbow.reversed(),
    X_BM=(0, -0.3, 0),
    coordinates="elbow",
    **humerus,
)
pushing.add_body(
    "scapula", "humerus", shoulder.reversed(), X_BM=socket, coordinates=turns, **scapula
)
pushing.add_body("thorax", "scapula", glide.reversed(), coordinates=glides, **thorax)
print(
    f"rooted at the thorax: {reaching.nu} speeds, 6 constraint equations; at the hand: "
    f"{pushing.nu} speeds, none"
)

# One posture and motion, told from either end.
b = pushing.state(
    q={"tipping": 0.3, "winging": -0.4, "elbow": 1.1, "abduction": 0.5},
    u={"elbow": 1.0, "thorax_wx": 0.4},
)
place = dict(zip(reaching.coordinates, cd.Free().fit_q(b.body_pose("thorax"))[0]))
motion = dict(zip(reaching.speeds, b.body_velocity("thorax")))
at_hand = lambda name: pushing.speeds.index(name.replace("scapula", "thorax"))
joints = {name: at_hand(name) for name in reaching.speeds[6:]}
a = reaching.state(
    q=place | dict(zip(pushing.coordinates, b.q)),
    u=motion | {name: b.u[k] for name, k in joints.items()},
)
np.testing.assert_allclose(a.energy(), b.energy(), rtol=1e-12)
for body in ("scapula", "humerus", "forearm"):
    np.testing.assert_allclose(a.body_pose(body).p, b.body_pose(body).p, atol=1e-12)
for (name, k), udot in zip(joints.items(), a.udot[6:]):
    print(
        f"{name:>10}: {udot:9.4f} rad/s^2 from the thorax, {b.udot[k]:9.4f} from the hand"
    )
    np.testing.assert_allclose(udot, b.udot[k], atol=1e-9)
