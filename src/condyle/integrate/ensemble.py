"""Arguments and results of a simulation of many members: Members are their states, an Ensemble is their
motions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arrays import Array, Entries, complaint, real, unusable, vector
from condyle.errors import DescriptionError, ShapeError, UnknownNameError
from condyle.integrate.integrators import Method
from condyle.integrate.manifold import Manifold
from condyle.integrate.steps import StepRows, stacked
from condyle.integrate.trajectory import Occurrence, Statistics, Trajectory
from condyle.presentation import LINES, Block, cut, rows_of, span
from condyle.quality import Check, Judged
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.system.state import State
from condyle.system.states import Batch, States
from condyle.system.system import System
from condyle.system.variables import place, recorded, variable_names, variables
from condyle.table import Table, distinct, titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from condyle.integrate.interrupts.path_jumps import Jump
    from condyle.table.plots import PlotOptions

VARIED = ("t", "q", "u", "z", "inputs", "discrete", "parameters")
COMMON = ("locked", "disabled")


@dataclass(frozen=True, eq=False, repr=False)
class Members:
    """N states. `members[i]` is the State of one.

    Attributes:
        t: times [s], shape (N,).
        y: q, u, z side by side, shape (N, n).
        tail: arguments of kernels after q and u, shape (N, k).
    """

    def __repr__(self) -> str:
        varied = [name for name in VARIED if name in self.values]
        return f"Members({len(self)} states{'; given: ' * bool(varied)}{', '.join(varied)})"

    t: np.ndarray
    y: np.ndarray
    tail: np.ndarray
    states: Sequence[State] = field(repr=False, default=())
    like: State | None = field(repr=False, default=None)
    values: dict[str, np.ndarray] = field(repr=False, default_factory=dict)

    @staticmethod
    def from_states(system: System, given: Any) -> Members:
        """Members from a sequence of States, or from a mapping with the arguments of `system.state`, each
        with one more leading dimension.
        """
        if isinstance(given, Mapping):
            return _from_arrays(system, given)
        first = given[0] if isinstance(given, (list, tuple)) and given else None
        if (
            isinstance(given, np.ndarray)
            or np.isscalar(first)
            or isinstance(first, (np.ndarray, list, tuple))
        ):
            raise DescriptionError(
                "simulate: an array is not a state: start from system.state(q=..., u=...), "
                f"with q of shape ({system.nq},) and u of shape ({system.nu},); many "
                f"states from {{'q': array of shape (N, {system.nq}), 'u': array of shape "
                f"(N, {system.nu})}}"
            )
        try:
            states = tuple(given)
        except TypeError:
            states = (None,)
        for i, s in enumerate(states):
            if not isinstance(s, State):
                raise DescriptionError(
                    "simulate: expected a State, a sequence of States, or a mapping as "
                    f"{{'q': array of shape (N, {system.nq}), 'parameters': ...}}; got "
                    f"{given if states == (None,) else s!r}"
                )
            if s.system is not system:
                which = f"state {i} of {len(states)}" if len(states) > 1 else "the state"
                raise DescriptionError(
                    f"simulate: {which} belongs to another system; make it with system.state()"
                )
        if not states:
            raise DescriptionError("simulate: the sequence of states is empty")
        return Members(
            np.array([s.t for s in states]),
            np.array([stacked(s) for s in states]),
            np.array([s.tail for s in states]),
            states,
        )

    @property
    def system(self) -> System:
        like = self.states[0] if self.states else self.like
        assert like is not None
        return like.system

    def varied(self) -> dict[str, np.ndarray]:
        """Parameters and inputs that differ between members, {name: (N,)}."""
        model, out = self.system.compiled.model, dict[str, np.ndarray]()
        for kind, names in (("parameters", model.tree.parameters.names), ("inputs", model.tree.inputs.names)):
            columns = self.tail[:, model.tail[kind]]
            out |= {name: x for name, x in zip(names, columns.T, strict=True) if (x != x[0]).any()}
        return out

    def subset(self, i: np.ndarray) -> Members:
        """The members with indices i (n,)."""
        return Members(
            self.t[i],
            self.y[i],
            self.tail[i],
            [self.states[k] for k in i] if self.states else (),
            self.like,
            {name: value[i] for name, value in self.values.items()},
        )

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, i: int) -> State:
        if self.states:
            return self.states[i]
        assert self.like is not None
        return self.like.replace(**{name: value[i] for name, value in self.values.items()})


def _from_arrays(system: System, given: Mapping[str, Any]) -> Members:
    for name in given:
        if name not in (*VARIED, *COMMON):
            raise UnknownNameError("variable of a State", name, (*VARIED, *COMMON))
    like = system.state(**{name: given[name] for name in COMMON if name in given})
    values = {name: _values(like, name, given[name]) for name in VARIED if name in given}
    shapes = {name: v.shape[: v.ndim - (name != "t")] for name, v in values.items()}
    try:
        batch = np.broadcast_shapes(*shapes.values())
    except ValueError:
        raise ShapeError(f"simulate: leading dimensions differ: {shapes}") from None
    if len(batch) != 1 or not batch[0]:
        got = ", ".join(f"{name} of shape {v.shape}" for name, v in values.items()) or "none"
        one = (
            f"; one state is system.state({', '.join(f'{n}=...' for n in values)})"
            if values and not batch
            else ""
        )
        raise ShapeError(
            f"simulate: many states have one leading dimension, N: q of shape (N, {system.nq}), "
            f"u of shape (N, {system.nu}); got {got}{one}"
        )
    values = {
        name: np.broadcast_to(v, batch + v.shape[v.ndim - (name != "t") :]) for name, v in values.items()
    }
    for name, v in values.items():
        entries = Entries("time", ("t",)) if name == "t" else system.compiled.entries[name]
        v = v[:, None] if name == "t" else v
        for i in np.flatnonzero(unusable(v, entries))[:1]:
            raise ShapeError(f"simulate: {name} of member {i}: {complaint(v[i], entries)}")
    default = {name: np.asarray(getattr(like, name)) for name in VARIED}
    full = {name: values.get(name, np.broadcast_to(v, batch + v.shape)) for name, v in default.items()}
    options = {name: full[name] for name in VARIED if name not in ("q", "u")}
    tail = system.compiled.tail(**options, **{name: given[name] for name in COMMON if name in given})
    tail = np.ascontiguousarray(np.broadcast_to(tail, batch + tail.shape[-1:]))
    q, u = system.compiled.prescribed(full["q"], full["u"], tail, like.locked)
    return Members(np.array(full["t"]), np.concatenate([q, u, full["z"]], axis=1), tail, (), like, values)


def _values(like: State, name: str, value: Any) -> np.ndarray:
    """Numbers (..., k) of a variable, from an array, a labeled array, or a mapping from names to arrays that
    overrides the defaults."""
    if name == "t":
        return real("simulate: t", value, "one number, or one per member [s]")
    entries = like.system.compiled.entries[name]
    return vector(
        f"simulate: {name}", value, len(entries.names), replace(entries, default=getattr(like, name))
    )


@dataclass(frozen=True, eq=False)
class AtTimes:
    """y at given times: t (T,), y (N, T, n), NaN at times that a member did not reach."""

    t: np.ndarray
    y: np.ndarray

    def subset(self, i: np.ndarray) -> AtTimes:
        return AtTimes(self.t, self.y[i])


@dataclass(frozen=True, eq=False)
class EnsembleSteps:
    """Every step: those of member i are the rows begin[i] to begin[i + 1]."""

    begin: np.ndarray
    rows: StepRows

    def subset(self, i: np.ndarray) -> EnsembleSteps:
        count = np.diff(self.begin)[i]
        begin = np.concatenate([[0], np.cumsum(count)])
        here = np.repeat(self.begin[i] - begin[:-1], count) + np.arange(begin[-1])
        return EnsembleSteps(begin, self.rows.subset(here))


@dataclass(frozen=True, eq=False)
class Runs:
    """Members that ran one at a time, with the stored times of each: its ends and the times between (t), or
    every step (None)."""

    runs: tuple[Trajectory, ...]
    t: np.ndarray | None

    def subset(self, i: np.ndarray) -> Runs:
        return Runs(tuple(self.runs[k] for k in i), self.t)


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(States[Trajectory], Judged):
    """Motions of many members. `ens[i]` is the Trajectory of one, `ens.at(t)` all states at given times.

    `ens[10:20]` is the Ensemble of some members, `ens["knee"]` a column of `ens.table()`. Every operator of
    the System is a method, for all rows of all members at once, each with its own time, parameters and
    inputs: `ens.energy()` is a Table with a column `member` as `ens.table()` is, `ens.energy(t=times)` has
    every member at every time (NaN where the member did not reach it), so that `.values.reshape(N, T, -1)` is
    by member and time.

    The argument `keep` of the simulation decides what is stored between the ends: nothing, given times, or
    every step.

    Attributes:
        members: the states at the start.
        t_end: when each member ended [s], shape (N,).
        y_end: q, u, z at t_end, shape (N, n).
        finished: whether it reached t_final, shape (N,).
        status: of each, "finished" or why it ended earlier, as in Trajectory: see `cd.Status`.
        statistics: of all members together.
        utilization: share of the lanes' steps that a member needed.
    """

    members: Members
    kept: AtTimes | EnsembleSteps | Runs = field(repr=False)
    done: np.ndarray = field(repr=False)
    ended: dict[str, np.ndarray] = field(repr=False)
    y_end: NDArray[np.float64] = field(repr=False)
    f_end: np.ndarray = field(repr=False)
    method: Method = field(repr=False)
    step: float | None = field(repr=False)
    utilization: float
    manifold: Manifold = field(repr=False)

    _study = "simulate"

    def _checks(self) -> Iterator[Check]:
        bad = np.flatnonzero(~self.finished)
        yield Check(
            "members that did not finish",
            len(bad),
            f"of {len(self)}",
            0.0,
            math.inf,
            f"member {bad[0]}" if len(bad) else "",
            "see ens.status",
        )

    def __len__(self) -> int:
        return len(self.members)

    @property
    def system(self) -> System:
        return self.members.system

    plumbing = frozenset(
        {"kept", "done", "ended", "f_end", "method", "step", "manifold", "called", "with_runs", "every_row"}
    )
    called, _item = "ens", "member"
    elsewhere = States.elsewhere | {
        **dict.fromkeys(
            ("q", "u", "y"),
            "in ens.at(times), shape (N, T, n): q, u, z side by side; of one "
            "member ens[i].q; one variable as ens['knee']; the ends "
            "are ens.y_end",
        ),
        "t": "ens[i].t of a member; the ends are ens.t_end",
        "measure": "ens[i].measure(name) of a member, or a column of ens.table()",
    }

    def __repr__(self) -> str:
        times = np.empty(0) if isinstance(self.kept, EnsembleSteps) or self.kept.t is None else self.kept.t
        kept = "every step" if self._whole else f"{len(times)} times{span(times)}" if len(times) else "ends"
        names = cut(variable_names(self.system))
        return f"Ensemble({len(self)} members, {int(self.finished.sum())} finished, kept: {kept}; {names})"

    def _blocks(self) -> list[Block]:
        names = ["member", "t_end [s]", *titles(*variables(self.system))]
        bad = np.flatnonzero(~self.finished)[:LINES]
        return [
            rows_of(names, np.arange(len(self)), self.t_end, self.y_end),
            Block("not finished", ("member", "status"), [(str(i), self._status(int(i))) for i in bad]),
        ]

    @property
    def _whole(self) -> bool:
        """Whether every step is stored."""
        return isinstance(self.kept, EnsembleSteps) or self.kept.t is None

    @property
    def events(self) -> tuple[tuple[Occurrence, ...], ...]:
        """What happened, for each member in order: see Occurrence. `ens.events[i]` is `ens[i].events`."""
        return self._of_runs("events")

    @property
    def jumps(self) -> tuple[tuple[Jump, ...], ...]:
        """Jumps of path lengths, for each member in order: see Jump. `ens.jumps[i]` is
        `ens[i].jumps`."""
        return self._of_runs("jumps")

    def _of_runs(self, name: str) -> tuple[tuple[Any, ...], ...]:
        """A property of the members that ran one at a time; empty for the others."""
        runs = self.kept.runs if isinstance(self.kept, Runs) else None
        return ((),) * len(self) if runs is None else tuple(getattr(traj, name) for traj in runs)

    @property
    def t_end(self) -> NDArray[np.float64]:
        return self.ended["t"]

    @cached_property
    def finished(self) -> NDArray[np.bool_]:
        good = self.done & (self.ended["code"] == 0) & (self.ended["status"] == 0)
        if isinstance(self.kept, Runs):
            good = np.array([traj.finished for traj in self.kept.runs])
        good.flags.writeable = False
        return good

    @property
    def statistics(self) -> Statistics:
        return Statistics(*(int(np.nansum(self.ended[name])) for name in COUNTS))

    @cached_property
    def status(self) -> tuple[Outcome, ...]:
        return tuple(self._status(i) for i in range(len(self)))

    def _status(self, i: int) -> Outcome:
        from condyle.integrate.advice import advice

        if isinstance(self.kept, Runs):
            return self.kept.runs[i].status
        if self.finished[i]:
            return Outcome(Status.FINISHED)
        e = {name: values[i] for name, values in self.ended.items()}
        if not self.done[i]:
            return Outcome(
                Status.INTERRUPTED, "" if np.isfinite(e["steps"]) else "interrupted before it started"
            )
        return advice(
            self.members[i],
            float(e["t"]),
            self.y_end[i],
            self.f_end[i],
            float(e["h_try"]),
            int(e["worst"]),
            int(e["status"]),
            self.step,
            self.manifold,
        )

    def _column(self, name: str) -> Array:
        return self._recorded(*self.every_row())[:, place(self.system, name)]

    def _one(self, i: int) -> Trajectory:
        if isinstance(self.kept, Runs):
            return self.kept.runs[i]
        count = Statistics(*(int(c) if np.isfinite(c := self.ended[name][i]) else 0 for name in COUNTS))
        return Trajectory(self.members[i], self._rows(i), self._status(i), count, self.manifold)

    def _some(self, i: np.ndarray) -> Ensemble:
        if not len(i):
            raise IndexError(f"no members are left; there are {len(self)}, from 0 to {len(self) - 1}")
        return replace(
            self,
            members=self.members.subset(i),
            kept=self.kept.subset(i),
            done=self.done[i],
            ended={name: values[i] for name, values in self.ended.items()},
            y_end=self.y_end[i],
            f_end=self.f_end[i],
        )

    def with_runs(self, i: np.ndarray, others: Ensemble) -> Ensemble:
        """The ensemble with other motions of members i (m,), which ran one at a time."""
        assert isinstance(others.kept, Runs)
        runs = {int(k): traj for k, traj in zip(i, others.kept.runs, strict=True)}
        every = Runs(tuple(runs.get(k) or self[k] for k in range(len(self))), others.kept.t)
        done, ended = self.done.copy(), {name: values.copy() for name, values in self.ended.items()}
        y_end, f_end, done[i] = self.y_end.copy(), self.f_end.copy(), others.done
        y_end[i], f_end[i] = others.y_end, others.f_end
        for name, values in ended.items():
            values[i] = others.ended[name]
        return replace(self, kept=every, done=done, ended=ended, y_end=y_end, f_end=f_end)

    def _rows(self, i: int) -> StepRows:
        start, end = self.members.t[i], self.t_end[i]
        if isinstance(self.kept, Runs):
            return self.kept.runs[i].rows
        if isinstance(self.kept, EnsembleSteps):
            here = slice(*self.kept.begin[i : i + 2])
            if here.stop > here.start:
                return self.kept.rows.subset(here)
        t, y = [np.array([start])], [self.members.y[[i]]]
        if isinstance(self.kept, AtTimes):
            inside = (self.kept.t > start) & (self.kept.t < end)
            t, y = [*t, self.kept.t[inside]], [*y, self.kept.y[i, inside]]
        if end > start:
            t, y = [*t, np.array([end])], [*y, self.y_end[[i]]]
        time, states = np.concatenate(t), np.concatenate(y)
        return StepRows.alone(time, states, self.method, whole=len(time) == 1)

    def at(self, t: ArrayLike) -> NDArray[np.float64]:
        """q, u, z side by side of all members at given times.

        Args:
            t: times [s], shape (...): stored times, or any times if every step was stored.

        Returns:
            Shape (N, ..., nq + nu + nz); NaN at times that a member did not reach.

        Raises:
            ShapeError: times that were not kept.
        """
        t = np.asarray(t, dtype=float)
        flat = t.reshape(-1)
        out = np.full((len(self), flat.size, self.y_end.shape[1]), np.nan)
        if isinstance(self.kept, (EnsembleSteps, Runs)):
            for i in range(len(self)):
                there = (flat >= self.members.t[i]) & (flat <= self.t_end[i])
                if there.any():
                    out[i, there] = self[i].at(flat[there])
        else:
            self._pick(flat, out)
        return out.reshape(len(self), *t.shape, -1)

    def _pick(self, t: np.ndarray, out: np.ndarray) -> None:
        assert isinstance(self.kept, AtTimes)
        known = {*self.kept.t.tolist(), *self.members.t.tolist(), *self.t_end.tolist()}
        for k, time in enumerate(t.tolist()):
            if time not in known:
                raise ShapeError(
                    f"t: {time:g} s is not among the times that were kept; simulate with "
                    "keep=times, or with keep='steps' for any time"
                )
            j = np.flatnonzero(self.kept.t == time)
            if len(j):
                out[:, k] = self.kept.y[:, j[0]]
            for times, y in ((self.members.t, self.members.y), (self.t_end, self.y_end)):
                out[times == time, k] = y[times == time]

    def every_row(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times (m,), q, u, z side by side (m, n) and members (m,) of all rows, those of a member as `ens[i]`
        has them."""
        if isinstance(self.kept, EnsembleSteps) and (np.diff(self.kept.begin) > 0).all():
            return (
                self.kept.rows.t,
                self.kept.rows.y,
                np.repeat(np.arange(len(self)), np.diff(self.kept.begin)),
            )
        N, start, end = len(self), self.members.t[:, None], self.t_end[:, None]
        if not isinstance(self.kept, AtTimes):  # or some ended before their first step
            parts = [self._rows(i) for i in range(N)]
            counts = [len(r.t) for r in parts]
            return (
                np.concatenate([r.t for r in parts]),
                np.concatenate([r.y for r in parts]),
                np.repeat(np.arange(N), counts),
            )
        between = np.broadcast_to(self.kept.t, (N, len(self.kept.t)))
        there = np.concatenate([start == start, (between > start) & (between < end), end > start], axis=1)
        t = np.concatenate([start, between, end], axis=1)[there]
        y = np.concatenate([self.members.y[:, None], self.kept.y, self.y_end[:, None]], axis=1)[there]
        return t, y, np.repeat(np.arange(N), there.sum(axis=1))

    def _at_times(self, t: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same at times (m,), every member at each; of the kept rows for None."""
        if t is None:
            return self.every_row()
        times = _times(t)
        time, member = np.tile(times, len(self)), np.repeat(np.arange(len(self)), times.size)
        return time, self.at(times).reshape(len(time), -1), member

    def _batch(self, t: Any = None) -> Batch:
        system, there = self.system, None
        time, y, member = self._at_times(t)
        now = time
        if t is not None:
            there = np.asarray(np.isfinite(y).all(axis=1))
            # a member without a state takes any
            now = np.where(there, time, self.members.t[member])
            y = np.where(there[:, None], y, self.members.y[member])
        nq, n = system.nq, system.nq + system.nu
        tail = Batch.tails(system, self._tails(now, member, t is None), now, y[:, n:])
        arrays = {"q": lambda: y[:, :nq], "u": lambda: y[:, nq:n]}
        return Batch(system, time, tail, arrays, self._summary, member, there)

    def _tails(self, t: np.ndarray, member: np.ndarray, rows: bool) -> np.ndarray:
        """The tails (m, k) that hold at times t (m,) of members (m,), except for t and z in them; `rows`:
        all rows of all members."""
        if not isinstance(self.kept, Runs):
            return self.members.tail[member]
        out = np.empty((len(t), self.members.tail.shape[1]))
        for i, traj in enumerate(self.kept.runs):
            here = member == i
            out[here] = traj.tails(np.arange(len(traj)) if rows else traj.row(t[here]))
        return out

    @property
    def _summary(self) -> Outcome:
        count = int(self.finished.sum())
        if count == len(self):
            return Outcome(Status.FINISHED)
        return Outcome(Status.SOME_FAILED, f"{count} of {len(self)} members finished")

    def jacobian(
        self, wrt: str | Sequence[str] = ("q", "u", "z", "parameters"), t: ArrayLike | None = None
    ) -> dict[str, NDArray[np.float64]]:
        """Derivatives of q, u, z of each member at its end, or at times t (...), as `Trajectory.jacobian`: for each
        variable an array (N, ..., n, k). Members go side by side in lanes; keep="steps" is needed."""
        from condyle.integrate.adjoint.ensembles import of_ensemble

        out: dict[str, NDArray[np.float64]] = of_ensemble("jacobian", self, wrt, t)
        return out

    def jvp(
        self, tangents: Mapping[str, ArrayLike | Mapping[str, float]], t: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Derivatives in one direction, the same of all members, shape (N, ..., n): see `Trajectory.jvp`."""
        from condyle.integrate.adjoint.ensembles import of_ensemble

        return np.asarray(of_ensemble("jvp", self, tangents, t))

    def vjp(
        self,
        w: ArrayLike,
        t: ArrayLike | None = None,
        wrt: str | Sequence[str] = ("q", "u", "z", "parameters"),
    ) -> dict[str, NDArray[np.float64]]:
        """Gradients of sum(w[i] * y(t)) of each member i, weights w of shape (N, ..., n): for each variable an array
        (N, k). See `Trajectory.vjp`; keep="steps" is needed."""
        from condyle.integrate.adjoint.ensembles import of_ensemble

        out: dict[str, NDArray[np.float64]] = of_ensemble("vjp", self, w, t, wrt)
        return out

    def table(self, t: ArrayLike | None = None) -> Table:
        """All members below each other, at the kept rows or at other times. A column `member` has the number
        of the member; parameters and inputs that differ between members have columns too.

        Args:
            t: times [s], shape (m,); the kept rows by default.

        Raises:
            ShapeError: times that were not kept.
        """
        time, y, member = self._at_times(t)
        names, units = recorded(self.system)
        varied = self.members.varied()
        values = [member, *(x[member] for x in varied.values()), self._recorded(time, y, member, t is None)]
        return Table(
            time,
            distinct(["member", *varied, *names]),
            np.column_stack(values),
            [""] * (1 + len(varied)) + list(units),
            status=self._summary,
            degrees=False,
        )

    def _recorded(self, t: np.ndarray, y: np.ndarray, member: np.ndarray, rows: bool = True) -> np.ndarray:
        """q, u, z (m, n) and the discrete variables side by side; NaN at times that a member did not
        reach."""
        if not self.system.discrete:
            return y
        there = np.isfinite(y).all(axis=1)
        tails = self._tails(np.where(there, t, self.members.t[member]), member, rows)
        values = tails[:, self.system.compiled.model.tail["discrete"]]
        return np.column_stack([y, np.where(there[:, None], values, np.nan)])

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame over member and time."""
        return self.table().to_pandas().astype({"member": int}).set_index("member", append=True).swaplevel()

    def plot(self, name: str, **options: Unpack[PlotOptions]) -> Axes:
        """Draw one variable of all members over time.

        Args:
            name: of the variable.
            options: axes, width, path and degrees, as for `Table.plot`.

        Returns:
            matplotlib's axes.
        """
        from condyle.table.panels import COLORS, labeled
        from condyle.table.plots import on
        from condyle.table.units import ANGULAR, DEGREE

        names, units = variables(self.system)
        k = place(self.system, name, names)
        turned = units[k] in ANGULAR and options.get("degrees", True)
        factor, unit = (1 / DEGREE, units[k].replace("rad", "deg")) if turned else (1.0, units[k])
        with on(**options) as axes:
            for rows in [self._rows(i) for i in range(len(self))]:
                alpha = max(0.05, 1 / np.sqrt(len(self)))
                axes.plot(rows.t, factor * rows.y[:, k], color=COLORS[0], alpha=alpha, linewidth=1)
            axes.set(xlabel="time [s]", ylabel=labeled(unit), title=name)
            axes.margins(x=0)
        return axes


def _times(t: Any) -> NDArray[np.float64]:
    """Times of shape (m,)."""
    t = np.atleast_1d(np.asarray(t, dtype=float))
    if t.ndim != 1:
        raise ShapeError(f"t: expected times [s] of shape (m,), got shape {t.shape}")
    return t


COUNTS = ("steps", "rejected", "evaluations", "jacobians", "projections")
