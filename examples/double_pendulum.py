"""Two links that swing up in 1.5 s with the least effort: which swing is found depends on
the guess, so that several are tried; the controls are then played forward."""

import numpy as np

import condyle as cd

system = cd.System(gravity=(0, -9.80665, 0))
for name, parent, q in (("lower", "ground", "q0"), ("upper", "lower", "q1")):
    system.add_body(
        name,
        parent,
        cd.Pin(),
        X_BM=(-1, 0, 0),
        mass=1,
        com=(0, 0, 0),
        inertia=(1, 1, 1),
        coordinates=q,
    )
    system.add_geometry(name, cd.shapes.Box((0.5, 0.03, 0.03)), (-0.5, 0, 0))

problem = cd.Problem(system, duration=1.5)
problem.add_torques(bounds=(-100, 100))
problem.bound("q0", (-10, 10), start=0, end=np.pi / 2)
problem.bound("q1", (-10, 10), start=0, end=0)
problem.bound(problem.speeds, (-50, 50), start=0, end=0)
problem.minimize(cd.goals.Effort())

answers = {
    guess: cd.solve(problem, mesh=40, scheme="radau-3", accuracy=1e-8, guess=guess)
    for guess in ("bounds", "line")
}
best = min(answers.values(), key=lambda answer: answer.objective)
for guess, answer in answers.items():
    print(f"from {guess!r}: effort {answer.objective:.3f}, {answer.status}")
run = best.replay(accuracy=1e-9)
drift = max(best.statistics["drift"].values())
print(f"played forward it drifts by {drift:.1e} rad; mesh error {best.mesh_error:.1e}")
assert abs(best.objective - 1326.73656) < 1e-3  # on a mesh of 200 intervals
assert drift < 0.02  # straight lines between the controls of all points
