"""`cd.muscle_analysis`: lengths, moment arms, fibers and powers of the muscles in a recorded motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, warn
from condyle.forces.base import Force
from condyle.muscles import Muscle
from condyle.muscles.muscle import fibers, saturation
from condyle.native.machine.notice import announced
from condyle.presentation import Block, Display, cut, page, rows_of, span
from condyle.quality import Check, Judged
from condyle.records import dataclass
from condyle.status import Outcome
from condyle.studies.motion.motion import Motion
from condyle.studies.path_slips import warn_of_path_slips
from condyle.studies.study_system import study_system
from condyle.system.checked_arguments import check_system
from condyle.system.failures import unsolved_frames, with_failures
from condyle.system.operators.muscles import elastic_tendons
from condyle.system.state import State
from condyle.system.states import Batch
from condyle.system.system import System
from condyle.table import Table, is_frame, save_all
from condyle.trace.parameter import Input
from condyle.tree import scales

if TYPE_CHECKING:
    from condyle.fit.frames import Frames
    from condyle.integrate.trajectory import Trajectory


@dataclass(frozen=True, eq=False, repr=False)
class MuscleAnalysis(Display, Judged):
    """Quantities of muscles over a motion, each a Table with a column per muscle.

    `result["fiber_length"]` is one of `tables`, by OpenSim's names.

    Attributes:
        lengths: lengths of the paths [m].
        speeds: rates of these lengths [m/s], positive if lengthening.
        moment_arms: by speed, a Table with a column per path: -dL/dq [m for angles, 1 for lengths].
        tables: quantities of muscles, {name: Table}: activation, fiber_length, fiber_velocity,
            pennation_angle, tendon_length, tendon_force, fiber_force, active_fiber_force,
            passive_fiber_force, fiber_active_power, tendon_power, muscle_power, and more. Empty without
            activations.
        failures: why a path was not found, by frame; quantities that depend on the path are NaN in these
            frames.
    """

    lengths: Table
    speeds: Table
    moment_arms: dict[str, Table]
    tables: dict[str, Table] = field(default_factory=dict)
    failures: dict[int, Outcome] = field(default_factory=dict)

    _study = "muscle_analysis"
    elsewhere: ClassVar[dict[str, str]] = dict.fromkeys(
        ("plot", "to_pandas"), "a method of each of its Tables, such as result.lengths.plot()"
    )

    @property
    def status(self) -> Outcome:
        """How the analysis ended; equal to a `cd.Status` too."""
        return self.lengths.status  # type: ignore[return-value]

    def __getitem__(self, name: str) -> Table:
        if name not in self.tables:
            why = "" if self.tables else "give activations= for what depends on them"
            raise UnknownNameError("quantity", name, self.tables, why)
        return self.tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __repr__(self) -> str:
        t = self.lengths.time
        more = f"; {cut(self.tables)}" if self.tables else "; no activations"
        return (
            f"MuscleAnalysis({len(t)} frames{span(t)}: {cut(self.lengths.names)}; lengths, speeds, "
            f"moment_arms of {cut(self.moment_arms)}{more}{self.quality.summary})"
        )

    def _checks(self) -> Iterator[Check]:
        lost = np.isnan(self.lengths.values)
        yield Check(
            "frames in which a path has no length",
            int(lost.any(axis=1).sum()),
            f"of {len(lost)}",
            0.0,
            0.0,
            cut(n for n, k in zip(self.lengths.names, lost.any(axis=0), strict=True) if k),
        )
        if self.tables:
            yield from saturation(self["activation"].names, self["activation"].values)
            yield from fibers(self["activation"].names, self["normalized_fiber_length"].values)

    def _repr_html_(self) -> str:
        L = self.lengths
        tables = [(name, cut(table.units[:1])) for name, table in self.tables.items()]
        return page(
            repr(self),
            rows_of(["time [s]", *L.titles], L.time, L.values),
            *self.quality.blocks,
            Block("tables", ("quantity", "unit"), tables),
        )

    def save(self, folder: str | Path, ending: str = "sto") -> list[Path]:
        """Write every Table into a folder: length.sto, speed.sto, moment_arm_SPEED.sto, QUANTITY.sto.

        Args:
            folder: must exist.
            ending: "sto", "mot", "csv" or "npz".

        Returns:
            the files.
        """
        named = {
            "length": self.lengths,
            "speed": self.speeds,
            **{f"moment_arm_{name}": table for name, table in self.moment_arms.items()},
            **self.tables,
        }
        return save_all("MuscleAnalysis", named, folder, ending)


@with_call_hints(
    {
        "forces": "give activations=cd.static_optimization(...).activations",
        "excitations": "give activations=, or a Trajectory, whose states are known",
    }
)
@announced
def muscle_analysis(
    system: System,
    motion: Table | Motion | Trajectory | Frames,
    activations: Table | None = None,
    *,
    lowpass: float | None = None,
    state: State | None = None,
) -> MuscleAnalysis:
    """Lengths, speeds and moment arms of all paths over a motion; with activations also fibers, forces and
    powers of the muscles.

    With a Table of activations, tendons are treated as rigid, as in static optimization, so that fiber
    lengths follow from the pose. A warning names elastic tendons. A Trajectory contains activations and
    fiber lengths, and muscles are reported as they were in the run. Each quantity is one native call for
    all frames. A warning is raised where a path slips over its surface.

    Args:
        system: the system that moves.
        motion: a Table of coordinates, a `cd.Motion`, a Trajectory or Frames, as for `cd.inverse_dynamics`.
        activations: from 0 to 1, a column per muscle, such as `cd.static_optimization(...).activations`.
            Between rows they are linear.
        lowpass: cut-off frequency [Hz] for the coordinates of a Table, as for `cd.inverse_dynamics`.
        state: parameters, inputs and the like, as for `cd.inverse_dynamics`.

    Returns:
        a MuscleAnalysis. Undefined values, such as the length of a path that was not found, are NaN.

    Raises:
        UnknownNameError: a muscle without a column of activations.
        CondyleError: invalid arguments.
    """
    check_system("muscle_analysis", system, "motion")
    moved = Motion.of(system, motion, lowpass=lowpass, state=state)
    if not system.paths:
        raise DescriptionError(
            "muscle_analysis: no force of the system runs along a path; "
            "system.add_force('biceps', cd.muscles.Thelen2003(path, ...)) adds a muscle"
        )
    batch, muscles = moved._batch(), system.muscles
    L, Ldot, arms = path_geometry(moved)
    failures = unsolved_frames(system.compiled, "muscle_analysis", moved.t, moved.q, moved.tail, L)
    status = with_failures(moved.status, failures, len(moved))
    table = lambda values, unit, names=system.paths: Table(
        moved.t, names, values, [unit] * len(names), status=status, degrees=False
    )
    warn_of_path_slips("muscle_analysis", moved, L, Ldot, arms)
    units = {
        name: "m" if unit == "rad/s" else "1" if unit == "m/s" else ""
        for name, unit in zip(system.speeds, scales.units(system.bodies)[1], strict=True)
    }
    by_speed = {name: table(arms[:, :, k], unit) for k, (name, unit) in enumerate(units.items())}
    tables: dict[str, Table] = {}
    if muscles and (activations is not None or not moved.steady):  # a run has its own states
        reports = (
            _reports(batch, L, Ldot) if activations is None else _of_activations(moved, activations, L, Ldot)
        )
        names = system.compiled.model.reported
        tables = {
            name: table(reports[:, :, k], "" if unit == "-" else unit, muscles)
            for k, (name, unit) in enumerate(names.items())
        }
    return MuscleAnalysis(table(L, "m"), table(Ldot, "m/s"), by_speed, tables, failures)


def path_geometry(motion: Motion) -> tuple[Array, Array, Array]:
    """Lengths [m] and speeds [m/s] of all paths, (m, paths), and their moment arms along the constraints,
    (m, paths, nu). Each path is solved once."""
    system, batch = motion.system, motion._batch()
    L, arms = batch.kernel("path_geometry")
    if system.compiled.model.moved_by_time:  # bodies move even with zero speeds
        Ldot = batch.kernel("path_speeds")
    else:
        Ldot = -np.einsum("tij,tj->ti", arms, motion.u)
    return L, Ldot, batch.kernel("moment_arms") if system.constraints else arms


def _of_activations(motion: Motion, activations: Any, L: Array, Ldot: Array) -> Array:
    """Reports (m, muscles, quantities) at given activations, with rigid tendons."""

    from condyle.studies.prescribed_forces import at_times, warn_of_others

    system = motion.system
    if is_frame(activations):
        activations = Table.from_pandas(activations)
    if not isinstance(activations, Table):
        hint = "; give its .activations" if hasattr(activations, "activations") else ""
        raise DescriptionError(
            f"activations: expected a Table with a column per muscle, got {type(activations).__name__}{hint}"
        )
    muscles, columns = system.muscles, set(activations.names)
    for name in muscles:
        if name not in columns:
            raise UnknownNameError("column", name, activations.names, "activations: every muscle needs one")
    warn_of_others("activations", activations, (*system.forces, *system.speeds))
    a = at_times("activations", activations[list(muscles)], motion.t)
    if ((a < -1e-6) | (a > 1 + 1e-6)).any():
        i, k = np.argwhere((a < -1e-6) | (a > 1 + 1e-6))[0]
        raise ShapeError(
            f"activations: {muscles[k]!r} is {a[i, k]:g} at t = {motion.t[i]:g} s; they go from 0 to 1"
        )
    elastic, _ = elastic_tendons(system.compiled.model.forces)
    if elastic:
        warn(
            f"muscle_analysis: tendons of {cut(elastic)} are elastic; at given activations they "
            "count as rigid, because their stretch depends on the past. A Trajectory "
            "has their states; tendon='rigid' makes this explicit"
        )
    part, paths = study_system(system, (), muscles, law=activated), system.paths
    own = [paths.index(name) for name in muscles]
    reports = _reports(part.batch(motion, np.nan_to_num(a)), L[:, own], Ldot[:, own])
    return np.where(np.isnan(a)[..., None], np.nan, reports)


def activated(law: Force, value: Input) -> Force:
    """A muscle with a given activation and a rigid tendon."""
    assert isinstance(law, Muscle)
    return replace(law, excitation=value, activation_dynamics=False, tendon="rigid")


def _reports(batch: Batch, L: Array, Ldot: Array) -> Array:
    """Reported quantities of muscles, shape (m, muscles, quantities), from lengths and speeds (m, paths)."""
    compiled = batch.system.compiled
    function = compiled.function("muscle_reports")
    flat = function.fast(batch.array("q"), batch.array("u"), L, Ldot, batch.tail)
    return compiled.shaped("muscle_reports", flat)  # type: ignore[no-any-return]
