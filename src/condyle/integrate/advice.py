"""Why a run ended early, and what to try."""

from __future__ import annotations

import numpy as np

from condyle.constraints.solve.projection import project
from condyle.errors import ConstraintError, ConvergenceError, ShapeError, SingularError
from condyle.integrate.manifold import Manifold
from condyle.mobilizers import motion_at
from condyle.model.explain import explain
from condyle.native.programs import nodes
from condyle.status import Outcome, Status
from condyle.system.checked_arguments import COARSEST
from condyle.system.failures import unsolved
from condyle.system.state import State

AHEAD = (0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""How far ahead to look for what stopped a run [s]."""
NEARLY = 1e-3
"""Rank is about to be lost if the least singular value of H (of columns of length one) or N (over the
largest) is below this."""
LATE = 1e4
"""After this time [s] the shortest step is no longer short."""


def advice(
    like: State,
    t: float,
    y: np.ndarray,
    f: np.ndarray,
    h: float,
    worst: int,
    status: int,
    step: float | None,
    manifold: Manifold | None = None,
) -> Outcome:
    """Why a run ended early, and what to try.

    Args:
        like: the State, except t, q, u, z.
        t: when the run ended [s].
        y: q, u, z at t, side by side.
        f: ydot at t.
        h: the step it tried last [s], negative backward in time.
        worst: index in y of the largest error.
        status: of the program.
        step: the fixed step [s], if steps were fixed.
        manifold: of the run.
    """
    system = like.system
    names = [*system.coordinates, *(f"speed of {name}" for name in system.speeds), *system.state_variables]
    when = f"stopped at t = {t:.6g} s: "

    def ended(kind: Status, what: str) -> Outcome:
        return Outcome(kind, when + what)

    if status == nodes.LaneStatus.LIMIT:
        return ended(Status.REJECTED, f"too many steps were rejected; {Status.REJECTED.advice}")
    unit = float(np.spacing(abs(t)))
    way, h = (1, h) if h >= 0 else (-1, -h)
    if h < COARSEST * unit:
        return ended(
            Status.TIME,
            f"a step of {h:.2g} s is below what t can resolve: doubles are {unit:.2g} "
            f"s apart there; {Status.TIME.advice}",
        )
    ahead = sorted({0.0, h, *(AHEAD if step is None else (step,))})
    with np.errstate(invalid="ignore", over="ignore"):
        places = [
            (since, _Nearby(like, t + way * since, y + way * since * f if since else y)) for since in ahead
        ]
    near = [(since, place) for since, place in places if np.isfinite(place.y).all()]
    for since, place in near:
        if since <= max(h, 1e-6) and (lost := place.singular()):
            return ended(Status.SINGULAR, f"{lost}{f' ({_later(since)})' if since else ''}")
    for since, place in near:
        if since <= h and (lost := place.unsolved()):
            kind = Status.CONTACT if lost.startswith("contact ") else Status.PATH
            return ended(kind, f"{lost}{f' ({_later(since)})' if since else ''}; {kind.advice}")
        if since <= h and (lost := place.contradiction()):
            return ended(Status.NOT_FINITE, f"{lost}{f' ({_later(since)})' if since else ''}")
        if since <= h and (first := place.not_finite()) is not None:
            return ended(
                Status.NOT_FINITE, f"{first} is not finite {_later(since)}; {Status.NOT_FINITE.advice}"
            )
    if system.constraints and manifold is not None:
        for since, place in near:
            if violated := place.violated(manifold):
                return ended(
                    Status.CONSTRAINTS,
                    f"the constraints can no longer be satisfied; {_later(since)} {violated}; "
                    f"{Status.CONSTRAINTS.advice}",
                )
    if near and (lost := near[0][1].nearly()):
        return ended(Status.SINGULAR, lost)
    if step is not None:
        return ended(
            Status.STEP_TOO_LONG,
            f"the next state is not finite or was not found: a step of {step:g} s is too long; "
            f"{Status.STEP_TOO_LONG.advice}",
        )
    coarse = (
        f" (doubles are {unit:.2g} s apart there: let time start nearer to zero)" if abs(t) > LATE else ""
    )
    tendon = (
        "; an elastic tendon is stiff where its fiber hardly pulls: start from "
        "system.equilibrate_muscles(state), or take integrator='rodas'"
        if names[worst].endswith(".normalized_tendon_force")
        else ""
    )
    return ended(
        Status.NO_STEP,
        f"no step is small enough for the accuracy{coarse}; {names[worst]} has the "
        f"largest error{tendon}; {Status.NO_STEP.advice}",
    )


def _later(since: float) -> str:
    return f"{since:.1g} s later" if since else "there"


class _Nearby:
    """The numbers of a state. It is not a State, since motions may prescribe values that are not finite."""

    def __init__(self, like: State, t: float, y: np.ndarray) -> None:
        self.system, self.t, self.y, nq, nu = like.system, t, y, like.q.size, like.u.size
        self.q, self.u, self.tail = y[:nq].copy(), y[nq : nq + nu].copy(), like.tail.copy()
        where = like.system.compiled.model.tail
        self.tail[where["t"]], self.tail[where["z"]] = t, y[nq + nu :]

    def unsolved(self) -> str:
        """Names of the path that cannot be solved; empty if all can."""
        words = unsolved(self.system.compiled, self.q, self.tail)
        return words[0] if words else ""

    def not_finite(self) -> object:
        """The first thing that is not finite."""
        return explain(
            self.system.compiled.model, self.q, self.u, self.system.compiled.no_tau, self.tail
        ).first

    def singular(self) -> str:
        """The matrices that have lost rank; empty if none has."""
        for operator, more in (("forward_dynamics", (self.system.compiled.no_tau,)), ("qdot", ())):
            try:
                self.system.compiled.function(operator)(self.q, self.u, *more, self.tail)
            except SingularError as error:
                return str(error).removeprefix(f"{operator}: ")
            # its message names the numbers that are not finite; see `violated`
            except (ShapeError, ConstraintError, ConvergenceError):
                continue
        return ""

    def contradiction(self) -> str:
        """Laws that contradict the reactions on which they depend; empty if none does."""
        if self.system.compiled.model.reaction_laws:
            try:
                self.system.compiled.function("forward_dynamics")(
                    self.q, self.u, self.system.compiled.no_tau, self.tail
                )
            except ConvergenceError as error:
                return str(error).removeprefix("forward_dynamics: ")
            except (ShapeError, ConstraintError, SingularError):
                pass
        return ""

    def nearly(self) -> str:
        """Which mobilizer is about to lose rank; empty if none is."""
        for b in self.system.bodies:
            q, nu = self.q[b.q], b.mobilizer.nu
            if not nu or b.follows is not None:  # a body may be at rest while its parent moves
                continue
            parts = motion_at(b.mobilizer, self.t, q, np.zeros(nu))
            H = np.concatenate([np.reshape(parts[2], (3, nu)), np.reshape(parts[3], (3, nu))])
            N = np.stack([np.ravel(motion_at(b.mobilizer, self.t, q, e).qdot) for e in np.eye(nu)], axis=1)
            for name, A in (("H", H / np.maximum(np.linalg.norm(H, axis=0), 1e-300)), ("N", N)):
                values = np.linalg.svd(A, compute_uv=False) if np.isfinite(A).all() else np.zeros(1)
                if not values[-1] > NEARLY * values[0]:
                    at = ", ".join(f"{c.name} = {x:.6g}" for c, x in zip(b.coordinates, q, strict=True))
                    words = f": {b.mobilizer.singular}" if b.mobilizer.singular else ""
                    return (
                        f"the mobilizer of body {b.name!r} ({b.mobilizer!r}) is about to lose a "
                        f"direction of motion at {at}: its {name} loses rank{words}. Use other "
                        "coordinates (a quaternion instead of angles), or stay away from it"
                    )
        return ""

    def violated(self, manifold: Manifold) -> str:
        """Which constraints cannot be satisfied nearby; empty if all can."""
        try:
            project(
                self.system.compiled.projection(self.tail, manifold.weights),
                self.q,
                self.u,
                10 * manifold.tolerance,
                100 * manifold.tolerance,
            )
        except ConstraintError as error:
            amounts = ", ".join(f"{name!r} by {amount:.3g}" for name, amount in error.violated.items())
            return f"they are violated: {amounts}"
        except SingularError as error:
            return str(error)
        return self._pulled_apart()

    def _pulled_apart(self) -> str:
        """Constraints that no accelerations satisfy together, with the locks and motions as they are; empty
        if there are none."""
        try:
            self.system.compiled.function("forward_dynamics")(
                self.q, self.u, self.system.compiled.no_tau, self.tail
            )
        except ConstraintError as error:
            amounts = ", ".join(f"{name!r} by {amount:.3g}" for name, amount in error.violated.items())
            return f"accelerations violate them: {amounts}"
        return ""
