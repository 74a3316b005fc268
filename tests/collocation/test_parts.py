"""Parts of functions at points: the same numbers as the whole, one kind for parts with the same operations."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from condyle.collocation.terms import kinds
from condyle.native.tables.lookup import current_context, lookup_context

SIZE, POINTS = 3, 20


def terms(known=True):
    """Two kinds: two of one, one of the other; and whether second derivatives are known."""
    y, d = ca.SX.sym("y", 4), ca.SX.sym("d", 2)
    parts = [
        (ca.vertcat(2.5 * ca.sin(y[0]) * y[2], d[0] * y[2] ** 2), [0, 2], known),
        (ca.vertcat(-0.7 * ca.sin(y[1]) * y[3], d[1] * y[3] ** 2), [1, 0], known),
        (ca.exp(y[0] * y[1]), [2], known),
    ]
    return y, d, parts


@pytest.mark.parametrize("known", [True, False])
def test_parts_are_the_whole(known):
    """Values, Jacobian and Hessian summed over the parts against CasADi's of the whole."""

    def build():
        with lookup_context():
            return (*terms(known), current_context())

    y, d, parts = terms()
    F = ca.SX(SIZE, 1)
    for x, rows, _ in parts:
        for k, row in enumerate(rows):
            F[row] += x[k]
    mu = ca.SX.sym("mu", SIZE)
    whole = ca.Function("whole", [y, d, mu], [F, ca.jacobian(F, y), ca.hessian(ca.dot(mu, F), y)[0]])
    rng = np.random.default_rng(0)
    Y, D, M = rng.normal(size=(POINTS, 4)), rng.normal(size=(POINTS, 2)), rng.normal(size=(POINTS, SIZE))
    found = kinds("test of parts", f"test_parts_are_the_whole {known}", build, True)
    assert sorted(len(kind.rows) for kind in found) == [1, 2]
    values, J, H = np.zeros((POINTS, SIZE)), np.zeros((POINTS, SIZE, 4)), np.zeros((POINTS, 4, 4))
    for kind in found:
        each, f, members = kind.data(D), kind.function, len(kind.rows)
        own = Y[:, kind.y].reshape(POINTS * members, -1)
        F_k, J_k = (x.reshape(POINTS, members, -1) for x in f.jacobians(own, each))
        assert np.array_equal(f.values(own, each), F_k.reshape(POINTS * members, -1))
        H_k = f.hessians(own, each, M[:, kind.rows].reshape(POINTS * members, -1))
        H_k = H_k.reshape(POINTS, members, -1)
        for m in range(members):
            r, c = f.pattern.jacobian
            np.add.at(values, (slice(None), kind.rows[m]), F_k[:, m])
            np.add.at(J, (slice(None), kind.rows[m][r], kind.y[m][c]), J_k[:, m])
            r, c = f.pattern.hessian
            low = r != c
            np.add.at(H, (slice(None), kind.y[m][r], kind.y[m][c]), H_k[:, m])
            np.add.at(H, (slice(None), kind.y[m][c[low]], kind.y[m][r[low]]), H_k[:, m][:, low])
    for p in range(POINTS):
        for mine, theirs in zip((values, J, H), whole(Y[p], D[p], M[p]), strict=True):
            # rounding of a few operations of size one, or of central differences of them
            within = 1e-12 if known or mine is not H else 1e-7
            np.testing.assert_allclose(mine[p].ravel(), theirs.full().ravel(), rtol=within, atol=within)
