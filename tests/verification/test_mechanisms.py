"""Small mechanisms with closed forms: a nut on a screw, two articulated bodies, the knee of seth2010
(36)-(39).

Then mechanisms with loops, in motion: A01-A04 of the library of computational benchmark problems, a
slider-crank, a governor.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import condyle as cd
from condyle import maximal
from condyle.spatial import rotation_z
from tests.oracles import cross_matrix
from tests.verification import mechanisms as built

G = 9.81
EPS = np.finfo(float).eps
# Some tens of products a result.
ROUNDING = 200 * EPS


@pytest.mark.parametrize("pitch", [0.02, -0.3, 1.5])
def test_nut_on_a_screw(pitch, evidence):
    """A nut that slides down a screw without friction turns: a = g / (1 + I / (m p^2))."""
    m, I = 0.6, 0.011
    system = cd.System(gravity=(0, 0, -G))
    system.add_body("nut", mobilizer=cd.Screw(pitch), mass=m, inertia=(0.01, 0.02, I))
    q, u = np.array([0.7]), np.array([2.0])
    udot = system.forward_dynamics(q, u)
    a = system.body_acceleration(q, u, udot, "nut")[5]
    expected = -G / (1 + I / (m * pitch**2))
    evidence("fall of a nut on a screw, relative", abs(a / expected - 1), ROUNDING)
    moment, force = np.split(system.reactions(q, u, udot, "nut"), 2)
    np.testing.assert_allclose(moment[2], I * udot[0], rtol=ROUNDING)  # the thread turns the nut,
    np.testing.assert_allclose(force[2], m * (a + G), rtol=ROUNDING)  # and holds it up


def inertia_6(m, com, I):
    """Spatial inertia about the origin, angular first."""
    c = cross_matrix(com)
    return np.block([[np.asarray(I) - m * c @ c, m * c], [-m * c, m * np.eye(3)]])


@pytest.mark.parametrize("seed", range(4))
def test_articulated_inertia_of_two_pinned_bodies(seed, evidence):
    """Featherstone: at rest, a handle that carries a pinned body resists as I1 + I2 - I2 s s' I2 / (s' I2
    s)."""
    rng = np.random.default_rng(seed)
    (m1, m2), (c1, c2, at) = rng.uniform(0.5, 2, 2), rng.uniform(-0.5, 0.5, (3, 3))
    I1, I2 = np.diag([0.10, 0.14, 0.11]), np.diag([0.02, 0.03, 0.025])
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("handle", mobilizer=cd.Free(), mass=m1, com=c1, inertia=I1)
    system.add_body("pinned", "handle", cd.Pin(axis=rng.normal(size=3)), X_PF=at, mass=m2, com=c2, inertia=I2)
    pin = np.array(system.body("pinned").mobilizer.axis)
    s = np.concatenate([pin, np.cross(at, pin)])  # velocity of the point at the handle's origin
    J2 = inertia_6(m2, at + c2, I2)
    expected = inertia_6(m1, c1, I1) + J2 - np.outer(J2 @ s, J2 @ s) / (s @ J2 @ s)
    q, u = system.defaults()
    forces = np.concatenate([np.eye(6), np.zeros((6, 1))], axis=1)  # on the handle alone
    found = system.forward_dynamics(q, u, forces)[:, :6].T
    # The inverse of a matrix with a condition number of some hundreds.
    evidence(
        "articulated inertia of two pinned bodies, times its inverse, against 1",
        np.abs(found @ expected - np.eye(6)).max(),
        100 * ROUNDING,
    )


def test_apparent_mass_of_a_handle():
    """Pushed across, the pinned body swings away: m1 + m2 I2 / (I2 + m2 d^2); along, it must come: m1 +
    m2."""
    m1, m2, I1, I2, d = 1.0, 2.0, 0.3, 0.05, 0.4
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("handle", mobilizer=cd.Planar(), mass=m1, inertia=(I1, I1, I1))
    system.add_body("pinned", "handle", cd.Pin(), mass=m2, com=(d, 0, 0), inertia=(I2, I2, I2))
    q, u = system.defaults()
    turn, along, across = np.eye(3, 4)
    # the pin passes no torque
    assert system.forward_dynamics(q, u, turn)[0] == pytest.approx(1 / I1, rel=ROUNDING)
    assert system.forward_dynamics(q, u, along)[1] == pytest.approx(1 / (m1 + m2), rel=ROUNDING)
    assert system.forward_dynamics(q, u, across)[2] == pytest.approx(
        1 / (m1 + m2 * I2 / (I2 + m2 * d * d)), rel=ROUNDING
    )


# ---- The knee ----------------------------------------------------------------------------------------------

ANGLES = np.linspace(-2.2, 0.3, 14)
SHIFTS = 0.005 * np.cos(2 * ANGLES), -0.39 + 0.015 * np.sin(1.3 * ANGLES)
FX, FY = (CubicSpline(ANGLES, y, bc_type="natural") for y in SHIFTS)
OURS = tuple(cd.Spline(ANGLES, y) for y in SHIFTS)


def knee(kind):
    if kind == "function":
        return cd.FunctionBased(("knee",), (None, None, lambda q: q), (*OURS, None))
    return cd.Custom(("knee",), lambda q: (rotation_z(q), (OURS[0](q), OURS[1](q), 0.0)))


@pytest.mark.parametrize("kind", ["function", "custom"])
def test_knee_of_seth2010(kind, evidence):
    m, I = 3.7, 0.05
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("tibia", mobilizer=knee(kind), mass=m, inertia=(0.05, 0.004, I))
    q, u = np.linspace(-2.1, 0.2, 40)[:, None], np.linspace(-3, 3, 40)[:, None]
    zero, one = 0 * q[:, 0], np.ones(40)
    p, p1, p2 = (np.stack([FX(q[:, 0], k), FY(q[:, 0], k), zero], -1) for k in range(3))
    X = system.body_pose(q, "tibia")
    c, s = np.cos(q[:, 0]), np.sin(q[:, 0])
    R = np.stack(
        [np.stack([c, -s, zero], -1), np.stack([s, c, zero], -1), np.stack([zero, zero, one], -1)], -2
    )
    np.testing.assert_allclose(X.R, R, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(X.p, p, rtol=0, atol=ROUNDING)  # (36)
    H = np.concatenate([np.stack([zero, zero, one], -1), p1], -1)
    np.testing.assert_allclose(
        system.kinematics.frame_jacobian(q, "tibia", (0, 0, 0))[..., 0], H, rtol=0, atol=ROUNDING
    )  # (37)
    bias = np.concatenate([np.zeros((40, 3)), p2 * u**2], -1)
    np.testing.assert_allclose(
        system.kinematics.frame_bias(q, u, "tibia", (0, 0, 0)), bias, rtol=0, atol=10 * ROUNDING
    )  # (38)
    np.testing.assert_array_equal(system.qdot(q, u), u)  # (39)
    # One coordinate: (I + m p'.p') udot = m g . p' - m p'.p'' u^2
    expected = (-m * G * p1[:, 1] - m * (p1 * p2).sum(1) * u[:, 0] ** 2) / (I + m * (p1 * p1).sum(1))
    evidence(
        "acceleration of the knee of seth2010 (36)-(39) by splines, relative",
        np.abs(system.forward_dynamics(q, u)[:, 0] - expected).max() / np.abs(expected).max(),
        10 * ROUNDING,
    )


# ---- Mechanisms with loops, in motion ----------------------------------------------------------------------

ACCURACY, WITHIN = 1e-8, 1e-6  # a hundred times the accuracy, for runs of some thousand steps
# Positions of the library's problems: eight decimals, from an independent integration to about 1e-10;
# energies are closed forms.
PENDULUM = {
    1.0: (0.98629175, -0.16501085),
    5.0: (-0.94230544, -0.33475434),
    10.0: (-0.27508746, -0.96141921),
}  # A01, bob
# A02, B0 at 10 s
FOUR_BARS = {2: (35.835, (0.32845811, 0.94451854)), 10: (158.888333, (0.20435356, 0.97889715))}
BRICARD = {
    0.5: (0.77471781, -0.97981505, -0.19990616),
    1.0: (0.27448132, -0.88670794, -0.46233000),
}  # A04, P3
BETA_END, BETADD, THETADD = 33.8258678, 14222.44392, -10666.83294  # A03


def run(system, q, u, t_end):
    """The trajectory, which must end in time and on the constraints all the way."""
    traj = cd.simulate(system, system.state(q=q, u=u), t_end, accuracy=ACCURACY)
    assert traj.finished, traj.status
    p, v = system.constraints.errors(traj.q, traj.u)
    assert np.abs(p).max() < 1e-12  # Newton ends at rounding
    assert np.abs(v).max() < 1e-10 * max(1.0, np.abs(traj.u).max())
    return traj


def energy_change(system, traj):
    """Largest, relative to the larger of the kinetic and the total energy."""
    kinetic, potential = system.energy(traj.q, traj.u)
    total = kinetic + potential
    return np.abs(total - total[0]).max() / max(kinetic.max(), abs(total[0]))


def second_opinion(traj, tree, joints, count=4):
    """Largest difference from the accelerations of maximal coordinates, relative, at some states of the
    trajectory."""
    made = maximal.MaximalSystem(tree, joints)
    rows = np.linspace(0, len(traj) - 1, count + 2, dtype=int)[1:-1]
    worst = 0.0
    for q, u in zip(traj.q[rows], traj.u[rows], strict=True):
        udot = traj[0].system.forward_dynamics(q, u)
        worst = max(
            worst, np.abs(made.at(q, u).forward(np.zeros(tree.nu)).udot - udot).max() / np.abs(udot).max()
        )
    return worst


def one_degree(J, V, x, rate, t_end):
    """x and its rate at t_end of J(x) x'' + J' x'^2 / 2 + V' = 0: DOP853 to 1e-12, derivatives by a complex
    step."""
    slope = lambda f, x: np.imag(f(x + 1e-30j)) / 1e-30
    rates = lambda t, y: (y[1], -(slope(J, y[0]) * y[1] ** 2 / 2 + slope(V, y[0])) / J(y[0]))
    return solve_ivp(rates, (0, t_end), (x, rate), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


def test_pendulum_on_a_rod(evidence):
    """A01, ten seconds: the bob is free to translate, the rod is a constraint."""
    system = built.pendulum()
    traj = run(system, [-1, 0, 0], np.zeros(3), 10.0)
    evidence(
        "pendulum on a rod constraint (A01), position at 1, 5, 10 s [m]",
        max(np.abs(traj(t).q[:2] - at).max() for t, at in PENDULUM.items()),
        WITHIN,
    )
    evidence(
        "pendulum on a rod constraint (A01), energy over 10 s, relative", energy_change(system, traj), WITHIN
    )


def test_bricard(evidence):
    """A04, a second from rest: one equation is redundant all the time."""
    system = built.bricard()
    traj = run(system, np.zeros(5), np.zeros(5), 1.0)
    P3 = {t: system.station_position(traj(t).q, "r1", built.CORNER[2] - built.CORNER[1]) for t in BRICARD}
    evidence(
        "Bricard's mechanism (A04), P3 at 0.5 and 1 s [m]",
        max(np.abs(P3[t] - at).max() for t, at in BRICARD.items()),
        WITHIN,
    )
    assert sum(system.energy(traj.q[0], traj.u[0])) == pytest.approx(-29.43, rel=ROUNDING)
    evidence("Bricard's mechanism (A04), energy over 1 s, relative", energy_change(system, traj), WITHIN)
    # Rounding of two solutions with redundant rows; 2e-14 was measured.
    assert second_opinion(traj, built.bricard(closed=False), built.bricard_joints()) < 1e-11


def test_andrews(evidence):
    """A03: three loops through one point, a spring, a drive; 0.05 s in which the crank turns five times."""
    system = built.andrews()
    start = system.state(q=built.ANDREWS_START)
    udot = system.forward_dynamics(start.q, start.u)
    np.testing.assert_allclose(udot[:2], (BETADD, THETADD), rtol=1e-10)  # ten digits are given
    traj = run(system, start.q, start.u, 0.05)
    beta = traj.q[:, 0]
    evidence(
        "Andrews' squeezing mechanism (A03), beta after 0.05 s, relative",
        abs(beta[-1] / BETA_END - 1),
        WITHIN,
    )
    # less the work of the drive
    balance = np.sum(system.energy(traj.q, traj.u), axis=0) - 0.033 * (beta - beta[0])
    evidence(
        "Andrews' squeezing mechanism (A03), energy less work, relative", np.ptp(balance) / balance[0], WITHIN
    )
    # Both solve with centimeters beside radians; 6e-11 was measured.
    assert second_opinion(traj, built.andrews(closed=False), built.andrews_joints()) < 1e-9


@pytest.mark.parametrize("N", [2, 10])
def test_four_bars_through_flat(N, evidence):
    """A02: ten seconds, five revolutions, ten times through the flat position where all loops lose rank and
    could fold."""
    energy, B0 = FOUR_BARS[N]
    system = built.four_bars(N)
    q, u = built.four_bars_state(N, 0.0, 1.0)
    assert sum(system.energy(q, u)) == pytest.approx(energy, rel=1e-8)  # six decimals are given
    traj = cd.simulate(system, system.state(q=q, u=u), 10.0, accuracy=ACCURACY)
    assert traj.finished, traj.status
    assert np.abs(system.constraints.errors(traj.q, traj.u)[0]).max() < 1e-12
    theta = -traj.q[-1, 0]
    assert 10 * np.pi < theta < 10.2 * np.pi
    np.testing.assert_allclose(
        traj.q[-1], built.four_bars_state(N, theta, 0)[0], rtol=0, atol=1e-8
    )  # nothing folded
    evidence(
        f"{N} four-bars (A02) through ten singular positions, B0 at 10 s [m]",
        np.abs(np.array([np.sin(theta), np.cos(theta)]) - B0).max(),
        1e-4,
    )
    evidence(
        f"{N} four-bars (A02) through ten singular positions, energy, relative",
        energy_change(system, traj),
        1e-4,
    )


@pytest.mark.parametrize(("N", "count"), [(2, 16), (10, 6)])
def test_through_flat_the_error_follows_the_accuracy(N, count, evidence):
    """Whatever the accuracy puts where: errors grow as those of the pendulum that it is."""
    system = built.four_bars(N)
    q, u = built.four_bars_state(N, 0.0, 1.0)
    worst = 0.0
    for accuracy in np.logspace(-6, -9, count):
        traj = cd.simulate(system, system.state(q=q, u=u), 10.0, accuracy=accuracy)
        assert traj.finished, traj.status
        theta = -traj.q[-1, 0]
        worst = max(
            worst, np.abs(np.array([np.sin(theta), np.cos(theta)]) - FOUR_BARS[N][1]).max() / accuracy
        )
    # 4 was measured, of which the eight decimals of the reference may be as much.
    evidence(
        f"{N} four-bars (A02) through flat, {count} accuracies from 1e-6 to 1e-9, error over accuracy",
        worst,
        20,
    )


@pytest.mark.parametrize("theta", [0.3, 1.2, 2.0])
def test_four_bars_second_opinion(theta):
    q, u = built.four_bars_state(10, theta, 4.0)
    at = maximal.MaximalSystem(built.four_bars(10, closed=False), built.four_bars_joints(10)).at(q, u)
    udot = built.four_bars(10).forward_dynamics(q, u)
    expected = built.four_bars_state(10, 0, G * (11 / 2 + 10) / (11 / 3 + 10) * np.sin(theta))[1]
    # Y has a condition of up to 700 here, 0.4 rad from flat; rounding of numbers of order 10.
    np.testing.assert_allclose(udot, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(at.forward(np.zeros(21)).udot, expected, rtol=0, atol=1e-11)


def test_slider_crank(evidence):
    """Three seconds of turning, fast enough to pass the top."""
    system = built.slider_crank()
    traj = run(system, *built.slider_crank_state(0.4, 12.0), 3.0)
    theta, rate = one_degree(built.slider_crank_J, built.slider_crank_V, 0.4, 12.0, 3.0)
    q, u = built.slider_crank_state(theta, rate)
    assert theta > 6 * np.pi
    evidence(
        "slider-crank against its one equation, coordinates after 3 s, relative",
        np.abs(traj.q[-1] - q).max() / np.abs(q).max(),
        WITHIN,
    )
    evidence(
        "slider-crank against its one equation, speeds after 3 s, relative",
        np.abs(traj.u[-1] - u).max() / np.abs(u).max(),
        WITHIN,
    )
    assert energy_change(system, traj) < WITHIN
    assert (
        second_opinion(traj, built.slider_crank(closed=False), built.slider_crank_joints()) < 1e-11
    )  # both round


def test_flyball_governor(evidence):
    """Spun up by hand and left alone: the balls swing out and in, angular momentum H and energy stay."""
    system = built.governor()
    alpha, spin, t_end = 0.6, 14.0, 3.0
    traj = run(system, *built.governor_state(0.2, alpha, spin, 0.5), t_end)
    H = built.governor_spin_inertia(alpha) * spin
    effective = lambda a: built.governor_V(a) + H**2 / (2 * built.governor_spin_inertia(a))
    end, rate = one_degree(built.governor_J, effective, alpha, 0.5, t_end)
    q, u = built.governor_state(traj.q[-1, 0], end, H / built.governor_spin_inertia(end), rate)
    assert np.ptp(traj.q[:, 1]) > 0.2
    evidence(
        "flyball governor against its two equations, coordinates after 3 s, relative",
        np.abs(traj.q[-1] - q)[1:].max() / np.abs(q[1:]).max(),
        WITHIN,
    )
    evidence(
        "flyball governor against its two equations, speeds after 3 s, relative",
        np.abs(traj.u[-1] - u).max() / np.abs(u).max(),
        WITHIN,
    )
    assert energy_change(system, traj) < WITHIN
    momentum = built.governor_spin_inertia(traj.q[:, 1]) * traj.u[:, 0]
    assert np.abs(momentum / H - 1).max() < WITHIN
    assert second_opinion(traj, built.governor(closed=False), built.governor_joints()) < 1e-11  # both round
