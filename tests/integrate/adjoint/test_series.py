"""Gradients by the values of sampled series: the end of a run is linear in small changes of them."""

import numpy as np
import pytest

import condyle as cd
from condyle.errors import DescriptionError
from condyle.integrate.trajectory import Trajectory

T = np.linspace(0, 1, 6)
RNG = np.random.default_rng(0)
MOTOR, PUSH, W = RNG.normal(size=6), RNG.normal(size=(6, 3)), np.array([1.0, 2.0, -1.0, 0.5])


def run(motor: np.ndarray, push: np.ndarray, integrator: str = "dormand-prince-8") -> Trajectory:
    system = cd.System()
    pin = {"X_BM": (0, 0.4, 0), "mass": 2.0, "inertia": (0.3, 0.4, 0.5)}
    system.add_body("a", mobilizer=cd.Pin(), **pin)
    system.add_body("b", "a", cd.Pin(), X_PF=(0, -0.4, 0), **pin)
    system.add_force("motor", cd.forces.MobilityForce("b", (T, motor)))
    system.add_force(
        "push", cd.forces.ExternalWrench("a", force=(T, push), torque=[0, 0, cd.Input("torque", 0.2)])
    )
    return cd.simulate(system, system.state(q=[0.3, 0.2]), 0.9, accuracy=1e-10, integrator=integrator)


@pytest.mark.parametrize("method", ["dormand-prince-8", "dormand-prince", "merson"])
def test_knots(method: str) -> None:
    traj = run(MOTOR, PUSH, method)
    g = traj.vjp(W, wrt=("q", "inputs"))
    assert g["inputs"].shape == (1,) and g["inputs.motor"].shape == (6,) and g["inputs.push"].shape == (6, 3)
    np.testing.assert_allclose(g["inputs"][0], W @ traj.jacobian(wrt="inputs")["inputs"][:, 0], rtol=1e-12)
    d, D = RNG.normal(size=6), RNG.normal(size=(6, 3))
    ends = {e: run(MOTOR + e * d, PUSH + e * D, method).y[-1] @ W for e in (-0.1, -0.05, 0.05, 0.1)}
    slope = (4 * (ends[0.05] - ends[-0.05]) / 0.1 - (ends[0.1] - ends[-0.1]) / 0.2) / 3
    total = g["inputs.motor"] @ d + (g["inputs.push"] * D).sum()
    np.testing.assert_allclose(total, slope, rtol=1e-7)  # of order 4 at 0.05
    with pytest.raises(DescriptionError, match="explicit methods only, not with 'rodas'"):
        run(MOTOR, PUSH, "rodas").vjp(W, wrt="inputs")
