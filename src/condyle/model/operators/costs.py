"""Costs of operators in both layouts: each operator's record has one of these, and layouts.py compares them.

Costs are in operations of straight-line code and rough: an error by a factor of 1.5 does no harm.
The constants were measured; 30 pins take 2.5 us by loops and 3.3 us in a straight line of 17,400 operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from condyle.mobilizers import motion_size
from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.model.model import Model
    from condyle.model.operators.record import OperatorRecord

LONGEST = 22_000
"""Loops are preferred to straight-line code with more operations, which takes about a second to compile."""
LONGEST_FOR_ONE = 5_500
"""The same for a single state, if loops are faster."""
LONGEST_OF_FEW = 1_000
"""The same for operators that are called only a few times."""
UNTURNED = 0.35
"""Operations of a body whose frames are not rotated relative to each other, as a share of those of other
bodies: zeros and ones simplify. """
ALONG_PATHS = 3
"""Operations of laws along paths in the Jacobian of forward dynamics, as a multiple of those in forward
dynamics."""


@dataclass(frozen=True)
class Estimate:
    """Cost of an operator of one model.

    Attributes:
        line: operations of its straight-line code.
        least: number of operations up to which loops do not pay off: a few times those of one row of each
            type.
        loops: cost of loops for one state, in equivalent operations of straight-line code; infinite if
            unknown.
        limit: the longest straight line for any number of states; 0 for the value of most operators.
    """

    line: float
    least: float = 0.0
    loops: float = np.inf
    limit: float = 0.0


class LayoutCost:
    """Estimates the cost of an operator."""

    def estimate(self, operator: OperatorRecord, model: Model, body: int | None) -> Estimate | None:
        """The estimate, or None if the operator has no loops for this model."""
        raise NotImplementedError


@dataclass(frozen=True)
class PassCost(LayoutCost):
    """An operator that passes over all bodies, and over the laws if it reads forces.

    Args:
        body: operations per body, besides those of its mobilizer.
        speed: operations per speed.
        looped_body: cost of a body in loops.
        looped_speed: the same per speed.
        unconstrained: whether there are loops only for models without constraints.
    """

    body: float = 350
    speed: float = 200
    looped_body: float = 300
    looped_speed: float = 150
    unconstrained: bool = False

    def estimate(self, operator: OperatorRecord, model: Model, body: int | None) -> Estimate | None:
        return None if self.unconstrained and model.constraints else self.over_tree(operator, model)

    def over_tree(self, operator: OperatorRecord, model: Model) -> Estimate:
        bodies, keys = model.tree.bodies, [p.key for p in model.patterns]
        types = dict(zip(keys, (b.mobilizer for b in bodies), strict=True))
        cost = {key: motion_size(m) + self.body + self.speed * m.nu for key, m in types.items()}
        turned = (not (_is_identity(b.X_PF.R) and _is_identity(b.X_BM.R)) for b in bodies)
        total = sum(cost[key] * (1.0 if t else UNTURNED) for key, t in zip(keys, turned, strict=True))
        laws, one_of_each = laws_size(model) if "forces" in operator.reads else (0, 0)
        by_loops = laws + sum(self.looped_body + self.looped_speed * b.mobilizer.nu for b in bodies)
        return Estimate(total + laws, 2 * (sum(cost.values()) + one_of_each), by_loops)


@dataclass(frozen=True)
class MultiplierCost(PassCost):
    """An operator that solves for the multipliers of constraints.

    Args:
        levels: levels of its equations; all if empty.
        pushes: whether it solves for accelerations. Y is then not symmetric if contacts have friction, and
            there are no loops for this case.
        also_without: whether it has loops for models without constraints too.
    """

    levels: tuple[str, ...] = ()
    pushes: bool = False
    also_without: bool = False

    def estimate(self, operator: OperatorRecord, model: Model, body: int | None) -> Estimate | None:
        if self.pushes and model.has_friction:
            return None
        if self.also_without and not model.constraints:
            return self.over_tree(operator, model)
        # looped/visits.py uses articulated bodies
        if model.tree.shares or not (model.equations(*self.levels) and model.tree.nu):
            return None
        found = self.over_tree(operator, model)
        return Estimate(found.line + _constraints_size(model), found.least, limit=LONGEST)


@dataclass(frozen=True)
class MatrixCost(LayoutCost):
    """An operator that computes a matrix by columns.

    Args:
        body: operations per body between ground and the body of the matrix, or per body of the model.
        speed: the same per speed.
        ancestor: the same per body and speed that moves it.
        pair: the same per pair of speeds of which one moves the other's body.
    """

    body: float = 0
    speed: float = 0
    ancestor: float = 0
    pair: float = 0

    def estimate(self, operator: OperatorRecord, model: Model, body: int | None) -> Estimate | None:
        if not model.tree.nu:
            return None
        speeds, before = _speeds_before(model)
        some = list(model.tree.path(body)) if body is not None else slice(None)
        size = self.body * len(speeds[some]) + self.speed * speeds[some].sum()
        size += self.ancestor * before.sum() + self.pair * (speeds * before).sum()
        return Estimate(int(size), limit=LONGEST)


class PathCost(LayoutCost):
    """An operator of the geometry of paths."""

    def estimate(self, operator: OperatorRecord, model: Model, body: int | None) -> Estimate | None:
        if not model.paths:
            return None
        from condyle.model.looped.path_kinds import is_row, span_size

        laws = [law for law in model.path_laws.values() if is_row(model, law)]
        spans = [span for law in laws for span in law.path.length.spans]
        return Estimate(sum(map(span_size, spans)), limit=LONGEST_FOR_ONE)


@dataclass(frozen=True)
class KnownLengthCost(LayoutCost):
    """An operator of laws along paths of known lengths.

    Args:
        kinds: the function of path_operators that gives their tables; none if there are no loops.
        law: operations per law.
        limit: the longest straight line.
    """

    kinds: str
    law: float
    limit: float = LONGEST_FOR_ONE

    def estimate(self, operator: OperatorRecord, model: Model, body: int | None) -> Estimate | None:
        if not model.paths:
            return None
        from condyle.model.looped import path_operators

        kinds = getattr(path_operators, self.kinds)(model)
        line = self.law * sum(len(kind.members) for kind in kinds)
        return Estimate(line, 2 * self.law * len(kinds), limit=self.limit) if kinds else None


def jacobian_cost(model: Model) -> Estimate:
    """Cost of the Jacobian of forward dynamics. Measured for one state and for lanes: 7 pins take 2.9 and
    0.96 us by loops, 2.7 and 0.87 in a straight line; 30 pins take 12.2 and 7.3 us by loops, 12.7 and 8.3
    in a straight line."""
    from condyle.model.looped.path_kinds import operations, path_kinds

    speeds, before = _speeds_before(model)
    types = dict(zip((p.key for p in model.patterns), (b.mobilizer for b in model.tree.bodies), strict=True))
    along, one = operations(path_kinds(model))
    size = lambda mobilizers: sum(motion_size(m) + 500 + 750 * m.nu for m in mobilizers)
    line = size(b.mobilizer for b in model.tree.bodies) + 65 * int((speeds * before).sum())
    least = size(types.values()) + ALONG_PATHS * one
    return Estimate(line + ALONG_PATHS * along, 1.5 * least, loops=0, limit=LONGEST)


def laws_size(model: Model) -> tuple[int, int]:
    """Approximate operations of the laws that can be rows of tables, and of one law of each kind."""
    if len(model.forces) == 1:  # gravity
        return 0, 0
    if model not in _LAWS:  # used by every operator
        from condyle.model.looped.law_rows import OPERATIONS, law_kinds
        from condyle.model.looped.path_kinds import operations, path_kinds

        kinds = law_kinds(model)
        along, one = operations(path_kinds(model))
        _LAWS[model] = (
            OPERATIONS * sum(len(kind.members) for kind in kinds) + along,
            OPERATIONS * len(kinds) + one,
        )
    return _LAWS[model]


_LAWS: WeakKeyDictionary[Model, tuple[int, int]] = WeakKeyDictionary()
_IDENTITY = np.eye(3)


def _is_identity(R: np.ndarray) -> bool:
    return bool((R == _IDENTITY).all())


def _constraints_size(model: Model) -> int:
    """Approximate operations of the mass matrix, its factors and one solution per equation as a straight
    line."""
    speeds, before = _speeds_before(model)
    # an equation involves one or two of them
    bases = sum(model.tree.parent(B) is None for B in model.tree.base_to_tip)
    return int(
        100 * len(speeds) + (10 + 4 * model.equations() * min(1.0, 2 / bases)) * (speeds * before).sum()
    )


def _speeds_before(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """The number of speeds of each body, and that of the body with its ancestors."""
    tree = model.tree
    speeds = np.array([b.mobilizer.nu for b in tree.bodies])
    return speeds, np.array([speeds[list(tree.path(B))].sum() for B in tree.base_to_tip])
