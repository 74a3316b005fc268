"""Where inverse kinematics starts: a pose from which the search of the first frame does not end upside down.

The search is local. From the default pose, a subject that walks the other way, or lies on the floor, is half
a turn away, and a frame may end in a wrong minimum. The rotation that takes all markers of a tree of bodies
from where they are in a pose nearest to where they were measured is known in closed form (Kabsch 1976): with
the centroids taken away, and the three axes of each sensor as three more points,

    U S V' = sum_m w_m x_m y_m',     R = V diag(1, 1, det(V U')) U'                                        (1)

takes x to y. So if markers or sensors of the first frame are missed by far, that pose moved by R as a whole
is another start; so is what was found, without whole turns of angles. If that leads nowhere, the pose is
turned by half a turn about each axis, and some starts by chance follow. The least cost wins.

Markers whose data has another vertical axis than the model are followed by a free pelvis without an error, and
gravity comes from the side: `lies_along` finds that axis for a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array, distinct, middle
from condyle.errors import CondyleError
from condyle.fit.configurations import Configurations
from condyle.fit.frames import Frames
from condyle.fit.layout import INFO, VIOLATED
from condyle.fit.missed_goals import FAR, GAIN, reach
from condyle.spatial import Transform, exp_so3
from condyle.studies.kinematics.tasks import Tasks
from condyle.system.state import State
from condyle.system.system import System
from condyle.tree import scales
from condyle.tree.body import Body

CHANCES = 8
"""Starts by chance."""
SPREAD = 0.6
"""How far from the given pose these are [rad, m]."""
WILD = 2.0
"""An angle that is farther than this from the start [rad] may have taken a wrong way."""
FEWEST = 3
"""Markers that a rotation needs."""

MISSED, WORSE, BEST = 0.03, 2.0, 0.1
"""A frame fits badly if its error [m, rad] is larger than this, and so many times that of the best tenth."""

Solve = Callable[[Tasks, State, slice], Frames]
SolveEach = Callable[[Tasks, NDArray[np.intp], Array], Frames]
"""Runs tasks over some frames, each from a pose of its own (k, nq)."""


def far(state: State, cost: float) -> bool:
    """Whether markers or sensors are missed by far, in the mean of their squares."""
    size = reach(state.system)
    return not 2 * cost <= (FAR * min(size or 1.0, 1.0)) ** 2


def better_start(state: State, tasks: Tasks, found: Frames, solve: Solve) -> State | None:
    """A pose that fits the first measured frame better than what was found there, if that is far from it; or
    as well, with angles nearer to the start, if these have turned wildly.

    Args:
        state: from which it was found.
        tasks: to follow.
        found: all frames.
        solve: runs tasks from a state over some frames.
    """
    measured = np.flatnonzero(tasks.measured[: len(found)])
    if not measured.size:
        return None
    i, best = int(measured[0]), None
    state = state.replace(t=float(tasks.t[i]))
    least = float(found.info[i, INFO.index("cost")]) if found.info[i, 0] != VIOLATED else np.inf
    turned = _turned(state, found.q[i])
    likely, others = _likely(state, tasks, i, found.q[i]), _others(state, tasks, i)
    while True:
        start = next(likely, None) if far(state, least) or turned > WILD else None
        if start is None and far(state, least):
            start = next(others, None)
        if start is None:
            return best
        with warnings.catch_warnings(action="ignore"):  # the run over all frames repeats them
            tried = solve(tasks, start, slice(i, i + 1))
        cost, turn = float(tried.info[0, INFO.index("cost")]), _turned(state, tried.q[0])
        lower = cost < (GAIN * least if least < np.inf else np.inf)
        if tried.info[0, 0] != VIOLATED and (lower or (GAIN * cost <= least and turn < turned - SPREAD)):
            best, least, turned = state.replace(q=tried.q[0]), cost, turn


def solved_again(frames: Frames, tasks: Tasks, rows: NDArray[np.intp], solve_each: SolveEach) -> Frames:
    """The same frames, the numbers `rows` of the tasks. Those that fit far worse than others may have
    followed a bad frame to a wrong place: they are solved again with the joints of the nearest good frame,
    and the lower cost wins."""
    cost = frames.info[:, INFO.index("cost")]
    error = np.sqrt(2 * np.maximum(np.nan_to_num(cost, nan=np.inf), 0.0))
    best = np.sort(error)[int(BEST * (len(error) - 1))]
    worse = error > max(MISSED, WORSE * float(best))
    if not worse.any():
        return frames
    good = np.flatnonzero(~worse)
    at = np.flatnonzero(worse)
    q = frames.q[good[np.abs(good - at[:, None]).argmin(axis=1)]]
    for body in frames.system.bodies:
        if body.parent is None or body.parent.is_ground:
            q[:, body.q] = frames.q[at][:, body.q]  # where it is and looks
    with warnings.catch_warnings(action="ignore"):
        found = solve_each(tasks, rows[at], q)
    better = found.info[:, INFO.index("cost")] < GAIN * cost[at[: len(found)]]
    if not better.any():
        return frames
    q, info = frames.q.copy(), frames.info.copy()
    chosen = at[: len(found)][better]
    q[chosen], info[chosen] = found.q[better], found.info[better]
    q.flags.writeable = info.flags.writeable = False
    return replace(frames, q=q, info=info)


def _turned(state: State, q: Array) -> float:
    """The largest change of an angle from a state [rad], between bodies: the first of a tree may look
    anywhere."""
    between = state.system.compiled.remembered("angles between bodies", lambda: _between(state.system))
    return float(np.abs(q - state.q)[between].max(initial=0.0))


def _between(system: System) -> NDArray[np.bool_]:
    """Which coordinates are angles between bodies; all angles, if none is."""
    inner = np.zeros(system.nq, dtype=bool)
    for body in system.bodies:
        inner[body.q] = body.parent is not None and not body.parent.is_ground
    angles = _angles(system)
    return angles & inner if (angles & inner).any() else angles


def _angles(system: System) -> NDArray[np.bool_]:
    """Which coordinates are angles."""
    return np.array([unit == "rad" for unit in scales.units(system.bodies)[0]], dtype=bool)


def _likely(state: State, tasks: Tasks, i: int, q: Array) -> Iterator[State]:
    """The pose moved as a whole, and the solution without whole turns."""
    yield aligned(state, tasks, i)
    turns = 2 * np.pi * np.round((q - state.q) / (2 * np.pi))
    yield state.replace(q=np.where(_angles(state.system), q - turns, q))


def _others(state: State, tasks: Tasks, i: int) -> Iterator[State]:
    """Poses that are less likely."""
    for axis in np.eye(3):
        yield aligned(state, tasks, i, exp_so3(np.pi * axis))
    rng, system, moved = np.random.default_rng(0), state.system, aligned(state, tasks, i)
    for _ in range(CHANCES):
        u = np.where(system.compiled.tails.held(state.tail), 0.0, rng.uniform(-SPREAD, SPREAD, system.nu))
        yield moved.replace(q=system.compiled.normalized(moved.q + moved.replace(u=u).qdot))


def aligned(state: State, tasks: Tasks, i: int, turn: Array | None = None) -> State:
    """The pose moved as a whole so that its markers and sensors come nearest to those of a frame; trees with
    fewer than three seen markers and no sensor are unchanged.

    Args:
        turn: a rotation about the centroid that follows.
    """
    system, out = state.system, state
    at = Configurations(system, state.q[None], state.tail[None])
    for root in system.bodies:
        first = root.parent is not None and root.parent.is_ground
        X = _move(tasks, i, at, root, turn) if first and root.mobilizer.nu and root.motion is None else None
        if X is None:
            continue
        try:
            out = out.fit_q(root, X @ state.body_pose(root))[0]
        except CondyleError:
            continue
    held = system.compiled.tails.held(state.tail)
    fixed = np.zeros(system.nq, dtype=bool)
    for body in system.bodies:
        if held[body.u].any():
            fixed[body.q] = True
    return out.replace(q=np.where(fixed, state.q, out.q))


def _move(tasks: Tasks, i: int, at: Configurations, root: Body, turn: Array | None) -> Transform | None:
    """How the tree of a body moves as a whole, if enough of it was measured."""
    axes, points = np.zeros((3, 3)), 0
    x = y = np.zeros((1, 3))
    w = np.zeros(1)
    if tasks.sensors is not None:
        mine = _of(tasks.system, tasks.sensors.bodies, root) & (tasks.sensors.weights[i] > 0)
        here, there = tasks.sensors.places(at)[0, mine], tasks.sensors.R_GS[i, mine]
        axes = np.einsum("k,kij,klj->il", tasks.sensors.weights[i, mine], here, there)
        points += FEWEST * int(mine.sum())
        x = y = at.station_position(root.name, np.zeros(3))  # it turns where it is
    if tasks.markers is not None:
        mine = _of(tasks.system, tasks.markers.bodies, root) & (tasks.markers.weights[i] > 0)
        points += int(mine.sum())
        if mine.any():
            x, y = tasks.markers.places(at)[0, mine], tasks.markers.positions[i, mine]
            w = tasks.markers.weights[i, mine] / tasks.markers.weights[i, mine].sum()
    return rigid_move(x, y, w, axes, turn) if points >= FEWEST else None


MANY = 5
"""Markers of one tree from which it is known how it lies."""


def whole_rotations(state: State, tasks: Tasks, rows: Sequence[int]) -> Array:
    """How the tree with most markers turns as a whole from a pose to some frames, if it is free to: R of
    those with enough markers, shape (k, 3, 3)."""
    assert tasks.markers is not None
    roots = [_root(state.system.body(name)) for name in tasks.markers.bodies]
    free = [root for root in roots if root is not None and root.mobilizer.nu == 6]
    if len(free) < MANY:
        return np.zeros((0, 3, 3))
    most = max(dict.fromkeys(free), key=free.count)
    x = tasks.markers.places(Configurations(state.system, state.q[None], state.tail[None]))[0]
    w = np.where([root is most for root in roots], tasks.markers.weights[rows], 0.0)
    y = tasks.markers.positions[rows]
    enough = (w > 0).sum(axis=1) >= MANY
    return _rotation(x, np.where(w[..., None] > 0, y, 0.0)[enough], w[enough])[0]


def rigid_move(
    x: Array, y: Array, w: Array, axes: Array | float = 0.0, turn: Array | None = None
) -> Transform:
    """The Transform that takes points x (n, 3) nearest to y (n, 3), with weights w (n,): (1).

    Args:
        axes: sum of products of directions that are turned only, added to that of the points.
        turn: a rotation about the centroid that follows.
    """
    R, x0, y0 = _rotation(x, y, w, axes)
    R = R if turn is None else turn @ R
    return Transform(R, y0 - R @ x0)


def _rotation(x: Array, y: Array, w: Array, axes: Array | float = 0.0) -> tuple[Array, Array, Array]:
    """R of (1) and both centroids, for points x (n, 3), y (..., n, 3) and weights w (..., n)."""
    total = w.sum(axis=-1, keepdims=True)
    share = np.where(total > 0, w / np.where(total > 0, total, 1.0), 1.0 / max(w.shape[-1], 1))
    x0, y0 = share @ x, (share[..., None, :] @ y)[..., 0, :]
    a, b = x - x0[..., None, :], w[..., None] * (y - y0[..., None, :])
    U, _, Vt = np.linalg.svd(np.swapaxes(a, -1, -2) @ b + axes)
    V = np.swapaxes(Vt, -1, -2).copy()
    V[..., 2] *= np.linalg.det(V @ np.swapaxes(U, -1, -2))[..., None]
    return V @ np.swapaxes(U, -1, -2), x0, y0


def _of(system: System, bodies: Sequence[str], root: Body) -> NDArray[np.bool_]:
    """Which of some bodies belong to the tree of a root."""
    return np.array([_root(system.body(name)) is root for name in bodies])


def _root(body: Body) -> Body | None:
    """The first body of its tree, next to ground."""
    if body.is_ground:
        return None
    while body.parent is not None and not body.parent.is_ground:
        body = body.parent
    return body


SOME = 7
"""Frames that are compared with the start."""
NEAR = np.cos(np.radians(12.0))
"""A standing subject is within 12 degrees of the axis that points up."""


def lies_along(state: State, tasks: Tasks) -> str:
    """The axis of the data, such as "z", along which what points up in a pose lies in most frames; empty if
    that is up, or no axis, or if it is not known."""
    gravity = getattr(state.system.force("gravity"), "acceleration", None)
    if tasks.markers is None or not isinstance(gravity, tuple) or not np.any(gravity):
        return ""
    up = -np.array(gravity) / np.linalg.norm(gravity)
    some = distinct(np.linspace(0, len(tasks.t) - 1, SOME).astype(int)).tolist()
    turned = whole_rotations(state, tasks, some) @ up
    if not len(turned):
        return ""
    along = middle(turned)
    k = int(np.argmax(np.abs(along)))
    if abs(along[k]) < NEAR or along @ up > NEAR:
        return ""
    return "-" * bool(along[k] < 0) + "xyz"[k]
