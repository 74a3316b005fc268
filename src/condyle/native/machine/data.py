"""Numbers that machine code reads from outside: those of a model that its structure does not depend on. The same
code then serves all models that differ in these alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

SYMBOL = "condyle.data"
FOUR = "condyle.data.4"
"""The same numbers, each four times side by side."""
TABLE = "condyle.table."
"""Prefix of the names of tables that contain data."""


class DataPlace:
    """The place of a number among the data. It stands in for a number that is not known yet; arrays with
    DataPlaces have dtype object."""

    __slots__ = ("at",)

    def __init__(self, at: int) -> None:
        self.at = at

    def __repr__(self) -> str:
        return f"#{self.at}"


Recipe = dict[str, list[Any]]
"""The data that code needs, as JSON values: tables that contain data, by symbol, as numbers and [place];
and under SYMBOL the operations of `DerivedData`."""


class DerivedData:
    """Numbers computed from data alone: once, when code is loaded, not for every state. The first is at
    place -1, the next at -2: they lie before the data."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, list[Any]]] = []
        self._known: dict[str, int] = {}

    def place(self, operation: str, operands: Sequence[Any]) -> int:
        """The place of the result of an operation, one of OPERATIONS; an operand is a number or [place]."""
        text = f"{operation} {operands}"
        if text not in self._known:
            self.steps.append((operation, list(operands)))
            self._known[text] = -len(self.steps)
        return self._known[text]


OPERATIONS: dict[str, Callable[..., Any]] = {
    "ADD": lambda x, y: x + y,
    "SUB": lambda x, y: x - y,
    "MUL": lambda x, y: x * y,
    "DIV": lambda x, y: x / y,
    "NEG": lambda x: -x,
    "SQ": lambda x: x * x,
    "TWICE": lambda x: x + x,
    "INV": lambda x: 1.0 / x,
    "SQRT": np.sqrt,
    "FABS": np.abs,
}


def recipe(tables: Mapping[str, np.ndarray], derived: DerivedData | None) -> Recipe:
    """What a loader needs: tables with data in them, and numbers derived from data."""
    made: Recipe = {
        name: [[x.at] if isinstance(x, DataPlace) else float(x) for x in table.ravel().tolist()]
        for name, table in tables.items()
    }
    return made | ({SYMBOL: list(derived.steps)} if derived is not None and derived.steps else {})


def link(numbers: np.ndarray, needs: Recipe) -> tuple[dict[str, int], list[np.ndarray]]:
    """Addresses that code is linked to, and the arrays at these addresses, which the caller of the code
    keeps alive."""
    tables = dict(needs)
    steps = tables.pop(SYMBOL, [])
    n = len(steps)
    whole = np.concatenate([np.zeros(n), numbers])
    with np.errstate(all="ignore"):
        for k, (operation, operands) in enumerate(steps):
            given = (whole[n + x[0]] if isinstance(x, list) else x for x in operands)
            whole[n - 1 - k] = OPERATIONS[operation](*given)
    addresses, arrays = dict[str, int](), list[np.ndarray]()

    def keep(name: str, values: np.ndarray, first: int) -> None:
        arrays.append(_aligned(values.size))
        arrays[-1][:] = values
        addresses[name] = arrays[-1].ctypes.data + 8 * first

    if numbers.size:
        keep(SYMBOL, whole, n)
        keep(FOUR, np.repeat(whole, 4), 4 * n)
    for name, table in tables.items():
        keep(name, np.array([numbers[x[0]] if isinstance(x, list) else x for x in table]), 0)
    return addresses, arrays


def looked_up(numbers: np.ndarray, rows: Any) -> np.ndarray:
    """An array of numbers and DataPlaces, with each place replaced by its number."""
    array = np.array(rows)
    if array.dtype != object:
        return array.astype(float)
    return np.vectorize(lambda x: numbers[x.at] if isinstance(x, DataPlace) else x, otypes=[float])(array)  # type: ignore[no-any-return]


def _aligned(size: int) -> np.ndarray:
    """Memory that begins on a cache line of 64 bytes."""
    whole = np.empty(size + 8)
    start = -whole.ctypes.data // 8 % 8
    return whole[start : start + size]


NONE = np.zeros(0)
NONE.flags.writeable = False
