"""cd.sample against closed forms, by chi-squared and by means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import iv

import condyle as cd

SIGMAS = 4.0
"""Means lie within so many standard errors: one in 16,000 does not, and the seeds are fixed."""
RARE = 1e-3
"""A chi-squared below this probability fails."""


def agrees(sample, x, mean, spread, ess=None):
    """A mean, within its standard error by the effective sample size."""
    ess = min(sample.ess.values()) if ess is None else ess
    assert abs(x.mean() - mean) < SIGMAS * spread / np.sqrt(ess)


def chi_squared(sample, x, cdf, ess=None, bins=12):
    """Counts of x in bins of equal probability by a distribution function; neighbors are alike, hence the
    effective sample size in place of the number."""
    ess = min(sample.ess.values()) if ess is None else ess
    counts = np.histogram(cdf(x), np.linspace(0, 1, bins + 1))[0] / len(x)
    value = min(ess, len(x)) * ((counts - 1 / bins) ** 2 * bins).sum()
    assert stats.chi2.sf(value, bins - 1) > RARE


def equipartition(sample, dof):
    """Speeds are drawn afresh: kinetic energies are independent, chi-squared with dof degrees."""
    kinetic = (sample.energy - sample.potential) / sample.kT
    agrees(sample, kinetic, dof / 2, np.sqrt(dof / 2), len(sample))
    chi_squared(sample, 2 * kinetic, stats.chi2(dof).cdf, len(sample))


def numeric_cdf(x, density):
    total = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(x))])
    return lambda at: np.interp(at, x, total / total[-1])


def heavy(mobilizer, **options):
    system = cd.System(gravity=(0, -10, 0))
    system.add_body("b", mobilizer=mobilizer, mass=1.0, **options)
    return system


A = 2.0
"""m g l / kT of all pendulums below."""
LANGEVIN = 1 / np.tanh(A) - 1 / A
COS = np.linspace(-1, 1, 4001)
HEIGHT = numeric_cdf(COS, np.exp(A * COS))
"""Distribution of the cosine of a spherical pendulum, sin theta exp(A cos theta) dtheta."""


def test_harmonic():
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("m", mobilizer=cd.Slider(), mass=2.0)
    system.add_force("k", cd.forces.MobilitySpring("m", 50.0, 0.3))
    system.add_force("drag", cd.forces.MobilityDamper("m", 5.0))  # it does not matter in equilibrium
    s = cd.sample(system, kT=0.5, n=4000, seed=1)
    spread = np.sqrt(0.5 / 50)
    agrees(s, s.q[:, 0], 0.3, spread)
    chi_squared(s, s.q[:, 0], stats.norm(0.3, spread).cdf)
    chi_squared(s, s.u[:, 0], stats.norm(0, 0.5).cdf, len(s))
    agrees(s, s.potential, 0.25, 0.25 * np.sqrt(2))
    equipartition(s, 1)
    assert s.q.shape == (4000, 1) and s.energy.shape == (4000,)
    assert max(s.rhat.values()) < 1.02 and min(s.ess.values()) > 400
    again = cd.sample(system, kT=0.5, n=4000, seed=1)
    assert np.array_equal(s.q, again.q) and np.array_equal(s.u, again.u)


def test_pendulum_by_bessel_functions():
    s = cd.sample(heavy(cd.Pin(), X_BM=(0, 1, 0), inertia=(0.1, 0.1, 0.1)), kT=5.0, n=4000, seed=2)
    agrees(s, np.cos(s.q[:, 0]), iv(1, A) / iv(0, A), 0.45)  # 0.45: spread of the cosine
    angles = np.linspace(-np.pi, np.pi, 4001)
    chi_squared(s, s.q[:, 0], numeric_cdf(angles, np.exp(A * np.cos(angles))))
    equipartition(s, 1)


@pytest.mark.parametrize("kind", ["ball", "universal", "rod", "free"])
def test_spherical_pendulum_in_four_ways(kind):
    """A ball (quaternion), two angles with their volume factor, a particle on a rod, a free body that is tied:
    the same distribution of heights, Langevin's."""
    start = None
    if kind == "ball":
        system, dof = heavy(cd.Ball(), X_BM=(0, 1, 0), inertia=(0.3, 0.1, 0.2)), 3
    elif kind == "universal":
        system, dof = cd.System(gravity=(10, 0, 0)), 2  # across the axes: sin theta is in det M
        system.add_body("b", mobilizer=cd.Universal(), X_BM=(0, 0, 1), mass=1.0, inertia=(1e-9,) * 3)
    elif kind == "rod":
        system, dof = heavy(cd.Translation()), 2
        system.add_constraint("rod", cd.constraints.Rod("ground", (0, 0, 0), "b", (0, 0, 0), 1.0))
        start = system.state(q=[0, -1, 0])
    else:
        system, dof = heavy(cd.Free(), inertia=(0.3, 0.1, 0.2)), 3
        system.add_constraint("tie", cd.constraints.Ball("ground", (0, 0, 0), "b", (0, 1, 0)))
        start = system.state(q=[1, 0, 0, 0, 0, -1, 0])
    bound = start is not None
    chains = 128 if bound else 32
    s = cd.sample(system, kT=5.0, n=3000, seed=3, state=start, chains=chains, steps=6, warmup=60)
    center = system.mass_center(s.q)
    height = center[:, 0] if kind == "universal" else -center[:, 1]
    agrees(s, height, LANGEVIN, 0.5)
    chi_squared(s, height, HEIGHT)
    equipartition(s, dof)
    if bound:
        assert np.abs(system.constraints.errors(s.q, s.u)[0]).max() < 1e-9  # closed to 1e-11 in each step
        assert np.abs(system.constraints.errors(s.q, s.u)[1]).max() < 1e-9


def test_torsion_chain():
    """Coaxial disks: relative angles are independent, with variances kT / k."""
    system, springs = cd.System(gravity=(0, 0, 0)), (1.0, 4.0, 9.0)
    for i, k in enumerate(springs):
        system.add_body(f"d{i}", f"d{i - 1}" if i else "ground", cd.Pin(), mass=1.0, inertia=(2, 2, 1.0 + i))
        system.add_force(f"k{i}", cd.forces.MobilitySpring(f"d{i}", k, 0.1 * i))
    s = cd.sample(system, kT=0.04, n=6000, seed=4)
    for i, k in enumerate(springs):
        chi_squared(s, s.q[:, i], stats.norm(0.1 * i, np.sqrt(0.04 / k)).cdf)
    correlation = np.corrcoef(s.q.T) - np.eye(3)
    assert np.abs(correlation).max() < SIGMAS / np.sqrt(min(s.ess.values()))
    equipartition(s, 3)


def test_volume_factor_of_minimal_coordinates():
    """Two rods without gravity: the relative angle has the density sqrt(det M), det M ~ m1 + m2 sin^2."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("a", mobilizer=cd.Pin(), mass=1.0, com=(0, -1, 0))
    system.add_body("b", "a", cd.Pin(), X_PF=(0, -1, 0), mass=8.0, com=(0, -1, 0))
    s = cd.sample(system, kT=1.0, n=6000, seed=5)
    x = np.linspace(-np.pi, np.pi, 4001)
    chi_squared(s, s.q[:, 1], numeric_cdf(x, np.sqrt(1 + 8 * np.sin(x) ** 2)))
    chi_squared(s, s.q[:, 0], lambda q: (q + np.pi) / (2 * np.pi))


def test_parameters_locks_and_scale():
    """Molecular energies, a Parameter of the state, a locked speed."""
    system = cd.System(gravity=(0, 0, 0))
    k = cd.Parameter("k", 1e-20)
    for name in "ab":
        system.add_body(name, mobilizer=cd.Slider(), mass=1e-26)
        system.add_force(f"k_{name}", cd.forces.MobilitySpring(name, k, 0.0))
    state = system.state(q=[0.0, 0.7], parameters={"k": 4e-20}, locked=["b"])
    s = cd.sample(system, kT=4e-21, n=2000, seed=6, state=state)
    chi_squared(s, s.q[:, 0], stats.norm(0, np.sqrt(0.1)).cdf)
    assert (s.q[:, 1] == 0.7).all() and (s.u[:, 1] == 0).all()


def test_result_reads_well():
    system = heavy(cd.Pin(), X_BM=(0, 1, 0))
    s = cd.sample(system, kT=5.0, n=500, seed=2)
    assert "500 states of 32 chains" in repr(s) and len(s) == 500
    assert s.table().names == ("b", "b_speed", "energy", "potential")
    assert set(s.rhat) == set(s.ess) == {"b", "energy"}
    assert s.quality.checks[0].what == "R-hat"
    assert len(s.plot().patches) >= 1 and "R-hat" in s._repr_html_()


def test_bad_calls():
    system = heavy(cd.Pin(), X_BM=(0, 1, 0))
    for bad in (0.0, -1.0, np.nan, np.inf, "warm"):
        with pytest.raises(cd.errors.DescriptionError, match="kT"):
            cd.sample(system, kT=bad, n=10, seed=1)
    with pytest.raises(cd.errors.DescriptionError, match="n: expected a whole number"):
        cd.sample(system, kT=1.0, n=0, seed=1)
    for seed in ("one", 1.5, -1, None):
        with pytest.raises(cd.errors.DescriptionError, match="seed: expected a whole number"):
            cd.sample(system, kT=1.0, n=10, seed=seed)
    few = cd.sample(system, kT=5.0, n=40, seed=1, warmup=10)  # five chains of eight, that can be judged
    assert few.chain.max() == 4 and all(np.isfinite(r) for r in few.rhat.values())
    with pytest.raises(cd.errors.ArgumentError, match="kT, in joules"):
        cd.sample(system, temperature=300, n=10, seed=1)
    pushed = heavy(cd.Pin(), X_BM=(0, 1, 0))
    pushed.add_force("motor", cd.forces.MobilityForce("b", 1.0))
    with pytest.raises(cd.errors.DescriptionError, match="store no energy"):
        cd.sample(pushed, kT=1.0, n=10, seed=1)
    euler = heavy(cd.Ball(coordinates="euler"), X_BM=(0, 1, 0), inertia=(1, 1, 1))
    with pytest.raises(cd.errors.DescriptionError, match="no quaternion"):
        cd.sample(euler, kT=1.0, n=10, seed=1)
    with pytest.raises(cd.errors.DescriptionError, match="no coordinate is free"):
        cd.sample(system, kT=1.0, n=10, seed=1, state=system.state(locked=["b"]))
