"""The report of an Analysis: its Tables as panels of one page, and the study of Ruggiero and Sicilia (2020) beside OpenSim's
numbers."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from condyle.reports.analysis import CONFIGURATIONS, PAPER, RESERVES, Analysis
from condyle.reports.figures import Figure
from condyle.reports.page import Section, page, verdicts
from condyle.studies.residual_forces import floating_bases
from condyle.table import Table
from condyle.table.panels import Panel, Source, for_people, grid_of, panels_of
from condyle.table.titles import side
from condyle.viewer.drawing import figure_of
from condyle.viewer.page import Page
from condyle.viewer.shown import scene_of

FEW = 20
"""Maximum number of joint-load columns shown individually; otherwise magnitudes of forces."""
STILL = (900, 620)
"""Size of the printed picture [pixels]."""
Numbers = Mapping[str, str]
"""Numbers of figures in the paper, by the name of the table."""


def scene(study: Analysis, compare: Analysis | None = None) -> str:
    """The animated scene as an element of the page, with muscles colored by force and loads as arrows; and a
    still picture for printing.
    """
    forces = [table for name, table in study.tables.items() if name.startswith("forces_")]
    shift = 0.0 if compare is None else study.motion.t[0] - compare.motion.t[0]
    made = scene_of(
        study.motion,
        color=forces[-1] if forces else None,
        arrows=list(study.loads),
        title="The motion",
        compare=None if compare is None else compare.motion,
        later=float(shift),
    )
    shown = Page(made, play=False, panels=False).inline(most=4e6)
    out, frame = io.BytesIO(), len(made.layers[0].t) // 2
    figure_of(made, frame, size=STILL).savefig(out, format="png", metadata={"Software": None})
    data = base64.b64encode(out.getvalue()).decode()
    said = f"The motion at {made.layers[0].t[frame]:.3g} s"
    return f'{shown}\n<img class="still" alt="{said}" src="data:image/png;base64,{data}">'


def write(
    study: Analysis,
    title: str,
    lead: Sequence[str],
    ending: str,
    reference: Table | None = None,
    frames: slice = slice(None),
    numbers: Numbers | None = None,
    last: Sequence[Section] = (),
    notes: Mapping[str, str] | None = None,
    compare: Analysis | None = None,
    labels: tuple[str, str] = ("this", "other"),
) -> str:
    """The page.

    Args:
        study: the analysis.
        title: its heading.
        lead: paragraphs below it, in HTML.
        ending: of the files of tables, such as "csv"; "" if there are none.
        reference: OpenSim's numbers: columns TABLE/COLUMN, the same frames.
        frames: to compare with them.
        numbers: see Numbers.
        last: sections after all others.
        notes: paragraphs of configurations, by name, in HTML.
        compare: another trial or condition, in the same panels.
        labels: of the two.
    """
    make = _Figures(study, ending, reference, frames, numbers or {}, compare, labels)
    beside = "" if compare is None else f" The pale one is {html.escape(labels[1])}."
    arrows = " Arrows are the measured forces." * bool(study.loads)
    sections = [
        Section(
            "The motion",
            [f"Its cursor is that of all curves below: move either.{arrows}{beside}"],
            scene=scene(study, compare),
        ),
        Section(
            "Joints",
            [
                "Moments are what must act at each coordinate, beside gravity and external loads, for the motion to "
                "happen: inverse dynamics. Positive power puts energy into the body."
            ],
            make.joints(),
        ),
    ]
    if compare is not None:
        sections.append(_differences(study, compare, labels))
    if "ground_reactions" in study.tables:
        text = "Measured forces, with axes of ground, at the times of the motion."
        sections.append(Section("Ground reactions", [text], make.loads()))
    tabs = [
        Section(
            configuration.title,
            [
                f"{configuration.says} Of all activations that explain the joint moments, those with the least "
                f"sum of squares; an actuator of {RESERVES:g} N m (or N) at each coordinate may help.",
                *([notes[name]] if notes and name in notes else []),
            ],
            [
                *make.muscles(name),
                *make.of(f"reserves_{name}", "What the reserve actuators do"),
                *make.reactions(f"reactions_{name}"),
            ],
        )
        for name, configuration in (CONFIGURATIONS | PAPER).items()
        if f"activations_{name}" in study.tables
    ]
    if tabs:
        text = (
            "Muscles are grouped by the coordinate about which their moment arm is largest: + pull it up, − down. "
            "Joint loads are what a body's joint does to it, with axes of ground."
        )
        sections.append(Section("Muscles and joint loads", [text], tabs=tabs))
    if "lengths" in study.tables:
        text = (
            "Lengths from origin to insertion, over bones where paths touch them, and moment arms: minus the length's "
            "derivative by the coordinate, exactly. Fibers are as long as the path with a rigid tendon leaves them."
        )
        sections.append(Section("Muscle paths", [text], make.paths()))
    if "reactions" in study.tables:
        text = "What a body's joint does to it, with axes of ground."
        sections.append(Section("Joint loads", [text], make.reactions("reactions")))
    said = [html.escape(text) for text in (*study.problems, *study.notes)]
    if said or study.changes:
        sections.append(Section("Notes", [*said, *(block.html() for block in study.changes)]))
    qualities, problems = dict(study.qualities), list(study.problems)
    if compare is not None:
        both = ((labels[0], study), (labels[1], compare))
        qualities = {f"{label}: {name}": q for label, own in both for name, q in own.qualities.items()}
        problems += compare.problems
    return page(title, lead, [*sections, *last], verdicts(qualities, problems))


def _differences(study: Analysis, compare: Analysis, labels: tuple[str, str]) -> Section:
    """Peaks of both, and differences between the curves during their common time."""
    rows = []
    shift = study.motion.t[0] - compare.motion.t[0]
    for name in ("kinematics", "moments", "powers", "ground_reactions", *_common(study, compare, "forces_")):
        if name not in study.tables or name not in compare.tables:
            continue
        ours, theirs = (for_people(own.tables[name]) for own in (study, compare))
        t = theirs.time + shift
        both = (ours.time >= t[0]) & (ours.time <= t[-1])
        for k, column in enumerate(ours.names):
            if column not in theirs.names:
                continue
            a, b, unit = ours[column], theirs[column], ours.units[k]
            apart = a[both] - np.interp(ours.time[both], t, b)
            peaks = [x[np.nanargmax(abs(x))] if np.isfinite(x).any() else np.nan for x in (a, b)]
            rms = np.sqrt(np.nanmean(apart**2)) if np.isfinite(apart).any() else np.nan
            numbers = [f"{x:.4g}" for x in (*peaks, peaks[1] - peaks[0], rms)]
            rows.append([f"{column}, {WORDS.get(name, 'force')} [{unit}]", *numbers])
    head = ("peak", labels[0], labels[1], "difference", "RMS between the curves")
    text = "Values of the largest size, and how far the curves are apart while both last."
    return Section("Differences", [text], table=(head, rows), words=False)


WORDS = {"kinematics": "coordinate", "moments": "moment", "powers": "power"}


def _common(study: Analysis, compare: Analysis, start: str) -> list[str]:
    """The last common table with this prefix."""
    return [n for n in study.tables if n.startswith(start) and n in compare.tables][-1:]


class _Figures:
    """Figures of tables."""

    def __init__(
        self,
        study: Analysis,
        ending: str,
        reference: Table | None,
        frames: slice,
        numbers: Numbers,
        compare: Analysis | None,
        labels: tuple[str, str],
    ) -> None:
        self.study, self.ending, self.numbers = study, ending, numbers
        self.reference, self.frames, self.compare, self.labels = reference, frames, compare, labels

    def sources(self, name: str, factor: float = 1.0, unit: str = "") -> tuple[Source, Source | None]:
        """A table and its comparison, in display units."""
        table, other = self.study.tables[name], None
        if self.compare is not None and name in self.compare.tables:
            theirs = self.compare.tables[name]
            other = theirs._with(time=theirs.time + self.study.motion.t[0] - self.compare.motion.t[0])
        elif self.reference is not None and (found := referred(self.reference, name)) is not None:
            units = dict(zip(table.names, table.units, strict=True))
            other = found.with_units([units.get(n, "") for n in found.names])
        both = [Source(t, word=w) for t, w in ((table, self._word), (other, self._other)) if t is not None]
        shown = [s.shown(None, True) for s in both]
        if unit:
            shown = [
                Source(
                    s.table._with(values=factor * s.table.values, units=[unit] * len(s.table.names)),
                    word=s.word,
                )
                for s in shown
            ]
        return shown[0], shown[1] if len(shown) > 1 else None

    @property
    def _word(self) -> str:
        return "Condyle" if self.reference is not None else self.labels[0]

    @property
    def _other(self) -> str:
        return "OpenSim" if self.reference is not None else self.labels[1]

    def figure(
        self,
        names: Sequence[str],
        title: str,
        panels: Sequence[Panel],
        table: Table | None,
        columns: int = 0,
        digits: int = 3,
    ) -> list[Figure]:
        """With figure numbers of the paper, files, and differences from OpenSim."""
        numbers = [self.numbers[name] for name in names if name in self.numbers]
        many = "s" * (len(numbers) > 1)
        title = f"{title} (figure{many} {' and '.join(numbers)} of the paper)" if numbers else title
        notes = []
        for name in names:
            own = self.study.tables[name]
            largest = difference(own, referred(self.reference, name), self.frames)
            if largest is not None:
                notes.append(f"Largest difference from OpenSim: {f'{largest:.2g} {own.units[0]}'.rstrip()}.")
        files = [f"{name}.{self.ending}" for name in names] if self.ending else []
        panels = [p for p in panels if p.curves or columns]
        return [Figure(title, panels, " ".join(notes), files, table, digits, columns)] if panels else []

    def of(self, name: str, title: str, ylabel: str | None = None, together: int = 0) -> list[Figure]:
        """All columns of a table, a panel per unit."""
        source, other = self.sources(name)
        return self.figure(
            (name,), title, panels_of(source, other, ylabel=ylabel, together=together), source.table
        )

    def joints(self) -> list[Figure]:
        """Angle, moment and power of each joint; then the floating base, where moments are residuals."""
        names = ("kinematics", "moments", "powers")
        found = [self.sources(name) for name in names]
        system = self.study.motion.system
        floats = {system.speeds[k] for base in floating_bases(system) for k in (*base.forces, *base.moments)}
        ours, theirs = (
            [replace(s, table=_part(s.table, floats, False)) for s in some if s is not None]
            for some in zip(*found, strict=True)
        )
        out = []
        if any(source.table.names for source in ours):
            rows = grid_of(ours, theirs, "joints x (angle, moment, power)", required=False)
            out += self.figure(
                names[:2], "Angle, moment and power", [cell for row in rows for cell in row], None, 3
            )
        for (source, other), name, title in zip(found, names, BASE, strict=False):
            shown = replace(source, table=_part(source.table, floats, True))
            out += self.figure((name,), title, panels_of(shown, other), shown.table)
        return out

    def loads(self) -> list[Figure]:
        """A panel per axis."""
        source, other = self.sources("ground_reactions")
        panels = []
        for axis in "xyz":
            names = [n for n in source.table.names if n.endswith(f"_f{axis}")]
            bare = [n.removesuffix(f"_f{axis}") for n in names]
            rename = dict(zip(names, bare, strict=True))
            a, b = (
                None
                if s is None
                else Source(s.table[[n for n in names if n in s.table.names]].rename(rename), word=s.word)
                for s in (source, other)
            )
            assert a is not None
            panels += panels_of(a, b, title=f"force along {axis}", ylabel="[N]")
        return self.figure(
            ("ground_reactions",), "Forces on bodies", panels, source.table, columns=3, digits=1
        )

    def groups(self) -> dict[str, list[str]]:
        """Muscles grouped by the coordinate with the largest mean moment arm, and its sign."""
        arms = self.study.tables["moment_arms"]
        best: dict[str, tuple[float, str]] = {}
        order = [side(s)[0] for s in self.study.motion.system.speeds]
        for k, column in enumerate(arms.names):
            muscle, _, speed = column.rpartition("/")
            x = arms.values[:, k]
            size = float(np.nanmean(np.abs(x))) if arms.units[k] == "m" and np.isfinite(x).any() else 0.0
            if size > best.get(muscle, (0.0, ""))[0]:
                best[muscle] = size, f"{side(speed)[0]} {'+' if np.nanmean(x) > 0 else '−'}"
        out: dict[str, list[str]] = {}
        for muscle in self.study.motion.system.muscles:
            out.setdefault(best[muscle][1] if muscle in best else "others", []).append(muscle)
        return dict(
            sorted(
                out.items(),
                key=lambda item: (order.index(item[0][:-2]) if item[0][:-2] in order else 999, item[0]),
            )
        )

    def muscles(self, name: str) -> list[Figure]:
        """Activations and forces, a row per group of muscles."""
        both = [(f"activations_{name}", "activation"), (f"forces_{name}", "force [N]")]
        found = [(key, label, *self.sources(key)) for key, label in both]
        rows = {
            key: [
                p
                for group, muscles in self.groups().items()
                for p in panels_of(
                    source.shown([m for m in muscles if m in source.table.names], False),
                    other,
                    title=group,
                    ylabel=label,
                    together=8,
                )
            ]
            for key, label, source, other in found
        }
        titles = ("Activations", "Muscle forces")
        return [
            f
            for (key, _, source, _), title in zip(found, titles, strict=True)
            for f in self.figure(
                (key,), title, rows[key], source.table, digits=3 if title == "Activations" else 1
            )
        ]

    def paths(self) -> list[Figure]:
        """Lengths by groups, and moment arms by coordinates."""
        out = []
        for name, title in (
            ("lengths", "Lengths of muscles and tendons"),
            ("fibers", "Fiber lengths, rigid tendons"),
        ):
            if name not in self.study.tables:
                continue
            source, other = self.sources(name, 1e3, "mm")
            groups = {g: [m for m in ms if m in source.table.names] for g, ms in self.groups().items()}
            rest = [n for n in source.table.names if not any(n in ms for ms in groups.values())]
            groups |= {"others": [*groups.get("others", []), *rest]} if rest else {}
            panels = [
                p
                for group, muscles in groups.items()
                for p in panels_of(
                    source.shown(muscles, False), other, title=group, ylabel="length [mm]", together=8
                )
            ]
            out += self.figure((name,), title, panels, source.table, digits=1)
        if not self.study.tables["moment_arms"].names:
            return out
        source, other = self.sources("moment_arms", 1e3, "mm")
        joints: dict[str, dict[str, str]] = {}
        for column in source.table.names:
            muscle, _, speed = column.rpartition("/")
            joints.setdefault(side(speed)[0] if side(muscle)[1] == side(speed)[1] else speed, {})[column] = (
                muscle
            )
        panels = []
        for joint, names in joints.items():
            if len(set(names.values())) < len(names):  # a muscle on both sides
                names = {column: column for column in names}
            a, b = (
                None
                if s is None
                else Source(
                    s.table[[n for n in names if n in s.table.names]].rename(
                        {k: v for k, v in names.items() if k in s.table.names}
                    ),
                    word=s.word,
                )
                for s in (source, other)
            )
            assert a is not None
            panels += panels_of(a, b, title=joint, ylabel="moment arm [mm]", together=8)
        return out + self.figure(("moment_arms",), "Moment arms", panels, source.table, digits=1)

    def reactions(self, name: str) -> list[Figure]:
        """Joint loads: of few joints all components, of many the sizes of the forces. Where they act is in the table only."""
        source, other = self.sources(name)
        kept = [c for c, unit in zip(source.table.names, source.table.units, strict=True) if unit != "m"]
        many = len(kept) > FEW
        if many:
            parts = [None if s is None else Source(sizes(s.table), word=s.word) for s in (source, other)]
            panels = panels_of(parts[0] or source, parts[1], together=1, ylabel="force [N]")
        else:
            panels = panels_of(source.shown(kept, False), other)
        return self.figure(
            (name,),
            "Joint loads, size of the force" if many else "Joint loads",
            panels,
            source.table[kept],
            digits=1,
        )


BASE = (
    "Coordinates of the floating base",
    "Residuals: what motion, loads and masses leave unexplained at the floating base",
)


def _part(table: Table, names: set[str], inside: bool) -> Table:
    """The columns that are in a set, or not."""
    return table[[n for n in table.names if (n in names) == inside]]


def difference(table: Table, other: Table | None, frames: slice) -> float | None:
    """The largest between two tables, in the columns that both have; None if there are none."""
    common = [name for name in table.names if other is not None and name in other.names]
    if other is None or not common:
        return None
    return float(np.abs(table[common].values[frames] - other[common].values[frames]).max())


def sizes(reactions: Table) -> Table:
    """Magnitude of the force at each joint [N]."""
    bodies = [c.removesuffix("_fx") for c in reactions.names if c.endswith("_fx")]
    forces = [reactions[[f"{b}_f{axis}" for axis in "xyz"]].values for b in bodies]
    return Table(reactions.time, bodies, np.linalg.norm(forces, axis=2).T, ["N"] * len(bodies))


def referred(reference: Table | None, name: str) -> Table | None:
    """The columns NAME/COLUMN of a Table of others, without NAME."""
    if reference is None:
        return None
    own = [column for column in reference.names if column.startswith(f"{name}/")]
    return Table(reference.time, [c[len(name) + 1 :] for c in own], reference[own].values) if own else None
