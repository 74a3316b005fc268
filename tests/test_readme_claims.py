"""What the documents list is all there is, the map of the code and the environment variables; and what README
shows runs on the data that `condyle example` writes."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from condyle.cli.main import main

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "condyle"


def test_the_map_names_every_part() -> None:
    page = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([\w./]+)` \|", page, re.MULTILINE)
    assert [name for name in named if not (ROOT / name).exists()] == []
    rooms = {name.removeprefix("src/condyle/") for name in named if name.startswith("src/")}
    parts = {p.name for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert parts - rooms == {"__init__.py", "__main__.py"}


def test_every_environment_variable_is_listed() -> None:
    read = {
        name
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r"\"(CONDYLE_\w+)\"", path.read_text(encoding="utf-8"))
    }
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(CONDYLE_\w+)` \|", page, re.MULTILINE))
    assert read
    assert read <= listed


@pytest.mark.filterwarnings("ignore::condyle.errors.QualityWarning")
def test_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every block but the two that install, in order: commands, then the program, in the folder of the example."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").split("<!-- tests:end -->")[1]
    blocks = re.findall(r"```(sh|python)\n(.*?)```", text, re.DOTALL)
    assert {kind for kind, _ in blocks} == {"sh", "python"}
    monkeypatch.chdir(tmp_path)
    for kind, block in blocks:
        if kind == "python":
            exec(compile(block, "README.md", "exec"), {"__name__": "__main__"})
            continue
        for words in (shlex.split(c, comments=True) for line in block.splitlines() for c in line.split("&&")):
            if words[0] == "cd":
                monkeypatch.chdir(words[1])
                continue
            assert words[0] == "condyle"
            # a process per core would compile everything again
            monkeypatch.setattr(sys, "argv", words + ["--executor", "here"] * (words[1] == "batch"))
            code: object = 0
            try:
                main()
            except SystemExit as end:
                code = end.code
            assert not code, capfd.readouterr().err
    assert "1 of 1 done" in capfd.readouterr().out
    made = {path.name for path in Path.cwd().iterdir()}
    assert {"walk_id.sto", "walk_ik.html", "results", "knee.png", "walk.html"} <= made
