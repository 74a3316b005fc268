"""Surfaces through measured points: control values of positions, and of angles along the surface normal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from condyle.arrays import Array, real
from condyle.errors import DescriptionError, warn
from condyle.mobilizers.grids import Direction, grid_values
from condyle.mobilizers.surface_arguments import domains_of, flags_of
from condyle.spatial import euler_from_rotation

HALVINGS = 4
"""How often the intervals between knots are halved at most, to bring M's z axis near the normal."""
STEEP = 0.9
"""Largest x component of a normal for which X is no rotation: 64 degrees; at 90 the angles would lock."""


class Through(NamedTuple):
    """Knots, control values (6, n1, n2) and the rotation before them."""

    knots: list[Array]
    values: Array
    R: Array


def sites_and_knots(
    given: Any, n: int, order: int, closed: bool, domain: tuple[float, float], what: str
) -> tuple[Array, Array]:
    """Where along a coordinate the points are, and knots for splines through them: averages of the sites; of
    a closed direction the sites, or, if the order is odd, the middles between them."""
    if n < order:
        raise DescriptionError(f"{what}: {n} points are too few, order {order} needs at least {order}")
    if given is None:
        sites = np.linspace(*domain, n + 1 if closed else n)
    else:
        sites = real(f"{what}: q", given)
        if sites.shape != (n + closed,):
            more = ", and the end of the period after them" if closed else ""
            raise DescriptionError(
                f"{what}: q: expected {n + closed} numbers, one per point{more}, got shape {sites.shape}"
            )
        if not (np.isfinite(sites).all() and (np.diff(sites) > 0).all()):
            raise DescriptionError(f"{what}: q must be finite and increase from point to point, got {sites}")
    if closed:
        before = np.append(sites[-2] - (sites[-1] - sites[0]), sites[:-1])
        return sites[:-1], sites if order % 2 == 0 else 0.5 * (before + sites)  # site j is after knot j
    inner = [sites[i + 1 : i + order].mean() for i in range(n - order)]
    return sites, np.concatenate([sites[:1].repeat(order), inner, sites[-1:].repeat(order)])


def through(
    points: Any, orientation: Any, q: Any, order: int, domain: Any, closed: Any, within: float, what: str
) -> Through:
    """A surface through points (n1, n2, 3), M's z axis along its normal, or turned as given (n1, n2, 3,
    3)."""
    p = real(f"{what}: points", points)
    if p.ndim != 3 or p.shape[2] != 3:
        raise DescriptionError(f"{what}: points: expected shape (n1, n2, 3), places on a grid, got {p.shape}")
    if not np.isfinite(p).all():
        raise DescriptionError(
            f"{what}: points[{', '.join(map(str, np.argwhere(~np.isfinite(p))[0]))}] is not finite"
        )
    shut, ends = flags_of(closed, 2, f"{what}: closed"), domains_of(domain, 2, what)
    q = (None, None) if q is None else tuple(q)
    if len(q) != 2:
        raise DescriptionError(f"{what}: q: expected two sequences, one per coordinate, got {len(q)}")
    both = [
        sites_and_knots(q[d], p.shape[d], order, shut[d], ends[d], f"{what}: direction {d + 1}")
        for d in (0, 1)
    ]
    sites = [site for site, _ in both]
    ways = [Direction(knots, order, shut[d]) for d, (_, knots) in enumerate(both)]
    positions = interpolated(np.moveaxis(p, 2, 0), ways, sites)
    if not isinstance(orientation, str):
        angles = np.zeros((3, *p.shape[:2]))
        if orientation is not None:
            R = real(f"{what}: orientation", orientation)
            if R.shape != (*p.shape[:2], 3, 3):
                raise DescriptionError(
                    f"{what}: orientation: expected 'normal', None or rotations of shape "
                    f"{(*p.shape[:2], 3, 3)}, got {R.shape}"
                )
            angles = unwrapped(np.moveaxis(euler_from_rotation(R), -1, 0))
        values = np.concatenate([positions, interpolated(angles, ways, sites, winding(angles, ways))])
        return Through([way.knots for way in ways], values, np.eye(3))
    if orientation != "normal":
        raise DescriptionError(
            f"{what}: orientation: expected 'normal', None or rotations, got {orientation!r}"
        )
    return along_normal(positions, ways, within, what)


def along_normal(positions: Array, ways: Sequence[Direction], within: float, what: str) -> Through:
    """Angles about x and y that turn z to the normal, interpolated on finer and finer knots."""
    coarse = list(ways)
    places = [way.samples(4) for way in coarse]
    n = normals(positions, coarse, places)
    if not np.isfinite(n).all():
        raise DescriptionError(
            f"{what}: the surface has no normal somewhere: its points fold, or lie on a line"
        )
    R = frame_of(n.reshape(3, -1))
    values, off = positions, np.inf
    for halving in range(HALVINGS + 1):
        sites = [greville(way) for way in ways]
        p = np.tensordot(R.T, on_grid(positions, coarse, sites), 1)
        n = np.tensordot(R.T, normals(positions, coarse, sites), 1)
        angles = unwrapped(np.array([np.arctan2(-n[1], n[2]), np.arcsin(np.clip(n[0], -1, 1)), 0 * n[0]]))
        turns = winding(angles, ways)
        values = np.concatenate([interpolated(p, ways, sites), interpolated(angles, ways, sites, turns)])
        places = [way.samples(5) for way in ways]
        a, b, _ = on_grid(values[3:], ways, places, turns)
        z = np.array([np.sin(b), -np.sin(a) * np.cos(b), np.cos(a) * np.cos(b)])
        n = np.tensordot(R.T, normals(positions, coarse, places), 1)
        off = float(np.linalg.norm(np.cross(z, n, axis=0), axis=0).max())
        if off <= within or halving == HALVINGS:
            break
        ways = [Direction(halved(way), way.order, way.closed) for way in ways]
    if off > within:
        warn(
            f"{what}: M's z axis is up to {off:.2g} rad from the surface normal, {within:g} were "
            "asked for: the surface bends too sharply between its points; give more points "
            "there"
        )
    return Through([way.knots for way in ways], values, R)


def normals(positions: Array, ways: Sequence[Direction], places: Sequence[Array]) -> Array:
    """Unit normals p_1 x p_2 on a grid, shape (3, N1, N2)."""
    tangents = [
        grid_values(
            extended(positions, ways),
            [way.matrix(x, int(d == e)) for e, (way, x) in enumerate(zip(ways, places, strict=True))],
        )
        for d in (0, 1)
    ]
    n = np.cross(tangents[0], tangents[1], axis=0)
    size = np.linalg.norm(n, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size > 1e-9 * size.mean(), n / size, np.nan)


def frame_of(n: Array) -> Array:
    """A rotation in which the normals (3, N) keep away from x: none if they do so anyway."""
    if np.abs(n[0]).max() < STEEP:
        return np.eye(3)
    x = np.linalg.eigh(n @ n.T)[1]
    z = n.mean(axis=1) - (n.mean(axis=1) @ x[:, 0]) * x[:, 0]
    z = z / np.linalg.norm(z) if np.linalg.norm(z) > 0.1 else x[:, 2]
    return np.column_stack([x[:, 0], np.cross(z, x[:, 0]), z])


def unwrapped(angles: Array) -> Array:
    """Angles (f, n1, ..) that do not jump by 2 pi from one place to the next."""
    for axis in range(1, angles.ndim):
        angles = np.unwrap(angles, axis=axis)
    return angles


def winding(angles: Array, ways: Sequence[Direction]) -> list[Array]:
    """What each angle gains in one period of each closed direction, shape (f, 1, 1): the multiple of 2 pi
    that is nearest."""
    out = []
    for d, way in enumerate(ways):
        ends = np.take(angles, [0, -1], axis=1 + d)
        gain = np.rint(np.diff(ends, axis=1 + d) / (2 * np.pi)).reshape(len(angles), -1)[:, 0] * way.closed
        out.append(2 * np.pi * gain.reshape(-1, *(1,) * len(ways)))
    return out


def extended(values: Array, ways: Sequence[Direction], steps: Sequence[Array] | None = None) -> Array:
    for d, way in enumerate(ways):
        values = way.extended(values, 1 + d, 0.0 if steps is None else steps[d])
    return values


def on_grid(
    values: Array, ways: Sequence[Direction], places: Sequence[Array], steps: Sequence[Array] | None = None
) -> Array:
    """Splines (f, n1, n2) on the grid of places, (f, N1, N2)."""
    return grid_values(
        extended(values, ways, steps), [way.matrix(x) for way, x in zip(ways, places, strict=True)]
    )


def interpolated(
    values: Array, ways: Sequence[Direction], sites: Sequence[Array], steps: Sequence[Array] | None = None
) -> Array:
    """Control values of the splines that have these values (f, n1, n2) at the sites."""
    # What the next periods gain is a spline of its own: it is taken off first.
    values = values - on_grid(np.zeros_like(values), ways, sites, steps)
    for d, (way, x) in enumerate(zip(ways, sites, strict=True)):
        B, folded = way.matrix(x), np.zeros((way.n, way.n))
        for j, column in zip(way.extended(np.arange(way.n, dtype=float), 0).astype(int), B.T, strict=True):
            folded[:, j] += column
        front = np.moveaxis(values, 1 + d, 0)
        solved = np.asarray(np.linalg.solve(folded, front.reshape(way.n, -1)), dtype=np.float64)
        values = np.moveaxis(solved.reshape(front.shape), 0, 1 + d)
    return values


def greville(way: Direction) -> Array:
    """As many sites as control values: averages of the knots inside their supports, or, of a closed
    direction, the knots, the middles between them if the order is odd."""
    t, k = way.knots, way.order
    if way.closed:
        return t[:-1] if k % 2 == 0 else 0.5 * (t[1:] + t[:-1])
    return np.array([t[i + 1 : i + k].mean() for i in range(way.n)])


def halved(way: Direction) -> Array:
    """Knots with one more in the middle of every interval."""
    middle = 0.5 * (way.knots[1:] + way.knots[:-1])
    return np.sort(np.concatenate([way.knots, middle[np.diff(way.knots) > 0]]))
