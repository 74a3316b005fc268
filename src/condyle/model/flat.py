"""Matrices and lists of expressions as flat columns, for kernels."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca

from condyle.arrays import SX


def rows(A: SX) -> SX:
    """The matrix A as a column, row by row."""
    return ca.vec(A.T)


def column(parts: Iterable[SX]) -> SX:
    """All parts stacked."""
    return ca.vertcat(ca.SX(0, 1), *parts)
