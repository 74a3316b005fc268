"""Pictures of examples: `python docs/gallery.py` runs them and draws docs/img/NAME.png from what they
computed; `python docs/gallery.py knee screw` only these.

A picture is a function here with the name of its example. It gets the example's variables and an empty
figure.
"""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
INK, BLUE, RED, GREEN = "#20303c", "#2f6f9f", "#c0504d", "#4f8a4b"
PICTURES: dict[str, Callable[[Any, Figure], None]] = {}


def picture(draw: Callable[[Any, Figure], None]) -> Callable[[Any, Figure], None]:
    PICTURES[draw.__name__] = draw
    return draw


def main(names: list[str]) -> None:
    matplotlib.use("Agg")
    for name in names or PICTURES:
        with contextlib.redirect_stdout(io.StringIO()):
            values = runpy.run_path(
                str(ROOT / "examples" / f"{name}.py"), run_name="__main__"
            )
        figure = plt.figure(figsize=(6.4, 3.2), layout="constrained", facecolor="white")
        PICTURES[name](SimpleNamespace(**_public(values)), figure)
        figure.savefig(ROOT / "docs" / "img" / f"{name}.png", dpi=100)
        plt.close(figure)


def _public(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if not name.startswith("_")}


def plain(axes: Axes, xlabel: str = "", ylabel: str = "") -> Axes:
    """Axes without a box."""
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.2)
    return axes


def space(figure: Figure, *position: int) -> Any:
    """Three-dimensional axes of equal scales without a box."""
    axes: Any = figure.add_subplot(*(position or (1, 1, 1)), projection="3d")
    axes.set_axis_off()
    return axes


def triad(axes: Any, R: np.ndarray, p: np.ndarray, size: float) -> None:
    """The axes of a frame: x red, y green, z blue."""
    for column, color in zip(R.T, (RED, GREEN, BLUE), strict=True):
        axes.plot(*np.transpose([p, p + size * column]), color=color, linewidth=1.2)


def seen(axes: Any, elev: float, azim: float, zoom: float = 1.3, up: str = "y") -> None:
    """Equal scales, and where it is seen from [degrees]."""
    axes.view_init(
        elev=elev, azim=azim, vertical_axis=up
    )  # first: the scales go by what is upright
    axes.set_aspect("equal")
    axes.set_box_aspect(
        np.ptp([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()], axis=1), zoom=zoom
    )


@picture
def screw(v: Any, figure: Figure) -> None:
    axes = plain(figure.add_subplot(), "time [s]", "turns")
    axes.plot(
        v.times,
        v.exact / (2 * np.pi),
        color=INK,
        linewidth=5,
        alpha=0.2,
        label="closed form",
    )
    for name, color, angle in zip(
        ("screw", "cylinder and coupler"), (BLUE, RED), v.turn, strict=True
    ):
        axes.plot(
            v.times,
            angle / (2 * np.pi),
            color=color,
            linestyle="-" if color == BLUE else ":",
            label=name,
        )
    axes.legend(frameon=False)


@picture
def shooting(v: Any, figure: Figure) -> None:
    left, right = (
        plain(figure.add_subplot(1, 2, k), "time [s]", y)
        for k, y in ((1, "angle [deg]"), (2, "excitation"))
    )
    for i, (name, color) in enumerate((("shoulder", BLUE), ("elbow", RED))):
        before, after = v.reach(v.first), v.run
        left.plot(before.t, np.degrees(before.q[:, i]), color=color, linestyle=":")
        left.plot(after.t, np.degrees(after.q[:, i]), color=color, label=name)
        left.plot(v.T, np.degrees(v.GOAL[i]), "o", color=color)
    x = np.linspace(0, 1, 100)
    basis = [v.comb(v.K - 1, k) * x**k * (1 - x) ** (v.K - 1 - k) for k in range(v.K)]
    for name, c in zip(v.arm.muscles, v.answer.x.reshape(-1, v.K), strict=True):
        right.plot(v.T * x, c @ basis, label=name)
    left.legend(frameon=False, fontsize=7)
    right.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))


@picture
def fit_swing(v: Any, figure: Figure) -> None:
    axes = plain(figure.add_subplot(), "time [s]", "knee [deg]")
    axes.plot(v.t, np.degrees(v.recording["knee"]), ".", color=INK, markersize=2)
    for values, color, name in (
        (v.start.parameters, BLUE, "before"),
        (v.fit.values, RED, "fitted"),
    ):
        run = v.cd.simulate(v.leg, v.start.replace(parameters=values), 3.0)
        axes.plot(run.t, np.degrees(run.q[:, 0]), color=color, label=name, linewidth=1)
    axes.legend(frameon=False)


@picture
def scapula(v: Any, figure: Figure) -> None:
    axes = space(figure)
    state, root = v.b, v.b.body_pose("thorax")
    a, b = np.meshgrid(
        np.linspace(0, 2 * np.pi, 37), np.linspace(-np.pi / 2, np.pi / 2, 19)
    )
    ball = np.stack([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)], -1)
    axes.plot_wireframe(
        *np.moveaxis((ball * v.glide.radii) @ root.R.T + root.p, -1, 0),
        color=RED,
        linewidth=0.4,
        alpha=0.5,
    )
    joints = [state.body_pose(name).p for name in ("scapula", "humerus")]
    elbow = state.body_pose("forearm").p
    axes.plot(
        *np.transpose([*joints, elbow, (0, 0, 0)]),
        color=INK,
        linewidth=4,
        alpha=0.6,
        marker="o",
    )
    X = state.body_pose("scapula")
    triad(axes, X.R, X.p, 0.08)
    seen(axes, elev=12, azim=-60, zoom=1.25)


def ground_of(axes: Any, surface: Any, n: int, t: float = 0.0) -> None:
    """A wireframe of a spline surface."""
    q = np.stack(
        np.meshgrid(*(np.linspace(*pair, n) for pair in surface.domain), indexing="ij"),
        -1,
    )
    axes.plot_wireframe(
        *np.moveaxis(surface.pose(q, t).p, -1, 0), color=INK, linewidth=0.4, alpha=0.5
    )


@picture
def deforming_surface(v: Any, figure: Figure) -> None:
    axes = space(figure, 1, 2, 1)
    ground_of(axes, v.membrane, 17, 0.4)
    path = v.system.station_position(v.q[:3000:5], "ball", (0, 0, 0), t=v.t[:3000:5])
    axes.plot(*path.T, color=BLUE, linewidth=1.2)
    seen(axes, elev=35, azim=-50, up="z")
    right = plain(figure.add_subplot(1, 2, 2), "time [s]", "[J]")
    right.plot(
        v.t,
        v.energy - v.energy[0],
        color=INK,
        linewidth=4,
        alpha=0.25,
        label="energy gained",
    )
    right.plot(v.t, v.work, color=RED, linewidth=1, label="work of the membrane")
    right.legend(frameon=False)


@picture
def rolling_surface(v: Any, figure: Figure) -> None:
    axes = space(figure)
    ground_of(axes, v.above, 17)
    axes.plot(
        *v.system.station_position(v.run.q, "ball", (0, 0, 0)).T,
        color=BLUE,
        linewidth=1.5,
    )
    mark = v.system.station_position(v.run.q, "ball", (0, v.radius, 0))
    axes.plot(*mark.T, color=RED, linewidth=0.7)
    seen(axes, elev=40, azim=-60, zoom=1.6, up="z")


@picture
def measured_manifold(v: Any, figure: Figure) -> None:
    axes = space(figure)
    ground_of(axes, v.ground, 33)
    p = v.system.station_position(v.run.q, "particle", (0, 0, 0))
    axes.plot(*p.T, color=BLUE, linewidth=1.5)
    some = np.searchsorted(v.run.t, np.linspace(0, v.run.t[-1], 25)[:-1])
    axes.quiver(*p[some].T, *(0.4 * v.push[some]).T, color=RED, linewidth=0.8)
    seen(axes, elev=35, azim=-70, zoom=1.7, up="z")


@picture
def knee(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.4))
    for t, fade in zip(np.linspace(0, 0.24, 6), np.linspace(0.25, 1, 6), strict=True):
        q = v.swing(t).q
        at = [
            v.leg.station_position(q, body, p)
            for body, p in (
                ("thigh", (0, 0, 0)),
                ("thigh", (0, -0.4, 0)),
                ("shank", (0, 0, 0)),
                ("shank", (0, -0.4, 0)),
            )
        ]
        left.plot(*np.transpose(at)[:2], color=INK, alpha=fade, linewidth=2)
    left.set_aspect("equal")
    left.set_axis_off()
    angle = np.linspace(-2.0944, 0.2, 200)
    plain(right, "knee angle [degrees]", "tibia in femur [mm]")
    right.plot(np.degrees(angle), 1e3 * v.forward(angle), color=BLUE, label="forward")
    right.plot(
        np.degrees(angle), 1e3 * (v.up(angle) + 0.4), color=RED, label="up, 400 mm added"
    )
    right.legend(frameon=False)


@picture
def fitted_knee(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    angle = np.degrees(v.at[:, 0])
    plain(left, "knee angle [degrees]", "forward [mm]")
    left.plot(
        np.degrees(v.q),
        1e3 * v.frames.p[:, 0],
        ".",
        color=INK,
        markersize=2,
        alpha=0.4,
        label="measured",
    )
    left.plot(
        angle, 1e3 * v.truth.p[:, 0], color=INK, linewidth=4, alpha=0.25, label="truth"
    )
    plain(right, "knee angle [degrees]", "acceleration at 5 rad/s [rad/s$^2$]")
    right.plot(
        angle,
        v.true.forward_dynamics(v.at, v.moved),
        color=INK,
        linewidth=4,
        alpha=0.25,
        label="truth",
    )
    for name, color in (("rough", RED), ("smooth", BLUE)):
        poses = v.systems[name].body_pose(v.at, "shank")
        left.plot(angle, 1e3 * poses.p[:, 0], color=color, linewidth=1, label=name)
        right.plot(
            angle,
            v.systems[name].forward_dynamics(v.at, v.moved),
            color=color,
            linewidth=1,
        )
    left.legend(frameon=False, fontsize=8)


@picture
def spline_leg(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.2))
    for i in range(0, 51, 10):
        at = [
            v.leg.station_position(v.step.q[i], body, p)
            for body, p in (
                ("hip", (0, 0, 0)),
                ("knee", (0, 0, 0)),
                ("ankle", (0, 0, 0)),
                ("ankle", (0.12, -0.03, 0)),
            )
        ]
        left.plot(*np.transpose(at)[:2], color=INK, alpha=0.25 + 0.015 * i, linewidth=2)
    left.plot(*v.path.T[:2], color=RED, linestyle="--")
    left.set_aspect("equal")
    left.set_axis_off()
    k = sorted(v.errors)
    plain(right, "iteration", "error [rad]").semilogy(
        k, [v.errors[i] for i in k], color=BLUE, marker="o"
    )
    right.set_xticks(k)


@picture
def protein(v: Any, figure: Figure) -> None:
    axes, right = (
        space(figure, 1, 2, 1),
        plain(figure.add_subplot(1, 2, 2), "time [ps]", ""),
    )
    still, moving = v.found.atoms["stationary"], v.found.atoms["mobile"]
    axes.plot(*still.T, color=GREEN, linewidth=2)
    for q in (0.0, 0.5, 1.0):
        X = v.found.system.body_pose([q], "mobile")
        axes.plot(*(moving @ X.R.T + X.p).T, color=BLUE, linewidth=2, alpha=0.3 + 0.7 * q)
    axis = v.found.point + np.outer((-2.5, 2.5), v.found.axis)
    axes.plot(*axis.T, color=RED, linestyle="--", linewidth=1)
    seen(axes, elev=15, azim=-60, zoom=1.1, up="z")
    right.plot(100 * v.s, v.motive[:, 0], color=BLUE, label="motive force [kJ/mol]")
    right.plot(
        100 * v.s,
        np.linalg.norm(v.load, axis=1),
        color=RED,
        label="hinge force [kJ/(mol nm)]",
    )
    right.legend(frameon=False, fontsize=8)


@picture
def beads(v: Any, figure: Figure) -> None:
    axes, right = (
        space(figure, 1, 2, 1),
        plain(figure.add_subplot(1, 2, 2), "time [s]", "spin [rad/s]"),
    )
    q = np.linspace(0, 2 * np.pi, 400)
    axes.plot(*v.wire.pose(q).p.T, color=INK, linewidth=1)
    for k, color in enumerate((RED, GREEN, BLUE)):
        at = v.wire.pose(v.run.q[::40, 1 + k]).p
        axes.plot(*at.T, color=color, linewidth=3, alpha=0.3)
        axes.plot(*at[-1:].T, color=color, marker="o", markersize=7)
    seen(axes, elev=90, azim=-90, zoom=1.5, up="z")
    right.plot(v.run.t, v.run.u[:, 0], color=INK, linewidth=1)


@picture
def letters(v: Any, figure: Figure) -> None:
    for k, state in enumerate((v.a, v.b)):
        axes = figure.add_subplot(1, 2, 1 + k)
        run = v.cd.simulate(state.system, state, t_final=0.25, accuracy=1e-4)
        for letter, name in zip("CONDYLES", state.system.bodies, strict=True):
            X = state.system.body_pose(run.q[-1], name)
            edge = (
                v.cd.SplineCurve(v.outline(letter, False), closed=True)
                .pose(np.linspace(0, 1, 200))
                .p
            )
            axes.fill(*(edge @ X.R.T + X.p).T[:2], color=(BLUE, RED)[k], alpha=0.55)
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.set_title(("one-sided", "two-sided")[k], fontsize=9)


@picture
def globe(v: Any, figure: Figure) -> None:
    axes = space(figure)
    a, b = np.meshgrid(
        np.linspace(0, 2 * np.pi, 49), np.linspace(-np.pi / 2, np.pi / 2, 25)
    )
    ball = v.height * np.stack([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)])
    axes.plot_wireframe(*ball, color=INK, linewidth=0.3, alpha=0.25)
    for name, color in zip(v.routes, (RED, GREEN, BLUE), strict=True):
        curve = v.system.body(name).mobilizer
        axes.plot(*curve.pose(np.linspace(0, 1, 400)).p.T, color=color, linewidth=1.5)
        for q in np.linspace(0, 1, 8, endpoint=False):
            X = curve.pose(q)
            triad(axes, X.R, X.p, 0.08)
    seen(axes, elev=20, azim=-50, zoom=1.5, up="z")


@picture
def scapulothoracic(v: Any, figure: Figure) -> None:
    axes, right = (
        space(figure, 1, 2, 1),
        plain(figure.add_subplot(1, 2, 2), "time [s]", ""),
    )
    a, b = np.meshgrid(
        np.linspace(0, 2 * np.pi, 37), np.linspace(-np.pi / 2, np.pi / 2, 19)
    )
    ball = (
        np.stack([np.cos(b) * np.cos(a), np.sin(b), np.cos(b) * np.sin(a)], -1) * v.radii
    )
    axes.plot_wireframe(*np.moveaxis(ball, -1, 0), color=INK, linewidth=0.3, alpha=0.3)
    (low, high), (down, up) = v.fit.mobilizer.domain
    for first in np.linspace(low, high, 5):
        for second in np.linspace(down, up, 4):
            pose = v.scapula_frames(np.array([[first, second]]))
            R, p = pose.R[0], pose.p[0]
            triad(axes, R, p, 0.025)
            axes.plot(
                *np.transpose([v.sternum, p + R @ v.acromion]),
                color=INK,
                linewidth=0.6,
                alpha=0.6,
            )
    seen(axes, elev=12, azim=-165, zoom=1.35)
    for k, (name, color) in enumerate((("protraction", BLUE), ("elevation", GREEN))):
        right.plot(
            v.run.t,
            np.degrees(v.run.q[:, k] - v.run.q[0, k]),
            color=color,
            label=f"{name} [degrees]",
        )
    right.plot(v.run.t, 1e4 * v.stretch, color=RED, label="clavicle's stretch [0.1 mm]")
    right.legend(frameon=False, fontsize=8)


@picture
def wrist_thumb(v: Any, figure: Figure) -> None:
    for k, (name, (a, b)) in enumerate(v.RADII.items()):
        axes = space(figure, 1, 2, 1 + k)
        X = v.frames[name]
        side = np.abs(X.p[:, :2]).max(axis=0)
        x, y = np.meshgrid(*(np.linspace(-s, s, 15) for s in side))
        axes.plot_surface(
            x, y, x**2 / (2 * a) + y**2 / (2 * b), color=(BLUE, GREEN)[k], alpha=0.35
        )
        for j in range(0, 600, 25):
            triad(axes, X.R[j], X.p[j], 0.003)
        for height, along in ((a, (0, 1, 0)), (b, (1, 0, 0))):
            line = np.outer((-0.012, 0.012), along) + (0, 0, height)
            axes.plot(*line.T, color=RED, linestyle="--", linewidth=1.2)
        seen(axes, elev=18, azim=-50, zoom=1.25, up="z")
        axes.set_title(f"{name}: axes in red", fontsize=9)


@picture
def walker(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    run, foothold = v.walk.trajectory, 0.0
    rows = np.linspace(0, v.walk.period, 9)
    for step, color in enumerate((BLUE, GREEN)):
        for t in rows:
            state = run(t) if t < v.walk.period else v.walk.trajectory.events[-1].before
            hip = np.array([state["x"], state["y"]])
            feet = [
                state.station_position(leg, v.FOOT)[:2] for leg in ("stance", "swing")
            ]
            for foot, tone, alpha in zip(
                feet, (color, (GREEN, BLUE)[step]), (0.9, 0.35), strict=True
            ):
                left.plot(
                    *np.transpose([hip + (foothold, 0), foot + (foothold, 0)]),
                    color=tone,
                    alpha=alpha,
                )
        foothold += float(feet[1][0])
    left.axhline(0, color=INK, linewidth=1)
    left.set_aspect("equal")
    left.set_axis_off()
    left.set_title(
        "two steps: each leg in its color, dark while it stands", fontsize=9, color=INK
    )
    plain(right, "stance angle [rad]", "its rate [rad $\\sqrt{g/l}$]")
    right.plot(
        v.steps["stance"],
        v.steps["stance_speed"],
        color=INK,
        alpha=0.25,
        linewidth=0.8,
        label="first steps",
    )
    angle, rate = run["stance"], run["stance_speed"]
    right.plot(angle[:-1], rate[:-1], color=RED, label="limit cycle")
    right.plot(angle[-2:], rate[-2:], ":", color=RED, label="strike")
    right.legend(frameon=False, fontsize=8, loc="center")


@picture
def cradle(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
    for t, alpha in ((0.0, 0.3), (v.hits[0].t, 1.0), (2 * v.hits[0].t, 0.3)):
        for i in range(v.N):
            body = v.traj(t).body_pose(f"ball{i}")
            joint = (i * (2 * v.RADIUS + v.GAP), 0.0)
            left.plot(
                *np.transpose([joint, body.p[:2]]), color=INK, linewidth=0.8, alpha=alpha
            )
            left.add_patch(
                plt.Circle(body.p[:2], v.RADIUS, color=BLUE, alpha=alpha, linewidth=0)
            )
    left.set_aspect("equal")
    left.axis("off")
    left.set_title("lifted, hit, and passed on", fontsize=9, color=INK)
    for name, color in (("ball0", BLUE), (v.last, RED)):
        right.plot(v.traj.t, np.degrees(v.traj[name]), color=color, label=name)
    right.legend(frameon=False, fontsize=8)
    plain(right, "t [s]", "angle [degrees]")


@picture
def falling_chain(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1.3, 1))
    bodies = [b.name for b in v.system.bodies]
    times = (0.0, 0.15, 0.3, 0.5, 1.5)
    for k, t in enumerate(times):
        stations = [
            (bodies[0], -v.LENGTH / 2),
            *((name, v.LENGTH / 2) for name in bodies),
        ]
        p = np.array(
            [v.traj(t).station_position(name, (x, 0, 0))[:2] for name, x in stations]
        )
        left.plot(
            *p.T, "o-", color=BLUE, alpha=0.25 + 0.75 * k / (len(times) - 1), markersize=3
        )
    left.axhline(0, color=INK, linewidth=1)
    left.set_aspect("equal")
    left.set_title(
        "from pale to dark: " + ", ".join(f"{t:g}" for t in times) + " s",
        fontsize=9,
        color=INK,
    )
    plain(left, "x [m]", "y [m]")
    right.plot(v.traj.t, v.energy, color=RED)
    plain(right, "t [s]", "energy [J]")


@picture
def knee_cartilage(v: Any, figure: Figure) -> None:
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    bodies = (
        (v.femur, "femur", "condyles, from below", 1),
        (v.tibia, "ground", "plateau, from above", -1),
    )
    for axis, (surface, body, title, side) in zip(axes, bodies, strict=True):
        mesh, pressure = surface.triangles, v.end.contacts.pressures("knee", body) / 1e6
        corners = 1e3 * mesh.vertices[:, [0, 2]]
        seen = side * mesh.normals[:, 1] < 0
        axis.tripcolor(
            *corners.T,
            mesh.faces[seen],
            np.zeros(seen.sum()),
            cmap="Grays",
            vmin=-0.15,
            vmax=1,
            edgecolors="face",
            linewidth=0.2,
        )
        some = seen & (pressure > 0)
        drawn = axis.tripcolor(
            *corners.T,
            mesh.faces[some],
            pressure[some],
            cmap="YlOrRd",
            vmin=0,
            vmax=v.pressure.max() / 1e6,
            edgecolors="white",
            linewidth=0.2,
        )
        for half in (-1, 1):
            mine = half * mesh.centroids[:, 0] > 0
            part = (pressure * mesh.areas)[mine].sum() / (pressure @ mesh.areas)
            axis.text(
                half * 22, 20.5, f"{100 * part:.0f} %", ha="center", fontsize=9, color=INK
            )
        axis.set_aspect("equal")
        axis.set_title(title, fontsize=9, color=INK)
        plain(axis, "x [mm]", "z [mm]" if side > 0 else "").grid(visible=False)
    figure.colorbar(drawn, ax=axes, shrink=0.75, label="pressure [MPa]")
    figure.suptitle(
        f"{v.force:.0f} N on two condyles, and the share of each", fontsize=10, color=INK
    )


@picture
def foot_landing(v: Any, figure: Figure) -> None:
    above, below = figure.subplots(2, 1, height_ratios=(1, 2.2))
    for k, t in enumerate((0.0, 0.06, 0.09, 0.17, 1.5)):
        X, aside = (
            v.landing(t).body_pose("foot"),
            np.array([0.3 * k - v.landing(t)["foot_tx"], 0, 0]),
        )
        sole = [X.R @ (x, -0.06, 0) + X.p + aside for x in (-0.08, 0.06, 0.12)]
        ankle = X.R @ (-0.05, 0.04, 0) + X.p + aside
        above.fill(
            *np.transpose([sole[0], sole[2], ankle])[:2],
            color=BLUE,
            alpha=0.25,
            linewidth=0,
        )
        for p in sole:
            above.add_patch(plt.Circle(p[:2], 0.02, color=BLUE, alpha=0.7, linewidth=0))
        above.text(0.3 * k, -0.045, f"{t:g} s", ha="center", fontsize=8, color=INK)
    above.axhline(0, color=INK, linewidth=1)
    above.set_aspect("equal")
    above.axis("off")
    below.plot(v.t, v.force, color=RED)
    below.axhline(5 * 9.81, color=RED, linewidth=0.8, linestyle=":")
    below.text(0.795, 5 * 9.81 + 6, "its weight", ha="right", fontsize=8, color=RED)
    below.set_xlim(0, 0.8)
    plain(below, "t [s]", "force of the floor [N]").yaxis.label.set_color(RED)
    place = below.twinx()
    place.plot(v.t, 100 * v.touched, color=GREEN)
    place.set_ylim(-10, 14)
    place.set_ylabel("center of pressure,\nahead of the mass center [cm]", color=GREEN)
    place.spines["top"].set_visible(False)


@picture
def stairs(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1.5, 1))
    for k in range(len(v.steps)):
        left.add_patch(
            plt.Rectangle(
                (0.3 * k, -0.2 - 0.15 * k), 0.3, 0.2, color=INK, alpha=0.2, linewidth=0
            )
        )
    t = np.linspace(0, 2, 801)
    p = v.run.at(t)[:, [v.system.coordinates.index(f"ball_t{axis}") for axis in "xy"]]
    left.plot(*p.T, color=BLUE, linewidth=1)
    for at in p[::50]:
        left.add_patch(plt.Circle(at, 0.05, color=BLUE, alpha=0.35, linewidth=0))
    left.set_aspect("equal")
    left.set_title("every 0.125 s", fontsize=9, color=INK)
    plain(left, "x [m]", "y [m]")
    right.plot(v.run.t, v.run["lost"], color=RED)
    plain(right, "t [s]", "energy lost [J]")


@picture
def tippe_top(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1.6, 1))
    for k, s in enumerate((0.0, 1.0, 2.0, 4.0)):
        up = v.run(s).body_pose("top").R[1, 1]
        axis = np.array(
            [np.sqrt(max(1 - up * up, 0)), up]
        )  # in the plane that it leans in
        middle = np.array([0.06 * k, v.RADIUS])
        left.add_patch(plt.Circle(middle, v.RADIUS, color=BLUE, alpha=0.3, linewidth=0))
        left.plot(
            *np.transpose([middle, middle + 0.95 * v.RADIUS * axis]),
            color=INK,
            linewidth=3,
        )
        left.plot(*(middle - v.BELOW * axis), "o", color=RED, markersize=4)
        left.text(middle[0], -0.018, f"{s:g} s", ha="center", fontsize=8, color=INK)
    left.axhline(0, color=INK, linewidth=1)
    left.set_aspect("equal")
    left.axis("off")
    left.set_title("its axis, and its mass center in red", fontsize=9, color=INK)
    right.plot(v.t, np.degrees(np.arccos(np.clip(v.upright, -1, 1))), color=BLUE)
    plain(right, "t [s]", "tilt of its axis [degrees]")


def moved(axes: Axes, answer: Any, lines: Mapping[str, Any], count: int = 9) -> None:
    """Lines through points of bodies, (body, p) each, at some times of an answer of optimal control."""
    system = answer.program.problem.system
    for k, row in enumerate(np.linspace(0, len(answer.times) - 1, count).astype(int)):
        q = answer.motion.values[row]
        for color, points in lines.items():
            at = [system.station_position(q, *point)[:2] for point in points]
            axes.plot(*np.transpose(at), color=color, alpha=0.25 + 0.75 * k / (count - 1))
    axes.set_aspect("equal")
    axes.axis("off")


def curves(axes: Axes, table: Any, names: Sequence[str], label: str) -> None:
    """Columns of a table over time."""
    for name, color in zip(
        names, (BLUE, RED, GREEN, INK, "#8064a2", "#d19000"), strict=False
    ):
        axes.plot(
            table.time, table[name], color=color, label=name.removesuffix("_torque")
        )
    plain(axes, "t [s]", label)
    axes.legend(fontsize=7, frameon=False)


@picture
def sliding_mass(v: Any, figure: Figure) -> None:
    for axes, answer, title in zip(
        figure.subplots(1, 2),
        (v.quick, v.easy),
        ("least time", "least effort"),
        strict=True,
    ):
        axes.plot(answer.times, answer.controls["x_torque"], color=RED, label="force [N]")
        plain(axes, "t [s]", "force [N]").set_title(title, fontsize=9, color=INK)
        other = axes.twinx()
        other.plot(answer.times, answer.motion["x"], color=BLUE)
        other.set_ylabel("x [m]", color=BLUE)


@picture
def double_pendulum(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    tips = [("lower", (-1, 0, 0)), ("upper", (-1, 0, 0)), ("upper", (0, 0, 0))]
    moved(left, v.best, {BLUE: tips}, 12)
    curves(right, v.best.controls, v.best.controls.names, "torque [N m]")


@picture
def squat_to_stand(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    chain = [(name, (0, 0, 0)) for name in ("shank", "thigh", "torso")]
    moved(left, v.answer, {BLUE: [*chain, ("torso", (0, 0.6, 0))]})
    curves(right, v.answer.controls, v.answer.controls.names, "control")


@picture
def reach(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.4))
    arm = [("r_humerus", (0, 0, 0)), ("r_ulna_radius_hand", (0, 0, 0)), v.wrist]
    moved(left, v.answer, {BLUE: arm})
    curves(right, v.answer.activations, v.answer.activations.names, "activation")


@picture
def jump(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    chain = [(name, (0, 0, 0)) for name in ("shank", "thigh", "torso")]
    moved(left, v.answer, {BLUE: [*chain, ("torso", (0, 0.6, 0))]})
    curves(right, v.answer.controls, v.answer.controls.names, "control")


@picture
def crank(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    chain = [("thigh", (0, 0, 0)), ("shank", (0, 0, 0)), ("shank", (0, -v.SHANK, 0))]
    pedal = [("crank", (0, 0, 0)), ("crank", (v.CRANK, 0, 0))]
    moved(left, v.answer, {BLUE: chain, RED: pedal}, 13)
    curves(right, v.answer.controls, v.answer.controls.names, "control")


@picture
def exoskeleton(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    chain = [("shank", (0, 0, 0)), ("body", (0, 0, 0)), ("body", (0, 0.9, 0))]
    moved(left, v.best, {BLUE: chain})
    right.plot([100 * x for x in v.costs], list(v.costs.values()), "o-", color=RED)
    plain(right, "stiffness [% of the one found]", "effort")


@picture
def walking(v: Any, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1.6, 1))
    sole = [((0, -0.06, 0)), ((0.17, -0.05, 0))]
    lines = {
        color: [
            (f"thigh{side}", (0, 0, 0)),
            (f"shank{side}", (0, 0, 0)),
            (f"foot{side}", (0, 0, 0)),
            *((f"foot{side}", p) for p in sole),
        ]
        for color, side in ((BLUE, "_r"), (RED, "_l"))
    }
    moved(left, v.walk, {**lines, INK: [("torso", (0, 0, 0)), ("torso", (0, 0.55, 0))]})
    left.axhline(0, color=INK, linewidth=1)
    curves(right, v.walk.motion, ("hip_r", "knee_r", "hip_l", "knee_l"), "angle [rad]")


if __name__ == "__main__":
    main(sys.argv[1:])
