"""The result of a fit, its accuracy, and combinations of values that the measurements do not determine.

With r and J = dr/dx at the solution, noise variance s^2 = |r|^2 / (m - n), or 1 where sigma was given,

    covariance = s^2 (J'J)^-1                                                                              (1)
    J D = U S V',  D = diag(sizes of the values)                                                           (2)

Column k of V is a combination of relative changes of the values to which the measurements respond with the
strength S_k: its standard deviation is s / S_k of the values' size. If S_k is zero, it is undetermined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.presentation import Block, ShowsBlocks, cut, number
from condyle.quality import Check, Judged
from condyle.records import dataclass
from condyle.status import Outcome
from condyle.studies.fitting.base import Evaluated

BLIND = 1e-9
"""Strengths below this fraction of the largest are rounding errors and count as zero."""
OPEN = 0.5
"""Directions with a standard deviation above this fraction of the values are weak."""
ALIKE = 1e-6
"""Relative changes that differ by less are treated as equal, since singular vectors are no more accurate."""
PART = 0.1
"""A value is part of a direction if it has more than this share of the largest."""


@dataclass(frozen=True)
class Direction:
    """A combination of relative changes of the values.

    Attributes:
        parts: change of each value relative to its size; the largest is 1.
        open: standard deviation along it, relative to the values' size; infinite if undetermined.
    """

    parts: dict[str, float]
    open: float

    def __str__(self) -> str:
        up = [name for name, x in self.parts.items() if x > 0]
        down = [name for name, x in self.parts.items() if x < 0]
        alike = all(abs(abs(x) - 1) < 0.02 for x in self.parts.values())
        if len(self.parts) == 1:
            what = f"{up[0] if up else down[0]} alone"
        elif alike and not down:
            what = f"{' and '.join(up)} by the same factor"
        elif alike:
            what = f"{' and '.join(up)} by a factor and {' and '.join(down)} by its inverse"
        else:
            what = ", ".join(f"{name} by {x:+.2g}" for name, x in self.parts.items()) + " (relative)"
        if np.isinf(self.open):
            return f"the measurements do not determine this combination: {what}"
        return f"they leave {100 * self.open:.3g} % of {what} open"


@dataclass(frozen=True, eq=False, repr=False)
class ParameterFit(Judged, ShowsBlocks):
    """Parameters that fit measurements best.

    Attributes:
        values: by name; as `parameters=fit.values` they go into states and operators.
        standard_errors: by name; infinite for undetermined values, NaN for values at a bound.
        covariance: of the values, in their order, shape (n, n).
        directions: combinations of relative changes, the least determined first: `print(d)` describes one.
        unknowns: further unknowns, by name, such as states at the start of runs.
        residuals: (model - measured) / sigma at the solution, shape (m,).
        noise: estimated standard deviation of the residuals; about 1 if sigma was right.
        at_bound: names of values that lie at a bound.
        joints: largest gap between pieces of a run, relative to its variables' sizes.
        status: "finished", or why it ended earlier.
        evaluations: of all residuals.
    """

    values: dict[str, float]
    standard_errors: dict[str, float]
    covariance: NDArray[np.float64] = field(repr=False)
    directions: tuple[Direction, ...]
    unknowns: dict[str, float]
    residuals: NDArray[np.float64] = field(repr=False)
    noise: float
    at_bound: tuple[str, ...]
    joints: float
    status: Outcome
    evaluations: int
    absolute: bool = field(default=False, repr=False)

    _study = "fit_parameters"

    @property
    def correlation(self) -> NDArray[np.float64]:
        """Correlation of the values, in their order, shape (n, n)."""
        s = np.sqrt(np.diagonal(self.covariance))
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.covariance / np.outer(s, s)

    @property
    def undetermined(self) -> tuple[Direction, ...]:
        """Directions that the measurements do not determine, or determine only weakly."""
        return tuple(d for d in self.directions if d.open > OPEN)

    def __repr__(self) -> str:
        found = [
            f"{name} = {number(x)} ± {self.standard_errors[name]:.2g}" for name, x in self.values.items()
        ]
        status = "" if self.status == "finished" else f"; {self.status}"
        return f"ParameterFit({cut(found)}; noise {number(self.noise)}{status}{self.quality.summary})"

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"  {d}" for d in self.undetermined)])

    def _checks(self) -> Iterator[Check]:
        worst = self.directions[0]
        yield Check(
            "undetermined combinations",
            worst.open,
            "of the values",
            OPEN,
            1e300,
            ", ".join(worst.parts),
            f"{worst}; fix one of them, or measure another quantity",
        )
        yield Check(
            "values at a bound", len(self.at_bound), "", 0.0, np.inf, cut(self.at_bound), "widen the bounds"
        )
        if self.absolute:
            size = max(self.noise, 1 / max(self.noise, 1e-300))
            yield Check(
                "residuals beside sigma, either way",
                size,
                "",
                2.0,
                10.0,
                advice="sigma is wrong, or the model cannot reproduce the measurements",
            )
        yield Check(
            "gap between pieces of a run", self.joints, "of the values", 1e-4, 1e-2, advice="more iterations"
        )

    def _blocks(self) -> list[Block]:
        rows = [(n, number(x), f"{self.standard_errors[n]:.3g}") for n, x in self.values.items()]
        open_ = [(str(d),) for d in self.undetermined]
        return [
            Block("values", ("", "value", "standard error"), rows),
            *[Block("not said", (), open_)] * bool(open_),
            *self.quality.blocks,
        ]


def judge(
    names: list[str],
    x: Array,
    found: Evaluated,
    unknowns: list[str],
    fixed: Any,
    absolute: bool,
    status: Outcome,
    evaluations: int,
) -> ParameterFit:
    """The result: (1) and (2)."""
    n, J, r = len(names), found.by_parameters, found.r[~found.joints]
    spare = len(found.r) - len(x) + int(fixed.sum())
    noise = float(np.sqrt((r**2).sum() / spare)) if spare > 0 else np.nan
    s = 1.0 if absolute else noise
    free = np.flatnonzero(~fixed)
    size = np.where(x == 0, 1.0, np.abs(x))
    A = J[:, free] * size[free]
    # other unknowns are projected out of the columns of the Parameters: their covariance is the same
    mine, other = free < n, free >= n
    B = A[:, mine]
    if other.any():
        Q = np.linalg.qr(A[:, other] / np.maximum(np.linalg.norm(A[:, other], axis=0), 1e-300))[0]
        B = B - Q @ (Q.T @ B)
        B = B - Q @ (Q.T @ B)
    scale = np.linalg.norm(A[:, mine], axis=0).max(initial=0.0)
    _, S, Vt = np.linalg.svd(B, full_matrices=False)
    blind = BLIND * scale >= S
    V = Vt.T * size[free[mine]][:, None]
    covariance = np.full((n, n), np.nan)
    known = V[:, ~blind] / S[~blind] * s
    inner = known @ known.T
    lost = (np.abs(Vt.T[:, blind]) > 1e-6).any(axis=1)
    inner[lost] = inner[:, lost] = np.nan
    inner[lost, lost] = np.inf
    covariance[np.ix_(free[mine], free[mine])] = inner
    order = [names[k] for k in free[mine]]
    directions = []
    for k in reversed(range(len(S))):
        by = np.abs(Vt[k])
        v = (
            Vt[k] / Vt[k][(by > (1 - ALIKE) * by.max()).argmax()]
        )  # the first of those that differ only by rounding
        parts = {name: float(a) for name, a in zip(order, v, strict=True) if abs(a) > PART}
        directions.append(Direction(parts, np.inf if blind[k] else float(s / S[k])))
    joints = found.r[found.joints]
    from condyle.studies.fitting.fit import WEIGHTS

    return ParameterFit(
        dict(zip(names, x[:n].tolist(), strict=True)),
        dict(zip(names, np.sqrt(np.diagonal(covariance)).tolist(), strict=True)),
        covariance,
        tuple(directions),
        dict(zip(unknowns, x[n:].tolist(), strict=True)),
        r,
        noise,
        tuple(name for name, at in zip(names, fixed, strict=False) if at),
        float(np.abs(joints).max(initial=0.0)) / WEIGHTS[-1],
        status,
        evaluations,
        absolute,
    )
