"""One joint as constraint equations between two bodies, with Jacobians and rates by AD:
docs/theory/maximal.md (3)-(5), (13).

Notation: x_P, x_B are the seven coordinates (unit quaternion, position) of parent and body, V_P, V_B their
spatial velocities; s the joint's own massless unknowns, its q, and su their speeds. With x = (x_P, x_B, s)
and V = (V_P, V_B, su)

    xdot = J(x) V                                                                           (3)
    Cdot = C_x J V + C_t = C_V V + C_t                                                      (4)
    Cddot = C_V Vdot - gamma,   gamma = -d/dt (C_V V + C_t) at Vdot = 0                     (5)

Lower pairs have closed forms without unknowns of their own, (6)-(12). Each gives, from the relative motion
of M in F,

    C       what the joint forbids, 6 - nu equations that are zero
    q       the mobilizer's coordinates
    u       its speeds, linear in the relative velocity

Every other mobilizer keeps its q as massless unknowns.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.mobilizers import (
    Ball,
    Cylinder,
    Free,
    Mobilizer,
    Pin,
    Planar,
    Screw,
    Slider,
    Translation,
    Weld,
    motion,
)
from condyle.mobilizers.base import Reversed
from condyle.mobilizers.constants import sx
from condyle.native.tables.lookup import Closure
from condyle.records import dataclass
from condyle.spatial import (
    quaternion_conjugate,
    quaternion_from_rotation,
    quaternion_multiply,
    quaternion_rate_matrix,
    rotation_from_quaternion,
)
from condyle.tree.body import Body
from condyle.tree.tree import Tree

Z = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class PairMotion:
    """M in F: unit quaternion e, rotation R, position p, angular velocity w, linear velocity v; all in F."""

    e: ca.SX
    R: ca.SX
    p: ca.SX
    w: ca.SX
    v: ca.SX


@dataclass(frozen=True)
class LowerPair:
    """C, coordinates q and speeds u as expressions; driver: what is zero where q equals the wanted `near`."""

    C: ca.SX
    q: ca.SX
    u: ca.SX
    driver: ca.SX


def turned_apart(e: SX) -> SX:
    """Three equations for a quaternion e that is no rotation: 2 vec e, the vector of the rotation to first
    order (6)."""
    return 2 * ca.if_else(e[0] < 0, -e[1:], e[1:])


def across(axis: tuple[float, float, float]) -> Array:
    """Two unit vectors, shape (2, 3), orthogonal to a unit axis and to each other."""
    a = np.array(axis)
    b = np.cross(a, np.eye(3)[np.abs(a).argmin()])
    b /= np.linalg.norm(b)
    return np.stack([b, np.cross(a, b)])


def axes_apart(x: PairMotion, axis: tuple[float, float, float]) -> SX:
    """The axis on M stays orthogonal to two vectors on F: ruggiero2020 (7)."""
    return ca.DM(across(axis)) @ x.R @ ca.DM(axis)


def angle(x: PairMotion, axis: tuple[float, float, float], near: SX) -> SX:
    """The angle about an axis that F and M share, that one of all its turns that is nearest to `near` (7).

    ruggiero2020 (6) with the correction of the errata: 2 atan2(a . vec e, e0).
    """
    theta = 2 * ca.atan2(ca.dot(ca.DM(axis), x.e[1:]), x.e[0])
    return theta + 2 * np.pi * ca.floor((near - theta) / (2 * np.pi) + 0.5)


def _along(a: tuple[float, float, float], x: SX) -> SX:
    return ca.dot(ca.DM(a), x)


def _turn(x: PairMotion, near: SX) -> tuple[SX, SX]:
    """The quaternion of M in F with the sign of `near`, and what vanishes where they agree: its rate is w_FM
    (11)."""
    apart = quaternion_multiply(x.e, quaternion_conjugate(near / ca.norm_2(near)))
    return ca.if_else(apart[0] < 0, -x.e, x.e), 2 * apart[1:]


def weld(m: Weld, x: PairMotion, near: SX) -> LowerPair:
    none = ca.SX(0, 1)
    return LowerPair(ca.vertcat(turned_apart(x.e), x.p), none, none, none)  # (6)


def pin(m: Pin, x: PairMotion, near: SX) -> LowerPair:
    q = angle(x, m.axis, near)
    return LowerPair(ca.vertcat(axes_apart(x, m.axis), x.p), q, _along(m.axis, x.w), q - near)  # (7)


def screw(m: Screw, x: PairMotion, near: SX) -> LowerPair:
    q = angle(x, m.axis, near)
    C = ca.vertcat(axes_apart(x, m.axis), x.p - sx(m.pitch) * q * ca.DM(m.axis))  # (8)
    return LowerPair(C, q, _along(m.axis, x.w), q - near)


def slider(m: Slider, x: PairMotion, near: SX) -> LowerPair:
    q = _along(m.axis, x.p)
    C = ca.vertcat(turned_apart(x.e), ca.DM(across(m.axis)) @ x.p)  # (9)
    return LowerPair(C, q, _along(m.axis, x.v), q - near)


def cylinder(m: Cylinder, x: PairMotion, near: SX) -> LowerPair:
    q = ca.vertcat(angle(x, Z, near[0]), x.p[2])
    return LowerPair(ca.vertcat(axes_apart(x, Z), x.p[:2]), q, ca.vertcat(x.w[2], x.v[2]), q - near)  # (10)


def planar(m: Planar, x: PairMotion, near: SX) -> LowerPair:
    q = ca.vertcat(angle(x, Z, near[0]), x.p[:2])
    return LowerPair(ca.vertcat(axes_apart(x, Z), x.p[2]), q, ca.vertcat(x.w[2], x.v[:2]), q - near)  # (10)


def translation(m: Translation, x: PairMotion, near: SX) -> LowerPair:
    return LowerPair(turned_apart(x.e), x.p, x.v, x.p - near)  # (9)


def ball(m: Ball, x: PairMotion, near: SX) -> LowerPair:
    q, driver = _turn(x, near)
    return LowerPair(x.p, q, x.w, driver)  # (11)


def free(m: Free, x: PairMotion, near: SX) -> LowerPair:
    q, driver = _turn(x, near[:4])
    return LowerPair(
        ca.SX(0, 1), ca.vertcat(q, x.p), ca.vertcat(x.w, x.v), ca.vertcat(driver, x.p - near[4:])
    )  # (12)


PAIRS: dict[type[Mobilizer], Callable[..., LowerPair]] = {
    Weld: weld,
    Pin: pin,
    Screw: screw,
    Slider: slider,
    Cylinder: cylinder,
    Planar: planar,
    Translation: translation,
    Ball: ball,
    Free: free,
}


def pair_of(mobilizer: Mobilizer) -> Callable[..., LowerPair] | None:
    """The closed form of a mobilizer (not a reversed one), if it has one. Ball and Free have it with
    quaternions."""
    if getattr(mobilizer, "coordinates", "quaternion") != "quaternion":
        return None
    return PAIRS.get(type(mobilizer))


@dataclass(frozen=True)
class JointFrame:
    """A frame fixed on a body: rotation and position as expressions of Parameters."""

    R: ca.SX
    p: ca.SX


@dataclass(frozen=True)
class FrameMotion:
    """A frame in ground: quaternion, rotation, position, velocities."""

    e: ca.SX
    R: ca.SX
    p: ca.SX
    w: ca.SX
    v: ca.SX


def frame_motion(x: SX, V: SX, on: JointFrame) -> FrameMotion:
    """A frame that is fixed on a body with coordinates x and velocity V: ruggiero2020 (1), (2)."""
    R = rotation_from_quaternion(x[:4])
    r = R @ on.p
    e = quaternion_multiply(x[:4], quaternion_from_rotation(on.R))
    return FrameMotion(e, R @ on.R, x[4:] + r, V[:3], V[3:] + ca.cross(V[:3], r))


def relative(F: FrameMotion, M: FrameMotion) -> PairMotion:
    """M as seen from F, in F."""
    r = M.p - F.p
    return PairMotion(
        quaternion_multiply(quaternion_conjugate(F.e), M.e),
        F.R.T @ M.R,
        F.R.T @ r,
        F.R.T @ (M.w - F.w),
        F.R.T @ (M.v - F.v - ca.cross(F.w, r)),
    )


class JointConstraint:
    """A mobilizer between two bodies as constraints, over x (14 + nq of its own) and V (12 + its own nu), in
    ground. Their derivatives, ruggiero2020 (8)-(11), are automatic.

    Attributes:
        name: name of the body.
        P: index of the parent, -1 for ground.
        B: index of the body, -1 for ground.
        X_PF: frame F on the parent.
        X_BM: frame M on the body.
        q: places of its coordinates among the system's; empty where it closes a loop.
        u: places of its speeds among the system's; likewise.
        closed: whether it is a lower pair in closed form, without unknowns of its own.
        n: number of constraint equations.
        ns: how many massless coordinates it brings.
        nsu: how many massless speeds it brings.
        positions: its position equations as a closure, to be called on symbols.
        rates: their rates, likewise.
        pose: the pose of M in F, likewise.
    """

    def __init__(
        self,
        tree: Tree,
        name: str,
        mobilizer: Mobilizer,
        P: int,
        X_PF: JointFrame,
        B: int,
        X_BM: JointFrame,
        q: slice = slice(0, 0),
        u: slice = slice(0, 0),
    ) -> None:
        self.tree, self.name, self.mobilizer = tree, name, mobilizer
        self.P, self.X_PF, self.B, self.X_BM = P, X_PF, B, X_BM
        self.q, self.u = q, u
        forward = self.mobilizer.forward if isinstance(self.mobilizer, Reversed) else self.mobilizer
        self.pair, self.forward = pair_of(forward), forward
        self.closed = self.pair is not None
        self.ns, self.nsu = (0, 0) if self.closed else (self.mobilizer.nq, self.mobilizer.nu)
        self.n = 6 - self.mobilizer.nu + self.nsu
        self.positions, self.rates, self.pose = self._expressions()

    @staticmethod
    def of_body(tree: Tree, body: Body) -> JointConstraint:
        """The joint that carries a body."""
        parent = -1 if body.parent is None else body.parent.index
        return JointConstraint(
            tree,
            body.name,
            body.mobilizer,
            parent,
            fixed(body, "PF"),
            body.index,
            fixed(body, "BM"),
            body.q,
            body.u,
        )

    # ---- expressions ---------------------------------------------------------------------------------------

    def _pair(self, x: SX, V: SX, near: SX, t: SX) -> LowerPair:
        """What the joint is, as expressions."""
        F, M = frame_motion(x[:7], V[:6], self.X_PF), frame_motion(x[7:14], V[6:12], self.X_BM)
        if self.pair is not None:
            # reversed: F and M change places
            ends = (M, F) if isinstance(self.mobilizer, Reversed) else (F, M)
            return self.pair(self.forward, relative(*ends), near)
        s, su = x[14:], V[12:]
        R, p = motion(self.mobilizer, t, s, su)[:2]
        seen = relative(F, M)
        apart = turned_apart(quaternion_from_rotation(R.T @ seen.R))
        return LowerPair(ca.vertcat(apart, seen.p - p), s, su, s - near)  # (14)

    def _xdot(self, x: SX, V: SX, t: SX) -> SX:
        """(3)"""
        bodies = [
            ca.vertcat(quaternion_rate_matrix(x[i : i + 4]) @ V[j : j + 3], V[j + 3 : j + 6])
            for i, j in ((0, 0), (7, 6))
        ]
        own = motion(self.mobilizer, t, x[14:], V[12:]).qdot if self.ns else ca.SX(0, 1)
        return ca.vertcat(*bodies, own)

    def _expressions(self) -> tuple[Closure, Closure, Closure]:
        """positions: x, near, t -> C, C_x, q, driver Cr, which is zero where q is the wanted one, and its
        Jacobian.

        rates: x, V, near, t -> C_V, C_t, gamma of (4)-(5); u = S V, S and sigma of udot = S A + sigma (13);
            rates of its own q.
        pose: q, t -> X_PB, where the chain puts the body.
        """
        x, V, t = ca.SX.sym("x", 14 + self.ns), ca.SX.sym("V", 12 + self.nsu), ca.SX.sym("t")
        q = near = ca.SX.sym("q", self.mobilizer.nq)
        pair, xdot = self._pair(x, V, near, t), self._xdot(x, V, t)
        rate = lambda y: ca.jtimes(y, x, xdot) + ca.jtimes(y, t, ca.SX(1))
        Cdot = rate(pair.C)  # (4)
        R_FM, p_FM = motion(self.mobilizer, t, q, ca.SX(self.mobilizer.nu, 1))[:2]
        R_PB = self.X_PF.R @ R_FM @ self.X_BM.R.T
        positions = [pair.C, ca.jacobian(pair.C, x), pair.q, pair.driver, ca.jacobian(pair.driver, x)]
        rates = [
            ca.jacobian(Cdot, V),
            ca.jtimes(pair.C, t, ca.SX(1)),
            -rate(Cdot),
            pair.u,
            ca.jacobian(pair.u, V),
            rate(pair.u),
            xdot[14:],
        ]  # (5), (13)
        pose = [R_PB, self.X_PF.p + self.X_PF.R @ p_FM - R_PB @ self.X_BM.p]
        return (
            Closure("positions", [x, near, t], positions, shared=False),
            Closure("rates", [x, V, near, t], rates, shared=False),
            Closure("pose", [q, t], pose, shared=False),
        )

    @property
    def quaternions(self) -> list[int]:
        """Where quaternions begin among its massless coordinates."""
        return [part.start for part in self.mobilizer.quaternions] if self.ns else []


def fixed(body: Body, frame: str) -> JointFrame:
    """X_PF or X_BM of a body, with the Parameters in it."""
    X = body.X_PF if frame == "PF" else body.X_BM
    R, p = (
        body.symbolic[name].sx if name in body.symbolic else ca.SX(ca.DM(np.asarray(value)))
        for name, value in ((f"R_{frame}", X.R), (f"p_{frame}", X.p))
    )
    return JointFrame(R, p)
