"""The table of members, and one member of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from condyle.table import Table


class Sample(Table):
    """Members of a study: a Table over members, and how they were drawn.

    Attributes:
        method: as in `cd.members`; empty for members made by the user. seed: seed of the random numbers.
        correlated: whether quantities depend on each other.
    """

    def __init__(
        self,
        names: Sequence[str],
        values: ArrayLike,
        units: Sequence[str] | None = None,
        *,
        method: str = "",
        seed: int = 0,
        correlated: bool = False,
    ) -> None:
        values = np.asarray(values, dtype=float)
        super().__init__(np.arange(len(values)), names, values, units, over="member")
        self.method, self.seed, self.correlated = method, seed, correlated


class Member(dict[str, float]):
    """One member: its quantities by name, its index, and its own random number generator.

    Attributes:
        index: its number, from 0 on.
        seed: seed of the study.
    """

    def __init__(self, values: dict[str, float], index: int, seed: int = 0) -> None:
        super().__init__(values)
        self.index, self.seed = index, seed

    def random(self) -> np.random.Generator:
        """Random number generator that depends only on the seed of the study and the index of the member."""
        return np.random.default_rng((self.seed, self.index))
