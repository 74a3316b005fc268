"""Who is told that machine code is being made: it may take seconds, in which a bar does not move.

Where no bar listens, a line on stderr says after a second what is made, in a terminal or a notebook; and
always the log, `logging.getLogger("condyle")`, as an INFO. Several that take less than a second each count
together.
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
"""[s] of compiling after which somebody without a progress bar is told."""
_listeners: list[Listener] = []
_waited = 0.0  # [s] of compiling since the last word


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Tell all listeners what is made, and "" when it is. Errors of machine code name it."""
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
    """Tell a listener from now on, until what this returns is called."""
    _listeners.append(listener)

    def stop() -> None:
        if listener in _listeners:
            _listeners.remove(listener)

    return stop
