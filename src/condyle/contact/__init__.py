"""Contact that comes and goes: surfaces of bodies, materials, and laws between them.
`system.add_contact("heel", floor, heel)`, or as any force `cd.contact.HuntCrossley(floor, heel)`."""
from condyle.arguments import missing, spoken
from condyle.contact.foundation import ElasticFoundation, OpenSimElasticFoundation
from condyle.contact.implicit import Implicit
from condyle.contact.law import HuntCrossley
from condyle.contact.leaf import Depth, Loss
from condyle.contact.material import Material
from condyle.contact.mesh import Mesh
from condyle.contact.opensim import OpenSimHuntCrossley, SmoothSphereHalfSpace
from condyle.contact.points import Point, vertices
from condyle.contact.rigid import Rigid
from condyle.contact.solids import Box, Cylinder, Ellipsoid, Torus
from condyle.contact.surfaces import HalfSpace, Sphere
from condyle.contact.terrain import HeightField

__all__ = ["Box", "Cylinder", "Depth", "ElasticFoundation", "Ellipsoid", "HalfSpace", "HeightField",
           "HuntCrossley", "Implicit", "Loss", "Material", "Mesh", "OpenSimElasticFoundation",
           "OpenSimHuntCrossley", "Point", "Rigid", "SmoothSphereHalfSpace", "Sphere", "Torus", "vertices"]

spoken(Box, Cylinder, Depth, ElasticFoundation, Ellipsoid, HalfSpace, HeightField, HuntCrossley, Implicit,
       Loss, Material, Mesh, OpenSimElasticFoundation, OpenSimHuntCrossley, Point, Rigid,
       SmoothSphereHalfSpace, Sphere, Torus)

_ELSEWHERE = {
    "HuntCrossleyForce": "OpenSimHuntCrossley, or HuntCrossley with a smooth curve of friction",
    "ElasticFoundationForce": "OpenSimElasticFoundation, or ElasticFoundation", "ContactMesh": "Mesh",
    "SmoothSphereHalfSpaceForce": "SmoothSphereHalfSpace", "Plane": "HalfSpace", "Floor": "HalfSpace",
    "ContactHalfSpace": "HalfSpace", "ContactSphere": "Sphere", "Ball": "Sphere"}
"""What other libraries call it."""


def __getattr__(name: str) -> object:
    raise missing("cd.contact", name, __all__, _ELSEWHERE)
