"""Newton's equations of implicit steps with muscles and constraints, along the tree: (1)-(5) of implicit_matrix.py without
a matrix of the whole system.

With implicit.py (2) about one point O, the change of a body is w_B = (x, G, e), summed from ground outward:

    w_B = w_P + T du + Q dq_0 - U b_u,    dq_0 = b_q / sigma,    dF_B = K_B w_B + sum of dF of its children   (1)
    Q = (S, G, E'),   U = (0, 0, S),   T = Q / sigma + (0, S, K') + sigma U
    S' dF_B + (S x* F_B)' x_P + A (du, dy, dlambda) = right side                                           (2)

in the notation of condyle.native.solvers.tree_fronts. A contains the terms of the speeds of one body; for
laws along paths, path_jacobian.py (3) for each pair of speeds that a law crosses (beyond the bodies that it
touches its loads cancel); and the derivatives of constraints and of laws that are in no table. Loads that
depend on one body alone are part of K_B.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.dynamics.derivatives import (
    MobilizerState,
    Subtree,
    changes,
    motion_about_O,
    of_one,
    own_changes,
    spatial_acceleration,
    with_child,
)
from condyle.dynamics.inertia import add, inner, rigid, shift_motion
from condyle.dynamics.kinematics import Pair, acceleration
from condyle.dynamics.row import BodyFields, RowField
from condyle.model.looped.draft import Draft, KernelDraft
from condyle.model.looped.implicit import STATE, load_changes
from condyle.model.looped.implicit_matrix import Border, LawsAlongPaths, ReducedPaths
from condyle.model.looped.jacobian import carried, carry, write_own_forces
from condyle.model.looped.law_rows import LawKind
from condyle.model.looped.passes import ground_with_gravity, nothing, sines
from condyle.model.looped.path_jacobian import FELT, SpeedFields
from condyle.model.looped.path_kinds import path_kinds
from condyle.model.looped.path_rows import PathRows
from condyle.model.looped.tables import Looped, NewRows
from condyle.model.model import Model
from condyle.native.loops.sweep import TableSweep
from condyle.native.solvers.tree_fronts import FORCES, FrontPlan
from condyle.records import dataclass

WIDTH = 18
"""Size of w."""
PARTS = ("K", "C", "KU", "S", "SF", "inertia", "B_q", "B_u", "tau", "r", "s", "reduced")
"""Results of the loops: K of each node; (Q, U), (0, S, K'), S, S x* F and M_kk of each speed, in the form
of tree_fronts.py; the entries of B_q and B_u that are in A; tau; r and s of each law along a path and each
speed that it crosses; Y, T_z Y, Y Z_L and Y Z_v of each law."""


_PULL = RowField[Pair]((ca.SX.ones(3, 1), ca.SX.ones(3, 1)), name="F_paths")
"""Field of a body: the loads of laws along paths on it, negated; later the sum over its descendants too."""


@dataclass(frozen=True, eq=False)
class NewtonFronts:
    """The equations that steps solve along the tree.

    Attributes:
        plan: where each unknown is eliminated; the unknowns are the speeds, then those of `border`.
        arms: for each entry of r and s, the law (by its place among those along paths) and the speed.
        laws: the laws along paths.
        place: place of each entry of A.
        border: all other laws, and constraints.
    """

    model: Model
    plan: FrontPlan
    arms: tuple[tuple[int, int], ...]
    laws: LawsAlongPaths
    place: Mapping[tuple[int, int], int]
    border: Border

    @staticmethod
    def of_model(model: Model) -> NewtonFronts:
        tree, border, laws = model.tree, Border(model), LawsAlongPaths.of_model(model)
        entries: dict[tuple[int, int], None] = {}
        for b in tree.bodies:
            entries |= {(k, j): None for k in tree.speeds_of(b.index) for j in tree.speeds_of(b.index)}
        crossed = [sorted(speeds) for speeds in _crossed(model)]
        entries |= {(k, j): None for speeds in crossed for k in speeds for j in speeds}
        entries |= dict.fromkeys(border.entries())
        place = {entry: e for e, entry in enumerate(entries)}
        parents = (0, *(0 if b.parent is None else b.parent.index + 1 for b in tree.bodies))
        owners = [b.index + 1 for b in tree.bodies for _ in tree.speeds_of(b.index)]
        plan = FrontPlan.of(parents, owners, tree.nu + border.size, entries, WIDTH)
        arms = tuple((r, j) for r, speeds in enumerate(crossed) for j in speeds)
        return NewtonFronts(model, plan, arms, laws, place, border)

    def build(self) -> TableSweep:
        """STATE -> PARTS."""
        model, plan, nu, L = self.model, self.plan, self.model.tree.nu, len(self.place)
        sizes = model.sizes() | {"udot": nu, "sigma": 1}
        results = {
            "K": len(plan.parents) * FORCES * plan.row,
            "C": 2 * nu * plan.vector,
            "KU": nu * plan.vector,
            "S": 8 * nu,
            "SF": 8 * nu,
            "inertia": nu,
            "B_q": L,
            "B_u": L,
            "tau": nu,
            "r": len(self.arms),
            "s": len(self.arms),
            "reduced": self.laws.size,
        }
        assert tuple(results) == PARTS
        looped = Looped(model, [(name, sizes[name]) for name in STATE], list(results.items()))
        looped.cleared = ("B_q", "B_u", "r", "s")
        _Passes(looped, self).write()
        return looped.rows()


def _crossed(model: Model) -> list[set[int]]:
    """The speeds that each law along a path crosses, by its place among these."""
    tree = model.tree
    bodies = {-1: frozenset[int]()} | {B: frozenset(tree.path(B)) for B in tree.base_to_tip}
    found = []
    for kind in path_kinds(model):
        for _, law in kind.members:
            speeds = set[int]()
            for span in law.path.length.spans:
                ends = [bodies[tree.body(body).index] for body in span.bodies]
                between = frozenset.union(*ends) - frozenset.intersection(*ends)
                speeds |= {k for B in between for k in tree.speeds_of(B)}
            found.append(speeds)
    return found


class _Passes:
    """The passes, being written."""

    def __init__(self, looped: Looped, fronts: NewtonFronts) -> None:
        self.looped, self.fronts, self.tree = looped, fronts, looped.model.tree
        looped.path_rows  # noqa: B018  laws have the first rows
        self.own = fronts.border.own
        self._add_speeds()

    def _add_speeds(self) -> None:
        """Add rows for the speeds, and the places of results."""
        looped, tree, plan = self.looped, self.tree, self.fronts.plan
        rows, nodes, nu = NewRows(looped), np.arange(len(plan.parents)), tree.nu
        self.speeds, most = len(looped.types), max(b.mobilizer.nu for b in tree.bodies)
        for _ in range(nu):
            rows.add("speed")
        for k in range(most):
            owners = {1 + b.index: self.speeds + b.u.start + k for b in tree.bodies if b.mobilizer.nu > k}
            rows.link(f"speed{k}", owners)
        rows.finish()
        looped.constant(
            "inner",
            1,
            np.array([[float(b.parent is not None and not b.parent.is_ground)] for b in tree.bodies]),
        )
        owned = [b.u.start for b in tree.bodies for _ in tree.speeds_of(b.index)]
        looped.window("node_K", "K", 0, nodes * (FORCES * plan.row))
        u = np.array([0, *(b.u.start for b in tree.bodies)])
        for k in range(most):
            row = np.minimum(u + k, nu - 1)
            for name, size in (("C", plan.vector), ("KU", plan.vector), ("S", 8), ("SF", 8)):
                looped.window(f"own_{name}{k}", name, 0, row * size)
            looped.window(f"own_U{k}", "C", 0, (nu + row) * plan.vector)
            first = [self.fronts.place[r, owned[r]] for r in row.tolist()]
            for name in ("B_q", "B_u"):
                looped.window(f"own_{name}{k}", name, 0, first)
        looped.window("own_inertia", "inertia", 0, u)

    def write(self) -> None:
        looped = self.looped
        sines(looped)
        looped.outward(self.prepare, self.ground)
        looped.law_pass(self._feel)
        paths = looped.path_rows
        if paths is not None:
            paths.lengths()
            paths.tensions()
            paths.push(_PULL, -1)
        looped.outward(self.start, lambda d: d.writes.__setitem__("node_K", ca.SX.zeros(self._room, 1)))
        if self.own:
            write_own_forces(looped, frozenset(range(len(looped.model.forces))) - self.own)
        looped.inward(self.inward, nothing)
        if paths is not None:
            LocalPaths(looped, paths, self.fronts, self.speeds).write()

    @property
    def _room(self) -> int:
        return FORCES * self.fronts.plan.row

    # ---- kernels

    def ground(self, d: Draft) -> None:
        ground_with_gravity(d)
        none = ca.SX(3, 1)
        d.me.p_O = none
        d.me[_PULL] = none, none
        carry(d.me, Subtree(ca.SX(1, 1), none, ca.SX(3, 3), none, ca.SX(3, 3), (none, none)))
        d.me[FELT] = ca.SX.zeros(6, 12)

    def prepare(self, d: Draft) -> None:
        """Kinematics and accelerations, and the terms of the body alone."""
        new = d.kinematics(True, positions=True)
        d.me.p_O = d.read("constant.inner", 1) * (d.parent.p_O + new.p_PM)
        d.me.X_MF = (new.X_GF[0], new.X_GF[1] - new.p_GM)
        d.me.A = A = acceleration(d.parent.A, new.p_PM, new.c, new.H, d.of_speeds("udot"))
        P, p_c = rigid(new.R_GM, d.body.mass, d.body.com, d.body.I)
        d.me.a = a = spatial_acceleration(new.V_GM, A)
        carry(d.me, Subtree(*of_one(P[0], d.body.mass, p_c, new.V_GM, a)))
        d.me.F = d.me[_PULL] = ca.SX(3, 1), ca.SX(3, 1)
        d.me[FELT] = ca.SX.zeros(6, 12)
        if self.own:
            d.me.f_q = d.me.f_u = ca.SX.zeros(d.mobilizer.nu, d.mobilizer.nu)

    def _feel(self, kind: LawKind, d: KernelDraft, column: Mapping[str, SX]) -> None:
        """Loads, and their changes besides those of moving rigidly with the body."""
        for link, (n, f) in kind.loads(d, column).items():
            symbols = [d.reads.get(f"{link}.{name}") for name in ("R", "p", "V")]
            moved = ca.blockcat([[-ca.skew(n), -ca.skew(f)], [-ca.skew(f), ca.SX(3, 3)]])
            change = load_changes((n, f), symbols)[:, :12] - ca.horzcat(moved, ca.SX(6, 6))
            d.add(d.row(link), FELT, change)
            d.add(d.row(link), BodyFields.F, (-n, -f))

    def start(self, d: Draft) -> None:
        """K of the body alone, once its loads are known."""
        mine = carried(d.me)
        mine = mine._replace(F=add(mine.F, d.me.F))
        carry(d.me, mine)
        m, mc, I, p, C, F = mine
        none = ca.SX(3, 3)
        K = ca.blockcat(
            [
                [-ca.skew(F[0]), -ca.skew(F[1]), 2 * C, none, I, ca.skew(mc)],
                [-ca.skew(F[1]), none, -2 * ca.skew(p), none, -ca.skew(mc), m * ca.SX.eye(3)],
            ]
        ) - ca.horzcat(d.me[FELT], ca.SX(6, 6))
        rx, plan = ca.skew(d.me.p_O), self.fronts.plan
        K = ca.vertcat(K[:3, :] + rx @ K[3:, :], K[3:, :])
        parts = ca.horzsplit(K, 3)
        about_O = [x for k in (0, 2, 4) for x in (parts[k] - parts[k + 1] @ rx, parts[k + 1])]
        d.writes["node_K"] = ca.densify(ca.vec(ca.horzcat(*about_O, ca.SX(6, plan.row - WIDTH)).T))

    def inward(self, d: Draft) -> None:
        """The terms of the body's speeds, once the sums over its descendants are known."""
        nu, r, mine, pull = d.mobilizer.nu, d.me.r, carried(d.me), d.me[_PULL]
        carry(d.parent, with_child(carried(d.parent), mine, r))
        d.parent[_PULL] = add(d.parent[_PULL], (pull[0] + ca.cross(r, pull[1]), pull[1]))
        if not nu:
            return
        u, udot = (ca.vertcat(*d.of_speeds(name)) for name in ("u", "udot"))
        F = add(mine.F, pull)
        joint = MobilizerState(d.me.H, d.me.X_MF, shift_motion(d.parent.V, r), d.me.V, ca.SX(3, 1))
        own, by_q = own_changes(d.mobilizer, d.t, d.q, u, udot, joint, F)
        by_u, p, inertia = ca.SX(nu, nu), d.me.p_O, []
        pad = ca.SX(self.fronts.plan.vector - WIDTH, 1)
        for k, (h, *DEK) in enumerate(own):
            G, E, K = changes(h, d.me.V, d.me.a, *DEK)
            S, G, E, K = (motion_about_O(x, p) for x in (h, G, E, K))
            force = ca.cross(h[0], mine.F[0]) + ca.cross(h[1], mine.F[1]), ca.cross(h[0], mine.F[1])
            force = force[0] + ca.cross(p, force[1]), force[1]
            none, two = ca.SX(6, 1), ca.SX(2, 1)
            for name, parts in (
                ("C", (*S, *G, *E, pad)),
                ("KU", (none, *S, *K, pad)),
                ("U", (none, none, *S, pad)),
                ("S", (*S, two)),
                ("SF", (*force, two)),
            ):
                d.writes[f"own_{name}{k}"] = ca.densify(ca.vertcat(*parts))
            speed = SpeedFields(d, f"speed{k}")
            speed.S, speed.G = S, G
            inertia.append(
                inner(h, (mine.I @ h[0] + ca.cross(mine.mc, h[1]), mine.m * h[1] + ca.cross(h[0], mine.mc)))
            )
            for j, (other, *_) in enumerate(own):
                # loads along paths that move rigidly with the joint
                by_q[j, k] += ca.dot(other[0], ca.cross(h[0], pull[0]) + ca.cross(h[1], pull[1])) + ca.dot(
                    other[1], ca.cross(h[0], pull[1])
                )
        if self.own:
            by_q, by_u = by_q - d.me.f_q, -d.me.f_u
        for k in range(nu):
            d.writes[f"own_B_q{k}"] = -ca.densify(by_q[k, :].T)
            d.writes[f"own_B_u{k}"] = -ca.densify(by_u[k, :].T)
        d.writes["own_inertia"] = ca.vertcat(*inertia)
        d.writes["tau"] = ca.vertcat(*(inner(h, F) for h in d.me.H))


class LocalPaths(ReducedPaths):
    """Contributions of laws along paths to the equations of the speeds that each law crosses."""

    local = True

    def __init__(self, looped: Looped, paths: PathRows, fronts: NewtonFronts, speeds: int) -> None:
        self.fronts = fronts
        super().__init__(looped, paths, {"q": ("B_q", 0), "u": ("B_u", 0)}, 0, speeds)

    def _entry(self, k: int, j: int) -> int:
        return self.fronts.place[k, j]

    def _arm_places(self, arms: Mapping[int, tuple[int, int]]) -> list[int]:
        number = {arm: n for n, arm in enumerate(self.fronts.arms)}
        return [number[r - self._first_law, j] for r, j in arms.values()]
