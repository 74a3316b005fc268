"""spatial: every error, by what it says."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from condyle import spatial as sp
from condyle.errors import DescriptionError, ShapeError
from condyle.spatial import MassProperties, Transform

SX3 = ca.SX.sym("v", 3)
TRANSPOSED = Transform(None, (1, 2, 3)).matrix.T
BATCH_2 = np.broadcast_to(np.eye(3), (2, 3, 3))
O = (0, 0, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sp.skew((1, 2)), r"skew: expected shape \(\.\.\., 3\), got \(2,\)"),
        (lambda: sp.skew("abc"), "skew: expected numbers, got the text 'abc'"),
        (lambda: sp.skew(ca.SX.sym("v", 2)), "skew: expected a symbolic vector 3 x 1, got SX 2 x 1"),
        (lambda: sp.rotation_x(SX3), "rotation_x: expected one symbol, got SX 3 x 1"),
        (lambda: sp.rotation_x([SX3[0]]), "rotation_x: expected one symbol, got a list"),
        (
            lambda: sp.rotation_about([(1, 0, 0), (0, 1, 0)], SX3[0]),
            "meet symbols cannot have batch dimensions",
        ),
        (lambda: sp.euler_from_rotation(ca.SX.eye(3)), "takes numbers only; for symbols use log_so3"),
        (lambda: sp.euler_from_rotation(np.eye(2)), r"expected shape \(\.\.\., 3, 3\), got \(2, 2\)"),
        (lambda: sp.log_so3(ca.SX.eye(2)), "log_so3: expected a symbolic matrix 3 x 3, got SX 2 x 2"),
        (lambda: sp.rotation_from_quaternion((1, 0, 0)), r"expected shape \(\.\.\., 4\), got \(3,\)"),
        (lambda: sp.exp_se3(np.zeros(3)), r"exp_se3: expected shape \(\.\.\., 6\)"),
        (lambda: Transform() @ (1, 2), r"Transform @ point: expected shape \(\.\.\., 3\), got \(2,\)"),
    ],
)
def test_arguments_of_the_wrong_shape(call, message):
    with pytest.raises(ShapeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sp.rotation_about((1, 1, 0), 1), r"axis \[1. 1. 0.\] has length 1.41421; .*divide it"),
        (lambda: sp.rotation_about((np.nan, 1, 0), 1), "has length nan"),
        (lambda: sp.rotation_about([(1, 0, 0), (0, 3, 0)], 1), r"axis \[0. 3. 0.\] has length 3;"),
        (lambda: sp.rotation_from_euler((1, 2, 3), "xxy"), "sequence 'xxy' does not exist"),
        (lambda: sp.rotation_from_euler((1, 2, 3), "XYZ"), "sequence 'XYZ' .*three letters of x, y, z"),
        (lambda: sp.euler_from_rotation(np.eye(3), 123), "sequence 123 does not exist"),
    ],
)
def test_rotations_that_do_not_exist(call, message):
    with pytest.raises(DescriptionError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Transform(np.eye(2)), r"Transform: R: expected shape \(\.\.\., 3, 3\), got \(2, 2\)"),
        (lambda: Transform("x"), "Transform: R: expected numbers, got the text 'x'"),
        (lambda: Transform(None, 1.0), r"p: expected shape \(\.\.\., 3\), got \(\)"),
        (lambda: Transform(BATCH_2, np.zeros((3, 3))), "batch dimensions of R .* and p"),
        (lambda: Transform(np.full((3, 3), np.nan)), "R has a number that is not finite"),
        (lambda: Transform(None, (0, np.inf, 0), what="X_PF of body 'a'"), "X_PF of body 'a': p .* finite"),
        (lambda: Transform(1.01 * np.eye(3)), r"not a rotation: the largest entry of R'R - 1 is 0.0201, all"),
        (lambda: Transform(np.diag([1, 1, -1])), "determinant -1, it is a reflection"),
        (lambda: Transform.of((1, 2), "X_BM of body 'b'"), r"X_BM of body 'b': expected .* shape \(2,\)"),
        (lambda: Transform.of((np.eye(3), O)), r"write Transform\(R, p\)"),
        (lambda: Transform.of(np.eye(3)), r"shape \(3, 3\); for a rotation write Transform\(R\)"),
        (lambda: Transform.of("ground"), "got str 'ground'"),
        (lambda: Transform.of(("a", "b", "c"), "X_PF"), "X_PF: p: expected numbers"),
        (lambda: Transform.of(TRANSPOSED), r"last row .* got \[1. 2. 3. 1.\]; is it transposed"),
        (lambda: Transform.of(ca.SX.sym("A", 4, 4)), "last row of a 4 x 4 matrix is 0 0 0 1, got "),
    ],
)
def test_transforms_that_do_not_exist(call, message):
    with pytest.raises(DescriptionError, match=message):
        call()


def test_an_array_times_a_transform_is_refused():
    with pytest.raises(TypeError, match="unsupported operand"):
        np.eye(3) @ Transform()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MassProperties.of(-1, what="body 'thigh'"), "body 'thigh': mass is -1 kg; it must be zero"),
        (lambda: MassProperties.of((1, 2)), r"mass is one number \[kg\], got shape \(2,\)"),
        (lambda: MassProperties.of("heavy"), "body: mass: expected numbers, got the text 'heavy'"),
        (lambda: MassProperties.of(np.nan), "mass has a number that is not finite: nan"),
        (lambda: MassProperties.of(1, (0, np.inf, 0)), "com has a number that is not finite"),
        (lambda: MassProperties.of(1, (0, 0)), r"com is a point of 3 numbers \[m\], got shape \(2,\)"),
        (lambda: MassProperties.of(1, O, (1, np.nan, 1)), "inertia has a number that is not finite"),
        (lambda: MassProperties.of(1, O, 1.0), r"inertia is 3 numbers .* got shape \(\)"),
        (lambda: MassProperties.of(1, O, np.eye(4)), r"inertia is 3 numbers .* got shape \(4, 4\)"),
        (lambda: MassProperties.of(1, O, np.eye(3) + sp.skew((0, 0, 0.1))), "differ by 0.2 kg m"),
        (lambda: MassProperties.of(1, O, (1, 1, 1, 2, 0, 0)), "semidefinite: .* moments are -1, 1, 3"),
        (lambda: MassProperties.of(1, O, (-1, -1, -1)), "no moment may be negative"),
        (lambda: MassProperties.of(1, O, (1, 1, 3)), "triangle inequality: .* are 1, 1, 3 kg m"),
        (lambda: MassProperties.of(1, O, (1, 1, 2.00001)), "triangle inequality"),
        (lambda: MassProperties.of(0, O, (1, 1, 1)), "mass is 0 but inertia is not"),
    ],
)
def test_bodies_that_do_not_exist(call, message):
    with pytest.raises(DescriptionError, match=message):
        call()
