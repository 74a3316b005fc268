"""Control frames of a spline curve by least squares, at given q_k: exact Gauss-Newton.

Notation, twists angular first, in the child's frame (lee2008, docs/theory/spline_fits.md)
  G_1 .. G_k   active control frames, moved by small twists u_j:  G_j <- G_j exp(u_j)
  G(q) = G_1 exp(z_1 Bt_1) .. exp(z_(k-1) Bt_(k-1)),   z_l = log(G_l^-1 G_(l+1))                  lee2008 (24)
  r = U log(G(q)^-1 D)    residual of a measured frame D; U'U is the metric, |r| is a length
  h = U ds/dq             the joint Hessian (27)-(31) in the same metric

  minimize  sum_k w_k rho(|r_k|) + w int |h|^2 dq                                                          (1)
  M u = g,  G_j <- G_j exp(u_j),  u halved until (1) falls

rho(x) = x^2, or Huber's: x^2 up to a scale c, then 2 c x - c^2. Native kernels give the residual e (r or h)
of one frame or Gauss point and the block of 6 k rows that it adds to the normal equations of sum w |e|^2,

  M = w J'J,   g = -w J'e,   J = de/du at u = 0                                                            (2)

M as its upper triangle, row by row. Blocks are summed per knot interval, hence M is a band of 6 k for open
curves, and a band that closes on itself for closed ones. lee2008's approximation (33)-(34) would have, with
B_j the weights of the control frames,

  J_j = -U B_j Ad^-1(exp(z_j Bt_j) .. exp(z_(k-1) Bt_(k-1)));                                              (3)

with it the same loop is their geometric iteration (35)-(36). Their smoothing (37)-(42) approximates what
the integral here gives exactly. If q is unknown, a residual along the path is not an error: with a = U s /
|U s|

  e <- e - a (a'e),   J <- J - a (a'J).                                                                    (4)

Exactly: with Jr the right Jacobian of the exponential, z_l changes by dz_l and G(q) by the velocity u(q),

  dz_l = Jr(z_l)^-1 (u_(l+1) - Ad^-1(exp z_l) u_l)                                                         (5)
  u(q) = Ad^-1(all) u_1 + sum_l Ad^-1(after l) Bt_l Jr(Bt_l z_l) dz_l,     dr = -U Jr(-r)^-1 u(q)          (6)

and h depends on the z_l alone and is differentiated automatically with respect to these. Of twists z = (w,
v) Jr is [A, 0; B, A] with A that of the rotation w and B its derivative along v: a twist is a rotation of
dual numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import cache
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.native.calls.native_function import NativeFunction
from condyle.records import dataclass
from condyle.spatial import Transform, exp_se3, log_se3
from condyle.spatial.exponential import right_jacobian_inverse_so3, right_jacobian_so3
from condyle.studies.joints.spline_basis import CurveKnots

POSE = 12
"""Size of a frame: R row by row, then p."""
CHUNK = 4096
"""Number of frames whose blocks are in memory at once: 10 MB for order 4."""
ITERATIONS, HALVINGS = 50, 12
TOLERANCE = 1e-10
"""The iteration ends with a step shorter than this part of the path's size."""
RIDGE, LARGEST_RIDGE = 1e-14, 1e-4
"""Number added to the diagonal of M, relative to its largest entry; more if M is not positive definite."""
UNDETERMINED = 1e-9
"""The data do not determine a control frame whose weight falls below this part of itself when its neighbors
are eliminated."""


@dataclass(frozen=True)
class CurveStep:
    """One iteration: the kind of its derivatives, the value of (1) [m^2] before it, and its longest twist
    [m]."""

    method: str
    cost: float
    length: float


@dataclass(eq=False)
class CurveProblem:
    """(1) for one set of frames, q and knots.

    Args:
        knots: of the curve.
        D: measured frames, rows of 12 numbers, shape (N, 12).
        q: shape (N,), in the domain.
        U: upper triangular, U'U is the metric, shape (6, 6).
        weights: of the frames, shape (N,).
        smoothing: w.
        scale: c of the Huber loss [m]; infinite for squares.
        free: share of the residuals along the path that does not count, (4): 0 where q is known.
    """

    knots: CurveKnots
    D: Array
    q: Array
    U: Array
    weights: Array
    smoothing: float = 0.0
    scale: float = np.inf
    free: float = 0.0
    history: list[CurveStep] = field(default_factory=list)

    def __post_init__(self) -> None:
        k = self.knots.order
        self._order = np.argsort(self.knots.interval(self.q), kind="stable")
        q = self.q[self._order]
        self._interval, self._Bt = self.knots.interval(q), self.knots.cumulative(q, 1)
        self._sorted = self.D[self._order]
        self._triangle = self.U[np.triu_indices(6)]
        rows, columns = np.triu_indices(6 * k)
        first = 6 * self.knots.active[:, :, None] + np.arange(6)  # unknowns of each interval
        unknowns = first.reshape(len(first), 6 * k)
        self._rows, self._columns, self._unknowns = unknowns[:, rows], unknowns[:, columns], unknowns
        if self.smoothing:
            points, w = self.knots.quadrature()
            self._smooth = (
                self.knots.interval(points),
                self.knots.cumulative(points, 2),
                self.smoothing * w[:, None],
            )

    def evaluate(self, G: Array, exact: bool = True) -> tuple[float, Array, Array, Array]:
        """(1), M per interval as upper triangles, g per interval, and |r_k| [m], shape (N,)."""
        k, m = self.knots.order, len(self.knots.left)
        M, g = np.zeros((m, 3 * k * (6 * k + 1))), np.zeros((m, 6 * k))
        size = np.empty(len(self.q))
        kernel, weights = residual_kernel(k, exact), self.weights[self._order]
        inside = ((self.q > self.knots.domain[0]) & (self.q < self.knots.domain[1]))[self._order]
        factors = np.column_stack([weights, np.full(len(weights), self.scale), self.free * inside])
        for a in range(0, len(self.q), CHUNK):
            part = slice(a, a + CHUNK)
            i = self._interval[part]
            r, M_k, g_k = kernel(
                G[self.knots.active[i]].reshape(len(i), -1),
                self._Bt[part],
                self._sorted[part],
                self._triangle,
                factors[part],
            )
            size[self._order[part]] = np.sqrt(np.einsum("ni,ni->n", r, r))
            _add_by(i, M, M_k, g, g_k)
        x, c = size, self.scale
        cost = float(
            self.weights
            @ np.where(x <= c, x * x, 2 * c * np.minimum(x, 1e150) - c * c if c < np.inf else 0.0)
        )
        if self.smoothing:
            i, Bt, w = self._smooth
            h, M_h, g_h = hessian_kernel(k)(
                G[self.knots.active[i]].reshape(len(i), -1), Bt, self._triangle, w
            )
            _add_by(i, M, M_h, g, g_h)
            cost += float(w[:, 0] @ np.einsum("ni,ni->n", h, h))
        return cost, M, g, size

    def solve(self, M: Array, g: Array) -> Array:
        """u of (1), shape (n, 6)."""
        n = 6 * self.knots.n
        right = np.bincount(self._unknowns.ravel(), g.ravel(), minlength=n)
        if self.knots.closed:
            return self._cyclic(M, np.asarray(right, dtype=float))
        from scipy.linalg import solveh_banded

        width = 6 * self.knots.order
        band = np.bincount(
            ((self._columns - self._rows) * n + self._rows).ravel(), M.ravel(), minlength=width * n
        ).reshape(width, n)
        largest, ridge = band[0].max(), RIDGE
        while True:
            band[0] += ridge * largest
            try:
                return np.asarray(solveh_banded(band, right, lower=True, check_finite=False)).reshape(-1, 6)
            # q in a search may not determine all frames
            except np.linalg.LinAlgError:
                if not ridge < LARGEST_RIDGE:
                    raise
                ridge *= 1e3

    def _cyclic(self, M: Array, right: Array) -> Array:
        from scipy.sparse import coo_matrix, diags
        from scipy.sparse.linalg import splu

        n = len(right)
        rows, columns = self._rows.ravel(), self._columns.ravel()
        half = np.where(rows == columns, 0.5, 1.0) * M.ravel()
        A = coo_matrix((half, (rows, columns)), (n, n)).tocsc()
        A = A + A.T
        A = A + diags(np.full(n, RIDGE * A.diagonal().max()))
        return np.asarray(splu(A.tocsc()).solve(right)).reshape(-1, 6)

    def run(
        self, G: Array, exact: bool = True, iterations: int = ITERATIONS, tolerance: float = TOLERANCE
    ) -> tuple[Array, bool]:
        """Control frames from G (n, 12), and whether the steps became short."""
        method, size = "Gauss-Newton" if exact else "geometric", self.size
        cost, M, g, _ = self.evaluate(G, exact)
        for _ in range(iterations):
            u = self.solve(M, g)
            for _ in range(HALVINGS):
                length = float(np.sqrt(((u @ self.U.T) ** 2).sum(1).max()))
                moved = self.moved(G, u)
                new, M, g, _ = self.evaluate(moved, exact)
                if new <= cost or length <= tolerance * size:
                    break
                u = u / 2
            else:
                return G, False
            self.history.append(CurveStep(method, cost, length))
            fallen, G, cost = cost - new, moved, new
            if length <= tolerance * size:
                return G, True
            if not exact and fallen <= 1e-3 * new:  # Gauss-Newton completes the fit
                return G, True
        return G, False

    @staticmethod
    def moved(G: Array, u: Array) -> Array:
        """Control frames (n, 12) moved by twists (n, 6)."""
        return rows_of_poses(poses_of_rows(G) @ exp_se3(u))

    @property
    def size(self) -> float:
        """Largest distance of a measured frame from the first one [m], in the metric."""
        logs = log_se3(poses_of_rows(self.D[:1]).inverse() @ poses_of_rows(self.D[:: len(self.D) // 500 + 1]))
        return max(float(np.sqrt(((logs @ self.U.T) ** 2).sum(1).max())), 1e-12)

    def undetermined(self) -> int | None:
        """A control frame that the data do not determine without smoothing, or None."""
        B = self.knots.weights(self.q) * np.sqrt(self.weights)[:, None]
        active, n = self.knots.active[self.knots.interval(self.q)], self.knots.n
        A = np.zeros((n, n))
        for a in range(self.knots.order):
            for b in range(self.knots.order):
                np.add.at(A, (active[:, a], active[:, b]), B[:, a] * B[:, b])
        size = np.diag(A).copy()
        for j in range(n):  # Cholesky's pivots, in the band only
            if A[j, j] <= UNDETERMINED * size[j] or size[j] == 0:
                return j
            row = A[j, j + 1 :] / A[j, j]
            near = np.flatnonzero(row)
            A[np.ix_(near + j + 1, near + j + 1)] -= np.outer(row[near], A[j, near + j + 1])
        return None


def start(knots: CurveKnots, D: Array, q: Array) -> Array:
    """Initial control frames (n, 12): measured frames near the Greville abscissae, then one linear fit of
    the logarithms relative to the curve through these."""
    from scipy.sparse import csr_matrix, diags
    from scipy.sparse.linalg import splu

    order = np.argsort(q, kind="stable")
    near = np.searchsorted(q[order], knots.greville)
    both = np.clip(np.stack([near - 1, near]), 0, len(q) - 1)
    pick = np.abs(q[order][both] - knots.greville).argmin(0)
    G = D[order][both[pick, np.arange(knots.n)]]
    X = poses(knots, G, q)
    left = log_se3(X.inverse() @ poses_of_rows(D))
    k = knots.order
    A = csr_matrix(
        (knots.weights(q).ravel(), knots.active[knots.interval(q)].ravel(), np.arange(len(q) + 1) * k),
        (len(q), knots.n),
    )
    N = (A.T @ A).tocsc()
    N = N + diags(np.full(knots.n, 1e-9 * N.diagonal().max()))
    u = splu(N.tocsc()).solve(np.ascontiguousarray(A.T @ left))
    return CurveProblem.moved(G, u)


def poses(knots: CurveKnots, G: Array, q: Array) -> Transform:
    """G(q), from control frames (n, 12)."""
    return poses_of_rows(motion(knots, G, q)[0])


def motion(knots: CurveKnots, G: Array, q: Array) -> Any:
    """G(q) (N, 12), s and ds/dq (N, 6)."""
    return motion_kernel(knots.order)(
        G[knots.active[knots.interval(q)]].reshape(len(q), -1), knots.cumulative(q, 2)
    )


def _add_by(i: Array, M: Array, M_k: Array, g: Array, g_k: Array) -> None:
    """Add blocks to those of their interval; i increases."""
    edges = np.flatnonzero(np.diff(i, prepend=-1))
    M[i[edges]] += np.add.reduceat(M_k, edges, axis=0)
    g[i[edges]] += np.add.reduceat(g_k, edges, axis=0)


# ---- Native kernels of one frame ---------------------------------------------------------------------------


def rows_of_poses(X: Transform) -> Array:
    """Frames as rows of 12 numbers."""
    return np.concatenate([X.R.reshape(*X.p.shape[:-1], 9), X.p], axis=-1)


def poses_of_rows(rows: Array) -> Transform:
    """Frames from rows of 12 numbers."""
    return Transform.unchecked(
        np.ascontiguousarray(rows[..., :9]).reshape(*rows.shape[:-1], 3, 3),
        np.ascontiguousarray(rows[..., 9:]),
    )


@cache
def residual_kernel(k: int, exact: bool = True) -> NativeFunction:
    """Kernel of r for order k: lee2008 (33)-(36).

    Inputs: G (12 k), Bt and its first derivative (2 (k - 1)), D (12), U's upper triangle (21), w (3): weight,
    scale of the Huber loss, share of (4) that is removed. Outputs: r (6), M (3 k (6 k + 1)), g (6 k).
    The weight is multiplied by min(1, scale / |r|).
    """

    def outputs(G: SX, B: SX, D: SX, U: SX, w: SX) -> list[SX]:
        frames = _frames(G, k)
        steps = _steps(frames)
        twists = [log_se3(step) for step in steps]
        X, s, _, after = _curve(frames[0], twists, B, k)
        e = log_se3(X.inverse() @ _pose(D))
        if exact:
            velocities = ca.horzcat(*_velocities(steps, twists, B, after))
            J = -_twist(right_jacobian_inverse_so3)(-e) @ velocities  # (6)
        else:
            weights = ca.vertsplit(-ca.diff(ca.vertcat(1, B[: k - 1], 0)))
            J = ca.horzcat(*[-b * A for b, A in zip(weights, after)])  # (3)
        e, J, s = (_upper(U) @ x for x in (e, J, s))
        along = s / ca.sqrt(ca.sumsqr(s) + 1e-300)
        e_off, J_off = (x - w[2] * along @ (along.T @ x) for x in (e, J))  # (4)
        weight = w[0] * ca.fmin(1.0, w[1] / (ca.norm_2(e) + 1e-300))
        return [e, *_normal(e_off, J_off, weight)]

    inputs = [("G", POSE * k), ("B", 2 * (k - 1)), ("D", POSE), ("U", 21), ("w", 3)]
    sizes = [("r", 6), ("M", 3 * k * (6 * k + 1)), ("g", 6 * k)]
    return _kernel("spline fit", f"residual of order {k}, exact={exact}", inputs, sizes, outputs)


@cache
def hessian_kernel(k: int) -> NativeFunction:
    """Kernel of h for order k: lee2008 (37)-(42).

    Inputs: G (12 k), Bt and its first two derivatives (3 (k - 1)), U's upper triangle (21), weight (1).
    Outputs: h (6), M (3 k (6 k + 1)), g (6 k).
    """

    def outputs(G: SX, B: SX, U: SX, w: SX) -> list[SX]:
        steps = _steps(_frames(G, k))
        z = ca.SX.sym("z", 6, k - 1)
        _, _, ds, _ = _curve(Transform.unchecked(ca.SX.eye(3), ca.SX(3, 1)), ca.horzsplit(z), B, k)
        of = ca.Function("ds", [z, B], [ds, ca.jacobian(ds, ca.vec(z))])
        twists = [log_se3(step) for step in steps]
        e, by_z = of(ca.horzcat(*twists), B)
        J = [ca.SX(6, 6)] * k
        for l, part in enumerate(ca.horzsplit(by_z, 6)):
            part = part @ _twist(right_jacobian_inverse_so3)(twists[l])
            J[l], J[l + 1] = J[l] - part @ _Ad_inverse(steps[l]), J[l + 1] + part  # (5)
        e, by_u = _upper(U) @ e, _upper(U) @ ca.horzcat(*J)
        return [e, *_normal(e, by_u, w)]

    inputs = [("G", POSE * k), ("B", 3 * (k - 1)), ("U", 21), ("w", 1)]
    sizes = [("h", 6), ("M", 3 * k * (6 * k + 1)), ("g", 6 * k)]
    return _kernel("spline smoothing", f"Hessian of order {k}", inputs, sizes, outputs)


@cache
def motion_kernel(k: int) -> NativeFunction:
    """G(q) (12), s (6) and ds/dq (6) from G (12 k) and Bt with its first two derivatives (3 (k - 1))."""

    def outputs(G: SX, B: SX) -> list[SX]:
        frames = _frames(G, k)
        X, s, ds, _ = _curve(frames[0], [log_se3(step) for step in _steps(frames)], B, k)
        return [ca.vertcat(ca.vec(X.R.T), X.p), s, ds]

    inputs, sizes = [("G", POSE * k), ("B", 3 * (k - 1))], [("X", POSE), ("s", 6), ("ds", 6)]
    return _kernel("spline motion", f"motion of order {k}", inputs, sizes, outputs)


Sizes = list[tuple[str, int]]


def _kernel(
    name: str, key: str, inputs: Sizes, sizes: Sizes, outputs: Callable[..., list[SX]]
) -> NativeFunction:
    """Native code of outputs(*inputs), cached on disk by its key."""

    def build() -> ca.Function:
        symbols = [ca.SX.sym(*each) for each in inputs]
        return ca.Function("kernel", symbols, outputs(*symbols), {"cse": True})

    return NativeFunction(name, build, key=f"spline fit: {key}", inputs=inputs, outputs=sizes)


def _velocities(steps: list[Transform], twists: list[SX], B: SX, after: list[SX]) -> list[SX]:
    """Velocity of G(q) by the velocity of each control frame, (6, 6) each: (5), (6)."""
    jacobian, inverse = _twist(right_jacobian_so3), _twist(right_jacobian_inverse_so3)
    out = [after[0], *[ca.SX(6, 6)] * len(steps)]
    for l, (step, z) in enumerate(zip(steps, twists)):
        part = after[l + 1] @ (B[l] * jacobian(z * B[l]) @ inverse(z))
        out[l], out[l + 1] = out[l] - part @ _Ad_inverse(step), out[l + 1] + part
    return out


def _twist(of: Callable[[SX], SX]) -> ca.Function:
    """The extension of `of` from rotations to twists: [A, 0; B, A], with A = of(w) and B its derivative
    along v."""
    w, v = ca.SX.sym("w", 3), ca.SX.sym("v", 3)
    A = of(w)
    B = ca.reshape(ca.jtimes(ca.vec(A), w, v), 3, 3)
    return ca.Function(
        "twist", [ca.vertcat(w, v)], [ca.vertcat(ca.horzcat(A, ca.SX(3, 3)), ca.horzcat(B, A))]
    )


def _pose(c: SX) -> Transform:
    return Transform.unchecked(ca.reshape(c[:9], 3, 3).T, c[9:12])


def _frames(G: SX, k: int) -> list[Transform]:
    return [_pose(G[POSE * j : POSE * (j + 1)]) for j in range(k)]


def _steps(G: list[Transform]) -> list[Transform]:
    """The transforms from each control frame to the next."""
    return [a.inverse() @ b for a, b in pairwise(G)]


def _curve(first: Transform, twists: list[SX], B: SX, k: int) -> tuple[Transform, SX, SX, list[SX]]:
    """G(q), s, ds/dq by lee2008 (24), (29), (31), and Ad^-1 of the exponentials after each control frame.

    Derivatives that are not in B are taken as zero."""
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


def _Ad_inverse(X: Transform) -> SX:
    """Ad of X^-1, shape (6, 6)."""
    R_T = X.R.T
    return ca.vertcat(ca.horzcat(R_T, ca.SX(3, 3)), ca.horzcat(-R_T @ ca.skew(X.p), R_T))


def _ad(a: SX, b: SX) -> SX:
    """The Lie bracket of two twists, lee2008 (4)."""
    return ca.vertcat(ca.cross(a[:3], b[:3]), ca.cross(a[3:], b[:3]) + ca.cross(a[:3], b[3:]))


def _upper(U: SX) -> SX:
    """The matrix U (6, 6) from its upper triangle, row by row."""
    out = ca.SX(6, 6)
    for value, i, j in zip(ca.vertsplit(U), *np.triu_indices(6)):
        out[int(i), int(j)] = value
    return out


def _normal(e: SX, J: SX, weight: SX) -> tuple[SX, SX]:
    """M and g of (2)."""
    weighted = weight * J
    columns, scaled = ca.horzsplit(J), ca.horzsplit(weighted)
    M = [ca.dot(columns[i], scaled[j]) for i, j in zip(*np.triu_indices(len(columns)))]
    return ca.vertcat(*M), -(weighted.T @ e)
