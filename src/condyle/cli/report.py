"""The report of a study: its Tables as figures of one page, in the order of Ruggiero and Sicilia (2020)."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np

import condyle as cd
from condyle.cli.figures import TOGETHER, Figure
from condyle.cli.page import Section, page
from condyle.cli.study import CONFIGURATIONS, PAPER, RESERVES, Study

DEGREES = 180 / np.pi
Numbers = Mapping[str, str]
"""Numbers of figures in the paper, by the name of the table."""


def scene(study: Study) -> str:
    """What moves, as an element of the page; muscles are colored by their forces."""
    forces = [table for name, table in study.tables.items() if name.startswith("forces_")]
    shown = cd.show(
        study.motion, color=forces[-1] if forces else None, title="The motion", play=False, open=False
    )
    return shown.inline(most=4e6)


def write(
    study: Study,
    title: str,
    lead: Sequence[str],
    ending: str,
    reference: cd.Table | None = None,
    frames: slice = slice(None),
    numbers: Numbers | None = None,
    last: Sequence[Section] = (),
    notes: Mapping[str, str] | None = None,
) -> str:
    """The page.

    Args:
        study: what was found.
        title: its heading.
        lead: paragraphs below it, in HTML.
        ending: of the files of tables, such as "csv".
        reference: OpenSim's numbers: columns TABLE/COLUMN, the same frames.
        frames: that are compared with them.
        numbers: see Numbers.
        last: sections after all others.
        notes: paragraphs of configurations, by name, in HTML.
    """
    figures = _Figures(study, ending, reference, frames, numbers or {})
    sections = [
        Section("The motion", figures=figures.of("kinematics", "Coordinates"), scene=scene(study)),
        Section(
            "Joint moments",
            [
                "What must act at each coordinate, beside gravity and external "
                "loads, for the motion to happen: inverse dynamics."
            ],
            figures.of("moments", "Joint moments"),
        ),
    ]
    if "lengths" in study.tables:
        sections.append(
            Section(
                "Muscle paths",
                [
                    "Lengths from origin to insertion, over bones where paths touch them, and moment arms: minus the "
                    "length's derivative by the coordinate, exactly. Fibers are as long as the path with a rigid tendon leaves them."
                ],
                [
                    *figures.of("lengths", "Lengths of muscles and tendons"),
                    *(
                        figures.of("fibers", "Fiber lengths, rigid tendons")
                        if "fibers" in study.tables
                        else []
                    ),
                    *figures.arms(),
                ],
            )
        )
    for name, configuration in (CONFIGURATIONS | PAPER).items():
        if f"activations_{name}" not in study.tables:
            continue
        sections.append(
            Section(
                configuration.title,
                [
                    f"{configuration.says} Of all activations that explain the joint moments, those with the least "
                    f"sum of squares; an actuator of {RESERVES:g} N m (or N) at each coordinate may help. Joint "
                    "loads are what a body's joint does to it, with axes of ground.",
                    *([notes[name]] if notes and name in notes else []),
                ],
                [
                    *figures.of(f"activations_{name}", "Activations"),
                    *figures.of(f"forces_{name}", "Muscle forces"),
                    *figures.of(f"reserves_{name}", "What the reserve actuators do"),
                    *figures.of(f"reactions_{name}", "Joint loads"),
                ],
            )
        )
    if "reactions" in study.tables:
        sections.append(
            Section(
                "Joint loads",
                ["What a body's joint does to it, with axes of ground."],
                figures.of("reactions", "Joint loads"),
            )
        )
    if study.problems or study.notes or study.checked:
        sections.append(
            Section(
                "Notes",
                [
                    *(html.escape(text) for text in (*study.problems, *study.notes)),
                    *(block.html() for block in study.checked),
                ],
            )
        )
    return page(title, lead, [*sections, *last])


class _Figures:
    """Figures of tables."""

    def __init__(
        self, study: Study, ending: str, reference: cd.Table | None, frames: slice, numbers: Numbers
    ) -> None:
        self.study, self.ending, self.numbers = study, ending, numbers
        self.reference, self.frames = reference, frames

    def of(self, name: str, title: str) -> list[Figure]:
        """Of one table: a figure per unit."""
        table, other = self.study.tables[name], referred(self.reference, name)
        if name.startswith("reactions"):  # where they act is in the table only
            table = table[[c for c, unit in zip(table.names, table.units, strict=True) if unit != "m"]]
            if len(table.names) > 2 * TOGETHER:
                table, title = sizes(table), f"{title}, size of the force"
        groups: dict[str, list[str]] = {}
        for column, unit in zip(table.names, table.units, strict=True):
            groups.setdefault(unit, []).append(column)
        split = name.startswith("reactions") and len(groups) > 1
        kinds = {"N": ": forces", "N m": ": moments"} if split else {}
        return [
            self._figure(name, title + kinds.get(unit, ""), table[own], unit, other)
            for unit, own in groups.items()
        ]

    def arms(self) -> list[Figure]:
        """Moment arms, a figure per coordinate."""
        table, other = self.study.tables["moment_arms"], referred(self.reference, "moment_arms")
        out = []
        for speed in dict.fromkeys(column.rpartition("/")[2] for column in table.names):
            own = [column for column in table.names if column.rpartition("/")[2] == speed]
            shown = cd.Table(
                table.time, [c.rpartition("/")[0] for c in own], table[own].values, table[own].units
            )
            beside = None
            if other is not None and (common := [c for c in own if c in other.names]):
                beside = cd.Table(other.time, [c.rpartition("/")[0] for c in common], other[common].values)
            out.append(
                self._figure("moment_arms", f"Moment arms about {speed}", shown, shown.units[0], beside)
            )
        return out

    def _figure(self, name: str, title: str, table: cd.Table, unit: str, other: cd.Table | None) -> Figure:
        number = self.numbers.get(name, "")
        if number:
            title = f"{title} (figure {number} of the paper)"
        quantity = QUANTITIES.get(name.partition("_")[0], name)
        if name.startswith(("moments", "reserves", "reactions")):
            quantity = "force" if unit == "N" else "moment"
        if unit == "rad":
            table, unit = scaled(table, DEGREES), "degrees"
        elif quantity in ("length", "moment arm") and unit == "m":
            table, other, unit = scaled(table, 1e3), other and scaled(other, 1e3), "mm"
        digits = {"degrees": 2, "mm": 3, "N": 2, "N m": 4, "": 4}.get(unit, 4)
        largest = difference(table, other, self.frames)
        note = (
            "" if largest is None else f"Largest difference from OpenSim: {largest:.2g} {unit}".rstrip() + "."
        )
        return Figure(
            title,
            table,
            f"{quantity} [{unit}]" if unit else quantity,
            note,
            other,
            f"{name}.{self.ending}",
            digits,
        )


QUANTITIES = {
    "kinematics": "coordinate",
    "moments": "moment",
    "lengths": "length",
    "fibers": "length",
    "moment": "moment arm",
    "activations": "activation",
    "forces": "force",
    "reserves": "moment",
    "reactions": "load",
}


def difference(table: cd.Table, other: cd.Table | None, frames: slice) -> float | None:
    """The largest between two tables, in the columns that both have; None if there are none."""
    common = [name for name in table.names if other is not None and name in other.names]
    if other is None or not common:
        return None
    return float(np.abs(table[common].values[frames] - other[common].values[frames]).max())


def sizes(reactions: cd.Table) -> cd.Table:
    """How large the force at each joint is [N]."""
    bodies = [c.removesuffix("_fx") for c in reactions.names if c.endswith("_fx")]
    forces = [reactions[[f"{b}_f{axis}" for axis in "xyz"]].values for b in bodies]
    return cd.Table(reactions.time, bodies, np.linalg.norm(forces, axis=2).T, ["N"] * len(bodies))


def scaled(table: cd.Table, factor: float) -> cd.Table:
    """In another unit."""
    return cd.Table(table.time, table.names, factor * table.values)


def referred(reference: cd.Table | None, name: str) -> cd.Table | None:
    """The columns NAME/COLUMN of a Table of others, without NAME."""
    if reference is None:
        return None
    own = [column for column in reference.names if column.startswith(f"{name}/")]
    return cd.Table(reference.time, [c[len(name) + 1 :] for c in own], reference[own].values) if own else None
