"""A law with an equilibrium inside: a fiber in series with a tendon, found by a solver, against its closed
form."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.forces import Force
from condyle.forces.base import Law
from condyle.laws.described import BodyName, Station, quantity, sx
from condyle.model.looped.law_rows import law_kinds
from condyle.native.solvers.implicit_function import bracketed, implicit

FIBER, TENDON, SLACK = 400.0, 3000.0, 0.1
"""Stiffness of the fiber [N/m] and of the tendon [N/m^2], whose force is quadratic; its slack length [m]."""


def balance(x, p):
    """Force of a fiber of length x less that of the tendon, which has the rest of the length p [N]; it rises
    with x."""
    strain = ca.fmax(p - x - SLACK, 0)
    return FIBER * x - TENDON * strain**2


FIBER_LENGTH = bracketed("fiber_length", balance, 1, lambda p: 0, lambda p: p)


def closed_form(length):
    """F = FIBER x = TENDON (length - SLACK - x)^2: the smaller root of a quadratic in x, without
    cancellation; 0 where slack."""
    d, k = np.maximum(length - SLACK, 0), FIBER / TENDON
    return FIBER * 2 * d**2 / (2 * d + k + np.sqrt(k * (4 * d + k)))


class MuscleTendon(Force):
    """Pulls two stations together with the force of fiber and tendon in equilibrium."""

    def __init__(self, a, p_a, b, p_b):
        self.a, self.p_a, self.b, self.p_b = a, p_a, b, p_b

    def apply(self, s, loads):
        r = s.station_position(self.b, self.p_b) - s.station_position(self.a, self.p_a)
        length = ca.norm_2(r)
        fiber, _ = ca.vertsplit(implicit(FIBER_LENGTH, balance, length))
        pull = FIBER * fiber * r / length
        loads.add_force(self.a, self.p_a, pull)
        loads.add_force(self.b, self.p_b, -pull)


class ClosedForm(MuscleTendon):
    """The same without a solver."""

    def apply(self, s, loads):
        r = s.station_position(self.b, self.p_b) - s.station_position(self.a, self.p_a)
        length = ca.norm_2(r)
        d, k = ca.fmax(length - SLACK, 0), FIBER / TENDON
        pull = FIBER * 2 * d**2 / (2 * d + k + ca.sqrt(k * (4 * d + k))) * r / length
        loads.add_force(self.a, self.p_a, pull)
        loads.add_force(self.b, self.p_b, -pull)


PLACES = (
    ("ground", (0.1, 0.05, 0), "upper", (0, -0.1, 0.02)),
    ("upper", (0.02, -0.05, 0), "lower", (0.03, -0.08, 0)),
    ("ground", (-0.2, 0.1, 0.05), "lower", (0, -0.2, 0)),
)


def arm(law, muscles=PLACES) -> cd.System:
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body(
        "upper", mobilizer=cd.Pin(), X_PF=(0, 0, 0), mass=1.5, com=(0, -0.15, 0), inertia=(0.02, 0.01, 0.02)
    )
    system.add_body(
        "lower", "upper", cd.Pin(), X_PF=(0, -0.3, 0), mass=1.0, com=(0, -0.12, 0), inertia=(0.01, 0.01, 0.01)
    )
    for k, place in enumerate(muscles):
        system.add_force(f"muscle{k}", law(*place))
    return system


@pytest.fixture(params=["unrolled", "looped"])
def layout(request, monkeypatch):
    monkeypatch.setenv("CONDYLE_LAYOUT", request.param)
    return request.param


def states(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (n, 2)), rng.uniform(-2, 2, (n, 2))


def test_operators_see_the_equilibrium(layout):
    """One state and many, forward and inverse dynamics, against the closed form written as another law."""
    q, u = states(37)
    solved, closed = arm(MuscleTendon), arm(ClosedForm)
    for name in ("forward_dynamics", "inverse_dynamics", "applied_forces"):
        arguments = (q, u, u) if name == "inverse_dynamics" else (q, u)
        found, expected = (attrgetter(name)(system)(*arguments) for system in (solved, closed))
        # The last step of the root is below 1e-10, and implicit() makes another.
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
        alone = np.stack([attrgetter(name)(solved)(*(x[i] for x in arguments)) for i in range(5)])
        np.testing.assert_array_equal(alone, found[:5]) if layout == "looped" else np.testing.assert_allclose(
            alone, found[:5], rtol=0, atol=1e-13 * np.abs(found).max()
        )


def test_casadi_says_the_same(monkeypatch):
    q, u = states(5)
    found = arm(MuscleTendon).forward_dynamics(q, u)
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    np.testing.assert_allclose(
        arm(MuscleTendon).forward_dynamics(q, u), found, rtol=0, atol=1e-13 * np.abs(found).max()
    )


def test_slack_is_found_too():
    """Below its slack length the tendon pulls nothing, and the fiber has no length."""
    assert closed_form(0.05) == 0
    system = arm(MuscleTendon, [("ground", (0, 0.01, 0), "upper", (0, -0.04, 0))])
    free = arm(MuscleTendon, [])
    np.testing.assert_allclose(
        system.forward_dynamics([0.3, 0.1], [0, 0]), free.forward_dynamics([0.3, 0.1], [0, 0]), rtol=1e-12
    )


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics"])
def test_derivatives_are_those_of_the_closed_form(layout, name):
    """jacobian, jvp and vjp, of one state and of lanes."""
    q, u = states(17, 1)
    solved, closed = arm(MuscleTendon), arm(ClosedForm)

    def asked(system, *x):
        return [
            *system.jacobian(name, *x, wrt=("q", "u")).values(),
            system.jvp(name, *x, tangents={"q": x[2], "u": x[1]}),
            *system.vjp(name, *x, cotangent=x[1], wrt=("q", "u")).values(),
        ]

    for x in ((q, u, u), (q[0], u[0], u[0])):
        for a, b in zip(asked(solved, *x), asked(closed, *x), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-11 * max(1, np.abs(b).max()))


# ---- Runs --------------------------------------------------------------------------------------------------

START, SPEED = np.array([0.4, 0.3]), np.array([0.5, -1.0])


@pytest.mark.parametrize("method", ["dormand-prince", "rodas"])
def test_runs_follow_the_closed_form(layout, method):
    """One run, and an Ensemble with more members than lanes; rodas needs the derivatives of the root."""
    solved, closed = arm(MuscleTendon), arm(ClosedForm)
    a, b = (
        cd.simulate(s, s.state(q=START, u=SPEED), 0.2, step=1e-3, integrator=method) for s in (solved, closed)
    )
    # Equal steps, on which rounding grows a little: speeds of 30 rad/s.
    np.testing.assert_allclose(a.u, b.u, rtol=0, atol=1e-9)
    starts = [solved.state(q=START + 0.01 * k, u=SPEED) for k in range(9)]
    members = cd.simulate(solved, starts, 0.2, accuracy=1e-6, integrator=method)
    assert members.finished.all()
    for k in (0, 8):
        alone = cd.simulate(
            closed, closed.state(q=starts[k].q, u=SPEED), 0.2, accuracy=1e-6, integrator=method
        )
        # Errors are estimated by differences that leave eight digits, and steps follow.
        np.testing.assert_allclose(members.y_end[k, :2], alone.q[-1], rtol=0, atol=1e-7)


class Driven(Force):
    """A generalized force that a root of time and state gives: x^3 + x = t^2 + q."""

    def apply(self, s, loads):
        p = ca.vertcat(s.t, s.coordinate("upper"))
        loads.add_mobility("upper", 5 * implicit(DRIVE, cubic, p)[0])


def cubic(x, p):
    return x**3 + x - ca.if_else(p[0] > 0.1, p[0] ** 2, 0) - p[1]


DRIVE = bracketed("drive", cubic, 2, lambda p: -9, lambda p: 9)


def test_time_within_a_solver():
    """Such a law depends on time: many states need t, and runs look for what happens in time."""
    system = arm(MuscleTendon, [])
    system.add_force("drive", Driven())
    with pytest.raises(cd.errors.DescriptionError, match="force 'drive' depends on time"):
        system.forward_dynamics(np.zeros((3, 2)), np.zeros((3, 2)))
    t = np.array([0.0, 0.05, 0.2])
    tau = system.applied_forces(np.tile(START, (3, 1)), np.zeros((3, 2)), t=t)[:, 0]
    x = tau / 5
    np.testing.assert_allclose(x**3 + x, np.where(t > 0.1, t**2, 0) + START[0], rtol=1e-13)
    traj = cd.simulate(system, system.state(q=START, u=SPEED), 0.3, accuracy=1e-6)
    assert np.isfinite(traj.q).all()


# ---- Rows of a table ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Muscle(Law):
    """The same as one kind of many: a row of a table has the solver in its kernel."""

    tabular = True

    a: BodyName
    p_a: Station
    b: BodyName
    p_b: Station
    strength: Annotated[Any, quantity("-", lowest=0.0)]

    def apply(self, s, loads):
        r = s.station_position(self.b, sx(self.p_b)) - s.station_position(self.a, sx(self.p_a))
        length = ca.norm_2(r)
        pull = sx(self.strength) * FIBER * implicit(FIBER_LENGTH, balance, length)[0] * r / length
        loads.add_force(self.a, sx(self.p_a), pull)
        loads.add_force(self.b, sx(self.p_b), -pull)


def test_muscles_as_rows(monkeypatch):
    """Thirty muscles: one kernel with one solver by loops, one stage of thirty calls in a straight line."""
    results = {}
    q, u = states(19, 5)
    for layout in ("looped", "unrolled"):
        monkeypatch.setenv("CONDYLE_LAYOUT", layout)
        system, rng = arm(MuscleTendon, []), np.random.default_rng(6)
        for k in range(30):
            a, p_a, b, p_b = PLACES[k % 3]
            system.add_force(f"m{k}", Muscle(a, p_a + rng.uniform(-0.02, 0.02, 3), b, p_b, rng.uniform(0, 1)))
        assert len(law_kinds(system.compiled.model)) == 1
        gradients = system.vjp("forward_dynamics", q, u, u, cotangent=u, wrt=("q", "u"))
        results[layout] = [
            system.forward_dynamics(q, u),
            system.forward_dynamics(q[0], u[0]),
            *gradients.values(),
        ]
    for a, b in zip(*results.values(), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(b).max())


@pytest.mark.parametrize("kept", ["on disk", "in memory"])
def test_another_model_compiles_no_solver(kept, monkeypatch, tmp_path):
    """A solver depends on no model: its machine code has its own entry in the cache and is linked.

    Both models have two muscles, whose solver runs them side by side; one muscle alone has another."""
    from condyle.native.machine import jit
    from condyle.native.tables import linked

    monkeypatch.setattr(linked, "_compiled", {})
    monkeypatch.setenv("CONDYLE_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("CONDYLE_CACHE", "on" if kept == "on disk" else "off")
    texts, compile_ir = [], jit.compile_ir
    monkeypatch.setattr(jit, "compile_ir", lambda text: texts.append(text) or compile_ir(text))
    results = []
    for muscles in (PLACES[:2], PLACES[1:]):
        system = arm(MuscleTendon, muscles)
        results.append(system.forward_dynamics([0.3, -0.4], [0.1, 0.2]))
        if kept == "on disk":
            linked._compiled.clear()
    assert sorted("define void @solver.fiber_length" in text for text in texts) == [False, False, True]
    assert not np.array_equal(*results)
    expected = arm(ClosedForm, PLACES[1:]).forward_dynamics([0.3, -0.4], [0.1, 0.2])
    # the solver's tolerance
    np.testing.assert_allclose(results[1], expected, rtol=0, atol=1e-9 * np.abs(expected).max())
