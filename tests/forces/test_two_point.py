"""Springs, dampers and forces between two points: closed forms, signs, and points that coincide."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle import forces
from condyle.model.operators import OPERATORS
from tests.forces.rig import EPS

MASS, K, REST = 2.0, 50.0, 0.4


def block(law, gravity=(0.0, 0.0, 0.0)) -> cd.System:
    """A block that slides along x, tied to ground's origin."""
    system = cd.System(gravity=gravity)
    system.add_body("block", mobilizer=cd.Slider(), mass=MASS, inertia=(0.1, 0.1, 0.1), coordinates=("x",))
    system.add_force("law", law)
    return system


def spring(k=K, rest=REST):
    return forces.TwoPointSpring("ground", (0, 0, 0), "block", (0, 0, 0), k, rest)


@pytest.mark.parametrize("x", [0.7, 0.1, -0.7])
def test_spring_is_an_oscillator(x):
    """udot = -(k/m) (L - l0) e and V = k (L - l0)^2 / 2, on either side of the anchor."""
    system = block(spring())
    # One division and two products.
    assert system.forward_dynamics([x], [0.3])[0] == pytest.approx(
        -K / MASS * (abs(x) - REST) * np.sign(x), rel=10 * EPS
    )
    assert system.energy([x], [0.0])[1] == pytest.approx(K * (abs(x) - REST) ** 2 / 2, rel=10 * EPS)


def test_frequency_of_small_oscillations():
    """omega^2 = k/m along the spring and k (1 - l0/L) / m across it."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("block", mobilizer=cd.Free(), mass=MASS, inertia=(1, 1, 1))
    system.add_force("law", spring())
    q = np.array([1.0, 0, 0, 0, 0.9, 0, 0])
    h = 1e-6
    moved = q + h * np.vstack([np.eye(7)[4:], -np.eye(7)[4:]])
    udot = system.forward_dynamics(moved, np.zeros(6))[:, 3:]
    slopes = -np.diag(udot[:3] - udot[3:]) / (2 * h)
    across = K * (1 - REST / 0.9) / MASS
    # Central differences: h^2 times a third derivative of about 1e2, and eps / h.
    np.testing.assert_allclose(slopes, [K / MASS, across, across], rtol=0, atol=1e-8)


def test_hanging_weight_rests_where_spring_balances_it():
    system = block(spring(), gravity=(9.81, 0, 0))
    rest = REST + MASS * 9.81 / K
    # Forces of 20 N cancel.
    assert abs(system.forward_dynamics([rest], [0.0])[0]) < 20 * 10 * EPS


def test_damper_resists_the_rate_of_length_only():
    law = forces.TwoPointDamper("ground", (0, 0.3, 0), "block", (0, 0, 0), 5.0)
    x, v = 0.4, 2.0
    e_x = x / np.hypot(x, 0.3)
    # A handful of roundings.
    assert block(law).forward_dynamics([x], [v])[0] == pytest.approx(-5.0 * v * e_x**2 / MASS, rel=10 * EPS)


@pytest.mark.parametrize(("x", "push"), [(0.5, 1.0), (-0.5, -1.0)])
def test_positive_force_pushes_the_points_apart(x, push):
    law = forces.TwoPointForce("ground", (0, 0, 0), "block", (0, 0, 0), 3.0)
    assert block(law).forward_dynamics([x], [0.0])[0] == pytest.approx(push * 3.0 / MASS, rel=10 * EPS)


def slopes(system, x, v) -> np.ndarray:
    """d udot / dq and d udot / du by automatic differentiation."""
    f = OPERATORS["forward_dynamics"].build(system.compiled.model, "f")
    q, u = ca.SX.sym("q"), ca.SX.sym("u")
    udot = f.call([q, u, ca.SX(0), ca.SX(system.compiled.tail(t=0.0))])[0]
    return np.array(ca.Function("J", [q, u], [ca.jacobian(udot, ca.vertcat(q, u))])(x, v)).ravel()


LAWS = {
    "spring": spring(),
    "soft": spring(rest=0.0),
    "damper": forces.TwoPointDamper("ground", (0, 0, 0), "block", (0, 0, 0), 5.0),
    "force": forces.TwoPointForce("ground", (0, 0, 0), "block", (0, 0, 0), 3.0),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("x", [0.0, 1e-200, -5e-324, 1e-150])
def test_coincident_points_give_finite_numbers(name, x):
    """The direction is undefined at 0 and taken as zero there; values and derivatives stay finite."""
    system = block(LAWS[name])
    udot = system.forward_dynamics([x], [0.3])
    assert np.isfinite(udot).all()
    if x == 0.0:
        assert udot[0] == 0.0
        assert np.isfinite(slopes(system, 0.0, 0.3)).all()
    assert np.isfinite(system.energy([x], [0.3])).all()


def test_spring_without_rest_length_is_linear_through_zero():
    """f = -k r has the derivative -k at r = 0, and no kink."""
    system = block(spring(rest=0.0))
    assert system.forward_dynamics([0.0], [0.0])[0] == 0.0
    assert slopes(system, 0.0, 0.0)[0] == pytest.approx(-K / MASS, rel=10 * EPS)
