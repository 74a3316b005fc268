"""cd.muscle_analysis: arm26 against OpenSim, reports at given activations and of runs."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.studies.muscle_analysis import MuscleAnalysis
from tests.studies.arm import DATA, INNER, arm, motion, reference


@pytest.fixture(scope="module")
def activations() -> cd.Table:
    t = motion().t
    return cd.Table(t, arm().muscles, 0.5 + 0.4 * np.sin(3 * t[:, None] + np.arange(6)))


@pytest.fixture(scope="module")
def analysis(activations) -> MuscleAnalysis:
    return cd.muscle_analysis(arm(), motion(), activations)


def test_lengths_against_opensim(evidence, analysis):
    """OpenSim's paths over surfaces are not exact: wrapping.md explains up to 0.03 mm."""
    data = reference("muscle_tendon_length")
    error = max(abs(analysis.lengths[name] - data[name])[INNER].max() for name in arm().muscles)
    evidence(
        "lengths of arm26's muscles against OpenSim, whose paths over surfaces are not exact [mm]",
        1e3 * error,
        0.03,
    )
    assert analysis.lengths.units == ("m",) * 6


def test_poses_against_opensim(evidence):
    lines = (DATA / "body_transforms.csv").read_text(encoding="utf-8").split()[1:]
    error = 0.0
    for t, body, *numbers in (line.split(",") for line in lines):
        frame = motion()[round(100 * float(t))]
        X, expected = frame.body_pose(body), np.array(numbers, dtype=float)
        error = max(error, abs(X.p - expected[:3]).max(), abs(X.R.ravel() - expected[3:]).max())
    evidence("poses of arm26's bodies against OpenSim [m, -]", error, 1e-12)


def test_the_same_as_operators(analysis):
    q, u = motion().q, motion().u
    np.testing.assert_allclose(analysis.lengths.values, arm().path_lengths(q), rtol=0, atol=1e-12)
    np.testing.assert_allclose(analysis.speeds.values, arm().path_speeds(q, u), rtol=0, atol=1e-12)
    for k, name in enumerate(arm().speeds):
        # two kernels: arms alone, and among all else, whose sums are in another order [m]
        np.testing.assert_allclose(
            analysis.moment_arms[name].values, arm().moment_arms(q)[:, :, k], rtol=0, atol=1e-15
        )
        assert analysis.moment_arms[name].units[0] == "m"


def test_forces_and_powers_balance(analysis, activations):
    """The tendon has the force of the fiber, and its power is what fiber and tendon give."""
    np.testing.assert_allclose(analysis["activation"].values, activations.values)
    along = sum(analysis[f"{part}_fiber_force_along_tendon"].values for part in ("active", "passive"))
    np.testing.assert_allclose(analysis["tendon_force"].values, along, rtol=1e-12, atol=1e-9)
    powers = "fiber_active_power", "fiber_passive_power", "tendon_power"
    parts = sum(analysis[name].values for name in powers)
    np.testing.assert_allclose(analysis["muscle_power"].values, parts, rtol=1e-9, atol=1e-9)
    power = -analysis["tendon_force"].values * analysis.speeds.values
    np.testing.assert_allclose(analysis["muscle_power"].values, power, rtol=1e-12, atol=1e-12)


def test_without_activations_there_is_geometry_only(tmp_path, analysis):
    plain = cd.muscle_analysis(arm(), motion())
    assert not list(plain)
    with pytest.raises(cd.errors.UnknownNameError, match="give activations="):
        plain["fiber_length"]
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'fiber_length'"):
        analysis["fiber_lengths"]
    files = plain.save(tmp_path)
    assert [f.name for f in files] == [
        "length.sto",
        "speed.sto",
        "moment_arm_r_shoulder_elev.sto",
        "moment_arm_r_elbow_flex.sto",
    ]
    np.testing.assert_array_equal(cd.read_table(files[0]).values, plain.lengths.values)
    assert "no activations" in repr(plain)


def test_a_run_has_states_of_its_own():
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), X_BM=(0, 0.3, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    path = cd.paths.Path([("ground", (0.1, 0.1, 0)), ("arm", (0.05, 0, 0))])
    system.add_force("flexor", cd.muscles.Thelen2003(path, 100.0, 0.2, 0.2))
    run = cd.simulate(system, system.equilibrate_muscles(system.state(inputs={"flexor": 0.6})), 0.1)
    found = cd.muscle_analysis(system, run)
    np.testing.assert_allclose(found["fiber_length"]["flexor"], run["flexor.fiber_length"])
    np.testing.assert_allclose(found["activation"]["flexor"], run["flexor.activation"])
    power = found["muscle_power"]["flexor"]
    np.testing.assert_allclose(power, run.power()["flexor"], atol=1e-9)


def test_wrong_activations_are_named(activations):
    with pytest.raises(cd.errors.UnknownNameError, match="unknown column 'BRA'"):
        cd.muscle_analysis(arm(), motion(), activations[list(arm().muscles[:5])])
    with pytest.raises(cd.errors.ShapeError, match="'TRIlong' is 50 at t = 0 s; they go from 0 to 1"):
        cd.muscle_analysis(arm(), motion(), cd.Table(motion().t, arm().muscles, 100 * activations.values))
    system = cd.System()
    system.add_body("b", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1))
    moved = cd.Motion(system, np.arange(4.0), np.zeros((4, 1)))
    with pytest.raises(cd.errors.DescriptionError, match="no force of the system runs along a path"):
        cd.muscle_analysis(system, moved)
