"""`cd.inverse_dynamics`: the generalized forces that produce a recorded motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from condyle.arguments import with_call_hints
from condyle.native.machine.notice import announced
from condyle.status import Outcome, Status
from condyle.studies.external_load import ExternalLoad, stacked
from condyle.studies.motion.motion import Motion
from condyle.studies.residual_forces import residual_quality
from condyle.studies.study_system import forces_of_groups, recorded_motion, study_system
from condyle.system.failures import unsolved_frames, with_failures
from condyle.system.state import State
from condyle.system.system import System
from condyle.table import Table

if TYPE_CHECKING:
    from condyle.fit.frames import Frames
    from condyle.integrate.trajectory import Trajectory

NOT_ACTUATED = ("gravity", "passive", "external")
"""Groups of forces that act in a recorded motion besides muscles and actuators."""


@with_call_hints(
    {
        "filter": "a low-pass filter is lowpass=, a frequency [Hz]",
        "cutoff": "a low-pass filter is lowpass=, a frequency [Hz]",
        "loads": "they are external_loads=[cd.ExternalLoad(...)]",
        "forces_to_exclude": "groups= names those that act",
    }
)
@announced
def inverse_dynamics(
    system: System,
    motion: Table | Motion | Trajectory | Frames,
    external_loads: ExternalLoad | Sequence[ExternalLoad] | None = None,
    *,
    groups: Sequence[str] = NOT_ACTUATED,
    lowpass: float | None = None,
    state: State | None = None,
) -> Table:
    """Generalized forces that produce a recorded motion: joint moments and forces.

    Muscles and actuators are left out: the result is their required sum. The Table's status lists
    the forces that were left out. All frames are one native call. Constraint forces are ignored, as in
    OpenSim: each coordinate gets the force it would need without constraints.

    Args:
        system: whose motion it is.
        motion: a Table of coordinates, which is differentiated by splines for speeds and accelerations (see
            `cd.Motion.of`), or a `cd.Motion`, a Trajectory, or Frames, which contain them.
        external_loads: measured forces on bodies over time, `cd.ExternalLoad`, one or several.
        groups: groups of forces that act: some of "gravity", "passive", "external", "actuator", "muscle".
        lowpass: cut-off frequency [Hz] of a filter for the coordinates of a Table; none by default. The
            status says how much it changed.
        state: parameters, inputs, auxiliary states, locks and disabled elements; `system.state()` by default.

    Returns:
        a Table with a column per speed [N m for angles, N for lengths]. Frames in which a path or contact is
        not found are NaN; its status and a warning list them.

    Raises:
        UnknownNameError: a coordinate that the Table does not have, an unknown body or group.
        CondyleError: invalid arguments.
    """
    moved, loads = recorded_motion("inverse_dynamics", system, motion, external_loads, lowpass, state)
    part = study_system(system, forces_of_groups(system, groups), loaded=tuple(loads))
    batch = part.batch(moved, loads=stacked(loads))
    tau = batch.kernel("inverse_dynamics", moved.udot)
    failures = unsolved_frames(part.system.compiled, "inverse_dynamics", moved.t, moved.q, batch.tail, tau)
    columns = system.compiled.generalized_forces
    status = Outcome(Status.FINISHED, f"{batch.status}{part.left_out}")
    return Table(
        moved.t,
        tuple(columns),
        tau,
        tuple(columns.values()),
        status=with_failures(status, failures, len(moved)),
        quality=residual_quality("inverse_dynamics", moved, tau, loads, "gravity" in groups),
    )
