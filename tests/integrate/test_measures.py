"""Measures of runs against closed forms: an oscillator x = sin 2t, a ball that bounces, a sampled damper."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import condyle as cd
from condyle.integrate.trajectory import Trajectory
from condyle.measures import Delay, Integral, Maximum, Minimum, SampleAndHold

ACCURACY = 1e-8
ERROR = 1e-8
"""What the run itself may be off by, with x of size one and a growth of about one."""
T = np.linspace(0, 4, 401)


@pytest.fixture(scope="module")
def oscillator() -> cd.System:
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("m", mobilizer=cd.Slider(), mass=1.0, coordinates="x")
    system.add_force("spring", cd.forces.MobilitySpring("x", 4.0, 0.0))
    system.add_measure("area", Integral(lambda s: s.q("x") ** 2, initial=1.0))
    system.add_measure("top", Maximum(lambda s: s.q("x")))
    system.add_measure("low", Minimum(lambda s: s.parameter("scale", 4.0) * s.q("x") + s.t))
    system.add_measure("far", Maximum(lambda s: abs(s.q("x") - 0.75)))
    system.add_measure("late", Delay(lambda s: s.q("x"), 0.3))
    system.add_measure("held", SampleAndHold(lambda s: s.q("x"), 0.25))
    return system


@pytest.fixture(scope="module")
def run(oscillator) -> Trajectory:
    return cd.simulate(oscillator, oscillator.state(u=[2.0]), 4.0, accuracy=ACCURACY)


def test_closed_forms(run):
    table = run.table(T)
    assert table.names == (
        "x",
        "x_speed",
        "area",
        "held",
        "top",
        "top_time",
        "low",
        "low_time",
        "far",
        "far_time",
        "late",
    )
    x = np.sin(2 * T)
    assert_allclose(table["area"], 1 + T / 2 - np.sin(4 * T) / 8, atol=ERROR)
    assert_allclose(table["top"], np.where(np.pi / 4 > T, x, 1), atol=ERROR)
    assert_allclose(table["late"], np.sin(2 * np.maximum(T - 0.3, 0)), atol=ERROR)
    assert_allclose(table["held"], np.sin(2 * 0.25 * np.floor(T / 0.25 + 1e-9)), atol=ERROR)
    # d/dt (4 sin 2t + t) = 0: minima at 2t = 2 pi k - arccos(-1/8); they rise by pi from one to the next.
    first = np.pi - np.arccos(-0.125) / 2
    best = np.where(first > T, np.minimum(0, 4 * x + T), 4 * np.sin(2 * first) + first)
    assert_allclose(table["low"], best, atol=4 * ERROR)
    # At an extreme g is flat: its time is known to the root of the error.
    assert_allclose(table["top_time"], np.minimum(T, np.pi / 4), atol=4 * np.sqrt(ERROR))
    assert table["low_time"][-1] == pytest.approx(first, abs=4 * np.sqrt(ERROR))
    assert table["far"][-1] == pytest.approx(1.75, abs=ERROR)


def test_extremes_between_steps_are_found(oscillator):
    """Few steps: the largest of the rows alone is far off, the largest of the run is not."""
    traj = cd.simulate(
        oscillator, oscillator.state(t=0.05, u=[2.0]), 2.0, accuracy=1e-6, integrator="dormand-prince-8"
    )
    rows = traj["x"].max()
    assert rows < 1 - 1e-4
    assert traj.measure("top")[-1] == pytest.approx(1, abs=1e-5)


def test_rows_parts_and_pickles(run):
    top = run.measure("top")
    assert top.shape == (len(run),)
    assert (np.diff(top) >= 0).all()
    assert_array_equal(run["top"], top)
    assert_array_equal(run[40:80].measure("top"), top[40:80])
    assert_array_equal(run[40:80:7]["late"], run["late"][40:80:7])
    assert_array_equal(run([0.1, 3.0]).measure("top"), run.measure("top", [0.1, 3.0]))
    assert_array_equal(run.measure("held", [0.3]), [run(0.25)["held"]])
    assert_array_equal(pickle.loads(pickle.dumps(run)).measure("top"), top)
    assert run.events == ()  # samples are none of the user's
    assert "measure 'top': Maximum(lambda)" in run.system.describe()
    with pytest.raises(cd.errors.UnknownNameError, match=r"measure 'tip'.*'top'"):
        run.measure("tip")


def test_measures_act_on_nothing(oscillator):
    q, u = np.array([0.3]), np.array([0.4])
    assert oscillator.power(q, u).shape == (2,)
    assert (oscillator.forces, oscillator.measures[:2]) == (("gravity", "spring"), ("area", "top"))
    assert oscillator.forward_dynamics(q, u).tolist() == [-1.2]
    assert oscillator.zdot(q, u) == pytest.approx([0.09])
    assert oscillator.zdot(q, u, disabled=["area"]).tolist() == [0.0]
    assert oscillator.copy().measures == oscillator.measures
    assert isinstance(oscillator.measure("late"), Delay)


def test_events_jumps_and_samples_at_events():
    """A ball from 1 m: its speed at the impacts, the largest speeds before and after them, and heights of the
    bounces."""
    g, e = 9.81, 0.8
    ball = cd.System(gravity=(0, -g, 0))
    ball.add_body("ball", mobilizer=cd.Slider("y"), mass=1.0, inertia=(1e-3,) * 3, coordinates="height")
    ball.add_measure("fastest", Maximum(lambda s: s.u("height")))
    ball.add_measure("deepest", Minimum(lambda s: s.u("height")))
    ball.add_measure("impact_speed", SampleAndHold(lambda s: s.u("height"), event="impact", initial=7.0))
    impact = cd.Event(
        lambda s: s.q("height"), action=lambda s: s.replace(u=-e * s.u), name="impact", window=1e-9
    )
    traj = cd.simulate(ball, ball.state(q=[1.0]), 1.3, accuracy=ACCURACY, events=impact)
    v, t1 = np.sqrt(2 * g), np.sqrt(2 / g)
    assert [len(traj.events), traj(0.1)["impact_speed"]] == [2, 7.0]
    table = traj.table([0.2, 0.99 * t1, 1.01 * t1, 1.3])
    # windows of 1e-9 s and the accuracy, times g
    assert_allclose(table["impact_speed"], [7, 7, -v, -e * v], atol=1e-6)
    assert_allclose(table["fastest"], [0, 0, e * v, e * v], atol=1e-6)
    assert_allclose(table["deepest"], [-0.2 * g, -0.99 * t1 * g, -v, -v], atol=1e-6)
    assert_allclose(table["fastest_time"], [0, 0, t1, t1], atol=1e-7)
    # Of the two rows at the impact the first knows nothing of the second.
    row = int(np.flatnonzero(np.diff(traj.t) == 0)[0])
    assert traj["fastest"][row] == 0.0 < traj["fastest"][row + 1]
    with pytest.raises(
        cd.errors.UnknownNameError,
        match=r"unknown event 'impact'; there are none .*'impact_speed' is sampled when",
    ):
        cd.simulate(ball, ball.state(q=[1.0]), 1.0)
    both = cd.simulate(ball, {"q": [[1.0], [0.5]]}, 1.3, accuracy=ACCURACY, events=impact)
    assert_array_equal(both.y_end[0], traj.y[-1])
    assert both[0].measure("fastest")[-1] == traj.measure("fastest")[-1]


@pytest.fixture(scope="module")
def sampled_damper() -> cd.System:
    """u' = -c u_k between samples, T apart: u_(k+1) = (1 - c T) u_k; and z' = 1 acts as a force."""
    system = cd.System(gravity=(0, 0, 0))
    for name in ("a", "b"):
        system.add_body(name, mobilizer=cd.Slider(), mass=1.0)
    system.add_measure("u_k", SampleAndHold(lambda s: s.u("a"), 0.1))
    system.add_measure("clock", Integral(lambda s: 1.0 + 0 * s.t))
    system.add_force(
        "digital", cd.forces.Custom(lambda s: {"a": -4.0 * s.discrete("u_k"), "b": s.z("clock")})
    )
    return system


def test_laws_read_integrals_and_samples(sampled_damper):
    traj = cd.simulate(sampled_damper, sampled_damper.state(u={"a": 1.0}), 1.0, accuracy=1e-6)
    # linear in each piece
    assert_allclose(traj.at(0.1 * np.arange(11))[:, 2], 0.6 ** np.arange(11), rtol=0, atol=1e-12)
    assert_allclose(traj["b"], traj.t**3 / 6, atol=1e-9)
    # In two parts it is the same run: samples keep to their clock, and are part of the state.
    first = cd.simulate(sampled_damper, sampled_damper.state(u={"a": 1.0}), 0.37, accuracy=1e-6)
    second = cd.simulate(sampled_damper, first[-1], 1.0, accuracy=1e-6)
    assert_allclose(second.y[-1], traj.y[-1], rtol=0, atol=1e-9)
    ens = cd.simulate(sampled_damper, {"u": [[1.0, 0.0], [2.0, 0.0]]}, 1.0, accuracy=1e-6)
    assert_array_equal(ens.y_end[0], traj.y[-1])
    assert_allclose(ens["u_k"][-1], 2 * 0.6**10, rtol=1e-9)


def test_ensembles_and_runs_backward():
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("m", mobilizer=cd.Slider(), mass=1.0, coordinates="x")
    system.add_force("spring", cd.forces.MobilitySpring("x", 4.0, 0.0))
    system.add_measure("area", Integral(lambda s: s.q("x")))
    system.add_measure("top", Maximum(lambda s: s.q("x")))
    system.add_measure("late", Delay(lambda s: s.q("x"), 0.3))
    start = {"u": [[2.0], [1.0]]}
    ens = cd.simulate(system, start, 2.0, accuracy=1e-6, keep="steps")
    assert_allclose([traj.measure("top")[-1] for traj in ens], [1.0, 0.5], atol=1e-5)
    assert_allclose(ens.y_end[:, 2], np.array([1, 0.5]) * (1 - np.cos(4)) / 2, atol=1e-5)
    ends = cd.simulate(system, start, 2.0, accuracy=1e-6)
    assert ends[0].table().names == ("x", "x_speed", "area")
    with pytest.raises(
        cd.errors.ShapeError,
        match="measure 'top' needs the whole run, every step: simulate with keep='steps'",
    ):
        ends[0].measure("top")
    # Backward: integrals come back; so far is from the later times on; what is late is what was earlier in
    # time.
    back = cd.simulate(system, ens[0][-1], 0.0, accuracy=1e-6)
    assert back["area"][-1] == pytest.approx(0.0, abs=1e-5)
    assert_allclose(back.measure("top", [2.0, 1.0, 0.5, 0.0]), [np.sin(4), np.sin(2), 1, 1], atol=1e-5)
    assert_allclose(back.measure("late", [2.0, 0.5, 0.1]), [np.sin(3.4), np.sin(0.4), 0], atol=1e-5)


def test_what_cannot_be(oscillator, sampled_damper):
    with pytest.raises(cd.errors.DescriptionError, match="do not happen backward in time"):
        cd.simulate(oscillator, oscillator.state(t=1.0), 0.0)
    system = cd.System()
    system.add_body("m", mobilizer=cd.Slider(), mass=1.0, coordinates="x")
    position = lambda s: s.q("x")
    for wrong, match in (
        (lambda: SampleAndHold(position), "give a period"),
        (lambda: SampleAndHold(position, 0.0), "above 0"),
        (lambda: SampleAndHold(position, 0.1, event="e"), "give a period"),
        (lambda: Delay(position, -1.0), "delay: expected one finite number .* at least 0, got -1"),
        (lambda: Delay(position, cd.Parameter("tau", 0.1)), "cannot change from state to state"),
        (lambda: system.add_force("top", Maximum(position)), r"it goes to system.add_measure"),
        (lambda: system.add_measure("top", position), r"becomes one by cd\.measures\.Maximum\("),
        (lambda: system.add_measure("x", Integral(position)), "measure 'x': a coordinate has this name"),
        (lambda: Integral(position, initial="x"), "Integral: initial: expected one finite number, got 'x'"),
    ):
        with pytest.raises(cd.errors.DescriptionError, match=match):
            wrong()
    with pytest.raises(
        cd.errors.TraceError, match="returned None; expected one number; is a return statement missing"
    ):
        Maximum(lambda s: None)
    with pytest.raises(cd.errors.TraceError, match=r"s\.q\(\) missing 1 .*asked by name"):
        Maximum(lambda s: s.q())
    system.add_measure("top", Maximum(position))
    with pytest.raises(cd.errors.DescriptionError, match="measure 'top' exists already"):
        system.add_measure("top", Minimum(position))
    system.add_force("delayed", cd.forces.Custom(lambda s: {"x": s.z("top")}))
    with pytest.raises(
        cd.errors.DescriptionError,
        match=r"force 'delayed': asks for .*, but this measure is found after the run",
    ):
        system.state()


@pytest.mark.parametrize("kind", ["measure", "discrete variable"])
def test_a_body_that_comes_later_may_not_share_a_name(kind):
    system = cd.System()
    system.add_body("m", mobilizer=cd.Slider(), mass=1.0, coordinates="x")
    if kind == "measure":
        system.add_measure("y", Maximum(lambda s: s.q("x")))
    else:
        system.add_discrete("y", 1.0)
    system.add_body("n", mobilizer=cd.Slider(), mass=1.0, coordinates="y")
    with pytest.raises(cd.errors.DescriptionError, match=f"{kind} 'y': a coordinate has this name"):
        system.state()
