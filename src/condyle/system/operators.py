"""The operators of a System: what can be asked of it. A State has them too, without the leading arrays.

All broadcast over leading dimensions (...) and take the keyword tail `Options`. q, u, udot, tau, f are arrays (..., n) in the
order of their names, or go by name: mappings, Tables, pandas objects (condyle.arrays). All must be finite. Frames, units and
signs: spatial vectors angular first, in ground; M udot + coriolis_forces = tau + gravity_forces + applied_forces +
constraint_forces + motion_forces.
"""
from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from condyle.arguments import check_call
from condyle.arrays import POINT, check_finite, vector
from condyle.constraints.base import LEVELS
from condyle.constraints.solve.multipliers import REGULAR
from condyle.errors import ArgumentError, ShapeError, UnknownNameError
from condyle.spatial import Transform
from condyle.system import columns, relative
from condyle.system.locks import known
from condyle.system.unmet import refuse_unmet
from condyle.tree.body import Body

if TYPE_CHECKING:
    from condyle.system.compiled import Compiled
    from condyle.system.state import State

Array = np.ndarray


class Stage(enum.IntEnum):
    """How far a computation has come. Changing a variable undoes its stage and all later ones, nothing earlier."""

    TOPOLOGY = 0
    MODEL = 1
    INSTANCE = 2
    TIME = 3
    POSITION = 4
    VELOCITY = 5
    FORCE = 6
    ACCELERATION = 7


class Options(TypedDict, total=False):
    """The keyword tail of every operator.

    - t: time [s], one number or one per state. One state without it is at t = 0; many states need it where a system
      depends on time.
    - z, inputs, discrete, parameters: arrays (..., n), what has labels, or mappings from names to values; the rest keep
      their defaults.
    - locked: names of speeds that keep their value, or a 0/1 array (..., nu), or a mapping from names to levels:
      "position" (q is kept: States have u = 0 there), "velocity" (u is kept: as a name alone), "acceleration" or a
      number (udot is 0, or that).
    - disabled: names of what does not act: forces, constraints, and bodies whose motion is prescribed.
    - out: where to write.
    - threads: how many to use for a batch (default: environment variable CONDYLE_THREADS, or all).
    """

    t: Any
    z: Any
    inputs: Any
    discrete: Any
    parameters: Any
    locked: Any
    disabled: Any
    out: Any
    threads: int | None


OPTIONS = tuple(Options.__annotations__)
_ABOUT_OPTIONS = (inspect.getdoc(Options) or "").partition("\n\n")[2]


def operator(stage: Stage, arrays: str, kernel: bool = False, gives: columns.Columns | None = None
             ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a method as an operator.

    Args:
        stage: of its results.
        arrays: the leading arguments that a State has itself.
        kernel: it is one kernel and nothing else, which then writes into `out` by itself.
        gives: names and units of its results, for Tables; None where they are matrices or poses.
    """
    def mark(method: Callable[..., Any]) -> Callable[..., Any]:
        made: Any = _answering(method) if kernel else _writing(method)
        made.stage, made.arrays, made.gives = stage, tuple(arrays.split()), gives
        made.summary = inspect.getdoc(method) or ""
        made.__doc__ = f"{made.summary}\n\nOptions, all by keyword:\n\n{_ABOUT_OPTIONS}"
        made.__signature__ = _with_options(method)
        return made
    return mark


def _with_options(method: Callable[..., Any]) -> inspect.Signature:
    """The signature with every option by its name."""
    signature = inspect.signature(method)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in OPTIONS]
    return signature.replace(parameters=[*own, *options])


def asked(method: Any) -> list[inspect.Parameter]:
    """What an operator is asked beside its leading arrays and the options. udot may be left out: that of the state is meant."""
    out = []
    for p in list(inspect.signature(method).parameters.values())[1:]:
        if p.name not in method.arrays and p.kind is not p.KEYWORD_ONLY:
            out.append(p.replace(default=None) if p.name == "udot" else p)
    return out


def _stacked(angular: Array, linear: Array) -> Array:
    """A spatial vector (..., 6) from its halves, which broadcast."""
    return np.concatenate(np.broadcast_arrays(angular, linear), axis=-1)


def _point(name: str, value: Any, batch: tuple[int, ...] = ()) -> Array:
    """A checked point (..., 3) that broadcasts with a batch of states."""
    expected = f"{name}: expected a point of 3 numbers [m], shape (..., 3)"
    try:
        array = vector(name, value, 3, POINT)
    except ShapeError as error:
        raise ShapeError(f"{expected}, got {value!r} ({error})") from None
    check_finite(name, array, POINT)
    try:
        np.broadcast_shapes(array.shape[:-1], batch)
    except ValueError:
        raise ShapeError(f"{expected}, that broadcasts with the states {batch}, got {array.shape}") from None
    return array


def _writing(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method with its result written into `out`, if that is given."""
    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        out = options.pop("out", None)
        try:
            result = method(self, *arguments, **options)
        except (TypeError, ShapeError):
            _check_call(method, arguments, options)
            raise
        return result if out is None else _into(out, result, method.__name__)
    return call


def _answering(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method; a call that does not fit is answered in words."""
    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return method(self, *arguments, **options)
        except (TypeError, ShapeError):
            _check_call(method, arguments, options)
            raise
    return call


def _check_call(method: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Raise ArgumentError if an operator is called with a State, or with arguments that do not fit."""
    name, signature = method.__name__, inspect.signature(method)
    if "state" in options:                                  # asked by a State: the user's own arguments follow q, u, udot
        return
    for x in arguments:
        if type(x).__module__ == "condyle.system.state":
            own = [n for n, p in list(signature.parameters.items())[1:]
                   if n not in ("q", "u", "udot", "options") and p.default is p.empty]
            said = "" if name == "qdot" else f"({', '.join(own)})"
            raise ArgumentError(f"{name}: takes arrays, got a State; ask the State itself: state.{name}{said}, or give "
                                f"system.{name} its arrays state.q, state.u") from None
    check_call(name, signature, (None, *arguments), options, None, skip=1)


def _into(out: Any, result: Any, name: str) -> Any:
    if isinstance(result, Transform):
        raise ShapeError(f"{name}: out= is not possible, the answer is a Transform; leave it out")
    if isinstance(result, tuple):
        if not isinstance(out, tuple) or len(out) != len(result):
            raise ShapeError(f"{name}: out: expected a tuple of {len(result)} arrays, got {type(out).__name__}")
        return tuple(_into(o, r, name) for o, r in zip(out, result, strict=True))
    if not isinstance(out, np.ndarray) or out.shape != np.shape(result) or out.dtype.kind != "f":
        got = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ShapeError(f"{name}: out: expected floating-point numbers of shape {np.shape(result)}, got {got}")
    np.copyto(out, result)
    return out


SMALLEST_EIGENVALUE = REGULAR
"""Of Y with a unit diagonal, over its largest: what is smaller counts as redundant, as it does for multipliers."""

POSITION, VELOCITY, FORCE, ACCELERATION = Stage.POSITION, Stage.VELOCITY, Stage.FORCE, Stage.ACCELERATION


class Operations:
    """The operators, over `_run(kernel, stage, arguments, options)` of System."""

    if TYPE_CHECKING:
        @property
        def compiled(self) -> Compiled: ...
        @property
        def nq(self) -> int: ...
        @property
        def nu(self) -> int: ...
        @property
        def bodies(self) -> tuple[Body, ...]: ...
        def body(self, which: Body | str) -> Body: ...
        def _run(self, name: str, stage: Stage, arguments: tuple[Any, ...], options: Any, which: str | None = None) -> Any: ...
        def _held(self, options: Any) -> Array: ...
        @property
        def constraints(self) -> tuple[str, ...]: ...
        @property
        def equations(self) -> int: ...
        def _reaction_places(self, constraint: str) -> dict[str, slice]: ...
        def _check_equations(self, name: str, values: Array, *levels: str) -> None: ...
        def equation_names(self) -> list[tuple[str, str]]: ...

    # ---- dynamics -----------------------------------------------------------------------------------------------------

    @operator(VELOCITY, "q u", kernel=True, gives=columns.coordinate_rates)
    def qdot(self, q: Any, u: Any, **options: Unpack[Options]) -> Array:
        """Rates of the coordinates N(q) u, shape (..., nq)."""
        return self._run("qdot", VELOCITY, (q, u), options)

    @operator(ACCELERATION, "q u udot", kernel=True, gives=columns.coordinate_accelerations)
    def qddot(self, q: Any, u: Any, udot: Any, **options: Unpack[Options]) -> Array:
        """Second rates of the coordinates N(q) udot + Ndot u [rad/s^2, m/s^2, 1/s^2], shape (..., nq)."""
        return self._run("qddot", ACCELERATION, (q, u, udot), options)

    @operator(POSITION, "q", kernel=True, gives=columns.speeds)
    def u_from_qdot(self, q: Any, qdot: Any, **options: Unpack[Options]) -> Array:
        """Speeds u [rad/s, m/s], shape (..., nu), from rates qdot (..., nq) of the coordinates: N(q)^-1 qdot.

        What no speeds can do, such as a change of a quaternion's length, is left out: N u is the nearest to qdot."""
        return self._run("u_from_qdot", POSITION, (q, qdot), options)

    @operator(VELOCITY, "q u", kernel=True, gives=columns.accelerations)
    def udot_from_qddot(self, q: Any, u: Any, qddot: Any, **options: Unpack[Options]) -> Array:
        """Accelerations udot [rad/s^2, m/s^2], shape (..., nu), from second rates qddot (..., nq) of the coordinates:
        N(q)^-1 (qddot - Ndot u). The inverse of `qddot`."""
        return self._run("udot_from_qddot", VELOCITY, (q, u, qddot), options)

    @operator(POSITION, "q")
    def N(self, q: Any, **options: Unpack[Options]) -> Array:
        """N(q), shape (..., nq, nu): qdot = N u. The identity but for quaternions and other coordinates with qdot != u."""
        return self._shaped("N", POSITION, (q,), (self.nq, self.nu), options)

    @operator(VELOCITY, "q u")
    def Ndot(self, q: Any, u: Any, **options: Unpack[Options]) -> Array:
        """Rate of N(q) along u, shape (..., nq, nu): qddot = N udot + Ndot u."""
        return self._shaped("Ndot", VELOCITY, (q, u), (self.nq, self.nu), options)

    @operator(FORCE, "q u", kernel=True, gives=columns.state_rates)
    def zdot(self, q: Any, u: Any, **options: Unpack[Options]) -> Array:
        """Rates of the auxiliary states of forces, shape (..., nz)."""
        return self._run("zdot", FORCE, (q, u), options)

    @operator(ACCELERATION, "q u", kernel=True, gives=columns.accelerations)
    def forward_dynamics(self, q: Any, u: Any, tau: Any = None, **options: Unpack[Options]) -> Array:
        """Accelerations udot [rad/s^2, m/s^2], shape (..., nu), under all enabled forces and constraints and tau
        [N m, N].

        The articulated-body algorithm, O(n); constraints by Lagrange multipliers.
        """
        return self._run("forward_dynamics", ACCELERATION, (q, u, tau), options)

    @operator(FORCE, "q u", kernel=True, gives=columns.generalised_forces)
    def inverse_dynamics(self, q: Any, u: Any, udot: Any, **options: Unpack[Options]) -> Array:
        """tau [N m, N], shape (..., nu), that must be added to the enabled forces for udot to happen.

        Constraints are no forces: inverse_dynamics of forward_dynamics is tau - G' lambda."""
        return self._run("inverse_dynamics", FORCE, (q, u, udot), options)

    @operator(POSITION, "q")
    def mass_matrix(self, q: Any, **options: Unpack[Options]) -> Array:
        """M(q), shape (..., nu, nu), symmetric positive definite."""
        return self._shaped("mass_matrix", POSITION, (q,), (self.nu, self.nu), options)

    @operator(POSITION, "q", kernel=True, gives=columns.generalised_forces)
    def multiply_mass_matrix(self, q: Any, f: Any, **options: Unpack[Options]) -> Array:
        """M(q) f, shape (..., nu), in O(n)."""
        return self._run("multiply_mass_matrix", POSITION, (q, f), options)

    @operator(ACCELERATION, "q", kernel=True, gives=columns.accelerations)
    def solve_mass_matrix(self, q: Any, f: Any, **options: Unpack[Options]) -> Array:
        """M(q)^-1 f, shape (..., nu), in O(n). Locked and prescribed speeds answer zero."""
        return self._run("solve_mass_matrix", ACCELERATION, (q, f), options)

    @operator(ACCELERATION, "q")
    def inverse_mass_matrix(self, q: Any, **options: Unpack[Options]) -> Array:
        """M(q)^-1, shape (..., nu, nu), from nu solutions. Held speeds have zero rows and columns."""
        columns = [self.solve_mass_matrix(q, e, **options) for e in np.eye(self.nu)]
        return np.stack(columns, axis=-1) if columns else self.mass_matrix(q, **options)

    @operator(FORCE, "q", kernel=True, gives=columns.generalised_forces)
    def gravity_forces(self, q: Any, **options: Unpack[Options]) -> Array:
        """Generalised forces of gravity [N m, N], shape (..., nu)."""
        return self._run("gravity_forces", FORCE, (q,), options)

    @operator(VELOCITY, "q u", kernel=True, gives=columns.generalised_forces)
    def coriolis_forces(self, q: Any, u: Any, **options: Unpack[Options]) -> Array:
        """Velocity-dependent inertial forces [N m, N], shape (..., nu), on the side of M udot."""
        return self._run("coriolis_forces", VELOCITY, (q, u), options)

    @operator(FORCE, "q u", kernel=True, gives=columns.generalised_forces)
    def applied_forces(self, q: Any, u: Any, **options: Unpack[Options]) -> Array:
        """Generalised forces of all enabled forces but gravity [N m, N], shape (..., nu)."""
        return self._run("applied_forces", FORCE, (q, u), options)

    @operator(ACCELERATION, "q u", gives=columns.generalised_forces)
    def motion_forces(self, q: Any, u: Any, tau: Any = None, **options: Unpack[Options]) -> Array:
        """Generalised forces that prescribed motions and locks take [N m, N], shape (..., nu): added to tau they do the
        same. Zero where a speed is free."""
        udot = self.forward_dynamics(q, u, tau, **options)
        held = self.inverse_dynamics(q, u, udot, **options)
        held = held if tau is None else held - self.compiled.vector("tau", tau)
        if self.constraints:
            held = held - self.constraint_forces(q, u, tau, **options)
        return np.where(self._held(options), held, 0.0)

    @operator(ACCELERATION, "q u", gives=columns.speed_powers)
    def motion_power(self, q: Any, u: Any, tau: Any = None, **options: Unpack[Options]) -> Array:
        """Power of these forces [W], one per speed, shape (..., nu), and of joints that time moves by themselves (`time=True`),
        added at their first speed. The sum is what motions, locks and such joints add to the energy."""
        power = self.motion_forces(q, u, tau, **options) * self.compiled.vector("u", u)
        if not self.compiled.model.moved_by_time:
            return power
        udot, lambda_ = self.forward_dynamics(q, u, tau, **options), self.multipliers(q, u, tau, **options)
        return power + self._run("timed_power", ACCELERATION, (q, u, udot, lambda_), options)

    @operator(FORCE, "q u", kernel=True, gives=columns.force_powers)
    def power(self, q: Any, u: Any, **options: Unpack[Options]) -> Array:
        """Power of each force [W], shape (..., number of forces), in the order of `system.forces`."""
        return self._run("power", FORCE, (q, u), options)

    @operator(FORCE, "q u", gives=columns.fixed("kinetic [J]", "potential [J]"))
    def energy(self, q: Any, u: Any, **options: Unpack[Options]) -> tuple[Any, Any]:
        """Kinetic and potential energy [J], each of shape (...). Gravity's potential is zero at ground's origin."""
        kinetic, potential = self._run("energy", FORCE, (q, u), options)
        return kinetic[..., 0][()], potential[..., 0][()]

    @operator(ACCELERATION, "q u udot", gives=columns.of_body(*columns.WRENCH))
    def reactions(self, q: Any, u: Any, udot: Any, body: Body | str | None = None, lambda_: Any = None,
                  **options: Unpack[Options]) -> Array:
        """Moment [N m] and force [N] of a body's mobilizer on it, at M's origin, in ground: shape (..., 6), or
        (..., bodies, 6) for all. Includes tau and the forces on its own speeds: H' F is their sum. lambda_: multipliers of the
        constraints, (..., m), if these act too; without them the mobilizers do their work."""
        if lambda_ is not None:
            return self._of_body("reactions_with_constraints", ACCELERATION, (q, u, udot, lambda_), body, options)
        return self._of_body("reactions", ACCELERATION, (q, u, udot), body, options)

    # ---- constraints: FORCE at the earliest, which disabling one undoes ----------------------------------------------

    @operator(ACCELERATION, "q u", kernel=True, gives=columns.equations)
    def multipliers(self, q: Any, u: Any, tau: Any = None, **options: Unpack[Options]) -> Array:
        """Multipliers lambda of all constraint equations, shape (..., m), in their order: M udot + G' lambda = f. Redundant
        constraints share the load: the least norm. Zero for disabled constraints."""
        return self._run("multipliers", ACCELERATION, (q, u, tau), options)

    @operator(FORCE, "q u", gives=columns.equation_errors)
    def constraint_errors(self, q: Any, u: Any, **options: Unpack[Options]) -> tuple[Array, Array]:
        """Errors p of all position equations, shape (..., m_p), and errors of all velocity equations: pdot of these and v of
        those that hold for velocities only, in the order of the constraints, shape (..., m_v)."""
        p, v = self._run("constraint_errors", FORCE, (q, u), options)
        self._check_equations("constraint_errors", p, "position")
        self._check_equations("constraint_errors", v, "position", "velocity")
        return p, v

    @operator(FORCE, "q u")
    def constraint_jacobian(self, q: Any, u: Any, level: str | None = None, **options: Unpack[Options]) -> Array:
        """G, shape (..., m, nu): acceleration errors are G udot + constraint_bias. u matters to nonlinear ones only.

        Args:
            level: only the rows of equations of "position" (P of sherman2011), "velocity" (V) or "acceleration" (A).
        """
        known("level of constraint_jacobian()", () if level is None else (level,), LEVELS)
        G = self._shaped("constraint_jacobian", FORCE, (q, u), (self.equations, self.nu), options)
        self._check_equations("constraint_jacobian", G.sum(axis=-1))
        return G if level is None else G[..., [own == level for _, own in self.equation_names()], :]

    @operator(FORCE, "q u", kernel=True, gives=columns.equations)
    def constraint_bias(self, q: Any, u: Any, **options: Unpack[Options]) -> Array:
        """Acceleration errors of all constraint equations at udot = 0, shape (..., m)."""
        bias = self._run("constraint_bias", FORCE, (q, u), options)
        self._check_equations("constraint_bias", bias)
        return bias

    @operator(ACCELERATION, "q u", gives=columns.fixed("rank", "condition"))
    def constraint_rank(self, q: Any, u: Any, **options: Unpack[Options]) -> tuple[Any, Any]:
        """Rank of Y = G M^-1 G', shape (...), and its condition: the largest over the smallest eigenvalue that counts, of Y with
        rows and columns scaled to a unit diagonal. A rank below the number of equations means that some are redundant, and
        their multipliers not unique."""
        Y = self._shaped("constraint_matrix", ACCELERATION, (q, u), (self.equations, self.equations), options)
        self._check_equations("constraint_rank", np.diagonal(Y, axis1=-2, axis2=-1))
        sizes = np.linalg.eigvalsh(Y) if self.equations else np.zeros(Y.shape[:-1])
        largest = sizes.max(axis=-1, initial=0.0)
        count = sizes > SMALLEST_EIGENVALUE * largest[..., None]
        least = np.where(count, sizes, np.inf).min(axis=-1, initial=np.inf)
        return count.sum(axis=-1)[()], np.where(np.isinf(least), 1.0, largest / least)[()]

    @operator(ACCELERATION, "q u", gives=columns.generalised_forces)
    def constraint_forces(self, q: Any, u: Any, tau: Any = None, **options: Unpack[Options]) -> Array:
        """Generalised forces of all constraints, -G' lambda [N m, N], shape (..., nu)."""
        return self._run("constraint_forces", ACCELERATION, (q, u, self.multipliers(q, u, tau, **options)), options)

    @operator(ACCELERATION, "q u", gives=columns.constraint_powers)
    def constraint_power(self, q: Any, u: Any, tau: Any = None, **options: Unpack[Options]) -> Array:
        """Power of each constraint's forces [W], shape (..., number of constraints), in the order of `system.constraints`.
        Zero but for those that time moves, velocity constraints with a drift, and states off the constraints."""
        return self._run("constraint_power", ACCELERATION, (q, u, self.multipliers(q, u, tau, **options)), options)

    @operator(ACCELERATION, "q u", gives=columns.jumps)
    def impulses(self, q: Any, u: Any, f: Any = None, **options: Unpack[Options]) -> tuple[Array, Array]:
        """What happens at once when generalised impulses f [N m s, N s], shape (..., nu), act: the change of the speeds du,
        shape (..., nu), and the impulses lambda of all constraint equations, shape (..., m), by which u + du satisfies them:
        M du + G' lambda = f, G du = -v with the velocity errors v of `constraint_errors`.

        Without f: what takes speeds that a constraint catches to it, as in an impact without rebound. Equations of
        accelerations have no impulses. Locked and prescribed speeds do not change.

        Raises:
            ConstraintError: no change of the free speeds does it.
        """
        du, lambda_, left, allowed = self._run("impulses", ACCELERATION, (q, u, f), options)
        self._check_equations("impulses", lambda_)
        refuse_unmet("impulses", [name for name, _ in self.equation_names()], left, allowed)
        return du, lambda_

    @operator(ACCELERATION, "q u", gives=columns.constraint_wrenches)
    def constraint_reactions(self, q: Any, u: Any, constraint: str, tau: Any = None, **options: Unpack[Options]
                             ) -> dict[str, Array]:
        """Moment about the origin [N m] and force [N] of a constraint on each of its bodies but ground, in ground: arrays
        (..., 6) by name. Empty for constraints on coordinates and speeds, which act as generalised forces."""
        F = self._run("constraint_reactions", ACCELERATION, (q, u, self.multipliers(q, u, tau, **options)), options)
        return {body: F[..., where] for body, where in self._reaction_places(constraint).items()}

    # ---- bodies -------------------------------------------------------------------------------------------------------

    @operator(POSITION, "q")
    def body_pose(self, q: Any, body: Body | str, relative_to: Body | str | None = None, **options: Unpack[Options]
                  ) -> Transform:
        """X_GB: R (..., 3, 3) and p (..., 3) [m] of the body's frame in ground, or in the body `relative_to`."""
        X = self._of_body("poses", POSITION, (q,), body, options, 12)
        R = X[..., :9].reshape(X.shape[:-1] + (3, 3))
        X_GB = Transform.unchecked(R, X[..., 9:])
        return X_GB if relative_to is None else self.body_pose(q, relative_to, **options).inverse() @ X_GB

    @operator(VELOCITY, "q u", gives=columns.of_body(*columns.VELOCITY))
    def body_velocity(self, q: Any, u: Any, body: Body | str, relative_to: Body | str | None = None,
                      **options: Unpack[Options]) -> Array:
        """V_GB, shape (..., 6): angular, then linear velocity of the body's origin [rad/s, m/s], in ground; or as the body
        `relative_to` sees it, measured and expressed in that."""
        V = self._of_body("velocities", VELOCITY, (q, u), body, options)
        if relative_to is None:
            return V
        return self._seen_velocity(relative_to, q, u, self.body_pose(q, body, **options).p, V, options)

    @operator(ACCELERATION, "q u udot", gives=columns.of_body(*columns.ACCELERATION))
    def body_acceleration(self, q: Any, u: Any, udot: Any, body: Body | str, relative_to: Body | str | None = None,
                          **options: Unpack[Options]) -> Array:
        """A_GB, shape (..., 6): angular, then linear acceleration of the body's origin [rad/s^2, m/s^2], in ground; or as
        the body `relative_to` sees it: the rate of its `body_velocity` there."""
        A = self._of_body("accelerations", ACCELERATION, (q, u, udot), body, options)
        if relative_to is None:
            return A
        p, V = self.body_pose(q, body, **options).p, self.body_velocity(q, u, body, **options)
        return self._seen_acceleration(relative_to, q, u, udot, p, V, A, options)

    @operator(POSITION, "q")
    def composite_inertia(self, q: Any, body: Body | str, **options: Unpack[Options]) -> Array:
        """Spatial inertia, shape (..., 6, 6), of the body and all it carries as one rigid body, about its origin."""
        C = self._of_body("composite_inertias", POSITION, (q,), body, options, 36)
        return C.reshape(C.shape[:-1] + (6, 6))

    @operator(ACCELERATION, "q")
    def articulated_inertia(self, q: Any, body: Body | str, **options: Unpack[Options]) -> Array:
        """Spatial inertia [kg m^2, kg m, kg], shape (..., 6, 6), that the body shows with all it carries while that moves
        freely, about its origin, in ground: the force (moment, force) per acceleration. Locked and prescribed speeds are
        rigid; if all are, it is `composite_inertia`. Constraints do not count."""
        P = self._of_body("articulated_inertias", ACCELERATION, (q,), body, options, 36)
        return P.reshape(P.shape[:-1] + (6, 6))

    @operator(POSITION, "q")
    def frame_pose(self, q: Any, body: Body | str, X_BS: Any, relative_to: Body | str | None = None,
                   **options: Unpack[Options]) -> Transform:
        """X_GS of a frame fixed on the body, in ground or in the body `relative_to`."""
        X_GB, X = self.body_pose(q, body, relative_to, **options), Transform.of(X_BS, "X_BS")
        _point("X_BS", X.p, X_GB.p.shape[:-1])
        return X_GB @ X

    @operator(POSITION, "q", gives=columns.of_body(*columns.xyz("", "m")))
    def station_position(self, q: Any, body: Body | str, station: Any, relative_to: Body | str | None = None,
                         **options: Unpack[Options]) -> Array:
        """Position in ground, or in the body `relative_to` [m], shape (..., 3), of a point given in the body's frame."""
        X = self.body_pose(q, body, relative_to, **options)
        return X @ _point("station", station, X.p.shape[:-1])

    @operator(VELOCITY, "q u", gives=columns.of_body(*columns.VELOCITY))
    def frame_velocity(self, q: Any, u: Any, body: Body | str, station: Any, relative_to: Body | str | None = None,
                       **options: Unpack[Options]) -> Array:
        """Spatial velocity in ground, shape (..., 6), of a frame fixed on the body with its origin at the station; or as the
        body `relative_to` sees it."""
        r = self._arm(q, body, station, options)
        V = self.body_velocity(q, u, body, **options)
        V = _stacked(V[..., :3], V[..., 3:] + np.cross(V[..., :3], r))
        if relative_to is None:
            return V
        return self._seen_velocity(relative_to, q, u, self.body_pose(q, body, **options).p + r, V, options)

    @operator(VELOCITY, "q u", gives=columns.of_body(*columns.VELOCITY[3:]))
    def station_velocity(self, q: Any, u: Any, body: Body | str, station: Any, relative_to: Body | str | None = None,
                         **options: Unpack[Options]) -> Array:
        """Velocity in ground, or as the body `relative_to` sees it [m/s], shape (..., 3), of a point fixed on the body."""
        return self.frame_velocity(q, u, body, station, relative_to, **options)[..., 3:]

    @operator(ACCELERATION, "q u udot", gives=columns.of_body(*columns.ACCELERATION))
    def frame_acceleration(self, q: Any, u: Any, udot: Any, body: Body | str, station: Any,
                           relative_to: Body | str | None = None, **options: Unpack[Options]) -> Array:
        """Spatial acceleration in ground, shape (..., 6), of a frame fixed on the body; or as the body `relative_to` sees it."""
        r, V = self._arm(q, body, station, options), self.body_velocity(q, u, body, **options)
        A, w = self.body_acceleration(q, u, udot, body, **options), V[..., :3]
        a = A[..., 3:] + np.cross(A[..., :3], r) + np.cross(w, np.cross(w, r))
        A = _stacked(A[..., :3], a)
        if relative_to is None:
            return A
        p, V = self.body_pose(q, body, **options).p + r, _stacked(w, V[..., 3:] + np.cross(w, r))
        return self._seen_acceleration(relative_to, q, u, udot, p, V, A, options)

    @operator(ACCELERATION, "q u udot", gives=columns.of_body(*columns.ACCELERATION[3:]))
    def station_acceleration(self, q: Any, u: Any, udot: Any, body: Body | str, station: Any,
                             relative_to: Body | str | None = None, **options: Unpack[Options]) -> Array:
        """Acceleration in ground, or as the body `relative_to` sees it [m/s^2], shape (..., 3), of a point fixed on the body."""
        return self.frame_acceleration(q, u, udot, body, station, relative_to, **options)[..., 3:]

    # ---- Jacobians ----------------------------------------------------------------------------------------------------

    @operator(POSITION, "q")
    def station_jacobian(self, q: Any, body: Body | str, station: Any, **options: Unpack[Options]) -> Array:
        """J, shape (..., 3, nu): the velocity in ground of a point of the body is J u. station: in the body's frame [m]."""
        return self._jacobian("station_jacobian", 3, q, body, station, options)

    @operator(POSITION, "q")
    def frame_jacobian(self, q: Any, body: Body | str, station: Any, **options: Unpack[Options]) -> Array:
        """J, shape (..., 6, nu): the spatial velocity in ground of a frame on the body is J u."""
        return self._jacobian("frame_jacobian", 6, q, body, station, options)

    @operator(POSITION, "q")
    def system_jacobian(self, q: Any, **options: Unpack[Options]) -> Array:
        """J, shape (..., bodies, 6, nu): V_GB of all bodies is J u."""
        return self._shaped("system_jacobian", POSITION, (q,), (len(self.bodies), 6, self.nu), options)

    @operator(VELOCITY, "q u", gives=columns.of_body(*columns.ACCELERATION))
    def frame_bias(self, q: Any, u: Any, body: Body | str, station: Any, **options: Unpack[Options]) -> Array:
        """Jdot u, shape (..., 6): spatial acceleration of a frame on the body at udot = 0."""
        return self.frame_acceleration(q, u, np.zeros(self.nu), body, station, **options)

    @operator(VELOCITY, "q u", gives=columns.of_body(*columns.ACCELERATION[3:]))
    def station_bias(self, q: Any, u: Any, body: Body | str, station: Any, **options: Unpack[Options]) -> Array:
        """Jdot u, shape (..., 3): acceleration of a point of the body at udot = 0."""
        return self.frame_bias(q, u, body, station, **options)[..., 3:]

    # ---- the whole ----------------------------------------------------------------------------------------------------

    @operator(POSITION, "q", kernel=True, gives=columns.fixed(*columns.xyz("mass_centre_", "m")))
    def mass_centre(self, q: Any, **options: Unpack[Options]) -> Array:
        """Position of the system's mass centre [m], shape (..., 3)."""
        return self._run("mass_centre", POSITION, (q,), options)

    @operator(VELOCITY, "q u", gives=columns.fixed(*columns.xyz("mass_centre_v", "m/s")))
    def mass_centre_velocity(self, q: Any, u: Any, **options: Unpack[Options]) -> Array:
        """Velocity of the system's mass centre [m/s], shape (..., 3)."""
        return self._run("mass_centre_motion", VELOCITY, (q, u, np.zeros(self.nu)), options)[0]

    @operator(ACCELERATION, "q u udot", gives=columns.fixed(*columns.xyz("mass_centre_a", "m/s^2")))
    def mass_centre_acceleration(self, q: Any, u: Any, udot: Any, **options: Unpack[Options]) -> Array:
        """Acceleration of the system's mass centre [m/s^2], shape (..., 3)."""
        return self._run("mass_centre_motion", ACCELERATION, (q, u, udot), options)[1]

    @operator(VELOCITY, "q u", gives=columns.fixed(*columns.MOMENTUM))
    def momentum(self, q: Any, u: Any, about: Any = (0.0, 0.0, 0.0), **options: Unpack[Options]) -> Array:
        """Angular momentum about a point of ground [kg m^2/s] and linear momentum [kg m/s], shape (..., 6)."""
        h = self._run("momentum", VELOCITY, (q, u), options)
        return _stacked(h[..., :3] - np.cross(_point("about", about, h.shape[:-1]), h[..., 3:]), h[..., 3:])

    # ---- shared -------------------------------------------------------------------------------------------------------

    def _arm(self, q: Any, body: Body | str, station: Any, options: Options) -> Array:
        """From the body's origin to a station, in ground."""
        R = self.body_pose(q, body, **options).R
        return (R @ _point("station", station, R.shape[:-2])[..., None])[..., 0]

    def _seen_velocity(self, who: Body | str, q: Any, u: Any, p: Array, V: Array, options: Options) -> Array:
        """What velocity V at p, both in ground, is for a body."""
        return relative.velocity(self.body_pose(q, who, **options), self.body_velocity(q, u, who, **options), p, V)

    def _seen_acceleration(self, who: Body | str, q: Any, u: Any, udot: Any, p: Array, V: Array, A: Array, options: Options
                           ) -> Array:
        """What acceleration A at p with velocity V, all in ground, is for a body."""
        return relative.acceleration(self.body_pose(q, who, **options), self.body_velocity(q, u, who, **options),
                                     self.body_acceleration(q, u, udot, who, **options), p, V, A)

    def _shaped(self, kernel: str, stage: Stage, arguments: tuple[Any, ...], shape: tuple[int, ...], options: Options,
                which: str | None = None) -> Array:
        """A result that is flat in native code, in its shape."""
        flat = self._run(kernel, stage, arguments, options, which)
        return flat.reshape(flat.shape[:-1] + shape)

    def _of_body(self, kernel: str, stage: Stage, arguments: tuple[Any, ...], body: Body | str | None, options: Options,
                 n: int = 6) -> Array:
        """The n numbers of one body in a result of all bodies; all of them, shape (..., bodies, n), for None."""
        which = None if body is None else self.body(body)
        result = self._run(kernel, stage, arguments, options)
        if which is None:
            return result.reshape(result.shape[:-1] + (len(self.bodies), n))
        if which.is_ground:
            return np.broadcast_to(np.array(_GROUND.get(kernel, (0.0,) * n)), result.shape[:-1] + (n,))
        return result[..., n * which.index:n * which.index + n]

    def _jacobian(self, kernel: str, rows: int, q: Any, body: Body | str, station: Any, options: Options) -> Array:
        which = self.body(body)
        if which.is_ground:
            batch = self._of_body("poses", POSITION, (q,), which, options, 12)[..., 0]
            point = _point("station", station, batch.shape)
            return np.zeros(np.broadcast_shapes(batch.shape, point.shape[:-1]) + (rows, self.nu))
        return self._shaped(kernel, POSITION, (q, station), (rows, self.nu), options, which.name)


_GROUND = {"poses": (1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)}


def state_method(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """The operator as a method of State: q, u and udot are its own."""
    record: Any = method
    own = asked(method)
    known = [p.name for p in own]
    moves = known[:1] == ["udot"]

    def call(self: State, *arguments: Any, **named: Any) -> Any:
        for argument in named:
            if argument not in known:
                raise UnknownNameError(f"argument of State.{name}()", argument, known, "change a State by state.replace(...)")
        if len(arguments) > len(known):
            raise ArgumentError(f"State.{name}: takes {len(known)} arguments ({', '.join(known)}), got {len(arguments)}; a State "
                                f"has {', '.join(record.arrays)} itself")
        if moves and not arguments and named.get("udot") is None:
            named["udot"] = self.udot
        return getattr(self.system, name)(*(getattr(self, a) for a in record.arrays), *arguments, **named, state=self)

    call.__name__, call.__doc__ = name, record.summary
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    call.__signature__ = inspect.signature(method).replace(parameters=[this, *own])  # type: ignore[attr-defined]
    return call
