"""Masses and forces at the root, against a planar subject whose masses are known."""

import numpy as np
import pytest

import condyle as cd
from condyle.personal.dynamics import _solve_banded


@pytest.fixture(scope="module")
def subject():
    return cd.models.synthetic_subject()


@pytest.fixture(scope="module")
def loads(subject):
    force = lambda s: {"force": f"{s}_force_", "point": f"{s}_point_"}
    return [cd.ExternalLoad(f"foot_{s}", subject.ground_reactions, **force(s)) for s in "rl"]


@pytest.fixture(scope="module")
def person(subject, loads):
    """The model's trunk is a sixth too light for this subject, its legs too heavy."""
    share = {"torso": 0.85, "femur_r": 1.2, "femur_l": 1.2}
    bodies = subject.generic.bodies
    wrong = subject.generic.copy(
        bodies={
            b.name: {
                "mass": b.mass * share[b.name],
                "inertia": np.array(b.mass_properties.inertia) * share[b.name],
            }
            for b in bodies
            if b.name in share
        }
    )
    return cd.personalize(wrong, subject.walk, subject.static, loads)


def test_residuals_vanish_and_the_motion_hardly_changes(person):
    """nimblephysics #177: small moments at the root must not mangle the motion."""
    found = person.dynamics.trials[0]
    force = np.array([u == "N" for u in found.after.units])
    left = np.sqrt((found.after.values[:, force] ** 2).sum(axis=1).mean())
    assert left < 0.01 * found.peak and np.sqrt((found.after.values[:, ~force] ** 2).mean()) < 3.0
    rms, most = np.degrees(found.changed)
    assert rms < 0.5 and most < 4.0
    assert person.residuals[0] is found.after and person.rms[0] < 0.005


def test_masses_against_the_truth(subject, person):
    true = {b.name: b.mass for b in subject.system.bodies}
    assert person.dynamics.total == pytest.approx(subject.mass, rel=0.01)
    assert sum(person.masses.values) == pytest.approx(person.dynamics.total, rel=0.01)
    assert (person.masses.values > 0).all()
    trunk = lambda m: m["torso"] + m["pelvis"]
    assert trunk(person.masses) == pytest.approx(trunk(true), rel=0.10)
    assert sum(b.mass for b in person.system.bodies) == pytest.approx(person.dynamics.total, rel=0.01)
    # what a walk does not show stays at the prior, and is named
    assert "mass of foot" in person.dynamics.weak and "stay at the prior" in person.report()


def test_the_subject_has_these_residuals(subject, person, loads):
    """The written system, its motion and cd.inverse_dynamics give the same forces at the root."""
    motion, found = person.motions[0], person.dynamics.trials[0]
    rows = slice(found.rows.start + 8, found.rows.stop - 8)
    cut = cd.Table(motion.time[found.rows], motion.names, found.q, motion.units)
    moments = cd.inverse_dynamics(person.system, cut, loads)
    names = [n for n in moments.names if n.startswith("pelvis_t") and not n.startswith("pelvis_tilt")]
    inner = slice(10, -10)
    off = max(np.sqrt((moments[n][inner] ** 2).mean()) for n in names)
    assert off < 0.02 * found.peak  # its splines go through the frames, those of the fit near to them
    assert rows.start < rows.stop


def test_plates_that_do_not_fit(subject, loads):
    late = cd.Table(
        subject.ground_reactions.time + 50, subject.ground_reactions.names, subject.ground_reactions.values
    )
    wrong = [cd.ExternalLoad(f"foot_{s}", late, force=f"{s}_force_", point=f"{s}_point_") for s in "rl"]
    with pytest.raises(cd.errors.DescriptionError, match="loads are known from 50"):
        cd.personalize(subject.generic, subject.walk, subject.static, wrong)


def test_banded_solutions():
    rng = np.random.default_rng(0)
    K, w, n = 7, 3, 2
    A = np.zeros((K, n, K, n))
    for k in range(K):
        for d in range(min(w, K - k)):
            X = rng.normal(size=(n, n))
            A[k + d, :, k] += X
            A[k, :, k + d] += X.T
    A = A.reshape(K * n, K * n) + 20 * np.eye(K * n)
    H = np.zeros((K, w, n, n))
    for k in range(K):
        for d in range(min(w, K - k)):
            H[k, d] = A.reshape(K, n, K, n)[k + d, :, k]
    b = rng.normal(size=(K * n, 3))
    np.testing.assert_allclose(_solve_banded(H, b), np.linalg.solve(A, b), atol=1e-12)
