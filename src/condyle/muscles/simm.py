"""Curves of SIMM's muscles, which OpenSim's older muscle models have by default: points of SimmSplines."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

import casadi as ca

from condyle.forces.ligament import TOE
from condyle.functions import Function, SimmSpline
from condyle.muscles.curves import Curve, PythonCurve, curve
from condyle.records import dataclass

ACTIVE = SimmSpline(
    (
        -5.307692,
        -4.307692,
        -1.923077,
        -0.884615,
        -0.269231,
        0.230769,
        0.461538,
        0.52725,
        0.62875,
        0.71875,
        0.86125,
        1.045,
        1.2175,
        1.43875,
        1.5,
        1.615385,
        2.0,
        2.961538,
        3.692308,
        5.461538,
        9.901902,
    ),
    (
        0.012188,
        0.021899,
        0.036466,
        0.052493,
        0.075312,
        0.114158,
        0.157859,
        0.226667,
        0.636667,
        0.856667,
        0.95,
        0.993333,
        0.77,
        0.246667,
        0.193821,
        0.133252,
        0.072683,
        0.044417,
        0.036341,
        0.021899,
        0.007332,
    ),
)
"""Active force over l_M / l_0."""
PASSIVE = TOE
"""Passive force over l_M / l_0."""
TENDON = SimmSpline(
    (
        -10.0,
        -0.002,
        -0.001,
        0.0,
        0.00131,
        0.00281,
        0.00431,
        0.00581,
        0.00731,
        0.00881,
        0.0103,
        0.0118,
        0.0123,
        9.2,
        9.201,
        9.202,
        20.0,
    ),
    (
        0.0,
        0.0,
        0.0,
        0.0,
        0.0108,
        0.0257,
        0.0435,
        0.0652,
        0.0915,
        0.123,
        0.161,
        0.208,
        0.227,
        345.0,
        345.0,
        345.0,
        345.0,
    ),
)
"""Tendon force over its strain."""
VELOCITY = SimmSpline(
    (-1.001, *(round(-1 + 0.05 * k, 2) for k in range(41))),
    (
        0.0,
        0.0,
        0.010417,
        0.021739,
        0.034091,
        0.047619,
        0.0625,
        0.078947,
        0.097222,
        0.117647,
        0.140625,
        0.166667,
        0.196429,
        0.230769,
        0.270833,
        0.318182,
        0.375,
        0.444444,
        0.53125,
        0.642857,
        0.791667,
        1.0,
        1.482014,
        1.601571,
        1.655791,
        1.686739,
        1.706751,
        1.720753,
        1.731099,
        1.739055,
        1.745365,
        1.75049,
        1.754736,
        1.758312,
        1.761364,
        1.763999,
        1.766298,
        1.768321,
        1.770115,
        1.771717,
        1.773155,
        1.774455,
    ),
)
"""Active force over velocity, -1 to 1."""


@dataclass(frozen=True, eq=False, repr=False)
class TendonOfStrain(Curve):
    """Tendon force over l_T / l_S from a curve over the strain; zero where the tendon is slack.

    Args:
        over_strain: force over strain.
    """

    over_strain: Any

    def formula(self, x: ca.SX) -> ca.SX:
        return ca.if_else(x < 1, 0, self.over_strain.value(x - 1))


DEFAULTS: dict[str, Any] = {
    "active_force_length_curve": ACTIVE,
    "passive_force_length_curve": PASSIVE,
    "tendon_force_length_curve": TENDON,
    "force_velocity_curve": VELOCITY,
}


@cache
def default(name: str) -> Curve:
    """A curve of SIMM's muscles by its name in OpenSim."""
    return PythonCurve(DEFAULTS[name])


def keep_curves(muscle: Any, names: Iterable[str]) -> None:
    """Functions that are given for curves of a muscle become Curves, None the default."""
    for name in names:
        given = getattr(muscle, name)
        shared = _through(given) if isinstance(given, Function) else given
        object.__setattr__(muscle, name, default(name) if given is None else curve(shared))


@lru_cache(maxsize=100)
def _through(function: Function) -> Curve:
    """One of cd.functions as a Curve; muscles of one file share them."""
    return curve(function)
