"""Selection among many constants: a tree of choices becomes one index and a table, and trees with the same
conditions share the index.

A spline with few points, as an expression, chooses each of its coefficients by a tree of if_else over
constants. C such trees with n leaves and the same conditions are C (n - 1) selections; here they are n - 1
for the index, and C tables. Where lanes cannot read a table at once (no processor but those with AVX-512
permutes a register by the numbers in another) the selections remain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import casadi as ca

from condyle.records import dataclass

FEWEST, MOST = 5, 16
"""Number of leaves of a tree that becomes a table. With fewer leaves selections are as fast, and two
registers of eight lanes hold sixteen."""

Branch = tuple[int, int, int]
"""A condition's node, and the shapes of the two sides; LEAF is a constant."""
LEAF = 0


@dataclass(frozen=True)
class Selection:
    """A constant chosen by conditions: leaves[i], where trees of this shape share the index i."""

    shape: int
    leaves: tuple[float, ...]


class Selections:
    """The trees of choices over constants in a graph.

    Attributes:
        at: the tree of each node that is a root.
        shapes: the branch of each shape; the first is LEAF.
    """

    def __init__(
        self,
        op: Sequence[int],
        a: Sequence[int],
        b: Sequence[int],
        constants: Mapping[int, float],
        choices: Mapping[int, Branch],
    ) -> None:
        self.at: dict[int, Selection] = {}
        self.shapes: list[Branch] = [(-1, -1, -1)]
        known: dict[Branch, int] = {}
        trees = {k: Selection(LEAF, (value,)) for k, value in constants.items()}
        zero = Selection(LEAF, (0.0,))
        for k, o in enumerate(op):
            if k in choices:
                c, x, y = choices[k]
                sides = trees.get(x), trees.get(y)
            elif o == ca.OP_IF_ELSE_ZERO:
                c, sides = a[k], (trees.get(b[k]), zero)
            else:
                continue
            if op[c] == ca.OP_NOT:
                c, sides = a[c], sides[::-1]
            yes, no = sides
            if yes is None or no is None or len(yes.leaves) + len(no.leaves) > MOST:
                continue
            branch = c, yes.shape, no.shape
            if branch not in known:
                known[branch] = len(self.shapes)
                self.shapes.append(branch)
            trees[k] = Selection(known[branch], yes.leaves + no.leaves)
            if len(trees[k].leaves) >= FEWEST:
                self.at[k] = trees[k]

    def conditions(self, k: int) -> list[int]:
        """Nodes that the tree at node k depends on."""
        found, todo = [], [self.at[k].shape]
        while todo:
            if (shape := todo.pop()) != LEAF:
                c, yes, no = self.shapes[shape]
                found.append(c)
                todo += [yes, no]
        return found

    def keep_shared(self, uses: Sequence[int]) -> bool:
        """Forget trees whose index no other used tree shares; returns whether there were any."""
        count = Counter(tree.shape for k, tree in self.at.items() if uses[k])
        alone = [k for k, tree in self.at.items() if count[tree.shape] == 1]
        for k in alone:
            del self.at[k]
        return bool(alone)
