"""Contacts with known answers."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import condyle as cd
from tests.contact.meshes import icosphere
from tests.contact.rig import in_fifty_digits

C = cd.contact
UP = (0.0, 1.0, 0.0)


def sliding(
    material, radius=0.1, gravity=(0, -9.81, 0), surface=None, mobilizer=None, **options
) -> cd.System:
    """A body of 2 kg on a floor; it does not turn, unless its mobilizer lets it."""
    system = cd.System(gravity=gravity)
    system.add_body(
        "b", mobilizer=mobilizer or cd.Translation(), mass=2.0, inertia=(0.4 * 2.0 * radius**2,) * 3
    )
    surface = surface or C.Sphere("b", (0, 0, 0), radius, material)
    system.add_contact("floor", C.HalfSpace("ground", UP, 0.0, material), surface, **options)
    return system


def sigma(ratio) -> mp.mpf:
    """sherman2011 (28), (29), by another program."""
    ratio = mp.mpf(ratio)
    if ratio == 1:
        return mp.mpf(1)
    K, E = (lambda k, f=f: f(1 - 1 / k**2) for f in (mp.ellipk, mp.ellipe))
    k = mp.findroot(lambda k: (k**2 * E(k) - K(k)) / (K(k) - E(k)) - ratio, ratio ** mp.mpf("0.64"))
    return mp.pi / 2 * k * mp.sqrt(E(k)) / K(k) ** mp.mpf("1.5")


@pytest.mark.parametrize("radii", [None, (0.2, 0.1, 0.05)], ids=["sphere", "ellipsoid"])
def test_elastic_impact(radii, evidence):
    """Depth (5 m v^2 / 4 k)^(2/5) and half the contact's time, 2.9432 depth / v, then back with the same
    speed:
    Hertz, for f = k x^(3/2)."""
    E, v = 1e7, 0.5
    surface = radii and C.Ellipsoid("b", None, radii, C.Material(E))
    system = sliding(C.Material(E), gravity=(0, 0, 0), surface=surface)
    if radii:
        x, y, z = radii
        kappa = y / x**2, y / z**2  # of the ellipsoid where it touches
        shape = sigma(max(kappa) / min(kappa)) * mp.sqrt(2 / (kappa[0] + kappa[1]))
    else:
        y, shape = 0.1, mp.sqrt(0.1)
    k = float(4 / 3 * E / 2**1.5 * shape)  # two equal materials: E* = E / 2^(3/2)
    depth = (5 * 2.0 * v**2 / (4 * k)) ** 0.4
    time = 0.8 * math.sqrt(math.pi) * math.gamma(0.4) / math.gamma(0.9) * depth / v
    run = cd.simulate(system, system.state(q={"b_ty": y}, u={"b_ty": -v}), time, accuracy=1e-10)
    error = max(abs((y - run(time / 2).q[1]) / depth - 1), abs(run[-1].u[1] / v - 1))
    evidence(
        "elastic impact of sphere and ellipsoid after Hertz: depth, time and speed, relative", error, 1e-7
    )
    assert error < 1e-7  # accuracy 1e-10 of lengths of 0.1 m; depth is 2 mm


@pytest.mark.parametrize("radii", [(0.1, 0.1, 0.1), (0.2, 0.1, 0.05)], ids=["circle", "ellipse"])
def test_patch(radii):
    """Pressure of Hertz over the ellipse that touches carries the force: with its largest value
    p = 3 f / (2 pi a b) the depth is p b K / E*, and the gap bends by p b (K - E) / (E* m a^2) along a
    (Johnson 1985, 4.26)."""
    E, x = 1e7, 1e-4
    system = sliding(C.Material(E), surface=C.Ellipsoid("b", None, radii, C.Material(E)))
    state = system.state(q={"b_ty": radii[1] - x})
    a, b = state.contacts.patches()[0]
    m, E = 1 - (b / a) ** 2, E / 2**1.5
    p = 1.5 * state.contacts.forces()[0, 1] / (math.pi * a * b)
    K, D = mp.ellipk(m), mp.pi / 4 if m < 1e-12 else (mp.ellipk(m) - mp.ellipe(m)) / m
    assert float(p * b * K / E) == pytest.approx(x, rel=1e-10)  # digits of the depth, 1e-16 / 1e-4 m
    flat = min(radii[1] / radii[0] ** 2, radii[1] / radii[2] ** 2)
    assert float(p * b * D / (E * a**2)) == pytest.approx(flat / 2, rel=1e-9)


def test_rolling_and_spin():
    """Moments (15), (16): levers times the normal force, against the turning, once R w is past three
    transition speeds, and the curve's value at half of one."""
    d_r, d_s, v_t = 0.004, 0.007, 0.01
    system = sliding(
        C.Material(1e6, transition_speed=v_t), mobilizer=cd.Free(), rolling_resistance=d_r, spin_friction=d_s
    )
    at = lambda **w: system.state(q={"b_ty": 0.099}, u={f"b_{k}": v for k, v in w.items()})
    f = at().contacts.forces()[0, 1]
    moment = lambda **w: at(**w).contacts.wrenches()[0, 1, :3]
    np.testing.assert_allclose(moment(wx=3.0, wz=4.0), -d_r * f * np.array([0.6, 0, 0.8]), atol=1e-12 * f)
    np.testing.assert_allclose(moment(wy=-2.0), [0, d_s * f, 0], atol=1e-12 * f)
    half = 0.5**3 * (10 - 15 * 0.5 + 6 * 0.25)
    np.testing.assert_allclose(moment(wx=0.5 * v_t / 0.1), [-half * d_r * f, 0, 0], atol=1e-12 * f)
    both = at(wx=3.0, wy=2.0)
    assert both.contacts.losses()[0] == pytest.approx(f * (3 * d_r + 2 * d_s), rel=1e-12)


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("kind", ["sphere", "mesh"])
def test_the_larger_transition_speed_counts(kind, swap):
    """At half of it the curve (9) is at 1/2, wherever the smaller one is; viscous friction is there too."""
    speeds = (0.1, 0.01) if swap else (0.01, 0.1)
    one, other = (C.Material(1e6, 0.0, 0.8, 0.6, mu_v, v) for v, mu_v in zip(speeds, (0.1, 0.3), strict=True))
    body = (
        C.Sphere("b", (0, 0, 0), 0.1, one)
        if kind == "sphere"
        else C.Mesh("b", None, icosphere(1, 0.1), 0.01, one)
    )
    state = sliding(other, surface=body).state(q={"b_ty": 0.08}, u={"b_tx": 0.05})
    x, y, _ = state.contacts.forces()[0]
    assert -x / y == pytest.approx(0.8 * 0.5 + 2 * 0.1 * 0.3 / 0.4 * 0.05, rel=1e-12)


@pytest.mark.parametrize("v", [0.02, 0.5])
def test_restitution(v, evidence):
    """e = 1 - c v for slow impacts, as the material says; exactly a v - ln(1 + a v) = -a w - ln(1 - a w), a
    = 3/2 c, w
    = e v."""
    c = 0.3
    system = sliding(C.Material(1e7, c), gravity=(0, 0, 0))
    run = cd.simulate(
        system, system.state(q={"b_ty": 0.1}, u={"b_ty": -v}), 0.05 if v > 0.1 else 0.1, accuracy=1e-10
    )
    e, a = run[-1].u[1] / v, 1.5 * c
    assert e == pytest.approx(1 - c * v, abs=(c * v) ** 2)
    error = abs(a * v - math.log1p(a * v) + a * e * v + math.log1p(-a * e * v)) / (a * v) ** 2
    evidence("coefficient of restitution of Hunt and Crossley against its closed form, relative", error, 1e-6)
    assert error < 1e-6


def test_sliding_block_comes_to_rest(evidence):
    mu, v = 0.5, 1.0
    system = sliding(C.Material(1e7, 1.0, mu, mu, 0.0, 1e-4))
    rest = cd.simulate(system, system.state(q={"b_ty": 0.1}), 1.0)[-1].q[1]
    run = cd.simulate(system, system.state(q={"b_ty": rest}, u={"b_tx": v}), 0.5)
    error = abs(run[-1].q[0] / (v**2 / (2 * mu * 9.81)) - 1)
    evidence("distance that a sliding block comes to rest in, v^2 / (2 mu g), relative", error, 1e-3)
    assert error < 1e-3 and abs(run[-1].u[0]) < 1e-4  # within the transition speed, over v


def test_billiard_ball_begins_to_roll(evidence):
    """At 5/7 of its speed, after 2 v / (7 mu g), whatever the friction is."""
    mu, v = 0.3, 1.0
    system = sliding(C.Material(1e7, 1.0, mu, mu, 0.0, 1e-4), mobilizer=cd.Free())
    depth = 0.1 - cd.simulate(system, system.state(q={"b_ty": 0.1}), 1.0)[-1].q[5]
    time = 2 * v / (7 * mu * 9.81)
    run = cd.simulate(system, system.state(q={"b_ty": 0.1 - depth}, u={"b_vx": v}), 2 * time, accuracy=1e-6)
    error = max(
        abs(run[-1].u[3] / (5 / 7 * v) - 1), abs(run(0.9 * time).u[3] / (v - mu * 9.81 * 0.9 * time) - 1)
    )
    evidence("billiard ball: speed while it slides and when it rolls, 5/7 v, relative", error, 2e-3)
    assert error < 2e-3  # the lever of friction is less by the depth


@pytest.mark.parametrize("angle", [0.9, 1.1])
def test_friction_angle(angle):
    """A block on an incline creeps below atan(mu_s), and slides with g (sin - mu_d cos) above."""
    mu = 0.6
    slope = angle * math.atan(mu)
    g = 9.81 * np.array([math.sin(slope), -math.cos(slope), 0.0])
    system = sliding(C.Material(1e7, 1.0, mu, mu, 0.0, 1e-3), gravity=g)
    run = cd.simulate(system, system.state(q={"b_ty": 0.1}), 1.0)
    if angle < 1:
        assert 0 < run[-1].u[0] < 1e-3  # within the transition speed
    else:
        assert run[-1].u[0] - run(0.5).u[0] == pytest.approx((g[0] + mu * g[1]) / 2, rel=1e-2)


def test_newtons_cradle(evidence):
    """Equal elastic balls that meet one after the other hand the speed on."""
    steel = C.Material(1e9)
    system = cd.System(gravity=(0, 0, 0))
    balls = []
    for k in range(4):
        system.add_body(
            f"ball{k}", mobilizer=cd.Slider(), X_PF=(0.101 * k, 0, 0), mass=0.3, inertia=(1e-3,) * 3
        )
        balls.append(C.Sphere(f"ball{k}", (0, 0, 0), 0.05, steel, name=f"{k}"))
    for k in range(3):
        system.add_contact(f"c{k}", balls[k], balls[k + 1])
    run = cd.simulate(system, system.state(u=(1.0, 0, 0, 0)), 0.02, accuracy=1e-10)
    error = np.abs(run[-1].u - (0, 0, 0, 1.0)).max()
    evidence(
        "Newton's cradle of four compliant balls: speeds after the impacts, over the first one", error, 1e-6
    )
    assert error < 1e-6


@pytest.mark.parametrize("case", ["can lies", "can stands", "ring lies", "box falls over"])
def test_comes_to_rest(case):
    """On rims, on its end, flat, on four corners: the floor carries the weight, and nothing moves."""
    m, half = C.Material(1e6, 1.0, 0.6, 0.5, 0.0, 0.01), math.sqrt(0.5)
    can, box = C.Cylinder("b", None, 0.05, 0.2, m), C.Box("b", None, (0.05, 0.04, 0.03), m)
    upright = {"b_qw": half, "b_qx": half}
    surface, q, height = {
        "can lies": (can, {"b_ty": 0.051}, 0.05),
        "can stands": (can, {"b_ty": 0.101, **upright}, 0.1),
        "ring lies": (C.Torus("b", None, 0.05, 0.01, m), {"b_ty": 0.0102, **upright}, 0.01),
        "box falls over": (box, {"b_ty": 0.08, "b_qw": 0.9, "b_qz": math.sqrt(0.19)}, 0.05),
    }[case]
    system = sliding(m, radius=0.03, surface=surface, mobilizer=cd.Free())
    end = cd.simulate(system, system.state(q=q), 2.0, accuracy=1e-4, integrator="rodas")[-1]
    assert end.contacts.forces()[:, 1].sum() == pytest.approx(2.0 * 9.81, rel=1e-2)
    assert height - 0.006 < end.q[5] < height and np.abs(end.u).max() < 1e-2


def test_rattleback_reverses():
    """A boat-shaped stone, its inertia turned against its shape, spins on one way, and turns round the
    other way."""
    system = cd.System()
    system.add_body(
        "stone", mobilizer=cd.Free(), mass=1.0, com=(0, -0.01, 0), inertia=(2e-4, 1.7e-3, 1.6e-3, 0, 2e-5, 0)
    )
    m = C.Material(1e7, 0.02, 1.5, 1.5, 0.0, 5e-4)
    system.add_contact(
        "table", C.HalfSpace("ground", UP, 0.0, m), C.Ellipsoid("stone", None, (0.2, 0.02, 0.03), m)
    )
    spin = {}
    for way in (-5.0, 5.0):
        start = system.state(
            q={"stone_ty": 0.02, "stone_qw": math.cos(5e-3), "stone_qx": math.sin(5e-3)}, u={"stone_wy": way}
        )
        spin[way] = cd.simulate(system, start, 3.5, accuracy=1e-4, integrator="rodas")[-1].u[1]
    assert spin[5.0] > 4.5
    assert 0.1 < spin[-5.0] < 1.0  # most went into rocking, and is lost


@pytest.mark.parametrize("law", ["exact", "smooth", "rolling"])
def test_energy_balance(law, evidence):
    """stored + lost = work of a ball that bounces and begins to roll."""
    options = {"smooth": {"smooth": 1e-5}, "rolling": {"rolling_resistance": 0.005, "spin_friction": 0.01}}
    system = sliding(C.Material(1e5, 0.2, 0.9, 0.6, 0.1, 0.1), mobilizer=cd.Free(), **options.get(law, {}))
    loss = C.Loss(system.force("floor"))
    system.add_measure("lost", cd.measures.Integral(lambda s: s.ask(loss)[0]))
    start = system.state(q={"b_ty": 0.4}, u={"b_vx": 1, "b_wz": -5, "b_wx": 2, "b_wy": 3})
    run = cd.simulate(system, start, 0.8, accuracy=1e-10)
    first, last = (sum(run[k].energy()) for k in (0, -1))
    error = abs(last + run["lost"][-1] - first) / first
    assert run["lost"][-1] > 0.2 * first
    evidence(
        "energy of a bouncing ball, stored and lost against the work done, at accuracy 1e-10", error, 1e-8
    )
    assert error < 1e-8


def test_a_disabled_contact_loses_nothing():
    """Its surfaces pass through each other, whether a measure or the operator is asked."""
    system = sliding(C.Material(1e5, 0.2, 0.9, 0.6, 0.1, 0.1), mobilizer=cd.Free())
    system.add_measure("lost", cd.measures.Integral(lambda s: s.ask(C.Loss(system.force("floor")))[0]))
    lost = {}
    for disabled in ([], ["floor"]):
        start = system.state(q={"b_ty": 0.05}, u={"b_vx": 1.0, "b_vy": -0.5}, disabled=disabled)
        run = cd.simulate(system, start, 0.01)
        assert (start.contacts.losses()[0] == 0) == bool(disabled)
        lost[len(disabled)] = run["lost"][-1]
    assert lost[0] > 0
    assert lost[1] == 0


# ---- derivatives against 50 digits ---------------------------------------------------------------------


def _wrench(q, u, radii):
    """Moment about the body's origin and force on an ellipsoid about it, by another program, in mpmath:
    floor below
    y = 0, one material of modulus 1e6, c = 0.4, mu_s = 0.8, mu_d = 0.5, mu_v = 0.1, v_t = 0.05."""
    w, x, y, z = [v / mp.sqrt(sum(v**2 for v in q[:4])) for v in q[:4]]
    R = mp.matrix(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    D = mp.diag([mp.mpf(r) for r in radii])
    down = R.T * mp.matrix([0, -1, 0])
    h = mp.norm(D * down)
    lowest = R * (D * D * down) / h
    depth = -(q[5] + lowest[1])
    P = mp.eye(3) - down * down.T
    K = h * P * D**-2 * P
    total, squares = K[0, 0] + K[1, 1] + K[2, 2], sum(v**2 for v in K)
    spread = mp.sqrt(abs(2 * squares - total**2))
    f_Hz = (
        mp.mpf(4)
        / 3
        * sigma((total + spread) / (total - spread))
        * mp.sqrt(2 / total)
        * 10**6
        / mp.mpf(2) ** mp.mpf("1.5")
        * depth ** mp.mpf("1.5")
    )
    arm = lowest + mp.matrix([0, depth / 2, 0])
    cross = lambda a, b: mp.matrix(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )
    v = mp.matrix(u[3:]) + cross(u[:3], arm)
    f_n = f_Hz * (1 - mp.mpf(3) / 2 * mp.mpf("0.4") * v[1])
    slip = mp.sqrt(v[0] ** 2 + v[2] ** 2)
    s = slip / mp.mpf("0.05")
    step = lambda t: t**3 * (10 - 15 * t + 6 * t**2)
    us, ud = mp.mpf("0.8"), mp.mpf("0.5")
    mu = (us * step(s) if s < 1 else us - (us - ud) * step((s - 1) / 2) if s < 3 else ud) + slip / 10
    f = mp.matrix([-mu * f_n * v[0] / slip, f_n, -mu * f_n * v[2] / slip])
    return [*cross(arm, f), *f]


@pytest.mark.parametrize("slip", [0.03, 0.1, 1.0])
def test_derivatives_against_fifty_digits(slip, evidence):
    """An ellipsoid that sticks, passes the peak of friction, slides."""
    radii = (0.15, 0.1, 0.08)
    m = C.Material(1e6, 0.4, 0.8, 0.5, 0.1, 0.05)
    system = sliding(m, mobilizer=cd.Free(), surface=C.Ellipsoid("b", None, radii, m))
    q = np.array([0.8, 0.2, -0.4, 0.4, 0.3, 0.1, -0.2])
    q[:4] /= np.linalg.norm(q[:4])
    q[5] += system.contacts.depths(q)[0] - 1e-3
    u = np.array([0.02, 0.03, -0.01, slip, -0.2, 0.3 * slip])
    found = system.contacts.wrenches(q, u)[0, 1]
    exact, slopes = in_fifty_digits(lambda q, u: _wrench(q, u, radii), system.kinematics.N(q), q, u)
    np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-9)
    J = system.jacobian("contacts.wrenches", q, u, wrt=("q", "u"))
    ours = np.hstack([J["q"], J["u"]])[6:]
    error = np.abs(ours - slopes).max() / np.abs(slopes).max()
    evidence("derivatives of contact forces against 50 digits, relative", error, 1e-10)
    assert error < 1e-10  # depth is 1e-3 m to 1e-17 m


def touching(a, b, at, v) -> tuple[np.ndarray, ...]:
    """Depth, force and loss of a contact between two bodies that do not turn, the second one moved."""
    system = cd.System(gravity=(0, 0, 0))
    for body in "ab":
        system.add_body(body, mobilizer=cd.Translation(), mass=1.0)
    system.add_contact("pair", a, b)
    q, u = np.concatenate([np.zeros(3), at]), np.concatenate([np.zeros(3), v])
    return tuple(
        np.ravel(x)
        for x in (system.contacts.depths(q), system.contacts.forces(q, u), system.contacts.losses(q, u))
    )


def test_without_a_normal_there_is_no_friction_either():
    """Where centers coincide, or lie on the circle of a ring. On the axis of a cylinder all ways out are as
    long: there it is x of its frame."""
    rough = C.Material(1e6, 0.1, 0.8, 0.6)
    ball = C.Sphere("a", (0, 0, 0), 0.1, rough)
    for other, at in (
        (C.Sphere("b", (0, 0, 0), 0.1, rough), (0, 0, 0)),
        (C.Torus("b", None, 0.2, 0.05, rough), (0.2, 0, 0)),
    ):
        depth, force, lost = touching(ball, other, at, (0.1, 0.2, 0.3))
        assert depth > 0 and not force.any() and not lost.any()
    smooth = C.Material(1e6)
    ball = C.Sphere("a", (0, 0, 0), 0.1, smooth)
    depth, force, lost = touching(ball, C.Cylinder("b", None, 0.1, 1.0, smooth), (0, 0, 0.2), (0.1, 0.2, 0.3))
    assert abs(force[0]) > 0 and not force[1:].any() and not lost.any()


@pytest.mark.parametrize("other", ["cylinder", "floor"])
def test_line_contact(other):
    """Cylinders side by side, and one that lies on a floor: Hertz's ellipse with the crown's radius along
    the line, near the textbooks' lines."""
    m, E, x = C.Material(1e6), 1e6 / 2**1.5, 5e-4
    can = C.Cylinder("b", None, 0.2, 1.0, m)
    below = C.Cylinder("a", None, 0.1, 1.0, m) if other == "cylinder" else C.HalfSpace("a", (1, 0, 0), 0.1, m)
    depth, force, lost = touching(below, can, (0.3 - x, 0.0, 0.0), (0, 0, 0))
    assert depth[0] == pytest.approx(x, abs=1e-12)
    assert np.abs(force[1:]).max() < 1e-9 * force[0] and not lost.any()
    f, rim = 1e-3, 1e-3
    radii = lambda r, l: (r - f * l) / (1 - f * f) * f * f + (l - f * r) / (1 - f * f) / f + rim
    along = 1 / radii(0.199, 0.499) + (1 / radii(0.099, 0.499) if other == "cylinder" else 0)
    around = 1 / 0.2 + (1 / 0.1 if other == "cylinder" else 0)
    shape = sigma(around / along) * mp.sqrt(2 / (around + along))
    assert force[0] == pytest.approx(4 / 3 * E * float(shape) * x**1.5, rel=1e-9)
    # f = pi/4 E* L x, whatever the radii (Popov, Contact Mechanics and Friction, 5.3)
    popov = force[0] / (np.pi / 4 * E * x)
    assert popov == pytest.approx(0.193 if other == "cylinder" else 0.282, abs=5e-3)  # of the theory page
    if other == "floor":
        # x = f / (pi E*) (2 ln 4R/a - 1), a^2 = 4 f R / (pi E*), a meter long (Johnson 1985, 5.6)
        a = lambda f: mp.sqrt(4 * f * 0.2 / (mp.pi * E))
        exact = mp.findroot(lambda f: f / (mp.pi * E) * (2 * mp.log(0.8 / a(f)) - 1) - x, 100)
        ratio = float(force[0] / exact)
        assert ratio == pytest.approx(0.60, abs=5e-3)  # digits of the theory page


def test_cylinders_have_ends():
    """Beyond each other's ends they are apart; end to end they push along their axes; a rim rests on a
    side."""
    can = lambda body, turn=None: C.Cylinder(body, turn, 0.1, 1.0, C.Material(1e6))
    depth, force, _ = touching(can("a"), can("b"), (0.19, 0, 1.2), (0, 0, 0))
    assert depth[0] == pytest.approx(-0.2, abs=2e-3) and not force.any()
    depth, force, _ = touching(can("a"), can("b"), (0, 0, 0.999), (0, 0, 0))
    assert depth[0] == pytest.approx(1e-3, abs=1e-12)
    assert force[2] > 0 and np.abs(force[:2]).max() < 1e-9 * force[2]
    punch = 2 * 1e6 / 2**1.5 * 0.1 * 1e-3  # a flat end on a plane: f = 2 E* r x
    assert 0.3 < force[2] / punch < 3
    across = cd.Transform(cd.spatial.rotation_about((0.0, 1.0, 0.0), np.pi / 2))
    depth, force, _ = touching(can("a"), can("b", across), (0.599, 0, 0), (0, 0, 0))  # an end on a side
    assert depth[0] == pytest.approx(1e-3, abs=1e-12) and force[0] > 0
    assert touching(can("a"), can("b", across), (0.599, 0, 0.62), (0, 0, 0))[0][0] < -0.01  # beyond the end


def test_a_ball_in_a_ring():
    """One that fits through rolls inside; one that does not would touch along a circle, which is said."""
    m = C.Material(1e6)
    ring = C.Torus("b", None, 0.1, 0.02, m)
    depth, force, _ = touching(C.Sphere("a", (0, 0, 0), 0.05, m), ring, (0.031, 0, 0), (0, 0, 0))
    assert depth[0] == pytest.approx(1e-3, abs=1e-12) and force[0] < 0
    for at in ((0, 0, 0.065), (1e-4, 0, 0.065)):
        with pytest.raises(cd.errors.ContactError, match="Sphere on 'a' and Torus on 'b'"):
            touching(C.Sphere("a", (0, 0, 0), 0.1, m), ring, at, (0, 0, 0))
    depth, force, _ = touching(C.Sphere("a", (0, 0, 0), 0.1, m), ring, (0.219, 0, 0), (0, 0, 0))
    assert depth[0] == pytest.approx(1e-3, abs=1e-12) and force[0] > 0


def test_a_sphere_beside_at_the_edge_of_and_beyond_a_cylinder():
    """Side: r + R - rho. End: r + L / 2 - z, as a half-space. Between them the edge's circle, of radius
    R - rim, and beyond the end nothing. Halfway in, the nearer of side and end pushes."""
    can = C.Cylinder("a", None, 0.1, 1.0, C.Material(1e6), rim=0.02)
    ball = C.Sphere("b", (0, 0, 0), 0.05, C.Material(1e6))

    def depth_and_force(at):
        return [x if len(x) > 1 else x[0] for x in touching(can, ball, at, (0, 0, 0))[:2]]

    depth, force = depth_and_force((0.14, 0, 0.3))
    assert depth == pytest.approx(0.01) and force[0] > 0 and not force[1:].any()
    depth, force = depth_and_force((0, 0.03, -0.54))
    flat = 4 / 3 * 1e6 / 2**1.5 * 0.05**0.5 * 0.01**1.5
    assert depth == pytest.approx(0.01) and np.allclose(force, (0, 0, -flat), rtol=1e-10)
    depth, force = depth_and_force((0.12, 0, 0.52))
    assert depth == pytest.approx(0.07 - 0.04 * 2**0.5) and force[0] == pytest.approx(force[2])
    depth, force = depth_and_force((0.12, 0, 0.7))
    assert depth == pytest.approx(0.07 - np.hypot(0.04, 0.22)) and not force.any()
    for at, deep, axis in (((0.07, 0, 0.2), 0.08, 0), ((0.01, 0, -0.48), 0.07, 2)):
        depth, force = depth_and_force(at)
        assert depth == pytest.approx(deep) and np.flatnonzero(np.abs(force) > 1e-9).tolist() == [axis]
