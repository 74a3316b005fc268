"""Bodies, joints and coordinates: the tree of a System from a model's sets."""
from __future__ import annotations

import math
from dataclasses import dataclass

from condyle.mobilizers import Free
from condyle.opensim.element import Element
from condyle.opensim.joints import Joint
from condyle.opensim.reading import Reading
from condyle.spatial import Transform
from condyle.tree.body import Coordinate


@dataclass
class Link:
    """A joint between two bodies, before the tree is known: frames F on the parent and M on the child."""

    element: Element | None
    name: str
    parent: Element
    X_PF: Transform
    child: Element
    X_BM: Transform
    joint: Joint


def read_tree(reading: Reading) -> None:
    """Add all bodies of a model to the System, parents before children, in Simbody's order."""
    ground = reading.model.child("Ground")
    assert ground is not None
    reading.use(ground)
    reading.names[ground] = "ground"
    bodies = [ground, *_bodies(reading)]
    links = [_link(reading, e) for e in joint_elements(reading)]
    joined = {ground, *(x for link in links for x in (link.parent, link.child))}
    for body in bodies:
        if body not in joined:
            reading.remark(body, "has no joint; it is free, as in OpenSim")
            links.append(Link(None, f"free_{body.name}", ground, Transform(), body, Transform(),
                              Joint(Free(coordinates="euler"))))
    placed = {ground}
    while links:
        level = set(placed)
        rest = []
        for link in links:
            if link.parent in level and link.child not in placed:
                _add(reading, link)
                placed.add(link.child)
            else:
                rest.append(link)
        if len(rest) == len(links):
            break
        links = rest
    for link in links:
        raise reading.error(link.child, "is joined to nothing that stands on ground, or in a loop")


def _bodies(reading: Reading) -> list[Element]:
    elements = [e for e in reading.objects(reading.model, "BodySet") if e.tag == "Body"]
    elements += [e for e in reading.objects(reading.model, "components") if e.tag == "Body"]
    taken = {"ground"}
    for e in elements:
        name = e.name or "body"
        if name in taken:
            k = 0
            while f"{name}_{k}" in taken:
                k += 1
            reading.remark(e, f"another body has this name; it is called '{name}_{k}', as in OpenSim")
            name = f"{name}_{k}"
        taken.add(name)
        reading.names[e] = name
        reading.use(e)
    return elements


def joint_elements(reading: Reading) -> list[Element]:
    """Elements of all joints, in the order of the file."""
    found = reading.objects(reading.model, "JointSet")
    return found + [e for e in reading.objects(reading.model, "components") if e.tag.endswith("Joint")]


def _link(reading: Reading, element: Element) -> Link:
    reading.objects(element, "frames")
    (parent, X_PF), (child, X_BM) = (reading.base(reading.connected(element, socket), element)
                                     for socket in ("parent_frame", "child_frame"))
    if not reading.reads(element):
        raise reading.error(element, "this joint is not read; without it the model would be another")
    joint: Joint = reading.read(element)
    return Link(element, element.name or element.tag.lower(), parent, X_PF @ joint.fixed, child, X_BM, joint)


def _add(reading: Reading, link: Link) -> None:
    body, joint = link.child, link.joint
    mass = reading.number(body, "mass")
    inertia = reading.numbers(body, "inertia", (0.0,) * 6, 6)
    if mass == 0.0 and any(inertia):
        reading.remark(body, "has inertia without mass; its inertia is zero, as in OpenSim")
        inertia = (0.0,) * 6
    reading.system.add_body(
        reading.names[body], reading.names[link.parent], joint.mobilizer, X_PF=link.X_PF, X_BM=link.X_BM,
        mass=mass, com=reading.numbers(body, "mass_center", (0.0,) * 3, 3), inertia=inertia,
        coordinates=tuple(_coordinate(reading, e) for e in joint.coordinates)
        or (None if joint.mobilizer.nq else ()))


def _coordinate(reading: Reading, element: Element) -> Coordinate:
    reading.use(element)
    name = element.name
    reading.names[element] = name
    low, high = reading.numbers(element, "range", (-10.0, 10.0), 2, finite=False)
    default = reading.number(element, "default_value", 0.0)
    return Coordinate(name, default, (low, high) if low < high and math.isfinite(high - low) else None)
