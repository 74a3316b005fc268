"""Muscles at the ends of what a fiber can do."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd

LINE = cd.paths.Path([("ground", (0, 0, 0)), ("block", (0, 0, 0))])


def pulled(pennation: float, **options) -> cd.System:
    """A muscle with F_0 = 100, l_0 = 0.1, l_S = 0.2 along a slider: udot of 1 kg is minus its tension."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("block", mobilizer=cd.Slider(), mass=1.0)
    system.add_force(
        "m", cd.muscles.Thelen2003(LINE, 100.0, 0.1, 0.2, pennation, activation_dynamics=False, **options)
    )
    return system


@pytest.mark.parametrize("pennation", [0.0, 0.3])
def test_a_rigid_tendon_does_not_push(pennation):
    """Where the path is shorter than the tendon, as long as it, or shortens faster than v_max, there is no
    tension."""
    system = pulled(pennation, tendon="rigid")
    L, v = np.array([0.1, 0.19, 0.2, 0.2 + 1e-4, 0.3]), np.array([0, 1.0, 0, 0, -3.0])
    np.testing.assert_array_equal(system.forward_dynamics(L[:, None], v[:, None], inputs={"m": 1.0}), 0)
    assert system.forward_dynamics([0.3], [0.0], inputs={"m": 1.0})[0] < -95


def test_the_shortest_fiber():
    """OpenSim 4.6's Thelen2003Muscle with these numbers: below 0.0297 m all is as there, and it does not
    shorten."""
    system = pulled(0.3)
    # fiber [m], path [m], tension [N], fiber velocity [m/s]; printed there with three and four decimals
    for l_M, L, T, v in (
        (0.0005, 0.25, 935.178, 911.5733),
        (0.0296, 0.31, 2219.081, 2168.7744),
        (0.0296, 0.2, 0, 0),
        (0.03, 0.25, 888.208, 496.3193),
        (0.03, 0.2, 0, -1.0),
        (0.1, 0.31, 238.37, 3.9931),
    ):
        given = {"z": [l_M], "inputs": {"m": 1.0}}
        assert -system.forward_dynamics([L], [0.0], **given)[0] == pytest.approx(T, abs=6e-4)
        assert system.zdot([L], [0.0], **given)[0] == pytest.approx(v, abs=6e-5)


def test_a_fiber_begins_at_its_optimal_length():
    """Where that is a Parameter too."""
    system = pulled(0.0)
    assert system.state().z.tolist() == [0.1]
    changed = cd.System()
    changed.add_body("block", mobilizer=cd.Slider(), mass=1.0)
    changed.add_force("m", cd.muscles.Thelen2003(LINE, 100.0, 2 * cd.Parameter("half", 0.05), 0.2))
    assert changed.state().z.tolist() == [0.05, 0.1]


def test_tables_know_damping(monkeypatch):
    """Muscles without damping have other equations than those with some; in tables they are not mixed."""
    found = {}
    for layout in ("looped", "unrolled"):
        monkeypatch.setenv("CONDYLE_LAYOUT", layout)
        system = cd.System(gravity=(0, 0, 0))
        system.add_body("block", mobilizer=cd.Slider(), mass=1.0)
        for k in range(16):
            system.add_force(
                f"m{k}",
                cd.muscles.Millard2012(
                    LINE, 100.0 + k, 0.1, 0.2, excitation=0.02 * k, fiber_damping=0.1 * (k % 2)
                ),
            )
        z = np.tile([0.3, 0.098], 16)
        found[layout] = system.zdot([0.31], [0.2], z=z)
    np.testing.assert_allclose(found["looped"], found["unrolled"], rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fiber_damping": 0.1}, "no effect with an elastic tendon"),
        ({"pennation_angle": 12.0}, "is it in degrees"),
        ({"fv_linear_extrap_threshold": 1.2}, "below 1, got 1.2"),
    ],
)
def test_refusals(options, words):
    with pytest.raises(cd.errors.DescriptionError, match=words):
        cd.muscles.Thelen2003(LINE, 100.0, 0.1, 0.2, **options)
