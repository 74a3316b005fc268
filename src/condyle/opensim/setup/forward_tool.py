"""ForwardTool: the motion that follows from a state and from controls."""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.forces.actuators import Actuator
from condyle.forces.external import ExternalWrench, TimeSeries
from condyle.integrate.trajectory import Trajectory
from condyle.muscles import Muscle
from condyle.opensim.loads import labeled_loads
from condyle.opensim.setup.controls import Control, controls_of, with_controls
from condyle.opensim.setup.equilibrium import opensim_equilibrium
from condyle.opensim.setup.file_columns import (
    columns_of,
    default_state,
    in_degrees,
    speed_names,
    state_columns,
)
from condyle.opensim.setup.inputs import check_bodies, continued
from condyle.opensim.setup.setup_file import Setup
from condyle.opensim.setup.trial import AnalysisTrial
from condyle.presentation import cut
from condyle.studies.external_load import ExternalLoad
from condyle.studies.motion.motion import Motion
from condyle.studies.simulate import simulate
from condyle.system.state import State
from condyle.system.system import System
from condyle.table import Table


def run(setup: Setup) -> None:
    """Write `NAME_controls.sto`, `NAME_states.sto` and `NAME_states_degrees.mot` in `<results_directory>`, a
    row per step of the integrator, and the files of its analyses."""
    system = setup.system()
    table = None
    start, end = setup.number("initial_time", 0.0), setup.number("final_time", 1.0)
    if setup.text("states_file"):
        table = setup.table(setup.required_file("states_file", "states"))
        row = _row(setup, table, start)
        start = float(table.time[row])
    if not end > start:
        raise setup.error(f"<final_time> {end:g} s must be after the start at {start:g} s")
    controls = controls_of(setup, system, start, end)
    system = with_controls(system, controls)
    loads = _add_loads(setup, system, start, end)
    if setup.flag("use_specified_dt", False):
        setup.check("<use_specified_dt>: steps are chosen by the accuracy, not taken from the file of states")
    state = default_state(setup, system, start) if table is None else _state(setup, system, table, row, start)
    if system.constraints:
        q, u = system.project(state.q, state.u)
        state = state.replace(q=q, u=u)
    if setup.flag("solve_for_equilibrium_for_auxiliary_states", False):
        state = setup.step("equilibrium of muscles", lambda: _balanced(state))
    accuracy = setup.number("integrator_error_tolerance", 1e-5)
    longest = setup.number("maximum_integrator_step_size", 1.0)
    traj: Trajectory = setup.study(
        "simulation", simulate, system, state, end, accuracy=accuracy, max_step=longest
    )
    setup.report.judge(traj.quality)
    _write(setup, traj, controls)
    if any(setup.flag("on", True, e) for e in setup.objects("AnalysisSet")):
        from condyle.opensim.setup.analyze_tool import run_analyses

        run_analyses(_trial(setup, traj, loads))
    setup.report.results.append(
        f"{len(traj) - 1} steps from {start:g} to {traj.t[-1]:g} s at the accuracy {accuracy:g}"
    )


def _balanced(state: State) -> State:
    """The state with fibers in equilibrium, as OpenSim's tools find it."""
    u = state.u[None]
    motion = Motion(state.system, [state.t], state.q[None], u, np.zeros_like(u), state=state)
    return state.replace(z=opensim_equilibrium(motion, state.z[None])[0])


def _row(setup: Setup, table: Table, start: float) -> int:
    """The row of a file of states that a run starts from: the last at or before its start."""
    row = max(int(np.searchsorted(table.time, start, "right")) - 1, 0)
    if table.time[row] != start:
        setup.note(
            f"<initial_time> is {start:g} s; the run starts from the states at "
            f"{table.time[row]:g} s, as in OpenSim"
        )
    return row


def _state(setup: Setup, system: System, table: Table, row: int, start: float) -> State:
    """The state in a row of a file of states; states without a column have their defaults."""
    state, values = default_state(setup, system, start), table.values[row]
    columns = columns_of(table)
    degrees, lacking = in_degrees(system), []
    parts: dict[str, Array] = {}
    for part, names, suffix in (
        ("q", system.coordinates, ""),
        ("u", speed_names(system), "_u"),
        ("z", system.state_variables, ""),
    ):
        x = parts[part] = np.array(getattr(state, part), dtype=float)
        for i, name in enumerate(names):
            k = columns.get(f"{name}{suffix}")
            if k is None:
                lacking.append(f"{name}{suffix}")
                continue
            x[i] = np.radians(values[k]) if table.degrees and degrees.get(name) else values[k]
            if not np.isfinite(x[i]):
                raise DescriptionError(
                    f"{table.names[k]!r} is {values[k]} at {start:g} s in <states_file>; "
                    "a run starts from finite values"
                )
    if lacking:
        setup.check(f"states without a column in <states_file> have their defaults: {', '.join(lacking)}")
    return state.replace(**parts)


def _trial(setup: Setup, traj: Trajectory, loads: list[tuple[str, ExternalLoad]]) -> AnalysisTrial:
    """The steps of a run, for analyses."""
    motion = Motion.of(traj.system, traj)
    where = traj.system.compiled.model.tail
    return AnalysisTrial(
        setup,
        traj.system,
        motion,
        motion,
        loads,
        lambda balanced: (traj.z, motion.tail[:, where["inputs"]]),
        setup.count("output_precision", 8, 30),
        loads_in_system=True,
    )


def _add_loads(setup: Setup, system: System, start: float, end: float) -> list[tuple[str, ExternalLoad]]:
    """External loads as forces of the system; each with its name in reports."""
    path = setup.file("external_loads_file")
    if path is None:
        return []
    out, loads = [], setup.step("external loads", lambda: labeled_loads(path))
    check_bodies(path.name, system, loads)
    for label, load in loads:
        longer = continued(load, start, end)
        if longer.table.time[0] > start or longer.table.time[-1] < end:
            raise DescriptionError(
                f"{path.name}: its loads go from {load.table.time[0]:g} to "
                f"{load.table.time[-1]:g} s, the run from {start:g} to {end:g} s"
            )
        system.add_force(f"external load {label}", _wrench(longer, path.name))
        out.append((label, longer))
    return out


def _wrench(load: ExternalLoad, file: str) -> ExternalWrench:
    """A load as a force over time, by natural cubic splines."""
    body = str(load.body)
    for what, frame in (("force", load.frame), ("point", load.point_frame)):
        if frame not in ("ground", body):
            raise DescriptionError(
                f"{file}: the {what} on {body} is expressed in {frame}; a forward run takes ground or {body}"
            )
    time, x = load.table.time, load._checked()

    def series(k: int) -> Any:
        columns = x[:, 3 * k : 3 * k + 3]
        return TimeSeries(tuple(time), tuple(map(tuple, columns)), "cubic" if len(time) > 3 else "linear")

    ends = {"ground": "ground", body: "body"}
    if load.point is None:
        return ExternalWrench(body, force=series(0), torque=series(1), frame=ends[str(load.frame)])
    return ExternalWrench(
        body,
        series(2),
        series(0),
        series(1),
        frame=ends[str(load.frame)],
        station_frame=ends[str(load.point_frame)],
    )


def _write(setup: Setup, traj: Trajectory, controls: dict[str, Control]) -> None:
    """Files of controls and states, with OpenSim's labels."""
    system, t, name = traj.system, traj.t, setup.tool.name
    precision = setup.count("output_precision", 8, 30)
    driven_ones = [n for n in system.forces if isinstance(system.force(n), (Muscle, Actuator))]
    values = np.zeros((len(t), len(driven_ones)))
    for k, n in enumerate(driven_ones):
        if n in controls:
            values[:, k] = np.broadcast_to(np.asarray(controls[n](t), dtype=float), t.shape)
    setup.save(f"{name}_controls.sto", "controls", t, driven_ones, values, precision=precision)
    beyond = [
        n
        for k, n in enumerate(driven_ones)
        if isinstance(system.force(n), Muscle) and (values[:, k].min() < 0 or values[:, k].max() > 1)
    ]
    if beyond:
        setup.check(
            f"controls of {cut(beyond)} leave 0 to 1: here excitations stay within "
            "that range, in OpenSim activations leave it too"
        )
    labels, values, angles = state_columns(setup, system, traj.q, traj.u, traj.z)
    setup.save(f"{name}_states.sto", name, t, labels, values, precision=precision)
    words = [
        "",
        "# SIMM Motion File Header:",
        f"name {name}",
        f"datacolumns {len(labels) + 1}",
        f"datarows {len(t)}",
        "otherdata 1",
        f"range {t[0]:.6f} {t[-1]:.6f}",
    ]
    setup.save(
        f"{name}_states_degrees.mot",
        name,
        t,
        labels,
        np.where(angles, np.degrees(values), values),
        degrees=True,
        precision=precision,
        words=words,
    )
