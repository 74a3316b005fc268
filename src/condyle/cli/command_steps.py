"""Progress of a command: a bar while a step runs, a line with its time when it has ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from condyle.cli.terminal import Bar


class CommandSteps(Bar):
    """The steps of a command, inside a `with`.

    Args:
        count: number of steps.
    """

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """One step: its name is shown while it runs, and with its time when it has ended."""
        self.show(name)
        begin = perf_counter()
        yield
        self.clear()
        print(f"  {name:<54}{perf_counter() - begin:7.2f} s", flush=True)
        self.done += 1

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return perf_counter() - self.begin
