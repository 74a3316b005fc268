"""Contact forces, and the surfaces that touch as contact geometry of the model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from condyle.contact import (
    ElasticFoundation,
    HalfSpace,
    HuntCrossley,
    Material,
    Mesh,
    OpenSimElasticFoundation,
    OpenSimHuntCrossley,
    SmoothSphereHalfSpace,
    Sphere,
)
from condyle.contact.surfaces import Surface
from condyle.contact.triangles import Triangles
from condyle.opensim.writer_forces import as_force
from condyle.opensim.writing import DIGITS, Writing, angles, settled
from condyle.opensim.xml import element
from condyle.spatial import rotation_from_euler

MATERIAL = {
    "modulus": "stiffness",
    "dissipation": "dissipation",
    "static_friction": "static_friction",
    "dynamic_friction": "dynamic_friction",
    "viscous_friction": "viscous_friction",
}
"""Numbers of a material, and what they are called in OpenSim."""
FRICTION = slice(3, 6)
"""Where the coefficients of friction are among the numbers of two materials."""
SMOOTH = (
    *list(MATERIAL.values()),
    "transition_velocity",
    "constant_contact_force",
    "hertz_smoothing",
    "hunt_crossley_smoothing",
)


@as_force.register
def _(law: HuntCrossley, name: str, to: Writing) -> Element:
    """Without friction it is OpenSim's law."""
    where = f"force {name!r}"
    if not isinstance(law, OpenSimHuntCrossley) and np.any(to.number(law.material, where)[FRICTION]):
        to.refuse(
            f"{where}: {law!r}: OpenSim has another curve of friction: system.add_contact(..., "
            "law=cd.contact.OpenSimHuntCrossley) has it, with the same normal force. Materials without "
            "friction are written as they are"
        )
    if law.rolling_resistance or law.spin_friction or law.smooth:
        to.refuse(f"{where}: {law!r}: a HuntCrossleyForce has no rolling_resistance, spin_friction or smooth")
    speeds = _speeds((law.a, law.b), to, where)
    return _of_pair("HuntCrossleyForce", (law.a, law.b), max(speeds, default=0.01), name, to)


@as_force.register
def _(law: ElasticFoundation, name: str, to: Writing) -> Element:
    """The numbers of meshes count; those of what they press against do not."""
    where, kind = f"force {name!r}", "ElasticFoundationForce"
    if not isinstance(law, OpenSimElasticFoundation):
        to.refuse(
            f"{where}: {law!r}: OpenSim's ElasticFoundationForce has another law, which is "
            "cd.contact.OpenSimElasticFoundation"
        )
        return element(kind, name)
    if law.soft:
        to.refuse(f"{where}: {law!r}: an {kind} has no smooth")
    speeds = _speeds([s for s in (law.a, law.b) if isinstance(s, Mesh)], to, where)
    if len(set(speeds)) > 1:
        to.refuse(
            f"{where}: transition speeds of its meshes are {speeds[0]:g} and {speeds[1]:g} m/s; an "
            f"{kind} has one"
        )
    return _of_pair(kind, (law.a, law.b), speeds[0], name, to)


def _speeds(surfaces: Sequence[Surface], to: Writing, where: str) -> list[float]:
    materials = [s.made_of for s in surfaces]
    return [to.number(m.transition_speed, where) for m in materials if isinstance(m, Material)]


def _of_pair(kind: str, surfaces: Sequence[Surface], speed: float, name: str, to: Writing) -> Element:
    """A force between two surfaces."""
    made = element(kind, name)
    made.append(
        element(
            f"{kind}::ContactParametersSet",
            "contact_parameters",
            objects=[_parameters(kind, s, name, to) for s in surfaces],
        )
    )
    made.extend(element("x", transition_velocity=speed))
    return made


def _parameters(kind: str, surface: Surface, owner: str, to: Writing) -> Element:
    """A surface and what it is made of; the stiffness of a mesh is its modulus over its thickness [Pa/m]."""
    material, kind, where = surface.made_of, f"{kind}::ContactParameters", f"force {owner!r}"
    if not isinstance(material, Material):
        to.refuse(f"{where}: {material!r} does not yield; in OpenSim surfaces do")
        return element(kind)
    numbers = {theirs: to.number(getattr(material, ours), where) for ours, theirs in MATERIAL.items()}
    if isinstance(surface, Mesh):
        numbers["stiffness"] /= to.number(surface.thickness, where)
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
    if isinstance(surface, Mesh):
        made.extend(element("x", filename=_mesh_file(surface, owner, to)))
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


def _mesh_file(surface: Mesh, owner: str, to: Writing) -> str:
    """The name of the file with a surface's triangles: one for all surfaces that have the same."""
    for name, triangles in to.meshes.items():
        if triangles == surface.triangles:
            return name
    wanted = "_".join([to.path.stem, *(surface.name or owner).split()]).replace("/", "_")
    name, count = f"{wanted}.obj", 1
    while name in to.meshes:
        count, name = count + 1, f"{wanted}_{count + 1}.obj"
    to.meshes[name] = surface.triangles
    return name


def as_obj(mesh: Triangles) -> bytes:
    """Triangles as an .obj file, with all digits."""
    corners = [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    faces = [f"f {i} {j} {k}" for i, j, k in (mesh.faces + 1).tolist()]
    return "\n".join([*corners, *faces, ""]).encode()


@singledispatch
def _as_geometry(surface: Any, to: Writing, where: str) -> Element:
    to.refuse(
        f"{where}: {surface!r}: half-spaces, spheres and meshes are written; others OpenSim has not, "
        "or not for this force"
    )
    return element("ContactSphere")


@_as_geometry.register
def _(surface: HalfSpace, to: Writing, where: str) -> Element:
    """It fills x > 0 of its frame, which is turned about y and z only."""

    def write(plane: Any) -> Any:
        x = -plane[:3] / np.linalg.norm(plane[:3])
        flat = np.hypot(x[0], x[2])
        turn = 0.0 if flat < 1e-15 else np.arctan2(-x[2], x[0])
        return np.round([*(-plane[3] * x), 0.0, turn, np.arctan2(x[1], flat)], DIGITS)

    def read(written: Any) -> Any:
        normal = -rotation_from_euler(written[3:])[:, 0]
        return np.append(normal, normal @ written[:3])

    plane = np.append(to.number(surface.normal, where), to.number(surface.height, where))
    numbers = settled(write, read, plane.astype(float))
    return element(
        "ContactHalfSpace", socket_frame=to.place(surface.body), location=numbers[:3], orientation=numbers[3:]
    )


@_as_geometry.register
def _(surface: Sphere, to: Writing, where: str) -> Element:
    return element(
        "ContactSphere",
        socket_frame=to.place(surface.body),
        location=to.number(surface.center, where),
        radius=to.number(surface.radius, where),
    )


@_as_geometry.register
def _(surface: Mesh, to: Writing, where: str) -> Element:
    R, p = to.frame(surface.X, where)
    return element(
        "ContactMesh",
        socket_frame=to.place(surface.body),
        location=p,
        orientation=angles(R),
    )
