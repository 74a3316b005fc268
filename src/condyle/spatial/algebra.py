"""The little algebra that numbers and symbols share, so that every formula of `spatial` is written once.

Numbers are float64 arrays with any leading batch dimensions: vectors (..., n), matrices (..., n, n).
Symbols are CasADi SX: vectors n x 1, matrices n x n. Zeros in a symbolic matrix are structural, other
constants fold.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array, in_order, real
from condyle.errors import ShapeError
from condyle.trace import Symbol, symbols, to_sx

Value: TypeAlias = Any
"""What goes in: anything NumPy can make an array of, an SX, or a list of scalars with an SX among them."""

LARGEST = 1e50
"""Size of a number that may describe a body or a joint, in SI units. Mass times length squared, squared, is
still finite then."""


def too_large(array: Array) -> str:
    """Text about a number beyond LARGEST; empty if all are smaller."""
    size = float(np.abs(array).max(initial=0.0))
    return (
        f"{size:g}, but sizes above {LARGEST:g} overflow in products; units are m, kg and rad"
        if size > LARGEST
        else ""
    )


def holds_symbol(value: Value) -> bool:
    """Whether a Symbol of a traced function is the value or inside it."""
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(isinstance(v, Symbol) for v in value.flat)
    return isinstance(value, Symbol) or (
        isinstance(value, (list, tuple)) and any(holds_symbol(v) for v in value)
    )


def traceable(function: Callable[..., Value]) -> Callable[..., Value]:
    """Let a function of symbols also take the Symbols that a user's function is traced with, and give these
    back."""

    @functools.wraps(function)
    def call(*arguments: Value, **options: Value) -> Value:
        if not any(holds_symbol(a) for a in arguments):
            return function(*arguments, **options)
        result = function(*(to_sx(a) if holds_symbol(a) else a for a in arguments), **options)
        return symbols(ca.densify(result)) if isinstance(result, ca.SX) else result

    return call


def is_symbolic(*values: Value) -> bool:
    """Whether an SX is among the values, or inside a list or tuple among them."""
    return any(isinstance(v, ca.SX) or (isinstance(v, (list, tuple)) and is_symbolic(*v)) for v in values)


def numbers(value: Value, what: str) -> Array:
    """The value as a float64 array of any shape."""
    value = in_order(what, value)
    try:
        if isinstance(value, (str, bytes)):  # "1" is text, whatever NumPy makes of it
            raise TypeError
        return real(what, value)
    except (TypeError, ValueError, OverflowError) as error:
        got = f"the text {value!r}" if isinstance(value, str) else f"{type(value).__name__}: {value!r}"
        raise ShapeError(f"{what}: expected numbers, got {got}") from error


def as_scalar(value: Value, what: str, symbolic: bool = False) -> Value:
    """One scalar SX, or a float64 array whose every dimension is a batch dimension."""
    if not is_symbolic(value):
        array = numbers(value, what)
        return _constants(array, 0, what) if symbolic else array
    if not isinstance(value, ca.SX) or value.shape != (1, 1):
        raise ShapeError(f"{what}: expected one symbol, got {_shape_of(value)}")
    return value


def as_vector(value: Value, n: int, what: str, symbolic: bool = False) -> Value:
    """The value as (..., n) numbers, or as an n x 1 SX if it is one, holds one, or `symbolic` asks for it."""
    if is_symbolic(value):
        value = ca.vertcat(*value) if isinstance(value, (list, tuple)) else value
        if value.shape != (n, 1):
            raise ShapeError(f"{what}: expected a symbolic vector {n} x 1, got {_shape_of(value)}")
        return value
    array = numbers(value, what)
    if array.ndim == 0 or array.shape[-1] != n:
        raise ShapeError(f"{what}: expected shape (..., {n}), got {array.shape}")
    return _constants(array, 1, what) if symbolic else array


def as_matrix(value: Value, n: int, what: str, symbolic: bool = False) -> Value:
    """The value as (..., n, n) numbers, or as an n x n SX if it is one, holds one, or `symbolic` asks for
    it."""
    if is_symbolic(value):
        if isinstance(value, (list, tuple)):
            value = ca.vertcat(
                *(ca.horzcat(*row) if isinstance(row, (list, tuple)) else row for row in value)
            )
        if value.shape != (n, n):
            raise ShapeError(f"{what}: expected a symbolic matrix {n} x {n}, got {_shape_of(value)}")
        return value
    array = numbers(value, what)
    if array.shape[-2:] != (n, n):
        raise ShapeError(f"{what}: expected shape (..., {n}, {n}), got {array.shape}")
    return _constants(array, 2, what) if symbolic else array


def _constants(array: Array, ndim: int, what: str) -> SX:
    if array.ndim != ndim:
        raise ShapeError(
            f"{what}: numbers that meet symbols cannot have batch dimensions, got shape {array.shape}"
        )
    return ca.sparsify(ca.SX(ca.DM(array)))


def _shape_of(value: Value) -> str:
    return (
        f"SX {value.shape[0]} x {value.shape[1]}" if isinstance(value, ca.SX) else f"a {type(value).__name__}"
    )


def entries(v: Value) -> list[Value]:
    """The components of a vector made by `as_vector`: scalars that may be batched, or SX."""
    return ca.vertsplit(v) if isinstance(v, ca.SX) else [v[..., i] for i in range(v.shape[-1])]


def vector(components: Sequence[Value]) -> Value:
    """A vector from its components; batched components broadcast."""
    if is_symbolic(*components):
        return ca.vertcat(*components)
    return np.stack(np.broadcast_arrays(*components), axis=-1)


def matrix(rows: Sequence[Sequence[Value]]) -> Value:
    """A matrix from its rows of scalars; batched scalars broadcast, zeros among symbols become structural."""
    n, m = len(rows), len(rows[0])
    column_major = [rows[i][j] for j in range(m) for i in range(n)]
    if is_symbolic(*column_major):
        return ca.sparsify(ca.reshape(ca.vertcat(*column_major), n, m))
    A = np.empty(np.broadcast_shapes(*(np.shape(a) for a in column_major)) + (n, m))
    for i, row in enumerate(rows):
        for j, a in enumerate(row):
            A[..., i, j] = a
    return A


def identity(n: int, symbolic: bool) -> Value:
    """The n x n identity."""
    return ca.SX.eye(n) if symbolic else np.eye(n)


def entry(A: Value, i: int, j: int) -> Value:
    """A[i, j], batched for numbers."""
    return A[i, j] if isinstance(A, ca.SX) else A[..., i, j]


def transpose(A: Value) -> Value:
    """A with its last two axes exchanged."""
    return A.T if isinstance(A, ca.SX) else np.swapaxes(A, -1, -2)


def apply(A: Value, v: Value) -> Value:
    """The product A v of a matrix and a vector, both numbers or both symbols."""
    return A @ v if isinstance(A, ca.SX) else (A @ v[..., None])[..., 0]


def times(scalar: Value, A: Value) -> Value:
    """scalar * A for a matrix A."""
    return scalar * A if isinstance(A, ca.SX) else scalar[..., None, None] * A


def scale(scalar: Value, v: Value) -> Value:
    """scalar * v for a vector v."""
    return scalar * v if isinstance(v, ca.SX) else scalar[..., None] * v


def dot(a: Value, b: Value) -> Value:
    """a . b of two vectors."""
    return ca.dot(a, b) if isinstance(a, ca.SX) else (a * b).sum(axis=-1)


def cross(a: Value, b: Value) -> Value:
    """a x b of two vectors with three components."""
    if isinstance(a, ca.SX):
        return ca.cross(a, b)
    next_, last = [1, 2, 0], [2, 0, 1]  # np.cross takes five times as long
    return a[..., next_] * b[..., last] - a[..., last] * b[..., next_]


def sin(x: Value) -> Value:
    """Sine."""
    return ca.sin(x) if isinstance(x, ca.SX) else np.sin(x)


def cos(x: Value) -> Value:
    """Cosine."""
    return ca.cos(x) if isinstance(x, ca.SX) else np.cos(x)


def sqrt(x: Value) -> Value:
    """Square root."""
    return ca.sqrt(x) if isinstance(x, ca.SX) else np.sqrt(x)


def atan2(y: Value, x: Value) -> Value:
    """Angle of the point (x, y) [rad]."""
    return ca.atan2(y, x) if is_symbolic(y, x) else np.arctan2(y, x)


def where(condition: Value, a: Value, b: Value) -> Value:
    """a where the condition holds, b elsewhere. Both are evaluated: guard roots and divisions in them."""
    return ca.if_else(condition, a, b) if is_symbolic(condition) else np.where(condition, a, b)


def all_of(*conditions: SX) -> SX:
    """Whether all of some symbolic conditions hold, of one or more."""
    return functools.reduce(ca.logic_and, conditions)


def any_of(*conditions: SX) -> SX:
    """Whether one of some symbolic conditions holds."""
    return functools.reduce(ca.logic_or, conditions) if conditions else ca.SX(0)
