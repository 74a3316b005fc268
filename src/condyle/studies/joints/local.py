"""What one measured frame says of the k control frames around it, as native kernels.

Notation, twists angular first, in the child's frame (lee2008, docs/theory/spline_fits.md)
  G_1 .. G_k   active control frames, moved by small twists u_j:  G_j <- G_j exp(u_j)
  G(q) = G_1 exp(z_1 Bt_1) .. exp(z_(k-1) Bt_(k-1)),   z_l = log(G_l^-1 G_(l+1))                  lee2008 (24)
  r = U log(G(q)^-1 D)    what is left of a measured frame D; U'U is the metric, |r| is a length
  h = U ds/dq             the joint Hessian (27)-(31) in the same metric

Each kernel gives its residual e (r or h) and what it adds to the normal equations of sum w |e|^2,

  M = w J'J,   g = -w J'e,   J = de/du at u = 0:      M u = g                                              (1)

M as its upper triangle, row by row. lee2008's approximation (33)-(34) would have, with B_j the weights of
the control frames,

  J_j = -U B_j Ad^-1(exp(z_j Bt_j) .. exp(z_(k-1) Bt_(k-1))).                                              (2)

Where q is unknown, what lies along the path is no error: with a = U s / |U s|

  e <- e - a (a'e),   J <- J - a (a'J).                                                                    (3)

Exactly: with Jr the right Jacobian of the exponential, z_l changes by dz_l and G(q) by the velocity u(q),

  dz_l = Jr(z_l)^-1 (u_(l+1) - Ad^-1(exp z_l) u_l)                                                         (4)
  u(q) = Ad^-1(all) u_1 + sum_l Ad^-1(after l) Bt_l Jr(Bt_l z_l) dz_l,     dr = -U Jr(-r)^-1 u(q)          (5)

and h depends on the z_l alone, by which it is differentiated automatically. Of twists z = (w, v) Jr is [A, 0;
B, A] with A that of the rotation w and B its derivative along v: a twist is a rotation of dual numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.native.calls.native_function import NativeFunction
from condyle.spatial import Transform, exp_se3, log_se3
from condyle.spatial.exponential import right_jacobian_inverse_so3, right_jacobian_so3

POSE = 12
"""Numbers of a frame: R row by row, then p."""


def numbers(X: Transform) -> Array:
    """Frames as rows of 12 numbers."""
    return np.concatenate([X.R.reshape(*X.p.shape[:-1], 9), X.p], axis=-1)


def transform(rows: Array) -> Transform:
    """Frames from rows of 12 numbers."""
    return Transform.unchecked(
        np.ascontiguousarray(rows[..., :9]).reshape(*rows.shape[:-1], 3, 3),
        np.ascontiguousarray(rows[..., 9:]),
    )


@cache
def residual(k: int, exact: bool = True) -> NativeFunction:
    """Kernel of r for order k.

    Inputs: G (12 k), Bt and its first derivative (2 (k - 1)), D (12), U's upper triangle (21), w (3): weight,
    scale of the Huber loss, share of (3) that is taken off. Outputs: r (6), M (3 k (6 k + 1)), g (6 k).
    The weight is multiplied by min(1, scale / |r|).
    """

    def build() -> ca.Function:
        shapes = (("G", POSE * k), ("B", 2 * (k - 1)), ("D", POSE), ("U", 21), ("w", 3))
        G, B, D, U, w = (ca.SX.sym(*shape) for shape in shapes)
        frames = _frames(G, k)
        steps = _steps(frames)
        twists = [log_se3(step) for step in steps]
        X, s, _, after = _curve(frames[0], twists, B, k)
        e = log_se3(X.inverse() @ _pose(D))
        if exact:
            J = -_twist(right_jacobian_inverse_so3)(-e) @ ca.horzcat(
                *_velocities(steps, twists, B, after)
            )  # (5)
        else:
            weights = ca.vertsplit(-ca.diff(ca.vertcat(1, B[: k - 1], 0)))
            J = ca.horzcat(*[-b * A for b, A in zip(weights, after)])  # (2)
        e, J, s = (_upper(U) @ x for x in (e, J, s))
        along = s / ca.sqrt(ca.sumsqr(s) + 1e-300)
        e_off, J_off = (x - w[2] * along @ (along.T @ x) for x in (e, J))  # (3)
        weight = w[0] * ca.fmin(1.0, w[1] / (ca.norm_2(e) + 1e-300))
        return ca.Function("residual", [G, B, D, U, w], [e, *_normal(e_off, J_off, weight)], {"cse": True})

    return NativeFunction(
        "spline fit",
        build,
        key=f"spline fit: residual of order {k}, exact={exact}",
        inputs=[("G", POSE * k), ("B", 2 * (k - 1)), ("D", POSE), ("U", 21), ("w", 3)],
        outputs=[("r", 6), ("M", 3 * k * (6 * k + 1)), ("g", 6 * k)],
    )


@cache
def hessian(k: int) -> NativeFunction:
    """Kernel of h for order k.

    Inputs: G (12 k), Bt and its first two derivatives (3 (k - 1)), U's upper triangle (21), weight (1).
    Outputs: h (6), M (3 k (6 k + 1)), g (6 k).
    """

    def build() -> ca.Function:
        G, B, U, w = (ca.SX.sym(*a) for a in (("G", POSE * k), ("B", 3 * (k - 1)), ("U", 21), ("w", 1)))
        steps = _steps(_frames(G, k))
        z = ca.SX.sym("z", 6, k - 1)
        _, _, ds, _ = _curve(Transform.unchecked(ca.SX.eye(3), ca.SX(3, 1)), ca.horzsplit(z), B, k)
        of = ca.Function("ds", [z, B], [ds, ca.jacobian(ds, ca.vec(z))])
        twists = [log_se3(step) for step in steps]
        e, by_z = of(ca.horzcat(*twists), B)
        J = [ca.SX(6, 6)] * k
        for l, part in enumerate(ca.horzsplit(by_z, 6)):
            part = part @ _twist(right_jacobian_inverse_so3)(twists[l])
            J[l], J[l + 1] = J[l] - part @ _Ad_inverse(steps[l]), J[l + 1] + part  # (4)
        e, by_u = _upper(U) @ e, _upper(U) @ ca.horzcat(*J)
        return ca.Function("hessian", [G, B, U, w], [e, *_normal(e, by_u, w)], {"cse": True})

    return NativeFunction(
        "spline smoothing",
        build,
        key=f"spline fit: Hessian of order {k}",
        inputs=[("G", POSE * k), ("B", 3 * (k - 1)), ("U", 21), ("w", 1)],
        outputs=[("h", 6), ("M", 3 * k * (6 * k + 1)), ("g", 6 * k)],
    )


@cache
def motion(k: int) -> NativeFunction:
    """G(q) (12), s (6) and ds/dq (6) from G (12 k) and Bt with its first two derivatives (3 (k - 1))."""

    def build() -> ca.Function:
        G, B = ca.SX.sym("G", POSE * k), ca.SX.sym("B", 3 * (k - 1))
        frames = _frames(G, k)
        X, s, ds, _ = _curve(frames[0], [log_se3(step) for step in _steps(frames)], B, k)
        return ca.Function("motion", [G, B], [ca.vertcat(ca.vec(X.R.T), X.p), s, ds], {"cse": True})

    return NativeFunction(
        "spline motion",
        build,
        key=f"spline fit: motion of order {k}",
        inputs=[("G", POSE * k), ("B", 3 * (k - 1))],
        outputs=[("X", POSE), ("s", 6), ("ds", 6)],
    )


def _velocities(steps: list[Transform], twists: list[ca.SX], B: ca.SX, after: list[ca.SX]) -> list[ca.SX]:
    """Velocity of G(q) for those of each control frame, (6, 6) each: (4), (5)."""
    jacobian, inverse = _twist(right_jacobian_so3), _twist(right_jacobian_inverse_so3)
    out = [after[0], *[ca.SX(6, 6)] * len(steps)]
    for l, (step, z) in enumerate(zip(steps, twists)):
        part = after[l + 1] @ (B[l] * jacobian(z * B[l]) @ inverse(z))
        out[l], out[l + 1] = out[l] - part @ _Ad_inverse(step), out[l + 1] + part
    return out


def _twist(of: Callable[[ca.SX], ca.SX]) -> ca.Function:
    """What `of` is for rotations, for twists: [A, 0; B, A], with A = of(w) and B its derivative along v."""
    w, v = ca.SX.sym("w", 3), ca.SX.sym("v", 3)
    A = of(w)
    B = ca.reshape(ca.jtimes(ca.vec(A), w, v), 3, 3)
    return ca.Function(
        "twist", [ca.vertcat(w, v)], [ca.vertcat(ca.horzcat(A, ca.SX(3, 3)), ca.horzcat(B, A))]
    )


def _pose(c: ca.SX) -> Transform:
    return Transform.unchecked(ca.reshape(c[:9], 3, 3).T, c[9:12])


def _frames(G: ca.SX, k: int) -> list[Transform]:
    return [_pose(G[POSE * j : POSE * (j + 1)]) for j in range(k)]


def _steps(G: list[Transform]) -> list[Transform]:
    """From each control frame to the next."""
    return [a.inverse() @ b for a, b in pairwise(G)]


def _curve(
    first: Transform, twists: list[ca.SX], B: ca.SX, k: int
) -> tuple[Transform, ca.SX, ca.SX, list[ca.SX]]:
    """G(q), s, ds/dq by lee2008 (24), (29), (31), and Ad^-1 of the exponentials after each control frame.

    Derivatives that are not in B count as zero."""
    X, s, ds = first, ca.SX(6, 1), ca.SX(6, 1)
    steps = []
    for l, z in enumerate(twists):
        f, df, ddf = (B[d * (k - 1) + l] if d * (k - 1) < B.numel() else ca.SX(1, 1) for d in range(3))
        E = exp_se3(z * f)
        A = _Ad_inverse(E)
        ds = z * ddf + A @ (ds + _ad(s, z) * df)
        s = z * df + A @ s
        X = X @ E
        steps.append(A)
    after = [ca.SX.eye(6)]
    for A in reversed(steps):
        after.insert(0, after[0] @ A)
    return X, s, ds, after


def _Ad_inverse(X: Transform) -> ca.SX:
    """Ad of X^-1, shape (6, 6)."""
    R_T = X.R.T
    return ca.vertcat(ca.horzcat(R_T, ca.SX(3, 3)), ca.horzcat(-R_T @ ca.skew(X.p), R_T))


def _ad(a: ca.SX, b: ca.SX) -> ca.SX:
    """The Lie bracket of two twists, lee2008 (4)."""
    return ca.vertcat(ca.cross(a[:3], b[:3]), ca.cross(a[3:], b[:3]) + ca.cross(a[:3], b[3:]))


def _upper(U: ca.SX) -> ca.SX:
    """(6, 6) from its upper triangle, row by row."""
    out = ca.SX(6, 6)
    for value, i, j in zip(ca.vertsplit(U), *np.triu_indices(6)):
        out[int(i), int(j)] = value
    return out


def _normal(e: ca.SX, J: ca.SX, weight: ca.SX) -> tuple[ca.SX, ca.SX]:
    """M and g of (1)."""
    weighted = weight * J
    columns, scaled = ca.horzsplit(J), ca.horzsplit(weighted)
    M = [ca.dot(columns[i], scaled[j]) for i, j in zip(*np.triu_indices(len(columns)))]
    return ca.vertcat(*M), -(weighted.T @ e)
