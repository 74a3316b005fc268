"""What holds for every law: energy, power, the disable flag, Parameters, Inputs, pickles, inverse and forward
dynamics."""

from __future__ import annotations

import multiprocessing
import pickle

import numpy as np
import pytest

import condyle as cd
from condyle import forces
from tests.forces.rig import (
    CONSERVATIVE,
    DAMP,
    EPS,
    LINE,
    P_A,
    P_B,
    PAD,
    R_TILT,
    STIFF,
    arm,
    energy_rate,
    every_law,
    power,
    rate,
    state,
)
from tests.oracles.trees import random_tree
from tests.process import LIMIT

NAMES = tuple(every_law())


@pytest.fixture(scope="module")
def laws():
    return every_law()


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_energy_changes_by_the_power_of_what_stores_none(name, seed, laws):
    """dE/dt = power of the law, or 0 where it has a potential: E holds its energy then."""
    system = arm(**{name: laws[name]})
    q, u = state(system, seed)
    options = {"t": 0.37, "z": np.linspace(0.1, 0.6, 6)} if name == "bath" else {"t": 0.37}
    work = power(system, name, q, u, **options)

    # Powers are sums of products up to about 1e3 W here; AD and recursions round them by some hundred eps.
    expected = 0.0 if name in CONSERVATIVE else work
    assert energy_rate(system, q, u, **options) == pytest.approx(expected, abs=1e-10 * max(1.0, abs(work)))


@pytest.mark.parametrize("name", CONSERVATIVE)
def test_potential_falls_by_the_power(name, laws):
    """dV/dt = -power, gravity left out."""
    system = arm(**{name: laws[name]})
    q, u = state(system, 3)
    work = power(system, name, q, u)
    assert abs(work) > 1e-3
    fall = rate(system, "energy", q, u, 1, disabled=("gravity",))[0]
    # One chain of products either way: rounding only.
    assert fall == pytest.approx(-work, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in CONSERVATIVE])
def test_laws_without_a_store_have_no_potential(name, laws):
    system = arm(gravity=(0, 0, 0), **{name: laws[name]})
    assert system.energy(*state(system, 4))[1] == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_disabled_law_is_absent(name, laws):
    """With the law disabled the system moves as one that never had it; enabled it does not."""
    system, bare = arm(**{name: laws[name]}), arm()
    q, u = state(system, 5)
    z = {"z": np.full(6, 0.2)} if name == "bath" else {}
    on, off = system.forward_dynamics(q, u, **z), system.forward_dynamics(q, u, disabled=(name,), **z)
    expected = bare.forward_dynamics(q, u)
    assert np.abs(on - expected).max() > 1e-6
    # A term times zero may change the order of sums: rounding only.
    np.testing.assert_allclose(off, expected, rtol=1e-12, atol=1e-12)
    assert system.energy(q, u, disabled=(name,), **z)[1] == pytest.approx(bare.energy(q, u)[1], abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_inverse_undoes_forward_dynamics_with_all_laws(seed, laws):
    system = arm(**laws)
    q, u = state(system, seed)
    tau = np.random.default_rng(seed).normal(size=system.nu)
    tail = {"t": 0.2, "z": np.full(len(system.state_variables), 0.3)}
    back = system.inverse_dynamics(q, u, system.forward_dynamics(q, u, tau, **tail), **tail)
    # Forces reach 1e3; cond(M) is below 1e3 for this arm.
    np.testing.assert_allclose(back, tau, rtol=0, atol=1e3 * 1e3 * EPS)


@pytest.mark.parametrize("seed", range(3))
def test_inverse_undoes_forward_dynamics_on_random_trees(seed):
    system, q, u, tau = random_tree(seed, bodies=6)
    rng = np.random.default_rng(seed)
    for i in range(5):
        a, b = rng.choice(6, 2, replace=False)
        p = rng.uniform(-0.3, 0.3, (2, 3))
        system.add_force(f"spring{i}", forces.TwoPointSpring(f"b{a}", p[0], f"b{b}", p[1], 50.0, 0.1))
        system.add_force(f"damper{i}", forces.TwoPointDamper(f"b{b}", p[0], "ground", p[1], 2.0))
    system.add_force("bushing", forces.LinearBushing("b0", p[0], "b5", p[1], STIFF, DAMP))
    system.add_force("ether", forces.GlobalDamper(0.1))
    back = system.inverse_dynamics(q, u, system.forward_dynamics(q, u, tau))
    M = system.mass_matrix(q)
    # A backward-stable solve loses at most n cond(M) eps of the largest force, about 1e2 N here.
    np.testing.assert_allclose(back, tau, rtol=0, atol=10 * system.nu * np.linalg.cond(M) * EPS * 1e2)


INTERNAL = {
    "spring": forces.TwoPointSpring("base", P_A, "lower", P_B, 200.0, 0.3),
    "damper": forces.TwoPointDamper("base", P_A, "lower", P_B, 9.0),
    "piston": forces.TwoPointForce("upper", P_A, "lower", P_B, 7.0),
    "bushing": forces.LinearBushing("base", cd.Transform(R_TILT, P_A), "lower", P_B, STIFF, DAMP),
    "motor": forces.MobilityForce("elbow", 3.0),
    "rope": forces.PathActuator(LINE, 40.0, control=0.7),
    "strut": forces.PointToPointActuator("base", P_A, "lower", P_B, 30.0, control=0.2),
    "wheel": forces.TorqueActuator("upper", "base", (1.0, 2.0, -2.0), 5.0, control=0.4),
    "ligament": forces.Blankevoort1991Ligament(LINE, 90.0, 0.1),
    "stop": forces.MobilityStop("elbow", -0.01, 0.01, 300.0, 0.2),
    "limit": forces.CoordinateLimitForce("elbow", -0.01, 0.01, 300.0, 400.0, 0.5, 0.01),
    "bending": forces.MobilityFunction("elbow", lambda q, qdot: -30 * q**3 - qdot),
    "string": forces.TwoPointFunction("base", P_A, "lower", P_B, lambda d, ddot: 40 * d + ddot),
    "lace": forces.PathFunction(LINE, lambda s, ldot: 50 * s + ldot),
    "fibers": forces.Ligament(LINE, 0.2, 900.0),
    "pad": forces.FunctionBushing("base", cd.Transform(R_TILT, P_A), "lower", P_B, PAD, DAMP),
    "servo": forces.ActivationCoordinateActuator("elbow", 8.0, control=0.3),
    "web": forces.Potential(
        lambda s: np.sum((s.station_position("lower", P_B) - s.station_position("base", P_A)) ** 2)
    ),
}


@pytest.mark.parametrize("name", INTERNAL)
def test_internal_forces_change_no_momentum(name):
    """Newton's third law: net force and net moment of a law between bodies are zero, so momentum about a
    point stays."""
    system = arm(gravity=(0, 0, 0), **{name: INTERNAL[name]})
    q, u = state(system, 6)
    udot = system.forward_dynamics(q, u)
    assert np.abs(udot - arm(gravity=(0, 0, 0)).forward_dynamics(q, u)).max() > 1e-2
    # Forces of about 1e2 N cancel.
    np.testing.assert_allclose(
        rate(system, "momentum", q, u), 0.0, rtol=0, atol=1e4 * EPS * np.abs(udot).max()
    )


def parameters_and_constants():
    """One law with Parameters, with their values, and the same law with numbers."""
    P, I = cd.Parameter, cd.Input
    k, x = P("k", 1.0), P("x", 0.1)
    a, b = ("base", P_A), ("lower", P_B)
    yield (
        "spring",
        forces.TwoPointSpring(*a, b[0], (x, 0.15, 2 * x), 10 * k, x),
        forces.TwoPointSpring(*a, b[0], (0.3, 0.15, 0.6), 70.0, 0.3),
    )
    yield "damper", forces.TwoPointDamper(*a, *b, k), forces.TwoPointDamper(*a, *b, 7.0)
    yield "piston", forces.TwoPointForce(*a, *b, k * x), forces.TwoPointForce(*a, *b, 2.1)
    yield "torsion", forces.MobilitySpring("elbow", k, x), forces.MobilitySpring("elbow", 7.0, 0.3)
    yield "friction", forces.MobilityDamper("elbow", k), forces.MobilityDamper("elbow", 7.0)
    yield "motor", forces.MobilityForce("elbow", k), forces.MobilityForce("elbow", 7.0)
    yield "stop", forces.MobilityStop("elbow", -x, x, k, x), forces.MobilityStop("elbow", -0.3, 0.3, 7.0, 0.3)
    yield (
        "bushing",
        forces.LinearBushing("base", (x, 0, 0), "lower", None, [k] * 6, [x] * 6),
        forces.LinearBushing("base", (0.3, 0, 0), "lower", None, [7.0] * 6, [0.3] * 6),
    )
    yield "ether", forces.GlobalDamper(k), forces.GlobalDamper(7.0)
    yield (
        "thrust",
        forces.ConstantForce("upper", (x, 0, 0), (k, 0, 1)),
        forces.ConstantForce("upper", (0.3, 0, 0), (7.0, 0, 1)),
    )
    yield "twist", forces.ConstantTorque("upper", (k, x, 1)), forces.ConstantTorque("upper", (7.0, 0.3, 1))
    yield (
        "floor",
        forces.ExternalWrench("upper", (x, 0, 0), (k, 0, 1), (0, k, x), frame="body"),
        forces.ExternalWrench("upper", (0.3, 0, 0), (7.0, 0, 1), (0, 7.0, 0.3), frame="body"),
    )
    yield "rope", forces.PathActuator(LINE, k, control=x), forces.PathActuator(LINE, 7.0, control=0.3)
    yield (
        "wheel",
        forces.TorqueActuator("upper", "base", (0, 0, 1), k, control=x),
        forces.TorqueActuator("upper", "base", (0, 0, 1), 7.0, control=0.3),
    )
    yield (
        "ligament",
        forces.Blankevoort1991Ligament(LINE, k, x, x / 3, x),
        forces.Blankevoort1991Ligament(LINE, 7.0, 0.3, 0.1, 0.3),
    )
    yield (
        "limit",
        forces.CoordinateLimitForce("elbow", -x, x, k, 2 * k, x, x),
        forces.CoordinateLimitForce("elbow", -0.3, 0.3, 7.0, 14.0, 0.3, 0.3),
    )
    yield (
        "bending",
        forces.MobilityFunction("elbow", lambda q, qdot: k * q + x),
        forces.MobilityFunction("elbow", lambda q, qdot: 7.0 * q + 0.3),
    )
    yield "fibers", forces.Ligament(LINE, x, k), forces.Ligament(LINE, 0.3, 7.0)
    yield (
        "lace",
        forces.PathFunction(LINE, lambda s, ldot: k * s, x),
        forces.PathFunction(LINE, lambda s, ldot: 7.0 * s, 0.3),
    )
    yield (
        "pad",
        forces.FunctionBushing("base", None, "lower", None, [k] * 3 + [lambda y: x * y] * 3, [x] * 6),
        forces.FunctionBushing("base", None, "lower", None, [7.0] * 3 + [lambda y: 0.3 * y] * 3, [0.3] * 6),
    )
    yield (
        "jet",
        forces.PointActuator("upper", (x, 0, 0), (0, 1, 0), k, control=x),
        forces.PointActuator("upper", (0.3, 0, 0), (0, 1, 0), 7.0, control=0.3),
    )
    yield (
        "servo",
        forces.ActivationCoordinateActuator("elbow", k, control=x),
        forces.ActivationCoordinateActuator("elbow", 7.0, control=0.3),
    )
    yield (
        "gust",
        forces.ExternalWrench("upper", force=(cd.functions.Constant(k), 0.0, x)),
        forces.ExternalWrench("upper", force=(7.0, 0.0, 0.3)),
    )
    yield "bath", forces.NoseHooverThermostat(k, x), forces.NoseHooverThermostat(7.0, 0.3)
    yield (
        "held",
        forces.Custom(lambda s: {"elbow": -k * s.u("elbow")}),
        forces.Custom(lambda s: {"elbow": -7.0 * s.u("elbow")}),
    )
    yield (
        "asked",
        forces.Custom(lambda s: {"elbow": -s.parameter("k", 1.0) * s.u("elbow")}),
        forces.Custom(lambda s: {"elbow": -7.0 * s.u("elbow")}),
    )
    yield (
        "energy",
        forces.Potential(lambda s: k * s.station_position("lower", (x, 0, 0))[1] ** 2),
        forces.Potential(lambda s: 7.0 * s.station_position("lower", (0.3, 0, 0))[1] ** 2),
    )
    yield (
        "wind",
        forces.ExternalWrench("upper", force=(I("k", 1.0), 0, 1)),
        forces.ExternalWrench("upper", force=(7.0, 0, 1)),
    )


@pytest.mark.parametrize(
    ("name", "symbolic", "plain"),
    tuple(parameters_and_constants()),
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_parameters_equal_constants(name, symbolic, plain):
    """A Parameter or Input at some value is the same as that number written into the law, and needs no new
    program."""
    system, fixed = arm(law=symbolic), arm(law=plain)
    q, u = state(system, 7)
    z = {"z": np.linspace(0.1, 0.6, 6)} if name == "bath" else {}
    values = {n: v for n, v in (("k", 7.0), ("x", 0.3)) if n in (*system.parameters, *system.inputs)}
    options = {"inputs" if system.inputs else "parameters": values}
    assert values
    default = system.forward_dynamics(q, u, **z)
    program = system.compiled.function("forward_dynamics")
    changed = system.forward_dynamics(q, u, **options, **z)
    assert system.compiled.function("forward_dynamics") is program
    # The same operations on the same numbers, in perhaps another order.
    expected = fixed.forward_dynamics(q, u, **z)
    np.testing.assert_allclose(changed, expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(system.zdot(q, u, **options, **z), fixed.zdot(q, u, **z), rtol=1e-11)
    # its parameters act through zdot only
    if name != "bath":
        assert np.abs(default - expected).max() > 1e-6


def _accelerations(pickled: bytes, q, u):
    system = pickle.loads(pickled)
    return (
        system.forward_dynamics(q, u, t=0.3),
        system.compiled.key,
        [repr(system.force(name)) for name in system.forces],
    )


def test_pickles_into_a_spawned_process(laws):
    system = arm(**laws)
    q, u = state(system, 8)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        udot, key, shown = pool.apply_async(_accelerations, (pickle.dumps(system), q, u)).get(LIMIT)
    np.testing.assert_array_equal(udot, system.forward_dynamics(q, u, t=0.3))
    assert key == system.compiled.key
    assert shown == [repr(system.force(name)) for name in system.forces]


def test_native_code_agrees_with_casadi(laws, monkeypatch):
    system = arm(**laws)
    q, u = state(system, 9)
    tail = {"t": 0.2, "z": np.full(len(system.state_variables), 0.3)}
    expected = system.forward_dynamics(q, u, **tail)
    monkeypatch.delenv("CONDYLE_EVALUATOR")
    # Fused products and other sine polynomials: a few ulp in each of some thousand operations, cond(M) below
    # 1e3.
    np.testing.assert_allclose(arm(**laws).forward_dynamics(q, u, **tail), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_equality_and_repr(name, laws):
    law, again = laws[name], every_law()[name]
    assert law == again
    assert hash(law) == hash(again)
    assert law == pickle.loads(pickle.dumps(law))
    assert law != laws["twist" if name != "twist" else "thrust"]
    assert len(repr(law)) < 220
    assert law.group in ("passive", "external", "actuator")


def test_description_holds_all_digits():
    one, other = (forces.MobilitySpring("elbow", 1.0 + d, 0.0) for d in (0.0, EPS))
    assert one.description() != other.description()


def test_a_body_stands_for_its_name():
    system = arm()
    law = forces.TwoPointSpring(system.ground, P_A, system.body("lower"), P_B, 1.0, 0.1)
    assert law == forces.TwoPointSpring("ground", P_A, "lower", P_B, 1.0, 0.1)
