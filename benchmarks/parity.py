"""Model files in Condyle and in OpenSim, at random states: the page docs/parity.md.

    python -m benchmarks.parity FOLDER ...              prints a row for each .osim in the folders
    python -m benchmarks.parity --write FOLDER ...      and writes the page

Each model has an OpenSim process of its own: what a file says of defaults stays in a process for good.
"""
from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.opensim_model import STATION, about_model
from benchmarks.opensim_process import OpenSimProcess

PAGE = Path(__file__).resolve().parent.parent / "docs" / "parity.md"
STATES = 3
COLUMNS = ("pose [m, 1]", "Jacobian [m, 1]", "mass matrix", "ID at rest", "ID moving", "path length [m]",
           "tension", "udot")
BEGIN, END = "<!-- parity:begin -->", "<!-- parity:end -->"


def models(folders: list[str]) -> list[Path]:
    """All model files in some folders, in order."""
    return sorted({path.resolve() for folder in folders for path in (
        Path(folder).rglob("*.osim") if Path(folder).is_dir() else [Path(folder)])})


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
        q = system.default("q") + rng.uniform(-.4, .4, (STATES, system.nq))
        u, udot = rng.normal(size=(2, STATES, system.nu))
        # nothing but gravity, as over there; massless bodies and paths out of reach are no matter
        off = [*(f for f in system.forces if f != "gravity"), *system.constraints, *system.motions]
        for name, speeds in (("ID moving", u), ("ID at rest", 0 * u)):
            theirs = process.ask("mechanics", list(system.coordinates), q, speeds, udot, patience=300)
            tau = system.inverse_dynamics(q, speeds, udot, disabled=off)
            row[name] = relative(tau, theirs["tau"])
        row["pose [m, 1]"] = max((np.abs(matrix(system.body_pose(q, b)) - X).max()
                                  for b, X in theirs["poses"].items()), default=0.0)
        row["Jacobian [m, 1]"] = max((np.abs(system.station_jacobian(q, b, STATION) - J).max()
                                      for b, J in theirs["J"].items()), default=0.0)
        row["mass matrix"] = relative(system.mass_matrix(q), theirs["M"])
    except Exception as error:
        row["said"] = str(error).split("\n")[0][:120]
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
    """Path lengths, tensions at OpenSim's lengths, and accelerations."""
    from tests.opensim.parity_forces import compare

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = compare(path)
    except Exception as error:
        return {"udot": str(error).split("\n")[0][:60]}
    row: dict[str, Any] = {}
    if "length" in found:
        row["path length [m]"] = np.abs(found["length"][1]).max()
    if "tension" in found:
        row["tension"] = relative(found["tension"][1] + found["tension"][2], found["tension"][2])
    row["udot"] = relative(found["udot"][1] + found["udot"][2], found["udot"][2])
    return row


def relative(ours: Any, theirs: Any) -> float | str:
    """Largest difference over the largest value; words where that is none."""
    size = np.abs(theirs).max(initial=0.0)
    if not np.isfinite(theirs).all():
        return "not finite there"
    return "none" if size == 0 else float(np.abs(ours - theirs).max() / size)


def rows(paths: list[Path]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in paths:
        try:
            yield path, compared(path)
        except Exception as error:
            yield path, {"said": str(error).split("\n")[0][:160]}


def text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else f"{value:.0e}"


def main(arguments: list[str]) -> None:
    paths = models([a for a in arguments if a != "--write"])
    lines = ["| model | dofs | " + " | ".join(COLUMNS) + " |", "|---|---|" + "---|" * len(COLUMNS)]
    said = []
    for path, row in rows(paths):
        name = f"{path.parent.name}/{path.name}"
        if "said" in row:
            said.append(f"- {name}: {row['said'].replace('|', '/')}")
            print(said[-1], flush=True)
            continue
        lines.append(f"| {name} | {row['dofs']} | " + " | ".join(text(row.get(c)) for c in COLUMNS) + " |")
        print(lines[-1], flush=True)
    if "--write" in arguments:
        rest = "\n\nNot compared:\n\n" + "\n".join(said) if said else ""
        before, _, after = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = after.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"{rest}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
