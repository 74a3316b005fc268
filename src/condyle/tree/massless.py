"""Check that every mobility moves some inertia, when a system is first used: a massless tip has no
acceleration.

The pivots D of the articulated-body algorithm (condyle.dynamics.aba (2)) are computed with plain numbers, at
the default and at random coordinates and times. A pivot that is zero relative to its value before elimination
is an error. A prescribed speed needs no inertia: it is not solved for.
"""

from __future__ import annotations

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.mobilizers import motion_at
from condyle.mobilizers.traced import JointMotion
from condyle.spatial import Transform, skew
from condyle.tree.tree import Tree

SMALLEST_PIVOT = 1e-12
"""Relative to |h|^2 and the largest inertia that the mobility could move: smaller pivots are rounding."""


def check_inertia(tree: Tree, seed: int = 0) -> None:
    """Raise DescriptionError naming the body whose mobilizer moves no inertia; of bodies with any inertia
    operators raise an error where it matters. Costs little when every body has a full rotational inertia and
    mass of its own: then a pivot vanishes only where a user's joint moves nothing."""
    if all(b.any_inertia or not b.mobilizer.nu for b in tree.owners):
        return
    rng = np.random.default_rng(seed)
    at = [(0.0, tree.defaults()), *((rng.uniform(0.5, 2.0), _random_q(tree, rng)) for _ in range(2))]
    motions = [(t, q, _motions(tree, t, q)) for t, q in at]
    # elsewhere an operator names the mobilizer that has no numbers
    motions = [(t, q, found) for t, q, found in motions if all(map(_finite, found.values()))]
    if not motions:
        return
    if all(
        b.mobilizer.nu == 0
        or b.any_inertia
        or (
            _full(b.mass_properties.inertia, b.mass)
            and _independent([found[b.name] for _, _, found in motions if b.name in found])
        )
        for b in tree.owners
    ):
        return
    at = [(t, q) for t, q, _ in motions]
    best: dict[int, float] = {}
    for t, q in at:
        for k, ratio in _pivots(tree, t, q).items():
            best[k] = max(ratio, best.get(k, 0.0))
    for body in tree.owners:
        for name, k in zip(body.speeds, tree.speeds_of(body.index), strict=True):
            if best[k] < SMALLEST_PIVOT and not body.any_inertia:
                raise DescriptionError(
                    f"body {body.name!r}: its {body.mobilizer!r} moves no inertia with speed {name!r} (mass "
                    f"{body.mass:g} kg and what it carries), so that this acceleration has no answer; give "
                    "the body or its children mass and inertia, or weld it: cd.Weld(). Each coordinate of a "
                    "joint must move it in a way of its own"
                )


def _motions(tree: Tree, t: float, q: Array) -> dict[str, JointMotion[Array]]:
    """Functions of users' joints, by body."""
    return {
        b.name: motion_at(b.mobilizer, t, q[b.q], np.zeros(b.mobilizer.nu))
        for b in tree.bodies
        if b.mobilizer.named_by_user and b.mobilizer.nu
    }


def _finite(motion: JointMotion[Array]) -> bool:
    """Whether a joint is finite with its first derivatives: the root of zero is not."""
    return all(np.isfinite(x).all() for x in motion[:4])


def _independent(motions: list[JointMotion[Array]]) -> bool:
    """Whether the speeds move the body independently somewhere. True for all joints except perhaps users'
    joints, which are given.
    """
    for motion in motions:
        sizes = np.linalg.svd(np.vstack(motion[2:4]), compute_uv=False)
        if sizes[-1] > 1e-6 * sizes[0]:
            return True
    return not motions


def _full(inertia: Array, mass: float) -> bool:
    moments = np.linalg.eigvalsh(inertia)
    return mass > 0 and moments[0] > 1e-9 * max(moments[-1], 1e-300)


def _random_q(tree: Tree, rng: np.random.Generator) -> Array:
    return np.concatenate([np.zeros(0), *(b.mobilizer.random_q(rng) for b in tree.owners)])


def _pivots(tree: Tree, t: float, q: Array) -> dict[int, float]:
    """Ratio of pivot to scale for each speed."""
    if tree.shares:
        return _pivots_of_matrix(tree, t, q)
    X_MB = [body.X_BM.inverse() for body in tree.bodies]
    P = [body.mass_properties.transformed(X).matrix() for body, X in zip(tree.bodies, X_MB, strict=True)]
    C = list(P)  # composite inertias: the same without elimination
    own = [np.abs(p).max() for p in P]
    ratios: dict[int, float] = {}
    for B in tree.tip_to_base:
        body = tree.bodies[B]
        R, p, H_w, H_v = motion_at(body.mobilizer, t, q[body.q], np.zeros(body.mobilizer.nu))[:4]
        X_FM = Transform.unchecked(R, p[:, 0])
        to_M = np.kron(np.eye(2), R.T)
        for k, h in zip(tree.speeds_of(B), (to_M @ np.vstack([H_w, H_v])).T, strict=True):
            if k in body.prescribed_speeds:
                ratios[k] = 1.0
                continue
            U = P[B] @ h
            D = h @ U
            scale = (h @ h) * own[B] + np.abs(h) @ np.abs(P[B]) @ np.abs(h) + h @ C[B] @ h
            ratios[k] = D / scale if scale > 0 else 0.0
            P[B] = P[B] - np.outer(U, U) / D if D > 0 else P[B]
        if (parent := tree.parent(B)) is not None:
            R_PM, p_PM = X_MB[parent] @ body.X_PF @ X_FM
            # V_M = A V_P, angular first
            A = np.block([[R_PM.T, np.zeros((3, 3))], [-R_PM.T @ skew(p_PM), R_PM.T]])
            P[parent], C[parent] = P[parent] + A.T @ P[B] @ A, C[parent] + A.T @ C[B] @ A
    return ratios


def _pivots_of_matrix(tree: Tree, t: float, q: Array) -> dict[int, float]:
    """The same where bodies share speeds, from the mass matrix: D over M_kk (condyle.dynamics.mass_matrix)."""
    M, J = np.zeros((tree.nu, tree.nu)), list[Array]()
    X_MB = [body.X_BM.inverse() for body in tree.bodies]
    for body in tree.bodies:
        R, p, H_w, H_v = motion_at(body.mobilizer, t, q[body.q], np.zeros(body.mobilizer.nu))[:4]
        parent = tree.parent(body.index)
        X_PF = body.X_PF if parent is None else X_MB[parent] @ body.X_PF
        R_PM, p_PM = X_PF @ Transform.unchecked(R, p[:, 0])
        # V_M = A V_P, angular first
        A = np.block([[R_PM.T, np.zeros((3, 3))], [-R_PM.T @ skew(p_PM), R_PM.T]])
        J.append(np.zeros((6, tree.nu)) if parent is None else A @ J[parent])
        J[-1][:, body.u] += np.kron(np.eye(2), R.T) @ np.vstack([H_w, H_v])
        M += J[-1].T @ body.mass_properties.transformed(X_MB[body.index]).matrix() @ J[-1]
    given = {k for body in tree.bodies for k in body.prescribed_speeds}
    D, ratios = M.copy(), dict.fromkeys(given, 1.0)
    for k in sorted(set(range(tree.nu)) - given, reverse=True):
        ratios[k] = D[k, k] / M[k, k] if M[k, k] > 0 else 0.0
        if D[k, k] > 0:
            D -= np.outer(D[:, k], D[k, :]) / D[k, k]
    return ratios
