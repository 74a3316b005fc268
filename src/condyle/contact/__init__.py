"""Contact that comes and goes: surfaces of bodies, materials, and laws between them.
`system.add_contact("heel", floor, heel)`, or as any force `cd.contact.HuntCrossley(floor, heel)`."""

from condyle.arguments import missing, spoken
from condyle.contact.depth import Depth, Loss
from condyle.contact.elastic_foundation import ElasticFoundation, OpenSimElasticFoundation
from condyle.contact.hunt_crossley import HuntCrossley, OpenSimHuntCrossley, SmoothSphereHalfSpace
from condyle.contact.implicit_surface import Implicit
from condyle.contact.materials import Material, Rigid
from condyle.contact.mesh import Mesh
from condyle.contact.solids import Box, Cylinder, Ellipsoid, Torus
from condyle.contact.surfaces import HalfSpace, Point, Sphere, vertices
from condyle.contact.terrain import HeightField

__all__ = [
    "Box",
    "Cylinder",
    "Depth",
    "ElasticFoundation",
    "Ellipsoid",
    "HalfSpace",
    "HeightField",
    "HuntCrossley",
    "Implicit",
    "Loss",
    "Material",
    "Mesh",
    "OpenSimElasticFoundation",
    "OpenSimHuntCrossley",
    "Point",
    "Rigid",
    "SmoothSphereHalfSpace",
    "Sphere",
    "Torus",
    "vertices",
]

_MATERIAL = "it is part of the surfaces' material: cd.contact.Material(...), or cd.contact.Rigid(...)"
_BOTH = "it is static_friction= and dynamic_friction=, equal for plain Coulomb friction"
_ELASTIC = "it is Material.elastic(young, poisson), in Pa"

spoken(Depth, Ellipsoid, HalfSpace, HeightField, Implicit, Loss, Mesh, Point, SmoothSphereHalfSpace, Torus)
spoken(
    ElasticFoundation,
    HuntCrossley,
    OpenSimElasticFoundation,
    OpenSimHuntCrossley,
    answers=dict.fromkeys(
        (
            "dissipation",
            "dynamic_friction",
            "friction",
            "material",
            "modulus",
            "mu",
            "restitution",
            "static_friction",
            "stiffness",
            "transition_speed",
        ),
        _MATERIAL,
    ),
)
spoken(
    Sphere,
    answers={
        "diameter": "it is radius=, half of it",
        **dict.fromkeys(("location", "position", "station"), "it is center="),
    },
)
spoken(
    Box,
    answers=dict.fromkeys(("dimensions", "lengths", "size", "sizes"), "it is half_lengths=, half of each"),
)
spoken(
    Cylinder,
    answers={
        "height": "it is length=",
        "half_length": "it is length=, the whole",
        "axis": "it is z of the frame X",
    },
)
spoken(
    Material,
    answers={
        **dict.fromkeys(("stiffness", "k"), "it is modulus= [Pa]"),
        "friction": _BOTH,
        "mu": _BOTH,
        **dict.fromkeys(("E", "young", "youngs_modulus", "nu", "poisson"), _ELASTIC),
        "restitution": "rebound follows from dissipation=; it is given to cd.contact.Rigid(restitution=)",
    },
)
spoken(
    Rigid,
    answers={
        **dict.fromkeys(
            ("mu", "dynamic_friction", "friction_coefficient", "static_friction"), "it is friction="
        ),
        **dict.fromkeys(("e", "bounce"), "it is restitution="),
        **dict.fromkeys(
            ("damping", "dissipation", "modulus", "stiffness"), "what yields is made of a cd.contact.Material"
        ),
    },
)

_ELSEWHERE = {
    "HuntCrossleyForce": "OpenSimHuntCrossley, or HuntCrossley with a smooth curve of friction",
    "ElasticFoundationForce": "OpenSimElasticFoundation, or ElasticFoundation",
    "ContactMesh": "Mesh",
    "SmoothSphereHalfSpaceForce": "SmoothSphereHalfSpace",
    "Plane": "HalfSpace",
    "Floor": "HalfSpace",
    **dict.fromkeys(("ContactHalfSpace", "Ground", "Wall"), "HalfSpace"),
    "ContactSphere": "Sphere",
    "Ball": "Sphere",
    **dict.fromkeys(("Heightmap", "Terrain"), "HeightField"),
    **dict.fromkeys(("Cube", "Cuboid"), "Box"),
    "Stairs": "a list of Box, one per step",
    "Capsule": "Cylinder, or a row of Sphere",
    "Wheel": "Torus",
    "Ring": "Torus",
    "Hertz": "HuntCrossley",
    "Stop": "cd.constraints.Stop",
    "Rope": "cd.constraints.Rope",
    "Contact": "system.add_contact(name, a, b)",
    "TimeStepping": "cd.integrators.TimeStepping",
    "Friction": "numbers of cd.contact.Material and cd.contact.Rigid",
}
"""What other libraries call it."""


def __getattr__(name: str) -> object:
    raise missing("cd.contact", name, __all__, _ELSEWHERE)
