"""Contact: surfaces of bodies, their materials, and the laws of force between them.
`system.add_contact("heel", floor, heel)`, or as any force `cd.contact.HuntCrossley(floor, heel)`."""

from typing import TYPE_CHECKING

from condyle.arguments import family

if TYPE_CHECKING:
    from condyle.contact.depth import Depth as Depth
    from condyle.contact.depth import Loss as Loss
    from condyle.contact.elastic_foundation import ElasticFoundation as ElasticFoundation
    from condyle.contact.elastic_foundation import OpenSimElasticFoundation as OpenSimElasticFoundation
    from condyle.contact.hunt_crossley import HuntCrossley as HuntCrossley
    from condyle.contact.hunt_crossley import OpenSimHuntCrossley as OpenSimHuntCrossley
    from condyle.contact.hunt_crossley import SmoothSphereHalfSpace as SmoothSphereHalfSpace
    from condyle.contact.implicit_surface import Implicit as Implicit
    from condyle.contact.materials import Material as Material
    from condyle.contact.materials import Rigid as Rigid
    from condyle.contact.mesh import Mesh as Mesh
    from condyle.contact.solids import Box as Box
    from condyle.contact.solids import Cylinder as Cylinder
    from condyle.contact.solids import Ellipsoid as Ellipsoid
    from condyle.contact.solids import Roller as Roller
    from condyle.contact.solids import Torus as Torus
    from condyle.contact.surfaces import HalfSpace as HalfSpace
    from condyle.contact.surfaces import Point as Point
    from condyle.contact.surfaces import Sphere as Sphere
    from condyle.contact.surfaces import vertices as vertices
    from condyle.contact.terrain import HeightField as HeightField

_ELSEWHERE = {
    "Capsule": "Cylinder, or a row of Sphere",
    "Stairs": "a list of Box, one per step",
    "Stop": "cd.constraints.Stop",
    "Rope": "cd.constraints.Rope",
    "Contact": "system.add_contact(name, a, b)",
    "TimeStepping": "cd.integrators.TimeStepping",
    "Friction": "numbers of cd.contact.Material and cd.contact.Rigid",
}
"""Hints for names of other libraries without a class here."""

__all__, __getattr__ = family(__name__, _ELSEWHERE)
