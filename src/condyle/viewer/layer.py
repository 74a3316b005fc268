"""Layer: one system in motion, from any object that a user passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.constraints.unilateral import RigidContact
from condyle.contact.hunt_crossley import ContactLaw
from condyle.contact.surfaces import ContactSurface
from condyle.errors import CondyleError, DescriptionError, ShapeError, UnknownNameError
from condyle.fit.frames import Frames
from condyle.integrate.ensemble import Ensemble
from condyle.integrate.trajectory import Trajectory
from condyle.io.markers import Markers
from condyle.presentation import cut
from condyle.records import dataclass
from condyle.status import Status
from condyle.studies.motion.coordinate_columns import CoordinateColumns
from condyle.studies.motion.motion import Motion
from condyle.studies.motion.recorded import check_times
from condyle.system.state import State
from condyle.system.states import Batch
from condyle.system.system import System
from condyle.system.variables import recorded, variables
from condyle.table import Table, after_events, is_frame

RATE, FEWEST, MOST = 100.0, 200, 10_000
"""Frames per second of a simulated run, and the least and largest number of frames."""
MEMBERS = 12
"""Number of members of an ensemble that are shown."""


@dataclass
class Layer:
    """States of one system over time.

    Attributes:
        name: in lists.
        batch: the states.
        table: quantities over time besides the pose.
        known: whether the states are those of a run, with activations and speeds.
        good: frames whose coordinates are numbers, shape (m,); None for all.
        notes: sentences for the viewer.
        among: surfaces of the run's method that touch each other and are not part of the system.
    """

    name: str
    batch: Batch
    table: Table
    known: bool = False
    good: NDArray[np.bool_] | None = None
    notes: list[str] = field(default_factory=list)
    among: tuple[ContactSurface, ...] = ()

    @property
    def system(self) -> System:
        return self.batch.system

    @property
    def t(self) -> Array:
        return self.batch.t


def contacts_of(system: System) -> dict[str, ContactLaw | RigidContact]:
    """The contacts of a system by name, rigid ones last."""
    return system.compiled.model.all_contacts


def surfaces(layer: Layer) -> list[tuple[str, ContactSurface]]:
    """All contact surfaces, each with the name of a contact, "" if only the method of a run has them; corners
    of a box are the box."""
    out: list[tuple[str, ContactSurface]] = []
    for name, law in contacts_of(layer.system).items():
        whole = [s.original for s in law.surfaces()]
        pieces = any(s is not mine for s, mine in zip(law.surfaces(), whole, strict=True))
        out += [(name.rpartition(".")[0] if pieces else name, s) for s in whole]
    return [*out, *(("", s) for s in layer.among)]


def layers(what: Any, motion: Any = None, most: int = MOST, name: str = "") -> list[Layer]:
    """One layer, or one per member of an ensemble.

    Args:
        what: a System, a State, a Trajectory, Frames, a Motion or an Ensemble.
        motion: of a System: a Table of coordinates, or an object with its states.
        most: largest number of frames; more are thinned, with a note.
        name: in lists.
    """
    if motion is not None:
        if not isinstance(what, System):
            raise DescriptionError("show: motion= goes with a System: cd.show(system, motion=table)")
        if isinstance(motion, Table) or is_frame(motion):
            return [_of_table(what, motion, most, name or "motion")]
        if getattr(motion, "system", what) is not what:
            raise DescriptionError(
                "show: motion: it belongs to another system; show it alone, or give its "
                "table(): Tables are matched by names of coordinates"
            )
        what = motion
    if isinstance(what, Ensemble):
        count = len(what)
        shown = np.unique(np.linspace(0, count - 1, min(count, MEMBERS)).astype(int))
        out = [_of_run(what[int(i)], most, f"member {i}") for i in shown]
        if count > MEMBERS:
            out[0].notes.append(f"{len(shown)} of {count} members are shown: {cut(map(str, shown))}")
        return out
    if isinstance(what, System):
        what = what.state()
    if isinstance(what, State):
        return [of_state(what, name or "state", recorded(what.system))]
    if isinstance(what, Trajectory):
        return [_of_run(what, most, name or "run")]
    if isinstance(what, (Motion, Frames)):
        return [_of_frames(what, most, name or "motion")]
    hint = ""
    if isinstance(what, Markers):
        hint = "; measured markers are beside a model: cd.show(system, motion=angles, markers=markers)"
    if isinstance(what, Table) or is_frame(what):
        hint = "; a Table of coordinates needs its system: cd.show(system, motion=table)"
    if isinstance(what, str) or hasattr(what, "__fspath__"):
        model = str(what).lower().endswith(".osim")
        hint = "; read the file first: " + (
            "cd.show(cd.read_osim(path))" if model else "cd.show(system, motion=cd.read_table(path))"
        )
    raise DescriptionError(
        "show: expected a System, a State, a Trajectory, a Motion, Frames or an Ensemble, "
        f"got {type(what).__name__}{hint}"
    )


def of_state(state: State, name: str, named: tuple[Sequence[str], Sequence[str]]) -> Layer:
    """One frame; `named` has names and units of its variables."""
    names, units = named
    values = np.concatenate([state.q, state.u, state.z, state.discrete])
    batch = Batch(
        state.system,
        np.array([state.t]),
        state.tail[None],
        {"q": lambda: state.q[None], "u": lambda: state.u[None]},
        Status.FINISHED,
    )
    return Layer(name, batch, Table([state.t], names, values[None], units), known=True)


def _of_run(run: Trajectory, most: int, name: str) -> Layer:
    """A run at regular times, as smooth as it was computed."""
    if not len(run):
        raise ShapeError("show: the run has no rows")
    notes = [] if run.finished else [f"The run ended early: {run.status}"]
    span = abs(float(run.t[-1] - run.t[0]))
    if run.rows.whole and span > 0:
        count = int(np.clip(np.ceil(RATE * span) + 1, FEWEST, most))
        if RATE * span + 1 > most:
            notes.append(f"{count} frames are shown, every {span / (count - 1):.3g} s.")
        run = run(np.linspace(run.t[0], run.t[-1], count))  # type: ignore[assignment]
    else:
        run = run[:: _stride(len(run), most, notes)]
    batch, table = run._batch(), run.table()
    if len(run) > 1 and run.t[-1] < run.t[0]:
        notes.append("The run went backward in time; it is shown forward.")
        q, u = run.q[::-1], run.u[::-1]
        batch = Batch(
            run.system, batch.t[::-1], batch.tail[::-1], {"q": lambda: q, "u": lambda: u}, batch.status
        )
        table = table[::-1]
    return Layer(name, batch, table, known=True, notes=notes, among=getattr(run.rows.method, "among", ()))


def _of_frames(motion: Motion | Frames, most: int, name: str) -> Layer:
    notes: list[str] = []
    motion = motion[:: _stride(len(motion), most, notes)]
    return Layer(name, motion._batch(), motion.table(), notes=notes)


def _of_table(system: System, table: Any, most: int, name: str) -> Layer:
    if is_frame(table):
        table = Table.from_pandas(table)
    table = after_events("show: motion", table, curve=False)
    check_times("show: motion", table.time)
    notes: list[str] = []
    table = table[:: _stride(len(table), most, notes)]
    given = CoordinateColumns.find(system, table)
    if not len(given.columns):
        raise DescriptionError(
            "show: motion: no column of the Table is a coordinate of the system; "
            f"columns: {cut(table.names)}; coordinates: {cut(system.coordinates)}"
        )
    q = np.tile(system.default("q"), (len(table), 1))
    q[:, given.places] = table.values[:, given.columns] * given.factors
    missing = [system.coordinates[k] for k in given.missing]
    if np.isfinite(q).all() and len(table) > 3:
        try:  # solves for coordinates that constraints and motions determine
            layer = _of_frames(Motion.of(system, table), most, name)
            layer.notes[:0] = notes
            return layer
        except UnknownNameError:
            pass
        except CondyleError as error:
            notes.append(f"Constraints are not solved: {error}")
    if missing:
        notes.append(f"Not in the table, and at their defaults: {cut(missing)}.")
    state = system.state()
    names, units = variables(system)
    good = np.asarray(np.isfinite(q).all(axis=1))
    whole = np.where(good[:, None], q, state.q)
    batch = Batch(
        system,
        table.time,
        Batch.tails(system, state.tail, table.time),
        {"q": lambda: whole, "u": lambda: np.zeros((len(q), system.nu))},
        Status.FINISHED,
    )
    return Layer(
        name, batch, Table(table.time, names[: system.nq], q, units[: system.nq]), good=good, notes=notes
    )


def _stride(count: int, most: int, notes: list[str]) -> int:
    stride = -(-count // most)
    if stride > 1:
        notes.append(f"{-(-count // stride)} of {count} frames are shown.")
    return stride
