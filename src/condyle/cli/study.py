"""The study of a motion: joint moments, muscle lengths and moment arms, muscle forces, joint loads, as
Tables."""
from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

import condyle as cd
from condyle.arrays import Array
from condyle.cli.steps import Steps
from condyle.records import dataclass
from condyle.studies.muscle_analysis import path_geometry
from condyle.studies.slips import slips
from condyle.tree import scales

SHOWN = 3
"""Failures that are told one by one."""


@dataclass(frozen=True)
class Configuration:
    """Assumptions on muscles.

    Attributes:
        title: as a heading.
        says: what it means.
        options: of `cd.static_optimization`.
    """

    title: str
    says: str
    options: Mapping[str, Any]


CONFIGURATIONS = {
    "isometric": Configuration(
        "Muscles without curves", "A muscle's force is its activation times its greatest isometric force, at "
                                  "any length and velocity; there are no passive "
                                  "forces.", {"physiology": False}),
    "active": Configuration(
        "Muscles with force-length-velocity curves",
        "A muscle's force is its activation times what its fibres can exert at their length and velocity, "
        "with a rigid tendon; there are no passive forces.",
        {"physiology": True}),
    "passive": Configuration(
        "Muscles with curves and passive forces", "As before, and stretched fibres also pull by themselves.",
        {"physiology": True, "passive": True}),
}
RESERVES = 1.0
"""Optimal force of an actuator at every coordinate that helps where muscles cannot [N m, N]: ruggiero2020
(33)."""


MUCH = 0.1
"""Of the largest joint moment: a helping actuator that does more is told of."""


@dataclass
class Study:
    """What was found.

    Attributes:
        motion: the motion, with speeds and accelerations.
        tables: by the name of their file, in the order of the report.
        notes: what a reader of the results must know, in sentences.
        problems: what failed; the tables are NaN there.
    """

    motion: cd.Motion
    tables: dict[str, cd.Table] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def study(motion: cd.Motion, steps: Steps, loads: Sequence[cd.ExternalLoad] = (),
          configurations: Sequence[str] = tuple(CONFIGURATIONS)) -> Study:
    """Do all of it, step by step.

    Args:
        motion: of a system.
        steps: told of each step.
        loads: measured forces on bodies.
        configurations: names of CONFIGURATIONS.
    """
    system, out = motion.system, Study(motion)
    out.tables["kinematics"] = cd.Table(motion.t, system.coordinates, motion.q,
                                        scales.units(system.bodies)[0],
                                        degrees=False)
    with steps.step("inverse dynamics"):
        out.tables["moments"] = moments = cd.inverse_dynamics(system, motion, loads or None)
        out.notes += _notes(motion, moments)
    if system.muscles:
        with steps.step("lengths and moment arms of muscles"):
            L, Ldot, arms = path_geometry(motion)
            out.tables |= _paths(motion, L, arms)
            out.notes += slips(motion, L, Ldot, arms)
        for name in configurations:
            _recruit(name, out, steps, loads)
    else:
        out.notes.append("The system has no muscles: joint loads are those of its joint moments alone.")
        with steps.step("joint reactions"):
            out.tables["reactions"] = cd.joint_reactions(system, motion, external_loads=loads or None)
    return out


def count(system: cd.System, configurations: Sequence[str]) -> int:
    """How many steps a study has."""
    return 2 + 2 * len(configurations) if system.muscles else 2


def _recruit(name: str, out: Study, steps: Steps, loads: Sequence[cd.ExternalLoad]) -> None:
    """Muscle forces and joint loads in one configuration."""
    motion, configuration = out.motion, CONFIGURATIONS[name]
    with steps.step(f"static optimisation: {name}"), warnings.catch_warnings(action="ignore"):   # told below
        found = cd.static_optimization(motion.system, motion, loads or None, reserves=RESERVES,
                                       **configuration.options)
    out.tables |= {f"activations_{name}": found.activations, f"forces_{name}": found.forces,
                   f"reserves_{name}": found.reserves}
    out.notes += _help(name, found.reserves, out.tables["moments"])
    failures = list(found.failures.values())
    out.problems += [f"{configuration.title}: {text}" for text in failures[:SHOWN]]
    if len(failures) > SHOWN:
        out.problems.append(f"{configuration.title}: {len(failures) - SHOWN} more frames failed")
    with steps.step(f"joint reactions: {name}"):
        out.tables[f"reactions_{name}"] = cd.joint_reactions(motion.system, motion, forces=found.forces,
                                                             external_loads=loads or None)


def _help(name: str, reserves: cd.Table, moments: cd.Table) -> list[str]:
    """A note if the helping actuators do much of the work: the muscles cannot."""
    share = {}
    for speed in reserves.names:
        size = np.abs(moments[speed]).max(initial=0.0)
        if (most := np.nanmax(np.abs(reserves[speed]), initial=0.0)) > max(MUCH * size, RESERVES):
            share[speed] = f"{most:.3g} {reserves.units[reserves.names.index(speed)]} at {speed}"
    if not share:
        return []
    return [f"{CONFIGURATIONS[name].title}: muscles do not explain the motion alone; the helping actuators "
            f"exert up to {', '.join(share.values())}. Are muscles or measured loads missing, or fibres "
            "stretched far?"]


def _paths(motion: cd.Motion, L: Array, arms: Array) -> dict[str, cd.Table]:
    """Lengths, and moment arms that are anywhere above rounding."""
    system = motion.system
    names = [f"{m}/{s}" for m in system.paths for s in system.speeds]
    flat = arms.reshape(len(motion), -1)
    units = ["m" if unit == "rad/s" else "" for _ in system.paths for unit in scales.units(system.bodies)[1]]
    felt = [k for k in range(len(names)) if np.nanmax(np.abs(flat[:, k]), initial=0.0) > 1e-9]
    return {"lengths": cd.Table(motion.t, system.paths, L, ["m"] * len(system.paths)),
            "moment_arms": cd.Table(motion.t, [names[k] for k in felt], flat[:, felt],
                                    [units[k] for k in felt])}


def _notes(motion: cd.Motion, moments: cd.Table) -> list[str]:
    notes = []
    if motion.ignored:
        notes.append("Columns of the motion that are no coordinates were left out: "
                     f"{', '.join(motion.ignored)}.")
    if motion.filled:
        notes.append("Coordinates that constraints determine were not in the motion: "
                     f"{', '.join(motion.filled)}.")
    for name, change in motion.changes.items():
        if change.largest > 1e-9:
            notes.append(f"Filter and constraints changed {name} by at most {change.largest:.2g} "
                         f"{change.unit} ({change.rms:.2g} rms).")
    return notes
