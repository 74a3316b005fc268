"""Time stepping of rigid contacts: closed forms, energy, and the same by other ways."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.stepping.closest_points import Boxes, touching
from condyle.integrate.trajectory import Trajectory
from condyle.spatial.rotations import rotation_x, rotation_y

C = cd.contact
UP = (0.0, 0.0, 1.0)
Stepping = cd.integrators.TimeStepping


def balls(count: int, mobilizer=cd.Free, radius: float = 0.1, gravity=(0, 0, -9.81)) -> cd.System:
    system = cd.System(gravity=gravity)
    for k in range(count):
        system.add_body(f"b{k}", mobilizer=mobilizer(), mass=0.5, inertia=(0.4 * 0.5 * radius**2,) * 3)
    return system


def spheres(count: int, material, radius: float = 0.1):
    return [C.Sphere(f"b{k}", (0, 0, 0), radius, material) for k in range(count)]


def total(run: Trajectory) -> np.ndarray:
    return run.energy().values.sum(axis=1)


def test_bounces(evidence):
    """Heights e^2, e^4, ... of the drop, to the order of a step; then rest. Energy never grows."""
    rubber, errors = C.Rigid(restitution=0.7), []
    system = balls(1)
    method = Stepping([C.HalfSpace("ground", UP, 0.0, rubber), *spheres(1, rubber)])
    for h in (4e-3, 2e-3, 1e-3):
        run = cd.simulate(system, system.state(q={"b0_tz": 1.1}), 3.5, step=h, integrator=method)
        z = run["b0_tz"] - 0.1
        top = z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])]
        errors.append(np.abs(top[:4] - 0.49 ** np.arange(1, 5)).max())
        assert abs(z[-1]) < 1e-9 and abs(run[-1].u).max() < 1e-12  # at rest after 2.56 s
        assert np.diff(total(run)).max() < 1e-12
    # of order 1: a bounce is early by up to a step, h v
    assert errors[2] < errors[0] / 2
    evidence("time stepping: heights of four bounces at steps of 1 ms [m], drop 1 m", errors[2], 5e-3)


@pytest.mark.parametrize("described", [False, True], ids=["among", "constraints"])
def test_a_ball_that_slides_comes_to_roll(described):
    """Billiards: 5/7 of the speed, after 2 v / (7 mu g)."""
    wood, v, mu = C.Rigid(friction=0.3), 2.0, 0.3
    system, floor, own = balls(1), C.HalfSpace("ground", UP, 0.0, wood), spheres(1, wood)
    if described:
        system.add_contact("floor", floor, own[0])
    method = Stepping() if described else Stepping([floor, *own])
    start = system.state(q={"b0_tz": 0.1}, u={"b0_vx": v})
    run = cd.simulate(system, start, 0.6, step=1e-3, integrator=method)
    assert abs(run[-1]["b0_vx"] - 5 / 7 * v) < 1e-6  # momentum about the floor is kept by each step
    assert abs(run[-1]["b0_wy"] - 5 / 7 * v / 0.1) < 1e-5
    rolls = run.t[np.abs(run["b0_vx"] - 5 / 7 * v) < 1e-4][0]
    assert abs(rolls - 2 * v / (7 * mu * 9.81)) < 2e-3  # two steps


@pytest.mark.parametrize(("degrees", "slides"), [(16.0, False), (17.5, True)])
def test_a_block_on_an_incline(degrees, slides):
    """Friction 0.3 holds up to atan(0.3) = 16.7 degrees; steeper it slides with g (sin - mu cos)."""
    wood, a = C.Rigid(friction=0.3), np.deg2rad(degrees)
    g = (9.81 * np.sin(a), 0.0, -9.81 * np.cos(a))
    system = cd.System(gravity=g)
    half = np.array([0.1, 0.06, 0.04])
    system.add_body("block", mobilizer=cd.Free(), mass=2.0, inertia=2.0 / 3 * (np.sum(half**2) - half**2))
    corners = half * np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T
    points = [C.Point("block", tuple(p), wood) for p in corners]
    method = Stepping([C.HalfSpace("ground", UP, 0.0, wood), *points], sweeps=300, tolerance=1e-9)
    run = cd.simulate(system, system.state(q={"block_tz": 0.04}), 0.5, step=1e-3, integrator=method)
    expected = 9.81 * (np.sin(a) - 0.3 * np.cos(a)) * 0.5 if slides else 0.0
    assert abs(run[-1]["block_vx"] - expected) < 1e-5  # constant forces: Euler's steps are exact
    assert abs(run[-1]["block_tz"] - 0.04) < 2e-5  # slop
    assert np.abs(run[-1].u[:3]).max() < 1e-4


def test_a_tower_stands():
    """Ten balls on each other, between no walls: symmetric, so that it stands. All overlap by the slop at
    most, and the force below is the weight of all."""
    system, stone = balls(10), C.Rigid(friction=0.5)
    method = Stepping(
        [C.HalfSpace("ground", UP, 0.0, stone), *spheres(10, stone)], sweeps=2000, tolerance=1e-9
    )
    start = system.state(q={f"b{k}_tz": 0.1 + 0.2 * k for k in range(10)})
    run = cd.simulate(system, start, 0.5, step=2e-3, integrator=method)
    z = np.array([run[-1][f"b{k}_tz"] for k in range(10)])
    assert np.abs(z - (0.1 + 0.2 * np.arange(10))).max() < 1e-4  # slop 1e-5 each
    assert np.abs(run[-1].u).max() < 1e-5


def test_a_pile_loses_energy(evidence):
    """Twenty balls of two sizes fall into a corner with restitution and friction."""
    system, rng, m = cd.System(gravity=(0, 0, -9.81)), np.random.default_rng(3), C.Rigid(0.6, 0.4)
    radii = rng.choice([0.05, 0.08], 20)
    for k, r in enumerate(radii):
        system.add_body(f"b{k}", mobilizer=cd.Free(), mass=500 * r**3, inertia=(200 * r**5,) * 3)
    walls = [C.HalfSpace("ground", n, 0.0, m) for n in (UP, (1, 0, 0), (0, 1, 0))]
    walls += [C.HalfSpace("ground", n, -0.5, m) for n in ((-1, 0, 0), (0, -1, 0))]
    method = Stepping([*walls, *(C.Sphere(f"b{k}", (0, 0, 0), r, m) for k, r in enumerate(radii))])
    places = [(0.1 + 0.16 * (k % 3), 0.1 + 0.16 * (k // 3 % 3), 0.1 + 0.17 * (k // 9)) for k in range(20)]
    start = system.state(
        q={f"b{k}_t{a}": x for k, p in enumerate(places) for a, x in zip("xyz", p, strict=True)},
        u=rng.normal(0, 0.5, system.nu),
    )
    run = cd.simulate(system, start, 2.0, step=2e-3, integrator=method)
    E = total(run)
    evidence(
        "time stepping: largest rise of a pile's energy in a step, of what it loses",
        max(np.diff(E).max(), 0.0) / (E[0] - E[-1]),
        1e-4,
    )
    p = run[-1].q.reshape(20, 7)[:, 4:]
    i, j = np.triu_indices(20, 1)
    overlap = (radii[i] + radii[j] - np.linalg.norm(p[i] - p[j], axis=1)).max()
    evidence("time stepping: largest overlap in a pile of balls of 5 and 8 cm at rest [m]", overlap, 1e-4)
    assert (radii[:, None] - p).max() < 1e-4  # three walls
    assert run.energy().values[-1, 0] < 1e-3 * E[0]


def test_all_pairs_and_neighbors_agree():
    """Contacts found as bodies go, and one constraint for each pair, give the same motion."""
    stone = C.Rigid(0.3, 0.4)
    start = {
        f"b{k}_t{a}": x
        for k, p in enumerate([(0, 0, 0.1), (0.15, 0.02, 0.25), (-0.1, 0.05, 0.42)])
        for a, x in zip("xyz", p, strict=True)
    }
    floor, own = C.HalfSpace("ground", UP, 0.0, stone), spheres(3, stone)
    crowd, described = balls(3), balls(3)
    described.add_contact("floor", floor, own)
    described.add_contact("each other", own)
    options = {"sweeps": 1000, "tolerance": 1e-12}
    one = cd.simulate(
        crowd, crowd.state(q=start), 0.4, step=1e-3, integrator=Stepping([floor, *own], **options)
    )
    other = cd.simulate(described, described.state(q=start), 0.4, step=1e-3, integrator=Stepping(**options))
    assert np.abs(one.q - other.q).max() < 1e-8  # sums in another order, and impacts between


def test_awkward_bodies_both_ways():
    """The native program for free bodies, and general constraints: centers of mass off the origin, unequal
    inertias, a body that only translates, a half-space on a body that turns, a ball on a box."""
    stone, rng = C.Rigid(0.2, 0.4), np.random.default_rng(1)

    def made() -> cd.System:
        system = cd.System(gravity=(0, 0, -9.81))
        system.add_body("slider", mobilizer=cd.Translation(), mass=0.7, inertia=(1, 1, 1))
        system.add_body(
            "egg", mobilizer=cd.Free(), mass=0.5, com=(0.02, 0.01, -0.03), inertia=(0.002, 0.003, 0.004)
        )
        system.add_body(
            "plate", mobilizer=cd.Free(), mass=2.0, com=(0, 0.01, -0.05), inertia=(0.1, 0.12, 0.2)
        )
        system.add_force("spin", cd.forces.Custom(lambda s: {"egg_wz": 0.01 + 0.02 * s.t}))
        return system

    slider, egg = (C.Sphere(b, (0, 0, 0), 0.1, stone) for b in ("slider", "egg"))
    plate = C.HalfSpace("plate", UP, 0.0, stone, cliques=("under",))
    floor = C.HalfSpace("ground", UP, 0.0, stone)
    block, feet = (
        C.Box("ground", (0.0, 0.0, -0.1), (0.3, 0.3, 0.1), stone, cliques=("under",)),
        [C.Point("plate", p, stone) for p in ((0.4, 0.4, -0.1), (-0.4, 0.4, -0.1), (0, -0.4, -0.1))],
    )
    q, u = {"slider_tz": 0.35, "slider_tx": 0.3, "egg_tz": 0.36, "plate_tz": 0.12}, rng.normal(0, 0.3, 15)
    crowd, described = made(), made()
    for foot in feet:
        described.add_contact(f"foot {feet.index(foot)}", floor, foot)
    for name, a, b in (("slides", plate, slider), ("rolls", plate, egg), ("slider on box", block, slider)):
        described.add_contact(name, a, b)  # the others are far apart
    options = {"sweeps": 3000, "tolerance": 1e-12}
    runs = [
        cd.simulate(s, s.state(q=q, u=u), 0.25, step=1e-3, integrator=m)
        for s, m in (
            (crowd, Stepping([plate, slider, egg, floor, block, *feet], **options)),
            (described, Stepping(**options)),
        )
    ]
    assert np.abs(np.diff(runs[0].u[:, 0])).max() > 0.01  # something hit the slider
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-7  # sums in another order, and impacts between


def test_lists_are_made_in_time():
    """Steps with the lists of pairs that are made now and then, and with new ones in every step."""
    system, m, rng = balls(8, radius=0.1), C.Rigid(0.5, 0.3), np.random.default_rng(5)
    walls = [
        C.HalfSpace("ground", n, d, m)
        for n, d in ((UP, 0.0), *((side, -0.5) for side in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))))
    ]
    q = system.defaults()[0].reshape(-1, 7)
    q[:, 4:] = [(0.5 * (k & 1) - 0.25, 0.25 * (k & 2) - 0.25, 0.2 + 0.125 * (k & 4)) for k in range(8)]
    start = system.state(q=q.ravel(), u=rng.normal(0, 5.0, system.nu))
    method = Stepping([*walls, *spheres(8, m)])
    run, state = cd.simulate(system, start, 0.3, step=2e-3, integrator=method), start
    p = run.q.reshape(len(run.t), 8, 7)[:, :, 4:]
    i, j = np.triu_indices(8, 1)
    assert np.linalg.norm(p[:, i] - p[:, j], axis=2).min() > 0.2 - 1e-3 and p[:, :, 2].min() > 0.1 - 1e-3
    assert np.abs(p[:, :, :2]).max() < 0.4 + 1e-3
    cold = Stepping([*walls, *spheres(8, m)], sweeps=5000, tolerance=1e-13)
    whole = cd.simulate(system, start, 0.1, step=2e-3, integrator=cold)
    for k in range(50):  # impulses of the last step are no guess here
        state = cd.simulate(system, state.replace(t=0.002 * k), 0.002 * (k + 1), step=2e-3, integrator=cold)[
            -1
        ]
    assert np.abs(state.q - whole[-1].q).max() < 1e-8  # tolerance of sweeps, and impacts between


@pytest.mark.parametrize("gap", [0.5, 0.503, 0.5055])
def test_a_half_space_that_turns_is_seen_in_time(gap):
    """10 m from its origin it comes by 1 cm in a step: the ball was 0.5, 7.6 and 5.1 mm deep."""
    smooth, system = C.Rigid(), cd.System(gravity=(0, 0, 0))
    system.add_body("plate", mobilizer=cd.Free(), mass=1e3, inertia=(1e3, 1e3, 1e3))
    system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(0.004, 0.004, 0.004))
    surfaces = [C.HalfSpace("plate", UP, 0.0, smooth), C.Sphere("ball", (0, 0, 0), 0.1, smooth)]
    start = system.state(q={"ball_tx": 10.0, "ball_tz": 0.1 + gap}, u={"plate_wy": -1.0})
    run = cd.simulate(system, start, 0.08, step=1e-3, integrator=Stepping(surfaces))
    w, x, y, z = run.q[:, :4].T
    normal = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)
    depth = 0.1 - ((run.q[:, 11:14] - run.q[:, 4:7]) * normal).sum(axis=1)
    assert run.u[-1, 11] > 5.0  # it was hit
    assert depth.max() < 3e-5  # 1e-5 slop, and (1 m/s 1e-3 s)^2 r / 2 of a turn


def test_ends_of_a_rod_that_spins():
    """A long box turns about its middle, and its end comes to the floor by 4 cm in a step: it is seen in
    time, and turned back. Without its spin counted it was 5 mm in the floor."""
    stone = C.Rigid(0.5, 0.2)
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("rod", mobilizer=cd.Free(), mass=1.0, inertia=(0.01, 0.34, 0.34))
    surfaces = [C.HalfSpace("ground", UP, 0.0, stone), C.Box("rod", None, (1.0, 0.05, 0.05), stone)]
    start = system.state(q=[1, 0, 0, 0, 0, 0, 0.9], u=[0, 20.0, 0, 0, 0, 0])
    run = cd.simulate(system, start, 0.1, step=2e-3, integrator=Stepping(surfaces))
    w, x, y, z = run.q[:, :4].T
    low = run.q[:, 6] - np.abs(2 * (x * z - w * y)) - 0.05 * np.abs(1 - 2 * (x * x + y * y))
    assert low[0] > 0.5 and low.min() > -1e-5  # slop
    assert np.ptp(run.u[:, 5]) > 5  # it was hit


def test_against_events():
    """A ball that bounces, slides and spins, by events and by steps: they are no more apart than what it
    travels in two steps at its fastest, 3.8 m/s, since a bounce may be a step early."""
    rubber = C.Rigid(0.5, 0.3)
    system = balls(1)
    system.add_contact("floor", C.HalfSpace("ground", UP, 0.0, rubber), *spheres(1, rubber))
    start = system.state(q={"b0_tz": 0.6}, u={"b0_vx": 2.0, "b0_wy": -5.0})
    exact, times = cd.simulate(system, start, 1.5, accuracy=1e-7), np.linspace(0, 1.5, 31)
    for h in (4e-3, 1e-3):
        steps = cd.simulate(system, start, 1.5, step=h, integrator=Stepping())
        apart = np.abs(steps.at(times) - exact.at(times))[:, 4:7].max()
        assert apart < 2 * h * 3.8 + 2e-3, apart  # what friction of a bounce adds


def test_a_stop_and_a_rope():
    """Constraints that act one way of every kind: a pendulum that hits a stop, a ball on a rope."""
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1.0, com=(0, -0.5, 0), inertia=(0.01,) * 3)
    system.add_constraint("stop", cd.constraints.Stop("arm", lower=0.0))
    run = cd.simulate(system, system.state(q=[1.0]), 1.5, step=1e-3, integrator=Stepping())
    assert run["arm"].min() > -1e-9 and abs(run[-1].q[0]) < 1e-9
    ball = balls(1, cd.Translation)
    ball.add_constraint("rope", cd.constraints.Rope("ground", (0, 0, 0), "b0", (0, 0, 0), 1.0))
    fall = cd.simulate(ball, ball.state(q=[0.0, 0.0, -0.5]), 1.0, step=1e-3, integrator=Stepping())
    assert np.abs(fall[-1].q - [0, 0, -1]).max() < 1e-4  # slop


def test_boxes():
    """A ball rolls off a box on ground; a box that falls on its corners comes to rest flat."""
    stone = C.Rigid(friction=0.4)
    floor = C.HalfSpace("ground", UP, 0.0, stone)
    system = balls(1)
    table = C.Box("ground", (0, 0, 0.25), (0.3, 0.3, 0.25), stone, edge=0.01)
    run = cd.simulate(
        system,
        system.state(q={"b0_tz": 0.6}, u={"b0_vx": 1.0}),
        1.0,
        step=1e-3,
        integrator=Stepping([floor, table, *spheres(1, stone)]),
    )
    assert abs(run(0.2)["b0_tz"] - 0.6) < 2e-5 and abs(run[-1]["b0_tz"] - 0.1) < 2e-5
    brick = cd.System(gravity=(0, 0, -9.81))
    brick.add_body("brick", mobilizer=cd.Free(), mass=1.0, inertia=(0.004, 0.008, 0.01))
    start = brick.state(q=[0.99, 0.1, 0.1, 0.0, 0, 0, 0.3])
    method = Stepping([floor, C.Box("brick", None, (0.1, 0.06, 0.04), stone, edge=0.005)])
    end = cd.simulate(brick, start, 1.0, step=1e-3, integrator=method)[-1]
    assert abs(end["brick_tz"] - 0.04) < 5e-5 and np.abs(end.u).max() < 1e-3


def bricks(count: int, gravity=(0, 0, -9.81), half=(0.1, 0.06, 0.04)) -> tuple[cd.System, list]:
    system, stone = cd.System(gravity=gravity), C.Rigid(friction=0.5)
    for k in range(count):
        system.add_body(f"b{k}", mobilizer=cd.Free(), mass=1.0, inertia=(0.002, 0.004, 0.005))
    return system, [
        C.HalfSpace("ground", UP, 0.0, stone),
        *(C.Box(f"b{k}", None, half, stone, edge=0.002) for k in range(count)),
    ]


def test_boxes_on_boxes(evidence):
    """A stack of four, each turned and moved a little, stands; its top one slides off the next where the
    slope is steeper than the friction angle, with g (sin - mu cos), and else stays."""
    system, surfaces = bricks(4)
    q = {}
    for k, angle in enumerate((0.0, 0.3, -0.2, 0.1)):
        q |= {
            f"b{k}_e0": np.cos(angle / 2),
            f"b{k}_e3": np.sin(angle / 2),
            f"b{k}_tx": 0.01 * (-1) ** k,
            f"b{k}_tz": 0.04 + 0.08 * k,
        }
    q = {name: x for name, x in q.items() if name in system.coordinates}
    run = cd.simulate(system, system.state(q=q), 0.5, step=1e-3, integrator=Stepping(surfaces, sweeps=300))
    moved = np.abs(run.q[-1] - run.q[0]).max()
    assert moved < 1e-4  # 20 um of overlap at each of four faces
    evidence("time stepping: how far a stack of four boxes moves in half a second [m, rad]", moved, 1e-4)
    for degrees, slides in ((26.0, False), (28.0, True)):  # the friction angle is 26.57 degrees
        a = np.radians(degrees)
        g = (9.81 * np.sin(a), 0, -9.81 * np.cos(a))
        system, surfaces = bricks(1, g)
        table = C.Box("ground", (0, 0, -0.1), (2.0, 1.0, 0.1), C.Rigid(friction=0.5), edge=0.002)
        run = cd.simulate(
            system,
            system.state(q={"b0_tz": 0.04}),
            0.3,
            step=1e-3,
            integrator=Stepping([table, surfaces[1]], tolerance=1e-8, sweeps=500),
        )
        v = 9.81 * (np.sin(a) - 0.5 * np.cos(a)) * 0.3 if slides else 0.0
        assert abs(run[-1]["b0_vx"] - v) < 1e-5  # the tolerance over 300 steps


def test_boxes_meet_at_edges():
    """Two boxes cross like swords, edge on edge: the normal is along z, and they do not pass."""
    system, surfaces = bricks(2, (0, 0, 0), (0.05, 0.05, 0.05))
    c, s, high = np.cos(np.pi / 8), np.sin(np.pi / 8), 0.05 * np.sqrt(2)  # 45 degrees about x, and y
    start = system.state(q=[c, s, 0, 0, 0, 0, 0, c, 0, s, 0, 0, 0, 2 * high + 0.01], u=[0] * 11 + [-1.0])
    run = cd.simulate(system, start, 0.05, step=1e-4, integrator=Stepping(surfaces[1:]))
    assert np.abs(run.u[-1].reshape(2, 6)[:, 5] + 0.5).max() < 1e-3  # no rebound: one speed
    assert abs(run[-1]["b1_tz"] - run[-1]["b0_tz"] - 2 * high) < 1e-4


def test_soft_contacts(evidence):
    """A weight on a spring that pushes only: it sinks by m g / k, and overshoots as a damped oscillator."""
    stone, k, d = C.Rigid(), 1e4, 20.0
    system = cd.System(gravity=(0, 0, -10))
    system.add_body("b", mobilizer=cd.Slider(axis=UP), mass=2.0)
    system.add_contact("floor", C.HalfSpace("ground", UP, 0.0, stone), C.Sphere("b", (0, 0, 0), 0.1, stone))
    over = []
    for h in (2e-4, 1e-4):
        run = cd.simulate(
            system,
            system.state(q={"b": 0.1}),
            0.1,
            step=h,  # overshoots at 0.045 s
            integrator=Stepping(stiffness=k, damping=d, tolerance=1e-12),
        )
        z = d / (2 * np.sqrt(k * 2.0))
        over.append((0.1 - run["b"].min()) / (2.0 * 10 / k) - 1 - np.exp(-np.pi * z / np.sqrt(1 - z * z)))
    run = cd.simulate(
        system,
        system.state(q={"b": 0.1}),
        2.0,
        step=1e-3,
        integrator=Stepping(stiffness=k, damping=d, tolerance=1e-12),
    )
    assert abs((0.1 - run["b"][-1]) / (2.0 * 10 / k) - 1) < 1e-4  # exp(-10) of its amplitude is left
    assert 1.9 < over[0] / over[1] < 2.1 and abs(over[1]) < 0.01  # order 1
    evidence(
        "time stepping, soft contact: overshoot of a damped oscillator at 0.1 ms, relative",
        abs(over[1]),
        1e-2,
    )
    high = Stepping(stiffness=1e9, damping=1e5)  # as good as hard
    run = cd.simulate(system, system.state(q={"b": 0.3}), 0.5, step=1e-3, integrator=high)
    assert abs(run["b"][-1] - 0.1) < 1e-6
    start = system.state(q={"b": 0.11}, u={"b": -1.0}, disabled=["gravity"])
    run = cd.simulate(system, start, 0.03, step=1e-4, integrator=Stepping(stiffness=k, damping=2e3))
    deep = 0.1 - run["b"]
    assert np.abs(run.u[: np.argmax(deep > 0), 0] + 1).max() < 1e-9  # nothing is damped before it touches
    a, b = np.roots([2.0, 2e3, k])  # 2 x'' + d x' + k x = 0 from x' = 1
    t = np.log(b / a) / (a - b)
    assert abs(deep.max() / ((np.exp(a * t) - np.exp(b * t)) / (a - b)) - 1) < 0.06  # d h / m = 0.1, order 1
    for given, words in (({"stiffness": -1.0}, "above zero"), ({"damping": 1.0}, "give a stiffness too")):
        with pytest.raises(cd.errors.DescriptionError, match=words):
            Stepping(**given)
    one = balls(1)
    with pytest.raises(cd.errors.DescriptionError, match="restitution 0"):
        cd.simulate(
            one, one.state(), 0.1, step=1e-3, integrator=Stepping(spheres(1, C.Rigid(0.5)), stiffness=1e4)
        )


def test_constraints_that_act_both_ways():
    """A ball on a rod swings down to the floor and slides there: as with events, to order 1, and its energy
    does not rise; the rod keeps its length."""
    stone = C.Rigid(friction=0.3)
    system = cd.System(gravity=(0, 0, -9.81))
    system.add_body("b", mobilizer=cd.Translation(), mass=1.0)
    system.add_constraint("rod", cd.constraints.Rod("ground", (0, 0, 1), "b", (0, 0, 0), 1.2))
    system.add_contact("floor", C.HalfSpace("ground", UP, 0.0, stone), C.Sphere("b", (0, 0, 0), 0.1, stone))
    start = system.state(q={"b_tx": np.sqrt(1.2**2 - 0.25), "b_tz": 0.5}, u={"b_ty": 0.5})
    exact = cd.simulate(system, start, 0.8, accuracy=1e-8)
    off = []
    for h in (2e-3, 1e-3):
        run = cd.simulate(system, start, 0.8, step=h, integrator=Stepping(tolerance=1e-10, sweeps=500))
        off.append(np.abs(run.q[-1] - exact.q[-1]).max())
        assert np.abs(np.linalg.norm(run.q - [0, 0, 1], axis=1) - 1.2).max() < 1e-9
        assert np.diff(total(run)).max() < 1e-8
    assert off[1] < off[0] < 1e-3  # order 1: half a millimeter a step


def chains(*lengths: int) -> cd.System:
    """Chains of balls with ball joints between them."""
    system = cd.System(gravity=(0, 0, -9.81))
    for k, count in enumerate(lengths):
        for j in range(count):
            ties = {"parent": f"c{k}{j - 1}", "X_PF": (0.06, 0, 0), "X_BM": (-0.06, 0, 0)} if j else {}
            system.add_body(
                f"c{k}{j}",
                mobilizer=cd.Ball() if j else cd.Free(),
                mass=0.5,
                com=(0, 0.005, 0),
                inertia=(5e-4, 6e-4, 7e-4),
                **ties,
            )
    return system


def test_bounces_of_linkages_keep_energy():
    """A loop of three rods whose crank meets a stop with restitution 1. Velocity products that the loop does
    not allow counted in the speed before: 1.5 % of the energy was lost; 0.2 %: of a step of 1 ms at 10 rad/s,
    a tenth of the angle that the crank turns in it."""
    system = cd.System()
    for name, parent, at, end in (("a", "ground", 0.0, 0.5), ("b", "a", -0.5, 0.4)):
        system.add_body(
            name,
            parent,
            cd.Pin(),
            X_PF=(0, at, 0),
            X_BM=(0, end, 0),
            mass=1,
            inertia=(0.02, 0.02, 0.02),
            coordinates=name,
        )
    system.add_constraint("rod", cd.constraints.Rod("ground", (1, -0.3, 0), "b", (0, -0.4, 0), 1.0))
    system.add_constraint("stop", cd.constraints.Stop("a", upper=0.5, restitution=1.0))
    start = system.state(q={"b": 0.8}, u={"a": 10.0}, disabled=["gravity"])
    q, u = system.project(start.q, start.u, disabled=["gravity"])
    run = cd.simulate(system, start.replace(q=q, u=u), 0.08, step=1e-3, integrator=Stepping())
    first, last = (s.u @ system.mass_matrix(s.q) @ s.u for s in (run[0], run[-1]))
    assert run["a"].max() > 0.49 and run.u[-1, 0] < 0  # it came back
    assert last == pytest.approx(first, rel=2e-3)


@pytest.mark.parametrize("tied", [pytest.param(False, marks=pytest.mark.slow), True])
def test_joints_both_ways(tied, evidence):
    """A chain and a ball that fall on each other and on the floor: surfaces among each other, and one
    constraint for each pair, with and without a rod that ties both. Balls of the chain meet too."""
    stone, runs = C.Rigid(0.1, 0.5), []
    floor = C.HalfSpace("ground", UP, 0.0, stone)
    own = [C.Sphere(name, (0, 0, 0), 0.05, stone) for name in ("c00", "c02", "c10")]
    for described in (False, True):
        system = chains(3, 1)
        system.add_force("curl", cd.forces.Custom(lambda s: {"c01_wz": 0.6, "c02_wz": 0.6}))
        if tied:
            system.add_constraint(
                "rod", cd.constraints.Rod("c00", (0, 0, 0), "c10", (0, 0, 0), 0.01 * np.sqrt(178))
            )
        if described:
            system.add_contact("floor", floor, own)
            system.add_contact("each other", own)
        start = system.state(q={"c00_tz": 0.08, "c10_tz": 0.2, "c10_tx": 0.05, "c10_ty": 0.03})
        method = Stepping([] if described else [floor, *own], sweeps=2000, tolerance=1e-12)
        runs.append(cd.simulate(system, start, 0.24, step=2e-3, integrator=method))
        assert runs[-1].status == cd.Status.FINISHED
    a, b = (runs[0].body_pose(name).p for name in ("c00", "c02"))
    assert np.linalg.norm(a - b, axis=1).min() < 0.1 + 1e-4  # they met
    # sums in another order, and impacts between
    evidence(
        "time stepping of joints: contacts found as bodies go against one constraint a pair [m]"
        + ", tied by a rod" * tied,
        np.abs(runs[0].q - runs[1].q).max(),
        1e-7,
    )


def test_joints_with_everything():
    """A wide block of 18 speeds (LAPACK's factors), a part welded to ground, a stop and a rope beside
    surfaces, two boxes: all hold, nothing is deep, and no energy comes from nowhere."""
    stone, system = C.Rigid(0.0, 0.6), chains(5)
    system.add_body("wall", mobilizer=cd.Weld(), X_PF=(0.3, 0, 0), mass=1.0, inertia=(1, 1, 1))
    for k in range(2):
        system.add_body(f"box{k}", mobilizer=cd.Free(), mass=1.0, inertia=(0.007, 0.007, 0.007))
    system.add_body("lid", mobilizer=cd.Slider(), X_PF=(0, 1, 0), mass=1.0)
    system.add_constraint("stop", cd.constraints.Stop("lid", upper=0.1))
    system.add_constraint("rope", cd.constraints.Rope("ground", (0, 0, 1), "c00", (0, 0, 0), 0.75))
    system.add_force("push", cd.forces.MobilityForce("lid", 1.0))
    surfaces = [C.HalfSpace("ground", UP, 0.0, stone), C.HalfSpace("wall", (-1, 0, 0), 0.0, stone)]
    surfaces += [C.Sphere(f"c0{j}", (0, 0, 0), 0.05, stone, cliques=("chain",)) for j in range(5)]
    surfaces += [C.Box(f"box{k}", None, (0.1, 0.1, 0.1), stone) for k in range(2)]
    start = system.state(
        q={"c00_tz": 0.5, "c00_tx": -0.4, "box0_ty": 0.6, "box0_tz": 0.1, "box1_ty": 0.65, "box1_tz": 0.32}
    )
    run = cd.simulate(system, start, 1.5, step=2e-3, integrator=Stepping(surfaces, sweeps=300))
    assert run.status == cd.Status.FINISHED
    gone = run["lid"] * 1.0  # work of the push
    assert (total(run) - gone).max() <= total(run)[0] + 1e-9  # in a step Coriolis forces may add, order 1
    assert abs(run[-1]["lid"] - 0.1) < 1e-9 and abs(run[-1]["box1_tz"] - 0.3) < 1e-4
    assert run[-1]["c00_tz"] > 0.25 - 1e-4  # the rope holds the first ball up
    low = np.array([run.body_pose(f"c0{j}").p for j in range(5)])
    assert low[:, :, 2].min() > 0.05 - 1e-3 and low[:, :, 0].max() < 0.25 + 1e-3


def test_rows_kept():
    system, stone = balls(1), C.Rigid()
    method = Stepping([C.HalfSpace("ground", UP, 0.0, stone), *spheres(1, stone)], every=10)
    run = cd.simulate(system, system.state(q={"b0_tz": 1.0}), 0.205, step=1e-3, integrator=method)
    assert len(run.t) == 22 and run.t[-1] == 0.205 and run.statistics.steps == 205
    assert np.isclose(run(0.105)["b0_tz"], run.q[[10, 11], 6].mean())  # a line between


@pytest.mark.parametrize("described", [False, True], ids=["among", "constraints"])
def test_forces_at_an_instant_are_not_known(described):
    """A ball at rest is pushed, by impulses: no operator may say that nothing pushes it, or that it falls."""
    system, stone = balls(1), C.Rigid()
    surfaces = [C.HalfSpace("ground", UP, 0.0, stone), *spheres(1, stone)]
    if described:
        system.add_contact("floor", *surfaces)
    method = Stepping([] if described else surfaces)
    run = cd.simulate(system, system.state(q={"b0_tz": 0.1}), 0.1, step=1e-3, integrator=method)
    last = run[-1]
    for ask in (
        run.contacts.forces,
        lambda: run.udot,
        lambda: run.reactions("b0"),
        last.contacts.forces,
        lambda: last.udot,
        lambda: run(0.05).udot,
    ):
        with pytest.raises(cd.errors.DescriptionError, match="impulses of contacts over its steps"):
            ask()
    f = 0.5 * (np.diff(run.u, axis=0) / 1e-3 - (0, 0, 0, 0, 0, -9.81))
    assert abs(f[5:, 5] - 0.5 * 9.81).max() < 1e-9  # what the error says
    assert run.energy().values.shape == (101, 2) and last.energy()[1] > 0  # all else is known
    assert last.replace(t=0.0).udot[5] == pytest.approx(-9.81)  # a state of the user's own, in flight
    if described:  # a run with events goes on from there
        on = cd.simulate(system, last, 0.2)
        assert on.contacts.forces().values[-1, 2] == pytest.approx(0.5 * 9.81)


def test_a_method_of_many_surfaces_is_one_line() -> None:
    stone = C.Rigid()
    method = Stepping([C.HalfSpace("ground", UP, 0.0, stone), *spheres(50, stone)], every=3)
    assert repr(method) == (
        "TimeStepping([HalfSpace on 'ground', Sphere on 'b0', Sphere on 'b1', Sphere on "
        "'b2', Sphere on 'b3', Sphere on 'b4', ... 45 more], every=3)"
    )
    assert repr(Stepping()) == "TimeStepping()"


def test_refusals():
    system, stone, soft = balls(2), C.Rigid(), C.Material(1e6)
    own, start = spheres(2, stone), None
    start = system.state(q={"b1_tz": 1.0})
    ask = lambda method, **options: cd.simulate(
        system, start, 0.1, integrator=method, **({"step": 1e-3} | options)
    )
    with pytest.raises(cd.errors.DescriptionError, match="needs a fixed step"):
        ask(Stepping(own), step=None)
    with pytest.raises(cd.errors.DescriptionError, match="events= is not for"):
        ask(Stepping(own), events=[cd.Event(lambda s: s.t - 0.05)])
    with pytest.raises(cd.errors.DescriptionError, match="surfaces here need"):
        ask(Stepping([C.Sphere("b0", (0, 0, 0), 0.1, soft)]))
    with pytest.raises(cd.errors.UnknownNameError, match="unknown body"):
        ask(Stepping([C.Sphere("b7", (0, 0, 0), 0.1, stone)]))
    with pytest.raises(cd.errors.DescriptionError, match="expected HalfSpace, Sphere"):
        ask(Stepping([C.Ellipsoid("b0", None, (1, 1, 2), stone)]))
    with pytest.raises(cd.errors.DescriptionError, match="from 0 to 1"):
        Stepping(correction=2.0)
    with pytest.raises(cd.errors.DescriptionError, match="must be after"):
        cd.simulate(system, start, -1.0, step=1e-3, integrator=Stepping(own))
    held = balls(2)
    held.add_measure("height", cd.measures.SampleAndHold(lambda s: s.q("b1_tz"), 0.01))
    with pytest.raises(cd.errors.DescriptionError, match="'height' is sampled"):
        cd.simulate(held, held.state(q={"b1_tz": 1.0}), 1.0, step=1e-3, integrator=Stepping(own))


def test_calls_that_cannot_be():
    method = cd.integrators.TimeStepping
    floor = cd.contact.HalfSpace("ground", (0, 1, 0), 0, cd.contact.Rigid())
    with pytest.raises(cd.errors.DescriptionError, match="among: expected a list of surfaces"):
        method(floor)
    with pytest.raises(cd.errors.ArgumentError, match="no argument surfaces=; it is among="):
        method(surfaces=[floor])
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Free(), mass=1, inertia=(1, 1, 1))
    run = lambda integrator: cd.simulate(system, system.state(), 0.1, step=1e-3, integrator=integrator)
    with pytest.raises(cd.errors.DescriptionError, match="nothing can touch"):
        run(method())
    with pytest.raises(cd.errors.DescriptionError, match="is the class TimeStepping; write brackets"):
        run(method)
    with pytest.raises(cd.errors.UnknownNameError, match=r"cd.integrators.TimeStepping\(...\)"):
        run("timestepping")


def test_balls_at_one_place():
    """Two balls with one center have no direction to part in; they are told of, and part all the same."""
    system, stone = balls(2), C.Rigid()
    method = Stepping([C.HalfSpace("ground", UP, 0.0, stone), *spheres(2, stone)])
    start = system.state(q={"b0_tz": 0.1, "b1_tz": 0.1})
    with pytest.warns(RuntimeWarning, match=r"overlap.* by up to 0\.2"):
        end = cd.simulate(system, start, 0.2, step=1e-3, integrator=method)[-1]
    apart = abs(end["b1_tx"] - end["b0_tx"])
    assert abs(apart - 0.2) < 2e-5 and abs(end["b0_tz"] - 0.1) < 2e-5  # slop


def test_a_pair_that_would_push_twice_is_refused():
    """A soft ball of `among` that was a contact of the system too sank half as deep, without a word. Where
    a clique or `disabled` keeps one of the two out, it pushes once."""
    stone, sinks = C.Rigid(friction=0.5), []
    for cliques, disabled in (((), ()), (("c",), ()), ((), ("floor",))):
        system, floor = balls(1), C.HalfSpace("ground", UP, 0.0, stone, cliques=cliques)
        ball = C.Sphere("b0", (0, 0, 0), 0.1, stone, cliques=cliques)
        system.add_contact("floor", floor, ball)
        start = system.state(q={"b0_tz": 0.1}, disabled=disabled)
        method = Stepping([floor, ball], stiffness=1e4, damping=150.0)
        run = lambda: cd.simulate(system, start, 0.5, step=1e-3, integrator=method)  # noqa: B023
        if not cliques and not disabled:
            with pytest.raises(cd.errors.DescriptionError, match=r"on 'ground' and Sphere on 'b0'.*twice"):
                run()
        else:
            sinks.append(0.1 - run()["b0_tz"][-1])
    assert sinks == pytest.approx([0.5 * 9.81 / 1e4] * 2, rel=1e-6)  # m g / k, at rest


def test_forces_that_are_no_numbers_end_a_run():
    system = cd.System()
    system.add_body("b", mobilizer=cd.Slider(), mass=1.0)
    system.add_constraint("stop", cd.constraints.Stop("b", lower=0.0))
    system.add_force("root", cd.forces.Custom(lambda s: {"b": np.sqrt(0.5 - s.t)}))
    run = cd.simulate(system, system.state(), 1.0, step=0.01, integrator=Stepping())
    assert run.status == cd.Status.NOT_FINITE and run.t[-1] == pytest.approx(0.51, abs=0.011)


def test_forces_that_are_no_numbers_among_free_bodies():
    system, stone = balls(2), C.Rigid()
    system.add_force("root", cd.forces.Custom(lambda s: {"b0_vx": np.sqrt(0.2 - s.t)}))
    run = cd.simulate(
        system,
        system.state(q={"b0_tz": 1.0, "b1_tz": 2.0}),
        1.0,
        step=0.01,
        integrator=Stepping(spheres(2, stone)),
    )
    assert run.status == cd.Status.NOT_FINITE and run.t[-1] == pytest.approx(0.21)
    assert np.isfinite(run.q).all()


def test_auxiliary_states_and_progress():
    """An integral of time beside a ball, by Euler's steps; shares of a run rise."""
    system, stone, seen = balls(1), C.Rigid(), []
    system.add_measure("low", cd.measures.Integral(lambda s: s.t))
    run = cd.simulate(
        system,
        system.state(q={"b0_tz": 0.1}),
        0.1,
        step=1e-2,
        progress=seen.append,
        integrator=Stepping([C.HalfSpace("ground", UP, 0.0, stone), *spheres(1, stone)]),
    )
    assert run.z[-1] == pytest.approx(0.01**2 * 45, rel=1e-12) and seen == sorted(seen) and seen[-1] == 1.0


def test_a_ball_that_flies_by_does_not_shake_a_stack():
    """Lists are made anew as it flies. Impulses between boxes were forgotten then: in 0.1 s boxes moved by
    0.14 mm."""
    stone, count = C.Rigid(0.0, 0.4), 6
    system = cd.System(gravity=(0, 0, -9.81))
    for k in range(count):
        system.add_body(f"box{k}", mobilizer=cd.Free(), mass=1.0, inertia=(0.007, 0.007, 0.007))
    system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(0.004, 0.004, 0.004))
    surfaces = [
        C.HalfSpace("ground", UP, 0.0, stone),
        C.Sphere("ball", (0, 0, 0), 0.1, stone),
        *(C.Box(f"box{k}", None, (0.1, 0.1, 0.1), stone) for k in range(count)),
    ]
    q = {f"box{k}_tz": 0.1 + 0.2 * k for k in range(count)} | {"ball_tz": 50.0}
    still, flying = (
        cd.simulate(
            system,
            system.state(q=q, u={"ball_vx": v}),
            0.1,
            step=1e-3,
            integrator=Stepping(surfaces, sweeps=20),
        )
        for v in (0.0, 20.0)
    )
    assert np.abs(still.q - flying.q)[:, : 7 * count].max() < 1e-12  # the same sums, in the same order


@pytest.mark.parametrize("kind", ["equal", "one is fast", "one is huge", "many sizes", "at one place"])
def test_neighbors_are_those_of_all_pairs(kind):
    """Lists of 200 balls against all pairs. With one that was fast or huge the search took time with the
    square of their number: 1.4 s for 3000, now 10 ms."""
    from condyle.integrate.stepping.crowd import Crowd

    rng, n, system = np.random.default_rng(2), 200, balls(200, cd.Translation)
    radii, reach = np.full(n, 0.05), np.append(rng.uniform(0.001, 0.01, n), 0.0)
    if kind == "one is fast":
        reach[7] = 5.0
    elif kind == "one is huge":
        radii[11] = 1.0
    elif kind == "many sizes":
        radii = 1e-4 * 10.0 ** rng.uniform(0, 3, n)
    p = np.append(rng.uniform(0, 1, (n, 3)) * (kind != "at one place"), np.zeros((1, 3)), axis=0)
    crowd = Crowd(system, [C.Sphere(f"b{k}", (0, 0, 0), r, C.Rigid()) for k, r in enumerate(radii)])
    rows = crowd.near(np.tile(np.eye(3), (n + 1, 1, 1)), p, reach)["pairs"].rows[:, :2].astype(int)
    i, j = np.triu_indices(n, 1)
    close = np.linalg.norm(p[i] - p[j], axis=1) - radii[i] - radii[j] <= reach[i] + reach[j]
    assert {tuple(x) for x in rows.tolist()} == {*zip(i[close].tolist(), j[close].tolist(), strict=True)}


def test_three_bodies_on_ropes(evidence):
    """Masses of 1, 2 and 4 kg that fly apart until two ropes are taut: momentum is kept, energy does not
    rise, no rope is longer than it is, and all go on as with events."""
    system, mass = cd.System(gravity=(0, 0, 0)), np.array([1.0, 2.0, 4.0])
    for k in range(3):
        system.add_body(f"b{k}", mobilizer=cd.Translation(), mass=mass[k])
    for k in range(2):
        system.add_constraint(f"r{k}", cd.constraints.Rope(f"b{k}", (0, 0, 0), f"b{k + 1}", (0, 0, 0), 1.0))
    start = system.state(q=[0, 0, 0, 0.7, 0, 0, 1.4, 0.2, 0], u=[0] * 6 + [3, 0.5, 0])
    run = cd.simulate(system, start, 2.0, step=1e-3, integrator=Stepping(sweeps=500, tolerance=1e-10))
    exact = cd.simulate(system, start, 2.0, accuracy=1e-7)
    p = np.einsum("tki,k->ti", run.u.reshape(-1, 3, 3), mass)
    drift = np.abs(p - p[0]).max()  # sweeps exchange: rounding of 2000 steps
    evidence("time stepping: momentum of three bodies on ropes, drift of 12 N s in 2 s", drift, 1e-10)
    assert np.diff(total(run)).max() < 1e-12
    x = run.q.reshape(-1, 3, 3)
    assert np.linalg.norm(np.diff(x, axis=1), axis=2).max() < 1 + 2e-5  # slop
    assert np.abs(run.u[-1] - exact.u[-1]).max() < 3e-3  # of order 1: a step of what 3 m/s turns


def test_a_corner_of_three_walls():
    """Elastic and smooth, all three at once: the ball goes back the way it came."""
    system, steel = balls(1, gravity=(0, 0, 0)), C.Rigid(restitution=1.0)
    walls = [C.HalfSpace("ground", tuple(n), 0.0, steel) for n in np.eye(3)]
    start = system.state(q=[1, 0, 0, 0, 0.5, 0.5, 0.5], u=[0, 0, 0, -2, -2, -2])
    run = cd.simulate(system, start, 0.5, step=1e-3, integrator=Stepping([*walls, *spheres(1, steel)]))
    assert np.abs(run.u[-1] - [0, 0, 0, 2, 2, 2]).max() < 1e-12


@pytest.mark.parametrize(("among", "joint"), [(True, True), (False, True), (True, False), (False, False)])
def test_what_moves_with_time_strikes(among, joint):
    """A lift that rises by 2 m/s, whatever it strikes, and a ball at rest 0.5 m above it: (1 + e) 2 m/s, from
    the time on at which the gap is closed. Found among surfaces the lift went through the ball, since it
    spent nothing of its list's budget, and the work of the lift counted as energy that is made."""
    for e in (0.0, 0.5):
        steel = cd.contact.Rigid(restitution=e)
        system = cd.System(gravity=(0, 0, 0))
        system.add_body(
            "lift",
            mass=1.0,
            inertia=(1, 1, 1),
            mobilizer=cd.FunctionBased(
                "x", translations=(lambda t, x: x, lambda t, x: 2 * t, None), time=True
            )
            if joint
            else cd.Slider(axis="y"),
        )
        if not joint:
            system.add_constraint("drive", cd.constraints.Holonomic(lambda s: s.coordinate("lift") - 2 * s.t))
        system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
        pair = [cd.contact.Sphere(name, (0, 0, 0), 0.1, steel) for name in ("lift", "ball")]
        if not among:
            system.add_contact("pair", *pair)
        method = cd.integrators.TimeStepping(pair if among else ())
        start = system.state(q={"ball_ty": 0.7}, u={} if joint else {"lift": 2.0})
        run = cd.simulate(system, start, 0.4, step=1e-2, integrator=method)
        height, speed = run["ball_ty"][-1], run["ball_vy"][-1]
        assert speed == pytest.approx(2 * (1 + e), abs=1e-12)  # one impulse: rounding
        assert height == pytest.approx(0.7 + 0.15 * speed, abs=2.1e-2 * speed)  # when, to two steps


SPINS = {
    "top": ((0.03, 0.05, 0.03), (10, 300, 0)),
    "tumbles": ((0.02, 0.05, 0.03), (30, 30, 30)),
    "ball": ((0.03, 0.03, 0.03), (30, 300, 30)),
    "disc": ((0.01, 0.02, 0.01), (10, 1000, 5)),
    "rod": ((1e-6, 1.0, 1.0), (300, 3, 1)),
    "fast": ((0.02, 0.05, 0.04), (600, 600, 600)),
}


def test_free_bodies_keep_energy_and_angular_momentum(evidence):
    """Explicit steps of gyroscopic forces gave the first 7e13 times its energy in this second."""
    system, stone = cd.System(gravity=(0, 0, 0)), C.Rigid()
    for name, (inertia, _) in SPINS.items():
        system.add_body(name, mobilizer=cd.Free(), mass=1.0, com=(0.01, 0.02, 0), inertia=inertia)
    w = np.array([w for _, w in SPINS.values()], float)
    start = system.state(
        q={f"{name}_tx": 3.0 * k for k, name in enumerate(SPINS)}, u=np.hstack([w, np.ones((6, 3))]).ravel()
    )
    run = cd.simulate(
        system,
        start,
        1.0,
        step=1e-3,
        integrator=Stepping([C.Sphere(name, (0, 0, 0), 0.1, stone) for name in SPINS]),
    )
    R = np.stack([run.body_pose(name).R for name in SPINS], axis=1)
    u = run.u.reshape(-1, 6, 6)
    W = np.einsum("tbji,tbj->tbi", R, u[..., :3])
    L = W * np.array([inertia for inertia, _ in SPINS.values()])
    T, spin = (L * W).sum(axis=2), np.einsum("tbij,tbj->tbi", R, L)
    v = u[..., 3:] + np.cross(u[..., :3], R @ np.array([0.01, 0.02, 0]))  # of mass centers
    size = np.abs(v[0]).max(axis=1, keepdims=True)
    # rounding of 1000 steps; of the rod's least moment, 1e-6 of the others
    evidence(
        "time stepping: energy of spinning bodies, up to 1000 rad/s, over 1 s at 1 ms, relative",
        np.abs(T / T[0] - 1).max(),
        1e-9,
    )
    assert np.abs(spin - spin[0]).max() < 1e-9 * np.abs(spin[0]).max()
    assert np.abs((v - v[0]) / size).max() < 1e-9


@pytest.fixture(scope="module")
def whirling() -> cd.System:
    """Trees that do not touch: a ball joint and gimbals on arms, a double pendulum, a body that is free."""
    system = cd.System(gravity=(0, -9.81, 0))
    for k, joint in enumerate((cd.Ball, cd.Gimbal, cd.Pin)):
        system.add_body(
            f"arm{k}",
            mobilizer=cd.Pin(),
            X_PF=(2.0 * k, 0, 0),
            mass=1.0,
            com=(0, -0.25, 0),
            inertia=(0.02, 0.02, 0.02),
        )
        system.add_body(
            f"rotor{k}",
            parent=f"arm{k}",
            mobilizer=joint(),
            X_PF=(0, -0.5, 0),
            mass=1.0,
            com=(0, -0.25 * (k == 2), 0.02),
            inertia=(0.02, 0.05, 0.03),
        )
    system.add_body("free", mobilizer=cd.Free(), mass=1.0, com=(0.02, 0, 0), inertia=(0.02, 0.05, 0.03))
    system.add_contact(
        "far", C.HalfSpace("ground", (0, 1, 0), -1e4, C.Rigid()), C.Point("free", (0, 0, 0), C.Rigid())
    )
    return system


@pytest.mark.parametrize(
    ("u", "most"),
    [
        ({"arm0": 1, "rotor0_wx": 100, "rotor0_wy": 3, "rotor0_wz": 2}, 1e-2),
        ({"arm0": 3, "rotor0_wx": 60, "rotor0_wy": 60, "rotor0_wz": 60}, 1e-2),
        ({"arm0": 1, "rotor0_wx": 10, "rotor0_wy": 500}, 1e-2),
        ({"arm1": 3, "rotor1_rx": 100}, 1e-2),
        ({"arm2": 30, "rotor2": 30}, 1e-2),
        ({"free_wx": 300, "free_wy": 300, "free_wz": 300}, 1e-6),
    ],
    ids=["ball", "tumbles", "fast", "gimbals", "double pendulum", "free"],
)
def test_joints_keep_energy(whirling, u, most):
    """Within 1 % of the kinetic energy at 1 ms; explicit steps gave from 12 % to overflow."""
    start = whirling.state(q={"arm0": 0.3, "rotor2": 1.5}, u=u, disabled=["gravity"] * ("free_wx" in u))
    run = cd.simulate(whirling, start, 1.0, step=1e-3, integrator=Stepping())
    assert run.finished
    assert np.abs(total(run) - total(run)[0]).max() < most * start.energy()[0]


def test_a_step_that_is_too_long_for_a_spin_warns(whirling):
    """Ten radians a step: what is left is no solution."""
    start = whirling.state(u={"free_wx": 6e3, "free_wy": 6e3, "free_wz": 6e3})
    with pytest.warns(RuntimeWarning, match=r"in \d+ of \d+ steps bodies turn by .* take a shorter step"):
        cd.simulate(whirling, start, 5e-3, step=1e-3, integrator=Stepping())


def test_a_start_inside_the_floor_names_the_depth_and_the_gain():
    system, stone = balls(1), C.Rigid()
    method = Stepping([C.HalfSpace("ground", UP, 0.0, stone), *spheres(1, stone)])
    with pytest.warns(RuntimeWarning, match=r"by up to 0\.0005 .* gains its weight times the depth"):
        run = cd.simulate(system, system.state(q={"b0_tz": 0.1 - 5e-4}), 0.1, step=1e-3, integrator=method)
    gain = total(run)[-1] - total(run)[0]
    assert gain == pytest.approx(0.5 * 9.81 * (5e-4 - 1e-5), rel=1e-3)  # but for slop


def test_few_spheres_are_compared_as_many(monkeypatch) -> None:
    """All pairs of few spheres, and what trees find of them, in the same order: sizes and reaches differ, some
    share a body or a clique."""
    from condyle.integrate.stepping import crowd

    system, rng, some = cd.System(), np.random.default_rng(5), []
    for k in range(40):
        system.add_body(f"b{k}", mobilizer=cd.Translation(), mass=1.0)
        radius = float(10 ** rng.uniform(-2, -0.5))
        some.append(C.Sphere(f"b{k // 2 * 2}", (0, 0, 0), radius, C.Rigid(), cliques=[f"c{k % 7}"]))
    p, reach = rng.uniform(-0.4, 0.4, (41, 3)), rng.uniform(0, 0.1, 41)
    R = np.tile(np.eye(3), (41, 1, 1))
    found = []
    for few in (128, 0):
        monkeypatch.setattr(crowd, "FEW", few)
        found.append(crowd.Crowd(system, some).near(R, p, reach)["pairs"])
    assert len(found[0].key) > 20
    np.testing.assert_array_equal(found[0].key, found[1].key)
    np.testing.assert_array_equal(found[0].rows, found[1].rows)


def test_edges_of_boxes_that_cross() -> None:
    """An edge along x below one along y: they cross above the first center, beside it by the offset along x."""
    tilted = [rotation_x(np.pi / 4), rotation_y(np.pi / 4)]
    c = np.array([[1.0, -2.0, 3.0]])
    apart = np.array([[0.05, 0.08, 2 * 0.1 * np.sqrt(2) - 0.002]])
    half = np.full((1, 3), 0.1)
    a, b = Boxes(tilted[0][None], c, half), Boxes(tilted[1][None], c + apart, half)
    pair, _, gap, n, p = touching(a, b, np.array([0.01]))
    assert pair.tolist() == [0] and gap[0] == pytest.approx(-0.002, abs=1e-12)
    np.testing.assert_allclose(n[0], (0, 0, 1), atol=1e-12)
    expected = c[0] + (0.05, 0.0, 0.1 * np.sqrt(2) - 0.001)
    np.testing.assert_allclose(p[0], expected, atol=1e-12)  # halfway between both edges
