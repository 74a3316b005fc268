"""The contract of every mobilizer, forward and reversed, against paths differentiated by an independent
program.

X_FM(t, q), V_FM = H u + Vt, A_FM = H udot + bias, qdot = N(q) u: condyle.mobilizers.base (1)-(4).
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import condyle as cd
from tests.oracles import KINDS, Jet, Mechanics, Path, Plan, cross_matrix
from tests.oracles.trees import Part, random_inertia, random_joint, random_law, random_rotation

EPS = np.finfo(float).eps
STATES = 100
# Every entry is a sum of some tens of products of numbers near 1; second derivatives of the laws reach about
# 3.
ROUNDING = 200 * EPS

JOINTS = [
    (kind, seed) for kind in KINDS for seed in (range(1) if kind in ("weld", "free", "euler") else range(4))
]


def joint_of(kind, seed):
    return random_joint(np.random.default_rng((seed, KINDS.index(kind))), kind, "knee")


def random_states(joint, n=STATES, seed=0):
    """t, q, u, udot."""
    rng = np.random.default_rng(seed)
    nq, nu = joint.counts
    q = rng.uniform(-1.5, 1.5, (n, nq))
    if joint.kind == "free":
        q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    elif joint.kind == "euler":
        q[:, 1] *= 0.8  # keep away from the singular second angle
    return rng.uniform(0, 2, n), q, rng.uniform(-2, 2, (n, nu)), rng.uniform(-2, 2, (n, nu))


def evaluate(mobilizer, t, q, u):
    """X_FM (n, 4, 4), H (n, 6, nu), Vt (n, 6), bias (n, 6), N (n, nq, nu), by CasADi's evaluator."""
    n = len(t)
    st, sq, su = ca.SX.sym("t"), ca.SX.sym("q", mobilizer.nq), ca.SX.sym("u", mobilizer.nu)
    m = mobilizer.motion(st, sq, su)
    pairs = (m.H_w, m.H_v), (m.w_t, m.v_t), (m.bias_w, m.bias_v)
    parts = [m.R, m.p, *(ca.vertcat(*pair) for pair in pairs), mobilizer.N(sq)]
    f = ca.Function("motion", [st, sq, su], [ca.densify(ca.vec(x)) for x in parts])
    values = f.map(n)(t.reshape(1, n), q.T, u.T)
    R, p, H, Vt, bias, N = (
        np.array(v).T.reshape(n, x.shape[1], x.shape[0]).swapaxes(1, 2)
        if x.numel()
        else np.zeros((n, *x.shape))
        for v, x in zip(values, parts)
    )
    X = np.zeros((n, 4, 4))
    X[:, :3, :3], X[:, :3, 3], X[:, 3, 3] = R, p[..., 0], 1
    return X, H, Vt[..., 0], bias[..., 0], N


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reversed"])
@pytest.mark.parametrize(("kind", "seed"), JOINTS)
def test_pose_velocity_and_acceleration(kind, seed, reverse):
    """(1)-(3) along a path with given q, u, udot."""
    joint = replace(joint_of(kind, seed), reversed=reverse)
    t, q, u, udot = random_states(joint)
    expected = joint.path(t, q, u, udot)

    X, H, Vt, bias, _ = evaluate(joint.mobilizer(), t, q, u)

    V = (H @ u[..., None])[..., 0] + Vt
    A = (H @ udot[..., None])[..., 0] + bias
    # Reversing multiplies accelerations by positions of up to 3 m.
    np.testing.assert_allclose(X, expected.X, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(V, expected.velocity(), rtol=0, atol=10 * ROUNDING)
    np.testing.assert_allclose(A, expected.acceleration(), rtol=0, atol=100 * ROUNDING)


def rotation_of(joint, q):
    """R_FM (..., 3, 3) of complex q, for derivatives by complex step."""
    if joint.kind == "free":
        w, x, y, z = np.moveaxis(q[..., :4] / np.sqrt((q[..., :4] ** 2).sum(-1, keepdims=True)), -1, 0)
        rows = [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
        return np.stack([np.stack(row, -1) for row in rows], -2)
    R = np.eye(3)
    for i in range(3):
        K, angle = cross_matrix(np.eye(3)[i]), q[..., i, None, None]
        R = R @ (np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K)
    return R


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reversed"])
@pytest.mark.parametrize("kind", ["free", "euler"])
def test_rates_of_rotation_coordinates(kind, reverse):
    """d/ds R(q + s N u) = [w]x R and d/ds p = v: (4), by complex step."""
    joint = replace(joint_of(kind, 0), reversed=reverse)
    t, q, u, _ = random_states(joint)
    N = evaluate(joint.mobilizer(), t, q, u)[-1]
    qdot = (N @ u[..., None])[..., 0]

    R, dR = rotation_of(joint, q), rotation_of(joint, q + 1e-30j * qdot).imag / 1e-30

    # N grows as 1 / cos(second angle), here up to 3.
    np.testing.assert_allclose(dR, cross_matrix(u[:, :3]) @ R, rtol=0, atol=10 * ROUNDING)
    np.testing.assert_array_equal(qdot[:, -3:], u[:, 3:])
    if kind == "free":  # the length of the quaternion stays
        np.testing.assert_allclose((q[:, :4] * qdot[:, :4]).sum(-1), 0, atol=ROUNDING)


@pytest.mark.parametrize("kind", ["pin", "slider", "function", "timed"])
def test_speeds_are_rates_elsewhere(kind):
    joint = joint_of(kind, 1)
    t, q, u, _ = random_states(joint)
    N = evaluate(joint.mobilizer(), t, q, u)[-1]
    np.testing.assert_array_equal(N, np.broadcast_to(np.eye(joint.counts[0]), N.shape))


def test_euler_rate_matrix_is_the_corrected_equation_10():
    """seth2010 (10) maps w_FM in M as printed; with w_FM in F it is this (errata)."""
    _, q, u, _ = random_states(joint_of("euler", 0), seed=3)
    N = evaluate(cd.Free(coordinates="euler"), np.zeros(STATES), q, u)[-1]
    (s1, c1), (s2, c2) = ((np.sin(a), np.cos(a)) for a in q[:, :2].T)
    one, o = np.ones(STATES), np.zeros(STATES)
    expected = np.array([[one, s1 * s2 / c2, -c1 * s2 / c2], [o, c1, s1], [o, -s1 / c2, c1 / c2]]).transpose(
        2, 0, 1
    )
    np.testing.assert_allclose(N[:, :3, :3], expected, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize(("kind", "seed"), [j for j in JOINTS if j[0] not in ("weld", "timed")])
def test_reversed_is_seth2010_15_to_17(kind, seed):
    """With ' for reversed and H, Hdot, p, v, w of the forward mobilizer:

    p' = -R^T p                                                          (15)
    H' = -R^T [H_w; H_v + p x H_w]                                       (16)
    Hdot' = w' x H' - R^T [Hdot_w; Hdot_v + p x Hdot_w + v x H_w]        (17)
    """
    mobilizer = replace(joint_of(kind, seed), reversed=False).mobilizer()
    t, q, u, _ = random_states(joint_of(kind, seed), seed=5)
    X, H, _, bias, _ = evaluate(mobilizer, t, q, u)
    X_r, H_r, _, bias_r, _ = evaluate(mobilizer.reversed(), t, q, u)
    R_T, p = X[:, :3, :3].swapaxes(1, 2), X[:, :3, 3]
    (w, v), (b_w, b_v) = (np.split(x, 2, axis=1) for x in ((H @ u[..., None])[..., 0], bias))
    turn = lambda a: -(R_T @ a[..., None])[..., 0]

    np.testing.assert_allclose(X_r[:, :3, 3], turn(p), rtol=0, atol=ROUNDING)  # (15)
    expected_H = -np.concatenate([R_T @ H[:, :3], R_T @ (H[:, 3:] + cross_matrix(p) @ H[:, :3])], axis=1)
    np.testing.assert_allclose(H_r, expected_H, rtol=0, atol=ROUNDING)  # (16)
    w_r, v_r = np.split((H_r @ u[..., None])[..., 0], 2, axis=1)
    expected = np.concatenate(
        [np.cross(w_r, w_r) + turn(b_w), np.cross(w_r, v_r) + turn(b_v + np.cross(p, b_w) + np.cross(v, w))],
        axis=1,
    )
    np.testing.assert_allclose(bias_r, expected, rtol=0, atol=100 * ROUNDING)  # (17)


@pytest.mark.parametrize("seed", range(3))
def test_the_oracle_differentiates(seed):
    """The oracle's own two derivatives of a random law along a path, against mpmath with 40 digits."""
    law = random_law(np.random.default_rng(seed), np.array([0.4, -1.0]))
    path = [lambda s: 0.3 + 0.7 * s - 0.6 * s**2, lambda s: -0.2 + 1.1 * s + 0.25 * s**2]
    y = law(Jet(0.3, 0.7, -1.2), Jet(-0.2, 1.1, 0.5))
    seen = {np.sin: mpmath.sin, np.exp: mpmath.exp}

    class Exact:
        """A number of mpmath that NumPy's functions understand."""

        def __init__(self, v):
            self.v = mpmath.mpf(v)

        def __array_ufunc__(self, ufunc, method, *inputs):
            a = [x.v if isinstance(x, Exact) else mpmath.mpf(float(x)) for x in inputs]
            return Exact(
                seen[ufunc](*a) if ufunc in seen else a[0] + a[1] if ufunc is np.add else a[0] * a[1]
            )

        __add__ = __radd__ = lambda self, o: np.add(self, o)
        __mul__ = __rmul__ = lambda self, o: np.multiply(self, o)

    with mpmath.workdps(40):
        for order, value in enumerate((y.x, y.d1, y.d2)):
            exact = mpmath.diff(lambda s: law(*(Exact(p(s)) for p in path)).v, 0, order)
            # The coefficients of the path are rounded once: some eps of numbers near 1.
            np.testing.assert_allclose(float(value), float(exact), rtol=0, atol=20 * EPS)


def test_the_oracle_inverts():
    joint = replace(joint_of("timed", 2), reversed=False)
    X = joint.path(*random_states(joint))
    one = X @ X.inverse()
    np.testing.assert_allclose(one.X, np.broadcast_to(np.eye(4), one.X.shape), rtol=0, atol=ROUNDING)
    # Sums of products of accelerations and positions, each a few units.
    np.testing.assert_allclose([one.d1, one.d2], 0, atol=100 * ROUNDING)


@pytest.mark.parametrize(("kind", "seed"), JOINTS)
def test_any_frames_F_and_M(kind, seed, monkeypatch):
    """A body whose F and M are anywhere: pose, velocity, and m a = F + m g, I alpha + w x I w = moment, at
    M."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    rng = np.random.default_rng(seed)
    joint = joint_of(kind, seed)
    part = Part(
        -1,
        joint,
        (random_rotation(rng), rng.normal(size=3)),
        (random_rotation(rng), rng.normal(size=3)),
        mass=1.7,
        com=rng.normal(size=3),
        inertia=random_inertia(rng),
    )
    plan = Plan((part,), np.array([1.0, -9.0, 2.0]))
    t, q, u, udot = random_states(joint)
    system, (X,) = plan.system(), Mechanics(plan).paths(q, u, udot, t)

    pose = system.body_pose(q, "b0", t=t)
    V = system.body_velocity(q, u, "b0", t=t)
    F = system.reactions(q, u, udot, "b0", t=t)

    # Positions reach some 5 m, velocities 20, forces 100 N; each is a sum of some tens of terms.
    np.testing.assert_allclose(pose.R, X.R, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(pose.p, X.p, rtol=0, atol=5 * ROUNDING)
    np.testing.assert_allclose(V, X.velocity(), rtol=0, atol=50 * ROUNDING)
    center = X @ Path.of(np.eye(3), part.com)
    force = part.mass * (center.acceleration()[:, 3:] - plan.gravity)
    I = X.R @ part.inertia @ X.R.swapaxes(1, 2)
    w, alpha = X.velocity()[:, :3], X.acceleration()[:, :3]
    moment = (I @ alpha[..., None])[..., 0] + np.cross(w, (I @ w[..., None])[..., 0])
    M_origin = X @ Path.of(*part.X_BM)
    expected = np.concatenate([moment + np.cross(center.p - M_origin.p, force), force], axis=1)
    np.testing.assert_allclose(F, expected, rtol=0, atol=1000 * ROUNDING)


# ---- Definitions, names, units, defaults ----


def pose_of(mobilizer, *q, t=0.0):
    X, *_ = evaluate(mobilizer, np.array([t]), np.array([q], dtype=float), np.zeros((1, mobilizer.nu)))
    return X[0]


@pytest.mark.parametrize("axis", ["x", "y", "z", (0.3, -2.0, 0.5)])
def test_pin_turns_about_its_axis(axis):
    vector = np.eye(3)["xyz".index(axis)] if isinstance(axis, str) else np.array(axis) / np.linalg.norm(axis)
    X = pose_of(cd.Pin(axis=axis), 0.7)
    np.testing.assert_allclose(
        X[:3, :3], Rotation.from_rotvec(0.7 * vector).as_matrix(), rtol=0, atol=4 * EPS
    )
    np.testing.assert_array_equal(X[:3, 3], 0)


@pytest.mark.parametrize("axis", ["x", "y", "z", (0.3, -2.0, 0.5)])
def test_slider_moves_along_its_axis(axis):
    vector = np.eye(3)["xyz".index(axis)] if isinstance(axis, str) else np.array(axis) / np.linalg.norm(axis)
    X = pose_of(cd.Slider(axis=axis), 0.7)
    np.testing.assert_allclose(X[:3, 3], 0.7 * vector, rtol=0, atol=EPS)
    np.testing.assert_array_equal(X[:3, :3], np.eye(3))


def test_default_axes_are_simbodys():
    assert cd.Pin() == cd.Pin("z") == cd.Pin((0, 0, 5.0))
    assert cd.Slider() == cd.Slider("x") == cd.Slider(np.array([2, 0, 0]))
    assert cd.Pin("x") != cd.Pin("y")


def test_free_takes_the_direction_of_its_quaternion():
    """Any length of the quaternion means the same rotation; w comes first."""
    half = 0.5 * 0.8
    q = np.array([np.cos(half), 0, 0, np.sin(half), 1.0, 2.0, 3.0])
    for scale in (1.0, 2.0, -1e-3):
        X = pose_of(cd.Free(), *(q[:4] * scale), *q[4:])
        np.testing.assert_allclose(
            X[:3, :3], Rotation.from_rotvec([0, 0, 0.8]).as_matrix(), rtol=0, atol=4 * EPS
        )
        np.testing.assert_array_equal(X[:3, 3], [1, 2, 3])


def test_free_euler_angles_are_body_fixed_x_y_z():
    X = pose_of(cd.Free(coordinates="euler"), 0.3, -0.5, 0.9, 1, 2, 3)
    R = Rotation.from_euler("XYZ", [0.3, -0.5, 0.9]).as_matrix()
    np.testing.assert_allclose(X[:3, :3], R, rtol=0, atol=4 * EPS)


def test_function_based_defaults_to_axes_x_y_z():
    knee = cd.FunctionBased(
        ("a", "b"),
        angles=(0.1, lambda a, b: a, lambda a, b: 2 * b),
        translations=(lambda a, b: a * b, None, -0.5),
    )
    X = pose_of(knee, 0.4, 0.3)
    np.testing.assert_allclose(
        X[:3, :3], Rotation.from_euler("XYZ", [0.1, 0.4, 0.6]).as_matrix(), rtol=0, atol=4 * EPS
    )
    np.testing.assert_allclose(X[:3, 3], [0.12, 0, -0.5], rtol=0, atol=EPS)


def test_function_based_takes_three_axes_or_six():
    a = [(0, 0, 2), "x", (1, 1, 0)]
    angles, shifts = (lambda q: q, None, None), (lambda q: q, lambda q: 2 * q, None)
    three = pose_of(cd.FunctionBased("k", angles, shifts, axes=a), 0.5)
    six = pose_of(cd.FunctionBased("k", angles, shifts, axes=[*a, "y", (0, 0, 1), "x"]), 0.5)
    for X in (three, six):
        np.testing.assert_allclose(
            X[:3, :3], Rotation.from_rotvec([0, 0, 0.5]).as_matrix(), rtol=0, atol=4 * EPS
        )
    np.testing.assert_array_equal(three[:3, 3], [0.5, 1.0, 0])
    np.testing.assert_array_equal(six[:3, 3], [0, 0.5, 1.0])


def test_function_of_time():
    drift = cd.FunctionBased("k", translations=(lambda t, q: q + 3 * t, None, None), time=True)
    np.testing.assert_allclose(pose_of(drift, 0.5, t=2.0)[:3, 3], [6.5, 0, 0], rtol=0, atol=EPS * 8)
