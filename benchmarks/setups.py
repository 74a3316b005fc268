"""Setup files beside OpenSim: every one that is found is run by both, and every file that OpenSim writes is
compared, column by column.

    python -m benchmarks.setups FOLDER ... [--write] [--only WORD] [--rows FILE]

FOLDERs are copied, twice, and never written to. In those that have the models of the walking trials and the
arm, setup files that run all analyses are added. What OpenSim has written is what later setup files of both
begin with. `--write` puts the table into docs/coming-from-opensim.md; `--rows` keeps what folders gave in a
file, so that a run that was ended goes on with the next one.

Numbers: the largest difference of a column over the largest size in the columns of its kind (the same file
and ending), the worst column of all; sizes below 1e-3 count as that. Rows that both have are compared; of
forward runs, whose steps differ, the last row.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from benchmarks.opensim_setups import run_in_opensim
from benchmarks.setups_made import added, handed_on
from condyle.errors import CondyleError
from condyle.opensim.setup import run_setup
from condyle.opensim.setup.run import TOOLS
from tests.opensim.files import copied

PAGE = Path(__file__).resolve().parents[1] / "docs" / "coming-from-opensim.md"
SAME_TIME = 5e-9


@dataclass
class Compared:
    """One file of both.

    Attributes:
        name: of the file.
        rows: that both have.
        columns: that both have.
        error: the worst relative difference, and `where` it is.
        odd: what is not the same: a missing file, columns, rows, headers.
    """

    name: str
    rows: int = 0
    columns: int = 0
    error: float = 0.0
    where: str = ""
    odd: list[str] = field(default_factory=list)


def setups(folder: Path) -> Iterator[Path]:
    """Setup files beneath a folder, of tools that there are here."""
    for path in sorted(folder.rglob("*.xml")):
        try:
            root = ElementTree.parse(path).getroot()
        except ElementTree.ParseError:
            continue
        if len(root) and root[0].tag in TOOLS:
            yield path


def table(path: Path) -> tuple[list[str], list[str], np.ndarray]:
    """Header, labels and rows (m, n), time first."""
    lines = path.read_text().splitlines()
    end = next(k for k, line in enumerate(lines) if line.strip() == "endheader")
    labels = lines[end + 1].strip().split("\t")
    rows = np.array([[float(x) for x in line.split()] for line in lines[end + 2 :] if line.strip()])
    return [line.strip() for line in lines[:end]], [label.strip() for label in labels], rows


def compare(ours: Path, theirs: Path, last: bool) -> Compared:
    """Their file and ours; of the last row alone, if asked."""
    out = Compared(theirs.name)
    if not ours.exists():
        out.odd.append("not written")
        return out
    (head, labels, a), (other, known, b) = table(ours), table(theirs)
    if [x for x in labels if x not in known] or [x for x in known if x not in labels]:
        out.odd.append(f"columns: {len(labels)} and {len(known)}")
    elif labels != known:
        out.odd.append("columns in another order")
    if not last and [h for h in head if "nRows" not in h] != [h for h in other if "nRows" not in h]:
        out.odd.append("header")
    if last:
        a, b = a[-1:], b[-1:]
    else:
        at = [int(np.argmin(np.abs(b[:, 0] - t))) for t in a[:, 0]]
        near = [k for k, j in enumerate(at) if abs(b[j, 0] - a[k, 0]) < SAME_TIME]
        if len(near) != len(b) or len(near) != len(a):
            out.odd.append(f"rows: {len(a)} and {len(b)}, {len(near)} in both")
        a, b = a[near], b[[at[k] for k in near]]
    both = [label for label in known[1:] if label in labels]
    out.rows, out.columns = len(a), len(both)
    if not both or not len(a):
        return out
    a, b = a[:, [labels.index(x) for x in both]], b[:, [known.index(x) for x in both]]
    kind = [label.rpartition("_")[2] if theirs.stem.endswith(("Loads", "forces")) else "" for label in both]
    size = {k: max(np.abs(b[:, [i for i, x in enumerate(kind) if x == k]]).max(), 1e-3) for k in set(kind)}
    difference = np.nanmax(np.abs(a - b), axis=0) / [size[k] for k in kind]
    worst = int(np.argmax(difference))
    out.error, out.where = float(difference[worst]), both[worst]
    return out


def family(tool: str, file: str) -> str:
    """What a row of the table is about."""
    for word in (
        "StaticOptimization",
        "SO",
        "JointReaction",
        "ReactionLoads",
        "MuscleAnalysis",
        "ForceReporter",
        "BodyKinematics",
        "PointKinematics",
        "InducedAccelerations",
        "Kinematics",
        "Actuation",
    ):
        if word in file and tool in ("AnalyzeTool", "ForwardTool"):
            name = {"SO": "StaticOptimization", "ReactionLoads": "JointReaction"}.get(word, word)
            ends = {
                "accelerations": ("_acc.sto", "_dudt.sto", "_acc_global.sto", "_acc_bodyLocal.sto"),
                "speeds": ("Actuation_speed.sto",),
            }
            end = next((what for what, those in ends.items() if file.endswith(those)), "")
            return f"{name} {end}".strip()
    return tool


def run_both(path: Path, top: Path, ours: Path, theirs: Path) -> tuple[str, list[Compared]]:
    """What to say of a setup file, and the files that OpenSim wrote."""
    inside = path.relative_to(top)
    tool = ElementTree.parse(path).getroot()[0].tag
    before = {p: p.stat().st_mtime_ns for p in theirs.rglob("*") if p.is_file()}
    said = []
    try:
        run_in_opensim(theirs / inside)
        handed_on(theirs / inside, (ours / inside).parent)
    except Exception as error:
        said.append(f"OpenSim fails: {str(error).strip().splitlines()[-1][:120]}")
    try:
        run_setup(ours / inside)
    except (CondyleError, OSError) as error:
        said.append(f"Condyle refuses: {str(error)[:160]}")
    except Exception:
        said.append(f"CONDYLE BREAKS: {traceback.format_exc()[-600:]}")
    written = [
        p
        for p in sorted(theirs.rglob("*"))
        if p.suffix in (".sto", ".mot") and before.get(p) != p.stat().st_mtime_ns
    ]
    found = []
    if not any("Condyle" in x or "CONDYLE" in x for x in said):
        found = [compare(ours / p.relative_to(theirs), p, tool == "ForwardTool") for p in written]
    for p in [p for p in theirs.rglob("*") if p.is_file() and before.get(p) != p.stat().st_mtime_ns]:
        (ours / p.relative_to(theirs)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(p, ours / p.relative_to(theirs))  # both go on with the same files
    return f"{tool}{''.join(f'; {x}' for x in said)}", found


def found_in(folder: Path, only: str) -> Iterator[tuple[tuple[str, str], Compared]]:
    """Setup file and family of every file that OpenSim writes for a folder, and how far ours agrees."""
    with tempfile.TemporaryDirectory() as place:
        ours, theirs = (Path(place) / who for who in ("ours", "theirs"))
        for target in (ours, theirs):
            added(copied(folder, target))
        for path in setups(theirs):
            inside = path.relative_to(theirs)
            if only not in str(inside):
                continue
            tool, found = run_both(path, theirs, ours, theirs)
            print(f"{inside}: {tool}", flush=True)
            for c in found:
                yield (f"{folder.name}/{inside}", family(tool.partition(";")[0], c.name)), c
                if c.error > 1e-6 or c.odd:
                    print(f"    {c.name}: {c.error:.1e} {c.where} {'; '.join(c.odd)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--rows", type=Path)
    given = parser.parse_args()
    kept = json.loads(given.rows.read_text()) if given.rows and given.rows.exists() else {}
    rows: dict[tuple[str, str], list[Compared]] = {}
    for folder in given.folders:
        if folder.name not in kept:
            kept[folder.name] = [(*key, asdict(c)) for key, c in found_in(folder, given.only)]
        for path, what, c in kept[folder.name]:
            rows.setdefault((path, what), []).append(Compared(**c))
        if given.rows:
            given.rows.write_text(json.dumps(kept))
    text = "\n".join(
        [
            "| setup file | what | files | columns | rows | worst difference | in |",
            "|---|---|---|---|---|---|---|",
            *map(line, rows, rows.values()),
        ]
    )
    print(text)
    if given.write:
        page = PAGE.read_text()
        begin, end = "<!-- setups:begin -->", "<!-- setups:end -->"
        head, _, rest = page.partition(begin)
        PAGE.write_text(f"{head}{begin}\n{text}\n{end}{rest.partition(end)[2]}")


def line(key: tuple[str, str], found: list[Compared]) -> str:
    """A row of the table."""
    worst = max(found, key=lambda c: c.error)
    odd = "; ".join(dict.fromkeys(x for c in found for x in c.odd if x != "header"))
    place = f"{worst.where} of {worst.name}" if worst.error > 1e-9 else ""
    return (
        f"| {key[0]} | {key[1]} | {len(found)} | {sum(c.columns for c in found)} | {worst.rows} | "
        f"{worst.error:.0e} | {place}{' (' * bool(odd)}{odd}{')' * bool(odd)} |"
    )


if __name__ == "__main__":
    main()
