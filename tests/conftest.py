"""What every test shares: all cores, a fresh cache of machine code, and records for the tables of trust."""

from __future__ import annotations

import gc
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.trust import HEADLINES

_SCRATCH = pytest.StashKey[str]()
_records: list[dict] = []
WORKERS = 8  # at most; some tests use all cores themselves
QUICK = (
    "test_project.py",
    "test_readme_claims.py",
    "test_files.py",
    "native/calls/test_native_function.py",
    "native/programs/test_program_run.py",
    "native/machine/test_ctrl_c.py",
    "functions/test_elementary.py",
    "forces/test_two_point.py",
    "constraints/test_mechanisms.py",
    "system/test_system.py",
    "system/test_state.py",
    "system/test_operators.py",
    "system/test_prescribe.py",
    "integrate/test_simulate.py",
    "fit/test_frames.py",
    "maximal/test_equations.py",
    "cli/test_commands.py",
)
"""What --quick runs: about a minute, and something of every room."""


LONGEST = ("tests/test_project.py::test_mypy", "tests/test_docs.py::")
"""What begins first where several processes share the run, so that none waits for it at the end."""

OPTIMIZED = (
    "tests/native/",
    "tests/model/test_looped",
    "tests/cli/",
    "tests/dynamics/test_identities.py",
    "tests/integrate/test_simulate.py",
    "tests/test_readme_claims.py",
)
"""Whose code LLVM optimizes as it does for users. All others are compiled with the least effort: in a quarter of
the time, to code that computes the same twice as slowly."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--evidence-out", metavar="FILE", help="write the records of `evidence` as JSON, for tests.trust"
    )
    parser.addoption(
        "--optimize",
        metavar="LEVEL",
        help="LLVM's effort for all tests: 0 to 3; see OPTIMIZED in tests/conftest.py",
    )
    parser.addoption(
        "--quick", action="store_true", help="run some tests of every part, which takes about a minute"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if config.getoption("--quick") and collection_path.suffix == ".py":
        return collection_path.relative_to(Path(__file__).parent).as_posix() not in QUICK or None
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """The whole suite runs on all cores, each with a stretch of it; named files and tests run here, where -s
    and --pdb work.

    -n says otherwise. Comes before xdist's own, which makes workers of these numbers.
    """
    option, whole = config.option, config.args_source is pytest.Config.ArgsSource.TESTPATHS
    here = hasattr(config, "workerinput") or option.usepdb or option.collectonly or option.capture == "no"
    if whole and not here and getattr(option, "numprocesses", 0) is None and cores() > 1:
        option.numprocesses, option.dist = min(cores(), WORKERS), "worksteal"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long checks are left out unless -m asks for them; where processes share the run the longest come
    first."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))
    if "slow" not in config.option.markexpr:
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="run with -m slow"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Modules and items stay to the end: to look for garbage among them took a fifth of the time of making
    them, and later a twentieth of the time of the tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pytest_configure(config: pytest.Config) -> None:
    """Point this run, and every process that it starts, at an empty cache of its own. Workers of xdist share
    it."""
    if hasattr(config, "workerinput"):
        return
    scratch = tempfile.mkdtemp(prefix="condyle-tests-")
    config.stash[_SCRATCH] = scratch
    os.environ["CONDYLE_CACHE_DIR"] = str(Path(scratch, "cache"))
    os.environ["MPLCONFIGDIR"] = str(Path(scratch, "matplotlib"))
    # workers share the cores: threads of BLAS wait for each other there, and count while they wait (an SVD of
    # 60 rows took 34 CPU ms instead of 0.6)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault(
        "HYPOTHESIS_STORAGE_DIRECTORY", str(config.rootpath / ".pytest_cache" / "hypothesis")
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """How much effort LLVM spends, here and in the processes that the test starts."""
    level = item.config.getoption("--optimize") or ("1" if item.nodeid.startswith(OPTIMIZED) else "0")
    os.environ["CONDYLE_OPTIMIZE"] = level


def pytest_unconfigure(config: pytest.Config) -> None:
    if scratch := config.stash.get(_SCRATCH, None):
        shutil.rmtree(scratch, ignore_errors=True)


@pytest.fixture
def evidence(request: pytest.FixtureRequest) -> Callable[..., None]:
    """evidence(claim, measured, tolerance, headline=None): fail unless measured <= tolerance, and record the
    numbers.

    A claim is one short sentence in a reader's words; measured and tolerance share one unit, which the claim
    names. A headline is a key of tests.trust.HEADLINES: the record counts for that row of README too.
    `python -m tests.trust` writes docs/trust.md and README's table from these records.
    """

    def record(claim: str, measured: float, tolerance: float, headline: str | None = None) -> None:
        assert headline is None or headline in HEADLINES, f"{headline!r} is not in tests.trust.HEADLINES"
        row = {
            "claim": claim,
            "measured": float(measured),
            "tolerance": float(tolerance),
            "headline": headline,
            "test": request.node.nodeid,
        }
        request.node.user_properties.append(("evidence", row))
        assert measured <= tolerance, f"{claim}: measured {measured:.3g}, allowed {tolerance:.3g}"

    return record


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Reports carry the records from xdist's workers to the process that writes them."""
    if report.when == "call" and report.passed:
        _records.extend(row for name, row in report.user_properties if name == "evidence")


def pytest_sessionfinish(session: pytest.Session) -> None:
    out = session.config.getoption("--evidence-out")
    if out and not hasattr(session.config, "workerinput"):
        Path(out).write_text(json.dumps(_records, indent=1), encoding="utf-8")


CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window: one for all tests of a process, which allows no second Playwright."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next((p for name in CHROMIUMS if (p := shutil.which(name))), None)
    if found is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield started
        started.close()
