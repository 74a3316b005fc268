"""spatial: rotations, quaternions, Transform; symbols as numbers, batches as loops."""

from __future__ import annotations

import copy
import itertools
import pickle
from math import pi

import casadi as ca
import numpy as np
import pytest
from hypothesis import example
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from condyle import spatial as sp
from condyle.errors import DescriptionError
from condyle.spatial import Transform
from tests.spatial.draws import (
    EPS,
    ROUNDING,
    ROUNDING_P,
    angles,
    assert_same_pose,
    floats,
    given,
    quaternions,
    rotations,
    transforms,
    units,
    vectors,
)

AXIS = np.array([2.0, -3.0, 6.0]) / 7
SEQUENCES = ["".join(s) for s in itertools.product("xyz", repeat=3) if s[0] != s[1] != s[2]]


# ---- rotations ----


@given(units(3), angles)
def test_rotation_about_an_axis(axis, angle):
    R = sp.rotation_about(axis, angle)
    assert_allclose(R, Rotation.from_rotvec(axis * angle).as_matrix(), rtol=0, atol=ROUNDING)
    assert_allclose(R @ axis, axis, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize(("name", "axis"), list(zip("xyz", np.eye(3))))
def test_rotations_about_the_axes(name, axis):
    angle = np.linspace(-4, 4, 7)
    R = getattr(sp, f"rotation_{name}")(angle)
    assert R.shape == (7, 3, 3)
    assert_allclose(R, Rotation.from_rotvec(angle[:, None] * axis).as_matrix(), rtol=0, atol=ROUNDING)
    # exact: products with 0 and 1 only
    assert_allclose(sp.rotation_about(axis, angle), R, rtol=0, atol=0)


@given(vectors(3), vectors(3))
def test_skew_is_the_cross_product(a, b):
    assert_allclose(sp.skew(a) @ b, np.cross(a, b), rtol=0, atol=ROUNDING_P)
    assert_allclose(sp.skew(a), -sp.skew(a).T, rtol=0, atol=0)


def test_there_are_twelve_sequences():
    assert len(SEQUENCES) == 12


@pytest.mark.parametrize("sequence", SEQUENCES)
@given(vectors(3))
def test_euler_angles_are_body_fixed(sequence, drawn):
    # SciPy: capitals are body-fixed
    expected = Rotation.from_euler(sequence.upper(), drawn).as_matrix()
    assert_allclose(sp.rotation_from_euler(drawn, sequence), expected, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("sequence", SEQUENCES)
@given(rotations)
def test_euler_angles_give_back_the_rotation(sequence, R):
    found = sp.euler_from_rotation(R, sequence)
    assert_allclose(sp.rotation_from_euler(found, sequence), R, rtol=0, atol=ROUNDING)


def middle_range(sequence):
    return (-pi / 2, pi / 2) if len(set(sequence)) == 3 else (0.0, pi)


@pytest.mark.parametrize("sequence", SEQUENCES)
@given(floats(-3.1, 3.1), floats(0, 1), floats(-3.1, 3.1))
def test_euler_angles_round_trip_in_their_range(sequence, first, share, third):
    low, high = middle_range(sequence)
    drawn = np.array([first, low + 1e-3 + share * (high - low - 2e-3), third])
    found = sp.euler_from_rotation(sp.rotation_from_euler(drawn, sequence), sequence)
    # At a distance d >= 1e-3 from the lock the angles are determined within rounding / d.
    assert_allclose(found, drawn, rtol=0, atol=ROUNDING / 1e-3)


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("distance", [0.0, 1e-16, 1e-14, 1e-12, 1e-9, 1e-6])
def test_euler_angles_at_and_near_gimbal_lock(sequence, end, distance):
    middle = middle_range(sequence)[end] + (distance if end == 0 else -distance)
    R = sp.rotation_from_euler([0.7, middle, -1.9], sequence)
    found = sp.euler_from_rotation(R, sequence)
    assert_allclose(sp.rotation_from_euler(found, sequence), R, rtol=0, atol=ROUNDING)
    assert_allclose(found[1], middle, rtol=0, atol=ROUNDING)
    if distance <= 1e-16:
        # all in the first, as documented
        assert found[2] == 0.0


# ---- quaternions ----


@given(quaternions)
def test_quaternion_to_rotation(q):
    w, x, y, z = q
    R = sp.rotation_from_quaternion(q)
    assert_allclose(R, Rotation.from_quat([x, y, z, w]).as_matrix(), rtol=0, atol=ROUNDING)
    np.testing.assert_array_equal(sp.rotation_from_quaternion(-q), R)


@given(quaternions)
@example(np.array([0.5, 0.5, 0.5, 0.5]))
@example(np.array([1e-9, 1.0, 0.0, 0.0]))
@example(np.array([-1e-9, 0.0, 0.0, 1.0]))
def test_quaternion_round_trip_up_to_sign(q):
    found = sp.quaternion_from_rotation(sp.rotation_from_quaternion(q))
    assert found[0] >= 0
    assert_allclose(np.linalg.norm(found), 1, rtol=0, atol=2 * EPS)  # divided by its length
    assert_allclose(found * np.sign(found @ q), q, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("largest", range(4))
def test_quaternion_of_each_branch(largest):
    q = np.full(4, 0.1)
    q[largest] = np.sqrt(1 - 0.03)
    assert_allclose(sp.quaternion_from_rotation(sp.rotation_from_quaternion(q)), q, rtol=0, atol=ROUNDING)
    half_turn = sp.quaternion_from_rotation(sp.rotation_from_quaternion(np.eye(4)[largest]))
    np.testing.assert_array_equal(half_turn, np.eye(4)[largest])


@given(quaternions, quaternions, quaternions)
def test_quaternions_are_a_group_like_rotations(a, b, c):
    ab = sp.quaternion_multiply(a, b)
    expected = sp.rotation_from_quaternion(a) @ sp.rotation_from_quaternion(b)
    assert_allclose(sp.rotation_from_quaternion(ab), expected, rtol=0, atol=ROUNDING)
    bc = sp.quaternion_multiply(b, c)
    assert_allclose(sp.quaternion_multiply(ab, c), sp.quaternion_multiply(a, bc), rtol=0, atol=ROUNDING)
    assert_allclose(
        sp.quaternion_multiply(a, sp.quaternion_conjugate(a)), [1, 0, 0, 0], rtol=0, atol=ROUNDING
    )
    np.testing.assert_array_equal(sp.quaternion_multiply([1, 0, 0, 0], a), a)
    np.testing.assert_array_equal(sp.quaternion_multiply(-a, -b), ab)


@given(quaternions, vectors(3))
def test_quaternion_rate_is_the_angular_velocity_in_F(q, w):
    """Rdot = [w]x R. R is quadratic in q, so that a central difference with a step of 1 is its exact
    derivative."""
    N = sp.quaternion_rate_matrix(q)
    qdot = N @ w
    Rdot = (sp.rotation_from_quaternion(q + qdot) - sp.rotation_from_quaternion(q - qdot)) / 2
    # The two halves are up to |qdot|^2 = 75 and cancel.
    assert_allclose(Rdot, sp.skew(w) @ sp.rotation_from_quaternion(q), rtol=0, atol=75 * ROUNDING)
    assert_allclose(sp.quaternion_rate_inverse(q) @ qdot, w, rtol=0, atol=ROUNDING_P)
    # the length does not change
    assert_allclose(q @ qdot, 0, rtol=0, atol=ROUNDING_P)


# ---- Transform ----


@given(transforms, transforms, transforms, vectors(3))
def test_transforms_are_a_group_that_acts_on_points(X, Y, Z, p):
    assert_same_pose((X @ Y) @ Z, X @ (Y @ Z))
    assert_same_pose(X @ X.inverse(), Transform())
    assert_same_pose(X.inverse() @ X, Transform())
    assert X @ Transform() == X
    assert Transform() @ X == X
    assert_allclose((X @ Y) @ p, X @ (Y @ p), rtol=0, atol=ROUNDING_P)
    assert_allclose(X.matrix @ Y.matrix, (X @ Y).matrix, rtol=0, atol=ROUNDING_P)
    assert Transform.of(X.matrix) == X


def test_transform_takes_a_frame_where_it_says():
    R, p = X = Transform(sp.rotation_z(pi / 2), (1, 2, 3))
    # x becomes y, then p is added
    assert_allclose(X @ (1, 0, 0), [1, 3, 3], rtol=0, atol=ROUNDING)
    assert R is X.R
    assert p is X.p


def test_transform_never_changes():
    given_R, given_p = np.eye(3), np.zeros(3)
    X = Transform(given_R, given_p)
    with pytest.raises(AttributeError, match="never changes"):
        X.R = np.eye(3)
    with pytest.raises(AttributeError, match="never changes"):
        del X.p
    for array in (*X, *Transform.unchecked(given_R, given_p), *(X @ X), *X.inverse()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2
    # the caller's arrays stay writable
    given_R[0, 0] = given_p[0] = 5
    assert Transform() == X


def test_transform_equality_hash_pickle_and_copy():
    X = Transform(sp.rotation_x(0.3), (1, -0.0, 0))
    Y = Transform(sp.rotation_x(0.3), (1, 0.0, 0))
    assert X == Y
    assert hash(X) == hash(Y)
    assert hash(Transform(sp.rotation_x(0.0))) == hash(Transform())  # -sin(0) is -0.0
    assert Transform(sp.rotation_x(0.3)) != X
    assert (X.R, X.p) != X
    for twin in (pickle.loads(pickle.dumps(X)), copy.deepcopy(X)):
        assert twin == X
        assert not twin.R.flags.writeable
    q = ca.SX.sym("q")
    S = Transform(sp.rotation_x(q))
    twin = Transform(S.R, S.p)
    assert twin == S
    assert hash(S) == hash(twin)
    assert Transform(sp.rotation_y(q)) != S
    assert S != X


def test_transform_repr_is_short():
    assert repr(Transform()) == "Transform()"
    assert repr(Transform(None, (0, 0.25, -0.0))) == "Transform(p=[0, 0.25, 0])"
    assert repr(Transform(sp.rotation_z(0.5))).startswith("Transform(R=[[0.877583, -0.479426, 0], [")
    assert repr(Transform(np.broadcast_to(np.eye(3), (4, 2, 3, 3)))) == "Transform(4 x 2 transforms)"
    assert repr(Transform(sp.rotation_z(ca.SX.sym("q")))) == "Transform(symbolic)"


def test_transform_of_what_users_write():
    X = Transform(sp.rotation_y(1), (1, 2, 3))
    assert Transform.of(X) is X
    assert Transform.of(None) == Transform()
    assert Transform.of((1, 2, 3)) == Transform(None, (1, 2, 3))
    assert Transform.of(X.matrix.tolist()) == X
    q = ca.SX.sym("q")
    assert Transform.of([0, q, 0]) == Transform(None, ca.vertcat(0, q, 0))
    S = Transform(sp.rotation_y(q), (1, 2, 3))
    assert Transform.of(S.matrix) == S


def test_a_rotation_is_used_as_given_within_the_tolerance():
    R = sp.rotation_z(0.3) + 1e-11
    np.testing.assert_array_equal(Transform(R).R, R)
    rough = np.round(sp.rotation_about((0.6, 0, 0.8), 1.0), 4)
    with pytest.raises(
        DescriptionError, match=r"largest entry of R'R - 1 is .*e-05.*quaternion_from_rotation"
    ):
        Transform(rough)
    # the remedy of the message
    mended = sp.rotation_from_quaternion(sp.quaternion_from_rotation(rough))
    assert_allclose(Transform(mended).R, rough, rtol=0, atol=1e-4)  # four digits


# ---- numbers and symbols, batches and loops ----

# name: (function of one vector, its length)
CASES = {
    "skew": (sp.skew, 3),
    "rotation_x": (lambda v: sp.rotation_x(first(v)), 1),
    "rotation_about": (lambda v: sp.rotation_about(AXIS, first(v)), 1),
    "rotation_about, axis varies": (lambda v: sp.rotation_about(exp_column(v), 0.3), 3),
    **{f"rotation_from_euler {s}": (lambda v, s=s: sp.rotation_from_euler(v, s), 3) for s in SEQUENCES},
    "rotation_from_quaternion": (sp.rotation_from_quaternion, 4),
    "quaternion_from_rotation": (lambda v: sp.quaternion_from_rotation(sp.exp_so3(v)), 3),
    "quaternion_multiply": (lambda v: sp.quaternion_multiply(v, [0.1, 0.2, -0.3, 0.4]), 4),
    "quaternion_conjugate": (sp.quaternion_conjugate, 4),
    "quaternion_rate_matrix": (sp.quaternion_rate_matrix, 4),
    "quaternion_rate_inverse": (sp.quaternion_rate_inverse, 4),
    "exp_so3": (sp.exp_so3, 3),
    "log_so3": (lambda v: sp.log_so3(sp.exp_so3(v)), 3),
    "exp_se3": (lambda v: sp.exp_se3(v).matrix, 6),
    "log_se3": (lambda v: sp.log_se3(sp.exp_se3(v)), 6),
    "adjoint": (lambda v: sp.adjoint(sp.exp_se3(v)), 6),
    "shift_motion": (lambda v: sp.shift_motion(v, (1, 2, 3)), 6),
    "shift_motion, r varies": (lambda v: sp.shift_motion((1, 2, 3, 4, 5, 6), v), 3),
    "shift_force": (lambda v: sp.shift_force(v, (1, 2, 3)), 6),
    "Transform @ Transform": (lambda v: (sp.exp_se3(v) @ Transform(sp.rotation_x(1), (1, 2, 3))).matrix, 6),
    "numbers @ symbols": (lambda v: (Transform(sp.rotation_x(1), (1, 2, 3)) @ sp.exp_se3(v)).matrix, 6),
    "Transform @ point": (lambda v: sp.exp_se3(v) @ (1, 2, 3), 6),
    "numbers @ symbolic point": (lambda v: Transform(sp.rotation_x(1), (1, 2, 3)) @ v, 3),
    "inverse": (lambda v: sp.exp_se3(v).inverse().matrix, 6),
}


def first(v):
    return v if isinstance(v, ca.SX) else v[..., 0]


def exp_column(v):
    """A unit vector that depends on v."""
    R = sp.exp_so3(v)
    return R[:, 0] if isinstance(R, ca.SX) else R[..., :, 0]


@pytest.mark.parametrize("name", CASES)
def test_batches_are_loops(name):
    function, n = CASES[name]
    x = np.random.default_rng(5).normal(size=(2, 3, n))
    batch = function(x)
    assert batch.dtype == float
    for index in np.ndindex(2, 3):
        # Loops over many may use other vector instructions than one: a few eps.
        assert_allclose(batch[index], function(x[index]), rtol=0, atol=60 * EPS)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_symbols_are_numbers(name, seed):
    function, n = CASES[name]
    x = np.random.default_rng(seed).normal(size=n) * 10.0 ** -(4 * seed)  # two of three near zero
    symbol = ca.SX.sym("x", n)
    result = function(symbol)
    assert isinstance(result, ca.SX)
    value = ca.Function("f", [symbol], [result])(x).full()
    expected = function(x)
    # other order of the same sums
    assert_allclose(value.reshape(expected.shape), expected, rtol=0, atol=60 * EPS)


def test_symbolic_zeros_are_structural_and_ones_exact():
    q = ca.SX.sym("q")
    for R, (i, j, k) in zip(
        (sp.rotation_x(q), sp.rotation_y(q), sp.rotation_z(q)), ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    ):
        assert R.nnz() == 5
        assert not R.sparsity().has_nz(i, j)
        assert not R.sparsity().has_nz(k, i)
        assert R[i, i].is_one()
    about = sp.rotation_about((0, 1, 0), q)
    assert ca.is_equal(about, sp.rotation_y(q), 2)
    assert sp.skew(ca.vertcat(q, 0, 0)).nnz() == 2
    assert sp.rotation_from_euler([0, q, 0]).nnz() == 5
    assert sp.adjoint(Transform(sp.rotation_z(q))).nnz() == 10
    assert Transform(None, [q, 0, 0]).R.nnz() == 3


def test_lists_with_symbols_among_numbers():
    q = ca.SX.sym("q")
    R = [[1, 0, 0], [0, ca.cos(q), -ca.sin(q)], [0, ca.sin(q), ca.cos(q)]]
    X = Transform(R, [q, 0, 1])
    value = ca.Function("f", [q], [X.R, X.p])(0.4)
    # the same sine, another library
    assert_allclose(value[0].full(), sp.rotation_x(0.4), rtol=0, atol=EPS)
    assert_allclose(value[1].full().ravel(), [0.4, 0, 1], rtol=0, atol=0)
