"""One body as the passes of a recursion see it, whichever layout runs them.

A pass visits all bodies, base to tip (outward) or tip to base (inward). It reads and writes fields of its own
body, "me", and of the body's parent, "parent", by the names of the notation. `StraightTree` runs a pass as
one straight line: its fields are expressions, one set per body. The looped layout
(condyle.model.looped.tables) traces a pass once per type of body: its fields are symbols for columns of a
table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import casadi as ca

from condyle.dynamics.kinematics import BodyKinematics, Kinematics, Pair
from condyle.tree.layout import BodyConstants
from condyle.tree.tree import Tree

ZERO: Pair = (ca.SX(3, 1), ca.SX(3, 1))
_ZEROS: dict[str, Any] = {"P": (ca.SX(3, 3), ca.SX(3, 3), ca.SX(3, 3))}


class Row(Protocol):
    """A body in a pass. H, r of kinematics.py are kept from the pass that found them.

    Attributes:
        status: what the recursion reports so far, one number for all bodies.
    """

    @property
    def body(self) -> BodyConstants: ...
    @property
    def number(self) -> ca.SX:
        """1 + its first speed."""

    @property
    def status(self) -> ca.SX: ...
    @status.setter
    def status(self, value: ca.SX) -> None: ...
    def get(self, where: str, name: str) -> Any:
        """A field of me or of the parent: P an inertia, all others Pairs."""

    def put(self, where: str, name: str, value: Any) -> None: ...
    def keep(self, name: str, value: Any) -> None:
        """Leave something for a later pass over the same body."""

    def kept(self, name: str) -> Any: ...


class StraightTree:
    """A tree whose passes are one straight line of expressions.

    Args:
        tree: the bodies.
        kin: their kinematics.
        ground: fields of ground, by name.
    """

    def __init__(self, tree: Tree, kin: Kinematics, **ground: Any) -> None:
        self.tree, self.kin, self.status = tree, kin, ca.SX(0)
        self.fields: dict[tuple[int | None, str], Any] = {(None, name): x for name, x in ground.items()}

    def outward(self, visit: Callable[[StraightRow], Any]) -> None:
        for B in self.tree.base_to_tip:
            visit(StraightRow(self, B))

    def inward(self, visit: Callable[[StraightRow], Any]) -> None:
        for B in self.tree.tip_to_base:
            visit(StraightRow(self, B))

    def field(self, B: int | None, name: str) -> Any:
        """A field of a body; zero where nobody has written it."""
        return self.fields.get((B, name), _ZEROS.get(name, ZERO))

    def each(self, name: str, ground: bool = True) -> dict[Any, Any]:
        """A field by body; None is ground."""
        bodies = [None, *self.tree.base_to_tip] if ground else self.tree.base_to_tip
        return {B: self.field(B, name) for B in bodies}


class StraightRow:
    """A body of a straight line."""

    def __init__(self, line: StraightTree, B: int) -> None:
        self.line, self.B = line, B

    @property
    def body(self) -> BodyConstants:
        return self.line.kin.placed[self.B]

    @property
    def u(self) -> slice:
        """Its speeds."""
        return self.line.tree.bodies[self.B].u

    @property
    def number(self) -> ca.SX:
        return ca.SX(self.u.start + 1)

    @property
    def status(self) -> ca.SX:
        return self.line.status

    @status.setter
    def status(self, value: ca.SX) -> None:
        self.line.status = value

    @property
    def kinematics(self) -> BodyKinematics:
        kin, B = self.line.kin, self.B
        return BodyKinematics(
            kin.R_GM[B],
            kin.p_GM[B],
            kin.p_PM[B],
            kin.X_GF[B],
            self.kept("H"),
            kin.V_FM.get(B),
            kin.V_GM.get(B),
            kin.c.get(B),
        )

    def _owner(self, where: str) -> int | None:
        return self.B if where == "me" else self.line.tree.parent(self.B)

    def get(self, where: str, name: str) -> Any:
        return self.line.field(self._owner(where), name)

    def put(self, where: str, name: str, value: Any) -> None:
        self.line.fields[self._owner(where), name] = value

    def keep(self, name: str, value: Any) -> None:
        self.put("me", name, value)

    def kept(self, name: str) -> Any:
        if name == "H":
            return self.line.kin.H[self.B]
        return self.line.kin.p_PM[self.B] if name == "r" else self.get("me", name)
