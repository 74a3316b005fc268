"""Curves of muscles against the numbers of OpenSim 4.6 (tests/data/muscle_curves)."""

from __future__ import annotations

import csv
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import condyle as cd
import condyle.muscles as C
from condyle.muscles import activation

DATA = Path(__file__).parents[1] / "data" / "muscle_curves"
UNDAMPED = C.MillardForceVelocity(0.125, 0.25, 5.0, 0.075, 0.15)

CURVES = {
    "degroote2016_active_force_length": (C.DeGrooteActiveForceLength(), "x", "value"),
    "degroote2016_active_force_length_width1.2": (C.DeGrooteActiveForceLength(1.2), "x", "value"),
    "degroote2016_passive_force_length": (C.DeGrootePassiveForceLength(), "x", "value"),
    "degroote2016_passive_force_length_strain0.4": (C.DeGrootePassiveForceLength(0.4), "x", "value"),
    "degroote2016_tendon_force_length": (C.DeGrooteTendonForceLength(), "x", "value"),
    "degroote2016_tendon_force_length_strain0.033": (C.DeGrooteTendonForceLength(0.033), "x", "value"),
    "degroote2016_force_velocity": (C.DeGrooteForceVelocity(), "x", "value"),
    "thelen2003_fiber_force_length": (C.ThelenActiveForceLength(), "norm_fiber_length", "active_multiplier"),
    "thelen2003_fiber_force_length passive": (
        C.ThelenPassiveForceLength(),
        "norm_fiber_length",
        "passive_multiplier",
    ),
    "thelen2003_tendon_force_length": (C.ThelenTendonForceLength(), "norm_tendon_length", "norm_force"),
    "millard2012_active_force_length": (C.MillardActiveForceLength(), "x", "value"),
    "millard2012_muscle_damped0.1_active_force_length": (C.MillardActiveForceLength(least=0.0), "x", "value"),
    "millard2012_passive_force_length": (C.MillardPassiveForceLength(), "x", "value"),
    "millard2012_tendon_force_length": (C.MillardTendonForceLength(), "x", "value"),
    "millard2012_force_velocity": (C.MillardForceVelocity(), "x", "value"),
    "millard2012_muscle_undamped_force_velocity": (UNDAMPED, "x", "value"),
}
INVERSES = {
    "degroote2016_tendon_force_length_inverse": C.DeGrooteTendonForceLength(),
    "degroote2016_force_velocity_inverse": C.DeGrooteForceVelocity(),
    "millard2012_force_velocity_inverse_default": C.MillardForceVelocity(0.1, 0.25, 5.0, 0.1, 0.15),
    "millard2012_muscle_undamped_force_velocity_inverse": UNDAMPED,
}


def table(name: str) -> dict[str, np.ndarray]:
    with open(DATA / f"{name.split()[0]}.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {
        k: np.array([r[k] for r in rows]) if k == "model" else np.array([float(r[k]) for r in rows])
        for k in rows[0]
    }


@pytest.mark.parametrize("name", CURVES)
def test_values_and_slopes(name):
    """Closed forms to rounding; Millard's curves are tables of 60 pieces per section: 1e-9, slopes 1e-6."""
    curve, x, y = CURVES[name]
    data, bezier = table(name), name.startswith("millard")
    np.testing.assert_allclose(curve(data[x]), data[y], rtol=0, atol=1e-9 if bezier else 1e-11)
    if "d1" in data:
        np.testing.assert_allclose(
            curve.derivative(data[x]), data["d1"], rtol=0, atol=1e-6 if bezier else 1e-10
        )


@pytest.mark.parametrize("name", INVERSES)
def test_inverses(name):
    data = table(name)
    np.testing.assert_allclose(INVERSES[name].inverse(data["x"]), data["value"], rtol=0, atol=1e-9)


def test_thelen_velocity_both_ways():
    """Velocity over force at seven activations, straight ends included; and back."""
    data = table("thelen2003_force_velocity_inverse_compliant")
    f, a = ca.SX.sym("f"), ca.SX.sym("a")
    curve = C.ThelenForceVelocity()
    v = (
        ca.Function("v", [f, a], [curve.inverse_at(f, a)])(data["fv_multiplier"], data["activation"])
        .full()
        .ravel()
    )
    np.testing.assert_allclose(v, data["norm_fiber_velocity"], rtol=0, atol=1e-12)
    back = ca.Function("f", [f, a], [curve.at(f, a)])(v, data["activation"]).full().ravel()
    np.testing.assert_allclose(back, data["fv_multiplier"], rtol=0, atol=1e-12 * np.abs(back).max())


@pytest.mark.parametrize(
    ("curve", "low"),
    [
        (C.ThelenTendonForceLength(), 0.01),
        (C.DeGrooteTendonForceLength(), 0.01),
        (C.MillardTendonForceLength(), 0.01),
        (C.ThelenPassiveForceLength(), 0.01),
        (C.DeGrootePassiveForceLength(), 0.01),
        (C.MillardPassiveForceLength(), 0.01),
        (C.ThelenForceVelocity(activation=0.3), -0.5),
        (C.DeGrooteForceVelocity(), -0.5),
        (C.MillardForceVelocity(), 0.01),
        (UNDAMPED, -0.5),
    ],
)
def test_round_trips(curve, low):
    """y -> x -> y; and where there is an integral, its difference quotient."""
    y = np.linspace(low, 1.35, 23)
    x = curve.inverse(y)
    np.testing.assert_allclose(curve.value(x), y, rtol=0, atol=2e-9)
    if "Velocity" not in type(curve).__name__:
        d = 1e-5
        slope = (curve.integral(x + d) - curve.integral(x - d)) / (2 * d)
        np.testing.assert_allclose(slope, y, rtol=0, atol=1e-6)


def test_velocities_beyond_ten_times_the_greatest():
    """De Groote's inverse goes on straight there, with its slope; OpenSim's is an exponential."""
    curve = C.DeGrooteForceVelocity()
    for v in (-10.0, 10.0):
        f, d = curve.value(v), np.sign(v) * 1e-6
        slope = (curve.inverse(f) - curve.inverse(f - d)) / d
        assert curve.inverse(f) == pytest.approx(v, rel=1e-12)
        assert curve.inverse(f + 1e6 * d) == pytest.approx(v + 1e6 * d * slope, rel=1e-5)


def test_curves_without_inverse():
    with pytest.raises(cd.errors.DescriptionError, match="does not rise everywhere"):
        C.MillardActiveForceLength().inverse(0.5)
    with pytest.raises(cd.errors.DescriptionError, match="has no integral"):
        C.ThelenActiveForceLength().integral(0.5)


LINE = cd.paths.Path([("ground", (0, 0, 0)), ("block", (0, 0, 0))])


@pytest.mark.parametrize(
    ("name", "muscle", "options"),
    [
        ("thelen2003", C.Thelen2003, {}),
        ("millard2012_damp0.1", C.Millard2012, {}),
        ("millard2012_damp0", C.Millard2012, {"fiber_damping": 0.0}),
    ],
)
def test_fiber_velocities(name, muscle, options):
    """OpenSim's, at 20 degrees of pennation; F_0 = 1000, l_0 = 0.1, l_S = 0.2. Velocities go up to 463 m/s,
    hence 1e-10 of them too."""
    data = table(f"{name}_fiber_velocity_pennation20deg")
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("block", mobilizer=cd.Slider(), mass=1.0)
    system.add_force("m", muscle(LINE, 1000.0, 0.1, 0.2, np.deg2rad(20), **options))
    L, u = data["muscle_tendon_length"][:, None], np.zeros((len(data["activation"]), 1))
    z = np.column_stack([data["activation"], 0.1 * data["norm_fiber_length"]])
    np.testing.assert_allclose(system.zdot(L, u, z=z)[:, 1], data["fiber_velocity"], rtol=1e-10, atol=1e-8)
    T = -system.forward_dynamics(L, u, z=z)[:, 0]
    np.testing.assert_allclose(T, data["tendon_force"], rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    ("model", "rise", "fall"),
    [("thelen2003", 0.015, 0.05), ("millard2012", 0.01, 0.04), ("degroote2016", 0.015, 0.06)],
)
def test_activation_rates(model, rise, fall):
    data = table("activation_rate")
    mine = data["model"] == model
    a, e = ca.SX.sym("a"), ca.SX.sym("e")
    rate = (
        activation.smooth(a, e, rise, fall)
        if model == "degroote2016"
        else activation.first_order(a, e, rise, fall, 0.01)
    )
    found = (
        ca.Function("rate", [a, e], [rate])(data["activation"][mine], data["excitation"][mine]).full().ravel()
    )
    np.testing.assert_allclose(found, data["dadt"][mine], rtol=1e-12, atol=1e-12)
