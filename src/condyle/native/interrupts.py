"""Ctrl-C while CasADi works.

CasADi tries one type after another for each argument, some of them by Python functions of its own, and clears whatever error
these raise. A KeyboardInterrupt that happens to come there is lost or becomes another error: one in five of those that come
while expressions are built. `patient` waits until Python is outside of CasADi.
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
"""Seconds until it is tried again."""


@contextlib.contextmanager
def patient() -> Iterator[None]:
    """Let no KeyboardInterrupt be lost inside. Changes nothing outside of the main thread, or where SIGINT does not raise one."""
    old = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or old is not signal.default_int_handler:
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> Any:
        if _inside_casadi(frame):
            threading.Timer(WAIT, _thread.interrupt_main).start()
        else:
            signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old)


def _inside_casadi(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_filename != ca.casadi.__file__:
        frame = frame.f_back
    return frame is not None
