"""Pages under axe-core, which looks for faults that keep people from using them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PLACES = ("node_modules", "../node_modules", "/usr/local/lib/node_modules", "/usr/lib/node_modules")
WORST = ("serious", "critical")


def source() -> str:
    """The text of axe-core, or a reason why the test is skipped."""
    root = Path(__file__).resolve().parent.parent
    named = [Path(os.environ["CONDYLE_AXE"])] if "CONDYLE_AXE" in os.environ else []
    for path in [*named, *(root / place / "axe-core" / "axe.min.js" for place in PLACES)]:
        if path.is_file():
            return path.read_text(encoding="utf-8")
    pytest.skip("no axe-core: npm install axe-core; CONDYLE_AXE=.../axe-core/axe.min.js says where it is")


def browser_path() -> str:
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next((p for name in CHROMIUMS if (p := shutil.which(name))), None)
    if found is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    return found


def faults(tab: Any, text: str) -> list[str]:
    """Serious and critical faults of a page that is open, by the rules of WCAG 2.2, A and AA."""
    tab.evaluate(f"{text};0")
    found = tab.evaluate(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']})"
    )
    assert len(found["passes"]) > 8  # it looked
    return [
        f"{fault['impact']}: {fault['id']}: {fault['help']}: {node['html'][:160]}"
        for fault in found["violations"]
        if fault["impact"] in WORST
        for node in fault["nodes"][:3]
    ]
