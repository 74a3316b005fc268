"""Kernels of the native loop: cost and constraints at a configuration, and the step from one to the next. How
goals add up to the cost, its gradient and its Gauss-Newton matrix is in cost.py.

The cost is straight-line code, or loops over bodies (condyle.model.looped) for trees whose straight-line code
would take long to compile.

Goals that pull at one body, stations and orientations, are rows that add their loads and inertias to it;
goals on coordinates of one body are straight-line code. Sums run inward. H is the composite-body algorithm
(mass_matrix.py): the force that a speed needs is carried to each ancestor in turn,

    F = C h_j,    H_ij = h_i' F   for the speeds i of the body and, with F shifted, of its ancestors       (1)

one row per body and ancestor. Only the lower triangle of H, by columns, is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.constraints.solve.corrections import moved, normalized
from condyle.dynamics import inertia
from condyle.dynamics.aba import ZERO
from condyle.dynamics.kinematics import Kinematics
from condyle.dynamics.row import NUMBER, RowField
from condyle.fit.cost import GoalCost, point_masses
from condyle.fit.goals import Goal
from condyle.fit.layout import Layout, asks, body_of, has_loops
from condyle.model.looped.draft import Draft, KernelDraft, StraightLine
from condyle.model.looped.passes import at_rest, nothing
from condyle.model.looped.tables import Looped, NewRows
from condyle.model.looped.visits import Visit, Visits, shifted
from condyle.model.model import Model
from condyle.model.symbols import Symbols
from condyle.native.loops.sweep import TableSweep
from condyle.native.tables.staged import Staged, build_function
from condyle.records import dataclass
from condyle.tree.body_constants import BodyConstants

_COST, _PULL, _STIFFNESS = (
    RowField[ca.SX](NUMBER, name="cost"),
    RowField[ca.SX](name="f"),
    RowField[ca.SX](name="S"),
)
"""Fields: the cost of all goals, in the root; gradient and Hessian of goals on a body's own coordinates."""


def evaluate_in_loops(model: Model, layout: Layout) -> TableSweep:
    """q, tail, row -> cost, g (nu,), H (nu^2,), p (m,), P by rows (m nu,)."""
    nu, m = model.tree.nu, model.equations("position")
    arguments = [("q", model.tree.nq), ("tail", model.tail_size), ("row", layout.size)]
    looped = Looped(model, arguments, [("cost", 1), ("g", nu), ("H", nu * nu), ("p", m), ("P", m * nu)])
    shares = model.tree.shares
    looped.cleared = ("H", "P", *(("g",) if shares else ()))

    def prepare(d: Draft) -> None:
        d.kinematics(False, positions=True)
        d.me.P = (ca.SX(3, 3), ca.SX(3, 3), ca.SX(3, 3))
        d.me.F = ZERO
        d.me[_PULL] = ca.SX.zeros(d.mobilizer.nu, 1)
        d.me[_STIFFNESS] = ca.SX.zeros(d.mobilizer.nu, d.mobilizer.nu)

    def ground(d: Draft) -> None:
        at_rest(d)
        d.me[_COST] = ca.SX(0)

    looped.outward(prepare, ground)
    _goals(looped, layout)

    def inward(d: Draft) -> None:
        F, r, nu = d.me.F, d.me.r, d.mobilizer.nu
        if nu:
            g = ca.densify(d.me[_PULL] - ca.vertcat(*(inertia.inner(h, F) for h in d.me.H)))
            d.writes["g"] = g + d.read("g", nu) if shares else g
        d.parent.F = inertia.add(d.parent.F, inertia.shift_force(F, r))
        d.parent.P = inertia.add_inertia(d.parent.P, inertia.shift_inertia(d.me.P, r))

    looped.inward(inward, nothing)
    _matrix(looped)
    if m:
        visits = Visits(looped, "position")
        visits.begin(ca.SX.zeros(m, 1), p=ca.densify(visits.equations.position_errors()))
        visits.jacobian("P")
    return looped.rows()


def errors_in_loops(model: Model) -> TableSweep:
    """q, tail -> p (m,)."""
    looped = Looped(
        model, [("q", model.tree.nq), ("tail", model.tail_size)], [("p", model.equations("position"))]
    )
    looped.outward(
        lambda d: d.kinematics(False, positions=True),  # type: ignore[arg-type,return-value]
        at_rest,
    )
    line = StraightLine(looped)
    line.write(p=ca.densify(line.symbols.rows(line.kin).position_errors()))
    return looped.rows()


class _RowCost:
    """The cost for a goal in a row, whose body is a link."""

    def __init__(self, d: KernelDraft, model: Model, B: int) -> None:
        self.view, self.value, self.F = model, ca.SX(0), ZERO
        self.P: Any = (ca.SX(3, 3), ca.SX(3, 3), ca.SX(3, 3))
        none = ca.SX(3, 3), ca.SX(3, 1)
        self.placed = BodyConstants(
            *none,
            ca.reshape(d.read("constant.goal.R_MB", 9), 3, 3),
            d.read("constant.goal.p_MB", 3),
            ca.SX(0),
            ca.SX(3, 1),
            ca.SX(3, 3),
        )
        self.kin = Kinematics(
            {B: self.placed},  # type: ignore[arg-type]
            R_GM={B: d.row("body").R},
            p_GM={B: d.row("body").p},
        )
        self.R = self.kin.R_GM[B]

    def add_load(self, B: int, moment: SX, force: SX, cost: SX) -> None:
        self.F, self.value = inertia.add(self.F, (moment, force)), self.value + cost

    def add_points(self, B: int, W: SX, m: SX, S: SX) -> None:
        mass, com, I = point_masses(self.placed.R_MB, self.placed.p_MB, W, m, S)
        self.P = inertia.add_inertia(self.P, inertia.rigid(self.R, mass, com, I)[0])

    def add_inertia(self, B: int, w: SX) -> None:
        self.P = inertia.add_inertia(self.P, (w * ca.SX.eye(3), ca.SX(3, 3), ca.SX(3, 3)))


class _LineCost:
    """The cost for goals on the coordinates of one body."""

    def __init__(self, line: StraightLine) -> None:
        self.view, self.value = line.symbols.view(line.kin), ca.SX(0)
        self.rows: list[tuple[ca.SX, ca.SX, ca.SX]] = []

    def add_rows(self, error: SX, J: SX, w: SX) -> None:
        self.value += w * ca.dot(error, error) / 2
        self.rows.append((error, ca.sparsify(J), w))


def _goals(looped: Looped, layout: Layout) -> None:
    """Loads, inertias and the cost of all goals, added to the rows of their bodies and to the root."""
    model = looped.model
    blocks = [(goals[0], at) for goals, at in zip(layout.blocks, layout.slices, strict=True)]
    fresh, first = looped.fresh_type, len(looped.types)
    of_poses = [(goal, at, body_of(model, goal)) for goal, at in blocks if asks(goal) == "pose"]
    kinds = list(dict.fromkeys(type(goal) for goal, *_ in of_poses))
    if of_poses:
        types = np.array([fresh + kinds.index(type(goal)) for goal, _, _ in of_poses])
        bodies = [B + 1 for *_, B in of_poses]
        looped.add_rows(types, np.array(bodies), {"body": {first + i: row for i, row in enumerate(bodies)}})
        for name, size in (("R_MB", 9), ("p_MB", 3)):
            looped.constants[f"goal.{name}"] = np.vstack(
                [
                    np.zeros((first, size)),
                    *(np.array(model.row(B, name)) for *_, B in of_poses),
                ]
            )
        looped.windows["block"] = (
            "row",
            np.array([0] * first + [at.start for _, at, _ in of_poses], dtype=np.int64),
        )
    kernels = {}
    for k, kind in enumerate(kinds):
        goal, at, B = next(x for x in of_poses if type(x[0]) is kind)
        d = kernels[fresh + k] = KernelDraft(looped)
        cost = _RowCost(d, model, B)
        goal.add(cost, d.read("block", at.stop - at.start))  # type: ignore[arg-type]
        body = d.row("body")
        body.F, body.P = inertia.add(body.F, cost.F), inertia.add_inertia(body.P, cost.P)
        d.root[_COST] += cost.value
    looped.extra_pass(kernels)
    _line(looped, [(goal, at) for goal, at in blocks if asks(goal) != "pose"], layout.size)


def _line(looped: Looped, blocks: Sequence[tuple[Goal, slice]], size: int) -> None:
    line = StraightLine(looped)
    row = ca.SX.sym("row", size)
    if blocks:
        line.reads["row"] = row
    cost = _LineCost(line)
    for goal, at in blocks:
        goal.add(cost, row[at])  # type: ignore[arg-type]
    found: dict[int, list[tuple[ca.SX, ca.SX, ca.SX]]] = {}
    for error, J, w in cost.rows:
        B = line.owner[J.sparsity().get_triplet()[1][0]][0]
        found.setdefault(B, []).append((error, J[:, looped.model.tree.bodies[B].u], w))
    for B, each in found.items():
        body = line.body(B)
        body[_PULL] = sum((J.T @ (w * error) for error, J, w in each), ca.SX(0))
        body[_STIFFNESS] = sum((w * (J.T @ J) for _, J, w in each), ca.SX(0))
    line.write(cost=line.body(-1)[_COST] + cost.value)


def _matrix(looped: Looped) -> None:
    """(1): what is above the diagonal, and blocks on it. Where bodies share speeds, blocks add up: one of two
    bodies with the same speeds is on the diagonal with its transpose, and one below it is transposed."""
    tree = looped.model.tree
    rows, starts = NewRows(looped), list[int]()
    kinds, nu = looped.types.copy(), tree.nu
    for B in tree.base_to_tip:
        width = len(tree.speeds_of(B))
        if not width:
            continue
        u, way = tree.bodies[B].u.start, list(reversed(tree.path(B)))
        for A in way:
            v = tree.bodies[A].u.start
            side = "above" if v < u or not tree.speeds_of(A) else "same" if v == u else "below"
            key = ("own", int(kinds[A + 1])) if A == B else ("way", int(kinds[A + 1]), width, side)
            rows.add(*key, like=A + 1, body=A + 1, up=rows.first + len(starts) + 1)
            starts.append(min(u, v) * nu + max(u, v))
        rows.add("end", width)
        starts.append(0)
    rows.finish()
    most = max(len(tree.speeds_of(B)) for B in tree.base_to_tip)
    for i in range(most):
        looped.window(f"H{i}", "H", rows.first, np.array(starts) + i * nu)
    kernels: dict[int, KernelDraft] = {}
    for (what, *of), t in rows.types.items():
        if what == "end":
            continue
        kind = looped.kinds[of[0]]
        assert kind.mobilizer is not None
        d = kernels[t] = Visit(looped, kind, kind.mobilizer.nu if what == "own" else of[1])
        H = [ca.vertcat(*h) for h in d.of_body.H]
        if what == "own":
            C = d.of_body.P
            F = ca.horzcat(*(ca.vertcat(*inertia.apply(C, (h[:3], h[3:]))) for h in H))
        else:
            F = d.visit.F
        block = ca.densify(ca.horzcat(ca.SX(6, 0), *H).T @ F)
        if what == "own":
            block = block + d.of_body[_STIFFNESS]
        elif of[2] != "above":
            block = block + block.T if of[2] == "same" else block.T
        for i in range(block.shape[0]):
            row_i = block[i, :].T
            d.writes[f"H{i}"] = row_i + d.read(f"H{i}", row_i.numel()) if tree.shares else row_i
        d.up.F = shifted(F, d.of_body.r)
    looped.extra_pass(kernels)


@dataclass(frozen=True, eq=False)
class FitExpressions:
    """Kernels of the native loop.

    Attributes:
        evaluate: q, tail, row -> cost, g (nu,), H (nu^2,) by columns, of which only the lower triangle
            counts, p (m,), P by rows (m nu,).
        errors: q, tail -> p (m,).
        step: q, du, tail -> q + N du with unit quaternions.
        prescribe: q, u, tail -> q with the coordinates that motions prescribe at t, and 0/1 per speed (nu,):
            1 where it is locked or prescribed.
        m: number of constraint equations of position level.
    """

    evaluate: ca.Function | Staged | TableSweep
    errors: ca.Function | Staged | TableSweep
    step: ca.Function | Staged
    prescribe: ca.Function | Staged
    m: int


def expressions(model: Model, layout: Layout) -> FitExpressions:
    """The kernels of a system and a layout of goals. Each has its own symbols, since look-ups are local to a
    kernel.
    """
    loops = has_loops(model, layout)
    evaluate = evaluate_in_loops(model, layout) if loops else straight_evaluate(model, layout)
    errors = errors_in_loops(model) if loops and model.equations("position") else straight_errors(model)
    return FitExpressions(evaluate, errors, _step(model), _prescribe(model), model.equations("position"))


def straight_evaluate(model: Model, layout: Layout) -> ca.Function | Staged:
    """`FitExpressions.evaluate` as a straight line."""
    s, row = Symbols(model), ca.SX.sym("row", layout.size)
    kin = s.kinematics()
    cost = GoalCost(s, kin)
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
