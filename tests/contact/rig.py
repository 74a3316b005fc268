"""Two free bodies, and a contact of every kind between them."""

from __future__ import annotations

import functools

import mpmath as mp
import numpy as np

import condyle as cd
from condyle import contact

STEEL = contact.Material(2e6, 0.3, 0.8, 0.5, 0.05, 0.05)
RUBBER = contact.Material(5e5, 0.8, 1.1, 0.9, 0.0, 0.02)
R_TILT = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
TILTED = cd.Transform(R_TILT, (0.01, -0.02, 0.03))
X_GRID, Y_GRID = np.linspace(-1, 1, 21), np.linspace(-1, 1, 17)
HILLS = 0.05 * np.cos(3 * X_GRID)[:, None] * np.cos(2 * Y_GRID)


def egg(x, y, z):
    """Longer at one end."""
    return (x / 0.15) ** 2 + (y / 0.1) ** 2 * (1 + 2 * x) + (z / 0.12) ** 2 - 1


FLOOR = contact.HalfSpace("a", (0.2, 1.0, -0.1), 0.05, STEEL)
BALL = contact.Sphere("b", (0.01, -0.02, 0.03), 0.1, RUBBER)
EGG = contact.Implicit("b", TILTED, egg, 0.2, RUBBER)
ELLIPSOID = contact.Ellipsoid("b", TILTED, (0.15, 0.1, 0.08), RUBBER)
KINDS = {
    "plane, sphere": (FLOOR, BALL),
    "sphere, sphere": (contact.Sphere("a", (0, 0.1, 0), 0.2, STEEL), BALL),
    "plane, ellipsoid": (FLOOR, ELLIPSOID),
    "sphere, ellipsoid": (contact.Sphere("a", (0, 0.1, 0), 0.2, STEEL), ELLIPSOID),
    "ellipsoid, ellipsoid": (contact.Ellipsoid("a", None, (0.1, 0.2, 0.15), STEEL), ELLIPSOID),
    "plane, torus": (FLOOR, contact.Torus("b", TILTED, 0.1, 0.02, RUBBER)),
    "sphere, torus": (
        contact.Sphere("a", (0, 0.1, 0), 0.06, STEEL),
        contact.Torus("b", TILTED, 0.1, 0.03, RUBBER),
    ),
    "sphere, cylinder": (
        contact.Sphere("a", (0, 0.1, 0), 0.1, STEEL),
        contact.Cylinder("b", TILTED, 0.08, 0.3, RUBBER),
    ),
    "cylinder, cylinder": (
        contact.Cylinder("a", None, 0.1, 0.5, STEEL),
        contact.Cylinder("b", TILTED, 0.08, 0.3, RUBBER),
    ),
    "plane, cylinder": (FLOOR, contact.Cylinder("b", TILTED, 0.08, 0.3, RUBBER)),
    "sphere, box": (
        contact.Sphere("a", (0, 0.1, 0), 0.1, STEEL),
        contact.Box("b", TILTED, (0.1, 0.08, 0.06), RUBBER, edge=0.01),
    ),
    "terrain, sphere": (contact.HeightField("a", None, X_GRID, Y_GRID, HILLS, STEEL), BALL),
    "plane, implicit": (FLOOR, EGG),
    "sphere, implicit": (contact.Sphere("a", (0, 0.1, 0), 0.2, STEEL), EGG),
    "ellipsoid, implicit": (contact.Ellipsoid("a", None, (0.1, 0.2, 0.15), STEEL), EGG),
    "implicit, implicit": (contact.Implicit("a", None, egg, 0.2, STEEL), EGG),
}
"""Every pair of kinds that has closest points of its own."""


def two(a=None, b=None, *, gravity=(0.0, 0.0, 0.0), **options) -> cd.System:
    """Free bodies a and b of 1 kg, in contact by default."""
    system = cd.System(gravity=gravity)
    for body in "ab":
        system.add_body(
            body, mobilizer=cd.Free(), mass=1.0, com=(0.01, 0.0, 0.02), inertia=(0.004, 0.005, 0.006)
        )
    if a is not None:
        system.add_contact("touch", a, b, **options)
    return system


@functools.cache
def pair(name: str) -> cd.System:
    """Free bodies with surfaces of KINDS: one system for all tests that ask CasADi's evaluator."""
    return two(*KINDS[name])


def touching(system: cd.System, seed: int, depth: float = 2e-3) -> tuple[np.ndarray, np.ndarray]:
    """q and u at which the only contact has a depth: b is moved along the normal, which does not turn it."""
    rng = np.random.default_rng(seed)
    q, u = rng.uniform(-0.2, 0.2, system.nq), rng.uniform(-0.4, 0.4, system.nu)
    for k in (0, 7):
        q[k : k + 4] = rng.normal(size=4)
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    q[11:14] += (0.0, 0.3, 0.15)
    for _ in range(3):  # a second time: rounding
        x, n = system.contacts.depths(q)[0], system.contacts.normals(q)[0]
        q[11:14] += (x - depth) * n
    return q, u


def in_fifty_digits(f, N, q, u) -> tuple[np.ndarray, np.ndarray]:
    """f(q, u), which takes and gives lists of mpf, and its derivatives along the manifold by q, then by u."""
    with mp.workdps(50):
        moved = lambda x, e, d: [mp.mpf(a) + e * mp.mpf(b) for a, b in zip(x, d, strict=True)]
        at = lambda e, dq, du: f(moved(q, e, dq), moved(u, e, du))
        h = mp.mpf(10) ** -15  # central differences err by its square
        columns = [(n, 0 * u) for n in N.T] + [(0 * q, n) for n in np.eye(len(u))]
        slopes = [[(a - b) / (2 * h) for a, b in zip(at(h, *c), at(-h, *c), strict=True)] for c in columns]
        return np.array(at(0, 0 * q, 0 * u), dtype=float), np.array(slopes, dtype=float).T
