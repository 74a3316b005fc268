"""Who is told that machine code is being made: it may take seconds, in which a bar does not move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from condyle.errors import NativeError

Listener = Callable[[str], object]

_listeners: list[Listener] = []


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Tell all listeners what is made, and "" when it is. Errors of machine code name it."""
    for listener in [*_listeners]:
        listener(what)
    try:
        yield
    except NativeError as error:
        raise NativeError(f"{what}: {error}") from error
    finally:
        for listener in [*_listeners]:
            listener("")


def listen(listener: Listener) -> Callable[[], object]:
    """Tell a listener from now on, until what this returns is called."""
    _listeners.append(listener)

    def stop() -> None:
        if listener in _listeners:
            _listeners.remove(listener)

    return stop
