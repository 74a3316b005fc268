"""Derivatives of contact wrenches through closest points, against another program with 50 digits.

There closest points p_a, p_b are roots of F_a(p_a) = 0, F_b(p_b) = 0, p_a - p_b = x n_a, n_b across no
tangent of a; of cylinders, which have no F, of p_a(n) - p_b(-n) = x n with their supports; on planes the
lowest points of cylinders and rings are known. Hertz with elliptic integrals, damping and friction follow.
Directions are random, in all of q and u.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from condyle import contact
from tests.contact.rig import (
    EGG,
    ELLIPSOID,
    HILLS,
    KINDS,
    RUBBER,
    STEEL,
    TILTED,
    X_GRID,
    Y_GRID,
    touching,
    two,
)
from tests.contact.test_closed_forms import sigma

DIGITS, STEP = 50, mp.mpf(10) ** -15
"""Central differences err by 1e-30 and round by 1e-35."""


def vec(v):
    return mp.matrix([mp.mpf(float(x)) if not isinstance(x, mp.mpf) else x for x in v])


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def cross(a, b):
    return mp.matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def rotation(q):
    w, x, y, z = [v / mp.sqrt(dot(q, q)) for v in q]
    return mp.matrix(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def spline():
    """Coefficients of the bicubic spline with natural ends through HILLS."""

    def solved(h):
        n = h.rows
        A, b = mp.zeros(n + 2, n + 2), mp.zeros(n + 2, h.cols)
        for j, x in enumerate((1, -2, 1)):
            A[0, j] = A[n + 1, n - 1 + j] = x
        for i in range(n):
            for j, x in enumerate((1, 4, 1)):
                A[i + 1, i + j] = mp.mpf(x) / 6
            for k in range(h.cols):
                b[i + 1, k] = h[i, k]
        return mp.inverse(A) * b

    return solved(solved(mp.matrix(HILLS.tolist())).T).T


class Level:
    """A surface by F: value, gradient and Hessian in its frame, by hand."""

    def __init__(self, surface):
        self.surface = surface

    def at(self, p):
        s = self.surface
        x, y, z = p
        match s:
            case contact.HalfSpace():
                n = vec(s.normal)
                return dot(n, p) - mp.mpf(s.height), n, mp.zeros(3)
            case contact.Sphere():
                return (dot(p, p) - mp.mpf(s.radius) ** 2) / 2, p, mp.eye(3)
            case contact.Ellipsoid():
                w = [1 / mp.mpf(r) ** 2 for r in s.radii]
                return (
                    (sum(a * v * v for a, v in zip(w, p, strict=True)) - 1) / 2,
                    mp.matrix([a * v for a, v in zip(w, p, strict=True)]),
                    mp.diag(w),
                )
            case contact.Cylinder():  # its side
                return (x * x + y * y - mp.mpf(s.radius) ** 2) / 2, mp.matrix([x, y, 0]), mp.diag([1, 1, 0])
            case contact.Box():  # all points `edge` away from a smaller one
                away, free = self.from_core(p), [mp.mpf(y != 0) for y in self.from_core(p)]
                return (dot(away, away) - mp.mpf(s.edge) ** 2) / 2, away, mp.diag(free)
            case contact.Torus():
                R, rho = mp.mpf(s.radius), mp.sqrt(x * x + y * y)
                e, k = mp.matrix([x / rho, y / rho, 0]), 1 - R / rho
                H = mp.diag([k, k, 1]) + R / rho * e * e.T
                return (
                    ((rho - R) ** 2 + z * z - mp.mpf(s.tube_radius) ** 2) / 2,
                    mp.matrix([k * x, k * y, z]),
                    H,
                )
            case contact.Implicit():  # egg of rig.py
                a, b, c = mp.mpf(0.15) ** -2, mp.mpf(0.1) ** -2, mp.mpf(0.12) ** -2
                k, mixed = 1 + 2 * x, 4 * b * y
                return (
                    a * x * x + b * y * y * k + c * z * z - 1,
                    mp.matrix([2 * a * x + 2 * b * y * y, 2 * b * y * k, 2 * c * z]),
                    mp.matrix([[2 * a, mixed, 0], [mixed, 2 * b * k, 0], [0, 0, 2 * c]]),
                )
        return self.ground(x, y, z)

    def from_core(self, p):
        """From the nearest point of a box without its rounded edges."""
        core = [mp.mpf(h) - mp.mpf(self.surface.edge) for h in self.surface.half_lengths]
        return mp.matrix([y - max(-h, min(h, y)) for y, h in zip(p, core, strict=True)])

    def ground(self, x, y, z):
        if not hasattr(self, "c"):
            self.c = spline()
        (i, u, dx), (j, v, dy) = (self.cell(w, grid) for w, grid in ((x, X_GRID), (y, Y_GRID)))
        U, V = self.powers(u), self.powers(v)
        h = lambda a, b: (
            sum(U[a][k] * V[b][m] * self.c[i + k, j + m] for k in range(4) for m in range(4))
            / (dx**a * dy**b)
        )
        return (
            z - h(0, 0),
            mp.matrix([-h(1, 0), -h(0, 1), 1]),
            mp.matrix([[-h(2, 0), -h(1, 1), 0], [-h(1, 1), -h(0, 2), 0], [0, 0, 0]]),
        )

    @staticmethod
    def cell(w, grid):
        d = (mp.mpf(grid[-1]) - mp.mpf(grid[0])) / (len(grid) - 1)
        i = int((w - mp.mpf(grid[0])) / d)
        return i, (w - mp.mpf(grid[0])) / d - i, d

    @staticmethod
    def powers(u):
        """The four B-splines and their derivatives."""
        return [
            [
                (1 - u) ** 3 / 6,
                (3 * u**3 - 6 * u**2 + 4) / 6,
                (-3 * u**3 + 3 * u**2 + 3 * u + 1) / 6,
                u**3 / 6,
            ],
            [-((1 - u) ** 2) / 2, (3 * u**2 - 4 * u) / 2, (-3 * u**2 + 2 * u + 1) / 2, u**2 / 2],
            [1 - u, 3 * u - 2, 1 - 3 * u, u],
        ]


class Support:
    """A sum of ellipsoids and a ball: h' and h'' at a normal of its frame."""

    def __init__(self, s):
        if isinstance(s, contact.Ellipsoid):
            self.radii, self.ball = [[mp.mpf(r) for r in s.radii]], mp.mpf(0)
            return
        rim, f = mp.mpf(s.rim), mp.mpf(s.flat)
        out, up = mp.mpf(s.radius) - rim, mp.mpf(s.length) / 2 - rim
        disc, thin = (out - f * up) / (1 - f * f), (up - f * out) / (1 - f * f)
        self.radii, self.ball = [[disc, disc, f * disc], [f * thin, f * thin, thin]], rim

    def at(self, n):
        p, H = self.ball * n, self.ball * mp.eye(3)
        for r in self.radii:
            D = mp.diag([x * x for x in r])
            one = mp.sqrt(dot(n, D * n))
            p, H = p + D * n / one, H + D / one - D * n * n.T * D / one**3
        return p, H


def tangents(n):
    e = vec([1, 0, 0] if abs(n[0]) < 0.6 else [0, 1, 0])
    t = cross(n, e)
    t = t / mp.sqrt(dot(t, t))
    return t, cross(n, t)


def frames(surface, R, p):
    """Axes and origin of a surface's frame in ground."""
    if isinstance(surface, contact.HalfSpace):
        return R, p
    if isinstance(surface, contact.Sphere):
        return R, p + R * vec(surface.center)
    X = TILTED if surface.body == "b" else None
    return (R, p) if X is None else (R * mp.matrix(X.R.tolist()), p + R * vec(X.p))


def roots(f, start):
    return mp.findroot(f, [mp.mpf(float(x)) for x in start], tol=mp.mpf(10) ** -90, maxsteps=30)


def by_levels(a, X_a, b, X_b, x, n, Q):
    """x, n, Q and the gap's curvature in ground; numbers given are where to begin."""
    levels = [(Level(s), *X) for s, X in ((a, X_a), (b, X_b))]

    def at(k, p):
        level, R, o = levels[k]
        f, g, H = level.at(R.T * (p - o))
        return f, R * g, R * H * R.T

    def equations(*y):
        p, r = mp.matrix(y[:3]), mp.matrix(y[3:6])
        (f_a, g_a, _), (f_b, g_b, _) = at(0, p), at(1, r)
        n = g_a / mp.sqrt(dot(g_a, g_a))
        return [*(p - r - y[6] * n), f_a, f_b, *(dot(t, g_b) for t in tangents(n))]

    y = roots(equations, [*Q, *(Q - x * n), x])
    p, r = mp.matrix(y[:3]), mp.matrix(y[3:6])
    K = mp.zeros(3)
    for k, point in ((0, p), (1, r)):
        if isinstance((a, b)[k], contact.Box):  # edges are as stiff as faces
            continue
        _, g, H = at(k, point)
        long = mp.sqrt(dot(g, g))
        P = mp.eye(3) - g * g.T / long**2
        K += P * H * P / long
    g = at(0, p)[1]
    return y[6], g / mp.sqrt(dot(g, g)), p, K


def by_supports(a, X_a, b, X_b, x, n, Q):
    """The same of ellipsoids and cylinders."""

    def at(s, X, n):
        R, o = X
        p, H = Support(s).at(R.T * n)
        return o + R * p, R * H * R.T

    def equations(*y):
        n = mp.matrix(y[:3])
        return [*(at(a, X_a, n)[0] - at(b, X_b, -n)[0] - y[3] * n), dot(n, n) - 1]

    y = roots(equations, [*n, x])
    n = mp.matrix(y[:3])
    t = tangents(n)
    K = mp.zeros(3)
    for s, X, m in ((a, X_a, n), (b, X_b, -n)):
        H = at(s, X, m)[1]
        W = mp.inverse(mp.matrix([[dot(e, H * f) for f in t] for e in t]))
        K += sum((W[i, j] * t[i] * t[j].T for i in range(2) for j in range(2)), mp.zeros(3))
    return y[3], n, at(a, X_a, n)[0], K


def on_plane(a, X_a, b, X_b, *_):
    """The same of the lowest point of a cylinder, or of a ring: (31), and what is said of tori."""
    n = X_a[0] * vec(a.normal)
    height, (R, o) = mp.mpf(a.height) + dot(n, X_a[1]), X_b
    u = -(R.T * n)
    t = tangents(n)
    if isinstance(b, contact.Cylinder):
        p, H = Support(b).at(u)
        H = R * H * R.T
        W = mp.inverse(mp.matrix([[dot(e, H * f) for f in t] for e in t]))
        lowest, x = o + R * p, height - dot(n, o + R * p)
        K = sum((W[i, j] * t[i] * t[j].T for i in range(2) for j in range(2)), mp.zeros(3))
    else:
        ring, tube, across = mp.mpf(b.radius), mp.mpf(b.tube_radius), u[0] ** 2 + u[1] ** 2
        h = mp.sqrt(across + mp.mpf(b.flat) ** 2)
        lowest = o + R * (ring / h * mp.matrix([u[0], u[1], 0]) + tube * u)
        x, cos = height - dot(n, o) + ring * h + tube, (across**4 + mp.mpf(0.1) ** 8) ** (mp.mpf(1) / 8)
        K = t[0] * t[0].T / tube + cos / (ring + tube * cos) * t[1] * t[1].T
    return x, n, lowest + (height - dot(n, lowest)) * n, K


def wrench(a, b, q, u, begin):
    """On b about its origin, in ground: moment and force."""
    poses = [(rotation(q[k : k + 4]), mp.matrix(q[k + 4 : k + 7])) for k in (0, 7)]
    solve = by_levels
    if isinstance(b, contact.Cylinder) and not isinstance(a, contact.Sphere):
        solve = by_supports
    if isinstance(a, contact.HalfSpace) and isinstance(b, contact.Cylinder | contact.Torus):
        solve = on_plane
    x, n, Q, K = solve(a, frames(a, *poses[0]), b, frames(b, *poses[1]), *begin)
    total, squares = K[0, 0] + K[1, 1] + K[2, 2], sum(v * v for v in K)
    spread = mp.sqrt(abs(2 * squares - total**2))
    numbers = (
        "modulus",
        "dissipation",
        "static_friction",
        "dynamic_friction",
        "viscous_friction",
        "transition_speed",
    )
    one, two_ = ([mp.mpf(getattr(s.made_of, f)) for f in numbers] for s in (a, b))
    e_1, e_2 = (m[0] ** (mp.mpf(2) / 3) for m in (one, two_))
    s_1 = e_2 / (e_1 + e_2)
    E, c = (s_1 * e_1) ** mp.mpf(1.5), s_1 * one[1] + (1 - s_1) * two_[1]
    us, ud, uv = (
        2 * y * z / (y + z) if y + z else mp.mpf(0) for y, z in zip(one[2:5], two_[2:5], strict=True)
    )
    v_t = max(one[5], two_[5])
    shape = sigma((total + spread) / (total - spread)) if spread > mp.mpf(10) ** -12 * total else 1
    f_Hz = mp.mpf(4) / 3 * shape * mp.sqrt(2 / total) * E * x ** mp.mpf(1.5)
    P = Q - s_1 * x * n
    v = [mp.matrix(u[k + 3 : k + 6]) + cross(u[k : k + 3], P - poses[k // 6][1]) for k in (0, 6)]
    v = v[1] - v[0]
    xdot = -dot(n, v)
    slip = v + xdot * n
    f_n, speed = f_Hz * (1 + mp.mpf(1.5) * c * xdot), mp.sqrt(dot(slip, slip))
    s = speed / v_t
    step = lambda y: y**3 * (10 - 15 * y + 6 * y * y)
    mu = uv * speed + (us * step(s) if s < 1 else us - (us - ud) * step((s - 1) / 2) if s < 3 else ud)
    assert 1 + 1.5 * c * xdot > 0
    f = f_n * n - mu * f_n * slip / speed
    return [*cross(P - poses[1][1], f), *f]


BALL = contact.Sphere("b", (0.01, -0.02, 0.03), 0.1, RUBBER)
PAIRS = {
    name: KINDS[name]
    for name in (
        "plane, sphere",
        "sphere, sphere",
        "plane, ellipsoid",
        "sphere, ellipsoid",
        "ellipsoid, ellipsoid",
        "sphere, torus",
        "cylinder, cylinder",
        "terrain, sphere",
        "plane, implicit",
        "sphere, implicit",
        "ellipsoid, implicit",
        "implicit, implicit",
        "plane, torus",
        "plane, cylinder",
    )
} | {
    "ellipsoid, cylinder": (
        contact.Ellipsoid("a", None, (0.1, 0.2, 0.15), STEEL),
        contact.Cylinder("b", TILTED, 0.08, 0.3, RUBBER),
    ),
    "sphere, side of a cylinder": (contact.Cylinder("a", None, 0.08, 5.0, STEEL), BALL),
    "sphere, face of a box": (contact.Box("a", None, (5.0, 0.08, 5.0), STEEL), BALL),
    "sphere, edge of a box": (contact.Box("a", None, (5.0, 0.05, 0.04), STEEL, edge=0.035), BALL),
    "sphere, corner of a box": (contact.Box("a", None, (0.04, 0.039, 0.038), STEEL, edge=0.035), BALL),
}
PARTS = {"face": 1, "edge": 2, "corner": 3}
"""Coordinates in which the closest point is beyond the smaller box."""
assert EGG.body == ELLIPSOID.body == "b"  # what `frames` tells tilted ones by


ALWAYS = (
    "sphere, ellipsoid",
    "sphere, torus",
    "ellipsoid, cylinder",
    "terrain, sphere",
    "ellipsoid, implicit",
    "implicit, implicit",
    "plane, torus",
    "plane, cylinder",
    "sphere, edge of a box",
    "sphere, corner of a box",
)


@pytest.mark.parametrize(
    "name", [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.slow) for name in PAIRS]
)
def test_derivatives(name, evidence, monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    a, b = PAIRS[name]
    system = two(a, b)
    q, u = touching(system, 33 if isinstance(a, contact.Box) else 31)
    x, n, P = (getattr(system.contacts, f)(q)[0] for f in ("depths", "normals", "points"))
    e_1, e_2 = (s.made_of.modulus ** (2 / 3) for s in (a, b))
    begin = x, n, P + e_2 / (e_1 + e_2) * x * n
    if isinstance(a, contact.Box):
        at = system.body_pose(q, "a").inverse() @ begin[2]
        assert sum(y != 0 for y in Level(a).from_core(at)) == PARTS[name.split()[1]]
    rng = np.random.default_rng(32)
    w, du = rng.normal(size=12), rng.normal(size=12)
    dq = system.kinematics.N(q) @ w
    found = system.jvp("contacts.wrenches", q, u, tangents={"q": w, "u": du}).reshape(2, 6)[1]
    with mp.workdps(DIGITS):
        at = lambda e: wrench(
            a,
            b,
            *([mp.mpf(y) + e * mp.mpf(d) for y, d in zip(*both, strict=True)] for both in ((q, dq), (u, du))),
            begin,
        )
        value = np.array([float(y) for y in at(mp.mpf(0))])
        exact = np.array([float((y - z) / (2 * STEP)) for y, z in zip(at(STEP), at(-STEP), strict=True)])
    ours = system.contacts.wrenches(q, u)[0, 1]
    np.testing.assert_allclose(ours, value, rtol=0, atol=1e-11 * np.abs(value).max())
    error = np.abs(found - exact).max() / np.abs(exact).max()
    evidence(f"derivatives of contact forces of {name} against 50 digits, relative", error, 1e-10)
    assert error < 1e-10  # depths of 2e-3 m round to 1e-16 m, slopes more
