"""The steps of a run, and the polynomials between them: methods/base.py (1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.integrate.integrators import Method


def polynomial(ends: Sequence[Any], h: Any, x: Any, more: Sequence[Any], hermite: bool) -> Any:
    """y at a share x of a step of length h: methods/base.py (1), on arrays and on CasADi's symbols.

    Args:
        ends: y and f at the start, y and f at the end.
        more: the vectors that follow those of Hermite's cubic.
        hermite: start from Hermite's cubic.
    """
    start, f, end, f_end = ends
    delta = end - start
    F = [delta, *([h * f - delta, 2 * delta - h * (f + f_end)] if hermite else []), *more]
    total = 0.0
    for k in reversed(range(len(F))):
        total = (total + F[k]) * (1 - x if k % 2 else x)
    return start + total


@dataclass(frozen=True, eq=False)
class StepRows:
    """y at the steps, and what y(t) between them needs. Row i starts a piece that ends at row i + 1.

    Args:
        t: times [s], shape (m,).
        y: q, u, z side by side, shape (m, n).
        f: ydot, shape (m, n).
        more: further vectors of methods/base.py (1) of the step that ends at a row, shape (m, k, n).
        method: of the run.
        cuts: steps that an event cut short, by row: length [s], y and f at the end that they would have had.
        whole: every step is here; if not, nothing is known between the rows.
    """

    t: np.ndarray
    y: np.ndarray
    f: np.ndarray
    more: np.ndarray
    method: Method
    cuts: dict[int, tuple[float, np.ndarray, np.ndarray]] = field(default_factory=dict)
    whole: bool = True

    def at(self, i: np.ndarray, t: np.ndarray) -> np.ndarray:
        """y at times t (...) in the pieces i (...)."""
        end, f_end, length = self.y[i + 1], self.f[i + 1], self.t[i + 1] - self.t[i]
        for k in np.intersect1d(i, np.array(sorted(self.cuts), dtype=int)) if self.cuts else ():
            there = i == k
            length[there], end[there], f_end[there] = self.cuts[int(k)]
        h = length[..., None]
        x = np.divide((t - self.t[i])[..., None], h, out=np.ones_like(h), where=h != 0)
        more = [self.more[i + 1, k] for k in range(self.more.shape[1])]
        return np.asarray(polynomial((self.y[i], self.f[i], end, f_end), h, x, more, self.method.hermite))

    def part(self, first: int, last: int, step: int) -> StepRows:
        """Rows from the first on, before the last. Between them all is known only if none is left out."""
        here = slice(first, last, step)
        whole = self.whole and (step == 1 or len(range(first, last, step)) < 2)
        cuts = {k - first: cut for k, cut in self.cuts.items() if first <= k < last - 1} if whole else {}
        return StepRows(self.t[here], self.y[here], self.f[here], self.more[here], self.method, cuts, whole)

    @staticmethod
    def alone(t: np.ndarray, y: np.ndarray, method: Method, whole: bool = False) -> StepRows:
        """Rows between which nothing is known."""
        return StepRows(t, y, np.zeros_like(y), np.empty((len(t), 0, y.shape[1])), method, whole=whole)
