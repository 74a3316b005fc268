"""Model files in Condyle and in OpenSim, at random states: the page docs/parity.md.

    python -m benchmarks.parity FOLDER ...              prints what differs of each .osim in the folders
    python -m benchmarks.parity --write FOLDER ...      and writes the page
    python -m benchmarks.parity --rows FILE ...         keeps rows in a file: a run that was ended goes on

Each model has an OpenSim process of its own: what a file says of defaults stays in a process for good.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.opensim_model import STATION, about_model
from benchmarks.opensim_process import OpenSimProcess

PAGE = Path(__file__).resolve().parent.parent / "docs" / "parity.md"
STATES = 3
MECHANICS = (
    "pose [m, 1]",
    "Jacobian [m, 1]",
    "mass matrix",
    "ID at rest",
    "ID moving",
    "udot",
    "udot without wraps",
)
SURFACES = ("no surface", "one", "more")
MUSCLES = (*(f"{what}: {n}" for what in ("length", "arm", "fiber") for n in SURFACES), "tension")
ROUNDING = 1e-9
"""Accelerations and forces below this [m/s^2, N] are those of a system at rest: differences are absolute."""
BEGIN, END = "<!-- parity:begin -->", "<!-- parity:end -->"


def models(folders: list[str]) -> list[Path]:
    """All model files in some folders, in order."""
    return sorted(
        {
            path.resolve()
            for folder in folders
            for path in (Path(folder).rglob("*.osim") if Path(folder).is_dir() else [Path(folder)])
        }
    )


def compared(path: Path) -> dict[str, Any]:
    """Largest differences by column; a text where there is none."""
    import condyle as cd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        system = cd.read_osim(path)
    row: dict[str, Any] = {"dofs": system.nu, "notes": len(system.notes)}
    process = OpenSimProcess(str(path), about_model)
    try:
        rng = np.random.default_rng(0)
        q = system.default("q") + rng.uniform(-0.4, 0.4, (STATES, system.nq))
        u, udot = rng.normal(size=(2, STATES, system.nu))
        # nothing but gravity, as over there; massless bodies and paths out of reach are no matter
        off = [*(f for f in system.forces if f != "gravity"), *system.constraints, *system.motions]
        for name, speeds in (("ID moving", u), ("ID at rest", 0 * u)):
            theirs = process.ask("mechanics", list(system.coordinates), q, speeds, udot, patience=300)
            tau = system.inverse_dynamics(q, speeds, udot, disabled=off)
            row[name] = relative(tau, theirs["tau"])
        row["pose [m, 1]"] = max(
            (np.abs(matrix(system.body_pose(q, b)) - X).max() for b, X in theirs["poses"].items()),
            default=0.0,
        )
        row["Jacobian [m, 1]"] = max(
            (np.abs(system.station_jacobian(q, b, STATION) - J).max() for b, J in theirs["J"].items()),
            default=0.0,
        )
        if not system.nu:
            return row
        row["mass matrix"] = relative(system.mass_matrix(q), theirs["M"])
    except Exception as error:
        row["said"] = said(error, 120)
    finally:
        if process.connection is not None:
            process.process.kill()
    if "said" not in row:
        row |= forces(path)
    return row


def matrix(X: Any) -> Any:
    """R and p side by side, (n, 3, 4)."""
    return np.concatenate([X.R, X.p[..., None]], axis=-1)


def forces(path: Path) -> dict[str, Any]:
    """Path lengths and moment arms by how many surfaces a path has, tensions at OpenSim's lengths, fibers in
    equilibrium, and accelerations with all forces and without those whose paths have surfaces."""
    from tests.opensim.parity_forces import compare, equilibrium

    row: dict[str, Any] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = compare(path)
            if found["system"].muscles:
                row |= fibers(found["system"], equilibrium(path))
    except Exception as error:
        return {"udot": said(error, 60)}
    for what in ("length", "arm"):
        if what in found:
            names, off = found[what]
            surfaces = np.array([count(found["system"], n) for n in names])
            for k, title in enumerate(SURFACES):
                if (surfaces == k).any():
                    row[f"{what}: {title}"] = np.abs(off[:, surfaces == k]).max(initial=0.0)
            row["paths"] = "+".join(str(int((surfaces == k).sum())) for k in range(3))
    if "tension" in found:
        row["tension"] = relative(found["tension"][1] + found["tension"][2], found["tension"][2])
    for ours, theirs in (("udot", "udot"), ("udot without wraps", "udot without")):
        row[ours] = relative(found[theirs][1] + found[theirs][2], found[theirs][2])
    return row


def count(system: Any, name: str) -> int:
    """Surfaces of a force's path: 0, 1, or 2 for more."""
    return min(len(system.force(name).path.wraps), 2)


def fibers(system: Any, found: dict[str, Any]) -> dict[str, Any]:
    """Largest differences of fibers in equilibrium [m]; slack ones of length zero count as the shortest
    here."""
    row: dict[str, Any] = {}
    for name, (ours, theirs) in found.items():
        muscle, _, state = name.rpartition(".")
        off = np.abs(ours - np.maximum(theirs, 0.01 * system.force(muscle).optimal_fiber_length))
        if state == "fiber_length" and np.isfinite(off).any():
            title = f"fiber: {SURFACES[count(system, muscle)]}"
            row[title] = max(row.get(title, 0.0), float(np.nanmax(off)))
    return row


def said(error: Exception, most: int) -> str:
    """The first line of what an error says."""
    return str(error).split("\n")[0][:most].replace("|", "/")


def relative(ours: Any, theirs: Any) -> float | str:
    """Largest difference over the largest value; words where that is none."""
    size = np.abs(theirs).max(initial=0.0)
    if not np.isfinite(theirs).all():
        return "not finite there"
    off = float(np.abs(ours - theirs).max(initial=0.0))
    return "none" if size == 0 else off if size < ROUNDING else off / size


def row_of(path: Path) -> dict[str, Any]:
    """A row of the page; what went wrong, if it cannot be made."""
    try:
        return compared(path)
    except Exception as error:
        return {"said": said(error, 160)}


def text(value: Any) -> str:
    return (
        value
        if isinstance(value, str)
        else ""
        if value is None
        else (str(value) if isinstance(value, int) else f"{value:.0e}")
    )


def table(first: Sequence[str], columns: Sequence[str], found: dict[str, dict[str, Any]]) -> list[str]:
    """Lines of a table with a row for each model."""
    titles = ["model", *first, *columns]
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    for name, row in found.items():
        lines.append(
            f"| {name} | "
            + " | ".join([*(str(row[x]) for x in first), *(text(row.get(c)) for c in columns)])
            + " |"
        )
    return lines


def page(found: dict[str, dict[str, Any]]) -> str:
    """The tables of all models."""
    known = {name: row for name, row in found.items() if "said" not in row}
    unknown = [f"- {name}: {row['said']}" for name, row in found.items() if "said" in row]
    lines = [
        *table(("dofs",), MECHANICS, known),
        "",
        "### Paths and muscles",
        "",
        *table(("paths",), MUSCLES, {n: row for n, row in known.items() if "paths" in row}),
        *(["", "Not compared:", "", *unknown] if unknown else []),
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--rows", type=Path)
    given = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    kept = json.loads(given.rows.read_text()) if given.rows and given.rows.exists() else {}
    for path in models(given.folders):
        name = f"{path.parent.name}/{path.name}"
        row = found[name] = kept[name] if name in kept else row_of(path)
        print(name, {k: text(v) for k, v in row.items()}, flush=True)
        if given.rows:
            given.rows.write_text(json.dumps(kept | found, default=float))
    if given.write:
        before, _, after = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = after.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{page(found)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
