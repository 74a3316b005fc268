"""Contact along lines: Johnson's force, its energy, moments of tilted rollers, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp
from scipy.integrate import quad

import condyle as cd
from condyle.errors import DescriptionError

C = cd.contact
E = 1e6
R, R_2 = 0.2, 0.1
BOTH = E / 2**1.5  # E* of two equal materials


def lying(length=1.0, slices=8, other="floor", material=None, weight=0.0):
    """A roller on a body that is free, over a floor along x or another roller."""
    m = C.Material(E) if material is None else material
    system = cd.System(gravity=(-weight, 0, 0))
    system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(1, 1, 1))
    floor = C.HalfSpace("ground", (1, 0, 0), 0.0, m)
    below = floor if other == "floor" else C.Roller("ground", (-R_2, 0, 0), R_2, length, m, slices=slices)
    system.add_contact("c", below, C.Roller("b", None, R, length, m, slices=slices))
    return system


def posed(x, tilt=0.0):
    """q with the axis a depth below where it touches, turned about y."""
    return np.array([np.cos(tilt / 2), 0, np.sin(tilt / 2), 0, R - x, 0, 0])


def johnson(x, pair=False):
    """f' of (58), by a root of 15 digits."""
    radius = R * R_2 / (R + R_2) if pair else R
    a = lambda f: mp.sqrt(4 * f * radius / (mp.pi * BOTH))
    log = lambda f: mp.log(4 * R / a(f)) + mp.log(4 * (R_2 if pair else R) / a(f))
    return mp.findroot(lambda f: f / (mp.pi * BOTH) * (log(f) - 1) - x, BOTH * x / 2)


@pytest.mark.parametrize("other", ["floor", "roller"])
def test_force_over_loads_and_lengths(other):
    depths = np.array([1e-6, 1e-4, 5e-4, 2e-3, 0.01, 0.05])
    exact = np.array([float(johnson(x, other == "roller")) for x in depths])
    for length in (0.05, 1.0, 5.0):
        system = lying(length, other=other)
        f = system.applied_forces(np.array([posed(x) for x in depths]), np.zeros((6, 6)))
        # a depth of 1e-6 of 0.2 m has lost six digits; the sum of eight weights is 1 to rounding
        np.testing.assert_allclose(f[:, 3], length * exact, rtol=2e-10)
        assert np.abs(f[:, [0, 1, 2, 4, 5]]).max() < 1e-9 * f[-1, 3]


def test_force_is_the_slope_of_the_energy():
    """Also beyond 0.4 C, where the force goes on along its tangent."""
    system = lying()
    for x in (1e-5, 1e-3, 0.05, 0.079, 0.0805, 0.12):
        h = 1e-4 * x
        V = [system.energy(posed(y), np.zeros(6))[1] for y in (x - h, x + h)]
        f = system.applied_forces(posed(x), np.zeros(6))[3]
        assert (V[1] - V[0]) / (2 * h) == pytest.approx(f, rel=1e-6)  # differences of second order


def test_patch_and_apart():
    system = lying(slices=1)
    a, b = system.contacts.patches(posed(1e-3))[0]
    assert a == 0.5 and b == pytest.approx(float(mp.sqrt(4 * johnson(1e-3) * R / (mp.pi * BOTH))), rel=1e-9)
    assert not system.contacts.patches(posed(-1e-3)).any()
    assert not system.applied_forces(posed(-1e-3), np.zeros(6)).any()


@pytest.mark.parametrize(("tilt", "allowed"), [(1e-4, 1e-9), (9e-4, 1e-3), (0.01, 4e-3)])
def test_a_tilted_roller_is_a_sum_of_slices(tilt, allowed):
    """Against adaptive integration of (62). From 1e-3 on half of the line is apart: eight slices see a kink."""
    system, x = lying(), 5e-4
    middle = R * np.cos(tilt) - (R - x)
    depth = lambda z: middle + z * np.sin(tilt)
    local = lambda z: float(johnson(depth(z))) if depth(z) > 1e-9 else 0.0
    end = [-middle / np.sin(tilt)] if middle < 0.5 * np.sin(tilt) else None
    force, moment = (
        quad(lambda z, k=k: local(z) * z**k, -0.5, 0.5, points=end, epsrel=1e-8, limit=80)[0] for k in (0, 1)
    )
    f = system.applied_forces(posed(x, tilt), np.zeros(6))
    assert f[3] == pytest.approx(force, rel=allowed)
    # the slip of the lowest points adds lever arms of R sin(tilt) across the axis
    assert abs(f[1]) == pytest.approx(moment, rel=allowed + 2e-2)


def test_it_rolls_and_comes_back():
    """Energy is kept in a bounce, tilted; friction makes it roll."""
    system = lying()
    start = system.state(q=posed(-0.001, 5e-4), u=np.array([0, 0, 0, -0.05, 0, 0]))
    traj = cd.simulate(system, start, 0.1, accuracy=1e-9)
    total = np.array([sum(s.energy()) for s in traj])
    np.testing.assert_allclose(total, total[0], rtol=1e-6)  # of the run
    assert traj.q[:, 4].min() < R and traj.q[-1, 4] > R
    rough = C.Material(1e6, dissipation=1.0, static_friction=0.8, dynamic_friction=0.8)
    heavy = lying(material=rough, weight=9.81)
    sliding = heavy.state(q=posed(1e-4), u=np.array([0, 0, 0, 0, 1.0, 0]))
    end = cd.simulate(heavy, sliding, 1.0, accuracy=1e-5)[-1]
    # without slip v = w R = v_0 / (1 + I / m R^2); friction at rest creeps
    assert end.u[4] == pytest.approx(0.04 / 1.04, rel=5e-3)
    assert end.u[4] == pytest.approx(end.u[2] * R, rel=5e-3)


def test_what_it_does_not_touch():
    m = C.Material(E)
    system = cd.System()
    system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(1, 1, 1))
    roller = C.Roller("b", None, R, 1.0, m)
    with pytest.raises(DescriptionError, match="Roller touches HalfSpace, Roller"):
        system.add_contact("c", roller, C.Sphere("ground", (0, 0, 0), 0.1, m))
    for slices in (0, 1.5, True, "8"):
        with pytest.raises(DescriptionError, match="slices"):
            C.Roller("b", None, R, 1.0, m, slices=slices)
    with pytest.raises(DescriptionError, match="smooth"):
        system.add_contact("c", roller, C.HalfSpace("ground", (0, 1, 0), 0.0, m), smooth=1e-4)
