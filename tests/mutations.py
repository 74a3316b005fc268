"""Mutations of physics, numerics and file code: how many of them do the tests notice?

    python -m pytest -p tests.mutations --calls-out calls.json     # 3.12 or later: which test calls which function
    python -m tests.mutations calls.json --seed 1 --out mutations.md

A mutation turns one sign, factor, comparison, constant or sine of a random function into another one (`places`).
It is killed when a test that calls the function fails. Survivors are printed, to be read: a mutation that changes
no answer (a threshold, a guard of 1e-300, what a plot looks like) goes into EQUIVALENT with its reason, any other
one is a test to write.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "condyle"
SHARES = {
    "physics": (26, "dynamics mobilizers forces muscles contact paths constraints laws maximal"),
    "numerics": (22, "integrate native fit functions spatial model studies"),
    "files": (12, "io opensim table"),
}
"""How many mutations each kind of code gets, of 60, and its rooms."""
LIMIT = 900
"""Seconds for the tests of one mutation; more counts as killed: it loops."""
MOST_TESTS = 60
"""Tests tried per mutation: those of the room first, and of these the ones that call the fewest functions."""
EQUIVALENT: dict[str, str] = {
    "k = np.arange(count) + 0.625": "where searches start; any even set of directions does",
    "uneven = 0.5 + 0.625 * np.cos(1 + 2.4 * np.arange(len(b)))": "breaks ties between equal answers",
    "length = CurveLength(MODES, 2 * MODES + 1)": "more points of a quadrature that is exact already",
    "whole = len(members) - len(members) % several if len(members) >= 2 / several else 0": "which code is rolled into loops: speed only",
    "Q = U[:, : len(s)][:, s > RANK * max(s.max(initial=0.0), 1.25e-300)]": "a guard against 0",
    "if small or there.cost <= at.cost * (1 + 1e-9) - 1e-28 * size**2 * N:": "when a fit that cannot improve ends",
    "if main.n_instructions() * _directions(ydot, x[1]) > 4 * WHOLE:": "which of two equal programs is built: speed only",
    "even = np.linspace(0, len(t) - 1, min(BLOCKS, len(t) + 1) + 1).round().astype(int)": "rows that occur twice count once",
    "shift = ca.fmax(0, 1e-3 * size - (mean - half)) * (mean - half < 1.2499999999999999e-06 * size)  # (35)": "where a search starts",
    "touching = any_of(*(all_of(gap, w <= NO_GAP / length) for gap, w in zip(gaps, wide, strict=True)))": "a threshold",
    "converged = all_of(largest <= CONVERGED / length, *exact)": "a threshold: when Newton's steps end",
    "halley = c - r * J / (J * J + r * bend / 2)": "quick steps; bisection takes over where they are not",
    "scale = 1 * np.sqrt(np.maximum(np.diag(Y), 1e-300))": "rows of a pseudoinverse are scaled, and scaled back",
    "turn = np.mod((turn + turn[0]) * _sign(np.sin(np.diff(turn)).sum()), 2 * np.pi)": "where a fit starts",
    "curve = spline(t, x[:, None], 5 if len(t) < 6 else 3)": "a guess",
    "at = y + 0.25 * (k + (len(columns) - 1) / 2)": "where a plot draws bars",
    "if now and len(pad) + len(now) + len(item) - 1 > WIDTH:": "where lines of a file break",
    "allowed = np.flatnonzero(T[:, entering] > 1.2499999999999999e-11 * size)": "a threshold",
    "part, turn = label.min(axis=0), label[0] < label[1]": "the fewer faces are turned, whichever count first",
    'same = ca.if_else(newton * s["dphi"] < 0, s["same"] + 1, 0)  # slow from one side: further, or halve': "how quickly a search ends",
    'start, end = setup.numbers("time_range", (+np.inf, np.inf), placer)': "no time range in either case",
    "length = min(last - first, W * max(1, round(KEPT / (8 / W * sum(self.kept.values())))))": "how many steps share memory",
    "ca.logic_and(way * t > way * t_end, row < rows),": "the loop returns after each step and is called again",
    "rho = ca.fmax(rho, ca.if_else(h > tolerance, 2 / model / (part * h), 0))": "a weight of a merit function",
}
"""Mutated lines that change no answer, and why."""


@dataclass(frozen=True)
class Mutation:
    """One change of one line."""

    kind: str
    path: str
    function: str
    line: int
    before: str
    after: str
    text: str
    """The whole file after the change."""


def places(path: Path) -> Iterator[tuple[int, int, str, str, int]]:
    """Offset, length, replacement, function and its first line, for every place that may change."""
    raw = path.read_bytes()
    starts = [0]
    for line in raw.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)

    def begin(node: ast.expr) -> int:
        return starts[node.lineno - 1] + node.col_offset

    def end(node: ast.expr) -> int:
        return starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[operator]

    def between(a: ast.expr, b: ast.expr, sign: str, other: str) -> Iterator[tuple[int, int, str]]:
        gap = raw[end(a) : begin(b)].decode()
        if gap.strip() == sign:
            yield end(a) + gap.find(sign), len(sign), other

    def changes(node: ast.AST) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.BinOp(left=a, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() as op, right=b):
                texts = (ast.List, ast.Tuple, ast.JoinedStr)
                if any(isinstance(x, texts) or isinstance(getattr(x, "value", 0), str) for x in (a, b)):
                    return
                sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}[type(op)]
                yield from between(a, b, sign, {"+": "-", "-": "+", "*": "/", "/": "*"}[sign])
            case ast.Compare(
                left=a, ops=[ast.Lt() | ast.Gt() | ast.LtE() | ast.GtE() as op], comparators=[b]
            ):
                sign = {ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">="}[type(op)]
                yield from between(a, b, sign, ">" if "<" in sign else "<")
            case ast.Constant(value=float(x)) if x:
                yield begin(node), end(node) - begin(node), repr(1.25 * x)
            case ast.UnaryOp(op=ast.USub(), operand=x) if not isinstance(x, ast.Constant):
                yield begin(node), 1, "+"
            case ast.Attribute(attr="sin" | "cos" as name):
                yield end(node) - 3, 3, {"sin": "cos", "cos": "sin"}[name]

    def visit(node: ast.AST, function: tuple[str, int] | None) -> Iterator[tuple[int, int, str, str, int]]:
        match node:
            case ast.Raise() | ast.JoinedStr() | ast.Assert():
                return
            case ast.FunctionDef(name=name, decorator_list=decorators):
                first = min([node.lineno, *(d.lineno for d in decorators)])
                for part in node.body:
                    yield from visit(part, (name, first))
                return
            case ast.AnnAssign(value=value):
                if value is not None:
                    yield from visit(value, function)
                return
        if function:
            for change in changes(node):
                yield *change, *function
        for part in ast.iter_child_nodes(node):
            yield from visit(part, function)

    yield from visit(ast.parse(raw), None)


def drawn(seed: int, calls: dict[str, list[str]], count: int) -> Iterator[tuple[Mutation, list[str]]]:
    """Mutations, one per function, with the tests that call it."""
    rng = random.Random(seed)
    for kind, (share, rooms) in SHARES.items():
        files = [path for room in rooms.split() for path in sorted((PACKAGE / room).rglob("*.py"))]
        pool = [(path, place) for path in files for place in places(path)]
        rng.shuffle(pool)
        seen, left = set(), share * count // 60
        for path, (at, length, other, function, first) in pool:
            name = path.relative_to(ROOT / "src").as_posix()
            if (name, first) in seen or not left:
                continue
            raw = path.read_bytes()
            text = raw[:at] + other.encode() + raw[at + length :]
            row = raw[:at].count(b"\n")
            before, after = (t.decode().split("\n")[row].strip() for t in (raw, text))
            if after in EQUIVALENT:
                continue
            seen.add((name, first))
            left -= 1
            called = calls.get(f"{name}:{function}:{first}", [])
            yield Mutation(kind, name, function, row + 1, before, after, text.decode()), called


def killer(mutation: Mutation, tests: list[str], folder: Path) -> str:
    """The first test that fails, "" if none does."""
    target = folder / "src" / mutation.path
    target.write_text(mutation.text, encoding="utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
        environment = os.environ | {"PYTHONPATH": str(folder / "src")}
        found = subprocess.run(
            [*command, *tests], cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return "takes too long"
    finally:
        shutil.copy(ROOT / "src" / mutation.path, target)
    if found.returncode == pytest.ExitCode.USAGE_ERROR and "found no collectors" in found.stderr:
        return "does not start"
    if found.returncode == pytest.ExitCode.USAGE_ERROR:
        raise SystemExit(f"the record names tests that this commit does not have:\n{found.stderr}")
    if found.returncode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return ""
    failed = [line for line in found.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0].partition(" ")[2] if failed else "does not start"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("calls", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    calls = json.loads(options.calls.read_text(encoding="utf-8"))
    size: dict[str, int] = {}
    for called in calls.values():
        for test in called:
            size[test] = size.get(test, 0) + 1
    lines = ["| kind | where | before | after | killed by |", "|---|---|---|---|---|"]
    killed = total = 0
    with tempfile.TemporaryDirectory(prefix="condyle-mutations-") as scratch:
        folder = Path(scratch, "tree")
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", "__pycache__", ".pytest_cache"))
        if (shared := ROOT.parent / "shared").exists():
            Path(scratch, "shared").symlink_to(shared)
        for mutation, tests in drawn(options.seed, calls, options.count):
            room = "tests/" + mutation.path.split("/")[1]
            near = sorted(tests, key=lambda test: (not test.startswith(room), size[test]))[:MOST_TESTS]
            by = killer(mutation, near, folder) if near else ""
            if not by and len(near) < MOST_TESTS and (folder / room).exists():
                by = killer(
                    mutation, [room], folder
                )  # programs are traced once: who uses one may not trace it
            killed, total = killed + bool(by), total + 1
            cells = [f"{mutation.path}:{mutation.line} {mutation.function}", mutation.before, mutation.after]
            cells = [cell.replace("|", "\\|") for cell in cells]
            lines.append(f"| {mutation.kind} | " + " | ".join([*cells, by or "**survives**"]) + " |")
            print(f"{killed}/{total}", lines[-1], flush=True)
            if options.out:
                options.out.write_text(
                    "\n".join([*lines, "", f"{killed} of {total} killed"]), encoding="utf-8"
                )


# -- the plugin that records which test calls which function

_calls: dict[str, set[str]] = {}
_now: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--calls-out", metavar="FILE", help="write which test calls which function, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--calls-out"):
        return
    events = sys.monitoring  # type: ignore[attr-defined]
    events.use_tool_id(events.PROFILER_ID, "calls")
    source = str(ROOT / "src") + os.sep

    def start(code: object, _: int) -> object:
        name = code.co_filename  # type: ignore[attr-defined]
        if name.startswith(source) or "/condyle/" in name:
            place = "condyle/" + name.rpartition("/condyle/")[2].replace(os.sep, "/")
            _now.add(f"{place}:{code.co_name}:{code.co_firstlineno}")  # type: ignore[attr-defined]
        return events.DISABLE

    events.register_callback(events.PROFILER_ID, events.events.PY_START, start)
    events.set_events(events.PROFILER_ID, events.events.PY_START)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if item.config.getoption("--calls-out"):
        _now.clear()
        sys.monitoring.restart_events()  # type: ignore[attr-defined]
    answer = yield
    for name in _now:
        _calls.setdefault(name, set()).add(item.nodeid)
    return answer


def pytest_sessionfinish(session: pytest.Session) -> None:
    out = session.config.getoption("--calls-out")
    if not out:
        return
    worker = getattr(session.config, "workerinput", {}).get("workerid", "")
    text = json.dumps({name: sorted(tests) for name, tests in _calls.items()})
    Path(f"{out}.{worker}" if worker else out).write_text(text, encoding="utf-8")
    if not worker:  # those of the workers, who end before
        merged: dict[str, set[str]] = {name: set(tests) for name, tests in _calls.items()}
        for part in Path(out).parent.glob(f"{Path(out).name}.gw*"):
            for name, tests in json.loads(part.read_text(encoding="utf-8")).items():
                merged.setdefault(name, set()).update(tests)
            part.unlink()
        text = json.dumps({name: sorted(tests) for name, tests in sorted(merged.items())})
        Path(out).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
