"""`scaled`: every mobilizer between bodies of another size; unequal factors where there is a rule."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.mobilizers.base import Mobilizer, RelativeMotion
from condyle.mobilizers.text_file import as_text, of_text
from condyle.mobilizers.traced import motion_at
from condyle.spatial import rotation_x, rotation_z
from tests.mobilizers.every import EVERY, SURFACE, frames
from tests.mobilizers.poses import evaluate, given, random_states, times_u

K = 1.3
S = np.array([1.1, 1.3, 0.9])
ROUNDING = 1e-13
"""Some tens of products of numbers near 1; second derivatives of splines reach about 50."""


class Rolling(Mobilizer):
    """A class of a user: a wheel of 0.3 m that rolls along x by q [m], with the speed of its angle."""

    coordinate_names, speed_names = ("way",), ("spin",)
    units, speed_units = ("m",), ("rad/s",)

    def motion(self, t, q, u):
        return RelativeMotion(
            rotation_z(-q / 0.3), ca.vertcat(q, 0.3, 0), ca.SX([0, 0, -1]), ca.SX([0.3, 0, 0])
        )

    def N(self, q):
        return ca.SX(0.3)


MORE = {
    "user": Rolling(),
    "wave": cd.Custom("x", lambda x: (rotation_x(np.sin(x)), (x, 0.1 * np.sin(5 * x), 0.2)), units=("m",)),
    "slide": cd.Custom(("a", "x"), lambda a, x: (rotation_z(a), (x, 0.1, 0))),
    "arc": cd.SplineCurve.natural(frames(9), domain="length"),
    "cells": cd.SplineSurface(SURFACE, domain=((-1, 1), (-100, 100)), units=("rad", "mm")),
    "cam": cd.Coupled(cd.Planar(), "x", (lambda x: 2 * x, "x", lambda x: 0.3 * x**2)),
}


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reversed"])
@pytest.mark.parametrize("name", [*EVERY, *MORE])
def test_equal_factors(name, reverse):
    """At coordinates and speeds k times as large where they are lengths: R and w as they were, p and v and
    accelerations k times as large."""
    m = (EVERY | MORE)[name]
    m = m.reversed() if reverse else m
    made = m.scaled(K)
    D, L = (
        [K if x in (f"m{per}", f"mm{per}") else 1.0 for x in units]
        for per, units in (("", m.units), ("/s", m.speed_units))
    )
    assert made.units == m.units and made.speed_units == m.speed_units
    for d, was, now in zip(D, m.domains, made.domains, strict=True):
        assert now == pytest.approx(np.multiply(d, was), rel=1e-15)
    t, q, u, udot = random_states(m, 0, 5)
    old, new = evaluate(given, m, t, q, u), evaluate(given, made, t, q * D, u * L)
    six = np.repeat([1.0, K], 3)
    for a, b in (
        (old[0], new[0]),
        (K * old[1], new[1]),
        (six * (times_u(old[2], u) + old[3]), times_u(new[2], u * L) + new[3]),
        (six * (times_u(old[2], udot) + old[4]), times_u(new[2], udot * L) + new[4]),
        (D * times_u(old[5], u), times_u(new[5], u * L)),
    ):
        np.testing.assert_allclose(b, a, rtol=ROUNDING, atol=ROUNDING)
    assert m.scaled(1.0) is m and (made is m) == (not m.has_lengths)


def test_scaled_joints_are_joints_like_others():
    """They fit poses, weight errors alike, scale again, and are written as text."""
    cam, q = MORE["cam"].scaled(K), np.array([0.2])
    X = motion_at(cam, 0.0, q, np.zeros(1))
    assert cam.fit_q(cd.Transform(X.R, np.ravel(X.p)))[0] == pytest.approx(q, abs=1e-9)
    assert cam.scaled(2.0) == MORE["cam"].scaled(2 * K)
    curve = MORE["arc"]
    assert curve.scaled(K).sizes(0.1 * K)[0][0] * K == pytest.approx(curve.sizes(0.1)[0][0], rel=1e-12)
    middle = curve.domain[1] / 2  # by arc length as before: 1 m per m
    assert curve.scaled(K).speed(K * middle) == pytest.approx(curve.speed(middle), rel=1e-12)
    assert np.allclose(curve.scaled(K).sites, K * curve.sites, rtol=1e-15)
    written = cd.Coupled(
        cd.Planar(), "x", (cd.functions.Linear(2.0, 0.0), "x", cd.functions.Polynomial((0.3, 0, 0)))
    ).scaled(2)
    assert of_text(as_text(written), "cam") == written


@pytest.mark.parametrize(
    "name",
    [
        "EllipticSlider",
        "SplineCurve",
        "SplineCurve-closed",
        "SplineSurface-time",
        "FunctionBased",
        "Ellipsoid",
    ],
)
def test_unequal_factors(name):
    """Positions by the factors along F's axes. Control frames and values, of which those of curves follow."""
    m = EVERY[name]
    made = m.scaled(S)
    if name.startswith("SplineCurve"):
        np.testing.assert_allclose(made.frames.p, S * m.frames.p, rtol=1e-15)
        assert np.array_equal(made.frames.R, m.frames.R) and np.array_equal(made.knots, m.knots)
        return
    t, q, u, _ = random_states(m, 1, 5)
    old, new = evaluate(given, m, t, q, u), evaluate(given, made, t, q, u)
    np.testing.assert_allclose(new[1], S * old[1], atol=ROUNDING)
    if name != "EllipticSlider":  # whose x axis stays along the tangent
        np.testing.assert_allclose(new[0], old[0], atol=ROUNDING)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("Custom", "its lengths"),
        ("user", "its lengths"),
        ("cells", "coordinates that are lengths"),
        ("arc", r"q \[m\]"),
        ("SplineSurface-order", "translations after rotations"),
        ("compose-surface", "lengths of SplineSurface"),
        ("Coupled", "the translation 'tz'"),
        ("cam", "its lengths"),
    ],
)
def test_unequal_factors_without_a_rule(name, what):
    with pytest.raises(cd.errors.DescriptionError, match=rf"the factors \[1.1 1.3 0.9\] differ.* {what}"):
        (EVERY | MORE)[name].scaled(S)


@pytest.mark.parametrize("factors", [0.0, -1.0, np.nan, (1, 2), "2", (1, 1, 0)])
def test_factors_that_cannot_be(factors):
    with pytest.raises(cd.errors.CondyleError, match="scaled: factors"):
        EVERY["Screw"].scaled(factors)
