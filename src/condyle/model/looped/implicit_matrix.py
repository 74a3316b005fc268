"""Newton's equations of implicit steps as a matrix over the speeds alone, in the looped layout: for trees with
muscles, constraints and forces between bodies, where equations (1) of implicit.py cannot be solved along
the tree.

Coordinates and the auxiliary states of laws along paths are eliminated one by one. With M and the derivatives of
inverse dynamics tau, of which B_q = -tau_q and B_u = -tau_u (jacobian.py), qdot = u, and

    dq = (du + b_q) / sigma,    d udot = sigma du - b_u                                                    (1)

a muscle's own states z, with rates Z(L, v, z), are eliminated from its tension T(L, v, z), with
Y = (sigma 1 - Z_z)^-1:

    dz = Y (b_z + Z_L dL + Z_v dv),   dT = (T_L + T_z Y Z_L) dL + (T_v + T_z Y Z_v) dv + T_z Y b_z         (2)

so that it acts as a law without states, except for the last term. r and s are the rows of dL/dq and dv/dq.
All laws that are not rows of tables (tau_0, of states y with rates f_y) and constraints,
a = G udot + bias = 0 with forces -G' lambda, add the few unknowns y, lambda to the speeds:

    [sigma M - B_q / sigma - B_u] du - tau_y dy + G' dlambda = M b_u + B_q b_q / sigma - r' T_z Y b_z      (3)
    (sigma 1 - f_yy) dy - (f_yq / sigma + f_yu) du = b_y + f_yq b_q / sigma                                (4)
    (sigma G + a_q / sigma + a_u) du = G b_u - a_q b_q / sigma                                             (5)

where B_q includes tau_0 and -G' lambda. Here (3)-(5) are one matrix, which condyle.integrate.newton
factors; implicit_fronts.py solves them along the tree.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.dynamics.derivatives import Subtree, of_one, spatial_acceleration
from condyle.dynamics.inertia import add, inner, rigid
from condyle.dynamics.kinematics import Kinematics, Pair, acceleration
from condyle.dynamics.mass_matrix import before_each
from condyle.dynamics.rnea import generalized
from condyle.dynamics.row import BodyFields
from condyle.dynamics.view import TreeLoads
from condyle.forces.path import PathLaw
from condyle.mobilizers import motion
from condyle.model.looped.draft import Draft, KernelDraft, OnDemand
from condyle.model.looped.implicit import STATE, load_changes, solved
from condyle.model.looped.jacobian import AskedForBodiesError, TreeColumns, carried, carry, write_own_forces
from condyle.model.looped.law_rows import LawKind, law_kinds
from condyle.model.looped.passes import ground_with_gravity, nothing, sines
from condyle.model.looped.path_jacobian import FELT, ArmFields, PathColumns
from condyle.model.looped.path_kinds import LawView, PathKind, path_kinds
from condyle.model.looped.path_rows import LawKernel, asks_for_state, tension
from condyle.model.looped.tables import Looped
from condyle.model.model import Model
from condyle.model.symbols import Symbols
from condyle.native.loops.sweep import TableSweep
from condyle.records import dataclass

REDUNDANT = 1e-12
"""Regularization of the multipliers' matrix relative to its largest entry, since constraints may be
redundant."""
MATRICES = ("M", "B_q", "B_u", "tau", "r", "s", "reduced")
"""Results of the loops: three matrices (nu, nu) row by row, whose rows are padded with zeros for y and
lambda; tau (nu,); r and s of each law along a path in tables, a row of nu numbers each; Y, T_z Y, Y Z_L, Y
Z_v of each law, column by column."""


def has_newton_matrix(model: Model) -> bool:
    """Whether (1)-(5) apply: speeds are the rates of coordinates, none is driven or shared; laws in tables
    depend on one body, or on the length of a path and their own states; constraints are equations, without
    friction."""
    tree = model.tree
    if tree.shares or tree.driven or model.reaction_laws or not tree.nu or tree.nq != tree.nu:
        return False
    for b in tree.bodies:
        q, u, t = (ca.SX.sym(name, n) for name, n in (("q", b.mobilizer.nq), ("u", b.mobilizer.nu), ("t", 1)))
        if not ca.SX(motion(b.mobilizer, t, q, u).qdot - u).is_zero():
            return False
    if any(asks_for_state(law) for kind in path_kinds(model) for _, law in kind.members):
        return False
    for kind in law_kinds(model):
        if kind.law.states or np.any(sum((kind.rows(model, x) > 0).astype(int) for x in kind.links) > 1):
            return False
    s = Symbols(model)
    if model.constraints:
        if any(getattr(c, "unilateral", False) for c in model.constraints.values()):
            return False
        if s.rows(s.kinematics()).drags:
            return False
    return Border(model).alone


def own_laws(model: Model) -> frozenset[int]:
    """Forces on coordinates that depend on those of the same body alone, by their places among the forces."""
    tree, s, found = model.tree, Symbols(model), set[int]()

    def refuse(key: int) -> object:
        raise AskedForBodiesError

    ask = OnDemand(refuse)
    view = s.view(Kinematics(model.placed, R_GM=ask, p_GM=ask, p_PM=ask, V_GM=ask, H=ask))
    owner = {
        name: np.array([b.index for b in tree.bodies for _ in range(part(b).start, part(b).stop)])
        for name, part in (("q", lambda b: b.q), ("u", lambda b: b.u))
    }
    for i, (enabled, force) in enumerate(s.laws(view)):
        loads = TreeLoads(view)
        loads.enabled = enabled
        if force.states or isinstance(force, PathLaw):
            continue
        try:
            force.apply(view, loads)
        except (AskedForBodiesError, AttributeError, KeyError, TypeError):
            continue
        if loads.bodies or not loads.mobility:
            continue
        f, pushed = ca.vertcat(*loads.mobility.values()), owner["u"][list(loads.mobility)]
        local = True
        for name in "qu":
            rows, columns = ca.jacobian_sparsity(f, s[name]).get_triplet()
            local &= bool(np.all(pushed[rows] == owner[name][columns]))
        if local and not ca.depends_on(f, s.z):
            found.add(i)
    return frozenset(found)


def tabled(model: Model) -> frozenset[int]:
    """Laws in tables, by their places among the forces."""
    laws = {i for kind in law_kinds(model) for i, _ in kind.members}
    return frozenset(laws | {i for kind in path_kinds(model) for i, _ in kind.members})


def states_of(model: Model) -> dict[int, range]:
    """Places of the auxiliary states of each force among all auxiliary states, by the force's place."""
    ends = np.cumsum([0, *(len(force.states) for force in model.forces.values())]).tolist()
    return {i: range(a, b) for i, (a, b) in enumerate(itertools.pairwise(ends))}


@dataclass(frozen=True)
class LawsAlongPaths:
    """Places of the laws of (2): for each law, its states among all auxiliary states, and where its
    `reduced` numbers begin."""

    states: tuple[range, ...]
    starts: tuple[int, ...]
    size: int

    @staticmethod
    def of_model(model: Model) -> LawsAlongPaths:
        of = states_of(model)
        states = tuple(of[i] for kind in path_kinds(model) for i, _ in kind.members)
        ends = np.cumsum([0, *(len(z) * (len(z) + 3) for z in states)]).tolist()
        return LawsAlongPaths(states, tuple(ends[:-1]), ends[-1])


class Border:
    """The terms of (3)-(5) of constraints and of laws that are in no table, as expressions of (t, y, p),
    udot and lambda.

    Attributes:
        inputs: t, (q, u, z), p.
        own: forces on coordinates that depend on those of the same body alone, which are left out.
        states: places of y among z.
        alone: whether these laws depend on no other auxiliary states.
    """

    def __init__(self, model: Model) -> None:
        s, tree = Symbols(model), model.tree
        start, rows_of, of = model.tail["inputs"].start, tabled(model), states_of(model)
        self.own = own = own_laws(model)
        self.inputs = [s.t, ca.vertcat(s["q"], s["u"], s.z), s["tail"][start:]]
        kin = s.kinematics()
        view = s.view(kin)
        loads, others, rates, places = TreeLoads(view), TreeLoads(view), list[ca.SX](), list[int]()
        for i, (enabled, force) in enumerate(s.laws(view)):
            if i in own:
                others.enabled = enabled
                force.apply(view, others)
            elif i not in rows_of:
                loads.enabled = enabled
                force.apply(view, loads)
                rates += [ca.if_else(enabled, rate, 0) for rate in force.rates(view)]
                places += of[i]
        self.loaded = bool(loads.bodies or loads.mobility)
        self.states, self.rates = places, ca.vertcat(ca.SX(0, 1), *rates)
        self.tau = generalized(tree, kin, loads) if self.loaded else ca.SX(tree.nu, 1)
        self.others = generalized(tree, kin, others) if own else ca.SX(tree.nu, 1)
        self.m = sum(c.size for c in model.constraints.values())
        self.udot, self.lambda_ = ca.SX.sym("udot", tree.nu), ca.SX.sym("lambda", self.m)
        self.q, self.u, self.y = s["q"], s["u"], s.z[places] if places else ca.SX(0, 1)
        self.G, self.a, self.pull = ca.SX(self.m, tree.nu), ca.SX(self.m, 1), ca.SX(tree.nu, 1)
        if self.m:
            rows = s.rows(kin)
            self.G = rows.jacobian()
            self.a, self.pull = self.G @ self.udot + rows.bias(), -(self.G.T @ self.lambda_)
        known = [z for z in range(model.nz) if z not in set(places)]
        whole = ca.vertcat(self.tau, self.rates)
        self.alone = not known or not ca.depends_on(whole, s.z[known])

    @property
    def size(self) -> int:
        return len(self.states) + self.m

    @property
    def empty(self) -> bool:
        """Whether there are no such laws and no constraints."""
        return not (self.loaded or self.size)

    def forces(self) -> list[SX]:
        """Forces of all laws that are in no table, and the nonzeros of G."""
        return [ca.densify(self.tau + self.others), ca.densify(self.G.nz[:])]

    def derivatives(self) -> list[SX]:
        """Their contributions to B_q and B_u, extended by 0, and by tau_y and -G', row by row; f_yq and
        a_q, f_yu and a_u, 0 and G, and f_yy, by columns."""
        by = ca.jacobian
        flat: Callable[[SX], SX] = lambda x: ca.densify(ca.vec(x))
        tau, rates = self.tau + self.pull, ca.vertcat(self.rates, self.a)
        none = ca.SX(len(self.states), self.u.numel())
        return [
            flat(ca.horzcat(by(tau, self.q), ca.SX(self.u.numel(), self.size)).T),
            flat(ca.horzcat(by(tau, self.u), by(self.tau, self.y), -self.G.T).T),
            flat(by(rates, self.q)),
            flat(by(rates, self.u)),
            flat(ca.vertcat(none, self.G)),
            flat(by(self.rates, self.y)),
        ]

    def blocks(self, inertia: SX) -> tuple[SX, SX, SX]:
        """The same as sparse parts of B_q, B_u and M, extended by rows and columns of y and lambda.
        inertia: M_kk, from which the regularization relative to G M^-1 G' is computed."""
        by, nu, n, m = ca.jacobian, self.u.numel(), len(self.states), self.m
        tau, rows = self.tau + self.pull, ca.vertcat(self.rates, -self.a)
        size = (self.G**2) @ (1 / inertia)
        little = ca.diag(ca.if_else(size > 0, REDUNDANT * size, 1))  # disabled ones get a 1
        B_q = ca.blockcat([[by(tau, self.q), ca.SX(nu, n + m)], [by(rows, self.q), ca.SX(n + m, n + m)]])
        B_u = ca.blockcat(
            [
                [by(tau, self.u), by(self.tau, self.y), -self.G.T],
                [by(self.rates, self.u), by(self.rates, self.y), ca.SX(n, m)],
                [by(-self.a, self.u), ca.SX(m, n), little],
            ]
        )
        M = ca.blockcat(
            [
                [ca.SX(nu, nu), ca.SX(nu, n), ca.SX(nu, m)],
                [ca.SX(n, nu), ca.SX.eye(n), ca.SX(n, m)],
                [self.G, ca.SX(m, n), ca.SX(m, m)],
            ]
        )
        return B_q, B_u, M

    def entries(self) -> list[tuple[int, int]]:
        """Rows and columns of the entries of `blocks`."""
        if self.empty:
            return []
        pattern = sum(
            (x.sparsity() for x in self.blocks(ca.SX.ones(self.u.numel(), 1))),
            ca.Sparsity(*2 * [self.u.numel() + self.size]),
        )
        return list(zip(*pattern.get_triplet(), strict=True))


def build_newton_matrix(model: Model) -> TableSweep:
    """STATE -> MATRICES."""
    nu, laws = model.tree.nu, LawsAlongPaths.of_model(model)
    width = nu + Border(model).size
    sizes = model.sizes() | {"udot": nu, "sigma": 1}
    results = dict.fromkeys(("M", "B_q", "B_u"), nu * width) | {"tau": nu}
    results |= dict.fromkeys(("r", "s"), len(laws.states) * nu) | {"reduced": laws.size}
    looped = Looped(model, [(name, sizes[name]) for name in STATE], list(results.items()))
    looped.cleared = ("M", "B_q", "B_u", "r", "s")
    place = {"q": ("B_q", 0), "u": ("B_u", 0)}
    SpeedMatrices(looped, before_each(model.tree), place, width).write()
    return looped.rows()


class SpeedMatrices(TreeColumns):
    """The passes, being written. M is dense; accelerations are given."""

    def __init__(
        self, looped: Looped, before: list[list[int]], place: Mapping[str, tuple[str, int]], width: int
    ) -> None:
        looped.path_rows  # noqa: B018  laws have the first rows
        super().__init__(looped, before, place, width)
        model = looped.model
        rows = [kind.rows(model, link) for kind in law_kinds(model) for link in kind.links]
        self.felt = sorted({int(row) - 1 for each in rows for row in each if row > 0})
        self.own = own_laws(model)
        self.loaded, self.pulled = bool(self.own), bool(self.felt or path_kinds(model))

    @property
    def elsewhere(self) -> frozenset[int]:
        return frozenset(range(len(self.looped.model.forces))) - self.own

    def _own_entries(self, k: int, row: np.ndarray, u: np.ndarray, start: np.ndarray) -> None:
        self.looped.window(f"own_M{k}", "M", 0, row * self.width + u)

    def _pair_entries(self, first: int, entry: np.ndarray) -> None:
        self.looped.window("pair_M", "M", first, self.near * self.width + self.far)
        self.looped.window("pair_M_too", "M", first, self.far * self.width + self.near)

    def write(self) -> None:
        looped = self.looped
        sines(looped)
        looped.outward(self.prepare, self.base)
        paths = looped.path_rows
        if self.felt:
            looped.law_pass(self._feel)
        if paths is not None:
            paths.lengths()
            paths.tensions()
            paths.push(BodyFields.F, -1)
        looped.outward(self.start, nothing)
        if self.loaded:
            write_own_forces(looped, self.elsewhere)
        looped.inward(self.inward, nothing)
        if self.pairs is not None:
            d = KernelDraft(looped)
            self.pair(d)
            looped.extra_pass({self.pairs: d})
        if self.pulled:
            ReducedPaths(looped, paths, self.place, self.width, self.speeds, self.felt).write()

    # ---- kernels

    def base(self, d: Draft) -> None:
        ground_with_gravity(d)
        self.ground(d)
        d.me[FELT] = ca.SX.zeros(6, 12)

    def prepare(self, d: Draft) -> None:
        """Kinematics and accelerations."""
        new = d.kinematics(True, positions=True)
        P, p_c = rigid(new.R_GM, d.body.mass, d.body.com, d.body.I)
        self.prepared(d, new, P, p_c)
        d.me.A = acceleration(d.parent.A, new.p_PM, new.c, new.H, d.of_speeds("udot"))
        d.me[FELT] = ca.SX.zeros(6, 12)

    def start(self, d: Draft) -> None:
        """The terms of a body alone, once its loads are known."""
        V, (I, p_c) = d.me.V, d.me.own
        d.me.a = a = spatial_acceleration(V, d.me.A)
        d.me.udot = ca.vertcat(ca.SX(0, 1), *d.of_speeds("udot"))
        mine = Subtree(*of_one(ca.tril2symm(I), d.body.mass, p_c, V, a))
        carry(d.me, mine._replace(F=add(mine.F, d.me.F)))

    def _feel(self, kind: LawKind, d: KernelDraft, column: Mapping[str, SX]) -> None:
        """path_jacobian.py (4), and the loads that move rigidly with the body."""
        for link, (n, f) in kind.loads(d, column).items():
            symbols = [d.reads.get(f"{link}.{name}") for name in ("R", "p", "V")]
            moved = ca.blockcat([[-ca.skew(n), -ca.skew(f)], [-ca.skew(f), ca.SX(3, 3)]])
            change = load_changes((n, f), symbols)[:, :12] - ca.horzcat(moved, ca.SX(6, 6))
            d.add(d.row(link), FELT, change)
            d.add(d.row(link), BodyFields.F, (-n, -f))

    def inward(self, d: Draft) -> None:
        super().inward(d)
        F: Pair = carried(d.me).F
        if d.mobilizer.nu:
            d.writes["tau"] = ca.vertcat(*(inner(h, F) for h in d.me.H))

    def own_M(self, d: Draft, M: SX) -> None:
        for k in range(d.mobilizer.nu):
            d.writes[f"own_M{k}"] = ca.densify(M[k, :].T)

    def pair(self, d: KernelDraft) -> None:
        super().pair(d)
        d.writes["pair_M_too"] = d.writes["pair_M"]


class ReducedPaths(PathColumns):
    """(2): tensions whose own states are eliminated."""

    def _windows(self, cells: Mapping[int, tuple[int, int]], arms: Mapping[int, tuple[int, int]]) -> None:
        super()._windows(cells, arms)
        if self.paths is None:
            return
        looped, first = self.looped, self._first_law
        for name in "rs":
            places = np.zeros(len(looped.types), dtype=np.int64)
            places[list(arms)] = self._arm_places(arms)
            looped.windows[f"arm_{name}"] = name, places
        looped.window("law_reduced", "reduced", first, LawsAlongPaths.of_model(looped.model).starts)

    def _arm_places(self, arms: Mapping[int, tuple[int, int]]) -> list[int]:
        """Places of r and s of each arm in their results."""
        return [(r - self._first_law) * self.tree.nu + j for r, j in arms.values()]

    def _derivatives(self, kind: PathKind, d: LawKernel, law: PathLaw, view: LawView) -> None:
        T, L, v = tension(d, law, view), d.me.L, d.me.v
        T_L, T_v = ca.jacobian(T, L), ca.jacobian(T, v)
        if d.states:
            zdot = ca.if_else(d.read("law_on", 1), ca.vertcat(*law.rates(view)), 0)  # type: ignore[arg-type]
            A = d.read("sigma", 1) * ca.SX.eye(d.states) - ca.jacobian(zdot, view.z)
            right = ca.horzcat(ca.SX.eye(d.states), ca.jacobian(zdot, L), ca.jacobian(zdot, v))
            Y = solved(A, right)
            T_z = ca.jacobian(T, view.z)
            T_Y = T_z @ Y
            T_L, T_v = T_L + T_Y[:, d.states], T_v + T_Y[:, d.states + 1]
            inverse, by_L, by_v = ca.horzsplit(Y, [0, d.states, d.states + 1, d.states + 2])
            d.writes["law_reduced"] = ca.densify(
                ca.vertcat(ca.vec(inverse), T_Y[:, : d.states].T, by_L, by_v)
            )
        d.me.T_L, d.me.T_v = T_L, T_v

    def _arm(self, d: KernelDraft, number: int) -> None:
        super()._arm(d, number)
        arm = ArmFields(d, "me")
        d.writes["arm_r"], d.writes["arm_s"] = arm.r, arm.s


def reduced(laws: LawsAlongPaths, x: SX, k: int) -> tuple[SX, SX, SX, SX]:
    """Y, T_z Y, Y Z_L and Y Z_v of law k, from the `reduced` numbers of all laws."""
    n, at = len(laws.states[k]), laws.starts[k]
    ends = np.cumsum([at, n * n, n, n, n]).tolist()
    Y, T_Y, by_L, by_v = (x[a:b] for a, b in itertools.pairwise(ends))
    return ca.reshape(Y, n, n), T_Y, by_L, by_v
