"""The nearest triangle of a mesh to a point, and the nearest point on it: docs/theory/contact.md (47).

With corners a, b, c and the point y, whether the nearest point is a corner, on an edge or within follows
from the signs of six products (Ericson, Real-Time Collision Detection, 5.1.5).
"""
from __future__ import annotations

from functools import lru_cache

import casadi as ca
import numpy as np

from condyle.contact.triangles import Triangles
from condyle.native.sweeps.tree_best import TreeBest


def _weights(corners: ca.SX, y: ca.SX) -> tuple[ca.SX, ca.SX, list[ca.SX]]:
    """v, w of the nearest point a + v (b - a) + w (c - a), and whether it is at a, b, c, on ab, bc, ca."""
    a, b, c = corners[:3], corners[3:6], corners[6:9]
    ab, ac, ap = b - a, c - a, y - a
    d1, d2 = ca.dot(ab, ap), ca.dot(ac, ap)
    bb, bc, cc = ca.dot(ab, ab), ca.dot(ab, ac), ca.dot(ac, ac)
    d3, d4, d5, d6 = d1 - bb, d2 - bc, d1 - bc, d2 - cc                     # of y - b and y - c
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    both = ca.logic_and
    at_a, at_b, at_c = both(d1 <= 0, d2 <= 0), both(d3 >= 0, d4 <= d3), both(d6 >= 0, d5 <= d6)
    on_ab = both(vc <= 0, both(d1 >= 0, d3 <= 0))
    on_ca = both(vb <= 0, both(d2 >= 0, d6 <= 0))
    on_bc = both(va <= 0, both(d4 >= d3, d5 >= d6))
    over = lambda x, z: x / ca.if_else(z == 0, 1, z)
    t_ab, t_ca, t_bc = over(d1, d1 - d3), over(d2, d2 - d6), over(d4 - d3, d4 - d3 + d5 - d6)
    total = va + vb + vc
    v, w = over(vb, total), over(vc, total)
    for place, (at_v, at_w) in ((on_bc, (1 - t_bc, t_bc)), (on_ca, (0, t_ca)), (on_ab, (t_ab, 0)),
                                (at_c, (0, 1)), (at_b, (1, 0)), (at_a, (0, 0))):
        v, w = ca.if_else(place, at_v, v), ca.if_else(place, at_w, w)
    return v, w, [at_a, at_b, at_c, on_ab, on_bc, on_ca]


def _nearest(corners: ca.SX, y: ca.SX) -> tuple[ca.SX, list[ca.SX]]:
    a, b, c = corners[:3], corners[3:6], corners[6:9]
    v, w, places = _weights(corners, y)
    return a + v * (b - a) + w * (c - a), places


@lru_cache(maxsize=64)
def nearest_triangle(mesh: Triangles) -> TreeBest:
    """y, most -> corners, normals of the face, its corners and its edges, and its number: 31 numbers of the
    nearest face; NaN where none is nearer than the root of `most`."""
    tree, corners = mesh.tree, mesh.corners.reshape(-1, 9)
    rows = np.column_stack([corners, mesh.normals, mesh.corner_normals.reshape(-1, 9),
                            mesh.edge_normals.reshape(-1, 9), np.arange(len(corners))])

    def bound(p: ca.SX, box: ca.SX) -> ca.SX:
        return ca.sumsqr(ca.fmax(ca.fmax(box[:3] - p[:3], p[:3] - box[3:6]), 0))

    def value(p: ca.SX, corners: ca.SX) -> ca.SX:
        return ca.sumsqr(_nearest(corners, p[:3])[0] - p[:3])

    return TreeBest.of("nearest_triangle", 4, tree, bound, value, tree.nodes(mesh.box, np.full(6, np.nan)),
                       tree.blocks(corners), rows)


def on_triangle(row: ca.SX, y: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Depth below the nearest face and the way out: x and n of (44)."""
    S, places = _nearest(row[:9], y)
    normal, of_place = row[9:12], row[12:30]
    pseudo, within = normal, ca.SX(1)
    for k, place in reversed(list(enumerate(places))):
        pseudo = ca.if_else(place, of_place[3 * k:3 * k + 3], pseudo)
        within = ca.logic_and(within, ca.logic_not(place))
    away = S - y
    square = ca.sumsqr(away)
    some = square > 0
    distance = ca.sqrt(ca.if_else(some, square, 1))
    sign = ca.if_else(ca.dot(away, pseudo) < 0, -1, 1)
    # within the face: its plane, which is smooth where the point passes through it
    x = ca.if_else(within, ca.dot(normal, row[:3] - y), ca.if_else(some, sign * distance, 0))
    n = ca.if_else(within, normal, ca.if_else(some, sign * away / distance, normal))
    return x, n
