"""Numbers that machine code reads from outside: those of a model that its structure does not depend on. The same
code then serves all models that differ in these alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

SYMBOL = "condyle.data"
TABLE = "condyle.table."
"""Before the name of a table some of whose numbers are data."""


class Place:
    """Where a number is among the data. It is no number: arrays that hold some hold objects."""

    __slots__ = ("at",)

    def __init__(self, at: int) -> None:
        self.at = at

    def __repr__(self) -> str:
        return f"#{self.at}"


Recipe = dict[str, list[Any]]
"""Tables some of whose numbers are data, by their symbols: numbers, and [place] where one is a datum."""


def recipe(tables: Mapping[str, np.ndarray]) -> Recipe:
    """Tables as JSON can hold them."""
    return {
        name: [[x.at] if isinstance(x, Place) else float(x) for x in table.ravel().tolist()]
        for name, table in tables.items()
    }


def link(numbers: np.ndarray, tables: Recipe) -> tuple[dict[str, int], list[np.ndarray]]:
    """Addresses that code is linked to, and the arrays there, which whoever calls the code keeps alive."""
    found = {SYMBOL: numbers} if numbers.size else {}
    for name, table in tables.items():
        found[name] = made = _aligned(len(table))
        made[:] = [numbers[x[0]] if isinstance(x, list) else x for x in table]
    return {name: x.ctypes.data for name, x in found.items()}, list(found.values())


def looked_up(numbers: np.ndarray, rows: Any) -> np.ndarray:
    """An array of numbers and Places with the data in it."""
    array = np.array(rows)
    if array.dtype != object:
        return array.astype(float)
    return np.vectorize(lambda x: numbers[x.at] if isinstance(x, Place) else x, otypes=[float])(array)  # type: ignore[no-any-return]


def _aligned(size: int) -> np.ndarray:
    """Memory that begins on a line of 64 bytes."""
    whole = np.empty(size + 8)
    start = -whole.ctypes.data // 8 % 8
    return whole[start : start + size]

NONE = np.zeros(0)
NONE.flags.writeable = False
