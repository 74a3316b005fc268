"""A table or a figure of a paper, redone."""

from __future__ import annotations

import base64
import contextlib
import html
import io
import runpy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent.parent
Table = tuple[Sequence[str], Sequence[Sequence[str]]]


@dataclass
class Part:
    """One section of the report.

    Attributes:
        title: number and name.
        text: paragraphs, in HTML.
        figure: of matplotlib.
        table: titles and rows.
    """

    title: str
    text: Sequence[str] = ()
    figure: Figure | None = None
    table: Table | None = None


def figure_html(figure: Figure, title: str) -> str:
    """The figure as an element of the page; it is closed."""
    data = io.BytesIO()
    figure.savefig(data, dpi=110)
    plt.close(figure)
    picture = base64.b64encode(data.getvalue()).decode()
    return f'<img alt="{html.escape(title)}" style="max-width:100%" src="data:image/png;base64,{picture}">'


def new_figure(width: float = 6.4, height: float = 3.6) -> Figure:
    return plt.figure(figsize=(width, height), layout="constrained", facecolor="white")


@cache
def _pictures() -> dict[str, Any]:
    found: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "gallery.py"))["PICTURES"]
    return found


def example(title: str, name: str, *text: str) -> Part:
    """What an example computes and says, drawn as in the gallery."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        values = runpy.run_path(
            str(ROOT / "examples" / f"{name}.py"), run_name="__main__"
        )
    figure = new_figure()
    _pictures()[name](
        SimpleNamespace(**{k: v for k, v in values.items() if not k.startswith("_")}),
        figure,
    )
    return Part(
        title,
        [
            *text,
            f"<code>examples/{name}.py</code> says:",
            f"<pre>{html.escape(said.getvalue())}</pre>",
        ],
        figure,
    )
