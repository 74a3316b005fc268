"""cd.track and cd.predict: known torques come back, masses are found again, and what is said of bad input."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd


@pytest.fixture(scope="module")
def arm() -> cd.System:
    system = cd.System()
    mass = {"com": (0, -0.15, 0), "inertia": (0.02, 0.02, 0.02)}
    upper = system.add_body("upper", mobilizer=cd.Pin(), mass=2.0, coordinates="shoulder", **mass)
    system.add_body("lower", upper, cd.Pin(), X_PF=(0, -0.3, 0), mass=1.5, coordinates="elbow", **mass)
    return system


@pytest.fixture(scope="module")
def motion() -> cd.Table:
    t = np.linspace(0, 1, 101)
    s = 10 * t**3 - 15 * t**4 + 6 * t**5
    return cd.Table(t, ["shoulder", "elbow"], np.column_stack([0.5 * s, 1.2 * s]), ["rad", "rad"])


def test_torques_of_a_tracked_motion_are_those_of_inverse_dynamics(arm: cd.System, motion: cd.Table) -> None:
    found = cd.track(arm, motion, effort=1e-6, scheme="radau-3", accuracy=1e-8)
    assert found.answer.ok and found.quality.verdict == "ok"
    moments = cd.inverse_dynamics(arm, motion)
    for name in ("shoulder", "elbow"):
        exact = np.interp(found.torques.time, moments.time, moments[name])
        # the mesh, and ends, where tracking counts little
        assert np.abs(found.torques[name] - exact)[4:-4].max() < 0.05 * np.abs(exact).max()
    assert max(found.differences.values()) < 1e-3
    assert "solved" in repr(found)


def test_a_mass_is_found_again(arm: cd.System, motion: cd.Table) -> None:
    """Loads that hold a heavier forearm: as RRA does, its mass is adjusted until little torque is needed."""
    heavy = arm.copy(
        bodies={"lower": {"mass": 1.7, "com": (0, -0.15, 0), "inertia": 1.7 / 1.5 * 0.02 * np.ones(3)}}
    )
    moments = cd.inverse_dynamics(heavy, motion)
    t, held = motion.time, arm
    for name in ("shoulder", "elbow"):
        held = held.copy()
        held.add_force(f"{name} held", cd.forces.MobilityForce(name, (t, moments[name])))
    found = cd.track(held, motion, torques=0.1, adjust="lower mass", mesh=40, accuracy=1e-8)
    assert found.parameters["lower mass"] == pytest.approx(1.7, rel=2e-3)  # the mesh
    assert found.system.body("lower").mass == pytest.approx(found.parameters["lower mass"])
    assert found.system.body("lower").mass_properties.inertia[0, 0] == pytest.approx(
        0.02 * 1.7 / 1.5, rel=2e-3
    )


def test_a_prediction_between_two_poses(arm: cd.System) -> None:
    ends = {"start": {"shoulder": 0.0, "elbow": 0.0}, "end": {"shoulder": 0.5, "elbow": 1.0}}
    answer = cd.predict(arm, 0.8, **ends, at_rest="both", torques=10.0, mesh=20)
    assert answer.ok and answer.motion.values[-1] == pytest.approx([0.5, 1.0])
    shorter = cd.predict(
        arm, (0.2, 0.8), **ends, at_rest="both", torques=10.0, mesh=20, minimize=cd.goals.Effort()
    )
    assert shorter.objective <= answer.objective * (1 + 1e-6)


def test_bad_input_of_studies_is_named(arm: cd.System, motion: cd.Table) -> None:
    with pytest.raises(cd.errors.UnknownNameError, match="lowr"):
        cd.track(arm, motion, adjust="lowr mass")
    with pytest.raises(cd.errors.DescriptionError, match="BODY mass"):
        cd.track(arm, motion, adjust="lower inertia")
    with pytest.raises(cd.errors.DescriptionError, match="0 to 1 s"):
        cd.track(arm, motion, times=(0.5, 1.5))
    with pytest.raises(cd.errors.DescriptionError, match="at_rest"):
        cd.predict(arm, 1.0, at_rest="always")
