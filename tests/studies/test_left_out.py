"""Paths that leave a surface out in some frames of a recorded motion: every study says so."""

from __future__ import annotations

import html
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import condyle as cd
from tests.cli.process import condyle_here

SYSTEM = """
import condyle as cd
system = cd.System(gravity=(0, -9.81, 0))
system.add_body("leg", mobilizer=cd.Pin(), mass=1.5, com=(0.1, 0, 0), inertia=(0.02, 0.01, 0.02), coordinates="hip")
wraps = [
    cd.paths.Wrap(cd.paths.Cylinder(0.1, quadrant=side), "ground", (x, 0.0, 0.0), name=name)
    for name, side, x in (("left", "y", -0.09), ("right", "-y", 0.09))
]
path = cd.paths.Path([("ground", (-0.5, 0, 0)), ("leg", (0.5, 0, 0))], wraps)
system.add_force("cord", cd.forces.PathSpring(path, 50.0, 0.5))
system.add_force("pull", cd.muscles.Thelen2003(path, 500, 0.3, 0.7, tendon="rigid"))
"""
"""Cylinders that reach into each other: near hip = 0 the cord would have to pass between them."""
T = np.linspace(0.0, 1.0, 21)
FIRST = 7
"""The frame of the first swing in which the cord leaves a cylinder."""
STUDIES: dict[str, Callable[..., object]] = {
    "inverse_dynamics": cd.inverse_dynamics,
    "joint_reactions": cd.joint_reactions,
    "muscle_analysis": cd.muscle_analysis,
    "induced_accelerations": cd.induced_accelerations,
    "static_optimization": lambda system, motion: cd.static_optimization(system, motion, reserves=100.0),
}


def swing(first: float) -> cd.Table:
    """The hip turns by 1 rad in 1 s."""
    return cd.Table(T, ["hip"], (first + T)[:, None], ["rad"])


def told(study: Callable[..., object], system: cd.System, motion: cd.Table) -> list[str]:
    with warnings.catch_warnings(record=True, action="always") as caught:
        study(system, motion)
    return [str(w.message) for w in caught if "taut" in str(w.message)]


def test_studies() -> None:
    """Each tells, each time, of the first frame, and of a motion that stays away from it nothing."""
    place: dict[str, cd.System] = {}
    exec(SYSTEM, place)
    system = place["system"]
    for k in (FIRST - 1, FIRST):
        seen = system.explain(system.state(q=swing(-2.0).values[k])).values[
            "path of 'cord': surfaces left out"
        ]
        assert seen == (k == FIRST)
    for name, study in STUDIES.items():
        for _ in range(2):
            assert told(study, system, swing(-3.0)) == [], name
            (text,) = told(study, system, swing(-2.0))
            assert text.startswith(f"{name}: at t = {T[FIRST]:g} s, frame {FIRST}, the path of 'cord'"), text
            assert "does not go over 'right'" in text


def test_condyle_analyze(tmp_path: Path) -> None:
    """A note that is printed and on the page: once, though several studies come across it."""
    (tmp_path / "leg.py").write_text(SYSTEM, encoding="utf-8")
    swing(-2.0).save(tmp_path / "swing.csv")
    done = condyle_here(
        "analyze", "leg.py", "swing.csv", cwd=tmp_path, CONDYLE_CACHE_DIR=os.environ["CONDYLE_CACHE_DIR"]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "swing-analysis" / "report.html").read_text(encoding="utf-8")
    for text in (done.stdout, html.unescape(page)):
        assert (
            text.count("inverse_dynamics: at t = 0.35 s, frame 7, the path of 'cord' finds no taut way") == 1
        )
        assert text.count("finds no taut way") == 1
