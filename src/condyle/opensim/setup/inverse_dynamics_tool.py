"""InverseDynamicsTool: joint moments of a recorded motion, as OpenSim's tool writes them."""

from __future__ import annotations

import difflib
from pathlib import Path

import numpy as np

from condyle.opensim.setup.file_columns import speed_names
from condyle.opensim.setup.inputs import frames_between, loads_of, motion_of
from condyle.opensim.setup.setup_file import Setup
from condyle.studies.inverse_dynamics import inverse_dynamics
from condyle.studies.motion.motion import Motion
from condyle.studies.motion.recorded import FEWEST
from condyle.system.system import System
from condyle.tree import scales

KEYWORDS = {"all", "muscles", "actuators"}
"""Words for groups of forces in <forces_to_exclude>."""


def run(setup: Setup) -> None:
    """Write `<results_directory>/<output_gen_force_file>`."""
    excluded = setup.words("forces_to_exclude")
    system = without_forces(
        setup, setup.system(), [name for name in excluded if name.lower() not in KEYWORDS]
    )
    motion = motion_of(setup, system)
    start, end = setup.numbers("time_range", (-np.inf, np.inf))
    motion = frames_between(motion, start, end, setup.recorded)
    inside = padding(setup, motion)
    loads = [load for _, load in loads_of(setup, motion)]
    groups = acting_groups(setup, excluded)
    table = setup.study("inverse dynamics", inverse_dynamics, system, motion, loads, groups=groups)
    order = tree_order(system)
    units = scales.units(system.bodies)[1]
    speeds = speed_names(system)
    names = [f"{speeds[k]}_{'moment' if units[k].startswith('rad') else 'force'}" for k in order]
    file = setup.text("output_gen_force_file", "inverse_dynamics.sto")
    file += "" if Path(file).suffix else ".sto"
    setup.save(file, "Inverse Dynamics Generalized Forces", table.time, names, table.values[:, order])
    if setup.words("joints_to_report_body_forces"):
        setup.check(
            "joints_to_report_body_forces: body forces at joints are not written, "
            "where OpenSim 4.6 has moments in the columns of forces; a JointReaction "
            "analysis gives them"
        )
    setup.report.judge(
        table.quality
        if inside is None
        else inverse_dynamics(system, motion[inside], loads, groups=groups).quality
    )


def acting_groups(setup: Setup, excluded: list[str]) -> list[str]:
    """Groups of the forces that act, from <forces_to_exclude>. Actuators without controls exert nothing."""
    out = {"gravity", "passive", "external"}
    names = {name.lower() for name in excluded}
    if not names & KEYWORDS:
        setup.check(
            "<forces_to_exclude> does not leave muscles out: they would act at their "
            "default activations, which is rarely meant, and are left out here"
        )
    return sorted(out - {"passive"} if "all" in names else out)


def without_forces(setup: Setup, system: System, names: list[str]) -> System:
    """A System without forces that a setup names, one by one or by their group.

    Raises:
        DescriptionError: a name that the model does not have.
    """
    forces: set[str] = set()
    for name in names:
        members = [m for m in system.groups.get(name, (name,)) if m in system.forces]
        if not members:
            near = difflib.get_close_matches(name, [*system.groups, *system.forces], n=2)
            raise setup.error(
                f"<forces_to_exclude>: {name}: the model has no such force or group of "
                "forces; ALL, MUSCLES and ACTUATORS stand for many"
                + (f"; is it {' or '.join(near)}?" if near else "")
            )
        forces.update(members)
    return system.copy(forces=dict.fromkeys(forces)) if forces else system


def tree_order(system: System) -> list[int]:
    """Places of the speeds, from joint to joint outwards, level by level, as OpenSim's tree has them."""
    level: dict[str, int] = {}
    places: list[tuple[int, int, int]] = []
    start = 0
    for body in system.bodies:
        parent = body.parent
        level[body.name] = level.get(parent.name, 0) + 1 if parent is not None and not parent.is_ground else 0
        n = len(body.speeds)
        places += [(level[body.name], len(places) + k, start + k) for k in range(n)]
        start += n
    return [place for _, _, place in sorted(places)]


def padding(setup: Setup, motion: Motion) -> slice | None:
    """The recorded frames, if the filter has added others; else None."""
    if setup.recorded is None:
        return None
    first, last = setup.recorded
    step = (motion.t[-1] - motion.t[0]) / max(len(motion) - 1, 1)
    k, n = np.searchsorted(motion.t, [first - step / 2, last + step / 2])
    if (k == 0 and n == len(motion)) or n - k < FEWEST:
        return None
    setup.check(
        f"{k} {'row' if k == 1 else 'rows'} before {first:g} s and "
        f"{len(motion) - n} after {last:g} s are padding of the filter, as in OpenSim, "
        "and were not recorded: leave them out "
        f"by <time_range> {first:g} {last:g} </time_range>"
    )
    return slice(int(k), int(n))
