"""A word in memory that machine code sets where a result deserves a look, though it is a number: a path that goes
over fewer surfaces than it should. It costs the code one comparison where such a thing is found at all.

The word says that something was found since it was last cleared, not by whom: whoever sees it set looks at its own
states again (system/failures.py), and finds nothing where another system or thread was meant.
"""

from __future__ import annotations

import ctypes

SYMBOL = "condyle_note"
_word = ctypes.c_int64(0)


def address() -> int:
    """Of the word."""
    return ctypes.addressof(_word)


def is_set() -> bool:
    return _word.value != 0


def put() -> None:
    """As machine code does."""
    _word.value = 1


def clear() -> None:
    _word.value = 0
