"""Time stepping of systems with joints.

Bodies that hang on ground separately are blocks of speeds u_a, each with its own M_a. Contacts of surfaces
that are found near each other (crowd.py), of bodies a and b at P with directions D = (n, t_1, t_2), have

    G_a = -D (J_v - r_a x J_w),   G_b = D (J_v - r_b x J_w),   J of the bodies' origins, r = P - p        (5a)
    Z_a = M_a^-1 G_a'   by M_a^-1 or Cholesky's factors of each block, once a step                        (5b)

and those of `system.add_contact`, stops and ropes have the rows of their constraints. Where a contact is
within one block, G_a + G_b is its only row. Constraints that act both ways make one block of all, and Z is
that of docs/theory/rigid_contact.md (16). What moves with time alone is what v is beside G u.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.constraints.solve.corrections import jump, moved, normalized
from condyle.contact.surfaces import tangents
from condyle.dynamics import aba, mass_matrix
from condyle.dynamics.kinematics import frame_jacobian
from condyle.dynamics.view import TreeLoads
from condyle.integrate.projection import Projector
from condyle.integrate.stepping.closest_points import NARROW
from condyle.integrate.stepping.crowd import Crowd
from condyle.integrate.stepping.program import METHOD, Record, StepProgram, sweep_numbers, travel
from condyle.integrate.stepping.run import ROOM, SteppingRun
from condyle.model.operators import OPERATORS
from condyle.model.symbols import Symbols
from condyle.native.programs.nodes import Call, Get, If, Ints, Node, While
from condyle.native.programs.slice_function import SliceFunction
from condyle.native.tables.staged import build_function
from condyle.records import dataclass
from condyle.system.state import State
from condyle.system.system import System

if TYPE_CHECKING:
    from condyle.integrate.stepping.method import TimeStepping

SHORT = 16
"""Speeds of a block up to which M^-1 is a straight line; beyond there are LAPACK's factors."""
SOLVED, ITERATIONS = 1e-9, 50
"""Change of speeds, relative, that ends the iteration for method.py (6a); rounds after which it failed."""
NEAREST = 1e-9
"""Accuracy to which other constraints are met after a step."""


@dataclass(frozen=True)
class SpeedBlocks:
    """Speeds of trees that hang on ground separately.

    Args:
        of: block of each speed, shape (nu,).
        place: of each speed in its block, shape (nu,).
        bodies: block of each body, and of ground, the last, shape (bodies + 1,).
    """

    of: np.ndarray
    place: np.ndarray
    bodies: np.ndarray

    @property
    def count(self) -> int:
        return int(self.of.max(initial=0)) + 1

    @property
    def n(self) -> int:
        """Speeds of the largest."""
        return int(self.place.max(initial=0)) + 1

    @staticmethod
    def of_trees(system: System, together: list[list[int]]) -> SpeedBlocks:
        """Trees of a system; speeds of each of the lists `together` are in one."""
        nu, tree = system.nu, system.compiled.model.tree
        own = [sorted({k for A in tree.path(b.index) for k in tree.speeds_of(A)}) for b in system.bodies]
        root = list(range(nu))

        def find(i: int) -> int:
            while root[i] != i:
                i = root[i]
            return i

        for some in [*own, *together]:
            for k in some[1:]:
                root[find(k)] = find(some[0])
        names, of = np.unique([find(k) for k in range(nu)], return_inverse=True)
        place = np.array([int((of[:k] == of[k]).sum()) for k in range(nu)], dtype=int)
        return SpeedBlocks(
            of,
            place,
            np.array([*(of[some[0]] if some else len(names) for some in own), len(names)], dtype=int),
        )

    def spread(self, x: SX) -> SX:
        """Columns (nu, m) as rows of blocks and ground, ((count + 1) n, m)."""
        out = ca.SX((self.count + 1) * self.n, x.shape[1])
        out[(self.of * self.n + self.place).tolist(), :] = x
        return out

    def joined(self, U: SX) -> SX:
        return U[(self.of * self.n + self.place).tolist()]


def rows_of(column: SX) -> list[int]:
    """Which numbers of a column are not zero by structure."""
    return [int(i) for i in column.sparsity().row()]


def masses(M: SX, blocks: SpeedBlocks) -> SX:
    """M of each block by columns; beside it the diagonal is one."""
    n, out = blocks.n, []
    for a in range(blocks.count):
        mine = np.flatnonzero(blocks.of == a).tolist()
        one = ca.SX.eye(n)
        one[: len(mine), : len(mine)] = M[mine, mine]
        out.append(ca.vec(ca.densify(one)))
    return ca.vertcat(*out)


def bodies_of(s: Symbols, system: System, blocks: SpeedBlocks) -> list[SX]:
    """Poses, velocities and rows J of all bodies and ground."""
    kin, tree, n = s.kinematics(), system.compiled.model.tree, blocks.n
    view = s.view(kin)
    poses, V, rows = [], [], []
    for body, a in zip(system.bodies, blocks.bodies[:-1], strict=True):
        poses += [ca.vec(view.rotation(body.name)), view.station_position(body.name, (0, 0, 0))]
        V += [view.angular_velocity(body.name), view.station_velocity(body.name, (0, 0, 0))]
        J = ca.SX(6, n)
        if a < blocks.count:
            mine = np.flatnonzero(blocks.of == a).tolist()
            J[:, : len(mine)] = frame_jacobian(tree, kin, body.index, kin.placed[body.index].p_MB)[:, mine]
        rows.append(ca.vec(J.T))
    ground = [ca.vec(ca.SX.eye(3)), ca.SX(3, 1)]
    return [ca.vertcat(*poses, *ground), ca.vertcat(*V, ca.SX(6, 1)), ca.vertcat(*rows, ca.SX(6 * n, 1))]


def inverse(n: int, M: SX) -> SX:
    """M^-1, by Cholesky's factors: L L' = M, X = L^-1, X' X."""
    M, L, X = ca.reshape(M, n, n), ca.SX(n, n), ca.SX(n, n)
    for j in range(n):
        L[j, j] = ca.sqrt(M[j, j] - sum(L[j, k] ** 2 for k in range(j)))
        over = 1 / L[j, j]
        for i in range(j + 1, n):
            L[i, j] = (M[i, j] - sum(L[i, k] * L[j, k] for k in range(j))) * over
        X[j, j] = over
        for i in range(j):
            X[j, i] = -over * sum(L[j, k] * X[k, i] for k in range(i, j))
    return ca.vec(ca.densify(X.T @ X))


def responses(n: int, inverse: SX, G: SX) -> SX:
    """M^-1 of three rows G."""
    return ca.vec(ca.reshape(inverse, n, n) @ ca.reshape(G, n, 3))


def spent(n: int, s: Record) -> SX:
    """How far a body went since lists were made; V is not J u alone where it moves with time."""
    V = s.V + ca.reshape(s.J, n, 6).T @ (s.u_a + s.u_b - s.before)
    return ca.vertcat(s.reaches[0], s.reaches[1] + travel(s.bodies[0], V, s.h))


def met(n: int, ground: int, s: Record) -> tuple[SX, ...]:
    """Rows of a pair that is found, its velocities, and its blocks."""
    D = ca.horzcat(s.n, *tangents(s.n)).T

    def rows(J: SX, pose: SX) -> SX:  # (5a)
        r, J = s.P - pose[9:12], ca.reshape(J, n, 6).T
        return D @ (J[3:, :] - ca.skew(r) @ J[:3, :])

    at = lambda V, pose: V[3:] + ca.cross(V[:3], s.P - pose[9:12])
    G_a, G_b = -rows(s.J_a, s.pose), rows(s.J_b, s.pose_b)
    a, b = s.place_a[2], s.place_b[2]
    alone = ca.logic_or(a == b, a == ground)  # then a is the one block that moves
    flat = lambda G: ca.vec(G.T)
    return (
        flat(ca.if_else(alone, G_a + G_b, G_a)),
        flat(ca.if_else(alone, 0, G_b)),
        D @ (at(s.V_b, s.pose_b) - at(s.V_a, s.pose)),
        ca.if_else(alone, b, a),
        ca.if_else(alone, ground, b),
    )


def ready(n: int, s: Record) -> SX:
    """A contact as sweeps read it."""
    square = lambda x: ca.reshape(x, n, 3).T
    v = square(s.G_a) @ s.before + square(s.G_b) @ s.before_b
    terms = ca.fabs(square(s.G_a)) @ ca.fabs(s.before) + ca.fabs(square(s.G_b)) @ ca.fabs(s.before_b)
    beside = s.rate - v
    beside = ca.if_else(ca.fabs(beside) > 1e-12 * (ca.fabs(s.rate) + terms), beside, 0)
    v_free = ca.dot(s.G_a[:n], s.free) + ca.dot(s.G_b[:n], s.free_b) + beside[0]
    rows = [slice(n * i, n * i + n) for i in range(3)]
    W = [ca.dot(s.G_a[r], s.Z_a[r]) + ca.dot(s.G_b[r], s.Z_b[r]) for r in rows]
    numbers = sweep_numbers(s, s.rate[0], v_free, ca.vertsplit(s.e_mu), W)
    return ca.vertcat(s.G_a, s.G_b, s.Z_a, s.Z_b, beside, numbers)


class Trees(StepProgram):
    """The layout of systems with joints. A contact has G and Z of a and of b, and its velocity beside G u.

    Args:
        system: with its constraints that act one way.
        bare: the same without them.
        surfaces: contacts are found among surfaces.
        both_ways: other constraints act.
    """

    pose = 12

    def __init__(self, system: System, bare: System, surfaces: bool, both_ways: bool) -> None:
        self.s, self.b, nu = Symbols(system.compiled.model), Symbols(bare.compiled.model), system.nu
        rows = OPERATORS["unilateral_rows"].expressions
        self.unilateral = rows(self.s) if system.constraints.unilateral else [ca.SX(0, 1)] * 7
        self.count = k = self.unilateral[0].numel()
        # a column is a row of a constraint
        self.G = ca.sparsify(ca.reshape(self.unilateral[3], nu, 3 * k))
        touched = [sorted({r for i in range(3) for r in rows_of(self.G[:, 3 * j + i])}) for j in range(k)]
        together = [list(range(nu))] if both_ways else []
        plain = SpeedBlocks.of_trees(system, together)
        together += [some for some in touched if len({*plain.of[some]}) > 2]
        self.blocks = blocks = SpeedBlocks.of_trees(system, together)
        self.ends = np.full((k, 2), float(blocks.count))
        for j, some in enumerate(touched):
            mine = sorted({*blocks.of[some].tolist()})
            self.ends[j, : len(mine)] = mine
        n = blocks.n
        super().__init__(bare, n, 12 * n + 3, surfaces)
        self.whole, self.both_ways = system, both_ways
        self.add_streams({"M": n * n, "L": n * n}, "n_blocks")
        sizes = self.sizes
        sizes |= dict.fromkeys(("y_free", "y_on", "y_before", "weights"), self.eq.n)
        sizes |= dict.fromkeys(("bias", "bias_s", "f_row", "du"), nu)
        sizes |= dict.fromkeys(("all_before", "all_free", "all_U", "all_shift"), (blocks.count + 1) * n)
        sizes |= dict.fromkeys(("G_a", "G_b", "Z_a", "Z_b"), 3 * n)
        sizes |= {"factor": n * n, "all_M": blocks.count * n * n, "rate": 3, "e_mu": 2}
        if k:
            widths = {"gaps": 1, "speeds": 3, "numbers": 2, "rows_a": 3 * n, "rows_b": 3 * n}
            self.add_streams(widths | {"ends": 2, "acting": 1}, "described")
            self.counts.append("described")
            self.tables["ends"] = self.ends
            sizes |= {f"all_{name}": width * k for name, width in widths.items()}
            sizes["p_all"] = self.s["tail"].numel() - system.compiled.model.tail["inputs"].start
        if surfaces:
            self.add_streams({"J": 6 * n}, "n_bodies")
            many = {"all_poses": self.pose, "all_V": 6, "all_J": 6 * n}
            sizes |= {name: width * (len(system.bodies) + 1) for name, width in many.items()}
            sizes |= {"V_b": 6, "J_a": 6 * n, "J_b": 6 * n, "place_a": 3, "place_b": 3}
        self.tables["blocks of bodies"] = blocks.bodies[:, None].astype(float)

    # ---- functions of the whole state ----------------------------------------------------------------------

    def _function(self, label: str, s: Symbols, outputs: list[SX], *more: SX) -> SliceFunction:
        """outputs of (t, y, p, more)."""
        inputs = [s.t, ca.vertcat(s["q"], s["u"], s.z), s["tail"][s.model.tail["inputs"].start :], *more]
        return SliceFunction(
            build_function(label, inputs, outputs), label, self.sizes, self.streams, self.tables
        )

    @cached_property
    def _state(self) -> tuple[SliceFunction, list[str]]:
        """Masses, speeds, and where bodies are: the function and its slices."""
        b = self.b
        M = mass_matrix.mass_matrix(b.model.tree, b.kinematics())
        outs, names = [masses(M, self.blocks), self.blocks.spread(b["u"])], ["all_M", "all_before"]
        if self.surfaces:
            outs += bodies_of(b, self.system, self.blocks)
            names += ["all_poses", "all_V", "all_J"]
        return self._function("state", b, outs), names

    @cached_property
    def _bias(self) -> SliceFunction:
        """b of method.py (6a)."""
        b, kin, none = self.b, self.b.kinematics(), ca.SX.zeros(self.system.nu)
        loads = TreeLoads(b.view(kin))
        udot = aba.forward_dynamics(b.model.tree, kin, none, b.lock, ca.SX(3, 1), loads, none)[0]
        return self._function("bias", b, [udot])

    @cached_property
    def _jump(self) -> SliceFunction:
        """Changes of speeds by an impulse, other constraints met."""
        b, f = self.b, ca.SX.sym("f", self.system.nu)
        du, _ = aba.solve_mass_matrix(b.model.tree, b.kinematics(moving=False), f, b.lock)
        return self._function("jump", b, [jump(b.rows(b.kinematics()), du, b.lock)[0]], f)

    @cached_property
    def _projector(self) -> Projector:
        projection = self.eq.projection(0)
        assert projection is not None
        return Projector(projection, (), self.eq.n, self.sizes, self.streams, self.tables)

    def _slower(self, y: str, to: str) -> list[Node]:
        return self._projector.slower(("t", y, "p", "weights"), (to,))

    # ---- parts ---------------------------------------------------------------------------------------------

    def _with_speeds(self, y: SX, u: SX) -> SX:
        nq, nu = self.eq.nq, self.eq.nu
        return ca.vertcat(y[:nq], u, y[nq + nu :])

    def enter(self) -> list[Node]:
        nq, n_u, blocks = self.eq.nq, self.eq.nq + self.eq.nu, self.blocks
        speeds, bias = self._with_speeds, self._bias

        def nearer(y: SX, y_s: SX, b_s: SX, h: SX) -> tuple[SX, SX]:
            u = y[nq:n_u] + h / 2 * b_s
            off, size = (ca.sum1(ca.fabs(x)) for x in (u - y_s[nq:n_u], u))
            return speeds(y, u), 1 - (off <= SOLVED * size) * (size < np.inf)

        # (6a) by iteration, then (6b); where that fails u_s is explicit
        explicit = self.k(lambda y, b, h: speeds(y, y[nq:n_u] + h / 2 * b), "y bias h", "y_free")
        again = [*bias(("t", "y_free", "p"), ("bias_s",)), self.k(nearer, "y y_free bias_s h", "y_free busy")]
        nodes: list[Node] = [
            *bias(("t", "y", "p"), ("bias",)),
            explicit,
            self.k(lambda: (1, 0), "", "busy loose"),
            While("busy", again, ITERATIONS, "loose"),
            If("loose", explicit),
            self.k(lambda y, y_s: speeds(y, 2 * y[nq:n_u] - y_s[nq:n_u]), "y y_free", "y_before"),
            self.k(
                lambda y_s, f, b, h: speeds(y_s, y_s[nq:n_u] + h * (f[nq:n_u] - b)),
                "y_free f bias h",
                "y_free",
            ),
        ]
        if self.both_ways:
            for y, to in (("y_free", "y_free"), ("y_before", "y_before"), ("y", "y_on")):
                nodes += self._slower(y, to)
        state, names = self._state
        return [
            *nodes,
            self.k(lambda y: 2 * [blocks.spread(y[nq:n_u])], "y_free", "all_free all_U"),
            self.k(lambda: ca.SX.zeros((blocks.count + 1) * self.n), "", "all_shift"),
            self.k(lambda y: (0, 1 - (ca.sum1(ca.fabs(y)) < np.inf)), "y_free", "stale bad"),
            *state(("t", "y_before", "p"), names),
        ]

    def described(self) -> list[Node]:
        """Contacts that are constraints, after the factors that all contacts need."""
        return [self._factors(), *(self._constraints() if self.count else [])]

    def _factors(self) -> Node:
        """M^-1 of all blocks, or Cholesky's factors L, by columns."""
        n = self.n
        if self.both_ways:
            return []
        if n <= SHORT:
            return self.over("n_blocks", self.k(partial(inverse, n), "M", "L"))
        return self.over(
            "n_blocks",
            self.k(lambda M: M, "M", "factor"),
            Call("dpotrf", (b"L", n, "factor", n, Ints("info"))),
            self.k(
                lambda L, info: ca.vertcat(ca.if_else(info == 0, L[0], np.nan), L[1:]), "factor info", "L"
            ),
        )

    def _constraints(self) -> list[Node]:
        k, n, blocks = self.count, self.n, self.blocks
        gap, rate, slip, _, _, e, mu = self.unilateral
        spread = blocks.spread(self.G)

        def rows(side: int) -> SX:
            return ca.vertcat(
                *(
                    ca.reshape(spread[int(end) * n : int(end) * n + n, 3 * j : 3 * j + 3], 3 * n, 1)
                    if end < blocks.count
                    else ca.SX(3 * n, 1)
                    for j, end in enumerate(self.ends[:, side])
                )
            )

        v = ca.vertcat(rate.T, ca.reshape(slip, 2, k))
        outs = [gap, ca.vec(v), ca.vec(ca.vertcat(e.T, mu.T)), rows(0), rows(1)]
        f = self._function("described", self.s, outs)
        slices = ("all_gaps", "all_speeds", "all_numbers", "all_rows_a", "all_rows_b")
        near = self.k(
            lambda gap, v, acts, room, h, least: (
                acts * (gap <= room + 2 * h * ca.fabs(v[0])),
                ca.if_else(acts, ca.fmin(gap, least), least),
                gap,
            ),
            "gaps speeds acting room h least",
            "near least gap",
        )
        met = self.k(
            lambda G, H, v, numbers, ends: (G, H, v, numbers, ends[0], ends[1]),
            "rows_a rows_b speeds numbers ends",
            "G_a G_b rate e_mu a b",
        )
        each = self.over("described", near, self.taken([met, *self._ready()]))
        return [*f(("t", "y_before", "p_all"), slices), each]

    def met(self, kind: str) -> list[Node]:
        ins = "n P pose pose_b V_a V_b J_a J_b place_a place_b"
        return [
            *self.both("poses", "pose", "pose_b"),
            *self.both("V", "V_a", "V_b"),
            *self.both("J", "J_a", "J_b"),
            *self.both("bodies", "place_a", "place_b"),
            self.k(lambda row: row[2:4], kind, "e_mu"),
            self.named(partial(met, self.n, self.blocks.count), ins, "G_a G_b rate a b"),
            *self._ready(),
        ]

    def _ready(self) -> list[Node]:
        ins = f"G_a G_b Z_a Z_b rate e_mu before before_b free free_b {METHOD}"
        return [
            *self._responses(),
            *self.both("U_before", "before", "before_b"),
            *self.both("U_free", "free", "free_b"),
            self.named(partial(ready, self.n), ins, "contact"),
        ]

    def _responses(self) -> list[Node]:
        """Z of G."""
        n, out = self.n, list[Node]()
        if self.both_ways:
            for i in range(3):
                out += [
                    self.k(lambda G, i=i: G[n * i : n * i + n], "G_a", "f_row"),
                    *self._jump(("t", "y_on", "p", "f_row"), ("du",)),
                    self.k(lambda Z, du, i=i: ca.vertcat(Z[: n * i], du, Z[n * i + n :]), "Z_a du", "Z_a"),
                ]
            return [*out, self.k(lambda: ca.SX.zeros(3 * n), "", "Z_b")]
        self.sizes["two"] = 1
        for side in "ab":
            mine: list[Node] = [Get("L", side, "factor")]
            if n <= SHORT:
                mine.append(self.k(partial(responses, n), f"factor G_{side}", f"Z_{side}"))
            else:
                mine += [
                    self.k(lambda G: G, f"G_{side}", f"Z_{side}"),
                    Call("dpotrs", (b"L", n, 3, "factor", n, f"Z_{side}", n, Ints("info"))),
                ]
            if side == "a":
                out += mine
        ground = self.blocks.count  # what leans on it moves one block alone
        moves = self.k(lambda b: (b < ground, ca.SX.zeros(3 * n)), "b", "two Z_b")
        return [*out, moves, If("two", mine)]

    def _matrix(self, contact: SX, which: int) -> SX:
        """G_a, G_b, Z_a or Z_b of a contact, by columns (n, 3)."""
        return ca.reshape(contact[3 * self.n * which : 3 * self.n * (which + 1)], self.n, 3)

    def relative(self, contact: SX, u_a: SX, u_b: SX) -> SX:
        """In sums of a few terms, which do not wait for each other."""
        G = ca.vertcat(self._matrix(contact, 0), self._matrix(contact, 1))
        u, m = ca.vertcat(u_a, u_b), max(1, self.n // 3)
        parts = [G[k::m, :].T @ u[k::m] for k in range(m)]
        while len(parts) > 1:
            parts = [*map(ca.plus, parts[::2], parts[1::2]), *parts[len(parts) // 2 * 2 :]]
        return parts[0]

    def beside(self, contact: SX) -> SX:
        return contact[12 * self.n : 12 * self.n + 3]

    def pushed(self, contact: SX, dp: SX, u_a: SX, u_b: SX) -> tuple[SX, ...]:
        return u_a + self._matrix(contact, 2) @ dp, u_b + self._matrix(contact, 3) @ dp

    def leave(self) -> list[Node]:
        nq, n_u, tree, blocks = self.eq.nq, self.eq.nq + self.eq.nu, self.b.model.tree, self.blocks
        unit = None if self.both_ways else self.eq.projection(0)

        def gone(y: SX, U: SX, shift: SX, t: SX, h: SX) -> SX:
            u, move = blocks.joined(U), blocks.joined(U + shift)
            q = y[:nq] + h * moved(tree, t, y[:nq], move)  # (9)
            return ca.vertcat(q if unit is None else normalized(tree, q), u, y[n_u:])

        used: list[Node] = []
        if self.surfaces:
            far = self.named(partial(spent, self.n), "V J before u_a u_b bodies reaches h", "reaches")
            rows = [
                Get(table, "a", x) for table, x in (("U_before", "before"), ("U", "u_a"), ("shift", "u_b"))
            ]
            used = [self.over("n_bodies", self.k(lambda b: b[2], "bodies", "a"), *rows, far)]
        after: list[Node] = []
        if self.both_ways:
            nodes = self._projector("t_next", "y")
            after = [*nodes, self.k(lambda bad, off: ca.fmax(bad, 2 * (off > 0)), "bad astray", "bad")]
        state, names = self._state
        return [
            *used,
            self.k(gone, "y all_U all_shift t h", "y"),
            *self._bias(("t_next", "y", "p"), ("bias",)),
            self.k(lambda y, b, h: self._with_speeds(y, y[nq:n_u] + h / 2 * b), "y bias h", "y"),  # (9a)
            *self.auxiliaries(),
            *after,
            self.k(lambda y, bad: ca.fmax(bad, 1 - (ca.sum1(ca.fabs(y)) < np.inf)), "y bad", "bad"),
            If("look", state(("t_next", "y", "p"), names)),
        ]


class TreesRun(SteppingRun):
    """Constraints of the system that act one way, and surfaces among each other.

    Args:
        start: where it starts.
        method: whose numbers it takes.
    """

    def __init__(self, start: State, method: TimeStepping) -> None:
        system = start.system
        self.bare = bare = _bare(system)
        both_ways = any(name not in start.disabled for name in bare.constraints)
        self.surfaces, k = bool(method.among), len(system.constraints.unilateral)
        key = f"trees {self.surfaces} {both_ways}"
        make = lambda: Trees(system, bare, self.surfaces, both_ways).build()
        super().__init__(start, method, Crowd(system, method.among), key, make)
        blocks, ws = self.streams.pop("blocks of bodies"), self.ws
        n = len(ws["before"])
        count = len(ws["all_M"]) // n**2
        L = np.zeros((count + 1, n * n))
        L[-1] = np.eye(n).ravel()
        rows = {"U_before": "before", "U_free": "free", "U": "U", "shift": "shift"}
        self.streams |= {name: ws[f"all_{x}"].reshape(-1, n) for name, x in rows.items()} | {
            "plastic": np.zeros((count + 1, n)),
            "L": L,
            "M": ws["all_M"].reshape(count, n * n),
        }
        self.counts["n_blocks"] = count
        self.fixed = np.arange(k)
        if k:
            described = ("gaps", "speeds", "numbers", "rows_a", "rows_b")
            self.streams |= {name: ws[f"all_{name}"].reshape(k, -1) for name in described}
            acting = [[name not in start.disabled] for name in system.constraints.unilateral]
            self.streams["acting"] = np.array(acting, dtype=float)
            self.counts["described"] = k
        if self.surfaces:
            for name, width in (("poses", Trees.pose), ("V", 6), ("J", 6 * n)):
                self.streams[name] = ws[f"all_{name}"].reshape(-1, width)
            self._surfaces(blocks[:, 0])

    @property
    def rebounds(self) -> bool:
        system, start = self.system, self.start
        if self.crowd.e.any() or not system.constraints.unilateral:
            return bool(self.crowd.e.any())
        e = np.asarray(system.compiled.function("unilateral_rows")(start.q, start.u, start.tail)[5])
        return bool(e[[name not in start.disabled for name in system.constraints.unilateral]].any())

    def _begin(self, step: float) -> None:
        ws, start, bare = self.ws, self.start, self.bare
        same = bare.state(
            t=start.t,
            q=start.q,
            u=start.u,
            z=start.z,
            inputs=start.inputs,
            parameters=start.parameters,
            discrete=start.discrete,
            disabled=[name for name in start.disabled if name not in self.system.constraints.unilateral],
        )
        ws["p"] = same.tail[bare.compiled.model.tail["inputs"].start :]
        if len(self.fixed):
            ws["p_all"] = start.tail[self.system.compiled.model.tail["inputs"].start :]
        ws["room"], ws["accuracy"] = ROOM * self.system.compiled.length, NEAREST
        ws["weights"] = np.maximum(bare.compiled.weights, 1e-6)
        ws["look"] = self.by_hand
        if not self.surfaces:
            self._warm_start()
            return
        for kind, size in NARROW.items():
            self.streams[kind], self.counts[f"n_{kind}"] = np.empty((0, size)), 0
        self.streams["budgets"][:] = -1.0  # so that it takes no step: where bodies are
        self._warm_start()
        ws["until"] = 0
        self.program.run(ws, self.streams, self.counts | {"limit": 1})
        self._listed(step)

    def _placed(self) -> tuple[np.ndarray, np.ndarray]:
        poses = self.streams["poses"]
        return np.swapaxes(poses[:, :9].reshape(-1, 3, 3), 1, 2), poses[:, 9:]

    def _velocities(self) -> np.ndarray:
        return self.streams["V"][:-1]


def open_state(state: State) -> State:
    """With every constraint that acts one way open: this method asks for all of them in each step."""
    system: System = state.system
    flags = {
        flag: 0.0
        for name in system.constraints.unilateral
        for flag in [*system.compiled.model.unilateral[name].flags(name).values()]
        if flag in system.discrete
    }
    return (
        state.replace(discrete={**dict(zip(system.discrete, state.discrete, strict=True)), **flags})
        if flags
        else state
    )


def _bare(system: System) -> System:
    """The system without constraints that act one way, whose equations would be solved in vain."""
    if not system.constraints.unilateral:
        return system
    key = ("time stepping", "bare")
    if key not in system.compiled.programs:
        system.compiled.programs[key] = system.copy(constraints=dict.fromkeys(system.constraints.unilateral))
    return system.compiled.programs[key]
