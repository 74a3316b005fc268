"""Constraints that no accelerations meet: what the status of multipliers.py (8) means, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from condyle.constraints.solve.equations import row_slices
from condyle.constraints.solve.multipliers import ROUNDING, UNMET
from condyle.errors import ConstraintError
from condyle.model.explain import explain
from condyle.model.model import Model
from condyle.system.refusals import refuse_singular


def refuse_accelerations(
    model: Model,
    name: str,
    tail: int,
    arguments: tuple[Any, ...],
    results: list[np.ndarray],
    status: np.ndarray,
) -> None:
    """SingularError where a mobilizer has lost rank; ConstraintError where constraints are unmet or not
    finite.

    Args:
        tail: which of the arguments q, u, tau, ... is the tail.
        arguments: of an operator.
        results: of the operator.
        status: of each state, (..., 1).
    """
    tree, codes = model.tree, status[..., 0]
    bad = codes == tree.nu + 1
    # a lost speed comes before
    lost = np.where(bad, 0, np.where(codes > tree.nu + 1, codes - tree.nu - 1, codes))
    if lost.any():
        for result in results:
            result[codes != 0] = np.nan
        refuse_singular(tree, name, arguments, results, lost[..., None])
    finite = np.all([np.isfinite(x).all(axis=-1) for x in results], axis=0)
    for part in (bad & finite, bad & ~finite):
        if not part.any():
            continue
        where = tuple(int(i[0]) for i in np.nonzero(part)) if part.ndim else ()
        here = [
            np.broadcast_to(arguments[k], (*codes.shape, np.shape(arguments[k])[-1]))[where]
            for k in (0, 1, 2, tail)
        ]
        which = f" (state {where} of the batch; `error.result` has the others)" if where else ""
        q, u, tau, more = here
        if words := unmet(model, q, u, tau, more):
            for result in results:
                result[codes != 0] = np.nan
            raise ConstraintError(f"{name}: {words[0]}{which}. {words[1]}", words[2], None, results[0])


def refuse_undefined(model: Model, name: str, values: np.ndarray, levels: Sequence[str] = ()) -> NoReturn:
    """ConstraintError for values (..., m) of the equations of some levels, all by default, that are not
    finite."""
    owners = [
        c
        for c, constraint in model.constraints.items()
        for part in constraint.parts
        if not levels or part.level in levels
        for _ in range(part.size)
    ]
    *where, row = (int(i[0]) for i in np.nonzero(~np.isfinite(values)))
    which = f" (state {tuple(where)} of the batch; `error.result` has all)" if where else ""
    raise ConstraintError(
        f"{name}: constraint {owners[row]!r} is not a number or infinite{which}. "
        f"{model.constraints[owners[row]].undefined or _LOOK}; system.explain(state) shows "
        "all",
        {owners[row]: float("nan")},
        None,
        values,
    )


def refuse_unmet(name: str, equations: Sequence[str], left: np.ndarray, allowed: np.ndarray) -> None:
    """ConstraintError where what is left (..., m) of the errors of velocities is more than allowed."""
    bad = ~(np.abs(left) <= allowed)
    if not bad.any():
        return
    where = tuple(int(i[0]) for i in np.nonzero(bad.any(axis=-1))) if bad.ndim > 1 else ()
    amounts = {name: float(x) for name, x, b in zip(equations, left[where], bad[where], strict=True) if b}
    listed = ", ".join(f"{label} by {x:.3g}" for label, x in list(amounts.items())[:5])
    which = f" (state {where} of the batch)" if where else ""
    raise ConstraintError(
        f"{name}: no speeds satisfy the constraints; violated: {listed}{which}. Do they "
        "contradict each other, a lock or a motion? Disable one or free a "
        "speed",
        amounts,
        None,
    )


def unmet(
    model: Model, q: np.ndarray, u: np.ndarray, tau: np.ndarray, tail: np.ndarray
) -> tuple[str, str, dict[str, float]] | None:
    """Which constraints are unmet or not finite at one state, what to do, and amounts by equation; None if
    all are met, or if something else is not finite."""
    found = explain(model, q, u, tau, tail)
    if found.first is not None:
        broken = next((c for c in model.constraints if found.first.startswith(f"constraint {c!r}: ")), None)
        if broken is None:
            return None
        return (
            f"{found.first} is not a number or infinite",
            f"{model.constraints[broken].undefined or _LOOK}; system.explain(state) shows all",
            {broken: float("nan")},
        )
    udot = np.concatenate([found.values[f"udot of {speed!r}"] for speed in model.tree.speeds])
    amounts, size = {}, {}
    for name, at in row_slices(model.constraints).items():
        G = np.reshape(found.values[f"constraint {name!r}: G"], (-1, udot.size), order="F")
        bias = found.values[f"constraint {name!r}: bias"]
        r, s = G @ udot + bias, np.abs(G) @ np.abs(udot) + np.abs(bias)
        for k in range(at.stop - at.start):
            label = name if len(r) == 1 else f"{name}[{k}]"
            amounts[label], size[label] = float(r[k]), float(s[k])
    large = [label for label, r in amounts.items() if abs(r) > UNMET * size[label]]
    most = max((abs(amounts[label]) for label in large), default=0.0)
    worst = sorted(
        (label for label in large if abs(amounts[label]) > ROUNDING * most),
        key=lambda label: -abs(amounts[label]),
    )
    worst = worst[:5]
    if not worst:
        return None
    listed = ", ".join(
        f"{label} by {amounts[label]:.3g} (a sum of terms of {size[label]:.3g})" for label in worst
    )
    return (
        f"no accelerations satisfy the constraints; violated: {listed}; allowed {UNMET:g} of the terms",
        "Do they contradict each other, a lock or a motion? Disable one or free a speed; where "
        "constraints are redundant, take the state to them first "
        "(system.project)",
        {label: amounts[label] for label in worst},
    )


_LOOK = "Look in its equations for a root of a negative number or a division by zero"
