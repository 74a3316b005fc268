"""A mass that slides from rest to rest: the least time, which takes all of the force, and
the least effort in two seconds, a control that falls in a straight line."""

import numpy as np

import condyle as cd

MASS, FORCE, DISTANCE, TIME = 2.0, 50.0, 1.0, 2.0

system = cd.System(gravity=(0, 0, 0))
system.add_body(
    "block", mobilizer=cd.Slider(), mass=MASS, coordinates="x", inertia=(0, 0, 0)
)
system.add_geometry("block", cd.shapes.Box((0.1, 0.1, 0.1)))


def problem(duration, goal):
    made = cd.Problem(system, duration=duration)
    made.add_torques("x", bounds=(-FORCE, FORCE))
    made.bound("x", (-1, 2), start=0, end=DISTANCE)
    made.bound("x_speed", (-50, 50), start=0, end=0)
    made.minimize(goal)
    return made


quick = cd.solve(problem((0.1, 5.0), cd.goals.Duration()), mesh=40, accuracy=1e-8)
easy = cd.solve(problem(TIME, cd.goals.Effort()), mesh=10, accuracy=1e-8)

least_time = 2 * np.sqrt(MASS * DISTANCE / FORCE)
least_effort = 12 * MASS**2 * DISTANCE**2 / TIME**3
print(f"least time {quick.duration:.4f} s, in closed form {least_time:.4f}")
print(f"least effort {easy.objective:.6f} N^2 s, in closed form {least_effort:.6f}")
assert abs(quick.duration / least_time - 1) < 1e-3  # the switch is inside an interval
assert abs(easy.objective / least_effort - 1) < 1e-9
