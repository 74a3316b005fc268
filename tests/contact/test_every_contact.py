"""What holds for contacts of every pair of surfaces."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import condyle as cd
from condyle import maximal
from condyle.native.calls.native_function import SIMD_FROM
from tests.contact.rig import FLOOR, KINDS, RUBBER, STEEL, egg, pair, touching, two
from tests.differences import STEPS, WEIGHTS
from tests.forces.rig import rate

LANES = SIMD_FROM + 1
"""States that are computed in lanes, and one that is left over."""
EVERY = pytest.mark.parametrize("name", KINDS)


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """CasADi's evaluator is enough: native code is compared with it once below."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


@EVERY
def test_momentum_stays(name):
    """Newton's third law: what acts on a and b cancels, moments about one point too."""
    system = pair(name)
    q, u = touching(system, 1)
    udot = system.forward_dynamics(q, u)
    assert np.abs(udot).max() > 1.0
    # forces of 1e3 N cancel
    np.testing.assert_allclose(rate(system, "momentum", q, u), 0.0, atol=1e-11 * np.abs(udot).max())


@EVERY
def test_depth_rate_is_the_normal_velocity(name):
    """d depth/dt by AD, through solvers, against n . (v_a - v_b) at the contact point."""
    system = pair(name)
    q, u = touching(system, 2)
    n, P = system.contacts.normals(q)[0], system.contacts.points(q)[0]
    v = {b: system.body_velocity(q, u, b) for b in "ab"}
    at = {b: v[b][3:] + np.cross(v[b][:3], P - system.body_pose(q, b).p) for b in "ab"}
    xdot = system.jvp("contacts.depths", q, tangents={"q": u})[0]
    # closest points move along the surfaces, which does not change the depth; solvers end at 1e-14 m
    assert xdot == pytest.approx(n @ (at["a"] - at["b"]), abs=1e-9)


@EVERY
def test_derivatives_against_differences(name):
    """Wrenches by q and u."""
    system = pair(name)
    q, u = touching(system, 3)
    exact = system.jacobian("contacts.wrenches", q, u, wrt=("q", "u"))
    N = system.kinematics.N(q)
    for wrt, column in (
        ("q", lambda j, e: (q + e * N[:, j], u)),
        ("u", lambda j, e: (q, u + e * np.eye(12)[j])),
    ):
        for j in (1, 4, 8, 10):
            found = sum(
                w * system.contacts.wrenches(*column(j, e)).ravel()
                for w, e in zip(1e2 * WEIGHTS, 1e-2 * STEPS, strict=True)
            )
            scale = np.abs(exact[wrt]).max()
            # differences of order 8 over 2e-5: rounding of forces of 1e3 N over the step
            np.testing.assert_allclose(exact[wrt][:, j], found, rtol=0, atol=2e-7 * scale)


@EVERY
def test_both_formulations_agree(name):
    system = two(*KINDS[name], gravity=(0, -9.81, 0))
    q, u = touching(system, 5)
    ours, theirs = system.forward_dynamics(q, u), maximal.forward_dynamics(system, q, u)
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-9 * np.abs(ours).max())


@EVERY
def test_reports_agree(name):
    """Wrenches, forces, points, powers and energies tell one story."""
    system = pair(name)
    q, u = touching(system, 6)
    F, P, f = system.contacts.wrenches(q, u)[0], system.contacts.points(q)[0], system.contacts.forces(q, u)[0]
    for wrench, body, sign in zip(F, "ab", (-1, 1), strict=True):
        arm = P - system.body_pose(q, body).p
        np.testing.assert_allclose(wrench, sign * np.concatenate([np.cross(arm, f), f]), atol=1e-9)
    power = sum(w @ system.body_velocity(q, u, b) for w, b in zip(F, "ab", strict=True))
    assert system.power(q, u)[1] == pytest.approx(power, rel=1e-10)
    slip, n = system.contacts.slips(q, u)[0], system.contacts.normals(q)[0]
    assert abs(slip @ n) < 1e-12 and np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
    assert system.contacts.losses(q, u)[0] > 0
    major, minor = system.contacts.patches(q)[0]
    assert major >= minor > 0
    off = {"disabled": ("touch",)}
    assert not system.contacts.wrenches(q, u, **off).any() and not system.contacts.losses(q, u, **off).any()
    np.testing.assert_allclose(system.contacts.center_of_pressure(q, u, "touch"), P, atol=1e-12)


@EVERY
def test_order_of_surfaces_does_not_matter(name):
    a, b = KINDS[name]
    system, swapped = pair(name), two(b, a)
    q, u = touching(system, 14)
    # solvers end at 1e-14 m, of depths of 2e-3
    near = lambda x, y: np.testing.assert_allclose(x, y, rtol=0, atol=1e-11 * np.abs(y).max())
    near(swapped.contacts.wrenches(q, u)[0, ::-1], system.contacts.wrenches(q, u)[0])
    near(swapped.contacts.depths(q), system.contacts.depths(q))
    near(swapped.contacts.points(q), system.contacts.points(q))
    near(-swapped.contacts.normals(q), system.contacts.normals(q))
    near(-swapped.contacts.slips(q, u), system.contacts.slips(q, u))
    near(swapped.contacts.losses(q, u), system.contacts.losses(q, u))


@pytest.mark.parametrize("name", ["plane, sphere", "sphere, sphere"])
def test_energy_falls_by_what_is_lost(name):
    """Where curvatures stay, the elastic force has a potential: dE/dt = -lost."""
    for options in ({}, {"smooth": 1e-4}, {"rolling_resistance": 0.01, "spin_friction": 0.02}):
        system = two(*KINDS[name], **options)
        q, u = touching(system, 7)
        change = sum(rate(system, "energy", q, u, k)[0] for k in (0, 1))
        assert change == pytest.approx(-system.contacts.losses(q, u)[0], rel=1e-9)


def test_native_code_agrees_with_casadi(monkeypatch):
    names = ("plane, sphere", "ellipsoid, ellipsoid", "terrain, sphere", "sphere, implicit")
    at = {name: touching(pair(name), 8) for name in names}
    expected = {name: pair(name).forward_dynamics(*at[name]) for name in names}
    monkeypatch.delenv("CONDYLE_EVALUATOR")
    for name in names:
        (q, u), udot = at[name], expected[name]
        system = two(*KINDS[name])
        # forces of 1e3 N from depths that are differences of lengths: 1e-16 m / 1e-3 m
        np.testing.assert_allclose(system.forward_dynamics(q, u), udot, rtol=1e-9, atol=1e-9)
        Q, U = (np.tile(x, (LANES, 1)) for x in (q, u))
        Q[1:, 11:14] += np.random.default_rng(9).uniform(-1e-3, 1e-3, (LANES - 1, 3))
        inside = system.forward_dynamics(Q, U)
        np.testing.assert_allclose(inside[0], udot, rtol=1e-9, atol=1e-9)
        each = [system.forward_dynamics(*each) for each in zip(Q, U, strict=True)]
        np.testing.assert_array_equal(inside, each)  # lanes are scalars


@pytest.mark.parametrize("name", ["plane, sphere", "ellipsoid, ellipsoid"])
def test_tables_of_contacts(name, monkeypatch):
    """Eight contacts of one kind as rows of a table, in machine code, against a straight line of CasADi."""
    a, b = KINDS[name]
    found = []
    for layout in ("unrolled", "looped"):
        monkeypatch.setenv("CONDYLE_LAYOUT", layout)
        if layout == "looped":
            monkeypatch.delenv("CONDYLE_EVALUATOR")
        system = two()
        for k in range(8):
            system.add_force(f"c{k}", cd.contact.HuntCrossley(a, b))
        q, u = touching(system, 9)
        found.append([system.forward_dynamics(q, u)])
        if name == "plane, sphere":
            found[-1].append(system.jacobian("forward_dynamics", q, u, wrt="u"))
    for x, y in zip(*found, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-10 * np.abs(x).max())


def test_parameters():
    """All numbers of surfaces and materials may be Parameters."""
    P = cd.Parameter
    soft = cd.contact.Material(P("E", 1e5), P("c", 0.1), P("mu", 0.7), 0.5, 0.0, P("v", 0.1))
    floor = cd.contact.HalfSpace("a", (P("nx", 0.1), 1, 0), P("height", 0.0), soft)
    hard = cd.contact.Material(2e6, 0.3, 0.8, 0.5, 0.05, 0.2)
    ball = cd.contact.Sphere("b", (P("px", 0.0), 0, 0), P("r", 0.2), hard)
    system = two(floor, ball)
    values = {"E": 2e6, "c": 0.3, "mu": 0.8, "v": 0.2, "nx": 0.2, "height": 0.05, "px": 0.01, "r": 0.1}
    same = two(
        cd.contact.HalfSpace("a", (0.2, 1, 0), 0.05, cd.contact.Material(2e6, 0.3, 0.8, 0.5, 0.0, 0.2)),
        cd.contact.Sphere("b", (0.01, 0, 0), 0.1, hard),
    )
    q, u = touching(same, 10)
    np.testing.assert_allclose(
        system.forward_dynamics(q, u, parameters=values), same.forward_dynamics(q, u), rtol=1e-11, atol=1e-11
    )
    with pytest.raises(cd.errors.DescriptionError, match="static_friction must be at least dynamic_friction"):
        system.forward_dynamics(q, u, parameters={"mu": 0.1})


E = cd.Parameter("e", 0.01)
N = cd.Parameter("e", 0.3)


@pytest.mark.parametrize(
    ("surface", "value", "words"),
    [
        (cd.contact.Box("b", None, (0.1, 0.1, 0.1), STEEL, edge=E), 0.1, r"edge: must be below 0\.1"),
        (cd.contact.Cylinder("b", None, 0.1, 0.3, STEEL, rim=E), 0.2, r"rim: must be below 0\.1"),
        (cd.contact.Cylinder("b", None, 0.1, 0.3, STEEL, flat=E), 0.9, "flat: must be below"),
        (
            cd.contact.Sphere("b", (0, 0, 0), 0.1, cd.contact.Material.elastic(1e6, N, 0, 0.5, 0.5)),
            0.7,
            "material: expected",
        ),
        (cd.contact.Implicit("b", None, egg, 0.19 + E, STEEL), -0.1, "size: must be at least"),
        (cd.contact.HalfSpace("b", (E, 0, 0), 0.0, STEEL), 0.0, "zero vector"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_parameters_that_make_no_surface(surface, value, words):
    system = two(cd.contact.Sphere("a", (0, 0, 0), 0.1, STEEL), surface)
    q = system.defaults()[0]
    q[11] = 0.2
    assert np.isfinite(system.contacts.depths(q)).all()
    with pytest.raises(cd.errors.DescriptionError, match=words):
        system.contacts.depths(q, parameters={"e": value})


def test_equality_repr_and_pickles():
    for a, b in KINDS.values():
        law = cd.contact.HuntCrossley(a, b)
        again = pickle.loads(pickle.dumps(law))
        assert law == again and hash(law) == hash(again) and repr(law) == repr(again)
        assert law != cd.contact.HuntCrossley(a, b, smooth=1e-5) != cd.contact.OpenSimHuntCrossley(a, b)


def test_smooth_law_is_near():
    """What docs/theory/contact.md states: at most half of `smooth` more depth, none in the damping at
    rest."""
    exact, smooth = two(*KINDS["plane, sphere"]), two(*KINDS["plane, sphere"], smooth=1e-5)
    q, u = touching(exact, 11, depth=1e-3)
    n = exact.contacts.normals(q)[0]
    f, g = (abs(s.contacts.forces(q, 0 * u)[0] @ n) for s in (exact, smooth))
    assert 0 < g / f - 1 < (1 + 1e-5 / 2 / 1e-3) ** 1.5 - 1
    n = np.concatenate([np.zeros(11), n])
    k = f / 1e-3**1.5
    assert smooth.contacts.forces(q + 2e-3 * n, 0 * u)[0] @ n[11:] < k * (1e-5**2 / (4 * 1e-3)) ** 1.5 * 1.01


@pytest.mark.parametrize(("dynamic", "most"), [(0.0, 0.63), (0.5, 0.33), (1.0, 0.33)])
def test_smooth_friction_is_as_near_as_stated(dynamic: float, most: float) -> None:
    """docs/theory/contact.md: where both coefficients are equal the curves differ beyond three transition
    speeds too."""
    skin = cd.contact.Material(1e6, static_friction=1.0, dynamic_friction=cd.Parameter("mu_d", 0.5))
    floor = cd.contact.HalfSpace("a", (0, 1, 0), 0.0, skin)
    ball = cd.contact.Sphere("b", (0, 0, 0), 0.1, skin)
    slip = np.concatenate([np.linspace(0.01, 3, 300), np.geomspace(3, 1e3, 100)])
    mu = []
    for smooth in (0.0, 1e-9):
        system = two(floor, ball, smooth=smooth)
        q, u = system.defaults()[0], np.zeros((400, system.nu))
        q[12], u[:, 9] = 0.099, slip * 0.01  # the default transition speed
        f = system.contacts.forces(q, u, parameters={"mu_d": dynamic})[:, 0]
        mu.append(-f[:, 0] / f[:, 1])
    off, far = np.abs(mu[1] - mu[0]), slip >= 3
    assert 0.8 * most < off[~far].max() <= most  # nearly reached
    bound = np.maximum(2 * (1 - dynamic) / slip, dynamic / (2 * slip**2))
    assert (off[far] <= bound[far] + 1e-9).all()  # digits of f over f_n, and of smooth
    assert off[far].max() > 0.04


def test_a_surface_in_python_shows_its_size_and_no_empty_function() -> None:
    assert repr(cd.contact.Implicit("b", None, egg, 0.2, cd.contact.Material(1e6))) == (
        "contact.Implicit(body='b', X=Transform(), size=0.2, material=Material(modulus=1e+06))"
    )


def test_groups_and_cliques():
    ball = lambda body, k, **more: cd.contact.Sphere(
        body, (0.1 * k, 0, 0), 0.02, RUBBER, name=f"s{k}", **more
    )
    system = two()
    assert system.add_contact("feet", FLOOR, [ball("b", k) for k in range(3)]) == (
        "feet.s0",
        "feet.s1",
        "feet.s2",
    )
    names = system.add_contact(
        "all", [ball("a", 0, cliques="left"), ball("b", 1, cliques=("left", "x")), ball("b", 2)]
    )
    assert names == ("all.s0.s2",)  # one pair shares a clique, one a body
    box = cd.contact.Box("b", None, (0.1, 0.1, 0.1), STEEL)
    assert len(system.add_contact("box", FLOOR, box)) == 8
    assert len(system.add_contact("boxes", cd.contact.Box("a", None, (0.1,) * 3, STEEL), box)) == 16
    rims = system.add_contact("can", FLOOR, cd.contact.Cylinder("b", None, 0.1, 0.3, STEEL))
    assert rims == ("can",)
    hard = cd.contact.Rigid(0.5)
    assert two().add_contact(
        "can", cd.contact.HalfSpace("a", (0, 1, 0), 0.0, hard), cd.contact.Cylinder("b", None, 0.1, 0.3, hard)
    ) == ("can.low", "can.high")
    assert system.contacts[:3] == ("feet.s0", "feet.s1", "feet.s2")


REFUSED = [
    (lambda: cd.contact.HuntCrossley(FLOOR, FLOOR), "both surfaces are on body 'a'"),
    (
        lambda: cd.contact.HuntCrossley(FLOOR, cd.contact.HalfSpace("b", (0, 1, 0), 0, STEEL)),
        r"no contact between HalfSpace and HalfSpace; HalfSpace touches Cylinder, Ell.*a cd\.contact\.Mesh in",
    ),
    (lambda: cd.contact.HuntCrossley(FLOOR, cd.contact.Box("b", None, (1, 1, 1), STEEL)), "add_contact"),
    *(
        (
            lambda other=other: two().add_contact("x", other, cd.contact.Box("b", None, (1, 1, 1), STEEL)),
            f"no contact between {type(other).__name__} and Box",
        )
        for other in (
            cd.contact.Ellipsoid("a", None, (1, 1, 1), STEEL),
            cd.contact.Cylinder("a", None, 1, 1, STEEL),
            cd.contact.Torus("a", None, 1, 0.1, STEEL),
            cd.contact.Implicit("a", None, egg, 0.2, STEEL),
        )
    ),
    (
        lambda: two().add_contact(
            "x",
            *(
                [cd.contact.Sphere(body, (0, 0, 0), 1, STEEL, name=n) for n in names]
                for body, names in (("a", ("p.r", "p")), ("b", ("s", "r.s")))
            ),
        ),
        r"two pairs would be called 'x\.p\.r\.s'",
    ),
    (lambda: cd.contact.Sphere("a", (0, 0, 0), 1, STEEL, cliques=3), "cliques: expected names"),
    (lambda: cd.contact.Box("a", None, (0.1,) * 3, STEEL, edge=cd.Parameter("e", 0.2)), "edge: must be"),
    (lambda: cd.contact.HuntCrossley(FLOOR, "ball"), "expected a surface"),
    (lambda: cd.contact.HalfSpace("a", (0, 0, 0), 0, STEEL), "zero vector"),
    (lambda: cd.contact.Sphere("a", (0, 0, 0), -1, STEEL), "radius: expected one finite number"),
    (lambda: cd.contact.Sphere("a", (0, 0, 0), 1, 1e6), r"material: expected a cd\.contact\.Material"),
    (lambda: cd.contact.Material(1e6, 0, 0.2, 0.5), "at least dynamic_friction"),
    (lambda: cd.contact.Material(0.0), "above 0"),
    (lambda: cd.contact.Material.elastic(1e6, 0.7), "at most 0.5"),
    (lambda: cd.contact.Material.elastic(-1e6, 0.3), "young: expected one .* above 0, got -1000000"),
    (lambda: cd.contact.Implicit("a", None, lambda x, y, z: x + 1, 1.0, STEEL), "negative at the origin"),
    (
        lambda: cd.contact.Implicit("a", None, lambda x, y, z: x**2 + y**2 / 2 + z**2 - 0.08, 0.3, STEEL),
        "beyond size = 0.3 m toward",
    ),
    (
        lambda: cd.contact.Implicit(
            "a",
            None,
            lambda x, y, z: (x * x + y * y) ** 2 - 0.02 * (x * x - y * y) + z * z - 1e-4,
            0.3,
            STEEL,
        ),
        "is not convex at",
    ),
    (lambda: cd.contact.Cylinder("a", None, 0.1, 0.3, STEEL, flat=0.8), "flat: must be below"),
    (
        lambda: cd.contact.HeightField("a", None, [0, 1, 2, 4], [0, 1, 2, 3], np.zeros((4, 4)), STEEL),
        "evenly",
    ),
    (lambda: cd.contact.Box("a", None, (0.1, 0.1, 1e-4), STEEL), "edge: must be below"),
    (lambda: two().add_contact("x", FLOOR, [cd.contact.Sphere("a", (0, 0, 0), 1, STEEL)]), "no pair remains"),
    (lambda: two(FLOOR, cd.contact.Sphere("nobody", (0, 0, 0), 1, STEEL)), "nobody"),
    (lambda: two().contacts.center_of_pressure(np.zeros(14), np.zeros(12), "foot"), "group of contacts"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED, ids=lambda x: x if isinstance(x, str) else "")
def test_refusals(make, words):
    with pytest.raises(cd.errors.CondyleError, match=words):
        make()


def test_beyond_the_terrain_is_named():
    system = pair("terrain, sphere")
    q, u = touching(system, 12)
    q[11:14] += (7.0, 0, 0)
    with pytest.raises(cd.errors.ContactError, match="'touch' finds no closest points of HeightField"):
        system.forward_dynamics(q, u)
    run = cd.simulate(system, system.state(q=q, u=u), 0.1)
    assert run.status == cd.Status.CONTACT


def test_a_ball_larger_than_a_hollow_is_named():
    """It would touch at two points or more; one that fits touches at one."""
    x = np.linspace(-1, 1, 21)
    ground = cd.contact.HeightField("a", None, x, x, 0.1 * np.cos(6 * x)[:, None] * np.cos(5 * x), STEEL)
    bottom = (np.pi / 6, 0.0)  # radius 1 / (0.1 * 6^2) = 0.28 m
    for r, fits in ((0.1, True), (0.5, False)):
        system = two(ground, cd.contact.Sphere("b", (0, 0, 0), r, RUBBER))
        q = system.defaults()[0]
        q[11:] = *bottom, -0.1 + 0.99 * r
        if fits:
            assert system.contacts.depths(q)[0] == pytest.approx(0.01 * r, rel=0.05)  # a spline of a cosine
        else:
            with pytest.raises(
                cd.errors.ContactError, match="'touch' finds no closest points of HeightField"
            ):
                system.contacts.depths(q)


def test_depth_is_a_leaf():
    """It serves as an event's witness: a ball is caught when it touches, and a force on it has its power."""
    system = two(gravity=(0, 0, 0))
    depth = cd.contact.Depth(*KINDS["plane, sphere"])
    system.add_force("push", cd.forces.Potential(lambda s: 3.0 * s.ask(depth)[0]))
    q, u = touching(pair("plane, sphere"), 13, depth=-0.1)
    assert system.energy(q, u)[1] == pytest.approx(-0.3, abs=1e-12)
    xdot = pair("plane, sphere").jvp("contacts.depths", q, tangents={"q": u})[0]
    assert system.power(q, u)[1] == pytest.approx(-3.0 * xdot, rel=1e-9)
