"""Ctrl-C is not lost inside CasADi, and never comes late."""

from __future__ import annotations

import signal
import sys
import threading
import time

import casadi as ca
import numpy as np
import pytest

from condyle.native.machine.ctrl_c import patient
from tests.ctrl_c import heard

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
PATIENCE = 60.0  # [s]; it comes after some milliseconds


@pytest.fixture(autouse=True)
def hears_ctrl_c():
    with heard():
        yield


class Tripwire(np.ndarray):
    """An array that gets a Ctrl-C while CasADi looks at it."""

    def astype(self, *arguments, **options):
        signal.raise_signal(signal.SIGINT)
        return super().astype(*arguments, **options)


def convert() -> None:
    """CasADi's own Python code asks for the array's numbers, and clears what is raised there."""
    ca.DM(np.ones((2, 2), dtype=int).view(Tripwire))


def nothing_comes() -> None:
    """Time for an attempt that was forgotten."""
    for _ in range(10):
        time.sleep(0.005)


def test_without_it_casadi_makes_another_error_of_the_interrupt():
    """If this fails CasADi has mended it, and `patient` can go."""
    with pytest.raises(NotImplementedError, match="Wrong number or type of arguments"):
        convert()


def answer(*parts) -> BaseException:
    """The KeyboardInterrupt that comes out of `patient` around these calls; SIGINT is afterward what it was
    before."""
    before = signal.getsignal(signal.SIGINT)

    def together():
        with patient():
            for part in parts:
                part()

    with pytest.raises(KeyboardInterrupt) as caught:
        together()
    assert signal.getsignal(signal.SIGINT) is before
    nothing_comes()
    return caught.value


def test_an_interrupt_inside_casadi_comes_afterward():
    reached = []

    def go_on():
        reached.append(True)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            time.sleep(0.001)
        pytest.fail("it never came")

    answer(convert, go_on)
    assert reached


def test_an_interrupt_that_was_put_off_comes_before_the_block_ends():
    """Also if the block ends before the next attempt, and whatever ends it; then no attempt is left that
    comes later."""
    for _ in range(5):
        answer(convert)
    answer(convert, convert)
    assert isinstance(answer(convert, lambda: int("no number")).__context__, ValueError)


def test_an_interrupt_elsewhere_comes_at_once():
    answer(lambda: signal.raise_signal(signal.SIGINT), lambda: pytest.fail("too late"))


def test_an_interrupt_that_the_block_answers_is_not_repeated():
    with patient(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    nothing_comes()


def test_other_handlers_and_threads_are_left_alone():
    seen = []

    def mine(*_):
        seen.append(1)

    before = signal.signal(signal.SIGINT, mine)
    try:
        with patient():
            assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)
    thread = threading.Thread(target=lambda: patient().__enter__())
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is before
