"""Shooting: an arm reaches a posture and rests there, found from nothing but simulations and their gradients.

Six muscles are excited by Bezier curves of five control values each. A run of `cd.simulate` gives where the arm
ends, `run.vjp` the gradient of that with respect to all thirty values at about three times the price of the run,
and SciPy's L-BFGS-B does the rest. `examples/reach.py` finds such a movement by optimal control instead.
"""

from dataclasses import replace
from math import comb

import numpy as np
from scipy.optimize import minimize

import condyle as cd

T, K = 0.7, 5
GOAL = np.array([0.3, 1.6, 0.0, 0.0])  # shoulder and elbow [rad], and their speeds
WEIGHTS = np.array([10.0, 10.0, 0.1, 0.1])


def excited(muscle, name):
    """The muscle with a Bezier curve over time as its excitation."""
    c = [cd.Parameter(f"{name} {k}", 0.1) for k in range(K)]
    basis = lambda x, k: comb(K - 1, k) * x**k * (1 - x) ** (K - 1 - k)
    return replace(
        muscle, excitation=lambda s: sum(basis(s.t / T, k) * c[k] for k in range(K))
    )


arm = cd.models.arm26(tendon="rigid")
arm = arm.copy(forces={name: excited(arm.force(name), name) for name in arm.muscles})
for joint in arm.coordinates:  # what is soft around a joint
    arm.add_force(f"{joint} tissue", cd.forces.MobilityDamper(joint, 0.3))
rest = arm.state(q={"r_shoulder_elev": 0.0, "r_elbow_flex": 0.4})


def reach(c):
    return cd.simulate(arm, rest.replace(parameters=c), T, accuracy=1e-6)


def cost(c):
    """How far from the goal the arm ends, with a little effort; and its gradient."""
    run = reach(c)
    miss = run.y[-1, :4] - GOAL
    w = np.zeros(run.y.shape[1])
    w[:4] = 2 * WEIGHTS * miss
    gradient = run.vjp(w, wrt="parameters")["parameters"]
    return WEIGHTS @ miss**2 + 1e-3 * c @ c, gradient + 2e-3 * c


first = np.random.default_rng(1).uniform(0.05, 0.2, len(arm.parameters))
bounds, few = [(0.01, 1)] * len(first), {"maxiter": 25}
answer = minimize(cost, first, jac=True, method="L-BFGS-B", bounds=bounds, options=few)
run = reach(answer.x)
miss = np.abs(run.y[-1, :4] - GOAL)
names = ", ".join(
    f"{name} {x:.2f}" for name, x in zip(arm.muscles, answer.x.reshape(-1, K).max(1))
)
print(
    f"{len(first)} values, {answer.nfev} runs with gradients: cost {cost(first)[0]:.3g} -> {answer.fun:.3g}"
)
print(
    f"the arm misses its posture by {np.degrees(miss[:2].max()):.2f} deg, and moves with {miss[2:].max():.3f} rad/s"
)
print(f"largest control values: {names}")

h, k = 1e-4, 3  # the gradient is that of the run: differences say the same
e = h * np.eye(len(first))[k]
difference = (cost(first + e)[0] - cost(first - e)[0]) / (2 * h)
assert abs(cost(first)[1][k] - difference) < 1e-3 * abs(difference)
assert miss[:2].max() < np.radians(1.0) and miss[2:].max() < 0.2
