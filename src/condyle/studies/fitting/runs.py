"""Comparison of runs with recordings, by single or multiple shooting.

A recording is cut into pieces, each of which is a run from an unknown state. Another residual, with
increasing weight, requires that the pieces join,

    r = (y(end of piece i) - y_0(piece i + 1)) / scale * weight                                            (1)

so that errors of Parameters cannot grow along the whole run, as they do in long and in chaotic ones (multiple
shooting, Bock 1983).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

import condyle.io as io
from condyle.arrays import Array
from condyle.errors import DescriptionError, check_name, check_names
from condyle.integrate.steps import unstacked
from condyle.laws.ask import AskedState
from condyle.mobilizers import Mobilizer
from condyle.studies.fitting.base import Evaluated, Prepared, Residuals, StateJacobians, pack, spread
from condyle.studies.simulate import simulate
from condyle.system.checked_arguments import check_state
from condyle.system.state import State
from condyle.system.system import System
from condyle.system.variables import variable_names
from condyle.table import Table


class Run(Residuals):
    """A recording of a run from a state.

        cd.residuals.Run(recording, start, free=["hip", "hip_speed"], sigma=0.01)

    Args:
        measured: a Table whose columns are variables of `traj.table()` (coordinates, speeds NAME_speed,
            auxiliary states), or of `function`; or Markers. NaN is a gap.
        start: the state at the first time of the recording, or earlier.
        function: model of the columns, if they are not variables: f(s) -> one number per column, over the
            accessors of force laws; traced once.
        free: unknown variables of the start, fitted with the Parameters.
        sigma: standard deviation of the measurements: a number, or by column.
        shots: number of pieces; more than one for runs that are long or chaotic.
        accuracy: of the runs.
        options: of `cd.simulate`, such as integrator.
    """

    def __init__(
        self,
        measured: Table | io.Markers,
        start: State,
        *,
        function: Callable[[AskedState], object] | None = None,
        free: Sequence[str] = (),
        sigma: float | Mapping[str, float] | None = None,
        shots: int = 1,
        accuracy: float = 1e-9,
        **options: object,
    ) -> None:
        self.measured, self.start, self.function, self.free = measured, start, function, free
        self.sigma, self.shots, self.options = sigma, shots, {"accuracy": accuracy, **options}

    def prepare(self, system: System) -> Prepared:
        return _Pieces(system, self)


class _Pieces(Prepared):
    label = "run"

    def __init__(self, system: System, given: Run) -> None:
        what = "residuals.Run"
        check_state(what, system, given.start)
        self.system, self.start, self.options = system, given.start, given.options
        self.absolute = given.sigma is not None
        self.names = variable_names(system)
        table, function = given.measured, given.function
        if isinstance(table, io.Markers):
            stations = [(m.body, m.station) for n in table.names if (m := system.marker(n))]
            positions = table.positions.reshape(len(table.time), -1)
            function = lambda s: [x for b, p in stations for x in s.station_position(b, p)]
            table = Table(table.time, [f"{n}_{a}" for n in table.names for a in "xyz"], positions)
        elif not isinstance(table, Table):
            raise DescriptionError(f"{what}: measured: expected a Table or Markers, got {table!r}")
        self.jacobians = None if function is None else StateJacobians(system, function, what)
        if self.jacobians is None:
            check_names("variable of a run", table.names, self.names, what)
            self.columns = [self.names.index(name) for name in table.names]
            table = table.to_si()
        elif self.jacobians.size != len(table.names):
            raise DescriptionError(
                f"{what}: the function gives {self.jacobians.size} numbers, the Table has "
                f"{len(table.names)} columns"
            )
        self.t, self.values = table.time, table.values
        if len(self.t) < 2 or (np.diff(self.t) <= 0).any() or self.t[0] < self.start.t - 1e-12:
            raise DescriptionError(
                f"{what}: a recording has two times or more, each later than the one before, and none before "
                f"the start at {self.start.t:g} s"
            )
        self.sigma = spread(what, given.sigma, self.values.shape, table.names)
        self._set_pieces(what, given)

    def _set_pieces(self, what: str, given: Run) -> None:
        system, n = self.system, len(self.names)
        shots = given.shots
        if not isinstance(shots, int) or not 1 <= shots <= max(1, (len(self.t) - 1) // 2):
            raise DescriptionError(
                f"{what}: shots: expected a whole number from 1 to {max(1, (len(self.t) - 1) // 2)}, got {shots!r}"
            )
        self.free = [self._place(what, name) for name in given.free]
        plain = all(type(b.mobilizer).N is Mobilizer.N for b in system.bodies)
        if (shots > 1 or self.free) and (not plain or len(system.constraints)):
            raise DescriptionError(
                f"{what}: states of this system are fitted in its coordinates, which must be independent and "
                "have speeds as their rates: no quaternions, no constraints (shots=1, free=())"
            )
        cuts = np.linspace(0, len(self.t) - 1, shots + 1).round().astype(int)
        self.cuts = list(pairwise(cuts.tolist()))
        self.has_joints = shots > 1
        y = self._y(self.start)
        self.guess = y[self.free]
        self.unknowns = tuple(f"{self.names[i]} at the start" for i in self.free)
        if shots > 1:
            middle = self._guessed(cuts[1:-1])
            self.guess = np.concatenate([self.guess, middle.ravel()])
            self.unknowns += tuple(f"{v} at {self.t[c]:.6g} s" for c in cuts[1:-1] for v in self.names)
            self.scale = np.maximum(np.abs(middle).max(axis=0), 1e-6 * max(1.0, np.abs(middle).max()))
        self.n = n

    def _place(self, what: str, name: str) -> int:
        check_name("variable of a run", name, self.names, what)
        return self.names.index(name)

    def _y(self, state: State) -> Array:
        return np.concatenate([state.q, state.u, state.z])

    def _guessed(self, cuts: Array) -> Array:
        """Initial states at the cuts: from the recording if it contains them or their rates, else from a
        run."""
        from scipy.interpolate import make_interp_spline

        y = np.full((len(cuts), len(self.names)), np.nan)
        if self.jacobians is None:
            for k, i in enumerate(self.columns):
                good = ~np.isnan(self.values[:, k])
                curve = make_interp_spline(self.t[good], self.values[good, k], min(3, good.sum() - 1))
                y[:, i] = curve(self.t[cuts])
                nq = self.system.nq
                if i < nq and nq + i not in self.columns:
                    y[:, nq + i] = curve(self.t[cuts], 1)
        if np.isnan(y).any():
            run = self._simulate(self.start, float(self.t[-1]))
            y = np.where(np.isnan(y), run.at(self.t[cuts]), y)
        return y

    def _simulate(self, state: State, end: float) -> Any:
        options: Any = self.options
        return simulate(self.system, state, end, **options)

    def _piece(
        self, state: State, first: int, last: int, from_start: bool, free: bool
    ) -> tuple[Array, Array, Array, Array, Array]:
        """Model values (m, c) of the rows of a piece with derivatives by Parameters and by y at its start,
        and the same for y at its end."""
        run = self._simulate(state, float(self.t[last]))
        if not run.finished:
            raise DescriptionError(f"residuals.Run: {run.status}")
        t = self.t[first if from_start else first + 1 : last + 1]
        wrt = ("parameters", "q", "u", "z") if free else ("parameters",)
        y, D = run.at(t), run.jacobian(wrt=wrt, t=t)
        dp = D["parameters"]
        dy = np.concatenate([D[k] for k in wrt[1:]], axis=-1) if free else np.zeros((*dp.shape[:-1], 0))
        both = np.concatenate([dp, dy], axis=-1)
        if self.jacobians is None:
            model, J = y[:, self.columns], both[:, self.columns]
        else:
            model, J = self._through(t, y, both, dp.shape[-1], state)
        k = dp.shape[-1]
        return model, J[..., :k], J[..., k:], y[-1], both[-1]

    def _through(self, t: Array, y: Array, dy: Array, k: int, state: State) -> tuple[Array, Array]:
        """Values of the function and their derivatives along dy (m, n, directions)."""
        assert self.jacobians is not None
        nq, nu = self.system.nq, self.system.nu
        q, u, tail = unstacked(self.system.compiled.model, state.tail, t, y)
        g, (J_q, J_u, J_z, J_p) = self.jacobians.all_of(q, u, tail)
        along = self.system.kinematics.u_from_qdot(q[:, None], np.swapaxes(dy[:, :nq], 1, 2))
        J = J_q @ np.swapaxes(along, 1, 2) + J_u @ dy[:, nq : nq + nu] + J_z @ dy[:, nq + nu :]
        J[..., :k] += J_p
        return g, J

    def evaluate(self, p: Array, x: Array, weight: float) -> Evaluated:
        start, y0 = self.start.replace(parameters=p), self._y(self.start)
        nf, n, k = len(self.free), self.n, len(p)
        y0[self.free] = x[:nf]
        parts, ends = [], []
        for i, (first, last) in enumerate(self.cuts):
            t0 = start.t if i == 0 else self.t[first]
            y = y0 if i == 0 else x[nf + (i - 1) * n : nf + i * n]
            nq, nu = self.system.nq, self.system.nu
            state = start.replace(t=float(t0), q=y[:nq], u=y[nq : nq + nu], z=y[nq + nu :])
            model, by_p, by_y, end, by = self._piece(
                state, first, last, i == 0, bool(nf) or i > 0 or self.has_joints
            )
            by_x = np.zeros((*by_p.shape[:-1], len(x)))
            mine = slice(nf + (i - 1) * n, nf + i * n)
            if i:
                by_x[..., mine] = by_y
            elif nf:
                by_x[..., :nf] = by_y[..., self.free]
            rows = slice(first if i == 0 else first + 1, last + 1)
            parts.append(pack(model, self.values[rows], self.sigma[rows], by_p, by_x))
            if i < len(self.cuts) - 1:
                J = np.zeros((n, len(x)))
                if i:
                    J[:, mine] = by[:, k:]
                elif nf:
                    J[:, :nf] = by[:, k:][:, self.free]
                after = slice(nf + i * n, nf + (i + 1) * n)
                J[:, after] -= np.eye(n)
                s = weight / self.scale
                ends.append(
                    Evaluated((end - x[after]) * s, by[:, :k] * s[:, None], J * s[:, None], np.ones(n, bool))
                )
        every = [*parts, *ends]
        return Evaluated(
            *(
                np.concatenate([getattr(e, f) for e in every])
                for f in ("r", "by_parameters", "by_unknowns", "joints")
            )
        )
