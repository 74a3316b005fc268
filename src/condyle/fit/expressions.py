"""Kernels of the native loop: cost and constraints at a configuration, and the step from one to the next.

How goals add up to the cost, its gradient and its Gauss-Newton matrix is in cost.py.
"""

from __future__ import annotations

import casadi as ca

from condyle.constraints.solve.corrections import moved, normalized
from condyle.fit import looped
from condyle.fit.cost import Cost
from condyle.fit.layout import Layout
from condyle.model.model import Model
from condyle.model.symbols import Symbols
from condyle.native.loops.sweep import Sweep
from condyle.native.tables.staged import Staged, build_function
from condyle.records import dataclass


@dataclass(frozen=True, eq=False)
class FitExpressions:
    """Kernels of the native loop.

    Attributes:
        evaluate: q, tail, row -> cost, g (nu,), H (nu^2,) by columns, of which only the lower triangle
            counts, p (m,), P by rows (m nu,).
        errors: q, tail -> p (m,).
        step: q, du, tail -> q + N du with unit quaternions.
        prescribe: q, u, tail -> q with what motions prescribe at t, and 0/1 per speed (nu,): 1 where it is
            locked or prescribed.
        m: number of constraint equations of position level.
    """

    evaluate: ca.Function | Staged | Sweep
    errors: ca.Function | Staged | Sweep
    step: ca.Function | Staged
    prescribe: ca.Function | Staged
    m: int


def expressions(model: Model, layout: Layout) -> FitExpressions:
    """The kernels of a system and a layout of goals. Each has symbols of its own: look-ups end with the
    kernel they are in."""
    loops = looped.has_loops(model, layout)
    evaluate = looped.evaluate(model, layout) if loops else straight_evaluate(model, layout)
    errors = looped.errors(model) if loops and model.equations("position") else straight_errors(model)
    return FitExpressions(evaluate, errors, _step(model), _prescribe(model), model.equations("position"))


def straight_evaluate(model: Model, layout: Layout) -> ca.Function | Staged:
    """`FitExpressions.evaluate` as a straight line."""
    s, row = Symbols(model), ca.SX.sym("row", layout.size)
    kin = s.kinematics()
    cost = Cost(s, kin)
    for goals, at in zip(layout.blocks, layout.slices, strict=True):
        goals[0].add(cost, row[at])
    value, g, H = cost.total()
    constraints = s.rows(kin)
    P = constraints.jacobian()
    P = P[
        [
            i
            for _, part, at in constraints.parts
            if part.level == "position"
            for i in range(at.start, at.stop)
        ],
        :,
    ]
    return build_function(
        "evaluate", [s["q"], s["tail"], row], [value, g, ca.vec(H), constraints.errors()[0], ca.vec(P.T)]
    )


def straight_errors(model: Model) -> ca.Function | Staged:
    """`FitExpressions.errors` as a straight line."""
    s = Symbols(model)
    return build_function(
        "errors", [s["q"], s["tail"]], [s.rows(s.kinematics(moving=False)).position_errors()]
    )


def _step(model: Model) -> ca.Function | Staged:
    s, tree = Symbols(model), model.tree
    return build_function(
        "step", [s["q"], s["u"], s["tail"]], [normalized(tree, s["q"] + moved(tree, s.t, s["q"], s["u"]))]
    )


def _prescribe(model: Model) -> ca.Function | Staged:
    s = Symbols(model)
    return build_function("prescribe", [s["q"], s["u"], s["tail"]], [s.motions.state()[0], s.lock > 0])
