"""Paths of muscles, ligaments and springs: public operators."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from condyle.arrays import Array, Vector
from condyle.errors import ShapeError
from condyle.system.operators.base import Operators
from condyle.system.operators.public import Options, operator


class PathOperators(Operators):
    """Lengths, speeds and moment arms of all paths, in the order of `system.paths`."""

    @operator
    def path_lengths(self, q: Vector, **options: Unpack[Options]) -> Array:
        """Lengths of all paths [m], shape (..., n), in the order of `system.paths`; true geodesics over
        surfaces."""
        return self._run("path_lengths", (q,), options)

    @operator
    def path_speeds(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Rates of the lengths of all paths [m/s], shape (..., n), positive in lengthening."""
        return self._run("path_speeds", (q, u), options)

    @operator
    def moment_arms(self, q: Vector, coupled: bool = True, **options: Unpack[Options]) -> Array:
        """Moment arms of all paths about all speeds [m, -], shape (..., n, nu): -dL/dq along the manifold,
        exactly.

        With constraints, entry j is -dL for the allowed motion with speed j = 1, the least one if there are
        several (docs/theory/paths.md (9)); zero if there is none. For coupled coordinates this is the
        measured moment arm.

        Args:
            q: coordinates, shape (..., nq).
            coupled: False ignores the constraints: then T times row i is the generalized force of a tension T
                on path i.
        """
        if not isinstance(coupled, (bool, np.bool_)):
            raise ShapeError(
                f"moment_arms: coupled: expected True or False, got {coupled!r}; all paths come "
                "at once, in the order of system.paths"
            )
        R: Array = self._run("moment_arms", (q,), options)
        if not coupled or not self.constraints:
            return R
        state: Any = options.get("state")
        if state is None:
            u = np.zeros((*self.compiled.vector("q", q, "moment_arms").shape[:-1], self.nu))
        else:
            u = state.array("u") if hasattr(state, "array") else state.u
        G = self._run("constraints.jacobian", (q, u), options)
        return R @ allowed_motions(
            G[..., [level != "acceleration" for _, level in self.constraints.equations()], :]
        )

    @operator
    def path_points(self, q: Vector, **options: Unpack[Options]) -> dict[str, Array]:
        """Polygons for drawing all paths, {name: points}, in ground [m], shape (..., m, 3), from one end to
        the other.

        A surface has 17 points, the first and the last where the path touches and leaves it. The number of
        points of a path is the same in all states: points coincide if a path point is inactive or a surface
        is not touched. A cd.paths.FunctionPath has none.
        """
        from condyle.paths.path import numbers, polygon

        flat: Array = self._run("path_points", (q,), options)
        out, at = {}, 0
        for name, path in self.compiled.model.paths.items():
            n = numbers(path)
            out[name] = polygon(path, flat[..., at : at + n]) if n else np.empty((*flat.shape[:-1], 0, 3))
            at += n
        return out


def allowed_motions(G: Array) -> Array:
    """U, shape (..., nu, nu): column j is the least motion u with G u = 0 and u_j = 1, or zero."""
    P = np.eye(G.shape[-1]) - np.linalg.pinv(G, rcond=DEPENDENT) @ G
    own = np.diagonal(P, axis1=-2, axis2=-1)[..., None, :]
    return np.where(own > DEPENDENT, P / np.where(own > DEPENDENT, own, 1), 0)


DEPENDENT = 1e-10
"""Relative size below which a number counts as zero, for redundant equations and impossible speeds."""
