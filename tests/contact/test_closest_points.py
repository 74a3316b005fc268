"""Closest points: on both surfaces, for every pair; and solvers on random pairs, grazing and deep ones
among them."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle import contact
from condyle.contact.implicit_overlap import LOOKS, _around
from condyle.native.tables.staged import Staged
from tests.contact.rig import EGG, HILLS, KINDS, STEEL, X_GRID, Y_GRID, egg, touching, two


def off(surface, pose, point) -> float:
    """How far a point is from a surface [m], by an equation of its own."""
    if isinstance(surface, contact.HalfSpace):
        n = pose.R @ surface.normal
        return float(n @ (point - pose.p) - surface.height)
    if isinstance(surface, contact.Sphere):
        return float(np.linalg.norm(point - pose.p - pose.R @ surface.center) - surface.radius)
    X = cd.Transform.of(surface.X)
    x, y, z = X.R.T @ (pose.R.T @ (point - pose.p) - X.p)
    match surface:
        case contact.Ellipsoid():
            return float(np.sum((np.array([x, y, z]) / surface.radii) ** 2) - 1) * min(surface.radii)
        case contact.Torus():
            return float(np.hypot(np.hypot(x, y) - surface.radius, z) - surface.tube_radius)
        case contact.Cylinder():
            core = np.array([surface.radius, surface.length / 2]) - surface.rim
            return float(np.linalg.norm(np.maximum([np.hypot(x, y), abs(z)] - core, 0)) - surface.rim)
        case contact.Box():
            core = np.array(surface.half_lengths) - surface.edge
            return float(np.linalg.norm(np.maximum(np.abs([x, y, z]) - core, 0)) - surface.edge)
        case contact.Implicit():
            return float(egg(x, y, z)) * 0.1
    from scipy.interpolate import make_interp_spline

    spline = lambda t, h: make_interp_spline(t, h, k=3, bc_type="natural")
    return float(z - spline(Y_GRID, spline(X_GRID, HILLS)(x))(y))


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("depth", [-0.02, 3e-3])
@pytest.mark.parametrize("name", KINDS)
def test_points_are_on_both_surfaces(name, depth):
    """Q and Q - x n, from the contact point and the shares of the depth; the normals are tested by rates of
    depths."""
    a, b = KINDS[name]
    system = two(a, b)
    q, _ = touching(system, 21, depth=depth)
    x, n, P = system.contacts.depths(q)[0], system.contacts.normals(q)[0], system.contacts.points(q)[0]
    s_1 = 5e5 ** (2 / 3) / (5e5 ** (2 / 3) + 2e6 ** (2 / 3))  # (1) of steel on rubber
    Q = P + s_1 * x * n
    # the ring of a torus is thicker by flat^2 / 2 of its radius; solvers end at 1e-14 m
    allowed = 1e-6 if "torus" in name else 1e-11
    if name in ("cylinder, cylinder", "plane, cylinder"):  # crowned by half the length times 1e-3
        allowed = 3e-4
    assert abs(off(a, system.body_pose(q, "a"), Q)) < allowed
    assert abs(off(b, system.body_pose(q, "b"), Q - x * n)) < allowed


def random_poses(count: int, furthest: float, seed: int = 0) -> np.ndarray:
    """Body a at the origin, b up to so far away, both turned at random."""
    rng = np.random.default_rng(seed)
    q = np.zeros((count, 14))
    for k in (0, 7):
        turn = rng.normal(size=(count, 4))
        q[:, k : k + 4] = turn / np.linalg.norm(turn, axis=1)[:, None]
    way = rng.normal(size=(count, 3))
    q[:, 11:] = way / np.linalg.norm(way, axis=1)[:, None] * rng.uniform(0, furthest, (count, 1))
    return q


def test_random_ellipsoids(evidence):
    """2,000 pairs with radii from 0.1 to 1, then moved to within 1e-9 m of touch-down. 100,000 were run
    once: all solved."""
    P = [cd.Parameter(f"r{k}", 0.5) for k in range(6)]
    system = two(contact.Ellipsoid("a", None, P[:3], STEEL), contact.Ellipsoid("b", None, P[3:], STEEL))
    q, rng = random_poses(2000, 2.5), np.random.default_rng(1)
    radii = np.exp(rng.uniform(np.log(0.1), 0, (len(q), 6)))
    ask = lambda what, q: getattr(system.contacts, what)(q, parameters=radii)[:, 0]
    x, n = ask("depths", q), ask("normals", q)
    assert np.isfinite(x).all() and 0.2 < (x > 0).mean() < 0.5

    def support(start, r, n):
        w, v = q[:, start : start + 1], q[:, start + 1 : start + 4]
        turn = lambda sign, a: a + 2 * np.cross(sign * v, np.cross(sign * v, a) + w * a)
        u = turn(-1, n)
        return turn(1, r**2 * u / np.linalg.norm(r * u, axis=1)[:, None])

    apart = support(0, radii[:, :3], n) - q[:, 11:] - support(7, radii[:, 3:], -n)
    worst = np.abs(apart - x[:, None] * n).max()
    evidence(
        "closest points of random ellipsoids: off the common normal [m, of radii up to 1 m]", worst, 1e-12
    )
    assert worst < 1e-12  # solvers end at 1e-14
    q[:, 11:] += (x + rng.uniform(-1e-9, 1e-9, len(q)))[:, None] * n
    grazing = ask("depths", q)
    assert np.abs(grazing).max() < 1.1e-9


def test_deep_cylinders(evidence):
    """A long and a flat one, up to concentric: no direction of some thousand, ends and sides among them, has
    a smaller overlap."""
    sizes = {"a": (0.3, 1.2), "b": (0.5, 0.1)}
    system = two(*(contact.Cylinder(body, None, *s, STEEL) for body, s in sizes.items()))
    q = random_poses(400, 0.9, 3)
    x, n = system.contacts.depths(q)[:, 0], system.contacts.normals(q)[:, 0]
    poses = [[system.body_pose(row, body) for row in q] for body in "ab"]

    def support(radius, length, u, rim=1e-3, flat=1e-3):
        """(31), (31b) of docs/theory/contact.md, of directions in the cylinder's frame."""
        out, up = radius - rim, length / 2 - rim
        disc, needle = (out - flat * up) / (1 - flat**2), (up - flat * out) / (1 - flat**2)
        across, along = u[..., 0] ** 2 + u[..., 1] ** 2, u[..., 2] ** 2
        return rim + disc * np.sqrt(across + flat**2 * along) + needle * np.sqrt(flat**2 * across + along)

    k, turn = np.arange(3000) + 0.5, np.linspace(0, 2 * np.pi, 400)
    z = np.concatenate([1 - k / 1500, 0 * turn, [1, -1]])
    turn = np.concatenate([np.pi * (1 + 5**0.5) * k, turn, [0, 0]])
    around = np.stack([np.sqrt(1 - z**2) * np.cos(turn), np.sqrt(1 - z**2) * np.sin(turn), z], axis=1)
    worst = 0.0
    for i, (A, B) in enumerate(zip(*poses, strict=True)):
        overlap = lambda w, A=A, B=B: (
            support(*sizes["a"], w @ A.R) + support(*sizes["b"], -w @ B.R) - w @ (B.p - A.p)
        )
        across = np.cross(A.R[:, 2], B.R[:, 2])
        ways = np.vstack([around @ A.R.T, around @ B.R.T, across, -across])
        ways /= np.linalg.norm(ways, axis=1)[:, None]
        assert overlap(n[i]) == pytest.approx(x[i], abs=1e-12)  # sums of lengths of 1 m
        worst = max(worst, x[i] - overlap(ways).min())
    evidence("deep cylinders: overlap beyond the least of 6,800 directions [m]", worst, 1e-12)
    assert worst < 1e-12 and (x > 0.3).any()  # the least is no larger than any: rounding


def test_random_surfaces_in_python(evidence):
    """An ellipsoid as a user's function against an ellipsoid, beside two ellipsoids, concentric ones among
    them. 100,000 pairs were run once: see docs/theory/contact.md."""
    same = lambda x, y, z: (x / 0.3) ** 2 + (y / 0.2) ** 2 + (z / 0.1) ** 2 - 1
    known = [contact.Ellipsoid(body, None, (0.3, 0.2, 0.1), STEEL) for body in "ab"]
    q = np.concatenate([random_poses(1500, 1.0), random_poses(6000, 0.25, 1)])  # half of them deep
    expected = two(*known).contacts.depths(q)[:, 0]
    found = two(contact.Implicit("a", None, same, 0.4, STEEL), known[1]).contacts.depths(q)[:, 0]
    worst = np.abs(found - expected).max()
    evidence("depths of a user's surface against ellipsoids in closed form [m]", worst, 1e-12)
    assert worst < 1e-12 and expected.max() > 0.35  # solvers end at 1e-14


def test_even_ground_is_a_plane():
    """Terrain that rises evenly, against a half-space."""
    slope = 0.2 * X_GRID[:, None] - 0.1 * Y_GRID + 0.05
    ball = contact.Sphere("b", (0.01, 0, 0), 0.1, STEEL)
    ground = two(contact.HeightField("a", None, X_GRID, Y_GRID, slope, STEEL), ball)
    plane = two(contact.HalfSpace("a", (-0.2, 0.1, 1.0), 0.05 / np.sqrt(1.05), STEEL), ball)
    q, u = touching(plane, 22)
    for what in ("depths", "normals", "points", "patches"):
        # splines of 21 x 17 heights: some hundred eps; no curvature: 1e-14 over the spacing squared
        np.testing.assert_allclose(
            getattr(ground.contacts, what)(q), getattr(plane.contacts, what)(q), atol=1e-11
        )
    np.testing.assert_allclose(ground.contacts.forces(q, u), plane.contacts.forces(q, u), rtol=1e-7)


def test_shapes_stay_from_call_to_call():
    """Native operators take a shorter way from the second call on."""
    system = two(*KINDS["plane, sphere"])
    q, u = touching(system, 24)
    shapes = {
        "depths": (1,),
        "points": (1, 3),
        "normals": (1, 3),
        "patches": (1, 2),
        "slips": (1, 3),
        "forces": (1, 3),
        "losses": (1,),
        "wrenches": (1, 2, 6),
    }
    for what, shape in shapes.items():
        given = (q,) if what in ("depths", "points", "normals", "patches") else (q, u)
        for _ in range(3):
            assert getattr(system.contacts, what)(*given).shape == shape
        assert getattr(system.contacts, what)(*(np.tile(x, (2, 1)) for x in given)).shape == (2, *shape)
        assert getattr(system.state(q=q, u=u).contacts, what)().shape == shape
    table = cd.simulate(system, system.state(q=q, u=u), 0.01).contacts.forces()
    assert table.titles == [f"touch_f{axis} [N]" for axis in "xyz"]


def test_ensembles():
    """Contacts that come and go in lanes give what single runs give."""
    system = two(*KINDS["plane, sphere"], gravity=(0, -9.81, 0))
    q, u = touching(system, 23, depth=-0.01)
    starts = [system.state(q=q, u=u - np.eye(12)[10] * down) for down in np.linspace(0, 1, 6)]
    runs = [cd.simulate(system, start, 0.2, accuracy=1e-8) for start in starts]
    many = cd.simulate(system, starts, 0.2, accuracy=1e-8)
    for k, run in enumerate(runs):
        # ten times the accuracy each
        np.testing.assert_allclose(many[k][-1].q, run[-1].q, atol=2e-6)


@pytest.mark.parametrize("radius", [0.1, 0.3, 0.7])
def test_a_ball_holds_itself(radius):
    """size= is the radius itself, whose square the last digits of x^2 + y^2 + z^2 miss: it was refused."""
    ball = contact.Implicit("ball", None, lambda x, y, z: x * x + y * y + z * z - radius**2, radius, STEEL)
    assert ball.points.least <= radius
    with pytest.raises(cd.errors.DescriptionError, match=r"beyond|negative"):
        contact.Implicit(
            "ball", None, lambda x, y, z: x * x + y * y + z * z - radius**2, (1 - 1e-6) * radius, STEEL
        )


def test_bounds_of_overlaps():
    """Of all normals m within a cap about n the overlap is at least the least of g . m, on the circle through n and
    -g; less what a table may miss."""
    rng, mine, radius, count = np.random.default_rng(3), EGG.points, 0.05, 200
    rows, centers = rng.choice(mine.rows, count), 0.3 * rng.normal(size=(count, 3))
    angle, n = rng.uniform(0, np.pi, count), rows[:, 3:]
    caps = np.column_stack([rows, np.cos(angle), np.sin(angle)])
    frames = np.tile([0.2, *np.eye(3).ravel()], (count, 1))
    given = np.column_stack([frames, centers, np.full(count, radius)])
    looks, v = np.zeros((count, 3 * LOOKS + 1)), ca.SX.sym("v", 3)
    (known,) = Staged("furthest", [v], [mine.furthest(v)]).evaluate([-n.T])
    for other, r, less in ((None, -radius * n, 0.0), (mine, known.T, mine.apart)):
        bound = _around("sphere", mine, other, given.shape[1]).bound
        columns = [np.hstack([given, looks]).T, caps.T]
        found = bound.evaluate(columns)[0] if isinstance(bound, Staged) else bound(*columns).full()
        g = rows[:, :3] - centers - r
        along, across = (g * n).sum(axis=1), np.linalg.norm(np.cross(g, n), axis=1)
        turn = angle[:, None] * np.linspace(0, 1, 2001)
        least = (along[:, None] * np.cos(turn) - across[:, None] * np.sin(turn)).min(axis=1)
        # |g| is below 1.5 m, and half a step of the grid below 0.8 mrad
        np.testing.assert_allclose(found.ravel(), least - less, rtol=0, atol=5e-7)
