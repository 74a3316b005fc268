"""Ctrl-C in tests: pressed at a known moment, never after the test, also where whoever started the tests
ignores SIGINT."""

from __future__ import annotations

import _thread
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def heard() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt here, and has its default in a process started here, which would
    inherit an ignored one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def pressed_from(
    when: Callable[..., bool] = lambda *_: True, after: float = 0.05
) -> Iterator[Callable[..., None]]:
    """A function to give as `progress=`: the first call of which `when` is true presses Ctrl-C once, `after`
    seconds later.

    Pressed while the run goes on, since the run itself calls it: no slow machine makes it come before the run
    has begun.
    """
    timers: list[threading.Timer] = []

    def progress(*arguments: object) -> None:
        if not timers and when(*arguments):
            timers.append(threading.Timer(after, _thread.interrupt_main))
            timers[0].start()

    with heard():
        try:
            yield progress
        finally:
            for timer in timers:
                timer.cancel()
                timer.join()
    assert timers, "the run never came to the point where Ctrl-C was to be pressed"
