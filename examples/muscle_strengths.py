"""Which muscle's strength counts for the load in the elbow: arm26 lifts its forearm, and
the strengths of all six muscles are uncertain by 10 %. Sobol indices of the load from 256
members, beside what differences at the mean say, and the band of the load over time."""

import numpy as np
import scipy.stats

import condyle as cd

arm = cd.models.arm26()
t = np.linspace(0, 1, 51)
lift = np.pi / 2 * (10 * t**3 - 15 * t**4 + 6 * t**5)
angles = np.stack([0 * t, lift], axis=1)
motion = cd.Table(t, arm.coordinates, angles, ["rad", "rad"])

study = cd.MotionStudy(arm, motion, reserves=1.0, results=("forces", "loads"))
uncertain = {f"{name} strength": scipy.stats.norm(1, 0.1) for name in arm.muscles}
members = cd.members(uncertain, n=256, seed=1)
found = cd.uncertainty(study, members)
LOAD, AT = "r_ulna_radius_hand_fy", 0.6  # [s]
band = found["loads"]
row = int(np.argmin(np.abs(t - AT)))
print(
    f"load at {AT} s: {band.mean[LOAD][row]:.0f} N, 90 % of members from "
    f"{band.low[LOAD][row]:.0f} to {band.high[LOAD][row]:.0f} N"
)
shares = band.sensitivity(LOAD, of=AT)
for k in np.argsort(-shares.total)[:3]:
    low, high = shares.total_interval[k]
    print(f"{shares.quantities[k]}: {shares.total[k]:.2f} ({low:.2f} to {high:.2f})")

# at the mean: each strength by 0.1 % up and down, shares of the linear variance
ends = 1 + 1e-3 * np.concatenate([np.eye(6), -np.eye(6)])
near = cd.uncertainty(study, cd.Table(np.arange(12), members.names, ends, over="member"))
slopes = -np.diff(near["loads"][LOAD][:, row].reshape(2, 6), axis=0)[0] / 2e-3
linear = slopes**2 / (slopes**2).sum()
print(f"differences at the mean agree to {np.abs(linear - shares.first).max():.3f}")
assert np.argmax(linear) == np.argmax(shares.total)
assert np.abs(linear - shares.first).max() < 0.05  # 10 % is not small

# a stronger flexor takes more of the work: the sum of forces, not their moments, changes
moments = cd.inverse_dynamics(arm, motion)
assert found["forces"].std["BIClong"].max() > 1 and np.isfinite(moments.values).all()
