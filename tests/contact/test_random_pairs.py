"""Random pairs of every kind, apart, grazing and deep: solved or named, with certificates of their own."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.native.tables.staged import build_function
from tests.contact import rig
from tests.contact.random_pairs import CONVEX, KINDS, Asked, fibonacci, many, rotations
from tests.contact.random_shapes import GRAIN, PEBBLE, SOAP, dot, unit

SOME = [
    "sphere, sphere",
    "sphere, cylinder",
    "sphere, box",
    "ellipsoid, cylinder",
    "plane, torus",
    "plane, box",
    "plane, rims of a cylinder",
    "ellipsoid, implicit of power 4",
    "both of power 4",
    "sphere, torus",
    "smaller sphere, torus",
    "box, box",
    "terrain, sphere",
    "terrain, box",
]


def fits(found):
    """Half of the deep third of balls on rings sit in them, most of these because they are larger; all is
    solved of the others, but for a few balls in rings that are nearly closed, and of the sixth power."""
    most_named = {
        "sphere, torus": 0.25,
        "smaller sphere, torus": 5e-3,
        "both of power 6": 2e-4,
        "thin implicit, implicit of power 6": 2e-4,
    }.get(found.kind, 0.0)
    assert found.wrong == 0, f"{found.kind}: {found.wrong} wrong, such as {found.bad[:5]}"
    assert found.named <= most_named * found.pairs


@pytest.mark.parametrize("kind", SOME)
def test_some(kind):
    fits(KINDS[kind](kind, 600))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many(kind, evidence):
    """100,000 pairs each: see docs/theory/contact.md."""
    found = many(kind, 100_000)
    evidence(f"random pairs of {kind}: wrong of {found.pairs}", found.wrong, 0.5)
    fits(found)


def test_deep_surfaces_of_the_fourth_power():
    """Flat along three lines, with several minima in valleys: orientations of both, where b is. Two of them
    were refused, one had another minimum."""
    turns = unit(
        np.array(
            [
                [[-0.626, 0.322, 0.649, 0.288], [-0.916, -0.214, 0.325, 0.099]],
                [[-0.396, 0.378, -0.380, 0.746], [-0.827, 0.008, 0.530, -0.187]],
                [[0.119, -0.835, 0.311, 0.438], [0.825, -0.026, 0.490, 0.282]],
            ]
        )
    )
    at = np.array([[-0.010, 0.064, -0.257], [0.001, -0.001, -0.001], [0.027, -0.004, -0.043]])
    none = np.zeros((3, 3))
    x = Asked(SOAP, SOAP)("depths", np.hstack([turns[:, 0], none, turns[:, 1], at]), none[:, :0])
    ways = fibonacci(100_000)
    for k, (R_a, R_b) in enumerate(zip(rotations(turns[:, 0]), rotations(turns[:, 1]), strict=True)):
        least = (SOAP.support(None, ways @ R_a) + SOAP.support(None, -ways @ R_b) - ways @ at[k]).min()
        assert least - 1e-3 < x[k] < least  # directions are within 6 mrad of the best one


def test_furthest_points_of_surfaces_in_python():
    """As far as their supports, but for `apart`, in any direction."""
    m = ca.SX.sym("m", 3)
    ways = np.vstack([fibonacci(2000), np.eye(3), -np.eye(3), fibonacci(2000) * [1, 1e-3, 1]])
    ways = unit(ways)
    for shape in (PEBBLE, SOAP, GRAIN):
        points = shape.surface("a", []).points
        p = build_function("furthest", [m], [points.furthest(m)]).evaluate([ways.T])[0].T
        short = shape.support(None, ways) - dot(p, ways)
        assert short.min() > -1e-12 and short.max() < points.apart < 0.01 * max(shape.radii)
        assert short.max() > 0.1 * points.apart  # which is not far too large


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name == "implicit, implicit" else name
        for name in rig.KINDS
    ],
)
def test_touch_down_is_once_differentiable(name, monkeypatch):
    """At rest, 1e-9 to 1e-6 m around touch-down: no force and no slope before, k x^(3/2) and 3/2 k x^(1/2)
    after, so that both are continuous."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = rig.two(*rig.KINDS[name])
    q, _ = rig.touching(system, 4, depth=0.0)
    n = system.contacts.normals(q)[0]
    x = np.array([1e-9, 1e-8, 1e-7, 1e-6])
    moved = lambda x: np.tile(q, (len(x), 1)) - np.outer(x, np.concatenate([np.zeros(11), n]))
    way = np.zeros((4, 12))
    way[:, 9:] = -n
    u = np.zeros((4, 12))
    ask = lambda q: (
        system.contacts.forces(q, u)[:, 0] @ n,
        system.jvp("contacts.forces", q, u, tangents={"q": way}).reshape(4, 3) @ n,
    )
    for y in ask(moved(-x)):
        assert not y.any()
    f, slope = ask(moved(x))
    x = system.contacts.depths(moved(x))[:, 0]
    # depths are differences of lengths of 0.5 m: 1e-16 over 1e-9 m; the curvature changes by x over 1 cm
    np.testing.assert_allclose(f / x**1.5, f[2] / x[2] ** 1.5, rtol=2e-4)
    np.testing.assert_allclose(slope / x**0.5, 1.5 * f[2] / x[2] ** 1.5, rtol=5e-4)


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
    q = system.defaults()[0]
    with pytest.raises(cd.errors.ContactError, match="'touch' finds no closest points of Sphere"):
        system.contacts.depths(q)
    q[13] = 0.1  # above it, apart: no force acts
    assert system.contacts.depths(q)[0] == pytest.approx(0.13 - np.hypot(0.1, 0.1))


def test_small_balls_in_thick_rings():
    """Near the axis of a ring without a hole a small ball touches one side only."""
    ring = cd.contact.Torus("b", None, 0.1, 0.095, rig.STEEL)
    system = rig.two(cd.contact.Sphere("a", (0, 0, 0), 0.004, rig.STEEL), ring)
    q = system.defaults()[0]
    q[4] = 0.02
    assert system.contacts.depths(q)[0] == pytest.approx(0.004 + 0.095 - 0.08)


@pytest.mark.parametrize(
    "other",
    [
        cd.contact.Ellipsoid("a", None, (0.1, 0.2, 0.3), cd.contact.Rigid()),
        cd.contact.Implicit("a", None, rig.egg, 0.2, cd.contact.Rigid()),
    ],
    ids=["ellipsoid", "implicit"],
)
def test_points_refuse_what_needs_curvatures(other):
    with pytest.raises(
        cd.errors.DescriptionError, match=f"no contact between Point and {type(other).__name__}"
    ):
        rig.two(other, cd.contact.Point("b", (0, 0, 0), cd.contact.Rigid()))
