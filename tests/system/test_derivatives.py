"""jacobian, jvp and vjp of the operators against differences of high order, closed forms in mpmath, and each
other.

With respect to q derivatives are along the manifold: column j = d/de f(q + e N(q) e_j).
"""

from __future__ import annotations

from operator import attrgetter

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import condyle as cd
from tests.differences import DIFFERENCES, STEPS, WEIGHTS
from tests.forces.rig import arm, one_of_each
from tests.zoo import model

EPS = np.finfo(float).eps
# Exact derivatives, rounded: some hundred products.
ROUNDING = 2000 * EPS


@pytest.fixture(autouse=True)
def _casadi(monkeypatch):
    """Machine code is compared where a test says so."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


TAIL = ("t", "z", "inputs", "parameters")
# Operator: its arguments, the body it is asked for, and the variables it depends on.
OPERATORS = {
    "forward_dynamics": (("q", "u", "tau"), None, ("q", "u", "tau", *TAIL)),
    "inverse_dynamics": (("q", "u", "udot"), None, ("q", "u", "udot", *TAIL)),
    "body_pose": (("q",), "hand", ("q", "t", "parameters")),
    "body_poses": (("q",), None, ("q", "t", "parameters")),
    "body_velocity": (("q", "u"), "hand", ("q", "u", "t", "parameters")),
    "body_acceleration": (("q", "u", "udot"), "hand", ("q", "u", "udot", "t", "parameters")),
    "reactions": (("q", "u", "udot"), "base", ("q", "u", "udot", "t", "parameters")),
    "energy": (("q", "u"), None, ("q", "u", "t", "parameters")),
    "qdot": (("q", "u"), None, ("q", "u")),
    "zdot": (("q", "u"), None, ("q", "u", "z", "parameters")),
    "mass_matrix": (("q",), None, ("q", "t", "parameters")),
    "solve_mass_matrix": (("q", "f"), None, ("q", "f", "t", "parameters")),
    "station_jacobian": (("q", "station"), "hand", ("q", "station", "t", "parameters")),
    "momentum": (("q", "u"), None, ("q", "u", "t", "parameters")),
    "power": (("q", "u"), None, ("q", "u", *TAIL)),
    "mass_center": (("q",), None, ("q", "t", "parameters")),
    "gravity_forces": (("q",), None, ("q", "t", "parameters")),
    "applied_forces": (("q", "u"), None, ("q", "u", *TAIL)),
}


def arguments(operator, at):
    names, body, _ = OPERATORS[operator]
    arrays = [at[n] for n in names]
    if body is None:
        return arrays
    return [arrays[0], body, *arrays[1:]] if "station" in names else [*arrays, body]


def options(at, **more):
    return {**{n: at[n] for n in TAIL}, **more}


def flat(system, operator, at, **more):
    """The operator's result as jacobian sees it, shape (..., size)."""
    result = attrgetter(operator)(system)(*arguments(operator, at), **options(at, **more))
    if isinstance(result, cd.Transform):
        rows = np.concatenate([result.R.reshape(*result.R.shape[:-2], 9), result.p], -1)
        return rows.reshape(*rows.shape[:-2], -1) if operator == "body_poses" else rows
    if isinstance(result, tuple):
        return np.stack(result, -1)
    return (
        result.reshape(*result.shape[:-2], -1) if operator in ("mass_matrix", "station_jacobian") else result
    )


def differences(system, operator, at, variable, **more):
    """d result / d variable by differences, shape (size, n)."""
    x = np.atleast_1d(at[variable])
    if variable == "q":
        directions = system.qdot(at["q"], np.eye(system.nu), t=at["t"])
    else:
        directions = np.eye(len(x)) * np.maximum(1, np.abs(x)) if variable == "parameters" else np.eye(len(x))
    moved = x + STEPS[:, None, None] * directions
    # Broadcasting needs plain arrays: all others stand for every step.
    values = flat(system, operator, {**at, variable: moved[..., 0] if variable == "t" else moved}, **more)
    values = np.broadcast_to(values, (len(STEPS), len(directions), values.shape[-1]))
    slopes = np.tensordot(WEIGHTS, values, axes=1)
    return slopes.T / (np.maximum(1, np.abs(x)) if variable == "parameters" else 1)


def assert_same(found, expected, what, tolerance=DIFFERENCES):
    assert found.shape == expected.shape, what
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=tolerance * max(1, np.abs(expected).max(initial=0)), err_msg=what
    )


@pytest.mark.parametrize("operator", OPERATORS)
def test_jacobians_against_differences(operator, evidence):
    """All variables at once."""
    system, at = model()
    wrt = OPERATORS[operator][2]
    J = system.jacobian(operator, *arguments(operator, at), wrt=wrt, **options(at))
    assert tuple(J) == wrt
    worst, moves = 0.0, 0
    for variable in wrt:
        expected = differences(system, operator, at, variable)
        assert_same(J[variable], expected, f"{operator} by {variable}")
        worst = max(worst, np.abs(J[variable] - expected).max() / max(1, np.abs(expected).max()))
        moves += np.abs(expected).max() > 1e-6
    assert moves == len(wrt), "a variable that changes nothing tests nothing"
    evidence(
        "derivatives of all operators by all variables against differences of order 8, relative",
        worst,
        DIFFERENCES,
        headline="derivatives",
    )


@pytest.mark.parametrize(
    "operator", ["forward_dynamics", "inverse_dynamics", "reactions", "energy", "body_pose"]
)
def test_one_variable_and_products_agree_with_the_jacobian(operator):
    """jacobian of one variable, jvp = J v, vjp = J' w, with several variables, one state and a batch."""
    system, at = model()
    wrt = OPERATORS[operator][2]
    given, more = arguments(operator, at), options(at)
    J = system.jacobian(operator, *given, wrt=wrt, **more)
    size = J["q"].shape[0]
    assert_same(system.jacobian(operator, *given, wrt="q", **more), J["q"], "alone", ROUNDING)
    rng = np.random.default_rng(1)
    tangents = {name: rng.uniform(-1, 1, (3, J[name].shape[1])) for name in wrt}
    w = rng.uniform(-1, 1, (3, size))
    dy = system.jvp(operator, *given, tangents=tangents, **more)
    assert_same(dy, sum(tangents[n] @ J[n].T for n in wrt), "jvp", ROUNDING)
    one = system.jvp(operator, *given, tangents={n: v[1] for n, v in tangents.items()}, **more)
    assert_same(one, dy[1], "one jvp", ROUNDING)
    back = system.vjp(operator, *given, cotangent=w, wrt=wrt, **more)
    assert tuple(back) == wrt
    for name in wrt:
        assert_same(back[name], w @ J[name], f"vjp by {name}", ROUNDING)


def test_batches(monkeypatch):
    """Each state of a batch has the Jacobian it has alone; everything broadcasts. As machine code."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "native")
    system = small()
    rng = np.random.default_rng(2)
    q, u, tau = rng.uniform(-1, 1, (3, 4, 11, system.nu))
    p = rng.uniform(0.5, 1.5, (4, 1, 3))
    wrt = ("q", "u", "parameters")
    J = system.jacobian("forward_dynamics", q, u, tau, wrt=wrt, parameters=p)
    assert J["parameters"].shape == (4, 11, 2, 3)
    for i, j in ((0, 0), (1, 7), (3, 10)):
        alone = system.jacobian("forward_dynamics", q[i, j], u[i, j], tau[i, j], wrt=wrt, parameters=p[i, 0])
        for name in wrt:
            assert_same(J[name][i, j], alone[name], name, ROUNDING)
    v = system.vjp("energy", q, u, cotangent=np.ones(2), wrt=("q",), parameters=p, threads=2)["q"]
    np.testing.assert_allclose(
        v,
        system.jacobian("energy", q, u, wrt="q", parameters=p).sum(-2),
        rtol=0,
        atol=ROUNDING * np.abs(v).max(),
    )


def test_the_short_way(monkeypatch):
    """Asked again for one state, jacobian goes straight to the kernel: the same matrices, whatever form is
    asked for, and what the short way does not understand is left to the long one."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "native")
    system, wrt = small(), ("q", "u", "tau")
    q, u, tau = np.random.default_rng(5).uniform(-1, 1, (3, 2))
    ask = lambda *given, **more: system.jacobian("forward_dynamics", *given, **{"wrt": wrt, **more})
    first, zero = ask(q, u, tau), ask(q, u, 0 * tau)
    assert ("jacobian", "forward_dynamics", wrt, 3) in system.compiled.direct
    for _ in range(2):
        for found in (
            ask(q, u, tau),
            ask(q, u, tau, wrt=list(wrt)),
            ask(q.tolist(), u, tau),
            ask(q, u, tau, t=0.0),
        ):
            assert list(found) == list(wrt)
            assert all(
                np.array_equal(found[name], first[name]) and found[name].shape == (2, 2) for name in wrt
            )
        assert np.array_equal(ask(q, u)["q"], zero["q"])
        assert np.array_equal(ask(q, u, tau, wrt="u"), first["u"])
        assert [x.shape for x in ask(np.stack([q, q]), u, tau).values()] == [(2, 2, 2)] * 3
        assert ask(q, u, tau, wrt=()) == {}
        heavier = ask(q, u, tau, parameters={"m1": 3.0})["tau"]
        assert np.abs(heavier - first["tau"]).max() > 1e-2
        assert system.jacobian("energy", q, u, wrt=("q", "parameters"))["parameters"].shape == (2, 3)
    with pytest.raises(cd.errors.ShapeError, match="q: expected"):
        ask(q[:1], u, tau)
    with pytest.raises(cd.errors.ShapeError, match=r"q: coordinate .a. is nan"):
        ask(np.full(2, np.nan), u, tau)
    with pytest.raises(cd.errors.DescriptionError, match="expected the arguments"):
        ask(q)


def test_time_after_the_short_way(monkeypatch):
    """One state without t is at t = 0; many states without t are refused, also after one that was not."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "native")
    system = cd.System()
    timed = cd.FunctionBased(("turn",), (lambda t, q: q + t * q, None, None), time=True)
    system.add_body("a", mobilizer=timed, mass=1.0, com=(0, 1, 0))
    q = np.array([0.3])
    for ask in (
        lambda q: system.jacobian("forward_dynamics", q, q, q, wrt=("q",)),
        lambda q: system.vjp("forward_dynamics", q, q, q, cotangent=q, wrt=("q",)),
    ):
        for _ in range(2):
            assert ask(q)["q"].shape[-1] == 1
        with pytest.raises(cd.errors.DescriptionError, match="depends on time, and there are many states"):
            ask(np.zeros((3, 1)))


def test_machine_code(monkeypatch):
    """Native against CasADi's evaluator: a free body, a function of time, a ball, a spring and a
    thermostat."""
    system = cd.System()
    timed = cd.FunctionBased(("grip",), (None, lambda t, q: 0.3 * np.sin(q + t), lambda t, q: q), time=True)
    for name, parent, joint, mass in (
        ("base", "ground", cd.Free(), 2.0),
        ("arm", "base", cd.Ball(), cd.Parameter("m", 1.0)),
        ("hand", "arm", timed, 0.5),
    ):
        system.add_body(
            name,
            parent,
            joint,
            X_PF=(0.1, 0.2, 0),
            mass=mass,
            com=(0.03, 0, 0.01),
            inertia=(0.02, 0.03, 0.025),
        )
    system.add_force(
        "spring", cd.forces.TwoPointSpring("ground", (0, 1, 0), "arm", (0.1, 0, 0), cd.Input("k", 40.0), 0.3)
    )
    system.add_force("bath", cd.forces.NoseHooverThermostat(300.0, 0.4, boltzmann=2e-3))
    rng = np.random.default_rng(4)
    q = np.concatenate([b.mobilizer.random_q(rng) for b in system.bodies])
    at = {
        "q": q,
        "u": rng.uniform(-1, 1, system.nu),
        "tau": rng.uniform(-1, 1, system.nu),
        "t": 0.3,
        "z": rng.uniform(-0.5, 0.5, 6),
        "inputs": np.array([30.0]),
        "parameters": np.array([1.1]),
    }
    compiled, operator, wrt = system.copy(), "forward_dynamics", ("q", "u", "tau", *TAIL)
    expected = system.jacobian(operator, *arguments(operator, at), wrt=wrt, **options(at))
    monkeypatch.setenv("CONDYLE_EVALUATOR", "native")
    found = compiled.jacobian(operator, *arguments(operator, at), wrt=wrt, **options(at))
    for name in wrt:
        # M's condition number is some tens
        assert_same(found[name], expected[name], name, 100 * ROUNDING)
    back = compiled.vjp(
        operator, *arguments(operator, at), cotangent=np.ones(system.nu), wrt=wrt, **options(at)
    )
    for name in wrt:
        assert_same(back[name], expected[name].sum(0), name, 100 * ROUNDING)


def test_locked_speeds():
    """Locked speeds stay: their rows are zero, and what they would do does not reach the others."""
    system, at = model()
    mask = np.zeros(system.nu)
    mask[[2, 7, 11]] = 1
    wrt = ("q", "u", "tau", "parameters", "t")
    J = system.jacobian(
        "forward_dynamics", *arguments("forward_dynamics", at), wrt=wrt, **options(at, locked=mask)
    )
    for name in wrt:
        assert_same(J[name], differences(system, "forward_dynamics", at, name, locked=mask), name)
        np.testing.assert_array_equal(J[name][mask == 1], 0)
    np.testing.assert_array_equal(J["tau"][:, mask == 1], 0)
    back = system.vjp(
        "forward_dynamics",
        *arguments("forward_dynamics", at),
        cotangent=np.ones(system.nu),
        wrt=wrt,
        **options(at, locked=mask),
    )
    for name in wrt:
        assert_same(back[name], J[name].sum(0), name, 100 * ROUNDING)
    dy = system.jvp(
        "forward_dynamics",
        *arguments("forward_dynamics", at),
        tangents={"q": np.ones(system.nu)},
        **options(at, locked=mask),
    )
    assert_same(dy, J["q"].sum(1), "jvp", 100 * ROUNDING)


def test_disabled_forces_leave_no_derivative():
    system, at = model()
    J = system.jacobian(
        "forward_dynamics",
        *arguments("forward_dynamics", at),
        wrt=("inputs", "z", "q"),
        **options(at, disabled=["drag", "bath", "spring"]),
    )
    np.testing.assert_array_equal(J["inputs"], 0)
    np.testing.assert_array_equal(J["z"], 0)
    assert_same(
        J["q"], differences(system, "forward_dynamics", at, "q", disabled=["drag", "bath", "spring"]), "q"
    )


def test_jacobian_of_forward_dynamics_by_tau_is_the_inverse_mass_matrix():
    system, at = model()
    J = system.jacobian("forward_dynamics", *arguments("forward_dynamics", at), wrt="tau", **options(at))
    assert_same(J, system.inverse_mass_matrix(at["q"], t=at["t"], parameters=at["parameters"]), "tau", 1e-11)


def test_forward_and_inverse_dynamics_are_inverse_to_first_order():
    """dID/dq = -M dFD/dq at udot = FD(tau)."""
    system, at = model()
    udot = system.forward_dynamics(*arguments("forward_dynamics", at), **options(at))
    wrt = ("q", "u", *TAIL)
    forward = system.jacobian("forward_dynamics", at["q"], at["u"], at["tau"], wrt=wrt, **options(at))
    inverse = system.jacobian("inverse_dynamics", at["q"], at["u"], udot, wrt=wrt, **options(at))
    M = system.mass_matrix(at["q"], t=at["t"], parameters=at["parameters"])
    for name in wrt:
        # cond(M) of the zoo is some 1e3.
        assert_same(-M @ forward[name], inverse[name], name, 1e-11)


@pytest.mark.parametrize("operator", ["forward_dynamics", "inverse_dynamics"])
def test_every_force(operator):
    """One of each law of condyle.forces on an arm."""
    system = arm(**one_of_each())
    rng = np.random.default_rng(5)
    q = np.concatenate([b.mobilizer.random_q(rng) for b in system.bodies]) * 0.9
    # well beyond its stop, whose edge has no derivative
    q[system.coordinates.index("reach")] = 0.3
    at = {
        "q": q,
        **{n: rng.uniform(-1, 1, system.nu) for n in ("u", "tau", "udot")},
        "t": 0.37,
        "z": rng.uniform(-0.5, 0.5, len(system.state_variables)),
        "inputs": system.default("inputs"),
        "parameters": system.default("parameters"),
    }
    wrt = OPERATORS[operator][2]
    J = system.jacobian(operator, *arguments(operator, at), wrt=wrt, **options(at))
    for name in wrt:
        # a series of samples: cubic between, sudden at them
        if name == "t":
            continue
        # springs of 900 N/m: larger terms
        assert_same(J[name], differences(system, operator, at, name), name, 1e-8)


# ---- Closed forms ------------------------------------------------------------------------------------------


def small() -> cd.System:
    """Two point masses on rods, as test_double_pendulum of tests/verification, with Parameters m1, m2, l2."""
    m1, m2, l2 = cd.Parameter("m1", 1.1), cd.Parameter("m2", 0.7), cd.Parameter("l2", 0.8)
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body("a", mobilizer=cd.Pin(), mass=m1, com=(0, -0.9, 0))
    system.add_body("b", "a", cd.Pin(), X_PF=(0, -0.9, 0), mass=m2, com=(0, -l2, 0))
    return system


def double_pendulum(a, b, da, db, m1, m2, l2):
    """udot of `small` in mpmath; b is relative to a."""
    b, db, l1, g = a + b, da + db, mpf(0.9), mpf(9.81)
    sin, cos = mpmath.sin, mpmath.cos
    den = 2 * m1 + m2 - m2 * cos(2 * a - 2 * b)
    dda = (
        -g * (2 * m1 + m2) * sin(a)
        - m2 * g * sin(a - 2 * b)
        - 2 * sin(a - b) * m2 * (db**2 * l2 + da**2 * l1 * cos(a - b))
    ) / (l1 * den)
    ddb = (
        2
        * sin(a - b)
        * (da**2 * l1 * (m1 + m2) + g * (m1 + m2) * cos(a) + db**2 * l2 * m2 * cos(a - b))
        / (l2 * den)
    )
    return dda, ddb - dda


def exact_jacobian(f, x, size):
    """By central differences with 60 digits: errors below 1e-30."""
    with mpmath.workdps(60):
        x, h = [mpf(float(v)) for v in x], mpf(10) ** -18
        columns = []
        for k in range(len(x)):
            low, high = ([v + s * h if i == k else v for i, v in enumerate(x)] for s in (-1, 1))
            columns.append([(up - down) / (2 * h) for up, down in zip(f(*high), f(*low), strict=True)])
        return np.array(columns, dtype=float).T.reshape(size, len(x))


@pytest.mark.parametrize("evaluator", ["casadi", "native"])
def test_double_pendulum_in_60_digits(evaluator, monkeypatch, evidence):
    monkeypatch.setenv("CONDYLE_EVALUATOR", evaluator)
    system = small()
    for q, u, p in (([0.4, -1.1], [1.3, 0.6], [1.1, 0.7, 0.8]), ([-2.0, 0.3], [-0.5, 2.0], [0.6, 1.9, 0.5])):
        J = system.jacobian(
            "forward_dynamics", np.array(q), np.array(u), wrt=("q", "u", "parameters"), parameters=np.array(p)
        )
        found = np.concatenate([J["q"], J["u"], J["parameters"]], axis=1)
        expected = exact_jacobian(double_pendulum, [*q, *u, *p], 2)
        # cond(M) is some tens: 1e-12 of the largest entry is some hundred roundings.
        evidence(
            "derivatives of a double pendulum against 60 digits, relative",
            np.abs(found - expected).max() / np.abs(expected).max(),
            1e-12,
        )


def top_udot(quaternion, w, tau, I):
    """wdot = R I^-1 R' (tau - w x R I R' w) in ground, in mpmath."""
    w0, x, y, z = quaternion
    n = mpmath.sqrt(w0 * w0 + x * x + y * y + z * z)
    w0, x, y, z = w0 / n, x / n, y / n, z / n
    R = mpmath.matrix(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w0 * z), 2 * (x * z + w0 * y)],
            [2 * (x * y + w0 * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w0 * x)],
            [2 * (x * z - w0 * y), 2 * (y * z + w0 * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    D = mpmath.diag(I)
    w, tau = mpmath.matrix(w), mpmath.matrix(tau)
    L = R * D * R.T * w
    cross = mpmath.matrix([w[1] * L[2] - w[2] * L[1], w[2] * L[0] - w[0] * L[2], w[0] * L[1] - w[1] * L[0]])
    return list(R * mpmath.diag([1 / i for i in I]) * R.T * (tau - cross))


def test_top_along_the_manifold_in_60_digits(evidence):
    """The direction of q is a small rotation e in ground: q -> q + N e, whose length does not matter."""
    I = [0.1, 0.17, 0.25]
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("top", mobilizer=cd.Ball(), mass=1.0, inertia=I)
    q, w, tau = np.array([0.5, -0.5, 0.1, 0.7]), np.array([1.0, -2.0, 3.0]), np.array([0.2, 0.1, -0.3])
    q /= np.linalg.norm(q)

    def moved(e0, e1, e2, *rest):
        a, b, c, d = (mpf(float(v)) for v in q)
        turned = (
            a - (b * e0 + c * e1 + d * e2) / 2,
            b + (a * e0 + d * e1 - c * e2) / 2,  # 1/2 (0, e) q
            c + (a * e1 + b * e2 - d * e0) / 2,
            d + (a * e2 + c * e0 - b * e1) / 2,
        )
        return top_udot(turned, rest[:3], rest[3:], [mpf(i) for i in I])

    expected = exact_jacobian(moved, [0, 0, 0, *w, *tau], 3)
    J = system.jacobian("forward_dynamics", q, w, tau, wrt=("q", "u", "tau"))
    found = np.concatenate([J["q"], J["u"], J["tau"]], axis=1)
    evidence(
        "derivatives of a top by its orientation against 60 digits, relative",
        np.abs(found - expected).max() / np.abs(expected).max(),
        1e-12,
    )


def test_the_length_of_a_quaternion_does_not_matter():
    system, at = model()
    other = at | {"q": at["q"].copy()}
    other["q"][:4] *= 3.0
    J, K = (
        system.jacobian("forward_dynamics", *arguments("forward_dynamics", x), wrt="q", **options(x))
        for x in (at, other)
    )
    assert_same(K, J, "three times the quaternion", 1e-11)


# ---- Look-ups ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("evaluator", ["casadi", "native"])
def test_looked_up_splines(evaluator, monkeypatch):
    """Within a segment a spline is a cubic: all derivatives are exact there, also in joints, whose bias has
    the second."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", evaluator)
    x = np.linspace(-2, 2, 21)
    curve = cd.Spline(x, np.sin(x))
    system = cd.System()
    system.add_body(
        "a",
        mobilizer=cd.FunctionBased(
            ("a",), (None, None, lambda q: q), (curve, lambda q: curve(0.7 * q), None)
        ),
        mass=1.2,
        com=(0.1, 0.05, 0),
        inertia=(0.1, 0.1, 0.1),
    )
    system.add_body(
        "b", "a", cd.Pin(), X_PF=(0.3, 0, 0), mass=0.8, com=(0.1, 0, 0), inertia=(0.05, 0.05, 0.05)
    )
    system.add_force("law", cd.forces.Custom(lambda s: {"b": -curve(s.q("b")) * s.parameter("k", 2.0)}))
    # At least 0.06 from any knot (they are 0.2 apart, for a also at 0.2 / 0.7): eight steps of 0.01 stay
    # inside.
    at = {
        "q": np.array([0.7, -0.3]),
        "u": np.array([0.8, -1.1]),
        "tau": np.array([0.2, 0.3]),
        "udot": np.array([0.5, -0.4]),
        "t": 0.0,
        "z": np.zeros(0),
        "inputs": np.zeros(0),
        "parameters": np.array([2.0]),
    }
    for operator in ("forward_dynamics", "inverse_dynamics", "energy"):
        wrt = tuple(n for n in OPERATORS[operator][2] if n not in ("t", "z", "inputs"))
        J = system.jacobian(operator, *arguments(operator, at), wrt=wrt, **options(at))
        back = system.vjp(operator, *arguments(operator, at), cotangent=np.ones(2), wrt=wrt, **options(at))
        for name in wrt:
            assert_same(J[name], differences(system, operator, at, name), f"{operator} by {name}")
            assert_same(back[name], J[name].sum(0), f"vjp of {operator} by {name}", ROUNDING)


# ---- Refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda s, q, u: s.jacobian("forward_dynamic", q, u, wrt="q"),
            cd.errors.UnknownNameError,
            "forward_dynamic.*did you mean",
        ),
        (
            lambda s, q, u: s.jacobian("energy", q, u, wrt="tau"),
            cd.errors.UnknownNameError,
            "variable of energy.*tau",
        ),
        (
            lambda s, q, u: s.jacobian("energy", q, wrt="q"),
            cd.errors.DescriptionError,
            r"energy.*expected the arguments "
            r"\['q', 'u'\]",
        ),
        (
            lambda s, q, u: s.jacobian("body_pose", q, wrt="q"),
            cd.errors.DescriptionError,
            "body_pose.*and a body",
        ),
        (
            lambda s, q, u: s.jacobian("body_pose", q, "ground", wrt="q"),
            cd.errors.DescriptionError,
            "ground does not move",
        ),
        (lambda s, q, u: s.jacobian("body_pose", q, "haad", wrt="q"), cd.errors.UnknownNameError, "haad"),
        (
            lambda s, q, u: s.vjp("energy", q, u, cotangent=np.ones(3)),
            cd.errors.ShapeError,
            r"cotangent.*\(\.\.\., 2\)",
        ),
        (lambda s, q, u: s.jvp("energy", q, u, tangents={"q": q[:3]}), cd.errors.ShapeError, "d_q"),
        (lambda s, q, u: s.jacobian("energy", q[:-1], u, wrt="q"), cd.errors.ShapeError, "q: expected"),
        (lambda s, q, u: s.jacobian("energy", q, u, wrt="locked"), cd.errors.UnknownNameError, "locked"),
    ],
)
def test_refusals(call, error, words):
    system, at = model()
    with pytest.raises(error, match=words):
        call(system, at["q"], at["u"])


def test_without_parameters_there_are_no_columns():
    """The shape is that of every other variable: (..., nu, number of parameters)."""
    system = cd.System()
    system.add_body("a", mobilizer=cd.Pin(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    q = np.zeros((3, 1))
    assert system.jacobian("forward_dynamics", q, q, wrt="parameters").shape == (3, 1, 0)
    parts = system.jacobian("body_velocity", q[0], q[0], "a", wrt=("q", "inputs", "z"))
    assert [x.shape for x in parts.values()] == [(6, 1), (6, 0), (6, 0)]
    assert system.jacobian("energy", q, q, wrt="parameters").shape == (3, 2, 0)
    for ask in (
        lambda: system.jvp("energy", q, q, tangents={}),
        lambda: system.jvp("energy", q, q, tangents=[q]),
        lambda: system.jacobian("energy", q, q, wrt=3),
        lambda: system.vjp("energy", q, q, cotangent=[1, 0], wrt=("q", "q")),
    ):
        with pytest.raises(cd.errors.DescriptionError, match=r"tangents|wrt"):
            ask()


def test_rank_without_constraints():
    system = cd.System()
    system.add_body("a", mobilizer=cd.Pin(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    rank, condition = system.constraints.rank(np.zeros((4, 1)), np.zeros(1))
    assert rank.tolist() == [0] * 4
    assert condition.tolist() == [1.0] * 4


def test_jacobians_far_from_the_origin():
    """A free tree 10 km away: digits are lost in proportion to the distance, not to its square."""
    system = cd.System()
    system.add_body(
        "base",
        "ground",
        cd.Free(),
        X_BM=(0.1, 0.2, 0.0),
        mass=1.0,
        com=(0.1, 0.0, 0.2),
        inertia=(1.0, 1.1, 1.2),
    )
    system.add_body(
        "leg",
        "base",
        cd.Pin(),
        X_PF=(0.1, -0.2, 0.3),
        mass=1.0,
        com=(0.0, -0.2, 0.1),
        inertia=(1.0, 1.1, 1.2),
    )
    rng = np.random.default_rng(0)
    near = np.concatenate([b.mobilizer.random_q(rng) for b in system.bodies])
    far = near + 1e4 * np.array([0, 0, 0, 0, 1, 1, 1, 0])
    u, udot = rng.normal(size=(2, system.nu))
    J = [system.jacobian("inverse_dynamics", q, u, udot, wrt=("q", "u")) for q in (near, far)]
    for name in ("q", "u"):
        # 1e4 m times rounding times sums of some ten terms
        np.testing.assert_allclose(J[1][name], J[0][name], atol=1e-10)
