"""Coordinate projection in the step loop: sherman2011 section 3.2.

The end of a step is projected onto the constraints before the step is judged, and the same part is removed
from its error:

    q <- q + N du, quaternions normalized,   then   u <- u + du,   e <- e without its normal part          (1)
    until   |p|, 0.1 s |v|, |W du| / 0.1 s <= tolerance,     tolerance = accuracy / 10 x min(1, length)    (2)

with du of corrections.py: of least ||W du|| for q, W the weights of the speeds, and an impulse of the
constraints for u. p, v and the next du are measured after the change, each by its largest element: (7) of
sherman2011, and the remaining distance, which is p over a small number where constraints nearly lose rank.
Newton's method squares errors, so that usually one pass suffices. If ROUNDS passes do not, the step is
rejected and a shorter one tried.

Prescribed values are set first, have no error, and do not change. If motions or constraints drive a mechanism
completely, no error remains after (1): the error before it is kept below the square root of the accuracy, so
that one Newton step is about enough and stays in its branch.

Stages of a step are not projected, and violate constraints by the error of the method. That is harmless
unless the constraints nearly lose rank, or have full rank only off the manifold (multipliers.py (5)): see
Projector.on_constraints.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.constraints.solve.corrections import (
    across_quaternions,
    moved,
    normalized,
    position_change,
    tangential,
    velocity_change,
)
from condyle.dynamics.rates import speeds
from condyle.integrate.manifold import LIGHTEST, SHARE
from condyle.model.layouts import build_looped_changes
from condyle.model.model import Model
from condyle.model.symbols import Symbols
from condyle.native.programs.nodes import If, Kernel, Node, Stream, While, kernel
from condyle.native.programs.slice_function import Loops, SliceFunction, compiled
from condyle.native.straight.data import function
from condyle.native.tables.lookup import Closure
from condyle.native.tables.staged import Staged, build_function
from condyle.records import dataclass
from condyle.tree.scales import TIME_SCALE

ROUNDS = 8
"""Largest number of passes of (1) per step."""
ROUNDING = 1e-15
"""A |p| below this fraction of 1 + |q| never causes another pass, whatever the distance."""


Rate = Callable[..., Node]
"""(t, y, k) -> nodes that set the slice k to f(t, y)."""


@dataclass(frozen=True, eq=False)
class Projection:
    """The functions for (1); error estimates are concatenated.

    Args:
        nearer: (t, y, p, weights) -> y: a Newton step for positions, quaternions normalized. With constraints
            also whether they are delicate.
        along: (t, y, p, weights, errors...) -> y, errors...: speeds and errors. With constraints also `off`:
            (2) after the change in units of `tolerance`, which is that at an accuracy of 1.
        slower: (t, y, p, weights) -> y: speeds alone, where there are constraints.
        unprescribed: (p, errors...) -> errors of what is not prescribed, where there are motions.
    """

    nearer: ca.Function | Staged | Loops
    along: ca.Function | Staged | Loops
    tolerance: float | SX | None
    slower: ca.Function | Staged | Loops | None = None
    unprescribed: ca.Function | None = None


class Projector:
    """Projection over slices of the step loop, whose `sizes`, `streams` and `tables` gain what it needs. Errors of
    constraints are weighed by sherman2011 (7).

    Args:
        errors: the slices with the estimates of a step's error.
        n: size of y.
    """

    def __init__(
        self,
        projection: Projection,
        errors: tuple[str, ...],
        n: int,
        sizes: dict[str, int],
        streams: dict[str, Stream],
        tables: dict[str, np.ndarray],
    ) -> None:
        self.errors, self.sizes, self.tolerance = errors, sizes, projection.tolerance
        self.nearer = SliceFunction(projection.nearer, "nearer", sizes, streams, tables)
        self.along = SliceFunction(projection.along, "along", sizes, streams, tables)
        self.unprescribed = projection.unprescribed
        if projection.slower is not None:
            self.slower = SliceFunction(projection.slower, "slower", sizes, streams, tables)
            sizes |= {"off": 1, "astray": 1, "projections": 1, "raw": 1, "y_on": n, "unused": 1}
        self.spare = tuple(f"spare_{name}" for name in errors)
        sizes |= dict.fromkeys(self.spare, n)

    def __call__(
        self, t: str = "t_next", y: str = "y_next", errors: tuple[str, ...] | None = None
    ) -> list[Node]:
        """y at t <- (1), and errors, by default none; `astray` is not zero if it failed."""
        at, errors = (t, y, "p", "weights"), self.spare if errors is None else errors
        if self.tolerance is None:
            return [
                *self.nearer(at, (y,)),
                *(self.along((*at, *errors), (y, *errors)) if errors is self.errors else ()),
            ]
        tolerance = self.tolerance
        begin = kernel(lambda: (ca.SX(1), ca.SX(0)), [], ["off", "astray"], self.sizes, "begin")
        again = kernel(
            lambda off, accuracy, count: (
                ca.if_else(off < np.inf, off > tolerance * accuracy, np.nan),
                count + 1,
            ),
            "off accuracy projections",
            "off projections",
            self.sizes,
            "again",
        )
        once = [*self.nearer(at, (y, "unused")), *self.along((*at, *errors), (y, *errors, "off"))]
        return [begin, While("off", [*once, again], ROUNDS, "astray")]

    def on_constraints(self, f: Rate) -> Rate:
        """f, and where the rank of the constraints is delicate f at the nearest state on them, by two Newton
        steps for positions and one for speeds. The result of the last evaluation decides where to begin."""
        if self.tolerance is None:
            return f
        raw = kernel(lambda delicate: 1 - delicate, ["f.delicate"], ["raw"], self.sizes, "raw")

        def rate(t: str, y: str, k: str) -> list[Node]:
            return [
                raw,
                If("raw", f(t, y, k)),
                If(
                    "f.delicate",
                    [
                        *self.nearer((t, y, "p", "weights"), ("y_on", "f.delicate")),
                        *self.nearer((t, "y_on", "p", "weights"), ("y_on", "unused")),
                        *self.slower((t, "y_on", "p", "weights"), ("y_on",)),
                        f(t, "y_on", k, "unused"),
                    ],
                ),
            ]

        return rate


def metric(weights: SX) -> SX:
    """W of the speeds from their weights, all above zero."""
    most = ca.mmax(weights)
    return ca.if_else(most > 0, ca.fmax(weights, LIGHTEST * most), 1)


def projection(
    model: Model, errors: int, lanes: int = 0, derived: bool = False, extra: int = 0
) -> Projection | None:
    """The projection of a system for a number of error estimates; None if there is nothing to project.
    lanes: of loops over bodies; 0 for straight lines. derived: whether its functions will be differentiated.
    extra: number of values at the end of p that the projection does not use."""
    s, tree = Symbols(model), model.tree
    nq, nu, q, u = tree.nq, tree.nu, s["q"], s["u"]
    n = nq + nu + model.nz
    weights, E = ca.SX.sym("weights", n), [ca.SX.sym(f"e{i}", n) for i in range(errors)]
    p = ca.vertcat(s["tail"][model.tail["inputs"].start :], ca.SX.sym("extra", extra))
    inputs = [s.t, ca.vertcat(q, u, s.z), p, weights]

    def at_prescribed(name: str, outputs: list[SX], *more: SX) -> ca.Function | Staged:
        """The function at the state that motions prescribe."""
        if tree.driven:
            closure = Closure(name, [*inputs, *more], [ca.densify(x) for x in outputs])
            outputs = closure(s.t, ca.vertcat(*s.motions.state(), s.z), *inputs[2:], *more)
        return build_function(name, [*inputs, *more], outputs, derived)

    own, unit = [s.motions.without(e) for e in E], normalized(tree, q)
    if not model.constraints:
        if ca.is_equal(unit, q, 1) and not tree.driven:
            return None
        along = [ca.vertcat(across_quaternions(tree, q, e[:nq]), e[nq:]) for e in own]
        return Projection(
            at_prescribed("nearer", [ca.vertcat(unit, u, s.z)]),
            at_prescribed("along", [ca.vertcat(q, u, s.z), *along], *E),
            None,
        )
    alone = function("own", [inputs[2], *E], [ca.densify(e) for e in own]) if tree.driven and E else None
    tolerance = SHARE * model.unit_length
    if lanes and model.equations("position"):
        kernels = LoopedProjection(model, errors, lanes)
        return Projection(kernels.nearer(), kernels.along(), tolerance, kernels.slower(), alone)
    W = metric(weights[nq : nq + nu])
    du, delicate = position_change(s.rows(s.kinematics()), s.lock, W)
    nearer = at_prescribed(
        "nearer", [ca.vertcat(normalized(tree, q + moved(tree, s.t, q, du)), u, s.z), delicate]
    )
    rows = s.rows(s.kinematics())
    slower = at_prescribed("slower", [ca.vertcat(q, u + velocity_change(rows, s.lock, W), s.z)])
    du, v, left, kept = tangential(
        rows, s.lock, W, [(across_quaternions(tree, q, e[:nq]), e[nq : nq + nu]) for e in own]
    )
    off = _off(rows.errors()[0], v, q, W * left)
    along = [
        ca.vertcat(q, u + du, s.z),
        *(ca.vertcat(*e, whole[nq + nu :]) for e, whole in zip(kept, own, strict=True)),
        off,
    ]
    return Projection(nearer, at_prescribed("along", along, *E), tolerance, slower, alone)


class LoopedProjection:
    """The projection by loops over bodies: one kernel for positions and one for speeds, each for errors and
    their estimates."""

    def __init__(self, model: Model, errors: int, lanes: int) -> None:
        self.model, self.errors, tree = model, errors, model.tree
        nu, columns = tree.nu, 1 + errors
        self.sizes = {
            "c.q": tree.nq,
            "c.u": nu,
            "c.tail": model.tail_size,
            "c.weights": nu,
            "c.turns": errors * nu,
            "c.changes": errors * nu,
            "c.du_q": columns * nu,
            "c.near": 1,
            "c.p": model.equations("position"),
            "c.du": columns * nu,
            "c.left": model.equations("position", "velocity"),
        }
        self.kernels = {
            name: Kernel(
                compiled(build_looped_changes(model, name, columns), name, lanes),
                ("c.q", "c.u", "c.weights", along, "c.tail"),
                outs,
            )
            for name, along, outs in (
                ("position_change", "c.turns", ("c.du_q", "c.near", "c.p")),
                ("velocity_change", "c.changes", ("c.du", "c.left")),
            )
        }

    def _loops(
        self,
        kernels: tuple[str, ...],
        join: Callable[..., list[SX]],
        joined: tuple[str, ...],
        errors: int = 0,
    ) -> Loops:
        """join(t, q, u, z, weights, results of kernels, errors): at the state that motions prescribe."""
        model, tree = self.model, self.model.tree
        s = Symbols(model)
        nq, nu, n = tree.nq, tree.nu, tree.nq + tree.nu + model.nz
        weights, E = ca.SX.sym("weights", n), [ca.SX.sym(f"e{i}", n) for i in range(errors)]
        inputs = [s.t, ca.vertcat(s["q"], s["u"], s.z), s["tail"][model.tail["inputs"].start :], weights, *E]
        s.follow_motions()
        q, u = s["q"], s["u"]
        own = [s.motions.without(e) for e in E]
        none = [ca.SX.zeros(nu, 1)] * (self.errors - errors)
        turns = [*(speeds(tree, q, across_quaternions(tree, q, e[:nq])) for e in own), *none]
        changes = [*(e[nq : nq + nu] for e in own), *none]
        parts = (
            "c.q",
            "c.u",
            "c.tail",
            "c.weights",
            "c.turns",
            "c.changes",
            *(f"c.e{i}" for i in range(errors)),
        )
        split = build_function(
            "split",
            inputs,
            [
                ca.densify(x)
                for x in (
                    q,
                    u,
                    s["tail"],
                    metric(weights[nq : nq + nu]),
                    ca.vertcat(ca.SX(0, 1), *turns),
                    ca.vertcat(ca.SX(0, 1), *changes),
                    *own,
                )
            ],
        )
        sizes = self.sizes | {f"c.e{i}": n for i in range(errors)}
        names = ("c.q", "c.u", "c.weights", *joined, *(f"c.e{i}" for i in range(errors)))
        symbols = [ca.SX.sym(name, sizes[name]) for name in names]
        t, y = ca.SX.sym("t"), ca.SX.sym("y", n)
        results = [ca.densify(x) for x in join(t, *symbols[:2], y[nq + nu :], *symbols[2:])]
        return Loops(
            split,
            parts,
            tuple(self.kernels[name] for name in kernels),
            function("join", [t, y, *symbols], results),
            (0, 1, *names),
            sizes,
        )

    def nearer(self) -> Loops:
        tree, nu = self.model.tree, self.model.tree.nu

        def join(t: SX, q: SX, u: SX, z: SX, W: SX, du: SX, near: SX) -> list[SX]:
            return [ca.vertcat(normalized(tree, q + moved(tree, t, q, du[:nu])), u, z), near]

        return self._loops(("position_change",), join, ("c.du_q", "c.near"))

    def slower(self) -> Loops:
        nu = self.model.tree.nu
        return self._loops(
            ("velocity_change",), lambda t, q, u, z, W, du: [ca.vertcat(q, u + du[:nu], z)], ("c.du",)
        )

    def along(self) -> Loops:
        tree = self.model.tree
        nq, nu = tree.nq, tree.nu

        def join(
            t: SX,
            q: SX,
            u: SX,
            z: SX,
            W: SX,
            du_q: SX,
            p: SX,
            du: SX,
            left: SX,
            *own: SX,
        ) -> list[SX]:
            turns, changes = (ca.horzsplit(ca.reshape(x, nu, 1 + self.errors)) for x in (du_q, du))
            along = [
                ca.vertcat(
                    across_quaternions(tree, q, e[:nq]) + moved(tree, t, q, turn),
                    e[nq : nq + nu] + change,
                    e[nq + nu :],
                )
                for e, turn, change in zip(own, turns[1:], changes[1:], strict=True)
            ]
            return [ca.vertcat(q, u + changes[0], z), *along, _off(p, left, q, W * turns[0])]

        return self._loops(
            ("position_change", "velocity_change"), join, ("c.du_q", "c.p", "c.du", "c.left"), self.errors
        )


def _off(p: SX, v: SX, q: SX, distance: SX) -> SX:
    """(2): the largest of p, v and the remaining distance W du."""
    far = ca.if_else(largest(p) > ROUNDING * (1 + largest(q)), largest(distance) / TIME_SCALE, 0)
    return largest(ca.vertcat(p, TIME_SCALE * v, far))


def largest(x: SX) -> SX:
    """max |x|, NaN if one is."""
    size = ca.fabs(x)
    return (ca.mmax(size) if x.numel() else ca.SX(0)) + 0 * ca.sum1(size)
