"""Static optimization in maximal coordinates, as ruggiero2020 (27)-(33) write it: docs/theory/maximal.md
(34)-(38).

A tension T_i along path i does the work T_i Phi_i V on the bodies that the path touches, with wrenches from
the straight pieces' directions (27). Lengths change by the velocities of the points at which straight pieces
end, those on a surface moving with its body: (30) as corrected.

    Ldot = -Phi V                                                                                         (34)
    T = F a + F_P                                                                    ruggiero2020 (31)    (35)
    [Phi' diag(F)  -C_V'  S'] (a, lambda_s, tau_r) = M A - Q - Phi' F_P              ruggiero2020 (32)    (36)
    least a'a + sum (tau_r / f_0)^2 under (36) and a_min <= a <= a_max               ruggiero2020 (33)    (37)

All unknowns at once, the multipliers lambda_s without a cost. An interior-point method finds which bounds
are active: with slacks s = a - a_min, a_max - a and multipliers z of these, Newton's method on

    cost * x + E' nu - z_low + z_high = 0,   E x = b,   s z = sigma                                       (38)

with sigma going to zero; then (37) is solved once more, exactly, on these bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arrays import Array
from condyle.errors import ConvergenceError
from condyle.laws.described import sx
from condyle.maximal.equations import Equations
from condyle.maximal.expressions import NumericFunction, stacked
from condyle.maximal.system import formulation
from condyle.maximal.view import MaximalLoads, MaximalView
from condyle.muscles import Muscle
from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.system.operators.public import Options
    from condyle.system.system import System

STEPS, SHRINK, GAP = 80, 0.1, 1e-12
"""Steps of (38) at most; sigma over the mean of s z; that mean at the end."""


@dataclass(frozen=True)
class MuscleSolution:
    """What was found, for m frames.

    Attributes:
        activations: shape (m, n), in the order of `system.muscles`.
        forces: tensions [N], shape (m, n).
        reserves: generalized forces on the speeds [N m, N], shape (m, nu); zero without reserves.
        lambda_s: multipliers of joints, loops and constraints, shape (m, equations).
        reactions: moment [N m] and force [N] of each body's mobilizer on it, at M's origin, in ground, shape
            (m, bodies, 6); they include the reserves.
        lengths: of the muscles' paths [m], shape (m, n).
        speeds: their rates [m/s], shape (m, n).
    """

    activations: Array
    forces: Array
    reserves: Array
    lambda_s: Array
    reactions: Array
    lengths: Array
    speeds: Array


def static_optimization(
    system: System,
    q: ArrayLike,
    u: ArrayLike,
    udot: ArrayLike,
    *,
    a_min: float = 0.0,
    a_max: float = 1.0,
    physiology: bool = True,
    passive: bool = True,
    reserves: float | None = None,
    **options: Unpack[Options],
) -> MuscleSolution:
    """Activations, reactions and all else of (36) with the least effort (37).

    Args:
        system: with muscles; all its other forces act.
        q: coordinates, shape (m, nq).
        u: speeds, shape (m, nu).
        udot: accelerations, shape (m, nu).
        a_min: least activation.
        a_max: greatest activation.
        physiology: whether the tension at an activation of 1 depends on the fiber's length and velocity.
        passive: whether passive tensions act.
        reserves: f_0 [N m, N] of an actuator on each speed; None for none.
        options: those of the System's operators, for all frames.

    Raises:
        ConvergenceError: a frame that no activations explain.
    """
    maximal = formulation(system)
    off = options.pop("disabled", None) or ()
    resting: Options = {**options, "disabled": {*off, *system.muscles}}
    frames = []
    for i, (q_i, u_i, udot_i) in enumerate(zip(*(np.atleast_2d(x) for x in (q, u, udot)), strict=True)):
        at = maximal.at(q_i, u_i, **resting)
        given = {
            "x": at.x,
            "V": at.V,
            "q": at.q,
            "u": at.u,
            "momentum": np.zeros(system.nu),
            **maximal._tail(options).vectors(),
        }
        found = _muscles(system)(given)
        F = found["active"] if physiology else found["isometric"]
        F_P = found["passive"] if passive else 0 * F
        a, lambda_s, tau = _least(at, udot_i, found["Phi"], F, F_P, a_min, a_max, reserves, i)
        driving = np.where(at.locked, 0.0, tau)
        frames.append(
            (
                a,
                F * a + F_P,
                driving,
                lambda_s,
                at._solution(at.accelerations(udot_i), lambda_s, tau).reactions,
                found["L"],
                found["Ldot"],
            )
        )
    return MuscleSolution(*(np.array(part) for part in zip(*frames, strict=True)))


def _muscles(system: System) -> NumericFunction:
    """Phi (34), lengths and their rates, tensions at an activation of 1 and passive ones, made once."""
    programs, maximal = system.compiled.programs, formulation(system)
    if "maximal muscles" not in programs:
        expressions = maximal.expressions
        s = expressions._symbols("x", "V", "q", "momentum", "t", "z", "inputs", "enabled", "parameters")
        s["u"] = ca.SX.sym("u", system.nu)
        view, rows = MaximalView(maximal.tree, s), []
        laws = [law for law in expressions.forces.values() if isinstance(law, Muscle)]
        for law in laws:
            loads = MaximalLoads(view)
            law.path.length.load(view, ca.SX(-1), loads)
            rows.append(ca.vertcat(*loads.bodies, ca.SX(maximal.nv - 6 * len(loads.bodies), 1)).T)  # (34)
        programs["maximal muscles"] = NumericFunction(
            "muscles",
            s,
            {
                "Phi": stacked(rows, maximal.nv),
                "L": ca.vertcat(*(law.path.length.at(view) for law in laws)),
                "Ldot": ca.vertcat(*(law.path.length.rate(view) for law in laws)),
                "active": ca.vertcat(*(law.active_force(view, ca.SX(1)) for law in laws)),
                "passive": ca.vertcat(*(law.passive_force(view) for law in laws)),
                "isometric": ca.vertcat(*(sx(law.max_isometric_force) for law in laws)),
            },
        )
    return programs["maximal muscles"]


def _least(
    at: Equations,
    udot: Array,
    Phi: Array,
    F: Array,
    F_P: Array,
    a_min: float,
    a_max: float,
    reserves: float | None,
    frame: int,
) -> tuple[Array, Array, Array]:
    """a, lambda_s and the generalized forces on speeds of (37)."""
    n, m, held = len(F), len(at.C), np.flatnonzero(at.locked)
    free = np.flatnonzero(~at.locked) if reserves is not None else np.zeros(0, dtype=int)
    E = np.hstack([(Phi * F[:, None]).T, -at.C_V.T, at.S[held].T, at.S[free].T])  # (36)
    b = at.M @ at.accelerations(udot) - at.Q - Phi.T @ F_P
    cost = np.zeros(E.shape[1])
    cost[:n] = 2.0
    if reserves is not None:
        cost[-len(free) :] = 2.0 / reserves**2
    side = _active(E, b, cost, n, a_min, a_max)
    x = _on_bounds(E, b, cost, side, a_min, a_max)
    a = x[:n]
    if not (
        np.abs(E @ x - b).max() < 1e-8 * max(1.0, np.abs(b).max())
        and (a > a_min - 1e-8).all()
        and (a < a_max + 1e-8).all()
    ):
        raise ConvergenceError(
            f"maximal: static_optimization: frame {frame}: no activations explain the "
            "motion; give reserves=1.0",
            at.q,
        )
    tau = np.zeros(len(at.u))
    tau[held], tau[free] = x[n + m : n + m + len(held)], x[n + m + len(held) :]
    return a, x[n : n + m], tau


def _active(E: Array, b: Array, cost: Array, n: int, a_min: float, a_max: float) -> NDArray[np.int_]:
    """Which activations are at their bounds, by steps of (38): -1 at a_min, 1 at a_max, 0 between."""
    k = len(b)
    x, nu = np.zeros(len(cost)), np.zeros(k)
    x[:n] = (a_min + a_max) / 2
    z = np.ones((2, n))
    sign = np.array([[1.0], [-1.0]])
    for _ in range(STEPS):
        s = np.array([x[:n] - a_min, a_max - x[:n]])
        gap = float((s * z).mean())
        if gap < GAP or s.min() < 1e-15:  # the latter where there is no solution
            break
        sigma = SHRINK * gap
        H = cost.copy()
        H[:n] += (z / s).sum(axis=0)
        g = cost * x + E.T @ nu
        g[:n] -= (sign * sigma / s).sum(axis=0)  # dz eliminated: s dz + z ds = sigma - s z
        d = _solved(H, E, -g, b - E @ x)
        dx, dnu = d[:-k], d[-k:]
        dz = (sigma - z * s - z * sign * dx[:n]) / s
        step = min(
            1.0,
            *(
                0.99 * float((-old / change)[change < 0].min(initial=np.inf))
                for old, change in ((s, sign * dx[:n]), (z, dz))
            ),
        )
        x, nu, z = x + step * dx, nu + step * dnu, z + step * dz
    s = np.array([x[:n] - a_min, a_max - x[:n]])
    return np.where(z[0] > s[0], -1, np.where(z[1] > s[1], 1, 0))


def _on_bounds(E: Array, b: Array, cost: Array, side: NDArray[np.int_], a_min: float, a_max: float) -> Array:
    """All unknowns with some activations at their bounds."""
    n, k = len(side), len(b)
    x = np.zeros(len(cost))
    x[:n] = np.where(side < 0, a_min, a_max) * (side != 0)
    open_ = np.r_[side == 0, np.ones(len(cost) - n, dtype=bool)]
    left = b - E[:, ~open_] @ x[~open_]
    x[open_] = _solved(cost[open_], E[:, open_], np.zeros(int(open_.sum())), left)[:-k]
    return x


def _solved(H: Array, E: Array, f: Array, b: Array) -> Array:
    """x and nu with H x + E' nu = f, E x = b; of least norm where constraints are redundant."""
    matrix = np.block([[np.diag(H), E.T], [E, np.zeros((len(b), len(b)))]])
    scale = 1 / np.sqrt(np.maximum(np.abs(matrix).max(axis=1), 1e-300))
    return (
        scale
        * np.linalg.lstsq(matrix * scale * scale[:, None], scale * np.concatenate([f, b]), rcond=1e-13)[0]
    )
