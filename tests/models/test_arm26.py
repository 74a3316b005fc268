"""arm26 against OpenSim 4.6 (tests/data/arm26)."""
from __future__ import annotations

import csv
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from condyle.model.symbols import Symbols
from condyle.models import arm26
from condyle.models.arm26 import MUSCLES, path
from condyle.native.calls.function import NativeFunction
from condyle.native.sweeps.lookup import assembled

DATA = Path(__file__).parents[1] / "data" / "arm26"


def table(name: str) -> dict[str, np.ndarray]:
    with open(DATA / f"{name}.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {k: np.array([float(r[k]) for r in rows]) for k in rows[0]}


@pytest.fixture(scope="module")
def motion():
    data = table("kinematics")
    names = "r_shoulder_elev", "r_elbow_flex"
    return tuple(np.column_stack([data[n + end] for n in names]) for end in ("", "_u", "_udot"))


def test_inverse_dynamics(motion):
    """Rounding: both are exact recursions."""
    tau, data = arm26(None).inverse_dynamics(*motion), table("inverse_dynamics_solver")
    expected = np.column_stack([data["r_shoulder_elev_moment"], data["r_elbow_flex_moment"]])
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-13)


# Exact minus OpenSim [mm], whose wrapped lengths are approximate: reference/wrapping.md.
SHORTER = {"TRIlong": 0.0003, "TRIlat": 0.0005, "TRImed": 0.0005, "BIClong": 0.0045, "BICshort": 1e-9, "BRA": 0.024}


def test_path_lengths_and_speeds(motion):
    q, u, _ = motion
    system = arm26(None)
    model, tail = system.compiled.model, system.compiled.tail()

    def expressions():
        s = Symbols(model)
        view = s.view(s.kinematics())
        paths = [path(name).length for name in MUSCLES]
        return assembled("paths", [s["q"], s["u"], s["tail"]], [ca.vertcat(*(p.at(view) for p in paths)),
                                                                ca.vertcat(*(p.rate(view) for p in paths))])

    f = NativeFunction("paths", expressions, key="test arm26 paths", inputs=[("q", 2), ("u", 2), ("tail", len(tail))],
                       outputs=[("L", 6), ("V", 6)])
    L, V = f(q, u, tail)
    lengths = table("muscle_tendon_length")
    for i, name in enumerate(MUSCLES):
        d = 1e3 * (L[:, i] - lengths[name])
        assert -SHORTER[name] <= d.min(), name
        assert d.max() <= 1e-9, name
        # Speeds are those of the exact path: dL/dt by differences of our own lengths.
        h = 1e-6
        slope = (f(q + h * u, u, tail)[0][:, i] - f(q - h * u, u, tail)[0][:, i]) / (2 * h)
        np.testing.assert_allclose(V[:, i], slope, rtol=0, atol=1e-8)
