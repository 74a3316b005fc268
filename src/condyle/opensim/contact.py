"""Contact: surfaces of bodies, and the forces between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

import condyle.contact as contact
import condyle.shapes as shapes
from condyle.contact.surfaces import ContactSurface
from condyle.contact.triangles import Triangles
from condyle.errors import DescriptionError
from condyle.forces import Force
from condyle.opensim import accessed_files
from condyle.opensim.element import Element
from condyle.opensim.geometry import mesh_file
from condyle.opensim.reading import Reading
from condyle.opensim.table import Arguments, Class, Field, Number, Properties, reads, write, writes
from condyle.opensim.writing import DIGITS, Writing, Xml, alike, angles, settled, xml
from condyle.spatial import Transform, rotation_from_euler

UNIT = contact.Material(1e6)
"""Material of surfaces until a force gives theirs."""
SURFACES = (
    "ContactHalfSpace",
    "ContactSphere",
    "ContactMesh",
    "ContactEllipsoid",
    "ContactCylinder",
    "ContactTorus",
)
MATERIAL = (
    Number("stiffness", 1.0, "modulus"),
    Number("dissipation", 0.0),
    Number("static_friction", 0.0),
    Number("dynamic_friction", 0.0),
    Number("viscous_friction", 0.0),
)
"""Numbers of a material."""
FRICTION = slice(3, 6)
"""Places of the coefficients of friction among the numbers of two materials."""


# ---- surfaces ----------------------------------------------------------------------------------------------


def _placed(reading: Reading, element: Element) -> tuple[str, Transform]:
    body, X = reading.frame(element, "frame")
    return body, X @ reading.pose(element, place="location")


@reads("ContactHalfSpace")
def half_space(reading: Reading, element: Element) -> contact.HalfSpace:
    """It fills x > 0 of its frame."""
    body, X = _placed(reading, element)
    normal = -X.R[:, 0]
    return contact.HalfSpace(body, tuple(normal), float(normal @ X.p), UNIT, name=element.name)


@writes(contact.HalfSpace)
def _(surface: contact.HalfSpace, to: Writing) -> Xml:
    """Its frame is turned about y and z only."""

    def write(plane: Any) -> Any:
        x = -plane[:3] / np.linalg.norm(plane[:3])
        flat = np.hypot(x[0], x[2])
        turn = 0.0 if flat < 1e-15 else np.arctan2(-x[2], x[0])
        return np.round([*(-plane[3] * x), 0.0, turn, np.arctan2(x[1], flat)], DIGITS)

    def read(written: Any) -> Any:
        normal = -rotation_from_euler(written[3:])[:, 0]
        return np.append(normal, normal @ written[:3])

    plane = np.append(to.number(surface.normal), to.number(surface.height))
    numbers = settled(write, read, plane.astype(float))
    return xml(
        "ContactHalfSpace", socket_frame=to.place(surface.body), location=numbers[:3], orientation=numbers[3:]
    )


@reads("ContactSphere")
def sphere(reading: Reading, element: Element) -> contact.Sphere:
    body, X = _placed(reading, element)
    radius = reading.number(element, "radius", 0.0)
    return contact.Sphere(body, tuple(X.p), radius, UNIT, name=element.name)


@writes(contact.Sphere)
def _(surface: contact.Sphere, to: Writing) -> Xml:
    return xml(
        "ContactSphere",
        socket_frame=to.place(surface.body),
        location=to.number(surface.center),
        radius=to.number(surface.radius),
    )


@reads("ContactMesh")
def mesh(reading: Reading, element: Element) -> contact.Mesh:
    """A thickness of 1 m makes the modulus of its material OpenSim's stiffness [Pa/m]."""
    body, X = _placed(reading, element)
    name = reading.text(element, "filename", "")
    if not name:
        raise DescriptionError("<filename> names no mesh")
    path = mesh_file(reading, element, name)
    accessed_files.note_read(path)
    return contact.Mesh(body, X, shapes.Mesh(path), 1.0, UNIT, name=element.name)


@writes(contact.Mesh)
def _(surface: contact.Mesh, to: Writing) -> Xml:
    R, p = to.frame(surface.X)
    return xml(
        "ContactMesh",
        socket_frame=to.place(surface.body),
        location=p,
        orientation=angles(R),
        filename=_mesh_file(surface, to),
    )


def _mesh_file(surface: contact.Mesh, to: Writing) -> str:
    """The name of the file with a surface's triangles: one for all surfaces with the same triangles."""
    for name, triangles in to.meshes.items():
        if triangles == surface.triangles:
            return name
    wanted = "_".join([to.path.stem, *(surface.name or to.owner).split()]).replace("/", "_")
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


def _surface(reading: Reading, element: Element, owner: Element) -> ContactSurface | None:
    """The surface of an element; None, with a note, of a kind that is not read."""
    if not reading.reads(element):
        reading.remark(owner, f"{element.title} is not read: nothing touches it")
        return None
    try:
        return reading.read(element)  # type: ignore[no-any-return]
    except DescriptionError as error:
        if element.tag != "ContactMesh":
            raise
        reading.remark(owner, f"{element.title}: {error}; nothing touches it")
        return None


def _contact_geometry(surface: ContactSurface, to: Writing) -> str:
    """The name of a surface's contact geometry; it is created unless an earlier force had the same."""
    made = write(surface, to)
    if made is None:
        to.refuse(
            f"{surface!r}: half-spaces, spheres and meshes are written; OpenSim does not have others, "
            "or not for this force"
        )
        return ""
    for name, other in to.contacts.items():
        if alike(made, other):
            return name
    wanted = getattr(surface, "name", "") or f"{to.owner}_{made.tag.removeprefix('Contact').lower()}"
    name, count = wanted, 1
    while name in to.contacts:
        count, name = count + 1, f"{wanted}_{count + 1}"
    made.set("name", to.part(f"surface {name!r}").name(name))
    to.contacts[name] = made
    return name


# ---- a sphere on a half-space ------------------------------------------------------------------------------


class SphereAndHalfSpace(Field):
    """Sockets to a sphere and a half-space, whose numbers are the force's here."""

    def read(self, reading: Reading, element: Element) -> Arguments:
        ball, floor = (
            _surface(reading, reading.connected(element, name), element) for name in ("sphere", "half_space")
        )
        if not isinstance(ball, contact.Sphere) or not isinstance(floor, contact.HalfSpace):
            raise reading.error(element, "expected a ContactSphere and a ContactHalfSpace")
        return {
            "a": floor.body,
            "normal": floor.normal,
            "height": floor.height,
            "b": ball.body,
            "center": ball.center,
            "radius": ball.radius,
        }

    def write(self, law: Any, to: Writing) -> Properties:
        floor, ball = law.surfaces()
        return {
            "socket_sphere": f"/contactgeometryset/{_contact_geometry(ball, to)}",
            "socket_half_space": f"/contactgeometryset/{_contact_geometry(floor, to)}",
        }


Class(
    "SmoothSphereHalfSpaceForce",
    contact.SmoothSphereHalfSpace,
    (
        SphereAndHalfSpace("sphere"),
        Number("stiffness", 1.0),
        *MATERIAL[1:],
        Number("transition_velocity", 0.01),
        Number("constant_contact_force", 1e-5),
        Number("hertz_smoothing", 300.0),
        Number("hunt_crossley_smoothing", 50.0),
    ),
    skip=("force_visualization_radius", "force_visualization_scale_factor"),
)


# ---- between all surfaces of a force -----------------------------------------------------------------------


@reads("HuntCrossleyForce")
def hunt_crossley(reading: Reading, element: Element) -> None:
    """Each pair of its surfaces on different bodies is a force; of one pair it has the name itself. Meshes
    are for ElasticFoundationForce."""

    def touch(a: ContactSurface, b: ContactSurface) -> bool:
        return not (isinstance(a, contact.HalfSpace) and isinstance(b, contact.HalfSpace)) and not any(
            isinstance(x, contact.Mesh) for x in (a, b)
        )

    _pairs(reading, element, contact.OpenSimHuntCrossley, touch)


@reads("ElasticFoundationForce")
def elastic_foundation(reading: Reading, element: Element) -> None:
    """A force for each pair with a mesh."""

    def touch(a: ContactSurface, b: ContactSurface) -> bool:
        return isinstance(a, contact.Mesh) or isinstance(b, contact.Mesh)

    _pairs(reading, element, contact.OpenSimElasticFoundation, touch)


def _pairs(
    reading: Reading,
    element: Element,
    law: Callable[[ContactSurface, ContactSurface], Force],
    touch: Callable[[ContactSurface, ContactSurface], bool],
) -> None:
    speed = reading.number(element, "transition_velocity", 0.01)
    surfaces = [
        surface
        for parameters in _all_parameters(reading, element)
        for surface in _made_of(reading, element, parameters, speed)
    ]
    couples = [(a, b) for a, b in combinations(surfaces, 2) if a.body != b.body and touch(a, b)]
    acts, name = reading.boolean(element, "appliesForce", True), reading.free_name(element, "force")
    if not couples:
        reading.remark(element, "no two of its surfaces can touch: it does not act")
    for a, b in couples:
        own = name if len(couples) == 1 else f"{name}.{a.name}.{b.name}"
        reading.system.add_force(own, law(a, b), enabled=acts)


def _all_parameters(reading: Reading, element: Element) -> list[Element]:
    """Elements with the numbers of materials, and the names of their surfaces."""
    found = [e for e in element.descendants() if e.tag.endswith("::ContactParameters")]
    for e in element.descendants():
        if "ContactParameters" in e.tag or e.tag in ("objects", "contact_parameters"):
            reading.use(e)
            reading.skip(e, "groups")
    return found


def _made_of(reading: Reading, owner: Element, element: Element, speed: float) -> list[Any]:
    """Surfaces of a force that are of one material."""
    modulus, c, mu_s, mu_d, mu_v = (field.parse(reading, element) for field in MATERIAL)
    if mu_s < mu_d:
        reading.remark(
            element, f"static_friction {mu_s:g} is below dynamic_friction {mu_d:g}; it counts as equal"
        )
    material = contact.Material(modulus, c, max(mu_s, mu_d), mu_d, mu_v, speed)
    out = []
    for name in reading.words(element, "geometry"):
        found = reading.components.find(name, owner, *SURFACES)
        if found is None:
            raise reading.error(element, f"there is no contact geometry {name!r}")
        surface: Any = _surface(reading, found, owner)
        if surface is not None:
            out.append(replace(surface, material=material))
    return out


@writes(contact.HuntCrossley)
def _(law: contact.HuntCrossley, to: Writing) -> Xml:
    """Without friction it is OpenSim's law."""
    if not isinstance(law, contact.OpenSimHuntCrossley) and np.any(to.number(law.material)[FRICTION]):
        to.refuse(
            f"{law!r}: OpenSim has another curve of friction: use system.add_contact(..., "
            "law=cd.contact.OpenSimHuntCrossley), with the same normal force. Materials without "
            "friction are written as they are"
        )
    if law.rolling_resistance or law.spin_friction or law.smooth:
        to.refuse(f"{law!r}: a HuntCrossleyForce has no rolling_resistance, spin_friction or smooth")
    speeds = _speeds((law.a, law.b), to)
    return _pair("HuntCrossleyForce", (law.a, law.b), max(speeds, default=0.01), to)


@writes(contact.ElasticFoundation)
def _(law: contact.ElasticFoundation, to: Writing) -> Xml:
    """The numbers of meshes count; those of the surfaces they press against do not."""
    kind = "ElasticFoundationForce"
    if not isinstance(law, contact.OpenSimElasticFoundation):
        to.refuse(
            f"{law!r}: OpenSim's ElasticFoundationForce has another law, which is "
            "cd.contact.OpenSimElasticFoundation"
        )
        return xml(kind)
    if law.soft:
        to.refuse(f"{law!r}: an {kind} has no smooth")
    speeds = _speeds([s for s in (law.a, law.b) if isinstance(s, contact.Mesh)], to)
    if len(set(speeds)) > 1:
        to.refuse(
            f"transition speeds of its meshes are {speeds[0]:g} and {speeds[1]:g} m/s; an {kind} has one"
        )
    return _pair(kind, (law.a, law.b), speeds[0], to)


def _speeds(surfaces: Sequence[ContactSurface], to: Writing) -> list[float]:
    materials = [s.made_of for s in surfaces]
    return [to.number(m.transition_speed) for m in materials if isinstance(m, contact.Material)]


def _pair(kind: str, surfaces: Sequence[ContactSurface], speed: float, to: Writing) -> Xml:
    """A force between two surfaces."""
    return xml(
        kind,
        contact_parameters=xml(
            f"{kind}::ContactParametersSet",
            "contact_parameters",
            objects=[_parameters(f"{kind}::ContactParameters", s, to) for s in surfaces],
        ),
        transition_velocity=speed,
    )


def _parameters(kind: str, surface: ContactSurface, to: Writing) -> Xml:
    """A surface and its material; the stiffness of a mesh is its modulus over its thickness [Pa/m]."""
    material = surface.made_of
    if not isinstance(material, contact.Material):
        to.refuse(f"{material!r} is rigid; surfaces of OpenSim are compliant")
        return xml(kind)
    numbers = {field.tag: to.number(getattr(material, field.key)) for field in MATERIAL}
    if isinstance(surface, contact.Mesh):
        numbers["stiffness"] /= to.number(surface.thickness)
    return xml(kind, geometry=_contact_geometry(surface, to), **numbers)
