"""lee2008: spline joints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import condyle as cd
from examples.papers.part import Part, example, new_figure


def parts() -> Iterator[Part]:
    yield example("Fig. 1: a femorotibial joint, fitted", "fitted_knee")
    yield elliptic_joint()
    yield example("Fig. 3: inverse kinematics of a leg", "spline_leg")
    yield example("Fig. 4: the scapulothoracic joint", "scapulothoracic")
    yield example("Fig. 5(a): beads on a wire", "beads")
    yield example("Fig. 5(b): airplanes on a globe", "globe")
    yield example("Fig. 5(c): letters", "letters")
    yield example("Fig. 5(d): a surface that deforms", "deforming_surface")


def elliptic_joint() -> Part:
    """A body slides along an ellipse with its axis tangential to it."""
    a, b = 0.5, 0.3
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body(
        "child",
        mobilizer=cd.EllipticSlider(a, b),
        mass=1.0,
        com=(0, -0.1, 0),
        inertia=(0.01,) * 3,
    )
    run = cd.simulate(system, system.state(q=[3.0]), 3.0, accuracy=1e-8)
    X = system.body_pose(run.q, "child")
    energy = np.sum(system.energy(run.q, run.u), axis=0)
    off = np.abs((X.p[:, 0] / a) ** 2 + (X.p[:, 1] / b) ** 2 - 1).max()
    assert off < 1e-12
    assert np.ptp(energy) < 1e-6
    figure = new_figure(7, 3)
    left, right = figure.subplots(1, 2)
    left.plot(X.p[:, 0], X.p[:, 1], color="0.6")
    for i in range(0, len(run.t), max(len(run.t) // 25, 1)):
        for axis, color in ((0, "C3"), (1, "C0")):
            left.plot(
                *np.stack([X.p[i, :2], X.p[i, :2] + 0.06 * X.R[i, :2, axis]]).T,
                color=color,
                linewidth=1,
            )
    left.set_aspect("equal")
    right.plot(run.t, run.q[:, 0])
    right.set(xlabel="time [s]", ylabel="q [rad]")
    return Part(
        "Fig. 2: an elliptic joint",
        [f"Off the ellipse: {off:.0e}; energy varies by {np.ptp(energy):.0e} J in 3 s."],
        figure,
    )
