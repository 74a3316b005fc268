"""Quality checks of muscles in a result: whether they are at their limits, and whether their fibers stay in
the range of the muscle curves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Annotated, Any, ClassVar

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.errors import DescriptionError
from condyle.forces.external import TimeSeries
from condyle.forces.path import PathLaw
from condyle.laws.described import Role, quantity, sx
from condyle.laws.leaves import Leaf
from condyle.laws.view import View
from condyle.muscles.activation import (
    AskedExcitation,
    ExcitationLike,
    ExcitationRole,
    excitation_at,
    first_order,
)
from condyle.muscles.curves import Seconds
from condyle.plausible import MUSCLE, of_excitation, of_muscle
from condyle.presentation import cut
from condyle.quality import Check
from condyle.records import dataclass
from condyle.trace import Number
from condyle.trace.parameter import Expression, Input, Parameter
from condyle.tree.tree import Tree

SHORTEST, LONGEST = 0.5, 1.5
"""Normalized lengths between which active fibers exert force: beyond them filaments overlap too little."""
FULL = 1e-6
"""Activations this close to their greatest count as saturated."""


def saturation(names: Sequence[str], activations: Array, most: Array | float = 1.0) -> Iterator[Check]:
    """How many muscles are at their greatest activation, (m, muscles), in some frame."""
    with np.errstate(invalid="ignore"):
        share = (activations >= np.asarray(most) - FULL).mean(axis=0) if len(activations) else np.zeros(0)
    order = [k for k in np.argsort(-share, kind="stable").tolist() if share[k] > 0]
    where = cut([f"{names[k]} in {100 * share[k]:.0f} %" for k in order], 3)
    yield Check(
        "muscles at their greatest activation",
        len(order),
        "",
        0.0,
        math.inf,
        f"{where} of the frames" if order else "",
        "are they strong enough for this motion, are others missing, or are moments too large?",
    )


def fibers(names: Sequence[str], lengths: Array) -> Iterator[Check]:
    """How many muscles have fibers beyond 0.5 or 1.5 optimal lengths, from such lengths, (m, muscles)."""
    if not lengths.size:
        return
    low, high = np.fmin.reduce(lengths, axis=0), np.fmax.reduce(lengths, axis=0)
    off = np.fmax(SHORTEST - low, high - LONGEST)
    order = [k for k in np.argsort(-off, kind="stable").tolist() if off[k] > 0]
    where = [f"{names[k]} {low[k] if SHORTEST - low[k] == off[k] else high[k]:.2g}" for k in order]
    yield Check(
        f"muscles with fibers beyond {SHORTEST:g} or {LONGEST:g} optimal lengths",
        len(order),
        "",
        0.0,
        math.inf,
        cut(where, 3),
        "do tendon slack length and optimal fiber length fit the path, is the model scaled?",
    )


# ---- muscle ----------------------------------------------------------------------------------------------
#
# Muscles: a fiber, at a pennation angle, in series with a tendon along a path: docs/theory/muscles.md.
#
#     h = l_0 sin(alpha_0) stays:    cos(alpha) = sqrt(1 - (h / l_M)^2),    l_MT = l_T + l_M cos(alpha)      (1)
#     d(l_M cos(alpha))/dt = v_M / cos(alpha),    v_MT = v_T + v_M / cos(alpha)                              (2)
#     F = F_0 (a f_L(l_n) f_V(v_n) + f_P(l_n) + beta v_n),    l_n = l_M / l_0,    v_n = v_M / (v_max l_0)    (3)
#     T = F cos(alpha) = F_0 f_T(l_T / l_S)                                                                  (4)
#     rigid tendon: l_T = l_S, and (1), (2) give l_M and v_M (ruggiero2020 (20), (21))                       (5)
#     elastic tendon: l_M is a state, and (4) gives its rate v_M                                             (6)
#     power of the muscle  -T v_MT = -F_0 (a f_L f_V + beta v_n) v_M - d(stored)/dt,
#         stored = F_0 l_0 int f_P + F_0 l_S int f_T                                                         (7)
#
# A fiber does not get shorter than l_min, where its pennation angle is the greatest, cos(alpha) = 0.1 unless
# said otherwise, nor than l_0 / 100. There a rigid tendon is slack, T = 0, and an elastic one may only lengthen
# the fiber: OpenSim's rules.
# Normalized quantities end in _n.


STEEPEST, SHORTEST_FIBER = math.acos(0.1), 0.01
"""alpha of the shortest fiber [rad]; and its length over l_0, where there is no pennation."""


@dataclass(frozen=True)
class _Optional(Role):
    """A number, or None."""

    def take(self, value: Any, what: str) -> Any:
        return None if value is None else super().take(value, what)


@dataclass(frozen=True, eq=False)
class Fiber:
    """A fiber and its tendon over SX: lengths [m], velocities [m/s]; without units where they end in _n.

    Attributes:
        f_L: of (3), zero where the fiber is held at l_min, as are the others.
        f_V: of (3).
        f_P: of (3).
        damping: the last term of (3) over F_0.
    """

    l_M: ca.SX
    cos: ca.SX
    v_M: ca.SX
    l_T: ca.SX
    v_T: ca.SX
    l_n: ca.SX
    v_n: ca.SX
    f_L: ca.SX
    f_V: ca.SX
    f_P: ca.SX
    damping: ca.SX


@dataclass(frozen=True, eq=False, repr=False)
class Muscle(PathLaw):
    """A muscle. Its subclasses are named by the papers of their curves.

    Args:
        path: where it runs.
        max_isometric_force: F_0 [N].
        optimal_fiber_length: l_0 [m].
        tendon_slack_length: l_S [m], above 0; with a rigid tendon it may be 0.
        pennation_angle: alpha_0, at the optimal length [rad].
        max_contraction_velocity: v_max [1/s], in optimal lengths.
        maximum_pennation_angle: of the shortest fiber [rad], below pi / 2.
        activation_time_constant: of the rise [s].
        deactivation_time_constant: of the fall [s].
        minimum_activation: lower bound of the activation. Its state may fall below, as in OpenSim.
        default_activation: at the start.
        default_fiber_length: of an elastic tendon's fiber at the start [m]; l_0 by default.
        min_control: the least excitation that studies choose; the minimum activation by default.
        max_control: the greatest that they choose.
        fiber_damping: beta.
        tendon: "elastic" or "rigid".
        activation_dynamics: if False, the activation equals the excitation.
        excitation: a number from 0 to 1, a cd.Input, (times, values), one of cd.functions of the time, or a
            Python function of the state s. By default an Input with the muscle's name. Below 0 it counts as
            0, above 1 as 1.
    """

    max_isometric_force: Annotated[Number, quantity("N", lowest=0.0, positive=True)]
    optimal_fiber_length: Annotated[Number, quantity("m", lowest=0.0, positive=True)]
    tendon_slack_length: Annotated[Number, quantity("m", lowest=0.0)]
    pennation_angle: Annotated[Number, quantity("rad", lowest=0.0)] = 0.0
    max_contraction_velocity: Annotated[Number, quantity("1/s", lowest=0.0, positive=True)] = 10.0
    maximum_pennation_angle: Annotated[Number, quantity("rad", lowest=0.0, positive=True)] = field(
        default=STEEPEST, kw_only=True
    )
    activation_time_constant: Seconds = field(default=0.015, kw_only=True)
    deactivation_time_constant: Seconds = field(default=0.05, kw_only=True)
    minimum_activation: Annotated[Number, quantity("-", lowest=0.0)] = field(default=0.01, kw_only=True)
    default_activation: float = field(default=0.05, kw_only=True)
    default_fiber_length: Annotated[float | None, _Optional("m", lowest=0.0, positive=True, plain=True)] = (
        field(default=None, kw_only=True)
    )
    min_control: Annotated[float | None, _Optional("-", lowest=0.0, plain=True)] = field(
        default=None, kw_only=True
    )
    max_control: Annotated[float, quantity("-", lowest=0.0, plain=True)] = field(default=1.0, kw_only=True)
    fiber_damping: Annotated[Number, quantity("-", lowest=0.0)] = field(default=0.0, kw_only=True)
    tendon: str = field(default="elastic", kw_only=True)
    activation_dynamics: bool = field(default=True, kw_only=True)
    excitation: Annotated[ExcitationLike, ExcitationRole("-", kind="signal")] = field(
        default=None, kw_only=True
    )
    group: str = field(default="muscle", kw_only=True)

    TENDONS: ClassVar[tuple[str, ...]] = ("elastic", "rigid")
    TENDON_STATE: ClassVar[str] = "fiber_length"
    proportional = ("optimal_fiber_length", "tendon_slack_length")
    at_start = ("default_activation", "default_fiber_length", "min_control", "max_control")

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        if self.tendon not in self.TENDONS:
            raise DescriptionError(
                f"{name}: tendon must be one of {', '.join(self.TENDONS)}, got {self.tendon!r}"
            )
        most = self.maximum_pennation_angle
        if isinstance(most, float) and not most < math.pi / 2:
            raise DescriptionError(
                f"{name}: maximum_pennation_angle must be below pi / 2, got {most!r}; is it in degrees?"
            )
        if (
            isinstance(most, float)
            and isinstance(self.pennation_angle, float)
            and (not self.pennation_angle < most)
        ):
            raise DescriptionError(
                f"{name}: pennation_angle must be below {most:.3f} rad, the maximum, "
                f"got {self.pennation_angle!r}; is it in degrees?"
            )
        if (
            self.tendon == "elastic"
            and isinstance(self.tendon_slack_length, float)
            and (not self.tendon_slack_length > 0)
        ):
            raise DescriptionError(
                f"{name}: tendon_slack_length must be above 0 with an elastic tendon, got "
                f"{self.tendon_slack_length!r}; tendon='rigid' may have none"
            )
        excitation: Any = self.excitation
        if isinstance(excitation, float) and not 0 <= excitation <= 1:
            raise DescriptionError(f"{name}: excitation must be from 0 to 1, got {self.excitation!r}")
        if self.min_control is not None and not self.min_control <= self.max_control:
            raise DescriptionError(
                f"{name}: min_control must not be above max_control, got "
                f"{self.min_control:g} and {self.max_control:g}"
            )
        least = self.minimum_activation
        if isinstance(least, float) and not (least < 1 and (least > 0 or not self._divides)):
            why = " and above 0: the velocity of an elastic fiber without damping divides by it"
            raise DescriptionError(
                f"{name}: minimum_activation must be below 1{why * self._divides}, got {least!r}"
            )

    def implausible(self) -> Iterator[str]:
        given = {name: getattr(self, name) for name in MUSCLE}
        yield from of_muscle({name: value for name, value in given.items() if isinstance(value, float)})
        if isinstance(self.excitation, TimeSeries):
            yield from of_excitation(np.asarray(self.excitation.values))

    @property
    def _divides(self) -> bool:
        """Whether the fiber's velocity comes from a force divided by the activation."""
        return self.tendon == "elastic" and isinstance(self.fiber_damping, float) and self.fiber_damping == 0

    @property
    def choices(self) -> tuple[str | bool, ...]:
        return (self._divides,)

    def named(self, name: str) -> Muscle:
        """With an Input of this name as its excitation, if it has none."""
        return replace(self, excitation=Input(name, 0.0)) if self.excitation is None else self

    # ---- what a muscle's excitation asks of the state ------------------------------------------------------

    @property
    def asks(self) -> tuple[Leaf, ...]:
        return self.excitation.asks if isinstance(self.excitation, AskedExcitation) else ()

    def check(self, tree: Tree) -> None:
        super().check(tree)
        excitation: Any = self.excitation
        if isinstance(excitation, AskedExcitation):
            excitation.check(tree)

    def parameters(self) -> list[Parameter]:
        excitation: Any = self.excitation
        own = excitation.parameters() if isinstance(excitation, AskedExcitation) else []
        return [*super().parameters(), *own]

    # ---- curves: a subclass gives them ---------------------------------------------------------------------

    active_force_length: ClassVar[Any]
    passive_force_length: ClassVar[Any]
    tendon_force_length: ClassVar[Any]
    force_velocity: ClassVar[Any]

    def f_V(self, v_n: SX, a: SX) -> SX:
        """Force over velocity at an activation."""
        return self.force_velocity.value(v_n)

    def velocity_n(self, l_n: SX, f: SX, a: SX) -> tuple[SX, SX]:
        """v_n and f_V at which (3) is f F_0."""
        g, f = a * self.active_force_length.value(l_n), f - self.passive_force_length.value(l_n)
        if self._divides:
            return self.force_velocity.inverse(f / g), f / g
        return self.force_velocity.balance(g, sx(self.fiber_damping), f)

    # ---- states --------------------------------------------------------------------------------------------

    @property
    def states(self) -> tuple[tuple[str, float], ...]:  # type: ignore[override]
        own = (("activation", self.default_activation),) if self.activation_dynamics else ()
        return own + (((self.TENDON_STATE, self.default_tendon_state),) if self.tendon == "elastic" else ())

    @property
    def default_tendon_state(self) -> float:
        """Of an elastic tendon: the fiber's length [m]."""
        if self.default_fiber_length is not None:
            return float(self.default_fiber_length)
        l_0 = self.optimal_fiber_length
        return float(l_0.at().item() if isinstance(l_0, Expression) else l_0)

    def excitation_at(self, s: View) -> SX:
        """e, from 0 to 1."""
        e = excitation_at(self.excitation, s)
        return ca.if_else(e < 0, 0, ca.if_else(e > 1, 1, e))  # keeps NaN, which fmax would hide

    def activation(self, s: View) -> SX:
        """a, from the least to 1."""
        a = s.state_variable(0) if self.activation_dynamics else self.excitation_at(s)
        least = sx(self.minimum_activation)
        return ca.if_else(a < least, least, ca.if_else(a > 1, 1, a))

    def tendon_state(self, s: View) -> SX:
        return s.state_variable(1 if self.activation_dynamics else 0)

    def tendon_state_at(self, l_M: SX, f_T: SX) -> SX:
        """The state of an elastic tendon where the fiber has length l_M and the tendon the force f_T F_0."""
        return l_M

    def rates(self, s: View) -> list[SX]:
        own = [self.activation_rate(s)] if self.activation_dynamics else []
        return own + ([] if self.tendon == "rigid" else [self.known(s, self.tendon_rate(s))])

    def activation_rate(self, s: View) -> SX:
        return first_order(
            s.state_variable(0),
            self.excitation_at(s),
            sx(self.activation_time_constant),
            sx(self.deactivation_time_constant),
            sx(self.minimum_activation),
        )

    def tendon_rate(self, s: View) -> SX:
        """(6)"""
        return self.elastic_fiber(s).v_M

    # ---- mechanics -----------------------------------------------------------------------------------------

    @property
    def _height(self) -> SX:
        """h of (1)."""
        return sx(self.optimal_fiber_length) * ca.sin(sx(self.pennation_angle))

    @property
    def _least(self) -> SX:
        """l_min."""
        return ca.fmax(
            self._height / ca.sin(sx(self.maximum_pennation_angle)),
            SHORTEST_FIBER * sx(self.optimal_fiber_length),
        )

    @property
    def _least_along(self) -> SX:
        """l_min cos(alpha)."""
        return ca.sqrt(self._least**2 - self._height**2)

    def fiber(self, s: View) -> Fiber:
        """The fiber with the tendon that the muscle has."""
        return self.rigid_fiber(s, self.activation(s)) if self.tendon == "rigid" else self.elastic_fiber(s)

    def rigid_fiber(self, s: View, a: SX) -> Fiber:
        """(5)"""
        free = self.path.length.at(s) - sx(self.tendon_slack_length)
        taut = free > self._least_along
        along = ca.fmax(free, self._least_along)
        l_M = ca.sqrt(self._height**2 + along**2)
        v_n = ca.if_else(taut, self.path.length.rate(s) * along / l_M, 0) / self._fastest
        return self._fiber(s, l_M, along / l_M, v_n, self.f_V(v_n, a), taut)

    def elastic_fiber(self, s: View) -> Fiber:
        """(6)"""
        l_M = ca.fmax(self.tendon_state(s), self._least)
        cos = ca.sqrt(l_M**2 - self._height**2) / l_M
        f = self.tendon_force_n(s) / cos
        v_n, f_V = self.velocity_n(l_M / sx(self.optimal_fiber_length), f, self.activation(s))
        moves = ca.logic_or(self.tendon_state(s) > self._least, v_n > 0)
        return self._fiber(s, l_M, cos, ca.if_else(moves, v_n, 0), f_V, moves)

    @property
    def _fastest(self) -> SX:
        """v_max l_0 [m/s]."""
        return sx(self.max_contraction_velocity) * sx(self.optimal_fiber_length)

    def _fiber(self, s: View, l_M: SX, cos: SX, v_n: SX, f_V: SX, moves: SX) -> Fiber:
        l_n, v_M = l_M / sx(self.optimal_fiber_length), v_n * self._fastest
        f_L, f_P = self.active_force_length.value(l_n), self.passive_force_length.value(l_n)
        return Fiber(
            l_M,
            cos,
            v_M,
            self.path.length.at(s) - l_M * cos,
            self.path.length.rate(s) - v_M / cos,
            l_n,
            v_n,
            *(ca.if_else(moves, f, 0) for f in (f_L, f_V, f_P, sx(self.fiber_damping) * v_n)),
        )

    def tension(self, s: View) -> SX:
        F_0 = sx(self.max_isometric_force)
        if self.tendon == "elastic":
            return F_0 * self.tendon_force_n(s)
        fiber = self.rigid_fiber(s, self.activation(s))
        force = self.activation(s) * fiber.f_L * fiber.f_V + fiber.f_P + fiber.damping
        # faster than v_max too, it does not push; NaN of a user's curve stays
        return F_0 * ca.if_else(force < 0, 0, force) * fiber.cos

    def tendon_force_n(self, s: View) -> SX:
        """f_T of (4) from the fiber's length."""
        l_M = ca.fmax(self.tendon_state(s), self._least)
        along = ca.sqrt(l_M**2 - self._height**2)
        return self.tendon_force_length.value((self.path.length.at(s) - along) / sx(self.tendon_slack_length))

    # ---- for studies ---------------------------------------------------------------------------------------

    def active_force(self, s: View, a: SX) -> SX:
        """a f_L f_V F_0 cos(alpha) with a rigid tendon at the activation a [N]: what static optimization
        takes, in OpenSim too. Linear in a unless f_V depends on it (Thelen2003)."""
        fiber = self.rigid_fiber(s, a)
        return self.known(s, sx(self.max_isometric_force) * a * fiber.f_L * fiber.f_V * fiber.cos)

    def passive_force(self, s: View) -> SX:
        """(f_P + beta v_n) F_0 cos(alpha) with a rigid tendon [N]."""
        fiber = self.rigid_fiber(s, ca.SX(1))
        return self.known(s, sx(self.max_isometric_force) * (fiber.f_P + fiber.damping) * fiber.cos)

    def report(self, s: View) -> Mapping[str, tuple[str, SX]]:
        """Quantities of the muscle by OpenSim's names of its outputs: unit and value. All muscles have the
        same names."""
        fiber, F_0, T = self.fiber(s), sx(self.max_isometric_force), self.tension(s)
        a, v_MT = self.activation(s), self.path.length.rate(s)
        active, elastic, damping = F_0 * a * fiber.f_L * fiber.f_V, F_0 * fiber.f_P, F_0 * fiber.damping
        if self.tendon == "rigid":  # as far as the fiber would push
            damping = ca.fmax(damping, -active - elastic)
        sine = self._height / fiber.l_M
        passive = elastic + damping
        values = {
            "excitation": ("-", self.excitation_at(s)),
            "activation": ("-", a),
            "length": ("m", self.path.length.at(s)),
            "lengthening_speed": ("m/s", v_MT),
            "fiber_length": ("m", fiber.l_M),
            "normalized_fiber_length": ("-", fiber.l_n),
            "fiber_velocity": ("m/s", fiber.v_M),
            "normalized_fiber_velocity": ("-", fiber.v_n),
            "pennation_angle": ("rad", ca.asin(sine)),
            "pennation_angular_velocity": ("rad/s", -fiber.v_M / fiber.l_M * sine / fiber.cos),
            "tendon_length": ("m", fiber.l_T),
            "tendon_strain": (
                "-",
                fiber.l_T / sx(self.tendon_slack_length) - 1 if self.tendon == "elastic" else ca.SX(0),
            ),
            "tendon_velocity": ("m/s", fiber.v_T),
            "tendon_force": ("N", T),
            "fiber_force": ("N", active + passive),
            "active_fiber_force": ("N", active),
            "passive_fiber_force": ("N", passive),
            "active_fiber_force_along_tendon": ("N", active * fiber.cos),
            "passive_fiber_force_along_tendon": ("N", passive * fiber.cos),
            "fiber_active_power": ("W", -(active + damping) * fiber.v_M),
            "fiber_passive_power": ("W", -elastic * fiber.v_M),
            "tendon_power": ("W", -T * fiber.v_T),
            "muscle_power": ("W", -T * v_MT),
        }
        return {name: (unit, self.known(s, x)) for name, (unit, x) in values.items()}

    def potential(self, s: View) -> SX | None:
        """The energy that fiber and tendon store (7) [J]; None where a curve has no integral."""
        try:
            l_M, l_T = self._lengths(s)
            fiber = self.passive_force_length.integral(l_M / sx(self.optimal_fiber_length))
            stored = sx(self.optimal_fiber_length) * fiber
            if self.tendon == "elastic":
                l_S = sx(self.tendon_slack_length)
                stored += l_S * self.tendon_force_length.integral(l_T / l_S)
        except DescriptionError:
            return None
        return self.known(s, sx(self.max_isometric_force) * stored)

    def _lengths(self, s: View) -> tuple[SX, SX]:
        """l_M and l_T."""
        if self.tendon == "rigid":
            fiber = self.rigid_fiber(s, ca.SX(1))
            return fiber.l_M, fiber.l_T
        l_M = ca.fmax(self.tendon_state(s), self._least)
        return l_M, self.path.length.at(s) - ca.sqrt(l_M**2 - self._height**2)

    # ---- equilibrium ---------------------------------------------------------------------------------------

    def bounds(self, s: View) -> tuple[SX, SX]:
        """l_min, and l_M where an elastic tendon begins to pull: between them fiber and tendon balance. They
        are equal where the tendon is slack."""
        along = ca.fmax(self.path.length.at(s) - sx(self.tendon_slack_length), self._least_along)
        return self._least, self.known(s, ca.sqrt(self._height**2 + along**2))

    def imbalance(self, s: View, l_M: SX) -> tuple[SX, SX]:
        """f_T, and the fiber's force along the tendon minus f_T, for a fiber of length l_M that does not
        move: equations (3), (4) over F_0."""
        cos = ca.sqrt(1 - (self._height / l_M) ** 2)
        l_n, a = l_M / sx(self.optimal_fiber_length), self.activation(s)
        f_T = self.tendon_force_length.value(
            (self.path.length.at(s) - l_M * cos) / sx(self.tendon_slack_length)
        )
        held = a * self.active_force_length.value(l_n) * self.f_V(ca.SX(0), a)
        return f_T, (held + self.passive_force_length.value(l_n)) * cos - f_T
