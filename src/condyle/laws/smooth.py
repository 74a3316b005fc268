"""Smooth faces of kinks: what laws for optimal control take instead of maxima and comparisons.

    positive(x)  =  (x + sqrt(x^2 + w^2)) / 2    for max(x, 0), which it exceeds by at most w / 2, at 0      (1)
    step(x)      =  (1 + x / sqrt(x^2 + w^2)) / 2    for x > 0, the slope of (1); w^2 / (4 x^2) off far away  (2)

w is a width in units of x. At w = 0 both are what they stand for, exactly. In optimal control (`view.smooth`)
these laws have them, with errors of at most

    PathSpring                w = 1e-4 m:       5e-5 k [N] where it is slack
    PathFunction, clamped     w = 1e-4 m:       its slope times 5e-5 m
    Blankevoort1991Ligament   w = 1e-4:         k w^2 / (8 eps_t) where it is slack, 5e-5 k at eps_t
    MobilityStop              w = 1e-3 rad, m:  5e-4 k at the stop                                           (3)
    HuntCrossley              w = 1e-4 m:       the force at a depth of 5e-5 m; friction as its smooth=
    SmoothSphereHalfSpace     w = 0.1 in s^2:   2.5 % of friction where the slip is the transition's, s = 1

and far less away from the kink, with the square of the distance. CoordinateLimitForce and Ligament have no kink.
An ElasticFoundation has its own smooth=. User code with `if` and `max` is unchanged.
"""

from __future__ import annotations

import casadi as ca

from condyle.arrays import SX


def positive(x: SX, width: float = 0.0) -> SX:
    """max(x, 0), or (1)."""
    return (x + ca.sqrt(x * x + width * width)) / 2 if width else ca.fmax(x, 0)


def step(x: SX, width: float = 0.0) -> SX:
    """1 where x > 0, else 0; or (2)."""
    return (1 + x / ca.sqrt(x * x + width * width)) / 2 if width else ca.if_else(x > 0, 1, 0)


def at_least(x: SX, least: SX, width: float = 0.0) -> SX:
    """max(x, least), by (1)."""
    return least + positive(x - least, width) if width else ca.fmax(x, least)


def at_most(x: SX, most: SX, width: float = 0.0) -> SX:
    """min(x, most), by (1)."""
    return most - positive(most - x, width) if width else ca.fmin(x, most)
