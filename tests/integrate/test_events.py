"""Events: instants to a window, actions in order, ends and Zeno's ball."""

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.events import Event
from condyle.integrate.interrupts.witnesses import ZENO
from condyle.integrate.trajectory import Trajectory

G, H, E = 9.81, 1.0, 0.7


@pytest.fixture(scope="module")
def ball() -> cd.System:
    system = cd.System(gravity=(0, -G, 0))
    system.add_body(
        "ball", mobilizer=cd.Slider(axis=(0, 1, 0)), mass=1.0, inertia=(1, 1, 1), coordinates="height"
    )
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
    assert exact[-1] > 2.4  # none was missed
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
    t = np.linspace(0, t1, 50)  # a step cut short is interpolated as it was
    np.testing.assert_allclose(traj.at(t[:-1])[:, 0], H - G / 2 * t[:-1] ** 2, atol=1e-6)


def test_a_terminal_event_ends_the_run(ball):
    traj = cd.simulate(
        ball, ball.state(q=[H]), 5.0, accuracy=1e-6, events=Event(height, terminal=True, name="landed")
    )
    assert traj.status == cd.Status.EVENT and "landed" in traj.status
    assert traj.t[-1] == pytest.approx(np.sqrt(2 * H / G), abs=1e-6)
    assert abs(traj[-1].q[0]) < 1e-6
    both = Event(height, action=bounce, terminal=True)
    assert cd.simulate(ball, ball.state(q=[H]), 5.0, events=both)[-1].u[0] > 0  # the action comes first


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
    watched = cd.simulate(
        ball,
        ball.state(u=[6.0]),
        1.2,
        events=Event(
            lambda s: s.q("height") - 1.0, direction="both", action=lambda state: seen.append(state.t)
        ),
    )
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

    traj = cd.simulate(
        ball,
        ball.state(q=[H]),
        0.6,
        events=[
            Event(height, action=first, name="a"),
            Event(lambda s: 2 * s.q("height"), action=second, name="b"),
        ],
    )
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
    np.testing.assert_allclose(report, np.arange(1, 13) * 0.1, atol=1e-12)  # rounding of multiples
    t = np.linspace(0, 0.9, 40)[:-1]
    fall = -G / 2 * t**2 + np.maximum(t - 0.2, 0) + np.maximum(t - 0.7, 0)
    np.testing.assert_allclose(traj.at(t)[:, 0], fall, atol=1e-6)
    assert traj[-1].q[0] == traj(0.9).q[0]
    assert traj[-1].locked == {"height": "velocity"}
    assert traj(0.5).locked == {}


def test_zeno_is_detected_and_said(ball):
    """The ball comes to rest after infinitely many impacts at t1 (1 + e)/(1 - e)."""
    traj = cd.simulate(ball, ball.state(q=[H]), 10.0, events=Event(height, action=bounce))
    assert traj.status == cd.Status.ZENO and "Zeno" in traj.status
    rest = np.sqrt(2 * H / G) * (1 + E) / (1 - E)
    assert traj.t[-1] == pytest.approx(rest, abs=0.02)
    assert len(traj.events) > ZENO
    assert traj.q[:, 0].min() > -1e-3  # it has not fallen through

    def rest_or_bounce(state):
        slow = abs(state.u[0]) < 0.05
        return state.replace(u=[0.0], locked=["height"]) if slow else bounce(state)

    traj = cd.simulate(ball, ball.state(q=[H]), 10.0, events=Event(height, action=rest_or_bounce))
    assert traj.finished
    assert abs(traj[-1].q[0]) < 1e-3


def bouncing(ball: cd.System, e: float, **options) -> Trajectory:
    """20 s of a ball that comes to rest at t1 (1 + e)/(1 - e), before."""
    impact = Event(height, action=lambda state: state.replace(u=-e * state.u), name="bounce")
    return cd.simulate(ball, ball.state(q=[H]), 20.0, events=impact, **options)


OTHERS = [
    {"accuracy": 1e-6, "integrator": "dormand-prince"},
    {"accuracy": 1e-3, "integrator": "rk2"},
    {"accuracy": 1e-3, "integrator": "verlet"},
    {"accuracy": 1e-6, "integrator": "rodas"},
    {"step": 0.01, "integrator": "rk4"},
    {"step": 0.3, "integrator": "rk4"},
    {"max_step": 0.02},
]


@pytest.mark.parametrize(
    ("e", "options"),
    [
        *(
            (e, {"accuracy": accuracy})
            for e in (0.0, 0.2, 0.4, 0.5, 0.6, 0.8)
            for accuracy in (1e-3, 1e-6, 1e-9)
        ),
        *((0.5, options) for options in OTHERS),
    ],
    ids=str,
)
def test_no_ball_falls_through_the_floor(ball, e, options):
    """Every impact is seen, down to those that follow each other within the window, and then the run says
    that it ends."""
    accuracy = options.get("accuracy", 1e-3)
    traj, t1 = bouncing(ball, e, **options), np.sqrt(2 * H / G)
    assert "'bounce' repeats without end" in traj.status
    t, window = np.array([x.t for x in traj.events]), 0.1 * accuracy
    exact = t1 * (1 + 2 * np.r_[0.0, np.cumsum(e ** np.arange(1, len(t)))])
    # An impact found a window late at speed v leaves e v window behind, and each later one as much: at most
    # sums of e^k.
    assert (np.abs(t - exact) <= accuracy + np.arange(1, len(t) + 1) * window).all()
    assert abs(traj.t[-1] - t1 * (1 + e) / (1 - e)) < 10 * accuracy + len(t) * window
    assert traj.q.min() > -2 * np.sqrt(2 * G * H) * window  # as far as it goes in a window
    assert traj.at(np.linspace(0, traj.t[-1], 2000))[:, 0].min() > -2 * np.sqrt(2 * G * H) * window


def test_a_bounce_seen_in_both_directions_is_one_bounce(ball):
    """It comes back through zero from where the window left it: that is no impact."""
    down, both = (
        cd.simulate(
            ball, ball.state(q=[H]), 2.0, accuracy=1e-5, events=Event(height, direction=d, action=bounce)
        )
        for d in ("falling", "both")
    )
    assert [e.t for e in down.events] == [e.t for e in both.events]


def test_where_a_run_starts_at_zero(ball):
    """At rest or on the way back it is on the near side still; on the way through its event is over."""
    resting = cd.simulate(ball, ball.state(), 1.0, events=Event(height, action=bounce))
    assert "Zeno" in resting.status
    thrown = cd.simulate(ball, ball.state(u=[1.0]), 0.5, accuracy=1e-6, events=Event(height, action=bounce))
    np.testing.assert_allclose(
        [e.t for e in thrown.events], [2 / G, 2 / G * (1 + E), 2 / G * (1 + E + E**2)], atol=2e-6
    )
    landed = cd.simulate(ball, ball.state(q=[H]), 1.0, events=Event(height, terminal=True))
    assert cd.simulate(ball, landed[-1], 1.0, events=Event(height, terminal=True)).finished
    still = cd.simulate(ball, bouncing(ball, 0.5)[-1], 20.0, events=Event(height, action=bounce))
    assert "Zeno" in still.status  # a run that goes on from where Zeno's ended
    assert still.q.min() > -1e-3


def test_an_action_may_let_the_witness_pass_but_not_turn_it_beyond(ball):
    slower = Event(height, action=lambda state: state.replace(u=0.5 * state.u))
    traj = cd.simulate(ball, ball.state(q=[H]), 1.0, events=slower)
    assert traj.finished
    assert len(traj.events) == 1

    def dig(state):
        return state.replace(q=[-0.1], u=[2.0]) if state.u[0] < 0 else None

    with pytest.raises(cd.errors.DescriptionError, match=r"Event\(dig\).*left it at -0\.1"):
        cd.simulate(ball, ball.state(q=[H]), 1.0, events=Event(height, action=dig, name="dig"))
    traj = cd.simulate(
        ball, ball.state(q=[H]), 0.6, accuracy=1e-6, events=Event(height, direction="both", action=dig)
    )
    up = (2 - np.sqrt(4 - 0.2 * G)) / G  # from -0.1 m at 2 m/s: then it is seen
    np.testing.assert_allclose([e.t for e in traj.events], [np.sqrt(2 / G), np.sqrt(2 / G) + up], atol=1e-6)


def test_a_jump_over_zero_is_an_event_too(ball):
    """An action that moves another witness to its other side: that event follows at once."""
    move = Event(at=0.2, action=lambda state: state.replace(q=[-0.05]), name="move")
    lift = Event(height, action=lambda state: state.replace(q=[0.01], u=[1.0]), name="floor")
    traj = cd.simulate(ball, ball.state(q=[H]), 0.4, events=[lift, move])
    assert [(e.name, e.t) for e in traj.events] == [("move", 0.2), ("floor", 0.2)]
    assert traj(0.2).q[0] == 0.01


@pytest.mark.parametrize("below", [1e-2, 1e-5, 1e-8])
def test_a_witness_that_is_back_before_the_next_look_is_seen(ball, below):
    """A mark just below the top of a throw: steps are long there, since Merson integrates a fall exactly."""
    top = 36 / (2 * G)
    mark = Event(lambda s: s.q("height") - (top - below), direction="both")
    traj = cd.simulate(ball, ball.state(u=[6.0]), 20.0, events=mark)
    half = np.sqrt(2 * below / G)
    np.testing.assert_allclose([e.t for e in traj.events], [6 / G - half, 6 / G + half], atol=1e-4)


def test_a_witness_that_is_no_number_ends_the_run(ball):
    """But not before an event that comes first: here between the last number and the first NaN."""
    root = lambda s: np.sqrt(s.q("height") + 0.05) - 0.3
    assert (
        "'landed' at t = 0.44"
        in cd.simulate(ball, ball.state(q=[H]), 3.0, events=Event(root, terminal=True, name="landed")).status
    )
    traj = cd.simulate(ball, ball.state(q=[H]), 3.0, events=Event(lambda s: root(s) + 0.4, name="never"))
    assert "'never' is not a number" in traj.status
    assert np.sqrt(2 * (H + 0.05) / G) - 0.3 < traj.t[-1] < np.sqrt(2 * (H + 0.05) / G)


def slot() -> cd.System:
    """Two rods whose tip slides in a slot, and a rod that may hold it."""
    system = cd.System(gravity=(0, -G, 0))
    rod = {"X_BM": (0, 0.5, 0), "mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    system.add_body("upper", mobilizer=cd.Pin(), **rod)
    system.add_body("lower", "upper", cd.Pin(), X_PF=(0, -0.5, 0), **rod)
    system.add_constraint(
        "slot", cd.constraints.PointInPlane("ground", (0, 1, 0), -0.8, "lower", (0, -0.5, 0))
    )
    return system


def test_constraints_after_actions_and_witnesses_that_they_hold():
    system = slot()
    tip = lambda s: s.station_position("lower", (0, -0.5, 0))[1] + 0.8
    rate = lambda s: s.station_velocity("lower", (0, -0.5, 0))[1]
    watch = [
        Event(tip, direction="both", name="tip"),
        Event(rate, direction="both", name="rate"),
        Event(lambda s: s.u("upper"), direction="both", name="turn"),
    ]
    traj = cd.simulate(
        system, cd.assemble(system, system.state(q=[0.6, 0.4])), 3.0, accuracy=1e-4, events=watch
    )
    assert traj.finished
    assert {e.name for e in traj.events} == {"turn"}  # the others change sign by rounding alone

    free = system.state(q=[0.6, 0.4], disabled=["slot"])  # the tip is 0.09 m below
    with pytest.raises(
        cd.errors.DescriptionError,
        match=r"Event\(catch\): at t = 0\.1 s .*slot by .*rate of slot.*cd\.assemble",
    ):
        cd.simulate(
            system,
            free,
            1.0,
            events=Event(at=0.1, action=lambda state: state.replace(disabled=[]), name="catch"),
        )

    def catch(state):
        return cd.assemble(system, state.replace(disabled=[]))

    def nudge(state):
        return state.replace(q=state.q + 1e-4)  # within the accuracy: projected

    actions = [Event(at=0.1, action=catch), Event(at=0.3, action=nudge)]
    traj = cd.simulate(system, free, 1.0, accuracy=1e-3, events=[*actions, *watch])
    assert traj.finished
    assert max(np.abs(e).max() for e in traj(0.3).constraints.errors()) < 1e-4
    rows = [i for i in range(len(traj)) if i + 1 == len(traj) or traj.t[i + 1] > traj.t[i]]
    for i in rows:  # traj(t) is the later of two
        np.testing.assert_array_equal(traj(traj.t[i]).q, traj[i].q)
        np.testing.assert_array_equal(traj(traj.t[i]).u, traj[i].u)
        assert traj(traj.t[i]).disabled == traj[i].disabled
    np.testing.assert_array_equal(traj.at(traj.t[rows]), traj.y[rows])


def test_a_witness_on_what_time_drives_is_not_held():
    """A constraint and a motion that depend on time: their witnesses cross zero, the gap between them does
    not."""
    system = cd.System()
    slider = {"mass": 1.0, "inertia": (1, 1, 1), "mobilizer": cd.Slider()}
    system.add_body("a", **slider)
    system.add_body("b", motion=cd.Prescribed(position=lambda t: np.sin(2 * t)), **slider)
    system.add_constraint("drive", cd.constraints.Holonomic(lambda s: s.q("a") - np.sin(2 * s.t)))
    watch = [Event(lambda s, name=name: s.q(name) - 0.5, direction="both", name=name) for name in "ab"]
    gap = Event(lambda s: s.q("a") - s.q("b"), direction="both", name="gap")
    traj = cd.simulate(system, system.state(u={"a": 2.0}), 1.5, accuracy=1e-6, events=[*watch, gap])
    exact = [np.pi / 12, 5 * np.pi / 12]
    for name in "ab":
        np.testing.assert_allclose([e.t for e in traj.events if e.name == name], exact, atol=1e-6)
    assert not [e for e in traj.events if e.name == "gap"]


def test_impulses_by_the_mass_matrix():
    """A double pendulum hits a stop at its elbow: an impulse along one speed, energy lost, the other momentum
    kept."""
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("upper", mobilizer=cd.Pin(), X_BM=(0, 0.5, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_body(
        "lower",
        parent="upper",
        mobilizer=cd.Pin(),
        X_PF=(0, -0.5, 0),
        X_BM=(0, 0.5, 0),
        mass=1.0,
        inertia=(0.1, 0.1, 0.1),
        coordinates="elbow",
    )

    def stop(state):
        answer = state.solve_mass_matrix(np.array([0.0, 1.0]))  # du of a unit impulse
        return state.replace(u=state.u - answer * state.u[1] / answer[1])

    hit = Event(lambda s: s.q("elbow"), action=stop, name="stop", traced=True)
    traj = cd.simulate(system, system.state(q=[1.0, 0.5]), 0.6, accuracy=1e-7, events=hit)
    before = traj.events[0].before
    after = traj(before.t)
    assert after.u[1] == pytest.approx(0.0, abs=1e-14)
    momentum = [state.mass_matrix() @ state.u for state in (before, after)]
    assert momentum[0][0] == pytest.approx(momentum[1][0], rel=1e-12)  # no impulse there
    assert sum(after.energy()) < sum(before.energy())


def test_witnesses_in_plain_python_may_ask_operators(ball):
    """traced=False: the witness sees a State, here to ask for a reaction."""
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("bob", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=1.0, inertia=(1e-9,) * 3)

    def pull(state):
        return abs(state.system.reactions(state.q, state.u, state.udot)[0, 3:]).max() - 1.5 * G

    traj = cd.simulate(
        system,
        system.state(q=[1.5]),
        2.0,
        accuracy=1e-6,
        max_step=0.05,
        events=Event(pull, direction="rising", traced=False),
    )
    assert len(traj.events) >= 1
    assert abs(pull(traj.events[0].before)) < 1e-3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Event(), "one of"),
        (lambda: Event(height, every=1.0), "one of"),
        (lambda: Event(height, direction="down"), "falling"),
        (lambda: Event(every=-1.0), "every"),
        (lambda: Event(lambda s: [s.t, s.t]), "one number"),
        (lambda: Event(at="soon"), "at: expected times"),
        (lambda: Event(at=[None]), "at: expected times"),
        (lambda: Event(every="x"), "every: expected a positive number"),
        (lambda: Event(height, action=3), "action"),
    ],
)
def test_events_that_cannot_be(make, words):
    with pytest.raises(cd.errors.CondyleError, match=words):
        make()


def test_actions_and_witnesses_that_do_not_fit_the_system(ball):
    with pytest.raises(cd.errors.CondyleError, match="height"):
        cd.simulate(ball, ball.state(), 1.0, events=Event(lambda s: s.q("hight")))
    with pytest.raises(cd.errors.CondyleError, match="action"):
        cd.simulate(ball, ball.state(q=[H]), 1.0, events=Event(height, action=lambda state: state.u))
    with pytest.raises(cd.errors.CondyleError, match=r"cd\.Event"):
        cd.simulate(ball, ball.state(), 1.0, events=[height])
    with pytest.raises(cd.errors.CondyleError, match="drag"):
        cd.simulate(ball, ball.state(), 1.0, events=Event(lambda s: s.q("height") - s.parameter("drag", 1.0)))
