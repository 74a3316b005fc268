"""Ten thousand oscillators get out of step: an uncertain stiffness, as an ensemble,
against its closed form.

Natural frequencies w are normally distributed, mean W and deviation S. Each x = cos(w t)
swings for ever, but their mean decays:
    E[cos(w t)] = cos(W t) exp(-(S t)^2 / 2)
"""

from statistics import NormalDist

import numpy as np

import condyle as cd

N, MASS, W, S, ACCURACY = 10_000, 2.0, 10.0, 0.5, 1e-6
system = cd.System(gravity=(0, 0, 0))
system.add_body(
    "block", mobilizer=cd.Slider(), mass=MASS, inertia=(1, 1, 1), coordinates="x"
)
stiffness = cd.Parameter("stiffness", MASS * W**2)
system.add_force("spring", cd.forces.MobilitySpring("x", stiffness, 0.0))

# even shares of the distribution, no dice
w = np.array([NormalDist(W, S).inv_cdf((i + 0.5) / N) for i in range(N)])
times = np.linspace(0, 6, 121)
starts = {"q": np.ones((N, 1)), "parameters": {"stiffness": MASS * w**2}}
ens = cd.simulate(system, starts, 6.0, accuracy=ACCURACY, keep=times)
x = ens.at(times)[:, :, 0]
print(
    f"{ens}, {ens.statistics.steps / N:.0f} steps each; "
    f"lanes busy {ens.utilization:.1%} of the time"
)
assert ens.finished.all()

worst = np.abs(x - np.cos(w[:, None] * times)).max()
mean = np.abs(x.mean(axis=0) - np.cos(W * times) * np.exp(-((S * times) ** 2) / 2)).max()
print(f"largest error of a member {worst:.1e} m, of the mean {mean:.1e} m")
assert worst < 10 * ACCURACY  # errors of phase add up over ten swings
assert mean < 1e-4  # N even shares leave out the tails: about 1/N
one = cd.simulate(system, ens.members[123], 6.0, accuracy=ACCURACY)
# alone or in a lane: the same to the last bit
np.testing.assert_array_equal(one.y[-1], ens.y_end[123])
