"""Result of a simulation: states at its steps, and between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arrays import Array
from condyle.errors import ShapeError
from condyle.integrate.interrupts.base import Cause
from condyle.integrate.manifold import Manifold
from condyle.integrate.steps import StepRows, replaced
from condyle.presentation import Block, cut, number, rows_of, span
from condyle.quality import Check, Judged
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.system.state import State, without_accelerations
from condyle.system.states import Batch, States
from condyle.system.system import System
from condyle.system.variables import place, recorded, variable_names, variables
from condyle.table import Table, distinct, titles
from condyle.trace.parameter import Expression

if TYPE_CHECKING:
    from condyle.integrate.growth import Growth
    from condyle.integrate.interrupts.path_jumps import Jump
    from condyle.integrate.rigid.impact import Impact
    from condyle.integrate.run import RunSettings
    from condyle.table.plots import AxesLike, PlotOptions

FULL = 0.999
"""Activations above this count as saturated: they approach 1 asymptotically."""
DRAWN = 500
"""Number of times of a picture, besides those of the steps."""


@dataclass(frozen=True)
class Statistics:
    """Counts of a run: steps accepted and rejected, evaluations of the right-hand side and of its Jacobian,
    and passes of the projection on constraints."""

    steps: int = 0
    rejections: int = 0
    evaluations: int = 0
    jacobians: int = 0
    projections: int = 0


@dataclass(frozen=True)
class Occurrence:
    """An event that happened: its name, when [s], and the State just before its action."""

    name: str
    t: float
    before: State = field(repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(States[State], Judged):
    """States over time. `traj[i]` is the State at step i, `traj(t)` the State at time t, interpolated.

    `traj["knee"]` is a variable over the steps, by its name in `table()`. `traj[2:10]`, `traj[::5]` and
    `traj([t1, t2])` are Trajectories of fewer rows. Every operator of the System is a method, for all rows at
    once: `traj.energy()`, `traj.reactions("shank")`, at other times by `t=`; with the time, parameters,
    inputs and locks of the run, also where events changed them. Most give Tables; matrices and poses come as
    arrays with the rows first.

    Where an event changed the state there are two rows with one time, before and after; `traj(t)` is the
    later. Between steps y is a polynomial whose order the method determines, projected onto unit quaternions,
    prescribed motions and constraints.

    Attributes:
        t: times of the steps [s], shape (m,); they fall in a run backward in time.
        q: coordinates, shape (m, nq).
        u: speeds, shape (m, nu).
        z: auxiliary states of forces, shape (m, nz).
        discrete: discrete variables, shape (m, k): constant except where an event changed them.
        status: "finished", or why the run ended early: "interrupted", an event, or a problem and what to try.
            A text that also equals a `cd.Status`: traj.status == cd.Status.SINGULAR; traj.status.advice.
        events: what happened, in order: see Occurrence.
        jumps: jumps of path lengths, in order: see Jump.
        drift: of `answer.replay()`: largest distance of each coordinate from the answer [rad, m]; else empty.
        impacts: impacts of rigid contacts, stops and ropes, in order: see Impact.
        statistics: see Statistics.
    """

    start: State
    rows: StepRows = field(repr=False)
    status: Outcome
    statistics: Statistics
    manifold: Manifold = field(repr=False)
    events: tuple[Occurrence, ...] = field(default=(), repr=False)
    changes: tuple[tuple[int, State], ...] = field(default=(), repr=False)
    jumps: tuple[Jump, ...] = field(default=(), repr=False)
    # the whole run and its rows
    within: tuple[Trajectory, np.ndarray] | None = field(default=None, repr=False)
    impacts: tuple[Impact, ...] = field(default=(), repr=False)
    causes: tuple[Cause, ...] = field(default=(), repr=False)  # of the changes
    ending: Cause | None = field(default=None, repr=False)
    drift: Mapping[str, float] = field(default_factory=dict, repr=False)
    again: RunSettings | None = field(default=None, repr=False)  # settings of a run in pieces (kept_times.py)

    plumbing = frozenset(
        {
            "rows",
            "manifold",
            "changes",
            "y",
            "called",
            "part",
            "row",
            "tails",
            "within",
            "causes",
            "ending",
            "again",
        }
    )
    called, _item, _study = "traj", "step", "simulate"
    elsewhere = States.elsewhere | {
        "sol": "traj(t), the State at a time, or traj.at(times)",
        "message": "traj.status",
        "success": "traj.finished",
        "t_events": "traj.events",
    }

    @property
    def system(self) -> System:
        return self.start.system

    @property
    def time(self) -> NDArray[np.float64]:
        """The same as `t`."""
        return self.t

    def __repr__(self) -> str:
        """Number of rows, status, and end."""
        last = [
            f"{name}={number(x)}"
            for y in self.y[-1:]
            for name, x in zip(variable_names(self.system), y, strict=True)
        ]
        quality = self.quality.summary if self.finished else ""  # the status says why it ended
        return (
            f"Trajectory({len(self)} rows{span(self.t)}, "
            f"{self.status}{'; at the end ' * bool(last)}{cut(last)}{quality})"
        )

    def _checks(self) -> Iterator[Check]:
        ended = self.status == Status.FINISHED or self.status == Status.EVENT
        yield Check(
            "run that stopped before its end", float(not ended), "", 0.0, 0.0, advice=f"{self.status}"
        )
        yield Check(
            "jumps of paths over their surfaces",
            len(self.jumps),
            "",
            0.0,
            math.inf,
            cut(dict.fromkeys(jump.name for jump in self.jumps), 3),
            "see traj.jumps",
        )
        if not (muscles := self.system.muscles):
            return
        from condyle.muscles.muscle import fibers, saturation

        names, first = variable_names(self.system), self.start.q.size + self.start.u.size
        z = {name: self.y[:, k] for k, name in enumerate(names) if k >= first}
        active = {n: z[f"{n}.activation"] for n in muscles if f"{n}.activation" in z}
        if active:
            yield from saturation(list(active), np.stack(list(active.values()), axis=1), FULL)
        lengths = {n: z[f"{n}.fiber_length"] for n in muscles if f"{n}.fiber_length" in z}
        if lengths:
            laws: list[Any] = [self.system.force(n) for n in lengths]
            l_0 = [
                float(x.at().item() if isinstance(x, Expression) else x)
                for x in (law.optimal_fiber_length for law in laws)
            ]
            yield from fibers(list(lengths), np.stack(list(lengths.values()), axis=1) / l_0)

    def _blocks(self) -> list[Block]:
        s = self.statistics
        table = rows_of(["time [s]", *titles(*variables(self.system))], self.t, self.y)
        happened = Block("events", ("event", "t [s]"), [(e.name, number(e.t)) for e in self.events])
        jumped = Block(
            "jumps",
            ("path", "at", "t [s]", "by [mm]"),
            [(j.name, j.where, number(j.t), number(1e3 * j.size)) for j in self.jumps],
        )
        return [
            table,
            *self.quality.blocks,
            happened,
            *[jumped] * bool(self.jumps),
            Block("statistics", (), [(name, str(getattr(s, name))) for name in s.__dataclass_fields__]),
        ]

    @property
    def t(self) -> NDArray[np.float64]:
        return self.rows.t

    @property
    def y(self) -> NDArray[np.float64]:
        """q, u, z side by side, shape (m, n)."""
        return self.rows.y

    @property
    def q(self) -> NDArray[np.float64]:
        return self.y[:, : self.start.q.size]

    @property
    def u(self) -> NDArray[np.float64]:
        return self.y[:, self.start.q.size : self.start.q.size + self.start.u.size]

    @property
    def z(self) -> NDArray[np.float64]:
        return self.y[:, self.start.q.size + self.start.u.size :]

    @property
    def discrete(self) -> NDArray[np.float64]:
        return self._discrete(self._steps)

    @property
    def finished(self) -> bool:
        return self.status == Status.FINISHED

    def __len__(self) -> int:
        return len(self.t)

    def _one(self, i: int) -> State:
        return self._state(i, float(self.t[i]), self.y[i])

    def _slice(self, i: slice) -> Trajectory:
        first, last, step = i.indices(len(self))
        if step < 1:
            raise ShapeError(
                f"a Trajectory goes forward in time: a slice needs a step above zero, got {step}"
            )
        return self.part(np.arange(first, last, step), self.rows.part(first, last, step))

    def _column(self, name: str) -> Array:
        names, _, values = self._recorded(measures=name not in recorded(self.system)[0])
        return values[:, place(self.system, name, names)]

    @overload
    def __call__(self, t: float) -> State: ...
    @overload
    def __call__(self, t: ArrayLike) -> State | Trajectory: ...

    def __call__(self, t: ArrayLike) -> State | Trajectory:
        """The State at a time, or the Trajectory at several times.

        Args:
            t: one time [s] between the first and the last, or several in the order of the run, shape (m,).

        Raises:
            ShapeError: times outside of the run, or not in order.
        """
        y, t = self.at(t), np.array(t, dtype=float)
        return self._state(int(self.row(t)), float(t), y) if t.ndim == 0 else self._at_times(t, y)

    def _at_times(self, t: Array, y: Array) -> Trajectory:
        if t.ndim != 1 or (self._way * np.diff(t) < 0).any():
            order = "in order, latest first" if self._way < 0 else "in order"
            raise ShapeError(
                f"t: a Trajectory at several times needs them {order}, shape (m,), got "
                f"{_short(t)}; traj.at(t) takes any"
            )
        return self.part(self.row(t), StepRows.alone(t, y, self.rows.method))

    def row(self, t: ArrayLike) -> NDArray[np.int64]:
        """The last row that is not later than t (...), or not earlier in a run backward in time."""
        return np.searchsorted(self._way * self.t, self._way * np.asarray(t), side="right") - 1

    @property
    def _way(self) -> float:
        """-1 if time goes backward."""
        return -1.0 if len(self.t) and self.t[-1] < self.t[0] else 1.0

    def _which(self, i: Any) -> np.ndarray:
        """Number of changes of parameters, inputs and locks up to rows i (...) or after them."""
        return np.searchsorted([row for row, _ in self.changes], i, side="right")

    def part(self, i: np.ndarray, rows: StepRows) -> Trajectory:
        """Other rows of the same run, each at row i (m,) of these or after."""

        from condyle.integrate.measure_history import history

        which, likes = self._which(i), (self.start, *(state for _, state in self.changes))
        start = self.start
        if len(i):
            start = replaced(likes[which[0]], float(rows.t[0]), rows.y[0])
        changed = 1 + np.flatnonzero(np.diff(which))
        changes = tuple((int(k), likes[which[k]]) for k in changed)
        causes = tuple(self.causes[which[k] - 1] for k in changed) if self.causes else ()
        ending = self.ending if len(i) and i[-1] == len(self) - 1 and rows.t[-1] == self.t[-1] else None
        events = tuple(e for e in self.events if len(i) and rows.t[0] <= e.t <= rows.t[-1])
        run, before = (self, self._steps) if self.within is None else self.within
        within = (run, before[i]) if history(self.system) else None
        return replace(
            self,
            start=start,
            rows=rows,
            events=events,
            changes=changes,
            within=within,
            causes=causes,
            ending=ending,
            again=None,
        )

    def _state(self, i: int, t: float, y: np.ndarray) -> State:
        """The state y at row i or after, with the parameters, inputs and locks that hold then."""
        k = int(self._which(i))
        state = replaced(self.changes[k - 1][1] if k else self.start, t, y)
        return without_accelerations(state, self.rows.method.unknown)

    def at(self, t: ArrayLike) -> NDArray[np.float64]:
        """q, u, z side by side at given times.

        Args:
            t: times [s] between the first and the last, in any order, shape (...).

        Returns:
            Shape (..., nq + nu + nz).

        Raises:
            ShapeError: times outside of the run, or between rows that were not kept.
        """
        try:
            t = np.asarray(t, dtype=float)
        except (TypeError, ValueError):
            raise ShapeError(f"t: expected times [s], one or an array of them, got {t!r}") from None
        if not len(self) or not ((t >= min(self.t[0], self.t[-1])) & (t <= max(self.t[0], self.t[-1]))).all():
            span = f"goes from {self.t[0]:g} to {self.t[-1]:g} s" if len(self) else "has no rows"
            raise ShapeError(f"t: the trajectory {span}, got {_short(t)}")
        if not self.rows.whole:
            i = self.row(t)
            if not (self.t[i] == t).all():
                raise ShapeError(
                    f"t: {_short(t)} is not among the {len(self.t)} times that were kept; "
                    "simulate with keep=times, or with keep='steps' for any time"
                )
            return self.y[i].copy()
        if len(self.t) == 1:
            return np.broadcast_to(self.y[0], t.shape + self.y.shape[1:]).copy()
        i = np.asarray(np.clip(self.row(t), 0, len(self.t) - 2))
        i, t, shape = i.reshape(-1), t.reshape(-1), t.shape
        y, row = self.manifold.nearest(self.system, self.tails(i), t, self.rows.at(i, t)), self.row(t)
        at_row = self.t[row] == t  # traj(t) is traj[i] there, to the last bit
        y[at_row] = self.y[row[at_row]]
        return y.reshape(*shape, y.shape[-1])

    def tails(self, i: np.ndarray) -> np.ndarray:
        """The tails (m, k) that hold at rows i (m,) or after, except time and z."""
        return np.stack([state.tail for state in (self.start, *(state for _, state in self.changes))])[
            self._which(i)
        ]

    @cached_property
    def udot(self) -> NDArray[np.float64]:
        """Accelerations under the forces and constraints of the run, shape (m, nu)."""
        udot = self._batch().ask("forward_dynamics", (), {})
        udot.flags.writeable = False
        return udot

    @property
    def qdot(self) -> NDArray[np.float64]:
        """Rates of the coordinates, shape (m, nq)."""
        return self._batch().ask("qdot", (), {})

    def _batch(self, t: Any = None) -> Batch:
        if t is not None:
            return self._at_times(t := np.atleast_1d(t), self.at(t))._batch()
        tail = Batch.tails(self.system, self.tails(np.arange(len(self))), self.t, self.z)
        arrays = {"q": lambda: self.q, "u": lambda: self.u, "udot": lambda: self.udot}
        return Batch(self.system, self.t, tail, arrays, self.status, unknown=self.rows.method.unknown)

    def growth(self, weights: ArrayLike | None = None) -> Growth:
        """How perturbations grow along this run, `traj.growth().overall` in one number. Expect an error of
        about the accuracy times this number; if that is too much, use a smaller accuracy. It takes about as
        long as n / 2 runs, where n is the number of q, u, z. Perturbations are assumed not to change across
        an event.

        Args:
            weights: of the errors in q, u, z, shape (nq + nu + nz,), if the run had other weights than the
                default.

        Raises:
            ConvergenceError: a perturbed motion does not continue as the run did.
            DescriptionError: the run goes backward in time, or skips rows.
        """
        from condyle.integrate.growth import growth  # it simulates, and so imports this file

        return growth(self, weights)

    def jacobian(
        self, wrt: str | Sequence[str] = ("q", "u", "z", "parameters"), t: ArrayLike | None = None
    ) -> dict[str, NDArray[np.float64]]:
        """Derivatives of y = (q, u, z) at the end of the run, or at other times, with respect to its start,
        parameters and inputs: of the run as computed, with its steps held.

        Args:
            wrt: "q", "u", "z" at the start, q along the manifold: column j is the derivative along qdot = N e_j;
                "parameters"; "inputs"; "t", the time at which y is taken.
            t: times [s] in the run, shape (...); its end by default.

        Returns:
            For each variable an array (..., n, k), n = nq + nu + nz, k the directions of the variable.

        Raises:
            DescriptionError: a run that has no derivative: why, and what to do.
        """
        from condyle.integrate.adjoint.gradients import jacobian

        return jacobian(self, wrt, t)

    def jvp(
        self, tangents: Mapping[str, ArrayLike | Mapping[str, float]], t: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """The derivative of y = (q, u, z) in one direction, shape (..., n); in about the time of the run.

        Args:
            tangents: {"parameters": dp, "u": du, ...}, arrays or {name: number}; see `jacobian`.
            t: times [s], shape (...); the end by default.

        Raises:
            DescriptionError: a run that has no derivative: why, and what to do.
        """
        from condyle.integrate.adjoint.gradients import jvp

        return jvp(self, tangents, t)

    def vjp(
        self,
        w: ArrayLike,
        t: ArrayLike | None = None,
        wrt: str | Sequence[str] = ("q", "u", "z", "parameters"),
    ) -> dict[str, NDArray[np.float64]]:
        """Gradients of sum(w * y(t)), in about the time of the run, whatever the number of variables.

        Args:
            w: weights of y = (q, u, z) at each time, shape (..., n).
            t: times [s], shape (...); the end by default.
            wrt: see `jacobian`.

        Returns:
            For each variable an array (k,).

        Raises:
            DescriptionError: a run that has no derivative: why, and what to do.
        """
        from condyle.integrate.adjoint.gradients import vjp

        return vjp(self, w, t, wrt)

    def table(self, t: ArrayLike | None = None) -> Table:
        """Table of coordinates, speeds, state variables and discrete variables. A speed that has the name of
        its coordinate is called NAME_speed.

        Args:
            t: times [s], shape (m,); the steps by default.

        Raises:
            ShapeError: times outside of the run.
        """
        names, units, values = self._recorded(t)
        return Table(
            self.t if t is None else np.asarray(t, dtype=float),
            names,
            values,
            units,
            status=self.status,
            degrees=False,
        )

    def measure(self, name: str, t: ArrayLike | None = None) -> NDArray[np.float64]:
        """A measure of the system (`cd.measures`) over the run, at its steps or at other times.

        Args:
            name: of the measure.
            t: times [s], shape (m,); the steps by default.

        Raises:
            ShapeError: it needs every step, and this run did not keep them.
        """
        system = self.system
        if not system.measure(name).history:
            return self[name] if t is None else self.table(t)[name]
        return self._history(name, None if t is None else np.atleast_1d(np.asarray(t, dtype=float)))[:, 0]

    def _history(self, name: str, t: np.ndarray | None) -> np.ndarray:
        """Columns of a measure over the whole run."""

        from condyle.integrate.measure_history import measured

        run, rows = (self, self._steps) if self.within is None else self.within
        if t is not None:
            self.at(t)  # raises an error for times outside of the run
        return measured(run, name, rows if t is None else run.row(t), self.t if t is None else t)

    def _recorded(self, t: Any = None, measures: bool = True) -> tuple[list[str], list[str], np.ndarray]:
        """Names, units and values of all recorded quantities, at the steps or at times t (m,)."""

        from condyle.integrate.measure_history import history

        names, units, values = self._variables(t)
        run = self if self.within is None else self.within[0]
        if not (measures and run.rows.whole and len(self)):
            return names, units, values
        time = None if t is None else np.asarray(t, dtype=float)
        for name in history(self.system):
            more = self.system.measure(name).columns(name)
            names, units = [*names, *more], [*units, "", *["s"] * (len(more) - 1)]
            values = np.concatenate([values, self._history(name, time)], axis=-1)
        return distinct(names), units, values

    def _variables(self, t: Any = None) -> tuple[list[str], list[str], np.ndarray]:
        """Names, units and values of q, u, z and the discrete variables."""
        y = self.y if t is None else self.at(t)
        if not self.system.discrete:
            return *variables(self.system), y
        return *recorded(self.system), np.concatenate(
            [y, self._discrete(self._steps if t is None else self.row(t))], axis=-1
        )

    @property
    def _steps(self) -> np.ndarray:
        return np.arange(len(self))

    def _discrete(self, i: np.ndarray) -> np.ndarray:
        """Discrete variables at rows i (m,) or after."""
        return self.tails(i)[:, self.system.compiled.model.tail["discrete"]]

    def plot(self, *names: str | Table, grid: str | None = None, **options: Unpack[PlotOptions]) -> AxesLike:
        """Draw variables over time, between steps too.

        Args:
            names: of the variables, all by default; and Tables, as for `Table.plot`.
            grid: as for `Table.plot`.
            options: axes, width, path and degrees, as for `Table.plot`.

        Returns:
            matplotlib's axes; an array of them if there are several panels.
        """
        between = np.union1d(self.t, np.linspace(self.t[0], self.t[-1], DRAWN)) if self.rows.whole else None
        return self.table(between).plot(*names, grid=grid, **options)


def _short(t: np.ndarray) -> str:
    return (
        f"{t:g} s"
        if not t.ndim
        else f"{t.size} times from {t.min():g} to {t.max():g} s"
        if t.size
        else "no times"
    )
