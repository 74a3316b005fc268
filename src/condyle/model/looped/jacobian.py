"""The Jacobian of forward dynamics (derivatives.py) in the looped layout.

After the passes of aba.py: the terms of each body alone, outward; sums over its descendants and the columns
of its speeds, inward; then one row for every two speeds of different bodies on one path. Speeds are rows,
too: bodies reach theirs by the links speed0, speed1 and so on, and a pair reaches its two speeds by near
and far, where far is the one closer to ground. M is factored and solved afterward
(condyle.native.solvers.tree_solve).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.dynamics.derivatives import (
    Column,
    MobilizerState,
    Subtree,
    columns,
    is_plain,
    of_one,
    of_pair,
    spatial_acceleration,
    with_child,
)
from condyle.dynamics.inertia import Inertia, add, shift_motion
from condyle.dynamics.kinematics import BodyKinematics, Kinematics, Pair
from condyle.dynamics.mass_matrix import before_each
from condyle.dynamics.row import NUMBER, PAIR, VECTOR, ZERO, BodyFields, RowField
from condyle.dynamics.view import TreeLoads
from condyle.mobilizers import motion
from condyle.model.looped.draft import Draft, KernelDraft, OnDemand, StraightLine
from condyle.model.looped.gradient import has_looped_gradient
from condyle.model.looped.law_rows import law_kinds
from condyle.model.looped.passes import has_forces, nothing, of_held, solve
from condyle.model.looped.path_jacobian import PathColumns, SpeedFields
from condyle.model.looped.path_kinds import path_kinds
from condyle.model.looped.tables import Looped, NewRows
from condyle.model.model import Model
from condyle.model.symbols import Symbols
from condyle.native.loops.linear import Product
from condyle.native.solvers.tree_solve import TreeSolve, padded

_CARRIED = RowField[Subtree](
    (NUMBER, VECTOR, ca.SX.ones(ca.Sparsity.lower(3)), VECTOR, ca.SX.ones(3, 3), PAIR), name="carried"
)
"""Field of a body: sums over it and its descendants, with the lower half of the inertia."""


def has_looped_jacobian(model: Model, wrt: Sequence[str]) -> bool:
    """Whether this module covers the model: no constraints, no accelerations prescribed by functions of q
    or u; forces other than gravity and laws along paths act on coordinates only and depend only on those of
    the same body."""
    tree = model.tree
    if model.constraints or not tree.nu or not has_looped_gradient(model, wrt) or model.gravity.excluded:
        return False
    if any(b.motion is not None and b.motion.varies for b in tree.driven):
        return False
    return len(model.forces) == 1 or (not law_kinds(model) and _is_local(model))


class AskedForBodiesError(Exception):
    """Raised if a force depends on poses or velocities of bodies."""


def _is_local(model: Model) -> bool:
    """Whether forces that are not rows of tables depend on coordinates and speeds alone, and act on those of
    the same body."""
    tree, s = model.tree, Symbols(model)
    tabled = {i for kind in path_kinds(model) for i, _ in kind.members}

    def refuse(key: int) -> Any:
        raise AskedForBodiesError

    ask = OnDemand(refuse)
    loads = TreeLoads(s.view(Kinematics(model.placed, R_GM=ask, p_GM=ask, p_PM=ask, V_GM=ask, H=ask)))
    try:
        for i, (enabled, force) in enumerate(s.laws(loads.view)):
            loads.enabled = enabled
            if i not in tabled:
                force.apply(loads.view, loads)
    except AskedForBodiesError:
        return False
    if loads.bodies:
        return False
    f = ca.vertcat(*(loads.mobility.get(k, ca.SX(0)) for k in range(tree.nu)))
    owner = {
        name: np.array([b.index for b in tree.bodies for _ in range(part(b).start, part(b).stop)])
        for name, part in (("q", lambda b: b.q), ("u", lambda b: b.u))
    }
    for name in ("q", "u"):
        entries, of = ca.jacobian_sparsity(f, s[name]).get_triplet()
        if np.any(owner[name][of] != owner["u"][entries]):
            return False
    return True


def build_looped_jacobian(model: Model, wrt: Sequence[str]) -> TreeSolve:
    """Derivatives of udot by some of q, u, tau and z, row by row, and the status."""
    nu, before = model.tree.nu, before_each(model.tree)
    widths = [model.nz if name == "z" else nu for name in wrt]
    results = [("entries", nu + sum(map(len, before))), ("columns", nu * padded(sum(widths))), ("status", 1)]
    looped = Looped(model, [(name, model.sizes()[name]) for name in ("q", "u", "tau", "tail")], results)
    starts = np.cumsum([0, *widths]).tolist()
    place = {name: ("columns", at) for name, at in zip(wrt, starts, strict=False)}
    TreeColumns(looped, before, place, padded(sum(widths))).write()
    return TreeSolve(looped.rows(), before, widths)


def has_looped_jvp(model: Model, wrt: Sequence[str]) -> bool:
    """Whether a derivative along a direction is computed as the Jacobian times the direction: where laws
    along paths would make it a long straight line."""
    return bool(path_kinds(model)) and has_looped_jacobian(model, wrt)


def build_looped_jvp(model: Model, wrt: Sequence[str]) -> Product:
    """The Jacobian times a tangent per variable, and the status."""
    jacobian = build_looped_jacobian(model, wrt)
    return Product(jacobian, model.tree.nu, jacobian.widths)


class TreeColumns:
    """The passes, being written.

    Args:
        before: for each speed, the speeds before it on its path to ground, nearest first.
        place: the result that holds the columns of each variable, and where they begin in its rows of `width` numbers.
    """

    def __init__(
        self, looped: Looped, before: list[list[int]], place: Mapping[str, tuple[str, int]], width: int
    ) -> None:
        self.looped, self.tree = looped, looped.model.tree
        self.loaded, self.pulled = has_forces(looped.model), bool(path_kinds(looped.model))
        self.width, self.place = width, place
        self.wrt = [name for name in place if name != "z"]  # of bodies
        self._tables(before)

    def _tables(self, before: list[list[int]]) -> None:
        """Add rows for speeds and pairs, and the places of their results."""
        looped, tree, nu = self.looped, self.tree, self.tree.nu
        bodies, width, place = len(looped.types), self.width, self.place
        start = np.cumsum([0, *(1 + len(b) for b in before)])
        owner = [b.index for b in tree.bodies for _ in tree.speeds_of(b.index)]
        pairs = np.array(
            [
                (j, k, i)
                for j, others in enumerate(before)
                for i, k in enumerate(others, start=int(start[j]) + 1)
                if owner[j] != owner[k]
            ],
            dtype=np.int64,
        ).reshape(-1, 3)
        self.speeds, first, rows = bodies, bodies + nu, NewRows(looped)
        near, far, entry = self.near, self.far, _ = pairs.T
        for _ in range(nu):
            rows.add("speed")
        for j, k in zip((bodies + near).tolist(), (bodies + far).tolist(), strict=True):
            rows.add("pair", near=j, far=k)
        self.pairs, most = rows.types.get(("pair",)), max(b.mobilizer.nu for b in tree.bodies)
        for k in range(most):
            rows.link(
                f"speed{k}", {1 + b.index: bodies + b.u.start + k for b in tree.bodies if b.mobilizer.nu > k}
            )
        rows.finish()
        inner = [[float(b.parent is not None and not b.parent.is_ground)] for b in tree.bodies]
        looped.constant("inner", 1, np.array(inner))
        u = np.array([0, *(b.u.start for b in tree.bodies)])
        for k in range(most):
            row = np.minimum(u + k, nu - 1)
            self._own_entries(k, row, u, start)
            for name in self.wrt:
                result, begin = place[name]
                looped.window(f"own_{name}{k}", result, 0, row * width + begin + u + k * (name == "tau"))
        self._pair_entries(first, entry)
        for name in (name for name in self.wrt if name != "tau"):
            result, begin = place[name]
            looped.window(f"up_{name}", result, first, far * width + begin + near)
            looped.window(f"down_{name}", result, first, near * width + begin + far)

    def _own_entries(self, k: int, row: np.ndarray, u: np.ndarray, start: np.ndarray) -> None:
        """Places of the entries of M of the bodies' own speeds."""
        self.looped.window(f"own_M{k}", "entries", 0, start[row])

    def _pair_entries(self, first: int, entry: np.ndarray) -> None:
        """Places of the entries of M of pairs, whose rows begin with `first`."""
        self.looped.window("pair_M", "entries", first, entry)

    def write(self) -> None:
        solve(self.looped, True, "tau", self.prepared, self.ground, self.found, self.applied)
        if self.loaded:
            write_own_forces(self.looped, self.elsewhere)
        self.looped.inward(self.inward, nothing)
        if self.pairs is not None:
            d = KernelDraft(self.looped)
            self.pair(d)
            self.looped.extra_pass({self.pairs: d})
        if (paths := self.looped.path_rows) is not None:
            PathColumns(self.looped, paths, self.place, self.width, self.speeds).write()

    def applied(self) -> None:
        """Apply the loads of laws along paths separately: they are part of the sums over descendants."""
        if (paths := self.looped.path_rows) is not None:
            paths.push(BodyFields.F, -1)

    @property
    def elsewhere(self) -> frozenset[int]:
        """Places among the forces of laws that are not forces on coordinates of one body."""
        return self.looped.tabled

    # ---- kernels

    def ground(self, d: Draft) -> None:
        d.me.p_O = ca.SX(3, 1)
        none = ca.SX(3, 1)
        carry(d.me, Subtree(ca.SX(1, 1), none, ca.SX(3, 3), none, ca.SX(3, 3), ZERO))

    def prepared(self, d: Draft, new: BodyKinematics, P: Inertia, p_c: SX) -> None:
        """Called when kinematics are known."""
        d.me.p_O = d.read("constant.inner", 1) * (d.parent.p_O + new.p_PM)
        d.me.own = (ca.tril(P[0]), p_c)
        d.me.X_MF = (new.X_GF[0], new.X_GF[1] - new.p_GM)
        d.me.F = ZERO
        if self.loaded:
            nu = d.mobilizer.nu
            d.me.f_q = d.me.f_u = ca.SX.zeros(nu, nu)

    def found(self, d: Draft, udot: list[SX], X: Pair) -> None:
        """Called when accelerations are known."""
        V, (I, p_c) = d.me.V, d.me.own
        a = spatial_acceleration(V, add(d.me.A, X))
        d.me.a = a
        d.me.udot = ca.vertcat(ca.SX(0, 1), *udot)
        mine = Subtree(*of_one(ca.tril2symm(I), d.body.mass, p_c, V, a))
        if self.pulled:
            mine = mine._replace(F=add(mine.F, d.me.F))
        carry(d.me, mine)

    def inward(self, d: Draft) -> None:
        """Called when the sums over the body's descendants are known."""
        nu, mobilizer = d.mobilizer.nu, d.mobilizer
        mine, r = carried(d.me), d.me.r
        carry(d.parent, with_child(carried(d.parent), mine, r))
        if not nu:
            return
        plain = is_plain(mobilizer)
        u, udot = (
            ca.vertcat(ca.SX(0, 1), *x) for x in (d.of_speeds("u"), [ca.SX(nu, 1)] if plain else [d.me.udot])
        )
        X_MF = (ca.SX.eye(3), ca.SX(3, 1)) if plain else d.me.X_MF
        joint = MobilizerState(d.me.H, X_MF, shift_motion(d.parent.V, r), d.me.V, d.me.p_O)
        made, dq, du, M = columns(mobilizer, d.t, d.q, u, udot, joint, d.me.a, mine)
        if self.loaded:
            dq, du = dq - d.me.f_q, du - d.me.f_u
        own = {"q": -dq, "u": -du}
        self.own_M(d, M)
        for k, column in enumerate(made):
            for name in self.wrt:
                d.writes[f"own_{name}{k}"] = (
                    ca.densify(own[name][k, :].T) if name in own else ca.SX.ones(1, 1)
                )
            speed = SpeedFields(d, f"speed{k}")
            speed.motion = column.S, column.g, column.E, column.K
            speed.force = column.row_I, column.row_Q, column.dF_q, column.dF_u
            if self.pulled:
                speed.S, speed.G = column.S, column.G

    def own_M(self, d: Draft, M: SX) -> None:
        """Called when M of the body's own speeds is known."""
        for k, lock in enumerate(of_held(d, BodyFields.lock)):
            d.writes[f"own_M{k}"] = ca.vertcat(*(M[k, k - i] + (0 if i else lock) for i in range(k + 1)))

    def pair(self, d: KernelDraft) -> None:
        """The kernel of a pair of speeds on one path."""
        S, g, E, K = SpeedFields(d, "far").motion
        row_I, row_Q, dF_q, dF_u = SpeedFields(d, "near").force
        none = S
        up_q, up_u, down_q, down_u, M = of_pair(
            Column(none, g, none, none, row_I, row_Q, dF_q, dF_u, none),
            Column(S, g, E, K, none, row_Q, none, none, none),
        )
        d.writes["pair_M"] = M
        for name, up, down in (("q", up_q, down_q), ("u", up_u, down_u)):
            if name in self.wrt:
                d.writes |= {f"up_{name}": -up, f"down_{name}": -down}


def write_own_forces(looped: Looped, without: frozenset[int]) -> None:
    """Add a straight line with the derivatives of forces on coordinates, except those of some laws, by the
    coordinates of the same body."""
    line, tree = StraightLine(looped), looped.model.tree
    s, loads = line.symbols, line.loads(without=without)
    for b in tree.bodies:
        if any(k in loads.mobility for k in tree.speeds_of(b.index)):
            f = ca.vertcat(*(loads.mobility.get(k, ca.SX(0)) for k in tree.speeds_of(b.index)))
            q, u, body = s["q"][b.q], s["u"][b.u], line.body(b.index)
            N = ca.jacobian(motion(b.mobilizer, s.t, q, u).qdot, u)
            body.f_q, body.f_u = ca.densify(ca.jacobian(f, q) @ N), ca.densify(ca.jacobian(f, u))
    line.write()


def carried(row: BodyFields) -> Subtree:
    m, mc, I, p, C, F = row[_CARRIED]
    return Subtree(m, mc, ca.tril2symm(I), p, C, F)


def carry(row: BodyFields, x: Subtree) -> None:
    row[_CARRIED] = x.m, x.mc, ca.tril(x.I), x.p, x.C, x.F
