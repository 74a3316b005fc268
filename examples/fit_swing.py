"""Mass, stiffness, damping and muscle strength of a leg, from a noisy recording of one swing.

The shank swings at the knee; a muscle whose excitation is known pulls it up for a while. Only the angle is
recorded, with noise of a tenth of a degree. Residuals are runs, and their derivatives are exact (`traj.jacobian`),
so that the fit comes with standard errors, and says which combinations of values the recording hardly sees.
"""

import numpy as np

import condyle as cd

TRUE = {"mass": 8.5, "stiffness": 14.0, "damping": 0.7, "strength": 400.0}
NOISE = np.radians(0.1)

leg = cd.System(gravity=(0, -9.81, 0))
leg.add_body(
    "shank",
    mobilizer=cd.Pin(),
    X_BM=(0, 0.25, 0),
    mass=cd.Parameter("mass", 7.0),
    inertia=(0.12, 0.02, 0.12),
    coordinates="knee",
)
leg.add_force(
    "tissue", cd.forces.MobilitySpring("knee", cd.Parameter("stiffness", 10.0), 0.2)
)
leg.add_force("fluid", cd.forces.MobilityDamper("knee", cd.Parameter("damping", 0.5)))
path = cd.paths.Path([("ground", (0.05, 0.3, 0)), ("shank", (0.05, 0.2, 0))])
leg.add_force(
    "quadriceps",
    cd.muscles.DeGroote2016(
        path,
        max_isometric_force=cd.Parameter("strength", 300.0),
        optimal_fiber_length=0.1,
        tendon_slack_length=0.25,
        tendon="rigid",
        excitation=lambda s: 0.1 + 0.5 * np.sin(2 * s.t) ** 2,
    ),
)

start, t = leg.state(q={"knee": 1.0}), np.linspace(0, 3, 301)
swing = cd.simulate(leg, start.replace(parameters=TRUE), 3.0, accuracy=1e-10)
noise = NOISE * np.random.default_rng(0).normal(size=len(t))
recording = cd.Table(t, ["knee"], (swing.at(t)[:, 0] + noise)[:, None], ["rad"])

positive = dict.fromkeys(TRUE, (0.0, None))
run = cd.residuals.Run(recording, start, sigma=NOISE)
fit = cd.fit_parameters(leg, run, list(TRUE), bounds=positive)
for name, true in TRUE.items():
    print(
        f"{name:9} {fit.values[name]:8.3f} +- {fit.standard_errors[name]:.3f}   true {true:g}"
    )
print(f"residuals are {fit.noise:.2f} of the noise; {fit.directions[0]}")

clean = cd.Table(t, ["knee"], swing.at(t)[:, :1], ["rad"])
exact = cd.fit_parameters(
    leg, cd.residuals.Run(clean, start), list(TRUE), bounds=positive
)
print("without noise:", ", ".join(f"{name} {x:.4f}" for name, x in exact.values.items()))

for name, true in TRUE.items():
    assert abs(fit.values[name] - true) < 4 * fit.standard_errors[name]
    assert abs(exact.values[name] - true) < 1e-5 * true
assert 0.85 < fit.noise < 1.15
