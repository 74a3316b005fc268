"""Ctrl-C is not lost inside CasADi."""
from __future__ import annotations

import signal
import sys
import threading

import casadi as ca
import numpy as np
import pytest

from condyle.native.interrupts import patient

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")


class Tripwire(np.ndarray):
    """An array that gets a Ctrl-C while CasADi looks at it."""

    def astype(self, *arguments, **options):
        signal.raise_signal(signal.SIGINT)
        return super().astype(*arguments, **options)


def convert() -> None:
    """CasADi's own Python code asks for the array's numbers, and clears what is raised there."""
    ca.DM(np.ones((2, 2), dtype=int).view(Tripwire))
    for _ in range(10_000_000):                              # until the second attempt comes, well within a second
        pass


def test_without_it_casadi_makes_another_error_of_the_interrupt():
    """If this fails CasADi has mended it, and `patient` can go."""
    with pytest.raises(NotImplementedError, match="Wrong number or type of arguments"):
        ca.DM(np.ones((2, 2), dtype=int).view(Tripwire))


def test_an_interrupt_inside_casadi_comes_afterwards():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), patient():
        convert()
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_elsewhere_comes_at_once():
    with pytest.raises(KeyboardInterrupt), patient():
        signal.raise_signal(signal.SIGINT)


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
