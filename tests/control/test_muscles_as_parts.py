"""Muscles as parts of the dynamics: derivatives to the second order, over surfaces too."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.collocation.intervals import CollocationMesh
from condyle.collocation.schemes import scheme
from condyle.control.guess import start
from condyle.control.transcription import ControlProgram


def limb(over: cd.paths.Surface | None = None) -> cd.System:
    """Two pins and a slider before them; three alike muscles, over a cylinder (or another surface), over a sphere and
    over both; and a spring over the cylinder."""
    system = cd.System()
    mass = {"mass": 1.0, "com": (0, -0.15, 0), "inertia": (0.01, 0.01, 0.01)}
    base = system.add_body("base", mobilizer=cd.Slider(), coordinates=("x",), **mass)
    upper = system.add_body("upper", base, cd.Pin(), coordinates=("hip",), **mass)
    lower = system.add_body("lower", upper, cd.Pin(), X_PF=(0, -0.3, 0), coordinates=("knee",), **mass)
    cylinder = cd.paths.Wrap(over or cd.paths.Cylinder(0.04, 0.3), upper, (0, -0.3, 0))
    sphere = cd.paths.Wrap(cd.paths.Sphere(0.05), base, (0, 0, 0))
    numbers = {"max_isometric_force": 500.0, "optimal_fiber_length": 0.15}
    for name, slack, points, wraps in (
        ("flexor", 0.2, [(upper, (0.06, -0.05, 0)), (lower, (0.06, -0.1, 0.01))], [cylinder]),
        ("extensor", 0.2, [(upper, (-0.06, -0.05, 0)), (lower, (-0.06, -0.12, 0.01))], [cylinder]),
        ("hip flexor", 0.08, [(base, (0.07, 0.1, 0.01)), (upper, (0.06, -0.12, 0))], [sphere]),
        ("both", 0.38, [(base, (0.07, 0.1, 0)), (lower, (0.06, -0.12, 0.01))], [sphere, cylinder]),
    ):
        path = cd.paths.Path(points, wraps)
        tendon = "elastic" if name == "flexor" else "rigid"
        muscle = cd.muscles.DeGroote2016(path, tendon_slack_length=slack, **numbers, tendon=tendon)
        system.add_force(name, muscle)
    if over is None:
        ends = [(upper, (0.05, -0.05, 0)), (lower, (0.07, -0.1, 0.01))]
        system.add_force("ligament", cd.forces.PathSpring(cd.paths.Path(ends, [cylinder]), 500.0, 0.1))
    return system


ELLIPSOID = cd.paths.Ellipsoid((0.04, 0.06, 0.05))


@pytest.mark.parametrize(("bend", "over"), [(0.5, None), (-0.6, None), (0.5, ELLIPSOID)])
def test_second_derivatives(bend: float, over: cd.paths.Surface | None) -> None:
    """Lengths over ellipsoids have no third derivatives: differences stand in their place."""
    problem = cd.Problem(limb(over), duration=0.3)
    problem.minimize(cd.goals.Effort())
    program = ControlProgram(problem, CollocationMesh.even(scheme("radau-2"), 1), True)
    nlp, rng = program.program, np.random.default_rng(1)
    assert sum(len(kind.rows) for kind in program.pulls) == 4
    z = start(program, None)
    names = [v.name for v in program.dynamics.variables]
    for name, value in (("hip", bend), ("knee", -bend)):
        z[: program.P * program.nv].reshape(program.P, -1)[:, names.index(name)] = value
    x, lam, h = z / nlp.S + rng.normal(0, 0.02, nlp.n), rng.normal(0, 1, nlp.m), 1e-6

    def jacobian(x: np.ndarray) -> np.ndarray:
        J = np.zeros((nlp.m, nlp.n))
        J[nlp.jacobian_rows, nlp.jacobian_columns] = nlp.jacobian(x)
        return J

    J, H = jacobian(x), np.zeros((nlp.n, nlp.n))
    H[nlp.hessian_rows, nlp.hessian_columns] = nlp.hessian(x, 0.5, lam)
    H += np.tril(H, -1).T
    for k, e in enumerate(h * np.eye(nlp.n)):
        ahead, behind = (0.5 * nlp.gradient(x + s * e) + lam @ jacobian(x + s * e) for s in (1, -1))
        # differences of second order, h = 1e-6
        difference = (nlp.constraints(x + e) - nlp.constraints(x - e)) / (2 * h)
        assert J[:, k] == pytest.approx(difference, rel=1e-6, abs=1e-6)
        assert H[:, k] == pytest.approx((ahead - behind) / (2 * h), rel=1e-5, abs=2e-5)


def test_parts_are_the_dynamics() -> None:
    """The residuals vanish at accelerations of forward dynamics at fixed activations, but for the smooth faces."""
    system = limb().copy(forces={"flexor": None})
    problem = cd.Problem(system, duration=0.3)
    problem.minimize(cd.goals.Effort())
    program = ControlProgram(problem, CollocationMesh.even(scheme("radau-2"), 1), True)
    names, nlp = [v.name for v in program.dynamics.variables], program.program
    z = start(program, None)
    V = z[: program.P * program.nv].reshape(program.P, -1)
    given = {"x": 0.1, "hip": 0.4, "knee": -0.5, "x_speed": 0.2, "hip_speed": -1.0, "knee_speed": 2.0}
    given |= {name: 0.4 for name in names if name.endswith(".activation")}
    for name, value in given.items():
        V[:, names.index(name)] = value
    q, u = [0.1, 0.4, -0.5], [0.2, -1.0, 2.0]
    udot = np.asarray(system.forward_dynamics(q, u, z=np.full(len(system.state_variables), 0.4)))
    for k, name in enumerate(("x", "hip", "knee")):
        V[:, names.index(f"{name}_speed rate")] = udot[k]
    rows = next(r for r in program.rows if r.names[0][0].startswith("equation of motion"))
    e = (nlp.constraints(z / nlp.S) / program.R)[rows.start : rows.stop]
    # muscles.implicit (5): 2.5e-7 F_0^2 / T of three muscles of 500 N, arms of 0.1 m
    assert np.abs(e).max() < 2e-3
