"""`cd.induced_accelerations`: contributions of each force to each acceleration.

Accelerations follow from forces by linear equations, constraints and locks included:

    M udot + G' lambda = sum_i f_i - c(q, u),    G udot = b(q, u)                                          (1)
    udot(f) is affine in f:    udot_i = udot(f_i) - udot(0),    udot_v = udot(0)                           (2)

udot_v is due to velocities: Coriolis and centrifugal forces, and the bias b of constraints. Each udot_i
includes the constraint reactions that the force causes, so that udot_v and all udot_i add up to udot. If a
body stands on springs, these respond to a force that acts elsewhere only after something has moved; a
constraint in their place responds at once (sherman2011 section 5.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.constraints.base import Constraint
from condyle.errors import DescriptionError, check_name
from condyle.fit.frames import Frames
from condyle.forces.base import GROUPS
from condyle.integrate.trajectory import Trajectory
from condyle.model.operators import columns
from condyle.native.machine.notice import announced
from condyle.presentation import Display, cut, page, rows_of, span
from condyle.quality import Check, Judged
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.studies.external_load import ExternalLoad, loads_on, stacked
from condyle.studies.held_contacts import WORDS, HeldContacts
from condyle.studies.inverse_dynamics import NOT_ACTUATED
from condyle.studies.motion.motion import Motion
from condyle.studies.prescribed_forces import prescribed_forces
from condyle.studies.study_system import forces_of_groups, study_system
from condyle.system.checked_arguments import check_system
from condyle.system.failures import unsolved_frames, with_failures
from condyle.system.state import State
from condyle.system.states import Batch
from condyle.system.system import System
from condyle.table import Table, save_all
from condyle.tree.body import Body

if TYPE_CHECKING:
    from condyle.table.plots import AxesLike, PlotOptions

VELOCITY = "velocity"
UNEXPLAINED = 10.0
"""Acceleration that forces may leave unexplained, in % of the largest, as for reserves of static
optimization."""


@dataclass(frozen=True, eq=False, repr=False)
class InducedAccelerations(Display, Judged):
    """Contributions to accelerations over a motion. `result["gravity"]` is the Table of one cause, with the
    same columns as `total`; all causes add up to it.

    Attributes:
        total: accelerations under all forces: a column per speed [rad/s^2, m/s^2], then the requested ones of
            bodies and of the mass center.
        tables: contributions by cause: "velocity", then the forces.
        multipliers: contributions by cause to the multipliers of the constraint equations, which add up
            too, and to the forces of held contacts on their second surfaces, CONTACT_fx .. [N]; empty
            without constraints and held contacts.
        unexplained: accelerations of the motion minus those of the forces, a column per speed.
        complete: whether muscle forces were given; the forces should then explain the accelerations.
    """

    total: Table
    tables: dict[str, Table]
    multipliers: dict[str, Table] = field(default_factory=dict)
    unexplained: Table | None = None
    complete: bool = False

    plumbing: ClassVar[frozenset[str]] = frozenset({"complete"})
    _study = "induced_accelerations"
    elsewhere: ClassVar[dict[str, str]] = {
        "to_pandas": "a method of each of its Tables, such as result.of('knee').to_pandas()"
    }

    @property
    def causes(self) -> tuple[str, ...]:
        return tuple(self.tables)

    def __getitem__(self, cause: str) -> Table:
        check_name("cause", cause, self.tables, "contributions to one acceleration are result.of('knee')")
        return self.tables[cause]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __repr__(self) -> str:
        t = self.total.time
        return (
            f"InducedAccelerations({len(t)} frames{span(t)}: {cut(self.total.names)} from "
            f"{cut(self.tables)}; {self.total.status}{self.quality.summary})"
        )

    def _repr_html_(self) -> str:
        total = self.total
        return page(
            repr(self), rows_of(["time [s]", *total.titles], total.time, total.values), *self.quality.blocks
        )

    def _checks(self) -> Iterator[Check]:
        rest = self.unexplained
        if rest is None or not rest.values.size:
            return
        left = np.abs(rest.values).max(axis=0)
        moved = np.abs(rest.values + self.total.values[:, : len(left)]).max(axis=0)
        kinds = np.array(rest.units)
        size = np.array([moved[kinds == kind].max() for kind in kinds])
        share = left / np.where(size > 0, size, 1.0)
        k = int(share.argmax())
        yield Check(
            "largest unexplained acceleration against the largest of the motion",
            100 * share[k],
            "%",
            UNEXPLAINED if self.complete else None,
            math.inf,
            f"{left[k]:.3g} {kinds[k]} at {rest.names[k]}",
            "muscle forces, reserves or loads are missing, or the motion is not filtered",
        )

    def of(self, name: str) -> Table:
        """The contributions to one acceleration: a Table with a column per cause.

        Args:
            name: a column of `total`.
        """
        values = np.stack([table[name] for table in self.tables.values()], axis=1)
        unit = self.total.units[self.total.names.index(name)]
        units = [unit] * len(self.causes)
        return Table(self.total.time, self.causes, values, units, status=self.total.status)

    @with_call_hints(skip=1)
    def plot(self, name: str, **options: Unpack[PlotOptions]) -> AxesLike:
        """Draw the contributions to one acceleration over time. Options and result are those of
        `Table.plot`."""
        from condyle.table.panels import Source, for_people
        from condyle.table.plots import draw

        table = self.of(name)
        shown = for_people(table) if options.get("degrees", True) else table
        return draw([Source(table)], ylabel=f"{name} [{shown.units[0]}]", **options)

    def save(self, folder: str | Path, ending: str = "sto") -> list[Path]:
        """Write the contributions to each acceleration into a folder: SPEED.sto, a column per cause.

        Args:
            folder: must exist.
            ending: "sto", "mot", "csv" or "npz".

        Returns:
            the files.
        """
        return save_all(
            "InducedAccelerations", {name: self.of(name) for name in self.total.names}, folder, ending
        )


@with_call_hints({"replace": "it is rigid={force: constraint}", "contacts": "it is rigid='contacts'"})
@announced
def induced_accelerations(
    system: System,
    motion: Table | Motion | Trajectory | Frames,
    forces: Table | None = None,
    external_loads: ExternalLoad | Sequence[ExternalLoad] | None = None,
    *,
    rigid: Mapping[str, Constraint] | str | None = None,
    groups: Sequence[str] | None = None,
    bodies: Sequence[Body | str] = (),
    mass_center: bool = False,
    lowpass: float | None = None,
    state: State | None = None,
) -> InducedAccelerations:
    """Contributions of velocities, gravity, each muscle and each other force to each acceleration.

    The contribution of a force includes the constraint reactions that it causes; all contributions add up to
    the total accelerations. All frames and forces are one native call.

    Args:
        system: whose motion it is.
        motion: a Table of coordinates, a `cd.Motion`, a Trajectory or Frames, as for `cd.inverse_dynamics`.
        forces: tensions of muscles and other paths [N], forces of actuators and generalized forces at
            speeds, as for `cd.joint_reactions`.
        external_loads: measured forces on bodies, `cd.ExternalLoad`, one or several.
        rigid: constraints that replace forces, {name of the force: constraint}: springs or contacts of a foot
            become a constraint that holds it. A name that no force has adds a constraint. "contacts": in
            each frame, all compliant contacts that touch are held at their contact points; "normals": along
            their normals only.
        groups: of the forces that act besides `forces`. By default all in a Trajectory, whose muscles have
            states; else "gravity", "passive" and "external".
        bodies: bodies whose accelerations are also reported, at their origins in ground: BODY_alphax ..
            [rad/s^2], BODY_ax .. [m/s^2].
        mass_center: whether the acceleration of the system's mass center is reported: mass_center_ax ..
            [m/s^2].
        lowpass: cut-off frequency [Hz] for the coordinates of a Table, as for `cd.inverse_dynamics`.
        state: parameters, inputs and the like, as for `cd.inverse_dynamics`.

    Returns:
        an InducedAccelerations. Frames in which a path or contact is not found are NaN; its status and a
        warning list them.

    Raises:
        ConstraintError: the constraints cannot hold.
        CondyleError: invalid arguments.
    """
    check_system("induced_accelerations", system, "motion")
    if laws := [*system.compiled.model.reaction_laws]:
        raise DescriptionError(
            f"induced_accelerations: force {laws[0]!r} asks for reactions of joints: it is not an independent cause, since each "
            "other force causes a part of it; disable it: system.copy(forces={name: None})"
        )
    moved = Motion.of(system, motion, lowpass=lowpass, state=state)
    groups = groups or (GROUPS if isinstance(motion, Trajectory) and forces is None else NOT_ACTUATED)
    tensions, speeds = prescribed_forces(moved, forces)
    if np.isnan(list(tensions.values())).any():
        bad = next(name for name, T in tensions.items() if np.isnan(T).any())
        raise DescriptionError(
            f"induced_accelerations: the force of {bad!r} is NaN at t = "
            f"{moved.t[int(np.isnan(tensions[bad]).argmax())]:g} s: leave such frames "
            "out: motion[a:b]"
        )
    held = HeldContacts.of(moved, rigid) if isinstance(rigid, str) and rigid in WORDS else None
    rigid = _rigid(None if held else rigid)
    replaced = {*rigid, *(held.names if held else ())}
    kept = [
        name for name in forces_of_groups(system, groups) if name not in tensions and name not in replaced
    ]
    tau = generalized_forces(moved, kept, tensions, speeds, loads_on(moved, external_loads))
    bare = study_system(system, (), rigid=rigid).batch(moved)
    f = np.stack([np.zeros((len(moved), system.nu)), *tau.values(), sum(tau.values())], axis=1)
    failures = unsolved_frames(system.compiled, "induced_accelerations", moved.t, moved.q, moved.tail, f)
    lost = list(failures)
    f[lost] = 0.0
    udot = each_answer(bare, "forward_dynamics", f)
    udot[lost] = np.nan
    udot, total = _parts(udot), udot[:, -1]
    causes = (VELOCITY, *tau)
    pushes = None
    if held is not None:
        udot, pushes = held.hold(udot, lambda f: each_answer(bare, "forward_dynamics", f))
        total = udot.sum(axis=1)
    columns_, values = _accelerations(bare, udot, [system.body(b) for b in bodies], mass_center)
    status = with_failures(Outcome(Status.FINISHED, f"{moved.status}"), failures, len(moved))
    table = lambda x: Table(moved.t, [n for n, _ in columns_], x, [u for _, u in columns_], status=status)
    own = columns.accelerations(system.compiled.model, {})
    rest = Table(moved.t, [n for n, _ in own], moved.udot - total, [u for _, u in own], status=status)
    multipliers = {}
    if bare.system.constraints:
        names = [name for name, _ in bare.system.constraints.equations()]
        found = _parts(each_answer(bare, "multipliers", f))
        found[lost] = np.nan
        multipliers = {
            cause: Table(moved.t, names, found[:, k], status=status, degrees=False)
            for k, cause in enumerate(causes)
        }
    if held is not None and pushes is not None:
        names = [f"{name}_f{axis}" for name in held.names for axis in "xyz"]
        for k, cause in enumerate(causes):
            before, values_on = multipliers.get(cause), pushes[:, k].reshape(len(moved), -1)
            multipliers[cause] = Table(
                moved.t,
                [*(before.names if before is not None else ()), *names],
                np.concatenate([before.values, values_on], axis=1) if before is not None else values_on,
                [*(before.units if before is not None else ()), *["N"] * len(names)],
                status=status,
                degrees=False,
            )
    everything = np.concatenate([total, values[..., system.nu :].sum(axis=1)], axis=1)
    return InducedAccelerations(
        table(everything),
        {c: table(values[:, k]) for k, c in enumerate(causes)},
        multipliers,
        rest,
        bool(tensions) or "muscle" in groups,
    )


def _rigid(rigid: Any) -> dict[str, Constraint]:
    if isinstance(rigid, str):
        raise DescriptionError(
            f"rigid: expected {{force: constraint}}, 'contacts' or 'normals', got {rigid!r}"
        )
    found = dict(rigid or {})
    for name, constraint in found.items():
        if not isinstance(constraint, Constraint):
            raise DescriptionError(
                f"rigid: {name!r}: expected a constraint such as cd.constraints.Ball(...), got {constraint!r}"
            )
    return found


def generalized_forces(
    motion: Motion,
    kept: Sequence[str],
    tensions: dict[str, Array],
    speeds: dict[str, Array],
    loads: dict[str, Array],
) -> dict[str, Array]:
    """Generalized forces of each cause except velocities, shape (m, nu)."""
    system = motion.system
    others = {name: T for name, T in tensions.items() if name not in system.paths}
    part = study_system(system, kept, tuple(others), tuple(loads))
    batch = part.batch(motion, stacked(others), stacked(loads))
    compiled = part.system.compiled
    flat = compiled.function("each_force").fast(motion.q, motion.u, batch.tail)
    each = np.moveaxis(compiled.shaped("each_force", flat), 1, 0)
    named = zip(compiled.model.exerting_forces, each, strict=True)
    out = {name.replace("given load on", "load on"): f for name, f in named if name not in part.silent}
    if len(others) < len(tensions):
        arms = motion._batch().kernel("path_geometry")[1]
        out |= {
            name: T[:, None] * arms[:, system.paths.index(name)]
            for name, T in tensions.items()
            if name not in others
        }
    for name, f in speeds.items():
        out[f"actuator at {name}"] = f[:, None] * (np.array(system.speeds) == name)
    return out


def each_answer(batch: Batch, operator: str, tau: Array) -> Array:
    """Results of an operator of q, u and tau for many tau, shape (m, n, ...)."""
    function = batch.system.compiled.function(operator)
    q, u = batch.array("q"), batch.array("u")
    return function.fast(q[:, None], u[:, None], tau, batch.tail[:, None])  # type: ignore[no-any-return]


def _parts(found: Array) -> Array:
    """Contributions of velocities and of each force, from accelerations without forces, under each force,
    and under all of them."""
    return np.concatenate([found[:, :1], found[:, 1:-1] - found[:, :1]], axis=1)  # (2)


def _accelerations(
    batch: Batch, udot: Array, bodies: Sequence[Body], mass_center: bool
) -> tuple[list[tuple[str, str]], Array]:
    """Names and units, and contributions (m, causes, n) to accelerations of speeds, bodies, mass center."""
    model = batch.system.compiled.model
    named, values = columns.accelerations(model, {}), [udot]
    names = {"body_acceleration": bool(bodies), "mass_center_acceleration": mass_center}
    q, u, tail = batch.array("q")[:, None], batch.array("u")[:, None], batch.tail[:, None]
    for name in (name for name, wanted in names.items() if wanted):
        function = batch.system.compiled.function(name)
        still = np.concatenate([np.zeros_like(udot[:, :1]), udot], axis=1)
        found = function.fast(q, u, still, tail)
        found[:, 2:] -= found[:, :1]  # the contribution of velocities includes Jdot u
        found = found[:, 1:]
        if bodies and name == "body_acceleration":
            for b in bodies:
                values.append(found[..., 6 * b.index : 6 * b.index + 6])
                named += columns.of_body(*columns.ACCELERATION)(model, {"body": b})
        else:
            values.append(found)
            named += columns.fixed(*columns.xyz("mass_center_a", "m/s^2"))(model, {})
    return named, np.concatenate(values, axis=2)
