"""A word in memory that machine code sets if a finite result needs a warning: a path that skips surfaces. It
costs one comparison where that can happen.

The word is shared by all systems and threads: a caller that finds it set checks its own states again
(system/failures.py), and may find that none needs a warning.
"""

from __future__ import annotations

import ctypes

SYMBOL = "condyle_note"
_word = ctypes.c_int64(0)


def address() -> int:
    """Address of the word."""
    return ctypes.addressof(_word)


def is_set() -> bool:
    return _word.value != 0


def put() -> None:
    """Set the word, as machine code does."""
    _word.value = 1


def clear() -> None:
    _word.value = 0
