"""Geodesics over an ellipsoid, in two stages: least length in four modes (least_length.py), which suffices
for the arcs of anatomy; where it does not, two halves that are shot at each other (halves.py), to rounding.
"""

from __future__ import annotations

from functools import cache

from condyle.native.solvers.solver import Solver
from condyle.paths.halves import Halves
from condyle.paths.least_length import LeastLength, Length
from condyle.paths.silhouette import Ends

__all__ = ["Ends", "solvers"]


@cache
def solvers(modes: int = 4) -> tuple[Solver, Solver]:
    """Two solvers: of p (silhouette.py), and of p and the row of the first without its status. The second
    goes on where the first does not suffice."""
    return LeastLength(Length(modes, 2 * modes - 1)).solver(f"ellipsoid{modes}"), Halves().solver()
