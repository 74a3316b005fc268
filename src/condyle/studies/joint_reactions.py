"""`cd.joint_reactions`: forces and moments between the bodies of a recorded motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import UnknownNameError, check_name
from condyle.native.machine.notice import announced
from condyle.status import Outcome, Status
from condyle.studies.external_load import ExternalLoad, stacked
from condyle.studies.inverse_dynamics import NOT_ACTUATED
from condyle.studies.motion.motion import Motion
from condyle.studies.prescribed_forces import prescribed_forces
from condyle.studies.residual_forces import residual_quality
from condyle.studies.study_system import forces_of_groups, recorded_motion, study_system
from condyle.system.failures import unsolved_frames, with_failures
from condyle.system.state import State
from condyle.system.states import Batch
from condyle.system.system import System
from condyle.table import Table
from condyle.tree.body import Body

if TYPE_CHECKING:
    from condyle.fit.frames import Frames
    from condyle.integrate.trajectory import Trajectory

COLUMNS = [(f"{kind}{axis}", unit) for kind, unit in (("f", "N"), ("m", "N m"), ("p", "m")) for axis in "xyz"]


@with_call_hints(
    {
        "loads": "they are external_loads=[cd.ExternalLoad(...)]",
        "express_in_frame": "it is frame=",
        "on_body": "it is on=",
        "apply_on_bodies": "it is on=",
        "activations": "give tensions: forces=cd.static_optimization(...).forces",
    }
)
@announced
def joint_reactions(
    system: System,
    motion: Table | Motion | Trajectory | Frames,
    forces: Table | None = None,
    external_loads: ExternalLoad | Sequence[ExternalLoad] | None = None,
    *,
    on: str = "child",
    frame: Body | str = "ground",
    bodies: Sequence[Body | str] | Body | str | None = None,
    groups: Sequence[str] = NOT_ACTUATED,
    lowpass: float | None = None,
    state: State | None = None,
) -> Table:
    """Force and moment in each joint over a motion: the load of the mobilizer on the body, or of the body on
    its parent.

    The result is that of OpenSim's JointReaction: everything the joint transmits, including moments about
    free axes that reserve actuators supply. Muscles act with their tensions along their paths, wrapping
    included. Without `forces` they are left out, and the result holds the net joint forces only. If the
    forces do not explain the accelerations of the motion, the remainder is in the moments about the free
    axes, and the status gives its size. All frames are one native call.

    Args:
        system: whose motion it is.
        motion: a Table of coordinates, a `cd.Motion`, a Trajectory or Frames, as for `cd.inverse_dynamics`.
        forces: tensions of muscles and other paths [N] and forces of actuators [N, N m], by their names;
            every muscle has a column. Columns with names of speeds are generalized forces there. Values
            between rows are interpolated linearly.
        external_loads: measured forces on bodies, `cd.ExternalLoad`, one or several.
        on: "child" for the load on the body, at its frame M; "parent" for the load on its parent, at frame F.
        frame: where results are expressed: "ground", "child", "parent", or a body.
        bodies: bodies whose joints are reported; all by default.
        groups: groups of forces that act besides `forces`; with "muscle" and without `forces`, muscles act
            according to the states of a Trajectory.
        lowpass: cut-off frequency [Hz] for the coordinates of a Table, as for `cd.inverse_dynamics`.
        state: parameters, inputs and the like, as for `cd.inverse_dynamics`.

    Returns:
        a Table with nine columns per body: force BODY_fx .. fz [N], moment BODY_mx .. mz [N m] about the
        point BODY_px .. pz [m] where both act. Frames in which a tension is NaN are NaN; so are those in
        which a path or contact is not found, which its status and a warning list.

    Raises:
        UnknownNameError: a body, a frame, a muscle without a column.
        CondyleError: invalid arguments.
    """
    check_name("side of a joint", on, ("child", "parent"), "on=")
    chosen = _bodies(system, bodies)
    if frame not in ("child", "parent"):
        frame = system.body(frame)
    moved, loads = recorded_motion("joint_reactions", system, motion, external_loads, lowpass, state)
    tensions, speeds = prescribed_forces(moved, forces)
    kept = [name for name in forces_of_groups(system, groups) if name not in tensions]
    part = study_system(system, kept, tuple(tensions), tuple(loads))
    pulls = np.array([*tensions.values(), *speeds.values()]).reshape(-1, len(moved))
    known = np.isfinite(pulls)
    finite = bool(known.all())
    if not finite:
        pulls = np.nan_to_num(pulls)
    k = len(tensions)
    batch = part.batch(moved, pulls[:k].T if k else None, stacked(loads))
    F, rest = _loads(batch, dict(zip(speeds, pulls[k:], strict=True)))
    failures = unsolved_frames(batch.system.compiled, "joint_reactions", moved.t, moved.q, batch.tail, F)
    values = _expressed(batch, chosen, F if bodies is None else F[:, [b.index for b in chosen]], on, frame)
    if not finite:
        lost = ~known.all(axis=0)
        values[lost], rest[lost] = np.nan, 0.0
    names, units = _columns(system, chosen)
    status = _said(moved, part.left_out, rest, bool(len(pulls)) or "muscle" in groups)
    return Table(
        moved.t,
        names,
        values,
        units,
        status=with_failures(status, failures, len(moved)),
        quality=residual_quality("joint_reactions", moved, rest, loads, "gravity" in groups),
    )


def _columns(system: System, bodies: list[Body]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units of the columns, computed once."""
    return system.compiled.remembered(
        ("columns of reactions", *(b.name for b in bodies)),
        lambda: (
            tuple(f"{b.name}_{column}" for b in bodies for column, _ in COLUMNS),
            tuple(unit for _ in bodies for _, unit in COLUMNS),
        ),
    )


def _bodies(system: System, bodies: Sequence[Body | str] | Body | str | None) -> list[Body]:
    if bodies is None:
        return list(system.bodies)
    chosen = [system.body(b) for b in ([bodies] if isinstance(bodies, (Body, str)) else bodies)]
    if any(b.is_ground for b in chosen):
        raise UnknownNameError("body with a joint", "ground", [b.name for b in system.bodies])
    return chosen


def _expressed(batch: Batch, bodies: list[Body], F: Array, on: str, frame: Body | str) -> Array:
    """Force, moment and point of some joints side by side, shape (m, 9 bodies), from moment and force at M in
    ground, (m, bodies, 6)."""
    X = batch.kernel("body_pose")  # poses of all bodies; ground comes after them
    ground = isinstance(frame, Body) and frame.is_ground
    if on == "parent" or not ground:
        X = np.concatenate([X, np.broadcast_to(np.eye(3, 4).T.ravel(), (len(X), 1, 12))], axis=1)
    R, p_G = X[..., :9].reshape(*X.shape[:-1], 3, 3), X[..., 9:]

    def which(each: list[Body | None]) -> list[int]:
        return [-1 if b is None or b.is_ground else b.index for b in each]

    def stations(rows: list[int], name: str) -> Array:
        """Positions of stations on these bodies in ground, (m, bodies, 3)."""
        own = _places(batch, bodies, name)
        if not own.any():
            return p_G if rows == [*range(p_G.shape[1])] else p_G[:, rows]
        return p_G[:, rows] + _turned(R[:, rows], own)

    m, f, mine = F[..., :3], F[..., 3:], which([*bodies])
    p = stations(mine, "p_BM")
    if on == "parent":
        p_GM, p = p, stations(which([b.parent for b in bodies]), "p_PF")
        f, m = -f, -(m + np.cross(p_GM - p, f))
    if not ground:
        one = frame if isinstance(frame, Body) else None
        seen = mine if frame == "child" else which([one or b.parent for b in bodies])
        back = np.swapaxes(R[:, seen], -1, -2)
        f, m, p = _turned(back, f), _turned(back, m), _turned(back, p - p_G[:, seen])
    return np.concatenate([f, m, p], axis=2).reshape(len(X), 9 * len(bodies))


def _turned(R: Array, v: Array) -> Array:
    return np.einsum("...ij,...j->...i", R, v)


def _places(batch: Batch, bodies: list[Body], name: str) -> Array:
    """Positions of joints' frames on their bodies, shape (bodies, 3); computed once if constant."""
    key, known = ("places of joints", name, *(b.name for b in bodies)), batch.system.compiled.programs
    if key in known:
        return known[key]  # type: ignore[no-any-return]
    found = np.array([_place(batch, b, name) for b in bodies]).reshape(-1, 3)
    if not any(name in b.symbolic for b in bodies):
        known[key] = found
    return found


def _place(batch: Batch, body: Body, name: str) -> Array:
    """Position of a joint's frame on its body, shape (3,); Parameters have the values of the first frame."""
    if name not in body.symbolic:
        return (body.X_BM if name == "p_BM" else body.X_PF).p
    values = batch.tail[0, batch.system.compiled.model.tail["parameters"]]
    return body.symbolic[name].at(dict(zip(batch.system.parameters, values.tolist(), strict=True)))[:, 0]


def _loads(batch: Batch, speeds: dict[str, Array]) -> tuple[Array, Array]:
    """Moment and force of each mobilizer at M in ground, (m, bodies, 6), and the generalized forces that no
    known force explains, (m, nu)."""
    system, q, u, udot = batch.system, *(batch.array(name) for name in ("q", "u", "udot"))
    compiled = system.compiled
    flat = compiled.function("joint_loads").fast(q, u, udot, batch.tail)
    F, rest = compiled.shaped("joint_loads", flat)
    tau = np.zeros(rest.shape)
    for name, f in speeds.items():
        tau[:, system.speeds.index(name)] = f
    if system.constraints:
        lambda_ = batch.kernel("multipliers", tau)
        lost = np.isnan(lambda_).any(axis=1)  # a path was not found
        lambda_[lost] = 0.0
        name = "reactions_with_constraints"
        F = compiled.shaped(name, compiled.function(name).fast(q, u, udot, lambda_, batch.tail))
        F[lost] = np.nan
        rest = rest - compiled.function("constraints.forces").fast(q, u, lambda_, batch.tail)
    return F, rest - tau


def _said(motion: Motion, left_out: str, rest: Array, pulled: bool) -> Outcome:
    text = f"{motion.status}{left_out}"
    if pulled and rest.size:
        size = np.abs(rest)
        i, j = divmod(int(np.argmax(np.fmax(size, 0.0, out=size))), rest.shape[1])
        speed = motion.system.speeds[j]
        unit = motion.system.compiled.generalized_forces[speed]
        text += (
            f"; forces leave up to {abs(rest[i, j]):.2g} {unit} at {speed} to actuators (t = "
            f"{motion.t[i]:g} s)"
        )
    return Outcome(Status.FINISHED, text)
