"""The native program of time stepping: forces, contacts, impulses, motion of the bodies. One for all systems;
a layout says how bodies move: as free bodies (free_bodies.py) or with joints (trees.py).

Python lists pairs that may come near (crowd.py), each body with what it may travel until then; the program
takes steps until a body has used that up, or all are done.

Impulses come from sweeps over the contacts (projected Gauss-Seidel). Trees of bodies that hang on ground
separately are blocks of speeds u_a; a contact k is between two of them. Its rows G_ka, G_kb (3 x n each:
normal, two tangents) and what unit impulses do, Z_ka = M_a^-1 G_ka', are known. One contact after the other,
until nothing changes any more:

    v = G_ka u_a + G_kb u_b                                                                                (1)
    p_n <- max(p_n - w_n (v_n + s p_n - c), 0)      so that v_n + s p_n >= c, p_n >= 0, one of them equal  (2)
    p_t <- the point nearest to p_t - w_t v_t with |p_t| <= mu p_n                      Coulomb's friction (3)
    u_a <- u_a + Z_ka dp,   u_b <- u_b + Z_kb dp                                                           (4)

with w_n = 1 / (W_nn + s), s = 0 of hard contacts, and w_t = 1 / (W_11 + W_22) of W = G_ka Z_ka + G_kb Z_kb.
What changed is the largest |dp| / w of a sweep, a velocity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.integrate.equations import RightHandSide, equations
from condyle.integrate.stepping.closest_points import NARROW, apart, box, plane
from condyle.integrate.steps import ROW
from condyle.native.programs.nodes import (
    Get,
    If,
    Kernel,
    Node,
    Put,
    Scan,
    Stream,
    While,
    kernel,
    record_kernel,
)
from condyle.native.programs.program import Program, ProgramAndTables
from condyle.system.system import System

MU, W_N, W_T, FIRST, PUSH, SPRING, A, B, PLACE = -10, -9, -8, -7, -5, -4, -3, -2, -1
"""The last numbers of a contact: friction, w_n, w_t of (2), (3), three c (with restitution, without, of
overlaps), s, who they are, and the place of the pair in the list. The first ones are those of the layout."""
SCALARS = """t t_next h k count until t_0 step t_final every row stale bad busy going m i j on a b most done
    sweeps total tolerance soft stiffness damping correction slop least near gap T_0 T_1 T_half grows deep x
    record flat loose loosened room info look accuracy"""
METHOD = "gap h soft stiffness damping correction slop a b flat"
"""What `sweep_numbers` reads."""

Record = Any
"""Named slices as attributes: what a kernel reads."""


def sweep_numbers(s: Record, v: SX, v_free: SX, e_mu: Sequence[SX], W: Sequence[SX]) -> SX:
    """The last numbers of a contact.

    Args:
        s: METHOD.
        v: of the normal before the step [m/s].
        v_free: the same without contacts.
        e_mu: restitution and friction.
        W: velocities along the normal and the tangents by unit impulses along them.
    """
    (e, mu), gap, h = e_mu, s.gap, s.h
    spring = ca.if_else(s.soft, 1 / (h * h * s.stiffness + h * s.damping), 0)
    hard = ca.if_else(gap > 0, -gap / h, 0)  # method.py (8)
    back = ca.if_else(ca.logic_and(gap + h * v <= 0, e * v < 0), ca.fmin(v_free - v, 0) - e * v, -np.inf)
    deep = ca.fmax(-gap - s.slop, 0)
    push = ca.if_else(s.soft, 0, ca.if_else(deep > 0, s.correction * deep / h, hard))  # (10)
    springy = -gap * ca.if_else(gap > 0, 1 / h, spring * h * s.stiffness)  # (12)
    least = ca.vertcat(ca.if_else(s.soft, springy, ca.fmax(hard, back)), hard, push)
    least = ca.if_else(W[0] > 0, least, -np.inf)  # what cannot move is not pushed
    w_n, w_t = 1 / ca.fmax(W[0] + spring, 1e-300), 1 / ca.fmax(W[1] + W[2], 1e-300)
    return ca.vertcat(mu, w_n, w_t, least, spring, s.a, s.b, s.flat)


def update(v: SX, p: SX, contact: SX, c: SX, mu: SX) -> tuple[SX, SX]:
    """dp of (2), (3), and the square of what changed."""
    w_n, w_t = contact[W_N], contact[W_T]
    p_n = ca.fmax(p[0] - w_n * (v[0] + contact[SPRING] * p[0] - c), 0)  # (2)
    free = p[1:] - w_t * v[1:]
    length, reach = ca.norm_2(free), mu * p_n
    p_t = free * ca.if_else(length > reach, reach / ca.if_else(length > 0, length, 1), 1)  # (3)
    dp = ca.vertcat(p_n, p_t) - p
    return dp, ca.fmax((dp[0] / w_n) ** 2, ca.sumsqr(dp[1:] / w_t))


def travel(far: SX, V: SX, h: SX) -> SX:
    """How far the surfaces of a body go in a step: ends of long boxes move as they turn."""
    return h * (ca.norm_2(V[3:]) + ca.norm_2(V[:3]) * far)


def entered(s: Record) -> tuple[SX, SX]:
    """How far a body may come, and whether lists are too old for that."""
    far = 2 * travel(s.bodies[0], s.V, s.h)
    return ca.vertcat(s.bodies[1] + far, s.reaches[1]), ca.fmax(s.stale, s.reaches[1] + far > s.budgets)


def is_near(s: Record) -> tuple[SX, SX]:
    return s.gap <= s.reach[0] + s.reach_b[0], ca.fmin(s.gap, s.least)


def is_near_plane(s: Record) -> tuple[SX, SX]:
    """A half-space has no end: as its body turns, it comes the faster the further off the ball is."""
    turn = 2 * s.h * ca.norm_2(s.V_a[:3]) * ca.norm_2(s.center - s.pose[9:12])
    return s.gap <= s.reach[0] + s.reach_b[0] + turn, ca.fmin(s.gap, s.least)


def within(T_0: SX, T_1: SX, T_half: SX) -> SX:
    """x of method.py (11); the work is T_0 + b x + a x^2."""
    a = 2 * (T_1 + T_0 - 2 * T_half)
    b = T_1 - T_0 - a
    root = ca.sqrt(ca.fmax(b * b - 4 * a * T_0, 0))
    x = ca.if_else(a > 0, (root - b) / (2 * ca.if_else(a > 0, a, 1)), 0)
    return ca.fmin(ca.fmax(x, 0), 1)


class StepProgram(ABC):
    """The program of a system. Kernels read and write the current rows of streams in place.

    Args:
        system: what moves, without constraints that act one way.
        n: speeds of the largest block.
        first: numbers of a contact before those of MU ... PLACE.
        surfaces: whether contacts are found among surfaces.

    Attributes:
        walk: the streams that move on with each count.
        counts: those that a run gives.
    """

    pose: int
    """Numbers of a body's pose: R_GB by columns, its origin, and what the layout adds."""

    def __init__(self, system: System, n: int, first: int, surfaces: bool) -> None:
        self.system, self.n, self.surfaces = system, n, surfaces
        self.eq, self.tables = equations(system), dict[str, np.ndarray]()
        contacts = {"contacts": first + 10, "impulses": 3, "again": 3}
        blocks = dict.fromkeys(("U_before", "U_free", "U", "plastic", "shift"), n)
        widths = contacts | blocks | {"warm_start": 3, ROW + "t": 1, ROW + "y": self.eq.n}
        self.walk = {"capacity": [*contacts], "n_blocks": [*blocks]}
        self.counts = ["limit", "n_blocks", "capacity", "most_sweeps"]
        self.sizes = dict.fromkeys(SCALARS.split(), 1) | {
            "y": self.eq.n,
            "f": self.eq.n,
            "p": self.eq.parameters,
            "contact": first + 10,
            **dict.fromkeys(("before", "before_b", "free", "free_b", "u_a", "u_b"), n),
            **dict.fromkeys(("impulse", "nothing"), 3),
        }
        if surfaces:
            bodies = {"poses": self.pose, "V": 6, "reaches": 2, "budgets": 1, "bodies": 3}
            widths |= bodies | {"balls": 5, "centers": 3} | NARROW
            self.walk |= {"n_bodies": [*bodies], "n_balls": ["balls", "centers"]}
            self.counts += ["n_bodies", "n_balls", *(f"n_{kind}" for kind in NARROW)]
            self.sizes |= dict.fromkeys(("center", "center_b", "n", "P"), 3) | {
                "reach": 2,
                "reach_b": 2,
                "V_a": 6,
            }
            self.sizes |= {"pose": self.pose, "pose_b": self.pose}
        self.streams: dict[str, Stream] = {}
        self.widths: dict[str, int] = {}
        self.add_streams(widths)
        self.rhs = RightHandSide(self.eq, self.sizes, self.streams, self.tables)

    def add_streams(self, widths: dict[str, int], count: str = "") -> None:
        """More streams; they move on with a count."""
        self.widths |= widths
        self.streams |= {name: Stream(width) for name, width in widths.items()}
        if count:
            self.walk.setdefault(count, []).extend(widths)

    # ---- what a layout says --------------------------------------------------------------------------------

    @abstractmethod
    def enter(self) -> list[Node]:
        """Where bodies are, how fast with all forces and no contacts, method.py (6a), (6b); `stale` is set to
        zero, `bad` and `loose` to whether something is not finite, or (6a) is not solved."""

    @abstractmethod
    def met(self, kind: str) -> list[Node]:
        """contact <- that of a pair of a kind, with its gap, n and P."""

    @abstractmethod
    def relative(self, contact: SX, u_a: SX, u_b: SX) -> SX:
        """G_ka u_a + G_kb u_b."""

    def beside(self, contact: SX) -> Any:
        """What the velocity of a contact is beside that: what moves with time alone."""
        return 0

    @abstractmethod
    def pushed(self, contact: SX, dp: SX, u_a: SX, u_b: SX) -> tuple[SX, ...]:
        """(4)."""

    @abstractmethod
    def leave(self) -> list[Node]:
        """method.py (9), (9a)."""

    def described(self) -> list[Node]:
        """Contacts that are always checked, before those of the lists."""
        return []

    # ---- parts ---------------------------------------------------------------------------------------------

    def k(self, fn: object, ins: str, outs: str) -> Kernel:
        """outs <- fn(*ins)."""
        return kernel(fn, ins, outs, self.sizes | self.widths)  # type: ignore[arg-type]

    def named(self, fn: Callable[[Record], Any], ins: str, outs: str) -> Kernel:
        """outs <- fn(record of ins)."""
        return record_kernel(fn, ins, outs, self.sizes | self.widths, "kernel")

    def over(self, count: str, *body: Node) -> Node:
        """For bodies, blocks, balls."""
        return Scan(count, body, tuple(self.walk[count]))

    def each(self, *body: Node) -> Node:
        """For every contact; a and b are its blocks."""
        following = self.k(lambda c, i, m: (c[A], c[B], i + 1, i < m), "contacts i m", "a b i on")
        return [self.k(lambda: 0, "", "i"), self.over("capacity", following, If("on", body))]

    def both(self, table: str, a: str, b: str) -> list[Node]:
        return [Get(table, "a", a), Get(table, "b", b)]

    def put_both(self, table: str) -> list[Node]:
        return [Put("u_a", table, "a"), Put("u_b", table, "b")]

    def auxiliaries(self) -> list[Node]:
        """z <- z + h zdot."""
        if self.eq.n == self.eq.nq + self.eq.nu:
            return []
        self.add_streams({"z": 1, "zdot": 1}, "auxiliaries")
        self.counts.append("auxiliaries")
        return [self.over("auxiliaries", self.k(lambda z, zdot, h: z + h * zdot, "z zdot h", "z"))]

    def _clock(self) -> Node:
        def at(k: SX, count: SX, t_0: SX, step: SX, t_final: SX) -> tuple[SX, ...]:
            t, later = t_0 + k * step, ca.if_else(k + 1 >= count, t_final, t_0 + (k + 1) * step)
            return t, later, later - t

        return self.k(at, "k count t_0 step t_final", "t t_next h")

    def _found(self) -> list[Node]:
        """Contacts of the pairs that are listed."""
        if not self.surfaces:
            return []
        center = self.k(
            lambda ball, pose: pose[9:12] + ca.reshape(pose[:9], 3, 3) @ ball[1:4], "balls pose", "centers"
        )
        place = self.k(lambda ball: ball[0], "balls", "a")
        find: list[Node] = [self.over("n_balls", place, Get("poses", "a", "pose"), center)]
        for kind in NARROW:
            look: list[Node] = [Get("centers", "j", "center"), Get("poses", "a", "pose")]
            if kind == "pairs":
                look = [Get("centers", "i", "center"), Get("centers", "j", "center_b")]
                look.append(self.k(apart, f"center center_b {kind}", "gap n P"))
            elif kind == "given":
                look = [self.k(lambda row: (row[4], row[5:8], row[8:11]), kind, "gap n P")]
            else:
                look.append(self.k(plane if kind == "planes" else box, f"center pose {kind}", "gap n P"))
            near: list[Node] = [self.named(is_near, "gap reach reach_b least", "near least")]
            if kind == "planes":
                ins = "gap reach reach_b least V_a center pose h"
                near = [Get("V", "a", "V_a"), self.named(is_near_plane, ins, "near least")]
            ends = self.k(lambda row: (row[0], row[1], row[4], row[5]), kind, "a b i j")
            nodes = [
                ends,
                *look,
                *self.both("reaches", "reach", "reach_b"),
                *near,
                self.taken(self.met(kind)),
            ]
            find.append(Scan(f"n_{kind}", nodes, (kind,)))
        return find

    def taken(self, met: list[Node]) -> Node:
        """What `met` makes is a contact, if it is near."""
        taken: list[Node] = [
            *met,
            Put("contact", "contacts", "m"),
            Get("warm_start", "flat", "impulse"),
            Put("impulse", "impulses", "m"),
            self.k(lambda m: m + 1, "m", "m"),
        ]
        return [
            If("near", taken),
            Put("nothing", "warm_start", "flat"),
            self.k(lambda flat: flat + 1, "flat", "flat"),
        ]

    def _impulses(self) -> list[Node]:
        """(7), (8), (10)-(12) of method.py."""
        zero = self.each(self.k(lambda: ca.SX.zeros(3), "", "again"))
        warm: list[Node] = [
            *self.both("U", "u_a", "u_b"),
            self.k(self.pushed, "contacts impulses u_a u_b", "u_a u_b"),
            *self.put_both("U"),
        ]
        between = [
            self.over("n_blocks", self.k(lambda u: u, "U_free", "plastic")),
            zero,
            self._solve("plastic", "again", 1),
            self._work(between=True),
            self.k(within, "T_0 T_1 T_half", "x"),
            self.over("n_blocks", self.k(lambda x, high, low: low + x * (high - low), "x U plastic", "U")),
        ]
        keep: list[Node] = [
            self.k(lambda c, deep: (c[PLACE], ca.fmax(c[PUSH], deep)), "contacts deep", "flat deep"),
            self.k(lambda p: p, "impulses", "impulse"),
            Put("impulse", "warm_start", "flat"),
        ]
        return [
            self.each(*warm),
            self._solve("U", "impulses", 0),
            self.k(lambda: 0, "", "deep"),
            self.each(*keep),
            self._work(between=False),
            self.k(lambda T, soft: (T > 0) * (1 - soft), "T_1 soft", "grows"),
            If("grows", between),
            If("deep", [zero, self._solve("shift", "again", 2)]),
        ]

    def _solve(self, U: str, p: str, mode: int) -> Node:
        """(1)-(4); modes are the three c, overlaps are taken back without friction."""

        def swept(mode: int, contact: SX, p: SX, u_a: SX, u_b: SX, most: SX) -> tuple[SX, ...]:
            moving, mu = (0, ca.SX(0)) if mode == 2 else (self.beside(contact), contact[MU])
            v = self.relative(contact, u_a, u_b) + moving  # (1)
            dp, changed = update(v, p, contact, contact[FIRST + mode], mu)  # (2), (3)
            return p + dp, *self.pushed(contact, dp, u_a, u_b), ca.fmax(most, changed)  # (4)

        one: list[Node] = [
            *self.both(U, "u_a", "u_b"),
            self.k(partial(swept, mode), f"contacts {p} u_a u_b most", f"{p} u_a u_b most"),
            *self.put_both(U),
        ]
        ends = self.k(
            lambda most, tolerance, done, sweeps, total: (
                (most > tolerance * tolerance) * (done + 1 < sweeps),
                done + 1,
                total + 1,
            ),
            "most tolerance done sweeps total",
            "busy done total",
        )
        return [
            self.k(lambda: (0, 1), "", "done busy"),
            While("busy", [self.k(lambda: 0, "", "most"), self.each(*one), ends], "most_sweeps"),
        ]

    def _work(self, between: bool) -> list[Node]:
        """The work T_1 of the contacts, method.py (11): constraints and joints that move with time do theirs
        beside it. Between: also T_0 of u_0, and T_half of halfway."""

        def work(s: Record, p: SX, u_a: SX, u_b: SX) -> SX:
            v = self.relative(s.contacts, s.free + u_a, s.free_b + u_b) / 2 + self.beside(s.contacts)
            return ca.dot(p, v)

        def works(s: Record) -> tuple[SX, ...]:
            both = (s.impulses, s.u_a, s.u_b), (s.again, s.before, s.before_b)
            half = [(x + y) / 2 for x, y in zip(*both, strict=True)]
            return s.T_1 + work(s, *both[0]), s.T_0 + work(s, *both[1]), s.T_half + work(s, *half)

        ins = "contacts impulses free free_b u_a u_b T_1"
        sums = self.named(lambda s: s.T_1 + work(s, s.impulses, s.u_a, s.u_b), ins, "T_1")
        nodes = [*self.both("U_free", "free", "free_b"), *self.both("U", "u_a", "u_b")]
        if between:
            nodes += self.both("plastic", "before", "before_b")
            sums = self.named(works, f"{ins} again before before_b T_0 T_half", "T_1 T_0 T_half")
        return [self.k(lambda: (0, 0, 0), "", "T_1 T_0 T_half"), self.each(*nodes, sums)]

    def _record(self) -> list[Node]:
        count = self.k(
            lambda k, count, every, bad, loose, loosened: (
                k + 1,
                (bad == 0) * ca.logic_or(ca.fmod(k + 1, every) == 0, k + 1 >= count),
                loosened + (loose > 0),
            ),
            "k count every bad loose loosened",
            "k record loosened",
        )
        following = self.k(lambda row: row + 1, "row", "row")
        return [count, If("record", [Put("t_next", ROW + "t", "row"), Put("y", ROW + "y", "row"), following])]

    def build(self) -> ProgramAndTables:
        """The program and its tables."""
        enter = self.enter()
        if self.surfaces:
            ins = "V bodies h reaches budgets stale"
            enter.append(self.over("n_bodies", self.named(entered, ins, "reaches stale")))
        step: list[Node] = [
            self.k(lambda: (0, 0, np.inf), "", "m flat least"),
            *self.described(),
            *self._found(),
            If("m", self._impulses()),
            *self.leave(),
            *self._record(),
        ]
        body: list[Node] = [
            self._clock(),
            self.rhs("t", "y", "f"),
            *enter,
            self.k(lambda stale, bad: stale + bad == 0, "stale bad", "going"),
            If("going", step),
            self.k(
                lambda k, until, stale, bad: (k < until) * (stale == 0) * (bad == 0),
                "k until stale bad",
                "busy",
            ),
        ]
        whole = [self.k(lambda: 1, "", "busy"), While("busy", body, "limit")]
        return Program(whole, self.sizes, streams=self.streams, counts=self.counts), self.tables
