"""Studies of a system that a Python file describes, for the command line."""
from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np

from condyle.errors import DescriptionError
from condyle.simulate import simulate
from condyle.state import State
from condyle.system import System


def described(file: Path) -> State:
    """The State to start from: `state` of a file, or the default one of its `system`."""
    if not file.is_file():
        raise DescriptionError(f"{file}: no such file; give a Python file that makes `system = cd.System()` and adds bodies")
    names = runpy.run_path(str(file))
    system = names.get("system")
    if not isinstance(system, System):
        raise DescriptionError(f"{file}: expected a cd.System under the name `system`, got {system!r}")
    state = names.get("state", None)
    if state is None:
        return system.state()
    if not isinstance(state, State):
        raise DescriptionError(f"{file}: `state` must be a State, such as system.state(q=...), got {state!r}")
    return state


def simulate_file(file: Path, t_final: float, out: Path, accuracy: float, integrator: str, rate: float | None) -> str:
    """Simulate with a progress bar and save the motion, as far as it came; its status.

    Args:
        t_final: [s].   rate: rows a second of the table; None is one a step.
    """
    if out.suffix != ".csv" or not out.parent.is_dir():
        raise DescriptionError(f"--out {out}: expected a file in an existing folder whose name ends in .csv")
    if rate is not None and not (np.isfinite(rate) and rate > 0):
        raise DescriptionError(f"--rate {rate}: expected a positive number, rows a second")
    state = described(file)
    traj = simulate(state.system, state, t_final, accuracy=accuracy, integrator=integrator, progress=True)
    first, last = float(traj.t[0]), float(traj.t[-1])
    times = None if rate is None else np.append(np.arange(first, last, 1 / rate), last)
    traj.table(times).save(out)
    return traj.status
