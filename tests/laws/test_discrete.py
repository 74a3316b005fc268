"""Discrete variables and auxiliary states of laws that users write: in states, runs, ensembles, witnesses and
actions."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import condyle as cd

TAU = 0.1
"""[s]: the lag of the motor."""


@pytest.fixture(scope="module")
def cart() -> cd.System:
    """A mass of 1 kg on a slider; its motor's force follows `gear` with a lag; `brake` is a number of the
    rail."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("cart", mobilizer=cd.Slider(), mass=1.0)
    gear = cd.Discrete("gear", 1.0)
    system.add_force(
        "motor",
        cd.forces.Custom(
            lambda s: {"cart": s.z("force")},
            states={"force": 0.25},
            zdot=lambda s: {"force": (gear - s.z("force")) / TAU},
        ),
    )
    system.add_force("rail", cd.forces.MobilityDamper("cart", cd.Discrete("brake", 0.0)))
    system.add_discrete("shifts", 0)
    return system


def test_names_and_defaults(cart):
    assert (cart.state_variables, cart.discrete) == (("motor.force",), ("gear", "brake", "shifts"))
    state = cart.state()
    assert state.z.tolist() == [0.25]
    assert state.discrete.tolist() == [1.0, 0.0, 0.0]
    assert state.udot.tolist() == [0.25]
    assert (state["motor.force"], state["gear"]) == (0.25, 1.0)
    assert "motor.force" in cart.describe()
    assert "discrete variables" in cart.describe()
    assert (
        repr(state.replace(discrete={"gear": 2})) == "State(t=0; cart=0; speeds cart=0; discrete gear=2, "
        "brake=0, shifts=0)"
    )


def test_they_change_without_compiling(cart):
    state = cart.state(u=[2.0])
    assert state.zdot().tolist() == [0.75 / TAU]
    assert state.udot.tolist() == [0.25]
    made = list(cart.compiled.functions)
    other = state.replace(discrete={"gear": 3.0, "brake": 0.5})
    assert (state.discrete[0], other.discrete[0]) == (1.0, 3.0)
    assert other.udot.tolist() == [0.25 - 0.5 * 2.0]
    assert other.zdot().tolist() == [2.75 / TAU]
    assert list(cart.compiled.functions) == made
    q, u = np.zeros((2, 1)), np.full((2, 1), 2.0)
    assert cart.forward_dynamics(q, u, discrete={"brake": np.array([0.0, 1.0])}).ravel().tolist() == [
        0.25,
        -1.75,
    ]
    assert cart.jacobian("forward_dynamics", state.q, state.u, wrt="discrete").tolist() == [[0.0, -2.0, 0.0]]
    given = np.array([1.0, 0.5, 0.0])
    assert float(cart.casadi("forward_dynamics")(q=0, u=2, tau=0, z=0.25, discrete=given)["udot"]) == -0.75
    assert cd.maximal.forward_dynamics(cart, state.q, state.u, discrete=given) == pytest.approx(-0.75)
    with pytest.raises(cd.errors.UnknownNameError, match=r"discrete variable 'geer'.*'gear'"):
        state.replace(discrete={"geer": 2.0})


def test_pickles(cart):
    state = pickle.loads(pickle.dumps(cart.state(discrete={"gear": 2.0}, z={"motor.force": 1.0})))
    assert (state["gear"], state.zdot()[0]) == (2.0, 1.0 / TAU)
    assert pickle.loads(pickle.dumps(cart.force("motor"))).states == (("force", 0.25),)


def shift(state: cd.State) -> cd.State:
    return state.replace(discrete={"gear": state["gear"] + 1, "shifts": state["shifts"] + 1})


def test_actions_change_them_and_witnesses_read_them(cart):
    """force = gear - (gear - start) e^(-t/tau) in each gear: the motor shifts where it is at 0.9 of its gear,
    up to the third."""
    up = cd.Event(
        lambda s: cd.where(s.discrete("gear") < 3, s.z("motor.force") - 0.9 * s.discrete("gear"), -1.0),
        "rising",
        action=shift,
        window=1e-9,
    )
    traj = cd.simulate(cart, cart.state(), 0.7, accuracy=1e-8, events=up)
    first = TAU * np.log(0.75 / 0.1)
    second = first + TAU * np.log(1.1 / 0.2)
    np.testing.assert_allclose([e.t for e in traj.events], [first, second], rtol=0, atol=2e-8)  # the accuracy
    assert traj(0.7)["motor.force"] == pytest.approx(3 - 1.2 * np.exp(-(0.7 - second) / TAU), abs=1e-7)
    # Just before, at and after an event.
    t = traj.events[0].t
    assert [traj(x)["gear"] for x in (t - 1e-6, t, t + 1e-6)] == [1.0, 2.0, 2.0]
    row = int(np.flatnonzero(np.diff(traj["gear"]))[0])
    assert traj.t[row] == traj.t[row + 1] == t
    assert traj.discrete.shape == (len(traj), 3)
    table = traj.table()
    assert table.names == ("cart", "cart_speed", "motor.force", "gear", "brake", "shifts")
    assert table["shifts"][-1] == 2.0
    assert traj.table([0.0, t, 0.7])["gear"].tolist() == [1.0, 2.0, 3.0]
    assert traj[row + 1 :]["gear"].tolist() == traj["gear"][row + 1 :].tolist()
    np.testing.assert_array_equal(traj.forward_dynamics()["cart"], traj.z[:, 0])
    again = pickle.loads(pickle.dumps(traj))
    np.testing.assert_array_equal(again["gear"], traj["gear"])
    on = cd.simulate(cart, traj[-1], 0.8, accuracy=1e-8)
    assert on(0.8)["gear"] == 3.0


def test_ensembles_have_their_own(cart):
    ens = cd.simulate(
        cart, {"q": np.zeros((3, 1)), "discrete": {"gear": np.array([0.25, 1.0, 2.0])}}, 0.5, accuracy=1e-8
    )
    gear = np.array([0.25, 1.0, 2.0])
    np.testing.assert_allclose(ens.y_end[:, 2], gear - (gear - 0.25) * np.exp(-0.5 / TAU), atol=1e-7)
    assert ens.table().names == ("member", "cart", "cart_speed", "motor.force", "gear", "brake", "shifts")
    assert ens["gear"].tolist() == np.repeat(gear, 2).tolist()
    assert ens[2].discrete[-1, 0] == 2.0


def test_what_cannot_be():
    motor = lambda s: {"a": s.z("x")}
    for wrong, match in (
        ({"states": {"x": 0.0}}, "states and zdot belong together"),
        ({"zdot": lambda s: {"x": 1.0}}, "states and zdot belong together"),
        ({"states": ("x",), "zdot": lambda s: {}}, "states must be a dict"),
    ):
        with pytest.raises(cd.errors.DescriptionError, match=match):
            cd.forces.Custom(motor, **wrong)
    with pytest.raises(
        cd.errors.TraceError, match=r"zdot returned \{\}; expected a dict with a rate for each of 'x'"
    ):
        cd.forces.Custom(motor, states={"x": 0.0}, zdot=lambda s: {})
    with pytest.raises(
        cd.errors.DescriptionError, match=r"asks for s.z\('x'\), but an energy depends on positions only"
    ):
        cd.forces.Potential(lambda s: s.z("x") * s.q("a"))
    with pytest.raises(cd.errors.DescriptionError, match=r"asks for s.z\('x'\)"):
        cd.constraints.Holonomic(lambda s: s.z("x") - s.q("a"))
    system = cd.System()
    with pytest.raises(cd.errors.DescriptionError, match="discrete variables act on forces"):
        system.add_body("a", mobilizer=cd.Pin(), mass=cd.Discrete("m", 1.0))
    system.add_body("a", mobilizer=cd.Slider(), mass=1.0)
    system.add_force("motor", cd.forces.Custom(motor))
    with pytest.raises(cd.errors.UnknownNameError, match=r"auxiliary state 'x'.*motor"):
        system.state()
    other = cd.System()
    other.add_discrete("n", 1)
    with pytest.raises(cd.errors.DescriptionError, match="discrete variable 'n' has the defaults 1 and 2"):
        other.add_discrete("n", 2)
