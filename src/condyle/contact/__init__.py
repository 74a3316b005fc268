"""Contact that comes and goes: surfaces of bodies, materials, and laws between them.
`system.add_contact("heel", floor, heel)`, or as any force `cd.contact.HuntCrossley(floor, heel)`."""
from condyle.arguments import missing, spoken
from condyle.contact.law import HuntCrossley
from condyle.contact.leaf import Depth, Loss
from condyle.contact.material import Material
from condyle.contact.opensim import OpenSimHuntCrossley, SmoothSphereHalfSpace
from condyle.contact.surfaces import HalfSpace, Sphere

__all__ = ["Depth", "HalfSpace", "HuntCrossley", "Loss", "Material", "OpenSimHuntCrossley",
           "SmoothSphereHalfSpace", "Sphere"]

spoken(HalfSpace, HuntCrossley, Material, OpenSimHuntCrossley, SmoothSphereHalfSpace, Sphere)

_ELSEWHERE = {
    "HuntCrossleyForce": "OpenSimHuntCrossley, or HuntCrossley with a smooth curve of friction",
    "SmoothSphereHalfSpaceForce": "SmoothSphereHalfSpace", "Plane": "HalfSpace", "Floor": "HalfSpace",
    "ContactHalfSpace": "HalfSpace", "ContactSphere": "Sphere", "Ball": "Sphere"}
"""What other libraries call it."""


def __getattr__(name: str) -> object:
    raise missing("cd.contact", name, __all__, _ELSEWHERE)
