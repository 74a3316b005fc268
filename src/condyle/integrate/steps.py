"""The steps of a run: a buffer during the run, rows when it has ended, and the polynomials between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.model.model import Model
from condyle.records import dataclass
from condyle.system.state import State

if TYPE_CHECKING:
    from condyle.integrate.integrators import Method

ROW = "row."
"""Prefix of streams of rows in native programs, where slices of the workspace have the plain names."""
FAILED = 16.0
"""The code of a run for which no step is small enough."""
CAPACITY = 512
"""Initial number of rows: the system would provide more memory page by page."""


def stacked(state: State) -> np.ndarray:
    """q, u, z of a state side by side."""
    return np.concatenate([state.q, state.u, state.z])


def replaced(like: State, t: float, y: np.ndarray) -> State:
    """The State with another time and other q, u, z side by side."""
    nq, nu = like.q.size, like.u.size
    return like.replace(t=t, q=y[:nq], u=y[nq : nq + nu], z=y[nq + nu :])


def unstacked(model: Model, tail: np.ndarray, t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """q, u and tails of states at times t (m,) with y (m, n), as arguments of kernels, from tails (k,) or (m,
    k)."""
    nq, n = model.tree.nq, model.tree.nq + model.tree.nu
    tails = np.empty((len(t), model.tail_size))
    tails[...] = tail
    tails[:, model.tail["t"]], tails[:, model.tail["z"]] = t[:, None], y[:, n:]
    return np.ascontiguousarray(y[:, :nq]), np.ascontiguousarray(y[:, nq:n]), tails


def polynomial(ends: Sequence[Any], h: Any, x: Any, more: Sequence[Any], hermite: bool) -> Any:
    """y at a fraction x of a step of length h: integrators/base.py (1), on arrays and on CasADi's symbols.

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
    """y at the steps, and the data for y(t) between them. Row i starts a step that ends at row i + 1.

    Args:
        t: times [s], shape (m,).
        y: q, u, z side by side, shape (m, n).
        f: ydot, shape (m, n).
        more: further vectors of integrators/base.py (1) of the step that ends at a row, shape (m, k, n).
        method: of the run.
        cuts: steps that an event cut short, by row: length [s], y and f at the end that they would have had.
        whole: whether every step is stored; if not, states between the rows are unknown.
    """

    t: np.ndarray
    y: np.ndarray
    f: np.ndarray
    more: np.ndarray
    method: Method
    cuts: dict[int, tuple[float, np.ndarray, np.ndarray]] = field(default_factory=dict)
    whole: bool = True

    def at(self, i: np.ndarray, t: np.ndarray) -> np.ndarray:
        """y at times t (...) in the steps i (...)."""
        end, f_end, length = self.y[i + 1], self.f[i + 1], self.t[i + 1] - self.t[i]
        for k in np.intersect1d(i, np.array(sorted(self.cuts), dtype=int)) if self.cuts else ():
            there = i == k
            length[there], end[there], f_end[there] = self.cuts[int(k)]
        h = length[..., None]
        x = np.divide((t - self.t[i])[..., None], h, out=np.ones_like(h), where=h != 0)
        more = [self.more[i + 1, k] for k in range(self.more.shape[1])]
        return np.asarray(polynomial((self.y[i], self.f[i], end, f_end), h, x, more, self.method.hermite))

    def length(self, i: int) -> float:
        """Length of the step that begins at row i [s], as the method took it."""
        return self.cuts[i][0] if i in self.cuts else float(self.t[i + 1] - self.t[i])

    def subset(self, here: Any) -> StepRows:
        """Rows by a slice or by indices, all steps among them."""
        return StepRows(self.t[here], self.y[here], self.f[here], self.more[here], self.method)

    def part(self, first: int, last: int, step: int) -> StepRows:
        """Rows from the first on, before the last. States between them are known only if no row is
        skipped."""
        here = slice(first, last, step)
        whole = self.whole and (step == 1 or len(range(first, last, step)) < 2)
        cuts = {k - first: cut for k, cut in self.cuts.items() if first <= k < last - 1} if whole else {}
        return replace(self.subset(here), cuts=cuts, whole=whole)

    @staticmethod
    def alone(t: np.ndarray, y: np.ndarray, method: Method, whole: bool = False) -> StepRows:
        """Rows without states between them."""
        return StepRows(t, y, np.zeros_like(y), np.empty((len(t), 0, y.shape[1])), method, whole=whole)


class StepBuffer:
    """The steps of a run in progress: named streams, in memory that grows.

    The step loop writes a row for each accepted step. From row i - 1 to row i one step of the method goes from
    t[i - 1], y[i - 1], f[i - 1], with the length t[i] - t[i - 1]. If that length is zero, an interruption has
    changed the state: row i is the state after it, and `changes` of the run records it. An interrupted step
    ends at the interruption; `cuts` has the step as the method took it. So the buffer has everything that an
    adjoint needs to go through a run backward, step by step: the method, y and f at the start of each step,
    its full length, and the interruptions.

    Args:
        widths: numbers of a row, by the names of the streams: t, y, f; "dense" where the method needs more
            between steps; "signature" and "changed" where paths may jump.
        method: of the run.
        t: its start [s].
        y: q, u, z at the start.

    Attributes:
        count: number of accepted rows; the step loop writes after them.
        steps: number of steps among them.
        cuts: steps that were interrupted, by the rows at which they start: full length [s], y and f at its end.
    """

    def __init__(self, widths: dict[str, int], method: Method, t: float, y: np.ndarray) -> None:
        self.method, self.count, self.steps = method, 1, 0
        self.cuts: dict[int, tuple[float, np.ndarray, np.ndarray]] = {}
        self.streams = {name: np.empty((CAPACITY, width)) for name, width in widths.items()}
        self["t"][0], self["y"][0] = t, y

    def __getitem__(self, name: str) -> np.ndarray:
        """All allocated rows of a stream."""
        return self.streams[name]

    def __contains__(self, name: str) -> bool:
        return name in self.streams

    def room(self, rows: int) -> dict[str, np.ndarray]:
        """Memory for rows after the last, by the names of the streams in the step loop."""
        while self.count + rows > len(self["t"]):
            more = {name: np.empty((4 * len(old), old.shape[1])) for name, old in self.streams.items()}
            for name, new in more.items():
                new[: self.count] = self.streams[name][: self.count]
            self.streams = more
        here = slice(self.count, self.count + rows)
        return {ROW + name: array[here] for name, array in self.streams.items()}

    def rows(self, stop: int, cuts: bool = False) -> StepRows:
        """The rows before `stop`, with or without the record of steps that were cut."""
        t, y, f = (self.streams[name][:stop] for name in ("t", "y", "f"))
        n = y.shape[1]
        more = self["dense"][:stop].reshape(stop, -1, n) if "dense" in self else np.empty((stop, 0, n))
        return StepRows(t[:, 0], y, f, more, self.method, self.cuts if cuts else {})

    def accept(self, steps: int) -> None:
        """Make the given number of rows after the last part of the run."""
        self.count, self.steps = self.count + steps, self.steps + steps

    def cut(self, k: int, t: float, y: np.ndarray) -> None:
        """Accept the steps up to the one that starts at row k, which now ends at t."""
        T, Y, F = (self.streams[name] for name in ("t", "y", "f"))
        if t != T[k + 1, 0]:
            self.cuts[k] = float(T[k + 1, 0] - T[k, 0]), Y[k + 1].copy(), F[k + 1].copy()
            T[k + 1], Y[k + 1] = t, y
        self.accept(k + 2 - self.count)

    def change(self, t: float, y: np.ndarray) -> None:
        """Add a row from which the run continues."""
        for name, row in self.room(1).items():
            row[0] = {ROW + "t": t, ROW + "y": y}.get(name, 0.0)
        self.count += 1
