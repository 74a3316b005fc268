"""A body that slides along an ellipse: lee2008 (17)-(20)."""

from __future__ import annotations

import casadi as ca

from condyle.arrays import Array
from condyle.mobilizers.base import Mobilizer, RelativeMotion
from condyle.mobilizers.constants import conditions_on, constant, sx
from condyle.mobilizers.lower_pairs import LETTERS, column
from condyle.records import dataclass
from condyle.trace import Number


@dataclass(frozen=True, eq=False, repr=False)
class EllipticSlider(Mobilizer):
    """A body that slides along an ellipse fixed in F, its x axis along the tangent (the elliptic joint of
    lee2008).

    q: parameter of the ellipse [rad], not the angle of M.   u = qdot.

        p = (a sin q, -b cos q, 0),   R = Rz(phi),   phi = atan2(b sin q, a cos q)          lee2008 (17), (18)
        H = [z phi'; (a cos q, b sin q, 0)],   phi' = a b / d,   d = a^2 cos^2 q + b^2 sin^2 q            (19)
        bias = [z phi''; (-a sin q, b cos q, 0)] u^2,   phi'' = 2 a b (a^2 - b^2) sin q cos q / d^2       (20)

    (19), (20) of the paper are in M. At q = 0, M is at (0, -b, 0), with its axes along F's. H vanishes
    nowhere.

    Args:
        a: semi-axis along x [m], positive, a number or a Parameter.
        b: semi-axis along y [m].
    """

    a: Number
    b: Number

    coordinate_names = speed_names = ("angle",)
    units = ("rad",)
    speed_units = ("rad/s",)

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            object.__setattr__(
                self, name, constant(getattr(self, name), f"EllipticSlider: {name}", positive=True)
            )

    def conditions(self) -> ca.SX | None:
        return conditions_on((self.a, self.b), positive=True)

    def _scaled(self, s: Array) -> Mobilizer:
        return EllipticSlider(self.a * float(s[0]), self.b * float(s[1]))

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        a, b, z = sx(self.a), sx(self.b), column(LETTERS["z"])
        s, c = ca.sin(q), ca.cos(q)
        d = (a * c) ** 2 + (b * s) ** 2
        length = ca.sqrt(d)
        cosine, sine = a * c / length, b * s / length
        R = ca.sparsify(ca.blockcat([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]]))  # (17), (18)
        x, y = column(LETTERS["x"]), column(LETTERS["y"])
        turn = a * b / d
        bend = 2 * turn * (a * a - b * b) * s * c / d
        return RelativeMotion(
            R=R,
            p=x * (a * s) - y * (b * c),
            H_w=z * turn,
            H_v=x * (a * c) + y * (b * s),  # (19)
            bias_w=z * (bend * u * u),
            bias_v=(y * (b * c) - x * (a * s)) * u * u,
        )  # (20)

    def __repr__(self) -> str:
        return f"EllipticSlider({self.a!r}, {self.b!r})"
