"""Functions that are asked a few times: CasADi evaluates them, and nothing is compiled. Machine code would take
longer to make than it saves. They are kept in the cache as they are, so that the next process traces nothing."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, TypeVar

from condyle.native.machine import cache
from condyle.native.tables.lookup import lookup_context

T = TypeVar("T")
_MOST = 32
_held: dict[str, Any] = {}
"""The last that this process has asked for, by key."""


def kept(key: str, make: Callable[[], T]) -> T:
    """What is kept under a key, functions or nodes that hold some, or what `make` gives, which is kept then.

    Args:
        key: text that determines it.
        make: a trace of its own.
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
