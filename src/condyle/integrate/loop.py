"""The step loop: one native program for every method, adaptive or with fixed steps.

Slices of its workspace: t, y and k0 = f(t, y) are where it stands, h the step to try next. Each accepted step writes a row
(t, y, f, and the middle of the step where the method has one) to the streams. The program ends at t_end, when the rows are
full (give it others and start again: nothing is lost), or when no step is small enough.

    err = rms(w e) / (accuracy / 10) <= 1,    h <- h min(5, max(0.1, 0.9 err^(-1/p)))        p = method.estimate       (1)

(sherman2011 (6)); a step may add a tenth of the accuracy, so that the sum of many stays near it.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

from condyle.integrate.methods import Method
from condyle.native.lookup import Staged
from condyle.native.nodes import Get, If, Kernel, Node, Put, Stream, While, kernel
from condyle.native.program import Program

SHARE = 0.1
"""Of the accuracy asked for that one step may add."""
SMALLEST_STEP = 1e-13
"""Of the time reached or of one second: smaller steps do not change t."""
FAILED = 16.0
"""Code of a run that no step is small enough for."""


def right_hand_side(f: ca.Function | Staged, sizes: dict[str, int], streams: dict[str, Stream], tables: dict[str, np.ndarray],
                    ins: Sequence[str]) -> Callable[[str, str, str], Node]:
    """rhs(t, y, k) as a tree, for f(t, y, *ins) -> ydot; look-ups become Get nodes on shared tables."""
    if isinstance(f, ca.Function):
        return lambda t, y, k: Kernel(f, (t, y, *ins), (k,))
    staged = f
    sizes["looked_up"] = staged.row_size
    stages: list[tuple[ca.Function, list[tuple[str, str, str]], ca.Function]] = []
    for level, (index, found, start) in enumerate(staged.stages):
        x = [ca.SX.sym(f"x{k}", index.numel_in(k)) for k in range(index.n_in())]
        split = ca.Function(f"index{level}", x, ca.vertsplit(index(*x)))
        gets = []
        for k, table in enumerate(found):
            name = f"table{level}_{k}"
            streams[name], tables[name] = Stream(table.rows.shape[1], shared=True), np.array(table.rows)
            sizes[f"index{level}_{k}"], sizes[f"row{level}_{k}"] = 1, table.rows.shape[1]
            gets.append((name, f"index{level}_{k}", f"row{level}_{k}"))
        rows = [ca.SX.sym(name, sizes[name]) for _, _, name in gets]
        old = ca.SX.sym("old", staged.row_size)
        stop = start + sum(sizes[name] for _, _, name in gets)
        join = ca.Function(f"join{level}", [old, *rows], [ca.vertcat(old[:start], *rows, old[stop:])])
        stages.append((split, gets, join))

    def tree(t: str, y: str, k: str) -> Node:
        nodes: list[Node] = []
        for split, gets, join in stages:
            nodes.append(Kernel(split, (t, y, *ins, "looked_up"), tuple(index for _, index, _ in gets)))
            nodes += [Get(table, index, row) for table, index, row in gets]
            nodes.append(Kernel(join, ("looked_up", *(row for _, _, row in gets)), ("looked_up",)))
        return [*nodes, Kernel(staged.main, (t, y, *ins, "looked_up"), (k,))]

    return tree


def step_loop(method: Method, f: ca.Function | Staged, n: int, parameters: int, project: ca.Function | None
              ) -> tuple[Program, dict[str, np.ndarray]]:
    """The program, and the tables that its run needs beside the streams T, Y, F (and M)."""
    tableau, s = method.tableau, len(method.tableau.A)
    sizes = {"t": 1, "t_end": 1, "h": 1, "h_try": 1, "h_max": 1, "fixed": 1, "last": 1, "accuracy": 1, "err": 1, "accept": 1,
             "busy": 1, "row": 1, "rows": 1, "fresh": 1, "steps": 1, "rejected": 1, "evaluations": 1, "code": 1, "t_stage": 1,
             "y": n, "y_stage": n, "y_next": n, "middle": n, "weights": n, "worst": 1, "p": parameters}
    last = len(tableau.e) > s                               # the estimate needs f at the new point too
    k = [f"k{i}" for i in range(s + last)]
    sizes |= dict.fromkeys(k, n)
    streams = {"T": Stream(1), "Y": Stream(n), "F": Stream(n)} | ({"M": Stream(n)} if method.middle else {})
    tables: dict[str, np.ndarray] = {}
    rhs = right_hand_side(f, sizes, streams, tables, ("p",))

    def combined(weights: Sequence[float], k: Sequence[ca.SX]) -> ca.SX:
        return sum((w * x for w, x in zip(weights, k, strict=False) if w != 0), ca.SX(n, 1))

    def plan(t: ca.SX, t_end: ca.SX, h: ca.SX, h_max: ca.SX) -> tuple[ca.SX, ca.SX]:
        left = t_end - t
        h = ca.fmin(h, h_max)
        last = left <= h * (1 + 1e-9)
        return ca.if_else(last, left, h), last

    def stage(i: int) -> Node:
        used = [k[j] for j, a in enumerate(tableau.A[i]) if a != 0]
        weights = [a for a in tableau.A[i] if a != 0]
        return kernel(lambda t, h, y, *ks: (t + tableau.c[i] * h, y + h * combined(weights, ks)), ["t", "h_try", "y", *used],
                      ["t_stage", "y_stage"], sizes, f"stage{i}")

    def control(h: ca.SX, h_try: ca.SX, t: ca.SX, accuracy: ca.SX, weights: ca.SX, fixed: ca.SX, y_next: ca.SX, *ks: ca.SX
                ) -> tuple[ca.SX, ...]:
        e = h_try * combined(tableau.e, ks) if tableau.e else ca.SX(n, 1)
        scaled = (weights * e) ** 2
        err = ca.sqrt(ca.sum1(scaled) / max(n, 1)) / (SHARE * accuracy)                                # (1)
        finite = ca.sum1(ca.fabs(y_next)) + err < np.inf
        grow = ca.fmin(5, ca.fmax(0.1, 0.9 * ca.fmax(err, 1e-10) ** (-1 / max(method.estimate, 1))))
        fine = ca.logic_and(finite, ca.logic_or(fixed, err <= 1))
        longer = ca.fmax(h_try * grow, ca.if_else(h_try < h, h, 0))     # a step cut short at the end says nothing of the next
        h_next = ca.if_else(fine, longer, h_try * ca.if_else(finite, ca.fmin(grow, 0.9), 0.25))
        h_next = ca.if_else(fixed, h, h_next)
        small = h_next < SMALLEST_STEP * ca.fmax(1, ca.fabs(t))
        failed = ca.logic_and(ca.logic_not(fine), ca.logic_or(small, fixed))
        largest, worst = scaled[0] if n else ca.SX(0), ca.SX(0)
        for i in range(1, n):
            worst = ca.if_else(scaled[i] > largest, i, worst)
            largest = ca.fmax(largest, scaled[i])
        return err, fine, h_next, ca.if_else(failed, FAILED, 0), worst

    moved = kernel(lambda t, h, t_end, last, y: (ca.if_else(last, t_end, t + h), project(y) if project else y),
                   "t h_try t_end last y_next", "t y", sizes, "moved")
    middle = [kernel(lambda y, h, *ks: y + h * combined(method.middle, ks), ["y", "h_try", *k], ["middle"], sizes, "middle"),
              Put("middle", "M", "row")] if method.middle else []
    accepted = [*middle, moved, rhs("t", "y", "k0"), Put("t", "T", "row"), Put("y", "Y", "row"), Put("k0", "F", "row"),
                kernel(lambda row, steps: (row + 1, steps + 1), "row steps", "row steps", sizes, "count")]
    first = [rhs("t", "y", "k0"), kernel(lambda y: ca.SX(0), ["y"], ["fresh"], sizes, "started")]
    finished = kernel(lambda t, t_end, row, rows, code, accept, rejected, evaluations: (
        ca.logic_and(ca.logic_and(t < t_end, row < rows), code == 0), rejected + (1 - accept),
        evaluations + (s - 1) + last + accept), "t t_end row rows code accept rejected evaluations",
        "busy rejected evaluations", sizes, "finished")
    end = [kernel(lambda t, h: t + h, "t h_try", "t_stage", sizes, "end"), rhs("t_stage", "y_next", k[s])] if last else []
    body = [kernel(plan, "t t_end h h_max", "h_try last", sizes),
            *(node for i in range(1, s) for node in (stage(i), rhs("t_stage", "y_stage", k[i]))),
            kernel(lambda y, h, *ks: y + h * combined(tableau.b, ks), ["y", "h_try", *k[:s]], ["y_next"], sizes, "advance"), *end,
            kernel(control, ["h", "h_try", "t", "accuracy", "weights", "fixed", "y_next", *k],
                   ["err", "accept", "h", "code", "worst"], sizes),
            If("accept", accepted), finished]
    tree = [If("fresh", first), While("busy", body, "limit")]
    return Program(tree, sizes, streams=streams, counts=("limit",)), tables
