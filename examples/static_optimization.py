"""Which muscles bend an elbow: activations with the least effort, three ways to say what
effort is, and muscles that are too weak."""

import warnings

import numpy as np

import condyle as cd

arm = cd.models.arm26()
s = np.linspace(0, 1, 51)  # the elbow bends by 90 degrees in 1 s
bend = np.pi / 2 * s**3 * (10 - 15 * s + 6 * s**2)
motion = cd.Table(s, arm.coordinates, np.column_stack([0 * s, bend]), ["rad", "rad"])

mean, hardest = {}, {}
for p in (1, 2, 3):  # the sum of activations, of their squares, of their cubes
    found = cd.static_optimization(arm, motion, exponent=p).check()
    assert found.kkt.max() < 1e-9 and found.balance.max() < 1e-9  # least, and it balances
    mean[p] = found.activations.values.mean(axis=0)
    hardest[p] = found.activations.values.max(axis=1).mean()
print("mean activation" + "".join(f"  p = {p}" for p in mean))
for i, name in enumerate(arm.muscles):
    print(f"{name:15s}" + "".join(f"{mean[p][i]:7.3f}" for p in mean))
assert hardest[3] < hardest[2] < hardest[1]  # a larger p spreads the work

weak = {"BIClong": 0.05, "BICshort": 0.05}  # the biceps is tired
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns of frames that cannot be explained
    tired = cd.static_optimization(arm, motion, a_max=weak)
print(f"with a tired biceps: {tired.status}")
print(next(iter(tired.failures.values())))
assert tired.status == cd.Status.SOME_FAILED

with warnings.catch_warnings():
    warnings.simplefilter("ignore", cd.errors.QualityWarning)  # reserves do the work
    helped = cd.static_optimization(arm, motion, a_max=weak, reserves=1.0)
print(helped.quality.worst)
assert not helped.failures and helped.quality.verdict == "fail"
most = {name: np.abs(helped.reserves[name]).max() for name in helped.reserves.names}
print("reserves that help: " + ", ".join(f"{n} {x:.2f} N m" for n, x in most.items()))
assert max(most.values()) > 0.1
