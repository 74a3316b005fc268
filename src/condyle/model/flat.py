"""Matrices and lists of expressions as flat columns: kernels take and give vectors."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca


def rows(A: ca.SX) -> ca.SX:
    """A flattened row by row."""
    return ca.vec(A.T)


def column(parts: Iterable[ca.SX]) -> ca.SX:
    """All parts below each other."""
    return ca.vertcat(ca.SX(0, 1), *parts)
