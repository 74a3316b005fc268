"""Energy, work and derivatives of muscles over a wrapping path, and their excitations."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest

import condyle as cd
from tests.muscles.test_report import evaluated

PATH = cd.paths.Path(
    [("ground", (-0.1, 0.3, 0.02)), ("arm", (0.05, -0.2, 0))],
    [cd.paths.Wrap(cd.paths.Cylinder(0.03, 0.2), "ground")],
)
NUMBERS = (500.0, 0.15, 0.35, 0.2)
MUSCLES = {
    "thelen": (cd.muscles.Thelen2003, {}),
    "millard": (cd.muscles.Millard2012, {}),
    "undamped": (cd.muscles.Millard2012, {"fiber_damping": 0.0}),
    "degroote": (cd.muscles.DeGroote2016, {}),
    "rigid": (cd.muscles.Millard2012, {"tendon": "rigid"}),
    "hill": (cd.muscles.Hill, {}),
}


def arm(muscle, **options) -> cd.System:
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1.5, com=(0, -0.2, 0), inertia=(0.02, 0.01, 0.02))
    system.add_force("m", muscle(PATH, *NUMBERS, **options))
    return system


def states(system: cd.System, name: str):
    """Some states in which the path wraps and the tendon is taut."""
    rng = np.random.default_rng(3)
    q, u = rng.uniform(0.1, 0.6, (8, 1)), rng.normal(0, 1, (8, 1))
    z = np.tile(system.default("z"), (8, 1))
    if z.size:
        z[:, 0] = rng.uniform(0.1, 1, 8)
    z = system.muscles.equilibrium(q, z=z, inputs={"m": 0.6})
    if z.shape[1] > 1:
        z[:, 1] *= 1 + 0.01 * rng.uniform(-1, 1, 8)
    return q, u, z


@pytest.mark.parametrize("name", MUSCLES)
def test_power_balance(name):
    """d(KE + PE)/dt is the power of active and damping forces: PE holds what tendons and passive fibers
    store."""
    muscle, options = MUSCLES[name]
    system = arm(muscle, **options)
    q, u, z = states(system, name)
    given = {"z": z, "inputs": {"m": 0.6}}
    udot = system.forward_dynamics(q, u, **given)
    rates = {"q": u, "u": udot} | ({"z": system.zdot(q, u, **given)} if z.size else {})
    dE = system.jvp("energy", q, u, tangents=rates, **given).sum(axis=-1)
    report = evaluated(system, lambda m, s: {k: x for k, (_, x) in m.report(s).items()}, q=q, u=u, **given)
    W, size = report["fiber_active_power"], np.abs(report["tendon_power"]) + np.abs(report["muscle_power"])
    # a fiber's velocity is found to 1e-10 (Millard, by iteration and tables: 1e-8)
    tol = 3e-8 if muscle is cd.muscles.Millard2012 else 1e-11
    np.testing.assert_allclose(dE, W, rtol=0, atol=tol * size.max())
    assert np.abs(W).max() > 0.01 * size.max() > 0
    if name in ("thelen", "millard", "degroote"):
        _derivatives_are_exact(system, q, u, z)


def test_a_slack_tendon_stores_nothing():
    """De Groote's state below zero only says how slack the tendon is: no tension, no energy, and the fiber
    shortens without a load."""
    system = arm(cd.muscles.DeGroote2016)
    q, u, z = np.full((3, 1), 0.3), np.full((3, 1), -1.0), np.array([[0.5, 0.0], [0.5, -0.05], [0.5, -0.15]])
    given = {"z": z, "inputs": {"m": 0.5}}
    report = evaluated(system, lambda m, s: {k: x for k, (_, x) in m.report(s).items()}, q=q, u=u, **given)
    np.testing.assert_array_equal(report["tendon_force"], 0)
    np.testing.assert_allclose(report["fiber_force"], 0, atol=1e-10)  # rounding of 500 N
    udot, zdot = system.forward_dynamics(q, u, **given), system.zdot(q, u, **given)
    dE = system.jvp("energy", q, u, tangents={"q": u, "u": udot, "z": zdot}, **given).sum(axis=-1)
    np.testing.assert_allclose(dE[1:], report["fiber_active_power"][1:], atol=1e-11)


@pytest.mark.parametrize("muscle", [cd.muscles.Schutte1993, cd.muscles.Delp1990, cd.muscles.RigidTendon])
def test_derivatives_of_older_muscles(muscle):
    system = arm(muscle)
    q, u, z = states(system, "")
    if muscle is cd.muscles.RigidTendon:
        z = np.zeros((8, 0))
    _derivatives_are_exact(system, q, u, z)


def _derivatives_are_exact(system, q, u, z):
    """Jacobians of rates against central differences, through solvers and tables."""
    inputs = {"m": 0.6}
    for operator in ("zdot", "forward_dynamics")[not z.size :]:
        for variable, x in (("q", q[0]), ("u", u[0]), ("z", z[0])):
            if not len(x):
                continue
            d = 1e-6 * np.eye(len(x))
            at = {"q": q[0], "u": u[0], "z": z[0]}

            def f(x, operator=operator, variable=variable, at=at):
                v = at | {variable: x}
                return attrgetter(operator)(system)(v["q"], v["u"], z=v["z"], inputs=inputs)

            differences = np.column_stack([(f(x + e) - f(x - e)) / 2e-6 for e in d])
            J = np.column_stack(
                [
                    system.jvp(operator, q[0], u[0], z=z[0], inputs=inputs, tangents={variable: e / 1e-6})
                    for e in d
                ]
            )
            np.testing.assert_allclose(J, differences, rtol=2e-5, atol=1e-5 * np.abs(differences).max())


def test_excitations():
    """A number, an Input by default, samples over time, a function of time, a Python function of time and
    state; each counts from 0 to 1."""
    times = np.linspace(0, 1, 5)
    given = {
        "zero": 0.0,
        "half": 0.5,
        "input": None,
        "table": (times, times**2),
        "own": cd.Input("drive", 0.2),
        "sine": cd.functions.Sine(0.2, 3.0, 0.0, 0.5),
        "reflex": lambda s: 0.3 + 0.5 * s.q("arm") + s.t,
        "huge": lambda s: 7 + 0 * s.t,
    }
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1.5, com=(0, -0.2, 0))
    for name, excitation in given.items():
        system.add_force(
            name, cd.muscles.Hill(PATH, *NUMBERS, activation_dynamics=True, excitation=excitation)
        )
    assert system.inputs == ("input", "drive")
    q, t, a = 0.2, 0.5, 0.3
    rates = dict(
        zip(
            (n.split(".")[0] for n in system.state_variables),
            system.zdot([q], [0.0], t=t, z=np.full(len(given), a), inputs={"input": 0.9}),
            strict=True,
        )
    )
    expected = {
        "zero": 0.0,
        "half": 0.5,
        "input": 0.9,
        "own": 0.2,
        "reflex": 0.3 + 0.5 * q + t,
        "huge": 1.0,
        "sine": 0.5 + 0.2 * np.sin(3.0 * t),
        "table": 0.25,
    }
    for name, e in expected.items():
        tau = 0.015 * (0.5 + 1.5 * a) if e > a else 0.05 / (0.5 + 1.5 * a)
        assert rates[name] == pytest.approx((e - a) / tau, rel=0.05 if name == "table" else 1e-12), name
    found = cd.simulate(system, system.state(q=[q]), 0.6, accuracy=1e-7)
    assert found(0.6)["huge.activation"] == pytest.approx(1, abs=1e-5)
    assert found(0.6)["zero.activation"] == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize(
    ("a", "e", "rate"),
    [
        (0.01, 0.0, -0.12875),
        (0.02, 0.0, -0.265),
        (0.02, 0.005, -0.19875),
        (0.05, 0.0, -0.71875),
        (0.05, 0.02, -0.43125),
        (0.05, 0.5, 78.2608695652174),
        (0.5, 1.0, 40.0),
    ],
)
def test_rates_of_activation_are_those_of_opensim(a, e, rate):
    """Numbers of OpenSim 4.6, of Thelen2003Muscle and Millard2012EquilibriumMuscle alike."""
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1.5, com=(0, -0.2, 0))
    system.add_force(
        "m",
        cd.muscles.Millard2012(
            PATH, *NUMBERS, tendon="rigid", activation_time_constant=0.01, deactivation_time_constant=0.04
        ),
    )
    assert system.zdot([0.2], [0.0], z=[a], inputs={"m": e}) == pytest.approx(rate, rel=1e-12)
    # below the least activation the force is that of the least one
    forces = [system.forward_dynamics([0.2], [0.0], z=[a], inputs={"m": e})[0] for a in (0.0, 0.01, 0.02)]
    assert forces[0] == forces[1] != forces[2]


@pytest.mark.parametrize(
    ("excitation", "words"),
    [
        (1.5, "from 0 to 1, got 1.5"),
        ("high", "got 'high'"),
        (lambda s: None, "return statement missing"),
        (lambda s: s.q("elbow"), None),
    ],
)
def test_refused_excitations(excitation, words):
    if words is None:
        with pytest.raises(cd.errors.UnknownNameError, match="elbow"):
            arm(cd.muscles.Hill, excitation=excitation)
    else:
        with pytest.raises(cd.errors.CondyleError, match=words):
            cd.muscles.Hill(PATH, *NUMBERS, excitation=excitation)


def test_curves_of_users():
    """Python functions and splines for curves: an elastic tendon with them equals the same muscle of our own
    curves."""
    C = cd.muscles
    own = C.DeGrooteForceVelocity()
    d1, d2, d3, d4 = own.D

    def velocity(v):
        return d1 * np.arcsinh(d2 * v + d3) + d4

    x = np.linspace(0.2, 2, 200)
    curves = {
        "active_force_length": C.DeGrooteActiveForceLength(),
        "passive_force_length": C.DeGrootePassiveForceLength(),
        "tendon_force_length": lambda x: 0.2 * (np.exp(np.log(6) / 0.049 * (x - 1)) - 1),
    }
    written = arm(C.Hill, tendon="elastic", force_velocity=velocity, **curves)
    ours = arm(C.Hill, tendon="elastic", force_velocity=own, **curves)
    z = ours.muscles.equilibrium([0.3], inputs={"m": 0.6}) * 1.002
    expected = ours.zdot([0.3], [0.1], z=z, inputs={"m": 0.6})
    np.testing.assert_allclose(written.zdot([0.3], [0.1], z=z, inputs={"m": 0.6}), expected, rtol=1e-9)
    spline = cd.functions.Spline(x, C.DeGrooteActiveForceLength().value(x))
    curves |= {"active_force_length": spline, "force_velocity": own}
    drawn = arm(C.Hill, tendon="elastic", **curves)
    np.testing.assert_allclose(drawn.zdot([0.3], [0.1], z=z, inputs={"m": 0.6}), expected, rtol=1e-5)
    damped = arm(C.Hill, tendon="elastic", fiber_damping=0.1, **(curves | {"force_velocity": velocity}))
    assert abs(damped.zdot([0.3], [0.1], z=z, inputs={"m": 0.6})[0]) < abs(expected[0])
    with pytest.raises(cd.errors.DescriptionError, match="must rise between -1 and 1"):
        arm(C.Hill, tendon="elastic", force_velocity=lambda v: 1 - v)
    with pytest.raises(cd.errors.DescriptionError, match="a function of one number or a Curve, got 3"):
        arm(C.Hill, active_force_length=3)


def test_a_number_that_is_none_is_not_hidden():
    """Of a user's excitation and of a user's curve: minima and maxima after it must not make it a number."""
    e, curve = (lambda s: np.sqrt(0.4 - s.q("arm"))), (lambda x: np.sqrt(1.0 - x))
    rate = arm(cd.muscles.Millard2012, excitation=e).zdot([0.5], [0.1])
    assert np.isnan(rate[0]) and np.isfinite(rate[1])
    assert np.isnan(arm(cd.muscles.Hill, excitation=e).forward_dynamics([0.5], [0.1]))
    assert np.isnan(arm(cd.muscles.Hill, active_force_length=curve).forward_dynamics([0.5], [0.1]))
    system = arm(cd.muscles.Hill, active_force_length=curve, tendon="elastic")
    assert np.isnan(system.zdot([0.5], [0.1], z=[0.16]))
    assert np.isfinite(system.zdot([0.5], [0.1], z=[0.14]))
    with pytest.raises(cd.errors.ConvergenceError, match="'m' finds no balance"):
        system.muscles.equilibrium([0.5])
