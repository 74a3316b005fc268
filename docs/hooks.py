"""What MkDocs does to the pages: formulas to MathML, and text that is taken from the code so that it cannot
drift.

A line `<!-- name: argument -->` of a page is replaced:

    docstring: dynamics/aba.py     the docstring of a module, its equations typeset (docs/typeset.py)
    members: condyle.mobilizers    API entries of the public names of a package, under their shortest path
    entries: simulate,Event        API entries of names in `cd`
    operators                      the table of the operators
    examples: knee,pendulum
    files of examples: what each says of itself, its picture, its code that opens at a click
    gallery                        a scene of each example, which docs/scenes.py makes

Pictures of examples are docs/img/NAME.png or .svg. Formulas are between $ or $$, with \\tag{1} for a number.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from textwrap import indent
from typing import Any

from latex2mathml.converter import convert

sys.path.insert(0, str(Path(__file__).parent))
import typeset

ROOT = Path(__file__).resolve().parent.parent
DIRECTIVE = re.compile(
    r"^<!-- (docstring|members|entries|operators|examples|gallery)(?:: (\S+))? -->$",
    re.MULTILINE,
)
SCENES = ROOT / ".scenes"
"""Where scenes of examples are kept from one build to the next."""
INTERNAL = {
    "derived_motion",
    "motion",
    "motion_at",
    "motion_size",
    "motion_symbols",
    "runaway",
    "possible_masses",
    "too_large",
}
"""Names that packages share among themselves."""
MATH = re.compile(r"(```.*?```|`[^`\n]+`)|\$\$(.+?)\$\$|\$([^$\n]+)\$", re.DOTALL)


def on_config(config: Any) -> None:
    """Pages of theory that the navigation does not name come last."""
    (theory,) = (section["Theory"] for section in config.nav if "Theory" in section)
    named = [uri for entry in theory for uri in entry.values()]
    theory += [
        uri
        for path in sorted((ROOT / "docs" / "theory").glob("*.md"))
        if (uri := f"theory/{path.name}") not in named
    ]


def on_files(files: Any, config: Any) -> Any:
    """Scenes of examples are files of the site: those that CONDYLE_SCENES names, all by default."""
    from mkdocs.structure.files import File

    wanted = os.environ.get("CONDYLE_SCENES", "all")
    every = [path.stem for path in sorted((ROOT / "examples").glob("*.py"))]
    names = (
        every
        if wanted == "all"
        else [name for name in every if name in wanted.split(",")]
    )
    if names:
        subprocess.run(
            [sys.executable, ROOT / "docs" / "scenes.py", SCENES, *names], check=True
        )
    for name in names:
        files.append(
            File.generated(
                config, f"scenes/{name}.html", abs_src_path=str(SCENES / f"{name}.html")
            )
        )
    config.extra["scenes"] = names
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    markdown = DIRECTIVE.sub(
        lambda found: (
            gallery(config.extra["scenes"])
            if found[1] == "gallery"
            else DIRECTIVES[found[1]](found[2])
        ),
        markdown,
    )
    page.formulas = []

    def take(found: re.Match[str]) -> str:
        """Leave a mark, which Markdown does not touch, in place of a formula."""
        if found[1]:
            return found[1]
        page.formulas.append(_mathml(found[2] or found[3], block=bool(found[2])))
        mark = f"formula{len(page.formulas) - 1}x"
        line = markdown.rfind("\n", 0, found.start()) + 1
        before = re.match(" *", markdown[line:])[0]  # inside a box it stays inside
        return f"\n\n{before}{mark}\n\n" if found[2] else mark

    return MATH.sub(take, markdown)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    return re.sub(
        r"(<p>)?formula(\d+)x(?(1)</p>)", lambda found: page.formulas[int(found[2])], html
    )


def _mathml(latex: str, block: bool) -> str:
    tag = re.search(r"\\tag\{(.*?)\}", latex)
    latex = re.sub(r"\\tag\{.*?\}", "", latex).replace(r"\operatorname", r"\mathrm")
    math = convert(latex.strip(), display="block" if block else "inline")
    return (
        f'<div class="equation">{math}<span>{f"({tag[1]})" if tag else ""}</span></div>'
        if block
        else math
    )


def docstring(path: str) -> str:
    text = (
        ast.get_docstring(
            ast.parse((ROOT / "src" / "condyle" / path).read_text(encoding="utf-8"))
        )
        or ""
    )
    title, _, rest = text.partition("\n\n")
    title = " ".join(title.split()).replace("__", r"\_\_")
    body = indent(typeset.markdown(rest), "    ")
    return f'!!! module "{title.replace(chr(34), chr(39))}"\n\n{body}\n\n    *`{path}`*\n'


def members(package: str) -> str:
    import condyle

    # wherever it is at home
    module = getattr(condyle, package.removeprefix("condyle."), None) or import_module(
        package
    )
    flat = [
        n
        for n in condyle.__all__
        if getattr(getattr(condyle, n), "__module__", "").startswith(module.__name__)
    ]
    names = [n for n in getattr(module, "__all__", flat) if n not in INTERNAL]
    return "\n\n".join(
        entries(name) if name in flat else _entry(module, f"{package}.{name}")
        for name in names
    )


def _entry(module: Any, path: str) -> str:
    """A function may share its name with its module, which would be shown instead."""
    item = getattr(module, path.rpartition(".")[2])
    same = inspect.isfunction(item) and item.__module__ == path
    return f'<a id="{path}"></a>\n\n::: {path}.{item.__name__}' if same else f"::: {path}"


def entries(names: str) -> str:
    """A function may share its name with its module, which would be shown instead: it is asked for at
    home."""
    import condyle

    home = {
        name: getattr(condyle, name).__module__
        for name in names.split(",")
        if inspect.isfunction(getattr(condyle, name))
    }
    return "\n\n".join(
        f'<a id="condyle.{name}"></a>\n\n::: {home[name]}.{name}'
        if name in home
        else f"::: condyle.{name}"
        for name in names.split(",")
    )


def operators(_: str) -> str:
    from condyle.model.operators import OPERATORS
    from condyle.system.operators import METHODS, OPTIONS

    rows = ["| operator | stage | gives |", "|---|---|---|"]
    for name, record in OPERATORS.items():
        if not record.public:
            continue
        method: Any = METHODS[name]
        known = [
            n for n in inspect.signature(method).parameters if n not in ("self", *OPTIONS)
        ]
        says = " ".join(method.summary.split("\n\n")[0].split())
        rows.append(f"| `{name}({', '.join(known)})` | {record.stage.name} | {says} |")
    return "\n".join(rows)


def examples(names: str) -> str:
    parts = []
    for path in (ROOT / "examples" / f"{name}.py" for name in names.split(",")):
        source = path.read_text(encoding="utf-8")
        says = ast.get_docstring(ast.parse(source)) or ""
        picture = next((p for p in (ROOT / "docs" / "img").glob(f"{path.stem}.*")), None)
        code = source.split('"""', 2)[2].strip()
        parts += [
            f"### {path.stem}",
            says,
            f"![{path.stem}](img/{picture.name})" if picture else "",
            f'??? example "examples/{path.name}"\n\n{indent(f"```py{chr(10)}{code}{chr(10)}```", "    ")}',
        ]
    return "\n\n".join(parts)


def gallery(scenes: list[str]) -> str:
    """All examples, in the groups of docs/examples.md: a scene, or its picture where none was made."""
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    groups = re.findall(r"^## (.+)\n\n<!-- examples: (\S+) -->", page, re.MULTILINE)
    parts = [thumbnails(names.split(",") for _, names in groups)]
    for title, names in groups:
        parts.append(f"## {title}")
        for name in names.split(","):
            source = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
            says = (ast.get_docstring(ast.parse(source)) or "").partition("\n\n")[0]
            alone = f" [The scene alone](scenes/{name}.html)." if name in scenes else ""
            parts += [f"### {name}", f"{says} [Its code](examples.md#{name}).{alone}"]
            picture = next((p for p in (ROOT / "docs" / "img").glob(f"{name}.*")), None)
            if name in scenes:
                parts.append(
                    f'<div class="scene" data-scene="scenes/{name}.html" data-name="{name}"></div>'
                )
            elif picture:
                parts.append(f"![{name}](img/{picture.name})")
    parts.append('<script src="scenes.js"></script>')
    return "\n\n".join(parts)


def thumbnails(groups: Iterable[list[str]]) -> str:
    """Small pictures of all examples, which lead to the scenes below."""
    cards = [
        f'<a href="#{name}"><img src="img/thumbnails/{name}.webp" alt="" loading="lazy">{name}</a>'
        for names in groups
        for name in names
        if (ROOT / "docs" / "img" / "thumbnails" / f"{name}.webp").exists()
    ]
    return f'<div class="thumbnails">{"".join(cards)}</div>'


DIRECTIVES: dict[str, Callable[[str], str]] = {
    "docstring": docstring,
    "members": members,
    "entries": entries,
    "operators": operators,
    "examples": examples,
}
