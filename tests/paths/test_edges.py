"""Edges: each is right or named."""

from __future__ import annotations

from operator import attrgetter

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle import paths
from condyle.forces.path import PathSpring
from condyle.native.calls.native_function import NativeFunction
from condyle.native.tables.staged import build_function
from condyle.paths import Cylinder, Ellipsoid, Sphere
from tests.oracles.geodesics import random_ends, true_length
from tests.paths.test_paths import BENT, arm
from tests.paths.test_segments import function
from tests.paths.test_several import taut

SURFACES = {"cylinder": Cylinder(1.0), "sphere": Sphere(1.0), "ellipsoid": Ellipsoid((1.0, 1.0, 1.0))}


@pytest.mark.parametrize("name", SURFACES)
def test_ends(name):
    """Inside, on the axis, at one place, on the surface, opposite to each other."""
    f = function(SURFACES[name])

    def straight(*ends):
        found = f(ends)
        assert np.isfinite(found[:7]).all() and found[43] == 0
        return found[0] == pytest.approx(
            np.linalg.norm(np.subtract(ends[3:], ends[:3])), rel=1e-15, abs=1e-100
        )

    assert straight(0.2, 0.1, 0, 3, 0, 0)  # an end inside
    assert straight(0.2, 0.1, 0, 0.3, -0.1, 0.2)  # both
    if name == "cylinder":
        assert straight(0, 0, -5, 0, 0, 5)  # along its axis
    assert straight(2, 0.5, 1, 2, 0.5, 1)  # one place
    assert straight(1, 0, 0, 1, 0, 0)  # one place, on the surface
    assert straight(1, 2, -3, 1, 2, 3)  # beside the axis
    opposite = f([-2, 0, 0, 2, 0, 0])
    assert opposite[0] == pytest.approx(2 * np.sqrt(3) + np.pi / 3, rel=1e-9) and opposite[43] == 1
    hardly_off = f([-1 - 1e-9, 0, 0, 1, 1e-3, 0])
    assert hardly_off[0] == pytest.approx(np.pi - 1e-3, rel=1e-3)


@pytest.mark.parametrize(
    "surface", [Cylinder(1.0, quadrant="x"), Sphere(1.0, quadrant="x")], ids=["cylinder", "sphere"]
)
def test_more_than_half_a_turn(surface):
    """Both ends are on the wrong side: around the other, by tangents to a circle."""
    found = function(surface)([-2, 0.5, 0, -2, -0.6, 0])
    assert found[0] == pytest.approx(taut((-2, 0.5), (-2, -0.6), [((0, 0), 1.0, -1)]), rel=1e-14)
    assert found[0] > 2 * np.sqrt(3) + np.pi


def test_pieces_without_length():
    """Points at one place: lengths, moment arms, accelerations and their derivatives are as with one of
    them."""
    via = [("ground", (0.02, 0.1, 0)), ("upper", (0.03, -0.1, 0.01)), ("lower", (0.02, -0.1, 0))]
    wraps = [paths.Wrap(Cylinder(0.02), "upper", (0.0, -0.3, 0.0), name="joint")]
    once, twice = (
        arm(PathSpring(paths.Path(points, wraps), 500.0, 0.1))
        for points in (via, [via[0], via[1], via[1], via[2], via[2]])
    )
    q, u = np.array([0.2, 0.9]), np.array([1.0, -2.0])
    for name, given in (
        ("path_lengths", (q,)),
        ("path_speeds", (q, u)),
        ("moment_arms", (q,)),
        ("forward_dynamics", (q, u)),
    ):
        a, b = (attrgetter(name)(s)(*given) for s in (once, twice))
        np.testing.assert_allclose(b, a, rtol=1e-13, atol=1e-15)
        J, K = (s.jacobian(name, *given, wrt="q") for s in (once, twice))
        np.testing.assert_allclose(K, J, rtol=1e-10, atol=1e-12)


def test_ends_that_meet():
    """The two ends of a path at one place pull nothing, and nothing is NaN."""
    system = arm(PathSpring(paths.Path([("upper", (0, -0.3, 0)), ("lower", (0, 0, 0))]), 500.0, 0.1))
    q, u = np.zeros(2), np.ones(2)
    assert system.path_lengths(q) == 0 and not system.moment_arms(q).any()
    assert np.isfinite(system.forward_dynamics(q, u)).all() and np.isfinite(system.path_speeds(q, u)).all()


def test_touch_down_and_lift_off():
    """A run crosses both, and energy is kept. A goal and an event may ask for a length."""
    system = arm(PathSpring(BENT, 500.0, 0.1))
    state = system.state(q=[0.3, -1.6])
    traj = cd.simulate(system, state, 1.5, accuracy=1e-8)
    t = np.linspace(0, 1.5, 600)
    q = np.stack([np.interp(t, traj.t, traj.q[:, i]) for i in range(2)], axis=1)
    points = system.path_points(q)["f0"]
    wrapped = np.linalg.norm(points[:, 1] - points[:, -2], axis=1) > 1e-12
    assert np.count_nonzero(np.diff(wrapped)) >= 2
    kinetic, potential = system.energy(traj.q, traj.u)
    np.testing.assert_allclose(kinetic + potential, (kinetic + potential)[0], rtol=0, atol=1e-6)

    L = system.path_lengths(state.q)[0]
    event = cd.Event(lambda s: s.ask(BENT.length)[0] - 0.98 * L, terminal=True, direction="both")
    ended = cd.simulate(system, state, 1.5, events=[event], accuracy=1e-8)
    assert system.path_lengths(ended[-1].q)[0] == pytest.approx(0.98 * L, rel=1e-6)
    goal = cd.goals.Custom(lambda s: s.ask(BENT.length)[0] - 0.97 * L)
    found = cd.assemble(system, state, [goal])
    assert system.path_lengths(found.q)[0] == pytest.approx(0.97 * L, rel=1e-6)


@pytest.mark.parametrize("name", ["cylinder", "sphere", "ellipsoid", "slim"])
def test_ends_on_the_surface_to_rounding(name):
    """There a path is what it is a little farther out, or straight if rounding says inside. Lengths over a
    cylinder or a sphere had another turn in a tenth of these cases, those over an ellipsoid were NaN in a sixth, or
    its directions were."""
    surface = {**SURFACES, "slim": Ellipsoid((2.5, 1.0, 0.8))}[name]
    f, rng, n = function(surface), np.random.default_rng(0), 1000
    u = rng.normal(size=(2, n, 3)) * (1, 1, 0.2 if name == "cylinder" else 1)
    u /= np.linalg.norm(u[..., :2] if name == "cylinder" else u, axis=-1)[..., None]
    radii = np.array(getattr(surface, "radii", (1.0, 1.0, 1.0)))
    on, out = u * radii, u / radii * (1, 1, name != "cylinder")
    out /= np.linalg.norm(out, axis=-1)[..., None]
    far = np.where(np.arange(n) % 2, 0.5, 0.0)[:, None]  # of every other path the last end is farther out
    wrapped = 0
    for outward in (0.0, 1e-16, -1e-16, 3e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-10):
        above, below = (
            f(np.hstack([on[0] + h * out[0], on[1] + (far + h) * out[1]])) for h in (1e-8, outward)
        )
        over = below[:, 43] == 1
        assert np.isfinite(below).all()
        chord = np.linalg.norm((on[0] - on[1] - far * out[1])[~over], axis=1)
        np.testing.assert_allclose(below[~over, 0], chord, rtol=1e-9)
        same = over & (above[:, 43] == 1)
        # at a height of h a direction is sqrt(2 h) from that on the surface; of it a height far out makes a length of h
        np.testing.assert_allclose(below[same, 0], above[same, 0], rtol=0, atol=3e-8)
        np.testing.assert_allclose(below[same, 1:7], above[same, 1:7], rtol=0, atol=1e-3)
        wrapped += same.sum()
    assert wrapped > 3000


def test_between_nearly_opposite_ends_of_a_chord_beside_the_center():
    """The point of the ellipsoid that is closest to this chord is beyond its end, and in that plane there is no path:
    NaN in a hole of some 1e-4 m (SerratusAnterior_I of a shoulder, one pose of 100,000). By the oracle's shooting
    from 720 points of the silhouette the shortest of four geodesics is 0.28292."""
    ends = [
        -0.034654827857673,
        0.004036482064728,
        -0.146213471993462,
        0.015980720385369,
        -0.040975948968574,
        0.0722152,
    ]
    found = function(Ellipsoid((0.0740668, 0.169952, 0.0704834)))
    near = np.array(ends) + 1e-4 * np.random.default_rng(0).normal(size=(50, 6))
    assert found(ends)[0] == pytest.approx(0.28292, abs=1e-5)
    assert np.isfinite(found(near)).all()


def test_sharply_bent_surfaces():
    """Over the rim of a disc twelve Gauss points do not suffice, whatever the angles at the ends: lengths were 4e-4 of
    the size off. The oracle shoots from one end."""
    radii, n = np.array([1.0, 1.0, 0.2]), 300
    ends = random_ends("antipodal", n, radii, np.random.default_rng(1))
    rows = row_function(radii)(ends)
    A, B, L, P, Q = ends[:, :3], ends[:, 3:], rows[:, 1], rows[:, 20:23], rows[:, 23:26]
    arc = L - np.linalg.norm(P - A, axis=1) - np.linalg.norm(B - Q, axis=1)
    true, miss, _ = true_length(A, B, radii, P, arc, 80)
    sure = miss < 1e-11
    assert sure.mean() > 0.9
    np.testing.assert_allclose(L[sure], true[sure], rtol=0, atol=1e-9)


def row_function(radii) -> NativeFunction:
    """Ends (6,) -> the row."""
    x = ca.SX.sym("x", 6)
    row = Ellipsoid(tuple(radii)).row(x[:3], x[3:])
    return NativeFunction(
        "row",
        lambda: build_function("row", [x], [row]),
        key=f"test row {tuple(radii)}",
        inputs=[("x", 6)],
        outputs=[("row", row.numel())],
    )
