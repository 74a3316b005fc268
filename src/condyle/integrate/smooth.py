"""Changes of branches that the step loop itself finds harmless: where a path lifts off its surface its length
goes on smoothly.

After a step in which the signature of branches.py has changed, the paths are solved again at PARTS + 1 places
of the polynomial between its ends. The step d_p of a length over the part p in which its branch changes is
compared with those around it, as branches.py (1) says:

    jump = d_p - (d_p-1 + d_p+1) / 2,    d_p - d_p+1 or d_p - d_p-1 at the ends                            (1)

If all are less than a tenth of what counts as a jump, nothing has `changed`, and Python need not look. If one
part is left it is divided again, ROUNDS times at most: then it is a jump, and Python looks at this part. If
more are left, Python looks at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from condyle.integrate.branches import JUMP, PARTS, SHARE, differs
from condyle.integrate.equations import Equations, RightHandSide
from condyle.integrate.methods.base import Method, Step, polynomial
from condyle.native.programs.nodes import If, Kernel, Node, Scan, kernel
from condyle.native.programs.program import Workspace

ROUNDS = 8
"""How often a step is divided here: each time what is left of a smooth length falls by 200, and a jump is
known 14 times better. A division in Python takes ten times as long."""


def some(truths: Sequence[ca.SX]) -> ca.SX:
    """Whether one of them holds."""
    out = ca.SX(0)
    for truth in truths:
        out = ca.logic_or(out, truth)
    return out


def left(ws: Workspace) -> tuple[float, float] | None:
    """The part of the last step that is left, as shares of it; None if several were."""
    if ws["more"][0] != 1:
        return None
    first, wide, part = (float(ws[name][0]) for name in ("x_first", "x_wide", "rough_part"))
    return first + part / PARTS * wide, first + (part + 1) / PARTS * wide


def unchanged(
    method: Method, eq: Equations, rhs: RightHandSide, step: Step, rate: str, sizes: dict[str, int]
) -> list[Node]:
    """Nodes that take `changed` back, before t and y become those of the step's end.

    Args:
        method: whose step it is.
        eq: the equations of motion.
        rhs: f as nodes.
        step: what the method does in it.
        rate: the slice with f at its end.
        sizes: of the slices.
    """
    if eq.signature is None:
        return []
    n, k, spans = eq.n, eq.signature.numel_out(0), eq.signature.numel_out(1)
    sizes |= (
        dict.fromkeys(("part", "t_part", "x_first", "x_wide", "rough", "rough_part", "more"), 1)
        | {"y_part": n, "s_was": k, "s_part": k}
        | dict.fromkeys(("l_was", "l_part", "d_before", "d_mine", "mine"), spans)
    )
    between = ("dense",) if step.dense else ()

    def place(part: ca.SX, first: ca.SX, wide: ca.SX, t: ca.SX, h: ca.SX, *x: ca.SX) -> tuple[ca.SX, ca.SX]:
        at = first + part / PARTS * wide
        return t + at * h, polynomial(x[:4], h, at, x[4] if between else ca.SX(0, 1), method.hermite)

    def compare(
        part: ca.SX,
        rough: ca.SX,
        where: ca.SX,
        accuracy: ca.SX,
        l_was: ca.SX,
        l: ca.SX,
        s_was: ca.SX,
        s: ca.SX,
        d_before: ca.SX,
        d_mine: ca.SX,
        mine: ca.SX,
    ) -> tuple[ca.SX, ...]:
        least, d = ca.fmax(JUMP, SHARE * accuracy) / 10, l - l_was
        switched = differs(s_was, s)
        now = ca.vertcat(
            *(some([c for c, of in zip(switched, eq.switches, strict=True) if of == i]) for i in range(spans))
        )
        now = ca.if_else(part > 0, now, ca.SX.zeros(spans))
        around = ca.if_else(part > 2, (d_before + d) / 2, d)  # (1)
        before = some(
            [
                ca.logic_and(mine[i], ca.logic_not(ca.fabs(d_mine[i] - around[i]) < least))
                for i in range(spans)
            ]
        )
        last = ca.logic_and(
            part == PARTS,
            some(
                [ca.logic_and(now[i], ca.logic_not(ca.fabs(d[i] - d_mine[i]) < least)) for i in range(spans)]
            ),
        )
        where = ca.if_else(last, part - 1, ca.if_else(before, part - 2, where))
        return part + 1, rough + before + last, where, l, s, d_mine, d, now

    def narrow(first: ca.SX, wide: ca.SX, where: ca.SX) -> tuple[ca.SX, ...]:
        return first + where / PARTS * wide, wide / PARTS, ca.SX(0), ca.SX(0), ca.SX.zeros(spans)

    inside: list[Node] = [
        kernel(
            place,
            ["part", "x_first", "x_wide", "t", "h_try", "y", "k0", "y_next", rate, *between],
            ["t_part", "y_part"],
            sizes,
            "place",
        ),
        *step.project("t_part", "y_part"),
        *rhs.look_up("t_part", "y_part"),
        Kernel(eq.signature, ("t_part", "y_part", "p", *rhs.rows), ("s_part", "l_part")),
        kernel(
            compare,
            "part rough rough_part accuracy l_was l_part s_was s_part d_before d_mine mine",
            "part rough rough_part l_was s_was d_before d_mine mine",
            sizes,
            "compare",
        ),
    ]
    again: list[Node] = [
        kernel(narrow, "x_first x_wide rough_part", "x_first x_wide rough part mine", sizes, "narrow"),
        Scan(PARTS + 1, inside),
        kernel(lambda rough: (rough > 0, rough == 1), "rough", "changed more", sizes, "left"),
    ]
    begin = kernel(
        lambda: (ca.SX(0), ca.SX(PARTS), ca.SX(0), ca.SX(1)),
        [],
        ["x_first", "x_wide", "rough_part", "more"],
        sizes,
        "whole",
    )
    return [If("changed", [begin, Scan(ROUNDS, [If("more", again)])])]
