"""What a muscle reports of itself, and what static optimization takes from it."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.model.symbols import Symbols
from condyle.native.tables.staged import Staged

LINE = cd.paths.Path([("ground", (0, 0, 0)), ("block", (0, 0, 0))])
MUSCLES = {
    "thelen": (cd.muscles.Thelen2003, {}),
    "millard": (cd.muscles.Millard2012, {}),
    "undamped": (cd.muscles.Millard2012, {"fiber_damping": 0.0}),
    "degroote": (cd.muscles.DeGroote2016, {}),
    "hill": (cd.muscles.Hill, {}),
    "rigid": (cd.muscles.Millard2012, {"tendon": "rigid"}),
}


def along_a_line(muscle, **options) -> cd.System:
    """A muscle with F_0 = 100, l_0 = 0.1, l_S = 0.2 along a slider of 1 kg."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("block", mobilizer=cd.Slider(), mass=1.0)
    system.add_force("m", muscle(LINE, 100.0, 0.1, 0.2, 0.3, **options))
    return system


def evaluated(system: cd.System, ask, **given) -> dict[str, np.ndarray]:
    """What `ask(muscle, view)` gives at states."""
    s = Symbols(system.compiled.model)
    view = s.view(s.kinematics())
    [found] = [ask(law, view) for _, law in s.laws(view) if isinstance(law, cd.muscles.Muscle)]
    tail = system.compiled.tails.make({k: v for k, v in given.items() if k not in "qu"})
    tail = np.broadcast_to(tail, (*np.shape(given["q"])[:-1], tail.shape[-1]))
    staged = Staged("asked", [s["q"], s["u"], s["tail"]], [ca.SX(x) for x in found.values()])
    out = staged.evaluate([np.array(given["q"]).T, np.array(given["u"]).T, tail.T])
    return dict(zip(found, (y[0] for y in out), strict=True))


@pytest.mark.parametrize("name", MUSCLES)
def test_forces_and_powers_balance(name):
    """T = F cos(alpha), l_MT = l_T + l_M cos(alpha), and the power of the muscle is that of its parts."""
    muscle, options = MUSCLES[name]
    system = along_a_line(muscle, **options)
    rng = np.random.default_rng(0)
    q, u = rng.uniform(0.28, 0.33, (50, 1)), rng.uniform(-0.5, 0.5, (50, 1))
    z = np.column_stack([rng.uniform(0.05, 1, 50), rng.uniform(0.08, 0.12, 50)])
    z = z[:, : len(system.state_variables)]
    if name == "degroote":
        # sinh of a force that the fiber cannot hold is a velocity beyond all digits
        z[:, 1] = rng.uniform(0.5, 1.2, 50) * z[:, 0]
    r = evaluated(
        system, lambda m, s: {k: x for k, (_, x) in m.report(s).items()}, q=q, u=u, z=z, inputs={"m": 0.5}
    )
    cos = np.cos(r["pennation_angle"])
    np.testing.assert_allclose(r["fiber_force"] * cos, r["tendon_force"], rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(r["tendon_length"] + r["fiber_length"] * cos, q[:, 0], rtol=1e-13)
    np.testing.assert_allclose(
        r["tendon_velocity"] + r["fiber_velocity"] / cos, u[:, 0], rtol=1e-12, atol=1e-12
    )
    parts = r["fiber_active_power"] + r["fiber_passive_power"] + r["tendon_power"]
    np.testing.assert_allclose(
        parts, r["muscle_power"], rtol=1e-8, atol=1e-8 * np.abs(r["tendon_power"]).max() + 1e-12
    )
    T = -system.forward_dynamics(q, u, z=z, inputs={"m": 0.5})[:, 0]
    np.testing.assert_allclose(r["tendon_force"], T, rtol=1e-12, atol=1e-12)


def test_what_static_optimization_takes():
    """With a rigid tendon, T is active plus passive force; active force of the linear models is a times that
    at 1."""
    q, u = np.array([[0.31], [0.19], [0.35]]), np.array([[-0.2], [0.0], [0.1]])

    def ask(m, s):
        return {
            "a": m.active_force(s, ca.SX(0.3)),
            "one": m.active_force(s, ca.SX(1)),
            "passive": m.passive_force(s),
        }

    for muscle in (cd.muscles.Hill, cd.muscles.Millard2012, cd.muscles.Thelen2003):
        system = along_a_line(muscle, tendon="rigid", activation_dynamics=False)
        r = evaluated(system, ask, q=q, u=u, inputs={"m": 0.3})
        T = -system.forward_dynamics(q, u, inputs={"m": 0.3})[:, 0]
        np.testing.assert_allclose(r["a"] + r["passive"], T, rtol=1e-12, atol=1e-12)
        if muscle is not cd.muscles.Thelen2003:
            np.testing.assert_allclose(r["a"], 0.3 * r["one"], rtol=1e-13)
        assert T[1] == 0  # slack
