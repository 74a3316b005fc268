"""Named intermediates of forward dynamics, to find where NaN and infinities come from:
`system.explain(state)`."""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.constraints.solve.equations import row_slices
from condyle.constraints.solve.multipliers import constrained
from condyle.dynamics import aba
from condyle.dynamics.inertia import add_inertia, rigid, shift_inertia
from condyle.dynamics.mass_matrix import mass_matrix
from condyle.mobilizers import motion
from condyle.model.model import Model
from condyle.model.operators.dynamics import each_force
from condyle.model.symbols import Symbols
from condyle.native.tables.lookup import lookup_context
from condyle.native.tables.staged import Staged, build_function
from condyle.records import dataclass

MOTION = (
    "R_FM",
    "p_FM",
    "H_FM, angular",
    "H_FM, linear",
    "w_t",
    "v_t",
    "bias, angular",
    "bias, linear",
    "qdot",
)


def intermediates(model: Model) -> tuple[list[str], list[int], ca.Function | Staged]:
    """Names and sizes of the intermediates in the order of their computation, and the function (q, u, tau,
    tail) -> all of them as one vector."""
    s, tree = Symbols(model), model.tree
    named: list[tuple[str, ca.SX]] = [("table of the parameters", model.table[0])]
    (q, u), a = s.motions.state(), s.motions.held()
    for b in tree.bodies:
        parts = motion(b.mobilizer, s.t, s["q"][b.q], s["u"][b.u])
        named += [
            (f"mobilizer of {b.name!r}: {what}", x) for what, x in zip(MOTION, parts, strict=True) if x.nnz()
        ]
        if b.motion is not None:
            named += [
                (f"motion of {b.name!r}: {what}", x)
                for what, x in (("q", q[b.q]), ("u", u[b.u]), ("udot", a[b.u]))
            ]
    kin = s.kinematics()
    for B, b in enumerate(tree.bodies):
        named += [
            (f"body {b.name!r}: R_GM", kin.R_GM[B]),
            (f"body {b.name!r}: p_GM", kin.p_GM[B]),
            (f"body {b.name!r}: V_GM", ca.vertcat(*kin.V_GM[B])),
        ]
    for name, loads in zip(model.forces, each_force(s, kin), strict=True):
        named += [
            (f"force {name!r} on body {tree.bodies[B].name!r}", ca.vertcat(*F))
            for B, F in loads.bodies.items()
        ]
        named += [(f"force {name!r} on speed {tree.speeds[k]!r}", f) for k, f in loads.mobility.items()]
    view = s.view(kin)
    for name, path in model.paths.items():
        over = [span for span in getattr(path.length, "spans", ()) if span.meet]
        named += [
            (f"path of {name!r}: surfaces left out{f', span {k}' * (len(over) > 1)}", span.left_out(view)[0])
            for k, span in enumerate(over)
        ]
    P = {B: rigid(kin.R_GM[B], x.mass, x.com, x.I)[0] for B, x in enumerate(kin.placed)}
    zero = ca.SX(3, 1), ca.SX(3, 1)
    if tree.shares:
        M = mass_matrix(tree, kin)
        named += [(f"inertia that speed {name!r} moves", M[k, k]) for k, name in enumerate(tree.speeds)]
    for B in () if tree.shares else tree.tip_to_base:
        for k, h in zip(tree.speeds_of(B), kin.H[B], strict=True):
            D = aba.pivot(P[B], h) + s.lock[k]
            named.append((f"inertia that speed {tree.speeds[k]!r} moves", D))
            U, _, inverse, eps = aba.reduced(P[B], zero, h, ca.SX(0), s.lock[k], ca.SX(0))
            P[B] = aba.take_out(P[B], zero, U, inverse, eps)[0]
        if (parent := tree.parent(B)) is not None:
            P[parent] = add_inertia(P[parent], shift_inertia(P[B], kin.p_PM[B]))
    udot, _ = s.free_accelerations(kin, s["tau"])
    if model.constraints:
        equations = s.rows(kin)
        G, bias, found = equations.jacobian(), equations.bias(), constrained(equations, udot, s.lock)
        udot, lambda_ = found.udot, found.lambda_
        for name, at in row_slices(model.constraints).items():
            named += [(f"constraint {name!r}: G", G[at, :]), (f"constraint {name!r}: bias", bias[at])]
        named += [
            (f"multipliers of {name!r}", lambda_[at]) for name, at in row_slices(model.constraints).items()
        ]
    named += [
        (f"udot of {name!r}", x)
        for name, x in zip(tree.speeds, ca.vertsplit(udot) if tree.nu else [], strict=True)
    ]
    named = [(name, ca.densify(ca.vec(x))) for name, x in named]
    everything = ca.vertcat(ca.SX(0, 1), *(x for _, x in named))
    inputs = [s[a] for a in ("q", "u", "tau", "tail")]
    return (
        [name for name, _ in named],
        [x.numel() for _, x in named],
        build_function("explain", inputs, [everything]),
    )


@dataclass(frozen=True)
class Explanation:
    """All intermediates of a state's accelerations, evaluated without native code.

    Attributes:
        values: arrays by name, in the order of their computation. Spatial vectors angular first, matrices
            column by column.
        first: name of the first one that is not finite, or None.
    """

    values: dict[str, np.ndarray]
    first: str | None

    def __str__(self) -> str:
        lines = [
            f"{name:50s} {np.array2string(value, precision=5, max_line_width=120, threshold=12)}"
            for name, value in self.values.items()
        ]
        if self.first is None:
            return "\n".join([*lines, "All intermediates are finite."])
        return "\n".join(
            [
                *lines,
                f"The first that is not finite: {self.first} = {self.values[self.first]}. "
                "What it is computed from is above it: look for a root of a negative "
                "number or a division by zero there.",
            ]
        )


@lookup_context()
def explain(model: Model, q: np.ndarray, u: np.ndarray, tau: np.ndarray, tail: np.ndarray) -> Explanation:
    """Evaluate every intermediate with CasADi's evaluator and find the first one that is not finite."""
    names, sizes, function = intermediates(model)
    arguments = [np.asarray(x, dtype=float).reshape(-1, 1) for x in (q, u, tau, tail)]
    if isinstance(function, ca.Function):
        flat = function.call(arguments)[0].full()[:, 0]
    else:
        flat = function.evaluate(arguments)[0][:, 0]
    values = dict(zip(names, np.split(flat, np.cumsum(sizes)[:-1]), strict=True))
    locked = "inertia that speed"  # infinite where a speed is locked
    bad = (
        n for n, v in values.items() if np.isnan(v).any() or (np.isinf(v).any() and not n.startswith(locked))
    )
    return Explanation(values, next(bad, None))
