"""Segment sizes, marker positions and all poses at once: Gauss-Newton, with poses eliminated frame by frame.

With R_t, p_t the pose of a marker's body at q_t, s = exp(theta) the sizes, r its station in the generic model,
d how far it sits from there and y where it was seen, in the axes of its body,

    e_tm = R' (y_tm - p(q_t, s)) - s o r_m - d_m                                                          (1)
    J = 1/2 sum_t c_t sum_m |e_tm|^2 / sd^2 + 1/2 |theta - mu|^2_C + 1/2 sum_m |d_m|^2 / sd_m^2
        + 1/2 sum_t |q_t - q_0|^2_Q + sum_t sum_j nu/2 log(1 + x_tj^2 / (nu sd_x^2))                      (2)
    subject to   g(q_t, s) = 0   in each frame: loops and couplers                                        (3)

x is how far an angle is beyond the range of its coordinate: ranges of models are rough, hence long tails. c_t is
the number of independent observations per frame: skin moves slowly and similarly in every step, so the frames of
a trial count as 6 at most. sd is estimated from residual errors, also for each marker
(`own_noise`); when all frames are solved, markers of a body have a common error too (`together`, its variance
relative to that of each marker); sd_m grows for clusters that are far away (`held`). With A = de/du, B = de/dtheta,
de/dd = -1 and G u + G_theta theta + g = 0 the linear (3), steps of a frame are

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

NOISE, KNOWN, LEAST, MOST = 0.01, 30.0, 0.002, 0.01
"""Prior skin motion along an axis [m], its weight in observations, and its limits, from measurements with
bone pins and fluoroscopy.
"""
UNSEEN = 2.5
"""Skin motion divided by the residual of a rigid-body fit: markers of a segment mostly move together, which
no fit shows; deformation is the smaller part (Barre et al. 2013, IEEE Trans Biomed Eng 60; Grimpampi et al.
2014, IEEE Trans Biomed Eng 61).
"""
ALIKE = (0.7, 1.5)
"""Limits of a marker's skin motion relative to that of all: larger errors indicate a missing joint."""
TAILS, LOOSELY = 3.0, 0.02
"""Degrees of freedom of Student's t for positions with a standard deviation of at least LOOSELY [m]."""
TOLERANCE = 1e-4
"""Relative decrease of the cost below which a step is the last."""
CHUNK = 400
"""Frames solved at once."""
BEYOND, RARE = np.radians(5.0), 3.0
"""Standard deviation of angles beyond the range of a coordinate [rad], and degrees of freedom of the tails: ranges of
models are rough, so what markers show well goes beyond them."""
FEWEST = 16
"""Minimum number of frames solved at once: fewer would need other machine code."""


def enough(rows: Any) -> Any:
    """The rows, repeated from the first until there are FEWEST."""
    return np.resize(rows, max(len(rows), FEWEST))


def cross(v: Array) -> Array:
    """[v]x, shape (..., 3, 3)."""
    out = np.zeros((*v.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    return out - np.swapaxes(out, -1, -2)


@dataclass(eq=False)
class Fit:
    """Result of the fit.

    Attributes:
        q: poses, shape (T, nq).
        theta: logarithms of the sizes, shape (n,).
        d: how far markers sit from where the model has them, in the axes of their bodies [m], shape (M, 3).
        covariance: of (theta, d), shape (n + 3 M, n + 3 M).
        e: errors (1), shape (T, M, 3), zero where a marker is missing.
        sd: skin motion along an axis [m].
        iterations: number of steps.
        converged: whether the last step was small.
        skin: variance of the common motion of a segment's markers relative to that of each marker, correlation time of
            skin motion [s], camera noise [m], displacement in a static trial [m]; () before `SkinFit`.
    """

    q: Array
    theta: Array
    d: Array
    covariance: Array
    e: Array
    sd: float
    iterations: int
    converged: bool
    skin: tuple[float, ...] = ()


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
        limits: least and largest coordinates, shapes (nq,), beyond which poses are rare; None: no limits.
        pose_share: how often the priors of a pose count, shape (T,); None: once.
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
        free: Any,
        limits: tuple[Array, Array] | None = None,
        pose_share: Array | None = None,
    ) -> None:
        self.sized, self.system, self.markers = sized, sized.system, markers
        self.r, self.body, self.size = stations(sized, markers)
        seen: Any = np.isfinite(y).all(axis=-1)
        self.seen = seen
        self.y = np.where(seen[..., None], y, 0.0)
        self.share, self.mean, self.precision = share, theta[0], np.linalg.inv(theta[1])
        self.offsets, self.d_precision = offsets, np.repeat(1 / offsets**2, 3)
        self.q_mean, self.q_precision = q[0], np.where(np.isfinite(q[1]), 1 / q[1] ** 2, 0.0)
        nowhere = np.full(self.system.nq, np.inf)
        self.limits = (
            limits if limits is not None and self.system.nq == self.system.nu else (-nowhere, nowhere)
        )
        self.pose_share = np.ones(len(y)) if pose_share is None else pose_share
        self.free, self.sd, self.own, self.together = free, NOISE, np.ones(len(markers)), 0.0
        self.bodies, self.at = np.unique(self.body, return_inverse=True)
        self.used = [k for k, n in enumerate(sized.sizes) if n in self.system.parameters]
        order = list(self.system.parameters)
        self.columns = [order.index(sized.sizes[k]) for k in self.used]
        self.defaults = self.system.state().parameters
        self.plain = self.system.nq == self.system.nu
        self.constrained = bool(self.system.constraints)

    def frames(self, rows: Any) -> MarkerFit:
        """The problem for some frames."""
        part = object.__new__(MarkerFit)
        vars(part).update(vars(self))
        for name in ("y", "seen", "share", "q_mean", "q_precision", "pose_share"):
            setattr(part, name, getattr(self, name)[rows])
        return part

    def given(self, theta: Array) -> Array:
        """Values of the system's Parameters as an array, which is faster than by name."""
        out = np.array(self.defaults, dtype=float)
        out[self.columns] = np.exp(theta)[self.used]
        return out

    # ---- errors and their derivatives ----------------------------------------------------------------------

    def errors(self, q: Array, theta: Array, d: Array) -> tuple[Array, Array, Array, Array]:
        """e of (1), (T, M, 3); rotations (T, M, 3, 3); stations s o r + d (M, 3); sizes s."""
        s = np.exp(theta)
        X = self.system.body_poses(q, parameters=self.given(theta))
        R, p = X.R[:, self.body], X.p[:, self.body]
        station = s[self.size] * self.r + d
        e = np.einsum("tmji,tmj->tmi", R, self.y - p) - station
        return np.where(self.seen[..., None], e, 0.0), R, station, s

    def linear(self, q: Array, theta: Array, d: Array) -> tuple[Array, Array, Array]:
        """e (T, M, 3), A = de/du (T, M, 3, nu) and B = de/dtheta (T, M, 3, n)."""
        e, _, station, s = self.errors(q, theta, d)
        given = self.given(theta)
        J = self.system.kinematics.system_jacobian(q, parameters=given)[:, self.bodies]
        P = self.system.jacobian("body_poses", q, wrt="parameters", parameters=given)
        P = P.reshape(len(q), -1, 12, P.shape[-1])[:, self.bodies, 9:][..., self.columns]
        Rb = np.swapaxes(self.system.body_poses(q, parameters=given).R[:, self.bodies], -1, -2)
        turned = np.concatenate([Rb[..., None, :, :] @ J.reshape(*J.shape[:2], 2, 3, -1)], axis=0)
        spin, move = turned[..., 0, :, :][:, self.at], turned[..., 1, :, :][:, self.at]
        A = cross(station + e) @ spin - move  # d R'(y - p) = [R'(y - p)]x R' dw - R' dp
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

    def constraint(self, q: Array, theta: Array) -> tuple[Array, Array]:
        """g (T, m) and G (T, m, nu) of the constraints on positions."""
        given, u = self.given(theta), np.zeros((len(q), self.system.nu))
        g = self.system.constraints.errors(q, u, parameters=given)[0]
        G = self.system.constraints.jacobian(q, u, parameters=given)[:, : g.shape[-1]]
        return g, np.where(self.free, G, 0.0)

    def constraint_by_sizes(self, q: Array, theta: Array, m: int) -> Array:
        """G_theta (T, m, n)."""
        s = np.exp(theta)
        given, u = self.given(theta), np.zeros((len(q), self.system.nu))
        G_theta = np.zeros((len(q), m, len(theta)))
        if self.columns:
            P = self.system.jacobian("constraints.errors", q, u, wrt="parameters", parameters=given)
            G_theta[..., self.used] = P[:, :m][..., self.columns] * s[self.used]
        return G_theta

    # ---- cost ----------------------------------------------------------------------------------------------

    def cost(self, q: Array, theta: Array, d: Array) -> float:
        """(2)."""
        return float(self.frame_costs(q, theta, d).sum()) + self.prior_cost(theta, d)

    def prior_cost(self, theta: Array, d: Array) -> float:
        """The part of sizes and offsets of (2)."""
        dt = theta - self.mean
        return 0.5 * float(dt @ self.precision @ dt + (self.d_precision * d.ravel() ** 2).sum())

    def pose_costs(self, q: Array, theta: Array) -> Array:
        """The part of the priors of poses, shape (T,); violated constraints cost much."""
        total = (self.q_precision * (q - self.q_mean) ** 2).sum(axis=1)
        total += self.pose_share * RARE * np.log1p((self.beyond(q) / BEYOND) ** 2 / RARE).sum(axis=1)
        if self.constrained:
            u, given = np.zeros((len(q), self.system.nu)), self.given(theta)
            total += 1e6 * (self.system.constraints.errors(q, u, parameters=given)[0] ** 2).sum(axis=1)
        return 0.5 * total

    def frame_costs(self, q: Array, theta: Array, d: Array) -> Array:
        """Contribution of each frame to (2), shape (T,)."""
        e = self.errors(q, theta, d)[0]
        square = (e**2).sum(axis=2) @ (1 / self.own**2)
        if self.together:  # (D + k 1 1')^-1 = D^-1 - k D^-1 1 1' D^-1 / (1 + k 1' D^-1 1)
            of_body = self.of_body()
            mass = (self.seen / self.own**2) @ of_body.T
            first = np.einsum("bm,tmi->tbi", of_body / self.own**2, e)
            square -= ((first**2).sum(axis=2) * self.together / (1 + self.together * mass)).sum(axis=1)
        return 0.5 * self.share * square / self.sd**2 + self.pose_costs(q, theta)

    # ---- steps ---------------------------------------------------------------------------------------------

    def reduced(self, q: Array, theta: Array, d: Array) -> tuple[Any, ...]:
        """e (T, 3 M), A (T, 3 M, k), B (T, 3 M, n) after (4), and how y becomes du: Z, shift, slope; Nones without
        constraints."""
        e, A, B = self.linear(q, theta, d)
        T, M, _, n = A.shape
        e, A, B = e.reshape(T, 3 * M), A.reshape(T, 3 * M, n), B.reshape(T, 3 * M, -1)
        if not self.constrained:
            return e, A, B, None, None, None
        g, G = self.constraint(q, theta)
        G_theta = self.constraint_by_sizes(q, theta, g.shape[-1])
        Z, pinv = _null_space(G)
        shift, slope = -(pinv @ g[..., None])[..., 0], -pinv @ G_theta  # (4)
        return e + (A @ shift[..., None])[..., 0], A @ Z, B + A @ slope, Z, shift, slope

    def beyond(self, q: Array) -> Array:
        """How far coordinates (T, nq) are beyond their limits, with sign."""
        return q - np.clip(q, *self.limits)  # type: ignore[no-any-return]

    def pose_prior(self, q: Array, damping: Any, Z: Any, shift: Any, slope: Any) -> tuple[Any, Any, Any]:
        """Contribution of pose priors to H (T, k, k), its gradient (T, k) and E (T, k, n)."""
        grad, held = self.pose_weights(q, damping)
        T, n = held.shape
        if Z is None:
            H, i = np.zeros((T, n, n)), np.arange(n)
            H[:, i, i] = held
            return H, grad, np.zeros((T, n, len(self.mean)))
        Zt = np.swapaxes(Z, 1, 2)
        ZQ = Zt * held[:, None]
        return ZQ @ Z, (Zt @ (grad + held * shift)[..., None])[..., 0], ZQ @ slope

    def pose_weights(self, q: Array, damping: Any) -> tuple[Array, Array]:
        """Gradient of the priors of poses, and their weights with the damping, shapes (T, nu)."""
        held = (
            np.zeros((len(q), len(self.free))) + np.reshape(damping, (-1, 1)) + np.where(self.free, 1e-6, 1.0)
        )
        if not self.plain:
            return np.zeros_like(held), held
        far, Q = self.beyond(q), np.where(self.free, self.q_precision, 0.0)
        rare = self.pose_share[:, None] * self.free / (BEYOND**2 + far**2 / RARE) * (far != 0)
        return np.where(Q > 0, Q * (q - self.q_mean), 0.0) + rare * far, held + Q + rare

    def border_prior(self, theta: Array, d: Array) -> tuple[Array, Array]:
        """Contribution of priors of sizes and offsets to D, and its gradient."""
        ns, N = len(theta), d.size
        D, k = np.zeros((ns + N, ns + N)), ns + np.arange(N)
        D[:ns, :ns], D[k, k] = self.precision, self.d_precision
        return D, np.concatenate([self.precision @ (theta - self.mean), self.d_precision * d.ravel()])

    def blocks(self, q: Array, theta: Array, d: Array, damping: Any) -> tuple[Any, ...]:
        """Weights (T, 3 M), e (T, 3 M), A W (T, k, 3 M), B (T, 3 M, n), H (T, k, k), its gradient (T, k), E's part of
        theta (T, k, n), and Z, shift, slope of `reduced`."""
        e, A, B, Z, shift, slope = self.reduced(q, theta, d)
        w = np.repeat(self.seen * self.share[:, None] / (self.sd * self.own) ** 2, 3, axis=1)
        AW = np.swapaxes(A, 1, 2) * w[:, None]
        H, grad, E = self.pose_prior(q, damping, Z, shift, slope)
        return w, e, AW, B, H + AW @ A, grad + (AW @ e[..., None])[..., 0], E + AW @ B, Z, shift, slope

    def of_body(self) -> Array:
        """1 where a marker is on a body, shape (bodies, M)."""
        return (self.at == np.arange(len(self.bodies))[:, None]).astype(float)

    def pose_blocks(self, q: Array, theta: Array, d: Array, damping: Any) -> tuple[Any, ...]:
        """H (T, k, k) and its gradient (T, k) of `blocks`, and Z, shift of `reduced`: all that known sizes ask for.

        Markers of a body move with it, and J is its Jacobian: with x = y - p and f = R e, both along the axes of ground,
        R A = [x]x J_w - J_v, so that A' W A of a body is J' K J, where K is the inertia of points of mass w at x.
        """
        e, R, station, _ = self.errors(q, theta, d)
        T, n = len(q), len(self.free)
        w = (self.seen * self.share[:, None] / (self.sd * self.own) ** 2)[..., None]
        x, f = np.einsum("tmij,tmj->tmi", R, station + e), w * np.einsum("tmij,tmj->tmi", R, e)
        square = (w * x)[..., :, None] * x[..., None, :]
        each = np.concatenate([w, w * x, square.reshape(*x.shape[:2], 9), np.cross(x, f), f], axis=-1)
        mass, first, second, moment = np.split(self.of_body() @ each, (1, 4, 13), axis=-1)
        second, eye = second.reshape(T, -1, 3, 3), np.eye(3)
        K = np.empty((*mass.shape[:2], 6, 6))
        K[..., :3, :3] = np.trace(second, axis1=-2, axis2=-1)[..., None, None] * eye - second
        K[..., :3, 3:] = cross(first)
        K[..., 3:, :3] = -K[..., :3, 3:]
        K[..., 3:, 3:] = mass[..., None] * eye
        if self.together:
            c = self.together * self.sd**2 / self.share[:, None, None]
            c, P = c / (1 + c * mass), K[..., 3:, :]  # P: momentum of the points, 1' D^-1 A
            Pt = c[..., None] * np.swapaxes(P, -1, -2)
            K, moment = K - Pt @ P, moment - (Pt @ moment[..., 3:, None])[..., 0]
        J = self.system.kinematics.system_jacobian(q, parameters=self.given(theta))[:, self.bodies]
        J[..., ~self.free] = 0.0
        flat = np.swapaxes(J.reshape(T, -1, n), 1, 2)
        H = flat @ (K @ J).reshape(T, -1, n)
        grad = -(flat @ moment.reshape(T, -1, 1))[..., 0]
        prior, held = self.pose_weights(q, damping)
        H[:, np.arange(n), np.arange(n)] += held
        if not self.constrained:
            return H, grad + prior, None, None
        g, G = self.constraint(q, theta)
        Z, pinv = _null_space(G)
        shift = -(pinv @ g[..., None])[..., 0]
        Zt = np.swapaxes(Z, 1, 2)
        grad = grad + prior + (H @ shift[..., None])[..., 0]
        return Zt @ (H @ Z), (Zt @ grad[..., None])[..., 0], Z, shift

    def step(self, q: Array, theta: Array, d: Array, damping: float) -> tuple[Array, Array, Array, Array]:
        """du (T, nu), dtheta (n,), dd (M, 3) and the Schur complement (5)."""
        w, e, AW, B, H, grad, E, Z, shift, slope = self.blocks(q, theta, d, damping)
        ns, N = len(theta), w.shape[1]
        BW = B * w[..., None]
        D, right = self.border_prior(theta, d)
        D[:ns, :ns] += np.tensordot(BW, B, axes=((0, 1), (0, 1)))
        D[:ns, ns:] -= BW.sum(axis=0).T
        D[ns:, :ns] = D[:ns, ns:].T
        k = ns + np.arange(N)
        D[k, k] += w.sum(axis=0)
        right += np.concatenate([np.einsum("tki,tk->i", BW, e), -(w * e).sum(axis=0)])
        L = np.linalg.cholesky(H)
        X = np.linalg.inv(L) @ np.concatenate([E, -AW, grad[..., None]], axis=2)
        flat = X.reshape(-1, X.shape[-1])
        SS = flat.T @ flat
        S = D - SS[:-1, :-1]  # (5)
        x = -np.linalg.solve(S, right - SS[:-1, -1])
        y = -np.linalg.solve(np.swapaxes(L, 1, 2), (X[..., -1] + X[..., :-1] @ x)[..., None])[..., 0]
        du = y if Z is None else (Z @ y[..., None])[..., 0] + shift + slope @ x[:ns]
        return np.where(self.free, du, 0.0), x[:ns], x[ns:].reshape(-1, 3), S

    def alone(self, rows: Any, fit: Fit) -> tuple[float, float]:
        """Overall size according to some frames alone: relative difference and its standard deviation, from
        one linear step with the marker positions of the others.
        """
        part = self.frames(rows)
        w, e, _, B, H, grad, E, *_ = part.blocks(fit.q[rows], fit.theta, fit.d, 1e-9)
        whole = np.ones(len(fit.theta))
        b, x = B @ whole, E @ whole
        y = np.linalg.solve(H, np.stack([x, grad], axis=2))
        S = float((w * b**2).sum() - (x * y[..., 0]).sum())
        right = float((w * b * e).sum() - (x * y[..., 1]).sum())
        return -right / S, 1 / np.sqrt(S)

    def follow(self, q: Array, theta: Array, d: Array, iterations: int = 30) -> tuple[Array, Array]:
        """Poses of all frames for known sizes and marker positions, each frame independently, from q (T, nq);
        and standard deviations of the coordinates over those of the prior, shape (T, nq), 1 where markers
        have no effect.
        """
        q, cost = q.copy(), self.frame_costs(q, theta, d)
        damping = np.full(len(q), 1e-3)
        active = np.ones(len(q), dtype=bool)
        for _ in range(iterations):
            if not active.any():
                break
            at = enough(np.flatnonzero(active))
            part = self.frames(at)
            H, grad, Z, shift = part.pose_blocks(q[at], theta, d, damping[at])
            y = -np.linalg.solve(H, grad[..., None])[..., 0]
            du = y if Z is None else (Z @ y[..., None])[..., 0] + shift
            du = (
                np.where(self.free, du, 0.0)
                * np.minimum(1.0, 1.0 / np.maximum(np.abs(du).max(axis=1), 1e-9))[:, None]
            )
            new = part.moved(q[at], du, theta)
            c = part.frame_costs(new, theta, d)
            good = c <= cost[at] * (1 + 1e-9)
            small = good & (np.abs(du).max(axis=1) < 1e-6)
            q[at[good]], cost[at[good]] = new[good], c[good]
            damping[at] = np.where(
                good, np.maximum(damping[at] / 10, 1e-9), np.minimum(damping[at] * 10 + 1e-6, 1e9)
            )
            active[at] = ~small & (damping[at] < 1e8)
        return q, self._told(q, theta, d)

    def _told(self, q: Array, theta: Array, d: Array) -> Array:
        """Standard deviations of coordinates over those of the prior."""
        H, _, Z, _ = self.pose_blocks(q, theta, d, 1e-6)
        C = np.linalg.inv(H)
        C = C if Z is None else Z @ C @ np.swapaxes(Z, 1, 2)
        if not self.plain:
            return np.zeros_like(q)
        prior = np.where(self.q_precision > 0, 1 / np.sqrt(np.maximum(self.q_precision, 1e-12)), 10.0)
        return np.sqrt(np.maximum(np.diagonal(C, axis1=1, axis2=2), 0.0)) / prior

    def moved(self, q: Array, du: Array, theta: Array) -> Array:
        """q after a step du of the speeds, quaternions of length 1."""
        if self.plain:
            return q + du
        q = q + self.system.qdot(q, du, parameters=self.given(theta))
        for b in self.system.bodies:
            for part in b.mobilizer.quaternions:
                at = slice(b.q.start + part.start, b.q.start + part.stop)
                q[:, at] /= np.linalg.norm(q[:, at], axis=1, keepdims=True)
        return q

    def noise(self, e: Array) -> float:
        """Skin motion from residual errors [m]."""
        left = (self.share[:, None] * self.seen * (e**2).sum(axis=-1)).sum()
        count = (self.share * np.maximum(3.0 * self.seen.sum(axis=1) - self.free.sum(), 1.0)).sum()
        sd = np.sqrt((UNSEEN**2 * left + KNOWN * NOISE**2) / (count + KNOWN))
        return float(np.clip(sd, LEAST, MOST))

    def held(self, d: Array) -> Array:
        """1 / sd_m^2 of (2) along each axis, shape (3 M,). Laboratories place markers that are not on bone
        freely: their positions have long tails, Student's t with TAILS degrees of freedom.
        """
        far = (d**2).sum(axis=1) / self.offsets**2
        weight = np.where(self.offsets > LOOSELY, np.minimum((TAILS + 3) / (TAILS + far), 1.0), 1.0)
        return np.repeat(weight / self.offsets**2, 3)

    def own_noise(self, fit: Fit, rounds: int = 4) -> Array:
        """Skin motion of each marker relative to that of all, shape (M,), from residual errors.

        With leverage h, a fraction 1 - h of a marker's motion remains as error, the rest changes the pose.
        The prior that all move alike counts as KNOWN observations.
        """
        part = self.frames(slice(None))
        q, own = fit.q, np.ones(len(self.markers))
        for _ in range(rounds):
            part.own = own
            q, _ = part.follow(q, fit.theta, fit.d, 3)
            w, e, AW, _, H, *_ = part.blocks(q, fit.theta, fit.d, 1e-9)
            used = np.einsum("tki,tki->ti", AW, np.linalg.solve(H, AW)) / np.maximum(w, 1e-300)
            left = (self.share[:, None] * (1 - used) * (w > 0)).sum(axis=0).reshape(-1, 3).sum(axis=1)
            square = (self.share[:, None] * e**2).sum(axis=0).reshape(-1, 3).sum(axis=1)
            usual = square.sum() / max(left.sum(), 1e-300)
            own = np.clip(np.sqrt((square / max(usual, 1e-300) + KNOWN) / (left + KNOWN)), *ALIKE)
        return own

    def solve(
        self, q: Array, theta: Array | None = None, d: Array | None = None, iterations: int = 40
    ) -> Fit:
        """Gauss-Newton steps from poses q (T, nq) and the sizes of the prior or others; then skin motion from
        residual errors, and more steps.
        """
        theta = self.mean.copy() if theta is None else theta
        d = np.zeros_like(self.r) if d is None else d
        damping, done, again, cost = 1e-3, False, 3, self.cost(q, theta, d)
        k = 0
        while k < iterations:
            k += 1
            du, dtheta, dd, _ = self.step(q, theta, d, damping)
            length = min(1.0, 1.0 / max(np.abs(du).max(), 1e-9), 0.5 / max(np.abs(dtheta).max(), 1e-9))
            while length > 1e-3:
                new_theta, new_d = theta + length * dtheta, d + length * dd
                new_q = self.moved(q, length * du, new_theta)
                c = self.cost(new_q, new_theta, new_d)
                if c <= cost * (1 + 1e-12):
                    break
                length /= 2
            else:
                damping *= 100
                if damping > 1e8:
                    break
                continue
            drop, cost = cost - c, c
            q, theta, d, damping = new_q, new_theta, new_d, max(damping / 10, 1e-9)
            if drop < TOLERANCE * max(cost, 1.0):
                sd = self.noise(self.errors(q, theta, d)[0])
                held = self.held(d)
                same = abs(sd / self.sd - 1) < 0.05 and np.all(np.abs(held / self.d_precision - 1) < 0.2)
                done = not again or bool(same)
                if done:
                    break
                again, self.sd, self.d_precision = again - 1, sd, held
                cost = self.cost(q, theta, d)
        covariance = np.linalg.inv(self.step(q, theta, d, 0.0)[3])
        e = self.errors(q, theta, d)[0]
        return Fit(q, theta, d, (covariance + covariance.T) / 2, e, self.sd, k, done)


def _null_space(G: Array) -> tuple[Array, Array]:
    """Z (T, nu, nu - r), orthonormal, and the pseudoinverse (T, nu, m), of the rank that most frames have."""
    U, S, Vt = np.linalg.svd(G, full_matrices=True)
    largest = np.maximum(S[:, :1], 1e-300)
    rank = int(np.median((S / largest > 1e-8).sum(axis=1)))
    inverse = np.zeros_like(S)
    inverse[:, :rank] = 1 / np.maximum(S[:, :rank], 1e-12)
    V = np.swapaxes(Vt, 1, 2)
    pinv = (V[:, :, : S.shape[1]] * inverse[:, None]) @ np.swapaxes(U, 1, 2)[:, : S.shape[1]]
    return V[:, :, rank:], pinv
