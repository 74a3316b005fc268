"""Implicit surfaces: the ellipsoid's own solver is the second way to every length; other shapes by
differences."""

from __future__ import annotations

import pickle

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.native.calls.native_function import NativeFunction
from condyle.native.tables.staged import build_function
from condyle.paths.implicit_wrap import start
from condyle.paths.shooting import Level, Shooting
from tests.paths.test_segments import function

SLIM, FLAT = (0.035, 0.02, 0.02), (3.0, 2.0, 1.0)


def units(rng, n):
    v = rng.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def pairs(kind, radii, count, seed):
    """Ends (count, 6) whose chord passes through an ellipsoid."""
    rng, radii, n = np.random.default_rng(seed), np.array(radii), 12 * count
    size, at = radii.mean(), units(rng, n) * radii
    normal = at / radii**2 / np.linalg.norm(at / radii**2, axis=1, keepdims=True)
    if kind == "generic":
        A, B = (
            at * (1 + rng.exponential(0.5, (n, 1))),
            units(rng, n) * radii * (1 + rng.exponential(0.5, (n, 1))),
        )
    elif kind == "near":  # both 1e-7 to 1e-3 of the size off the surface
        A = at + normal * size * 10 ** rng.uniform(-7, -3, (n, 1))
        B = A[rng.permutation(n)]
    elif kind == "grazing":  # chords 1e-8 to 1e-2 of the size deep
        e = np.cross(normal, units(rng, n))
        e /= np.linalg.norm(e, axis=1, keepdims=True)
        C = at - normal * size * 10 ** rng.uniform(-8, -2, (n, 1))
        A, B = (C + s * e * size * rng.uniform(0.3, 2, (n, 1)) for s in (-1, 1))
    else:
        B = -at / radii + 0.02 * rng.normal(size=(n, 3))
        A, B = at * (1 + rng.exponential(0.5, (n, 1))), B / np.linalg.norm(B, axis=1, keepdims=True) * radii
        B = B * (1 + rng.exponential(0.5, (n, 1)))
    U, V = A / radii, B / radii
    d = V - U
    s = -(U * d).sum(1) / (d * d).sum(1)
    deepest = U + s[:, None] * d
    through = ((deepest**2).sum(1) < 1) & (s > 0) & (s < 1) & ((U**2).sum(1) > 1) & ((V**2).sum(1) > 1)
    return np.hstack([A, B])[through][:count]


def over_ellipsoids(what):
    """A function of ends (n, 6), radii and quadrant: one solver for all shapes."""
    level = Level(lambda x, radii: (ca.dot(x / radii, x / radii) - 1) / 2, 3)
    shooting = Shooting("implicit_test", level, lambda p: start(level, p))
    p = ca.SX.sym("p", 12)
    row = getattr(shooting, what)(p)
    made = NativeFunction(
        "implicit_test",
        lambda: build_function("implicit_test", [p], [row]),
        key=f"implicit_test {what}",
        inputs=[("p", 12)],
        outputs=[("row", row.numel())],
    )
    return lambda ends, radii, quadrant=(0, 0, 0): made(
        np.hstack([ends, np.tile([*radii, *quadrant], (len(ends), 1))])
    )


@pytest.fixture(scope="module")
def ellipsoids():
    """Ends, radii, quadrant -> L, gradient, wrapped."""
    return over_ellipsoids("row")


def test_one_end_is_enough(ellipsoids):
    """The search from one end finds every path to an end that is 1e-7 to 1e-3 of the size off the surface, which
    shots may pass unseen: the other end is asked where nothing is found, and would hide it."""
    far, near = (pairs(kind, SLIM, 2500, seed=7) for kind in ("generic", "near"))
    ends = np.hstack([far[:, :3], near[:, 3:]])
    found, expected = over_ellipsoids("once")(ends, SLIM)[:, 1], ellipsoids(ends, SLIM)[:, 1]
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=1e-10 * np.mean(SLIM)
    )  # FOUND, squared, and rounding


@pytest.mark.parametrize("kind", ["generic", "near", "grazing", "antipodal"])
@pytest.mark.parametrize("radii", [SLIM, FLAT], ids=["35:20:20", "3:2:1"])
def test_ellipsoids(ellipsoids, radii, kind, evidence):
    """All of 2,500 paths are found, and as long as the ellipsoid's own solver says, which works otherwise."""
    ends, size = pairs(kind, radii, 2500, seed=7), np.mean(radii)
    found, own = ellipsoids(ends, radii)[:, 1], function(cd.paths.Ellipsoid(radii))(ends)[:, 0]
    assert len(ends) == 2500
    assert np.isfinite(found).mean() >= 0.9996  # of 20,000 per class two of 3:2:1 near are not
    off = np.abs(found - own) / size
    same = off < 1e-4  # ends that face each other have several geodesics
    assert same.mean() > (0.8 if kind == "grazing" else 0.97)
    slack = 1e-9
    evidence(f"geodesics over an implicit ellipsoid {kind}", np.percentile(off[same], 99), slack)
    assert np.percentile(off[same], 99) < slack


def test_quadrant(ellipsoids):
    """A path that is forced to the other side is the same geodesic, though it may be a saddle of length."""
    ends, radii = pairs("generic", SLIM, 600, seed=8), SLIM
    for axis, c in (("y", (0, 1, 0)), ("-x", (-1, 0, 0))):
        found = ellipsoids(ends, radii, c)[:, 1]
        own = function(cd.paths.Ellipsoid(radii, quadrant=axis))(ends)[:, 0]
        assert np.isfinite(found).mean() > 0.995  # 599 and 600 of 600
        both = np.isfinite(found) & np.isfinite(own)
        # Else another of several stationary paths: the ellipsoid takes the longer side only where the side
        # point is mirrored beyond the center.
        assert (np.abs(found - own)[both] < 1e-10).mean() > 0.85


def test_known_length(ellipsoids):
    """reference/wrapping.md."""
    L = ellipsoids(np.array([[-4, 1, 0.5, 4, 0.5, 0.6]]), FLAT)[0, 1]
    assert pytest.approx(8.0525537926062, abs=5e-11) == L  # steps of integration leave 2e-11 of the size


SHAPES = {
    "egg": lambda x, y, z: (x / 0.03) ** 2 + (y / 0.02) ** 2 * (1 + 10 * x) + (z / 0.02) ** 2 - 1,
    "cushion": lambda x, y, z: (x / 0.03) ** 4 + (y / 0.02) ** 4 + (z / 0.02) ** 4 - 1,
}


@pytest.mark.parametrize("name", SHAPES)
def test_other_shapes(name):
    """Nearly all random paths are found; first and second derivatives against differences."""
    f, rng, h = function(cd.paths.ImplicitSurface(SHAPES[name])), np.random.default_rng(5), 1e-7
    ends = np.hstack([units(rng, 2000) * 0.025 * (1 + rng.exponential(0.5, (2000, 1))) for _ in "AB"])
    now = f(ends)
    active = now[:, 43] != 0
    assert active.sum() > 500
    assert np.isfinite(now[active, 0]).mean() > 0.997
    ends, now = ends[now[:, 43] == 1], now[now[:, 43] == 1]
    d = rng.normal(size=ends.shape)
    up, down = f(ends + h * d), f(ends - h * d)
    same = (up[:, 43] == 1) & (down[:, 43] == 1)
    off = np.abs((up[:, 0] - down[:, 0]) / (2 * h) - (now[:, 1:7] * d).sum(1))[same]
    assert np.percentile(off, 98) < 1e-7  # lengths are known to 1e-13, over 2e-7
    bend = (up[:, 1:7] - down[:, 1:7]) / (2 * h)
    expected = np.einsum("nij,nj->ni", now[:, 7:43].reshape(-1, 6, 6), d)
    relative = (np.abs(bend - expected).max(1) / (1 + np.abs(expected).max(1)))[same]
    assert np.percentile(relative, 98) < 1e-5


def test_a_surface_that_is_hollow_below_the_path_has_no_length():
    """Two balls that melt together: a path along both would leave the surface between them."""

    def peanut(x, y, z):
        return (
            1
            - np.exp(4 - 4 * ((x - 1.2) ** 2 + y**2 + z**2))
            - np.exp(4 - 4 * ((x + 1.2) ** 2 + y**2 + z**2))
        )

    f = function(cd.paths.ImplicitSurface(peanut))
    assert np.isnan(f([-4, 0.4, 0, 4, 0.4, 0])[0])
    assert f([-4, 2, 0, 4, 2, 0])[0] == pytest.approx(8, rel=1e-15)


def arm(surface):
    system = cd.System()
    system.add_body("arm", "ground", cd.Pin(), mass=1.0, com=(0.0, -0.2, 0), inertia=(0.01, 0.01, 0.01))
    path = cd.paths.Path(
        [("ground", (-0.06, 0.1, 0.005)), ("arm", (0.05, -0.1, 0.0))],
        [cd.paths.Wrap(surface, "ground", (0.0, 0.01, 0.0))],
    )
    system.add_force("spring", cd.forces.PathSpring(path, 200.0, 0.1))
    return system


def test_in_a_system():
    """The same as with the ellipsoid; it pickles; moment arms against differences."""
    written = arm(
        cd.paths.ImplicitSurface(lambda x, y, z: (x / 0.035) ** 2 + (y / 0.02) ** 2 + (z / 0.03) ** 2 - 1)
    )
    q = np.linspace(-0.5, 0.5, 11)[:, None]
    expected = arm(cd.paths.Ellipsoid((0.035, 0.02, 0.03)))
    np.testing.assert_allclose(written.path_lengths(q), expected.path_lengths(q), rtol=0, atol=1e-11)
    np.testing.assert_allclose(written.moment_arms(q), expected.moment_arms(q), rtol=0, atol=1e-9)
    copy = pickle.loads(pickle.dumps(written))
    np.testing.assert_array_equal(copy.path_lengths(q), written.path_lengths(q))
    traj = cd.simulate(written, written.state(q=[0.3]), 0.5, accuracy=1e-8)
    energy = [sum(written.energy(s.q, s.u)) for s in (traj[0], traj[-1])]
    assert energy[1] == pytest.approx(energy[0], abs=1e-6)  # 1e-8 of each step, of 1 J


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (lambda x, y, z: np.abs(x) + y**2 + z**2 - 1, "derivatives jump"),
        (lambda x, y, z: x**2 + y**2 - cd.Parameter("r", 1.0), "Parameters"),
        (lambda x, y: x**2 + y**2 - 1, "is called with 3"),
        (lambda x, y, z: 1.0, "does not depend"),
        (lambda x, y, z: x if x > 0 else -x, "np.where"),
        (3.0, "expected a function of x, y, z"),
    ],
)
def test_refusals(given, says):
    with pytest.raises(cd.errors.CondyleError, match=says):
        cd.paths.ImplicitSurface(given)
