"""Random pairs of every kind, apart, grazing and deep: solved or named, with certificates of their own."""
from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from tests.contact import rig
from tests.contact.random_pairs import CONVEX, KINDS, Asked, in_rings, many

BOTH = [kind for kind in KINDS if kind.count("implicit") == 2 or "both" in kind]
"""Deep ones take milliseconds each."""
SOME = ["sphere, sphere", "sphere, cylinder", "sphere, box", "ellipsoid, cylinder", "plane, torus",
        "plane, box", "ellipsoid, implicit of power 4", "sphere, torus", "terrain, sphere"]


def fits(found, most_named=0.0):
    assert found.wrong == 0, f"{found.kind}: {found.wrong} wrong, such as {found.bad[:5]}"
    assert found.named <= most_named * found.pairs


@pytest.mark.parametrize("kind", SOME)
def test_some(kind):
    """Rings are seated by balls, which is named: at most half of these pairs, two thirds of which overlap."""
    fits(KINDS[kind](kind, 600), 0.5 if KINDS[kind] is in_rings else 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many(kind, evidence):
    """100,000 pairs each, of two surfaces in Python 25,000: see docs/theory/contact.md."""
    found = many(kind, 25_000 if kind in BOTH else 100_000)
    evidence(f"random pairs of {kind}: wrong of {found.pairs}", found.wrong, 0.5)
    fits(found, 0.5 if KINDS[kind] is in_rings else 0.0)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name == "implicit, implicit"
                                  else name for name in rig.KINDS])
def test_touch_down_is_once_differentiable(name, monkeypatch):
    """At rest, 1e-9 to 1e-6 m around touch-down: no force and no slope before, k x^(3/2) and 3/2 k x^(1/2)
    after, so that both are continuous."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = rig.two(*rig.KINDS[name])
    q, _ = rig.touching(system, 4, depth=0.0)
    n = system.contact_normals(q)[0]
    x = np.array([1e-9, 1e-8, 1e-7, 1e-6])
    moved = lambda x: np.tile(q, (len(x), 1)) - np.outer(x, np.concatenate([np.zeros(11), n]))
    way = np.zeros((4, 12))
    way[:, 9:] = -n
    u = np.zeros((4, 12))
    ask = lambda q: (system.contact_forces(q, u)[:, 0] @ n,
                     system.jvp("contact_forces", q, u, tangents={"q": way}).reshape(4, 3) @ n)
    for y in ask(moved(-x)):
        assert not y.any()
    f, slope = ask(moved(x))
    x = system.contact_depths(moved(x))[:, 0]
    # depths are differences of lengths of 0.5 m: 1e-16 over 1e-9 m; the curvature changes by x over 1 cm
    np.testing.assert_allclose(f / x**1.5, f[2] / x[2]**1.5, rtol=2e-4)
    np.testing.assert_allclose(slope / x**0.5, 1.5 * f[2] / x[2]**1.5, rtol=5e-4)


def test_spheres_on_the_axis_of_a_cylinder_are_pushed_out():
    """All sides are equally near: one is taken. There was no normal, and no force."""
    ask = Asked(*CONVEX["sphere, cylinder"])
    q = np.zeros((1, 14))
    q[:, [0, 7]] = 1
    sizes = np.array([[0.05, 0.1, 0.6, 0.01]])
    x, n, _ = ask.where(q, sizes)
    assert x[0] == pytest.approx(0.15) and np.linalg.norm(n[0]) == pytest.approx(1.0)
    assert abs(n[0, 2]) < 1e-15


def test_named_pairs_are_errors():
    """A ball that sits in a ring."""
    ring = cd.contact.Torus("b", None, 0.1, 0.03, rig.STEEL)
    system = rig.two(cd.contact.Sphere("a", (0, 0, 0), 0.1, rig.STEEL), ring)
    with pytest.raises(cd.ContactError, match="'touch' finds no closest points of Sphere"):
        system.contact_depths(system.defaults()[0])
