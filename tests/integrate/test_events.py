"""Events: instants to a window, actions in order, ends and Zeno's ball."""
import numpy as np
import pytest

import condyle as cd
from condyle.integrate.events import Event
from condyle.integrate.run import ZENO

G, H, E = 9.81, 1.0, 0.7


@pytest.fixture(scope="module")
def ball() -> cd.System:
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("ball", mobilizer=cd.Slider(axis=(0, 1, 0)), mass=1.0, inertia=(1, 1, 1), coordinates="height")
    return system


def height(s):
    return s.q("height")


def bounce(state):
    return state.replace(u=-E * state.u)


def impacts(k: int) -> np.ndarray:
    """Times of the first k impacts of a ball dropped from H: t1 and then 2 e^i t1 each."""
    t1 = np.sqrt(2 * H / G)
    return t1 * (1 + 2 * np.cumsum(E ** np.arange(k)) - 2)


@pytest.mark.parametrize("integrator", ["merson", "dormand-prince-8", "rodas"])
@pytest.mark.parametrize(("accuracy", "window"), [(1e-3, None), (1e-6, None), (1e-3, 1e-9)])
def test_the_kth_impact_within_k_windows_plus_accuracy(ball, integrator, accuracy, window):
    impact = Event(height, action=bounce, window=window)
    traj = cd.simulate(ball, ball.state(q=[H]), 2.4, accuracy=accuracy, integrator=integrator, events=impact)
    assert traj.finished, traj.status
    t = np.array([e.t for e in traj.events])
    exact = impacts(len(t) + 1)
    assert len(t) >= 7
    assert exact[-1] > 2.4                                  # none was missed
    k = np.arange(1, len(t) + 1)
    assert (np.abs(t - exact[:-1]) <= k * (window or 0.1 * accuracy) + accuracy).all()
    for e in traj.events:
        assert e.name == "height"
        assert e.before.u[0] < 0


def test_rows_before_and_after_an_impact(ball):
    traj = cd.simulate(ball, ball.state(q=[H]), 1.0, accuracy=1e-6, events=[Event(height, action=bounce)])
    t1 = traj.events[0].t
    i = int(np.searchsorted(traj.t, t1))
    assert traj.t[i] == traj.t[i + 1] == t1
    assert traj.u[i + 1, 0] == -E * traj.u[i, 0]
    assert traj(t1).u[0] > 0
    t = np.linspace(0, t1, 50)                              # a step cut short is interpolated as it was
    np.testing.assert_allclose(traj.at(t[:-1])[:, 0], H - G / 2 * t[:-1]**2, atol=1e-6)


def test_a_terminal_event_ends_the_run(ball):
    traj = cd.simulate(ball, ball.state(q=[H]), 5.0, accuracy=1e-6, events=Event(height, terminal=True, name="landed"))
    assert "landed" in traj.status
    assert traj.t[-1] == pytest.approx(np.sqrt(2 * H / G), abs=1e-6)
    assert abs(traj[-1].q[0]) < 1e-6
    both = Event(height, action=bounce, terminal=True)
    assert cd.simulate(ball, ball.state(q=[H]), 5.0, events=both)[-1].u[0] > 0     # the action comes first


def test_directions(ball):
    """Thrown up, the ball passes a mark at 1 m upwards and then downwards."""
    seen = {}
    for direction in ("rising", "falling", "both"):
        mark = Event(lambda s: s.q("height") - 1.0, direction=direction)
        traj = cd.simulate(ball, ball.state(u=[6.0]), 1.2, accuracy=1e-6, events=mark)
        seen[direction] = [e.t for e in traj.events]
    up, down = (6 - np.sqrt(36 - 2 * G)) / G, (6 + np.sqrt(36 - 2 * G)) / G
    np.testing.assert_allclose(seen["rising"], [up], atol=1e-6)
    np.testing.assert_allclose(seen["falling"], [down], atol=1e-6)
    np.testing.assert_allclose(seen["both"], [up, down], atol=1e-6)


def test_events_that_change_nothing_leave_the_run_as_it_is(ball):
    plain = cd.simulate(ball, ball.state(u=[6.0]), 1.2)
    seen = []
    watched = cd.simulate(ball, ball.state(u=[6.0]), 1.2, events=Event(
        lambda s: s.q("height") - 1.0, direction="both", action=lambda state: seen.append(state.t)))
    np.testing.assert_array_equal(plain.y, watched.y)
    assert seen == [e.t for e in watched.events]
    assert len(seen) == 2


def test_simultaneous_events_happen_in_the_order_given(ball):
    """Two witnesses cross together: the second action sees what the first left."""
    order = []

    def first(state):
        order.append("first")
        return state.replace(u=[3.0])

    def second(state):
        order.append("second")
        assert state.u[0] == 3.0
        return state.replace(u=2 * state.u)

    traj = cd.simulate(ball, ball.state(q=[H]), 0.6, events=[Event(height, action=first, name="a"),
                                                             Event(lambda s: 2 * s.q("height"), action=second, name="b")])
    assert order == ["first", "second"]
    assert [e.name for e in traj.events] == ["a", "b"]
    assert traj.events[0].t == traj.events[1].t
    assert traj(traj.events[0].t).u[0] == 6.0


def test_scheduled_and_periodic_events_are_exact(ball):
    """Kicks at given times; a state that changes parameters or locks later holds from there on."""
    kick = Event(at=[0.7, 0.2], action=lambda state: state.replace(u=state.u + 1.0), name="kick")
    report = []
    every = Event(every=0.1, action=lambda state: report.append(state.t))
    hold = Event(at=0.9, action=lambda state: state.replace(u=[0.0], locked=["height"]), name="hold")
    traj = cd.simulate(ball, ball.state(), 1.2, accuracy=1e-6, events=[kick, every, hold])
    assert [e.t for e in traj.events if e.name == "kick"] == [0.2, 0.7]
    np.testing.assert_allclose(report, np.arange(1, 13) * 0.1, atol=1e-12)      # rounding of multiples
    t = np.linspace(0, 0.9, 40)[:-1]
    fall = -G / 2 * t**2 + np.maximum(t - 0.2, 0) + np.maximum(t - 0.7, 0)
    np.testing.assert_allclose(traj.at(t)[:, 0], fall, atol=1e-6)
    assert traj[-1].q[0] == traj(0.9).q[0]
    assert traj[-1].locked == {"height": "velocity"}
    assert traj(0.5).locked == {}


def test_zeno_is_detected_and_said(ball):
    """The ball comes to rest after infinitely many impacts at t1 (1 + e)/(1 - e)."""
    traj = cd.simulate(ball, ball.state(q=[H]), 10.0, events=Event(height, action=bounce))
    assert "Zeno" in traj.status
    rest = np.sqrt(2 * H / G) * (1 + E) / (1 - E)
    assert traj.t[-1] == pytest.approx(rest, abs=0.02)
    assert len(traj.events) > ZENO
    assert traj.q[:, 0].min() > -1e-3                       # it has not fallen through

    def rest_or_bounce(state):
        slow = abs(state.u[0]) < 0.05
        return state.replace(u=[0.0], locked=["height"]) if slow else bounce(state)

    traj = cd.simulate(ball, ball.state(q=[H]), 10.0, events=Event(height, action=rest_or_bounce))
    assert traj.finished
    assert abs(traj[-1].q[0]) < 1e-3


def test_impulses_by_the_mass_matrix():
    """A double pendulum hits a stop at its elbow: an impulse along one speed, energy lost, the other momentum kept."""
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("upper", mobilizer=cd.Pin(), X_BM=(0, 0.5, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_body("lower", parent="upper", mobilizer=cd.Pin(), X_PF=(0, -0.5, 0), X_BM=(0, 0.5, 0), mass=1.0,
                    inertia=(0.1, 0.1, 0.1), coordinates="elbow")

    def stop(state):
        answer = state.solve_mass_matrix(np.array([0.0, 1.0]))             # du of a unit impulse
        return state.replace(u=state.u - answer * state.u[1] / answer[1])

    hit = Event(lambda s: s.q("elbow"), action=stop, name="stop", traced=True)
    traj = cd.simulate(system, system.state(q=[1.0, 0.5]), 0.6, accuracy=1e-7, events=hit)
    before = traj.events[0].before
    after = traj(before.t)
    assert after.u[1] == pytest.approx(0.0, abs=1e-14)
    momentum = [state.mass_matrix() @ state.u for state in (before, after)]
    assert momentum[0][0] == pytest.approx(momentum[1][0], rel=1e-12)       # no impulse there
    assert sum(after.energy()) < sum(before.energy())


def test_witnesses_in_plain_python_may_ask_operators(ball):
    """traced=False: the witness sees a State, here to ask for a reaction."""
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("bob", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=1.0, inertia=(1e-9,) * 3)

    def pull(state):
        return abs(state.system.reactions(state.q, state.u, state.udot)[0, 3:]).max() - 1.5 * G

    traj = cd.simulate(system, system.state(q=[1.5]), 2.0, accuracy=1e-6, max_step=0.05,
                       events=Event(pull, direction="rising", traced=False))
    assert len(traj.events) >= 1
    assert abs(pull(traj.events[0].before)) < 1e-3


@pytest.mark.parametrize(("make", "words"), [
    (lambda: Event(), "one of"), (lambda: Event(height, every=1.0), "one of"),
    (lambda: Event(height, direction="down"), "falling"),
    (lambda: Event(every=-1.0), "every"), (lambda: Event(lambda s: [s.t, s.t]), "one number"),
    (lambda: Event(at="soon"), "at: expected times"), (lambda: Event(at=[None]), "at: expected times"),
    (lambda: Event(every="x"), "every: expected a positive number"), (lambda: Event(height, action=3), "action")])
def test_events_that_cannot_be(make, words):
    with pytest.raises(cd.CondyleError, match=words):
        make()


def test_actions_and_witnesses_that_do_not_fit_the_system(ball):
    with pytest.raises(cd.CondyleError, match="height"):
        cd.simulate(ball, ball.state(), 1.0, events=Event(lambda s: s.q("hight")))
    with pytest.raises(cd.CondyleError, match="action"):
        cd.simulate(ball, ball.state(q=[H]), 1.0, events=Event(height, action=lambda state: state.u))
    with pytest.raises(cd.CondyleError, match=r"cd\.Event"):
        cd.simulate(ball, ball.state(), 1.0, events=[height])
    with pytest.raises(cd.CondyleError, match="drag"):
        cd.simulate(ball, ball.state(), 1.0, events=Event(lambda s: s.q("height") - s.parameter("drag", 1.0)))
