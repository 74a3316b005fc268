"""Identities of mechanics on random trees of every mobilizer, forward and reversed, with and without time.

Most run on CasADi's evaluator, which shares the expressions with the machine code but not its compiler;
system/test_system.py and the last section here compare the two. The oracle (tests/oracles) shares nothing
with either.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from operator import attrgetter
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from tests.differences import STEPS, WEIGHTS
from tests.oracles import MIXED, Joint, Mechanics, Path, Plan, cross_matrix, random_plan

EPS = np.finfo(float).eps
STATES = 3
# splines bend suddenly: no differences
STILL = tuple(kind for kind in MIXED if kind not in ("timed", "spline"))
# both in forms that are reversed and composed with each other: seed 257 has all
CURVES = ("curve", "composed_curve", "surface", "elliptic", "ball")
# up to 60: tests/verification
TREES = [(0, 1), (1, 1), (2, 2), (3, 3), (4, 5), (5, 8), (6, 12), (7, 20), (8, 30), (257, 7, CURVES)]
SMALL = TREES[2:7]


@pytest.fixture(autouse=True)
def _casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


@functools.cache
def tree_of(seed, bodies, kinds=None):
    """A random tree with its system, oracle and some states; seeds whose tree cannot move are passed over."""
    plan = next(
        p for p in (random_plan(seed + 100 * k, bodies, kinds) for k in range(100)) if Mechanics(p).nu
    )
    q, u, tau = plan.states(STATES)
    t = np.linspace(0.1, 0.9, STATES)
    system, oracle = plan.system(), Mechanics(plan)
    M = oracle.mass_matrix(q, t)
    # n: of the bounds n cond(M) eps. M itself is a sum of some tens of products: no less than 4.
    return SimpleNamespace(
        plan=plan,
        system=system,
        oracle=oracle,
        q=q,
        u=u,
        tau=tau,
        t=t,
        M=M,
        nu=system.nu,
        n=max(system.nu, 4),
        cond=np.linalg.cond(M)[:, None],
    )


@pytest.fixture(params=TREES, ids=lambda p: f"seed{p[0]}-{p[1]}bodies")
def tree(request):
    return tree_of(*request.param)


@pytest.fixture
def M(tree):
    """Our mass matrices at the states of the tree, computed once."""
    if not hasattr(tree, "ours"):
        tree.ours = tree.system.mass_matrix(tree.q, t=tree.t)
    return tree.ours


@pytest.fixture(params=SMALL, ids=lambda p: f"seed{p[0]}-{p[1]}bodies")
def still(request):
    """A tree without functions of time."""
    return tree_of(*request.param, STILL)


def largest(x):
    """Largest entry of each state, shape (n, 1)."""
    return np.abs(x).max(axis=-1, keepdims=True)


# Forces and energies of a body are sums of some hundred products, taken over a chain of up to 20 bodies.
SUMS = 2000 * EPS


# ---- Against a dense program without recursions ------------------------------------------------------------


def test_forward_dynamics_against_the_oracle(tree, evidence):
    expected = tree.oracle.forward_dynamics(tree.q, tree.u, tree.tau, tree.t)
    udot = tree.system.forward_dynamics(tree.q, tree.u, tree.tau, t=tree.t)
    error = (
        np.abs(udot - expected).max(axis=-1, keepdims=True) / largest(expected) / (tree.n * tree.cond * EPS)
    )
    # A backward-stable solve loses at most n cond(M) eps; 10 leaves room for what each side rounds before it.
    evidence(
        "accelerations of random trees, every joint, against a dense Newton-Euler program, in n cond(M) eps",
        error.max(),
        10,
        headline="oracle",
    )


def test_inverse_dynamics_against_the_oracle(tree, evidence):
    udot = tree.tau[:, ::-1]
    expected = tree.oracle.inverse_dynamics(tree.q, tree.u, udot, tree.t)
    tau = tree.system.inverse_dynamics(tree.q, tree.u, udot, t=tree.t)
    evidence(
        "generalized forces of these trees against the same program, relative",
        (np.abs(tau - expected) / largest(expected)).max(),
        SUMS,
    )


def test_mass_matrix_against_the_oracle(tree, M):
    assert_allclose(M, tree.M, rtol=0, atol=SUMS * np.abs(tree.M).max())


def test_energy_against_the_oracle(tree):
    ours, expected = tree.system.energy(tree.q, tree.u, t=tree.t), tree.oracle.energy(tree.q, tree.u, tree.t)
    for a, b in zip(ours, expected):
        assert_allclose(a, b, rtol=0, atol=SUMS * np.abs(b).max())


def test_poses_and_velocities_against_the_oracle(tree):
    paths = tree.oracle.paths(tree.q, tree.u, np.zeros(tree.nu), tree.t)
    for i, X in enumerate(paths):
        R, p = tree.system.body_pose(tree.q, f"b{i}", t=tree.t)
        V = tree.system.body_velocity(tree.q, tree.u, f"b{i}", t=tree.t)
        # Rotations multiply along the chain: some eps a body. Positions and velocities reach tens of units.
        assert_allclose(R, X.R, rtol=0, atol=SUMS / 10)
        assert_allclose(p, X.p, rtol=0, atol=SUMS)
        assert_allclose(V, X.velocity(), rtol=0, atol=SUMS * max(1, np.abs(X.velocity()).max()))


# ---- Forward, inverse, mass matrix -------------------------------------------------------------------------


def test_inverse_dynamics_undoes_forward_dynamics(tree, evidence):
    """ID(FD(tau)) = tau."""
    system, state = tree.system, (tree.q, tree.u)
    udot = system.forward_dynamics(*state, tree.tau, t=tree.t)
    h = system.inverse_dynamics(*state, np.zeros(tree.nu), t=tree.t)
    residual = system.inverse_dynamics(*state, udot, t=tree.t) - tree.tau
    # What cancels is M udot and h: rounding is relative to them, not to tau.
    scale = largest((np.abs(tree.M) @ np.abs(udot)[..., None])[..., 0]) + largest(h) + 1
    evidence(
        "inverse dynamics undoes forward dynamics on these trees, relative to the forces that cancel",
        (np.abs(residual) / scale).max(),
        SUMS,
        headline="inverse",
    )


def test_articulated_body_equals_mass_matrix_solve(tree, M):
    """udot = M^-1 (tau - h): two algorithms that share only kinematics."""
    system = tree.system
    h = system.inverse_dynamics(tree.q, tree.u, np.zeros(tree.nu), t=tree.t)
    expected = np.linalg.solve(M, (tree.tau - h)[..., None])[..., 0]
    udot = system.forward_dynamics(tree.q, tree.u, tree.tau, t=tree.t)
    # A backward-stable solve loses at most n cond(M) eps; 10 leaves room for the recursion's own rounding.
    assert (np.abs(udot - expected) <= 10 * tree.n * tree.cond * EPS * largest(expected)).all()


def test_mass_matrix_is_symmetric_and_positive_definite(M):
    assert_array_equal(M, M.swapaxes(1, 2))
    np.linalg.cholesky(M)  # raises unless positive definite


def test_mass_matrix_is_columns_of_inverse_dynamics(tree, M):
    """M e_k = ID(q, u, e_k) - ID(q, u, 0)."""
    system, q, u, t = tree.system, tree.q[0], tree.u[0], tree.t[0]
    h = system.inverse_dynamics(q, u, np.zeros(tree.nu), t=t)
    columns = system.inverse_dynamics(q, u, np.eye(tree.nu), t=t) - h
    assert_allclose(columns.T, M[0], rtol=0, atol=SUMS * max(np.abs(M[0]).max(), np.abs(h).max()))


def test_solve_mass_matrix(tree):
    """M solve(f) = f."""
    a = tree.system.solve_mass_matrix(tree.q, tree.tau, t=tree.t)
    expected = np.linalg.solve(tree.M, tree.tau[..., None])[..., 0]
    assert (np.abs(a - expected) <= 10 * tree.n * tree.cond * EPS * largest(expected)).all()


# ---- Energy, Jacobians, reactions --------------------------------------------------------------------------


def test_kinetic_energy_from_mass_matrix(still):
    """KE = u' M u / 2 where nothing moves by itself."""
    kinetic, _ = still.system.energy(still.q, still.u)
    M = still.system.mass_matrix(still.q)
    assert_allclose(kinetic, 0.5 * np.einsum("ni,nij,nj->n", still.u, M, still.u), rtol=SUMS)


def test_kinetic_energy_from_bodies(tree):
    """KE = sum of m v_cm^2 / 2 + w' I w / 2, from poses and velocities."""
    expected = 0.0
    for i, part in enumerate(tree.plan.parts):
        R, _ = tree.system.body_pose(tree.q, f"b{i}", t=tree.t)
        w, v = np.split(tree.system.body_velocity(tree.q, tree.u, f"b{i}", t=tree.t), 2, axis=1)
        v_cm = v + np.cross(w, R @ part.com)
        w_B = np.einsum("nji,nj->ni", R, w)
        expected += 0.5 * part.mass * (v_cm**2).sum(1) + 0.5 * np.einsum(
            "ni,ij,nj->n", w_B, part.inertia, w_B
        )
    assert_allclose(tree.system.energy(tree.q, tree.u, t=tree.t)[0], expected, rtol=SUMS)


def test_station_jacobian_gives_station_velocity(tree):
    """J u = v_S - v_S(u = 0), the latter from time alone."""
    rng = np.random.default_rng(tree.plan.seed)
    for i in {0, len(tree.plan.parts) // 2, len(tree.plan.parts) - 1}:
        station = rng.uniform(-1, 1, 3)
        R, _ = tree.system.body_pose(tree.q, f"b{i}", t=tree.t)

        def velocity(u, i=i, r=R @ station):
            w, v = np.split(tree.system.body_velocity(tree.q, u, f"b{i}", t=tree.t), 2, axis=1)
            return v + np.cross(w, r)

        J = tree.system.station_jacobian(tree.q, f"b{i}", station, t=tree.t)
        v = velocity(tree.u)
        assert J.shape == (STATES, 3, tree.nu)
        assert_allclose(
            (J @ tree.u[..., None])[..., 0],
            v - velocity(np.zeros(tree.nu)),
            rtol=0,
            atol=SUMS * max(1, np.abs(v).max()),
        )


def hinges(tree, i):
    """H (n, 6, nu of the body) in ground about M's origin: velocity of M for each unit speed, minus that of
    time alone."""
    system, body, part = tree.system, tree.system.body(f"b{i}"), tree.plan.parts[i]
    units = np.concatenate([np.zeros((1, tree.nu)), np.eye(tree.nu)[body.u]])[:, None]
    R, _ = system.body_pose(tree.q, body, t=tree.t)
    V = system.body_velocity(tree.q, units, body, t=tree.t)
    V[..., 3:] += np.cross(V[..., :3], R @ part.X_BM[1])
    return (V[1:] - V[:1]).transpose(1, 2, 0)


def reactions(tree, udot):
    return [
        tree.system.reactions(tree.q, tree.u, udot, f"b{i}", t=tree.t) for i in range(len(tree.plan.parts))
    ]


def test_reactions_contain_the_generalized_forces(tree):
    """H' F = tau."""
    udot = tree.tau[:, ::-1]
    tau = tree.system.inverse_dynamics(tree.q, tree.u, udot, t=tree.t)
    for i, F in enumerate(reactions(tree, udot)):
        mine = np.einsum("nik,ni->nk", hinges(tree, i), F)
        assert_allclose(
            mine, tau[:, tree.system.body(f"b{i}").u], rtol=0, atol=SUMS * max(1, np.abs(F).max())
        )


def test_reactions_balance_every_body(tree):
    """Mobilizer's force minus its children's, plus weight, is the rate of momentum of each body (about its
    own M)."""
    udot = tree.tau[:, ::-1]
    F = reactions(tree, udot)
    paths = tree.oracle.paths(tree.q, tree.u, udot, tree.t)
    at = [(X @ Path.of(*part.X_BM)).p for X, part in zip(paths, tree.plan.parts)]
    for i, (part, X) in enumerate(zip(tree.plan.parts, paths)):
        center = X @ Path.of(np.eye(3), part.com)
        force = part.mass * (center.acceleration()[:, 3:] - tree.plan.gravity)
        I = X.R @ part.inertia @ X.R.swapaxes(1, 2)
        w, alpha = X.velocity()[:, :3], X.acceleration()[:, :3]
        moment = (
            (I @ alpha[..., None])[..., 0]
            + np.cross(w, (I @ w[..., None])[..., 0])
            + np.cross(center.p - at[i], force)
        )
        total, scale = F[i].copy(), np.abs(F[i]).max()
        for j, child in enumerate(tree.plan.parts):
            if child.parent == i:
                total[:, :3] -= F[j][:, :3] + np.cross(at[j] - at[i], F[j][:, 3:])
                total[:, 3:] -= F[j][:, 3:]
                scale = max(scale, np.abs(F[j]).max())
        assert_allclose(total, np.concatenate([moment, force], axis=1), rtol=0, atol=SUMS * max(1, scale))


# ---- Bodies, frames and the whole --------------------------------------------------------------------------


def test_accelerations_against_the_oracle(tree):
    """Accelerations of bodies, stations and frames; J udot + bias is the same."""
    system, udot, station = tree.system, tree.tau[:, ::-1], np.array([0.2, -0.3, 0.1])
    paths = tree.oracle.paths(tree.q, tree.u, udot, tree.t)
    for i in {0, len(paths) // 2, len(paths) - 1}:
        body, X = f"b{i}", paths[i]
        S = X @ Path.of(np.eye(3), station)
        scale = SUMS * max(1, np.abs(X.acceleration()).max())
        A = system.body_acceleration(tree.q, tree.u, udot, body, t=tree.t)
        assert_allclose(A, X.acceleration(), rtol=0, atol=scale)
        frame = system.kinematics.frame_acceleration(tree.q, tree.u, udot, body, station, t=tree.t)
        assert_allclose(frame, S.acceleration(), rtol=0, atol=scale)
        assert_allclose(
            system.station_acceleration(tree.q, tree.u, udot, body, station, t=tree.t),
            frame[:, 3:],
            rtol=0,
            atol=0,
        )
        J = system.kinematics.frame_jacobian(tree.q, body, station, t=tree.t)
        bias = system.kinematics.frame_bias(tree.q, tree.u, body, station, t=tree.t)
        assert_allclose((J @ udot[..., None])[..., 0] + bias, frame, rtol=0, atol=scale)
        assert_allclose(
            system.kinematics.frame_velocity(tree.q, tree.u, body, station, t=tree.t),
            S.velocity(),
            rtol=0,
            atol=scale,
        )
        assert_allclose(system.station_position(tree.q, body, station, t=tree.t), S.p, rtol=0, atol=scale)
        assert_array_equal(system.station_jacobian(tree.q, body, station, t=tree.t), J[:, 3:])


def test_forces_add_up(tree):
    """M udot + coriolis = tau + gravity + applied."""
    system, o = tree.system, {"t": tree.t}
    udot = tree.tau[:, ::-1]
    tau = system.inverse_dynamics(tree.q, tree.u, udot, **o)
    inertial = system.multiply_mass_matrix(tree.q, udot, **o) + system.coriolis_forces(tree.q, tree.u, **o)
    others = system.gravity_forces(tree.q, **o) + system.applied_forces(tree.q, tree.u, **o)
    assert (np.abs(inertial - tau - others) <= SUMS * (largest(tau) + largest(others))).all()
    assert_allclose(
        (tree.M @ udot[..., None])[..., 0],
        system.multiply_mass_matrix(tree.q, udot, **o),
        rtol=0,
        atol=SUMS * np.abs(tree.M).max(),
    )


def test_inverse_mass_matrix(tree):
    """M M^-1 = 1, with time and locks for each state."""
    inverse = tree.system.inverse_mass_matrix(tree.q, t=tree.t)
    # M and its inverse are both within n cond(M) eps.
    assert (np.abs(tree.M @ inverse - np.eye(tree.nu)) <= 10 * tree.n * tree.cond[..., None] * EPS).all()
    locked = np.zeros((STATES, tree.nu))
    locked[0] = 1
    assert_array_equal(tree.system.inverse_mass_matrix(tree.q, t=tree.t, locked=locked)[0], 0)
    assert_array_equal(tree.system.inverse_mass_matrix(tree.q, t=tree.t, locked=locked)[1:], inverse[1:])


def test_motion_forces_hold_the_locked_speeds(tree):
    """With them added to tau nothing needs a lock."""
    mask = np.zeros((STATES, tree.nu))
    mask[:, ::2] = 1
    state = tree.q, tree.u
    held = tree.system.motion_forces(*state, tree.tau, t=tree.t, locked=mask)
    assert_array_equal(held[mask == 0], 0)
    udot = tree.system.forward_dynamics(*state, tree.tau, t=tree.t, locked=mask)
    free = tree.system.forward_dynamics(*state, tree.tau + held, t=tree.t)
    assert (np.abs(free - udot) <= 10 * tree.n * tree.cond * EPS * (largest(udot) + largest(held))).all()


def test_momentum_and_mass_center(tree):
    """Sums over the bodies; total mass times the mass center's velocity is linear momentum."""
    V, A, I = tree.oracle.centers(tree.q, tree.u, tree.tau, tree.t)
    m, total = tree.oracle.masses, tree.oracle.masses.sum()
    if total == 0:
        pytest.skip("no mass")
    paths = tree.oracle.paths(tree.q, tree.u, tree.tau, tree.t)
    r = np.stack([X.p + X.R @ part.com for X, part in zip(paths, tree.plan.parts)], axis=1)
    about = np.array([1.0, -2.0, 0.5])
    spin = (I @ V[..., :3, None])[..., 0]
    angular = (spin + np.cross(r - about, m[:, None] * V[..., 3:])).sum(1)
    linear = (m[:, None] * V[..., 3:]).sum(1)
    h = tree.system.momentum(tree.q, tree.u, about, t=tree.t)
    assert_allclose(h, np.concatenate([angular, linear], axis=1), rtol=0, atol=SUMS * np.abs(h).max())
    o = {"rtol": 0, "atol": SUMS * 10}
    assert_allclose(tree.system.mass_center(tree.q, t=tree.t), m @ r / total, **o)
    assert_allclose(tree.system.mass_center_velocity(tree.q, tree.u, t=tree.t), linear / total, **o)
    a = tree.system.mass_center_acceleration(tree.q, tree.u, tree.tau, t=tree.t)
    assert_allclose(a, (m[:, None] * A[..., 3:]).sum(1) / total, rtol=0, atol=SUMS * max(1, np.abs(A).max()))


def test_system_jacobian_and_composite_inertia(tree):
    """V_GB = J u for all bodies at once; a tip's composite inertia is its own, the roots' hold all mass."""
    system = tree.system
    J = system.kinematics.system_jacobian(tree.q, t=tree.t)
    at_rest = np.stack([system.body_velocity(tree.q, 0 * tree.u, b, t=tree.t) for b in system.bodies], axis=1)
    V = np.stack([system.body_velocity(tree.q, tree.u, b, t=tree.t) for b in system.bodies], axis=1)
    assert_allclose(
        np.einsum("nbik,nk->nbi", J, tree.u), V - at_rest, rtol=0, atol=SUMS * max(1, np.abs(V).max())
    )
    tip = len(tree.plan.parts) - 1  # the last body carries nothing: its own inertia
    part, R = tree.plan.parts[tip], system.body_pose(tree.q, f"b{tip}", t=tree.t).R
    c = cross_matrix(R @ part.com)
    C = system.composite_inertia(tree.q, f"b{tip}", t=tree.t)
    assert_allclose(C[:, 3:, 3:], np.broadcast_to(part.mass * np.eye(3), (STATES, 3, 3)), rtol=0, atol=SUMS)
    assert_allclose(C[:, :3, :3], R @ part.inertia @ R.swapaxes(1, 2) - part.mass * c @ c, rtol=0, atol=SUMS)
    roots = [i for i, p in enumerate(tree.plan.parts) if p.parent < 0]
    carried = sum(system.composite_inertia(tree.q, f"b{i}", t=tree.t)[:, 5, 5] for i in roots)
    assert_allclose(carried, tree.oracle.masses.sum(), rtol=SUMS)


# Rates along the motion: 1e-10 of the largest entry is well above their error (tests/differences.py).
DIFFERENCES = 1e-10


def rate_along(tree, udot, f):
    """d/dt f(q, u, t) along the flow, shape of f."""
    s = STEPS[:, None, None]
    qdot = tree.system.qdot(tree.q, tree.u)
    values = f(tree.q + s * qdot, tree.u + s * udot, tree.t + STEPS[:, None])
    return np.tensordot(WEIGHTS, values, axes=1)


def test_energy_grows_by_the_power_of_tau(still, evidence):
    """dE/dt = tau . u."""
    udot = still.system.forward_dynamics(still.q, still.u, still.tau)
    total = lambda q, u, t: sum(still.system.energy(q, u))
    rate = rate_along(still, udot, total)
    power = (still.tau * still.u).sum(1)
    scale = np.abs(total(still.q, still.u, 0)).max() + np.abs(power).max()
    evidence(
        "rate of energy against the power of the generalized forces, relative to the energy",
        np.abs(rate - power).max() / scale,
        DIFFERENCES,
        headline="energy",
    )


@pytest.mark.parametrize(("seed", "bodies"), SMALL)
def test_energy_grows_by_the_power_of_every_joint(seed, bodies):
    """dE/dt = sum F . V_FM: joints that move by themselves work too, through the reactions."""
    tree = tree_of(seed, bodies, ("timed", "pin", "weld"))
    system, t = tree.system, tree.t
    udot = system.forward_dynamics(tree.q, tree.u, tree.tau, t=t)
    rate = rate_along(tree, udot, lambda q, u, t: sum(system.energy(q, u, t=t)))
    power, scale = 0.0, np.abs(sum(system.energy(tree.q, tree.u, t=t))).max()
    for i, (part, F) in enumerate(zip(tree.plan.parts, reactions(tree, udot))):
        X = system.body_pose(tree.q, f"b{i}", t=t)
        V = system.body_velocity(tree.q, tree.u, f"b{i}", t=t)
        parent = "ground" if part.parent < 0 else f"b{part.parent}"
        V_P, p_P = system.body_velocity(tree.q, tree.u, parent, t=t), system.body_pose(tree.q, parent, t=t).p
        r = X.R @ part.X_BM[1]
        w_FM = V[:, :3] - V_P[:, :3]
        v_FM = V[:, 3:] + np.cross(V[:, :3], r) - V_P[:, 3:] - np.cross(V_P[:, :3], X.p + r - p_P)
        work = (F[:, :3] * w_FM).sum(1) + (F[:, 3:] * v_FM).sum(1)
        power, scale = power + work, scale + np.abs(work).max()
    assert_allclose(rate, power, rtol=0, atol=DIFFERENCES * scale)


@pytest.mark.parametrize("root", ["free", "euler"])
@pytest.mark.parametrize(("seed", "bodies"), SMALL[1:])
def test_momentum_of_a_floating_tree(seed, bodies, root):
    """Only weight changes momentum, whatever acts inside: dP/dt = m g, dL/dt = sum of r x m g about ground's
    origin."""
    plan = random_plan(seed, bodies, STILL)
    base = replace(
        plan.parts[0],
        parent=-1,
        joint=Joint(root, reversed=bool(seed % 2)),
        mass=1.0,
        inertia=0.1 * np.eye(3),
    )
    plan = replace(plan, parts=(base, *(replace(p, parent=max(p.parent, 0)) for p in plan.parts[1:])))
    q, u, tau = plan.states(STATES)
    tau[:, :6] = 0
    tree = SimpleNamespace(plan=plan, system=plan.system(), q=q, u=u, t=np.zeros(STATES))
    masses, I = np.array([p.mass for p in plan.parts]), [p.inertia for p in plan.parts]

    def momentum(q, u, t):
        P = L = 0.0
        for i, part in enumerate(plan.parts):
            R, p = tree.system.body_pose(q, f"b{i}")
            w, v = np.split(tree.system.body_velocity(q, u, f"b{i}"), 2, axis=-1)
            r = R @ part.com
            linear = masses[i] * (v + np.cross(w, r))
            spin = (R @ I[i] @ np.swapaxes(R, -1, -2) @ w[..., None])[..., 0]
            P, L = P + linear, L + spin + np.cross(p + r, linear)
        return np.concatenate([L, P], axis=-1)

    rate = rate_along(tree, tree.system.forward_dynamics(q, u, tau), momentum)

    weight = masses.sum() * plan.gravity
    moments = sum(
        np.cross(p + R @ part.com, part.mass * plan.gravity)
        for i, part in enumerate(plan.parts)
        for R, p in [tree.system.body_pose(q, f"b{i}")]
    )
    expected = np.concatenate([moments, np.broadcast_to(weight, moments.shape)], axis=1)
    assert_allclose(
        rate,
        expected,
        rtol=0,
        atol=DIFFERENCES * np.abs(momentum(q, u, 0)).max() + SUMS * np.abs(expected).max(),
    )


# ---- What must not matter ----------------------------------------------------------------------------------


def test_a_moved_world_changes_nothing(tree):
    """Every root and gravity moved by one rigid motion: same accelerations, poses moved along."""
    rng = np.random.default_rng(tree.plan.seed)
    Q, d = Rotation.from_quat(rng.normal(size=4)).as_matrix(), rng.uniform(-3, 3, 3)
    moved = replace(
        tree.plan,
        gravity=Q @ tree.plan.gravity,
        parts=tuple(
            part if part.parent >= 0 else replace(part, X_PF=(Q @ part.X_PF[0], Q @ part.X_PF[1] + d))
            for part in tree.plan.parts
        ),
    ).system()
    here = tree.system.forward_dynamics(tree.q, tree.u, tree.tau, t=tree.t)
    there = moved.forward_dynamics(tree.q, tree.u, tree.tau, t=tree.t)
    assert (np.abs(here - there) <= 10 * tree.n * tree.cond * EPS * largest(here)).all()
    kinetic = [s.energy(tree.q, tree.u, t=tree.t)[0] for s in (tree.system, moved)]
    assert_allclose(*kinetic, rtol=SUMS)
    tip = f"b{len(tree.plan.parts) - 1}"
    X, Y = (s.body_pose(tree.q, tip, t=tree.t) for s in (tree.system, moved))
    assert_allclose(Y.p, X.p @ Q.T + d, rtol=0, atol=SUMS * 10)


@pytest.mark.parametrize("scale", [2.0, -1.0, 1e-3])
def test_the_length_of_a_quaternion_does_not_matter(scale):
    """q and 2 q are one rotation: the same udot; qdot is twice as large."""
    tree = tree_of(3, 4, ("free", "pin"))
    q, turned = tree.q.copy(), tree.q.copy()
    quaternions = [
        i for i, name in enumerate(tree.system.coordinates) if name[-3:] in ("_qw", "_qx", "_qy", "_qz")
    ]
    assert quaternions
    turned[:, quaternions] *= scale
    a, b = (tree.system.forward_dynamics(x, tree.u, tree.tau) for x in (q, turned))
    assert (np.abs(a - b) <= 10 * tree.n * tree.cond * EPS * largest(a)).all()
    rates = [tree.system.qdot(x, tree.u)[:, quaternions] for x in (q, turned)]
    assert_allclose(rates[1], scale * rates[0], rtol=0, atol=8 * EPS * abs(scale))  # three products near 1


def test_without_gravity(tree):
    """Disabled gravity is zero gravity."""
    other = replace(tree.plan, gravity=np.zeros(3)).system()
    options = {"t": tree.t, "disabled": "gravity"}
    udot = other.forward_dynamics(tree.q, tree.u, tree.tau, t=tree.t)
    assert_allclose(
        tree.system.forward_dynamics(tree.q, tree.u, tree.tau, **options),
        udot,
        rtol=0,
        atol=(10 * tree.n * tree.cond * EPS * largest(udot)).max(),
    )
    assert_array_equal(tree.system.energy(tree.q, tree.u, **options)[1], 0)


@pytest.mark.parametrize(("seed", "bodies"), SMALL)
def test_locked_speeds(seed, bodies):
    """udot = 0 there; the others solve M_ff udot_f = tau_f - h_f, whatever the locked speeds and forces
    are."""
    tree = tree_of(seed, bodies)
    rng = np.random.default_rng(seed)
    mask = rng.random((STATES, tree.nu)) < 0.4
    mask[:, rng.integers(tree.nu)] = True
    udot = tree.system.forward_dynamics(tree.q, tree.u, tree.tau, t=tree.t, locked=mask)
    a = tree.system.solve_mass_matrix(tree.q, tree.tau, t=tree.t, locked=mask)
    h = tree.oracle.inverse_dynamics(tree.q, tree.u, np.zeros(tree.nu), tree.t)
    for i, free in enumerate(~mask):
        assert_array_equal(udot[i, ~free], 0)
        assert_array_equal(a[i, ~free], 0)
        M_ff, bound = tree.M[i][np.ix_(free, free)], 10 * tree.n * float(tree.cond[i, 0]) * EPS
        for ours, force in ((udot, tree.tau[i] - h[i]), (a, tree.tau[i])):
            expected = np.linalg.solve(M_ff, force[free])
            assert_allclose(ours[i, free], expected, rtol=0, atol=bound * np.abs(expected).max(initial=1))


def test_a_lock_at_rest_is_a_weld():
    """A locked joint without speed is a weld in that position."""
    tree = tree_of(6, 12, STILL)
    i = next(i for i in range(3, 12) if tree.plan.parts[i].joint.kind in ("pin", "slider", "function"))
    body = tree.system.body(f"b{i}")
    q, u, tau = tree.q[0], tree.u[0].copy(), tree.tau[0]
    u[body.u] = 0
    part = tree.plan.parts[i]
    X_FM = part.joint.path(
        0.0, q[body.q], np.zeros(body.u.stop - body.u.start), np.zeros(body.u.stop - body.u.start)
    )
    X = Path.of(*part.X_PF) @ X_FM
    welded = list(tree.plan.parts)
    welded[i] = replace(part, joint=Joint("weld"), X_PF=(X.R, X.p))
    keep_q, keep_u = np.delete(np.arange(len(q)), np.r_[body.q]), np.delete(np.arange(len(u)), np.r_[body.u])
    expected = (
        Plan(tuple(welded), tree.plan.gravity).system().forward_dynamics(q[keep_q], u[keep_u], tau[keep_u])
    )

    udot = tree.system.forward_dynamics(q, u, tau, locked=body.speeds)

    bound = 10 * tree.n * float(tree.cond[0, 0]) * EPS
    assert_allclose(udot[keep_u], expected, rtol=0, atol=bound * np.abs(expected).max())
    assert_array_equal(udot[body.u], 0)


# ---- Machine code ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "bodies"), [(3, 3), (5, 8)])
def test_machine_code_gives_the_same(seed, bodies, monkeypatch, evidence):
    """One state, a batch in lanes and CasADi's evaluator: every operator."""
    tree = tree_of(seed, bodies)
    monkeypatch.setenv("CONDYLE_EVALUATOR", "native")
    native = tree.plan.system()
    q, u, tau = tree.plan.states(37)  # no multiple of any lane width
    t = np.linspace(0, 1, 37)
    cond = np.linalg.cond(tree.oracle.mass_matrix(q, t)).max()
    worst = 0.0
    for name, arguments, condition in [
        ("qdot", (q, u), 1),
        ("forward_dynamics", (q, u, tau), cond),
        ("inverse_dynamics", (q, u, tau), 1),
        ("mass_matrix", (q,), 1),
        ("solve_mass_matrix", (q, tau), cond),
        ("energy", (q, u), 1),
    ]:
        batch = np.array(attrgetter(name)(native)(*arguments, t=t))
        one = np.array([attrgetter(name)(native)(*(a[i] for a in arguments), t=t[i]) for i in range(37)])
        one = np.moveaxis(one, 0, 1) if name == "energy" else one
        monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
        other = np.array(attrgetter(name)(tree.system)(*arguments, t=t))
        monkeypatch.setenv("CONDYLE_EVALUATOR", "native")
        scale = np.abs(other).max()
        # Fused multiply-add and other sines round differently: some hundred times eps, times what a solve
        # magnifies.
        assert_allclose(batch, other, rtol=0, atol=500 * condition * EPS * scale, err_msg=name)
        assert_allclose(one, other, rtol=0, atol=500 * condition * EPS * scale, err_msg=name)
        worst = max(worst, np.abs(batch - one).max() / scale)
    evidence("a batch in SIMD lanes against one state per call, every operator, relative", worst, 1e-12)
