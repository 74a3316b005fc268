"""Faces of muscles for optimal control against the laws, with the errors that they state."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.muscles import smooth
from condyle.native.tables.lookup import lookup_context
from condyle.native.tables.staged import Staged
from tests.muscles.test_report import along_a_line, evaluated

MUSCLES = {
    "thelen": (cd.muscles.Thelen2003, {}),
    "millard": (cd.muscles.Millard2012, {}),
    "undamped": (cd.muscles.Millard2012, {"fiber_damping": 0.0}),
    "degroote": (cd.muscles.DeGroote2016, {}),
}
N = 60


def staged(fn, *rows: np.ndarray) -> list[np.ndarray]:
    """What `fn` gives at rows of numbers, and its slope over the first."""
    x = ca.SX.sym("x", len(rows))
    with lookup_context():
        out = fn(*ca.vertsplit(x))
        return [y[0] for y in Staged("asked", [x], [*out]).evaluate([np.stack(rows)])]


@pytest.mark.parametrize("name", MUSCLES)
def test_rigid_tendons_pull_as_the_laws_say(name):
    """Slack, short, fast and long. The error is (5)'s: 5e-4 F_0 near zero force, and that of f_P."""
    kind, options = MUSCLES[name]
    system = along_a_line(kind, tendon="rigid", activation_dynamics=False, **options)
    rng = np.random.default_rng(1)
    q, u, a = rng.uniform(0.2, 0.36, N), rng.uniform(-1.5, 1.5, N), rng.uniform(0.02, 1, N)
    T = -system.forward_dynamics(q[:, None], u[:, None], inputs={"m": a})[:, 0]
    law = system.force("m")
    [mine] = staged(lambda l, v, a: [smooth.rigid_tension(law, l, v, a)], q, u, a)
    taut = q - 0.2 > 0.05  # where the fiber is longer than the shortest
    assert np.abs(mine - T)[taut].max() < 1e-3 * 100
    assert (mine > 0).all()


@pytest.mark.parametrize("name", MUSCLES)
def test_elastic_tendons_are_in_equilibrium_where_the_laws_say(name):
    """With the force of the law's tendon and its rate nothing is left, but for the error of Thelen's f_P."""
    kind, options = MUSCLES[name]
    system = along_a_line(kind, **options)
    rng = np.random.default_rng(2)
    q, u, a = rng.uniform(0.29, 0.33, N), rng.uniform(-0.3, 0.3, N), rng.uniform(0.1, 1, N)
    state = system.muscles.equilibrium(q[:, None], z=np.column_stack([a, np.full(N, 0.1)]))
    off = 0.1 if name == "degroote" else 0.005  # of a force, of a length: fibers move
    state[:, 1] *= rng.uniform(1 - off, 1 + off, N)
    asked = lambda m, s: {k: x for k, (_, x) in m.report(s).items()}
    r = evaluated(system, asked, q=q[:, None], u=u[:, None], z=state, inputs={"m": 0.5})
    law = system.force("m")
    [slope] = staged(lambda x: [law.tendon_force_length.derivative(x)], r["tendon_length"] / 0.2)
    f, rate = r["tendon_force"] / 100, slope * r["tendon_velocity"] / 0.2
    assert np.abs(r["normalized_fiber_velocity"]).max() > 0.01
    T, left = staged(lambda *x: smooth.elastic_equilibrium(law, *x)[:2], q, u, a, f, rate)
    np.testing.assert_allclose(T, r["tendon_force"], rtol=1e-9, atol=1e-7)
    # fibers longer than the shortest by 0.5 l_0 have 5e-7 of (4), whose slope is below 10
    assert np.abs(left).max() < (4e-4 if name == "thelen" else 2e-5)
    damped = lambda *x: smooth.elastic_equilibrium(law, *x, law.fiber_damping + 0.01)[1:2]
    more = staged(damped, q, u, a, f, rate)[0] - left
    v_n = r["normalized_fiber_velocity"] * np.cos(r["pennation_angle"])
    np.testing.assert_allclose(more, 0.01 * v_n, rtol=1e-4, atol=1e-9)  # cos(alpha) by (4)


def test_slopes_have_no_jumps():
    """Of the tension over the length where a rigid tendon gets slack, and of an activation where e = a."""
    law = along_a_line(cd.muscles.Thelen2003, tendon="rigid").force("m")
    x = np.linspace(0.202, 0.212, 2001)  # the shortest fiber is 0.1 sin(0.3) / sin(acos 0.1) long
    tension = lambda l, v, a: [ca.jacobian(smooth.rigid_tension(law, l, v, a), l)]
    [slope] = staged(tension, x, 0 * x, 0 * x + 0.5)
    assert np.abs(np.diff(slope)).max() < 0.05 * np.ptp(slope)
    e = np.linspace(0.45, 0.55, 2001)
    [rate] = staged(lambda e, a: [smooth.activation_rate(law, a, e)], e, 0 * e + 0.5)
    sharp = (e - 0.5) / np.where(e > 0.5, 0.015 * 1.25, 0.05 / 1.25)
    assert np.abs(rate - sharp).max() < 0.08
    assert np.abs(np.diff(np.diff(rate))).max() < 0.05 * np.abs(np.diff(rate)).max()


def test_muscles_without_such_a_face_say_so():
    law = along_a_line(cd.muscles.RigidTendon).force("m")
    with pytest.raises(cd.errors.DescriptionError, match="RigidTendon has no face for optimal control"):
        smooth.rigid_tension(law, ca.SX(0.3), ca.SX(0), ca.SX(0.5))
