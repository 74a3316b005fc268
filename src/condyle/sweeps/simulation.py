"""Simulations of members in chunks, as ensembles in SIMD lanes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import Array
from condyle.errors import DescriptionError, UnknownNameError, check_name
from condyle.integrate.ensemble import Ensemble
from condyle.integrate.trajectory import Trajectory
from condyle.records import dataclass
from condyle.studies.simulate import simulate
from condyle.sweeps.jobs import ByChunk
from condyle.sweeps.parts import Part
from condyle.system.checked_arguments import check_state, check_system
from condyle.system.state import State
from condyle.system.system import System
from condyle.system.variables import variables
from condyle.table import Table

FEW = 16
"""Minimum size of a chunk: fewer states do not run in lanes, whose last digits may differ."""
Measure = str | Callable[[Ensemble], ArrayLike] | Callable[[Trajectory], ArrayLike]


class Simulation:
    """A simulation of varied members, for `cd.sweep`. Columns of the members are names of
    parameters, inputs, coordinates or speeds; `u.NAME` is a speed with the same name as a coordinate.

    Args:
        system: the system.
        state: initial state of all members, except for varied quantities.
        t_final: the end [s].
        options: of `cd.simulate` for many states, such as accuracy, integrator and keep.
    """

    def __init__(
        self, system: System, state: State, t_final: float, **options: float | str | ArrayLike | None
    ) -> None:
        check_system("Simulation", system)
        check_state("Simulation", system, state)
        known = set(inspect.signature(simulate).parameters) - {"system", "state", "t_final"}
        for name in options:
            if name not in known - {"progress", "threads"}:
                raise UnknownNameError("option of Simulation", name, sorted(known - {"progress", "threads"}))
        self.system, self.state, self.t_final, self.options = system, state, t_final, options

    def ensemble(self, members: Table, threads: int | None = None) -> Ensemble:
        """The motions of members."""
        options: dict[str, Any] = {"threads": threads, **self.options}
        return simulate(self.system, self._states(members), self.t_final, **options)

    def _places(self) -> dict[str, tuple[str, int]]:
        """Kind and index of each quantity in a state."""
        s = self.system
        places = {f"u.{name}": ("u", k) for k, name in enumerate(s.speeds)}
        for kind, names in (
            ("u", s.speeds),
            ("q", s.coordinates),
            ("inputs", s.inputs),
            ("parameters", s.parameters),
        ):
            places |= {name: (kind, k) for k, name in enumerate(names)}
        return places

    def _states(self, members: Table) -> dict[str, Any]:
        """Arguments of `cd.simulate` for many states."""
        n, state = len(members), self.state
        given: dict[str, Any] = {
            name: np.tile(np.asarray(getattr(state, name)), (n, 1))
            for name in ("q", "u", "z", "inputs", "discrete", "parameters")
        }
        given["t"] = np.full(n, state.t)
        given |= {"locked": state.locked, "disabled": state.disabled}
        places = self._places()
        for name in members:
            check_name("quantity", name, places, "a member varies parameters, inputs, coordinates and speeds")
            kind, k = places[name]
            given[kind][:, k] = members[name]
        return given

    def slopes(self, members: Table, variable: str) -> dict[str, float]:
        """Exact derivatives of a variable at the end by each quantity, at the mean of the members; empty if
        the run has none.
        """
        mean = Table([0.0], members.names, members.values.mean(axis=0)[None], over="member")
        given = self._states(mean)
        start = self.state.replace(
            **{key: given[key][0] for key in ("q", "u", "inputs", "parameters") if given[key].size}
        )
        options: dict[str, Any] = {k: x for k, x in self.options.items() if k != "keep"}
        names, places = variables(self.system)[0], self._places()
        try:
            run = simulate(self.system, start, self.t_final, **options)
            J = run.jacobian(sorted({places[name][0] for name in members}))
        except DescriptionError:
            return {}
        row = names.index(variable) if variable in names else -1
        straight = dict(zip(self.system.speeds, self.system.coordinates, strict=False))
        out = {}
        for name in members:
            kind, k = places[name]
            if (
                kind == "q"
            ):  # the derivative is along a speed, which must be the rate of that coordinate alone
                k = next(
                    (j for j, (_, q) in enumerate(straight.items()) if q == self.system.coordinates[k]), -1
                )
                qdot = np.zeros(self.system.nq) if k < 0 else start.replace(u=np.eye(self.system.nu)[k]).qdot
                if k < 0 or np.count_nonzero(qdot) != 1 or qdot[places[name][1]] != 1:
                    return {}
            out[name] = float(J[kind][row, k])
        return out


@dataclass(frozen=True, eq=False)
class ChunkMeasures:
    """Measures of a simulation for a chunk of members.

    Attributes:
        measures: by name; None for all variables at the end.
        threads: number of threads for each chunk; None for all.
    """

    simulation: Simulation
    measures: Mapping[str, Measure] | None
    threads: int | None = None

    def answer(self, members: Table, seed: int) -> Part:
        """See Job."""
        return ByChunk(self._run).answer(members, seed)

    def _run(self, members: Table) -> Part:
        n = len(members)
        padded = members if n >= FEW else members._with(rows=np.r_[np.arange(n), np.full(FEW - n, n - 1)])
        ens = self.simulation.ensemble(padded, self.threads)
        if not ens.done.all():
            raise KeyboardInterrupt
        names, _ = variables(self.simulation.system)
        part = Part(np.empty(0, np.int64))
        good = np.flatnonzero(ens.finished[:n])
        part.index = members.time[good].astype(np.int64)
        part.failures = {int(members.time[k]): str(ens.status[k]) for k in np.flatnonzero(~ens.finished[:n])}
        wanted: Mapping[str, Measure] = self.measures or {name: name for name in names}
        part.arrays = [{} for _ in good]
        for name, measure in wanted.items():
            values = _measured(name, measure, ens)[:n][good]
            if values.ndim == 1:
                part.numbers[name] = values
            else:
                for each, row in zip(part.arrays, values, strict=True):
                    each[name] = row
        return part


def _measured(name: str, measure: Measure, ens: Ensemble) -> Array:
    """One row per member."""
    if isinstance(measure, str):
        names, _ = variables(ens.system)
        check_name("variable", measure, names, f"of the measure {name!r}")
        return np.asarray(ens.y_end[:, names.index(measure)])
    first = next(iter(inspect.signature(measure).parameters), "")
    if first in ("traj", "trajectory"):
        each: Callable[[Any], ArrayLike] = measure
        values = np.array([each(ens[i]) for i in range(len(ens))], dtype=float)
    else:
        of_all: Callable[[Any], ArrayLike] = measure
        values = np.asarray(of_all(ens), dtype=float)
    if values.ndim < 1 or len(values) != len(ens):
        raise DescriptionError(
            f"sweep: the measure {name!r} of {len(ens)} members has shape {values.shape}; expected one row each; "
            "a function whose argument is called traj gets the members one by one"
        )
    return values
