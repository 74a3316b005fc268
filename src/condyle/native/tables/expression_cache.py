"""Functions that are called only a few times: CasADi evaluates them, because compiling would take longer than it
saves. The cache on disk stores them, so that the next process traces nothing."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, TypeVar

from condyle.native.machine import cache
from condyle.native.tables.lookup import lookup_context

T = TypeVar("T")
_MOST = 32
_held: dict[str, Any] = {}
"""The functions last used in this process, by key."""


def cached(key: str, make: Callable[[], T]) -> T:
    """The cached functions of a key, or cached nodes with functions; else the result of `make`, which is
    then cached.

    Args:
        key: text that determines the functions.
        make: traces them.
    """
    key = f"expressions\n{key}"
    found = [_held.pop(key)] if key in _held else cache.loaded(key, lambda data, facts: [pickle.loads(data)])
    if found is None:
        with lookup_context():
            found = [make()]
        cache.store(key, pickle.dumps(found[0], 5), {})
    while len(_held) >= _MOST:
        _held.pop(next(iter(_held)), None)
    _held[key] = found[0]
    return found[0]
