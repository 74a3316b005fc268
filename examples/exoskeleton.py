"""The spring of an exoskeleton that makes a squat cheapest: its stiffness and its free
angle are unknowns of the same problem as the movement."""

import condyle as cd

k, rest = cd.Parameter("stiffness", 1.0), cd.Parameter("rest", 0.5)  # [N m/rad], [rad]

leg = cd.System()
shank = leg.add_body(
    "shank",
    mobilizer=cd.Pin(),
    mass=7,
    com=(0, 0.24, 0),
    inertia=(0.1, 0.02, 0.1),
    coordinates="ankle",
)
leg.add_body(
    "body",
    shank,
    cd.Pin(),
    X_PF=(0, 0.43, 0),
    mass=63,
    com=(0, 0.5, 0),
    inertia=(6, 1, 6),
    coordinates="knee",
)
for name, half in (("shank", 0.21), ("body", 0.45)):
    leg.add_geometry(name, cd.shapes.Box((0.06, half, 0.06)), (0, half, 0))
leg.add_force("exoskeleton", cd.forces.MobilitySpring("knee", k, rest))


def squat(parameters):
    problem = cd.Problem(leg, duration=1.2, parameters=parameters)
    problem.add_torques(optimal_force=100.0)
    problem.bound("ankle", (-1, 1), start=-0.4, end=0)
    problem.bound("knee", (-0.1, 2.0), start=0.9, end=0)
    problem.bound(problem.speeds, (-20, 20), start=0, end=0)
    problem.minimize(cd.goals.Effort())
    return cd.solve(problem, mesh=20, accuracy=1e-8)


best = squat({"stiffness": (0.0, 500.0), "rest": (-1.0, 1.0)})
found = best.parameters
costs = {}
for factor in (0.9, 1.0, 1.1):  # the same, with the spring held at and beside its optimum
    stiff = factor * found["stiffness"]
    costs[factor] = squat(
        {"stiffness": (stiff, stiff), "rest": (found["rest"],) * 2}
    ).objective
print({name: round(x, 3) for name, x in found.items()}, f"cost {best.objective:.5f}")
print("10 % softer, as found, stiffer:", [round(x, 5) for x in costs.values()])
assert abs(costs[1.0] / best.objective - 1) < 1e-6
assert min(costs[0.9], costs[1.1]) > best.objective
