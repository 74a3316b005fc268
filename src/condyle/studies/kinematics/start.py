"""The start of inverse kinematics: a pose from which the search of the first frame does not end upside down.

The search is local. A subject that walks in the opposite direction, or lies on the floor, is up to half a
turn away from the default pose, and a frame may end in a wrong minimum. The rotation that brings all
markers of a tree of bodies in a pose nearest to their measured positions is known in closed form (Kabsch
1976): with centroids subtracted, and the three axes of each sensor as three more points,

    U S V' = sum_m w_m x_m y_m',     R = V diag(1, 1, det(V U')) U'                                        (1)

rotates x to y. So if the first frame fits badly, the pose moved by R as a whole is another start, and so is
the solution without whole turns of angles. If these fail, the pose is rotated by half a turn about each
axis, and some random starts follow. The least cost wins.

If the vertical axes of data and model differ, a free pelvis still follows the markers without an error, and
gravity acts sideways: `lies_along` finds the axis for a warning.
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
"""Number of random starts."""
SPREAD = 0.6
"""Distance of random starts from the given pose [rad, m]."""
WILD = 2.0
"""An angle farther than this from the start [rad] may be in a wrong minimum."""
FEWEST = 3
"""Smallest number of markers for a rotation."""

MISSED, WORSE, BEST = 0.03, 2.0, 0.1
"""A frame fits badly if its error [m, rad] is larger than this, and this many times that of the best
tenth."""

Solve = Callable[[Tasks, State, slice], Frames]
SolveEach = Callable[[Tasks, NDArray[np.intp], Array], Frames]
"""A function that solves tasks in some frames, each from its own pose (k, nq)."""


def far(state: State, cost: float) -> bool:
    """Whether the mean square error of markers or sensors is large."""
    size = reach(state.system)
    return not 2 * cost <= (FAR * min(size or 1.0, 1.0)) ** 2


def better_start(state: State, tasks: Tasks, found: Frames, solve: Solve) -> State | None:
    """A pose that fits the first measured frame better than the solution, if that fits badly; or equally
    well with angles nearer to the start, if these have changed by much.

    Args:
        state: the state from which the frames were solved.
        tasks: the tasks to follow.
        found: the solution in all frames.
        solve: function that solves tasks in some frames, starting from a state.
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
    """The frames, numbers `rows` of the tasks, improved. Frames that fit far worse than others may have
    followed a bad frame into a wrong minimum: they are solved again with the joints of the nearest good
    frame, and the lower cost wins."""
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
            q[:, body.q] = frames.q[at][:, body.q]  # position and orientation of the root
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
    """The largest change of an angle between bodies from a state [rad]; the first body of a tree may have
    any orientation."""
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
    """Less likely initial poses."""
    for axis in np.eye(3):
        yield aligned(state, tasks, i, exp_so3(np.pi * axis))
    rng, system, moved = np.random.default_rng(0), state.system, aligned(state, tasks, i)
    for _ in range(CHANCES):
        u = np.where(system.compiled.tails.held(state.tail), 0.0, rng.uniform(-SPREAD, SPREAD, system.nu))
        yield moved.replace(q=system.compiled.normalized(moved.q + moved.replace(u=u).qdot))


def aligned(state: State, tasks: Tasks, i: int, turn: Array | None = None) -> State:
    """The pose moved as a whole so that its markers and sensors come nearest to those of a frame; trees
    with fewer than three visible markers and no sensor are unchanged.

    Args:
        turn: a further rotation about the centroid.
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
    """The motion of the tree of a body as a whole, if enough of it was measured."""
    axes, points = np.zeros((3, 3)), 0
    x = y = np.zeros((1, 3))
    w = np.zeros(1)
    if tasks.sensors is not None:
        mine = _of(tasks.system, tasks.sensors.bodies, root) & (tasks.sensors.weights[i] > 0)
        here, there = tasks.sensors.places(at)[0, mine], tasks.sensors.R_GS[i, mine]
        axes = np.einsum("k,kij,klj->il", tasks.sensors.weights[i, mine], here, there)
        points += FEWEST * int(mine.sum())
        x = y = at.station_position(root.name, np.zeros(3))  # it rotates in place
    if tasks.markers is not None:
        mine = _of(tasks.system, tasks.markers.bodies, root) & (tasks.markers.weights[i] > 0)
        points += int(mine.sum())
        if mine.any():
            x, y = tasks.markers.places(at)[0, mine], tasks.markers.positions[i, mine]
            w = tasks.markers.weights[i, mine] / tasks.markers.weights[i, mine].sum()
    return rigid_move(x, y, w, axes, turn) if points >= FEWEST else None


MANY = 5
"""Number of markers of one tree that determine its orientation reliably."""


def whole_rotations(state: State, tasks: Tasks, rows: Sequence[int]) -> Array:
    """Rotations of the tree with most markers as a whole from a pose to some frames, if it can rotate: R of
    the frames with enough markers, shape (k, 3, 3)."""
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
    """The Transform that brings points x (n, 3) nearest to y (n, 3), with weights w (n,): (1).

    Args:
        axes: sum of products for directions, which only rotate; it is added to that of the points.
        turn: a further rotation about the centroid.
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
    """The bodies among `bodies` that belong to the tree of a root."""
    return np.array([_root(system.body(name)) is root for name in bodies])


def _root(body: Body) -> Body | None:
    """The first body of its tree, next to ground."""
    if body.is_ground:
        return None
    while body.parent is not None and not body.parent.is_ground:
        body = body.parent
    return body


SOME = 7
"""Number of frames that are compared with the start."""
NEAR = np.cos(np.radians(12.0))
"""A standing subject is within 12 degrees of the axis that points up."""


def lies_along(state: State, tasks: Tasks) -> str:
    """The axis of the data, such as "z", to which the up direction of a pose is rotated in most frames;
    empty if it remains up, is not along an axis, or is not known."""
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
