"""spatial: exponential and logarithm near 0 and pi, spatial vectors, mass properties."""

from __future__ import annotations

import pickle
from math import pi

import casadi as ca
import mpmath
import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from condyle import spatial as sp
from condyle.spatial import MassProperties
from tests.spatial.draws import (
    EPS,
    ROUNDING,
    ROUNDING_P,
    assert_same_pose,
    given,
    transforms,
    twists,
    units,
    vectors,
)

AXIS = np.array([2.0, -3.0, 6.0]) / 7


# ---- exponential and logarithm ----


@given(twists)
def test_log_of_exp(xi):
    phi, v = xi[:3], xi[3:]
    X = sp.exp_se3(xi)
    found = sp.log_se3(X)
    # else both signs are right
    assume(np.linalg.norm(phi) < pi - 1e-14)
    # phi: relative to its size, near 0 too, down to where numbers lose digits. v: by the inverse of a matrix
    # whose norm reaches pi/2.
    assert_allclose(found[:3], phi, rtol=0, atol=10 * EPS * np.abs(phi).max() + np.finfo(float).tiny)
    assert_allclose(found[3:], v, rtol=0, atol=ROUNDING_P)


@given(transforms)
def test_exp_of_log(X):
    xi = sp.log_se3(X)
    assert np.linalg.norm(xi[:3]) <= pi * (1 + EPS)
    assert_same_pose(sp.exp_se3(xi), X)


@given(units(3))
def test_log_at_pi_is_a_half_turn_either_way(axis):
    phi = sp.log_so3(sp.exp_so3(pi * axis))
    assert_allclose(phi * np.sign(phi @ axis), pi * axis, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize(
    "angle", [0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-3, 0.999999, 1.000001, 3, pi - 1e-9, pi, 20]
)
def test_exp_against_many_digits(angle):
    xi = np.r_[AXIS * angle, 0.5, -0.7, 0.3]
    with mpmath.workdps(50):
        A = mpmath.zeros(4)
        for (i, j), a in np.ndenumerate(np.c_[sp.skew(xi[:3]), xi[3:]]):
            A[i, j] = mpmath.mpf(float(a))
        E = mpmath.expm(A, method="taylor")
        expected = np.array(E.tolist(), dtype=float)
    # 20 rad: K^2 has entries of 400, multiplied by b = 1/400.
    assert_allclose(sp.exp_se3(xi).matrix, expected, rtol=0, atol=6 * EPS)
    # small entries: relative too
    if 0 < angle < 1e-3:
        off = ~np.eye(4, dtype=bool)
        assert_allclose(sp.exp_se3(xi).matrix[off], expected[off], rtol=4 * EPS, atol=0)


def derivatives_of(build, n):
    """Value, first and second derivative of build(x) as one Function of x, n x 1."""
    x = ca.SX.sym("x", n)
    y = ca.vec(ca.densify(build(x)))
    J = ca.jacobian(y, x)
    return ca.Function("f", [x], [y, J, ca.jacobian(ca.vec(ca.densify(J)), x)])


def test_symbolic_exp_has_two_derivatives_at_zero():
    """exp(phi) = 1 + K + K^2 / 2 + ..., so the derivatives at 0 are E_j and (E_i E_j + E_j E_i) / 2."""
    y, J, H = (np.array(a) for a in derivatives_of(sp.exp_so3, 3)(np.zeros(3)))
    E = [sp.skew(e) for e in np.eye(3)]
    np.testing.assert_array_equal(y.reshape(3, 3), np.eye(3))
    for j in range(3):
        np.testing.assert_array_equal(J[:, j].reshape(3, 3).T, E[j])
        for i in range(3):
            second = H[9 * j : 9 * j + 9, i].reshape(3, 3).T
            np.testing.assert_array_equal(second, (E[i] @ E[j] + E[j] @ E[i]) / 2)


@pytest.mark.parametrize("angle", [1e-9, 1e-4, 0.1, 0.99999, 1.00001, 3.1])
def test_symbolic_exp_derivatives_against_many_digits(angle):
    def p_x(*xi):
        """x of the translation of exp(xi), written with the closed forms, 60 digits."""
        phi, v = mpmath.matrix(xi[:3]), mpmath.matrix(xi[3:])
        K = mpmath.matrix([[0, -phi[2], phi[1]], [phi[2], 0, -phi[0]], [-phi[1], phi[0], 0]])
        t = mpmath.sqrt(sum(a * a for a in phi))
        return (v + (1 - mpmath.cos(t)) / t**2 * (K * v) + (t - mpmath.sin(t)) / t**3 * (K * K * v))[0]

    xi = np.r_[AXIS * angle, 0.5, -0.7, 0.3]
    _, J, H = (np.array(a) for a in derivatives_of(lambda x: sp.exp_se3(x).p, 6)(xi))
    for i, j in ((0, 1), (2, 2), (1, 4)):
        first_order, second_order = np.eye(6, dtype=int)[j], np.eye(6, dtype=int)[j] + np.eye(6, dtype=int)[i]
        with mpmath.workdps(60):
            at = tuple(map(mpmath.mpf, xi))
            first, second = (
                float(mpmath.diff(p_x, at, tuple(map(int, n)))) for n in (first_order, second_order)
            )
        # Series: a few eps. Closed forms just above their bound: first derivatives lose a digit, second ones
        # two.
        assert_allclose(J[0, j], first, rtol=0, atol=10 * EPS)
        assert_allclose(H[3 * j, i], second, rtol=0, atol=100 * EPS)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.5, 1.0, 2.0, 3.1])
def test_symbolic_log_undoes_exp_with_its_derivatives(angle):
    """log(exp(xi)) = xi: its Jacobian is 1 and its second derivative 0, also at xi = 0."""
    xi = np.r_[AXIS * angle, 0.5, -0.7, 0.3]
    y, J, H = (np.array(a) for a in derivatives_of(lambda x: sp.log_se3(sp.exp_se3(x)), 6)(xi))
    # Derivatives of V^-1 grow as its pole at 2 pi comes nearer: factors of 10 at 3.1.
    assert_allclose(y.ravel(), xi, rtol=0, atol=ROUNDING)
    assert_allclose(J, np.eye(6), rtol=0, atol=100 * EPS)
    assert_allclose(H, 0, rtol=0, atol=1000 * EPS)


# ---- spatial vectors ----


@given(transforms, transforms)
def test_adjoint_of_a_product(X, Y):
    # [p]x R has entries up to 20; products of two have six such terms.
    assert_allclose(sp.adjoint(X @ Y), sp.adjoint(X) @ sp.adjoint(Y), rtol=0, atol=10 * ROUNDING_P)
    assert_allclose(sp.adjoint(X.inverse()) @ sp.adjoint(X), np.eye(6), rtol=0, atol=10 * ROUNDING_P)


@given(transforms, twists)
def test_adjoint_moves_a_twist_to_another_frame(X, xi):
    """exp(Ad(X) xi) = X exp(xi) X^-1."""
    # Ad xi reaches 100, and an error of its angle turns it once more.
    assert_same_pose(
        sp.exp_se3(sp.adjoint(X) @ xi), X @ sp.exp_se3(xi) @ X.inverse(), 5 * ROUNDING, 100 * ROUNDING_P
    )


@given(transforms, vectors(6))
def test_adjoint_is_turn_then_shift_to_the_origin(X, V):
    turned = np.r_[X.R @ V[:3], X.R @ V[3:]]
    assert_allclose(sp.adjoint(X) @ V, sp.shift_motion(turned, -X.p), rtol=0, atol=10 * ROUNDING_P)


@given(vectors(6), vectors(6), vectors(3))
def test_power_does_not_depend_on_the_point(V, F, r):
    power = sp.shift_force(F, r) @ V
    # r x f . w, up to 3000, is in both.
    assert_allclose(power, F @ sp.shift_motion(V, r), rtol=0, atol=3000 * ROUNDING)


# ---- mass properties ----


def cloud(seed):
    """Particles, and the mass properties that sums over them give."""
    rng = np.random.default_rng(seed)
    m, r = rng.uniform(0.1, 1, 8), rng.normal(size=(8, 3))
    com = m @ r / m.sum()
    d = r - com
    I = np.einsum("i,ijk->jk", m, (d**2).sum(1)[:, None, None] * np.eye(3) - d[:, :, None] * d[:, None, :])
    return m, r, MassProperties.of(m.sum(), com, I, what=f"cloud {seed}")


@pytest.mark.parametrize("seed", range(4))
def test_kinetic_energy_of_particles(seed):
    m, r, body = cloud(seed)
    V = np.random.default_rng(seed + 100).normal(size=6)
    v = V[3:] + np.cross(V[:3], r)
    expected = (m * (v**2).sum(1)).sum() / 2
    # sums of 8 positive terms
    assert_allclose(V @ body.matrix() @ V / 2, expected, rtol=100 * EPS)
    np.testing.assert_array_equal(body.matrix()[:3, :3], body.inertia_about_origin())


@given(transforms, vectors(6), st.integers(0, 3))
def test_kinetic_energy_in_another_frame(X, V, seed):
    _, _, body = cloud(seed)
    V_A = sp.adjoint(X) @ V
    moved = body.transformed(X)
    expected = V @ body.matrix() @ V
    # Far from the origin the terms of the new one, m |p|^2 |w|^2 <= 8 * 300 * 300, cancel.
    assert_allclose(V_A @ moved.matrix() @ V_A, expected, rtol=ROUNDING, atol=8 * 300 * 300 * ROUNDING)


def test_mass_properties_forms_agree():
    xx, yy, zz, xy, xz, yz = 2.0, 2.5, 3.0, 0.1, -0.2, 0.3
    I = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    a = MassProperties.of(1, (0, 0, 0), (xx, yy, zz, xy, xz, yz))
    b = MassProperties.of(1.0, [0, 0, 0], I)
    assert a == b
    assert hash(a) == hash(b)
    assert MassProperties.of(1, (0, 0, 0), (xx, yy, zz)) != a
    assert MassProperties.of(1, (0, 0, 0), (xx, yy, zz)) == MassProperties.of(
        1, (0, 0, 0), np.diag([xx, yy, zz])
    )
    assert a != "a"
    assert pickle.loads(pickle.dumps(a)) == a
    assert (
        repr(MassProperties.of(2, (0, 1, 0), (1, 2, 3)))
        == "MassProperties(2 kg, com=[0, 1, 0], moments=[1, 2, 3])"
    )
    with pytest.raises(ValueError, match="read-only"):
        a.inertia[0, 0] = 1
    with pytest.raises(AttributeError):
        a.mass = 2


def test_bodies_on_the_limits_are_real():
    turns = sp.exp_so3(np.random.default_rng(0).normal(size=(50, 3)))
    rods = turns @ np.diag([1.0, 1.0, 0.0]) @ np.swapaxes(turns, 1, 2)
    # rounding makes some negative
    assert np.linalg.eigvalsh(rods).min() < 0
    for rod in rods:
        MassProperties.of(1, (0, 0, 0), rod)
    MassProperties.of(1, (0, 0, 0), (0.3333333, 0.3333333, 0.6666667))  # a plate, seven digits
    MassProperties.of(1, (0, 0, 0))  # a particle
    assert not MassProperties.of().matrix().any()  # a massless frame
