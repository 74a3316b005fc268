"""The tables of trust: `python -m tests.trust` runs the tests that record evidence and writes both.

docs/trust.md has one row per claim. Where several tests (or seeds) record the same claim, the row shows the
record that is closest to its tolerance. README.md has one row per headline, the closest record among all that
name it.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README, PAGE = ROOT / "README.md", ROOT / "docs" / "trust.md"
BEGIN, END = "<!-- trust:begin -->", "<!-- trust:end -->"

HEADLINES = {
    "moments": "joint moments of an arm's motion against OpenSim's solver [N m]",
    "arms": "moment arms of a leg's muscles, over its rolling knee, against OpenSim [m]",
    "activations": "static optimization of the arm against OpenSim's tool, whose wraps are not exact: "
    "activations",
    "formulations": "the same optimization in minimal and maximal coordinates: activations",
    "oracle": "accelerations of random trees of every joint against an independent dense program, in n "
    "cond(M) eps",
    "inverse": "inverse dynamics gives back the forces of forward dynamics, on these trees, relative",
    "energy": "rate of energy against the power of all forces, relative to the energy",
    "derivatives": "derivatives of all operators by all variables against differences of order 8, relative",
    "engines": "accelerations against Pinocchio and MuJoCo, trees with balls and free bodies, relative",
    "loops": "where motions end against OpenSim's Manager: a tree, four-bars, Bricard, Andrews [rad, rms]",
    "accuracy": "error of a run over accuracy and growth of perturbations, worst method and motion",
    "maximal": "accelerations, forces, reactions of trees with constraints: minimal against maximal "
    "coordinates, relative",
    "spline poses": "poses of spline curves and surfaces against 40 digits [m, 1]",
    "spline rates": "their Jacobians H and bias against 40 digits, relative",
    "spline energy": "energy of spline joints over 10 s at accuracy 1e-10, relative",
    "spline fits": "spline joints fitted to their own frames: error of control frames and values [m, rad]",
    "spline noise": "scatter of fitted spline joints against the Cramer-Rao bound, relative",
    "spline search": "inverse kinematics over a spline knee: error after a step over its square before it",
}

# of docs/trust.md: folders of tests, in the order of a reader's interest
SECTIONS = {
    "dynamics": "Identities of mechanics",
    "system": "Operators and their derivatives",
    "": "A leg whose knee is user Python",
    "verification": "Known answers",
    "models": "Ready models",
    "opensim": "Models of OpenSim",
    "opensim/setup": "Setup files of OpenSim",
    "io": "Files",
    "paths": "Paths over surfaces",
    "contact": "Contact",
    "cross": "Other engines",
    "maximal": "A second formulation",
    "constraints": "Constraints",
    "integrate": "Accuracy of runs",
    "fit": "Configurations",
    "studies": "Studies",
    "mobilizers": "Spline joints",
    "studies/joints": "Joints from measurements",
    "studies/kinematics": "Inverse kinematics",
    "studies/motion": "Recorded motions",
}


def measure() -> list[dict]:
    """Run the tests that use the fixture `evidence` and return their records."""
    users = sorted(
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if "evidence(" in path.read_text(encoding="utf-8")
    )
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "evidence.json")
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", f"--evidence-out={out}", *users], cwd=ROOT, check=True
        )
        return json.loads(out.read_text(encoding="utf-8"))


def worst(records: list[dict], key: str) -> dict[str, dict]:
    """The record closest to its tolerance for every value of `key`, in the order in which these first
    appear."""
    rows: dict[str, dict] = {}
    for record in records:
        known = rows.setdefault(record[key], record)
        if record["measured"] * known["tolerance"] > known["measured"] * record["tolerance"]:
            rows[record[key]] = record
    return rows


def table(rows: dict[str, dict]) -> str:
    lines = ["| claim | measured | allowed | test |", "|---|---|---|---|"]
    for claim, row in rows.items():
        test = row["test"].split("[")[0]
        measured = f"{row['measured']:.1e}" if row["measured"] else "0"
        lines.append(f"| {claim} | {measured} | {row['tolerance']:.0e} | `{test}` |")
    return "\n".join(lines)


def short(records: list[dict]) -> str:
    """README's table: one row per headline."""
    found = worst([record for record in records if record["headline"]], "headline")
    if missing := [headline for headline in HEADLINES if headline not in found]:
        raise SystemExit(
            f"No test recorded {missing}. Those that compare with other engines need the extra [peers]."
        )
    return table({text: found[headline] for headline, text in HEADLINES.items()})


def long(records: list[dict]) -> str:
    """The tables of docs/trust.md: one row per claim, one table per folder of tests."""
    parts = []
    for folder, title in SECTIONS.items():
        rows = [record for record in records if "/".join(record["test"].split("/")[1:-1]) == folder]
        parts.append(f"## {title}\n\n{table(worst(rows, 'claim'))}")
    return "\n\n".join(parts)


@functools.cache
def claims_in(source: str) -> list[tuple[re.Pattern[str], str | None]]:
    """What the calls of `evidence` in a test file can claim, and their headlines; the holes of an f-string
    match anything."""
    calls = [
        n
        for n in ast.walk(ast.parse(source))
        if isinstance(n, ast.Call) and ast.unparse(n.func) == "evidence"
    ]
    text = lambda part: re.escape(part.value) if isinstance(part, ast.Constant) else ".+"
    claims = []
    for call in calls:
        parts = getattr(call.args[0], "values", [call.args[0]])
        headline = next((ast.literal_eval(k.value) for k in call.keywords if k.arg == "headline"), None)
        claims.append((re.compile("".join(map(text, parts))), headline))
    return claims


def rows_of(page: str) -> list[tuple[str, float, float, str]]:
    """(claim, measured, allowed, test) of each row that is in a page."""
    lines = re.findall(r"^\| (?!claim ).*\|$", page.split(BEGIN)[1].split(END)[0], re.MULTILINE)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [
        (claim, float(measured), float(allowed), test.strip("`")) for claim, measured, allowed, test in cells
    ]


def write(path: Path, text: str) -> None:
    before, rest = path.read_text(encoding="utf-8").split(BEGIN)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def main() -> None:
    records = measure()
    tables = {README: short(records), PAGE: long(records)}
    for path, text in tables.items():
        write(path, text)


if __name__ == "__main__":
    main()
