"""Meshes for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

PHI = (1 + 5**0.5) / 2
CORNERS = [
    (-1, PHI, 0),
    (1, PHI, 0),
    (-1, -PHI, 0),
    (1, -PHI, 0),
    (0, -1, PHI),
    (0, 1, PHI),
    (0, -1, -PHI),
    (0, 1, -PHI),
    (PHI, 0, -1),
    (PHI, 0, 1),
    (-PHI, 0, -1),
    (-PHI, 0, 1),
]
FACES = [
    (0, 11, 5),
    (0, 5, 1),
    (0, 1, 7),
    (0, 7, 10),
    (0, 10, 11),
    (1, 5, 9),
    (5, 11, 4),
    (11, 10, 2),
    (10, 7, 6),
    (7, 1, 8),
    (3, 9, 4),
    (3, 4, 2),
    (3, 2, 6),
    (3, 6, 8),
    (3, 8, 9),
    (4, 9, 5),
    (2, 4, 11),
    (6, 2, 10),
    (8, 6, 7),
    (9, 8, 1),
]


def refined(v: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each triangle cut in four."""
    edges = np.sort(np.stack([f, np.roll(f, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    pairs, which = np.unique(edges, axis=0, return_inverse=True)
    m = which.reshape(-1, 3) + len(v)
    cut = [np.stack([f[:, k], m[:, k], m[:, k - 1]], axis=1) for k in range(3)]
    return np.concatenate([v, v[pairs].mean(axis=1)]), np.concatenate([*cut, m])


def icosphere(times: int, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of an icosahedron, refined so many times."""
    v, f = np.array(CORNERS, dtype=float) / np.hypot(1, PHI), np.array(FACES)
    for _ in range(times):
        v, f = refined(v, f)
        v /= np.linalg.norm(v, axis=1)[:, None]
    return radius * v, f


def read_obj(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles, without a package that reads files."""
    lines = [line.split() for line in path.read_text().splitlines() if line[:2] in ("v ", "f ")]
    return (
        np.array([[float(x) for x in line[1:4]] for line in lines if line[0] == "v"]),
        np.array([[int(x.split("/")[0]) - 1 for x in line[1:4]] for line in lines if line[0] == "f"]),
    )


def box(half: float) -> tuple[np.ndarray, np.ndarray]:
    """A cube of twelve triangles."""
    corners = np.array([(x, y, z) for x in (-half, half) for y in (-half, half) for z in (-half, half)])
    return corners, np.array(
        [
            (0, 1, 3),
            (0, 3, 2),
            (4, 6, 7),
            (4, 7, 5),
            (0, 4, 5),
            (0, 5, 1),
            (2, 3, 7),
            (2, 7, 6),
            (0, 2, 6),
            (0, 6, 4),
            (1, 5, 7),
            (1, 7, 3),
        ]
    )


def winding(corners: np.ndarray, y: np.ndarray) -> float:
    """Solid angle of the surface over 4 pi: 1 inside, 0 outside (Van Oosterom and Strackee 1983)."""
    a, b, c = (corners[:, k] - y for k in range(3))
    A, B, C = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    top = (a * np.cross(b, c)).sum(1)
    low = A * B * C + (a * b).sum(1) * C + (b * c).sum(1) * A + (c * a).sum(1) * B
    return float(np.arctan2(top, low).sum() / (2 * np.pi))
