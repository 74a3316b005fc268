"""The tree for the recursions: every body described in its own frame M.

The recursions need only M: F is placed on the parent's M, mass properties are taken about M's origin in M's
axes. For a pin or a ball the hinge axes then pass through the point of reference, and half of H is zero
(counted in operations, a tenth of the articulated-body recursion). Body frames B appear only in results for
users.

Numbers that depend on Parameters are not recomputed for every state: `tabulated` gives each a place in a
table, which an INSTANCE kernel fills once per set of parameters. Those of one body are contiguous, in the
order of `BodyConstants`, so that loops over bodies can read them in place.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.records import dataclass
from condyle.spatial import MassProperties, Transform
from condyle.tree.body import Body
from condyle.tree.tree import Tree

ROUNDING = 4 * np.finfo(float).eps
"""Entries of a product of rotations this close to 0 or ±1 are replaced by these: structural zeros cost
nothing.
"""


@dataclass(frozen=True)
class BodyConstants:
    """Constants of one body: numbers, or SX where they depend on Parameters.

    Attributes:
        R_PF: rotation of F on the parent's M (or ground).
        p_PF: origin of F on the parent's M (or ground).
        R_MB: rotation of the user's body frame on M.
        p_MB: origin of the user's body frame on M.
        mass: mass of the body.
        com: mass center from M's origin, in M's axes.
        I: inertia about M's origin, in M's axes: a 3 x 3 matrix if it depends on Parameters, else in the form
            of `principal`.
    """

    R_PF: Any
    p_PF: Any
    R_MB: Any
    p_MB: Any
    mass: Any
    com: Any
    I: Any


@dataclass(frozen=True, eq=False)
class ConstantsTable:
    """Constants of every body with places in a table for those that depend on Parameters.

    Attributes:
        placed: the constants; fields with Parameters in them as symbols of the table.
        symbols: the table as symbols, shape (n,). A field has all its entries there, column by column; an
            inertia has the lower half of its entries.
        meanings: the expression of each symbol, shape (n,).
        starts: first entry of each body.
    """

    placed: list[BodyConstants]
    symbols: ca.SX
    meanings: ca.SX
    starts: list[int]


LOWER = [(i, j) for j in range(3) for i in range(j, 3)]
"""Stored entries of a symmetric matrix, in CasADi's order."""


def principal(I: Array) -> tuple[float, Array, Array]:
    """l, a, b with I = l 1 + a a' - b b': l the middle one of the principal moments, a and b along the axes
    of the largest and of the smallest. Numbers within rounding of zero become zero."""
    (least, l, most), axes = np.linalg.eigh(I)

    def along(axis: Array, moment: float) -> Array:
        return np.sqrt(moment) * snapped(axis) if moment > ROUNDING * most else np.zeros(3)

    return float(l), along(axes[:, 2], most - l), along(axes[:, 0], l - least)


def snapped(R: Array) -> Array:
    """R with entries within rounding of 0 or ±1 replaced by these."""
    near = np.round(R)
    return np.where(np.abs(R - near) <= ROUNDING, near, R)


def layout(tree: Tree) -> list[BodyConstants]:
    """Constants of every body, base to tip."""
    placed: list[BodyConstants] = []
    for body in tree.bodies:
        parent = tree.parent(body.index)
        on = None if parent is None else placed[parent]
        symbolic = body.symbolic or (on is not None and any(isinstance(v, ca.SX) for v in (on.R_MB, on.p_MB)))
        placed.append(_symbolic(body, on) if symbolic else _numeric(body, on))
    return placed


def _numeric(body: Body, on: BodyConstants | None) -> BodyConstants:
    X_MB = body.X_BM.inverse()
    X_PF = body.X_PF if on is None else Transform.unchecked(on.R_MB, on.p_MB) @ body.X_PF
    m: MassProperties = body.mass_properties.transformed(X_MB)
    return BodyConstants(
        snapped(X_PF.R), X_PF.p, snapped(X_MB.R), X_MB.p, m.mass, m.com, principal(m.inertia_about_origin())
    )


def _symbolic(body: Body, on: BodyConstants | None) -> BodyConstants:
    """The same as `_numeric` over SX."""
    given = {
        "R_PF": body.X_PF.R,
        "p_PF": body.X_PF.p,
        "R_BM": body.X_BM.R,
        "p_BM": body.X_BM.p,
        "mass": body.mass,
        "com": body.mass_properties.com,
        "inertia": body.mass_properties.inertia,
    }
    x = {
        name: body.symbolic[name].sx if name in body.symbolic else ca.sparsify(ca.SX(ca.DM(value)))
        for name, value in given.items()
    }
    R_MB = x["R_BM"].T
    p_MB = -R_MB @ x["p_BM"]
    com = R_MB @ x["com"] + p_MB
    about = R_MB @ x["inertia"] @ R_MB.T + x["mass"] * (ca.dot(com, com) * ca.SX.eye(3) - com @ com.T)
    R_PF, p_PF = x["R_PF"], x["p_PF"]
    if on is not None:
        R_PM, p_PM = (ca.sparsify(v if isinstance(v, ca.SX) else ca.SX(ca.DM(v))) for v in (on.R_MB, on.p_MB))
        R_PF, p_PF = R_PM @ R_PF, R_PM @ p_PF + p_PM
    placed = BodyConstants(
        *(_number(ca.simplify(v)) for v in (R_PF, p_PF, R_MB, p_MB, x["mass"], com, about))
    )
    return placed if isinstance(placed.I, ca.SX) else replace(placed, I=principal(placed.I))


def _number(value: SX) -> Any:
    """The numbers of a constant expression, in the shapes of `_numeric`; any other unchanged."""
    if not value.is_constant():
        return value
    number = np.array(ca.DM(value).full())
    return (
        number if number.shape == (3, 3) else number[:, 0] if number.shape == (3, 1) else float(number[0, 0])
    )


def tabulated(placed: list[BodyConstants]) -> ConstantsTable:
    """The same constants with a symbol in place of every entry that depends on Parameters, each with its
    place in the table."""
    symbols: list[ca.SX] = []
    meanings: list[ca.SX] = []

    def entry(value: SX) -> SX:
        """A place in the table; where a constant has one, expressions use the constant."""
        symbols.append(ca.SX.sym(f"table{len(symbols)}"))
        meanings.append(value)
        return value if value.is_constant() else symbols[-1]

    def tabulate(name: str, value: Any) -> Any:
        if not isinstance(value, ca.SX):
            return value
        if name == "I":
            lower = [entry(value[i, j]) for i, j in LOWER]
            return ca.tril2symm(ca.SX(ca.Sparsity.lower(3), ca.vertcat(*lower)))
        dense = ca.vertcat(*(entry(x) for x in ca.vertsplit(ca.densify(ca.vec(value)))))
        return ca.sparsify(ca.reshape(dense, *value.shape))

    new, starts = [], []
    for p in placed:
        starts.append(len(symbols))
        new.append(BodyConstants(*(tabulate(f.name, getattr(p, f.name)) for f in fields(p))))
    return ConstantsTable(new, ca.vertcat(ca.SX(0, 1), *symbols), ca.vertcat(ca.SX(0, 1), *meanings), starts)
