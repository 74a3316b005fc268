"""Notices that machine code is being compiled, which may take seconds.

Without a progress bar, a line on stderr reports it after a second, in a terminal or a notebook; the log,
`logging.getLogger("condyle")`, always has it as INFO. Several short compilations count together.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from condyle.errors import NativeError

Listener = Callable[[str], object]

PATIENCE = 1.0
"""Time of compiling after which a line is printed without a progress bar [s]."""
_listeners: list[Listener] = []
_waited = 0.0  # [s] of compiling since the last word


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Tell all listeners what is being compiled, and "" at the end. Errors of machine code name it."""
    global _waited
    for listener in [*_listeners]:
        listener(what)
    begun = time.perf_counter()
    timer = threading.Timer(max(PATIENCE - _waited, 0.0), _say, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    except NativeError as error:
        raise NativeError(f"{what}: {error}") from error
    finally:
        timer.cancel()
        timer.join()  # who forks next, or counts threads, does not see it
        _waited += time.perf_counter() - begun
        for listener in [*_listeners]:
            listener("")


def _say(what: str) -> None:
    global _waited
    _waited = 0.0
    text = f"compiling {what}, once for this model: the code is kept"
    import logging

    logging.getLogger("condyle").info(text)
    seen = sys.stderr is not None and sys.stderr.isatty()
    if (seen or in_notebook()) and not _listeners:
        sys.stderr.write(f"condyle: {text}\n")
        sys.stderr.flush()


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this: its shell is a ZMQInteractiveShell, or made from one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return any(c.__name__ == "ZMQInteractiveShell" for c in type(shell).__mro__)


def listen(listener: Listener) -> Callable[[], object]:
    """Add a listener; call the returned function to remove it."""
    _listeners.append(listener)

    def stop() -> None:
        if listener in _listeners:
            _listeners.remove(listener)

    return stop
