"""Nose-Hoover chains: momentum, conserved energy, and the temperature they keep."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle import forces
from condyle.model.operators import OPERATORS
from tests.forces.rig import EPS, arm, power, state

KB, T_BATH, TAU = 2e-3, 300.0, 0.4


@pytest.mark.parametrize("chain", [1, 2, 4])
def test_force_is_minus_zeta_times_momentum(chain):
    law = forces.NoseHooverThermostat(T_BATH, TAU, chain=chain, boltzmann=KB)
    system = arm(bath=law)
    q, u = state(system, 1)
    z = np.r_[0.7, np.full(2 * chain - 1, 0.1)]
    f = system.applied_forces(q, u, z=z)
    # Two ways to M u, entries up to 10.
    np.testing.assert_allclose(f, -0.7 * system.mass_matrix(q) @ u, rtol=0, atol=1e3 * EPS)
    assert system.state_variables == tuple(f"bath.{n}{k}" for n in ("zeta", "eta") for k in range(chain))


@pytest.mark.parametrize("chain", [1, 2, 4])
@pytest.mark.parametrize("dofs", [None, 3])
def test_energy_and_bath_energy_are_conserved(chain, dofs):
    """dE/dt + dE_b/dt = 0: the power of the thermostat against the rate of E_b, which is linear and quadratic
    in z."""
    law = forces.NoseHooverThermostat(T_BATH, TAU, chain=chain, dofs=dofs, boltzmann=KB)
    system = arm(bath=law)
    q, u = state(system, 2)
    z = np.random.default_rng(chain).normal(size=2 * chain)
    n, h = dofs or system.nu, 1e-3
    zdot = system.zdot(q, u, z=z)
    bath_rate = (law.bath_energy(z + h * zdot, n) - law.bath_energy(z - h * zdot, n)) / (2 * h)
    # A central difference of a quadratic is exact; energies of 1 J divided by h.
    assert bath_rate + power(system, "bath", q, u, z=z) == pytest.approx(0.0, abs=1e4 * EPS / h)


def test_rates_of_a_chain_of_two():
    """Simbody's equations, written out, for one degree of freedom."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("wheel", mobilizer=cd.Pin(), mass=1.0, inertia=(1.0, 1.0, 2.0))
    system.add_force("bath", forces.NoseHooverThermostat(T_BATH, TAU, chain=2, boltzmann=KB))
    u, z0, z1 = 0.9, 0.3, -0.2
    temperature = 2.0 * u**2 / KB
    rates = [(temperature / T_BATH - 1) / TAU**2 - z0 * z1, z0**2 - 1 / TAU**2, z0, z1]
    # A few roundings.
    np.testing.assert_allclose(system.zdot([0.1], [u], z=[z0, z1, 5.0, 6.0]), rates, rtol=1e-14)


def right_hand_side(system) -> ca.Function:
    """(u, udot, zdot) of y = (q, u, z), for a system whose qdot is u."""
    tail = system.state().tail
    nu, where, y = (
        system.nu,
        system.compiled.model.tail["z"],
        ca.SX.sym("y", 2 * system.nu + len(system.state_variables)),
    )
    q, u, z = y[:nu], y[nu : 2 * nu], y[2 * nu :]
    full = ca.vertcat(ca.SX(tail[: where.start]), z, ca.SX(tail[where.stop :]))
    udot = OPERATORS["forward_dynamics"].build(system.compiled.model, "f").call([q, u, ca.SX(nu, 1), full])[0]
    zdot = OPERATORS["zdot"].build(system.compiled.model, "zdot").call([q, u, full])[0]
    return ca.Function("rhs", [y], [ca.vertcat(u, udot, zdot)])


def test_mean_temperature_of_an_oscillator():
    """Three coupled oscillators on a bath: the time average of kinetic energy comes to kB T / 2 a degree of
    freedom."""
    from scipy.integrate import solve_ivp

    system = cd.System(gravity=(0, 0, 0))
    for i, name in enumerate("abc"):
        system.add_body(
            name, "ground" if i == 0 else "abc"[i - 1], cd.Slider(), mass=1.0 + i, inertia=(1, 1, 1)
        )
        system.add_force(f"spring_{name}", forces.MobilitySpring(name, 3.0 + 2 * i))
    law = forces.NoseHooverThermostat(1.0, 0.5, chain=3, boltzmann=1.0)
    system.add_force("bath", law)

    y0 = np.r_[0.3, -0.2, 0.1, 2.0, 1.0, -1.0, np.zeros(6)]
    f = right_hand_side(system)
    run = solve_ivp(
        lambda t, y: np.array(f(y)).ravel(),
        (0, 60),
        y0,
        rtol=1e-6,
        atol=1e-6,
        t_eval=np.linspace(10, 60, 500),
    )
    kinetic, potential = system.energy(run.y[:3].T, run.y[3:6].T)
    conserved = kinetic + potential + law.bath_energy(run.y[6:].T, 3)
    # The integrator's tolerance, 1e-6 per step, over a few hundred steps.
    assert np.ptp(conserved) < 1e-3
    # 50 s hold some 30 periods: the average wanders by about a tenth.
    assert np.mean(2 * kinetic / 3) == pytest.approx(1.0, abs=0.25)


def test_bath_energy_needs_numbers():
    law = forces.NoseHooverThermostat(cd.Parameter("bath_temperature", 300.0), 1.0, chain=1, boltzmann=KB)
    with pytest.raises(cd.errors.DescriptionError, match="give their values"):
        law.bath_energy([0.0, 1.0], 3)
    assert law.bath_energy([0.0, 1.0], 3, temperature=310.0) == pytest.approx(KB * 310.0 * 3)
