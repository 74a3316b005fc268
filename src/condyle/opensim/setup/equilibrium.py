"""Fibers in equilibrium with their tendons, as OpenSim's tools find them.

Millard's and other fibers do not move in equilibrium. Those of Thelen2003Muscle do: the velocity of the path
is shared by fiber and tendon as two springs in series would share it,

    K_M = d(F_M cos(alpha))/d(l_M cos(alpha)),    K_T = dF_T/dl_T                                          (1)
    v_T = Ldot K_M / (K_M + K_T),    v_M = (Ldot - v_T) cos(alpha)                                         (2)
    (a f_L f_V(v_M) + f_P) cos(alpha) = f_T                                                                (3)

a heuristic: stiffnesses are those at constant velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.arrays import SX, Array
from condyle.errors import warn
from condyle.laws.described import sx
from condyle.muscles.thelen2003 import Thelen2003
from condyle.native.calls.native_function import NativeFunction
from condyle.paths.path import Path
from condyle.studies.motion.motion import Motion, with_states
from condyle.studies.muscle_analysis import path_geometry
from condyle.system.operators.muscles import muscle_equilibrium
from condyle.trace.parameter import Parameter

LIMIT = 200
"""Steps at most."""
CLOSE = 1e-12
"""Tolerance of the last step over the fiber's length, and of f_V."""


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
    laws: list[Any] = [system.force(name) for name in moving]
    fibers = [places[f"{name}.fiber_length"] for name in moving]
    paths = [system.paths.index(name) for name in moving]
    a = np.stack(
        [
            np.clip(
                found[:, places[f"{name}.activation"]]
                if f"{name}.activation" in places
                else np.full(len(motion), float(law.default_activation)),
                float(law.minimum_activation),
                1.0,
            )
            for name, law in zip(moving, laws, strict=True)
        ]
    )
    length, good = _shared(laws, found[:, fibers].T, L[:, paths].T, Ldot[:, paths].T, a)
    found[:, fibers] = np.where(good, length, found[:, fibers].T).T
    late = [name for name, fine in zip(moving, good, strict=True) if not fine.all()]
    if late:
        warn(
            f"equilibrium in motion was not found in all frames: {', '.join(late)}; fibers do not move in these frames"
        )
    return found


def _shared(
    laws: Sequence[Thelen2003], still: Array, L: Array, Ldot: Array, a: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Lengths of fibers (n, m) by (1)-(3), from those at rest, and a mask of those that were found."""
    numbers = np.array([[float(getattr(law, name)) for name in NUMBERS] for law in laws])[:, None]
    l_M, f_V, close = still.copy(), np.ones_like(still), np.zeros(still.shape, dtype=bool)
    left = np.arange(len(laws))  # a muscle is done when it is in all frames
    step = _step()
    for _ in range(LIMIT):
        given = (x[left, :, None] for x in (l_M, f_V, L, Ldot, a))
        after, faster = (x[..., 0] for x in step(*given, numbers[left]))
        close[left] = (np.abs(after - l_M[left]) <= CLOSE * still[left]) & (
            np.abs(faster - f_V[left]) <= CLOSE
        )
        l_M[left], f_V[left] = after, faster
        left = left[~close[left].all(axis=1)]
        if not left.size:
            break
    return l_M, close & np.isfinite(l_M)


NUMBERS = (
    "optimal_fiber_length",
    "tendon_slack_length",
    "pennation_angle",
    "maximum_pennation_angle",
    "max_contraction_velocity",
    "FmaxTendonStrain",
    "FmaxMuscleStrain",
    "KshapeActive",
    "KshapePassive",
    "Af",
    "Flen",
    "fv_linear_extrap_threshold",
)
"""Numbers that distinguish muscles."""


@cache
def _step() -> NativeFunction:
    """One step of Newton's method in l_M, and f_V there, of any muscle."""
    return NativeFunction(
        "equilibrium in motion",
        _expressions,
        key="step of Thelen's fibers in motion",
        inputs=[*((name, 1) for name in ("l_M", "f_V", "L", "Ldot", "a")), ("numbers", len(NUMBERS))],
        outputs=[("l_M", 1), ("f_V", 1)],
    )


def _expressions() -> ca.Function:
    symbols = {name: Parameter(name, 1.4 if name == "Flen" else 0.5) for name in NUMBERS}
    somewhere = Path([("ground", (0, 0, 0)), ("ground", (1, 0, 0))])
    law = Thelen2003(somewhere, 1.0, **symbols)  # type: ignore[arg-type]
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
    numbers = ca.vertcat(*(p.sx for p in symbols.values()))
    return ca.Function("step", [l_M, f_V, L, Ldot, a, numbers], [after, law.force_velocity.at(v_n, a)])
