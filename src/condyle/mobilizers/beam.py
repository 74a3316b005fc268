"""A body at the free end of a slender beam: CantileverFreeBeam."""

from __future__ import annotations

import casadi as ca

from condyle.arrays import Array
from condyle.mobilizers.angles import xyz_motion
from condyle.mobilizers.base import Mobilizer, RelativeMotion
from condyle.mobilizers.constants import conditions_on, constant, sx
from condyle.records import dataclass
from condyle.trace import Number


@dataclass(frozen=True, eq=False, repr=False)
class CantileverFreeBeam(Mobilizer):
    """The free end of a beam along F's z axis, bent by a force at its end and twisted: angles, translation
    coupled to them.

    q: body-fixed x-y-z angles of the end [rad].   u = qdot.

        R = Rx(q1) Ry(q2) Rz(q3),   p = L (2/3 q2, -2/3 q1, 1 - 4/15 (q1^2 + q2^2))              (38)
        H = [W(q); dp/dq],   bias = [Wdot u; (0, 0, -8/15 L (u1^2 + u2^2))]                      (39)

    A slender beam under an end force f: the end's slope is f L^2 / 2EI and its deflection f L^3 / 3EI, 2/3 L
    of the slope; the shortening is half the integral of the slope squared, 4/15 L of the end's slope squared.
    Right for small angles, a definition for large ones. The stiffness is not here: add forces on the
    coordinates.

    At q = 0, M is at (0, 0, L). W is singular where the second angle is ±pi/2; H keeps its rank since the
    first angle also shifts M.

    Args:
        length: L [m], positive, a number or a Parameter.
    """

    length: Number

    coordinate_names = speed_names = ("rx", "ry", "rz")
    units = ("rad", "rad", "rad")
    speed_units = ("rad/s", "rad/s", "rad/s")

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", constant(self.length, "CantileverFreeBeam: length", positive=True))

    def conditions(self) -> ca.SX | None:
        return conditions_on(self.length, positive=True)

    def _scaled(self, s: Array) -> Mobilizer:
        return CantileverFreeBeam(self.length * float(s[2]))

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        R, W, bias_w = xyz_motion(q, u)
        L = sx(self.length)
        bend, sink = 2 / 3 * L, 4 / 15 * L
        p = ca.vertcat(bend * q[1], -bend * q[0], L - sink * (q[0] ** 2 + q[1] ** 2))  # (38)
        H_v = ca.blockcat([[0, bend, 0], [-bend, 0, 0], [-2 * sink * q[0], -2 * sink * q[1], 0]])  # (39)
        bias_v = ca.vertcat(0, 0, -2 * sink * (u[0] ** 2 + u[1] ** 2))
        return RelativeMotion(R=R, p=p, H_w=W, H_v=ca.sparsify(H_v), bias_w=bias_w, bias_v=bias_v)
