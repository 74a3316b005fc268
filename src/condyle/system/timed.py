"""Which operators of a system depend on time, and through what: they need `t=` for a batch of states.

One state without t is at t = 0, as the signatures say. For many states that would be a guess: recorded frames
are at times of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from condyle.errors import DescriptionError
from condyle.model.model import Model
from condyle.model.operators import OPERATORS
from condyle.model.time import TimeReader, time_readers


class TimeDependence:
    """What of a system depends on time, for each operator: words for errors, and the name by which it is
    disabled, if it can be."""

    def __init__(self, model: Model) -> None:
        found: dict[str, list[tuple[str, str]]] = {
            "joints": [],
            "forces": [],
            "constraints": [],
            "motions": [],
        }
        for reader in time_readers(model, stored=True):
            if _reads(reader) and (source := (reader.words, reader.switch)) not in found[reader.kind]:
                found[reader.kind].append(source)
        self.sources = {
            name: [source for what in operator.reads.split() for source in found[what]]
            for name, operator in OPERATORS.items()
        }
        self.operators = frozenset(name for name, found in self.sources.items() if found)

    def check(self, what: str, operator: str, arrays: Iterable[Any], disabled: Any) -> None:
        """Refuse many states without t, where something that is not disabled depends on it."""
        off = (disabled,) if isinstance(disabled, str) else tuple(disabled or ())
        acting = [words for words, name in self.sources[operator] if not name or name not in off]
        if acting and (shape := next((np.shape(a) for a in arrays if _rank(a) > 1), None)) is not None:
            more = f" and {len(acting) - 1} more depend" if len(acting) > 1 else " depends"
            raise DescriptionError(
                f"{what}: {acting[0]}{more} on time, and there are many states, {shape}: "
                "give t=, one number or one per state [s]"
            )


def _rank(array: Any) -> int:
    return (
        array.ndim
        if hasattr(array, "ndim")
        else np.ndim(array)
        if not hasattr(array, "keys")
        else max((np.ndim(v) + 1 for v in array.values()), default=1)
    )


def _reads(reader: TimeReader) -> bool:
    """Joints say whether they read the time; constraints and motions that may read it do."""
    if reader.kind == "joints":
        return reader.body is not None and reader.body.mobilizer.uses_time
    return reader.kind != "forces" or reader.reads()
