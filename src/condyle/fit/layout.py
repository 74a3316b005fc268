"""Goals as numbers: one row per frame, which the native loop reads.

A row has the time, the size of the cost, one more than the place to which its H and P are written (0: they
are not), where its frame starts (loop.py), and then one block per goal, or one per body for the stations that
it carries. What the numbers of a block are, a goal says itself (fit/goals). Machine code depends on the texts
of the goals, `Goal.code`, and not on their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from condyle.fit.goals import Goal
from condyle.records import dataclass
from condyle.tree.tree import Tree

HEAD = 4
"""Numbers before the blocks."""


@dataclass(frozen=True)
class Layout:
    """What the machine code depends on.

    Attributes:
        codes: texts of the goals, one per block, sorted: their order does not matter.
        blocks: the goals of each block: one, or those of one text that are pooled.
    """

    codes: tuple[str, ...]
    blocks: tuple[tuple[Goal, ...], ...] = field(compare=False, repr=False)

    @classmethod
    def of(cls, tree: Tree, goals: Sequence[Goal]) -> Layout:
        """The layout of some goals."""
        found: dict[tuple[str, int], list[Goal]] = {}
        for i, g in enumerate(goals):
            found.setdefault((g.code(tree), 0 if g.pooled else 1 + i), []).append(g)
        keys = sorted(found)
        return cls(tuple(code for code, _ in keys), tuple(tuple(found[key]) for key in keys))

    @cached_property
    def slices(self) -> list[slice]:
        """Where each block is in a row."""
        ends = list(accumulate((goals[0].width for goals in self.blocks), initial=HEAD))
        return [slice(a, b) for a, b in pairwise(ends)]

    @property
    def size(self) -> int:
        """Numbers of a row."""
        return self.slices[-1].stop if self.slices else HEAD

    def rows(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rows of all frames at times t (T,), shape (T, size)."""
        out = np.zeros((len(t), self.size))
        out[:, 0] = t
        for kind in dict.fromkeys(type(goals[0]) for goals in self.blocks):
            mine = [b for b, goals in enumerate(self.blocks) if type(goals[0]) is kind]
            found = kind.all_numbers([self.blocks[b] for b in mine], len(t))
            for b, (numbers, size) in zip(mine, found, strict=True):
                out[:, self.slices[b]] = numbers
                out[:, 1] += size
        return out

    def weights(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of the weights of all goals in each frame, shape (T,), from its row."""
        at = [
            (where.start if goals[0].weight_at >= 0 else where.stop) + goals[0].weight_at
            for where, goals in zip(self.slices, self.blocks, strict=True)
        ]
        return rows[:, at].sum(axis=1)
