"""Gravity on some of the bodies."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd

ROUNDING = 1e-12  # a few operations on numbers of order one


def pendulum(**options) -> cd.System:
    system = cd.System(**options)
    system.add_body("a", "ground", cd.Pin("y"), mass=1.0, com=(0.1, 0.0, 0.2), inertia=(1.0, 1.1, 1.2))
    return system


@pytest.mark.parametrize("by_name", [True, False])
def test_weight_comes_back_once(by_name):
    """Gravity that leaves a body alone: named twice, or given as the body itself."""
    first = pendulum()
    system = pendulum(
        gravity=cd.forces.Gravity((0.0, 0.0, -9.81), excluded=("a", "a") if by_name else first.body("a"))
    )
    q, u = np.array([0.4]), np.zeros(1)
    assert abs(system.forward_dynamics(q, u)[0]) < ROUNDING
    assert system.gravity_forces(q)[0] == 0.0
    assert system.energy(q, u) == (0.0, 0.0)


def test_zero_height_and_exclusion_per_state(monkeypatch):
    """A body whose weight a discrete variable takes away, a height that a Parameter lowers, in both layouts
    and formulations."""
    G, M, Q = 9.81, np.array([1.5, 0.5]), np.array([0.4, -0.2])
    for layout in ("unrolled", "looped"):
        monkeypatch.setenv("CONDYLE_LAYOUT", layout)
        lift, h = cd.Discrete("lift", 0.0), cd.Parameter("h", 0.3)
        system = cd.System(gravity=cd.forces.Gravity((0, 0, -G), {"b": lift}, zero_height=h))
        system.add_body("a", mobilizer=cd.Slider("z"), mass=M[0])
        system.add_body("b", "a", cd.Slider("z"), mass=M[1])
        u, height = np.array([0.3, -1.0]), np.cumsum(Q)
        for lift in (0.0, 1.0, 0.25):
            state = system.state(q=Q, u=u, discrete={"lift": lift})
            heavy = M * [1, 1 - lift]
            np.testing.assert_allclose(state.energy()[1], G * heavy @ (height - 0.3), rtol=1e-13)
            np.testing.assert_allclose(
                state.replace(parameters={"h": -1.0}).energy()[1], G * heavy @ (height + 1), rtol=1e-13
            )
            np.testing.assert_allclose(state.udot, [-G, lift * G], rtol=0, atol=1e-13 * G)
            np.testing.assert_allclose(
                state.gravity_forces(), [-G * heavy.sum(), -G * heavy[1]], rtol=1e-13, atol=1e-14
            )
            np.testing.assert_allclose(state.power(), [-G * heavy @ np.cumsum(u)], rtol=1e-13)
            np.testing.assert_allclose(
                cd.maximal.forward_dynamics(system, Q, u, discrete=[lift]), state.udot, atol=1e-12
            )
        off = state.replace(disabled=["gravity"])
        assert (off.energy()[1], *off.udot) == (0.0, 0.0, 0.0)
        assert len([f for f in system.compiled.functions if f[0] == "energy"]) == 1
    with pytest.raises(
        cd.errors.DescriptionError, match=r"excluded: a: expected one finite number .* at least 0, got -1"
    ):
        cd.forces.Gravity((0, 0, -G), {"a": -1})
    with pytest.raises(
        cd.errors.DescriptionError,
        match="expected bodies, their names, or a mapping from them to shares, got 3",
    ):
        cd.forces.Gravity((0, 0, -G), 3)
    system = cd.System(gravity=cd.forces.Gravity((0, 0, -G), {"a": cd.Parameter("share", 0.5)}))
    system.add_body("a", mobilizer=cd.Slider("z"), mass=1.0)
    with pytest.raises(cd.errors.DescriptionError, match=r"excluded: a: .* at least 0, got \[-1\.0\]"):
        system.state(parameters={"share": -1.0})
    with pytest.raises(cd.errors.DescriptionError, match="ground has no weight"):
        cd.System(gravity=cd.forces.Gravity((0, 0, -G), "ground")).state()
