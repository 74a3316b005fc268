"""Forces and muscles of a model file against OpenSim, at random states within its ranges: differences by
quantity.

    python -c "from tests.opensim.parity_forces import report; report('MODEL.osim')"

prints the largest differences and where they are. tests/opensim/test_parity_forces.py has tolerances and
reasons.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import condyle as cd
from benchmarks.opensim_forces import about_forces
from benchmarks.opensim_process import OpenSimProcess
from condyle.opensim import read_osim

REPORTED = (
    "excitation",
    "activation",
    "length",
    "lengthening_speed",
    "fiber_length",
    "normalized_fiber_length",
    "fiber_velocity",
    "normalized_fiber_velocity",
    "pennation_angle",
    "pennation_angular_velocity",
    "tendon_length",
    "tendon_strain",
    "tendon_velocity",
    "tendon_force",
)
"""What muscles report, in order, as far as it is used here."""


PATIENCE = 600.0
"""So long OpenSim may take for one model [s]."""


def read(path: Path | str) -> cd.System:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return read_osim(path)


def given(system: cd.System, rows: list[dict[str, Any]], coordinates: list[str]) -> dict[str, Any]:
    """q, u, z and inputs of all rows, in the order of the System."""
    order = [coordinates.index(name) for name in system.coordinates]
    q, u = (np.array([[row[x][k] for k in order] for row in rows]) for x in "qu")
    names = [tuple(name.rsplit(".", 1)) for name in system.state_variables]
    z = np.array(
        [
            [
                row["z"].get(force, {}).get(state, default)
                for (force, state), default in zip(names, system.default("z"), strict=True)
            ]
            for row in rows
        ]
    )
    inputs = {name: np.array([row["controls"].get(name, 0.0) for row in rows]) for name in system.inputs}
    return {
        "q": q,
        "u": u,
        "order": order,
        "tail": {
            "t": 0.0,
            "z": z,
            "inputs": np.stack([inputs[n] for n in system.inputs], axis=1) if system.inputs else None,
        },
    }


def compare(path: Path | str, count: int = 3, seed: int = 0, share: float = 0.9) -> dict[str, Any]:
    """Differences, ours minus theirs, by quantity: (n, ...), with names."""
    system = read(path)
    over = [name for name in system.paths if system.force(name).path.wraps]
    theirs = OpenSimProcess(str(Path(path).resolve()), about_forces).ask(
        "forces", count, seed, share, over, list(system.inputs), patience=PATIENCE
    )
    rows = theirs["rows"]
    at = given(system, rows, theirs["coordinates"])
    q, u, tail = at["q"], at["u"], {k: v for k, v in at["tail"].items() if v is not None}
    out: dict[str, Any] = {"system": system, "rows": rows}
    known = [name for name in theirs["paths"] if name in system.paths]
    if known:
        ours = [system.paths.index(name) for name in known]
        own = [theirs["paths"].index(name) for name in known]
        lengths = np.asarray(system.path_lengths(q))[:, ours]
        speeds = np.asarray(system.path_speeds(q, u))[:, ours]
        out["length"] = (known, lengths - np.array([row["lengths"] for row in rows])[:, own])
        out["speed"] = (known, speeds - np.array([row["speeds"] for row in rows])[:, own])
        turning = [system.coordinates.index(name) for name in theirs["turning"]]
        arms = np.asarray(system.moment_arms(q))[:, ours][:, :, turning]
        out["arm"] = (known, arms - np.array([row["arms"] for row in rows])[:, own])
    out["alone"] = _alone(system, theirs, q, u, tail, at["order"])
    for name, off in (("udot", []), ("udot without", over)):
        try:
            udot = system.forward_dynamics(q, u, **tail, **({"disabled": _off(system, off)} if off else {}))
        except cd.errors.SingularError:  # bodies without mass at the end of a chain
            udot = np.full_like(u, np.nan)
        expected = np.array([row[name] for row in rows])[:, at["order"]]
        out[name] = (system.speeds, np.asarray(udot) - expected, expected)
    if system.muscles:
        out["tension"], out["fiber"] = _laws(system, theirs, q, u, tail)
        zdot = np.asarray(system.zdot(q, u, **tail))
        names = [tuple(name.rsplit(".", 1)) for name in system.state_variables]
        muscles = theirs["muscles"]
        pairs = [(k, muscles.index(m), s) for k, (m, s) in enumerate(names) if m in muscles]
        want = np.array([[row["rates"][m].get(s, np.nan) for _, m, s in pairs] for row in rows])
        out["rates"] = (
            [system.state_variables[k] for k, _, _ in pairs],
            zdot[:, [k for k, _, _ in pairs]] - want,
            want,
        )
    return out


def _off(system: cd.System, names: list[str]) -> list[str]:
    """These forces, beside those that are off by default."""
    return [*names, *(name for name in system._off if name not in names)]


def _laws(system: cd.System, theirs: dict[str, Any], q: Any, u: Any, tail: Any) -> tuple[Any, Any]:
    """Tensions and velocities of fibers at OpenSim's own lengths and speeds of paths: names, ours minus
    theirs,
    theirs."""
    rows, L, V = theirs["rows"], *(np.zeros((len(q), len(system.paths))) for _ in range(2))
    for k, name in enumerate(theirs["paths"]):
        if name in system.paths:
            at = system.paths.index(name)
            L[:, at], V[:, at] = (np.array([row[x][k] for row in rows]) for x in ("lengths", "speeds"))
    compiled = system.compiled
    flat = compiled.function("muscle_reports")(q, u, L, V, compiled.tails.make(tail))
    reports = np.asarray(compiled.shaped("muscle_reports", flat))
    known = list(REPORTED)
    tension, velocity = (reports[..., known.index(x)] for x in ("tendon_force", "fiber_velocity"))
    own = [theirs["muscles"].index(m) for m in system.muscles]
    T = np.array([[row["tension"][k] for k in own] for row in rows])
    v = np.array([[row["rates"][k].get("fiber_length", np.nan) for k in own] for row in rows])
    return (system.muscles, tension - T, T), (system.muscles, velocity - v, v)


def _alone(
    system: cd.System, theirs: dict[str, Any], q: Any, u: Any, tail: Any, order: list[int]
) -> dict[str, Any]:
    """Generalized forces of each force: ours minus theirs, and theirs."""
    zero = np.zeros_like(u)
    names = [f for f in system.forces if f != "gravity"]
    none = np.asarray(system.inverse_dynamics(q, u, zero, disabled=system.forces, **tail))
    out = {}
    for name in theirs["acting"]:
        own = [f for f in names if f == name or f.startswith(f"{name}.")]
        if own:
            off = [f for f in system.forces if f not in own]
            f = none - np.asarray(system.inverse_dynamics(q, u, zero, disabled=off, **tail))
            want = np.array([[row["alone"][name][k] for k in order] for row in theirs["rows"]])
            out[name] = (f - want, want)
    return out


def equilibrium(path: Path | str, count: int = 3, seed: int = 0, share: float = 0.9) -> dict[str, Any]:
    """States of fibers in equilibrium: ours and theirs by state variable, (n,)."""
    system = read(path)
    theirs = OpenSimProcess(str(Path(path).resolve()), about_forces).ask(
        "equilibrium", count, seed, share, patience=PATIENCE
    )
    order = [theirs["coordinates"].index(name) for name in system.coordinates]
    rows = theirs["rows"]
    q = np.array([[row["q"][k] for k in order] for row in rows])
    names = [tuple(name.rsplit(".", 1)) for name in system.state_variables]
    z = np.array(
        [
            [
                row["activation"].get(m, d) if s == "activation" else d
                for (m, s), d in zip(names, system.default("z"), strict=True)
            ]
            for row in rows
        ]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = np.asarray(system.muscles.equilibrium(q, z=z))
    out = {}
    for k, (m, s) in enumerate(names):
        if s != "activation" and m in rows[0]["found"]:
            out[f"{m}.{s}"] = (found[:, k], np.array([row["found"][m].get(s, np.nan) for row in rows]))
    return out


def report(path: str) -> None:
    found = compare(path)
    print(path)
    for name in ("length", "speed"):
        if name in found:
            who, d = found[name]
            worst = np.abs(d).max(axis=0)
            k = np.argsort(worst)[::-1][:6]
            print(
                f"  {name:8s} {worst.max():.2e}  median {np.median(worst):.1e}  "
                + ", ".join(f"{who[i]} {worst[i]:.1e}" for i in k)
            )
    for name in ("tension", "fiber"):
        if name in found:
            who, d, w = found[name]
            rel = np.abs(d).max(axis=0) / np.maximum(np.abs(w).max(axis=0), 1e-2)
            k = np.argsort(np.nan_to_num(rel))[::-1][:5]
            print(
                f"  {name:8s} {np.nanmax(rel) if np.isfinite(rel).any() else np.nan:.2e}  law alone  "
                f"" + ", ".join(f"{who[i]} {rel[i]:.1e}" for i in k)
            )
    force = {name: np.abs(d).max() / max(np.abs(w).max(), 1e-3) for name, (d, w) in found["alone"].items()}
    far = sorted(force, key=lambda n: -force[n])[:8]
    if force:
        print(
            f"  forces   {max(force.values()):.2e}  median {np.median(list(force.values())):.1e}  "
            + ", ".join(f"{n} {force[n]:.1e}" for n in far)
        )
    if "rates" in found:
        who, d, w = found["rates"]
        rel = np.abs(d).max(axis=0) / np.maximum(np.abs(w).max(axis=0), 1e-2)
        k = np.argsort(rel)[::-1][:6]
        print(
            f"  rates    {rel.max():.2e}  median {np.median(rel):.1e}  "
            + ", ".join(f"{who[i]} {rel[i]:.1e}" for i in k)
        )
    _, d, w = found["udot"]
    print(f"  udot     {np.abs(d).max() / np.abs(w).max():.2e}")
    if found["system"].muscles:
        e = equilibrium(path)
        d = {n: np.nanmax(np.abs(a - b)) if np.isfinite(b).any() else np.nan for n, (a, b) in e.items()}
        far = sorted(d, key=lambda n: -np.nan_to_num(d[n]))[:6]
        print(
            "  balance  " + ", ".join(f"{n} {d[n]:.1e}" for n in far),
            " median",
            f"{np.nanmedian(list(d.values())):.1e}" if d else "",
        )
