"""The mechanisms of test_mechanisms.py once more, moved by the second formulation alone: maximal coordinates.

Hinges that close loops are hinges here, so that most equations of plane loops are redundant, and one of
Bricard's six.
"""

from __future__ import annotations

import numpy as np
import pytest

from condyle import maximal
from tests.verification import mechanisms as built
from tests.verification.test_mechanisms import (
    ACCURACY,
    BETA_END,
    BETADD,
    BRICARD,
    FOUR_BARS,
    PENDULUM,
    THETADD,
    WITHIN,
    G,
    energy_change,
    one_degree,
)


def run(tree, joints, q, u, t_end, **options):
    """MaximalSystem and its trajectory, which must end in time and on the constraints."""
    made = maximal.MaximalSystem(tree, joints)
    traj = made.simulate(q, u, t_end, accuracy=ACCURACY, **options)
    assert traj.finished, traj.status
    at = made.equations(traj.x[-1], traj.V[-1], traj.q[-1])
    # Newton ends at rounding, also of many turns
    assert np.abs(at.C).max() < 1e-13
    assert np.abs(at.Cdot).max() < 1e-12 * max(1.0, np.abs(traj.V).max())
    return made, traj


def test_pendulum_on_a_rod(evidence):
    """A01: the System's own Rod, as a row."""
    system = built.pendulum()
    _, traj = run(system, (), [-1, 0, 0], np.zeros(3), 10.0, times=list(PENDULUM))
    evidence(
        "pendulum on a rod constraint (A01) in maximal coordinates, position at 1, 5, 10 s [m]",
        np.abs(traj.q[:, :2] - list(PENDULUM.values())).max(),
        WITHIN,
    )


@pytest.mark.parametrize("closed", [False, True], ids=["hinge", "constraints"])
def test_bricard(closed, evidence):
    """A04, closed by a hinge, or by the System's Ball and two ConstantAngles."""
    system = built.bricard(closed)
    made, traj = run(
        system, () if closed else built.bricard_joints(), np.zeros(5), np.zeros(5), 1.0, times=list(BRICARD)
    )
    P3 = system.station_position(traj.q, "r1", built.CORNER[2] - built.CORNER[1])
    evidence(
        "Bricard's mechanism (A04) in maximal coordinates, P3 at 0.5 and 1 s [m]",
        np.abs(P3 - list(BRICARD.values())).max(),
        WITHIN,
    )
    assert np.sum(system.energy(traj.q[-1], traj.u[-1])) == pytest.approx(-29.43, rel=WITHIN)
    assert made.equations(traj.x[-1], traj.V[-1]).forward(np.zeros(5)).redundant == 1


def test_andrews(evidence):
    system = built.andrews(closed=False)
    start = system.state(q=built.ANDREWS_START).q
    made, traj = run(system, built.andrews_joints(), start, np.zeros(7), 0.05)
    udot = made.at(start, np.zeros(7)).forward(np.zeros(7)).udot
    np.testing.assert_allclose(udot[:2], (BETADD, THETADD), rtol=1e-10)  # ten digits are given
    beta = traj.q[:, 0]
    evidence(
        "Andrews' squeezing mechanism (A03) in maximal coordinates, beta after 0.05 s, relative",
        abs(beta[-1] / BETA_END - 1),
        WITHIN,
    )
    # less the work of the drive
    balance = np.sum(system.energy(traj.q, traj.u), axis=0) - 0.033 * (beta - beta[0])
    evidence(
        "Andrews' squeezing mechanism (A03) in maximal coordinates, energy less work, relative",
        np.ptp(balance) / balance[0],
        WITHIN,
    )


@pytest.mark.parametrize("N", [2, 10])
def test_four_bars_through_flat(N, evidence):
    """A02: ten seconds, ten times through flat. Each stage of a step is on the constraints, and none comes
    near to flat."""
    energy, B0 = FOUR_BARS[N]
    system = built.four_bars(N, closed=False)
    made, traj = run(system, built.four_bars_joints(N), *built.four_bars_state(N, 0.0, 1.0), 10.0)
    theta = -traj.q[-1, 0]
    assert 10 * np.pi < theta < 10.2 * np.pi
    np.testing.assert_allclose(
        traj.q[-1], built.four_bars_state(N, theta, 0)[0], rtol=0, atol=1e-10
    )  # nothing folded
    assert made.equations(traj.x[-1], traj.V[-1], traj.q[-1]).forward(np.zeros(2 * N + 1)).redundant == 3 * N
    evidence(
        f"{N} four-bars (A02) in maximal coordinates through ten singular positions, B0 at 10 s [m]",
        np.abs(np.array([np.sin(theta), np.cos(theta)]) - B0).max(),
        1e-4,
    )
    # six decimals are given
    assert np.sum(system.energy(traj.q[0], traj.u[0])) == pytest.approx(energy, rel=1e-8)
    evidence(
        f"{N} four-bars (A02) in maximal coordinates through ten singular positions, energy, relative",
        energy_change(system, traj),
        1e-4,
    )


@pytest.mark.parametrize("rate", [0.7, 2.3, 5.2])
def test_four_bars_pass_flat_wherever_steps_end(rate, evidence):
    """Other speeds put the steps elsewhere; some come nearer to flat."""
    made = maximal.MaximalSystem(built.four_bars(2), ())
    traj = made.simulate(*built.four_bars_state(2, 0.0, rate), 3.0, accuracy=ACCURACY)
    theta, speed = one_degree(lambda x: 1 + 0 * x, lambda x: G * 3.5 / 3 * np.cos(x), 0.0, rate, 3.0)
    evidence(
        "2 four-bars in maximal coordinates at other speeds, state after 3 s [rad, s]",
        np.abs(np.subtract((traj.q[-1], traj.u[-1]), built.four_bars_state(2, theta, speed))).max(),
        1e-4,
    )


def test_slider_crank(evidence):
    system = built.slider_crank(closed=False)
    _, traj = run(system, built.slider_crank_joints(), *built.slider_crank_state(0.4, 12.0), 3.0)
    q, u = built.slider_crank_state(*one_degree(built.slider_crank_J, built.slider_crank_V, 0.4, 12.0, 3.0))
    evidence(
        "slider-crank in maximal coordinates against its one equation, coordinates after 3 s, relative",
        np.abs(traj.q[-1] - q).max() / np.abs(q).max(),
        WITHIN,
    )
    evidence(
        "slider-crank in maximal coordinates against its one equation, speeds after 3 s, relative",
        np.abs(traj.u[-1] - u).max() / np.abs(u).max(),
        WITHIN,
    )
    assert energy_change(system, traj) < WITHIN


def test_flyball_governor(evidence):
    system = built.governor(closed=False)
    alpha, spin, t_end = 0.6, 14.0, 3.0
    _, traj = run(system, built.governor_joints(), *built.governor_state(0.2, alpha, spin, 0.5), t_end)
    H = built.governor_spin_inertia(alpha) * spin
    effective = lambda a: built.governor_V(a) + H**2 / (2 * built.governor_spin_inertia(a))
    end, rate = one_degree(built.governor_J, effective, alpha, 0.5, t_end)
    q, u = built.governor_state(traj.q[-1, 0], end, H / built.governor_spin_inertia(end), rate)
    evidence(
        "flyball governor in maximal coordinates against its two equations, coordinates after 3 s, relative",
        np.abs(traj.q[-1] - q)[1:].max() / np.abs(q[1:]).max(),
        WITHIN,
    )
    evidence(
        "flyball governor in maximal coordinates against its two equations, speeds after 3 s, relative",
        np.abs(traj.u[-1] - u).max() / np.abs(u).max(),
        WITHIN,
    )
    assert energy_change(system, traj) < WITHIN
