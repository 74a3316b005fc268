"""Operators of constrained systems in the looped layout: multipliers.py and corrections.py over the rows of
visits.py.

All of them start from some x and satisfy G x + g = 0 by steps of multipliers.py (5):

    lambda = Y^+ (G x + g),   x <- x - M^-1 G' lambda;    once more with K in place of Y^+                 (1)

where M^-1 G' lambda is subtracted from eps, and an outward pass computes x from eps (visits.py (4)).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from condyle.arrays import SX
from condyle.constraints.solve.corrections import MASSLESS
from condyle.constraints.solve.multipliers import ROUNDING, Pseudoinverse, with_unmet
from condyle.dynamics import aba
from condyle.dynamics.row import BodyFields, RowField
from condyle.model.flat import rows
from condyle.model.looped import passes
from condyle.model.looped.draft import Draft
from condyle.model.looped.passes import (
    apply_loads,
    apply_motions,
    at_rest,
    ground_with_gravity,
    has_forces,
    make_room,
    nothing,
    of_held,
    with_laws,
)
from condyle.model.looped.tables import Looped
from condyle.model.looped.visits import HomeFields, Visit, Visits
from condyle.records import dataclass


def _lock(d: Visit) -> list[SX]:
    """lock of the speeds of a visit's body, as modified by motions."""
    return d.of_body.lock if d.kind.driven else d.of_speeds("lock")


def _start(looped: Looped, moving: bool = True, mass: bool = True, forces: bool = False) -> None:
    """Kinematics, and optionally P, and z with the accelerations A_0 of aba.py (1)."""

    def prepare(d: Draft) -> None:
        new = d.kinematics(moving, positions=True)
        if mass:
            aba.bias_pass(d, new, forces)
        make_room(d)

    def ground(d: Draft) -> None:
        (ground_with_gravity if forces else at_rest)(d)
        d.me.status = d.me.terms = ca.SX(0)

    looped.outward(prepare, ground)


@dataclass
class Solve:
    """Eliminations aba.py (2), (3) of all speeds, and the passes that use them.

    Args:
        tau: the argument that is the right-hand side; None for zero.
        forces: whether loads, gravity and velocities act.
        lighten: whether MASSLESS W^2 is added to M.
    """

    looped: Looped
    tau: str | None
    forces: bool
    lighten: bool = False

    @property
    def acts(self) -> bool:
        """Whether the right-hand side is nonzero."""
        return self.forces or self.tau is not None

    def inward(self) -> None:
        generalized = (
            self.forces and has_forces(self.looped.model) and apply_loads(self.looped, BodyFields.z, -1)
        )
        apply_motions(self.looped, self.forces)

        def inward(d: Draft) -> None:
            taus = with_laws(d, self.tau, generalized)
            lock = of_held(d, BodyFields.lock)
            if self.lighten:
                lock = [x + MASSLESS * w**2 for x, w in zip(lock, d.of_speeds("weights"), strict=True)]
            held = of_held(d, BodyFields.held) if self.forces else None
            aba.inward_pass(d, taus, lock, held, acts=self.acts)
            if self.acts:
                d.me.eps = [ca.densify(eps) for eps in d.kind.kept["eps"]]

        self.looped.inward(inward, nothing)

    def outward(self, result: str | None = None, first: bool = False) -> None:
        """Compute x from eps, as a field, or in the last pass as a result. `first`: store the sum of |x| +
        u^2 in the root."""

        def outward(d: Draft) -> None:
            x, _ = aba.outward_pass(d)
            if result is not None:
                d.writes[result] = ca.vertcat(ca.SX(0, 1), *x)
            else:
                d.me.x = [ca.densify(value) for value in x]
            if first and x:
                each = (ca.fabs(value) + u**2 for value, u in zip(x, d.of_speeds("u"), strict=True))
                d.root.terms += sum(each, ca.SX(0))

        self.looped.outward(outward, nothing)

    def motions(self, columns: int) -> None:
        """Compute x from some columns of eps, starting at rest and without forces."""
        Xs = RowField[ca.SX](ca.SX.ones(6, columns), name="Xs")

        def outward(d: Draft) -> None:
            U_D, eps, x, A = d.me.U_D, d.me.eps, [], []
            above = d.parent[Xs]
            for j in range(columns):
                P = above[:3, j], above[3:, j]
                mine, a = aba.outward(
                    P,
                    d.me.r,
                    d.me.H,
                    list(zip(U_D, ca.vertsplit(eps[:, j]), strict=True)) if U_D else [],
                )
                x.append(ca.vertcat(ca.SX(0, 1), *mine))
                A.append(ca.vertcat(*a))
            d.me[Xs] = ca.horzcat(*A)
            d.me.x = ca.densify(ca.horzcat(*x))

        def ground(d: Draft) -> None:
            d.me[Xs] = ca.SX(6, columns)

        self.looped.outward(outward, ground)


class LoopedEquations:
    """Straight lines between the passes: multipliers of (1), for some columns x side by side."""

    def __init__(self, looped: Looped, visits: Visits, columns: int = 1) -> None:
        self.looped, self.visits, self.columns = looped, visits, columns

    def _inverse(self, reads: dict[Any, SX], known: bool) -> Pseudoinverse:
        Y, lengths = self.visits.Y(reads), self.visits.home(reads, HomeFields.lengths)
        factors = None
        if known:
            factors = [
                reads.setdefault((0, f"factors{i}"), ca.SX.sym("factors", n))
                for i, n in enumerate(self._sizes)
            ]
        return Pseudoinverse(self.visits.blocks, Y, lengths, factors)

    def solve(self, result: Callable[[Pseudoinverse, SX], dict[Any, SX]], gathered: bool) -> None:
        """Compute lambda. `gathered`: G x is known and nonzero. `result` gives further results to write,
        from lambda."""
        reads: dict[Any, ca.SX] = {}
        found = self._inverse(reads, known=False)
        self._sizes = [f.numel() for f in found.factors]
        g = ca.horzcat(self.visits.home(reads, HomeFields.bias), ca.SX(self.visits.m, self.columns - 1))
        if gathered:
            g += self.visits.home(reads, HomeFields.Gx, self.columns)
        lambda_ = found.solve(g)
        writes: dict[Any, ca.SX] = {(0, f"factors{i}"): f for i, f in enumerate(found.factors)}
        self.visits.put(writes, HomeFields.lambda_, lambda_)
        if self.columns > 1:
            self.visits.put(writes, HomeFields.g, g)
        self.looped.line(reads, writes | result(found, lambda_))

    def correct(self, result: Callable[[dict[Any, SX], Pseudoinverse, SX], dict[Any, SX]]) -> None:
        """Compute the last change of lambda, from G x + g. `result` gives further results to write, from
        the remaining G x + g."""
        reads: dict[Any, ca.SX] = {}
        found = self._inverse(reads, known=True)
        field = HomeFields.bias if self.columns == 1 else HomeFields.g
        g = self.visits.home(reads, field, self.columns)
        g += self.visits.home(reads, HomeFields.Gx, self.columns)
        last, left = found.last(g)
        writes: dict[Any, ca.SX] = {}
        self.visits.put(writes, HomeFields.lambda_, last)
        self.looped.line(reads, writes | result(reads, found, left))


def accelerations(looped: Looped, short: float = ROUNDING) -> None:
    """udot or lambda_, the status, and optionally whether the constraints are delicate."""
    wanted = {name for name, _ in looped.results}
    _start(looped, forces=True)
    visits = Visits(looped)
    solve, equations = Solve(looped, "tau", True), LoopedEquations(looped, visits)
    visits.begin(visits.equations.bias())
    solve.inward()
    visits.inward(_lock)
    solve.outward(first=True)
    visits.gather()

    def multipliers(found: Pseudoinverse, lambda_: SX) -> dict[Any, SX]:
        out = {"lambda_": ca.densify(lambda_), "delicate": found.delicate}
        return {name: x for name, x in out.items() if name in wanted}

    def status(reads: dict[Any, SX], found: Pseudoinverse, r: SX) -> dict[Any, SX]:
        lost, terms = (reads.setdefault((0, name), ca.SX.sym(name)) for name in ("status", "terms"))
        size = ca.fabs(visits.home(reads, HomeFields.bias)) + visits.home(reads, HomeFields.size)
        unmet = found.unmet(r, size, visits.home(reads, HomeFields.whole), terms, short)
        return {"status": with_unmet(lost, looped.model.tree, unmet)}

    equations.solve(multipliers, gathered=True)
    visits.scatter(BodyFields.eps)
    solve.outward()
    visits.gather()
    equations.correct(status)
    if "udot" in wanted:
        visits.scatter(BodyFields.eps)
        solve.outward("udot")


def constraint_matrix(looped: Looped) -> None:
    """Y with a unit diagonal, row by row."""
    _start(looped)
    visits = Visits(looped)
    visits.begin(ca.SX.zeros(visits.m, 1))
    Solve(looped, None, False).inward()
    visits.inward(_lock)
    reads: dict[Any, ca.SX] = {}
    found = Pseudoinverse(visits.blocks, visits.Y(reads), visits.home(reads, HomeFields.lengths))
    looped.line(reads, {"Y": ca.densify(rows(found.scaled()))})


def _write_changes(
    looped: Looped,
    visits: Visits,
    field: Any,
    motions: Callable[[int], None] = lambda columns: None,
    found: Callable[[Pseudoinverse, SX], dict[Any, SX]] = lambda *_: {},
    corrected: Callable[[dict[Any, SX], Pseudoinverse, SX], dict[Any, SX]] = lambda *_: {},
) -> None:
    """(1) for the errors in the homes and for each column of the argument `along`: changes of x as `du`.

    Args:
        field: field of the bodies from which M^-1 G' lambda is subtracted.
        motions: passes that compute x from the field.
        found: further results to write, from the first lambda.
        corrected: the same from the errors that remain after the last correction.
    """
    columns = dict(looped.results)["du"] // max(looped.model.tree.nu, 1)
    equations = LoopedEquations(looped, visits, columns)

    def along(d: Draft) -> None:
        nu = d.mobilizer.nu
        more = [d.read(f"along{j}", nu) for j in range(columns - 1)] if nu else []
        d.me.x = ca.densify(ca.horzcat(ca.SX(nu, 1), *more))

    def no_change(d: Draft) -> None:
        d.me[field] = ca.SX.zeros(d.mobilizer.nu, columns)

    def report(d: Draft) -> None:
        for j in range(columns if d.mobilizer.nu else 0):
            d.writes[f"du{j}"] = d.me.x[:, j]

    looped.outward(along, nothing)
    if columns > 1:
        visits.gather(columns)
    equations.solve(found, gathered=columns > 1)
    looped.outward(no_change, nothing)
    visits.scatter(field, columns)
    motions(columns)
    visits.gather(columns)
    equations.correct(corrected)
    visits.scatter(field, columns)
    motions(columns)
    looped.outward(report, nothing)


def position_changes(looped: Looped) -> None:
    """corrections.py (1) for positions: du for p, and for P e of each column of the argument `along`; on
    request also whether the constraints are delicate, and p."""
    wanted = {name for name, _ in looped.results}
    _start(looped, moving=False, mass=False)
    apply_motions(looped, False)
    visits = Visits(looped, "position")
    p = visits.equations.position_errors()
    visits.begin(p)
    if "p" in wanted:
        visits.line.write(p=ca.densify(p))
    visits.inward(
        _lock, lambda d: [w**2 + lock for w, lock in zip(d.of_speeds("weights"), _lock(d), strict=True)]
    )
    delicate = lambda found, _: {"delicate": found.delicate} if "delicate" in wanted else {}
    _write_changes(looped, visits, BodyFields.x, found=delicate)


def velocity_changes(looped: Looped) -> None:
    """corrections.py (1) for speeds: du for v, and for V e of each column of the argument `along`; on
    request also the remaining v, if v is linear in u."""
    left = "left" in {name for name, _ in looped.results}
    _start(looped)
    visits = Visits(looped, "position", "velocity")
    v, linear = visits.equations.errors()[1], visits.linear()
    visits.begin(v)
    solve = Solve(looped, None, False, lighten=True)
    solve.inward()
    visits.inward(_lock)
    if left and not linear:
        reads: dict[Any, ca.SX] = {}
        looped.line(reads, {"left": visits.home(reads, HomeFields.bias)})
    rest = lambda reads, found, r: {"left": ca.densify(r[:, 0])} if left and linear else {}
    _write_changes(looped, visits, BodyFields.eps, solve.motions, corrected=rest)


def forward_dynamics(looped: Looped) -> None:
    """Forward dynamics, with or without constraints."""
    (accelerations if looped.model.constraints else passes.forward_dynamics)(looped)
