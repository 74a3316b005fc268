"""Systems as OpenSim's files: `cd.write_osim`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, indent

import condyle.files as files
from condyle.errors import DescriptionError, UnknownNameError
from condyle.forces.gravity import Gravity
from condyle.opensim import (  # noqa: F401  # they register themselves
    writer_contact,
    writer_joints,
    writer_laws,
    writer_muscles,
)
from condyle.opensim.writer_attached import geometry, marker
from condyle.opensim.writer_constraints import as_constraints
from condyle.opensim.writer_contact import as_obj
from condyle.opensim.writer_couplers import uncoupled
from condyle.opensim.writer_forces import as_force
from condyle.opensim.writing import Writing
from condyle.opensim.xml import VERSION, append, element, whole_set
from condyle.system.system import System


def write_osim(system: System, path: str | Path, *, parameters: Mapping[str, float] | None = None) -> None:
    """Write a System as a model file of OpenSim 4, which loads to the same poses, masses, lengths and forces.

    Numbers are written with all their digits; the file appears whole or not at all. What OpenSim has no
    counterpart for is refused, all of it at once, before a file is touched. Meshes that touch are files of
    their own beside it, <model>_<surface>.obj.

    Args:
        system: what is written.
        path: where to write; it must end in .osim.
        parameters: values of Parameters by name, which a file cannot hold; the others have their defaults,
            all of them with {}. By default Parameters are refused.

    Raises:
        DescriptionError: something that OpenSim does not have, with its name; another ending; no such folder.
    """
    if not isinstance(system, System):
        raise DescriptionError(f"write_osim: expected a System, then the path, got {system!r}")
    if not isinstance(path, (str, Path)):
        raise DescriptionError(f"write_osim: expected the path of a file, such as 'leg.osim', got {path!r}")
    path = Path(path)
    if path.suffix.lower() != ".osim":
        raise DescriptionError(f"write_osim: {path.name!r}: the name must end in .osim")
    if not os.path.isdir(path.parent):
        raise DescriptionError(
            f"write_osim: {str(path)!r}: there is no folder {str(path.parent)!r}; make it first"
        )
    for name in parameters or {}:
        if name not in system.parameters:
            raise UnknownNameError("parameter", name, system.parameters, "write_osim: parameters")
    to = Writing(system, parameters, path)
    document = as_document(to)
    for name, triangles in to.meshes.items():
        with files.whole(path.parent / name, "wb") as file:
            file.write(as_obj(triangles))
    with files.whole(path, "wb") as file:
        ElementTree(document).write(file, encoding="UTF-8", xml_declaration=True)


def as_document(to: Writing) -> Element:
    """The document of a System.

    Raises:
        DescriptionError: what cannot be written.
    """
    system = to.system
    about = {key: system.about[key] for key in ("credits", "publications") if key in system.about}
    model = element("Model", system.about.get("name") or to.path.stem, **about)
    ground = element("Ground", "ground")
    model.append(ground)
    gravity = system.force("gravity")
    assert isinstance(gravity, Gravity)
    model.append(_gravity(gravity, to))
    bodies = {b.name: writer_joints.body(b, to) for b in system.bodies}
    coupled = [uncoupled(b, to) for b in system.bodies]
    joints = {x.body.name: writer_joints.joint(x.body, to) for x in coupled}
    forces = [
        as_force(system.force(f), to.name(f, f"force {f!r}"), to) for f in system.forces if f != "gravity"
    ]
    for made in forces:
        if made.get("name") in system._off:
            append(made, "appliesForce", False)
    constraints = as_constraints(to)
    constraints += [coupler for x in coupled for coupler in x.couplers]
    for name in system.measures:
        to.refuse(f"measure {name!r}: OpenSim has none like it; write a copy without it")
    for name, body in {"ground": ground, **bodies}.items():
        geometry(name, body, to)
        if to.wraps[name]:
            body.append(whole_set("WrapObjectSet", list(to.wraps[name].values())))
    for kind, objects in {
        "BodySet": in_file_order(bodies, system._file_order.get("bodies", ())),
        "JointSet": in_file_order(joints, system._file_order.get("joints", ())),
        "ConstraintSet": constraints,
        "ForceSet": forces,
        "ContactGeometrySet": list(to.contacts.values()),
        "MarkerSet": [marker(system.marker(m), to) for m in system.markers],
        "ControllerSet": controllers(to),
    }.items():
        model.append(whole_set(kind, objects, groups(forces, to) if kind == "ForceSet" else None))
    if to.refused:
        raise DescriptionError("write_osim: OpenSim has no counterpart for:\n- " + "\n- ".join(to.refused))
    document = Element("OpenSimDocument", {"Version": VERSION})
    document.append(model)
    indent(document, "\t")
    return document


def in_file_order(made: Mapping[str, Element], order: Sequence[str]) -> list[Element]:
    """What is made, by body: first as the file that was read had them, then others."""
    known = [name for name in order if name in made]
    return [made[name] for name in (*known, *(name for name in made if name not in known))]


def groups(forces: list[Element], to: Writing) -> dict[str, tuple[str, ...]]:
    """Groups of forces by name, with those members that are in the file."""
    known = {force.get("name") for force in forces}
    kept = {name: tuple(m for m in members if m in known) for name, members in to.system.groups.items()}
    return {name: members for name, members in kept.items() if members}


def controllers(to: Writing) -> list[Element]:
    """A controller of the actuators whose controls are known."""
    if not to.controls:
        return []
    made = element(
        "PrescribedController",
        "controls",
        socket_actuators=" ".join(f"/forceset/{name}" for name in to.controls),
    )
    for name, function in to.controls.items():
        function.set("name", name)
    made.append(element("FunctionSet", "ControlFunctions", objects=list(to.controls.values())))
    return [made]


def _gravity(law: Gravity, to: Writing) -> Element:
    if law.excluded:
        to.refuse(
            f"gravity: it leaves out {', '.join(map(repr, law.excluded))}; OpenSim's acts on all bodies"
        )
    made = Element("gravity")
    made.text = element("x", v=to.number(law.acceleration, "gravity")).findtext("v")
    return made
