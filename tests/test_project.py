"""The project as a whole: linters, types, layers, what an import loads, documents that cannot drift from the
code."""

from __future__ import annotations

import functools
import inspect
import itertools
import re
import signal
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import condyle
from tests import trust
from tests.process import output, run

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def marked(name: str) -> str:
    """What is in the one fenced block between `<!-- name:begin -->` and `<!-- name:end -->` of README."""
    (inside,) = re.findall(
        rf"<!-- {name}:begin -->\s*```\w+\n(.*?)```\s*<!-- {name}:end -->", README, re.DOTALL
    )
    return inside


# -- the tools; their caches live inside pytest's, so that a run leaves nothing else in the tree


def test_ruff(pytestconfig: pytest.Config) -> None:
    cache = f"--cache-dir={pytestconfig.cache.mkdir('ruff')}"
    output("-m", "ruff", "check", cache, ".")
    output("-m", "ruff", "format", "--check", cache, ".")


BRITISH = re.compile(
    r"(?<![a-z])(cent|fib|(milli|centi|nano|micro|kilo)?met)res?(?![a-z])|centred|colour|behaviour|favour|neighbour"
    r"|(general|normal|optim|minim|maxim|factor|linear|stabil|util|serial|parameter|parametr|regular|discret|vector"
    r"|initial|recogn|symmetr|organ|real|summar|penal|character)is(e|ed|es|er|ers|ing|ation|ations)(?![a-z])"
    r"|(label|model|signal|travel|cancel)l(ed|ing)(?![a-z])|analys(e|ed|ing)(?![a-z])|licence|(?<![a-z])greys?(?![a-z])"
    r"|artefact|judgement|anticlockwise|learnt|(?<![a-z])(to|after)wards(?![a-z])",
    re.IGNORECASE,
)
"""Spellings that OpenSim, NumPy and SciPy write otherwise."""


def test_american_spelling() -> None:
    """One spelling in code and prose; files of others, and the spellings that users may type, stay."""
    typed_by_users = {
        ("tests/test_arguments.py", word) for word in ("centre", "fibre", "colour", "optimisation")
    } | {("src/condyle/io/trc.py", f"{unit}metre{s}") for unit in ("", "centi", "milli") for s in ("", "s")}
    folders = [ROOT / name for name in ("src", "docs", "examples", "benchmarks", "tests", ".github")]
    files = [*ROOT.glob("*.*"), *(path for folder in folders for path in folder.rglob("*.*"))]
    british = functools.cache(BRITISH.search)
    found = []
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        if (
            path.suffix not in (".py", ".md", ".toml", ".yml", ".yaml", ".js", ".css", ".html", ".cff")
            or name.startswith("tests/data/")
            or path.name in (Path(__file__).name, "bundle.js")
        ):
            continue
        text = path.read_text(encoding="utf-8")
        if not any(map(british, {*re.findall("[a-z]+", text, re.IGNORECASE)})):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            found += [
                f"{name}:{number}: {word.group()}"
                for word in BRITISH.finditer(line)
                if (name, word.group().lower()) not in typed_by_users
            ]
    assert not found, "\n".join(found)


def test_a_class_has_its_name_alone() -> None:
    """Two classes share a name only where both are public, each in its own module: contact.Cylinder, paths.Cylinder."""
    homes: dict[str, set[str]] = {}
    for path in (ROOT / "src" / "condyle").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            homes.setdefault(name, set()).add(module)
    public = {
        (name, getattr(module, name).__module__)
        for module in [condyle, *(getattr(condyle, name) for name in condyle.__all__)]
        if inspect.ismodule(module)
        for name in module.__all__
        if inspect.isclass(getattr(module, name))
    } | {("States", "condyle.system.states")}  # what system.states(...) returns
    shared = {name: modules for name, modules in homes.items() if len(modules) > 1}
    assert not {(name, m) for name, modules in shared.items() for m in modules} - public


def test_constants_are_set_once() -> None:
    """A second constant of one name in a module replaces the first for functions above it too."""
    for path in (ROOT / "src" / "condyle").rglob("*.py"):
        names = re.findall(r"^([A-Z][A-Z0-9_]+)(?:: [^=\n]+)? = ", path.read_text(encoding="utf-8"), re.M)
        assert len(set(names)) == len(names), (path, [n for n in names if names.count(n) > 1])


def test_mypy(pytestconfig: pytest.Config) -> None:
    output("-m", "mypy", f"--cache-dir={pytestconfig.cache.mkdir('mypy')}")


def test_imports_point_one_way() -> None:
    output("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache")


def test_import_loads_three_packages_only(tmp_path: Path) -> None:
    """Whatever else is installed stays out of `import condyle`: quick to start, nothing loaded that is not
    used."""
    script = (
        "import sys; before = set(sys.modules); import condyle; new = {n.split('.')[0] for n in "
        "set(sys.modules) - before}; "
        # SWIG makes some of nothing
        "print(*(n for n in new if getattr(sys.modules.get(n), '__spec__', None)))"
    )
    loaded = set(output("-c", script, cwd=tmp_path).split())
    assert loaded - sys.stdlib_module_names - {"condyle"} <= {"numpy", "casadi", "llvmlite"}


def test_package_is_typed() -> None:
    assert (Path(condyle.__file__).parent / "py.typed").exists()


# -- documents


def test_one_version_everywhere() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    (cited,) = re.findall(
        r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE
    )
    newest = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[0]
    assert condyle.__version__ == version("condyle") == cited == newest == declared


def test_dependencies_have_lower_bounds_only() -> None:
    """But for MkDocs: pyproject.toml gives the reason."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    assert {r for r in required if not re.fullmatch(r"[\w-]+>=[\d.]+", r)} == {"mkdocs>=1.6,<2"}


def test_readme_has_two_set_up_commands() -> None:
    section = README.split("## Set up")[1].split("\n## ")[0]
    commands = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    assert commands == ["python -m pip install . && python -m condyle demo\n", marked("tests")]


def test_ci_runs_what_readme_says(tmp_path: Path) -> None:
    """`.ci/run --print` shows what it would run, from any folder."""
    assert output(ROOT / ".ci" / "run", "--print", cwd=tmp_path) == marked("tests")


def test_ci_runs_as_an_ordinary_machine(tmp_path: Path) -> None:
    """Variables of Python that change what is tested are taken out before anything is run."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nenv\nexit 7\n")
    python.chmod(0o755)
    done = run(
        ROOT / ".ci" / "run",
        environment={
            "PYTHON": str(python),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": "x",
        },
    )
    assert done.returncode == 7
    assert re.findall(r"^PYTHON\w*", done.stdout, re.MULTILINE) == ["PYTHON"]


@pytest.mark.parametrize("page", [trust.README, trust.PAGE], ids=lambda page: page.name)
def test_every_row_of_trust_has_its_test(page: Path) -> None:
    rows = trust.rows_of(page.read_text(encoding="utf-8"))
    assert rows
    for claim, measured, allowed, test in rows:
        path, name = test.split("::")
        source = (ROOT / path).read_text(encoding="utf-8")
        said = [
            trust.HEADLINES.get(headline or "")
            if page == trust.README
            else pattern.fullmatch(claim) and claim
            for pattern, headline in trust.claims_in(source)
        ]
        assert f"def {name}(" in source, (
            f"{page.name} names {test}, which does not exist; run python -m tests.trust"
        )
        assert claim in said, (
            f"{page.name} claims {claim!r}, which {path} does not record; run python -m tests.trust"
        )
        assert measured <= allowed


def test_the_tables_of_trust_have_all_that_is_recorded() -> None:
    """README one row per headline, in order; the page a section for each folder whose tests record
    evidence."""
    assert [claim for claim, *_ in trust.rows_of(README)] == list(trust.HEADLINES.values())
    users = [
        path
        for path in (ROOT / "tests").rglob("test_*.py")
        if trust.claims_in(path.read_text(encoding="utf-8"))
    ]
    assert {str(path.parent.relative_to(ROOT / "tests")).strip(".") for path in users} == set(trust.SECTIONS)


def test_readme_points_at_files_that_exist() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert [p for p in links if not (ROOT / p).exists()] == []


# -- the tests themselves


def test_every_process_of_the_tests_has_a_time_limit() -> None:
    """They go through tests/process.py, so that none can hang the run."""
    # tests.trust and tests.mutations run pytest for a person who watches it
    alone = {"process.py", "trust.py", "mutations.py", Path(__file__).name}
    users = [
        path.name
        for path in (ROOT / "tests").rglob("*.py")
        if path.name not in alone
        and re.search(  # one that puts its own in place starts none
            r"subprocess\.(run|Popen|check_\w+|call)\b(?! = )|os\.system", path.read_text(encoding="utf-8")
        )
    ]
    assert users == []


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("ignored", [False, True])
def test_processes_of_the_tests_hear_ctrl_c_and_end(ignored: bool) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
    try:
        pressed = run("-c", "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('deaf')")
        assert signal.getsignal(signal.SIGINT) is (signal.SIG_IGN if ignored else signal.default_int_handler)
    finally:
        signal.signal(signal.SIGINT, before)
    assert pressed.returncode == -signal.SIGINT
    assert pressed.stderr.endswith("KeyboardInterrupt\n")


def test_a_process_that_hangs_is_ended_and_its_words_are_shown() -> None:
    """With what it started, which holds its pipes."""
    script = (
        "import subprocess, sys, time\nprint('so far', flush=True)\nsubprocess.run([sys.executable, "
        "'-c', 'import time; time.sleep(600)'])"
    )
    with pytest.raises(AssertionError, match=r"(?s)had not ended after 3 s.*so far"):
        run("-c", script, limit=3.0)


def test_the_quick_tests_exist() -> None:
    from tests.conftest import QUICK

    assert [name for name in QUICK if not (ROOT / "tests" / name).exists()] == []
    assert "--quick" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
