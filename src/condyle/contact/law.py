"""Compliant contact of a pair of surfaces: docs/theory/contact.md (5)-(20), sherman2011 section 5.1.

    f_Hz = 4/3 sigma sqrt(R) E* x^(3/2) where x > 0, else 0                     sherman2011 (23)         (12)
    f_n = f_Hz max(1 + 3/2 c* xdot, 0)                                         sherman2011 (24)-(26)     (13)
    friction on b = -mu(|v_t|) f_n v_t / |v_t|, v_t: slip of b on a at P       sherman2011 (27)         (14)
    rolling resistance on b = -d_r f_n g(R |w_t|) w_t / |w_t|, w_t: the part of w in the contact plane   (15)
    spin friction on b = -d_s f_n g(R |w_n|) w_n / |w_n|, w_n: the part along n; g: (9) with mu = 1     (16)
    stored V = 2/5 f_Hz x,   lost = (f_n - f_Hz) xdot - friction . v_t - moments . w >= 0               (17)

With `smooth` = delta, in place of max(x, 0) and max(d, 0), d = 1 + 3/2 c* xdot:

    x_s = (x + sqrt(x^2 + delta^2)) / 2,   V = f_Hz (2/5 x_s + delta^2 / (2 x_s))                      (18)
    (d + sqrt(d^2 + h^2)) / (1 + sqrt(1 + h^2)),   h = 0.01                                             (19)

On b the force acts at P, on a its opposite at the same point of space.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field, replace
from typing import Annotated, Any, ClassVar, Self

import casadi as ca

from condyle.contact.friction import smoothed, stribeck
from condyle.contact.hertz import hertz_factor
from condyle.contact.material import COMBINED, Combined, combined
from condyle.contact.pairs import SOLVED, check_pair, check_yielding, touch
from condyle.contact.sizes import warn_of_smooth
from condyle.contact.surfaces import BodyPose, Surface
from condyle.contact.touch import Touch
from condyle.forces.base import Law
from condyle.laws.described import Part, quantity, sx
from condyle.laws.factors import Factors
from condyle.laws.view import Loads, View
from condyle.records import dataclass
from condyle.trace import Number

BLEND = 0.01
"""h of (19)."""


@dataclass(frozen=True)
class Forces:
    """What a contact exerts, over SX, in ground.

    Attributes:
        touch: where.
        P: contact point [m].
        v: velocity of b's material at P less that of a's [m/s].
        v_t: slip, its part in the contact plane [m/s].
        f_Hz: elastic force [N].
        f_n: normal force [N].
        f_t: friction on b [N], shape (3,).
        m: moment on b of rolling resistance and spin friction [N m], shape (3,).
        lost: power lost [W].
    """

    touch: Touch
    P: ca.SX
    v: ca.SX
    v_t: ca.SX
    f_Hz: ca.SX
    f_n: ca.SX
    f_t: ca.SX
    m: ca.SX
    lost: ca.SX

    @property
    def f(self) -> ca.SX:
        """The whole force on b [N]."""
        return self.f_n * self.touch.n + self.f_t


@dataclass(frozen=True, eq=False, repr=False)
class ContactLaw(Law):
    """A force between two surfaces. Write `surfaces` and `forces`."""

    tabular = True

    def surfaces(self) -> tuple[Surface, Surface]:
        """a and b."""
        raise TypeError(f"{type(self).__name__} does not say which surfaces touch")

    def scaled(self, factors: Factors) -> Self:
        """Surfaces move with their bodies and have the sizes that they had; meshes have those of their
        bodies."""
        a, b = self.surfaces()
        if not any(factors.change(x.body) for x in (a, b)):
            return self
        factors.notes.append(
            ": sizes of its surfaces are as they were, of meshes not; those with a place on a body have moved "
            "with it"
        )
        moved: Any = {"a": a.scaled(factors), "b": b.scaled(factors)}
        return replace(self, **moved)

    def touch(self, s: View) -> Touch:
        """Where the surfaces are closest."""
        a, b = self.surfaces()
        return touch(a, BodyPose(s, a.body), b, BodyPose(s, b.body))

    @property
    def share(self) -> ca.SX:
        """s_1 of (8), the share of the depth in a."""
        return ca.SX(0.5)

    @property
    def solved(self) -> bool:
        """Whether closest points come from a solver, and may not be found."""
        return any(type(surface) in SOLVED for surface in self.surfaces())

    def forces(self, s: View) -> Forces:
        """What it exerts."""
        raise TypeError(f"{type(self).__name__} does not say what it exerts")

    def stored(self, s: View) -> ca.SX | None:
        """What it stores [J], also of laws that have no potential; None if nobody knows."""
        return self.potential(s)

    def apply(self, s: View, loads: Loads) -> None:
        done = self.forces(s)
        for surface, sign in zip(self.surfaces(), (-1, 1), strict=True):
            arm = done.P - s.station_position(surface.body, ca.SX(3, 1))
            loads.add_force(surface.body, ca.SX(3, 1), sign * done.f)
            loads.add_torque(surface.body, sign * (ca.cross(arm, done.f) + done.m))


@dataclass(frozen=True, eq=False, repr=False)
class HuntCrossley(ContactLaw):
    """Contact of two surfaces after Hertz, Hunt and Crossley, with Stribeck friction: sherman2011 section
    5.1.

        f_Hz = 4/3 sigma sqrt(R) E* x^(3/2)                                                  (12)
        f_n = f_Hz max(1 + 3/2 c* xdot, 0)                                                   (13)
        friction = mu(slip) f_n                                                              (14)

    The force has a kink where surfaces meet, at x = 0, in its second derivative; with `smooth` it has all
    derivatives and acts a little before.

    Args:
        a: one surface.
        b: the other, on another body.
        rolling_resistance: lever of the normal force against rolling [m], at least 0.
        spin_friction: lever against spinning about the normal [m], at least 0.
        smooth: a depth [m]; 0 is the exact law. (x + sqrt(x^2 + smooth^2)) / 2 takes the place of max(x, 0).
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    a: Part
    b: Part
    rolling_resistance: Annotated[Number, quantity("m", lowest=0.0)] = field(default=0.0, kw_only=True)
    spin_friction: Annotated[Number, quantity("m", lowest=0.0)] = field(default=0.0, kw_only=True)
    smooth: Annotated[float, quantity("m", lowest=0.0, plain=True)] = field(default=0.0, kw_only=True)
    material: Annotated[Any, COMBINED] = field(init=False, repr=False, default=(1.0,) * 7)
    extras: frozenset[str] = field(init=False, repr=False, default=frozenset())

    curve: ClassVar[Any] = staticmethod(stribeck)

    def __post_init__(self) -> None:
        what = type(self).__name__
        check_pair(self.a, self.b, what)
        check_yielding(self.a, self.b, what)
        object.__setattr__(self, "material", combined(self.a.made_of, self.b.made_of, f"{what}: material"))
        super().__post_init__()
        options = ("rolling_resistance", "spin_friction", "smooth")
        object.__setattr__(self, "extras", frozenset(f for f in options if getattr(self, f) != 0))
        warn_of_smooth(self.a, self.b, self.smooth, what)

    @property
    def form(self) -> Hashable:
        return self.a.form, self.b.form, self.extras

    def __repr__(self) -> str:
        a, b = (f"{type(s).__name__} on {s.body!r}" for s in (self.a, self.b))
        given = "".join(f", {option}={getattr(self, option)!r}" for option in sorted(self.extras))
        return f"{type(self).__name__}({a}, {b}{given})"

    def surfaces(self) -> tuple[Surface, Surface]:
        return self.a, self.b

    @property
    def share(self) -> ca.SX:
        return Combined.of(self.material).s_1

    def _elastic(self, where: Touch, m: Combined) -> tuple[ca.SX, ca.SX]:
        """f_Hz of (12) [N] and V of (17) [J]."""
        k = 4 / 3 * m.E * hertz_factor(where)
        if "smooth" in self.extras:
            delta2 = sx(self.smooth) ** 2
            x = (where.x + ca.sqrt(where.x**2 + delta2)) / 2  # (18)
            return k * x * ca.sqrt(x), k * ca.sqrt(x) * (2 / 5 * x**2 + delta2 / 2)
        touching = where.x > 0
        x = ca.if_else(touching, where.x, 1)
        f = ca.if_else(touching, k * x * ca.sqrt(x), 0)  # (12)
        if where.solved:  # NaN stays, which comparisons would hide
            f = ca.if_else(where.x <= 0, 0, ca.if_else(touching, f, ca.SX.nan()))
        return f, 2 / 5 * f * where.x

    def forces(self, s: View) -> Forces:
        m, where = Combined.of(self.material), self.touch(s)
        P, n = where.at(m.s_1), where.n
        velocity = lambda body: (
            s.station_velocity(body, ca.SX(3, 1))
            + ca.cross(s.angular_velocity(body), P - s.station_position(body, ca.SX(3, 1)))
        )
        v = velocity(self.b.body) - velocity(self.a.body)
        xdot, v_t = -ca.dot(n, v), _across(n, v)
        f_Hz, _ = self._elastic(where, m)
        smooth = "smooth" in self.extras
        f_n = f_Hz * damped(1 + 1.5 * m.c * xdot, smooth)  # (13)
        f_t = -f_n * (smoothed if smooth else self.curve)(ca.dot(v_t, v_t), m) * v_t  # (14)
        moment = self._resistance(s, where, f_n, m)
        lost = (f_n - f_Hz) * xdot - ca.dot(f_t, v_t)  # (17)
        if self.extras - {"smooth"}:
            lost -= ca.dot(moment, s.angular_velocity(self.b.body) - s.angular_velocity(self.a.body))
        return Forces(where, P, v, v_t, f_Hz, f_n, f_t, moment, lost)

    def _resistance(self, s: View, where: Touch, f_n: ca.SX, m: Combined) -> ca.SX:
        """Moments (15), (16) on b [N m]."""
        if not self.extras - {"smooth"}:
            return ca.SX(3, 1)
        w, n = s.angular_velocity(self.b.body) - s.angular_velocity(self.a.body), where.n
        spin, out = ca.dot(w, n), ca.SX(3, 1)
        rolling = _across(n, w)
        one = Combined(m.E, m.s_1, m.c, ca.SX(1), ca.SX(1), ca.SX(0), m.v_t / where.R)  # [rad/s]
        curve = smoothed if "smooth" in self.extras else self.curve
        if "rolling_resistance" in self.extras:
            out -= sx(self.rolling_resistance) * f_n * curve(ca.dot(rolling, rolling), one) * rolling
        if "spin_friction" in self.extras:
            out -= sx(self.spin_friction) * f_n * curve(spin * spin, one) * spin * n
        return out

    def potential(self, s: View) -> ca.SX:
        return self._elastic(self.touch(s), Combined.of(self.material))[1]


def _across(n: ca.SX, v: ca.SX) -> ca.SX:
    """The part of v in the contact plane; zero where there is no normal."""
    return ca.cross(n, ca.cross(v, n))


def damped(d: ca.SX, smooth: bool) -> ca.SX:
    """max(d, 0), or (19), which is 1 at 1 as well: what is lost is never negative."""
    return (d + ca.sqrt(d * d + BLEND**2)) / (1 + (1 + BLEND**2) ** 0.5) if smooth else ca.fmax(d, 0)
