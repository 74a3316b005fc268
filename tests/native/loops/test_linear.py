"""Matrices of linear functions, one unit vector at a time."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from condyle.native.calls.native_function import NativeFunction
from condyle.native.loops.linear import Matrix
from condyle.native.tables.staged import Staged

STATES = 11
HOW = pytest.mark.parametrize("how", ["casadi", "native"])


def whole(q, x, f):
    return Staged("f", [q, x], [f])


def run(matrix: Matrix, q: np.ndarray, how: str) -> np.ndarray:
    f = NativeFunction(
        "matrix",
        lambda: matrix,
        key=f"{np.random.default_rng().integers(2**62)}",
        inputs=[("q", q.shape[-1])],
        outputs=[("A", matrix.m * matrix.n)],
    )
    f._evaluator._casadi = how == "casadi"
    many = f(np.repeat(q, 2, axis=0))[::2]  # enough states for lanes
    np.testing.assert_array_equal(f(q[0]), many[0])
    return many.reshape(len(q), matrix.m, matrix.n)


@HOW
@pytest.mark.parametrize("offset", [False, True])
def test_linear_functions(how, offset):
    q, x = ca.SX.sym("q", 4), ca.SX.sym("x", 3)
    A = ca.vertcat(ca.horzcat(q[0], 1, q[1] * q[2]), ca.horzcat(0, ca.sin(q[3]), q[0]))
    at = np.random.default_rng(0).uniform(-1, 1, (STATES, 4))
    y = A @ x + (ca.vertcat(q[2], 5) if offset else 0)
    found = run(Matrix(whole(q, x, y), 1, offset=offset), at, how)
    one = np.ones(STATES)
    expected = [[at[:, 0], one, at[:, 1] * at[:, 2]], [0 * one, np.sin(at[:, 3]), at[:, 0]]]
    # Of b = 5 some bits are lost when it is taken away again.
    np.testing.assert_allclose(
        found, np.moveaxis(np.array(expected), -1, 0), rtol=0, atol=10 * np.finfo(float).eps
    )


@HOW
def test_symmetric_to_the_last_bit(how):
    """A function whose two halves are rounded differently."""
    q, x = ca.SX.sym("q", 3), ca.SX.sym("x", 2)
    a = q[0] / 3 + q[1] / 7 + q[2]
    b = q[2] + q[1] / 7 + q[0] / 3
    y = ca.vertcat(q[0] * x[0] + a * x[1], b * x[0] + q[1] * x[1])
    at = np.random.default_rng(1).uniform(-1, 1, (STATES, 3))
    M = run(Matrix(whole(q, x, y), 1, symmetric=True), at, how)
    np.testing.assert_array_equal(M[:, 0, 1], M[:, 1, 0])
    np.testing.assert_allclose(M[:, 0, 1], at @ [1 / 3, 1 / 7, 1], rtol=0, atol=10 * np.finfo(float).eps)
