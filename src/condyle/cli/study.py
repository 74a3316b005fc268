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
from condyle.presentation import Block
from condyle.quality import Quality, Verdict
from condyle.records import dataclass
from condyle.studies.muscle_analysis import path_geometry
from condyle.studies.path_slips import path_slips
from condyle.tree import scales

SHOWN = 3
"""Failures that are told one by one."""


@dataclass(frozen=True)
class Assumptions:
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
    "isometric": Assumptions(
        "Muscles without curves",
        "A muscle's force is its activation times its greatest isometric force, at "
        "any length and velocity; there are no passive "
        "forces.",
        {"physiology": False},
    ),
    "active": Assumptions(
        "Muscles with force-length-velocity curves",
        "A muscle's force is its activation times what its fibers can exert at their length and velocity, "
        "with a rigid tendon; there are no passive forces.",
        {"physiology": True},
    ),
    "passive": Assumptions(
        "Muscles with curves and passive forces",
        "As before, and stretched fibers also pull by themselves.",
        {"physiology": True, "passive": True},
    ),
}
PAPER = {
    "paper": Assumptions(
        "The same with activations from 0 to 1",
        "As before, with the bounds of ruggiero2020 (33): a muscle may be wholly at rest.",
        {"physiology": True, "passive": True, "a_min": 0.0},
    )
}
"""What the demo does beside CONFIGURATIONS."""
RESERVES = 1.0
"""Optimal force of an actuator at every coordinate that helps where muscles cannot [N m, N]: ruggiero2020
(33)."""


@dataclass
class Study:
    """What was found.

    Attributes:
        motion: the motion, with speeds and accelerations.
        tables: by the name of their file, in the order of the report.
        notes: what a reader of the results must know, in sentences.
        problems: what failed; the tables are NaN there.
        checked: tables of text that a reader should see: what filter and constraints changed, and how good
            each result is, with guidelines and verdicts.
    """

    motion: cd.Motion
    tables: dict[str, cd.Table] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    checked: list[Block] = field(default_factory=list)

    def judge(self, title: str, quality: Quality) -> None:
        """Show how good a result is; rows above their guidelines are noted with what to do."""
        if quality.checks:
            self.checked.append(Block(f"Quality: {title}", quality.block.head, quality.block.rows))
        self.notes += [f"{title}: {c}." for c in quality if c.verdict in (Verdict.CHECK, Verdict.FAIL)]


def study(
    motion: cd.Motion,
    steps: Steps,
    loads: Sequence[cd.ExternalLoad] = (),
    configurations: Sequence[str] = tuple(CONFIGURATIONS),
) -> Study:
    """Do all of it, step by step.

    Args:
        motion: of a system.
        steps: told of each step.
        loads: measured forces on bodies.
        configurations: names of CONFIGURATIONS and PAPER.
    """
    system, out = motion.system, Study(motion)
    out.tables["kinematics"] = cd.Table(
        motion.t, system.coordinates, motion.q, scales.units(system.bodies)[0], degrees=False
    )
    _changes(out)
    with steps.step("inverse dynamics"), _quiet():
        out.tables["moments"] = moments = cd.inverse_dynamics(system, motion, loads or None)
        out.judge("joint moments", moments.quality)
    if system.muscles:
        with steps.step("lengths and moment arms of muscles"):
            L, Ldot, arms = path_geometry(motion)
            out.tables |= _paths(motion, L, arms)
            out.notes += path_slips(motion, L, Ldot, arms)
        for name in configurations:
            _recruit(name, out, steps, loads)
    else:
        out.notes.append("The system has no muscles: joint loads are those of its joint moments alone.")
        with steps.step("joint reactions"), _quiet():
            out.tables["reactions"] = cd.joint_reactions(system, motion, external_loads=loads or None)
    return out


def count(system: cd.System, configurations: Sequence[str]) -> int:
    """How many steps a study has."""
    return 2 + 2 * len(configurations) if system.muscles else 2


def _recruit(name: str, out: Study, steps: Steps, loads: Sequence[cd.ExternalLoad]) -> None:
    """Muscle forces and joint loads in one configuration."""
    motion, configuration = out.motion, (CONFIGURATIONS | PAPER)[name]
    moments = {c.what for c in out.tables["moments"].quality}  # those are shown already
    with steps.step(f"static optimization: {name}"), warnings.catch_warnings(action="ignore"):  # told below
        found = cd.static_optimization(
            motion.system, motion, loads or None, reserves=RESERVES, **configuration.options
        )
    out.tables |= {
        f"activations_{name}": found.activations,
        f"forces_{name}": found.forces,
        f"reserves_{name}": found.reserves,
    }
    out.judge(configuration.title, Quality([c for c in found.quality if c.what not in moments]))
    failures = list(found.failures.values())
    out.problems += [f"{configuration.title}: {text}" for text in failures[:SHOWN]]
    if len(failures) > SHOWN:
        out.problems.append(f"{configuration.title}: {len(failures) - SHOWN} more frames failed")
    with steps.step(f"joint reactions: {name}"), _quiet():
        out.tables[f"reactions_{name}"] = cd.joint_reactions(
            motion.system, motion, forces=found.forces, external_loads=loads or None
        )


def _quiet() -> Any:
    """Without warnings of quality, which is shown as a table."""
    return warnings.catch_warnings(action="ignore", category=cd.errors.QualityWarning)


def _paths(motion: cd.Motion, L: Array, arms: Array) -> dict[str, cd.Table]:
    """Lengths of paths, of fibers with rigid tendons where muscles are described by numbers, and moment arms that
    are anywhere above rounding."""
    system = motion.system
    laws = [system.force(name) for name in system.muscles]
    numbers = [
        [getattr(law, name) for law in laws]
        for name in ("optimal_fiber_length", "tendon_slack_length", "pennation_angle")
    ]
    fibers = {}
    if laws and all(isinstance(x, (int, float)) for row in numbers for x in row):
        l_0, l_S, alpha = np.array(numbers, float)
        along = np.maximum(L[:, [system.paths.index(name) for name in system.muscles]] - l_S, 0.0)
        l_M = np.hypot(along, l_0 * np.sin(alpha))  # ruggiero2020 (21)
        fibers["fibers"] = cd.Table(motion.t, system.muscles, l_M, ["m"] * len(laws))
    names = [f"{m}/{s}" for m in system.paths for s in system.speeds]
    flat = arms.reshape(len(motion), -1)
    units = ["m" if unit == "rad/s" else "" for _ in system.paths for unit in scales.units(system.bodies)[1]]
    felt = [k for k in range(len(names)) if np.nanmax(np.abs(flat[:, k]), initial=0.0) > 1e-9]
    return {
        "lengths": cd.Table(motion.t, system.paths, L, ["m"] * len(system.paths)),
        **fibers,
        "moment_arms": cd.Table(motion.t, [names[k] for k in felt], flat[:, felt], [units[k] for k in felt]),
    }


def _changes(out: Study) -> None:
    """What filter and constraints did to the motion, as one table, and what is odd about its columns."""
    motion = out.motion
    if motion.ignored:
        out.notes.append(
            f"Columns of the motion that are no coordinates were left out: {', '.join(motion.ignored)}."
        )
    if motion.filled:
        out.notes.append(
            f"Coordinates that constraints determine were not in the motion: {', '.join(motion.filled)}."
        )
    rows = [
        (name, f"{c.largest:.2g} {c.unit}", f"{c.rms:.2g} {c.unit}")
        for name, c in motion.changes.items()
        if c.largest > 1e-9
    ]
    if rows:
        out.checked.append(Block("Changed by filter and constraints", ("coordinate", "at most", "rms"), rows))
