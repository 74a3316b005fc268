"""Energy, momentum, mass center and power.

KE = 1/2 sum V' M_B V,    PE = -sum m g . p_GBcm         (zero height at ground's origin)           (1)
momentum about ground's origin: sum of shift(M_B V, p_GM)                                          (2)
mass center: m p = sum m_B p_GBcm, and its time derivatives                                        (3)
power of a force: sum F' V + sum f_k u_k                                                           (4)
power of a mobilizer: F' V_FM = tau' u + F' R_GF Vt, since H' F = tau                              (5)
"""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca

from condyle.arrays import SX
from condyle.dynamics.inertia import add, apply, inner, rigid, shift_force, shift_motion
from condyle.dynamics.kinematics import Kinematics, Pair
from condyle.dynamics.view import TreeLoads
from condyle.errors import DescriptionError
from condyle.mobilizers import motion
from condyle.tree.body import Body
from condyle.tree.body_constants import BodyConstants

cross = ca.cross


def kinetic_of(body: BodyConstants, R_GM: SX, V: Pair) -> SX:
    M_B, _ = rigid(R_GM, body.mass, body.com, body.I)
    return inner(V, apply(M_B, V)) / 2


def potential_of(body: BodyConstants, R_GM: SX, p_GM: SX, gravity: SX) -> SX:
    return -body.mass * ca.dot(gravity, p_GM + R_GM @ body.com)


def momentum_of(body: BodyConstants, R_GM: SX, p_GM: SX, V: Pair) -> Pair:
    M_B, _ = rigid(R_GM, body.mass, body.com, body.I)
    return shift_force(apply(M_B, V), p_GM)


def center_of(
    body: BodyConstants, R_GM: SX, p_GM: SX, V: Pair | None = None, A: Pair | None = None
) -> list[SX]:
    """Position of a body's mass center, with V also velocity, with A also acceleration."""
    p_c = R_GM @ body.com
    values = [p_GM + p_c]
    if V is not None:
        values.append(shift_motion(V, p_c)[1])
        if A is not None:
            values.append(shift_motion(A, p_c)[1] + cross(V[0], cross(V[0], p_c)))
    return values


def weight_of(body: BodyConstants, R_GM: SX, gravity: SX) -> Pair:
    f = body.mass * gravity
    return cross(R_GM @ body.com, f), f


def energy(kin: Kinematics, gravity: SX) -> tuple[SX, SX]:
    """KE and PE [J] (1), with every body's weight."""
    kinetic, potential = ca.SX(0), ca.SX(0)
    for B, body in enumerate(kin.placed):
        kinetic += kinetic_of(body, kin.R_GM[B], kin.V_GM[B])
        potential += potential_of(body, kin.R_GM[B], kin.p_GM[B], gravity)
    return kinetic, potential


def momentum(kin: Kinematics) -> Pair:
    """Angular momentum about ground's origin and linear momentum (2), in ground."""
    total: Pair = (ca.SX(3, 1), ca.SX(3, 1))
    for B, body in enumerate(kin.placed):
        total = add(total, momentum_of(body, kin.R_GM[B], kin.p_GM[B], kin.V_GM[B]))
    return total


def mass_center(kin: Kinematics, A: dict[int | None, Pair] | None = None) -> list[SX]:
    """Position, with velocities also velocity, with A also acceleration of the mass center (3), in ground;
    NaN without mass."""
    sums, total = [ca.SX(3, 1) for _ in range(1 + bool(kin.V_GM) + (A is not None))], ca.SX(0)
    for B, body in enumerate(kin.placed):
        values = center_of(body, kin.R_GM[B], kin.p_GM[B], kin.V_GM.get(B), None if A is None else A[B])
        sums = [x + body.mass * v for x, v in zip(sums, values, strict=True)]
        total += body.mass
    return [ca.SX(ca.DM.nan(3, 1)) if total.is_zero() else x / total for x in sums]


def power(kin: Kinematics, loads: TreeLoads, u: SX) -> SX:
    """Power [W] of some loads (4)."""
    bodies = sum((inner(F, kin.V_GM[B]) for B, F in loads.bodies.items()), ca.SX(0))
    return bodies + sum((f * u[k] for k, f in loads.mobility.items()), ca.SX(0))


def timed_power(kin: Kinematics, F: dict[int, Pair], timed: Iterable[Body], t: SX, q: SX, u: SX) -> SX:
    """Power [W] that joints with prescribed motion add through their reactions F, the second part of (5):
    shape (nu,), at the first speed of each.
    """
    out = ca.SX(*u.shape)
    for body in timed:
        if not body.mobilizer.nu:
            raise DescriptionError(
                f"motion_power: time moves body {body.name!r}, but its joint "
                f"{body.mobilizer!r} has no speed that could have its power; give it a "
                "coordinate and lock that"
            )
        w_t, v_t = motion(body.mobilizer, t, q[body.q], u[body.u])[4:6]
        R_GF = kin.X_GF[body.index][0]
        out[body.u.start] += inner(F[body.index], (R_GF @ w_t, R_GF @ v_t))  # (5)
    return out


def weight(kin: Kinematics, gravity: SX, loads: TreeLoads) -> None:
    """Add each body's weight to the loads, as forces."""
    for B, body in enumerate(kin.placed):
        F = weight_of(body, kin.R_GM[B], gravity)
        loads.bodies[B] = add(loads.bodies[B], F) if B in loads.bodies else F
