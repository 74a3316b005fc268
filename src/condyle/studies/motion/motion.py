"""Motion: coordinates over time with their speeds and accelerations, the input of studies of recorded
motions.

From a Table of coordinates, in this order:

    1. rounded times are replaced by the even times that they were before rounding;
    2. angles in degrees become radians, jumps by whole turns and changes of sign of quaternions are taken
       out; coordinates that are not in it are found, or named in an error;
    3. optionally a low-pass filter: Butterworth of order 3, forward and backward;
    4. configurations that satisfy the position constraints, if there are any;
    5. qdot and qddot by the spline of degree 5 through all frames, whose ends follow the outermost frames,
       then u = N^-1 qdot and udot = N^-1 (qddot - Ndot u), as the constraints allow.

OpenSim's tools use times unchanged, reflect the data at the ends of the filter, and use natural splines
(GCVSpline at zero error): `Motion.of(..., as_opensim=True)`.
"""

from __future__ import annotations

import difflib
from copy import copy
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arguments import ExplainsCalls, with_call_hints
from condyle.arrays import Array, Vector
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, warn
from condyle.io.markers import Markers
from condyle.loading import if_loaded
from condyle.plausible import of_times
from condyle.presentation import Block, cut, rows_of, span
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.studies.motion.coordinate_columns import CoordinateColumns
from condyle.studies.motion.coordinate_rates import coordinates_of_speeds
from condyle.studies.motion.recorded import (
    ASSEMBLED,
    NO_FRAMES,
    check_times,
    mended,
    motion_rates,
    projection_options,
    refuse_doubles,
    rounded_together,
    warn_of_jumps,
)
from condyle.system.checked_arguments import check_system, number
from condyle.system.state import State
from condyle.system.states import Batch, States
from condyle.system.system import System
from condyle.system.variables import place, variable_names, variables
from condyle.table import Table, after_events, is_frame
from condyle.table.defects import (
    JUMP,
    LEAP,
    even_times,
    steps,
    warn_of_gaps,
)
from condyle.table.filters import filtered
from condyle.tree import scales

if TYPE_CHECKING:
    from condyle.fit.frames import Frames
    from condyle.integrate.trajectory import Trajectory
    from condyle.table.plots import AxesLike, PlotOptions


@dataclass(frozen=True)
class Change:
    """Change of one coordinate of a Table by filter and constraints.

    Attributes:
        rms: root of the mean square over all frames, in the coordinate's unit.
        largest: at one frame.
        unit: unit of both.
    """

    rms: float
    largest: float
    unit: str


class Motion(ExplainsCalls, States[State]):
    """A motion: q, u and udot at times t. Studies accept one, or a Table, which `Motion.of` converts.

    `motion["knee"]` is a coordinate (or speed) over time, `motion[10:20]` fewer frames. Every operator of the
    System is a method, for all frames at once: `motion.station_position("hand", p)`.

    Args:
        system: of the motion. t: times [s], shape (m,), increasing.
        q: coordinates [rad, m], shape (m, nq).
        u: speeds, shape (m, nu); by default those of the spline through q, after jumps by whole turns are
            removed.
        udot: accelerations, shape (m, nu); likewise.
        state: its parameters, inputs, auxiliary states, locks and disabled elements hold in all frames;
            `system.state()` by default.

    Attributes:
        steady: whether everything except time is the same in all frames.
        changes: changes by filter and constraints, a `Change` by coordinate; empty without these.
        ignored: columns of the Table that are not coordinates.
        filled: coordinates missing in the Table, which constraints, motions or locks determine.
        notes: sentences on further changes: rounded times, angles that wrap.
        end_rows: frames so close to an end of the recording that their speeds and accelerations depend on the
            extrapolation by spline and filter; shape (m,).

    Raises:
        ShapeError: shapes that do not fit, times that do not increase, numbers that are not finite.
    """

    called, _item = "motion", "frame"
    plumbing = frozenset({"tail", "steady", "called"})

    def __new__(cls, system: object = None, t: object = None, *_: object, **__: object) -> Self:
        if isinstance(t, (Table, Motion, *_others())) or is_frame(t):
            raise DescriptionError(
                f"Motion: t: expected times [s], shape (m,), got a {type(t).__name__}: "
                "that motion is cd.Motion.of(system, it)"
            )
        return super().__new__(cls)

    def __init__(
        self,
        system: System,
        t: ArrayLike,
        q: Vector,
        u: Vector | None = None,
        udot: Vector | None = None,
        *,
        state: State | None = None,
    ) -> None:
        check_system("Motion", system, "t, q")
        compiled = system.compiled
        self.start = _default(system) if state is None else state
        if self.start.system is not system:
            raise DescriptionError("Motion: the state belongs to another system; make it with system.state()")
        self.t = check_times("Motion", t)
        m = len(self.t)
        self.q = compiled.normalized(np.array(compiled.vector("q", q, "Motion")))
        if self.q.shape != (m, system.nq):
            raise ShapeError(f"Motion: q: expected ({m}, {system.nq}), one row per time, got {self.q.shape}")
        self._tail: Array | None = None
        self.steady = True
        self._unsaid()
        if u is None or udot is None:
            self.notes += mended(
                system,
                self.t,
                self.q,
                np.flatnonzero(np.array(scales.units(system.bodies)[0], dtype=object) == "rad"),
            )
            warn_of_jumps(system, self.t, self.q, range(system.nq))
            found_u, found_udot = motion_rates(self)
            u, udot = found_u if u is None else u, found_udot if udot is None else udot
        self.u, self.udot = (
            np.array(compiled.vector(name, x, "Motion")) for name, x in (("u", u), ("udot", udot))
        )
        for name, x in (("u", self.u), ("udot", self.udot)):
            if x.shape != (m, system.nu):
                raise ShapeError(
                    f"Motion: {name}: expected ({m}, {system.nu}), one row per time, got {x.shape}"
                )

    def _unsaid(self) -> None:
        self.changes: dict[str, Change] = {}
        self.ignored: tuple[str, ...] = ()
        self.filled: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.lowpass: float | None = None
        self.end_rows = np.zeros(len(self.t), dtype=bool)

    @classmethod
    @with_call_hints(
        {"filter": "it is lowpass=, a frequency [Hz]", "cutoff": "it is lowpass=, a frequency [Hz]"},
        skip=1,
        name="Motion.of",
    )
    def of(
        cls,
        system: System,
        motion: Table | Motion | Trajectory | Frames,
        *,
        lowpass: float | None = None,
        state: State | None = None,
        as_opensim: bool = False,
    ) -> Motion:
        """The motion of a Table of coordinates, a run or assembled frames.

        Args:
            system: the system that moves.
            motion: a Table with a column named after each coordinate, or a pandas DataFrame with times in
                its column "time" or its index; OpenSim's names of states (.../knee_angle/value) are also
                recognized. Angles are in the unit of their column, or of `table.degrees`. Other columns are
                ignored. Coordinates may be missing where constraints, motions or locks determine them. Or a
                Trajectory or Frames, with their own speeds and accelerations.
            lowpass: cut-off frequency [Hz] of a filter for the coordinates of a Table; none by default.
            state: as for `Motion`.
            as_opensim: differentiate a Table as OpenSim's tools do, which is less accurate: natural splines,
                so that accelerations near both ends are wrong, point reflection at the ends of the filter,
                and times unchanged even if rounded.

        Raises:
            UnknownNameError: a coordinate that is missing.
            ShapeError: times that do not increase, or missing numbers.
            ConstraintError: coordinates that contradict the constraints.
        """
        check_system("Motion.of", system, "motion")
        if is_frame(motion):
            motion = Table.from_pandas(motion)
        if isinstance(motion, Table):
            return _of_table(
                system, motion, lowpass, _default(system) if state is None else state, as_opensim
            )
        _check_motion(motion)
        if motion.system is not system:
            raise DescriptionError(
                "motion: it belongs to another system; give that system, or its table(): "
                "Tables go by the names of coordinates"
            )
        if as_opensim:
            raise DescriptionError("as_opensim: it says how a Table is differentiated; give motion.table()")
        if lowpass is not None:
            raise DescriptionError("lowpass: only coordinates of a Table are filtered; give motion.table()")
        if isinstance(motion, Motion):
            if state is not None:
                raise DescriptionError("state: this Motion has one already; make it with state=...")
            if not len(motion):
                raise ShapeError(f"motion: {NO_FRAMES}")
            return motion
        batch = motion._batch()
        return _made(
            state or motion.start,
            batch.t,
            motion.q,
            motion.u,
            motion.udot,
            batch.tail if state is None else None,
        )

    # ---- as States -----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"Motion({len(self)} frames{span(self.t)}: {cut(self.system.coordinates)}{self._said})"

    @property
    def _said(self) -> str:
        said = [f"{', '.join(self.filled)} filled in"] if self.filled else []
        said += [f"{len(self.ignored)} other columns left out"] if self.ignored else []
        said += [*self.notes, *([self.change] if self.change else [])]
        return "".join(f"; {text}" for text in said)

    @property
    def change(self) -> str:
        """A sentence about the largest change by filter and constraints; empty without changes."""
        if not self.changes:
            return ""
        share = scales.weights(self.system.bodies)[0]
        most = max(
            self.changes,
            key=lambda name: self.changes[name].largest * share[self.system.coordinates.index(name)],
        )
        c = self.changes[most]
        by = "constraints" if self.lowpass is None else f"low-pass filter of {self.lowpass:g} Hz"
        return f"{by} changed {most} by up to {c.largest:.2g} {c.unit} (RMS {c.rms:.2g})"

    @property
    def system(self) -> System:
        return self.start.system

    @property
    def tail(self) -> Array:
        """Inputs of kernels after q and u, shape (m, k); computed on first use."""
        if self._tail is None:
            self._tail = Batch.tails(self.system, self.start.tail, self.t)
        return self._tail

    @property
    def time(self) -> NDArray[np.float64]:
        """Alias of `t`."""
        return self.t

    @property
    def status(self) -> Outcome:
        return Outcome(Status.FINISHED, f"finished{self._said}")

    def table(self) -> Table:
        """Coordinates and speeds as a Table."""
        names, units = variables(self.system)
        n = self.system.nq + self.system.nu
        return Table(
            self.t,
            names[:n],
            np.concatenate([self.q, self.u], axis=1),
            units[:n],
            status=self.status,
            degrees=False,
        )

    def plot(self, *names: str | Table, grid: str | None = None, **options: Unpack[PlotOptions]) -> AxesLike:
        """Draw coordinates (by default all) or speeds over time. Tables, grid, options and return value are
        those of `Table.plot`.
        """
        named = any(isinstance(name, str) for name in names)
        table = self.table() if named else self.table()[list(self.system.coordinates)]
        return table.plot(*names, grid=grid, **options)

    def _column(self, name: str) -> Array:
        n = self.system.nq + self.system.nu
        return self.table().values[:, place(self.system, name, variable_names(self.system)[:n])]

    def _one(self, i: int) -> State:
        where = self.system.compiled.model.tail
        tail = self.start.tail if self.steady else self.tail[i]
        own = {name: tail[where[name]] for name in ("z", "inputs", "discrete")}
        return self.start.replace(t=float(self.t[i]), q=self.q[i], u=self.u[i], **own)

    def _some(self, i: NDArray[np.intp]) -> Motion:
        out = copy(self)
        out.t, out.q, out.u, out.udot = self.t[i], self.q[i], self.u[i], self.udot[i]
        out._tail, out.end_rows = None if self.steady else self.tail[i], self.end_rows[i]
        return out

    def _batch(self, t: Any = None) -> Batch:
        if t is not None:
            raise ShapeError("t: a Motion knows its own times only")
        arrays = {"q": lambda: self.q, "u": lambda: self.u, "udot": lambda: self.udot}
        return Batch(self.system, self.t, self.tail, arrays, self.status)

    def _blocks(self) -> list[Block]:
        table = self.table()
        changed = [
            (name, f"{c.rms:.3g} {c.unit}", f"{c.largest:.3g} {c.unit}") for name, c in self.changes.items()
        ]
        return [
            rows_of(["time [s]", *table.titles], self.t, table.values),
            Block("changed by filter and constraints", ("coordinate", "rms", "largest"), changed),
            Block("left out", (), [(name,) for name in self.ignored]),
        ]


def _others() -> tuple[type, ...]:
    """Other classes of motions that are loaded."""
    found = (
        if_loaded("condyle.integrate.trajectory", "Trajectory"),
        if_loaded("condyle.fit.frames", "Frames"),
    )
    return tuple(cls for cls in found if cls)


def _check_motion(motion: Any) -> None:
    if not isinstance(motion, (Motion, *_others())):
        is_path = isinstance(motion, str) or hasattr(motion, "__fspath__")
        hint = (
            "; read it with cd.read_table"
            if is_path
            else "; its coordinates over time are .motion"
            if hasattr(motion, "motion")
            else "; cd.inverse_kinematics(system, markers).motion has the angles"
            if isinstance(motion, Markers)
            else "; name its columns: cd.Table(t, system.coordinates, values, degrees=False)"
            if isinstance(motion, (np.ndarray, dict))
            else ""
        )
        raise DescriptionError(
            "motion: expected a Table of coordinates, a cd.Motion, a Trajectory or "
            f"Frames, got {type(motion).__name__}{hint}"
        )


def _default(system: System) -> State:
    """`system.state()`, cached."""
    found = system.compiled.remembered("default state", system.state)
    return found if found.system is system else system.state()  # or of a copy with the same code


def _made(start: State, t: Array, q: Array, u: Array, udot: Array, tail: Array | None) -> Motion:
    """A Motion from arrays of known shapes; without tails everything except time is as in the state."""
    out = object.__new__(Motion)
    out.start, out.t, out.q, out.u, out.udot, out._tail = start, t, q, u, udot, tail
    out.steady = tail is None
    out._unsaid()
    return out


def with_states(motion: Motion, z: Array, inputs: Array | None = None, udot: Array | None = None) -> Motion:
    """A motion with other auxiliary states (m, nz), inputs (m, k) and accelerations (m, nu) in every frame;
    inputs and accelerations are unchanged by default.
    """
    where, tail = motion.system.compiled.model.tail, motion.tail.copy()
    tail[:, where["z"]] = z
    if inputs is not None:
        tail[:, where["inputs"]] = inputs
    out = _made(motion.start, motion.t, motion.q, motion.u, motion.udot if udot is None else udot, tail)
    out.notes, out.end_rows = motion.notes, motion.end_rows
    return out


# ---- from a Table ------------------------------------------------------------------------------------------


def _of_table(system: System, table: Table, lowpass: float | None, state: State, as_opensim: bool) -> Motion:
    if not rounded_together(table.time):
        table = after_events("motion", table, CoordinateColumns.find(system, table).columns)
    t = check_times("motion", table.time)
    known_steps = steps(t)
    refuse_doubles(t, known_steps[0])
    warn_of_gaps("motion", t, *known_steps)
    for text in of_times(t):
        warn(f"motion: {text}")
    given = CoordinateColumns.find(system, table)
    x, least, most, inside = given.read(table, t)
    if not given.warn_of_range(least, most, inside):
        given.warn_of_degrees()
    missing, q = given.missing, x
    if missing:
        q = np.empty((len(t), system.nq))
        q[...] = state.q
        q[:, given.places] = x
    notes = mended(system, t, q, given.angles[(most - least)[given.rotating] > JUMP])
    warn_of_jumps(system, t, q, [k for k, far in zip(given.places, most - least, strict=True) if far > LEAP])
    changes = lowpass is not None or bool(system.constraints)
    known = q.copy() if changes else q
    if lowpass is not None:
        q[:, given.places] = filtered(
            t if as_opensim else even_times(t, known_steps)[0],
            q[:, given.places],
            number("lowpass", lowpass, "a frequency [Hz]"),
            reflected=as_opensim,
        )
    before = q.copy() if system.constraints else q
    motion = _made(state, t, q, np.empty(0), np.empty(0), None)
    motion.lowpass, motion.notes = lowpass, notes
    from condyle.constraints.sampled import warn_of_samples

    warn_of_samples("motion", system, t.item(0), t.item(-1), state.tail)
    if missing or system.compiled.moves:
        motion.q = _filled(system, table, state, t, q, motion.tail, given.places, missing)
    motion.u, motion.udot = motion_rates(motion, known_steps, as_opensim)
    motion.q = system.compiled.normalized(motion.q)
    motion.filled = tuple(system.coordinates[k] for k in missing)
    motion.ignored = given.ignored
    given.warn_of_followers(system, table, motion.q if lowpass is None else known)
    if system.constraints:
        given.warn_of_constraints(system, table, (motion.q - before)[:, given.places])
    if changes:
        for k, unit in zip(given.places, given.units, strict=True):
            d = motion.q[:, k] - known[:, k]
            motion.changes[system.coordinates[k]] = Change(
                float(np.sqrt((d**2).mean())), float(abs(d).max()), unit
            )
    return motion


def _filled(
    system: System,
    table: Table,
    state: State,
    t: Array,
    q: Array,
    tail: Array,
    given: list[int],
    missing: list[int],
) -> Array:
    """q with the coordinates missing in the table, projected to the constraints."""
    compiled = system.compiled
    q = compiled.prescribed(q, np.zeros((len(t), system.nu)), tail)[0]
    if not missing:
        return q
    held = compiled.tails.held(tail[0])
    known = {k for k, h in zip(coordinates_of_speeds(system), held, strict=True) if h and k >= 0}
    open_ = [k for k in missing if k not in known]
    if not open_:
        return q
    if not any(level == "position" for _, level in system.constraints.equations()):
        _refuse_missing(system, table, open_)
    options = projection_options(system, tail[0])
    G = system.constraints.jacobian(q[0], np.zeros(system.nu), "position", **options)
    free = [j for j, k in enumerate(coordinates_of_speeds(system)) if k in open_]
    if len(free) < len(open_) or np.linalg.matrix_rank(G[:, free]) < len(free):
        _refuse_missing(system, table, open_)
    from condyle.fit.goals import Coordinate
    from condyle.studies.assemble import assemble_frames

    goals = [Coordinate(system.coordinates[k], q[:, k]) for k in given]
    frames = assemble_frames(system, state.replace(t=float(t[0]), q=q[0]), goals, t=t, accuracy=ASSEMBLED)
    return np.array(frames.check().q)


def _refuse_missing(system: System, table: Table, missing: list[int]) -> None:
    names = [system.coordinates[k] for k in missing]
    more = f"; also missing: {cut(names[1:])}" if len(names) > 1 else ""
    near = difflib.get_close_matches(names[0], table.names, n=2, cutoff=0.6)
    similar = f" Is it {' or '.join(map(repr, near))}?" if near else ""
    error = UnknownNameError("column", names[0], [])
    error.message = (
        f"motion: the table has no column {names[0]!r}, a coordinate of the "
        f"system{more}.{similar} Its columns: {cut(table.names)}. A constant coordinate is a "
        "column of one value"
    )
    error.near = near
    raise error
