"""Answer: the movement that was found, and its accuracy."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from condyle.arrays import Array
from condyle.control.dynamics import tendon
from condyle.control.replay import played
from condyle.control.transcription import ControlProgram
from condyle.errors import check_names
from condyle.integrate.trajectory import Trajectory
from condyle.nlp import NonlinearSolution
from condyle.presentation import cut
from condyle.studies.simulate import simulate
from condyle.table import Table

if TYPE_CHECKING:
    from condyle.table.plots import AxesLike, PlotOptions

BETWEEN = np.array([0.113, 0.5, 0.887])
"""Places in an interval where the error between points is computed (Gauss points)."""
PER_INTERVAL = 24
"""Number of samples of controls in each interval for replay, unless controls are linear in it."""


class Answer:
    """Result of `cd.solve`.

    Attributes:
        objective: the sum of the terms.
        terms: weight times value of each goal that was minimized, by name.
        duration: duration [s].
        times: times of the points [s], shape (P,).
        parameters: values of unknown Parameters, by name.
        status: "solved", "acceptable", or why it ended: "infeasible", "iterations", "stopped", "not finite",
            "failed".
        message: the same as a sentence, with the largest violations.
        statistics: iterations, seconds of processor time, optimality (KKT), violation, sizes.
    """

    def __init__(
        self, program: ControlProgram, solution: NonlinearSolution, statistics: dict[str, Any], message: str
    ) -> None:
        self.program, self.solution, self.statistics, self.message = program, solution, statistics, message
        self.status = solution.status
        z = program.program.unknowns(solution.x)
        self.variables, self.duration, parameters = program.split(z)
        self.parameters = dict(zip(program.problem.parameters, parameters.tolist(), strict=True))
        self.terms = program.values(program.program.values(solution.x))
        self.objective = sum(self.terms.values())
        self.times = program.problem.start_time + self.duration * program.mesh.points

    def __repr__(self) -> str:
        terms = ", ".join(f"{name} {x:.6g}" for name, x in self.terms.items())
        return (
            f"Answer({self.status}, objective {self.objective:.8g} ({terms}), duration {self.duration:.6g} s, "
            f"{self.statistics['iterations']} iterations)"
        )

    @property
    def ok(self) -> bool:
        """Whether it is a solution."""
        return self.status in ("solved", "acceptable")

    @cached_property
    def _state(self) -> tuple[Array, Array, Array]:
        held = self.program.numbers()[:, : self.program.dynamics.held]
        return self.program.dynamics.unpack(self.variables, held)

    def _table(self, names: Any, values: Array, units: Any) -> Table:
        return Table(self.times, list(names), values, list(units), status=self.status)

    @cached_property
    def motion(self) -> Table:
        """Coordinates at the points [rad, m]."""
        system = self.program.problem.system
        from condyle.tree import scales

        return self._table(system.coordinates, self._state[0], scales.units(system.bodies)[0])

    @cached_property
    def speeds(self) -> Table:
        """Speeds at the points [rad/s, m/s], by their names in `system.speeds`."""
        system = self.program.problem.system
        from condyle.tree import scales

        return self._table(system.speeds, self._state[1], scales.units(system.bodies)[1])

    @cached_property
    def states(self) -> Table:
        """Auxiliary states of the system's forces at the points, such as fiber lengths [m] of elastic
        tendons.
        """
        system = self.program.problem.system
        values = (
            self.program.system_states(self.solution.x) if len(system.state_variables) else self._state[2]
        )
        return self._table(system.state_variables, values, [""] * len(system.state_variables))

    @cached_property
    def tendon_forces(self) -> Table:
        """Normalized forces of elastic tendons at the points."""
        dynamics = self.program.dynamics
        columns = [dynamics.index[tendon(name)] for name in dynamics.elastic]
        return self._table(dynamics.elastic, self.variables[:, columns], [""] * len(columns))

    @cached_property
    def controls(self) -> Table:
        """Controls at the points, by the names of the inputs."""
        names = self.program.problem.system.inputs
        start = self.program.nx
        return self._table(names, self.variables[:, start : start + len(names)], [""] * len(names))

    @cached_property
    def activations(self) -> Table:
        """Activations of muscles at the points: states, or excitations without activation dynamics."""
        system, columns = self.program.problem.system, {}
        for name in system.muscles:
            for column in (f"{name}.activation", name):
                if column in self.program.dynamics.index:
                    columns[name] = self.variables[:, self.program.dynamics.index[column]]
                    break
        values = np.column_stack(list(columns.values())) if columns else np.zeros((len(self.times), 0))
        return self._table(columns, values, [""] * len(columns))

    @cached_property
    def multipliers(self) -> dict[str, Array]:
        """Multipliers of all requirements by name: decrease of the objective per unit of relaxation."""
        factor = self.program.R / self.program.program.r
        out: dict[str, Array] = {}
        for rows in self.program.rows:
            part = (self.solution.lambda_ * factor)[rows.start : rows.stop].reshape(-1, len(rows.names))
            for k, (name, _) in enumerate(rows.names):
                out[name] = part[:, k] if name not in out else np.concatenate([out[name], part[:, k]])
        return out

    def at(self, fraction: Array) -> Array:
        """All variables at fractions of the movement (m,), interpolated as in the scheme, shape (m, n)."""
        program, mesh, nx = self.program, self.program.mesh, self.program.nx
        if len(fraction) == program.P and np.array_equal(fraction, mesh.points):
            return self.variables.copy()
        F = program.program.values(self.solution.x)[: program.P * program.function.size]
        rates = F.reshape(program.P, -1)[:, :nx]
        x = mesh.states_at(self.variables[:, :nx], rates, fraction)
        c = mesh.controls_at(self.variables[:, nx:], fraction)
        return np.concatenate([x, c], axis=1)

    @cached_property
    def errors(self) -> Array:
        """Error of the dynamics in each interval: rates of states between the points minus those of the
        equations of motion, integrated over the interval, in units of each state (1 rad, 5 rad/s; lengths of
        the system), shape (N,).
        """
        program, mesh, dynamics = self.program, self.program.mesh, self.program.dynamics
        nx, N = program.nx, mesh.intervals
        s = (mesh.ends[:-1, None] + mesh.h[:, None] * BETWEEN).ravel()
        F = program.program.values(self.solution.x)[: program.P * program.function.size]
        slopes = mesh.states_at(self.variables[:, :nx], F.reshape(program.P, -1)[:, :nx], s, rate=1)
        f = program.rates_at(self.at(s), s, program.program.unknowns(self.solution.x))
        scale = np.array([v.scale for v in dynamics.states])
        off = np.abs(slopes - f) / scale
        return (off.max(axis=1).reshape(N, -1) * mesh.h[:, None]).max(axis=1, initial=0.0)

    @cached_property
    def mesh_error(self) -> float:
        """The largest of `errors`, which a finer mesh reduces."""
        return float(self.errors.max())

    def replay(self, accuracy: float = 1e-6) -> Trajectory:
        """Simulate the controls by `cd.simulate` from the first state, with the system's original laws. The
        largest deviation of each coordinate from the answer is in `drift`, by name [rad, m], and in
        `statistics["drift"]`.

        Raises:
            DescriptionError: a control drives no actuator, muscle or function.
        """
        problem, dynamics = self.program.problem, self.program.dynamics
        system, t = problem.loaded_system(), self.times
        scheme = self.program.mesh.scheme
        straight = self.program.interpolated or scheme.name in ("trapezoidal", "radau-1", "radau-2")
        fine = self.program.mesh.dense(2 if straight else PER_INTERVAL)
        clock = t[0] + self.duration * fine
        controls = self.at(fine)[:, self.program.nx :][:, : len(system.inputs)]
        system = played(system, clock, controls)
        q, u = (x[0] for x in self._state[:2])
        given = {"parameters": self.parameters} if self.parameters else {}
        state = system.state(t=float(t[0]), q=q, u=u, z=self.states.values[0], **given)
        run = simulate(system, state, float(t[-1]), accuracy=accuracy)
        inside = t <= run.t[-1] + 1e-12
        reached = np.asarray(run.at(np.minimum(t[inside], run.t[-1])))[:, : dynamics.tree.nq]
        off = np.abs(reached - self._state[0][inside]).max(axis=0)
        if not inside.all():  # the simulation stopped early
            off = np.full_like(off, np.inf)
        drift = self.statistics["drift"] = dict(zip(system.coordinates, off.tolist(), strict=True))
        return replace(run, drift=drift)

    def plot(self, *names: str, **options: Unpack[PlotOptions]) -> AxesLike:
        """Draw variables over time.

        Args:
            names: coordinates, speeds, states and controls; all coordinates and controls if none is named.
            options: axes, width, path and degrees, as for `Table.plot`.

        Returns:
            matplotlib's axes; an array of them if there are several panels.
        """
        columns: dict[str, tuple[Array, str]] = {}
        for table in (self.motion, self.speeds, self.states, self.controls):
            for name, unit in zip(table.names, table.units, strict=True):
                columns.setdefault(name if name not in columns else f"{name}_speed", (table[name], unit))
        chosen = names or (*self.motion.names, *self.controls.names)
        check_names("variable", chosen, columns, "answer.plot")
        values, units = zip(*(columns[name] for name in chosen), strict=True)
        return Table(self.times, list(chosen), np.column_stack(values), units).plot(**options)

    def largest_violations(self, count: int = 5) -> list[str]:
        """The worst violations as text: requirement, time, amount."""
        return violations(self.program, self.solution, self.times, count)


def violations(
    program: ControlProgram, solution: NonlinearSolution, times: Array, count: int = 5
) -> list[str]:
    """The requirements with the largest violations, as text."""
    c = solution.constraints / program.R
    off = np.maximum(np.maximum(program.low - c, c - program.high), 0.0)
    out = []
    for i in np.argsort(-off * program.R)[:count]:
        if off[i] * program.R[i] <= 1e-9:
            break
        rows = next(r for r in program.rows if r.start <= i < r.stop)
        k, j = divmod(int(i) - rows.start, len(rows.names))
        name, unit = rows.names[j]
        when = f" at t = {times[rows.points[k]]:.4g} s" if rows.points is not None else ""
        out.append(f"{name}{when} is off by {off[i]:.3g}{' ' + unit if unit else ''}")
    return out


def explanation(program: ControlProgram, solution: NonlinearSolution, times: Array) -> str:
    """The outcome of the solver, as a sentence."""
    text = {
        "solved": "solved",
        "acceptable": "solved to a lesser accuracy",
        "infeasible": "no movement near the last one meets all requirements; loosen bounds or the ones below, or "
        "start from another guess",
        "iterations": "the most iterations were reached; give iterations=, or this answer as guess=",
        "stopped": "stopped; this is the best iterate so far",
        "not finite": "the dynamics are not a number somewhere near the guess; give bounds that keep away from there",
        "overdetermined": "there are more requirements than unknowns",
        "failed": f"the solver gave up ({solution.said}); another guess, scheme or hessian='limited-memory' may help",
    }[solution.status]
    if solution.status in ("solved", "acceptable"):
        return text
    worst = violations(program, solution, times)
    return text + (f". Largest violations: {cut(worst, 5)}" if worst else "")


class PhasesAnswer:
    """Result of `cd.solve` for `condyle.control.Phases`.

    Attributes:
        phases: one `Answer` each, with consecutive times.
        objective: the sum of their objectives.
        terms: of all goals, by name, with the number of the phase.
        duration: of all phases [s].
        status: as for an `Answer`.
        message: the same as a sentence, with the largest violations.
        statistics: as for an `Answer`.
    """

    def __init__(
        self, program: Any, solution: NonlinearSolution, phases: list[Answer], statistics: dict[str, Any]
    ) -> None:
        self.program, self.solution, self.phases, self.statistics = program, solution, phases, statistics
        self.status, self.message = solution.status, "; ".join(dict.fromkeys(a.message for a in phases))
        self.duration = sum(a.duration for a in phases)
        self.objective = sum(a.objective for a in phases)
        self.terms = {f"{k + 1} {name}": x for k, a in enumerate(phases) for name, x in a.terms.items()}
        for before, after in pairwise(phases):
            after.times = after.times - after.times[0] + before.times[-1]

    def __repr__(self) -> str:
        return (
            f"PhasesAnswer({self.status}, objective {self.objective:.8g}, {len(self.phases)} phases of "
            f"{', '.join(f'{a.duration:.4g}' for a in self.phases)} s, {self.statistics['iterations']} iterations)"
        )

    @property
    def ok(self) -> bool:
        """Whether it is a solution."""
        return self.status in ("solved", "acceptable")

    @property
    def parameters(self) -> dict[str, float]:
        """Values of unknown Parameters, by name."""
        return {name: x for a in self.phases for name, x in a.parameters.items()}

    @property
    def mesh_error(self) -> float:
        """The largest mesh error of all phases."""
        return max(a.mesh_error for a in self.phases)
