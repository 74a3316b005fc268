"""Newton's equations of implicit steps in the looped layout, O(n): what a step (1) needs of a tree is solved
along the tree, as articulated bodies are (aba.py); no matrix of the whole system is made.

    (sigma 1 - J) (dq, du) = (b_q, b_u),    J = d (N u, udot) / d (q, u)                                   (1)

In the notation of derivatives.py, w_B = (x, G, e) is what changes of a body, about M's origin:

    dV = x x V + G,   da = x x a + e + G x V,    dF = x x* F + I e + Q G - dL = K_B w_B + c_B              (2)

with its loads L, which depend on where it is and on how it moves, and then with what it carries. The speeds of
a body, with P = N+ (sigma 1 - (N u)_q)^-1 N and p = N+ (sigma 1 - (N u)_q)^-1 b_q (1 / sigma where N is 1), add

    dq = P du + p,   d udot = sigma du - b_u
    w_B = shift(w_P, r) + T du + t,   T = (S, G, E') P + (0, S, K') + sigma (0, 0, S)
                                      t = (S, G, E') p - (0, 0, S) b_u                                     (3)

and the equations of a body's own speeds, S_k' F = tau_k(q, u), change by

    S' (K w_B + c) + (S x* F)' x_P + (dS' F - tau_q) dq - tau_u du = 0                                     (4)

(x x S of the parent's x carries S). So, inward,

    D = S' K T + (dS' F - tau_q) P - tau_u,   R = S' K + (S x* F)',
    rest = S' (K t + c) + (dS' F - tau_q) p,   du = -D^-1 (R shift(w_P, r) + rest)                         (5)
    to the parent:  K - K T D^-1 R  and  c + K t - K T D^-1 rest                                           (6)

and outward du by (5). D is eliminated without pivots: sigma S' I S is most of it where steps are short.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.dynamics.derivatives import MobilizerState, changes, of_one, own_changes, spatial_acceleration
from condyle.dynamics.inertia import add, rigid, shift_force, shift_motion
from condyle.dynamics.kinematics import Kinematics, Pair, acceleration
from condyle.dynamics.row import PAIR, BodyFields, RowField
from condyle.dynamics.view import TreeLoads
from condyle.mobilizers import motion
from condyle.model.looped.draft import Draft, KernelDraft, OnDemand, StraightLine
from condyle.model.looped.law_rows import LawKind, law_kinds
from condyle.model.looped.passes import ground_with_gravity, has_forces, make_room, nothing, sines
from condyle.model.looped.path_kinds import path_kinds
from condyle.model.looped.tables import Looped
from condyle.model.model import Model
from condyle.model.symbols import Symbols
from condyle.native.loops.sweep import Sweep

_K = RowField[ca.SX](ca.SX.ones(6, 18), name="K")
_C = RowField[Pair](PAIR, name="c_F")
_W = RowField[ca.SX](ca.SX.ones(18, 1), name="w_change")
_T, _DR = RowField[ca.SX](name="T_change"), RowField[ca.SX](name="DR")


class _NotLocalError(Exception):
    """A force depends on more than a body and its own speeds."""


def has_looped_newton(model: Model) -> bool:
    """Whether each force depends on one body, or acts on speeds of a body and depends on these alone; no
    constraints, motions, shared speeds or auxiliary states."""
    tree = model.tree
    if model.constraints or tree.shares or tree.driven or model.nz or not tree.nu or path_kinds(model):
        return False
    tabled = set[int]()
    for kind in law_kinds(model):
        tabled |= {i for i, _ in kind.members}
        if np.any(sum((kind.rows(model, link) > 0).astype(int) for link in kind.links) > 1):
            return False
    return _is_local(model, tabled)


def _is_local(model: Model, tabled: set[int]) -> bool:
    tree, s = model.tree, Symbols(model)
    seen: dict[tuple[str, int], ca.SX] = {}

    def refuse(key: int) -> object:
        raise _NotLocalError

    def ask(name: str, *shape: int) -> OnDemand:
        def make(B: int) -> SX | Pair:
            x = seen[name, B] = ca.SX.sym(name, *shape)
            return (x[:3], x[3:]) if name == "V" else x

        return OnDemand(make)

    kin = Kinematics(
        model.placed,
        R_GM=ask("R", 3, 3),
        p_GM=ask("p", 3),
        p_PM=OnDemand(refuse),
        V_GM=ask("V", 6),
        H=OnDemand(refuse),
    )
    loads = TreeLoads(s.view(kin))
    try:
        for i, (loads.enabled, force) in enumerate(s.laws(loads.view)):
            if i not in tabled:
                force.apply(loads.view, loads)
    except (_NotLocalError, AttributeError, KeyError):  # it asks for what only a whole state has
        return False
    found = [(B, x) for B, pair in loads.bodies.items() for x in pair]
    found += [(b.index, loads.mobility[k]) for b in tree.bodies for k in tree.speeds_of(b.index) if k in loads.mobility]
    given = [(B, ca.vec(x)) for (_, B), x in seen.items()]
    for name in ("q", "u"):
        given += [(b.index, s[name][getattr(b, name)]) for b in tree.bodies]
    if not found:
        return True
    owners = [np.repeat([B for B, _ in each], [x.numel() for _, x in each]) for each in (found, given)]
    of, by = ca.jacobian_sparsity(
        ca.vertcat(*(ca.densify(x) for _, x in found)), ca.vertcat(*(x for _, x in given))
    ).get_triplet()
    return bool(np.all(owners[0][of] == owners[1][by]))


def build_looped_newton(model: Model) -> Sweep:
    """(q, u, udot, tail, sigma, b) -> x of (1)."""
    tree, n = model.tree, model.tree.nq + model.tree.nu
    sizes = model.sizes() | {"udot": tree.nu, "sigma": 1, "b": n}
    arguments = [(name, sizes[name]) for name in ("q", "u", "udot", "tail", "sigma", "b")]
    looped = Looped(model, arguments, [("x", n)])
    q, u = (np.array([0, *(getattr(b, name).start for b in tree.bodies)], dtype=np.int64) for name in "qu")
    looped.windows |= {
        f"{place}_{name}": (place, at) for place in "bx" for name, at in (("q", q), ("u", tree.nq + u))
    }
    _Newton(looped).write()
    return looped.rows()


class _Newton:
    """The passes being written."""

    def __init__(self, looped: Looped) -> None:
        self.looped, self.loaded = looped, has_forces(looped.model)

    def write(self) -> None:
        looped = self.looped
        sines(looped)
        looped.outward(self.prepare, self.ground)
        if self.loaded:
            self.loads()
        looped.inward(self.inward, nothing)
        looped.outward(self.outward, lambda d: d.me.__setitem__(_W, ca.SX.zeros(18, 1)))

    def ground(self, d: Draft) -> None:
        ground_with_gravity(d)
        d.me[_K], d.me[_C] = ca.SX.zeros(6, 18), (ca.SX.zeros(3, 1), ca.SX.zeros(3, 1))

    def prepare(self, d: Draft) -> None:
        """Accelerations, and (2) of a body by itself."""
        new = d.kinematics(True, positions=self.loaded)
        d.me.A = A = acceleration(d.parent.A, new.p_PM, new.c, new.H, d.of_speeds("udot"))
        P, p_c = rigid(new.R_GM, d.body.mass, d.body.com, d.body.I)
        V = new.V_GM
        d.me.a = a = spatial_acceleration(V, A)
        m, mc, I, p, C, F = of_one(P[0], d.body.mass, p_c, V, a)
        d.me.F, d.me[_C] = F, (ca.SX(3, 1), ca.SX(3, 1))
        d.me.X_MF = (new.X_GF[0], new.X_GF[1] - new.p_GM)
        none = ca.SX(3, 3)
        d.me[_K] = ca.blockcat(
            [
                [-ca.skew(F[0]), -ca.skew(F[1]), 2 * C, none, I, ca.skew(mc)],
                [-ca.skew(F[1]), none, -2 * ca.skew(p), none, -ca.skew(mc), m * ca.SX.eye(3)],
            ]
        )
        make_room(d)
        if self.loaded:
            d.me.f_q = d.me.f_u = ca.SX.zeros(d.mobilizer.nu, d.mobilizer.nu)

    def loads(self) -> None:
        """Loads and how they change."""
        looped, tree = self.looped, self.looped.model.tree

        def push(kind: LawKind, d: KernelDraft, column: object) -> None:
            for link, (n, f) in kind.loads(d, column).items():  # type: ignore[arg-type]
                d.add(d.row(link), BodyFields.F, (-n, -f))
                symbols = [d.reads.get(f"{link}.{name}") for name in ("R", "p", "V")]
                d.add(d.row(link), _K, -_load_changes((n, f), symbols))

        looped.law_pass(push)
        line = StraightLine(looped)
        s, loads = line.symbols, line.loads(without=looped.tabled)
        for B, load in loads.bodies.items():
            body = line.body(B)
            symbols = [line.reads.get((B + 1, name)) for name in ("R", "p", "V")]
            body.F = add(body.F, (-load[0], -load[1]))
            body[_K] = body[_K] - _load_changes(load, symbols)
        for b in tree.bodies:
            speeds = tree.speeds_of(b.index)
            if any(k in loads.mobility for k in speeds):
                f = ca.vertcat(*(loads.mobility.get(k, ca.SX(0)) for k in speeds))
                q, u, body = s["q"][b.q], s["u"][b.u], line.body(b.index)
                N = ca.jacobian(motion(b.mobilizer, s.t, q, u).qdot, u)
                body.f_q, body.f_u = ca.densify(ca.jacobian(f, q) @ N), ca.densify(ca.jacobian(f, u))
        line.write()

    def inward(self, d: Draft) -> None:
        nu, F, K, c, r = d.mobilizer.nu, d.me.F, d.me[_K], ca.vertcat(*d.me[_C]), d.me.r
        d.parent.F = add(d.parent.F, shift_force(F, r))
        if nu:
            speeds = _Speeds(d)
            bq, bu = d.read("b_q", d.mobilizer.nq), d.read("b_u", nu)
            joint = MobilizerState(d.me.H, d.me.X_MF, shift_motion(d.parent.V, r), d.me.V, ca.SX(3, 1))
            own, dS_F = own_changes(d.mobilizer, d.t, d.q, speeds.u, ca.vertcat(*d.of_speeds("udot")), joint, F)
            S, moved, by_u, S_F = ca.SX(6, 0), ca.SX(18, 0), ca.SX(18, 0), ca.SX(0, 6)
            none = ca.SX(6, 1)
            for h, *DEK in own:
                h6, G, E, K_u = (ca.vertcat(*x) for x in (h, *changes(h, d.me.V, d.me.a, *DEK)))
                S, moved = ca.horzcat(S, h6), ca.horzcat(moved, ca.vertcat(h6, G, E))
                by_u = ca.horzcat(by_u, ca.vertcat(none, h6, K_u))
                cross = ca.cross(h[0], F[0]) + ca.cross(h[1], F[1]), ca.cross(h[0], F[1])
                S_F = ca.vertcat(S_F, ca.vertcat(*cross).T)
            by_udot = ca.vertcat(ca.SX(12, nu), S)
            P, p = speeds.by_speeds, speeds.by(bq)
            T = moved @ P + by_u + d.read("sigma", 1) * by_udot  # (3)
            t = moved @ p - by_udot @ bu
            KT, Kt = K @ T, K @ t + c
            by_q = dS_F - d.me.f_q if self.loaded else dS_F
            D = S.T @ KT + by_q @ P - (d.me.f_u if self.loaded else 0)  # (5)
            R, rest = S.T @ K + ca.horzcat(S_F, ca.SX(nu, 12)), S.T @ Kt + by_q @ p
            DR = _solved(D, ca.horzcat(R, rest), d.of_speeds("lock"), bu / d.read("sigma", 1))
            d.me[_T], d.me[_DR] = ca.densify(ca.horzcat(T, t)), ca.densify(DR)
            K, c = K - KT @ DR[:, :18], Kt - KT @ DR[:, 18]  # (6)
        d.parent[_K] = d.parent[_K] + _shifted(K, r)
        d.parent[_C] = add(d.parent[_C], shift_force((c[:3], c[3:]), r))

    def outward(self, d: Draft) -> None:
        w, nu = d.parent[_W], d.mobilizer.nu
        w = ca.vertcat(*(x for k in (0, 6, 12) for x in shift_motion((w[k : k + 3], w[k + 3 : k + 6]), d.me.r)))
        if nu:
            T, DR = d.me[_T], d.me[_DR]
            du = -(DR[:, :18] @ w + DR[:, 18])
            w = w + T[:, :nu] @ du + T[:, nu]
            d.writes["x_u"] = ca.densify(du)
            d.writes["x_q"] = ca.densify(_Speeds(d).follow(du, d.read("b_q", d.mobilizer.nq)))
        d.me[_W] = w


class _Speeds:
    """How coordinates of a mobilizer follow its speeds in (1): (sigma 1 - (N u)_q) dq = N du + b_q."""

    def __init__(self, d: Draft) -> None:
        self.u, self.sigma, self.q = d.read("u", d.mobilizer.nu), d.read("sigma", 1), d.q
        self.rate = motion(d.mobilizer, d.t, self.q, self.u).qdot
        self.N = ca.jacobian(self.rate, self.u)
        self.same = self.N.is_square() and ca.DM.eye(self.N.shape[0]).sparsity() == self.N.sparsity()
        self.same = self.same and bool(ca.SX(self.N - ca.SX.eye(self.N.shape[0])).is_zero())

    @cached_property
    def matrix(self) -> SX:
        return self.sigma * ca.SX.eye(self.q.numel()) - ca.jacobian(self.rate, self.q)

    def follow(self, du: SX, bq: SX) -> SX:
        """dq."""
        return (du + bq) / self.sigma if self.same else ca.solve(self.matrix, self.N @ du + bq)

    @property
    def by_speeds(self) -> SX:
        """P of (3)."""
        return ca.SX.eye(self.u.numel()) / self.sigma if self.same else self.by(self.N)

    def by(self, b: SX) -> SX:
        """N+ (sigma 1 - (N u)_q)^-1 b."""
        if self.same:
            return b / self.sigma
        return ca.solve(self.N.T @ self.N, self.N.T @ ca.solve(self.matrix, b))


def _solved(D: SX, R: SX, lock: list[SX], held: SX) -> SX:
    """D^-1 R; speeds that are locked are -held."""
    n = D.shape[0]
    A = ca.horzcat(D, R)
    for k in range(n):
        alone = ca.horzcat(ca.SX.eye(n)[k, :], ca.SX(1, R.shape[1] - 1), -held[k])
        A[k, :] = ca.if_else(lock[k] < np.inf, A[k, :], ca.densify(alone))
    for k in range(n):
        A[k, :] = A[k, :] / A[k, k]
        for i in range(n):
            if i != k:
                A[i, :] = A[i, :] - A[i, k] * A[k, :]
    return A[:, n:]


def _shifted(K: SX, r: SX) -> SX:
    """K of a child about the parent's origin."""
    rx = ca.skew(r)
    K = ca.vertcat(K[:3, :] + rx @ K[3:, :], K[3:, :])
    parts = [K[:, 3 * k : 3 * k + 3] for k in range(6)]
    return ca.horzcat(*(x for k in (0, 2, 4) for x in (parts[k] - parts[k + 1] @ rx, parts[k + 1])))


def _load_changes(load: Pair, symbols: list[SX | None]) -> SX:
    """dL of (2), shape (6, 18), of a load about M's origin from the symbols of R, p and V of M that it reads.
    By x the pose turns and moves, V of M's origin turns, and the origin leaves the point of reference."""
    out, L = ca.SX(6, 18), ca.vertcat(*load)
    R, p, V = symbols
    if R is not None:
        for column, x in zip(ca.vertsplit(R, 3), ca.horzsplit(ca.jacobian(L, R), 3), strict=True):
            out[:, :3] += x @ -ca.skew(column)
    if p is not None:
        out[:, 3:6] += ca.jacobian(L, p)
    if V is not None:
        by_w, by_v = ca.horzsplit(ca.jacobian(L, V), 3)
        out[:, :3] += by_w @ -ca.skew(V[:3]) + by_v @ -ca.skew(V[3:])
        out[:, 6:9] += by_w
        out[:, 9:12] += by_v
    out[:3, 3:6] += -ca.skew(load[1])
    return ca.densify(out)
