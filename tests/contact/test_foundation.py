"""Elastic foundations: what holds for meshes against surfaces of every kind."""

from __future__ import annotations

import functools
import pickle

import mpmath as mp
import numpy as np
import pytest

import condyle as cd
from condyle import contact, maximal
from condyle.laws.factors import BodyFactors
from condyle.native.calls.native_function import SIMD_FROM
from tests.contact.meshes import box, icosphere, refined
from tests.contact.rig import (
    FLOOR,
    HILLS,
    RUBBER,
    STEEL,
    TILTED,
    X_GRID,
    Y_GRID,
    egg,
    in_fifty_digits,
    touching,
    two,
)
from tests.differences import STEPS, WEIGHTS

BALL = contact.Mesh("b", TILTED, icosphere(1, 0.1), 0.01, RUBBER)
FINE = contact.Mesh("b", TILTED, icosphere(3, 0.1), 0.01, RUBBER)
KINDS = {
    "plane": FLOOR,
    "sphere": contact.Sphere("a", (0, 0.1, 0), 0.2, STEEL),
    "ellipsoid": contact.Ellipsoid("a", None, (0.1, 0.2, 0.15), STEEL),
    "cylinder": contact.Cylinder("a", None, 0.1, 0.5, STEEL),
    "torus": contact.Torus("a", TILTED, 0.1, 0.03, STEEL),
    "box": contact.Box("a", TILTED, (0.1, 0.08, 0.06), STEEL, edge=0.01),
    "implicit": contact.Implicit("a", None, egg, 0.2, STEEL),
    "terrain": contact.HeightField("a", None, X_GRID, Y_GRID, HILLS, STEEL),
    "mesh": contact.Mesh("a", None, icosphere(0, 0.15), 0.02, STEEL),
}
EVERY = pytest.mark.parametrize("name", KINDS)


@functools.cache
def on_ball(name: str, smooth: float = 0.0) -> cd.System:
    """A surface and a ball of 80 triangles: one system for all tests that ask CasADi's evaluator."""
    return two(KINDS[name], BALL, smooth=smooth)


@pytest.fixture
def interpreted(monkeypatch):
    """CasADi's evaluator sums over all faces: a second opinion on what trees leave out."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("name", "smooth"), [*((name, 0.0) for name in KINDS), ("ellipsoid", 2e-3)])
def test_laws_of_mechanics(name, smooth):
    """Newton's third law, powers, losses, energies, reports and both formulations tell one story."""
    system = on_ball(name, smooth)
    q, u = touching(system, 1, depth=6e-3)
    udot = system.forward_dynamics(q, u)
    F, P, f = system.contacts.wrenches(q, u)[0], system.contacts.points(q)[0], system.contacts.forces(q, u)[0]
    assert np.abs(f).max() > 1.0
    arm = {b: system.body_pose(q, b).p for b in "ab"}
    about = [wrench[:3] + np.cross(arm[b], wrench[3:]) for wrench, b in zip(F, "ab", strict=True)]
    np.testing.assert_allclose(about[0] + about[1], 0.0, atol=1e-11 * np.abs(f).max())  # rounding of sums
    np.testing.assert_allclose(F[0, 3:] + F[1, 3:], 0.0, atol=1e-12 * np.abs(f).max())
    np.testing.assert_allclose(F[1, 3:], f, rtol=1e-12)
    power = sum(w @ system.body_velocity(q, u, b) for w, b in zip(F, "ab", strict=True))
    assert system.power(q, u)[1] == pytest.approx(power, rel=1e-10)
    lost = system.contacts.losses(q, u)[0]
    kinetic, stored = system.jvp("energy", q, u, tangents={"q": u, "u": udot})
    assert lost > 0
    assert float(np.ravel(kinetic)[0] + np.ravel(stored)[0]) == pytest.approx(-lost, rel=1e-9)
    theirs = maximal.forward_dynamics(system, q, u)
    np.testing.assert_allclose(theirs, udot, rtol=0, atol=1e-11 * np.abs(udot).max())
    n, major = system.contacts.normals(q)[0], system.contacts.patches(q)[0, 0]
    assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12) and 0 < major < 0.1
    assert system.contacts.slips(q, u)[0] @ system.contacts.normals(q)[0] == pytest.approx(0, abs=0.2)
    assert np.linalg.norm(P - system.body_pose(q, "b") @ np.array(TILTED.p)) < 0.12
    off = {"disabled": ("touch",)}
    assert not system.contacts.wrenches(q, u, **off).any() and not system.contacts.losses(q, u, **off).any()


SEEDS = {"cylinder": 5, "mesh": 4}
"""Poses at which no face comes to touch within the steps of the differences."""


@pytest.mark.usefixtures("interpreted")
@EVERY
def test_derivatives_against_differences(name, evidence):
    system = on_ball(name)
    q, u = touching(system, SEEDS.get(name, 3), depth=6e-3)
    exact = system.jacobian("contacts.wrenches", q, u, wrt=("q", "u"))
    N = system.kinematics.N(q)
    for wrt, column in (
        ("q", lambda j, e: (q + e * N[:, j], u)),
        ("u", lambda j, e: (q, u + e * np.eye(12)[j])),
    ):
        for j in (1, 10):
            found = sum(
                w * system.contacts.wrenches(*column(j, e)).ravel()
                for w, e in zip(1e3 * WEIGHTS, 1e-3 * STEPS, strict=True)
            )
            error = np.abs(exact[wrt][:, j] - found).max() / np.abs(exact[wrt]).max()
            # differences of order 8 over 2e-6: rounding of forces over the step
            evidence("derivatives of elastic foundations, on surfaces of every kind, relative", error, 1e-7)
            assert error < 1e-7


@pytest.mark.parametrize("smooth", [0.0, 1e-3])
def test_meshes_that_pass_each_other(smooth, monkeypatch):
    """A tree and planes around leave out what does not touch: native sums against sums over all, apart and
    deep. One mesh has a dent, in which the other may sit."""
    v, f = icosphere(1, 0.1)
    dented = v * (1 - 0.5 * np.exp(-20 * (1 - v[:, 1:2] / 0.1)))
    rng = np.random.default_rng(0)
    q = np.zeros((14, 14))
    q[:, [0, 7]] = 1.0
    q[:, 7:11] += rng.normal(size=(14, 4)) / 3
    q[:, 7:11] /= np.linalg.norm(q[:, 7:11], axis=1)[:, None]
    q[:, 12] = np.linspace(0.02, 0.25, 14)
    u, found = rng.uniform(-0.1, 0.1, (14, 12)), []
    for evaluator in ("casadi", "native"):
        monkeypatch.setenv("CONDYLE_EVALUATOR", evaluator)
        system = two(
            contact.Mesh("a", None, (dented, f), 0.01, STEEL),
            contact.Mesh("b", None, icosphere(0, 0.05), 0.01, STEEL),
            smooth=smooth,
        )
        found.append(system.contacts.wrenches(q, u))
    touching = np.abs(found[0]).max(axis=(1, 2, 3)) > 0
    assert 3 < touching.sum() < 12
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-9)  # sums in another order


@pytest.mark.parametrize(
    ("name", "smooth"), [("plane", 0), ("ellipsoid", 0), ("mesh", 2e-3), ("terrain", 2e-3)]
)
def test_native_code_agrees_with_casadi(name, smooth, monkeypatch):
    """Trees, in scalar code and in lanes, against the sum over all faces; Jacobians too."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    slow = two(KINDS[name], FINE if name == "plane" else BALL, smooth=smooth)
    q, u = touching(slow, 8, depth=4e-3)
    rng = np.random.default_rng(0)
    N = SIMD_FROM + 1  # in lanes, and one that is left over
    Q, U = np.tile(q, (N, 1)), np.tile(u, (N, 1)) + rng.uniform(-0.1, 0.1, (N, 12))
    Q[:, 11:14] += rng.uniform(-2e-3, 2e-3, (N, 3))
    summed = slow.forward_dynamics(Q[:5], U[:5]), slow.jacobian("forward_dynamics", q, u, wrt="q")
    monkeypatch.delenv("CONDYLE_EVALUATOR")
    system = slow.copy()
    native = system.forward_dynamics(Q, U), system.jacobian("forward_dynamics", q, u, wrt="q")
    each = [system.forward_dynamics(*each) for each in zip(Q, U, strict=True)]
    np.testing.assert_array_equal(native[0], each)  # lanes are scalars
    for ours, theirs in zip(native, summed, strict=True):
        np.testing.assert_allclose(ours[: len(theirs)], theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


def test_winkler(evidence):
    """A sphere of n triangles on a plane comes to K pi R x^2, the integral of the depth over the area 2 pi R
    dz of a cap, at the second order in the size of triangles."""
    R, x, K = 0.1, 0.01, 1e9
    exact = K * np.pi * R * x**2
    stiff, soft = contact.Material(1e30), contact.Material(K * 0.01)
    rng = np.random.default_rng(2)
    errors = []
    for times in (2, 3, 4):
        system = cd.System()
        system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
        system.add_contact(
            "c",
            contact.HalfSpace("ground", (0, 1, 0), 0.0, stiff),
            contact.Mesh("b", None, icosphere(times, R), 0.01, soft),
        )
        Q = rng.normal(size=(200, 7))
        Q[:, :4] /= np.linalg.norm(Q[:, :4], axis=1)[:, None]
        Q[:, 4:] = 0, R - x, 0
        f = system.contacts.forces(Q, np.zeros((200, 6)))[:, 0, 1]
        errors.append(np.sqrt(np.mean((f / exact - 1) ** 2)))
    order = np.log2(errors[0] / errors[2]) / 2
    evidence("order at which spheres of triangles come to Winkler's foundation: below 2 by", 2 - order, 0.3)
    assert errors[2] < 0.03 and 1.7 < order < 2.3


def test_even_ground_is_a_plane():
    """Terrain that rises evenly, against a half-space; high above it nothing is asked."""
    slope = 0.2 * X_GRID[:, None] - 0.1 * Y_GRID + 0.05
    ground = two(contact.HeightField("a", None, X_GRID, Y_GRID, slope, STEEL), BALL)
    plane = two(contact.HalfSpace("a", (-0.2, 0.1, 1.0), 0.05 / np.sqrt(1.05), STEEL), BALL)
    q, u = touching(plane, 22, depth=6e-3)
    for what, given in (("depths", (q,)), ("points", (q,)), ("forces", (q, u)), ("losses", (q, u))):
        mine, flat = (getattr(s.contacts, what)(*given) for s in (ground, plane))
        np.testing.assert_allclose(mine, flat, rtol=1e-9, atol=1e-9)  # splines of 21 x 17 heights: 1e-14 m
    q[11:14] += 7.0 * plane.contacts.normals(q)[0]
    assert not ground.contacts.forces(q, u).any()
    q[11:14] -= 7.2 * plane.contacts.normals(q)[0]
    assert ground.contacts.depths(q)[0] == pytest.approx(plane.contacts.depths(q)[0], abs=1e-9)


def _springs(q, u, mesh, ball):
    """Moment about the body's origin and force of springs at centroids, by another program, in mpmath: on
    y = 0, or on a ball of 0.3 m below it. One material: modulus 1e6, layers of 1 cm, c = 0.4, mu = 0.8 and
    0.5, transition speed 0.05 m/s."""
    w, x, y, z = [v / mp.sqrt(sum(v**2 for v in q[:4])) for v in q[:4]]
    R = mp.matrix(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    cross = lambda a, b: mp.matrix(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )
    dot, center = lambda a, b: sum(s * t for s, t in zip(a, b)), mp.matrix([0, mp.mpf(-3) / 10, 0])
    total, touching_faces = [mp.mpf(0)] * 6, 0
    for corners in mesh[0][mesh[1]]:
        a, b, c = (mp.matrix([mp.mpf(float(t)) for t in corner]) for corner in corners)
        area, at = mp.norm(cross(b - a, c - a)) / 2, mp.matrix(q[4:]) + R * (a + b + c) / 3
        n = (at - center) / mp.norm(at - center) if ball else mp.matrix([0, 1, 0])
        depth = mp.mpf(3) / 10 - mp.norm(at - center) if ball else -at[1]
        if depth <= 0:
            continue
        touching_faces += 1
        arm = at + depth / 2 * n - mp.matrix(q[4:])
        v = mp.matrix(u[3:]) + cross(u[:3], arm)
        rate = -dot(n, v)
        f_n = mp.mpf(10) ** 8 / 2 * area * depth * (1 + mp.mpf("0.4") * rate)
        v_t = v + rate * n
        slip = mp.norm(v_t)
        s, us, ud = slip / mp.mpf("0.05"), mp.mpf("0.8"), mp.mpf("0.5")
        step = lambda t: t**3 * (10 - 15 * t + 6 * t**2)
        mu = us * step(s) if s < 1 else us - (us - ud) * step((s - 1) / 2) if s < 3 else ud
        f = f_n * n - mu * f_n / slip * v_t
        total = [t + d for t, d in zip(total, [*cross(arm, f), *f])]
    assert touching_faces > 1
    return total


@pytest.mark.parametrize("ball", [False, True], ids=["plane", "sphere"])
def test_derivatives_against_fifty_digits(ball):
    m, mesh = contact.Material(1e6, 0.4, 0.8, 0.5, 0.0, 0.05), icosphere(0, 0.1)
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    below = (
        contact.Sphere("ground", (0, -0.3, 0), 0.3, m)
        if ball
        else contact.HalfSpace("ground", (0, 1, 0), 0.0, m)
    )
    system.add_contact("c", below, contact.Mesh("b", None, mesh, 0.01, m))
    q = np.array([0.8, 0.2, -0.4, 0.4, 0.01, 0.05, -0.02])
    q[:4] /= np.linalg.norm(q[:4])
    u = np.array([0.2, 0.3, -0.1, 0.06, -0.2, 0.03])
    exact, slopes = in_fifty_digits(lambda q, u: _springs(q, u, mesh, ball), system.kinematics.N(q), q, u)
    np.testing.assert_allclose(system.contacts.wrenches(q, u)[0, 1], exact, rtol=1e-10, atol=1e-10)
    J = system.jacobian("contacts.wrenches", q, u, wrt=("q", "u"))
    ours = np.hstack([J["q"], J["u"]])[6:]
    assert np.abs(ours - slopes).max() < 1e-12 * np.abs(slopes).max()


def test_box_on_a_plane():
    """Area x stiffness x depth, of two layers one behind the other."""
    system = cd.System()
    system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    soft, hard = contact.Material(2e6), contact.Material(6e6)
    system.add_contact(
        "c", contact.HalfSpace("ground", (0, 1, 0), 0.0, hard), contact.Mesh("b", None, box(0.1), 0.01, soft)
    )
    q, u = (1, 0, 0, 0, 0, 0.1 - 1e-3, 0), np.zeros(6)
    K = 1 / (0.01 / 2e6 + 0.01 / 6e6)
    assert system.contacts.forces(q, u)[0, 1] == pytest.approx(K * 0.04 * 1e-3, rel=1e-12)
    assert system.contacts.depths(q)[0] == pytest.approx(1e-3, abs=1e-15)
    assert system.energy(q, u, disabled=("gravity",))[1] == pytest.approx(K * 0.04 * 1e-6 / 2, rel=1e-9)
    # the softer layer gives way by three quarters of the depth
    assert system.contacts.points(q)[0] == pytest.approx((0, -0.25e-3, 0), abs=1e-12)
    assert system.contacts.center_of_pressure(q, u, "c") == pytest.approx((0, -0.25e-3, 0), abs=1e-12)
    assert system.contacts.depths((1, 0, 0, 0, 0, 0.3, 0))[0] == pytest.approx(-0.2, abs=1e-15)
    assert not system.contacts.forces((1, 0, 0, 0, 0, 0.3, 0), u).any()


def test_center_of_pressure_is_that_of_normal_forces():
    """Of a box that rolls in, with dissipation: triangles that come faster push more. (55), by hand."""
    m = contact.Material(1e6, 2.0)
    system = cd.System()
    system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    system.add_contact(
        "c", contact.HalfSpace("ground", (0, 1, 0), 0.0, m), contact.Mesh("b", None, box(0.1), 0.01, m)
    )
    q, u = np.array([1, 0, 0, 0, 0, 0.1 - 1e-3, 0]), np.array([0, 0, 3.0, 0, -0.1, 0])
    p = system.contacts.pressures(q, u, "c")
    low = system.force("c").b.triangles.centroids[p > 0]
    expected = (low[:, 0] * p[p > 0]).sum() / p.sum()  # both triangles of the lower side have one area
    assert abs(expected) > 1e-3
    assert system.contacts.center_of_pressure(q, u, "c")[0] == pytest.approx(expected, rel=1e-12)


def test_energy_balance():
    """A ball of triangles that falls, bounces and slides: energy and loss make up for each other."""
    m = contact.Material(5e5, 0.5, 0.8, 0.6, 0.0, 0.1)
    system = cd.System()
    system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    system.add_contact(
        "c",
        contact.HalfSpace("ground", (0, 1, 0), 0.0, m),
        contact.Mesh("b", None, icosphere(2, 0.1), 0.01, m),
    )
    system.add_measure("lost", cd.measures.Integral(lambda s: s.ask(contact.Loss(system.force("c")))[0]))
    start = system.state(q={"b_ty": 0.15}, u={"b_vx": 1.0, "b_wz": -3.0})
    run = cd.simulate(system, start, 0.4, accuracy=1e-10)
    energy = np.array([sum(run(t).energy()) + run(t).z[0] for t in np.linspace(0, 0.4, 41)])
    assert run.z[-1, 0] > 0.1
    assert np.ptp(energy) < 1e-8


def test_stiff_and_explicit_methods_agree():
    """Rodas needs the Jacobian of the foundation; with a wrong one it would take many more steps."""
    m = contact.Material(1e5, 50.0, 0.9, 0.8, 0.0, 1e-4)
    system = cd.System()
    system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    system.add_contact(
        "c",
        contact.HalfSpace("ground", (0, 1, 0), 0.0, m),
        contact.Mesh("b", None, refined(*refined(*box(0.1))), 0.01, m),
    )
    start = system.state(q={"b_ty": 0.1 - 5e-5}, u={"b_vx": 0.02})
    runs = [
        cd.simulate(system, start, 0.1, accuracy=1e-5, integrator=method) for method in ("rodas", "merson")
    ]
    assert np.abs(runs[0][-1].q - runs[1][-1].q).max() < 1e-6
    assert runs[0].statistics.steps < runs[1].statistics.steps / 3


def test_parameters_have_derivatives():
    P = cd.Parameter
    soft = contact.Material(P("E", 1e6), P("c", 0.3), 1.0, P("mu", 0.8), 0.0, 0.05)
    system = two(
        contact.Sphere("a", (0, 0.1, 0), P("r", 0.2), STEEL),
        contact.Mesh("b", TILTED, icosphere(1, 0.1), P("h", 0.01), soft),
    )
    q, u = touching(system, 3, depth=6e-3)
    J = system.jacobian("contacts.wrenches", q, u, wrt="parameters")
    names = [p.name if hasattr(p, "name") else p for p in system.parameters]
    for name in ("E", "c", "mu", "r", "h"):
        value = {"E": 1e6, "c": 0.3, "mu": 0.8, "r": 0.2, "h": 0.01}[name]
        at = lambda e, name=name, value=value: (
            system.contacts.wrenches(q, u, parameters={name: value * (1 + e)}).ravel() / value
        )
        found = sum(w * at(e) for w, e in zip(1e3 * WEIGHTS, 1e-3 * STEPS, strict=True))
        mine = np.reshape(J, (12, -1))[:, names.index(name)]
        # rounding of forces of 1e3 N over the step
        np.testing.assert_allclose(mine, found, rtol=0, atol=1e-7 * np.abs(mine).max())


@pytest.mark.parametrize("name", ["plane", "mesh"])
def test_pressure_map(name):
    """Pressures times areas make up the normal force; in batches as alone."""
    system = two(KINDS[name], FINE)
    q, u = touching(system, 3, depth=4e-3)
    p = system.contacts.pressures(np.tile(q, (3, 1)), 0 * u, "touch", "b")
    assert p.shape == (3, 1280) and (p >= 0).all() and 0 < (p[0] > 0).sum() < 200
    np.testing.assert_array_equal(p[1], system.contacts.pressures(q, 0 * u, "touch", "b"))
    if name == "plane":
        total = p[0] @ FINE.triangles.areas
        assert total == pytest.approx(np.linalg.norm(system.contacts.forces(q, 0 * u)), rel=1e-9)
        stiffness = 1 / (0.01 / 2e6 + 0.01 / 5e5)
        assert p.max() == pytest.approx(stiffness * system.contacts.depths(q)[0], rel=1e-9)
    else:
        assert system.contacts.pressures(q, u, "touch").shape == (20,)  # of the first surface
    for wrong in ({"contact": "tuch"}, {"contact": "touch", "body": "c"}):
        with pytest.raises(cd.errors.UnknownNameError):
            system.contacts.pressures(q, u, **wrong)


def test_scaled_bodies():
    """A mesh has the size of its body, in the body's axes; its layer is as thick as before."""
    law = contact.ElasticFoundation(FLOOR, BALL)
    s = np.array([2.0, 1.0, 0.5])
    scaled = law.scaled(BodyFactors({"a": np.ones(3), "b": s})).b
    R, p = TILTED
    before, after = BALL.triangles.vertices @ R.T + p, scaled.triangles.vertices @ R.T + p * s
    np.testing.assert_allclose(after, before * s, atol=1e-15)
    assert scaled.thickness == BALL.thickness


def test_depth_is_a_leaf():
    """An event's witness: where the first face touches."""
    system = cd.System()
    system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    floor = contact.HalfSpace("ground", (0, 1, 0), 0.0, STEEL)
    depth = contact.Depth(floor, contact.Mesh("b", None, icosphere(2, 0.1), 0.01, RUBBER))
    system.add_force("push", cd.forces.Potential(lambda s: 3.0 * s.ask(depth)[0]))
    q = np.array([1, 0, 0, 0, 0.3, 0.25, 0.1])
    low = depth.b.triangles.centroids[:, 1].min()
    energy = system.energy(q, np.zeros(6), disabled=("gravity",))[1]
    assert energy == pytest.approx(-3.0 * (0.25 + low), abs=1e-12)


def test_equality_repr_and_pickles():
    for other in KINDS.values():
        law = contact.ElasticFoundation(other, BALL)
        again = pickle.loads(pickle.dumps(law))
        assert law == again and hash(law) == hash(again) and repr(law) == repr(again)
        assert law != contact.OpenSimElasticFoundation(other, BALL)
        assert law != contact.ElasticFoundation(other, BALL, smooth=1e-5)
    assert "80 triangles" in repr(BALL)


def test_nan_is_named():
    system = two(KINDS["plane"], BALL)
    q, u = touching(system, 3, depth=6e-3)
    q[12] = np.nan
    with pytest.raises(cd.errors.CondyleError, match="finite"):
        system.forward_dynamics(q, u)


REFUSED = [
    (lambda: contact.HuntCrossley(FLOOR, BALL), r"meshes need cd\.contact\.ElasticFoundation"),
    (
        lambda: contact.ElasticFoundation(FLOOR, contact.Sphere("b", (0, 0, 0), 0.1, STEEL)),
        "at least one must be a",
    ),
    (lambda: contact.ElasticFoundation(BALL, BALL), "both surfaces are on body"),
    (lambda: contact.ElasticFoundation("floor", BALL), "expected a surface"),
    (lambda: two(FLOOR, BALL, smooth=-1e-5), "smooth"),
    (lambda: contact.Mesh("b", None, icosphere(1, 0.1), 0.0, STEEL), "thickness"),
    (lambda: two(FLOOR, BALL, law=contact.OpenSimHuntCrossley), "meshes need"),
    (lambda: contact.Mesh("b", None, icosphere(1, 0.1), 0.01, contact.Rigid(0.5)), "corners of a rigid mesh"),
    (
        lambda: contact.ElasticFoundation(contact.HalfSpace("a", (0, 1, 0), 0.0, contact.Rigid(0.5)), BALL),
        "law of force",
    ),
]


@pytest.mark.parametrize(("make", "words"), REFUSED, ids=lambda x: x if isinstance(x, str) else "")
def test_refusals(make, words):
    with pytest.raises((cd.errors.CondyleError, TypeError), match=words):
        make()
