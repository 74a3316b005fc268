"""`cd.fit_spline_surface`: six products of B-splines fitted to measured frames, all at once (lee2008, their
future work).

  X(q) = X exp(e_1 phi_1(q)) ... exp(e_6 phi_6(q)),   phi_j = sum_ab c_jab B_a(q1) B_b(q2)        lee2008 (25)

Each frame has six values phi_j. First each function is fitted to these separately, then all six are fitted
by Gauss-Newton in the metric of SE(3): six_functions.py (1)-(3).

Unknown q_k: the spacing of coordinates on a surface is a choice, so d of the six functions are held fixed.
Without q they are the coordinates themselves, phi_j = q_i; else the affine functions of q that come nearest
to the given q. Each frame then has one nearest q_k, which is found together with the other functions:
six_functions.py (4).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import DescriptionError, warn
from condyle.mobilizers import SplineSurface
from condyle.mobilizers.spline_surface import AXES
from condyle.mobilizers.surface_splines import axes_of
from condyle.native.machine.notice import announced
from condyle.presentation import cut
from condyle.spatial import Metric, Transform, euler_from_rotation
from condyle.studies.joints.measured_frames import FrameData, check_frames
from condyle.studies.joints.result import JointFit
from condyle.studies.joints.six_functions import (
    FunctionsProblem,
    PoseModel,
    Unknowns,
    check_loss,
    continuous,
    weight_of,
)
from condyle.studies.joints.spline_basis import Grid, factored, gram, moment, undetermined, uniform_knots
from condyle.system.checked_arguments import flag

LOCKED = np.deg2rad(80.0)
"""A second angle beyond this is near gimbal lock, where small rotations of M change the other two angles by
much."""
RELATED = 0.5
"""Part of the variance of given q that affine functions of the held functions must explain."""


@with_call_hints(
    {
        "degree": "it is order = degree + 1",
        "weights": "it is metric=, the length that 1 rad counts as",
        "unknown_q": "it is project=True, or leave out q",
        "closed": "fits are open; cd.SplineSurface(values, closed=True) repeats",
    }
)
@announced
def fit_spline_surface(
    frames: FrameData,
    q: ArrayLike | None = None,
    n: int | Sequence[int] = 8,
    *,
    order: int = 4,
    domain: tuple[float, float] | Sequence[tuple[float, float]] | None = None,
    axes: Sequence[str] = AXES,
    X: Transform | ArrayLike | None = None,
    smoothing: float = 0.0,
    metric: Metric | ArrayLike | None = None,
    project: bool = False,
    loss: str = "squares",
    scale: float | None = None,
    coordinates: Sequence[str] = (),
    units: Sequence[str] = (),
) -> JointFit:
    """A `cd.SplineSurface` of one to three coordinates fitted to measured frames.

    Least squares in the metric of SE(3) over all six functions at once. If cells of the grid contain no
    frames, the functions are smoothed, and a warning names the cells.

    Args:
        frames: poses X_FM [m]: `cd.read_frames(path)`, a Transform with leading dimension N, or arrays (R,
            p).
        q: coordinates of each frame, shape (N, d), d = 1, 2 or 3; (N,) for one, frames in any order. Angles
            are continuous in q and may exceed a turn. Default: d of the six functions are the coordinates,
                those of which the others are most nearly functions.
        n: control values per function, for each coordinate or one for all; at least `order`. Without q its
            length is d, and a single number means two coordinates.
        order: of the B-splines; 4 is cubic, 5 or 6 where derivatives of dynamics are used.
        domain: (low, high) of each coordinate, or one for all. Default: those of the frames.
        axes: order of the basis twists, as for SplineSurface.
        X: constant Transform before them, as for SplineSurface.
        smoothing: weight w of w sum int |d2 phi|^2 dq, which is added to the sum of squares of the residuals.
        metric: length [m] equivalent to 1 rad, or a `cd.spatial.Metric`. Default 0.1 m.
        project: use q as an initial value only: each frame is projected to the nearest point of the
            surface, which gives its q. The spacing of q may change: as many functions as there are
            coordinates become affine in q. Always on without q.
        loss: "squares", or "huber", which gives outliers less weight.
        scale: |r| [m] from which the Huber loss is linear; 1.5 times the median of |r_k| by default.
        coordinates: names of the coordinates; default q, or q1, q2, q3.
        units: their units; default "1", without q "m" and "rad".

    Returns:
        fit.mobilizer, .q, .residuals, .worst(), .report(), .plot().

    Raises:
        DescriptionError: too few frames, or none of the functions can be the coordinates.
        ConvergenceError: no step makes the residuals smaller.
    """
    who = "fit_spline_surface"
    check_loss(who, loss, scale)
    project, axes = flag(f"{who}: project", project), axes_of(axes, who)
    sizes: list[Any] = list(n) if isinstance(n, (tuple, list, np.ndarray)) else [n]
    measured = getattr(frames, "q", None) if q is None else q
    d = (
        len(sizes)
        if len(sizes) > 1
        else 2
        if measured is None
        else 1
        if np.ndim(measured) == 1
        else np.shape(measured)[1]
    )
    if d not in (1, 2, 3):
        raise DescriptionError(f"{who}: a surface has one to three coordinates, got {d}")
    sizes = sizes * d if len(sizes) == 1 else sizes
    if not all(isinstance(k, (int, np.integer)) and k >= order >= 4 for k in sizes):
        raise DescriptionError(
            f"{who}: n must be at least order for each of {d} coordinates, and order at "
            f"least 4, got n = {n!r}, order = {order!r}"
        )
    given = check_frames(who, frames, q, fewest=order**d, coordinates=d)
    metric = Metric.of(metric, f"{who}: metric")
    before = Transform.of(X, f"{who}: X")
    data = before.inverse() @ given.X
    q_start = None if given.q is None else given.q.reshape(len(given), d)
    phi = values_of(data, axes, q_start)
    _check_lock(who, phi, axes)
    angular = np.array([a[0] == "r" for a in axes])
    twists = np.stack([basis_twist(a) for a in axes])
    weights = np.einsum("ji,ik,jk->j", twists, metric.matrix, twists)
    held: tuple[int, ...] = ()
    if q_start is None or project:
        held = _independent(who, phi, np.sqrt(weights), d)
        affine = (
            np.vstack([np.eye(d), np.zeros(d)]) if q_start is None else _affine(who, phi[:, held], q_start)
        )
        q_start = phi[:, held] @ affine[:d] + affine[d]
        units = units or (tuple("rad" if angular[j] else "m" for j in held) if given.q is None else ())
    grid = Grid(
        tuple(
            uniform_knots(int(k), order, pair)
            for pair, k in zip(_domain(who, domain, q_start), sizes, strict=True)
        ),
        order,
    )
    if not held:
        _check_inside(who, grid, q_start)
    q_start = np.clip(q_start, *np.array(grid.domain).T)
    weight, cells = undetermined(grid, q_start, weight_of(who, smoothing), who)
    notes = [f"{' x '.join(map(str, grid.shape))} control values per function, order {order}"]
    if cells:
        text = (
            f"the frames do not determine {len(cells)} of {math.prod(len(x) - 1 for x in grid.cells)} "
            f"cells of q, {cut(cells, 3)}; smoothed with weight {weight:.2g}"
        )
        warn(f"{who}: {text}: take fewer control values (n = {n}), more frames, or another domain")
        notes.append(text)
    c = each_by_itself(grid, q_start, phi, weight)
    if held:
        c[:, held] = (grid.greville() - affine[d]) @ np.linalg.inv(affine[:d])
        notes.append(
            "q found; "
            + ("they are " if given.q is None else "affine functions of them are ")
            + ", ".join(axes[j] for j in held)
        )
    model = PoseModel(
        lambda phi, _: (*pose(phi, axes), np.zeros((len(phi), 6, 0))),
        tuple(j for j in range(6) if j not in held),
        weights,
    )
    problem = FunctionsProblem(who, grid, model, data, metric.root, bool(held), weight, clip=True)
    found, more, status = problem.solve(Unknowns(c, q_start), loss, scale)
    notes += more
    mobilizer = SplineSurface(
        np.moveaxis(found.c.reshape(*grid.shape, 6), -1, 0),
        grid.knots,
        order,
        axes=axes,
        X=before,
        coordinates=coordinates or None,
        units=units,
    )
    fitted = before @ pose(grid.evaluate(found.q, found.c), axes)[0]
    return JointFit.of(
        mobilizer,
        given,
        found.q if d > 1 else found.q[:, 0],
        fitted,
        metric,
        status=status,
        notes=tuple(notes),
    )


# ---- Six values and a pose ---------------------------------------------------------------------------------


def basis_twist(axis: str) -> Array:
    """The twist of "tx" .. "rz", angular part first, shape (6,)."""
    return np.eye(6)["xyz".index(axis[1]) + (0 if axis[0] == "r" else 3)]


def pose(phi: Array, axes: Sequence[str]) -> tuple[Transform, Array]:
    """exp(e_1 phi_1) ... exp(e_6 phi_6) of phi (N, 6), and its twist per phi_j in M, shape (N, 6, 6)."""
    R, p = np.broadcast_to(np.eye(3), (len(phi), 3, 3)), np.zeros((len(phi), 3))
    S = np.empty((len(phi), 6, 6))
    for j in reversed(range(6)):  # R, p: product of the factors after function j
        w, v = np.split(basis_twist(axes[j]), 2)
        S[:, :3, j], S[:, 3:, j] = w @ R, np.einsum("ki,kij->kj", v + np.cross(w, p), R)
        if w.any():
            E = turned("xyz".index(axes[j][1]), phi[:, j])
            R, p = E @ R, np.einsum("kij,kj->ki", E, p)
        else:
            p = p + phi[:, j : j + 1] * v
    return Transform.unchecked(np.ascontiguousarray(R), p), S


def turned(axis: int, angle: Array) -> Array:
    """Rotations about x, y or z (0, 1, 2), shape (N, 3, 3)."""
    R = np.zeros((len(angle), 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[:, axis, axis] = 1.0
    R[:, i, i] = R[:, j, j] = np.cos(angle)
    R[:, j, i] = np.sin(angle)
    R[:, i, j] = -R[:, j, i]
    return R


def values_of(data: Transform, axes: Sequence[str], q: Array | None = None) -> Array:
    """phi that gives each frame, continuous along q (N, d) if it is known, shape (N, 6)."""
    turns = [j for j in range(6) if axes[j][0] == "r"]
    angles = euler_from_rotation(data.R, "".join(axes[j][1] for j in turns))
    phi = np.zeros((len(data.p), 6))
    phi[:, turns] = continuous(angles, q)
    R, columns = np.broadcast_to(np.eye(3), data.R.shape), {}
    # p = sum of translations, each rotated by the factors before it
    for j in range(6):
        if j in turns:
            R = R @ turned("xyz".index(axes[j][1]), phi[:, j])
        else:
            columns[j] = R[:, :, "xyz".index(axes[j][1])]
    A = np.stack(list(columns.values()), axis=2)
    phi[:, list(columns)] = np.linalg.solve(A, data.p[:, :, None])[:, :, 0]
    return phi


def each_by_itself(grid: Grid, q: Array, phi: Array, smoothing: float) -> Array:
    """Coefficients (size, 6) of separate least-squares fits of each function."""
    index, value = grid.active(q)
    A = gram(grid, index, value, np.ones((len(q), 1, 1)))
    K = grid.roughness()
    ridge = smoothing if smoothing else 1e-14 * A.diagonal().sum() / K.diagonal().sum()
    return np.asarray(factored(A + ridge * K).solve(moment(grid, index, value, phi)))


# ---- Which functions are held ------------------------------------------------------------------------------


def _independent(who: str, phi: Array, scale: Array, d: int) -> tuple[int, ...]:
    """The d functions of which the others are most nearly functions, as cubic polynomials, in the metric."""
    x = (phi - phi.mean(axis=0)) * scale
    size = np.sqrt((x * x).sum(axis=1).mean())
    best = np.inf
    found: tuple[int, ...] = ()
    for which in itertools.combinations(range(6), d):
        span = np.ptp(x[:, which], axis=0)
        if span.min() < 0.02 * size:
            continue
        z = x[:, which] / span
        powers = [
            np.prod(z ** np.array(e), axis=1) for e in itertools.product(range(4), repeat=d) if sum(e) <= 3
        ]
        A = np.stack(powers, axis=1)
        left = x - A @ np.linalg.lstsq(A, x, rcond=1e-10)[0]
        others = [j for j in range(6) if j not in which]
        # Relative to the motion of the held functions, since little motion of these would amplify the
        # residuals.
        error = math.sqrt((left[:, others] ** 2).sum(axis=1).mean()) / span.min()
        if error < best:
            best, found = error, which
    if not found:
        raise DescriptionError(
            f"{who}: fewer than {d} of the six functions move, so they cannot be the {d} "
            "coordinates; take fewer, or give q"
        )
    return found


def _affine(who: str, x: Array, q: Array) -> Array:
    """A (d + 1, d) of q = [x, 1] A by least squares."""
    A: Array = np.asarray(np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), q, rcond=None)[0], float)
    left = q - x @ A[:-1] - A[-1]
    if (
        not (left.var(axis=0) < (1 - RELATED) * q.var(axis=0)).all()
        or np.linalg.cond(A[:-1] * x.std(axis=0)[:, None]) > 1e3
    ):
        raise DescriptionError(
            f"{who}: the given q has little to do with the frames; do they belong "
            "together? Without q the fit finds coordinates by itself"
        )
    return A


# ---- Checks ------------------------------------------------------------------------------------------------


def _check_lock(who: str, phi: Array, axes: Sequence[str]) -> None:
    turns = [j for j in range(6) if axes[j][0] == "r"]
    second = np.abs(np.mod(phi[:, turns[1]] + np.pi, 2 * np.pi) - np.pi)
    if second.max() > LOCKED:
        k = int(second.argmax())
        warn(
            f"{who}: at frame {k} the second angle, {axes[turns[1]]}, is "
            f"{np.degrees(second[k]):.0f} deg: near gimbal lock at 90. Take another order of axes, "
            "or X = cd.Transform(R of a frame in the middle)"
        )


def _domain(who: str, domain: Any, q: Array) -> list[tuple[float, float]]:
    if domain is None:
        return [(float(x.min()), float(x.max())) for x in q.T]
    try:
        pairs = np.broadcast_to(np.array(domain, dtype=float), (q.shape[1], 2))
    except (TypeError, ValueError):
        pairs = np.full((1, 2), np.nan)
    if not (np.isfinite(pairs).all() and (pairs[:, 0] < pairs[:, 1]).all()):
        raise DescriptionError(
            f"{who}: domain: expected (low, high) with low < high, or {q.shape[1]} of them, got {domain!r}"
        )
    return [(float(low), float(high)) for low, high in pairs]


def _check_inside(who: str, grid: Grid, q: Array) -> None:
    for i, (low, high) in enumerate(grid.domain):
        margin = 1e-9 * (high - low)
        out = (q[:, i] < low - margin) | (q[:, i] > high + margin)
        if out.any():
            k = int(out.argmax())
            raise DescriptionError(
                f"{who}: frame {k} has q[{i}] = {q[k, i]:g}, outside of the domain from "
                f"{low:g} to {high:g}; widen it, or leave such frames out"
            )
