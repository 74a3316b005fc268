"""Errors that are alike from frame to frame: steps against a dense solution, and what recordings tell of the skin."""

import numpy as np
import pytest

import condyle as cd
import condyle.personal.skin as skin


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
    W, logdet = few.weights(0.004, 0.2, 0.001, 0.005)
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
                same = p.own[i] ** 2 * (i == j) + (skin.TOGETHER if k and p.body[i] == p.body[j] else 0.0)
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
    smooth, white, standing = person.fit.skin
    assert white == 0.001 and smooth in skin.TRIED[0] and standing in skin.TRIED[2]


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
