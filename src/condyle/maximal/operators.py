"""The operators of a System by the second formulation: the same arguments, the same answers, another way.

All take one state or many, by leading dimensions (...), and the options of the System's operators: t, z,
inputs, parameters, locked, disabled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, ShapeError
from condyle.maximal.equations import Equations
from condyle.maximal.system import MaximalSystem, known_options
from condyle.tree.body import Body

if TYPE_CHECKING:
    from condyle.system.system import System


def of(system: System) -> MaximalSystem:
    """The MaximalSystem of a System, made once."""
    if not hasattr(system, "compiled"):
        raise DescriptionError(f"maximal: expected a cd.System, got {system!r}")
    if "maximal" not in system.compiled.programs:
        system.compiled.programs["maximal"] = MaximalSystem(system)
    return system.compiled.programs["maximal"]


def forward_dynamics(system: System, q: Any, u: Any, tau: Any = None, **options: Any) -> Array:
    """Accelerations udot [rad/s^2, m/s^2], shape (..., nu), under all enabled forces and tau [N m, N], by
    (19)."""
    return _each(
        system,
        (q, u, np.zeros(system.nu) if tau is None else tau),
        options,
        lambda at, tau: at.forward(tau).udot,
    )


def inverse_dynamics(system: System, q: Any, u: Any, udot: Any, **options: Any) -> Array:
    """tau [N m, N], shape (..., nu), that must be added to the enabled forces for udot to happen: -lambda_r
    of (18)."""
    return _each(system, (q, u, udot), options, lambda at, udot: at.inverse(udot).tau)


def reactions(
    system: System, q: Any, u: Any, udot: Any, body: Body | str | None = None, **options: Any
) -> Array:
    """Moment [N m] and force [N] of a body's mobilizer on it, at M's origin, in ground: shape (..., 6), or
    (..., bodies, 6) for all, from the multipliers by (20). Includes tau, as `System.reactions` does."""
    which: Any = slice(None) if body is None else system.body(body).index
    return _each(system, (q, u, udot), options, lambda at, udot: at.inverse(udot).reactions[which])


def _each(
    system: System,
    arrays: tuple[Any, Any, Any],
    options: dict[str, Any],
    answer: Callable[[Equations, Array], Array],
) -> Array:
    """The answer at every state of a batch."""
    maximal = of(system)
    tail = system.compiled.tail(**known_options(options))
    values = [np.asarray(a, dtype=float) for a in arrays]
    for name, a, n in zip(("q", "u", "tau or udot"), values, (system.nq, system.nu, system.nu)):
        if a.shape[-1:] != (n,):
            raise ShapeError(f"maximal: {name}: expected shape (..., {n}), got {a.shape}")
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in (*values, tail)))
    q, u, last, tail = (np.broadcast_to(a, batch + a.shape[-1:]) for a in (*values, tail))
    found = [answer(maximal.at_tail(q[i], u[i], tail[i]), last[i]) for i in np.ndindex(batch)]
    return np.reshape(found, batch + np.shape(found[0])) if batch else found[0]
