"""Velocities and accelerations from the pose alone, by automatic differentiation. Numbers:
docs/theory/mobilizers.md.

    [H_w e_j]x = (dR/dq N e_j) R^T,   H_v = dp/dq N,   [w_t]x = (dR/dt) R^T,   v_t = dp/dt       (5), (6)
    bias = dV/dq N u + dV/dt,   V = H u + Vt                                                     (7)
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.mobilizers.base import RelativeMotion

# Built from these alone, a function that is constant on random points of all sizes is constant: it is
# analytic and changes like a power. exp and tanh are left out: a smooth switch is constant to the last digit
# everywhere but near one place.
_ANALYTIC = frozenset(
    (
        ca.OP_ADD,
        ca.OP_SUB,
        ca.OP_MUL,
        ca.OP_DIV,
        ca.OP_NEG,
        ca.OP_TWICE,
        ca.OP_SQ,
        ca.OP_INV,
        ca.OP_SQRT,
        ca.OP_SIN,
        ca.OP_COS,
        ca.OP_TAN,
        ca.OP_LOG,
        ca.OP_ATAN,
        ca.OP_ATAN2,
        ca.OP_CONSTPOW,
        ca.OP_CONST,
        ca.OP_INPUT,
        ca.OP_OUTPUT,
        ca.OP_ASSIGN,
    )
)


def derived_motion(
    R: ca.SX, p: ca.SX, t: ca.SX, q: ca.SX, u: ca.SX, N: ca.SX, H: ca.SX | None = None
) -> RelativeMotion:
    """The whole motion from R_FM(t, q), p_FM(t, q) and N(q).

    Args:
        R: shape (3, 3), expressions in the symbols t and q; a rotation for every q.
        p: shape (3,), expressions in the symbols t and q.
        N: (nq, nu).
        H: (6, nu), if it is known; else (5), (6).
    """
    R, p = ca.sparsify(R), ca.sparsify(p)
    if H is None:
        rates = ca.jacobian(ca.vec(R), q) @ N
        turns = [_axis_of(ca.reshape(rates[:, j], 3, 3), R) for j in range(u.numel())]
        H_w, H_v = (
            _folded(ca.horzcat(ca.SX(3, 0), *turns), q, t),
            ca.sparsify(ca.jacobian(p, q) @ N),
        )  # (5), (6)
    else:
        H_w, H_v = ca.sparsify(H[:3, :]), ca.sparsify(H[3:, :])
    w_t = ca.sparsify(_axis_of(ca.reshape(ca.jacobian(ca.vec(R), t), 3, 3), R))
    v_t = ca.sparsify(ca.jacobian(p, t))
    V = ca.vertcat(H_w @ u + w_t, H_v @ u + v_t)
    bias = ca.sparsify(ca.jtimes(V, q, N @ u) + ca.jacobian(V, t))  # (7)
    return RelativeMotion(R=R, p=p, H_w=H_w, H_v=H_v, w_t=w_t, v_t=v_t, bias_w=bias[:3], bias_v=bias[3:])


def _axis_of(R_dot: ca.SX, R: ca.SX) -> ca.SX:
    """w of [w]x = Rdot R^T."""
    return ca.vertcat(*(ca.dot(R_dot[i, :].T, R[j, :].T) for i, j in ((2, 1), (0, 2), (1, 0))))


def _folded(H_w: ca.SX, q: ca.SX, t: ca.SX) -> ca.SX:
    """H_w with entries that are 0, 1 or -1 everywhere (cos^2 + sin^2, say) made so, and zeros structural.

    Differentiation leaves such sums; folded, they cost nothing. Only in analytic functions without Parameters
    can values at random points prove it, of all sizes, since coordinates may be in degrees. 1e-14 of its
    column is rounding.
    """
    H_w = ca.sparsify(H_w)
    if not H_w.nnz() or any(
        s.element_hash() not in {x.element_hash() for x in ca.symvar(ca.vertcat(q, t))}
        for s in ca.symvar(H_w)
    ):
        return H_w
    entries = ca.Function("H_w", [q, t], [ca.densify(H_w)])
    if not {entries.instruction_id(k) for k in range(entries.n_instructions())} <= _ANALYTIC:
        return H_w
    rng = np.random.default_rng(0)
    n = q.numel() + 1
    points = rng.uniform(-2, 2, (64, n)) * 10.0 ** rng.integers(0, 4, (64, n))
    values = np.array([np.array(entries(x[1:], x[0])) for x in points])
    values = values[np.isfinite(values).all(axis=(1, 2))]
    if len(values) < 16:
        return H_w
    out = ca.SX(H_w)
    size = np.abs(values).max(axis=1)
    for i, j in np.ndindex(*H_w.shape):
        for constant in (0.0, 1.0, -1.0):
            if (np.abs(values[:, i, j] - constant) <= 1e-14 * size[:, j]).all() and size[:, j].max() > 1e-3:
                out[i, j] = constant
    return ca.sparsify(out)
