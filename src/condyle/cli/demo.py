"""`condyle demo`: the study of Ruggiero and Sicilia (2020), an elbow that bends, beside what OpenSim
computes."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import numpy as np

import condyle as cd
from condyle.cli.command_steps import CommandSteps
from condyle.cli.output import NewFolder, refuse_unwritable
from condyle.cli.terminal import say
from condyle.native.machine.ctrl_c import patient
from condyle.records import dataclass
from condyle.reports import report
from condyle.reports.analysis import CONFIGURATIONS, PAPER, Analysis, analyze, count
from condyle.reports.page import Section
from condyle.viewer.shown import has_screen

DATA = Path(__file__).parent / "data" / "arm26_opensim.csv"
FRAMES = 101
MIDDLE = slice(10, 91)
"""Frames that are compared: OpenSim's tools use accelerations of splines, which are inaccurate near the
ends."""
NUMBERS = {
    "kinematics": "7",
    "fibers": "12",
    "moments": "13",
    "activations_isometric": "14",
    "activations_active": "15",
    "forces_active": "16",
    "activations_passive": "17",
    "forces_passive": "18",
    "reserves_passive": "19",
    "reactions_passive": "20",
}


def run(output: Path | None, ending: str, force: bool, open_: bool = False) -> bool:
    """Run the whole demo. Returns True if all frames have been solved.

    Args:
        output: folder for report and tables; None is the first unused of condyle-demo, condyle-demo-2, ...
        ending: of the tables.
        force: overwrite what is there.
        open_: the scene in the browser, where there is a screen.
    """
    with patient():
        return _run(output, ending, force, open_)


def _run(output: Path | None, ending: str, force: bool, open_: bool) -> bool:
    refuse_unwritable(output, force)
    motion = elbow(cd.models.arm26())
    names = (*CONFIGURATIONS, *PAPER)
    with CommandSteps(count(motion.system, names) + 1) as steps:
        found = analyze(motion.system, motion, configurations=names, step=steps.step)
        opensim = cd.read_table(DATA, degrees=False)
        rows = differences(found, opensim)
        with steps.step("report"), NewFolder(output, "condyle-demo") as folder:
            for name, table in found.tables.items():
                table.save(folder.path / f"{name}.{ending}")
            (folder.path / "report.html").write_text(page(found, opensim, rows, ending), encoding="utf-8")
            cd.show(
                motion,
                folder.path / "scene.html",
                color=found.tables["forces_active"],
                title="An elbow bends",
                plot=["r_elbow_flex"],
                plots=[found.tables["moments"]],
            )
        seconds = steps.seconds
    print(f"\n  {'beside OpenSim 4.6':<44}{'largest difference':>20}{'largest value':>18}")
    for row in rows:
        print(f"  {row}")
    for problem in found.problems:
        say("FAILED", problem)
    print(
        f"\nDone in {seconds:.1f} s. Open {folder.path / 'report.html'} in a browser; {len(found.tables)} "
        f"tables and the moving arm, scene.html, are beside it.\n{NEXT}",
        flush=True,
    )
    if open_ and has_screen():
        webbrowser.open((folder.path / "scene.html").absolute().as_uri())
    return not found.problems


NEXT = """
Try next
  condyle demo                          again: the machine code now comes from the cache
  condyle show arm26 MOTION.mot         see your own motion
  condyle analyze arm26 MOTION.mot      the same study for it
  condyle analyze leg.py MOTION.mot     and for your own system, from a Python file"""


def elbow(system: cd.System) -> cd.Motion:
    """The elbow bends from 0 to 90 degrees in 1 s, at rest before and after; the shoulder does not move.

    q = pi/2 (10 s^3 - 15 s^4 + 6 s^5),   s = t / (1 s)
    """
    t = np.linspace(0, 1, FRAMES)
    q, u, udot = np.zeros((3, FRAMES, system.nq))
    k = system.coordinates.index("r_elbow_flex")
    q[:, k] = np.pi / 2 * (10 * t**3 - 15 * t**4 + 6 * t**5)
    u[:, k] = np.pi / 2 * (30 * t**2 - 60 * t**3 + 30 * t**4)
    udot[:, k] = np.pi / 2 * (60 * t - 180 * t**2 + 120 * t**3)
    return cd.Motion(system, t, q, u, udot)


@dataclass(frozen=True)
class Difference:
    """The largest difference between our numbers and OpenSim's, over the MIDDLE frames.

    Attributes:
        what: the compared quantity.
        largest: the difference.
        size: the largest value.
        unit: of both.
        why: they differ.
    """

    what: str
    largest: float
    size: float
    unit: str
    why: str

    def __str__(self) -> str:
        return f"{self.what:<44}{self.largest:>13.1e} {self.unit:<6}{self.size:>11.4g} {self.unit}"


COMPARED = (
    ("lengths", "lengths of muscles", "m", "OpenSim's wrapped lengths are approximate; ours are geodesics."),
    ("moment_arms", "moment arms", "m", "As the lengths, whose derivatives both are."),
    ("moments", "joint moments", "N m", "They do not: the shipped numbers have nine digits."),
    (
        "activations_isometric",
        "activations, without curves",
        "",
        "OpenSim's optimization uses moment arms that differ by up to 0.26 mm from its own lengths where muscles "
        "wrap.",
    ),
    ("activations_active", "activations, with curves", "", "Likewise."),
    ("forces_active", "muscle forces, with curves", "N", "Likewise."),
    ("reactions_active", "joint loads, with curves", "N, N m", "By the muscle forces."),
    (
        "activations_passive",
        "activations, passive forces: CMC",
        "",
        "Another method: Computed Muscle Control runs forward, with elastic tendons and delays of activation. "
        "The paper compares the two.",
    ),
    ("forces_passive", "muscle forces, passive forces: CMC", "N", "Likewise."),
    ("reserves_passive", "reserves, passive forces: CMC", "N m", "Likewise."),
)


def differences(found: Analysis, opensim: cd.Table) -> list[Difference]:
    """Our numbers beside OpenSim's, of each kind."""
    rows = []
    for name, what, unit, why in COMPARED:
        other = report.referred(opensim, name)
        assert other is not None, name
        largest = report.difference(found.tables[name], other, MIDDLE)
        assert largest is not None, name
        rows.append(Difference(what, largest, float(np.abs(other.values[MIDDLE]).max()), unit, why))
    return rows


CMC = (
    "OpenSim's curves here are those of another method, as in the paper: Computed Muscle Control runs "
    "forward in time, with elastic tendons and delays of activation. They are not expected to agree."
)


def page(found: Analysis, opensim: cd.Table, rows: list[Difference], ending: str) -> str:
    """The report."""
    lead = [
        "The elbow bends from 0 to 90 degrees in one second while the shoulder stays. From this motion alone "
        "follow joint moments, muscle lengths, muscle forces under four assumptions, and joint loads: the "
        "study of A. Ruggiero and A. Sicilia, <cite>Applied Sciences</cite> 10 (2020) 7760, with the numbers "
        "of its figures.",
        "The arm is OpenSim's Arm26, after Holzbaur, Murray and Delp (2005), by J. Reinbolt, A. Seth, A. "
        "Habib and S. Hamner, Creative Commons Attribution 3.0. Lines are Condyle's, broad pale dashes "
        "OpenSim 4.6's. Differences are the largest of frames 10 to 90: OpenSim's tools take accelerations "
        "from splines, which are off by up to 0.02 N m near the ends.",
        f"Made by Condyle {cd.__version__}, <code>condyle demo</code>.",
    ]
    titles = ["frames 10 to 90", "largest difference", "largest value", "why they differ"]
    table = (
        titles,
        [[row.what, f"{row.largest:.1e} {row.unit}", f"{row.size:.4g} {row.unit}", row.why] for row in rows],
    )
    return report.write(
        found,
        "An elbow bends: from motion to muscle forces and joint loads",
        lead,
        ending,
        opensim,
        MIDDLE,
        NUMBERS,
        [Section("Agreement of OpenSim and Condyle", table=table)],
        {"passive": CMC},
    )
