"""A second opinion: a leg with a knee measured on bone, its dynamics written in two ways
that share nothing but joint and forces.

`system` eliminates the joints by recursion. `condyle.maximal` gives each body seven
coordinates, writes the joints as constraints and solves for their multipliers. If both
give the same accelerations, torques and joint loads, either is hard to doubt.
"""

import numpy as np

import condyle as cd
from condyle import maximal

system = cd.System()
system.add_body(
    "thigh", mobilizer=cd.Ball(), X_BM=(0, 0.17, 0), mass=9.3, inertia=(0.13, 0.035, 0.14)
)
knee = cd.FunctionBased(
    "knee",
    (None, lambda q: 0.06 * np.sin(q), lambda q: q),
    (lambda q: -0.005 + 0.02 * np.sin(q), lambda q: -0.39 + 0.01 * np.cos(q), None),
)
system.add_body(
    "shank",
    "thigh",
    knee,
    X_PF=(0, 0.17, 0),
    X_BM=(0, 0.19, 0),
    mass=3.7,
    inertia=(0.05, 0.005, 0.05),
)
system.add_body(
    "foot",
    "shank",
    cd.Pin(axis=(-0.1, -0.17, 0.98)),
    X_PF=(0, -0.24, 0),
    mass=1.2,
    com=(0.06, 0, 0),
    inertia=(0.001, 0.004, 0.004),
)
system.add_force("capsule", cd.forces.MobilitySpring("knee", 8.0, -0.3))
system.add_force(
    "tendon",
    cd.forces.TwoPointSpring("thigh", (0.04, 0.1, 0), "shank", (0.03, 0.15, 0), 2e3, 0.2),
)

rng = np.random.default_rng(1)
state = system.state(q={"knee": -0.9, "foot": 0.2}, u=rng.uniform(-3, 3, system.nu))
q, u, tau = state.q, state.u, rng.uniform(-20, 20, system.nu)

pairs = {
    "accelerations": (
        system.forward_dynamics(q, u, tau),
        maximal.forward_dynamics(system, q, u, tau),
    ),
    "joint torques": (
        system.inverse_dynamics(q, u, np.ones(5)),
        maximal.inverse_dynamics(system, q, u, np.ones(5)),
    ),
    "joint loads": (
        system.reactions(q, u, np.ones(5)),
        maximal.reactions(system, q, u, np.ones(5)),
    ),
}
for name, (one, other) in pairs.items():
    print(
        f"{name}: largest {np.abs(one).max():.4g}, "
        f"they differ by {np.abs(one - other).max():.1e}"
    )
    # both round differently
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-11 * np.abs(one).max())

equations = maximal.formulation(system).at(q, u)  # C_V, gamma, M, Q, ... as arrays
print(
    f"{maximal.formulation(system)!r}; multipliers of the knee: "
    f"{equations.forward(tau).lambda_s[3:9].round(2)}"
)
