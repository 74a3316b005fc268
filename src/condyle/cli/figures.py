"""Curves of Tables as SVG, for reports: one picture for light and dark pages, read aloud by its title."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from condyle.records import dataclass
from condyle.table import Table
from condyle.table.titles import split_title

COLORS = (
    "#0b84c6",
    "#e08a00",
    "#0aa076",
    "#c765a8",
    "#d55e00",
    "#7f7fd6",
    "#8a9a2c",
    "#b0703c",
    "#e0508a",
    "#3aa6a0",
)
"""One per column, in turn. All can be told from white and from black, and most from each other by
color-blind eyes."""
DASHED: dict[str, Any] = {"linewidth": 5.0, "alpha": 0.35, "linestyle": (0, (0.8, 0.9))}
"""How curves of others look."""
TOGETHER = len(COLORS)
"""Columns in one picture."""
INK = "#010203"
"""Stands for the color of the page's text, which the page chooses."""


@dataclass(frozen=True, eq=False)
class Figure:
    """Columns of a Table over time, to be drawn, and where there are any, the same columns by OpenSim.

    Attributes:
        title: what is shown.
        table: one curve per column.
        ylabel: quantity and unit.
        note: what a reader should know, in HTML.
        reference: a Table with some of these columns, drawn dashed.
        file: where the numbers are.
        digits: decimals of the table below the picture.
        band: lower and upper ends of a band about each curve.
    """

    title: str
    table: Table
    ylabel: str
    note: str = ""
    reference: Table | None = None
    file: str = ""
    digits: int = 3
    band: tuple[Table, Table] | None = None

    def parts(self) -> Iterator[Figure]:
        """Figures of a few columns each."""
        names = list(self.table.names)
        count = max(1, -(-len(names) // TOGETHER))
        groups = [names[len(names) * k // count : len(names) * (k + 1) // count] for k in range(count)]
        for k, group in enumerate(groups):
            title = self.title if count == 1 else f"{self.title} ({k + 1} of {count})"
            yield replace(self, title=title, table=self.table[group])


def svg(figure: Figure) -> str:
    """The picture, an <svg> element with a title for those who do not see it."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    settings = {
        "svg.fonttype": "none",
        "svg.hashsalt": figure.title,
        "font.size": 10,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "font.family": ["sans-serif"],
    }
    with rc_context(settings):  # type: ignore[arg-type]
        canvas = Canvas(figsize=(7.6, 3.0))
        FigureCanvasSVG(canvas)
        longest = max((len(name) for name in figure.table.names), default=0)
        axes = canvas.add_axes((0.1, 0.16, max(0.8 - 0.0115 * longest, 0.4), 0.8))  # the legend has the rest
        _curves(axes, figure)
        out = io.StringIO()
        canvas.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _embedded(out.getvalue(), _spoken(figure))


def _curves(axes: object, figure: Figure) -> None:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    assert isinstance(axes, Axes)
    table, other = figure.table, figure.reference
    known = other.names if other is not None else ()
    handles: list[Line2D] = []
    for k, (name, color) in enumerate(zip(table.names, COLORS, strict=False)):
        width = 3.0 - 0.2 * k  # equal curves show behind each other
        handles += axes.plot(table.time, table[name], color=color, linewidth=width, label=name)
        if figure.band is not None:
            low, high = figure.band
            axes.fill_between(table.time, low[name], high[name], color=color, alpha=0.2, linewidth=0)
        if other is not None and name in known:
            axes.plot(other.time, other[name], color=color, **DASHED)
    if set(known) & set(table.names):
        handles.append(Line2D([], [], color=INK, label="OpenSim", **DASHED))
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    axes.set_xlabel(table.over)
    axes.set_ylabel(figure.ylabel)
    axes.margins(x=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=INK, alpha=0.12, linewidth=0.6)


def _embedded(text: str, title: str) -> str:
    """A file's <svg> as an element of a page."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    head = f"<title>{html.escape(title)}</title>"
    text = re.sub(r"<svg ([^>]*)>", lambda m: f'<svg role="img" {_scaled(m[1])}>{head}', text, count=1)
    return text.replace(INK, "currentColor")


def _scaled(attributes: str) -> str:
    """As wide as the page allows."""
    return re.sub(r'\b(width|height)="[^"]*"', "", attributes)


def _spoken(figure: Figure) -> str:
    table = figure.table
    if not len(table) or not table.names:
        return figure.title
    said = []
    for name in table.names:
        x = table[name][np.isfinite(table[name])]
        said.append(f"{name} from {x.min():.4g} to {x.max():.4g}" if x.size else f"{name} has no values")
    return f"{figure.title}. {'; '.join(said)}; {figure.ylabel}, over {split_title(table.over)[0]}."


def rows(table: Table, digits: int, count: int = 11) -> tuple[Sequence[str], list[list[str]]]:
    """Titles and some rows of a Table, evenly apart, as text."""
    chosen = np.unique(np.linspace(0, max(len(table) - 1, 0), count).round().astype(int))[: len(table)]
    body = [[f"{table.time[i]:.4g}", *(f"{x:.{digits}f}" for x in table.values[i])] for i in chosen]
    return [table.over, *table.names], body
