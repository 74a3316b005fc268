"""A report: one HTML file that needs nothing else, for light and dark screens, paper and screen readers."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import field

from condyle.cli.figures import Figure, rows, svg
from condyle.records import dataclass


@dataclass
class Section:
    """A part of a report.

    Attributes:
        title: its heading.
        text: paragraphs, in HTML.
        figures: drawn after the text.
        table: titles and rows of text, shown after the figures.
        scene: an element that shows what moves, before the figures.
    """

    title: str
    text: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    table: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None
    anchor: str = field(default="")
    scene: str = ""


def page(title: str, lead: Sequence[str], sections: Sequence[Section]) -> str:
    """The whole file.

    Args:
        title: its heading.
        lead: paragraphs below it, in HTML.
        sections: in order.
    """
    for k, section in enumerate(sections):
        section.anchor = f"part{k + 1}"
    links = "\n".join(f'<li><a href="#{s.anchor}">{html.escape(s.title)}</a></li>' for s in sections)
    body = "\n".join(_section(s) for s in sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>{html.escape(title)}</h1>
{_paragraphs(lead)}
</header>
<nav aria-label="Contents"><ol>
{links}
</ol></nav>
<main>
{body}
</main>
</body>
</html>
"""


def _section(section: Section) -> str:
    parts = [
        f'<section id="{section.anchor}" aria-labelledby="{section.anchor}h">',
        f'<h2 id="{section.anchor}h">{html.escape(section.title)}</h2>',
        _paragraphs(section.text),
    ]
    parts += [section.scene] if section.scene else []
    parts += [_figure(part) for figure in section.figures for part in figure.parts()]
    if section.table:
        parts.append(_table(*section.table).replace('class="wide"', 'class="wide words"'))
    return "\n".join([*parts, "</section>"])


def _figure(figure: Figure) -> str:
    numbers = _table(*rows(figure.table, figure.digits))
    file = (
        f' All numbers: <a href="{html.escape(figure.file)}">{html.escape(figure.file)}</a>.'
        if figure.file
        else ""
    )
    title = f"<strong>{html.escape(figure.title)}</strong>"
    return (
        f"<figure>\n<figcaption>{title} "
        f"{figure.note}{file}</figcaption>\n{svg(figure)}\n<details><summary>Numbers, "
        f"{html.escape(figure.ylabel)}</summary>\n{numbers}\n</details>\n</figure>"
    )


def _paragraphs(text: Sequence[str]) -> str:
    return "\n".join(p if p.startswith("<table") else f"<p>{p}</p>" for p in text)


def _table(titles: Sequence[str], body: Sequence[Sequence[str]]) -> str:
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


STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --text: #1d2730; --soft: #56646f; --line: #d5dce1;
        --link: #0b6ba3; }
@media (prefers-color-scheme: dark) {
  :root { --page: #12181d; --text: #e6ebee; --soft: #9fb0bb; --line: #34424c; --link: #6cb8e6; } }
@media print { :root { --page: #ffffff; --text: #000000; --soft: #333333; --line: #bbbbbb; }
  details, nav { display: none; } figure { break-inside: avoid; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 58rem; background: var(--page);
       color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .6rem; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .4rem; padding-top: .6rem; border-top: 1px solid var(--line); }
p { margin: .5rem 0; max-width: 46rem; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, .wide:focus-visible { outline: 2px solid var(--link); }
nav ol { columns: 2; padding-left: 1.4rem; margin: 1rem 0; }
figure { margin: 1.2rem 0; }
figcaption { color: var(--text); max-width: 46rem; }
svg { display: block; width: 100%; height: auto; color: var(--text); margin: .3rem 0; }
svg text { font-family: system-ui, sans-serif !important; }
details { color: var(--soft); font-size: .9rem; }
summary { cursor: pointer; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; color: var(--text); }
th, td { padding: .2rem .8rem .2rem 0; text-align: right; border-bottom: 1px solid var(--line);
         white-space: nowrap; }
th:first-child { text-align: left; font-weight: 600; }
.words th:first-child { white-space: normal; }
.words td:last-child, .words th:last-child { text-align: left; white-space: normal; }
thead th { vertical-align: bottom; }
code { font-size: .92em; }
"""
