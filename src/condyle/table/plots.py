"""The house style of pictures: panels of curves, by unit, that Tables, results and reports share.

A panel has the columns of one unit. Columns of the two sides of a body share a color: left is solid, right dashed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

import condyle.files as files
from condyle.arrays import Array
from condyle.errors import DescriptionError, check_name
from condyle.presentation import cut
from condyle.records import dataclass
from condyle.table.rows import CYCLE
from condyle.table.titles import mirrored, side
from condyle.table.units import ANGULAR, DEGREE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from condyle.table.table import Table

    AxesLike = Axes | NDArray[np.object_]
    """One, or an array of several."""

COLORS = (
    *("#5577fd", "#d06911", "#20b083", "#7e219f", "#cbb31f", "#e613bd"),
    *("#23768e", "#23bef8", "#c40752", "#265e04", "#fe80c3", "#2414fd"),
)
"""One per column, in turn. All differ from each other, from white and from a dark page, for color-blind eyes too:
tests/table/test_plots.py says by how much."""
TOGETHER, MANY = len(COLORS), 8
"""Columns, or pairs of them, in one panel; in each, if one is not enough."""
WIDTHS = {"column": 3.5, "page": 7.2}
"""Of a figure in a journal [in]: 89 and 183 mm."""
NARROW = 5.0
"""Below this width [in] legends are above their panels."""
LONG = 36
"""Legends of longer names are above their panels too, and one below the other if longer than half of it; of names
that are longer still they are smaller."""
HEIGHT = 1.9
"""Of a panel [in]."""
STEADY = 1e-5
"""What varies by less than this part of its size is drawn as a straight line."""
ENDINGS = (".pdf", ".svg", ".eps", ".png", ".jpg", ".tif")
STYLE: dict[str, Any] = {
    "font.size": 8.5,
    "axes.labelsize": 8.5,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.4,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.borderaxespad": 0.0,
    "legend.labelspacing": 0.3,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,  # text stays text
    "svg.fonttype": "none",
}
PALE: dict[str, Any] = {"linewidth": 4.5, "alpha": 0.35}
"""How the curves of others look, behind those of the same color."""
QUANTITIES = {
    "angle": ("deg", "rad", "m", "mm"),
    "velocity": ("deg/s", "rad/s", "m/s"),
    "acceleration": ("deg/s^2", "rad/s^2", "m/s^2"),
    "moment": ("N m", "N", "BW", "BW m", "BW leg length"),
    "power": ("W",),
    "work": ("J",),
}
"""Units of what a grid shows; those of moments and powers may be per kg."""
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
"""What units are of."""
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
"""What names say of columns without units, by regular expressions."""


class PlotOptions(TypedDict, total=False):
    """Keywords of `Table.plot`, which other results take too."""

    axes: Axes | None
    width: str | float
    path: str | Path | None
    degrees: bool


@contextmanager
def house_style(**more: Any) -> Iterator[None]:
    """Settings of matplotlib for the time of a `with` block."""
    from cycler import cycler
    from matplotlib import rc_context

    with rc_context({**STYLE, "axes.prop_cycle": cycler(color=COLORS), **more}):  # type: ignore[dict-item]
        yield


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
        looks: what line styles mean, by words.
        marks: places on the x axis, drawn as dotted lines: [(x, color)].
        guides: levels on the y axis, drawn as dashed lines, by words.
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
        """Of the legend: word, color ("" is that of text) and look. One column needs none: its title says it."""
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
        word: what the legend calls it beside another.
        marks: see Panel.
        turned: beside another, its columns are those of the other side.
    """

    table: Table
    band: tuple[Table, Table] | None = None
    word: str = ""
    marks: Sequence[float] = ()
    turned: bool = False

    def theirs(self, name: str) -> str:
        """Its column that belongs beside one of another; "" if there is none."""
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
    """Columns by what the legend calls them: both sides together if both are there, else each alone."""
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
        other: the same columns of another, pale or in a second color.
        together: columns, or pairs of them, in a panel; as many as have colors by default.
        title: of the panels.
        ylabel: of all; what units say by default.
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
    """What decides on the panel: the unit. Files of OpenSim have none: what the name says."""
    return unit or next((word for text, word in _WORDS.items() if re.search(text, name)), "")


RIGHT: dict[str, Any] = {"linestyle": (0, (3, 1.4))}
"""How columns of the right side look beside those of the left."""


def panel(
    source: Source,
    other: Source | None,
    pairs: Mapping[str, Sequence[str]],
    *,
    ylabel: str = "",
    title: str = "",
) -> Panel:
    """One panel of pairs of columns. Those of `other` are pale; of one pair they have the second color."""
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
        DescriptionError: a text that is none of these; a quantity that no Table has, if they are required.
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


# ---- pictures ----------------------------------------------------------------------------------------------


def inches(width: str | float) -> float:
    """A width as a number [in].

    Raises:
        DescriptionError: neither "column", "page" nor a number above 0 and below 50.
    """
    if isinstance(width, str) and width in WIDTHS:
        return WIDTHS[width]
    if isinstance(width, (int, float, np.number)) and not isinstance(width, bool) and 0 < width < 50:
        return float(width)
    raise DescriptionError(
        f"plot: width: expected 'column', 'page' or a number of inches below 50 (89 mm are 3.5), got {width!r}"
    )


def draw(
    sources: Sequence[Source],
    names: Sequence[str] = (),
    *,
    others: Sequence[Source] = (),
    grid: str | None = None,
    axes: Axes | None = None,
    width: str | float = "page",
    path: str | Path | None = None,
    degrees: bool = True,
    ylabel: str | None = None,
    guides: Mapping[str, float] | None = None,
) -> AxesLike:
    """Tables as a picture; the arguments are those of `Table.plot`, `panels_of` and Panel."""
    axes = checked(axes)
    shown = [source.shown(None, degrees) for source in sources]
    beside = [other.shown(None, degrees) for other in others]
    if grid is not None:
        return _squeezed(paint(grid_of(shown, beside, grid, names), width=width, path=path, each=True))
    for name in names:
        if all(name not in source.table.names for source in shown):
            shown[0].table[name]  # raises: what there is
    if names:
        picked = ([n for n in names if n in source.table.names] for source in shown)
        shown = [s.shown(own, False) for s, own in zip(shown, picked, strict=True) if own]
    if beside and not any(o.theirs(n) for s, o in zip(shown, beside, strict=False) for n in s.table.names):
        own, other = (cut([n for s in some for n in s.table.names]) for some in (shown, beside))
        raise DescriptionError(
            f"plot: compare: none of the columns that are drawn, {own}, is in it: it has {other}"
        )
    every = [
        p
        for k, source in enumerate(shown)
        for p in panels_of(source, beside[k] if k < len(beside) else None, ylabel=ylabel)
    ]
    every = [replace(p, guides=guides or {}) for p in every]
    if axes is None:
        return _squeezed(paint([[p] for p in every], width=width, path=path))
    if len(every) != 1:  # all in one, since the axes are given
        source, every = shown[0], [p for p in every if p.curves] or every
        curves = [
            replace(c, color=COLORS[k % len(COLORS)])
            for k, c in enumerate(c for p in every for c in p.curves)
        ]
        titled = dict(zip(source.table.names, source.table.titles, strict=True))
        curves = [replace(c, label=titled.get(c.name, c.label)) for c in curves]
        every = [
            replace(every[0], curves=curves, ylabel="", title="", looks={}) if every else Panel((), "", "")
        ]
    with house_style():
        fill(axes, replace(every[0], title=""), "right" if axes.figure.get_layout_engine() else "best")
    save(axes.figure, path)
    return axes


def paint(
    rows: Sequence[Sequence[Panel]],
    *,
    width: str | float = "page",
    path: str | Path | None = None,
    each: bool = False,
    height: float = HEIGHT,
) -> NDArray[np.object_]:
    """Panels as a new figure.

    Args:
        rows: of panels, as many in each.
        width: see `inches`.
        path: of a file.
        each: panels have titles of their own, and the whole figure one legend.
        height: of a panel [in].

    Returns:
        The axes, in rows.
    """
    wide = inches(width)
    with house_style():
        rows = rows or [[Panel((), "", "")]]
        entries = [e for row in rows for p in row for e in p.entries] if each else []
        entries = list(
            {(word, color, *look.items()): (word, color, look) for word, color, look in entries}.values()
        )
        longest = max((len(entry[0]) for row in rows for p in row for entry in p.entries), default=0)
        high = not each and (wide < NARROW or longest > LONG)
        above = [-(-len(p.entries) // _abreast(p.entries)) if high else 0 for row in rows for p in row[:1]]
        tall = sum(height * (0.8 if each else 1.0) + 0.17 * n for n in above) + 0.35 + 0.25 * bool(entries)
        figure = new_figure((wide, max(tall, 2.6 if len(rows) == 1 and not each else 0)), path)
        sharex = len({p.xlabel for row in rows for p in row}) == 1
        grid = figure.subplots(len(rows), len(rows[0]), squeeze=False, sharex=sharex)
        for i, (row, cells) in enumerate(zip(rows, grid, strict=True)):
            for p, cell in zip(row, cells, strict=True):
                if not p.curves and each:
                    cell.set_axis_off()
                    continue
                last = not sharex or i == len(rows) - 1
                fill(
                    cell,
                    p if last else replace(p, xlabel=""),
                    "" if each else "above" if high else "right",
                )
        if entries:
            handles = [_handle(*entry) for entry in entries]
            figure.legend(
                handles=handles,
                loc="outside upper center",
                ncols=min(len(handles), 6 if wide > NARROW else 3),
            )
        if grid.size > 1:
            figure.align_ylabels()
        save(figure, path)
    return np.asarray(grid)


def _squeezed(grid: NDArray[np.object_]) -> AxesLike:
    """Without directions of length 1, as plt.subplots gives it."""
    return grid[0, 0] if grid.size == 1 else grid if min(grid.shape) > 1 else grid.ravel()  # type: ignore[no-any-return]


def checked(axes: Axes | None) -> Axes | None:
    """Axes that can be drawn on, or None.

    Raises:
        DescriptionError: a figure, several axes, something else.
    """
    if axes is not None and not hasattr(axes, "plot"):
        raise DescriptionError(
            f"plot: axes: expected one Axes of matplotlib, got {type(axes).__name__}; figure.subplots() makes one"
        )
    return axes


def new_figure(size: tuple[float, float], path: str | Path | None = None) -> Figure:
    """A figure: one of pyplot's, which notebooks and plt.show() show, unless it goes into a file."""
    if path is None:
        import matplotlib.pyplot as plt

        return plt.figure(figsize=size, layout="constrained")
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


@contextmanager
def on(
    axes: Axes | None = None,
    width: str | float = "page",
    path: str | Path | None = None,
    height: float = 2.8,
    **_: object,
) -> Iterator[Axes]:
    """Axes to draw on in the house style, new ones if None; written to a file at the end, if there is a path."""
    axes = checked(axes)
    with house_style():
        axes = new_figure((inches(width), height), path).subplots() if axes is None else axes
        yield axes
        save(axes.figure, path)


def fill(axes: Axes, panel: Panel, legend: str) -> None:
    """Draw a panel. Its legend is "right" of it or "above"; "best" is where it hides least, "" none."""
    for curve in panel.curves:
        look = {"color": curve.color, **curve.look}
        axes.plot(curve.x, curve.y, label=curve.label, gid=f"curve {curve.name}", **look)
        known = np.isfinite(curve.y)
        lonely = known & ~np.append(known[1:], False) & ~np.append(False, known[:-1])
        if lonely.any():  # no line goes through one point between gaps
            axes.plot(curve.x[lonely], curve.y[lonely], ".", color=curve.color)
        if curve.band is not None:
            axes.fill_between(curve.x, *curve.band, color=curve.color, alpha=0.2, linewidth=0)
    for x, color in panel.marks:
        axes.axvline(x, color=color or "0.4", linestyle=":", linewidth=0.9)
    for word, y in panel.guides.items():
        axes.axhline(y, color="0.5", linestyle="--", linewidth=0.9)
        axes.annotate(
            word, (0, y), (2, 2), xycoords=("axes fraction", "data"), textcoords="offset points", color="0.4"
        )
    spans = [c.x[[0, -1]] for c in panel.curves if len(c.x) > 1]
    if spans and np.min(spans) < np.max(spans):
        axes.set_xlim(np.min(spans), np.max(spans))
    known = np.concatenate([np.zeros(0), *(c.y[np.isfinite(c.y)] for c in panel.curves)])
    if known.size and np.ptp(known) < STEADY * (
        size := np.abs(known).max()
    ):  # not rounding, as large as the axis
        axes.set_ylim(known.min() - 0.1 * size, known.max() + 0.1 * size)
    entries = panel.entries if legend else []
    axes.set(xlabel=panel.xlabel, ylabel=panel.ylabel)
    axes.set_title(
        panel.title, pad=6.0 + (14.0 * -(-len(entries) // _abreast(entries)) if legend == "above" else 0.0)
    )
    if entries:
        wheres: dict[str, dict[str, Any]] = {
            "right": {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0)},
            "above": {"loc": "lower left", "bbox_to_anchor": (0.0, 1.02), "ncols": _abreast(entries)},
        }
        longest, room = (
            max(len(entry[0]) for entry in entries),
            72 * axes.figure.bbox.width / axes.figure.dpi - 70,
        )
        size = (
            STYLE["legend.fontsize"]
            if longest <= LONG
            else min(STYLE["legend.fontsize"], room / (0.6 * longest))
        )
        handles = [_handle(*entry) for entry in entries]
        axes.legend(handles=handles, fontsize=size, **wheres.get(legend, {"loc": "best"}))


def _abreast(entries: Sequence[tuple[str, str, Mapping[str, Any]]]) -> int:
    """How many of a legend above its panel are side by side."""
    return 2 if max((len(entry[0]) for entry in entries), default=0) <= LONG // 2 else 1


def _handle(word: str, color: str, look: Mapping[str, Any]) -> Any:
    from matplotlib.lines import Line2D

    kept = {k: v for k, v in look.items() if k != "color" and v is not None}
    return Line2D([], [], color=color or "0.35", label=word, **kept)


def save(figure: Figure | SubFigure, path: str | Path | None) -> None:
    """Write a figure, if there is a path; text stays text in .pdf and .svg.

    Raises:
        DescriptionError: a name with another ending, or in a folder that does not exist.
    """
    if path is None:
        return
    if not isinstance(path, (str, Path)) or Path(path).suffix.lower() not in ENDINGS:
        raise DescriptionError(f"plot: path: expected a file that ends in {', '.join(ENDINGS)}, got {path!r}")
    files.check_target(Path(path), "plot")
    with files.atomic_write(Path(path)) as file, house_style():
        figure.figure.savefig(file, format=Path(path).suffix[1:].lower())
