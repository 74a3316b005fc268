"""The tables and figures of the four papers, redone: `python -m examples.papers [FILE]`.

Run it where the examples are, in a clone of the project. It takes some minutes and writes one
page, papers.html if no name is given. docs/papers.md says where each number of a paper is.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import matplotlib

from condyle.files import atomic_write
from condyle.reports.page import Section, page
from examples.papers import lee2008, ruggiero2020, seth2010, sherman2011
from examples.papers.part import Part, figure_html

PAPERS = {
    "seth2010": seth2010,
    "lee2008": lee2008,
    "sherman2011": sherman2011,
    "ruggiero2020": ruggiero2020,
}


def section(paper: str, part: Part) -> Section:
    text = [
        *part.text,
        *([] if part.figure is None else [figure_html(part.figure, part.title)]),
    ]
    return Section(f"{paper}, {part.title}", text, table=part.table)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m examples.papers", description=__doc__
    )
    parser.add_argument(
        "file", nargs="?", default="papers.html", help="the page to write"
    )
    parser.add_argument("--only", choices=PAPERS, help="one paper")
    given = parser.parse_args()
    matplotlib.use("Agg")
    sections = []
    for paper, module in PAPERS.items():
        if given.only in (None, paper):
            for part in module.parts():
                print(f"{paper}, {part.title}", file=sys.stderr, flush=True)
                sections.append(section(paper, part))
    lead = [
        "What four papers print, computed again with Condyle. Where a paper gives a number, it stands beside ours."
    ]
    with atomic_write(Path(given.file), "w", encoding="utf-8") as file:
        file.write(page("Four papers, redone", lead, sections))
    print(f"{given.file}: {len(sections)} tables and figures")


if __name__ == "__main__":
    main()
