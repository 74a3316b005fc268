"""Materials of surfaces, and their combination for a pair: docs/theory/contact.md (1)-(4), sherman2011
appendix A.1.

s_1 = E_2^(2/3) / (E_1^(2/3) + E_2^(2/3)),   s_2 = 1 - s_1:   x_i = s_i x of the depth x is in body i  (1)
E* = (s_1 E_1^(2/3))^(3/2)                                                                             (2)
c* = s_1 c_1 + s_2 c_2                                                                                 (3)
mu = 2 mu_1 mu_2 / (mu_1 + mu_2) for static, dynamic and viscous friction each                         (4)

Restitution and friction of surfaces that do not yield combine as (4): docs/theory/rigid_contact.md (1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import casadi as ca

import condyle.plausible as plausible
from condyle.arguments import with_call_hints
from condyle.arrays import SX
from condyle.errors import DescriptionError, check_name, warn
from condyle.laws.described import Described, quantity, sx
from condyle.records import dataclass
from condyle.spatial.algebra import all_of
from condyle.trace import Number
from condyle.trace.parameter import Expression, numbers_at

MU, YOUNG = quantity("-", lowest=0.0), quantity("Pa", lowest=0.0, positive=True)
SOFTEST = 1e3
"""[Pa] Smallest plausible modulus of a solid: fat and brain have 1e3 to 5e3."""


@dataclass(frozen=True, eq=False, repr=False)
class Material(Described):
    """The material of a compliant surface. All numbers may be Parameters.

    Args:
        modulus: plane-strain modulus E / (1 - nu^2) [Pa], above 0; `Material.elastic` takes Young's modulus
            E and Poisson's ratio nu.
        dissipation: c [s/m], at least 0: bodies that meet slowly with speed v part with (1 - c v) v.
        static_friction: coefficient at the peak, at least the dynamic one.
        dynamic_friction: coefficient of fast sliding, at least 0.
        viscous_friction: increase of the coefficient with the speed of slip [s/m], at least 0.
        transition_speed: slip at which friction is at its peak [m/s], at least 1e-12. Of two materials the
            larger value applies.
    """

    call_hints: ClassVar = {
        **dict.fromkeys(("stiffness", "k"), "it is modulus= [Pa]"),
        **dict.fromkeys(
            ("friction", "mu"),
            "it is static_friction= and dynamic_friction=, equal for plain Coulomb friction",
        ),
        **dict.fromkeys(
            ("E", "young", "youngs_modulus", "nu", "poisson"), "it is Material.elastic(young, poisson), in Pa"
        ),
        "restitution": "rebound follows from dissipation=; it is given to cd.contact.Rigid(restitution=)",
    }

    modulus: Annotated[Number, quantity("Pa", lowest=0.0, positive=True)]
    dissipation: Annotated[Number, quantity("s/m", lowest=0.0)] = 0.0
    static_friction: Annotated[Number, MU] = 0.0
    dynamic_friction: Annotated[Number, MU] = 0.0
    viscous_friction: Annotated[Number, quantity("s/m", lowest=0.0)] = 0.0
    transition_speed: Annotated[Number, quantity("m/s", lowest=1e-12)] = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        modulus, most, least = map(numbers_at, (self.modulus, self.static_friction, self.dynamic_friction))
        if modulus < SOFTEST:
            warn(
                f"Material: modulus = {modulus:g} Pa is softer than any solid (brain and fat have 1e3 Pa "
                "and more, rubber 1e6, bone 1e10, steel 2e11); moduli are in Pa: 200 GPa is 200e9"
            )
        ask_friction(most, "Material")
        if most > least == 0:
            warn(
                f"Material: static_friction = {most:g} without dynamic_friction: surfaces that slip faster than 3 "
                "times the transition_speed slide freely. Give dynamic_friction= too; two equal numbers "
                "are plain Coulomb friction"
            )

    @classmethod
    @with_call_hints(
        {
            "E": "it is young=",
            "youngs_modulus": "it is young=",
            "nu": "it is poisson=",
            "friction": "it is static_friction= and dynamic_friction=",
        },
        skip=1,
        name="Material.elastic",
    )
    def elastic(
        cls,
        young: Number,
        poisson: Number,
        dissipation: Number = 0.0,
        static_friction: Number = 0.0,
        dynamic_friction: Number = 0.0,
        viscous_friction: Number = 0.0,
        transition_speed: Number = 0.01,
    ) -> Material:
        """From Young's modulus and Poisson's ratio.

        Args:
            young: Young's modulus E [Pa], above 0.
            poisson: Poisson's ratio nu, above -1 and at most 0.5.
            dissipation: c [s/m].
            static_friction: coefficient at the peak.
            dynamic_friction: coefficient of fast sliding.
            viscous_friction: increase of the coefficient with the speed of slip [s/m].
            transition_speed: slip at which friction is at its peak [m/s].
        """
        kept = quantity("-").take(poisson, "Material.elastic: poisson")
        nu: Any = numbers_at(kept)
        if not -1 < nu <= 0.5:
            raise DescriptionError(f"Material.elastic: poisson must be above -1 and at most 0.5, got {nu:g}")
        E = YOUNG.take(young, "Material.elastic: young")
        share: Any = 1 - nu * nu
        if isinstance(kept, Expression):  # at other values the modulus is not finite
            nu = kept.sx
            share = ca.if_else(all_of(nu > -1, nu <= 0.5), 1 - nu * nu, 0)
        return cls(
            (sx(E) if isinstance(E, Expression) else E) / share,
            dissipation,
            static_friction,
            dynamic_friction,
            viscous_friction,
            transition_speed,
        )

    def conditions(self) -> SX:
        return ca.vertcat(super().conditions(), sx(self.static_friction) >= sx(self.dynamic_friction))

    def check_values(self, values: Mapping[str, float]) -> None:
        least, most = (numbers_at(x, values) for x in (self.dynamic_friction, self.static_friction))
        if not least <= most:
            raise DescriptionError(
                "Material: static_friction must be at least dynamic_friction, got "
                f"{most:g} and {least:g}; equal numbers are plain Coulomb friction"
            )


@dataclass(frozen=True)
class MaterialPair:
    """Two materials as one pair, over SX.

    Attributes:
        E: E* of (2) [Pa].
        s_1: share of the depth in the first body, (1).
        c: c* of (3) [s/m].
        mu_s, mu_d: static and dynamic friction, (4).
        mu_v: viscous friction [s/m], (4).
        v_t: transition speed [m/s].
    """

    E: ca.SX
    s_1: ca.SX
    c: ca.SX
    mu_s: ca.SX
    mu_d: ca.SX
    mu_v: ca.SX
    v_t: ca.SX

    @staticmethod
    def from_kept(kept: Any) -> MaterialPair:
        """From the result of `combined`."""
        return MaterialPair(*ca.vertsplit(ca.densify(sx(kept))))


COMBINED = quantity("", 7)


def combined(a: Material, b: Material) -> SX:
    """The numbers of `MaterialPair`."""
    e_1, e_2 = (sx(m.modulus) ** (2 / 3) for m in (a, b))
    s_1 = e_2 / (e_1 + e_2)  # (1)
    return ca.vertcat((s_1 * e_1) ** 1.5, s_1, losses(a, b, s_1))  # (2)


def losses(a: Material, b: Material, s_1: SX) -> SX:
    """c*, friction and transition speed of two materials, with the share s_1 of a: (3), (4)."""
    return ca.vertcat(
        s_1 * sx(a.dissipation) + (1 - s_1) * sx(b.dissipation),
        *(harmonic(a, b, f) for f in ("static_friction", "dynamic_friction", "viscous_friction")),
        ca.fmax(sx(a.transition_speed), sx(b.transition_speed)),
    )


def harmonic(a: Material | Rigid, b: Material | Rigid, name: str) -> SX:
    """A combined number of two materials, (4); 0 if both are 0."""
    x, y = sx(getattr(a, name)), sx(getattr(b, name))
    some = x + y > 0
    return ca.if_else(some, 2 * x * y / ca.if_else(some, x + y, 1), 0)


LAWS = ("newton", "poisson")
RESTITUTION = Annotated[Number, quantity("-", lowest=0.0)]
FRICTION = Annotated[Number, quantity("-", lowest=0.0)]


@dataclass(frozen=True, eq=False, repr=False)
class Rigid(Described):
    """A rigid material. Two rigid surfaces never overlap: they push, rub and rebound. Numbers may be
    Parameters.

    Two materials combine as e = 2 e_1 e_2 / (e_1 + e_2), and friction in the same way: equal values are
    unchanged, and zero gives zero.

    Args:
        restitution: e, from 0 (no rebound) to 1 (all of it).
        friction: coefficient of Coulomb's friction mu, at least 0.
        law: quantity that restitution multiplies: "newton", the speed of approach; "poisson", the impulse of
            compression.
    """

    call_hints: ClassVar = {
        **dict.fromkeys(
            ("mu", "dynamic_friction", "friction_coefficient", "static_friction"), "it is friction="
        ),
        **dict.fromkeys(("e", "bounce"), "it is restitution="),
        **dict.fromkeys(
            ("damping", "dissipation", "modulus", "stiffness"),
            "compliant surfaces have a cd.contact.Material",
        ),
    }

    restitution: RESTITUTION = 0.0
    friction: FRICTION = 0.0
    law: str = "newton"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_law(self.law, "Rigid")
        ask_friction(numbers_at(self.friction), "Rigid")

    def check_values(self, values: Mapping[str, float]) -> None:
        check_restitution(self.restitution, "Rigid", values)

    def conditions(self) -> SX:
        return ca.vertcat(super().conditions(), sx(self.restitution) <= 1)


def ask_friction(mu: float, what: str) -> None:
    """Warn of a coefficient in percent."""
    if mu > plausible.FRICTION:
        plausible.ask(
            f"{what}: friction of {mu:g} is implausible: it is a coefficient, 0.8 rather than 80 %; "
            "rubber on asphalt has 1"
        )


def check_law(law: Any, what: str) -> None:
    """Raise an error for an unknown law of restitution."""
    check_name(f"law of {what}", law, LAWS)


def check_restitution(kept: Any, what: str, values: Mapping[str, float] | None = None) -> None:
    """Raise an error for a restitution above 1; below 0 its field does."""
    e = numbers_at(kept, values)
    if not e <= 1:
        raise DescriptionError(
            f"{what}: restitution must be from 0 to 1, got {e:g}; above 1 an impact would create energy"
        )
