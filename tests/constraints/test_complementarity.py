"""Lemke's method against enumeration, and contacts against what they must satisfy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from condyle.constraints.solve.complementarity import ContactProblem, groups, lemke


def enumerated(A: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """All solutions with independent columns."""
    n, out = len(b), []
    for active in product((False, True), repeat=n):
        S = np.flatnonzero(active)
        z = np.zeros(n)
        if len(S):
            if abs(np.linalg.det(A[np.ix_(S, S)])) < 1e-12:
                continue
            z[S] = np.linalg.solve(A[np.ix_(S, S)], -b[S])
        if (z >= -1e-11).all() and (A @ z + b >= -1e-11).all():
            out.append(z)
    return out


@pytest.mark.parametrize("kind", ["definite", "semidefinite", "any"])
def test_lemke_against_enumeration(kind, evidence) -> None:
    rng, worst, count = np.random.default_rng(3), 0.0, 0
    for _ in range(150):
        n = int(rng.integers(1, 6))
        B = rng.standard_normal((n, n if kind != "semidefinite" else max(1, n - 1)))
        A = B @ B.T if kind != "any" else rng.standard_normal((n, n))
        b = (
            A @ rng.random(n) - rng.random(n) * (rng.random(n) < 0.5)
            if kind == "semidefinite"
            else rng.standard_normal(n)
        )
        known, z = enumerated(A, b), lemke(A, b)
        if z is None:
            # copositive-plus matrices have a solution or a ray, never both
            assert kind == "any" or not known
            continue
        w = A @ z + b
        count += 1
        assert z.min() >= 0 and w.min() > -1e-8 and abs(w @ z) < 1e-8
        if kind == "definite":
            worst = max(worst, float(np.abs(z - known[0]).max()))
    assert count > 60
    if kind == "definite":
        assert worst < 1e-8  # condition numbers reach 1e6
        evidence("solutions of linear complementarity problems: Lemke against enumeration", worst, 1e-8)


def random_problem(rng, k: int, nu: int, planar: bool) -> ContactProblem:
    G = rng.standard_normal((3 * k, nu))
    if planar:
        G[2::3] = 0.0
    W = G @ np.diag(rng.random(nu) + 0.2) @ G.T
    return ContactProblem(W, G @ rng.standard_normal(nu), rng.random(k), [None] * k, np.zeros(k))


@pytest.mark.parametrize("planar", [True, False])
def test_cones_are_met(planar, evidence) -> None:
    """Random impacts, some with more contacts than freedoms."""
    rng, errors, lost = np.random.default_rng(4), [], []
    for _ in range(120):
        k = int(rng.integers(1, 5))
        problem = random_problem(rng, k, int(rng.integers(3, 9)), planar)
        found = problem.solve()
        assert found is not None
        errors.append(found.error)
        lost.append(float((found.lambda_ * (found.v + problem.b.reshape(-1, 3))).sum()) / 2)
        # no energy is made: lambda . (v+ + v-) <= 0
        assert lost[-1] <= 1e-9 * (1 + abs(found.lambda_).max())
    rough = np.mean(np.array(errors) > 1e-9)
    assert rough <= (0.0 if planar else 0.02)
    if not planar:
        evidence(
            "Coulomb's cone in random impacts of up to four contacts: share not met to 1e-9", rough, 0.02
        )


def bodies_that_meet(rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """W, b and mu of two to six contacts of up to three bodies with each other and with ground: masses over
    nine decades, friction up to ten, the same contact twice."""
    k, n = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    mass, friction = 10.0 ** rng.uniform(-4.5, 4.5, n), rng.choice([0.3, 1.0, 10.0])
    inertia = mass * 10.0 ** rng.uniform(-2, 0, n)
    G = np.zeros((3 * k, n + 1, 6))
    for i in range(k):
        D = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        for body, sign in zip(rng.choice(n + 1, 2, replace=False), (-1, 1), strict=True):
            G[3 * i : 3 * i + 3, body] = sign * np.hstack([D, np.cross(0.3 * rng.standard_normal(3), D)])
    if rng.random() < 0.5:
        G[3:6] = G[:3]
    G = G[:, :n].reshape(3 * k, -1)  # the last is ground
    M = np.stack([mass] * 3 + [inertia] * 3, axis=1).ravel()
    return G / M @ G.T, G @ rng.standard_normal(6 * n), rng.uniform(0, friction, k)


def unmet(problem: ContactProblem, lambda_: np.ndarray) -> float:
    """How far (11), (12) are off, as projections say it, in velocities of each contact over the largest."""
    own = np.diag(problem.W)[::3, None]
    p, v = lambda_ * own, (problem.W @ lambda_.ravel() + problem.b).reshape(-1, 3)
    way, reach = (p - v)[:, 1:], problem.mu * np.maximum(p[:, 0], 0.0)
    length = np.maximum(np.hypot(*way.T), 1e-300)
    off = [
        p[:, 0] - np.maximum(p[:, 0] - v[:, 0], 0.0),
        *(p[:, 1:] - way * np.minimum(1.0, reach / length)[:, None]).T,
    ]
    return float(np.abs(off).max() / np.abs(problem.b).max())


@pytest.mark.parametrize(
    "seeds", [(121, 153, 593, 733, 819, 945, 975, 978), pytest.param(range(1000), marks=pytest.mark.slow)]
)
def test_light_bodies_among_heavy_ones(seeds, evidence) -> None:
    """The error was measured by the largest force: a light body beside a heavy one could have any, and was
    wrong by up to four times the largest velocity (153, 945). Then 7 of 1000 had no answer (82, 121, 153,
    593, 819, 945, 978) and two were off by 2e-3 (733, 806): from one start Newton's method ends beside it."""
    worst = 0.0
    for seed in seeds:
        W, b, mu = bodies_that_meet(np.random.default_rng(seed))
        for group in groups(W):
            problem = ContactProblem(W, b, mu, [None] * len(mu), np.zeros(len(mu))).part(group)
            found = problem.solve()
            assert found is not None, seed
            shared = problem.shared(found)
            worst = max(worst, unmet(problem, shared.lambda_))
            work = shared.lambda_ * (shared.v + problem.b.reshape(-1, 3)) / 2
            assert work.sum() <= 1e-12 * np.abs(work).sum(), seed  # no energy is made, but for rounding
    # 5e-9 is seed 82: impulses of 4e7 times the velocities between bodies of 1e-4 and 1e4 kg
    evidence(
        "impacts of masses over nine decades, friction up to ten: what is left of Coulomb's law", worst, 1e-7
    )
