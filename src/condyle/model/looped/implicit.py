"""Newton's equations of implicit steps in the looped layout, O(n): (1) is solved along the tree, like
articulated bodies (aba.py), without a matrix of the entire system.

    (sigma 1 - J) (dq, du) = (b_q, b_u),    J = d (N u, udot) / d (q, u)                                   (1)

In the notation of derivatives.py, w_B = (x, G, e) is the change of a body, about M's origin:

    dV = x x V + G,   da = x x a + e + G x V,    dF = x x* F + I e + Q G - dL = K_B w_B + c_B              (2)

with its loads L, which depend on its pose and velocity; then its descendants are added. The speeds of a
body, with P = N+ (sigma 1 - (N u)_q)^-1 N and p = N+ (sigma 1 - (N u)_q)^-1 b_q (1 / sigma where N is 1),
add

    dq = P du + p,   d udot = sigma du - b_u
    w_B = shift(w_P, r) + T du + t,   T = (S, G, E') P + (0, S, K') + sigma (0, 0, S)
                                      t = (S, G, E') p - (0, 0, S) b_u                                     (3)

and the equations of a body's own speeds, S_k' F = tau_k(q, u), change by

    S' (K w_B + c) + (S x* F)' x_P + (dS' F - tau_q) dq - tau_u du = 0                                     (4)

(x x S, with the parent's x, rotates S). So, inward,

    D = S' K T + (dS' F - tau_q) P - tau_u,   R = S' K + (S x* F)',
    rest = S' (K t + c) + (dS' F - tau_q) p,   du = -D^-1 (R shift(w_P, r) + rest)                         (5)
    to the parent:  K - K T D^-1 R  and  c + K t - K T D^-1 rest                                           (6)

and outward du by (5). D is eliminated without pivoting: for short steps sigma S' I S dominates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.dynamics.derivatives import MobilizerState, changes, of_one, own_changes, spatial_acceleration
from condyle.dynamics.inertia import add, rigid, shift_force, shift_motion
from condyle.dynamics.kinematics import Kinematics, Pair, acceleration
from condyle.dynamics.row import PAIR, ZERO, BodyFields, RowField
from condyle.dynamics.view import TreeLoads
from condyle.mobilizers import motion
from condyle.model.looped.draft import Draft, KernelDraft, OnDemand, StraightLine
from condyle.model.looped.law_rows import LawKind, law_kinds
from condyle.model.looped.passes import ground_with_gravity, has_forces, nothing, sines
from condyle.model.looped.path_kinds import path_kinds
from condyle.model.looped.tables import Looped
from condyle.model.model import Model
from condyle.model.symbols import Symbols
from condyle.native.loops.sweep import TableSweep

_K = RowField[ca.SX](ca.SX.ones(6, 18), name="K")
_C = RowField[Pair](PAIR, name="c_F")
_W = RowField[ca.SX](ca.SX.ones(18, 1), name="w_change")
_REST = RowField[ca.SX](name="D_rest")


class _NotLocalError(Exception):
    """Raised if a force depends on more than one body and its own speeds."""


def has_looped_newton(model: Model) -> bool:
    """Whether each force depends on one body only, or acts on speeds of one body and depends on these
    alone; there are no constraints, motions, shared speeds or auxiliary states; and qdot = N u lacks
    directions of q only along quaternions."""
    tree = model.tree
    if model.constraints or tree.shares or tree.driven or model.nz or not tree.nu or path_kinds(model):
        return False
    if model.reaction_laws:
        return False
    if any(b.mobilizer.nq > b.mobilizer.nu + 1 for b in tree.bodies):
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
        for i, (enabled, force) in enumerate(s.laws(loads.view)):
            loads.enabled = enabled
            if i not in tabled:
                force.apply(loads.view, loads)
    except (_NotLocalError, AttributeError, KeyError):  # the force needs the full state
        return False
    found = [(B, x) for B, pair in loads.bodies.items() for x in pair]
    found += [
        (b.index, loads.mobility[k])
        for b in tree.bodies
        for k in tree.speeds_of(b.index)
        if k in loads.mobility
    ]
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


STATE = ("q", "u", "udot", "tail", "sigma")
"""Arguments of the factors."""


def build_looped_newton(model: Model) -> tuple[TableSweep, TableSweep]:
    """STATE -> factors, and (factors, q, u, tail, sigma, b) -> x of (1)."""
    tree, n = model.tree, model.tree.nq + model.tree.nu
    q, u = (np.array([0, *(getattr(b, name).start for b in tree.bodies)], dtype=np.int64) for name in "qu")
    size = [0, *(_Factors.size(b.mobilizer.nu) for b in tree.bodies)]
    sizes = model.sizes() | {"udot": tree.nu, "sigma": 1, "b": n, "factors": sum(size)}
    made = []
    for arguments, results in (
        (STATE, [("factors", sum(size))]),
        (("factors", "q", "u", "tail", "sigma", "b"), [("x", n)]),
    ):
        looped = Looped(model, [(name, sizes[name]) for name in arguments], results)
        looped.windows["factors"] = "factors", np.cumsum([0, *size[:-1]])
        looped.windows |= {
            f"{place}_{name}": (place, at) for place in "bx" for name, at in (("q", q), ("u", tree.nq + u))
        }
        (_Factorization(looped) if results[0][0] == "factors" else _Solution(looped)).write()
        made.append(looped.rows())
    return made[0], made[1]


class _Factors(NamedTuple):
    """Terms of (3), (5) and (6) for a body: r; S, G, E', K' of its speeds; D^-1 and D^-1 R; K T, K (S, G, E')
    and K (0, 0, S); contributions of p and b_u to `rest`."""

    r: ca.SX
    motions: ca.SX
    D: ca.SX
    DR: ca.SX
    forces: ca.SX
    rest: ca.SX

    @staticmethod
    def shapes(nu: int) -> tuple[tuple[int, int], ...]:
        return (3, 1), (24, nu), (nu, nu), (nu, 18), (18, nu), (2 * nu, nu)

    @classmethod
    def size(cls, nu: int) -> int:
        return sum(n * m for n, m in cls.shapes(nu))

    @classmethod
    def read(cls, d: Draft) -> _Factors:
        nu, at, parts = d.mobilizer.nu, 0, []
        column = d.read("factors", cls.size(nu))
        for n, m in cls.shapes(nu):
            parts.append(ca.reshape(column[at : at + n * m], n, m))
            at += n * m
        return cls(*parts)

    def write(self, d: Draft) -> None:
        d.writes["factors"] = ca.vertcat(*(ca.vec(ca.densify(x)) for x in self))


class _Factorization:
    """The passes that compute the factors, being written."""

    def __init__(self, looped: Looped) -> None:
        self.looped, self.loaded = looped, has_forces(looped.model)

    def write(self) -> None:
        sines(self.looped)
        self.looped.outward(self.prepare, self.ground)
        if self.loaded:
            self.loads()
        self.looped.inward(self.inward, nothing)

    def ground(self, d: Draft) -> None:
        ground_with_gravity(d)
        d.me[_K] = ca.SX.zeros(6, 18)

    def prepare(self, d: Draft) -> None:
        """Accelerations, and (2) of a body alone."""
        new = d.kinematics(True, positions=self.loaded)
        d.me.A = A = acceleration(d.parent.A, new.p_PM, new.c, new.H, d.of_speeds("udot"))
        P, p_c = rigid(new.R_GM, d.body.mass, d.body.com, d.body.I)
        d.me.a = a = spatial_acceleration(new.V_GM, A)
        m, mc, I, p, C, F = of_one(P[0], d.body.mass, p_c, new.V_GM, a)
        d.me.F = F
        d.me.X_MF = (new.X_GF[0], new.X_GF[1] - new.p_GM)
        none = ca.SX(3, 3)
        d.me[_K] = ca.blockcat(
            [
                [-ca.skew(F[0]), -ca.skew(F[1]), 2 * C, none, I, ca.skew(mc)],
                [-ca.skew(F[1]), none, -2 * ca.skew(p), none, -ca.skew(mc), m * ca.SX.eye(3)],
            ]
        )
        if self.loaded:
            d.me.f_q = d.me.f_u = ca.SX.zeros(d.mobilizer.nu, d.mobilizer.nu)

    def loads(self) -> None:
        """Loads and their derivatives."""
        looped, tree = self.looped, self.looped.model.tree

        def push(kind: LawKind, d: KernelDraft, column: object) -> None:
            for link, (n, f) in kind.loads(d, column).items():  # type: ignore[arg-type]
                d.add(d.row(link), BodyFields.F, (-n, -f))
                symbols = [d.reads.get(f"{link}.{name}") for name in ("R", "p", "V")]
                d.add(d.row(link), _K, -load_changes((n, f), symbols))

        looped.law_pass(push)
        line = StraightLine(looped)
        s, loads = line.symbols, line.loads(without=looped.tabled)
        for B, load in loads.bodies.items():
            body = line.body(B)
            symbols = [line.reads.get((B + 1, name)) for name in ("R", "p", "V")]
            body.F = add(body.F, (-load[0], -load[1]))
            body[_K] = body[_K] - load_changes(load, symbols)
        for b in tree.bodies:
            speeds = tree.speeds_of(b.index)
            if any(k in loads.mobility for k in speeds):
                f = ca.vertcat(*(loads.mobility.get(k, ca.SX(0)) for k in speeds))
                q, u, body = s["q"][b.q], s["u"][b.u], line.body(b.index)
                N = ca.jacobian(motion(b.mobilizer, s.t, q, u).qdot, u)
                body.f_q, body.f_u = ca.densify(ca.jacobian(f, q) @ N), ca.densify(ca.jacobian(f, u))
        line.write()

    def inward(self, d: Draft) -> None:
        nu, F, K, r = d.mobilizer.nu, d.me.F, d.me[_K], d.me.r
        d.parent.F = add(d.parent.F, shift_force(F, r))
        joint = MobilizerState(d.me.H, d.me.X_MF, shift_motion(d.parent.V, r), d.me.V, ca.SX(3, 1))
        speeds, sigma = _Speeds(d), d.read("sigma", 1)
        udot = ca.vertcat(ca.SX(0, 1), *d.of_speeds("udot"))
        own, by_q = own_changes(d.mobilizer, d.t, d.q, speeds.u, udot, joint, F)
        motions, S_F = ca.SX(24, 0), ca.SX(0, 6)
        for h, *DEK in own:
            of_speed = (h, *changes(h, d.me.V, d.me.a, *DEK))
            motions = ca.horzcat(motions, ca.vertcat(*(x for pair in of_speed for x in pair)))
            carried = ca.cross(h[0], F[0]) + ca.cross(h[1], F[1]), ca.cross(h[0], F[1])
            S_F = ca.vertcat(S_F, ca.vertcat(*carried).T)
        S, by_u = motions[:6, :], ca.SX(nu, nu)
        if self.loaded:
            by_q, by_u = by_q - d.me.f_q, d.me.f_u
        KQ, KS = K @ motions[:18, :], K[:, 12:] @ S
        P = speeds.by_speeds
        KT = KQ @ P + K[:, 6:12] @ S + K[:, 12:] @ motions[18:, :] + sigma * KS  # (3)
        D = S.T @ KT + by_q @ P - by_u  # (5)
        R = S.T @ K + ca.horzcat(S_F, ca.SX(nu, 12))
        found = solved(D, ca.horzcat(ca.SX.eye(nu), R), d.of_speeds("lock"))
        inverse, DR = found[:, :nu], found[:, nu:]
        rest = ca.vertcat(S.T @ KQ + by_q, S.T @ KS)
        _Factors(r, motions, inverse, DR, ca.vertcat(KT, KQ, KS), rest).write(d)
        d.parent[_K] = d.parent[_K] + _shifted(K - KT @ DR, r)  # (6)


class _Solution:
    """The passes from factors to x, being written."""

    def __init__(self, looped: Looped) -> None:
        self.looped = looped

    def write(self) -> None:
        start = lambda d: d.me.__setitem__(_C, ZERO)
        self.looped.outward(start, start)
        self.looped.inward(self.inward, nothing)
        self.looped.outward(self.outward, lambda d: d.me.__setitem__(_W, ca.SX.zeros(18, 1)))

    def inward(self, d: Draft) -> None:
        x, c, nu, sigma = _Factors.read(d), ca.vertcat(*d.me[_C]), d.mobilizer.nu, d.read("sigma", 1)
        if nu:
            b_u, p = d.read("b_u", nu), _Speeds(d).by(d.read("b_q", d.mobilizer.nq))
            rest = x.rest[:nu, :] @ p - x.rest[nu:, :] @ b_u + x.motions[:6, :].T @ c  # (5)
            held = [
                ca.if_else(k < np.inf, y, -b / sigma) for k, y, b in _each(d.of_speeds("lock"), rest, b_u)
            ]
            d.me[_REST] = D_rest = x.D @ ca.vertcat(*held)
            c = c + x.forces[6:12, :] @ p - x.forces[12:, :] @ b_u - x.forces[:6, :] @ D_rest  # (6)
        d.parent[_C] = add(d.parent[_C], shift_force((c[:3], c[3:]), x.r))

    def outward(self, d: Draft) -> None:
        x, w, nu, sigma = _Factors.read(d), d.parent[_W], d.mobilizer.nu, d.read("sigma", 1)
        parts = [shift_motion((w[k : k + 3], w[k + 3 : k + 6]), x.r) for k in (0, 6, 12)]
        w = ca.vertcat(*(part for pair in parts for part in pair))
        if nu:
            speeds, b_q, b_u = _Speeds(d), d.read("b_q", d.mobilizer.nq), d.read("b_u", nu)
            du = -(x.DR @ w + d.me[_REST])  # (5)
            dq, S = speeds.by_speeds @ du + speeds.by(b_q), x.motions[:6, :]
            by_u = ca.vertcat(ca.SX(6, 1), S @ du, x.motions[18:, :] @ du + S @ (sigma * du - b_u))
            w = w + x.motions[:18, :] @ dq + by_u  # (3)
            d.writes["x_u"] = ca.densify(du)
            d.writes["x_q"] = ca.densify(speeds.follow(du, b_q))
        d.me[_W] = w


def _each(*columns: Any) -> Iterable[tuple[SX, ...]]:
    return zip(*(x if isinstance(x, list) else ca.vertsplit(x) for x in columns), strict=True)


class _Speeds:
    """Coordinates of a mobilizer from its speeds in (1): (sigma 1 - (N u)_q) dq = N du + b_q."""

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


def solved(D: SX, R: SX, lock: Sequence[SX] = ()) -> SX:
    """D^-1 R for R = (1, ...); for locked speeds it is the row of R itself."""
    n = D.shape[0]
    A = ca.horzcat(D, R)
    for k in range(len(lock)):
        alone = ca.SX(1, A.shape[1])
        alone[0, k] = alone[0, n + k] = 1
        A[k, :] = ca.if_else(lock[k] < np.inf, A[k, :], ca.densify(alone))
    for k in range(n):
        A[k, :] = A[k, :] / A[k, k]
        for i in range(n):
            if i != k:
                A[i, :] = A[i, :] - A[i, k] * A[k, :]
    return A[:, n:]


def _shifted(K: SX, r: SX) -> SX:
    """K of a child, moved to the parent's origin."""
    rx = ca.skew(r)
    K = ca.vertcat(K[:3, :] + rx @ K[3:, :], K[3:, :])
    parts = [K[:, 3 * k : 3 * k + 3] for k in range(6)]
    return ca.horzcat(*(x for k in (0, 2, 4) for x in (parts[k] - parts[k + 1] @ rx, parts[k + 1])))


def load_changes(load: Pair, symbols: list[SX | None]) -> SX:
    """dL of (2), shape (6, 18), of a load about M's origin from the symbols of R, p and V of M that it
    reads. x rotates and moves the pose, rotates V of M's origin, and moves the origin away from the point
    of reference."""
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
