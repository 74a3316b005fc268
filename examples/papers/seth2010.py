"""seth2010: mobilizers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import condyle as cd
from benchmarks import seth2010
from benchmarks.report import Report, machine
from examples.papers.part import Part, example, new_figure

HEAD = (
    "",
    "acceleration, one state",
    "batch",
    "simulation",
    "off the manifold: steps, between",
)


def parts() -> Iterator[Part]:
    report = Report(machine(), {})
    for title, rows in (("Table 1", seth2010.ellipsoid()), ("Table 2", seth2010.knee())):
        lines = seth2010.table(report, title, rows, 20)
        yield Part(
            f"{title}: mobilizers against constraints",
            ["In brackets: the paper's figures."],
            table=(HEAD, lines),
        )
    yield example("Fig. 1: a collar on a screw", "screw")
    yield example("Fig. 3: a scapula on an ellipsoid", "scapula")
    yield ball_and_ellipsoid()
    yield example("Fig. 5: a particle on a measured manifold", "measured_manifold")
    yield example("Fig. 6: the knee", "knee")
    yield example(
        "Fig. 7: a protein that opens and closes",
        "protein",
        "The files of LAO (2LAO, 1LST) could not be had: adenylate kinase, whose lid closes, takes its place.",
    )


def ball_and_ellipsoid() -> Part:
    """The same rotations, by a ball and by an ellipsoid."""
    radii = np.array([0.08, 0.15, 0.11])
    system = cd.System()
    system.add_body(
        "ball", mobilizer=cd.Ball(coordinates="euler"), mass=1, inertia=(1, 1, 1)
    )
    system.add_body(
        "ellipsoid",
        mobilizer=cd.Ellipsoid(radii, coordinates="euler"),
        mass=1,
        inertia=(1, 1, 1),
    )
    s = np.linspace(0, 2 * np.pi, 200)
    angles = np.stack([0.8 * np.sin(s), 0.6 * np.cos(s), 0 * s], axis=1)
    q = np.concatenate([angles, angles], axis=1)
    figure = new_figure(7, 3.4)
    for k, body in enumerate(("ball", "ellipsoid")):
        axes = figure.add_subplot(1, 2, k + 1, projection="3d")
        X = system.body_pose(q, body)
        a, b = np.meshgrid(np.linspace(0, np.pi, 13), np.linspace(0, 2 * np.pi, 25))
        size = radii if body == "ellipsoid" else np.full(3, 0.03)
        grid = [
            r * x
            for r, x in zip(
                size,
                (np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)),
                strict=True,
            )
        ]
        axes.plot_wireframe(*grid, color="0.8", linewidth=0.5)  # type: ignore[attr-defined]
        axes.plot(*X.p.T, color="C0")
        tip = X.p + 0.06 * X.R[:, :, 2]
        for i in range(0, len(s), 20):
            axes.plot(*np.stack([X.p[i], tip[i]]).T, color="C3", linewidth=1)
        axes.set_title(body)
        axes.set_box_aspect((1, 1, 1))  # type: ignore[arg-type]
        axes.set(xlim=(-0.17, 0.17), ylim=(-0.17, 0.17), zlim=(-0.17, 0.17))  # type: ignore[call-arg]
    off = np.abs((system.body_pose(q, "ellipsoid").p / radii) ** 2 @ np.ones(3) - 1).max()
    assert off < 1e-12
    return Part(
        "Fig. 4: a ball and an ellipsoid",
        [
            f"The origin of the body stays on the ellipsoid to {off:.0e}. Red: the body's z axis."
        ],
        figure,
    )
