"""leg6dof9musc against OpenSim 4.6 (tests/data/leg6dof9musc), stored and live."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from condyle.models import leg6dof9musc
from tests.process import output

DATA = Path(__file__).parents[1] / "data" / "leg6dof9musc"


def read(name: str) -> dict:
    """Lists of numbers as arrays."""
    given = json.loads((DATA / name).read_text(encoding="utf-8"))
    return {k: v if isinstance(v[0], str) else np.array(v) for k, v in given.items()}


STATES, EXPECTED = read("states.json"), read("numbers.json")


@pytest.fixture(scope="module")
def leg():
    return leg6dof9musc(tendon="rigid")


def test_names(leg):
    assert list(leg.coordinates) == STATES["coordinates"]
    assert list(leg.muscles) == EXPECTED["muscles"]
    assert [b.name for b in leg.bodies] == EXPECTED["bodies"]


def test_poses(leg, evidence):
    """Rounding of three rotations and a spline, some eps each."""
    errors = []
    for i, body in enumerate(EXPECTED["bodies"]):
        R, p = leg.body_pose(STATES["q"], body)
        errors.append(np.abs(np.concatenate([R.reshape(-1, 9), p], axis=1) - EXPECTED["poses"][:, i]).max())
    evidence("leg6dof9musc against OpenSim 4.6: poses of its bodies [m, -]", max(errors), 1e-13)


def test_lengths_and_moment_arms(leg, evidence):
    """Straight pieces between fixed, conditional and moving points: rounding, of derivatives of splines
    too."""
    q = STATES["q"]
    evidence(
        "leg6dof9musc against OpenSim 4.6: lengths of muscles [m]",
        np.abs(leg.path_lengths(q) - EXPECTED["lengths"]).max(),
        1e-13,
    )
    # knee_angle_pat_r too, which a constraint couples to the knee
    evidence(
        "leg6dof9musc against OpenSim 4.6: moment arms [m]",
        np.abs(leg.moment_arms(q) - EXPECTED["moment_arms"]).max(),
        1e-12,
        headline="arms",
    )


def test_mass_matrix_and_inverse_dynamics(leg, evidence):
    """Exact recursions on both sides; moments reach 400 N m."""
    q, u, udot = (STATES[k] for k in ("q", "u", "udot"))
    bones = leg6dof9musc(None)
    evidence(
        "leg6dof9musc against OpenSim 4.6: mass matrix [kg m^2, kg m, kg]",
        np.abs(bones.mass_matrix(q) - EXPECTED["mass_matrix"]).max(),
        1e-12,
    )
    evidence(
        "leg6dof9musc against OpenSim 4.6: inverse dynamics [N m, N]",
        np.abs(bones.inverse_dynamics(q, u, udot) - EXPECTED["inverse_dynamics"]).max(),
        1e-11,
    )


@pytest.mark.peers
def test_opensim_still_says_so():
    """Another build may round differently."""
    if find_spec("opensim") is None:
        pytest.skip("opensim is not installed (extra: peers)")
    said = json.loads(output("-u", DATA / "in_opensim.py", DATA / "leg6dof9musc.osim", DATA / "states.json"))
    for name, expected in EXPECTED.items():
        if isinstance(expected, list):
            assert said[name] == expected
        else:
            np.testing.assert_allclose(np.array(said[name]), expected, rtol=1e-12, atol=1e-12)
