"""Points all around a convex surface that a user wrote: where to begin, and how sharply it bends."""
from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property, lru_cache

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.native.sweeps.tree import Tree
from condyle.native.sweeps.tree_best import TreeBest
from condyle.trace import Traced

AROUND = 512
"""Points."""
HALVED = 60
"""Times that the way out is halved."""
SURE = 0.5
"""The smallest radius of curvature may be so much smaller than at these points."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """A convex surface by points. Two of equal rows are the same.

    Attributes:
        rows: points [m] and normals, shape (AROUND, 6).
        sharpest: the smallest radius of curvature is no smaller [m].
    """

    rows: Array
    sharpest: float

    @cached_property
    def text(self) -> str:
        return hashlib.sha256(self.rows.tobytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rounded) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @cached_property
    def tree(self) -> Tree:
        return Tree.of(self.rows[:, :3])

    @cached_property
    def apart(self) -> float:
        """The support is at most so much larger than that of the points [m]: they are within half of the way
        to the sixth nearest one, along the surface, and below its tangent planes."""
        p, n = self.rows[:, :3], self.rows[:, 3:]
        near = np.argsort(np.linalg.norm(p[:, None] - p, axis=2), axis=1)[:, 1:7]
        return float((n[:, None] * (p[:, None] - p[near])).sum(axis=2).max())

    @cached_property
    def furthest(self) -> TreeBest:
        """A direction, most -> the point furthest along it."""
        tree, p = self.tree, self.rows[:, :3]

        def ball(some: np.ndarray) -> Array:
            centre = (p[some].max(axis=0) + p[some].min(axis=0)) / 2
            return np.append(centre, np.linalg.norm(p[some] - centre, axis=1).max() * (1 + 1e-9))

        along = lambda m, c: -ca.dot(m[:3], c[:3])
        return TreeBest.of("furthest_point", 4, tree, lambda m, c: along(m, c) - ca.norm_2(m[:3]) * c[3],
                           along, tree.nodes(ball, np.full(4, np.nan)), tree.blocks(p), p)


def _at(p: Array) -> str:
    return f"({', '.join(f'{x:.4g}' for x in p)})"


@lru_cache(maxsize=64)
def rounded(law: Traced, size: float, what: str) -> Rounded:
    """Points where lines from the origin leave the surface.

    Raises:
        DescriptionError: at one of them the surface is not convex, or further away than its size.
    """
    k = np.arange(AROUND) + 0.5
    z, turn = 1 - 2 * k / AROUND, np.pi * (1 + 5 ** 0.5) * k
    ways = np.stack([np.sqrt(1 - z ** 2) * np.cos(turn), np.sqrt(1 - z ** 2) * np.sin(turn), z])
    y = ca.SX.sym("y", 3)
    f = law.function.call([y[0], y[1], y[2]], True, False)[0]
    H, g = ca.hessian(f, y)
    value = ca.Function("f", [y], [f]).map(AROUND)
    at = lambda p: np.array(value(p).full()).ravel()
    out = at(size * ways) < 0
    if out.any():
        raise DescriptionError(f"{what}: goes beyond size = {size:g} m towards "
                               f"{_at(ways[:, int(np.flatnonzero(out)[0])])}; give a ball that holds it")
    low, high = np.zeros(AROUND), np.full(AROUND, size)
    for _ in range(HALVED):
        middle = (low + high) / 2
        inside = at(middle * ways) < 0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    p = high * ways
    slopes, bends = (np.array(x.full()) for x in ca.Function(
        "slopes", [y], [ca.densify(g), ca.densify(ca.vec(H))]).map(AROUND)(p))
    long = np.linalg.norm(slopes, axis=0)
    if not (long > 0).all() or not np.isfinite(bends).all():
        worst = int(np.flatnonzero(~(long > 0) | ~np.isfinite(bends).all(axis=0))[0])
        raise DescriptionError(f"{what}: has no normal or no curvature at {_at(p[:, worst])} m;"
                               " write a function whose gradient is not zero where it is zero")
    n = (slopes / long).T
    P = np.eye(3) - n[:, :, None] * n[:, None, :]
    K = P @ bends.T.reshape(-1, 3, 3) @ P / long[:, None, None]
    kappa = np.linalg.eigvalsh(K)
    hollow = kappa[:, 0] < -1e-6 / size
    if hollow.any():
        worst = int(np.argmin(kappa[:, 0]))
        raise DescriptionError(f"{what}: is not convex at {_at(p[:, worst])} m: it curves by "
                               f"{kappa[worst, 0]:.3g} 1/m there; take several, or a cd.contact.Mesh")
    return Rounded(np.ascontiguousarray(np.hstack([p.T, n])), SURE / float(kappa[:, 2].max()))
