"""CasADi's evaluator on arrays, against its evaluator on its own matrices."""

import casadi as ca
import numpy as np
import pytest

from condyle.native.straight.kernel_function import evaluate_columns

X, Y, NOTHING = ca.SX.sym("x", 3), ca.SX.sym("y", 2), ca.SX.sym("z", 0)
FUNCTIONS = {
    "dense": ca.Function("f", [X, Y], [ca.sqrt(X) * Y[0], ca.vertcat(Y, X)]),
    "a matrix": ca.Function("f", [X, Y], [X @ Y.T, X[0]]),
    "nothing goes in": ca.Function("f", [X, NOTHING, Y], [X + Y[1]]),
    "nothing comes out": ca.Function("f", [X, Y], [ca.SX(0, 1), X / Y[0]]),
    "zeros left out": ca.Function("f", [X, Y], [ca.vertcat(X[0], ca.SX(1, 1), Y[1])]),
}


@pytest.mark.parametrize("states", [1, 7])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_numbers(name, states):
    f, rng = FUNCTIONS[name], np.random.default_rng(3)
    given = [rng.normal(size=(f.size1_in(k), states)) for k in range(f.n_in())]
    given[0][1, -1], given[0][2, 0], given[-1][0, 0] = np.nan, np.inf, 0.0
    before = [a.copy() for a in given]
    expected = [
        y.full() for y in f.map(states).call([ca.DM(a) if a.size else ca.DM(0, states) for a in given])
    ]
    turned = [np.asfortranarray(a) for a in given]
    fixed = [a.copy() for a in given]
    for a in fixed:
        a.setflags(write=False)
    for arguments in (given, turned, fixed):
        for ours, theirs in zip(evaluate_columns(f, arguments, states), expected, strict=True):
            assert ours.shape == theirs.shape and ours.flags.writeable
            np.testing.assert_array_equal(ours, theirs)
    for a, b in zip(given, before, strict=True):
        np.testing.assert_array_equal(a, b)


def test_one_state_for_all():
    """Rows of stride zero, and one column that CasADi repeats."""
    f, x, y = FUNCTIONS["dense"], np.array([[1.0], [4.0], [9.0]]), np.array([[2.0], [3.0]])
    many = evaluate_columns(f, [np.broadcast_to(x, (3, 5)), np.broadcast_to(y, (2, 5))], 5)
    np.testing.assert_array_equal(many[0], np.tile([[2.0], [4.0], [6.0]], 5))
    np.testing.assert_array_equal(many[1], np.tile([[2.0], [3.0], [1.0], [4.0], [9.0]], 5))
