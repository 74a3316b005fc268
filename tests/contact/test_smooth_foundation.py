"""Elastic foundations with `smooth=`: docs/theory/contact.md (56a), (56b)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import chebyshev
from scipy.special import ndtr

import condyle as cd
from condyle import contact
from tests.contact.meshes import icosphere

K, D = 5e7 / 2, 1e-3  # two layers of 5e5 Pa and 1 cm
FAR = 1e-2  # 9 FAR is far beyond the balls of the tree
MATERIAL = contact.Material(5e5, 0.5, 0.8, 0.6, 0.0, 0.1)
MESH = contact.Mesh("b", None, icosphere(2, 0.1), 0.01, MATERIAL)
TURN = np.array([0.8, 0.2, -0.4, 0.4]) / np.linalg.norm([0.8, 0.2, -0.4, 0.4])
U = np.array([0.2, 0.3, -0.1, 0.06, -0.2, 0.03])


def falling(smooth: float) -> cd.System:
    """A ball of 320 triangles above the ground, and what it has lost."""
    system = cd.System()
    system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    system.add_contact("c", contact.HalfSpace("ground", (0, 1, 0), 0.0, MATERIAL), MESH, smooth=smooth)
    system.add_measure("lost", cd.measures.Integral(lambda s: s.ask(contact.Loss(system.force("c")))[0]))
    return system


@pytest.fixture(scope="module")
def systems() -> dict[float, cd.System]:
    return {d: falling(d) for d in (0.0, D, 1e-2 * D, FAR)}


def state(height: float | np.ndarray) -> np.ndarray:
    """q, with the deepest centroid so far above ground."""
    height = np.asarray(height, dtype=float)
    p = np.zeros((*height.shape, 3))
    p[..., 1] = height + LOWEST
    return np.concatenate([np.broadcast_to(TURN, (*height.shape, 4)), p], axis=-1)


def _below() -> np.ndarray:
    """How far each centroid is below the body's origin."""
    w, x, y, z = TURN
    return -MESH.triangles.centroids @ np.array(
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]
    )


BELOW = _below()
LOWEST = BELOW.max()


@pytest.mark.parametrize("d", [D, 1e-2 * D])
def test_depths(systems, d):
    """Forces, pressures and energy of x Phi(x/d) + d phi(x/d), which is max(x, 0) within 0.39895 d; the
    second deepest centroid is at touch-down."""
    q, A = state(np.sort(BELOW)[-2] - LOWEST), MESH.triangles.areas
    x = BELOW - np.sort(BELOW)[-2]
    z, rest = x / d, np.zeros(6)
    phi = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    depths, near = x * ndtr(z) + d * phi, np.abs(z) < 9
    assert 0 < (depths - np.maximum(x, 0)).max() < 0.39895 * d and near.any()
    f, g = (systems[s].contacts.forces(q, rest)[0, 1] for s in (0.0, d))
    assert f == pytest.approx(K * A @ np.maximum(x, 0), rel=1e-10)
    assert g == pytest.approx(K * A @ depths, rel=1e-10)
    assert 0 < g - f < 0.39895 * d * K * A[near].sum()
    # 1e-5: what x Phi loses above t = 6
    pressures = systems[d].contacts.pressures(q, rest, "c")
    np.testing.assert_allclose(pressures[z > -8.9], K * depths[z > -8.9], rtol=1e-5, atol=1e-15 * K * d)
    assert not pressures[z < -9].any()
    stored = systems[d].energy(q, rest, disabled=("gravity",))[1]
    assert stored == pytest.approx(K / 2 * A @ ((x**2 + d**2) * ndtr(z) + x * d * phi), rel=1e-10)


def test_far_away(systems):
    """Nothing acts from 9 d on; just before, points and normals are those of the nearest faces. Trees leave
    out no face before: the force is the sum over all."""
    system, A = systems[FAR], MESH.triangles.areas
    assert not system.contacts.wrenches(state(9.001 * FAR), U).any()
    P, n = system.contacts.points(state(8.99 * FAR))[0], system.contacts.normals(state(8.99 * FAR))[0]
    assert np.hypot(*P[[0, 2]]) < 0.1 and 0 < P[1] < 9 * FAR
    np.testing.assert_allclose(n, (0, 1, 0), atol=1e-12)
    assert 0 < system.contacts.forces(state(8.99 * FAR), U)[0, 1] < 1e-18 * K * FAR * A.sum()
    z = (BELOW - LOWEST) / FAR - 4.0  # x Phi + d phi has six digits left at z = -6
    total = K * FAR * A @ (z * ndtr(z) + np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))
    assert system.contacts.forces(state(4.0 * FAR), 0 * U)[0, 1] == pytest.approx(total, rel=1e-8)
    assert systems[D].contacts.patches(state(D)).any() == systems[0.0].contacts.patches(state(D)).any() == 0


def test_is_analytic(systems):
    """Wrenches of a moving body that passes through the touch-down of many centroids are a polynomial in its
    height to rounding, and their exact derivatives are the polynomial's; those of the exact law are none."""
    wide, low = 4 * D, -4 * D
    nodes, between = chebyshev.chebpts1(81), np.linspace(-1, 1, 200)
    wrenches = lambda s, z: systems[s].contacts.wrenches(state(low + wide * z), np.tile(U, (len(z), 1)))[
        :, 0, 1
    ]
    off = {}
    for s in (0.0, D):
        c = chebyshev.chebfit(nodes, wrenches(s, nodes), 80)
        F = wrenches(s, between)
        off[s] = np.abs(chebyshev.chebval(between, c).T - F).max() / np.abs(F).max()
    # exp(-z^2/2) over |z| < 4: coefficients of degree 80 are below 1e-20, which leaves rounding
    assert off[D] < 1e-12 and off[0.0] > 1e-4
    slopes = chebyshev.chebval(0.0, chebyshev.chebder(c)) / wide
    exact = systems[D].jacobian("contacts.wrenches", state(low), U, wrt="q")[6:, 4]
    np.testing.assert_allclose(exact, slopes, rtol=0, atol=1e-9 * np.abs(slopes).max())


def test_energy(systems):
    """Falls, bounces and slides: stored and lost make up for each other."""
    start = systems[D].state(q={"b_ty": 0.12}, u={"b_vx": 1.0, "b_wz": -3.0})
    run = cd.simulate(systems[D], start, 0.12, accuracy=1e-10)
    energy = np.array([sum(run(t).energy()) + run(t).z[0] for t in np.linspace(0, 0.12, 13)])
    assert run.z[-1, 0] > 0.05 and np.ptp(energy) < 1e-8
