"""Velocities and accelerations from the pose alone, by automatic differentiation. Numbers:
docs/theory/mobilizers.md.

    [H_w e_j]x = (dR/dq N e_j) R^T,   H_v = dp/dq N,   [w_t]x = (dR/dt) R^T,   v_t = dp/dt       (5), (6)
    bias = dV/dq N u + dV/dt,   V = H u + Vt                                                     (7)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.errors import DescriptionError, TraceError
from condyle.mobilizers.base import Mobilizer, RelativeMotion
from condyle.mobilizers.constants import QUATERNION, constants, given_units, names_of, parameters_of, text
from condyle.native.tables.lookup import Closure, lookup_context
from condyle.records import assign, dataclass
from condyle.trace import Symbol, Traced, symbols, trace

# Built from these alone, a function that is constant on random points of all sizes is constant: it is
# analytic and changes like a power. exp and tanh are left out: a smooth switch is constant to the last digit
# everywhere but near one place.
_ANALYTIC = frozenset(
    (
        ca.OP_ADD,
        ca.OP_SUB,
        ca.OP_MUL,
        ca.OP_DIV,
        ca.OP_NEG,
        ca.OP_TWICE,
        ca.OP_SQ,
        ca.OP_INV,
        ca.OP_SQRT,
        ca.OP_SIN,
        ca.OP_COS,
        ca.OP_TAN,
        ca.OP_LOG,
        ca.OP_ATAN,
        ca.OP_ATAN2,
        ca.OP_CONSTPOW,
        ca.OP_CONST,
        ca.OP_INPUT,
        ca.OP_OUTPUT,
        ca.OP_ASSIGN,
    )
)


def derived_motion(R: SX, p: SX, t: SX, q: SX, u: SX, N: SX, H: SX | None = None) -> RelativeMotion:
    """The whole motion from R_FM(t, q), p_FM(t, q) and N(q).

    Args:
        R: shape (3, 3), expressions in the symbols t and q; a rotation for every q.
        p: shape (3,), expressions in the symbols t and q.
        N: (nq, nu).
        H: (6, nu), if it is known; else (5), (6).
    """
    R, p = ca.sparsify(R), ca.sparsify(p)
    if H is None:
        rates = ca.jacobian(ca.vec(R), q) @ N
        turns = [_axis_of(ca.reshape(rates[:, j], 3, 3), R) for j in range(u.numel())]
        H_w, H_v = (
            _folded(ca.horzcat(ca.SX(3, 0), *turns), q, t),
            ca.sparsify(ca.jacobian(p, q) @ N),
        )  # (5), (6)
    else:
        H_w, H_v = ca.sparsify(H[:3, :]), ca.sparsify(H[3:, :])
    w_t = ca.sparsify(_axis_of(ca.reshape(ca.jacobian(ca.vec(R), t), 3, 3), R))
    v_t = ca.sparsify(ca.jacobian(p, t))
    V = ca.vertcat(H_w @ u + w_t, H_v @ u + v_t)
    bias = ca.sparsify(ca.jtimes(V, q, N @ u) + ca.jacobian(V, t))  # (7)
    return RelativeMotion(R=R, p=p, H_w=H_w, H_v=H_v, w_t=w_t, v_t=v_t, bias_w=bias[:3], bias_v=bias[3:])


def _axis_of(R_dot: SX, R: SX) -> SX:
    """w of [w]x = Rdot R^T."""
    return ca.vertcat(*(ca.dot(R_dot[i, :].T, R[j, :].T) for i, j in ((2, 1), (0, 2), (1, 0))))


def _folded(H_w: SX, q: SX, t: SX) -> SX:
    """H_w with entries that are 0, 1 or -1 everywhere (cos^2 + sin^2, say) made so, and zeros structural.

    Differentiation leaves such sums; folded, they cost nothing. Only in analytic functions without Parameters
    can values at random points prove it, of all sizes, since coordinates may be in degrees. 1e-14 of its
    column is rounding.
    """
    H_w = ca.sparsify(H_w)
    if not H_w.nnz() or any(
        s.element_hash() not in {x.element_hash() for x in ca.symvar(ca.vertcat(q, t))}
        for s in ca.symvar(H_w)
    ):
        return H_w
    entries = ca.Function("H_w", [q, t], [ca.densify(H_w)])
    if not {entries.instruction_id(k) for k in range(entries.n_instructions())} <= _ANALYTIC:
        return H_w
    rng = np.random.default_rng(0)
    n = q.numel() + 1
    points = rng.uniform(-2, 2, (64, n)) * 10.0 ** rng.integers(0, 4, (64, n))
    values = np.array([np.array(entries(x[1:], x[0])) for x in points])
    values = values[np.isfinite(values).all(axis=(1, 2))]
    if len(values) < 16:
        return H_w
    out = ca.SX(H_w)
    size = np.abs(values).max(axis=1)
    for i, j in np.ndindex(*H_w.shape):
        for constant in (0.0, 1.0, -1.0):
            if (np.abs(values[:, i, j] - constant) <= 1e-14 * size[:, j]).all() and size[:, j].max() > 1e-3:
                out[i, j] = constant
    return ca.sparsify(out)


# ---- custom ----------------------------------------------------------------------------------------------
#
# Joints whose pose is a user's Python function: Custom.


TOLERANCE = 1e-9
"""How far R'R may be from 1, and a given hinge matrix from the derivative of the pose, relative to its size:
rounding stays far below, slips of sign or unit far above."""
POINTS = 16


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Custom(Mobilizer):
    """A joint whose pose X_FM is any smooth function of its coordinates, written in Python.

        def knee(q):
            return rotation_z(q), (fx(q), fy(q), 0.0)                           seth2010 (36)
        joint = cd.Custom(coordinates=("knee",), transform=knee)

    q: the coordinates, in units that the function gives them.   u = qdot unless N says otherwise.
    Hinge matrix and bias follow by automatic differentiation (docs/theory/mobilizers.md (5)-(7)); for the
    knee they are seth2010 (37)-(39). The functions are traced once: use NumPy, the rotations of
    `condyle.spatial`, `cd.Spline` and Parameters.

    H loses rank where the pose does not depend on a coordinate, or depends on two in the same way.

    Args:
        coordinates: names, one or more. They name the system's coordinates unless `add_body` gives others.
        transform: f(*q) -> (R_FM, p_FM): a rotation (3, 3), and a position in F [m], (3,); or a Transform.
        hinge: f(*q) -> H_FM (6, nu) in F, angular rows first, as a closed form instead of the derivative;
            compared with it at random points. With time, it excludes motion due to time.
        N: f(*q) -> N (nq, nu) with qdot = N u, for speeds other than qdot.
        speeds: names of the speeds, with N only; u1, u2, ... by default.
        time: call transform and hinge as f(t, *q), t in seconds: a joint that also moves by itself.
        units: unit of each coordinate, for tables, plots and the weights of errors. By default "m" for
            coordinates that only translate the body, "1" for quaternions, "rad" for others. Speeds other than
            qdot are in rad/s, or in m/s if they only translate the body.
        default: the reference configuration, shape (nq,); zeros by default. Checks are made within 1 of it.
        quaternions: indices at which unit quaternions begin, such as (0,); they are kept at unit length.
    """

    coordinates: tuple[str, ...]
    pose: Traced
    hinge: Traced | None
    rates: Traced | None
    time: bool
    default: tuple[float, ...]

    named_by_user = True
    singular = "where the pose does not move with a coordinate, or moves alike with two"

    def __init__(
        self,
        coordinates: Sequence[str] | str,
        transform: Callable[..., object],
        hinge: Callable[..., object] | None = None,
        N: Callable[..., object] | None = None,
        speeds: Sequence[str] | None = None,
        time: bool = False,
        units: Sequence[str] = (),
        default: Sequence[float] | None = None,
        quaternions: Sequence[int] | None = None,
    ) -> None:
        names = names_of(coordinates, "Custom: coordinates")
        what = f"Custom({', '.join(names)})"
        if not callable(transform):
            raise DescriptionError(
                f"{what}: transform: expected a function of the coordinates that returns "
                f"(R, p), got {transform!r}"
            )
        start = constants((0.0,) * len(names) if default is None else default, len(names), f"{what}: default")
        if any(isinstance(x, Symbol) for x in start):
            raise DescriptionError(f"{what}: default holds {start!r}; expected plain numbers")
        stated = given_units(units, names, what)
        turned = _quaternions(quaternions, names, start, what)
        near = [(x - 1.0, x + 1.0) for x in start]
        arguments, ranges = (("t", *names), [(0.0, 1.0), *near]) if time else (names, near)
        rates = None
        if N is not None:
            rates = trace(N, names, what=f"{what}: N", ranges=near)
            if (
                len(rates.shape) != 2
                or rates.shape[0] != len(names)
                or not 1 <= rates.shape[1] <= min(6, len(names))
            ):
                raise DescriptionError(
                    f"{what}: N must have shape ({len(names)}, nu) with 1 to 6 speeds, got {rates.shape}"
                )
        elif len(names) > 6:
            raise DescriptionError(f"{what}: at most six coordinates without N, got {len(names)}")
        elif speeds is not None:
            raise DescriptionError(
                f"{what}: speeds are qdot and named as the coordinates; speeds= goes with N= only"
            )
        nu = rates.shape[1] if rates else len(names)
        given = (
            names
            if rates is None
            else names_of(speeds or [f"u{k + 1}" for k in range(nu)], f"{what}: speeds")
        )
        if len(given) != nu:
            raise DescriptionError(f"{what}: N has {nu} columns, but speeds are {given!r}")
        pose = trace(
            transform,
            arguments,
            what=f"{what}: transform",
            outputs=(12,),
            ranges=ranges,
            flatten=lambda result: _flat(result, what),
        )
        law = (
            None
            if hinge is None
            else trace(hinge, arguments, what=f"{what}: hinge", outputs=(6, nu), ranges=ranges)
        )
        assign(
            self,
            coordinates=names,
            pose=pose,
            hinge=law,
            rates=rates,
            time=bool(time),
            default=start,
            quaternions=turned,
            coordinate_names=names,
            speed_names=given,
            uses_time=bool(time),
            **({"units": stated} if stated else {}),
        )
        self._check(what, np.array(ranges))

    def _pose(self, t: SX, q: SX) -> tuple[SX, SX]:
        X = self.pose.apply(*self._arguments(t, q))
        return ca.reshape(X[:9], 3, 3).T, X[9:]

    def _arguments(self, t: SX, q: SX) -> list[SX]:
        return [t, *ca.vertsplit(q)] if self.time else ca.vertsplit(q)

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        R, p = self._pose(t, q)
        H = None if self.hinge is None else ca.reshape(self.hinge.apply(*self._arguments(t, q)), self.nu, 6).T
        return derived_motion(R, p, t, q, u, self.N(q), H)

    def N(self, q: SX) -> SX:
        if self.rates is None:
            return ca.SX.eye(self.nq)
        return ca.sparsify(ca.reshape(self.rates.apply(*ca.vertsplit(q)), self.nu, self.nq).T)

    @lookup_context()
    def _check(self, what: str, ranges: Array) -> None:
        """R is a rotation, and the given hinge matrix is the derivative of the pose, at random points."""
        t, q, u = ca.SX.sym("t"), ca.SX.sym("q", self.nq), ca.SX.sym("u", self.nu)
        given = self.motion(t, q, u)
        ours = given if self.hinge is None else derived_motion(*self._pose(t, q), t, q, u, self.N(q))
        f = Closure(
            "check",
            [t, q],
            [ca.densify(x) for x in (given.R, given.p, *(ca.vertcat(m.H_w, m.H_v) for m in (given, ours)))],
        )
        defaults = [p.default for p in parameters_of(f.outside, what)]
        low, high = ranges.T
        for x in np.random.default_rng(0).uniform(low, high, (POINTS, len(ranges))):
            R, _, H, H_ours = f.at(*((x[0], x[1:]) if self.time else (0.0, x)), outside=defaults)
            if not (np.isfinite(R).all() and np.isfinite(H_ours).all()):
                continue
            where = ", ".join(f"{n} = {v:.6g}" for n, v in zip(self.pose.names, x, strict=True))
            off, det = np.abs(R.T @ R - np.eye(3)).max(), np.linalg.det(R)
            if off > TOLERANCE or det < 0:
                raise DescriptionError(
                    f"{what}: transform must return a rotation (R'R = 1, det R = 1) for "
                    f"every q; at {where} R'R is off by {off:.3g} and det R = {det:.6g}. "
                    "Build R from rotations, such as condyle.spatial.rotation_z, or "
                    "normalize a quaternion first"
                )
            if not np.abs(H - H_ours).max() <= TOLERANCE * max(1e-3, np.abs(H_ours).max()):
                i, j = np.unravel_index(np.abs(H - H_ours).argmax(), H.shape)
                raise DescriptionError(
                    f"{what}: hinge is not the derivative of transform: at {where} H[{i}, "
                    f"{j}] is {H[i, j]:.9g}, the pose gives {H_ours[i, j]:.9g}. H is in "
                    "F, angular rows first"
                )

    def default_q(self) -> Array:
        return np.array(self.default)

    def random_q(self, rng: np.random.Generator) -> Array:
        q = self.default_q() + rng.uniform(-1.0, 1.0, self.nq)
        for part in self.quaternions:
            q[part] /= np.linalg.norm(q[part])
        return q

    def description(self) -> str:
        return f"Custom({self.nq}, {self.nu}, time={self.time}, {text((self.pose, self.hinge, self.rates))})"

    def __repr__(self) -> str:
        return f"Custom({', '.join(self.coordinates)})"


def _quaternions(
    given: Any, names: tuple[str, ...], default: tuple[float, ...], what: str
) -> tuple[slice, ...]:
    """Where the unit quaternions are that a user states."""
    if given is None and any(names[k : k + 4] == QUATERNION for k in range(len(names))):
        raise DescriptionError(
            f"{what}: are these a unit quaternion? Say so by "
            f"quaternions=({names.index('qw')},), and by a default= of unit length; or "
            "that they are not, by quaternions=()"
        )
    starts = (given,) if isinstance(given, int) else tuple(given or ())
    parts = tuple(slice(k, k + 4) for k in starts if isinstance(k, int) and 0 <= k <= len(names) - 4)
    if len(parts) != len(starts) or any(b.start < a.stop for a, b in pairwise(parts)):
        raise DescriptionError(
            f"{what}: quaternions: expected places in {names} where four coordinates "
            f"begin, ascending, such as (0,), got {given!r}"
        )
    for part in parts:
        if abs(np.linalg.norm(default[part]) - 1) > TOLERANCE:
            raise DescriptionError(
                f"{what}: default has {default[part]} for the quaternion {names[part]}; "
                "its length must be 1, as that of (1, 0, 0, 0)"
            )
    return parts


def _flat(result: Any, what: str) -> list[Any]:
    """R row by row, then p: 12 entries."""
    expected = "expected (R, p): a 3 x 3 rotation and three positions, or a cd.Transform"
    try:
        R, p = result
    except (TypeError, ValueError):
        raise TraceError(f"{what}: transform returned {result!r}; {expected}") from None
    R, p = (
        np.array(symbols(ca.densify(x)) if isinstance(x, (ca.SX, ca.DM)) else x, dtype=object) for x in (R, p)
    )
    if R.shape != (3, 3) or p.shape not in ((3,), (3, 1)):
        raise TraceError(
            f"{what}: transform returned R of shape {R.shape} and p of shape {p.shape}; {expected}"
        )
    return [*R.ravel(), *p.ravel()]
