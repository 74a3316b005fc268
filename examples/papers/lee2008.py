"""lee2008: spline joints."""

from __future__ import annotations

import contextlib
import io
import runpy
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

import condyle as cd
from examples.papers.part import ROOT, Part, example, new_figure


def parts() -> Iterator[Part]:
    yield example("Fig. 1: a femorotibial joint, fitted", "fitted_knee")
    yield elliptic_joint()
    yield example("Fig. 3: inverse kinematics of a leg", "spline_leg")
    yield example("Fig. 4: the scapulothoracic joint", "scapulothoracic")
    yield example("Fig. 5(a): beads on a wire", "beads")
    yield example("Fig. 5(b): airplanes on a globe", "globe")
    yield example("Fig. 5(c): letters", "letters")
    yield example("Fig. 5(d): a surface that deforms", "deforming_surface")
    yield steps()


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


SCENES: dict[str, tuple[str, Any, str, str]] = {
    "beads": ("Beads-on-a-Wire", lambda v: v.start, "100 ms", ""),
    "globe": ("Globe", lambda v: v.start, "20 ms", ""),
    "knee": ("Knee", lambda v: v.one, "", "6 ms"),
    "letters": ("SIGGRAPH Joint 1", lambda v: v.a, "", "49 ms"),
}
"""Of each scene: its name in the paper, its first state, and the paper's largest step and time per step."""


def steps() -> Part:
    """Section 7: forward Euler at their steps, and ours at an accuracy."""
    rows = []
    for name, (title, start, largest, cost) in SCENES.items():
        with contextlib.redirect_stdout(io.StringIO()):
            values = runpy.run_path(
                str(ROOT / "examples" / f"{name}.py"), run_name="__main__"
            )
        state = start(SimpleNamespace(**values))
        drift = []
        for h in (0.02, 0.1):
            q, u = state.q.copy(), state.u.copy()
            before = sum(state.system.energy(q, u))
            with np.errstate(all="ignore"):
                for _ in range(round(1 / h)):
                    if not np.isfinite(q).all() or np.abs(u).max() > 1e6:
                        break
                    udot = state.system.forward_dynamics(q, u)
                    q, u = q + h * state.system.qdot(q, u), u + h * udot
            change = (
                sum(state.system.energy(q, u)) - before
                if np.abs(u).max() < 1e6
                else np.inf
            )
            drift.append(f"{change:+.2g} J")
        cd.simulate(state.system, state, 0.01)
        begun = time.process_time()
        run = cd.simulate(state.system, state, 0.2, accuracy=1e-3)
        each = (time.process_time() - begun) / len(run)
        off = np.ptp(np.sum(state.system.energy(run.q, run.u), axis=0))
        rows.append(
            [
                title,
                largest,
                cost,
                *drift,
                f"{200 / len(run):.2g} ms",
                f"{1e6 * each:.3g} us",
                f"{off:.1g} J",
            ]
        )
    head = (
        "scene", "their largest Euler step", "their time per step", "energy after 1 s of Euler steps of 20 ms",
        "of 100 ms", "our mean step at accuracy 1e-3", "our time per step", "our energy over 0.2 s",
    )  # fmt: skip
    text = (
        "Times are of a 2.6 GHz Core 2 there and of this machine here. Nothing is damped here, and forward Euler does "
        "not keep energy at such steps (inf: it leaves all bounds); the paper does not say how its scenes are damped."
    )
    return Part("section 7: steps and times", [text], table=(head, rows))
