"""Curves of muscles: forces and lengths without units, one small class per curve, named by its paper.

x is a length over the optimal fibre length or the tendon's slack length, a velocity over the greatest speed
of shortening, or a force over the greatest isometric force. A curve says its value over SX; its derivative
comes by automatic differentiation, its inverse in closed form where there is one. Called with numbers it
gives numbers.
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.errors import DescriptionError
from condyle.laws.described import Described, quantity, sx
from condyle.native.sweeps.lookup import Closure

Positive = Annotated[Any, quantity("-", lowest=0.0, positive=True)]


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Described):
    """A function of one number. Write `value`, and `inverse` where it exists."""

    def value(self, x: ca.SX) -> ca.SX:
        """The curve at x."""
        raise TypeError(f"{type(self).__name__} needs a value")

    def inverse(self, y: ca.SX) -> ca.SX:
        """x at which the curve is y."""
        raise DescriptionError(f"{type(self).__name__} has no inverse")

    @cached_property
    def _closures(self) -> dict[str, Closure]:
        x = ca.SX.sym("x")
        value = ca.SX(self.value(x))
        return {"value": Closure("value", [x], [value]), "derivative": Closure("derivative", [x],
                                                                               [ca.jacobian(value, x)])}

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """The curve at numbers, of the same shape."""
        return self._at("value", x)

    def derivative(self, x: ArrayLike) -> NDArray[np.float64]:
        """Its slope at numbers, of the same shape."""
        return self._at("derivative", x)

    def _at(self, what: str, x: ArrayLike) -> NDArray[np.float64]:
        closure, x = self._closures[what], np.asarray(x, dtype=float)
        return np.array([closure.at(v)[0].item() for v in x.ravel()]).reshape(x.shape)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k != "_closures"}


# ---- De Groote, Kinney, Rao, Fregly 2016 -------------------------------------------------------------------

@dataclass(frozen=True, eq=False, repr=False)
class DeGrooteActiveForceLength(Curve):
    """Active force over fibre length: three bells, [1] (S1)-(S4) with OpenSim's constants.

        f(x) = sum_i b1 exp(-((x' - b2) / (b3 + b4 x'))^2 / 2),    x' = 1 + (x - 1) / width

    Args:
        width: stretches it about 1, at least 1.
    """

    width: Annotated[Any, quantity("-", lowest=1.0)] = 1.0

    BELLS = ((0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465),
             (0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188),
             (0.1, 1.0, 0.353553390593274, 0.0))

    def value(self, x: ca.SX) -> ca.SX:
        x = 1 + (x - 1) / sx(self.width)
        return sum((b1 * ca.exp(-((x - b2) / (b3 + b4 * x))**2 / 2) for b1, b2, b3, b4 in self.BELLS),
                   ca.SX(0))


@dataclass(frozen=True, eq=False, repr=False)
class DeGrootePassiveForceLength(Curve):
    """Passive force over fibre length, zero at 0.2.

        f(x) = (exp(k (x - 1) / e0) - exp(k (0.2 - 1) / e0)) / (exp(k) - exp(k (0.2 - 1) / e0)),    k = 4

    Args:
        strain: e0, at which it is 1.
    """

    strain: Positive = 0.6

    def value(self, x: ca.SX) -> ca.SX:
        k, e0 = 4, sx(self.strain)
        least = ca.exp(k * (0.2 - 1) / e0)
        return (ca.exp(k * (x - 1) / e0) - least) / (np.exp(k) - least)


@dataclass(frozen=True, eq=False, repr=False)
class DeGrooteTendonForceLength(Curve):
    """Tendon force over tendon length.

        f(x) = c (exp(k (x - 1)) - 1),    c = 0.2,    k = ln((1 + c) / c) / e0

    Args:
        strain: e0, at which it is 1.
    """

    strain: Positive = 0.049

    C = 0.2

    @property
    def stiffness(self) -> ca.SX:
        """k."""
        return np.log((1 + self.C) / self.C) / sx(self.strain)

    def value(self, x: ca.SX) -> ca.SX:
        return self.C * (ca.exp(self.stiffness * (x - 1)) - 1)

    def inverse(self, y: ca.SX) -> ca.SX:
        return 1 + ca.log(y / self.C + 1) / self.stiffness


@dataclass(frozen=True, eq=False, repr=False)
class DeGrooteForceVelocity(Curve):
    """Active force over fibre velocity.

        f(v) = d1 asinh(d2 v + d3) + d4,    v(f) = (sinh((f - d4) / d1) - d3) / d2
    """

    D = (-0.3211346127989808, -8.149, -0.374, 0.8825327733249912)

    def value(self, x: ca.SX) -> ca.SX:
        d1, d2, d3, d4 = self.D
        return d1 * ca.asinh(d2 * x + d3) + d4

    def inverse(self, y: ca.SX) -> ca.SX:
        d1, d2, d3, d4 = self.D
        return (ca.sinh((y - d4) / d1) - d3) / d2


# ---- Thelen 2003 -------------------------------------------------------------------------------------------

@dataclass(frozen=True, eq=False, repr=False)
class ThelenActiveForceLength(Curve):
    """Active force over fibre length, thelen2003 (4).

        f(x) = exp(-(x - 1)^2 / gamma)

    Args:
        shape: gamma.
    """

    shape: Positive = 0.45

    def value(self, x: ca.SX) -> ca.SX:
        return ca.exp(-(x - 1)**2 / sx(self.shape))


@dataclass(frozen=True, eq=False, repr=False)
class ThelenPassiveForceLength(Curve):
    """Passive force over fibre length, thelen2003 (3); zero below 1.

        f(x) = (exp(k (x - 1) / e0) - 1) / (exp(k) - 1)

    Args:
        strain: e0, at which it is 1.
        shape: k.
    """

    strain: Positive = 0.6
    shape: Positive = 5.0

    def value(self, x: ca.SX) -> ca.SX:
        k, e = sx(self.shape), ca.fmax(x - 1, 0)
        return (ca.exp(k * e / sx(self.strain)) - 1) / (ca.exp(k) - 1)


@dataclass(frozen=True, eq=False, repr=False)
class ThelenTendonForceLength(Curve):
    """Tendon force over tendon length, thelen2003 (5): a toe, then a straight line; zero below 1.

        e = x - 1,    e_toe = 99 e0 exp(3) / (166 exp(3) - 67)
        f(x) = 0.33 (exp(3 e / e_toe) - 1) / (exp(3) - 1) up to e_toe
        f(x) = 0.33 + 0.67 (e - e_toe) / (e0 - e_toe) beyond

    Args:
        strain: e0, at which it is 1.
    """

    strain: Positive = 0.04

    TOE = 0.33

    @property
    def toe(self) -> ca.SX:
        """e_toe."""
        return 99 * sx(self.strain) * np.exp(3) / (166 * np.exp(3) - 67)

    def value(self, x: ca.SX) -> ca.SX:
        e, e_toe = ca.fmax(x - 1, 0), self.toe
        curved = self.TOE * (ca.exp(3 * ca.fmin(e, e_toe) / e_toe) - 1) / (np.exp(3) - 1)
        return curved + (1 - self.TOE) / (sx(self.strain) - e_toe) * ca.fmax(e - e_toe, 0)

    def inverse(self, y: ca.SX) -> ca.SX:
        e_toe = self.toe
        curved = e_toe / 3 * ca.log(1 + ca.fmin(y, self.TOE) / self.TOE * (np.exp(3) - 1))
        return 1 + curved + (sx(self.strain) - e_toe) / (1 - self.TOE) * ca.fmax(y - self.TOE, 0)


@dataclass(frozen=True, eq=False, repr=False)
class ThelenForceVelocity(Curve):
    """Active force over fibre velocity, thelen2003 (6), (7), at an activation a; with k = (1 + 3 a) / 4

        f(v) = (k + v) / (k - v / A)                            shortening
        f(v) = (k (F - 1) + c F v) / (k (F - 1) + c v)          lengthening,    c = 2 + 2 / A

    Below 0 and above `threshold` F it goes on straight, as OpenSim does.

    Args:
        curvature: A.
        eccentric_force: F, the greatest force that lengthening comes near to.
        threshold: share of F from which on it is straight.
        activation: a.
    """

    curvature: Positive = 0.25
    eccentric_force: Annotated[Any, quantity("-", lowest=1.0, positive=True)] = 1.4
    threshold: Positive = 0.95
    activation: Annotated[Any, quantity("-", lowest=0.0)] = 1.0

    def value(self, x: ca.SX) -> ca.SX:
        return self.at(x, sx(self.activation))

    def inverse(self, y: ca.SX) -> ca.SX:
        return self.inverse_at(y, sx(self.activation))

    def _numbers(self, a: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        A, F = sx(self.curvature), sx(self.eccentric_force)
        return A, F, 2 + 2 / A, (1 + 3 * a) / 4

    def at(self, v: ca.SX, a: ca.SX) -> ca.SX:
        """Force at velocity v and activation a."""
        A, F, c, k = self._numbers(a)
        last = sx(self.threshold) * F
        v_last = self.inverse_at(last, a)
        slope_0, slope_last = _slope(self, ca.SX(0), a), _slope(self, last, a)
        w, up = ca.fmax(v, -k), ca.fmax(ca.fmin(v, v_last), 0)
        shortening = (k + ca.fmin(w, 0)) / (k - ca.fmin(w, 0) / A)
        lengthening = (k * (F - 1) + c * F * up) / (k * (F - 1) + c * up)
        middle = ca.if_else(v <= 0, shortening, lengthening)
        return ca.if_else(v < -k, (v + k) / slope_0, ca.if_else(v > v_last, last + (v - v_last) / slope_last,
                                                                middle))

    def inverse_at(self, f: ca.SX, a: ca.SX) -> ca.SX:
        """Velocity at force f and activation a."""
        A, F, c, k = self._numbers(a)
        last = sx(self.threshold) * F
        g = ca.fmax(ca.fmin(f, last), 0)
        middle = ca.if_else(g <= 1, k * (g - 1) / (1 + g / A), k * (g - 1) * (F - 1) / (c * (F - g)))
        beyond = ca.if_else(f < 0, f * _slope(self, ca.SX(0), a), ca.fmax(f - last, 0) * _slope(self, last,
                                                                                                a))
        return middle + beyond


def _slope(curve: ThelenForceVelocity, f: ca.SX, a: ca.SX) -> ca.SX:
    """dv/df between 0 and the threshold."""
    A, F, c, k = curve._numbers(a)
    shortening = k * (1 + 1 / A) / (1 + f / A)**2
    lengthening = k * (F - 1)**2 / (c * (F - f)**2)
    return ca.if_else(f <= 1, shortening, lengthening)
