"""What a fit's machine code depends on: the layout of its goals, and constants shared by the loop and its
callers. Loading a program from the cache needs no more than this module.

Goals as numbers, `Layout`: one row per frame, which the native loop reads. A row has the time, the size of
the cost, 1 + the index at which its H and P are written (0: they are not written), the start of its frame
(gauss_newton.py), and then one block per goal, or one per body for its stations. The numbers of a block are
explained with each goal (fit/goals). Machine code depends on the texts of the goals, `Goal.code`, and not on
their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from condyle.arrays import Array
from condyle.fit.goals import Goal
from condyle.model.layouts import prefers_loops
from condyle.model.model import Model
from condyle.records import dataclass
from condyle.tree.tree import Tree

FOUND, VIOLATED, UNFINISHED, STATIONARY = 0, 1, 2, 3
"""How a frame ended."""
BEFORE, OWN, STAY = 0, 1, 2
"""Where a frame starts: at the end of the one before, at its own pose, or at its own pose without any step.
"""
INFO = ("code", "iterations", "cost", "worst", "flat")
"""Output for each frame: the end, iterations, cost, largest |p|, the number of last steps without gain."""
FLAT = 10
"""This many steps in a row without gain end a frame."""
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
    def from_goals(cls, tree: Tree, goals: Sequence[Goal]) -> Layout:
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

    def rows(self, t: Array) -> Array:
        """The rows of all frames at times t (T,), shape (T, size)."""
        out = np.zeros((len(t), self.size))
        out[:, 0] = t
        for kind in dict.fromkeys(type(goals[0]) for goals in self.blocks):
            mine = [b for b, goals in enumerate(self.blocks) if type(goals[0]) is kind]
            for piece, found in kind.all_numbers([self.blocks[b] for b in mine], len(t)):
                for b, (numbers, size) in zip(mine, found, strict=True):
                    out[piece, self.slices[b]] = numbers
                    out[piece, 1] += size
        return out

    def weights(self, rows: Array) -> Array:
        """The sum of the weights of all goals in each frame, shape (T,), from its row."""
        at = [
            (where.start if goals[0].weight_at >= 0 else where.stop) + goals[0].weight_at
            for where, goals in zip(self.slices, self.blocks, strict=True)
        ]
        return rows[:, at].sum(axis=1)


def has_loops(model: Model, layout: Layout) -> bool:
    """Whether these goals are written as loops, and loops are preferred."""

    def simple(goal: Goal) -> bool:
        if asks(goal) != "pose":
            return asks(goal) == "coordinate"
        return not model.varies(str(vars(goal)["body"]), "R_MB", "p_MB")

    # visits.py goes along articulated bodies
    tied = model.tree.shares and model.equations("position") > 0
    return (
        model.tree.nu > 0
        and not tied
        and all(simple(goals[0]) for goals in layout.blocks)
        and prefers_loops(model, "mass_matrix")
    )


def asks(goal: Goal) -> str:
    """The requirements that its own class declares; a subclass may have more."""
    return vars(type(goal)).get("looped", "")


def body_of(model: Model, goal: Goal) -> int:
    """The body whose pose a goal uses."""
    return model.tree.body(str(vars(goal)["body"])).index
