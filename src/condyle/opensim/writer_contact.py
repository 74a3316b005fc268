"""Contact forces, and the surfaces that touch as contact geometry of the model."""

from __future__ import annotations

from functools import singledispatch
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from condyle.contact import (
    ElasticFoundation,
    HalfSpace,
    Material,
    OpenSimHuntCrossley,
    SmoothSphereHalfSpace,
    Sphere,
)
from condyle.contact.surfaces import Surface
from condyle.opensim.writer_forces import as_force
from condyle.opensim.writing import Writing
from condyle.opensim.xml import element
from condyle.spatial import euler_from_rotation

MATERIAL = {
    "modulus": "stiffness",
    "dissipation": "dissipation",
    "static_friction": "static_friction",
    "dynamic_friction": "dynamic_friction",
    "viscous_friction": "viscous_friction",
}
"""Numbers of a material, and what they are called in OpenSim."""
SMOOTH = (
    *list(MATERIAL.values()),
    "transition_velocity",
    "constant_contact_force",
    "hertz_smoothing",
    "hunt_crossley_smoothing",
)


@as_force.register
def _(law: OpenSimHuntCrossley, name: str, to: Writing) -> Element:
    where, surfaces = f"force {name!r}", (law.a, law.b)
    if law.rolling_resistance or law.spin_friction or law.smooth:
        to.refuse(
            f"{where}: {law!r}: a HuntCrossleyForce has no rolling_resistance, spin_friction or smooth"
        )
    materials = [s.made_of for s in surfaces]
    speeds = [to.number(m.transition_speed, where) for m in materials if isinstance(m, Material)]
    made = element("HuntCrossleyForce", name)
    made.append(
        element(
            "HuntCrossleyForce::ContactParametersSet",
            "contact_parameters",
            objects=[_parameters(s, name, to, where) for s in surfaces],
        )
    )
    made.extend(element("x", transition_velocity=max(speeds, default=0.01)))
    return made


@as_force.register
def _(law: ElasticFoundation, name: str, to: Writing) -> Element:
    to.refuse(f"force {name!r}: {law!r}: contact of meshes is not written; a mesh is a file of its own")
    return element("ElasticFoundationForce", name)


def _parameters(surface: Surface, owner: str, to: Writing, where: str) -> Element:
    """A surface and what it is made of."""
    material, kind = surface.made_of, "HuntCrossleyForce::ContactParameters"
    if not isinstance(material, Material):
        to.refuse(f"{where}: {material!r} does not yield; in OpenSim surfaces do")
        return element(kind)
    numbers = {theirs: to.number(getattr(material, ours), where) for ours, theirs in MATERIAL.items()}
    return element(kind, geometry=contact_geometry(surface, owner, to, where), **numbers)


@as_force.register
def _(law: SmoothSphereHalfSpace, name: str, to: Writing) -> Element:
    where = f"force {name!r}"
    floor, ball = law.surfaces()
    return element(
        "SmoothSphereHalfSpaceForce",
        name,
        socket_sphere=f"/contactgeometryset/{contact_geometry(ball, name, to, where)}",
        socket_half_space=f"/contactgeometryset/{contact_geometry(floor, name, to, where)}",
        **{key: to.number(getattr(law, key), where) for key in SMOOTH},
    )


def contact_geometry(surface: Surface, owner: str, to: Writing, where: str) -> str:
    """The name of a surface's contact geometry; it is made if no force before had the same."""
    made = _as_geometry(surface, to, where)
    mine = (made.tag, [(c.tag, c.text) for c in made])
    for name, other in to.contacts.items():
        if mine == (other.tag, [(c.tag, c.text) for c in other]):
            return name
    wanted = getattr(surface, "name", "") or f"{owner}_{made.tag.removeprefix('Contact').lower()}"
    name, count = wanted, 1
    while name in to.contacts:
        count, name = count + 1, f"{wanted}_{count + 1}"
    made.set("name", to.name(name, f"{where}: surface {name!r}"))
    to.contacts[name] = made
    return name


@singledispatch
def _as_geometry(surface: Any, to: Writing, where: str) -> Element:
    to.refuse(f"{where}: {surface!r}: half-spaces and spheres are written; OpenSim has no other")
    return element("ContactSphere")


@_as_geometry.register
def _(surface: HalfSpace, to: Writing, where: str) -> Element:
    """It fills x > 0 of its frame."""
    normal = np.asarray(to.number(surface.normal, where), dtype=float)
    x = -normal / np.linalg.norm(normal)
    z = np.cross(x, np.eye(3)[np.argmin(np.abs(x))])
    z /= np.linalg.norm(z)
    return element(
        "ContactHalfSpace",
        socket_frame=to.place(surface.body),
        location=-to.number(surface.height, where) * x,
        orientation=euler_from_rotation(np.stack([x, np.cross(z, x), z], axis=1)),
    )


@_as_geometry.register
def _(surface: Sphere, to: Writing, where: str) -> Element:
    return element(
        "ContactSphere",
        socket_frame=to.place(surface.body),
        location=to.number(surface.centre, where),
        radius=to.number(surface.radius, where),
    )
