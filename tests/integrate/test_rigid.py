"""Runs with rigid contacts, stops and ropes: closed forms, balances, and what ends them."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.rigid.impact import blow

G = 9.81


def floor(material):
    return cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, material)


@pytest.fixture(scope="module")
def bouncer() -> cd.System:
    rubber = cd.contact.Rigid(restitution=cd.Parameter("e", 0.8))
    system = cd.System(gravity=(0, -10, 0))
    system.add_body("ball", mobilizer=cd.Slider(axis=(0, 1, 0)), mass=2.0)
    system.add_contact("floor", floor(rubber), cd.contact.Sphere("ball", (0, 0, 0), 0.1, rubber))
    return system


def names(traj) -> list[str]:
    return [e.name for e in traj.events]


def test_bouncing_ball_comes_to_rest(bouncer, evidence) -> None:
    """Heights e^2n h; rest at T (1 + e) / (1 - e), T the time of the first fall."""
    system = bouncer
    traj = cd.simulate(system, system.state(q={"ball": 1.1}), 5.0, accuracy=1e-8)
    assert traj.finished
    times = np.array([i.t for i in traj.impacts])
    tops = traj.at((times[:8] + times[1:9]) / 2)[:, 0] - 0.1
    heights = np.abs(tops / 0.64 ** np.arange(1, 9) - 1).max()
    rest = np.sqrt(0.2) * 1.8 / 0.2
    late = abs(traj.events[-1].t - rest)
    assert heights < 1e-7  # of accuracy 1e-8, over eight bounces
    assert late < 1e-5  # the last bounces are left out
    assert traj.u[-1, 0] == 0 and abs(traj.q[-1, 0] - 0.1) < 1e-12 and traj.discrete[-1, 0] == 1
    lost = sum(i.energy for i in traj.impacts)
    assert abs(lost / (2 * 10 * 1.0) + 1) < 1e-7
    assert {i.law for i in traj.impacts} == {"newton"}
    evidence("rigid bouncing ball: heights e^2n h of eight bounces, relative", heights, 1e-7)
    evidence("rigid bouncing ball: when it comes to rest, a geometric series of bounces [s]", late, 1e-5)


def test_elastic_ball_keeps_its_energy(bouncer) -> None:
    traj = cd.simulate(bouncer, bouncer.state(q={"ball": 1.1}, parameters={"e": 1.0}), 5.0, accuracy=1e-9)
    total = np.array([sum(s.energy()) for s in traj])
    assert len(traj.impacts) == 6 and np.ptp(total) < 1e-6 * abs(total).max()


def block() -> cd.System:
    """A block on a slope that is a Parameter, in a plane."""
    rubber = cd.contact.Rigid(friction=cd.Parameter("mu", 0.5))
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("block", mobilizer=cd.Planar(), mass=2.0, inertia=(0.02, 0.03, 0.02))
    system.add_contact(
        "floor", floor(rubber), cd.contact.vertices("block", [(-0.2, -0.1, 0), (0.2, -0.1, 0)], rubber)
    )
    for axis in ("x", "y"):
        system.add_force(axis, cd.forces.MobilityForce(f"block_t{axis}", 2 * cd.Parameter(f"g{axis}", 0.0)))
    return system


@pytest.fixture(scope="module")
def slope() -> cd.System:
    return block()


def test_block_on_an_incline(slope, evidence) -> None:
    """It sticks below the friction angle, and slides above it with g (sin - mu cos)."""
    limit, worst = np.arctan(0.5), 0.0
    for angle in (limit - 1e-4, limit + 1e-4, 0.7):
        state = slope.state(
            q={"block_ty": 0.1}, parameters={"gx": G * np.sin(angle), "gy": -G * np.cos(angle)}
        )
        traj = cd.simulate(slope, state, 1.0, accuracy=1e-6)
        a = G * (np.sin(angle) - 0.5 * np.cos(angle))
        worst = max(worst, abs(traj.u[-1, 1] - max(a, 0.0)))
        assert traj.finished and abs(traj.q[-1, 2] - 0.1) < 1e-9
        # the state knows: accelerations and forces of the last row are those of the run
        assert abs(traj[-1].udot[1] - max(a, 0.0)) < 1e-10
    assert worst < 1e-9  # steps of constant acceleration are exact
    evidence("block on an incline, 1e-4 rad about the friction angle: its speed after 1 s [m/s]", worst, 1e-9)


def test_sliding_block_comes_to_rest(slope, evidence) -> None:
    state = slope.state(q={"block_ty": 0.1}, u={"block_tx": 2.0}, parameters={"gy": -G})
    traj = cd.simulate(slope, state, 1.0, accuracy=1e-6)
    error = abs(traj.q[-1, 1] - 4 / (2 * 0.5 * G))
    assert traj.finished and traj.u[-1, 1] == pytest.approx(0, abs=1e-12) and error < 1e-8
    assert "floor.0 sticks" in names(traj) and "floor.1 sticks" in names(traj)
    evidence("sliding block: distance to rest v^2 / (2 mu g) [m]", error, 1e-8)


def test_contacts_report_what_they_do(slope, evidence) -> None:
    """A block that slides, then rests: forces add up to m (a - g), the center of pressure is ahead of the
    mass by mu times its height, wrenches are the reactions of the constraints, and what is lost is the power
    of friction; zero in flight."""
    start = slope.state(q={"block_ty": 0.1}, u={"block_tx": 2.0}, parameters={"gy": -G})
    traj = cd.simulate(slope, start, 0.6, accuracy=1e-8)
    assert slope.contacts == ("floor.0", "floor.1")
    moving = traj.t < 2.0 / (0.5 * G) - 1e-3
    f = traj.contacts.forces().values.reshape(-1, 2, 3)
    expected = np.where(moving[:, None], (-0.5 * 2 * G, 2 * G, 0), (0, 2 * G, 0))
    error = np.abs(f.sum(axis=1) - expected)[np.abs(traj.t - 2.0 / (0.5 * G)) > 1e-3].max()
    assert error < 1e-9  # rounding of two multipliers
    evidence("rigid contact: forces that states report against m (a - g) of a sliding block [N]", error, 1e-9)
    ahead = traj.contacts.center_of_pressure("floor")["floor_px"] - traj["block_tx"]
    assert np.abs(ahead[moving] - 0.05).max() < 1e-9 and np.abs(ahead[-1]) < 1e-9
    s = traj[1]
    P, n, slip = s.contacts.points(), s.contacts.normals(), s.contacts.slips()
    assert np.abs(P[:, 1]).max() < 1e-9 and (n == (0, 1, 0)).all()
    assert slip[:, 0] == pytest.approx(s.u[1]) and not slip[:, 1:].any()
    assert s.contacts.losses().sum() == pytest.approx(0.5 * 2 * G * s.u[1], rel=1e-9)
    F = s.contacts.wrenches()
    for k, name in enumerate(slope.contacts):
        assert F[k, 1] == pytest.approx(s.constraints.reactions(name)["block"], abs=1e-12)
        assert F[k, 0, 3:] == pytest.approx(-f[1, k], abs=1e-12)
    assert not s.contacts.patches().any() and np.abs(s.contacts.depths()).max() < 1e-9
    assert not start.contacts.forces().any() and np.isnan(start.contacts.center_of_pressure("floor")).all()


def test_block_is_pushed_over(slope) -> None:
    """A block whose weight is outside of its base tips about its lower corner, which sticks."""
    state = slope.state(q={"block_ty": 0.1}, parameters={"gx": 3 * G, "gy": -G, "mu": 10.0})
    traj = cd.simulate(slope, state, 0.05, accuracy=1e-6)
    assert traj.finished and traj.u[-1, 0] < -0.1
    closed = dict(zip(slope.discrete, traj.discrete[-1], strict=True))
    assert closed["floor.1.closed"] == 1 and closed["floor.0.closed"] == 0


def sphere(friction: float) -> cd.System:
    rubber = cd.contact.Rigid(friction=friction)
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("ball", mobilizer=cd.Free(), mass=2.0, inertia=(0.4 * 2 * 0.01,) * 3)
    system.add_contact("table", floor(rubber), cd.contact.Sphere("ball", (0, 0, 0), 0.1, rubber))
    return system


def test_billiard_ball_begins_to_roll(evidence) -> None:
    """Pushed without spin it rolls at 5/7 of its speed, from 2 v / (7 mu g) on; and turned sideways it goes
    on a curve, to 5/7 v + 2/7 w x r."""
    system = sphere(0.2)
    state = system.state(q={"ball_ty": 0.1}, u={"ball_vx": 3.0})
    traj = cd.simulate(system, state, 1.0, accuracy=1e-8)
    when = next(e.t for e in traj.events if e.name == "table sticks")
    errors = [
        abs(when - 2 * 3 / (7 * 0.2 * G)),
        abs(traj.u[-1, 3] - 15 / 7),
        abs(traj.u[-1, 2] + 150 / 7) * 0.1,
    ]
    spun = cd.simulate(system, state.replace(u={"ball_wx": 40.0}), 2.0, accuracy=1e-8)
    errors += [abs(spun.u[-1, 3] - 15 / 7), abs(spun.u[-1, 5] - 2 / 7 * 40 * 0.1)]
    assert traj.finished and spun.finished
    assert max(errors) < 1e-7  # ten accuracies, in units of speed
    evidence("billiard ball: when it begins to roll, and how fast [s, m/s]", max(errors), 1e-7)


def test_pendulum_with_a_stop() -> None:
    """A double pendulum whose elbow stops hard: momentum about the shoulder is kept, energy falls."""
    system = cd.System()
    system.add_body("upper", mobilizer=cd.Pin(), X_BM=(0, 0.5, 0), mass=1.0, inertia=(0.01, 0.01, 0.02))
    system.add_body(
        "lower", "upper", cd.Pin(), X_PF=(0, -0.5, 0), X_BM=(0, 0.5, 0), mass=1.0, inertia=(0.01, 0.01, 0.02)
    )
    system.add_constraint("elbow", cd.constraints.Stop("lower", lower=0.0, restitution=0.4))
    state = system.state(q={"upper": 1.0, "lower": 1.0})
    traj = cd.simulate(system, state, 3.0, accuracy=1e-7)
    assert traj.finished and traj["lower"].min() > -1e-7 and len(traj.impacts) > 2
    first = traj.impacts[0]
    rows = np.flatnonzero(traj.t == first.t)
    before, after = traj[int(rows[0])], traj[int(rows[-1])]
    momentum = [(s.mass_matrix() @ s.u)[0] for s in (before, after)]
    assert momentum[0] == pytest.approx(momentum[1], abs=1e-9)
    assert after.u[1] == pytest.approx(-0.4 * before.u[1], rel=1e-6)
    assert sum(after.energy()) - sum(before.energy()) == pytest.approx(first.energy, abs=1e-9)
    assert np.diff([sum(s.energy()) for s in traj]).max() < 1e-6


def test_rope_snaps_taut(evidence) -> None:
    """A falling bob loses its speed along the rope, and swings on."""
    system = cd.System()
    system.add_body("bob", mobilizer=cd.Translation(), mass=2.0)
    system.add_constraint("rope", cd.constraints.Rope("ground", (0, 0, 0), "bob", (0, 0, 0), 1.0))
    state = system.state(q={"bob_tx": 0.6}, u={"bob_tz": 0.1})
    traj = cd.simulate(system, state, 1.0, accuracy=1e-8)
    fall = np.sqrt(2 * 0.8 / G)  # not quite: it moves sideways too
    blow = traj.impacts[0]
    rows = np.flatnonzero(traj.t == blow.t)
    before, after = traj[int(rows[0])], traj[int(rows[-1])]
    along = before.q / np.linalg.norm(before.q)
    expected = before.u - along * (along @ before.u)
    error = np.abs(after.u - expected).max()
    assert abs(blow.t - fall) < 0.01 and error < 1e-9
    assert blow.impulses["rope"][0] == pytest.approx(2 * along @ before.u, rel=1e-9)
    length = np.linalg.norm(traj.q, axis=1)
    assert traj.finished and length.max() < 1 + 1e-8
    evidence("rope that snaps taut: velocity after it [m/s]", error, 1e-9)


def test_loops_hold_through_impacts() -> None:
    """A rod from ground holds a ball that falls on the floor: an impact with a constraint."""
    rubber = cd.contact.Rigid(restitution=0.5)
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Translation(), mass=1.0)
    system.add_constraint("rod", cd.constraints.Rod("ground", (0, 1, 0), "ball", (0, 0, 0), 1.2))
    system.add_contact("floor", floor(rubber), cd.contact.Sphere("ball", (0, 0, 0), 0.1, rubber))
    state = system.state(q={"ball_tx": np.sqrt(1.2**2 - 0.25), "ball_ty": 0.5})
    traj = cd.simulate(system, state, 2.0, accuracy=1e-7)
    assert traj.finished and traj.impacts
    errors = np.abs(np.linalg.norm(traj.q - [0, 1, 0], axis=1) - 1.2).max()
    assert errors < 1e-7
    assert np.diff([sum(s.energy()) for s in traj]).max() < 1e-6
    for hit in traj.impacts[:2]:
        rows = np.flatnonzero(traj.t == hit.t)
        s = traj[int(rows[-1])]
        assert abs((s.q - [0, 1, 0]) @ s.u) < 1e-9


def cradle() -> cd.System:
    steel = cd.contact.Rigid(restitution=1.0)
    system = cd.System(gravity=(0, 0, 0))
    surfaces = []
    for i in range(4):
        system.add_body(f"b{i}", mobilizer=cd.Slider(), X_PF=(i * 0.1, 0, 0), mass=1.0)
        surfaces.append(cd.contact.Sphere(f"b{i}", (0, 0, 0), 0.05, steel, name=f"b{i}"))
    for i in range(3):
        system.add_contact(f"c{i}", surfaces[i], surfaces[i + 1])
    return system


def test_cradle(evidence) -> None:
    """With small gaps balls hit one after the other, and the last one leaves with the speed of the first. In
    one instant Newton's law at e = 1 reverses the only gap that closes, and no gap more than it must."""
    system = cradle()
    apart = {"b0": -0.2, "b2": 1e-4, "b3": 2e-4}
    traj = cd.simulate(system, system.state(q=apart, u={"b0": 1.0}), 0.5, accuracy=1e-8)
    error = np.abs(traj.u[-1] - [0, 0, 0, 1]).max()
    assert traj.finished and len(traj.impacts) == 3 and error < 1e-9
    evidence("Newton's cradle, rigid, with gaps: speeds after three impacts [m/s]", error, 1e-9)
    traj = cd.simulate(system, system.state(q={"b0": -0.2}, u={"b0": 1.0}), 0.5, accuracy=1e-8)
    assert len(traj.impacts) == 1 and traj.finished
    np.testing.assert_allclose(traj.u[-1], [-0.5, 0.5, 0.5, 0.5], atol=1e-9)
    assert abs(traj.u[-1] @ traj.u[-1] - 1) < 1e-9 and abs(traj.u[-1].sum() - 1) < 1e-9


def test_painleve() -> None:
    """A rod pushed over a rough floor, head down: the force of the floor grows without limit, or there is
    none; the run says so."""
    rough = cd.contact.Rigid(friction=2.0)
    system = cd.System()
    system.add_body("rod", mobilizer=cd.Planar(), mass=1.0, inertia=(0.05, 0.05, 1 / 12))
    system.add_contact("tip", floor(rough), cd.contact.Point("rod", (-0.5, 0, 0), rough))
    angle = 1.1
    q = {"rod_rz": angle, "rod_ty": 0.5 * np.sin(angle), "rod_tx": 0.0}
    # 1 - 3 cos (mu sin - cos) < 0 around 60 degrees for mu > 4/3: Genot and Brogliato 1999
    traj = cd.simulate(system, system.state(q=q, u={"rod_tx": -3.0}), 1.0, accuracy=1e-5)
    assert traj.status == cd.Status.PAINLEVE and "tip" in traj.status and "Material" in traj.status.advice


def test_painleve_is_where_theory_says() -> None:
    """A rod whose tip slides: a unit of normal force lifts it by 1 + 3 cos^2 + 3 mu s sin cos, s the sign of
    its slip; below zero the run ends at once, else it goes on. Impacts of falling rods, with more friction
    than that too, make no energy."""
    rough = cd.contact.Rigid(cd.Parameter("e", 0.0), cd.Parameter("mu", 2.0))
    system = cd.System()
    system.add_body("rod", mobilizer=cd.Planar(), mass=1.0, inertia=(0.05, 0.05, 1 / 12))
    for name, x in (("tip", -0.5), ("top", 0.5)):
        system.add_contact(name, floor(rough), cd.contact.Point("rod", (x, 0, 0), rough))
    rng, jammed = np.random.default_rng(7), 0
    for _ in range(16):
        mu, angle, speed = rng.uniform(1, 3), rng.uniform(0.3, 1.4), rng.choice([-3.0, 3.0])
        q = {"rod_rz": angle, "rod_ty": 0.5 * np.sin(angle)}
        traj = cd.simulate(system, system.state(q=q, u={"rod_tx": speed}, parameters={"mu": mu}), 1e-4)
        lift = 1 + 3 * np.cos(angle) ** 2 + 3 * mu * np.sign(speed) * np.sin(angle) * np.cos(angle)
        assert (traj.status == cd.Status.PAINLEVE) == (lift < 0)
        jammed += lift < 0
    assert 0 < jammed < 16
    hits = 0
    for _ in range(4):
        angle = rng.uniform(0.3, 2.8)
        start = system.state(
            q={"rod_rz": angle, "rod_ty": 0.5 * np.sin(angle) + 0.05},
            u=rng.uniform(-4, 4, 3) * (1, 1, 0.5),
            parameters={"mu": rng.uniform(0.3, 3), "e": rng.choice([0.0, 0.5])},
        )
        traj = cd.simulate(system, start, 0.5, accuracy=1e-5)
        assert traj.status in (cd.Status.FINISHED, cd.Status.PAINLEVE)
        assert np.diff([sum(s.energy()) for s in traj]).max(initial=0.0) < 1e-4  # ten accuracies, of 10 J
        hits += len(traj.impacts)
    assert hits > 4


def test_impacts_never_make_energy(evidence) -> None:
    """Of two hundred random ones: up to four contacts, any restitution and friction, both laws."""
    rng, most, count = np.random.default_rng(11), -np.inf, 0
    while count < 200:
        k, nu = int(rng.integers(1, 5)), int(rng.integers(3, 12))
        A, G, u = rng.standard_normal((nu, nu)), rng.standard_normal((3 * k, nu)), rng.standard_normal(nu)
        M, v = A @ A.T + 0.05 * np.eye(nu), (G @ u).reshape(k, 3)
        e, mu = (rng.uniform(0, top, k) * (rng.random(k) < 0.7) for top in (1.0, 1.5))
        if (v[:, 0] < 0).any():
            hit = blow(G @ np.linalg.solve(M, G.T), v, e, mu, str(rng.choice(["newton", "poisson"])))
            assert hit is not None
            assert hit.v[:, 0].min() > -1e-6 * np.abs(v).max()  # impulses times the ridge of singular W
            after = u + np.linalg.solve(M, G.T @ hit.lambda_.ravel())
            most = max(most, after @ M @ after / (u @ M @ u) - 1)
            count += 1
    assert most < 1e-9  # rounding of a product of ten numbers
    evidence(
        "two hundred random impacts with friction: the largest gain of kinetic energy, relative",
        max(most, 0.0),
        1e-9,
    )


def test_overlap_is_refused(bouncer) -> None:
    system = bouncer
    with pytest.raises(cd.errors.DescriptionError, match=r"'floor' is violated by 0.05"):
        cd.simulate(system, system.state(q={"ball": 0.05}), 1.0)
    traj = cd.simulate(system, system.state(q={"ball": 0.05}, disabled=["floor"]), 0.1)
    assert traj.finished and not traj.impacts
    with pytest.raises(cd.errors.DescriptionError, match="backward"):
        cd.simulate(system, system.state(t=1.0, q={"ball": 1.0}), 0.0)
    # a ball at rest that an action puts into the floor
    sunk = cd.Event(at=0.1, action=lambda s: s.replace(q={"ball": 0.0}))
    with pytest.raises(cd.errors.DescriptionError, match=r"'floor' is violated by 0.1"):
        cd.simulate(system, system.state(q={"ball": 0.1}), 0.2, events=sunk)


def test_actions_keep_other_constraints(bouncer) -> None:
    """Contacts are let go where an action says so; another constraint that it breaks is not mended in
    silence."""
    system = bouncer.copy()
    system.add_body("cart", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1))
    system.add_constraint("brake", cd.constraints.ConstantCoordinate("cart", 0.0))
    moved = cd.Event(at=0.1, name="push", action=lambda s: s.replace(q={"cart": 0.2}))
    with pytest.raises(cd.errors.DescriptionError, match=r"Event\(push\).* brake by 0.2"):
        cd.simulate(system, system.state(q={"ball": 0.1}), 0.2, events=moved)
    lifted = cd.Event(at=0.1, action=lambda s: s.replace(q={"ball": 0.5}))
    traj = cd.simulate(system, system.state(q={"ball": 0.1}), 0.2, accuracy=1e-6, events=lifted)
    assert traj.q[-1, 0] == pytest.approx(0.5 - 5 * 0.01, abs=1e-6)  # g = 10


def test_a_push_that_grows() -> None:
    """A point mass on a floor, pushed by 4 t and lifted by 20 t [N]: it slides when 4 t = mu (10 - 20 t),
    with 14 t - 5 [m/s^2], and leaves at 0.5 s."""
    wood = cd.contact.Rigid(friction=0.5)
    system = cd.System(gravity=(0, -10, 0))
    system.add_body("stone", mobilizer=cd.Translation(), mass=1.0, coordinates=("x", "y", "z"))
    system.add_contact("floor", floor(wood), cd.contact.Point("stone", (0, 0, 0), wood))
    system.add_force("push", cd.forces.Custom(lambda s: {"x": 4 * s.t, "y": 20 * s.t}))
    traj = cd.simulate(system, system.state(), 0.5, accuracy=1e-8)
    assert names(traj)[:3] == ["floor touches", "floor sticks", "floor slides"]
    assert traj.events[2].t == pytest.approx(5 / 14, abs=1e-7)
    assert traj.u[-1, 0] == pytest.approx(7 * (0.5 - 5 / 14) ** 2, abs=1e-7)


def test_many_states_and_events(bouncer) -> None:
    """Ensembles, and events of users that see impacts and change speeds."""
    system = bouncer
    hits: list[float] = []
    hit = cd.Event(lambda s: s.u("ball"), direction="rising", action=lambda s: hits.append(s.t))
    traj = cd.simulate(system, system.state(q={"ball": 1.1}), 1.2, accuracy=1e-6, events=hit)
    assert len(hits) == len(traj.impacts) == 2
    kick = cd.Event(at=[4.5], action=lambda s: s.replace(u={"ball": 1.0}))
    kicked = cd.simulate(system, system.state(q={"ball": 1.1}), 4.6, accuracy=1e-4, events=kick)
    assert kicked.q[-1, 0] == pytest.approx(0.1 + 0.1 - 5 * 0.01, abs=1e-4)  # it was at rest, and flies
    ens = cd.simulate(system, {"q": [[1.1], [0.6], [2.1]]}, 1.0, accuracy=1e-6)
    alone = cd.simulate(system, system.state(q={"ball": 0.6}), 1.0, accuracy=1e-6)
    np.testing.assert_array_equal(ens[1].q[-1], alone.q[-1])
    again = cd.simulate(system, alone[-1], 2.0, accuracy=1e-6)
    whole = cd.simulate(system, system.state(q={"ball": 0.6}), 2.0, accuracy=1e-6)
    np.testing.assert_allclose(again.q[-1], whole.q[-1], atol=1e-5)


def chain(n: int, friction: float) -> cd.System:
    iron, length = cd.contact.Rigid(friction=friction), 0.1
    link = {"X_BM": (-length / 2, 0, 0), "mass": 0.1, "inertia": (1e-5, 9e-5, 9e-5)}
    system = cd.System()
    system.add_body("b0", mobilizer=cd.Planar(), **link)
    for i in range(1, n):
        system.add_body(f"b{i}", f"b{i - 1}", cd.Pin(), X_PF=(length / 2, 0, 0), **link)
    points = [cd.contact.Point(f"b{i}", (length / 2, 0, 0), iron, name=f"p{i}") for i in range(n)]
    points.insert(0, cd.contact.Point("b0", (-length / 2, 0, 0), iron, name="end"))
    system.add_contact("floor", floor(iron), points)
    return system


def fallen(n: int, friction: float, t_final: float) -> tuple[float, float, float]:
    """Energy of a chain before it falls, at the end, and how much it grew at most."""
    system, rng = chain(n, friction), np.random.default_rng(1)
    q = {f"b{i}": 0.15 * rng.standard_normal() - 0.1 for i in range(1, n)}
    traj = cd.simulate(system, system.state(q={"b0_rz": 1.2, "b0_ty": 0.2, **q}), t_final, accuracy=1e-4)
    assert traj.finished and len(traj.impacts) > 2
    energy = np.array([sum(s.energy()) for s in traj])
    return energy[0], energy[-1], np.diff(energy).max()


def test_falling_chain(evidence) -> None:
    first, last, grown = fallen(3, 0.3, 1.5)
    assert last < 1e-8 * first and grown < 1e-5 * first  # of accuracy 1e-4
    evidence(
        "chain that falls on a floor, with friction: growth of its energy in any step, relative",
        max(grown, 0.0) / first,
        1e-5,
    )


@pytest.mark.slow
def test_falling_chain_of_twenty_bodies(evidence) -> None:
    """21 contacts, 98 impacts, 591 steps: half a minute, most of it compiling."""
    first, last, grown = fallen(20, 0.0, 2.5)
    assert abs(last) < 1e-8 * first and grown < 1e-5 * first
    evidence(
        "chain of 20 bodies that falls on a floor and comes to rest: energy left, relative",
        abs(last) / first,
        1e-8,
    )


def test_disc_whirls_on_its_rim(evidence) -> None:
    """Euler's disc, its center at rest: Omega^2 sin(theta) = 4 g / r for a rim that sticks."""
    r, tube, theta = 0.1, 1e-5, 0.6
    rough = cd.contact.Rigid(friction=5.0)
    system = cd.System(gravity=(0, 0, -G))
    system.add_body("disc", mobilizer=cd.Free(), mass=1.0, inertia=(r * r / 4, r * r / 4, r * r / 2))
    system.add_contact(
        "table",
        cd.contact.HalfSpace("ground", (0, 0, 1), 0.0, rough),
        cd.contact.Torus("disc", None, r - tube, tube, rough),
    )
    # turned by theta about x, the lowest point is at -y; w is along the diameter through it
    half = theta / 2
    Omega = np.sqrt(4 * G / (r * np.sin(theta)))
    along = np.array([0, np.cos(theta), np.sin(theta)])
    w = -Omega * np.sin(theta) * along
    depth = (r - tube) * np.sin(theta) + tube
    q = [np.cos(half), np.sin(half), 0, 0, 0, 0, depth]
    traj = cd.simulate(system, system.state(q=q, u=[*w, 0, 0, 0]), 0.5, accuracy=1e-7)
    tilt = np.array([np.arccos(s.body_pose("disc").R[2, 2]) for s in traj])
    error = np.abs(tilt - theta).max()
    energy = np.array([sum(s.energy()) for s in traj])
    assert traj.finished and traj.discrete[-1, 1] == 1
    assert error < 5e-4 and np.ptp(energy) < 1e-6 * energy[0]  # the tube is 1e-4 of the radius
    evidence("disc that whirls on its rim, its center at rest: tilt over 0.5 s [rad]", error, 5e-4)


def test_newtons_law_never_makes_energy() -> None:
    """Among random impacts with friction some gain by Newton's law: Poisson's takes its place."""
    from condyle.integrate.rigid.impact import blow

    rng, laws = np.random.default_rng(7), []
    for _ in range(150):
        J = rng.standard_normal((3, 3))
        v = rng.standard_normal((1, 3)) * [1, 3, 3]
        v[0, 0] = -abs(v[0, 0])
        done = blow(J @ J.T, v, np.array([0.9]), np.array([1.5]), "newton")
        assert done is not None and done.energy <= 0 and done.v[0, 0] >= -1e-9
        laws.append(done.law)
        # without friction one contact rebounds alike by both laws
        alike = [blow(J @ J.T, v, np.array([0.9]), np.zeros(1), law) for law in ("newton", "poisson")]
        assert abs(alike[0].v[0, 0] - alike[1].v[0, 0]) < 1e-9 and alike[0].law == "newton"
    assert 0 < laws.count("poisson") < 100 and laws.count("newton") > 50


def test_compliant_contact_comes_near(evidence) -> None:
    """The same ball on surfaces that yield, ever stiffer: where it is after it began to roll."""
    rigid = sphere(0.2)
    state = {"u": {"ball_vx": 3.0}}
    right = cd.simulate(rigid, rigid.state(q={"ball_ty": 0.1}, **state), 1.0, accuracy=1e-7)
    off = []
    E = cd.Parameter("E", 1e6)
    rubber = cd.contact.Material(
        E, dissipation=1.0, static_friction=0.2, dynamic_friction=0.2, transition_speed=1e-3
    )
    soft = cd.System(gravity=(0, -G, 0))
    soft.add_body("ball", mobilizer=cd.Free(), mass=2.0, inertia=(0.4 * 2 * 0.01,) * 3)
    soft.add_contact("table", floor(rubber), cd.contact.Sphere("ball", (0, 0, 0), 0.1, rubber))
    for stiff in (1e5, 1e7):
        sunk = (2 * G * 0.75 / (np.sqrt(0.1) * stiff / 2**1.5)) ** (2 / 3)
        start = soft.state(q={"ball_ty": 0.1 - sunk}, parameters={"E": stiff}, **state)
        traj = cd.simulate(soft, start, 1.0, accuracy=1e-6, integrator="rodas")
        off.append(abs(traj["ball_tx"][-1] - right["ball_tx"][-1]))
    # the rolling radius is less by the depth, which falls with the power 2/3 of the stiffness
    assert off[1] < off[0] / 15 and off[1] < 3e-3
    evidence(
        "rigid against compliant contact of a ball that begins to roll: place after 1 s [m]", off[1], 3e-3
    )
