"""What depends on time is not stepped over: pulses in series, splines, conditions;
docs/theory/integrators.md."""

import itertools
import warnings

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle import forces
from condyle.integrate.integrators import METHODS
from condyle.integrate.interrupts import knots as module
from condyle.integrate.interrupts.knots import joined, knots
from condyle.integrate.interrupts.time_signals import timed
from condyle.mobilizers import Mobilizer

INERTIA = 1.0 + 2.0 * 0.4**2  # of the pin's body about its axis
ADAPTIVE = [m.name for m in METHODS.values() if m.estimate]


def pin(**more):
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("leg", mobilizer=cd.Pin(), mass=2.0, com=(0, -0.4, 0), inertia=(1, 1, 1), **more)
    return system


def linear(times, values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return forces.TimeSeries(times, np.outer(values, (1, 0, 0)), "linear")


def pushed(series):
    """A force along the body's own x axis, 1 m from the pin: the torque is the series, whatever the angle."""
    system = pin()
    system.add_force("push", forces.ExternalWrench("leg", (0, -1, 0), series, frame="body"))
    return system


def torque(law, **more):
    system = pin(**more)
    system.add_force("torque", forces.Custom(lambda s: {"leg": law(s)}))
    return system


def found(system, first=0.0, last=10.0, accuracy=1e-5, method="merson", **state):
    reads = timed(system)
    return knots(reads, reads.values(system.state(**state).tail), first, last, accuracy, METHODS[method])


@pytest.fixture(scope="module")
def pulse():
    return pushed(linear((0, 4.99, 5, 5.01, 10), (0, 0, 300, 0, 0)))


@pytest.fixture(scope="module")
def window():
    """300 N m from `onset` on for 10 ms."""
    onset = cd.Parameter("onset", 5.0)
    return torque(lambda s: np.where((s.t > onset) & (s.t < onset + 0.01), 300.0, 0.0))


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("accuracy", [1e-3, 1e-5, 1e-8])
def test_a_pulse_is_not_stepped_over(pulse, method, accuracy):
    """Short forces are not stepped over: an impulse of 3 N m s, then 5 s of free turning."""
    if METHODS[method].order < 3 and accuracy < 1e-5:
        pytest.skip("half a million steps")
    traj = cd.simulate(pulse, pulse.state(), 10.0, accuracy=accuracy, integrator=method)
    assert abs(traj.q[-1, 0] - 3 / INERTIA * 5) <= accuracy
    assert {4.99, 5.0, 5.01} <= set(traj.t)


def test_fixed_steps_say_what_they_pass(pulse):
    with pytest.warns(
        UserWarning,
        match=r"step = 0.1 s is longer than a change of force 'push' between t = "
        r"4.99 and 5 s, and in 1 "
        r"more places.*step <= 0.01",
    ):
        cd.simulate(pulse, pulse.state(), 10.0, step=0.1)
    with pytest.warns(UserWarning, match=r"step = 0\.1 s is longer than the run of 0\.05 s"):
        cd.simulate(pulse, pulse.state(t=6.0), 6.05, step=0.1)
    # nothing happens any more, nothing is said
    traj = cd.simulate(pulse, pulse.state(t=6.0), 10.0, step=0.1)
    assert np.allclose(np.diff(traj.t), 0.1)


def test_a_condition_on_time(window):
    """A jump that is met from just before to just after costs no small steps."""
    traj = cd.simulate(window, window.state(), 10.0, accuracy=1e-6)
    assert traj.q[-1, 0] == pytest.approx(3 / INERTIA * (10 - 5.005), abs=1e-9)
    assert traj.statistics.steps < 30 and not traj.statistics.rejections


def test_members_have_knots_of_their_own(window):
    """Parameters and starts differ from member to member: as each by itself."""
    onset, t = np.array([5.0, 7.0, 5.0, 2.0, 5.004]), np.array([0.0, 0.0, 5.005, 3.0, 0.0])
    many = cd.simulate(window, {"t": t, "parameters": {"onset": onset}}, 10.0, accuracy=1e-6)
    table = many.table()
    assert (
        table.names[:2] == ("member", "onset")
        and (table["onset"] == onset[table["member"].astype(int)]).all()
    )
    impulse = 300 * np.array([0.01, 0.01, 0.005, 0.0, 0.01])
    middle = np.array([5.005, 7.005, 5.0075, 0.0, 5.009])
    assert np.array([traj.q[-1, 0] for traj in many]) == pytest.approx(
        impulse / INERTIA * (10 - middle), abs=1e-9
    )


def test_an_event_changes_when_it_happens(window):
    """After an event knots are those of the new Parameters."""
    later = window.state(parameters={"onset": 20.0})
    event = cd.Event(at=[2.0], action=lambda s: s.replace(parameters={"onset": 4.0}))
    traj = cd.simulate(window, later, 10.0, accuracy=1e-6, events=event)
    assert traj.q[-1, 0] == pytest.approx(3 / INERTIA * (10 - 4.005), abs=1e-9)


# ---- which times they are: nothing is compiled ----


def test_sources_of_knots():
    """Everything that reads time, by name; the state's own functions have none."""
    x = np.array([0.0, 0.5, 4.0, 4.1, 4.2, 9.0])
    spline = cd.Spline(x, [0.0, 0, 0, 1, 0, 0])
    system = pin(motion=cd.Prescribed(position=spline))
    system.add_body(
        "a",
        mobilizer=cd.Slider(),
        mass=1.0,
        motion=cd.Prescribed(velocity=lambda t, q: q * np.where(t < 3.5, 1, 2)),
    )
    system.add_body("b", mobilizer=cd.Slider(), mass=1.0)
    system.add_force("own", forces.Custom(lambda s: {"b": spline(s.q("b"))}))
    system.add_constraint(
        "driven", cd.constraints.PrescribedMotion(lambda t: np.where(t < 2.25, 0.0, (t - 2.25) ** 3), "b")
    )
    reads = timed(system)
    assert set(reads.names) == {"the motion of body 'leg'", "the motion of body 'a'", "constraint 'driven'"}
    breaks = reads.breaks(reads.values(system.state().tail), 0.0, 10.0)
    assert set(breaks) == {*x, 3.5, 2.25}
    assert {2.25, 3.5, 4.0, 4.1, 4.2} <= set(np.round(found(system), 9))
    own = pin()
    own.add_force("own", forces.Custom(lambda s: {"leg": spline(s.q("leg"))}))
    assert not timed(own).names


def test_motions_that_nothing_feels():
    """A joint that follows its motion is not integrated: no step must see it, unless something free hangs on
    it."""
    quick = cd.Prescribed(position=lambda t: 0.1 * np.sin(50 * t))
    assert not len(found(pin(motion=quick)))
    system = pin(motion=quick)
    system.add_body("free", mobilizer=cd.Pin(), mass=1.0, com=(0, 1, 0))
    assert not len(found(system.copy()))
    system.add_body("foot", "leg", mobilizer=cd.Pin(), mass=1.0, com=(0, 1, 0))
    assert len(found(system)) > 100
    assert len(found(pin(motion=cd.Prescribed(velocity=lambda t: np.sin(50 * t))))) > 100


class Lifted(Mobilizer):
    """A floor that is lifted from t = 3 s on."""

    nq = nu = 0

    def motion(self, t, q, u):
        z = ca.fmax(t - 3, 0)
        p, v, a = (ca.vertcat(0, 0, x) for x in (z**3, 3 * z**2, 6 * z))
        none, zero = ca.SX(3, 0), ca.SX(3, 1)
        return cd.mobilizers.RelativeMotion(
            R=ca.SX.eye(3), p=p, H_w=none, H_v=none, w_t=zero, v_t=v, bias_w=zero, bias_v=a
        )


def test_own_classes():
    """A user's force and a user's mobilizer."""

    class Kick(forces.Force):
        def apply(self, s, loads):
            loads.add_mobility("leg", ca.if_else(s.t < 6, 0, s.coordinate("leg")))

    system = pin()
    system.add_force("kick", Kick())
    assert timed(system).names == ["force 'kick'"]
    assert found(system) == pytest.approx([6, 6], abs=1e-10)
    lifted = cd.System()
    lifted.add_body("floor", mobilizer=Lifted(), mass=1.0)
    lifted.add_body("leg", "floor", mobilizer=cd.Pin(), mass=1.0, com=(0, 1, 0))
    assert set(timed(lifted).names) == {"the mobilizer of body 'floor'"}
    assert found(lifted) == pytest.approx([3], abs=1e-10)


def test_the_second_formulation(pulse):
    """It does not know of knots: with max_step it sees the pulse too."""
    maximal = cd.maximal.formulation(pulse)
    end = maximal.simulate([0.0], [0.0], 5.05, t=4.9, max_step=0.002).u[-1, 0]
    assert end == pytest.approx(3 / INERTIA, rel=1e-3)  # seen, though its estimate is blind to kinks
    with pytest.raises(cd.errors.DescriptionError, match="max_step = -1 must be a positive"):
        maximal.simulate([0.0], [0.0], 5.05, max_step=-1)


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (lambda s: np.where(2 * s.t - 3 > 5, s.q("leg"), 0.0), [4]),
        (lambda s: np.where(s.t % 3 < 0.5, 1.0, 0.0), [0.5, 3, 3.5, 6, 6.5, 9, 9.5]),
        (lambda s: np.where(abs(s.t - 5) < 0.005, 1.0, 0.0), [4.995, 5, 5.005]),
        (lambda s: np.floor(s.t / 4), [4, 8]),
        (lambda s: np.maximum(0.0, 1 - abs(s.t - 5) / 0.001), [4.999, 5, 5.001]),
        (lambda s: cd.functions.SmoothStep(3.0, 3.01)(s.t), [3, 3.01]),
        (lambda s: np.where((s.t > 1) & ~(s.t > 1 + 1e-9), 1e9, 0.0), [1, 1 + 1e-9]),
        (lambda s: np.where(s.t > 11, 1.0, 0.0) + np.where(s.t > -1, 1.0, 0.0), []),
        (lambda s: 3.0 * s.t**2 - s.t + cd.Parameter("mean", 2.0), []),
    ],
)
def test_conditions_in_expressions(law, expected):
    """Thresholds are read from what was traced; a jump is met on both sides."""
    times = found(torque(law))
    merged = times[np.append(True, np.diff(times) > 1e-10)] if len(times) else times
    assert merged == pytest.approx(expected, abs=1e-11)


def test_a_curved_pulse():
    """No breaks, but a look at 4096 intervals meets what is wider than one."""
    times = found(torque(lambda s: 300 * np.exp(-(((s.t - 5) / 0.005) ** 2))))
    assert len(times) < 60
    near = times[np.abs(times - 5) < 0.01]
    assert len(near) >= 4 and np.diff(near).max() < 0.005
    # exactly at one of the looks
    pole = found(torque(lambda s: 0.1 / (s.t - 5) + np.exp(-(((s.t - 2) / 0.005) ** 2))))
    assert 5.0 in pole and np.isfinite(pole).all() and len(pole) < 120
    sine = found(torque(lambda s: np.sin(2 * np.pi * s.t)))
    assert len(sine) < 70 and np.diff(np.r_[0, sine, 10]).max() < 0.5


@pytest.mark.parametrize("seed", range(5))
def test_no_pulse_is_lost(seed):
    """Single samples among 3000, at times of unequal distance: each is between its neighbors, quiet
    stretches have few times."""
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.uniform(0.2, 3.0, 3000)) * 1e-3
    y = np.zeros(3000)
    at = np.sort(rng.choice(np.arange(5, 2990, 7), 6, replace=False))
    y[at] = 10.0 ** rng.uniform(-1, 3, 6)
    times = found(pushed(linear(t, y)), t[0], t[-1], 1e-3)
    for k in at:
        assert {t[k - 1], t[k], t[k + 1]} <= set(times)
    assert len(times) < 400


def test_joined_is_what_it_says():
    """Between two times that remain, a polynomial through some of the values is near all others: by fits of
    our own."""
    rng = np.random.default_rng(1)
    t = np.linspace(0, 10, 5001)
    x = np.stack([np.sin(3 * t), np.where(t < 4, 0, (t - 4) ** 2), 1e-4 * rng.normal(size=5001)], axis=1)
    x[:, 2] *= t > 8

    def at(s):
        return np.stack([np.interp(s, t, c) for c in x.T], axis=1)

    times, tolerance = joined(t, at, 1e-3, 3), 1e-3
    assert 1000 <= len(times) < 1200  # noise in the last fifth: each of these samples
    scale = np.abs(x - np.median(x, axis=0)).mean(axis=0)
    for a, b in itertools.pairwise(times):
        s = np.linspace(a, b, 50)
        fit = np.polynomial.Polynomial.fit
        for k in range(3):
            y = at(s)[:, k]
            # The best fit is at least as good as one through four values; 4: their Lebesgue constant and the
            # mean's rounding.
            assert np.abs(fit(s, y, 3)(s) - y).max() <= 4 * tolerance * scale[k]


def test_smooth_series_have_few_knots():
    """1 kHz, smooth: an hour of samples does not mean an hour of steps."""
    t = np.linspace(0, 20, 20_001)
    series = forces.TimeSeries(t, np.stack([np.sin(t), 800 * np.sin(5 * t), np.cos(9 * t)], axis=1))
    assert len(found(pushed(series), 0.0, 20.0, 1e-3)) < 400
    assert len(found(pushed(series), 0.0, 20.0, 1e-5)) < 1500


def test_long_series_are_looked_up():
    """Above 20,000 samples every sample was a selection in the machine code: a hundred times slower."""
    t = np.linspace(0, 100, 100_001)
    system = pushed(forces.TimeSeries(t, np.stack([t, t, t], axis=1)))
    (source,) = timed(system).sources
    assert len(source.graph.op) < 200
    assert len(source.breaks(np.empty(0), 0.0, 100.0)) == 100_001


def test_unequal_series(monkeypatch):
    """Knots 1e-9 apart, a start after the first and an end before the last sample; results are kept."""
    t = np.array([-5.0, -1.0, 2.0, 2 + 1e-9, 2 + 2e-9, 12.0, 20.0])
    system = pushed(linear(t, [0, 0, 0, 1e9, 0, 0, 0]))
    times = found(system)
    assert times == pytest.approx(t[2:5], abs=1e-15)
    assert found(system) is times
    monkeypatch.setattr(module, "REMEMBERED", 0)
    assert found(system, accuracy=1e-4) is not times


@pytest.mark.parametrize(
    "law",
    [
        lambda s: np.where((s.t - 5) ** 2 < 1e-4, 300.0, 0.0),
        lambda s: np.where((s.t - 4.99) * (s.t - 5.01) < 0, 300.0, 0.0),
        lambda s: 450.0 * np.maximum(0.0, 1 - ((s.t - 5) / 0.01) ** 2),
    ],
)
def test_conditions_on_polynomials_of_time_are_met(law):
    """6 N m s about t = 5 s. Where such a condition changes its mind is not solved for, so that it counts as
    curved.

    The error is that of the jumps, which the error control meets by itself: a few times the accuracy 1e-5.
    """
    system = torque(law)
    assert timed(system).curved.all()
    traj = cd.simulate(system, system.state(), 10.0, accuracy=1e-5)
    assert traj.q[-1, 0] == pytest.approx(6.0 * 5.0 / INERTIA, abs=1e-4)


def test_splines_and_lines_are_not_curved():
    """Their pieces end where they say: no grid is laid over them."""
    t = np.linspace(0, 10, 11)
    spline = cd.Spline(t, np.sin(t))
    for law in (
        lambda s: spline(s.t),
        lambda s: np.clip(s.t - 5, 0, 1) * np.where(s.t > 7, 2.0, 1.0),
        lambda s: 3 * s.t**2,
    ):
        assert not timed(torque(law)).curved.any()
