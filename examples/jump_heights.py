"""Monte Carlo of a jump: how high 2,000 jumpers come whose mass, strength and depth of
crouch are uncertain, against the closed form; which of the three counts, and a summary
that stays the same wherever and however the members run.

Legs push like a spring until they are straight. With stiffness k, mass m and depth d the
trunk rises from its crouch by h = k d^2 / (2 m g).
"""

import numpy as np
import scipy.stats

import condyle as cd

G = 9.81
UPRIGHT = cd.Transform([[0, -1, 0], [1, 0, 0], [0, 0, 1]], (0, 0, 0))  # x is up


def legs(s):
    bent = cd.where(s.q("height") < 0, -s.q("height"), 0.0)
    return {"height": s.parameter("stiffness", 6e3) * bent}


jumper = cd.System(gravity=(0, -G, 0))
jumper.add_body(
    "trunk",
    mobilizer=cd.Slider(),
    X_PF=UPRIGHT,
    X_BM=UPRIGHT,
    mass=cd.Parameter("mass", 70.0),
    inertia=(1, 1, 1),
    coordinates="height",
)
jumper.add_force("legs", cd.forces.Custom(legs))

uncertain = {
    "mass": scipy.stats.norm(70, 5),
    "stiffness": scipy.stats.norm(8e3, 600),
    "height": (-0.45, -0.35),  # where they start: the crouch
}
members = cd.members(uncertain, n=2_000, seed=1)


def apex(ens):
    """Height of the trunk at the top of the flight, from its state at 0.3 s [m]."""
    y, v = ens.y_end.T
    return y + v**2 / (2 * G)


jump = cd.Simulation(jumper, jumper.state(), 0.3, accuracy=1e-7)
sweep = cd.sweep(jump, members, measures={"apex": apex})
m, k, y = (members[name] for name in members.names)
exact = y + k * y**2 / (2 * m * G)
error = np.abs(sweep["apex"] - exact).max()
print(f"{sweep}, largest error {error:.1e} m")
assert error < 1e-5  # accuracy, times the growth of errors in a push-off

apex_m = sweep.summary["apex"]
print(
    f"apex {apex_m['mean']:.3f} +- {apex_m['standard deviation']:.3f} m, "
    f"5 % below {apex_m['5 %']:.3f} m"
)
fifth = np.quantile(exact, 0.05, method="inverted_cdf")
assert abs(apex_m["5 %"] / fifth - 1) < 1e-3  # a bin of its histogram

shares = sweep.sensitivity("apex")
for name, share in zip(shares.quantities, shares.total, strict=True):
    print(f"{name} explains {100 * share:.0f} % of the variance")
assert 0.97 < shares.first.sum() <= 1.001  # nearly a sum of three effects

reduced = cd.sweep(jump, members, measures={"apex": apex}, chunk=128, reduce=True)
assert reduced.summary["apex"] == apex_m  # to the last bit
