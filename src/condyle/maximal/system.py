"""A System in maximal coordinates: every body with seven coordinates, every mobilizer as constraints:
docs/theory/maximal.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.constraints.sampled import warn_of_samples
from condyle.errors import CondyleError, DescriptionError, ShapeError, check_names
from condyle.maximal.equations import Attachment, Equations, solved
from condyle.maximal.expressions import Expressions, PlacedJoint
from condyle.maximal.joint import PAIRS, JointConstraint, JointFrame
from condyle.mobilizers import Mobilizer
from condyle.records import dataclass
from condyle.spatial import Transform, quaternion_from_rotation
from condyle.tree.body import Body

if TYPE_CHECKING:
    from condyle.maximal.simulation import MaximalTrajectory
    from condyle.system.operators.public import Options
    from condyle.system.system import System
if TYPE_CHECKING:
    from condyle.system.system import System


STEPS = 50
"""Newton needs a handful from a start nearby; from one that is far it has gone astray by then."""


@dataclass(frozen=True)
class Tail:
    """What a state holds beside q and u."""

    t: float
    z: Array
    inputs: Array
    enabled: Array
    locked: NDArray[np.bool_]
    locked_udot: Array
    parameters: Array

    def vectors(self) -> dict[str, Any]:
        """The parts that expressions take, by name."""
        return {name: getattr(self, name) for name in ("t", "z", "inputs", "enabled", "parameters")}


@dataclass(frozen=True)
class Loop:
    """A joint that closes a loop: a lower pair in closed form between two bodies that the tree has placed
    already.

    Args:
        a: a body or its name.
        X_aF: frame F on it, a Transform, a 3-vector or None.
        b: the other body, or its name.
        X_bM: frame M on it.
        mobilizer: what M may do in F: Pin, Ball, Slider, ...
    """

    a: Body | str
    X_aF: Transform | ArrayLike | None
    b: Body | str
    X_bM: Transform | ArrayLike | None
    mobilizer: Mobilizer


class MaximalSystem:
    """The second formulation of a System: maximal coordinates, joints as constraints, Lagrange multipliers.

    It shares with the first one what a mobilizer is (X_FM) and the force laws, and none of the dynamics, so
    that each checks the other. It is plain NumPy, dense, one state at a time: made to be read and trusted,
    not to be fast.

    Args:
        system: any System; this freezes it. Its constraints become rows like those of joints.
        loops: joints that close loops. `at` wants q and u that satisfy loops and constraints; `Equations.C`
            and `Equations.Cdot` tell how well they do.

    Attributes:
        joints: one per body, in their order.
        m: how many equations they are.
        nx: number of maximal coordinates: 7 per body, and the q of joints without a closed form.
        nv: number of maximal velocities.
    """

    def __init__(self, system: System, loops: Iterable[Loop] = ()) -> None:
        model = system.compiled.model
        self.system, self.tree = system, model.tree
        self._parts = model.tail
        for body in self.tree.bodies:
            if body.follows is not None:
                raise DescriptionError(
                    f"MaximalSystem: body {body.name!r} follows {body.follows.name!r}, "
                    "which this formulation does not know; give it coordinates of its "
                    "own and cd.constraints.CoordinateCoupler"
                )
        self.joints = [JointConstraint.of_body(self.tree, body) for body in self.tree.bodies]
        n = len(self.joints)
        self.nx, self.nv, self.m = 7 * n, 6 * n, 0
        wired = [self._wire(joint) for joint in self.joints]
        m = self.m
        closing = [self._wire(self._closing(k, loop)) for k, loop in enumerate(loops)]
        self.loops, self.m = slice(m, self.m), m
        self.expressions = Expressions(
            self.tree, model.forces, model.constraints, wired, closing, self.nx, self.nv
        )
        own = [w.x.start + k for w in wired for k in w.joint.quaternions]
        self.quaternions = np.array([*range(0, 7 * n, 7), *own], dtype=int)
        self._attached = tuple(
            Attachment(w.rows, w.joint.u, slice(6 * w.joint.B, 6 * w.joint.B + 6)) for w in wired
        )

    def _wire(self, joint: JointConstraint) -> PlacedJoint:
        wired = PlacedJoint(
            joint,
            slice(self.m, self.m + joint.n),
            slice(self.nx, self.nx + joint.ns),
            slice(self.nv, self.nv + joint.nsu),
        )
        self.nx, self.nv, self.m = self.nx + joint.ns, self.nv + joint.nsu, self.m + joint.n
        return wired

    def _closing(self, k: int, loop: Loop) -> JointConstraint:
        ends = [
            (self.tree.body(body).index, Transform.of(X, f"loop {k}: {name}"))
            for body, X, name in ((loop.a, loop.X_aF, "X_aF"), (loop.b, loop.X_bM, "X_bM"))
        ]
        (P, X_PF), (B, X_BM) = (
            (index, JointFrame(ca.SX(ca.DM(X.R)), ca.SX(ca.DM(X.p)))) for index, X in ends
        )
        joint = JointConstraint(self.tree, f"loop {k}", loop.mobilizer, P, X_PF, B, X_BM)
        if not joint.closed:
            raise DescriptionError(
                f"loop {k}: {loop.mobilizer!r} has no closed form here; cut the loop at "
                f"another joint: one of {', '.join(pair.__name__ for pair in PAIRS)}"
            )
        return joint

    def __repr__(self) -> str:
        closed, more = sum(joint.closed for joint in self.joints), self.expressions.m - self.m
        return (
            f"MaximalSystem({len(self.joints)} bodies, nx={self.nx}, nv={self.nv}, {self.m} joint "
            f"equations, {closed} joints in closed "
            f"form{f', {more} equations of loops and constraints' if more else ''})"
        )

    # ---- position ------------------------------------------------------------------------------------------

    def place(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """x, shape (nx,), where the chain of mobilizers puts the bodies at coordinates q, shape (nq,)."""
        return self._placed(self._vector("q", q, self.tree.nq), self._tail(options))

    def _placed(self, q: Array, tail: Tail) -> Array:
        found = self.expressions.place({"q": q, **tail.vectors()})
        poses = zip(found["R"].reshape(-1, 3, 3), found["p"].reshape(-1, 3), strict=True)
        return np.concatenate(
            [*(part for R, p in poses for part in (quaternion_from_rotation(R), p)), found["own"]]
        )

    def position_constraints(
        self, x: ArrayLike, q: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, Array]:
        """C(x, t) = (Cr, Cs, Cb) (22), ruggiero2020 (4), (12)-(15), shape (nx,), and its Jacobian C_x, shape (nx, nx).

        Cr drives the coordinates to q, Cs are the joints, Cb keeps the bodies' quaternions at unit length.
        """
        tail = self._tail(options)
        return self._constraints(self._vector("x", x, self.nx), self._vector("q", q, self.tree.nq), tail)

    def position(
        self,
        q: ArrayLike,
        start: ArrayLike | None = None,
        tolerance: float = 1e-13,
        **options: Unpack[Options],
    ) -> Array:
        """x, shape (nx,), with C(x, t) = 0 at coordinates q: Newton's method (22), ruggiero2020 (5).

        Args:
            q: shape (nq,).
            start: where Newton begins, shape (nx,); by default where the chain of mobilizers puts the bodies.
            tolerance: largest entry of C that counts as zero [1, m]; the last step squares what is left.
        """
        return self.on_joints(
            self._vector("q", q, self.tree.nq),
            self._tail(options),
            None if start is None else self._vector("start", start, self.nx),
            tolerance,
        )

    def on_joints(self, q: Array, tail: Tail, start: Array | None = None, tolerance: float = 1e-13) -> Array:
        """`position`, without checks."""
        x = self._placed(q, tail) if start is None else start
        before = np.inf
        for _ in range(STEPS):
            C, C_x = self._constraints(x, q, tail)
            worst = np.abs(C).max(initial=0.0)
            # as near as rounding lets it come
            if worst <= tolerance or (worst < 1e-9 and worst >= before / 2):
                return x
            before = worst
            try:
                x = x - solved(C_x, C, "position analysis")  # (22)
            except CondyleError:
                break
        raise CondyleError(
            "position analysis: Newton's method finds no solution from here: "
            f"{self._blame(C)} is off by {worst:.3g}; begin nearer, or leave start out"
        )

    def _constraints(self, x: Array, q: Array, tail: Tail) -> tuple[Array, Array]:
        found, n = self.expressions.newton({"x": x, "near": q, **tail.vectors()}), len(self.joints)
        lengths, slopes = np.zeros(n), np.zeros((n, self.nx))
        for B in range(n):
            e = x[7 * B : 7 * B + 4]
            lengths[B], slopes[B, 7 * B : 7 * B + 4] = e @ e - 1, 2 * e  # Cb
        return np.concatenate([found["C"], lengths]), np.vstack([found["C_x"], slopes])

    def _blame(self, C: Array) -> str:
        """A phrase that names the worst equation."""
        worst, first = int(np.abs(C).argmax()), self.nx - self.m - len(self.joints)
        if worst >= first + self.m:
            return f"the length of the quaternion of {self.joints[worst - first - self.m].name!r}"
        if worst < first:
            return "a driven coordinate"
        name = next(j.name for j, at in zip(self.joints, self._attached) if worst - first < at.rows.stop)
        return f"the joint of {name!r}"

    def coordinates(self, x: ArrayLike, near: ArrayLike | None = None, **options: Unpack[Options]) -> Array:
        """The mobilizers' q, shape (nq,), at x. Angles that may be any turn, and signs of quaternions, are
        those nearest to `near`, shape (nq,), the defaults if it is left out."""
        near = self.tree.defaults() if near is None else self._vector("near", near, self.tree.nq)
        x = self._vector("x", x, self.nx)
        return self.expressions.positions({"x": x, "near": near, **self._tail(options).vectors()})["q"]

    # ---- the equations -------------------------------------------------------------------------------------

    def at(self, q: ArrayLike, u: ArrayLike, **options: Unpack[Options]) -> Equations:
        """All equations at coordinates q, shape (nq,), and speeds u, shape (nu,). Options: those of the
        System's operators."""
        return self._at(q, u, self._tail(options))

    def at_tail(self, q: Array, u: Array, tail: Array) -> Equations:
        """`at`, with the options as the vector that `system.compiled.tails.default` makes of them."""
        return self._at(q, u, self._unpacked(tail))

    def _at(self, q: ArrayLike, u: ArrayLike, tail: Tail) -> Equations:
        q, u = self._vector("q", q, self.tree.nq), self._vector("u", u, self.tree.nu)
        x = self.on_joints(q, tail)
        return self.equations_at(x, self.velocities(x, u, q, tail), q, tail)

    def velocities(self, x: Array, u: Array, near: Array, tail: Tail) -> Array:
        """V, shape (nv,), at speeds u (15)."""
        still = self.expressions.velocities({"x": x, "V": np.zeros(self.nv), "near": near, **tail.vectors()})
        K = np.vstack([still["C_V"][: self.m], still["S"]])
        return solved(K, np.concatenate([-still["C_t"][: self.m], u]), "velocities")  # (15)

    def equations(
        self, x: ArrayLike, V: ArrayLike, near: ArrayLike | None = None, **options: Unpack[Options]
    ) -> Equations:
        """All equations at maximal coordinates x, shape (nx,), and velocities V, shape (nv,). `near`: as in
        `coordinates`."""
        near = self.tree.defaults() if near is None else self._vector("near", near, self.tree.nq)
        return self.equations_at(
            self._vector("x", x, self.nx), self._vector("V", V, self.nv), near, self._tail(options)
        )

    def equations_at(self, x: Array, V: Array, near: Array, tail: Tail) -> Equations:
        """`equations`, without checks."""
        given = {"x": x, "V": V, "near": near, **tail.vectors()}
        return self.completed(
            given, self.expressions.positions(given) | self.expressions.velocities(given), tail
        )

    def completed(self, given: dict[str, Array], now: dict[str, Array], tail: Tail) -> Equations:
        """All equations from what `positions` and `velocities` of the expressions found."""
        given = {**given, "q": now["q"], "u": now["u"], "momentum": np.zeros(self.tree.nu)}
        driven = self.expressions.drivers(now["q"], now["u"], tail.locked, tail.locked_udot, given)
        at = Equations(
            t=tail.t,
            x=given["x"],
            V=given["V"],
            **now,
            **self.expressions.accelerations(given),
            **self.expressions.dynamics(given),
            locked=driven.driven,
            locked_udot=driven.udot,
            loops=self.loops,
            constraints=self.expressions.places,
            joints=self._attached,
        )
        if self.expressions.asks_momentum:
            at = replace(at, **self.expressions.dynamics({**given, "momentum": at.momentum()}))
        return replace(at, Q=at.Q + at.S.T @ at.f)

    # ---- motion --------------------------------------------------------------------------------------------

    @with_call_hints(skip=1)
    def simulate(
        self,
        q: ArrayLike,
        u: ArrayLike,
        t_final: float,
        *,
        accuracy: float = 1e-6,
        times: ArrayLike | None = None,
        max_step: float | None = None,
        **options: Unpack[Options],
    ) -> MaximalTrajectory:
        """The motion from coordinates q, shape (nq,), and speeds u, shape (nu,), until t_final [s].

        x, V and the forces' z are integrated, by an explicit method of order eight (DOP853) with error
        control; before each evaluation the state is put on all constraints (32).

        Args:
            accuracy: one number for all, as that of `cd.simulate`: errors as shares of 1 rad, of a length of
                the system, of these in 0.1 s for velocities, or of a value that is larger than these.
            times: when to give the state [s]; at the steps by default.
            max_step: longest step [s]. Unlike `cd.simulate` it does not know when forces change with time:
                where they do so for a short time only, give it.
            options: those of the System's operators. t is when it begins. What motions prescribe then
                replaces q and u.
        """
        from condyle.maximal.simulation import simulate

        q, u = self._vector("q", q, self.tree.nq), self._vector("u", u, self.tree.nu)
        q, u = self.system.prescribe(q, u, **known_options(options))
        run = simulate(self, q, u, t_final, accuracy, times, max_step, self._tail(options))
        tail = self.system.compiled.tail(**known_options(options))
        warn_of_samples("maximal: simulate", self.system, float(tail[0]), t_final, tail)
        return run

    # ---- arguments -----------------------------------------------------------------------------------------

    def _tail(self, options: Options) -> Tail:
        tail = self.system.compiled.tail(**known_options(options))
        if tail.ndim > 1:
            raise ShapeError(
                f"maximal: one state at a time, got options of {tail.shape[:-1]} states; the "
                "functions of condyle.maximal take many"
            )
        return self._unpacked(tail)

    def _unpacked(self, tail: Array) -> Tail:
        part = {name: tail[where] for name, where in self._parts.items()}
        return Tail(
            float(part["t"][0]),
            part["z"],
            part["inputs"],
            part["enabled"],
            np.isinf(part["lock"]),
            part["held"],
            np.concatenate([part["parameters"], part["discrete"]]),
        )

    @staticmethod
    def _vector(name: str, value: Any, n: int) -> Array:
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.shape != (n,) or not np.isfinite(array).all():
            raise ShapeError(f"maximal: {name}: expected {n} finite numbers, got {value!r}")
        return array


OPTIONS = ("t", "z", "inputs", "discrete", "parameters", "locked", "disabled")


def known_options(options: Options) -> Options:
    """The options, if all of them are known."""
    check_names("option", options, OPTIONS)
    return options


def formulation(system: System) -> MaximalSystem:
    """The MaximalSystem of a System, made once."""
    if not hasattr(system, "compiled"):
        raise DescriptionError(f"maximal: expected a cd.System, got {system!r}")
    if "maximal" not in system.compiled.programs:
        system.compiled.programs["maximal"] = MaximalSystem(system)
    return system.compiled.programs["maximal"]


def forward_dynamics(
    system: System, q: ArrayLike, u: ArrayLike, tau: ArrayLike | None = None, **options: Unpack[Options]
) -> Array:
    """Accelerations udot [rad/s^2, m/s^2], shape (..., nu), under all enabled forces and tau [N m, N], by
    (19)."""
    return _each(
        system,
        (q, u, np.zeros(system.nu) if tau is None else tau),
        options,
        lambda at, tau: at.forward(tau).udot,
    )


def inverse_dynamics(
    system: System, q: ArrayLike, u: ArrayLike, udot: ArrayLike, **options: Unpack[Options]
) -> Array:
    """tau [N m, N], shape (..., nu), that must be added to the enabled forces for udot to happen: -lambda_r
    of (18)."""
    return _each(system, (q, u, udot), options, lambda at, udot: at.inverse(udot).tau)


def reactions(
    system: System,
    q: ArrayLike,
    u: ArrayLike,
    udot: ArrayLike,
    body: Body | str | None = None,
    **options: Unpack[Options],
) -> Array:
    """Moment [N m] and force [N] of a body's mobilizer on it, at M's origin, in ground: shape (..., 6), or
    (..., bodies, 6) for all, from the multipliers by (20). Includes tau, as `System.reactions` does."""
    which: Any = slice(None) if body is None else system.body(body).index
    return _each(system, (q, u, udot), options, lambda at, udot: at.inverse(udot).reactions[which])


def _each(
    system: System,
    arrays: tuple[ArrayLike, ArrayLike, ArrayLike],
    options: Options,
    answer: Callable[[Equations, Array], Array],
) -> Array:
    """The answer at every state of a batch."""
    maximal = formulation(system)
    tail = system.compiled.tail(**known_options(options))
    values = [np.asarray(a, dtype=float) for a in arrays]
    for name, a, n in zip(("q", "u", "tau or udot"), values, (system.nq, system.nu, system.nu)):
        if a.shape[-1:] != (n,):
            raise ShapeError(f"maximal: {name}: expected shape (..., {n}), got {a.shape}")
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in (*values, tail)))
    q, u, last, tail = (np.broadcast_to(a, batch + a.shape[-1:]) for a in (*values, tail))
    found = [answer(maximal.at_tail(q[i], u[i], tail[i]), last[i]) for i in np.ndindex(batch)]
    return np.reshape(found, batch + np.shape(found[0])) if batch else found[0]
