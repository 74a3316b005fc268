"""Limit cycles: published gaits, closed forms, derivatives of the return map against differences."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import condyle as cd
from condyle.studies.cycles.limit_cycle import _checked, _on_constraints, _Return
from condyle.studies.cycles.tangents import basis, change, displaced
from condyle.studies.cycles.variation import transition

EXAMPLE = Path(__file__).parents[2] / "examples" / "walker.py"


@pytest.fixture(scope="module")
def example():
    return runpy.run_path(str(EXAMPLE))


def simplest_walker(slope, start):
    """Garcia et al. 1998, (1)-(4), by SciPy: stance angle and rate after one step, and its duration. Feet
    have no mass, so that the stance leg is a pendulum and moves the swing leg."""

    def rates(t, y):
        theta, omega, phi, phi_rate = y
        falls = np.sin(theta - slope)
        return [omega, falls, phi_rate, falls + omega**2 * np.sin(phi) - np.cos(theta - slope) * np.sin(phi)]

    def strike(t, y):
        return y[2] - 2 * y[0] if t > 1.0 else 1.0

    strike.terminal, strike.direction = True, 1
    theta, omega = start
    run = solve_ivp(
        rates,
        (0, 10),
        [theta, omega, 2 * theta, omega * (1 - np.cos(2 * theta))],
        method="DOP853",
        rtol=1e-13,
        atol=1e-14,
        events=strike,
    )
    end = run.y[:, -1]
    return np.array([-end[0], np.cos(2 * end[0]) * end[1]]), run.t[-1]


def test_the_simplest_walker(example, evidence):
    """Garcia's two gaits at a slope of 0.009 rad: fixed points, 10 digits, and multipliers of his program
    (-0.1912 +- 0.5563i, by differences; 4.000 and 0.459), and the same walker by SciPy."""
    walker, start, strike, feet = (example[name] for name in ("walker", "start", "strike", "FEET"))
    long = cd.limit_cycle(walker, start(0.2, -0.2), strike, accuracy=1e-11)
    short = cd.limit_cycle(walker, start(0.1939, -0.2038), strike, accuracy=1e-11)
    assert long.stable and not short.stable
    assert long.residual < 1e-8 and short.residual < 1e-8
    for cycle, published in (
        (long, np.array([0.20031090049483, -0.19983247291764])),
        (short, np.array([0.19393736960624, -0.20386692731962])),
    ):
        ours = np.array([cycle.state.q[0], cycle.state.u[0]])
        evidence(
            "simplest walker (Garcia 1998), two gaits: stance angle and rate after heel strike, against "
            "his 10 digits for feet of no mass; ours have 1e-6 of the hip's",
            np.abs(ours - published).max(),
            feet,
        )
        again, period = simplest_walker(example["SLOPE"], published)
        assert np.abs(again - published).max() < 1e-9  # published to 1e-10, which grows fourfold
        evidence(
            "simplest walker: period of two gaits against another program (SciPy), relative",
            abs(cycle.period / period - 1),
            feet,
        )
        h = 1e-5 * np.eye(2)
        by_differences = np.stack(
            [
                (
                    simplest_walker(example["SLOPE"], published + d)[0]
                    - simplest_walker(example["SLOPE"], published - d)[0]
                )
                / 2e-5
                for d in h
            ],
            axis=1,
        )
        theirs = np.linalg.eigvals(by_differences)
        worst = max(np.abs(cycle.multipliers - x).min() for x in theirs)
        # a mass of the feet of 1e-4 changes them by 1.5e-3
        evidence(
            "simplest walker: multipliers of two gaits against differences by another program (SciPy)",
            worst,
            20 * feet,
        )
    first = long.multipliers[0]
    assert abs(first.real + 0.1912) < 2e-3 and abs(abs(first.imag) - 0.5563) < 2e-3
    assert abs(short.multipliers[0].real - 4.000) < 5e-3 and abs(short.multipliers[1].real - 0.459) < 1e-3


@pytest.mark.slow
def test_small_slopes(evidence):
    """Garcia 1998, appendix: as the slope vanishes a step takes 3.812092, and the stance angle is 0.970956
    slope^(1/3). The next terms are slope^(2/3) and slope."""
    text = EXAMPLE.read_text(encoding="utf-8").partition("walk = cd.limit")[0]
    periods, angles, slopes = [], [], np.array([1e-4, 1e-5])
    for slope in slopes:
        names = {}
        exec(text.replace("0.009, 1e-6", f"{slope!r}, 1e-8"), names)
        theta = 0.970956 * slope ** (1 / 3)
        cycle = cd.limit_cycle(
            names["walker"], names["start"](theta, -1.045203 * theta), names["strike"], accuracy=1e-11
        )
        periods.append(cycle.period)
        angles.append(cycle.state.q[0] / slope ** (1 / 3))
    w = slopes ** (2 / 3)
    limit = [(x[1] * w[0] - x[0] * w[1]) / (w[0] - w[1]) for x in (periods, angles)]
    # what follows is slope^(4/3), 5e-6; six digits are published
    evidence(
        "simplest walker: period where the slope vanishes, against 3.812092 of Garcia 1998",
        abs(limit[0] - 3.812092),
        1e-5,
    )
    assert abs(limit[1] - 0.970956) < 1e-5


def compass():
    """Goswami's walker on 3 degrees: legs of 1 m with 5 kg in their middle, 10 kg at the hip; and its gait
    just after a strike to four digits, as many publications start from it: angles of the legs from the
    vertical 0.2187, -0.3234, rates -1.0918, -0.3772."""
    slope, foot = np.deg2rad(3), (0, -1, 0)
    walker = cd.System(gravity=(9.81 * np.sin(slope), -9.81 * np.cos(slope), 0))
    walker.add_body(
        "stance",
        mobilizer=cd.Planar(),
        mass=15.0,
        com=(0, -1 / 6, 0),
        inertia=(10 / 12, 0, 10 / 12),
        coordinates=("stance", "x", "y"),
    )
    walker.add_body(
        "swing", "stance", cd.Pin(), mass=5.0, com=(0, -0.5, 0), inertia=(0, 0, 0), coordinates="swing"
    )
    for name, body in (("foothold", "stance"), ("landing", "swing")):
        walker.add_constraint(
            name,
            cd.constraints.PointOnLine("ground", (0, 0, 0), (0, 0, 1), body, foot),
            enabled=name == "foothold",
        )
    theta, omega = 0.2187 + slope, -1.0918
    return walker, walker.state(
        q={"stance": theta, "swing": -0.3234 - 0.2187, "x": -np.sin(theta), "y": np.cos(theta)},
        u={
            "stance": omega,
            "x": -np.cos(theta) * omega,
            "y": -np.sin(theta) * omega,
            "swing": -0.3772 - omega,
        },
    )


def differences(returns, state, h=1e-5):
    """D B by central differences of the return map."""
    end = returns(state).end
    at = lambda dx: change(end, returns(_on_constraints(displaced(state, dx))).end)
    return np.stack([(at(h * b) - at(-h * b)) / (2 * h) for b in basis(state).T], axis=1)


def test_the_compass_walker(example, evidence):
    """Goswami's, whose legs have masses of their own: all directions matter."""
    walker, state = compass()
    walk = cd.limit_cycle(walker, state, example["strike"], accuracy=1e-11)
    evidence(
        "compass walker of Goswami (3 degrees, masses 1:2:1): stance angle and rates after heel strike, "
        "against published digits",
        np.abs(change(state, walk.state)[[0, 3, 4, 7]]).max(),
        1e-3,
    )
    assert walk.stable and abs(walk.period - 0.734) < 5e-4  # [s]
    state = _on_constraints(displaced(walk.state, 0.03 * basis(walk.state)[:, 0]))
    returns = _Return(walker, _checked(walker, [example["strike"]], None), 5.0, 1e-11, "dormand-prince-8")
    D = returns.derivative(returns(state)) @ basis(state)
    assert D.shape == (8, 4) and np.abs(D).max() > 1
    evidence(
        "derivative of a walker's return map, through impact and exchange of legs, against differences",
        np.abs(D - differences(returns, state)).max() / np.abs(D).max(),
        1e-7,
    )


def test_van_der_pol(evidence):
    """No impact. The period at mu = 1 is 6.663286859323130 (known to many digits), and the multiplier the
    exponential of the mean of the divergence, Liouville."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("b", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1), coordinates="x")
    law = cd.forces.Custom(lambda s: {"x": (1 - s.q("x") ** 2) * s.u("x") - s.q("x")})
    system.add_force("pump", law)
    system.add_measure("divergence", cd.measures.Integral(lambda s: 1 - s.q("x") ** 2))
    cross = cd.Event(lambda s: s.q("x"), name="cross")
    cycle = cd.limit_cycle(system, system.state(q=[0.1], u=[-1.5]), cross, accuracy=1e-11)
    evidence(
        "Van der Pol's oscillator: period of its limit cycle, relative",
        abs(cycle.period / 6.663286859323130 - 1),
        1e-9,
    )
    run = cd.simulate(system, cycle.state, cycle.period, accuracy=1e-11)
    grown = np.exp(run[-1].z[-1] - run[0].z[-1])
    own = np.sort(np.abs(cycle.multipliers))  # the measure itself has 1
    assert cycle.iterations <= 8
    assert min(abs(own - grown)) < 1e-8
    evidence("Van der Pol's oscillator: multiplier against Liouville's formula", min(abs(own - grown)), 1e-8)


def test_events_in_the_middle_of_a_cycle():
    """A puck between two walls with drag c: it loses c per length, each wall gives 0.9 of its speed and 0.2.
    So v = (0.2 - 0.9 c) / 0.1 after a wall, 0.81 of a disturbance is left after two, and a cycle takes twice
    log(v / (v - c)) / c."""
    c = 0.05
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("puck", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1), coordinates="x")
    system.add_force("drag", cd.forces.MobilityDamper("x", c))
    right = cd.Event(
        lambda s: 1 - s.q("x"), name="right", action=cd.Reset(lambda s: {"u": {"x": -0.9 * s.u("x") - 0.2}})
    )
    left = cd.Event(
        lambda s: s.q("x"), name="left", action=cd.Reset(lambda s: {"u": {"x": -0.9 * s.u("x") + 0.2}})
    )
    cycle = cd.limit_cycle(system, system.state(q=[0.0], u=[1.0]), [right, left], section="left")
    v = (0.2 - 0.9 * c) / 0.1
    assert abs(cycle.state.u[0] - v) < 1e-8  # accuracy 1e-10 of runs, which errors of walls
    assert abs(cycle.period - 2 * np.log(v / (v - c)) / c) < 1e-8  # add up tenfold
    assert np.allclose(np.sort(np.abs(cycle.multipliers)), [0, 0.81], atol=1e-8)
    assert "stable" in repr(cycle) and cycle.stable


def test_changes_along_a_run_with_quaternions():
    """A top: what becomes of changes against differences of runs."""
    system = cd.System()
    system.add_body("top", mobilizer=cd.Ball(), mass=1.0, com=(0.02, 0, 0.1), inertia=(0.02, 0.025, 0.01))
    system.add_body("arm", "top", cd.Pin(), X_PF=(0, 0, 0.2), mass=0.2, com=(0.1, 0, 0), inertia=(1e-3,) * 3)
    start = system.state(q=[0.8, 0.4, 0.4, 0.2, 0.4], u=[1.0, -2.0, 5.0, 0.5])
    run = lambda state: cd.simulate(system, state, 0.7, accuracy=1e-11, integrator="dormand-prince-8")
    traj = run(start)
    P, h = transition(traj, traj.start, 0, len(traj.t) - 1, 1e-10), 1e-5
    at = lambda dx: change(traj[-1], run(displaced(start, dx))[-1])
    by_differences = np.stack([(at(h * e) - at(-h * e)) / (2 * h) for e in np.eye(8)], axis=1)
    assert np.abs(P - by_differences).max() < 1e-7 * np.abs(P).max()  # h^2 and 1e-11 / h


def test_a_body_that_follows_and_a_neutral_cycle():
    """A pendulum whose lower half turns as far again as the upper one swings to and fro in any cycle: one
    multiplier is 1, and that is not stable. With drag there is none but rest."""
    system = cd.System()
    rod = {"mass": 1.0, "com": (0, -0.3, 0), "inertia": (0.01,) * 3}
    system.add_body("upper", mobilizer=cd.Pin(), coordinates="hinge", **rod)
    system.add_body(
        "lower",
        "upper",
        cd.Coupled(cd.Pin(), "hinge", lambda q: 0.5 * q),
        follows="upper",
        X_PF=(0, -0.5, 0),
        **rod,
    )
    top = cd.Event(lambda s: s.u("hinge"), name="top")
    start = system.state(q={"hinge": 0.5})
    cycle = cd.limit_cycle(system, start, top)
    traj = cd.simulate(system, start, 2.0, accuracy=1e-10, events=top)
    assert abs(cycle.period - traj.events[-1].t) < 1e-8  # windows of events, and accuracy, are 1e-10
    assert np.allclose(np.sort(np.abs(cycle.multipliers)), [0, 1], atol=1e-7)
    assert not cycle.stable and "neutral" in repr(cycle)


def test_what_is_refused(example):
    walker, start, strike = (example[name] for name in ("walker", "start", "strike"))
    state = start(0.2, -0.2)
    with pytest.raises(cd.errors.DescriptionError, match="without known derivatives"):
        cd.limit_cycle(walker, state, cd.Event(strike.witness, action=lambda s: s))
    with pytest.raises(cd.errors.DescriptionError, match="needs a traced witness"):
        cd.limit_cycle(walker, state, cd.Event(every=1.0))
    with pytest.raises(cd.errors.UnknownNameError, match="strike"):
        cd.limit_cycle(walker, state, strike, section="strik")
    with pytest.raises(cd.errors.DescriptionError, match="there are no events"):
        cd.limit_cycle(walker, state, [])
    with pytest.raises(cd.errors.ConvergenceError, match="does not happen within 1 s") as lost:
        cd.limit_cycle(walker, state, strike, longest=1.0)
    assert isinstance(lost.value.nearest, cd.State)
    with pytest.raises(cd.errors.UnknownNameError, match="landing"):
        cd.Reset(caught="landin")(state)
    with pytest.raises(cd.errors.UnknownNameError, match="swing"):
        cd.Reset(lambda s: {"q": {"swin": 0.0 * s.t}})(state)
    with pytest.raises(cd.errors.DescriptionError, match="nothing to change"):
        cd.Reset()
    with pytest.raises(cd.errors.TraceError, match="expected new values as"):
        cd.Reset(lambda s: s.q("swing"))
    with pytest.raises(cd.errors.DescriptionError, match="caught and released"):
        cd.Reset(caught="landing", released=["landing"])
    timed = cd.System()
    timed.add_body("b", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1), coordinates="x")
    timed.add_force("f", cd.forces.Custom(lambda s: {"x": np.sin(s.t)}))
    with pytest.raises(cd.errors.DescriptionError, match="depends on time"):
        cd.limit_cycle(timed, timed.state(), cd.Event(lambda s: s.q("x")))
    hard = cd.System()
    hard.add_body("b", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1), coordinates="x")
    hard.add_constraint("wall", cd.constraints.Stop("x", lower=0.0))
    with pytest.raises(cd.errors.DescriptionError, match="'wall' acts one way"):
        cd.limit_cycle(hard, hard.state(), cd.Event(lambda s: s.q("x")))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"iterations": -3}, "iterations = -3 must be a whole number, at least 1"),
        ({"iterations": 2.5}, "iterations = 2.5 must be a whole number"),
        ({"accuracy": -1}, "accuracy = -1 must be between"),
        ({"accuracy": "1e-3"}, "accuracy"),
        ({"events": []}, "there are no events"),
        ({"events": lambda s: s.q("x")}, "events must be cd.Event"),
        (
            {"events": [cd.Event(lambda s: s.q("x")), cd.Event(lambda s: 1 - s.q("x"))]},
            "two events are called",
        ),
    ],
)
def test_arguments_that_cannot_be(given, words):
    puck = cd.System()
    puck.add_body("puck", mobilizer=cd.Slider(), mass=1, inertia=(1, 1, 1), coordinates="x")
    with pytest.raises(cd.errors.DescriptionError, match=words):
        cd.limit_cycle(puck, puck.state(), **{"events": cd.Event(lambda s: s.q("x")), **given})


def test_resets_that_cannot_be():
    with pytest.raises(cd.errors.DescriptionError, match="caught: expected names of constraints, got 3"):
        cd.Reset(caught=3)
    with pytest.raises(cd.errors.ArgumentError, match="there is no argument catch="):
        cd.Reset(catch="foot")
