"""Contact: surfaces of bodies, and what acts where they touch."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

import condyle.shapes as shapes
from condyle.contact import (
    HalfSpace,
    Material,
    Mesh,
    OpenSimElasticFoundation,
    OpenSimHuntCrossley,
    SmoothSphereHalfSpace,
    Sphere,
)
from condyle.contact.surfaces import Surface
from condyle.errors import DescriptionError
from condyle.forces import Force
from condyle.opensim.element import Element
from condyle.opensim.forces import _force
from condyle.opensim.geometry import mesh_file
from condyle.opensim.reading import Reading
from condyle.opensim.registry import reads
from condyle.spatial import Transform, rotation_from_euler

UNIT = Material(1e6)
"""Until a force says what they are made of."""


@reads("ContactHalfSpace")
def half_space(reading: Reading, element: Element) -> HalfSpace:
    """It fills x > 0 of its frame."""
    body, X = _placed(reading, element)
    normal = -X.R[:, 0]
    return HalfSpace(body, tuple(normal), float(normal @ X.p), UNIT, name=element.name)


@reads("ContactSphere")
def sphere(reading: Reading, element: Element) -> Sphere:
    body, X = _placed(reading, element)
    return Sphere(body, tuple(X.p), reading.number(element, "radius", 0.0), UNIT, name=element.name)


@reads("ContactMesh")
def mesh(reading: Reading, element: Element) -> Mesh:
    """A thickness of 1 m makes the modulus of its material OpenSim's stiffness [Pa/m]."""
    body, X = _placed(reading, element)
    name = reading.text(element, "filename", "")
    if not name:
        raise DescriptionError("<filename> names no mesh")
    path = mesh_file(reading, element, name)
    return Mesh(body, X, shapes.Mesh(path), 1.0, UNIT, name=element.name)


def _placed(reading: Reading, element: Element) -> tuple[str, Transform]:
    body, X = reading.frame(element, "frame")
    R = rotation_from_euler(np.array(reading.numbers(element, "orientation", (0.0,) * 3, 3)), "xyz")
    return body, X @ Transform(R, reading.numbers(element, "location", (0.0,) * 3, 3))


@_force("SmoothSphereHalfSpaceForce")
def smooth_sphere_half_space(reading: Reading, element: Element) -> Force:
    ball, floor = (
        _surface(reading, reading.connected(element, name), element) for name in ("sphere", "half_space")
    )
    if not isinstance(ball, Sphere) or not isinstance(floor, HalfSpace):
        raise reading.error(element, "expected a ContactSphere and a ContactHalfSpace")
    reading.skip(element, "force_visualization_radius", "force_visualization_scale_factor")
    numbers: dict[str, Any] = {
        name: reading.number(element, name, default)
        for name, default in (
            ("stiffness", 1.0),
            ("dissipation", 0.0),
            ("static_friction", 0.0),
            ("dynamic_friction", 0.0),
            ("viscous_friction", 0.0),
            ("transition_velocity", 0.01),
            ("constant_contact_force", 1e-5),
            ("hertz_smoothing", 300.0),
            ("hunt_crossley_smoothing", 50.0),
        )
    }
    return SmoothSphereHalfSpace(
        floor.body, floor.normal, floor.height, ball.body, ball.center, ball.radius, **numbers
    )


@reads("HuntCrossleyForce")
def hunt_crossley(reading: Reading, element: Element) -> None:
    """Each pair of its surfaces on different bodies is a force; of one pair it has the name itself. Meshes
    are for ElasticFoundationForce."""

    def touch(a: Surface, b: Surface) -> bool:
        return (
            not (isinstance(a, HalfSpace) and isinstance(b, HalfSpace))
            and not isinstance(a, Mesh)
            and not isinstance(b, Mesh)
        )

    _pairs(reading, element, OpenSimHuntCrossley, touch)


@reads("ElasticFoundationForce")
def elastic_foundation(reading: Reading, element: Element) -> None:
    """The same of pairs with a mesh."""
    _pairs(
        reading, element, OpenSimElasticFoundation, lambda a, b: isinstance(a, Mesh) or isinstance(b, Mesh)
    )


def _pairs(
    reading: Reading,
    element: Element,
    law: Callable[[Surface, Surface], Force],
    touch: Callable[[Surface, Surface], bool],
) -> None:
    speed = reading.number(element, "transition_velocity", 0.01)
    surfaces = [
        surface
        for parameters in _parameters(reading, element)
        for surface in _made_of(reading, element, parameters, speed)
    ]
    couples = [(a, b) for a, b in combinations(surfaces, 2) if a.body != b.body and touch(a, b)]
    acts, name = reading.boolean(element, "appliesForce", True), reading.free_name(element, "force")
    if not couples:
        reading.remark(element, "no two of its surfaces can touch: it does not act")
    for a, b in couples:
        own = name if len(couples) == 1 else f"{name}.{a.name}.{b.name}"
        reading.system.add_force(own, law(a, b), enabled=acts)


def _parameters(reading: Reading, element: Element) -> list[Element]:
    """Elements with the numbers of materials, and the names of the surfaces that are made of them."""
    found = [e for e in element.every() if e.tag.endswith("::ContactParameters")]
    for e in element.every():
        if "ContactParameters" in e.tag or e.tag in ("objects", "contact_parameters"):
            reading.use(e)
            reading.skip(e, "groups")
    return found


def _made_of(reading: Reading, owner: Element, element: Element, speed: float) -> list[Surface]:
    c, *friction = (
        reading.number(element, name, 0.0)
        for name in ("dissipation", "static_friction", "dynamic_friction", "viscous_friction")
    )
    if friction[0] < friction[1]:
        reading.remark(
            element,
            f"static_friction {friction[0]:g} is below dynamic_friction {friction[1]:g}; it counts as equal",
        )
        friction[0] = friction[1]
    mu_s, mu_d, mu_v = friction
    material = Material(reading.number(element, "stiffness", 1.0), c, mu_s, mu_d, mu_v, speed)
    out: list[Surface] = []
    for name in reading.words(element, "geometry"):
        found = reading.components.find(
            name,
            owner,
            "ContactHalfSpace",
            "ContactSphere",
            "ContactMesh",
            "ContactEllipsoid",
            "ContactCylinder",
            "ContactTorus",
        )
        if found is None:
            raise reading.error(element, f"there is no contact geometry {name!r}")
        surface = _surface(reading, found, owner)
        if surface is not None:
            out.append(_with(surface, material))
    return out


def _with(surface: Surface, material: Material) -> Surface:
    if isinstance(surface, HalfSpace):
        return HalfSpace(surface.body, surface.normal, surface.height, material, name=surface.name)
    if isinstance(surface, Mesh):
        return Mesh(surface.body, surface.X, surface.mesh, surface.thickness, material, name=surface.name)
    assert isinstance(surface, Sphere)
    return Sphere(surface.body, surface.center, surface.radius, material, name=surface.name)


def _surface(reading: Reading, element: Element, owner: Element) -> Surface | None:
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
