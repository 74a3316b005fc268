"""The subject who does not exist: its recording is what its model does."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd


@pytest.fixture(scope="module")
def subject():
    return cd.models.synthetic_subject()


def feet(subject):
    return [
        cd.ExternalLoad(
            f"foot_{side}", subject.ground_reactions, force=f"{side}_force_", point=f"{side}_point_"
        )
        for side in "rl"
    ]


def test_nothing_is_left_over_for_the_pelvis(subject, evidence):
    motion = cd.Motion(subject.system, subject.motion.time, subject.motion.values, subject.u, subject.udot)
    tau = cd.inverse_dynamics(subject.system, motion, feet(subject))
    # rounding of forces of 1000 N at 2 m
    evidence(
        "a synthetic walk: residuals at the pelvis [N, N m]",
        np.abs(tau[["pelvis_tilt", "pelvis_tx", "pelvis_ty"]].values).max(),
        1e-10,
    )
    assert 50 < np.abs(tau["ankle_angle_r"]).max() < 150  # N m, as people have
    # by splines instead of exact rates: 68 kg times their error h^4 f^(6)/1000 for harmonics of 4.5 Hz
    splined = cd.inverse_dynamics(subject.system, subject.motion, feet(subject)).values[10:-10]
    assert np.abs(splined - tau.values[10:-10]).max() < 1e-2


def test_rates_are_those_of_the_motion(subject):
    t, q = subject.motion.time, subject.motion.values
    h = t[1] - t[0]
    center = (q[:-4] - 8 * q[1:-3] + 8 * q[3:-1] - q[4:]) / (12 * h)
    assert np.abs(center - subject.u[2:-2]).max() < 1e-2  # h^4/30 of the fifth derivative, (2 pi 5 / 1.1)^5
    np.testing.assert_allclose(np.trapezoid(subject.udot, t, axis=0), subject.u[-1] - subject.u[0], atol=5e-3)


def test_feet_stand_and_push(subject):
    g, t = subject.ground_reactions, subject.motion.time
    total = g["r_force_y"] + g["l_force_y"]
    assert (total > 0.7 * 9.81 * subject.mass).all() and (total < 1.4 * 9.81 * subject.mass).all()
    assert (g["r_force_y"] >= 0).all() and (g["l_force_y"] >= 0).all()
    alone = (t > 0.15) & (t < 0.5)  # the right foot, from heel to toe
    heel, toe = (
        subject.system.station_position(subject.motion.values, "foot_r", (x, -0.05, 0))[:, 0]
        for x in (-0.06, 0.18)
    )
    assert ((g["r_point_x"] > heel) & (g["r_point_x"] < toe))[alone].all()
    assert np.ptp(heel[alone]) < 0.05


def test_markers_are_where_the_model_has_them(subject):
    """Up to noise and the placement of each marker, which stays."""
    s = subject.system
    model = np.stack(
        [
            s.station_position(subject.motion.values, s.marker(name).body, s.marker(name).station)
            for name in s.markers
        ],
        axis=1,
    )
    off = subject.walk.positions - model
    assert subject.walk.names == s.markers and np.linalg.norm(off, axis=2).max() < 0.02
    assert 0.001 < np.sqrt((off**2).mean()) < 0.005  # 1 mm and 3 mm
    assert len(subject.static) == 50


def test_sizes_and_masses(subject):
    assert sum(b.mass for b in subject.system.bodies) == pytest.approx(subject.mass, rel=1e-12)
    assert sum(b.mass for b in subject.generic.bodies) == pytest.approx(72.0, rel=1e-12)
    for name, f in subject.factors.items():
        new, old = subject.system.body(name), subject.generic.body(name)
        np.testing.assert_allclose(new.mass_properties.com, f * old.mass_properties.com, rtol=1e-14)
        inertia = f**2 * 68 / 72 * old.mass_properties.inertia
        np.testing.assert_allclose(new.mass_properties.inertia, inertia, rtol=1e-12)
    lengths = [s.path_lengths(s.defaults()[0]) for s in (subject.system, subject.generic)]
    for name, ratio in zip(subject.generic.muscles, lengths[0] / lengths[1], strict=True):
        new, old = subject.system.force(name), subject.generic.force(name)
        for length in ("optimal_fiber_length", "tendon_slack_length"):
            assert getattr(new, length) == pytest.approx(ratio * getattr(old, length), rel=1e-12)


def test_the_same_seed_is_the_same_subject():
    a, b, c = (cd.models.synthetic_subject(seed=seed, duration=0.1) for seed in (1, 1, 2))
    np.testing.assert_array_equal(a.walk.positions, b.walk.positions)
    assert np.abs(a.walk.positions - c.walk.positions).max() > 1e-3
