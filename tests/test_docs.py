"""The documentation: it builds without a warning, works without a network, covers the public names, and its
code runs."""

from __future__ import annotations

import ast
import inspect
import re
import runpy
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import condyle
from condyle.model.operators import OPERATORS
from tests.process import output

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
BEFORE = re.compile(r"^<!-- before\n(.*?)^-->$", re.MULTILINE | re.DOTALL)
"""What a page needs that readers have: their files."""
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


class Page(HTMLParser):
    """The ids, links and fetched resources of an HTML page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if "id" in given:
            self.ids.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if "src" in given:
            self.fetched.append(given["src"])
        if tag == "link" and "href" in given:
            self.fetched.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    """All pages of the site by path, built as CI builds them: a warning is an error, which `--quiet` would
    hide."""
    pytest.importorskip("mkdocs")
    out = tmp_path_factory.mktemp("docs") / "site"
    output(
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--site-dir",
        out,
        environment={"NO_MKDOCS_2_WARNING": "1", "CONDYLE_SCENES": "pendulum"},
    )
    return {path: Page(path) for path in out.rglob("*.html") if path.parent.name != "scenes"}


def test_axe_finds_no_serious_fault(site: dict[Path, Page]) -> None:
    """On pages of each kind, light and dark."""
    from tests import axe

    text, chromium = axe.source(), axe.browser_path()
    from playwright.sync_api import sync_playwright

    wanted = ("index", "gallery", "draw", "studies", "papers", "trust", "tutorial-gait", "control")
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=axe.FLAGS)
        for scheme in ("light", "dark"):
            tab = browser.new_context(color_scheme=scheme, bypass_csp=True).new_page()  # type: ignore[arg-type]
            for path in (path for path in site if path.stem in wanted):
                tab.goto(path.as_uri())
                found += [f"{scheme} {path.name}: {fault}" for fault in axe.faults(tab, text)]
        browser.close()
    assert found == []


def test_every_page_is_built(site: dict[Path, Page]) -> None:
    built = {path.stem for path in site}
    assert {page.stem for page in PAGES} <= built


def test_every_public_name_has_an_entry(site: dict[Path, Page]) -> None:
    entries = set().union(*(page.ids for path, page in site.items() if path.parent.name == "api"))
    modules = [name for name in condyle.__all__ if inspect.ismodule(getattr(condyle, name))]
    missing = [
        f"condyle.{name}"
        for name in condyle.__all__
        if f"condyle.{name}" not in entries and name not in modules
    ]
    missing += [
        f"condyle.{module}.{name}"
        for module in modules
        for name in getattr(condyle, module).__all__
        if not {f"condyle.{module}.{name}", f"condyle.{name}"} & entries
    ]
    missing += [
        path for name, home in condyle._MOVED.items() if (path := f"condyle.{home}.{name}") not in entries
    ]
    assert not missing, (
        f"docs/api has no entry for {missing}: add '::: {missing[0]}' to the page where it belongs"
    )


def test_links_resolve(site: dict[Path, Page]) -> None:
    broken = []
    for path, page in site.items():
        # its links are absolute, for whatever folder it stands in for
        if path.name == "404.html":
            continue
        for link in page.links + page.fetched:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (
                parts.fragment
                and target in site
                and unquote(parts.fragment) not in site[target].ids
                and parts.fragment != "__skip"
            ):
                broken.append(f"{path.name}: {link}")
    assert not broken


def test_nothing_is_fetched_from_elsewhere(site: dict[Path, Page]) -> None:
    assert [(p.name, f) for p, page in site.items() for f in page.fetched if urlsplit(f).netloc] == []


def test_search_works_from_a_folder(site: dict[Path, Page]) -> None:
    """Without a server a page can neither fetch the index nor start a Worker: both come as scripts of our
    own."""
    index = next(path for path in site if path.name == "index.html")
    assert (
        (index.parent / "search" / "search_index.js")
        .read_text(encoding="utf-8")
        .startswith("var __index = {")
    )
    assert [
        p.name
        for p, page in site.items()
        if p.name != "404.html" and not any(f.endswith("iframe-worker.js") for f in page.fetched)
    ] == []
    assert "three rotations and three translations" in (
        index.parent / "search" / "search_index.json"
    ).read_text(encoding="utf-8")


def test_the_gallery_shows_every_example(site: dict[Path, Page]) -> None:
    """Here one scene alone is made: test_examples runs them all."""
    path = next(path for path in site if path.name == "gallery.html")
    assert {p.stem for p in (ROOT / "examples").glob("*.py")} <= site[path].ids
    assert "scenes/pendulum.html" in site[path].links and "scenes.js" in site[path].fetched
    assert "Content-Security-Policy" in (path.parent / "scenes" / "pendulum.html").read_text(encoding="utf-8")


def test_no_formula_or_directive_is_left_over(site: dict[Path, Page]) -> None:
    for path in site:
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"\$\$|formula\d+x|<!-- (docstring|members|entries|operators|examples|gallery)", text
        ), path.name


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if BLOCK.search(p.read_text(encoding="utf-8"))],
    ids=lambda page: str(page.relative_to(DOCS)),
)
def test_code_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The blocks of a page, one after the other. What a print shows is in the comment beside or below it;
    what the last ones of a block show may be in a block of text below, where a line of three dots stands for
    any lines."""
    text = page.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    script = tmp_path / "page.py"
    script.write_text("\n".join([*BEFORE.findall(text), *(code for code, _ in blocks)]), encoding="utf-8")
    shown = []
    for code, text in blocks:
        beside = said(code)
        assert bool(text) == (None in beside), f"a print does not show its output:\n{code}"
        shown += [line for line in beside if line is not None] + text.splitlines()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    # in this process: importing takes longer than most pages
    runpy.run_path(str(script), run_name="__main__")
    printed = capfd.readouterr().out
    if "..." in shown:
        pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in shown)
        assert re.fullmatch(pattern, printed), printed
    else:
        assert printed.splitlines() == shown


def said(code: str) -> list[str | None]:
    """The comment beside or below each print of a block, None where there is none."""
    lines = [*code.splitlines(), ""]
    prints = [
        n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Call) and ast.unparse(n.func) == "print"
    ]
    found = []
    for call in sorted(prints, key=lambda n: n.lineno):
        rest, below = lines[call.end_lineno - 1][call.end_col_offset :], lines[call.end_lineno]
        comment = re.match(r" *# (.*)$", rest) if rest else re.match(r" *# (.*)$", below)
        found.append(comment[1] if comment else None)
    return found


def test_cycles_of_three_trials_take_fifteen_lines() -> None:
    """Knee moments per mass, with bands, left against right: a newcomer's first figure."""
    page = (DOCS / "guide" / "gait.md").read_text(encoding="utf-8")
    (program,) = re.findall(
        r"<!-- program:begin -->\n```python\n(.*?)```\n<!-- program:end -->", page, re.DOTALL
    )
    assert len([line for line in program.splitlines() if line.strip()]) <= 15


def test_code_is_narrow() -> None:
    """Pages show 90 columns; ruff looks after the examples."""
    wide = [
        f"{page.name}: {line}"
        for page in [*PAGES, ROOT / "README.md"]
        for code, _ in BLOCK.findall(page.read_text(encoding="utf-8"))
        for line in code.splitlines()
        if len(line) > 90
    ]
    assert wide == []


def test_what_a_law_sees_is_listed() -> None:
    """All accessors of `s`, and none that does not exist."""
    seen: set[str] = set()

    def residual(s):
        seen.update(name for name in dir(type(s)) if not name.startswith("_"))
        return s.udot("a")

    system = condyle.System()
    system.add_body("a", mobilizer=condyle.Pin(), mass=1, inertia=(1, 1, 1))
    system.add_constraint("held", condyle.constraints.AccelerationOnly(residual))
    page = (
        (DOCS / "guide" / "force.md")
        .read_text(encoding="utf-8")
        .split("## What a law sees")[1]
        .split("\n## ")[0]
    )
    assert set(re.findall(r"`s\.(\w+)", page)) == seen - {"ask"}  # that is for our own laws


def test_every_environment_variable_is_in_the_table() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    table = (DOCS / "settings.md").read_text(encoding="utf-8")
    assert set(re.findall(r"CONDYLE_[A-Z_]+", source)) == set(
        re.findall(r"^\| `(CONDYLE_[A-Z_]+)`", table, re.MULTILINE)
    )


def test_the_recursions_are_all_there() -> None:
    """Every module of dynamics and model that numbers equations has them on the page."""
    text = (DOCS / "theory" / "recursions.md").read_text(encoding="utf-8")
    package = ROOT / "src" / "condyle"
    for path in (path for room in ("dynamics", "model") for path in (package / room).rglob("*.py")):
        head = path.read_text(encoding="utf-8").split('"""')[1:2]
        if head and re.search(r"\(1\)$", head[0], re.MULTILINE):
            assert f"<!-- docstring: {path.relative_to(package).as_posix()} -->" in text, path.name


def test_operators_with_derivatives_are_listed() -> None:
    page = (DOCS / "guide" / "derivatives.md").read_text(encoding="utf-8")
    rows = page.split("## Which operators")[1].split("The others are computed")[0].splitlines()
    listed = {name.split()[0] for row in rows[4:] if row for name in row.split("|")[2].split(",")}
    assert listed == {name for name, operator in OPERATORS.items() if operator.derivable and operator.public}
