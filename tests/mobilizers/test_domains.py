"""Domains of coordinates: where a mobilizer is defined, and what others make of it."""

import warnings

import numpy as np
import pytest

import condyle as cd
from condyle.tree import scales
from tests.mobilizers.every import EVERY, LOOP, frames

CURVE = cd.SplineCurve(frames(7), domain=(0.5, 2.0))
LOOPED = cd.SplineCurve(frames(9, LOOP), closed=True)


def test_domains_of_mobilizers():
    everywhere = (-np.inf, np.inf)
    assert CURVE.domain == CURVE.domains[0] == (0.5, 2.0) == CURVE.reversed().domains[0]
    assert cd.compose(cd.Ball(), CURVE.reversed()).domains == (*[everywhere] * 4, (0.5, 2.0))
    assert LOOPED.domains == (everywhere,) and LOOPED.domain == (0.0, 1.0)
    assert cd.Free().domains == (everywhere,) * 7 and cd.Weld().domains == ()
    rng = np.random.default_rng(0)
    for m in EVERY.values():
        low, high = np.array(m.domains).reshape(-1, 2).T
        for q in (m.default_q(), *(m.random_q(rng) for _ in range(5))):
            assert (q >= low).all() and (q <= high).all()
    assert CURVE.default_q() == 0.5 and LOOPED.default_q() == 0.0


def leg(joint, **options):
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body("shank", mobilizer=joint, mass=2, com=(0, -0.2, 0), inertia=(0.05, 0.01, 0.05), **options)
    return system


def test_a_domain_is_the_range_of_a_coordinate():
    assert leg(CURVE).bodies[0].coordinates[0].range == (0.5, 2.0)
    assert "0.5 to 2" in leg(CURVE).describe()
    assert leg(CURVE, coordinates="knee").bodies[0].coordinates[0].range == (0.5, 2.0)
    narrow = cd.Coordinate("knee", 1.0, (0.8, 1.2))
    assert leg(CURVE, coordinates=narrow).bodies[0].coordinates[0] == narrow
    assert leg(LOOPED).bodies[0].coordinates[0].range is None
    assert leg(CURVE).defaults()[0] == [0.5]


def test_simulate_says_when_a_domain_is_left(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = leg(CURVE)
    with pytest.warns(
        UserWarning, match=r"'shank' leaves its domain from 0.5 to 2 at t = 0\.\d+ s and reaches"
    ) as said:
        run = cd.simulate(system, system.state(q=[1.9], u=[2.0]), 0.2)
    t = float(str(said[0].message).partition("t = ")[2].split()[0])
    assert run(t).q[0] == pytest.approx(2.0, abs=1e-3)  # found between two steps
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cd.simulate(system, system.state(q=[1.2], u=[0.0]), 0.02)
        looped = leg(LOOPED)
        assert cd.simulate(looped, looped.state(q=[0.9], u=[4.0]), 0.2).q.max() > 1.0


def test_ensembles_say_so_too(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = leg(CURVE)
    starts = {"q": [[1.2], [1.9], [1.95]], "u": [[0.0], [2.0], [2.0]]}
    words = r"'shank' leaves its domain .* in 2 of 3 members, the first is member 1, and reaches 2\."
    for keep in ("ends", "steps", np.linspace(0, 0.05, 3)):
        with pytest.warns(UserWarning, match=words) as said:
            ens = cd.simulate(system, starts, 0.1, keep=keep)
        assert len(said) == 1
    assert f"{ens.y_end[2, 0]:.6g}" in str(said[0].message)
    with pytest.warns(UserWarning, match=words):  # each runs by itself
        cd.simulate(system, starts, 0.1, events=cd.Event(lambda s: s.q("shank") - 5.0, name="never"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cd.simulate(system, {"q": [[1.2], [1.3]]}, 0.02)


def test_errors_of_a_curve_count_by_how_far_it_moves_its_body():
    """Not by the unit of its coordinate: the same curve over another domain has the same run."""
    for domain in ((0.0, 1.0), (0.0, 100.0)):
        curve = cd.SplineCurve(frames(7), domain=domain, unit="mm")
        system = leg(cd.compose(cd.Pin(), curve), X_BM=(0, 0.5, 0))
        q, u = scales.weights(system.bodies)
        s = curve.twists(curve.samples(1))[0][:, 0]
        mean = np.hypot(np.linalg.norm(s[:, :3], axis=1), np.linalg.norm(s[:, 3:], axis=1) / 0.5).mean()
        np.testing.assert_allclose(q, [1.0, mean], rtol=1e-12)
        np.testing.assert_allclose(u, scales.TIME_SCALE * q, rtol=1e-12)
        assert 1.5 < mean * domain[1] < 4.0  # it turns by 1.9 rad, and shifts
