"""Events of many members: each has its own instants, and comes out as alone."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import condyle as cd
from condyle.integrate.trajectory import Trajectory

G, HEIGHTS = 9.81, np.array([0.5, 1.0, 1.7, 4.0])


@pytest.fixture(scope="module")
def ball() -> cd.System:
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("ball", mobilizer=cd.Slider("y"), mass=0.4, inertia=(1e-3,) * 3, coordinates="height")
    system.add_discrete("bounces", 0)
    return system


def bounce(state: cd.State) -> cd.State:
    return state.replace(u=-0.8 * state.u, discrete={"bounces": state["bounces"] + 1})


IMPACT = cd.Event(lambda s: s.q("height"), action=bounce, name="impact")
KICK = cd.Event(at=[0.6], action=lambda s: s.replace(u=s.u + 1), name="kick")
EVENTS = [IMPACT, KICK]


@pytest.fixture(scope="module")
def alone(ball) -> list[Trajectory]:
    return [cd.simulate(ball, ball.state(q=[h]), 1.0, accuracy=1e-6, events=EVENTS) for h in HEIGHTS]


@pytest.mark.parametrize("count", [1, 3])
def test_each_is_as_alone_to_the_last_bit(ball, alone, count):
    ens = cd.simulate(
        ball, {"q": HEIGHTS[:, None]}, 1.0, accuracy=1e-6, events=EVENTS, keep="steps", threads=count
    )
    for mine, its in zip(ens, alone, strict=True):
        assert_array_equal(mine.t, its.t)
        assert_array_equal(mine.y, its.y)
        assert_array_equal(mine["bounces"], its["bounces"])
        assert [(e.name, e.t) for e in mine.events] == [(e.name, e.t) for e in its.events]
        assert_array_equal(mine.at([0.3, 0.77]), its.at([0.3, 0.77]))
        assert mine.statistics == its.statistics
    assert_array_equal(ens.at([0.3, 0.77]), [its.at([0.3, 0.77]) for its in alone])
    assert_array_equal(ens["bounces"], np.concatenate([its["bounces"] for its in alone]))
    assert_array_equal(
        ens.energy()["potential"], np.concatenate([its.energy()["potential"] for its in alone])
    )
    assert ens.statistics.steps == sum(its.statistics.steps for its in alone)
    assert len(ens[1:3]) == 2
    assert ens[1:3].events[0] == ens.events[1]
    # The first impact of those that fall for less than 0.6 s: within the window, 0.1 s times the accuracy.
    first = [events[0].t for events in ens.events[:3]]
    np.testing.assert_allclose(first, np.sqrt(2 * HEIGHTS[:3] / G), rtol=0, atol=2e-7)


def test_ends_and_times(ball, alone):
    times = np.array([0.0, 0.25, 0.6, 1.0])
    ends, some = (
        cd.simulate(ball, {"q": HEIGHTS[:, None]}, 1.0, accuracy=1e-6, events=EVENTS, keep=keep)
        for keep in ("ends", times)
    )
    assert "kept: ends" in repr(ends)
    assert_array_equal(ends.y_end, [its.y[-1] for its in alone])
    assert_array_equal(some.at(times), [its.at(times) for its in alone])
    assert_array_equal(
        some.table(times)["bounces"].reshape(4, 4), [[its(t)["bounces"] for t in times] for its in alone]
    )
    assert some[0].discrete[:, 0].tolist() == [alone[0](t)["bounces"] for t in times]
    assert_array_equal(ends["bounces"].reshape(4, 2)[:, 1], [its["bounces"][-1] for its in alone])
    assert ends.events[2][0].before.t == alone[2].events[0].t
    with pytest.raises(cd.errors.ShapeError, match="not among"):
        ends.at([0.3])


def test_terminal_events_end_members_at_their_own_times(ball):
    land = cd.Event(lambda s: s.q("height"), terminal=True, name="land")
    ens = cd.simulate(ball, {"q": HEIGHTS[:, None]}, 0.7, accuracy=1e-8, events=land)
    assert ens.finished.tolist() == [False, False, False, True]
    assert ens.status[0].startswith("ended by event 'land' at t = 0.319")
    np.testing.assert_allclose(ens.t_end[:3], np.sqrt(2 * HEIGHTS[:3] / G), rtol=0, atol=2e-9)
    assert np.isnan(ens.table([0.0, 0.7])["height"].reshape(4, 2)[:3, 1]).all()


def test_a_member_that_is_refused_is_named_and_stops_the_others(ball):
    def wrong(state):
        return 3.0

    with pytest.raises(cd.errors.DescriptionError, match="the action must return None or a State") as caught:
        cd.simulate(
            ball, {"q": HEIGHTS[:, None]}, 1.0, events=cd.Event(lambda s: s.q("height"), action=wrong)
        )
    assert any("member" in note for note in caught.value.__notes__)


def test_actions_are_called_one_at_a_time(ball):
    inside, most = [0], [0]
    here = threading.Event()

    def count(state):
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        here.wait(0.01)
        inside[0] -= 1

    cd.simulate(ball, {"q": np.ones((4, 1))}, 0.4, events=cd.Event(at=[0.1, 0.2], action=count), threads=3)
    assert most == [1]
