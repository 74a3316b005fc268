"""Tensor products of B-splines, one row of numbers per cell: docs/theory/spline_joints.md (16),
(17).

    phi(q) = sum_ab c_ab B_a(q1) B_b(q2) = sum_ij C_ij x1^i x2^j,   x = q - corner of the cell
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.arrays import SX, Array, real
from condyle.errors import DescriptionError, warn
from condyle.functions import Function
from condyle.functions.pieces import Pieces
from condyle.mobilizers.base import zeros
from condyle.mobilizers.bsplines import check_knots, clamped, polynomials
from condyle.mobilizers.closed_form import LETTERS, column, rotation_about_axis
from condyle.mobilizers.constants import constant, text
from condyle.spatial import Transform, euler_from_rotation
from condyle.trace import Symbol, Traced, trace


class SplineDirection:
    """The B-splines of one coordinate, and where each of them is a polynomial.

    Beyond the ends of an open direction, two more intervals hold the Taylor polynomials of degree 2 at the
    ends: the splines go on with continuous first and second derivatives. A closed direction repeats: control
    value j has its support from knot j - k//2 to j - k//2 + k, so that knot j is where value j is.

    Args:
        knots: shape (n + order,), increasing; closed: (n + 1,), the last closes the period.
        order: k, one more than the degree.
        closed: whether the splines repeat.

    Attributes:
        low, high: the ends of the domain, or of one period.
        n: number of control values.
        origins: where the polynomials of each interval have their origin, shape (m,).
        first: the first of the k control values of each interval, among those that `extended` gives, shape
            (m,).
        polynomials: Taylor coefficients of the k B-splines of each interval, shape (m, k, k): spline, power.
    """

    def __init__(self, knots: Array, order: int, closed: bool) -> None:
        self.knots, self.order, self.closed = knots, order, closed
        k = order
        self.n = len(knots) - (1 if closed else k)
        if closed:
            index = np.arange(1 - k, self.n + k)
            t = knots[index % self.n] + (index // self.n) * (knots[-1] - knots[0])
            intervals = np.arange(k - 1, k - 1 + self.n)
        else:
            t, intervals = knots, np.arange(k - 1, self.n)
        intervals = intervals[t[intervals + 1] > t[intervals]]
        self.low, self.high = float(t[k - 1]), float(t[len(t) - k])
        self.origins, self.first = t[intervals], intervals - k + 1
        self.polynomials = polynomials(t, k, intervals)
        self.cells = np.append(self.origins, self.high)
        if not closed:
            ends = self.polynomials[0], _moved(self.polynomials[-1], self.high - self.origins[-1])
            self.polynomials = np.concatenate([_flat(ends[0]), self.polynomials, _flat(ends[1])])
            self.origins = np.concatenate([[self.low], self.origins, [self.high]])
            self.first = np.concatenate([self.first[:1], self.first, self.first[-1:]])

    @cached_property
    def _numbers(self) -> Pieces:
        """The number of the interval."""
        breaks = self.origins[1:]
        return Pieces(breaks, np.arange(len(self.origins), dtype=float)[:, None])

    @property
    def period(self) -> float:
        return self.high - self.low

    def inside(self, q: Any) -> Any:
        """q, moved by whole periods into the first one where the direction is closed."""
        if not self.closed:
            return q
        floor = ca.floor if isinstance(q, ca.SX) else np.floor
        return q - self.period * floor((q - self.low) / self.period)

    def number(self, q: SX) -> SX:
        """The number of the interval that holds q, as an expression."""
        return self._numbers.at(q, True)[0]

    def extended(self, values: Array, axis: int, step: Array | float = 0.0) -> Array:
        """Control values along an axis as the intervals count them: of a closed direction k - 1 more. `step`
        is what a value gains in one period."""
        if not self.closed:
            return values
        index = np.arange(self.order // 2 - self.order + 1, self.n + self.order // 2)
        turns = (index // self.n).reshape(-1, *(1,) * (values.ndim - axis - 1))
        return np.take(values, index % self.n, axis) + step * turns

    def matrix(self, q: Array, derivative: int = 0) -> Array:
        """B-splines (or a derivative) at q (N,), of all extended control values: shape (N, n or n + k -
        1)."""
        q, k = self.inside(q), self.order
        at = np.searchsorted(self.origins[1:], q, side="right")
        x, power = q - self.origins[at], np.arange(k)
        factor = np.ones(k)
        for d in range(derivative):
            factor = factor * np.maximum(power - d, 0)
        terms = factor * x[:, None] ** np.maximum(power - derivative, 0)
        out = np.zeros((len(q), self.n + (k - 1 if self.closed else 0)))
        np.put_along_axis(
            out,
            self.first[at][:, None] + np.arange(k),
            (self.polynomials[at] @ terms[:, :, None])[..., 0],
            axis=1,
        )
        return out

    def samples(self, each: int) -> Array:
        """Places in the domain: both ends of every cell and each - 1 between."""
        inner = np.arange(each) / each
        return np.append(
            (self.cells[:-1, None] + np.diff(self.cells)[:, None] * inner).ravel(), self.cells[-1]
        )


def _moved(c: Array, x: float) -> Array:
    """Polynomials (k, k) about an origin that is further by x."""
    return np.stack(shifted([c[:, p] for p in range(c.shape[1])], x, c.shape[1] - 1), axis=1)


def _flat(c: Array) -> Array:
    """The terms up to degree 2, one interval."""
    return (c * (np.arange(c.shape[1]) < 3))[None]


def shifted(c: Sequence[Any], x: Any, most: int) -> list[Any]:
    """f(x), f'(x), f''(x)/2, ..., up to the derivative `most`, of sum_p c_p x^p: Horner's rule again and
    again."""
    b = list(c)
    for order in range(most + 1):
        for p in range(len(b) - 2, order - 1, -1):
            b[p] = b[p] + x * b[p + 1]
    return b[: most + 1]


def taylor(row: Any, x: Sequence[Any], order: int, most: int = 2) -> dict[tuple[int, ...], Any]:
    """Taylor coefficients of all functions of a row at x, by their multi-index, up to the total degree
    `most`.

    Args:
        row: coefficients, SX or (size, N); the power of the last coordinate is the slowest, the number of the
            function the quickest.
    """
    if not x:
        return {(): row}
    size = row.shape[0] // order
    blocks = [row[p * size : (p + 1) * size] for p in range(order)]
    out = {}
    for j, inner in enumerate(shifted(blocks, x[-1], min(most, order - 1))):
        for index, value in taylor(inner, x[:-1], order, most - j).items():
            out[(*index, j)] = value
    return out


def rows_of(values: Array, directions: Sequence[SplineDirection]) -> Array:
    """Power coefficients of every cell, shape (cells, k^n f): as `taylor` takes them. values: (f, n1, ..),
    extended."""
    c = values
    for d, way in enumerate(directions):
        windows = np.lib.stride_tricks.sliding_window_view(c, way.order, axis=1 + d)
        windows = np.take(windows, way.first, axis=1 + d)
        c = np.einsum("...ma,map->...mp", np.moveaxis(windows, 1 + d, -2), way.polynomials)
        c = np.moveaxis(c, -2, 1 + d)  # (f, m1, .., m_d, n_(d+1), .., p1, .., p_d)
    n = len(directions)
    c = np.transpose(c, (*range(1, n + 1), *range(2 * n, n, -1), 0))  # (m1, .., mn, pn, .., p1, f)
    return c.reshape(int(np.prod([len(way.origins) for way in directions])), -1)


def grid_values(values: Array, matrices: Sequence[Array]) -> Array:
    """sum c B_a B_b on a grid: (f, n1, ..) and one matrix (N_d, n_d) per direction give (f, N1, ..)."""
    for d, B in enumerate(matrices):
        values = np.moveaxis(np.tensordot(values, B, axes=(1 + d, 1)), -1, 1 + d)
    return values


# ---- twists ----------------------------------------------------------------------------------------------
#
# Rotations about and translations along axes one after the other: lee2008 (25),
# docs/theory/spline_joints.md (18), (19).


AXES = ("tx", "ty", "tz", "rx", "ry", "rz")
"""The six basis twists: translations along and rotations about x, y, z."""


def chain(
    axes: Sequence[str], X: Transform, phi: Sequence[SX], rate: Sequence[SX], second: Sequence[SX]
) -> tuple[SX, ...]:
    """Rotations about and translations along axes one after the other, each on the one before.

    With a = R e of each axis before it moves, and r the translation:

        rotation:      w += a phidot,             bias_w += w x a phidot + a phiddot
        translation:   v += w x r + a phidot,     bias_v += bias_w x r + w x (w x r + 2 a phidot) + a phiddot

    Args:
        X: where the first begins.
        phi, rate, second: angle or displacement of each, its rate, and its second derivative at udot = 0.

    Returns:
        R, p; W_w, W_v (3, 6), with which w = W_w rate, v = W_v rate; bias_w, bias_v.
    """
    R, p = ca.sparsify(ca.SX(ca.DM(X.R))), ca.sparsify(ca.SX(ca.DM(X.p)))
    W_w, W_v = [zeros() for _ in axes], [zeros() for _ in axes]
    w, v, bias_w, bias_v = zeros(), zeros(), zeros(), zeros()
    for j, (axis, x, x_dot, x_ddot) in enumerate(zip(axes, phi, rate, second, strict=True)):
        if not x.nnz():
            continue
        e = LETTERS[axis[1]]
        a = R @ column(e)
        step = a * x_dot
        if axis[0] == "r":
            W_w[j] = a
            bias_w += ca.cross(w, step) + a * x_ddot
            w += step
            R = R @ rotation_about_axis(e, x)
        else:
            r = a * x
            W_v = [W + ca.cross(turn, r) if turn.nnz() else W for W, turn in zip(W_v, W_w, strict=True)]
            W_v[j] = a
            if w.nnz():
                arm = ca.cross(w, r)
                bias_v += ca.cross(bias_w, r) + ca.cross(w, arm + 2 * step)
                v += arm
            v += step
            bias_v += a * x_ddot
            p += r
    return R, p, ca.horzcat(*W_w), ca.horzcat(*W_v), bias_w, bias_v


# ---- surface arguments -----------------------------------------------------------------------------------
#
# What a SplineSurface is given, read and checked before anything is computed.


class Mode(NamedTuple):
    """A part of the control values: amplitude times values (6, n1, ..). An amplitude is None (1), computed
    from Parameters, or a function of time."""

    values: Array
    amplitude: Symbol | Traced | None
    law: Function | None = None  # what was traced, if it can be written as text


def control_values(given: Any, what: str) -> tuple[NDArray[Any], list[Mode]]:
    """Control values as given, and the modes that they are: the numbers, then one per Parameter."""
    try:
        array = np.array(given)
    except ValueError:
        raise DescriptionError(
            f"{what}: expected an array of shape (6, n1), (6, n1, n2) or (6, n1, n2, n3), "
            "got rows of different lengths"
        ) from None
    if array.ndim not in (2, 3, 4) or array.shape[0] != 6:
        turned = (
            "; functions are the first dimension: np.moveaxis(values, -1, 0)"
            if (array.ndim in (2, 3, 4) and array.shape[-1] == 6)
            else ""
        )
        raise DescriptionError(
            f"{what}: expected shape (6, n1), (6, n1, n2) or (6, n1, n2, n3), got {array.shape}{turned}"
        )
    if array.dtype != object:
        array = real(what, array).copy()
        _finite(array, what)
        array.flags.writeable = False
        return array, [Mode(array, None)]
    numbers = np.zeros(array.shape)
    symbols: dict[str, Symbol] = {}
    places: dict[str, Array] = {}
    for index in np.ndindex(*array.shape):
        value = constant(array[index], f"{what}[{', '.join(map(str, index))}]")
        if isinstance(value, Symbol):
            key = text(value)
            symbols[key] = value
            places.setdefault(key, np.zeros(array.shape))[index] = 1.0
        else:
            numbers[index] = value
    return array, [Mode(numbers, None), *(Mode(places[key], symbols[key]) for key in symbols)]


def _finite(array: Array, what: str) -> None:
    if not np.isfinite(array).all():
        index = tuple(map(int, np.argwhere(~np.isfinite(array))[0]))
        raise DescriptionError(
            f"{what}[{', '.join(map(str, index))}] is {array[index]}; every control value must be finite"
        )


def mode_of(given: Any, shape: tuple[int, ...], what: str) -> Mode:
    try:
        values, amplitude, *_ = given
    except (TypeError, ValueError):
        raise DescriptionError(
            f"{what}: expected a pair of control values {shape} and an amplitude (a "
            f"function of time, or a Parameter), got {given!r}"
        ) from None
    array = real(f"{what}: values", values).copy()
    if array.shape != shape:
        raise DescriptionError(
            f"{what}: its values have shape {array.shape}; expected that of the surface, {shape}"
        )
    _finite(array, f"{what}: values")
    array.flags.writeable = False
    if isinstance(amplitude, Symbol):
        return Mode(array, constant(amplitude, f"{what}: amplitude"))
    if isinstance(amplitude, Traced):
        return Mode(array, amplitude)
    if not callable(amplitude):
        raise DescriptionError(
            f"{what}: amplitude: expected a function of time, or a Parameter, got {amplitude!r}"
        )
    return Mode(
        array,
        trace(amplitude, ("t",), what=f"{what}: amplitude", outputs=()),
        amplitude if isinstance(amplitude, Function) else None,
    )


def axes_of(given: Any, what: str) -> tuple[str, ...]:
    axes = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if sorted(map(str, axes)) != sorted(AXES):
        twice = sorted({str(a) for a in axes if axes.count(a) > 1})
        why = f"; {', '.join(twice)} occurs twice, so that two twists depend on each other" if twice else ""
        raise DescriptionError(
            f"{what}: axes: expected the six names {', '.join(AXES)} in any order, got {given!r}{why}"
        )
    return axes


def flags_of(given: Any, n: int, what: str) -> tuple[bool, ...]:
    items = (given,) * n if isinstance(given, (bool, np.bool_)) else tuple(given)
    if len(items) != n or not all(isinstance(x, (bool, np.bool_)) for x in items):
        raise DescriptionError(f"{what}: expected True or False, or {n} of them, got {given!r}")
    return tuple(map(bool, items))


def knot_sequences(given: Any, n: int, what: str) -> tuple[Any, ...]:
    if given is None:
        return (None,) * n
    items = tuple(given)
    if n == 1 and np.ndim(given) == 1 and not any(x is None for x in items):
        return (items,)
    if len(items) != n:
        raise DescriptionError(f"{what}: knots: expected {n} sequences, one per coordinate, got {len(items)}")
    return items


def domains_of(given: Any, n: int, what: str) -> tuple[tuple[float, float], ...]:
    try:
        pairs = np.array(given, dtype=float)
        pairs = np.broadcast_to(pairs, (n, 2)) if pairs.shape == (2,) else pairs
    except (TypeError, ValueError):
        pairs = np.empty(0)
    if pairs.shape != (n, 2) or not np.isfinite(pairs).all() or not (pairs[:, 0] < pairs[:, 1]).all():
        raise DescriptionError(
            f"{what}: domain: expected (low, high) with low < high, or {n} of them, got {given!r}"
        )
    return tuple((float(low), float(high)) for low, high in pairs)


def knots_of(given: Any, n: int, order: int, closed: bool, domain: tuple[float, float], what: str) -> Array:
    """The knots of one direction, checked; uniform over the domain where none are given."""
    need = n + 1 if closed else n + order
    if n < order:
        raise DescriptionError(
            f"{what}: {n} control values are too few, order {order} needs at least {order}"
        )
    if given is None:
        return np.linspace(*domain, n + 1) if closed else clamped(np.linspace(*domain, n - order + 2), order)
    t = np.array(given, dtype=float)
    if t.shape != (need,):
        rule = "number of values + 1, the last closes the period" if closed else "number of values + order"
        raise DescriptionError(
            f"{what}: got knots of shape {t.shape}; {n} control values of order {order} need {need} ({rule})"
        )
    check_knots(t, order, "closed" if closed else "clamped", what)
    return t


# ---- surface points --------------------------------------------------------------------------------------
#
# Surfaces through measured points: control values of positions, and of angles along the surface normal.


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
    return sites, clamped(np.concatenate([sites[:1], inner, sites[-1:]]), order)


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
    ways = [SplineDirection(knots, order, shut[d]) for d, (_, knots) in enumerate(both)]
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


def along_normal(positions: Array, ways: Sequence[SplineDirection], within: float, what: str) -> Through:
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
        ways = [SplineDirection(halved(way), way.order, way.closed) for way in ways]
    if off > within:
        warn(
            f"{what}: M's z axis is up to {off:.2g} rad from the surface normal, {within:g} were "
            "asked for: the surface bends too sharply between its points; give more points "
            "there"
        )
    return Through([way.knots for way in ways], values, R)


def normals(positions: Array, ways: Sequence[SplineDirection], places: Sequence[Array]) -> Array:
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


def winding(angles: Array, ways: Sequence[SplineDirection]) -> list[Array]:
    """What each angle gains in one period of each closed direction, shape (f, 1, 1): the multiple of 2 pi
    that is nearest."""
    out = []
    for d, way in enumerate(ways):
        ends = np.take(angles, [0, -1], axis=1 + d)
        gain = np.rint(np.diff(ends, axis=1 + d) / (2 * np.pi)).reshape(len(angles), -1)[:, 0] * way.closed
        out.append(2 * np.pi * gain.reshape(-1, *(1,) * len(ways)))
    return out


def extended(values: Array, ways: Sequence[SplineDirection], steps: Sequence[Array] | None = None) -> Array:
    for d, way in enumerate(ways):
        values = way.extended(values, 1 + d, 0.0 if steps is None else steps[d])
    return values


def on_grid(
    values: Array,
    ways: Sequence[SplineDirection],
    places: Sequence[Array],
    steps: Sequence[Array] | None = None,
) -> Array:
    """Splines (f, n1, n2) on the grid of places, (f, N1, N2)."""
    return grid_values(
        extended(values, ways, steps), [way.matrix(x) for way, x in zip(ways, places, strict=True)]
    )


def interpolated(
    values: Array,
    ways: Sequence[SplineDirection],
    sites: Sequence[Array],
    steps: Sequence[Array] | None = None,
) -> Array:
    """Control values of the splines that have these values (f, n1, n2) at the sites."""
    # What the next periods gain is a spline of its own: it is taken off first.
    values = values - on_grid(np.zeros_like(values), ways, sites, steps)
    for d, (way, x) in enumerate(zip(ways, sites, strict=True)):
        B, folded = way.matrix(x), np.zeros((way.n, way.n))
        for j, part in zip(way.extended(np.arange(way.n, dtype=float), 0).astype(int), B.T, strict=True):
            folded[:, j] += part
        front = np.moveaxis(values, 1 + d, 0)
        solved = np.asarray(np.linalg.solve(folded, front.reshape(way.n, -1)), dtype=np.float64)
        values = np.moveaxis(solved.reshape(front.shape), 0, 1 + d)
    return values


def greville(way: SplineDirection) -> Array:
    """As many sites as control values: averages of the knots inside their supports, or, of a closed
    direction, the knots, the middles between them if the order is odd."""
    t, k = way.knots, way.order
    if way.closed:
        return t[:-1] if k % 2 == 0 else 0.5 * (t[1:] + t[:-1])
    return np.array([t[i + 1 : i + k].mean() for i in range(way.n)])


def halved(way: SplineDirection) -> Array:
    """Knots with one more in the middle of every interval."""
    middle = 0.5 * (way.knots[1:] + way.knots[:-1])
    return np.sort(np.concatenate([way.knots, middle[np.diff(way.knots) > 0]]))
