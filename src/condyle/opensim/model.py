"""cd.read_osim: a System from a model file of OpenSim."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from condyle.arguments import with_call_hints
from condyle.errors import DescriptionError
from condyle.loading import collector_paused
from condyle.opensim import (  # noqa: F401  # readers register themselves
    bodies,
    constraints,
    contact,
    forces,
    functions,
    geometry,
    joints,
    muscles,
    paths,
)
from condyle.opensim.couplers import check_way
from condyle.opensim.document import Document, read_document
from condyle.opensim.notes import listed, warn_of
from condyle.opensim.reading import Reading
from condyle.opensim.sets import add_sets, read_set
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
"""Sets of a model in the order in which they are read, and what follows from what is not read."""


@with_call_hints()
@collector_paused()
def read_osim(
    path: str | Path,
    strict: bool = False,
    *,
    couplers: str = "constraints",
    add: str | Path | Sequence[str | Path] = (),
) -> System:
    """A System from a model file of OpenSim (.osim): bodies, joints, constraints, forces, muscles.

    Names are those in the file. What is not understood is in `system.notes`, with its line and its effect,
    and in one warning.

    Args:
        path: the file, of version 10901 (OpenSim 1.9) to 40600 (4.6) or later.
        strict: refuse a file in which something is not understood.
        couplers: what a CoordinateCouplerConstraint becomes. "constraints": a constraint, and all coordinates
            are as in the file. "joints": the coordinate that it gives (of a patella, or a finger) is no
            coordinate any more, but part of its joint, which follows the others exactly; couplers for which
            this cannot be stay constraints, and are in `system.notes`.
        add: files (.xml) of marker sets, force sets (reserve actuators) and the like, whose objects join the
            model's. A marker takes the place of the model's marker of that name.

    Returns:
        a System, not frozen: more may be added to it.

    Raises:
        DescriptionError: a file that cannot be read, with its line; or, if strict, what is not understood.
        FileNotFoundError: no such file.
    """
    if not isinstance(strict, (bool, np.bool_)):
        raise DescriptionError(
            f"read_osim: strict: expected True or False, got {strict!r}; a file of "
            "markers or forces is add='markers.xml'"
        )
    check_way(couplers)
    document = read_document(path)
    files: Any = add if isinstance(add, (list, tuple)) else [add]
    add_sets(document, [read_set(file) for file in files])
    system = system_of(document, strict, couplers)
    warn_of(system.notes, document.path.name)
    return system


def system_of(document: Document, strict: bool = False, couplers: str = "constraints") -> System:
    """The System of a model file that has been parsed; without a warning."""
    model = document.object
    reading = Reading(document, System())
    reading.system = System(gravity=reading.numbers(model, "gravity", (0.0, -9.80665, 0.0), 3))
    reading.skip(model, "assembly_accuracy", "ComponentSet")
    bodies.read_tree(reading, couplers == "joints")
    reading.quiet(model)
    paths.wrap_objects(reading)
    for name, effect in SETS.items():
        elements = [
            e for e in reading.objects(model, name) if e not in reading.names and e.tag not in geometry.DRAWN
        ]
        reading.each(elements, effect)
    geometry.read_geometry(reading)
    reading.about()
    reading.note_unasked()
    if strict and reading.notes:
        raise DescriptionError(
            f"{document.path.name}: not all is understood, which strict=True asks for:\n"
            f"{listed(reading.notes)}"
        )
    reading.system.notes = tuple(reading.notes)
    return reading.system
