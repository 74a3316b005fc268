"""Rigid contacts at the edges: light beside heavy, small and fast, paradoxes."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.rigid.contacts import OneWayConstraints
from condyle.integrate.rigid.held_accelerations import HeldAccelerations
from condyle.integrate.rigid.impact import blow
from condyle.native.programs import slice_function

C = cd.contact


def test_light_beside_heavy() -> None:
    """An ant of 1 mg beside an elephant of 5 t, both sliding: each comes to rest as if it were alone. Before
    contacts were solved in groups, the ant's force was rounding of the elephant's; it fell, and the run hung.
    """
    skin, system = C.Rigid(friction=0.3), cd.System()
    for name, mass in (("elephant", 5e3), ("ant", 1e-6)):
        system.add_body(name, mobilizer=cd.Translation(), mass=mass)
    floor = C.HalfSpace("ground", (0, 1, 0), 0.0, skin)
    system.add_contact(
        "floor",
        floor,
        [
            C.Sphere("elephant", (0, 0, 0), 0.5, skin, name="elephant"),
            C.Sphere("ant", (0, 0, 0), 1e-3, skin, name="ant"),
        ],
    )
    start = system.state(
        q={"elephant_ty": 0.5, "ant_ty": 1e-3, "ant_tx": 3.0}, u={"elephant_tx": 1.0, "ant_tx": 1.0}
    )
    traj = cd.simulate(system, start, 0.5, accuracy=1e-6)
    way = 1 / (2 * 0.3 * 9.81)
    error = max(abs(traj["elephant_tx"][-1] - way), abs(traj["ant_tx"][-1] - 3 - way))
    assert traj.finished and error < 1e-7 and traj["ant_ty"].min() > 1e-3 - 1e-9  # a tenth of the accuracy
    assert traj[-1].contacts.forces()[:, 1] == pytest.approx([5e3 * 9.81, 1e-6 * 9.81])


@pytest.fixture(scope="module")
def plate() -> cd.System:
    """A ball of 1 mm, and a plate 4 mm thick in its way."""
    steel, system = C.Rigid(restitution=0.5), cd.System()
    system.add_body("ball", mobilizer=cd.Translation(), mass=1.0)
    system.add_contact(
        "plate",
        C.Box("ground", (0, -0.002, 0), (1, 0.002, 1), steel, edge=5e-4),
        C.Sphere("ball", (0, 0, 0), 0.001, steel),
    )
    return system


@pytest.mark.parametrize("v", [0.0, 50.0])
def test_small_bodies_do_not_pass_thin_ones(plate, v) -> None:
    """In flight steps are long, and gaps are above zero on both sides of a plate: it is hit all the same."""
    traj = cd.simulate(plate, plate.state(q={"ball_ty": 1.0}, u={"ball_ty": -v}), 0.6, accuracy=1e-4)
    when = (np.sqrt(v * v + 2 * 9.81 * 0.999) - v) / 9.81
    assert [e.name for e in traj.events] == ["plate touches"]
    assert traj.events[0].t == pytest.approx(when, abs=2e-5)  # two windows
    assert traj["ball_ty"].min() > 0.001 - 2e-5 * 60  # and what it flies in them


def test_bullets_meet() -> None:
    """Two balls of 1 mm at 100 m/s in the middle: the speed is handed on; 1.5 mm beside it goes both ways, by
    the normal where they touch; 2.5 mm beside there is nothing."""
    steel, system = C.Rigid(restitution=1.0), cd.System(gravity=(0, 0, 0))
    for name in "ab":
        system.add_body(name, mobilizer=cd.Translation(), mass=1.0)
    system.add_contact("hit", *(C.Sphere(b, (0, 0, 0), 0.001, steel) for b in "ab"))
    for beside, left in ((0.0, 0.0), (0.0015, 100 * 0.75**2), (0.0025, 100.0)):
        start = system.state(q={"a_tx": -1.0, "a_ty": beside}, u={"a_tx": 100.0})
        traj = cd.simulate(system, start, 1.0, accuracy=1e-4)
        # a thousandth of a window of 1e-5 s at 100 m/s, of 2 mm
        assert traj.u[-1, [0, 3]] == pytest.approx([left, 100.0 - left], abs=0.1)


def test_kanes_pendulum() -> None:
    """Kane and Levinson 1985: the tip of a double pendulum hits a rough floor. By Newton's law and within
    Coulomb's cone it would gain a third of its energy; the run follows Poisson's law, says so, and energy
    falls."""
    rough, system = C.Rigid(0.834, 0.559), cd.System()
    bar = {"X_BM": (0, 0.5, 0), "mass": 1.0, "inertia": (1 / 12, 1e-3, 1 / 12)}
    system.add_body("upper", mobilizer=cd.Pin(), X_PF=(0, 1.6, 0), **bar)
    system.add_body("lower", "upper", cd.Pin(), X_PF=(0, -0.5, 0), **bar)
    system.add_contact(
        "tip", C.HalfSpace("ground", (0, 1, 0), 0.0, rough), C.Point("lower", (0, -0.5, 0), rough)
    )
    a = 0.225  # the other bar is such that the tip touches
    start = system.state(q=[a, np.arccos(1.6 - np.cos(a)) - a], u=[0.157, -1.974])
    J, M = system.station_jacobian(start.q, "lower", (0, -0.5, 0))[:2], start.mass_matrix()
    before, W = J @ start.u, J @ np.linalg.solve(M, J.T)
    p = np.linalg.solve(W, [0.0, -0.834 * before[1]] - before)  # Newton's law, and the tip sticks
    gain = p @ (before + W @ p / 2)
    assert abs(p[0]) < 0.559 * p[1] and gain > 0.36 * (0.5 * start.u @ M @ start.u)
    traj = cd.simulate(system, start, 0.05, accuracy=1e-6)
    hit = traj.impacts[0]
    assert hit.law == "poisson" and hit.energy < 0
    assert np.diff(traj.energy().values.sum(axis=1)).max() < 1e-6


def test_floors_that_move(evidence) -> None:
    """A ball on a plate that shakes leaves where the plate falls faster than it: A w^2 sin(w t) = g."""
    A, w, clay, system = 0.05, 20.0, C.Rigid(), cd.System()
    system.add_body(
        "plate",
        mobilizer=cd.Slider(axis=(0, 1, 0)),
        mass=1.0,
        motion=cd.Prescribed(lambda t: A * np.sin(w * t)),
    )
    system.add_body("ball", mobilizer=cd.Slider(axis=(0, 1, 0)), mass=1.0)
    system.add_contact(
        "on it", C.HalfSpace("plate", (0, 1, 0), 0.0, clay), C.Sphere("ball", (0, 0, 0), 0.1, clay)
    )
    traj = cd.simulate(system, system.state(q={"ball": 0.1}, u={"ball": A * w}), 0.3, accuracy=1e-8)
    assert [e.name for e in traj.events] == ["on it touches", "on it opens", "on it touches"]
    error = abs(traj.events[1].t - np.arcsin(9.81 / (A * w * w)) / w)
    assert error < 1e-8  # ten windows
    evidence("ball on a plate that shakes: when it leaves [s]", error, 1e-8)
    hit = traj.events[2].before  # plate and ball meet with different speeds
    speeds = hit.u
    assert traj.impacts[0].impulses["on it"][0] == pytest.approx(abs(speeds[0] - speeds[1]), rel=1e-6)


def test_rattleback_against_another_program(evidence) -> None:
    """A boat-shaped stone that rolls, its inertia turned against its shape: of 5 rad/s one way a fifth goes
    in 5 s, the other way it turns round; energy stays. The other program, for half a second: Euler's
    equations in the body's axes, n the vertical, r from the mass center to the point that touches, v = r x w.
    """
    integrate = pytest.importorskip("scipy.integrate")
    com, radii, g, tilt = np.array([0, -0.01, 0]), np.array([0.2, 0.02, 0.03]), 9.81, 0.1
    inertia, D = np.array([[2e-4, 0, 2e-5], [0, 1.7e-3, 0], [2e-5, 0, 1.6e-3]]), np.diag(radii**2)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        w, n, s = y[:3], y[3:], np.sqrt(y[3:] @ D @ y[3:])
        r, dn = -D @ n / s - com, np.cross(n, w)
        dr = -D @ dn / s + D @ n * (n @ D @ dn) / s**3
        K = inertia - np.cross(r, np.cross(r, np.eye(3)))
        load = np.cross(r, np.cross(dr, w) + np.cross(w, np.cross(r, w)) + g * n)
        return np.r_[np.linalg.solve(K, load - np.cross(w, inertia @ w)), dn]

    rough, system = C.Rigid(friction=10.0), cd.System()
    system.add_body(
        "stone", mobilizer=cd.Free(), mass=1.0, com=com, inertia=(2e-4, 1.7e-3, 1.6e-3, 0, 2e-5, 0)
    )
    system.add_contact(
        "table", C.HalfSpace("ground", (0, 1, 0), 0.0, rough), C.Ellipsoid("stone", None, radii, rough)
    )
    n, t, spin, worst = np.array([0, np.cos(tilt), -np.sin(tilt)]), np.linspace(0, 0.5, 6), {}, 0.0
    high = np.sqrt(n @ D @ n)
    y, z = (-D @ n / high)[1:]  # from the middle to the table, in the stone
    down = np.array([0, y * n[1] + z * n[2], z * n[1] - y * n[2]])
    for way in (-5.0, 5.0):
        w = np.array([0, way, 0])
        start = system.state(
            q={"stone_qw": np.cos(tilt / 2), "stone_qx": np.sin(tilt / 2), "stone_ty": high},
            u=[*w, *-np.cross(w, down)],
        )
        run = cd.simulate(system, start, 5.0, accuracy=1e-8)
        other = integrate.solve_ivp(rates, (0, 0.5), np.r_[way * n, n], "DOP853", t, rtol=1e-8, atol=1e-9)
        R = np.stack([s.body_pose("stone").R for s in map(run, t)])
        mine = np.hstack([np.einsum("tji,tj->ti", R, [run(x).u[:3] for x in t]), R[:, 1]])
        worst, spin[way] = max(worst, np.abs(mine - other.y.T).max()), run["stone_wy"]
        energy = run.energy().values.sum(axis=1)
        assert run.finished and np.ptp(energy) < 1e-7 * energy[0]
    assert spin[5.0].min() > 3.9 and spin[-5.0][0] == -5 and spin[-5.0][-1] > 0.4
    assert worst < 1e-5  # of 5 rad/s, at the other's 1e-8 a step
    evidence(
        "rattleback that rolls, both ways: rates and vertical against another program (SciPy)", worst, 1e-5
    )


@pytest.mark.parametrize("masses", [(1.0, 0.01, 100.0, 1e-4), (1.0, 1.0, 1.0, 1.0)])
def test_elastic_tower_keeps_its_energy(masses) -> None:
    """Four balls that touch fall on a floor: by Newton's law all come back with their speed. A light one
    made rounding look like energy, and the tower stopped dead."""
    k = len(masses)
    W, v = np.zeros((3 * k, 3 * k)), np.zeros((k, 3))
    for i in range(k):  # contact i is under ball i
        W[3 * i, 3 * i] = 1 / masses[i] + (1 / masses[i - 1] if i else 0.0)
        if i:
            W[3 * i, 3 * i - 3] = W[3 * i - 3, 3 * i] = -1 / masses[i - 1]
    v[0, 0] = -2.0
    made = blow(W, v, np.ones(k), np.zeros(k), "newton")
    assert made is not None and made.law == "newton"
    above = np.cumsum(masses[::-1])[::-1]
    assert np.abs(made.lambda_[:, 0] / (4 * above) - 1).max() < 1e-9  # 2 v of all above
    assert abs(made.energy) < 1e-9 * 2 * above[0]


def test_poissons_law_at_contacts_that_part() -> None:
    """A corner that parts before the impact is pressed by the other one, and gives back its share e of that
    impulse, (19); then the box comes to rest."""
    mu, x_1, x_2, y = 0.73, -0.3, 0.5, -0.16
    material = C.Rigid(restitution=0.15, friction=mu, law="poisson")
    system = cd.System()
    system.add_body("box", mobilizer=cd.Planar(), mass=1.5, inertia=(1, 1, 0.02))
    system.add_contact(
        "floor",
        cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, material),
        cd.contact.vertices("box", [(x_1, y, 0), (x_2, y, 0)], material),
    )
    u = np.array([1.6, 0.45, -0.65])
    traj = cd.simulate(system, system.state(q={"box_ty": -y}, u=u), 3.0, accuracy=1e-6)
    # by hand: normals of both corners and the common slip stop in compression; what they give back leaves
    # both corners in flight, and friction holds the slip
    G = np.array([(x_1, 0, 1), (x_2, 0, 1), (-y, 1, 0)])
    W = G @ np.diag([1 / 0.02, 1 / 1.5, 1 / 1.5]) @ G.T
    squeezed = -np.linalg.solve(W, G @ u)
    back = 0.15 * squeezed[:2]
    slip = -W[2, :2] @ back / W[2, 2]
    assert (G @ u)[1] > 0 and squeezed[:2].min() > 0
    assert abs(squeezed[2]) < mu * squeezed[:2].sum() and abs(slip) < mu * back.sum()
    hit = traj.impacts[0]
    normal = [hit.impulses[f"floor.{k}"][0] for k in (0, 1)]
    np.testing.assert_allclose(normal, squeezed[:2] + back, rtol=1e-8)  # digits of the cone's Newton
    assert traj.finished and np.abs(traj.u[-1]).max() < 1e-6 and hit.law == "poisson"
    assert np.diff(traj.energy().values.sum(axis=1)).max() < 1e-5  # ten accuracies, of 2 J


@pytest.mark.parametrize("how", ["events", "steps", "steps of a list"])
def test_two_materials(how) -> None:
    """(1): restitution and friction of a pair are harmonic means; a ball slides through its impact."""
    floor = C.HalfSpace("ground", (0, 1, 0), 0.0, C.Rigid(restitution=0.4, friction=0.1))
    ball = C.Sphere("b", (0, 0, 0), 0.1, C.Rigid(restitution=0.8, friction=0.3))
    e, mu = 2 * 0.4 * 0.8 / 1.2, 2 * 0.1 * 0.3 / 0.4
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("b", mobilizer=cd.Free(), mass=2.0, inertia=(0.008,) * 3)
    if how != "steps of a list":
        system.add_contact("c", floor, ball)
    start = system.state(q={"b_ty": 0.1}, u={"b_vy": -2.0, "b_vx": 9.0})
    method = cd.integrators.TimeStepping(*([[floor, ball]] if how == "steps of a list" else []))
    options = {} if how == "events" else {"step": 1e-4, "integrator": method}
    end = cd.simulate(system, start, 1e-3, **options)
    # tolerance of the impulses of steps
    np.testing.assert_allclose(end.u[-1][3:5], [9 - mu * (1 + e) * 2, 2 * e], rtol=1e-6)


@pytest.fixture(scope="module")
def two_links() -> cd.State:
    """A chain in the air, turning."""
    stone, chain = C.Rigid(friction=cd.Parameter("mu", 0.213)), cd.System()
    chain.add_body("a", mobilizer=cd.Planar(), mass=1.0, inertia=(0.02, 0.02, 0.02))
    chain.add_body(
        "b", "a", cd.Pin(), X_PF=(0.2, 0, 0), X_BM=(-0.2, 0, 0), mass=0.046, inertia=(0.01, 0.01, 0.01)
    )
    points = [C.Point(b, (x, 0, 0), stone) for b, x in (("a", -0.2), ("a", 0.2), ("b", 0.2))]
    chain.add_contact("f", C.HalfSpace("ground", (0, 1, 0), 0.0, stone), points)
    return chain.state(q=[1.277, 0, 0.656, 1.547], u=[1.65, 0.356, 0.467, 4.901])


@pytest.mark.parametrize("accuracy", [1e-6, 1e-7, 1e-8, 1e-11])
def test_a_chain_settles_flat(two_links, accuracy) -> None:
    """Two links come to lie stretched on the floor. Both ends stick there at the largest distance that they
    can have, which the hinge's last rattling contradicts by 1e-9 m/s2; each touch lifts another point by less
    than gaps are known to; and a point that an impact stops without holding it is above the floor again."""
    traj = cd.simulate(two_links.system, two_links, 1.5, accuracy=accuracy)
    assert traj.finished, traj.status
    assert np.abs(traj.u[-1]).max() < 1e-12  # at rest
    exact = cd.simulate(two_links.system, two_links, 1.5, accuracy=1e-12)
    assert traj["a_tx"][-1] == pytest.approx(exact["a_tx"][-1], abs=accuracy)
    assert np.diff(traj.energy().values.sum(axis=1)).max() < 10 * accuracy  # of 7 J: it never grows


@pytest.mark.parametrize("corners", [3, 4])
def test_derivatives_while_contacts_slide(corners) -> None:
    """A block slides and turns. Accelerations of three points have derivatives; of four they depend on how
    these share the weight, which has none: refused, where they were up to 2 % off."""
    stone, system = C.Rigid(friction=0.4), cd.System(gravity=(0, 0, -9.81))
    system.add_body("block", mobilizer=cd.Free(), mass=1.0, inertia=(0.01, 0.02, 0.03))
    points = [(0.1, 0.1, -0.1), (-0.1, 0.1, -0.1), (0.0, -0.1, -0.1), (0.1, -0.1, -0.1)][:corners]
    system.add_contact("f", C.HalfSpace("ground", (0, 0, 1), 0.0, stone), C.vertices("block", points, stone))
    start = system.state(q={"block_tz": 0.1}, u={system.speeds[3]: 1.0, system.speeds[2]: 0.5})
    s = cd.simulate(system, start, 0.01)[-1]
    ask = lambda: system.jacobian("forward_dynamics", s.q, s.u, wrt="u", discrete=s.discrete)
    if corners == 4:
        with pytest.raises(cd.errors.ConstraintError, match="rigid contacts that touch here are redundant"):
            ask()
        return
    f = lambda u: system.forward_dynamics(s.q, u, discrete=s.discrete)
    differences = np.column_stack([(f(s.u + h) - f(s.u - h)) / 2e-6 for h in 1e-6 * np.eye(6)])
    np.testing.assert_allclose(ask(), differences, atol=1e-7)  # rounding of 1e1 over 1e-6, third order


def test_other_redundant_constraints_share_what_they_like() -> None:
    """A rod that is there twice shares its load with itself: contacts and their derivatives do not care."""
    stone, system = C.Rigid(friction=0.4), cd.System(gravity=(0, -9.81, 0))
    for name in "ab":
        system.add_body(name, mobilizer=cd.Translation(), mass=1.0)
    for name in ("rod", "again"):
        system.add_constraint(name, cd.constraints.Rod("a", (0, 0, 0), "b", (0, 0, 0), 1.0))
    floor, ball = C.HalfSpace("ground", (0, 1, 0), 0.0, stone), C.Sphere("a", (0, 0, 0), 0.1, stone)
    system.add_contact("f", floor, ball)
    s = cd.simulate(
        system, system.state(q={"a_ty": 0.1, "b_ty": 0.1, "b_tx": 1.0}, u={"a_tx": 1.0, "b_tx": 1.0}), 0.01
    )[-1]
    J = system.jacobian("contacts.forces", s.q, s.u, wrt="u", discrete=s.discrete)
    f = lambda u: system.contacts.forces(s.q, u, discrete=s.discrete).ravel()
    differences = np.column_stack([(f(s.u + h) - f(s.u - h)) / 2e-6 for h in 1e-6 * np.eye(6)])
    np.testing.assert_allclose(J, differences, atol=1e-6)  # rounding of 1e1 over 1e-6


@pytest.mark.slow  # half a minute of compiling
def test_stiff_methods_know_how_sliding_contacts_share_their_load() -> None:
    """Six points slide and spin, solved in loops: rodas took 405 steps where its matrix left out how they
    share the weight, fourteen times those of merson."""
    stone, system = C.Rigid(friction=0.4), cd.System(gravity=(0, 0, -9.81))
    system.add_body("block", mobilizer=cd.Free(), mass=1.0, inertia=(0.01, 0.02, 0.03))
    points = [(0.1 * np.cos(a), 0.12 * np.sin(a), -0.1) for a in np.arange(6) * np.pi / 3]
    system.add_contact("f", C.HalfSpace("ground", (0, 0, 1), 0.0, stone), C.vertices("block", points, stone))
    start = system.state(q={"block_tz": 0.1}, u={"block_vx": 1.0, "block_wz": 5.0})
    one, other = (cd.simulate(system, start, 0.15, accuracy=1e-6, integrator=m) for m in ("merson", "rodas"))
    assert other.statistics.steps < 3 * one.statistics.steps
    assert np.abs(one.q[-1] - other.q[-1]).max() < 1e-7  # a tenth of the accuracy


@pytest.mark.parametrize("closed", [0.0, 1.0])
def test_a_contact_that_rubs_does_not_hide_what_others_contradict(closed) -> None:
    """Two constraints contradict each other by 1e-9 m/s2, beside a block on the floor, and one that could
    touch. Rounding was 1e-9 of the weight for all."""
    stone, system = C.Rigid(friction=0.4), cd.System()
    system.add_body("block", mobilizer=cd.Translation(), mass=1.0)
    system.add_body("slider", mobilizer=cd.Slider(), mass=1.0)
    system.add_contact("f", C.HalfSpace("ground", (0, 1, 0), 0.0, stone), C.Point("block", (0, 0, 0), stone))
    for name, a in (("still", 0.0), ("creeps", 1e-9)):
        system.add_constraint(
            name, cd.constraints.Holonomic(lambda s, a=a: s.coordinate("slider") - a * s.t**2 / 2)
        )
    state = system.state(discrete={"f.closed": closed, "f.stick": closed})
    with pytest.raises(cd.errors.ConstraintError, match=r"creeps|still"):
        system.forward_dynamics(state.q, state.u, discrete=state.discrete, t=0.0)


def test_contacts_that_share_friction_stay_in_their_cones(two_links) -> None:
    """A link swings down beside one that lies flat, and three points hold. Least forces gave one of them more
    friction than its cone allows, and the run ended in an error of the event's witness."""
    for phi, w, mu in (
        (2.752088346940575, 10.226503813768336, 0.0720367421014253),
        (2.6960340794448796, 13.108574926573025, 0.07985988026414033),
    ):
        start = two_links.replace(q=[0, 0, 0, phi], u=[0, 0, 0, w], parameters={"mu": mu})
        run = cd.simulate(two_links.system, start, 0.1, accuracy=1e-6)
        assert run.finished, run.status
        assert np.diff(run.energy().values.sum(axis=1)).max() < 1e-5  # ten accuracies, of 1 J


def test_a_friction_of_zero_by_a_parameter(two_links) -> None:
    """What slides without friction slides with its slip, not with its acceleration: every tenth chain ended
    in an error of the event's witness."""
    for q, u in (
        ((1.374, 0, 0.3, 0.359), (-1.171, -0.945, 1.173, -1.327)),
        ((0.437, 0, 0.3, 1.233), (3.181, -2.512, -2.363, -3.537)),
        ((1.053, 0, 0.3, -0.159), (-0.305, -0.944, -2.01, -1.4)),
    ):
        start = two_links.replace(q=q, u=u, parameters={"mu": 0.0})
        run = cd.simulate(two_links.system, start, 0.6, accuracy=1e-6)
        assert run.finished, run.status
        along = np.asarray(run.momentum().values)[:, 3]
        assert np.ptp(along) < 1e-5  # nothing pushes along the floor


def test_steps_and_events_share_a_kernel(monkeypatch) -> None:
    """What a run asks at events is compiled with its steps, once, and is what the operator gives; where
    constraints contradict each other both raise the same error."""
    stone, system, made = C.Rigid(friction=0.4), cd.System(), []
    system.add_body("box", mobilizer=cd.Planar(), mass=1.0, inertia=(0.01, 0.02, 0.015))
    system.add_body(
        "arm", "box", cd.Pin(), X_PF=(0.1, 0, 0), X_BM=(-0.1, 0, 0), mass=0.3, inertia=(0.01,) * 3
    )
    system.add_force("tone", cd.forces.MobilitySpring("arm", 3.0, 0.2))
    corners = [(-0.1, -0.1, 0), (0.1, -0.1, 0)]
    system.add_contact(
        "floor", C.HalfSpace("ground", (0, 1, 0), 0.0, stone), C.vertices("box", corners, stone)
    )
    build = slice_function.compile_kernel
    monkeypatch.setattr(slice_function, "compile_kernel", lambda *a: made.append(a[1]) or build(*a))
    traj = cd.simulate(system, system.state(q={"box_ty": 0.15}, u={"box_tx": 0.2}), 0.5)
    assert traj.finished and made == ["shared.contact_rates"]
    state, operator, none = traj[-1], system.compiled.function("held_accelerations"), np.zeros(system.nu)
    assert OneWayConstraints(system, 1e-3, 1e-5).holds(state)[0].any()
    for x, y in zip(
        HeldAccelerations(system).at(state, state.tail),
        operator(state.q, state.u, none, state.tail),
        strict=True,
    ):
        np.testing.assert_allclose(x, y, atol=1e-10 * np.abs(y).max())  # rounding of other orders of sums
    tail = state.tail.copy()
    tail[system.compiled.model.tail["lock"]] = np.inf  # all speeds are held, and accelerate
    tail[system.compiled.model.tail["held"]] = 1.0
    with pytest.raises(cd.errors.ConstraintError, match="floor") as one:
        HeldAccelerations(system).at(state, tail)
    with pytest.raises(cd.errors.ConstraintError) as other:
        operator(state.q, state.u, none, tail)
    assert str(one.value) == str(other.value)
