"""Derivatives of all members of an Ensemble: Ensemble.jacobian, jvp and vjp. Members are differentiated side
by side in lanes, as they ran; members with events one at a time (gradients.py)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, ShapeError
from condyle.integrate.adjoint.gradients import (
    RunDerivatives,
    cotangent_of,
    directed,
    jacobian,
    jvp,
    tangent_of,
    vjp,
)
from condyle.integrate.adjoint.program import carry
from condyle.integrate.adjoint.slopes import FORWARD, REVERSE
from condyle.integrate.adjoint.tasks import AdjointTasks
from condyle.integrate.ensemble import EnsembleSteps, Runs
from condyle.status import Status

if TYPE_CHECKING:
    from condyle.integrate.ensemble import Ensemble


SHORT = 1e-6
"""A step [s] for members that are at a row already; its result is not used."""


class EnsembleDerivatives:
    """The derivatives of all members.

    Args:
        what: its name in errors.
        ens: members of which every step was kept, without events.
    """

    def __init__(self, what: str, ens: Ensemble) -> None:
        self.what, self.ens, self.system = what, ens, ens.system
        check(what, ens)
        assert isinstance(ens.kept, EnsembleSteps)
        self.begin, self.rows = ens.kept.begin, ens.kept.rows
        self.one = RunDerivatives(what, ens[0])
        self.N, self.n, self.np = len(ens), self.one.n, len(self.one.wanted)

    @cached_property
    def members(self) -> list[RunDerivatives]:
        return [RunDerivatives(self.what, self.ens[i]) for i in range(self.N)]

    def directions(self, wrt: str) -> tuple[Array, Array]:
        """y' and p' of each direction of a variable, of each member: (N, k, n), (N, k, p')."""
        each = [run.directions(wrt) for run in self.members]
        return np.array([d for d, _ in each]), np.array([dp for _, dp in each])

    def times(self, t: Any) -> tuple[np.ndarray | None, tuple[int, ...]]:
        if t is None:
            return None, ()
        given = np.asarray(t, dtype=float)
        for run in self.members:
            run.times(given)
        return given.reshape(-1), given.shape

    def _tasks(
        self, first: np.ndarray, last: np.ndarray, which: np.ndarray, rows: Any = None
    ) -> AdjointTasks:
        t, y, f, x = rows or (self.rows.t, self.rows.y, self.rows.f, None)
        return AdjointTasks(t, y, f, first, last, which, self.ens.members.tail, self.ens.manifold, True, x)

    def carry(
        self, direction: str, first: np.ndarray, last: np.ndarray, d: Array, dp: Array, by_p: bool,
        seeds: Array | None = None, rows: Any = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """d (N, k, n), dp (N, k, p') of each member between rows (N,)."""
        k = d.shape[1]
        tasks = self._tasks(np.repeat(first, k), np.repeat(last, k), np.repeat(np.arange(self.N), k), rows)
        out, out_p = carry(
            self.system,
            self.rows.method,
            direction,
            tasks,
            d.reshape(-1, self.n),
            dp.reshape(-1, self.np),
            seeds,
            by_p,
        )
        return out.reshape(d.shape), out_p.reshape(dp.shape)

    def between(
        self, direction: str, row: np.ndarray, t: float, d: Array, dp: Array, by_p: bool
    ) -> tuple[Array, Array]:
        """d, dp from rows (N,) to a time in the steps that begin at these rows."""
        if (self.rows.t[row] == t).all():
            return d, dp
        twice, here, start = np.repeat(row, 2), 2 * np.arange(self.N), self.rows.t[row]
        moving = start != t
        ends = np.where(moving, self.rows.t[np.minimum(row + 1, self.begin[1:] - 1)], start + SHORT)
        times, x = np.column_stack([start, ends]).ravel(), np.repeat(np.where(moving, t, start), 2)
        rows = times, self.rows.y[twice], self.rows.f[twice], x
        new, new_p = self.carry(direction, here, here + 1, d, dp, by_p, rows=rows)
        return np.where(moving[:, None, None], new, d), np.where(moving[:, None, None], new_p, dp)

    def row(self, t: float) -> np.ndarray:
        """The last row of each member that is not later than t, (N,)."""
        found = [
            np.searchsorted(self.rows.t[a:b], t, side="right") - 1
            for a, b in zip(self.begin, self.begin[1:], strict=False)
        ]
        return np.asarray(self.begin[:-1] + np.array(found))

    def rates(self, times: np.ndarray | None) -> Array:
        """ydot at the times, or at the end, of each member: (N, times, n)."""
        ends = self.ens.t_end
        return np.array([m.rates(ends[[i]] if times is None else times) for i, m in enumerate(self.members)])

    def forward(self, d: Array, dp: Array, times: np.ndarray | None) -> Array:
        """y' (times, N, k, n)."""
        by_p, first = bool(dp.any()), self.begin[:-1]
        if times is None:
            return self._steps(FORWARD, first, self.begin[1:] - 1, d, dp, by_p)[0][None]
        out = np.empty((len(times), *d.shape))
        for i in np.argsort(times, kind="stable"):
            row = self.row(float(times[i]))
            d, dp = self._steps(FORWARD, first, row, d, dp, by_p)
            first = row
            out[i] = self.between(FORWARD, row, float(times[i]), d, dp, by_p)[0]
        return out

    def _steps(
        self,
        direction: str,
        first: np.ndarray,
        last: np.ndarray,
        d: Array,
        dp: Array,
        by_p: bool,
        seeds: Array | None = None,
    ) -> tuple[Array, Array]:
        """Members without further steps are unchanged."""
        if (last > first).all():
            return self.carry(direction, first, last, d, dp, by_p, seeds)
        d, dp = d.copy(), dp.copy()
        for i in np.flatnonzero(last > first):
            a, b, which = (np.full(d.shape[1], x) for x in (first[i], last[i], i))
            tasks = self._tasks(a, b, which)
            d[i], dp[i] = carry(self.system, self.rows.method, direction, tasks, d[i], dp[i], seeds, by_p)
        return d, dp

    def reverse(self, w: Array, times: np.ndarray | None, by_p: bool) -> tuple[Array, Array]:
        """y^ (N, n) at the start and p^ (N, p') of w (N, times, n)."""
        first, last, mu = self.begin[:-1], self.begin[1:] - 1, np.zeros((self.N, 1, self.np))
        seeds = None
        d = np.zeros((self.N, 1, self.n))
        if times is None:
            d = np.ascontiguousarray(w[:, :1])
        else:
            seeds = np.zeros_like(self.rows.y)
            for i, t in enumerate(times):
                row = self.row(float(t))
                x, mu = self.between(REVERSE, row, float(t), np.ascontiguousarray(w[:, i : i + 1]), mu, by_p)
                np.add.at(seeds, row, x[:, 0])
            d[:, 0] = seeds[last]
        d, mu = self._steps(REVERSE, first, last, d, mu, by_p, seeds)
        return d[:, 0], mu[:, 0]


def check(what: str, ens: Ensemble) -> None:
    """Raise an error for members that have no derivative."""
    bad = [
        i for i, status in enumerate(ens.status) if not (status == Status.FINISHED or status == Status.EVENT)
    ]
    if bad:
        raise DescriptionError(
            f"{what}: member {bad[0]} did not reach its end ({ens.status[bad[0]]}); {len(bad)} members have no "
            "derivative. Differentiate the others: ens[ens.finished]"
        )
    if not ens._whole:
        raise DescriptionError(
            f"{what}: the steps of this ensemble were not kept; cd.simulate(..., keep='steps') keeps them"
        )


def of_ensemble(kind: str, ens: Ensemble, *given: Any) -> Any:
    """jacobian(wrt, t), jvp(tangents, t) or vjp(w, t, wrt) of all members."""
    check(kind, ens)
    if isinstance(ens.kept, Runs):  # one at a time
        if kind == "vjp":
            w = _weights(ens, given[0], np.shape(given[1]) if given[1] is not None else ())
            each: list[Any] = [vjp(ens[i], w[i], *given[1:]) for i in range(len(ens))]
        else:
            each = [(jacobian if kind == "jacobian" else jvp)(ens[i], *given) for i in range(len(ens))]
        return (
            {name: np.array([x[name] for x in each]) for name in each[0]}
            if isinstance(each[0], dict)
            else np.array(each)
        )
    run = EnsembleDerivatives(kind, ens)
    N, n = run.N, run.n
    if kind == "vjp":
        w, t, wrt = given
        names, (times, shape) = run.one.names(wrt), run.times(t)
        w = _weights(ens, w, shape).reshape(N, -1, n)
        by_p = bool({"parameters", "inputs"} & set(names))
        y, p = run.reverse(w, times, by_p)
        out = {}
        for name in names:
            if name == "t":
                out[name] = (w * run.rates(times)).sum(axis=2).reshape(N, *shape)
                continue
            d, dp = run.directions(name)
            out[name] = np.einsum("ikn,in->ik", d, y) + np.einsum("ikp,ip->ik", dp, p)
        return out
    tangents, t = given
    names = directed(run.one, tangents) if kind == "jvp" else run.one.names(tangents)
    times, shape = run.times(t)
    run.one.check_memory(names, 1 if times is None else len(times), N)
    each = [run.directions(name) for name in names]
    if kind == "jvp":
        v = {name: tangent_of(run.system, name, tangents[name]) for name in names}
        d, dp = (
            sum(np.einsum("k,ikn->in", v[name], x[i])[:, None] for name, x in zip(names, each, strict=True))
            for i in (0, 1)
        )
        dy = run.forward(d, dp, times)[:, :, 0]
        if "t" in v:
            dy = dy + v["t"][0] * run.rates(times).swapaxes(0, 1)
        return np.moveaxis(dy, 1, 0).reshape(N, *shape, n)
    d, dp = (np.concatenate([x[i] for x in each], axis=1) for i in (0, 1))
    dy = run.forward(np.ascontiguousarray(d), np.ascontiguousarray(dp), times)  # (times, N, k, n)
    found, start = {}, 0
    for name, (mine, _) in zip(names, each, strict=True):
        k = mine.shape[1]
        part = dy[:, :, start : start + k]
        if name == "t":
            part = run.rates(times).swapaxes(0, 1)[:, :, None]
        found[name] = np.ascontiguousarray(part.transpose(1, 0, 3, 2)).reshape(N, *shape, n, k)
        start += k
    return found


def _weights(ens: Ensemble, w: Any, shape: tuple[int, ...]) -> Array:
    """(N, ..., n)."""
    n, given = ens.y_end.shape[1], np.asarray(w, dtype=float)
    if given.shape[:1] != (len(ens),):
        raise ShapeError(f"vjp: w: expected shape {(len(ens), *shape, n)}, members first, got {given.shape}")
    return np.array([cotangent_of(ens.system, x, shape, n) for x in given])
