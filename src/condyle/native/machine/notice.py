"""Notices of work that takes more than a second: machine code that is compiled, files that are read, studies.

Without a progress bar, a line on stderr reports it after a second, in a terminal or a notebook, and again ten,
twenty, forty, ... seconds later; the log, `logging.getLogger("condyle")`, always has it as INFO. Several short
compilations count together.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from condyle.errors import NativeError

Listener = Callable[[str], object]
F = TypeVar("F", bound=Callable[..., Any])

PATIENCE = 1.0
"""Time of compiling after which a line is printed without a progress bar [s]."""
AGAIN = 10.0
"""Time after which the notice is repeated with the time elapsed; the interval then doubles each time [s]."""
_listeners: list[Listener] = []
_waited = 0.0  # [s] of compiling since the last notice


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Tell all listeners what is being compiled, and "" at the end. Errors of machine code name it too."""
    global _waited
    for listener in [*_listeners]:
        listener(what)
    begun = time.perf_counter()
    try:
        with SlowWork(f"compiling {what}, once for this model: the code is kept", PATIENCE - _waited):
            yield
    except NativeError as error:
        raise NativeError(f"{what}: {error}") from error
    finally:
        _waited += time.perf_counter() - begun
        for listener in [*_listeners]:
            listener("")


def announced(function: F) -> F:
    """Decorate a function so that it reports its name if it takes a while, and again at ever longer
    intervals. Functions that it calls report nothing, except when code is compiled or files are read."""

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        if _announced.get():
            return function(*arguments, **named)
        before = _announced.set(True)
        try:
            with working(f"{function.__name__.replace('_', ' ')} is at work"):
                return function(*arguments, **named)
        finally:
            _announced.reset(before)

    return call  # type: ignore[return-value]


_announced: ContextVar[bool] = ContextVar("announced", default=False)


class Shares:
    """Reports after a while, and again at ever longer intervals, how much of some work is done: call it
    with the share.

    Args:
        title: name of the work.
    """

    def __init__(self, title: str) -> None:
        self._title, self._next, self._later = title, time.perf_counter() + PATIENCE, AGAIN

    def __call__(self, share: float, text: str = "") -> None:
        if (now := time.perf_counter()) >= self._next:
            told(f"{self._title}: {share:.0%} done{text and ', '}{text}")
            self._next, self._later = now + self._later, 2 * self._later


def working(what: str) -> SlowWork:
    """Report what is going on, such as "reading gait.osim", if it takes a while."""
    return SlowWork(what, PATIENCE)


class SlowWork:
    """Context that reports a text after some seconds, and again at ever longer intervals."""

    def __init__(self, text: str, patience: float) -> None:
        self._text, self._next, self._later = text, max(patience, 0.0), AGAIN
        self._begun, self._lock = time.perf_counter(), threading.Lock()
        self._timer: threading.Timer | None = None

    def __enter__(self) -> None:
        self._wait()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            timer.join()  # so that code that forks or counts threads next does not see it

    def _wait(self) -> None:
        self._timer = timer = threading.Timer(self._next, self._say)
        timer.daemon = True
        timer.start()

    def _say(self) -> None:
        global _waited
        _waited = 0.0
        told(self._text)
        spent = time.perf_counter() - self._begun
        self._next, self._later = self._later, 2 * self._later
        self._text = f"{self._text.partition(' (')[0]} ({spent + self._next:.0f} s until now)"
        with self._lock:
            if self._timer is not None:  # else the work has ended
                self._wait()


def told(text: str) -> None:
    """Write a line to the log, and to stderr if somebody sees it and no progress bar is shown."""
    import logging

    logging.getLogger("condyle").info(text)
    if looked_at() and not _listeners:
        sys.stderr.write(f"condyle: {text}\n")
        sys.stderr.flush()


def looked_at() -> bool:
    """Whether stderr is shown as it is written, in a terminal or a notebook: else it goes to a file, where
    lines cannot be overwritten."""
    return (sys.stderr is not None and sys.stderr.isatty()) or in_notebook()


def in_notebook() -> bool:
    """Whether this runs in a Jupyter kernel, whose shell is a ZMQInteractiveShell or a subclass of it."""
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
