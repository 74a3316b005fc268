"""Time stepping of bodies that are free or only translate, each by itself.

Each body has the velocity v of its center of mass and w, in ground, the mass m and the inertia I about that
center, so that a contact at P with directions D = (n, t_1, t_2), arms r = P - x, needs no matrix:

    v_rel = D (v_b + w_b x r_b - v_a - w_a x r_a)                                                          (5)
    an impulse p:   v_b += D' p / m_b,   w_b += I_b^-1 (r_b x D' p),   and less of a
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.contact.surfaces import tangents
from condyle.errors import DescriptionError
from condyle.integrate.stepping.crowd import Crowd
from condyle.integrate.stepping.program import METHOD, Record, StepProgram, sweep_numbers, travel
from condyle.integrate.stepping.run import SteppingRun
from condyle.mobilizers import Free, Translation
from condyle.native.programs.nodes import Node
from condyle.spatial.quaternions import rotation_from_quaternion
from condyle.system.state import State
from condyle.system.system import System

if TYPE_CHECKING:
    from condyle.integrate.stepping.method import TimeStepping

NEWTON = 4
"""Steps of Newton's method for method.py (6a): rounding is left where a body turns by less than 1 rad in a
step."""
LOOSE = 1e-6
"""What may be left of (6a), relative to the speeds."""


def symmetric(x: SX) -> SX:
    """Of xx, yy, zz, xy, xz, yz."""
    return ca.vertcat(
        ca.horzcat(x[0], x[3], x[4]), ca.horzcat(x[3], x[1], x[5]), ca.horzcat(x[4], x[5], x[2])
    )


def _rotation(q: SX) -> SX:
    w, x, y, z = (q[i] for i in range(4))
    return ca.vertcat(
        ca.horzcat(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        ca.horzcat(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        ca.horzcat(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def _bias(R: SX, c: SX, mass: SX, w: SX) -> SX:
    """b of method.py (6a): accelerations of a body that nothing pushes, from its angular velocity."""
    W = R.T @ w
    turn = -R @ (symmetric(mass[10:16]) @ ca.cross(W, symmetric(mass[4:10]) @ W))
    return ca.vertcat(turn, -ca.cross(turn, c) - ca.cross(w, ca.cross(w, c)))


def _implicit(R: SX, c: SX, mass: SX, u: SX, h: SX) -> tuple[SX, SX]:
    """u_s of (6a) by Newton's method for its angular velocity, and whether that failed: then u_s = u."""
    x = W = R.T @ u[:3]
    inertia, inverse = symmetric(mass[4:10]), symmetric(mass[10:16])
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
    return u + ca.if_else(fails, 0, h / 2) * _bias(R, c, mass, w), fails


def _enter(s: Record) -> tuple[SX, ...]:
    R = _rotation(s.Q)
    c = R @ s.masses[1:4]
    J = R @ symmetric(s.masses[10:16]) @ R.T
    inverse = ca.vertcat(s.masses[0], J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    u_s, fails = _implicit(R, c, s.masses, s.V, s.h)  # (6a)
    later = u_s + s.h * (s.A - _bias(R, c, s.masses, s.V[:3]))  # (6b)
    at_com = lambda v: ca.vertcat(v[:3], v[3:] + ca.cross(v[:3], c))
    return (
        ca.vertcat(ca.vec(R), s.Q[4:], s.Q[4:] + c),
        inverse,
        at_com(2 * s.V - u_s),
        at_com(later),
        at_com(later),
        ca.SX.zeros(6),
        ca.fmax(s.bad, 1 - (ca.sum1(ca.fabs(later)) < np.inf)),
        ca.fmax(s.loose, fails),
    )


def _leave(s: Record) -> tuple[SX, ...]:
    c = s.poses[12:] - s.poses[9:12]
    at_origin = lambda v: ca.vertcat(v[:3], v[3:] - ca.cross(v[:3], c))
    u, move = at_origin(s.U), at_origin(s.U + s.shift)
    e, w = s.Q[:4], move[:3]
    rate = ca.vertcat(-ca.dot(w, e[1:]), e[0] * w + ca.cross(w, e[1:])) / 2
    e = e + s.h * rate
    e = e / ca.sqrt(ca.sumsqr(e))
    q = ca.vertcat(e, s.Q[4:] + s.h * move[3:])  # (9)
    R = _rotation(q)
    b = _bias(R, R @ s.masses[1:4], s.masses, u[:3])
    calm = s.h**2 * ca.sumsqr(b[:3]) <= 4 * ca.sumsqr(u[:3])
    u = u + ca.if_else(calm, s.h / 2, 0) * b  # (9a)
    spent = s.reaches[1] + travel(s.bodies[0], move, s.h)
    size = ca.sum1(ca.fabs(q)) + ca.sum1(ca.fabs(u))
    return q, u, ca.vertcat(s.reaches[0], spent), ca.fmax(s.bad, 1 - (size < np.inf))


def _meet(s: Record) -> SX:
    directions = (s.n, *tangents(s.n))
    r_a, r_b = s.P - s.pose[12:], s.P - s.pose_b[12:]

    def response(r: SX, mass: SX, d: SX) -> SX:
        """Velocity along d by a unit impulse along d."""
        turn = ca.cross(r, d)
        return mass[0] + ca.dot(turn, symmetric(mass[1:]) @ turn)

    rate = lambda x, y: ca.dot(s.n, y[3:] + ca.cross(y[:3], r_b) - x[3:] - ca.cross(x[:3], r_a))
    W = [response(r_a, s.in_a, d) + response(r_b, s.in_b, d) for d in directions]
    v, v_free = rate(s.before, s.before_b), rate(s.free, s.free_b)
    return ca.vertcat(*directions, r_a, r_b, s.in_a, s.in_b, sweep_numbers(s, v, v_free, (s.e, s.mu), W))


class FreeBodies(StepProgram):
    """The layout of free bodies, each a block. A contact has D by rows, both arms, 1 / m and the inverse of the
    inertia of a and of b.

    Args:
        system: of bodies that are free or only translate.
        gathers: some only translate, so that coordinates are not rows of seven.
    """

    pose = 15  # with the center of mass

    def __init__(self, system: System, gathers: bool) -> None:
        super().__init__(system, 6, 29, surfaces=True)
        self.gathers = gathers
        self.add_streams({"Q": 7, "A": 6, "masses": 16, "inertias": 7}, "n_bodies")
        self.walk["n_bodies"] += ["U_before", "U_free", "U", "shift"]
        self.sizes |= {"in_a": 7, "in_b": 7, "e": 1, "mu": 1}
        if gathers:
            self.sizes |= {"padded": 19 * len(system.bodies)}

    def enter(self) -> list[Node]:
        gather = []
        if self.gathers:
            x, source, target = places(self.system)

            def padded(y: SX, f: SX) -> SX:
                out = ca.SX(ca.DM(x))
                out[target.tolist()] = ca.vertcat(y, f)[source.tolist()]
                return out

            gather = [self.k(padded, "y f", "padded")]
        each = self.named(
            _enter, "Q V A masses h bad loose", "poses inertias U_before U_free U shift bad loose"
        )
        return [*gather, self.k(lambda: (0, 0, 0), "", "stale bad loose"), self.over("n_bodies", each)]

    def met(self, kind: str) -> list[Node]:
        names = "n P pose pose_b in_a in_b before before_b free free_b e mu"
        return [
            *self.both("poses", "pose", "pose_b"),
            *self.both("inertias", "in_a", "in_b"),
            *self.both("U_before", "before", "before_b"),
            *self.both("U_free", "free", "free_b"),
            self.k(lambda row: (row[2], row[3]), kind, "e mu"),
            self.named(_meet, f"{names} {METHOD}", "contact"),
        ]

    def relative(self, contact: SX, u_a: SX, u_b: SX) -> SX:
        v = u_b[3:] + ca.cross(u_b[:3], contact[12:15]) - u_a[3:] - ca.cross(u_a[:3], contact[9:12])
        return ca.vertcat(*(ca.dot(contact[3 * i : 3 * i + 3], v) for i in range(3)))

    def pushed(self, contact: SX, dp: SX, u_a: SX, u_b: SX) -> tuple[SX, ...]:
        p = contact[0:3] * dp[0] + contact[3:6] * dp[1] + contact[6:9] * dp[2]
        turn = lambda r, x: symmetric(x[1:]) @ ca.cross(r, p)
        in_a, in_b = contact[15:22], contact[22:29]
        return (
            u_a - ca.vertcat(turn(contact[9:12], in_a), in_a[0] * p),
            u_b + ca.vertcat(turn(contact[12:15], in_b), in_b[0] * p),
        )

    def leave(self) -> list[Node]:
        moved = self.named(_leave, "Q U shift poses masses bodies reaches h bad", "Q V reaches bad")
        scatter = []
        if self.gathers:
            _, source, target = places(self.system)
            n = self.eq.nq + self.eq.nu
            back = target[np.argsort(source)][:n].tolist()
            scatter = [self.k(lambda x, y: ca.vertcat(x[back], y[n:]), "padded y", "y")]
        return [self.over("n_bodies", moved), *scatter, *self.auxiliaries()]


def places(system: System) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates, speeds and accelerations of bodies as if all were free, 19 of each; where those that there
    are come from in y and f, and where they go."""
    n, nq, ny = len(system.bodies), system.nq, system.nq + system.nu + system.compiled.model.nz
    padded, source, target = np.zeros(19 * n), list[int](), list[int]()
    padded[: 7 * n : 7] = 1.0
    for b in system.bodies:
        for x, offset, size, first in ((b.q, 0, 7, 0), (b.u, nq, 6, 7 * n), (b.u, ny + nq, 6, 13 * n)):
            source += range(offset + x.start, offset + x.stop)
            end = first + size * (b.index + 1)
            target += range(end - (x.stop - x.start), end)
    return padded, np.array(source), np.array(target)


class FreeBodiesRun(SteppingRun):
    """Surfaces among each other, on bodies that are free or only translate.

    Args:
        start: where they are.
        method: whose surfaces and numbers it takes.
    """

    def __init__(self, start: State, method: TimeStepping) -> None:
        system = start.system
        values = dict(zip(system.parameters, start.parameters, strict=True))
        mass = [b.mass_properties_at(values) for b in system.bodies]
        if bad := next((b.name for b, m in zip(system.bodies, mass, strict=True) if m.mass <= 0), None):
            raise DescriptionError(f"TimeStepping: body {bad!r} has no mass")
        turns = np.array([b.u.stop - b.u.start == 6 for b in system.bodies], dtype=bool)
        self.gathers = not turns.all()
        key, make = f"free bodies {self.gathers}", lambda: FreeBodies(system, self.gathers).build()
        super().__init__(start, method, Crowd(system, method.among), key, make)
        n, ws = len(system.bodies), self.ws
        masses = np.zeros((n + 1, 16))
        masses[:-1, 0] = [1 / m.mass for m in mass]
        masses[:-1, 1:4] = [np.ravel(m.com) for m in mass]
        inertia = np.array([m.inertia for m in mass]).reshape(-1, 3, 3)
        inverse = np.zeros_like(inertia)
        inverse[turns] = np.linalg.inv(inertia[turns])
        for first, X in ((4, inertia), (10, inverse)):
            masses[:-1, first : first + 6] = X[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        nq, nu = system.nq, system.nu
        y, f = ws["y"], ws["f"]
        Q, V, A = y[:nq], y[nq : nq + nu], f[nq : nq + nu]  # streams of y and ydot are the workspace itself
        if self.gathers:
            Q, V, A = np.split(ws["padded"], [7 * n, 13 * n])
        rows = lambda size: np.zeros((n + 1, size))
        poses = rows(FreeBodies.pose)
        poses[-1, :9] = np.eye(3).ravel()
        self.streams |= {
            "masses": masses,
            "poses": poses,
            "inertias": rows(7),
            "Q": Q.reshape(-1, 7),
            "V": V.reshape(-1, 6),
            "A": A.reshape(-1, 6),
            **{name: rows(6) for name in ("U_before", "U_free", "U", "plastic", "shift")},
        }
        self.counts["n_blocks"] = n
        self._surfaces(np.arange(n + 1))

    def _begin(self, step: float) -> None:
        self.ws["p"] = self.start.tail[self.system.compiled.model.tail["inputs"].start :]
        if self.gathers:  # before the first step
            padded, source, target = places(self.system)
            padded[target] = np.concatenate([self.ws["y"], np.zeros_like(self.ws["y"])])[source]
            self.ws["padded"] = padded
        self._listed(step)

    @property
    def rebounds(self) -> bool:
        return bool(self.crowd.e.any())

    def _placed(self) -> tuple[np.ndarray, np.ndarray]:
        q = self.streams["Q"]
        R = np.tile(np.eye(3), (len(q) + 1, 1, 1))
        R[:-1] = rotation_from_quaternion(q[:, :4])
        return R, np.append(q[:, 4:], np.zeros((1, 3)), axis=0)

    def _velocities(self) -> np.ndarray:
        return self.streams["V"]


def all_free(system: System) -> bool:
    """Whether all bodies are free, or only translate, and nothing but surfaces acts one way."""
    plain = lambda X: np.array_equal(X.R, np.eye(3)) and not np.any(X.p)
    return not system.constraints and all(
        type(b.mobilizer) in (Free, Translation)
        and b.parent is not None
        and b.parent.is_ground
        and plain(b.X_PF)
        and plain(b.X_BM)
        and b.q.stop - b.q.start in (3, 7)
        for b in system.bodies
    )
