"""A leg turns a crank, as on a bicycle: a loop of thigh, shank and crank, the flexors and
extensors of two joints, a turn in a second that repeats itself and gives 60 J."""

import numpy as np

import condyle as cd

CRANK, THIGH, SHANK, WORK = 0.17, 0.43, 0.46, 60.0  # [m], [J]
HIP = (-0.15, 0.68, 0)  # from the crank's axle

leg = cd.System()
disk = {"mass": 1, "com": (0, 0, 0), "inertia": (0.2, 0.2, 0.2)}
leg.add_body("crank", mobilizer=cd.Pin(), coordinates="crank", **disk)
leg.add_geometry("crank", cd.shapes.Box((CRANK / 2, 0.01, 0.01)), (CRANK / 2, 0, 0))
for name, parent, at, length, mass, q in (
    ("thigh", "ground", HIP, THIGH, 8.0, cd.Coordinate("hip", 1.03)),
    ("shank", "thigh", (0, -THIGH, 0), SHANK, 4.0, cd.Coordinate("knee", -1.13)),
):
    middle, about = (0, -length / 2, 0), mass * (0.3 * length) ** 2 * np.ones(3)
    own = {"mass": mass, "com": middle, "inertia": about, "coordinates": q}
    leg.add_body(name, parent, cd.Pin(), X_PF=at, **own)
    leg.add_geometry(name, cd.shapes.Box((0.04, length / 2, 0.04)), middle)
pedal = cd.constraints.PointOnLine(
    "crank", (CRANK, 0, 0), (0, 0, 1), "shank", (0, -SHANK, 0)
)
leg.add_constraint("pedal", pedal)
leg.add_force("load", cd.forces.MobilityForce("crank", -WORK / (2 * np.pi)))  # [N m]

turn, q = np.linspace(0, 1, 41), {"crank": 0.0, "hip": 1.0, "knee": -1.5}
poses = []  # the loop closed at each angle of the crank: where to start from
for q["crank"] in 2 * np.pi * turn:
    poses.append(cd.assemble(leg, leg.state(q=q), locked=["crank"]).q)
    q = dict(zip(leg.coordinates, poses[-1]))
motion = cd.Table(turn, leg.coordinates, np.array(poses))

problem = cd.Problem(leg, duration=1.0)
problem.add_torques({"hip": 50.0, "knee": 50.0})
problem.bound("crank", (-0.5, 7.0), start=0.0, end=2 * np.pi)
problem.bound("hip", (0.0, 2.5))
problem.bound("knee", (-2.6, -0.05))
problem.bound("crank_speed", (2.0, 12.0))
problem.require(cd.goals.Periodic(free=["crank"]))
problem.minimize(cd.goals.Effort())
answer = cd.solve(problem, mesh=40, guess=motion)

power = sum(
    50 * answer.controls[f"{x}_torque"] * answer.speeds[x] for x in ("hip", "knee")
)
work = np.trapezoid(power, answer.times)
print(f"{answer.message}, effort {answer.objective:.4f}, work {work:.3f} J a turn")
p, _ = leg.constraints.errors(answer.motion.values, answer.speeds.values)
assert answer.ok and abs(work - WORK) < 0.3  # the load; by straight lines
assert np.abs(p).max() < 1e-6  # the pedal stays on the foot
