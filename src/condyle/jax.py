"""Systems inside JAX: operators and runs as functions that can be jitted, mapped and differentiated.

    import condyle.jax
    f = condyle.jax.operator(system, "forward_dynamics")
    udot = jax.jit(jax.vmap(f))(q, u)                       # one native batch
    g = jax.grad(lambda q, u: (f(q, u) ** 2).sum(), argnums=(0, 1))(q, u)

Machine code runs on the host, in double precision, for any device and precision of JAX; results have JAX's
precision: `jax.config.update("jax_enable_x64", True)` for all digits. Derivatives are exact and of first
order. Needs the extra `jax`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from numpy.typing import ArrayLike

from condyle.autodiff import OperatorMap, RunMap, check_sizes, named, no_second
from condyle.system.state import State
from condyle.system.system import System

__all__ = ["operator", "simulate"]


def operator(
    system: System, name: str, *, body: str | None = None, **options: object
) -> Callable[..., jax.Array]:
    """An operator of a System as a function of JAX's arrays.

    Args:
        system: the system; this freezes it.
        name: an operator with derivatives, such as "forward_dynamics" or "path_lengths".
        body: for operators of one body, such as "body_pose".
        options: discrete, locked, disabled, threads: as in the operator, the same in all calls.

    Returns:
        f(q, u, ..., parameters=None, inputs=None, z=None, t=None): the operator's arguments in order, then by
            name the Parameters, Inputs, auxiliary states and time that differ from the defaults. All are
            arrays whose last axis is the variable (t has one entry there) and whose leading axes broadcast.
            Results of several parts are one vector: a pose is R row by row, then p; energy is (kinetic,
            potential). Derivatives by q are those of plain arrays: changes of the length of a quaternion have
            no effect.

    Raises:
        UnknownNameError: no such operator, or it has no derivatives.
    """
    return _as_function(OperatorMap(system, name, body, options), f"condyle.jax.operator({name!r})")


def simulate(
    system: System,
    state: State,
    t_final: float,
    *,
    t: ArrayLike | None = None,
    accuracy: float = 1e-6,
    **options: object,
) -> Callable[..., jax.Array]:
    """A run as a function of its initial state, Parameters and inputs, with the derivatives of the run as it
    was computed (`traj.vjp`).

    Args:
        system: the system.
        state: initial state; arguments replace its variables.
        t_final: end of the run [s].
        t: output times [s], shape (T,); the end by default.
        accuracy: of the run.
        options: of `cd.simulate`, such as integrator and step.

    Returns:
        f(q=None, u=None, *, z=None, parameters=None, inputs=None): q, u, z side by side at the end, (..., n), or
            at the times, (..., T, n). Leading dimensions, and vmap, are members of one ensemble.

    Raises:
        DescriptionError: a state of another system, or derivatives of a run that has none.
    """
    run = RunMap(system, state, t_final, t, {"accuracy": accuracy, **options})
    return _as_function(run, "condyle.jax.simulate(...)")


def _as_function(map_: OperatorMap | RunMap, what: str) -> Callable[..., jax.Array]:
    def f(*arguments: Any, **options: Any) -> jax.Array:
        given = named(what, map_, arguments, options)
        arrays = {n: jnp.asarray(x, _precision()) for n, x in given.items()}
        lead = check_sizes(what, {n: x.shape for n, x in arrays.items()}, map_.sizes)
        flat = [jnp.broadcast_to(x, (*lead, x.shape[-1])) for x in arrays.values()]
        return value_p.bind(*flat, map=map_, names=tuple(arrays))  # type: ignore[no-any-return]

    f.__name__ = what
    return f


def _precision() -> Any:
    return jax.dtypes.canonicalize_dtype(np.float64)


# ---- three primitives: the value, its derivative in a direction (linear in it), and the transpose of that ----

value_p, tangent_p, cotangent_p = (Primitive(f"condyle_{n}") for n in ("value", "tangent", "cotangent"))
cotangent_p.multiple_results = True


def _host(x: Any) -> np.ndarray:
    return np.asarray(x, dtype=np.float64)


def _value(*arrays: Any, map: OperatorMap | RunMap, names: tuple[str, ...]) -> np.ndarray:
    return map.value(dict(zip(names, (_host(x) for x in arrays), strict=True)))


def _tangent(
    *arrays: Any, map: OperatorMap | RunMap, names: tuple[str, ...], wrt: tuple[str, ...]
) -> np.ndarray:
    host = [_host(x) for x in arrays]
    return map.jvp(dict(zip(names, host, strict=False)), dict(zip(wrt, host[len(names) :], strict=True)))


def _cotangent(
    *arrays: Any, map: OperatorMap | RunMap, names: tuple[str, ...], wrt: tuple[str, ...]
) -> list[Any]:
    host = [_host(x) for x in arrays]
    return map.vjp(dict(zip(names, host, strict=False)), host[-1], wrt)


def _lead(arrays: Sequence[Any]) -> tuple[int, ...]:
    return np.broadcast_shapes(*(x.shape[:-1] for x in arrays))


def _results(primitive: Primitive, arrays: Sequence[Any], names: Sequence[str], map: Any, wrt: Any) -> Any:
    """Shapes of a primitive's results."""
    lead = _lead(arrays[: len(names)])
    if primitive is not cotangent_p:
        if primitive is tangent_p:
            lead = np.broadcast_shapes(lead, _lead(arrays[len(names) :]))
        return jax.ShapeDtypeStruct((*lead, *map.shape), _precision())
    w = arrays[-1].shape
    lead = np.broadcast_shapes(lead, w[: len(w) - len(map.shape)])
    return [jax.ShapeDtypeStruct((*lead, map.sizes[n]), _precision()) for n in wrt]


def _register(primitive: Primitive, run: Callable[..., Any]) -> None:
    many = primitive is cotangent_p

    def call(*arrays: Any, **static: Any) -> Any:
        shapes = _results(primitive, arrays, static["names"], static["map"], static.get("wrt"))

        def on_host(*given: Any) -> Any:
            out = run(*given, **static)
            pairs = zip(out, shapes, strict=True) if many else [(out, shapes)]
            cast = [np.broadcast_to(x, s.shape).astype(s.dtype, copy=False) for x, s in pairs]
            return cast if many else cast[0]

        return jax.pure_callback(on_host, shapes, *arrays, vmap_method="sequential")

    @primitive.def_abstract_eval
    def _(*arrays: Any, **static: Any) -> Any:
        found = _results(primitive, arrays, static["names"], static["map"], static.get("wrt"))
        each = [jax.core.ShapedArray(s.shape, s.dtype) for s in (found if many else [found])]
        return each if many else each[0]

    def batched(arrays: Sequence[Any], axes: Sequence[Any], **static: Any) -> Any:
        """Add a leading dimension to all arguments: the native code evaluates one batch."""
        placed = [
            jnp.expand_dims(x, 0) if axis is None else jnp.moveaxis(x, axis, 0)
            for x, axis in zip(arrays, axes, strict=True)
        ]
        out = primitive.bind(*placed, **static)
        return (out, [0] * len(out)) if many else (out, 0)

    primitive.def_impl(jax.jit(call, static_argnames=("map", "names", "wrt")))
    mlir.register_lowering(primitive, mlir.lower_fun(call, multiple_results=many))
    batching.primitive_batchers[primitive] = batched


_register(value_p, _value)
_register(tangent_p, _tangent)
_register(cotangent_p, _cotangent)


def _value_jvp(primals: Any, tangents: Any, *, map: Any, names: tuple[str, ...]) -> Any:
    out = value_p.bind(*primals, map=map, names=names)
    known = [(n, t) for n, t in zip(names, tangents, strict=True) if not isinstance(t, ad.Zero)]
    wrt = tuple(n for n, _ in known)
    return out, tangent_p.bind(*primals, *(t for _, t in known), map=map, names=names, wrt=wrt)


def _tangent_transpose(w: Any, *arrays: Any, map: Any, names: tuple[str, ...], wrt: tuple[str, ...]) -> Any:
    primals = arrays[: len(names)]
    if isinstance(w, ad.Zero):
        return [None] * len(arrays)
    found = cotangent_p.bind(*primals, w, map=map, names=names, wrt=wrt)
    shapes = [x.aval.shape if ad.is_undefined_primal(x) else None for x in arrays[len(names) :]]
    return [None] * len(primals) + [
        None if shape is None else _summed(x, shape) for x, shape in zip(found, shapes, strict=True)
    ]


def _summed(x: Any, shape: tuple[int, ...]) -> Any:
    """Sum over the leading dimensions in which the variable was broadcast."""
    axes = tuple(k for k, n in enumerate(shape) if n == 1 and x.shape[k] != 1)
    return x.sum(axes, keepdims=True) if axes else x


def _no_second(primitive: Primitive, *_: Any, **__: Any) -> Any:
    raise NotImplementedError(no_second("condyle.jax", "jax.grad"))


ad.primitive_jvps[value_p] = _value_jvp
ad.primitive_transposes[tangent_p] = _tangent_transpose
for _p in (tangent_p, cotangent_p):
    ad.primitive_jvps[_p] = partial(_no_second, _p)
