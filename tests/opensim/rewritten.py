"""Model files beside what cd.write_osim writes of them, both in live OpenSim, at the same states:

    python -m tests.opensim.rewritten FOLDER ...

prints for every .osim the largest relative difference of each quantity, and where it is. The same is asked of
OpenSim's own copy of the file (printToXML) where ours differs by more than 1e-9.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.opensim_process import OpenSimProcess
from benchmarks.parity import models
from tests.opensim.live_states import about_states

PATIENCE = 600.0
"""So long OpenSim may take for one question [s]."""
QUANTITIES = ("pose", "mass", "marker", "length", "speed", "tension", "rate", "rest", "force", "udot")
SIZES = {"pose": 1.0, "marker": 1.0, "length": 1.0, "speed": 1.0}
"""[m, m/s]: differences are over these, or over the largest value of what they are of."""
SMALL = 1e-6
"""What is less than this of the largest of its kind in the file counts as of this size."""


def ask(path: Path, question: str, *details: Any) -> Any:
    process = OpenSimProcess(str(path.resolve()), about_states)
    try:
        return process.ask(question, *details, patience=PATIENCE)
    finally:
        if process.connection is not None:
            process.process.kill()


def rewritten(path: Path, to: Path) -> None:
    import condyle as cd  # not above: OpenSim's process loads this file too

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        cd.write_osim(cd.read_osim(path), to)


def apart(one: dict[str, Any], two: dict[str, Any]) -> dict[str, tuple[float, str]]:
    """Largest difference by quantity, over the size of what it is of, and whose it is; what only one has, or
    what is not finite, counts as infinite. A quantity that is zero everywhere is left out."""
    out = {}
    for kind in QUANTITIES:
        a, b = one[kind], two[kind]
        if kind == "force":
            a, b = _together(a, b)
        largest = max((float(np.abs(v).max(initial=0.0)) for v in a.values()), default=0.0)
        found = []
        for name in a.keys() | b.keys():
            x, y = (np.asarray(v.get(name, np.nan)) for v in (a, b))
            x, y = (np.where(np.isfinite(v), v, np.nan) for v in (x, y))
            size = SIZES.get(kind) or max(float(np.abs(x).max(initial=0.0)), SMALL * largest) or 1.0
            off = float(np.abs(x - y).max(initial=0.0)) / size if x.shape == y.shape else np.inf
            found.append((off if np.isfinite(off) else np.inf, name))
        if largest > 0 or any(off for off, _ in found):
            out[kind] = max(found)
    return out


def _together(a: dict[str, Any], b: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parts of a force in the second, called force.part or force_part, as the one force of the first."""
    joined = {name: b[name] for name in a if name in b}
    for name, value in b.items():
        if name not in a:
            owner = next((n for n in a if n not in b and name.startswith((f"{n}.", f"{n}_"))), name)
            joined[owner] = joined.get(owner, 0.0) + value
    return a, joined


def compared(path: Path, count: int = 3, seed: int = 0) -> dict[str, Any]:
    """Differences between a file and what is written of it, and OpenSim's own copy where they are large."""
    with tempfile.TemporaryDirectory() as folder:
        ours, own = Path(folder) / "ours.osim", Path(folder) / "own.osim"
        rewritten(path, ours)
        told, before = ask(path, "drawn", count, seed)
        after = ask(ours, "numbers", told)
        out: dict[str, Any] = {"unset": before["unset"] + after["unset"], "ours": apart(before, after)}
        if max((v[0] for v in out["ours"].values()), default=0.0) > 1e-9:
            try:
                ask(path, "save", str(own))
                out["own"] = apart(before, ask(own, "numbers", told))
            except Exception as error:
                out["own"] = str(error)[:200]
        return out


def main(folders: list[str]) -> None:
    print("file | " + " | ".join(QUANTITIES))
    for path in models(folders):
        name = f"{path.parent.name}/{path.name}"
        try:
            found = compared(path)
        except Exception as error:
            print(f"{name} | {type(error).__name__}: {str(error)[:300]}", flush=True)
            continue
        print(
            f"{name} | "
            + " | ".join(f"{found['ours'][q][0]:.0e}" if q in found["ours"] else "-" for q in QUANTITIES),
            flush=True,
        )
        far = {q: v for q, v in found["ours"].items() if v[0] > 1e-9}
        if far or found["unset"]:
            print(
                "    ours:", {q: f"{v[0]:.1e} {v[1]}" for q, v in far.items()}, "not set:", found["unset"][:8]
            )
        if far and isinstance(found["own"], dict):
            print(
                "    OpenSim's own copy:",
                {q: f"{v[0]:.1e} {v[1]}" for q, v in found["own"].items() if v[0] > 1e-9},
                flush=True,
            )
        elif far:
            print("    OpenSim's own copy:", found["own"], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
