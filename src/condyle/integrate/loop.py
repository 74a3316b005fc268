"""The step loop: one native program for every method, adaptive or with fixed steps.

Slices of its workspace: t, y and k0 = f(t, y) are where it is, h the step to try next. Each accepted step
writes a row (t, y, f, and what its output between steps needs) to the streams. The program ends at t_end,
when the rows are full (give it others and start again: nothing is lost), after a step in which the length of
a path may have jumped (smooth.py), or when no step is small enough.
`fresh` asks for f at the start again, as after an event. Where a system depends on time, no step passes
t_knot, the next of the stream `knots`: knots.py.

What a step does is up to the method (methods/); how long it is, and whether it is accepted, is decided by
control.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import casadi as ca
import numpy as np

from condyle.integrate.branches import differs
from condyle.integrate.control import SHARE, Control, blame, plan, weighed
from condyle.integrate.equations import Equations, RightHandSide
from condyle.integrate.methods.base import Method, Step
from condyle.integrate.projection import Projector
from condyle.integrate.smooth import some, unchanged
from condyle.native.programs.nodes import Get, If, Kernel, Node, Put, Stream, While, kernel
from condyle.native.programs.program import Program
from condyle.records import dataclass

_SCALARS = (
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
)
_VECTORS = ("y", "y_stage", "y_next", "error", "weights", "k0", "k_next", "f_start")


def copy(source: str, target: str, n: int, W: int = 1) -> Node:
    """target <- source: lanes by one line, one state by a loop, for which a slice is a table of one row."""
    if W == 1:
        return Put(source, target, "zero")
    x = ca.SX.sym("x", n)
    return Kernel(ca.Function("copy", [x], [x]), (source,), (target,))


@dataclass
class Trial:
    """The inside of the loop: `first`, where `fresh` asks for it, finds f at the start; `body` tries one
    step."""

    first: list[Node]
    body: list[Node]


def trial(
    method: Method,
    eq: Equations,
    sizes: dict[str, int],
    streams: dict[str, Stream],
    tables: dict[str, np.ndarray],
    record: Callable[[Step], Sequence[Node]],
    before: Sequence[Node] = (),
    W: int = 1,
) -> Trial:
    """One step of a method and its control. `sizes`, `streams`, `tables` gain what it needs.

    Args:
        method: whose step it is.
        eq: the equations of motion.
        sizes: of the slices.
        streams: of the program.
        tables: of the program.
        record: gives nodes that follow an accepted step, with t, y, k0 at its end.
        before: nodes that run before that, while t, y, k0 are those of its start.
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
    control = Control(method, eq.timed, step.evaluations)
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
    among = np.sqrt(n / max(n - eq.prescribed, 1))  # the mean is over what has errors at all
    measured = kernel(
        lambda weights, accuracy, *e: (
            (among * weighed(weights, accuracy, *e[: len(errors)]) if errors else ca.SX(0))
            + sum(ca.if_else(a, np.inf, 0) for a in e[len(errors) :])
        ),
        ["weights", "accuracy", *errors, *astray],
        ["err"],
        sizes,
        "measured",
    )
    judged: list[Node] = [*projected, measured]
    if astray and errors:  # what is removed is small itself: projection.py
        sizes["rough"] = 1
        alone = projector.unprescribed if projector is not None else None
        judged = [
            *([] if alone is None else [Kernel(alone, ("p", *errors), errors)]),
            kernel(
                lambda weights, accuracy, *e: (
                    SHARE * ca.sqrt(accuracy) * among * weighed(weights, accuracy, *e)
                ),
                ["weights", "accuracy", *errors],
                ["rough"],
                sizes,
                "roughly",
            ),
            *judged,
            kernel(ca.fmax, ["err", "rough"], ["err"], sizes, "larger"),
        ]
    known = bool(step.new_rate) and projector is None  # then f at the new point is there already
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
    # the last evaluation of f was there, unless the output between steps has asked for more
    again = rhs.look_up("t_next", "y_next") if known and step.accepted_evaluations and eq.signature else []
    accepted = [
        *step.accepted,
        *([] if known else [rhs("t_next", "y_next", "k_next", "unused")]),
        *again,
        kernel(lambda evaluations: evaluations + evaluated, "evaluations", "evaluations", sizes, "evaluated"),
        kernel(control.land, f"h h_try t fixed {k_next} rejected", "accept h code rejected", sizes),
        If("accept", taken),
    ]
    first: list[Node] = [
        rhs("t", "y", "k0"),
        copy("k0", "f_start", n, W),
        *keep,
        *signed("t", "y"),
        *([copy("signature", "signature_start", sizes["signature"], W)] if sign else []),
        kernel(
            lambda evaluations, t: (ca.SX(0), evaluations + 1, t, ca.SX(0)),
            "evaluations t",
            "fresh evaluations doubt refused",
            sizes,
            "started",
        ),
    ]
    ends = ["t_end", "t_knot"] if eq.timed else ["t_end"]
    return Trial(
        first,
        [
            kernel(plan, ["t", "h", "h_max", "way", *ends], "h_try t_next", sizes),
            *step.attempt,
            *judged,
            kernel(
                control.judge,
                "h h_try t err fixed y_next rejected evaluations doubt refused way",
                "accept h code rejected evaluations doubt refused",
                sizes,
            ),
            If("accept", accepted),
            If("code", kernel(blame, "weights error", "worst", sizes)),
        ],
    )


def _signed(eq: Equations, rhs: RightHandSide, sizes: dict[str, int], t: str, y: str) -> list[Node]:
    """The signature of paths at t, y, where f has just been evaluated, and whether it has `changed` since the
    last: branches.py."""
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


def step_loop(method: Method, eq: Equations) -> tuple[Program, dict[str, np.ndarray]]:
    """The program, and the tables that a run needs with the streams T, Y, F (and D)."""
    n, sizes = eq.n, {"row": 1, "rows": 1}
    streams = {"T": Stream(1), "Y": Stream(n), "F": Stream(n)}
    tables: dict[str, np.ndarray] = {}

    def record(step: Step) -> list[Node]:
        columns = {"T": "t", "Y": "y", "F": "k0"}
        if step.dense:
            columns["D"], streams["D"] = "dense", Stream(n * step.dense)
        if eq.signature is not None:
            columns |= {"S": "signature", "C": "changed"}
            streams["S"], streams["C"] = Stream(sizes["signature"]), Stream(1)
        return [
            *(Put(source, stream, "row") for stream, source in columns.items()),
            kernel(lambda row: row + 1, "row", "row", sizes, "next_row"),
        ]

    parts = trial(method, eq, sizes, streams, tables, record)
    stop = ["accept", "changed"] if eq.signature is not None else []  # after a jump is another motion
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
