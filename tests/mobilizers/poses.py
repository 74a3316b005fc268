"""Poses of mobilizers written a second time, from their definitions alone, and their derivatives with 50
digits.

A path q(s) with q' = N u is laid through a state; two derivatives of X_FM along it give V_FM and A_FM
(condyle.mobilizers.base
(1)-(4)) without Condyle's H, bias, N or differentiation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import mpmath
import numpy as np
from mpmath import mpf

import condyle as cd
from condyle.native.tables.staged import build_function
from tests.mobilizers.every import BENT, EVERY, LOOP, RADII, RING, RIPPLE, SURFACE, frames

EPS = np.finfo(float).eps
STATES = 40
# Every entry is a sum of some tens of products of numbers up to about 3.
ROUNDING = 200 * EPS
S = mpf(10) ** -15
"""Step along the path: with 50 digits, central differences err by S^2 = 1e-30 and round by 1e-50 / S^2 =
1e-20."""


# ---- Poses from their definitions: arrays of mpf ----


def turn(axis, angle):
    """Rotation about x, y or z."""
    c, s, i = mpmath.cos(angle), mpmath.sin(angle), "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    R = np.array([[mpf(a == b) for a in range(3)] for b in range(3)], dtype=object)
    R[j, j], R[j, k], R[k, j], R[k, k] = c, -s, s, c
    return R


def of_quaternion(q):
    w, x, y, z = q / mpmath.sqrt(sum(q * q))
    return np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ],
        dtype=object,
    )


def xyz(q):
    return turn("x", q[0]) @ turn("y", q[1]) @ turn("z", q[2])


def vector(*entries):
    return np.array([mpf(e) for e in entries], dtype=object)


def spherical(q, az=0, ze=0, signs=(1, 1, 1), axis=2):
    R = turn("z", signs[0] * q[0] + az) @ turn("y", signs[1] * q[1] + ze)
    return R, signs[2] * q[2] * R[:, axis]


def on_ellipsoid(R):
    return R, vector(*RADII) * R[:, 2]


def normal_to_ellipsoid(R):
    """The point of the surface whose outer normal, (x / a^2, ...), is R's third column."""
    n, a = R[:, 2], vector(*RADII)
    return R, a * a * n / mpmath.sqrt(sum((a * n) ** 2))


def beam(q, L):
    return xyz(q), vector(L * 2 * q[1] / 3, -L * 2 * q[0] / 3, L - L * 4 * (q[0] ** 2 + q[1] ** 2) / 15)


def timed(t, q):
    return turn("x", q[0] + t / 2) @ turn("z", q[1]), vector(mpf(0.2) * t * q[0], q[1], t**2)


def inverse(R, p):
    return R.T, -R.T @ p


def b_splines(t, k, x):
    """All B-splines of order k on knots t at x, by Cox and de Boor."""
    B = [mpf(a <= x < b) for a, b in pairwise(t)]
    for r in range(2, k + 1):
        B = [
            (B[j] and (x - t[j]) / (t[j + r - 1] - t[j]) * B[j])
            + (B[j + 1] and (t[j + r] - x) / (t[j + r] - t[j + 1]) * B[j + 1])
            for j in range(len(B) - 1)
        ]
    return B


def clamped(low, high, n, k):
    inner = np.linspace(low, high, n - k + 2)
    return [mpf(x) for x in (*[low] * (k - 1), *inner, *[high] * (k - 1))]


def on_surface(c, knots, k, q, axes=("tx", "ty", "tz", "rx", "ry", "rz"), X=None):
    """lee2008 (25). c: (6, n1, n2), floats or mpf."""
    weights = [b_splines(t, k, x) for t, x in zip(knots, q)]
    phi = [
        mpmath.fsum(
            a * b * mpf(c[f, i, j])
            for i, a in enumerate(weights[0])
            if a
            for j, b in enumerate(weights[1])
            if b
        )
        for f in range(6)
    ]
    return product(axes, phi, X)


def product(axes, phi, X=None):
    X = X or (xyz(NONE), NONE)
    for axis, value in zip(axes, phi):
        step = (
            (turn(axis[1], value), NONE)
            if axis[0] == "r"
            else (xyz(NONE), vector(*(value if axis[1] == e else 0 for e in "xyz")))
        )
        X = then(X, *step)
    return X


def on_ring(q):
    """Six control values, period 3, uniform knots 0.5 apart; value j has its support from knot j - 2 to j +
    2, and the angle about z grows by 2 pi in one turn."""
    h = mpf(3) / 6
    B = b_splines([h * (i - 10) for i in range(30)], 4, q[0])  # B[i] begins at knot i - 10
    phi = [mpf(0)] * 6
    for i, b in enumerate(B):
        turns, j = divmod(i - 10 + 2, 6)
        phi = [
            v + b * (mpf(RING[f, j]) + (2 * mpmath.pi * turns if f == 5 else 0)) for f, v in enumerate(phi)
        ]
    return product(("tx", "ty", "tz", "rx", "ry", "rz"), phi)


def then(X, R, p):
    return X[0] @ R, X[1] + X[0] @ p


IDENTITY = np.array([[mpf(i == j) for j in range(3)] for i in range(3)], dtype=object)


def basis(j, k, t, x):
    """B-spline j of order k (Cox, de Boor)."""
    if k == 1 or not t[j] <= x < t[j + k]:
        return mpf(t[j] <= x < t[j + k])
    parts = ((x - t[j], t[j + k - 1] - t[j], j), (t[j + k] - x, t[j + k] - t[j + 1], j + 1))
    return sum((a / b * basis(i, k - 1, t, x) for a, b, i in parts if b), mpf(0))


@functools.cache
def spline(n, order, loop):
    """Knots over 0 .. 1, the first of n frames of tests/mobilizers/every.py, and screws from each to the
    next: angle, axis, center, shift along the axis."""
    R, p = (exact(x) for x in frames(n, *[LOOP] * loop))
    k = order
    t = (
        [mpf(i) / n for i in range(-k, n + k + 1)]
        if loop
        else [mpf(0)] * (k - 1) + [mpf(i) / (n - k + 1) for i in range(n - k + 2)] + [mpf(1)] * (k - 1)
    )
    places = np.arange(k // 2 - k, n + k // 2) % n if loop else np.arange(n)
    return (
        t,
        (R[places[0]], p[places[0]]),
        [screw(R[i].T @ R[j], R[i].T @ (p[j] - p[i])) for i, j in pairwise(places)],
    )


def screw(R, p):
    a = mpmath.acos((R[0, 0] + R[1, 1] + R[2, 2] - 1) / 2)
    n = vector(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / (2 * mpmath.sin(a))
    K = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]], dtype=object)
    shift = sum(n * p) * n
    return a, K, (p - shift + K @ (p - shift) / mpmath.tan(a / 2)) / 2, shift


def on_curve(n, q, order=4, loop=False):
    """lee2008 (21) with all its exponentials: each a turn about an axis and a shift along it."""
    with mpmath.workdps(50):
        t, X, screws = spline(n, order, loop)
    q = q - mpmath.floor(q) if loop else q
    B = [basis(j, order, t, q) for j in range(len(screws) + 1)]
    for j, (a, K, center, shift) in enumerate(screws, 1):
        if f := sum(B[j:]):
            R = IDENTITY + mpmath.sin(f * a) * K + (1 - mpmath.cos(f * a)) * (K @ K)
            X = then(X, R, center - R @ center + f * shift)
    return X


def reverse(X):
    return X[0].T, -X[0].T @ X[1]


@dataclass(frozen=True)
class Case:
    """A mobilizer and its pose as f(t, q) -> R, p. `speeds`: "rates" (u = qdot), or where w_FM of the
    orientation is expressed, "F" or "M"; then p_FM follows."""

    mobilizer: object
    pose: Callable
    speeds: str = "rates"
    states: int = STATES

    @property
    def angles(self):
        return self.speeds == "F" and self.mobilizer.coordinate_names[0] == "rx"


NONE = vector(0, 0, 0)
CASES = {
    "Weld": Case(EVERY["Weld"], lambda t, q: (xyz(NONE), NONE)),
    "Pin": Case(EVERY["Pin"], lambda t, q: (turn("z", q[0]), NONE)),
    "Slider": Case(EVERY["Slider"], lambda t, q: (xyz(NONE), vector(q[0], 0, 0))),
    "Screw": Case(EVERY["Screw"], lambda t, q: (turn("z", q[0]), vector(0, 0, mpf(0.3) * q[0]))),
    "Screw-x": Case(EVERY["Screw-x"], lambda t, q: (turn("x", q[0]), vector(mpf(-0.2) * q[0], 0, 0))),
    "Universal": Case(EVERY["Universal"], lambda t, q: (turn("x", q[0]) @ turn("y", q[1]), NONE)),
    "Cylinder": Case(EVERY["Cylinder"], lambda t, q: (turn("z", q[0]), vector(0, 0, q[1]))),
    "BendStretch": Case(
        EVERY["BendStretch"], lambda t, q: (turn("z", q[0]), turn("z", q[0]) @ vector(q[1], 0, 0))
    ),
    "Planar": Case(EVERY["Planar"], lambda t, q: (turn("z", q[0]), vector(q[1], q[2], 0))),
    "SphericalCoords": Case(EVERY["SphericalCoords"], lambda t, q: spherical(q)),
    "SphericalCoords-x": Case(
        EVERY["SphericalCoords-x"], lambda t, q: spherical(q, mpf(0.2), mpf(-0.4), (-1, -1, -1), 0)
    ),
    "LineOrientation": Case(EVERY["LineOrientation"], lambda t, q: (of_quaternion(q), NONE), "M"),
    "Gimbal": Case(EVERY["Gimbal"], lambda t, q: (xyz(q), NONE)),
    "Bushing": Case(EVERY["Bushing"], lambda t, q: (xyz(q), q[3:])),
    "Ball": Case(EVERY["Ball"], lambda t, q: (of_quaternion(q), NONE), "F"),
    "Ball-euler": Case(EVERY["Ball-euler"], lambda t, q: (xyz(q), NONE), "F"),
    "Translation": Case(EVERY["Translation"], lambda t, q: (xyz(NONE), q)),
    "Free": Case(EVERY["Free"], lambda t, q: (of_quaternion(q[:4]), q[4:]), "F"),
    "Free-euler": Case(EVERY["Free-euler"], lambda t, q: (xyz(q), q[3:]), "F"),
    "FreeLine": Case(EVERY["FreeLine"], lambda t, q: (of_quaternion(q[:4]), q[4:]), "M"),
    "Ellipsoid": Case(EVERY["Ellipsoid"], lambda t, q: on_ellipsoid(of_quaternion(q)), "F"),
    "Ellipsoid-euler": Case(EVERY["Ellipsoid-euler"], lambda t, q: on_ellipsoid(xyz(q)), "F"),
    "Ellipsoid-normal": Case(
        EVERY["Ellipsoid-normal"], lambda t, q: normal_to_ellipsoid(of_quaternion(q)), "F"
    ),
    "Ellipsoid-normal-euler": Case(
        EVERY["Ellipsoid-normal-euler"], lambda t, q: normal_to_ellipsoid(xyz(q)), "F"
    ),
    "EllipticSlider": Case(
        EVERY["EllipticSlider"],
        lambda t, q: (
            turn("z", mpmath.atan2(mpf(0.4) * mpmath.sin(q[0]), mpf(0.7) * mpmath.cos(q[0]))),
            vector(mpf(0.7) * mpmath.sin(q[0]), -mpf(0.4) * mpmath.cos(q[0]), 0),
        ),
    ),
    "CantileverFreeBeam": Case(EVERY["CantileverFreeBeam"], lambda t, q: beam(q, mpf(0.8))),
    "SplineSurface": Case(
        EVERY["SplineSurface"],
        lambda t, q: on_surface(
            SURFACE,
            (clamped(-1, 1, 5, 4), clamped(-1, 2, 6, 4)),
            4,
            q,
            X=(exact(EVERY["SplineSurface"].X.R), vector(0.1, 0.2, 0.3)),
        ),
    ),
    "SplineSurface-time": Case(
        EVERY["SplineSurface-time"],
        lambda t, q: on_surface(
            exact(SURFACE) + exact(RIPPLE) * mpmath.sin(2 * t + mpf(0.3)),
            (clamped(-1, 1, 5, 4), clamped(-1, 2, 6, 4)),
            4,
            q,
        ),
    ),
    "SplineSurface-order": Case(
        EVERY["SplineSurface-order"],
        lambda t, q: on_surface(0.5 * SURFACE, (clamped(0, 1, 5, 5), clamped(0, 1, 6, 5)), 5, q, BENT),
    ),
    "SplineSurface-closed": Case(EVERY["SplineSurface-closed"], lambda t, q: on_ring(q)),
    "Coupled": Case(
        EVERY["Coupled"],
        lambda t, q: (turn("z", q[0]), vector(0, 0, mpf(0.1) - mpf(0.3) * q[0] + mpf(0.2) * q[0] ** 2)),
    ),
    "Coupled-two": Case(
        EVERY["Coupled-two"],
        lambda t, q: (xyz(vector(mpf(0.5) * q[0] * q[1], mpf(0.7) * q[0] + mpf(0.1), q[1])), NONE),
    ),
    "Custom": Case(
        EVERY["Custom"],
        lambda t, q: (
            turn("z", q[0]),
            vector(mpf(0.1) * mpmath.sin(2 * q[0]), q[0] ** 2 / (1 + q[0] ** 2), 0),
        ),
    ),
    "Custom-time": Case(EVERY["Custom-time"], lambda t, q: timed(t, q)),
    "Custom-N": Case(EVERY["Custom-N"], lambda t, q: (of_quaternion(q), vector(0.3, 0.2, 0.1)), "F"),
    "Custom-hinge": Case(EVERY["Custom-hinge"], lambda t, q: (turn("x", q[0]), vector(q[0] ** 2, 0, 0))),
    "compose": Case(
        EVERY["compose"],
        lambda t, q: (turn("z", q[0]) @ turn("x", q[3]), turn("z", q[0]) @ vector(q[1], 0, q[2])),
    ),
    "compose-surface": Case(
        EVERY["compose-surface"],
        lambda t, q: then(
            on_surface(SURFACE, (clamped(0, 1, 5, 4), clamped(0, 1, 6, 4)), 4, q[:2]),
            *inverse(
                *on_surface(0.7 * SURFACE[:, ::-1], (clamped(0, 1, 5, 5), clamped(0, 1, 6, 5)), 5, q[2:])
            ),
        ),
    ),
    "SplineCurve-6": Case(EVERY["SplineCurve-6"], lambda t, q: on_curve(9, q[0], 6), states=15),
    "SplineCurve-closed-5": Case(
        EVERY["SplineCurve-closed-5"], lambda t, q: on_curve(20, q[0], 5, True), states=15
    ),
    "compose-curves": Case(
        EVERY["compose-curves"],
        lambda t, q: then(on_curve(7, q[0]), *reverse(on_curve(8, q[1], loop=True))),
        states=15,
    ),
    "compose-time": Case(
        EVERY["compose-time"], lambda t, q: then(timed(t, q), turn("z", q[2]), vector(0, 0, q[3]))
    ),
}


# ---- Paths through a state and their derivatives ----


def times(a, b):
    """Product of quaternions."""
    return np.array(
        [a[0] * b[0] - sum(a[1:] * b[1:]), *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))],
        dtype=object,
    )


def coordinates(case, q, u, udot):
    """q(-S), q(0), q(S) along a path with speeds u and accelerations udot at the middle."""
    q, u, udot = (vector(*x) for x in (q, u, udot))
    if case.speeds == "rates":
        return [q + s * u + s * s / 2 * udot for s in (-S, 0, S)]
    n = 3 if case.speeds == "F" else 2
    w, alpha = (vector(0, *x[:n], *(0,) * (3 - n)) / 2 for x in (u, udot))
    m = 3 if case.angles else 4
    turned = q[:m]
    if case.angles:  # as a quaternion: half angles about x, y, z
        x, y, z = (
            vector(mpmath.cos(q[i] / 2), *(mpmath.sin(q[i] / 2) if j == i else 0 for j in range(3)))
            for i in range(3)
        )
        turned = times(times(x, y), z)
    act = times if case.speeds == "F" else lambda a, b: times(b, a)
    d1 = act(w, turned)  # Q' = 1/2 (0, w) Q, or Q (0, w) / 2
    d2 = act(alpha, turned) + act(w, d1)
    out = []
    for s in (-S, 0, S):
        turn_s = turned + s * d1 + s * s / 2 * d2
        if case.angles:
            R = of_quaternion(turn_s)
            turn_s = vector(
                mpmath.atan2(-R[1, 2], R[2, 2]), mpmath.asin(R[0, 2]), mpmath.atan2(-R[0, 1], R[0, 0])
            )
        out.append(np.concatenate([turn_s, q[m:] + s * u[n:] + s * s / 2 * udot[n:]]))
    return out


def differences(low, middle, high):
    """Value and two derivatives, as floats."""
    return [
        np.array(x, dtype=float)
        for x in (middle, (high - low) / (2 * S), (high - 2 * middle + low) / (S * S))
    ]


def uncross(A):
    return np.stack([A[..., 2, 1], A[..., 0, 2], A[..., 1, 0]], -1)


@dataclass(frozen=True)
class Path:
    """R, p with two derivatives, each (n, 3, 3) and (n, 3), and qdot (n, nq)."""

    R: list
    p: list
    qdot: np.ndarray

    def velocity(self):
        return np.concatenate([uncross(self.R[1] @ self.R[0].swapaxes(1, 2)), self.p[1]], 1)

    def acceleration(self):
        R, R1, R2 = self.R
        return np.concatenate([uncross(R2 @ R.swapaxes(1, 2) + R1 @ R1.swapaxes(1, 2)), self.p[2]], 1)


def exact(A):
    return np.array([mpf(float(v)) for v in np.ravel(A)], dtype=object).reshape(np.shape(A))


def samples(case, t, q, u, udot):
    """Coordinates and poses at -S, 0, S along the path through each state."""
    with mpmath.workdps(50):
        paths = [coordinates(case, *state) for state in zip(q, u, udot)]
        return [
            (qs, [case.pose(mpf(float(ti)) + s, x) for s, x in zip((-S, 0, S), qs)])
            for ti, qs in zip(t, paths)
        ]


def path(sampled, reverse=False, X_PF=None, X_BM=None):
    """X_PF X_FM X_BM^-1, or X_FM itself, with its derivatives; reversed: X_FM^-1 for X_FM."""
    with mpmath.workdps(50):
        states = []
        for qs, Xs in sampled:
            if reverse:
                Xs = [(R.T, -R.T @ p) for R, p in Xs]
            if X_PF is not None:
                (R_PF, p_PF), (R_BM, p_BM) = ((exact(R), exact(p)) for R, p in (X_PF, X_BM))
                Xs = [then(then((R_PF, p_PF), *X), R_BM.T, -R_BM.T @ p_BM) for X in Xs]
            Rs, ps = zip(*Xs)
            states.append((*differences(*Rs), *differences(*ps), differences(*qs)[1]))
    *parts, qdot = (np.array(x) for x in zip(*states))
    return Path(parts[:3], parts[3:], qdot)


def random_states(mobilizer, seed, n=STATES):
    """t, q, u, udot."""
    rng = np.random.default_rng(seed)
    q = np.array([mobilizer.random_q(rng) for _ in range(n)]).reshape(n, mobilizer.nq)
    return (
        rng.uniform(0, 1, n),
        q,
        rng.uniform(-1, 1, (n, mobilizer.nu)),
        rng.uniform(-1, 1, (n, mobilizer.nu)),
    )


def evaluate(made, mobilizer, t, q, u):
    """R, p, H, Vt, bias, N of a Motion made by made(mobilizer, t, q, u), by CasADi's evaluator."""
    n = len(t)
    st, sq, su = ca.SX.sym("t"), ca.SX.sym("q", mobilizer.nq), ca.SX.sym("u", mobilizer.nu)
    m = made(mobilizer, st, sq, su)
    parts = [
        m.R,
        m.p,
        ca.vertcat(m.H_w, m.H_v),
        ca.vertcat(m.w_t, m.v_t),
        ca.vertcat(m.bias_w, m.bias_v),
        mobilizer.N(sq),
    ]
    f = build_function("motion", [st, sq, su], [ca.vec(x) for x in parts])
    states = [t.reshape(1, n), q.T, u.T]
    values = f.map(n)(*states) if isinstance(f, ca.Function) else f.evaluate(states)
    R, p, H, Vt, bias, N = (
        np.array(v).T.reshape(n, x.shape[1], x.shape[0]).swapaxes(1, 2)
        if x.numel()
        else np.zeros((n, *x.shape))
        for v, x in zip(values, parts)
    )
    return R, p[..., 0], H, Vt[..., 0], bias[..., 0], N


def given(mobilizer, t, q, u):
    return mobilizer.motion(t, q, u)


def times_u(A, u):
    return (A @ u[..., None])[..., 0]


def one_body(mobilizer):
    system = cd.System()
    system.add_body(
        "b", mobilizer=mobilizer, mass=1.5, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.15), X_BM=(0.2, 0.1, 0)
    )
    return system
