"""What a run found: times, claims with their targets, the machine; as tables and as JSON.

`python -m benchmarks.report FILE.json` prints the targets of a stored run as a table in Markdown.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Time:
    """Seconds a state (or a start-up, in `group` "first result") took at best, and the ratio to Condyle's."""

    group: str
    bodies: int
    case: str
    seconds: float
    ratio: float | None = None


@dataclass(frozen=True)
class Claim:
    """One number that has a target. `relation` is ">=" or "<="."""

    requirement: int
    what: str
    bodies: int
    value: float
    relation: str
    target: float
    unit: str = "x"

    @property
    def met(self) -> bool:
        return bool(self.value >= self.target if self.relation == ">=" else self.value <= self.target)


@dataclass
class Report:
    """Grows while the benchmarks run. `notes` says what was left out and why."""

    machine: dict[str, Any]
    settings: dict[str, Any]
    times: list[Time] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def print(self) -> None:
        from rich.console import Console
        from rich.table import Table

        console = Console(width=None if os.isatty(1) else 110)
        console.print(", ".join(f"{k} {v}" for k, v in self.machine.items()), highlight=False)
        times = Table(
            "what", "bodies", "case", "time", "ratio", title="Times (best round), and over Condyle's"
        )
        for row in self.times:
            times.add_row(
                row.group,
                str(row.bodies),
                row.case,
                duration(row.seconds),
                "" if row.ratio is None or row.ratio != row.ratio else f"{row.ratio:.2f}",
            )
        console.print(times)
        claims = Table("req.", "what", "bodies", "measured", "target", "", title="Targets")
        for c in self.claims:
            claims.add_row(
                str(c.requirement),
                c.what,
                str(c.bodies),
                f"{c.value:.3g} {c.unit}",
                f"{c.relation} {c.target:g} {c.unit}",
                "met" if c.met else "MISSED",
            )
        console.print(claims)
        for note in self.notes:
            console.print(f"note: {note}", highlight=False)
        missed = sum(not c.met for c in self.claims)
        console.print(
            f"{len(self.claims) - missed} of {len(self.claims)} targets met, {missed} missed. "
            "Other work on the machine moves these numbers either way: run more than once.",
            highlight=False,
        )

    def write(self, path: str | Path) -> None:
        """As JSON, under a temporary name first so that no half-written file is ever seen."""
        path = Path(path)
        data = {
            "machine": self.machine,
            "settings": self.settings,
            "times": [asdict(t) for t in self.times],
            "claims": [asdict(c) | {"met": c.met} for c in self.claims],
            "notes": self.notes,
        }
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        temporary.write_text(json.dumps(data, indent=1) + "\n")
        os.replace(temporary, path)


def duration(seconds: float) -> str:
    """With three digits, in the unit that suits; NaN, for what was not reached, as a dash."""
    if seconds != seconds:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def machine() -> dict[str, Any]:
    """CPU, cores we may use, lanes of a batch, versions of everything timed (None: not installed)."""
    from condyle.native.machine.jit import lane_width

    facts: dict[str, Any] = {
        "cpu": cpu_name(),
        "cores": cores(),
        "lanes": lane_width(),
        "python": platform.python_version(),
    }
    for package in ("condyle", "numpy", "casadi", "llvmlite", "pin", "mujoco", "opensim"):
        try:
            facts[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            facts[package] = None
    return facts


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def markdown(path: str | Path) -> str:
    """The targets of a stored run, a line each."""
    lines = ["| | bodies | measured | target | met |", "|---|---|---|---|---|"]
    for c in json.loads(Path(path).read_text())["claims"]:
        lines.append(
            f"| {c['what']} | {c['bodies']} | {c['value']:.3g} | {c['relation']} {c['target']:g} | "
            f"{'yes' if c['met'] else '**no**'} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(markdown(name))
