"""Ctrl-C inside CasADi.

CasADi tries one type after another for each argument, some of them by Python functions, and clears any error
that these raise. A KeyboardInterrupt at that moment is lost or becomes another error: one in five during the
building of expressions. `patient` delays it until Python is outside of CasADi.
"""

from __future__ import annotations

import _thread
import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import casadi as ca

WAIT = 0.002
"""Time until the next attempt [s]."""
_DOOR = __file__, contextlib.contextmanager.__code__.co_filename


@contextlib.contextmanager
def patient() -> Iterator[None]:
    """Delay KeyboardInterrupts inside, so that none is lost; a delayed one is raised before this ends.

    Changes nothing outside of the main thread, or where SIGINT does not raise a KeyboardInterrupt.
    """
    old = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or old is not signal.default_int_handler:
        yield
        return
    leaving, put_off = False, False
    attempts: list[threading.Timer] = []

    def interrupt(number: int, frame: FrameType | None) -> Any:
        nonlocal put_off
        put_off = leaving or _at_the_door(frame) or _inside_casadi(frame)
        if not put_off:
            signal.default_int_handler(number, frame)
        if not leaving:
            attempts.append(threading.Timer(WAIT, _thread.interrupt_main))
            attempts[-1].daemon = True
            attempts[-1].start()

    try:
        signal.signal(signal.SIGINT, interrupt)
        yield
    finally:
        leaving = True  # from here on `interrupt` only takes note
        for attempt in attempts:
            attempt.cancel()
            attempt.join()  # it has been sent, or never will be
        signal.signal(signal.SIGINT, old)  # after `interrupt` has seen what was sent
        if put_off:
            raise KeyboardInterrupt


def _at_the_door(frame: FrameType | None) -> bool:
    """Whether Python is just entering or leaving `patient`, where an error would leave the handler
    installed."""
    return frame is not None and frame.f_code.co_filename in _DOOR


def _inside_casadi(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_filename != ca.casadi.__file__:
        frame = frame.f_back
    return frame is not None
