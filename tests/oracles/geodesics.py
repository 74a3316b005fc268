"""True lengths over ellipsoids, in plain NumPy: geodesics of the general equation, shot from one end.

    x'' = -(t'Wt / |Wx|^2) W x,    W = diag(1/radii^2),    t = x'                                          (1)

by Gragg's method with extrapolation; what is unknown is where the path touches on the silhouette of A, and
how long the arc is. All arrays have one row per path.
"""

from __future__ import annotations

import numpy as np

CLASSES = ("generic", "near", "grazing", "antipodal")


def random_ends(kind, count, radii, rng):
    """Ends whose chord passes through an ellipsoid, shape (count, 6).

    near: 1e-7 to 1e-3 above it; grazing: the chord hardly touches it; antipodal: nearly opposite."""
    found = np.zeros((0, 6))
    while len(found) < count:
        n = 4 * count + 100
        u, v = (x / np.linalg.norm(x, axis=1)[:, None] for x in rng.normal(size=(2, n, 3)))
        r = 1 + 10 ** rng.uniform(*((-7, -3) if kind == "near" else (-3, 0.7)), (n, 2))
        if kind == "antipodal":
            v = -u + 10 ** rng.uniform(-4, -1, (n, 1)) * v
            v /= np.linalg.norm(v, axis=1)[:, None]
        u, v = u * r[:, :1], v * r[:, 1:]
        d = v - u
        s = -(u * d).sum(1) / (d * d).sum(1)
        m = u + s[:, None] * d
        if kind == "grazing":
            shift = m * ((1 - 10 ** rng.uniform(-8, -2, n)) / np.linalg.norm(m, axis=1) - 1)[:, None]
            u, v, m = u + shift, v + shift, m + shift
        outside = ((u * u).sum(1) > 1) & ((v * v).sum(1) > 1)
        good = (np.linalg.norm(m, axis=1) < 1) & (s > 0) & (s < 1) & outside
        found = np.concatenate([found, np.hstack([u * radii, v * radii])[good]])
    return found[:count]


def _rates(y, w):
    x, t = y[:, :3], y[:, 3:]
    g = w * x
    return np.hstack([t, -((t * w * t).sum(1) / (g * g).sum(1))[:, None] * g])  # (1)


def _step(y, w, h, columns=8):
    """Gragg's method with 2, 4, .. substeps, extrapolated to none."""
    table = []
    for j in range(columns):
        n = 2 * (j + 1)
        k = h / n
        a, b = y, y + k * _rates(y, w)
        for _ in range(n - 1):
            a, b = b, a + 2 * k * _rates(b, w)
        row = [(a + b + k * _rates(b, w)) / 2]
        for i in range(1, j + 1):
            row.append(row[i - 1] + (row[i - 1] - table[-1][i - 1]) / ((n / (2 * (j - i + 1))) ** 2 - 1))
        table.append(row)
    return table[-1][-1]


class Shot:
    """Paths from A to B over an ellipsoid."""

    def __init__(self, A, B, radii, steps):
        self.A, self.B, self.radii, self.steps = A, B, np.asarray(radii, dtype=float), steps
        u = A / self.radii
        uu = (u * u).sum(1)[:, None]
        k = u / np.sqrt(uu)
        axis = np.where(np.abs(k[:, :1]) < 0.6, [[1.0, 0, 0]], [[0, 1.0, 0]])
        f = np.cross(k, axis)
        self.f = f / np.linalg.norm(f, axis=1)[:, None]
        self.g, self.center, self.radius = np.cross(k, self.f), u / uu, np.sqrt(1 - 1 / uu)

    def angle(self, P):
        y = P / self.radii - self.center
        return np.arctan2((y * self.g).sum(1), (y * self.f).sum(1))[:, None]

    def miss(self, phi, arc):
        """By how much the lines at the ends of arcs miss B, along and across the normal; and the length."""
        P = self.radii * (self.center + self.radius * (self.f * np.cos(phi) + self.g * np.sin(phi)))
        l1 = np.linalg.norm(P - self.A, axis=1)[:, None]
        y, w = np.hstack([P, (P - self.A) / l1]), 1 / self.radii**2
        for _ in range(self.steps):
            y = _step(y, w, arc / self.steps)
        x, t = y[:, :3], y[:, 3:]
        n = w * x / np.linalg.norm(w * x, axis=1)[:, None]
        d = self.B - x
        missed = np.stack([(d * n).sum(1), (d * np.cross(t, n)).sum(1)], 1)
        return missed, (l1 + arc)[:, 0] + np.linalg.norm(d, axis=1), (d * t).sum(1)


def true_length(A, B, radii, P, arc, steps=16, rounds=3):
    """Length of the geodesic path near one that touches at P and has an arc; how far it misses B; and how far
    it goes on to B from where it leaves, which is not below zero."""
    n, h, hl = len(A), 1e-6, 1e-6 * np.mean(radii)
    shot = Shot(np.tile(A, (5, 1)), np.tile(B, (5, 1)), radii, steps)
    phi, arc = shot.angle(np.tile(P, (5, 1)))[:n], np.array(arc)[:, None]
    best = None
    for _ in range(rounds):
        R, L, on = shot.miss(
            np.concatenate([phi, phi + h, phi - h, phi, phi]),
            np.concatenate([arc, arc, arc, arc + hl, arc - hl]),
        )
        now, (R, *moved) = (L[:n], np.linalg.norm(R[:n], axis=1), on[:n]), R.reshape(5, n, 2)
        better = now[1] < (np.inf if best is None else best[1])
        best = now if best is None else tuple(np.where(better, a, b) for a, b in zip(now, best, strict=True))
        J = np.stack([(moved[0] - moved[1]) / (2 * h), (moved[2] - moved[3]) / (2 * hl)], -1)
        dz = np.linalg.solve(J, -R[:, :, None])[:, :, 0]
        phi, arc = phi + dz[:, :1], arc + dz[:, 1:]
    return best
