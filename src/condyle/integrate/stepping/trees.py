"""A run of a system with joints: what its native program (tree_step.py) reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from condyle.integrate.stepping.closest_points import NARROW
from condyle.integrate.stepping.crowd import Crowd
from condyle.integrate.stepping.listed import ROOM, ListedRun, sizes_of
from condyle.integrate.stepping.tree_step import NEAREST, POSE, build
from condyle.model.model import description
from condyle.native.programs.program import ProgramAndTables, cached_program
from condyle.system.state import State
from condyle.system.system import System

if TYPE_CHECKING:
    from condyle.integrate.stepping.method import TimeStepping


class Trees(ListedRun):
    """Constraints of the system that act one way, and surfaces among each other.

    Args:
        start: where it starts.
        method: whose numbers it takes.
    """

    def __init__(self, start: State, method: TimeStepping) -> None:
        system = start.system
        super().__init__(start, method, Crowd(system, method.among))
        self.bare = bare = _bare(system)
        self.both_ways = any(name not in start.disabled for name in bare.constraints)
        self.surfaces, self.described = bool(method.among), len(system.constraints.unilateral)
        self.program, tables = _program(system, bare, self.surfaces, self.both_ways)
        self.tables = dict(tables)
        of = self.tables.pop("block of")
        self.ws = ws = self.program.workspace()
        n = self.width = len(ws["before"])
        count = len(ws["all_M"]) // n**2
        rows = lambda name: ws[name].reshape(-1, n)
        L = np.zeros((count + 1, n * n))
        L[-1] = np.eye(n).ravel()
        self.streams = self.tables | {
            "U_before": rows("all_before"),
            "U_free": rows("all_free"),
            "U": rows("all_U"),
            "shift": rows("all_shift"),
            "plastic": np.zeros((count + 1, n)),
            "L": L,
            "M": ws["all_M"].reshape(count, n * n),
        }
        self.counts = {"n_blocks": count, "most_sweeps": int(method.sweeps)}
        self.fixed = np.arange(self.described)
        if self.described:
            k = self.described
            acting = np.array(
                [[name not in start.disabled] for name in system.constraints.unilateral], dtype=float
            )
            self.streams |= {
                "gaps": ws["all_gaps"][:, None],
                "speeds": ws["all_speeds"].reshape(k, 3),
                "numbers": ws["all_numbers"].reshape(k, 2),
                "acting": acting,
                "rows_a": ws["all_a"].reshape(k, -1),
                "rows_b": ws["all_b"].reshape(k, -1),
            }
            self.counts["described"] = k
        if self.surfaces:
            self.size, self.far = sizes_of(system, self.crowd)
            self.room = ROOM * self.size
            self.streams |= {
                "poses": ws["all_poses"].reshape(-1, POSE),
                "V": ws["all_V"].reshape(-1, 6),
                "J": ws["all_J"].reshape(-1, 6 * n),
                "reaches": np.zeros((len(of), 2)),
                "budgets": np.zeros((len(of), 1)),
                "bodies": np.column_stack([self.far, self.room, of]),
            }
            self._balls()
        y = ws["y"]
        if nz := len(y) - system.nq - system.nu:
            self.streams |= {"z": y[-nz:, None], "zdot": ws["f"][-nz:, None]}
            self.counts["auxiliaries"] = nz

    @property
    def rebounds(self) -> bool:
        if self.crowd.e.any():
            return True
        if not self.described:
            return False
        system, start = self.system, self.start
        e = np.asarray(system.compiled.function("unilateral_rows")(start.q, start.u, start.tail)[5])
        return bool(e[[name not in start.disabled for name in system.constraints.unilateral]].any())

    def _begin(self, step: float) -> None:
        ws, start, bare = self.ws, self.start, self.bare
        same = bare.state(
            t=start.t,
            q=start.q,
            u=start.u,
            z=start.z,
            inputs=start.inputs,
            parameters=start.parameters,
            discrete=start.discrete,
            disabled=[name for name in start.disabled if name not in self.system.constraints.unilateral],
        )
        ws["p"] = same.tail[bare.compiled.model.tail["inputs"].start :]
        if self.described:
            ws["p_all"] = start.tail[self.system.compiled.model.tail["inputs"].start :]
        ws["room"], ws["accuracy"] = ROOM * self.system.compiled.length, NEAREST
        ws["weights"] = np.maximum(bare.compiled.weights, 1e-6)
        ws["look"] = self.by_hand
        if not self.surfaces:
            self._carried()
            return
        for kind, size in NARROW.items():
            self.streams[kind], self.counts[f"n_{kind}"] = np.empty((0, size)), 0
        self.streams["budgets"][:] = -1.0  # so that it takes no step: where bodies are
        self._carried()
        ws["until"] = 0
        self.program.run(ws, self.streams, self.counts | {"limit": 1})
        self._listed(step)

    def _placed(self) -> tuple[np.ndarray, np.ndarray]:
        poses = self.streams["poses"]
        return np.swapaxes(poses[:, :9].reshape(-1, 3, 3), 1, 2), poses[:, 9:]

    def _velocities(self) -> np.ndarray:
        return self.streams["V"][:-1]


def open_state(state: State) -> State:
    """With every constraint that acts one way open: this method asks for all of them in each step."""
    system: System = state.system
    flags = {
        flag: 0.0
        for name in system.constraints.unilateral
        for flag in [*system.compiled.model.unilateral[name].flags(name).values()]
        if flag in system.discrete
    }
    return (
        state.replace(discrete={**dict(zip(system.discrete, state.discrete, strict=True)), **flags})
        if flags
        else state
    )


def _bare(system: System) -> System:
    """The system without constraints that act one way, whose equations would be solved in vain."""
    if not system.constraints.unilateral:
        return system
    key = ("time stepping", "bare")
    if key not in system.compiled.programs:
        system.compiled.programs[key] = system.copy(constraints=dict.fromkeys(system.constraints.unilateral))
    return system.compiled.programs[key]


def _program(system: System, bare: System, surfaces: bool, both_ways: bool) -> ProgramAndTables:
    key = ("time stepping of trees", surfaces, both_ways)
    if key not in system.compiled.programs:
        text = f"time stepping of trees {surfaces} {both_ways}\n{description(system.compiled.model)}"
        system.compiled.programs[key] = cached_program(text, lambda: build(system, bare, surfaces, both_ways))
    return system.compiled.programs[key]
