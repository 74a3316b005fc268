"""`cd.analyze`: analysis of a motion: joint moments, muscle lengths and moment arms, muscle forces, joint
loads.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

import condyle.files as files
from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import DescriptionError, QualityWarning, UnknownNameError, check_name
from condyle.fit.frames import Frames
from condyle.integrate.trajectory import Trajectory
from condyle.native.machine.notice import announced
from condyle.presentation import Block, Display, cut, span
from condyle.quality import Quality, Verdict
from condyle.records import dataclass
from condyle.studies.external_load import ExternalLoad
from condyle.studies.gait.powers import joint_powers
from condyle.studies.inverse_dynamics import inverse_dynamics
from condyle.studies.joint_reactions import joint_reactions
from condyle.studies.motion.motion import Motion
from condyle.studies.muscle_analysis import path_geometry
from condyle.studies.path_slips import path_slips
from condyle.studies.static_optimization import static_optimization
from condyle.system.checked_arguments import check_system
from condyle.system.failures import report_left_out_frames
from condyle.system.system import System
from condyle.table import Table, save_all
from condyle.tree import scales

SHOWN = 3
"""Maximum number of failures listed individually."""


@dataclass(frozen=True)
class Assumptions:
    """Assumptions on muscles.

    Attributes:
        title: as a heading.
        says: explanation. options: of `cd.static_optimization`.
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
"""Configurations of the demo besides CONFIGURATIONS."""
RESERVES = 1.0
"""Optimal force of the reserve actuator at every coordinate [N m, N]: ruggiero2020
(33)."""


@dataclass(repr=False)
class Analysis(Display):
    """Analysis of a motion: `analysis["moments"]` is a Table, `analysis.report("walk.html")` writes a page.

    Attributes:
        motion: the motion, with speeds and accelerations.
        loads: measured forces on bodies.
        tables: by name, in the order of the report: kinematics, moments, powers, ground_reactions, lengths, fibers,
            moment_arms, and per configuration activations, forces, reserves and reactions.
        qualities: quality of each result, by its title.
        notes: sentences for the reader of the results.
        problems: failures; the tables are NaN there.
        changes: changes by filter and constraints, as a table of text.
    """

    motion: Motion
    loads: Sequence[ExternalLoad] = ()
    tables: dict[str, Table] = field(default_factory=dict)
    qualities: dict[str, Quality] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    changes: list[Block] = field(default_factory=list)

    def __getitem__(self, name: str) -> Table:
        check_name("table", name, self.tables)
        return self.tables[name]

    @property
    def quality(self) -> Quality:
        """All checks of all results."""
        return Quality([check for quality in self.qualities.values() for check in quality], "analyze")

    @property
    def checked(self) -> list[Block]:
        """Tables of text: changes by filter and constraints, and the checks."""
        return self.changes + [
            Block(f"Quality: {title}", quality.block.head, quality.block.rows)
            for title, quality in self.qualities.items()
        ]

    def judge(self, title: str, quality: Quality) -> None:
        """Record the quality of a result."""
        if quality.checks:
            self.qualities[title] = quality

    @property
    def advice(self) -> list[str]:
        """Advice on checks above their guidelines, as sentences."""
        return [f"{' and '.join(titles)}: {text}" for text, (_, titles) in above(self.qualities).items()]

    def save(self, folder: str | Path, ending: str = "sto") -> list[Path]:
        """Write all Tables into a folder, which must exist: NAME.sto, or .mot, .csv, .npz; returns the files."""
        return save_all("Analysis", self.tables, folder, ending)

    def report(
        self,
        path: str | Path | None = None,
        *,
        compare: Analysis | None = None,
        labels: tuple[str, str] = ("this", "other"),
        title: str = "Muscle forces and joint loads",
    ) -> str:
        """A report as one HTML file that needs no network: verdicts, the scene with its forces, joints,
        ground reactions, muscles by groups, joint loads. The scene and all curves share a time cursor.

        Args:
            path: of the file, ending in .html; none is written by default.
            compare: another trial or condition of a system with the same names, in the same panels, shifted
                in time to the same start. labels: of the two.
            title: of the page.

        Returns:
            its text.
        """
        from condyle.reports.report import write

        lead = [f"{len(self.motion)} frames from {self.motion.t[0]:g} to {self.motion.t[-1]:g} s."]
        text = write(self, title, lead, "", compare=compare, labels=labels)
        if path is not None:
            if Path(path).suffix.lower() not in (".html", ".htm"):
                raise DescriptionError(f"Analysis.report: {str(path)!r}: a page ends in .html")
            files.check_target(Path(path), "Analysis.report")
            with files.atomic_write(Path(path), "w", encoding="utf-8") as file:
                file.write(text)
        return text

    def __repr__(self) -> str:
        return f"Analysis({len(self.motion)} frames{span(self.motion.t)}: {cut(list(self.tables))}{self.quality.summary})"


def above(qualities: Mapping[str, Quality]) -> dict[str, tuple[Verdict, list[str]]]:
    """Checks above their guidelines: sentences, verdicts, and their results."""
    out: dict[str, tuple[Verdict, list[str]]] = {}
    for title, quality in qualities.items():
        for check in quality:
            if check.verdict in (Verdict.CHECK, Verdict.FAIL):
                text = f"{check}{'' if str(check).endswith('?') else '.'}"
                out.setdefault(text, (check.verdict, []))[1].append(title)
    return out


def _no_steps(_: str) -> AbstractContextManager[None]:
    return nullcontext()


@with_call_hints({"loads": "it is external_loads="})
@announced
def analyze(
    system: System,
    motion: Table | Motion | Trajectory | Frames,
    external_loads: ExternalLoad | Sequence[ExternalLoad] | None = None,
    *,
    configurations: Sequence[str] = tuple(CONFIGURATIONS),
    lowpass: float | None = None,
    step: Callable[[str], AbstractContextManager[None]] = _no_steps,
) -> Analysis:
    """Compute joint moments and powers, muscle lengths and forces, and joint loads of a motion, like `condyle
    analyze`.

        found = cd.analyze(subject, walk, cd.read_external_loads("grf.xml"), lowpass=6.0)
        found.report("walk.html", compare=other, labels=("before", "after"))

    Args:
        system: the system.
        motion: as for `cd.inverse_dynamics`.
        external_loads: measured forces on bodies, one or several.
        configurations: assumptions on muscles: "isometric": force is activation times maximum isometric
            force; "active": with force-length-velocity curves; "passive": with passive fiber forces too.
        lowpass: cutoff frequency [Hz] of a filter for the coordinates of a Table.
        step: called with a description of the next step; returns a context in which the step runs.

    Returns:
        an Analysis.
    """
    configurations = [configurations] if isinstance(configurations, str) else configurations
    for name in configurations:
        if name not in CONFIGURATIONS | PAPER:
            raise UnknownNameError("configuration", name, CONFIGURATIONS)
    check_system("analyze", system, "motion")
    moved = Motion.of(system, motion, lowpass=lowpass)
    given: Any = () if external_loads is None else external_loads
    loads: list[ExternalLoad] = list(given) if isinstance(given, (list, tuple)) else [given]
    out = Analysis(moved, loads)
    units = scales.units(system.bodies)[0]
    out.tables["kinematics"] = Table(moved.t, system.coordinates, moved.q, units, degrees=False)
    _changes(out)
    with step("inverse dynamics"), _noted(out):
        out.tables["moments"] = moments = inverse_dynamics(system, moved, loads or None)
        out.tables["powers"] = joint_powers(system, moved, moments)
        out.judge("Joint moments", moments.quality)
    if loads:
        out.tables["ground_reactions"] = _reactions(moved, loads)
    if system.muscles:
        with step("lengths and moment arms of muscles"), _noted(out):
            L, Ldot, arms = path_geometry(moved)
            report_left_out_frames(system.compiled, "lengths", moved.t, moved.q, moved.tail)
            out.tables |= _paths(moved, L, arms)
            out.notes += path_slips(moved, L, Ldot, arms)
        for name in configurations:
            _recruit(name, out, step)
    else:
        out.notes.append("The system has no muscles: joint loads are those of its joint moments alone.")
        with step("joint reactions"), _noted(out):
            out.tables["reactions"] = joint_reactions(system, moved, external_loads=loads or None)
    return out


def _reactions(motion: Motion, loads: Sequence[ExternalLoad]) -> Table:
    """Measured forces in ground [N], BODY_fx, BODY_fy, BODY_fz; several on one body are added."""
    forces: dict[str, Array] = {}
    for load in loads:
        body = load.body if isinstance(load.body, str) else load.body.name
        forces[body] = forces.get(body, 0.0) + load.acting(motion)[1]
    names = [f"{body}_f{axis}" for body in forces for axis in "xyz"]
    return Table(motion.t, names, np.concatenate(list(forces.values()), axis=1), ["N"] * len(names))


def count(system: System, configurations: Sequence[str]) -> int:
    """Number of steps."""
    return 2 + 2 * len(configurations) if system.muscles else 2


def _recruit(name: str, out: Analysis, step: Callable[[str], AbstractContextManager[None]]) -> None:
    """Muscle forces and joint loads in one configuration."""
    motion, loads, configuration = out.motion, out.loads, (CONFIGURATIONS | PAPER)[name]
    moments = {c.what for c in out.tables["moments"].quality}  # already shown
    with step(f"static optimization: {name}"), warnings.catch_warnings(action="ignore"):  # reported below
        found = static_optimization(
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
    with step(f"joint reactions: {name}"), _noted(out, f"{configuration.title}: "):
        out.tables[f"reactions_{name}"] = joint_reactions(
            motion.system, motion, forces=found.forces, external_loads=loads or None
        )


@contextmanager
def _noted(out: Analysis, before: str = "") -> Iterator[None]:
    """Turn warnings into notes that begin with `before`, each once for all studies; those of quality are
    shown as tables.
    """
    with warnings.catch_warnings(record=True, action="always") as said:
        yield
    for text in (str(w.message) for w in said if not issubclass(w.category, QualityWarning)):
        same = text.partition(": ")[2] or text  # without the name of the study
        if not any(note.endswith(same) for note in out.notes):
            out.notes.append(before + text)


def _paths(motion: Motion, L: Array, arms: Array) -> dict[str, Table]:
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
        fibers["fibers"] = Table(motion.t, system.muscles, l_M, ["m"] * len(laws))
    names = [f"{m}/{s}" for m in system.paths for s in system.speeds]
    flat = arms.reshape(len(motion), -1)
    units = ["m" if unit == "rad/s" else "" for _ in system.paths for unit in scales.units(system.bodies)[1]]
    felt = [k for k in range(len(names)) if np.nanmax(np.abs(flat[:, k]), initial=0.0) > 1e-9]
    return {
        "lengths": Table(motion.t, system.paths, L, ["m"] * len(system.paths)),
        **fibers,
        "moment_arms": Table(motion.t, [names[k] for k in felt], flat[:, felt], [units[k] for k in felt]),
    }


def _changes(out: Analysis) -> None:
    """Changes of the motion by filter and constraints, as a table, and notes on its columns."""
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
        out.changes.append(Block("Changed by filter and constraints", ("coordinate", "at most", "rms"), rows))
