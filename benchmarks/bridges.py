"""What JAX and PyTorch add to a call: `python -m benchmarks.bridges`. Processor time, medians."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable

import numpy as np

import condyle as cd

MANY = 100_000


def median(call: Callable[[], object], seconds: float = 1.0) -> float:
    """Processor time of one call [s]."""
    call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.process_time()
        for _ in range(repeat := 1 if times and times[0] > 1e-3 else 20):
            call()
        times.append((time.process_time() - start) / repeat)
    return statistics.median(times)


def system() -> cd.System:
    s = cd.System()
    s.add_body("trunk", mobilizer=cd.Ball(), mass=30.0, com=(0, 0.2, 0), inertia=(1.2, 0.3, 1.3))
    s.add_body("arm", "trunk", cd.Pin(), (0, 0.5, 0), mass=3.0, com=(0, -0.3, 0), inertia=(0.1, 0.01, 0.1))
    return s


def main() -> None:
    s, rng = system(), np.random.default_rng(0)
    Q, U = rng.normal(size=(MANY, 5)), rng.normal(size=(MANY, 4))
    Q[:, :4] /= np.linalg.norm(Q[:, :4], axis=1, keepdims=True)
    q, u, W = Q[0], U[0], np.ones((MANY, 4))
    state, other = (
        s.state(q=q, u=u),
        (1 + 1e-12 * k for k in itertools.count()),
    )  # runs are kept: no two are alike
    rows: dict[str, list[float]] = {
        "forward_dynamics, one state": [median(lambda: s.forward_dynamics(q, u))],
        "and its gradient by q, u": [
            median(lambda: s.vjp("forward_dynamics", q, u, np.zeros(4), cotangent=W[0], wrt=("q", "u")))
        ],
        f"forward_dynamics, {MANY:,} states": [median(lambda: s.forward_dynamics(Q, U))],
        "and their gradients": [
            median(lambda: s.vjp("forward_dynamics", Q, U, np.zeros(4), cotangent=W, wrt=("q", "u")))
        ],
        "a run of 1 s": [
            median(lambda: cd.simulate(s, state.replace(u=u * next(other)), 1.0, accuracy=1e-6))
        ],
        "and its gradient by u": [
            median(lambda: cd.simulate(s, state, 1.0, accuracy=1e-6).vjp(np.ones(9), wrt="u"))
        ],
    }
    names = ["Condyle"]
    try:
        import jax

        import condyle.jax

        jax.config.update("jax_enable_x64", True)
        f = condyle.jax.operator(s, "forward_dynamics")
        end = condyle.jax.simulate(s, state, 1.0, accuracy=1e-6)
        one, g = jax.jit(f), jax.jit(jax.grad(lambda q, u: f(q, u).sum(), (0, 1)))
        run, rg = jax.jit(lambda u: end(u=u)), jax.jit(jax.grad(lambda u: end(u=u).sum()))
        a, b, A, B = (jax.numpy.asarray(x) for x in (q, u, Q, U))
        mapped = jax.jit(jax.vmap(f))
        calls = (
            lambda: one(a, b),
            lambda: g(a, b),
            lambda: mapped(A, B),
            lambda: g(A, B),
            lambda: run(b * next(other)),
            lambda: rg(b * next(other)),
        )
        for row, call in zip(rows.values(), calls, strict=True):
            row.append(median(lambda call=call: jax.block_until_ready(call())))
        names.append("jit in JAX")
    except ImportError:
        print("JAX is not installed")
    try:
        import torch

        import condyle.torch

        f = condyle.torch.operator(s, "forward_dynamics")
        end = condyle.torch.simulate(s, state, 1.0, accuracy=1e-6)

        def back(function: Callable[..., torch.Tensor], *x: torch.Tensor) -> Callable[[], object]:
            return lambda: torch.autograd.grad(function(*x).sum(), x)

        x = [torch.tensor(v) for v in (q, u, Q, U)]
        y = [torch.tensor(v, requires_grad=True) for v in (q, u, Q, U)]
        calls = (
            lambda: f(x[0], x[1]),
            back(f, y[0], y[1]),
            lambda: f(x[2], x[3]),
            back(f, y[2], y[3]),
            lambda: end(u=x[1] * next(other)),
            back(lambda u: end(u=u * next(other)), y[1]),
        )
        for row, call in zip(rows.values(), calls, strict=True):
            row.append(median(call))
        names.append("PyTorch")
    except ImportError:
        print("PyTorch is not installed")
    print(f"{'microseconds':36}" + "".join(f"{n:>14}" for n in names))
    for name, row in rows.items():
        print(f"{name:36}" + "".join(f"{1e6 * x:14,.1f}" for x in row))


if __name__ == "__main__":
    main()
