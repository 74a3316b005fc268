"""Fibers in equilibrium with their tendons, as OpenSim's tools find them.

Millard's and other fibers do not move in equilibrium. Those of Thelen2003Muscle do: the velocity of the path
is shared by fiber and tendon as two springs in series would share it,

    K_M = d(F_M cos(alpha))/d(l_M cos(alpha)),    K_T = dF_T/dl_T                                          (1)
    v_T = Ldot K_M / (K_M + K_T),    v_M = (Ldot - v_T) cos(alpha)                                         (2)
    (a f_L f_V(v_M) + f_P) cos(alpha) = f_T                                                                (3)

a heuristic: stiffnesses are those at a velocity that stays.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.arrays import SX, Array
from condyle.errors import warn
from condyle.laws.described import sx
from condyle.muscles.thelen2003 import Thelen2003
from condyle.studies.motion.motion import Motion, with_states
from condyle.studies.muscle_analysis import path_geometry
from condyle.system.operators.muscles import muscle_equilibrium

LIMIT = 200
"""Steps at most."""
CLOSE = 1e-12
"""The last step over the fiber's length, and of f_V."""


def opensim_equilibrium(motion: Motion, z: Array) -> Array:
    """Auxiliary states (m, nz) in equilibrium in each frame of a motion, at the activations in z (m, nz)."""
    system = motion.system
    start = with_states(motion, z)
    found: Array = muscle_equilibrium(system.compiled, start.q, start.tail)
    places = {name: k for k, name in enumerate(system.state_variables)}
    moving = [
        name
        for name in system.muscles
        if type(muscle := system.force(name)) is Thelen2003 and muscle.tendon == "elastic"
    ]
    if not moving or not motion.u.any():
        return found
    L, Ldot, _ = path_geometry(start)
    late = []
    for name in moving:
        law: Any = system.force(name)
        k, path = places[f"{name}.fiber_length"], system.paths.index(name)
        a = (
            found[:, places[f"{name}.activation"]]
            if f"{name}.activation" in places
            else np.full(len(motion), float(law.default_activation))
        )
        a = np.clip(a, float(law.minimum_activation), 1.0)
        length, good = _shared(law, found[:, k], L[:, path], Ldot[:, path], a)
        found[:, k] = np.where(good, length, found[:, k])
        late += [name] * (not good.all())
    if late:
        warn(
            f"equilibrium in motion was not found in all frames: {', '.join(late)}; fibers do not move there"
        )
    return found


def _shared(
    law: Thelen2003, still: Array, L: Array, Ldot: Array, a: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Lengths of a fiber (m,) by (1)-(3), from those at rest, and where they were found."""
    step = _step(law).map(len(L))
    l_M, f_V = still, np.ones_like(still)
    close = np.zeros(len(L), dtype=bool)
    for _ in range(LIMIT):
        after, faster = (np.ravel(x.full()) for x in step(l_M[None], f_V[None], L[None], Ldot[None], a[None]))
        close = (np.abs(after - l_M) <= CLOSE * still) & (np.abs(faster - f_V) <= CLOSE)
        l_M, f_V = after, faster
        if close.all():
            break
    return l_M, close & np.isfinite(l_M)


def _step(law: Thelen2003) -> ca.Function:
    """One step of Newton's method in l_M, and f_V there."""
    l_M, f_V, L, Ldot, a = (ca.SX.sym(name) for name in ("l_M", "f_V", "L", "Ldot", "a"))
    l_0, l_S, h = sx(law.optimal_fiber_length), sx(law.tendon_slack_length), law._height

    def forces(length: SX) -> tuple[SX, SX, SX]:
        """Along the tendon: of the fiber and of the tendon; and cos(alpha)."""
        cos = ca.sqrt(1 - (h / length) ** 2)
        n = length / l_0
        fiber = a * law.active_force_length.value(n) * f_V + law.passive_force_length.value(n)
        return fiber * cos, law.tendon_force_length.value((L - length * cos) / l_S), cos

    F_M, F_T, _ = forces(l_M)
    r = F_M - F_T
    after = ca.fmax(l_M - r / ca.jacobian(r, l_M), law._least)
    cos = ca.sqrt(1 - (h / after) ** 2)
    x = ca.SX.sym("x")
    slope = lambda y: ca.substitute(ca.jacobian(y, x), x, after)
    M_x, T_x, _ = forces(x)
    K_M, K_T = slope(M_x) * cos, -slope(T_x) * cos  # (1)
    slack = L - after * cos <= l_S
    v_T = ca.if_else(ca.logic_or(slack, ca.fabs(K_M + K_T) < 1e-12), Ldot, Ldot * K_M / (K_M + K_T))  # (2)
    v_n = (Ldot - v_T) * cos / (sx(law.max_contraction_velocity) * l_0)
    return ca.Function("step", [l_M, f_V, L, Ldot, a], [after, law.force_velocity.at(v_n, a)])
