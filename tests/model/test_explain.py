"""system.explain(state) names the first intermediate that is not finite; CONDYLE_EVALUATOR=casadi runs
without native code."""

from __future__ import annotations

import llvmlite.binding
import numpy as np
import pytest

import condyle as cd
from tests.zoo import model

EPS = np.finfo(float).eps


def arm(**laws) -> cd.System:
    """Two pins, then joints and forces that are not finite everywhere."""
    system = cd.System()
    body = {"mass": 1.0, "com": (0.1, 0.05, 0.02), "inertia": (0.1, 0.12, 0.11)}
    system.add_body("upper", mobilizer=cd.Pin(), **body)
    system.add_body("lower", "upper", cd.Pin(), X_PF=(0.3, 0, 0), **body)
    for name, law in laws.items():
        system.add_force(name, cd.forces.Custom(law))
    return system


def root(s):
    """Not a number for a negative angle."""
    return {"lower": np.sqrt(s.q("lower"))}


def test_all_is_well():
    system = arm(root=root)
    state = system.state(q=[0.4, 0.5], u=[1.0, -2.0])
    explained = system.explain(state)
    assert explained.first is None
    assert str(explained).endswith("All intermediates are finite.")
    # The same numbers as the operators', computed in another order.
    np.testing.assert_allclose(explained.values["udot of 'upper'"], state.udot[:1], rtol=200 * EPS)
    np.testing.assert_allclose(explained.values["udot of 'lower'"], state.udot[1:], rtol=200 * EPS)
    np.testing.assert_allclose(
        explained.values["body 'lower': V_GM"], state.body_velocity("lower"), rtol=0, atol=200 * EPS
    )
    np.testing.assert_allclose(explained.values["force 'root' on speed 'lower'"], np.sqrt(0.5), rtol=4 * EPS)


def test_a_force_that_is_not_a_number():
    system = arm(root=root)
    state = system.state(q=[0.4, -0.5])
    # this is the surprise that a user wants explained
    assert np.isnan(state.udot).all()
    explained = system.explain(state)
    assert explained.first == "force 'root' on speed 'lower'"
    last = str(explained).splitlines()[-1]
    assert "force 'root' on speed 'lower' = [nan]" in last and "root of a negative number" in last
    before = list(explained.values)[: list(explained.values).index(explained.first)]
    assert all(np.isfinite(explained.values[name]).all() for name in before)


def test_a_disabled_force_is_not_blamed():
    system = arm(root=root)
    state = system.state(q=[0.4, -0.5], disabled=["root"])
    assert system.explain(state).first is None
    assert np.isfinite(state.udot).all()


@pytest.mark.parametrize(
    ("law", "q", "u", "first"),
    [
        (
            lambda s: {"upper": cd.Wrench(force=(np.log(s.q("lower")), 0, 0))},
            (0.1, -0.1),
            (0, 0),
            "force 'law' on body 'upper'",
        ),
        (lambda s: {"lower": 1 / s.q("lower")}, (0.1, 0.0), (0, 0), "force 'law' on speed 'lower'"),
        (lambda s: {"lower": np.sqrt(s.u("upper"))}, (0.1, 0.0), (-1, 0), "force 'law' on speed 'lower'"),
    ],
)
def test_which_force_on_what(law, q, u, first):
    system = arm(fine=lambda s: {"upper": 1.0}, law=law)
    assert system.explain(system.state(q=q, u=u)).first == first


JOINTS = {
    "function": cd.FunctionBased(("knee",), (None, None, lambda q: np.sqrt(q + 1))),
    "custom": cd.Custom(("knee",), lambda q: (np.eye(3), (np.log(q + 1.5), 0.0, 0.0))),
    "reversed": cd.FunctionBased(("knee",), translations=(lambda q: 1 / (q + 1.2), None, None)).reversed(),
}


@pytest.mark.parametrize("name", JOINTS)
def test_a_joint_that_is_not_finite(name):
    system = arm(root=root)
    system.add_body("shank", "lower", JOINTS[name], mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    bad = {"knee": -1.2 if name == "reversed" else -2.0, "lower": -1.0}
    # both the joint and the force: the joint comes first
    first = system.explain(system.state(q=bad)).first
    assert first.startswith("mobilizer of 'shank'")
    assert system.explain(system.state(q={"knee": 0.3, "lower": 0.2})).first is None


def test_a_lock_is_no_failure():
    """Locked speeds have infinite inertia; that is meant."""
    system = arm(root=root)
    state = system.state(q=[0.4, 0.5], locked=["lower"])
    explained = system.explain(state)
    assert explained.first is None
    assert np.isinf(explained.values["inertia that speed 'lower' moves"]).all()
    np.testing.assert_array_equal(explained.values["udot of 'lower'"], [0.0])


def test_tau_is_explained_too():
    system = arm()
    state = system.state(q=[0.1, 0.2])
    explained = system.explain(state, tau=[1.0, np.nan])
    assert explained.first == "udot of 'upper'"
    np.testing.assert_allclose(
        system.explain(state, tau=[1.0, 2.0]).values["udot of 'upper'"],
        state.forward_dynamics([1.0, 2.0])[:1],
        rtol=200 * EPS,
    )


def test_lost_rank_shows_as_no_inertia():
    system = cd.System()
    system.add_body("top", mobilizer=cd.Gimbal(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    explained = system.explain(system.state(q=[0.0, np.pi / 2, 0.0]))
    moved = [float(explained.values[f"inertia that speed 'top_r{c}' moves"][0]) for c in "xyz"]
    assert min(moved) < 1e-15 < 1e-2 < max(moved)


def with_spline_knee(**laws) -> cd.System:
    """The arm with a knee that looks its translation up, and a Parameter."""
    system, x = arm(**laws), np.linspace(-2, 2, 30)
    knee = cd.FunctionBased(("knee",), (None, None, lambda q: q), (cd.Spline(x, np.sin(x)), None, None))
    system.add_body(
        "shank", "lower", knee, mass=cd.Parameter("m", 1.0), com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1)
    )
    return system


def test_splines_and_parameters_are_explained():
    """Look-ups are stages here too; every intermediate of a large system is finite and agrees with its
    operators."""
    system = with_spline_knee()
    state = system.state(q=[0.1, 0.2, 0.3], u=[1, 2, 3], parameters={"m": 2.0})
    explained = system.explain(state)
    assert explained.first is None
    np.testing.assert_allclose(explained.values["udot of 'knee'"], state.udot[2:], rtol=1000 * EPS)


def test_the_zoo(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system, at = model()
    state = system.state(
        t=at["t"], q=at["q"], u=at["u"], z=at["z"], inputs=at["inputs"], parameters=at["parameters"]
    )
    explained = system.explain(state)
    assert explained.first is None
    found = np.concatenate([explained.values[f"udot of {name!r}"] for name in system.speeds])
    # cond(M) is some 1e3
    np.testing.assert_allclose(found, state.udot, rtol=0, atol=1e-11 * np.abs(found).max())
    names = list(explained.values)
    assert (
        names.index("mobilizer of 'base': R_FM")
        < names.index("body 'base': R_GM")
        < names.index("udot of 'grip'")
    )


def test_no_native_code_is_made(monkeypatch):
    """CONDYLE_EVALUATOR=casadi: operators, states, parameters and derivatives, with the compiler out of
    reach."""

    def forbidden(*_, **__):
        raise AssertionError("native code was asked for")

    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    monkeypatch.setattr(llvmlite.binding, "parse_assembly", forbidden)
    monkeypatch.setattr(llvmlite.binding, "create_mcjit_compiler", forbidden)
    system = with_spline_knee(root=root)
    state = system.state(q=[0.1, 0.2, 0.3], parameters={"m": 2.0})
    assert np.isfinite(state.udot).all()
    assert np.isfinite(
        system.forward_dynamics(np.ones((5, 3)), np.ones(3), parameters={"m": np.arange(1.0, 6)})
    ).all()
    assert np.isfinite(system.jacobian("forward_dynamics", np.ones(3), np.ones(3), wrt="q")).all()
    assert system.explain(state).first is None
    assert all(f.report.kernels == () for f in system.compiled.functions.values())
    # instance, forward dynamics, its Jacobian
    assert len(system.compiled.functions) >= 3
