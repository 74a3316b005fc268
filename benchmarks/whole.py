"""Whole jobs beside OpenSim: processor seconds of fresh processes of `condyle run` and of OpenSim's own tool,
on the same setup files, the least of some in turns.

    python -m benchmarks.whole                           warm, all models and tools
    python -m benchmarks.whole --cold --only gait2354    from an empty cache too
    python -m benchmarks.whole --peer PYTHON             the interpreter that has opensim, else CONDYLE_PEER
    python -m benchmarks.whole --against FOLDER          another checkout of Condyle too
    python -m benchmarks.whole --subject                 another subject of the model from the cache of the first too

One thread, bytecode compiled. `again` is the second run of the same setup in one process, over OpenSim's
process. Peaks of memory are those of the processes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.start import ROOT, TREE

INFINITE = float("inf")
AGAIN = """
import sys, time, io, contextlib
from pathlib import Path
from condyle.opensim.setup import run_setup
run_setup(Path(sys.argv[1]))
least = []
for _ in range(3):
    begin = time.process_time()
    run_setup(Path(sys.argv[1]))
    least.append(time.process_time() - begin)
print("AGAIN", min(least))
"""


def spent(words: list[str], folder: Path, place: dict[str, str]) -> tuple[float, float, str]:
    """Processor seconds of a process, its peak of memory [MB] and what it said; infinite if it fails."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(words, cwd=folder, env=place, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    seconds = used.ru_utime + used.ru_stime
    return (seconds if process.returncode == 0 else INFINITE), used.ru_maxrss / 1e3, text


def environment(root: Path, cache: Path) -> dict[str, str]:
    left = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "CONDYLE_CACHE")}
    return left | {
        "CONDYLE_CACHE_DIR": str(cache),
        "CONDYLE_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(root / "src"), str(ROOT)]),
    }


class Row:
    """What is measured of a job: the least seconds and the peak [MB] by who does it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.peak: dict[str, float] = {}
        self.failed: dict[str, str] = {}

    def take(self, who: str, found: tuple[float, float, str]) -> None:
        seconds, peak, said = found
        self.seconds[who] = min(self.seconds.get(who, INFINITE), seconds)
        self.peak[who] = max(self.peak.get(who, 0.0), peak)
        if seconds == INFINITE:
            self.failed[who] = said[-300:]

    def ratio(self, who: str) -> str:
        peer = self.seconds.get("opensim", INFINITE)
        if who not in self.seconds or peer == INFINITE:
            return "-"
        return f"{self.seconds[who] / peer:.2f}"


def jobs(folder: Path, tool: str, peer: str, given: argparse.Namespace, roots: dict[str, Path]) -> Row:
    """One tool on one model, by all in turns."""
    row = Row()
    theirs = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    for turn in range(given.rounds + 1):
        opensim = [peer, "-m", "benchmarks.opensim_setups", f"{tool}.xml"]
        if peer and (turn or tool == "SO"):  # joint reactions read what static optimization writes
            row.take("opensim", spent(opensim, folder, theirs))
        for label, root in roots.items():
            cache = folder.parent / f"cache {label}"
            place = environment(root, cache)
            run = [sys.executable, "-m", "condyle", "run", f"{tool}.xml"]
            found = spent(run, folder, place)
            if turn:
                row.take(f"{label} warm", found)
            if given.subject and turn:
                other, filled = folder.parent / f"{folder.name} other", folder.parent / "filled"
                shutil.rmtree(filled, ignore_errors=True)
                shutil.copytree(cache, filled)
                row.take(f"{label} other subject", spent(run, other, environment(root, filled)))
            if given.cold and turn < 2:
                empty = folder.parent / "empty"
                shutil.rmtree(empty, ignore_errors=True)
                row.take(f"{label} cold", spent(run, folder, environment(root, empty)))
        if turn == 1:
            for label, root in roots.items():
                place = environment(root, folder.parent / f"cache {label}")
                seconds, peak, said = spent([sys.executable, "-c", AGAIN, f"{tool}.xml"], folder, place)
                at = said.rpartition("AGAIN ")[2]
                row.take(f"{label} again", (float(at) if seconds < INFINITE else INFINITE, peak, said))
    return row


def starts(place: Path, peer: str, rounds: int, roots: dict[str, Path]) -> dict[str, Row]:
    """Programs that only start, beside `import opensim`."""
    rows = {"condyle --help": Row(), "first answer of 30 bodies": Row()}
    words = {"condyle --help": ["-m", "condyle", "--help"], "first answer of 30 bodies": ["-c", TREE]}
    for turn in range(rounds + 1):
        for what, row in rows.items():
            for label, root in roots.items():
                found = spent(
                    [sys.executable, *words[what]], place, environment(root, place / f"cache {label}")
                )
                if turn:
                    row.take(f"{label} warm", found)
            if peer and turn:
                row.take("opensim", spent([peer, "-c", "import opensim"], place, dict(os.environ)))
    return rows


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--only", default="", help="a model")
    options.add_argument("--tools", default="", help="some tools, by commas")
    options.add_argument("--cold", action="store_true")
    options.add_argument("--subject", action="store_true")
    options.add_argument("--peer", default=os.environ.get("CONDYLE_PEER", ""), help="a python with opensim")
    options.add_argument("--against", type=Path, help="a folder with another checkout of Condyle")
    options.add_argument("--keep", type=Path, help="a file for the numbers, as JSON")
    given = options.parse_args()
    from benchmarks import whole_files

    roots = {"ours": ROOT} | ({"before": given.against.resolve()} if given.against else {})
    tools = given.tools.split(",") if given.tools else whole_files.TOOLS
    kept: dict[str, dict[str, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as top:
        if not given.tools:
            for what, row in starts(Path(top), given.peer, given.rounds, roots).items():
                tell(what, row, kept)
        for name, (model, *_) in whole_files.MODELS.items():
            if given.only not in name or not (whole_files.REFERENCE / model).exists():
                continue
            folder = Path(top) / name
            # by a process of its own: the peak of a process counts that of the one that starts it
            made = "import sys, pathlib, benchmarks.whole_files as f; f.write(sys.argv[1], pathlib.Path(sys.argv[2]))"
            subprocess.run([sys.executable, "-c", made, name, str(folder)], check=True, cwd=ROOT)
            if given.subject:
                made = "import sys, pathlib, benchmarks.whole_files as f; f.write_other(*map(pathlib.Path, sys.argv[1:]))"
                other = Path(top) / f"{name} other"
                subprocess.run([sys.executable, "-c", made, str(folder), str(other)], check=True, cwd=ROOT)
            for tool in tools:
                tell(f"{name} {tool}", jobs(folder, tool, given.peer, given, roots), kept)
    if given.keep:
        given.keep.write_text(json.dumps(kept, indent=1))


def tell(what: str, row: Row, kept: dict[str, dict[str, dict[str, float]]]) -> None:
    kept[what] = {"seconds": row.seconds, "peak": row.peak}
    parts = [
        f"{who} {s:.2f} s {'' if who == 'opensim' else f'({row.ratio(who)}) '}{row.peak[who]:.0f} MB"
        for who, s in row.seconds.items()
    ]
    print(f"{what:32} {'; '.join(parts)}", flush=True)
    for who, said in row.failed.items():
        print(f"    {who} FAILED: {said}", flush=True)


if __name__ == "__main__":
    main()
