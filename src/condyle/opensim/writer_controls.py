"""Controls: OpenSim's actuators have one each, which comes from outside or from a PrescribedController."""

from __future__ import annotations

from typing import Any

from condyle.forces.external import TimeFunctions, TimeSeries
from condyle.muscles.excitation import AskedExcitation
from condyle.opensim.writer_functions import constant, function, over_time
from condyle.opensim.writing import Writing
from condyle.trace.parameter import Expression, Input


def control(kept: Any, name: str, to: Writing, where: str, lowest: float | None = None) -> float:
    """Take in what drives an actuator: an Input is its control, with the factor that is returned. A
    controller gives the default of the Input, or a number."""
    if isinstance(kept, Expression) and (inputs := [p for p in kept.parameters if isinstance(p, Input)]):
        if inputs[0].default:
            to.controls[name] = constant(inputs[0].default)
        return _factor(kept, to, where)
    if isinstance(kept, (TimeFunctions, TimeSeries)):
        (to.controls[name],) = over_time(kept, to, where)
        return 1.0
    if isinstance(kept, AskedExcitation) and kept.given is not None:
        to.controls[name] = function(kept.given, to, where)
        return 1.0
    if isinstance(kept, (Expression, int, float)):
        value = to.number(kept, where)
        if value:
            to.controls[name] = constant(value)
        return 1.0
    asked = "a Python function" if isinstance(kept, AskedExcitation) else repr(kept)
    to.refuse(f"{where}: its control is {asked}; OpenSim has an Input, a number or one of cd.functions there")
    return 1.0


def _factor(kept: Expression, to: Writing, where: str) -> float:
    """c of c times an Input."""
    inputs = [p for p in kept.parameters if isinstance(p, Input)]
    others = [p for p in kept.parameters if not isinstance(p, Input)]
    to.known(others, where)
    at = [float(kept.at({**(to.parameters or {}), inputs[0].name: x}).item()) for x in (0.0, 1.0, 2.0)]
    if len(inputs) > 1 or at[0] != 0.0 or abs(at[2] - 2 * at[1]) > 1e-15 * abs(at[2]):
        names = ", ".join(p.name for p in inputs)
        to.refuse(f"{where}: its control is computed from Inputs ({names}); in OpenSim it is one number")
    return at[1]
