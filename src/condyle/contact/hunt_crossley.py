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

Curves of friction over slip, (9)-(11), each give mu(v) / v, which is finite and smooth where the slip v is
zero.

    Stribeck, sherman2011 (27) and figure 5, C2:  s = v / v_t,  step(x) = x^3 (10 - 15 x + 6 x^2),
        mu = mu_v v + { mu_s step(s)                                 s < 1
                        mu_s - (mu_s - mu_d) step((s - 1) / 2)       s < 3
                        mu_d }                                                                            (9)
    Hollars, of OpenSim's HuntCrossleyForce, C0 with a kink at s = 1:
        mu = mu_v v + min(s, 1) (mu_d + 2 (mu_s - mu_d) / (1 + s^2))                                      (10)
    smooth, C-infinity:
        mu = mu_v v + mu_d s / sqrt(1 + s^2) + 2 (mu_s - mu_d) s / (1 + s^2)                              (11)

OpenSim's contact forces, (21)-(24), are as in version 4.6, quirks included.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field, replace
from typing import Annotated, Any, ClassVar, Self

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.contact.closest_points import SOLVED, check_pair, check_yielding, touch
from condyle.contact.hertz import hertz_factor
from condyle.contact.line import line_force
from condyle.contact.materials import COMBINED, MaterialPair, combined
from condyle.contact.solids import Slice
from condyle.contact.surfaces import (
    BodyPose,
    ContactSurface,
    HalfSpace,
    Length,
    Sphere,
    Touch,
    bare,
    directed,
)
from condyle.errors import DescriptionError, warn
from condyle.forces.base import Law
from condyle.laws.described import BodyName, Role, Station, quantity, sx
from condyle.laws.factors import BodyFactors
from condyle.laws.smooth import at_least
from condyle.laws.view import Loads, View
from condyle.records import assign, dataclass
from condyle.trace import Number, Numbers


def _slip(square: SX, m: MaterialPair) -> tuple[SX, SX]:
    """s^2, and s where it is above zero, else 1."""
    s2 = square * (1 / m.v_t**2)
    return s2, ca.sqrt(ca.if_else(s2 > 0, s2, 1))


def stribeck(square: SX, m: MaterialPair) -> SX:
    """(9) over v, of v^2 [m^2/s^2]."""
    s2, s = _slip(square, m)
    falling = m.mu_s - (m.mu_s - m.mu_d) * step((s - 1) / 2)
    per_s = ca.if_else(s2 < 1, m.mu_s * s2 * (10 + s * (6 * s - 15)), ca.if_else(s2 < 9, falling, m.mu_d) / s)
    return per_s * (1 / m.v_t) + m.mu_v


def hollars(square: SX, m: MaterialPair, width: float = 0.0) -> SX:
    """(10) over v, of v^2 [m^2/s^2]; over one denominator: a division takes longer than the rest.

    width: over which its kink at s = 1 is smoothed, in s^2.
    """
    s2 = square * (1 / m.v_t**2)
    level = (m.mu_d * (1 + s2) + 2 * (m.mu_s - m.mu_d)) * (1 / m.v_t)
    return level / ((1 + s2) * ca.sqrt(at_least(s2, ca.SX(1), width))) + m.mu_v


def smoothed(square: SX, m: MaterialPair) -> SX:
    """(11) over v, of v^2 [m^2/s^2]."""
    s2 = square / m.v_t**2
    return (m.mu_d / ca.sqrt(1 + s2) + 2 * (m.mu_s - m.mu_d) / (1 + s2)) / m.v_t + m.mu_v


def step(x: SX) -> SX:
    """From 0 at 0 to 1 at 1, with first and second derivatives zero at both."""
    return x**3 * (10 + x * (6 * x - 15))


KNEE, DEPTH = 0.1, 1e-4
"""Smoothing for optimal control: of friction's kink, which lowers mu by at most 2.5 %; and of the depth [m]:
at touch the force is that of 5e-5 m."""
SHARE = 0.1
"""Fraction of the smallest radius of two surfaces up to which `smooth` counts as small."""


def warn_of_smooth(
    a: ContactSurface, b: ContactSurface, smooth: float, what: str, reach: float = 0.0
) -> None:
    """Warn about a `smooth` that is large compared with the surfaces. reach: distance at which springs act,
    in units of `smooth`."""
    least = min((a.original, b.original), key=lambda s: s.smallest_radius)
    size = least.smallest_radius
    if not smooth > SHARE * size:
        return
    if reach:
        early = f"springs would act from {reach * smooth:.2g} m before they touch"
    else:
        early = (
            f"at a gap of {size:.3g} m it would push as if {(np.hypot(size, smooth) - size) / 2:.2g} m deep"
        )
    warn(
        f"{what}: smooth = {smooth:g} m is large for {type(least).__name__} on {least.body!r}, "
        f"whose smallest radius is {size:.3g} m: {early}. Use at most {SHARE * size:.2g} m; 1e-4 is usual"
    )


BLEND = 0.01
"""h of (19)."""


@dataclass(frozen=True)
class PairForces:
    """The forces of a contact, over SX, in ground.

    Attributes:
        touch: the closest points.
        P: contact point [m].
        v: velocity of b's material at P less that of a's [m/s].
        v_t: slip, its part in the contact plane [m/s].
        f_Hz: elastic force [N].
        f_n: normal force [N].
        f_t: friction on b [N], shape (3,).
        m: moment on b of rolling resistance and spin friction [N m], shape (3,).
        lost: power lost [W].
        f: the whole force on b [N], shape (3,).
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
    f: ca.SX


@dataclass(frozen=True, eq=False, repr=False)
class ContactLaw(Law):
    """A force between two surfaces. Write `surfaces` and `forces`."""

    call_hints: ClassVar = dict.fromkeys(
        (
            "dissipation",
            "dynamic_friction",
            "friction",
            "material",
            "modulus",
            "mu",
            "restitution",
            "static_friction",
            "stiffness",
            "transition_speed",
        ),
        "it is part of the surfaces' material: cd.contact.Material(...), or cd.contact.Rigid(...)",
    )

    tabular = True

    def surfaces(self) -> tuple[ContactSurface, ContactSurface]:
        """a and b."""
        raise TypeError(f"{type(self).__name__} does not define its surfaces")

    def scaled(self, factors: BodyFactors) -> Self:
        """Surfaces move with their bodies and keep their sizes; meshes are scaled with their bodies."""
        a, b = self.surfaces()
        if not any(factors.change(x.body) for x in (a, b)):
            return self
        factors.notes.append(
            ": its surfaces keep their sizes, except meshes; those with a place on a body have moved with it"
        )
        moved: Any = {"a": a.scaled(factors), "b": b.scaled(factors)}
        return replace(self, **moved)

    def touch(self, s: View) -> Touch:
        """Closest points of the surfaces."""
        a, b = self.surfaces()
        return touch(a, BodyPose(s, a.body), b, BodyPose(s, b.body))

    @property
    def share(self) -> SX:
        """s_1 of (8), the share of the depth in a."""
        return ca.SX(0.5)

    @property
    def solved(self) -> bool:
        """Whether closest points come from a solver, which may fail."""
        return any(type(surface) in SOLVED for surface in self.surfaces())

    def forces(self, s: View) -> PairForces:
        """Its forces."""
        raise TypeError(f"{type(self).__name__} does not define its forces")

    def stored(self, s: View) -> SX | None:
        """Stored energy [J], also of laws without a potential; None if unknown."""
        return self.potential(s)

    def apply(self, s: View, loads: Loads) -> None:
        done = self.forces(s)
        for surface, sign in zip(self.surfaces(), (-1, 1), strict=True):
            arm = done.P - s.station_position(surface.body, ca.SX(3, 1))
            loads.add_force(surface.body, ca.SX(3, 1), sign * done.f)
            loads.add_torque(surface.body, sign * (ca.cross(arm, done.f) + done.m))


@dataclass(frozen=True, eq=False, repr=False)
class HuntCrossley(ContactLaw):
    """Contact of two surfaces after Hertz, Hunt and Crossley, with Stribeck friction: sherman2011 (22), section
    5.1.

        f_Hz = 4/3 sigma sqrt(R) E* x^(3/2)                                                  (12)
        f_n = f_Hz max(1 + 3/2 c* xdot, 0)                                                   (13)
        friction = mu(slip) f_n                                                              (14)

    The second derivative of the force jumps where surfaces meet, at x = 0; with `smooth` all derivatives
    exist, and the force acts slightly earlier.

    Args:
        a: one surface.
        b: the other, on another body.
        rolling_resistance: lever of the normal force against rolling [m], at least 0.
        spin_friction: lever against spinning about the normal [m], at least 0.
        smooth: a depth [m]; 0 is the exact law. (x + sqrt(x^2 + smooth^2)) / 2 replaces max(x, 0).
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names: ClassVar[tuple[str, ...]] = ("HuntCrossleyForce", "Hertz")

    a: Annotated[ContactSurface, Role(kind="part")]
    b: Annotated[ContactSurface, Role(kind="part")]
    rolling_resistance: Annotated[Number, quantity("m", lowest=0.0)] = field(default=0.0, kw_only=True)
    spin_friction: Annotated[Number, quantity("m", lowest=0.0)] = field(default=0.0, kw_only=True)
    smooth: Annotated[float, quantity("m", lowest=0.0, plain=True)] = field(default=0.0, kw_only=True)
    material: Annotated[Numbers, COMBINED] = field(init=False, repr=False, default=(1.0,) * 7)
    extras: frozenset[str] = field(init=False, repr=False, default=frozenset())

    curve: ClassVar[Any] = staticmethod(stribeck)

    def __post_init__(self) -> None:
        what = type(self).__name__
        check_pair(self.a, self.b, what)
        check_yielding(self.a, self.b, what)
        made_of: Any = (self.a.made_of, self.b.made_of)
        assign(self, material=combined(*made_of))
        super().__post_init__()
        options = ("rolling_resistance", "spin_friction", "smooth")
        assign(self, extras=frozenset(f for f in options if getattr(self, f) != 0))
        warn_of_smooth(self.a, self.b, self.smooth, what)
        if self.smooth and any(isinstance(s, Slice) for s in (self.a, self.b)):
            raise DescriptionError(f"{what}: smooth: a cd.contact.Roller cannot be smoothed; omit smooth=")

    @property
    def form(self) -> Hashable:
        return self.a.form, self.b.form, self.extras

    def __repr__(self) -> str:
        a, b = (f"{type(s).__name__} on {s.body!r}" for s in (self.a, self.b))
        given = "".join(f", {option}={getattr(self, option)!r}" for option in sorted(self.extras))
        return f"{type(self).__name__}({a}, {b}{given})"

    def surfaces(self) -> tuple[ContactSurface, ContactSurface]:
        return self.a, self.b

    @property
    def share(self) -> SX:
        return MaterialPair.from_kept(self.material).s_1

    def _elastic(self, where: Touch, m: MaterialPair, smooth: bool = False) -> tuple[SX, SX]:
        """f_Hz of (12) [N] and V of (17) [J]; along lines those of line.py (59)."""
        if where.line is not None:
            x = (where.x + ca.sqrt(where.x**2 + DEPTH**2)) / 2 if smooth else where.x
            f, V = line_force(where, m.E, ca.if_else(x > 0, x, 1))
            return ca.if_else(x > 0, f, 0), ca.if_else(x > 0, V, 0)
        k = 4 / 3 * m.E * hertz_factor(where)
        if smooth or "smooth" in self.extras:
            delta2 = (sx(self.smooth) if "smooth" in self.extras else ca.SX(DEPTH)) ** 2
            x = (where.x + ca.sqrt(where.x**2 + delta2)) / 2  # (18)
            return k * x * ca.sqrt(x), k * ca.sqrt(x) * (2 / 5 * x**2 + delta2 / 2)
        touching = where.x > 0
        x = ca.if_else(touching, where.x, 1)
        f = ca.if_else(touching, k * x * ca.sqrt(x), 0)  # (12)
        if where.solved:  # keeps NaN, which comparisons would hide
            f = ca.if_else(where.x <= 0, 0, ca.if_else(touching, f, ca.SX.nan()))
        return f, 2 / 5 * f * where.x

    def forces(self, s: View) -> PairForces:
        m, where = MaterialPair.from_kept(self.material), self.touch(s)
        P, n = where.at(m.s_1), where.n
        v = relative_velocity(s, self.a.body, self.b.body, P)
        xdot, v_t = -ca.dot(n, v), across(n, v)
        f_Hz, _ = self._elastic(where, m, s.smooth)
        smooth = s.smooth or "smooth" in self.extras
        f_n = f_Hz * damped(1 + 1.5 * m.c * xdot, smooth)  # (13)
        f_t = -f_n * (smoothed if smooth else self.curve)(ca.dot(v_t, v_t), m) * v_t  # (14)
        moment = self._resistance(s, where, f_n, m)
        lost = (f_n - f_Hz) * xdot - ca.dot(f_t, v_t)  # (17)
        if self.extras - {"smooth"}:
            lost -= ca.dot(moment, s.angular_velocity(self.b.body) - s.angular_velocity(self.a.body))
        return PairForces(where, P, v, v_t, f_Hz, f_n, f_t, moment, lost, f_n * n + f_t)

    def _resistance(self, s: View, where: Touch, f_n: SX, m: MaterialPair) -> SX:
        """Moments (15), (16) on b [N m]."""
        if not self.extras - {"smooth"}:
            return ca.SX(3, 1)
        w, n = s.angular_velocity(self.b.body) - s.angular_velocity(self.a.body), where.n
        spin, out = ca.dot(w, n), ca.SX(3, 1)
        rolling = across(n, w)
        one = MaterialPair(m.E, m.s_1, m.c, ca.SX(1), ca.SX(1), ca.SX(0), m.v_t / where.R)  # [rad/s]
        curve = smoothed if "smooth" in self.extras else self.curve
        if "rolling_resistance" in self.extras:
            out -= sx(self.rolling_resistance) * f_n * curve(ca.dot(rolling, rolling), one) * rolling
        if "spin_friction" in self.extras:
            out -= sx(self.spin_friction) * f_n * curve(spin * spin, one) * spin * n
        return out

    def potential(self, s: View) -> SX:
        return self._elastic(self.touch(s), MaterialPair.from_kept(self.material))[1]


def relative_velocity(s: View, a: str, b: str, P: SX) -> SX:
    """Velocity of b's material at a point of ground less that of a's [m/s]."""

    def velocity(body: str) -> SX:
        arm = P - s.station_position(body, ca.SX(3, 1))
        return s.station_velocity(body, ca.SX(3, 1)) + ca.cross(s.angular_velocity(body), arm)

    return velocity(b) - velocity(a)


def across(n: SX, v: SX) -> SX:
    """The part of v in the contact plane; zero where there is no normal."""
    return ca.cross(n, ca.cross(v, n))


def damped(d: SX, smooth: bool) -> SX:
    """max(d, 0), or (19), which is also 1 at 1: losses are never negative."""
    return (d + ca.sqrt(d * d + BLEND**2)) / (1 + (1 + BLEND**2) ** 0.5) if smooth else ca.fmax(d, 0)


@dataclass(frozen=True, eq=False, repr=False)
class OpenSimHuntCrossley(HuntCrossley):
    """OpenSim's HuntCrossleyForce for one pair of surfaces: `HuntCrossley` with the curve of friction

        mu = mu_v v + min(s, 1) (mu_d + 2 (mu_s - mu_d) / (1 + s^2)),   s = v / transition_speed          (21)

    which has a kink at s = 1 and a slope at rest. OpenSim's stiffness is the modulus of the material, its
    transition_velocity the transition_speed of both materials.

    Unlike OpenSim: if several pairs share one HuntCrossleyForce and one of them would pull, OpenSim skips all
    pairs after it in its list; here each pair is independent.

    Args:
        a: one surface.
        b: the other, on another body.
        rolling_resistance: as HuntCrossley; OpenSim does not have it.
        spin_friction: as HuntCrossley; OpenSim does not have it.
        smooth: as HuntCrossley.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("HuntCrossleyForce",)

    curve: ClassVar[Any] = staticmethod(hollars)


@dataclass(frozen=True, eq=False, repr=False)
class SmoothSphereHalfSpace(ContactLaw):
    """OpenSim's SmoothSphereHalfSpaceForce, for gradients:
    other_names = ("SmoothSphereHalfSpaceForce",)
    call_hints: ClassVar = {}

        f_Hz = 4/3 k sqrt(R k) (x^2 + cf)^(3/4) (1 + tanh(bd x)) / 2,   k = stiffness^(2/3) / 2           (22)
        f_n = f_Hz (1 + 3/2 c xdot) (1 + tanh(bv (xdot + 2 / (3 c)))) / 2                                 (23)
        friction by (21) at v = sqrt(|v_t|^2 + cf), as mu f_n v_t / v                                     (24)

    It pushes before surfaces touch (63 N at 1e6 Pa), and min(s, 1) has a kink, where it is not smooth. It
    adds no energy to `system.energy`: OpenSim reports 2/5 f_Hz x, which is not the integral of (22).

    Args:
        a: the body of the half-space, or its name.
        normal: out of the half-space, in a's frame, shape (3,).
        height: distance of its plane from a's origin, along the normal [m].
        b: the body of the sphere, or its name.
        center: of the sphere, in b's frame [m], shape (3,).
        radius: of the sphere [m].
        stiffness: plane-strain modulus of both [Pa].
        dissipation: c [s/m].
        static_friction: coefficient at the peak.
        dynamic_friction: coefficient of fast sliding.
        viscous_friction: increase of the coefficient with slip [s/m].
        transition_velocity: slip at the peak [m/s].
        constant_contact_force: cf, a depth and a slip squared [m^2, m^2/s^2].
        hertz_smoothing: bd [1/m].
        hunt_crossley_smoothing: bv [s/m].
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    a: BodyName
    normal: Annotated[Numbers, quantity("-", 3)]
    height: Annotated[Number, quantity("m")]
    b: BodyName
    center: Station
    radius: Length
    stiffness: Annotated[Number, quantity("Pa", lowest=0.0, positive=True)] = 1.0
    dissipation: Annotated[Number, quantity("s/m", lowest=0.0)] = 0.0
    static_friction: Annotated[Number, quantity("-", lowest=0.0)] = 0.0
    dynamic_friction: Annotated[Number, quantity("-", lowest=0.0)] = 0.0
    viscous_friction: Annotated[Number, quantity("s/m", lowest=0.0)] = 0.0
    transition_velocity: Annotated[Number, quantity("m/s", lowest=0.0, positive=True)] = 0.01
    constant_contact_force: Annotated[Number, quantity("m^2", lowest=0.0, positive=True)] = 1e-5
    hertz_smoothing: Annotated[Number, quantity("1/m", lowest=0.0)] = 300.0
    hunt_crossley_smoothing: Annotated[Number, quantity("s/m", lowest=0.0)] = 50.0

    def check_values(self, values: Mapping[str, float]) -> None:
        assign(self, normal=directed(self.normal, "SmoothSphereHalfSpace: normal", values))

    def scaled(self, factors: BodyFactors) -> Self:
        return Law.scaled(self, factors)

    def surfaces(self) -> tuple[ContactSurface, ContactSurface]:
        return (
            bare(HalfSpace, body=self.a, normal=self.normal, height=self.height),
            bare(Sphere, body=self.b, center=self.center, radius=self.radius),
        )

    def _elastic(self, where: Touch) -> tuple[SX, SX]:
        """f_Hz of (22) [N], and k."""
        x, k = where.x, sx(self.stiffness) ** (2 / 3) / 2
        return (
            4
            / 3
            * k
            * ca.sqrt(where.R * k)
            * (x**2 + sx(self.constant_contact_force)) ** 0.75
            * (1 + ca.tanh(sx(self.hertz_smoothing) * x))
            / 2
        ), k  # (22)

    def stored(self, s: View) -> SX:
        """As OpenSim reports it, 2/5 f_Hz x."""
        where = self.touch(s)
        return 2 / 5 * self._elastic(where)[0] * where.x

    def forces(self, s: View) -> PairForces:
        where = self.touch(s)
        n, P = where.n, where.at(self.share)
        v = relative_velocity(s, self.a, self.b, P)
        xdot = -ca.dot(n, v)
        v_t = v + xdot * n
        c, cf = sx(self.dissipation), sx(self.constant_contact_force)
        f_Hz, k = self._elastic(where)
        some = c > 0
        rest = 2 / (3 * ca.if_else(some, c, 1))
        share = (1 + ca.tanh(sx(self.hunt_crossley_smoothing) * (xdot + rest))) / 2
        f_n = f_Hz * (1 + 1.5 * c * xdot) * ca.if_else(some, share, 1)  # (23)
        m = MaterialPair(
            k,
            ca.SX(0.5),
            c,
            sx(self.static_friction),
            sx(self.dynamic_friction),
            sx(self.viscous_friction),
            sx(self.transition_velocity),
        )
        f_t = -f_n * hollars(ca.dot(v_t, v_t) + cf, m, KNEE * s.smooth) * v_t  # (24)
        lost = (f_n - f_Hz) * xdot - ca.dot(f_t, v_t)
        return PairForces(where, P, v, v_t, f_Hz, f_n, f_t, ca.SX(3, 1), lost, f_n * n + f_t)
