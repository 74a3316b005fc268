"""A step of a system with joints as one native program: forces, who touches, impulses, where it goes.

Bodies that hang on ground separately are blocks of speeds u_a, each with its own M_a. Contacts of surfaces
that are found near each other (crowd.py), of bodies a and b at P with directions D = (n, t_1, t_2), have

    G_a = -D (J_v - r_a x J_w),   G_b = D (J_v - r_b x J_w),   J of the bodies' origins, r = P - p        (5a)
    Z_a = M_a^-1 G_a'   by Cholesky's factors of each block, once a step                                  (5b)

and those of `system.add_contact`, stops and ropes have the rows of their constraints. Where a contact is
within one block, G_a + G_b is its only row. Constraints that act both ways make one block of all, and Z is
that of docs/theory/rigid_contact.md (16). What moves with time alone is what v is beside G u.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import casadi as ca
import numpy as np

from condyle.constraints.solve.corrections import jump, moved, normalized
from condyle.dynamics import aba, mass_matrix
from condyle.dynamics.view import TreeLoads
from condyle.integrate.equations import RightHandSide, equations
from condyle.integrate.projection import Projector
from condyle.integrate.stepping.blocks import (
    Blocks,
    bodies_of,
    cholesky,
    entered,
    masses,
    met,
    ready,
    rows_of,
    spent,
    substituted,
)
from condyle.integrate.stepping.closest_points import NARROW
from condyle.integrate.stepping.step import StepTree
from condyle.integrate.stepping.sweeps import update
from condyle.model.operators import OPERATORS
from condyle.model.symbols import Symbols
from condyle.native.programs.nodes import Call, Get, If, Ints, Node, Scan, Stream, While
from condyle.native.programs.program import Program, ProgramAndTables
from condyle.native.programs.slice_function import SliceFunction
from condyle.native.tables.staged import build_function
from condyle.system.system import System

POSE = 12
"""R_GB by columns, its origin."""
NUMBERS = 13
"""Of a contact beside G and Z: mu, w_n, w_t, three c, s, v beside G u (3), a, b, the place in the list."""
SHORT = 16
"""Speeds of a block up to which Cholesky's factors are straight lines; beyond they are LAPACK's."""
SOLVED, ITERATIONS = 1e-9, 50
"""Change of speeds, relative, that ends the iteration for method.py (6a); rounds after which it failed."""
NEAREST = 1e-9
"""Accuracy to which other constraints are met after a step."""

_ONE = """t t_next h k count until t_0 step t_final every row stale bad busy going m i j on a b most done
    sweeps total tolerance soft stiffness damping correction slop least near gap T_0 T_1 T_half T_free grows
    deep x record flat loose loosened room info look accuracy body_a body_b"""


def build(system: System, bare: System, surfaces: bool, both_ways: bool) -> ProgramAndTables:
    """The program.

    Args:
        system: with its constraints that act one way.
        bare: the same without them.
        surfaces: contacts are found among surfaces.
        both_ways: other constraints act.
    """
    rows = OPERATORS["unilateral_rows"].expressions
    s = Symbols(system.compiled.model)
    gap, rate, slip, G, _, e, mu = rows(s) if system.unilateral else [ca.SX(0, 1)] * 7
    k, nu = gap.numel(), system.nu
    G = ca.sparsify(ca.reshape(G, nu, 3 * k))  # a column is a row of a constraint
    touched = [sorted({r for i in range(3) for r in rows_of(G[:, 3 * j + i])}) for j in range(k)]
    together = [list(range(nu))] if both_ways else []
    plain = Blocks.made(system, together)
    together += [some for some in touched if len({*plain.of[some]}) > 2]
    blocks = Blocks.made(system, together)
    ends = np.full((k, 2), float(blocks.count))
    for j, some in enumerate(touched):
        mine = sorted({*blocks.of[some].tolist()})
        ends[j, : len(mine)] = mine
    n, contact = blocks.n, 12 * blocks.n + NUMBERS

    eq = equations(bare)
    nz = eq.n - eq.nq - eq.nu
    flat = (blocks.count + 1) * n
    sizes = dict.fromkeys(_ONE.split(), 1) | {
        "y": eq.n,
        "y_free": eq.n,
        "y_on": eq.n,
        "f": eq.n,
        "y_before": eq.n,
        "bias": nu,
        "bias_s": nu,
        "p": eq.parameters,
        "weights": eq.n,
        "f_row": nu,
        "du": nu,
    }
    sizes |= dict.fromkeys(("all_before", "all_free", "all_U", "all_shift"), flat)
    sizes |= dict.fromkeys(("before", "before_b", "free", "free_b", "u_a", "u_b"), n)
    sizes |= dict.fromkeys(("G_a", "G_b", "Z_a", "Z_b"), 3 * n)
    sizes |= {
        "factor": n * n,
        "all_M": blocks.count * n * n,
        "impulse": 3,
        "nothing": 3,
        "contact": contact,
        "rate": 3,
        "e_mu": 2,
    }
    made = {"U_before": n, "U_free": n, "U": n, "plastic": n, "shift": n, "M": n * n, "L": n * n}
    contacts = {"contacts": contact, "impulses": 3, "again": 3}
    given = {"gaps": 1, "speeds": 3, "numbers": 2, "rows_a": 3 * n, "rows_b": 3 * n, "ends": 2, "acting": 1}
    all_streams = made | contacts | {"W": 3} | (given if k else {})
    walk = {"n_blocks": tuple(made), "capacity": tuple(contacts), "described": tuple(given)}
    if k:
        sizes |= {
            "p_all": s["tail"].numel() - system.compiled.model.tail["inputs"].start,
            "all_gaps": k,
            "all_speeds": 3 * k,
            "all_numbers": 2 * k,
            "all_a": 3 * n * k,
            "all_b": 3 * n * k,
        }
    bodies = {"poses": POSE, "V": 6, "J": 6 * n, "reaches": 2, "budgets": 1, "bodies": 3}
    if surfaces:
        many = len(system.bodies) + 1
        walk |= {"n_bodies": tuple(bodies), "n_balls": ("balls", "centers")}
        all_streams |= bodies | {"balls": 5, "centers": 3} | NARROW
        sizes |= {
            "all_poses": POSE * many,
            "all_V": 6 * many,
            "all_J": 6 * n * many,
            "pose": POSE,
            "pose_b": POSE,
            "V_a": 6,
            "V_b": 6,
            "J_a": 6 * n,
            "J_b": 6 * n,
            "reach": 2,
            "reach_b": 2,
            "center": 3,
            "center_b": 3,
            "n": 3,
            "P": 3,
            "place_a": 3,
            "place_b": 3,
        }
    streams = {name: Stream(size) for name, size in all_streams.items()} | {"T": Stream(1), "Y": Stream(eq.n)}
    tables: dict[str, np.ndarray] = {}
    rhs = RightHandSide(eq, sizes, streams, tables)
    tree = _Trees(sizes | all_streams | {"z": 1, "zdot": 1}, walk, blocks, surfaces)

    # ---- functions of the whole state
    b = Symbols(bare.compiled.model)
    now = [b.t, ca.vertcat(b["q"], b["u"], b.z), b["tail"][bare.compiled.model.tail["inputs"].start :]]
    function = lambda label, inputs, outputs: SliceFunction(
        build_function(label, inputs, outputs), label, sizes, streams, tables
    )
    kin = b.kinematics()
    M = mass_matrix.mass_matrix(bare.compiled.model.tree, kin)
    outs, names = [masses(M, blocks), blocks.spread(b["u"])], ["all_M", "all_before"]
    if surfaces:
        outs += bodies_of(b, bare, blocks)
        names += ["all_poses", "all_V", "all_J"]
    state = function("state", now, outs)
    bias = function(
        "bias",
        now,
        [
            aba.forward_dynamics(
                bare.compiled.model.tree,
                kin,
                ca.SX.zeros(nu),
                b.lock,
                ca.SX(3, 1),
                TreeLoads(b.view(kin)),
                ca.SX.zeros(nu),
            )[0]
        ],
    )
    if both_ways:
        f_row = ca.SX.sym("f", nu)
        du, _ = aba.solve_mass_matrix(bare.compiled.model.tree, b.kinematics(moving=False), f_row, b.lock)
        change = jump(b.rows(kin), du, b.lock)[0]
        tree.response = function("jump", [*now, f_row], [change])
    described: list[Node] = []
    if k:
        spread = blocks.spread(G)
        first, second = (
            [
                ca.reshape(spread[int(end) * n : int(end) * n + n, 3 * j : 3 * j + 3], 3 * n, 1)
                if end < blocks.count
                else ca.SX(3 * n, 1)
                for j, end in enumerate(ends[:, side])
            ]
            for side in (0, 1)
        )
        inputs = [
            s.t,
            ca.vertcat(s["q"], s["u"], s.z),
            s["tail"][system.compiled.model.tail["inputs"].start :],
        ]
        v = ca.vertcat(rate.T, ca.reshape(slip, 2, k))
        f = function(
            "described",
            inputs,
            [gap, ca.vec(v), ca.vec(ca.vertcat(e.T, mu.T)), ca.vertcat(*first), ca.vertcat(*second)],
        )
        described = [
            *f(("t", "y_before", "p_all"), ("all_gaps", "all_speeds", "all_numbers", "all_a", "all_b")),
            tree.described(),
        ]
    nq = eq.nq
    speeds = lambda y, u: ca.vertcat(y[:nq], u, y[nq + nu :])

    def nearer(y: ca.SX, y_s: ca.SX, b_s: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
        u = y[nq : nq + nu] + h / 2 * b_s
        off, size = (ca.sum1(ca.fabs(x)) for x in (u - y_s[nq : nq + nu], u))
        return speeds(y, u), 1 - (off <= SOLVED * size) * (size < np.inf)

    # (6a) by iteration, then (6b); where that fails u_s is explicit
    explicit = tree.k(lambda y, b, h: speeds(y, y[nq : nq + nu] + h / 2 * b), "y bias h", "y_free")
    free: list[Node] = [
        *bias(("t", "y", "p"), ("bias",)),
        explicit,
        tree.k(lambda: (1, 0), "", "busy loose"),
        While(
            "busy",
            [*bias(("t", "y_free", "p"), ("bias_s",)), tree.k(nearer, "y y_free bias_s h", "y_free busy")],
            ITERATIONS,
            "loose",
        ),
        If("loose", explicit),
        tree.k(lambda y, y_s: speeds(y, 2 * y[nq : nq + nu] - y_s[nq : nq + nu]), "y y_free", "y_before"),
        tree.k(
            lambda y_s, f, b, h: speeds(y_s, y_s[nq : nq + nu] + h * (f[nq : nq + nu] - b)),
            "y_free f bias h",
            "y_free",
        ),
    ]
    after: list[Node] = []
    if both_ways:
        projection = eq.projection(0)
        assert projection is not None
        projector = Projector(projection, (), eq.n, sizes, streams, tables)
        tree.sizes |= {"astray": 1}
        slower = lambda y, to: projector.slower(("t", y, "p", "weights"), (to,))
        free += [*slower("y_free", "y_free"), *slower("y_before", "y_before"), *slower("y", "y_on")]
        after = [
            *projector("t_next", "y"),
            tree.k(lambda bad, off: ca.fmax(bad, 2 * (off > 0)), "bad astray", "bad"),
        ]
    free += [
        tree.k(lambda y: 2 * [blocks.spread(y[nq : nq + nu])], "y_free", "all_free all_U"),
        tree.k(lambda: ca.SX.zeros(flat), "", "all_shift"),
        tree.k(lambda y: (0, 1 - (ca.sum1(ca.fabs(y)) < np.inf)), "y_free", "stale bad"),
    ]
    unit = None if both_ways else eq.projection(0)

    def leave(y: ca.SX, U: ca.SX, shift: ca.SX, t: ca.SX, h: ca.SX) -> ca.SX:
        u, move = blocks.joined(U), blocks.joined(U + shift)
        q = y[:nq] + h * moved(bare.compiled.model.tree, t, y[:nq], move)  # (9)
        if unit is not None:
            q = normalized(bare.compiled.model.tree, q)
        return ca.vertcat(q, u, y[nq + nu :])

    z: list[Node] = []
    if nz:
        streams |= {"z": Stream(1), "zdot": Stream(1)}
        z = [Scan("auxiliaries", tree.k(lambda z, zdot, h: z + h * zdot, "z zdot h", "z"), ("z", "zdot"))]
    tree.before = described
    gone = [
        tree.k(leave, "y all_U all_shift t h", "y"),
        *bias(("t_next", "y", "p"), ("bias",)),
        tree.k(lambda y, b, h: speeds(y, y[nq : nq + nu] + h / 2 * b), "y bias h", "y"),
        *z,
        *after,  # (9a)
        tree.k(lambda y, bad: ca.fmax(bad, 1 - (ca.sum1(ca.fabs(y)) < np.inf)), "y bad", "bad"),
    ]
    step: list[Node] = [
        tree.factors(),
        *tree.contacts(),
        *tree.spent(),
        *gone,
        If("look", state(("t_next", "y", "p"), names)),
        *tree.record(),
    ]
    body: list[Node] = [
        tree.clock(),
        rhs("t", "y", "f"),
        *free,
        *state(("t", "y_before", "p"), names),
        *tree.enter(),
        If("going", step),
        tree.k(
            lambda k, until, stale, bad: (k < until) * (stale == 0) * (bad == 0), "k until stale bad", "busy"
        ),
    ]
    whole = [tree.k(lambda: 1, "", "busy"), While("busy", body, "limit")]
    counts = [
        "limit",
        "n_blocks",
        "capacity",
        "most_sweeps",
        *(["described"] if k else []),
        *(["n_bodies", "n_balls", *(f"n_{kind}" for kind in NARROW)] if surfaces else []),
    ]
    counts += ["auxiliaries"] * bool(nz)
    tables |= {"block of": blocks.bodies[:, None].astype(float), **({"ends": ends} if k else {})}
    return Program(whole, sizes, streams=streams, counts=counts), tables


class _Trees(StepTree):
    """Parts of the program."""

    blocks, velocity = "n_blocks", ("V", "V_a")

    def __init__(
        self, sizes: dict[str, int], walk: dict[str, tuple[str, ...]], blocks: Blocks, surfaces: bool
    ) -> None:
        self.walk, self.n_speeds, self.ground, self.surfaces = walk, blocks.n, blocks.count, surfaces
        self.push = 12 * blocks.n + 5
        self.response: SliceFunction | None = None
        self.before: list[Node] = []
        super().__init__(sizes)

    def factors(self) -> Node:
        """Cholesky's factors L of all blocks, by columns."""
        n = self.n_speeds
        if self.response is not None:
            return []
        if n <= SHORT:
            return self.over("n_blocks", self.k(partial(cholesky, n), "M", "L"))
        return self.over(
            "n_blocks",
            self.k(lambda M: M, "M", "factor"),
            Call("dpotrf", (b"L", n, "factor", n, Ints("info"))),
            self.k(
                lambda L, info: ca.vertcat(ca.if_else(info == 0, L[0], np.nan), L[1:]), "factor info", "L"
            ),
        )

    def enter(self) -> list[Node]:
        """How far bodies may come."""
        check: list[Node] = (
            [self.over("n_bodies", self.k(entered, "V bodies h reaches budgets stale", "reaches stale"))]
            if self.surfaces
            else []
        )
        return [*check, self.k(lambda stale, bad: stale + bad == 0, "stale bad", "going")]

    def spent(self) -> list[Node]:
        """How far bodies go."""
        if not self.surfaces:
            return []
        moves: list[Node] = [
            self.k(lambda b: b[2], "bodies", "a"),
            Get("U_before", "a", "before"),
            Get("U", "a", "u_a"),
            Get("shift", "a", "u_b"),
        ]
        return [
            self.over(
                "n_bodies",
                *moves,
                self.k(partial(spent, self.n_speeds), "V J before u_a u_b bodies reaches h", "reaches"),
            )
        ]

    def contacts(self) -> list[Node]:
        found = self.found() if self.surfaces else []
        return [
            self.k(lambda: (0, 0, np.inf), "", "m flat least"),
            *self.before,
            *found,
            If("m", self._impulses()),
        ]

    def described(self) -> Node:
        """Contacts that are constraints."""
        return self.over(
            "described",
            self.k(
                lambda gap, v, acts, room, h, least: (
                    acts * (gap <= room + 2 * h * ca.fabs(v[0])),
                    ca.if_else(acts, ca.fmin(gap, least), least),
                    gap,
                ),
                "gaps speeds acting room h least",
                "near least gap",
            ),
            self.taken(
                self.k(
                    lambda G, H, v, numbers, ends: (G, H, v, numbers, ends[0], ends[1]),
                    "rows_a rows_b speeds numbers ends",
                    "G_a G_b rate e_mu a b",
                ),
                *self._ready(),
            ),
        )

    def met(self, kind: str) -> list[Node]:
        both = self.both
        return [
            *both("poses", "pose", "pose_b"),
            *both("V", "V_a", "V_b"),
            *both("J", "J_a", "J_b"),
            *both("bodies", "place_a", "place_b"),
            self.k(
                partial(met, self.n_speeds, self.ground),
                f"{kind} n P pose pose_b V_a V_b J_a J_b place_a place_b",
                "G_a G_b rate e_mu a b",
            ),
            *self._ready(),
        ]

    def _ready(self) -> list[Node]:
        both = self.both
        return [
            *self._responses(),
            *both("U_before", "before", "before_b"),
            *both("U_free", "free", "free_b"),
            self.k(
                partial(ready, self.n_speeds),
                "G_a G_b Z_a Z_b rate gap e_mu before before_b free "
                "free_b h soft stiffness damping correction slop a b flat",
                "contact",
            ),
        ]

    def _responses(self) -> list[Node]:
        """Z of G."""
        n, out = self.n_speeds, []
        if self.response is not None:
            for i in range(3):
                out += [
                    self.k(lambda G, i=i: G[n * i : n * i + n], "G_a", "f_row"),
                    *self.response(("t", "y_on", "p", "f_row"), ("du",)),
                    self.k(lambda Z, du, i=i: ca.vertcat(Z[: n * i], du, Z[n * i + n :]), "Z_a du", "Z_a"),
                ]
            return [*out, self.k(lambda: ca.SX.zeros(3 * n), "", "Z_b")]
        for side in "ab":
            out.append(Get("L", side, "factor"))
            if n <= SHORT:
                out.append(self.k(partial(substituted, n), f"factor G_{side}", f"Z_{side}"))
            else:
                out += [
                    self.k(lambda G: G, f"G_{side}", f"Z_{side}"),
                    Call("dpotrs", (b"L", n, 3, "factor", n, f"Z_{side}", n, Ints("info"))),
                ]
        return out

    @property
    def pushed(self) -> Callable[..., tuple[ca.SX, ...]]:  # type: ignore[override]
        n = self.n_speeds
        turn = lambda Z, dp: ca.reshape(Z, n, 3) @ dp
        return lambda c, dp, u_a, u_b: (u_a + turn(c[6 * n : 9 * n], dp), u_b + turn(c[9 * n : 12 * n], dp))

    def updated(self, mode: int) -> tuple[Callable[..., tuple[ca.SX, ...]], str]:
        n, pushed = self.n_speeds, self.pushed

        def swept(contact: ca.SX, p: ca.SX, u_a: ca.SX, u_b: ca.SX, most: ca.SX) -> tuple[ca.SX, ...]:
            own = contact[12 * n :]
            v = (
                ca.reshape(contact[: 3 * n], n, 3).T @ u_a
                + ca.reshape(contact[3 * n : 6 * n], n, 3).T @ u_b
                + (0 if mode == 2 else own[7:10])
            )  # (1)
            mu = ca.SX(0) if mode == 2 else own[0]
            dp, changed = update(v, p, own[3 + mode], mu, own[1], own[2], own[6])  # (2), (3)
            return p + dp, *pushed(contact, dp, u_a, u_b), ca.fmax(most, changed)  # (4)

        return swept, ""

    def energy(self, between: bool) -> list[Node]:
        """The work of the contacts (11): constraints and joints that move with time do theirs beside it."""
        n = self.n_speeds

        def work(c: ca.SX, p: ca.SX, free: ca.SX, free_b: ca.SX, u_a: ca.SX, u_b: ca.SX, T: ca.SX) -> ca.SX:
            G_a, G_b = (ca.reshape(G, n, 3).T for G in (c[: 3 * n], c[3 * n : 6 * n]))
            return T + ca.dot(p, (G_a @ (free + u_a) + G_b @ (free_b + u_b)) / 2 + c[-6:-3])

        def works(
            c: ca.SX,
            p: ca.SX,
            again: ca.SX,
            free: ca.SX,
            free_b: ca.SX,
            u_a: ca.SX,
            u_b: ca.SX,
            low: ca.SX,
            low_b: ca.SX,
            *sums: ca.SX,
        ) -> tuple[ca.SX, ...]:
            both = (p, u_a, u_b), (again, low, low_b)
            half = [(x + y) / 2 for x, y in zip(*both, strict=True)]
            return tuple(
                work(c, x, free, free_b, a, b, T) for (x, a, b), T in zip((*both, half), sums, strict=True)
            )

        speeds = [*self.both("U_free", "free", "free_b"), *self.both("U", "u_a", "u_b")]
        if not between:
            return [self.each(*speeds, self.k(work, "contacts impulses free free_b u_a u_b T_1", "T_1"))]
        return [
            self.each(
                *speeds,
                *self.both("plastic", "before", "before_b"),
                self.k(
                    works,
                    "contacts impulses again free free_b u_a u_b before before_b T_1 T_0 T_half",
                    "T_1 T_0 T_half",
                ),
            )
        ]
