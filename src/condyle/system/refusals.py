"""Coordinates at which a system has no answer: lost rank, or mobilizers that are not finite."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from condyle.errors import SingularError
from condyle.mobilizers import motion_at
from condyle.tree.body import Body
from condyle.tree.tree import Tree

LIGHT = 1e3
"""Times its own mass: a body that carries more may be too light for it."""
INDEPENDENT = 1e-5
"""Least singular value of H above which a mobilizer has not lost rank: pivots are squares of it."""


def refuse_singular(
    tree: Tree, name: str, arguments: tuple[Any, ...], results: list[np.ndarray], status: np.ndarray
) -> NoReturn:
    """SingularError where a mobilizer has lost rank, from arguments, results and statuses (..., 1) of an
    operator."""
    k, body, q, which = _place(tree, name, arguments, results, status)
    broken = next((b for b in tree.bodies if not _is_finite(b, q[b.q])), None)
    if broken is not None:
        raise SingularError(
            f"{name}: the mobilizer of body {broken.name!r} ({broken.mobilizer!r}) is not a number or "
            f"infinite at {_at(broken, q)}{which}. Look in its functions for a root of a negative number or "
            "a division by zero; system.explain(state) shows all",
            broken.name,
            tree.speeds[broken.u.start],
            q[broken.q],
            results[0],
        )
    carried = sum(b.mass for b in tree.bodies if b is not body and body.index in tree.path(b.index))
    if 0 < LIGHT * body.mass < carried and _independence(body, q[body.q]) > INDEPENDENT:
        raise SingularError(
            f"{name}: what speed {tree.speeds[k]!r} of body {body.name!r} ({body.mobilizer!r}) moves is lost "
            f"in rounding at {_at(body, q)}{which}: the body has {body.mass:.3g} kg and carries "
            f"{carried:.3g} kg, and in a direction in which only its own inertia counts no digits of it are "
            "left. Give it more mass or inertia, weld it to what it carries, or lock that "
            "speed",
            body.name,
            tree.speeds[k],
            q[body.q],
            results[0],
        )
    raise SingularError(
        f"{name}: the mobilizer of body {body.name!r} ({body.mobilizer!r}) has lost a direction of motion: "
        f"speed {tree.speeds[k]!r} moves nothing new at {_at(body, q)}{which}. Use other coordinates there "
        "(a quaternion instead of angles), lock that speed, or stay away from "
        "it",
        body.name,
        tree.speeds[k],
        q[body.q],
        results[0],
    )


def _independence(body: Body, q: np.ndarray) -> float:
    """Least singular value of a mobilizer's H at its coordinates, columns of length one, Parameters at their
    defaults; 0 if a column is zero."""
    nu = body.mobilizer.nu
    parts = motion_at(body.mobilizer, 0.0, q, np.zeros(nu))
    H = np.concatenate([np.reshape(parts[2], (3, nu)), np.reshape(parts[3], (3, nu))])
    return float(np.linalg.svd(H / np.maximum(np.linalg.norm(H, axis=0), 1e-300), compute_uv=False)[-1])


def refuse_rates(
    tree: Tree, name: str, arguments: tuple[Any, ...], results: list[np.ndarray], status: np.ndarray
) -> NoReturn:
    """SingularError where coordinates cannot follow the speeds: N(q) is not finite, or too large to be of
    use."""
    k, body, q, which = _place(tree, name, arguments, results, status)
    words = f" ({body.mobilizer.singular})" if body.mobilizer.singular else ""
    raise SingularError(
        f"{name}: the coordinates of body {body.name!r} ({body.mobilizer!r}) cannot follow its speeds at "
        f"{_at(body, q)}{which}: qdot = N(q) u is without bound there{words}. Use coordinates='quaternion' "
        "where the mobilizer has them, or stay away from "
        "it",
        body.name,
        tree.speeds[k],
        q[body.q],
        results[0],
    )


def _place(
    tree: Tree, name: str, arguments: tuple[Any, ...], results: list[np.ndarray], status: np.ndarray
) -> tuple[int, Body, np.ndarray, str]:
    """Speed and body that the first status tells, q (nq,) there and words for the state; results there become
    NaN."""
    where = tuple(int(i[0]) for i in np.nonzero(status[..., 0])) if status.ndim > 1 else ()
    k = int(status[(*where, 0)]) - 1
    body = next(b for b in tree.bodies if b.u.start <= k < b.u.stop)
    q = np.broadcast_to(arguments[0], status.shape[:-1] + (tree.nq,))[where]
    which = f" (state {where} of the batch; `error.result` has the others)" if where else ""
    for result in results:
        result[status[..., 0] != 0] = np.nan
    return k, body, q, which


def _at(body: Body, q: np.ndarray) -> str:
    return ", ".join(
        f"{c.name} = {x:.6g}" for c, x in zip((body.follows or body).coordinates, q[body.q], strict=True)
    )


def _is_finite(body: Body, q: np.ndarray) -> bool:
    """Whether a mobilizer's equations give numbers at its coordinates, at rest, Parameters and time at their
    defaults."""
    return all(np.isfinite(x).all() for x in motion_at(body.mobilizer, 0.0, q, np.zeros(body.mobilizer.nu)))
