"""Docstrings as typeset pages: docs/typeset.py."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import typeset  # noqa: E402

SHOWN = [
    name
    for page in sorted((ROOT / "docs" / "theory").glob("*.md"))
    for name in re.findall(r"<!-- docstring: (\S+) -->", page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("U = P h", "U = P h"),
        ("eps = (tau_k - h' z) / D", r"\varepsilon = ( \tau_{k} - h^{\prime} z ) / D"),
        ("v = v_P + w_P x r + x", r"v = v_{P} + w_{P} \times r + x"),
        ("A x = b", "A x = b"),
        ("x^ += F_x' y^", r"\hat{x} \text{ += } F_{x}^{\prime} \hat{y}"),
        ("y_p = sum_j=0..k D_j", r"y_{p} = \sum_{j=0}^{ k} D_{j}"),
        ("udot_D = 1/2 M^-1 f+", r"\dot{u}_{D} = \tfrac{1}{2} M^{-1} f^{+}"),
        ("D > 3e-14", r"D > 3 \cdot 10^{-14}"),
        ("K = [[W, J'], [J, 0]]", r"K = \left[ \begin{matrix}W & J^{\prime} \\ J & 0\end{matrix} \right]"),
        ("summed over the ancestors of h_k", r"\text{summed over the ancestors of } h_{k}"),
    ],
)
def test_pieces(text: str, latex: str) -> None:
    assert re.sub(r" +", " ", typeset.latex(text)) == latex


def test_paragraphs_lists_and_tables() -> None:
    text = "Words of x_i\ngo on.\n\n    F = M A    the force    (1)\n\nNotation\n- one\n  more\n\na   first\nb   second\n"
    said = typeset.markdown(text)
    assert said.split("\n\n") == [
        "Words of $x_{i}$\ngo on.",
        r"$$F = M A \quad \text{the force}\tag{1}$$",
        "**Notation**",
        "- one more",
        "| | |\n|---|---|\n| `a` | first |\n| `b` | second |",
    ]


@pytest.mark.parametrize("name", SHOWN)
def test_every_docstring_of_the_theory(name: str) -> None:
    """All formulas are LaTeX that can be drawn, each number is there, and nothing is left as gray text."""
    convert = pytest.importorskip("latex2mathml.converter", reason="latex2mathml is not installed").convert
    text = ast.get_docstring(ast.parse((ROOT / "src" / "condyle" / name).read_text(encoding="utf-8"))) or ""
    said = typeset.markdown(text.partition("\n\n")[2])
    assert "```" not in said
    for formula in re.findall(r"\$\$(.+?)\$\$", said):
        convert(re.sub(r"\\tag\{.*?\}", "", formula), display="block")
    numbers = [m[1] for line in text.splitlines() if (m := typeset.NUMBER.search(line))]
    assert re.findall(r"\\tag\{(.*?)\}", said) == numbers
