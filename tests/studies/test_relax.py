"""Least potential energy: closed forms, statics with multipliers, curvature, saddles, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import fsolve

import condyle as cd
from tests.verification import mechanisms

g = 9.81
# the default accuracy of relax: its last change, which Newton squares
NEAR = 1e-8


def chain(links: int, length: float, end: tuple[float, float, float], joint=None) -> cd.System:
    """Slender links of 0.1 kg between two points."""
    system = cd.System(gravity=(0, -g, 0))
    I = 0.1 * length**2 / 12
    for i in range(links):
        system.add_body(
            f"l{i}",
            f"l{i - 1}" if i else "ground",
            joint or cd.Pin(),
            X_PF=(length if i else 0, 0, 0),
            mass=0.1,
            com=(length / 2, 0, 0),
            inertia=(0, I, I),
        )
    system.add_constraint("end", cd.constraints.Ball("ground", end, f"l{links - 1}", (length, 0, 0)))
    return system


def discrete_catenary(links: int, length: float, x: float, y: float) -> np.ndarray:
    """Angles of the links against the horizontal: their tangents are evenly spaced, tan_i = a + b i, and the
    ends meet."""
    i = np.arange(links)

    def gap(ab):
        angle = np.arctan(ab[0] + ab[1] * i)
        return length * np.cos(angle).sum() - x, length * np.sin(angle).sum() - y

    a, b = fsolve(gap, (-1.0, 2.0 / links), xtol=1e-13)
    return np.arctan(a + b * i)


@pytest.mark.parametrize("links", [4, 12])
def test_a_chain_hangs_as_a_discrete_catenary(links, evidence):
    length, x, y = 1.0 / links, 0.7, 0.1
    system = chain(links, length, (x, y, 0.0))
    sag = np.linspace(-1.2, 1.2, links)
    start = cd.assemble(system, system.state(q=np.diff(sag, prepend=0.0)))
    found = cd.relax(system, start)
    evidence(
        f"a chain of {links} links at rest between two hooks, angles against the discrete catenary [rad]",
        np.abs(np.cumsum(found.q) - discrete_catenary(links, length, x, y)).max(),
        NEAR,
    )
    assert (found.u == 0).all()


def statics(state: cd.State) -> float:
    """What is left of g + P' lambda, over the largest force."""
    system, zero = state.system, np.zeros(state.system.nu)
    f = system.inverse_dynamics(state.q, zero, zero)
    P = system.constraints.jacobian(state.q, zero)
    left = f + P.T @ np.linalg.lstsq(P.T, -f, rcond=1e-9)[0] if len(P) else f
    return float(np.abs(left).max() / np.abs(f).max())


def test_a_chain_of_balls_in_space():
    """Balls spin freely about their links: directions without slope. Statics balance, and so do
    accelerations."""
    system = chain(4, 0.3, (0.8, 0.0, 0.3), cd.Ball())
    rng = np.random.default_rng(0)
    q = system.compiled.normalized(system.defaults()[0] + 0.3 * rng.normal(size=system.nq))
    start = cd.assemble(system, system.state(q=q))
    found = cd.relax(system, start)
    assert statics(found) < 1e-7  # links of 0.3 m whose angles are known to 1e-8
    assert found.energy()[1] < start.energy()[1]
    heights = [found.station_position(f"l{i}", (0.3, 0, 0))[1] for i in range(3)]
    # both ends are level: it hangs symmetrically
    np.testing.assert_allclose(heights, heights[::-1], rtol=0, atol=1e-7)


def test_a_mechanism_finds_the_bottom_of_its_energy():
    """The governor has V(alpha) with its minimum where the arms hang down; with a spring, where Newton on one
    angle says."""
    system = mechanisms.governor()
    system.add_force(
        "spring", cd.forces.TwoPointSpring("arma", (0, -0.3, 0), "armb", (0, -0.3, 0), 400.0, 0.35)
    )
    q = mechanisms.governor_state(0.3, 0.4, 0.0, 0.0)[0]
    found = cd.relax(system, system.state(q=q))
    alpha = np.linspace(0.2, 1.2, 200_001)
    distance = 2 * mechanisms.ARM * np.sin(alpha)
    V = mechanisms.governor_V(alpha) + 200.0 * (distance - 0.35) ** 2
    assert abs(found.q[1] - alpha[np.argmin(V)]) < 1e-5  # the grid's own spacing
    assert statics(found) < 1e-9
    assert found.q[0] == pytest.approx(0.3, abs=1e-12)  # the spin has no slope


def test_the_end_is_a_minimum():
    """Energy grows along every direction that the constraints leave, by half the step squared times the
    curvature."""
    system = chain(5, 0.25, (0.8, 0.1, 0.0))
    found = cd.relax(system, cd.assemble(system, system.state(q=[-1.0, 0.4, 0.5, 0.4, 0.5])))
    rng = np.random.default_rng(1)
    for _ in range(10):
        near = cd.assemble(system, found.replace(q=found.q + 1e-3 * rng.normal(size=5)))
        assert near.energy()[1] > found.energy()[1]


def test_a_saddle_is_left():
    """A pendulum balanced upside down has no slope; it falls to the bottom all the same."""
    system = cd.System(gravity=(0, -g, 0))
    system.add_body("rod", mobilizer=cd.Pin(), mass=1.0, com=(0, -0.5, 0), inertia=(1, 1, 1))
    found = cd.relax(system, system.state(q=[np.pi]))
    assert abs(np.sin(found.q[0])) < NEAR and np.cos(found.q[0]) > 0


def test_springs_without_constraints():
    """A mass between two springs under gravity: one linear equation."""
    system = cd.System(gravity=(0, -g, 0))
    system.add_body("mass", mobilizer=cd.Translation(), mass=2.0)
    for name, y, k in (("up", 1.0, 300.0), ("down", -1.0, 100.0)):
        system.add_force(name, cd.forces.TwoPointSpring("ground", (0, y, 0), "mass", (0, 0, 0), k, 0.4))
    found = cd.relax(system, system.state(q=[0.3, 0.2, -0.1]))
    # 300 (1 - y - 0.4) - 100 (y + 1 - 0.4) = 2 g
    np.testing.assert_allclose(found.q, [0, (300 * 0.6 - 100 * 0.6 - 2 * g) / 400, 0], rtol=0, atol=NEAR)


def test_locked_speeds_stay():
    system = chain(3, 0.3, (0.6, 0.0, 0.0))
    start = cd.assemble(system, system.state(q=[-0.8, 0.8, 0.8]))
    held = cd.relax(system, start, locked=["l0"])
    assert held.q[0] == start.q[0] and not held.locked


def test_what_falls_has_no_rest():
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Translation(), mass=1.0)
    system.add_force("spring", cd.forces.MobilitySpring("ball_tx", 1.0, 0.0))
    with pytest.raises(cd.errors.ConvergenceError, match="'ball_ty' moves most") as told:
        cd.relax(system, system.state())
    assert told.value.status == cd.Status.STILL_FALLING
    assert (cd.relax(system, system.state(q=[0.3, 0, 0], disabled=["gravity"])).q == [0, 0, 0]).all()


def test_forces_without_an_energy_are_refused():
    system = mechanisms.andrews()  # its drive is a torque; its spring has an energy
    q = np.array([mechanisms.ANDREWS_START[c] for c in system.coordinates])
    with pytest.raises(cd.errors.DescriptionError, match="'drive'") as caught:
        cd.relax(system, system.state(q=q))
    assert "'spring'" not in str(caught.value)
    found = cd.relax(system, system.state(q=q, disabled=["drive"]))
    zero = np.zeros(system.nu)
    f = system.inverse_dynamics(found.q, zero, zero, disabled=["drive"])
    P = system.constraints.jacobian(found.q, zero)
    left = f + P.T @ np.linalg.lstsq(P.T, -f, rcond=1e-9)[0]
    assert np.abs(left).max() < 1e-6 * 4530.0 * 0.02  # of stiffness times a length of the mechanism


@pytest.mark.parametrize(
    ("options", "words"),
    [({"accuracy": 1.0}, "between 1e-12 and 0.1"), ({"locked": ["elbow"]}, "unknown speed")],
)
def test_refusals(options, words):
    system = chain(2, 0.3, (0.5, 0.0, 0.0))
    with pytest.raises(cd.errors.CondyleError, match=words):
        cd.relax(system, system.state(), **options)
    with pytest.raises(cd.errors.DescriptionError, match="another system"):
        cd.relax(system, chain(2, 0.3, (0.5, 0.0, 0.0)).state())


@pytest.mark.parametrize("height", [0.5, 0.0601])
def test_what_is_above_a_thin_surface_comes_to_rest_on_it(height: float) -> None:
    """Steps of up to a meter led through a plate of 2 cm."""
    rubber = cd.contact.Material(1e6)
    system = cd.System(gravity=(0, -g, 0))
    system.add_body("ball", mobilizer=cd.Slider(axis=(0, 1, 0)), mass=4.0, inertia=(0.03,) * 3)
    system.add_contact(
        "plate",
        cd.contact.Box("ground", None, (0.1, 0.01, 0.1), rubber),
        cd.contact.Sphere("ball", (0, 0, 0), 0.05, rubber),
    )
    found = cd.relax(system, system.state(q=[height]))
    depth = (4.0 * g / (4 / 3 * 1e6 / 2**1.5 * 0.05**0.5)) ** (2 / 3)  # Hertz
    assert found.q == pytest.approx(0.06 - depth, abs=NEAR)
    with pytest.raises(cd.errors.ConvergenceError, match="still falls"):
        cd.relax(system, system.state(q=[height], disabled=["plate"]))
