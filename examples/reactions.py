"""Joint moments and joint loads of a recorded reach, with and without its muscle."""

import numpy as np

import condyle as cd

system = cd.System()
system.add_body(
    "forearm",
    mobilizer=cd.Pin(),
    mass=1.5,
    com=(0, -0.15, 0),
    inertia=(0.012, 0.002, 0.012),
    coordinates=("elbow",),
)
path = cd.paths.Path([("ground", (0.02, 0.28, 0)), ("forearm", (0.015, -0.04, 0))])
system.add_force("biceps", cd.forces.PathActuator(path, 1.0))

t = np.linspace(0, 1, 101)
motion = cd.Table(t, ["elbow"], np.degrees(0.9 - 0.8 * np.cos(3 * t))[:, None], ["deg"])
moment = cd.inverse_dynamics(system, motion)
print(f"the elbow takes up to {moment['elbow'].max():.1f} N m")

arm = cd.muscle_analysis(system, motion).moment_arms["elbow"]["biceps"]
tension = cd.Table(t, ["biceps"], (moment["elbow"] / arm)[:, None], ["N"])
size = lambda table: np.linalg.norm(table.values[:, :3], axis=1).max()
alone = size(cd.joint_reactions(system, motion))
pulled = size(cd.joint_reactions(system, motion, tension))
print(f"the joint carries up to {alone:.0f} N, and {pulled:.0f} N with the muscle")
assert pulled > 2 * alone

parts = cd.induced_accelerations(system, motion, tension)
left = np.abs(parts.unexplained.values).max()
print(f"its force explains the accelerations, but for {left:.0e} rad/s^2")
assert left < 1e-9
