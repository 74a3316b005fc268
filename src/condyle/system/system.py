"""The public class System: its description (description.py) and operators (operators/)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from casadi import Function

from condyle.arguments import with_call_hints
from condyle.arrays import Array, Entries, Vector, check_finite, vector
from condyle.errors import ArgumentError, DescriptionError, ShapeError, UnknownNameError
from condyle.loading import Deferred
from condyle.system.operators import (
    BodyOperators,
    DynamicsOperators,
    MuscleOperators,
    PathOperators,
)
from condyle.system.operators.groups import in_group
from condyle.system.state import State
from condyle.system.tails import NAMES as TAIL
from condyle.tree import scales
from condyle.tree.body import Body

if TYPE_CHECKING:
    from condyle.constraints.solve import projection
    from condyle.model import explain
    from condyle.system import derivatives
else:  # rarely needed
    explain, derivatives, projection = (
        Deferred(f"condyle.{room}")
        for room in ("model.explain", "system.derivatives", "constraints.solve.projection")
    )

_ELSEWHERE = {
    "simulate": "cd.simulate(system, state, t_final)",
    "integrate": "cd.simulate(system, state, t_final)",
    "assemble": "cd.assemble(system, state, goals)",
    "relax": "cd.relax(system, state)",
    "add_joint": "an argument of add_body: mobilizer=cd.Pin()",
    "add": "add_body, add_force or add_constraint",
    "add_spring": "system.add_force(name, cd.forces.TwoPointSpring(...))",
    "add_surface": "system.add_contact(name, a, b): surfaces are cd.contact.Sphere(...) and the like",
    "contact": "system.force(name), of rigid ones system.constraint(name); system.contacts has the names",
    "add_muscle": "system.add_force(name, cd.muscles.Thelen2003(path, ...))",
    "muscle": "system.force(name); system.muscles has the names",
    "static_optimization": "cd.static_optimization(system, motion)",
    "joint_reactions": "cd.joint_reactions(system, motion, forces)",
    "joints": "in system.bodies: each has a mobilizer",
    "q": "in a state: system.state().q, or system.defaults()[0]",
    "u": "in a state: system.state().u, or system.defaults()[1]",
    "t": "in a state: system.state().t",
    "nx": "nq + nu",
    **dict.fromkeys(("com", "center_of_mass"), "system.mass_center(q)"),
    **dict.fromkeys(("equations", "equation_names"), "system.constraints.equations()"),
    "muscle_equilibrium": "system.muscles.equilibrium(q, z=z)",
    "multiplier_rows": "system.constraints.rows(constraint)",
    "unilateral": "system.constraints.unilateral",
    "M": "system.mass_matrix(q)",
    "fd": "system.forward_dynamics(q, u)",
    "id": "system.inverse_dynamics(q, u, udot)",
    "forward_kinematics": "system.body_pose(q, body)",
}
"""Hints for attributes that System does not have."""


class System(DynamicsOperators, BodyOperators, PathOperators, MuscleOperators):
    """Bodies joined by mobilizers under gravity. Describe it with `add_body`, then call its operators.

    The first state, operator call or pickle freezes it; `copy()` returns an unfrozen copy.

    Args:
        gravity: acceleration of free fall in ground [m/s^2], shape (3,).
    """

    elsewhere = _ELSEWHERE

    def _named(self, name: str) -> str:
        path = in_group(name)
        return f"system.{path}" if path else super()._named(name)

    # ---- states --------------------------------------------------------------------------------------------

    @with_call_hints(skip=1)
    def state(
        self,
        t: float = 0.0,
        q: Vector | None = None,
        u: Vector | None = None,
        *,
        z: Vector | None = None,
        inputs: Vector | None = None,
        discrete: Vector | None = None,
        parameters: Vector | None = None,
        locked: Iterable[str] | Mapping[str, str | float] | None = None,
        disabled: Iterable[str] | None = None,
    ) -> State:
        """Create a State. Pass arrays in order, or mappings from names to values; missing names keep their
        defaults.

        Args:
            t: time [s].
            q: coordinates, shape (nq,). Prescribed values at t replace the given ones.
            u: speeds, shape (nu,); likewise.
            z: auxiliary states, shape (nz,).
            inputs: values of the Inputs.
            discrete: values of the discrete variables.
            parameters: values of the Parameters.
            locked: names of locked speeds, or a mapping from them to levels (see `Options`); those of locked
                coordinates by default, none if empty. disabled: names of disabled forces, constraints and
                bodies with prescribed motion; those added with enabled=False by default.
        """
        self._freeze("state()")
        return State.of(
            self,
            t=t,
            q=q,
            u=u,
            z=z,
            inputs=inputs,
            discrete=discrete,
            parameters=parameters,
            locked=locked,
            disabled=disabled,
        )

    def explain(self, state: State, tau: Vector | None = None) -> explain.Explanation:
        """Compute every named intermediate of the state's accelerations without native code; print the
        result.

        Use it when a result is NaN or unexpected: it names the first body, mobilizer or force that is not
        finite.

        Args:
            state: a State of this system.
            tau: generalized forces [N m, N], shape (nu,); zero if left out.
        """
        if not isinstance(state, State):
            raise ArgumentError(
                "explain: expected a State: system.explain(system.state(q=..., u=...), "
                f"tau=None), got {state!r}"
            )
        if state.system is not self:
            raise DescriptionError(
                "explain: the state belongs to another system; make it with system.state()"
            )
        given = (
            self.compiled.no_tau
            if tau is None
            else vector("explain: tau", tau, self.nu, self.compiled.entries["tau"])
        )
        if given.ndim > 1:
            raise ShapeError(f"explain: tau: expected ({self.nu},), got {given.shape}; a State is one state")
        return explain.explain(self.compiled.model, state.q, state.u, given, state.tail)

    # ---- derivatives and expressions -----------------------------------------------------------------------

    @with_call_hints(skip=1)
    def jvp(
        self, operator: str, *arguments: object, tangents: Mapping[str, Vector], **options: object
    ) -> Array:
        """Derivative of an operator in a direction, exact:
        `system.jvp("forward_dynamics", q, u, tau, tangents={"q": dq, "u": du})`.

        With respect to q, derivatives are along the manifold (q has nu directions, quaternions stay
        normalized): column j = d/de f(q + e N(q) e_j). A table look-up is differentiated with its row held
        fixed; at a kink the derivative is that of the active side.

        Args:
            operator: its name; it must have its own kernel. arguments: those of the operator, including the
                body's name for body_pose and similar.
            tangents: directions by variable: q (..., nu), u, tau, udot, f, station, t, z, inputs, discrete,
                parameters, as far as the operator has them.
            options: those of the operator, except `out`.

        Returns:
            shape (..., size of the result): the operator's, flat; body_pose as R row by row, then p; energy
            as (kinetic, potential).

        Raises:
            UnknownNameError: an unknown operator or variable.
            SingularError: the operator has no result there.
        """
        return derivatives.jvp(self._freeze("jvp()"), operator, arguments, tangents, options)

    @with_call_hints(skip=1)
    def vjp(
        self,
        operator: str,
        *arguments: object,
        cotangent: Vector,
        wrt: Sequence[str] = ("q",),
        **options: object,
    ) -> dict[str, Array]:
        """Gradients of cotangent . result with respect to some variables.

        Args:
            operator: its name, as for `jvp`.
            arguments: arguments of the operator.
            cotangent: shape (..., size of the result).
            wrt: names of the variables.
            options: those of the operator, except `out`.

        Returns:
            a mapping from the variables to arrays (..., n); nu numbers for q.
        """
        if not options and type(wrt) is tuple:  # same call as before?
            direct = self.compiled.direct.get(("vjp", operator, wrt, len(arguments)))
            if direct is not None:
                return direct(*arguments, cotangent)
        return derivatives.vjp(self._freeze("vjp()"), operator, arguments, cotangent, wrt, options)

    @overload
    def jacobian(self, operator: str, *arguments: object, wrt: str, **options: object) -> Array: ...  # type: ignore[overload-overlap]
    @overload
    def jacobian(
        self, operator: str, *arguments: object, wrt: Sequence[str], **options: object
    ) -> Mapping[str, Array]: ...

    @with_call_hints(skip=1)
    def jacobian(
        self, operator: str, *arguments: object, wrt: str | Sequence[str], **options: object
    ) -> Array | Mapping[str, Array]:
        """All partial derivatives: `system.jacobian("energy", q, u, wrt="q")`.

        Args:
            operator: its name, as for `jvp`.
            arguments: arguments of the operator.
            wrt: a variable, or several, `wrt=("q", "u", "tau")`, which cost less together.
            options: those of the operator, except `out`.

        Returns:
            shape (..., size of the result, n); for several variables a mapping from these to arrays.
        """
        if not options and (type(wrt) is tuple or type(wrt) is str):
            direct = self.compiled.direct.get(("jacobian", operator, wrt, len(arguments)))
            if direct is not None:  # same call as before
                return direct(*arguments) if type(wrt) is tuple else direct(*arguments)[wrt]
        return derivatives.jacobian(self._freeze("jacobian()"), operator, arguments, wrt, options)

    @with_call_hints(skip=1)
    def casadi(
        self,
        operator: str,
        body: Body | str | None = None,
        *,
        locked: Iterable[str] | Mapping[str, str | float] | None = None,
        disabled: Iterable[str] | None = None,
    ) -> Function:
        """An operator as a casadi.Function of expressions, for other optimizers and derivatives.

        Args:
            operator: its name, such as "forward_dynamics".
            body: for operators of one body: "body_pose" (R row by row, then p), "kinematics.frame_jacobian",
                and similar.
            locked: as for operators; it is built in.
            disabled: as for operators; it is built in.

        Returns:
            named inputs: the operator's arrays, then t, z, inputs, discrete and parameters where the system
                has some: columns in the order of their names. Missing tau and t are zero; other missing
                    inputs are NaN, or their default if that is one number. Outputs have names too; matrices
                    remain matrices. Where the operator would raise SingularError, the numbers are
                    meaningless.

        Raises:
            DescriptionError: the system contains a table lookup, such as a long spline or series.
        """
        which = None if body is None or self.body(body).is_ground else self.body(body).index
        given = {
            name: value for name, value in (("locked", locked), ("disabled", disabled)) if value is not None
        }
        return derivatives.casadi_function(self._freeze("casadi()"), operator, which, given)

    # ---- prescribed motion and constraints -----------------------------------------------------------------

    def prescribe(self, q: Vector, u: Vector, **options: object) -> tuple[Array, Array]:
        """q and u with the values prescribed by enabled motions at t, and u = 0 for speeds locked at position
        level. Other entries do not change. States do this automatically; operators use q and u unchanged.

        Args:
            q: coordinates, shape (..., nq).
            u: speeds, shape (..., nu).
            options: t, z, inputs, parameters, locked and disabled, as for operators.

        Returns:
            q (..., nq) and u (..., nu).
        """
        return self._prescribed("prescribe", "prescribed", q, u, options)[:2]

    def _prescribed(
        self, what: str, kernel: str, q: Vector, u: Vector, options: Mapping[str, Any]
    ) -> tuple[Array, Array, Array]:
        """q, u and the tail of states given by a user, with the values prescribed by motions inserted; they
        broadcast."""
        for option in options:
            if option not in TAIL:
                raise UnknownNameError(f"option of {what}()", option, TAIL)
        compiled = self._freeze(f"{what}()")
        compiled.check_time(what, kernel, (q, u), options)
        q = vector(f"{what}: q", q, self.nq, compiled.entries["q"])
        u = vector(f"{what}: u", u, self.nu, compiled.entries["u"])
        tail = compiled.tails.make(options)
        try:
            np.broadcast_shapes(q.shape[:-1], u.shape[:-1], tail.shape[:-1])
        except ValueError:
            raise ShapeError(
                f"{what}: shapes do not broadcast before their last dimension: q {q.shape}, u "
                f"{u.shape}, options "
                f"{tail.shape[:-1]}; give as many rows of each, or one"
            ) from None
        q, u = compiled.prescribed(q, u, tail, options.get("locked"))
        # only now, since motions replace some of the given values
        for name, x in (("q", q), ("u", u)):
            check_finite(f"{what}: {name}", x, compiled.entries[name])
        return q, u, tail

    def project(
        self,
        q: Vector,
        u: Vector,
        *,
        weights: Vector | None = None,
        tolerance: float = 1e-10,
        **options: object,
    ) -> tuple[Array, Array]:
        """Find nearby q (..., nq) and u (..., nu) that satisfy all enabled constraints, with quaternions
        normalized: each Newton step is the shortest, so close to the constraints the result is the nearest.
        From far away use `cd.assemble`.

        Args:
            q: coordinates, shape (..., nq).
            u: speeds, shape (..., nu). They change as by an impulse of the constraints, with the least
                kinetic energy. Locked speeds do not change, prescribed ones take their values at t.
            weights: W, shape (nu,), of changes of each speed's coordinate; by default those of `simulate`'s
                errors, so that 1 rad equals one length of the system.
            tolerance: largest error of an equation, in its own unit; for velocities in the unit times the
                largest speed or 1.
            options: t, z, inputs, parameters, locked and disabled, as for operators.

        Raises:
            ConstraintError: Newton's method finds no such state.
        """
        q, u, tail = self._prescribed("project", "position_change", q, u, options)
        W = scales.weights(self.bodies)[1] if weights is None else self._weights(weights)
        if not isinstance(tolerance, (int, float, np.number)) or not 0 < tolerance <= sys.float_info.max:
            raise DescriptionError(f"project: tolerance: expected a number above zero, got {tolerance!r}")
        batch = np.broadcast_shapes(q.shape[:-1], u.shape[:-1], tail.shape[:-1])
        q, u = np.broadcast_to(q, batch + (self.nq,)).copy(), np.broadcast_to(u, batch + (self.nu,)).copy()
        return projection.project(self.compiled.projection(tail, W), q, u, tolerance)

    def _weights(self, given: Vector) -> Array:
        """The weights, checked: one positive number per speed."""
        W = vector("project: weights", given, self.nu, Entries("speed", self.speeds))
        if W.shape != (self.nu,) or not (np.isfinite(W) & (W > 0)).all():
            raise ShapeError(f"project: weights: expected {self.nu} numbers above zero, got {given!r}")
        return W
