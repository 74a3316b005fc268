"""Numerical methods as trees of nodes: linear solve, Newton's method, Runge-Kutta steps, fixed-step integration."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError, ShapeError
from condyle.native import jit
from condyle.native.nodes import Kernel, Node, Scan, kernel
from condyle.native.program import Program


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method as data.

        k_i = f(t + c_i h, y + h sum_j A_ij k_j),   y+ = y + h sum_i b_i k_i,   error = h sum_i e_i k_i

    Args:
        order: of y+; measured in the tests.
        A: rows of the strictly lower triangle, shape (s, 0..s-1).
        b: weights, shape (s,).
        e: weights of the error estimate, shape (s,), or empty. If b is the last row of A (first same as last), the estimate
            may have one weight more, for f at the new point.
    """

    name: str
    order: int
    A: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    e: tuple[float, ...] = ()

    @property
    def c(self) -> tuple[float, ...]:
        return tuple(sum(row) for row in self.A)


RK4 = Tableau("rk4", 4, ((), (1/2,), (0, 1/2), (0, 0, 1)), (1/6, 1/3, 1/3, 1/6))
MERSON = Tableau("merson", 4, ((), (1/3,), (1/6, 1/6), (1/8, 0, 3/8), (1/2, 0, -3/2, 2)), (1/6, 0, 0, 2/3, 1/6),
                 (1/15, 0, -3/10, 4/15, -1/30))
DORMAND_PRINCE = Tableau(
    "dormand-prince", 5,
    ((), (1/5,), (3/40, 9/40), (44/45, -56/15, 32/9), (19372/6561, -25360/2187, 64448/6561, -212/729),
     (9017/3168, -355/33, 46732/5247, 49/176, -5103/18656)),
    (35/384, 0, 500/1113, 125/192, -2187/6784, 11/84),
    (-71/57600, 0, 71/16695, -71/1920, 17253/339200, -22/525, 1/40))


def _sum(weights: tuple[float, ...], k: tuple[Any, ...]) -> Any:
    return sum((w * x for w, x in zip(weights, k) if w != 0), 0)


def rk_step(tableau: Tableau, rhs: Callable[[str, str, str], Node], sizes: dict[str, int], *, t: str = "t", y: str = "y",
            h: str = "h", y_next: str = "y_next", error: str | None = None) -> Node:
    """One step: y_next <- y at t + h. `sizes` gains the slices k0.., "t_stage", "y_stage" and those named here.

    Args:
        rhs: rhs(t, y, k), a tree that computes slice k = f(t, y) from slices t and y; the same function for every stage is
            compiled once.
        error: slice for the estimate of the local error, shape as y; the tableau must have one.
    """
    n, s = sizes[y], len(tableau.A)
    last = len(tableau.e) > s                               # the estimate needs f at the new point too
    k = [f"k{i}" for i in range(s + (error is not None and last))]
    sizes.update({"t_stage": 1, "y_stage": n, y_next: n}, **dict.fromkeys(k, n))

    def stage(i: int) -> Node:
        used = [k[j] for j, a in enumerate(tableau.A[i]) if a != 0]
        weights = tuple(a for a in tableau.A[i] if a != 0)
        return kernel(lambda t, h, y, *k: (t + tableau.c[i] * h, y + h * _sum(weights, k)), [t, h, y, *used],
                      ["t_stage", "y_stage"], sizes, f"stage_{i}")

    tree: list[Node] = [rhs(t, y, k[0])]
    for i in range(1, s):
        tree += [stage(i), rhs("t_stage", "y_stage", k[i])]
    tree.append(kernel(lambda h, y, *k: y + h * _sum(tableau.b, k), [h, y, *k[:s]], [y_next], sizes, "advance"))
    if error is None:
        return tree
    if not tableau.e:
        raise DescriptionError(f"{tableau.name} has no error estimate: use a tableau with weights e")
    sizes[error] = n
    if last:
        tree += [kernel(lambda t, h: t + h, [t, h], ["t_stage"], sizes, "end"), rhs("t_stage", y_next, k[s])]
    tree.append(kernel(lambda h, *k: h * _sum(tableau.e, k), [h, *k], [error], sizes, "estimate"))
    return tree


def integrate_fixed(tableau: Tableau, rhs: Callable[[str, str, str], Node], sizes: dict[str, int]) -> Node:
    """A tree that takes count "every" steps of slice h for each of count "frames" rows of the stream "Y".

    Slices: t0, h, y (state, overwritten), step (steps taken so far; t = t0 + step h, free of accumulated rounding).
    """
    sizes.update(t0=1, t=1, h=1, step=1)
    step = rk_step(tableau, rhs, sizes, y_next="y")
    clock = kernel(lambda t0, h, k: (t0 + k * h, k + 1), "t0 h step", "t step", sizes, "clock")
    frame = kernel(lambda y: y, "y", "Y", sizes | {"Y": sizes["y"]}, "frame")
    return Scan("frames", [Scan("every", [clock, step]), frame], ["Y"])


def _rhs(f: ca.Function, n: int) -> tuple[int, Callable[[str, str, str], Node]]:
    """Number of parameters of f(t, y) or f(t, y, p), and its tree for rk_step."""
    if f.n_in() not in (2, 3) or f.n_out() != 1:
        raise DescriptionError(f"right-hand side {f.name()!r} has {f.n_in()} inputs and {f.n_out()} outputs: expected "
                               "f(t, y) or f(t, y, p) with one output")
    if (f.numel_in(0), f.numel_in(1), f.numel_out(0)) != (1, n, n):
        raise DescriptionError(f"right-hand side {f.name()!r} has sizes t: {f.numel_in(0)}, y: {f.numel_in(1)}, output: "
                               f"{f.numel_out(0)}: expected 1, {n}, {n} as y0 has")
    x = [ca.SX.sym(name, f.numel_in(i)) for i, name in enumerate(["t", "y", "p"][:f.n_in()])]
    shaped = [ca.reshape(v, f.size_in(i)) for i, v in enumerate(x)]
    dense = ca.Function(f.name(), x, [ca.densify(ca.vec(f(*shaped)))], {"cse": True})
    more = ("p",) if f.n_in() == 3 else ()
    return (f.numel_in(2) if more else 0), lambda t, y, k: Kernel(dense, (t, y, *more), (k,))


_programs: dict[tuple[int, int], tuple[ca.Function, Program]] = {}


def _fixed_program(tableau: Tableau, f: ca.Function, n: int, W: int) -> Program:
    """Programs of the last few right-hand sides are kept."""
    key = (hash(tableau), hash(f), W)
    if key not in _programs:
        parameters, rhs = _rhs(f, n)
        sizes = {"y": n, "p": parameters}
        tree = integrate_fixed(tableau, rhs, sizes)
        while len(_programs) >= 16:
            _programs.pop(next(iter(_programs)))
        _programs[key] = f, Program(tree, sizes, W=W, streams={"Y": n}, counts=("frames", "every"))
    return _programs[key][1]


def rk4(rhs: ca.Function, y0: Any, t0: float, h: float, steps: int, every: int = 1, params: Any = None, *,
        tableau: Tableau = RK4, progress: Callable[[float], object] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Integrate y' = rhs(t, y) or rhs(t, y, p) by `steps` steps of h [s], by native code that Ctrl-C can interrupt.

    Args:
        rhs: a CasADi Function.
        y0: first state, shape (n,), or many, shape (N, n), which run side by side in SIMD lanes.
        steps: a multiple of `every`.
        every: steps between kept states.
        params: p, shape (m,), or (N, m) for many states.
        progress: called with the fraction done, some times a second.

    Returns:
        t, shape (steps / every + 1,), and Y, shape (steps / every + 1, n) or (N, steps / every + 1, n), the first state
        included.
    """
    y0 = np.asarray(y0, float)
    if y0.ndim not in (1, 2):
        raise ShapeError(f"y0: expected shape (n,) or (N, n), got {y0.shape}")
    if every < 1 or steps < 0 or steps % every:
        raise ShapeError(f"steps = {steps!r}, every = {every!r}: expected steps to be a multiple of every, 1 or more")
    n, frames, W = y0.shape[-1], steps // every, 1 if y0.ndim == 1 else jit.lane_width()
    program = _fixed_program(tableau, rhs, n, W)
    states = np.atleast_2d(y0)
    N, m = len(states), program.sizes["p"]
    p = np.zeros(0) if params is None else np.asarray(params, float)
    if p.shape not in ((m,), (N, m)):
        raise ShapeError(f"params: expected shape ({m},) or ({N}, {m}), got {p.shape}")
    p = np.broadcast_to(p, (N, m))
    t, Y = t0 + h * every * np.arange(frames + 1), np.empty((N, frames + 1, n))
    Y[:, 0] = states
    workspace = program.workspace()
    rows = np.empty((frames, n) if W == 1 else (frames, n, W))
    for start in range(0, N, W):
        lanes = np.minimum(start + np.arange(W), N - 1)      # the last block is filled up with its last state
        workspace["y"] = states[lanes].T if W > 1 else states[0]
        workspace["p"] = p[lanes].T if W > 1 else p[0]
        workspace["t0"], workspace["h"], workspace["step"] = t0, h, 0
        report = None if progress is None else (
            lambda ws, start=start: progress((start + W * float(ws["step"].flat[0]) / steps) / (-(-N // W) * W)))
        program.run(workspace, {"Y": rows}, {"frames": frames, "every": every}, progress=report)
        used = min(W, N - start)
        Y[start:start + used, 1:] = rows if W == 1 else rows.transpose(2, 0, 1)[:used]
    return t, Y[0] if y0.ndim == 1 else Y
