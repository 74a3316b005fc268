"""Checks of a SplineSurface: rank of H, and gimbal lock."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arrays import SX, Array, vector
from condyle.errors import DescriptionError, warn
from condyle.mobilizers.base import Mobilizer, RelativeMotion, zeros
from condyle.mobilizers.closed_form import LETTERS
from condyle.mobilizers.constants import LENGTHS, conditions_on, constant, given_units, names_of, text, valued
from condyle.mobilizers.surface_splines import (
    AXES,
    Mode,
    SplineDirection,
    axes_of,
    chain,
    control_values,
    domains_of,
    extended,
    flags_of,
    grid_values,
    knot_sequences,
    knots_of,
    mode_of,
    rows_of,
    taylor,
    through,
)
from condyle.native.tables.lookup import look_up
from condyle.native.tables.lookup_table import LookupTable
from condyle.records import assign, dataclass
from condyle.shapes import Drawing
from condyle.shapes.meshes import sheet
from condyle.spatial import Transform, rotation_about
from condyle.trace import Number, Numbers, Symbol, Traced

SAMPLES = 40_000
"""Places in the domain that are checked, about; each cell has at least its corners, at most 4 places per
direction: 8 in each interval find the minimum along a curve within 1 %, 4 within 8 %, and the smallest are
refined."""
LOCKED = 0.05
"""|det W| below which a place is an Euler singularity: 3 degrees from it."""
CLOSER = 3
"""How often the neighborhood of the smallest is checked again, each time 4 times as finely."""


class Worst(NamedTuple):
    """The minimum of a quantity in a domain, and its location."""

    value: float
    q: Array
    cell: tuple[int, ...]
    changes_sign: bool = False


class RankCheck:
    """H = W dphi/dq and W of a surface at many places.

    Where the control values of the second angle, and so the angle itself, stay away from ±pi/2 and no
    translation is between the rotations, W has its full rank: dphi/dq is looked at alone.

    Args:
        axes: the order of the basis twists.
        values: control values (6, n1, ..), extended.
    """

    def __init__(self, axes: Sequence[str], directions: Sequence[SplineDirection], values: Array) -> None:
        self.axes, self.directions, self.values = axes, directions, values
        self.may_lock = (
            not _together(axes)
            or _smallest_cosine(values[[k for k, axis in enumerate(axes) if axis[0] == "r"][1]]) < LOCKED
        )
        phi = ca.SX.sym("phi", 6)
        _, _, W_w, W_v, *_ = chain(axes, Transform(), ca.vertsplit(phi), [zeros(1)] * 6, [zeros(1)] * 6)
        self.W = ca.Function("W", [phi], [ca.densify(ca.vertcat(W_w, W_v))])
        cells = [len(way.cells) - 1 for way in directions]
        each = int(np.clip((SAMPLES / np.prod(cells)) ** (1 / len(cells)), 1, 4))
        self.places = [way.samples(each) for way in directions]
        H, W = self.at(self.places)
        # rotations and translations count alike, and so do the coordinates
        turns = np.array([axis[0] == "r" for axis in axes]) if not self.may_lock else np.arange(6) < 3
        squares = (H**2).sum(axis=(0, 2))
        sizes = [np.sqrt(squares[turns == part].sum()) or 1.0 for part in (False, True)]
        self.rows = np.where(turns, sizes[1], sizes[0])[:, None]
        self.columns = np.maximum(np.linalg.norm(H / self.rows, axis=1).mean(axis=0), 1e-300)
        self.H, self.dets = H, np.linalg.det(W)

    def at(self, places: Sequence[Array]) -> tuple[Array, Array]:
        """H (N, 6, n) and W (N, 6, 6) on the grid of places; where W cannot lose rank, dphi/dq and 1."""
        B = [
            [way.matrix(x, order) for order in (0, 1)] for way, x in zip(self.directions, places, strict=True)
        ]
        slopes = [
            grid_values(self.values, [b[d == e] for e, b in enumerate(B)]).reshape(6, -1)
            for d in range(len(B))
        ]
        gradient = np.stack(slopes, axis=-1).swapaxes(0, 1)
        if not self.may_lock:
            return gradient, np.eye(6)[None]
        phi = grid_values(self.values, [b[0] for b in B]).reshape(6, -1)
        W = np.array(self.W.map(phi.shape[1])(phi)).reshape(6, -1, 6).swapaxes(0, 1)
        return W @ gradient, W

    def smallest_singular_value(self, H: Array) -> Array:
        """Of H with its rows and columns scaled, shape (N,)."""
        A = H / self.rows / self.columns
        return np.sqrt(np.maximum(np.linalg.eigvalsh(A.swapaxes(1, 2) @ A)[:, 0], 0.0))

    def rank(self) -> Worst:
        """The smallest singular value of H, where 1 is the mean length of its columns."""
        return self._refined(
            self.smallest_singular_value(self.H),
            lambda places: self.smallest_singular_value(self.at(places)[0]),
        )

    def lock(self) -> Worst:
        """The smallest |det W|: |cos(second angle)| where no translation is between the rotations. 1 if it is
        nowhere below LOCKED."""
        if not self.may_lock:
            return Worst(1.0, np.zeros(0), ())
        changes = bool(self.dets.min() * self.dets.max() < 0)
        worst = self._refined(np.abs(self.dets), lambda places: np.abs(np.linalg.det(self.at(places)[1])))
        return worst._replace(changes_sign=changes)

    def _refined(self, values: Array, again: Callable[[Sequence[Array]], Array]) -> Worst:
        places = self.places
        for step in range(CLOSER + 1):
            at = [int(k) for k in np.unravel_index(int(values.argmin()), [len(x) for x in places])]
            value, q = float(values.min()), np.array([x[k] for x, k in zip(places, at, strict=True)])
            if step == CLOSER:
                break
            places = [
                np.linspace(x[max(k - 1, 0)], x[min(k + 1, len(x) - 1)], 9)
                for x, k in zip(places, at, strict=True)
            ]
            values = again(places)
        cell = tuple(
            int(np.clip(np.searchsorted(way.cells, x, side="right") - 1, 0, len(way.cells) - 2))
            for way, x in zip(self.directions, q, strict=True)
        )
        return Worst(value, q, cell)


def _together(axes: Sequence[str]) -> bool:
    """Whether no rotation is between two translations, and no translation between two rotations."""
    kinds = "".join(axis[0] for axis in axes)
    return kinds in ("tttrrr", "rrrttt")


def _smallest_cosine(angle: Array) -> float:
    """The smallest |cos| between the smallest and the largest of some angles."""
    low, high = float(angle.min()), float(angle.max())
    if np.floor(low / np.pi - 0.5) != np.floor(high / np.pi - 0.5):
        return 0.0
    return float(min(abs(np.cos(low)), abs(np.cos(high))))


# ---- spline surface --------------------------------------------------------------------------------------
#
# Joints of one to three coordinates given by tensor-product B-splines: lee2008 section 5.2.


SMALLEST = 1e-3
"""Smallest singular value of H, the mean length of its columns being 1, below which it has lost its rank:
udot would be a thousand times as large there as elsewhere."""
DRAWN = 33
"""Points along a side, as it is drawn."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class SplineSurface(Mobilizer):
    """A joint of one, two or three coordinates whose translations and angles are tensor-product B-splines.

        X_FM(q) = X exp(e_1 phi_1(q)) ... exp(e_6 phi_6(q)),  phi_j = sum_ab c_jab B_a(q1) B_b(q2)  (25)

    e_j are the six basis twists: by default translations along x, y, z, then rotations about x, y, z
    (body-fixed), so that p = (phi_1, phi_2, phi_3) and R = Rx(phi_4) Ry(phi_5) Rz(phi_6). u = qdot.

    Outside its domain the joint is extrapolated: each B-spline continues with its value, slope and curvature
    at the end, so that H and bias are continuous. A closed direction repeats.

    The control values may be, or depend on, Parameters, and may change in time by modes: c(t) = values +
    sum_m a_m(t) c_m, a deforming surface. The cost of equations grows with the number of modes
    and of Parameters, and does not depend on the number of control values.

    Where the second angle is ±pi/2 the three angles rotate about only two axes (gimbal lock): a warning gives
    the location. Then choose another order of `axes`, or X. Gimbal lock and the rank of H are checked only at
    t = 0 and at the defaults of Parameters.

    Args:
        values: control values of phi_1 .. phi_6 [m, rad], shape (6, n1), (6, n1, n2) or (6, n1, n2, n3), in
            the order of `axes`; numbers or Parameters.
        knots: one sequence per coordinate, n + order numbers that do not decrease (closed: n + 1, knot j is
            where value j is, the last closes the period); None in its place, or for all: uniform over
            `domain`, with ends repeated so that the surface reaches its outermost control values.
        order: of the B-splines, degree + 1, from 4 (cubic) on; 5 makes derivatives of accelerations
            continuous.
        domain: (low, high) of each coordinate, or one for all, where knots are not given.
        axes: the order of the basis twists, such as ("rz", "rx", "ry", "tx", "ty", "tz").
        X: a constant Transform before the six (H in the paper).
        closed: whether each direction repeats, or one for all. Angles may wind: the next period begins at the
            multiple of 2 pi nearest to the last value.
        modes: pairs of values (6, n1, ..) and amplitude: a function of time a(t), t in seconds, or a
            Parameter.
        coordinates: their names; q, or q1, q2, q3 by default.
        units: unit of each coordinate; "1" by default.
    """

    values: NDArray[Any]
    knots: tuple[Array, ...]
    order: int
    axes: tuple[str, ...]
    X: Transform
    closed: tuple[bool, ...]
    modes: tuple[Mode, ...]
    parts: tuple[Mode, ...]
    directions: tuple[SplineDirection, ...]

    def __init__(
        self,
        values: Numbers,
        knots: Sequence[ArrayLike | None] | None = None,
        order: int = 4,
        *,
        domain: Sequence[float] | Sequence[Sequence[float]] = (0.0, 1.0),
        axes: Sequence[str] = AXES,
        X: Transform | ArrayLike | None = None,
        closed: bool | Sequence[bool] = False,
        modes: Sequence[tuple[Numbers, Number | Callable[..., object]]] = (),
        coordinates: Sequence[str] | str | None = None,
        units: Sequence[str] | str = (),
    ) -> None:
        what = "SplineSurface"
        given, parts = control_values(values, f"{what}: values")
        n = given.ndim - 1
        names = (
            (("q",) if n == 1 else tuple(f"q{k + 1}" for k in range(n)))
            if coordinates is None
            else names_of(coordinates, f"{what}: coordinates", f"{n} different names")
        )
        if len(names) != n:
            raise DescriptionError(
                f"{what}: values of shape {given.shape} are a joint of {n} coordinate(s), "
                f"but coordinates are {names!r}"
            )
        if isinstance(order, bool) or order not in range(4, 11):
            raise DescriptionError(
                f"{what}: order must be a whole number from 4 (cubic) to 10, got "
                f"{order!r}; below 4 accelerations would jump"
            )
        shut = flags_of(closed, n, f"{what}: closed")
        directions = []
        for d, (t, pair) in enumerate(
            zip(knot_sequences(knots, n, what), domains_of(domain, n, what), strict=True)
        ):
            t = knots_of(
                t, given.shape[1 + d], int(order), shut[d], pair, f"{what}: direction {d + 1} ({names[d]})"
            )
            t.flags.writeable = False
            directions.append(SplineDirection(t, int(order), shut[d]))
        more = tuple(mode_of(mode, given.shape, f"{what}: modes[{m}]") for m, mode in enumerate(modes))
        assign(
            self,
            values=given,
            knots=tuple(way.knots for way in directions),
            order=int(order),
            axes=axes_of(axes, what),
            X=Transform.of(X, f"{what}: X"),
            closed=shut,
            modes=more,
            parts=(*parts, *more),
            coordinate_names=names,
            speed_names=names,
            named_by_user=coordinates is not None,
            directions=tuple(directions),
            units=given_units(units, names, what) or ("1",) * n,
            uses_time=any(isinstance(mode.amplitude, Traced) for mode in more),
        )
        self._check(what)

    @classmethod
    def of_positions(
        cls,
        points: ArrayLike,
        orientation: str | ArrayLike = "normal",
        *,
        q: Sequence[ArrayLike] | None = None,
        order: int = 4,
        domain: Sequence[float] | Sequence[Sequence[float]] = (0.0, 1.0),
        closed: bool | Sequence[bool] = False,
        within: float = 1e-3,
        coordinates: Sequence[str] | str | None = None,
        units: Sequence[str] | str = (),
    ) -> SplineSurface:
        """A surface of two coordinates through points on a grid, such as a measured bone.

        M's z axis interpolates the normal p_1 x p_2: knots are refined until it is close enough. M does not
        rotate about it: `cd.compose(surface, cd.Pin("z"))` adds that. If normals come close to F's x axis,
        where the angles would lock, X is a rotation.

        Args:
            points: positions of M's origin in F [m], shape (n1, n2, 3).
            orientation: "normal", or rotations of M in F at the points, shape (n1, n2, 3, 3), or None: M does
                not rotate.
            q: two increasing sequences, where the points are (closed: and the end of the period); by default
                evenly spaced in `domain`.
            order: of the B-splines.
            domain: (low, high) of each coordinate, or one for all, where q is not given.
            closed: whether each direction repeats; the first point is not given again at the end.
            within: largest angle between M's z axis and the normal [rad], in "normal".
            coordinates: their names; q1, q2 by default.
            units: unit of each coordinate; "1" by default.
        """
        made = through(points, orientation, q, order, domain, closed, within, "SplineSurface.of_positions")
        return cls(
            made.values,
            made.knots,
            order,
            X=Transform(made.R),
            closed=closed,
            coordinates=coordinates,
            units=units,
        )

    @property
    def domain(self) -> tuple[tuple[float, float], ...]:
        """(low, high) of each coordinate; of a closed one, its first period."""
        return tuple((way.low, way.high) for way in self.directions)

    @property
    def domains(self) -> tuple[tuple[float, float], ...]:
        return tuple((-np.inf, np.inf) if way.closed else (way.low, way.high) for way in self.directions)

    @cached_property
    def _steps(self) -> list[Array]:
        """What each function gains in one period of each closed direction, shape (6, 1, ..)."""
        base, one = self._at_defaults, (6, *(1,) * self.nq)
        turns = np.array([axis[0] == "r" for axis in self.axes]).reshape(one)
        out = []
        for d, way in enumerate(self.directions):
            ends = np.take(base, [0, way.n - 1], axis=1 + d)
            m = np.rint(np.diff(ends, axis=1 + d) / (2 * np.pi)) * (way.closed & turns) + 0.0
            first = m.reshape(6, -1)[:, :1].reshape(one)
            if (m != first).any():
                f = int(np.argmax([np.ptp(x) for x in m]))
                raise DescriptionError(
                    f"SplineSurface: {self.axes[f]} winds around {self.coordinate_names[d]} {m[f].min():g} "
                    f"times at some control values and {m[f].max():g} times at others; give angles that do "
                    "not jump by 2 pi from one value to the next"
                )
            out.append(2 * np.pi * first)
        return out

    @cached_property
    def _at_defaults(self) -> Array:
        """Control values without what depends on time, Parameters at their defaults."""
        return sum(
            (
                mode.values * (1.0 if mode.amplitude is None else valued(mode.amplitude, {}))
                for mode in self.parts
                if not isinstance(mode.amplitude, Traced)
            ),
            np.zeros(self.values.shape),
        )

    @cached_property
    def _table(self) -> tuple[LookupTable, list[tuple[list[int], slice]], list[float | None]]:
        """Rows, one per cell: its corner, then coefficients of every mode; which functions a mode moves, and
        where they are in a row; the constant value of functions that never move, None of others."""
        # the turns of closed directions are with the numbers, also where all values are Parameters
        values = [
            extended(mode.values, self.directions, None if m else self._steps)
            for m, mode in enumerate(self.parts)
        ]
        some = [np.array([np.ptp(x[f]) > 0 for f in range(6)]) for x in values]
        some = [
            moved | (x.reshape(6, -1).any(axis=1) & (mode.amplitude is not None))
            for moved, x, mode in zip(some, values, self.parts, strict=True)
        ]
        moving = np.any(some, axis=0)
        some[0] = some[0] | (moving & values[0].reshape(6, -1).any(axis=1))
        fixed = [None if moving[f] else float(self.parts[0].values[f].flat[0]) for f in range(6)]
        corners = np.meshgrid(*(way.origins for way in self.directions), indexing="ij")
        blocks, places, at = [np.stack([c.ravel() for c in corners], axis=1)], [], self.nq
        for x, f in zip(values, some, strict=True):
            block = rows_of(x[f], self.directions)
            blocks.append(block)
            places.append((np.flatnonzero(f).tolist(), slice(at, at + block.shape[1])))
            at += block.shape[1]
        return LookupTable.from_rows(np.hstack(blocks)), places, fixed

    def _functions(self, t: SX, q: SX, u: SX) -> tuple[list[SX], ...]:
        """phi (6), gradient (6, n) by rows, phi_t (6), and what phidot (6) and phiddot at udot = 0 (6)
        are."""
        table, places, fixed = self._table
        x = [way.inside(q[d]) for d, way in enumerate(self.directions)]
        number = ca.SX(0)
        for way, x_d in zip(self.directions, x, strict=True):
            number = number * len(way.origins) + way.number(x_d)
        row = look_up(table, number)
        x = [x_d - row[d] for d, x_d in enumerate(x)]
        phi = [zeros(1) if not value else ca.SX(value) for value in fixed]
        grad, phi_t = [zeros(1, self.nq) for _ in range(6)], [zeros(1) for _ in range(6)]
        second = [zeros(1) for _ in range(6)]
        units = np.eye(self.nq, dtype=int).tolist()
        for mode, (functions, columns) in zip(self.parts, places, strict=True):
            if not functions:
                continue
            c = taylor(row[columns], x, self.order)
            a, a_t, a_tt = _amplitude(mode.amplitude, t)
            bend = 2 * sum(
                (value * _power(u, index) for index, value in c.items() if sum(index) == 2), ca.SX(0)
            )
            slope = ca.horzcat(*(c[tuple(e)] for e in units))
            value = c[(0,) * self.nq]
            for k, f in enumerate(functions):
                phi[f] += a * value[k]
                grad[f] += a * slope[k, :]
                phi_t[f] += a_t * value[k]
                second[f] += a * bend[k] + 2 * a_t * (slope[k, :] @ u) + a_tt * value[k]
        rate = [g @ u + p_t for g, p_t in zip(grad, phi_t, strict=True)]
        return phi, grad, phi_t, rate, second

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        phi, grad, phi_t, rate, second = self._functions(t, q, u)
        R, p, W_w, W_v, bias_w, bias_v = chain(self.axes, self.X, phi, rate, second)
        G, g_t = ca.vertcat(*grad), ca.sparsify(ca.vertcat(*phi_t))
        return RelativeMotion(
            R=R,
            p=p,
            H_w=ca.sparsify(W_w @ G),
            H_v=ca.sparsify(W_v @ G),
            w_t=W_w @ g_t,
            v_t=W_v @ g_t,
            bias_w=bias_w,
            bias_v=bias_v,
        )

    def phi(self, q: ArrayLike, t: float = 0.0) -> Array:
        """The six functions at coordinates q (..., n) and a time [s]: translations [m] and angles [rad] in
        the order of `axes`, shape (..., 6). Parameters have their defaults."""
        x = vector("SplineSurface: q", q, self.nq, None)
        flat = x.reshape(-1, self.nq).T
        at = [way.inside(x_d) for way, x_d in zip(self.directions, flat, strict=True)]
        table, places, fixed = self._table
        number = np.zeros(flat.shape[1], dtype=int)
        for way, x_d in zip(self.directions, at, strict=True):
            number = number * len(way.origins) + np.searchsorted(way.origins[1:], x_d, side="right")
        rows = table.rows[number].T
        out = np.repeat(np.array([value or 0.0 for value in fixed])[:, None], flat.shape[1], axis=1)
        for mode, (functions, columns) in zip(self.parts, places, strict=True):
            if functions:
                c = taylor(rows[columns], [x_d - rows[d] for d, x_d in enumerate(at)], self.order, 0)
                a = mode.amplitude
                out[functions] += c[(0,) * self.nq] * (
                    1.0 if a is None else float(a(t)) if isinstance(a, Traced) else valued(a, {})
                )
        return out.T.reshape(*x.shape[:-1], 6)

    def pose(self, q: ArrayLike, t: float = 0.0) -> Transform:
        """X_FM at coordinates q (..., n) and a time [s]: a Transform with these leading dimensions."""
        X, values = self.X, self.phi(q, t)
        for j, axis in enumerate(self.axes):
            e, x = np.array(LETTERS[axis[1]]), values[..., j]
            X = X @ (Transform(rotation_about(e, x)) if axis[0] == "r" else Transform(p=e * x[..., None]))
        return X

    def drawn(self, size: float) -> list[Drawing]:
        if len(self.domain) != 2:
            return []
        q = np.stack(
            np.meshgrid(*(np.linspace(*pair, DRAWN) for pair in self.domain), indexing="ij"), axis=-1
        )
        points = self.pose(q).p
        return [Drawing(sheet(points), opacity=0.35)] if np.ptp(points, axis=(0, 1)).any() else []

    def _scaled(self, s: Array) -> Mobilizer:
        """Translations by the factors along their axes in F, if no rotation is before them; knots too where a
        coordinate is a length."""
        if s.dtype == object:  # Parameters: one factor, the numbers of the spline stay
            return super()._scaled(s)
        turned = any(a[0] == "r" and b[0] == "t" for a, b in combinations(self.axes, 2))
        if turned or set(self.units) & set(LENGTHS):
            self._one_factor(s, "translations after rotations" if turned else "coordinates that are lengths")
        along = [
            float(np.linalg.norm(s * (self.X.R @ LETTERS[axis[1]]))) if axis[0] == "t" else 1.0
            for axis in self.axes
        ]
        grown = np.array(along).reshape(6, *(1,) * self.nq)
        modes: Any = [(mode.values * grown, mode.law or mode.amplitude) for mode in self.modes]
        return SplineSurface(
            self.values * grown,
            [
                t * float(s[0]) if unit in LENGTHS else t
                for t, unit in zip(self.knots, self.units, strict=True)
            ],
            self.order,
            axes=self.axes,
            X=Transform(self.X.R, self.X.p * s),
            closed=self.closed,
            modes=modes,
            coordinates=self.coordinate_names if self.named_by_user else None,
            units=self.units,
        )

    def random_q(self, rng: np.random.Generator) -> Array:
        return rng.uniform(*np.transpose(self.domain))

    # ---- Being a value ----

    def description(self) -> str:
        return self._description

    @cached_property
    def _description(self) -> str:
        digest = hashlib.sha256()
        for array in (*self.knots, *(mode.values for mode in self.parts), self.X.R, self.X.p):
            digest.update(repr(array.shape).encode() + array.tobytes())
        amplitudes = text(tuple(mode.amplitude for mode in self.parts))
        return (
            f"SplineSurface({self.values.shape}, {self.order}, {self.axes}, {self.closed}, "
            f"{digest.hexdigest()}, {amplitudes})"
        )

    def conditions(self) -> SX | None:
        return conditions_on(tuple(mode.amplitude for mode in self.parts))

    def check_parameters(self, values: Mapping[str, float]) -> None:
        for mode in self.parts:
            if isinstance(mode.amplitude, Symbol):
                constant(valued(mode.amplitude, values), "SplineSurface: a control value")

    def _check(self, what: str) -> None:
        """H has its full rank everywhere in the domain, and gimbal lock is reported: Parameters at their
        defaults, t = 0."""
        now = sum(
            (
                mode.values * float(mode.amplitude(0.0))
                for mode in self.parts
                if isinstance(mode.amplitude, Traced)
            ),
            self._at_defaults,
        )
        look = RankCheck(self.axes, self.directions, extended(now, self.directions, self._steps))
        where = lambda worst: ", ".join(
            f"{name} = {x:.6g} (cell {cell + 1} of {len(way.cells) - 1})"
            for name, x, cell, way in zip(
                self.coordinate_names, worst.q, worst.cell, self.directions, strict=True
            )
        )
        if not (worst := look.rank()).value > SMALLEST:
            raise DescriptionError(
                f"{what}: H loses its rank at {where(worst)}: the joint does not move with a coordinate "
                "there, or moves alike with two. Equal control values or a fold make it so: move them, or "
                "leave that part out of the domain"
            )
        varies = any(mode.amplitude is not None for mode in self.parts)
        words = [
            "where the splines do not move with a coordinate, or move alike with two; inside the domain "
            "this is nowhere" + (" at t = 0 and the defaults of Parameters" if varies else "")
        ]
        if (worst := look.lock()).changes_sign or worst.value < LOCKED:
            words.append(f"the angles are in gimbal lock at {where(worst)}")
            warn(
                f"{what}: Euler singularity (gimbal lock) at {where(worst)}: the basis twists span five "
                f"directions only there, |det W| = {worst.value:.2g}. The motion stays smooth; what asks for "
                "angles of a pose, such as a fit, does not. Choose another order of axes, or "
                "X"
            )
        assign(self, singular="; ".join(words))

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.values.shape[1:]))
        ranges = ", ".join(
            f"{name} from {low:g} to {high:g}"
            for name, (low, high) in zip(self.coordinate_names, self.domain, strict=True)
        )
        more = ", deforming" if self.uses_time else ""
        return f"SplineSurface({size} control values, order {self.order}, {ranges}{more})"


def _power(u: SX, index: Sequence[int]) -> SX:
    """u1^i u2^j ..."""
    out = ca.SX(1)
    for d, power in enumerate(index):
        for _ in range(power):
            out = out * u[d]
    return out


def _amplitude(amplitude: Symbol | Traced | None, t: SX) -> tuple[SX, SX, SX]:
    """a, da/dt and its derivative."""
    if amplitude is None:
        return ca.SX(1), zeros(1), zeros(1)
    if isinstance(amplitude, Symbol):
        return amplitude.sx, zeros(1), zeros(1)
    a = amplitude.apply(t)
    a_t = ca.sparsify(ca.jacobian(a, t))
    return a, a_t, ca.sparsify(ca.jacobian(a_t, t))
