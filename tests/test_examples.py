"""Every example runs as a script, in a folder of its own, and asserts its own result. README's runs in a
process of its own."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path, monkeypatch, capfd):
    """In this process: importing takes longer than most of them."""
    monkeypatch.chdir(tmp_path)
    # a warning is an error, as everywhere in these tests
    runpy.run_path(str(path), run_name="__main__")
    said = capfd.readouterr()
    assert said.out.strip()  # it tells its user something
    assert not said.err.strip()
    assert not list(tmp_path.iterdir())  # and leaves nothing behind


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_short_and_check_themselves(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 95  # one argument a line, where ruff format breaks a call
    assert any("assert" in line for line in lines)


def test_the_page_shows_each_example_once():
    page = (Path(__file__).parent.parent / "docs" / "examples.md").read_text(encoding="utf-8")
    shown = ",".join(re.findall(r"<!-- examples: (\S+) -->", page)).split(",")
    assert sorted(shown) == [path.stem for path in EXAMPLES]
    assert all(f"(#{name})" in page for name in shown)
