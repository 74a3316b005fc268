"""Activation follows excitation: da/dt of an activation a under an excitation e."""

from __future__ import annotations

from typing import Any

import casadi as ca


def first_order(a: ca.SX, e: ca.SX, rise: ca.SX, fall: ca.SX, least: ca.SX) -> ca.SX:
    """Thelen 2003 (1), (2) [1/s]:

        adot = (e - a) / tau,    tau = rise (0.5 + 1.5 a) for e > a, else fall / (0.5 + 1.5 a)

    tau is that of an activation from `least` to 1; a itself goes to e, however small that is.
    """
    factor = 0.5 + 1.5 * ca.fmin(ca.fmax(a, least), 1)
    return (e - a) / ca.if_else(e > a, rise * factor, fall / factor)


def smooth(a: ca.SX, e: ca.SX, rise: ca.SX, fall: ca.SX, smoothing: Any = 0.1) -> ca.SX:
    """De Groote et al. 2016 (1), (2), which blends both times by tanh(smoothing (e - a)) [1/s]."""
    f, factor = 0.5 * ca.tanh(smoothing * (e - a)), 0.5 + 1.5 * a
    return ((f + 0.5) / (rise * factor) + (0.5 - f) * factor / fall) * (e - a)
