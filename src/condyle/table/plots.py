"""The house style of pictures, and drawing of panels (panels.py), shared by Tables, results and reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

import condyle.files as files
from condyle.errors import DescriptionError
from condyle.presentation import cut
from condyle.table.panels import COLORS, Panel, Source, grid_of, panels_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    AxesLike = Axes | NDArray[np.object_]
    """One, or an array of several."""

WIDTHS = {"column": 3.5, "page": 7.2}
"""Of a figure in a journal [in]: 89 and 183 mm."""
NARROW = 5.0
"""Below this width [in] legends are above their panels."""
LONG = 36
"""Legends with longer names are above their panels too, with entries one below the other if longer than half
of it; still longer names get a smaller font.
"""
HEIGHT = 1.9
"""Of a panel [in]."""
STEADY = 1e-5
"""A curve that varies by less than this fraction of its size is drawn as a straight line."""
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
            shown[0].table[name]  # raises and lists the columns
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
        each: each panel has its own title, and the whole figure one legend.
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
    """Without axes of length 1, as plt.subplots returns it."""
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
    """Context with axes to draw on in the house style, new ones if None; writes a file at the end, if there
    is a path.
    """
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
        if lonely.any():  # a single point between gaps has no line
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
    """How many entries of a legend above its panel are side by side."""
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
