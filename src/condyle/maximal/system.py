"""A System in maximal coordinates: every body with seven coordinates, every mobilizer as constraints: docs/theory/maximal.md."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.errors import CondyleError, DescriptionError, ShapeError, UnknownNameError
from condyle.maximal.equations import Attachment, Equations, solved
from condyle.maximal.joint import Frame, Joint, Position
from condyle.maximal.laws import Laws
from condyle.maximal.pairs import PAIRS
from condyle.mobilizers import Mobilizer
from condyle.spatial import Transform, quaternion_from_rotation, rotation_from_quaternion, skew

if TYPE_CHECKING:
    from condyle.system import System

Array = np.ndarray
GROUND = np.array([1.0, 0, 0, 0, 0, 0, 0])
STEPS = 50
"""Newton needs a handful from a start nearby; from one that is far it has gone astray by then."""


@dataclass(frozen=True)
class Tail:
    """What a state holds beside q and u."""

    t: float
    z: Array
    inputs: Array
    enabled: Array
    locked: Array
    parameters: Array


@dataclass(frozen=True)
class Loop:
    """A joint that closes a loop: a lower pair in closed form between two bodies that the tree has placed already.

    Args:
        a: a body or its name.   X_aF: frame F on it, a Transform, a 3-vector or None.
        b: the other body, or its name.   X_bM: frame M on it.
        mobilizer: what M may do in F: Pin, Ball, Slider, ...
    """

    a: Any
    X_aF: Any
    b: Any
    X_bM: Any
    mobilizer: Mobilizer


@dataclass(frozen=True)
class Wired:
    """A joint with its rows of C and the places of its unknowns: in its own vectors, and in x and V. Ground is in neither."""

    joint: Joint
    rows: slice
    x: tuple[Array, Array]
    V: tuple[Array, Array]


class MaximalSystem:
    """The second formulation of a System: maximal coordinates, joints as constraints, Lagrange multipliers.

    It shares with the first one what a mobilizer is (X_FM) and the force laws, and none of the dynamics, so that each checks the
    other. It is plain NumPy, dense, one state at a time: made to be read and trusted, not to be fast.

    Args:
        system: any System; this freezes it.
        loops: joints that close loops. `at` then wants q and u that close them; `Equations.C` tells how well they do.

    Attributes:
        joints: one a body, in their order.   m: how many equations they are.
        nx, nv: numbers of maximal coordinates, 7 a body and the q of joints that have no closed form, and of velocities.
    """

    def __init__(self, system: System, loops: Iterable[Loop] = ()) -> None:
        subject = system.subject
        self.system, self.tree = system, subject.tree
        self._parts = subject.tail
        self.laws = Laws(subject.tree, subject.forces)
        self.joints = [Joint.of_body(self.tree, body) for body in self.tree.bodies]
        n = len(self.joints)
        self.nx, self.nv, self.m = 7 * n, 6 * n, 0
        self._wired = [self._wire(joint) for joint in self.joints]
        m = self.m
        self._loops = [self._wire(self._closing(k, loop)) for k, loop in enumerate(loops)]
        self.loops, self.m = slice(m, self.m), m

    def _wire(self, joint: Joint) -> Wired:
        wired = Wired(joint, slice(self.m, self.m + joint.n), _places(joint, 7, self.nx, joint.ns),
                      _places(joint, 6, self.nv, joint.nsu))
        self.nx, self.nv, self.m = self.nx + joint.ns, self.nv + joint.nsu, self.m + joint.n
        return wired

    def _closing(self, k: int, loop: Loop) -> Joint:
        ends = [(self.tree.body(body).index, Transform.of(X, f"loop {k}: {name}"))
                for body, X, name in ((loop.a, loop.X_aF, "X_aF"), (loop.b, loop.X_bM, "X_bM"))]
        (P, X_PF), (B, X_BM) = ((index, Frame(ca.SX(ca.DM(X.R)), ca.SX(ca.DM(X.p)))) for index, X in ends)
        joint = Joint(self.tree, f"loop {k}", loop.mobilizer, P, X_PF, B, X_BM)
        if not joint.closed:
            raise DescriptionError(f"loop {k}: {loop.mobilizer!r} has no closed form here; cut the loop at another joint: one of "
                                   f"{', '.join(pair.__name__ for pair in PAIRS)}")
        return joint

    def __repr__(self) -> str:
        closed = sum(joint.closed for joint in self.joints)
        return (f"MaximalSystem({len(self.joints)} bodies, nx={self.nx}, nv={self.nv}, {self.m} joint equations, "
                f"{closed} joints in closed form{f', {len(self._loops)} loops' if self._loops else ''})")

    # ---- position ---------------------------------------------------------------------------------------------------

    def place(self, q: Any, **options: Any) -> Array:
        """x, shape (nx,), where the chain of mobilizers puts the bodies at coordinates q, shape (nq,)."""
        return self._placed(self._vector("q", q, self.tree.nq), self._tail(options))

    def _placed(self, q: Array, tail: Tail) -> Array:
        x = np.zeros(self.nx)
        poses: dict[int, tuple[Array, Array]] = {-1: (np.eye(3), np.zeros(3))}
        for wired in self._wired:
            joint, (local, places) = wired.joint, wired.x
            R_PB, p_PB = joint.pose(q[joint.q], tail.t, tail.parameters)
            R_GP, p_GP = poses[joint.P]
            poses[joint.B] = R, p = R_GP @ R_PB, p_GP + R_GP @ p_PB
            x[7 * joint.B:7 * joint.B + 7] = *quaternion_from_rotation(R), *p
            x[places[local >= 14]] = q[joint.q] if joint.ns else ()
        return x

    def position_constraints(self, x: Any, q: Any, **options: Any) -> tuple[Array, Array]:
        """C(x, t) = (Cr, Cs, Cb) (22) of ruggiero2020 (4), shape (nx,), and its Jacobian C_x, shape (nx, nx).

        Cr drives the coordinates to q, Cs are the joints, Cb keeps the bodies' quaternions at unit length.
        """
        tail = self._tail(options)
        return self._constraints(self._vector("x", x, self.nx), self._vector("q", q, self.tree.nq), tail)

    def position(self, q: Any, start: Any = None, tolerance: float = 1e-13, **options: Any) -> Array:
        """x, shape (nx,), with C(x, t) = 0 at coordinates q: Newton's method (22), ruggiero2020 (5).

        Args:
            q: shape (nq,).
            start: where Newton begins, shape (nx,); by default where the chain of mobilizers puts the bodies.
            tolerance: largest entry of C that counts as zero [1, m]; the last step squares what is left.
        """
        return self._newton(self._vector("q", q, self.tree.nq), self._tail(options),
                            None if start is None else self._vector("start", start, self.nx), tolerance)

    def _newton(self, q: Array, tail: Tail, start: Array | None = None, tolerance: float = 1e-13) -> Array:
        x = self._placed(q, tail) if start is None else start
        before = np.inf
        for _ in range(STEPS):
            C, C_x = self._constraints(x, q, tail)
            worst = np.abs(C).max(initial=0.0)
            if worst <= tolerance or (worst < 1e-9 and worst >= before / 2):     # as near as rounding lets it come
                return x
            before = worst
            try:
                x = x - solved(C_x, C, "position analysis")                                  # (22)
            except CondyleError:
                break
        raise CondyleError(f"position analysis: Newton's method finds no solution from here: {self._blame(C)} is off by "
                           f"{worst:.3g}; begin nearer, or leave start out")

    def _constraints(self, x: Array, q: Array, tail: Tail) -> tuple[Array, Array]:
        C, C_x = np.zeros(self.nx), np.zeros((self.nx, self.nx))
        each = list(self._positions(x, q, tail))
        first = sum(len(at.driver) for at in each)
        driver = 0
        for at, wired in zip(each, self._wired, strict=True):
            local, places = wired.x
            mine = slice(driver, driver + len(at.driver))
            C[mine], C_x[mine, places] = at.driver, at.driver_x[:, local]                    # Cr
            rows = slice(first + wired.rows.start, first + wired.rows.stop)
            C[rows], C_x[rows, places] = at.C, at.C_x[:, local]                              # Cs
            driver = mine.stop
        for B in range(len(self.joints)):
            e = x[7 * B:7 * B + 4]
            C[first + self.m + B], C_x[first + self.m + B, 7 * B:7 * B + 4] = e @ e - 1, 2 * e        # Cb
        return C, C_x

    def _positions(self, x: Array, q: Array, tail: Tail) -> Iterator[Position]:
        for wired in self._wired:
            yield wired.joint.position(_local(wired.x, x, GROUND), q[wired.joint.q], tail.t, tail.parameters)

    def _blame(self, C: Array) -> str:
        """Which equation is the worst, in words."""
        worst, first = int(np.abs(C).argmax()), self.nx - self.m - len(self.joints)
        if worst >= first + self.m:
            return f"the length of the quaternion of {self.joints[worst - first - self.m].name!r}"
        if worst < first:
            return "a driven coordinate"
        return f"the joint of {next(w.joint.name for w in self._wired if worst - first < w.rows.stop)!r}"

    def coordinates(self, x: Any, near: Any = None, **options: Any) -> Array:
        """The mobilizers' q, shape (nq,), at x. Angles that may be any turn, and signs of quaternions, are those nearest to
        `near`, shape (nq,), the defaults if it is left out."""
        near = self.tree.defaults() if near is None else self._vector("near", near, self.tree.nq)
        each = self._positions(self._vector("x", x, self.nx), near, self._tail(options))
        return np.concatenate([np.zeros(0), *(at.q for at in each)])

    # ---- the equations ----------------------------------------------------------------------------------------------

    def at(self, q: Any, u: Any, **options: Any) -> Equations:
        """All equations at coordinates q, shape (nq,), and speeds u, shape (nu,). Options: those of the System's operators."""
        return self._at(q, u, self._tail(options))

    def at_tail(self, q: Array, u: Array, tail: Array) -> Equations:
        """`at`, with the options as the vector that `system.tail()` makes of them."""
        return self._at(q, u, self._unpacked(tail))

    def _at(self, q: Any, u: Any, tail: Tail) -> Equations:
        q, u = self._vector("q", q, self.tree.nq), self._vector("u", u, self.tree.nu)
        x = self._newton(q, tail)
        still = self._kinematics(x, np.zeros(self.nv), q, tail)
        V = solved(still.K, np.concatenate([-still.C_t[:self.m], u]), "velocities")                   # (15)
        return self._equations(x, V, q, tail)

    def equations(self, x: Any, V: Any, near: Any = None, **options: Any) -> Equations:
        """All equations at maximal coordinates x, shape (nx,), and velocities V, shape (nv,). `near`: as in `coordinates`."""
        near = self.tree.defaults() if near is None else self._vector("near", near, self.tree.nq)
        return self._equations(self._vector("x", x, self.nx), self._vector("V", V, self.nv), near, self._tail(options))

    def _equations(self, x: Array, V: Array, near: Array, tail: Tail) -> Equations:
        now = self._kinematics(x, V, near, tail)
        M, Q, mass, com = self._inertia(now.x, now.V, tail)
        now = replace(now, M=M, Q=Q)
        momentum = now.momentum() if self.laws.asks_momentum else np.zeros(self.tree.nu)
        n = len(self.joints)
        loads, f = self.laws(x=now.x[:7 * n], V=now.V[:6 * n], q=now.q, u=now.u, momentum=momentum, mass=mass, com=com, t=tail.t,
                             z=tail.z, inputs=tail.inputs, enabled=tail.enabled, parameters=tail.parameters)
        Q = Q + now.S.T @ f
        Q[:6 * n] += loads
        return replace(now, Q=Q, f=f)

    def _kinematics(self, x: Array, V: Array, near: Array, tail: Tail) -> Equations:
        """The equations without masses and forces."""
        nu, m = self.tree.nu, self.loops.stop
        C, C_V, C_t, gamma = np.zeros(m), np.zeros((m, self.nv)), np.zeros(m), np.zeros(m)
        S, sigma, q = np.zeros((nu, self.nv)), np.zeros(nu), np.zeros(self.tree.nq)
        attachments = []
        for k, wired in enumerate((*self._wired, *self._loops)):
            of_body = k < len(self._wired)
            joint, rows, (local, places) = wired.joint, wired.rows, wired.V
            x_J, V_J = _local(wired.x, x, GROUND), _local(wired.V, V, np.zeros(6))
            hint = near[joint.q] if of_body else joint.mobilizer.default_q()
            at = joint.position(x_J, hint, tail.t, tail.parameters)
            now = joint.rates(x_J, V_J, at.q, tail.t, tail.parameters)
            C[rows], C_V[rows, places], C_t[rows], gamma[rows] = at.C, now.C_V[:, local], now.C_t, now.gamma
            if not of_body:
                continue
            S[joint.u, places], sigma[joint.u], q[joint.q] = now.S[:, local], now.sigma, at.q
            R = rotation_from_quaternion(x[7 * joint.B:7 * joint.B + 4])
            attachments.append(Attachment(rows, joint.u, slice(6 * joint.B, 6 * joint.B + 6), R @ self._p_BM(joint, tail)))
        return Equations(t=tail.t, x=x, V=V, q=q, u=S @ V, C=C, C_V=C_V, C_t=C_t, gamma=gamma, S=S, sigma=sigma,
                         M=np.zeros((self.nv, self.nv)), Q=np.zeros(self.nv), f=np.zeros(nu), locked=tail.locked,
                         loops=self.loops, joints=tuple(attachments))

    def _p_BM(self, joint: Joint, tail: Tail) -> Array:
        body = self.tree.bodies[joint.B]
        if "p_BM" not in body.symbolic:
            return np.asarray(body.X_BM.p)
        return body.symbolic["p_BM"].at(dict(zip(self.tree.parameters.names, tail.parameters, strict=True)))[:, 0]

    def _inertia(self, x: Array, V: Array, tail: Tail) -> tuple[Array, Array, Array, Array]:
        """M, and Q of the gyroscopic forces alone; masses and mass centres of the bodies in their frames.

            M_B = [I  m c~; -m c~  m],   Q_B = -[w x I w; m w x (w x c)],   c and I about the body's origin, in ground     (21)
        """
        M, Q = np.zeros((self.nv, self.nv)), np.zeros(self.nv)
        mass, com = np.zeros(len(self.joints)), np.zeros((len(self.joints), 3))
        values = dict(zip(self.tree.parameters.names, tail.parameters, strict=True))
        for B, body in enumerate(self.tree.bodies):
            of_body = body.mass_properties_at(values) if body.symbolic else body.mass_properties
            R, w, m = rotation_from_quaternion(x[7 * B:7 * B + 4]), V[6 * B:6 * B + 3], float(of_body.mass)
            mass[B], com[B] = m, of_body.com
            c, own = R @ of_body.com, slice(6 * B, 6 * B + 6)
            I = R @ of_body.inertia @ R.T + m * (c @ c * np.eye(3) - np.outer(c, c))
            M[own, own] = np.block([[I, m * skew(c)], [-m * skew(c), m * np.eye(3)]])        # (21)
            Q[own] = *-np.cross(w, I @ w), *-m * np.cross(w, np.cross(w, c))
        return M, Q, mass, com.ravel()

    # ---- arguments --------------------------------------------------------------------------------------------------

    def _tail(self, options: dict[str, Any]) -> Tail:
        tail = self.system.tail(**known_options(options))
        if tail.ndim > 1:
            raise ShapeError(f"maximal: one state at a time, got options of {tail.shape[:-1]} states; the functions of "
                             "condyle.maximal take many")
        return self._unpacked(tail)

    def _unpacked(self, tail: Array) -> Tail:
        part = {name: tail[where] for name, where in self._parts.items()}
        return Tail(float(part["t"][0]), part["z"], part["inputs"], part["enabled"], np.isinf(part["lock"]), part["parameters"])

    @staticmethod
    def _vector(name: str, value: Any, n: int) -> Array:
        array = np.asarray(value, dtype=float)
        if array.shape != (n,) or not np.isfinite(array).all():
            raise ShapeError(f"maximal: {name}: expected {n} finite numbers, got {value!r}")
        return array


def _places(joint: Joint, n: int, first: int, own: int) -> tuple[Array, Array]:
    """Places of parent, body and massless unknowns in a joint's vector, and in the vector of all."""
    pieces = [*((k * n, n * B, n) for k, B in enumerate((joint.P, joint.B)) if B >= 0), (2 * n, first, own)]
    local, places = (np.concatenate([np.arange(p[k], p[k] + p[2]) for p in pieces]) for k in (0, 1))
    return local, places


def _local(places: tuple[Array, Array], every: Array, ground: Array) -> Array:
    """A joint's own part of x or V: parent, body, massless; `ground` is what ground has there."""
    local, there = places
    own = max(int(local.max(initial=-1)) + 1 - 2 * len(ground), 0)
    mine = np.concatenate([ground, ground, np.zeros(own)])
    mine[local] = every[there]
    return mine


OPTIONS = ("t", "z", "inputs", "parameters", "locked", "disabled")


def known_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options, if all of them are known."""
    for name in options:
        if name not in OPTIONS:
            raise UnknownNameError("option", name, OPTIONS)
    return options
