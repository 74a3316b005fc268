"""Panels of curves, by unit: the content of a picture of Tables, before it is drawn.

A panel has the columns of one unit. Columns of the two sides of a body share a color: left is solid, right dashed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import DescriptionError, check_name
from condyle.records import dataclass
from condyle.table.rows import CYCLE
from condyle.table.titles import mirrored, side
from condyle.table.units import ANGULAR, DEGREE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from condyle.table.table import Table

    AxesLike = Axes | NDArray[np.object_]
    """One, or an array of several."""

COLORS = (
    *("#5577fd", "#d06911", "#20b083", "#7e219f", "#cbb31f", "#e613bd"),
    *("#23768e", "#23bef8", "#c40752", "#265e04", "#fe80c3", "#2414fd"),
)
"""One per column, in turn. All differ from each other, from white and from a dark page, for color-blind eyes
too: tests/table/test_plots.py has the differences.
"""
TOGETHER, MANY = len(COLORS), 8
"""Most columns, or pairs of them, in one panel; and in each of several panels."""
PALE: dict[str, Any] = {"linewidth": 4.5, "alpha": 0.35}
"""Style of the other Table's curves, behind those of the same color."""
QUANTITIES = {
    "angle": ("deg", "rad", "m", "mm"),
    "velocity": ("deg/s", "rad/s", "m/s"),
    "acceleration": ("deg/s^2", "rad/s^2", "m/s^2"),
    "moment": ("N m", "N", "BW", "BW m", "BW leg length"),
    "power": ("W",),
    "work": ("J",),
}
"""Units of the quantities in a grid; moments and powers may be per kg."""
_LABELS = {
    "angle": ("deg", "rad"),
    "angular velocity": ("deg/s", "rad/s"),
    "length": ("m", "mm"),
    "velocity": ("m/s",),
    "force": ("N", "BW"),
    "moment": ("N m", "BW m", "BW leg length"),
    "power": ("W",),
    "energy": ("J",),
}
"""The quantity of each unit."""
_WORDS = {
    "force": "force",
    "torque|moment": "moment",
    "power": "power",
    "point": "point",
    "_t[xyz]$": "translation",
    "activation": "activation",
    "length": "length",
    "[/_]speed$": "velocity",
}
"""The quantity of columns without units, by regular expressions for their names."""


@dataclass(frozen=True, eq=False)
class PlottedColumn:
    """A column, drawn.

    Attributes:
        x: shape (m,).
        y: shape (m,); where it is NaN there is a gap.
        label: in the legend; curves of one color share it.
        name: of the column.
        color: as matplotlib takes it.
        look: linestyle, linewidth, alpha.
        band: lower and upper edge, shape (m,) each.
    """

    x: Array
    y: Array
    label: str
    name: str
    color: str
    look: Mapping[str, Any] = field(default_factory=dict)
    band: tuple[Array, Array] | None = None


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves over one pair of axes.

    Attributes:
        curves: in the order of the legend.
        xlabel: with its unit.
        ylabel: with its unit.
        title: may be empty.
        looks: meaning of line styles: {word: style}.
        marks: places on the x axis, drawn as dotted lines: [(x, color)].
        guides: levels on the y axis, drawn as dashed lines: {word: level}.
    """

    curves: Sequence[PlottedColumn]
    xlabel: str
    ylabel: str
    title: str = ""
    looks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    marks: Sequence[tuple[float, str]] = ()
    guides: Mapping[str, float] = field(default_factory=dict)

    @property
    def entries(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        """Entries of the legend: word, color ("" is that of text) and look. A single column needs none: the
        title names it.
        """
        own = {c.label: (c.label, c.color, {"linewidth": 1.8}) for c in self.curves if c.label}
        colors = [] if {side(label)[0] for label in own} <= {side(self.title)[0]} else list(own.values())
        return colors + [(word, look.get("color", ""), look) for word, look in self.looks.items()]


def for_people(table: Table) -> Table:
    """Angles in degrees."""
    return table._with(
        values=table._scaled([1 / DEGREE if unit in ANGULAR else 1.0 for unit in table.units]),
        units=[unit.replace("rad", "deg") if unit in ANGULAR else unit for unit in table.units],
    )


def labeled(unit: str) -> str:
    """A quantity with its unit: "angle [deg]"."""
    if unit in ("", "1") or unit in _WORDS.values():
        return unit.removesuffix("1")
    quantity = next((word for word, units in _LABELS.items() if unit.removesuffix("/kg") in units), "")
    return f"{quantity} [{unit}]".lstrip()


def xlabel(over: str) -> str:
    """Of an x axis."""
    return "gait cycle [%]" if over == CYCLE else over


@dataclass(frozen=True, eq=False)
class Source:
    """A Table to draw.

    Attributes:
        table: its columns.
        band: lower and upper edges of all of them.
        word: its name in the legend beside another.
        marks: see Panel.
        turned: beside another, its columns are shown as those of the other side.
    """

    table: Table
    band: tuple[Table, Table] | None = None
    word: str = ""
    marks: Sequence[float] = ()
    turned: bool = False

    def theirs(self, name: str) -> str:
        """Its column that corresponds to one of another Table; "" if there is none."""
        both = (mirrored(name), name) if self.turned else (name, mirrored(name))
        return next((n for n in both if n in self.table.names), "")

    def shown(self, names: Sequence[str] | None, degrees: bool) -> Source:
        """Some columns of it, as people read them."""
        change: Callable[[Table], Table] = for_people if degrees else (lambda table: table)
        pick = list(self.table.names if names is None else names)
        return replace(
            self,
            table=change(self.table[pick]),
            band=None if self.band is None else (change(self.band[0][pick]), change(self.band[1][pick])),
        )


def paired(names: Sequence[str]) -> dict[str, list[str]]:
    """Columns by their names in the legend: both sides together if both exist, else each alone."""
    out: dict[str, list[str]] = {}
    for name in names:
        both = mirrored(name) != name and mirrored(name) in names
        out.setdefault(side(name)[0] if both else name, []).append(name)
    return out


def panels_of(
    source: Source,
    other: Source | None = None,
    *,
    together: int = 0,
    title: str = "",
    ylabel: str | None = None,
) -> list[Panel]:
    """A Table as panels, by unit.

    Args:
        source: what is drawn.
        other: another Table with the same columns, drawn pale or in a second color.
        together: columns, or pairs of them, in a panel; as many as have colors by default.
        title: of the panels.
        ylabel: of all panels; from the units by default.
    """
    table = source.table
    units: dict[str, list[str]] = {}
    for name, unit in zip(table.names, table.units, strict=True):
        units.setdefault(_kind(name, unit), []).append(name)
    out = []
    for unit, names in units.items():
        pairs = list(paired(names).items())
        count = 1 if len(pairs) <= (together or TOGETHER) else -(-len(pairs) // (together or MANY))
        for k in range(count):
            size = -(-len(pairs) // count)
            size += (
                -size % 3 if all(label[-1:] in "xyz" for label, _ in pairs) else 0
            )  # vectors stay together
            if not (own := pairs[size * k : size * (k + 1)]):
                continue
            said = labeled(unit) if ylabel is None else ylabel
            out.append(panel(source, other, dict(own), ylabel=said, title=title))
    return out


def _kind(name: str, unit: str) -> str:
    """What assigns a column to a panel: its unit, or its name in OpenSim's files, which have no units."""
    return unit or next((word for text, word in _WORDS.items() if re.search(text, name)), "")


RIGHT: dict[str, Any] = {"linestyle": (0, (3, 1.4))}
"""Style of columns of the right side beside those of the left."""


def panel(
    source: Source,
    other: Source | None,
    pairs: Mapping[str, Sequence[str]],
    *,
    ylabel: str = "",
    title: str = "",
) -> Panel:
    """One panel of pairs of columns. Those of `other` are pale, or in the second color if there is only one
    pair.
    """
    alone = len(pairs) == 1
    curves, others = list[PlottedColumn](), list[PlottedColumn]()
    looks: dict[str, dict[str, Any]] = {}
    for k, (label, names) in enumerate(pairs.items()):
        color = COLORS[k % len(COLORS)]
        thin = {"linewidth": max(1.7 - 0.08 * k, 0.7)}  # equal curves show behind each other
        for name in sorted(names, key=lambda n: side(n)[1]):
            look = thin | (RIGHT if len(names) > 1 and side(name)[1] == "right" else {})
            if len(names) > 1:
                looks[side(name)[1]] = RIGHT if look.keys() & RIGHT.keys() else {"linestyle": "-"}
            curves.append(_curve(source, name, label, color, look))
            if other is not None and (theirs := other.theirs(name)):
                shade, own = (COLORS[1], {"linewidth": 2.8}) if alone else (color, PALE)  # equal curves show
                found = _curve(other, theirs, "", shade, look | own)
                others.append(replace(found, name=f"{theirs} ({other.word or 'other'})"))
    marks = [(x, COLORS[0] if alone else "") for x in source.marks]
    if other is not None and others:
        marks += [(x, COLORS[1]) for x in other.marks] if alone else []
        ours: tuple[dict[str, Any], ...] = (
            ({"color": COLORS[0]}, {"color": COLORS[1]}) if alone else ({}, PALE)
        )
        looks = dict(zip((source.word or "this", other.word or "other"), ours, strict=True)) | looks
    name = "" if title or not alone else next(iter(pairs))
    return Panel([*others, *curves], xlabel(source.table.over), ylabel, title or name, looks, marks)


def _curve(source: Source, name: str, label: str, color: str, look: Mapping[str, Any]) -> PlottedColumn:
    band = None if source.band is None else (source.band[0][name], source.band[1][name])
    return PlottedColumn(source.table.time, source.table[name], label, name, color, look, band)


# ---- grids -------------------------------------------------------------------------------------------------


def grid_of(
    sources: Sequence[Source],
    others: Sequence[Source],
    text: str,
    names: Sequence[str] = (),
    required: bool = True,
) -> list[list[Panel]]:
    """Rows of panels: joints x (angle, moment, power), or (angle, moment, power) x joints.

    Raises:
        DescriptionError: another text; a quantity that no Table has, if it is required.
    """
    words = [w for w in re.split(r"[\s,()]+", text.replace("×", " x ")) if w] if isinstance(text, str) else []
    quantities = [w for w in words if w not in ("joints", "x")]
    turned = words[-1:] == ["joints"]
    if words not in (["joints", "x", *quantities], [*quantities, "x", "joints"]) or not quantities:
        raise DescriptionError(
            f"plot: grid: expected 'joints x (angle, moment, power)' or '(angle, moment, power) x joints', got {text!r}"
        )
    columns = [_column(word, sources, names, required) for word in quantities]
    beside = (
        [_column(word, others, (), required=False) for word in quantities]
        if others
        else [None] * len(columns)
    )
    rows = list(dict.fromkeys(label for _, found in columns for label in found))
    rows = [r for r in rows if sum(r in found for _, found in columns) > (len(columns) > 1)] or rows
    units = {
        label: _unit(source, own[0]) for source, found in reversed(columns) for label, own in found.items()
    }
    out = []
    for row in sorted(
        rows, key=lambda r: units[r].split("/")[0] in ("m", "mm", "N")
    ):  # joints before translations
        cells = []
        for (source, found), other, word in zip(columns, beside, quantities, strict=True):
            own = found.get(row, [])
            unit = _unit(source, own[0]) if own else ""
            said = {("angle", "m"): "position", ("moment", "N"): "force"}.get(
                (word, unit.removesuffix("/kg")), word
            )
            said += f" [{unit}]" * bool(unit)
            theirs = None if other is None else other[0]
            title = side(row)[0] if theirs is not None and theirs.turned else row
            cells.append(panel(source, theirs, {row: own} if own else {}, ylabel=said, title=title))
        out.append(cells)
    return [list(cells) for cells in zip(*out, strict=True)] if turned else out


def _unit(source: Source, name: str) -> str:
    return source.table.units[source.table.names.index(name)]


def _column(
    word: str, sources: Sequence[Source], names: Sequence[str], required: bool = True
) -> tuple[Source, dict[str, list[str]]]:
    """The Table that has a quantity, and its columns by joints."""
    check_name("quantity of a grid", word, QUANTITIES)
    chosen = {_joint(name) for name in names}
    for source in sources:
        of = zip(source.table.names, source.table.units, strict=True)
        own = [name for name, unit in of if unit.removesuffix("/kg") in QUANTITIES[word]]
        own = [name for name in own if not names or _joint(name) in chosen]
        if own:
            found: dict[str, list[str]] = {}
            for label, both in paired(own).items():
                found.setdefault(_joint(label), []).extend(both)
            return source, found
    if required:
        raise DescriptionError(
            f"plot: grid: no Table has a column of {word} [{QUANTITIES[word][0]}]: give it after the first, "
            "angles.plot(moments, powers, grid=...)"
        )
    return Source(sources[0].table[[]], word=sources[0].word), {}


def _joint(name: str) -> str:
    """The coordinate that a column is of: knee_angle_r_moment of OpenSim's files is of knee_angle_r."""
    return re.sub(r"_(moment|force|torque|power|speed)$", "", name)
