"""Panels as elements of a page: one image for light and dark screens, with an accessible title."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from condyle.records import dataclass
from condyle.table import Table
from condyle.table.panels import Panel
from condyle.table.plots import fill, house_style
from condyle.table.rows import TIME

INK = "#010203"
"""Placeholder for the color of the page's text."""
SIZE = (3.4, 1.75)
"""Size of a panel [in]; the page stretches it to the available width."""
PLACE = (0.13, 0.245, 0.835, 0.67)
"""Of its axes: left, bottom, width and height, as parts of it."""


@dataclass(frozen=True, eq=False)
class Figure:
    """Panels with a caption.

    Attributes:
        title: of the figure.
        panels: one image each.
        note: for the reader, in HTML.
        files: files with the numbers.
        table: a Table whose numbers are shown below, optional.
        digits: decimals of these.
        columns: number of panels side by side; as many as fit, if 0.
    """

    title: str
    panels: Sequence[Panel]
    note: str = ""
    files: Sequence[str] = ()
    table: Table | None = None
    digits: int = 3
    columns: int = 0


def figure_html(figure: Figure) -> str:
    """The element."""
    entries = [_legend(p) for p in figure.panels]
    largest = max(entries, key=len, default=[])
    common = _list(largest) if all(set(e) <= set(largest) for e in entries) else ""
    panels = "\n".join(
        _panel(p, "" if common else _list(e), figure.title)
        for p, e in zip(figure.panels, entries, strict=True)
    )
    files = ", ".join(f'<a href="{html.escape(file)}">{html.escape(file)}</a>' for file in figure.files)
    words = [figure.note, f"All numbers: {files}." if files else ""]
    numbers = ""
    if figure.table is not None:
        numbers = f"<details><summary>Numbers</summary>\n{table_html(*rows(figure.table, figure.digits))}\n</details>"
    wide = f' style="--columns: {figure.columns}"' * bool(figure.columns)
    return (
        f"<figure>\n<figcaption><strong>{html.escape(figure.title)}</strong> {' '.join(w for w in words if w)}"
        f'{common}</figcaption>\n<div class="panels{" fixed" * bool(figure.columns)}"{wide}>\n{panels}\n</div>\n'
        f"{numbers}\n</figure>"
    )


def _panel(panel: Panel, legend: str, title: str) -> str:
    if not panel.curves:
        return '<div class="panel"></div>'
    said = " ".join(f"<span>{html.escape(w)}</span>" for w in (panel.ylabel,) if w)
    head = f"<h4>{html.escape(panel.title)} {said}</h4>" if panel.title or said else ""
    return f'<div class="panel">{head}\n{svg(panel, title)}\n{legend}</div>'


def _legend(panel: Panel) -> list[str]:
    """Its items."""
    return [
        f'<li><svg viewBox="0 0 26 8" aria-hidden="true"><path d="M0 4H26" stroke="{color or "currentColor"}" '
        f"{_stroke(look)}/></svg>{html.escape(word)}</li>"
        for word, color, look in panel.entries
    ]


def _list(items: Sequence[str]) -> str:
    return f'<ul class="legend">{"".join(items)}</ul>' if items else ""


def _stroke(look: Mapping[str, Any]) -> str:
    dashes = ' stroke-dasharray="5 2.4"' if isinstance(look.get("linestyle"), tuple) else ""
    return f'stroke-width="{look.get("linewidth") or 2:.2g}" opacity="{look.get("alpha", 1)}"{dashes}'


def svg(panel: Panel, title: str) -> str:
    """The image, an <svg> element with an accessible title. If it is over time, `data-time` has the positions
    and times of its ends and `data-values` those of its y axis, for the cursor.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "grid.color")
    fonts = {"font.size": 8.5, "font.family": ["sans-serif"]}
    with house_style(
        **dict.fromkeys(inks, INK), **fonts, **{"svg.hashsalt": f"{title} {panel.title} {panel.ylabel}"}
    ):
        canvas = Canvas(figsize=SIZE)
        FigureCanvasSVG(canvas)
        axes = canvas.add_axes(PLACE)
        axes.locator_params(axis="y", nbins=5)
        _draw(axes, panel)
        out = io.StringIO()
        canvas.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    w, h = 72 * SIZE[0], 72 * SIZE[1]
    x, y = (w * PLACE[0], w * (PLACE[0] + PLACE[2])), (h * (1 - PLACE[1]), h * (1 - PLACE[1] - PLACE[3]))
    ends = [
        " ".join(f"{v:.6g}" for v in (*at, *limits))
        for at, limits in ((x, axes.get_xlim()), (y, axes.get_ylim()))
    ]
    data = f'data-time="{ends[0]}" data-values="{ends[1]}" ' if panel.xlabel == TIME else ""
    cursor = f'<line class="cursor" x1="0" x2="0" y1="{y[0]:.1f}" y2="{y[1]:.1f}"/>' if data else ""
    return _embedded(out.getvalue(), _spoken(panel, title), data, cursor)


def _draw(axes: Any, panel: Panel) -> None:
    fill(axes, panel, "")
    axes.set(title="", ylabel="")
    axes.xaxis.set_label_coords(1.03, -0.2)
    axes.xaxis.label.set_horizontalalignment("right")


def _embedded(text: str, title: str, data: str, cursor: str) -> str:
    """A file's <svg> as an element of a page: with unique ids, coordinates with two decimals."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="curve ([^"]*)">', r'<g data-curve="\1">', text)
    text = re.sub(r' id="[a-z2_]+\d+"', "", text)
    places = r'\b(?:d|x|y|transform|points)="[^"]*"'  # numbers between tags are text: keep all digits
    text = re.sub(places, lambda m: re.sub(r"(\d\.\d\d)\d+", r"\1", m[0]), text)
    head = f"<title>{html.escape(title)}</title>"
    text = re.sub(r"<svg ([^>]*)>", lambda m: f'<svg role="img" {data}{_scaled(m[1])}>{head}', text, count=1)
    return text.replace(INK, "currentColor").replace("</svg>", f"{cursor}</svg>")


def _scaled(attributes: str) -> str:
    """As wide as the page allows."""
    return re.sub(r'\b(width|height)="[^"]*"', "", attributes)


def _spoken(panel: Panel, title: str) -> str:
    said = []
    for curve in panel.curves:
        x = curve.y[np.isfinite(curve.y)]
        said.append(
            f"{curve.name} from {x.min():.4g} to {x.max():.4g}" if x.size else f"{curve.name} has no values"
        )
    what = ": ".join(dict.fromkeys(w for w in (title, panel.title) if w))
    return f"{what}. {'; '.join(said)}; {panel.ylabel}, over {panel.xlabel.partition(' [')[0]}."


def rows(table: Table, digits: int, count: int = 11) -> tuple[Sequence[str], list[list[str]]]:
    """Titles and some rows of a Table, evenly apart, as text."""
    chosen = np.unique(np.linspace(0, max(len(table) - 1, 0), count).round().astype(int))[: len(table)]
    body = [[f"{table.time[i]:.4g}", *(f"{x:.{digits}f}" for x in table.values[i])] for i in chosen]
    return [table.over, *table.titles], body


def table_html(titles: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table that scrolls horizontally if it is wider than the page."""
    head = "".join(f'<th scope="col">{html.escape(t)}</th>' for t in titles)
    lines = "\n".join(
        "<tr>"
        + f'<th scope="row">{html.escape(first)}</th>'
        + "".join(f"<td>{html.escape(x)}</td>" for x in rest)
        + "</tr>"
        for first, *rest in body
    )
    return (
        '<div class="wide" tabindex="0" role="group" aria-label="table">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{lines}\n</tbody></table></div>"
    )
