"""Small kernels traced once and called on symbols: C++ then inlines them and folds constants.

A Python-level operation on SX costs about 20 microseconds, so that a recursion written plainly over a hundred
bodies takes seconds to build. `@inlined` lets it be written plainly and run once per shape.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import casadi as ca


def _flatten(value: Any, leaves: list[ca.SX]) -> Any:
    if isinstance(value, tuple):
        return tuple(_flatten(v, leaves) for v in value)
    leaves.append(value if isinstance(value, ca.SX) else ca.SX(value))
    return leaves[-1].shape


def _unflatten(shape: Any, leaves: Any) -> Any:
    if shape and isinstance(shape[0], tuple):
        return tuple(_unflatten(s, leaves) for s in shape)
    return next(leaves)


def inlined(fn: Callable[..., Any]) -> Callable[..., Any]:
    """fn takes and returns SX matrices or (nested, non-empty) tuples of them; it is traced once for each set
    of shapes."""
    traced: dict[Any, tuple[ca.Function, Any]] = {}

    @functools.wraps(fn)
    def call(*arguments: Any) -> Any:
        leaves: list[ca.SX] = []
        shape = _flatten(arguments, leaves)
        if shape not in traced:
            symbols = [ca.SX.sym(f"x{i}", *x.shape) for i, x in enumerate(leaves)]
            results: list[ca.SX] = []
            out = _flatten(fn(*_unflatten(shape, iter(symbols))), results)
            traced[shape] = ca.Function(fn.__name__, symbols, results, {"cse": True}), out
        function, out = traced[shape]
        return _unflatten(out, iter(function.call(leaves, True, False)))

    return call
