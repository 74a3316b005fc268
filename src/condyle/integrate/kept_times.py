"""A run of which only some times are kept: it is computed in pieces, and its memory is that of these times
and of one piece.

The rows are checkpoints: a piece that is run again from its first row takes the same steps, so that
derivatives of the run need one piece in memory at a time."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from condyle.integrate.integrators import Method
from condyle.integrate.native import native
from condyle.integrate.run import RunSettings, SimulationRun
from condyle.integrate.steps import StepRows, stacked
from condyle.integrate.trajectory import Statistics, Trajectory
from condyle.native.programs.program import ProgramAndTables
from condyle.system.state import State

if TYPE_CHECKING:
    from condyle.integrate.interrupts.path_jumps import Jump


def run_in_pieces(
    start: State, program: ProgramAndTables, method: Method, settings: RunSettings, times: np.ndarray
) -> Trajectory:
    """The run from a state over given times, ascending, to the end: rows at its start, at these times and at
    its end."""
    t, y, jumps = [start.t], [stacked(start)], list["Jump"]()
    total = np.zeros(len(fields(Statistics)), int)
    state, span = start, settings.t_final - start.t
    for stop in (*(x for x in times.tolist() if start.t < x < settings.t_final), settings.t_final):
        report = settings.report
        if report is not None:
            at, share = (state.t - start.t) / span, (stop - state.t) / span
            report = lambda x, at=at, share=share, tell=settings.report: tell(at + share * x)
        piece = SimulationRun(state, *program, method, replace(settings, t_final=stop, report=report)).go()
        jumps += piece.jumps
        total += [getattr(piece.statistics, each.name) for each in fields(Statistics)]
        state = piece[-1]
        t.append(state.t)
        y.append(piece.y[-1])
        if not piece.finished:
            break
    rows = StepRows.alone(np.array(t), np.array(y), method)
    again = replace(settings, report=None)
    statistics = Statistics(*total.tolist())
    return Trajectory(start, rows, piece.status, statistics, piece.manifold, jumps=tuple(jumps), again=again)


def piece_of(traj: Trajectory, i: int) -> Trajectory:
    """The piece of such a run from row i to the next, run again."""
    assert traj.again is not None
    method = traj.rows.method
    settings = replace(traj.again, t_final=float(traj.t[i + 1]))
    return SimulationRun(traj[i], *native(traj.system, method), method, settings).go()
