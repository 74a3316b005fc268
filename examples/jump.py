"""A jump for height from a squat: the push-off that throws the mass center highest, with
ground that pushes and does not pull."""

import numpy as np

import condyle as cd

G = 9.80665
LINKS = (  # name, parent, mass [kg], length [m], joint, its strength [N m], at the start [rad]
    ("shank", "ground", 7.0, 0.43, "ankle", 150.0, -0.5),
    ("thigh", "shank", 17.0, 0.41, "knee", 200.0, 1.5),
    ("torso", "thigh", 46.0, 0.6, "hip", 180.0, -1.3),
)
jumper, below = cd.System(gravity=(0, -G, 0)), 0.08
for name, parent, mass, length, joint, _, _ in LINKS:
    middle, about = (0, length / 2, 0), mass * (0.3 * length) ** 2 * np.ones(3)
    own = {"mass": mass, "com": middle, "inertia": about, "coordinates": joint}
    jumper.add_body(name, parent, cd.Pin(), X_PF=(0, below, 0), **own)
    jumper.add_geometry(name, cd.shapes.Box((0.05, length / 2, 0.05)), middle)
    below = length


def mean(s, what):
    """The y component of something at the mass centers, weighted by the masses."""
    each = [(m, name, (0, length / 2, 0)) for name, _, m, length, _, _, _ in LINKS]
    return sum(m * getattr(s, what)(name, p)[1] for m, name, p in each) / 70.0


def flight(s):
    """How high the mass center will fly [m]."""
    return mean(s, "station_position") + mean(s, "station_velocity") ** 2 / (2 * G)


problem = cd.Problem(jumper, duration=(0.1, 0.6))
problem.add_torques({joint: tau for *_, joint, tau, _ in LINKS}, bounds=(-1, 1))
for *_, joint, _, start in LINKS:
    low, high = (0.0, 2.2) if joint == "knee" else (-2.2, 1.0)
    problem.bound(joint, (low, high), start=start)
problem.bound(problem.speeds, (-30, 30), start=0)
push = cd.goals.Path(lambda s: mean(s, "station_acceleration") / G + 1, 0, np.inf)
problem.require(push)  # of the ground, in body weights
problem.minimize(cd.goals.Final(lambda s: -flight(s), name="height"))
problem.minimize(cd.goals.Effort(), 1e-3)
answer = cd.solve(problem, mesh=25)

high = -answer.terms["height"]
end = {name: float(x[-1]) for name, x in zip(answer.motion.names, answer.motion.values.T)}
print(
    f"{answer.message} in {answer.duration:.3f} s: the mass center flies to {high:.3f} m"
)
print("at take-off [rad]:", {name: round(x, 2) for name, x in end.items()})
standing = jumper.mass_center([0, 0, 0])[1]
print(f"{100 * (high - standing):.0f} cm above standing")
assert answer.ok and 0.1 < high - standing < 1.0
