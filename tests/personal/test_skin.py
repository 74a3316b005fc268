"""Errors that are alike from frame to frame: steps against a dense solution, and what recordings tell of the skin."""

import numpy as np
import pytest

import condyle as cd
import condyle.personal.skin as skin
from tests.personal import rig


@pytest.fixture(scope="module")
def person():
    subject = cd.models.synthetic_subject()
    return cd.personalize(subject.generic, subject.walk, subject.static)


@pytest.fixture(scope="module")
def few(person):
    times = [r.markers.time[k] for r, k in zip(person.recordings, person.picks, strict=True)]
    return skin.SkinFit(person.problem, times, [True, False]).thinned(70)


def test_a_step_is_that_of_the_dense_problem(person, few):
    fit, p = person.fit, few.problem
    rng = np.random.default_rng(0)
    q = fit.q[few.chosen] + 0.01 * rng.normal(size=(len(few.chosen), p.system.nq))
    p.seen[2, 1] = False  # a marker that was not seen
    W, logdet = few.weights(0.004, 3.0, 0.2, 0.001, 0.005)
    du, dtheta, dd, S, _ = few.step(q, fit.theta, fit.d, W)
    e, A, B = p.linear(q, fit.theta, fit.d)
    T, M, _, n = A.shape
    ns = len(fit.theta)
    J, N = np.zeros((T, M, 3, T * n + ns + 3 * M)), np.zeros((T, M, 3, T, M, 3))
    for t in range(T):
        J[t, ..., t * n : (t + 1) * n], J[t, ..., T * n : T * n + ns] = A[t], B[t]
        J[t, ..., T * n + ns :] = -np.eye(3 * M).reshape(M, 3, 3 * M)
    for k, (rows, t) in enumerate(zip(few.rows, few.times, strict=True)):
        r = np.sqrt(5) * np.abs(t[:, None] - t) / 0.2
        K = 0.004**2 * (1 + r + r**2 / 3) * np.exp(-r) if k else np.full((len(t), len(t)), 0.005**2)
        for i in range(M):
            for j in range(M):
                same = p.own[i] ** 2 * (i == j) + (3.0 if k and p.body[i] == p.body[j] else 0.0)
                for axis in range(3):
                    N[rows[:, None], i, axis, rows, j, axis] = same * K
    N = N.reshape(3 * T * M, -1) + 0.001**2 * np.eye(3 * T * M)
    seen = np.repeat(p.seen.ravel(), 3)
    J, N, e = J.reshape(3 * T * M, -1)[seen], N[np.ix_(seen, seen)], e.ravel()[seen]
    assert logdet == pytest.approx(np.linalg.slogdet(N)[1], rel=1e-9)
    D, right = p.border_prior(fit.theta, fit.d)
    Hq, gq, _ = p.pose_prior(q, 0.0, None, None, None)
    H, g = J.T @ np.linalg.solve(N, J), J.T @ np.linalg.solve(N, e)
    H[T * n :, T * n :] += D
    g[T * n :] += right
    for t in range(T):
        H[t * n : (t + 1) * n, t * n : (t + 1) * n] += Hq[t]
    g[: T * n] += gq.ravel()
    x = -np.linalg.solve(H, g)
    close = {"rtol": 1e-6, "atol": 1e-9}  # condition 1e7 of poses without a prior
    np.testing.assert_allclose(du.ravel()[np.tile(p.free, T)], x[: T * n][np.tile(p.free, T)], **close)
    np.testing.assert_allclose(np.r_[dtheta, dd.ravel()], x[T * n :], **close)
    covariance = np.linalg.inv(H)[T * n :, T * n :]
    np.testing.assert_allclose(np.linalg.inv(S), covariance, rtol=1e-5, atol=1e-10)


def test_the_recording_says_how_cameras_and_skin_err(person):
    """The subject's markers err by white noise of 1 mm and by nothing else."""
    assert person.fit.skin[2] == 0.001
    assert all(x in tried for x, tried in zip(person.fit.skin, skin.TRIED, strict=True))


@pytest.mark.parametrize("shared", [True, False])
def test_the_recording_says_whether_markers_move_together(shared):
    """Markers of a segment that move as one, or each by itself."""
    model, (true, static, _, q) = rig.generic(), rig.recording(skin=0.0)
    t, rng = np.arange(len(q)) / 60, np.random.default_rng(4)
    wave = lambda: np.sin(2 * np.pi * t / 0.7 + rng.uniform(0, 6))[:, None] * rng.normal(scale=0.004, size=3)
    motion, walk = {b.name: wave() for b in true.bodies}, rig.seen(true, t, q, rng, skin=0.0)
    R, p = true.body_poses(q).R, walk.positions.copy()
    for k, n in enumerate(walk.names):
        b = true.body(true.marker(n).body)
        p[:, k] += np.einsum("tij,tj->ti", R[:, b.index], motion[b.name] if shared else wave())
    person = cd.personalize(model, cd.Markers(t, walk.names, p), static)
    assert (person.fit.skin[0] > 0) == shared


def test_steps_of_frames_whose_markers_move_together(person):
    """Normal matrix and gradient against the dense covariance, one marker not seen; costs against gradients."""
    fit, p, rng = person.fit, person.problem.frames(slice(0, 5)), np.random.default_rng(0)
    p.together, p.sd, p.seen = 3.0, 0.003, p.seen.copy()
    p.seen[1, 2] = False
    q = fit.q[:5] + 0.02 * rng.normal(size=(5, p.system.nq))
    H, g, *_ = p.pose_blocks(q, fit.theta, fit.d, 0.0)
    e, A, _ = p.linear(q, fit.theta, fit.d)
    N = p.sd**2 * (np.diag(p.own**2) + p.together * (p.body[:, None] == p.body))
    for k, seen in enumerate(p.seen):
        W = np.zeros_like(N)
        W[np.ix_(seen, seen)] = p.share[k] * np.linalg.inv(N[np.ix_(seen, seen)])
        prior, held = (x[k] for x in p.pose_weights(q, 0.0))
        np.testing.assert_allclose(
            np.einsum("mai,mn,naj->ij", A[k], W, A[k]) + np.diag(held), H[k], rtol=1e-9, atol=1e-12 * H.max()
        )
        np.testing.assert_allclose(
            np.einsum("mai,mn,na->i", A[k], W, e[k]) + prior, g[k], rtol=1e-9, atol=1e-9 * np.abs(g).max()
        )
    for j in np.flatnonzero(p.free):
        h = 1e-6 * (np.arange(len(p.free)) == j)
        slope = (p.frame_costs(q + h, fit.theta, fit.d) - p.frame_costs(q - h, fit.theta, fit.d)) / 2e-6
        np.testing.assert_allclose(slope, g[:, j], atol=1e-6 * np.abs(g).max())  # differences


def test_a_marker_that_moves_more_counts_less(person):
    """White noise on one marker: its part grows, within the bounds; others stay near 1."""
    p, rng = person.problem.frames(slice(None)), np.random.default_rng(1)
    k = p.markers.index(next(n for n in p.markers if "torso" in person.sized.generic.marker(n).body))
    p.y = p.y + p.seen[..., None] * 0.02 * (np.arange(len(p.markers)) == k)[:, None] * rng.normal(
        size=p.y.shape
    )
    own = p.own_noise(person.fit)
    assert own[k] == own.max() > 1.3
    assert np.delete(own, k).max() < 1.15


def test_places_of_clusters_have_long_tails(person):
    """A marker on bone is held as before; a cluster that sits far away is held by its tail only."""
    p = person.problem.frames(slice(None))
    p.offsets = np.where(np.arange(len(p.offsets)) == 0, 0.04, 0.007)
    d = np.zeros((len(p.offsets), 3))
    assert np.allclose(p.held(d), np.repeat(1 / p.offsets**2, 3))
    d[:, 0] = 0.2
    weight = (p.held(d) * np.repeat(p.offsets**2, 3))[::3]
    assert weight[0] == pytest.approx(6 / (3 + 25)) and (weight[1:] == 1).all()
