"""Paths of muscles, ligaments and springs: public operators."""
from __future__ import annotations

from typing import Unpack

from condyle.arrays import Array, Vector
from condyle.system.operators.base import Operators
from condyle.system.operators.options import Options
from condyle.system.operators.public import operator


class PathOperators(Operators):
    """Lengths, speeds and moment arms of all paths, in the order of `system.paths`."""

    @operator
    def path_lengths(self, q: Vector, **options: Unpack[Options]) -> Array:
        """Lengths of all paths [m], shape (..., n), in the order of `system.paths`; true geodesics over
        surfaces."""
        return self._run("path_lengths", (q,), options)

    @operator
    def path_speeds(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Rates of the lengths of all paths [m/s], shape (..., n), positive where they lengthen."""
        return self._run("path_speeds", (q, u), options)

    @operator
    def moment_arms(self, q: Vector, **options: Unpack[Options]) -> Array:
        """Moment arms of all paths about all speeds [m, -], shape (..., n, nu): -dL/dq along the manifold,
        exactly.

        A tension T on path i adds T times row i to the generalised forces.
        """
        return self._run("moment_arms", (q,), options)
