"""Coordinates and speeds of one mobilizer that come nearest to a pose or a velocity.

  e(q) = [log(R R(q)');  p - p(q)],    least |e|^2:  e' H N^-1 = 0,    1 rad counts as 1 m                 (1)
  (H' H + d diag(H' H)) du = H' e,     q <- q + N du,  quaternions normalized                              (2)

(2) is Newton's step without damping d where the pose can be reached: for Pin, Slider, Screw, Cylinder,
Planar, Translation, Ball and Free, whose H is that of one screw motion or has all directions, one step ends
there. The damping is Marquardt's: ten times less after a step that comes nearer, ten times more after one
that does not, which is not taken. A coordinate at an end of its domain stays there while (2) points outwards.
Speeds are linear: one solve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from condyle.arrays import Array
from condyle.spatial import log_so3

STEPS = 60
"""Of (2) from one start."""
SMALLEST = 1e-14
"""A step that is no longer [rad, m] is the last."""
REACHED = 1e-9
"""[rad, m] within which a pose is reached, so that no other start is tried."""

RUNS = 8
"""Starts beside the first from which (2) is run: those that are nearest to the pose."""

Reached = Callable[[Array], tuple[Array, Array, Array]]
"""From coordinates: R (3, 3), p (3,) [m] and the hinge matrix H (6, nu), angular rows first, in the same
frame."""


class CoordinateBounds(NamedTuple):
    """Where a coordinate begins and ends, and the speed that is its rate."""

    speed: int
    coordinate: int
    low: float
    high: float


def fit_pose(
    at: Reached,
    move: Callable[[Array, Array], Array],
    starts: Iterable[Array],
    R: Array,
    p: Array,
    bounds: Sequence[CoordinateBounds] = (),
) -> tuple[Array, Array]:
    """The q nearest to a pose (1), and what is left: angle [rad] and distance [m], shape (2,).

    Args:
        move: q, du -> q + N du with unit quaternions.
        starts: where to start from; others than the first only where the pose is not reached from it, and
            kept only where they come nearer.
        bounds: of coordinates that do not leave their domains.
    """
    given = iter(starts)
    q, e = _from(at, move, next(given), R, p, bounds)
    cost = float(e @ e)
    if cost < REACHED**2:
        return q, _sizes(e)
    others = [_within(start, bounds) for start in given]
    far = [float(x @ x) for x in (_error(at, start, R, p)[0] for start in others)]
    for k in np.argsort(far, kind="stable")[:RUNS]:
        there, left = _from(at, move, others[k], R, p, bounds)
        new = float(left @ left)
        if new < cost - REACHED**2 - 1e-6 * cost:
            q, e, cost = there, left, new
        if cost < REACHED**2:
            break
    return q, _sizes(e)


def _from(
    at: Reached,
    move: Callable[[Array, Array], Array],
    q: Array,
    R: Array,
    p: Array,
    bounds: Sequence[CoordinateBounds],
) -> tuple[Array, Array]:
    """(2) from one start: q and e."""
    q = _within(q, bounds)
    damping, (e, H) = 0.0, _error(at, q, R, p)
    for _ in range(STEPS):
        du = _step(H, e, damping)
        out = [
            bound.speed
            for bound in bounds
            if (q[bound.coordinate] <= bound.low and du[bound.speed] < 0)
            or (q[bound.coordinate] >= bound.high and du[bound.speed] > 0)
        ]
        if out:
            free = np.delete(np.arange(len(du)), out)
            du = np.zeros(len(du))
            du[free] = _step(H[:, free], e, damping)
        if not np.abs(du).max(initial=0.0) > SMALLEST:
            break
        there = _within(move(q, du), bounds)
        new, new_H = _error(at, there, R, p)
        if new @ new < e @ e:
            q, e, H, damping = there, new, new_H, damping / 10 if damping > 1e-6 else 0.0
        elif damping > 1e8:
            break
        else:
            damping = max(10 * damping, 1e-4)
    return q, e


def _step(H: Array, e: Array, damping: float) -> Array:
    """du of (2)."""
    square = np.diag(H.T @ H)
    return np.asarray(
        np.linalg.lstsq(
            np.concatenate([H, np.diag(np.sqrt(damping * square))]),
            np.concatenate([e, np.zeros(len(square))]),
            rcond=1e-12,
        )[0]
    )


def _within(q: Array, bounds: Sequence[CoordinateBounds]) -> Array:
    """q with coordinates that left their domains at the ends of these."""
    out = np.array(q, dtype=float)
    for bound in bounds:
        out[bound.coordinate] = min(max(out[bound.coordinate], bound.low), bound.high)
    return out


def _error(at: Reached, q: Array, R: Array, p: Array) -> tuple[Array, Array]:
    """e of (1), and H."""
    R_q, p_q, H = at(q)
    return np.concatenate([np.asarray(log_so3(R @ R_q.T)).ravel(), p - p_q]), H


def _sizes(e: Array) -> Array:
    """Sizes of the angular and of the linear half."""
    return np.array([np.linalg.norm(e[:3]), np.linalg.norm(e[3:])])


def fit_velocity(H: Array, V: Array) -> tuple[Array, Array]:
    """u of least |V - H u|^2, the shortest if several are, and what is left [rad/s, m/s], shape (2,)."""
    u = np.asarray(np.linalg.lstsq(H, V, rcond=1e-12)[0], float)
    return u, _sizes(V - H @ u)
