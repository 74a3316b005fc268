"""One step of each family of methods, as trees of nodes: from t, y, k0 = f(t, y) and h_try to y_next and its error.

Slices that they read and write are those of loop.py. `error`, and `other` where a method has a second estimate, are in the units
of y.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from condyle.integrate.equations import Equations, RightHandSide
from condyle.integrate.methods import Explicit, Method, Rosenbrock
from condyle.integrate.projection import Rate
from condyle.native.programs.nodes import Call, Ints, Node, While, kernel

SHARE = 1 / 250
"""Of the accuracy asked for that one step may add: 250 steps whose errors all have one sign, and that nothing damps or amplifies,
add up to the accuracy, 2500 to ten times as much."""
CONVERGED, ROUNDS = 1e-14, 50
"""Implicit parts are iterated until nothing changes by more than this share of 1 + |y|, at most so many times."""


@dataclass
class Step:
    """A step in a tree: `attempt` writes y_next and its errors; `accepted` runs after it where the step is kept.

    Args:
        evaluations: of f in an attempt; iterations count themselves.
        new_rate: the slice with f at the new point, if the step leaves it.
        project: nodes that take the slice y at a time t to the constraints.
        dense: how many vectors beside y and f the slice "dense" holds for the output between steps.
    """

    attempt: list[Node]
    evaluations: int
    accepted: list[Node] = field(default_factory=list)
    accepted_evaluations: int = 0
    new_rate: str = ""
    project: Callable[[str, str], list[Node]] = lambda t, y: []
    dense: int = 0


def one_step(method: Method, eq: Equations, rhs: Rate, sizes: dict[str, int]) -> Step:
    if isinstance(method, Explicit):
        return explicit(method, eq.n, rhs, sizes)
    if isinstance(method, Rosenbrock):
        assert isinstance(rhs, RightHandSide)               # it needs the Jacobian too
        return rosenbrock(method, eq.n, rhs, sizes)
    return verlet(eq, rhs, sizes) if method.name == "verlet" else semi_explicit_euler(eq, sizes)


def combined(weights: Sequence[float], k: Sequence[ca.SX], n: int) -> ca.SX:
    return sum((w * x for w, x in zip(weights, k, strict=False) if w != 0), ca.SX(n, 1))


def total(x: ca.SX) -> ca.SX:
    """The sum of a column by halves: additions that need not wait for each other."""
    parts = ca.vertsplit(x) if x.numel() else [ca.SX(0)]
    while len(parts) > 1:
        parts = [sum(parts[i:i + 2], ca.SX(0)) for i in range(0, len(parts), 2)]
    return parts[0]


def norm(weights: ca.SX, e: ca.SX, accuracy: ca.SX) -> ca.SX:
    """rms(w e) in shares of what a step may add."""
    return ca.sqrt(total((weights * e) ** 2) / max(e.numel(), 1)) / (SHARE * accuracy)


def weighed(weights: ca.SX, accuracy: ca.SX, *errors: ca.SX) -> ca.SX:
    """The error of a step, 1 is just allowed; with a second estimate as methods.Explicit says."""
    err = norm(weights, errors[0], accuracy)
    return err if len(errors) == 1 else err ** 2 / ca.sqrt(err ** 2 + 0.01 * norm(weights, errors[1], accuracy) ** 2 + 1e-300)


def estimates(method: Method) -> tuple[str, ...]:
    """The slices that a step's errors stand in."""
    if isinstance(method, Explicit):
        return ("error", "other")[:bool(method.tableau.e) + bool(method.second)]
    return ("error",) if method.estimate else ()


def explicit(method: Explicit, n: int, rhs: Rate, sizes: dict[str, int]) -> Step:
    tableau, s = method.tableau, len(method.tableau.A)
    end, more = len(tableau.e) > s, len(method.more)
    k = [f"k{i}" for i in range(s + (end or bool(more)) + more)]
    sizes |= dict.fromkeys(k, n)

    def stage(i: int, row: Sequence[float]) -> Node:
        used, weights = [k[j] for j, a in enumerate(row) if a != 0], [a for a in row if a != 0]
        at = kernel(lambda t, h, y, *ks: (t + sum(row) * h, y + h * combined(weights, ks, n)), ["t", "h_try", "y", *used],
                    ["t_stage", "y_stage"], sizes, f"stage{i}")
        return [at, rhs("t_stage", "y_stage", k[i])]

    def estimated(h: ca.SX, *ks: ca.SX) -> list[ca.SX]:
        return [h * combined(e, ks, n) for e in (tableau.e, method.second) if e]

    def advance(y: ca.SX, h: ca.SX, *ks: ca.SX) -> list[ca.SX]:
        return [y + h * combined(tableau.b, ks, n), *([] if end else estimated(h, *ks))]

    errors = estimates(method)
    sizes |= dict.fromkeys(errors, n)
    at_end: list[Node] = []
    if end or more:
        at_end = [kernel(lambda t, h: t + h, "t h_try", "t_stage", sizes, "end"), rhs("t_stage", "y_next", k[s])]
    attempt: list[Node] = [*(stage(i, tableau.A[i]) for i in range(1, s)),
               kernel(advance, ["y", "h_try", *k[:s]], ["y_next", *(() if end else errors)], sizes)]
    if end:
        attempt += [*at_end, kernel(estimated, ["h_try", *k[:s + 1]], errors, sizes)]
    step = Step(attempt, s - 1 + end, dense=len(method.dense), new_rate=k[s] if end or more else "")
    if more:
        step.accepted = [*at_end, *(stage(s + 1 + i, row) for i, row in enumerate(method.more))]
        step.accepted_evaluations = 1 + more
    if method.dense:
        step.accepted.append(kernel(lambda h, *ks: ca.vertcat(*(h * combined(row, ks, n) for row in method.dense)),
                                    ["h_try", *k], ["dense"], sizes | {"dense": n * step.dense}, "between"))
    return step


def rosenbrock(method: Rosenbrock, n: int, rhs: RightHandSide, sizes: dict[str, int]) -> Step:
    s, leading = len(method.A), max(n, 1)
    u = [f"U{i}" for i in range(s)]
    sizes |= dict.fromkeys([*u, "f_t", "k_stage"], n) | {"W": n * n, "pivots": leading, "info": 1, "jacobians": 1}
    factor: list[Node] = [*rhs.matrix("t", "y", "h_try", method.gamma, "W", "f_t"),
                          kernel(lambda count: count + 1, ["jacobians"], ["jacobians"], sizes, "counted"),
                          Call("dgetrf", (n, n, "W", leading, Ints("pivots"), Ints("info")))]

    def stage(i: int) -> list[Node]:
        at: list[Node] = []
        if i:
            at = [kernel(lambda t, h, y, *us: (t + method.c[i] * h, y + combined(method.A[i], us, n)),
                         ["t", "h_try", "y", *u[:i]], ["t_stage", "y_stage"], sizes, f"stage{i}"),
                  rhs("t_stage", "y_stage", "k_stage")]
        right = kernel(lambda h, f, f_t, *us: f + combined(method.C[i], us, n) / h + method.d[i] * h * f_t,
                       ["h_try", "k_stage" if i else "k0", "f_t", *u[:i]], [u[i]], sizes, f"right{i}")
        return [*at, right, Call("dgetrs", (b"N", n, 1, "W", leading, Ints("pivots"), u[i], leading, Ints("info")))]

    def advance(y: ca.SX, *us: ca.SX) -> tuple[ca.SX, ...]:
        return y + combined(method.b, us, n), combined(method.e, us, n)

    between = kernel(lambda *us: ca.vertcat(*(combined(row, us, n) for row in method.own)), u, ["dense"],
                     sizes | {"dense": n * len(method.own)}, "between")
    return Step([*factor, *(node for i in range(s) for node in stage(i)),
                 kernel(advance, ["y", *u], ["y_next", "error"], sizes)],
                s - 1, [between], dense=len(method.own))


def semi_explicit_euler(eq: Equations, sizes: dict[str, int]) -> Step:
    """u+ = u + h udot,   q+ = q + h N(q) u+,   z+ = z + h zdot."""
    nq, nu, qdot = eq.nq, eq.nu, eq.qdot()

    def advance(t: ca.SX, y: ca.SX, h: ca.SX, k0: ca.SX) -> ca.SX:
        moved = y + h * k0
        u = moved[nq:nq + nu]
        return ca.vertcat(y[:nq] + h * qdot(t, y[:nq], u), u, moved[nq + nu:])

    return Step([kernel(advance, "t y h_try k0", "y_next", sizes)], 0)


def verlet(eq: Equations, rhs: Rate, sizes: dict[str, int]) -> Step:
    """Velocity Verlet, implicit in u: the same forwards as backwards.

        u' = u + h/2 udot(t, q, u),   q+ = q + h N((q + q+)/2) u',   u+ = u' + h/2 udot(t + h, q+, u+)

    and z by the trapezoidal rule. Where N = 1 the middle equation is explicit, q + h u + h^2/2 udot. The error is estimated by
    the change of f over the step, h/2 (f+ - f): what Euler's method, of order 1, would have left out.
    """
    n, nq, nu, qdot = eq.n, eq.nq, eq.nu, eq.qdot()
    sizes |= {"half": nu, "q_next": nq, "k_next": n, "turning": 1, "moving": 1, "loose": 1}
    q, u, t = ca.SX.sym("q", nq), ca.SX.sym("u", nu), ca.SX.sym("t")
    plain = nq == nu and (qdot(t, q, u) - u).is_zero()

    def changed(new: ca.SX, old: ca.SX) -> ca.SX:
        change = ca.mmax(ca.fabs(new - old) / (1 + ca.fabs(new))) if new.numel() else ca.SX(0)
        return ca.if_else(change < np.inf, change > CONVERGED, np.nan)

    def begin(t: ca.SX, y: ca.SX, h: ca.SX, k0: ca.SX) -> tuple[ca.SX, ...]:
        half = y[nq:nq + nu] + h / 2 * k0[nq:nq + nu]
        return half, y[:nq] + h * qdot(t, y[:nq], half), t + h, ca.SX(0 if plain else 1), ca.SX(1), ca.SX(0)

    def turn(t: ca.SX, y: ca.SX, h: ca.SX, half: ca.SX, q_next: ca.SX) -> tuple[ca.SX, ca.SX]:
        new = y[:nq] + h * qdot(t + h / 2, (y[:nq] + q_next) / 2, half)
        return new, changed(new, q_next)

    def move(y: ca.SX, h: ca.SX, half: ca.SX, y_next: ca.SX, k0: ca.SX, k: ca.SX, evaluations: ca.SX) -> tuple[ca.SX, ...]:
        z = y[nq + nu:] + h / 2 * (k0[nq + nu:] + k[nq + nu:])
        new = ca.vertcat(y_next[:nq], half + h / 2 * k[nq:nq + nu], z)
        return new, changed(new, y_next), evaluations + 1

    def predict(y: ca.SX, h: ca.SX, k0: ca.SX, q_next: ca.SX) -> ca.SX:
        return ca.vertcat(q_next, (y + h * k0)[nq:])

    return Step([kernel(begin, "t y h_try k0", "half q_next t_stage turning moving loose", sizes),
                 While("turning", kernel(turn, "t y h_try half q_next", "q_next turning", sizes), ROUNDS, "loose"),
                 kernel(predict, "y h_try k0 q_next", "y_next", sizes),
                 While("moving", [rhs("t_stage", "y_next", "k_next"),
                                  kernel(move, "y h_try half y_next k0 k_next evaluations", "y_next moving evaluations", sizes)],
                       ROUNDS, "loose"),
                 kernel(lambda y, loose, h, k0, k: (ca.if_else(loose, np.nan, y), h / 2 * (k - k0)),
                        "y_next loose h_try k0 k_next", "y_next error", sizes, "converged")], 0)

