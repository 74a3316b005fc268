"""Ends that a user hears of: no slope far from the goal, and markers in millimeters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import condyle as cd

G = cd.goals


def pendulum() -> cd.System:
    system = cd.System()
    system.add_body("rod", mobilizer=cd.Pin(), mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    return system


TIP = (1.0, 0.0, 0.0)


def test_a_place_without_slope_that_is_no_least_is_said():
    system = pendulum()
    away = G.Station("rod", TIP, (-1.0, 0.0, 0.0))
    with pytest.warns(
        RuntimeWarning, match=r"no slope but are not at their least: goal 'rod station' is missed by 2 m"
    ):
        cd.assemble(system, system.state(), away)
    frames = cd.assemble_frames(system, system.state(), G.Station("rod", TIP, [(-1.0, 0, 0), (-1.0, 0, 0)]))
    assert list(frames.failures) == [0]
    assert "no slope" in frames.status and frames.failures[0] == cd.Status.NO_SLOPE
    np.testing.assert_allclose(
        cd.assemble(system, system.state(q=[0.1]), away).q, [np.pi], rtol=0, atol=1e-6
    )  # reached


@pytest.mark.parametrize("target", [(0.0, 1.0, 0.0), (5.0, 5.0, 0.0)])
def test_a_least_is_quiet_however_far(target):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system = pendulum()
        cd.assemble(system, system.state(), G.Station("rod", TIP, target))


@pytest.mark.parametrize(
    "goals",
    [[G.Station("rod", TIP, (0.0, 1000.0, 0.0))], [G.Station("rod", (1000.0, 0, 0), (0.0, 1000.0, 0.0))]],
)
def test_millimeters_are_said(goals):
    system = pendulum()
    with pytest.warns(RuntimeWarning, match="are positions in meters"):
        cd.assemble(system, system.state(q=[0.3]), goals)
    with pytest.warns(RuntimeWarning, match="assemble_frames: .*are positions in meters"):
        cd.assemble_frames(system, system.state(q=[0.3]), goals, t=[0.0, 1.0])


def test_a_walk_far_from_the_origin_is_quiet():
    system = cd.System()
    system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    markers = [
        G.Station("b", p, np.add(p, (300.0, 0.0, 0.0)), name=str(p))
        for p in ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1))
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cd.assemble(system, system.state(), markers)


def test_millimeters_are_said_where_no_frame_finds_an_end():
    """The point does not move with the last joint: so far from its target the fit does not settle, and says
    why."""
    system = cd.System()
    system.add_body("thigh", mobilizer=cd.Ball(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_body("shank", "thigh", cd.Pin(), X_PF=(0, -0.4, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    with pytest.warns(RuntimeWarning, match="assemble_frames: .*are positions in meters"):
        frames = cd.assemble_frames(
            system, system.state(), G.Station("shank", (0, 0, 0), np.full((2, 3), 420.0)), t=[0.0, 1.0]
        )
    assert len(frames.failures) == 2
