"""The step loop for many members at once: W lanes, each adaptive by itself.

A lane holds one member: its own t, y, h, its own verdict on a step. A lane that is done takes the next member
from a queue which all lanes of all threads share, so that none waits for a slower neighbor before the queue
is empty. The nodes of a step are those of loop.py; masks do the rest. What a member leaves:

    ended[member]    (t, h_try, worst, code, status, steps, rejected, evaluations, jacobians, projections)
                     when it is done
    y_end, f_end     y and f there
    out[member, k]   y at the k-th of the given times, from the polynomial of the step that passes it and
                     projected; or
    M, T, Y, F, D    a row for the start and each step of any member, in a log that the caller empties now
                     and then
    suspects         a row for each step in which a path may have jumped (branches.py), in another log: the
                     member, t, y, f at the start of the step, t, y, f and what its output needs at its end
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.integrate.equations import Equations
from condyle.integrate.loop import copy, trial
from condyle.integrate.methods.base import Method, Step, polynomial
from condyle.native.programs.nodes import Get, If, Node, Put, Stream, Take, While, kernel
from condyle.native.programs.program import Program

SUMMARY = (
    "t",
    "h_try",
    "worst",
    "code",
    "status",
    "steps",
    "rejected",
    "evaluations",
    "jacobians",
    "projections",
)
"""Columns of `ended`."""
LARGEST_FIRST_STEP = 1e-2
"""The first step is at most so long [s]."""


def ensemble_loop(method: Method, eq: Equations, W: int, log: bool) -> tuple[Program, dict[str, np.ndarray]]:
    """The program, and the tables of its right-hand side.

    Streams: queue (the next member), t0, y0, p0, first_knot (of each member), knots; ended, y_end, f_end;
    with a log M, T, Y, F, D and log (rows written), else times (the last is infinite), first (the first of
    them after t0), out. Slices to set: count, times_count, t_end, h_max, h_start, fixed, way (1), accuracy,
    weights. Where paths may jump: suspects, suspect_count (rows written).

    Args:
        method: whose steps are taken.
        eq: the equations of motion.
        W: number of lanes.
        log: keep every step; if not, y at the given times.
    """
    n = eq.n
    sizes = {"status": 1} | dict.fromkeys(
        ("member", "count", "times_count", "h_start", "finished", "done", "attempts", "row"), 1
    )
    sizes["summary"] = len(SUMMARY)
    shared = {
        "queue": 1,
        "t0": 1,
        "y0": n,
        "p0": eq.parameters,
        "ended": len(SUMMARY),
        "y_end": n,
        "f_end": n,
    }
    streams = {name: Stream(size, shared=True) for name, size in shared.items()}
    tables: dict[str, np.ndarray] = {}
    before: list[Node] = []
    start: list[Node] = []
    row: list[Node] = []
    if not log or eq.may_jump:
        sizes |= {"t_old": 1, "y_old": n, "f_old": n, "y": n, "k0": n, "zero": 1}
        before = [
            kernel(lambda t: t, ["t"], ["t_old"], sizes | {"t": 1}, "old_time"),
            copy("y", "y_old", n, W),
            copy("k0", "f_old", n, W),
        ]
    if not log:
        sizes |= {"t_out": 1, "y_out": n, "k_out": 1, "due": 1}
        streams |= {
            "times": Stream(1, shared=True),
            "first": Stream(1, shared=True),
            "out": Stream(n, shared=True),
        }
        start = [Get("first", "member", "k_out"), Get("times", "k_out", "t_out")]

    def logged(step: Step) -> list[Node]:
        columns = {"M": ("member", 1), "T": ("t", 1), "Y": ("y", n), "F": ("k0", n)}
        if step.dense:
            columns["D"] = "dense", n * step.dense
        for stream, (_, size) in columns.items():
            streams[stream] = Stream(size, shared=True)
        streams["log"] = Stream(1, shared=True)
        row.extend(
            [Take("log", "row"), *(Put(source, stream, "row") for stream, (source, _) in columns.items())]
        )
        return row

    def at_times(step: Step) -> list[Node]:
        between = ("dense",) if step.dense else ()

        def interpolated(t_out: ca.SX, t_old: ca.SX, t: ca.SX, *x: ca.SX) -> ca.SX:
            h = t - t_old
            return polynomial(x[:4], h, (t_out - t_old) / h, x[4] if between else ca.SX(0, 1), method.hermite)

        due = kernel(lambda t, t_out: t_out <= t, "t t_out", "due", sizes, "due")
        place = kernel(
            lambda member, count, k: (member * count + k, k + 1),
            "member times_count k_out",
            "row k_out",
            sizes,
            "place",
        )
        return [
            due,
            While(
                "due",
                [
                    kernel(
                        interpolated,
                        ["t_out", "t_old", "t", "y_old", "f_old", "y", "k0", *between],
                        ["y_out"],
                        sizes,
                        "between",
                    ),
                    *step.project("t_out", "y_out"),
                    place,
                    Put("y_out", "out", "row"),
                    Get("times", "k_out", "t_out"),
                    due,
                ],
                "limit",
            ),
        ]

    def suspected(step: Step) -> list[Node]:
        """After a step in which the signature changed, or after every one where the loop has none."""
        if not eq.may_jump:
            return []
        whole = ["member", "t_old", "y_old", "f_old", "t", "y", "k0", *(["dense"] if step.dense else [])]
        sizes.update(suspect=sum(sizes[name] for name in whole), suspect_row=1)
        streams["suspects"] = Stream(sizes["suspect"], shared=True)
        streams["suspect_count"] = Stream(1, shared=True)
        noted: list[Node] = [
            kernel(lambda *x: ca.vertcat(*x), whole, ["suspect"], sizes, "suspect"),
            Take("suspect_count", "suspect_row"),
            Put("suspect", "suspects", "suspect_row"),
        ]
        return [If("changed", noted)] if eq.signature is not None else noted

    def record(step: Step) -> list[Node]:
        return [*(logged if log else at_times)(step), *suspected(step)]

    parts = trial(method, eq, sizes, streams, tables, record, before, W)

    def begin(t: ca.SX, t_end: ca.SX, h_start: ca.SX, h_max: ca.SX, fixed: ca.SX) -> tuple[ca.SX, ...]:
        span = t_end - t
        h = ca.if_else(
            fixed, h_start, ca.if_else(span > 0, ca.fmin(ca.fmin(span, h_max), LARGEST_FIRST_STEP), 1)
        )
        return h, ca.SX(1), ca.SX(0), ca.SX(0), ca.SX(0), ca.SX(0), ca.SX(0)

    if eq.timed:
        streams["first_knot"] = Stream(1, shared=True)
        start += [Get("first_knot", "member", "knot"), Get("knots", "knot", "t_knot")]
    counted = [name for name in ("jacobians", "projections") if name in sizes]
    take: list[Node] = [
        Take("queue", "member"),
        kernel(lambda member, count: member < count, "member count", "busy", sizes, "some"),
        If(
            "busy",
            [
                Get("t0", "member", "t"),
                Get("y0", "member", "y"),
                *([Get("p0", "member", "p")] if eq.parameters else []),
                kernel(
                    begin,
                    "t t_end h_start h_max fixed",
                    "h fresh code status steps rejected evaluations",
                    sizes,
                ),
                *(kernel(lambda: ca.SX(0), [], [name], sizes, "none") for name in counted),
                *start,
            ],
        ),
    ]
    columns = [name for name in SUMMARY if name in sizes]
    whole = kernel(
        lambda *x: ca.vertcat(*(x[columns.index(name)] if name in columns else 0 for name in SUMMARY)),
        columns,
        ["summary"],
        sizes,
        "summary",
    )
    end = [
        whole,
        *(
            Put(source, stream, "member")
            for source, stream in (("summary", "ended"), ("y", "y_end"), ("k0", "f_end"))
        ),
        kernel(lambda done: done + 1, ["done"], ["done"], sizes, "counted"),
        take,
    ]
    finish = kernel(
        lambda t, t_end, code, status, attempts: (
            ca.logic_or(t >= t_end, ca.logic_or(code != 0, status != 0)),
            attempts + 1,
        ),
        "t t_end code status attempts",
        "finished attempts",
        sizes,
        "finish",
    )
    body = [If("fresh", [*parts.first, *row]), *parts.body, finish, If("finished", end)]
    return Program(
        [take, While("busy", body, "limit")], sizes, W=W, streams=streams, counts=("limit",)
    ), tables
