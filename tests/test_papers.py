"""The page of the papers: every number has a row, and every row leads to something that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from examples.papers import ruggiero2020

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
NUMBERED = {
    "seth2010": (39, 2, range(1, 8)),
    "lee2008": (44, 1, range(1, 6)),
    "sherman2011": (29, 0, range(1, 7)),
    "ruggiero2020": (33, 6, range(1, 21)),
}
"""Of each paper: numbered equations, tables, figures."""


def rows(paper: str) -> list[list[str]]:
    """Cells of the table of a paper."""
    section = PAGE.split(f"## {paper}")[1].split("\n## ")[0]
    lines = [
        line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| number")
    ]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_number_has_a_row(paper: str) -> None:
    equations, tables, figures = NUMBERED[paper]
    found: list[str] = []
    for number, *_ in rows(paper):
        for first, last in re.findall(r"\((\d+)\)(?:-\((\d+)\))?", number):
            found += [f"({k})" for k in range(int(first), int(last or first) + 1)]
        found += re.findall(r"^(?:Table|Fig\.) \d+", number)
    wanted = [
        *(f"({k})" for k in range(1, equations + 1)),
        *(f"Table {k}" for k in range(1, tables + 1)),
        *(f"Fig. {k}" for k in figures),
    ]
    assert sorted(set(found)) == sorted(wanted)
    assert [x for x in found if found.count(x) > 1 and not x.startswith("Fig. 5")] == []


def defines(path: Path, name: str) -> bool:
    return bool(re.search(rf"^\s*(?:class|def) {name}\b", path.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_row_leads_somewhere(paper: str) -> None:
    """Files and functions that moved, examples and tests that are gone."""
    missing = []
    for number, _, code, _, redone, test in rows(paper):
        for path, name in re.findall(r"`([\w/]+\.py)::(\w+)`", code):
            if not (file := ROOT / "src" / "condyle" / path).exists() or not defines(file, name):
                missing.append((number, path, name))
        for path in re.findall(r"`((?:examples|benchmarks)/[\w/]+\.py)`", redone + code):
            if not (ROOT / path).exists():
                missing.append((number, path, ""))
        for path, name in re.findall(r"`([\w/]+\.py)::(\w+)`", test):
            if not (file := ROOT / "tests" / path).exists() or not defines(file, name):
                missing.append((number, path, name))
        assert code.startswith(("`", "not ")), f"{paper} {number}: {code}"
    assert missing == []


CITED = r"((?:(?: and|,)? ?\(\d+[a-z]?\)(?:-\(\d+\))?)+)"


@pytest.mark.parametrize("paper", NUMBERED)
def test_code_and_theory_cite_every_equation(paper: str) -> None:
    """By the paper's key and the number: `seth2010 (16), (17)`, `lee2008 (9)-(14)`."""
    places = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs" / "theory").glob("*.md")]
    text = " ".join(" ".join(path.read_text(encoding="utf-8").split()) for path in places)
    found: set[int] = set()
    for numbers in re.findall(paper + CITED, text):
        for first, last in re.findall(r"\((\d+)[a-z]?\)(?:-\((\d+)\))?", numbers):
            found |= set(range(int(first), int(last or first) + 1))
    assert [k for k in range(1, NUMBERED[paper][0] + 1) if k not in found] == []


def test_citation_names_the_papers() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for doi in re.findall(r"\[doi:(\S+)\]", PAGE):
        assert doi in text


@pytest.mark.parametrize("table", ruggiero2020.HEADS)
def test_tables_of_ruggiero2020(table: str) -> None:
    """The ready model has the numbers that the paper prints, to the digits that it prints."""
    for name, theirs, own in ruggiero2020.printed(table):
        for text, x in zip(theirs, own, strict=True):
            half = 0.5 * 10.0 ** -len(text.partition(".")[2]) * (1 + 1e-9)
            # 0.180 of a mass center is 0.180496, and 157 mrad 0.15708: printed digits are rounded or cut
            assert abs(x - float(text)) <= 2 * half, f"{table}: {name}"
