"""One configuration: closed forms, SciPy on the same residuals, constraints met from poor starts, locks and
limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize
from scipy.spatial.transform import Rotation

import condyle as cd
import condyle.studies.assemble as assembly
from benchmarks.trees import condyle_system, random_tree
from condyle.native.programs.interpreted import Interpreted
from condyle.native.programs.program import Program
from condyle.spatial import log_so3
from condyle.tree import scales
from tests.constraints.rig import EVERY, rig, state
from tests.oracles.trees import random_plan
from tests.verification import mechanisms
from tests.zoo import zoo

G = cd.goals
# the default of assemble: the last change of a coordinate
ACCURACY = 1e-8
# Gauss-Newton stops with a last change of ACCURACY; where residuals are large it gains one digit a step
NEAR = 100 * ACCURACY


def arm(ranges=(None, None)) -> cd.System:
    """Two links of 0.5 and 0.4 m in the plane."""
    system = cd.System()
    for name, parent, at, ends in (("upper", "ground", 0.0, ranges[0]), ("lower", "upper", 0.5, ranges[1])):
        system.add_body(
            name,
            parent,
            cd.Pin(),
            X_PF=(at, 0, 0),
            mass=1.0,
            inertia=(1, 1, 1),
            coordinates=cd.Coordinate("shoulder" if name == "upper" else "elbow", range=ends),
        )
    return system


@pytest.mark.parametrize("bent", [1, -1])
def test_two_links_reach_as_the_cosine_law_says(bent, evidence):
    x, y, a, b = 0.3, 0.55, 0.5, 0.4
    elbow = bent * np.arccos((x * x + y * y - a * a - b * b) / (2 * a * b))
    shoulder = np.arctan2(y, x) - np.arctan2(b * np.sin(elbow), a + b * np.cos(elbow))
    system = arm()
    found = cd.assemble(system, system.state(q=[0.5, 0.3 * bent]), G.Station("lower", (b, 0, 0), (x, y, 0)))
    evidence(
        "an arm of two links reaches for a point: angles against the cosine law [rad]",
        np.abs(found.q - [shoulder, elbow]).max(),
        NEAR,
    )


def test_out_of_reach_the_arm_points_at_its_target():
    system = arm()
    found = cd.assemble(
        system, system.state(q=[0.2, 0.4]), G.Station("lower", (0.4, 0, 0), (1.5, 2.0, 0.7)), accuracy=1e-9
    )
    # straight, along the target's projection: here the residual is large and the minimum flat in the elbow
    np.testing.assert_allclose(found.q, [np.arctan2(2.0, 1.5), 0.0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_nearest_point_on_a_sphere(seed):
    """Without goals: a point on a rod of 1 m goes to x / |x|."""
    system, x = mechanisms.pendulum(), np.random.default_rng(seed).normal(size=3)
    found = cd.assemble(system, system.state(q=x))
    np.testing.assert_allclose(found.q, x / np.linalg.norm(x), rtol=0, atol=NEAR)


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_are_recovered_from_their_stations(seed):
    """Targets from some q0, start elsewhere: stations come back to them, and so does every body."""
    plan = random_plan(seed, 6, ("pin", "ball", "free", "universal", "translation", "gimbal", "weld"))
    system = plan.system()
    goal, rng = plan.states()[0], np.random.default_rng(seed)
    stations = [(b.name, p) for b in system.bodies for p in ((0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.3))]
    start = system.compiled.normalized(goal + system.qdot(goal, rng.uniform(-0.4, 0.4, system.nu)))
    goals = [G.Station(b, p, system.station_position(goal, b, p)) for b, p in stations]
    found = cd.assemble(system, system.state(q=start), goals)
    # at zero residual the end is quadratic: rounding over conditioning
    for b, p in stations:
        np.testing.assert_allclose(
            found.station_position(b, p), system.station_position(goal, b, p), rtol=0, atol=NEAR
        )


@pytest.mark.parametrize("seed", range(4))
def test_scipy_finds_no_better(seed):
    """All goals at once with targets that contradict each other, against least_squares on the residuals."""
    rng = np.random.default_rng(seed)
    system = cd.System()
    for i, name in enumerate("abcd"):
        system.add_body(
            name,
            "ground" if not i else "abcd"[i - 1],
            cd.Pin(axis="xyzx"[i]),
            X_PF=(0.1, 0.4, 0.1),
            mass=1.0,
            inertia=(1, 1, 1),
        )
    w = rng.uniform(0.2, 2.0, 5)
    points, R = rng.uniform(-0.5, 0.5, (4, 3)), Rotation.from_rotvec(rng.uniform(-0.3, 0.3, 3)).as_matrix()
    goals = [
        G.Station("d", points[0], points[1], weight=w[0]),
        G.Station("b", points[2], points[3], weight=w[1]),
        G.Orientation("d", R, weight=w[2]),
        G.Distance("a", points[0], "d", points[2], 0.6, weight=w[3]),
        G.Distance("ground", points[1], "c", points[2], 0.9, weight=w[3]),
        G.Coordinate("b", 0.3, weight=w[4]),
    ]

    def residuals(q):
        x = lambda body, p: system.station_position(q, body, p)
        return np.concatenate(
            [
                np.sqrt(w[0]) * (x("d", points[0]) - points[1]),
                np.sqrt(w[1]) * (x("b", points[2]) - points[3]),
                np.sqrt(w[2]) * log_so3(R @ system.body_pose(q, "d").R.T),
                np.sqrt(w[3])
                * np.array(
                    [
                        np.linalg.norm(x("d", points[2]) - x("a", points[0])) - 0.6,
                        np.linalg.norm(x("c", points[2]) - points[1]) - 0.9,
                    ]
                ),
                np.sqrt(w[4]) * np.array([q[1] - 0.3]),
            ]
        )

    start = rng.uniform(-0.3, 0.3, 4)
    found = cd.assemble(system, system.state(q=start), goals)
    expected = least_squares(residuals, found.q, xtol=1e-15, ftol=1e-15, gtol=1e-13)
    # least_squares differences the residuals
    np.testing.assert_allclose(found.q, expected.x, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_goals_on_mechanisms_against_their_own_angles(seed):
    """A slider-crank and a governor with stations to follow, against a search over the one and the two angles
    that they have."""
    rng = np.random.default_rng(seed)
    crank, governor = mechanisms.slider_crank(), mechanisms.governor()
    for system, q_of, start, body in (
        (crank, lambda x: mechanisms.slider_crank_state(x[0], 0.0)[0], (0.9,), "rod"),
        (governor, lambda x: mechanisms.governor_state(*x, 0.0, 0.0)[0], (0.3, 0.8), "linka"),
    ):
        p = np.array([0.2, -0.1, 0.05])
        target = system.station_position(q_of(start), body, p) + rng.uniform(-0.05, 0.05, 3)

        def cost(x, system=system, q_of=q_of, body=body, p=p, target=target):
            return float(np.sum((system.station_position(q_of(x), body, p) - target) ** 2))

        best = minimize(
            cost, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-18, "maxfev": 4000}
        )
        found = cd.assemble(system, system.state(q=q_of(start) + 0.05), G.Station(body, p, target))
        # a search without slopes sees half the digits
        np.testing.assert_allclose(found.q, q_of(best.x), rtol=0, atol=1e-6)


MECHANISMS = {
    "pendulum": (mechanisms.pendulum, lambda s: np.array([0.6, -0.8, 0.0])),
    "four-bars": (lambda: mechanisms.four_bars(10), lambda s: mechanisms.four_bars_state(10, 0.4, 0.0)[0]),
    "andrews": (mechanisms.andrews, lambda s: np.array([mechanisms.ANDREWS_START[c] for c in s.coordinates])),
    "bricard": (mechanisms.bricard, lambda s: np.zeros(5)),
    "slider-crank": (mechanisms.slider_crank, lambda s: mechanisms.slider_crank_state(0.7, 0.0)[0]),
    "governor": (mechanisms.governor, lambda s: mechanisms.governor_state(0.3, 0.6, 0.0, 0.0)[0]),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_assembles_from_poor_starts(name):
    """Up to 0.5 rad or m off in every coordinate: constraints hold, and so do they at velocity level."""
    make, closed = MECHANISMS[name]
    system = make()
    rng = np.random.default_rng(5)
    for _ in range(5):
        start = system.state(
            q=closed(system) + rng.uniform(-0.5, 0.5, system.nq), u=rng.normal(size=system.nu)
        )
        found = cd.assemble(system, start)
        p, v = found.constraints.errors()
        assert np.abs(p).max() <= ACCURACY / 100
        assert np.abs(v).max() <= ACCURACY / 100 * max(1.0, np.abs(found.u).max())


@pytest.mark.parametrize("name", EVERY)
def test_every_constraint_assembles(name):
    system = rig(name)
    q, u = state(system, 1)
    found = cd.assemble(system, system.state(q=q, u=u, t=0.2))
    p, v = (np.abs(e).max(initial=0.0) for e in found.constraints.errors())
    assert p <= ACCURACY / 100 and v <= 1e-8  # velocities in their unit times the largest speed
    assert found.t == 0.2


def test_the_nearest_is_nearer_than_newton_ends():
    """Projection takes the least step again and again; its end is near, the nearest is nearer."""
    system = mechanisms.slider_crank()
    start = mechanisms.slider_crank_state(0.7, 0.0)[0] + np.array([0.5, -0.4, 0.3])
    W = scales.weights(system.bodies)[0]
    far = lambda q: np.linalg.norm(W * (q - start))
    newton = system.project(start, np.zeros(3))[0]
    found = cd.assemble(system, system.state(q=start))
    assert far(found.q) < far(newton)
    P = system.constraints.jacobian(found.q, np.zeros(3))
    # at the nearest the change is normal to the motion that is left: W^2 (q - start) = P' lambda
    change = W**2 * (found.q - start)
    np.testing.assert_allclose(
        P.T @ np.linalg.lstsq(P.T, change, rcond=1e-9)[0], change, rtol=0, atol=100 * NEAR
    )


def test_a_state_that_satisfies_its_constraints_is_the_nearest_itself():
    """No program is made for it; arguments are checked all the same, and limits still move it."""
    system = arm()
    system.add_constraint(
        "coupler", cd.constraints.CoordinateCoupler(lambda a, b: b - a / 2, ("shoulder", "elbow"))
    )
    here = system.state(q=[0.4, 0.2])
    np.testing.assert_array_equal(cd.assemble(system, here).q, here.q)
    assert not any(key[0] == "assemble" for key in system.compiled.programs if isinstance(key, tuple))
    with pytest.raises(cd.errors.DescriptionError, match="accuracy"):
        cd.assemble(system, here, accuracy=2.0)
    moved = cd.assemble(system, here, limits={"shoulder": (-1.0, 0.3)}).q
    np.testing.assert_allclose(moved, [0.3, 0.15], rtol=0, atol=NEAR)
    off = cd.assemble(system, system.state(q=[0.4, 0.3])).q
    np.testing.assert_allclose(off[1], 0.5 * off[0], rtol=0, atol=NEAR)


def test_redundant_constraints_change_nothing():
    once, twice = (
        rig("Ball", "Rod", **more) for more in ({}, {"again": EVERY["Ball"], "third": EVERY["Ball"]})
    )
    q, u = state(once, 0)
    a, b = (cd.assemble(s, s.state(q=q, u=u)) for s in (once, twice))
    np.testing.assert_allclose(a.q, b.q, rtol=0, atol=NEAR)
    np.testing.assert_allclose(a.u, b.u, rtol=0, atol=NEAR)


def test_impossible_constraints_are_named():
    system = mechanisms.slider_crank()
    # 0.7 m is as far as it goes
    system.add_constraint("wall", cd.constraints.ConstantCoordinate("slider", 0.9))
    with pytest.raises(cd.errors.ConstraintError, match=r"wall by .*allowed") as caught:
        cd.assemble(system, system.state(q=[0.3, -0.4, 0.8]))
    assert set(caught.value.violated) <= {"wall", "rod slider[0]", "rod slider[1]", "rod slider[2]"}
    assert max(map(abs, caught.value.violated.values())) > 0.01
    assert caught.value.nearest.shape == (3,)
    assert cd.assemble(system, system.state(q=[0.3, -0.4, 0.8], disabled=["wall"])).q.shape == (3,)


def test_locked_speeds_stay_to_the_last_bit():
    system = mechanisms.governor()
    q = mechanisms.governor_state(0.3, 0.6, 0.0, 0.0)[0] + 0.1
    found = cd.assemble(system, system.state(q=q, locked=["psi"]), locked=["arma"])
    assert found.q[system.coordinates.index("psi")] == q[0]
    assert found.q[system.coordinates.index("arma")] == q[system.coordinates.index("arma")]
    assert np.abs(found.constraints.errors()[0]).max() < ACCURACY
    assert set(found.locked) == {"psi"}  # what assembling locked is free again
    with pytest.raises(cd.errors.ConstraintError, match="violated"):
        cd.assemble(system, system.state(q=q), locked=system.speeds)


@pytest.mark.parametrize("seed", range(4))
def test_limits_against_scipy(seed):
    rng = np.random.default_rng(seed)
    system = arm(ranges=((-0.4, 0.5), (0.1, 1.2)))
    target, tip = rng.uniform(-0.8, 0.8, 3), (0.4, 0.1, 0.0)
    found = cd.assemble(system, system.state(q=[0.1, 0.4]), G.Station("lower", tip, target), limits=True)
    residual = lambda q: system.station_position(q, "lower", tip) - target
    low, high = np.array([-0.4, 0.1]), np.array([0.5, 1.2])
    start = np.clip(found.q, low + 1e-3, high - 1e-3)
    best = least_squares(residual, start, bounds=(low, high), xtol=1e-15, ftol=1e-15, gtol=1e-14)
    assert (found.q >= low).all() and (found.q <= high).all()
    # interior points stop short of a bound by about 1e-9
    assert residual(found.q) @ residual(found.q) <= 2 * best.cost + 1e-9
    same = cd.assemble(
        system,
        system.state(q=[0.1, 0.4]),
        G.Station("lower", tip, target),
        limits={"shoulder": (-0.4, 0.5), "elbow": (0.1, 1.2)},
    )
    assert (same.q == found.q).all()


def test_limits_and_loops_together():
    """A slider-crank whose slider may not pass 0.6 m, asked to go to 0.65: it stands at its limit and the
    loop is closed."""
    system = mechanisms.slider_crank()
    q = mechanisms.slider_crank_state(1.2, 0.0)[0]
    found = cd.assemble(
        system, system.state(q=q), G.Coordinate("slider", 0.65), limits={"slider": (0.3, 0.6)}
    )
    assert found.q[2] == 0.6
    assert np.abs(found.constraints.errors()[0]).max() < ACCURACY
    free = cd.assemble(system, system.state(q=q), G.Coordinate("slider", 0.65))
    np.testing.assert_allclose(free.q[2], 0.65, rtol=0, atol=NEAR)


def test_many_bodies_that_stations_hardly_determine():
    """A hundred pins, a station on every third body: directions that nobody sees to 1e-5 m do not keep it
    from an end."""
    tree = random_tree(100, states=1)
    system = condyle_system(tree)
    goals = [
        G.Station(b.name, (0.1, 0.05, 0), system.station_position(0.2 * tree.q[0], b.name, (0.1, 0.05, 0)))
        for b in system.bodies[::3]
    ]
    found = cd.assemble(system, system.state(), goals)  # a warning would be an error here
    off = [np.linalg.norm(found.station_position(g.body, g.station) - g.position) for g in goals]
    assert max(off) < 1e-4


def test_what_nobody_sees_stays():
    system = cd.System()
    for name in "ab":
        system.add_body(name, mobilizer=cd.Ball(), mass=1.0, inertia=(1, 1, 1))
    q = system.compiled.normalized(np.array([1.0, 0.2, -0.1, 0.3, 1.0, 0.5, 0.1, -0.2]))
    found = cd.assemble(system, system.state(q=q), G.Orientation("a", np.eye(3)))
    np.testing.assert_allclose(found.q[:4], [1, 0, 0, 0], rtol=0, atol=NEAR)
    assert (np.abs(found.q[4:] - q[4:]) < 1e-15).all()  # normalized again


def test_orientations_from_far_away():
    """Half a turn less 0.01 rad: the gradient of the angle does not fade."""
    system = cd.System()
    system.add_body("top", mobilizer=cd.Ball(), mass=1.0, inertia=(1, 1, 1))
    R = Rotation.from_rotvec((np.pi - 0.01) * np.array([0.6, 0.0, 0.8])).as_matrix()
    found = cd.assemble(system, system.state(), G.Orientation("top", R))
    np.testing.assert_allclose(found.body_pose("top").R, R, rtol=0, atol=NEAR)


def test_every_mobilizer_with_parameters_and_time():
    """The zoo at other parameters and a time: stations of every body are found again. The ear is a line: it
    does not spin, so that only its axis comes back."""
    system = zoo()
    rng = np.random.default_rng(1)
    values = system.default("parameters") * rng.uniform(0.95, 1.05, len(system.parameters))
    q = system.compiled.normalized(np.concatenate([b.mobilizer.random_q(rng) for b in system.bodies]))
    goal = system.state(t=0.4, q=q, parameters=values)
    stations = [(b.name, p) for b in system.bodies for p in np.eye(3) * 0.3 if b.name != "ear" or p[2]]
    q = system.compiled.normalized(goal.q + 0.1 * system.qdot(goal.q, rng.uniform(-1, 1, system.nu), t=0.4))
    found = cd.assemble(
        system, goal.replace(q=q), [G.Station(b, p, goal.station_position(b, p)) for b, p in stations]
    )
    for b, p in stations:
        np.testing.assert_allclose(
            found.station_position(b, p), goal.station_position(b, p), rtol=0, atol=NEAR
        )


def test_splines_of_many_points_are_looked_up():
    x = np.linspace(-2, 2, 40)
    system = cd.System()
    knee = cd.FunctionBased(
        coordinates=("knee",),
        angles=(None, None, lambda q: q),
        translations=(cd.Spline(x, 0.1 * np.sin(x)), cd.Spline(x, 0.1 * np.cos(x)), None),
    )
    system.add_body("thigh", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1))
    system.add_body("shank", "thigh", knee, X_PF=(0.4, 0, 0), mass=1.0, inertia=(1, 1, 1))
    system.add_constraint("toe", cd.constraints.PointInPlane("ground", (0, 1, 0), 0.3, "shank", (0.4, 0, 0)))
    found = cd.assemble(system, system.state(q=[0.4, -0.5]), G.Coordinate("knee", -0.9))
    assert abs(found.constraints.errors()[0][0]) < ACCURACY / 100
    np.testing.assert_allclose(found.q[1], -0.9, rtol=0, atol=NEAR)


def test_prescribed_coordinates_are_where_their_motion_says():
    """A crank that a function of time turns: the rest of the mechanism follows, frame by frame as in one;
    relaxed, too."""
    system = cd.System()
    turn = lambda t: 0.4 + 0.8 * t
    system.add_body(
        "crank", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1), motion=cd.Prescribed(position=turn)
    )
    system.add_body("rod", "crank", cd.Pin(), X_PF=(mechanisms.CRANK, 0, 0), mass=1.0, inertia=(1, 1, 1))
    system.add_body("slider", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1))
    system.add_constraint("joint", cd.constraints.Ball("rod", (mechanisms.ROD, 0, 0), "slider", (0, 0, 0)))
    t = np.linspace(0.0, 1.0, 21)
    start = system.state(t=0.5, q=[9.0, -1.0, 0.6])
    expected = np.stack([mechanisms.slider_crank_state(turn(x), 0.8)[0] for x in t])
    np.testing.assert_allclose(cd.assemble(system, start).q, expected[10], rtol=0, atol=NEAR)
    np.testing.assert_allclose(
        cd.relax(system, cd.assemble(system, start)).q, expected[10], rtol=0, atol=NEAR
    )
    frames = cd.assemble_frames(system, system.state(q=expected[0]), G.Coordinate("slider", 0.6), t=t)
    assert frames.status == "finished"
    np.testing.assert_allclose(frames.q, expected, rtol=0, atol=1e-7)
    rates = np.stack([mechanisms.slider_crank_state(turn(x), 0.8)[1] for x in t])
    # the crank's is exact, the loop gives the others
    np.testing.assert_allclose(frames.speeds(), rates, rtol=0, atol=1e-6)
    free = cd.assemble(system, start.replace(disabled=["crank"]), G.Coordinate("slider", 0.6))
    np.testing.assert_allclose(free.q[2], 0.6, rtol=0, atol=NEAR)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("start", [0.0, 0.6, 0.8, 1.0, 5.0])
@pytest.mark.parametrize(("target", "found"), [(0.5, 0.6), (0.7, 0.7), (3.0, 1.0)])
def test_starts_at_and_beyond_limits(start, target, found):
    """A coordinate that begins at an end, or outside, stays at the end or leaves it, and no frame is called
    unfinished."""
    system = arm()
    state = system.state(q={"elbow": start})
    near = cd.assemble(system, state, cd.goals.Coordinate("elbow", target), limits={"elbow": (0.6, 1.0)})
    q = dict(zip(system.coordinates, near.q))
    assert abs(q["elbow"] - found) < 1e-7  # ten times the accuracy
    assert q["shoulder"] == dict(zip(system.coordinates, state.q))["shoulder"]
    held = cd.assemble(
        system, state, cd.goals.Coordinate("shoulder", 0.3), limits={"elbow": (0.6, 1.0)}, locked=["elbow"]
    )
    assert dict(zip(system.coordinates, held.q))["elbow"] == start


@pytest.mark.parametrize("single", [16, 0], ids=["interpreted", "machine code"])
def test_a_single_pose_can_be_interrupted(single, monkeypatch):
    """There is none then: the interrupt goes on to the caller."""

    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(assembly, "SINGLE", single)
    for kind in (Interpreted, Program):
        monkeypatch.setattr(kind, "run", pressed)
    system = arm()
    with pytest.raises(KeyboardInterrupt):
        cd.assemble(system, system.state(), cd.goals.Station(system.bodies[-1], (0, 0, 0), (1, 0, 0)))
