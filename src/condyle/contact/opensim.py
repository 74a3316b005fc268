"""OpenSim's contact forces as they are in version 4.6, quirks included: docs/theory/contact.md (21)-(24)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

import casadi as ca

from condyle.contact.friction import hollars
from condyle.contact.law import ContactLaw, Forces, HuntCrossley
from condyle.contact.material import Combined
from condyle.contact.surfaces import HalfSpace, Length, Sphere, Surface, directed
from condyle.contact.touch import Touch
from condyle.forces.base import Law
from condyle.laws.described import BodyName, Station, quantity, sx
from condyle.laws.factors import Factors
from condyle.laws.view import View
from condyle.records import dataclass
from condyle.trace import Number, Numbers


@dataclass(frozen=True, eq=False, repr=False)
class OpenSimHuntCrossley(HuntCrossley):
    """OpenSim's HuntCrossleyForce for one pair of surfaces: `HuntCrossley` with the curve of friction

        mu = mu_v v + min(s, 1) (mu_d + 2 (mu_s - mu_d) / (1 + s^2)),   s = v / transition_speed          (21)

    which has a kink at s = 1 and a slope at rest. OpenSim's stiffness is the modulus of the material, its
    transition_velocity the transition_speed of both materials.

    Not as in OpenSim: where several pairs share one HuntCrossleyForce and one of them would pull, OpenSim
    leaves out all pairs that come after it in its list; here each pair is on its own.

    Args:
        a: one surface.
        b: the other, on another body.
        rolling_resistance: as HuntCrossley; OpenSim has none.
        spin_friction: as HuntCrossley; OpenSim has none.
        smooth: as HuntCrossley.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    curve: ClassVar[Any] = staticmethod(hollars)


@dataclass(frozen=True, eq=False, repr=False)
class SmoothSphereHalfSpace(ContactLaw):
    """OpenSim's SmoothSphereHalfSpaceForce, for gradients:

        f_Hz = 4/3 k sqrt(R k) (x^2 + cf)^(3/4) (1 + tanh(bd x)) / 2,   k = stiffness^(2/3) / 2           (22)
        f_n = f_Hz (1 + 3/2 c xdot) (1 + tanh(bv (xdot + 2 / (3 c)))) / 2                                 (23)
        friction by (21) at v = sqrt(|v_t|^2 + cf), as mu f_n v_t / v                                     (24)

    It pushes where nothing touches (63 N at 1e6 Pa), and min(s, 1) has a kink: it is not smooth there. It
    stores
    no energy in `system.energy`: OpenSim reports 2/5 f_Hz x, which is not the integral of (22).

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
        viscous_friction: what it grows by with slip [s/m].
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

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "normal", directed(self.normal, "SmoothSphereHalfSpace: normal"))

    def scaled(self, factors: Factors) -> Self:
        return Law.scaled(self, factors)

    def surfaces(self) -> tuple[Surface, Surface]:
        return (
            _bare(HalfSpace, body=self.a, normal=self.normal, height=self.height),
            _bare(Sphere, body=self.b, center=self.center, radius=self.radius),
        )

    def _elastic(self, where: Touch) -> tuple[ca.SX, ca.SX]:
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

    def stored(self, s: View) -> ca.SX:
        """As OpenSim reports it, 2/5 f_Hz x."""
        where = self.touch(s)
        return 2 / 5 * self._elastic(where)[0] * where.x

    def forces(self, s: View) -> Forces:
        where = self.touch(s)
        n, P = where.n, where.at(self.share)
        velocity = lambda body: (
            s.station_velocity(body, ca.SX(3, 1))
            + ca.cross(s.angular_velocity(body), P - s.station_position(body, ca.SX(3, 1)))
        )
        v = velocity(self.b) - velocity(self.a)
        xdot = -ca.dot(n, v)
        v_t = v + xdot * n
        c, cf = sx(self.dissipation), sx(self.constant_contact_force)
        f_Hz, k = self._elastic(where)
        some = c > 0
        rest = 2 / (3 * ca.if_else(some, c, 1))
        share = (1 + ca.tanh(sx(self.hunt_crossley_smoothing) * (xdot + rest))) / 2
        f_n = f_Hz * (1 + 1.5 * c * xdot) * ca.if_else(some, share, 1)  # (23)
        m = Combined(
            k,
            ca.SX(0.5),
            c,
            sx(self.static_friction),
            sx(self.dynamic_friction),
            sx(self.viscous_friction),
            sx(self.transition_velocity),
        )
        f_t = -f_n * hollars(ca.dot(v_t, v_t) + cf, m) * v_t  # (24)
        lost = (f_n - f_Hz) * xdot - ca.dot(f_t, v_t)
        return Forces(where, P, v, v_t, f_Hz, f_n, f_t, ca.SX(3, 1), lost)


def _bare(kind: type, **fields: Any) -> Any:
    """A surface of kept values, without checks: of a law that is traced they are symbols."""
    surface: Any = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(surface, name, value)
    return surface
