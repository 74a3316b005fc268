"""Many laws of one kind are rows of a table: the same numbers as in a straight line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.forces.base import Law
from condyle.laws.described import BodyName, Station, quantity, sx
from condyle.model.layouts import build_looped_gradient, prefers_loops
from condyle.model.looped.law_rows import FEWEST, law_kinds
from condyle.native.loops.sweep import StraightStep
from condyle.spatial import rotation_x, rotation_y
from tests.model.test_path_rows import in_both

BODIES = 6


def chain(rng: np.random.Generator, turned: bool) -> cd.System:
    system = cd.System()
    for i in range(BODIES):
        R = rotation_x(rng.uniform(-1, 1)) if turned else np.eye(3)
        system.add_body(
            f"b{i}",
            f"b{i - 1}" if i else "ground",
            cd.Pin() if i % 2 else cd.Ball(),
            X_PF=(0, -0.3, 0.05),
            X_BM=cd.Transform(R, (0.01, 0.2, 0)),
            mass=1 + i,
            inertia=(0.1, 0.2, 0.15),
        )
    return system


def laws(rng: np.random.Generator, n: int):
    """Laws of every tabular kind between random bodies, ground among them, sometimes twice the same."""
    names = ["ground", *(f"b{i}" for i in range(BODIES))]
    point = lambda: tuple(rng.uniform(-0.3, 0.3, 3))
    for _ in range(n):
        a, b = (str(x) for x in rng.choice(names, 2))
        yield cd.forces.TwoPointSpring(a, point(), b, point(), rng.uniform(10, 100), rng.uniform(0, 0.5))
        yield cd.forces.TwoPointDamper(a, point(), b, point(), rng.uniform(1, 10))
        yield cd.forces.TwoPointForce(a, point(), b, point(), rng.uniform(-10, 10))
        turned = cd.Transform(rotation_y(0.3), (0, 0.1, 0))
        yield cd.forces.LinearBushing(a, point(), b, turned, rng.uniform(1, 9, 6), rng.uniform(0, 1, 6))
        yield cd.forces.ConstantForce(b, point(), rng.uniform(-5, 5, 3))
        yield cd.forces.ConstantTorque(b, rng.uniform(-5, 5, 3))


def full(seed: int, turned: bool, alone: Law) -> cd.System:
    """A chain with tables of laws, and one that is no row."""
    rng = np.random.default_rng(seed)
    system = chain(rng, turned)
    for k, law in enumerate(laws(rng, FEWEST)):
        system.add_force(f"law{k}", law)
    system.add_force("alone", alone)
    return system


def states(system: cd.System, seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return system.compiled.normalized(rng.uniform(-1, 1, (n, system.nq))), rng.uniform(-2, 2, (n, system.nu))


@pytest.mark.parametrize("turned", [False, True])
def test_rows_equal_the_straight_line(monkeypatch, turned):
    def call(system):
        q, u = states(system, 4, 5)
        assert len(law_kinds(system.compiled.model)) == 6
        return {
            "udot": system.forward_dynamics(q, u),
            "tau": system.inverse_dynamics(q, u, u),
            "f": system.applied_forces(q, u),
            "one": system.forward_dynamics(q[0], u[0]),
            "off": system.forward_dynamics(q, u, disabled=["law3", "law8"]),
        }

    # Sums of fifty loads in another order.
    in_both(monkeypatch, lambda: full(3, turned, cd.forces.MobilitySpring("b1", 5.0, 0.1)), call, 1e-12)


def test_five_hundred_springs_are_one_kernel():
    """Their operations are counted: such a system is looped, and its code does not grow with them."""
    rng = np.random.default_rng(5)
    few, many = chain(rng, True), chain(np.random.default_rng(5), True)
    for system, n in ((few, FEWEST), (many, 500)):
        for k in range(n):
            system.add_force(
                f"s{k}",
                cd.forces.TwoPointSpring("ground", (0, 0, 0), f"b{k % BODIES}", (0, 0.1, 0), 10 + k, 0.1),
            )
    assert prefers_loops(many.compiled.model)
    assert prefers_loops(many.compiled.model, lanes=True)
    assert len(law_kinds(many.compiled.model)[0].members) == 500


def test_laws_with_parameters_stay_out():
    system = chain(np.random.default_rng(6), True)
    for k in range(FEWEST):
        k_k = cd.Parameter(f"k{k}", 10.0)
        system.add_force(f"s{k}", cd.forces.TwoPointSpring("ground", (0, 0, 0), "b1", (0, 0.1, 0), k_k, 0.1))
    assert not law_kinds(system.compiled.model)


@pytest.mark.parametrize("turned", [False, True])
def test_gradients_of_rows_equal_those_of_the_straight_line(monkeypatch, turned):
    """vjp of forward dynamics: the reverse of a pass of laws is a pass; one law is disabled, one is no
    row."""

    def call(system):
        q, u = states(system, 8, 17)
        return system.vjp("forward_dynamics", q, u, u, cotangent=u, wrt=("q", "u", "tau"), disabled=["law2"])

    alone = cd.forces.TwoPointForce("b1", (0, 0.1, 0), "b4", (0.1, 0, 0), cd.Parameter("f", 3.0))
    # Sums of a hundred terms in another order.
    in_both(monkeypatch, lambda: full(7, turned, alone), call, 1e-11)


def test_gradients_do_not_grow_with_laws(monkeypatch):
    """Ten times as many springs: no new kernel, some rows more."""
    monkeypatch.setenv("CONDYLE_LAYOUT", "looped")
    sizes = []
    for n in (FEWEST, 10 * FEWEST):
        system = chain(np.random.default_rng(5), True)
        for k in range(n):
            system.add_force(
                f"s{k}",
                cd.forces.TwoPointSpring("ground", (0, 0, 0), f"b{k % BODIES}", (0, 0.1, 0), 10 + k, 0.1),
            )
        sweep = build_looped_gradient(system.compiled.model, ("q", "u"))
        calls = [call for k in range(len(sweep.steps)) for call in sweep.merged(k).values()]
        lines = [sweep.straight(k) for k, step in enumerate(sweep.steps) if isinstance(step, StraightStep)]
        sizes.append(sum(c.function.n_instructions() for c in [*calls, *lines]))
    assert sizes[0] == sizes[1]


@dataclass(frozen=True, eq=False, repr=False)
class Lagging(Law):
    """A force along a line that follows its length with a delay: one auxiliary state."""

    tabular = True

    a: BodyName
    p_a: Station
    b: BodyName
    p_b: Station
    stiffness: Annotated[Any, quantity("N/m")]
    start: float = 0.1

    @property
    def states(self):
        return (("length", self.start),)

    def _r(self, s):
        return s.station_position(self.b, sx(self.p_b)) - s.station_position(self.a, sx(self.p_a))

    def apply(self, s, loads):
        pull = sx(self.stiffness) * s.state_named("length") * self._r(s)
        loads.add_force(self.a, sx(self.p_a), pull)
        loads.add_force(self.b, sx(self.p_b), -pull)

    def rates(self, s):
        return [5 * (ca.norm_2(self._r(s)) - s.state_variable(0))]


def test_rows_with_auxiliary_states(monkeypatch):
    """Each row reads its own z and writes its own rate; those of laws in a straight line are between them."""
    results = {}
    for layout in ("looped", "unrolled"):
        monkeypatch.setenv("CONDYLE_LAYOUT", layout)
        system, rng = chain(np.random.default_rng(3), True), np.random.default_rng(7)
        for k in range(FEWEST):
            law = Lagging(
                "ground",
                tuple(rng.uniform(-1, 1, 3)),
                f"b{k % BODIES}",
                (0, 0.1, 0),
                rng.uniform(1, 5),
                0.1 * k,
            )
            system.add_force(f"m{k}", law)
            if k == 3:
                system.add_force(
                    "motor",
                    cd.forces.Custom(
                        lambda s: {"b1": s.z("torque") * s.z("m0.length")},
                        states={"torque": 0.5},
                        zdot=lambda s: {"torque": -s.z("torque")},
                    ),
                )
        assert system.state_variables[2:6] == ("m2.length", "m3.length", "motor.torque", "m4.length")
        assert len(law_kinds(system.compiled.model)[0].members) == FEWEST
        q, u = (
            system.compiled.normalized(rng.uniform(-1, 1, (5, system.nq))),
            rng.uniform(-2, 2, (5, system.nu)),
        )
        z, off = rng.uniform(0.5, 1, (5, 9)), {"disabled": ["m2"]}
        np.testing.assert_allclose(system.zdot(q, u)[:, 4], -0.5, rtol=1e-15)  # the default of its own
        results[layout] = [
            system.zdot(q, u, z=z),
            system.zdot(q, u, z=z, **off),
            system.zdot(q[0], u[0]),
            system.forward_dynamics(q, u, z=z),
            system.forward_dynamics(q, u, z=z, **off),
        ]
        assert (results[layout][1][:, 2] == 0).all()
    for a, b in zip(*results.values(), strict=True):
        # Sums of nine loads in another order.
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(b).max())
