"""Surfaces of triangles, with an elastic layer: what elastic foundations stand on."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np

from condyle.contact.material import Material
from condyle.contact.solids import Framed
from condyle.contact.surfaces import Folded, Length, plain_numbers
from condyle.contact.triangles import Triangles, checked
from condyle.errors import DescriptionError, warn
from condyle.laws.described import placed
from condyle.laws.factors import Factors
from condyle.records import dataclass
from condyle.shapes import Drawing
from condyle.shapes import Mesh as MeshShape

LARGE = 5.0
"""[m] No part of a body is so large: such meshes are in millimeters."""


@dataclass(frozen=True, eq=False, repr=False)
class Mesh(Framed):
    """A closed surface of triangles, rigid but for an elastic layer: a spring at the center of each.

    It touches half-spaces, spheres, ellipsoids, cylinders, tori, boxes, height fields, convex implicit
    surfaces and its like, by `cd.contact.ElasticFoundation`, which `system.add_contact` takes for it.
    Triangles go counter-clockwise from outside. They are checked when the surface is made, and what is mended
    comes with a warning: corners at one place are one; faces that are there twice and solids within a solid
    are left out; faces that face the other way are turned over. Closed parts that go through each other are
    named, and faces that are folded back on their neighbors; that one part goes through itself elsewhere is
    not noticed. A surface with holes, with edges of more than two
    faces or with faces without area is refused.

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

    mesh: Any
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
                    "triangles are a table that no state changes; the "
                    "frame X, the thickness and the material may be Parameters",
                )
            shape = given if isinstance(given, MeshShape) else MeshShape(given)
            what = f"Mesh: {shape.path!r}" if shape.path else "Mesh"
            object.__setattr__(self, "mesh", checked(*shape.surface(), what))
            size = float(np.ptp(self.triangles.vertices, axis=0).max())
            if size > LARGE:
                warn(
                    f"{what}: is {size:.4g} m large; are its corners in meters? Those of many "
                    "files are in millimeters: give cd.shapes.Mesh(file, scale=0.001)"
                )
            thickness: Any = self.thickness
            # a layer of 1 m is how OpenSim's files give a stiffness per area
            if isinstance(thickness, (int, float)) and size < thickness != 1:
                warn(
                    f"{what}: a layer of {thickness:g} m on a mesh that is {size:.4g} m large; is "
                    "the thickness in meters? That of 3 mm is 0.003"
                )

    def drawn(self, size: float) -> list[Drawing]:
        return [Drawing(MeshShape((self.triangles.vertices, self.triangles.faces)), self.X_BS)]

    def scaled(self, factors: Factors) -> Self:
        """As large as its body; its layer is as thick as it was."""
        moved = super().scaled(factors)
        if not factors.change(self.body):
            return moved
        R = np.array(ca.evalf(placed(self.X)[0]).full())
        vertices = (self.triangles.vertices @ R.T * factors[self.body]) @ R
        return replace(moved, mesh=(vertices, self.triangles.faces))

    @property
    def triangles(self) -> Triangles:
        """Its checked triangles, in S."""
        found: Triangles = self.mesh
        return found

    @property
    def form(self) -> Hashable:
        return type(self).__name__, self.triangles.digest
