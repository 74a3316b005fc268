"""Masses and forces at the root, against a planar subject whose masses are known."""

import numpy as np
import pytest

import condyle as cd
from condyle.personal.dynamics import _solve_banded, _Spline
from condyle.personal.followed import pieces


@pytest.fixture(scope="module")
def subject():
    return cd.models.synthetic_subject()


@pytest.fixture(scope="module")
def loads(subject):
    force = lambda s: {"force": f"{s}_force_", "point": f"{s}_point_"}
    return [cd.ExternalLoad(f"foot_{s}", subject.ground_reactions, **force(s)) for s in "rl"]


@pytest.fixture(scope="module")
def wrong(subject):
    """The model's trunk is a sixth too light for this subject, its legs too heavy."""
    share = {"torso": 0.85, "femur_r": 1.2, "femur_l": 1.2}
    bodies = subject.generic.bodies
    return subject.generic.copy(
        bodies={
            b.name: {
                "mass": b.mass * share[b.name],
                "inertia": np.array(b.mass_properties.inertia) * share[b.name],
            }
            for b in bodies
            if b.name in share
        }
    )


@pytest.fixture(scope="module")
def person(subject, wrong, loads):
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
    carried = np.isin(motion.time[found.rows], found.after.time)
    cut = cd.Table(found.after.time, motion.names, found.q[carried], motion.units)
    moments = cd.inverse_dynamics(person.system, cut, loads)
    names = [n for n in moments.names if n.startswith("pelvis_t") and not n.startswith("pelvis_tilt")]
    inner = np.isin(moments.time, found.after.time[5:-5])
    off = max(np.sqrt((moments[n][inner] ** 2).mean()) for n in names)
    assert off < 0.02 * found.peak  # its splines go through the frames, those of the fit near to them


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


def test_splines():
    """Values and rates of a polynomial of degree 5 are exact, whatever the knots."""
    t = np.linspace(0.3, 1.7, 141)
    spline, p = _Spline(t, 1 / 30), np.polynomial.Polynomial([1, -2, 0.5, 0.3, -0.2, 0.1])
    dense = np.zeros((len(t), spline.count))
    np.put_along_axis(dense, spline.at, spline.b[0], axis=1)
    np.testing.assert_allclose(dense.sum(axis=1), 1.0, rtol=1e-13)
    c = np.linalg.lstsq(dense, p(t)[:, None], rcond=None)[0]
    for k, x in enumerate(spline(c)):
        np.testing.assert_allclose(x[:, 0], p.deriv(k)(t), atol=1e-8)  # rates of knots 1/30 s apart
    straight = np.outer(t, [2.0, -1.0])
    np.testing.assert_allclose(
        spline(spline.fit(straight))[0], straight, atol=1e-9
    )  # no acceleration, no change
    noise = 0.002 * np.random.default_rng(0).normal(size=(len(t), 1))
    exact = np.linalg.solve(
        *(lambda B, B2: (B.T @ B / 0.005**2 + B2.T @ B2 / 60.0**2, B.T @ noise / 0.005**2))(
            dense, _dense(spline, 2)
        )
    )
    np.testing.assert_allclose(spline.fit(noise), exact, atol=1e-10)


def _dense(spline, k):
    out = np.zeros((len(spline.first), spline.count))
    np.put_along_axis(out, spline.at, spline.b[k], axis=1)
    return out


def test_normal_equations(subject, wrong, loads, monkeypatch):
    """Gradients of (1) and the part of its second derivatives that forces have, against differences."""
    import condyle.personal.dynamics as dynamics

    kept = []
    stretch = dynamics._Stretch

    class Kept(stretch):
        def __init__(self, *given):
            super().__init__(*given)
            kept.append(self)

    monkeypatch.setattr(dynamics, "_Stretch", Kept)
    found = cd.personalize(wrong, subject.walk, subject.static, loads)
    t, pi = kept[0], found.dynamics.pi
    rng = np.random.default_rng(1)
    c = t.c + 2e-2 * rng.normal(size=t.c.shape)  # far enough for the steep part
    pi = pi + 0.02 * rng.normal(size=pi.shape)
    H, g, C, D, gp = t.normal(c, pi)
    K, w, n, _ = H.shape
    full = np.zeros((K, n, K, n))
    for k in range(K):
        for d in range(min(w, K - k)):
            full[k + d, :, k] = H[k, d]
            full[k, :, k + d] = H[k, d].T
    for _ in range(3):
        dc, dp = rng.normal(size=c.shape) * t.free, rng.normal(size=pi.shape)
        h = 1e-6
        slope = (t.cost(c + h * dc, pi + h * dp) - t.cost(c - h * dc, pi - h * dp)) / (2 * h)
        assert slope == pytest.approx((g * dc).sum() + gp @ dp, rel=1e-5)
        # all terms are squares of e, r, accelerations and changes: the matrix is that of their slopes
        parts = lambda c, pi: [
            t.problem.errors(t.spline(c)[0], t.fit.theta, t.fit.d)[0].ravel() / t.sd,
            (t.residual(c, pi) / t.sd_r).ravel(),
            (t.spline(c)[2] * t.free / dynamics.ACCELERATION).ravel(),
            (t.spline(c)[0] / t.sd_q).ravel(),
            (t.change(c) / t.steep).ravel() ** 4,
        ]
        up, down = (parts(c + s * h * dc, pi + s * h * dp) for s in (1, -1))
        square = sum((((a - b) / (2 * h)) ** 2).sum() for a, b in zip(up, down, strict=True))
        flat = dc.ravel()
        model = (
            flat @ full.reshape(K * n, K * n) @ flat - 1e-6 * flat @ flat + 2 * flat @ C @ dp + dp @ D @ dp
        )
        assert model == pytest.approx(square, rel=1e-5)


def test_weak_directions_stay(person):
    """The covariance is the prior's where recordings tell less, and is smaller elsewhere."""
    found = person.dynamics
    sd, names = np.sqrt(np.diag(found.covariance)), list(found.loaded.names)
    for n in found.weak:
        assert sd[names.index(n)] > 0.65 * found.loaded.prior_sd[names.index(n)], n
    shown = [n for n in names if n not in found.weak]
    assert shown and all(sd[names.index(n)] < found.loaded.prior_sd[names.index(n)] for n in shown)
    assert "mass center of trunk x" in shown
    moved = found.pi - found.prior
    assert np.abs(moved / found.loaded.prior_sd).max() < 3
    k = sum(n.startswith("mass of") for n in names)
    total = sum(b.mass * np.exp(found.pi[found.loaded.mass_of[b.name]]) for b in person.sized.generic.bodies)
    assert total == pytest.approx(found.total, rel=0.004) and k == 5


def test_several_stretches(subject, wrong, loads):
    """A plate that is out of order for a while: what is left on both sides is used, and joined smoothly."""
    table = subject.ground_reactions
    off = (table.time > 0.6) & (table.time < 0.85)
    values = np.where(off[:, None] & np.array(["force" in n for n in table.names]), 0.0, table.values)
    broken = cd.Table(table.time, table.names, values, table.units)
    given = [cd.ExternalLoad(x.body, broken, force=x.force, point=x.point) for x in loads]
    found = cd.personalize(wrong, subject.walk, subject.static, given)
    rows, after = found.dynamics.trials[0].rows, found.dynamics.trials[0].after
    assert not ((after.time > 0.6) & (after.time < 0.85)).any()
    assert after.time[0] < 0.4 and after.time[-1] > 1.2 and (np.diff(rows) > 0).all()
    assert np.sqrt((after.values**2).sum(axis=1).mean()) < 10
    plain = cd.personalize(wrong, subject.walk, subject.static)
    change = np.abs(found.motions[0].values - plain.motions[0].values)
    assert 0 < change[rows].max() < np.radians(4)
    assert (change[np.setdiff1d(np.arange(len(change)), rows)] == 0).all()


def test_frames_that_are_cut_out(subject, loads):
    """A gap of time ends a stretch, and so does a jump: forces there are known, but no motion goes through it."""
    walk = subject.walk
    keep = np.r_[0:45, 60 : len(walk.time)]
    cut = cd.Markers(walk.time[keep], walk.names, walk.positions[keep])
    found = cd.personalize(subject.generic, cut, subject.static, loads).dynamics
    after, rows = found.trials[0].after, found.trials[0].rows
    assert {44, 45} <= set(rows) and found.total == pytest.approx(subject.mass, rel=0.005)
    assert np.sqrt((after.values**2).sum(axis=1).mean()) < 5
    jumped = walk.positions.copy()
    jumped[45:] += [0.15, 0, 0]  # the laboratory's origin moved by less than what a force is beside a foot
    with pytest.warns(cd.errors.QualityWarning), pytest.warns(RuntimeWarning, match="contradict"):
        cd.personalize(subject.generic, cd.Markers(walk.time, walk.names, jumped), subject.static, loads)
    assert pieces(walk.time, np.where(np.arange(len(walk.time)) < 45, 0.0, 0.9)[:, None]) == [
        slice(0, 45),
        slice(45, len(walk.time)),
    ]


def test_angles_and_masses_stay_near(subject, wrong, loads):
    """Points of application 8 cm off: neither the motion nor masses go far to explain it, and residuals say so."""
    table = subject.ground_reactions
    values = table.values + 0.08 * np.array([n.endswith("point_x") for n in table.names])
    moved = cd.Table(table.time, table.names, values, table.units)
    given = [cd.ExternalLoad(x.body, moved, force=x.force, point=x.point) for x in loads]
    with pytest.warns(RuntimeWarning, match="agree only roughly"):
        found = cd.personalize(wrong, subject.walk, subject.static, given).dynamics
    rms, most = np.degrees(found.trials[0].changed)
    assert rms < 2.0 and most <= 4.0
    assert np.abs((found.pi - found.prior) / found.loaded.prior_sd).max() < 4  # 3.7; without limits 8
    assert (np.exp(found.pi - found.prior)[:5] > 0.6).all()


def test_a_trunk_without_markers(subject, wrong, loads):
    """Masses stay at the shares of the model, all of them are named, and the markers are still met."""
    trunk = [n for n in wrong.markers if wrong.marker(n).body == "torso"]
    rest = [n for n in subject.walk.names if n not in trunk]
    with pytest.warns(RuntimeWarning, match="no marker shows how torso moves"):
        found = cd.personalize(wrong, subject.walk[rest], subject.static[rest], loads)
    share = np.array([b.mass for b in wrong.bodies if b.mass > 0])
    np.testing.assert_allclose(found.masses.values, share / share.sum() * found.dynamics.total, rtol=1e-9)
    assert found.dynamics.total == pytest.approx(subject.mass, rel=0.02)
    assert set(found.dynamics.weak) >= set(found.dynamics.loaded.names) - {
        "mass of trunk"
    }  # of a known total
    assert found.rms[0] < 0.01
