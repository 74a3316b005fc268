"""Forces that motions take, by other ways: maximal coordinates, multipliers of constraints that do the same,
reactions."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle import maximal
from tests.dynamics.test_prescribed import held_speeds, state_of, tree

# Rounding is about cond(M) eps, 1e-10 at worst in these trees; an error in an equation is of order 1.
AGREE = 1e-9


def joints():
    return [
        cd.Pin(),
        cd.Slider(),
        cd.Ball(),
        cd.Planar().reversed(),
        cd.Pin(axis="x"),
        cd.Universal(),
        cd.Free(),
        cd.Cylinder(),
    ]


@pytest.mark.parametrize("seed", [11, 12])
def test_driving_forces_in_maximal_coordinates(seed, evidence):
    """lambda_r of the drivers, inverse dynamics with all bodies apart, at the accelerations that motions and
    forces give."""
    system = tree(seed, joints())
    q, u, tau = state_of(system, seed)
    held = held_speeds(system)
    assert held.any() and not held.all()
    udot, force = system.forward_dynamics(q, u, tau, t=0.3), system.motion_forces(q, u, tau, t=0.3)
    driving = maximal.inverse_dynamics(system, q, u, udot, t=0.3)
    solution = maximal.formulation(system).at(q, u, t=0.3).forward(tau)
    np.testing.assert_allclose(solution.udot, udot, rtol=0, atol=AGREE * np.abs(udot).max())
    found = max(np.abs(x - tau - force).max() for x in (driving, solution.tau)) / np.abs(driving).max()
    evidence(
        "forces that prescribed motions take: minimal against maximal coordinates, relative", found, AGREE
    )


@pytest.mark.parametrize("seed", [21, 22])
def test_multipliers_of_constraints_that_do_the_same(seed):
    """PrescribedMotion on coordinates, ConstantAcceleration on speeds: the multipliers are minus the
    forces."""
    curve = lambda k: lambda t: 0.3 * np.sin(2 * t + k) + 0.1 * k
    names = {}

    def motion(m):
        if m.speed_names == m.coordinate_names:
            return cd.Prescribed(position=[curve(k) for k in range(m.nq)])
        return cd.Prescribed(acceleration=[0.5 * k - 1.0 for k in range(m.nu)])

    system = tree(seed, joints(), 0.5, motion)
    other = cd.System(gravity=(0.3, -9.81, 0.7))
    for b in system.bodies:
        m = b.mass_properties
        other.add_body(b.name, b.parent.name, b.mobilizer, b.X_PF, b.X_BM, m.mass, m.com, m.inertia)
        for k, speed in enumerate(b.speeds) if b.motion else ():
            names[speed] = b.u.start + k
            same = b.mobilizer.speed_names == b.mobilizer.coordinate_names
            other.add_constraint(
                f"motor {speed}",
                cd.constraints.PrescribedMotion(curve(k), speed)
                if same
                else cd.constraints.ConstantAcceleration(speed, 0.5 * k - 1.0),
            )
    q, u, tau = state_of(system, seed)
    q, u = system.prescribe(q, u, t=0.4)
    udot, force = system.forward_dynamics(q, u, tau, t=0.4), system.motion_forces(q, u, tau, t=0.4)
    lambda_ = other.multipliers(q, u, tau, t=0.4)
    assert len(names) > 2
    np.testing.assert_allclose(
        other.forward_dynamics(q, u, tau, t=0.4), udot, rtol=0, atol=1e-7 * np.abs(udot).max()
    )
    np.testing.assert_allclose(
        force[list(names.values())], -lambda_, rtol=0, atol=1e-7 * np.abs(force).max()
    )  # Y is squared M


def test_reactions_carry_the_motion():
    """H' F of a driven joint is its force: what the mobilizer does includes what the motion takes."""
    system = cd.System()
    system.add_body(
        "a",
        "ground",
        cd.Pin(),
        mass=1.0,
        com=(0.2, 0, 0),
        inertia=(0.01, 0.02, 0.03),
        motion=cd.Prescribed(position=lambda t: t**3),
    )
    system.add_body(
        "b", "a", cd.Ball(), X_PF=(0.4, 0, 0), mass=2.0, com=(0.1, 0.2, 0), inertia=(0.03, 0.02, 0.03)
    )
    state = system.state(t=0.7, u=[0, 1.0, -2.0, 0.5])
    assert state.reactions("a")[2] == pytest.approx(state.motion_forces()[0], rel=1e-12)
    assert state.udot[0] == pytest.approx(4.2, rel=1e-14)


@pytest.mark.parametrize("mobilizer", [cd.Pin(), cd.Slider(), cd.Screw(0.1)], ids=lambda m: type(m).__name__)
def test_one_coordinate_that_is_prescribed(mobilizer):
    """A system of one speed, which is prescribed: N has one column. It raised IndexError."""
    curve = lambda t: 0.3 * np.sin(2 * t)
    system = cd.System()
    system.add_body(
        "a", mobilizer=mobilizer, mass=1.0, inertia=(0.1, 0.1, 0.1), motion=cd.Prescribed(position=curve)
    )
    run = maximal.formulation(system).simulate(*system.defaults(), 0.2)
    assert run.finished
    np.testing.assert_allclose(run.q[-1], [curve(0.2)], rtol=0, atol=1e-15)
    np.testing.assert_allclose(run.u[-1], [0.6 * np.cos(0.4)], rtol=1e-14)
