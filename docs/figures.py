"""Figures of tutorials and guides: `python docs/figures.py [PAGE ...]` runs the blocks of a page, as its test does, and
draws docs/img/NAME.png from the variables that they leave. Needs Chromium for skeletons."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import condyle as cd

DOCS = Path(__file__).resolve().parent
IMG = DOCS / "img"
BLOCK = re.compile(
    r"^(?:```python|<!-- before)\n(.*?)^(?:```|-->)$", re.MULTILINE | re.DOTALL
)
SIZE = (760, 480)
"""Of pictures [pixels]."""


def main(pages: list[str]) -> None:
    for page in pages or FIGURES:
        text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
        with (
            tempfile.TemporaryDirectory() as empty,
            contextlib.chdir(empty),
            warnings.catch_warnings(action="ignore"),
        ):
            Path("page.py").write_text("\n".join(BLOCK.findall(text)))
            with contextlib.redirect_stdout(io.StringIO()):
                v = SimpleNamespace(**runpy.run_path("page.py"))
            for name, draw in FIGURES[page].items():
                made = draw(v, IMG / f"{name}.png")
                if made is not None:
                    made.savefig(IMG / f"{name}.png", dpi=110)
                    plt.close("all")
                small(IMG / f"{name}.png")


def small(path: Path) -> None:
    """The same picture with 128 colors: a quarter of its size."""
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)


def panels(
    *columns: tuple[str, dict[str, tuple[Any, Any]]], xlabel: str = "time [s]"
) -> Any:
    """Panels side by side: {label: (x, y)} under a label of the y axis; 'truth' is dashed."""
    figure, axes = plt.subplots(
        1, len(columns), figsize=(8.6, 2.9), layout="constrained", squeeze=False
    )
    for one, (ylabel, lines) in zip(axes[0], columns, strict=True):
        for label, (x, y) in lines.items():
            dashed = {"color": "0.2", "ls": "--", "lw": 1} if "truth" in label else {}
            one.plot(x, y, label=label, **dashed)
        one.set(ylabel=ylabel, xlabel=xlabel)
        one.margins(x=0)
        one.spines[["top", "right"]].set_visible(False)
        one.grid(alpha=0.2)
        one.legend(frameon=False, fontsize=8)
    return figure


def skeleton(system: Any, path: Path, t: float | None = None, **options: Any) -> None:
    """A pose, as near as the picture lets it be: of a motion, a moment."""
    motion = options.get("motion")
    if t is not None:
        options |= {"t": t} | (
            {"motion": motion.between(t, t + 0.05)} if motion is not None else {}
        )
    cd.picture(system, path, **{"size": SIZE, **options})


def over(
    table: Any, names: dict[str, str], factor: float = 1.0
) -> dict[str, tuple[Any, Any]]:
    return {label: (table.time, factor * table[name]) for label, name in names.items()}


LEGS = {"hip": "hip_flexion_r", "knee": "knee_angle_r", "ankle": "ankle_angle_r"}
MUSCLES = {"soleus": "soleus_r", "vasti": "vasti_r", "gluteus maximus": "glut_max_r"}
DEG = 180 / np.pi


def truths(
    table: Any, names: dict[str, str], factor: float = 1.0
) -> dict[str, tuple[Any, Any]]:
    return {f"{label}, truth": xy for label, xy in over(table, names, factor).items()}


def loads_of(v: Any) -> Any:
    weight = 9.81 * 68
    lines = {
        label: (v.loads.time, -v.loads[f"{body}_fy"] / weight)
        for label, body in (("hip", "femur_r"), ("knee", "tibia_r"), ("ankle", "foot_r"))
    }
    return panels(("compression [body weights]", lines))


def stood_up(v: Any) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 2.9), layout="constrained")
    for k in range(0, len(v.answer.times), 6):
        q = v.answer.motion.values[k]
        p = [
            v.leg.station_position(q, b, (0, 0, 0))[:2]
            for b in ("shank", "thigh", "torso")
        ]
        p.append(v.leg.station_position(q, "torso", (0, 0.6, 0))[:2])
        axes[0].plot(
            *np.transpose(p), color="C0", alpha=0.2 + 0.8 * k / len(v.answer.times)
        )
    axes[0].set(aspect="equal")
    axes[0].axis("off")
    for name in v.answer.controls.names:
        axes[1].plot(v.answer.times, v.answer.controls[name], label=name)
    axes[1].set(xlabel="time [s]", ylabel="control")
    axes[1].legend(frameon=False, fontsize=8)
    return figure


def muscle_curves(v: Any) -> Any:
    l, names = np.linspace(0.5, 1.5, 101), ("Thelen's", "narrow", "measured")
    systems = dict(zip(names, (v.usual, v.own, v.tabled), strict=True))
    found = {
        n: cd.static_optimization(s, v.motion, reserves=0.3) for n, s in systems.items()
    }
    return panels(
        (
            "active force",
            {
                n: (l, s.force("biceps").active_force_length.value(l))
                for n, s in systems.items()
            },
        ),
        ("activation", {n: (v.angle, f.activations["biceps"]) for n, f in found.items()}),
        xlabel="fiber length / optimal length; elbow [rad]",
    )


FIGURES: dict[str, dict[str, Callable[[Any, Path], Any]]] = {
    "guide/gait": {
        "gait_knee": lambda v, path: v.sides[0].plot(
            "knee_angle_r", compare=v.sides[1], band="bootstrap", width="column"
        ),
        "gait_grid": lambda v, path: v.right.plot(
            "hip_flexion_r", "knee_angle_r", "ankle_angle_r", compare=v.left
        ),
        "gait_emg": lambda v, path: v.both.plot(width="column"),
    },
    "guide/muscle_curve": {"muscle_curve": lambda v, path: muscle_curves(v)},
    "tutorial-gait": {
        "tutorial-gait-session": lambda v, path: skeleton(
            v.subject.system, path, motion=v.subject.motion, markers=v.walk, t=0.3
        ),
        "tutorial-gait-scale": lambda v, path: skeleton(
            v.model, path, motion=v.subject.motion, compare=cd.Motion.of(v.scaled, v.kinematics.motion.between(0.3, 0.35)), offset=(0, 0, 0.8), t=0.3
        ),
        "tutorial-gait-angles": lambda v, path: panels(
            ("angle [degrees]", over(v.kinematics.motion, LEGS, DEG) | truths(v.subject.motion, LEGS, DEG)),
            ("marker errors [mm]", {"root mean square": (v.kinematics.motion.time, 1000 * v.kinematics.rms)}),
        ),
        "tutorial-gait-moments": lambda v, path: panels(
            ("moment [N m]", over(v.moments, LEGS) | truths(v.true_moments, LEGS)),
            ("ground reaction [N]", over(v.plates, {"right": "r_force_y", "left": "l_force_y"})),
        ),
        "tutorial-gait-muscles": lambda v, path: panels(
            ("activation", over(v.muscles.activations, MUSCLES) | truths(v.true_muscles.activations, MUSCLES)),
            ("force [N]", over(v.muscles.forces, MUSCLES)),
        ),
        "tutorial-gait-scene": lambda v, path: skeleton(
            v.scaled, path, motion=v.motion, color=v.muscles, arrows=v.feet, t=0.5, azimuth=75, elevation=6
        ),
        "tutorial-gait-loads": lambda v, path: loads_of(v),
    },
    "tutorial-muscles": {
        "tutorial-muscles-motion": lambda v, path: panels(("angle [degrees]", over(v.recorded, {"elbow": "r_elbow_flex", "shoulder": "r_shoulder_elev"}))),
        "tutorial-muscles-arm": lambda v, path: skeleton(v.arm, path, motion=v.motion, t=0.7),
        "tutorial-muscles-moments": lambda v, path: panels(("moment [N m]", over(v.moments, {"elbow": "r_elbow_flex", "shoulder": "r_shoulder_elev"}))),
        "tutorial-muscles-arms": lambda v, path: panels(
            ("moment arm at the elbow [mm]", {name: (v.motion["r_elbow_flex"], 1000 * v.arms[:, k, v.elbow]) for k, name in enumerate(v.arm.paths)}),
            xlabel="elbow [degrees]",
        ),
        "tutorial-muscles-forces": lambda v, path: panels(
            ("activation", over(v.found.activations, {n: n for n in v.arm.muscles})),
            ("force [N]", over(v.found.forces, {n: n for n in v.arm.muscles})),
        ),
        "tutorial-muscles-loads": lambda v, path: panels(
            ("load of the elbow [N]", {"joint": (v.loads.time, np.linalg.norm(v.force, axis=1)), "all muscles": (v.loads.time, v.found.forces.values.sum(axis=1))}),
        ),
        "tutorial-muscles-knee": lambda v, path: skeleton(v.leg, path, motion=v.kick, color=v.vasti, t=0.4),
    },
    "tutorial": {
        "tutorial-leg": lambda v, path: skeleton(v.bent, path),
        "tutorial-markers": lambda v, path: skeleton(v.leg, path, motion=v.kinematics.motion, markers=v.markers, view="side"),
        "tutorial-angles": lambda v, path: panels(
            ("angle [degrees]", over(v.kinematics.motion, {"hip": "hip", "knee": "knee", "ankle": "ankle"}, DEG) | truths(v.truth, {"hip": "hip", "knee": "knee", "ankle": "ankle"}, DEG))
        ),
        "tutorial-moments": lambda v, path: panels(("moment [N m]", over(v.moments, {"hip": "hip", "knee": "knee", "ankle": "ankle"}))),
        "moments": lambda v, path: v.figure,
    },
    "tutorial-subject": {
        "tutorial-subject-before": lambda v, path: skeleton(
            v.lab.generic, path, motion=v.lab.motion, markers=v.lab.walk, t=0.3
        ),
        "tutorial-subject-after": lambda v, path: skeleton(
            v.person.system, path, motion=v.person.motions[0], markers=v.lab.walk, t=0.3
        ),
    },
    "tutorial-control": {
        "tutorial-control-stand": lambda v, path: stood_up(v),
        "tutorial-control-quick": lambda v, path: panels(
            ("knee [rad]", {"least effort": (v.answer.times, v.answer.motion["knee"]), "least time": (v.quick.times, v.quick.motion["knee"])}),
            ("control of the knee", {"least effort": (v.answer.times, v.answer.controls["knee_torque"]), "least time": (v.quick.times, v.quick.controls["knee_torque"])}),
        ),
        "tutorial-control-spring": lambda v, path: panels(
            ("control of the knee", {"alone": (v.answer.times, v.answer.controls["knee_torque"]), f"with a spring of {v.best.parameters['stiffness']:.0f} N m/rad": (v.best.times, v.best.controls["knee_torque"])}),
        ),
    },
    "tutorial-joints": {
        "tutorial-joints-frames": lambda v, path: panels(
            ("flexion [degrees]", {"measured": (v.frames.time, DEG * v.flexion)}),
        ),
        "tutorial-joints-path": lambda v, path: panels(
            ("distance from the truth [mm]", {"fitted joint": (DEG * v.q, v.apart)}), xlabel="flexion [degrees]"
        ),
        "tutorial-joints-leg": lambda v, path: skeleton(v.swing, path, t=0.05),
        "tutorial-joints-follow": lambda v, path: panels(
            ("angle [degrees]", over(v.found.motion, {"hip": "hip", "knee": "knee", "ankle": "ankle"}, DEG)
             | {"knee, truth": (v.t, DEG * v.walk[:, 1])}),
        ),
    },
}  # fmt: skip
"""What is drawn of each page, by names of files in docs/img."""

if __name__ == "__main__":
    main(sys.argv[1:])
