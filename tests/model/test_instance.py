"""Parameters are checked in machine code, with the table that they give; Python words the error and looks at
doubtful cases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.errors import DescriptionError, ShapeError
from condyle.model.instance import ParameterCheck
from condyle.spatial import MassProperties, exp_so3, possible_masses

P = cd.Parameter
BODY = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}


def accepted(mass: float, I: np.ndarray) -> bool:
    """By eigenvalues, in NumPy."""
    try:
        MassProperties.of(mass, (0, 0, 0), I)
    except DescriptionError:
        return False
    return True


@pytest.fixture(scope="module")
def clearly():
    """The same without eigenvalues, as the kernel has it."""
    mass, I = ca.SX.sym("mass"), ca.SX.sym("I", 3, 3)
    f = ca.Function("f", [mass, I], [possible_masses(mass, I)])
    return lambda m, x: bool(f(m, x))


# Principal moments over the largest: real bodies, points, rods and plates on the limit, and what no body has.
REAL = [(0.7, 0.8, 1.0), (0.5, 0.5, 1.0), (0.0, 1.0, 1.0), (0.3, 0.7, 1.0), (1e-9, 1.0, 1.0), (1.0, 1.0, 1.0)]
UNREAL = [(0.4, 0.5, 1.0), (0.0, 0.5, 1.0), (-1e-9, 1.0, 1.0), (0.3, 0.7 - 2e-6, 1.0), (-1.0, -1.0, -1.0)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [1e-20, 1e-3, 1.0, 1e20])
def test_real_bodies_without_eigenvalues(clearly, size, seed):
    """Turned at random: what the kernel takes Python takes, and rods and plates need no second look."""
    rng = np.random.default_rng(seed)
    R = exp_so3(rng.normal(size=3))
    for moments in REAL:
        I = size * R @ np.diag(moments) @ R.T
        I = (I + I.T) / 2
        assert accepted(1.0, I) and clearly(1.0, I)
        assert (
            not clearly(0.0, I) and not clearly(-1.0, I) and not clearly(np.inf, I) and not clearly(np.nan, I)
        )
        skewed = I + 1e-6 * size * np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0]])
        assert not clearly(1.0, skewed) and not accepted(1.0, skewed)
    for moments in UNREAL:
        I = size * R @ np.diag(moments) @ R.T
        assert not accepted(1.0, (I + I.T) / 2) and not clearly(1.0, (I + I.T) / 2)


def test_points_and_nothing_are_bodies_too(clearly):
    zero = np.zeros((3, 3))
    assert clearly(1.0, zero) and clearly(0.0, zero) and not clearly(-1.0, zero) and not clearly(np.inf, zero)
    for bad in (np.nan, np.inf):
        assert not clearly(1.0, zero + bad)


def test_bodies_with_any_inertia():
    """Models of other programs have inertias that no body has: they are accepted with Parameters as with numbers,
    as long as they are finite and symmetric."""
    s = P("s", 1.0)
    system = cd.System()
    system.add_body(
        "toes",
        mobilizer=cd.Pin(),
        mass=0.2 * s,
        inertia=(0.0, 0.0, 1e-3 * s),
        any_inertia=True,
        com=(0.1, 0, 0),
    )
    state = system.state(parameters={"s": 2.0})
    assert float(state.mass_matrix()[0, 0]) == pytest.approx(0.4 * 0.01 + 2e-3)
    mass, I = ca.SX.sym("mass"), ca.SX.sym("I", 3, 3)
    f = ca.Function("f", [mass, I], [possible_masses(mass, I, True)])
    odd = np.diag([0.0, 0.0, 1.0])
    assert f(1, odd) and not f(0, odd) and not f(1, np.diag([0.0, 0.0, np.inf])) and not f(np.nan, odd)
    assert not f(1, odd + [[0, 1e-3, 0], [0, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("seed", range(3))
def test_never_more_generous_than_python(clearly, seed):
    """Random symmetric matrices, most of them no inertias."""
    rng = np.random.default_rng(seed)
    agree = 0
    for _ in range(300):
        A = rng.normal(size=(3, 3)) * rng.uniform(0, 0.4) + np.eye(3)
        I = (A + A.T) / 2
        assert clearly(1.0, I) <= accepted(1.0, I)
        agree += clearly(1.0, I) == accepted(1.0, I)
    assert agree == 300  # none of them within a tolerance of the limit


def counted(monkeypatch, system: cd.System) -> list[Any]:
    """Calls of the closer look, in Python."""
    calls: list[Any] = []
    refuse = ParameterCheck.refuse
    monkeypatch.setattr(ParameterCheck, "refuse", lambda *a: (calls.append(a), refuse(*a))[1])
    system.state()
    return calls


def everything() -> cd.System:
    """Parameters in a body, a joint, a law with limits, a constraint; an Input beside."""
    system = cd.System(gravity=(0.0, -P("g", 9.81), 0.0))
    system.add_body(
        "a",
        mobilizer=cd.Ellipsoid((0.3, P("radius", 0.2), 0.1)),
        mass=P("mass", 2.0),
        inertia=(0.1, 0.1, P("I", 0.12)),
    )
    system.add_body(
        "b", "a", cd.compose(cd.Pin(), cd.Screw(P("pitch", 0.1))), X_PF=(P("x", 0.1), 0, 0), **BODY
    )
    system.add_force("stop", cd.forces.MobilityStop("b_angle", P("low", -1.0), P("high", 1.0), 10.0))
    system.add_force("spring", cd.forces.MobilitySpring("b_angle", cd.Input("k", 1.0) * P("times", 2.0), 0.0))
    system.add_constraint("rod", cd.constraints.Rod("ground", (1, 1, 1), "b", (0, 0, 0), P("length", 1.5)))
    return system


WRONG = {
    "radius": (-0.2, "above 0"),
    "mass": (-1.0, "mass is -1"),
    "I": (0.3, "triangle"),
    "low": (1.5, "low must be less"),
    "times": (-1.0, "stiffness"),
    "length": (-1.0, "length"),
    "g": (np.nan, "parameter 'g' is nan"),
}


def test_what_is_possible_never_comes_to_python(monkeypatch):
    system = everything()
    calls = counted(monkeypatch, system)
    q, u = system.defaults()
    for k in range(1, 4):
        p = system.default("parameters") * (1 + 0.01 * k)
        system.forward_dynamics(q, u, parameters=p)
        system.state(parameters=p).replace(t=1.0)
    system.mass_matrix(q, parameters=np.tile(p, (20, 1)))
    assert not calls


@pytest.mark.parametrize("evaluator", ["native", "casadi"])
@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_is_refused(name, evaluator, monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", evaluator)
    system, (value, words) = everything(), WRONG[name]
    calls = counted(monkeypatch, system)
    q, _ = system.defaults()
    rows = np.tile(system.default("parameters"), (20, 1))
    rows[7, system.parameters.index(name)] = value
    # numbers that are not finite: one rule for all arrays
    kind = ShapeError if np.isnan(value) else DescriptionError
    for _ in range(2):  # a refusal is not remembered as passed
        with pytest.raises(kind, match=words):
            system.mass_matrix(q, parameters=rows)
        with pytest.raises(kind, match=words):
            system.compiled.tail(parameters=rows[7])
    assert len(calls) == 4


@dataclass(frozen=True)
class Fussy(cd.forces.MobilityDamper):
    """A user's law with a check that only Python knows."""

    seen: list = field(default_factory=list, kw_only=True)

    def check_parameters(self, values):
        super().check_parameters(values)
        self.seen.append(values["c"])
        if values["c"] > 5:
            raise DescriptionError("c above 5")


def test_a_users_own_check_is_asked_once_a_change():
    system = cd.System()
    system.add_body("b", mobilizer=cd.Pin(), **BODY)
    law = Fussy("b", P("c", 1.0))
    system.add_force("fussy", law)
    state = system.state(parameters={"c": 2.0})
    law.seen.clear()
    state.replace(t=1.0, locked=["b"])
    assert not law.seen
    for _ in range(2):
        with pytest.raises(DescriptionError, match="c above 5"):
            state.replace(parameters={"c": 6.0})
    assert law.seen == [6.0, 6.0]
    with pytest.raises(DescriptionError, match="damping"):
        state.replace(parameters={"c": -1.0})


def test_numbers_inside_composed_joints_are_checked():
    system = cd.System()
    system.add_body(
        "b", mobilizer=cd.compose(cd.Ellipsoid((0.3, 0.2, P("radius", 0.1))), cd.Pin()).reversed(), **BODY
    )
    q, u = system.defaults()
    assert np.isfinite(system.qdot(q, u, parameters={"radius": 0.2})).all()
    with pytest.raises(DescriptionError, match="above 0"):
        system.qdot(q, u, parameters={"radius": -0.2})
