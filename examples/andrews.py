"""Andrews' squeezing mechanism: seven bodies, three loops through one point, a spring;
five turns of its crank in 0.05 s.

A benchmark of mechanism codes (A03). The loops are cut at that point; constraints and
projection keep them closed.
"""

import numpy as np

import condyle as cd

system = cd.System(gravity=(0, 0, 0))
A, B = (-0.06934, -0.00227, 0), (-0.03635, 0.03273, 0)
for name, parent, at, mass, com, I, angle in (
    ("K1", "ground", (0, 0, 0), 0.04325, (0.00092, 0, 0), 2.194e-6, "beta"),
    ("K2", "K1", (0.007, 0, 0), 0.00365, (-0.0115, 0, 0), 4.41e-7, "Theta"),
    ("K3", "ground", B, 0.02373, (0.01043, -0.01874, 0), 5.255e-6, "gamma"),
    ("K5", "ground", A, 0.0705, (0.02308, 0.00916, 0), 1.169e-5, "delta"),
    ("K4", "K5", (0.04, 0, 0), 0.00706, (0, -0.00579, 0), 5.667e-7, "Phi"),
    ("K7", "ground", A, 0.05498, (-0.00449, -0.01228, 0), 1.912e-5, "epsilon"),
    ("K6", "K7", (0, -0.04, 0), 0.00706, (0.00579, 0, 0), 5.667e-7, "Omega"),
):
    system.add_body(
        name,
        parent,
        cd.Pin(),
        X_PF=at,
        mass=mass,
        com=com,
        inertia=(I, I, I),
        coordinates=angle,
    )
system.add_force(
    "spring",
    cd.forces.TwoPointSpring(
        "ground", (0.014, 0.072, 0), "K3", (0.02, -0.018, 0), 4530.0, 0.07785
    ),
)
system.add_force("drive", cd.forces.MobilityForce("beta", 0.033))
for name, tip in (("K3", (0, -0.035, 0)), ("K4", (0, -0.02, 0)), ("K6", (0.02, 0, 0))):
    system.add_constraint(
        f"tip of {name}", cd.constraints.Ball("K2", (-0.028, 0, 0), name, tip)
    )

guess = system.state(
    q={
        "beta": -0.06,
        "gamma": 0.46,
        "Phi": 0.22,
        "delta": 0.49,
        "Omega": -0.22,
        "epsilon": 1.23,
    }
)
# one degree of freedom, so that Theta = 0 says it all
q, u = system.project(guess.q, guess.u, locked=["Theta"])
assert abs(q[0] + 0.0617138900142764) < 1e-9, q  # published
traj = cd.simulate(system, system.state(q=q, u=u), 0.05, accuracy=1e-8)
assert traj.finished, traj.status

beta = traj.q[:, 0]
# less the work of the drive
balance = traj.energy().values.sum(axis=1) - 0.033 * (beta - beta[0])
assert abs(beta[-1] / 33.8258678 - 1) < 1e-7, beta[-1]  # from an independent integration
assert np.ptp(balance) < 1e-8 * balance[0]
print(
    f"beta(0.05) = {beta[-1]:.7f} rad in {traj.statistics.steps} steps; "
    f"energy and work balance to {np.ptp(balance):.0e} J"
)
