"""README's table of trust: `python -m tests.trust` runs the tests that record evidence and rewrites it.

One row a claim. Where several tests (or seeds) record the same claim, the row shows the one closest to its tolerance.
"""
from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- trust:begin -->", "<!-- trust:end -->"


def measure() -> list[dict]:
    """Run the tests that use the fixture `evidence` and return their records."""
    users = sorted(
        str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")
        if "evidence(" in path.read_text(encoding="utf-8")
    )
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "evidence.json")
        subprocess.run([sys.executable, "-m", "pytest", "-q", f"--evidence-out={out}", *users], cwd=ROOT, check=True)
        return json.loads(out.read_text(encoding="utf-8"))


def worst(records: list[dict]) -> list[dict]:
    """The record closest to its tolerance for every claim, in the order in which claims first appear."""
    rows: dict[str, dict] = {}
    for record in records:
        known = rows.setdefault(record["claim"], record)
        if record["measured"] * known["tolerance"] > known["measured"] * record["tolerance"]:
            rows[record["claim"]] = record
    return list(rows.values())


def table(records: list[dict]) -> str:
    lines = ["| claim | measured | allowed | test |", "|---|---|---|---|"]
    for row in worst(records):
        test = row["test"].split("[")[0]
        measured = f"{row['measured']:.1e}" if row["measured"] else "0"
        lines.append(f"| {row['claim']} | {measured} | {row['tolerance']:.0e} | `{test}` |")
    return "\n".join(lines)


def claims_in(source: str) -> list[re.Pattern[str]]:
    """What the calls of `evidence` in a test file can claim; the holes of an f-string match anything."""
    calls = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call) and ast.unparse(n.func) == "evidence"]
    claims = [getattr(call.args[0], "values", [call.args[0]]) for call in calls]
    text = lambda part: re.escape(part.value) if isinstance(part, ast.Constant) else ".+"
    return [re.compile("".join(map(text, parts))) for parts in claims]


def rows_of(readme: str) -> list[tuple[str, float, float, str]]:
    """(claim, measured, allowed, test) of each row that stands in README."""
    lines = readme.split(BEGIN)[1].split(END)[0].strip().splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [(claim, float(measured), float(allowed), test.strip("`")) for claim, measured, allowed, test in cells]


def main() -> None:
    path = ROOT / "README.md"
    before, rest = path.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n{table(measure())}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
