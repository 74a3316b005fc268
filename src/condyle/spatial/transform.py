"""Transform: where a frame is, seen from another; and spatial vectors, angular part first: motions (w, v) and
forces (n, f), shape (..., 6). Numbers, batched by leading dimensions, or CasADi SX.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np

from condyle.arguments import ExplainsCalls
from condyle.arrays import SX, Array
from condyle.errors import DescriptionError, ShapeError
from condyle.records import assign
from condyle.spatial.algebra import (
    Value,
    apply,
    as_matrix,
    as_vector,
    cross,
    holds_symbol,
    is_symbolic,
    transpose,
)
from condyle.spatial.rotations import skew
from condyle.trace import Numbers, to_sx

ORTHONORMAL_TOLERANCE = 1e-9
"""Largest entry of R'R - 1 that passes. Long products of rotations collect 1e-13 at most; an R copied with
few digits fails, because that error would stay in every energy and every residual."""


class Transform(ExplainsCalls):
    """X_FM = (R_FM, p_FM): orientation and place of frame M in frame F. Immutable.

    `R, p = X`; `X_GB = X_GP @ X_PB`; `X_GB @ p_BoS` is the place of a point in G; `X_FM.inverse()` is X_MF.
    Numbers are checked, may have leading batch dimensions and become read-only arrays. CasADi SX are taken as
    they are.

    Args:
        R: rotation, shape (..., 3, 3); None is no rotation.
        p: position of M's origin from F's origin, in F [m], shape (..., 3); None is zero.
        what: how errors name it.
    """

    __slots__ = ("R", "p")
    __array_ufunc__ = None  # array @ Transform is an error

    R: Any
    p: Any

    def __init__(
        self, R: Numbers | SX | None = None, p: Numbers | SX | None = None, *, what: str = "Transform"
    ) -> None:
        given: Any = (R, p)
        R, p = (to_sx(v) if holds_symbol(v) else v for v in given)
        symbolic = is_symbolic(R, p)
        try:
            R_ = as_matrix(np.eye(3) if R is None else R, 3, "R", symbolic)
            p_ = as_vector(np.zeros(3) if p is None else p, 3, "p", symbolic)
            if not symbolic:
                batch = np.broadcast_shapes(R_.shape[:-2], p_.shape[:-1])
        except ShapeError as error:
            raise DescriptionError(f"{what}: {error}") from None
        except ValueError:
            raise DescriptionError(
                f"{what}: batch dimensions of R {R_.shape} and p {p_.shape} do not match"
            ) from None
        if not symbolic:
            if R is not None:
                _check_rotation(R_, what)
            _check_position(p_, what)
            R_ = np.array(np.broadcast_to(R_, batch + (3, 3)))
            p_ = np.array(np.broadcast_to(p_, batch + (3,)))
        self._set(R_, p_)

    @classmethod
    def unchecked(cls, R: Numbers | SX, p: Numbers | SX) -> Transform:
        """Transform of R and p that the caller knows to be right: float64, (..., 3, 3) and (..., 3), or SX.
        No copy."""
        X = cls.__new__(cls)
        X._set(R, p)
        return X

    def _set(self, R: Value, p: Value) -> None:
        if isinstance(R, np.ndarray):
            R, p = R.view(), p.view()
            R.flags.writeable = p.flags.writeable = False
        assign(self, R=R, p=p)

    @classmethod
    def of(cls, value: Transform | Numbers | SX | None, what: str = "Transform") -> Transform:
        """A Transform from a Transform, a 3-vector (translation), a 4 x 4 matrix or None (identity)."""
        if isinstance(value, Transform):
            return value
        if value is None:
            return cls()
        shape = _shape(value)
        if shape in ((3,), (3, 1)):
            return cls(None, value, what=what)
        if shape == (4, 4):
            return cls._of_matrix(value, what)
        remedy = ""
        if shape == (3, 3):
            remedy = "; for a rotation write Transform(R)"
        elif isinstance(value, (tuple, list)) and len(value) == 2:
            remedy = "; for a rotation and a position write Transform(R, p)"
        got = f"shape {shape}" if shape else f"{type(value).__name__} {value!r}"
        raise DescriptionError(
            f"{what}: expected a Transform, a translation of 3 numbers [m], a 4 x 4 matrix or None, got "
            f"{got}{remedy}"
        )

    @classmethod
    def _of_matrix(cls, value: Value, what: str) -> Transform:
        A = as_matrix(value, 4, what)
        last = A[3, :]
        if isinstance(last, ca.SX) and last.is_constant():
            last = ca.evalf(last).full().ravel()
        if isinstance(last, ca.SX) or not np.array_equal(last, [0, 0, 0, 1]):
            raise DescriptionError(
                f"{what}: the last row of a 4 x 4 matrix is 0 0 0 1, got {last}; is it transposed?"
            )
        return cls(A[:3, :3], A[:3, 3], what=what)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot set {name}: a Transform never changes; make another, Transform(R, p)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete {name}: a Transform never changes")

    def __iter__(self) -> Iterator[Any]:
        return iter((self.R, self.p))

    def __matmul__(self, other: Value) -> Any:
        R, p = self
        if isinstance(other, Transform):
            R_other, p_other = other
            if is_symbolic(R) != is_symbolic(R_other):
                R, p, R_other, p_other = _symbols(R, p) + _symbols(R_other, p_other)
            return Transform.unchecked(R @ R_other, apply(R, p_other) + p)
        symbolic = is_symbolic(R, other)
        if symbolic:
            R, p = _symbols(R, p)
        v = as_vector(other, 3, "Transform @ point", symbolic)
        return apply(R, v) + p

    def inverse(self) -> Transform:
        """X_MF of X_FM."""
        R_MF = transpose(self.R)
        return Transform.unchecked(R_MF, -apply(R_MF, self.p))

    @property
    def matrix(self) -> Array | SX:
        """[[R, p], [0, 1]], shape (..., 4, 4)."""
        R, p = self
        if isinstance(R, ca.SX):
            return ca.vertcat(ca.horzcat(R, p), ca.SX(ca.DM([[0, 0, 0, 1]])))
        A = np.zeros(p.shape[:-1] + (4, 4))
        A[..., :3, :3], A[..., :3, 3], A[..., 3, 3] = R, p, 1
        return A

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transform):
            return NotImplemented
        if is_symbolic(self.R) != is_symbolic(other.R):
            return False
        if is_symbolic(self.R):
            return all(
                a.sparsity() == b.sparsity() and ca.is_equal(a, b, 0)
                for a, b in zip(self, other, strict=True)
            )
        return all(np.array_equal(a, b) for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        if is_symbolic(self.R):
            return hash(Transform)
        return hash(((self.R + 0.0).tobytes(), (self.p + 0.0).tobytes()))  # + 0.0: -0.0 equals 0.0

    def __reduce__(self) -> tuple[Any, ...]:
        return Transform.unchecked, (self.R, self.p)

    def __repr__(self) -> str:
        R, p = self
        if is_symbolic(R):
            return "Transform(symbolic)"
        if p.ndim > 1:
            return f"Transform({' x '.join(map(str, p.shape[:-1]))} transforms)"
        shown = []
        if not np.array_equal(R, np.eye(3)):
            shown.append(
                "R=[" + ", ".join("[" + ", ".join(f"{a:.6g}" for a in row) + "]" for row in R + 0.0) + "]"
            )
        if p.any():
            shown.append("p=[" + ", ".join(f"{a:.6g}" for a in p + 0.0) + "]")
        return f"Transform({', '.join(shown)})"


def _shape(value: Value) -> tuple[int, ...] | None:
    if isinstance(value, ca.SX):
        return value.shape
    if is_symbolic(value):
        return (len(value), len(value[0])) if isinstance(value[0], (list, tuple)) else (len(value),)
    try:
        return np.shape(value)
    except ValueError:
        return None


def _symbols(R: Value, p: Value) -> tuple[SX, SX]:
    return as_matrix(R, 3, "R", symbolic=True), as_vector(p, 3, "p", symbolic=True)


def _check_rotation(R: Array, what: str) -> None:
    if not np.isfinite(R).all():
        raise DescriptionError(f"{what}: R has a number that is not finite:\n{R}")
    deviation = np.abs(transpose(R) @ R - np.eye(3)).max(initial=0.0)
    if deviation > ORTHONORMAL_TOLERANCE:
        raise DescriptionError(
            f"{what}: R is not a rotation: the largest entry of R'R - 1 is {deviation:.3g}, allowed is "
            f"{ORTHONORMAL_TOLERANCE:g}. Give all digits, or take the rotation near R, "
            "rotation_from_quaternion(quaternion_from_rotation(R))"
        )
    if (np.linalg.det(R) < 0).any():
        raise DescriptionError(
            f"{what}: R has determinant -1, it is a reflection: the axes are left-handed. Reverse or "
            "exchange one"
        )


def _check_position(p: Array, what: str) -> None:
    if not np.isfinite(p).all():
        raise DescriptionError(f"{what}: p has a number that is not finite: {p}")


def split(V: Value) -> tuple[Value, Value]:
    """The angular and the linear part of a spatial vector made by `as_vector`."""
    return (V[:3], V[3:]) if isinstance(V, ca.SX) else (V[..., :3], V[..., 3:])


def join(angular: Value, linear: Value) -> Value:
    """The spatial vector of its two parts, which broadcast."""
    if isinstance(angular, ca.SX):
        return ca.vertcat(angular, linear)
    batch = np.broadcast_shapes(angular.shape, linear.shape)
    return np.concatenate([np.broadcast_to(angular, batch), np.broadcast_to(linear, batch)], axis=-1)


def shift_motion(V: Value, r: Value) -> Value:
    """(w, v + w x r): the velocity of the same body at the point r away.

    Args:
        V: (w, v) [rad/s, m/s], shape (..., 6).
        r: from the old point to the new one [m], shape (..., 3).
    """
    symbolic = is_symbolic(V, r)
    w, v = split(as_vector(V, 6, "shift_motion, V", symbolic))
    return join(w, v + cross(w, as_vector(r, 3, "shift_motion, r", symbolic)))


def shift_force(F: Value, r: Value) -> Value:
    """(n + r x f, f): the same force with its moment taken about another point, lee2008 (5).

    Args:
        F: (n, f) [N m, N], shape (..., 6); n about the old point.
        r: from the new point to the old one, where f acts [m], shape (..., 3).
    """
    symbolic = is_symbolic(F, r)
    n, f = split(as_vector(F, 6, "shift_force, F", symbolic))
    return join(n + cross(as_vector(r, 3, "shift_force, r", symbolic), f), f)


def adjoint(X: Value) -> Value:
    """Ad(X_FM) = [[R, 0], [[p]x R, R]], shape (..., 6, 6): lee2008 (1)-(3).

    Maps the spatial velocity of one rigid body from M to F, V_F = Ad V_M: V_M is taken at M's origin,
    expressed in M; V_F at F's origin, expressed in F. Forces go the other way, F_M = Ad' F_F.
    """
    R, p = Transform.of(X, "adjoint")
    lower = skew(p) @ R
    if isinstance(R, ca.SX):
        return ca.vertcat(ca.horzcat(R, ca.SX(3, 3)), ca.horzcat(lower, R))
    Ad = np.zeros(R.shape[:-2] + (6, 6))
    Ad[..., :3, :3] = Ad[..., 3:, 3:] = R
    Ad[..., 3:, :3] = lower
    return Ad
