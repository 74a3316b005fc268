"""Closest points of surfaces: gap, normal from a to b, and the point halfway between.

Of balls with balls, half-spaces and boxes in kernels, as contact/closest_points.py has them. A row of a pair begins with
its bodies a and b, restitution and friction.

Of boxes with boxes in NumPy, many pairs at once: separating axes, then points. Edges are sharp here. Of 15 axes
(faces of a, faces of b, products of their edges) that of the largest gap

    g(n) = |n . (c_b - c_a)| - sum_i (a_i |n . x_ai| + b_i |n . x_bi|)                                    (13)

is the normal, faces before edges by a margin. With a face the contact is where that face and the one of the
other box that faces it lie over each other, seen along n: corners of each within the other, and crossings
of their edges; the gap of each point is its height over the face. With edges it is where the two are closest.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.records import dataclass

MARGIN = 0.02
"""Share of the smaller box's least half-length by which edges must be further apart than faces."""
PARALLEL = 1e-4
"""Edges whose product is shorter than this have no axis of their own."""
POINTS = 24
"""Of a pair at most: 4 corners of each face, 16 crossings of their edges."""
_SIGNS = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)], float)
NARROW = {"pairs": 8, "planes": 11, "boxes": 23, "given": 11}
"""Kinds of pairs, and numbers of each. After the first four: two balls, their radii; half-spaces have 0, a
ball, its radius, normal, height; boxes 0, a ball, its radius, half-lengths less the edge (3), the edge, R and
p in the body; contacts that are given have gap, normal and point."""


def apart(c_a: SX, c_b: SX, row: SX) -> tuple[SX, SX, SX]:
    d = c_b - c_a
    length = ca.norm_2(d)
    some = length > 0
    n = ca.if_else(some, d / ca.if_else(some, length, 1), ca.SX([1, 0, 0]))
    gap = length - row[6] - row[7]
    return gap, n, c_a + (row[6] + gap / 2) * n


def plane(c: SX, pose: SX, row: SX) -> tuple[SX, SX, SX]:
    n = ca.reshape(pose[:9], 3, 3) @ row[7:10]
    gap = ca.dot(n, c - pose[9:12]) - row[10] - row[6]
    return gap, n, c - (row[6] + gap / 2) * n


def box(c: SX, pose: SX, row: SX) -> tuple[SX, SX, SX]:
    """A box is all points at most `edge` from a smaller one; a center within that one leaves by the nearest
    face."""
    R_B = ca.reshape(pose[:9], 3, 3)
    R, core, edge = R_B @ ca.reshape(row[11:20], 3, 3), row[7:10], row[10]
    y = R.T @ (c - pose[9:12] - R_B @ row[20:23])
    away = y - ca.fmin(ca.fmax(y, -core), core)
    length = ca.norm_2(away)
    inside = core - ca.fabs(y)
    x_first, y_first = (ca.logic_and(inside[0] <= inside[1], inside[0] <= inside[2]), inside[1] <= inside[2])
    sign = ca.if_else(y < 0, -1, 1)
    face = sign * ca.if_else(
        x_first, ca.SX([1, 0, 0]), ca.if_else(y_first, ca.SX([0, 1, 0]), ca.SX([0, 0, 1]))
    )
    out = length > 0
    n = R @ ca.if_else(out, away / ca.if_else(out, length, 1), face)
    gap = ca.if_else(out, length, -ca.mmin(inside)) - edge - row[6]
    return gap, n, c - (row[6] + gap / 2) * n


@dataclass(frozen=True, eq=False)
class Boxes:
    """Axes R (k, 3, 3), centers c (k, 3) and half-lengths half (k, 3) of k boxes."""

    R: np.ndarray
    c: np.ndarray
    half: np.ndarray

    def __getitem__(self, i: np.ndarray) -> Boxes:
        return Boxes(self.R[i], self.c[i], self.half[i])

    def where(self, these: np.ndarray, others: Boxes) -> Boxes:
        """These boxes where told to, and others."""

        def pick(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            return np.where(these.reshape(-1, *(1,) * (x.ndim - 1)), x, y)

        return Boxes(pick(self.R, others.R), pick(self.c, others.c), pick(self.half, others.half))


def touching(a: Boxes, b: Boxes, reach: np.ndarray) -> tuple[np.ndarray, ...]:
    """Points of k pairs of boxes: which pair (m,), which of its POINTS (m,), gaps (m,) [m], normals from a to
    b (m, 3) and points (m, 3) [m].

    Args:
        reach: gaps up to which points count, shape (k,) [m].
    """
    d, margin = b.c - a.c, MARGIN * np.minimum(a.half.min(axis=1), b.half.min(axis=1))
    ax, bx = np.swapaxes(a.R, 1, 2), np.swapaxes(b.R, 1, 2)  # rows are axes
    cross = np.cross(ax[:, :, None], bx[:, None]).reshape(-1, 9, 3)
    size = np.linalg.norm(cross, axis=2)
    flat = size < PARALLEL
    axes = np.concatenate([ax, bx, cross / np.where(flat, 1.0, size)[..., None]], axis=1)
    along = np.einsum("kni,ki->kn", axes, d)
    g = np.abs(along) - sum((np.abs(axes @ x.R) * x.half[:, None]).sum(axis=2) for x in (a, b))  # (13)
    g[:, 6:] -= np.where(flat, np.inf, margin[:, None])
    best = np.argmax(g, axis=1)
    k = np.arange(len(d))
    n = axes[k, best] * np.where(along[k, best] < 0, -1.0, 1.0)[:, None]
    near = g[k, best] <= reach
    faces, edges = np.flatnonzero(near & (best < 6)), np.flatnonzero(near & (best >= 6))
    own = best[faces] < 3
    first, second = a[faces].where(own, b[faces]), b[faces].where(own, a[faces])
    along_n = np.where(own[:, None], n[faces], -n[faces])
    on_faces, point, gap, P = _faces(along_n, first, second, best[faces] % 3, reach[faces])
    pair, one = faces[on_faces], _edges(n[edges], best[edges] - 6, a[edges], b[edges])
    gap_e = (g[k, best] + margin)[edges]
    return (
        np.append(pair, edges),
        np.append(point, np.zeros(len(edges), int)),
        np.append(gap, gap_e),
        np.concatenate([n[pair], n[edges]]),
        np.concatenate([P, one]),
    )


def _faces(
    n: np.ndarray, box: Boxes, other: Boxes, axis: np.ndarray, reach: np.ndarray
) -> tuple[np.ndarray, ...]:
    """A face with the normal n out of its box, along one of its axes, against another box: which pair, which
    point, gap, and the point halfway between both faces."""
    k, R, c, half = np.arange(len(n)), box.R, box.c, box.half
    R_2, c_2, half_2 = other.R, other.c, other.half
    u, v = (axis + 1) % 3, (axis + 2) % 3
    x, y, h = R[k, :, u], R[k, :, v], np.stack([half[k, u], half[k, v]], axis=1)
    top = c + half[k, axis, None] * n
    into = np.einsum("kji,kj->ki", R_2, n)  # the face that looks most against n
    axis_2 = np.argmax(np.abs(into), axis=1)
    out = -np.sign(into[k, axis_2])
    u_2, v_2 = (axis_2 + 1) % 3, (axis_2 + 2) % 3
    x_2, y_2 = R_2[k, :, u_2], R_2[k, :, v_2]
    h_2 = np.stack([half_2[k, u_2], half_2[k, v_2]], axis=1)
    n_2 = R_2[k, :, axis_2] * out[:, None]
    top_2 = c_2 + half_2[k, axis_2, None] * n_2
    corners = (
        top_2[:, None]
        + (_SIGNS[:, 0] * h_2[:, :1])[..., None] * x_2[:, None]
        + (_SIGNS[:, 1] * h_2[:, 1:])[..., None] * y_2[:, None]
    )
    seen = corners - top[:, None]
    flat = np.stack([np.einsum("kmi,ki->km", seen, a) for a in (x, y)], axis=2)  # (k, 4, 2)
    slack = 1e-9 * h.max(axis=1)[:, None, None]
    within = (np.abs(flat) <= h[:, None] + slack).all(axis=2)
    # corners of the first face within the second, seen along n: p = top_2 + s x_2 + t y_2, same shadow
    mine = _SIGNS * h[:, None]
    shadow = np.stack(
        [np.stack([np.einsum("ki,ki->k", a, b) for b in (x_2, y_2)], axis=1) for a in (x, y)], axis=1
    )  # (k, 2, 2): shadows of x_2, y_2 on x, y
    center = np.stack([np.einsum("ki,ki->k", top_2 - top, a) for a in (x, y)], axis=1)
    st = np.einsum("kij,kmj->kmi", np.linalg.inv(shadow), mine - center[:, None])
    under = (np.abs(st) < h_2[:, None]).all(axis=2)
    # crossings of the edges of both
    p, q = flat, np.roll(flat, -1, axis=1) - flat
    r, s = mine, np.roll(mine, -1, axis=1) - mine
    turn = lambda a, b: a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    det = turn(q[:, :, None], s[:, None])
    apart = r[:, None] - p[:, :, None]
    safe = np.where(np.abs(det) > 1e-9 * (h.max(axis=1) * h_2.max(axis=1))[:, None, None], det, np.nan)
    with np.errstate(invalid="ignore"):
        a, b = turn(apart, s[:, None]) / safe, turn(apart, q[:, :, None]) / safe
        crosses = ((a > 0) & (a < 1) & (b > 0) & (b < 1)).reshape(-1, 16)
    cut = (p[:, :, None] + np.nan_to_num(a)[..., None] * q[:, :, None]).reshape(-1, 16, 2)
    shape = np.concatenate([flat, mine, cut], axis=1)  # (k, POINTS, 2): places seen along n
    st = np.einsum("kij,kmj->kmi", np.linalg.inv(shadow), shape - center[:, None])
    low = top_2[:, None] + st[..., :1] * x_2[:, None] + st[..., 1:] * y_2[:, None]
    gap = np.einsum("kmi,ki->km", low - top[:, None], n)
    keep = np.concatenate([within, under, crosses], axis=1) & (gap <= reach[:, None])
    pair, point = np.nonzero(keep)
    gap = gap[pair, point]
    return pair, point, gap, low[pair, point] - gap[:, None] / 2 * n[pair]


def _edges(n: np.ndarray, which: np.ndarray, a: Boxes, b: Boxes) -> np.ndarray:
    """Halfway between the closest points of the edge of a that is furthest along n and that of b."""
    k, (i, j) = np.arange(len(n)), np.divmod(which, 3)
    ends = []
    for box, axis, sign in ((a, i, 1.0), (b, j, -1.0)):
        at = box.half * np.sign(sign * np.einsum("kji,kj->ki", box.R, n))
        at[k, axis] = 0.0
        ends.append((box.c + np.einsum("kij,kj->ki", box.R, at), box.R[k, :, axis]))
    (p, x), (q, y) = ends
    d, c = q - p, np.einsum("ki,ki->k", x, y)
    dx, dy = np.einsum("ki,ki->k", d, x), np.einsum("ki,ki->k", d, y)
    s = (dx - c * dy) / (1 - c * c)
    t = (c * dx - dy) / (1 - c * c)
    return np.asarray((p + s[:, None] * x + q + t[:, None] * y) / 2)
