"""Derivatives of runs with every method, against differences of order 8 with the same steps."""

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.integrators import METHODS
from condyle.integrate.trajectory import Trajectory
from tests.integrate.adjoint.differences import relative, slope

STEP, H = 0.005, 2e-3
TOLERANCE = 1e-10  # differences of order 8 at 2e-3 keep eleven digits
LATER = {"bdf"}


@pytest.fixture(scope="module")
def pendulum() -> cd.System:
    system = cd.System(gravity=(0, -9.80665, 0))
    for k, parent in enumerate(("ground", "b0")):
        system.add_body(
            f"b{k}",
            parent,
            cd.Pin(),
            X_BM=(-1, 0, 0),
            mass=cd.Parameter(f"m{k}", 1.0),
            inertia=(1, 1, 1),
        )
    return system


START = {"q": np.array([0.3, -0.2]), "u": np.array([0.5, 0.1]), "parameters": np.array([1.0, 1.3])}


def run(system: cd.System, method: str, **changes: np.ndarray) -> Trajectory:
    return cd.simulate(system, system.state(**START | changes), 0.2, integrator=method, step=STEP)


@pytest.mark.parametrize("method", [name for name in METHODS if name not in LATER])
def test_every_method(pendulum: cd.System, method: str) -> None:
    traj, rng = run(pendulum, method), np.random.default_rng(0)
    J, w = traj.jacobian(wrt=("q", "u", "parameters")), rng.normal(size=4)
    for name, x in START.items():
        columns = [
            slope(lambda e, d=d, name=name, x=x: run(pendulum, method, **{name: x + e * d}).y[-1], H)
            for d in np.eye(2)
        ]
        assert relative(J[name], np.transpose(columns)) < TOLERANCE
    g = traj.vjp(w, wrt=tuple(START))
    v = {name: rng.normal(size=2) for name in START}
    for name in START:
        np.testing.assert_allclose(g[name], w @ J[name], rtol=0, atol=1e-13)  # rounding of forty steps
    np.testing.assert_allclose(traj.jvp(v), sum(J[name] @ x for name, x in v.items()), rtol=0, atol=1e-13)


@pytest.mark.parametrize("method", ["verlet", "merson", "dormand-prince", "dormand-prince-8", "rodas"])
def test_between_steps(pendulum: cd.System, method: str) -> None:
    """Derivatives of what traj.at gives there: of polynomials, not of shorter steps."""
    traj, t, w = run(pendulum, method), np.array([0.0013, 0.1, 0.1121]), np.cos(np.arange(12)).reshape(3, 4)
    J = traj.jacobian(wrt="u", t=t)["u"]
    u = START["u"]
    columns = [slope(lambda e, d=d: run(pendulum, method, u=u + e * d).at(t), H) for d in np.eye(2)]
    assert relative(J, np.stack(columns, axis=-1)) < TOLERANCE
    np.testing.assert_allclose(traj.vjp(w, t=t, wrt="u")["u"], np.tensordot(w, J, 2), rtol=0, atol=1e-13)
    ens = cd.simulate(
        pendulum,
        {k: np.tile(x, (3, 1)) for k, x in START.items()},
        0.2,
        integrator=method,
        step=STEP,
        keep="steps",
    )
    np.testing.assert_allclose(ens.jacobian(wrt="u", t=t)["u"][1], J, rtol=0, atol=1e-13)
