"""Systems inside PyTorch: operators and runs as functions of tensors, with gradients.

    import condyle.torch
    f = condyle.torch.operator(system, "forward_dynamics")
    loss = (f(q, u, parameters=p) ** 2).sum()               # leading dimensions: one native batch
    loss.backward()

Machine code runs on the host, in double precision; results have the precision and the device of the
arguments. Derivatives are exact and of first order, in reverse (backward, torch.func.grad) and forward
(torch.func.jvp), and torch.func.vmap is one native batch. Needs the extra `torch`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from condyle.autodiff import OperatorMap, RunMap, check_sizes, named, no_second
from condyle.system.state import State
from condyle.system.system import System

__all__ = ["operator", "simulate"]


def operator(
    system: System, name: str, *, body: str | None = None, **options: object
) -> Callable[..., torch.Tensor]:
    """An operator of a System as a function of tensors. It takes what `condyle.jax.operator` takes.

    Returns:
        f(q, u, ..., parameters=None, inputs=None, z=None, t=None), as that of `condyle.jax.operator`.
    """
    return _as_function(OperatorMap(system, name, body, options), f"condyle.torch.operator({name!r})")


def simulate(
    system: System,
    state: State,
    t_final: float,
    *,
    t: ArrayLike | None = None,
    accuracy: float = 1e-6,
    **options: object,
) -> Callable[..., torch.Tensor]:
    """A run as a function of tensors, with the derivatives of the run as it was computed (`traj.vjp`). It takes
    what `condyle.jax.simulate` takes.

    Returns:
        f(q=None, u=None, *, z=None, parameters=None, inputs=None), as that of `condyle.jax.simulate`; leading
            dimensions, and torch.func.vmap, are members of one ensemble.
    """
    run = RunMap(system, state, t_final, t, {"accuracy": accuracy, **options})
    return _as_function(run, "condyle.torch.simulate(...)")


def _as_function(map_: OperatorMap | RunMap, what: str) -> Callable[..., torch.Tensor]:
    def f(*arguments: Any, **options: Any) -> torch.Tensor:
        given = named(what, map_, arguments, options)
        like = next((x for x in given.values() if isinstance(x, torch.Tensor)), None)
        kind: dict[str, Any] = {"dtype": torch.float64 if like is None else like.dtype}
        kind["device"] = None if like is None else like.device
        tensors = [torch.as_tensor(x, **kind) for x in given.values()]
        shapes = dict(zip(given, (tuple(x.shape) for x in tensors), strict=True))
        lead = check_sizes(what, shapes, map_.sizes)
        return _Value.apply(map_, tuple(given), *(x.expand(*lead, x.shape[-1]) for x in tensors))  # type: ignore[no-any-return]

    f.__name__ = what
    return f


def _host(x: torch.Tensor) -> np.ndarray:
    array = x.detach().cpu().numpy()
    while array.ndim > 1 and array.shape[0] and array.strides[0] == 0:
        array = array[0]  # one row for all: it need not be copied
    return array.astype(np.float64, copy=False)


def _hosts(names: tuple[str, ...], tensors: Any) -> dict[str, np.ndarray]:
    return {n: _host(x) for n, x in zip(names, tensors, strict=True)}


def _back(array: np.ndarray, shape: tuple[int, ...], like: torch.Tensor) -> torch.Tensor:
    whole = array if array.shape == shape and array.flags.carray else np.broadcast_to(array, shape).copy()
    return torch.from_numpy(whole).to(dtype=like.dtype, device=like.device)


class _Once(torch.autograd.Function):
    """What has no derivative of its own."""

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None: ...

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise NotImplementedError(no_second("condyle.torch", "torch.func.grad"))

    jvp = backward


class _Value(torch.autograd.Function):
    """The value; its leading dimensions are those of its arguments."""

    @staticmethod
    def forward(map_: OperatorMap | RunMap, names: tuple[str, ...], *tensors: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        out = map_.value(_hosts(names, tensors))
        return _back(out, (*tensors[0].shape[:-1], *map_.shape), tensors[0])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.map, ctx.names, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, w: torch.Tensor) -> Any:  # type: ignore[override]
        tensors = ctx.saved_tensors
        wrt = tuple(n for n, need in zip(ctx.names, ctx.needs_input_grad[2:], strict=True) if need)
        found = dict(zip(wrt, _Gradient.apply(ctx.map, ctx.names, wrt, w, *tensors), strict=True))
        return (None, None, *(found.get(n) for n in ctx.names))

    @staticmethod
    def jvp(ctx: Any, _map: Any, _names: Any, *tangents: Any) -> torch.Tensor:  # type: ignore[override]
        wrt = tuple(n for n, x in zip(ctx.names, tangents, strict=True) if x is not None)
        given = [x for x in tangents if x is not None]
        return _Direction.apply(ctx.map, ctx.names, wrt, *ctx.saved_tensors, *given)  # type: ignore[no-any-return]

    @staticmethod
    def vmap(info: Any, in_dims: Any, map_: Any, names: Any, *tensors: Any) -> Any:
        return _Value.apply(map_, names, *_leading(info, in_dims[2:], tensors)), 0


class _Gradient(_Once):
    """The transpose of the derivative: gradients of sum(w * value)."""

    @staticmethod
    def forward(map_: Any, names: Any, wrt: Any, w: torch.Tensor, *tensors: torch.Tensor) -> Any:  # type: ignore[override]
        lead = tensors[0].shape[:-1]
        cotangent = w.detach().cpu().numpy().astype(np.float64, copy=False)
        found = map_.vjp(_hosts(names, tensors), cotangent, wrt) if wrt else []
        return tuple(_back(x, (*lead, map_.sizes[n]), w) for n, x in zip(wrt, found, strict=True))

    @staticmethod
    def vmap(info: Any, in_dims: Any, map_: Any, names: Any, wrt: Any, *tensors: Any) -> Any:
        out = _Gradient.apply(map_, names, wrt, *_leading(info, in_dims[3:], tensors))
        return out, (0,) * len(out)


class _Direction(_Once):
    """The derivative in a direction."""

    @staticmethod
    def forward(map_: Any, names: Any, wrt: Any, *tensors: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        primals, tangents = tensors[: len(names)], tensors[len(names) :]
        out = map_.jvp(_hosts(names, primals), _hosts(wrt, tangents))
        return _back(out, (*primals[0].shape[:-1], *map_.shape), primals[0])

    @staticmethod
    def vmap(info: Any, in_dims: Any, map_: Any, names: Any, wrt: Any, *tensors: Any) -> Any:
        return _Direction.apply(map_, names, wrt, *_leading(info, in_dims[3:], tensors)), 0


def _leading(info: Any, dims: Any, tensors: Any) -> list[torch.Tensor]:
    """The mapped dimension first; the others have one row for all."""
    return [
        x.expand(info.batch_size, *x.shape) if d is None else x.movedim(d, 0)
        for x, d in zip(tensors, dims, strict=True)
    ]
