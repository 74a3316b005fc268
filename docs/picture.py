"""Pictures of README and of the home page: `python docs/picture.py [walk] [elbow] [scene] [plots] [report]`, all by default.

walk    docs/img/walk.webp: a skeleton walks, with the ground's forces, muscles and curves
elbow   docs/img/elbow.png: the study of `condyle demo` beside OpenSim's
scene   docs/img/scene.png: the page of its scene, as Chromium shows it
plots   docs/img/plot_*.png: pictures of docs/guide/plots.md
report  docs/img/report.png: the report of a trial, as Chromium shows it
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import condyle as cd
from condyle.cli.demo import DATA, elbow
from condyle.reports.analysis import Analysis
from condyle.reports.report import referred
from condyle.table.panels import COLORS, PALE

OUT = Path(__file__).parent / "img" / "elbow.png"
INK = "#20303c"
SHOWN = (0, 50, 100)
"""Frames of the arm."""


def walk() -> None:
    """One cycle of a made-up subject, at half speed: all that is drawn is computed here."""
    subject = cd.models.synthetic_subject(duration=3.3)
    system, ground, t = subject.system, subject.ground_reactions, subject.motion.time
    motion = cd.Motion(system, t, subject.motion.values, subject.u, subject.udot)
    loads = [
        cd.ExternalLoad(f"foot_{s}", ground, f"{s}_force_", f"{s}_point_") for s in "rl"
    ]
    moments = cd.inverse_dynamics(system, motion, loads)
    muscles = cd.static_optimization(system, motion, loads, reserves=5.0)
    shown = {
        "ground reaction, right [N]": ground["r_force_y"],
        "knee moment, right [N m]": moments["knee_angle_r"],
        "soleus, right [N]": muscles.forces["soleus_r"],
    }
    curves = cd.Table(t, list(shown), np.stack(list(shown.values()), axis=1))
    cd.movie(
        system,
        OUT.with_name("walk.webp"),
        motion=subject.motion.between(1.1, 2.2),
        color=muscles.forces,
        arrows=loads,
        plots=[curves],
        plot=list(shown),
        speed=0.5,
        azimuth=85,
        elevation=7,
        zoom=0.95,
        size=(860, 410),
    )


def study_of_the_elbow() -> None:
    motion = elbow(cd.models.arm26())
    found = cd.analyze(motion.system, motion, configurations=("active",))
    opensim = cd.read_table(DATA, degrees=False)
    figure = plt.figure(figsize=(10, 5.6), layout="constrained", facecolor="white")
    axes = figure.subplot_mosaic(
        [["arm", "activations", "moments"], ["arm", "forces", "loads"]],
        width_ratios=(1.15, 1, 1),
    )
    arm(axes["arm"], found)
    curves(
        axes["moments"],
        found.tables["moments"],
        referred(opensim, "moments"),
        "joint moment [N m]",
    )
    curves(
        axes["activations"],
        found.tables["activations_active"],
        referred(opensim, "activations_active"),
        "activation",
        legend=True,
    )
    curves(
        axes["forces"],
        found.tables["forces_active"],
        referred(opensim, "forces_active"),
        "muscle force [N]",
    )
    names = [
        f"{b}_f{axis}" for b in ("r_humerus", "r_ulna_radius_hand") for axis in "xyz"
    ]
    loads, other = (
        found.tables["reactions_active"][names],
        referred(opensim, "reactions_active"),
    )
    assert other is not None
    curves(axes["loads"], size(loads), size(other[names]), "joint load [N]", legend=True)
    for name in ("forces", "loads"):
        axes[name].set_xlabel("time [s]")
    figure.savefig(OUT, dpi=140)


def scene() -> None:
    """The page that `cd.show` writes, as a browser shows it."""
    import tempfile

    from playwright.sync_api import sync_playwright

    from condyle.viewer.pictures import FLAGS, chromium

    motion = elbow(cd.models.arm26())
    muscles = cd.static_optimization(motion.system, motion, reserves=1.0)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "scene.html"
        cd.show(
            motion,
            path,
            color=muscles,
            title="An elbow bends",
            plots=[muscles.forces],
            plot=["r_elbow_flex", "BIClong.activation", "BRA"],
        )
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        tab = browser.new_context(viewport={"width": 1120, "height": 600}).new_page()
        tab.goto(path.as_uri() + "#still")
        tab.wait_for_selector("html[data-ready]", state="attached")
        tab.evaluate("condyle.draw(70)")
        tab.wait_for_timeout(3000)
        tab.screenshot(path=OUT.with_name("scene.png"))
        browser.close()


def size(forces: cd.Table) -> cd.Table:
    """How large the forces at shoulder and elbow are [N]."""
    return cd.Table(
        forces.time,
        ["shoulder", "elbow"],
        np.linalg.norm(forces.values.reshape(len(forces), 2, 3), axis=2),
    )


def curves(
    axes: Axes, table: cd.Table, other: cd.Table | None, ylabel: str, legend: bool = False
) -> None:
    for k, (name, color) in enumerate(zip(table.names, COLORS, strict=False)):
        axes.plot(
            table.time, table[name], color=color, linewidth=2.4 - 0.2 * k, label=name
        )
        if other is not None:
            axes.plot(other.time, other[name], color=color, **PALE)
    axes.plot([], [], color=INK, label="OpenSim", **PALE)
    axes.set_ylabel(ylabel)
    axes.margins(x=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.2)
    if legend:
        axes.legend(frameon=False, fontsize=8)


def arm(axes: Axes, found: Analysis) -> None:
    """Bones and muscles from the side, at some frames; muscles as broad as their forces."""
    motion, system = found.motion, found.motion.system
    for i, fade in zip(SHOWN, np.linspace(0.35, 1.0, len(SHOWN)), strict=True):
        q = motion.q[i]
        bones = [
            ("r_humerus", (0, 0, 0)),
            ("r_ulna_radius_hand", (0, 0, 0)),
            ("r_ulna_radius_hand", (0, -0.24, 0)),
        ]
        p = np.array([system.station_position(q, body, at) for body, at in bones])
        axes.plot(
            p[:, 0],
            p[:, 1],
            color=INK,
            linewidth=9,
            alpha=0.18 * fade,
            solid_capstyle="round",
        )
        polygons = system.path_points(q)
        for name, color in zip(system.muscles, COLORS, strict=False):
            x, y, _ = polygons[name].T
            axes.plot(
                x,
                y,
                color=color,
                alpha=fade,
                linewidth=0.8 + found.tables["forces_active"][name][i] / 40,
            )
    axes.set(aspect="equal", xlabel="forward [m]", ylabel="up [m]")
    axes.spines[["top", "right"]].set_visible(False)


def subject_walks() -> tuple[Any, cd.Motion, list[cd.ExternalLoad]]:
    """A made-up subject, its motion and the ground's forces."""
    made = cd.models.synthetic_subject(duration=2.2)
    t, ground = made.motion.time, made.ground_reactions
    motion = cd.Motion(made.system, t, made.motion.values, made.u, made.udot)
    return (
        made,
        motion,
        [
            cd.ExternalLoad(f"foot_{s}", ground, f"{s}_force_", f"{s}_point_")
            for s in "rl"
        ],
    )


def plots() -> None:
    made, motion, loads = subject_walks()
    moments = cd.inverse_dynamics(made.system, motion, loads)
    powers = cd.joint_powers(made.system, motion, moments)
    motion.plot(path=OUT.with_name("plot_motion.png"))
    moments.plot(
        "knee_angle_r",
        "knee_angle_l",
        width="column",
        path=OUT.with_name("plot_column.png"),
    )
    angles = motion.table()[list(made.system.coordinates)]
    columns = [
        f"{j}_{s}" for j in ("hip_flexion", "knee_angle", "ankle_angle") for s in "lr"
    ]
    text = "joints x (angle, moment, power)"
    path = OUT.with_name("plot_grid.png")
    angles.plot(moments, powers, *columns, grid=text, path=path)


def report() -> None:
    """The top of the page, and where its joints begin."""
    from playwright.sync_api import sync_playwright

    from condyle.viewer.pictures import FLAGS, chromium

    made, motion, loads = subject_walks()
    found = cd.analyze(made.system, motion, loads, configurations=["active", "passive"])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "walk.html"
        found.report(path, title="A walk: muscle forces and joint loads")
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        tab = browser.new_page(viewport={"width": 1280, "height": 1500})
        tab.goto(path.as_uri())
        ready = tab.frame_locator("iframe").locator("html[data-ready]")
        ready.wait_for(state="attached", timeout=60_000)
        tab.evaluate(
            "s = document.querySelector('#clock input'); s.value = 0.55; s.dispatchEvent(new Event('input'))"
        )
        tab.wait_for_timeout(3000)
        tab.screenshot(path=OUT.with_name("report.png"))
        browser.close()


DRAWN = {
    "walk": walk,
    "elbow": study_of_the_elbow,
    "scene": scene,
    "plots": plots,
    "report": report,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or DRAWN:
        DRAWN[name]()
