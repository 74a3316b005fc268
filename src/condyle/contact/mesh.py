"""Surfaces of triangles with an elastic layer, for elastic foundations; and the triangle nearest to a point,
with its nearest point: docs/theory/contact.md (47).

With corners a, b, c and the point y, whether the nearest point is a corner, on an edge or within follows
from the signs of six products (Ericson, Real-Time Collision Detection, 5.1.5).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import SX
from condyle.contact.materials import Material
from condyle.contact.solids import Framed
from condyle.contact.surfaces import Folded, Length, plain_numbers
from condyle.contact.triangles import Triangles, checked
from condyle.errors import DescriptionError, warn
from condyle.laws.described import placed
from condyle.laws.factors import BodyFactors
from condyle.native.searches.tree_minimum import TreeMinimum
from condyle.records import assign, dataclass
from condyle.shapes import Drawing
from condyle.shapes import Mesh as MeshShape
from condyle.spatial.algebra import all_of


def _weights(corners: SX, y: SX) -> tuple[SX, SX, list[SX]]:
    """v, w of the nearest point a + v (b - a) + w (c - a), and whether it is at a, b, c, on ab, bc, ca."""
    a, b, c = corners[:3], corners[3:6], corners[6:9]
    ab, ac, ap = b - a, c - a, y - a
    d1, d2 = ca.dot(ab, ap), ca.dot(ac, ap)
    bb, bc, cc = ca.dot(ab, ab), ca.dot(ab, ac), ca.dot(ac, ac)
    d3, d4, d5, d6 = d1 - bb, d2 - bc, d1 - bc, d2 - cc  # of y - b and y - c
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
    for place, (at_v, at_w) in (
        (on_bc, (1 - t_bc, t_bc)),
        (on_ca, (0, t_ca)),
        (on_ab, (t_ab, 0)),
        (at_c, (0, 1)),
        (at_b, (1, 0)),
        (at_a, (0, 0)),
    ):
        v, w = ca.if_else(place, at_v, v), ca.if_else(place, at_w, w)
    return v, w, [at_a, at_b, at_c, on_ab, on_bc, on_ca]


def _nearest(corners: SX, y: SX) -> tuple[SX, list[SX]]:
    a, b, c = corners[:3], corners[3:6], corners[6:9]
    v, w, places = _weights(corners, y)
    return a + v * (b - a) + w * (c - a), places


@lru_cache(maxsize=64)
def nearest_triangle(mesh: Triangles, together: bool = False) -> TreeMinimum:
    """y, most -> corners, normals of the face, its corners and its edges, and its number: 31 numbers of the
    nearest face; NaN if none is nearer than the root of `most`. `together`: for four points in lanes that are
    near each other."""
    tree = mesh.tree
    rows = np.column_stack(
        [
            mesh.corners.reshape(-1, 9),
            mesh.normals,
            mesh.corner_normals.reshape(-1, 9),
            mesh.edge_normals.reshape(-1, 9),
            np.arange(len(mesh.faces)),
        ]
    )

    return TreeMinimum.trace(
        "nearest_triangle",
        4,
        tree,
        _box_distance,
        _face_distance,
        mesh.boxes,
        tree.blocks(_faces(mesh)),
        rows,
        together,
    )


def most(x: Any, y: Any) -> SX:
    """fmax in one instruction; y if one is NaN."""
    return ca.if_else(x > y, x, y)


def _least(x: Any, y: Any) -> SX:
    """fmin in one instruction; y if one is NaN."""
    return ca.if_else(x < y, x, y)


def _box_distance(p: SX, box: SX) -> SX:
    """Square of the distance to an oriented box: Triangles.boxes."""
    y = ca.reshape(box[:9], 3, 3).T @ p[:3] - box[9:12]
    return ca.sumsqr(most(ca.SX(3, 1), ca.fabs(y) - box[12:15]))


def _faces(mesh: Triangles) -> np.ndarray:
    """Data for distances to faces: a, b - a, c - a, the normal, 1 over the squares of the sides ab, ac, bc,
    and products of b - a and c - a; shape (m, 18)."""
    a, b, c = mesh.corners.transpose(1, 0, 2)
    dot = lambda x, y: (x * y).sum(axis=1)
    ab, ac = b - a, c - a
    return np.column_stack(
        [
            a,
            ab,
            ac,
            mesh.normals,
            1 / dot(ab, ab),
            1 / dot(ac, ac),
            1 / dot(c - b, c - b),
            dot(ab, ab),
            dot(ab, ac),
            dot(ac, ac),
        ]
    )


def _face_distance(p: SX, face: SX) -> SX:
    """Square of the distance to a triangle: to its plane if the foot is within, else to its nearest side.
    Like `_nearest` without divisions, for searches."""
    ab, ac, n, over = face[3:6], face[6:9], face[9:12], face[12:15]
    ap = p[:3] - face[:3]
    d1, d2 = ca.dot(ab, ap), ca.dot(ac, ap)
    d3, d4, d5, d6 = d1 - face[15], d2 - face[16], d1 - face[16], d2 - face[17]
    to = lambda y, along, d, over: ca.sumsqr(y - _least(most(d * over, 0), 1) * along)
    side = _least(
        _least(to(ap, ab, d1, over[0]), to(ap, ac, d2, over[1])), to(ap - ab, ac - ab, d4 - d3, over[2])
    )
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    within = _least(_least(va, vb), vc) >= 0
    return ca.if_else(within, ca.dot(n, ap) ** 2, side)


def on_triangle(row: SX, y: SX) -> tuple[SX, SX]:
    """Depth below the nearest face and the way out: x and n of (44)."""
    S, places = _nearest(row[:9], y)
    normal, of_place = row[9:12], row[12:30]
    pseudo, within = normal, ca.SX(1)
    for k, place in reversed(list(enumerate(places))):
        pseudo = ca.if_else(place, of_place[3 * k : 3 * k + 3], pseudo)
        within = all_of(within, ca.logic_not(place))
    away = S - y
    square = ca.sumsqr(away)
    some = square > 0
    distance = ca.sqrt(ca.if_else(some, square, 1))
    sign = ca.if_else(ca.dot(away, pseudo) < 0, -1, 1)
    # within the face: its plane, which is smooth where the point passes through it
    x = ca.if_else(within, ca.dot(normal, row[:3] - y), ca.if_else(some, sign * distance, 0))
    n = ca.if_else(within, normal, ca.if_else(some, sign * away / distance, normal))
    return x, n


LARGE = 5.0
"""[m] Meshes larger than this are probably in millimeters."""


@dataclass(frozen=True, eq=False, repr=False)
class Mesh(Framed):
    """A closed surface of triangles, rigid except for an elastic layer: a spring at the center of each.

    It touches half-spaces, spheres, ellipsoids, cylinders, tori, boxes, height fields, convex implicit
    surfaces and other meshes, by `cd.contact.ElasticFoundation`, which `system.add_contact` uses for it.
    Triangles go counter-clockwise from outside. They are checked when the surface is made, and repairs give a
    warning: corners at one place are merged; duplicate faces and solids within a solid are removed; faces
    with the wrong orientation are turned over. A warning also names closed parts that go through each other
    and faces that are folded back on their neighbors; other self-intersections of one part are not detected.
    A surface with holes, with edges of more than two faces or with faces without area raises an error.

    Args:
        body: whose it is, or its name.
        X: frame S on the body: a Transform, a 3-vector or None.
        mesh: a file (.obj, .stl, .ply or .vtp), vertices [m], shape (n, 3), and triangles, shape (m, 3), or a
            cd.shapes.Mesh, which may have a scale.
        thickness: of the elastic layer [m], above 0.
        material: a Material.
        name: how groups call it.
        cliques: names; surfaces that share one ignore each other in groups.
    """

    other_names = ("ContactMesh",)

    mesh: str | Path | MeshShape | tuple[ArrayLike, ArrayLike] | Triangles
    thickness: Length
    material: Folded

    by_points: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.material, Material):
            raise DescriptionError(
                f"Mesh: material: expected a cd.contact.Material, got {self.material!r}; "
                "corners of a rigid mesh are cd.contact.vertices(...)"
            )
        given = self.mesh
        if not isinstance(given, Triangles):
            if isinstance(given, tuple | list) and given:
                plain_numbers(
                    given[0],
                    "Mesh: vertices",
                    "triangles are a constant table; the "
                    "frame X, the thickness and the material may be Parameters",
                )
            shape = given if isinstance(given, MeshShape) else MeshShape(given)
            what = f"Mesh: {shape.path!r}" if shape.path else "Mesh"
            assign(self, mesh=checked(*shape.surface(), what))
            size = float(np.ptp(self.triangles.vertices, axis=0).max())
            if size > LARGE:
                warn(
                    f"{what}: is {size:.4g} m large; are its corners in meters? Many "
                    "files are in millimeters: give cd.shapes.Mesh(file, scale=0.001)"
                )
            thickness: Any = self.thickness
            # OpenSim's files give a stiffness per area as a layer of 1 m
            if isinstance(thickness, (int, float)) and size < thickness != 1:
                warn(
                    f"{what}: a layer of {thickness:g} m on a mesh that is {size:.4g} m large; is "
                    "the thickness in meters? 3 mm is 0.003"
                )

    def drawn(self, size: float) -> list[Drawing]:
        return [Drawing(MeshShape((self.triangles.vertices, self.triangles.faces)), self.X_BS)]

    def scaled(self, factors: BodyFactors) -> Self:
        """Scaled with its body; its layer keeps its thickness."""
        moved = super().scaled(factors)
        if not factors.change(self.body):
            return moved
        R = np.array(ca.evalf(placed(self.X)[0]).full())
        vertices = (self.triangles.vertices @ R.T * factors[self.body]) @ R
        return replace(moved, mesh=(vertices, self.triangles.faces))

    @property
    def triangles(self) -> Triangles:
        """Its checked triangles, in S."""
        found: Any = self.mesh
        return found

    @property
    def smallest_radius(self) -> float:
        return float(np.ptp(self.triangles.vertices, axis=0).min()) / 2

    @property
    def form(self) -> Hashable:
        return type(self).__name__, self.triangles.digest
