"""Set one joint of a State so that its body has a given pose or velocity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.arrays import vector
from condyle.errors import DescriptionError
from condyle.mobilizers.fitted import fit_pose, fit_velocity
from condyle.spatial import Transform
from condyle.tree.body import Body

if TYPE_CHECKING:
    from condyle.system.state import State

HERE = (0.0, 0.0, 0.0)


def fit_q(
    state: State, which: Body | str, X: Any, relative_to: Body | str | None
) -> tuple[State, np.ndarray]:
    """See State.fit_q."""
    body = _joint("fit_q", state, which)
    wanted = Transform.of(X, "fit_q: X")
    if relative_to is not None:
        wanted = state.body_pose(relative_to) @ wanted

    def whole(q: np.ndarray) -> State:
        out = state.q.copy()
        out[body.q] = q
        return state.replace(q=out)

    def at(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        there = whole(q)
        X_GB = there.body_pose(body)
        return X_GB.R, X_GB.p, there.kinematics.frame_jacobian(body, HERE)[:, body.u]

    def move(q: np.ndarray, du: np.ndarray) -> np.ndarray:
        there, u = whole(q), np.zeros(state.u.size)
        u[body.u] = du
        out = there.q + there.replace(u=u).qdot
        return state.system.compiled.normalized(out)[body.q]

    X_FM = (state.body_pose(body.parent or "ground") @ body.X_PF).inverse() @ wanted @ body.X_BM
    q, left = fit_pose(
        at, move, body.mobilizer.starts(state.q[body.q], X_FM), wanted.R, wanted.p, body.mobilizer.bounds
    )
    return whole(q), left


def fit_u(
    state: State, which: Body | str, V: Any, relative_to: Body | str | None
) -> tuple[State, np.ndarray]:
    """See State.fit_u."""
    body = _joint("fit_u", state, which)
    u = state.u.copy()
    u[body.u] = 0.0
    still = state.replace(u=u)
    J, R = (
        still.kinematics.frame_jacobian(body, HERE)[:, body.u],
        np.eye(3) if relative_to is None else still.body_pose(relative_to).R,
    )
    J = np.concatenate([R.T @ J[:3], R.T @ J[3:]])
    u[body.u], left = fit_velocity(
        J, vector("fit_u: V", V, 6, None, one=True) - still.body_velocity(body, relative_to)
    )
    return state.replace(u=u), left


def _joint(what: str, state: State, which: Body | str) -> Body:
    body = state.system.body(which)
    if body.is_ground:
        raise DescriptionError(f"{what}: ground has no joint; name another body")
    if body.follows is not None:
        raise DescriptionError(
            f"{what}: body {body.name!r} follows {body.follows.name!r} and has no "
            f"coordinates of its own; fit {body.follows.name!r}"
        )
    if body.motion is not None and body.name not in state.disabled:
        raise DescriptionError(
            f"{what}: the motion of body {body.name!r} is prescribed; disable that by the body's name first"
        )
    return body
