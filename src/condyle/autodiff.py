"""Operators and runs as functions of plain arrays, with directional derivatives and gradients: what
condyle.jax and condyle.torch hand to their libraries.

Other libraries know arrays, not manifolds: a direction of q has nq entries there, ours nu along the manifold.
With qdot = N v and N+ its left inverse (u_from_qdot), which drops what would change a quaternion's length,

    df = (df/dv) N+ dq,        gradient by q = N+' (gradient by v)                                      (1)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import ArgumentError, ShapeError, UnknownNameError
from condyle.mobilizers import Mobilizer
from condyle.system.derivatives import derivable
from condyle.system.system import System

TAIL = ("parameters", "inputs", "z", "t")
"""Options of an operator that have derivatives."""
FIXED = ("discrete", "locked", "disabled", "threads")
"""Those that have none."""


class OperatorMap:
    """One operator of a System as a function of plain arrays that share their leading dimensions.

    Args:
        system: whose it is.
        name: of the operator, one of those with derivatives.
        body: of which, where the operator asks for one.
        options: discrete, locked, disabled, threads: the same in all calls.

    Attributes:
        names: its variables in order: the arguments, then parameters, inputs, z, t.
        required: how many must be given.
        shape: of the result for one state. Results of several parts are one vector: a pose is R row by row,
            then p; energy is (kinetic, potential).
    """

    def __init__(self, system: System, name: str, body: str | None, options: Mapping[str, Any]) -> None:
        record = derivable(name)
        for option in options:
            if option not in FIXED:
                where = "an argument of the function itself" if option in TAIL else ""
                raise UnknownNameError(f"option of operator({name!r})", option, FIXED, where)
        if bool(record.per_body) != (body is not None):
            need = "it answers for one body: body='thigh'" if record.per_body else "it takes no body"
            raise ArgumentError(f"operator({name!r}): {need}")
        self.system, self.name, self.record, self.options = system, name, record, dict(options)
        model = system.compiled.model
        own = [n for n, _ in record.inputs(model) if n != "tail"]
        sizes = dict(record.inputs(model)) | {n: len(system.compiled.entries[n].names) for n in TAIL[:3]}
        self.names = (*own, *TAIL)
        self.sizes = sizes | {"t": 1}
        self.required = len(own) - (own[-1] == "tau")
        self._own = len(own)
        self._body = [] if body is None else [model.tree.body(body).name]
        self._place = self._own if record.per_body == "row" else 1
        shapes = list(record.shapes(model).values())
        shape = shapes[0] if len(shapes) == 1 else (sum(int(np.prod(s)) for s in shapes),)
        self.shape = shape[1:] if record.per_body == "row" and len(shapes) == 1 else shape

    @cached_property
    def _method(self) -> Callable[..., Any]:
        return attrgetter(self.name)(self.system)  # type: ignore[no-any-return]

    def _call(self, given: Mapping[str, Array]) -> tuple[list[Any], dict[str, Any]]:
        """Arguments and options as System takes them."""
        arguments: list[Any] = [given[n] for n in self.names[: self._own] if n in given]
        arguments[self._place : self._place] = self._body
        options = {n: given[n] for n in TAIL if n in given and self.sizes[n]}
        if "t" in options:
            options["t"] = options["t"][..., 0]
        return arguments, options | self.options

    def value(self, given: Mapping[str, Array]) -> Array:
        """The result, (..., *shape)."""
        arguments, options = self._call(given)
        result = self._method(*arguments, **options)
        if isinstance(result, np.ndarray):
            return result
        parts = [np.asarray(part) for part in result]
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in given.values()))
        return np.concatenate([x.reshape(*lead, -1) for x in parts], axis=-1)

    def jvp(self, given: Mapping[str, Array], tangents: Mapping[str, Array]) -> Array:
        """The derivative in a direction, (..., *shape)."""
        arguments, options = self._call(given)
        if "q" in tangents:
            tangents = {**tangents, "q": along(self.system, given["q"], tangents["q"])}
        out = self.system.jvp(self.name, *arguments, tangents=dict(tangents), **options)
        return out.reshape(*out.shape[:-1], *self.shape)

    def vjp(self, given: Mapping[str, Array], cotangent: Array, wrt: Sequence[str]) -> list[Array]:
        """Gradients of sum(cotangent * result), one (..., n) per variable."""
        arguments, options = self._call(given)
        lead = cotangent.shape[: cotangent.ndim - len(self.shape)]
        w = cotangent.reshape(*lead, -1)
        found = self.system.vjp(self.name, *arguments, cotangent=w, wrt=tuple(wrt), **options)
        if "q" in found:
            found["q"] = ambient(self.system, given["q"], found["q"])
        return [found[n] for n in wrt]


def along(system: System, q: Array, dq: Array) -> Array:
    """A direction of q along the manifold, (..., nu), from one of plain arrays, (..., nq): (1)."""
    return system.kinematics.u_from_qdot(q, dq) if _has_rates(system) else dq


def ambient(system: System, q: Array, gradient: Array) -> Array:
    """Gradients by q as plain arrays (..., nq) from those along the manifold (..., nu): (1)."""
    if not _has_rates(system):
        return gradient
    zero = np.zeros(system.nq)
    return system.vjp("kinematics.u_from_qdot", q, zero, cotangent=gradient, wrt=("qdot",))["qdot"]


def _has_rates(system: System) -> bool:
    """Whether some speeds are not the rates of their coordinates."""
    return any(type(body.mobilizer).N is not Mobilizer.N for body in system.bodies)


def named(
    what: str, names: Sequence[str], required: int, arguments: Sequence[Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments by their names; those that are None are left out."""
    if not required <= len(arguments) <= len(names) - len(TAIL):
        raise ArgumentError(f"{what}: expected {', '.join(names[:required])}, got {len(arguments)} arguments")
    for option in options:
        if option not in names:
            raise UnknownNameError(f"argument of {what}", option, names)
    given = dict(zip(names, arguments, strict=False)) | dict(options)
    return {name: given[name] for name in names if given.get(name) is not None}


def check_sizes(what: str, shapes: Mapping[str, Sequence[int]], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The leading dimensions that all arguments share, or a ShapeError."""
    for name, shape in shapes.items():
        if not shape or shape[-1] != sizes[name]:
            raise ShapeError(f"{what}: {name}: expected shape (..., {sizes[name]}), got {tuple(shape)}")
    try:
        return np.broadcast_shapes(*(tuple(shape[:-1]) for shape in shapes.values()))
    except ValueError:
        raise ShapeError(
            f"{what}: leading dimensions differ: { ({n: tuple(s) for n, s in shapes.items()}) }"
        ) from None
