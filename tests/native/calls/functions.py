"""A function to try, its right answers, and a process to try it in."""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.native.calls.native_function import NativeFunction
from tests.process import output

EPS = np.finfo(float).eps
EMPTY = np.empty(0)


def build() -> ca.Function:
    q, none, u = ca.SX.sym("q", 7), ca.SX.sym("none", 0), ca.SX.sym("u", 3)
    force = ca.vertcat(*(ca.sin(q[k]) * u[k % 3] for k in range(7)))
    return ca.Function("f", [q, none, u], [force, ca.SX(0, 1), ca.vertcat(u[0], 0, q[1] * u[2])])


def expected(q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    shape = np.broadcast_shapes(q.shape[:-1], u.shape[:-1])
    q, u = np.broadcast_to(q, (*shape, 7)), np.broadcast_to(u, (*shape, 3))
    force = np.sin(q) * u[..., [0, 1, 2, 0, 1, 2, 0]]
    return force, np.stack([u[..., 0], 0 * u[..., 0], q[..., 1] * u[..., 2]], -1)


def make(build=build, key: str = "test", **options) -> NativeFunction:
    return NativeFunction(
        "forward",
        build,
        key=key,
        inputs=[("q", 7), ("none", 0), ("u", 3)],
        outputs=[("force", 7), ("nothing", 0), ("rest", 3)],
        **options,
    )


def add_one(key: str = "one") -> NativeFunction:
    """x + 1, of one vector."""
    x = ca.SX.sym("x", 5)
    return NativeFunction(
        "add_one", lambda: ca.Function("f", [x], [x + 1]), key=key, inputs=[("x", 5)], outputs=[("y", 5)]
    )


def check(results, q, u) -> None:
    force, nothing, rest = results
    want = expected(np.asarray(q, float), np.asarray(u, float))
    assert nothing.shape == (*want[0].shape[:-1], 0)
    # sin is good to 2 ulp, the product adds a half.
    np.testing.assert_allclose(force, want[0], rtol=4 * EPS, atol=0)
    np.testing.assert_allclose(rest, want[1], rtol=4 * EPS, atol=0)


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def run(program: str, **environment: str) -> str:
    """Output of a program in a process of its own."""
    return output("-c", program, environment=environment)
