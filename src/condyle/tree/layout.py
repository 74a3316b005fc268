"""The tree as the recursions see it: every body described in its own frame M.

The recursions need only M: F is placed on the parent's M, mass properties are taken about M's origin in M's axes. For a pin
or a ball the hinge axes then pass through the point of reference, and half of H is zero (counted in operations, a tenth
of the articulated-body recursion). Body frames B return only where a user asks for them.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condyle.spatial import MassProperties, Transform
from condyle.tree.tree import Tree

ROUNDING = 4 * np.finfo(float).eps
"""Entries of a product of rotations this near to 0 or ±1 are meant to be that: a structural zero costs nothing."""


@dataclass(frozen=True)
class Placed:
    """Constants of one body. X_PF: from the parent's M (or ground) to F. X_MB: from M to the user's body frame."""

    X_PF: Transform
    X_MB: Transform
    mass_properties: MassProperties


def snapped(R: np.ndarray) -> np.ndarray:
    """R with entries within rounding of 0 or ±1 replaced by these."""
    near = np.round(R)
    return np.where(np.abs(R - near) <= ROUNDING, near, R)


def layout(tree: Tree) -> list[Placed]:
    """Constants of every body, base to tip."""
    placed: list[Placed] = []
    for body in tree.bodies:
        X_MB = body.X_BM.inverse()
        parent = tree.parent(body.index)
        X_PF = body.X_PF if parent is None else placed[parent].X_MB @ body.X_PF
        placed.append(Placed(
            X_PF=Transform.unchecked(snapped(X_PF.R), X_PF.p),
            X_MB=Transform.unchecked(snapped(X_MB.R), X_MB.p),
            mass_properties=body.mass_properties.transformed(X_MB)))
    return placed
