"""Controllers: constants and functions of time become excitations of muscles and controls of actuators.

A constant is the default of the Input of that name, so that studies may still choose it; a function of time
takes the Input's place.
"""

from __future__ import annotations

from dataclasses import replace

from condyle.forces.actuators import Actuator
from condyle.forces.base import Force
from condyle.functions import Constant, Function
from condyle.muscles import Muscle
from condyle.opensim.element import Element
from condyle.opensim.reading import Reading
from condyle.opensim.registry import reads
from condyle.trace.parameter import Input


@reads("PrescribedController")
def prescribed(reading: Reading, element: Element) -> None:
    if not reading.boolean(element, "enabled", True):
        reading.note(element, "is not enabled; it is left out")
        return
    names = [word.rpartition("/")[2] for word in reading.words(element, "socket_actuators")]
    reading.skip(element, "interpolation_method", "controls_file")
    functions = _functions(reading, element)
    if reading.text(element, "controls_file", "") not in ("", "Unassigned"):
        reading.note(
            element,
            "its controls are in a file, which is not read: it controls nothing; give them "
            "to simulate as inputs",
        )
        return
    if "ALL" in names:
        reading.note(element, "controls ALL actuators, which is not read: it controls nothing; name them")
        return
    if len(names) != len(functions):
        reading.remark(
            element, f"{len(names)} actuators and {len(functions)} functions; what has no partner is left out"
        )
    reading.controls.update({name: (element, f) for name, f in zip(names, functions, strict=False)})


def _functions(reading: Reading, element: Element) -> list[Function]:
    """Functions of the control, one per actuator."""
    found = next(
        (e for e in element.children if e.tag == "FunctionSet" and e.name == "ControlFunctions"),
        element.child("ControlFunctions"),
    )
    if found is None:
        return []
    reading.use(found)
    reading.skip(found, "groups")
    return [reading.read(e) for e in reading.objects(found, "objects")]


def controlled(reading: Reading, element: Element, law: Force) -> Force:
    """A force with the control that a controller gives it."""
    if element.name not in reading.controls or not isinstance(law, (Muscle, Actuator)):
        return law
    _, function = reading.controls[element.name]
    value = Input(element.name, float(function.value)) if isinstance(function, Constant) else function
    return replace(law, excitation=value) if isinstance(law, Muscle) else replace(law, control=value)
