"""cd.gradient against differences of order 8 of the cost, and what it refuses."""

import numpy as np
import pytest

import condyle as cd
from condyle.errors import DescriptionError, TraceError, UnknownNameError
from condyle.integrate.trajectory import Trajectory
from tests.integrate.adjoint.differences import relative, slope

U = np.array([1.0, 0.5, 0.3, 2.0])


@pytest.fixture(scope="module")
def arm() -> cd.System:
    system = cd.System()
    mass, damping = cd.Parameter("mass", 2.0), cd.Parameter("damping", 0.3)
    system.add_body("a", mobilizer=cd.Ball(), X_BM=(0, 0.4, 0), mass=mass, inertia=(0.3, 0.4, 0.5))
    pin = {"X_PF": (0, -0.4, 0), "X_BM": (0, 0.4, 0), "mass": 1.0, "inertia": (0.1, 0.2, 0.15)}
    system.add_body("b", "a", cd.Pin(), **pin)
    system.add_force("damper", cd.forces.MobilityDamper("b", damping))
    return system


def run(system: cd.System, p: np.ndarray, u: np.ndarray = U) -> Trajectory:
    state = system.state(u=u, parameters=p)
    return cd.simulate(system, state, 0.3, accuracy=1e-11, integrator="dormand-prince-8")


COSTS = {
    "integral": lambda r: r.integral(lambda s: s.parameter("damping") * s.u("b") ** 2),
    "points": lambda r: (
        (r.end(lambda s: s.station_position("b", (0, -0.4, 0))) ** 2).sum()
        + r.at(0.15, lambda s: s.q("b")) * r.t_end
    ),
    "reactions": lambda r: (
        r.end("reactions", "b")[4] + 0.1 * r.integral("reactions", "a", of=lambda F: F @ F)
    ),
    "operators": lambda r: r.end("energy")[0] + np.sin(r.end("body_pose", "b")[9]),
}


@pytest.mark.parametrize("name", COSTS)
def test_costs(arm: cd.System, name: str) -> None:
    cost, p = COSTS[name], arm.state().parameters
    g = cd.gradient(cost, run(arm, p), wrt=("u", "parameters"))
    value = lambda dp, du: cd.gradient(cost, run(arm, p + dp, U + du), wrt=()).value
    v = np.random.default_rng(1).normal(size=4)
    by_p = [slope(lambda e, d=d: value(e * d, 0), 2e-3) for d in np.eye(2)]
    assert relative(g["parameters"], np.array(by_p)) < 1e-8  # Gauss points between steps, of order 7
    assert relative(g["u"] @ v, np.array(slope(lambda e: value(0, e * v), 2e-3))) < 1e-8


def test_refusals(arm: cd.System) -> None:
    traj = run(arm, arm.state().parameters)
    with pytest.raises(UnknownNameError, match="wrt"):
        cd.gradient(COSTS["operators"], traj, wrt="mass")
    with pytest.raises(TraceError, match="float of a symbol"):
        cd.gradient(lambda r: float(r.end(lambda s: s.q("b"))), traj)
    with pytest.raises(TraceError, match="one number"):
        cd.gradient(lambda r: r.end("energy"), traj)
    with pytest.raises(DescriptionError, match="expected a run"):
        cd.gradient(COSTS["points"], arm)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="operator"):
        cd.gradient(lambda r: r.end("enrgy"), traj)
