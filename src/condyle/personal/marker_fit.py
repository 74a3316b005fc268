"""Sizes of bodies, places of markers and all poses at once: Gauss-Newton, poses eliminated frame by frame.

With R_t, p_t the pose of a marker's body at q_t, s = exp(theta) the sizes, r its station in the generic model,
d how far it sits from there and y where it was seen, in the axes of its body,

    e_tm = R' (y_tm - p(q_t, s)) - s o r_m - d_m                                                          (1)
    J = 1/2 sum_t c_t sum_m rho(|e_tm|^2 / sd^2) + 1/2 |theta - mu|^2_C + 1/2 sum_m |d_m|^2 / sd_m^2
        + 1/2 sum_t |q_t - q_0|^2_Q                                                                       (2)
    subject to   g(q_t, s) = 0   in each frame: loops and couplers                                        (3)

c_t is the number of independent observations that a frame stands for: skin moves slowly, so that the frames of
a trial count as 20 at most. rho is |e|^2 / sd^2, or in the last steps Student's t with 5 degrees of freedom,
which lets single markers slip. With A = de/du, B = de/dtheta, de/dd = -1 and G u + G_theta theta + g = 0
the linear (3), steps of a frame are

    du = Z y - G+ (g + G_theta dtheta),   Z the null space of G                                           (4)

so A Z takes the place of A, B - A G+ G_theta that of B and e - A G+ g that of e. The normal matrix is an arrow
with blocks H_t of the frames and a border of (theta, d), whose Schur complement is

    S = D - sum_t E_t' H_t^-1 E_t                                                                         (5)

S^-1 is the covariance of sizes and offsets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.personal.sized_system import SizedSystem, stations
from condyle.records import dataclass

STUDENT = 5.0
"""Degrees of freedom of errors of markers."""
NOISE, KNOWN, LEAST, MOST = 0.007, 30.0, 0.002, 0.02
"""Skin motion along an axis before it is known [m], worth so many observations; and its range."""


def cross(v: Array) -> Array:
    """[v]x, shape (..., 3, 3)."""
    out = np.zeros((*v.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    return out - np.swapaxes(out, -1, -2)


@dataclass(eq=False)
class Fit:
    """What was found.

    Attributes:
        q: poses, shape (T, nq).
        theta: logarithms of the sizes, shape (n,).
        d: how far markers sit from where the model has them, in the axes of their bodies [m], shape (M, 3).
        covariance: of (theta, d), shape (n + 3 M, n + 3 M).
        e: errors (1), shape (T, M, 3), zero where a marker is missing.
        sd: skin motion along an axis [m].
        iterations: how many steps it took.
        converged: whether the last step was small.
    """

    q: Array
    theta: Array
    d: Array
    covariance: Array
    e: Array
    sd: float
    iterations: int
    converged: bool


class MarkerFit:
    """Problem (1)-(3) of one subject.

    Args:
        sized: the system.
        markers: names, M.
        y: where they were seen [m], shape (T, M, 3), NaN where they were not.
        share: c_t, shape (T,).
        theta: mu (n,) and C (n, n) of (2).
        offsets: sd_m [m], shape (M,).
        q: mean and standard deviation of coordinates, shapes (T, nq); infinite: no prior.
        free: which speeds take part, shape (nu,).
    """

    def __init__(
        self,
        sized: SizedSystem,
        markers: list[str],
        y: Array,
        share: Array,
        theta: tuple[Array, Array],
        offsets: Array,
        q: tuple[Array, Array],
        free: Array,
    ) -> None:
        self.sized, self.system, self.markers = sized, sized.system, markers
        self.r, self.body, self.size = stations(sized, markers)
        self.seen = np.isfinite(y).all(axis=-1)
        self.y = np.where(self.seen[..., None], y, 0.0)
        self.share, self.mean, self.precision = share, theta[0], np.linalg.inv(theta[1])
        self.d_precision = np.repeat(1 / offsets**2, 3)
        self.q_mean, self.q_precision = q[0], np.where(np.isfinite(q[1]), 1 / q[1] ** 2, 0.0)
        self.free, self.sd, self.student = free, NOISE, False
        self.bodies, self.at = np.unique(self.body, return_inverse=True)
        self.used = [k for k, n in enumerate(sized.sizes) if n in self.system.parameters]
        order = list(self.system.parameters)
        self.columns = [order.index(sized.sizes[k]) for k in self.used]
        self.plain = self.system.nq == self.system.nu
        self.constrained = bool(self.system.constraints)

    # ---- errors and their derivatives ----------------------------------------------------------------------

    def errors(self, q: Array, theta: Array, d: Array) -> tuple[Array, Array, Array, Array]:
        """e of (1), (T, M, 3); rotations (T, M, 3, 3); stations s o r + d (M, 3); sizes s."""
        s = np.exp(theta)
        X = self.system.body_poses(q, parameters=self.sized.parameters(s))
        R, p = X.R[:, self.body], X.p[:, self.body]
        station = s[self.size] * self.r + d
        e = np.einsum("tmji,tmj->tmi", R, self.y - p) - station
        return np.where(self.seen[..., None], e, 0.0), R, station, s

    def linear(self, q: Array, theta: Array, d: Array) -> tuple[Array, Array, Array]:
        """e (T, M, 3), A = de/du (T, M, 3, nu) and B = de/dtheta (T, M, 3, n)."""
        e, R, station, s = self.errors(q, theta, d)
        given = self.sized.parameters(s)
        J = self.system.kinematics.system_jacobian(q, parameters=given)[:, self.bodies]
        P = self.system.jacobian("body_poses", q, wrt="parameters", parameters=given)
        P = P.reshape(len(q), -1, 12, P.shape[-1])[:, self.bodies, 9:][..., self.columns]
        Rb = np.swapaxes(self.system.body_poses(q, parameters=given).R[:, self.bodies], -1, -2)
        turned = np.concatenate([Rb[..., None, :, :] @ J.reshape(*J.shape[:2], 2, 3, -1)], axis=0)
        spin, move = turned[..., 0, :, :][:, self.at], turned[..., 1, :, :][:, self.at]
        A = cross(station) @ spin - move
        A[..., ~self.free] = 0.0
        B = np.zeros((*e.shape, len(theta)))
        B[..., self.used] = -(Rb @ P)[:, self.at]
        m = np.arange(len(self.markers))
        for k in range(3):
            B[:, m, k, self.size[:, k]] -= self.r[:, k]
        B *= s
        lost = ~self.seen
        A[lost], B[lost] = 0.0, 0.0
        return e, A, B

    def constraint(self, q: Array, theta: Array) -> tuple[Array, Array, Array]:
        """g (T, m), G (T, m, nu) and G_theta (T, m, n) of the constraints on positions."""
        s = np.exp(theta)
        given, u = self.sized.parameters(s), np.zeros((len(q), self.system.nu))
        g = self.system.constraints.errors(q, u, parameters=given).p
        G = self.system.constraints.jacobian(q, u, parameters=given)[:, : g.shape[-1]]
        G_theta = np.zeros((*g.shape, len(theta)))
        if self.columns:
            P = self.system.jacobian("constraints.errors", q, u, wrt="parameters", parameters=given)
            G_theta[..., self.used] = P[:, : g.shape[-1]][..., self.columns] * s[self.used]
        return g, np.where(self.free, G, 0.0), G_theta

    # ---- cost ----------------------------------------------------------------------------------------------

    def weights(self, e: Array) -> Array:
        """c rho' / sd^2, shape (T, M)."""
        w = self.seen * self.share[:, None] / self.sd**2
        if self.student:
            w = w * (STUDENT + 3) / (STUDENT + (e**2).sum(axis=-1) / self.sd**2)
        return w

    def cost(self, q: Array, theta: Array, d: Array) -> float:
        """(2)."""
        x = (self.errors(q, theta, d)[0] ** 2).sum(axis=-1) / self.sd**2
        rho = (STUDENT + 3) * np.log1p(x / STUDENT) if self.student else x
        dt, dq = theta - self.mean, q - self.q_mean
        total = (self.share[:, None] * rho).sum() + dt @ self.precision @ dt
        total += (self.d_precision * d.ravel() ** 2).sum() + (self.q_precision * dq**2).sum()
        if self.constrained:
            u = np.zeros((len(q), self.system.nu))
            given = self.sized.parameters(np.exp(theta))
            total += 1e6 * (self.system.constraints.errors(q, u, parameters=given).p ** 2).sum()
        return 0.5 * float(total)

    # ---- steps ---------------------------------------------------------------------------------------------

    def step(self, q: Array, theta: Array, d: Array, damping: float) -> tuple[Array, Array, Array, Array, Array]:
        """du (T, nu), dtheta (n,), dd (M, 3), the Schur complement (5) and the step's right side by frame."""
        e, A, B = self.linear(q, theta, d)
        T, M, _, n = A.shape
        ns, N = len(theta), 3 * M
        w = np.repeat(self.weights(e), 3, axis=1)
        e, A, B = e.reshape(T, N), A.reshape(T, N, n), B.reshape(T, N, ns)
        Q = np.where(self.free, self.q_precision, 0.0) if self.plain else np.zeros((T, n))
        dq = (q - self.q_mean) if self.plain else np.zeros((T, n))
        shift = slope = None
        if self.constrained:
            g, G, G_theta = self.constraint(q, theta)
            Z, pinv = _null_space(G)
            shift, slope = -(pinv @ g[..., None])[..., 0], -pinv @ G_theta  # (4)
            e, B = e + (A @ shift[..., None])[..., 0], B + A @ slope
            A = A @ Z
        AW = np.swapaxes(A, 1, 2) * w[:, None]
        H = AW @ A
        grad = np.einsum("tij,tj->ti", AW, e)
        E = np.concatenate([AW @ B, -AW], axis=2)
        if shift is None:
            i = np.arange(n)
            H[:, i, i] += Q + damping + np.where(self.free, 0.0, 1.0)
            grad += Q * dq
        else:
            ZQ = np.swapaxes(Z, 1, 2) * (Q + damping + np.where(self.free, 0.0, 1.0))[:, None]
            H += ZQ @ Z
            grad += np.einsum("tij,tj->ti", ZQ, np.where(Q > 0, dq, 0.0) + shift)
            E[..., :ns] += ZQ @ slope
        BW = B * w[..., None]
        D = np.zeros((ns + N, ns + N))
        D[:ns, :ns] = np.tensordot(BW, B, axes=((0, 1), (0, 1))) + self.precision
        D[:ns, ns:] = -BW.sum(axis=0).T
        D[ns:, :ns] = D[:ns, ns:].T
        k = ns + np.arange(N)
        D[k, k] = w.sum(axis=0) + self.d_precision
        right = np.concatenate(
            [
                np.einsum("tki,tk->i", BW, e) + self.precision @ (theta - self.mean),
                -(w * e).sum(axis=0) + self.d_precision * d.ravel(),
            ]
        )
        L = np.linalg.cholesky(H)
        X = np.linalg.solve(L, np.concatenate([E, grad[..., None]], axis=2))
        flat = X.reshape(-1, X.shape[-1])
        SS = flat.T @ flat
        S = D - SS[:-1, :-1]  # (5)
        x = -np.linalg.solve(S, right - SS[:-1, -1])
        y = -np.linalg.solve(np.swapaxes(L, 1, 2), (X[..., -1] + X[..., :-1] @ x)[..., None])[..., 0]
        du = y if shift is None else (Z @ y[..., None])[..., 0] + shift + slope @ x[:ns]
        return np.where(self.free, du, 0.0), x[:ns], x[ns:].reshape(M, 3), S, e.reshape(T, M, 3)

    def moved(self, q: Array, du: Array, given: dict[str, float]) -> Array:
        """q after a step du of the speeds, quaternions of length 1."""
        if self.plain:
            return q + du
        q = q + self.system.qdot(q, du, parameters=given)
        for b in self.system.bodies:
            for part in b.mobilizer.quaternions:
                at = slice(b.q.start + part.start, b.q.start + part.stop)
                q[:, at] /= np.linalg.norm(q[:, at], axis=1, keepdims=True)
        return q

    def noise(self, e: Array) -> float:
        """Skin motion from what is left of the errors [m], with a weak prior."""
        w = self.share[:, None] * self.seen
        if self.student:
            w = w * (STUDENT + 3) / (STUDENT + (e**2).sum(axis=-1) / self.sd**2)
        left = (w * (e**2).sum(axis=-1)).sum()
        count = (self.share * np.maximum(3.0 * self.seen.sum(axis=1) - self.free.sum(), 1.0)).sum()
        return float(np.clip(np.sqrt((left + KNOWN * NOISE**2) / (count + KNOWN)), LEAST, MOST))

    def solve(self, q: Array, iterations: int = 40, tolerance: float = 1e-4, robust: bool = True) -> Fit:
        """Gauss-Newton steps from poses q (T, nq) and the sizes of the prior, least squares first, then
        Student's t, then the skin motion by what is left."""
        theta, d = self.mean.copy(), np.zeros_like(self.r)
        damping, done, k, S = 1e-3, False, 0, np.eye(0)
        stages: list[Any] = ["least squares", *["robust"] * robust, "last"]
        stage = stages.pop(0)
        cost = self.cost(q, theta, d)
        while k < iterations:
            k += 1
            du, dtheta, dd, S, _ = self.step(q, theta, d, damping)
            length = 1.0
            while length > 1e-3:
                new_theta, new_d = theta + length * dtheta, d + length * dd
                new_q = self.moved(q, length * du, self.sized.parameters(np.exp(new_theta)))
                c = self.cost(new_q, new_theta, new_d)
                if c <= cost * (1 + 1e-12):
                    break
                length /= 2
            else:
                damping *= 10
                if damping > 1e6:
                    break
                continue
            drop, cost = cost - c, c
            q, theta, d, damping = new_q, new_theta, new_d, max(damping / 10, 1e-9)
            if drop < tolerance * max(cost, 1.0):
                if not stages:
                    done = True
                    break
                stage = stages.pop(0)
                self.student = self.student or stage == "robust"
                self.sd = self.noise(self.errors(q, theta, d)[0])
                cost = self.cost(q, theta, d)
        covariance = np.linalg.inv(self.step(q, theta, d, 0.0)[3])
        e = self.errors(q, theta, d)[0]
        return Fit(q, theta, d, (covariance + covariance.T) / 2, e, self.sd, k, done)


def _null_space(G: Array) -> tuple[Array, Array]:
    """Z (T, nu, nu - r), orthonormal, and the pseudoinverse (T, nu, m), of the rank that most frames have."""
    U, S, Vt = np.linalg.svd(G, full_matrices=True)
    rank = int(np.median((S > 1e-8 * np.maximum(S[:, :1], 1e-300)).sum(axis=1)))
    inverse = np.zeros_like(S)
    inverse[:, :rank] = 1 / np.maximum(S[:, :rank], 1e-12)
    V = np.swapaxes(Vt, 1, 2)
    pinv = (V[:, :, : S.shape[1]] * inverse[:, None]) @ np.swapaxes(U, 1, 2)[:, : S.shape[1]]
    return V[:, :, rank:], pinv
