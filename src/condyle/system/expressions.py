"""An operator as a casadi.Function, for optimizers and derivatives of one's own."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.model.symbols import Symbols
from condyle.native.tables.lookup import lookups_in
from condyle.system.compiled import Compiled
from condyle.system.derivatives import derivable

VARIABLES = ("t", "z", "inputs", "discrete", "parameters")
"""Parts of the tail that become inputs."""


def casadi_function(
    compiled: Compiled, operator: str, body: int | None, options: dict[str, Any]
) -> ca.Function:
    """See System.casadi. body: its index."""
    record = derivable(operator)
    if bool(record.per_body) != (body is not None):
        raise DescriptionError(
            f"casadi({operator!r}): "
            + (
                "it is of no body; leave body= out"
                if body is not None
                else "of which body? Give body='...', not ground"
            )
        )
    model, s = compiled.model, Symbols(compiled.model, direct=True, straight=True)
    found = record.expressions(s, **({"body": body} if record.per_body == "kernel" else {}))
    if lookups_in(found):
        raise DescriptionError(
            f"casadi({operator!r}): splines of many points, series or solvers in the "
            "system are looked up in tables, which a casadi.Function of expressions does "
            "not do; use system.jvp, vjp or jacobian"
        )
    inside = ca.Function("inside", [s[a] for a in record.arguments], found)
    sizes = {a: n for a, n in record.inputs(model) if a != "tail"}
    sizes |= {v: model.tail[v].stop - model.tail[v].start for v in VARIABLES}
    given = {a: ca.SX.sym(a, n) for a, n in sizes.items()}
    tail = ca.SX(ca.DM(compiled.tails.make(options)))
    for variable in VARIABLES:
        tail[model.tail[variable]] = given[variable]
    results = inside.call([*(given[a] for a in record.arguments if a != "tail"), tail], True, False)
    named = []
    # a status may follow
    for (result, shape), x in zip(record.shapes(model).items(), results, strict=False):
        if record.per_body == "row" and body is not None:
            x, shape = x[record.row(model, body)], shape[1:]
        named.append(
            (result, x if len(shape) < 2 else ca.reshape(x, shape[-1], x.numel() // max(shape[-1], 1)).T)
        )
    wanted = [a for a, n in sizes.items() if n or a not in VARIABLES]
    return ca.Function(
        operator.replace(".", "_"),
        [given[a] for a in wanted],
        [ca.densify(x) for _, x in named],
        wanted,
        [n for n, _ in named],
        {"default_in": [_default(compiled, a) for a in wanted]},
    )


def _default(compiled: Compiled, argument: str) -> float:
    """The default of an input, one number for all its entries: NaN where leaving it out would be wrong."""
    if argument in ("t", "tau"):
        return 0.0
    values = compiled.tails.make({})[compiled.model.tail[argument]] if argument in VARIABLES else np.empty(0)
    return float(values[0]) if len(values) and (values == values[0]).all() else float("nan")
