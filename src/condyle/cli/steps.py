"""Progress of a command: a bar while a step runs, a line with its time when it has ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any


class Steps:
    """The steps of a command, inside a `with`.

    Args:
        count: how many there will be.
    """

    def __init__(self, count: int) -> None:
        self.count, self._begin = count, perf_counter()

    def __enter__(self) -> Steps:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self.bar: Any = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            transient=True,
        )
        self.task = self.bar.add_task("", total=self.count)
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """One step: its name is shown while it runs, and with its time when it has ended."""
        self.bar.update(self.task, description=name)
        begin = perf_counter()
        yield
        self.bar.console.print(f"  {name:<54}{perf_counter() - begin:7.2f} s", highlight=False, markup=False)
        self.bar.advance(self.task)

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return perf_counter() - self._begin
