"""`cd.simulate` by time stepping: what it takes, and what it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from condyle.constraints.sampled import warn_of_samples
from condyle.errors import DescriptionError
from condyle.integrate.progress import check_progress, reported
from condyle.integrate.stepping.method import TimeStepping
from condyle.integrate.trajectory import Trajectory
from condyle.system.given import check_state, check_step, error_weights, number
from condyle.system.state import State
from condyle.system.system import System

ACCURACY = 1e-6
"""Of quaternions between steps."""


def stepped(
    system: System,
    given: Any,
    t_final: float,
    method: TimeStepping,
    step: float | None,
    weights: Any,
    progress: bool | Callable[[float], object],
    others: Mapping[str, Any],
) -> Trajectory:
    """See `cd.simulate` and `TimeStepping`."""
    check_state("simulate", system, given)
    state: State = given
    for name, value in others.items():
        if value is not None and not (name == "events" and not np.size(value)):
            raise DescriptionError(
                f"simulate: {name}= is not for TimeStepping, which has fixed steps, one "
                "state and no events; look at the Trajectory afterward"
            )
    if step is None or not 0 < number("simulate: step", step, "a positive number [s]") < np.inf:
        raise DescriptionError(
            f"simulate: TimeStepping needs a fixed step [s], such as step=1e-3, got {step!r}"
        )
    end = number("simulate: t_final", t_final, "one time [s], the end")
    if not state.t < end < np.inf:
        raise DescriptionError(
            f"simulate: t_final = {end:g} s must be after the state's t = {state.t:g} s: "
            "contacts do not run backward in time"
        )
    row = 8 * (system.nq + system.nu + len(state.z)) // max(1, int(method.every))
    check_step("simulate: step", step, state.t, end, row)
    check_progress("simulate", progress)
    report, stop = reported("simulate", progress)
    try:
        traj = method.run(state, end, step, error_weights("simulate", system, weights), ACCURACY, report)
        warn_of_samples("simulate", system, state.t, float(traj.t[-1]), state.tail)
        return traj
    finally:
        stop()
