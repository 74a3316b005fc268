"""Defects of recorded coordinates and their repair: double times, whole turns, changes of sign; and rates of
coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import ShapeError, warn
from condyle.status import Status
from condyle.studies.motion.coordinate_rates import coordinates_of_speeds
from condyle.studies.motion.spline_rates import END_ROWS, rates
from condyle.system.states import Batch
from condyle.system.system import System
from condyle.table.defects import (
    even_times,
    jump,
    repeats,
    rounded_to,
    same_signs,
    unwrapped,
)
from condyle.table.filters import rows_at_ends
from condyle.tree import scales

if TYPE_CHECKING:
    from condyle.studies.motion.motion import Motion


NO_FRAMES = "there are no frames; was a time cut out that was not recorded?"
FEWEST = 4
"""Smallest number of frames for the spline of degree 5."""
TOO_NEAR = 1e-7
"""Times closer than this, relative to the mean step, are equal but for rounding."""
TWICE = 0.05
"""If more than this fraction of the times occur twice, the times were rounded."""
TOLD = 1e-4
"""Rounding of times by more than this fraction of a step is noted."""
UNIT_LENGTH = 0.1
"""Tolerance of the length of a quaternion: measured ones are rounded."""
ASSEMBLED, CLOSED = 1e-10, 1e-11
"""Accuracy of constraints in their units: for coordinates only; with speeds."""


def rounded_together(t: Array) -> bool:
    """Whether times equal the next ones because of rounding: steps are then zero, one or two units of the
    last digit. Events leave few such times, among other steps.
    """
    same = t[1:] == t[:-1]
    return bool(
        same.sum() > 1
        and same.mean() > TWICE
        and (t[1:] >= t[:-1]).all()
        and np.diff(t).max() < 2.5 * rounded_to(t)
    )


def check_times(what: str, t: Any) -> Array:
    """Times [s] that are finite and increase, shape (m,); ShapeError otherwise."""
    try:
        t = np.array(t, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"{what}: times must be numbers [s], shape (m,), got {t!r}") from None
    if t.ndim != 1 or not len(t):
        raise ShapeError(
            f"{what}: "
            + (NO_FRAMES if t.shape == (0,) else f"expected times [s] of shape (m,), got shape {t.shape}")
        )
    later = t[1:] > t[:-1]
    if later.all() and math.isfinite(t[0]) and math.isfinite(t[-1]):
        return t
    if not np.isfinite(t).all():
        raise ShapeError(f"{what}: time[{int(np.argmin(np.isfinite(t)))}] is not a finite number")
    i = int(np.argmin(later))
    which = (
        "comes before it: sort the rows"
        if t[i] > t[i + 1]
        else f"occurs twice: these times are rounded to {rounded_to(t):g} s; write more digits, or give "
        "np.arange(m) / rate"
        if rounded_together(t)
        else "occurs twice: leave one of the rows out"
    )
    raise ShapeError(
        f"{what}: times must increase, but time[{i}] = {t[i]:g} s and time[{i + 1}] = {t[i + 1]:g} s {which}"
    )


def refuse_doubles(t: Array, shortest: float) -> None:
    """Raise an error if two times are equal but for rounding: rates of a spline through both would be
    noise."""
    if len(t) > 2 and shortest < TOO_NEAR * (t.item(-1) - t.item(0)) / (len(t) - 1):
        step = t[1:] - t[:-1]
        i = int(np.argmin(step))
        raise ShapeError(
            f"motion: time[{i}] = {t[i]:.9g} s and time[{i + 1}] are {step[i]:.2g} s apart, "
            f"others about {np.median(step):.2g} s: leave one of these rows out"
        )


# ---- rates -------------------------------------------------------------------------------------------------


def mended(system: System, t: Array, q: Array, angles: NDArray[np.intp]) -> tuple[str, ...]:
    """Remove jumps by whole turns from some angles, and changes of sign from quaternions of q (m, nq), in
    place; returns sentences on what was done.

    Warns of quaternions whose length is far from one.
    """
    notes, names = [], system.coordinates
    for k in angles:
        found, turns = unwrapped(q[:, k])
        if turns:
            q[:, k] = found + _turns_away(system, names[k], found)
            notes.append(f"{turns} jump{'s' * (turns > 1)} of a whole turn taken out of {names[k]}")
    for part in system.compiled.quaternions:
        size = np.linalg.norm(q[:, part], axis=1)
        if not size.min() > 0:
            raise ShapeError(
                f"motion: {', '.join(names[part])} are zero at t = {t[int(np.argmin(size))]:g} "
                "s: a quaternion has length one"
            )
        if np.abs(size - 1).max() > UNIT_LENGTH:
            i = int(np.argmax(np.abs(size - 1)))
            warn(
                f"motion: {', '.join(names[part])} have the length {size[i]:.3g} at t = {t[i]:g} s, and are "
                "divided by it: a quaternion has length one. Are these other numbers?"
            )
        q[:, part] /= size[:, None]
        same_signs(q[:, part])
    return tuple(notes)


def warn_of_jumps(system: System, t: Array, q: Array, places: Sequence[int]) -> None:
    """Warn of the first of some coordinates of q (m, nq) that jumps, and of rows that repeat others."""
    for k in places:
        if i := jump(q[:, k]):
            unit = scales.units(system.bodies)[0][k]
            by = f"{abs(q[i, k] - q[i - 1, k]):.3g} {unit}"
            warn(
                f"motion: {system.coordinates[k]!r} jumps by {by} between t = {t[i - 1]:g} and {t[i]:g} s "
                f"(row {i}), far more than in the steps around it, and by no "
                "whole turn: accelerations there are wrong. Are there zeros in a gap, are rows missing or "
                "exchanged, was another trial added? Or do three angles flip together, as Euler angles do?"
            )
            break
    if places and (count := repeats(q)):
        warn(
            f"motion: {count} times a row begins to repeat the one before, in all coordinates: were rows "
            "repeated to make them more, or numbers rounded? Then accelerations are wrong. Leave the "
            "repeated rows out, or filter (lowpass=6)"
        )


def _turns_away(system: System, name: str, x: Array) -> float:
    """Whole turns [rad] that bring an angle (m,) nearest to the middle of its range, if it leaves it."""
    limits = [c.range for body in system.bodies for c in body.coordinates if c.name == name and c.range]
    if not limits or (x.min() >= limits[0][0] and x.max() <= limits[0][1]):
        return 0.0
    turn = 2 * math.pi
    return turn * round((sum(limits[0]) - x.min() - x.max()) / 2 / turn)


def motion_rates(
    motion: Motion, known: tuple[float, float] | None = None, as_opensim: bool = False
) -> tuple[Array, Array]:
    """u and udot of a motion from q, which is projected to the constraints.

    Args:
        known: steps of its times.
        as_opensim: by natural splines at unchanged times.
    """
    system, t = motion.system, motion.t
    if len(t) < FEWEST:
        raise ShapeError(
            f"motion: {len(t)} frames are too few for accelerations: a spline of degree 5 needs "
            f"{FEWEST}; or give cd.Motion(system, t, q, u, udot)"
        )
    q, unit = motion.q, 0.0
    if not as_opensim:
        t, unit = even_times(t, known)
    mean = (t.item(-1) - t.item(0)) / (len(t) - 1)
    if unit:
        known = None
        if unit > TOLD * mean:
            motion.notes += (f"times rounded to {unit:.1g} s taken as even, {1 / mean:.5g} per second",)
    near = max(END_ROWS, rows_at_ends(1 / mean, motion.lowpass) if motion.lowpass else 0)
    motion.end_rows[:near] = motion.end_rows[-near:] = True
    qdot, qddot = rates(t, q, known, natural=as_opensim)
    t = motion.t
    if not system.constraints and coordinates_of_speeds(system) == tuple(range(system.nq)):
        return qdot, qddot  # u = qdot
    for part in system.compiled.quaternions:  # rates of the normalized quaternion
        n, ndot, nddot = q[:, part], qdot[:, part], qddot[:, part]
        size = np.linalg.norm(n, axis=1, keepdims=True)
        r = (n * ndot).sum(axis=1, keepdims=True) / size**2
        n /= size
        qdot[:, part] = ndot / size - r * n
        # the part of nddot along n has no effect
        qddot[:, part] = nddot / size - 2 * r * qdot[:, part]
    batch = Batch(system, t, motion.tail, {"q": lambda: q}, Status.FINISHED)
    u = batch.ask("kinematics.u_from_qdot", (qdot,), {})
    if system.constraints:
        q, u = system.project(q, u, tolerance=CLOSED, **projection_options(system, motion.tail))
    batch.arrays["u"] = lambda: u
    udot = batch.ask("kinematics.udot_from_qddot", (qddot,), {})
    motion.q = q
    if not system.constraints:
        return u, udot
    free, W = ~system.compiled.tails.held(motion.tail), scales.weights(system.bodies)[1]
    G, bias = batch.ask("constraints.jacobian", (), {}), batch.ask("constraints.bias", (), {})
    error = (G @ udot[..., None])[..., 0] + bias
    return u, udot - free / W * (np.linalg.pinv(G * (free / W)[:, None]) @ error[..., None])[..., 0]


def projection_options(system: System, tail: Array) -> dict[str, Any]:
    """The keyword options encoded in a tail (..., n)."""
    model = system.compiled.model
    out = {name: tail[..., model.tail[name]] for name in ("z", "inputs", "discrete", "parameters")}
    on = np.atleast_2d(tail[..., model.tail["enabled"]])[0]
    held = np.atleast_2d(tail[..., model.tail["lock"]])[0]
    return {
        **out,
        "t": tail[..., 0],
        "locked": [s for s, k in zip(system.speeds, held, strict=True) if k],
        "disabled": [name for name, flag in zip(model.switches, on, strict=True) if not flag],
    }
