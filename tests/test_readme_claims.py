"""What README lists is all there is: the map of the code, the environment variables."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "condyle"


def test_the_map_names_every_part() -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## Map of the code")[1]
    named = set(re.findall(r"^\| `src/condyle/([\w.]+)` \|", section, re.MULTILINE))
    parts = {p.name for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert parts - named == {"__init__.py", "__main__.py"}


def test_every_environment_variable_is_listed() -> None:
    read = {
        name
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r"\"(CONDYLE_\w+)\"", path.read_text(encoding="utf-8"))
    }
    listed = set(
        re.findall(r"^\| `(CONDYLE_\w+)` \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert read
    assert read <= listed
