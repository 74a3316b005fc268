"""A leaf is one class: any law may ask for it, and its rates and loads follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.constraints.base import Constraint
from condyle.laws.leaves import Composed, Leaf, StationPosition

P_A, P_B, LENGTH, STIFFNESS = (0.1, 0.0, 0.3), (0.02, -0.4, 0.05), 0.9, 300.0


@dataclass(frozen=True, eq=False)
class Squared(Composed):
    """The throw-away leaf: squared distance of two stations [m^2]."""

    a: str
    p_a: tuple[float, ...]
    b: str
    p_b: tuple[float, ...]

    @property
    def label(self) -> str:
        return f"s.squared({self.a!r}, {self.b!r})"

    @property
    def parts(self) -> Sequence[Leaf]:
        return StationPosition(self.a, self.p_a), StationPosition(self.b, self.p_b)

    def expression(self, *y: ca.SX) -> ca.SX:
        return ca.sumsqr(y[1] - y[0])


LEAF = Squared("ground", P_A, "shank", P_B)


@dataclass(frozen=True, eq=False, repr=False)
class Apart(Constraint):
    """The distance by the leaf."""

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return (LEAF,)

    def equations(self, x: Sequence[ca.SX]) -> ca.SX:
        return ca.sqrt(x[0]) - LENGTH


def leg() -> cd.System:
    system = cd.System()
    system.add_body("thigh", "ground", cd.Ball(), X_BM=(0, 0.2, 0), mass=8.0, inertia=(0.1, 0.02, 0.1))
    system.add_body(
        "shank", "thigh", cd.Pin(), X_PF=(0, -0.2, 0), X_BM=(0, 0.2, 0), mass=3.0, inertia=(0.05, 0.01, 0.05)
    )
    return system


def moving(system: cd.System) -> tuple[np.ndarray, np.ndarray]:
    q = np.array([0.8, 0.1, -0.5, 0.3, 0.7])
    q[:4] /= np.linalg.norm(q[:4])
    return q, np.array([0.4, -1.1, 0.7, 2.0])


def test_a_constraint_on_it_is_a_rod():
    """sqrt(x) - L = 0 has the equations of Rod: accelerations, multipliers, errors. Rounding of some hundred
    operations."""
    mine, rod = leg(), leg()
    mine.add_constraint("apart", Apart())
    rod.add_constraint("apart", cd.constraints.Rod("ground", P_A, "shank", P_B, LENGTH))
    q, u = moving(rod)
    np.testing.assert_allclose(
        mine.constraints.jacobian(q, u), rod.constraints.jacobian(q, u), rtol=1e-13, atol=1e-14
    )
    q, u = rod.project(q, u)
    for name in ("forward_dynamics", "multipliers"):
        np.testing.assert_allclose(attrgetter(name)(mine)(q, u), attrgetter(name)(rod)(q, u), rtol=1e-11)
    assert mine.constraints.reactions(q, u, "apart").keys() == rod.constraints.reactions(q, u, "apart").keys()


def test_a_potential_and_a_force_may_ask_for_it():
    """V = k (sqrt(x) - l)^2 / 2 by the leaf against TwoPointSpring."""
    mine, spring = leg(), leg()
    mine.add_force(
        "spring", cd.forces.Potential(lambda s: STIFFNESS / 2 * (np.sqrt(s.ask(LEAF)[0]) - 0.3) ** 2)
    )
    spring.add_force("spring", cd.forces.TwoPointSpring("ground", P_A, "shank", P_B, STIFFNESS, 0.3))
    q, u = moving(mine)
    np.testing.assert_allclose(mine.forward_dynamics(q, u), spring.forward_dynamics(q, u), rtol=1e-12)
    np.testing.assert_allclose(mine.energy(q, u), spring.energy(q, u), rtol=1e-13)


def test_an_event_may_watch_it():
    """It ends the run where the distance is 0.75 m."""
    system = leg()
    near = cd.Event(lambda s: s.ask(LEAF)[0] - 0.75**2, terminal=True)
    q, u = moving(system)
    traj = cd.simulate(system, system.state(q=q, u=u), 2.0, accuracy=1e-8, events=near)
    assert traj.events
    p = traj[-1].station_position("shank", P_B)
    assert np.linalg.norm(p - np.array(P_A)) == pytest.approx(0.75, abs=1e-6)  # the window of an event


def test_it_is_checked_like_any_other():
    system = leg()
    with pytest.raises(cd.errors.UnknownNameError, match="shin"):
        system.add_force(
            "wrong", cd.forces.Potential(lambda s: s.ask(Squared("ground", P_A, "shin", P_B))[0])
        )
