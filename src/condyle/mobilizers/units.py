"""Units of coordinates and speeds, read from the equations of a mobilizer.

    V_FM = H_FM u,   qdot = N(q) u                                              base.py (2), (4)

A speed whose angular column of H is zero everywhere, so that it only shifts, is in m/s, every other one in
rad/s. A coordinate is in meters if such speeds alone change it. Zeros are structural: what looks like zero at
some places only is an angle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from condyle.errors import DescriptionError

QUATERNION = ("qw", "qx", "qy", "qz")
"""Usual names of the coordinates of a unit quaternion (w, x, y, z). Which coordinates are one, mobilizers
state."""


LENGTHS = ("m", "cm", "mm")
"""Units of coordinates that grow with the bodies."""


def shifting(H_w: ca.SX, H_v: ca.SX) -> list[bool]:
    """Which speeds only shift, shape (nu,): no angular velocity, some linear one."""
    H_w, H_v = ca.sparsify(H_w), ca.sparsify(H_v)
    return [not H_w[:, j].nnz() and H_v[:, j].nnz() > 0 for j in range(H_w.shape[1])]


def coordinate_units(H_w: ca.SX, H_v: ca.SX, N: ca.SX, quaternions: Sequence[slice]) -> tuple[str, ...]:
    """ "m", "rad", and "1" for quaternions, shape (nq,)."""
    only, N = shifting(H_w, H_v), ca.sparsify(N)
    turned = {i for part in quaternions for i in range(part.start, part.stop)}
    out = []
    for i in range(N.shape[0]):
        driving = [only[j] for j in range(N.shape[1]) if N[i, j].nnz()]
        out.append("1" if i in turned else "m" if driving and all(driving) else "rad")
    return tuple(out)


def speed_units(H_w: ca.SX, H_v: ca.SX, N: ca.SX, units: Sequence[str]) -> tuple[str, ...]:
    """That of its coordinate per second where a speed is the rate of one, else "m/s" or "rad/s", shape
    (nu,)."""
    N = ca.sparsify(N)
    out = ["m/s" if shifts else "rad/s" for shifts in shifting(H_w, H_v)]
    for j in range(len(out)):
        rows = N[:, j].sparsity().row()
        if len(rows) == 1 and N[rows[0], :].nnz() == 1 and N[rows[0], j].is_one():
            out[j] = f"{units[rows[0]]}/s"
    return tuple(out)


def given_units(units: Any, names: Sequence[str], what: str) -> tuple[str, ...]:
    """The units that a user states, one for each coordinate; () if none."""
    stated = (units,) if isinstance(units, str) else tuple(units or ())
    if stated and (len(stated) != len(names) or not all(isinstance(unit, str) for unit in stated)):
        raise DescriptionError(
            f"{what}: units: expected {len(names)}, one for each coordinate, such as "
            f"'rad', 'deg', 'm' or 'mm', got {units!r}"
        )
    return stated
