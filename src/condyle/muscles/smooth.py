"""Muscles for optimal control: equations without kinks, and tendons whose rate is a control.

Equations (1)-(4) of condyle.muscles.muscle, with lengths and velocities of the path as they come:

    rigid tendon:    T = F_0 max(a f_L f_V + f_P + beta v_n, 0) cos(alpha)                                 (1)
    elastic tendon:  f is a state, its rate g a control, and what must be zero is
                     r = (a f_L f_V + f_P + beta v_n) cos(alpha) - f,    T = F_0 f                         (2)
        l_T = l_S f_T^-1(f),    v_T = l_S g / f_T'(l_T / l_S)                                              (3)
    l_M cos(alpha) = max(l_MT - l_T, l_least),    v_M = (v_MT - v_T) cos(alpha)                            (4)

De Groote et al. (2016), Evaluation of direct collocation optimal control problem formulations for solving the
muscle redundancy problem, Annals of Biomedical Engineering 44, 2922-2936. Nothing is solved for: (2) has no
inverse of f_V and does not divide by the activation, so that a = 0 is allowed.

Where laws have kinks, these have condyle.laws.smooth, with errors of at most

    5e-4 F_0     of T in (1), where the fiber would push, and far from there 2.5e-7 F_0^2 / T              (5)
    5e-4 l_0     of the shortest fiber's length in (4)
    3e-4 F_0     of Thelen's f_P at the optimal length, 6e-7 F_0 / (l_n - 1) from there on
    0.08 / s     of the rate of activation, near e = a: De Groote's law, which has no kink, is as it is

A slack tendon does not push: bound f from below by LEAST, for at f = 0 the slope of some curves is zero.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.laws.described import sx
from condyle.laws.smooth import at_least, positive, step
from condyle.muscles.activation import smooth
from condyle.muscles.degroote2016 import DeGroote2016
from condyle.muscles.hill import Hill
from condyle.muscles.millard2012 import Millard2012
from condyle.muscles.muscle import Muscle
from condyle.muscles.thelen2003 import Thelen2003

LEAST = 1e-3
"""Of the normalized force of a tendon."""
WIDTH = 1e-3
"""Of maxima of forces over F_0, and of lengths over l_0."""
PASSIVE, EXCITED = 0.01, 0.003
"""Widths of Thelen's f_P over l_n, and of the change between rise and fall of an activation."""
KINDS = (Hill, Thelen2003, Millard2012, DeGroote2016)


class ImplicitFiber(NamedTuple):
    """A fiber: forces over F_0, lengths over l_0, velocity [m/s]."""

    l_n: SX
    v_M: SX
    cos: SX
    f_L: SX
    active: SX
    passive: SX


class Equilibrium(NamedTuple):
    """A muscle.

    Attributes:
        tension: T [N].
        residual: r of (2), of an elastic tendon.
        fiber: what its fiber does.
    """

    tension: SX
    residual: SX
    fiber: ImplicitFiber


def rigid_tension(muscle: Muscle, l_MT: SX, v_MT: SX, a: SX) -> SX:
    """T of (1) [N] from length [m] and velocity [m/s] of the path and the activation."""
    return rigid(muscle, l_MT, v_MT, a).tension


def rigid(muscle: Muscle, l_MT: SX, v_MT: SX, a: SX) -> Equilibrium:
    """(1): see `rigid_tension`."""
    fiber = _fiber(muscle, l_MT - sx(muscle.tendon_slack_length), v_MT, a)
    force = positive(fiber.active + fiber.passive, WIDTH)
    return Equilibrium(sx(muscle.max_isometric_force) * force * fiber.cos, ca.SX(0, 1), fiber)


def elastic_equilibrium(
    muscle: Muscle, l_MT: SX, v_MT: SX, a: SX, f: SX, rate: SX, damping: SX | float | None = None
) -> Equilibrium:
    """(2) from length [m] and velocity [m/s] of the path, the activation, the normalized force of the tendon
    and its rate [1/s].

    Args:
        damping: beta instead of the muscle's own, which is zero of Thelen2003 and DeGroote2016 with elastic
            tendons: their explicit laws cannot have any, Moco's have 0.01.
    """
    l_S, curve = sx(muscle.tendon_slack_length), muscle.tendon_force_length
    l_T_n = curve.inverse(f)
    v_T = l_S * rate / curve.derivative(l_T_n)  # (3)
    fiber = _fiber(muscle, l_MT - l_S * l_T_n, v_MT - v_T, a, damping)
    residual = (fiber.active + fiber.passive) * fiber.cos - f
    return Equilibrium(sx(muscle.max_isometric_force) * f, residual, fiber)


def activation_rate(muscle: Muscle, a: SX, e: SX) -> SX:
    """da/dt [1/s] at an excitation."""
    rise, fall = sx(muscle.activation_time_constant), sx(muscle.deactivation_time_constant)
    if isinstance(muscle, DeGroote2016):
        return smooth(a, e, rise, fall, sx(muscle.activation_dynamics_smoothing))
    rises, factor = step(e - a, EXCITED), 0.5 + 1.5 * a
    return (rises / (rise * factor) + (1 - rises) * factor / fall) * (e - a)


def _fiber(muscle: Muscle, along: SX, v: SX, a: SX, damping: SX | float | None = None) -> ImplicitFiber:
    """The fiber, from what the tendon leaves of the path."""
    f_L, f_P = muscle.active_force_length, muscle.passive_force_length
    if not isinstance(muscle, KINDS):
        allowed = ", ".join(kind.__name__ for kind in KINDS)
        raise DescriptionError(
            f"{type(muscle).__name__} has no face for optimal control; {allowed} have one: replace it"
        )
    l_0 = sx(muscle.optimal_fiber_length)
    along = l_0 * at_least(along / l_0, muscle._least_along / l_0, WIDTH)
    l_M = ca.sqrt(muscle._height**2 + along**2)
    cos, l_n = along / l_M, l_M / l_0
    v_n = v * cos / muscle._fastest  # (4)
    stretched = 1 + positive(l_n - 1, PASSIVE) if isinstance(muscle, Thelen2003) else l_n
    beta, length_factor = sx(muscle.fiber_damping) if damping is None else damping, f_L.value(l_n)
    active, passive = a * length_factor * muscle.f_V(v_n, a), f_P.value(stretched) + beta * v_n
    return ImplicitFiber(l_n, v * cos, cos, length_factor, active, passive)
