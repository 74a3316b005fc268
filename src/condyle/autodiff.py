"""Operators and runs as functions of plain arrays, with directional derivatives and gradients, for
condyle.jax and condyle.torch.

Other libraries use arrays, not manifolds: a direction of q has nq entries there, nu along the manifold here.
With qdot = N v and N+ its left inverse (u_from_qdot), which removes changes of a quaternion's length,

    df = (df/dv) N+ dq,        gradient by q = N+' (gradient by v)                                      (1)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from condyle.arrays import Array, real
from condyle.errors import ArgumentError, NativeError, ShapeError, UnknownNameError, check_names
from condyle.mobilizers import Mobilizer
from condyle.status import Status
from condyle.studies.simulate import simulate
from condyle.system.checked_arguments import check_state
from condyle.system.derivatives import derivable
from condyle.system.state import State
from condyle.system.system import System

TAIL = ("parameters", "inputs", "z", "t")
"""Options of an operator with derivatives."""
FIXED = ("discrete", "locked", "disabled", "threads")
"""Options without derivatives."""


class OperatorMap:
    """One operator of a System as a function of plain arrays that share their leading dimensions.

    Args:
        system: the system.
        name: of an operator with derivatives.
        body: for operators of one body.
        options: discrete, locked, disabled, threads: the same in all calls.

    Attributes:
        names: its variables in order: the arguments, then parameters, inputs, z, t.
        required: number of required variables.
        positional: number of positional variables.
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
        self._own = self.positional = len(own)
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
            tangents = {**tangents, "q": tangent(self.system, given["q"], tangents["q"])}
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


class RunMap:
    """A run as a function of plain arrays: y = (q, u, z) at its end, or at some times.

    Args:
        system: the system.
        state: initial state; arguments replace its variables.
        t_final: end of the run [s].
        t: times [s], shape (T,); the end, if None.
        options: of `cd.simulate`.

    Attributes:
        names: q, u, z at the start, parameters, inputs.
        shape: (n,), or (T, n).
    """

    required, positional = 0, 2

    def __init__(
        self, system: System, state: State, t_final: float, t: Any, options: Mapping[str, Any]
    ) -> None:
        check_state("simulate", system, state)
        self.system, self.state, self.t_final, self.options = state.system, state, t_final, dict(options)
        self.names = ("q", "u", "z", "parameters", "inputs")
        self.sizes = {n: len(self.system.compiled.entries[n].names) for n in self.names}
        n = sum(self.sizes[name] for name in self.names[:3])
        self.t = None if t is None else real("simulate: t", t, "times [s]")
        if self.t is not None and self.t.ndim != 1:
            raise ShapeError(f"simulate: t: expected times [s], shape (T,), got {self.t.shape}")
        self.shape = (n,) if self.t is None else (len(self.t), n)
        self._last: tuple[Any, Any] = (None, None)

    def _runs(self, given: Mapping[str, Array]) -> Any:
        """The Trajectory of one start, or the Ensemble of many; that of the last call is cached."""
        key = tuple((n, x.shape, x.tobytes()) for n, x in given.items())
        if self._last[0] == key:
            return self._last[1]
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in given.values()))
        starts: dict[str, Any] = {n: self._flat(x, lead) for n, x in given.items()}
        if lead:
            same = {n: getattr(self.state, n) for n in (*self.names, "t", "discrete") if n not in starts}
            common = {n: getattr(self.state, n) for n in ("locked", "disabled")}
            runs: Any = simulate(
                self.system, same | common | starts, self.t_final, keep="steps", **self.options
            )
            bad = np.flatnonzero(~runs.finished)
            status = f"member {bad[0]}: {runs.status[bad[0]]}" if len(bad) else ""
        else:
            runs = simulate(self.system, self.state.replace(**starts), self.t_final, **self.options)
            status = "" if runs.status in (Status.FINISHED, Status.EVENT) else str(runs.status)
        if status:
            raise NativeError(f"simulate: a run did not come to its end: {status}")
        self._last = (key, runs)
        return runs

    @staticmethod
    def _flat(x: Array, lead: tuple[int, ...]) -> Array:
        return (
            np.ascontiguousarray(np.broadcast_to(x, (*lead, x.shape[-1])).reshape(-1, x.shape[-1]))
            if lead
            else x
        )

    def value(self, given: Mapping[str, Array]) -> Array:
        """y, (..., *shape)."""
        runs, lead = self._runs(given), np.broadcast_shapes(*(x.shape[:-1] for x in given.values()))
        if self.t is not None:
            found = runs.at(self.t)
        else:
            found = runs.y_end if lead else runs.y[-1]
        return np.array(found).reshape(*lead, *self.shape)

    def jvp(self, given: Mapping[str, Array], tangents: Mapping[str, Array]) -> Array:
        """The derivative in a direction, (..., *shape)."""
        if "q" in tangents:
            tangents = {**tangents, "q": tangent(self.system, given["q"], tangents["q"])}
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in (*given.values(), *tangents.values())))
        given = {n: np.broadcast_to(x, (*lead, x.shape[-1])) for n, x in given.items()}
        runs, wrt = self._runs(given), tuple(tangents)
        if not lead:
            return runs.jvp(dict(tangents), t=self.t).reshape(self.shape)  # type: ignore[no-any-return]
        J = runs.jacobian(wrt=wrt, t=self.t)  # members have directions of their own
        flat = {n: self._flat(np.asarray(x), lead) for n, x in tangents.items()}
        out = sum(np.einsum("i...k,ik->i...", J[n], flat[n]) for n in wrt)
        return np.asarray(out).reshape(*lead, *self.shape)

    def vjp(self, given: Mapping[str, Array], cotangent: Array, wrt: Sequence[str]) -> list[Array]:
        """Gradients of sum(cotangent * y), one (..., n) per variable."""
        lead = cotangent.shape[: cotangent.ndim - len(self.shape)]
        lead = np.broadcast_shapes(lead, *(x.shape[:-1] for x in given.values()))
        given = {n: np.broadcast_to(x, (*lead, x.shape[-1])) for n, x in given.items()}
        w = np.broadcast_to(cotangent, (*lead, *self.shape))
        runs = self._runs(given)
        if lead:
            w = np.ascontiguousarray(w.reshape(-1, *self.shape))
        found = runs.vjp(w, t=self.t, wrt=tuple(wrt))
        found = {n: np.asarray(x).reshape(*lead, -1) for n, x in found.items()}
        if "q" in found:
            found["q"] = ambient(self.system, given["q"], found["q"])
        return [found[n] for n in wrt]


def tangent(system: System, q: Array, dq: Array) -> Array:
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
    what: str, map_: OperatorMap | RunMap, arguments: Sequence[Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments by name, without those that are None."""
    names = map_.names
    if not map_.required <= len(arguments) <= map_.positional:
        wanted = ", ".join(names[: map_.required or map_.positional])
        raise ArgumentError(f"{what}: expected {wanted}, got {len(arguments)} arguments")
    check_names(f"argument of {what}", options, names)
    given = dict(zip(names, arguments, strict=False)) | dict(options)
    found = {name: given[name] for name in names if given.get(name) is not None}
    if not found:
        raise ArgumentError(f"{what}: expected some of {', '.join(names)}, got none")
    return found


def check_sizes(what: str, shapes: Mapping[str, Sequence[int]], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The common leading dimensions of all arguments, or a ShapeError."""
    for name, shape in shapes.items():
        if not shape or shape[-1] != sizes[name]:
            raise ShapeError(f"{what}: {name}: expected shape (..., {sizes[name]}), got {tuple(shape)}")
    try:
        return np.broadcast_shapes(*(tuple(shape[:-1]) for shape in shapes.values()))
    except ValueError:
        raise ShapeError(
            f"{what}: leading dimensions differ: { ({n: tuple(s) for n, s in shapes.items()}) }"
        ) from None


def no_second(module: str, gradient: str) -> str:
    """The error for derivatives of derivatives."""
    return (
        f"{module}: derivatives of derivatives are not supported; take differences of {gradient}, or the expressions "
        "themselves from system.casadi(...)"
    )
