"""cd.read_osim and cd.write_osim: a System from a model file of OpenSim, and back."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import condyle.files as files
from condyle.arguments import with_call_hints
from condyle.constraints import Constraint
from condyle.errors import CondyleError, DescriptionError, UnknownNameError
from condyle.forces.base import Force
from condyle.forces.gravity import Gravity
from condyle.loading import collector_paused
from condyle.muscles import Muscle
from condyle.native.machine import notice
from condyle.opensim import (
    geometry_folders,
    model_cache,
    muscles,  # noqa: F401  # its rows register themselves, as those of all below do
)
from condyle.opensim.constraints import write_constraints
from condyle.opensim.controllers import controlled, controllers
from condyle.opensim.couplers import check_way, uncoupled
from condyle.opensim.document import Document, add_sets, list_notes, read_document, read_set, warn_of_notes
from condyle.opensim.element import Element
from condyle.opensim.geometry import is_drawn, read_geometry, write_geometry, write_markers
from condyle.opensim.joints import write_body, write_joint
from condyle.opensim.paths import wrap_objects
from condyle.opensim.reading import Malformed, Reading
from condyle.opensim.table import write
from condyle.opensim.writing import Writing, Xml, append, object_set, write_document, xml
from condyle.system.system import System

SETS = {
    "ConstraintSet": "the motion is not constrained by it",
    "ControllerSet": "it controls nothing",
    "ForceSet": "it does not act",
    "MarkerSet": "there is no such marker",
    "ContactGeometrySet": "nothing touches it",
    "ProbeSet": "motions do not change",
    "AnalysisSet": "it is not run",
    "components": "it does not act",
}
"""Sets of a model in the order in which they are read, and the effect of elements that are not read."""


@with_call_hints()
@collector_paused()
def read_osim(
    path: str | Path,
    strict: bool = False,
    *,
    couplers: str = "constraints",
    add: str | Path | Sequence[str | Path] = (),
    parameters: str | Sequence[str] | None = None,
    geometry: str | Path | Sequence[str | Path] = (),
) -> System:
    """A System from a model file of OpenSim (.osim): bodies, joints, constraints, forces, muscles.

    Names are those in the file. Unsupported elements are listed in `system.notes`, with line and effect, and
    in one warning.

    Args:
        path: the file, of version 10901 (OpenSim 1.9) to 40600 (4.6) or later.
        strict: raise an error for a file with unsupported elements.
        couplers: what a CoordinateCouplerConstraint becomes. "constraints": a constraint, and all coordinates
            are as in the file. "joints": the dependent coordinate (of a patella, or a finger) becomes part of
            its joint, which follows the others exactly; couplers for which this is impossible remain
            constraints, and are listed in `system.notes`.
        add: files (.xml) of marker sets, force sets (reserve actuators) and the like, whose objects join the
            model's. A marker replaces the model's marker of that name.
        parameters: numbers that become Parameters, by names and patterns: ["*.mass",
            "BIClong.tendon_slack_length"]; "all" for every number: see `System.copy`.
        geometry: folders with files of meshes, one or a list; they come first. Then meshes are searched
            beside the model, in `Geometry` there and above, in `CONDYLE_GEOMETRY` and in an installation of
            OpenSim. Bodies whose meshes are not found get Condyle's bones, by their names.

    Returns:
        a System, not frozen: more may be added to it.

    Raises:
        DescriptionError: a file that cannot be read, with its line; or, if strict, unsupported elements.
        FileNotFoundError: no such file.
    """
    if not isinstance(strict, (bool, np.bool_)):
        raise DescriptionError(
            f"read_osim: strict: expected True or False, got {strict!r}; a file of "
            "markers or forces is add='markers.xml'"
        )
    check_way(couplers)
    files: Any = add if isinstance(add, (list, tuple)) else [add]

    def make() -> tuple[System, Document]:
        with notice.working(f"reading {Path(path).name}"):
            document = read_document(path)
            add_sets(document, [read_set(file) for file in files])
            return system_of(document, couplers), document

    with geometry_folders.named(geometry):
        system = model_cache.read(path, files, couplers, make).system
    if strict and system.notes:
        raise DescriptionError(
            f"{Path(path).name}: not all is understood, which strict=True asks for:\n"
            f"{list_notes(system.notes)}"
        )
    warn_of_notes(system.notes, Path(path).name)
    return system if parameters is None else system.copy(parameters=parameters)


def system_of(document: Document, couplers: str = "constraints") -> System:
    """The System of a model file that has been parsed; without a warning."""
    from condyle.opensim import contact  # noqa: F401  # its rows register themselves
    from condyle.opensim.bodies import read_tree

    model = document.object
    reading = Reading(document, System())
    reading.system = System(gravity=reading.numbers(model, "gravity", (0.0, -9.80665, 0.0), 3))
    reading.skip(model, "assembly_accuracy", "ComponentSet")
    read_tree(reading, couplers == "joints")
    reading.use_frames(model)
    wrap_objects(reading)
    for name, effect in SETS.items():
        for element in reading.objects(model, name):
            if element not in reading.names and not is_drawn(element):
                _read_object(reading, element, effect)
    read_geometry(reading)
    reading.keep_credits()
    reading.note_unasked()
    reading.system.notes = tuple(reading.notes)
    return reading.system


def _read_object(reading: Reading, element: Element, effect: str) -> None:
    """Read an element of a set, and add it to the System. One without a reader, or with unsupported values,
    is noted with its effect; violations of the format raise an error."""
    if not reading.reads(element):
        reading.note(element, f"is not read: {effect}")
        return
    try:
        law = reading.read(element)
        if isinstance(law, Force):
            acts = reading.boolean(element, "appliesForce", True)
            law = controlled(reading, element, law)
            reading.system.add_force(reading.free_name(element, "force"), law, enabled=acts)
        elif isinstance(law, Constraint):
            name = reading.free_name(element, "constraint")
            reading.system.add_constraint(name, law, enabled=reading.boolean(element, "isEnforced", True))
    except Malformed:
        raise
    except CondyleError as error:
        reason = str(error).removeprefix(f"{element.place}: {element.title}: ")
        reading.note(element, f"is not read, {effect}: {reason}")


# ---- writing -----------------------------------------------------------------------------------------------


def write_osim(system: System, path: str | Path, *, parameters: Mapping[str, float] | None = None) -> None:
    """Write a System as a model file of OpenSim 4, which loads to the same poses, masses, lengths and forces.

    Numbers are written with all their digits; the file appears whole or not at all. Elements without a
    counterpart in OpenSim raise one error that lists all of them, before a file is touched. Contact meshes
    are separate files beside it, <model>_<surface>.obj.

    Args:
        system: to write.
        path: of the file; it must end in .osim.
        parameters: values of Parameters by name, which a file cannot hold; the others have their defaults,
            all of them with {}. By default Parameters are refused.

    Raises:
        DescriptionError: elements that OpenSim does not have, by name; another ending; no such folder.
    """
    if not isinstance(system, System):
        raise DescriptionError(f"write_osim: expected a System, then the path, got {system!r}")
    if not isinstance(path, (str, Path)):
        raise DescriptionError(f"write_osim: expected the path of a file, such as 'leg.osim', got {path!r}")
    path = Path(path)
    if path.suffix.lower() != ".osim":
        raise DescriptionError(f"write_osim: {path.name!r}: the name must end in .osim")
    files.check_target(path, "write_osim")
    for name in parameters or {}:
        if name not in system.parameters:
            raise UnknownNameError("parameter", name, system.parameters, "write_osim: parameters")
    if any(module.startswith("condyle.contact.") for module in sys.modules):  # else nothing touches
        from condyle.opensim import contact  # noqa: F401  # its rows register themselves

    to = Writing(system, parameters, path)
    model = as_model(to)
    for name, triangles in to.meshes.items():
        from condyle.opensim.contact import as_obj

        with files.atomic_write(path.parent / name, "wb") as file:
            file.write(as_obj(triangles))
    write_document(model, path)


def as_model(to: Writing) -> Xml:
    """The Model of a System.

    Raises:
        DescriptionError: elements that cannot be written.
    """
    system = to.system
    about = {key: system.about[key] for key in ("credits", "publications") if key in system.about}
    ground = xml("Ground", "ground")
    model = xml(
        "Model", system.about.get("name") or to.path.stem, **about, Ground=ground, gravity=_gravity(to)
    )
    bodies = {b.name: write_body(b, to) for b in system.bodies}
    coupled = [uncoupled(b, to) for b in system.bodies]
    joints = {x.body.name: write_joint(x.body, to) for x in coupled}
    forces = [made for f in system.forces if f != "gravity" and (made := _force(f, to)) is not None]
    constraints = write_constraints(to) + [coupler for x in coupled for coupler in x.couplers]
    for name in system.measures:
        to.refuse(f"measure {name!r}: OpenSim has none like it; write a copy without it")
    for name, body in {"ground": ground, **bodies}.items():
        write_geometry(name, body, to)
        if to.wraps[name]:
            body.append(object_set("WrapObjectSet", list(to.wraps[name].values())))
    for kind, objects in {
        "BodySet": _in_file_order(bodies, system._file_order.get("bodies", ())),
        "JointSet": _in_file_order(joints, system._file_order.get("joints", ())),
        "ConstraintSet": constraints,
        "ForceSet": forces,
        "ContactGeometrySet": list(to.contacts.values()),
        "MarkerSet": write_markers(to),
        "ControllerSet": controllers(to),
    }.items():
        model.append(object_set(kind, objects, _groups(forces, to) if kind == "ForceSet" else None))
    if to.refused:
        raise DescriptionError("write_osim: OpenSim has no counterpart for:\n- " + "\n- ".join(to.refused))
    return model


def _force(name: str, to: Writing) -> Xml | None:
    """A force of the system; None, with a refusal, if OpenSim has none like it."""
    law = to.system.force(name)
    at = to.at(f"force {name!r}", name)
    made = write(law, to.at(f"muscle {name!r}", name) if isinstance(law, Muscle) else at, at.name(name))
    if made is None:
        at.refuse(f"OpenSim has no force like {law!r}")
    elif name in to.system._off:
        append(made, "appliesForce", False)
    return made


def _in_file_order(elements: Mapping[str, Xml], order: Sequence[str]) -> list[Xml]:
    """Elements by body: first as the file that was read had them, then others."""
    known = [name for name in order if name in elements]
    return [elements[name] for name in (*known, *(name for name in elements if name not in known))]


def _groups(forces: list[Xml], to: Writing) -> dict[str, tuple[str, ...]]:
    """Groups of forces by name, with those members that are in the file."""
    known = {force.get("name") for force in forces}
    groups = {name: tuple(m for m in members if m in known) for name, members in to.system.groups.items()}
    return {name: members for name, members in groups.items() if members}


def _gravity(to: Writing) -> Any:
    law, at = to.system.force("gravity"), to.at("gravity")
    assert isinstance(law, Gravity)
    if law.excluded:
        at.refuse(f"it leaves out {', '.join(map(repr, law.excluded))}; OpenSim's acts on all bodies")
    return at.number(law.acceleration)
