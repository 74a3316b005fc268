"""system.casadi: the same numbers as the operators, and CasADi's derivatives the same as ours."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import condyle as cd
from tests.system.test_derivatives import OPERATORS, arguments, flat, options
from tests.zoo import model

ROUNDING = 1e-11
"""Rounding of sums of hundreds of products, and one elimination: tables of parameters are made by expressions
here."""


@pytest.fixture(autouse=True)
def _casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_same_numbers(operator):
    system, at = model(tables=False)
    names, body, _ = OPERATORS[operator]
    f = system.casadi(operator, body)
    assert isinstance(f, ca.Function) and f.name_in()[: len(names)] == list(names)
    found = f(**{name: at[name] for name in f.name_in()})
    got = np.concatenate([np.array(found[name]).ravel() for name in f.name_out()])
    expected = flat(system, operator, at).ravel()
    assert_allclose(got, expected, rtol=0, atol=ROUNDING * max(1, np.abs(expected).max()))


def test_derivatives_by_casadi():
    system, at = model(tables=False)
    f = system.casadi("forward_dynamics")
    x = {name: ca.SX.sym(name, f.size1_in(name)) for name in f.name_in()}
    udot = f(**x)["udot"]
    for wrt in ("tau", "u", "parameters"):
        J = ca.Function("J", list(x.values()), [ca.jacobian(udot, x[wrt])])(*(at[name] for name in x))
        expected = system.jacobian(
            "forward_dynamics", *arguments("forward_dynamics", at), wrt=wrt, **options(at)
        )
        assert_allclose(np.array(J), expected, rtol=0, atol=ROUNDING * 10 * np.abs(expected).max())


def test_locks_constraints_and_what_is_left_out():
    system = cd.System()
    system.add_body("a", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=cd.Parameter("m", 2.0), inertia=(1, 1, 1))
    system.add_body("b", "a", cd.Pin(), X_BM=(0, 1, 0), mass=1, inertia=(1, 1, 1))
    system.add_constraint("tie", cd.constraints.CoordinateCoupler(lambda a, b: a - 2 * b, ("a", "b")))
    q, u = np.array([0.4, 0.2]), np.array([0.2, 0.1])
    f = system.casadi("forward_dynamics")
    assert_allclose(
        np.array(f(q=q, u=u)["udot"])[:, 0], system.forward_dynamics(q, u), rtol=0, atol=ROUNDING
    )  # m: default
    assert np.isnan(np.array(f(q=q)["udot"])).all()  # without u
    g = system.casadi("forward_dynamics", locked=["a"], disabled=["tie"])
    found = np.array(g(q=q, u=u, parameters=3.0)["udot"])[:, 0]
    assert_allclose(
        found,
        system.forward_dynamics(q, u, locked=["a"], disabled=["tie"], parameters=[3.0]),
        rtol=0,
        atol=ROUNDING,
    )
    assert found[0] == 0.0
    assert system.casadi("mass_matrix").size_out("M") == (2, 2)
    assert system.casadi("constraints.jacobian").size_out("G") == (1, 2)


def test_refusals():
    system = cd.System()
    system.add_body("a", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1))
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'forward_dynamics'"):
        system.casadi("forward_dynamic")
    with pytest.raises(cd.errors.DescriptionError, match="of which body"):
        system.casadi("body_pose")
    with pytest.raises(cd.errors.DescriptionError, match="has no body"):
        system.casadi("energy", "a")
    t = np.linspace(0, 1, 40)
    other = system.copy()
    other.add_force("push", cd.forces.MobilityForce("a", (t, np.sin(t))))
    with pytest.raises(cd.errors.DescriptionError, match="looked up in tables"):
        other.casadi("forward_dynamics")
    assert system.casadi("mass_matrix").size_out("M") == (1, 1)
