"""Derivatives of forward dynamics with prescribed motions, against differences of the operator itself."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd

# Differences of order 6 at a step of 2e-3 lose some 1e-11 to truncation and rounding; M's condition is some
# hundreds.
DIFFERENCES = 1e-8
ROUNDING = 1e-11
WRT = ("q", "u", "tau", "t", "parameters")
WEIGHTS = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}


def arm(constrained: bool) -> cd.System:
    """Each level, with functions of t, q, u and Parameters; a ball driven through its quaternion; free joints
    between."""
    system, P = cd.System(), cd.Parameter
    fields = {"mass": 1.0, "com": (0.02, -0.15, 0.03), "inertia": (0.02, 0.015, 0.01, 0.001, 0, 0.002)}
    system.add_body("a", "ground", cd.Universal(), X_PF=(0, 0.1, 0), **fields)
    turn = lambda t, r, x, y: P("rate", 0.8) * np.cos(t + r) + x * y
    system.add_body(
        "b",
        "a",
        cd.Planar(),
        X_PF=(0, -0.3, 0),
        **fields,
        motion=cd.Prescribed(velocity=(turn, None, lambda t: t**2)),
    )
    system.add_body(
        "c",
        "b",
        cd.Pin(axis="x"),
        X_PF=(0, -0.3, 0),
        **fields,
        motion=cd.Prescribed(acceleration=lambda t, q, u: -P("gain", 4.0) * (q - np.sin(t)) - 0.5 * u**2),
    )
    system.add_body(
        "d",
        "c",
        cd.Ball(),
        X_PF=(0, -0.3, 0),
        **fields,
        motion=cd.Prescribed(position=lambda t: [1 + 0.1 * t, 0.3 * np.sin(t), 0.2 * t, P("turn", 0.4) * t]),
    )
    system.add_body("e", "d", cd.Pin(), X_PF=(0, -0.3, 0), **fields)
    system.add_body("f", "e", cd.Slider(), X_PF=(0, -0.3, 0), **fields)
    if constrained:
        system.add_constraint("rod", cd.constraints.Rod("ground", (0.5, 0, 0), "f", (0.1, 0, 0), 1.0))
        system.add_constraint("gear", cd.constraints.CoordinateCoupler(lambda a, b: a - b**2, ("a_rx", "e")))
    return system


@pytest.mark.parametrize("constrained", [False, True], ids=["tree", "constraints"])
def test_against_differences(monkeypatch, constrained):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = arm(constrained)
    rng = np.random.default_rng(3)
    q = np.concatenate([b.mobilizer.random_q(rng) for b in system.bodies])
    at = {
        "q": q,
        "u": rng.uniform(-1, 1, system.nu),
        "tau": rng.uniform(-1, 1, system.nu),
        "t": np.array(0.4),
        "parameters": system.default("parameters") * 1.1,
    }

    def udot(**changes):
        x = at | changes
        return system.forward_dynamics(x["q"], x["u"], x["tau"], t=float(x["t"]), parameters=x["parameters"])

    def differences(name, h=2e-3):
        n = {"q": system.nu, "t": 1, "parameters": len(system.parameters)}.get(name, system.nu)
        N = np.stack([system.qdot(q, e) for e in np.eye(system.nu)], axis=-1)
        columns = []
        for k in range(n):
            direction = N[:, k] if name == "q" else np.eye(n)[k] if name != "t" else 1.0
            columns.append(
                sum(w * udot(**{name: at[name] + i * h * direction}) for i, w in WEIGHTS.items()) / h
            )
        return np.stack(columns, axis=-1)

    arguments, options = (at["q"], at["u"], at["tau"]), {"t": 0.4, "parameters": at["parameters"]}
    J = system.jacobian("forward_dynamics", *arguments, wrt=WRT, **options)
    some = system.jacobian("forward_dynamics", *arguments, wrt=("q", "u", "tau"), **options)
    w, tangents = rng.uniform(-1, 1, system.nu), {name: rng.uniform(-1, 1, J[name].shape[-1]) for name in WRT}
    back = system.vjp("forward_dynamics", *arguments, cotangent=w, wrt=WRT, **options)
    few = system.vjp("forward_dynamics", *arguments, cotangent=w, wrt=("q", "u", "tau"), **options)
    held = [k for b in system.bodies for k in b.prescribed_speeds]
    for name in WRT:
        expected = differences(name)
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(J[name], expected, rtol=0, atol=DIFFERENCES * scale, err_msg=name)
        np.testing.assert_allclose(back[name], w @ J[name], rtol=0, atol=ROUNDING * scale, err_msg=name)
        if name in some:
            np.testing.assert_allclose(some[name], J[name], rtol=0, atol=ROUNDING * scale, err_msg=name)
            np.testing.assert_allclose(few[name], back[name], rtol=0, atol=ROUNDING * scale, err_msg=name)
        if name != "tau":
            assert np.abs(J[name][held]).max() > 1e-3, "a motion that does not depend on it tests nothing"
    np.testing.assert_array_equal(J["tau"][held], 0)
    dy = system.jvp("forward_dynamics", *arguments, tangents=tangents, **options)
    np.testing.assert_allclose(
        dy, sum(J[name] @ tangents[name] for name in WRT), rtol=0, atol=ROUNDING * np.abs(dy).max() * 10
    )


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
def test_machine_code(monkeypatch, layout):
    """Native Jacobians and gradients, one state and many, of a long spline, which costs nothing more, and of
    others."""
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    spline = cd.Spline(np.linspace(-1, 2, 40), np.sin(np.linspace(0, 7, 40)))
    for motion in (cd.Prescribed(position=spline), cd.Prescribed(velocity=lambda t, q: np.cos(t) - q)):
        system = cd.System()
        for k in range(4):
            system.add_body(
                f"b{k}",
                "ground" if not k else f"b{k - 1}",
                cd.Pin(),
                X_PF=(0, -0.3, 0),
                mass=1.0,
                com=(0, -0.15, 0),
                inertia=(0.01, 0.01, 0.01),
                motion=motion if k == 1 else None,
            )
        rng = np.random.default_rng(1)
        q, u, tau = rng.uniform(-1, 1, (3, 9, 4))
        t = np.linspace(0, 1, 9)
        J = system.jacobian("forward_dynamics", q, u, tau, wrt="q", t=t)
        back = system.vjp("forward_dynamics", q, u, tau, cotangent=np.ones(4), wrt="q", t=t)["q"]
        np.testing.assert_allclose(back, J.sum(-2), rtol=0, atol=ROUNDING * np.abs(J).max())
        h = 1e-3
        column = (
            sum(
                w * system.forward_dynamics(q + i * h * np.eye(4)[1], u, tau, t=t) for i, w in WEIGHTS.items()
            )
            / h
        )
        np.testing.assert_allclose(J[..., 1], column, rtol=0, atol=DIFFERENCES * np.abs(J).max())
        np.testing.assert_allclose(
            system.jacobian("forward_dynamics", q[3], u[3], tau[3], wrt="q", t=t[3]),
            J[3],
            rtol=0,
            atol=ROUNDING * np.abs(J).max(),
        )
