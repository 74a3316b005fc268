"""Numerical methods as trees of nodes: linear solve, Newton's method, Runge-Kutta steps, fixed-step integration."""
from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError, ShapeError
from condyle.native.machine import jit
from condyle.native.programs.derivative import bar, dot
from condyle.native.programs.nodes import Kernel, Node, Ruled, Scan, While, kernel
from condyle.native.programs.program import Program


def lu_solve(A: ca.SX, b: ca.SX) -> ca.SX:
    """A^-1 b by Gaussian elimination with partial pivoting, unrolled and free of branches; b of shape (n,) or (n, m).

    The largest pivot bubbles up by conditional swaps of rows: n^3/3 products and as many selections. Meant for n <= 10.
    """
    n, m = A.shape[0], b.shape[1]
    rows = [[*(A[i, j] for j in range(n)), *(b[i, j] for j in range(m))] for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):
            swap = ca.fabs(rows[i][k]) > ca.fabs(rows[k][k])
            pairs = list(zip(rows[k], rows[i]))
            rows[k] = [ca.if_else(swap, low, high) for high, low in pairs]
            rows[i] = [ca.if_else(swap, high, low) for high, low in pairs]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]
    x = ca.SX(n, m)
    for i in reversed(range(n)):
        for j in range(m):
            x[i, j] = (rows[i][n + j] - sum(rows[i][k] * x[k, j] for k in range(i + 1, n))) / rows[i][i]
    return x


Residual = Callable[..., ca.SX]
Solve = Callable[[ca.SX, ca.SX], ca.SX]


def newton(residual: Residual, x: str, params: Sequence[str], sizes: dict[str, int], tol: float = 1e-10,
           max_iter: int = 30, *, status: str = "status", solve: Solve = lu_solve) -> Ruled:
    """x <- root of residual(x, *params) = 0 from the guess in slice x, by Newton's method.

        x <- x - J^-1 r,   J = dr/dx,   until |dx_i| <= tol (1 + |x_i|) for all i

    Args:
        residual: over SX, as many equations as x has elements.
        params: slices that the residual depends on.
        sizes: gains "x.busy" and "x.iterations" (with the name of x).
        status: gets LIMIT where max_iter steps were not enough and NAN where the step is not finite. Lanes stand alone.
        solve: solve(A, b) over SX.

    Derivatives follow from the implicit function theorem at the root, whatever the iterations did; the guess has none.
    """
    busy, iterations = f"{x}.busy", f"{x}.iterations"
    sizes.update({busy: 1, iterations: 1, status: 1})

    def iterate(x: ca.SX, k: ca.SX, *p: ca.SX) -> tuple[ca.SX, ...]:
        r = ca.vec(residual(x, *p))
        if r.shape != x.shape:
            raise DescriptionError(f"newton: the residual has {r.shape[0]} elements, the unknown {x.shape[0]}")
        dx = solve(ca.jacobian(r, x), r)
        close = [ca.fabs(dx[i]) <= tol * (1 + ca.fabs(x[i])) for i in range(x.shape[0])]
        finite = ca.sum1(ca.fabs(dx)) < np.inf
        return x - dx, k + 1, ca.if_else(finite, ca.logic_not(functools.reduce(ca.logic_and, close)), np.nan)

    start = kernel(lambda: (ca.SX(0), ca.SX(1)), [], [iterations, busy], sizes, "start")
    step = kernel(iterate, [x, iterations, *params], [x, iterations, busy], sizes, "newton_step")
    return Ruled(f"newton({x!r})", [start, While(busy, step, max_iter, status)], (*params,), (x, iterations, busy),
                 lambda sizes: newton_jvp(residual, x, params, sizes, solve),
                 lambda value, sizes: newton_vjp(residual, x, params, sizes, solve, value))


def newton_jvp(residual: Residual, x: str, params: Sequence[str], sizes: dict[str, int],
               solve: Solve = lu_solve) -> Node:
    """x.dot <- -J^-1 (dr/dp p.dot) at the root in slice x: one solve, no iteration."""
    sizes.update({dot(n): sizes[n] for n in (x, *params)})

    def implicit(x: ca.SX, *p: ca.SX) -> ca.SX:
        p, p_dot = p[:len(params)], p[len(params):]
        r = ca.vec(residual(x, *p))
        along = sum((ca.jtimes(r, a, b) for a, b in zip(p, p_dot)), ca.SX.zeros(r.shape[0]))
        return -solve(ca.jacobian(r, x), along)

    return kernel(implicit, [x, *params, *map(dot, params)], [dot(x)], sizes, "newton_jvp")


def newton_vjp(residual: Residual, x: str, params: Sequence[str], sizes: dict[str, int], solve: Solve = lu_solve,
               value: Mapping[str, str] | None = None) -> Node:
    """p.bar <- p.bar - (dr/dp)' J^-T x.bar, then x.bar <- 0. `value` says which slices hold x and p at the root."""
    sizes.update({bar(n): sizes[n] for n in (x, *params)})
    held = [(value or {}).get(n, n) for n in (x, *params)]

    def implicit(x: ca.SX, *more: ca.SX) -> list[ca.SX]:
        p, p_bar, x_bar = more[:len(params)], more[len(params):-1], more[-1]
        r = ca.vec(residual(x, *p))
        weights = solve(ca.jacobian(r, x).T, x_bar)
        return [*(b - ca.jtimes(r, a, weights, True) for a, b in zip(p, p_bar)), ca.SX.zeros(x.shape[0])]

    return kernel(implicit, [*held, *map(bar, params), bar(x)], [*map(bar, params), bar(x)], sizes, "newton_vjp")


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method as data.

        k_i = f(t + c_i h, y + h sum_j A_ij k_j),   y+ = y + h sum_i b_i k_i,   error = h sum_i e_i k_i

    Args:
        order: of y+; measured in the tests.
        A: rows of the strictly lower triangle, shape (s, 0..s-1).
        b: weights, shape (s,).
        e: weights of the error estimate, shape (s,), or (s + 1,) where it also needs f at the new point; may be empty.
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


def rk_step(tableau: Tableau, rhs: Callable[[str, str, str], Node], sizes: dict[str, int], *, t: str = "t",
            y: str = "y", h: str = "h", y_next: str = "y_next", error: str | None = None) -> Node:
    """One step: y_next <- y at t + h. `sizes` gains the slices k0.., "t_stage", "y_stage" and those named here.

    Args:
        rhs: rhs(t, y, k), a tree that computes slice k = f(t, y) from slices t and y. A function that is the same for
            every stage is compiled once.
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
        raise DescriptionError(f"right-hand side {f.name()!r} has sizes t: {f.numel_in(0)}, y: {f.numel_in(1)}, "
                               f"output: {f.numel_out(0)}: expected 1, {n}, {n} as y0 has")
    x = [ca.SX.sym(name, f.numel_in(i)) for i, name in enumerate(["t", "y", "p"][:f.n_in()])]
    shaped = [ca.reshape(v, f.size_in(i)) for i, v in enumerate(x)]
    dense = ca.Function(f.name(), x, [ca.densify(ca.vec(f(*shaped)))], {"cse": True})
    more = ("p",) if f.n_in() == 3 else ()
    return (f.numel_in(2) if more else 0), lambda t, y, k: Kernel(dense, (t, y, *more), (k,))


_programs: dict[tuple[Tableau, int, int, int], tuple[ca.Function, Program]] = {}


def _fixed_program(tableau: Tableau, f: ca.Function, n: int, W: int) -> Program:
    """Programs of the last few right-hand sides are kept."""
    key = tableau, hash(f), n, W
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
