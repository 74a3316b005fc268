"""Ensembles: a member in a lane is the member alone, whatever its neighbors do."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import condyle as cd
from condyle.integrate.integrators import METHODS
from tests.ctrl_c import pressed_from
from tests.integrate.test_constrained import fourbar

G = 9.81
# members: three rounds of eight lanes, the last not full
SOME = 21


def swinging() -> cd.System:
    """Quaternions, a looked-up spline, a Parameter, an Input and a force with a state of its own."""
    x = np.linspace(-3, 3, 25)
    system = cd.System()
    system.add_body("base", mobilizer=cd.Free(), mass=cd.Parameter("mass", 2.0), inertia=(0.1, 0.2, 0.25))
    knee = cd.FunctionBased(
        "knee", angles=(None, None, lambda q: q), translations=(cd.Spline(x, 0.05 * np.sin(x)), None, None)
    )
    system.add_body(
        "shank", parent="base", mobilizer=knee, X_BM=(0, 0.4, 0), mass=3.0, inertia=(0.05, 0.01, 0.05)
    )
    system.add_force("warm", cd.forces.NoseHooverThermostat(300.0, 0.4, boltzmann=2e-3))
    system.add_force("push", cd.forces.MobilityForce("knee", cd.Input("push", 0.0)))
    return system


def top() -> cd.System:
    """A spinning top on a ball joint: small, so that every method compiles soon."""
    system = cd.System()
    system.add_body(
        "top",
        mobilizer=cd.Ball(),
        X_BM=(0, -0.3, 0),
        mass=cd.Parameter("mass", 2.0),
        inertia=(0.02, 0.05, 0.03),
    )
    system.add_force("push", cd.forces.MobilityForce(system.speeds[0], cd.Input("push", 0.0)))
    return system


def varied(system: cd.System, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    # some need many more steps than others
    u = rng.normal(size=(SOME, system.nu)) * np.geomspace(0.2, 4.0, SOME)[:, None]
    return {
        "t": rng.uniform(0, 0.1, SOME),
        "u": u,
        "parameters": {"mass": rng.uniform(1, 4, SOME)},
        "inputs": rng.uniform(-2, 2, (SOME, 1)),
    }


def states(system: cd.System, given: dict) -> list[cd.State]:
    return [
        system.state(
            t=given["t"][i],
            u=given["u"][i],
            inputs=given["inputs"][i],
            parameters={"mass": given["parameters"]["mass"][i]},
        )
        for i in range(SOME)
    ]


@pytest.mark.parametrize(("make", "name"), [*((top, name) for name in METHODS), (swinging, "merson")])
def test_a_member_in_a_lane_is_the_member_alone(make, name):
    """Every method, every step, to the last bit; statistics too."""
    system = make()
    step = None if METHODS[name].estimate else 0.01
    given = varied(system)
    ens = cd.simulate(system, given, 0.5, accuracy=1e-4, integrator=name, step=step, keep="steps")
    assert ens.finished.all()
    for i, state in enumerate(states(system, given)):
        alone = cd.simulate(system, state, 0.5, accuracy=1e-4, integrator=name, step=step)
        np.testing.assert_array_equal(ens[i].t, alone.t)
        np.testing.assert_array_equal(ens[i].y, alone.y)
        np.testing.assert_array_equal(ens[i].at([0.2, 0.35]), alone.at([0.2, 0.35]))
        assert (ens[i].statistics, ens[i].status) == (alone.statistics, alone.status)
        np.testing.assert_array_equal(ens[i][-1].parameters, state.parameters)
        np.testing.assert_array_equal(ens[i][-1].inputs, state.inputs)


@pytest.mark.parametrize("name", ["merson", "dormand-prince", "dormand-prince-8", "rodas"])
def test_kept_times_are_what_a_trajectory_says_there(name):
    system, times = top(), np.array([0.0, 0.05, 0.2, 0.35, 0.5])
    given = varied(system) | {"t": np.where(np.arange(SOME) % 2, 0.0, 0.1)}
    ens = cd.simulate(system, given, 0.5, accuracy=1e-4, integrator=name, keep=times)
    alone = [cd.simulate(system, s, 0.5, accuracy=1e-4, integrator=name) for s in states(system, given)]
    expected = np.full((SOME, 5, ens.y_end.shape[1]), np.nan)
    for i, traj in enumerate(alone):
        inside = times >= traj.t[0]
        expected[i, inside] = traj.at(times[inside])
    # one polynomial, fused products in one of two
    np.testing.assert_allclose(ens.at(times), expected, atol=1e-13, rtol=0)
    np.testing.assert_array_equal(ens.y_end, [traj.y[-1] for traj in alone])
    assert ens[1].t.tolist() == [0.0, 0.05, 0.2, 0.35, 0.5]
    assert ens[0].t.tolist() == [0.1, 0.2, 0.35, 0.5]
    with pytest.raises(cd.errors.ShapeError, match="keep='steps'"):
        ens.at(0.3)
    with pytest.raises(cd.errors.ShapeError, match="keep='steps'"):
        ens[0](0.3)


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
def test_both_layouts_in_lanes(layout, monkeypatch):
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    system = swinging()
    given = varied(system)
    ens = cd.simulate(system, given, 0.5, accuracy=1e-4)
    np.testing.assert_array_equal(
        ens.y_end, [cd.simulate(system, s, 0.5, accuracy=1e-4).y[-1] for s in states(system, given)]
    )


def test_constraints_are_kept_in_lanes():
    """Four-bars from many angles: each as alone, and closed at kept times too, between the steps."""
    system = fourbar()
    theta = np.linspace(1.6, 2.4, SOME)
    q = np.stack([-theta, theta, -theta], axis=1)
    times = np.linspace(0, 1, 7)
    ens = cd.simulate(system, {"q": q}, 1.0, accuracy=1e-5, keep=times)
    assert ens.finished.all()
    for i in range(SOME):
        alone = cd.simulate(system, system.state(q=q[i]), 1.0, accuracy=1e-5)
        np.testing.assert_array_equal(ens.y_end[i], alone.y[-1])
    y = ens.at(times)
    errors = system.constraints.errors(y[..., :3], y[..., 3:])
    # Newton leaves rounding; the polynomial alone leaves 1e-6
    assert max(np.abs(e).max() for e in errors) < 1e-11
    with pytest.raises(cd.errors.DescriptionError, match=r"member 2 violates constraints"):
        cd.simulate(system, {"q": q + np.eye(SOME, 3)[(np.arange(SOME) - 2) % SOME] * 0.1}, 1.0)


def pendulum() -> cd.System:
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("bob", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=1.0, inertia=(1e-12,) * 3)
    return system


def test_threads_change_nothing_and_lanes_stay_busy():
    """300 swings against elliptic functions; in one thread and in two."""
    system, amplitude = pendulum(), np.linspace(0.1, 2.5, 300)
    one, two = (cd.simulate(system, {"q": amplitude[:, None]}, 5.0, accuracy=1e-8, threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.y_end, two.y_end)
    k = np.sin(amplitude / 2)
    sn, *_ = ellipj(ellipk(k * k) + np.sqrt(G) * 5.0, k * k)
    # ten times the accuracy
    np.testing.assert_allclose(one.y_end[:, 0], 2 * np.arcsin(k * sn), atol=1e-7, rtol=0)
    # a lane waits only when the queue is empty: one member of 38
    assert one.utilization > 0.9
    steps = [one[i].statistics.steps for i in range(300)]
    assert one.statistics.steps == sum(steps)
    assert max(steps) > 1.5 * min(steps)  # or it would say nothing


def test_one_bad_member_does_not_spoil_the_others():
    """A force that ceases to be finite at a time of the member's own: it is stopped there and named; all
    others go on."""
    system = pendulum()
    until = cd.Parameter("until", 9.0)
    system.add_force("gone", cd.forces.Custom(lambda s: {"bob": 0.1 * np.sqrt(until - s.t)}))
    last = np.full(SOME, 9.0)
    last[[3, 12]] = 1.0, 0.5
    for keep in ("ends", "steps", np.linspace(0, 3, 7)):
        ens = cd.simulate(
            system, {"q": np.full((SOME, 1), 0.3), "parameters": {"until": last}}, 3.0, keep=keep
        )
        assert np.flatnonzero(~ens.finished).tolist() == [3, 12]
        assert ens.status[0] == "finished"
        for i, when in ((3, 1.0), (12, 0.5)):
            assert ens.status[i] == cd.Status.NOT_FINITE and "'gone'" in ens.status[i]
            assert ens[i].status == ens.status[i] == cd.simulate(system, ens.members[i], 3.0).status
            assert 0.9 * when < ens.t_end[i] <= when
            assert ens[i].t[-1] == ens.t_end[i]
        y = ens.at([0.0, 3.0])
        assert np.isnan(y[[3, 12], 1]).all()
        assert np.isfinite(np.delete(y, [3, 12], axis=0)).all()
    assert ens.table().status == "19 of 21 members finished" and ens.table().status == cd.Status.SOME_FAILED


@pytest.mark.parametrize("keep", ["ends", "steps"])
def test_an_interrupt_gives_back_what_was_computed(keep):
    """Short members are done, long ones are cut where they were, the rest never started."""
    system = pendulum()
    n = 600
    t = np.where(np.arange(n) < 30, 1e5 - 1, 0.0)
    with pressed_from(lambda share: share >= 30 / n) as press:
        ens = cd.simulate(
            system, {"q": np.full((n, 1), 1.0), "t": t}, 1e5, accuracy=1e-7, keep=keep, progress=press
        )
    assert ens.finished[:30].all()
    assert ens.status[-1] == "interrupted before it started"
    assert ens.t_end[-1] == 0.0
    cut = [i for i, status in enumerate(ens.status) if status == "interrupted"]
    assert cut
    for i in cut[:3]:
        assert 0 < ens.t_end[i] < 1e5
        assert ens[i].t[-1] == ens.t_end[i]
        np.testing.assert_array_equal(ens[i].y[-1], ens.y_end[i])
        assert ens[i].statistics.steps > 10
    assert len(ens[n - 1]) == 1


def test_a_sequence_of_states_with_locks_of_their_own():
    system = swinging()
    start = states(system, varied(system))
    start[4] = start[4].replace(locked=["knee"], disabled=["warm"])
    ens = cd.simulate(system, start, 0.3, accuracy=1e-4)
    np.testing.assert_array_equal(
        ens.y_end, [cd.simulate(system, s, 0.3, accuracy=1e-4).y[-1] for s in start]
    )
    assert ens[4][-1].locked == {"knee": "velocity"}
    all_locked = cd.simulate(system, {"u": np.zeros((3, 7)), "locked": ["knee"]}, 0.3)
    assert all_locked[1][-1].q[-1] == 0.0
    assert all_locked[1][-1].locked == {"knee": "velocity"}


def test_prescribed_motions_that_differ_by_member():
    """A pendulum on a cart that is moved to and fro, by another stroke in each member."""
    stroke, system = cd.Parameter("stroke", 0.4), cd.System()
    system.add_body(
        "cart",
        mobilizer=cd.Slider(),
        mass=1.0,
        inertia=(1, 1, 1),
        motion=cd.Prescribed(position=lambda t: stroke * np.sin(3 * t)),
    )
    system.add_body("bob", "cart", cd.Pin(), X_BM=(0, 1, 0), mass=1.0, inertia=(0.1,) * 3)
    strokes = np.linspace(0.1, 0.8, SOME)
    ens = cd.simulate(
        system,
        {"q": np.full((SOME, 2), 0.3), "t": 0.1, "parameters": {"stroke": strokes}},
        1.0,
        accuracy=1e-5,
    )
    for i, x in enumerate(strokes):
        alone = cd.simulate(
            system, system.state(t=0.1, q=[0.3, 0.3], parameters={"stroke": x}), 1.0, accuracy=1e-5
        )
        np.testing.assert_array_equal(ens.y_end[i], alone.y[-1])
    # followed exactly
    np.testing.assert_allclose(ens.y_end[:, 0], strokes * np.sin(3.0), atol=1e-15, rtol=0)


def test_progress_tables_and_pictures():
    import matplotlib

    matplotlib.use("Agg")
    system, seen = pendulum(), []
    ens = cd.simulate(
        system, {"q": np.linspace(0.1, 1, 3000)[:, None]}, 20.0, accuracy=1e-7, progress=seen.append
    )
    assert seen
    assert seen == sorted(seen)
    assert 0 <= seen[-1] <= 1
    table = cd.simulate(system, {"q": [[0.1], [0.2]]}, 1.0, keep=[0.0, 0.5, 1.0]).table()
    assert table.names == ("member", "bob", "bob_speed")
    assert table["member"].tolist() == [0, 0, 0, 1, 1, 1]
    assert table.time.tolist() == [0, 0.5, 1, 0, 0.5, 1]
    steps = cd.simulate(system, {"q": [[0.1], [0.2]]}, 1.0, keep="steps")
    np.testing.assert_array_equal(steps.table([0.0, 1.0])["bob"], steps.at([0.0, 1.0])[..., 0].reshape(-1))
    assert len(steps.plot("bob").lines) == 2
    with pytest.raises(cd.errors.UnknownNameError, match="bob"):
        steps.plot("bub")
    assert repr(ens).startswith("Ensemble(3000 members, 3000 finished, kept: ")
    assert cd.simulate(system, {"q": [[0.1], [0.2]]}, 1.0, progress=True).finished.all()


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ({"q": [0.1]}, {}, r"one leading dimension"),
        ({"q": [[0.1, 0.2]]}, {}, r"q: expected \(\.\.\., 1\)"),
        ({"q": [[0.1]] * 3, "u": [[0.1]] * 2}, {}, r"leading dimensions differ"),
        ({"q": [[0.1], [np.nan]]}, {}, r"q of member 1"),
        ({"p": [[0.1]]}, {}, r"'p'"),
        ({"q": {"bub": [0.1]}}, {}, r"unknown coordinate 'bub'; did you mean 'bob'"),
        ([], {}, r"sequence of states is empty"),
        (7, {}, r"expected a State"),
        ({"q": [[0.1]], "t": 2.0}, {}, r"after the state's t = 2"),
        ({"q": [[0.1]]}, {"keep": "step"}, r"did you mean 'steps'"),
        ({"q": [[0.1]]}, {"keep": [0.5, 3.0]}, r"between 0 and 1"),
        ({"q": [[0.1]]}, {"threads": 0}, r"threads"),
    ],
)
def test_what_cannot_be(given, options, words):
    with pytest.raises(cd.errors.CondyleError, match=words):
        cd.simulate(pendulum(), given, 1.0, **options)
    system = pendulum()
    with pytest.raises(cd.errors.CondyleError, match=r"for many states"):
        cd.simulate(system, system.state(), 1.0, threads=2)
    with pytest.raises(cd.errors.CondyleError, match="the state belongs to another system"):
        cd.simulate(system, [pendulum().state()], 1.0)
    with pytest.raises(cd.errors.CondyleError, match="state 1 of 2 belongs to another system"):
        cd.simulate(system, [system.state(), pendulum().state()], 1.0)


def test_who_finished_is_found_once_for_all():
    """Not once for each member: that is quadratic, half a minute for 2e5 of them."""
    system = top()
    ens = cd.simulate(system, {"u": np.zeros((SOME, 3))}, 0.01)
    assert ens.finished is ens.finished
    assert ens.status == ("finished",) * SOME
