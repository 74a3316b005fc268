"""The step loop: one native program for every method, adaptive or with fixed steps.

Slices of its workspace: t, y and k0 = f(t, y) at the present, h the step to try next. Each accepted step
writes a row (t, y, f, and what its output between steps needs) to the streams. The program ends at t_end,
when the rows are full (start it again with new rows: nothing is lost), after a step in which the length of
a path may have jumped (path_jumps.py), or when no step is small enough.
`fresh` asks for f at the start again, as after an event. Where a system depends on time, no step passes
t_knot, the next of the stream `knots`: knots.py.

The method (integrators/) defines a step; control.py decides its length and whether it is accepted.

An ensemble runs in W lanes at once, each adaptive by itself. A lane holds one member: its own t, y, h, its own verdict on a step. A lane that is done takes the next member
from a queue which all lanes of all threads share, so that none waits for a slower neighbor before the queue
is empty. The nodes of a step are the same; masks do the rest. Results of a member:

    ended[member]    (t, h_try, worst, code, status, steps, rejected, evaluations, jacobians, projections)
                     when it is done
    y_end, f_end     y and f at its end
    out[member, k]   y at the k-th of the given times, from the polynomial of the step that passes it and
                     projected; or
    row.member, .t, .y, .f, .dense   a row for the start and each step of any member, in a log that the
                     caller empties from time to time
    suspects         a row for each step in which a path may have jumped (path_jumps.py), in another log: the
                     member, t, y, f at the start of the step, t, y, f and what its output needs at its end
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.integrate.control import JUDGED, SHARE, StepControl, blame, plan, size, squares, weighed
from condyle.integrate.equations import EquationsOfMotion, RightHandSide
from condyle.integrate.integrators.base import Method, MethodStep
from condyle.integrate.interrupts.path_jumps import differs, some, unchanged
from condyle.integrate.projection import Projector
from condyle.integrate.steps import ROW, polynomial
from condyle.native.programs.nodes import (
    Get,
    If,
    Kernel,
    Node,
    Put,
    Stream,
    Take,
    While,
    elementwise,
    kernel,
    record_kernel,
)
from condyle.native.programs.program import Program
from condyle.records import dataclass

_SCALARS = [
    "t",
    "t_end",
    "h",
    "h_try",
    "h_max",
    "fixed",
    "accuracy",
    "err",
    "accept",
    "busy",
    "fresh",
    "zero",
    "steps",
    "rejected",
    "evaluations",
    "code",
    "t_stage",
    "t_next",
    "worst",
    "doubt",
    "refused",
    "way",
    "size",
]
_VECTORS = ["y", "y_stage", "y_next", "error", "weights", "k0", "k_next", "f_start"]


def copy(source: str, target: str, n: int, W: int = 1) -> Node:
    """target <- source: by elements for lanes; for one state by a loop, in which a slice is a table of one
    row."""
    if W == 1:
        return Put(source, target, "zero")
    return elementwise(lambda x: x, [source], [target], {source: n, target: n}, n, "copy")


@dataclass
class StepTrial:
    """The inside of the loop: `first` evaluates f at the start if `fresh` is set; `body` tries one step."""

    first: list[Node]
    body: list[Node]


def trial(
    method: Method,
    eq: EquationsOfMotion,
    sizes: dict[str, int],
    streams: dict[str, Stream],
    tables: dict[str, np.ndarray],
    record: Callable[[MethodStep], Sequence[Node]],
    before: Sequence[Node] = (),
    W: int = 1,
) -> StepTrial:
    """One step of a method and its control. `sizes`, `streams`, `tables` gain what it needs.

    Args:
        method: whose step it is.
        eq: the equations of motion.
        sizes: of the slices.
        streams: of the program.
        tables: of the program.
        record: returns nodes that follow an accepted step, with t, y, k0 at its end.
        before: nodes that run before these, while t, y, k0 are those of its start.
        W: number of lanes.
    """
    n = eq.n
    sizes |= dict.fromkeys(_SCALARS, 1) | dict.fromkeys(_VECTORS, n) | {"p": eq.parameters}
    rhs = RightHandSide(eq, sizes, streams, tables)
    errors = method.errors
    sizes |= dict.fromkeys(errors, n)
    found = eq.projection(len(errors))
    projector = None if found is None else Projector(found, errors, n, sizes, streams, tables)
    step = method.step(eq, rhs if projector is None else projector.on_constraints(rhs), rhs, sizes)
    control = StepControl(method, eq.timed, step.evaluations)
    if projector is not None:
        step.project = projector
    if step.dense:
        sizes["dense"] = n * step.dense

    passing: list[Node] = []
    if eq.timed:
        sizes |= {"knot": 1, "t_knot": 1}
        streams["knots"] = Stream(1, shared=True)
        passing = [
            kernel(
                lambda knot, t, t_knot, way: knot + (way * t >= way * t_knot),
                "knot t t_knot way",
                "knot",
                sizes,
                "passed",
            ),
            Get("knots", "knot", "t_knot"),
        ]

    projected = [] if projector is None else projector(errors=errors)
    astray = ["astray"] if "astray" in sizes else []
    among = np.sqrt(n / max(n - eq.prescribed, 1))  # the mean is over elements that have errors
    of_errors = [squares(e, sizes) for e in errors]
    sums = [f"{e}.squares" for e in errors]
    measured = kernel(
        lambda accuracy, *e: (
            (among * weighed(n, accuracy, *e[: len(errors)]) if errors else ca.SX(0))
            + sum(ca.if_else(a, np.inf, 0) for a in e[len(errors) :])
        ),
        ["accuracy", *sums, *astray],
        ["err"],
        sizes,
        "measured",
    )
    judged: list[Node] = [*projected, *of_errors, measured]
    if astray and errors:  # the part that is removed is small itself: projection.py
        sizes["rough"] = 1
        alone = projector.unprescribed if projector is not None else None
        judged = [
            *([] if alone is None else [Kernel(alone, ("p", *errors), errors)]),
            *of_errors,
            kernel(
                lambda accuracy, *e: SHARE * ca.sqrt(accuracy) * among * weighed(n, accuracy, *e),
                ["accuracy", *sums],
                ["rough"],
                sizes,
                "roughly",
            ),
            *judged,
            kernel(ca.fmax, ["err", "rough"], ["err"], sizes, "larger"),
        ]
    known = bool(step.new_rate) and projector is None  # then f at the new point is known already
    k_next = step.new_rate if known else "k_next"
    keep = rhs.keep() if method.needs_jacobian else []
    signed = partial(_signed, eq, rhs, sizes)
    sign = [*signed("t_next", "y_next"), *unchanged(method, eq, rhs, step, k_next, sizes)]
    evaluated = step.accepted_evaluations + (not known)
    taken = [
        *before,
        *keep,
        *sign,
        copy("t_next", "t", 1, W),
        copy("y_next", "y", n, W),
        copy(k_next, "k0", n, W),
        *record(step),
        *passing,
        kernel(lambda steps: steps + 1, "steps", "steps", sizes, "count"),
    ]
    # the last evaluation of f was there, unless the output between steps needed more
    again = rhs.look_up("t_next", "y_next") if known and step.accepted_evaluations and eq.signature else []
    accepted = [
        *step.accepted,
        *([] if known else [rhs("t_next", "y_next", "k_next", "unused")]),
        *again,
        kernel(lambda evaluations: evaluations + evaluated, "evaluations", "evaluations", sizes, "evaluated"),
        size(k_next, "size", sizes),
        kernel(control.land, "h h_try t fixed size rejected", "accept h code rejected", sizes),
        If("accept", taken),
    ]
    first: list[Node] = [
        rhs("t", "y", "k0"),
        copy("k0", "f_start", n, W),
        *keep,
        *signed("t", "y"),
        *([copy("signature", "signature_start", sizes["signature"], W)] if sign else []),
        *step.start,
        kernel(
            lambda evaluations, t: (ca.SX(0), evaluations + 1, t, ca.SX(0)),
            "evaluations t",
            "fresh evaluations doubt refused",
            sizes,
            "started",
        ),
    ]
    ends = ["t_end", "t_knot"] if eq.timed else ["t_end"]
    return StepTrial(
        first,
        [
            kernel(plan, ["t", "h", "h_max", "way", *ends], "h_try t_next", sizes),
            *step.attempt,
            *judged,
            size("y_next", "size", sizes),
            record_kernel(
                control.judge,
                JUDGED + " order" * method.varies,
                "accept h code rejected evaluations doubt refused",
                sizes,
            ),
            If("accept", accepted),
            *([] if W == 1 else [If("code", kernel(blame, "weights error", "worst", sizes))]),
        ],
    )


def _signed(eq: EquationsOfMotion, rhs: RightHandSide, sizes: dict[str, int], t: str, y: str) -> list[Node]:
    """The signature of paths at t, y, where f has just been evaluated, and whether it has `changed` since the
    last one: path_jumps.py."""
    if eq.signature is None:
        return []
    k, spans = eq.signature.numel_out(0), eq.signature.numel_out(1)
    sizes |= dict.fromkeys(("signature", "signature_next", "signature_start"), k) | {
        "changed": 1,
        "lengths": spans,
    }
    return [
        Kernel(eq.signature, (t, y, "p", *rhs.rows), ("signature_next", "lengths")),
        kernel(
            lambda old, new: (some(differs(old, new)), new),
            "signature signature_next",
            "changed signature",
            sizes,
            "differs",
        ),
    ]


def step_loop(method: Method, eq: EquationsOfMotion) -> tuple[Program, dict[str, np.ndarray]]:
    """The program, and the tables that a run needs beside the streams of rows: those of steps.StepBuffer."""
    sizes = {"row": 1, "rows": 1}
    streams: dict[str, Stream] = {}
    tables: dict[str, np.ndarray] = {}

    def record(step: MethodStep) -> list[Node]:
        columns = {"t": "t", "y": "y", "f": "k0"} | ({"dense": "dense"} if step.dense else {})
        if eq.signature is not None:
            columns |= {"signature": "signature", "changed": "changed"}
        streams.update({ROW + name: Stream(sizes[source]) for name, source in columns.items()})
        return [
            *(Put(source, ROW + name, "row") for name, source in columns.items()),
            kernel(lambda row: row + 1, "row", "row", sizes, "next_row"),
        ]

    parts = trial(method, eq, sizes, streams, tables, record)
    stop = ["accept", "changed"] if eq.signature is not None else []  # after a jump the motion is another one
    going = kernel(
        lambda t, t_end, row, rows, code, way, *changed: ca.logic_and(
            ca.logic_and(way * t < way * t_end, row < rows),
            ca.logic_not(some([code, ca.logic_and(*changed)] if changed else [code])),
        ),
        ["t", "t_end", "row", "rows", "code", "way", *stop],
        "busy",
        sizes,
        "going",
    )
    tree = [If("fresh", parts.first), While("busy", [*parts.body, going], "limit")]
    return Program(tree, sizes, streams=streams, counts=("limit",)), tables


SUMMARY = [
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
]
"""Columns of `ended`."""
LARGEST_FIRST_STEP = 1e-2
"""Largest first step [s]."""


def ensemble_loop(
    method: Method, eq: EquationsOfMotion, W: int, log: bool
) -> tuple[Program, dict[str, np.ndarray]]:
    """The program, and the tables of its right-hand side.

    Streams: queue (the next member), t0, y0, p0, first_knot (of each member), knots; ended, y_end, f_end;
    with a log row.member, row.t, ... and row_count (rows written), else times (the last is infinite), first (the first of
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

    def logged(step: MethodStep) -> list[Node]:
        columns = {"member": "member", "t": "t", "y": "y", "f": "k0"} | (
            {"dense": "dense"} if step.dense else {}
        )
        streams.update({ROW + name: Stream(sizes[x], shared=True) for name, x in columns.items()})
        streams["row_count"] = Stream(1, shared=True)
        row.extend([Take("row_count", "row"), *(Put(x, ROW + name, "row") for name, x in columns.items())])
        return row

    def at_times(step: MethodStep) -> list[Node]:
        between = ("dense",) if step.dense else ()

        def interpolated(t_out: SX, t_old: SX, t: SX, *x: SX) -> SX:
            h = t - t_old
            return polynomial(
                x[:4], h, (t_out - t_old) / h, ca.vertsplit(x[4], n) if between else (), method.hermite
            )

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

    def suspected(step: MethodStep) -> list[Node]:
        """After a step in which the signature changed, or after every step if the loop has no signature."""
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

    def record(step: MethodStep) -> list[Node]:
        return [*(logged if log else at_times)(step), *suspected(step)]

    parts = trial(method, eq, sizes, streams, tables, record, before, W)

    def begin(t: SX, t_end: SX, h_start: SX, h_max: SX, fixed: SX) -> tuple[SX, ...]:
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
