"""Residuals of `cd.fit_parameters`: measured values minus those of a model, with exact derivatives by its
Parameters.

    cd.residuals.Operator("moment_arms", q, values=measured)         an operator at known states
    cd.residuals.States(lambda s: s.station_position(...), q, ...)   a function at known states
    cd.residuals.Forces(motion, moments)                             generalized forces of a known motion
    cd.residuals.Markers(markers)                                    markers, with poses found for each frame
    cd.residuals.Run(recording, start)                               a run from a state

Each gives r = (model - measured) / sigma and dr/dp. Unknown poses q of frames are eliminated: with J_q =
dr/dq at the poses that fit best,

    dr/dp = P (partial dr/dp),   P = I - J_q J_q^+                                                         (1)

(variable projection, Kaufman 1975; exact in the gradient of |r|^2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import condyle.io as io
from condyle.arrays import Array
from condyle.errors import DescriptionError, check_names
from condyle.laws.ask import AskedState
from condyle.studies.fitting.base import (
    Evaluated,
    Prepared,
    Residuals,
    StateJacobians,
    pack,
    spread,
    values_of,
)
from condyle.studies.fitting.runs import Run
from condyle.studies.motion.motion import Motion
from condyle.system.derivatives import derivable
from condyle.system.system import System
from condyle.table import Table

__all__ = ["Forces", "Markers", "Operator", "Run", "States"]

CLOSE, ITERATIONS = 1e-12, 50
"""Poses have converged when they change by less than this [rad, m]; most iterations."""


class _Function(Prepared):
    """Residuals from a function of all Parameters that returns model values (..., n) and derivatives (...,
    n, p)."""

    def __init__(
        self, label: str, call: Callable[[Array], tuple[Array, Array]], p: Array, values: Any, sigma: Any
    ) -> None:
        self.label, self.call, self.absolute = label, call, sigma is not None
        shape = call(p)[0].shape
        self.values = values_of(label, values, shape)
        self.sigma = spread(label, sigma, shape)

    def evaluate(self, p: Array, x: Array, weight: float) -> Evaluated:
        model, J = self.call(p)
        return pack(model, self.values, self.sigma, J)


class Operator(Residuals):
    """Measured values of an operator of the system at known states.

        cd.residuals.Operator("path_lengths", q, values=lengths, sigma=1e-3)

    Args:
        name: name of an operator with derivatives: "inverse_dynamics", "moment_arms", "body_pose", ...
        arguments: its arguments in order, arrays (..., n); without the body.
        values: measured values, in the shape of the result (results of several parts are one vector: a pose
            is R row by row, then p); NaN for gaps.
        body: the body, if the operator needs one.
        sigma: standard deviation of the measurements, a number or an array; unknown and equal by default.
        options: t, z, inputs, discrete, locked, disabled, as for operators.
    """

    def __init__(
        self,
        name: str,
        *arguments: ArrayLike,
        values: ArrayLike,
        body: str | None = None,
        sigma: ArrayLike | None = None,
        **options: object,
    ) -> None:
        self.record = derivable(name)
        self.name, self.values, self.body, self.sigma = name, values, body, sigma
        self.arguments: list[Any] = [np.asarray(a, dtype=float) for a in arguments]
        self.options: dict[str, Any] = options

    def prepare(self, system: System) -> Prepared:
        arguments = list(self.arguments)
        if self.body is not None:
            arguments.insert(len(arguments) if self.record.per_body == "row" else 1, self.body)
        ask: Callable[..., Any] = attrgetter(self.name)(system)

        def call(p: Array) -> tuple[Array, Array]:
            result = ask(*arguments, parameters=p, **self.options)
            J = system.jacobian(self.name, *arguments, wrt="parameters", parameters=p, **self.options)
            if isinstance(result, np.ndarray):
                return result, J.reshape(*result.shape, -1)
            parts = [np.asarray(x) for x in result]
            return np.concatenate([x.reshape(*J.shape[:-2], -1) for x in parts], axis=-1), J

        return _Function(self.name, call, system.state().parameters, self.values, self.sigma)


class States(Residuals):
    """Measured values of a function of the state at known states.

        cd.residuals.States(lambda s: s.station_position("hand", (0, -0.3, 0)), q, values=points)

    Args:
        function: f(s) -> one number or several, over the accessors of force laws: s.q("knee"),
            s.station_position(body, p), s.parameter("c", 2.0), ...; traced once.
        q: coordinates, shape (m, nq).
        u: speeds, shape (m, nu); zero by default.
        values: measured values, (m, k), or (k,) for all; NaN for gaps.
        sigma: standard deviation of the measurements; unknown and equal by default.
        options: t, z, inputs, discrete, locked, disabled, as for operators.
    """

    def __init__(
        self,
        function: Callable[[AskedState], object],
        q: ArrayLike,
        u: ArrayLike | None = None,
        *,
        values: ArrayLike = 0.0,
        sigma: ArrayLike | None = None,
        **options: object,
    ) -> None:
        self.function, self.q, self.u = function, q, u
        self.values, self.sigma, self.options = values, sigma, options

    def prepare(self, system: System) -> Prepared:
        q = np.atleast_2d(system.compiled.vector("q", self.q, "residuals.States"))
        u = np.zeros((1, system.nu)) if self.u is None else self.u
        u = np.broadcast_to(system.compiled.vector("u", u, "residuals.States"), (len(q), system.nu))
        jacobians = StateJacobians(system, self.function, "residuals.States")

        def call(p: Array) -> tuple[Array, Array]:
            tail = system.compiled.tail(parameters=p, **self.options)
            g, J = jacobians.all_of(q, u, np.broadcast_to(tail, (len(q), tail.shape[-1])))
            return g, J[3]

        return _Function("function of the state", call, system.state().parameters, self.values, self.sigma)


class Forces(Residuals):
    """Measured generalized forces of a known motion, such as joint moments of a dynamometer.

    Args:
        motion: coordinates over time, as for `cd.inverse_dynamics`.
        forces: forces required in addition to the enabled forces of the system, a Table with columns by speed
            [N m, N], at the times of the motion; only its speeds are compared.
        sigma: standard deviation, a number, or by column.
        disabled: forces to disable, such as muscles.
    """

    def __init__(
        self,
        motion: Table | Motion,
        forces: Table,
        *,
        sigma: float | Mapping[str, float] | None = None,
        disabled: object = (),
    ) -> None:
        self.motion, self.forces, self.sigma, self.disabled = motion, forces, sigma, disabled

    def prepare(self, system: System) -> Prepared:
        motion: Any = self.motion
        motion = motion if isinstance(motion, Motion) else Motion.of(system, motion)
        table = self.forces
        check_names("speed", table.names, system.speeds, "residuals.Forces: forces")
        if len(table) != len(motion.t) or not np.allclose(table.time, motion.t, atol=1e-9):
            raise DescriptionError(
                f"residuals.Forces: forces have {len(table)} times, the motion {len(motion.t)}; they must be "
                "the same times"
            )
        columns = [system.speeds.index(name) for name in table.names]
        values = table.to_si().values
        sigma = (
            None if self.sigma is None else spread("residuals.Forces", self.sigma, values.shape, table.names)
        )
        options: Any = {"t": motion.t, "disabled": self.disabled}

        def call(p: Array) -> tuple[Array, Array]:
            state = motion.q, motion.u, motion.udot
            tau = system.inverse_dynamics(*state, parameters=p, **options)
            J = system.jacobian("inverse_dynamics", *state, wrt="parameters", parameters=p, **options)
            return tau[:, columns], J[:, columns]

        return _Function("forces", call, system.state().parameters, values, sigma)


class Markers(Residuals):
    """Measured markers, to fit the system's Parameters (lengths, positions of joints). The poses of
    the frames are fitted too, or known; locked or prescribed coordinates keep their values.

    Args:
        markers: measured positions by name; markers that the system does not have are ignored.
        motion: coordinates of every frame, if they are known, shape (m, nq).
        sigma: standard deviation of a coordinate of a marker [m]; unknown and equal by default.
        start: initial pose of the first frame, shape (nq,); the default pose if omitted.
    """

    def __init__(
        self,
        markers: io.Markers,
        motion: ArrayLike | None = None,
        *,
        sigma: float | None = None,
        start: ArrayLike | None = None,
    ) -> None:
        self.markers, self.motion, self.sigma, self.start = markers, motion, sigma, start

    def prepare(self, system: System) -> Prepared:
        return _MarkerFrames(system, self)


class _MarkerFrames(Prepared):
    """Markers of all frames at once; poses are eliminated by (1)."""

    label = "markers"

    def __init__(self, system: System, given: Markers) -> None:
        self.system, self.absolute = system, given.sigma is not None
        names = [n for n in given.markers.names if n in system.markers]
        if not names:
            raise DescriptionError(
                f"residuals.Markers: the recording has none of the system's markers {list(system.markers)}"
            )
        own = [system.marker(n) for n in names]
        self.stations = {
            body: (
                [i for i, m in enumerate(own) if m.body == body],
                np.array([m.station for m in own if m.body == body]),
            )
            for body in dict.fromkeys(m.body for m in own)
        }
        places = given.markers.positions[:, [list(given.markers.names).index(n) for n in names]]
        self.frames = len(places)
        self.measured = values_of("residuals.Markers", places, places.shape)
        self.sigma = spread("residuals.Markers", given.sigma, places.shape)
        q = system.defaults()[0] if given.start is None else given.start
        q = np.broadcast_to(system.compiled.vector("q", q, "residuals.Markers"), (self.frames, system.nq))
        self.known = given.motion is not None
        if given.motion is not None:
            q = np.broadcast_to(system.compiled.vector("q", given.motion, "residuals.Markers"), q.shape)
        self.q, held = q.copy(), system.state().locked
        self.free = np.array([speed not in held for speed in system.speeds], dtype=float)
        for b in system.bodies:
            self.free[list(b.prescribed_speeds)] = 0.0
        if len(system.constraints) and not self.known:
            raise DescriptionError(
                "residuals.Markers: poses of a system with constraints are not fitted here; give them: "
                "motion=cd.inverse_kinematics(...)"
            )
        if not self.known:
            self._seek(system.state().parameters)

    def _at(self, q: Array, p: Array, wrt: tuple[str, ...]) -> tuple[Array, list[Array]]:
        """Residuals (m, 3k) with gaps zero, and their derivatives (m, 3k, n)."""
        system, m = self.system, len(q)
        r = np.zeros(self.measured.shape)
        sizes = [system.nu if n == "q" else len(p) for n in wrt]
        J = [np.zeros((*self.measured.shape, n)) for n in sizes]
        for body, (which, stations) in self.stations.items():
            if body == "ground":
                r[:, which] = stations
                continue
            X = system.body_pose(q, body, parameters=p)
            r[:, which] = X.p[:, None] + np.einsum("mij,kj->mki", X.R, stations)
            D = system.jacobian("body_pose", q, body, wrt=wrt, parameters=p)
            for out, n, name in zip(J, sizes, wrt, strict=True):
                d = D[name].reshape(m, 12, n) * (self.free if name == "q" else 1.0)
                R, at = d[:, :9].reshape(m, 3, 3, n), d[:, 9:]
                out[:, which] = at[:, None] + np.einsum("mijn,kj->mkin", R, stations)
        there = ~np.isnan(self.measured)
        r = np.where(there, (r - np.where(there, self.measured, 0)) / self.sigma, 0.0)
        J = [np.where(there[..., None], x / self.sigma[..., None], 0.0) for x in J]
        return r.reshape(m, -1), [x.reshape(m, -1, x.shape[-1]) for x in J]

    def _seek(self, p: Array) -> None:
        """Find the poses that fit best, starting from the previous ones, by damped Gauss-Newton steps in
        all frames at once."""
        system, q = self.system, self.q
        mu = np.full(self.frames, 1e-6)
        r, (J,) = self._at(q, p, ("q",))
        cost = (r**2).sum(axis=1)
        for _ in range(ITERATIONS):
            A, b = J.swapaxes(1, 2) @ J, (J.swapaxes(1, 2) @ r[..., None])
            scale = np.maximum(np.trace(A, axis1=1, axis2=2), 1e-300) / A.shape[-1]
            d = -np.linalg.solve(A + (mu * scale)[:, None, None] * np.eye(A.shape[-1]), b)[..., 0]
            trial = system.compiled.normalized(q + system.qdot(q, d))
            r_new, (J_new,) = self._at(trial, p, ("q",))
            new = (r_new**2).sum(axis=1)
            better = new <= cost
            q = np.where(better[:, None], trial, q)
            r, J = np.where(better[:, None], r_new, r), np.where(better[:, None, None], J_new, J)
            cost, mu = np.where(better, new, cost), np.where(better, mu / 10, np.minimum(mu * 10, 1e6))
            mu = np.maximum(mu, 1e-15)
            if np.abs(d[better]).max(initial=0.0) < CLOSE:
                break
        self.q = q

    def evaluate(self, p: Array, x: Array, weight: float) -> Evaluated:
        if self.known:
            r, (J,) = self._at(self.q, p, ("parameters",))
        else:
            self._seek(p)
            r, (J_q, J) = self._at(self.q, p, ("q", "parameters"))
            J = J - J_q @ (np.linalg.pinv(J_q, rcond=1e-10) @ J)  # (1)
        there = ~np.isnan(self.measured).reshape(self.frames, -1)
        r, J = r[there], J[there]
        return Evaluated(r, J, np.zeros((len(r), 0)), np.zeros(len(r), dtype=bool))
