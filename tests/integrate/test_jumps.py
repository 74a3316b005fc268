"""Lengths of paths that a rule makes jump: located, reported, and the run goes on just after."""

from __future__ import annotations

import importlib
import warnings
from itertools import pairwise

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.equations import equations
from condyle.integrate.integrators import METHODS
from condyle.integrate.interrupts import path_jumps
from condyle.integrate.interrupts.path_jumps import Branches, SpanBranches, Suspects
from condyle.integrate.native import native
from condyle.integrate.run import RunSettings, SimulationRun

arm26 = importlib.import_module("condyle.models.arm26")


def drifts(traj):
    """By how much the energy changes within each stretch between jumps [J]."""
    ke, pe = traj.system.energy(traj.q, traj.u)
    rows = [int(np.flatnonzero(traj.t == j.t)[0]) for j in traj.jumps]
    ends = zip([0, *rows], [*rows, len(traj)], strict=True)
    return [float(np.ptp((ke + pe)[a:b])) for a, b in ends], (ke + pe)[-1] - (ke + pe)[0]


@pytest.fixture(scope="module")
def biceps():
    """arm26 with a spring for BIClong, whose path is forced to one side of the humeral head."""
    system = cd.models.arm26(muscle=None)
    system.add_force("BIClong", cd.forces.PathSpring(arm26.path("BIClong"), 2000.0, 0.2))
    return system


def test_biceps(biceps):
    """paths-and-muscles.md: 1.67 mm at a shoulder elevation of 0.546 rad."""
    state = biceps.state(q=[0.3, 0.3], u=[3.0, 0.0])
    with pytest.warns(UserWarning, match=r"path of 'BIClong' by -1\.674 mm at 'BIClonghh' at t = 0\.1486982"):
        traj = cd.simulate(biceps, state, 0.2, accuracy=1e-10, integrator="dormand-prince-8")
    (jump,) = traj.jumps
    assert (jump.name, jump.where) == ("BIClong", "'BIClonghh'")
    assert jump.size == pytest.approx(-1.6736e-3, abs=1e-7)
    q = traj(jump.t).q
    assert q[0] == pytest.approx(0.54577, abs=1e-5)
    lengths = biceps.path_lengths(q + np.array([[-1e-9, 0], [1e-9, 0]]))[:, 0]
    assert lengths[1] - lengths[0] == pytest.approx(jump.size, abs=1e-9)
    within, total = drifts(traj)
    assert max(within) < 1e-9  # accuracy 1e-10 of some 64 J: 1e-10 measured
    assert total == pytest.approx(jump.energy, abs=1e-9)  # what the spring gained is all that changed
    row = int(np.flatnonzero(traj.t == jump.t)[0])  # a row just before and one just after
    assert 0 < jump.t - traj.t[row - 1] < 1e-12


def test_a_jump_is_reported_once(biceps):
    """An end of the path is on the surface there, to rounding, which decided on which side a run restarted: one jump in
    seven was reported back and forth."""
    rng = np.random.default_rng(0)
    for _ in range(12):
        start = biceps.state(q=[0.3, rng.uniform(0.1, 0.6)], u=[rng.uniform(2.5, 4), rng.uniform(-1, 1)])
        with pytest.warns(UserWarning, match="jump"):
            traj = cd.simulate(biceps, start, 0.2, accuracy=10.0 ** rng.uniform(-10, -5))
        assert traj.jumps[0].size == pytest.approx(-1.6736e-3, abs=1e-7)
        assert all(b.t - a.t > 1e-3 for a, b in pairwise(traj.jumps))


def test_backward_and_events(biceps):
    """The way back meets the same jump; events before it happen first, also in the same step."""
    with pytest.warns(UserWarning, match="jump"):
        there = cd.simulate(biceps, biceps.state(q=[0.3, 0.3], u=[3.0, 0.0]), 0.2, accuracy=1e-8)
    with pytest.warns(UserWarning, match="jump"):
        back = cd.simulate(biceps, there[-1], 0.0, accuracy=1e-8)
    assert back.jumps[0].size == pytest.approx(-there.jumps[0].size, abs=1e-6)
    assert back.jumps[0].t == pytest.approx(there.jumps[0].t, abs=1e-6)
    when = there.jumps[0].t
    level = float(there(when - 1e-6).q[0])
    with pytest.warns(UserWarning, match="jump"):
        both = cd.simulate(
            biceps,
            there[0],
            0.2,
            accuracy=1e-8,
            events=[
                cd.Event(lambda s: s.q("r_shoulder_elev") - level, "rising", name="just before"),
                cd.Event(lambda s: s.q("r_shoulder_elev") - level - 0.1, "rising", name="after"),
            ],
        )
    assert [e.name for e in both.events] == ["just before", "after"]
    assert both.events[0].t == pytest.approx(when - 1e-6, abs=1e-8)
    assert both.jumps[0].t == pytest.approx(when, abs=1e-6)


def pendulum(*points, wraps=()):
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body(
        "bob",
        "ground",
        cd.Pin(),
        mass=1.0,
        com=(0, -0.5, 0),
        inertia=(0.01, 0.01, 0.01),
        coordinates=("angle",),
    )
    path = cd.paths.Path(points, wraps)
    system.add_force("spring", cd.forces.PathSpring(path, 20.0, 0.1))
    return system


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
def test_point_that_comes_and_goes(monkeypatch, layout):
    """The jump of a conditional point has a closed form. It is found with Parameters too, and no step beyond
    it is computed in vain."""
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    x = cd.Parameter("x", 0.3)
    system = pendulum(
        ("ground", (0.5, 0, 0)),
        cd.paths.ConditionalPoint("ground", (x, 0.2, 0), "angle", (0.4, 2.0)),
        ("bob", (0, -0.5, 0)),
    )
    with pytest.warns(UserWarning, match="point 1"):
        traj = cd.simulate(system, system.state(q=[0.0], u=[3.0], parameters={"x": 0.2}), 0.3, accuracy=1e-8)
    (jump,) = traj.jumps
    bob = 0.5 * np.array([np.sin(0.4), -np.cos(0.4)])
    over = np.linalg.norm([0.3, 0.2]) + np.linalg.norm(bob - (0.2, 0.2))
    assert jump.size == pytest.approx(over - np.linalg.norm(bob - (0.5, 0)), abs=1e-9)
    assert traj(jump.t).q[0] == pytest.approx(0.4, abs=1e-9)
    done = traj.statistics  # Merson: four, and f at each end and each start
    assert done.evaluations == 4 * (done.steps + done.rejections) + done.steps + 2


@pytest.mark.parametrize("keep", ["steps", "ends", [0.05, 0.2]])
def test_ensembles(keep):
    """Members that jump come out as they do alone; the others stay in their lanes."""
    system = pendulum(
        ("ground", (0.5, 0, 0)),
        cd.paths.ConditionalPoint("ground", (0.3, 0.2, 0), "angle", (0.4, 2.0)),
        ("bob", (0, -0.5, 0)),
    )
    states = [system.state(u=[u]) for u in (3.0, -3.0, 2.5, -2.0, 2.0)]
    with pytest.warns(UserWarning, match="jump in 3 of 5 members, at most: the path of 'spring'"):
        ens = cd.simulate(system, states, 0.22, accuracy=1e-6, keep=keep)
    assert [len(jumps) for jumps in ens.jumps] == [1, 0, 1, 0, 1]
    assert ens.finished.all()
    for i, state in enumerate(states):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alone = cd.simulate(system, state, 0.22, accuracy=1e-6)
        assert ens.jumps[i] == alone.jumps == ens[i].jumps
        np.testing.assert_allclose(ens.y_end[i], alone.y[-1], atol=1e-12)
        if keep != "ends":
            np.testing.assert_allclose(ens.at([0.05, 0.2])[i], alone.at([0.05, 0.2]), atol=1e-12)
    assert ens[1:3].jumps == ens.jumps[1:3]


def test_ensembles_that_lift_off(touching):
    """Nothing runs again where lengths go on smoothly."""
    ens = cd.simulate(touching, [touching.state(q=[q]) for q in (-0.5, -0.4, 0.6)], 1.0, accuracy=1e-6)
    assert ens.jumps == ((), (), ()) and ens.utilization > 0 and ens.events == ((), (), ())


@pytest.fixture(scope="module")
def touching():
    return pendulum(
        ("ground", (0.5, 0, 0)),
        ("bob", (0, -0.5, 0)),
        wraps=[cd.paths.Wrap(cd.paths.Cylinder(0.1), "ground", (0.25, -0.2, 0))],
    )


@pytest.mark.parametrize("name", ["merson", "dormand-prince", "dormand-prince-8", "rodas", "rodas5p"])
def test_signatures_of_the_loop(touching, name):
    """What the loop writes down is the signature of the row itself: methods evaluate f there last, or once
    more. So rodas has the rows of its Jacobian."""
    method, start = METHODS[name], touching.state(q=[-0.5])
    run = SimulationRun(
        start,
        *native(touching, method),
        method,
        RunSettings(1.0, 1e-3, np.ones(2), None, None, [], 1e-4, None),
    )
    traj = run.go()
    seen, count = Branches.of_system(touching).look(start.tail[None], traj.t, traj.y), run.buffer.count
    kept = run.buffer["signature"][:count]
    assert 0 < np.count_nonzero(kept[:, 0]) < count
    np.testing.assert_allclose(kept, seen.signatures, atol=1e-12)
    # the loop finds by itself that the change is harmless
    assert np.diff(kept[:, 0]).any() and not run.buffer["changed"][1:count].any()


def test_lift_off_is_no_jump(touching):
    """A path that touches down and lifts off goes on smoothly: no step ends there."""
    system = touching
    traj = cd.simulate(system, system.state(q=[-0.5]), 1.0, accuracy=1e-6)
    branches = Branches.of_system(system)
    code = branches.look(traj[0].tail[None], traj.t, traj.y).code[:, 0]
    assert 0 < np.count_nonzero(code) < len(code)  # it touches for a while
    assert traj.jumps == ()
    assert (np.diff(traj.t) > 0).all()
    within, _ = drifts(traj)
    assert within[0] < 1e-4


@pytest.mark.parametrize("accuracy", [1e-3, 1e-8])
def test_lift_offs_are_settled_by_the_loop(touching, monkeypatch, accuracy):
    """Steps in which a path touches down and lifts off are found harmless in machine code: Python need not
    look."""
    rounds, located = [], Branches.located
    monkeypatch.setattr(Branches, "located", lambda *given: (rounds.append(1), located(*given))[1])
    traj = cd.simulate(touching, touching.state(q=[-0.5]), 1.0, accuracy=accuracy)
    assert traj.jumps == () and not rounds
    code = Branches.of_system(touching).look(traj[0].tail[None], traj.t, traj.y).code[:, 0]
    assert np.diff(code).any()  # there is something to find


def test_an_end_inside():
    """OpenSim's rule: where an end gets inside the surface, the path is straight."""
    system = pendulum(
        ("ground", (0.5, 0, 0)),
        ("bob", (0, -0.5, 0)),
        wraps=[cd.paths.Wrap(cd.paths.Cylinder(0.15), "ground", (0.2, -0.35, 0), name="rod")],
    )
    with pytest.warns(UserWarning, match="'rod'"):
        traj = cd.simulate(system, system.state(q=[-0.5]), 0.7, accuracy=1e-8)
    (jump,) = traj.jumps  # out of it the chord passes by
    L = system.path_lengths(traj(jump.t).q + np.array([[-1e-9], [1e-9]]))[:, 0]
    assert jump.size == pytest.approx(L[1] - L[0], abs=1e-8)
    within, total = drifts(traj)
    assert max(within) < 1e-6
    assert total == pytest.approx(sum(j.energy for j in traj.jumps), abs=1e-6)


def test_disabled_forces_are_not_reported():
    system = pendulum(
        ("ground", (0.5, 0, 0)),
        cd.paths.ConditionalPoint("ground", (0.3, 0.2, 0), "angle", (0.4, 2.0)),
        ("bob", (0, -0.5, 0)),
    )
    traj = cd.simulate(system, system.state(q=[0.0], u=[3.0], disabled=["spring"]), 0.3)
    assert traj.jumps == ()


def test_nothing_to_look_at():
    """Paths that are straight cost nothing."""
    assert Branches.of_system(pendulum(("ground", (0.5, 0, 0)), ("bob", (0, -0.5, 0)))) is None


def test_values_without_derivatives(biceps):
    """The right-hand side of a run has values alone, which take fewer operations; the expression for
    Jacobians has the same values, from the same rows, and right derivatives."""
    eq = equations(biceps, derivatives=True)
    assert eq.f.main.n_instructions() < 0.8 * eq.derived.n_instructions()
    p = biceps.state().tail[biceps.compiled.model.tail["inputs"].start :][:, None]
    y = np.array([0.3, 0.4, 2.0, -1.0])
    around = y[:, None] + 1e-5 * np.hstack([np.zeros((4, 1)), np.eye(4), -np.eye(4)])
    given = [np.zeros((1, 9)), around, np.tile(p, 9)]
    (f,), (rows,) = eq.f.evaluate(given), eq.f.looked_up.evaluate(given)
    x = [0.0, y, p, rows[:, 0]]
    # of rates of some 100 rad/s^2
    np.testing.assert_allclose(eq.derived(*x).full()[:, 0], f[:, 0], rtol=1e-12, atol=1e-12)
    J = eq.derived.factory("J", eq.derived.name_in(), ["jac:o0:i1"])(*x).full()
    # differences of steps of 1e-5: rounding 1e-9, curvature less
    np.testing.assert_allclose(J, (f[:, 1:5] - f[:, 5:]) / 2e-5, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("length", [np.nan, 2e-10])
def test_chatter_ends(biceps, length, monkeypatch):
    """A branch that changes at every look, its length unsolved or jumping by less than counts: divided to
    the end, a step of 1 s would have 1e13 parts."""
    branches, rng = Branches.of_system(biceps), np.random.default_rng(5)
    monkeypatch.setattr(path_jumps, "ROUNDS", 50)  # as with 1000, but sooner

    def look(tails, t, y, asked=None):
        code = rng.integers(0, 2, (len(t), len(branches.where))).astype(float)
        return SpanBranches(0.3 + length * code[:, :1], code, np.zeros((*code.shape, 3)))

    monkeypatch.setattr(branches, "look", look)
    whole = Suspects(np.array([0]), np.array([0.0]), np.array([1.0]), np.ones((1, 1), bool))
    assert branches.located(whole, lambda k: np.zeros((1, 0)), lambda k, t: np.zeros((len(t), 4))) == {}


@pytest.mark.parametrize("ends", [(0.0, 1.0), (1.0, 0.0), (-1.0, 0.0)])
def test_both_jumps_of_one_step_in_the_order_of_the_run(ends):
    """Forward, backward and at times below zero: a slider passes two points that come, in one long step."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("b", mobilizer=cd.Slider(), mass=1.0, coordinates="x")
    for name, at in (("one", 0.303), ("two", 0.307)):
        points = [
            ("ground", (0, -1, 0)),
            cd.paths.ConditionalPoint("ground", (0.1, -0.5, 0), "x", (at, 9.0)),
            ("b", (0, 0, 0)),
        ]
        system.add_force(name, cd.forces.PathSpring(cd.paths.Path(points), 0.1, 0.0))
    start, end = ends
    x = 0.0 if end > start else 1.0
    state = system.state(t=start, q=[x], u=[1.0])
    with pytest.warns(UserWarning, match="jump"):
        traj = cd.simulate(system, state, end)
    order = ["one", "two"] if end > start else ["two", "one"]
    assert [jump.name for jump in traj.jumps] == order
    at = {"one": 0.303, "two": 0.307}
    for jump in traj.jumps:  # 1e-13 in t, by INSTANT
        assert traj(jump.t).q[0] == pytest.approx(at[jump.name], abs=1e-9)
