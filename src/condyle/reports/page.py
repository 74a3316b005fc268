"""A report: one self-contained HTML file for light and dark screens, paper, phones and screen readers."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path

from condyle.quality import Quality, Verdict
from condyle.records import dataclass
from condyle.reports.analysis import above
from condyle.reports.figures import Figure, figure_html, table_html

HERE = Path(__file__).parent
WORDS = {Verdict.OK: "good", Verdict.CHECK: "check", Verdict.FAIL: "fail", Verdict.NOTE: "note"}
SIGNS = {Verdict.OK: "✓", Verdict.CHECK: "!", Verdict.FAIL: "✕", Verdict.NOTE: "i"}


@dataclass
class Section:
    """A part of a report.

    Attributes:
        title: its heading.
        text: paragraphs, in HTML.
        figures: drawn after the text.
        table: titles and rows of text, shown after the figures.
        scene: an animated element before the figures.
        tabs: subsections of which one is shown at a time.
        words: the last column of the table has sentences.
    """

    title: str
    text: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    table: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None
    anchor: str = field(default="")
    scene: str = ""
    tabs: Sequence[Section] = ()
    words: bool = True


def page(title: str, lead: Sequence[str], sections: Sequence[Section], strip: str = "") -> str:
    """The HTML file.

    Args:
        title: its heading.
        lead: paragraphs below it, in HTML.
        sections: in order.
        strip: an element before them: see `verdicts`.
    """
    for k, section in enumerate(sections):
        section.anchor = f"part{k + 1}"
        for i, tab in enumerate(section.tabs):
            tab.anchor = f"{section.anchor}tab{i + 1}"
    links = "\n".join(f'<li><a href="#{s.anchor}">{html.escape(s.title)}</a></li>' for s in sections)
    first = '<li><a href="#verdicts">Verdicts</a></li>\n' if strip else ""
    body = "\n".join(_section(s) for s in sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>{_part("style.css")}</style>
</head>
<body>
<header>
<h1>{html.escape(title)}</h1>
{_paragraphs(lead)}
</header>
<div class="layout">
<nav aria-label="Contents"><ol>
{first}{links}
</ol></nav>
<main>
{strip}
{body}
</main>
</div>
<script>{_part("report.js")}</script>
</body>
</html>
"""


@cache
def _part(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8").strip()


def verdicts(qualities: Mapping[str, Quality], problems: Sequence[str] = ()) -> str:
    """The strip of verdicts: a card for each result with its worst check, then what to do, then all checks."""
    every = [check for quality in qualities.values() for check in quality]
    judged = [check for check in every if check.verdict is not Verdict.NOTE]
    high = sum(check.verdict is not Verdict.OK for check in judged)
    worst = (
        Verdict.FAIL
        if problems
        else max((c.verdict for c in every), key=lambda v: v.rank, default=Verdict.NOTE)
    )
    said = {
        Verdict.FAIL: "Some results should not be used before their cause is found",
        Verdict.CHECK: "Usable, but look at what is marked",
        Verdict.OK: "All checks are within their guidelines",
    }.get(worst, "Nothing was checked")
    count = (
        f": {high} of {len(judged)} checks are above their guidelines" if high else f" ({len(judged)} checks)"
    )
    cards = [_card(title, quality) for title, quality in qualities.items()]
    if problems:
        text = "; ".join(problems[:2])
        cards.insert(0, _cell(Verdict.FAIL, "Frames that failed", html.escape(text)))
    advice = [
        f"<li><b>{SIGNS[v]} {WORDS[v]}</b> {html.escape(' and '.join(titles))}: {html.escape(text)}</li>"
        for text, (v, titles) in above(qualities).items()
    ]
    tables = "\n".join(
        f"<h4>{html.escape(title)}</h4>\n{_checks(q)}" for title, q in qualities.items() if q.checks
    )
    listed = f"<ul class=advice>{''.join(advice)}</ul>" if advice else ""
    return (
        f'<section id="verdicts" aria-labelledby="verdictsh">\n<h2 id="verdictsh" class="{worst}">'
        f"<b>{SIGNS[worst]} {WORDS[worst]}</b> {said}{count if judged else ''}</h2>\n"
        f'<div class="strip">{"".join(cards)}</div>\n{listed}\n'
        f"<details><summary>All {len(every)} checks</summary>\n{tables}\n</details>\n</section>"
    )


def _card(title: str, quality: Quality) -> str:
    worst = quality.worst
    if worst is None:
        return ""
    value, guideline = worst.texts
    return _cell(
        quality.verdict,
        title,
        f"{html.escape(worst.what)}: {html.escape(value)}"
        + (f", guideline {html.escape(guideline)}" * bool(guideline)),
    )


def _cell(verdict: Verdict, title: str, text: str) -> str:
    return (
        f'<div class="{verdict}"><b>{SIGNS[verdict]} {WORDS[verdict]}</b><strong>{html.escape(title)}</strong>'
        f"<span>{text}</span></div>"
    )


def _checks(quality: Quality) -> str:
    block = quality.block
    return table_html(block.head, block.rows).replace('class="wide"', 'class="wide words"')


def _section(section: Section) -> str:
    parts = [
        f'<section id="{section.anchor}" aria-labelledby="{section.anchor}h">',
        f'<h2 id="{section.anchor}h">{html.escape(section.title)}</h2>',
        _body(section),
    ]
    if section.tabs:
        names = "".join(
            f'<button role="tab" id="{t.anchor}b" aria-controls="{t.anchor}" aria-selected="false">'
            f"{html.escape(t.title)}</button>"
            for t in section.tabs
        )
        parts.append(
            f'<div class="tabs" role="tablist" aria-label="{html.escape(section.title, quote=True)}">{names}</div>'
        )
        parts += [
            f'<div role="tabpanel" id="{t.anchor}" aria-labelledby="{t.anchor}b"><h3>{html.escape(t.title)}</h3>'
            f"\n{_body(t)}</div>"
            for t in section.tabs
        ]
    return "\n".join([*parts, "</section>"])


def _body(section: Section) -> str:
    parts = [_paragraphs(section.text)]
    parts += [section.scene] if section.scene else []
    parts += [figure_html(figure) for figure in section.figures if figure.panels]
    if section.table:
        table = table_html(*section.table)
        parts.append(table.replace('class="wide"', 'class="wide words"') if section.words else table)
    return "\n".join(part for part in parts if part)


def _paragraphs(text: Sequence[str]) -> str:
    return "\n".join(p if p.startswith(("<table", "<figure", "<div")) else f"<p>{p}</p>" for p in text)
