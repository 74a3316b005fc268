"""Fibers in equilibrium with their tendons."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import condyle as cd

LINE = cd.paths.Path([("ground", (0, 0, 0)), ("block", (0, 0, 0))])
N = 30_000


def random_muscles(muscle, **options):
    """A System whose muscle has Parameters, and N random ones of it, slack to overstretched: a path from
    shorter than the tendon to a fiber of 2.2 optimal lengths."""
    P = cd.Parameter
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("block", mobilizer=cd.Slider(), mass=1.0)
    system.add_force(
        "m",
        muscle(LINE, P("F", 1e3), P("l0", 0.1), P("lS", 0.2), P("alpha", 0.1), P("vmax", 10.0), **options),
    )
    rng = np.random.default_rng(1)
    numbers = {
        "F": rng.uniform(10, 5000, N),
        "l0": rng.uniform(0.01, 0.5, N),
        "lS": 10 ** rng.uniform(-2, 0, N),
        "alpha": rng.choice([0, 1], N) * rng.uniform(0, 1.2, N),
        "vmax": rng.uniform(2, 20, N),
    }
    a = 10 ** rng.uniform(-2.3, 0, N)  # some below the floor
    a[:100] = 0
    L = numbers["lS"] + numbers["l0"] * np.cos(numbers["alpha"]) * rng.uniform(-0.3, 2.2, N)
    return system, numbers, a, np.maximum(L, 1e-4)[:, None]


@pytest.mark.parametrize(
    ("muscle", "shortest"),
    [
        (cd.muscles.Thelen2003, 0.01),
        (cd.muscles.Millard2012, 0.4441),
        (cd.muscles.DeGroote2016, 0.2),
        (cd.muscles.Schutte1993, 0.01),
    ],
)
def test_random_muscles(muscle, shortest):
    """Each is in balance, or its fiber is at its shortest, which the warning counts. No fiber moves. And at
    any velocity of the path and length of the fiber rates are finite."""
    system, numbers, a, L = random_muscles(muscle)
    rest = np.zeros_like(L)
    with pytest.warns(UserWarning, match="fibers at their shortest.*m \\(") as said:
        z = system.muscles.equilibrium(L, z=np.column_stack([a, np.ones(N)]), parameters=numbers)
    assert np.isfinite(z).all()
    assert (z[:, 0] == a).all()
    h = numbers["l0"] * np.sin(numbers["alpha"])
    least = np.maximum(h / np.sqrt(0.99), shortest * numbers["l0"])
    rate = system.zdot(L, rest, z=z, parameters=numbers)[:, 1]
    T = -system.forward_dynamics(L, rest, z=z, parameters=numbers)[:, 0]
    assert (T >= 0).all()
    if muscle is cd.muscles.DeGroote2016:
        # the state is a force, its rate the fiber's velocity times the tendon's stiffness
        rate = rate * numbers["lS"] / (0.2 + z[:, 1]) / (np.log(6) / 0.049)
        short = z[:, 1] < 0
    else:
        short = z[:, 1] <= least * (1 + 1e-12)
    assert 0.05 * N < short.sum() < 0.3 * N
    counted = int(str(said[0].message).split("m (")[1].split(" of")[0])
    assert abs(counted - short.sum()) <= 0.03 * N  # of some the tendon is taut
    # 1e-13 of a length times the steepest curves; a force of 50 F_0 over an activation of 0.01
    v_n = np.abs(rate / (numbers["vmax"] * numbers["l0"]))
    assert v_n.max() < (1e-6 if muscle is cd.muscles.DeGroote2016 else 1e-9)
    if muscle is not cd.muscles.DeGroote2016:  # sinh of what no fiber holds has no bounds
        rng = np.random.default_rng(2)
        z[:, 1] = numbers["l0"] * rng.uniform(0, 2.5, N)
        assert np.isfinite(system.zdot(L, 100 * rng.normal(size=L.shape), z=z, parameters=numbers)).all()


def test_of_a_state():
    """Other states, and the given state, stay; rigid tendons have nothing to balance."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("block", mobilizer=cd.Slider(), mass=1.0)
    system.add_force("m", cd.muscles.Thelen2003(LINE, 100.0, 0.1, 0.2))
    system.add_force("r", cd.muscles.Thelen2003(LINE, 100.0, 0.1, 0.2, tendon="rigid"))
    state = system.state(q=[0.31], u=[0.2], z={"m.activation": 0.4, "r.activation": 0.7})
    with pytest.warns(UserWarning, match="simulate: elastic tendons of m have their default states"):
        cd.simulate(system, state, 1e-4)
    found = system.equilibrate_muscles(state)
    assert state["m.fiber_length"] == 0.1 != found["m.fiber_length"]
    assert (found["m.activation"], found["r.activation"], found.u[0]) == (0.4, 0.7, 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert abs(system.zdot(found.q, [0.0], z=found.z)[1]) < 1e-12
        cd.simulate(system, found, 1e-4)
    with pytest.raises(cd.errors.DescriptionError, match="another system"):
        cd.models.arm26().equilibrate_muscles(state)
