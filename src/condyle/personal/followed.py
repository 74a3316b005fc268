"""Inverse kinematics of a trial with known sizes, and detection of exchanged markers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import warn
from condyle.personal.marker_fit import CHUNK, Fit, MarkerFit, enough
from condyle.presentation import cut
from condyle.records import dataclass
from condyle.table import Table
from condyle.tree import scales

TELLS, LONGEST = 0.7, 0.1
"""A coordinate is undetermined if its standard deviation exceeds this fraction of the prior's; gaps up to
this length [s] are filled.
"""
BAD, WORSE = 0.03, 4.0
"""A frame fits badly if its RMS exceeds this [m] and this multiple of the median."""
JUMP = 40.0
"""Implausible speed of a coordinate [rad/s, m/s], which indicates a jump to another solution."""
MISSING = 1.5
"""Frames are missing where time goes on by more than this multiple of the usual step."""
SAME = 1e-6
"""Poses are the same to this [m, 1], and constraints."""
STRAY = 0.08
"""RMS above which a marker of a trial is left out [m], if others fit better."""
EXCHANGED, BETTER = 0.025, 0.5
"""Markers are exchanged if their RMS exceeds this [m], and swapping names reduces it to this fraction."""
MIRRORED = 0.05
"""Left and right of a recording are exchanged if the RMS of all its markers exceeds this [m], and falls below it
with the other names."""


@dataclass(frozen=True, eq=False)
class Followed:
    """A trial.

    Attributes:
        motion: coordinates over time.
        errors: distances of markers from the model over time [m].
        q: the same coordinates without NaN, shape (T, nq).
        untold: coordinates that markers do not determine in some frames, with their number.
    """

    motion: Table
    errors: Table
    q: Array
    untold: dict[str, int]

    def changed(self, problem: MarkerFit, fit: Fit, rows: Any, q: Array) -> Followed:
        """The same trial with other coordinates in some frames."""
        new, shown = self.q.copy(), self.motion.values.copy()
        new[rows] = q
        shown[rows] = np.where(np.isfinite(shown[rows]), q, np.nan)
        e = np.linalg.norm(problem.errors(new, fit.theta, fit.d)[0], axis=-1)
        e = np.where(problem.seen, e, np.nan)[:, [problem.markers.index(n) for n in self.errors.names]]
        motion = Table(self.motion.time, self.motion.names, shown, self.motion.units)
        return Followed(motion, Table(motion.time, self.errors.names, e, self.errors.units), new, self.untold)


def follow(problem: MarkerFit, fit: Fit, time: Array, start_time: Array, start: Array, name: str) -> Followed:
    """Solve all frames of a trial.

    Args:
        problem: of all its frames.
        fit: sizes and places.
        time: of the frames [s], shape (T,).
        start_time: of some of them [s], increasing.
        start: their poses, shape (k, nq).
        name: of the trial, for messages.
    """
    system = problem.system
    q = np.stack([np.interp(time, start_time, x) for x in start.T], axis=1)
    told = np.empty_like(q)
    for i in range(0, len(q), CHUNK):
        part = problem.frames(slice(i, i + CHUNK))
        q[i : i + CHUNK], told[i : i + CHUNK] = part.follow(q[i : i + CHUNK], fit.theta, fit.d)
    seen = problem.seen.any(axis=1)
    for _ in range(2):  # bad frames start again from their nearest good neighbor
        distance = np.linalg.norm(problem.errors(q, fit.theta, fit.d)[0], axis=-1)
        rms = np.sqrt((distance**2).sum(axis=1) / np.maximum(problem.seen.sum(axis=1), 1))
        astray = seen & (rms > max(BAD, WORSE * float(np.median(rms[seen]))))
        good = np.flatnonzero(seen & ~astray)
        if not astray.any() or not len(good):
            break
        at = np.flatnonzero(astray)
        near = good[np.abs(good - at[:, None]).argmin(axis=1)]
        _again(problem, fit, q, told, at, near)
    q = _unwound(problem, q, time)
    for _ in range(2):  # where a joint flips over, frames start from the nearest that did not
        turned, beyond = _flipped(q, time)
        if not len(turned):
            break
        if not _again(problem, fit, q, told, turned, beyond):
            break
        q = _unwound(problem, q, time)
    distance = np.linalg.norm(problem.errors(q, fit.theta, fit.d)[0], axis=-1)
    distance = np.where(problem.seen, distance, np.nan)
    q, shown, untold = _gaps(problem, time, q, told)
    used: Any = np.isfinite(distance).any(axis=0)
    units = scales.units(system.bodies)[0]
    if untold and (lost := {n: k for n, k in untold.items() if k < len(time)}):
        warn(
            f"personalize: {name}: markers do not determine {cut(f'{n} in {k} frames' for n, k in lost.items())}: "
            f"NaN where the gap is longer than {LONGEST:g} s",
            RuntimeWarning,
        )
    names = tuple(n for n, there in zip(problem.markers, used, strict=True) if there)
    return Followed(
        Table(time, system.coordinates, shown, units),
        Table(time, names, distance[:, used], ["m"] * len(names)),
        q,
        untold,
    )


def _again(problem: MarkerFit, fit: Fit, q: Array, told: Array, at: Any, near: Any) -> bool:
    """Solve frames `at` again from the poses of others and keep improvements; returns whether there were any."""
    rows = enough(np.arange(len(at)))
    at, near = at[rows], near[rows]
    part = problem.frames(at)
    new, more = part.follow(q[near], fit.theta, fit.d)
    better = part.frame_costs(new, fit.theta, fit.d) < part.frame_costs(q[at], fit.theta, fit.d)
    q[at[better]], told[at[better]] = new[better], more[better]
    return bool(better.any())


def _unwound(problem: MarkerFit, q: Array, time: Array) -> Array:
    """Coordinates (T, nq) without jumps by which bodies stay where they are: by whole turns, and of three angles to
    (a + pi, pi - b, c + pi)."""
    jump = np.abs(np.diff(q, axis=0)) > JUMP * np.diff(time)[:, None]
    mean = problem.system.defaults()[0]
    for b in problem.system.bodies:
        angles = np.flatnonzero([u == "rad" for u in b.mobilizer.units]) + b.q.start
        if b.mobilizer.quaternions or not b.coordinates or not jump[:, angles].any():
            continue
        x, floats, three = q[:, angles], b.parent is not None and b.parent.is_ground, len(angles) == 3
        both = [_continued(x), *([_continued(x, True)] if three else [])]
        for new in sorted(both, key=lambda y: float(np.abs(np.diff(y, axis=0)).max())):
            changed = q.copy()
            changed[:, angles] = _usual(new, q[0, angles] if floats else mean[angles], floats, three)
            if _same_poses(problem, q, changed):
                q = changed
                break
    return q


def _usual(x: Array, usual: Array, floats: bool, three: bool) -> Array:
    """Of angles (T, n) that describe the same rotation those nearest to usual ones, in the first frame or mostly."""
    off = lambda y: (y[0] if floats else np.median(y, axis=0)) - usual
    ways = [
        y - 2 * np.pi * np.round(off(y) / (2 * np.pi)) for y in (x, *([_other_angles(x)] if three else []))
    ]
    return min(ways, key=lambda y: float(np.abs(off(y)).sum()))


def _other_angles(x: Array) -> Array:
    """The three other angles (..., 3) of the same rotation, about three axes at right angles."""
    return np.stack([x[..., 0] + np.pi, np.pi - x[..., 1], x[..., 2] + np.pi], axis=-1)


def _continued(x: Array, other: bool = False) -> Array:
    """Angles (T, n) plus whole turns, or the other angles of the same rotation, each as near as can be to the last."""
    out = x.copy()
    for t in range(1, len(x)):
        ways = [x[t], _other_angles(x[t])] if other else [x[t]]
        ways = [y - 2 * np.pi * np.round((y - out[t - 1]) / (2 * np.pi)) for y in ways]
        out[t] = min(ways, key=lambda y: float(np.abs(y - out[t - 1]).sum()))
    return out


def _same_poses(problem: MarkerFit, q: Array, other: Array) -> bool:
    """Whether bodies are where they are with other coordinates (T, nq), and constraints hold as well."""
    rows, theta = enough(np.flatnonzero((q != other).any(axis=1))), problem.mean
    X, Y = (problem.system.body_poses(x[rows], parameters=problem.given(theta)) for x in (q, other))
    apart = max(np.abs(X.p - Y.p).max(initial=0.0), np.abs(X.R - Y.R).max(initial=0.0))
    if problem.constrained:
        g, h = (problem.constraint(x[rows], theta)[0] for x in (q, other))
        apart = max(apart, np.abs(g - h).max(initial=0.0))
    return bool(apart < SAME)


def pieces(time: Array, q: Array) -> list[slice]:
    """Frames between jumps of the recording: of time, as where frames are cut out, or of a coordinate."""
    dt = np.diff(time)
    ends = (dt > MISSING * np.median(dt)) | (np.abs(np.diff(q, axis=0)) > JUMP * dt[:, None]).any(axis=1)
    edges = [0, *(np.flatnonzero(ends) + 1), len(time)]
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]


def _flipped(q: Array, time: Array) -> tuple[Any, Any]:
    """Frames with another solution than the longest part without jumps, and for each the nearest frame of
    that part. Two solutions of an arm or a foot a full turn apart may fit markers about equally well; where
    jumps cancel, it has flipped back.
    """
    step, dt = np.diff(q, axis=0), np.maximum(np.diff(time), 1e-6)[:, None]
    jump = (np.abs(step) > JUMP * dt).any(axis=1)
    none = np.zeros(0, dtype=int)
    if not jump.any():
        return none, none
    part = np.r_[0, np.cumsum(jump)]
    away = np.concatenate([np.zeros((1, q.shape[1])), np.cumsum(step[jump], axis=0)])
    away = away - away[np.bincount(part).argmax()]
    other: Any = (np.abs(away) > JUMP * float(dt[jump].max())).any(axis=1)[part]
    turned, good = np.flatnonzero(other), np.flatnonzero(~other)
    return turned, good[np.abs(good - turned[:, None]).argmin(axis=1)]


def _gaps(problem: MarkerFit, time: Array, q: Array, told: Array) -> tuple[Array, Array, dict[str, int]]:
    """Coordinates that some frames do not determine, interpolated (T, nq); the same with NaN in long gaps; and
    the number of frames in which each is undetermined. Coordinates that no frame determines keep their
    values."""
    shown, untold = q.copy(), {}
    for j, name in enumerate(problem.system.coordinates):
        bad = told[:, j] > TELLS
        if not bad.any():
            continue
        untold[name] = int(bad.sum())
        if bad.all():
            continue
        q[bad, j] = np.interp(time[bad], time[~bad], q[~bad, j])
        shown[:, j] = q[:, j]
        edges = np.flatnonzero(np.diff(np.r_[0, bad.astype(int), 0]))
        for a, b in zip(edges[::2], edges[1::2], strict=True):
            if a == 0 or b == len(time) or time[min(b, len(time) - 1)] - time[a - 1] > LONGEST:
                shown[a:b, j] = np.nan
    return q, shown, untold


def strays(problem: MarkerFit, fit: Fit, rows: slice) -> list[str]:
    """Markers much farther from the model than skin motion explains."""
    part = problem.frames(rows)
    square = (fit.e[rows] ** 2).sum(axis=-1)
    rms = np.sqrt(square.sum(axis=0) / np.maximum(part.seen.sum(axis=0), 1))
    usual = float(np.median(rms[part.seen.any(axis=0)]))
    far = np.flatnonzero(rms > max(STRAY, 6 * usual))
    return [problem.markers[k] for k in far]


def exchanged(problem: MarkerFit, q: Array, theta: Array, d: Array, rows: slice) -> dict[str, str]:
    """Markers that fit much better under another marker's name: {name in the data: name in the model}.

    All names of a recording are assigned to all markers of the model at once, with the least sum of squares.
    """
    from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

    part = problem.frames(rows)
    _, R, station, _ = part.errors(q[rows], theta, d)
    X = part.system.body_poses(q[rows], parameters=part.given(theta))
    places = X.p[:, part.body] + np.einsum("tmij,mj->tmi", R, station)
    there = np.flatnonzero(part.seen.any(axis=0))
    y = np.where(part.seen[..., None], part.y, np.nan)[:, there]
    square = np.stack([np.nanmean(((y - places[:, [k]]) ** 2).sum(axis=-1), axis=0) for k in there])
    to, of = linear_sum_assignment(square)
    out = {}
    for k, j in zip(to, of, strict=True):
        if k != j and square[j, j] > EXCHANGED**2 and square[k, j] < BETTER**2 * square[j, j]:
            out[problem.markers[there[j]]] = problem.markers[there[k]]
    return out if set(out) == set(out.values()) else {}
