"""The result of assembling a sequence: coordinates by frame, errors of the goals, and frames that failed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import ConstraintError, DescriptionError, ShapeError, check_names
from condyle.fit.configurations import Configurations
from condyle.fit.goals import Goal
from condyle.fit.layout import FLAT, FOUND, INFO, STATIONARY, UNFINISHED, VIOLATED
from condyle.presentation import Block, cut, rows_of, span
from condyle.quality import Check, Judged
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.system.checked_arguments import nth
from condyle.system.state import State
from condyle.system.states import Batch, States
from condyle.system.system import System
from condyle.system.variables import place, variable_names, variables
from condyle.table import Table, distinct
from condyle.tree import scales

if TYPE_CHECKING:
    from condyle.table.plots import AxesLike, PlotOptions

KINDS = {
    FOUND: Status.FINISHED,
    VIOLATED: Status.CONSTRAINTS,
    UNFINISHED: Status.STILL_IMPROVING,
    STATIONARY: Status.NO_SLOPE,
}
"""Meaning of the loop's codes."""


@dataclass(frozen=True)
class FrameSummary:
    """Summary of the search for one frame, `frames.summary(i)`.

    Attributes:
        status: why it ended; equal to a `cd.Status` too.
        iterations: of the method.
        cost: half the weighted sum of squares of the errors at the end.
        violation: the largest error of a constraint equation of position level.
        missed: |error| by goal; NaN where nothing was measured.
    """

    status: Outcome
    iterations: int
    cost: float
    violation: float
    missed: dict[str, float]


@dataclass(frozen=True, eq=False, repr=False)
class Frames(States[State], Judged):
    """Configurations that follow goals, returned by `cd.assemble_frames`. `frames[i]` is the State of frame
    i.

    `frames["knee"]` is a coordinate (or speed) over the frames, `frames[10:20]` and `frames[::2]` are Frames.
    Every operator of the System is a method, for all frames at once: `frames.station_position("foot", p)`,
    `frames.inverse_dynamics()`. Speeds and accelerations are those of the motion, by splines over time:
    smooth noisy targets first.

    Attributes:
        t: [s], shape (T,); 0, 1, 2, ... where no times were given.
        q: shape (T, nq). A frame that failed holds the nearest configuration found.
        u: speeds of the motion, shape (T, nu): see `speeds`.
        udot: its accelerations, shape (T, nu): see `accelerations`.
        residuals: |error| of each goal [m, rad, or the coordinate's unit], shape (T, goals); NaN where
            nothing was measured.
        names: of the goals, each once.
        iterations: of each frame, shape (T,).
        failures: messages by frame: constraints violated and by how much, goals that were still improving, or
            goals with a large error at a stationary point that is not a minimum.
        status: "finished", or how many frames failed, or where the run was interrupted (earlier frames are
            kept). Equal to a `cd.Status` too.
    """

    start: State
    goals: tuple[Goal, ...]
    t: Array
    q: Array
    info: Array
    weight: Array  # of all goals together, shape (T,)
    tolerance: float
    wanted: int
    # the Frames that these were taken from, and their indices
    part: tuple[Frames, NDArray[np.intp]] | None = None
    clock: bool = True  # whether t was given: else it counts frames

    plumbing = frozenset({"info", "weight", "tolerance", "wanted", "part", "called", "clock", "timed"})
    called, _item, _study = "frames", "frame", "assemble_frames"

    def __repr__(self) -> str:
        times = span(self.t) if self._whole.clock else " without times"
        return (
            f"Frames({len(self)}{times}, {len(self.goals)} goals, {self.status}; "
            f"{cut(self.system.coordinates)})"
        )

    def _checks(self) -> Iterator[Check]:
        yield Check(
            "frames that failed",
            len(self.failures),
            f"of {len(self)}",
            0.0,
            math.inf,
            advice="see frames.failures",
        )

    def _blocks(self) -> list[Block]:
        return [
            rows_of(["time [s]", *self.table().titles], self.t, self.q),
            *self.quality.blocks,
            Block("failures", (), [(text,) for text in self.failures.values()]),
        ]

    def __len__(self) -> int:
        return len(self.t)

    @property
    def system(self) -> System:
        return self.start.system

    @property
    def time(self) -> Array:
        """The same as `t`."""
        return self.t

    def _column(self, name: str) -> Array:
        k, nq = place(self.system, name, variable_names(self.system)), self.system.nq
        return self.q[:, k] if k < nq else np.concatenate([self.u, self._z], axis=1)[:, k - nq]

    def _one(self, i: int) -> State:
        """The State of a frame, with the speeds of the motion, or those of the start if times do not
        increase.
        """
        moving = {"u": self.u[i]} if self.timed else {}
        return self.start.replace(t=float(self.t[i]), q=self.q[i], **moving)

    def _some(self, i: NDArray[np.intp]) -> Frames:
        part = (self, i) if self.part is None else (self.part[0], self.part[1][i])
        rows = {name: getattr(self, name)[i] for name in ("t", "q", "info", "weight")}
        return replace(self, **rows, wanted=len(i), part=part)

    def _batch(self, t: Any = None) -> Batch:
        if t is not None:
            times = np.atleast_1d(np.asarray(t, dtype=float))
            i = np.clip(np.searchsorted(self.t, times), 0, len(self) - 1)
            if times.ndim != 1 or not (self.t[i] == times).all():
                raise ShapeError("t: Frames know their own times only; make a spline of frames.q for others")
            return self._some(i)._batch()
        arrays = {"q": lambda: self.q, "u": lambda: self.u, "udot": lambda: self.udot}
        return Batch(
            self.system, self.t, Batch.tails(self.system, self.start.tail, self.t), arrays, self.status
        )

    @property
    def _z(self) -> Array:
        return np.broadcast_to(self.start.z, (len(self), self.start.z.size))

    @property
    def iterations(self) -> Array:
        return self.info[:, INFO.index("iterations")].astype(int)

    @cached_property
    def failures(self) -> dict[int, Outcome]:
        code = self.info[:, 0].astype(int)
        if self.part is not None:
            known = self.part[0].failures
            return {k: known[int(i)] for k, i in enumerate(self.part[1]) if code[k]}
        return {int(i): self._reason(int(i), KINDS[code[i]]) for i in np.flatnonzero(code)}

    def _reason(self, i: int, kind: Status) -> Outcome:
        if kind == Status.STILL_IMPROVING:
            text = f"goals were still improving after {self.iterations[i]} iterations; {kind.advice}"
        elif kind == Status.NO_SLOPE:
            k = int(np.nanargmax(self.residuals[i]))
            text = (
                f"ended where the goals have no slope but are not at their least: goal {self.names[k]!r} "
                f"is missed by {self.residuals[i, k]:.3g} {self.units[k]}, and a start beside this place "
                f"leads nearer; {kind.advice}"
            )
        else:
            amounts = ", ".join(f"{name} by {x:.3g}" for name, x in list(self.violated(i).items())[:5])
            text = (
                f"no configuration nearby satisfies the constraints; violated: {amounts}; allowed "
                f"{self.tolerance:.1g}"
            )
        return Outcome(kind, f"frame {i} (t = {self.t[i]:.6g} s): {text}")

    def summary(self, i: int = 0) -> FrameSummary:
        """Summary of the search for one frame.

        Args:
            i: the frame; the first by default.
        """
        i = nth("frame", i, len(self))
        info = dict(zip(INFO, self.info[i], strict=True))
        flat = f"{FLAT} steps in a row gained no more than rounding"
        why = flat if info["flat"] >= FLAT else "the last change is within the accuracy"
        status = self.failures.get(i) or Outcome(Status.FINISHED, f"finished: {why}")
        missed = dict(zip(self.names, self.residuals[i].tolist(), strict=True))
        return FrameSummary(
            status, int(info["iterations"]), float(info["cost"]), float(info["worst"]), missed
        )

    def violated(self, i: int) -> dict[str, float]:
        """Constraint equations that are violated in a frame.

        Args:
            i: the frame.

        Returns:
            Errors by the names of the equations, the worst first.
        """
        p = self.start.replace(t=float(self.t[i]), q=self.q[i]).constraints.errors()[0]
        labels = [name for name, level in self.system.constraints.equations() if level == "position"]
        order = sorted(
            (k for k in range(len(p)) if not abs(p[k]) <= self.tolerance), key=lambda k: -abs(p[k])
        )
        return {labels[k]: float(p[k]) for k in order}

    @property
    def status(self) -> Outcome:
        if len(self) < self.wanted:
            return Outcome(Status.INTERRUPTED, f"interrupted after {len(self)} of {self.wanted} frames")
        bad = self.failures
        if not bad:
            return Outcome(Status.FINISHED)
        text = f"{len(bad)} of {self.wanted} frames failed; the first: {next(iter(bad.values()))}"
        return Outcome(Status.SOME_FAILED, text)

    def check(self) -> Self:
        """Return itself if the constraints hold in all frames.

        Raises:
            ConstraintError: a constraint is violated; the message names the first such frame and its
                constraints.
        """
        for i in np.flatnonzero(self.info[:, 0] == VIOLATED):
            raise ConstraintError(
                f"{self.failures[int(i)]}. Start nearer, free locked speeds, or see whether constraints "
                "contradict each other",
                self.violated(int(i)),
                self.q[i].copy(),
            )
        return super().check()

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(distinct([g.name for g in self.goals]))

    @cached_property
    def units(self) -> tuple[str, ...]:
        return tuple(g.unit_in(self.system) for g in self.goals)

    @cached_property
    def residuals(self) -> Array:
        if self.part is not None:
            return self.part[0].residuals[self.part[1]]
        if not self.goals:
            return np.zeros((len(self), 0))
        at, T = Configurations(self.system, self.q, self._tail), len(self)
        errors = [g.errors(at, g.targets(self.wanted)[:T]) for g in self.goals]
        return np.stack(
            [
                np.where(g.weights(self.wanted)[:T] > 0, e, np.nan)
                for g, e in zip(self.goals, errors, strict=True)
            ],
            axis=1,
        )

    @cached_property
    def _tail(self) -> Array:
        return Batch.tails(self.system, self.start.tail, self.t)

    @cached_property
    def rms(self) -> Array:
        """Root of the mean square of the residuals of stations, weighted [m], shape (T,); NaN where no
        station was seen."""
        if self.part is not None:
            return self.part[0].rms[self.part[1]]
        chosen = [k for k, g in enumerate(self.goals) if g.is_place]
        w = np.stack(
            [self.goals[k].weights(self.wanted)[: len(self)] for k in chosen] or [np.zeros(len(self))], axis=1
        )
        square = np.nansum(w * self.residuals[:, chosen] ** 2, axis=1) if chosen else np.zeros(len(self))
        total = w.sum(axis=1)
        return np.sqrt(np.divide(square, total, out=np.full(len(self), np.nan), where=total > 0))

    @property
    def timed(self) -> bool:
        """Whether two or more increasing times were given; otherwise there are no speeds."""
        t = self._whole.t
        return self._whole.clock and len(t) > 1 and bool((np.diff(t) > 0).all())

    @property
    def _whole(self) -> Frames:
        return self if self.part is None else self.part[0]

    def _rate(self, x: Array) -> Array:
        """d/dt of x (T, n) by a spline of degree 5, or 3 or 1 if there are few frames."""
        from scipy.interpolate import make_interp_spline

        if not self.timed:
            why = "" if self._whole.clock else "; these have none"
            raise ShapeError(
                f"speeds: needs two frames or more whose times increase{why}: give "
                "assemble_frames t=times [s]"
            )
        degree = min(5, len(self) - 1)
        return make_interp_spline(self.t, x, k=degree - 1 + degree % 2)(self.t, 1)

    @cached_property
    def u(self) -> Array:
        return _kept(self.speeds())

    @cached_property
    def udot(self) -> Array:
        return _kept(self.accelerations())

    def speeds(self) -> Array:
        """u of each frame from q over time: by a spline of degree 5 (3 or 1 if there are few frames), then
        the nearest u that the velocity constraints allow. Noise in the targets is amplified: smooth them
        first.

        Returns:
            Shape (T, nu).

        Raises:
            ShapeError: times were not given, or do not increase.
        """
        if self.part is not None:
            return self.part[0].u[self.part[1]]
        system = self.system
        q = _continuous(system, self.q)
        u = _speeds(system, q, self._rate(q), self._tail)
        u = system.compiled.prescribed(self.q, u, self._tail, self.start.locked)[1]
        if not system.constraints:
            return u
        change, weights = system.compiled.function("velocity_change"), scales.weights(system.bodies)[1]
        # usually linear in u: the second step removes rounding
        for _ in range(2):
            u = u + change(self.q, u, weights, self._tail)
        return u

    def accelerations(self) -> Array:
        """udot of each frame: the rate of `speeds`, in the same way, then the nearest that the constraints
        allow. Noise is amplified even more.

        Returns:
            Shape (T, nu).

        Raises:
            ShapeError: times were not given, or do not increase.
        """
        if self.part is not None:
            return self.part[0].udot[self.part[1]]
        system, udot = self.system, self._rate(self.u)
        if not system.constraints:
            return udot
        batch, free = self._batch(), ~system.compiled.tails.held(self._tail)
        W = scales.weights(system.bodies)[1]
        G = batch.ask("constraints.jacobian", (), {})
        error = (G @ udot[..., None])[..., 0] + batch.ask("constraints.bias", (), {})
        return udot - free / W * (np.linalg.pinv(G * (free / W)[:, None]) @ error[..., None])[..., 0]

    def table(self) -> Table:
        """Table of coordinates over time."""
        names, units = variables(self.system)
        nq = self.system.nq
        return Table(self.t, names[:nq], self.q, units[:nq], status=self.status)

    def residual_table(self) -> Table:
        """Residuals of the goals over time."""
        return Table(self.t, self.names, self.residuals, self.units, status=self.status)

    def plot(self, *names: str, **options: Unpack[PlotOptions]) -> AxesLike:
        """Draw coordinates or residuals over time, by default all residuals; options and return value are
        those of `Table.plot`.
        """
        coordinates = self.start.system.coordinates
        if names and all(name in coordinates for name in names):
            return self.table().plot(*names, **options)
        check_names("coordinate or goal", names, (*coordinates, *self.names))
        return self.residual_table().plot(*names, **options)


def _kept(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _continuous(system: Any, q: Array) -> Array:
    """q with quaternions of consistent sign from frame to frame."""
    q = q.copy()
    for quaternion in system.compiled.model.tree.quaternions:
        part = q[:, quaternion]
        sign = np.sign((part[1:] * part[:-1]).sum(axis=1))
        part[1:] *= np.cumprod(np.where(sign == 0, 1, sign))[:, None]
    return q


def _speeds(system: Any, q: Array, qdot: Array, tail: Array) -> Array:
    """u with N(q) u = qdot in the least-squares sense, shape (T, nu), with the parameters of the tail (T, k)."""
    u = np.zeros((len(q), system.nu))
    most = max(b.mobilizer.nu for b in system.bodies)
    columns, rates = [], system.compiled.function("qdot")
    for j in range(most):  # column j of N of all bodies at once
        e = np.zeros(system.nu)
        e[[b.u.start + j for b in system.bodies if b.mobilizer.nu > j]] = 1.0
        columns.append(rates(q, np.broadcast_to(e, u.shape), tail))
    for b in system.bodies:
        if b.mobilizer.nu:
            N = np.stack([column[:, b.q] for column in columns[: b.mobilizer.nu]], axis=-1)
            u[:, b.u] = (np.linalg.pinv(N) @ qdot[:, b.q, None])[..., 0]
    return u


def frame_count(goals: Sequence[Goal], t: Array | None) -> int:
    """The number of frames that goals and times agree on."""
    counts = {g.name: g.frames for g in goals if g.frames is not None}
    if t is not None:
        counts["t"] = len(t)
    if len(set(counts.values())) > 1:
        raise ShapeError(
            f"goals have different numbers of frames: {', '.join(f'{k} {n}' for k, n in counts.items())}"
        )
    if not counts:
        raise DescriptionError(
            "assemble_frames: no goal and no t says how many frames there are; give a "
            "target of shape (T, ...), or use cd.assemble for one"
        )
    return next(iter(counts.values()))
