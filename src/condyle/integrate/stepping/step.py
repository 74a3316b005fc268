"""A step of a crowd of free bodies as one native program: forces, who touches, impulses, where they go.

Each body has the velocity v of its center of mass and w, in ground, the mass m and the inertia I about that
center, so that a contact at P with directions D = (n, t_1, t_2), arms r = P - x, needs no matrix:

    v_rel = D (v_b + w_b x r_b - v_a - w_a x r_a)                                                          (5)
    an impulse p:   v_b += D' p / m_b,   w_b += I_b^-1 (r_b x D' p),   and less of a

Python lists pairs that may come near (crowd.py), each body with what it may travel until then; the program
takes steps until a body has used that up, or all are done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import casadi as ca
import numpy as np

from condyle.contact.surfaces import tangents
from condyle.integrate.equations import RightHandSide, equations
from condyle.integrate.stepping.closest_points import NARROW, apart, box, plane, symmetric
from condyle.integrate.stepping.sweeps import least_velocities, update
from condyle.native.programs.nodes import Get, If, Kernel, Node, Put, Scan, Stream, While, kernel
from condyle.native.programs.program import Program, ProgramAndTables
from condyle.system.system import System

BODY = 18
"""Numbers of a body: 1 / m, center of mass (3), inertia and its inverse (6 each), its reach from the origin
and the room around it."""
POSE = 15
"""R_GB by columns, its origin, its center of mass."""
CONTACT = 38
"""D by rows, both arms, mu, w_n, w_t, three c: with restitution, without, of overlaps; 1 / m and the
inverse of the inertia of a and of b; who they are, a, b; the place of the pair in the list."""

NEWTON = 4
"""Steps of Newton's method for (6a): rounding is left where a body turns by less than 1 rad in a step."""
LOOSE = 1e-6
"""What may be left of (6a), relative to the speeds."""

_ONE = """t t_next h k count until t_0 step t_final every row stale bad busy going m i j on a b s most done
    sweeps total tolerance soft stiffness damping correction slop least near gap T_0 T_1 T_half T_free grows
    deep x record flat loose loosened"""
_SIZES = {
    "pose": POSE,
    "pose_b": POSE,
    "in_a": 7,
    "in_b": 7,
    "before": 6,
    "before_b": 6,
    "free": 6,
    "free_b": 6,
    "u_a": 6,
    "u_b": 6,
    "reach": 2,
    "reach_b": 2,
    "center": 3,
    "center_b": 3,
    "n": 3,
    "P": 3,
    "impulse": 3,
    "nothing": 3,
    "contact": CONTACT,
    "number": 1,
}
_BODIES = {
    "bodies": BODY,
    "poses": POSE,
    "inertias": 7,
    "U_before": 6,
    "U_free": 6,
    "U": 6,
    "plastic": 6,
    "shift": 6,
    "reaches": 2,
    "budgets": 1,
    "Q": 7,
    "V": 6,
    "A": 6,
}
_CONTACTS = {"contacts": CONTACT, "impulses": 3, "again": 3}
_STREAMS = _BODIES | _CONTACTS | {"balls": 5, "centers": 3, "W": 3} | NARROW
_WALK = {"n_bodies": _BODIES, "n_balls": ("balls", "centers"), "capacity": _CONTACTS}
"""What moves on with each count."""


# ---- kernels -----------------------------------------------------------------------------------------------


def _rotation(q: ca.SX) -> ca.SX:
    w, x, y, z = (q[i] for i in range(4))
    return ca.vertcat(
        ca.horzcat(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        ca.horzcat(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        ca.horzcat(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def _bias(R: ca.SX, c: ca.SX, body: ca.SX, w: ca.SX) -> ca.SX:
    """b of method.py (6a): accelerations of a body that nothing pushes, from its angular velocity."""
    W = R.T @ w
    turn = -R @ (symmetric(body[10:16]) @ ca.cross(W, symmetric(body[4:10]) @ W))
    return ca.vertcat(turn, -ca.cross(turn, c) - ca.cross(w, ca.cross(w, c)))


def _implicit(R: ca.SX, c: ca.SX, body: ca.SX, u: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
    """u_s of (6a) by Newton's method for its angular velocity, and whether that failed: then u_s = u."""
    x = W = R.T @ u[:3]
    inertia, inverse = symmetric(body[4:10]), symmetric(body[10:16])
    for _ in range(NEWTON):
        L = inertia @ x
        slope = ca.SX.eye(3) + h / 2 * inverse @ (ca.skew(x) @ inertia - ca.skew(L))
        r, (a, b, d) = x - W + h / 2 * inverse @ ca.cross(x, L), ca.horzsplit(slope)
        det = ca.dot(a, ca.cross(b, d))
        x = (
            x
            - ca.vertcat(ca.dot(r, ca.cross(b, d)), ca.dot(a, ca.cross(r, d)), ca.dot(a, ca.cross(b, r)))
            / det
        )
    left = x - W + h / 2 * inverse @ ca.cross(x, inertia @ x)
    fails = 1 - (ca.sumsqr(left) <= LOOSE**2 * ca.sumsqr(W))
    w = R @ ca.if_else(fails, W, x)
    return u + ca.if_else(fails, 0, h / 2) * _bias(R, c, body, w), fails


def _enter(
    q: ca.SX,
    u: ca.SX,
    udot: ca.SX,
    body: ca.SX,
    h: ca.SX,
    reach: ca.SX,
    budget: ca.SX,
    stale: ca.SX,
    bad: ca.SX,
    loose: ca.SX,
) -> tuple[ca.SX, ...]:
    R = _rotation(q)
    c = R @ body[1:4]
    J = R @ symmetric(body[10:16]) @ R.T
    inverse = ca.vertcat(body[0], J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    u_s, fails = _implicit(R, c, body, u, h)  # (6a)
    later = u_s + h * (udot - _bias(R, c, body, u[:3]))  # (6b)
    at_com = lambda v: ca.vertcat(v[:3], v[3:] + ca.cross(v[:3], c))
    travel = h * (ca.norm_2(u[3:]) + ca.norm_2(u[:3]) * body[16])  # ends of long boxes move as they turn
    size = ca.sum1(ca.fabs(later))
    return (
        ca.vertcat(ca.vec(R), q[4:], q[4:] + c),
        inverse,
        at_com(2 * u - u_s),
        at_com(later),
        at_com(later),
        ca.SX.zeros(6),
        ca.vertcat(body[17] + 2 * travel, reach[1]),
        ca.fmax(stale, reach[1] + 2 * travel > budget),
        ca.fmax(bad, 1 - (size < np.inf)),
        ca.fmax(loose, fails),
    )


def center_of(ball: ca.SX, pose: ca.SX) -> ca.SX:
    return pose[9:12] + ca.reshape(pose[:9], 3, 3) @ ball[1:4]


def is_near(gap: ca.SX, reach_a: ca.SX, reach_b: ca.SX, least: ca.SX) -> tuple[ca.SX, ca.SX]:
    return gap <= reach_a[0] + reach_b[0], ca.fmin(gap, least)


def is_near_plane(
    gap: ca.SX, reach_a: ca.SX, reach_b: ca.SX, least: ca.SX, u: ca.SX, c: ca.SX, pose: ca.SX, h: ca.SX
) -> tuple[ca.SX, ca.SX]:
    """A half-space has no end: as its body turns, it comes the faster the further off the ball is."""
    turn = 2 * h * ca.norm_2(u[:3]) * ca.norm_2(c - pose[9:12])
    return gap <= reach_a[0] + reach_b[0] + turn, ca.fmin(gap, least)


def _response(r: ca.SX, inertia: ca.SX, d: ca.SX) -> ca.SX:
    """Velocity along d by a unit impulse along d."""
    turn = ca.cross(r, d)
    return inertia[0] + ca.dot(turn, symmetric(inertia[1:]) @ turn)


def _meet(
    row: ca.SX,
    gap: ca.SX,
    n: ca.SX,
    P: ca.SX,
    pose_a: ca.SX,
    pose_b: ca.SX,
    in_a: ca.SX,
    in_b: ca.SX,
    before_a: ca.SX,
    before_b: ca.SX,
    free_a: ca.SX,
    free_b: ca.SX,
    h: ca.SX,
    place: ca.SX,
    soft: ca.SX,
    k: ca.SX,
    d: ca.SX,
    correction: ca.SX,
    slop: ca.SX,
) -> tuple[ca.SX, ca.SX]:
    a, b, e, mu = (row[i] for i in range(4))
    t_1, t_2 = tangents(n)
    r_a, r_b = P - pose_a[12:], P - pose_b[12:]
    rate = lambda x, y: ca.dot(n, y[3:] + ca.cross(y[:3], r_b) - x[3:] - ca.cross(x[:3], r_a))
    v, v_free = rate(before_a, before_b), rate(free_a, free_b)
    first, hard, push, s = least_velocities(gap, v, v_free, e, h, soft, k, d, correction, slop)
    W = [_response(r_a, in_a, x) + _response(r_b, in_b, x) for x in (n, t_1, t_2)]
    w_n, w_t = 1 / ca.fmax(W[0] + s, 1e-300), 1 / ca.fmax(W[1] + W[2], 1e-300)
    return ca.vertcat(n, t_1, t_2, r_a, r_b, mu, w_n, w_t, first, hard, push, in_a, in_b, a, b, place), s


def _pushed(contact: ca.SX, dp: ca.SX, u_a: ca.SX, u_b: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Speeds after an impulse."""
    p = contact[0:3] * dp[0] + contact[3:6] * dp[1] + contact[6:9] * dp[2]
    turn = lambda r, x: symmetric(x[1:]) @ ca.cross(r, p)
    in_a, in_b = contact[21:28], contact[28:35]
    return (
        u_a - ca.vertcat(turn(contact[9:12], in_a), in_a[0] * p),
        u_b + ca.vertcat(turn(contact[12:15], in_b), in_b[0] * p),
    )


def _update(
    mode: int, contact: ca.SX, p: ca.SX, u_a: ca.SX, u_b: ca.SX, most: ca.SX, s: ca.SX
) -> tuple[ca.SX, ...]:
    """sweeps.py (1)-(4); modes are the three c, overlaps are taken back without friction. `most` is the
    square of what changed."""
    mu, w_n, w_t, c = ca.SX(0) if mode == 2 else contact[15], contact[16], contact[17], contact[18 + mode]
    rel = u_b[3:] + ca.cross(u_b[:3], contact[12:15]) - u_a[3:] - ca.cross(u_a[:3], contact[9:12])
    v = [ca.dot(contact[3 * i : 3 * i + 3], rel) for i in range(3)]  # (1)
    dp, changed = update(ca.vertcat(*v), p, c, mu, w_n, w_t, s)  # (2), (3)
    u_a, u_b = _pushed(contact, dp, u_a, u_b)  # (4)
    return p + dp, u_a, u_b, ca.fmax(most, changed)


def _energies(
    free: ca.SX, high: ca.SX, low: ca.SX, pose: ca.SX, body: ca.SX, *sums: ca.SX
) -> tuple[ca.SX, ...]:
    """Kinetic energies are added to their sums, T(1/2) last."""
    R, inertia = ca.reshape(pose[:9], 3, 3), symmetric(body[4:10])

    def T(u: ca.SX) -> ca.SX:
        w = R.T @ u[:3]
        return (ca.dot(w, inertia @ w) + ca.sumsqr(u[3:]) / body[0]) / 2

    return tuple(s + T(u) for s, u in zip(sums, (free, high, low, (low + high) / 2), strict=True))


def _within(most: ca.SX, T_0: ca.SX, T_1: ca.SX, T_half: ca.SX) -> ca.SX:
    """x of (11); T(x) = T_0 + b x + a x^2."""
    a = 2 * (T_1 + T_0 - 2 * T_half)
    b = T_1 - T_0 - a
    root = ca.sqrt(ca.fmax(b * b - 4 * a * (T_0 - most), 0))
    x = ca.if_else(a > 0, (root - b) / (2 * ca.if_else(a > 0, a, 1)), 0)
    return ca.fmin(ca.fmax(x, 0), 1)


def _leave(
    q: ca.SX, u: ca.SX, shift: ca.SX, pose: ca.SX, body: ca.SX, reach: ca.SX, h: ca.SX, bad: ca.SX
) -> tuple[ca.SX, ...]:
    c = pose[12:] - pose[9:12]
    at_origin = lambda v: ca.vertcat(v[:3], v[3:] - ca.cross(v[:3], c))
    u, move = at_origin(u), at_origin(u + shift)
    e, w = q[:4], move[:3]
    rate = ca.vertcat(-ca.dot(w, e[1:]), e[0] * w + ca.cross(w, e[1:])) / 2
    e = e + h * rate
    e = e / ca.sqrt(ca.sumsqr(e))
    q = ca.vertcat(e, q[4:] + h * move[3:])  # (9)
    R = _rotation(q)
    b = _bias(R, R @ body[1:4], body, u[:3])
    calm = h**2 * ca.sumsqr(b[:3]) <= 4 * ca.sumsqr(u[:3])
    u = u + ca.if_else(calm, h / 2, 0) * b  # (9a)
    spent = reach[1] + h * (ca.norm_2(move[3:]) + ca.norm_2(w) * body[16])
    size = ca.sum1(ca.fabs(q)) + ca.sum1(ca.fabs(u))
    return (q, u, ca.vertcat(reach[0], spent), ca.fmax(bad, 1 - (size < np.inf)))


# ---- the program -------------------------------------------------------------------------------------------


class StepTree:
    """Parts of the program. Kernels read and write the current rows of streams in place.

    Attributes:
        blocks: how many rows U has.
        velocity: where a body's is, and the slice for it.
        push: where a contact has its c of overlaps.
    """

    blocks, velocity = "n_bodies", ("U_before", "before")
    walk: Mapping[str, Iterable[str]] = _WALK

    def __init__(self, sizes: dict[str, int]) -> None:
        self.sizes = sizes
        self.zero = self.k(lambda: ca.SX.zeros(3), "", "again")
        self.next = self.k(
            lambda contact, i, m: (contact[-3], contact[-2], i + 1, i < m), "contacts i m", "a b i on"
        )

    def k(self, fn: object, ins: str, outs: str) -> Kernel:
        return kernel(fn, ins, outs, self.sizes)  # type: ignore[arg-type]

    def over(self, count: str, *body: Node) -> Node:
        """For bodies, balls."""
        return Scan(count, body, tuple(self.walk[count]))

    def each(self, *body: Node) -> Node:
        """For every contact; a and b are its bodies."""
        return [self.k(lambda: 0, "", "i"), self.over("capacity", self.next, If("on", body))]

    def moved(self, places: str, source: str, target: str, back: bool = False) -> Node:
        """Numbers from where they are to where they belong."""
        ends = self.k(lambda w: (w[1], w[0]) if back else (w[0], w[1]), places, "a b")
        return Scan(
            "rated" if places == "rates" else "moved",
            [ends, Get(source, "a", "number"), Put("number", target, "b")],
            (places,),
        )

    def clock(self) -> Node:
        def at(k: ca.SX, count: ca.SX, t_0: ca.SX, step: ca.SX, t_final: ca.SX) -> tuple[ca.SX, ...]:
            t, later = t_0 + k * step, ca.if_else(k + 1 >= count, t_final, t_0 + (k + 1) * step)
            return t, later, later - t

        return self.k(at, "k count t_0 step t_final", "t t_next h")

    def enter(self) -> list[Node]:
        """Where bodies are, how fast with all forces and no contacts, (6b), and how far they may come."""
        return [
            self.k(lambda: (0, 0, 0), "", "stale bad loose"),
            self.over(
                "n_bodies",
                self.k(
                    _enter,
                    "Q V A bodies h reaches budgets stale bad loose",
                    "poses inertias U_before U_free U shift reaches stale bad loose",
                ),
            ),
            self.k(lambda stale, bad: stale + bad == 0, "stale bad", "going"),
        ]

    def contacts(self) -> list[Node]:
        """Who touches, and impulses: (7), (8), (10)-(12)."""
        return [self.k(lambda: (0, 0, np.inf), "", "m flat least"), *self.found(), If("m", self._impulses())]

    def both(self, table: str, a: str, b: str) -> list[Node]:
        return [Get(table, "a", a), Get(table, "b", b)]

    def found(self) -> list[Node]:
        """Contacts of the pairs that are listed."""
        center: list[Node] = [
            self.k(lambda b: b[0], "balls", "a"),
            Get("poses", "a", "pose"),
            self.k(center_of, "balls pose", "centers"),
        ]
        find: list[Node] = [self.over("n_balls", *center)]
        for kind in NARROW:
            look: list[Node]
            if kind == "pairs":
                look = [
                    Get("centers", "i", "center"),
                    Get("centers", "j", "center_b"),
                    self.k(apart, f"center center_b {kind}", "gap n P"),
                ]
            elif kind != "given":
                look = [
                    Get("centers", "j", "center"),
                    Get("poses", "a", "pose"),
                    self.k(plane if kind == "planes" else box, f"center pose {kind}", "gap n P"),
                ]
            else:
                look = [self.k(lambda r: (r[4], r[5:8], r[8:11]), kind, "gap n P")]
            find.append(
                Scan(
                    f"n_{kind}",
                    [
                        self.k(lambda r: (r[0], r[1], r[4], r[5]), kind, "a b i j"),
                        *look,
                        *self.both("reaches", "reach", "reach_b"),
                        *([Get(self.velocity[0], "a", self.velocity[1])] if kind == "planes" else []),
                        self.k(
                            is_near if kind != "planes" else is_near_plane,
                            "gap reach reach_b least"
                            + (f" {self.velocity[1]} center pose h" if kind == "planes" else ""),
                            "near least",
                        ),
                        self.taken(*self.met(kind)),
                    ],
                    (kind,),
                )
            )
        return find

    def taken(self, *met: Node) -> Node:
        """What `met` makes is a contact, if it is near."""
        return [
            If(
                "near",
                [
                    *met,
                    Put("contact", "contacts", "m"),
                    Get("W", "flat", "impulse"),
                    Put("impulse", "impulses", "m"),
                    self.k(lambda m: m + 1, "m", "m"),
                ],
            ),
            Put("nothing", "W", "flat"),
            self.k(lambda flat: flat + 1, "flat", "flat"),
        ]

    def met(self, kind: str) -> list[Node]:
        """contact <- that of a pair."""
        both = self.both
        return [
            *both("poses", "pose", "pose_b"),
            *both("inertias", "in_a", "in_b"),
            *both("U_before", "before", "before_b"),
            *both("U_free", "free", "free_b"),
            self.k(
                _meet,
                f"{kind} gap n P pose pose_b in_a in_b before before_b free free_b h flat "
                "soft stiffness damping correction slop",
                "contact s",
            ),
        ]

    pushed, push = staticmethod(_pushed), 20

    def updated(self, mode: int) -> tuple[Callable[..., tuple[ca.SX, ...]], str]:
        """A kernel of sweeps.py (1)-(4), and what it reads at last."""
        return partial(_update, mode), "s"

    def energy(self, between: bool) -> list[Node]:
        """Adds to T_free, and to T_1 of u+, for (11); between: to T_0 of u_0 and T_half of halfway too."""
        sums = "T_free T_1 T_0 T_half"
        return [self.over("n_bodies", self.k(_energies, f"U_free U plastic poses bodies {sums}", sums))]

    def _impulses(self) -> list[Node]:
        pair = lambda U: [Get(U, "a", "u_a"), Get(U, "b", "u_b")]
        warm: list[Node] = [
            *pair("U"),
            self.k(self.pushed, "contacts impulses u_a u_b", "u_a u_b"),
            Put("u_a", "U", "a"),
            Put("u_b", "U", "b"),
        ]
        none = self.k(lambda: (0, 0, 0, 0), "", "T_free T_1 T_0 T_half")
        energy, energies = ([none, *self.energy(between)] for between in (False, True))
        between = [
            self.over(self.blocks, self.k(lambda u: u, "U_free", "plastic")),
            self.each(self.zero),
            self._solve("plastic", "again", 1),
            energies,
            self.k(_within, "T_free T_0 T_1 T_half", "x"),
            self.over(self.blocks, self.k(lambda x, high, low: low + x * (high - low), "x U plastic", "U")),
        ]
        keep: list[Node] = [
            self.k(lambda c, deep: (c[-1], ca.fmax(c[self.push], deep)), "contacts deep", "flat deep"),
            self.k(lambda p: p, "impulses", "impulse"),
            Put("impulse", "W", "flat"),
        ]
        return [
            self.each(*warm),
            self._solve("U", "impulses", 0),
            self.k(lambda: 0, "", "deep"),
            self.each(*keep),
            energy,
            self.k(lambda T, most, soft: (most < T) * (1 - soft), "T_1 T_free soft", "grows"),
            If("grows", between),
            If("deep", [self.each(self.zero), self._solve("shift", "again", 2)]),
        ]

    def _solve(self, U: str, p: str, mode: int) -> Node:
        """sweeps.py (1)-(4)."""
        update, more = self.updated(mode)
        one: list[Node] = [
            Get(U, "a", "u_a"),
            Get(U, "b", "u_b"),
            self.k(update, f"contacts {p} u_a u_b most {more}", f"{p} u_a u_b most"),
            Put("u_a", U, "a"),
            Put("u_b", U, "b"),
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

    def leave(self) -> Node:
        """(9), with quaternions of unit length."""
        return self.over(
            "n_bodies", self.k(_leave, "Q U shift poses bodies reaches h bad", "Q V reaches bad")
        )

    def record(self) -> list[Node]:
        count = self.k(
            lambda k, count, every, bad, loose, loosened: (
                k + 1,
                (bad == 0) * ca.logic_or(ca.fmod(k + 1, every) == 0, k + 1 >= count),
                loosened + (loose > 0),
            ),
            "k count every bad loose loosened",
            "k record loosened",
        )
        return [
            count,
            If(
                "record",
                [Put("t_next", "T", "row"), Put("y", "Y", "row"), self.k(lambda row: row + 1, "row", "row")],
            ),
        ]


def build(system: System, gathers: bool) -> ProgramAndTables:
    """The program.

    Args:
        system: of free bodies.
        gathers: some bodies only translate, so that coordinates are not rows of seven.
    """
    eq = equations(system)
    n, nz = eq.n, eq.n - eq.nq - eq.nu
    sizes = dict.fromkeys(_ONE.split(), 1) | _SIZES | {"y": n, "f": n, "p": eq.parameters}
    streams = {name: Stream(size) for name, size in _STREAMS.items()} | {"T": Stream(1), "Y": Stream(n)}
    tables: dict[str, np.ndarray] = {}
    rhs = RightHandSide(eq, sizes, streams, tables)
    tree = StepTree(sizes | _STREAMS | dict.fromkeys(("z", "zdot"), 1) | {"places": 2, "rates": 2})
    gather: list[Node] = []
    scatter: list[Node] = []
    if gathers:
        streams |= {name: Stream(1) for name in ("y_flat", "f_flat", "padded")} | {
            "places": Stream(2),
            "rates": Stream(2),
        }
        gather = [tree.moved("places", "y_flat", "padded"), tree.moved("rates", "f_flat", "padded")]
        scatter = [tree.moved("places", "padded", "y_flat", back=True)]
    z: list[Node] = []
    if nz:
        streams |= {"z": Stream(1), "zdot": Stream(1)}
        z = [Scan("auxiliaries", tree.k(lambda z, zdot, h: z + h * zdot, "z zdot h", "z"), ("z", "zdot"))]
    step: list[Node] = [*tree.contacts(), tree.leave(), *scatter, *z, *tree.record()]
    body: list[Node] = [
        tree.clock(),
        rhs("t", "y", "f"),
        *gather,
        *tree.enter(),
        If("going", step),
        tree.k(
            lambda k, until, stale, bad: (k < until) * (stale == 0) * (bad == 0), "k until stale bad", "busy"
        ),
    ]
    whole = [tree.k(lambda: 1, "", "busy"), While("busy", body, "limit")]
    counts = ["limit", "n_bodies", "n_balls", "capacity", "most_sweeps", *(f"n_{kind}" for kind in NARROW)]
    counts += ["moved", "rated"] * gathers + ["auxiliaries"] * bool(nz)
    return Program(whole, sizes, streams=streams, counts=counts), tables
