"""What `system.explain(state)` says."""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.model.intermediates import intermediates
from condyle.model.model import Model
from condyle.records import dataclass


@dataclass(frozen=True)
class Explanation:
    """All intermediates of a state's accelerations, evaluated without native code.

    Attributes:
        values: arrays by name, in the order of their computation. Spatial vectors angular first, matrices
            column by column.
        first: name of the first that is not finite, or None.
    """

    values: dict[str, np.ndarray]
    first: str | None

    def __str__(self) -> str:
        lines = [
            f"{name:50s} {np.array2string(value, precision=5, max_line_width=120, threshold=12)}"
            for name, value in self.values.items()
        ]
        if self.first is None:
            return "\n".join([*lines, "All intermediates are finite."])
        return "\n".join(
            [
                *lines,
                f"The first that is not finite: {self.first} = {self.values[self.first]}. "
                "What it is computed from is above it: look for a root of a negative "
                "number or a division by zero there.",
            ]
        )


def explain(model: Model, q: np.ndarray, u: np.ndarray, tau: np.ndarray, tail: np.ndarray) -> Explanation:
    """Evaluate every intermediate with CasADi's evaluator and find the first that is not finite."""
    names, sizes, function = intermediates(model)
    arguments = [np.asarray(x, dtype=float).reshape(-1, 1) for x in (q, u, tau, tail)]
    if isinstance(function, ca.Function):
        flat = function.call(arguments)[0].full()[:, 0]
    else:
        flat = function.evaluate(arguments)[0][:, 0]
    values = dict(zip(names, np.split(flat, np.cumsum(sizes)[:-1]), strict=True))
    locked = "inertia that speed"  # infinite where a speed is locked
    bad = (
        n for n, v in values.items() if np.isnan(v).any() or (np.isinf(v).any() and not n.startswith(locked))
    )
    return Explanation(values, next(bad, None))
