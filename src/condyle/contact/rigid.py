"""The material of surfaces that do not yield: docs/theory/rigid_contact.md (1).

e = 2 e_1 e_2 / (e_1 + e_2),   mu = 2 mu_1 mu_2 / (mu_1 + mu_2),   0 where both are                  (1)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import casadi as ca

from condyle.errors import DescriptionError, UnknownNameError
from condyle.laws.described import Described, number, quantity, sx
from condyle.records import dataclass
from condyle.trace import Number
from condyle.trace.parameter import Expression, as_sx

LAWS = ("newton", "poisson")
RESTITUTION = Annotated[Number, quantity("-", lowest=0.0)]
FRICTION = Annotated[Number, quantity("-", lowest=0.0)]


@dataclass(frozen=True, eq=False, repr=False)
class Rigid(Described):
    """What a surface is made of that does not yield. Two such surfaces never overlap: they push, rub and
    rebound. Numbers may be Parameters.

    Of two materials e = 2 e_1 e_2 / (e_1 + e_2), and friction likewise: what one has if both are equal, and
    none if one has none.

    Args:
        restitution: e, from 0 (no rebound) to 1 (all of it).
        friction: coefficient of Coulomb's friction mu, at least 0.
        law: what restitution is a share of: "newton", of the speed of approach; "poisson", of the impulse of
            compression.
    """

    restitution: RESTITUTION = 0.0
    friction: FRICTION = 0.0
    law: str = "newton"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_law(self.law, "Rigid")
        check_restitution(self.restitution, "Rigid")

    def check_parameters(self, values: Mapping[str, float]) -> None:
        super().check_parameters(values)
        check_restitution(self.restitution, "Rigid", values)

    def conditions(self) -> ca.SX:
        return ca.vertcat(super().conditions(), sx(self.restitution) <= 1)


def check_law(law: Any, what: str) -> None:
    """Refuse a law of restitution that there is not."""
    if law not in LAWS:
        raise UnknownNameError(f"law of {what}", law, LAWS)


def check_restitution(kept: Any, what: str, values: Mapping[str, float] | None = None) -> None:
    """Refuse a restitution above 1: below 0 its field refuses."""
    e = float(kept.at(values)[0, 0]) if isinstance(kept, Expression) else kept
    if not e <= 1:
        raise DescriptionError(
            f"{what}: restitution must be from 0 to 1, got {e:g}; above 1 an impact would make energy"
        )


def combined(a: Rigid, b: Rigid, name: str, what: str) -> Any:
    """A number of two materials, as a constraint keeps it."""
    x, y = sx(getattr(a, name)), sx(getattr(b, name))
    both = ca.if_else(x + y > 0, 2 * x * y / ca.if_else(x + y > 0, x + y, 1), 0)  # (1)
    return number(as_sx(both), what) if ca.symvar(both) else float(ca.evalf(both))
