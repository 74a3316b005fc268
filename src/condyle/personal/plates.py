"""Force plates: their total wrench, the frames in which they carry the subject, and the mass that they carry.

With F the vertical force, z the height of the mass center, and D the second derivative of a polynomial of degree 2
that is fitted in a window around each frame,

    D[double integral of F] = m (g + D[z])                                                                (1)

holds while the plates carry the whole subject. Both sides are smoothed in the same way, so that neither the noise of
poses nor a heel strike matters. Where a foot or a hand rests elsewhere, the left side is smaller. In flight both are
zero. m is the mass for which most frames agree, given the prior for a subject of this size; then

    m = sum F / sum (g + a)   over all covered frames                                                     (2)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, warn
from condyle.forces.gravity import free_fall
from condyle.presentation import cut
from condyle.studies.external_load import ExternalLoad, loads_on
from condyle.studies.motion.motion import Motion
from condyle.system.system import System
from condyle.table import Table
from condyle.tree import scales

WINDOW = 0.2
"""Time in which forces and accelerations are averaged when they are compared [s]."""
MISSING = 0.12
"""A frame whose vertical force is off by this part of what it should be, at least of the weight, has a foot off the
plates."""
SOFT = 0.15
"""Of the acceleration, what bones and skin do more or less than the flesh between them: a runner's frames are off by
that, too."""
SHORTEST, EDGE = 0.25, 0.1
"""The shortest time that is used, and what is left out at its ends, where accelerations are not known [s]."""
LIKELY, GIVEN, NEAR = 0.35, 0.1, 0.04
"""Standard deviations of the logarithm of the mass from sizes, of a given mass, and of that of one frame."""
LEAST = 50.0
"""Vertical force [N] below which the plates are empty."""
FAR = 0.3
"""Maximum distance of a force from the nearest joint [m]."""
SURE = 0.02
"""Horizontal forces below this part of the weight do not show their sign."""
OUTSIDE, HIGH, ACTING = 0.05, 0.15, 200.0
"""How far beside the markers of a foot [m], and above or below the lowest of them [m], its center of pressure may be in
half of the time in which this force acts [N]."""
LATE, LATEST, CLEARLY = 0.02, 0.15, 0.7
"""Forces are late or early by at least this time and at most that [s], if they then differ from the motion by this part
of what they do as they are."""
SHOWN = 0.2
"""Accelerations by which forces must differ from the motion to tell times [m/s^2]: someone who stands still shows none."""
LEVER, STILL = 0.03, 0.005
"""Torque about horizontal axes over force [m] beyond which it is no free torque, unless the point moves less [m]."""


class NotCarriedError(DescriptionError):
    """Plates that never carry the subject."""


def gravity_of(system: System) -> tuple[float, Array]:
    """g [m/s^2], and the direction against it, shape (3,)."""
    acceleration = free_fall(system._forces)
    g = float(np.linalg.norm(acceleration))
    if not g > 0:
        raise DescriptionError(
            "personalize: loads: the model has no gravity, and masses follow from it; give it, "
            "cd.System(gravity=(0, -9.81, 0)), or leave loads out"
        )
    return g, -acceleration / g


def free_torques(loads: list[ExternalLoad], up: Array, name: str) -> list[ExternalLoad]:
    """The loads, without torques that are moments about the origin of a plate or of ground: with the point of a force
    given these would count twice. About the center of pressure a foot cannot turn a plate but about the vertical.

    Args:
        loads: of a trial.
        up: the direction against gravity.
        name: of the trial, for messages.
    """
    out, told = [], []
    for load in loads:
        out.append(load)
        if load.force is None or load.point is None or load.torque is None:
            continue
        F, p, T = (load.table[list(x)].values for x in (load.force, load.point, load.torque))
        acts = np.linalg.norm(F, axis=1) > LEAST
        if load.frame != "ground" or not acts.any():
            continue
        across, force = (
            float(np.sqrt((x[acts] ** 2).sum(axis=1).mean())) for x in (T - np.outer(T @ up, up), F)
        )
        if across < LEVER * force or np.nanstd(p[acts], axis=0).max() < STILL:
            continue
        told.append(f"{load.torque[0]} .. ({across:.0f} N m)")
        out[-1] = ExternalLoad(
            load.body, load.table, force=load.force, point=load.point, point_frame=load.point_frame
        )
    if told:
        warn(
            f"personalize: {name}: torques of loads turn about horizontal axes: {cut(told)}. They look like moments "
            "about the origin of plates or ground, which count twice beside points of application; these columns are "
            "left out. Free torques belong there, or no torque_identifier",
            RuntimeWarning,
        )
    return out


def under_feet(
    loads: list[ExternalLoad],
    time: Array,
    places: dict[str, Array],
    up: Array,
    partners: dict[str, str],
    name: str,
) -> None:
    """Warn where centers of pressure are not under the feet on which they act.

    Args:
        loads: of a trial.
        time: of the frames [s], shape (T,).
        places: of markers and joints of the feet by body [m], shape (T, n, 3).
        up: the direction against gravity.
        partners: the other foot, by body.
        name: of the trial, for messages.
    """
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    a = np.linalg.svd(up[None])[2][1:]
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1) @ a  # (48, 3), horizontal
    told, exchanged = [], []
    for load in loads:
        if (
            load.body not in places
            or load.force is None
            or load.point is None
            or load.point_frame != "ground"
        ):
            continue
        p, F = (
            np.stack([np.interp(time, load.table.time, c) for c in load.table[list(x)].values.T], axis=1)
            for x in (load.point, load.force)
        )
        acts = (np.linalg.norm(F, axis=1) > ACTING) & np.isfinite(p).all(axis=1)
        acts &= (time >= load.table.time[0]) & (time <= load.table.time[-1])
        if acts.sum() < 8:
            continue
        support = lambda body: np.max(places[body][acts] @ ways.T, axis=1)  # noqa: B023
        beside = lambda body: float(np.median((p[acts] @ ways.T - support(body)).max(axis=1)))  # noqa: B023
        own, other = beside(load.body), partners.get(load.body)
        above = float(np.median(p[acts] @ up - (places[load.body][acts] @ up).min(axis=1)))
        if own > OUTSIDE and other is not None and beside(other) < own / 2:
            exchanged.append(load.body)
        elif own > OUTSIDE:
            told.append(f"{100 * own:.0f} cm beside {load.body}")
        elif abs(above) > HIGH:
            told.append(f"{100 * abs(above):.0f} cm {'above' if above > 0 else 'below'} {load.body}")
    if exchanged:
        warn(
            f"personalize: {name}: the loads of {cut(exchanged)} act under the other foot: are feet exchanged? Masses do "
            "not depend on it, but joint moments will",
            RuntimeWarning,
        )
    if told:
        warn(
            f"personalize: {name}: forces act {cut(told)}: have plates and cameras the same origin and axes, and are "
            "points of application centers of pressure?",
            RuntimeWarning,
        )


def wrench(
    system: System, time: Array, q: Array, parts: list[slice], loads: list[ExternalLoad], name: str
) -> Array:
    """Moment about ground's origin and force of all loads, shape (T, 6), zero where they are not known, smoothed
    as sharply as the motion is sampled: a heel strike is shorter than a frame.

    Args:
        system: what they act on.
        time: of the frames [s], shape (T,).
        q: coordinates, shape (T, nq).
        parts: frames between jumps.
        loads: of the trial.
        name: of the trial, for messages.
    """
    first = max(load.table.time[0] for load in loads)
    last = min(load.table.time[-1] for load in loads)
    inside = np.flatnonzero((time >= first) & (time <= last))
    if len(inside) < 8:
        raise DescriptionError(
            f"personalize: {name}: loads are known from {first:g} to {last:g} s, the markers from {time[0]:g} to "
            f"{time[-1]:g} s; eight frames in common are least. Give None for a trial without loads"
        )
    out = np.zeros((len(time), 6))
    for part in parts:
        rows = inside[(inside >= part.start) & (inside < part.stop)]
        if len(rows) >= 2:
            out[rows] = _smoothed(system, time[rows], q[rows], loads)
    return out


def _smoothed(system: System, time: Array, q: Array, loads: list[ExternalLoad]) -> Array:
    """The wrench of `wrench` in frames without a jump."""
    fine = 8
    t = np.linspace(time[0], time[-1], fine * (len(time) - 1) + 1)
    between = Table(
        t,
        system.coordinates,
        np.stack([np.interp(t, time, x) for x in q.T], axis=1),
        scales.units(system.bodies)[0],
    )
    W = sum(loads_on(Motion.of(system, between), loads).values(), np.zeros((len(t), 6)))
    width = 0.6 * fine
    x = np.arange(-4 * fine, 4 * fine + 1)
    kernel = np.exp(-0.5 * (x / width) ** 2)
    kernel /= kernel.sum()
    padded = np.pad(W, ((4 * fine, 4 * fine), (0, 0)), mode="edge")
    W = np.stack([np.convolve(column, kernel, mode="valid") for column in padded.T], axis=1)
    return np.stack([np.interp(time, t, x) for x in W.T], axis=1)


def covered(
    time: Array,
    center: Array,
    W: Array,
    away: Array,
    gravity: tuple[float, Array],
    expected: float,
    sure: bool,
    name: str,
    parts: list[slice] | None = None,
) -> tuple[list[Array], float]:
    """Frames of each stretch of time in which the plates carry the subject, and the mass that they carry [kg].

    Args:
        time: of the frames [s], shape (T,).
        center: the mass center [m], shape (T, 3).
        W: moment and force of all plates, shape (T, 6).
        away: how far from the subject the force passes [m], shape (T,).
        gravity: g [m/s^2], and the direction against it.
        expected: mass from sizes or the user [kg].
        sure: whether the user gave it.
        name: of the trial, for messages.
        parts: frames between jumps; None: all.
    """
    from scipy.integrate import cumulative_trapezoid  # type: ignore[import-untyped]
    from scipy.signal import savgol_filter  # type: ignore[import-untyped]

    step = float(np.median(np.diff(time)))
    half = max(2, round(WINDOW / 2 / step))
    parts = [x for x in parts or [slice(0, len(time))] if x.stop - x.start > 2 * half]
    if not parts:
        raise DescriptionError(
            f"personalize: {name}: {len(time)} frames are too few for masses; {WINDOW:g} s without a gap are least"
        )
    g, up = gravity
    force = W[:, 3:] @ up
    if not (force > LEAST).any():
        raise DescriptionError(
            f"personalize: {name}: no force above {LEAST:g} N acts against gravity, the largest is "
            f"{force.max():.3g} N"
            + (
                "; forces point down: they are those on the plates, and should be those on the subject, -F"
                if (force < -LEAST).any()
                else "; are loads in N, and is the vertical of plates that of the model?"
            )
        )
    loaded = force > LEAST
    if (far := float(np.median(away[loaded]))) > FAR:
        raise DescriptionError(
            f"personalize: {name}: the measured force passes {far:.3g} m beside the subject; are points of "
            "application in meters, and have plates and cameras the same origin and axes?"
        )

    def bend(x: Array) -> Array:
        """D[x], zero in parts that are too short."""
        out = np.zeros_like(x)
        for part in parts:
            out[part] = savgol_filter(x[part], 2 * half + 1, 2, deriv=2, delta=step, axis=0)
        return out

    twice = lambda x: cumulative_trapezoid(
        cumulative_trapezoid(x, dx=step, axis=0, initial=0), dx=step, axis=0, initial=0
    )
    a = bend(center)
    F, fall = bend(twice(W[:, 3:])), g + a @ up  # (1)
    vertical = F @ up
    there = np.concatenate([np.arange(x.start, x.stop) for x in parts])
    stands = (fall > 0.3 * g) & (vertical > LEAST) & np.isin(np.arange(len(time)), there)
    told = np.log(vertical[stands] / fall[stands])
    tried = np.log(expected) + np.linspace(-2.5, 1.5, 401)
    likely = np.exp(-0.5 * ((tried - np.log(expected)) / (GIVEN if sure else LIKELY)) ** 2)
    found = np.exp(-0.5 * ((tried - told[:, None]) / NEAR) ** 2).sum(axis=0)
    mass = float(np.exp(tried[np.argmax((found + 1e-3) * likely)]))
    off = MISSING * np.maximum(g, fall) + SOFT * np.abs(fall - g)
    late = _late(vertical, fall, stands, step)
    said = (
        f"forces fit the motion better when they are {1e3 * abs(late):.0f} ms {'earlier' if late > 0 else 'later'}; "
        "do clocks of plates and cameras agree?"
    )
    good = np.abs(vertical - mass * fall) < mass * off
    good &= away < FAR
    edge = max(2, round(EDGE / step))
    windows = []
    for part in parts:
        ends = part.start + np.flatnonzero(np.diff(np.r_[0, good[part].astype(int), 0]))
        for lo, hi in zip(ends[::2], ends[1::2], strict=True):
            lo, hi = lo + (edge if lo == part.start else half), hi - (edge if hi == part.stop else half)
            if hi - lo >= max(8, SHORTEST / step) and force[lo:hi].mean() > 0.3 * mass * g:
                windows.append(np.arange(lo, hi))
    if not windows:
        raise NotCarriedError(
            f"personalize: {name}: in no quarter of a second do the plates carry the subject's weight; are the "
            "loads of this trial, and do times agree? Leave the loads of a trial out, None, in which a foot is "
            "always off the plates"
            + (
                f". They carry about {np.exp(np.median(told)):.0f} kg, and "
                + ("mass= says" if sure else "a subject of this size has about")
                + f" {expected:.0f} kg"
            )
            * bool(len(told))
            + f"; {said}" * bool(late)
        )
    if late:
        warn(f"personalize: {name}: {said}", RuntimeWarning)
    rows = np.concatenate(windows)
    mass = float(vertical[rows].sum() / fall[rows].sum())  # (2)
    across = [k for k in range(3) if abs(up[k]) < 0.5]
    reversed_ = [
        "xyz"[k]
        for k in across
        if float(F[rows, k] @ a[rows, k]) < -0.3 * mass * float(a[rows, k] @ a[rows, k])
        and np.sqrt((F[rows, k] ** 2).mean()) > SURE * mass * g
    ]
    if reversed_:
        warn(
            f"personalize: {name}: the subject accelerates against the force along {cut(reversed_)}: a sign of the "
            "loads is reversed, or axes of plates and cameras differ",
            RuntimeWarning,
        )
    return windows, mass


def _late(vertical: Array, fall: Array, stands: Any, step: float) -> float:
    """Time by which forces are late [s], negative where they are early; 0 where it is not clear."""

    def apart(k: int) -> float:
        """What is left of F = m (g + a) with forces of k frames later, over the largest force."""
        rows = np.flatnonzero(stands)
        rows = rows[(rows + k >= 0) & (rows + k < len(fall))]
        rows = rows[stands[rows + k]]
        if len(rows) < max(8, 0.5 * stands.sum()):
            return np.inf
        F, a = vertical[rows + k], fall[rows]
        mass = np.median(F / a)
        return float(np.median(np.abs(F - mass * a)) / mass)

    most = int(LATEST / step)
    tried = np.arange(-most, most + 1)
    off = np.array([apart(int(k)) for k in tried])
    best = int(tried[np.argmin(off)])
    clear = (
        SHOWN < off[most] < np.inf
        and off.min() < CLEARLY * off[most]
        and abs(best) * step >= LATE
        and abs(best) < most
    )
    return best * step if clear else 0.0


def beside(system: System, parameters: dict[str, float], q: Array, W: Array) -> Array:
    """Distance of the measured force from the nearest joint [m], shape (T,); 0 where the force is small."""
    F, M = W[:, 3:], W[:, :3]
    size = np.linalg.norm(F, axis=1, keepdims=True)
    acts = size[:, 0] > LEAST
    along = F / np.maximum(size, LEAST)
    p = (
        system.body_poses(q, parameters=parameters).p
        - (np.cross(along, M) / np.maximum(size, LEAST))[:, None]
    )
    across = p - (p * along[:, None]).sum(axis=-1, keepdims=True) * along[:, None]
    return np.where(acts, np.linalg.norm(across, axis=-1).min(axis=1), 0.0)
