"""Pictures of examples use what the examples compute: drawing them takes minutes, and nobody runs it here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DRAWN = [
    f
    for f in ast.parse((ROOT / "docs" / "gallery.py").read_text()).body
    if isinstance(f, ast.FunctionDef)
    and any(isinstance(d, ast.Name) and d.id == "picture" for d in f.decorator_list)
]


def bound(tree: ast.Module) -> set[str]:
    """Names that a module has when it has run; those of functions' own are among them."""
    nodes = list(ast.walk(tree))
    out = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    out |= {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    return out | {
        a.asname or a.name for n in nodes if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names
    }


@pytest.mark.parametrize("drawn", DRAWN, ids=lambda f: f.name)
def test_pictures_ask_for_what_examples_have(drawn: ast.FunctionDef) -> None:
    """One of them asked for q, which its example had no longer."""
    asked = {
        node.attr
        for node in ast.walk(drawn)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "v"
    }
    assert asked and asked <= bound(ast.parse((ROOT / "examples" / f"{drawn.name}.py").read_text()))
    assert (ROOT / "docs" / "img" / f"{drawn.name}.png").exists()


def test_every_figure_of_a_page_has_its_drawing() -> None:
    """docs/figures.py names the page and the file; each page of it shows them."""
    tree = ast.parse((ROOT / "docs" / "figures.py").read_text(encoding="utf-8"))
    (drawn,) = (
        n.value for n in tree.body if isinstance(n, ast.AnnAssign) and ast.unparse(n.target) == "FIGURES"
    )
    assert isinstance(drawn, ast.Dict)
    for page, names in zip(drawn.keys, drawn.values, strict=True):
        assert isinstance(page, ast.Constant) and isinstance(names, ast.Dict)
        text = (ROOT / "docs" / f"{page.value}.md").read_text(encoding="utf-8")
        for name in names.keys:
            assert isinstance(name, ast.Constant)
            assert f"img/{name.value}.png)" in text and (ROOT / "docs" / "img" / f"{name.value}.png").exists()
