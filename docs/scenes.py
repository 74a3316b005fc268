"""The examples as scenes: `python docs/scenes.py FOLDER [NAME ...]` runs them and writes a page each, and
index.html with all of them."""
from __future__ import annotations

import html
import runpy
import sys
import warnings
from pathlib import Path
from typing import Any

import condyle as cd

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SHOWN = (cd.Trajectory, cd.Frames, cd.Motion, cd.Ensemble, cd.State, cd.System)
"""What is shown of an example: the first kind that it has, and of several the one
with most bodies, then the longest motion."""


def main(folder: str, *names: str) -> None:
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    parts = []
    for file in sorted(EXAMPLES.glob("*.py")):
        if names and file.stem not in names:
            continue
        with warnings.catch_warnings(action="ignore"):
            made = scene(runpy.run_path(str(file)), file.stem, out)
        says = (file.read_text(encoding="utf-8").split('"""')[1]).partition("\n\n")[0]
        if made:
            parts.append(f'<h2 id="{file.stem}"><a href="{file.stem}.html">{file.stem}</a></h2>\n'
                         f"<p>{html.escape(says)}</p>\n<iframe loading=\"lazy\" src=\"{file.stem}.html\" "
                         f'title="{file.stem}"></iframe>')
    (out / "index.html").write_text(PAGE.replace("%PARTS%", "\n".join(parts)), encoding="utf-8")


def scene(variables: dict[str, Any], name: str, out: Path) -> bool:
    """Write the scene of an example; False if it has nothing to show."""
    for kind in SHOWN:
        found = [v for v in variables.values() if isinstance(v, kind)]
        if found:
            best = max(found, key=lambda v: (len(getattr(v, "system", v).bodies),
                                             len(v) if hasattr(v, "__len__") else 0))
            cd.show(best, out / f"{name}.html", title=name, play=False)
            return True
    return False


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Condyle: examples</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
color-scheme: light dark; } iframe { width: 100%; height: 30rem; border: 0; border-radius: 8px; }</style>
</head><body><h1>Examples, moving</h1>
%PARTS%
</body></html>
"""

if __name__ == "__main__":
    main(*(sys.argv[1:] or ["scenes"]))
