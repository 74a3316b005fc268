"""Bushings between frames on two bodies: docs/theory/forces.md (11)-(15), (44).

Notation
  F fixed on a (X_a), M fixed on b (X_b); X_FM = (R, p); w, v: velocity of M in F, in F.
  x = (theta, p): body-fixed x-y-z angles of R = Rx(theta1) Ry(theta2) Rz(theta3), then p.

Equations
  theta1 = atan2(-R23, R33),   theta2 = atan2(R13, c2),   theta3 = atan2(-R12, R11),   c2 = |(R11, R12)|  (11)
  thetadot = N w,   N = [[1, s1 s2/c2, -c1 s2/c2], [0, c1, s1], [0, -s1/c2, c1/c2]]                       (12)
  f = -(k x + c xdot)                                                                                     (13)
  on b at M's origin, in F: force f_p, moment N' f_theta, so that f . xdot is their power                 (14)
  the opposite on a, at the same point of space                                                           (15)
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Any

import casadi as ca

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.forces.base import Law
from condyle.functions import Formula, Function
from condyle.laws.described import BodyName, Frame, placed, quantity, sx
from condyle.laws.function import FunctionLike, LawFunction, law_function
from condyle.laws.view import Loads, View
from condyle.records import assign, dataclass
from condyle.trace import Numbers, Symbol


@dataclass(frozen=True, eq=False, repr=False)
class _Bushing(Law):
    """Forces on the displacement x of frame M on b from frame F on a."""

    a: BodyName
    X_a: Frame
    b: BodyName
    X_b: Frame

    def _displaced(self, s: View) -> tuple[SX, SX, SX]:
        """R_GF, R_FM and p_FM in F."""
        (R_aF, p_aF), (R_bM, p_bM) = placed(self.X_a), placed(self.X_b)
        R_GF = s.rotation(self.a) @ R_aF
        p_FM = s.station_position(self.b, p_bM) - s.station_position(self.a, p_aF)
        return R_GF, R_GF.T @ s.rotation(self.b) @ R_bM, R_GF.T @ p_FM

    def forces(self, x: SX, xdot: SX) -> SX:
        """f of (13), shape (6,)."""
        raise TypeError(f"{type(self).__name__} needs forces")

    def apply(self, s: View, loads: Loads) -> None:
        R_GF, R, p = self._displaced(s)
        (_, p_aF), (_, p_bM) = placed(self.X_a), placed(self.X_b)
        N = _rates(R)
        w_a = s.angular_velocity(self.a)
        v = s.station_velocity(self.b, p_bM) - s.station_velocity(self.a, p_aF) - ca.cross(w_a, R_GF @ p)
        w = s.angular_velocity(self.b) - w_a
        xdot = ca.vertcat(N @ (R_GF.T @ w), R_GF.T @ v)  # (12)
        f = self.forces(ca.vertcat(_angles(R), p), xdot)  # (13)
        moment, force = R_GF @ (N.T @ f[:3]), R_GF @ f[3:]  # (14)
        loads.add_force(self.b, p_bM, force)
        loads.add_torque(self.b, moment)
        loads.add_force(self.a, p_aF, -force)  # (15)
        loads.add_torque(self.a, -moment - ca.cross(R_GF @ p, force))


@dataclass(frozen=True, eq=False, repr=False)
class LinearBushing(_Bushing):
    """Six springs and dampers that hold frame M on b near frame F on a.

    Three act on the body-fixed x-y-z angles of M in F, three on the displacement of M's origin in F. The
    magnitude of the second angle must be below pi/2, where the other two are not defined.

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        X_a: frame F on a: a Transform, a 3-vector (translation) or None.
        X_b: frame M on b, given in the same ways.
        stiffness: k, three of rotation [N m/rad], then three of displacement [N/m]; shape (6,), at least 0.
        damping: c, [N m s/rad] and [N s/m], shape (6,), at least 0.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("Bushing",)

    tabular = True

    stiffness: Annotated[Numbers, quantity("N m/rad, N/m", 6, lowest=0.0)]
    damping: Annotated[Numbers, quantity("N m s/rad, N s/m", 6, lowest=0.0)] = (0.0,) * 6

    def forces(self, x: SX, xdot: SX) -> SX:
        return -(sx(self.stiffness) * x + sx(self.damping) * xdot)

    def potential(self, s: View) -> SX:
        _, R, p = self._displaced(s)
        return ca.dot(sx(self.stiffness), ca.vertcat(_angles(R), p) ** 2) / 2


DEFLECTIONS = ("theta_x", "theta_y", "theta_z", "delta_x", "delta_y", "delta_z")


@dataclass(frozen=True, eq=False, repr=False)
class FunctionBushing(_Bushing):
    """A bushing whose moments and forces are functions of its deflections, with dampers: OpenSim's
    FunctionBasedBushingForce and ExpressionBasedBushingForce. It has no potential energy; its power is in
    `system.power`.

        f_i = -g_i(theta_x, theta_y, theta_z, delta_x, delta_y, delta_z) - c_i xdot_i            (44)

    The deflections are those of `LinearBushing`. The magnitude of the second angle must be below pi/2.

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        X_a: frame F on a: a Transform, a 3-vector (translation) or None.
        X_b: frame M on b, given in the same ways.
        functions: g of the three moments [N m], then of the three forces [N]: a function of its own
            deflection, or of all six in this order; a number or None (zero).
        damping: c, [N m s/rad] and [N s/m], shape (6,), at least 0.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("Bushing", "ExpressionBasedBushingForce")

    functions: Sequence[FunctionLike | None] = field(repr=False)
    damping: Annotated[Numbers, quantity("N m s/rad, N s/m", 6, lowest=0.0)] = (0.0,) * 6

    def __post_init__(self) -> None:
        super().__post_init__()
        functions: Any = self.functions
        try:
            given = tuple(functions)
        except TypeError:
            given = ()
        if len(given) != 6 or isinstance(functions, str):
            raise DescriptionError(
                "FunctionBushing: functions: expected six, of three moments and of three "
                f"forces, got {self.functions!r}"
            )
        kept = (_law(g, i) for i, g in enumerate(given))
        assign(self, functions=tuple(kept))

    def forces(self, x: SX, xdot: SX) -> SX:
        functions: Any = self.functions
        each = ca.vertsplit(x)
        g = [
            law.at(*(each if len(law.law.names) > 1 else each[i : i + 1])) for i, law in enumerate(functions)
        ]
        return -ca.vertcat(*g) - sx(self.damping) * xdot  # (44)


def _law(given: Any, i: int) -> LawFunction:
    """A function of deflection i, or of all."""
    what = f"FunctionBushing: functions[{i}]"
    if isinstance(given, Function):
        several = given.variables not in (None, 1)
    else:
        written = callable(given) and not isinstance(given, (Symbol, LawFunction))
        several = written and arguments_of(given) == 6
    if isinstance(given, Formula) and not several:  # whatever its one variable is called
        return law_function(given, tuple(given.names), what)
    names = DEFLECTIONS if several else DEFLECTIONS[i : i + 1]
    return law_function(0.0 if given is None else given, names, what)


def arguments_of(function: Any) -> int:
    """How many arguments a function takes; 1 where it does not say."""
    try:
        return len(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return 1


def _angles(R: SX) -> SX:
    """Body-fixed x-y-z angles (11)."""
    c2 = ca.sqrt(R[0, 0] ** 2 + R[0, 1] ** 2)
    return ca.vertcat(ca.atan2(-R[1, 2], R[2, 2]), ca.atan2(R[0, 2], c2), ca.atan2(-R[0, 1], R[0, 0]))


def _rates(R: SX) -> SX:
    """N of (12), for w in F."""
    c2 = ca.sqrt(R[0, 0] ** 2 + R[0, 1] ** 2)
    s1, c1, s2 = -R[1, 2] / c2, R[2, 2] / c2, R[0, 2]
    return ca.blockcat([[1, s1 * s2 / c2, -c1 * s2 / c2], [0, c1, s1], [0, -s1 / c2, c1 / c2]])
