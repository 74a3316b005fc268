"""Muscles in motion, against OpenSim 4.6 (tests/data/arm26_forward)."""

from __future__ import annotations

import csv
import importlib
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.functions.pieces import Pieces, taylor
from condyle.functions.splines import natural
from condyle.laws.leaves import Leaf
from condyle.models.published import THELEN, rows_of_text

DATA = Path(__file__).parents[1] / "data" / "arm26_forward"
ARM = importlib.import_module("condyle.models.arm26")
MUSCLES = {name: numbers for name, *numbers in rows_of_text(ARM.MUSCLES)}
LINE = cd.paths.Path([("ground", (0, 0, 0)), ("block", (0, 0, 0))])
SHARED = (
    "max_contraction_velocity",
    "activation_time_constant",
    "deactivation_time_constant",
    "default_activation",
)


def muscle(model: str, name: str, path: cd.paths.Path) -> cd.muscles.Muscle:
    """A muscle of arm26, its numbers carried over as in the runs."""
    own, numbers = MUSCLES[name], {k: THELEN[k] for k in SHARED}
    if model == "thelen2003":
        return cd.muscles.Thelen2003(path, *own, **THELEN)
    if model == "millard2012":
        return cd.muscles.Millard2012(path, *own, **numbers)
    return cd.muscles.DeGroote2016(
        path,
        *own,
        **numbers,
        tendon_strain_at_one_norm_force=THELEN["FmaxTendonStrain"],
        passive_fiber_strain_at_one_norm_force=THELEN["FmaxMuscleStrain"],
    )


@pytest.mark.parametrize(
    ("model", "tol"), [("thelen2003", 1e-11), ("degroote2016", 1e-11), ("millard2012", 5e-9)]
)
def test_rows_of_all_runs(model, tol):
    """Tension and fiber velocity at the lengths that OpenSim has. Millard's: its own iteration ends at 1e-10
    F_0, our tables are exact to 1e-9."""
    with open(DATA / "rows.csv", encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if r["model"] == model]
    for name in MUSCLES:
        mine = [r for r in rows if r["muscle"] == name]
        a, z, L, v, T = (
            np.array([float(r[k]) for r in mine])
            for k in ("activation", "tendon_state", "muscle_tendon_length", "fiber_velocity", "tendon_force")
        )
        system = cd.System(gravity=(0, 0, 0))
        system.add_body("block", mobilizer=cd.Slider(), mass=1.0)
        system.add_force("m", muscle(model, name, LINE))
        given = {"z": np.column_stack([a, z])}
        u = np.zeros((len(L), 1))
        F_0 = MUSCLES[name][0]
        np.testing.assert_allclose(
            -system.forward_dynamics(L[:, None], u, **given)[:, 0], T, rtol=0, atol=tol * F_0
        )
        rate = system.zdot(L[:, None], u, **given)[:, 1]
        if model == "degroote2016":  # f_T' (-v_M / cos(alpha)) / l_S
            curve = system.force("m").tendon_force_length
            l_T, l_S, h = (
                curve.inverse(z),
                MUSCLES[name][2],
                MUSCLES[name][1] * np.sin(MUSCLES[name][3]),
            )
            along = L - l_S * l_T
            v = -curve.derivative(l_T) * v / (along / np.hypot(along, h)) / l_S
        np.testing.assert_allclose(rate, v, rtol=tol, atol=tol)


class Table:
    """A cubic spline through a length and a moment arm over one angle."""

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        breaks, origins, c = natural(x, y)
        self.pieces = Pieces(breaks, np.column_stack([origins, c.reshape(len(c), -1)]))

    def at(self, q: ca.SX) -> list[ca.SX]:
        row = self.pieces.at(q, look_up=True)
        return ca.vertsplit(taylor(q - row[0], ca.vertsplit(row[1:], 2)))


class Given(Leaf):
    """A length that OpenSim's numbers give, loaded and lengthened by OpenSim's moment arms."""

    label = text = ""

    def __init__(self, name: str, length: float, parts: dict[str, Table]) -> None:
        for k, v in (("label", f"given {name}"), ("text", f"given {name}"), ("L", length), ("parts", parts)):
            object.__setattr__(self, k, v)

    def value(self, s):
        return self.L + sum(table.at(s.coordinate(q))[0] for q, table in self.parts.items())

    def rate(self, s):
        return -sum(table.at(s.coordinate(q))[1] * s.speed(q) for q, table in self.parts.items())

    def load(self, s, g, loads):
        for q, table in self.parts.items():
            loads.add_mobility(q, -table.at(s.coordinate(q))[1] * g)


class GivenPath(cd.paths.Path):
    """A path of such a length."""

    def __init__(self, length: Given) -> None:
        for k, v in (("points", ()), ("wraps", ()), ("given", length)):
            object.__setattr__(self, k, v)

    length = property(lambda self: self.given)

    def description(self) -> str:
        return self.given.label


def fed(model: str, data) -> cd.System:
    """arm26 with the path lengths and moment arms of OpenSim."""
    elbow = {
        n: Table(data["elbow"], data["by_elbow"][:, 2 * k : 2 * k + 2])
        for n, k in (
            ("TRIlong", 0),
            ("TRIlat", 1),
            ("TRImed", 1),
            ("BIClong", 2),
            ("BICshort", 2),
            ("BRA", 3),
        )
    }
    shoulder = {
        n: Table(data["shoulder"], data["by_shoulder"][:, 2 * k : 2 * k + 2])
        for n, k in (("TRIlong", 0), ("BIClong", 1), ("BICshort", 2))
    }
    system = cd.models.arm26(muscle=None)
    for name, L in zip(MUSCLES, data["length"], strict=True):
        parts = {"r_elbow_flex": elbow[name]}
        if name in shoulder:
            parts["r_shoulder_elev"] = shoulder[name]
        system.add_force(name, muscle(model, name, GivenPath(Given(name, L, parts))))
    return system


@pytest.mark.parametrize("model", ["thelen2003", "millard2012", "degroote2016"])
def test_runs_on_paths_of_opensim(model):
    """q within ten times what separates OpenSim's own runs at 1e-8 and 1e-10; and 5e-9 rad, for the splines
    through its path lengths."""
    data = np.load(DATA / "forward.npz")
    system = fed(model, data)
    for run in [k for k in data if k.startswith(model) and not k.endswith("__q")]:
        biceps, others = (0.05, 0.05) if "a_all" in run else (0.1, 0.02)
        inputs = {n: biceps if n in ("BIClong", "BICshort", "BRA") else others for n in MUSCLES}
        start = system.equilibrate_muscles(
            system.state(inputs=inputs, locked=["r_shoulder_elev"] if "locked" in run else None)
        )
        t, expected = data[run][:, 0], data[run][:, 1:]
        found = cd.simulate(system, start, t[-1], accuracy=1e-9)
        states = [found(x) for x in t]
        np.testing.assert_allclose(
            [s.q for s in states], expected[:, :2], rtol=0, atol=10 * data[f"{run}__q"] + 5e-9
        )
        at = [system.state_variables.index(f"{n}.{system.force(n).TENDON_STATE}") for n in MUSCLES]
        np.testing.assert_allclose([s.z[at] for s in states][1:], expected[1:, 4:], rtol=0, atol=1e-6)


def test_a_tendon_far_from_its_balance_comes_back():
    """De Groote's state is the tendon's force, from which the fiber's velocity follows by an exponential. At
    1 the tendon alone is longer than the path here, and no step was small enough for that velocity. Loose
    runs of a walker whose activations switch off stopped for the same reason, at small errors of the
    tendon's force."""
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=2.0, com=(0, -0.15, 0), inertia=(0.05, 0.01, 0.05))
    path = cd.paths.Path([("ground", (0.02, 0.3, 0)), ("arm", (0.03, -0.05, 0))])
    system.add_force(
        "m",
        cd.muscles.DeGroote2016(
            path, max_isometric_force=500.0, optimal_fiber_length=0.14, tendon_slack_length=0.34
        ),
    )
    runs = [
        cd.simulate(system, system.state(z=[0.5, 1.0]), t_final=0.1, accuracy=accuracy, integrator=method)
        for accuracy, method in ((1e-3, "merson"), (1e-6, "merson"), (1e-6, "rodas"))
    ]
    assert all(run.finished for run in runs)
    for run, error in zip(runs, (1e-3, 1e-5), strict=False):  # ten times the accuracy
        np.testing.assert_allclose(run.q[-1], runs[2].q[-1], rtol=0, atol=error)
