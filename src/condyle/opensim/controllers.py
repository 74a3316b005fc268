"""Controls of actuators and excitations of muscles, which come from outside or from a PrescribedController.

A constant is the default of the Input of that name, so that studies may still choose it; a function of time
takes the Input's place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from condyle.forces.actuators import Actuator
from condyle.forces.base import Force
from condyle.forces.external import TimeFunctions, TimeSeries
from condyle.functions import Constant, Function
from condyle.muscles import Muscle
from condyle.muscles.activation import AskedExcitation
from condyle.opensim.element import Element
from condyle.opensim.functions import constant, function, over_time
from condyle.opensim.reading import Reading
from condyle.opensim.table import reads
from condyle.opensim.writing import Writing, Xml, xml
from condyle.trace.parameter import Expression, Input


@reads("PrescribedController")
def prescribed_controller(reading: Reading, element: Element) -> None:
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
            element,
            f"{len(names)} actuators and {len(functions)} functions; those without a partner are left out",
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
    """A force with the control from a controller."""
    if element.name not in reading.controls or not isinstance(law, (Muscle, Actuator)):
        return law
    _, function = reading.controls[element.name]
    value = Input(element.name, float(function.value)) if isinstance(function, Constant) else function
    return replace(law, excitation=value) if isinstance(law, Muscle) else replace(law, control=value)


# ---- writing -----------------------------------------------------------------------------------------------


def control(given: Any, to: Writing) -> float:
    """Register the control of an actuator: an Input is its control, with the factor that is returned. A
    controller gives the default of the Input, or a number."""
    if isinstance(given, Expression) and (inputs := [p for p in given.parameters if isinstance(p, Input)]):
        if inputs[0].default:
            to.controls[to.owner] = constant(inputs[0].default)
        return _factor(given, inputs, to)
    if isinstance(given, (TimeFunctions, TimeSeries)):
        (to.controls[to.owner],) = over_time(given, to)
    elif isinstance(given, AskedExcitation) and given.given is not None:
        to.controls[to.owner] = function(given.given, to)
    elif isinstance(given, (Expression, int, float)):
        if value := to.number(given):
            to.controls[to.owner] = constant(value)
    else:
        asked = "a Python function" if isinstance(given, AskedExcitation) else repr(given)
        to.refuse(f"its control is {asked}; OpenSim has an Input, a number or one of cd.functions there")
    return 1.0


def _factor(given: Expression, inputs: list[Input], to: Writing) -> float:
    """c of c times an Input."""
    to.known(p for p in given.parameters if not isinstance(p, Input))
    at = [float(given.at({**(to.parameters or {}), inputs[0].name: x}).item()) for x in (0.0, 1.0, 2.0)]
    if len(inputs) > 1 or at[0] != 0.0 or abs(at[2] - 2 * at[1]) > 1e-15 * abs(at[2]):
        names = ", ".join(p.name for p in inputs)
        to.refuse(f"its control is computed from Inputs ({names}); in OpenSim it is one number")
    return at[1]


def controllers(to: Writing) -> list[Xml]:
    """A controller of the actuators whose controls are known."""
    if not to.controls:
        return []
    for name, made in to.controls.items():
        made.set("name", name)
    return [
        xml(
            "PrescribedController",
            "controls",
            socket_actuators=" ".join(f"/forceset/{name}" for name in to.controls),
            ControlFunctions=xml("FunctionSet", "ControlFunctions", objects=list(to.controls.values())),
        )
    ]
